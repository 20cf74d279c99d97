//! Usage preferences: what files state, and the records that hold for the crawlers of one file.

use std::cmp::Reverse;

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
        self.records += records;
        self.policies += 1;
        self.origins += used.origins;
        self.hosts += used.hosts;
    }
}

/// Statements of files about the use of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageFigures {
    /// Usage records of any kind.
    #[serde(flatten)]
    pub all: UsageCount,
    /// By kind of record: `content-usage`, `content-signal` and `license`. A License that is no
    /// absolute URI is in none.
    pub sources: Figures<UsageCount>,
    /// By label, then by preference: `y` or `n`, or the level.
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

/// The key by which usage records are counted.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Counted {
    All,
    Source(Field),
    Stated(Label, Preference),
    License(Vec<u8>),
}

/// The numbers of usage records in one file.
#[derive(Default)]
pub(crate) struct UsageReading(Map<Counted, u64>);

impl UsageReading {
    pub fn of(file: &RobotsTxt<'_>) -> UsageReading {
        let mut read = UsageReading::default();
        let mut add = |what| *read.0.entry(what).or_default() += 1;
        for record in file.usage_records() {
            add(Counted::All);
            if record.field != Field::License || record.is_license() {
                add(Counted::Source(record.field));
            }
            if record.is_license() {
                add(Counted::License(record.value.to_vec()));
            }
            let Some(statement) = Statement::of(record) else { continue };
            for label in Label::ALL {
                add(Counted::Stated(label, statement.of_label(label)));
            }
        }
        read
    }
}

/// The sums over all policies.
#[derive(Default)]
pub(crate) struct UsageSums(Map<Counted, UsageCount>);

impl UsageSums {
    pub fn add(&mut self, read: UsageReading, used: PolicyUse) {
        for (what, records) in read.0 {
            self.0.entry(what).or_default().add(records, used);
        }
    }

    pub fn figures(self, top: usize) -> UsageFigures {
        let count = |what| self.0.get(&what).copied().unwrap_or_default();
        let stated = |label: Label| {
            let count = |it: &Preference| count(Counted::Stated(label, *it));
            Figures::of(label.stated(), |it| it.as_str(), count)
        };
        let all = count(Counted::All);
        let sources =
            Figures::of(&USAGE_FIELDS, |it| it.text, |it| count(Counted::Source(it.field)));
        let labels = Figures::of(Label::ALL, Label::as_str, stated);
        let licenses = self.0.into_iter().filter_map(|(what, count)| match what {
            Counted::License(value) => Some(LicenseFigures { value: Text(value), count }),
            _ => None,
        });
        let licenses: Vec<LicenseFigures> = licenses.collect();
        UsageFigures {
            all,
            sources,
            labels,
            licenses: licenses.len() as u64,
            // The value makes the order total; the iteration order of a map is random.
            most_common_licenses: largest(licenses, top, |it| {
                (it.count.origins, it.count.policies, Reverse(it.value.clone()))
            }),
        }
    }
}

/// The usage records that hold for some crawlers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostUsage {
    /// Whether the crawlers that no group names are among them.
    pub for_others: bool,
    /// The named crawlers in lower case, in file order.
    pub robots: Vec<Text>,
    /// The lines of the records, up to [`INSPECT_USAGE_LINES_MAX`] for all crawlers of the file.
    pub lines: Vec<LineNumber>,
    /// The number of further lines.
    pub lines_omitted: usize,
    /// The values that the records give each label on some path, such as `y` and `n`; empty if none.
    pub stated: Figures<Vec<&'static str>>,
    /// The number of licences among the records.
    pub licenses: usize,
}

impl HostUsage {
    /// Returns the records that hold for the crawlers of `file`, first those for crawlers that no group
    /// names; empty if there are no usage records. Crawlers with the same records are together.
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
            label.stated().iter().filter(|it| is_stated(it)).map(|it| it.as_str()).collect()
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
