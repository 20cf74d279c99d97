//! Some records of a WARC file, and how they are read into captures.

use std::borrow::Cow;
use std::ops::Range;

use super::super::body::Settled;
use super::super::http::{HeadProblem, Message, StoredBody, read_body};
use super::super::{
    Batch, BrokenRecord, Capture, CaptureNote, CaptureNotes, CaptureSink, ReadConfig, Subject,
};
use super::header::{Kept, Kind};
use portcullis_dialect::limits::CHUNK_BYTES;
use portcullis_robots::access::{Answer, CachingHeaders};

/// Bytes that a record is reckoned to take beside its block.
const PIECE_BYTES: usize = 256;

/// Records in the order of the file, and the blocks of those that are kept.
#[derive(Default)]
pub(super) struct WarcBatch {
    blocks: Vec<u8>,
    pieces: Vec<Piece>,
    pub(super) stored_bytes: u64,
}

enum Piece {
    Record { position: u64, kept: Kept, block: Range<usize> },
    Broken(BrokenRecord),
}

impl WarcBatch {
    pub(super) fn push(&mut self, position: u64, kept: Kept, block: &[u8]) {
        let start = self.blocks.len();
        self.blocks.extend_from_slice(block);
        self.pieces.push(Piece::Record { position, kept, block: start..self.blocks.len() });
    }

    pub(super) fn push_broken(&mut self, position: u64, problem: impl Into<String>) {
        self.pieces.push(Piece::Broken(broken(position, problem)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() + self.pieces.len() * PIECE_BYTES >= CHUNK_BYTES
    }
}

fn broken(position: u64, problem: impl Into<String>) -> BrokenRecord {
    BrokenRecord::senseless(format!("record at byte {position}"), problem)
}

impl Batch for WarcBatch {
    fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        for piece in &self.pieces {
            match piece {
                Piece::Broken(broken) => sink.broken(broken.clone()),
                Piece::Record { position, kept, block } => {
                    let read = read_record(kept, &self.blocks[block.clone()], config, sink);
                    if let Err(problem) = read {
                        sink.broken(broken(*position, problem.to_string()));
                    }
                }
            }
        }
    }
}

/// Reads one record and hands out its capture, unless its HTTP header makes no sense.
fn read_record(
    kept: &Kept,
    block: &[u8],
    config: &ReadConfig,
    sink: &mut dyn CaptureSink,
) -> Result<(), HeadProblem> {
    let is_blank = block.iter().all(u8::is_ascii_whitespace);
    match kept.kind {
        Kind::Resource => sink.capture(resource(kept, block, config)),
        Kind::Revisit if is_blank => sink.capture(revisit(kept, None)),
        Kind::Revisit => {
            let message = Message::split(block)?;
            sink.capture(revisit(kept, Some(&message)));
        }
        Kind::Response => {
            let message = Message::split(block)?;
            sink.capture(response(kept, &message, config));
        }
    }
    Ok(())
}

fn response<'c>(kept: &'c Kept, message: &'c Message<'c>, config: &ReadConfig) -> Capture<'c> {
    if (200..=299).contains(&message.status) {
        return capture(kept, Some(message), read_body(message, kept.is_truncated, config));
    }
    // What other answers say, they say in their head.
    let notes = if kept.is_truncated {
        CaptureNotes::EMPTY.with(CaptureNote::Truncated)
    } else {
        CaptureNotes::EMPTY
    };
    capture(kept, Some(message), without_body(message.status, notes))
}

fn resource<'c>(kept: &'c Kept, block: &'c [u8], config: &ReadConfig) -> Capture<'c> {
    let notes = if kept.is_html {
        CaptureNotes::EMPTY.with(CaptureNote::HtmlContentType)
    } else {
        CaptureNotes::EMPTY
    };
    capture(kept, None, StoredBody::new(block, kept.is_truncated).settle(200, notes, config))
}

/// A file that is the same as an earlier one. Archives also say so of redirects and errors, whose
/// bodies are much alike; those are what their head says.
fn revisit<'c>(kept: &'c Kept, message: Option<&'c Message<'c>>) -> Capture<'c> {
    let status = match message.map(|message| message.status) {
        None | Some(200..=299) => 304,
        Some(status) => status,
    };
    let notes = CaptureNotes::EMPTY.with(CaptureNote::Revisit);
    capture(kept, message, without_body(status, notes))
}

fn without_body(status: u16, notes: CaptureNotes) -> Settled<'static> {
    Settled { answer: Answer::Status(status), body: Cow::Borrowed(b""), notes }
}

fn capture<'c>(
    kept: &'c Kept,
    message: Option<&'c Message<'c>>,
    settled: Settled<'c>,
) -> Capture<'c> {
    Capture {
        subject: Subject::Url(&kept.url),
        captured_at: kept.captured_at,
        redirects_followed: 0,
        answer: settled.answer,
        location: message.and_then(|message| message.field(b"Location")).map(Cow::Borrowed),
        caching: message
            .map_or_else(CachingHeaders::default, |message| CachingHeaders::read(message.fields())),
        body: settled.body,
        notes: settled.notes,
    }
}
