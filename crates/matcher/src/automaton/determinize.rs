//! The subset construction: sets of NFA positions become nodes of a [`Program`], one at a time.
//!
//! An unbuilt arc is kept as an [`Edge`], the step that leads to its target, until a walk takes it.
//!
//! A set without a live star belongs to the trie: the bytes read so far determine it, so no other
//! path leads there and it is not looked up. Sets with a live star are kept in a table, which
//! closes the loops.

use std::ops::Range;

use hashbrown::HashMap;
use zerocopy::little_endian::U32;

use super::Outcome;
use super::nfa::{Nfa, Position, PositionSet};
use super::program::{Program, RUN_BYTES_MAX, Slot, Target};

/// The work of a node besides the positions read, in positions.
const NODE_WORK: u64 = 8;

/// An arc that may be unbuilt: its slot, and the step to the set of its target.
#[derive(Clone, Debug)]
struct Edge {
    slot: Slot,
    best: Outcome,
    looping: Range<u32>,
    advancing: Range<u32>,
}

/// A growing program and the state of its construction.
#[derive(Clone, Debug)]
pub(super) struct Determinizer {
    program: Program,
    start: Target,
    /// Ascending by slot, because nodes are only appended.
    edges: Vec<Edge>,
    /// The positions that edges refer to.
    lists: Vec<Position>,
    /// The nodes of sets with a live star.
    known: HashMap<PositionSet, Target, foldhash::fast::RandomState>,
    /// Positions held in `known`.
    known_positions: usize,
    cost: BuildCost,
    scratch: Scratch,
}

/// What building has cost since [`Determinizer::take_cost`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BuildCost {
    /// NFA positions read, and a charge per node.
    pub positions: u64,
    pub nodes: u64,
}

/// Memory that steps reuse.
#[derive(Clone, Debug, Default)]
struct Scratch {
    next: PositionSet,
    split: Split,
    bytes: Vec<u8>,
    keys: Vec<u64>,
}

/// The positions of a set, divided by what the next byte can do.
#[derive(Clone, Debug, Default)]
struct Split {
    /// Positions after a star: any byte stays.
    looping: Vec<Position>,
    /// Other positions that can advance.
    moving: Vec<Position>,
    /// Whether an anchored pattern ends here.
    anchored_end: bool,
}

impl Split {
    fn fill(&mut self, nfa: &Nfa, positions: &[Position]) {
        self.looping.clear();
        self.moving.clear();
        self.anchored_end = false;
        for &position in positions {
            if nfa.loops(position) {
                self.looping.push(position);
            } else if nfa.is_anchored_end(position) {
                self.anchored_end = true;
            } else {
                self.moving.push(position);
            }
        }
    }

    /// Returns the byte on which all moving positions and no looping one advance; `None` if there
    /// is no such byte.
    fn single_byte(&self, nfa: &Nfa) -> Option<u8> {
        let byte = nfa.byte(*self.moving.first()?);
        let all_move = self.moving.iter().all(|&position| nfa.byte(position) == byte);
        let any_loops = || self.looping.iter().any(|&position| nfa.byte(position) == byte);
        (all_move && !any_loops()).then_some(byte?)
    }
}

impl Determinizer {
    /// Builds the start node of `nfa`.
    pub(super) fn new(nfa: &Nfa) -> Determinizer {
        let mut new = Determinizer {
            program: Program::default(),
            start: Target::UNBUILT,
            edges: Vec::new(),
            lists: Vec::new(),
            known: HashMap::default(),
            known_positions: 0,
            cost: BuildCost::default(),
            scratch: Scratch { next: nfa.start(), ..Scratch::default() },
        };
        new.start = new.target_of_next(nfa);
        new
    }

    pub(super) fn start(&self) -> Target {
        self.start
    }

    pub(super) fn words(&self) -> &[U32] {
        self.program.words()
    }

    /// Returns the cost since the last call.
    pub(super) fn take_cost(&mut self) -> BuildCost {
        std::mem::take(&mut self.cost)
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.program.memory_bytes()
            + self.edges.capacity() * size_of::<Edge>()
            + self.lists.capacity() * size_of::<Position>()
            + self.known_positions * size_of::<Position>()
            + self.known.allocation_size()
    }

    /// Builds the arc at which a walk stopped, and returns its target.
    pub(super) fn build_slot(&mut self, nfa: &Nfa, slot: Slot) -> Target {
        let index = self.edges.partition_point(|edge| edge.slot < slot);
        let edge = self.edges[index].clone();
        debug_assert_eq!(edge.slot, slot);
        let looping = list(&self.lists, &edge.looping);
        let advancing = list(&self.lists, &edge.advancing);
        nfa.step(edge.best, looping, advancing, &mut self.scratch.next);
        self.cost.positions += (looping.len() + advancing.len()) as u64;
        let target = self.target_of_next(nfa);
        self.program.set(slot, target);
        target
    }

    /// Returns the target of the set in `scratch.next`: an outcome, a known node or a new one.
    fn target_of_next(&mut self, nfa: &Nfa) -> Target {
        let next = &self.scratch.next;
        if next.positions.is_empty() {
            return Target::outcome(next.best);
        }
        self.scratch.split.fill(nfa, &next.positions);
        self.cost.positions += next.positions.len() as u64;
        let settled = nfa.is_settled(next).then_some(next.best);
        let marked = |node: Target| settled.map_or(node, |best| node.settled(best));
        if self.scratch.split.looping.is_empty() {
            return marked(self.push_node(nfa));
        }
        if let Some(&target) = self.known.get(next) {
            return target;
        }
        let set = next.clone();
        let target = marked(self.push_node(nfa));
        self.known_positions += set.positions.len();
        self.known.insert(set, target);
        target
    }

    /// Appends the node of the set in `scratch.next`, divided in `scratch.split`.
    fn push_node(&mut self, nfa: &Nfa) -> Target {
        self.cost.nodes += 1;
        self.cost.positions += NODE_WORK;
        let best = self.scratch.next.best;
        let at_end = nfa.outcome_at_end(&self.scratch.next);
        let looping = push_list(&mut self.lists, &self.scratch.split.looping);
        let split = &self.scratch.split;
        let miss = if split.looping.is_empty() {
            Target::outcome(best)
        } else if split.moving.is_empty() && !split.anchored_end {
            Target::STAY
        } else {
            Target::UNBUILT
        };
        let node = match self.scratch.split.single_byte(nfa) {
            Some(byte) => self.push_run(nfa, byte, at_end, miss, &looping),
            None => self.push_branch(nfa, at_end, miss, &looping),
        };
        debug_assert!(self.edges.is_sorted_by_key(|edge| edge.slot));
        node
    }

    fn push_miss_edge(&mut self, node: Target, miss: Target, looping: &Range<u32>) {
        if miss == Target::UNBUILT {
            let best = self.scratch.next.best;
            let slot = self.program.miss_slot(node);
            self.edges.push(Edge { slot, best, looping: looping.clone(), advancing: 0..0 });
        }
    }

    /// Appends a run: it starts with `byte` and continues while all moving positions advance on the
    /// same byte and nothing else changes.
    fn push_run(
        &mut self,
        nfa: &Nfa,
        byte: u8,
        at_end: Outcome,
        miss: Target,
        looping: &Range<u32>,
    ) -> Target {
        let Scratch { next, split, bytes, .. } = &mut self.scratch;
        bytes.clear();
        bytes.push(byte);
        if !split.anchored_end {
            let mut stops = [false; 256];
            let looping = split.looping.iter().filter_map(|&position| nfa.byte(position));
            looping.for_each(|byte| stops[usize::from(byte)] = true);
            nfa.extend_run(&split.moving, &stops, RUN_BYTES_MAX, bytes);
            let passed = (bytes.len() - 1) as Position;
            split.moving.iter_mut().for_each(|position| *position += passed);
        }
        self.cost.positions += (split.moving.len() * bytes.len()) as u64;
        let node = self.program.push_run(bytes, at_end, miss);
        let best = next.best;
        self.push_miss_edge(node, miss, looping);
        let advancing = push_list(&mut self.lists, &self.scratch.split.moving);
        let slot = self.program.run_slot(node);
        self.edges.push(Edge { slot, best, looping: looping.clone(), advancing });
        node
    }

    /// Appends a branch: it names the bytes on which moving positions advance; in a star's own
    /// state, where a miss stays, also those on which looping positions advance.
    fn push_branch(
        &mut self,
        nfa: &Nfa,
        at_end: Outcome,
        miss: Target,
        looping: &Range<u32>,
    ) -> Target {
        let Scratch { split, bytes, keys, .. } = &mut self.scratch;
        let key =
            |position| nfa.byte(position).map(|byte| u64::from(byte) << 32 | u64::from(position));
        keys.clear();
        keys.extend(split.moving.iter().filter_map(|&position| key(position)));
        if miss == Target::STAY {
            keys.extend(split.looping.iter().filter_map(|&position| key(position)));
        } else {
            let mut named = [false; 256];
            keys.iter().for_each(|key| named[(key >> 32) as usize] = true);
            let looping = split.looping.iter().filter_map(|&position| key(position));
            keys.extend(looping.filter(|key| named[(key >> 32) as usize]));
        }
        keys.sort_unstable();
        bytes.clear();
        bytes.extend(keys.iter().map(|key| (key >> 32) as u8));
        bytes.dedup();
        let node = self.program.push_branch(bytes, at_end, miss);
        self.push_miss_edge(node, miss, looping);
        let best = self.scratch.next.best;
        for (group, index) in
            self.scratch.keys.chunk_by(|one, other| one >> 32 == other >> 32).zip(0..)
        {
            let start = self.lists.len() as u32;
            self.lists.extend(group.iter().map(|&key| key as u32));
            let advancing = start..self.lists.len() as u32;
            let slot = self.program.branch_slot(node, index);
            self.edges.push(Edge { slot, best, looping: looping.clone(), advancing });
        }
        node
    }
}

fn list<'l>(lists: &'l [Position], range: &Range<u32>) -> &'l [Position] {
    &lists[range.start as usize..range.end as usize]
}

fn push_list(lists: &mut Vec<Position>, positions: &[Position]) -> Range<u32> {
    let start = lists.len() as u32;
    lists.extend_from_slice(positions);
    start..lists.len() as u32
}
