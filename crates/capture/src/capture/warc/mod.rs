//! WARC files (ISO 28500, versions 1.0 and 1.1, and the drafts before), plain or compressed.
//!
//! Owns finding the records of a file and telling those that can be an answer to GET /robots.txt:
//! `response`, `resource` and `revisit` records whose URL's last segment ends in `robots.txt`. All
//! others are passed over, so an archive of a whole crawl will do. What is in a response is read by
//! the batch, on any thread.
//!
//! Records are cut by the length that their headers give. Where that cannot be right, because no
//! record and no end follows, the record is broken, and reading goes on at the next line that begins
//! one. What is found behind such damage is as sure as a guess: a broken archive should be fixed.
//! Lines may end in LF alone, and blank lines between records may be missing or too many.
//!
//! Cost: a scan of the headers and one copy of the records that are kept. Memory: 1 MiB at hand and
//! 1 MiB for each batch, or one longer record, up to
//! [`WARC_RECORD_BYTES_MAX`].
//!
//! What can fail: a file that is cut short, after the whole records before; damaged compression,
//! likewise, but without the record that ends where the damage begins, because its checksum may not
//! have been seen; and a file that begins with no record.
//!
//! ```
//! use portcullis_capture::capture::{BatchReader, BrokenRecord, Capture, CaptureSink, ReadConfig, warc};
//! use portcullis_capture::input::{OpenConfig, Source};
//!
//! #[derive(Default)]
//! struct Bodies(Vec<Vec<u8>>);
//!
//! impl CaptureSink for Bodies {
//!     fn capture(&mut self, capture: Capture<'_>) {
//!         self.0.push(capture.body.into_owned());
//!     }
//!     fn broken(&mut self, broken: BrokenRecord) {
//!         panic!("{broken:?}");
//!     }
//! }
//!
//! let file: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 40\r\n\
//!     WARC-Target-URI: http://a.example/robots.txt\r\n\r\n\
//!     HTTP/1.1 200 OK\r\n\r\nUser-agent: crawler\r\n\r\n\r\n";
//! let mut reader = warc::open(Source::from_reader("a.warc", file, OpenConfig::default()));
//! let mut bodies = Bodies::default();
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_bytes_max: None }, &mut bodies);
//! }
//! assert_eq!(bodies.0, [b"User-agent: crawler\r\n"]);
//! # Ok::<(), portcullis_capture::capture::CaptureError>(())
//! ```

mod batch;
mod header;
#[cfg(test)]
mod tests;
mod window;

use std::io::{self, ErrorKind};

use memchr::memmem;

use super::fields::block_bytes;
use super::{Batch, BatchReader, CaptureError};
use crate::input::Source;
use batch::WarcBatch;
use header::{Fate, Header, VERSION_LINE_BYTES_MAX, begins_record};
use portcullis_dialect::limits::{
    CHUNK_BYTES, HEADER_BLOCK_BYTES_MAX, WARC_PASSED_BYTES_MAX, WARC_RECORD_BYTES_MAX,
};
use portcullis_robots::kind;
use window::Window;

/// Reads the captures of the WARC file `source`. Nothing is read yet.
pub fn open(source: Source) -> WarcReader {
    WarcReader {
        name: source.name().to_owned(),
        window: Window::new(source.into_reader()),
        stored_bytes_told: 0,
        state: State::Begin,
    }
}

/// Cuts a WARC file into batches; see [`open`]. After an error there is nothing more.
pub struct WarcReader {
    name: String,
    window: Window,
    /// Stored bytes that batches have accounted for.
    stored_bytes_told: u64,
    state: State,
}

enum State {
    /// No record has been seen.
    Begin,
    Within,
    /// The error is still to be told.
    Failed(CaptureError),
    Over,
}

/// Bytes behind a record that show whether it ends there: two line ends and `WARC/`.
const END_BYTES: usize = 9;

impl BatchReader for WarcReader {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Failed(error) => return Err(error),
            State::Over => return Ok(None),
            state => self.state = state,
        }
        let mut batch = WarcBatch::default();
        let position = self.window.position();
        let passed = |window: &Window| window.position() - position;
        while !batch.is_full() && passed(&self.window) < WARC_PASSED_BYTES_MAX as u64 {
            match self.next_record(&mut batch) {
                Ok(true) => {}
                Ok(false) => {
                    self.state = State::Over;
                    break;
                }
                Err(error) => {
                    self.state = State::Failed(error);
                    break;
                }
            }
        }
        let stored_bytes = self.window.stored_bytes();
        batch.stored_bytes = stored_bytes - self.stored_bytes_told;
        self.stored_bytes_told = stored_bytes;
        let is_last = matches!(self.state, State::Failed(_) | State::Over);
        if is_last && batch.is_empty() && batch.stored_bytes == 0 {
            return self.next_batch();
        }
        Ok(Some(Box::new(batch)))
    }
}

impl WarcReader {
    /// Reads one record, or what stands in its place, into `batch`; `false` at the end.
    fn next_record(&mut self, batch: &mut WarcBatch) -> Result<bool, CaptureError> {
        self.pass_blank_lines();
        self.window.fill(HEADER_BLOCK_BYTES_MAX);
        if self.window.bytes().is_empty() {
            return self.window.failure().map_or(Ok(false), |error| Err(self.unreadable(error)));
        }
        let position = self.window.position();
        if !begins_record(self.window.bytes()) {
            if matches!(self.state, State::Begin) {
                return Err(self.no_warc_file());
            }
            if is_stump(self.window.bytes()) {
                return Err(self.cut_short());
            }
            batch.push_broken(position, "no WARC record begins here; write the archive anew");
            self.resynchronise();
            return Ok(true);
        }
        self.state = State::Within;
        let at_hand = self.window.bytes();
        let window = &at_hand[..at_hand.len().min(HEADER_BLOCK_BYTES_MAX)];
        let Some(header_bytes) = block_bytes(window) else {
            if window.len() < HEADER_BLOCK_BYTES_MAX {
                return Err(self.cut_short());
            }
            let problem = format!(
                "its header is longer than {HEADER_BLOCK_BYTES_MAX} bytes; write the archive anew"
            );
            batch.push_broken(position, problem);
            self.resynchronise();
            return Ok(true);
        };
        let Some(header) = Header::read(&window[..header_bytes]) else {
            batch.push_broken(position, "its header has no Content-Length; write the archive anew");
            self.resynchronise();
            return Ok(true);
        };
        self.read_block(header_bytes, header, batch)?;
        Ok(true)
    }

    /// Reads the block of the record that stands at the begin of the window.
    fn read_block(
        &mut self,
        header_bytes: usize,
        header: Header,
        batch: &mut WarcBatch,
    ) -> Result<(), CaptureError> {
        let position = self.window.position();
        let bytes = header.block_bytes.saturating_add(header_bytes as u64);
        let bytes_max = match header.fate {
            Fate::Keep(_) => WARC_RECORD_BYTES_MAX,
            // Records of which nothing is needed are held only to see that they end well.
            Fate::PassOver | Fate::Broken(_) => CHUNK_BYTES,
        };
        let held = usize::try_from(bytes).ok().filter(|&bytes| bytes <= bytes_max);
        let Some(bytes) = held else {
            if let Some(problem) = too_long(&header.fate) {
                batch.push_broken(position, problem);
            }
            return if self.window.skip(bytes) { Ok(()) } else { Err(self.cut_short()) };
        };
        self.window.fill(bytes + END_BYTES);
        let Some((record, rest)) = self.window.bytes().split_at_checked(bytes) else {
            return Err(self.cut_short());
        };
        // The record ends with the bytes that could be had, and its checksum may be the damage.
        if self.window.has_failed() && rest.iter().all(|byte| b"\r\n".contains(byte)) {
            return Err(self.cut_short());
        }
        let end = end_of_record(rest, header.has_crlf)
            .filter(|end| end.is_sure || next_line_of_record(&record[header_bytes..]).is_none());
        let Some(End { bytes: end_bytes, .. }) = end else {
            let problem = "its block is longer or shorter than its Content-Length says; \
                           write the archive anew";
            batch.push_broken(position, problem);
            self.resynchronise();
            return Ok(());
        };
        match header.fate {
            Fate::Keep(kept) => batch.push(position, kept, &record[header_bytes..]),
            Fate::PassOver => {}
            Fate::Broken(problem) => batch.push_broken(position, problem),
        }
        self.window.consume(bytes + end_bytes);
        Ok(())
    }

    fn pass_blank_lines(&mut self) {
        while self.window.fill(1) {
            let bytes = self.window.bytes();
            let blank = bytes.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            let is_all = blank == bytes.len();
            self.window.consume(blank);
            if !is_all {
                break;
            }
        }
    }

    /// Moves on to the next line that begins a record, or to the end.
    fn resynchronise(&mut self) {
        loop {
            let bytes = self.window.bytes();
            if let Some(start) = next_line_of_record(bytes) {
                self.window.consume(start);
                return;
            }
            // The line end and version line of a record may be at hand in part.
            let kept = bytes.len().min(VERSION_LINE_BYTES_MAX);
            self.window.consume(bytes.len() - kept);
            if !self.window.fill(kept + 1) {
                self.window.consume(kept);
                return;
            }
        }
    }

    /// The error of a file that ends, or cannot be read further, inside a record.
    fn cut_short(&mut self) -> CaptureError {
        let position = self.window.position();
        let error = self.window.failure().unwrap_or_else(|| {
            let problem = format!("the file ends inside the record at byte {position}");
            io::Error::new(ErrorKind::UnexpectedEof, problem)
        });
        self.unreadable(error)
    }

    fn unreadable(&self, source: io::Error) -> CaptureError {
        CaptureError::Unreadable { name: self.name.clone(), source }
    }

    fn no_warc_file(&self) -> CaptureError {
        CaptureError::NotThisFormat {
            name: self.name.clone(),
            problem: "it does not begin with a WARC record (a line as WARC/1.0); \
                      is it a WARC file, and is it whole?"
                .to_owned(),
        }
    }
}

/// What is wrong with a record that is too long to be held; nothing if it is not needed.
fn too_long(fate: &Fate) -> Option<String> {
    match fate {
        Fate::Keep(_) => Some(format!(
            "it is longer than {WARC_RECORD_BYTES_MAX} bytes; ask the host anew and keep less"
        )),
        Fate::PassOver => None,
        Fate::Broken(problem) => Some((*problem).to_owned()),
    }
}

/// Whether `bytes`, the last of a file, break off inside a version line.
fn is_stump(bytes: &[u8]) -> bool {
    bytes.len() < VERSION_LINE_BYTES_MAX
        && begins_record(&[bytes, &b"WARC/1.0\r\n"[bytes.len().min(10)..]].concat())
}

/// How a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    /// Bytes of the end itself.
    bytes: usize,
    /// Whether the next record, or the end of the file, follows at once. If not, one of two is
    /// damaged: the length that led here, or the begin of the next record.
    is_sure: bool,
}

/// The end of a record that `rest` begins with, or nothing if no record ends there.
///
/// Two line ends of the kind that the record has are one, and so is the place where the next record
/// begins, with fewer line ends in front or damaged ones. `rest` is at least as long as that unless
/// the file ends with it.
fn end_of_record(rest: &[u8], has_crlf: bool) -> Option<End> {
    let usual: &[u8] = if has_crlf { b"\r\n\r\n" } else { b"\n\n" };
    let next_begins = |at: usize| rest.get(at..).is_some_and(|rest| rest.starts_with(kind::WARC));
    let line_ends = rest.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let sure = [usual.len(), line_ends].into_iter().find(|&bytes| next_begins(bytes));
    match sure {
        Some(bytes) => Some(End { bytes, is_sure: true }),
        None if line_ends == rest.len() => {
            Some(End { bytes: line_ends, is_sure: line_ends < END_BYTES })
        }
        None => rest.starts_with(usual).then_some(End { bytes: usual.len(), is_sure: false }),
    }
}

/// Where the next line of `bytes` begins that a record can begin with, the first line left aside.
fn next_line_of_record(bytes: &[u8]) -> Option<usize> {
    let mut lines = memmem::find_iter(bytes, b"\nWARC/").map(|line_end| line_end + 1);
    lines.find(|&start| begins_record(&bytes[start..]))
}
