//! Chunks in portable code, by 16 bytes, which other kinds of vectors must agree with.

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::bytes::{CHUNK_BYTES, short_chunk};
use portcullis_engine::vectors::Portable;
use wide::u8x16;

use super::{Chunks, WIDTH, first_bits};

impl Chunks for Portable {
    type Chunk = [u8x16; 2];
    type Changed = Escapes;

    #[inline(always)]
    fn load(self, bytes: &[u8; WIDTH]) -> [u8x16; 2] {
        let (halves, _) = bytes.as_chunks();
        [u8x16::new(halves[0]), u8x16::new(halves[1])]
    }

    #[inline(always)]
    fn same(self, one: [u8x16; 2], other: [u8x16; 2]) -> u32 {
        self.marked([one[0].simd_eq(other[0]), one[1].simd_eq(other[1])])
    }

    #[inline(always)]
    fn within(self, chunk: [u8x16; 2], first: u8, last: u8) -> u32 {
        self.marked(chunk.map(|half| is_within(half, first, last)))
    }

    #[inline(always)]
    fn names(self, chunk: [u8x16; 2]) -> u32 {
        self.marked(chunk.map(names))
    }

    #[inline(always)]
    fn changed_by(self, escapes: Escapes) -> Escapes {
        escapes
    }

    #[inline(always)]
    fn mark_changed(self, escapes: Escapes, chunk: [u8x16; 2]) -> [u8x16; 2] {
        chunk.map(|half| changed(half, escapes))
    }

    #[inline(always)]
    fn or(self, one: [u8x16; 2], other: [u8x16; 2]) -> [u8x16; 2] {
        [one[0] | other[0], one[1] | other[1]]
    }

    /// Marks are the highest bits of bytes.
    #[inline(always)]
    fn marked(self, marks: [u8x16; 2]) -> u32 {
        let [low, high] = marks.map(|half| half.to_bitmask() & 0xffff);
        low | high << CHUNK_BYTES
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

/// Marks the bytes that need no change in a host.
#[inline]
fn names(chunk: u8x16) -> u8x16 {
    is_within(chunk, b'a', b'z')
        | (is_within(chunk, b'-', b'9') & !chunk.simd_eq(u8x16::splat(b'/')))
        | chunk.simd_eq(u8x16::splat(b'_'))
}

/// Returns the number of bytes at the start of `text` that need no change in a host. `None` if all
/// qualify.
#[inline]
pub(super) fn name_bytes(text: &[u8]) -> Option<usize> {
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    for (index, chunk) in chunks.iter().enumerate() {
        let others = !names(u8x16::new(*chunk)).to_bitmask() & 0xffff;
        if others != 0 {
            return Some(index * CHUNK_BYTES + others.trailing_zeros() as usize);
        }
    }
    let is_other = |byte: &u8| !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_');
    rest.iter().position(is_other).map(|position| text.len() - rest.len() + position)
}

#[inline]
fn is_within(chunk: u8x16, first: u8, last: u8) -> u8x16 {
    chunk.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(chunk)
}

/// Returns whether the bytes of a pattern are in normal form, but for `others`. False negatives are
/// possible.
#[inline]
pub(in crate::url) fn is_plain_but<const N: usize>(
    others: &[u8; N],
    pattern: &[u8],
    escapes: Escapes,
) -> bool {
    let is_other = |chunk: u8x16, byte: &u8| chunk.simd_eq(u8x16::splat(*byte));
    let changed = |chunk: u8x16| {
        others.iter().fold(changed(chunk, escapes), |all, byte| all & !is_other(chunk, byte))
    };
    let Some(last) = pattern.last_chunk::<CHUNK_BYTES>() else {
        let own = !(u32::MAX << pattern.len());
        return changed(u8x16::new(short_chunk(pattern))).to_bitmask() & own == 0;
    };
    let (chunks, _) = pattern.as_chunks::<CHUNK_BYTES>();
    let changed = |all, chunk: &[u8; CHUNK_BYTES]| all | changed(u8x16::new(*chunk));
    let any = chunks.iter().fold(changed(u8x16::ZERO, last), changed);
    any.to_bitmask() == 0
}

/// Returns the position of the first byte that ends a path or might change, or that no URL has.
#[inline]
pub(in crate::url) fn first_marked(text: &[u8], escapes: Escapes) -> Option<usize> {
    let (chunks, rest) = text.as_chunks::<CHUNK_BYTES>();
    let place_in = |chunk: [u8; CHUNK_BYTES], bytes: usize| {
        let marks = changed(u8x16::new(chunk), escapes).to_bitmask() & !(u32::MAX << bytes);
        (marks != 0).then(|| marks.trailing_zeros() as usize)
    };
    let mut whole = chunks.iter().zip((0..).step_by(CHUNK_BYTES));
    whole
        .find_map(|(chunk, start)| Some(start + place_in(*chunk, CHUNK_BYTES)?))
        .or_else(|| Some(text.len() - rest.len() + place_in(short_chunk(rest), rest.len())?))
}

/// Marks the bytes of `chunk` that end the path or might change, and those that no URL has.
#[inline]
fn changed(chunk: u8x16, escapes: Escapes) -> u8x16 {
    let is = |byte: u8| chunk.simd_eq(u8x16::splat(byte));
    // TAB, CR and LF are among them.
    let controls = is_within(chunk, 0, 0x1f);
    match escapes {
        Escapes::AsWritten => is(b'#') | controls,
        Escapes::Decoded => is(b'#') | is(b'%') | controls,
        // The mask consists of the highest bits, which bytes outside ASCII have set.
        Escapes::Google => is(b'#') | is(b'%') | controls | chunk,
        Escapes::Uri => {
            // Two bytes that differ in one bit.
            let either =
                |bit: u8, byte: u8| (chunk | u8x16::splat(bit)).simd_eq(u8x16::splat(byte));
            let pairs = either(1, b'#') | either(1, b'%') | either(2, b'>') | either(2, b'^');
            let within = is_within(chunk, b'!', b'z') | is(b'~');
            !within | pairs | is(b'*') | is(b'`')
        }
    }
}
