//! Writes rows that stand alone, without records of a list, as text.
//!
//! CSV and TSV begin with a header; a missing value is an empty field, and a list is a JSON array.
//! CSV is RFC 4180, and TSV has the escapes of [`tsv`](super::tsv). JSON Lines has an object for each
//! row, in which a missing value is null.

use portcullis_text::json::write_json;

use super::added::{Added, Values};
use super::columns::Field;
use super::csv::Quoting;
use super::tsv::push_escaped;

/// A format of rows as text.
#[derive(Clone, Debug)]
pub enum RowText {
    Csv(Box<Quoting>),
    Tsv,
    JsonLines,
}

impl RowText {
    /// Returns what precedes the first row.
    pub fn header(&self, fields: &[Field]) -> Vec<u8> {
        let mut out = Vec::new();
        if !matches!(self, RowText::JsonLines) {
            let names = fields.iter().map(Field::name_bytes);
            self.push_fields(names, |name, push| push(name), &mut out);
        }
        out
    }

    /// Appends all rows of `added`, whose columns are `fields`.
    pub fn push(&self, fields: &[Field], added: &Added, out: &mut Vec<u8>) {
        for row in 0..added.rows() {
            match self {
                RowText::JsonLines => push_object(fields, added, row, out),
                RowText::Csv(_) | RowText::Tsv => {
                    let columns = added.columns().iter();
                    let value = |column: &Values, push: &mut dyn FnMut(&[u8])| {
                        added.with_text(column, row, |value| push(value));
                    };
                    self.push_fields(columns, value, out);
                }
            }
        }
    }

    /// Appends a line of CSV or TSV. `value` passes the text of an item on.
    fn push_fields<T>(
        &self,
        items: impl Iterator<Item = T>,
        value: impl Fn(T, &mut dyn FnMut(&[u8])),
        out: &mut Vec<u8>,
    ) {
        for (number, item) in items.enumerate() {
            match self {
                RowText::Csv(quoting) => {
                    if number > 0 {
                        out.push(b',');
                    }
                    value(item, &mut |text| quoting.push(text, out));
                }
                _ => {
                    if number > 0 {
                        out.push(b'\t');
                    }
                    value(item, &mut |text| push_escaped(text, out));
                }
            }
        }
        let end: &[u8] = if let RowText::Csv(_) = self { b"\r\n" } else { b"\n" };
        out.extend_from_slice(end);
    }
}

fn push_object(fields: &[Field], added: &Added, row: usize, out: &mut Vec<u8>) {
    for (number, (field, column)) in fields.iter().zip(added.columns()).enumerate() {
        out.push(if number == 0 { b'{' } else { b',' });
        push_string(field.name_bytes(), out);
        out.push(b':');
        if !column.is_present(row) {
            out.extend_from_slice(b"null");
            continue;
        }
        let is_bare = matches!(
            column,
            Values::Numbers(_) | Values::Flags(_) | Values::Doubles(_) | Values::Lists(_)
        );
        added.with_text(column, row, |text| match is_bare {
            true => out.extend_from_slice(text),
            false => push_string(text, out),
        });
    }
    out.extend_from_slice(b"}\n");
}

/// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
pub(super) fn push_string(text: &[u8], out: &mut Vec<u8>) {
    write_json(&String::from_utf8_lossy(text), out).expect("memory takes all");
}
