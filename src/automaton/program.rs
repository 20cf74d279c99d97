//! The deterministic automaton as a string of words, and the walk over it.
//!
//! Most of a rule set is a trie, and most of a trie is runs without a branch; so a state is not a
//! row of a table. There are two kinds of node, and an octet that a node does not name takes its
//! *miss* arc:
//!
//! - a **run**: octets that have to follow one another. It matches by comparing memory;
//! - a **branch**: a sorted list of octets, each with its target.
//!
//! Where a star is alive, what a trie node does not name is what the star's own state does. The
//! miss arc then leads there *without consuming the octet*, as a failure arc of Aho and Corasick
//! does, instead of repeating the star's arcs in every node. A star's own state stays where it is
//! on a miss, so an octet is looked at twice at most.
//!
//! | word | run | branch |
//! |---|---|---|
//! | 0 | kind, number of octets | kind, number of octets |
//! | 1 | outcome if the path ends here, or within the run | outcome if the path ends here |
//! | 2 | miss arc | miss arc |
//! | 3 … | target, then the octets, four to a word | the octets, four to a word, then a target each |
//!
//! A target is a node (its first word), an outcome that nothing can change any more, or not built
//! yet. An outcome in a target costs no memory access.

use super::Outcome;

/// Where an arc leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target(u32);

impl Target {
    const FINAL: u32 = 1 << 31;
    /// The node has not been built.
    pub(super) const UNBUILT: Target = Target(Target::FINAL - 1);
    /// A miss leads back to the same node, and consumes the octet.
    pub(super) const STAY: Target = Target(Target::FINAL - 2);
    /// The largest number of words that a program may have.
    pub(super) const WORDS_MAX: usize = (Target::FINAL - 3) as usize;

    pub(super) fn outcome(outcome: Outcome) -> Target {
        Target(Target::FINAL | outcome.0)
    }

    fn node(word: usize) -> Target {
        debug_assert!(word < Target::WORDS_MAX);
        Target(word as u32)
    }

    #[inline]
    fn is_final(self) -> bool {
        self.0 & Target::FINAL != 0
    }

    #[inline]
    fn final_outcome(self) -> Outcome {
        Outcome(self.0 & !Target::FINAL)
    }
}

const KIND_BITS: u32 = 1;
const RUN: u32 = 0;
const BRANCH: u32 = 1;

const AT_END: usize = 1;
const MISS: usize = 2;
const RUN_TARGET: usize = 3;
const RUN_OCTETS: usize = 4;
const BRANCH_OCTETS: usize = 3;

/// The most octets in one run; a longer one is several nodes.
pub(super) const RUN_OCTETS_MAX: usize = 1 << 16;

/// A slot of the program that holds a target.
pub(super) type Slot = u32;

/// The nodes, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    words: Vec<u32>,
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
        /// The octets of the path that have been consumed, the arc's own included.
        consumed: usize,
    },
}

impl Program {
    /// Octets of memory that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// Gives back memory that was kept for growth.
    pub(super) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }

    /// Appends a run of one octet or more. Its arcs are not built.
    pub(super) fn push_run(&mut self, octets: &[u8], at_end: Outcome, miss: Target) -> Target {
        debug_assert!(!octets.is_empty() && octets.len() <= RUN_OCTETS_MAX);
        let node = self.words.len();
        let header = RUN | (octets.len() as u32) << KIND_BITS;
        self.words.extend([header, at_end.0, miss.0, Target::UNBUILT.0]);
        self.push_octets(octets);
        Target::node(node)
    }

    /// Appends a branch over ascending octets. Its arcs are not built.
    pub(super) fn push_branch(&mut self, octets: &[u8], at_end: Outcome, miss: Target) -> Target {
        let node = self.words.len();
        let header = BRANCH | (octets.len() as u32) << KIND_BITS;
        self.words.extend([header, at_end.0, miss.0]);
        self.push_octets(octets);
        self.words.extend(std::iter::repeat_n(Target::UNBUILT.0, octets.len()));
        Target::node(node)
    }

    fn push_octets(&mut self, octets: &[u8]) {
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        };
        self.words.extend(octets.chunks(4).map(word));
    }

    /// The slot of a node's miss arc.
    pub(super) fn miss_slot(node: Target) -> Slot {
        node.0 + MISS as u32
    }

    /// The slot of a run's target.
    pub(super) fn run_slot(node: Target) -> Slot {
        node.0 + RUN_TARGET as u32
    }

    /// The slot of a branch's target for the octet at `index` of `count`.
    pub(super) fn branch_slot(node: Target, count: usize, index: usize) -> Slot {
        node.0 + (BRANCH_OCTETS + count.div_ceil(4) + index) as u32
    }

    /// Fills a slot.
    pub(super) fn set(&mut self, slot: Slot, target: Target) {
        self.words[slot as usize] = target.0;
    }

    /// What a slot holds.
    pub(super) fn target(&self, slot: Slot) -> Target {
        Target(self.words[slot as usize])
    }

    /// Walks from `target` over `path`, of which `consumed` octets have been read.
    #[inline]
    pub(super) fn walk(&self, mut target: Target, path: &[u8], mut consumed: usize) -> Walk {
        let words = &*self.words;
        loop {
            if target.is_final() {
                return Walk::Done(target.final_outcome());
            }
            let node = target.0 as usize;
            let header = words[node];
            let count = (header >> KIND_BITS) as usize;
            let rest = &path[consumed..];
            let slot = if header & ((1 << KIND_BITS) - 1) == RUN {
                let octets = &words[node + RUN_OCTETS..][..count.div_ceil(4)];
                let matched = common_prefix(octets, count, rest);
                consumed += matched;
                if matched == count {
                    node + RUN_TARGET
                } else if matched == rest.len() {
                    return Walk::Done(Outcome(words[node + AT_END]));
                } else {
                    node + MISS
                }
            } else {
                let Some(&octet) = rest.first() else {
                    return Walk::Done(Outcome(words[node + AT_END]));
                };
                let octet_words = count.div_ceil(4);
                let octets = &words[node + BRANCH_OCTETS..][..octet_words];
                match find_octet(octets, count, octet) {
                    Some(index) => {
                        consumed += 1;
                        node + BRANCH_OCTETS + octet_words + index
                    }
                    None if words[node + MISS] == Target::STAY.0 => {
                        consumed += 1;
                        continue;
                    }
                    None => node + MISS,
                }
            };
            target = Target(words[slot]);
            if target == Target::UNBUILT {
                return Walk::Unbuilt { slot: slot as Slot, consumed };
            }
        }
    }
}

/// How many of the `count` octets packed in `words` the start of `text` repeats.
#[inline]
fn common_prefix(words: &[u32], count: usize, text: &[u8]) -> usize {
    let limit = count.min(text.len());
    for (index, (word, chunk)) in words.iter().zip(text.chunks_exact(4)).enumerate() {
        let chunk = u32::from_le_bytes(chunk.try_into().expect("chunks of four"));
        let difference = word ^ chunk;
        if difference != 0 {
            return (index * 4 + difference.trailing_zeros() as usize / 8).min(limit);
        }
    }
    let whole = (words.len().min(text.len() / 4)) * 4;
    if whole >= limit {
        return limit;
    }
    let last = words[whole / 4].to_le_bytes();
    let tail = last.iter().zip(&text[whole..limit]);
    whole + tail.take_while(|(one, other)| one == other).count()
}

/// Where `octet` stands among the `count` octets packed in `words`.
#[inline]
fn find_octet(words: &[u32], count: usize, octet: u8) -> Option<usize> {
    let pattern = u32::from(octet) * 0x0101_0101;
    for (index, &word) in words.iter().enumerate() {
        // Mycroft's test for a zero octet; the lowest one that it reports is exact.
        let difference = word ^ pattern;
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

    fn packed(octets: &[u8]) -> Vec<u32> {
        let mut program = Program::default();
        program.push_octets(octets);
        program.words
    }

    #[test]
    fn common_prefixes_of_every_length() {
        let text = b"/directory/page";
        for count in 1..=text.len() {
            for length in 0..=text.len() {
                for changed in 0..=length {
                    let mut other = text[..length].to_vec();
                    if let Some(octet) = other.get_mut(changed) {
                        *octet ^= 0x80;
                    }
                    let expected = changed.min(length).min(count);
                    assert_eq!(common_prefix(&packed(&text[..count]), count, &other), expected);
                }
            }
        }
    }

    #[test]
    fn octets_are_found_where_they_are() {
        let all: Vec<u8> = (0..=255).collect();
        for count in [0, 1, 3, 4, 5, 63, 255, 256] {
            let words = packed(&all[..count]);
            for octet in 0..=255 {
                let expected = (usize::from(octet) < count).then_some(usize::from(octet));
                assert_eq!(find_octet(&words, count, octet), expected);
            }
        }
        // Padding is no octet.
        assert_eq!(find_octet(&packed(b"a"), 1, 0), None);
        assert_eq!(find_octet(&packed(&[1, 255]), 2, 0), None);
    }
}
