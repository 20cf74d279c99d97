//! Figures about usage preferences: URLs by agent and label, conflicting statements, and licences.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::{Asked, largest, shown};
use crate::Audit;
use crate::catalog::{Catalog, Policy};
use crate::counting::Tally;
use crate::model::{
    ConflictCounts, ConflictKind, LicenseRow, List, UsageConflict, UsageFigures, UsageRow,
};
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_engine::automaton::Reach;
use portcullis_robots::policy::{AgentChain, Selection, UsageGroups, reach, refusal_of_every_path};
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_set::Damage;

/// The findings in one file.
#[derive(Default)]
struct ReadUsage {
    /// The agents by label, kind and line.
    conflicts: HashMap<(Label, ConflictKind, LineNumber), Vec<usize>, foldhash::fast::RandomState>,
    /// The licences, without duplicates.
    licenses: HashSet<Vec<u8>, foldhash::fast::RandomState>,
}

/// Returns the figures.
pub(super) fn figures(
    audit: &Audit,
    tally: &Tally,
    asked: &Asked<'_>,
    top: usize,
) -> Result<UsageFigures, Damage> {
    let (catalog, agents) = (&audit.catalog, audit.classifier.agents());
    let of_agent = agents.iter().flat_map(|agent| Label::ALL.map(|label| (agent, label)));
    let row = |((agent, label), counts): ((&AgentChain, Label), &[u64; 4])| {
        let of = |preference: Preference| counts[preference as usize];
        UsageRow {
            agent: agent.name().to_owned(),
            label: label.as_str(),
            y: of(Preference::Yes),
            n: of(Preference::No),
            unstated: of(Preference::Unstated),
            no_access: of(Preference::NoAccess),
        }
    };
    let urls = of_agent.zip(&tally.usage).map(row).collect();
    let mut figures = UsageFigures { urls, ..UsageFigures::default() };
    let read = |policy: &Policy| {
        let stored = catalog.set.policy(policy.number)?;
        let has_usage = policy.has_file() && stored.has_usage()?;
        let read = |file: &RobotsTxt<'_>| ReadUsage::of(catalog, file, agents);
        has_usage.then(|| stored.with_file(|file, _| read(file))).transpose()
    };
    let found: Vec<Result<Option<ReadUsage>, Damage>> =
        catalog.policies.par_iter().with_min_len(16).map(read).collect();
    let mut conflicts = Vec::new();
    let mut licenses: HashMap<Vec<u8>, u64, foldhash::fast::RandomState> = HashMap::default();
    for ((policy, &host), found) in catalog.policies.iter().zip(&asked.hosts).zip(found) {
        let Some(found) = found? else { continue };
        figures.hosts += policy.hosts;
        figures.licensed += if found.licenses.is_empty() { 0 } else { policy.hosts };
        for license in found.licenses {
            *licenses.entry(license).or_default() += policy.hosts;
        }
        let mut counted: HashSet<_, foldhash::fast::RandomState> = HashSet::default();
        for ((label, kind, line), mut agents) in found.conflicts {
            if counted.insert((label, kind)) {
                figures.by_conflict.add(kind, policy.hosts);
            }
            agents.sort_unstable();
            let (label, line) = (label.as_str(), line.get());
            let hosts = policy.hosts;
            let row = UsageConflict { host: shown(host), hosts, label, kind, line, agents };
            conflicts.push((host, row));
        }
    }
    let total = conflicts.len() as u64;
    // The order must be total, because a map iterates in any order.
    let rows = largest(conflicts, top, |&(host, ref row)| {
        (row.hosts, Reverse((host, row.line, row.label, row.kind)))
    });
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    figures.conflicts = List { total, rows };
    let total = licenses.len() as u64;
    let most = largest(licenses, top, |(license, hosts)| (*hosts, Reverse(license.clone())));
    let row = |(license, hosts): (Vec<u8>, u64)| LicenseRow { license: shown(&license), hosts };
    figures.licenses = List { total, rows: most.into_iter().map(row).collect() };
    Ok(figures)
}

impl ConflictCounts {
    fn add(&mut self, kind: ConflictKind, hosts: u64) {
        *match kind {
            ConflictKind::NoAccess => &mut self.no_access,
            ConflictKind::Overruled => &mut self.overruled,
            ConflictKind::OtherGroup => &mut self.other_group,
        } += hosts;
    }
}

/// Agents that follow the same groups of a file.
struct Class {
    groups: Vec<usize>,
    /// Whether the groups name the agents.
    is_named: bool,
    agents: Vec<usize>,
}

impl ReadUsage {
    fn of(catalog: &Catalog, file: &RobotsTxt<'_>, agents: &[AgentChain]) -> ReadUsage {
        let dialect = catalog.set.dialect();
        let groups = UsageGroups::new(file);
        let mut classes: Vec<Class> = Vec::new();
        for (agent, chain) in agents.iter().enumerate() {
            let Selection { groups, token } =
                Selection::among_groups(groups.file(), chain, dialect);
            match classes.iter_mut().find(|class| class.groups == groups) {
                Some(class) => class.agents.push(agent),
                None => {
                    classes.push(Class { groups, is_named: token.is_some(), agents: vec![agent] });
                }
            }
        }
        let default =
            groups.in_force(&Selection::among_groups(groups.file(), None, dialect).groups);
        let default = statements(file, &default);
        let mut found = ReadUsage::default();
        for class in &classes {
            let own = statements(file, &groups.in_force(&class.groups));
            let states_y = own.iter().any(|(_, it)| it.preferences.contains(&Preference::Yes));
            // The search runs only if a statement could conflict with its result.
            let is_closed = states_y && {
                let groups = Selection::of(file, &agents[class.agents[0]], dialect).groups;
                reach(file, &groups, dialect) == Some(Reach::Nothing)
            };
            for label in Label::ALL {
                found.label(label, class, is_closed, &own, &default);
            }
        }
        let licenses = file.usage_records().iter().filter(|it| it.is_license());
        found.licenses = licenses.map(|it| it.value.to_vec()).collect();
        found
    }

    /// Finds the conflicts about a label for agents with their `own` statements.
    fn label(
        &mut self,
        label: Label,
        class: &Class,
        is_closed: bool,
        own: &[(LineNumber, Statement<'_>)],
        default: &[(LineNumber, Statement<'_>)],
    ) {
        let mut add = |kind, line| {
            self.conflicts.entry((label, kind, line)).or_default().extend(&class.agents);
        };
        let stating = |preference: Preference| {
            own.iter().filter(move |(_, it)| it.of_label(label) == preference)
        };
        let refused: HashSet<Option<&[u8]>, foldhash::fast::RandomState> =
            stating(Preference::No).map(|(_, it)| it.path).collect();
        let refuses_all =
            UsageSource::ALL.map(|it| refusal_of_every_path(own, it, label).is_some());
        let is_refused = |it: &Statement<'_>| {
            let mut others = UsageSource::ALL.into_iter().filter(|&source| source != it.source);
            refused.contains(&it.path) || others.any(|source| refuses_all[source as usize])
        };
        for (line, it) in stating(Preference::Yes) {
            match is_closed {
                true => add(ConflictKind::NoAccess, *line),
                false if is_refused(it) => add(ConflictKind::Overruled, *line),
                false => {}
            }
        }
        let states =
            |(_, it): &&(LineNumber, Statement<'_>)| it.of_label(label) != Preference::Unstated;
        if class.is_named
            && !own.iter().any(|it| states(&it))
            && let Some((line, _)) = default.iter().find(states)
        {
            add(ConflictKind::OtherGroup, *line);
        }
    }
}

/// Returns the statements in the given usage records of a file, with their lines.
fn statements<'t>(file: &RobotsTxt<'t>, records: &[u32]) -> Vec<(LineNumber, Statement<'t>)> {
    let records = records.iter().map(|&number| &file.usage_records()[number as usize]);
    records.filter_map(|record| Some((record.line, Statement::of(record)?))).collect()
}
