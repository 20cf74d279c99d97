//! The policies of a host as one JSON object.

use std::borrow::Cow;

use portcullis::automaton::Reach;
use portcullis::report::explanation_json::OutageObject;
use portcullis::report::json_lines::shown;
use portcullis::set::PolicySet;
use portcullis::set::survey::{
    HostQuery, ListedRecord, Portrait, PortrayedGroup, PortrayedRobot, RuleSetFigures,
};
use portcullis::syntax::RecordKind;
use serde::Serialize;

use super::provenance::Provenance;

#[derive(Serialize)]
pub struct HostObject<'p> {
    set: &'p str,
    set_hash: String,
    dialect: &'p str,
    policies: Vec<PolicyObject<'p>>,
    /// Origins that were asked about and are not known.
    unknown: Vec<String>,
}

#[derive(Serialize)]
struct PolicyObject<'p> {
    origins: Vec<String>,
    state: &'static str,
    /// What holds for every path; `null` if the rules decide.
    verdict: Option<&'static str>,
    captured_at: Option<String>,
    expires_at: Option<String>,
    status: Option<u16>,
    redirects_followed: u8,
    input: u32,
    input_name: Option<&'p str>,
    capture_notes: Vec<&'static str>,
    /// `null` if the last answer is none of an outage.
    outage: Option<OutageObject>,
    file_bytes: u32,
    file_notes: Vec<&'static str>,
    robots: Vec<RobotObject<'p>>,
    groups: Vec<GroupObject<'p>>,
    records: Vec<RecordObject<'p>>,
}

#[derive(Serialize)]
struct RobotObject<'p> {
    #[serde(flatten)]
    name: OptionalText<'p>,
    /// From 1, as in the listing for people.
    groups: Vec<usize>,
    #[serde(flatten)]
    rules: FiguresObject,
}

#[derive(Serialize)]
struct GroupObject<'p> {
    rules: usize,
    for_others: bool,
    robots: Vec<Cow<'p, str>>,
}

#[derive(Serialize)]
struct RecordObject<'p> {
    line: u32,
    kind: &'static str,
    /// From 1.
    group: Option<usize>,
    text: Cow<'p, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
}

/// A name that may be none, or no text.
#[derive(Serialize)]
pub struct OptionalText<'p> {
    name: Option<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
}

impl<'p> OptionalText<'p> {
    pub fn new(bytes: Option<&'p [u8]>) -> OptionalText<'p> {
        let (name, name_base64) = match bytes.map(shown) {
            Some((name, exact)) => (Some(name), exact),
            None => (None, None),
        };
        OptionalText { name, name_base64 }
    }
}

/// What a rule set takes.
#[derive(Serialize)]
pub struct FiguresObject {
    strategy: &'static str,
    /// `everything`, `part` or `nothing`; `null` if that is not known before it is built.
    is_left: Option<&'static str>,
    patterns: u32,
    bytes: u64,
}

impl FiguresObject {
    pub fn new(figures: &RuleSetFigures) -> FiguresObject {
        let RuleSetFigures { strategy, patterns, bytes, reach } = *figures;
        let is_left = reach.map(|reach| match reach {
            Reach::Everything => "everything",
            Reach::Part => "part",
            Reach::Nothing => "nothing",
        });
        FiguresObject { strategy: strategy.as_str(), is_left, patterns, bytes }
    }
}

pub fn object<'p>(
    set: &'p PolicySet,
    query: &HostQuery,
    portraits: &'p [Portrait<'p>],
    provenance: &'p Provenance,
) -> HostObject<'p> {
    let is_known = |origin| portraits.iter().any(|portrait| portrait.origins.contains(origin));
    let unknown = query.origins().iter().filter(|origin| !is_known(origin));
    HostObject {
        set: set.name(),
        set_hash: format!("{:016x}", set.hash()),
        dialect: set.dialect().name,
        policies: portraits.iter().map(|portrait| policy(portrait, provenance)).collect(),
        unknown: unknown.map(ToString::to_string).collect(),
    }
}

fn policy<'p>(portrait: &'p Portrait<'p>, provenance: &'p Provenance) -> PolicyObject<'p> {
    let facts = &portrait.facts;
    let by_rules = portrait.state == portcullis::decision::PolicyState::Rules;
    PolicyObject {
        origins: portrait.origins.iter().map(ToString::to_string).collect(),
        state: portrait.state.as_str(),
        verdict: (!by_rules).then(|| portrait.verdict.as_str()),
        captured_at: facts.captured_at.map(|time| time.to_rfc3339()),
        expires_at: facts.expires_at.map(|time| time.to_rfc3339()),
        status: (facts.status != 0).then_some(facts.status),
        redirects_followed: facts.redirects_followed,
        input: facts.input,
        input_name: provenance.input_name(facts.input),
        capture_notes: facts.capture_notes.iter().map(|note| note.as_str()).collect(),
        outage: facts.outage.as_ref().map(OutageObject::new),
        file_bytes: facts.file_bytes,
        file_notes: facts.file_notes.kinds().map(|kind| kind.as_str()).collect(),
        robots: portrait.robots.iter().map(robot).collect(),
        groups: portrait.groups.iter().map(group).collect(),
        records: portrait.records.iter().map(record).collect(),
    }
}

fn robot<'p>(robot: &PortrayedRobot<'p>) -> RobotObject<'p> {
    RobotObject {
        name: OptionalText::new(robot.name),
        groups: robot.groups.iter().map(|group| group + 1).collect(),
        rules: FiguresObject::new(&robot.rules),
    }
}

fn group(group: &PortrayedGroup) -> GroupObject<'_> {
    GroupObject {
        rules: group.rules,
        for_others: group.for_others,
        robots: group.robots.iter().map(|name| String::from_utf8_lossy(name)).collect(),
    }
}

fn record(record: &ListedRecord) -> RecordObject<'_> {
    let (text, text_base64) = shown(&record.text);
    RecordObject {
        line: record.line.get(),
        kind: match record.kind {
            Some(RecordKind::StartsGroup | RecordKind::ExtendsGroup) => "user-agent",
            Some(RecordKind::Allow) => "allow",
            Some(RecordKind::Disallow) => "disallow",
            None => "other",
        },
        group: record.group.map(|group| group + 1),
        text,
        text_base64,
    }
}
