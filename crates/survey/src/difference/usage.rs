//! The usage preferences that changed between two policies, by label.
//!
//! Two policies state the same about a label for an agent if the statements of each field have the same
//! paths in normal form with the same preferences, by precedence. The order and number of adjacent
//! statements with one preference do not count, nor do statements at the end that say nothing about the
//! label, nor which of the two fields has which statements.

use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::pattern::PatternList;
use portcullis_robots::policy::{LabelRules, Selection, UsageGroups, UsageRules};
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_set::Damage;
use portcullis_set::batch::Classifier;
use portcullis_set::stored::PolicyNumber;
use portcullis_text::visible::SHOWN_BYTES_MAX;

use super::{Run, runs};

/// A change of the statements about a label, with the agents for which the change is the same.
///
/// Statements are shown in order of precedence, separated by spaces: `/art/=n y` is `n` for paths
/// of `/art/` and `y` for all others. Paths are as written. `?` alone means no statement. If both fields
/// state preferences, those of Content-Signal follow after `&`.
/// Statements after [`SHOWN_BYTES_MAX`] are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageChange {
    /// The label.
    pub label: Label,
    /// The agents, by position.
    pub agents: Vec<usize>,
    /// The old statements.
    pub before: Vec<u8>,
    /// The new statements.
    pub after: Vec<u8>,
}

impl UsageChange {
    /// Returns the size in bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.before.len() + self.after.len();
        size_of::<UsageChange>() + size_of_val(&*self.agents) + texts
    }
}

/// The statements of a policy about a label, for an agent.
#[derive(Clone)]
struct Stated {
    /// By field: the patterns, and the preference of each.
    fields: Vec<(PatternList, Vec<Preference>)>,
    shown: Vec<u8>,
}

/// Returns what changed for the agents and labels of two classifiers, by label.
pub(super) fn changes(
    old: (&Classifier, PolicyNumber),
    new: (&Classifier, PolicyNumber),
) -> Result<Vec<UsageChange>, Damage> {
    let policies = (old.0.set().policy(old.1)?, new.0.set().policy(new.1)?);
    let same_dialect = old.0.set().dialect().name == new.0.set().dialect().name;
    let has_usage = policies.0.has_usage()? || policies.1.has_usage()?;
    if !has_usage || (same_dialect && policies.0.extract()? == policies.1.extract()?) {
        return Ok(Vec::new());
    }
    let mut changes: Vec<UsageChange> = Vec::new();
    let (before, after) = (stated(old)?, stated(new)?);
    for (number, &label) in old.0.labels().iter().enumerate() {
        let of_label = changes.len();
        for (agent, (before, after)) in before.iter().zip(&after).enumerate() {
            let (before, after) = (&before[number], &after[number]);
            if before.equals(after) {
                continue;
            }
            let alike =
                |it: &&mut UsageChange| it.before == before.shown && it.after == after.shown;
            match changes[of_label..].iter_mut().find(alike) {
                Some(change) => change.agents.push(agent),
                None => {
                    let (before, after) = (before.shown.clone(), after.shown.clone());
                    changes.push(UsageChange { label, agents: vec![agent], before, after });
                }
            }
        }
    }
    Ok(changes)
}

/// Returns the statements by agent, then by label.
fn stated((asked, policy): (&Classifier, PolicyNumber)) -> Result<Vec<Vec<Stated>>, Damage> {
    let dialect = asked.set().dialect();
    asked.set().policy(policy)?.with_file(|file, _| {
        let groups = UsageGroups::new(file);
        let mut known: Vec<(Vec<usize>, Vec<Stated>)> = Vec::new();
        let of_agent = |agent| {
            let applying = Selection::among_groups(groups.file(), agent, dialect).groups;
            if let Some((_, stated)) = known.iter().find(|(groups, _)| *groups == applying) {
                return stated.clone();
            }
            let rules = UsageRules::new(file, &groups.in_force(&applying), &dialect.paths);
            let of_label = |label: &Label| Stated::new(file, &rules.labels[*label as usize]);
            let stated: Vec<Stated> = asked.labels().iter().map(of_label).collect();
            known.push((applying, stated.clone()));
            stated
        };
        asked.agents().iter().map(of_agent).collect()
    })
}

impl Stated {
    fn new(file: &RobotsTxt<'_>, by_field: &[LabelRules]) -> Stated {
        let mut shown = Vec::new();
        for rules in by_field {
            let before = shown.len();
            let last = rules.preferences.iter().rposition(is_stated);
            let statements = rules.records.iter().zip(&rules.preferences);
            for (&record, preference) in statements.take(last.map_or(0, |last| last + 1)) {
                if shown.len() > SHOWN_BYTES_MAX {
                    break;
                }
                if !shown.is_empty() {
                    let is_first = shown.len() == before;
                    shown.extend_from_slice(if is_first { b" & " } else { b" " });
                }
                let statement = Statement::of(&file.usage_records()[record as usize]);
                if let Some(path) = statement.and_then(|it| it.path) {
                    shown.extend_from_slice(path);
                    shown.push(b'=');
                }
                shown.extend_from_slice(preference.as_str().as_bytes());
            }
        }
        if shown.is_empty() {
            shown.extend_from_slice(Preference::Unstated.as_str().as_bytes());
        }
        let fields = by_field.iter().cloned().map(|it| (it.patterns, it.preferences));
        Stated { fields: fields.collect(), shown }
    }

    /// Returns whether the fields of both state the same. Combining two fields does not depend on their
    /// order, and a field combined with itself or with nothing is unchanged.
    fn equals(&self, other: &Stated) -> bool {
        let (own, others) = (self.runs(), other.runs());
        own.iter().all(|runs| others.contains(runs)) && others.iter().all(|it| own.contains(it))
    }

    /// Returns the runs of each field that states something.
    fn runs(&self) -> Vec<Vec<Run<'_, Preference>>> {
        let mut fields = Vec::new();
        for (patterns, preferences) in &self.fields {
            let mut runs = runs(patterns, preferences);
            runs.pop_if(|(preference, _)| *preference == Preference::Unstated);
            if !runs.is_empty() {
                fields.push(runs);
            }
        }
        fields
    }
}

fn is_stated(preference: &Preference) -> bool {
    *preference != Preference::Unstated
}
