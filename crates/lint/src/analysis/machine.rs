//! A rule set as a lazily built deterministic automaton for questions about *all* paths, whose states
//! distinguish no more than verdicts.
//!
//! A *position* is a number of matched bytes of one pattern. Patterns are in order of precedence,
//! so an ascending list of positions is ordered by precedence too. A state is a [`Set`]: the best
//! pattern that matches any continuation, and the positions of patterns that may still beat it. Equal
//! sets are one state, which closes the loops of stars.
//!
//! An automaton that decides paths names the best pattern. Here only the verdict counts, because it
//! is what two rule sets have in common.
//!
//! Cost: a search may visit exponentially many states, so callers bound [`Machine::work`].
//!
//! ```
//! use portcullis_lint::analysis::{Machine, Owner};
//! use portcullis_engine::pattern::PatternList;
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/a*b", true);
//! let owner = Owner { allows: false, counts: true };
//! let mut machine = Machine::new(patterns.iter().map(|it| (it, owner)));
//! let state = machine.walk(b"/a/b");
//! assert!(!machine.allows_at_end(state) && machine.is_settled(state));
//! ```

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::Entry;

use portcullis_engine::pattern::Pattern;

/// A position in a list of patterns.
type Position = u32;

/// A state of one [`Machine`].
pub type State = u32;

/// The absence of a pattern.
const NO_PATTERN: u32 = u32::MAX;

/// A state that is not built yet.
const UNBUILT: State = u32::MAX;

/// The cost of a state next to its positions, in positions.
const STATE_WORK: u64 = 8;

/// Bytes of patterns that are made into a machine for the cost of one position.
const BUILT_BYTES: u64 = 4;

/// The verdict of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Whether it allows.
    pub allows: bool,
    /// Whether paths that it decides are of interest.
    pub counts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// This byte leads on to the next position.
    Plain(u8),
    /// This byte leads on, and every byte leads back, because a star precedes the position.
    Looping(u8),
    /// The pattern ends here and matches whatever follows.
    OpenEnd,
    /// The pattern ends here and matches if the path does.
    AnchoredEnd,
}

/// The state after some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Set {
    best: u32,
    /// Ascending.
    positions: Vec<Position>,
}

/// All patterns, by position.
#[derive(Debug)]
struct Patterns {
    /// The kind of each position.
    kinds: Vec<Kind>,
    /// The pattern of each position.
    patterns: Vec<u32>,
    /// The first position of each pattern.
    starts: Vec<Position>,
    /// The rule of each pattern.
    owners: Vec<Owner>,
    /// For each value of `allows` and `counts`: the last pattern whose owner has them.
    stand_ins: [[u32; 2]; 2],
}

/// The facts about a state.
#[derive(Debug)]
struct Node {
    allows_at_end: bool,
    /// The target of each byte that some position asks for, ascending by byte.
    arcs: Vec<(u8, State)>,
    /// The target of all other bytes.
    other: State,
    /// Whether a rule of interest has matched, or may match.
    counts: bool,
}

/// The deterministic automaton of a list of patterns, as far as searches have built it.
#[derive(Debug)]
pub struct Machine {
    patterns: Patterns,
    /// By the number of the state.
    nodes: IndexMap<Set, Node, RandomState>,
    start: State,
    work: u64,
}

impl Machine {
    /// Returns the automaton of `patterns`, which are in order of precedence.
    pub fn new<'l>(patterns: impl IntoIterator<Item = (Pattern<'l>, Owner)>) -> Machine {
        let patterns = Patterns::new(patterns);
        let work = patterns.kinds.len() as u64 / BUILT_BYTES;
        let start = patterns.start();
        let mut new = Machine { patterns, nodes: IndexMap::default(), start: UNBUILT, work };
        new.start = new.state_of(start);
        new
    }

    /// Returns the number of positions that were read, plus a charge for building and per state. Time and
    /// memory are proportional to it.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Returns the bytes that some position of `state` asks for, ascending. All others lead to one
    /// state.
    pub fn named(&self, state: State) -> impl Iterator<Item = u8> {
        self.nodes[state as usize].arcs.iter().map(|&(byte, _)| byte)
    }

    /// Returns whether no further byte changes the result.
    pub fn is_settled(&self, state: State) -> bool {
        self.set(state).positions.is_empty()
    }

    /// Returns whether a rule of interest has matched, or may match.
    pub fn counts(&self, state: State) -> bool {
        self.nodes[state as usize].counts
    }

    /// Returns whether the path is allowed if it ends here.
    pub fn allows_at_end(&self, state: State) -> bool {
        self.nodes[state as usize].allows_at_end
    }

    /// Returns the state after `byte`.
    pub fn step(&mut self, state: State, byte: u8) -> State {
        let node = &self.nodes[state as usize];
        let arc = node.arcs.binary_search_by_key(&byte, |&(named, _)| named);
        let target = arc.map_or(node.other, |arc| node.arcs[arc].1);
        if target != UNBUILT {
            return target;
        }
        let set = self.set(state);
        let (work, next) =
            (set.positions.len(), self.patterns.step(set, arc.is_ok().then_some(byte)));
        self.work += work as u64;
        let target = self.state_of(next);
        let node = &mut self.nodes[state as usize];
        match arc {
            Ok(arc) => node.arcs[arc].1 = target,
            Err(_) => node.other = target,
        }
        target
    }

    /// Returns the state after all of `bytes`.
    pub fn walk(&mut self, bytes: &[u8]) -> State {
        bytes.iter().fold(self.start, |state, &byte| self.step(state, byte))
    }

    fn set(&self, state: State) -> &Set {
        self.nodes.get_index(state as usize).expect("it is a state").0
    }

    /// Returns the state of `set`: a known one or a new one.
    fn state_of(&mut self, set: Set) -> State {
        let patterns = &self.patterns;
        let new = match self.nodes.entry(set) {
            Entry::Occupied(known) => return known.index() as State,
            Entry::Vacant(new) => new,
        };
        let (set, state) = (new.key(), new.index() as State);
        self.work += STATE_WORK + set.positions.len() as u64;
        let mut bytes: Vec<u8> =
            set.positions.iter().filter_map(|&position| patterns.byte(position)).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let counts = |pattern: u32| patterns.owners[pattern as usize].counts;
        let node = Node {
            allows_at_end: patterns.allows_at_end(set),
            arcs: bytes.into_iter().map(|byte| (byte, UNBUILT)).collect(),
            other: if set.positions.is_empty() { state } else { UNBUILT },
            counts: (set.best != NO_PATTERN && counts(set.best))
                || set.positions.iter().any(|&it| counts(patterns.patterns[it as usize])),
        };
        new.insert(node);
        state
    }
}

impl Patterns {
    fn new<'l>(patterns: impl IntoIterator<Item = (Pattern<'l>, Owner)>) -> Patterns {
        let mut new = Patterns {
            kinds: Vec::new(),
            patterns: Vec::new(),
            starts: Vec::new(),
            owners: Vec::new(),
            stand_ins: [[NO_PATTERN; 2]; 2],
        };
        for (pattern, owner) in patterns {
            let (start, number) = (new.kinds.len(), new.starts.len() as u32);
            for (index, literal) in pattern.literals().enumerate() {
                let first = new.kinds.len();
                new.kinds.extend(literal.iter().map(|&byte| Kind::Plain(byte)));
                if index > 0 {
                    // The pattern has no star at its end.
                    new.kinds[first] = Kind::Looping(literal[0]);
                }
            }
            new.kinds.push(match pattern.is_anchored() {
                true => Kind::AnchoredEnd,
                false => Kind::OpenEnd,
            });
            new.patterns.resize(new.kinds.len(), number);
            new.stand_ins[usize::from(owner.allows)][usize::from(owner.counts)] = number;
            new.starts.push(start as Position);
            new.owners.push(owner);
        }
        new
    }

    fn allows(&self, pattern: u32) -> bool {
        pattern == NO_PATTERN || self.owners[pattern as usize].allows
    }

    /// Returns the byte that leads on from `position`; `None` at the end of a pattern.
    fn byte(&self, position: Position) -> Option<u8> {
        match self.kinds[position as usize] {
            Kind::Plain(byte) | Kind::Looping(byte) => Some(byte),
            Kind::OpenEnd | Kind::AnchoredEnd => None,
        }
    }

    /// Returns the set before the first byte.
    fn start(&self) -> Set {
        let mut set = Set { best: NO_PATTERN, positions: Vec::new() };
        // Stops at the first pattern that cannot matter.
        let _ = self.starts.iter().all(|&position| self.push(position, &mut set));
        self.reduce(set)
    }

    /// Returns the set after `byte`, or after any byte that no position asks for.
    fn step(&self, set: &Set, byte: Option<u8>) -> Set {
        let mut next = Set { best: set.best, positions: Vec::new() };
        for &position in &set.positions {
            let stays = matches!(self.kinds[position as usize], Kind::Looping(_));
            if stays && !self.push(position, &mut next) {
                break;
            }
            let leads_on = byte.is_some() && self.byte(position) == byte;
            if leads_on && !self.push(position + 1, &mut next) {
                break;
            }
        }
        self.reduce(next)
    }

    /// Adds `position`, which is not less than those in the set. Returns false if no later pattern
    /// can matter.
    fn push(&self, position: Position, set: &mut Set) -> bool {
        let pattern = self.patterns[position as usize];
        if pattern > set.best {
            return false;
        }
        match self.kinds[position as usize] {
            Kind::Plain(_) | Kind::AnchoredEnd => {}
            // A reached star subsumes all earlier positions of its pattern.
            Kind::Looping(_) => self.drop_pattern(pattern, set),
            Kind::OpenEnd => {
                self.drop_pattern(pattern, set);
                set.best = set.best.min(pattern);
                return true;
            }
        }
        if set.positions.last() != Some(&position) {
            set.positions.push(position);
        }
        true
    }

    /// Drops the positions of `pattern`, which are the last of the set.
    fn drop_pattern(&self, pattern: u32, set: &mut Set) {
        while set.positions.last().is_some_and(|&last| self.patterns[last as usize] == pattern) {
            set.positions.pop();
        }
    }

    /// Removes from a set what states do not distinguish.
    fn reduce(&self, mut set: Set) -> Set {
        // The last positions only repeat the current verdict.
        let allows = self.allows(set.best);
        let repeats = |&last: &Position| self.allows(self.patterns[last as usize]) == allows;
        while set.positions.last().is_some_and(repeats) {
            set.positions.pop();
        }
        if set.best != NO_PATTERN {
            let Owner { allows, counts, .. } = self.owners[set.best as usize];
            // No later position is left, so the last pattern with the same meaning can represent this
            // one; and a rule that allows and is of no interest is like none.
            set.best = match allows && !counts {
                true => NO_PATTERN,
                false => self.stand_ins[usize::from(allows)][usize::from(counts)],
            };
        }
        set
    }

    /// Returns whether a path that ends in `set` is allowed.
    fn allows_at_end(&self, set: &Set) -> bool {
        let ends = |position: &&Position| self.kinds[**position as usize] == Kind::AnchoredEnd;
        let ending = set.positions.iter().find(ends);
        let ending = ending.map_or(NO_PATTERN, |&position| self.patterns[position as usize]);
        self.allows(set.best.min(ending))
    }
}
