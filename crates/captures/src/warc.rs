//! Reads WARC files (ISO 28500, versions 1.0 and 1.1, and earlier drafts), plain or compressed.
//!
//! This module finds the records of a file and selects the possible answers to `GET /robots.txt`:
//! `response`, `resource` and `revisit` records whose URL's last path segment ends in `robots.txt`.
//! All other records are skipped, so an archive of a whole crawl is valid input. The batch reads
//! the responses, on any thread.
//!
//! Records are cut by the length in their headers. If the length is wrong, because neither a record
//! nor the end follows, nobody knows where the next record begins: a line of a body may look like the begin of
//! one, and bodies are what strangers write. So reading resumes only where no body can lead, at the next member
//! of gzip, and only if each record so far was a member of its own. Otherwise the file is an error after the
//! records before. Lines may end in LF alone, and blank lines between records may be missing or too many.
//!
//! Cost: a scan of the headers, and one copy of the records that are kept. Memory: a buffer of 1
//! MiB and 1 MiB per batch, or one longer record, up to [`WARC_RECORD_BYTES_MAX`].
//!
//! Errors: a truncated file, after the whole records before the cut; a record without a known end, or more than
//! [`WARC_DAMAGES_MAX`] of them; damaged compression, after the records before the damage, except a record that
//! ends where the damage begins, because its checksum may not have been verified; and a file that does not
//! begin with a record.

use memchr::memmem;

use crate::limits::{
    HEADER_BLOCK_BYTES_MAX, WARC_DAMAGES_MAX, WARC_PASSED_BYTES_MAX, WARC_RECORD_BYTES_MAX,
};
use portcullis_files::kind;
use portcullis_files::limits::CHUNK_BYTES;

use super::decoding::Budget;
use super::fields::{block_bytes, lines, unfold};
pub use super::warc_targets::Targets;

use super::capture::Problem;
use super::warc_record::{Fate, Header, Kept, VERSION_LINE_BYTES_MAX, begins_record, find_header};
use super::{Batch, BatchReader, CaptureSink, ReadConfig};
use portcullis_files::input::{InputError, Source};

/// Returns a reader of the captures in the WARC file `source`. No byte is read yet.
pub fn open(source: Source) -> WarcReader {
    WarcReader {
        window: source,
        stored_bytes_reported: 0,
        has_begun: false,
        are_members: true,
        damages: 0,
        is_over: false,
        failure: None,
    }
}

/// A reader that cuts a WARC file into batches. Made by [`open`]. After an error there are no more
/// batches.
pub struct WarcReader {
    window: Source,
    /// The stored bytes reported by batches so far.
    stored_bytes_reported: u64,
    /// Whether a record has been seen.
    has_begun: bool,
    /// Whether each record so far began where a member of gzip does.
    are_members: bool,
    /// The number of records after which reading resumed.
    damages: usize,
    is_over: bool,
    /// The error to return after the last batch.
    failure: Option<InputError>,
}

/// The number of bytes after a record that show whether it ends there: two line ends and `WARC/`.
const END_BYTES: usize = 9;

/// The bytes of memory that a record takes besides its block.
const RECORD_BYTES: usize = 256;

impl BatchReader for WarcReader {
    fn next_batch(&mut self) -> Result<Option<Batch>, InputError> {
        let mut batch = Records::default();
        let position_max = self.window.position() + WARC_PASSED_BYTES_MAX as u64;
        while !self.is_over && batch.bytes < CHUNK_BYTES && self.window.position() < position_max {
            let read = self.next_record(&mut batch);
            self.is_over = !matches!(read, Ok(true));
            self.failure = read.err();
        }
        let reported = self.stored_bytes_reported;
        self.stored_bytes_reported = self.window.stored_bytes();
        let stored_bytes = self.stored_bytes_reported - reported;
        if self.is_over && batch.records.is_empty() && stored_bytes == 0 {
            return self.failure.take().map_or(Ok(None), Err);
        }
        Ok(Some(Batch::new(stored_bytes, move |config, sink| batch.read(config, sink))))
    }
}

impl WarcReader {
    /// Reads one record, or the damaged bytes in its place, into `batch`. Returns `false` at the
    /// end.
    fn next_record(&mut self, batch: &mut Records) -> Result<bool, InputError> {
        if !find_header(&mut self.window)? {
            return Ok(false);
        }
        let position = self.window.position();
        self.are_members &= self.window.is_at_member();
        let Err(Problem { text: problem, lost, kind }) = self.read_record(batch)? else {
            return Ok(true);
        };
        if !self.are_members || self.damages == WARC_DAMAGES_MAX {
            batch.add_lost(position, Problem { text: problem.clone(), kind, lost });
            return Err(self.window.problem(format!(
                "record at byte {position}: {problem}; the rest is not read, because it is not known where \
                 the next record begins; write the archive anew, with a member of gzip for each record"
            )));
        }
        let what = "the rest of its gzip member is left out too; write the archive anew";
        batch.add(position, Err(Problem { text: format!("{problem}; {what}"), kind, lost }));
        self.damages += 1;
        Ok(self.window.skip_to_member() || self.window.take_failure().map_or(Ok(false), Err)?)
    }

    /// Reads the record at the start of the window. The inner error says why there is none, or why
    /// its end is unknown.
    fn read_record(&mut self, batch: &mut Records) -> Result<Result<(), Problem>, InputError> {
        let at_hand = self.window.buffer();
        if !begins_record(at_hand) {
            if !self.has_begun {
                return Err(self.window.problem(
                    "it does not begin with a WARC record (a line as WARC/1.0); \
                     is it a WARC file, and is it whole? If not, omit ‹input_format›",
                ));
            }
            if is_stump(at_hand) {
                return Err(self.cut_short(batch, None));
            }
            return Ok(Err("no WARC record begins here".into()));
        }
        let window = &at_hand[..at_hand.len().min(HEADER_BLOCK_BYTES_MAX)];
        self.has_begun = true;
        // The whole lines of a header without an end.
        let lines_bytes = || memchr::memrchr(b'\n', window).map_or(0, |end| end + 1);
        let end = block_bytes(window);
        let header = unfold(&window[..end.unwrap_or_else(lines_bytes)]);
        let header = match Header::read(&header) {
            Ok(header) => header,
            Err(problem) => return Ok(Err(problem.into())),
        };
        let (fate, has_crlf) = (header.fate(), header.has_crlf);
        match (end, header.block_bytes) {
            (Some(header_bytes), Some(block_bytes)) => {
                let bytes = block_bytes.saturating_add(header_bytes as u64);
                self.read_block(header_bytes, bytes, has_crlf, fate, batch)
            }
            (Some(_), None) => {
                Ok(Err(header.problem("its header has no Content-Length".to_owned())))
            }
            (None, _) if window.len() < HEADER_BLOCK_BYTES_MAX => {
                let problem = header.problem(CUT_SHORT.to_owned());
                Err(self.cut_short(batch, Some(problem)))
            }
            (None, _) => {
                let problem = format!("its header is longer than {HEADER_BLOCK_BYTES_MAX} bytes");
                Ok(Err(header.problem(problem)))
            }
        }
    }

    /// Reads the record of `bytes` bytes at the start of the window, with its header.
    fn read_block(
        &mut self,
        header_bytes: usize,
        bytes: u64,
        has_crlf: bool,
        fate: Fate,
        batch: &mut Records,
    ) -> Result<Result<(), Problem>, InputError> {
        let position = self.window.position();
        let lost = |fate: &Fate, problem: &str| match fate {
            Ok(Some(kept)) => kept.lost(format!("{problem}{}", kept.name())),
            Ok(None) => problem.into(),
            Err(known) => Problem { lost: known.lost.clone(), ..problem.to_owned().into() },
        };
        let bytes_max = match fate {
            Ok(Some(_)) => WARC_RECORD_BYTES_MAX,
            // Other records are buffered only to check that they end correctly.
            Ok(None) | Err(_) => CHUNK_BYTES,
        };
        let held = usize::try_from(bytes).ok().filter(|&bytes| bytes <= bytes_max);
        let Some(bytes) = held else {
            let too_long = |kept: Kept| -> Record {
                let fix = "fetch it again and store less of it";
                Err(kept.lost(format!("it is longer than {bytes_max} bytes; {fix}")))
            };
            batch.push(position, fate, too_long);
            self.window.consume(header_bytes);
            return self.skip_block(bytes - header_bytes as u64, batch);
        };
        let is_last = !self.fill_end(bytes);
        let Some((record, rest)) = self.window.buffer().split_at_checked(bytes) else {
            let problem = lost(&fate, CUT_SHORT);
            return Err(self.cut_short(batch, Some(problem)));
        };
        // The record ends with the last readable byte, and its checksum may be the damage.
        if self.window.has_failed() && rest.iter().all(|byte| b"\r\n".contains(byte)) {
            let problem = lost(&fate, CUT_SHORT);
            return Err(self.cut_short(batch, Some(problem)));
        }
        let block = &record[header_bytes..];
        let end = end_of_record(rest, has_crlf, is_last);
        let ends_member =
            |end: &End| self.are_members && self.window.has_member_after(bytes + end.bytes);
        let Some(end) = end.filter(|end| end.is_sure || ends_member(end)) else {
            // Other records may follow in the member.
            self.are_members &= end.is_none();
            return Ok(Err(lost(&fate, WRONG_LENGTH)));
        };
        // A block that nobody reads may have anything in it if its end is known otherwise.
        let is_skipped = matches!(fate, Ok(None)) && ends_member(&end);
        if !is_skipped && has_record(block, end.is_sure, true) {
            let problem = if end.is_sure { ANOTHER_RECORD } else { WRONG_LENGTH };
            return Ok(Err(lost(&fate, problem)));
        }
        batch.push(position, fate, |kept| Ok((kept, block.to_vec())));
        self.window.consume(bytes + end.bytes);
        Ok(Ok(()))
    }

    /// Buffers the end of the record of `bytes` bytes at the start of the window: the first bytes after it, and
    /// after line ends. Returns whether there may be more.
    fn fill_end(&mut self, bytes: usize) -> bool {
        let has_more = self.window.fill(bytes + END_BYTES);
        let rest = self.window.buffer().get(bytes..).unwrap_or_default();
        match rest.iter().all(|byte| b"\r\n".contains(byte)) {
            true => has_more && self.window.fill(bytes + HEADER_BLOCK_BYTES_MAX),
            false => has_more,
        }
    }

    /// Skips the rest of a record that is too long to be held.
    fn skip_block(
        &mut self,
        mut bytes: u64,
        batch: &mut Records,
    ) -> Result<Result<(), Problem>, InputError> {
        let mut has_another = false;
        while bytes > 0 {
            let wanted = usize::try_from(bytes).map_or(CHUNK_BYTES, |bytes| bytes.min(CHUNK_BYTES));
            if !self.window.fill(wanted) {
                return Err(self.cut_short(batch, None));
            }
            let is_last = wanted as u64 == bytes;
            has_another |= has_record(&self.window.buffer()[..wanted], true, is_last);
            // The begin of a header may be in two parts.
            let passed = if is_last { wanted } else { wanted - VERSION_AND_FIELD_BYTES };
            self.window.consume(passed);
            bytes -= passed as u64;
        }
        self.window.fill(END_BYTES);
        let is_end = |byte: &&u8| b"\r\n".contains(byte);
        let end_bytes = self.window.buffer().iter().take_while(is_end).count();
        let ends_member = self.are_members && self.window.has_member_after(end_bytes);
        Ok(if has_another && !ends_member { Err(ANOTHER_RECORD.into()) } else { Ok(()) })
    }

    /// Returns the error of a file that ends, or becomes unreadable, inside a record, whose problem is
    /// noted if it is the capture of a known resource.
    fn cut_short(&mut self, batch: &mut Records, problem: Option<Problem>) -> InputError {
        let position = self.window.position();
        problem.into_iter().for_each(|problem| batch.add_lost(position, problem));
        match self.window.take_failure() {
            Some(error) => error,
            None => self.window.problem(format!(
                "the file ends inside the record at byte {position}; fetch it again"
            )),
        }
    }
}

const CUT_SHORT: &str = "the file ends inside it";
const WRONG_LENGTH: &str = "its block is longer or shorter than its Content-Length says";
const ANOTHER_RECORD: &str = "another record begins in its block";

/// A record's header and block, or its problem.
type Record = Result<(Kept, Vec<u8>), Problem>;

/// Records in the order of the file.
#[derive(Default)]
struct Records {
    /// The position of each record, and the record.
    records: Vec<(u64, Record)>,
    /// The memory of the records in bytes.
    bytes: usize,
}

impl Records {
    /// Adds the record that `kept` makes of what is kept, or the problem of a broken one.
    fn push(&mut self, position: u64, fate: Fate, kept: impl FnOnce(Kept) -> Record) {
        match fate {
            Ok(Some(it)) => self.add(position, kept(it)),
            Ok(None) => {}
            Err(problem) => self.add(position, Err(problem)),
        }
    }

    /// Adds the problem of a record that is the capture of a known resource.
    fn add_lost(&mut self, position: u64, problem: Problem) {
        if problem.lost.is_some() {
            self.add(position, Err(problem));
        }
    }

    fn add(&mut self, position: u64, record: Record) {
        let block_bytes = record.as_ref().map_or(0, |(_, block)| block.len());
        self.bytes += block_bytes + RECORD_BYTES;
        self.records.push((position, record));
    }

    fn read(&self, config: &ReadConfig, sink: &mut CaptureSink<'_>) {
        let mut budget = Budget::new(config);
        for (position, record) in &self.records {
            let broken = |problem: Problem| Err(problem.of(format!("record at byte {position}")));
            match record {
                Err(problem) => sink(broken(problem.clone())),
                Ok((kept, block)) => match kept.message(block) {
                    Ok(message) => {
                        sink(Ok(kept.capture(message.as_ref(), block, config, &mut budget)));
                    }
                    Err(problem) => sink(broken(kept.lost(problem.to_string()))),
                },
            }
        }
    }
}

/// Whether `bytes`, the last of a file, end inside a version line.
fn is_stump(bytes: &[u8]) -> bool {
    bytes.len() < VERSION_LINE_BYTES_MAX
        && begins_record(&[bytes, &b"WARC/1.0\r\n"[bytes.len().min(10)..]].concat())
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The length of the end in bytes.
    pub(super) bytes: usize,
    /// Whether the next record, or the end of the file, follows directly. If not, the record's length or the
    /// start of the next record is damaged, and only a member of gzip that begins there shows that it is the
    /// second.
    pub(super) is_sure: bool,
}

/// Returns the end of a record at the start of `rest`, or `None` if no record ends there.
///
/// An end is two line ends of the record's kind, or the start of the next record after fewer or
/// damaged line ends. `rest` is the end of the file if it `is_last`.
///
/// † Line ends alone are no sure end: those in a file would end a record whose length is too small.
pub(super) fn end_of_record(rest: &[u8], has_crlf: bool, is_last: bool) -> Option<End> {
    let usual: &[u8] = if has_crlf { b"\r\n\r\n" } else { b"\n\n" };
    let next_begins = |at: usize| rest.get(at..).is_some_and(|rest| rest.starts_with(kind::WARC));
    let line_ends = rest.iter().take_while(|byte| b"\r\n".contains(byte)).count();
    let sure = [usual.len(), line_ends].into_iter().find(|&bytes| next_begins(bytes));
    let is_stump = |next: &[u8]| is_last && kind::WARC.starts_with(next);
    match (sure, rest.strip_prefix(usual)) {
        (Some(bytes), _) => Some(End { bytes, is_sure: true }),
        (None, _) if is_last && line_ends == rest.len() => {
            Some(End { bytes: line_ends, is_sure: true })
        }
        // The file may end inside the version line of the next record.
        (None, next) => next.map(|next| End { bytes: usual.len(), is_sure: is_stump(next) }),
    }
}

/// Whether another record begins in a block, or in a part of it that may be the last: at any byte,
/// because the writer of a record may be killed there.
///
/// † What is appended to such a record is a part of its block, and where that ends the text of a
/// stranger may stand, who has any line ends and records follow. So a version line with a field of WARC
/// below it is damage, although it may be in a body too. One without such a field is in a body, unless
/// it is not sure that the block ends where it should.
fn has_record(block: &[u8], is_end_sure: bool, is_last: bool) -> bool {
    let begins = |&start: &usize| begins_record(&block[start..]);
    let mut starts = memmem::find_iter(block, kind::WARC).filter(begins).peekable();
    while let Some(start) = starts.next() {
        let end = starts.peek().copied();
        let header = &block[start..end.unwrap_or(block.len())];
        let is_cut = is_last && end.is_none() && lines(header).skip(1).all(<[u8]>::is_empty);
        let fields = || lines(header).skip(1).take_while(|line| !line.is_empty());
        if !is_end_sure || is_cut || fields().any(is_field) {
            return true;
        }
    }
    false
}

/// Whether a line is a field that only records have.
fn is_field(line: &[u8]) -> bool {
    line.get(..FIELD.len()).is_some_and(|start| start.eq_ignore_ascii_case(FIELD))
}

/// The begin of the names of most fields.
const FIELD: &[u8] = b"WARC-";

/// The bytes in which a record shows that it begins: its first lines, up to a field with such a name.
const VERSION_AND_FIELD_BYTES: usize = 4096;
