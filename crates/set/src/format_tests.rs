//! Checks that the tables of numbers in `FORMAT.md` match the constants.

use super::file::{SectionKind, header_offsets as at};
use super::layout::{
    LINE_SLOTS, SlotLine, capture, count, host, line_of, lines_for, outage, policy, record,
    rule_set, usage,
};
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_io::CaptureNote;
use portcullis_robots::syntax::{NoteKind, UsageKind};

const FORMAT: &str = include_str!("FORMAT.md");

/// A row of a table: the number in its first cell, and its other cells.
type Row = (usize, &'static str);

/// Returns the tables in the section with this number, as far as their rows begin with numbers.
fn tables(section: u32) -> Vec<Vec<Row>> {
    let title = format!("\n## {section}. ");
    let start = FORMAT.find(&title).unwrap_or_else(|| panic!("there is no section {section}"));
    let text = &FORMAT[start + title.len()..];
    let text = &text[..text.find("\n## ").unwrap_or(text.len())];
    let row = |line: &'static str| {
        let (first, rest) = line.strip_prefix('|')?.split_once('|')?;
        Some((first.trim().replace(',', "").parse().ok()?, rest))
    };
    let tables = text.split("\n\n").map(|part| part.lines().filter_map(row).collect());
    tables.filter(|rows: &Vec<Row>| !rows.is_empty()).collect()
}

#[track_caller]
fn assert_rows(rows: &[(usize, &str)], expected: &[(usize, &str)]) {
    for &(number, words) in expected {
        let found = rows.iter().find(|row| row.0 == number);
        assert!(found.is_some_and(|row| row.1.contains(words)), "{number} {words}: {found:?}");
    }
}

#[test]
fn the_header() {
    assert_rows(
        &tables(3)[0],
        &[
            (at::VERSION, "format version"),
            (at::SECTIONS, "number of sections"),
            (at::FILE_BYTES, "bytes of the whole file"),
            (at::CONTENT_HASH, "content hash"),
            (at::ROOT, "root checksum"),
            (at::DIALECT_REVISION, "revision"),
            (at::ROBOTS_BYTES_MAX, "bytes of a robots.txt"),
            (at::FLAGS, "flags"),
            (at::DIALECT_NAME, "name of the dialect"),
            (at::COUNTS, "counts"),
            (at::TABLE, "table of sections"),
            (at::CHECKSUM, "checksum"),
        ],
    );
}

#[test]
fn the_counts() {
    let rows = &tables(8)[0];
    let expected = [
        (count::HOSTS, "hosts"),
        (count::ORIGINS, "origins"),
        (count::POLICIES, "policies"),
        (count::RULE_SETS, "rule sets"),
        (count::RULE_SETS_OF_GROUPS, "made of groups"),
        (count::CAPTURES, "captures"),
        (count::STRINGS, "strings"),
        (count::TOKENS, "names"),
        (count::CAPTURED_FROM, "earliest"),
        (count::CAPTURED_TO, "latest"),
        (count::FILE_NOTES, "looks-like-html"),
        (count::FILE_NOTES + 1, "looks-binary"),
        (count::FILE_NOTES + 2, "looks-like-json"),
        (count::FILE_NOTES + 3, "file-cut"),
        (count::HOST_SEED, "seed"),
    ];
    assert_rows(rows, &expected);
    assert_eq!(rows.len(), expected.len());
}

#[test]
fn the_kinds_of_sections() {
    let rows = &tables(8)[1];
    for (number, cells) in rows {
        let name = cells.split('|').next().unwrap().trim();
        assert_eq!(SectionKind(*number as u32).to_string(), format!("section '{name}'"));
    }
    let next = rows.iter().map(|(number, _)| *number as u32).max().unwrap_or(0) + 1;
    assert_eq!(SectionKind(next).to_string(), format!("section {next}"));
}

#[test]
fn the_words_of_records() {
    let kinds = [
        (record::STARTS_GROUP, "starts a group"),
        (record::EXTENDS_GROUP, "extends the group"),
        (record::ALLOW, "Allow"),
        (record::DISALLOW, "Disallow"),
    ];
    let tables = tables(10);
    assert_rows(&tables[1], &kinds.map(|(kind, words)| (kind as usize, words)));
    let forms = [
        (record::STRING, "the string,"),
        (record::PATTERN, "and `$`"),
        (record::PATTERN_AND_STAR, "and `*`"),
    ];
    assert_rows(&tables[2], &forms.map(|(form, words)| (form as usize, words)));
    assert_eq!(
        record::texts(33, 5, record::DOCUMENT_KIND_BITS),
        (2 + 2 * 5 + 3, 2 + 2 * 5 + 3 + 33)
    );
    assert_eq!(record::texts(33, 5, record::OTHER_KIND_BITS), (2 + 2 * 5, 2 + 2 * 5 + 33));
}

#[test]
fn the_words_of_hosts() {
    let tables = tables(12);
    assert_rows(
        &tables[0],
        &[
            (host::KEY_BYTES, "bytes of the key"),
            (host::HTTP_POLICY, "policy for http,"),
            (host::HTTPS_POLICY, "policy for https,"),
            (host::HTTP_CAPTURE, "capture for http,"),
            (host::HTTPS_CAPTURE, "capture for https,"),
            (host::HEAD_WORDS, "the key"),
        ],
    );
    assert_eq!(lines_for(10), 2 + 1);
    assert_eq!((LINE_SLOTS, size_of::<SlotLine>()), (8, 64));
    let hash = xxhash_rust::xxh3::xxh3_64_with_seed(b"a.example", 99);
    let line = (u128::from(hash) * 14) >> 64;
    assert_eq!(line_of(b"a.example", 14, 99), (line as u64, hash as u32));
}

#[test]
fn the_words_of_captures() {
    let tables = tables(13);
    assert_rows(
        &tables[0],
        &[
            (capture::CAPTURED_AT_LOW, "lower half"),
            (capture::CAPTURED_AT_HIGH, "upper half"),
            (capture::SERVES_SECONDS, "serves"),
            (capture::STATUS_AND_REDIRECTS, "status"),
            (capture::NOTES, "odd"),
            (capture::FILE_BYTES, "bytes of the file"),
            (capture::OTHERS, "`others`"),
            (capture::INPUT, "input"),
            (capture::SPAN_SECONDS, "newest"),
        ],
    );
    assert_eq!(tables[0].len(), capture::WORDS);
    let of_answer = CaptureNote::ALL.map(|note| (note as usize, note.as_str()));
    let of_file = NoteKind::ALL.map(|note| (16 + note as usize, note.as_str()));
    assert_rows(&tables[1], &of_answer);
    assert_rows(&tables[1], &of_file);
    assert_eq!(tables[1].len(), of_answer.len() + of_file.len());
}

#[test]
fn the_words_of_outages() {
    let rows = &tables(20)[0];
    let expected = [
        (outage::CAPTURE, "capture"),
        (outage::SINCE_LOW, "lower half"),
        (outage::SINCE_HIGH, "upper half"),
        (outage::COPY_LOW, "lower half"),
        (outage::COPY_HIGH, "upper half"),
    ];
    assert_rows(rows, &expected);
    assert_eq!(rows.len(), outage::WORDS);
}

#[test]
fn the_words_of_policies() {
    let tables = tables(14);
    assert_rows(
        &tables[0],
        &[
            (policy::STATE, "state"),
            (policy::WORDS, "words of the whole"),
            (policy::DOCUMENT, "`documents`"),
            (policy::TOKENS, "number of robots"),
            (policy::ENTRIES, "number of entries"),
            (policy::DEFAULT_ENTRY, "entry of the default"),
            (policy::DEFAULT_NAMING_LINE, "record that names the default"),
            (policy::HEAD_WORDS, "numbers of names"),
        ],
    );
    let stored = PolicyState::ALL.iter().filter(|state| **state != PolicyState::Unknown);
    let states: Vec<(usize, &str)> =
        stored.map(|&state| (state as usize, state.as_str())).collect();
    assert_rows(&tables[1], &states);
    assert_rows(
        &tables[2],
        &[(policy::RULE_SET, "rule set"), (policy::ORDER, "order"), (policy::GROUPS, "groups")],
    );
    assert_eq!(tables[2].len(), policy::ENTRY_WORDS);
    assert_eq!((policy::ROBOT_WORDS, policy::GROUP_WORDS), (2, 2));
}

#[test]
fn the_words_of_usage() {
    let tables = tables(22);
    let place = |kind: &UsageKind| if kind.in_group { "in a group" } else { "outside" };
    let kinds: Vec<(usize, &str)> = UsageKind::ALL.iter().map(place).enumerate().collect();
    assert_rows(&tables[0], &kinds);
    assert_rows(
        &tables[1],
        &[
            (usage::WORDS, "words of the whole"),
            (usage::RECORD_LIST, "list of records"),
            (usage::RECORDS, "number of usage records"),
            (usage::TOKENS, "number of robots"),
            (usage::ENTRIES, "number of entries"),
            (usage::DEFAULT_ENTRY, "robots that the file does not name"),
            (usage::HEAD_WORDS, "each record states"),
        ],
    );
    assert_rows(
        &tables[2],
        &[
            (usage::RULE_SET, "rule set"),
            (usage::ORDER, "order"),
            (usage::RULES_WORDS, "Content-Signal"),
            (usage::SOURCES * usage::RULES_WORDS, "second label"),
            (usage::LICENSES, "licences"),
        ],
    );
    assert_eq!((usage::LABELS, usage::ENTRY_WORDS), (Label::ALL.len(), 13));
    assert_eq!(usage::SOURCES, UsageSource::ALL.len());
    let [y, n, nothing] = [Preference::Yes, Preference::No, Preference::Unstated];
    assert_eq!(usage::pack(&[y, n, nothing]), 0b11_10_01);
    assert_eq!(record::texts(33, 5, record::USAGE_KIND_BITS).0, 2 + 2 * 5 + 5);
}

#[test]
fn the_words_of_rule_sets() {
    let tables = tables(16);
    assert_rows(
        &tables[0],
        &[(rule_set::LINE, "the line of `rule sets`"), (rule_set::LINES, "number of its lines")],
    );
    assert_eq!(tables[0].len(), rule_set::WORDS);
}
