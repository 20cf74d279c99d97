//! Figures about rules: the URLs that they decided, idle rules, and rules that can never decide.
//!
//! Rules that can never decide are found with the automata of each rule set that some agent
//! follows. A rule may be shadowed for one agent and decide for another agent with different
//! groups. It is reported only if it never decides for any agent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Asked, largest, shown};
use crate::Audit;
use crate::catalog::{Policy, sorted_union};
use crate::counting::{Findings, Tally};
use crate::model::{
    CoveringRule, DecidingRule, IdleRule, List, NeverCause, NeverCounts, NeverRule, RuleFigures,
    RuleRow,
};
use portcullis_dialect::id::RuleID;
use portcullis_dialect::limits::{AUDIT_ANALYSIS_POSITIONS_MAX, AUDIT_ANALYSIS_STATES_MAX};
use portcullis_lint::analysis::{
    AgentRules, AnalysisLimits, Robot, RuleStatus, Successor, never_deciding,
};
use portcullis_robots::policy::Selection;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::Damage;

/// Returns the figures, with at most `top` rows per list.
pub(super) fn figures(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    asked: &Asked<'_>,
    never: Never,
    top: usize,
) -> Result<RuleFigures, Damage> {
    let policies = || audit.catalog.policies.iter().zip(&asked.urls);
    let rules_asked = policies().filter(|(_, urls)| **urls > 0).map(|(it, _)| it.applicable).sum();
    let deciding = deciding(audit, tally, findings, asked, top)?;
    let idle = rules_asked - deciding.total;
    Ok(RuleFigures {
        rules: policies().map(|(policy, _)| policy.applicable).sum(),
        asked: rules_asked,
        deciding,
        idle: List { total: idle, rows: idle_rows(audit, tally, asked, top)? },
        never: never.rules,
        never_by_cause: never.by_cause,
        not_known: never.not_known,
    })
}

fn deciding(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    asked: &Asked<'_>,
    top: usize,
) -> Result<List<DecidingRule>, Damage> {
    let policies = &audit.catalog.policies;
    let counted = tally.rules.iter().copied().enumerate().filter(|&(_, urls)| urls > 0);
    let total = counted.clone().count() as u64;
    // A policy without counters starts where the next policy starts, which comes after it.
    let policy_of = |counter| policies.partition_point(|policy| policy.rules.base <= counter) - 1;
    // The counters of a policy are in the order of its rules, and so in the order of lines.
    let most = largest(counted, top, |&(counter, urls)| {
        (urls, Reverse((asked.hosts[policy_of(counter)], counter)))
    });
    let row = |(counter, urls): (usize, u64)| {
        let number = policy_of(counter);
        let policy = &policies[number];
        let rule = RuleID((counter - policy.rules.base) as u32 + policy.rules.first);
        let row = audit
            .catalog
            .with_file(number, |file| Described::of(audit, number, asked, file).row(rule))?;
        let mut by_agent = vec![0; policy.class_of.len()];
        for &agent in &row.agents {
            let class = &policy.classes[policy.class_of[agent] as usize];
            by_agent[agent] = class.rules.counter(rule).map_or(0, |it| tally.class_rules[it]);
        }
        let samples = findings.samples.get(&counter).into_iter().flatten();
        let samples = samples.map(|url| shown(url)).collect();
        Ok(DecidingRule { row, urls, by_agent, samples })
    };
    Ok(List { total, rows: most.into_iter().map(row).collect::<Result<_, _>>()? })
}

/// Returns the first idle rules, ordered by the number of URLs of their policies.
fn idle_rows(
    audit: &Audit,
    tally: &Tally,
    asked: &Asked<'_>,
    top: usize,
) -> Result<Vec<IdleRule>, Damage> {
    let policies = &audit.catalog.policies;
    let mut numbers: Vec<usize> = (0..policies.len()).filter(|&it| asked.urls[it] > 0).collect();
    numbers.sort_unstable_by_key(|&number| (Reverse(asked.urls[number]), asked.hosts[number]));
    let mut rows = Vec::new();
    for number in numbers {
        if rows.len() >= top {
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
        audit.catalog.with_file(number, |file| {
            let described = Described::of(audit, number, asked, file);
            let idle = described.applicable().filter(is_idle).take(top - rows.len());
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
        let dialect = audit.catalog.set.dialect();
        let agents = audit.classifier.agents().iter();
        let followed = agents.map(|agent| Selection::of(file, agent, dialect).groups).collect();
        let hosts = audit.catalog.policies[number].hosts;
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
            host: shown(self.host),
            hosts: self.hosts,
            line: found.line.get(),
            verdict: found.verdict.as_str(),
            rule: shown(found.value),
            group: name.map(|line| shown(line.value)).unwrap_or_default(),
            agents: (0..self.followed.len()).filter(applies).collect(),
        }
    }
}

/// The rules of all policies that never decide.
pub(super) struct Never {
    rules: List<NeverRule>,
    by_cause: NeverCounts,
    /// The number of rules for which a limit ended the search.
    not_known: u64,
    /// The number of policies with rules for which a limit ended the search.
    pub policies_not_known: u64,
}

/// The effect of a rule over all agents to which it applies.
enum Fate {
    Decides,
    NotKnown,
    Never { cause: NeverCause, by: Vec<RuleID> },
}

/// The fates of one policy's rules, in order. Rules that decide are left out.
type Fates = Vec<(RuleID, Fate)>;

/// Finds the rules that never decide, with at most `top` rows.
pub(super) fn never(audit: &Audit, asked: &Asked<'_>, top: usize) -> Result<Never, Damage> {
    let policies = &audit.catalog.policies;
    let find = |number: usize| match policies[number].applicable {
        0 => Ok(Vec::new()),
        _ => audit.catalog.with_file(number, |file| fates(audit, &policies[number], file)),
    };
    // Policies are separate work items, because one policy may take as long as thousands of others.
    let found: Vec<Result<Fates, Damage>> = (0..policies.len()).into_par_iter().map(find).collect();
    let found: Vec<Fates> = found.into_iter().collect::<Result<_, _>>()?;
    let not_known =
        |fates: &Fates| fates.iter().filter(|it| matches!(it.1, Fate::NotKnown)).count() as u64;
    let mut by_cause = NeverCounts::default();
    for (_, fate) in found.iter().flatten() {
        match fate {
            Fate::Never { cause: NeverCause::NoUrl, .. } => by_cause.no_url += 1,
            Fate::Never { cause: NeverCause::Shadowed, .. } => by_cause.shadowed += 1,
            Fate::Never { cause: NeverCause::Equal, .. } => by_cause.equal += 1,
            Fate::Decides | Fate::NotKnown => {}
        }
    }
    Ok(Never {
        rules: List {
            total: by_cause.no_url + by_cause.shadowed + by_cause.equal,
            rows: never_rows(audit, asked, &found, top)?,
        },
        by_cause,
        not_known: found.iter().map(not_known).sum(),
        policies_not_known: found.iter().filter(|fates| not_known(fates) > 0).count() as u64,
    })
}

/// Returns the fates of a policy's rules that have a pattern and apply to some agent.
fn fates(audit: &Audit, policy: &Policy, file: &RobotsTxt<'_>) -> Fates {
    let mut fates: BTreeMap<RuleID, Fate> = BTreeMap::new();
    for class in policy.classes.iter().filter(|class| class.rules.len > 0) {
        let agent = Robot::Agent(&audit.classifier.agents()[class.agent]);
        let rules = AgentRules::new(file, agent, audit.catalog.set.dialect());
        for (rule, fate) in class_fates(file, &rules) {
            // A rule that decides for one class counts as deciding.
            match (fates.get(&rule), &fate) {
                (Some(Fate::Decides), _) | (Some(_), Fate::Never { .. }) => {}
                _ => drop(fates.insert(rule, fate)),
            }
        }
    }
    fates.into_iter().filter(|(_, fate)| !matches!(fate, Fate::Decides)).collect()
}

/// Returns the fates of the rules with a pattern that one class follows.
fn class_fates(file: &RobotsTxt<'_>, rules: &AgentRules<'_>) -> Fates {
    let limits = AnalysisLimits {
        positions_max: AUDIT_ANALYSIS_POSITIONS_MAX,
        states_max: AUDIT_ANALYSIS_STATES_MAX,
    };
    let groups = &rules.selection().groups;
    let mut found = never_deciding(rules.rules(), &limits).into_iter().peekable();
    // A pattern that cannot match the start of a path is not among the ordered rules.
    let mut ordered = rules.rules().ordered.rules.clone();
    ordered.sort_unstable();
    let fate = |rule: RuleID| {
        let fate = match found.next_if(|found| found.rule == rule) {
            Some(found) => Fate::of(found.status),
            None if ordered.binary_search(&rule).is_ok() => Fate::Decides,
            None => Fate::Never { cause: NeverCause::NoUrl, by: Vec::new() },
        };
        (rule, fate)
    };
    let rules = groups.iter().flat_map(|&group| file.groups()[group].rule_ids());
    rules.filter(|rule| !file.rules()[rule.index()].value.is_empty()).map(fate).collect()
}

impl Fate {
    fn of(status: RuleStatus) -> Fate {
        let never = |cause, by| Fate::Never { cause, by };
        match status {
            RuleStatus::Decides { .. } | RuleStatus::Redundant { .. } => Fate::Decides,
            RuleStatus::Unknown(_) => Fate::NotKnown,
            RuleStatus::NeverMatches => never(NeverCause::NoUrl, Vec::new()),
            RuleStatus::Equal { to } => never(NeverCause::Equal, vec![to]),
            RuleStatus::Shadowed { by } => {
                let rule = |successor| match successor {
                    Successor::Rule(rule) => Some(rule),
                    Successor::RobotsTxt | Successor::NoRule => None,
                };
                never(NeverCause::Shadowed, by.into_iter().filter_map(rule).collect())
            }
        }
    }
}

/// Returns the first rules that never decide, ordered by the number of URLs of their policies.
fn never_rows(
    audit: &Audit,
    asked: &Asked<'_>,
    found: &[Fates],
    top: usize,
) -> Result<Vec<NeverRule>, Damage> {
    let policies = &audit.catalog.policies;
    let mut numbers: Vec<usize> = (0..policies.len()).collect();
    numbers.sort_unstable_by_key(|&number| {
        (Reverse((asked.urls[number], policies[number].origins)), asked.hosts[number])
    });
    let mut rows = Vec::new();
    for number in numbers {
        let never = |(rule, fate): &(RuleID, Fate)| match fate {
            Fate::Never { cause, by } => Some((*rule, *cause, by.clone())),
            Fate::Decides | Fate::NotKnown => None,
        };
        let never: Vec<_> = found[number].iter().filter_map(never).take(top - rows.len()).collect();
        if never.is_empty() {
            continue;
        }
        audit.catalog.with_file(number, |file| {
            let described = Described::of(audit, number, asked, file);
            rows.extend(never.into_iter().map(|(rule, cause, by)| NeverRule {
                row: described.row(rule),
                urls: asked.urls[number],
                cause,
                covered_by: by.into_iter().map(|rule| covering(file, rule)).collect(),
            }));
        })?;
    }
    Ok(rows)
}

fn covering(file: &RobotsTxt<'_>, rule: RuleID) -> CoveringRule {
    let rule = &file.rules()[rule.index()];
    CoveringRule { line: rule.line.get(), verdict: rule.verdict.as_str(), rule: shown(rule.value) }
}
