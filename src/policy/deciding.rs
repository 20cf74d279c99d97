//! Questions to answers: what one thread does with a [`PolicyTable`].
//!
//! A question is a policy and a path. It is answered at once if one decision holds for every path; by a
//! sieve's looks, which is how most are; by trying a few patterns; or by a walk. All questions of a block
//! take one step before any takes the next: their memory accesses wait for one another less, and a step
//! that some questions need and others do not is a list of those that do, which the processor need not
//! guess.

mod agenda;
mod looker;
mod tries;

use std::hint::black_box;
use std::ops::Range;

use crate::automaton::{
    Cache, FirstLook, Found, Outcome, SieveLine, StoredAutomaton, may_begin, may_stand,
    try_candidates,
};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::RobotsTxtUrl;

use agenda::{Agenda, Item};
use looker::Looker;
use tries::Tries;

use super::Detail;
use super::table::{FileRule, PolicyTable, Provenance, Start, WalkStart};

/// A thread's memory for decisions of one [`PolicyTable`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    starts: Vec<Start>,
    /// By rule set, as far as one has been asked.
    tries: Vec<Tries>,
    /// Of automata that are built on demand, as far as one has been asked.
    caches: Vec<Cache>,
    /// Of the block, what a sieve has to look for at the start of paths, and what anywhere in them.
    beginnings: Agenda,
    stretches: Agenda,
    /// By answer: at which lengths a path may begin with a prefix, as a sieve tells.
    prefix_levels: Vec<u8>,
    /// Answers whose paths may begin with a prefix, and those in which a stretch may stand.
    begun: Agenda,
    standing: Agenda,
    /// Answers of which no sieve knows anything.
    unsieved: Agenda,
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

/// An answer that repeats one before it.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    answer: u32,
    of: u32,
}

/// Neighbours that have the same policy, at the mean, where it pays to take them as runs: what is read of a
/// sieve is read once, but the processor guesses where each run ends.
const RUN_QUESTIONS_MIN: usize = 4;

/// What is answered before it is told which rule decides: if none does, one that disallows, and one that
/// allows.
static WITHOUT_PLACE: [Decision; 3] = [
    Decision::without_rule(Verdict::Allow, Reason::NoRule),
    Decision::without_rule(Verdict::Disallow, Reason::Rule),
    Decision::without_rule(Verdict::Allow, Reason::Rule),
];

/// Answers questions as far as there is no policy to ask; false if there is one.
#[inline(always)]
fn answer_without_policy(
    policy: u32,
    questions: Range<usize>,
    agents: usize,
    memory: &mut Memory,
) -> bool {
    let decision = match policy {
        PolicyTable::NO_POLICY => Decision::UNKNOWN,
        PolicyTable::NO_URL => Decision::INVALID,
        _ => return false,
    };
    memory.decisions[questions.start * agents..questions.end * agents].fill(decision);
    true
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
        memory.prefix_levels.clear();
        memory.prefix_levels.resize(answers, 0);
        let Memory { beginnings, stretches, begun, standing, unsieved, .. } = &mut *memory;
        let agendas = [beginnings, stretches, begun, standing, unsieved];
        agendas.into_iter().for_each(|agenda| agenda.clear(answers + 1));
        self.find_starts(policies, memory);
        self.look(policies, &path, memory);
        self.look_closer(&path, memory);
        self.answer_open(policies, &path, memory);
        for Repeat { answer, of } in memory.repeats.drain(..) {
            memory.decisions[answer as usize] = memory.decisions[of as usize];
            memory.sources[answer as usize] = memory.sources[of as usize];
        }
        &memory.decisions
    }

    /// Fetches where answers begin, and looks at the first lines of each sieve that will be asked. These
    /// accesses do not depend on one another, so the processor waits for many at once.
    #[inline]
    fn find_starts(&self, policies: &[u32], memory: &mut Memory) {
        let agents = self.agents.len();
        let lines: &[SieveLine] = self.sieve_lines();
        let mut seen = 0;
        let mut touch = |start: Start| {
            let line = |number: usize| {
                lines.get(start.sieve as usize + number).map_or(0, |line| line[0].get())
            };
            seen ^= line(0) ^ line(1);
            start
        };
        memory.starts.clear();
        if agents == 1 {
            let start = |&policy: &u32| match policy {
                PolicyTable::NO_POLICY | PolicyTable::NO_URL => Start::NOWHERE,
                _ => touch(self.starts[policy as usize]),
            };
            memory.starts.extend(policies.iter().map(start));
        } else {
            for &policy in policies {
                match policy {
                    PolicyTable::NO_POLICY | PolicyTable::NO_URL => {
                        memory.starts.extend(std::iter::repeat_n(Start::NOWHERE, agents));
                    }
                    _ => {
                        let starts = &self.starts[policy as usize * agents..][..agents];
                        memory.starts.extend(starts.iter().map(|&start| touch(start)));
                    }
                }
            }
        }
        black_box(seen);
    }

    /// Answers each question as its sieve's first look does, or with the decision that always holds, and
    /// notes what else has to be looked at.
    #[inline]
    fn look<'p>(&self, policies: &[u32], path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        let agents = self.agents.len();
        let ends = policies.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if ends * RUN_QUESTIONS_MIN > policies.len() {
            for (question, &policy) in policies.iter().enumerate() {
                if !answer_without_policy(policy, question..question + 1, agents, memory) {
                    for agent in 0..agents {
                        let start = memory.starts[question * agents + agent];
                        self.looker(policy, agent, start).look(question, path(question), memory);
                    }
                }
            }
            return;
        }
        let mut end = 0;
        for run in policies.chunk_by(|one, other| one == other) {
            let questions = end..end + run.len();
            end = questions.end;
            if !answer_without_policy(run[0], questions.clone(), agents, memory) {
                for agent in 0..agents {
                    let start = memory.starts[questions.start * agents + agent];
                    let looker = self.looker(run[0], agent, start);
                    questions.clone().for_each(|it| looker.look(it, path(it), memory));
                }
            }
        }
    }

    /// What looks at questions about this policy.
    #[inline(always)]
    fn looker(&self, policy: u32, agent: usize, start: Start) -> Looker<'_> {
        let entry = policy as usize * self.agents.len() + agent;
        let look = FirstLook::of(self.sieve_lines(), start.sieve as usize);
        let look = look.map(|look| (look, self.decision(entry, look.otherwise)));
        let is_exempt = self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        Looker { table: self, agent, start, look, is_exempt }
    }

    /// Makes the looks that first looks asked for, and notes what they leave open.
    #[inline]
    fn look_closer<'p>(&self, path: &impl Fn(usize) -> &'p [u8], memory: &mut Memory) {
        let lines = self.sieve_lines();
        let Memory { starts, beginnings, stretches, prefix_levels, begun, standing, .. } = memory;
        let sieve_of = |item: &Item| starts[item.answer as usize].sieve as usize;
        for item in beginnings.items() {
            let levels =
                may_begin(lines, sieve_of(item), path(item.question as usize), self.vectors);
            prefix_levels[item.answer as usize] = levels;
            begun.push_if(levels != 0, *item);
        }
        for item in stretches.items() {
            let is_open =
                may_stand(lines, sieve_of(item), path(item.question as usize), self.vectors);
            standing.push_if(is_open, *item);
        }
    }

    /// Answers what is open, by trying the few patterns that a sieve names or by a walk.
    #[inline]
    fn answer_open<'p>(
        &self,
        policies: &[u32],
        path: &impl Fn(usize) -> &'p [u8],
        memory: &mut Memory,
    ) {
        for index in 0..memory.standing.items().len() {
            let item = memory.standing.items()[index];
            let outcome = self.try_or_walk(item, true, path(item.question as usize), memory);
            self.answer(policies, item, outcome, memory);
            // The path may begin with a prefix as well, and that has been minded.
            memory.prefix_levels[item.answer as usize] = 0;
        }
        for index in 0..memory.begun.items().len() {
            let item = memory.begun.items()[index];
            if memory.prefix_levels[item.answer as usize] != 0 {
                let outcome = self.try_or_walk(item, false, path(item.question as usize), memory);
                self.answer(policies, item, outcome, memory);
            }
        }
        for index in 0..memory.unsieved.items().len() {
            let item = memory.unsieved.items()[index];
            let rule_set = memory.starts[item.answer as usize].number as usize;
            let outcome = self.walk(rule_set, path(item.question as usize), memory);
            self.answer(policies, item, outcome, memory);
        }
    }

    /// The outcome of a path that a sieve's looks left open: in which stretches may stand, or that only may
    /// begin with a prefix.
    #[inline]
    fn try_or_walk(
        &self,
        item: Item,
        stretches: bool,
        path: &[u8],
        memory: &mut Memory,
    ) -> Outcome {
        let answer = item.answer as usize;
        let Start { sieve, number } = memory.starts[answer];
        let found = Found { prefix_levels: memory.prefix_levels[answer], stretches };
        memory.tries.resize(self.walk_starts.len(), Tries::default());
        let tries = &mut memory.tries[number as usize];
        let left_max = if tries.are_few() { self.candidates_tried_max } else { 0 };
        let mut left = left_max;
        let how = (&mut left, self.vectors);
        let tried = try_candidates(self.sieve_lines(), sieve as usize, path, found, how);
        tries.add(left_max - left);
        tried.unwrap_or_else(|| self.walk(number as usize, path, memory))
    }

    #[inline]
    fn answer(&self, policies: &[u32], item: Item, outcome: Outcome, memory: &mut Memory) {
        let agents = self.agents.len();
        let (question, answer) = (item.question as usize, item.answer as usize);
        let entry = policies[question] as usize * agents + (answer - question * agents);
        (memory.decisions[answer], memory.sources[answer]) = self.decision(entry, outcome);
    }

    /// What an outcome means to an agent and a file, and where it comes from.
    #[inline]
    fn decision(&self, entry: usize, outcome: Outcome) -> (Decision, Source) {
        // By a table, because which it is cannot be guessed.
        let number = usize::from(outcome != Outcome::NONE) + usize::from(outcome.allows());
        let mut decision = WITHOUT_PLACE[number];
        let mut source = Source { entry: entry as u32, pattern: Source::NONE };
        if self.detail == Detail::Rule && outcome != Outcome::NONE {
            source.pattern = outcome.number() - 1;
            let FileRule { rule, line, .. } = self.file_rule(entry, source.pattern);
            (decision.rule, decision.line) = (Some(rule), Some(line));
        }
        (decision, source)
    }

    #[inline]
    fn walk(&self, rule_set: usize, path: &[u8], memory: &mut Memory) -> Outcome {
        let start = self.walk_starts[rule_set];
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
