//! A breadth-first search through several automata at once: what rule sets decide together, over
//! all paths that URLs can have.
//!
//! The first path found is a shortest one. The states after a path, with a mark for what may follow
//! it, are a *place*, and each place is visited once.

use std::array;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::Bound;
use super::language::{FREE, Language, Mark};
use super::machine::{Machine, State};

/// The cost of a place, in positions.
const PLACE_WORK: u64 = 8;

/// A search through `N` machines.
#[derive(Debug)]
pub struct Product<'l, const N: usize> {
    machines: [Machine; N],
    language: &'l Language,
    /// The places that were reached, in order: for each the number of its parent, and the byte that leads
    /// here from there.
    met: IndexMap<Place<N>, (u32, u8), RandomState>,
}

/// The states after a path, and a mark for what may follow.
type Place<const N: usize> = ([State; N], Mark);

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
        Product { machines, language, met: IndexMap::default() }
    }

    /// Returns the work so far: the positions that the machines read, and a charge per state and place.
    pub(super) fn work(&self) -> u64 {
        let places = self.met.len() as u64 * PLACE_WORK;
        places + self.machines.iter().map(Machine::work).sum::<u64>()
    }

    /// Returns whether each machine allows the path that led to `states`.
    pub fn allow(&self, states: [State; N]) -> [bool; N] {
        array::from_fn(|side| self.machines[side].allows_at_end(states[side]))
    }

    /// Returns for each machine whether no longer path changes its result.
    pub fn are_settled(&self, states: [State; N]) -> [bool; N] {
        array::from_fn(|side| self.machines[side].is_settled(states[side]))
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
    /// If the work, in positions, exceeded `work_max`.
    pub fn run(
        &mut self,
        work_max: u64,
        mut visit: impl FnMut(&Product<'l, N>, usize, [State; N]) -> Visit,
    ) -> Result<(), Bound> {
        let start = array::from_fn(|side| self.machines[side].walk(b"/"));
        self.met.entry((start, FREE)).or_insert((u32::MAX, b'/'));
        let mut moves: Vec<(u8, Mark)> = Vec::new();
        let mut index = 0;
        while let Some((&(states, mark), _)) = self.met.get_index(index) {
            match visit(self, index, states) {
                Visit::Stop => return Ok(()),
                Visit::Skip => {}
                Visit::Follow if self.work() > work_max => return Err(Bound(work_max)),
                Visit::Follow => {
                    let sides = self.machines.iter().zip(states);
                    let named = sides.flat_map(|(machine, state)| machine.named(state));
                    self.language.moves(mark, named, &mut moves);
                    for &(byte, mark) in &moves {
                        let next =
                            array::from_fn(|side| self.machines[side].step(states[side], byte));
                        self.met.entry((next, mark)).or_insert((index as u32, byte));
                    }
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Finds a shortest path, as it is compared, on which the machines give each of the `wanted` verdicts,
    /// or ends when it has so many as are `enough`. The error is for those that it did not find before the
    /// work exceeded `work_max`.
    ///
    /// A place is not followed if no rule of interest is left, or if each missing verdict differs from one
    /// that no longer path changes.
    pub(super) fn find<const W: usize>(
        &mut self,
        wanted: [[bool; N]; W],
        enough: usize,
        work_max: u64,
    ) -> [Result<Option<Vec<u8>>, Bound>; W] {
        let mut found: [Option<Vec<u8>>; W] = [const { None }; W];
        let ended = self.run(work_max, |product, place, states| {
            let (allow, are_settled) = (product.allow(states), product.are_settled(states));
            let may_become = |wanted: &[bool; N]| {
                (0..N).all(|side| !are_settled[side] || allow[side] == wanted[side])
            };
            let mut may_follow = false;
            for (found, wanted) in found.iter_mut().zip(&wanted) {
                if found.is_none() && allow == *wanted {
                    *found = Some(product.path(place));
                }
                may_follow |= found.is_none() && may_become(wanted);
            }
            if found.iter().flatten().count() >= enough {
                return Visit::Stop;
            }
            let is_left = || (0..N).any(|side| product.machines[side].counts(states[side]));
            if may_follow && is_left() { Visit::Follow } else { Visit::Skip }
        });
        found.map(|path| if path.is_some() { Ok(path) } else { ended.map(|()| None) })
    }

    /// Returns the path of the place at `index`.
    fn path(&self, index: usize) -> Vec<u8> {
        let met = |index: usize| Some(*self.met.get_index(index)?.1);
        let all = std::iter::successors(met(index), |&(parent, _)| met(parent as usize));
        let mut path: Vec<u8> = all.map(|(_, byte)| byte).collect();
        path.reverse();
        path
    }
}
