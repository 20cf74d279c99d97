//! Policies: the effect of one file, or of its absence, on each agent.

use zerocopy::little_endian::U32;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;

use super::super::file::Damage;
use super::super::layout::{NONE, policy};
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

/// A policy of a set.
#[derive(Clone, Copy, Debug)]
pub struct StoredPolicy<'s> {
    pub(crate) set: &'s PolicySet,
    number: u32,
    pub(crate) position: u32,
    pub(crate) words: &'s [U32],
}

/// The part of a policy that applies to an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Selected {
    /// There is no file with rules: the same for every path.
    Access(AccessOutcome),
    /// No group applies to the agent.
    NoGroup,
    /// The rules of some groups.
    Rules(SelectedRules),
}

/// The rules that apply to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SelectedRules {
    pub policy: u32,
    /// The number of the policy's entry.
    pub entry: u32,
    pub rule_set: RuleSetNumber,
    pub order: u32,
    /// The record of the user-agent line that names the agent, in the first group.
    pub naming_line: u32,
    /// The position in the agent's chain of the token that is named; [`NONE`] for default groups.
    pub token: u32,
}

impl PolicySet {
    /// Returns the policy with this number.
    #[inline]
    pub fn policy(&self, number: PolicyNumber) -> Result<StoredPolicy<'_>, Damage> {
        let position = self.words(self.sections.policy_index, number.0, 1)?[0].get();
        let section = self.sections.policies;
        let head = self.words(section, position, policy::HEAD_WORDS)?;
        let words = head[policy::WORDS].get() as usize;
        if words < policy::HEAD_WORDS {
            return Err(self.malformed(section, position, "a policy is shorter than its head"));
        }
        let words = self.words(section, position, words)?;
        Ok(StoredPolicy { set: self, number: number.0, position, words })
    }

    #[inline]
    pub(crate) fn prefetch_policy_index(&self, number: PolicyNumber) {
        self.prefetch(self.sections.policy_index, number.0.into());
    }

    #[inline]
    pub(crate) fn prefetch_policy(&self, number: PolicyNumber) {
        if let Ok(position) = self.words(self.sections.policy_index, number.0, 1) {
            self.prefetch(self.sections.policies, position[0].get().into());
        }
    }

    /// Returns the number of policies.
    pub fn policy_count(&self) -> u32 {
        let bytes = self.sections.policy_index.bytes();
        u32::try_from(bytes / size_of::<U32>() as u64).unwrap_or(u32::MAX)
    }

    /// Returns all policies, by number.
    pub fn policies(&self) -> impl Iterator<Item = Result<StoredPolicy<'_>, Damage>> {
        (0..self.policy_count()).map(|number| self.policy(PolicyNumber(number)))
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns the number of the policy.
    pub fn number(&self) -> PolicyNumber {
        PolicyNumber(self.number)
    }

    /// Returns whether there is a file, or what its absence means.
    pub fn state(&self) -> Result<PolicyState, Damage> {
        self.access().map(|outcome| outcome.state)
    }

    /// Returns the state, and the verdict on every path if there is no file.
    pub fn access(&self) -> Result<AccessOutcome, Damage> {
        let word = self.words[policy::STATE].get();
        let state = PolicyState::ALL.get((word & 0xff) as usize);
        let verdict = Verdict::ALL.get((word >> 8) as usize);
        match (state, verdict) {
            (Some(&state), Some(&verdict)) => Ok(AccessOutcome { state, verdict }),
            _ => Err(self.malformed("a policy has no state")),
        }
    }

    /// Returns the damage that a policy is not what a writer stores.
    #[cold]
    pub fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.set.sections.policies, self.position, what)
    }

    #[inline]
    pub(crate) fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.words.get(at) {
            Some(word) => Ok(word.get()),
            None => Err(self.malformed("a policy points behind its end")),
        }
    }

    /// Returns the position of the policy's records.
    pub fn document(&self) -> u32 {
        self.words[policy::DOCUMENT].get()
    }

    pub(super) fn token_count(&self) -> usize {
        self.words[policy::TOKENS].get() as usize
    }

    pub(crate) fn tokens(&self) -> Result<&'s [U32], Damage> {
        let tokens =
            self.words.get(policy::HEAD_WORDS..).and_then(|it| it.get(..self.token_count()));
        tokens.ok_or_else(|| self.malformed("a policy names more robots than it has room for"))
    }

    pub(super) fn entry_at(&self, entry: u32) -> usize {
        let robots = policy::HEAD_WORDS + self.token_count();
        robots + self.token_count() * policy::ROBOT_WORDS + entry as usize * policy::ENTRY_WORDS
    }

    /// Returns the numbers of the named robots, each with its entry.
    pub fn robots(&self) -> Result<Vec<(u32, u32)>, Damage> {
        let tokens = self.tokens()?;
        let robot = |(index, token): (usize, &U32)| Ok((token.get(), self.naming_line(index)?.0));
        tokens.iter().enumerate().map(robot).collect()
    }

    /// Returns the entry of the default groups, if there are any.
    pub fn default_entry(&self) -> Option<u32> {
        let entry = self.words[policy::DEFAULT_ENTRY].get();
        (entry != NONE).then_some(entry)
    }

    /// Returns the entry of the token at `index`, and the record that names it.
    pub(crate) fn naming_line(&self, index: usize) -> Result<(u32, u32), Damage> {
        let at = policy::HEAD_WORDS + self.token_count() + index * policy::ROBOT_WORDS;
        Ok((self.word(at)?, self.word(at + 1)?))
    }

    /// Returns the rule set of an entry.
    pub fn rule_set(&self, entry: u32) -> Result<RuleSetNumber, Damage> {
        Ok(RuleSetNumber(self.word(self.entry_at(entry) + policy::RULE_SET)?))
    }

    /// Returns the position of an entry's groups in the policy.
    pub(crate) fn groups_at(&self, entry: u32) -> Result<usize, Damage> {
        Ok(self.word(self.entry_at(entry) + policy::GROUPS)? as usize)
    }

    /// Returns, for each group of an entry, the number and the record of its first rule.
    pub(crate) fn groups(&self, entry: u32) -> Result<&'s [U32], Damage> {
        let at = self.groups_at(entry)?;
        let count = self.word(at)? as usize;
        let words = count.saturating_mul(policy::GROUP_WORDS);
        let groups = self.words.get(at + 1..).and_then(|it| it.get(..words));
        let groups = groups.filter(|groups| !groups.is_empty());
        groups.ok_or_else(|| self.malformed("a policy has fewer groups than it says"))
    }

    /// Returns the part of the policy that applies to an agent.
    #[inline]
    pub(crate) fn select(&self, agent: &AgentTokens) -> Result<Selected, Damage> {
        let word = self.words[policy::STATE].get();
        if word & 0xff != PolicyState::Rules as u32 {
            return Ok(Selected::Access(self.access()?));
        }
        let (entry, naming_line, token) = match self.named(agent)? {
            Some(named) => named,
            None => {
                let entry = self.words[policy::DEFAULT_ENTRY].get();
                if entry == NONE {
                    // The last word is the record of a rule, or NONE. If it is zero, the file was
                    // truncated and has lost it, and the names of robots with it.
                    if self.words.last().is_none_or(|word| word.get() == 0) {
                        return Err(self.malformed("a policy has no end"));
                    }
                    return Ok(Selected::NoGroup);
                }
                (entry, self.words[policy::DEFAULT_NAMING_LINE].get(), NONE)
            }
        };
        let at = self.entry_at(entry);
        Ok(Selected::Rules(SelectedRules {
            policy: self.number,
            entry,
            rule_set: RuleSetNumber(self.word(at + policy::RULE_SET)?),
            order: self.word(at + policy::ORDER)?,
            naming_line,
            token,
        }))
    }

    /// Returns the number of the name that selects the groups for an agent; `None` for default groups,
    /// and if the policy has no rules.
    pub(crate) fn robot_named(&self, agent: &AgentTokens) -> Result<Option<u32>, Damage> {
        if self.state()? != PolicyState::Rules {
            return Ok(None);
        }
        let names = self.tokens()?;
        let naming = |index: usize| Ok((names[index].get(), self.naming_line(index)?.1));
        Ok(agent.first_named(names, naming)?.map(|(number, ..)| number))
    }

    /// Returns the entry, the naming record and the position in the chain of the first token of the
    /// chain that is named.
    #[inline]
    fn named(&self, agent: &AgentTokens) -> Result<Option<(u32, u32, u32)>, Damage> {
        if self.token_count() == 0 {
            return Ok(None);
        }
        agent.first_named(self.tokens()?, |index| self.naming_line(index))
    }
}
