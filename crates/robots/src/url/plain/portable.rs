//! Chunks in portable code, which other kinds of vectors must agree with.

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::bytes::{CHUNK_BYTES, short_chunk};
use portcullis_engine::vectors::Portable;
use wide::u8x32;

use super::{Chunks, WIDTH, first_bits};

impl Chunks for Portable {
    type Chunk = u8x32;
    type Changed = Escapes;

    const FINDS_UNUSUAL: bool = false;

    #[inline(always)]
    fn load(self, bytes: &[u8; WIDTH]) -> u8x32 {
        u8x32::new(*bytes)
    }

    #[inline(always)]
    fn same(self, one: u8x32, other: u8x32) -> u32 {
        one.simd_eq(other).to_bitmask()
    }

    #[inline(always)]
    fn within(self, chunk: u8x32, first: u8, last: u8) -> u32 {
        is_within(chunk, first, last).to_bitmask()
    }

    #[inline(always)]
    fn names(self, chunk: u8x32) -> u32 {
        names(chunk).to_bitmask()
    }

    #[inline(always)]
    fn changed_by(self, escapes: Escapes) -> Escapes {
        escapes
    }

    #[inline(always)]
    fn mark_changed(self, escapes: Escapes, chunk: u8x32) -> u8x32 {
        changed(chunk, escapes)
    }

    #[inline(always)]
    fn pairs(self, before: u8x32, chunk: u8x32) -> u8x32 {
        before.simd_eq(u8x32::splat(b'/')) & chunk.simd_eq(u8x32::splat(b'.'))
    }

    #[inline(always)]
    fn and(self, one: u8x32, other: u8x32) -> u8x32 {
        one & other
    }

    #[inline(always)]
    fn bytes(self, chunk: u8x32) -> [u8; WIDTH] {
        chunk.to_array()
    }

    #[inline(always)]
    fn or(self, one: u8x32, other: u8x32) -> u8x32 {
        one | other
    }

    /// Marks are the highest bits of bytes.
    #[inline(always)]
    fn marked(self, marks: u8x32) -> u32 {
        marks.to_bitmask()
    }
}

/// Returns a text shorter than a chunk, padded with zeros.
#[cold]
#[inline(never)]
pub(super) fn padded(text: &[u8]) -> [u8; WIDTH] {
    match text.split_first_chunk() {
        Some((first, rest)) => chunk_of(*first, short_chunk(rest)),
        None => chunk_of(short_chunk(text), [0; CHUNK_BYTES]),
    }
}

/// Returns a letter, and after it every byte of a text that fits into a chunk: some twice, and letters where it
/// is shorter than half of one.
#[cold]
#[inline(never)]
pub(super) fn behind_letter(text: &[u8]) -> [u8; WIDTH + 1] {
    let mut all = [b'a'; WIDTH + 1];
    match (text.first_chunk::<CHUNK_BYTES>(), text.last_chunk::<CHUNK_BYTES>()) {
        (Some(first), Some(last)) => {
            all[1..1 + CHUNK_BYTES].copy_from_slice(first);
            all[1 + CHUNK_BYTES..].copy_from_slice(last);
        }
        _ => all[1..1 + text.len()].copy_from_slice(text),
    }
    all
}

/// Returns a chunk with every byte of a text that is shorter, in any order, and a mask of those that
/// are of the text. Takes fewer instructions than [`padded`].
#[inline(always)]
pub(super) fn both_ends(text: &[u8]) -> ([u8; WIDTH], u32) {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => (chunk_of(*first, *last), u32::MAX),
        _ => (chunk_of(short_chunk(text), [0; CHUNK_BYTES]), first_bits(text.len())),
    }
}

#[inline(always)]
fn chunk_of(low: [u8; CHUNK_BYTES], high: [u8; CHUNK_BYTES]) -> [u8; WIDTH] {
    *[low, high].as_flattened().first_chunk().expect("two halves are a chunk")
}

/// Returns the position of the first byte of `text` that `mark` marks.
#[inline(always)]
fn first(text: &[u8], mark: impl Fn(u8x32) -> u8x32) -> Option<usize> {
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let chunk = rest.first_chunk().copied().unwrap_or_else(|| padded(rest));
        let marks = mark(u8x32::new(chunk)).to_bitmask() & first_bits(rest.len().min(WIDTH));
        if marks != 0 {
            return Some(start + marks.trailing_zeros() as usize);
        }
        if rest.len() <= WIDTH {
            return None;
        }
        start += WIDTH;
    }
}

/// Returns the number of bytes at the start of `text` that need no change in a host. `None` if all
/// qualify.
#[inline]
pub(super) fn name_bytes(text: &[u8]) -> Option<usize> {
    first(text, |chunk| !names(chunk))
}

/// Returns the position of the first byte that ends a path or might change, or that no URL has.
#[inline]
pub(in crate::url) fn first_marked(text: &[u8], escapes: Escapes) -> Option<usize> {
    first(text, |chunk| changed(chunk, escapes))
}

/// Like [`first_marked`], for a pattern: stars and anchors are no such bytes.
#[inline]
pub(in crate::url) fn first_marked_in_pattern(text: &[u8], escapes: Escapes) -> Option<usize> {
    let is = |chunk: u8x32, byte| chunk.simd_eq(u8x32::splat(byte));
    first(text, |chunk| changed(chunk, escapes) & !(is(chunk, b'*') | is(chunk, b'$')))
}

/// Marks the bytes that need no change in a host.
#[inline]
fn names(chunk: u8x32) -> u8x32 {
    is_within(chunk, b'a', b'z')
        | (is_within(chunk, b'-', b'9') & !chunk.simd_eq(u8x32::splat(b'/')))
        | chunk.simd_eq(u8x32::splat(b'_'))
}

#[inline]
fn is_within(chunk: u8x32, first: u8, last: u8) -> u8x32 {
    chunk.max(u8x32::splat(first)).min(u8x32::splat(last)).simd_eq(chunk)
}

/// Marks the bytes of `chunk` that end the path or might change, and those that no URL has.
#[inline]
fn changed(chunk: u8x32, escapes: Escapes) -> u8x32 {
    let is = |byte: u8| chunk.simd_eq(u8x32::splat(byte));
    // TAB, CR, LF and the blank are the first of them.
    let marked = || {
        let others = is(b'#') | is(b'%') | is(b'\'') | is(b'\\');
        is_within(chunk, 0, b' ') | others
    };
    match escapes {
        Escapes::AsWritten | Escapes::Decoded => marked(),
        // The mask consists of the highest bits, which bytes outside ASCII have set.
        Escapes::Google => marked() | chunk,
        Escapes::Uri => {
            // Two bytes that differ in one bit.
            let either =
                |bit: u8, byte: u8| (chunk | u8x32::splat(bit)).simd_eq(u8x32::splat(byte));
            let pairs = either(1, b'#') | either(1, b'%') | either(2, b'>') | either(2, b'^');
            let within = is_within(chunk, b'!', b'z') | is(b'~');
            !within | pairs | is(b'*') | is(b'`') | is(b'\'')
        }
    }
}
