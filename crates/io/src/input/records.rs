//! Splits a chunk into records: the bytes between two line feeds, or between two NULs.
//!
//! A record keeps its terminator, so that it can be written as it was read. Cost: one pass over the
//! chunk, 64 bytes at a time. Splitting cannot fail and drops no byte: the records concatenated are
//! the chunk.
//!
//! ```
//! use portcullis_io::input::{Records, Terminator};
//!
//! let texts: Vec<&[u8]> = Records::new(b"a\r\n\nb", Terminator::LineFeed)
//!     .map(|record| record.text())
//!     .collect();
//! assert_eq!(texts, [&b"a"[..], b"", b"b"]);
//! ```

use portcullis_dialect::limits::RECORDS_AT_ONCE;
use wide::u8x16;

use crate::access::UnixSeconds;
use crate::list::Problem;

/// The byte that ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminator {
    /// LF, or CR LF.
    #[default]
    LineFeed,
    /// NUL, as `find -print0` writes; CR and LF are part of the record.
    Nul,
}

impl Terminator {
    /// Returns the byte.
    pub const fn byte(self) -> u8 {
        match self {
            Terminator::LineFeed => b'\n',
            Terminator::Nul => 0,
        }
    }
}

/// The time of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Times are not read.
    NotAsked,
    /// The record has no time, or none that can be read.
    Missing,
    /// The time.
    Time(UnixSeconds),
}

/// One record with its terminator, and the URL and the time in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    whole: &'a [u8],
    url: &'a [u8],
    /// The seconds of the time, or a number that is none.
    at: u64,
    /// The agent. A reference to its bytes, because records are copied often and most have none.
    agent: Option<&'a &'a [u8]>,
    end_bytes: u8,
    problem: Option<Problem>,
}

const NOT_ASKED: u64 = u64::MAX;
const MISSING: u64 = u64::MAX - 1;

impl AsRef<[u8]> for Record<'_> {
    /// The URL of the record.
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.url()
    }
}

impl<'a> Record<'a> {
    /// Returns a record whose text is its URL.
    #[inline]
    pub(crate) fn plain(whole: &'a [u8], end_bytes: u8) -> Record<'a> {
        let url = &whole[..whole.len() - usize::from(end_bytes)];
        Record { whole, url, at: NOT_ASKED, agent: None, end_bytes, problem: None }
    }

    /// Returns the record with a time that is read from it.
    pub(crate) fn with_time(self, time: Option<UnixSeconds>) -> Record<'a> {
        Record { at: time.map_or(MISSING, |time| time.0.min(MISSING - 1)), ..self }
    }

    /// Returns the record with an agent that is read from it.
    pub(crate) fn with_agent(self, agent: Option<&'a &'a [u8]>) -> Record<'a> {
        Record { agent, ..self }
    }

    /// Returns the record with another URL.
    pub(crate) fn with_url(self, url: &'a [u8]) -> Record<'a> {
        Record { url, ..self }
    }

    /// Returns the record without a URL, which makes it invalid.
    pub(crate) fn with_problem(self, problem: Problem) -> Record<'a> {
        Record { url: b"", problem: Some(problem), ..self }
    }

    /// Returns why the record has no URL, or `None` if it has one, even an empty one.
    #[inline]
    pub fn problem(&self) -> Option<Problem> {
        self.problem
    }

    /// Returns the URL to decide. For plain lines, the text of the record.
    #[inline]
    pub fn url(&self) -> &'a [u8] {
        self.url
    }

    /// Returns the time of the record.
    #[inline]
    pub fn at(&self) -> At {
        match self.at {
            NOT_ASKED => At::NotAsked,
            MISSING => At::Missing,
            seconds => At::Time(UnixSeconds(seconds)),
        }
    }

    /// Returns the agent of the record; empty if it has none, or agents are not read.
    #[inline]
    pub fn agent(&self) -> &'a [u8] {
        self.agent.map_or(b"", |agent| agent)
    }

    /// Returns the record without its terminator.
    #[inline]
    pub fn text(&self) -> &'a [u8] {
        &self.whole[..self.whole.len() - usize::from(self.end_bytes)]
    }

    /// Returns the terminator: LF, CR LF or NUL. Empty if the input ends without one.
    #[inline]
    pub fn end(&self) -> &'a [u8] {
        &self.whole[self.whole.len() - usize::from(self.end_bytes)..]
    }

    /// Returns the text and its terminator, as they were read.
    #[inline]
    pub fn whole(&self) -> &'a [u8] {
        self.whole
    }
}

/// The records of a chunk, in order. A last record without a terminator counts if it is not empty.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    chunk: &'a [u8],
    start: usize,
    terminator: Terminator,
    /// The number of scanned bytes.
    seen: usize,
    /// A bit for each terminator in the last 64 scanned bytes that has not been used.
    ends: u64,
}

/// The number of bytes that are scanned at once.
const WINDOW_BYTES: usize = 64;

impl<'a> Records<'a> {
    /// Splits `chunk`, which begins at a record.
    pub fn new(chunk: &'a [u8], terminator: Terminator) -> Records<'a> {
        Records { chunk, start: 0, terminator, seen: 0, ends: 0 }
    }

    /// Returns the bytes after the last record that was returned.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.chunk[self.start..]
    }

    /// Appends the next [`RECORDS_AT_ONCE`] records to `block`, or as many as there are.
    // All ends are found before the first record is made: each loop then has its state in registers.
    pub(crate) fn fill(&mut self, block: &mut Vec<Record<'a>>) {
        let mut ends = [0; RECORDS_AT_ONCE];
        let count = self.find_ends(&mut ends);
        block.extend(ends[..count].iter().map(|&end| self.take_up_to(end)));
        if count < ends.len() {
            block.extend(self.take_last());
        }
    }

    /// Writes the positions after the next terminators to `found`. Returns their number, which is
    /// the length of `found` unless the chunk has no more.
    #[inline]
    fn find_ends(&mut self, found: &mut [usize]) -> usize {
        let (chunk, byte) = (self.chunk, self.terminator.byte());
        let (mut seen, mut ends, mut count) = (self.seen, self.ends, 0);
        loop {
            while ends != 0
                && let Some(end) = found.get_mut(count)
            {
                // A window ends with the last scanned byte.
                *end = seen + 1 + ends.trailing_zeros() as usize - WINDOW_BYTES;
                ends &= ends - 1;
                count += 1;
            }
            let rest = &chunk[seen..];
            if ends != 0 || rest.is_empty() {
                (self.seen, self.ends) = (seen, ends);
                return count;
            }
            ends = match rest.first_chunk() {
                Some(window) => places(window, byte),
                None => places_at_end(chunk, rest.len(), byte),
            };
            seen += rest.len().min(WINDOW_BYTES);
        }
    }

    /// Takes the record that ends with the terminator before `end`.
    #[inline]
    fn take_up_to(&mut self, end: usize) -> Record<'a> {
        let has_cr = self.terminator == Terminator::LineFeed
            && end - self.start >= 2
            && self.chunk[end - 2] == b'\r';
        self.take(end - self.start, 1 + u8::from(has_cr))
    }

    /// Takes the last record, which has no terminator.
    #[cold]
    fn take_last(&mut self) -> Option<Record<'a>> {
        let bytes = self.rest().len();
        (bytes > 0).then(|| self.take(bytes, 0))
    }

    /// Takes the next `bytes` as a record, whose end has `end_bytes` of them.
    ///
    /// For formats that find the ends of records themselves; they use no other method.
    #[inline]
    pub(crate) fn take(&mut self, bytes: usize, end_bytes: u8) -> Record<'a> {
        let whole = &self.chunk[self.start..][..bytes];
        self.start += bytes;
        Record::plain(whole, end_bytes)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let mut end = [0];
        match self.find_ends(&mut end) {
            0 => self.take_last(),
            _ => Some(self.take_up_to(end[0])),
        }
    }
}

impl std::iter::FusedIterator for Records<'_> {}

/// Returns the places of `byte` in the window that ends with the chunk, of which the last `new` bytes
/// are not scanned yet.
#[cold]
fn places_at_end(chunk: &[u8], new: usize, byte: u8) -> u64 {
    let again = WINDOW_BYTES - new;
    let window = chunk.last_chunk().copied().unwrap_or_else(|| {
        let mut window = [!byte; WINDOW_BYTES];
        window[again..].copy_from_slice(chunk);
        window
    });
    places(&window, byte) >> again << again
}

/// Returns a bit for each position of `byte` in a window.
#[inline]
fn places(window: &[u8; WINDOW_BYTES], byte: u8) -> u64 {
    let (chunks, _) = window.as_chunks::<16>();
    let places = |chunk: &[u8; 16]| u8x16::new(*chunk).simd_eq(u8x16::splat(byte)).to_bitmask();
    chunks.iter().rev().fold(0, |all, chunk| all << 16 | u64::from(places(chunk) & 0xffff))
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    type Parts<'a> = Vec<(&'a [u8], &'a [u8])>;

    /// Splits in blocks, which is checked against one record at a time.
    fn split(chunk: &[u8], terminator: Terminator) -> Parts<'_> {
        let (mut records, mut all) = (Records::new(chunk, terminator), Vec::new());
        loop {
            let before = all.len();
            records.fill(&mut all);
            assert!(all.len() - before <= RECORDS_AT_ONCE);
            if all.len() == before {
                break;
            }
        }
        assert_eq!(Records::new(chunk, terminator).collect::<Vec<_>>(), all);
        all.iter().map(|record| (record.text(), record.end())).collect()
    }

    /// Splits byte by byte.
    fn split_simply(chunk: &[u8], terminator: Terminator) -> Parts<'_> {
        let records = chunk.split_inclusive(|&byte| byte == terminator.byte());
        let end_bytes = |record: &[u8]| match (terminator, record) {
            (Terminator::LineFeed, [.., b'\r', b'\n']) => 2,
            (Terminator::LineFeed, [.., b'\n']) | (Terminator::Nul, [.., 0]) => 1,
            _ => 0,
        };
        records.map(|record| record.split_at(record.len() - end_bytes(record))).collect()
    }

    #[test]
    fn lines() {
        let cases: &[(&[u8], Parts)] = &[
            (b"", vec![]),
            (b"\n", vec![(b"", b"\n")]),
            (b"\r\n", vec![(b"", b"\r\n")]),
            (b"\n\n", vec![(b"", b"\n"), (b"", b"\n")]),
            (b"a", vec![(b"a", b"")]),
            (b"a\n", vec![(b"a", b"\n")]),
            (b"a\r\nb\n", vec![(b"a", b"\r\n"), (b"b", b"\n")]),
            // Only a CR directly before the LF belongs to the end, and only one.
            (b"a\r\r\n", vec![(b"a\r", b"\r\n")]),
            (b"a\rb\n", vec![(b"a\rb", b"\n")]),
            // No LF, no end: the CR stays text.
            (b"a\nb\r", vec![(b"a", b"\n"), (b"b\r", b"")]),
            (b"\xff\xfe\0\n\x80", vec![(b"\xff\xfe\0", b"\n"), (b"\x80", b"")]),
        ];
        for (chunk, expected) in cases {
            assert_eq!(&split(chunk, Terminator::LineFeed), expected, "{chunk:?}");
        }
    }

    #[test]
    fn nul_data() {
        let cases: &[(&[u8], Parts)] = &[
            (b"", vec![]),
            (b"\0", vec![(b"", b"\0")]),
            (b"a\r\n\0b\n", vec![(b"a\r\n", b"\0"), (b"b\n", b"")]),
            (b"a\r\0", vec![(b"a\r", b"\0")]),
        ];
        for (chunk, expected) in cases {
            assert_eq!(&split(chunk, Terminator::Nul), expected, "{chunk:?}");
        }
    }

    #[test]
    fn blocks_are_split_like_byte_by_byte_wherever_windows_and_blocks_end() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for bytes in 0..400 {
            for sparseness in [1, 2, 5, 40, 200] {
                let mut byte = || match next().is_multiple_of(sparseness) {
                    true => b"\n\0"[next() as usize % 2],
                    false => b"\r\raaaa"[next() as usize % 6],
                };
                let chunk: Vec<u8> = iter::repeat_with(&mut byte).take(bytes).collect();
                for terminator in [Terminator::LineFeed, Terminator::Nul] {
                    let expected = split_simply(&chunk, terminator);
                    assert_eq!(split(&chunk, terminator), expected, "{chunk:?}");
                }
            }
        }
    }

    #[test]
    fn ends_for_good() {
        let mut records = Records::new(b"a", Terminator::LineFeed);
        assert!(records.next().is_some());
        assert!(records.next().is_none());
        assert!(records.next().is_none());
    }
}
