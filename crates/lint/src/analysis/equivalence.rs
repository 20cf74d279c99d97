//! Whether two rule sets give every URL the same verdict; if not, the shortest paths that differ.
//!
//! Both automata are searched together. A pair of states cannot lead to a difference if the only
//! rules that can still match are on both sides, in the same order. Such a pair is not followed, so
//! two large files with few differences are compared fast.

use std::collections::{HashMap, HashSet};

use portcullis_dialect::dialect::Escapes;
use portcullis_engine::pattern::Pattern;

use super::language::Language;
use super::machine::{Machine, Owner};
use super::product::Product;
use super::rules::Ruled;
use super::status::SEARCHES;
use super::{Bound, Budget, Rules};

/// A shortest path that was searched for, with the query and as a URL has it; `None` if there is no such
/// path. The error is the limit that ended the search.
pub type Search = Result<Option<Vec<u8>>, Bound>;

/// Compares the verdicts of two rule sets on every possible URL: searches for a shortest path that the
/// first allows and the second disallows, and for one that the first disallows and the second allows.
///
/// # Panics
///
/// If the rule sets compare paths in different normal forms.
///
/// ```
/// use portcullis_lint::analysis::{Budget, Rules, equivalence};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let rules = |text: &'static str| {
///     let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
///     Rules::new(&file, &[0], &RFC_9309.paths)
/// };
/// let one = rules("User-agent: *\nDisallow: /a\nDisallow: /a/b\n");
/// let two = rules("User-agent: *\nDisallow: /a\nAllow: /a/b$\n");
/// let mut budget = Budget::default();
/// assert_eq!(equivalence(&one, &one, &mut budget), [Ok(None), Ok(None)]);
/// let [first_allows, second_allows] = equivalence(&one, &two, &mut budget);
/// assert_eq!(first_allows, Ok(None));
/// assert_eq!(second_allows.unwrap().unwrap(), b"/a/b");
/// ```
pub fn equivalence(first: &Rules, second: &Rules, budget: &mut Budget) -> [Search; 2] {
    of_rules([first, second], budget, 2)
}

/// Returns a shortest path on which two rule sets give different verdicts, or `None` if there is no
/// such path. Cheaper than [`equivalence`] if they differ, which looks for a path each way.
///
/// # Errors
///
/// If the budget's share ended the search before a path was found.
///
/// # Panics
///
/// As [`equivalence`].
pub(crate) fn difference(first: &Rules, second: &Rules, budget: &mut Budget) -> Search {
    either(of_rules([first, second], budget, 1))
}

/// Returns the path of the first search that found one.
pub(super) fn either([one, other]: [Search; 2]) -> Search {
    if let Ok(Some(_)) = one { one } else { other }
}

/// Returns whether two patterns in normal form match one path of a URL.
///
/// # Errors
///
/// If the budget's share ended the search before such a path was found.
pub(crate) fn overlap(
    one: Pattern<'_>,
    other: Pattern<'_>,
    escapes: Escapes,
    budget: &mut Budget,
) -> Result<bool, Bound> {
    let owner = Owner { allows: false, counts: true };
    let machines = [one, other].map(|pattern| Machine::new([(pattern, owner)]));
    let product = Product::new(machines, Language::of(escapes));
    let [found] = budget.find(SEARCHES, product, [[false, false]], 1);
    found.map(|path| path.is_some())
}

fn of_rules(sides: [&Rules; 2], budget: &mut Budget, enough: usize) -> [Search; 2] {
    let [escapes, of_second] = sides.map(|side| side.paths.escapes);
    assert_eq!(escapes, of_second, "both compare paths in one normal form");
    differences(sides.map(Rules::ruled), escapes, budget, enough)
}

/// Searches for a shortest path that the first side allows and the second disallows, and for one for the
/// reverse, until so many as are `enough` are found.
pub(super) fn differences(
    sides: [Ruled<'_>; 2],
    escapes: Escapes,
    budget: &mut Budget,
    enough: usize,
) -> [Search; 2] {
    if sides[0] == sides[1] {
        return [Ok(None), Ok(None)];
    }
    let [first, second] = sides.each_ref();
    let counts = counts(first, second);
    let machines = std::array::from_fn(|side| {
        let owners = sides[side].iter().zip(&counts[side]);
        Machine::new(
            owners.map(|(&(pattern, allows), &counts)| (pattern, Owner { allows, counts })),
        )
    });
    let language = Language::of(escapes);
    let wanted = [[true, false], [false, true]];
    let found = budget.find(1, Product::new(machines, language), wanted, enough);
    found.map(|path| Ok(path?.map(|path| language.written(&path))))
}

/// For each pattern of each side: whether a path that it decides may have another verdict on the
/// other side.
///
/// If the verdicts on a path differ, so do the deciding rules. If both deciding rules were on both
/// sides in the same order, the same rule would decide on both sides. So at least one of the two
/// counts.
fn counts(first: &[(Pattern<'_>, bool)], second: &[(Pattern<'_>, bool)]) -> [Vec<bool>; 2] {
    let mut counts = [first, second].map(|side| vec![true; side.len()]);
    // The rank and verdict of each pattern of the second side. Of equal patterns only the first counts.
    let mut ranks = HashMap::new();
    for (rank, &(pattern, allows)) in second.iter().enumerate() {
        counts[1][rank] = !ranks.contains_key(&pattern);
        ranks.entry(pattern).or_insert((rank, allows));
    }
    // For each verdict: the largest rank on the second side of the earlier rules.
    let mut passed = [None; 2];
    let mut own = HashSet::new();
    for (rank, &(pattern, allows)) in first.iter().enumerate() {
        if !own.insert(pattern) {
            counts[0][rank] = false;
            continue;
        }
        let Some(&(there, allows_there)) = ranks.get(&pattern) else { continue };
        let in_order = passed[usize::from(!allows)].is_none_or(|other| other < there);
        if allows == allows_there && in_order {
            counts[0][rank] = false;
            counts[1][there] = false;
            let passed = &mut passed[usize::from(allows)];
            *passed = (*passed).max(Some(there));
        }
    }
    counts
}
