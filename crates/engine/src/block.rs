//! Many queries at once, about many rule sets.
//!
//! A query is a [`Start`] and a path. A start is the line at which a rule set begins, or an
//! opaque number, which is returned as it is for a path that needs no rule set. There may be several starts
//! for each path.
//!
//! Step 1 of the ladder (`strategy.rs`) runs over the whole block first, four queries at a time. Its
//! memory accesses are independent, so the processor overlaps them, and it takes no branch that depends on
//! a query. What it leaves open goes through the other steps one by one. Nothing can fail.
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
//! memory.query(block);
//! assert_eq!(memory.outcomes(), [Outcome::new(1, false), Outcome::NONE, Outcome::opaque(7)]);
//! ```

use crate::automaton::Cache;
use crate::bytes::Line;
use crate::candidates::Found;
use crate::filter::head::{Open, OpenQuery};
use crate::limits::Settings;
use crate::outcome::{OPAQUE, Outcome};
use crate::ruleset::RuleSet;
use crate::strategy::{Query, StepCounts};
use crate::vectors::{FOUR, Four, Kernels, Kind, Work, prefetch_lines};

/// Where an answer comes from: a rule set, or the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Start(u32);

impl Start {
    /// Returns the start of the rule set that begins at a line; `None` if that is out of reach.
    pub fn at(line: u32) -> Option<Start> {
        (line < OPAQUE).then_some(Start(line))
    }

    /// Returns a start that stands for an answer of the caller: a number below 2³¹, whose high bit is not
    /// kept.
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
    pub fn from_word(word: u32) -> Start {
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
        prefetch_lines::<3>(lines, self.0 as usize);
    }
}

/// A block of queries.
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
    /// The outcomes of the last block, while another one is queried.
    previous: Vec<Outcome>,
    /// The queries that step 1 left open, and as many as may follow.
    open: Vec<OpenQuery>,
    cache: Cache,
    counts: StepCounts,
}

impl BlockMemory {
    /// Answers the queries of a block.
    ///
    /// # Panics
    ///
    /// If there is not the same number of starts for each path.
    pub fn query(&mut self, block: Block<'_>) {
        let columns = block.starts.len() / block.paths.len().max(1);
        assert_eq!(block.starts.len(), columns * block.paths.len(), "starts for each path");
        self.outcomes.clear();
        self.outcomes.resize(block.starts.len(), Outcome::LOST);
        self.counts.queries += block.starts.len() as u64;
        block.settings.vectors.run(BlockQuery { block, columns, memory: self });
    }

    /// Answers the queries of another block, and keeps the outcomes of the last one. Returns the outcomes of this
    /// one, by start, and those that were kept.
    ///
    /// # Panics
    ///
    /// As for [`BlockMemory::query`].
    pub fn query_next(&mut self, block: Block<'_>) -> (&[Outcome], &mut [Outcome]) {
        std::mem::swap(&mut self.outcomes, &mut self.previous);
        self.query(block);
        std::mem::swap(&mut self.outcomes, &mut self.previous);
        (&self.previous, &mut self.outcomes)
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
struct BlockQuery<'b> {
    block: Block<'b>,
    columns: usize,
    memory: &'b mut BlockMemory,
}

impl Work for BlockQuery<'_> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, kind: impl Kind) {
        let open = self.probe(kind);
        self.answer_open(open, kind);
    }
}

impl BlockQuery<'_> {
    /// Takes step 1 of all queries, and returns how many it leaves open.
    #[inline(always)]
    fn probe(&mut self, kind: impl Kernels) -> usize {
        let BlockQuery { block: Block { lines, starts, paths, settings }, columns, .. } = *self;
        let BlockMemory { outcomes, open, counts, .. } = &mut *self.memory;
        if open.len() < starts.len() + FOUR {
            open.resize(starts.len() + FOUR, OpenQuery::default());
        }
        counts.constant += u64::from(starts.iter().map(|start| start.0 / OPAQUE).sum::<u32>());
        if settings.limits.candidates_tried_max.is_none() {
            return leave_open(starts, outcomes, open);
        }
        // Fours of queries with a path each; what is left is copied.
        let paths_of_fours = if columns == 1 { paths } else { &[] };
        let mut fours = starts.as_chunks().0.iter().zip(paths_of_fours.as_chunks().0);
        let mut length = 0;
        outcomes.resize(starts.len().next_multiple_of(FOUR), Outcome::LOST);
        for (number, outcomes) in (0..).step_by(FOUR).zip(outcomes.as_chunks_mut().0) {
            let four = match fours.next() {
                Some((starts, paths)) => {
                    Four { number, starts: starts.map(Start::word), paths: *paths }
                }
                None => four_of(starts, paths, number, columns),
            };
            let probed = kind.first_probes(lines, four);
            let room = open[length..].first_chunk_mut();
            *room.expect("room for four more") = probed.open;
            length += probed.left;
            *outcomes = probed.outcomes;
        }
        outcomes.truncate(starts.len());
        length
    }

    /// Answers the first `open` queries of those that are open.
    #[inline(always)]
    fn answer_open(&mut self, open: usize, kind: impl Kernels) {
        let BlockQuery { block: Block { lines, starts, paths, settings }, columns, .. } = *self;
        let BlockMemory { outcomes, open: queries, cache, counts, .. } = &mut *self.memory;
        for query in &queries[..open] {
            let (number, Start(start)) = (query.number(), starts[query.number()]);
            let path = paths[if columns == 1 { number } else { number / columns }];
            let Some(lines) = lines.get(start as usize..) else {
                outcomes[number] = Outcome::LOST;
                continue;
            };
            let found = Found::new(lines, path, query.open(), kind);
            if found.open.any() {
                let limits = &settings.limits;
                let automaton = |rules: RuleSet<'_>| cache.decide(start, rules, path, limits);
                let query = Query { lines, path, limits };
                let outcome = &mut outcomes[number];
                *outcome = query.rest(&found, *outcome, kind, counts, automaton);
            }
        }
    }
}

/// Leaves all queries about rule sets open, and returns their number: the prefilter is off.
#[cold]
#[inline(never)]
fn leave_open(starts: &[Start], outcomes: &mut [Outcome], open: &mut [OpenQuery]) -> usize {
    let mut length = 0;
    for (number, (start, outcome)) in starts.iter().zip(outcomes).enumerate() {
        *outcome = Outcome(start.0);
        if outcome.as_opaque().is_none() {
            open[length] = OpenQuery::new(number as u32, Open::ALL);
            length += 1;
        }
    }
    length
}

/// Returns four queries; opaque starts and empty paths after the last one.
#[inline(always)]
fn four_of<'p>(starts: &[Start], paths: &[&'p [u8]], number: u32, columns: usize) -> Four<'p> {
    let first = number as usize;
    let start = |place| starts.get(first + place).copied().map_or(OPAQUE, Start::word);
    let path = |place| paths.get((first + place) / columns).copied().unwrap_or_default();
    Four { number, starts: std::array::from_fn(start), paths: std::array::from_fn(path) }
}
