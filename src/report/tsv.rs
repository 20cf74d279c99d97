//! Tagged lines: a verdict for each agent, then the record as it came, TAB between.
//!
//! Every record gives one line, empty ones too, so that output and input can be pasted together. The
//! record is written octet for octet, white space around it included; only its line end becomes LF.

use crate::decision::Verdict;
use crate::input::{Record, Terminator};

use super::{Counts, Judge, in_blocks};

/// Room for a verdict's word and a TAB. Copying a fixed number of octets is one store, copying as
/// many as a word has is a call.
const COLUMN_OCTETS: usize = 16;

/// A verdict's word and a TAB, and how many octets that is.
struct Column {
    padded: [u8; COLUMN_OCTETS],
    octets: usize,
}

/// By the verdict's number. The words are those of [`Verdict::as_str`], which a test holds.
static COLUMNS: [Column; Verdict::ALL.len()] =
    [column(b"allow"), column(b"disallow"), column(b"unknown"), column(b"invalid")];

const fn column(word: &[u8]) -> Column {
    let mut padded = [b'\t'; COLUMN_OCTETS];
    let mut index = 0;
    while index < word.len() {
        padded[index] = word[index];
        index += 1;
    }
    Column { padded, octets: word.len() + 1 }
}

/// Appends a verdict's word and a TAB.
#[inline]
pub fn push_column(verdict: Verdict, out: &mut Vec<u8>) {
    let column = &COLUMNS[verdict as usize];
    let end = out.len() + column.octets;
    out.extend_from_slice(&column.padded);
    out.truncate(end);
}

/// Appends one line for each record to `out`, which ends as `terminator` says.
#[inline]
///
/// # Errors
///
/// That of the judge; what stands before it is written.
pub fn write_chunk<'c, J: Judge>(
    records: impl Iterator<Item = Record<'c>>,
    terminator: Terminator,
    judge: &mut J,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), J::Failure> {
    let agents = counts.agents().len();
    in_blocks(records, |block| {
        let decisions = judge.judge(block)?;
        for (record, decisions) in block.iter().zip(decisions.chunks_exact(agents)) {
            counts.add(record.whole().len(), decisions);
            for decision in decisions {
                push_column(decision.verdict, out);
            }
            out.extend_from_slice(record.text());
            out.push(terminator.octet());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Records;
    use crate::report::testing::FirstOctet;

    fn written(input: &[u8], terminator: Terminator, agents: usize) -> Vec<u8> {
        let mut counts = Counts::new(agents);
        let mut out = Vec::new();
        let mut judge = FirstOctet::new(agents);
        let records = Records::new(input, terminator);
        let Ok(()) = write_chunk(records, terminator, &mut judge, &mut counts, &mut out);
        assert_eq!(counts.octets as usize, input.len());
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
            (b"a1\nd2\n", b"allow\ta1\ndisallow\td2\n"),
            // Its end becomes LF, and a last record gets one.
            (b"a1\r\nu2", b"allow\ta1\nunknown\tu2\n"),
            // An empty record stays in its place.
            (b"\na1\n\r\n", b"invalid\t\nallow\ta1\ninvalid\t\n"),
            // The octets are the record's own.
            (b"a\xff \n", b"allow\ta\xff \n"),
        ];
        for (input, expected) in cases {
            assert_eq!(written(input, Terminator::LineFeed, 1), *expected);
        }
    }

    #[test]
    fn one_column_for_each_agent() {
        let out = written(b"a1\nx\n", Terminator::LineFeed, 2);
        assert_eq!(out, b"allow\tdisallow\ta1\ninvalid\tinvalid\tx\n");
    }

    #[test]
    fn nul_data() {
        let out = written(b"a\n\0d\0", Terminator::Nul, 1);
        assert_eq!(out, b"allow\ta\n\0disallow\td\0");
    }
}
