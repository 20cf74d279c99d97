//! Plain URLs: a shortcut for most URLs, by vectors.
//!
//! A *plain* URL is `https://` or `http://`, a name in lower case, and a path in normal form or none:
//! no address or fragment, no port but the one that its scheme has anyway, and nothing to escape.
//! [`plain_urls`] recognises the URLs of a block, [`plain_head`] and [`is_plain`] the two parts of one.
//! URLs that are not plain, and some that are, go through [`split`](super::split()) and
//! [`normalise`](super::normalise), with the same result.
//!
//! Bytes are classified 32 at a time, by [`Chunks`]; what follows from the classes is written once,
//! so that every kind of vectors sees the same URLs as plain.
//!
//! Cost: a few nanoseconds a URL with AVX2.
//!
//! ```
//! use portcullis_dialect::Escapes;
//! use portcullis_robots::url::{is_plain, plain_head};
//! use portcullis_engine::vectors::Vectors;
//!
//! let url = b"https://example.com/a?b";
//! let head = plain_head(url).unwrap();
//! assert_eq!(head.key(url), b"example.com");
//! assert!(is_plain(&url[head.bytes()..], Escapes::Uri, Vectors::detect()));
//! assert!(!is_plain(b"/a#b", Escapes::Uri, Vectors::detect()));
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::Range;

use memchr::memchr3;
use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_engine::bytes::are_same;
use portcullis_engine::marks::WINDOW_BYTES;
use portcullis_engine::vectors::{Avx2, Kind, Portable, Vectors, Work};

use portable::{behind_letter, both_ends, name_bytes, padded};
pub(super) use portable::{first_marked, first_marked_in_pattern};

/// The treatment of a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Kept.
    Keep,
    /// Replaced by a percent triplet.
    Escape,
    /// `%`: depends on the next two bytes.
    Percent,
}

/// Returns whether a byte is a letter, a digit or one of `-._~` (RFC 3986, section 2.3).
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns whether a byte is unreserved, reserved or `%` (RFC 3986, section 2).
const fn is_uri_byte(byte: u8) -> bool {
    is_unreserved(byte)
        || matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@' | b'%')
        || matches!(
            byte,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
        )
}

/// Returns what becomes of a byte in normal form.
pub(super) const fn treatment(byte: u8, escapes: Escapes) -> Treatment {
    match (escapes, byte) {
        (Escapes::AsWritten, _) => Treatment::Keep,
        (_, b'%') => Treatment::Percent,
        (Escapes::Google, 0x80..) => Treatment::Escape,
        // A rule can only name these URI characters literally as `%2A` and `%24` (RFC 9309,
        // section 2.2.3), so both sides are written that way.
        (Escapes::Uri, b'*' | b'$') => Treatment::Escape,
        (Escapes::Uri, byte) if !is_uri_byte(byte) => Treatment::Escape,
        _ => Treatment::Keep,
    }
}

/// Returns the length of the scheme if it is http or https in lower case, and `://` follows.
#[inline]
pub(super) fn http_scheme_bytes(url: &[u8]) -> Option<usize> {
    match url {
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => Some(5),
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => Some(4),
        _ => None,
    }
}

/// Returns the head of a plain URL (scheme, `://`, a host that is a key, and perhaps the default
/// port), or `None` if `record` does not start with one.
///
/// The path is not read, but the record is within the limit and needs no trimming. So any record
/// that `may_be_plain` and starts with the same bytes and a `/` has the same scheme and key.
#[inline]
pub fn plain_head(record: &[u8]) -> Option<UrlHead> {
    if !may_be_plain(record) {
        return None;
    }
    let scheme_bytes = http_scheme_bytes(record)?;
    let start = scheme_bytes + 3;
    let end = name_bytes(&record[start..]).map_or(record.len(), |bytes| start + bytes);
    let host = &record[start..end];
    let is_key = !host.is_empty() && host.len() <= HOST_BYTES_MAX && !ends_in_number(host);
    // Logs name hosts with their ports.
    let port: &[u8] = if scheme_bytes == 5 { b":443" } else { b":80" };
    let port_bytes = if record[end..].starts_with(port) { port.len() } else { 0 };
    let bytes = end + port_bytes;
    let ends = record.get(bytes).is_none_or(|&byte| byte == b'/');
    if is_key && ends { UrlHead::new(scheme_bytes, port_bytes, bytes) } else { None }
}

/// The part of a plain URL before its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlHead(
    // One register, for the loop over a block: the lowest byte counts those of the scheme, the next one those of
    // the port, and the rest all.
    NonZero<u64>,
);

impl UrlHead {
    /// A head that no URL has.
    pub const NONE: UrlHead = UrlHead(NonZero::<u64>::MAX);

    #[inline(always)]
    fn new(scheme_bytes: usize, port_bytes: usize, bytes: usize) -> Option<UrlHead> {
        let (scheme, port, bytes) = (scheme_bytes as u64, port_bytes as u64, bytes as u64);
        NonZero::new(scheme | port << 8 | bytes << 16).map(UrlHead)
    }

    /// Returns the number of bytes of the scheme.
    #[inline(always)]
    pub fn scheme_bytes(self) -> usize {
        usize::from(self.0.get() as u8)
    }

    /// Returns whether the scheme is https, not http.
    #[inline(always)]
    pub fn is_https(self) -> bool {
        self.scheme_bytes() == 5
    }

    /// Returns the number of bytes before the path; of all bytes if there is none.
    #[inline(always)]
    pub fn bytes(self) -> usize {
        (self.0.get() >> 16) as usize
    }

    /// Returns the range of the key.
    #[inline(always)]
    pub fn key_range(self) -> Range<usize> {
        // The default port, with its colon, if it is written.
        let port_bytes = usize::from((self.0.get() >> 8) as u8);
        self.scheme_bytes() + 3..self.bytes() - port_bytes
    }

    /// Returns the scheme of `record`, whose head this is.
    #[inline]
    pub fn scheme(self, record: &[u8]) -> &[u8] {
        &record[..self.scheme_bytes()]
    }

    /// Returns the key of `record`, whose head this is.
    #[inline]
    pub fn key(self, record: &[u8]) -> &[u8] {
        &record[self.key_range()]
    }

    /// Returns whether `record` has the same head as `other`, whose head this is.
    #[inline]
    pub fn is_shared(self, other: &[u8], record: &[u8]) -> bool {
        may_be_plain(record)
            && record.get(self.bytes()) == Some(&b'/')
            && are_same(&record[..self.bytes()], &other[..self.bytes()])
    }
}

/// Returns whether `record` ends in visible ASCII and is not too long for a URL.
#[inline]
fn may_be_plain(record: &[u8]) -> bool {
    matches!(record, [.., b'!'..=b'~']) && record.len() <= URL_BYTES_MAX
}

/// Returns whether `path` is in normal form (see [`normalise`](super::normalise)), and no byte
/// of it ends a path or is a control character. False negatives are possible.
#[inline]
pub fn is_plain(path: &[u8], escapes: Escapes, vectors: Vectors) -> bool {
    vectors.run(IsPlain { path, escapes })
}

/// [`is_plain`], as part of a larger [`Work`].
#[derive(Clone, Copy)]
pub(crate) struct IsPlain<'p> {
    pub(crate) path: &'p [u8],
    pub(crate) escapes: Escapes,
}

impl Work for IsPlain<'_> {
    type Output = bool;

    #[inline(always)]
    fn with(self, kind: impl Kind) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = kind.avx2() {
            return self.by(avx2);
        }
        let _ = kind;
        self.by(Portable)
    }
}

impl IsPlain<'_> {
    #[inline(always)]
    fn by(self, chunks: impl Chunks) -> bool {
        let IsPlain { path, escapes } = self;
        let changed = chunks.changed_by(escapes);
        let Some(last) = path.len().checked_sub(WIDTH) else {
            let (bytes, own) = both_ends(path);
            return chunks.marked(chunks.mark_changed(changed, chunks.load(&bytes))) & own == 0;
        };
        let mut all = chunks.mark_changed(changed, chunk_at(chunks, path, last));
        for start in (0..last).step_by(WIDTH) {
            all = chunks.or(all, chunks.mark_changed(changed, chunk_at(chunks, path, start)));
        }
        chunks.marked(all) == 0 || keeps_escapes(chunks, (escapes, changed), path)
    }
}

/// Bytes of a chunk.
const WIDTH: usize = 32;

/// The operations of a kind of vectors on [`WIDTH`] bytes at once. A mask has a bit for each byte, the
/// first byte lowest.
trait Chunks: Copy {
    type Chunk: Copy;
    /// Says which bytes change.
    type Changed: Copy;

    /// Whether records may be known to be usual: [`UnusualBytes`] are found with these vectors.
    const FINDS_UNUSUAL: bool;

    fn load(self, bytes: &[u8; WIDTH]) -> Self::Chunk;

    /// Returns a mask of the bytes that are the same in both chunks.
    fn same(self, one: Self::Chunk, other: Self::Chunk) -> u32;

    /// Returns a mask of the bytes from `first` to `last`.
    fn within(self, chunk: Self::Chunk, first: u8, last: u8) -> u32;

    /// Returns a mask of the bytes that need no change in a host: lower-case letters, digits, `-`,
    /// `.` and `_`.
    fn names(self, chunk: Self::Chunk) -> u32;

    /// Returns what [`Chunks::mark_changed`] needs.
    fn changed_by(self, escapes: Escapes) -> Self::Changed;

    /// Marks the bytes that end the path or might change, see [`normalise`](super::normalise), and
    /// those that no URL has or that clients escape, such as blanks, backslashes and apostrophes.
    fn mark_changed(self, changed: Self::Changed, chunk: Self::Chunk) -> Self::Chunk;

    /// Marks the dots in `chunk` that are after slashes in `before`, which begins one byte earlier.
    fn pairs(self, before: Self::Chunk, chunk: Self::Chunk) -> Self::Chunk;

    /// Returns the bits that both chunks have.
    fn and(self, one: Self::Chunk, other: Self::Chunk) -> Self::Chunk;

    /// Returns the bytes of a chunk.
    fn bytes(self, chunk: Self::Chunk) -> [u8; WIDTH];

    /// Returns the marks of both chunks.
    fn or(self, one: Self::Chunk, other: Self::Chunk) -> Self::Chunk;

    /// Returns a mask of the bytes with marks.
    fn marked(self, marks: Self::Chunk) -> u32;

    /// Returns a mask of the bytes that are `byte`.
    #[inline(always)]
    fn equal(self, chunk: Self::Chunk, byte: u8) -> u32 {
        self.within(chunk, byte, byte)
    }
}

/// Returns a mask of the lowest `count` of 32 bits, of which there are at most 63.
#[inline(always)]
fn first_bits(count: usize) -> u32 {
    !(u64::MAX << count) as u32
}

/// Returns whether no byte of `text` from `start` on ends a path or might change, and no dot is after a slash
/// there. The text is longer than a chunk, and `start` is not its start.
#[inline(always)]
fn stays<C: Chunks>(
    chunks: C,
    (escapes, changed): (Escapes, C::Changed),
    text: &[u8],
    start: usize,
) -> bool {
    // Most paths are two chunks at most, which are read without a branch.
    let last = text.len() - WIDTH - 1;
    let mut before = start.wrapping_sub(1).min(last);
    let mut all = Marks::behind(chunks, changed, text, last);
    all = all.or(chunks, Marks::behind(chunks, changed, text, before));
    while last - before > WIDTH {
        before += WIDTH;
        all = all.or(chunks, Marks::behind(chunks, changed, text, before));
    }
    chunks.marked(chunks.or(all.changed, all.dots)) == 0
        || chunks.marked(all.dots) == 0 && keeps_escapes(chunks, (escapes, changed), text)
}

/// The bytes that end a path or might change, and the dots after slashes.
#[derive(Clone, Copy)]
struct Marks<C: Chunks> {
    changed: C::Chunk,
    dots: C::Chunk,
}

impl<C: Chunks> Marks<C> {
    /// Returns the marks of the chunk of `text` after the byte at `before`.
    #[inline(always)]
    fn behind(chunks: C, changed: C::Changed, text: &[u8], before: usize) -> Marks<C> {
        let bytes: Option<&[u8; WIDTH + 1]> = text[before..].first_chunk();
        let bytes = bytes.expect("a chunk is after the byte");
        let chunk = chunk_at(chunks, bytes, 1);
        let dots = chunks.pairs(chunk_at(chunks, bytes, 0), chunk);
        Marks { changed: chunks.mark_changed(changed, chunk), dots }
    }

    #[inline(always)]
    fn or(self, chunks: C, other: Marks<C>) -> Marks<C> {
        let changed = chunks.or(self.changed, other.changed);
        Marks { changed, dots: chunks.or(self.dots, other.dots) }
    }
}

/// Returns whether the bytes of `text` that might change are escapes that stay as they are. Some
/// are not recognised, see [`kept`], and none in a text of 33 bytes or less.
#[inline(always)]
fn keeps_escapes<C: Chunks>(
    chunks: C,
    (escapes, changed): (Escapes, C::Changed),
    text: &[u8],
) -> bool {
    let Some(last) = text.len().checked_sub(WIDTH) else { return false };
    // No escape begins with one of the last two bytes.
    let changed_last = chunks.marked(chunks.mark_changed(changed, chunk_at(chunks, text, last)));
    let mut stay = last >= 2 && changed_last >> (WIDTH - 2) == 0;
    let mut start = 0;
    while stay && start < last - 2 + WIDTH {
        let place = start.min(last - 2);
        let chunk = chunk_at(chunks, text, place);
        // The two bytes after each are in the chunks that begin one and two bytes later.
        let digits = [chunk_at(chunks, text, place + 1), chunk_at(chunks, text, place + 2)];
        let kept = chunks.equal(chunk, b'%') & kept(chunks, escapes, digits);
        stay = chunks.marked(chunks.mark_changed(changed, chunk)) & !kept == 0;
        start += WIDTH;
    }
    stay
}

#[inline(always)]
fn chunk_at<C: Chunks>(chunks: C, text: &[u8], start: usize) -> C::Chunk {
    let bytes = text[start..].first_chunk();
    chunks.load(bytes.expect("a chunk begins no later than the last one"))
}

/// Returns a mask of the digits, and those that follow them in the second chunk, of escapes that stay
/// as they are: both in upper case, and for [`Escapes::Uri`] not of a character that is decoded.
/// Escapes from 40 to 7F that are not decoded are not recognised.
#[inline(always)]
fn kept<C: Chunks>(chunks: C, escapes: Escapes, [one, other]: [C::Chunk; 2]) -> u32 {
    let letters = chunks.within(other, b'A', b'F');
    let hex = chunks.within(other, b'0', b'9') | letters;
    let high_letters = chunks.within(one, b'A', b'F');
    match escapes {
        // No escape stays, or none is marked.
        Escapes::Decoded | Escapes::AsWritten => 0,
        // A dot in an escape may be of a dot segment.
        Escapes::Google => {
            let is_dot = chunks.equal(one, b'2') & chunks.equal(other, b'E');
            (chunks.within(one, b'0', b'9') | high_letters) & hex & !is_dot
        }
        // `-` and `.` are 2D and 2E, digits 30 to 39; no unreserved character is outside 20 to 7F.
        Escapes::Uri => {
            let others =
                chunks.within(one, b'0', b'1') | chunks.within(one, b'8', b'9') | high_letters;
            let after_two = hex & !chunks.within(other, b'D', b'E');
            let (two, three) = (chunks.equal(one, b'2'), chunks.equal(one, b'3'));
            others & hex | two & after_two | three & letters
        }
    }
}

/// A plain URL, as [`plain_urls`] describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainUrl {
    /// See [`plain_head`].
    pub head: UrlHead,
    /// Whether the previous record is a plain URL with the same head, and both have a path.
    pub is_shared: bool,
    /// See [`is_plain`].
    pub has_plain_path: bool,
}

/// The bytes of a URL up to the `/` after its host and port, and zeros: URLs with the same beginning have the same
/// scheme, host and port.
pub type UrlBeginning = [u8; BEGINNING_BYTES];

/// The longest beginning: with the head and the policy it fills a cache line. Of real changes of host, 4 % have a
/// longer one than a chunk, and 1 % than this.
const BEGINNING_BYTES: usize = WIDTH + WIDTH / 2;

/// Returns the beginning of a record that begins with a chunk, and the place of its last `/`, if it is short enough.
#[inline(always)]
fn beginning_of<C: Chunks>(
    chunks: C,
    record: &[u8],
    first: C::Chunk,
) -> Option<(UrlBeginning, usize)> {
    // The first `/` after those of the scheme.
    let end = (chunks.equal(first, b'/') & !first_bits(SHORTEST_BYTES)).trailing_zeros() as usize;
    const KEPT: [u8; 2 * WIDTH] = {
        let mut kept = [0; 2 * WIDTH];
        let mut place = 0;
        while place < WIDTH {
            kept[place] = u8::MAX;
            place += 1;
        }
        kept
    };
    let Some(unkept) = (WIDTH - 1).checked_sub(end) else { return long_beginning(record) };
    let kept = KEPT[unkept..].first_chunk()?;
    let mut beginning = [0; BEGINNING_BYTES];
    *beginning.first_chunk_mut()? = chunks.bytes(chunks.and(first, chunks.load(kept)));
    Some((beginning, end))
}

/// Returns the beginning of a record whose first chunk has no `/` after those of the scheme.
#[cold]
#[inline(never)]
fn long_beginning(record: &[u8]) -> Option<(UrlBeginning, usize)> {
    let mut beginning: UrlBeginning = *record.first_chunk()?;
    let end = WIDTH + beginning[WIDTH..].iter().position(|&byte| byte == b'/')?;
    beginning[end + 1..].fill(0);
    Some((beginning, end))
}

/// The bytes of the shortest scheme and host: `http://a`.
const SHORTEST_BYTES: usize = 8;

/// The text of a URL: any bytes, or a record of a list of which more is known.
pub trait UrlText {
    /// Returns the text.
    fn url(&self) -> &[u8];

    /// Returns whether no byte of the text is one that [`UnusualBytes`] finds. False if that is not known.
    #[inline(always)]
    fn is_usual(&self) -> bool {
        false
    }
}

impl<T: AsRef<[u8]>> UrlText for T {
    #[inline(always)]
    fn url(&self) -> &[u8] {
        self.as_ref()
    }
}

/// Finds the bytes that usual URLs do not have: those that end a path or may change in one, in any dialect, those
/// that no URL has, and dots after slashes.
#[derive(Clone, Copy)]
pub struct UnusualBytes {
    avx2: Avx2,
    #[cfg(target_arch = "x86_64")]
    usual: avx2::Rows,
}

impl UnusualBytes {
    /// Returns `None` without AVX2: finding these bytes takes longer than it saves then.
    #[inline(always)]
    pub fn new(kind: impl Kind) -> Option<UnusualBytes> {
        #[cfg(target_arch = "x86_64")]
        return kind.avx2().map(|avx2| UnusualBytes { avx2, usual: avx2::usual(avx2) });
        #[cfg(not(target_arch = "x86_64"))]
        return kind.avx2().map(|avx2| UnusualBytes { avx2 });
    }

    /// Returns a bit for each byte of a window. `before` begins one byte earlier.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "there is no value"))]
    pub fn marks(self, before: &[u8; WINDOW_BYTES], window: &[u8; WINDOW_BYTES]) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return (0..WINDOW_BYTES).step_by(WIDTH).fold(0, |all, start| {
            let [before, chunk] = [before, window].map(|text| chunk_at(self.avx2, text, start));
            all | u64::from(avx2::unusual(self.avx2, self.usual, before, chunk)) << start
        });
        #[cfg(not(target_arch = "x86_64"))]
        match self.avx2 {}
    }
}

/// The receiver of each URL of a block, in order. Its functions should be `inline(always)`, so that they
/// are compiled for the vectors.
pub trait EachUrl<'r> {
    /// Takes the head of the next record, which does not share that of the previous one, by its beginning.
    /// `None` unless the head of plain URLs with this beginning was met before; otherwise returns it.
    fn recall(&mut self, beginning: &UrlBeginning) -> Option<UrlHead>;

    /// Takes the head of the next record if it is plain, does not share that of the previous record, and is not
    /// recalled. Has the beginning of its URLs if that is short.
    fn head(&mut self, record: &'r [u8], head: UrlHead, beginning: Option<&UrlBeginning>);

    /// Takes the next record, and what [`plain_head`] and [`is_plain`] say about it;
    /// `None` if it has no plain head, or an [unclear path](super::unclear_path). Its head means nothing then.
    fn url(&mut self, record: &'r [u8], plain_url: Option<PlainUrl>);
}

/// Calls `each` with each record, in order.
#[inline]
pub fn plain_urls<'r, R: UrlText>(
    records: &'r [R],
    escapes: Escapes,
    vectors: Vectors,
    each: &mut impl EachUrl<'r>,
) {
    vectors.run(PlainUrls { records, escapes, each });
}

struct PlainUrls<'r, 'e, R, E> {
    records: &'r [R],
    escapes: Escapes,
    each: &'e mut E,
}

impl<'r, R: UrlText, E: EachUrl<'r>> Work for PlainUrls<'r, '_, R, E> {
    type Output = ();

    #[inline(always)]
    fn with(self, kind: impl Kind) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = kind.avx2() {
            return self.by(avx2);
        }
        let _ = kind;
        self.by(Portable);
    }
}

impl<'r, R: UrlText, E: EachUrl<'r>> PlainUrls<'r, '_, R, E> {
    // No closures: one that is not inlined is not compiled for the vectors.
    #[inline(always)]
    fn by<C: Chunks>(self, chunks: C) {
        let PlainUrls { records, escapes, each } = self;
        let changed = (escapes, chunks.changed_by(escapes));
        let mut last = LastHead::none(chunks);
        for record in records {
            let (is_usual, record) = (record.is_usual(), record.url());
            let is_usual = C::FINDS_UNUSUAL && is_usual && record.len() <= URL_BYTES_MAX;
            let first = match record.first_chunk() {
                Some(bytes) => chunks.load(bytes),
                None => chunks.load(&padded(record)),
            };
            let same = u64::from(chunks.same(first, last.first));
            let is_same = same & last.shared == last.shared;
            if is_usual && is_same {
                // Nearly all records of a list in order.
                let (head, is_shared, has_plain_path) = (last.head, true, true);
                each.url(record, Some(PlainUrl { head, is_shared, has_plain_path }));
                continue;
            }
            let is_shared = match same == u64::from(u32::MAX) && last.head.bytes() >= WIDTH {
                true => last.is_shared(record),
                false => is_same && may_be_plain(record),
            };
            if !is_shared {
                let beginning = beginning_of(chunks, record, first);
                let beginning = beginning.as_ref().filter(|_| is_usual || may_be_plain(record));
                last = match beginning.and_then(|(it, end)| Some((each.recall(it)?, end))) {
                    Some((head, end)) => {
                        LastHead { head, shared: LastHead::<C>::shared(*end), record, first }
                    }
                    None => match head_of(chunks, record, first) {
                        Some(head) => {
                            each.head(record, head, beginning.map(|(it, _)| it));
                            LastHead::new(head, record, first)
                        }
                        None => {
                            last = LastHead::none(chunks);
                            each.url(record, None);
                            continue;
                        }
                    },
                };
            }
            let head = last.head;
            let has_plain_path = match is_usual {
                true => Some(true),
                false => has_plain_path(chunks, changed, record, head),
            };
            let plain_url = match has_plain_path {
                Some(has_plain_path) => Some(PlainUrl { head, is_shared, has_plain_path }),
                None => {
                    last = LastHead::none(chunks);
                    None
                }
            };
            each.url(record, plain_url);
        }
    }
}

/// Returns whether the path of a record with this head is in normal form; `None` if it is
/// [unclear](super::unclear_path).
#[inline(always)]
fn has_plain_path<C: Chunks>(
    chunks: C,
    changed: (Escapes, C::Changed),
    record: &[u8],
    head: UrlHead,
) -> Option<bool> {
    let behind;
    let text = match record.len() > WIDTH {
        true => record,
        false => {
            behind = behind_letter(record);
            &behind
        }
    };
    let has_plain_path = stays(chunks, changed, text, head.bytes());
    let is_unclear = !has_plain_path && rare_is_unclear(&record[head.bytes()..]);
    (!is_unclear).then_some(has_plain_path)
}

/// The head of the last record, which the next one may share.
struct LastHead<'r, C: Chunks> {
    head: UrlHead,
    /// A mask of the bytes of the head and the `/` after it. Bits that no chunk has, if the head is no shorter
    /// than a chunk, or no record shares it.
    shared: u64,
    record: &'r [u8],
    first: C::Chunk,
}

impl<'r, C: Chunks> LastHead<'r, C> {
    /// Returns a head that no record shares.
    #[inline(always)]
    fn none(chunks: C) -> LastHead<'r, C> {
        LastHead {
            head: UrlHead::NONE,
            shared: u64::MAX,
            record: &[],
            first: chunks.load(&[0; WIDTH]),
        }
    }

    /// Returns the head of a record. A record without a path shares it with none.
    #[inline(always)]
    fn new(head: UrlHead, record: &'r [u8], first: C::Chunk) -> LastHead<'r, C> {
        let is_short = head.bytes() < WIDTH.min(record.len());
        let shared = if is_short { Self::shared(head.bytes()) } else { u64::MAX };
        LastHead { head, shared, record, first }
    }

    /// Returns a mask of so many bytes and the next one.
    #[inline(always)]
    fn shared(bytes: usize) -> u64 {
        u64::MAX >> (63 - bytes)
    }

    /// See [`UrlHead::is_shared`], for a head that is no shorter than a chunk.
    #[inline(always)]
    fn is_shared(&self, record: &[u8]) -> bool {
        self.head.bytes() < self.record.len() && self.head.is_shared(self.record, record)
    }
}

/// Returns the head of a record that begins with `first`, see [`plain_head`].
#[inline(always)]
fn head_of<C: Chunks>(chunks: C, record: &[u8], first: C::Chunk) -> Option<UrlHead> {
    let bytes = chunks.bytes(first);
    let (scheme_bytes, is_http) = scheme(&bytes);
    let start = scheme_bytes + 3;
    let end = start + (!chunks.names(first) >> start).trailing_zeros() as usize;
    let dots = chunks.equal(first, b'.') & first_bits(end);
    // A host whose last part is empty or begins with a digit may be an address.
    let last_part = start.max(WIDTH - dots.leading_zeros() as usize);
    let is_name = last_part < end && !bytes[last_part % WIDTH].is_ascii_digit();
    let ends = (bytes[end % WIDTH] == b'/') | (end == record.len());
    let is_plain = is_http & is_name & ends & (end < WIDTH) & may_be_plain(record);
    match is_plain {
        true => UrlHead::new(scheme_bytes, 0, end),
        false => rare_head(record),
    }
}

/// Returns the head of a URL that is longer than a chunk or has a port, or whose host may be an
/// address.
#[cold]
#[inline(never)]
fn rare_head(record: &[u8]) -> Option<UrlHead> {
    plain_head(record)
}

#[cold]
#[inline(never)]
fn rare_is_unclear(path: &[u8]) -> bool {
    has_tab_or_line_end(path) || has_backslash(path)
}

/// Returns the length of the scheme of a URL that begins with `bytes`, and whether it is http or
/// https.
#[inline(always)]
fn scheme(bytes: &[u8; WIDTH]) -> (usize, bool) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let word = u64::from_le_bytes(*bytes.first_chunk().expect("a chunk has more"));
    let (is_https, is_http) = (word == HTTPS, word << 8 == HTTP << 8);
    (4 + usize::from(is_https), is_https | is_http)
}

/// Returns whether TAB, CR or LF is in a URL, which is trimmed. The URL Standard (section 4.4, "basic
/// URL parser") removes these bytes; no URL has them by RFC 3986 (section 2).
#[inline]
pub(super) fn has_tab_or_line_end(url: &[u8]) -> bool {
    memchr3(b'\t', b'\r', b'\n', url).is_some()
}

/// Returns whether a backslash is in a path, before its query. The URL Standard (section 4.4, "path
/// state") reads it as `/`; no URL has it by RFC 3986 (section 2).
#[inline]
pub(super) fn has_backslash(path: &[u8]) -> bool {
    memchr3(b'\\', b'?', b'#', path).is_some_and(|end| path[end] == b'\\')
}

/// Returns whether the last part of `host` is a decimal or hexadecimal number, ignoring a final
/// dot. Such a host is an IPv4 address or invalid (URL Standard, section 3.5, "ends in a number").
#[inline]
pub fn ends_in_number(host: &[u8]) -> bool {
    // The last byte of most names, such as the `m` of `.com`, rules this out without a search.
    host.last().is_some_and(|byte| byte.is_ascii_hexdigit() || b"xX.".contains(byte))
        && last_part_is_number(host)
}

fn last_part_is_number(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let start = host.iter().rposition(|&byte| byte == b'.');
    let last = &host[start.map_or(0, |dot| dot + 1)..];
    match last {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0'..=b'9', ..] => last.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
