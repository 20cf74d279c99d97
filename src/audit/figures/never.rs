//! Rules that can never decide, found on the automaton of each set of rules that some agent obeys.
//!
//! A rule may be shadowed for one agent and decide for another, which obeys other groups beside its.
//! It is told of only if it never decides for any of the agents that it speaks to.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::hosts::Asked;
use super::rules::Described;
use crate::analysis::{AgentRules, Limits, Robot, Standing, Successor};
use crate::audit::Audit;
use crate::audit::model::List;
use crate::audit::model::rules::{CoveringRule, NeverCause, NeverCounts, NeverRule};
use crate::id::RuleID;
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

impl Never {
    pub(super) fn of(audit: &Audit<'_>, asked: &Asked, top: usize) -> Result<Never, Damage> {
        let policies: Vec<u32> = (0..audit.library.policies.len() as u32).collect();
        let count = |&policy: &u32| count(audit, policy);
        let counts: Vec<Result<Counts, Damage>> =
            policies.par_iter().with_min_len(16).map(count).collect();
        let counts: Vec<Counts> = counts.into_iter().collect::<Result<_, _>>()?;
        let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum();
        let by_cause = NeverCounts {
            no_url: sum(|counts| counts.never.no_url),
            shadowed: sum(|counts| counts.never.shadowed),
            equal: sum(|counts| counts.never.equal),
        };
        let rules = List {
            total: by_cause.no_url + by_cause.shadowed + by_cause.equal,
            rows: rows(audit, asked, &counts, top)?,
        };
        Ok(Never {
            rules,
            by_cause,
            not_known: sum(|counts| counts.not_known),
            limits_hit: sum(|counts| u64::from(counts.not_known > 0)),
        })
    }
}

/// The rules of one policy, counted.
#[derive(Clone, Copy, Default)]
struct Counts {
    never: NeverCounts,
    not_known: u64,
}

impl Counts {
    fn total(&self) -> u64 {
        self.never.no_url + self.never.shadowed + self.never.equal
    }
}

fn count(audit: &Audit<'_>, policy: u32) -> Result<Counts, Damage> {
    let mut counts = Counts::default();
    if !audit.library.plan.policy(policy).is_some_and(|plan| plan.speaking > 0) {
        return Ok(counts);
    }
    let extract = audit.library.extract(policy)?;
    let file = RobotsTxt::read_extract(&extract).ok_or_else(|| audit.library.misfiled())?;
    for fate in fates(audit, policy, &file).values() {
        match fate {
            Fate::Decides => {}
            Fate::NotKnown => counts.not_known += 1,
            Fate::Never { cause, .. } => {
                *match cause {
                    NeverCause::NoUrl => &mut counts.never.no_url,
                    NeverCause::Shadowed => &mut counts.never.shadowed,
                    NeverCause::Equal => &mut counts.never.equal,
                } += 1;
            }
        }
    }
    Ok(counts)
}

/// The fates of a policy's rules that have a pattern and speak to some agent.
fn fates(audit: &Audit<'_>, policy: u32, file: &RobotsTxt<'_>) -> BTreeMap<RuleID, Fate> {
    let mut fates: BTreeMap<RuleID, Fate> = BTreeMap::new();
    let dialect = audit.library.source.dialect();
    let Some(plan) = audit.library.plan.policy(policy) else { return fates };
    for class in audit.library.plan.classes(plan).iter().filter(|class| class.rule_span > 0) {
        let agent = &audit.classifier.agents()[class.agent as usize];
        let rules = AgentRules::new(file, Robot::Agent(agent), dialect);
        for found in rules.standings(&Limits::default()) {
            if rules.rule(found.rule).value.is_empty() {
                continue;
            }
            let fate = Fate::of(found.standing);
            let known = fates.entry(found.rule);
            known.and_modify(|known| known.join(&fate)).or_insert(fate);
        }
    }
    fates
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
    fn join(&mut self, other: &Fate) {
        match (&self, other) {
            (Fate::Decides, _) | (_, Fate::Never { .. }) => {}
            (_, Fate::Decides) => *self = Fate::Decides,
            (_, Fate::NotKnown) => *self = Fate::NotKnown,
        }
    }
}

/// The first rules, of the policies that were asked most.
fn rows(
    audit: &Audit<'_>,
    asked: &Asked,
    counts: &[Counts],
    top: usize,
) -> Result<Vec<NeverRule>, Damage> {
    let library = &audit.library;
    let mut policies: Vec<u32> =
        (0..).zip(counts).filter(|(_, counts)| counts.total() > 0).map(|(it, _)| it).collect();
    policies.sort_unstable_by_key(|&policy| {
        let shared = &library.policies[policy as usize];
        let most = Reverse((asked.urls[policy as usize], shared.origins));
        (most, shared.first_host)
    });
    let mut rows = Vec::new();
    for policy in policies {
        if rows.len() >= top {
            break;
        }
        let extract = library.extract(policy)?;
        let file = RobotsTxt::read_extract(&extract).ok_or_else(|| library.misfiled())?;
        let described = Described::of(audit, policy, &file);
        for (rule, fate) in fates(audit, policy, &file) {
            let Fate::Never { cause, by } = fate else { continue };
            if rows.len() >= top {
                break;
            }
            let host = library.policies[policy as usize].first_host;
            let covered_by = by.into_iter().map(|rule| covering(&described.row(rule, host)));
            rows.push(NeverRule {
                row: described.row(rule, host),
                urls: asked.urls[policy as usize],
                cause,
                covered_by: covered_by.collect(),
            });
        }
    }
    Ok(rows)
}

fn covering(row: &crate::audit::model::rules::RuleRow) -> CoveringRule {
    CoveringRule { line: row.line, verdict: row.verdict.clone(), rule: row.rule.clone() }
}
