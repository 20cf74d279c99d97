//! A survey as one JSON object. New members may be added; those that are there keep their meaning.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis::access::UnixSeconds;
use portcullis::capture::CaptureNote;
use portcullis::decision::PolicyState;
use portcullis::report::CaptureDates;
use portcullis::set::PolicySet;
use portcullis::set::survey::{
    OriginSurvey, PolicySurvey, RobotCount, RobotSurvey, RuleSetStrategy, RuleSetSurvey, Sharing,
    Survey, SurveyedPolicy, SurveyedRuleSet, Tier,
};
use portcullis::syntax::NoteKind;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::host_json::{FiguresObject, OptionalText};
use super::provenance::Provenance;

#[derive(serde::Serialize)]
pub struct SurveyObject<'s> {
    version: &'static str,
    set: &'s str,
    set_hash: String,
    dialect: &'static str,
    robots_bytes_max: Option<u64>,
    bytes: u64,
    sections: Members<u64>,
    bytes_outside_sections: u64,
    hosts: u64,
    #[serde(flatten)]
    origins: OriginsObject<'s>,
    other_records: RecordsObject<'s>,
    robots: RobotsObject<'s>,
    rule_sets: RuleSetsObject<'s>,
    policies: PoliciesObject<'s>,
    provenance: &'s Value,
}

#[derive(serde::Serialize)]
struct OriginsObject<'s> {
    origins: u64,
    captures: u64,
    file_bytes: u64,
    states: Members<u64>,
    statuses: &'s BTreeMap<u16, u64>,
    redirects_followed: &'s BTreeMap<u8, u64>,
    capture_notes: Members<u64>,
    file_notes: Members<u64>,
    in_outage: u64,
    capture_dates: Option<CaptureDates>,
    undated: u64,
    capture_months: &'s BTreeMap<String, u64>,
    expiry_dates: Option<CaptureDates>,
    without_expiry: u64,
    origins_by_input: Vec<InputObject<'s>>,
}

#[derive(serde::Serialize)]
struct InputObject<'s> {
    input: u32,
    name: Option<&'s str>,
    origins: u64,
}

#[derive(serde::Serialize)]
struct RecordsObject<'s> {
    records: u64,
    fields: u64,
    most_common: Vec<FieldObject<'s>>,
}

#[derive(serde::Serialize)]
struct FieldObject<'s> {
    #[serde(flatten)]
    name: OptionalText<'s>,
    records: u64,
    origins: u64,
}

#[derive(serde::Serialize)]
struct RobotsObject<'s> {
    names: u64,
    naming_policies: u64,
    others: CountObject,
    policies_without_others: u64,
    origins_without_others: u64,
    most_named: Vec<RobotObject<'s>>,
}

#[derive(serde::Serialize)]
struct RobotObject<'s> {
    #[serde(flatten)]
    name: OptionalText<'s>,
    #[serde(flatten)]
    count: CountObject,
}

#[derive(serde::Serialize)]
struct CountObject {
    policies: u64,
    origins: u64,
    everything: u64,
    part: u64,
    nothing: u64,
    not_known: u64,
}

#[derive(serde::Serialize)]
struct RuleSetsObject<'s> {
    rule_sets: u64,
    strategies: Members<StrategyObject>,
    sharing: Vec<TierObject>,
    most_shared: Vec<RuleSetObject<'s>>,
    largest: Vec<RuleSetObject<'s>>,
    most_patterns: Vec<RuleSetObject<'s>>,
    of_groups: Vec<RuleSetObject<'s>>,
}

#[derive(serde::Serialize)]
struct StrategyObject {
    rule_sets: u64,
    uses: u64,
    patterns: u64,
    bytes: u64,
}

#[derive(serde::Serialize)]
struct RuleSetObject<'s> {
    host: Option<Cow<'s, str>>,
    robot: Option<Cow<'s, str>>,
    policies: u64,
    origins: u64,
    #[serde(flatten)]
    figures: FiguresObject,
}

#[derive(serde::Serialize)]
struct PoliciesObject<'s> {
    policies: u64,
    records: u64,
    sharing: Vec<TierObject>,
    most_shared: Vec<PolicyObject<'s>>,
    largest: Vec<PolicyObject<'s>>,
    most_expensive: Vec<PolicyObject<'s>>,
}

#[derive(serde::Serialize)]
struct PolicyObject<'s> {
    host: Option<Cow<'s, str>>,
    state: &'static str,
    origins: u64,
    file_bytes: u64,
    extract_bytes: u64,
    records: u64,
    robots: u64,
    rule_sets: u64,
    patterns: u64,
    unordered_rule_sets: u64,
    rule_set_bytes: u64,
}

/// Things that are used `from` to `to` times.
#[derive(serde::Serialize)]
struct TierObject {
    from: u64,
    to: u64,
    things: u64,
    uses: u64,
}

/// Members of an object in their own order.
struct Members<T>(Vec<(Cow<'static, str>, T)>);

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

pub fn object<'s>(
    set: &'s PolicySet,
    survey: &'s Survey<'s>,
    provenance: &'s Provenance,
) -> SurveyObject<'s> {
    let sections = survey.sections.iter();
    let records = &survey.records;
    let field = |field: &'s portcullis::set::survey::FieldCount| FieldObject {
        name: OptionalText::new(Some(&field.name)),
        records: field.records,
        origins: field.origins,
    };
    SurveyObject {
        version: env!("CARGO_PKG_VERSION"),
        set: set.name(),
        set_hash: format!("{:016x}", set.hash()),
        dialect: set.dialect().name,
        robots_bytes_max: set.robots_bytes_max(),
        bytes: set.bytes(),
        sections: Members(
            sections.map(|(name, bytes)| (Cow::Owned(name.replace(' ', "-")), *bytes)).collect(),
        ),
        bytes_outside_sections: survey.other_bytes,
        hosts: survey.origins.standings.hosts,
        origins: origins(&survey.origins, provenance),
        other_records: RecordsObject {
            records: records.records,
            fields: records.fields,
            most_common: records.most_common.iter().map(field).collect(),
        },
        robots: robots(&survey.robots),
        rule_sets: rule_sets(&survey.rule_sets),
        policies: policies(&survey.policies),
        provenance: &provenance.object,
    }
}

fn origins<'s>(survey: &'s OriginSurvey, provenance: &'s Provenance) -> OriginsObject<'s> {
    let standings = &survey.standings;
    // Origins of which nothing is known are not in a set.
    let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
    let input = |(&input, &origins): (&u32, &u64)| InputObject {
        input,
        name: provenance.input_name(input),
        origins,
    };
    OriginsObject {
        origins: standings.origins,
        captures: survey.captures,
        file_bytes: survey.file_bytes,
        states: members(states, PolicyState::as_str, |state| standings.in_state(state)),
        statuses: &survey.statuses,
        redirects_followed: &survey.redirects,
        capture_notes: members(CaptureNote::ALL, CaptureNote::as_str, |note| {
            standings.with_capture_note(note)
        }),
        file_notes: members(NoteKind::ALL, NoteKind::as_str, |kind| standings.with_file_note(kind)),
        in_outage: standings.in_outage,
        capture_dates: standings.captured.map(dates),
        undated: survey.undated,
        capture_months: &survey.months,
        expiry_dates: survey.expires.map(dates),
        without_expiry: survey.without_expiry,
        origins_by_input: survey.inputs.iter().map(input).collect(),
    }
}

fn members<T: Copy, V>(
    items: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
    value: impl Fn(T) -> V,
) -> Members<V> {
    Members(items.into_iter().map(|item| (Cow::Borrowed(name(item)), value(item))).collect())
}

fn dates((first, last): (UnixSeconds, UnixSeconds)) -> CaptureDates {
    CaptureDates { first: first.to_rfc3339(), last: last.to_rfc3339() }
}

fn robots<'s>(survey: &RobotSurvey<'s>) -> RobotsObject<'s> {
    let named = survey.most_named.iter();
    RobotsObject {
        names: survey.names,
        naming_policies: survey.naming_policies,
        others: count(&survey.others),
        policies_without_others: survey.without_others,
        origins_without_others: survey.origins_without_others,
        most_named: named
            .map(|robot| RobotObject {
                name: OptionalText::new(Some(robot.name)),
                count: count(&robot.count),
            })
            .collect(),
    }
}

fn count(count: &RobotCount) -> CountObject {
    let RobotCount { policies, origins, everything, part, nothing, not_known } = *count;
    CountObject { policies, origins, everything, part, nothing, not_known }
}

fn rule_sets<'s>(survey: &RuleSetSurvey<'s>) -> RuleSetsObject<'s> {
    let list = |items: &[SurveyedRuleSet<'s>]| items.iter().map(rule_set).collect();
    RuleSetsObject {
        rule_sets: survey.len(),
        strategies: members(RuleSetStrategy::ALL, RuleSetStrategy::as_str, |strategy| {
            let count = survey.with_strategy(strategy);
            StrategyObject {
                rule_sets: count.rule_sets,
                uses: count.uses,
                patterns: count.patterns,
                bytes: count.bytes,
            }
        }),
        sharing: tiers(&survey.sharing),
        most_shared: list(&survey.most_shared),
        largest: list(&survey.largest),
        most_patterns: list(&survey.most_patterns),
        of_groups: list(&survey.of_groups),
    }
}

fn rule_set<'s>(item: &SurveyedRuleSet<'s>) -> RuleSetObject<'s> {
    RuleSetObject {
        host: item.host.map(String::from_utf8_lossy),
        robot: item.robot.map(String::from_utf8_lossy),
        policies: item.policies,
        origins: item.origins,
        figures: FiguresObject::new(&item.figures),
    }
}

fn policies<'s>(survey: &PolicySurvey<'s>) -> PoliciesObject<'s> {
    let list = |items: &[SurveyedPolicy<'s>]| items.iter().map(policy).collect();
    PoliciesObject {
        policies: survey.policies,
        records: survey.records,
        sharing: tiers(&survey.sharing),
        most_shared: list(&survey.most_shared),
        largest: list(&survey.largest),
        most_expensive: list(&survey.most_expensive),
    }
}

fn policy<'s>(policy: &SurveyedPolicy<'s>) -> PolicyObject<'s> {
    PolicyObject {
        host: policy.host.map(String::from_utf8_lossy),
        state: policy.state.as_str(),
        origins: policy.origins,
        file_bytes: policy.file_bytes,
        extract_bytes: policy.extract_bytes,
        records: policy.records,
        robots: policy.robots,
        rule_sets: policy.rule_sets,
        patterns: policy.patterns,
        unordered_rule_sets: policy.unordered,
        rule_set_bytes: policy.rule_set_bytes,
    }
}

fn tiers(sharing: &Sharing) -> Vec<TierObject> {
    let tier = |&Tier { from, to, things, uses }: &Tier| TierObject { from, to, things, uses };
    sharing.tiers().map(tier).collect()
}
