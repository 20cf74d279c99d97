//! How much of a site a rule set allows: everything, a part, or nothing.
//!
//! Nearly always one disallowed and one allowed path are enough. Candidates are the patterns without
//! their stars. The automaton of all paths is searched only if no example is found and no pattern that
//! matches every path explains why.
//!
//! `/robots.txt` is no part of a site, whatever the rules or the dialect say about it. A search gives
//! it the verdict of another path, so that it adds nothing to what is found.

use portcullis_dialect::dialect::{Escapes, ROBOTS_TXT_PATH};
use portcullis_dialect::words;

use portcullis_engine::{Cache, RuleSet, Settings};

use super::language::{Language, plain_path};
use super::machine::{Machine, Owner};
use super::product::{Product, Visit};
use super::rules::robots_txt_pattern;
use super::{AnalysisLimits, Bound};
use crate::limits::{REACH_EXAMPLES_MAX, REACH_POSITIONS_MAX};

/// A path that nearly no pattern targets.
const OTHER_PATH: &[u8] = b"/-";

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

/// Returns how much of a site a rule set, whose patterns have the normal form of `escapes`, allows;
/// `None` if the search takes more than [`REACH_POSITIONS_MAX`]. Only paths that URLs can have
/// count, and `/robots.txt` does not.
pub fn reach(rules: RuleSet<'_>, escapes: Escapes) -> Option<Reach> {
    let language = Language::of(escapes);
    let (settings, mut cache) = (Settings::default(), Cache::default());
    let mut allows = |path: &[u8]| rules.decide(path, &settings, &mut cache).is_allowed();
    // First a path that no pattern targets, then the paths of patterns.
    let allows_others = allows(OTHER_PATH);
    let mut example = |verdict: bool| {
        let patterns = rules.iter().filter(|(outcome, _)| outcome.allows() == verdict);
        patterns.take(REACH_EXAMPLES_MAX).any(|(_, pattern)| {
            let path = plain_path(&pattern);
            let counts = path != ROBOTS_TXT_PATH && language.contains(&path);
            counts && allows(&path) == verdict
        })
    };
    let disallows_some = !allows_others || example(false);
    let allows_some = allows_others || example(true);
    match (disallows_some, allows_some) {
        (true, true) => Some(Reach::Part),
        (true, false) if disallows_all(rules) => Some(Reach::Nothing),
        _ => search(rules, allows_others, language, REACH_POSITIONS_MAX),
    }
}

/// Returns whether a pattern that matches every path disallows, and no pattern before it allows.
fn disallows_all(rules: RuleSet<'_>) -> bool {
    let mut disallowing = rules.iter().take_while(|(outcome, _)| !outcome.allows());
    disallowing.any(|(_, pattern)| pattern.matches_all())
}

/// Explores the states of the automaton until both verdicts are found; `None` if that takes more
/// [work](Machine::work) than `work_max`. `allows_others` is the verdict on another path than
/// `/robots.txt`.
fn search(
    rules: RuleSet<'_>,
    allows_others: bool,
    language: &'static Language,
    work_max: u64,
) -> Option<Reach> {
    let mut found = [false; 2];
    let machine = machine(rules, allows_others);
    let limits = AnalysisLimits { positions_max: work_max, states_max: usize::MAX };
    let ended = Product::new([machine], language).run(&limits, |product, _, states| {
        let [allows] = product.allow(states);
        found[usize::from(allows)] = true;
        if found == [true; 2] { Visit::Stop } else { Visit::Follow }
    });
    // A longer path is that of no URL.
    if ended.is_err_and(|bound| bound != Bound::PathBytes) {
        return None;
    }
    Some(match found {
        [true, true] => Reach::Part,
        [true, false] => Reach::Nothing,
        [false, _] => Reach::Everything,
    })
}

/// Returns an automaton that allows what a rule set allows, but `/robots.txt` only if
/// `allows_robots_txt`.
pub fn machine(rules: RuleSet<'_>, allows_robots_txt: bool) -> Machine {
    let owner = |allows| Owner { allows, counts: false };
    let own = rules.iter().map(|(outcome, pattern)| (pattern, owner(outcome.allows())));
    Machine::new([(robots_txt_pattern(), owner(allows_robots_txt))].into_iter().chain(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_engine::RuleSetBuf;
    use portcullis_engine::pattern::PatternList;

    /// Returns the rule set of patterns in order of precedence, each with whether it allows.
    fn rules(patterns: &[(&str, bool)], wildcards: bool) -> RuleSetBuf {
        let mut list = PatternList::new();
        patterns.iter().for_each(|(text, _)| list.push(text.as_bytes(), wildcards));
        RuleSetBuf::new(&list, |pattern| patterns[pattern].1)
    }

    #[test]
    fn reach_of_small_rule_sets() {
        const CASES: &[(&[(&str, bool)], Reach)] = &[
            (&[], Reach::Everything),
            (&[("/", false)], Reach::Nothing),
            (&[("*", false)], Reach::Nothing),
            (&[("/*$", false)], Reach::Nothing),
            (&[("*/", false)], Reach::Nothing),
            (&[("*/$", false)], Reach::Part),
            (&[("/abc", false), ("/", false)], Reach::Nothing),
            (&[("/*.png$", false), ("/", false)], Reach::Nothing),
            (&[("/abc", true), ("/", false)], Reach::Part),
            (&[("/$", true), ("/", false)], Reach::Part),
            (&[("/a", false)], Reach::Part),
            (&[("*x", false)], Reach::Part),
            (&[("/a*b$", false)], Reach::Part),
            (&[("/$", false)], Reach::Part),
            (&[("/%4*1", false)], Reach::Part),
            (&[("/a", true), ("/b*c", true)], Reach::Everything),
            (&[("/", true), ("/", false)], Reach::Everything),
            (&[("/*a", true), ("/", true)], Reach::Everything),
            (&[("/a/b/c", true), ("/a/b", true), ("/a/b", false)], Reach::Everything),
            (&[("/a", true), ("/a/b", false)], Reach::Everything),
            (&[("a", false)], Reach::Everything),
            (&[("/robots.txt$", false)], Reach::Everything),
            (&[("/*.txt$", false)], Reach::Part),
            (&[("/robots.txt", false)], Reach::Part),
            (&[("/robots.txt$", true), ("/", false)], Reach::Nothing),
            (&[("/robots.txt", true), ("/", false)], Reach::Part),
            (&[("/robots.txt$", true), ("/robots.txt", false)], Reach::Part),
            (&[("/robots.txt$", true), ("/*$", false)], Reach::Nothing),
            (&[("/robots.txt$", false), ("/r", true), ("/", false)], Reach::Part),
        ];
        for (patterns, expected) in CASES {
            let rules = rules(patterns, true);
            assert_eq!(reach(rules.as_rule_set(), Escapes::Uri), Some(*expected), "{patterns:?}");
        }
        assert_eq!(
            reach(rules(&[("*/", false)], false).as_rule_set(), Escapes::Uri),
            Some(Reach::Everything)
        );
    }

    /// A URL's path ends before `#`, and TAB is no part of it.
    #[test]
    fn only_paths_of_urls_count() {
        type Case = (&'static [(&'static str, bool)], Escapes, Reach);
        let cases: [Case; 6] = [
            (&[("/#x", false)], Escapes::AsWritten, Reach::Everything),
            (&[("/#x", false)], Escapes::Decoded, Reach::Part),
            (&[("/a\tb", false)], Escapes::Google, Reach::Everything),
            (&[("/#x", true), ("/", false)], Escapes::Uri, Reach::Nothing),
            (&[("/*%2f", false)], Escapes::Google, Reach::Everything),
            (&[("/*%2f", false)], Escapes::AsWritten, Reach::Part),
        ];
        for (patterns, escapes, expected) in cases {
            let rules = rules(patterns, true);
            let found = reach(rules.as_rule_set(), escapes);
            assert_eq!(found, Some(expected), "{patterns:?}, {escapes:?}");
        }
    }

    #[test]
    fn the_search_is_bounded() {
        let rules = rules(&[("/a*b*c*d", true)], true);
        let language = Language::of(Escapes::Uri);
        assert_eq!(search(rules.as_rule_set(), true, language, 3), None);
        assert_eq!(search(rules.as_rule_set(), true, language, 1_000), Some(Reach::Everything));
    }

    #[test]
    fn examples_agree_with_the_search() {
        let texts = ["/", "/*", "*", "/a", "/*a", "/a$", "*/", "/$", "*$", "/a*"];
        let patterns: Vec<(&str, bool)> =
            texts.iter().flat_map(|text| [(*text, true), (*text, false)]).collect();
        for one in &patterns {
            for other in &patterns {
                let rules = rules(&[*one, *other], true);
                let rules = rules.as_rule_set();
                let settings = Settings::default();
                let decided = rules.decide(OTHER_PATH, &settings, &mut Cache::default());
                let allows_others = decided.is_allowed();
                let searched = search(rules, allows_others, Language::of(Escapes::Uri), u64::MAX);
                assert_eq!(reach(rules, Escapes::Uri), searched, "{one:?}, {other:?}");
            }
        }
    }
}
