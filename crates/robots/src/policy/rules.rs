//! Rules in order of precedence, and how much of a site they allow.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::syntax::{RobotsTxt, Rule};
use portcullis_dialect::limits::{REACH_EXAMPLES_MAX, REACH_POSITIONS_MAX};
use portcullis_dialect::{Dialect, PathRules, Precedence, RuleID, Verdict};
use portcullis_engine::automaton::{self, Reach};
use portcullis_engine::pattern::{PathPattern, PatternList, index_page_text, normal_text};
use portcullis_engine::{outcomes, pattern_matches};

/// The rules of the groups that apply to an agent, in order of precedence: the first match decides.
///
/// Files with equivalent rules have equal `patterns` and `verdicts`, which are the key of a shared
/// rule set. `rules` differs per file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrderedRules {
    /// The patterns, in order of precedence. Rules that can match nothing are left out.
    pub patterns: PatternList,
    /// The verdict of each pattern.
    pub verdicts: Vec<Verdict>,
    /// The rule of each pattern in the file. A rule may have two patterns.
    pub rules: Vec<RuleID>,
    /// For each pattern: whether it is the directory of the index page that the rule names.
    pub directories: Vec<bool>,
}

/// A pattern before sorting.
struct Entry {
    start: usize,
    end: usize,
    verdict: Verdict,
    rule: RuleID,
    directory: bool,
}

impl OrderedRules {
    /// Orders all rules of the groups at `groups` of `file`.
    pub fn new(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> OrderedRules {
        OrderedRules::of(file, groups, paths, false)
    }

    /// Like [`OrderedRules::new`], without patterns that equal an earlier one, which decide
    /// nothing. Matchers are compiled from these patterns. Some files consist of thousands of
    /// copies of a rule, each of which would cost time and memory.
    pub fn distinct(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> OrderedRules {
        OrderedRules::of(file, groups, paths, true)
    }

    fn of(
        file: &RobotsTxt<'_>,
        groups: &[usize],
        paths: &PathRules,
        are_distinct: bool,
    ) -> OrderedRules {
        let rules = groups.iter().map(|&group| file.rules_of(&file.groups()[group]));
        let count = rules.clone().map(<[Rule<'_>]>::len).sum();
        let bytes = rules.flatten().map(|rule| rule.value.len()).sum();
        let (mut entries, mut texts) = (Vec::with_capacity(count), Vec::with_capacity(bytes));
        let mut text = Vec::new();
        for &group in groups {
            let group = &file.groups()[group];
            for (rule, id) in file.rules_of(group).iter().zip(group.rule_ids()) {
                push_patterns(rule, paths, &mut text, |text, directory| {
                    let start = texts.len();
                    texts.extend_from_slice(text);
                    entries.push(Entry {
                        start,
                        end: texts.len(),
                        verdict: rule.verdict,
                        rule: id,
                        directory,
                    });
                });
            }
        }
        sort(&mut entries, paths.precedence);
        let known = are_distinct.then(|| KnownPatterns::with_capacity(entries.len()));
        OrderedRules::collect(&entries, &texts, paths, known)
    }

    /// Parses the patterns in order; leaves out those in `known`, if it is given.
    fn collect(
        entries: &[Entry],
        texts: &[u8],
        paths: &PathRules,
        mut known: Option<KnownPatterns>,
    ) -> OrderedRules {
        let mut ordered = OrderedRules {
            patterns: PatternList::new(),
            verdicts: Vec::with_capacity(entries.len()),
            rules: Vec::with_capacity(entries.len()),
            directories: Vec::with_capacity(entries.len()),
        };
        ordered.patterns.reserve(entries.len(), texts.len());
        for entry in entries {
            ordered.patterns.push(&texts[entry.start..entry.end], paths.wildcards);
            if known.as_mut().is_some_and(|known| !known.add_last(&ordered.patterns)) {
                ordered.patterns.pop();
                continue;
            }
            ordered.verdicts.push(entry.verdict);
            ordered.rules.push(entry.rule);
            ordered.directories.push(entry.directory);
        }
        ordered
    }
}

/// The distinct patterns of a list, by position.
#[derive(Default)]
struct KnownPatterns {
    positions: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

impl KnownPatterns {
    fn with_capacity(patterns: usize) -> KnownPatterns {
        let positions = HashTable::with_capacity(patterns);
        KnownPatterns { positions, ..KnownPatterns::default() }
    }

    /// Adds the last pattern of `patterns`; returns false if an equal one is known.
    fn add_last(&mut self, patterns: &PatternList) -> bool {
        let hash = |&position: &u32| self.hasher.hash_one(patterns.get(position as usize));
        let last = patterns.len() as u32 - 1;
        let pattern = patterns.get(last as usize);
        let is_same = |&position: &u32| patterns.get(position as usize) == pattern;
        let of_last = hash(&last);
        let is_known = self.positions.find(of_last, is_same).is_some();
        if !is_known {
            self.positions.insert_unique(of_last, last, hash);
        }
        !is_known
    }
}

/// Calls `push` with the normal text of each pattern of a rule: none, one, or two if it also allows
/// a directory.
fn push_patterns(
    rule: &Rule<'_>,
    paths: &PathRules,
    text: &mut Vec<u8>,
    mut push: impl FnMut(&[u8], bool),
) {
    if !normal_text(rule.value, paths, text) {
        return;
    }
    push(text, false);
    if rule.verdict == Verdict::Allow
        && let Some(directory) = index_page_text(text, paths)
    {
        push(&directory, true);
    }
}

/// Sorts entries from file order into order of precedence.
fn sort(entries: &mut [Entry], precedence: Precedence) {
    match precedence {
        Precedence::FirstInFile => {}
        Precedence::MostBytes => entries.sort_by_key(|entry| {
            let disallows = entry.verdict != Verdict::Allow;
            (std::cmp::Reverse(entry.end - entry.start), disallows)
        }),
    }
}

/// Returns how much of a site the rules of `groups` allow, or `None` if that takes more than
/// [`REACH_POSITIONS_MAX`].
///
/// Nearly always one disallowed and one allowed path are enough. Candidates are made from the
/// patterns, with `-` for each star. An automaton is built only if no example is found and no rule
/// that matches every path explains why.
pub fn reach(file: &RobotsTxt<'_>, groups: &[usize], dialect: &Dialect) -> Option<Reach> {
    let rules = || groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
    let disallows = |rule: &&Rule<'_>| rule.verdict == Verdict::Disallow && !rule.value.is_empty();
    match rules().find(disallows) {
        None => Some(Reach::Everything),
        Some(rule) if rule.value == b"/" && rules().count() == 1 => Some(Reach::Nothing),
        Some(_) => reach_of_rules(OrderedRules::new(file, groups, &dialect.paths)),
    }
}

/// Like [`reach`], for rules in order of precedence.
pub fn reach_of_rules(rules: OrderedRules) -> Option<Reach> {
    let mut path = Vec::new();
    let mut example = |verdict: Verdict| {
        let verdicts = rules.patterns.iter().zip(&rules.verdicts);
        let mut patterns = verdicts.filter(|(_, other)| **other == verdict);
        patterns.by_ref().take(REACH_EXAMPLES_MAX).any(|(pattern, _)| {
            write_path(&pattern, &mut path);
            decide(&rules, &path) == verdict
        })
    };
    let disallows_some = example(Verdict::Disallow);
    // First a path that no pattern targets, then the paths of allowing rules.
    let allows_some = decide(&rules, b"/-") == Verdict::Allow || example(Verdict::Allow);
    match (disallows_some, allows_some) {
        (true, true) => Some(Reach::Part),
        (true, false) if disallows_all(&rules) => Some(Reach::Nothing),
        _ => of_automaton(&rules),
    }
}

/// Returns the verdict on a path.
fn decide(rules: &OrderedRules, path: &[u8]) -> Verdict {
    let best = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
    best.map_or(Verdict::Allow, |best| rules.verdicts[best])
}

/// Writes a path that `pattern` matches.
fn write_path(pattern: &PathPattern<'_>, path: &mut Vec<u8>) {
    path.clear();
    let mut from = 0;
    for star in pattern.stars() {
        path.extend_from_slice(&pattern.bytes[from..star]);
        path.push(b'-');
        from = star;
    }
    path.extend_from_slice(&pattern.bytes[from..]);
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
}

/// Returns whether a rule that matches every path disallows, and no rule before it allows.
fn disallows_all(rules: &OrderedRules) -> bool {
    let matches_all = |pattern: &PathPattern<'_>| {
        let stars = pattern.stars().len();
        match pattern.bytes {
            b"" => stars > 0,
            // Stars on either side have no effect, unless the pattern is anchored and has no final
            // star.
            b"/" => !pattern.anchored || pattern.stars().any(|star| star == 1),
            _ => false,
        }
    };
    let first = rules.patterns.iter().position(|pattern| matches_all(&pattern));
    first.is_some_and(|first| {
        rules.verdicts[..=first].iter().all(|&verdict| verdict == Verdict::Disallow)
    })
}

fn of_automaton(rules: &OrderedRules) -> Option<Reach> {
    automaton::reach(&rules.patterns, &outcomes(&rules.verdicts), REACH_POSITIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{GOOGLE, ORIGINAL_1994, RFC_9309};

    fn of(rules: &str, dialect: &Dialect) -> Option<Reach> {
        let text = format!("User-agent: *\n{rules}\n");
        let file = RobotsTxt::parse(text.as_bytes(), dialect, None);
        let groups: Vec<usize> = (0..file.groups().len()).collect();
        reach(&file, &groups, dialect)
    }

    #[test]
    fn reach_of_small_files() {
        let cases = [
            ("", Reach::Everything),
            ("Disallow:", Reach::Everything),
            ("Allow: /", Reach::Everything),
            ("Disallow: /", Reach::Nothing),
            ("Disallow: /\nDisallow: /a", Reach::Nothing),
            ("Disallow: /\nAllow: /a", Reach::Part),
            ("Disallow: /*\nAllow: /", Reach::Nothing),
            ("Disallow: *", Reach::Nothing),
            ("Disallow: *$", Reach::Nothing),
            ("Disallow: /*$", Reach::Nothing),
            ("Disallow: */", Reach::Nothing),
            ("Disallow: */$", Reach::Part),
            ("Disallow: /$", Reach::Part),
            ("Disallow: /a\nAllow: /a", Reach::Everything),
            ("Disallow: /a/b\nAllow: /a/b\nAllow: /a/b/c", Reach::Everything),
            ("Disallow: /a\nDisallow: /a/b\nAllow: /a", Reach::Part),
            ("Disallow: /%4*1", Reach::Part),
            ("Disallow: a", Reach::Everything),
        ];
        for (rules, expected) in cases {
            assert_eq!(of(rules, &RFC_9309), Some(expected), "{rules}");
        }
        assert_eq!(of("Allow: /a\nDisallow: /", &ORIGINAL_1994), Some(Reach::Nothing));
    }

    #[test]
    fn distinct_rules_leave_out_repeated_patterns() {
        let text = b"User-agent: *\nDisallow: /a\nAllow: /a*\nAllow: /b/index.html\nAllow: /a\n\
            Disallow: /b/$\nDisallow: /c**d\nDisallow: /c*d*\nDisallow: /c*d$\n";
        let lines = |dialect: &Dialect, order: fn(&_, &[usize], &_) -> OrderedRules| {
            let file = RobotsTxt::parse(text, dialect, None);
            let ordered = order(&file, &[0], &dialect.paths);
            assert_eq!(ordered.patterns.len(), ordered.rules.len());
            assert_eq!(ordered.verdicts.len(), ordered.rules.len());
            assert_eq!(ordered.directories.len(), ordered.rules.len());
            let verdict = |(rule, verdict): (&RuleID, _)| {
                assert_eq!(file.rules()[rule.index()].verdict, verdict);
                file.rules()[rule.index()].line.get()
            };
            ordered.rules.iter().zip(ordered.verdicts).map(verdict).collect::<Vec<_>>()
        };
        assert_eq!(lines(&RFC_9309, OrderedRules::new), [4, 7, 8, 9, 6, 3, 5, 2]);
        assert_eq!(lines(&RFC_9309, OrderedRules::distinct), [4, 7, 9, 6, 3]);
        // The second pattern of line 4 is that of line 6.
        assert_eq!(lines(&GOOGLE, OrderedRules::new), [4, 7, 8, 9, 4, 6, 3, 5, 2]);
        assert_eq!(lines(&GOOGLE, OrderedRules::distinct), [4, 7, 9, 4, 3]);
    }

    #[test]
    fn automata_agree() {
        let texts = ["/", "/*", "*", "/a", "/*a", "/a$", "*/", "/$", "*$", "/a*"];
        let rules =
            texts.iter().flat_map(|text| [format!("Allow: {text}"), format!("Disallow: {text}")]);
        let rules: Vec<String> = rules.collect();
        for one in &rules {
            for other in &rules {
                let text = format!("User-agent: *\n{one}\n{other}\n");
                let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
                let ordered = OrderedRules::new(&file, &[0], &RFC_9309.paths);
                let expected = of_automaton(&ordered);
                assert_eq!(reach(&file, &[0], &RFC_9309), expected, "{one}, {other}");
            }
        }
    }
}
