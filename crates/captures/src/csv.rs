//! Reads CSV, in which each row after the header is an answer.
//!
//! Columns are found as in [Parquet](super::parquet): by their names or their numbers (see
//! [`FieldMap`]). The delimiter is the comma, semicolon, TAB or bar that gives the columns. A
//! field without even quotes is null, since writers of CSV do not tell a missing text from an empty
//! one, and so is one that [stands for none](stands_for_none): a 2xx answer with such a body is
//! [`Fetched::BrokenBody`](portcullis_dialect::Fetched::BrokenBody). A body is the text between quotes.
//!
//! If columns are named by their numbers, and the first row holds a URL, a host, a status or a time
//! where they are, it is a row too: the file has no header.
//!
//! A body whose line ends are escaped is broken: as one line it would have no rules. In TSV, databases
//! write line ends as `\n`, and MySQL as a backslash before the line end, which ends the row if the body has no
//! quotes.
//!
//! A row with another number of fields than the header shows that bodies may pass for rows, so none can be
//! relied on ([`BrokenKind::Forgeable`]). A quote that RFC 4180 does not allow ends the file as an error,
//! because bodies could pass for rows after it; so does a field that is not closed, which has swallowed the
//! rest. If a quote before such damage follows a backslash, which may escape it, the rows before the damage may
//! be parts of bodies too ([`InputError::Forgeable`]).
//!
//! Cost: two passes over quotes and line ends to cut the file, and one over each row. A field is copied
//! if it has quotes within.

use portcullis_files::input::{
    ChunkConfig, Fields, Framing, InputError, QuoteProblem, Separator, Source, TextChunks,
    first_row, is_column_name, stands_for_none,
};

use portcullis_robots::access::{TimeUnit, seconds_of};

use super::capture::{BatchReader, BrokenKind, CaptureSink, Problem, ReadConfig};
use super::escapes;
use super::json_path::{FieldPath, FieldValue};
use super::record::{Head, Record};
use super::schema::{CaptureField, FieldMap, FoundColumn};
use super::text::{RecordReader, batches, lines_in};

/// The columns to read, by their positions, and the fields that they hold.
struct CsvSchema {
    separator: Separator,
    columns: Vec<(CaptureField, usize, usize)>,
    /// The number of fields of the header, or else of the first row.
    count: usize,
    has_header: bool,
    fields: FieldMap,
}

/// Returns a reader of the rows in `source`, decompressed if needed. Reads the header.
///
/// # Errors
///
/// If the header cannot be read; [`InputError::List`] if a column is missing, with those that there
/// are.
pub fn open(mut source: Source, fields: &FieldMap) -> Result<impl BatchReader + use<>, InputError> {
    source.skip_mark();
    let mut chunks = TextChunks::new(source, ChunkConfig::default());
    let (schema, header_bytes, lines) = chunks.find_first(|name, text, is_whole| {
        let ends = |it: &Separator| it.framing().first_end(text).is_some();
        if !is_whole && !Separator::CSV.iter().all(ends) {
            return Ok(None);
        }
        let schema = CsvSchema::find(text, fields).map_err(|it| InputError::list(name, it))?;
        let (_, end) = first_row(text, schema.separator);
        if let Some(problem) = schema.swallows_rows(&text[..end]) {
            return Err(InputError::list(name, problem));
        }
        let end = if schema.has_header { end } else { 0 };
        Ok(Some((schema, end, lines_in(&text[..end]))))
    })?;
    chunks.source.skip(header_bytes as u64);
    Ok(batches(chunks, schema, lines))
}

impl CsvSchema {
    /// Finds the columns in a header, with the first separator for which it has them. The error says
    /// what there is, with the separator that gives the most columns.
    fn find(text: &[u8], fields: &FieldMap) -> Result<CsvSchema, String> {
        let mut widest = (0, "an empty file".to_owned());
        for separator in Separator::CSV {
            let (row, _) = first_row(text, separator);
            let names: Vec<String> =
                row.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into()).collect();
            match fields.columns(&names, |_, path| position(&names, path)) {
                Ok(columns) => {
                    let has_header = columns.iter().all(|&(field, _, at)| {
                        let (cell, named) = (names[at].as_bytes(), fields.named(field));
                        let is_named = named.is_none_or(|it| it.names().join(".") == names[at]);
                        let units = [None, Some(TimeUnit::Seconds)];
                        let is_time = || units.iter().any(|it| seconds_of(cell, *it).is_some());
                        is_named
                            || is_column_name(cell)
                                && !(field == CaptureField::FetchedAt && is_time())
                    });
                    columns.iter().for_each(|column| fields.note_found(column.0));
                    let (count, fields) = (row.len(), fields.clone());
                    return Ok(CsvSchema { separator, columns, count, has_header, fields });
                }
                Err(problem) if row.len() > widest.0 => widest = (row.len(), problem),
                Err(_) => {}
            }
        }
        Err(format!("read as CSV: {}", widest.1))
    }

    /// Returns why the first row may hold those after it; `None` if it does not.
    fn swallows_rows(&self, row: &[u8]) -> Option<&'static str> {
        if has_open_quote(row, self.separator) {
            return Some(OPEN_QUOTE);
        }
        // A body between quotes may have any line ends.
        let is_plain = self.has_header || !row.contains(&b'"');
        let has_lone_cr = memchr::memchr_iter(b'\r', row).any(|at| row.get(at + 1) != Some(&b'\n'));
        (is_plain && has_lone_cr)
            .then_some("its lines end with CR alone; convert it first (tr '\\r' '\\n')")
    }

    /// Returns the fields of a row. The error says why they may be those of other rows.
    fn record<'r>(&self, row: &'r [u8]) -> Result<Record<'r>, String> {
        let (mut record, mut count, mut is_open) = (Record::default(), 0, false);
        let mut escaped = None;
        // No time stands after the damage of a row if the table has none.
        if self.columns.iter().all(|column| column.0 != CaptureField::FetchedAt) {
            record.set(CaptureField::FetchedAt, 0, FieldValue::Null);
        }
        for field in Fields::new(row, self.separator) {
            is_open |= field.problem.is_some();
            for &(name, rank, _) in self.columns.iter().filter(|column| column.2 == count) {
                let (value, problem) = match field.text() {
                    text if field.is_missing() || stands_for_none(&text) => {
                        (FieldValue::Null, None)
                    }
                    text => {
                        let is_plain = name == CaptureField::Body && !field.is_quoted();
                        let problem = is_plain.then(|| escapes::problem_of_line(&text)).flatten();
                        (FieldValue::Text(text), problem)
                    }
                };
                record.set(name, rank, value);
                // Of several columns with a body, one counts.
                if name == CaptureField::Body && record.values[name as usize].rank == rank {
                    escaped = problem;
                }
            }
            count += 1;
        }
        if is_open {
            record.fail(OPEN_QUOTE);
            return Ok(record);
        }
        if count != self.count {
            let fields = if count == 1 { "field" } else { "fields" };
            return Err(format!(
                "{count} {fields}, and the header has {}, so rows may be lines of bodies, and none is read; quote \
                 fields with a delimiter or a line end",
                self.count
            ));
        }
        escaped.into_iter().for_each(|problem| record.fail(problem));
        Ok(record)
    }
}

/// The problem of a row with a field that is not closed.
const OPEN_QUOTE: &str =
    "a quoted field is not closed, so every row after it is part of it; close it";

fn has_open_quote(row: &[u8], separator: Separator) -> bool {
    let mut fields = Fields::new(row, separator);
    fields.any(|field| matches!(field.problem, Some(QuoteProblem::NotClosed)))
}

/// Returns the position of the column at a path: with its name, or else with its number, from 1.
fn position(names: &[String], path: &FieldPath) -> FoundColumn<usize> {
    let whole = path.names().join(".");
    let is = |name: &String| path.is_at(name.as_bytes(), &whole);
    let mut found = (0..names.len()).filter(|&at| is(&names[at]));
    if let Some(at) = found.next() {
        return match found.next() {
            Some(other) => Err((names[at].clone(), names[other].clone())),
            None => Ok(Some(Ok(at))),
        };
    }
    let number = whole.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    Ok(number.filter(|&at| at < names.len()).map(Ok))
}

impl RecordReader for CsvSchema {
    fn framing(&self) -> Framing {
        self.separator.framing()
    }

    /// If backslashes escape quotes, a field goes on after one that seems to end it, and its text may be rows.
    fn is_forgeable(&self, rows: &[u8]) -> bool {
        memchr::memmem::find(rows, b"\\\"").is_some()
    }

    fn open_end(&self, rows: &[u8]) -> Option<&'static str> {
        let last = &rows[self.framing().last_end(rows)..];
        has_open_quote(last, self.separator).then_some(OPEN_QUOTE)
    }

    /// An open quote is found at the end of the file. Nobody knows how many rows are in the field.
    fn kind_of_problem(&self, record: &[u8]) -> BrokenKind {
        match () {
            () if has_open_quote(record, self.separator) => BrokenKind::Unreadable,
            () if Fields::new(record, self.separator).count() != self.count => {
                BrokenKind::Forgeable
            }
            () => BrokenKind::Senseless,
        }
    }

    fn read(
        &self,
        record: &[u8],
        config: &ReadConfig,
        sink: &mut CaptureSink<'_>,
    ) -> Result<(), Problem> {
        // A blank line is no row.
        if let b"\n" | b"\r\n" = record {
            return Ok(());
        }
        sink(Ok(self.record(record)?.capture(&Head::default(), &self.fields, config)?));
        Ok(())
    }
}
