//! Many questions at once, about many rule sets.
//!
//! A question is a [`Start`] and a path. A start says where a rule set begins in the lines of all of
//! them, or that none is asked: its answer is an opaque number, which only the caller understands. There
//! may be several starts for each path.
//!
//! Step 1 of the ladder (`strategy.rs`) runs over the whole block first. Its
//! memory accesses are independent, so the processor overlaps them, and it takes no branch that depends on
//! a question. What it leaves open goes through the other steps one by one. Nothing can fail.
//!
//! ```
//! use portcullis_engine::block::{Block, BlockMemory, Start};
//! use portcullis_engine::pattern::PatternList;
//! use portcullis_engine::{Outcome, RuleSetBuf, Settings};
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private", true);
//! let rules = RuleSetBuf::new(&patterns, |_| false);
//! let block = Block {
//!     lines: rules.as_lines(),
//!     starts: &[Start::at(0).unwrap(), Start::at(0).unwrap(), Start::opaque(7)],
//!     paths: &[b"/private/a", b"/", b"/private/a"],
//!     settings: &Settings::default(),
//! };
//! let mut memory = BlockMemory::default();
//! memory.ask(block);
//! assert_eq!(memory.outcomes(), [Outcome::new(1, false), Outcome::NONE, Outcome::opaque(7)]);
//! ```

use zerocopy::IntoBytes;

use crate::automaton::Cache;
use crate::bytes::Line;
use crate::filter::head::{Open, first_probe};
use crate::limits::Settings;
use crate::outcome::{OPAQUE, Outcome};
use crate::ruleset::RuleSet;
use crate::strategy::{Question, StepCounts};
use crate::vectors::{Kernels, Kind, Work, prefetch};

/// Where an answer comes from: a rule set, or the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Start(u32);

impl Start {
    /// Returns the start of the rule set that begins at a line; `None` if that is out of reach.
    pub fn at(line: u32) -> Option<Start> {
        (line < OPAQUE).then_some(Start(line))
    }

    /// Returns the start of an answer of the caller.
    pub const fn opaque(number: u32) -> Start {
        Start(number | OPAQUE)
    }

    /// Returns the start as a number.
    #[inline(always)]
    pub fn word(self) -> u32 {
        self.0
    }

    /// Returns the start with this number, as [`Start::word`] returns it.
    #[inline(always)]
    pub fn of_word(word: u32) -> Start {
        Start(word)
    }

    /// Returns the number of an answer of the caller; `None` for a rule set.
    #[inline(always)]
    pub fn as_opaque(self) -> Option<u32> {
        Outcome(self.0).as_opaque()
    }

    /// Starts to load what step 1 and, mostly, step 2 read of the rule set.
    #[inline(always)]
    pub fn prefetch(self, lines: &[Line]) {
        // The last lines if there is none: a branch would be mispredicted.
        let first = (self.0 as usize).min(lines.len().saturating_sub(3));
        if let Some(three) = lines.get(first..).and_then(<[Line]>::first_chunk::<3>) {
            three.iter().for_each(|line| prefetch(&line.as_bytes()[0]));
        }
    }
}

/// A block of questions.
#[derive(Clone, Copy)]
pub struct Block<'b> {
    /// The lines of all rule sets.
    pub lines: &'b [Line],
    /// By path: as many starts as each path has.
    pub starts: &'b [Start],
    /// The paths, in normal form.
    pub paths: &'b [&'b [u8]],
    /// The limits and the vectors.
    pub settings: &'b Settings,
}

/// The memory of one thread for blocks about the same rule sets.
#[derive(Clone, Debug, Default)]
pub struct BlockMemory {
    /// By start.
    outcomes: Vec<Outcome>,
    /// What step 1 left open, and as many as may follow.
    open: Vec<OpenQuestion>,
    cache: Cache,
    counts: StepCounts,
}

/// A question that step 1 left open.
#[derive(Clone, Copy, Debug, Default)]
struct OpenQuestion {
    number: u32,
    open: Open,
}

impl BlockMemory {
    /// Answers the questions of a block.
    ///
    /// # Panics
    ///
    /// If there is not the same number of starts for each path.
    pub fn ask(&mut self, block: Block<'_>) {
        let columns = block.starts.len() / block.paths.len().max(1);
        assert_eq!(block.starts.len(), columns * block.paths.len(), "starts for each path");
        self.outcomes.clear();
        self.outcomes.resize(block.starts.len(), Outcome::LOST);
        self.counts.questions += block.starts.len() as u64;
        block.settings.vectors.run(Ask { block, columns, memory: self });
    }

    /// Returns the outcomes of the last block, by start.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns the outcomes of the last block, by start.
    pub fn outcomes_mut(&mut self) -> &mut [Outcome] {
        &mut self.outcomes
    }

    /// Forgets the last block. Automata stay.
    pub fn clear(&mut self) {
        self.outcomes.clear();
    }

    /// Returns the bytes held by automata. The lists of one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.cache.memory_bytes()
    }

    /// Returns how often each step answered.
    pub fn step_counts(&self) -> StepCounts {
        StepCounts { work: self.cache.work(), ..self.counts }
    }
}

/// A block and its memory.
struct Ask<'b> {
    block: Block<'b>,
    columns: usize,
    memory: &'b mut BlockMemory,
}

impl Work for Ask<'_> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, kind: impl Kind) {
        let open = self.probe();
        self.answer_open(open, kind);
    }
}

impl Ask<'_> {
    /// Takes step 1 of all questions, and returns how many it leaves open.
    #[inline(always)]
    fn probe(&mut self) -> usize {
        let Ask { block: Block { lines, starts, paths, settings }, columns, .. } = *self;
        let BlockMemory { outcomes, open: questions, counts, .. } = &mut *self.memory;
        if questions.len() < starts.len() {
            questions.resize(starts.len(), OpenQuestion::default());
        }
        let has_filter = settings.limits.candidates_tried_max.is_some();
        let (mut number, mut length, mut constant) = (0, 0, 0);
        for (path, starts) in paths.iter().zip(starts.chunks_exact(columns.max(1))) {
            for &Start(start) in starts {
                // Lists have opaque starts at random, so there is no branch for them.
                let is_opaque = start & OPAQUE != 0;
                let at = if is_opaque { 0 } else { start as usize };
                let (otherwise, open) = first_probe(lines, at, path);
                let open = if has_filter { open } else { Open::ALL };
                outcomes[number] = if is_opaque { Outcome(start) } else { otherwise };
                constant += u64::from(is_opaque);
                questions[length] = OpenQuestion { number: number as u32, open };
                length += usize::from(open.any() & !is_opaque);
                number += 1;
            }
        }
        counts.constant += constant;
        length
    }

    /// Answers the first `open` questions of those that are open.
    #[inline(always)]
    fn answer_open(&mut self, open: usize, kind: impl Kernels) {
        let Ask { block: Block { lines, starts, paths, settings }, columns, .. } = *self;
        let BlockMemory { outcomes, open: questions, cache, counts } = &mut *self.memory;
        for &OpenQuestion { number, open } in &questions[..open] {
            let number = number as usize;
            let (Start(start), limits) = (starts[number], &settings.limits);
            let path = paths[if columns == 1 { number } else { number / columns }];
            let lines = lines.get(start as usize..).unwrap_or_default();
            let automaton = |rules: RuleSet<'_>| cache.decide(start, rules, path, limits);
            let question = Question { lines, path, limits };
            outcomes[number] = question.rest(open, kind, counts, automaton);
        }
    }
}
