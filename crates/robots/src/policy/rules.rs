//! Rules in order of precedence.

use crate::syntax::{RobotsTxt, Rule};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{PathRules, Precedence};
use portcullis_dialect::id::RuleID;
use portcullis_matcher::automaton::Outcome;
use portcullis_matcher::pattern::{PatternList, index_page_text, normal_text};

/// The rules that one agent obeys, the one that wins first.
///
/// Two files whose rules mean the same have equal `patterns` and `verdicts`, so those two are the
/// key under which a rule set is shared; `rules` is each file's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OrderedRules {
    /// The patterns, in order of precedence. Rules that match nothing are left out.
    pub patterns: PatternList,
    /// By pattern: what its rule says.
    pub verdicts: Vec<Verdict>,
    /// By pattern: its rule in the file. A rule may have two patterns.
    pub rules: Vec<RuleID>,
    /// By pattern: whether it is that of the directory whose index page the rule names.
    pub directories: Vec<bool>,
}

/// A pattern before it has its place.
struct Entry {
    start: usize,
    end: usize,
    verdict: Verdict,
    rule: RuleID,
    directory: bool,
}

impl OrderedRules {
    /// Orders the rules of the groups at `groups` of `file`.
    pub fn new(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> OrderedRules {
        let mut texts = Vec::new();
        let mut entries = Vec::new();
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
        OrderedRules::collect(&entries, &texts, paths)
    }

    fn collect(entries: &[Entry], texts: &[u8], paths: &PathRules) -> OrderedRules {
        let mut ordered = OrderedRules {
            patterns: PatternList::new(),
            verdicts: Vec::with_capacity(entries.len()),
            rules: Vec::with_capacity(entries.len()),
            directories: Vec::with_capacity(entries.len()),
        };
        ordered.patterns.reserve(entries.len(), texts.len());
        for entry in entries {
            ordered.patterns.push(&texts[entry.start..entry.end], paths.wildcards);
            ordered.verdicts.push(entry.verdict);
            ordered.rules.push(entry.rule);
            ordered.directories.push(entry.directory);
        }
        ordered
    }
}

/// Hands out the normal texts of the patterns that a rule stands for: none, one or two; the second
/// is that of a directory.
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

/// Brings entries from file order into order of precedence.
fn sort(entries: &mut [Entry], precedence: Precedence) {
    match precedence {
        Precedence::FirstInFile => {}
        Precedence::MostBytes => entries.sort_by_key(|entry| {
            let disallows = entry.verdict != Verdict::Allow;
            (std::cmp::Reverse(entry.end - entry.start), disallows)
        }),
    }
}

/// By pattern, what its match means to an automaton: its position, counted from 1, and its verdict.
pub fn outcomes(verdicts: &[Verdict]) -> Vec<Outcome> {
    let numbered = (1..).zip(verdicts);
    numbered.map(|(number, &verdict)| Outcome::new(number, verdict == Verdict::Allow)).collect()
}
