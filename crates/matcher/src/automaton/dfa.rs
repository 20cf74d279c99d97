//! The lazy DFA: sets of NFA positions become nodes of a [`Program`] when a walk needs them.
//!
//! An unbuilt arc is kept as an [`Edge`], the step that leads to its target, until a walk takes it.
//!
//! A set without a live star belongs to the trie: the bytes read so far determine it, so no other
//! path leads there and it is not looked up. Sets with a live star are kept in a table, which
//! closes the loops.

use std::ops::Range;

use hashbrown::HashMap;

use crate::pattern::PatternList;

use super::nfa::{Nfa, Position, PositionSet};
use super::program::{Program, RUN_BYTES_MAX, Slot, Target, Walk, walk};
use super::{Detail, Outcome};

/// The work of a node in addition to the positions read, in positions.
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
pub(super) struct LazyDfa {
    nfa: Nfa,
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

/// The cost of building since [`LazyDfa::take_cost`].
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

impl LazyDfa {
    /// Builds the NFA and the start node.
    pub(super) fn new(patterns: &PatternList, outcomes: &[Outcome]) -> LazyDfa {
        let nfa = Nfa::new(patterns, outcomes);
        let mut new = LazyDfa {
            program: Program::default(),
            start: Target::UNBUILT,
            edges: Vec::new(),
            lists: Vec::new(),
            known: HashMap::default(),
            known_positions: 0,
            cost: BuildCost::default(),
            scratch: Scratch { next: nfa.start(), ..Scratch::default() },
            nfa,
        };
        new.start = new.target_of_next();
        new
    }

    /// Walks over `path` from the start.
    #[inline]
    pub(super) fn walk(&self, path: &[u8], detail: Detail) -> Walk {
        walk(self.program.words(), self.start, path, 0, detail)
    }

    /// Builds the arc at which a walk stopped, and continues the walk.
    pub(super) fn build_and_walk(
        &mut self,
        (slot, consumed): (Slot, usize),
        path: &[u8],
        detail: Detail,
    ) -> Walk {
        let target = self.build_slot(slot);
        walk(self.program.words(), target, path, consumed, detail)
    }

    /// Returns the cost since the last call.
    pub(super) fn take_cost(&mut self) -> BuildCost {
        std::mem::take(&mut self.cost)
    }

    /// Returns the memory held, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.nfa.memory_bytes() + self.states_bytes()
    }

    /// Returns the memory of what a walk can add, in bytes.
    pub(super) fn states_bytes(&self) -> usize {
        self.program.memory_bytes()
            + self.edges.capacity() * size_of::<Edge>()
            + self.lists.capacity() * size_of::<Position>()
            + self.known_positions * size_of::<Position>()
            + self.known.allocation_size()
    }

    /// Builds an arc and returns its target.
    fn build_slot(&mut self, slot: Slot) -> Target {
        let index = self.edges.partition_point(|edge| edge.slot < slot);
        let edge = self.edges[index].clone();
        debug_assert_eq!(edge.slot, slot);
        let looping = list(&self.lists, &edge.looping);
        let advancing = list(&self.lists, &edge.advancing);
        self.nfa.step(edge.best, looping, advancing, &mut self.scratch.next);
        self.cost.positions += (looping.len() + advancing.len()) as u64;
        let target = self.target_of_next();
        self.program.set(slot, target);
        target
    }

    /// Returns the target of the set in `scratch.next`: an outcome, a known node or a new one.
    fn target_of_next(&mut self) -> Target {
        let next = &self.scratch.next;
        if next.positions.is_empty() {
            return Target::outcome(next.best);
        }
        self.scratch.split.fill(&self.nfa, &next.positions);
        self.cost.positions += next.positions.len() as u64;
        let settled = self.nfa.is_settled(next).then_some(next.best);
        let marked = |node: Target| settled.map_or(node, |best| node.settled(best));
        if self.scratch.split.looping.is_empty() {
            return marked(self.push_node());
        }
        if let Some(&target) = self.known.get(next) {
            return target;
        }
        let set = next.clone();
        let target = marked(self.push_node());
        self.known_positions += set.positions.len();
        self.known.insert(set, target);
        target
    }

    /// Appends the node of the set in `scratch.next`, divided in `scratch.split`.
    fn push_node(&mut self) -> Target {
        self.cost.nodes += 1;
        self.cost.positions += NODE_WORK;
        let best = self.scratch.next.best;
        let at_end = self.nfa.outcome_at_end(&self.scratch.next);
        let looping = push_list(&mut self.lists, self.scratch.split.looping.iter().copied());
        let split = &self.scratch.split;
        let miss = if split.looping.is_empty() {
            Target::outcome(best)
        } else if split.moving.is_empty() && !split.anchored_end {
            Target::STAY
        } else {
            Target::UNBUILT
        };
        let node = match self.scratch.split.single_byte(&self.nfa) {
            Some(byte) => self.push_run(byte, at_end, miss, &looping),
            None => self.push_branch(at_end, miss, &looping),
        };
        debug_assert!(self.edges.is_sorted_by_key(|edge| edge.slot));
        node
    }

    fn push_miss_edge(&mut self, node: Target, miss: Target, looping: &Range<u32>) {
        if miss == Target::UNBUILT {
            self.push_edge(self.program.miss_slot(node), looping, 0..0);
        }
    }

    fn push_edge(&mut self, slot: Slot, looping: &Range<u32>, advancing: Range<u32>) {
        let best = self.scratch.next.best;
        self.edges.push(Edge { slot, best, looping: looping.clone(), advancing });
    }

    /// Appends a run: it starts with `byte` and continues while all moving positions advance on the
    /// same byte and nothing else changes.
    fn push_run(
        &mut self,
        byte: u8,
        at_end: Outcome,
        miss: Target,
        looping: &Range<u32>,
    ) -> Target {
        let nfa = &self.nfa;
        let Scratch { split, bytes, .. } = &mut self.scratch;
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
        self.push_miss_edge(node, miss, looping);
        let advancing = push_list(&mut self.lists, self.scratch.split.moving.iter().copied());
        self.push_edge(self.program.run_slot(node), looping, advancing);
        node
    }

    /// Appends a branch: it names the bytes on which moving positions advance; in a star's own
    /// state, where a miss stays, also those on which looping positions advance.
    fn push_branch(&mut self, at_end: Outcome, miss: Target, looping: &Range<u32>) -> Target {
        let nfa = &self.nfa;
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
        // Each list ascends, and a stable sort merges such runs.
        keys.sort();
        bytes.clear();
        bytes.extend(keys.iter().map(|key| (key >> 32) as u8));
        bytes.dedup();
        let node = self.program.push_branch(bytes, at_end, miss);
        self.push_miss_edge(node, miss, looping);
        let keys = std::mem::take(&mut self.scratch.keys);
        for (group, index) in keys.chunk_by(|one, other| one >> 32 == other >> 32).zip(0..) {
            let advancing = push_list(&mut self.lists, group.iter().map(|&key| key as Position));
            self.push_edge(self.program.branch_slot(node, index), looping, advancing);
        }
        self.scratch.keys = keys;
        node
    }
}

fn list<'l>(lists: &'l [Position], range: &Range<u32>) -> &'l [Position] {
    &lists[range.start as usize..range.end as usize]
}

fn push_list(lists: &mut Vec<Position>, positions: impl Iterator<Item = Position>) -> Range<u32> {
    let start = lists.len() as u32;
    lists.extend(positions);
    start..lists.len() as u32
}
