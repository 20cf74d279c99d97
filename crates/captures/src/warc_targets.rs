//! The target URIs of a WARC, WAT or WET file, for lists.
//!
//! Captures are the records of the types `response`, `resource` and `revisit`; in WET files, records of
//! the type `conversion`; and in WAT files `metadata` as JSON, of which successive ones about the same
//! URI count once, because the request and the response of a capture have one each. A capture without a
//! URI is an empty line, so it is an invalid record in its place. Memory: the header of a record.

use super::fields::{block_bytes, unfold};
use super::warc_record::{Header, begins_record, find_header};
use crate::limits::HEADER_BLOCK_BYTES_MAX;
use portcullis_files::input::{InputError, Source, Stage};
use portcullis_files::limits::STAGE_READ_BYTES;

/// The target URIs of a WARC file.
pub struct Targets {
    stream: Source,
    /// The target of the record before, if that was metadata.
    before: Option<Vec<u8>>,
}

impl Targets {
    /// Returns the targets in `stream`. Nothing is read yet.
    pub fn new(stream: Source) -> Targets {
        Targets { stream, before: None }
    }

    /// Reads a record, and appends its target to `lines` as a line if it stands for a capture. Returns
    /// `false` at the end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, ends within a record, or has none where one should begin.
    fn next(&mut self, lines: &mut Vec<u8>) -> Result<bool, InputError> {
        if !find_header(&mut self.stream)? {
            return Ok(false);
        }
        let window = self.stream.buffer();
        let window = &window[..window.len().min(HEADER_BLOCK_BYTES_MAX)];
        let header_bytes = block_bytes(window).filter(|_| begins_record(window));
        let block = header_bytes.map(|bytes| unfold(&window[..bytes]));
        let header = block.as_deref().map_or(Err("no whole WARC record begins here"), Header::read);
        let header = match header {
            Ok(header) => header,
            Err(problem) => return Err(self.failure(problem)),
        };
        let (url, is_metadata) = (header.target().map(<[u8]>::to_vec), header.is_metadata());
        let Some(block_bytes) = header.block_bytes else {
            return Err(self.failure("its header has no Content-Length"));
        };
        let bytes = block_bytes.saturating_add(header_bytes.unwrap_or(0) as u64);
        if !self.stream.skip(bytes) {
            return Err(self.failure("its last record has no end"));
        }
        if let Some(url) = url
            && !(is_metadata && self.before.as_ref() == Some(&url))
        {
            lines.extend_from_slice(&url);
            lines.push(b'\n');
            self.before = is_metadata.then_some(url);
        }
        Ok(true)
    }

    /// Returns the failure to read the input, or else a problem of its content.
    fn failure(&mut self, problem: &str) -> InputError {
        let problem = format!("at byte {}: {problem}; fetch it again", self.stream.position());
        self.stream.take_failure().unwrap_or_else(|| self.stream.problem(problem))
    }
}

impl Stage for Targets {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        while lines.len() < STAGE_READ_BYTES && self.next(lines)? {}
        Ok(())
    }
}
