//! Writes tagged lines: a verdict for each agent, then the record, separated by TAB.
//!
//! Every record gives one line, even an empty record, so that output and input can be pasted
//! together. The record is written byte for byte, including white space around it; only its line
//! end changes.
//!
//! [`Tsv`] writes verdicts, and [`TsvColumns`] any [`Columns`]. Rules and groups may contain any
//! byte. So in added values and in names of the header, a backslash is `\\`, TAB `\t`, LF `\n`, CR
//! `\r`, and NUL `\0`. A missing value is empty.

use super::columns::{Columns, Field};
use super::{Decided, Format};
use portcullis_dialect::decision::Verdict;
use portcullis_io::input::Terminator;
use portcullis_io::list::List;
use portcullis_set::Damage;

/// Tagged lines with this terminator.
#[derive(Clone, Copy, Debug)]
pub struct Tsv(pub Terminator);

impl Format for Tsv {
    #[inline]
    fn write(&self, record: Decided<'_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        for decision in record.decisions {
            push_column(decision.verdict, out);
        }
        out.extend_from_slice(record.text);
        out.push(self.0.byte());
        Ok(())
    }
}

/// Lines with these columns and this terminator.
#[derive(Clone, Copy, Debug)]
pub struct TsvColumns<'a>(pub &'a Columns, pub Terminator);

impl Format for TsvColumns<'_> {
    fn write(&self, mut record: Decided<'_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        record.for_each_value(self.0, |value| push_value(value, out))?;
        out.extend_from_slice(record.text);
        out.push(self.1.byte());
        Ok(())
    }
}

/// Returns the header: the names of the added columns, then `record` for the columns of the input.
pub fn header(fields: &[Field], record: &[u8], terminator: Terminator) -> Vec<u8> {
    let mut out = Vec::new();
    fields.iter().for_each(|field| push_value(field.name.as_bytes(), &mut out));
    out.extend_from_slice(record);
    out.push(terminator.byte());
    out
}

/// Returns the header for the records of `list`: its header row as it was read, or `url`.
pub fn record_header(list: &List) -> Vec<u8> {
    if list.columns().is_empty() || list.url_column().is_none() {
        return b"url".to_vec();
    }
    let row = list.head();
    let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row);
    row.trim_ascii_end().to_vec()
}

/// Appends a value with escapes, and a TAB.
fn push_value(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\0' => out.extend_from_slice(b"\\0"),
            byte => out.push(byte),
        }
    }
    out.push(b'\t');
}

/// Room for a verdict and a TAB. Copying a fixed number of bytes is one store; copying a variable
/// number is a call.
const COLUMN_BYTES: usize = 16;

/// A verdict and a TAB, padded, and the number of bytes without padding.
type Column = ([u8; COLUMN_BYTES], usize);

/// The columns by the number of the verdict. A test compares them with [`Verdict::as_str`].
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
    fn values_are_escaped() {
        let mut out = Vec::new();
        push_value(b"a\tb\nc\rd\0e\\f\xff", &mut out);
        assert_eq!(out, b"a\\tb\\nc\\rd\\0e\\\\f\xff\t");
    }

    #[test]
    fn columns_of_every_kind() {
        let lines = |columns: &str, expected: &[u8]| {
            let columns: Columns = columns.parse().unwrap();
            let format = TsvColumns(&columns, Terminator::LineFeed);
            let (out, _) = written(b"a/\nd/1\nu/\nx:\n", Terminator::LineFeed, 2, &format);
            assert_eq!(bstr::BStr::new(&out), bstr::BStr::new(expected));
        };
        lines(
            "verdict,reason",
            b"allow\tno-rule\tdisallow\trule\ta/\ndisallow\trule\tallow\tno-rule\td/1\n\
              unknown\tno-policy\tunknown\tno-policy\tu/\n\
              invalid\tbad-url\tinvalid\tbad-url\tx:\n",
        );
        lines(
            "line,rule,group,state",
            b"\t\tbot\t5\t/\tother\trules\ta/\n3\t/\tbot\t\t\tother\trules\td/1\n\
              \t\t\t\t\t\tunknown\tu/\n\t\t\t\t\t\t\tx:\n",
        );
        lines("bits,state", b"1\trules\ta/\n2\trules\td/1\nunknown\tunknown\tu/\ninvalid\t\tx:\n");
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
        // A line end is part of a record that ends with NUL, and no URL has one.
        lines(b"a/\n\0d\0", Terminator::Nul, 1, b"invalid\ta/\n\0disallow\td\0");
    }
}
