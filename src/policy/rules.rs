//! Rules in order of precedence, and their compiled form.

use crate::automaton::{Automaton, Cache, Limits, Outcome};
use crate::decision::Verdict;
use crate::dialect::{PathRules, Precedence};
use crate::id::RuleID;
use crate::pattern::{PatternList, index_page_text, normal_text};
use crate::syntax::{RobotsTxt, Rule};

/// The rules that one agent obeys, the one that wins first.
///
/// Two files whose rules mean the same have equal `patterns` and `verdicts`, so those two are the
/// key under which a compiled [`RuleSet`] is shared; `rules` is each file's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderedRules {
    /// The patterns, in order of precedence. Rules that match nothing are left out.
    pub patterns: PatternList,
    /// By pattern: what its rule says.
    pub verdicts: Vec<Verdict>,
    /// By pattern: its rule in the file. A rule may have two patterns.
    pub rules: Vec<RuleID>,
}

/// A pattern before it has its place.
struct Entry {
    start: usize,
    end: usize,
    verdict: Verdict,
    rule: RuleID,
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
                push_patterns(rule, paths, &mut text, |text| {
                    let start = texts.len();
                    texts.extend_from_slice(text);
                    entries.push(Entry {
                        start,
                        end: texts.len(),
                        verdict: rule.verdict,
                        rule: id,
                    });
                });
            }
        }
        sort(&mut entries, paths.precedence);
        OrderedRules::collect(&entries, &texts, paths)
    }

    fn collect(entries: &[Entry], texts: &[u8], paths: &PathRules) -> OrderedRules {
        let mut ordered = OrderedRules::default();
        for entry in entries {
            ordered.patterns.push(&texts[entry.start..entry.end], paths.wildcards);
            ordered.verdicts.push(entry.verdict);
            ordered.rules.push(entry.rule);
        }
        ordered
    }
}

/// Hands out the normal texts of the patterns that a rule stands for: none, one or two.
fn push_patterns(
    rule: &Rule<'_>,
    paths: &PathRules,
    text: &mut Vec<u8>,
    mut push: impl FnMut(&[u8]),
) {
    if !normal_text(rule.value, paths, text) {
        return;
    }
    push(text);
    if rule.verdict == Verdict::Allow
        && let Some(directory) = index_page_text(text, paths)
    {
        push(&directory);
    }
}

/// Brings entries from file order into order of precedence.
fn sort(entries: &mut [Entry], precedence: Precedence) {
    match precedence {
        Precedence::FirstInFile => {}
        Precedence::MostOctets => entries.sort_by_key(|entry| {
            let disallows = entry.verdict != Verdict::Allow;
            (std::cmp::Reverse(entry.end - entry.start), disallows)
        }),
    }
}

/// What a compiled rule set can tell apart. Less means fewer states and an earlier end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The verdict, and whether a rule gave it.
    Reason,
    /// Which rule gave it.
    Rule,
}

/// The rules that one agent obeys, compiled.
#[derive(Debug)]
pub struct RuleSet {
    automaton: Automaton,
    /// By pattern; empty where rules are not told apart.
    verdicts: Vec<Verdict>,
}

/// What a rule set says of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleAnswer {
    /// The verdict of the rule that decides.
    pub verdict: Verdict,
    /// The position of its pattern among the [`OrderedRules`], if rules are told apart.
    pub pattern: Option<u32>,
}

impl RuleSet {
    const ALLOW: Outcome = Outcome::new(1);
    const DISALLOW: Outcome = Outcome::new(2);

    /// Compiles rules in order of precedence; `verdicts` are by pattern.
    pub fn new(
        patterns: PatternList,
        verdicts: &[Verdict],
        detail: Detail,
        limits: &Limits,
    ) -> RuleSet {
        let outcomes: Vec<Outcome> = match detail {
            Detail::Rule => (1..).take(verdicts.len()).map(Outcome::new).collect(),
            Detail::Reason => verdicts.iter().map(|&verdict| RuleSet::outcome(verdict)).collect(),
        };
        let verdicts = match detail {
            Detail::Rule => verdicts.to_vec(),
            Detail::Reason => Vec::new(),
        };
        RuleSet { automaton: Automaton::new(patterns, outcomes, limits), verdicts }
    }

    fn outcome(verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Allow => RuleSet::ALLOW,
            _ => RuleSet::DISALLOW,
        }
    }

    /// What the rule that decides says of `path`, which is in normal form; nothing if none matches.
    #[inline]
    pub fn decide(&self, path: &[u8], cache: &mut Cache) -> Option<RuleAnswer> {
        let outcome = self.automaton.decide(path, cache);
        if outcome == Outcome::NONE {
            return None;
        }
        Some(if self.verdicts.is_empty() {
            let allows = outcome == RuleSet::ALLOW;
            let verdict = if allows { Verdict::Allow } else { Verdict::Disallow };
            RuleAnswer { verdict, pattern: None }
        } else {
            let pattern = outcome.number() - 1;
            RuleAnswer { verdict: self.verdicts[pattern as usize], pattern: Some(pattern) }
        })
    }

    /// The automaton inside, for a census.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Octets of memory that this holds.
    pub fn memory_octets(&self) -> usize {
        self.automaton.memory_octets() + size_of_val(&*self.verdicts)
    }
}
