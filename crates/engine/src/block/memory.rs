//! The memory of one thread for blocks of questions: the answers and the worklists between steps.

use portcullis_dialect::Decision;

use crate::automaton::Work;
use crate::cache::Caches;
use crate::outcome::Outcome;

use super::starts::Start;

/// The memory of one thread for blocks about the same policies.
#[derive(Clone, Debug, Default)]
pub struct BlockMemory {
    /// By question, then by agent.
    pub(super) decisions: Vec<Decision>,
    pub(super) sources: Vec<Source>,
    pub(super) starts: Vec<Start>,
    /// The automata of rule sets that needed one.
    pub(super) caches: Caches,
    pub(super) counts: StepCounts,
    /// Answers whose prefilter still has to be probed: for prefixes, and for required literals.
    pub(super) prefix_probes: Worklist,
    pub(super) literal_probes: Worklist,
    /// By answer: the prefix lengths at which the prefilter found a possible match.
    pub(super) prefix_levels: Vec<u8>,
    /// Answers whose paths may start with a prefix, and those that may contain a required literal.
    pub(super) prefix_hits: Worklist,
    pub(super) literal_hits: Worklist,
    /// Answers that an automaton gives.
    pub(super) unfiltered: Worklist,
    /// Answers that copy an earlier one.
    pub(super) repeats: Vec<Repeat>,
    /// Answers whose rule set is not stored.
    pub(super) on_demand: Vec<WorkItem>,
}

/// The entry and pattern behind a decision.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The entry, or [`Source::NONE`].
    entry: u32,
    /// The pattern, or [`Source::NONE`]. Undefined if the engine does not distinguish patterns.
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    /// The source of a decision that no rule set made.
    pub const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };

    #[inline(always)]
    pub(super) fn of(entry: usize, outcome: Outcome) -> Source {
        // `Outcome::NONE` has the number 0, which wraps to `Source::NONE`.
        Source { entry: entry as u32, pattern: outcome.number().wrapping_sub(1) }
    }

    /// Returns the entry, or `None` if no policy was asked.
    pub fn entry(self) -> Option<usize> {
        (self.entry != Source::NONE).then_some(self.entry as usize)
    }

    /// Returns the deciding pattern, or `None` if none decides.
    pub fn pattern(self) -> Option<u32> {
        (self.pattern != Source::NONE).then_some(self.pattern)
    }
}

/// An answer that copies an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) answer: u32,
    pub(super) of: u32,
}

impl BlockMemory {
    /// Returns the decisions of the last block, by question, then by agent.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Returns the source of one decision.
    pub fn source(&self, answer: usize) -> Source {
        self.sources[answer]
    }

    /// Returns all decisions with their sources.
    pub fn answers_mut(&mut self) -> (&mut [Decision], &mut [Source]) {
        (&mut self.decisions, &mut self.sources)
    }

    /// Returns the bytes held by automata. The lists of one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.caches.memory_bytes()
    }

    /// Returns how often each strategy answered.
    pub fn step_counts(&self) -> StepCounts {
        StepCounts { work: self.caches.work(), ..self.counts }
    }
}

/// How often each strategy answered the questions of a thread. The prefilter answered the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// Questions, one per path and agent.
    pub questions: u64,
    /// Questions answered by a decision that holds for every path.
    pub constant: u64,
    /// Questions answered by trying candidates of the prefilter.
    pub candidates: u64,
    /// Entries of the prefilter's index that were read.
    pub entries: u64,
    /// Questions answered by automata, including scans.
    pub automata: u64,
    /// The work of the automata.
    pub work: Work,
}

impl std::ops::AddAssign for StepCounts {
    fn add_assign(&mut self, other: StepCounts) {
        self.questions += other.questions;
        self.constant += other.constant;
        self.candidates += other.candidates;
        self.entries += other.entries;
        self.automata += other.automata;
        self.work += other.work;
    }
}

/// Questions that are probed together.
pub(super) const EIGHT: usize = 8;

/// An answer that needs a further stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkItem {
    pub(super) question: u32,
    /// The position of the answer.
    pub(super) answer: u32,
}

/// The answers of a block that need a further stage, appended without branches.
#[derive(Clone, Debug, Default)]
pub(super) struct Worklist {
    items: Vec<WorkItem>,
    length: usize,
}

impl Worklist {
    /// Empties the list and makes room for `capacity` items.
    pub(super) fn clear(&mut self, capacity: usize) {
        self.length = 0;
        if self.items.len() < capacity {
            self.items.resize(capacity, WorkItem::default());
        }
    }

    /// Appends an item if it is needed, without a branch: it would often be mispredicted.
    #[inline]
    pub(super) fn push_if(&mut self, is_needed: bool, item: WorkItem) {
        self.items[self.length] = item;
        self.length += usize::from(is_needed);
    }

    /// Appends those of eight adjacent questions whose bits are set, if there is one agent. There
    /// must be room for all eight.
    #[inline(always)]
    pub(super) fn push_of_eight(&mut self, are_needed: u8, first: usize) {
        let room = &mut self.items[self.length..][..8];
        let mut length = 0;
        for place in 0..8 {
            let number = (first + place) as u32;
            room[length & 7] = WorkItem { question: number, answer: number };
            length += usize::from(are_needed >> place & 1);
        }
        self.length += length;
    }

    #[inline]
    pub(super) fn items(&self) -> &[WorkItem] {
        &self.items[..self.length]
    }
}
