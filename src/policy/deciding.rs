//! Questions to answers: what one thread does with a [`PolicyTable`].
//!
//! A question is a policy and a path. It is answered at once if one decision holds for every path; by
//! a look at a sieve, which is how most are; or by a walk. A block's questions take these steps together,
//! so that their memory accesses wait for one another less.

use std::hint::black_box;

use crate::automaton::{Cache, Outcome, StoredAutomaton, sift, try_candidates};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::RobotsTxtUrl;

use super::RuleAnswer;
use super::table::{FileRule, PolicyTable, Provenance, Start, WalkStart};

/// A thread's memory for decisions of one [`PolicyTable`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    starts: Vec<Start>,
    /// Of automata that are built on demand, as far as one has been asked.
    caches: Vec<Cache>,
    /// Of the block, what has to be walked.
    walks: Vec<Walk>,
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

/// A walk that has to be made.
#[derive(Clone, Copy, Debug)]
struct Walk {
    question: u32,
    /// The place of the answer.
    answer: u32,
    entry: u32,
    rule_set: u32,
}

/// An answer that repeats one before it.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    answer: u32,
    of: u32,
}

/// What is answered if no rule matches, or one whose place is not asked for.
const NO_RULE: Decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
const ALLOWED: Decision = Decision::without_rule(Verdict::Allow, Reason::Rule);
const DISALLOWED: Decision = Decision::without_rule(Verdict::Disallow, Reason::Rule);

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
        self.decide_block(&[policy as u32], |_| path, memory)
    }

    /// As [`PolicyTable::decide`], for a block of paths, question by question. `path` tells the path
    /// of a question by its number. Policies may be [`PolicyTable::NO_POLICY`] and
    /// [`PolicyTable::NO_URL`].
    ///
    /// Some dozen questions at once cost less for each than one.
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
        let answers = policies.len() * self.agents.len();
        // Whatever is not answered is unknown, and never what the block before had in its place.
        memory.decisions.clear();
        memory.decisions.resize(answers, Decision::UNKNOWN);
        memory.sources.clear();
        memory.sources.resize(answers, Source::NOWHERE);
        self.find_starts(policies, memory);
        self.touch_sieves(memory);
        self.ask(policies, &path, memory);
        self.touch_automata(memory);
        self.walk_all(&path, memory);
        for Repeat { answer, of } in memory.repeats.drain(..) {
            memory.decisions[answer as usize] = memory.decisions[of as usize];
            memory.sources[answer as usize] = memory.sources[of as usize];
        }
        &memory.decisions
    }

    /// Fetches where answers begin.
    #[inline]
    fn find_starts(&self, policies: &[u32], memory: &mut Memory) {
        memory.starts.clear();
        if self.agents.len() == 1 {
            let start = |&policy: &u32| match policy {
                PolicyTable::NO_POLICY | PolicyTable::NO_URL => Start::NOWHERE,
                _ => self.starts[policy as usize],
            };
            memory.starts.extend(policies.iter().map(start));
            return;
        }
        let agents = self.agents.len();
        for &policy in policies {
            match policy {
                PolicyTable::NO_POLICY | PolicyTable::NO_URL => {
                    memory.starts.extend(std::iter::repeat_n(Start::NOWHERE, agents));
                }
                _ => {
                    let starts = &self.starts[policy as usize * agents..][..agents];
                    memory.starts.extend_from_slice(starts);
                }
            }
        }
    }

    /// Looks at the first lines of each sieve that will be asked. These accesses do not depend on one
    /// another, so the processor waits for many at once.
    #[inline]
    fn touch_sieves(&self, memory: &Memory) {
        let mut seen = 0;
        let lines = self.sieve_lines();
        for start in &memory.starts {
            let lines = lines.get(start.sieve as usize..).unwrap_or_default();
            seen ^= lines.first().map_or(0, |line| line[0].get());
            seen ^= lines.get(1).map_or(0, |line| line[0].get());
        }
        black_box(seen);
    }

    /// Answers questions as far as this can be done without a walk.
    #[inline]
    fn ask<'p>(&self, policies: &[u32], path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        let agents = self.agents.len().max(1);
        let is_exempt = self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        let Memory { decisions, sources, starts, walks, repeats, .. } = memory;
        let answers = decisions.chunks_exact_mut(agents).zip(sources.chunks_exact_mut(agents));
        let answers = answers.zip(starts.chunks_exact(agents));
        let questions = policies.iter().enumerate().zip(answers);
        for ((question, &policy), ((decisions, sources), starts)) in questions {
            let mut answer_all = |decision| {
                decisions.fill(decision);
                sources.fill(Source::NOWHERE);
            };
            match policy {
                PolicyTable::NO_POLICY => answer_all(Decision::UNKNOWN),
                PolicyTable::NO_URL => answer_all(Decision::INVALID),
                _ => {
                    let path = path(question);
                    if is_exempt && path == b"/robots.txt" {
                        answer_all(Decision::ROBOTS_TXT);
                        continue;
                    }
                    let answers = decisions.iter_mut().zip(sources).zip(starts).enumerate();
                    for (agent, ((decision, source), start)) in answers {
                        let (first, entry) = (question * agents, policy as usize * agents + agent);
                        if let Some(outcome) = self.sift(*start, path) {
                            (*decision, *source) = self.decision(entry, outcome);
                            continue;
                        }
                        let (answer, number) = ((first + agent) as u32, start.number);
                        match start.sieve {
                            Start::FIXED => {
                                *decision = self.fixed[number as usize];
                                *source = Source::NOWHERE;
                            }
                            Start::SHARED => {
                                repeats.push(Repeat { answer, of: first as u32 + number });
                            }
                            _ => {
                                let (question, entry) = (question as u32, entry as u32);
                                walks.push(Walk { question, answer, entry, rule_set: number });
                            }
                        }
                    }
                }
            }
        }
    }

    /// What a rule set's sieve can tell of a path.
    #[inline]
    fn sift(&self, start: Start, path: &[u8]) -> Option<Outcome> {
        sift(self.sieve_lines(), start.sieve as usize, path)
    }

    /// As [`PolicyTable::touch_sieves`], for the first node of each automaton that will be walked.
    #[inline]
    fn touch_automata(&self, memory: &Memory) {
        let mut seen = 0;
        for walk in &memory.walks {
            let WalkStart { place, word, .. } = self.walk_starts[walk.rule_set as usize];
            seen ^= match place {
                WalkStart::ON_DEMAND => memory.caches.get(word as usize).map_or(0, Cache::touch),
                _ => self.arena.get(place as usize).map_or(0, |word| word.get()),
            };
        }
        black_box(seen);
    }

    /// Makes the walks.
    #[inline]
    fn walk_all<'p>(&self, path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        for index in 0..memory.walks.len() {
            let Walk { question, answer, entry, rule_set } = memory.walks[index];
            let (start, path) = (self.walk_starts[rule_set as usize], path(question as usize));
            let sieve = memory.starts[answer as usize].sieve as usize;
            let outcome = self.try_candidates(start, sieve, path, memory);
            let outcome = outcome.unwrap_or_else(|| self.walk(start, path, memory));
            let (decision, source) = self.decision(entry as usize, outcome);
            memory.decisions[answer as usize] = decision;
            memory.sources[answer as usize] = source;
        }
        memory.walks.clear();
    }

    /// The outcome without a walk, while a rule set has not been asked often and few of its patterns are
    /// candidates.
    #[inline]
    fn try_candidates(
        &self,
        start: WalkStart,
        sieve: usize,
        path: &[u8],
        memory: &mut Memory,
    ) -> Option<Outcome> {
        if start.place != WalkStart::ON_DEMAND {
            return None;
        }
        let number = start.word as usize;
        let automaton = self.on_demand[number].automaton();
        let patterns = self.cache(number, memory).before_states(automaton)?;
        try_candidates(self.sieve_lines(), sieve, patterns, path)
    }

    #[inline]
    fn walk(&self, start: WalkStart, path: &[u8], memory: &mut Memory) -> Outcome {
        if start.place == WalkStart::ON_DEMAND {
            return self.walk_on_demand(start.word as usize, path, memory);
        }
        let words = &self.arena[start.place as usize..];
        let (word, consumed) = match (start.is_after_slash, path.first()) {
            (true, Some(b'/')) => (start.word, 1),
            (true, _) => (WalkStart::FIRST_NODE, 0),
            (false, _) => (start.word, 0),
        };
        let automaton = StoredAutomaton { start: word, words };
        let outcome = automaton.decide_rest(path, consumed, self.detail);
        outcome.expect("what was built here is whole")
    }

    #[inline]
    fn walk_on_demand(&self, number: usize, path: &[u8], memory: &mut Memory) -> Outcome {
        let automaton = self.on_demand[number].automaton();
        automaton.decide(path, self.detail, self.cache(number, memory))
    }

    #[inline]
    fn cache<'m>(&self, number: usize, memory: &'m mut Memory) -> &'m mut Cache {
        if number >= memory.caches.len() {
            memory.caches.resize_with(self.on_demand.len(), Cache::default);
        }
        &mut memory.caches[number]
    }

    /// What an outcome means to an agent and a file, and where it comes from.
    #[inline]
    fn decision(&self, entry: usize, outcome: Outcome) -> (Decision, Source) {
        let by_group = Source { entry: entry as u32, pattern: Source::NONE };
        let Some(RuleAnswer { verdict, pattern }) = RuleAnswer::of(outcome, self.detail) else {
            return (NO_RULE, by_group);
        };
        match pattern {
            None if verdict == Verdict::Allow => (ALLOWED, by_group),
            None => (DISALLOWED, by_group),
            Some(pattern) => {
                let FileRule { rule, line, .. } = self.file_rule(entry, pattern);
                let (rule, line) = (Some(rule), Some(line));
                let decision = Decision { verdict, reason: Reason::Rule, rule, line };
                (decision, Source { pattern, ..by_group })
            }
        }
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
        self.caches.iter().map(Cache::memory_octets).sum()
    }
}

#[cfg(test)]
mod tests;
