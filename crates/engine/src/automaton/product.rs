//! A search through several automata at once: what rule sets decide together, over all paths.

use std::collections::HashSet;

use super::{Machine, State};

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
}

impl Product {
    /// Returns a search through `machines`.
    pub fn new(machines: Vec<Machine>) -> Product {
        Product { machines }
    }

    /// Returns the states of the machines after all of `path`.
    pub fn walk(&mut self, path: &[u8]) -> Vec<State> {
        self.machines.iter_mut().map(|machine| machine.walk(path)).collect()
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
        let start = self.walk(b"/");
        let mut seen = HashSet::from([start.clone()]);
        let mut rest = vec![start];
        let mut bytes = Vec::new();
        while let Some(states) = rest.pop() {
            match visit(self, &states) {
                Next::Stop => return Some(()),
                Next::Skip => continue,
                Next::Follow => {}
            }
            self.next_bytes(&states, &mut bytes);
            for &byte in &bytes {
                let step = |(machine, &state): (&mut Machine, &State)| machine.step(state, byte);
                let next: Vec<State> = self.machines.iter_mut().zip(&states).map(step).collect();
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    rest.push(next);
                }
            }
            let work: u64 = self.machines.iter().map(Machine::work).sum();
            let pairs = seen.len() as u64 * (self.machines.len() as u64 - 1);
            if work + pairs > work_max {
                return None;
            }
        }
        Some(())
    }

    /// Writes the bytes that some machine asks for, and one that stands for all others.
    fn next_bytes(&self, states: &[State], bytes: &mut Vec<u8>) {
        bytes.clear();
        for (machine, &state) in self.machines.iter().zip(states) {
            bytes.extend(machine.named(state));
        }
        bytes.sort_unstable();
        bytes.dedup();
        bytes.extend((0..=u8::MAX).find(|byte| bytes.binary_search(byte).is_err()));
    }
}
