//! Rules: what they decided, and which decided nothing.

use std::cmp::Reverse;

use super::hosts::Asked;
use super::never::Never;
use super::{host_name, shown};
use crate::audit::Audit;
use crate::audit::findings::Findings;
use crate::audit::model::List;
use crate::audit::model::rules::{DecidingRule, IdleRule, RuleFigures, RuleRow};
use crate::audit::plan::{PolicyPlan, groups_obeyed};
use crate::audit::tally::Tally;
use crate::id::RuleID;
use crate::set::Damage;
use crate::set::survey::largest;
use crate::syntax::RobotsTxt;

/// The figures, with `top` rows of each list.
pub(super) fn figures(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    asked: &Asked,
    never: Never,
    top: usize,
) -> Result<RuleFigures, Damage> {
    let speaking = |policy: u32| {
        audit.library.plan.policy(policy).map_or(0, |policy| u64::from(policy.speaking))
    };
    let policies = 0..audit.library.policies.len() as u32;
    let were_asked = policies.clone().filter(|&policy| asked.urls[policy as usize] > 0);
    let rules_asked = were_asked.map(speaking).sum();
    let deciding = deciding(audit, tally, findings, top)?;
    let idle = rules_asked - deciding.total;
    Ok(RuleFigures {
        rules: policies.map(speaking).sum(),
        asked: rules_asked,
        deciding,
        idle: List { total: idle, rows: idle_rows(audit, tally, asked, top)? },
        never: never.rules,
        never_by_cause: never.by_cause,
        not_known: never.not_known,
    })
}

/// A rule that decided URLs, in the counting.
struct Counted {
    /// Its counter.
    rule: usize,
    urls: u64,
    /// The host of the first.
    host: u32,
}

fn deciding(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    top: usize,
) -> Result<List<DecidingRule>, Damage> {
    let counted = || tally.rules.iter().enumerate().filter(|(_, urls)| **urls > 0);
    let with_host = counted().map(|(rule, &urls)| {
        let host = findings.samples.get(&rule).map_or(0, |samples| samples.host);
        Counted { rule, urls, host }
    });
    // Counters of a policy stand in the order of its rules, and so of lines.
    let most = largest(with_host, top, |rule| (rule.urls, Reverse((rule.host, rule.rule))));
    let rows = most.into_iter().map(|rule| deciding_row(audit, tally, findings, &rule));
    Ok(List { total: counted().count() as u64, rows: rows.collect::<Result<_, _>>()? })
}

fn deciding_row(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    counted: &Counted,
) -> Result<DecidingRule, Damage> {
    let policy = audit.library.plan.policy_of_rule(counted.rule);
    let plan = audit.library.plan.policy(policy).ok_or_else(|| audit.library.misfiled())?;
    let rule = RuleID((counted.rule - plan.rule_base) as u32 + plan.first_rule);
    let extract = audit.library.extract(policy)?;
    let file = RobotsTxt::read_extract(&extract).ok_or_else(|| audit.library.misfiled())?;
    let described = Described::of(audit, policy, &file);
    let row = described.row(rule, counted.host);
    let by_agent = by_agent(audit, tally, policy, plan, rule, &row.agents);
    let samples = findings.samples.get(&counted.rule);
    let samples = samples.map_or(&[][..], |samples| &samples.urls);
    let samples = samples.iter().map(|url| shown(url)).collect();
    Ok(DecidingRule { row, urls: counted.urls, by_agent, samples })
}

/// URLs that a rule decided, by agent; `agents` are those that it speaks to.
fn by_agent(
    audit: &Audit,
    tally: &Tally,
    policy: u32,
    plan: &PolicyPlan,
    rule: RuleID,
    agents: &[usize],
) -> Vec<u64> {
    let of_agents = audit.library.plan.of_agents(policy);
    let classes = audit.library.plan.classes(plan);
    let mut counts = vec![0; of_agents.len()];
    for &agent in agents {
        let counter = match plan.is_shared {
            true => {
                let class = &classes[of_agents[agent] as usize];
                class.counter(rule).map(|counter| tally.class_rules[counter])
            }
            false => plan.counter(rule).map(|counter| tally.rules[counter]),
        };
        counts[agent] = counter.unwrap_or(0);
    }
    counts
}

/// The first rules that decided nothing, of the policies that were asked most.
fn idle_rows(
    audit: &Audit,
    tally: &Tally,
    asked: &Asked,
    top: usize,
) -> Result<Vec<IdleRule>, Damage> {
    let library = &audit.library;
    let mut policies: Vec<u32> = (0..library.policies.len() as u32)
        .filter(|&policy| asked.urls[policy as usize] > 0)
        .collect();
    policies.sort_unstable_by_key(|&policy| {
        let first_host = library.policies[policy as usize].first_host;
        (Reverse(asked.urls[policy as usize]), first_host)
    });
    let mut rows = Vec::new();
    for policy in policies {
        if rows.len() >= top {
            break;
        }
        let Some(plan) = library.plan.policy(policy) else { continue };
        let decided = tally.rules[plan.counters()].iter().filter(|urls| **urls > 0).count();
        if decided == plan.speaking as usize {
            continue;
        }
        let extract = library.extract(policy)?;
        let file = RobotsTxt::read_extract(&extract).ok_or_else(|| library.misfiled())?;
        let described = Described::of(audit, policy, &file);
        let urls = asked.urls[policy as usize];
        let host = library.policies[policy as usize].first_host;
        let is_idle = |&rule: &RuleID| {
            let counter = plan.counter(rule);
            counter.is_none_or(|counter| tally.rules[counter] == 0)
        };
        let idle = described.speaking().filter(is_idle).take(top - rows.len());
        rows.extend(idle.map(|rule| IdleRule { row: described.row(rule, host), urls }));
    }
    Ok(rows)
}

/// A policy's file, and who obeys which of its groups.
pub(super) struct Described<'f> {
    audit: &'f Audit,
    policy: u32,
    file: &'f RobotsTxt<'f>,
    /// By agent.
    obeyed: Vec<Vec<usize>>,
}

impl<'f> Described<'f> {
    pub(super) fn of(audit: &'f Audit, policy: u32, file: &'f RobotsTxt<'f>) -> Described<'f> {
        let dialect = audit.library.set.dialect();
        let agents = audit.classifier.agents().iter();
        let obeyed = agents.map(|agent| groups_obeyed(file, agent, dialect)).collect();
        Described { audit, policy, file, obeyed }
    }

    /// The rules with a pattern that speak to some agent.
    fn speaking(&self) -> impl Iterator<Item = RuleID> {
        let mut groups: Vec<usize> = self.obeyed.iter().flatten().copied().collect();
        groups.sort_unstable();
        groups.dedup();
        let rules = groups.into_iter().flat_map(|group| self.file.groups()[group].rule_ids());
        rules.filter(|rule| !self.file.rules()[rule.index()].value.is_empty())
    }

    /// A rule, as `host` has it.
    pub(super) fn row(&self, rule: RuleID, host: u32) -> RuleRow {
        let groups = self.file.groups();
        let after = groups.partition_point(|group| group.rules.start <= rule.0);
        // Groups without rules stand where the next one begins.
        let holds = |group: &usize| groups[*group].rules.contains(&rule.0);
        let group = (0..after).rev().find(holds);
        let name = group.and_then(|group| self.file.user_agents_of(&groups[group]).first());
        let obeys = |agent: &usize| group.is_some_and(|group| self.obeyed[*agent].contains(&group));
        let found = &self.file.rules()[rule.index()];
        RuleRow {
            host: host_name(&self.audit.library, host),
            hosts: self.audit.library.policies[self.policy as usize].hosts,
            line: found.line.get(),
            verdict: found.verdict.as_str().to_owned(),
            rule: shown(found.value),
            group: name.map(|line| shown(line.value)).unwrap_or_default(),
            agents: (0..self.obeyed.len()).filter(obeys).collect(),
        }
    }
}
