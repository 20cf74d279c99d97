//! Policies, one after another: what each consists of, and who shares it.

use crate::decision::PolicyState;
use crate::set::PolicySet;
use crate::set::file::Damage;
use crate::set::stored::{PolicyNumber, StoredPolicy};

use super::extremes::largest;
use super::origins::{ByPosition, PolicyUse};
use super::robots::Robots;
use super::rule_sets::{RuleSetStrategy, RuleSets};
use super::sharing::Sharing;

/// A policy, and who shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyedPolicy<'s> {
    /// Whether there is a file, or what its absence means.
    pub state: PolicyState,
    /// The key of the first host that has it.
    pub host: Option<&'s [u8]>,
    /// Origins that it speaks for.
    pub origins: u64,
    /// Its user-agent lines and rules.
    pub records: u64,
    /// The robots that it names.
    pub robots: u64,
    /// Bytes of its extract.
    pub extract_bytes: u64,
    /// Bytes of the longest file that means it, as far as they were kept.
    pub file_bytes: u64,
    /// The different rule sets that its robots obey.
    pub rule_sets: u64,
    /// The patterns of those, as far as the set keeps them.
    pub patterns: u64,
    /// Rule sets that are too many for the set to keep: they are ordered when an agent first asks.
    pub unordered: u64,
    /// The bytes of its rule sets.
    pub rule_set_bytes: u64,
}

/// Policies, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicySurvey<'s> {
    /// Policies.
    pub policies: u64,
    /// Their user-agent lines and rules.
    pub records: u64,
    /// By how many origins they are shared.
    pub sharing: Sharing,
    /// Those that most origins share.
    pub most_shared: Vec<SurveyedPolicy<'s>>,
    /// Those with the most user-agent lines and rules.
    pub largest: Vec<SurveyedPolicy<'s>>,
    /// Those that take the most to ask: first by rule sets that have to be ordered, then by bytes
    /// of rule sets.
    pub most_expensive: Vec<SurveyedPolicy<'s>>,
}

/// What going over the policies finds.
pub struct PolicyPass<'s> {
    pub policies: Vec<PassedPolicy<'s>>,
    pub robots: Robots<'s>,
}

/// A policy whose extract was not looked at.
#[derive(Clone, Copy)]
pub struct PassedPolicy<'s> {
    number: PolicyNumber,
    policy: SurveyedPolicy<'s>,
}

impl<'s> PolicyPass<'s> {
    /// Goes over the policies, who are used as `uses` says, and counts whom they speak to, and which
    /// rule sets they have.
    pub fn of(
        set: &'s PolicySet,
        mut uses: ByPosition<PolicyNumber, PolicyUse<'s>>,
        rule_sets: &mut RuleSets<'s>,
    ) -> Result<PolicyPass<'s>, Damage> {
        let robots = Robots::new(set.robot_names()?);
        let mut pass = PolicyPass { policies: Vec::new(), robots };
        for policy in set.policies() {
            let policy = policy?;
            let used = uses.remove(&policy.number());
            pass.add(&policy, used.as_ref(), rule_sets)?;
        }
        match uses.is_empty() {
            true => Ok(pass),
            false => Err(set.malformed_host("a host has a policy that is not there")),
        }
    }

    fn add(
        &mut self,
        policy: &StoredPolicy<'s>,
        used: Option<&PolicyUse<'s>>,
        rule_sets: &mut RuleSets<'s>,
    ) -> Result<(), Damage> {
        let state = policy.state()?;
        let origins = used.map_or(0, |used| used.origins);
        let mut obeyed = Vec::new();
        let robots = policy.robots()?;
        for &(number, entry) in &robots {
            let rule_set = rule_sets.number(policy, entry)?;
            let robot = self.robots.named.get_mut(number as usize);
            let robot = robot.ok_or_else(|| policy.malformed("a robot has no name"))?;
            robot.count.add(origins, rule_sets.figures(rule_set).reach);
            obeyed.push((rule_set, Some(robot.name)));
        }
        self.robots.survey.naming_policies += u64::from(!robots.is_empty());
        match policy.default_entry() {
            Some(entry) => {
                let rule_set = rule_sets.number(policy, entry)?;
                self.robots.survey.others.add(origins, rule_sets.figures(rule_set).reach);
                obeyed.push((rule_set, None));
            }
            None if state == PolicyState::Rules => {
                self.robots.survey.without_others += 1;
                self.robots.survey.origins_without_others += origins;
            }
            None => {}
        }
        let mut surveyed = SurveyedPolicy {
            state,
            host: used.map(|used| used.host),
            origins,
            records: policy.record_count()? as u64,
            robots: robots.len() as u64,
            extract_bytes: 0,
            file_bytes: used.map_or(0, |used| used.file_bytes.into()),
            rule_sets: 0,
            patterns: 0,
            unordered: 0,
            rule_set_bytes: 0,
        };
        // The sort is stable and "nothing" comes first: a rule set that both have is the default's.
        obeyed.sort_by_key(|&(rule_set, robot)| (rule_set, robot.is_some()));
        obeyed.dedup_by_key(|&mut (rule_set, _)| rule_set);
        for (number, robot) in obeyed {
            rule_sets.add_policy(number, used, robot);
            let figures = rule_sets.figures(number);
            surveyed.rule_sets += 1;
            surveyed.patterns += u64::from(figures.patterns);
            surveyed.unordered += u64::from(figures.strategy == RuleSetStrategy::FromGroups);
            surveyed.rule_set_bytes += figures.bytes;
        }
        self.policies.push(PassedPolicy { number: policy.number(), policy: surveyed });
        Ok(())
    }
}

impl<'s> PolicySurvey<'s> {
    pub(super) fn new(
        set: &PolicySet,
        passed: Vec<PassedPolicy<'s>>,
        top: usize,
    ) -> Result<PolicySurvey<'s>, Damage> {
        let mut survey = PolicySurvey::default();
        for PassedPolicy { policy, .. } in &passed {
            survey.policies += 1;
            survey.records += policy.records;
            survey.sharing.add(policy.origins);
        }
        let items = || passed.iter().copied();
        let most_shared = largest(items(), top, |it| it.policy.origins);
        let longest = largest(items(), top, |it| (it.policy.records, it.policy.file_bytes));
        let most_expensive =
            largest(items(), top, |it| (it.policy.unordered, it.policy.rule_set_bytes));
        survey.most_shared = with_extracts(set, most_shared)?;
        survey.largest = with_extracts(set, longest)?;
        survey.most_expensive = with_extracts(set, most_expensive)?;
        Ok(survey)
    }
}

/// The same policies, with the lengths of their extracts.
fn with_extracts<'s>(
    set: &PolicySet,
    passed: Vec<PassedPolicy<'s>>,
) -> Result<Vec<SurveyedPolicy<'s>>, Damage> {
    let look = |PassedPolicy { number, policy }: PassedPolicy<'s>| {
        let extract_bytes = set.policy(number)?.extract()?.len() as u64;
        Ok(SurveyedPolicy { extract_bytes, ..policy })
    };
    passed.into_iter().map(look).collect()
}
