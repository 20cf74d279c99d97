//! Usage preferences: what files state, and the records that hold for the robots of one file.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::usage::{Label, Preference, USAGE_FIELDS};
use portcullis_report::Figures;
use portcullis_robots::policy::{Audience, UsageGroups};
use portcullis_robots::syntax::{RobotsTxt, Statement};
use portcullis_text::figures::largest;
use serde::Serialize;

use crate::limits::INSPECT_USAGE_LINES_MAX;
use crate::origins::{Map, PolicyUse};
use crate::text::Text;

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
    /// The number of hosts of these policies.
    pub hosts: u64,
}

impl UsageCount {
    fn add(&mut self, records: u64, used: PolicyUse) {
        if records > 0 {
            self.records += records;
            self.policies += 1;
            self.origins += used.origins;
            self.hosts += used.hosts;
        }
    }
}

/// What files state about the use of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageFigures {
    /// Usage records of any kind.
    #[serde(flatten)]
    pub all: UsageCount,
    /// By kind of record: `content-usage`, `content-signal` and `license`. A License that is no
    /// absolute URI is in none.
    pub sources: Figures<UsageCount>,
    /// By label, then by preference: `y` or `n`.
    pub labels: Figures<Figures<UsageCount>>,
    /// The number of distinct licences.
    pub licenses: u64,
    /// The licences that most origins have.
    pub most_common_licenses: Vec<LicenseFigures>,
}

/// How common a licence is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LicenseFigures {
    /// The URI as written.
    pub value: Text,
    /// The policies and origins with it.
    #[serde(flatten)]
    pub count: UsageCount,
}

/// The numbers of usage records in one file.
#[derive(Default)]
pub(crate) struct UsageReading {
    all: u64,
    /// By field, in the order of [`USAGE_FIELDS`].
    sources: [u64; USAGE_FIELDS.len()],
    labels: [[u64; STATED.len()]; Label::ALL.len()],
    licenses: BTreeMap<Vec<u8>, u64>,
}

impl UsageReading {
    pub fn of(file: &RobotsTxt<'_>) -> UsageReading {
        let mut read = UsageReading::default();
        for record in file.usage_records() {
            read.all += 1;
            if record.field != Field::License || record.is_license() {
                let source = USAGE_FIELDS.iter().position(|it| it.field == record.field);
                source.into_iter().for_each(|it| read.sources[it] += 1);
            }
            if record.is_license() {
                *read.licenses.entry(record.value.to_vec()).or_default() += 1;
            }
            let Some(statement) = Statement::of(record) else { continue };
            for label in Label::ALL {
                for (count, stated) in read.labels[label as usize].iter_mut().zip(STATED) {
                    *count += u64::from(statement.of_label(label) == stated);
                }
            }
        }
        read
    }
}

/// The sums over all policies.
#[derive(Default)]
pub(crate) struct UsageSums {
    all: UsageCount,
    sources: [UsageCount; USAGE_FIELDS.len()],
    labels: [[UsageCount; STATED.len()]; Label::ALL.len()],
    licenses: Map<Vec<u8>, UsageCount>,
}

impl UsageSums {
    pub fn add(&mut self, read: UsageReading, used: PolicyUse) {
        self.all.add(read.all, used);
        let sums = self.sources.iter_mut().chain(self.labels.as_flattened_mut());
        let counts = read.sources.iter().chain(read.labels.as_flattened());
        sums.zip(counts).for_each(|(sum, count)| sum.add(*count, used));
        for (value, count) in read.licenses {
            self.licenses.entry(value).or_default().add(count, used);
        }
    }

    pub fn figures(self, top: usize) -> UsageFigures {
        let sources = USAGE_FIELDS.iter().map(|it| it.text).zip(self.sources);
        let labels = Label::ALL.into_iter().zip(self.labels).map(|(label, counts)| {
            let stated = STATED.into_iter().map(|it| it.as_str()).zip(counts);
            (label.as_str(), Figures(stated.collect()))
        });
        let licenses = self.licenses.len() as u64;
        let counted = self.licenses.into_iter();
        let counted = counted.map(|(value, count)| LicenseFigures { value: Text(value), count });
        // The value makes the order total; the iteration order of a map is random.
        let most_common_licenses = largest(counted, top, |it| {
            (it.count.origins, it.count.policies, Reverse(it.value.clone()))
        });
        UsageFigures {
            all: self.all,
            sources: Figures(sources.collect()),
            labels: Figures(labels.collect()),
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
    pub robots: Vec<Text>,
    /// The lines of the records, up to [`INSPECT_USAGE_LINES_MAX`] for all robots of the file.
    pub lines: Vec<LineNumber>,
    /// The number of further lines.
    pub lines_omitted: usize,
    /// The values that the records give each label on some path, `y` and `n`; empty if none.
    pub stated: Figures<Vec<&'static str>>,
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
        let mut known: Map<Vec<usize>, usize> = Map::default();
        let mut lines_left = INSPECT_USAGE_LINES_MAX;
        let named = audience.robots.into_iter().map(|it| (Some(it.name), it.groups));
        for (name, own) in std::iter::once((None, audience.default_groups)).chain(named) {
            let own = groups.with_records(&own);
            let position = known.get(&own).copied().unwrap_or_else(|| {
                let in_force = groups.in_force(&own).into_iter();
                let in_force: Vec<_> = in_force.map(|number| &records[number as usize]).collect();
                usage.push(HostUsage::from_records(&in_force, &mut lines_left));
                usage.len() - 1
            });
            known.insert(own, position);
            match name {
                None => usage[position].for_others = true,
                Some(name) => usage[position].robots.push(Text(name)),
            }
        }
        usage
    }

    fn from_records(
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
            stated: Figures::of(Label::ALL, Label::as_str, stated),
            licenses: records.len() - statements().count(),
            ..HostUsage::default()
        }
    }
}
