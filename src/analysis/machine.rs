//! Sets of positions as the states of a deterministic automaton, built where somebody looks.
//!
//! Equal sets are one state, which closes the loops that stars make. What is built stays, so many
//! searches through the same rules share it. Cost: see [`Machine::work`].

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;

use super::positions::{Best, NO_PATTERN, Owner, Position, Positions, Set};

/// A state of one [`Machine`].
pub(super) type State = u32;

/// In the place of a state: not built.
const UNBUILT: State = u32::MAX;

/// What a state costs beside its positions, in positions.
const STATE_WORK: u64 = 8;

#[derive(Debug)]
struct Node {
    best: Best,
    best_at_end: Best,
    positions: Range<u32>,
    arcs: Range<u32>,
    /// Where a byte leads that no arc names.
    other: State,
    /// Whether something of interest has matched or may.
    counts: bool,
}

/// Where a byte leads that a position asks for.
#[derive(Clone, Copy, Debug)]
struct Arc {
    byte: u8,
    target: State,
}

/// The deterministic automaton of a list of patterns, as far as it has been asked for.
#[derive(Debug)]
pub(super) struct Machine {
    positions: Positions,
    nodes: Vec<Node>,
    /// The positions of all nodes.
    lists: Vec<Position>,
    /// The arcs of all nodes, each node's ascending by byte.
    arcs: Vec<Arc>,
    known: HashTable<State>,
    hasher: foldhash::fast::RandomState,
    start: State,
    work: u64,
    next: Set,
}

impl Machine {
    pub(super) fn new(positions: Positions) -> Machine {
        let mut next = Set::default();
        positions.start(&mut next);
        let mut new = Machine {
            positions,
            nodes: Vec::new(),
            lists: Vec::new(),
            arcs: Vec::new(),
            known: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            start: UNBUILT,
            work: 0,
            next,
        };
        new.start = new.state_of_next();
        new
    }

    /// Positions that were looked at so far, and a charge for each state. Time and memory are
    /// proportional to it.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// The bytes that some position of `state` asks for, ascending. All others lead to one state.
    pub(super) fn named(&self, state: State) -> impl Iterator<Item = u8> {
        self.arcs_of(state).iter().map(|arc| arc.byte)
    }

    /// Whether some pattern asks for `byte` anywhere.
    pub(super) fn names(&self, byte: u8) -> bool {
        self.positions.names(byte)
    }

    /// Whether no byte changes what is known.
    pub(super) fn is_settled(&self, state: State) -> bool {
        self.nodes[state as usize].positions.is_empty()
    }

    /// Whether a rule of interest has matched, or may match yet.
    pub(super) fn counts(&self, state: State) -> bool {
        self.nodes[state as usize].counts
    }

    /// The best patterns if the path ends here.
    pub(super) fn best_at_end(&self, state: State) -> Best {
        self.nodes[state as usize].best_at_end
    }

    /// Whether the path is allowed if it ends here.
    pub(super) fn allows_at_end(&self, state: State) -> bool {
        self.positions.allows(self.best_at_end(state))
    }

    /// Whether a path for which these are the best patterns is allowed.
    pub(super) fn allows(&self, best: Best) -> bool {
        self.positions.allows(best)
    }

    /// What a pattern belongs to.
    pub(super) fn owner(&self, pattern: u32) -> Owner {
        self.positions.owner(pattern)
    }

    /// The state after `byte`.
    pub(super) fn step(&mut self, state: State, byte: u8) -> State {
        let arcs = as_range(&self.nodes[state as usize].arcs);
        let found = self.arcs[arcs.clone()].binary_search_by_key(&byte, |arc| arc.byte);
        let target = match found {
            Ok(index) => self.arcs[arcs.start + index].target,
            Err(_) => self.nodes[state as usize].other,
        };
        if target != UNBUILT {
            return target;
        }
        let node = &self.nodes[state as usize];
        let list = &self.lists[as_range(&node.positions)];
        self.work += list.len() as u64;
        self.positions.step(node.best, list, found.is_ok().then_some(byte), &mut self.next);
        let target = self.state_of_next();
        match found {
            Ok(index) => self.arcs[arcs.start + index].target = target,
            Err(_) => self.nodes[state as usize].other = target,
        }
        target
    }

    /// The state after all of `bytes`.
    pub(super) fn walk(&mut self, bytes: &[u8]) -> State {
        bytes.iter().fold(self.start, |state, &byte| self.step(state, byte))
    }

    fn arcs_of(&self, state: State) -> &[Arc] {
        &self.arcs[as_range(&self.nodes[state as usize].arcs)]
    }

    /// The state of the set in `next`: one that is there, or a new one.
    fn state_of_next(&mut self) -> State {
        let Machine { nodes, lists, next, hasher, .. } = self;
        let hash = hasher.hash_one((next.best, &next.positions));
        let same = |&state: &State| {
            let node = &nodes[state as usize];
            node.best == next.best && lists[as_range(&node.positions)] == next.positions
        };
        if let Some(&state) = self.known.find(hash, same) {
            return state;
        }
        let state = self.push_node();
        let Machine { nodes, lists, hasher, .. } = self;
        let hash_of = |&state: &State| {
            let node = &nodes[state as usize];
            hasher.hash_one((node.best, &lists[as_range(&node.positions)]))
        };
        self.known.insert_unique(hash, state, hash_of);
        state
    }

    fn push_node(&mut self) -> State {
        let Set { best, positions } = &self.next;
        self.work += STATE_WORK + positions.len() as u64;
        let first_position = self.lists.len() as u32;
        self.lists.extend_from_slice(positions);
        let mut named = [false; 256];
        let bytes = positions.iter().filter_map(|&position| self.positions.byte(position));
        bytes.for_each(|byte| named[usize::from(byte)] = true);
        let first_arc = self.arcs.len() as u32;
        if !positions.is_empty() {
            let bytes = (0..=255u8).filter(|&byte| named[usize::from(byte)]);
            self.arcs.extend(bytes.map(|byte| Arc { byte, target: UNBUILT }));
        }
        let counts = |pattern: u32| self.positions.owner(pattern).counts;
        let any_counts = (best[0] != NO_PATTERN && counts(best[0]))
            || positions.iter().any(|&position| counts(self.positions.pattern(position)));
        let state = self.nodes.len() as State;
        self.nodes.push(Node {
            best: *best,
            best_at_end: self.positions.best_at_end(*best, positions),
            positions: first_position..self.lists.len() as u32,
            arcs: first_arc..self.arcs.len() as u32,
            other: if positions.is_empty() { state } else { UNBUILT },
            counts: any_counts,
        });
        state
    }
}

fn as_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
