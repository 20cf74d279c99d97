//! Archives of text: batches of whole records, which a format reads one after another.

use std::sync::Arc;

use portcullis_files::input::{Framing, InputError, Terminator, TextChunks};

use super::capture::{
    Batch, BatchReader, BrokenKind, BrokenRecord, CaptureSink, Problem, ReadConfig,
};

/// Reads records of a format.
pub(super) trait RecordReader: Send + Sync {
    /// Returns the end of a record.
    fn framing(&self) -> Framing;

    /// Reads a record with its end, and passes its captures to `sink`. The error says what is wrong with
    /// the record.
    fn read(
        &self,
        record: &[u8],
        config: &ReadConfig,
        sink: &mut CaptureSink<'_>,
    ) -> Result<(), Problem>;

    /// Returns what a line is, for messages.
    fn noun(&self) -> &'static str {
        "line"
    }

    /// Called with the first records of an input, before they are read.
    fn note_first(&self, _records: &[u8]) {}

    /// Whether the text of a field may pass for records in these whole records, if the input is damaged
    /// after them.
    fn is_forgeable(&self, _records: &[u8]) -> bool {
        false
    }

    /// Returns the problem of records that end inside a field.
    fn open_end(&self, _records: &[u8]) -> Option<&'static str> {
        None
    }

    /// Returns whether the other records can be relied on without a record with a problem.
    fn kind_of_problem(&self, _record: &[u8]) -> BrokenKind {
        BrokenKind::Senseless
    }
}

/// Returns a reader of the records in `chunks`, after this number of `lines`.
pub(super) fn batches(
    mut chunks: TextChunks,
    records: impl RecordReader + 'static,
    mut lines: u64,
) -> impl BatchReader {
    let (records, mut is_forgeable) = (Arc::new(records), false);
    move || {
        let wrong = |error| match is_forgeable {
            true => InputError::Forgeable(Box::new(error)),
            false => error,
        };
        let Some(chunk) = chunks.next(records.framing()).map_err(wrong)? else { return Ok(None) };
        is_forgeable |= records.is_forgeable(&chunk);
        if is_forgeable && let Some(problem) = records.open_end(&chunk) {
            return Err(InputError::Forgeable(Box::new(chunks.source.problem(problem))));
        }
        if lines == 0 {
            records.note_first(&chunk);
        }
        let (records, lines_before) = (Arc::clone(&records), lines);
        lines += lines_in(&chunk);
        let batch = Batch::new(chunk.stored_bytes, move |config, sink| {
            read(&chunk, &*records, lines_before, config, sink);
        });
        Ok(Some(batch.of_table()))
    }
}

/// Returns the number of line feeds in `text`.
pub(super) fn lines_in(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Reads a chunk of whole records.
fn read(
    chunk: &[u8],
    records: &impl RecordReader,
    lines_before: u64,
    config: &ReadConfig,
    sink: &mut CaptureSink<'_>,
) {
    let (mut rest, mut line, framing) = (chunk, lines_before + 1, records.framing());
    while !rest.is_empty() {
        let (record, after) = rest.split_at(framing.first_end(rest).unwrap_or(rest.len()));
        if let Err(problem) = records.read(record, config, sink) {
            let kind = match problem.kind {
                BrokenKind::Senseless => records.kind_of_problem(record),
                own => own,
            };
            let broken = problem.of(format!("{} {line}", records.noun()));
            sink(Err(BrokenRecord { kind, ..broken }));
        }
        line += match framing {
            Framing::Byte(Terminator::LineFeed) => 1,
            _ => lines_in(record),
        };
        rest = after;
    }
}
