//! Shared code of the formats' tests: a small set, and chunks written from it.

use super::*;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::url::Origin;
use portcullis_rows::input::{Chunk, Terminator};
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::list::{Arena, List, Rows};
use portcullis_rows::output::RowForm;
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::json_lines::JsonLines;
use portcullis_set::batch::{Classifier, Session};
use portcullis_testkit::{self as testkit, Form};

/// The scheme that the tests assume, so that their records are short.
pub(super) const SCHEME: &str = "https";

/// A file that allows everything for the first agent without a rule, and disallows everything for
/// the second.
const ALLOWED: &[u8] = b"User-agent: bot\nDisallow:\n\nUser-agent: other\nDisallow: /\n";

/// A file with the opposite verdicts. Line 3 decides, or line 4, which is not UTF-8, for paths that
/// start with `/\xff`.
const DISALLOWED: &[u8] =
    b"User-agent: bot\n\nDisallow: /\nDisallow: /\xff\n\nUser-agent: other\nDisallow:\n";

/// Returns a classifier over a set of these hosts for the first `agents` of `bot`, `other`, and
/// agents that no group names. For `other`, the verdicts are the opposite.
pub(super) fn classifier(allowed: &[&str], disallowed: &[&str], agents: usize) -> Classifier {
    let origin = |host: &&str| {
        Origin::from_robots_txt(format!("https://{host}/robots.txt").as_bytes()).unwrap()
    };
    let allowed = allowed.iter().map(|host| (origin(host), ALLOWED));
    let files: Vec<(Origin, &[u8])> =
        allowed.chain(disallowed.iter().map(|host| (origin(host), DISALLOWED))).collect();
    let names = ["bot", "other"].into_iter().chain(std::iter::repeat("unnamed"));
    let agents = testkit::agents(&names.take(agents).collect::<Vec<_>>(), &RFC_9309);
    let set = testkit::set_at(Form::Compiled, &files, (&RFC_9309, None));
    testkit::classifier(set, agents)
}

/// Writes a chunk as objects for each record and agent, for a set that allows `a` and disallows `d`.
fn written(input: &[u8], agents: usize) -> (Vec<u8>, Counts) {
    let classifier = classifier(&["a"], &["d"], agents);
    let names: Vec<String> = (0..agents).map(|number| format!("bot{number}")).collect();
    let columns = Columns::from_long().long(names.clone());
    let rows = JsonLines::new(&columns.fields(&names, "").unwrap());
    let format = Tagged { columns: &columns, form: &RowForm::Text(Box::new(rows)) };
    let (mut counts, mut out) = (Counts::new(agents), Written::default());
    let mut session = Session::new(classifier).assume_scheme(SCHEME);
    piece(input, Terminator::LineFeed, &mut Rejects::default(), |piece| {
        format.encode(piece.work(&mut session, &mut counts), &mut out)
    })
    .unwrap();
    (std::mem::take(&mut out[0].text), counts)
}

#[test]
fn a_chunk_ends_early_when_its_output_is_full() {
    use portcullis_dialect::limits::{RECORDS_AT_ONCE, URL_BYTES_MAX};

    let record = [b"d/", &[b'x'; URL_BYTES_MAX - 2][..], b"\n"].concat();
    let most = CHUNK_OUTPUT_BYTES_MAX.div_ceil(record.len()).next_multiple_of(RECORDS_AT_ONCE);
    let chunk = record.repeat(most + RECORDS_AT_ONCE);
    let (_, counts) = written(&chunk, 1);
    assert_eq!(counts.records as usize, most);
    assert_eq!(counts.bytes as usize, most * record.len());
}

/// The budget is the chunk's: more agents answer about fewer records.
#[test]
fn the_output_of_a_chunk_is_bounded_for_any_number_of_agents() {
    use portcullis_files::limits::CHUNK_BYTES;

    let record = [b"d/", &[b'x'; 4096][..], b"\n"].concat();
    let chunk = record.repeat(CHUNK_BYTES / record.len());
    for agents in [1, 2, 300] {
        let (out, counts) = written(&chunk, agents);
        let records = counts.records as usize;
        assert!(out.len() < 2 * CHUNK_OUTPUT_BYTES_MAX, "{agents}: {}", out.len());
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), records * agents);
        let is_whole = records * record.len() == chunk.len();
        assert_eq!(is_whole, agents < 3, "{agents}");
    }
}

/// Calls `with` for a chunk of plain lines.
pub(super) fn piece<R>(
    input: &[u8],
    terminator: Terminator,
    rejects: &mut Rejects,
    with: impl FnOnce(Piece<'_, '_>) -> R,
) -> R {
    let chunk = Chunk::from_text(List::plain("a list", terminator), input);
    with(Piece { rows: &mut Rows::new(&chunk, &Arena::new(), 0), rejects })
}
