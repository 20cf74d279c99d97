//! Rules that can never decide, found on the automaton of each set of rules that some agent obeys.
//!
//! A rule may be shadowed for one agent and decide for another, which obeys other groups beside its.
//! It is told of only if it never decides for any of the agents that it speaks to.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::prelude::*;

use super::hosts::Asked;
use super::rules::Described;
use super::shown;
use crate::analysis::{AgentRules, Limits, Robot, Standing, Successor, never_deciding};
use crate::audit::Audit;
use crate::audit::model::List;
use crate::audit::model::rules::{CoveringRule, NeverCause, NeverCounts, NeverRule};
use crate::id::RuleID;
use crate::limits::{AUDIT_ANALYSIS_POSITIONS_MAX, AUDIT_ANALYSIS_STATES_MAX};
use crate::policy::Selection;
use crate::set::Damage;
use crate::syntax::RobotsTxt;

/// What is found in all policies.
pub(super) struct Never {
    pub rules: List<NeverRule>,
    pub by_cause: NeverCounts,
    /// Rules of which it is not known.
    pub not_known: u64,
    /// Policies that have one.
    pub limits_hit: u64,
}

/// What a rule is there for, over the agents that it speaks to.
enum Fate {
    Decides,
    NotKnown,
    Never { cause: NeverCause, by: Vec<RuleID> },
}

/// A rule that never decides.
struct Found {
    rule: RuleID,
    cause: NeverCause,
    by: Vec<RuleID>,
}

/// What is found in one policy.
#[derive(Default)]
struct OfPolicy {
    never: Vec<Found>,
    not_known: u64,
}

impl Never {
    pub(super) fn of(audit: &Audit, asked: &Asked, top: usize) -> Result<Never, Damage> {
        let policies: Vec<u32> = (0..audit.library.policies.len() as u32).collect();
        let find = |&policy: &u32| find(audit, policy);
        // One by one, because one may take as long as thousands of others.
        let found: Vec<Result<OfPolicy, Damage>> = policies.par_iter().map(find).collect();
        let found: Vec<OfPolicy> = found.into_iter().collect::<Result<_, _>>()?;
        let never = || found.iter().flat_map(|policy| &policy.never);
        let count = |cause| never().filter(|found| found.cause == cause).count() as u64;
        Ok(Never {
            by_cause: NeverCounts {
                no_url: count(NeverCause::NoUrl),
                shadowed: count(NeverCause::Shadowed),
                equal: count(NeverCause::Equal),
            },
            rules: List { total: never().count() as u64, rows: rows(audit, asked, &found, top)? },
            not_known: found.iter().map(|policy| policy.not_known).sum(),
            limits_hit: found.iter().filter(|policy| policy.not_known > 0).count() as u64,
        })
    }
}

fn find(audit: &Audit, policy: u32) -> Result<OfPolicy, Damage> {
    let mut found = OfPolicy::default();
    if audit.library.plan.policy(policy).is_none_or(|plan| plan.speaking == 0) {
        return Ok(found);
    }
    let extract = audit.library.extract(policy)?;
    let file = RobotsTxt::read_extract(&extract).ok_or_else(|| audit.library.misfiled())?;
    for (rule, fate) in fates(audit, policy, &file) {
        match fate {
            Fate::Decides => {}
            Fate::NotKnown => found.not_known += 1,
            Fate::Never { cause, by } => found.never.push(Found { rule, cause, by }),
        }
    }
    Ok(found)
}

/// The fates of a policy's rules that have a pattern and speak to some agent.
fn fates(audit: &Audit, policy: u32, file: &RobotsTxt<'_>) -> BTreeMap<RuleID, Fate> {
    let mut fates: BTreeMap<RuleID, Fate> = BTreeMap::new();
    let dialect = audit.library.set.dialect();
    let Some(plan) = audit.library.plan.policy(policy) else { return fates };
    for class in audit.library.plan.classes(plan).iter().filter(|class| class.rule_span > 0) {
        let agent = &audit.classifier.agents()[class.agent as usize];
        let rules = AgentRules::new(file, Robot::Agent(agent), dialect);
        for (rule, fate) in fates_for(file, &rules) {
            match fates.entry(rule) {
                Entry::Vacant(vacant) => drop(vacant.insert(fate)),
                Entry::Occupied(mut known) => known.get_mut().join(fate),
            }
        }
    }
    fates
}

/// The fates of the rules that one agent obeys, those without a pattern left out.
fn fates_for(file: &RobotsTxt<'_>, rules: &AgentRules<'_>) -> Vec<(RuleID, Fate)> {
    let limits = Limits {
        positions_max: AUDIT_ANALYSIS_POSITIONS_MAX,
        states_max: AUDIT_ANALYSIS_STATES_MAX,
    };
    let Selection::Groups { groups, .. } = rules.selection() else { return Vec::new() };
    let mut found = never_deciding(rules.rules(), &limits).into_iter().peekable();
    // A pattern that no path can start as is not among the ordered ones.
    let mut ordered = rules.rules().ordered.rules.clone();
    ordered.sort_unstable();
    let fate = |rule: RuleID| {
        let fate = match found.next_if(|found| found.rule == rule) {
            Some(found) => Fate::of(found.standing),
            None if ordered.binary_search(&rule).is_ok() => Fate::Decides,
            None => Fate::Never { cause: NeverCause::NoUrl, by: Vec::new() },
        };
        (rule, fate)
    };
    let rules = groups.iter().flat_map(|&group| file.groups()[group].rule_ids());
    rules.filter(|rule| !file.rules()[rule.index()].value.is_empty()).map(fate).collect()
}

impl Fate {
    fn of(standing: Standing) -> Fate {
        let never = |cause, by| Fate::Never { cause, by };
        match standing {
            Standing::Decides { .. } | Standing::Redundant { .. } => Fate::Decides,
            Standing::Unknown(_) => Fate::NotKnown,
            Standing::NeverMatches => never(NeverCause::NoUrl, Vec::new()),
            Standing::Equal { to } => never(NeverCause::Equal, vec![to]),
            Standing::Shadowed { by } => {
                let rule = |successor| match successor {
                    Successor::Rule(rule) => Some(rule),
                    Successor::RobotsTxt | Successor::NoRule => None,
                };
                never(NeverCause::Shadowed, by.into_iter().filter_map(rule).collect())
            }
        }
    }

    /// Takes what the rule is for another class: deciding for one is deciding.
    fn join(&mut self, other: Fate) {
        match (&self, &other) {
            (Fate::Decides, _) | (_, Fate::Never { .. }) => {}
            (_, Fate::Decides | Fate::NotKnown) => *self = other,
        }
    }
}

/// The first rules, of the policies that were asked most.
fn rows(
    audit: &Audit,
    asked: &Asked,
    found: &[OfPolicy],
    top: usize,
) -> Result<Vec<NeverRule>, Damage> {
    let library = &audit.library;
    let mut policies: Vec<u32> =
        (0..).zip(found).filter(|(_, found)| !found.never.is_empty()).map(|(it, _)| it).collect();
    policies.sort_unstable_by_key(|&policy| {
        let shared = &library.policies[policy as usize];
        (Reverse((asked.urls[policy as usize], shared.origins)), shared.first_host)
    });
    let mut rows = Vec::new();
    for policy in policies {
        if rows.len() >= top {
            break;
        }
        let extract = library.extract(policy)?;
        let file = RobotsTxt::read_extract(&extract).ok_or_else(|| library.misfiled())?;
        let described = Described::of(audit, policy, &file);
        let urls = asked.urls[policy as usize];
        let host = library.policies[policy as usize].first_host;
        let never = found[policy as usize].never.iter().take(top - rows.len());
        rows.extend(never.map(|found| NeverRule {
            row: described.row(found.rule, host),
            urls,
            cause: found.cause,
            covered_by: found.by.iter().map(|&rule| covering(&file, rule)).collect(),
        }));
    }
    Ok(rows)
}

fn covering(file: &RobotsTxt<'_>, rule: RuleID) -> CoveringRule {
    let rule = &file.rules()[rule.index()];
    CoveringRule {
        line: rule.line.get(),
        verdict: rule.verdict.as_str().to_owned(),
        rule: shown(rule.value),
    }
}
