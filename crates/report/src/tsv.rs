//! Tagged lines: a verdict for each agent, then the record, separated by TAB.
//!
//! Every record gives one line, even an empty one, so that output and input can be pasted together. The
//! record is written byte for byte, including white space around it; only its line end changes.

use super::{Decided, Format};
use portcullis_capture::input::Terminator;
use portcullis_dialect::decision::Verdict;
use portcullis_set::Damage;

/// Tagged lines with this terminator.
#[derive(Clone, Copy, Debug)]
pub struct Tsv(pub Terminator);

impl Format for Tsv {
    #[inline]
    fn write(&self, record: Decided<'_, '_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        for decision in record.decisions {
            push_column(decision.verdict, out);
        }
        out.extend_from_slice(record.text);
        out.push(self.0.byte());
        Ok(())
    }
}

/// Room for a verdict and a TAB. Copying a fixed number of bytes is one store; copying the length of
/// the word is a call.
const COLUMN_BYTES: usize = 16;

/// A verdict and a TAB, padded, and the number of bytes that count.
type Column = ([u8; COLUMN_BYTES], usize);

/// By the number of the verdict. A test compares them with [`Verdict::as_str`].
static COLUMNS: [Column; Verdict::ALL.len()] =
    [column(b"allow"), column(b"disallow"), column(b"unknown"), column(b"invalid")];

const fn column(word: &[u8]) -> Column {
    let mut padded = [b'\t'; COLUMN_BYTES];
    padded.split_at_mut(word.len()).0.copy_from_slice(word);
    (padded, word.len() + 1)
}

/// Appends a verdict and a TAB.
#[inline]
pub fn push_column(verdict: Verdict, out: &mut Vec<u8>) {
    let (padded, bytes) = &COLUMNS[verdict as usize];
    let end = out.len() + bytes;
    out.extend_from_slice(padded);
    out.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;

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
        let lines = |input: &[u8], terminator, agents, expected: &[u8]| {
            let (out, counts) = written(input, terminator, agents, &Tsv(terminator));
            assert_eq!(bstr::BStr::new(&out), bstr::BStr::new(expected));
            assert_eq!(counts.bytes as usize, input.len());
        };
        let cases: [(&[u8], usize, &[u8]); 6] = [
            (b"", 1, b""),
            (b"a/1\nd/2\n", 1, b"allow\ta/1\ndisallow\td/2\n"),
            // The line end becomes LF, and a last record gets one.
            (b"a/1\r\nu/2", 1, b"allow\ta/1\nunknown\tu/2\n"),
            // An empty record stays in place.
            (b"\n\r\n", 1, b"invalid\t\ninvalid\t\n"),
            (b"a/\xff \n", 1, b"allow\ta/\xff \n"),
            (b"a/1\nx:\n", 2, b"allow\tdisallow\ta/1\ninvalid\tinvalid\tx:\n"),
        ];
        for (input, agents, expected) in cases {
            lines(input, Terminator::LineFeed, agents, expected);
        }
        lines(b"a/\n\0d\0", Terminator::Nul, 1, b"allow\ta/\n\0disallow\td\0");
    }
}
