//! The usage of a policy: what its file states about usage preferences.
//!
//! Beside the access rules of a policy, a set stores the robots that its usage records name, and for
//! each agent, label and field a rule set whose first matching pattern decides.

use zerocopy::little_endian::U32;

use portcullis_dialect::LineNumber;
use portcullis_dialect::usage::{Label, Preference, UsageSource};

use super::super::file::Damage;
use super::super::layout::record::In;
use super::super::layout::{Robots, usage};
use super::policy::RuleSetNumber;
use super::tokens::AgentTokens;
use super::{PolicySet, StoredPolicy};

/// The usage of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredUsage<'s> {
    set: &'s PolicySet,
    position: u32,
    words: &'s [U32],
}

impl PolicySet {
    pub(crate) fn usage_at(&self, position: u32) -> Result<StoredUsage<'_>, Damage> {
        let section = self.sections.usage;
        let head = self.words(section, position, usage::HEAD_WORDS)?;
        let words = head[usage::WORDS].get() as usize;
        if words < usage::HEAD_WORDS {
            return Err(self.malformed(section, position, "a usage is shorter than its head"));
        }
        let words = self.words(section, position, words)?;
        Ok(StoredUsage { set: self, position, words })
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns whether the file has a usage record.
    pub fn has_usage(&self) -> Result<bool, Damage> {
        Ok(self.head().usage_position()?.is_some())
    }

    /// Returns the usage; `None` if the file has no usage record.
    pub(crate) fn usage(&self) -> Result<Option<StoredUsage<'s>>, Damage> {
        let position = self.head().usage_position()?;
        position.map(|position| self.set.usage_at(position)).transpose()
    }
}

impl<'s> StoredUsage<'s> {
    #[cold]
    pub(crate) fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.set.sections.usage, self.position, what)
    }

    #[inline]
    pub(crate) fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.words.get(at) {
            Some(word) => Ok(word.get()),
            None => Err(self.malformed("a usage points behind its end")),
        }
    }

    /// Returns the position of its list of usage records.
    pub(crate) fn record_list(&self) -> u32 {
        self.words[usage::RECORD_LIST].get()
    }

    pub(crate) fn record_count(&self) -> usize {
        self.words[usage::RECORDS].get() as usize
    }

    pub(crate) fn default_entry(&self) -> u32 {
        self.words[usage::DEFAULT_ENTRY].get()
    }

    fn robots_at(&self) -> usize {
        usage::HEAD_WORDS + self.record_count().div_ceil(usage::RECORDS_PER_WORD)
    }

    /// Returns the robots that it names.
    fn robots(&self) -> Result<Robots<'s>, Damage> {
        let words = self.words.get(self.robots_at()..);
        let robots = words.and_then(|words| Robots::first_of(words, self.words[usage::TOKENS]));
        robots.ok_or_else(|| self.malformed("a usage names more robots than it has room for"))
    }

    pub(super) fn entry_at(&self, entry: u32) -> usize {
        let entries = self.robots_at() + Robots::words(self.words[usage::TOKENS]);
        entries + entry as usize * usage::ENTRY_WORDS
    }

    /// Returns the rule set of the statements of a field about a label, and the position of its order.
    pub(crate) fn rules(
        &self,
        entry: u32,
        (label, source): Column,
    ) -> Result<(RuleSetNumber, u32), Damage> {
        let number = label as usize * usage::SOURCES + source as usize;
        let at = self.entry_at(entry) + number * usage::RULES_WORDS;
        Ok((RuleSetNumber(self.word(at + usage::RULE_SET)?), self.word(at + usage::ORDER)?))
    }

    /// Returns the usage records that are the licences of an entry.
    pub(crate) fn licenses(&self, entry: u32) -> Result<&'s [U32], Damage> {
        let at = self.word(self.entry_at(entry) + usage::LICENSES)? as usize;
        let count = self.word(at)? as usize;
        let licenses = self.words.get(at + 1..).and_then(|it| it.get(..count));
        licenses.ok_or_else(|| self.malformed("a usage has fewer licences than it says"))
    }

    /// Returns the preference that a usage record states for a label.
    #[inline]
    pub(crate) fn preference(&self, record: u32, label: Label) -> Result<Preference, Damage> {
        let record = record as usize;
        if record >= self.record_count() {
            return Err(self.malformed("a pattern comes from no usage record"));
        }
        let word = self.word(usage::HEAD_WORDS + record / usage::RECORDS_PER_WORD)?;
        let bits = word.to_le_bytes()[record % usage::RECORDS_PER_WORD]
            >> (label as u32 * usage::PREFERENCE_BITS);
        Ok(Preference::ALL[usize::from(bits & 3)])
    }

    /// Returns the entry of an agent.
    pub(crate) fn select(&self, agent: &AgentTokens) -> Result<u32, Damage> {
        let robots = self.robots()?;
        let named = agent.first_named(robots.names, |index| robots.get(index));
        Ok(named.map_or(self.default_entry(), |(entry, ..)| entry))
    }
}

/// What one question about an agent asks for: the statements of a field about a label.
pub(crate) type Column = (Label, UsageSource);

/// Returns the columns of labels, by label, then by field.
pub(crate) fn columns(labels: &[Label]) -> impl Iterator<Item = Column> {
    labels.iter().flat_map(|&label| UsageSource::ALL.map(|source| (label, source)))
}
impl StoredPolicy<'_> {
    /// Returns the preferences that one of its usage records states, in the order of [`Label::ALL`].
    pub fn preferences(&self, record: u32) -> Result<[Preference; Label::ALL.len()], Damage> {
        let malformed = || self.malformed("a policy has no such usage record");
        let usage = self.usage()?.ok_or_else(malformed)?;
        let mut preferences = [Preference::Unstated; Label::ALL.len()];
        for label in Label::ALL {
            preferences[label as usize] = usage.preference(record, label)?;
        }
        Ok(preferences)
    }

    /// Returns the kind, the line and the value of a usage record.
    pub(crate) fn usage_record(
        &self,
        record: u32,
    ) -> Result<(super::UsageKind, LineNumber, Vec<u8>), Damage> {
        let malformed = || self.malformed("a policy has no such usage record");
        let usage = self.usage()?.ok_or_else(malformed)?;
        let list = self.set.record_list(In::Usage, usage.record_list())?;
        let mut text = Vec::new();
        let value_start = list.read(record, &mut text)?;
        text.drain(..value_start);
        let kind = super::UsageKind::ALL.get(list.kind(record)? as usize).ok_or_else(malformed)?;
        Ok((*kind, list.line(record)?, text))
    }
}
