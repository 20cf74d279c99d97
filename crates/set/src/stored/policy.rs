//! Policies: the effect of one file, or of its absence, on each agent.

use zerocopy::little_endian::U32;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_engine::Line;

use super::super::file::Damage;
use super::super::layout::{NONE, Pairs, PolicyHead, policy, position};
use super::PolicySet;
use super::tokens::AgentTokens;

/// The number of a rule set. Equal rule sets have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSetNumber(pub(crate) u32);

impl RuleSetNumber {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a policy. Origins with the same number have the same policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyNumber(pub u32);

impl PolicyNumber {
    /// Returns the number, as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The policy of a record's origin, or why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct RecordPolicy(pub(crate) u32);

impl RecordPolicy {
    /// No policy is known.
    pub const UNKNOWN: RecordPolicy = RecordPolicy(NONE);
    /// The record is not a URL.
    pub const NO_URL: RecordPolicy = RecordPolicy(NONE - 1);

    /// Returns the number of the policy.
    #[inline(always)]
    pub fn number(self) -> Option<PolicyNumber> {
        (self < RecordPolicy::NO_URL).then_some(PolicyNumber(self.0))
    }
}

impl From<PolicyNumber> for RecordPolicy {
    fn from(policy: PolicyNumber) -> RecordPolicy {
        RecordPolicy(policy.0)
    }
}

/// The number of an entry in its policy: the rule groups that apply to some agents. Agents with the same
/// entry get the same decisions.
///
/// A number below that of rule groups is an entry of this one alone, as nearly all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyEntry(pub(crate) u32);

/// A policy of a set.
#[derive(Clone, Copy, Debug)]
pub struct StoredPolicy<'s> {
    pub(crate) set: &'s PolicySet,
    number: PolicyNumber,
    pub(super) head: &'s PolicyHead,
    pub(crate) words: &'s [U32],
}

/// The head of a policy.
#[derive(Clone, Copy)]
pub(crate) struct StoredHead<'s> {
    set: &'s PolicySet,
    number: PolicyNumber,
    pub(super) head: &'s PolicyHead,
}

/// The first line and the number of lines of a rule set.
pub(crate) type Lines = (u32, u32);

/// The numbers of the rule groups of an entry, ascending.
#[derive(Clone, Copy)]
pub(crate) enum EntryGroups<'s> {
    One(u32),
    Several(&'s [U32]),
}

impl EntryGroups<'_> {
    /// Returns the number at a place.
    pub fn get(self, place: usize) -> Option<u32> {
        match self {
            EntryGroups::One(number) => (place == 0).then_some(number),
            EntryGroups::Several(numbers) => numbers.get(place).map(|number| number.get()),
        }
    }

    /// Returns the numbers.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..).map_while(move |place| self.get(place))
    }
}

/// Words of a head.
const HEAD_WORDS: u64 = (size_of::<PolicyHead>() / size_of::<U32>()) as u64;

/// The lines of a rule set that are prefetched: nearly all have no more.
const LINES_PREFETCHED: u32 = 6;

impl PolicySet {
    /// Returns the policy with this number.
    pub fn policy(&self, number: PolicyNumber) -> Result<StoredPolicy<'_>, Damage> {
        self.policy_head(number)?.policy()
    }

    /// Returns the head of the policy with this number.
    #[inline]
    pub(crate) fn policy_head(&self, number: PolicyNumber) -> Result<StoredHead<'_>, Damage> {
        let section = self.sections.policy_heads;
        let head = &self.file.items::<PolicyHead>(section, number.0.into(), 1)?[0];
        Ok(StoredHead { set: self, number, head })
    }

    /// Prefetches the head of a policy.
    #[inline]
    pub(crate) fn prefetch_head(&self, number: PolicyNumber) {
        self.prefetch(self.sections.policy_heads, u64::from(number.0) * HEAD_WORDS);
    }

    /// Prefetches what decides for an agent next to the head: the rule set, or the rest of the policy.
    #[inline]
    pub(crate) fn prefetch_rules(&self, number: PolicyNumber, agents: &[AgentTokens]) {
        let heads = self.file.uncompared_items::<PolicyHead>(self.sections.policy_heads);
        let Some(head) = heads.get(number.index()) else { return };
        let names = head.names_and_state.get();
        if agents.iter().any(|agent| agent.may_be_in(names)) {
            self.prefetch(self.sections.policies, head.rest.get().into());
        }
        let line_words = (size_of::<Line>() / size_of::<U32>()) as u64;
        let first = u64::from(head.default_line.get());
        let lines = u64::from(head.default_lines.get().min(LINES_PREFETCHED));
        for line in first..first + lines {
            self.prefetch(self.sections.rule_sets, line * line_words);
        }
    }

    /// Returns the number of policies.
    pub fn policy_count(&self) -> u32 {
        let bytes = self.sections.policy_heads.bytes;
        u32::try_from(bytes / size_of::<PolicyHead>() as u64).unwrap_or(u32::MAX)
    }

    /// Whether some file states how pages may be used, or names a licence.
    pub fn has_usage(&self) -> bool {
        self.sections.usage_records.bytes > 0
    }

    /// Returns all policies, by number.
    pub fn policies(&self) -> impl Iterator<Item = Result<StoredPolicy<'_>, Damage>> {
        (0..self.policy_count()).map(|number| self.policy(PolicyNumber(number)))
    }
}

impl<'s> StoredHead<'s> {
    /// Returns the state, and the verdict on every path if there is no file.
    #[inline]
    pub fn access(&self) -> Result<AccessOutcome, Damage> {
        let byte = (self.head.names_and_state.get() >> PolicyHead::NAME_BITS) as usize;
        let (state, verdict) = (byte & 0xf, byte >> PolicyHead::STATE_BITS);
        let state = state.checked_sub(1).and_then(|state| PolicyState::ALL.get(state));
        match (state, Verdict::ALL.get(verdict)) {
            (Some(&state), Some(&verdict)) => Ok(AccessOutcome { state, verdict }),
            _ => Err(self.malformed("a policy has no state")),
        }
    }

    /// Returns whether the file has a usage record.
    #[inline]
    pub fn has_usage(&self) -> Result<bool, Damage> {
        self.access()?;
        Ok(self.usage_records().is_some())
    }

    /// Returns the position of the usage records.
    pub fn usage_records(&self) -> Option<u32> {
        position(self.head.usage_records)
    }

    /// Returns the number of the name that selects the groups for an agent; `None` for default groups,
    /// and if the policy has no rules.
    pub fn robot_named(self, agent: &AgentTokens) -> Result<Option<u32>, Damage> {
        let may_name = agent.may_be_in(self.head.names_and_state.get());
        if self.access()?.state != PolicyState::Rules || !may_name {
            return Ok(None);
        }
        let policy = self.policy()?;
        let (names, robots) = policy.named_robots()?;
        let naming = |index: usize| Some((names[index].get(), robots.get(index)?.1));
        Ok(agent.first_named(names, naming).map(|(number, ..)| number))
    }

    /// Returns the whole policy.
    #[inline]
    pub(super) fn policy(self) -> Result<StoredPolicy<'s>, Damage> {
        let StoredHead { set, number, head } = self;
        let (section, position) = (set.sections.policies, head.rest.get());
        let words = set.words(section, position, policy::HEAD_WORDS)?[policy::WORDS].get() as usize;
        if words < policy::HEAD_WORDS {
            return Err(set.malformed(section, position, "a policy is shorter than its head"));
        }
        let words = set.words(section, position, words)?;
        Ok(StoredPolicy { set, number, head, words })
    }

    #[cold]
    fn malformed(&self, what: &'static str) -> Damage {
        let word = self.number.0.saturating_mul(HEAD_WORDS as u32);
        self.set.malformed(self.set.sections.policy_heads, word, what)
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns the number of the policy.
    pub fn number(&self) -> PolicyNumber {
        self.number
    }

    pub(crate) fn head(&self) -> StoredHead<'s> {
        StoredHead { set: self.set, number: self.number, head: self.head }
    }

    /// Returns whether there is a file, or what its absence means.
    pub fn state(&self) -> Result<PolicyState, Damage> {
        self.access().map(|outcome| outcome.state)
    }

    /// Returns the state, and the verdict on every path if there is no file.
    pub fn access(&self) -> Result<AccessOutcome, Damage> {
        self.head().access()
    }

    /// Returns the damage that a policy is not what a writer stores.
    #[cold]
    pub fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.set.sections.policies, self.head.rest.get(), what)
    }

    #[inline]
    pub(crate) fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.words.get(at) {
            Some(word) => Ok(word.get()),
            None => Err(self.malformed("a policy points after its end")),
        }
    }

    /// Returns the numbers of the names of the crawlers that it names, ascending, and for each crawler its
    /// entry and the line or record that names it first.
    #[inline]
    fn named_robots(&self) -> Result<(&'s [U32], Pairs<'s>), Damage> {
        let (count, are_wide) = Pairs::of_head(self.words[policy::TOKENS].get());
        let robots = self.words[policy::HEAD_WORDS..].split_at_checked(count);
        let pairs = robots.and_then(|(_, pairs)| Pairs::first_of(pairs, count, are_wide));
        let robots = robots.map(|(names, _)| names).zip(pairs);
        robots.ok_or_else(|| self.malformed("a policy names more crawlers than it has room for"))
    }

    pub(super) fn rule_group_at(&self, number: u32) -> usize {
        let (robots, are_wide) = Pairs::of_head(self.words[policy::TOKENS].get());
        let rule_groups = policy::HEAD_WORDS + robots * (1 + Pairs::words(are_wide));
        rule_groups + number as usize * policy::RULE_GROUP_WORDS
    }

    /// Returns the numbers of the named crawlers, each with its entry.
    pub fn robots(&self) -> Result<Vec<(u32, PolicyEntry)>, Damage> {
        let (names, robots) = self.named_robots()?;
        let robots = names.iter().zip(robots.iter());
        Ok(robots.map(|(name, (entry, _))| (name.get(), PolicyEntry(entry))).collect())
    }

    /// Returns the entry of the default groups, if there are any.
    pub fn default_entry(&self) -> Option<PolicyEntry> {
        position(self.head.default_entry).map(PolicyEntry)
    }

    /// Returns the number of rule groups.
    pub(super) fn rule_group_count(&self) -> Result<u32, Damage> {
        self.word(policy::RULE_GROUPS)
    }

    /// Returns the numbers of the rule groups of an entry.
    #[inline]
    pub(crate) fn entry_groups(&self, entry: PolicyEntry) -> Result<EntryGroups<'s>, Damage> {
        let count = self.rule_group_count()?;
        let Some(several) = entry.0.checked_sub(count) else {
            return Ok(EntryGroups::One(entry.0));
        };
        let at = self.word(self.rule_group_at(count) + several as usize)? as usize;
        let numbers =
            self.words.get(at + 1..).and_then(|it| it.get(..self.words[at].get() as usize));
        let numbers = numbers.filter(|numbers| !numbers.is_empty());
        numbers
            .map(EntryGroups::Several)
            .ok_or_else(|| self.malformed("an entry has fewer rule groups than it says"))
    }

    /// Returns so many pairs at a position.
    pub(super) fn pairs_at(&self, at: usize, count: usize) -> Result<Pairs<'s>, Damage> {
        let words = self.words.get(at..);
        let (_, are_wide) = Pairs::of_head(self.words[policy::TOKENS].get());
        let pairs = words.and_then(|it| Pairs::first_of(it, count, are_wide));
        let pairs = pairs.filter(|pairs| !pairs.is_empty());
        pairs.ok_or_else(|| self.malformed("a policy has fewer groups than it says"))
    }

    /// Returns the entry, the naming record and the position in the chain of the first token of the
    /// chain that is named.
    #[inline]
    pub(super) fn named(
        &self,
        agent: &AgentTokens,
    ) -> Result<Option<(PolicyEntry, u32, usize)>, Damage> {
        let (names, robots) = self.named_robots()?;
        let named = agent.first_named(names, |index| robots.get(index));
        let named = named.map(|(entry, record, token)| (PolicyEntry(entry), record, token));
        // The last word is the record of a rule. If it is zero, the file was truncated and has lost it,
        // and the names of crawlers with it.
        if named.is_none() && self.words.last().is_none_or(|word| word.get() == 0) {
            return Err(self.malformed("a policy has no end"));
        }
        Ok(named)
    }
}
