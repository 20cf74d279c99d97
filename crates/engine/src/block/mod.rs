//! A block of questions: the steps of [`strategy`], each over the whole block before the
//! next one starts.
//!
//! A question is a policy and a path. Policies are numbered by the caller, and each has the same
//! *columns*: agents, or agents and labels. A policy and a column form an *entry*: policy number ×
//! columns + column. [`Starts`] says where the answer of each entry begins: at a rule set, or with
//! a decision that holds for every path.
//!
//! Memory accesses within a step are independent, so the processor overlaps them. A step that only
//! some questions need works through a worklist, which costs no branch mispredictions. Nothing can
//! fail but building a rule set that is not stored.
//!
//! ```
//! use portcullis_dialect::Verdict;
//! use portcullis_engine::block::{BlockMemory, Questions, Start, Starts, Table};
//! use portcullis_engine::pattern::PatternList;
//! use portcullis_engine::{RuleSetBuf, Settings};
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private", true);
//! let rules = RuleSetBuf::new(&patterns, &[Verdict::Disallow]);
//! let starts = Starts::new(1).expect("memory for two words");
//! starts.set(0, &[Start { line: 0, number: 0 }]);
//! let table = Table {
//!     lines: rules.as_lines(),
//!     starts: &starts,
//!     columns: 1,
//!     settings: &Settings::default(),
//! };
//! let mut memory = BlockMemory::default();
//! let questions = Questions { policies: &[0, 0], paths: &[b"/private/a", b"/"] };
//! let build = |_| Err("every rule set is stored");
//! memory.ask(table, questions, build)?;
//! let verdicts: Vec<Verdict> = memory.decisions().iter().map(|it| it.verdict).collect();
//! assert_eq!(verdicts, [Verdict::Disallow, Verdict::Allow]);
//! # Ok::<(), &str>(())
//! ```

mod memory;
mod starts;

use portcullis_dialect::{Decision, Reason, Verdict};
use zerocopy::IntoBytes;

use crate::config::Settings;
use crate::filter::{FirstProbe, FirstProbes, Found};
use crate::line::Line;
use crate::outcome::Outcome;
use crate::ruleset::{RuleSet, RuleSetBuf};
use crate::strategy;
use crate::vectors::{Kernels, Kind, Work, prefetch};

use memory::{EIGHT, Repeat, WorkItem};

pub use memory::{BlockMemory, Source, StepCounts};
pub use starts::{Fixed, NO_POLICY, NO_URL, Start, Starts};

/// Decisions before the rule is filled in: no rule, a disallowing rule, an allowing rule; then those
/// of [`NO_URL`] and [`NO_POLICY`].
static WITHOUT_RULE: [Decision; 5] = [
    Decision::without_rule(Verdict::Allow, Reason::NoRule),
    Decision::without_rule(Verdict::Disallow, Reason::Rule),
    Decision::without_rule(Verdict::Allow, Reason::Rule),
    Decision::INVALID,
    Decision::UNKNOWN,
];

/// The place of [`NO_URL`] in [`WITHOUT_RULE`].
const INVALID: usize = 3;
const _: () = assert!(NO_URL == u32::MAX - 1 && NO_POLICY == u32::MAX);

/// Converts an outcome to a decision without its rule.
#[inline(always)]
fn without_rule(outcome: Outcome) -> Decision {
    WITHOUT_RULE[place_of(outcome)]
}

/// Returns the place of an outcome in [`WITHOUT_RULE`]. A sum instead of branches, which would be
/// mispredicted.
#[inline(always)]
fn place_of(outcome: Outcome) -> usize {
    usize::from(outcome != Outcome::NONE) + usize::from(outcome.allows())
}

/// The rule sets that blocks ask.
#[derive(Clone, Copy)]
pub struct Table<'t> {
    /// The lines of all stored rule sets.
    pub lines: &'t [Line],
    /// Where the answers of each entry begin.
    pub starts: &'t Starts,
    /// The number of entries per policy.
    pub columns: usize,
    /// The limits and the vectors.
    pub settings: &'t Settings,
}

/// A policy and a path for each question.
#[derive(Clone, Copy)]
pub struct Questions<'b> {
    /// By question: a policy of the table, [`NO_POLICY`] or [`NO_URL`].
    pub policies: &'b [u32],
    /// By question: the path in normal form.
    pub paths: &'b [&'b [u8]],
}

/// A block of questions, answered together.
struct Block<'b> {
    table: Table<'b>,
    policies: &'b [u32],
    paths: &'b [&'b [u8]],
    /// Receives the answers.
    memory: &'b mut BlockMemory,
}

impl BlockMemory {
    /// Answers one question per policy and path, for each column. `build` builds the rule set of an
    /// entry whose rule set is not stored.
    ///
    /// # Errors
    ///
    /// Returns the errors of `build`. There are no decisions then.
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ, or there is no such policy.
    pub fn ask<E>(
        &mut self,
        table: Table<'_>,
        questions: Questions<'_>,
        mut build: impl FnMut(usize) -> Result<RuleSetBuf, E>,
    ) -> Result<(), E> {
        let Questions { policies, paths } = questions;
        assert_eq!(policies.len(), paths.len(), "one path per policy");
        table.settings.vectors.run(Block { table, policies, paths, memory: self });
        let mut block = Block { table, policies, paths, memory: self };
        let decided = block.decide_on_demand(&mut build);
        match decided {
            Ok(()) => block.finish(),
            // Some answers are missing, and those that repeat others are not made yet.
            Err(_) => block.memory.clear(),
        }
        decided
    }

    /// Forgets the last block. Automata stay.
    fn clear(&mut self) {
        let BlockMemory {
            decisions,
            sources,
            starts,
            caches: _,
            counts: _,
            // These have the length of a block of their own, and are cleared where it is known.
            prefix_probes: _,
            literal_probes: _,
            prefix_hits: _,
            literal_hits: _,
            unfiltered: _,
            prefix_levels,
            repeats,
            on_demand,
        } = self;
        decisions.clear();
        sources.clear();
        starts.clear();
        prefix_levels.clear();
        repeats.clear();
        on_demand.clear();
    }
}

impl Work for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, probe: impl Kind) {
        self.make_room();
        self.probe(probe);
        self.probe_further(probe);
        self.answer_open(probe);
    }
}

impl Block<'_> {
    #[inline(always)]
    fn make_room(&mut self) {
        let answers = self.policies.len() * self.table.columns;
        let memory = &mut *self.memory;
        memory.clear();
        memory.counts.questions += answers as u64;
        memory.decisions.resize(answers, Decision::UNKNOWN);
        memory.sources.resize(answers, Source::NOWHERE);
        memory.prefix_levels.resize(answers, 0);
        let BlockMemory {
            prefix_probes,
            literal_probes,
            prefix_hits,
            literal_hits,
            unfiltered,
            ..
        } = memory;
        let worklists = [prefix_probes, literal_probes, prefix_hits, literal_hits, unfiltered];
        worklists.into_iter().for_each(|worklist| worklist.clear(answers + EIGHT));
    }

    /// Answers each question by the first probe of its prefilter or by the decision that always
    /// holds, and lists the answers that need more.
    #[inline(always)]
    fn probe(&mut self, probe: impl Kernels) {
        let Block { table, policies, paths, memory } = self;
        let first = FirstStage { table: *table, policies, paths };
        first.find_starts(memory);
        match table.columns {
            1 => first.answer_by_eights(memory, probe),
            _ => (0..policies.len()).for_each(|question| first.answer(question, memory)),
        }
    }

    /// Runs the further probes, and lists the answers that they leave open.
    #[inline(always)]
    fn probe_further(&mut self, probe: impl Kernels) {
        let Block { table, paths, memory, .. } = self;
        let lines = table.lines;
        let BlockMemory {
            starts,
            prefix_probes,
            literal_probes,
            prefix_levels,
            prefix_hits,
            literal_hits,
            ..
        } = memory;
        let line_of = |item: &WorkItem| starts[item.answer as usize].line as usize;
        for item in prefix_probes.items() {
            let levels =
                strategy::prefixes(lines, line_of(item), paths[item.question as usize], probe);
            prefix_levels[item.answer as usize] = levels;
            prefix_hits.push_if(levels != 0, *item);
        }
        for item in literal_probes.items() {
            let is_open =
                strategy::literals(lines, line_of(item), paths[item.question as usize], probe);
            literal_hits.push_if(is_open, *item);
        }
    }

    /// Answers what is still open, by trying the few candidates of a prefilter or by an automaton.
    #[inline(always)]
    fn answer_open(&mut self, probe: impl Kernels) {
        for index in 0..self.memory.literal_hits.items().len() {
            let item = self.memory.literal_hits.items()[index];
            let outcome = self.try_or_walk(item, true, probe);
            self.answer(item, outcome);
            // Its prefixes have been tried as well.
            self.memory.prefix_levels[item.answer as usize] = 0;
        }
        for index in 0..self.memory.prefix_hits.items().len() {
            let item = self.memory.prefix_hits.items()[index];
            if self.memory.prefix_levels[item.answer as usize] != 0 {
                let outcome = self.try_or_walk(item, false, probe);
                self.answer(item, outcome);
            }
        }
        for index in 0..self.memory.unfiltered.items().len() {
            let item = self.memory.unfiltered.items()[index];
            let outcome = self.walk(item);
            self.answer(item, outcome);
        }
    }

    /// Answers the questions whose rule sets are not stored.
    fn decide_on_demand<E>(
        &mut self,
        build: &mut impl FnMut(usize) -> Result<RuleSetBuf, E>,
    ) -> Result<(), E> {
        let Block { table, paths, .. } = *self;
        for index in 0..self.memory.on_demand.len() {
            let item = self.memory.on_demand[index];
            let (entry, path) = (self.entry(item), paths[item.question as usize]);
            let caches = &mut self.memory.caches;
            let build = || build(entry);
            let outcome = caches.decide_on_demand(entry, path, table.settings, build)?;
            self.answer(item, Some(outcome));
        }
        Ok(())
    }

    /// Returns the outcome of a path that the probes left open; `None` as for [`Block::walk`].
    #[inline(always)]
    fn try_or_walk(
        &mut self,
        item: WorkItem,
        literals: bool,
        probe: impl Kernels,
    ) -> Option<Outcome> {
        let Block { table, paths, memory, .. } = self;
        let (path, answer) = (paths[item.question as usize], item.answer as usize);
        let found = Found { prefix_levels: memory.prefix_levels[answer], literals };
        let entries_max = table.settings.limits.candidates_tried_max.unwrap_or(0);
        let mut left = entries_max;
        let rules = rules_at(table.lines, memory.starts[answer]);
        let tried =
            rules.and_then(|rules| strategy::candidates(rules, path, found, &mut left, probe));
        memory.counts.entries += (entries_max - left) as u64;
        memory.counts.candidates += u64::from(tried.is_some());
        tried.or_else(|| self.walk(item))
    }

    /// Returns the outcome of a path by an automaton; `None` if there is no rule set any more, because
    /// the lines changed after they were checked.
    #[inline(never)]
    fn walk(&mut self, item: WorkItem) -> Option<Outcome> {
        let Block { table, paths, memory, .. } = self;
        let (path, start) = (paths[item.question as usize], memory.starts[item.answer as usize]);
        memory.counts.automata += 1;
        let rules = rules_at(table.lines, start)?;
        Some(memory.caches.ask_automaton(start.number, rules, path, &table.settings.limits))
    }

    /// Copies the answers that repeat others.
    fn finish(&mut self) {
        let BlockMemory { repeats, decisions, sources, .. } = &mut *self.memory;
        for Repeat { answer, of } in repeats.drain(..) {
            decisions[answer as usize] = decisions[of as usize];
            sources[answer as usize] = sources[of as usize];
        }
    }

    #[inline(always)]
    fn entry(&self, item: WorkItem) -> usize {
        let columns = self.table.columns;
        let (question, answer) = (item.question as usize, item.answer as usize);
        self.policies[question] as usize * columns + (answer - question * columns)
    }

    /// Stores an answer. Without an outcome it is unknown: no rule set was asked.
    #[inline(always)]
    fn answer(&mut self, item: WorkItem, outcome: Option<Outcome>) {
        let of_outcome = |it| (without_rule(it), Source::of(self.entry(item), it));
        let answer = item.answer as usize;
        (self.memory.decisions[answer], self.memory.sources[answer]) =
            outcome.map_or((Decision::UNKNOWN, Source::NOWHERE), of_outcome);
    }
}

/// Returns the rule set of a start.
#[inline(always)]
fn rules_at(lines: &[Line], start: Start) -> Option<RuleSet<'_>> {
    RuleSet::view(lines.get(start.line as usize..)?)
}

/// The first stage of a block.
#[derive(Clone, Copy)]
struct FirstStage<'b> {
    table: Table<'b>,
    /// By question.
    policies: &'b [u32],
    /// By question.
    paths: &'b [&'b [u8]],
}

impl<'b> FirstStage<'b> {
    /// Loads the starts, and prefetches the first lines of each prefilter. These loads are
    /// independent, so the processor overlaps them.
    #[inline(always)]
    fn find_starts(self, memory: &mut BlockMemory) {
        let FirstStage { table, policies, .. } = self;
        let prefetch = Prefetch { table };
        match table.columns {
            1 => {
                // Neighbours in a grouped list share a policy, and those of others nearly never do.
                let (mut last, mut start) = (NO_POLICY, Start::NOWHERE);
                memory.starts.extend(policies.iter().map(|&policy| {
                    if policy != last {
                        (last, start) = (policy, prefetch.start(policy));
                    }
                    start
                }));
            }
            _ => policies
                .iter()
                .for_each(|&policy| prefetch.append_starts(policy, &mut memory.starts)),
        }
    }

    /// Answers all questions for one agent, eight by eight.
    #[inline(always)]
    fn answer_by_eights(self, memory: &mut BlockMemory, probe: impl Kernels) {
        let mut start = 0;
        while let Some(paths) = self.paths[start..].first_chunk() {
            self.answer_eight(start, paths, memory, probe);
            start += EIGHT;
        }
        (start..self.paths.len()).for_each(|question| self.answer(question, memory));
    }

    #[inline(always)]
    fn answer_eight(
        self,
        first: usize,
        paths: &[&[u8]; EIGHT],
        memory: &mut BlockMemory,
        probe: impl Kernels,
    ) {
        let FirstStage { table, policies, .. } = self;
        let starts = Start::words(&memory.starts[first..]).first_chunk().expect("one for each");
        let (found, otherwise) = probe.probe_eight(table.lines, starts, paths);
        let policies = &policies[first..][..EIGHT];
        let decisions = &mut memory.decisions[first..][..EIGHT];
        let sources = &mut memory.sources[first..][..EIGHT];
        let mut known = 0;
        for place in 0..EIGHT {
            // Lists have URLs with and without a policy at random, so there is no branch for them.
            let (policy, outcome) = (policies[place], otherwise[place]);
            let is_known = policy < NO_URL;
            known |= u8::from(is_known) << place;
            let without_policy = INVALID + policy.wrapping_sub(NO_URL) as usize;
            let decision = if is_known { place_of(outcome) } else { without_policy };
            decisions[place] = WITHOUT_RULE[decision];
            let entry = if is_known { policy } else { NO_POLICY };
            sources[place] = Source::of(entry as usize, outcome);
        }
        note(first, found.among(known), memory, |question, memory| self.answer(question, memory));
    }

    /// Answers one question, for all agents.
    #[inline(always)]
    fn answer(self, question: usize, memory: &mut BlockMemory) {
        let FirstStage { table, policies, .. } = self;
        let agents = table.columns;
        let decision = match policies[question] {
            NO_POLICY => Decision::UNKNOWN,
            NO_URL => Decision::INVALID,
            policy => {
                for agent in 0..agents {
                    let answer = question * agents + agent;
                    let prefilter = memory.starts[answer].line as usize;
                    match self.first_answer(policy as usize * agents + agent, prefilter) {
                        Some(first) => self.probe(question, answer, first, memory),
                        None => self.answer_unfiltered(question, answer, memory),
                    }
                }
                return;
            }
        };
        let answers = question * agents..(question + 1) * agents;
        memory.decisions[answers.clone()].fill(decision);
        memory.sources[answers].fill(Source::NOWHERE);
    }

    #[inline(always)]
    fn probe(
        self,
        question: usize,
        answer: usize,
        first: FirstAnswer<'_>,
        memory: &mut BlockMemory,
    ) {
        let path = self.paths[question];
        let FirstAnswer { first, decision, source } = first;
        match first.probe_prefixes(path) {
            Some(probe_prefixes) => {
                let item = WorkItem { question: question as u32, answer: answer as u32 };
                memory.prefix_probes.push_if(probe_prefixes, item);
                memory.literal_probes.push_if(first.has_literals, item);
                (memory.decisions[answer], memory.sources[answer]) = (decision, source);
            }
            None => self.answer_unfiltered(question, answer, memory),
        }
    }

    fn answer_unfiltered(self, question: usize, answer: usize, memory: &mut BlockMemory) {
        // An unanswered question is unknown; it never keeps an answer of the previous block.
        let mut decision = Decision::UNKNOWN;
        let Start { line, number } = memory.starts[answer];
        match line {
            Start::FIXED => {
                memory.counts.constant += 1;
                decision = Fixed(number).decision();
            }
            Start::SHARED => {
                let of = (question * self.table.columns) as u32 + number;
                memory.repeats.push(Repeat { answer: answer as u32, of });
            }
            Start::ON_DEMAND => {
                memory
                    .on_demand
                    .push(WorkItem { question: question as u32, answer: answer as u32 });
            }
            _ => {
                let item = WorkItem { question: question as u32, answer: answer as u32 };
                memory.unfiltered.push_if(true, item);
            }
        }
        (memory.decisions[answer], memory.sources[answer]) = (decision, Source::NOWHERE);
    }

    /// Returns the first probe of an entry, or `None` if it has no prefilter.
    #[inline(always)]
    fn first_answer(self, entry: usize, line: usize) -> Option<FirstAnswer<'b>> {
        self.table.settings.limits.candidates_tried_max?;
        let first = FirstProbe::of(self.table.lines, line)?;
        let (decision, source) =
            (without_rule(first.otherwise), Source::of(entry, first.otherwise));
        Some(FirstAnswer { first, decision, source })
    }
}

/// The first probe of a prefilter, and the answer if it finds nothing.
#[derive(Clone, Copy)]
struct FirstAnswer<'t> {
    first: FirstProbe<'t>,
    decision: Decision,
    source: Source,
}

/// Lists what the first probes of eight questions found, and answers those that were not probed.
#[inline(always)]
fn note(
    first: usize,
    found: FirstProbes,
    memory: &mut BlockMemory,
    answer_alone: impl Fn(usize, &mut BlockMemory),
) {
    let FirstProbes { mut undecided, probe_prefixes, has_literals } = found;
    memory.prefix_probes.push_of_eight(probe_prefixes & !undecided, first);
    memory.literal_probes.push_of_eight(has_literals & !undecided, first);
    while undecided != 0 {
        answer_alone(first + undecided.trailing_zeros() as usize, memory);
        undecided &= undecided - 1;
    }
}

/// Loads starts and prefetches the first lines of their prefilters.
struct Prefetch<'t> {
    table: Table<'t>,
}

impl Prefetch<'_> {
    /// Returns the start of a policy's answer, if there is one agent.
    #[inline(always)]
    fn start(&self, policy: u32) -> Start {
        self.fetched(self.table.starts.of(policy as usize))
    }

    /// Appends the starts of a policy's answers, by agent.
    #[inline(always)]
    fn append_starts(&self, policy: u32, starts: &mut Vec<Start>) {
        let columns = self.table.columns;
        match policy {
            NO_POLICY | NO_URL => {
                starts.extend(std::iter::repeat_n(Start::NOWHERE, columns));
            }
            _ => {
                let entries = policy as usize * columns..(policy as usize + 1) * columns;
                starts.extend(entries.map(|entry| self.fetched(self.table.starts.of(entry))));
            }
        }
    }

    #[inline(always)]
    fn fetched(&self, start: Start) -> Start {
        // The last line if there is no prefilter: a branch would be mispredicted.
        let last = self.table.lines.len().saturating_sub(1);
        for number in [0, 1, 2] {
            let line = (start.line as usize + number).min(last);
            if let Some(line) = self.table.lines.get(line) {
                prefetch(&line.as_bytes()[0]);
            }
        }
        start
    }
}
