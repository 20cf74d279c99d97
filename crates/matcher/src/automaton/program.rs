//! The deterministic automaton as an array of words, and the walk over it.
//!
//! Most of a rule set is a trie, and most of a trie is chains without a branch. So a state is not a
//! table row but a node of one of two kinds; a byte that a node does not name takes its *miss* arc:
//!
//! - a **run** is a sequence of bytes, matched by comparing memory;
//! - a **branch** is a sorted list of bytes, each with a target.
//!
//! Where a star is alive, the miss arc of a trie node is a failure arc as in Aho-Corasick: it leads
//! to the star's own state *without consuming the byte*. The star's own state stays where it is on
//! a miss, so each byte is read at most twice.
//!
//! | words | run | branch |
//! |---|---|---|
//! | 1 | kind, shape, number of bytes | kind, shape, number of bytes |
//! | 0, 1 or 2, by shape | outcome at the end of the path; miss arc | the same |
//! | the rest | target, then the bytes, four to a word | the bytes, four to a word, then the targets |
//!
//! In most nodes nothing has matched yet, so both the end and the miss have no outcome, and their
//! shape omits both words. If both are the same outcome, one word holds it.
//!
//! A target is a node, a final outcome (no memory access), or unbuilt. A target can also be marked
//! *settled*: the rule can still change, the verdict cannot. Walks that need only the verdict stop
//! there, so one program serves both levels of [`Detail`].

use wide::u8x16;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use crate::bytes::{CHUNK_BYTES, short_chunk};

use super::{Detail, Outcome};

/// Where an arc leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target(u32);

impl Target {
    /// An outcome, in the lower bits.
    const FINAL: u32 = 1 << 31;
    /// A node after which the verdict is final.
    const SETTLED: u32 = 1 << 30;
    /// That verdict.
    const ALLOWS: u32 = 1 << 29;
    const NODE: u32 = Target::ALLOWS - 1;
    /// A node that is not built yet.
    pub(super) const UNBUILT: Target = Target(Target::NODE);
    /// A miss that consumes the byte and stays at the node.
    pub(super) const STAY: Target = Target(Target::NODE - 1);
    /// The largest number of words of a program.
    pub(super) const WORDS_MAX: usize = (Target::NODE - 2) as usize;

    pub(super) fn outcome(outcome: Outcome) -> Target {
        Target(Target::FINAL | outcome.0)
    }

    fn node(word: usize) -> Target {
        debug_assert!(word < Target::WORDS_MAX);
        Target(word as u32)
    }

    /// Marks a node after which the verdict is that of `outcome`.
    #[must_use]
    pub(super) fn settled(self, outcome: Outcome) -> Target {
        let allows = if outcome.allows() { Target::ALLOWS } else { 0 };
        Target(self.0 | Target::SETTLED | allows)
    }

    /// Returns the bits of a target that end a walk.
    #[inline]
    pub(super) fn stops(detail: Detail) -> u32 {
        match detail {
            Detail::Rule => Target::FINAL,
            Detail::Reason => Target::FINAL | Target::SETTLED,
        }
    }

    /// Returns the outcome of a target that ends a walk.
    #[inline]
    pub(super) fn stop_outcome(self) -> Outcome {
        if self.0 & Target::FINAL != 0 {
            Outcome(self.0 & !Target::FINAL)
        } else {
            Outcome::some(self.0 & Target::ALLOWS != 0)
        }
    }

    #[inline]
    fn index(self) -> usize {
        (self.0 & Target::NODE) as usize
    }
}

/// The outcomes that a node stores for the end of the path and for a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// None: both are [`Outcome::NONE`].
    Bare = 0,
    /// One word for both.
    Same = 1,
    /// One word each.
    Full = 2,
}

impl Shape {
    fn of(at_end: Outcome, miss: Target) -> Shape {
        match miss == Target::outcome(at_end) {
            true if at_end == Outcome::NONE => Shape::Bare,
            true => Shape::Same,
            false => Shape::Full,
        }
    }
}

/// The first word of a node.
#[derive(Clone, Copy)]
struct Header(u32);

impl Header {
    const BRANCH: u32 = 1;
    const SHAPE_SHIFT: u32 = 1;
    const COUNT_SHIFT: u32 = 3;

    fn new(branch: bool, shape: Shape, count: usize) -> Header {
        let kind = if branch { Header::BRANCH } else { 0 };
        let count = (count as u32) << Header::COUNT_SHIFT;
        Header(kind | (shape as u32) << Header::SHAPE_SHIFT | count)
    }

    #[inline]
    fn is_branch(self) -> bool {
        self.0 & Header::BRANCH != 0
    }

    /// Returns the number of words between the header and the arcs.
    #[inline]
    fn shape(self) -> usize {
        (self.0 >> Header::SHAPE_SHIFT & 3) as usize
    }

    #[inline]
    fn count(self) -> usize {
        (self.0 >> Header::COUNT_SHIFT) as usize
    }
}

/// The most bytes of a run; longer ones become several nodes.
pub(super) const RUN_BYTES_MAX: usize = 1 << 16;

/// The position of a word that holds a target.
pub(super) type Slot = u32;

/// The nodes, in the order in which they were built.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    words: Vec<U32>,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// At the end of the path or at a final outcome.
    Done(Outcome),
    /// At an arc whose target is unbuilt.
    Unbuilt {
        /// The slot to fill.
        slot: Slot,
        /// The number of bytes consumed, including the arc's own.
        consumed: usize,
    },
}

impl Program {
    pub(super) fn words(&self) -> &[U32] {
        &self.words
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<U32>()
    }

    /// Appends a run of one byte or more, with unbuilt arcs.
    pub(super) fn push_run(&mut self, bytes: &[u8], at_end: Outcome, miss: Target) -> Target {
        debug_assert!(!bytes.is_empty() && bytes.len() <= RUN_BYTES_MAX);
        let node = self.push_head(false, bytes.len(), at_end, miss);
        self.push(Target::UNBUILT.0);
        self.push_bytes(bytes);
        node
    }

    /// Appends a branch over ascending bytes, with unbuilt arcs.
    pub(super) fn push_branch(&mut self, bytes: &[u8], at_end: Outcome, miss: Target) -> Target {
        let node = self.push_head(true, bytes.len(), at_end, miss);
        self.push_bytes(bytes);
        self.words.extend(std::iter::repeat_n(U32::new(Target::UNBUILT.0), bytes.len()));
        node
    }

    fn push_head(&mut self, branch: bool, count: usize, at_end: Outcome, miss: Target) -> Target {
        let node = Target::node(self.words.len());
        let shape = Shape::of(at_end, miss);
        self.push(Header::new(branch, shape, count).0);
        if shape != Shape::Bare {
            self.push(at_end.0);
        }
        if shape == Shape::Full {
            self.push(miss.0);
        }
        node
    }

    fn push(&mut self, word: u32) {
        self.words.push(U32::new(word));
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            U32::from_bytes(word)
        };
        self.words.extend(bytes.chunks(4).map(word));
    }

    fn header(&self, node: Target) -> Header {
        Header(self.words[node.index()].get())
    }

    /// Returns the slot of a miss arc; the node has the full shape.
    pub(super) fn miss_slot(&self, node: Target) -> Slot {
        debug_assert_eq!(self.header(node).shape(), Shape::Full as usize);
        node.index() as Slot + 2
    }

    /// Returns the slot of a run's target.
    pub(super) fn run_slot(&self, node: Target) -> Slot {
        (node.index() + 1 + self.header(node).shape()) as Slot
    }

    /// Returns the slot of a branch's target for the byte at `index`.
    pub(super) fn branch_slot(&self, node: Target, index: usize) -> Slot {
        let header = self.header(node);
        (node.index() + 1 + header.shape() + header.count().div_ceil(4) + index) as Slot
    }

    pub(super) fn set(&mut self, slot: Slot, target: Target) {
        self.words[slot as usize] = U32::new(target.0);
    }
}

/// Walks from `target` over `path` from byte `consumed` on, until `detail` is known.
#[inline]
pub(super) fn walk(
    words: &[U32],
    mut target: Target,
    path: &[u8],
    mut consumed: usize,
    detail: Detail,
) -> Walk {
    let stops = Target::stops(detail);
    let word = |index: usize| words[index].get();
    loop {
        if target.0 & stops != 0 {
            return Walk::Done(target.stop_outcome());
        }
        let node = target.index();
        let header = Header(word(node));
        let (shape, count) = (header.shape(), header.count());
        let arcs = node + 1 + shape;
        let rest = &path[consumed..];
        let at_end = |shape| match shape {
            0 => Walk::Done(Outcome::NONE),
            _ => Walk::Done(Outcome(word(node + 1))),
        };
        let slot = if !header.is_branch() {
            let bytes = &words[arcs + 1..][..count.div_ceil(4)];
            let matched = common_prefix(bytes, count, rest);
            consumed += matched;
            if matched == count {
                arcs
            } else if matched == rest.len() || shape < 2 {
                return at_end(shape);
            } else {
                node + 2
            }
        } else {
            let bytes = &words[arcs..][..count.div_ceil(4)];
            let stays = shape == 2 && word(node + 2) == Target::STAY.0;
            if stays {
                consumed = find_any(bytes, path, consumed);
            }
            let Some(&byte) = path.get(consumed) else {
                return at_end(shape);
            };
            match find_byte(bytes, count, byte) {
                Some(index) => {
                    consumed += 1;
                    arcs + bytes.len() + index
                }
                None if shape < 2 => return at_end(shape),
                None if stays => {
                    consumed += 1;
                    continue;
                }
                None => node + 2,
            }
        };
        target = Target(word(slot));
        if target == Target::UNBUILT {
            return Walk::Unbuilt { slot: slot as Slot, consumed };
        }
    }
}

/// Returns how many of the `count` bytes packed in `words` are a prefix of `text`.
#[inline]
fn common_prefix(words: &[U32], count: usize, text: &[u8]) -> usize {
    // Most walks leave a run within its first word.
    if let (Some(word), Some(chunk)) = (words.first(), text.first_chunk()) {
        let difference = word.get() ^ u32::from_le_bytes(*chunk);
        if difference != 0 {
            return count.min(difference.trailing_zeros() as usize / 8);
        }
    }
    let limit = count.min(text.len());
    for (index, (word, chunk)) in words.iter().zip(text.chunks_exact(4)).enumerate() {
        let chunk = u32::from_le_bytes(chunk.try_into().expect("chunks of four"));
        let difference = word.get() ^ chunk;
        if difference != 0 {
            return (index * 4 + difference.trailing_zeros() as usize / 8).min(limit);
        }
    }
    let whole = (words.len().min(text.len() / 4)) * 4;
    if whole >= limit {
        return limit;
    }
    let tail = words[whole / 4].as_bytes().iter().zip(&text[whole..limit]);
    whole + tail.take_while(|(one, other)| one == other).count()
}

/// Returns the position of `byte` among the `count` bytes packed in `words`.
#[inline]
fn find_byte(words: &[U32], count: usize, byte: u8) -> Option<usize> {
    let pattern = u32::from(byte) * 0x0101_0101;
    for (index, word) in words.iter().enumerate() {
        // Mycroft's test for a zero byte; the lowest byte that it reports is exact.
        let difference = word.get() ^ pattern;
        let zero = difference.wrapping_sub(0x0101_0101) & !difference & 0x8080_8080;
        if zero != 0 {
            let position = index * 4 + zero.trailing_zeros() as usize / 8;
            return (position < count).then_some(position);
        }
    }
    None
}

/// Returns the position of the first byte of `path`, from `from` on, that is packed in `words`, or
/// the length of the path.
///
/// Most bytes under a star lead back to the star's own state: thirteen in sixteen nodes that walks
/// over real paths enter. So they are searched sixteen at a time instead of walked. The padding of
/// the last word counts as a byte, so the caller checks the result.
#[inline]
pub(super) fn find_any(words: &[U32], path: &[u8], from: usize) -> usize {
    let bytes = path.len();
    let Some(last) = bytes.checked_sub(CHUNK_BYTES) else {
        let found = matches(words, short_chunk(path)) & ((1 << bytes) - 1);
        return first_from(found, from).unwrap_or(bytes);
    };
    let mut position = from;
    while position < bytes {
        // The last chunk overlaps the one before.
        let start = position.min(last);
        let chunk = path[start..].first_chunk().expect("a chunk within the path");
        let found = matches(words, *chunk);
        if let Some(found) = first_from(found, position - start) {
            return start + found;
        }
        position = start + CHUNK_BYTES;
    }
    bytes
}

/// Returns the position of the lowest bit from `from` on.
#[inline]
fn first_from(bits: u32, from: usize) -> Option<usize> {
    let rest = bits >> from;
    (rest != 0).then_some(from + rest.trailing_zeros() as usize)
}

/// Returns a mask of the bytes of `chunk` that are packed in `words`.
#[inline]
fn matches(words: &[U32], chunk: [u8; CHUNK_BYTES]) -> u32 {
    let chunk = u8x16::new(chunk);
    let mut found = u8x16::ZERO;
    for word in words {
        let [first, second, third, fourth] = word.get().to_le_bytes().map(u8x16::splat);
        found |= chunk.simd_eq(first) | chunk.simd_eq(second);
        found |= chunk.simd_eq(third) | chunk.simd_eq(fourth);
    }
    found.to_bitmask()
}

#[cfg(test)]
mod tests {
    use zerocopy::FromBytes;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<U32> {
        let mut program = Program::default();
        program.push_bytes(bytes);
        program.words
    }

    #[test]
    fn common_prefixes_of_every_length() {
        let text = b"/directory/page";
        for count in 1..=text.len() {
            for length in 0..=text.len() {
                for changed in 0..=length {
                    let mut other = text[..length].to_vec();
                    if let Some(byte) = other.get_mut(changed) {
                        *byte ^= 0x80;
                    }
                    let expected = changed.min(length).min(count);
                    assert_eq!(common_prefix(&packed(&text[..count]), count, &other), expected);
                }
            }
        }
    }

    #[test]
    fn a_byte_is_found_at_its_position() {
        let all: Vec<u8> = (0..=255).collect();
        for count in [0, 1, 3, 4, 5, 63, 255, 256] {
            let words = packed(&all[..count]);
            for byte in 0..=255 {
                let expected = (usize::from(byte) < count).then_some(usize::from(byte));
                assert_eq!(find_byte(&words, count, byte), expected);
            }
        }
        // Padding does not count.
        assert_eq!(find_byte(&packed(b"a"), 1, 0), None);
        assert_eq!(find_byte(&packed(&[1, 255]), 2, 0), None);
    }

    #[test]
    fn the_first_named_byte_is_found() {
        for named in [&b"c\0\0\0"[..], b"bcde", b"\x80\xff\x01zyxw\xfe", b"0123456789c9", b""] {
            let words = <[U32]>::ref_from_bytes(named).unwrap();
            for length in 0..70 {
                for at in 0..=length {
                    let mut path = vec![b'a'; length];
                    if let (Some(byte), Some(&last)) = (path.get_mut(at), named.last()) {
                        *byte = last;
                    }
                    for from in 0..=length {
                        let is_named = |byte: &u8| named.contains(byte);
                        let expected = path[from..].iter().position(is_named);
                        let expected = expected.map_or(length, |position| from + position);
                        assert_eq!(find_any(words, &path, from), expected, "{named:?} {path:?}");
                    }
                }
            }
        }
    }
}
