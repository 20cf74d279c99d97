//! Archives of text: batches of whole records, which a format reads one after another.

use std::sync::Arc;

use portcullis_files::input::{Framing, InputError, TextChunk, TextChunks};

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

/// A reader that cuts text into batches of whole records.
pub struct TextReader {
    chunks: TextChunks,
    records: Arc<dyn RecordReader>,
    /// The number of lines before the next batch.
    lines: u64,
}

impl TextReader {
    /// Returns a reader of the records in `chunks`, after this number of `lines`.
    pub(super) fn new(
        chunks: TextChunks,
        records: impl RecordReader + 'static,
        lines: u64,
    ) -> TextReader {
        TextReader { chunks, records: Arc::new(records), lines }
    }
}

/// Returns the number of line feeds in `text`.
pub(super) fn lines_in(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

impl BatchReader for TextReader {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, InputError> {
        let chunk = self.chunks.next(self.records.framing())?;
        let Some(chunk) = chunk else { return Ok(None) };
        let lines_before = self.lines;
        if lines_before == 0 {
            self.records.note_first(&chunk);
        }
        self.lines += lines_in(&chunk);
        Ok(Some(Box::new(Records { chunk, records: Arc::clone(&self.records), lines_before })))
    }
}

/// A batch of whole records.
struct Records {
    chunk: TextChunk,
    records: Arc<dyn RecordReader>,
    lines_before: u64,
}

impl Batch for Records {
    fn stored_bytes(&self) -> u64 {
        self.chunk.stored_bytes
    }

    fn read(&self, config: &ReadConfig, sink: &mut CaptureSink<'_>) {
        let (mut rest, mut line) = (&self.chunk[..], self.lines_before + 1);
        let framing = self.records.framing();
        while !rest.is_empty() {
            let (record, after) = rest.split_at(framing.first_end(rest).unwrap_or(rest.len()));
            if let Err(problem) = self.records.read(record, config, sink) {
                let (place, kind) = (format!("line {line}"), self.records.kind_of_problem(record));
                sink(Err(BrokenRecord { place, problem, kind }));
            }
            line += lines_in(record);
            rest = after;
        }
    }
}
