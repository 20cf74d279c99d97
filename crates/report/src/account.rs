//! The account of a run: what was decided by which policies for which agents, as text, as JSON, and in
//! Markdown for a data card.
//!
//! A [`Run`] describes the program, the policies and the agents. [`Counts`] are what a run over a list
//! counted. An [`Account`] has the figures of both. Equal inputs give equal accounts for any number of
//! threads, except for [`Time`].
//!
//! Markdown has the figures of the JSON account, without times and places in the lists. Hosts and agents
//! are untrusted text, so whatever Markdown would read is escaped.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::time::Duration;

use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_robots::access::DateSpan;
use portcullis_robots::syntax::NoteKind;
use portcullis_set::PolicySet;
use portcullis_set::batch::AgeCounts;
use portcullis_text::figures::{counted, grouped, joined, percent, seconds, size};
use portcullis_text::visible::visible;
use serde::Serialize;

use super::filter::{Cause, Fate, Plan, Quantifier};
use super::{AgentCounts, Counts, Figures, InvalidRecords, KnownAgent, RecordAgent, TopNames};
use crate::limits::SUMMARY_UNKNOWN_HOSTS_SHOWN;

/// The names and numbers of JSON formats: the first member of each object that the program prints.
/// An incompatible change increases the number. `docs/json.md` lists the members.
pub mod format {
    /// The decisions on a list of URLs, and the other work of a run.
    pub const ACCOUNT: &str = "account/1";
    /// The report of `audit`.
    pub const AUDIT: &str = "audit/1";
    /// The summary of `compile`.
    pub const COMPILE: &str = "compile/1";
    /// The summary of `diff`.
    pub const DIFF: &str = "diff/1";
    /// An explained decision.
    pub const CHECK: &str = "check/1";
    /// The policies of a host.
    pub const HOST: &str = "host/1";
    /// Findings in robots.txt files.
    pub const LINT: &str = "lint/1";
    /// The content of a set.
    pub const SET: &str = "set/1";
    /// The totals of `survey`.
    pub const SURVEY: &str = "survey/1";
}

/// The policies of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PolicyFacts {
    /// `set` (compiled), `folder` (files named by host) or `file` (one for every URL).
    pub kind: &'static str,
    pub name: String,
    /// The hash of the content, in hexadecimal.
    pub set_hash: String,
    pub set_bytes: u64,
    pub dialect: &'static str,
    /// The most bytes read from each robots.txt. `None` means no limit.
    pub robots_bytes_max: Option<u64>,
    /// The number of hosts. `None` if one file applies to every URL.
    pub hosts: Option<u64>,
    /// The number of origins (scheme, host and port). `None` if one file applies to every URL.
    pub origins: Option<u64>,
    /// The number of distinct policies. Files with the same user-agent lines and rules on the same
    /// lines share one policy.
    pub policies: u64,
    pub rule_sets: u64,
    /// The dates of the oldest and the newest capture, if known.
    pub capture_dates: Option<DateSpan>,
    /// Whether the set has earlier captures too.
    pub has_history: bool,
    /// The number of files of a folder that were left out.
    pub left_out: u64,
    /// The number of files with a note on the whole file, by note.
    pub file_notes: Figures,
}

impl PolicyFacts {
    /// Describes a set.
    pub fn of(set: &PolicySet) -> PolicyFacts {
        let counts = set.counts();
        let is_of_all = set.is_universal();
        PolicyFacts {
            kind: if is_of_all { "file" } else { "set" },
            name: set.name().to_owned(),
            set_hash: set.hash().to_string(),
            set_bytes: set.bytes(),
            dialect: set.dialect().name,
            robots_bytes_max: set.robots_bytes_max(),
            hosts: (!is_of_all).then_some(counts.hosts),
            origins: (!is_of_all).then_some(counts.origins),
            policies: counts.policies,
            rule_sets: counts.rule_sets,
            capture_dates: counts.captured(),
            has_history: set.has_history(),
            left_out: 0,
            file_notes: PolicyFacts::notes_of_files(counts.file_notes),
        }
    }

    /// Names the numbers of files with the notes of [`NoteKind::OF_FILES`].
    pub fn notes_of_files(files: [u64; NoteKind::OF_FILES.len()]) -> Figures {
        let notes = NoteKind::OF_FILES.map(NoteKind::as_str).into_iter().zip(files);
        Figures(notes.collect())
    }
}

/// The policies on one line: what they are, the dialect, and for a compiled set its hash, origins and dates.
impl Display for PolicyFacts {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match (self.kind, self.hosts, self.origins) {
            ("folder", Some(hosts), _) => {
                write!(out, "robots.txt files of {}", counted(hosts, "host"))?
            }
            (_, _, Some(origins)) => {
                write!(out, "set {:.16}, {}", self.set_hash, counted(origins, "origin"))?;
            }
            _ => write!(out, "one robots.txt for every URL")?,
        }
        write!(out, ", dialect {}", self.dialect)?;
        match &self.capture_dates {
            Some(dates) => write!(out, ", captured {dates}"),
            None => Ok(()),
        }
    }
}

/// The policies and the agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// `None` if a run compares policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<PolicyFacts>,
    /// The agents, in the order of the output.
    pub agents: Vec<String>,
    /// The agents that are known if each record has its own, in the order of the classifier.
    #[serde(skip)]
    pub record_agents: Vec<KnownAgent>,
    /// The lists that agents were taken from.
    pub agent_lists: Vec<AgentList>,
    /// Agents that no group names.
    pub unnamed_agents: Vec<UnnamedAgent>,
    /// The time as of which records were decided, or the place of their own times; `None` for now.
    pub at: Option<String>,
    /// How the age of captures was judged, if it was.
    pub judged_age: Option<JudgedAge>,
    /// The list that registrable domains are found by, if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_suffix_list: Option<&'static str>,
    /// Lines of the data card that no equal run repeats, by title: the command, the date, the inputs.
    #[serde(skip)]
    pub card: Vec<(&'static str, String)>,
}

/// A list that agents were taken from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentList {
    /// The name as given in `-a`.
    pub name: String,
    /// The source of the list, with its version and licence, or the path of the file.
    pub source: String,
    /// The number of agents that it names.
    pub agents: usize,
    /// The names that were skipped because the dialect cannot express them.
    pub skipped: Vec<String>,
}

/// An agent that no group names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnnamedAgent {
    /// The agent.
    pub agent: String,
    /// A similar name that may be intended.
    pub suggestion: Option<String>,
}

/// How the age of captures was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedAge {
    /// The time as of which the age was judged (RFC 3339).
    pub as_of: String,
    /// The seconds after which a capture had expired. `None` means the expiry stored in the set.
    pub max_age_seconds: Option<u64>,
    /// The verdict on records whose capture had expired or is later: `keep` for the verdict of its
    /// rules, or `unknown`.
    pub expired: &'static str,
}

/// A run and its figures: of a list, or of other work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Account<R = RecordFigures> {
    pub format: &'static str,
    pub program: &'static str,
    pub version: &'static str,
    #[serde(flatten)]
    pub run: Run,
    #[serde(flatten)]
    pub records: R,
    /// Notes on how the inputs were read.
    pub notes: Vec<String>,
    /// `None` in what is written before the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
}

impl<R: Default> Default for Account<R> {
    fn default() -> Account<R> {
        Account {
            format: format::ACCOUNT,
            program: "portcullis",
            version: env!("CARGO_PKG_VERSION"),
            run: Run::default(),
            records: R::default(),
            notes: Vec::new(),
            time: None,
        }
    }
}

/// The figures of a run without a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoRecords {}

/// The time that a run took, and its rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Time {
    /// The seconds to load or ingest policies.
    pub load_seconds: f64,
    /// The seconds of the rest. Rates are relative to them.
    pub seconds: f64,
    /// The rate of the records, rows or origins of the run.
    pub records_per_second: u64,
    /// The rate of the bytes of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<u64>,
}

impl Time {
    /// Returns the time of a run with this many records and bytes.
    pub fn new(loading: Duration, running: Duration, records: u64, bytes: Option<u64>) -> Time {
        // Rounded down; 0 if no time passed.
        let rate = |amount: u64| {
            let rate = (u128::from(amount) * 1_000_000_000).checked_div(running.as_nanos());
            rate.map_or(0, |rate| rate.try_into().unwrap_or(u64::MAX))
        };
        Time {
            load_seconds: loading.as_secs_f64(),
            seconds: running.as_secs_f64(),
            records_per_second: rate(records),
            bytes_per_second: bytes.map(rate),
        }
    }
}

/// The figures of a run over a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordFigures {
    /// The number of records, including empty ones.
    pub records: u64,
    /// The bytes of the records, including line ends.
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unstated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<Plan>,
    /// The records that are not kept, by cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Figures>,
    pub per_agent: Vec<AgentRecords>,
    /// The records by the agent of each, if each has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_agents: Option<Vec<RecordAgent>>,
    /// The URLs by the state of their origin. `None` if it was not counted for all URLs.
    pub states: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ages: Option<Figures>,
    /// The records that the first capture decides though it is later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_first: Option<u64>,
    /// The records that a crawler that trains models may fetch although their use for that is reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_from_training: Option<u64>,
    /// The records that a crawler that trains models may not fetch although their use for that is permitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permitted_for_training: Option<u64>,
    /// The records of files with a crawl delay that is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable_delays: Option<u64>,
    pub unknown_hosts: TopNames,
    /// Of them, the hosts that have a policy under the other scheme.
    pub other_scheme: TopNames,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<InvalidRecords>,
}

/// The decisions for one agent. The verdicts, and the reasons, add up to [`RecordFigures::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentRecords {
    pub agent: String,
    pub verdicts: Figures,
    pub reasons: Figures,
    /// The reasons of each verdict, without zeros.
    pub reasons_of: Figures<Figures>,
    /// The preferences about each label that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Figures<Figures>>,
}

impl AgentRecords {
    fn of(agent: &str, counts: &AgentCounts, usage: Option<Figures<Figures>>) -> AgentRecords {
        let reasons_of = |verdict| {
            let mut reasons = Figures::of(Reason::ALL, Reason::as_str, |it| counts.of(verdict, it));
            reasons.0.retain(|&(_, count)| count > 0);
            reasons
        };
        let mut of_verdicts = Figures::of(Verdict::ALL, Verdict::as_str, reasons_of);
        of_verdicts.0.retain(|(_, reasons)| !reasons.0.is_empty());
        AgentRecords {
            agent: agent.to_owned(),
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts.verdict(it)),
            reasons: Figures::of(Reason::ALL, Reason::as_str, |it| counts.reason(it)),
            reasons_of: of_verdicts,
            usage,
        }
    }

    /// Returns the number of records with a verdict.
    pub fn verdict(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(verdict.as_str())
    }
}

impl Account {
    /// Returns the account of a run over a list.
    pub fn new(run: Run, counts: &Counts) -> Account {
        let records = RecordFigures::of(&run, counts);
        Account { run, records, ..Account::default() }
    }

    /// Writes the account as text.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_run(out)?;
        let RecordFigures { records, bytes, .. } = self.records;
        if let Some(time) = &self.time {
            let [running, loading] = [time.seconds, time.load_seconds].map(seconds);
            let rate = size(time.bytes_per_second.unwrap_or(0));
            write!(out, "{}, {} in {running}", counted(records, "record"), size(bytes))?;
            write!(out, " (and {loading} to load): ")?;
            writeln!(out, "{} records/s, {rate}/s", grouped(time.records_per_second))?;
        }
        self.records.write_text(&self.run, out)
    }
}

impl<R> Account<R> {
    /// Writes the description of the run as text.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_run(&self, out: &mut impl Write) -> io::Result<()> {
        let Run { policies, at, agent_lists, .. } = &self.run;
        write!(out, "{} {}", self.program, self.version)?;
        match policies {
            Some(facts) => writeln!(out, ", {facts}")?,
            None => writeln!(out)?,
        }
        let is_newest = at.is_none() && policies.as_ref().is_some_and(|it| it.has_history);
        match at {
            Some(at) => writeln!(out, "decided as of {}", visible(at))?,
            None if is_newest => {
                writeln!(out, "decided by the newest captures; ‹at› TIME asks as of another time")?;
            }
            None => {}
        }
        for AgentList { name, source, agents, .. } in agent_lists {
            writeln!(out, "agents of {}: {agents} ({})", visible(name), visible(source))?;
        }
        write_lines(&self.run.of_files(["files left out", "notes on files"]), out)
    }
}

impl RecordFigures {
    fn of(run: &Run, counts: &Counts) -> RecordFigures {
        let AgeCounts { fresh, expired, undated, not_yet, before_first } = counts.ages;
        let ages = vec![
            ("fresh", fresh),
            ("expired", expired),
            ("undated", undated),
            ("not-yet", not_yet),
        ];
        let agents = run.agents.iter().zip(&counts.agents).enumerate();
        let agents = agents.map(|(number, (agent, decided))| {
            AgentRecords::of(agent, decided, counts.usage(number))
        });
        RecordFigures {
            records: counts.records,
            bytes: counts.bytes,
            kept: counts.kept,
            unstated: counts.unstated,
            selection: counts.dropped.and(counts.plan),
            dropped: counts.plan.and(counts.dropped).map(|dropped| {
                Figures::of(Cause::ALL, Cause::as_str, |cause| dropped[cause as usize])
            }),
            per_agent: agents.collect(),
            record_agents: counts.record_agents(&run.record_agents),
            states: counts.states(),
            ages: run.judged_age.is_some().then_some(Figures(ages)),
            before_first: run.at.is_some().then_some(before_first),
            reserved_from_training: counts.reserved,
            permitted_for_training: counts.permitted,
            unreadable_delays: counts.unreadable_delays,
            unknown_hosts: counts.unknown_hosts.top(SUMMARY_UNKNOWN_HOSTS_SHOWN),
            other_scheme: counts.other_scheme.top(SUMMARY_UNKNOWN_HOSTS_SHOWN),
            invalid: Some(counts.invalid.clone()),
        }
    }

    /// Returns the number of records with a verdict that does not depend on the agent.
    pub fn of_first(&self, verdict: Verdict) -> u64 {
        self.per_agent.first().map_or(0, |agent| agent.verdict(verdict))
    }

    fn write_text(&self, run: &Run, out: &mut impl Write) -> io::Result<()> {
        let unstated = line("records whose use is not stated", self.unstated.map(grouped));
        write_lines(&[self.kept_and_dropped(), unstated], out)?;
        // Most agents of a list are not named by any group and have the same counts.
        let folds = !run.agent_lists.is_empty();
        let are_alike = |one: &AgentRecords, next: &AgentRecords| {
            folds && (&one.verdicts, &one.reasons) == (&next.verdicts, &next.reasons)
        };
        for alike in self.per_agent.chunk_by(are_alike) {
            let names = names(alike.iter().map(|it| visible(&it.agent).to_string()));
            let verdicts = line(&names, Some(&alike[0].verdicts)).unwrap_or(names);
            let reasons = Reason::ALL.map(|it| (it, alike[0].reasons.get(it.as_str())));
            let reasons = reasons.into_iter().filter(|(_, records)| *records > 0);
            let reasons =
                reasons.map(|(it, records)| format!("{} {}", grouped(records), phrase(it)));
            match &*reasons.collect::<Vec<_>>().join(", ") {
                "" => writeln!(out, "{verdicts}")?,
                reasons => writeln!(out, "{}", wrapped(&format!("{verdicts} ({reasons})")))?,
            }
        }
        self.write_record_agents(out)?;
        let judged = run.judged_age.as_ref().zip(self.ages.as_ref().filter(|it| it.sum() > 0));
        let ages = judged.map(|(JudgedAge { as_of, .. }, ages)| {
            format!("URLs by the age of their capture, as of {as_of}: {ages}")
        });
        let urls = [
            line("URLs by the state of their origin", self.states.as_ref()),
            line(
                "URLs before the first capture, which decides them",
                self.before_first.map(grouped),
            ),
            line(
                "URLs with a Crawl-delay that is not a number",
                self.unreadable_delays.map(grouped),
            ),
            line(
                "URLs that training crawlers may fetch, with the use for training reserved",
                self.reserved_from_training.filter(|it| *it > 0).map(grouped),
            ),
            line(
                "URLs that training crawlers may not fetch, with the use for training permitted",
                self.permitted_for_training.filter(|it| *it > 0).map(grouped),
            ),
            ages,
        ];
        write_lines(&urls, out)?;
        self.unknown_hosts.write_unknown_hosts(out)?;
        self.other_scheme.write_other_scheme(out)?;
        self.invalid.as_ref().map_or(Ok(()), |invalid| invalid.write_text(out))
    }

    /// Returns how many records were kept, and how many were not for each cause: the numbers add up.
    fn kept_and_dropped(&self) -> Option<String> {
        let (kept, all) = (self.kept?, self.records);
        let kept = format!("kept {} of {}", grouped(kept), grouped(all));
        let Some(dropped) = self.dropped.as_ref().filter(|it| it.sum() > 0) else {
            return Some(kept);
        };
        let causes = causes(dropped);
        let causes =
            causes.map(|(cause, count)| format!("{} {}", grouped(count), cause.describe()));
        let causes: Vec<String> = causes.collect();
        let has_aside = self
            .selection
            .is_some_and(|plan| [plan.unknown, plan.invalid, plan.pages].contains(&Fate::Aside));
        let what = if has_aside { "dropped or set aside" } else { "dropped" };
        Some(format!("{kept}; {what} {}: {}", grouped(dropped.sum()), causes.join(", ")))
    }

    /// Writes the disallowed records by agent, and apart from them the agents that robots.txt may not bind.
    fn write_record_agents(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(agents) = &self.record_agents else { return Ok(()) };
        let disallowed = |it: &RecordAgent| it.verdicts.get(Verdict::Disallow.as_str());
        for (is_bound, title) in [
            (true, "disallowed records by agent:"),
            (
                false,
                "disallowed records of agents that robots.txt may not bind, by their operators:",
            ),
        ] {
            let is_shown = |it: &&RecordAgent| it.is_bound() == is_bound && disallowed(it) > 0;
            let agents: Vec<_> = agents.iter().filter(is_shown).collect();
            if !agents.is_empty() {
                writeln!(out, "{title}")?;
            }
            for it in agents.iter().take(SUMMARY_UNKNOWN_HOSTS_SHOWN) {
                let all = grouped(it.verdicts.sum());
                let agent = it.agent.as_deref().unwrap_or_default();
                writeln!(out, "  {} of {all} {}", grouped(disallowed(it)), visible(agent))?;
            }
            if let rest @ 1.. = agents.len().saturating_sub(SUMMARY_UNKNOWN_HOSTS_SHOWN) {
                writeln!(out, "  and {rest} more agents")?;
            }
        }
        Ok(())
    }
}

/// Returns a reason as the words after a number of records.
pub fn phrase(reason: Reason) -> &'static str {
    match reason {
        Reason::Rule => "by a rule",
        Reason::NoRule => "without a matching rule",
        Reason::NoGroup => "without a group for the agent",
        Reason::NoRules => "by a file without rules",
        Reason::RobotsTxt => "for robots.txt itself",
        Reason::Unavailable => "without a robots.txt",
        Reason::Unreachable => "by a server that failed",
        Reason::Deferred => "deferred by a server that failed",
        Reason::NoPolicy => "without a policy",
        Reason::BadUrl => "not a URL",
        Reason::Expired => "with an expired capture",
        Reason::BeforeFirst => "before the first capture",
        Reason::NoTime => "without a time",
        Reason::NoAgent => "without a known agent",
        Reason::Page => "by a page instead of a robots.txt",
        other => other.as_str(),
    }
}

/// Returns a line with a count or figures; `None` if there are none, or all are 0.
pub fn line(title: &str, figures: Option<impl Display>) -> Option<String> {
    let figures = figures.map(|it| it.to_string()).filter(|it| !matches!(&**it, "" | "0"))?;
    Some(wrapped(&format!("{title}: {figures}")))
}

/// The most characters of a line that can be wrapped.
const WIDTH: usize = 100;

/// Returns a text whose long lines are wrapped after commas.
fn wrapped(text: &str) -> String {
    let length = |line: Option<&str>| line.map_or(0, |line| line.trim_end().chars().count());
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive(", ") {
        let column = length(out.rsplit('\n').next());
        if column > 0 && column + 1 + length(part.lines().next()) > WIDTH {
            out.truncate(out.trim_end().len());
            out.push_str("\n  ");
        }
        out.push_str(part);
    }
    out
}

/// Writes those lines that there are.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write_lines(lines: &[Option<String>], out: &mut impl Write) -> io::Result<()> {
    lines.iter().flatten().try_for_each(|line| writeln!(out, "{line}"))
}

impl Run {
    /// Returns lines with these titles: the files that were left out, and the notes on the others.
    fn of_files(&self, [left_out, notes]: [&str; 2]) -> [Option<String>; 2] {
        let facts = self.policies.as_ref();
        let left_out = line(left_out, facts.map(|it| grouped(it.left_out)));
        [left_out, line(notes, facts.map(|it| &it.file_notes))]
    }

    fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let Run { policies, agents, agent_lists, at, judged_age, card, .. } = self;
        for (title, text) in card {
            writeln!(out, "- {title}: {}", escaped(text))?;
        }
        let facts = [
            policies.as_ref().map(|facts| format!("- Policies: {facts}")),
            at.as_ref().map(|at| format!("- Decided as of: {}", escaped(at))),
            judged_age.as_ref().map(|it| format!("- Age of captures judged as of: {}", it.as_of)),
            (!agents.is_empty())
                .then(|| format!("- Agents: {}", names(agents.iter().map(|it| escaped(it))))),
        ];
        write_lines(&facts, out)?;
        write_lines(&self.of_files(["- Files left out", "- Notes on files"]), out)?;
        agent_lists.iter().try_for_each(|AgentList { name, source, agents, .. }| {
            writeln!(out, "- Agents of {}: {agents} ({})", escaped(name), escaped(source))
        })
    }
}

impl Account {
    /// Writes the account as Markdown.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let RecordFigures { records, selection, dropped, .. } = &self.records;
        writeln!(out, "# robots.txt decisions\n\n- Program: {} {}", self.program, self.version)?;
        self.run.write_markdown(out)?;
        let usage = self.records.per_agent.iter().any(|agent| agent.usage.is_some());
        let read =
            if usage { "access rules, Content-Usage and Content-Signal" } else { "access rules" };
        writeln!(out, "- Signals: {read} of the policies; no header, page or other file was read")?;
        writeln!(out, "- Records: {}", grouped(*records))?;
        if let (Some(selection), Some(dropped)) = (selection, dropped) {
            writeln!(out, "- Kept: {}", describe(selection))?;
            write_drops(*records, self.records.kept.unwrap_or(0), dropped, out)?;
        }
        write_agents(&self.records.per_agent, out)?;
        match &self.records.record_agents {
            Some(agents) => write_record_agents(agents, out),
            None => Ok(()),
        }
    }
}

/// Writes the records of each agent as a table, and how soon the requests of crawlers came as another.
fn write_record_agents(agents: &[RecordAgent], out: &mut impl Write) -> io::Result<()> {
    let name = |it: &RecordAgent| it.agent.as_deref().map_or("not known".to_owned(), escaped);
    writeln!(out, "\n## Records by agent\n\n| agent | bound | records | disallowed | unknown |")?;
    writeln!(out, "|---|---|---:|---:|---:|")?;
    for it in agents {
        let verdict = |verdict: Verdict| it.verdicts.get(verdict.as_str());
        let counts = [it.verdicts.sum(), verdict(Verdict::Disallow), verdict(Verdict::Unknown)];
        let bound = match it.reading {
            None => "-",
            Some(_) if it.is_bound() => "yes",
            Some(_) => "no",
        };
        writeln!(out, "| {} | {bound} | {} |", name(it), counts.map(grouped).join(" | "))?;
    }
    let mut paces = agents.iter().filter_map(|it| Some((it, it.pace.as_ref()?))).peekable();
    if paces.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "\n## Requests and Crawl-delay\n")?;
    writeln!(out, "| agent | its use | delay (s) | requests | compared | sooner |")?;
    writeln!(out, "|---|---|---:|---:|---:|---:|")?;
    paces.try_for_each(|(it, pace)| {
        let counts = [pace.requests, pace.compared, pace.sooner].map(grouped).join(" | ");
        writeln!(out, "| {} | {} | {} | {counts} |", name(it), it.delay_use(), pace.delays())
    })
}

fn write_agents(agents: &[AgentRecords], out: &mut impl Write) -> io::Result<()> {
    // Most agents of a list are not named by any group and have the same counts.
    let alike = |one: &AgentRecords, next: &AgentRecords| {
        (&one.reasons_of, &one.usage) == (&next.reasons_of, &next.usage)
    };
    let alike = agents.chunk_by(alike);
    let alike: Vec<(String, &AgentRecords)> =
        alike.map(|alike| (names(alike.iter().map(|it| escaped(&it.agent))), &alike[0])).collect();
    writeln!(out, "\n## Decisions by agent\n\n| agent | verdict | reason | records |")?;
    writeln!(out, "|---|---|---|---:|")?;
    for (names, agent) in &alike {
        for (verdict, reasons) in &agent.reasons_of.0 {
            for (reason, records) in &reasons.0 {
                writeln!(out, "| {names} | {verdict} | {reason} | {} |", grouped(*records))?;
            }
        }
    }
    if agents.iter().all(|agent| agent.usage.is_none()) {
        return Ok(());
    }
    writeln!(out, "\n## Use by agent\n\n| agent | label | y | n | ? | - |")?;
    writeln!(out, "|---|---|---:|---:|---:|---:|")?;
    for (names, agent) in &alike {
        for (label, counts) in agent.usage.iter().flat_map(|it| &it.0) {
            let counts = ["y", "n", "?", "-"].map(|it| grouped(counts.get(it)));
            writeln!(out, "| {names} | {label} | {} |", counts.join(" | "))?;
        }
    }
    writeln!(out, "\ny: permitted, n: not permitted, ?: not stated, -: no access.")
}

/// Agents that are named before the others are counted.
const AGENTS_NAMED: usize = 10;

/// Joins the names of agents. Of many, the first are named and the others counted.
fn names(agents: impl ExactSizeIterator<Item = String>) -> String {
    // One more name is no longer than its count.
    let has_one_more = agents.len() == AGENTS_NAMED + 1;
    joined(agents, AGENTS_NAMED + usize::from(has_one_more))
}

/// Describes which records are kept.
fn describe(plan: &Plan) -> String {
    let Plan { quantifier, keeps, unknown, invalid, pages, purpose, unstated, purpose_tokens } =
        plan;
    let agents = match quantifier {
        Quantifier::All => "all agents",
        Quantifier::Any => "any agent",
    };
    let mut text = format!("records that are {keeps} for {agents}");
    if let (Some(label), Some(unstated)) = (purpose, unstated) {
        text += &format!(", and may be used for {label} (not stated: {unstated}");
        match purpose_tokens {
            0 => text.push(')'),
            1 => text += "; the last agent is a token of the purpose)",
            tokens => text += &format!("; the last {tokens} agents are tokens of the purpose)"),
        }
    }
    text + &format!("; unknown: {unknown}; not a URL: {invalid}; pages: {pages}")
}

fn write_drops(records: u64, kept: u64, dropped: &Figures, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n## Records\n\n| records | number | share |\n|---|---:|---:|")?;
    let mut row = |what: &str, count: u64| {
        writeln!(out, "| {what} | {} | {:.2} % |", grouped(count), percent(count, records))
    };
    row("read", records)?;
    row("kept", kept)?;
    causes(dropped)
        .try_for_each(|(cause, count)| row(&format!("dropped: {}", cause.describe()), count))
}

/// Returns the causes for which records are not kept, with their numbers.
fn causes(dropped: &Figures) -> impl Iterator<Item = (Cause, u64)> {
    let causes = Cause::ALL.map(|cause| (cause, dropped.get(cause.as_str())));
    causes.into_iter().filter(|(_, count)| *count > 0)
}

/// Returns a text without characters that Markdown or a terminal would interpret.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in visible(text).to_string().chars() {
        if character.is_ascii_punctuation() && !"-.,:/@+()".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_relative_to_the_running_time() {
        let time = |running| Time::new(Duration::ZERO, running, 2, Some(50));
        let half = time(Duration::from_millis(500));
        assert_eq!((half.records_per_second, half.bytes_per_second), (4, Some(100)));
        assert_eq!(time(Duration::ZERO).records_per_second, 0, "no time passed");
    }
}
