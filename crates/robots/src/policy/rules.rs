//! The patterns of the groups that apply to an agent, in normal form and in order of precedence.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::syntax::{RobotsTxt, Rule};
use crate::url::{are_plain, index_page_text, push_normal_text};
use portcullis_dialect::{Decision, LineNumber, PathRules, Precedence, Reason, RuleID, Verdict};
use portcullis_engine::RuleSetBuf;
use portcullis_engine::pattern::{Pattern, PatternList};

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
    /// The rule of each pattern in the file. A rule may have two patterns: first the one that is written,
    /// then the directory of the index page that it names.
    pub rules: Vec<RuleID>,
}

impl OrderedRules {
    /// Orders all rules of the groups at `groups` of `file`.
    pub fn new(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> OrderedRules {
        RuleTexts::new(rules_of(file, groups), paths).ordered(paths, false).1
    }

    /// Builds their rule set.
    pub fn compile(&self) -> RuleSetBuf {
        RuleSetBuf::new(&self.patterns, |pattern| self.verdicts[pattern] == Verdict::Allow)
    }

    /// Like [`OrderedRules::new`], without patterns that equal an earlier one, which decide
    /// nothing. Matchers are compiled from these patterns. Some files consist of thousands of
    /// copies of a rule, each of which would cost time and memory.
    pub fn distinct(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> OrderedRules {
        OrderedRules::distinct_with_lengths(file, groups, paths).0
    }

    /// Like [`OrderedRules::distinct`], with the bytes of each pattern that count for
    /// [`Precedence::MostBytes`]; 0 for another precedence. Of patterns of several groups that match a path,
    /// the one with the most bytes decides, of equals one that allows, of equals the first in the file.
    pub fn distinct_with_lengths(
        file: &RobotsTxt<'_>,
        groups: &[usize],
        paths: &PathRules,
    ) -> (OrderedRules, Vec<u32>) {
        let (entries, ordered) = RuleTexts::new(rules_of(file, groups), paths).ordered(paths, true);
        let lengths = entries.iter().map(|entry| (entry.rank(paths) >> 1) as u32);
        (ordered, lengths.collect())
    }
}

/// A rule as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenRule<'t> {
    pub(super) value: &'t [u8],
    pub(super) verdict: Verdict,
    pub(super) line: LineNumber,
    pub(super) id: RuleID,
}

/// Returns the rules of the groups at `groups` of `file`.
pub(super) fn rules_of<'f>(
    file: &'f RobotsTxt<'_>,
    groups: &'f [usize],
) -> impl Iterator<Item = WrittenRule<'f>> + Clone {
    groups.iter().flat_map(|&group| {
        let group = &file.groups()[group];
        let rules = file.rules_of(group).iter().zip(group.rules.clone());
        rules.map(|(rule, number)| {
            let Rule { value, verdict, line, .. } = *rule;
            WrittenRule { value, verdict, line, id: RuleID(number) }
        })
    })
}

/// Returns the rank of a pattern of so many bytes: the greatest decides, of equals the first. The bytes that count, and
/// then whether it allows.
pub(super) fn rank(bytes: usize, verdict: Verdict, paths: &PathRules) -> u64 {
    match paths.precedence {
        Precedence::MostBytes => bytes as u64 * 2 + u64::from(verdict == Verdict::Allow),
        Precedence::FirstInFile => 0,
    }
}

/// Patterns of rules, as normal texts in the order of the file.
#[derive(Debug, Default)]
pub(super) struct RuleTexts {
    texts: Vec<u8>,
    pub(super) entries: Vec<RuleText>,
}

/// A pattern of [`RuleTexts`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleText {
    start: usize,
    end: usize,
    pub(super) rule: RuleID,
    line: LineNumber,
    pub(super) verdict: Verdict,
}

impl RuleText {
    /// Returns the [rank] of the pattern.
    fn rank(&self, paths: &PathRules) -> u64 {
        rank(self.end - self.start, self.verdict, paths)
    }

    /// Returns the decision of a path that the pattern decides.
    pub(super) fn decision(&self) -> Decision {
        let RuleText { verdict, rule, line, .. } = *self;
        Decision { verdict, reason: Reason::Rule, rule: Some(rule), line: Some(line) }
    }
}

impl RuleTexts {
    /// Returns the patterns of rules. Rules that match nothing have none.
    pub(super) fn new<'t>(
        rules: impl Iterator<Item = WrittenRule<'t>> + Clone,
        paths: &PathRules,
    ) -> RuleTexts {
        let sizes = rules
            .clone()
            .fold((0, 0), |(bytes, count), rule| (bytes + rule.value.len(), count + 1));
        let (texts, entries) = sizes;
        let mut all =
            RuleTexts { texts: Vec::with_capacity(texts), entries: Vec::with_capacity(entries) };
        // Most files are in normal form, and one look at all texts is cheaper than one at each.
        let mut anchors = 0;
        rules.clone().for_each(|rule| anchors += all.push(&rule, paths, true));
        if !are_plain(&all.texts, anchors, paths) {
            all.texts.clear();
            all.entries.clear();
            rules.for_each(|rule| {
                all.push(&rule, paths, false);
            });
        }
        all
    }

    /// Appends a pattern of a rule.
    pub(super) fn add(&mut self, rule: &WrittenRule<'_>, text: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        self.push_last(start, rule);
    }

    /// Returns the patterns of a rule: none if it matches nothing.
    pub(super) fn of_rule(rule: &WrittenRule<'_>, paths: &PathRules) -> RuleTexts {
        let mut texts = RuleTexts::default();
        texts.push(rule, paths, false);
        texts
    }

    /// Appends the patterns of a rule; returns the number of texts that end in `$`. If it `is_plain`, its
    /// value is in normal form.
    #[inline]
    fn push(&mut self, rule: &WrittenRule<'_>, paths: &PathRules, is_plain: bool) -> usize {
        let (start, anchor) = (self.texts.len(), usize::from(rule.value.ends_with(b"$")));
        let is_plain = is_plain || are_plain(rule.value, anchor, paths);
        if !push_normal_text(rule.value, paths, is_plain, &mut self.texts) {
            return 0;
        }
        self.push_last(start, rule);
        if rule.verdict == Verdict::Allow
            && let Some(directory) = index_page_text(&self.texts[start..], paths)
        {
            let start = self.texts.len();
            self.texts.extend_from_slice(&directory);
            self.push_last(start, rule);
            return anchor + 1;
        }
        anchor
    }

    /// Appends the pattern of `rule` whose text is the last, from `start` on.
    fn push_last(&mut self, start: usize, rule: &WrittenRule<'_>) {
        let (end, WrittenRule { verdict, line, id, .. }) = (self.texts.len(), *rule);
        self.entries.push(RuleText { start, end, rule: id, line, verdict });
    }

    pub(super) fn text(&self, entry: &RuleText) -> &[u8] {
        &self.texts[entry.start..entry.end]
    }

    /// Returns the patterns in order of precedence; each pattern once if they are to be `distinct`.
    pub(super) fn ordered(
        &self,
        paths: &PathRules,
        distinct: bool,
    ) -> (Vec<RuleText>, OrderedRules) {
        let mut entries = sorted(&self.entries, paths);
        let mut patterns = PatternList::new();
        patterns.reserve(entries.len(), self.texts.len());
        let mut known = HashTable::with_capacity(if distinct { entries.len() } else { 0 });
        let state = RandomState::default();
        entries.retain(|entry| {
            let number = patterns.len();
            patterns.push(self.text(entry), paths.wildcards);
            if !distinct {
                return true;
            }
            let hash_of = |pattern: Pattern<'_>| state.hash_one(pattern.bytes());
            let pattern = patterns.get(number);
            let hash = hash_of(pattern);
            let is_new = known.find(hash, |&other| patterns.get(other) == pattern).is_none();
            if is_new {
                known.insert_unique(hash, number, |&other| hash_of(patterns.get(other)));
            }
            patterns.truncate(number + usize::from(is_new));
            is_new
        });
        let ordered = OrderedRules {
            patterns,
            verdicts: entries.iter().map(|entry| entry.verdict).collect(),
            rules: entries.iter().map(|entry| entry.rule).collect(),
        };
        (entries, ordered)
    }
}

/// Returns patterns, which are in the order of the file, in order of precedence.
pub(super) fn sorted(entries: &[RuleText], paths: &PathRules) -> Vec<RuleText> {
    // A number for each is moved and compared faster than an entry. A file has less than 2^32 bytes, a rule
    // at least eight of them, and a byte at most three of a normal text.
    const PLACE_BITS: u32 = 29;
    let place = |(place, entry): (usize, &RuleText)| {
        ((u64::MAX >> PLACE_BITS) - entry.rank(paths)) << PLACE_BITS | place as u64
    };
    let mut places: Vec<u64> = (0..).zip(entries).map(place).collect();
    places.sort_unstable();
    let entry = |place: u64| entries[(place & !(u64::MAX << PLACE_BITS)) as usize];
    places.into_iter().map(entry).collect()
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
