//! Rules in order of precedence.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::syntax::{RobotsTxt, Rule};
use crate::url::{index_page_text, normal_text};
use portcullis_dialect::{PathRules, Precedence, RuleID, Verdict};
use portcullis_engine::pattern::PatternList;

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

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{Dialect, GOOGLE, RFC_9309};

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
}
