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

use csv_core::{Writer, quote};

use super::added::Added;
use super::columns::Field;
use super::own::{each_value, has_fields, input_columns};
use super::{NextTo, SameMember, TextRows};
use crate::input::Record;
use crate::list::List;
use portcullis_robots::syntax::BYTE_ORDER_MARK;

/// The end of a line.
const END: &[u8] = b"\r\n";

/// Rows with the columns of a list, if it is a table, or else with the URL.
#[derive(Clone, Debug, Default)]
pub struct Csv(Writer);

impl TextRows for Csv {
    fn push(&self, block: NextTo<'_>, added: &Added, out: &mut Vec<u8>) -> Result<(), SameMember> {
        block.each_row(added, |row, record| {
            self.push_record(block.list, record, out);
            self.push_columns(added, row, true, out);
        });
        Ok(())
    }

    fn push_row(&self, added: &Added, row: usize, out: &mut Vec<u8>) {
        self.push_columns(added, row, false, out);
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

    /// Appends the columns that a record has itself.
    #[inline]
    fn push_record(&self, list: &List, record: &Record<'_>, out: &mut Vec<u8>) {
        let is_csv = list.has_csv_rows() && has_fields(record);
        if is_csv && !record.text().contains(&b'\r') {
            return out.extend_from_slice(record.text());
        }
        let mut is_first = true;
        each_value(list, record, |value| {
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            self.push_field(value.unwrap_or_default(), out);
        });
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
}
