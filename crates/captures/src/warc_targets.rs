//! The target URIs of a WARC, WAT or WET file, for lists.
//!
//! Captures are the records of the types `response`, `resource` and `revisit`; in WET files those of
//! the type `conversion`; and in WAT files `metadata` as JSON, of which successive ones about the same
//! URI count once, because the request and the response of a capture have one each. Memory: the header
//! of a record.

use super::fields::block_bytes;
use super::warc_record::{Target, begins_record};
use crate::limits::HEADER_BLOCK_BYTES_MAX;
use portcullis_files::input::{InputError, Source};

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
    pub fn next(&mut self, lines: &mut Vec<u8>) -> Result<bool, InputError> {
        while self.stream.fill(1) && b"\r\n".contains(&self.stream.bytes()[0]) {
            self.stream.consume(1);
        }
        self.stream.fill(HEADER_BLOCK_BYTES_MAX);
        let window = self.stream.bytes();
        if window.is_empty() {
            return self.stream.take_failure().map_or(Ok(false), Err);
        }
        let window = &window[..window.len().min(HEADER_BLOCK_BYTES_MAX)];
        let header_bytes = block_bytes(window).filter(|_| begins_record(window));
        let header = header_bytes.and_then(|bytes| Some((bytes, Target::read(&window[..bytes])?)));
        let Some((header_bytes, target)) = header else {
            let failure = self.stream.take_failure();
            return Err(failure.unwrap_or_else(|| self.problem("no whole WARC record begins here")));
        };
        if !self.stream.skip(target.block_bytes.saturating_add(header_bytes as u64)) {
            let failure = self.stream.take_failure();
            return Err(failure.unwrap_or_else(|| self.problem("its last record has no end")));
        }
        if let Some(url) = target.url
            && !(target.is_metadata && self.before.as_ref() == Some(&url))
        {
            lines.extend_from_slice(&url);
            lines.push(b'\n');
            self.before = target.is_metadata.then_some(url);
        }
        Ok(true)
    }

    fn problem(&self, problem: &str) -> InputError {
        let problem = format!("at byte {}: {problem}; fetch it again", self.stream.position());
        InputError::List { name: self.stream.name().to_owned(), problem }
    }
}
