//! The patterns of a rule set as one nondeterministic finite automaton (NFA), and its step.
//!
//! A state of the NFA is a *position*: the number of matched bytes of one pattern. A pattern with
//! *n* bytes owns *n* + 1 consecutive positions, and patterns follow one another in order of
//! precedence. So an ascending list of positions is also ordered by precedence, and each pruning of
//! a [`PositionSet`] is one comparison.
//!
//! [`reach`] explores the sets. Memory: 2 bytes per position and 8 per pattern. A step costs the
//! positions that loop plus those that advance.

use std::collections::{BTreeSet, HashSet};

use portcullis_dialect::words;

use crate::pattern::{PathPattern, PatternList};

use crate::outcome::Outcome;

/// A position of the NFA.
pub(super) type Position = u32;

/// The kind of a position: its possible steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    /// One byte advances.
    Plain,
    /// Follows a star: one byte advances, any byte loops.
    Looping,
    /// The pattern ends here and matches any continuation.
    OpenEnd,
    /// The pattern ends here and matches if the path ends too.
    AnchoredEnd,
}

/// The positions of all patterns, and the outcomes of the patterns.
#[derive(Clone, Debug)]
pub(super) struct Nfa {
    /// For each position: the byte that advances; 0 at the end of a pattern.
    bytes: Vec<u8>,
    /// The kind of each position.
    kinds: Vec<Kind>,
    /// The outcome of each pattern.
    outcomes: Vec<Outcome>,
    /// The first position of each pattern. The owner of a position is found by binary search, only
    /// at stars and ends; storing it per position would triple the memory.
    starts: Vec<Position>,
}

/// A state of the DFA: the best match so far, and the positions that can still change it.
///
/// Two prunings keep the set small. A pattern that has matched beats all later patterns, so their
/// positions are dropped; this is leftmost-first semantics. Within a pattern a star subsumes
/// all earlier positions, so they are dropped too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PositionSet {
    /// The outcome of the best pattern that has matched.
    pub best: Outcome,
    /// Ascending.
    pub positions: Vec<Position>,
}

impl Nfa {
    pub(super) fn new(patterns: &PatternList, outcomes: &[Outcome]) -> Nfa {
        assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
        let positions = patterns.byte_len() + patterns.len();
        let mut nfa = Nfa {
            bytes: Vec::with_capacity(positions),
            kinds: Vec::with_capacity(positions),
            outcomes: outcomes.to_vec(),
            starts: Vec::with_capacity(patterns.len()),
        };
        patterns.iter().for_each(|pattern| nfa.push_pattern(&pattern));
        nfa
    }

    fn push_pattern(&mut self, pattern: &PathPattern<'_>) {
        let start = self.bytes.len();
        self.starts.push(start as Position);
        self.bytes.extend_from_slice(pattern.bytes);
        self.bytes.push(0);
        self.kinds.resize(self.bytes.len() - 1, Kind::Plain);
        self.kinds.push(if pattern.anchored { Kind::AnchoredEnd } else { Kind::OpenEnd });
        for star in pattern.stars() {
            self.kinds[start + star] = Kind::Looping;
        }
    }

    /// Returns the byte that advances from `position`; `None` at the end of a pattern.
    #[inline]
    pub(super) fn byte(&self, position: Position) -> Option<u8> {
        let position = position as usize;
        matches!(self.kinds[position], Kind::Plain | Kind::Looping).then(|| self.bytes[position])
    }

    /// Returns whether any byte leads from `position` back to itself.
    #[inline]
    pub(super) fn loops(&self, position: Position) -> bool {
        self.kinds[position as usize] == Kind::Looping
    }

    /// Returns whether an anchored pattern ends at `position`.
    #[inline]
    pub(super) fn is_anchored_end(&self, position: Position) -> bool {
        self.kinds[position as usize] == Kind::AnchoredEnd
    }

    /// Returns the set before the first byte.
    pub(super) fn start(&self) -> PositionSet {
        let mut set = PositionSet::default();
        for &position in &self.starts {
            if !self.push(position, &mut set) {
                break;
            }
        }
        self.trim(&mut set);
        set
    }

    /// Writes to `next` the set after a byte: `looping` positions stay, `advancing` ones move by
    /// one. Both lists are ascending.
    pub(super) fn step(
        &self,
        best: Outcome,
        looping: &[Position],
        advancing: &[Position],
        next: &mut PositionSet,
    ) {
        next.best = best;
        next.positions.clear();
        let (mut looping, mut advancing) = (looping.iter().peekable(), advancing.iter().peekable());
        loop {
            // A position in both lists stays before it moves, which keeps the result ascending.
            let stays = match advancing.peek() {
                Some(leaves) => looping.next_if(|stays| stays <= leaves),
                None => looping.next(),
            };
            let target = stays.copied().or_else(|| Some(advancing.next()? + 1));
            if !target.is_some_and(|target| self.push(target, next)) {
                break;
            }
        }
        self.trim(next);
    }

    /// Adds `position`, which is not below those in the set. Returns false if later patterns no
    /// longer matter.
    #[inline]
    fn push(&self, position: Position, set: &mut PositionSet) -> bool {
        match self.kinds[position as usize] {
            Kind::Plain | Kind::AnchoredEnd => {}
            Kind::Looping => self.drop_pattern(position, set),
            Kind::OpenEnd => {
                self.drop_pattern(position, set);
                set.best = self.outcome(position);
                return false;
            }
        }
        if set.positions.last() != Some(&position) {
            set.positions.push(position);
        }
        true
    }

    /// Drops the positions of the pattern that owns `position`; they are the last of the set.
    fn drop_pattern(&self, position: Position, set: &mut PositionSet) {
        let start = self.starts[self.pattern_of(position)];
        while set.positions.last().is_some_and(|&last| last >= start) {
            set.positions.pop();
        }
    }

    /// Drops the last patterns as long as their outcome is the best so far: they cannot change it.
    fn trim(&self, set: &mut PositionSet) {
        while let Some(&last) = set.positions.last() {
            if self.outcome(last) != set.best {
                break;
            }
            set.positions.pop();
        }
    }

    /// Returns the pattern that owns `position`.
    fn pattern_of(&self, position: Position) -> usize {
        self.starts.partition_point(|&start| start <= position) - 1
    }

    /// Returns the outcome of the pattern that owns `position`.
    fn outcome(&self, position: Position) -> Outcome {
        self.outcomes[self.pattern_of(position)]
    }

    /// Returns whether the verdict is final although the rule may still change. Costs a search per
    /// position, but only after a first match.
    pub(super) fn is_settled(&self, set: &PositionSet) -> bool {
        let agrees = |&position: &Position| self.outcome(position).allows() == set.best.allows();
        set.best != Outcome::NONE && set.positions.iter().all(agrees)
    }

    /// Returns the outcome of a path that ends in this set.
    pub(super) fn outcome_at_end(&self, set: &PositionSet) -> Outcome {
        let anchored = |&&position: &&Position| self.is_anchored_end(position);
        set.positions.iter().find(anchored).map_or(set.best, |&position| self.outcome(position))
    }
}

/// The first byte of every path.
const PATH_START: u8 = b'/';

words! {
    /// How much of a site a rule set allows.
    pub enum Reach {
        /// No path is disallowed.
        Everything => "everything",
        /// Some paths are allowed and some are not.
        Part => "part",
        /// Every path is disallowed.
        Nothing => "nothing",
    }
}

/// Returns how much of a site the patterns allow, by exploring the reachable sets of positions
/// until both verdicts are found; `None` if that takes more than `positions_max` positions.
///
/// # Panics
///
/// If there are not as many outcomes as patterns.
pub fn reach(patterns: &PatternList, outcomes: &[Outcome], positions_max: u64) -> Option<Reach> {
    let nfa = Nfa::new(patterns, outcomes);
    let mut sets = vec![step(&nfa, &nfa.start(), Some(PATH_START))];
    let mut known: HashSet<PositionSet, _> =
        HashSet::with_hasher(foldhash::fast::RandomState::default());
    let (mut allows, mut disallows) = (false, false);
    let mut positions_left = positions_max;
    while let Some(set) = sets.pop() {
        let at_end = nfa.outcome_at_end(&set);
        match at_end == Outcome::NONE || at_end.allows() {
            true => allows = true,
            false => disallows = true,
        }
        if allows && disallows {
            return Some(Reach::Part);
        }
        if set.positions.is_empty() || nfa.is_settled(&set) || known.contains(&set) {
            continue;
        }
        let asked: BTreeSet<u8> =
            set.positions.iter().filter_map(|&position| nfa.byte(position)).collect();
        // One representative of all bytes on which no position advances.
        let other = (0..=u8::MAX).find(|byte| !asked.contains(byte));
        for byte in asked.iter().copied().map(Some).chain(other.map(|_| None)) {
            positions_left = positions_left.checked_sub(set.positions.len() as u64)?;
            sets.push(step(&nfa, &set, byte));
        }
        known.insert(set);
    }
    Some(if disallows { Reach::Nothing } else { Reach::Everything })
}

/// Returns the set after `byte`, or after a byte on which no position advances.
fn step(nfa: &Nfa, set: &PositionSet, byte: Option<u8>) -> PositionSet {
    let positions = || set.positions.iter().copied();
    let looping: Vec<_> = positions().filter(|&position| nfa.loops(position)).collect();
    let advances = |&position: &_| byte.is_some() && nfa.byte(position) == byte;
    let advancing: Vec<_> = positions().filter(advances).collect();
    let mut next = PositionSet::default();
    nfa.step(set.best, &looping, &advancing, &mut next);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patterns in order of precedence, each with whether it allows.
    const CASES: &[(&[(&str, bool)], Reach)] = &[
        (&[], Reach::Everything),
        (&[("/", false)], Reach::Nothing),
        (&[("*", false)], Reach::Nothing),
        (&[("/abc", false), ("/", false)], Reach::Nothing),
        (&[("/*.png$", false), ("/", false)], Reach::Nothing),
        (&[("/abc", true), ("/", false)], Reach::Part),
        (&[("/$", true), ("/", false)], Reach::Part),
        (&[("/a", false)], Reach::Part),
        (&[("*x", false)], Reach::Part),
        (&[("/a*b$", false)], Reach::Part),
        (&[("/$", false)], Reach::Part),
        (&[("/a", true), ("/b*c", true)], Reach::Everything),
        (&[("/", true), ("/", false)], Reach::Everything),
        (&[("/*a", true), ("/", true)], Reach::Everything),
        (&[("a", false)], Reach::Everything),
    ];

    #[test]
    fn reach_of_small_rule_sets() {
        for (patterns, expected) in CASES {
            let mut list = PatternList::new();
            patterns.iter().for_each(|(text, _)| list.push(text.as_bytes(), true));
            let outcomes = (1..).zip(*patterns).map(|(at, &(_, allows))| Outcome::new(at, allows));
            let outcomes: Vec<Outcome> = outcomes.collect();
            assert_eq!(reach(&list, &outcomes, 1_000), Some(*expected), "{patterns:?}");
        }
    }

    #[test]
    fn reach_is_bounded() {
        let mut list = PatternList::new();
        list.push(b"/a*b*c*d", true);
        let outcomes = [Outcome::new(1, true)];
        assert_eq!(reach(&list, &outcomes, 3), None);
        assert_eq!(reach(&list, &outcomes, 1_000), Some(Reach::Everything));
    }
}
