//! Whether two rule sets give every URL the same verdict; if not, the shortest paths that differ.
//!
//! Both automata are searched together. A pair of states cannot lead to a difference if the only
//! rules that can still match are on both sides, in the same order. Such a pair is not followed, so
//! two large files with few differences are compared fast.

use std::collections::{HashMap, HashSet};

use super::language::Language;
use super::machine::{Machine, Owner};
use super::product::{Product, Visit};
use super::{Bound, Budget, Example, Rules};

/// A shortest path that was searched for; `None` if there is no such path. The error is the limit that
/// ended the search.
pub type Search = Result<Option<Example>, Bound>;

/// Compares the verdicts of two rule sets on every possible URL: searches for a shortest path that the
/// first allows and the second disallows, and for one that the first disallows and the second allows.
///
/// # Panics
///
/// If the rule sets compare paths in different normal forms.
///
/// ```
/// use portcullis_lint::analysis::{AnalysisLimits, Budget, Rules, equivalence};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::policy::OrderedRules;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let rules = |text: &'static str| {
///     let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
///     OrderedRules::new(&file, &[0], &RFC_9309.paths)
/// };
/// let one = rules("User-agent: *\nDisallow: /a\nDisallow: /a/b\n");
/// let two = rules("User-agent: *\nDisallow: /a\nAllow: /a/b$\n");
/// let [one, two] = [&one, &two].map(|ordered| Rules { ordered, paths: &RFC_9309.paths });
/// let mut budget = Budget::new(&AnalysisLimits::default(), 1);
/// assert_eq!(equivalence(one, one, &mut budget), [Ok(None), Ok(None)]);
/// let [first_allows, second_allows] = equivalence(one, two, &mut budget);
/// assert_eq!(first_allows, Ok(None));
/// assert_eq!(second_allows.unwrap().unwrap().path(), b"/a/b");
/// ```
pub fn equivalence(first: Rules<'_>, second: Rules<'_>, budget: &mut Budget) -> [Search; 2] {
    differences(first, second, budget, |found| found.iter().all(Option::is_some))
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
pub(crate) fn difference(first: Rules<'_>, second: Rules<'_>, budget: &mut Budget) -> Search {
    either(differences(first, second, budget, |found| found.iter().any(Option::is_some)))
}

/// Returns the path of the first search that found one.
pub(super) fn either([one, other]: [Search; 2]) -> Search {
    if let Ok(Some(_)) = one { one } else { other }
}

/// Searches for a path that the first rule set allows and the second does not, and for one for the
/// reverse, until `are_enough` is satisfied.
fn differences(
    first: Rules<'_>,
    second: Rules<'_>,
    budget: &mut Budget,
    are_enough: impl Fn(&[Option<Example>; 2]) -> bool,
) -> [Search; 2] {
    let escapes = first.paths.escapes;
    assert_eq!(escapes, second.paths.escapes, "both compare paths in one normal form");
    if first.is_same(second) {
        return [Ok(None), Ok(None)];
    }
    let counts = counts(first, second);
    let sides = [(first, &counts[0]), (second, &counts[1])];
    let machines =
        sides.map(|(rules, counts)| {
            let own = rules.patterns().zip(counts);
            Machine::new(own.map(|((pattern, owner), &counts)| {
                (pattern, Owner { allows: owner.allows, counts })
            }))
        });
    let language = Language::of(escapes);
    let built = [first, second].map(|rules| rules.ordered.patterns.byte_len()).iter().sum();
    // A path that the first side allows, and one that the second does.
    let mut found: [Option<Example>; 2] = [None, None];
    let product = Product::new(machines, language);
    let ended = budget.search(1, built, product, |product, place, states| {
        let allows = product.allow(states);
        if allows[0] != allows[1] {
            found[usize::from(allows[1])]
                .get_or_insert_with(|| Example::of(&language.written(&product.path(place))));
        }
        if are_enough(&found) {
            return Visit::Stop;
        }
        let may_change = product.are_settled(states) != [true; 2];
        if product.counts(states) && may_change { Visit::Follow } else { Visit::Skip }
    });
    found.map(|example| if example.is_some() { Ok(example) } else { ended.map(|()| None) })
}

/// For each pattern of each side: whether a path that it decides may have another verdict on the
/// other side.
///
/// If the verdicts on a path differ, so do the deciding rules. If both deciding rules were on both
/// sides in the same order, the same rule would decide on both sides. So at least one of the two
/// counts.
fn counts(first: Rules<'_>, second: Rules<'_>) -> [Vec<bool>; 2] {
    let mut counts = [first, second].map(|rules| vec![true; rules.patterns().count()]);
    // The rank and verdict of each pattern of the second side. Of equal patterns only the first counts.
    let mut ranks = HashMap::new();
    for (rank, (pattern, owner)) in second.patterns().enumerate() {
        counts[1][rank] = !ranks.contains_key(&pattern);
        ranks.entry(pattern).or_insert((rank, owner.allows));
    }
    // For each verdict: the largest rank on the second side of the earlier rules.
    let mut passed = [None; 2];
    let mut own = HashSet::new();
    for (rank, (pattern, owner)) in first.patterns().enumerate() {
        if !own.insert(pattern) {
            counts[0][rank] = false;
            continue;
        }
        let Some(&(there, allows)) = ranks.get(&pattern) else { continue };
        let in_order = passed[usize::from(!owner.allows)].is_none_or(|other| other < there);
        if allows == owner.allows && in_order {
            counts[0][rank] = false;
            counts[1][there] = false;
            let passed = &mut passed[usize::from(allows)];
            *passed = (*passed).max(Some(there));
        }
    }
    counts
}
