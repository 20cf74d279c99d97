//! Writes tagged lines: the added columns, then the record, separated by TAB.
//!
//! Every record gives one line, even an empty record, so that output and input can be pasted
//! together. The record is written byte for byte, including white space around it; only its line
//! end changes. A record of several lines (a row of CSV with a line end in quotes, a record of
//! Nutch) is shown by its URL, or by its first line if it has none. A row without a record has the
//! columns alone.
//!
//! Rules and groups may contain any byte. So in added values and in names of the header, a backslash
//! is `\\`, TAB `\t`, LF `\n`, CR `\r`, and NUL `\0`. A missing value is empty.

use super::added::Added;
use super::columns::{Field, FieldKind};
use super::{NextTo, SameMember, TextRows};
use crate::input::{Record, Terminator};
use crate::list::List;
use crate::list::parquet::on_one_line;

/// Tagged lines with this terminator.
#[derive(Clone, Copy, Debug)]
pub struct Tsv(pub Terminator);

impl TextRows for Tsv {
    #[inline]
    fn push(&self, block: NextTo<'_>, added: &Added, out: &mut Vec<u8>) -> Result<(), SameMember> {
        let has_lines = block.list.has_lines_in_records();
        block.each_row(added, |row, record| {
            push_columns(added, row, out);
            match has_lines {
                false => out.extend_from_slice(record.text()),
                true => push_on_one_line(record, out),
            }
            out.push(self.0.byte());
        });
        Ok(())
    }

    fn push_row(&self, added: &Added, row: usize, out: &mut Vec<u8>) {
        push_columns(added, row, out);
        self.end_without_record(out);
    }

    /// Returns the names of the added columns, then the header row of the list as it was read, or
    /// `url`.
    fn header(&self, list: Option<&List>, fields: &[Field]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in fields {
            push_escaped(field.name.as_bytes(), &mut out);
            out.push(b'\t');
        }
        let Some(list) = list else {
            self.end_without_record(&mut out);
            return out;
        };
        if list.columns().is_empty() || list.url_column().is_none() {
            out.extend_from_slice(b"url");
        } else {
            let row = list.head();
            let row = row.strip_prefix(b"\xef\xbb\xbf").unwrap_or(row).trim_ascii_end();
            // A name in quotes may have line ends.
            out.extend(row.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }));
        }
        out.push(self.0.byte());
        out
    }
}

impl Tsv {
    /// Ends a line after its last column, with the terminator instead of TAB.
    fn end_without_record(self, out: &mut Vec<u8>) {
        out.pop();
        out.push(self.0.byte());
    }
}

/// Appends the columns of a row, with TAB after each.
#[inline(always)]
fn push_columns(added: &Added, row: usize, out: &mut Vec<u8>) {
    for column in added.columns() {
        match column.kind {
            FieldKind::Word(_) => column.push_word_to(row, out),
            _ => {
                column.with_text(row, |value| push_escaped(value.unwrap_or_default(), out));
                out.push(b'\t');
            }
        }
    }
}

/// Appends the text of a record, or its URL if the text has several lines. A line end in the URL is
/// written as in Parquet.
fn push_on_one_line(record: &Record<'_>, out: &mut Vec<u8>) {
    let text = record.text();
    let Some(end) = memchr::memchr(b'\n', text) else {
        return out.extend_from_slice(text);
    };
    match record.url() {
        b"" => out.extend_from_slice(text[..end].trim_ascii_end()),
        url => out.extend_from_slice(&on_one_line(url)),
    }
}

/// Appends a value with escapes.
fn push_escaped(value: &[u8], out: &mut Vec<u8>) {
    if !value.iter().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | b'\r' | b'\0')) {
        return out.extend_from_slice(value);
    }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped() {
        let mut out = Vec::new();
        push_escaped(b"a\tb\nc\rd\0e\\f\xff", &mut out);
        assert_eq!(out, b"a\\tb\\nc\\rd\\0e\\\\f\xff");
    }
}
