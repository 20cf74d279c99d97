//! A breadth-first search through several automata at once: what rule sets decide together, over
//! all paths that URLs can have.
//!
//! The first path found is a shortest one. The states after a path, with a mark for what may follow
//! it, are a *place*, and each place is visited once.

use std::array;

use hashbrown::HashSet;

use super::language::{FREE, Language, Mark, PATH_BYTES_MAX};
use super::machine::{Machine, State};
use super::{AnalysisLimits, Bound};

/// A search through `N` machines.
#[derive(Debug)]
pub struct Product<'l, const N: usize> {
    machines: [Machine; N],
    language: &'l Language,
    /// The places that were reached, in order, each once.
    met: Vec<Met<N>>,
    known: HashSet<Place<N>, foldhash::fast::RandomState>,
}

/// The states after a path, and a mark for what may follow.
type Place<const N: usize> = ([State; N], Mark);

#[derive(Debug)]
struct Met<const N: usize> {
    place: Place<N>,
    parent: u32,
    /// The byte that leads here from the parent.
    byte: u8,
    /// The number of bytes of the path after its slash.
    depth: u32,
}

/// How a search continues after a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The search ends.
    Stop,
    /// The search does not continue from this place.
    Skip,
    /// The search continues with longer paths.
    Follow,
}

impl<'l, const N: usize> Product<'l, N> {
    /// Returns a search through `machines`, which read the paths of `language`.
    pub fn new(machines: [Machine; N], language: &'l Language) -> Product<'l, N> {
        Product { machines, language, met: Vec::new(), known: HashSet::default() }
    }

    /// Returns the number of positions that the machines read.
    pub(super) fn work(&self) -> u64 {
        self.machines.iter().map(Machine::work).sum()
    }

    /// Returns the number of places that were reached.
    pub(super) fn places(&self) -> usize {
        self.met.len()
    }

    /// Returns whether each machine allows the path that led to `states`.
    pub fn allow(&self, states: [State; N]) -> [bool; N] {
        array::from_fn(|side| self.machines[side].allows_at_end(states[side]))
    }

    /// Returns for each machine whether no longer path changes its result.
    pub fn are_settled(&self, states: [State; N]) -> [bool; N] {
        array::from_fn(|side| self.machines[side].is_settled(states[side]))
    }

    /// Returns whether a rule of interest has matched, or may match, in some machine.
    pub(super) fn counts(&self, states: [State; N]) -> bool {
        (0..N).any(|side| self.machines[side].counts(states[side]))
    }

    /// Returns the states after all of `path`; `None` if the machines have read more positions than
    /// `positions_max` by then.
    pub fn walk(&mut self, path: &[u8], positions_max: u64) -> Option<[State; N]> {
        let mut states = array::from_fn(|side| self.machines[side].walk(b""));
        for &byte in path {
            if self.work() > positions_max {
                return None;
            }
            states = array::from_fn(|side| self.machines[side].step(states[side], byte));
        }
        Some(states)
    }

    /// Visits the places of all paths, the shortest first: with the number of the place and the states
    /// there.
    ///
    /// # Errors
    ///
    /// The limit that ended the search early.
    pub fn run(
        &mut self,
        limits: &AnalysisLimits,
        mut visit: impl FnMut(&Product<'l, N>, usize, [State; N]) -> Visit,
    ) -> Result<(), Bound> {
        let start = array::from_fn(|side| self.machines[side].walk(b"/"));
        self.add((start, FREE), u32::MAX, 0, 0);
        let mut moves: Vec<(u8, Mark)> = Vec::new();
        let mut ended = Ok(());
        let mut index = 0;
        while let Some(&Met { place: (states, mark), depth, .. }) = self.met.get(index) {
            match visit(self, index, states) {
                Visit::Stop => return Ok(()),
                Visit::Skip => {}
                Visit::Follow => {
                    limits.check(self.work(), self.met.len())?;
                    if depth as usize + 1 >= PATH_BYTES_MAX {
                        ended = Err(Bound::PathBytes);
                    } else {
                        let sides = self.machines.iter().zip(states);
                        let named = sides.flat_map(|(machine, state)| machine.named(state));
                        self.language.moves(mark, named, &mut moves);
                        for &(byte, mark) in &moves {
                            let next =
                                array::from_fn(|side| self.machines[side].step(states[side], byte));
                            self.add((next, mark), index as u32, byte, depth + 1);
                        }
                    }
                }
            }
            index += 1;
        }
        ended
    }

    fn add(&mut self, place: Place<N>, parent: u32, byte: u8, depth: u32) {
        if self.known.insert(place) {
            self.met.push(Met { place, parent, byte, depth });
        }
    }

    /// Returns the path of the place at `index`.
    pub(super) fn path(&self, index: usize) -> Vec<u8> {
        let mut path = Vec::new();
        let mut met = &self.met[index];
        while met.depth > 0 {
            path.push(met.byte);
            met = &self.met[met.parent as usize];
        }
        path.push(b'/');
        path.reverse();
        path
    }
}
