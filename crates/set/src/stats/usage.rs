//! Statistics of usage preferences in a set, and the usage records that hold for the robots of one
//! file.

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::hosts::{ByPosition, PolicyUse};
use super::{Named, as_lossy_list, largest, push_text};
use crate::PolicySet;
use crate::file::Damage;
use crate::stored::PolicyNumber;
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::limits::INSPECT_USAGE_LINES_MAX;
use portcullis_dialect::usage::{Label, Preference, USAGE_FIELDS};
use portcullis_robots::policy::{Audience, UsageGroups};
use portcullis_robots::syntax::{RobotsTxt, Statement, is_absolute_uri};

/// The number of policies that one task reads.
const POLICIES_PER_TASK: usize = 256;

/// The values that a statement can give a label.
const STATED: [Preference; 2] = [Preference::Yes, Preference::No];

/// How common a statement or licence is. A policy counts once, however many origins share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCount {
    /// The number of records in policies.
    pub records: u64,
    /// The number of policies with such a record.
    pub policies: u64,
    /// The number of origins of these policies.
    pub origins: u64,
}

impl UsageCount {
    fn add(&mut self, records: u64, origins: u64) {
        self.records += records;
        self.policies += u64::from(records > 0);
        self.origins += if records > 0 { origins } else { 0 };
    }

    fn merge(&mut self, other: UsageCount) {
        self.records += other.records;
        self.policies += other.policies;
        self.origins += other.origins;
    }
}

/// Statistics of usage preferences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageStats {
    /// Usage records of any kind.
    #[serde(flatten)]
    pub all: UsageCount,
    /// By kind of record: `content-usage`, `content-signal` and `license`. A License that is no
    /// absolute URI is in none.
    pub sources: Named<UsageCount>,
    /// By label, then by preference: `y` or `n`.
    pub labels: Named<Named<UsageCount>>,
    /// The number of distinct licences.
    pub licenses: u64,
    /// The licences that most origins have.
    pub most_common_licenses: Vec<LicenseCount>,
}

/// How common a licence is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LicenseCount {
    /// The URI as written.
    #[serde(flatten, serialize_with = "as_value")]
    pub value: Vec<u8>,
    /// The policies and origins with it.
    #[serde(flatten)]
    pub count: UsageCount,
}

fn as_value<S: Serializer>(value: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap as _;
    let mut map = serializer.serialize_map(None)?;
    push_text(&mut map, "value", Some(value))?;
    map.end()
}

/// The counts of some policies.
#[derive(Default)]
struct Counts {
    all: UsageCount,
    /// By field, in the order of [`USAGE_FIELDS`].
    sources: [UsageCount; USAGE_FIELDS.len()],
    labels: [[UsageCount; STATED.len()]; Label::ALL.len()],
    licenses: HashMap<Vec<u8>, UsageCount, foldhash::fast::RandomState>,
}

impl UsageStats {
    /// Counts the usage records of `set`. `uses` holds the origins of each policy.
    pub(super) fn of(
        set: &PolicySet,
        uses: &ByPosition<PolicyNumber, PolicyUse<'_>>,
        top: usize,
    ) -> Result<UsageStats, Damage> {
        let mut policies: Vec<(PolicyNumber, u64)> =
            uses.iter().map(|(&number, used)| (number, used.origins)).collect();
        // In file order, so that the first damage is reported.
        policies.sort_unstable();
        let count = |policies: &[(PolicyNumber, u64)]| {
            let mut counts = Counts::default();
            policies.iter().try_for_each(|&(number, origins)| counts.add(set, number, origins))?;
            Ok(counts)
        };
        let parts: Vec<Result<Counts, Damage>> =
            policies.par_chunks(POLICIES_PER_TASK).map(count).collect();
        let mut counts = Counts::default();
        parts.into_iter().try_for_each(|part| part.map(|part| counts.merge(part)))?;
        Ok(counts.stats(top))
    }
}

impl Counts {
    fn add(&mut self, set: &PolicySet, number: PolicyNumber, origins: u64) -> Result<(), Damage> {
        let policy = set.policy(number)?;
        let records = policy.usage_records()?;
        self.all.add(records.len() as u64, origins);
        for (count, spelling) in self.sources.iter_mut().zip(&USAGE_FIELDS) {
            let of_field = records.iter().filter(|(kind, record)| {
                let is_none = kind.field == Field::License && !is_absolute_uri(record.value());
                kind.field == spelling.field && !is_none
            });
            count.add(of_field.count() as u64, origins);
        }
        let preferences: Vec<_> = (0..)
            .zip(&records)
            .map(|(number, _)| policy.preferences(number))
            .collect::<Result<_, _>>()?;
        for label in Label::ALL {
            for (count, stated) in self.labels[label as usize].iter_mut().zip(STATED) {
                let stating = preferences.iter().filter(|it| it[label as usize] == stated);
                count.add(stating.count() as u64, origins);
            }
        }
        let licenses = records.iter().filter(|(kind, _)| kind.field == Field::License);
        let licenses = licenses.map(|(_, record)| record.value());
        let mut licenses: Vec<&[u8]> = licenses.filter(|it| is_absolute_uri(it)).collect();
        licenses.sort_unstable();
        for same in licenses.chunk_by(|one, other| one == other) {
            self.licenses.entry_ref(same[0]).or_default().add(same.len() as u64, origins);
        }
        Ok(())
    }

    fn merge(&mut self, other: Counts) {
        self.all.merge(other.all);
        let own = self.sources.iter_mut().chain(self.labels.as_flattened_mut());
        let others = other.sources.iter().chain(other.labels.as_flattened());
        own.zip(others).for_each(|(count, other)| count.merge(*other));
        for (value, count) in other.licenses {
            self.licenses.entry(value).or_default().merge(count);
        }
    }

    fn stats(self, top: usize) -> UsageStats {
        let sources = USAGE_FIELDS.iter().map(|it| it.text.into()).zip(self.sources);
        let labels = Label::ALL.into_iter().zip(self.labels).map(|(label, counts)| {
            let stated = STATED.into_iter().map(|it| it.as_str().into()).zip(counts);
            (label.as_str().into(), Named(stated.collect()))
        });
        let licenses = self.licenses.len() as u64;
        let counted = self.licenses.into_iter().map(|(value, count)| LicenseCount { value, count });
        // The value makes the order total; the iteration order of a map is random.
        let most_common_licenses = largest(counted, top, |it| {
            (it.count.origins, it.count.policies, std::cmp::Reverse(it.value.clone()))
        });
        UsageStats {
            all: self.all,
            sources: Named(sources.collect()),
            labels: Named(labels.collect()),
            licenses,
            most_common_licenses,
        }
    }
}

/// The usage records that hold for some robots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostUsage {
    /// Whether the robots that no group names are among them.
    pub for_others: bool,
    /// The named robots in lower case, in file order.
    #[serde(serialize_with = "as_lossy_list")]
    pub robots: Vec<Vec<u8>>,
    /// The lines of the records, up to [`INSPECT_USAGE_LINES_MAX`] for all robots of the file.
    pub lines: Vec<LineNumber>,
    /// The number of further lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_omitted: usize,
    /// The values that the records give each label on some path, `y` and `n`; empty if none.
    pub stated: Named<Vec<&'static str>>,
    /// The number of licences among the records.
    pub licenses: usize,
}

impl HostUsage {
    /// Returns the records that hold for the robots of `file`, first those for robots that no group
    /// names; empty if there are no usage records. Robots with the same records are together.
    pub(super) fn of(file: &RobotsTxt<'_>, dialect: &Dialect) -> Vec<HostUsage> {
        if file.usage_records().is_empty() {
            return Vec::new();
        }
        let groups = UsageGroups::new(file);
        let audience = Audience::of(groups.file(), dialect);
        let records: Vec<(LineNumber, Option<Statement<'_>>)> =
            file.usage_records().iter().map(|it| (it.line, Statement::of(it))).collect();
        let mut usage: Vec<HostUsage> = Vec::new();
        let mut known: HashMap<Vec<usize>, usize, foldhash::fast::RandomState> = HashMap::default();
        let mut lines_left = INSPECT_USAGE_LINES_MAX;
        let named = audience.robots.into_iter().map(|it| (Some(it.name), it.groups));
        for (name, own) in std::iter::once((None, audience.default_groups)).chain(named) {
            let own = groups.with_records(&own);
            let position = known.get(&own).copied().unwrap_or_else(|| {
                let in_force = groups.in_force(&own).into_iter();
                let in_force: Vec<_> = in_force.map(|number| &records[number as usize]).collect();
                usage.push(HostUsage::of_records(&in_force, &mut lines_left));
                usage.len() - 1
            });
            known.insert(own, position);
            match name {
                None => usage[position].for_others = true,
                Some(name) => usage[position].robots.push(name),
            }
        }
        usage
    }

    fn of_records(
        records: &[&(LineNumber, Option<Statement<'_>>)],
        lines_left: &mut usize,
    ) -> HostUsage {
        let statements = || records.iter().filter_map(|(_, statement)| statement.as_ref());
        let stated = |label: Label| {
            let is_stated = |it: &Preference| statements().any(|by| by.of_label(label) == *it);
            STATED.into_iter().filter(is_stated).map(Preference::as_str).collect()
        };
        let listed = records.len().min(*lines_left);
        *lines_left -= listed;
        HostUsage {
            lines: records[..listed].iter().map(|(line, _)| *line).collect(),
            lines_omitted: records.len() - listed,
            stated: Named::of(Label::ALL, Label::as_str, stated),
            licenses: records.len() - statements().count(),
            ..HostUsage::default()
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
