//! How much of a site patterns leave, over all paths that begin with `/`.

use std::collections::{BTreeSet, HashSet};

use crate::pattern::PatternList;

use super::Outcome;
use super::nfa::{Nfa, PositionSet};

/// The byte that every path begins with.
const PATH_START: u8 = b'/';

/// How much of a site patterns leave to whoever obeys them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// No path is disallowed.
    Everything,
    /// Some paths may be disallowed, and some may not.
    Part,
    /// Every path is disallowed.
    Nothing,
}

/// Returns how much of a site patterns in order of precedence leave; `None` if that takes a look at more
/// than `positions_max` positions.
///
/// It visits the sets of positions that paths lead to, until both verdicts have been found or none is
/// left.
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
        // One byte stands for all that no position asks for.
        let other = (0..=u8::MAX).find(|byte| !asked.contains(byte));
        for byte in asked.iter().copied().map(Some).chain(other.map(|_| None)) {
            positions_left = positions_left.checked_sub(set.positions.len() as u64)?;
            sets.push(step(&nfa, &set, byte));
        }
        known.insert(set);
    }
    Some(if disallows { Reach::Nothing } else { Reach::Everything })
}

/// The set behind a byte, or behind one that no position asks for.
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

    /// Patterns, best first, each with whether it allows; and what they leave.
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
    fn how_much_is_left() {
        for (patterns, expected) in CASES {
            let mut list = PatternList::new();
            patterns.iter().for_each(|(text, _)| list.push(text.as_bytes(), true));
            let outcomes = (1..).zip(*patterns).map(|(at, &(_, allows))| Outcome::new(at, allows));
            let outcomes: Vec<Outcome> = outcomes.collect();
            assert_eq!(reach(&list, &outcomes, 1_000), Some(*expected), "{patterns:?}");
        }
    }

    #[test]
    fn what_takes_too_long_is_not_known() {
        let mut list = PatternList::new();
        list.push(b"/a*b*c*d", true);
        let outcomes = [Outcome::new(1, true)];
        assert_eq!(reach(&list, &outcomes, 3), None);
        assert_eq!(reach(&list, &outcomes, 1_000), Some(Reach::Everything));
    }
}
