//! Splits a chunk into records: the bytes between two line feeds, or between two NULs.
//!
//! A record keeps its terminator, so that it can be written as it was read. Cost: one pass over the
//! chunk, 64 bytes at a time. Splitting cannot fail and drops no byte: the records concatenated are
//! the chunk.
//!
//! ```
//! use portcullis_rows::input::{Records, Terminator};
//!
//! let texts: Vec<&[u8]> = Records::new(b"a\r\n\nb", Terminator::LineFeed)
//!     .map(|record| record.text())
//!     .collect();
//! assert_eq!(texts, [&b"a"[..], b"", b"b"]);
//! ```

use portcullis_engine::marks::{WINDOW_BYTES, marks_in};
use portcullis_engine::vectors::{Kind, Vectors, Work};
use wide::u8x32;

use super::Terminator;
use crate::list::Problem;

/// One record with its terminator, and the URL in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    whole: &'a [u8],
    url: &'a [u8],
    end_bytes: u8,
    problem: Option<Problem>,
}

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
        Record { whole, url, end_bytes, problem: None }
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
    /// The start of the window that was scanned last.
    window: usize,
    /// A bit for each terminator in that window that has not been used.
    ends: u64,
}

impl<'a> Records<'a> {
    /// Splits `chunk`, which begins at a record.
    pub fn new(chunk: &'a [u8], terminator: Terminator) -> Records<'a> {
        let ends = marks_in(chunk, is_end(terminator));
        Records { chunk, start: 0, terminator, window: 0, ends }
    }

    /// Returns the bytes after the last record that was returned.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.chunk[self.start..]
    }

    /// Overwrites the records of `block` with the next ones, and cuts it short if there are fewer. Returns the
    /// text of all of them.
    pub(crate) fn fill(&mut self, block: &mut Vec<Record<'a>>) -> &'a [u8] {
        let rest = self.rest();
        let count = self.split(block);
        block.truncate(count);
        &rest[..rest.len() - self.rest().len()]
    }

    /// Overwrites the records of `block` with the next ones. Returns their number, which is less than its
    /// length only at the end of the chunk.
    fn split(&mut self, block: &mut [Record<'a>]) -> usize {
        Vectors::detect().run(Split { records: self, block })
    }

    /// Takes the next `bytes` as a record, whose end has `end_bytes` of them.
    ///
    /// For formats that find the ends of records themselves; they use no other method.
    pub(crate) fn take(&mut self, bytes: usize, end_bytes: u8) -> Record<'a> {
        let whole = &self.rest()[..bytes];
        self.start += bytes;
        Record::plain(whole, end_bytes)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let mut record = [Record::default()];
        (self.split(&mut record) == 1).then_some(record[0])
    }
}

impl std::iter::FusedIterator for Records<'_> {}

/// Returns which bytes end records.
#[inline(always)]
fn is_end(terminator: Terminator) -> impl Fn(u8x32) -> u8x32 {
    move |chunk| chunk.simd_eq(u8x32::splat(terminator.byte()))
}

/// See [`Records::split`].
struct Split<'s, 'a> {
    records: &'s mut Records<'a>,
    block: &'s mut [Record<'a>],
}

impl Work for Split<'_, '_> {
    type Output = usize;

    // One loop with its state in registers, which writes each record in place.
    #[inline(always)]
    fn with(self, _: impl Kind) -> usize {
        let Split { records, block } = self;
        let Records { chunk, mut start, terminator, mut window, mut ends } = *records;
        let is_of_lines = terminator == Terminator::LineFeed;
        let mut places = block.iter_mut();
        'full: loop {
            while ends != 0 {
                let Some(place) = places.next() else { break 'full };
                let end = window + ends.trailing_zeros() as usize;
                ends &= ends - 1;
                let whole = &chunk[start..end + 1];
                let has_cr = matches!(whole, [.., b'\r', _]) & is_of_lines;
                *place = Record::plain(whole, 1 + u8::from(has_cr));
                start = end + 1;
            }
            if window + WINDOW_BYTES < chunk.len() {
                window += WINDOW_BYTES;
                ends = marks_in(&chunk[window..], is_end(terminator));
                continue;
            }
            if start < chunk.len()
                && let Some(place) = places.next()
            {
                *place = Record::plain(&chunk[start..], 0);
                start = chunk.len();
            }
            break;
        }
        (records.start, records.window, records.ends) = (start, window, ends);
        let left = places.len();
        block.len() - left
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use portcullis_dialect::limits::RECORDS_AT_ONCE;

    use super::*;

    type Parts<'a> = Vec<(&'a [u8], &'a [u8])>;

    /// Splits in blocks, which is checked against one record at a time.
    fn split(chunk: &[u8], terminator: Terminator) -> Parts<'_> {
        let (mut records, mut all) = (Records::new(chunk, terminator), Vec::new());
        let mut block = vec![Record::default(); RECORDS_AT_ONCE];
        while {
            records.fill(&mut block);
            !block.is_empty()
        } {
            all.extend_from_slice(&block);
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
