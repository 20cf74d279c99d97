//! The first step of questions: the decision that always holds, or what a prefilter's first look tells.

use std::ops::Range;

use crate::policy::deciding::{NO_POLICY, NO_URL, Start};
use portcullis_dialect::decision::Decision;
use portcullis_matcher::automaton::{FirstProbe, FirstProbes, Probe};

use super::agenda::Item;
use super::block::without_place;
use super::touch::Touch;
use super::{BlockMemory, Policies, Repeat, Source};

/// Questions that are looked at together.
pub(super) const EIGHT: usize = 8;

/// The questions of a block.
pub(super) struct FirstStep<'b, P> {
    pub(super) table: &'b P,
    /// By question.
    pub(super) policies: &'b [u32],
    /// By question too.
    pub(super) paths: &'b [&'b [u8]],
}

impl<P> Clone for FirstStep<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for FirstStep<'_, P> {}

impl<'b, P: Policies> FirstStep<'b, P> {
    /// Fetches where answers begin, and looks at the first lines of each prefilter that will be asked. These
    /// accesses do not depend on one another, so the processor waits for many at once.
    #[inline(always)]
    pub(super) fn find_starts(self, memory: &mut BlockMemory) {
        let FirstStep { table, policies, .. } = self;
        let mut touch = Touch::of(table);
        match table.agents() {
            1 => memory.starts.extend(policies.iter().map(|&policy| touch.start(policy))),
            _ => {
                policies.iter().for_each(|&policy| touch.append_starts(policy, &mut memory.starts))
            }
        }
    }

    /// The same for one agent where neighbours mostly have one policy, and notes where those end that do.
    #[inline(always)]
    pub(super) fn find_starts_of_runs(self, memory: &mut BlockMemory) {
        let mut touch = Touch::of(self.table);
        memory.run_ends.clear();
        for run in self.policies.chunk_by(|one, other| one == other) {
            let start = touch.start(run[0]);
            memory.starts.extend(std::iter::repeat_n(start, run.len()));
            memory.run_ends.push(memory.starts.len());
        }
    }

    /// Answers all questions for one agent, run by run.
    #[inline(always)]
    pub(super) fn answer_by_runs(self, memory: &mut BlockMemory, probe: impl Probe) {
        let mut start = 0;
        for run in 0..memory.run_ends.len() {
            let end = memory.run_ends[run];
            let entry = self.policies[start];
            let prefilter = memory.starts[start].prefilter as usize;
            match self.first_answer(entry as usize, prefilter) {
                Some(first) => self.answer_run(start..end, first, memory, probe),
                None => (start..end).for_each(|question| self.answer(question, memory)),
            }
            start = end;
        }
    }

    #[inline(always)]
    fn answer_run(
        self,
        questions: Range<usize>,
        first: FirstAnswer<'_>,
        memory: &mut BlockMemory,
        probe: impl Probe,
    ) {
        let FirstAnswer { look, decision, source } = first;
        let mut start = questions.start;
        let alone =
            |question, memory: &mut BlockMemory| self.look(question, question, first, memory);
        while let Some(paths) = self.paths[start..questions.end].first_chunk() {
            memory.decisions[start..][..EIGHT].fill(decision);
            memory.sources[start..][..EIGHT].fill(source);
            note(start, look.probe_eight(paths, probe), memory, alone);
            start += EIGHT;
        }
        (start..questions.end).for_each(|question| alone(question, memory));
    }

    /// Answers all questions for one agent, eight by eight.
    #[inline(always)]
    pub(super) fn answer_by_eights(self, memory: &mut BlockMemory, probe: impl Probe) {
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
        probe: impl Probe,
    ) {
        let FirstStep { table, policies, .. } = self;
        let starts = Start::words(&memory.starts[first..]).first_chunk().expect("one for each");
        let (found, otherwise) = probe.probe_eight(table.lines(), starts, paths);
        let policies = &policies[first..][..EIGHT];
        let decisions = &mut memory.decisions[first..][..EIGHT];
        let sources = &mut memory.sources[first..][..EIGHT];
        for place in 0..EIGHT {
            decisions[place] = without_place(otherwise[place]);
            sources[place] = Source::of(policies[place] as usize, otherwise[place]);
        }
        note(first, found, memory, |question, memory| self.answer(question, memory));
    }

    /// Answers one question, for all agents.
    #[inline(always)]
    pub(super) fn answer(self, question: usize, memory: &mut BlockMemory) {
        let FirstStep { table, policies, .. } = self;
        let agents = table.agents();
        let decision = match policies[question] {
            NO_POLICY => Decision::UNKNOWN,
            NO_URL => Decision::INVALID,
            policy => {
                for agent in 0..agents {
                    let answer = question * agents + agent;
                    let prefilter = memory.starts[answer].prefilter as usize;
                    match self.first_answer(policy as usize * agents + agent, prefilter) {
                        Some(first) => self.look(question, answer, first, memory),
                        None => self.answer_without_prefilter(question, answer, memory),
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
    fn look(
        self,
        question: usize,
        answer: usize,
        first: FirstAnswer<'_>,
        memory: &mut BlockMemory,
    ) {
        let path = self.paths[question];
        let FirstAnswer { look, decision, source } = first;
        match look.probe_prefixes(path) {
            Some(probe_prefixes) if !self.is_exempt(path) => {
                let item = Item { question: question as u32, answer: answer as u32 };
                memory.beginnings.push_if(probe_prefixes, item);
                memory.literals.push_if(look.has_literals, item);
                (memory.decisions[answer], memory.sources[answer]) = (decision, source);
            }
            _ => self.answer_without_prefilter(question, answer, memory),
        }
    }

    fn answer_without_prefilter(self, question: usize, answer: usize, memory: &mut BlockMemory) {
        let FirstStep { table, paths, .. } = self;
        // Whatever is not answered is unknown, and never what the block before had in its place.
        let mut decision = Decision::UNKNOWN;
        let Start { prefilter, number } = memory.starts[answer];
        match prefilter {
            _ if self.is_exempt(paths[question]) => decision = Decision::ROBOTS_TXT,
            Start::FIXED => {
                memory.ways.constant += 1;
                decision = table.fixed(number);
            }
            Start::SHARED => {
                let of = (question * table.agents()) as u32 + number;
                memory.repeats.push(Repeat { answer: answer as u32, of });
            }
            _ => {
                let item = Item { question: question as u32, answer: answer as u32 };
                memory.unfiltered.push_if(true, item);
            }
        }
        (memory.decisions[answer], memory.sources[answer]) = (decision, Source::NOWHERE);
    }

    /// The first answer of an entry whose prefilter stands at a place; nothing if there is none.
    #[inline(always)]
    fn first_answer(self, entry: usize, prefilter: usize) -> Option<FirstAnswer<'b>> {
        let look = FirstProbe::of(self.table.lines(), prefilter)?;
        let (decision, source) = (without_place(look.otherwise), Source::of(entry, look.otherwise));
        Some(FirstAnswer { look, decision, source })
    }

    /// Whether the dialect allows a path whatever the rules are.
    #[inline(always)]
    fn is_exempt(self, path: &[u8]) -> bool {
        self.table.allows_robots_txt() && path == b"/robots.txt"
    }
}

/// A prefilter's first look, and the answer if it finds nothing.
#[derive(Clone, Copy)]
pub(super) struct FirstAnswer<'t> {
    look: FirstProbe<'t>,
    decision: Decision,
    source: Source,
}

/// Notes what first looks at eight questions found, and has those answered that were not looked at.
#[inline(always)]
fn note(
    first: usize,
    found: FirstProbes,
    memory: &mut BlockMemory,
    answer_alone: impl Fn(usize, &mut BlockMemory),
) {
    let FirstProbes { mut odd, probe_prefixes, has_literals } = found;
    memory.beginnings.push_of_eight(probe_prefixes & !odd, first);
    memory.literals.push_of_eight(has_literals & !odd, first);
    while odd != 0 {
        answer_alone(first + odd.trailing_zeros() as usize, memory);
        odd &= odd - 1;
    }
}
