//! JSON Lines: one object a line, one answer an object.
//!
//! ```json
//! {"url": "https://a.example/robots.txt", "status": 200, "fetched_at": "2024-05-01T12:00:00Z",
//!  "headers": {"Content-Type": "text/plain"}, "redirects": [], "body": "User-agent: *\n"}
//! ```
//!
//! (on one line). What a member says:
//!
//! | member | |
//! |---|---|
//! | `url` | what was asked for first; the only one that must be there |
//! | `status` | the last answer's status; absent, `null` or 0 if there was none |
//! | `error` | why there was none, or why the body is not whole; any text or object |
//! | `fetched_at` | when, as RFC 3339 has it |
//! | `headers` | names, in any case, to a text or a list of texts |
//! | `redirects` | what was followed: a list of URLs, or of objects with a `url` |
//! | `body` | the decoded body, as text |
//! | `body_base64` | the decoded body, in base64, where it is no UTF-8 |
//! | `truncated` | that the body was cut; anything but `null`, `false`, 0 and an empty text |
//!
//! Other members are passed over, and so are empty lines and a byte order mark at the start.
//!
//! A line that is no such object is broken, with its number, and so is one that contradicts itself
//! (two bodies) or says nothing (no status and no error): what a line may have meant is not guessed.
//! A 2xx answer without a body is [`Answer::BrokenBody`](portcullis_robots::access::Answer::BrokenBody), unless
//! its status is 204 or 205, which have none; so is one with `truncated` or an `error`, unless the
//! body holds all that counts.
//!
//! Cost: one pass over each line, and a copy of each text that has an escape in it. A body in base64
//! is decoded as far as it counts.
//!
//! ```
//! use portcullis_robots::access::Answer;
//! use portcullis_capture::capture::{BatchReader, BrokenRecord, Capture, CaptureSink, ReadConfig, json_lines};
//! use portcullis_capture::input::{OpenConfig, Source};
//!
//! struct Show;
//!
//! impl CaptureSink for Show {
//!     fn capture(&mut self, capture: Capture<'_>) {
//!         assert_eq!(capture.answer, Answer::Status(404));
//!     }
//!     fn broken(&mut self, broken: BrokenRecord) {
//!         panic!("{}: {}", broken.place, broken.problem);
//!     }
//! }
//!
//! let lines: &[u8] = br#"{"url": "https://a.example/robots.txt", "status": 404}"#;
//! let mut reader = json_lines::open(Source::from_reader("made up", lines, OpenConfig::default()));
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_bytes_max: None }, &mut Show);
//! }
//! # Ok::<(), portcullis_capture::capture::CaptureError>(())
//! ```

mod line;
mod members;
#[cfg(test)]
mod tests;

use crate::input::{Chunk, ChunkConfig, Chunks, Records, Source, Terminator};
use portcullis_robots::kind::BYTE_ORDER_MARK;

use super::{Batch, BatchReader, BrokenRecord, CaptureError, CaptureSink, ReadConfig};

/// What may stand around a value (RFC 8259, section 2).
const WHITE_SPACE: &[u8] = b" \t\r\n";

/// Cuts JSON Lines into batches of whole lines; [`open`] makes it.
pub struct JsonLines {
    chunks: Chunks,
    /// Lines of the batches that were handed out.
    lines: u64,
}

/// Reads the lines of `source`, decompressed if it is compressed.
///
/// A line longer than [`RECORD_BYTES_MAX`](portcullis_dialect::limits::RECORD_BYTES_MAX) ends the reading with
/// an error.
pub fn open(source: Source) -> JsonLines {
    JsonLines { chunks: source.chunks(ChunkConfig::default()), lines: 0 }
}

impl BatchReader for JsonLines {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        let Some(chunk) = self.chunks.next() else {
            return Ok(None);
        };
        let chunk = chunk?;
        let lines_before = self.lines;
        self.lines += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        Ok(Some(Box::new(Lines { chunk, lines_before })))
    }
}

/// Some whole lines.
struct Lines {
    chunk: Chunk,
    lines_before: u64,
}

impl Batch for Lines {
    fn stored_bytes(&self) -> u64 {
        self.chunk.stored_bytes()
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let mut bytes: &[u8] = &self.chunk;
        if self.lines_before == 0 {
            // RFC 8259, section 8.1, lets readers ignore it.
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        for (index, record) in Records::new(bytes, Terminator::LineFeed).enumerate() {
            if let Err(problem) = line::read(record.text(), config, sink) {
                let number = self.lines_before + index as u64 + 1;
                sink.broken(BrokenRecord::senseless(format!("line {number}"), problem));
            }
        }
    }
}
