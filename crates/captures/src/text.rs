//! Archives of text: batches of whole records, which a format reads one after another.

use std::sync::Arc;

use portcullis_files::input::{Framing, TextChunks};

use super::capture::{Batch, BatchReader, BrokenKind, BrokenRecord, CaptureSink, ReadConfig};

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
    ) -> Result<(), String>;

    /// Called with the first records of an input, before they are read.
    fn note_first(&self, _records: &[u8]) {}

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
    let records = Arc::new(records);
    move || {
        let Some(chunk) = chunks.next(records.framing())? else { return Ok(None) };
        if lines == 0 {
            records.note_first(&chunk);
        }
        let (records, lines_before) = (Arc::clone(&records), lines);
        lines += lines_in(&chunk);
        Ok(Some(Batch::new(chunk.stored_bytes, move |config, sink| {
            read(&chunk, &*records, lines_before, config, sink);
        })))
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
            let (place, kind) = (format!("line {line}"), records.kind_of_problem(record));
            sink(Err(BrokenRecord { place, problem, kind }));
        }
        line += lines_in(record);
        rest = after;
    }
}
