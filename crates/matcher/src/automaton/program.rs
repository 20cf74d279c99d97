//! The deterministic automaton as a string of words, and the walk over it.
//!
//! Most of a rule set is a trie, and most of a trie is runs without a branch; so a state is not a
//! row of a table. There are two kinds of node, and a byte that a node does not name takes its
//! *miss* arc:
//!
//! - a **run**: bytes that have to follow one another. It matches by comparing memory;
//! - a **branch**: a sorted list of bytes, each with its target.
//!
//! Where a star is alive, what a trie node does not name is what the star's own state does. The
//! miss arc then leads there *without consuming the byte*, as a failure arc of Aho and Corasick
//! does, instead of repeating the star's arcs in every node. A star's own state stays where it is
//! on a miss, so a byte is looked at twice at most.
//!
//! | words | run | branch |
//! |---|---|---|
//! | 1 | kind, shape, number of bytes | kind, shape, number of bytes |
//! | 0, 1 or 2, by shape | outcome if the path ends here or within the run; miss arc | the same |
//! | the rest | target, then the bytes, four to a word | the bytes, four to a word, then a target each |
//!
//! Most nodes belong to a trie in which nothing has matched yet: a path that ends there, or leaves
//! it, has no outcome. Their shape leaves both words out; where both would say the same outcome, one
//! word says it.
//!
//! A target is a node (its first word), an outcome that nothing can change any more, or not built
//! yet. An outcome in a target costs no memory access. A target may also say that what lies behind
//! it can change the rule that decides, but no longer its verdict: whoever asks for the verdict
//! alone stops there, so that one program serves both questions.

mod search;

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::{Detail, Outcome};
use search::find_any;

/// Where an arc leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target(u32);

impl Target {
    /// An outcome, in the bits below.
    const FINAL: u32 = 1 << 31;
    /// A node behind which the verdict stays as it is.
    const SETTLED: u32 = 1 << 30;
    /// What that verdict is, as in an [`Outcome`].
    const ALLOWS: u32 = 1 << 29;
    const NODE: u32 = Target::ALLOWS - 1;
    /// The node has not been built.
    pub(super) const UNBUILT: Target = Target(Target::NODE);
    /// A miss leads back to the same node, and consumes the byte.
    pub(super) const STAY: Target = Target(Target::NODE - 1);
    /// The largest number of words that a program may have.
    pub(super) const WORDS_MAX: usize = (Target::NODE - 2) as usize;

    pub(super) fn outcome(outcome: Outcome) -> Target {
        Target(Target::FINAL | outcome.0)
    }

    fn node(word: usize) -> Target {
        debug_assert!(word < Target::WORDS_MAX);
        Target(word as u32)
    }

    /// The same target, behind which the verdict stays that of `outcome`.
    #[must_use]
    pub(super) fn settled(self, outcome: Outcome) -> Target {
        let allows = if outcome.allows() { Target::ALLOWS } else { 0 };
        Target(self.0 | Target::SETTLED | allows)
    }

    /// The bits of a target at which a walk ends.
    #[inline]
    pub(super) fn stops(detail: Detail) -> u32 {
        match detail {
            Detail::Rule => Target::FINAL,
            Detail::Reason => Target::FINAL | Target::SETTLED,
        }
    }

    /// The outcome at a target that has one of the bits that stop a walk.
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

/// What a node says about paths that end or leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Neither has an outcome.
    Bare = 0,
    /// Both have the same outcome.
    Same = 1,
    /// Each has a word.
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

/// The word that a node begins with.
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

    /// The words between the header and the arcs: none, one or two.
    #[inline]
    fn shape(self) -> usize {
        (self.0 >> Header::SHAPE_SHIFT & 3) as usize
    }

    #[inline]
    fn count(self) -> usize {
        (self.0 >> Header::COUNT_SHIFT) as usize
    }
}

/// The most bytes in one run; a longer one is several nodes.
pub(super) const RUN_BYTES_MAX: usize = 1 << 16;

/// A slot of the program that holds a target.
pub(super) type Slot = u32;

/// The nodes, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    words: Vec<U32>,
}

/// How far a walk came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// To the end of the path, or to an outcome that the rest of it cannot change.
    Done(Outcome),
    /// To an arc whose target is not built.
    Unbuilt {
        /// The slot that has to be filled.
        slot: Slot,
        /// The bytes of the path that have been consumed, the arc's own included.
        consumed: usize,
    },
}

impl Program {
    /// The words.
    pub(super) fn words(&self) -> &[U32] {
        &self.words
    }

    /// Returns the bytes of memory that this holds.
    pub(super) fn memory_bytes(&self) -> usize {
        self.words.capacity() * size_of::<U32>()
    }

    /// Appends a run of one byte or more. Its arcs are not built.
    pub(super) fn push_run(&mut self, bytes: &[u8], at_end: Outcome, miss: Target) -> Target {
        debug_assert!(!bytes.is_empty() && bytes.len() <= RUN_BYTES_MAX);
        let node = self.push_head(false, bytes.len(), at_end, miss);
        self.push(Target::UNBUILT.0);
        self.push_bytes(bytes);
        node
    }

    /// Appends a branch over ascending bytes. Its arcs are not built.
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

    /// The slot of the miss arc of a node that has one of its own.
    pub(super) fn miss_slot(&self, node: Target) -> Slot {
        debug_assert_eq!(self.header(node).shape(), Shape::Full as usize);
        node.index() as Slot + 2
    }

    /// The slot of a run's target.
    pub(super) fn run_slot(&self, node: Target) -> Slot {
        (node.index() + 1 + self.header(node).shape()) as Slot
    }

    /// The slot of a branch's target for the byte at `index`.
    pub(super) fn branch_slot(&self, node: Target, index: usize) -> Slot {
        let header = self.header(node);
        (node.index() + 1 + header.shape() + header.count().div_ceil(4) + index) as Slot
    }

    /// Fills a slot.
    pub(super) fn set(&mut self, slot: Slot, target: Target) {
        self.words[slot as usize] = U32::new(target.0);
    }

    /// What a slot holds.
    pub(super) fn target(&self, slot: Slot) -> Target {
        Target(self.words[slot as usize].get())
    }
}

/// Walks from `target` over `path`, of which `consumed` bytes have been read, as far as `detail`
/// asks.
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

/// How many of the `count` bytes packed in `words` the start of `text` repeats.
#[inline]
fn common_prefix(words: &[U32], count: usize, text: &[u8]) -> usize {
    // Most runs are left within their first word.
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

/// Where `byte` stands among the `count` bytes packed in `words`.
#[inline]
fn find_byte(words: &[U32], count: usize, byte: u8) -> Option<usize> {
    let pattern = u32::from(byte) * 0x0101_0101;
    for (index, word) in words.iter().enumerate() {
        // Mycroft's test for a zero byte; the lowest one that it reports is exact.
        let difference = word.get() ^ pattern;
        let zero = difference.wrapping_sub(0x0101_0101) & !difference & 0x8080_8080;
        if zero != 0 {
            let position = index * 4 + zero.trailing_zeros() as usize / 8;
            return (position < count).then_some(position);
        }
    }
    None
}

#[cfg(test)]
mod tests {
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
    fn bytes_are_found_where_they_are() {
        let all: Vec<u8> = (0..=255).collect();
        for count in [0, 1, 3, 4, 5, 63, 255, 256] {
            let words = packed(&all[..count]);
            for byte in 0..=255 {
                let expected = (usize::from(byte) < count).then_some(usize::from(byte));
                assert_eq!(find_byte(&words, count, byte), expected);
            }
        }
        // Padding is no byte.
        assert_eq!(find_byte(&packed(b"a"), 1, 0), None);
        assert_eq!(find_byte(&packed(&[1, 255]), 2, 0), None);
    }
}
