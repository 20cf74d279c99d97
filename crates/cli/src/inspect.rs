//! `portcullis inspect`: what a set holds, the policies and periods of one of its hosts, and whether it
//! is intact.
//!
//! The JSON is the serialised form of the [`Survey`], or of the [`HostDetail`] and the histories;
//! the text shows the same figures as lines and tables. Output is written only when it is complete.

use anyhow::{Context, anyhow, bail, ensure};
use portcullis_build::Provenance;
use portcullis_files::scratch::Scratch;
use portcullis_report::PolicyFacts;
use portcullis_report::account::format;
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;
use portcullis_survey::{HostDetail, OriginHistory, Survey, tables};
use portcullis_text::figures::{counted, size};
use portcullis_text::json::to_json;
use serde::Serialize;
use serde_json::Value;

use super::args::InspectArgs;
use super::engine::{THREADS, thread_pool};
use super::exit::ExitStatus;
use super::mapped;
use super::message::{say, with_flags};
use super::output;
use super::plan;
use super::values::{Format, SetAt};

/// The number of rows per list, unless a flag says otherwise.
const TOP: usize = 10;

pub fn run(mut args: InspectArgs) -> anyhow::Result<ExitStatus> {
    let SetAt { path, time } = &args.set;
    let name = path.display();
    ensure!(
        time.is_none(),
        "{name}: inspect takes no @TIME; omit it (inspect {name} HOST has all periods of a host)"
    );
    let set = mapped::set(path)?;
    if args.verify {
        verify(&set, &Scratch::new(None, args.memory.memory))?;
        if args.host.is_none() && args.format.is_none() && args.top.top.is_none() {
            let sections = tables::sections(&set);
            set.is_whole()?;
            output::print(sections.trim_start().as_bytes())?;
            return Ok(ExitStatus::Done);
        }
    }
    let out = match args.host.take() {
        None => Some(survey(&set, &args)?),
        Some(host) => {
            let origins = portcullis_survey::origins_of(host.as_encoded_bytes());
            let origins = origins.map_err(|error| {
                anyhow!("{host:?}: not a host or URL ({error}); write example.com or https://example.com")
            })?;
            self::host(&set, &origins, args)?
        }
    };
    set.is_whole()?;
    let Some(out) = out else { return Ok(ExitStatus::Negative) };
    output::print(&out)?;
    Ok(ExitStatus::Done)
}

/// Returns what the set has about a host; `None` if that is no policy, which is reported.
fn host(set: &PolicySet, origins: &[Origin], args: InspectArgs) -> anyhow::Result<Option<Vec<u8>>> {
    let detail = HostDetail::of(set, origins)?;
    if detail.policies.is_empty() {
        let names: Vec<String> = origins.iter().map(ToString::to_string).collect();
        let other = on_other_port(set, &origins[0].key());
        let other = other.map_or_else(String::new, |it| format!(" (the set has {it})"));
        say(format_args!("{}: no policy is known for {}{other}", set.name(), names.join(" or ")));
        return Ok(None);
    }
    if let Some(period) = args.body {
        return file(set, origins, &detail, period).map(Some);
    }
    let questions = plan::agents(args.agents, Some(set.dialect()))?;
    ensure!(
        questions.names_nobody() || set.has_history(),
        "{}: compiled without history, which -a and --user-agent need; omit them, or use check --explain",
        set.name()
    );
    let are_all = questions.names_nobody();
    let agents = questions.agents(set.dialect())?;
    let history = set.has_history().then(|| portcullis_survey::history(set, origins, &agents));
    let history = history.transpose()?;
    Ok(Some(match args.format {
        Some(Format::Json) => json_line(&HostObject {
            format: format::HOST,
            name: set.name(),
            set_hash: set.hash().to_string(),
            dialect: set.dialect().name,
            detail,
            history,
        }),
        _ => {
            let history =
                history.as_deref().map(|it| tables::history(it, are_all)).unwrap_or_default();
            (tables::host(&detail) + &history).into_bytes()
        }
    }))
}

/// Returns the first host of `set` that is `name` on another port.
fn on_other_port(set: &PolicySet, name: &str) -> Option<String> {
    let is_it =
        |key: &&[u8]| key.strip_prefix(name.as_bytes()).is_some_and(|it| it.starts_with(b":"));
    let key = set.hosts().map_while(Result::ok).map(|host| host.key()).find(is_it)?;
    Some(String::from_utf8_lossy(key).into_owned())
}

/// Returns the robots.txt of a period, as far as the set stores it. Without history, each policy has
/// one period.
fn file(
    set: &PolicySet,
    origins: &[Origin],
    detail: &HostDetail,
    period: usize,
) -> anyhow::Result<Vec<u8>> {
    let of_policy = |place: usize| detail.policies.get(place).map(|it| it.records.clone());
    let records = |period: usize| match set.has_history() {
        true => portcullis_survey::records_of_period(set, origins, period),
        false => Ok(period.checked_sub(1).and_then(of_policy)),
    };
    let Some(records) = records(period)? else {
        let mut last = 0;
        while records(last + 1)?.is_some() {
            last += 1;
        }
        bail!("--body: there is no period {period}; the last is {last}");
    };
    if records.is_empty() {
        say(format_args!(
            "note: period {period} has no line of a robots.txt, so the output is empty"
        ));
    }
    let lines = records.iter().map(|record| [record.text.as_ref(), b"\n"].concat());
    Ok(lines.collect::<Vec<_>>().concat())
}

/// Checks checksums, structure and compiled rules.
fn verify(set: &PolicySet, scratch: &Scratch) -> anyhow::Result<()> {
    let verified = thread_pool(THREADS)?.install(|| portcullis_build::verify(set, scratch))?;
    let (records, counts) = (verified.records, verified.counts);
    let (blocks, bytes) = (counted(verified.blocks, "block"), size(set.bytes()));
    let (name, hash) = (set.name(), set.hash());
    say(format_args!("{name}: all {blocks} are intact; set {hash:.16}, {bytes}"));
    let history = match set.history_captures() {
        0 => String::new(),
        captures => format!(", {} of their history", counted(captures, "capture")),
    };
    say(format_args!(
        "read {}, {}, {}{history}, {}, {}; recompiled {} of {} and {} with their prefilters",
        counted(counts.hosts, "host"),
        counted(counts.origins, "origin"),
        counted(counts.captures, "capture"),
        counted(counts.strings, "string"),
        counted(counts.tokens, "crawler name"),
        counted(counts.policies, "policy"),
        counted(records, "line"),
        counted(counts.rule_sets, "rule set"),
    ));
    Ok(())
}

#[derive(Serialize)]
struct HostObject<'s> {
    format: &'static str,
    name: &'s str,
    set_hash: String,
    dialect: &'static str,
    #[serde(flatten)]
    detail: HostDetail,
    /// `None` if the set has no history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<OriginHistory>>,
}

#[derive(Serialize)]
struct SurveyObject<'s> {
    format: &'static str,
    version: &'static str,
    policies: PolicyFacts,
    survey: &'s Survey,
    /// The captures of the history; `None` if the set has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    history_captures: Option<u64>,
    sections: serde_json::Map<String, Value>,
    provenance: Value,
}

fn survey(set: &PolicySet, args: &InspectArgs) -> anyhow::Result<Vec<u8>> {
    let top = args.top.top.unwrap_or(TOP);
    let survey = thread_pool(THREADS)?.install(|| Survey::of(set, top))?;
    let provenance = set.provenance()?;
    let object: Value = serde_json::from_slice(provenance).with_context(|| {
        format!("{}: unreadable provenance; run `portcullis compile` again", set.name())
    })?;
    if args.format != Some(Format::Json) {
        let provenance = Provenance::read(provenance);
        return Ok(with_flags(&tables::survey(set, &survey, provenance.as_ref())).into_bytes());
    }
    let sections = set.section_bytes().map(|(name, bytes)| (name.replace(' ', "-"), bytes.into()));
    Ok(json_line(&SurveyObject {
        format: format::SET,
        version: env!("CARGO_PKG_VERSION"),
        policies: PolicyFacts::of(set),
        survey: &survey,
        history_captures: set.has_history().then(|| set.history_captures()),
        sections: sections.collect(),
        provenance: object,
    }))
}

fn json_line(object: &impl Serialize) -> Vec<u8> {
    (with_flags(&to_json(object)) + "\n").into_bytes()
}
