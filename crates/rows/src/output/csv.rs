//! Writes CSV (RFC 4180): a header, then rows with the columns of the input, if they are about
//! records, and the added columns.
//!
//! A field is quoted if it has a comma, a quote, CR or LF, and lines end with CR LF. Bytes that are
//! not UTF-8 are written as they are. A missing value is an empty field. The byte order mark of a table
//! stays.
//!
//! A row of a CSV or TSV list keeps its fields. An empty line, a row whose number of fields differs
//! from the header, and a row with bad quotes have their whole text in the column of the URL. Their
//! other columns are empty, so the added columns stay in place. Other lists have the column `url`, and
//! JSON Lines a second one, `record`, with the object.

use std::borrow::Cow;

use csv_core::{Writer, quote};

use super::added::Added;
use super::columns::Field;
use super::{Beside, SameMember, TextRows};
use crate::input::Record;
use crate::list::{Arena, List, ListFormat, Problem};
use portcullis_robots::syntax::BYTE_ORDER_MARK;

/// The end of a line.
const END: &[u8] = b"\r\n";

/// The only column of lists that are not tables, and the URL column of a table without a header.
const URL: &[u8] = b"url";

/// The column of the objects of JSON Lines.
const RECORD: &[u8] = b"record";

/// Rows with the columns of a list, if it is a table, or else with the URL.
#[derive(Clone, Debug, Default)]
pub struct Csv(Writer);

impl TextRows for Csv {
    fn push(
        &self,
        records: Option<Beside<'_>>,
        added: &Added,
        out: &mut Vec<u8>,
    ) -> Result<(), SameMember> {
        let Some(records) = records else {
            for row in 0..added.rows() {
                self.push_columns(added, row, false, out);
            }
            return Ok(());
        };
        records.each_row(added, |row, record| {
            self.push_record(records.list, record, out);
            self.push_columns(added, row, true, out);
        });
        Ok(())
    }

    fn header(&self, list: Option<&List>, fields: &[Field]) -> Vec<u8> {
        let mut out = Vec::new();
        // Spreadsheets take a table without the mark for one in another encoding.
        let is_marked =
            |list: &List| list.url_column().is_some() && list.head().starts_with(BYTE_ORDER_MARK);
        if list.is_some_and(is_marked) {
            out.extend_from_slice(BYTE_ORDER_MARK);
        }
        let own = list.map(input_columns).unwrap_or_default();
        let names = own.iter().map(AsRef::as_ref).chain(fields.iter().map(Field::name_bytes));
        for (number, name) in names.enumerate() {
            if number > 0 {
                out.push(b',');
            }
            self.push_field(name, &mut out);
        }
        out.extend_from_slice(END);
        out
    }
}

impl Csv {
    /// Appends the columns of a row, and ends it. `has_fields` is true if it has fields already.
    #[inline]
    fn push_columns(&self, added: &Added, row: usize, mut has_fields: bool, out: &mut Vec<u8>) {
        for column in added.columns() {
            if std::mem::replace(&mut has_fields, true) {
                out.push(b',');
            }
            column.with_text(row, |value| self.push_field(value.unwrap_or_default(), out));
        }
        out.extend_from_slice(END);
    }

    #[inline]
    fn push_record(&self, list: &List, record: &Record<'_>, out: &mut Vec<u8>) {
        match list.url_column() {
            Some(place) => self.push_row(list, place, record, out),
            None => self.push_field(record.url(), out),
        }
        if list.format() == ListFormat::JsonLines {
            out.push(b',');
            self.push_field(record.text(), out);
        }
    }

    /// Appends a field, in quotes if it contains a byte that would end it.
    fn push_field(&self, field: &[u8], out: &mut Vec<u8>) {
        if !self.0.should_quote(field) {
            return out.extend_from_slice(field);
        }
        let start = out.len();
        out.resize(start + 2 * field.len() + 2, b'"');
        // The output has room even if every byte is a quote.
        let (_, _, written) = quote(field, &mut out[start + 1..], b'"', b'"', true);
        out.truncate(start + 1 + written);
        out.push(b'"');
    }

    fn push_row(
        &self,
        list: &List,
        (column, count): (usize, usize),
        record: &Record<'_>,
        out: &mut Vec<u8>,
    ) {
        let text = record.text();
        if !has_fields(record) {
            out.extend(std::iter::repeat_n(b',', column));
            self.push_field(text, out);
            out.extend(std::iter::repeat_n(b',', count - column - 1));
        } else if list.delimiter() == Some(b',') && !text.contains(&b'\r') {
            out.extend_from_slice(text);
        } else {
            for (number, field) in list.fields(text, &Arena::new()).enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                self.push_field(field, out);
            }
        }
    }
}

/// Whether a record of a table has the fields of its columns. A row whose host is missing has.
pub(super) fn has_fields(record: &Record<'_>) -> bool {
    let is_broken = record.problem().is_some_and(|problem| problem != Problem::NoHost);
    !is_broken && !record.text().trim_ascii().is_empty()
}

/// Returns the names of the columns of a list: the names in its header, or numbers and `url`.
pub fn input_columns(list: &List) -> Vec<Cow<'_, [u8]>> {
    let Some((column, count)) = list.url_column() else {
        return match list.format() {
            ListFormat::JsonLines => vec![URL.into(), RECORD.into()],
            _ => vec![URL.into()],
        };
    };
    if !list.columns().is_empty() {
        return list.columns().iter().map(|name| name.as_slice().into()).collect();
    }
    let mut names: Vec<Cow<'_, [u8]>> =
        (1..=count).map(|number| format!("column{number}").into_bytes().into()).collect();
    names[column] = URL.into();
    names
}
