//! Rule sets: where each is stored, and a view of it.

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use portcullis_engine::block::Start;
use portcullis_engine::{Line, RuleSet};

use super::super::file::Damage;
use super::super::layout::{NONE, rule_set};
use super::PolicySet;

/// The number of a rule set. Equal rule sets have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSetNumber(pub(crate) u32);

impl RuleSetNumber {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The stored form of a rule set.
#[derive(Clone, Copy)]
pub enum StoredRuleSet<'s> {
    /// The rule set.
    Compiled(RuleSet<'s>),
    /// Not stored: the rules of a policy's groups are ordered when an agent first needs them.
    OfGroups,
}

impl PolicySet {
    /// Returns the first line and the number of lines of the rule set with this number, as the index has
    /// them.
    #[inline]
    fn rule_set_lines(&self, number: RuleSetNumber) -> Result<(u32, u32), Damage> {
        let first = number.0.saturating_mul(rule_set::WORDS as u32);
        let words = self.words(self.sections.rule_set_index, first, rule_set::WORDS)?;
        Ok((words[rule_set::LINE].get(), words[rule_set::LINES].get()))
    }

    /// Returns the number of rule sets.
    pub fn rule_set_count(&self) -> u32 {
        let bytes = (rule_set::WORDS * size_of::<U32>()) as u64;
        u32::try_from(self.sections.rule_set_index.bytes() / bytes).unwrap_or(u32::MAX)
    }

    /// Returns the rule set with this number, after comparing its checksums and its form.
    pub fn rule_set(&self, number: RuleSetNumber) -> Result<StoredRuleSet<'_>, Damage> {
        let (start, count) = self.rule_set_lines(number)?;
        if start == NONE {
            return match count {
                0 => Ok(StoredRuleSet::OfGroups),
                _ => Err(self.malformed_rule_set(number, "a rule set made of groups has lines")),
            };
        }
        let section = self.sections.rule_sets;
        let lines: &[Line] = self.file.items(section, start.into(), count.into())?;
        match RuleSet::from_lines(lines) {
            Ok(rules) => Ok(StoredRuleSet::Compiled(rules)),
            Err(error) => Err(self.malformed_rule_set(number, error.what())),
        }
    }

    /// Returns all rule sets, by number.
    pub fn rule_sets(&self) -> impl Iterator<Item = Result<StoredRuleSet<'_>, Damage>> {
        (0..self.rule_set_count()).map(|number| self.rule_set(RuleSetNumber(number)))
    }

    /// Returns where the answers of a rule set begin, after checking it.
    pub(crate) fn start_of(&self, number: RuleSetNumber) -> Result<Start, Damage> {
        let line = match self.rule_set(number)? {
            StoredRuleSet::OfGroups => Start::ON_DEMAND,
            StoredRuleSet::Compiled(_) => self.rule_set_lines(number)?.0,
        };
        match line < Start::LINES_MAX || line == Start::ON_DEMAND {
            true => Ok(Start { line, number: number.0 }),
            false => Err(self.malformed_rule_set(number, "a rule set is out of reach")),
        }
    }

    /// Returns the lines of all rule sets. Only use those of a rule set that
    /// [`PolicySet::rule_set`] has checked.
    #[inline]
    pub(crate) fn all_lines(&self) -> &[Line] {
        let bytes = self.file.uncompared(self.sections.rule_sets);
        let whole = bytes.len() - bytes.len() % size_of::<Line>();
        <[Line]>::ref_from_bytes(&bytes[..whole]).unwrap_or_default()
    }

    #[cold]
    fn malformed_rule_set(&self, number: RuleSetNumber, what: &'static str) -> Damage {
        let first = number.0.saturating_mul(rule_set::WORDS as u32);
        self.malformed(self.sections.rule_set_index, first, what)
    }
}
