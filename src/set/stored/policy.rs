//! Policies: what one file, or its absence, means for each agent.

use zerocopy::little_endian::U32;

use crate::decision::{Decision, PolicyState, Reason, Verdict};
use crate::dialect::AccessOutcome;

use super::super::file::Damage;
use super::super::layout::{NONE, policy};
use super::tokens::AgentTokens;
use super::{RuleSetPosition, StoredSet};

/// Where a policy stands. Origins with the same position have the same policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyPosition(pub(super) u32);

impl PolicyPosition {
    /// The word of the section that it is.
    pub(in crate::set) fn word(self) -> u32 {
        self.0
    }
}

/// A policy of a set.
#[derive(Clone, Copy, Debug)]
pub struct StoredPolicy<'s> {
    pub(super) set: &'s StoredSet,
    pub(super) position: u32,
    pub(super) words: &'s [U32],
}

/// What an agent gets from a policy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Selected {
    /// The same for every path.
    Fixed(Decision),
    /// What the rules of some groups say.
    Rules(SelectedRules),
}

/// The rules that an agent obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SelectedRules {
    pub policy: u32,
    /// The policy's entry, by its number.
    pub entry: u32,
    pub rule_set: RuleSetPosition,
    pub order: u32,
    /// The record of the user-agent line that speaks to the agent, in the first group.
    pub speaker: u32,
    /// The position in the agent's chain of the token that is named; [`NONE`] for default groups.
    pub token: u32,
}

impl StoredSet {
    /// The policy at a position.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    #[inline]
    pub fn policy(&self, position: PolicyPosition) -> Result<StoredPolicy<'_>, Damage> {
        let section = self.sections.policies;
        let head = self.words(section, position.0, policy::HEAD_WORDS)?;
        let words = head[policy::WORDS].get() as usize;
        if words < policy::HEAD_WORDS {
            return Err(self.malformed(section, position.0, "a policy is shorter than its head"));
        }
        let words = self.words(section, position.0, words)?;
        Ok(StoredPolicy { set: self, position: position.0, words })
    }

    #[inline]
    pub(super) fn touch_policy(&self, position: PolicyPosition) {
        self.touch(self.sections.policies, position.0);
    }

    /// All policies, in the order of the file. After damage there is no next one.
    pub fn policies(&self) -> impl Iterator<Item = Result<StoredPolicy<'_>, Damage>> {
        let end = self.sections.policies.octets() / size_of::<u32>() as u64;
        let mut next = Some(0_u32);
        std::iter::from_fn(move || {
            let position = next.filter(|&position| u64::from(position) < end)?;
            let policy = self.policy(PolicyPosition(position));
            next = policy
                .as_ref()
                .ok()
                .and_then(|policy| position.checked_add(policy.words.len() as u32));
            Some(policy)
        })
    }
}

impl<'s> StoredPolicy<'s> {
    /// Where it stands.
    pub fn position(&self) -> PolicyPosition {
        PolicyPosition(self.position)
    }

    /// Whether there is a file, or what its absence means.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn state(&self) -> Result<PolicyState, Damage> {
        self.access().map(|outcome| outcome.state)
    }

    /// The state, and what holds for every path if there is no file.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn access(&self) -> Result<AccessOutcome, Damage> {
        let word = self.words[policy::STATE].get();
        let state = PolicyState::ALL.get((word & 0xff) as usize);
        let verdict = Verdict::ALL.get((word >> 8) as usize);
        match (state, verdict) {
            (Some(&state), Some(&verdict)) => Ok(AccessOutcome { state, verdict }),
            _ => Err(self.malformed("a policy has no state")),
        }
    }

    #[cold]
    pub(in crate::set) fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.set.sections.policies, self.position, what)
    }

    #[inline]
    pub(super) fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.words.get(at) {
            Some(word) => Ok(word.get()),
            None => Err(self.malformed("a policy points behind its end")),
        }
    }

    /// Where its records stand.
    pub(super) fn document(&self) -> u32 {
        self.words[policy::DOCUMENT].get()
    }

    pub(super) fn token_count(&self) -> usize {
        self.words[policy::TOKENS].get() as usize
    }

    /// The number of distinct combinations of groups that somebody obeys.
    pub fn entries(&self) -> usize {
        self.words[policy::ENTRIES].get() as usize
    }

    pub(super) fn tokens(&self) -> Result<&'s [U32], Damage> {
        let tokens =
            self.words.get(policy::HEAD_WORDS..).and_then(|it| it.get(..self.token_count()));
        tokens.ok_or_else(|| self.malformed("a policy names more robots than it has room for"))
    }

    pub(super) fn entry_at(&self, entry: u32) -> usize {
        let speakers = policy::HEAD_WORDS + self.token_count();
        speakers + self.token_count() * policy::SPEAKER_WORDS + entry as usize * policy::ENTRY_WORDS
    }

    /// The numbers of the robots that are named, each with its entry.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn robots(&self) -> Result<Vec<(u32, u32)>, Damage> {
        let tokens = self.tokens()?;
        let robot = |(index, token): (usize, &U32)| Ok((token.get(), self.speaker(index)?.0));
        tokens.iter().enumerate().map(robot).collect()
    }

    /// The entry of the default groups, if there are any.
    pub fn default_entry(&self) -> Option<u32> {
        let entry = self.words[policy::DEFAULT_ENTRY].get();
        (entry != NONE).then_some(entry)
    }

    /// The record that names the default groups; [`NONE`] if there are none.
    pub(super) fn default_speaker(&self) -> u32 {
        self.words[policy::DEFAULT_SPEAKER].get()
    }

    /// The entry of the token at `index`, and the record that speaks to it.
    pub(super) fn speaker(&self, index: usize) -> Result<(u32, u32), Damage> {
        let at = policy::HEAD_WORDS + self.token_count() + index * policy::SPEAKER_WORDS;
        Ok((self.word(at)?, self.word(at + 1)?))
    }

    /// The rule set of an entry.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn rule_set(&self, entry: u32) -> Result<RuleSetPosition, Damage> {
        Ok(RuleSetPosition(self.word(self.entry_at(entry) + policy::RULE_SET)?))
    }

    /// Where the order of an entry's rule set stands.
    pub(super) fn order(&self, entry: u32) -> Result<u32, Damage> {
        self.word(self.entry_at(entry) + policy::ORDER)
    }

    /// Where in the policy the groups of an entry stand.
    pub(super) fn groups_at(&self, entry: u32) -> Result<usize, Damage> {
        Ok(self.word(self.entry_at(entry) + policy::GROUPS)? as usize)
    }

    /// By group of an entry: the number of its first rule, and that rule's record.
    pub(super) fn groups(&self, entry: u32) -> Result<&'s [U32], Damage> {
        let at = self.groups_at(entry)?;
        let count = self.word(at)? as usize;
        let words = count.saturating_mul(policy::GROUP_WORDS);
        let groups = self.words.get(at + 1..).and_then(|it| it.get(..words));
        let groups = groups.filter(|groups| !groups.is_empty());
        groups.ok_or_else(|| self.malformed("a policy has fewer groups than it says"))
    }

    /// What an agent gets.
    #[inline]
    pub(super) fn select(&self, agent: &AgentTokens) -> Result<Selected, Damage> {
        let word = self.words[policy::STATE].get();
        if word & 0xff != PolicyState::Rules as u32 {
            return Ok(Selected::Fixed(access_decision(self.access()?)));
        }
        let (entry, speaker, token) = match self.named(agent)? {
            Some(named) => named,
            None => {
                let entry = self.words[policy::DEFAULT_ENTRY].get();
                if entry == NONE {
                    // The last word is the record of a rule, or NONE. Where it is zero, the file has
                    // lost it, and the names of robots with it.
                    if self.words.last().is_none_or(|word| word.get() == 0) {
                        return Err(self.malformed("a policy has no end"));
                    }
                    let decision = Decision::without_rule(Verdict::Allow, Reason::NoGroup);
                    return Ok(Selected::Fixed(decision));
                }
                (entry, self.words[policy::DEFAULT_SPEAKER].get(), NONE)
            }
        };
        let at = self.entry_at(entry);
        Ok(Selected::Rules(SelectedRules {
            policy: self.position,
            entry,
            rule_set: RuleSetPosition(self.word(at + policy::RULE_SET)?),
            order: self.word(at + policy::ORDER)?,
            speaker,
            token,
        }))
    }

    /// The entry, the record that speaks, and the position in the chain, of the first token of the
    /// chain that is named. Where several names are the token's the one that comes first counts.
    #[inline]
    fn named(&self, agent: &AgentTokens) -> Result<Option<(u32, u32, u32)>, Damage> {
        if self.token_count() == 0 {
            return Ok(None);
        }
        let tokens = self.tokens()?;
        for (position, numbers) in &agent.chain {
            let mut first: Option<(u32, u32)> = None;
            for &number in numbers {
                if let Ok(index) = tokens.binary_search_by_key(&number, |token| token.get()) {
                    let (entry, speaker) = self.speaker(index)?;
                    if first.is_none_or(|(_, other)| speaker < other) {
                        first = Some((entry, speaker));
                    }
                }
            }
            if let Some((entry, speaker)) = first {
                return Ok(Some((entry, speaker, *position)));
            }
        }
        Ok(None)
    }
}

/// The decision on every path where there is no file, or one without rules.
fn access_decision(outcome: AccessOutcome) -> Decision {
    let reason = match outcome.state {
        PolicyState::NoRules => Reason::NoRules,
        PolicyState::Unavailable => Reason::Unavailable,
        PolicyState::Unreachable => Reason::Unreachable,
        PolicyState::Deferred => Reason::Deferred,
        PolicyState::Rules | PolicyState::Unknown => return Decision::UNKNOWN,
    };
    Decision::without_rule(outcome.verdict, reason)
}
