//! Rule sets: the prefilter that answers most paths, and what the automaton behind it is built from.

use std::ops::Range;

use zerocopy::FromBytes;
use zerocopy::little_endian::{U16, U32};

use portcullis_matcher::automaton::{Outcome, PatternTexts, Patterns, PrefilterLine, is_constant};
use portcullis_matcher::pattern::PatternList;

use super::super::file::Damage;
use super::super::layout::{NONE, rule_set};
use super::PolicySet;

/// The number of a rule set. Equal rule sets have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSetNumber(pub(super) u32);

impl RuleSetNumber {
    /// The number, as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rule set.
#[derive(Clone, Copy, Debug)]
pub struct StoredRuleSet<'s> {
    number: u32,
    words: &'s [U32],
}

/// How a rule set is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleSetKind {
    /// As a prefilter and the patterns in order of precedence.
    Patterns,
    /// Not at all: it is ordered anew from a policy's groups when an agent asks.
    OfGroups,
}

impl PolicySet {
    /// The rule set with a number.
    #[inline]
    pub fn rule_set(&self, number: RuleSetNumber) -> Result<StoredRuleSet<'_>, Damage> {
        let first = number.0.saturating_mul(rule_set::WORDS as u32);
        let words = self.words(self.sections.rule_sets, first, rule_set::WORDS)?;
        Ok(StoredRuleSet { number: number.0, words })
    }

    /// The number of rule sets that there is room for.
    pub(super) fn rule_set_count(&self) -> u32 {
        let bytes = (rule_set::WORDS * size_of::<U32>()) as u64;
        u32::try_from(self.sections.rule_sets.bytes() / bytes).unwrap_or(u32::MAX)
    }

    /// All rule sets, in the order of their numbers.
    pub fn rule_sets(&self) -> impl Iterator<Item = Result<StoredRuleSet<'_>, Damage>> {
        (0..self.rule_set_count()).map(|number| self.rule_set(RuleSetNumber(number)))
    }

    /// The lines of all prefilters. Those of a rule set may be used once
    /// [`PolicySet::prefilter`] has compared their checksums.
    #[inline]
    pub(super) fn prefilter_lines(&self) -> &[PrefilterLine] {
        let bytes = self.file.uncompared(self.sections.prefilters);
        let whole = bytes.len() - bytes.len() % size_of::<PrefilterLine>();
        <[PrefilterLine]>::ref_from_bytes(&bytes[..whole]).unwrap_or_default()
    }

    /// Where the prefilter of a rule set stands among [`PolicySet::prefilter_lines`]; nothing if it is made
    /// of groups.
    #[inline]
    pub(super) fn prefilter(
        &self,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<Option<Range<u32>>, Damage> {
        let Some(lines) = rule_set.lines() else { return Ok(None) };
        let count = lines.end - lines.start;
        // A head that is zeros, or none, would be no answer; and no rule set has this number.
        if lines.is_empty() || lines.start >= PREFILTER_LINES_MAX {
            return Err(self.malformed_rule_set(rule_set, "a rule set has no prefilter"));
        }
        let section = self.sections.prefilters;
        let _: &[PrefilterLine] = self.file.items(section, lines.start.into(), count.into())?;
        Ok(Some(lines))
    }

    /// Whether a rule set has one outcome for every path; its prefilter has nothing to look for then.
    pub(crate) fn is_constant(&self, rule_set: &StoredRuleSet<'_>) -> Result<bool, Damage> {
        let Some(lines) = self.prefilter(rule_set)? else { return Ok(false) };
        let is_constant = is_constant(self.prefilter_lines(), lines.start as usize);
        is_constant.ok_or_else(|| self.malformed_rule_set(rule_set, "a rule set has no prefilter"))
    }

    /// The patterns of a rule set that is kept as such, and what their matches mean.
    pub(crate) fn pattern_list(
        &self,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<(PatternList, Vec<Outcome>), Damage> {
        let table = self.pattern_table(rule_set)?;
        let patterns = Patterns { table, texts: StoredTexts(self) };
        // A rule stands for its own pattern and for that of a directory, each byte of which may be escaped.
        let bytes_max = self.record_bytes_max().saturating_mul(2 * ESCAPED_BYTES_MAX);
        let what = "the patterns of a rule set are none that a file can have";
        patterns.list(bytes_max).ok_or_else(|| self.malformed_rule_set(rule_set, what))
    }

    /// By pattern of a rule set, where its text begins.
    pub(super) fn pattern_table(&self, rule_set: &StoredRuleSet<'_>) -> Result<&[U32], Damage> {
        let count = rule_set.patterns() as usize;
        self.words(self.sections.patterns, rule_set.patterns_at(), count)
    }

    /// As [`PolicySet::pattern_table`], of a rule set for which that has compared the checksums; empty where
    /// there is nothing.
    #[inline]
    pub(super) fn compared_table(&self, number: RuleSetNumber) -> &[U32] {
        let table = || {
            let rule_set = self.rule_set(number).ok()?;
            let bytes = self.file.uncompared(self.sections.patterns);
            let words = size_of::<U32>();
            let (start, count) = (rule_set.patterns_at() as usize, rule_set.patterns() as usize);
            let bytes = bytes.get(start.checked_mul(words)?..)?.get(..count * words)?;
            <[U32]>::ref_from_bytes(bytes).ok()
        };
        table().unwrap_or_default()
    }

    #[cold]
    pub(super) fn malformed_rule_set(
        &self,
        rule_set: &StoredRuleSet<'_>,
        what: &'static str,
    ) -> Damage {
        let first = rule_set.number.saturating_mul(rule_set::WORDS as u32);
        self.malformed(self.sections.rule_sets, first, what)
    }
}

/// Bytes that one byte of a rule is in its normal form, at most: `%XX`.
const ESCAPED_BYTES_MAX: usize = 3;

/// The texts of a set's patterns. Damage that is found in them is no pattern, so that whoever asks has to look
/// again in another way, which reports it.
#[derive(Clone, Copy)]
pub(super) struct StoredTexts<'s>(pub &'s PolicySet);

impl<'s> PatternTexts<'s> for StoredTexts<'s> {
    #[inline(always)]
    fn units(self, at: usize, count: usize) -> Option<&'s [U16]> {
        let set = self.0;
        set.file.items(set.sections.pattern_texts, at as u64, count as u64).ok()
    }
}

/// Lines beyond which no prefilter begins: numbers above stand for something else where answers begin.
const PREFILTER_LINES_MAX: u32 = u32::MAX - 16;

impl StoredRuleSet<'_> {
    /// Its number.
    pub fn number(&self) -> RuleSetNumber {
        RuleSetNumber(self.number)
    }

    /// How it is kept.
    #[inline]
    pub fn kind(&self) -> RuleSetKind {
        match self.words[rule_set::PATTERNS].get() {
            NONE => RuleSetKind::OfGroups,
            _ => RuleSetKind::Patterns,
        }
    }

    /// The number of its patterns; 0 where they are not kept.
    pub fn patterns(&self) -> u32 {
        self.words[rule_set::COUNT].get()
    }

    /// Whether it says that there are lines of its prefilter.
    pub(super) fn has_lines(&self) -> bool {
        self.words[rule_set::LINES].get() != 0
    }

    /// Where its patterns begin.
    pub(super) fn patterns_at(&self) -> u32 {
        self.words[rule_set::PATTERNS].get()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let lines =
            u64::from(self.words[rule_set::LINES].get()) * size_of::<PrefilterLine>() as u64;
        lines + (rule_set::WORDS as u64 + u64::from(self.patterns())) * size_of::<U32>() as u64
    }

    /// The lines of its prefilter, wherever they are said to be.
    #[inline]
    pub(super) fn lines(&self) -> Option<Range<u32>> {
        let start = self.words[rule_set::PREFILTER].get();
        let count = self.words[rule_set::LINES].get();
        (start != NONE).then(|| start..start.saturating_add(count))
    }
}
