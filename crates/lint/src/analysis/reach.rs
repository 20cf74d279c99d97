//! How much of a site a rule set allows: everything, a part, or nothing; and how what one allows relates to
//! what another does.
//!
//! Nearly always one disallowed and one allowed path are enough. Candidates are the patterns without
//! their stars. The automaton of all paths is searched only if no example is found and no pattern that
//! matches every path explains why. For a relation it is searched first, because most rule sets share most
//! rules, and that search finds the shortest path; examples serve where it reaches its limit.
//!
//! `/robots.txt` is no part of a site, whatever the rules or the dialect say about it. A search gives
//! it the verdict of another path, so that it adds nothing to what is found.

use portcullis_dialect::{Escapes, ROBOTS_TXT_PATH, words};
use portcullis_engine::{Cache, RuleSet, Settings};

use super::Budget;
use super::equivalence::differences;
use super::language::{Language, plain_path};
use super::machine::{Machine, Owner};
use super::product::Product;
use super::rules::{Ruled, robots_txt_pattern};
use crate::limits::{REACH_EXAMPLES_MAX, REACH_POSITIONS_MAX};

/// A path that nearly no pattern targets.
const OTHER_PATH: &[u8] = b"/-";

words! {
    /// How much of a site a rule set allows.
    pub enum Reach {
        /// No path is disallowed.
        Everything => "all",
        /// Some paths are allowed and some are not.
        Part => "part",
        /// Every path is disallowed.
        Nothing => "none",
    }
}

/// Returns how much of a site a rule set, whose patterns have the normal form of `escapes`, allows;
/// `None` if the search takes more than [`REACH_POSITIONS_MAX`]. Only paths that URLs can have
/// count, and `/robots.txt` does not.
pub fn reach(rules: RuleSet<'_>, escapes: Escapes) -> Option<Reach> {
    let language = Language::of(escapes);
    let mut allows = decider(rules);
    // First a path that no pattern targets, then the paths of patterns.
    let allows_others = allows(OTHER_PATH);
    let mut example = |verdict: bool| {
        examples(rules, Some(verdict), language).any(|path| allows(&path) == verdict)
    };
    let disallows_some = !allows_others || example(false);
    let allows_some = allows_others || example(true);
    match (disallows_some, allows_some) {
        (true, true) => Some(Reach::Part),
        (true, false) if disallows_all(rules) => Some(Reach::Nothing),
        _ => search(rules, allows_others, language, REACH_POSITIONS_MAX),
    }
}

fn decider(rules: RuleSet<'_>) -> impl FnMut(&[u8]) -> bool {
    let (settings, mut cache) = (Settings::default(), Cache::default());
    move |path| rules.decide(path, &settings, &mut cache).is_allowed()
}

/// Returns the paths of some patterns, those with one verdict if that is given.
fn examples<'r>(
    rules: RuleSet<'r>,
    verdict: Option<bool>,
    language: &'static Language,
) -> impl Iterator<Item = Vec<u8>> + 'r {
    let is_wanted = move |allows: bool| verdict.is_none_or(|verdict| allows == verdict);
    let patterns = rules.iter().filter(move |(outcome, _)| is_wanted(outcome.allows()));
    let paths = patterns.take(REACH_EXAMPLES_MAX).map(|(_, pattern)| plain_path(&pattern));
    paths.filter(|path| *path != ROBOTS_TXT_PATH && language.contains(path))
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
    let machine = machine(rules, allows_others);
    let wanted = [[true], [false]];
    match Product::new([machine], language).find(wanted, 2, work_max) {
        [Ok(Some(_)), Ok(Some(_))] => Some(Reach::Part),
        [Ok(_), Ok(None)] => Some(Reach::Everything),
        [Ok(None), Ok(_)] => Some(Reach::Nothing),
        [Err(_), _] | [_, Err(_)] => None,
    }
}

/// Returns an automaton that allows what a rule set allows, but `/robots.txt` only if
/// `allows_robots_txt`.
pub fn machine(rules: RuleSet<'_>, allows_robots_txt: bool) -> Machine {
    let owned = |(pattern, allows)| (pattern, Owner { allows, counts: true });
    Machine::new(ruled(rules, allows_robots_txt).into_iter().map(owned))
}

/// Returns the patterns of a rule set, after one for `/robots.txt`.
fn ruled(rules: RuleSet<'_>, allows_robots_txt: bool) -> Ruled<'_> {
    let own = rules.iter().map(|(outcome, pattern)| (pattern, outcome.allows()));
    std::iter::once((robots_txt_pattern(), allows_robots_txt)).chain(own).collect()
}

words! {
    /// How much the first of two agents may fetch, compared with the second.
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

/// Returns how what `first` allows relates to what `second` allows, and a path that shows it: one that only
/// the first allows, or else one that only the second does. It is a shortest one, unless the search took
/// too long to find one.
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
    let sides = [ruled(first, true), ruled(second, true)];
    let mut budget = Budget::new(REACH_POSITIONS_MAX, 1);
    let found = differences(sides, escapes, &mut budget, 2);
    let is_cut = found.iter().any(Result::is_err);
    let mut only = found.map(|path| path.ok().flatten());
    if is_cut {
        let mut deciders = [decider(first), decider(second)];
        let paths = [first, second].into_iter().flat_map(|it| examples(it, None, language));
        for path in paths {
            let [one, other] = deciders.each_mut().map(|allows| allows(&path));
            if one != other {
                only[usize::from(other)].get_or_insert_with(|| language.written(&path));
            }
        }
    }
    let relation = match &only {
        [Some(_), Some(_)] => Relation::Other,
        _ if is_cut => return (Relation::Unknown, None),
        [Some(_), None] => Relation::More,
        [None, Some(_)] => Relation::Less,
        [None, None] => Relation::Same,
    };
    let [only_first, only_second] = only;
    (relation, only_first.or(only_second))
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;
    use portcullis_engine::RuleSetBuf;
    use portcullis_engine::pattern::PatternList;
    use portcullis_testkit::{Random, words as all_words};

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
        let rules = rules(&[("/a*b*c*d", true), ("/a*b*c*d*e", false)], true);
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
                let [one, other] = [rules(first, true), rules(second, true)];
                let (found, witness) =
                    relation(one.as_rule_set(), other.as_rule_set(), Escapes::Uri);
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
                assert_eq!(found, expected, "{first:?} {second:?}");
                assert_eq!(witness.is_some(), found != Relation::Same);
                if let Some(path) = witness {
                    assert_ne!(allows(&one, &path), allows(&other, &path), "{path:?}");
                }
            }
        }
    }

    /// Rules as sites write them: folders, parameters and file types, of some hundred rules few differ.
    #[test]
    fn relations_of_large_rule_sets_agree_with_paths_of_their_own() {
        const WORDS: [&str; 12] = [
            "cart", "search", "wp-admin", "user", "print", "tag", "feed", "api", "item", "sort",
            "page", "en",
        ];
        let mut random = Random::new(1);
        let mut pattern = || {
            let mut text = String::new();
            (0..random.within(1..=4)).for_each(|_| text += &format!("/{}", random.pick(&WORDS)));
            match random.below(32) {
                0 => format!("/*?{}=", random.pick(&WORDS)),
                1 => format!("{text}/*/{}", random.pick(&WORDS)),
                2..6 => format!("{text}/*.php$"),
                6..10 => text + "$",
                _ => text + "/",
            }
        };
        let mut sides = || {
            let common: Vec<_> = (0..300).map(|at| (pattern(), at % 5 == 0)).collect();
            [0, 1].map(|_| {
                let own = (0..4).map(|at| (pattern(), at == 0));
                let mut all: Vec<_> = common.iter().cloned().chain(own).collect();
                all.sort_by_key(|(text, allows)| Reverse((text.len(), *allows)));
                all
            })
        };
        let mut found = [0; Relation::ALL.len()];
        for _ in 0..100 {
            let sides = sides();
            let compiled = sides.each_ref().map(|side| {
                let side: Vec<_> = side.iter().map(|(text, allows)| (&**text, *allows)).collect();
                rules(&side, true)
            });
            let [one, other] = compiled.each_ref().map(RuleSetBuf::as_rule_set);
            let (relation, witness) = relation(one, other, Escapes::Uri);
            found[relation as usize] += 1;
            let mut deciders = [decider(one), decider(other)];
            let mut differs = |path: &str| {
                let [one, other] = deciders.each_mut().map(|allows| allows(path.as_bytes()));
                (one != other).then_some(one)
            };
            let of_witness = witness.map(|path| differs(str::from_utf8(&path).unwrap()).unwrap());
            assert_eq!(
                of_witness,
                match relation {
                    Relation::More | Relation::Other => Some(true),
                    Relation::Less => Some(false),
                    Relation::Same => None,
                    Relation::Unknown => continue,
                }
            );
            for (text, _) in sides.iter().flatten() {
                for (star, end) in [("", ""), ("x", "x"), ("/cart/", "/a.php"), ("a/b?sort=", "")] {
                    let path = text.trim_end_matches('$').replace('*', star) + end;
                    match differs(&path) {
                        None => {}
                        Some(true) => assert!(matches!(relation, Relation::More | Relation::Other)),
                        Some(false) => {
                            assert!(matches!(relation, Relation::Less | Relation::Other))
                        }
                    }
                }
            }
        }
        // Where a rule that may match below any folder differs, the search takes longer.
        let [unknown, other] = [Relation::Unknown, Relation::Other].map(|it| found[it as usize]);
        assert!(unknown <= 10 && other >= 10, "{found:?}");
    }
}
