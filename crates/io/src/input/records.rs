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

    /// Returns the position of the next terminator.
    #[inline]
    fn next_end(&mut self) -> Option<usize> {
        while self.ends == 0 {
            let rest = &self.chunk[self.seen..];
            if rest.is_empty() {
                return None;
            }
            // The last window may begin with bytes that are already scanned.
            self.ends = match (rest.first_chunk(), self.chunk.last_chunk()) {
                (Some(window), _) => places(window, self.terminator.byte()),
                (None, Some(window)) => {
                    let again = WINDOW_BYTES - rest.len();
                    places(window, self.terminator.byte()) >> again << again
                }
                (None, None) => {
                    let mut window = [!self.terminator.byte(); WINDOW_BYTES];
                    window[WINDOW_BYTES - rest.len()..].copy_from_slice(rest);
                    places(&window, self.terminator.byte())
                }
            };
            self.seen += rest.len().min(WINDOW_BYTES);
        }
        let place = self.ends.trailing_zeros() as usize;
        self.ends &= self.ends - 1;
        // A window ends with the last scanned byte.
        Some(self.seen + place - WINDOW_BYTES)
    }

    /// Returns the last record, which has no terminator.
    #[cold]
    fn without_end(&mut self) -> Option<Record<'a>> {
        let whole = &self.chunk[self.start..];
        self.start = self.chunk.len();
        (!whole.is_empty()).then_some(Record::plain(whole, 0))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        let Some(end) = self.next_end() else {
            return self.without_end();
        };
        let whole = &self.chunk[self.start..=end];
        self.start = end + 1;
        let end_bytes = match (self.terminator, whole) {
            (Terminator::LineFeed, [.., b'\r', _]) => 2,
            _ => 1,
        };
        Some(Record::plain(whole, end_bytes))
    }
}

impl std::iter::FusedIterator for Records<'_> {}

/// Returns a bit for each position of `byte` in a window.
#[inline]
fn places(window: &[u8; WINDOW_BYTES], byte: u8) -> u64 {
    let (chunks, _) = window.as_chunks::<16>();
    let places = |chunk: &[u8; 16]| u8x16::new(*chunk).simd_eq(u8x16::splat(byte)).to_bitmask();
    chunks.iter().rev().fold(0, |all, chunk| all << 16 | u64::from(places(chunk) & 0xffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'a> = Vec<(&'a [u8], &'a [u8])>;

    fn split(chunk: &[u8], terminator: Terminator) -> Parts<'_> {
        let records = Records::new(chunk, terminator);
        let whole: Vec<u8> =
            records.clone().flat_map(|record| record.whole().iter().copied()).collect();
        assert_eq!(whole, chunk, "the records joined are the chunk");
        records.map(|record| (record.text(), record.end())).collect()
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
    fn every_end_is_found_wherever_windows_lie() {
        let mut state = 1_u32;
        for bytes in 0..300 {
            for sparseness in [2, 5, 40, 200] {
                let chunk: Vec<u8> = std::iter::repeat_with(|| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if (state >> 16).is_multiple_of(sparseness) { b'\n' } else { b'a' }
                })
                .take(bytes)
                .collect();
                let parts = split(&chunk, Terminator::LineFeed);
                let expected: Vec<&[u8]> = chunk.split_inclusive(|&it| it == b'\n').collect();
                assert_eq!(parts.len(), expected.len());
                for ((text, end), expected) in parts.into_iter().zip(expected) {
                    assert_eq!([text, end].concat(), expected);
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
