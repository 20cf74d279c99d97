//! How what one rule set allows relates to what another allows.
//!
//! Both automata are searched together, as for [`equivalence`](super::equivalence), but of compiled rule
//! sets, and as far as shows both directions. `/robots.txt` is no part of a site.

use portcullis_dialect::dialect::Escapes;
use portcullis_dialect::words;
use portcullis_engine::RuleSet;

use super::language::Language;
use super::product::{Product, Visit};
use super::reach::machine;
use super::{AnalysisLimits, Bound, Example};
use crate::limits::REACH_POSITIONS_MAX;

words! {
    /// What the first of two agents may fetch, beside the second.
    pub enum Relation {
        /// The same paths.
        Same => "same",
        /// All that the second may, and more.
        More => "more",
        /// A part of what the second may.
        Less => "less",
        /// Some paths that the second may not, and not all that it may.
        Other => "other",
        /// The search took too long.
        Unknown => "unknown",
    }
}

/// Returns how what `first` allows relates to what `second` allows, and a shortest path that shows it:
/// one that only the first allows, or else one that only the second does.
///
/// Exact over all paths that URLs can have, in the normal form of `escapes`; `Unknown` if the search takes
/// more than [`REACH_POSITIONS_MAX`].
pub fn relation(
    first: RuleSet<'_>,
    second: RuleSet<'_>,
    escapes: Escapes,
) -> (Relation, Option<Vec<u8>>) {
    let language = Language::of(escapes);
    // Both decide alike on /robots.txt.
    let machines = [machine(first, true), machine(second, true)];
    let limits = AnalysisLimits { positions_max: REACH_POSITIONS_MAX, states_max: usize::MAX };
    let mut found: [Option<Example>; 2] = [None, None];
    let mut product = Product::new(machines, language);
    let ended = product.run(&limits, |product, place, states| {
        let allows = product.allow(states);
        if allows[0] != allows[1] {
            let side = usize::from(allows[1]);
            found[side].get_or_insert_with(|| Example::of(&language.written(&product.path(place))));
        }
        match product.are_settled(states) {
            _ if found.iter().all(Option::is_some) => Visit::Stop,
            [true, true] => Visit::Skip,
            _ => Visit::Follow,
        }
    });
    let [only_first, only_second] = found.map(|path| path.map(|it| it.path().to_vec()));
    let relation = match (&only_first, &only_second) {
        (Some(_), Some(_)) => Relation::Other,
        // A longer path is that of no URL.
        _ if ended.is_err_and(|bound| bound != Bound::PathBytes) => {
            return (Relation::Unknown, None);
        }
        (Some(_), None) => Relation::More,
        (None, Some(_)) => Relation::Less,
        (None, None) => Relation::Same,
    };
    (relation, only_first.or(only_second))
}

#[cfg(test)]
mod tests {
    use portcullis_engine::pattern::PatternList;
    use portcullis_engine::{Cache, RuleSetBuf, Settings};
    use portcullis_testkit::words as all_words;

    use super::*;

    fn rules(patterns: &[(&str, bool)]) -> RuleSetBuf {
        let mut list = PatternList::new();
        patterns.iter().for_each(|(text, _)| list.push(text.as_bytes(), true));
        RuleSetBuf::new(&list, |pattern| patterns[pattern].1)
    }

    #[test]
    fn relations_of_small_rule_sets_agree_with_all_small_paths() {
        let sets: Vec<Vec<(&str, bool)>> = vec![
            vec![],
            vec![("/", false)],
            vec![("/a", false)],
            vec![("/b", false)],
            vec![("/ab", true), ("/a", false)],
            vec![("/a*b", false)],
            vec![("/a$", false)],
            vec![("/*b$", true), ("/", false)],
            vec![("/robots.txt$", false)],
        ];
        let paths: Vec<Vec<u8>> =
            all_words(b"ab", 4).iter().map(|word| [b"/", &word[..]].concat()).collect();
        let (settings, mut cache) = (Settings::default(), Cache::default());
        for first in &sets {
            for second in &sets {
                let [one, other] = [rules(first), rules(second)];
                let (relation, witness) =
                    super::relation(one.as_rule_set(), other.as_rule_set(), Escapes::Uri);
                let mut allows = |rules: &RuleSetBuf, path: &[u8]| {
                    rules.as_rule_set().decide(path, &settings, &mut cache).is_allowed()
                };
                let mut only = [false; 2];
                for path in &paths {
                    let both = [allows(&one, path), allows(&other, path)];
                    only[0] |= both == [true, false];
                    only[1] |= both == [false, true];
                }
                let expected = match only {
                    [false, false] => Relation::Same,
                    [true, false] => Relation::More,
                    [false, true] => Relation::Less,
                    [true, true] => Relation::Other,
                };
                assert_eq!(relation, expected, "{first:?} {second:?}");
                assert_eq!(witness.is_some(), relation != Relation::Same);
                if let Some(path) = witness {
                    assert_ne!(allows(&one, &path), allows(&other, &path), "{path:?}");
                }
            }
        }
    }
}
