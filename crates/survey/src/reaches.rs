//! What a policy says to an agent as a whole: how much of a site, by which groups and rules.
//!
//! Everything is read from the stored rule sets; no text is parsed. A rule set is searched once,
//! for all policies and agents that share it, when it is first asked for.

use std::sync::OnceLock;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_lint::analysis::{Reach, reach};
use portcullis_set::Damage;
use portcullis_set::stored::{
    AgentTokens, AppliedGroups, PolicySet, RuleSetNumber, StoredPolicy, StoredRuleSet,
};

/// How much each rule set of a set allows. Threads share it.
#[derive(Debug)]
pub struct Reaches<'s> {
    set: &'s PolicySet,
    /// By the number of the rule set.
    known: Vec<OnceLock<Option<Reach>>>,
}

/// What a policy says to an agent as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'s> {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub reach: Option<Reach>,
    /// The groups that apply; `None` if none does, or if there is no file with rules.
    pub groups: Option<AppliedGroups<'s>>,
}

impl<'s> Reaches<'s> {
    /// Returns the rule sets of `set`, none of them searched.
    pub fn new(set: &'s PolicySet) -> Reaches<'s> {
        Reaches { set, known: vec![OnceLock::new(); set.rule_set_count() as usize] }
    }

    /// Returns how much a rule set allows; `None` if a limit ended the search, or the rule set is
    /// too large to be stored.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn of(&self, number: RuleSetNumber) -> Result<Option<Reach>, Damage> {
        self.find(number, None, &mut 0)
    }

    /// Returns what `policy` says to `agent`. A rule set that is too large to be stored is built.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied(
        &self,
        policy: &StoredPolicy<'s>,
        agent: &AgentTokens,
    ) -> Result<Applied<'s>, Damage> {
        let mut patterns_left = usize::MAX;
        self.applied_within(policy, agent, &mut patterns_left)
    }

    /// Like [`Reaches::applied`], while `patterns_left` is not 0. It counts down by the patterns of
    /// each rule set that is not stored and has to be built.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied_within(
        &self,
        policy: &StoredPolicy<'s>,
        agent: &AgentTokens,
        patterns_left: &mut usize,
    ) -> Result<Applied<'s>, Damage> {
        let groups = policy.applied_groups(agent)?;
        let reach = match &groups {
            Some(of_agent) => self.find(of_agent.rule_set(), groups.as_ref(), patterns_left)?,
            None => match policy.access()? {
                AccessOutcome { state, verdict: Verdict::Disallow }
                    if state != PolicyState::Rules =>
                {
                    Some(Reach::Nothing)
                }
                _ => Some(Reach::Everything),
            },
        };
        Ok(Applied { reach, groups })
    }

    /// Like [`Reaches::of`]. Builds a rule set that is not stored if its `groups` are given.
    fn find(
        &self,
        number: RuleSetNumber,
        groups: Option<&AppliedGroups<'s>>,
        patterns_left: &mut usize,
    ) -> Result<Option<Reach>, Damage> {
        if let Some(reach) = self.known.get(number.index()).and_then(OnceLock::get) {
            return Ok(*reach);
        }
        let escapes = self.set.dialect().paths.escapes;
        let found = match (self.set.rule_set(number)?, groups) {
            (StoredRuleSet::Compiled(stored), _) => reach(stored, escapes),
            (StoredRuleSet::OfGroups, None) => return Ok(None),
            (StoredRuleSet::OfGroups, Some(_)) if *patterns_left == 0 => return Ok(None),
            (StoredRuleSet::OfGroups, Some(groups)) => {
                let built = groups.build()?;
                *patterns_left = patterns_left.saturating_sub(built.as_rule_set().len());
                reach(built.as_rule_set(), escapes)
            }
        };
        Ok(*self.known[number.index()].get_or_init(|| found))
    }
}
