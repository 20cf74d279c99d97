//! A search through several automata at once: what rule sets decide together, over all paths that
//! URLs can have.

use std::collections::HashSet;

use super::language::{FREE, Language, Mark};
use super::machine::{Machine, State};

/// How a search continues from the states after a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The search ends.
    Stop,
    /// No longer path is of interest.
    Skip,
    /// The search continues with longer paths.
    Follow,
}

/// Machines that read the same path.
#[derive(Debug)]
pub struct Product {
    machines: Vec<Machine>,
    language: &'static Language,
}

impl Product {
    /// Returns a search through `machines`, which read the paths of `language`.
    pub fn new(machines: Vec<Machine>, language: &'static Language) -> Product {
        Product { machines, language }
    }

    /// Returns the states of the machines after all of `path`; `None` if the machines have done more
    /// [work](Machine::work) than `work_max` by then.
    pub fn walk(&mut self, path: &[u8], work_max: u64) -> Option<Vec<State>> {
        let mut states: Vec<State> = self.machines.iter_mut().map(|it| it.walk(b"")).collect();
        for &byte in path {
            if self.work() > work_max {
                return None;
            }
            for (machine, state) in self.machines.iter_mut().zip(&mut states) {
                *state = machine.step(*state, byte);
            }
        }
        Some(states)
    }

    fn work(&self) -> u64 {
        self.machines.iter().map(Machine::work).sum()
    }

    /// Returns whether `machine` allows the path that led to `states`.
    pub fn allows(&self, machine: usize, states: &[State]) -> bool {
        self.machines[machine].allows_at_end(states[machine])
    }

    /// Returns whether no longer path changes the result of `machine`.
    pub fn is_settled(&self, machine: usize, states: &[State]) -> bool {
        self.machines[machine].is_settled(states[machine])
    }

    /// Calls `visit` with the states after each path, equal states once. Returns `None` if that takes
    /// more [work](Machine::work) than `work_max`, with a charge for each state of two machines or
    /// more.
    pub fn explore(
        &mut self,
        work_max: u64,
        mut visit: impl FnMut(&Product, &[State]) -> Next,
    ) -> Option<()> {
        let start = (self.walk(b"/", work_max)?, FREE);
        let mut seen = HashSet::from([start.clone()]);
        let mut rest = vec![start];
        let mut moves: Vec<(u8, Mark)> = Vec::new();
        while let Some((states, mark)) = rest.pop() {
            match visit(self, &states) {
                Next::Stop => return Some(()),
                Next::Skip => continue,
                Next::Follow => {}
            }
            let named = self.machines.iter().zip(&states);
            let named = named.flat_map(|(machine, &state)| machine.named(state));
            self.language.moves(mark, named, &mut moves);
            for &(byte, mark) in &moves {
                let step = |(machine, &state): (&mut Machine, &State)| machine.step(state, byte);
                let next: Vec<State> = self.machines.iter_mut().zip(&states).map(step).collect();
                let next = (next, mark);
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    rest.push(next);
                }
            }
            let pairs = seen.len() as u64 * (self.machines.len() as u64 - 1);
            if self.work() + pairs > work_max {
                return None;
            }
        }
        Some(())
    }
}
