//! Tagged lines: a verdict for each agent, then the record as it came, TAB between.
//!
//! Every record gives one line, empty ones too, so that output and input can be pasted together. The
//! record is written byte for byte, white space around it included; only its line end becomes LF.

use crate::batch::Session;
use crate::decision::Verdict;
use crate::input::{Record, Terminator};
use crate::set::Damage;

use super::{Counts, in_blocks};

/// Room for a verdict's word and a TAB. Copying a fixed number of bytes is one store, copying as
/// many as a word has is a call.
const COLUMN_BYTES: usize = 16;

/// A verdict's word and a TAB, and how many bytes that is.
struct Column {
    padded: [u8; COLUMN_BYTES],
    bytes: usize,
}

/// By the verdict's number. The words are those of [`Verdict::as_str`], which a test holds.
static COLUMNS: [Column; Verdict::ALL.len()] =
    [column(b"allow"), column(b"disallow"), column(b"unknown"), column(b"invalid")];

const fn column(word: &[u8]) -> Column {
    let mut padded = [b'\t'; COLUMN_BYTES];
    let mut index = 0;
    while index < word.len() {
        padded[index] = word[index];
        index += 1;
    }
    Column { padded, bytes: word.len() + 1 }
}

/// Appends a verdict's word and a TAB.
#[inline]
pub fn push_column(verdict: Verdict, out: &mut Vec<u8>) {
    let column = &COLUMNS[verdict as usize];
    let end = out.len() + column.bytes;
    out.extend_from_slice(&column.padded);
    out.truncate(end);
}

/// Appends one line for each record to `out`, which ends as `terminator` says.
///
/// # Errors
///
/// If the set is damaged; the blocks before are written.
#[inline]
pub fn write_chunk<'c>(
    records: impl Iterator<Item = Record<'c>>,
    terminator: Terminator,
    session: &mut Session<'_>,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let agents = counts.agents().len();
    in_blocks(records, |block| {
        let decisions = session.decide(block)?;
        for (record, decisions) in block.iter().zip(decisions.chunks_exact(agents)) {
            counts.add(record.whole().len(), decisions);
            for decision in decisions {
                push_column(decision.verdict, out);
            }
            out.extend_from_slice(record.text());
            out.push(terminator.byte());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Records;
    use crate::report::testing::{SCHEME, classifier};

    fn written(input: &[u8], terminator: Terminator, agents: usize) -> Vec<u8> {
        let mut counts = Counts::new(agents);
        let mut out = Vec::new();
        let classifier = classifier(&["a"], &["d"], agents);
        let mut session = Session::new(&classifier, SCHEME);
        let records = Records::new(input, terminator);
        write_chunk(records, terminator, &mut session, &mut counts, &mut out).unwrap();
        assert_eq!(counts.bytes as usize, input.len());
        out
    }

    #[test]
    fn columns_are_the_words() {
        for verdict in Verdict::ALL {
            let mut out = Vec::new();
            push_column(verdict, &mut out);
            assert_eq!(out, format!("{verdict}\t").as_bytes());
        }
    }

    #[test]
    fn one_line_for_each_record() {
        let cases: &[(&[u8], &[u8])] = &[
            (b"", b""),
            (b"a/1\nd/2\n", b"allow\ta/1\ndisallow\td/2\n"),
            // Its end becomes LF, and a last record gets one.
            (b"a/1\r\nu/2", b"allow\ta/1\nunknown\tu/2\n"),
            // An empty record stays in its place.
            (b"\na/1\n\r\n", b"invalid\t\nallow\ta/1\ninvalid\t\n"),
            // The bytes are the record's own.
            (b"a/\xff \n", b"allow\ta/\xff \n"),
        ];
        for (input, expected) in cases {
            assert_eq!(written(input, Terminator::LineFeed, 1), *expected);
        }
    }

    #[test]
    fn one_column_for_each_agent() {
        let out = written(b"a/1\nx:\n", Terminator::LineFeed, 2);
        assert_eq!(out, b"allow\tdisallow\ta/1\ninvalid\tinvalid\tx:\n");
    }

    #[test]
    fn nul_data() {
        let out = written(b"a/\n\0d\0", Terminator::Nul, 1);
        assert_eq!(out, b"allow\ta/\n\0disallow\td\0");
    }
}
