//! Rules: the URLs that they decided, idle rules, and rules that can never decide.
//!
//! Rules that can never decide are found with the automata of each rule set that some agent
//! follows. A rule may be shadowed for one agent and decide for another agent with different
//! groups. It is reported only if it never decides for any agent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::{AUDIT_ANALYSIS_POSITIONS_MAX, AUDIT_ANALYSIS_STATES_MAX};
use portcullis_lint::analysis::{AgentRules, AnalysisLimits, Robot, RuleStatus, Successor};
use portcullis_report::Figures;
use portcullis_robots::figures::largest;
use portcullis_robots::policy::{AgentChain, Selection};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::Damage;

use crate::audit::{Asked, Audit};
use crate::counting::{Findings, Tally};
use crate::policies::sorted_union;
use crate::report::{
    Cause, CoveringRule, DecidingRule, IdleRule, List, NeverRule, RuleFigures, RuleRow,
};
use crate::text::Text;

/// Returns the figures.
pub(crate) fn figures(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    asked: &Asked<'_>,
) -> Result<RuleFigures, Damage> {
    let policies = || audit.policies.iter().zip(&asked.urls);
    let rules_asked = policies().filter(|(_, urls)| **urls > 0).map(|(it, _)| it.applicable).sum();
    let deciding = deciding(audit, tally, findings, asked)?;
    let idle = rules_asked - deciding.total;
    let never = || audit.policies.iter().flat_map(|policy| &policy.never);
    let with = |cause| never().filter(|(_, status)| cause_of(status) == cause).count() as u64;
    let by_cause = Figures::of(Cause::ALL, Cause::as_str, |cause| with(Some(cause)));
    let total = by_cause.0.iter().map(|(_, rules)| rules).sum();
    Ok(RuleFigures {
        rules: policies().map(|(policy, _)| policy.applicable).sum(),
        asked: rules_asked,
        deciding,
        idle: List { total: idle, rows: idle_rows(audit, tally, asked)? },
        never: List { total, rows: never_rows(audit, asked)? },
        never_by_cause: by_cause,
        not_known: with(None),
    })
}

fn deciding(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    asked: &Asked<'_>,
) -> Result<List<DecidingRule>, Damage> {
    let policies = &audit.policies;
    let counted = tally.rules.iter().copied().enumerate().filter(|&(_, urls)| urls > 0);
    let total = counted.clone().count() as u64;
    // A policy without counters starts where the next policy starts, which comes after it.
    let policy_of = |counter| policies.partition_point(|policy| policy.rules.base <= counter) - 1;
    // The counters of a policy are in the order of its rules, and so in the order of lines.
    let most = largest(counted, audit.top, |&(counter, urls)| {
        (urls, Reverse((asked.hosts[policy_of(counter)], counter)))
    });
    let row = |(counter, urls): (usize, u64)| {
        let number = policy_of(counter);
        let policy = &policies[number];
        let rule = RuleID((counter - policy.rules.base) as u32 + policy.rules.first);
        let row =
            audit.with_file(number, |file| Described::of(audit, number, asked, file).row(rule))?;
        let mut by_agent = vec![0; policy.class_of.len()];
        for &agent in &row.agents {
            let class = &policy.classes[policy.class_of[agent] as usize];
            by_agent[agent] = class.rules.counter(rule).map_or(0, |it| tally.class_rules[it]);
        }
        let samples = findings.samples.get(&counter).into_iter().flatten();
        let samples = samples.map(|url| Text::from(&url[..])).collect();
        Ok(DecidingRule { row, urls, by_agent, samples })
    };
    Ok(List { total, rows: most.into_iter().map(row).collect::<Result<_, _>>()? })
}

/// Returns the first idle rules, ordered by the number of URLs of their policies.
fn idle_rows(audit: &Audit, tally: &Tally, asked: &Asked<'_>) -> Result<Vec<IdleRule>, Damage> {
    let policies = &audit.policies;
    let mut numbers: Vec<usize> = (0..policies.len()).filter(|&it| asked.urls[it] > 0).collect();
    numbers.sort_unstable_by_key(|&number| (Reverse(asked.urls[number]), asked.hosts[number]));
    let mut rows = Vec::new();
    for number in numbers {
        if rows.len() >= audit.top {
            break;
        }
        let policy = &policies[number];
        let decided = tally.rules[policy.rules.counters()].iter().filter(|urls| **urls > 0);
        if decided.count() as u64 == policy.applicable {
            continue;
        }
        let is_idle = |rule: &RuleID| {
            policy.rules.counter(*rule).is_none_or(|counter| tally.rules[counter] == 0)
        };
        let urls = asked.urls[number];
        audit.with_file(number, |file| {
            let described = Described::of(audit, number, asked, file);
            let idle = described.applicable().filter(is_idle).take(audit.top - rows.len());
            rows.extend(idle.map(|rule| IdleRule { row: described.row(rule), urls }));
        })?;
    }
    Ok(rows)
}

/// A policy's file, and the groups that apply to each agent.
struct Described<'f> {
    /// The host that names the policy, and the number of hosts that share it.
    host: &'f [u8],
    hosts: u64,
    file: &'f RobotsTxt<'f>,
    /// The groups that apply to each agent.
    followed: Vec<Vec<usize>>,
}

impl<'f> Described<'f> {
    fn of(
        audit: &Audit,
        number: usize,
        asked: &Asked<'f>,
        file: &'f RobotsTxt<'f>,
    ) -> Described<'f> {
        let dialect = audit.set.dialect();
        let agents = audit.classifier.agents().iter();
        let followed = agents.map(|agent| Selection::of(file, agent, dialect).groups).collect();
        let hosts = audit.policies[number].hosts;
        Described { host: asked.hosts[number], hosts, file, followed }
    }

    /// Returns the rules with a pattern that apply to some agent.
    fn applicable(&self) -> impl Iterator<Item = RuleID> {
        let groups = sorted_union(&self.followed).into_iter();
        let rules = groups.flat_map(|group| self.file.groups()[group].rule_ids());
        rules.filter(|rule| !self.file.rules()[rule.index()].value.is_empty())
    }

    /// Returns the row of a rule.
    fn row(&self, rule: RuleID) -> RuleRow {
        let groups = self.file.groups();
        // A group without rules starts where the next group starts.
        let group = groups.iter().rposition(|group| group.rules.contains(&rule.0));
        let name = group.and_then(|group| self.file.user_agents_of(&groups[group]).first());
        let applies = |agent: &usize| group.is_some_and(|it| self.followed[*agent].contains(&it));
        let found = &self.file.rules()[rule.index()];
        RuleRow {
            host: Text::cut(self.host),
            hosts: self.hosts,
            line: found.line.get(),
            verdict: found.verdict.as_str(),
            rule: Text::cut(found.value),
            group: name.map(|line| Text::cut(line.value)).unwrap_or_default(),
            agents: (0..self.followed.len()).filter(applies).collect(),
        }
    }
}

/// Returns the rules with a value that apply to one of `agents`, each of which follows different
/// groups, and decide for none of them, or for which a limit ended the search.
pub(crate) fn never_deciding<'a>(
    file: &RobotsTxt<'_>,
    agents: impl Iterator<Item = &'a AgentChain>,
    dialect: &'static Dialect,
) -> Vec<(RuleID, RuleStatus)> {
    let limits = AnalysisLimits {
        positions_max: AUDIT_ANALYSIS_POSITIONS_MAX,
        states_max: AUDIT_ANALYSIS_STATES_MAX,
    };
    let mut known: BTreeMap<RuleID, Option<RuleStatus>> = BTreeMap::new();
    for agent in agents {
        let rules = AgentRules::new(file, Robot::Agent(agent), dialect);
        for (rule, status) in rules.never_deciding(&limits) {
            let never = status.as_ref().is_some_and(|status| cause_of(status).is_some());
            match known.get(&rule) {
                // A rule that decides for one class counts as deciding.
                Some(None) => {}
                Some(Some(_)) if never => {}
                _ => drop(known.insert(rule, status)),
            }
        }
    }
    known.into_iter().filter_map(|(rule, status)| Some((rule, status?))).collect()
}

/// Returns why a rule never decides; `None` if it may decide.
fn cause_of(status: &RuleStatus) -> Option<Cause> {
    match status {
        RuleStatus::NeverMatches => Some(Cause::NoUrl),
        RuleStatus::Equal { .. } => Some(Cause::Equal),
        RuleStatus::Shadowed { .. } => Some(Cause::Shadowed),
        RuleStatus::Decides { .. } | RuleStatus::Redundant { .. } | RuleStatus::Unknown(_) => None,
    }
}

/// Returns the first rules that never decide, ordered by the number of URLs of their policies.
fn never_rows(audit: &Audit, asked: &Asked<'_>) -> Result<Vec<NeverRule>, Damage> {
    let policies = &audit.policies;
    let mut numbers: Vec<usize> = (0..policies.len()).collect();
    numbers.sort_unstable_by_key(|&number| {
        (Reverse((asked.urls[number], policies[number].origins)), asked.hosts[number])
    });
    let mut rows = Vec::new();
    for number in numbers {
        let never = policies[number].never.iter();
        let never = never.filter_map(|(rule, it)| Some((*rule, cause_of(it)?, it)));
        let never: Vec<_> = never.take(audit.top - rows.len()).collect();
        if never.is_empty() {
            continue;
        }
        audit.with_file(number, |file| {
            let described = Described::of(audit, number, asked, file);
            rows.extend(never.into_iter().map(|(rule, cause, status)| NeverRule {
                row: described.row(rule),
                urls: asked.urls[number],
                cause,
                covered_by: covering(file, status),
            }));
        })?;
    }
    Ok(rows)
}

fn covering(file: &RobotsTxt<'_>, status: &RuleStatus) -> Vec<CoveringRule> {
    let rules = match status {
        RuleStatus::Equal { to } => &[Successor::Rule(*to)][..],
        RuleStatus::Shadowed { by } => by,
        _ => &[],
    };
    let covering = |successor: &Successor| {
        let Successor::Rule(rule) = successor else { return None };
        let rule = &file.rules()[rule.index()];
        let (line, verdict) = (rule.line.get(), rule.verdict.as_str());
        Some(CoveringRule { line, verdict, rule: Text::cut(rule.value) })
    };
    rules.iter().filter_map(covering).collect()
}
