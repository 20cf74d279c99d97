//! Rule sets: the prefilter that decides most paths, and the input of the automaton for the other
//! paths.

use std::ops::Range;

use zerocopy::FromBytes;
use zerocopy::little_endian::{U16, U32};

use portcullis_matcher::automaton::{Outcome, PatternTexts, Patterns, PrefilterLine, is_constant};
use portcullis_matcher::pattern::PatternList;

use super::super::file::Damage;
use super::super::layout::{NONE, rule_set};
use super::PolicySet;

/// The number of a rule set. Equal rule sets have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSetNumber(pub(super) u32);

impl RuleSetNumber {
    /// Returns the number as an index.
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

/// The stored form of a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleSetKind {
    /// A prefilter, and the patterns in order of precedence.
    Patterns,
    /// Not stored: the rules of a policy's groups are ordered when an agent first needs them.
    OfGroups,
}

impl PolicySet {
    /// Returns the rule set with this number.
    #[inline]
    pub fn rule_set(&self, number: RuleSetNumber) -> Result<StoredRuleSet<'_>, Damage> {
        let first = number.0.saturating_mul(rule_set::WORDS as u32);
        let words = self.words(self.sections.rule_sets, first, rule_set::WORDS)?;
        Ok(StoredRuleSet { number: number.0, words })
    }

    /// Returns the number of rule sets in the section.
    pub(super) fn rule_set_count(&self) -> u32 {
        let bytes = (rule_set::WORDS * size_of::<U32>()) as u64;
        u32::try_from(self.sections.rule_sets.bytes() / bytes).unwrap_or(u32::MAX)
    }

    /// Returns all rule sets, by number.
    pub fn rule_sets(&self) -> impl Iterator<Item = Result<StoredRuleSet<'_>, Damage>> {
        (0..self.rule_set_count()).map(|number| self.rule_set(RuleSetNumber(number)))
    }

    /// Returns the lines of all prefilters. Only use those of a rule set after
    /// [`PolicySet::prefilter`] has compared their checksums.
    #[inline]
    pub(super) fn prefilter_lines(&self) -> &[PrefilterLine] {
        let bytes = self.file.uncompared(self.sections.prefilters);
        let whole = bytes.len() - bytes.len() % size_of::<PrefilterLine>();
        <[PrefilterLine]>::ref_from_bytes(&bytes[..whole]).unwrap_or_default()
    }

    /// Returns the range of a rule set's prefilter in [`PolicySet::prefilter_lines`], and compares
    /// the checksums. `None` if the rule set is made of groups.
    #[inline]
    pub(super) fn prefilter(
        &self,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<Option<Range<u32>>, Damage> {
        let Some(lines) = rule_set.lines() else { return Ok(None) };
        let count = lines.end - lines.start;
        // A prefilter of zeros, or an empty one, would answer wrongly. Numbers from the limit on
        // are reserved.
        if lines.is_empty() || lines.start >= PREFILTER_LINES_MAX {
            return Err(self.malformed_rule_set(rule_set, "a rule set has no prefilter"));
        }
        let section = self.sections.prefilters;
        let _: &[PrefilterLine] = self.file.items(section, lines.start.into(), count.into())?;
        Ok(Some(lines))
    }

    /// Returns whether a rule set has one outcome for every path. Its prefilter then contains no
    /// literals.
    pub(crate) fn is_constant(&self, rule_set: &StoredRuleSet<'_>) -> Result<bool, Damage> {
        let Some(lines) = self.prefilter(rule_set)? else { return Ok(false) };
        let is_constant = is_constant(self.prefilter_lines(), lines.start as usize);
        is_constant.ok_or_else(|| self.malformed_rule_set(rule_set, "a rule set has no prefilter"))
    }

    /// Returns the patterns of a stored rule set, and the outcomes of their matches.
    pub(crate) fn pattern_list(
        &self,
        rule_set: &StoredRuleSet<'_>,
    ) -> Result<(PatternList, Vec<Outcome>), Damage> {
        let table = self.pattern_table(rule_set)?;
        let patterns = Patterns { table, texts: StoredTexts(self) };
        // A rule contributes its own pattern and that of a directory, and each byte of either may
        // be escaped.
        let bytes_max = self.record_bytes_max().saturating_mul(2 * ESCAPED_BYTES_MAX);
        let what = "the patterns of a rule set are none that a file can have";
        patterns.list(bytes_max).ok_or_else(|| self.malformed_rule_set(rule_set, what))
    }

    /// Returns where the text of each pattern of a rule set begins.
    pub(super) fn pattern_table(&self, rule_set: &StoredRuleSet<'_>) -> Result<&[U32], Damage> {
        let count = rule_set.patterns() as usize;
        self.words(self.sections.patterns, rule_set.patterns_at(), count)
    }

    /// Like [`PolicySet::pattern_table`], for a rule set whose checksums that function has
    /// compared. Empty if there is no such table.
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

/// The maximum length of one byte of a rule in normal form, in bytes: `%XX`.
const ESCAPED_BYTES_MAX: usize = 3;

/// The texts of a set's patterns. A damaged text is returned as no pattern, so that the caller
/// falls back to another path, which reports the damage.
#[derive(Clone, Copy)]
pub(super) struct StoredTexts<'s>(pub &'s PolicySet);

impl<'s> PatternTexts<'s> for StoredTexts<'s> {
    #[inline(always)]
    fn units(self, at: usize, count: usize) -> Option<&'s [U16]> {
        let set = self.0;
        set.file.items(set.sections.pattern_texts, at as u64, count as u64).ok()
    }
}

/// The exclusive limit of a prefilter's first line. Larger numbers have other meanings where
/// answers begin.
const PREFILTER_LINES_MAX: u32 = u32::MAX - 16;

impl StoredRuleSet<'_> {
    /// Returns the number of the rule set.
    pub fn number(&self) -> RuleSetNumber {
        RuleSetNumber(self.number)
    }

    /// Returns the stored form.
    #[inline]
    pub fn kind(&self) -> RuleSetKind {
        match self.words[rule_set::PATTERNS].get() {
            NONE => RuleSetKind::OfGroups,
            _ => RuleSetKind::Patterns,
        }
    }

    /// Returns the number of patterns; 0 if they are not stored.
    pub fn patterns(&self) -> u32 {
        self.words[rule_set::COUNT].get()
    }

    /// Returns whether the rule set claims to have prefilter lines.
    pub(super) fn has_lines(&self) -> bool {
        self.words[rule_set::LINES].get() != 0
    }

    /// Returns the position of its patterns.
    pub(super) fn patterns_at(&self) -> u32 {
        self.words[rule_set::PATTERNS].get()
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> u64 {
        let lines =
            u64::from(self.words[rule_set::LINES].get()) * size_of::<PrefilterLine>() as u64;
        lines + (rule_set::WORDS as u64 + u64::from(self.patterns())) * size_of::<U32>() as u64
    }

    /// Returns the claimed lines of its prefilter, unchecked.
    #[inline]
    pub(super) fn lines(&self) -> Option<Range<u32>> {
        let start = self.words[rule_set::PREFILTER].get();
        let count = self.words[rule_set::LINES].get();
        (start != NONE).then(|| start..start.saturating_add(count))
    }
}
