//! The steps of a block of questions.

use crate::automaton::{
    Cache, Found, Looks, Outcome, StoredAutomaton, may_begin, may_stand, try_candidates,
};
use crate::decision::{Decision, Reason, Verdict};
use crate::policy::Detail;
use crate::policy::table::{FileRule, PolicyTable, Start, WalkStart};
use crate::vectors::{Kind, Work};

use super::agenda::Item;
use super::first_step::{EIGHT, FirstStep};
use super::tries::Tries;
use super::{Memory, Repeat, Source};

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

/// What an outcome means, without the rule.
#[inline(always)]
pub(super) fn without_place(outcome: Outcome) -> Decision {
    // By a table, because which it is cannot be guessed.
    WITHOUT_PLACE[usize::from(outcome != Outcome::NONE) + usize::from(outcome.allows())]
}

/// Questions that are answered together.
pub(super) struct Block<'b> {
    pub(super) table: &'b PolicyTable,
    /// By question.
    pub(super) policies: &'b [u32],
    /// By question too.
    pub(super) paths: &'b [&'b [u8]],
    /// Where answers are put.
    pub(super) memory: &'b mut Memory,
}

impl Work for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn with(mut self, looks: impl Kind) {
        self.make_room();
        self.look(looks);
        self.look_closer(looks);
        self.answer_open(looks);
        let Memory { repeats, decisions, sources, .. } = self.memory;
        for Repeat { answer, of } in repeats.drain(..) {
            decisions[answer as usize] = decisions[of as usize];
            sources[answer as usize] = sources[of as usize];
        }
    }
}

impl Block<'_> {
    #[inline(always)]
    fn make_room(&mut self) {
        let answers = self.policies.len() * self.table.agents.len();
        let memory = &mut *self.memory;
        // First looks put something in the place of each.
        memory.decisions.resize(answers, Decision::UNKNOWN);
        memory.sources.resize(answers, Source::NOWHERE);
        memory.prefix_levels.clear();
        memory.prefix_levels.resize(answers, 0);
        let Memory { beginnings, stretches, begun, standing, unsieved, .. } = memory;
        let agendas = [beginnings, stretches, begun, standing, unsieved];
        agendas.into_iter().for_each(|agenda| agenda.clear(answers + EIGHT));
    }

    /// Answers each question as its sieve's first look does, or with the decision that always holds, and
    /// notes what else has to be looked at.
    #[inline(always)]
    fn look(&mut self, looks: impl Looks) {
        let Block { table, policies, paths, memory } = self;
        let first = FirstStep { table, policies, paths };
        memory.starts.clear();
        let ends = policies.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if table.agents.len() != 1 {
            first.find_starts(memory);
            (0..policies.len()).for_each(|question| first.answer(question, memory));
        } else if ends * RUN_QUESTIONS_MIN > policies.len() {
            first.find_starts(memory);
            first.answer_by_eights(memory, looks);
        } else {
            first.find_starts_of_runs(memory);
            first.answer_by_runs(memory, looks);
        }
    }

    /// Makes the looks that first looks asked for, and notes what they leave open.
    #[inline(always)]
    fn look_closer(&mut self, looks: impl Looks) {
        let Block { table, paths, memory, .. } = self;
        let lines = table.sieve_lines();
        let Memory { starts, beginnings, stretches, prefix_levels, begun, standing, .. } = memory;
        let sieve_of = |item: &Item| starts[item.answer as usize].sieve as usize;
        for item in beginnings.items() {
            let levels = may_begin(lines, sieve_of(item), paths[item.question as usize], looks);
            prefix_levels[item.answer as usize] = levels;
            begun.push_if(levels != 0, *item);
        }
        for item in stretches.items() {
            let is_open = may_stand(lines, sieve_of(item), paths[item.question as usize], looks);
            standing.push_if(is_open, *item);
        }
    }

    /// Answers what is open, by trying the few patterns that a sieve names or by a walk.
    #[inline(always)]
    fn answer_open(&mut self, looks: impl Looks) {
        for index in 0..self.memory.standing.items().len() {
            let item = self.memory.standing.items()[index];
            let outcome = self.try_or_walk(item, true, looks);
            self.answer(item, outcome);
            // The path may begin with a prefix as well, and that has been minded.
            self.memory.prefix_levels[item.answer as usize] = 0;
        }
        for index in 0..self.memory.begun.items().len() {
            let item = self.memory.begun.items()[index];
            if self.memory.prefix_levels[item.answer as usize] != 0 {
                let outcome = self.try_or_walk(item, false, looks);
                self.answer(item, outcome);
            }
        }
        for index in 0..self.memory.unsieved.items().len() {
            let item = self.memory.unsieved.items()[index];
            let rule_set = self.memory.starts[item.answer as usize].number as usize;
            let path = self.paths[item.question as usize];
            let outcome = self.table.walk(rule_set, path, &mut self.memory.caches);
            self.answer(item, outcome);
        }
    }

    /// The outcome of a path that a sieve's looks left open: in which stretches may stand, or that only may
    /// begin with a prefix.
    #[inline(always)]
    fn try_or_walk(&mut self, item: Item, stretches: bool, looks: impl Looks) -> Outcome {
        let Block { table, paths, memory, .. } = self;
        let path = paths[item.question as usize];
        let answer = item.answer as usize;
        let Start { sieve, number } = memory.starts[answer];
        let found = Found { prefix_levels: memory.prefix_levels[answer], stretches };
        memory.tries.resize(table.walk_starts.len(), Tries::default());
        let tries = &mut memory.tries[number as usize];
        let left_max = if tries.are_few() { table.candidates_tried_max } else { 0 };
        let mut left = left_max;
        let how = (&mut left, looks);
        let tried = try_candidates(table.sieve_lines(), sieve as usize, path, found, how);
        tries.add(left_max - left);
        tried.unwrap_or_else(|| table.walk(number as usize, path, &mut memory.caches))
    }

    #[inline(always)]
    fn answer(&mut self, item: Item, outcome: Outcome) {
        let agents = self.table.agents.len();
        let (question, answer) = (item.question as usize, item.answer as usize);
        let entry = self.policies[question] as usize * agents + (answer - question * agents);
        let memory = &mut *self.memory;
        (memory.decisions[answer], memory.sources[answer]) = self.table.decision(entry, outcome);
    }
}

impl PolicyTable {
    /// What an outcome means to an agent and a file, and where it comes from.
    #[inline(always)]
    pub(super) fn decision(&self, entry: usize, outcome: Outcome) -> (Decision, Source) {
        let mut decision = without_place(outcome);
        let mut source = Source { entry: entry as u32, pattern: Source::NONE };
        if self.detail == Detail::Rule && outcome != Outcome::NONE {
            source.pattern = outcome.number() - 1;
            let FileRule { rule, line, .. } = self.file_rule(entry, source.pattern);
            (decision.rule, decision.line) = (Some(rule), Some(line));
        }
        (decision, source)
    }

    /// The outcome of a path by the automaton of a rule set.
    fn walk(&self, rule_set: usize, path: &[u8], caches: &mut Vec<Cache>) -> Outcome {
        let start = self.walk_starts[rule_set];
        if start.place == WalkStart::ON_DEMAND {
            let number = start.word as usize;
            if number >= caches.len() {
                caches.resize_with(self.on_demand.len(), Cache::default);
            }
            let automaton = self.on_demand[number].automaton();
            return automaton.decide(path, self.detail, &mut caches[number]);
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
}
