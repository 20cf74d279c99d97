//! Memory that is looked at ahead, so that the processor waits for much of it at once.

use std::hint::black_box;

use crate::policy::deciding::{NO_POLICY, NO_URL, Start};
use portcullis_matcher::automaton::PrefilterLine;

use super::Policies;

/// Fetches where answers begin, and looks at the first lines of the prefilters there.
pub(super) struct Touch<'t, P> {
    table: &'t P,
    lines: &'t [PrefilterLine],
    /// What was seen. That it is kept makes the looks be made.
    seen: u64,
}

impl<'t, P: Policies> Touch<'t, P> {
    #[inline(always)]
    pub(super) fn of(table: &'t P) -> Touch<'t, P> {
        Touch { table, lines: table.lines(), seen: 0 }
    }

    /// Where the answer of a policy begins if there is one agent.
    #[inline(always)]
    pub(super) fn start(&mut self, policy: u32) -> Start {
        match policy {
            NO_POLICY | NO_URL => Start::NOWHERE,
            _ => self.touched(self.table.start(policy as usize)),
        }
    }

    /// Appends where the answers of a policy begin, by agent.
    #[inline(always)]
    pub(super) fn append_starts(&mut self, policy: u32, starts: &mut Vec<Start>) {
        let agents = self.table.agents();
        match policy {
            NO_POLICY | NO_URL => {
                starts.extend(std::iter::repeat_n(Start::NOWHERE, agents));
            }
            _ => {
                let entries = policy as usize * agents..(policy as usize + 1) * agents;
                starts.extend(entries.map(|entry| self.touched(self.table.start(entry))));
            }
        }
    }

    #[inline(always)]
    fn touched(&mut self, start: Start) -> Start {
        let line = |number: usize| {
            self.lines.get(start.prefilter as usize + number).map_or(0, |line| line[0].get())
        };
        self.seen ^= line(0) ^ line(1);
        start
    }
}

impl<P> Drop for Touch<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        black_box(self.seen);
    }
}
