//! `portcullis inspect`, `verify` and `history`: what a set holds, the policies of one of its hosts,
//! whether it is intact, and the periods of a host.
//!
//! The JSON is the serialised form of the [`Survey`] and the [`HostDetail`]; the text shows the same
//! figures as lines and tables. Output is written only when it is complete.

use std::ffi::OsStr;

use anyhow::{Context, ensure};
use portcullis_build::Provenance;
use portcullis_files::scratch::Scratch;
use portcullis_set::PolicySet;
use portcullis_survey::{HostDetail, HostHistory, HostQuery, Survey, tables};
use portcullis_text::figures::counted;
use serde::Serialize;
use serde_json::Value;

use super::args::{CompileMemoryArgs, HistoryArgs, InspectArgs, VerifyArgs};
use super::engine::{Engine, THREADS};
use super::exit::ExitStatus;
use super::mapped;
use super::message::say;
use super::output;
use super::plan;
use super::summary::to_json_line;

/// The number of rows per list, unless a flag says otherwise.
const TOP: usize = 10;

pub fn run(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let set = mapped::set(&args.set)?;
    if args.verify {
        verify_set(&set, &CompileMemoryArgs::default().scratch(None))?;
    }
    let out = match &args.host {
        None => survey(&set, args)?,
        Some(host) => {
            let query = query(host)?;
            let detail = HostDetail::of(&set, &query)?;
            if detail.policies.is_empty() {
                return unknown(&set, &query);
            }
            match args.json {
                true => to_json_line(&HostObject { set: SetObject::new(&set), detail: &detail })?,
                false => tables::host(&detail).into_bytes(),
            }
        }
    };
    set.is_whole()?;
    output::print(&out)?;
    Ok(ExitStatus::Done)
}

/// `portcullis history`: the periods of a host.
pub fn history(args: HistoryArgs) -> anyhow::Result<ExitStatus> {
    let set = mapped::set(&args.set)?;
    ensure!(set.has_history(), plan::no_history(&set));
    let query = query(&args.host)?;
    let agents = plan::agents(args.agents, Some(set.dialect()))?.agents(set.dialect())?;
    let history = HostHistory::of(&set, &query, &agents)?;
    if history.origins.is_empty() {
        return unknown(&set, &query);
    }
    let out = match (args.body, args.json) {
        (Some(period), _) => {
            let records = HostHistory::records(&set, &query, period)?;
            let records =
                records.with_context(|| format!("--body: there is no period {period}"))?;
            let lines = records.iter().map(|record| [record.text.as_ref(), b"\n"].concat());
            lines.collect::<Vec<_>>().concat()
        }
        (None, true) => {
            to_json_line(&HistoryObject { set: SetObject::new(&set), history: &history })?
        }
        (None, false) => tables::history(&history).into_bytes(),
    };
    set.is_whole()?;
    output::print(&out)?;
    Ok(ExitStatus::Done)
}

fn query(host: &OsStr) -> anyhow::Result<HostQuery> {
    HostQuery::parse(host.as_encoded_bytes()).with_context(|| {
        format!("{}: not a host or URL; write example.com or https://example.com", host.display())
    })
}

/// Says that the set has no policy for the origins of a query.
fn unknown(set: &PolicySet, query: &HostQuery) -> anyhow::Result<ExitStatus> {
    let names: Vec<String> = query.origins().iter().map(ToString::to_string).collect();
    say(format_args!("{}: no policy is known for {}", set.name(), names.join(" or ")));
    set.is_whole()?;
    Ok(ExitStatus::Negative)
}

/// `portcullis verify`: checksums, structure and compiled rules.
pub fn verify(args: &VerifyArgs) -> anyhow::Result<ExitStatus> {
    verify_set(&mapped::set(&args.set)?, &args.memory.scratch(None))?;
    Ok(ExitStatus::Done)
}

fn verify_set(set: &PolicySet, scratch: &Scratch) -> anyhow::Result<()> {
    let verified = Engine::new(THREADS)?.install(|| portcullis_build::verify(set, scratch))?;
    let (blocks, records, counts) = (verified.blocks, verified.records, verified.counts);
    say(format_args!(
        "{}: all {} are intact; set {:.16}, {}",
        set.name(),
        counted(blocks, "block"),
        set.hash(),
        counted(set.bytes(), "byte"),
    ));
    let moments = match set.moments() {
        0 => String::new(),
        moments => format!(", {} of their history", counted(moments, "moment")),
    };
    say(format_args!(
        "read {}, {}, {}{moments}, {}, {}; recompiled {} of {} and {} with their prefilters",
        counted(counts.hosts, "host"),
        counted(counts.origins, "origin"),
        counted(counts.captures, "capture"),
        counted(counts.strings, "string"),
        counted(counts.tokens, "robot name"),
        counted(counts.policies, "policy"),
        counted(records, "record"),
        counted(counts.rule_sets, "rule set"),
    ));
    Ok(())
}

/// The set's identity in JSON.
#[derive(Serialize)]
struct SetObject<'s> {
    set: &'s str,
    set_hash: String,
    dialect: &'static str,
}

impl SetObject<'_> {
    fn new(set: &PolicySet) -> SetObject<'_> {
        let set_hash = set.hash().to_string();
        SetObject { set: set.name(), set_hash, dialect: set.dialect().name }
    }
}

#[derive(Serialize)]
struct HostObject<'s> {
    #[serde(flatten)]
    set: SetObject<'s>,
    #[serde(flatten)]
    detail: &'s HostDetail,
}

#[derive(Serialize)]
struct HistoryObject<'s> {
    #[serde(flatten)]
    set: SetObject<'s>,
    #[serde(flatten)]
    history: &'s HostHistory,
}

#[derive(Serialize)]
struct SurveyObject<'s> {
    version: &'static str,
    #[serde(flatten)]
    set: SetObject<'s>,
    robots_bytes_max: Option<u64>,
    bytes: u64,
    #[serde(flatten)]
    survey: &'s Survey,
    policies: u64,
    /// The stored moments of the history; `None` if the set has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    moments: Option<u64>,
    rule_sets: u64,
    sections: serde_json::Map<String, Value>,
    provenance: Value,
}

fn survey(set: &PolicySet, args: &InspectArgs) -> anyhow::Result<Vec<u8>> {
    let top = args.top.top.unwrap_or(TOP);
    let survey = Engine::new(THREADS)?.install(|| Survey::of(set, top))?;
    let provenance = set.provenance()?;
    let object: Value = serde_json::from_slice(provenance).with_context(|| {
        format!("{}: unreadable provenance; run `portcullis compile` again", set.name())
    })?;
    if !args.json {
        let provenance = Provenance::read(provenance);
        return Ok(tables::survey(set, &survey, provenance.as_ref()).into_bytes());
    }
    let sections = set.section_bytes().map(|(name, bytes)| (name.replace(' ', "-"), bytes.into()));
    Ok(to_json_line(&SurveyObject {
        version: env!("CARGO_PKG_VERSION"),
        set: SetObject::new(set),
        robots_bytes_max: set.robots_bytes_max(),
        bytes: set.bytes(),
        survey: &survey,
        policies: set.counts().policies,
        moments: set.has_history().then(|| set.moments()),
        rule_sets: set.counts().rule_sets,
        sections: sections.collect(),
        provenance: object,
    })?)
}
