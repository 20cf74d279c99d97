//! The steps of a block of questions.

use crate::policy::deciding::Start;
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_matcher::automaton::{
    Found, Outcome, Probe, probe_literals, probe_prefixes, try_candidates,
};
use portcullis_matcher::vectors::{Kind, Work};

use super::agenda::Item;
use super::first_step::{EIGHT, FirstStep};
use super::{BlockMemory, Policies, Repeat, Source};

/// Neighbours that have the same policy, at the mean, where it pays to take them as runs: what is read of a
/// prefilter is read once, but the processor guesses where each run ends.
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
pub struct Block<'b, P: Policies> {
    table: &'b P,
    /// By question.
    policies: &'b [u32],
    /// By question too.
    paths: &'b [&'b [u8]],
    /// Where answers are put.
    memory: &'b mut BlockMemory,
}

impl<'b, P: Policies> Block<'b, P> {
    /// A question for each policy and path; answers are put into `memory`.
    ///
    /// # Panics
    ///
    /// If there are not as many paths as policies.
    pub fn new(
        table: &'b P,
        policies: &'b [u32],
        paths: &'b [&'b [u8]],
        memory: &'b mut BlockMemory,
    ) -> Block<'b, P> {
        assert_eq!(policies.len(), paths.len(), "a path for each policy");
        Block { table, policies, paths, memory }
    }
}

impl<P: Policies> Work for Block<'_, P> {
    type Output = Result<(), P::Failure>;

    #[inline(always)]
    fn with(mut self, probe: impl Kind) -> Result<(), P::Failure> {
        self.make_room();
        self.look(probe);
        self.look_closer(probe);
        self.answer_open(probe)?;
        let BlockMemory { repeats, decisions, sources, .. } = self.memory;
        for Repeat { answer, of } in repeats.drain(..) {
            decisions[answer as usize] = decisions[of as usize];
            sources[answer as usize] = sources[of as usize];
        }
        Ok(())
    }
}

impl<P: Policies> Block<'_, P> {
    #[inline(always)]
    fn make_room(&mut self) {
        let answers = self.policies.len() * self.table.agents();
        let memory = &mut *self.memory;
        memory.ways.questions += answers as u64;
        // First looks put something in the place of each.
        memory.decisions.resize(answers, Decision::UNKNOWN);
        memory.sources.resize(answers, Source::NOWHERE);
        memory.prefix_levels.clear();
        memory.prefix_levels.resize(answers, 0);
        let BlockMemory { beginnings, literals, begun, standing, unfiltered, .. } = memory;
        let agendas = [beginnings, literals, begun, standing, unfiltered];
        agendas.into_iter().for_each(|agenda| agenda.clear(answers + EIGHT));
    }

    /// Answers each question as its prefilter's first look does, or with the decision that always holds, and
    /// notes what else has to be looked at.
    #[inline(always)]
    fn look(&mut self, probe: impl Probe) {
        let Block { table, policies, paths, memory } = self;
        let first = FirstStep { table: *table, policies, paths };
        memory.starts.clear();
        let ends = policies.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if table.agents() != 1 {
            first.find_starts(memory);
            (0..policies.len()).for_each(|question| first.answer(question, memory));
        } else if ends * RUN_QUESTIONS_MIN > policies.len() {
            first.find_starts(memory);
            first.answer_by_eights(memory, probe);
        } else {
            first.find_starts_of_runs(memory);
            first.answer_by_runs(memory, probe);
        }
    }

    /// Makes the looks that first looks asked for, and notes what they leave open.
    #[inline(always)]
    fn look_closer(&mut self, probe: impl Probe) {
        let Block { table, paths, memory, .. } = self;
        let lines = table.lines();
        let BlockMemory { starts, beginnings, literals, prefix_levels, begun, standing, .. } =
            memory;
        let prefilter_of = |item: &Item| starts[item.answer as usize].prefilter as usize;
        for item in beginnings.items() {
            let levels =
                probe_prefixes(lines, prefilter_of(item), paths[item.question as usize], probe);
            prefix_levels[item.answer as usize] = levels;
            begun.push_if(levels != 0, *item);
        }
        for item in literals.items() {
            let is_open =
                probe_literals(lines, prefilter_of(item), paths[item.question as usize], probe);
            standing.push_if(is_open, *item);
        }
    }

    /// Answers what is open, by trying the few patterns that a prefilter names or by an automaton.
    #[inline(always)]
    fn answer_open(&mut self, probe: impl Probe) -> Result<(), P::Failure> {
        for index in 0..self.memory.standing.items().len() {
            let item = self.memory.standing.items()[index];
            let outcome = self.try_or_walk(item, true, probe)?;
            self.answer(item, outcome);
            // The path may begin with a prefix as well, and that has been minded.
            self.memory.prefix_levels[item.answer as usize] = 0;
        }
        for index in 0..self.memory.begun.items().len() {
            let item = self.memory.begun.items()[index];
            if self.memory.prefix_levels[item.answer as usize] != 0 {
                let outcome = self.try_or_walk(item, false, probe)?;
                self.answer(item, outcome);
            }
        }
        for index in 0..self.memory.unfiltered.items().len() {
            let item = self.memory.unfiltered.items()[index];
            let outcome = self.walk(item)?;
            self.answer(item, outcome);
        }
        Ok(())
    }

    /// The outcome of a path that a prefilter's looks left open: in which literals may stand, or that only may
    /// begin with a prefix.
    #[inline(always)]
    fn try_or_walk(
        &mut self,
        item: Item,
        literals: bool,
        probe: impl Probe,
    ) -> Result<Outcome, P::Failure> {
        let Block { table, paths, memory, .. } = self;
        let path = paths[item.question as usize];
        let answer = item.answer as usize;
        let Start { prefilter, number } = memory.starts[answer];
        let found = Found { prefix_levels: memory.prefix_levels[answer], literals };
        let entries_max = table.candidates_tried_max();
        let mut left = entries_max;
        let how = (&mut left, probe);
        let patterns = table.patterns(number);
        let tried = try_candidates((table.lines(), prefilter as usize), patterns, path, found, how);
        memory.ways.entries += (entries_max - left) as u64;
        memory.ways.candidates += u64::from(tried.is_some());
        tried.map_or_else(|| self.walk(item), Ok)
    }

    fn walk(&mut self, item: Item) -> Result<Outcome, P::Failure> {
        let rule_set = self.memory.starts[item.answer as usize].number;
        let path = self.paths[item.question as usize];
        self.memory.ways.automata += 1;
        self.table.walk(self.entry(item), rule_set, path, &mut self.memory.automata)
    }

    #[inline(always)]
    fn entry(&self, item: Item) -> usize {
        let agents = self.table.agents();
        let (question, answer) = (item.question as usize, item.answer as usize);
        self.policies[question] as usize * agents + (answer - question * agents)
    }

    #[inline(always)]
    fn answer(&mut self, item: Item, outcome: Outcome) {
        let source = Source::of(self.entry(item), outcome);
        let answer = item.answer as usize;
        self.memory.decisions[answer] = without_place(outcome);
        self.memory.sources[answer] = source;
    }
}
