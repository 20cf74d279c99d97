//! The first step of a question.

use crate::automaton::FirstLook;
use crate::decision::Decision;
use crate::dialect::RobotsTxtUrl;
use crate::policy::table::{PolicyTable, Start};

use super::agenda::Item;
use super::{Memory, Repeat, Source};

/// What is known of a policy and an agent before a path is.
pub(super) struct Looker<'t> {
    table: &'t PolicyTable,
    agent: usize,
    start: Start,
    /// The first look, and what it means if it finds nothing.
    look: Option<(FirstLook<'t>, (Decision, Source))>,
    is_exempt: bool,
}

impl<'t> Looker<'t> {
    /// What looks at questions about this policy.
    #[inline(always)]
    pub(super) fn of(
        table: &'t PolicyTable,
        policy: u32,
        agent: usize,
        start: Start,
    ) -> Looker<'t> {
        let entry = policy as usize * table.agents.len() + agent;
        let look = FirstLook::of(table.sieve_lines(), start.sieve as usize);
        let look = look.map(|look| (look, table.decision(entry, look.otherwise)));
        let is_exempt = table.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        Looker { table, agent, start, look, is_exempt }
    }

    /// Answers a question as far as the first look does, and notes what else has to be looked at.
    #[inline(always)]
    pub(super) fn look(&self, question: usize, path: &[u8], memory: &mut Memory) {
        let agents = self.table.agents.len();
        let answer = question * agents + self.agent;
        let item = Item { question: question as u32, answer: answer as u32 };
        // Whatever is not answered is unknown, and never what the block before had in its place.
        let (mut decision, mut source) = (Decision::UNKNOWN, Source::NOWHERE);
        if self.is_exempt && path == b"/robots.txt" {
            decision = Decision::ROBOTS_TXT;
        } else if let Some((look, usual)) = &self.look
            && let Some(may_begin) = look.may_begin(path)
        {
            (decision, source) = *usual;
            memory.beginnings.push_if(may_begin, item);
            memory.stretches.push_if(look.has_stretches, item);
        } else {
            let Start { sieve, number } = self.start;
            match sieve {
                Start::FIXED => decision = self.table.fixed[number as usize],
                Start::SHARED => {
                    let of = (question * agents) as u32 + number;
                    memory.repeats.push(Repeat { answer: item.answer, of });
                }
                _ => memory.unsieved.push_if(true, item),
            }
        }
        (memory.decisions[answer], memory.sources[answer]) = (decision, source);
    }
}
