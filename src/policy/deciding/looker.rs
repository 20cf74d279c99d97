//! The first step of a question.

use crate::automaton::FirstLook;
use crate::decision::Decision;
use crate::policy::table::{PolicyTable, Start};

use super::agenda::Item;
use super::{Memory, Repeat, Source};

/// What is known of a policy and an agent before a path is.
pub(super) struct Looker<'t> {
    pub(super) table: &'t PolicyTable,
    pub(super) agent: usize,
    pub(super) start: Start,
    /// The first look, and what it means if it finds nothing.
    pub(super) look: Option<(FirstLook<'t>, (Decision, Source))>,
    pub(super) is_exempt: bool,
}

impl Looker<'_> {
    /// Answers a question as far as the first look does, and notes what else has to be looked at.
    #[inline(always)]
    pub(super) fn look(&self, question: usize, path: &[u8], memory: &mut Memory) {
        let agents = self.table.agents.len();
        let answer = question * agents + self.agent;
        let item = Item { question: question as u32, answer: answer as u32 };
        if self.is_exempt && path == b"/robots.txt" {
            memory.decisions[answer] = Decision::ROBOTS_TXT;
            return;
        }
        if let Some((look, usual)) = &self.look
            && let Some(may_begin) = look.may_begin(path)
        {
            (memory.decisions[answer], memory.sources[answer]) = *usual;
            memory.beginnings.push_if(may_begin, item);
            memory.stretches.push_if(look.has_stretches, item);
            return;
        }
        let Start { sieve, number } = self.start;
        match sieve {
            Start::FIXED => memory.decisions[answer] = self.table.fixed[number as usize],
            Start::SHARED => {
                let of = (question * agents) as u32 + number;
                memory.repeats.push(Repeat { answer: item.answer, of });
            }
            _ => memory.unsieved.push_if(true, item),
        }
    }
}
