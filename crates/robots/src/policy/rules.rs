//! The rules of an agent: tried one by one, in order of precedence, compiled.
//!
//! Most programs that fetch one robots.txt ask it once, or a few times. Trying a rule costs such a
//! question a few nanoseconds, and compiling it some hundred times as much. So [`AskedRules`] try the
//! rules until the paths have paid for compiling, then become a
//! [rule set](portcullis_engine::ruleset), which decides all later paths. Both ways give the same
//! answer: the first pattern in order of precedence that matches.

use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::syntax::{Group, RobotsTxt, Rule};
use crate::url::{IsPlain, are_plain, index_page_text, push_normal_text};
use portcullis_dialect::{Decision, LineNumber, PathRules, Precedence, Reason, RuleID, Verdict};
use portcullis_engine::bytes::first_bytes;
use portcullis_engine::pattern::{Pattern, PatternList};
use portcullis_engine::{Outcome, RuleSetBuf, Settings, SharedRuleSet};

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
        RuleTexts::new(file, groups, paths).ordered(paths, false).1
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
        let (entries, ordered) = RuleTexts::new(file, groups, paths).ordered(paths, true);
        let lengths = entries.iter().map(|entry| (entry.rank(paths) >> 1) as u32);
        (ordered, lengths.collect())
    }
}

/// The patterns of the groups that apply to an agent, as normal texts in the order of the file.
#[derive(Debug)]
pub(super) struct RuleTexts {
    texts: Vec<u8>,
    entries: Vec<RuleText>,
}

/// A pattern of [`RuleTexts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleText {
    start: usize,
    end: usize,
    /// The first bytes of each path that the pattern matches, and a mask of those that are known.
    head: u64,
    mask: u64,
    pub(super) rule: RuleID,
    line: LineNumber,
    pub(super) verdict: Verdict,
}

impl RuleText {
    /// Returns the rank: the greatest decides, of equals the first. The bytes that count, and then whether it allows.
    fn rank(&self, paths: &PathRules) -> u64 {
        match paths.precedence {
            Precedence::MostBytes => {
                (self.end - self.start) as u64 * 2 + u64::from(self.verdict == Verdict::Allow)
            }
            Precedence::FirstInFile => 0,
        }
    }

    /// Returns the decision of a path that the pattern decides.
    pub(crate) fn decision(&self) -> Decision {
        let RuleText { verdict, rule, line, .. } = *self;
        Decision { verdict, reason: Reason::Rule, rule: Some(rule), line: Some(line) }
    }
}

impl RuleTexts {
    /// Returns the patterns of the groups at `groups` of `file`. Rules that match nothing have none.
    pub(super) fn new(file: &RobotsTxt<'_>, groups: &[usize], paths: &PathRules) -> RuleTexts {
        let groups = || groups.iter().map(|&group| &file.groups()[group]);
        let (texts, entries) = (
            groups().flat_map(|group| file.rules_of(group)).map(|rule| rule.value.len()).sum(),
            groups().map(|group| group.rules.len()).sum(),
        );
        let mut all =
            RuleTexts { texts: Vec::with_capacity(texts), entries: Vec::with_capacity(entries) };
        // Most files are in normal form, and one look at all texts is cheaper than one at each.
        let anchors = all.extend(file, groups(), paths, true);
        if !are_plain(&all.texts, anchors, paths) {
            all.texts.clear();
            all.entries.clear();
            all.extend(file, groups(), paths, false);
        }
        all
    }

    /// Finds the heads of the patterns, which pay for themselves when the patterns are tried.
    fn with_heads(mut self, wildcards: bool) -> RuleTexts {
        for entry in &mut self.entries {
            let bytes = entry.end - entry.start;
            (entry.head, entry.mask) = head(&self.texts[entry.start..], bytes, wildcards);
        }
        self
    }

    /// Appends the patterns of groups; returns the number of texts that end in `$`. If `are_plain`, the
    /// values are in normal form.
    fn extend<'g>(
        &mut self,
        file: &RobotsTxt<'_>,
        groups: impl Iterator<Item = &'g Group>,
        paths: &PathRules,
        are_plain: bool,
    ) -> usize {
        let mut anchors = 0;
        for group in groups {
            for (rule, id) in file.rules_of(group).iter().zip(group.rule_ids()) {
                anchors += self.push(rule, id, paths, are_plain);
            }
        }
        anchors
    }

    /// Appends the patterns of a rule; returns the number of texts that end in `$`.
    #[inline]
    fn push(&mut self, rule: &Rule<'_>, id: RuleID, paths: &PathRules, is_plain: bool) -> usize {
        let (start, anchor) = (self.texts.len(), usize::from(rule.value.ends_with(b"$")));
        let is_plain = is_plain || are_plain(rule.value, anchor, paths);
        if !push_normal_text(rule.value, paths, is_plain, &mut self.texts) {
            return 0;
        }
        self.push_last(start, rule, id);
        if rule.verdict == Verdict::Allow
            && let Some(directory) = index_page_text(&self.texts[start..], paths)
        {
            let start = self.texts.len();
            self.texts.extend_from_slice(&directory);
            self.push_last(start, rule, id);
            return anchor + 1;
        }
        anchor
    }

    /// Appends the pattern of `rule` whose text is the last, from `start` on.
    fn push_last(&mut self, start: usize, rule: &Rule<'_>, id: RuleID) {
        let (end, Rule { verdict, line, .. }) = (self.texts.len(), *rule);
        let (head, mask) = (0, 0);
        self.entries.push(RuleText { start, end, head, mask, rule: id, line, verdict });
    }

    pub(super) fn text(&self, entry: &RuleText) -> &[u8] {
        &self.texts[entry.start..entry.end]
    }

    /// Returns the patterns that match `path`, a path in normal form, in the order of the file.
    pub(super) fn matching(&self, path: &[u8], wildcards: bool) -> impl Iterator<Item = &RuleText> {
        let head = first_bytes(path) as u64;
        let bytes = bytes_of(path) | if wildcards { bytes_of(b"*$") } else { 0 };
        let starts = move |entry: &&RuleText| (head ^ entry.head) & entry.mask == 0;
        let may_match = move |entry: &&RuleText| bytes_of(self.text(entry)) & !bytes == 0;
        let matches =
            move |entry: &&RuleText| Pattern::from_text(self.text(entry), wildcards).matches(path);
        self.entries.iter().filter(starts).filter(may_match).filter(matches)
    }

    /// Returns the pattern that decides `path`, a path in normal form; `None` if none matches.
    fn deciding(&self, path: &[u8], paths: &PathRules) -> Option<&RuleText> {
        let matching = self.matching(path, paths.wildcards);
        matching.reduce(|best, it| if it.rank(paths) > best.rank(paths) { it } else { best })
    }

    /// Returns the patterns in order of precedence; each pattern once if they are to be `distinct`.
    fn ordered(&self, paths: &PathRules, distinct: bool) -> (Vec<RuleText>, OrderedRules) {
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

/// Returns the set of the bytes of a text, modulo 64.
fn bytes_of(text: &[u8]) -> u64 {
    text.iter().fold(0, |set, &byte| set | 1 << (byte % 64))
}

/// Returns the first bytes of the pattern whose normal text is the first `bytes` of `text`, and a mask of
/// those before its first star and its anchor.
fn head(text: &[u8], bytes: usize, wildcards: bool) -> (u64, u64) {
    let head = first_bytes(text) as u64;
    let each = |byte: u8| u64::from_ne_bytes([byte; 8]);
    // The highest bit of each byte that is `byte`, and of some after the first of them.
    let places = |byte| {
        let differs = head ^ each(byte);
        differs.wrapping_sub(each(1)) & !differs & each(0x80)
    };
    let special = if wildcards { places(b'*') | places(b'$') } else { 0 };
    let bits = (8 * bytes).min(special.trailing_zeros() as usize & !7);
    (head, !u64::MAX.checked_shl(bits as u32).unwrap_or(0))
}

/// Bytes of the paths that the rules are tried with: 2 KiB. Then the rules are compiled.
///
/// Source: measured on popular files. Compiling costs as much as trying some fifty paths.
const TRIED_PATH_BYTES_MAX: usize = 2 * 1024;

/// Bytes of the paths that the rules are tried with, times the bytes of the patterns: 16 Mi.
///
/// Source: our choice. It takes some milliseconds at most, whatever the patterns are.
const TRIED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The rules of the groups that apply to an agent, which are compiled once the paths have paid for it.
///
/// Threads share them without a lock, but for those that arrive while they are compiled.
#[derive(Debug)]
pub(crate) struct AskedRules {
    paths: &'static PathRules,
    texts: RuleTexts,
    /// Bytes of the paths that are still tried.
    bytes_left: AtomicUsize,
    compiled: OnceLock<CompiledRules>,
}

#[derive(Debug)]
struct CompiledRules {
    rules: SharedRuleSet,
    /// The source of each pattern.
    entries: Vec<RuleText>,
}

impl AskedRules {
    /// Returns the rules of the groups at `groups` of `file`.
    pub(crate) fn new(
        file: &RobotsTxt<'_>,
        groups: &[usize],
        paths: &'static PathRules,
    ) -> AskedRules {
        let texts = RuleTexts::new(file, groups, paths).with_heads(paths.wildcards);
        let bytes_max = TRIED_BYTES_MAX / texts.texts.len().max(1);
        let bytes_left = AtomicUsize::new(bytes_max.min(TRIED_PATH_BYTES_MAX));
        AskedRules { paths, texts, bytes_left, compiled: OnceLock::new() }
    }

    /// Returns the rule that decides `path`, a path in normal form; `None` if no rule matches.
    pub(crate) fn deciding(&self, path: &[u8]) -> Option<&RuleText> {
        match self.compiled.get() {
            Some(compiled) => compiled.entry(compiled.rules.decide(path)),
            None => self.try_or_compile(path),
        }
    }

    /// Like [`AskedRules::deciding`], for a path as written. The outer `None` if the rules are not compiled,
    /// the path may have another normal form, or it needs an automaton.
    #[inline]
    pub(crate) fn deciding_if_plain(&self, path: &[u8]) -> Option<Option<&RuleText>> {
        let (compiled, escapes) = (self.compiled.get()?, self.paths.escapes);
        let outcome = compiled.rules.decide_if(IsPlain { path, escapes }, path)?;
        Some(compiled.entry(outcome))
    }

    #[inline(never)]
    fn try_or_compile(&self, path: &[u8]) -> Option<&RuleText> {
        // Threads that count at once may compile a little later.
        match self.bytes_left.load(Ordering::Relaxed).checked_sub(path.len()) {
            Some(left) => {
                self.bytes_left.store(left, Ordering::Relaxed);
                self.texts.deciding(path, self.paths)
            }
            None => {
                let compile = || CompiledRules::new(&self.texts, self.paths);
                let compiled = self.compiled.get_or_init(compile);
                compiled.entry(compiled.rules.decide(path))
            }
        }
    }
}

impl CompiledRules {
    fn new(texts: &RuleTexts, paths: &PathRules) -> CompiledRules {
        let (entries, ordered) = texts.ordered(paths, true);
        CompiledRules { rules: SharedRuleSet::new(ordered.compile(), Settings::default()), entries }
    }

    #[inline]
    fn entry(&self, outcome: Outcome) -> Option<&RuleText> {
        outcome.pattern().map(|pattern| &self.entries[pattern])
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
