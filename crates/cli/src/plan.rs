//! Groups of flags, checked and turned into plans for the commands.
//!
//! No code here reads a list of URLs or writes a file, so wrong usage is reported before any work
//! starts. Plans for a single command are in that command's file.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{bail, ensure};
use portcullis_build::Strictness;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::URL_BYTES_MAX;
use portcullis_dialect::usage::Label;
use portcullis_files::expand::Input;
use portcullis_files::input::{ChunkConfig, Terminator};
use portcullis_files::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};
use portcullis_robots::access::{TimeUnit, UnixSeconds};
use portcullis_robots::policy::{Crawler, Reading};
use portcullis_rows::list::{Arena, ListConfig, ListFormat, Place, agent_of};
use portcullis_set::PolicySet;
use portcullis_set::batch::{AgentKind, BeforeFirst, Classifier, Freshness, Session};

use super::agents::{self, AgentNotes, AgentValue, Asked};
use super::args::{
    AgentArgs, BaselineArgs, ListTimeArgs, PolicyArgs, ReadingArgs, RecordAgentArgs, RejectArgs,
    RunArgs, TimeArgs, UsageArgs,
};
use super::files::Files;
use super::limits::{CHUNK_AGENTS, CHUNK_BYTES_MIN, RECORD_OUTPUT_BYTES_MAX};
use super::lists;
use super::message::Notes;
use super::output::{OutputFile, SummaryForm, SummaryTo, is_standard_output};
use super::values::{Format, MaxAge};

/// The agents, and how records and policies are judged.
#[derive(Default)]
pub struct QuestionPlan {
    pub asked: Asked,
    pub assumed_scheme: Option<String>,
    pub freshness: Option<Freshness>,
    /// The times as of which records are decided; `None` for now.
    pub times: Option<TimePlan>,
    /// The agent of each record; `None` if records are decided for all agents.
    pub each: Option<RecordAgentPlan>,
    /// Whether a crawler that ignores Crawl-delay has the one that a policy asks for.
    pub has_every_delay: bool,
    /// Whether usage preferences are asked for.
    pub reads_usage: bool,
}

/// The agent of each record.
#[derive(Clone, Debug)]
pub struct RecordAgentPlan {
    pub place: Place,
    /// How it is written.
    pub kind: AgentKind,
    /// Whether the built-in lists have the known agents, because `-a` names none.
    pub has_default_lists: bool,
    /// How requests are compared with each other; `None` if they are not.
    pub visits: Option<VisitPlan>,
}

/// The time and the client of each request in a log.
#[derive(Clone, Debug)]
pub struct VisitPlan {
    pub clients: Place,
    /// The unit of times that are numbers, unless records are decided as of them.
    pub unit: Option<TimeUnit>,
}

/// The times as of which records are decided.
#[derive(Clone, Debug)]
pub struct TimePlan {
    /// One time for all records; `None` if each has its own.
    pub all: Option<UnixSeconds>,
    /// Where the time of each record is.
    pub each: Place,
    /// The unit of times that are numbers.
    pub unit: Option<TimeUnit>,
    pub before_first: BeforeFirst,
    /// Whether records are also decided as of now.
    pub and_now: bool,
}

impl TimePlan {
    /// Describes the times for the summary.
    pub fn describe(&self) -> String {
        let times = match (self.all, &self.each) {
            (Some(time), _) => time.to_rfc3339(),
            (None, Place::Named(names)) => format!("the field {}", names.join(",")),
            (None, _) => "the time of each record".to_owned(),
        };
        times + if self.and_now { ", and now" } else { "" }
    }
}

impl QuestionPlan {
    /// Returns the agents in a dialect.
    ///
    /// # Errors
    ///
    /// As [`Asked::chains`].
    pub fn agents(&self, dialect: &Dialect) -> anyhow::Result<Vec<Crawler>> {
        let mut agents = self.asked.chains(dialect)?.0;
        if self.has_every_delay {
            for agent in &mut agents {
                let reading = Reading { ignores_delay: false, ..agent.reading() };
                *agent = agent.clone().with_reading(reading);
            }
        }
        Ok(agents)
    }

    /// Returns the agents with the policies of `set`, and shows the names that seem to be misspelt.
    ///
    /// # Errors
    ///
    /// As [`Asked::chains`].
    pub fn noted_agents(&self, set: &PolicySet, form: SummaryForm) -> anyhow::Result<Vec<Crawler>> {
        AgentNotes::of(self, set)?.show(form);
        self.agents(set.dialect())
    }

    /// Returns a session that asks `classifier`.
    pub fn session(&self, classifier: &Arc<Classifier>) -> Session {
        Session::new(Arc::clone(classifier)).assume_scheme(self.assumed_scheme.as_deref())
    }

    /// Returns how lists are cut if the output has an answer for each agent. With many agents, chunks
    /// are shorter, so that their outputs are not longer.
    pub fn chunks(&self) -> ChunkConfig {
        let agents = if self.each.is_some() { 1 } else { self.agent_count().max(1) };
        let chunk_bytes = CHUNK_BYTES / agents.div_ceil(CHUNK_AGENTS);
        ChunkConfig { chunk_bytes: chunk_bytes.max(CHUNK_BYTES_MIN), ..ChunkConfig::default() }
    }

    /// Returns how lists are cut if a record may be written so often, as JSON.
    pub fn chunks_that_repeat(&self, times: usize) -> ChunkConfig {
        /// Bytes of a character in JSON, `\u0000`.
        const ESCAPE_BYTES: usize = 6;
        let record_bytes = RECORD_OUTPUT_BYTES_MAX / ESCAPE_BYTES / times;
        let record_bytes_max = record_bytes.clamp(URL_BYTES_MAX, RECORD_BYTES_MAX);
        ChunkConfig { record_bytes_max, ..self.chunks() }
    }

    /// Returns the number of agents that were named.
    pub fn agent_count(&self) -> usize {
        self.asked.names.len() + self.asked.headers.len()
    }

    /// Whether no agent was named.
    pub fn names_nobody(&self) -> bool {
        self.agent_count() == 0
    }
}

/// The inputs of a run, and its threads.
#[derive(Clone, Default)]
pub struct StreamPlan {
    /// At least one list.
    pub inputs: Vec<Input>,
    pub lists: Arc<ListConfig>,
    /// Where the lists are cut.
    pub chunks: ChunkConfig,
    /// The file for records that are not URLs.
    pub rejects: Option<OutputFile>,
    /// The number of threads; 0 means one per CPU.
    pub threads: usize,
    pub progress: bool,
    /// The notes on the lists so far.
    pub notes: Notes,
    /// How the list before was read, if that was noted.
    pub noted: String,
    /// Whether records go to standard output during the run.
    pub prints: bool,
    /// Whether the bytes that are written depend on where lists are cut, as row groups and compressed
    /// frames do.
    pub shows_cuts: bool,
    /// Whether a line that holds more than a URL is an error.
    pub is_strict: bool,
}

impl StreamPlan {
    /// Returns the names of the lists.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.inputs.iter().map(|list| list.path.display().to_string())
    }
}

/// The summary at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryPlan {
    /// The form on standard error.
    pub form: SummaryForm,
    /// The summaries to files.
    pub files: Vec<SummaryTo>,
}

impl SummaryPlan {
    /// Whether all that the account can have is counted: what only its text shows costs less.
    pub fn counts_all(&self) -> bool {
        self.form == SummaryForm::Json || !self.files.is_empty()
    }
}

/// Returns the agents, which are checked if the dialect is known, and how URLs are decided.
pub fn questions(
    args: AgentArgs,
    reading: &ReadingArgs,
    dialect: Option<&'static Dialect>,
) -> anyhow::Result<QuestionPlan> {
    let assumed_scheme = reading.assume_scheme.clone();
    Ok(QuestionPlan { assumed_scheme, ..agents(args, dialect)? })
}

/// Returns the agents, which are checked if the dialect is known.
pub fn agents(args: AgentArgs, dialect: Option<&'static Dialect>) -> anyhow::Result<QuestionPlan> {
    let mut headers = args.user_agents;
    let mut seen = HashSet::new();
    // As of records, which logs may write without blanks.
    let arena = Arena::new();
    for header in &mut headers {
        *header = String::from_utf8_lossy(agent_of(header.as_bytes(), &arena)).into_owned();
    }
    headers.retain(|header| seen.insert(header.clone()));
    let asked = Asked { headers, ..agents::expand(&args.agents)? };
    let questions = QuestionPlan { asked, ..QuestionPlan::default() };
    dialect.map_or(Ok(Vec::new()), |dialect| questions.agents(dialect))?;
    Ok(questions)
}

/// Returns the agent that others are compared with, if there is one.
pub fn baseline(BaselineArgs { baseline }: BaselineArgs) -> anyhow::Result<Option<QuestionPlan>> {
    let Some(agent) = baseline else { return Ok(None) };
    let asked = Asked { flag: Some("--baseline"), ..agents::expand(&[agent])? };
    ensure!(asked.names.len() == 1, "--baseline compares with one agent; name one");
    Ok(Some(QuestionPlan { asked, ..QuestionPlan::default() }))
}

/// Makes `questions` ask about the agent of each record, if a flag requests it. Without -a, the agents
/// of the built-in lists are known.
pub fn record_agents(
    RecordAgentArgs { agent_field, agent_kind }: RecordAgentArgs,
    labels: &[Label],
    questions: &mut QuestionPlan,
) -> anyhow::Result<()> {
    let place = Place::named(agent_field);
    if place == Place::Usual {
        ensure!(
            agent_kind.is_none(),
            "--agent-kind is for the agent of each record: use --agent-field too"
        );
        return Ok(());
    }
    ensure!(
        labels.is_empty(),
        "--agent-field gives no usage preferences; name the agents with -a instead, or omit \
         --usage or --purpose"
    );
    let has_default_lists = questions.names_nobody();
    if has_default_lists {
        let lists = ["@ai-all", "@search", "@documented"].map(AgentValue::new);
        questions.asked = agents::expand(&lists)?;
    }
    let by_default = if place == Place::Record { AgentKind::Header } else { AgentKind::Token };
    let kind = agent_kind.unwrap_or(by_default);
    if kind == AgentKind::Header {
        questions.asked.read_as_documented();
    }
    questions.each = Some(RecordAgentPlan { place, kind, has_default_lists, visits: None });
    Ok(())
}

/// Checks that each label of `--usage` is named once.
pub fn labels(UsageArgs { usage: labels }: UsageArgs) -> anyhow::Result<Vec<Label>> {
    for (place, label) in labels.iter().enumerate() {
        ensure!(!labels[..place].contains(label), "--usage names {label} twice");
    }
    Ok(labels)
}

/// Describes a set that cannot be asked as of a time.
pub fn no_history(set: &PolicySet) -> String {
    format!(
        "{}: only the newest files; compile their captures with --history, and name that set",
        set.name()
    )
}

/// Returns the time of the clock.
pub fn now() -> UnixSeconds {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixSeconds(now.map_or(0, |now| now.as_secs()))
}

/// Returns how the age of captures is judged, or `None` if no flag requests it.
pub fn freshness(max_age: Option<MaxAge>, now: Option<UnixSeconds>) -> Option<Freshness> {
    (now.is_some() || max_age.is_some()).then(|| Freshness {
        as_of: now.unwrap_or_else(self::now),
        seconds_max: max_age.and_then(|age| age.0),
        withdraws: max_age.is_some(),
    })
}

/// Returns the times as of which records are decided, or `None` if no flag requests them.
pub fn times(
    args: ListTimeArgs,
    and_now: bool,
    now: Option<UnixSeconds>,
    policies: &PolicyArgs,
) -> anyhow::Result<Option<TimePlan>> {
    let ListTimeArgs { time: TimeArgs { at, before_first }, time_field, unit } = args;
    let (each, unit) = (Place::named(time_field), unit.time_unit);
    let other = if at.is_some() { "--at" } else { "--time-field" };
    ensure!(
        policies.time().is_none() || (at.is_none() && each == Place::Usual),
        "SET@TIME names the time for all records; omit @TIME or {other}"
    );
    ensure!(unit.is_none() || each != Place::Usual, "--time-unit needs --time-field");
    let at = at.or(policies.time());
    if at.is_none() && each == Place::Usual {
        let given = [("--and-now", and_now), ("--before-first", before_first.is_some())];
        if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            bail!("{flag} needs a time: use --at, or --time-field for lists");
        }
        return Ok(None);
    }
    ensure!(
        now.is_none(),
        "with --at, SET@TIME and --time-field, the age of captures is judged at the time of the decision; omit --now"
    );
    let before_first = before_first.unwrap_or_default();
    Ok(Some(TimePlan { all: at, each, unit, before_first, and_now }))
}

/// Returns how lists are read, and on how many threads.
pub fn stream(
    reading: ReadingArgs,
    files: &Files,
    RejectArgs { rejects }: RejectArgs,
    questions: &QuestionPlan,
    run: &RunArgs,
    strictness: Strictness,
    prints: bool,
) -> anyhow::Result<StreamPlan> {
    let is_lines = reading.input_format.is_none_or(|format| format == ListFormat::Lines);
    ensure!(
        rejects.as_deref().is_none_or(|path| !is_standard_output(path)),
        "--rejects cannot go to standard output; name a file"
    );
    let times = questions.times.as_ref();
    let visits = questions.each.as_ref().and_then(|each| each.visits.as_ref());
    // Requests are compared by the times of a log even if no record is decided as of its own.
    let log_times = visits.map(|_| Place::offered()).unwrap_or_default();
    ensure!(
        is_lines || !reading.null_data,
        "--null-data is for plain lines; omit it, or --input-format"
    );
    let is_log = reading.input_format.is_none_or(|format| format == ListFormat::AccessLog);
    ensure!(
        (is_log && !reading.null_data) || reading.log_format.is_none(),
        "--log-format is for access logs; omit it, or --input-format and --null-data"
    );
    let config = ListConfig {
        format: reading.input_format,
        log_format: reading.log_format,
        urls: Place::named(reading.url_field),
        hosts: Place::named(reading.host_field),
        host: reading.host,
        queries: Place::named(reading.query_field),
        are_queries_bare: false,
        schemes: Place::named(reading.scheme_field),
        is_headless: reading.no_header,
        terminator: if reading.null_data { Terminator::Nul } else { Terminator::LineFeed },
        times: times.map_or(&Place::Usual, |times| &times.each).or(log_times),
        unit: times.and_then(|times| times.unit).or(visits.and_then(|visits| visits.unit)),
        agents: questions.each.as_ref().map(|each| each.place.clone()).unwrap_or_default(),
        clients: visits.map(|visits| visits.clients.clone()).unwrap_or_default(),
        is_lenient: strictness == Strictness::Lenient,
    };
    let mut notes = Notes { are_hidden: summary(run)?.form.hides_notes(), kept: Vec::new() };
    let inputs = lists::noted(&files.lists, &mut notes);
    files.notes.iter().for_each(|note| notes.add(note.clone()));
    if inputs.iter().any(|input| input.path == Path::new("-")) {
        note_standard_input(&mut notes);
    }
    Ok(StreamPlan {
        inputs,
        lists: config.into(),
        rejects,
        threads: run.threads.threads,
        progress: !run.no_progress,
        notes,
        prints,
        is_strict: strictness == Strictness::Strict,
        ..StreamPlan::default()
    })
}

/// Notes that URLs are read from standard input where that is likely a mistake.
fn note_standard_input(notes: &mut Notes) {
    if io::stdin().is_terminal() {
        notes.add("reading URLs from standard input; end them with Ctrl-D".to_owned());
    }
}

/// Returns where the summary goes.
pub fn summary(run: &RunArgs) -> anyhow::Result<SummaryPlan> {
    let all = run.summary.iter().cloned();
    let (files, shown): (Vec<_>, Vec<_>) = all.partition(|to| to.file.is_some());
    // Scripts read data, and people look at a terminal.
    let by_default = if io::stderr().is_terminal() { SummaryForm::Text } else { SummaryForm::None };
    let form = shown.first().map_or(by_default, |to| to.form);
    ensure!(
        shown.iter().all(|to| to.form == form),
        "--summary: standard error shows one of text, json and none; name one of them"
    );
    Ok(SummaryPlan { form, files })
}

/// Returns the requested format, or else the format of the output's extension (before .gz or .zst), or
/// else the first of `formats`.
pub fn format(
    asked: Option<Format>,
    output: &OutputFile,
    formats: &[Format],
) -> anyhow::Result<Format> {
    let stem = output.with_extension("");
    let bare = if output.coding().is_some() { &stem } else { &**output };
    let extension = bare.extension().unwrap_or_default();
    let is_named = |format: &&Format| extension.eq_ignore_ascii_case(format.extension());
    let named = formats.iter().find(is_named).copied();
    ensure!(
        asked.is_none() || named.is_none() || asked == named,
        "--format contradicts the extension of {}; omit --format",
        output.display()
    );
    if let Some(format) = asked.or(named) {
        return Ok(format);
    }
    let extensions: Vec<String> =
        formats.iter().map(|format| format!(".{}", format.extension())).collect();
    let is_page = extension.eq_ignore_ascii_case(Format::Html.as_str());
    let page = "; the page about a list is `portcullis audit -o FILE.html`";
    ensure!(
        output.is_special(),
        "{}: unknown format; use the extension {}, also with .gz or .zst, or --format{}",
        output.display(),
        joined_by_or(&extensions),
        if is_page { page } else { "" }
    );
    Ok(formats[0])
}

/// Rejects printing a page to a terminal.
pub fn no_page_on_terminal(output: &OutputFile, format: Format) -> anyhow::Result<()> {
    let is_page = is_standard_output(output) && format == Format::Html;
    ensure!(
        !is_page || !io::stdout().is_terminal(),
        "a terminal cannot show a page; use -o FILE.html, or omit --format"
    );
    Ok(())
}

/// Joins alternatives: `a, b or c`.
fn joined_by_or(words: &[String]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
