//! Questions to answers: what one thread does with a [`PolicyTable`].
//!
//! A question is a policy and a path. Those of a block are sorted by how they are answered: at once,
//! because one decision holds for every path; by walking among nodes; or, for rule sets that this
//! thread asks often, by walking along rows, several at a time.

use std::hint::black_box;

use crate::automaton::{Cache, Filled, Outcome, RowID, Rows, StoredAutomaton};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::RobotsTxtUrl;
use crate::limits::WALKS_BEFORE_ROWS;

use super::RuleAnswer;
use super::table::{FileRule, PolicyTable, Provenance, Start};

/// A thread's memory for decisions of one [`PolicyTable`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    /// Of automata that are built on demand, as far as one has been asked.
    caches: Vec<Cache>,
    rows: Rows,
    /// By rule set.
    standings: Vec<Standing>,
    /// Of the block, what is walked among nodes, and what along rows.
    walks: Vec<Walk>,
    row_walks: Vec<Walk>,
    /// Of the block, which answers are the same as another.
    repeats: Vec<Repeat>,
}

/// What a decision was made from.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Its entry, or [`Source::NONE`].
    entry: u32,
    /// Its pattern, or [`Source::NONE`].
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };
}

/// How a thread answers by one rule set.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// The row behind the first octet, [`RowID::UNKNOWN`] if no rows are kept.
    row: RowID,
    walks: u16,
}

const _: () = assert!(WALKS_BEFORE_ROWS < u16::MAX as u32, "walks are counted in sixteen bits");

impl Standing {
    /// Nor will there be any.
    const WITHOUT_ROWS: Standing = Standing { row: RowID::UNKNOWN, walks: u16::MAX };
}

/// A walk that has to be made.
#[derive(Clone, Copy, Debug)]
struct Walk {
    question: u32,
    /// The place of the answer.
    answer: u32,
    entry: u32,
    /// Where a walk along rows begins, then where it has ended.
    row: RowID,
}

/// An answer that repeats one before it.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    answer: u32,
    of: u32,
}

impl PolicyTable {
    /// A new thread's memory.
    pub fn memory(&self) -> Memory {
        Memory::default()
    }

    /// One decision for each agent on `path`, which is in normal form, by the policy at `policy`.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[inline]
    pub fn decide<'m>(&self, policy: usize, path: &[u8], memory: &'m mut Memory) -> &'m [Decision] {
        memory.begin(self.agents.len(), self.rule_sets);
        self.ask(0, policy, path, memory);
        // A walk by itself is as fast among nodes.
        let Memory { walks, row_walks, .. } = memory;
        walks.append(row_walks);
        self.finish(&|_| path, memory)
    }

    /// As [`PolicyTable::decide`], for a block of paths, question by question. `path` tells the path
    /// of a question by its number. Policies may be [`PolicyTable::NO_POLICY`] and
    /// [`PolicyTable::NO_URL`].
    ///
    /// Some dozen questions at once cost less for each than one: rule sets that are asked often are
    /// walked along rows of cells, which takes up to 16 MiB of `memory`.
    ///
    /// # Panics
    ///
    /// If there is no such policy, or `memory` is another table's.
    #[inline]
    pub fn decide_block<'p, 'm>(
        &self,
        policies: &[u32],
        path: impl Fn(usize) -> &'p [u8],
        memory: &'m mut Memory,
    ) -> &'m [Decision] {
        memory.begin(policies.len() * self.agents.len(), self.rule_sets);
        for (question, &policy) in policies.iter().enumerate() {
            match policy {
                PolicyTable::NO_POLICY => {}
                PolicyTable::NO_URL => self.answer_all(question, Decision::INVALID, memory),
                _ => self.ask(question, policy as usize, path(question), memory),
            }
        }
        self.walk_rows(&path, memory);
        self.finish(&path, memory)
    }

    /// Makes the walks that are left, and repeats answers.
    #[inline]
    fn finish<'p, 'm>(
        &self,
        path: &impl Fn(usize) -> &'p [u8],
        memory: &'m mut Memory,
    ) -> &'m [Decision] {
        self.walk_nodes(path, memory);
        for Repeat { answer, of } in memory.repeats.drain(..) {
            memory.decisions[answer as usize] = memory.decisions[of as usize];
            memory.sources[answer as usize] = memory.sources[of as usize];
        }
        &memory.decisions
    }

    /// Answers a question, or says which walks will.
    #[inline]
    fn ask(&self, question: usize, policy: usize, path: &[u8], memory: &mut Memory) {
        if self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == b"/robots.txt" {
            return self.answer_all(question, Decision::ROBOTS_TXT, memory);
        }
        let agents = self.agents.len();
        for agent in 0..agents {
            let (answer, entry) = (question * agents + agent, policy * agents + agent);
            let start = self.starts[entry];
            match start.place {
                Start::FIXED => memory.decisions[answer] = self.fixed[start.word as usize],
                Start::SHARED => {
                    let of = (question * agents) as u32 + start.word;
                    memory.repeats.push(Repeat { answer: answer as u32, of });
                }
                _ => {
                    let row = memory.standings[start.rule_set as usize].row;
                    let is_known = row != RowID::UNKNOWN && path.first() == Some(&b'/');
                    let (question, answer, entry) = (question as u32, answer as u32, entry as u32);
                    let walk = Walk { question, answer, entry, row };
                    let walks = if is_known { &mut memory.row_walks } else { &mut memory.walks };
                    walks.push(walk);
                }
            }
        }
    }

    fn answer_all(&self, question: usize, decision: Decision, memory: &mut Memory) {
        let agents = self.agents.len();
        memory.decisions[question * agents..][..agents].fill(decision);
    }

    /// Makes the walks along rows. What they cannot answer is left to be walked among nodes.
    #[inline]
    fn walk_rows<'p>(&self, path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        let Memory { rows, row_walks, .. } = memory;
        rows.walk_all(
            row_walks,
            |walk| (walk.row, path(walk.question as usize)),
            |walk, end| walk.row = end,
        );
        for index in 0..memory.row_walks.len() {
            let walk = memory.row_walks[index];
            let outcome = match memory.rows.outcome(walk.row) {
                Some(outcome) => Some(outcome),
                None => self.fill_rows(walk, path(walk.question as usize), memory),
            };
            match outcome {
                Some(outcome) => self.answer(walk, outcome, memory),
                None => memory.walks.push(walk),
            }
        }
    }

    /// Fills the cells that a path needs; the outcome, if that could be done.
    #[inline(never)]
    fn fill_rows(&self, walk: Walk, path: &[u8], memory: &mut Memory) -> Option<Outcome> {
        let start = self.starts[walk.entry as usize];
        let Memory { rows, standings, caches, .. } = memory;
        let standing = &mut standings[start.rule_set as usize];
        let words = self.automaton(start, caches)?.words;
        match rows.fill(start.rule_set, words, standing.row, path, self.detail) {
            Filled::Done(outcome) => return Some(outcome),
            Filled::Unbuilt => {}
            Filled::Full => *standing = Standing::WITHOUT_ROWS,
        }
        None
    }

    /// Makes the walks among nodes.
    #[inline]
    fn walk_nodes<'p>(&self, path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        self.touch(memory);
        for index in 0..memory.walks.len() {
            let walk = memory.walks[index];
            let start = self.starts[walk.entry as usize];
            let outcome = self.walk(start, path(walk.question as usize), memory);
            self.answer(walk, outcome, memory);
            self.count_walk(start, memory);
        }
    }

    /// Looks at the first node of each automaton that will be walked. These accesses do not depend on
    /// one another, so the processor waits for many at once; those of walks come one by one.
    #[inline]
    fn touch(&self, memory: &Memory) {
        let mut seen = 0;
        for walk in &memory.walks {
            let Start { place, word, .. } = self.starts[walk.entry as usize];
            seen ^= match place {
                Start::ON_DEMAND => memory.caches.get(word as usize).map_or(0, Cache::touch),
                _ => self.arena.get(place as usize).map_or(0, |word| word.get()),
            };
        }
        black_box(seen);
    }

    #[inline]
    fn walk(&self, start: Start, path: &[u8], memory: &mut Memory) -> Outcome {
        if start.place == Start::ON_DEMAND {
            return self.walk_on_demand(start.word as usize, path, memory);
        }
        let words = &self.arena[start.place as usize..];
        let (word, consumed) = match (start.is_after_slash, path.first()) {
            (true, Some(b'/')) => (start.word, 1),
            (true, _) => (Start::FIRST_NODE, 0),
            (false, _) => (start.word, 0),
        };
        let automaton = StoredAutomaton { start: word, words };
        let outcome = automaton.decide_rest(path, consumed, self.detail);
        outcome.expect("what was built here is whole")
    }

    #[inline]
    fn walk_on_demand(&self, number: usize, path: &[u8], memory: &mut Memory) -> Outcome {
        if number >= memory.caches.len() {
            memory.caches.resize_with(self.on_demand.len(), Cache::default);
        }
        let automaton = self.on_demand[number].automaton();
        automaton.decide(path, self.detail, &mut memory.caches[number])
    }

    /// Counts a walk, and begins rows for a rule set that is walked often.
    #[inline]
    fn count_walk(&self, start: Start, memory: &mut Memory) {
        let standing = &mut memory.standings[start.rule_set as usize];
        if u32::from(standing.walks) < WALKS_BEFORE_ROWS {
            standing.walks += 1;
        } else if standing.row == RowID::UNKNOWN && standing.walks != u16::MAX {
            self.begin_rows(start, memory);
        }
    }

    #[inline(never)]
    fn begin_rows(&self, start: Start, memory: &mut Memory) {
        let Memory { rows, standings, caches, .. } = memory;
        let Some(mut automaton) = self.automaton(start, caches) else { return };
        if start.is_after_slash {
            automaton.start = Start::FIRST_NODE;
        }
        standings[start.rule_set as usize] =
            match rows.start(start.rule_set, &automaton, self.detail) {
                Ok(row) => Standing { row, walks: WALKS_BEFORE_ROWS as u16 },
                Err(Filled::Full) => Standing::WITHOUT_ROWS,
                Err(_) => Standing::default(),
            };
    }

    /// What is built of a rule set.
    #[inline]
    fn automaton<'a>(&'a self, start: Start, caches: &'a [Cache]) -> Option<StoredAutomaton<'a>> {
        match start.place {
            Start::ON_DEMAND => caches.get(start.word as usize)?.stored(),
            place => {
                Some(StoredAutomaton { start: start.word, words: &self.arena[place as usize..] })
            }
        }
    }

    #[inline]
    fn answer(&self, walk: Walk, outcome: Outcome, memory: &mut Memory) {
        let (decision, source) = self.decision(outcome, walk.entry);
        memory.decisions[walk.answer as usize] = decision;
        memory.sources[walk.answer as usize] = source;
    }

    #[inline]
    fn decision(&self, outcome: Outcome, entry: u32) -> (Decision, Source) {
        let by_group = Source { entry, pattern: Source::NONE };
        let Some(RuleAnswer { verdict, pattern }) = RuleAnswer::of(outcome, self.detail) else {
            return (Decision::without_rule(Verdict::Allow, Reason::NoRule), by_group);
        };
        let Some(pattern) = pattern else {
            return (Decision::without_rule(verdict, Reason::Rule), by_group);
        };
        let FileRule { rule, line, .. } = self.file_rule(entry as usize, pattern);
        let decision =
            Decision { verdict, reason: Reason::Rule, rule: Some(rule), line: Some(line) };
        (decision, Source { pattern, ..by_group })
    }

    /// Where the decision for `agent` on the question with this number, of those that `memory` was
    /// used for last, comes from in the file of its policy.
    ///
    /// # Panics
    ///
    /// If there is no such question or agent, or `memory` is another table's.
    pub fn provenance(&self, question: usize, agent: usize, memory: &Memory) -> Provenance {
        let Source { entry, pattern } = memory.sources[question * self.agents.len() + agent];
        match (entry, pattern) {
            (Source::NONE, _) => Provenance::default(),
            (entry, Source::NONE) => {
                Provenance { rule: None, group: self.entries[entry as usize].group }
            }
            (entry, pattern) => {
                let FileRule { value, group, .. } = self.file_rule(entry as usize, pattern);
                Provenance { rule: Some(value), group: Some(group) }
            }
        }
    }
}

impl Memory {
    /// Octets that this holds for the rule sets that were asked; those for one block are not counted.
    pub fn memory_octets(&self) -> usize {
        self.caches.iter().map(Cache::memory_octets).sum::<usize>()
            + self.rows.memory_octets()
            + size_of_val(&*self.standings)
    }

    /// Ready for a block with so many answers, none of which is known, and for so many rule sets.
    #[inline]
    fn begin(&mut self, answers: usize, rule_sets: usize) {
        self.decisions.clear();
        self.decisions.resize(answers, Decision::UNKNOWN);
        self.sources.clear();
        self.sources.resize(answers, Source::NOWHERE);
        self.walks.clear();
        self.row_walks.clear();
        self.standings.resize(rule_sets, Standing::default());
    }
}

#[cfg(test)]
mod tests;
