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
use portcullis_robots::url::{UnusualBytes, UrlText};
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
    is_usual: bool,
}

impl UrlText for Record<'_> {
    #[inline]
    fn url(&self) -> &[u8] {
        self.url
    }

    #[inline]
    fn is_usual(&self) -> bool {
        self.is_usual
    }
}

impl<'a> Record<'a> {
    /// Returns a record whose text is its URL.
    #[inline]
    pub(crate) fn plain(whole: &'a [u8], end_bytes: u8) -> Record<'a> {
        let url = &whole[..whole.len() - usize::from(end_bytes)];
        Record { whole, url, end_bytes, problem: None, is_usual: false }
    }

    /// Returns the record with another URL.
    pub(crate) fn with_url(self, url: &'a [u8]) -> Record<'a> {
        Record { url, is_usual: false, ..self }
    }

    /// Returns the record without a URL, which makes it invalid.
    pub(crate) fn with_problem(self, problem: Problem) -> Record<'a> {
        Record { problem: Some(problem), ..self.with_url(b"") }
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
    /// Whether records are URLs, of which it is found which ones are usual.
    are_urls: bool,
    /// Windows that were scanned ahead, and the start of the first one. Sums wrap, because at first they are before
    /// the chunk.
    windows: Windows,
    first: usize,
    /// The number of the first window that has marks.
    next: usize,
    seen: Seen,
}

/// For each of some windows, a bit for each terminator, and if records are URLs for each byte that is unusual.
type Windows = [u64; WINDOWS_AT_ONCE];

/// Windows that are scanned at once: two pages, or a block of short URLs.
const WINDOWS_AT_ONCE: usize = 128;

/// The bytes of a record before its terminator, as far as they were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Usual bytes alone.
    Usual,
    /// The CR of its end, after usual bytes.
    Cr,
    /// Others, or it is not known.
    Any,
}

impl<'a> Records<'a> {
    /// Splits `chunk`, which begins at a record.
    pub fn new(chunk: &'a [u8], terminator: Terminator) -> Records<'a> {
        let (windows, next) = ([0; WINDOWS_AT_ONCE], WINDOWS_AT_ONCE);
        let first = 0_usize.wrapping_sub(WINDOWS_AT_ONCE * WINDOW_BYTES);
        let (are_urls, seen) = (false, Seen::Any);
        Records { chunk, start: 0, terminator, are_urls, windows, first, next, seen }
    }

    /// Returns the same records, whose texts are URLs. It takes less time to decide them then.
    pub(crate) fn of_urls(self, are_urls: bool) -> Records<'a> {
        Records { are_urls, ..self }
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

/// Returns a bit for each terminator in the first window of a text.
#[inline(always)]
fn ends_in(text: &[u8], terminator: Terminator) -> u64 {
    marks_in(text, |chunk| chunk.simd_eq(u8x32::splat(terminator.byte())))
}

/// Marks the terminators in the windows of a chunk from `first` on, or its unusual bytes, which include
/// terminators.
#[inline(always)]
fn scan(
    (chunk, first): (&[u8], usize),
    terminator: Terminator,
    unusual: Option<UnusualBytes>,
    windows: &mut Windows,
) {
    let text = &chunk[first..];
    if first == 0 || text.len() < WINDOWS_AT_ONCE * WINDOW_BYTES {
        windows.fill(0);
        for (marks, window) in windows.iter_mut().zip(text.chunks(WINDOW_BYTES)) {
            *marks = match unusual {
                None => ends_in(window, terminator),
                // Any byte, in the windows at both ends of the chunk.
                Some(_) => u64::MAX >> (WINDOW_BYTES - window.len()),
            };
        }
    }
    // No closures: they would be compiled without the vectors.
    let Some(unusual) = unusual else {
        for (marks, window) in windows.iter_mut().zip(text.as_chunks::<WINDOW_BYTES>().0) {
            *marks = ends_in(window, terminator);
        }
        return;
    };
    let done = usize::from(first == 0);
    let Some(text) = text.get(done * WINDOW_BYTES..) else { return };
    let (before, _) = chunk[chunk.len() - text.len() - 1..].as_chunks();
    for ((marks, before), window) in windows[done..].iter_mut().zip(before).zip(text.as_chunks().0)
    {
        *marks = unusual.marks(before, window);
    }
}

/// See [`Records::split`].
struct Split<'s, 'a> {
    records: &'s mut Records<'a>,
    block: &'s mut [Record<'a>],
}

impl Work for Split<'_, '_> {
    type Output = usize;

    #[inline(always)]
    fn with(self, kind: impl Kind) -> usize {
        match self.records.terminator {
            Terminator::LineFeed => self.by::<b'\n', b'\r'>(kind),
            // Before NUL, a CR is part of the text.
            Terminator::Nul => self.by::<0, 0>(kind),
        }
    }
}

impl Split<'_, '_> {
    // One loop with its state in registers, which writes each record in place. The terminator needs none.
    #[inline(always)]
    fn by<const END: u8, const CR: u8>(self, kind: impl Kind) -> usize {
        let Split { records, block } = self;
        let Records { chunk, terminator, are_urls, mut start, mut seen, .. } = *records;
        let unusual = UnusualBytes::new(kind).filter(|_| are_urls);
        let unseen = if unusual.is_some() { Seen::Usual } else { Seen::Any };
        let mut window = records.first.wrapping_add(records.next * WINDOW_BYTES);
        let mut places = block.iter_mut();
        'full: loop {
            for marks in &mut records.windows[records.next..] {
                let mut left = *marks;
                while left != 0 {
                    let end = window + left.trailing_zeros() as usize;
                    if chunk[end] != END {
                        let is_end = chunk[end] == CR && chunk.get(end + 1) == Some(&END);
                        (left, seen) = match is_end && seen == Seen::Usual {
                            true => (left & (left - 1), Seen::Cr),
                            false => (from_end(chunk, window, left, terminator), Seen::Any),
                        };
                        continue;
                    }
                    let Some(place) = places.next() else {
                        *marks = left;
                        records.next = window.wrapping_sub(records.first) / WINDOW_BYTES;
                        break 'full;
                    };
                    let (url, whole) = (&chunk[start..end], &chunk[start..=end]);
                    (start, left) = (end + 1, left & (left - 1));
                    if seen == Seen::Usual {
                        let (end_bytes, problem) = (1, None);
                        *place = Record { whole, url, end_bytes, problem, is_usual: true };
                        continue;
                    }
                    let has_cr = url.last() == Some(&CR);
                    let is_usual = seen == Seen::Cr;
                    *place = Record { is_usual, ..Record::plain(whole, 1 + u8::from(has_cr)) };
                    seen = unseen;
                }
                window = window.wrapping_add(WINDOW_BYTES);
            }
            records.next = WINDOWS_AT_ONCE;
            let after = records.first.wrapping_add(WINDOWS_AT_ONCE * WINDOW_BYTES);
            if after < chunk.len() {
                (records.first, records.next) = (after, 0);
                scan((chunk, after), terminator, unusual, &mut records.windows);
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
        (records.start, records.seen) = (start, seen);
        let left = places.len();
        block.len() - left
    }
}

/// Returns the marks of a window from the next terminator on, after the first mark. Not inlined: the loop needs the
/// registers.
#[cold]
#[inline(never)]
fn from_end(chunk: &[u8], window: usize, marks: u64, terminator: Terminator) -> u64 {
    let ends = ends_in(&chunk[window..], terminator) & marks & (marks - 1);
    marks & u64::MAX.checked_shl(ends.trailing_zeros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use portcullis_dialect::limits::RECORDS_AT_ONCE;

    use super::*;

    type Parts<'a> = Vec<(&'a [u8], &'a [u8])>;

    /// Splits in blocks, which is checked against one record at a time.
    fn split<'a>(chunk: &'a [u8], terminator: Terminator) -> Parts<'a> {
        let in_blocks = |mut records: Records<'a>| {
            let (mut all, mut block) = (Vec::new(), vec![Record::default(); RECORDS_AT_ONCE]);
            while {
                records.fill(&mut block);
                !block.is_empty()
            } {
                all.extend_from_slice(&block);
            }
            all
        };
        let records = Records::new(chunk, terminator);
        let all = in_blocks(records.clone());
        assert_eq!(records.clone().collect::<Vec<_>>(), all);
        assert!(all.iter().all(|record| !record.is_usual));
        let urls = in_blocks(records.of_urls(true));
        for record in urls.iter().filter(|record| record.is_usual) {
            assert!(record.text().iter().all(|byte| byte.is_ascii_graphic()), "{record:?}");
        }
        let urls: Vec<_> = urls.into_iter().map(|it| Record { is_usual: false, ..it }).collect();
        assert_eq!(urls, all);
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
    fn most_urls_are_usual() {
        for end in ["\n", "\r\n"] {
            let (usual, other) =
                ("https://a.example/page", ["/a b", "/%41", "/.a", "/\r", "/\u{e9}"]);
            let texts = (0..1000).map(|number| match number % 7 {
                0 => format!("{usual}{}{usual}{end}", other[number / 7 % other.len()]),
                _ => format!("{usual}{end}"),
            });
            let chunk = texts.collect::<String>();
            let records = Records::new(chunk.as_bytes(), Terminator::LineFeed).of_urls(true);
            let records: Vec<Record> = records.collect();
            assert!(records.iter().step_by(7).all(|record| !record.is_usual));
            let found = records.iter().filter(|record| record.is_usual).count();
            let detected = Vectors::detect().name() == "AVX2";
            assert!(if detected { found > 840 } else { found == 0 }, "{found}");
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
