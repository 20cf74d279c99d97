//! `portcullis diff`: the changes between two policy sets, or between two robots.txt files.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, ensure};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_io::access::DateSpan;
use portcullis_lint::analysis::{
    AgentRules, AnalysisLimits, Equivalence, Robot, equivalence, robots_named,
};
use portcullis_report::InvalidRecords;
use portcullis_report::difference::files::{Answer, Compared, write_json, write_tsv};
use portcullis_report::difference::origins;
use portcullis_report::difference::urls::{self, JsonLines, Tsv, Turns, UrlCounts};
use portcullis_robots::kind::FileKind;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::visible::visible;
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::read_text;
use portcullis_set::{ChangeCounts, Difference, LoadConfig, LoadError, PolicySet, SetError};
use serde::{Serialize, Serializer};

use super::agents::AgentNotes;
use super::args::{
    DiffArgs, DiffFormat, InputArgs, QuestionArgs, ReadingArgs, RejectArgs, UrlArgs,
};
use super::engine::{classifier, show_notes};
use super::exit::ExitStatus;
use super::mapped;
use super::message::counted;
use super::output::{Destination, Output};
use super::plan::{self, QuestionPlan, StreamPlan, SummaryForm};
use super::rejects::Account;
use super::stream;
use super::summary;

/// The size at which collected lines are written, in bytes.
const WRITE_BYTES: usize = 64 * 1024;

/// The name of the robots that no file names.
const UNNAMED: &str = "*";

/// A comparison to make.
struct Diff<'a> {
    args: &'a DiffArgs,
    questions: QuestionPlan,
    labels: Vec<Label>,
    /// The lists of URLs; `None` to compare origins.
    stream: Option<StreamPlan>,
    format: DiffFormat,
    output: Destination,
    summary: SummaryForm,
    started: Instant,
}

pub fn run(mut args: DiffArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let output = Destination::new(args.output.output.take());
    let questions = QuestionArgs {
        agents: std::mem::take(&mut args.agents),
        urls: UrlArgs { assume_scheme: args.urls.assume_scheme.take() },
    };
    let questions = plan::questions(questions, &args.memory, None)?;
    let files = std::mem::take(&mut args.files);
    let has_urls = !files.is_empty();
    ensure!(!has_urls || !questions.names_nobody(), "comparing URLs requires -a AGENT");
    let labels = plan::labels(std::mem::take(&mut args.usage))?;
    ensure!(labels.is_empty() || !questions.names_nobody(), "--usage requires -a AGENT");
    let (reading, rejects) = (std::mem::take(&mut args.reading), args.rejects.rejects.take());
    ensure!(
        has_urls || reading == ReadingArgs::default() && rejects.is_none(),
        "flags about lists require FILE"
    );
    let (input, rejects) = (InputArgs { files, reading }, RejectArgs { rejects });
    let prints = output == Destination::StandardOutput;
    let mut stream =
        has_urls.then(|| plan::stream(input, rejects, &args.run, prints)).transpose()?;
    if let Some(stream) = &mut stream {
        stream.chunks = questions.chunks();
    }
    let diff = Diff {
        questions,
        labels,
        stream,
        format: plan::format(args.format, &output, DiffFormat::NAMED)?,
        output,
        summary: plan::summary_form(&args.run),
        started,
        args: &args,
    };
    let one_of_each = |file: &Path, set: &Path| {
        format!(
            "{} is not a policy set, and {} is one; pass two sets (see `portcullis compile`) or two \
             robots.txt files",
            file.display(),
            set.display()
        )
    };
    match (open(&args.old)?, open(&args.new)?) {
        (Some(old), Some(new)) => {
            ensure!(
                args.text.dialect.is_none() && args.text.max_robots_size.is_none(),
                "a policy set has its own dialect and size limit; omit --dialect and --max-robots-size"
            );
            diff.sets(&old, &new)
        }
        // Each file applies to every URL of the lists.
        (None, None) if diff.stream.is_some() => {
            diff.sets(&diff.load(&args.old)?, &diff.load(&args.new)?)
        }
        (None, None) => {
            ensure!(
                diff.labels.is_empty(),
                "--usage compares policy sets, or robots.txt files on a list of URLs; pass FILE, or compile \
                 both (see `portcullis compile`)"
            );
            diff.files()
        }
        (None, Some(_)) => bail!(one_of_each(&args.old, &args.new)),
        (Some(_), None) => bail!(one_of_each(&args.new, &args.old)),
    }
}

/// Opens the policy set at `path`, or returns `None` if the file is text or may hold text.
fn open(path: &Path) -> anyhow::Result<Option<Arc<PolicySet>>> {
    match mapped::set(path) {
        Ok(set) => Ok(Some(set.into())),
        Err(SetError::NotASet(wrong))
            if !wrong.kind.is_no_robots_txt()
                || matches!(wrong.kind, FileKind::Gzip | FileKind::Zstd | FileKind::Special) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// The output for a chunk.
#[derive(Default)]
struct Changed {
    bytes: Vec<u8>,
    counts: UrlCounts,
}

impl Diff<'_> {
    fn sets(&self, old: &Arc<PolicySet>, new: &Arc<PolicySet>) -> anyhow::Result<ExitStatus> {
        let notes = AgentNotes::of(&self.questions, new)?;
        notes.show(self.summary);
        let agents = notes.agents;
        ensure!(
            AgentNotes::of(&self.questions, old)?.agents == agents,
            "the dialects of the two sets have different product tokens; name agents that both have"
        );
        let mut output = Output::open(&self.output)?;
        let mut rejects = None;
        let (found, changed) = match &self.stream {
            None => {
                let counts = self.origins(&agents, old, new, &mut output)?;
                (Found::origins(&counts, &agents, &self.labels), counts.changed())
            }
            Some(stream) => {
                let (counts, account) = self.urls(&agents, stream, old, new, &mut output)?;
                rejects = account.output;
                (Found::urls(&counts, account.invalid, &agents, &self.labels), counts.changed())
            }
        };
        old.is_whole()?;
        new.is_whole()?;
        Output::finish_all([Some(output), rejects].into_iter().flatten())?;
        let summary = SetSummary::new(old, new, &agents, found, self.started);
        summary::show_object(self.summary, &summary, |text| summary.write_text(text));
        Ok(self.status(changed > 0))
    }

    /// Returns the configuration for reading robots.txt files.
    fn load_config(&self) -> LoadConfig {
        LoadConfig {
            robots_bytes_max: self.args.text.bytes_max(),
            strictness: plan::strictness(self.args.strict.strict, false),
            ..LoadConfig::new(self.args.text.dialect())
        }
    }

    /// Compiles the robots.txt at `path` for the agents.
    fn load(&self, path: &Path) -> anyhow::Result<Arc<PolicySet>> {
        let config = self.load_config();
        let agents = Some(self.questions.agents(config.dialect)?.into());
        let usage = !self.labels.is_empty();
        let loaded = PolicySet::load(path, &LoadConfig { agents, usage, ..config })?;
        show_notes(&loaded.notes, loaded.note_count());
        Ok(loaded.set.into())
    }

    fn status(&self, is_different: bool) -> ExitStatus {
        match self.args.fail.fail && is_different {
            true => ExitStatus::Negative,
            false => ExitStatus::Done,
        }
    }

    /// Writes the origins that changed.
    fn origins(
        &self,
        agents: &[String],
        old: &Arc<PolicySet>,
        new: &Arc<PolicySet>,
        output: &mut Output,
    ) -> anyhow::Result<ChangeCounts> {
        let chains = |set: &PolicySet| self.questions.agents(set.dialect());
        let difference = match agents.is_empty() {
            true => Difference::new(old, new),
            false => Difference::for_agents((old, chains(old)?), (new, chains(new)?))?
                .with_usage(&self.labels),
        };
        let asked = origins::Asked { agents, usage: !self.labels.is_empty() };
        let write = match self.format {
            DiffFormat::Tsv => origins::write_tsv,
            DiffFormat::Jsonl => origins::write_json,
        };
        let mut changes = difference.changes();
        let mut bytes = Vec::new();
        for change in changes.by_ref() {
            write(&change?, asked, &mut bytes);
            if bytes.len() >= WRITE_BYTES {
                output.write(&bytes)?;
                bytes.clear();
            }
        }
        output.write(&bytes)?;
        Ok(changes.counts().clone())
    }

    /// Writes the URLs whose verdict changed.
    fn urls(
        &self,
        agents: &[String],
        stream: &StreamPlan,
        old: &Arc<PolicySet>,
        new: &Arc<PolicySet>,
        output: &mut Output,
    ) -> anyhow::Result<(UrlCounts, Account)> {
        let classifier = |set| -> anyhow::Result<Arc<Classifier>> {
            let classifier = classifier(set, &self.questions)?;
            Ok(classifier.with_usage(&self.labels).into())
        };
        let (old, new) = (classifier(old)?, classifier(new)?);
        let scheme = self.questions.assumed_scheme.as_deref();
        let session = |classifier: &Arc<Classifier>| Session::new(Arc::clone(classifier), scheme);
        let none = UrlCounts::new(agents.len(), self.labels.len());
        let mut counts = none.clone();
        let account = stream::run_with(
            stream,
            &self.questions,
            || (session(&old), session(&new)),
            |(old, new), piece, changed: &mut Changed| {
                changed.bytes.clear();
                changed.counts = none.clone();
                let (Changed { bytes, counts }, sessions) = (changed, (old, new));
                match self.format {
                    DiffFormat::Tsv => {
                        let usage = !self.labels.is_empty();
                        let form = Tsv { terminator: stream.terminator(), usage };
                        urls::write_chunk(piece, agents, sessions, &form, counts, bytes)?;
                    }
                    DiffFormat::Jsonl => {
                        urls::write_chunk(piece, agents, sessions, &JsonLines, counts, bytes)?;
                    }
                }
                Ok(())
            },
            |_, changed| {
                counts.merge(&changed.counts);
                Ok(output.write(&changed.bytes)?)
            },
        )?;
        Ok((counts, account))
    }

    /// Compares two robots.txt files for the given agents, or for every robot.
    fn files(&self) -> anyhow::Result<ExitStatus> {
        let DiffArgs { old: old_path, new: new_path, .. } = self.args;
        let config = self.load_config();
        let (dialect, bytes_max) = (config.dialect, config.robots_bytes_max);
        let read = |path: &Path| -> Result<Vec<u8>, LoadError> {
            let (text, notes) = read_text(path, &config)?;
            show_notes(&notes, notes.len() as u64);
            Ok(text)
        };
        let texts = [read(old_path)?, read(new_path)?];
        let [old, new] = texts.each_ref().map(|text| RobotsTxt::parse(text, dialect, bytes_max));
        let (agents, unnamed) = match self.questions.names_nobody() {
            true => (robots_named(&[&old, &new], dialect), Some(Robot::Unnamed)),
            false => (self.questions.agents(dialect)?, None),
        };
        let mut output = Output::open(&self.output)?;
        let mut answers = Answers::default();
        // Robots with the same groups have the same answer.
        let mut known: HashMap<[Vec<usize>; 2], Equivalence> = HashMap::new();
        for robot in agents.iter().map(Robot::Agent).chain(unnamed) {
            let [old, new] = [&old, &new].map(|file| AgentRules::new(file, robot, dialect));
            let groups = [&old, &new].map(|side| side.selection().groups.clone());
            let compare = || equivalence(old.rules(), new.rules(), &AnalysisLimits::default());
            let equivalence = known.entry(groups).or_insert_with(compare);
            let agent = match robot {
                Robot::Agent(agent) => agent.name(),
                Robot::Unnamed => UNNAMED,
            };
            let compared = Compared { agent, old: &old, new: &new, equivalence };
            let mut bytes = Vec::new();
            match self.format {
                DiffFormat::Tsv => write_tsv(&compared, &mut bytes),
                DiffFormat::Jsonl => write_json(&compared, &mut bytes),
            }
            output.write(&bytes)?;
            answers.add(agent, Answer::of(equivalence));
        }
        output.finish()?;
        let file = |path: &Path, file: &RobotsTxt<'_>| FileObject {
            name: path.display().to_string(),
            groups: file.groups().len(),
            rules: file.rules().len(),
            notes: file.notes().len(),
        };
        let summary = FileSummary {
            version: env!("CARGO_PKG_VERSION"),
            dialect: dialect.name,
            old: file(old_path, &old),
            new: file(new_path, &new),
            answers: &answers,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        summary::show_object(self.summary, &summary, |text| summary.write_text(text));
        match &answers.limited {
            Some(first) if answers.different == 0 => bail!(
                "cannot tell whether the files give the same verdicts for {first}: a limit ended the \
                 comparison; compare smaller files, or compile policy sets and compare them on your \
                 URLs"
            ),
            _ => Ok(self.status(answers.different > 0)),
        }
    }
}

/// The number of agents by answer.
#[derive(Default, Serialize)]
struct Answers {
    equal: u64,
    different: u64,
    unknown: u64,
    /// The first agent with an unknown answer.
    #[serde(skip)]
    limited: Option<String>,
}

impl Answers {
    fn add(&mut self, agent: &str, answer: Answer) {
        match answer {
            Answer::Equal => self.equal += 1,
            Answer::Different => self.different += 1,
            Answer::Unknown => {
                self.unknown += 1;
                self.limited.get_or_insert_with(|| agent.to_owned());
            }
        }
    }
}

#[derive(Serialize)]
struct FileObject {
    name: String,
    groups: usize,
    rules: usize,
    notes: usize,
}

/// The comparison of two files, as the members of a JSON object.
#[derive(Serialize)]
struct FileSummary<'r> {
    version: &'static str,
    dialect: &'static str,
    old: FileObject,
    new: FileObject,
    answers: &'r Answers,
    seconds: f64,
}

impl FileSummary<'_> {
    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let FileSummary { version, dialect, seconds, .. } = self;
        writeln!(out, "portcullis {version}, dialect {dialect}, {seconds:.3} s")?;
        for (side, file) in [("old", &self.old), ("new", &self.new)] {
            let FileObject { name, groups, rules, notes } = file;
            let name = visible(name);
            let groups = counted(*groups as u64, "group");
            let (rules, notes) = (counted(*rules as u64, "rule"), counted(*notes as u64, "note"));
            writeln!(out, "{side}: {name}, {groups}, {rules}, {notes}")?;
        }
        let Answers { equal, different, unknown, .. } = self.answers;
        writeln!(out, "agents: {equal} equal, {different} different, {unknown} unknown")
    }
}

/// The comparison of two sets, as the members of a JSON object.
#[derive(Serialize)]
struct SetSummary<'r> {
    version: &'static str,
    old: SetObject<'r>,
    new: SetObject<'r>,
    /// If `false`, verdicts may change for that reason alone.
    same_dialect: bool,
    same_max_robots_size: bool,
    agents: &'r [String],
    #[serde(flatten)]
    found: Found<'r>,
    seconds: f64,
}

#[derive(Serialize)]
struct SetObject<'r> {
    name: &'r str,
    set_hash: String,
    dialect: &'static str,
    /// The limit in bytes; `null` if there is none.
    max_robots_size: Option<u64>,
    origins: u64,
    capture_dates: Option<DateSpan>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found<'r> {
    Origins { changes: ChangeCounts, per_agent: Vec<AgentRulesChanged<'r>> },
    Urls { records: u64, bytes: u64, per_agent: Vec<AgentVerdicts<'r>>, invalid: InvalidRecords },
}

#[derive(Serialize)]
struct AgentRulesChanged<'r> {
    agent: &'r str,
    rules: u64,
    /// The changes by compared label.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    usage: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct AgentVerdicts<'r> {
    agent: &'r str,
    unchanged: u64,
    changed: u64,
    /// The number of each change that occurs, such as `allow to disallow`.
    #[serde(serialize_with = "as_map")]
    verdicts: Vec<(String, u64)>,
    /// The changes by compared label.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    usage: Vec<(&'static str, LabelChanges)>,
}

#[derive(Serialize)]
struct LabelChanges {
    unchanged: u64,
    changed: u64,
    /// The number of each change that occurs, such as `n to y`.
    #[serde(serialize_with = "as_map")]
    preferences: Vec<(String, u64)>,
}

fn as_map<S: Serializer, K: Serialize, V: Serialize>(
    entries: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(name, value)| (name, value)))
}

/// Returns the number of each change that occurs, named by the old and the new value.
fn turns(turns: &Turns, words: &[&str]) -> Vec<(String, u64)> {
    let pairs = (0..words.len()).flat_map(|old| (0..words.len()).map(move |new| (old, new)));
    let changed = pairs.filter(|&(old, new)| old != new && turns.from_to(old, new) > 0);
    let named = |(old, new): (usize, usize)| {
        (format!("{} to {}", words[old], words[new]), turns.from_to(old, new))
    };
    changed.map(named).collect()
}

fn write_turns(
    name: &str,
    [unchanged, changed]: [u64; 2],
    turns: &[(String, u64)],
    out: &mut impl Write,
) -> io::Result<()> {
    let turns: Vec<String> = turns.iter().map(|(turn, count)| format!("{turn} {count}")).collect();
    let list = match turns.is_empty() {
        true => String::new(),
        false => format!(" ({})", turns.join(", ")),
    };
    writeln!(out, "{name}: unchanged {unchanged}, changed {changed}{list}")
}

impl<'r> SetObject<'r> {
    fn new(set: &'r PolicySet) -> SetObject<'r> {
        SetObject {
            name: set.name(),
            set_hash: format!("{:016x}", set.hash()),
            dialect: set.dialect().name,
            max_robots_size: set.robots_bytes_max(),
            origins: set.counts().origins,
            capture_dates: set.counts().captured,
        }
    }
}

impl<'r> Found<'r> {
    fn origins(counts: &ChangeCounts, agents: &'r [String], labels: &[Label]) -> Found<'r> {
        let usage = |agent: usize| {
            let count = |label: &Label| counts.usage_by_agent[agent][*label as usize];
            labels.iter().map(|label| (label.as_str(), count(label))).collect()
        };
        let per_agent = agents.iter().zip(&counts.rules_by_agent).enumerate();
        let per_agent = per_agent.map(|(number, (agent, &rules))| AgentRulesChanged {
            agent,
            rules,
            usage: usage(number),
        });
        Found::Origins { changes: counts.clone(), per_agent: per_agent.collect() }
    }

    fn urls(
        counts: &UrlCounts,
        invalid: InvalidRecords,
        agents: &'r [String],
        labels: &[Label],
    ) -> Found<'r> {
        let label = |it: &Turns| LabelChanges {
            unchanged: it.unchanged(),
            changed: it.changed(),
            preferences: turns(it, &Preference::ALL.map(Preference::as_str)),
        };
        let per_agent = agents.iter().zip(&counts.agents).map(|(agent, changes)| AgentVerdicts {
            agent,
            unchanged: changes.verdicts.unchanged(),
            changed: changes.verdicts.changed(),
            verdicts: turns(&changes.verdicts, &Verdict::ALL.map(Verdict::as_str)),
            usage: labels
                .iter()
                .map(|it| it.as_str())
                .zip(changes.labels.iter().map(label))
                .collect(),
        });
        let UrlCounts { records, bytes, .. } = *counts;
        Found::Urls { records, bytes, per_agent: per_agent.collect(), invalid }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Found::Origins { changes, per_agent } => {
                let ChangeCounts { added, gone, state, rules, usage, unchanged, .. } = changes;
                let usage = usage.map_or(String::new(), |usage| format!("usage {usage}, "));
                writeln!(
                    out,
                    "origins: added {added}, gone {gone}, state {state}, rules {rules}, \
                     {usage}unchanged {unchanged}"
                )?;
                for AgentRulesChanged { agent, rules, usage } in per_agent {
                    write!(out, "{}: rules {rules}", visible(agent))?;
                    usage.iter().try_for_each(|(label, count)| write!(out, ", {label} {count}"))?;
                    writeln!(out)?;
                }
            }
            Found::Urls { records, bytes, per_agent, invalid } => {
                writeln!(out, "{}, {}", counted(*records, "record"), counted(*bytes, "byte"))?;
                for AgentVerdicts { agent, unchanged, changed, verdicts, usage } in per_agent {
                    let agent = visible(agent).to_string();
                    write_turns(&agent, [*unchanged, *changed], verdicts, out)?;
                    for (label, LabelChanges { unchanged, changed, preferences }) in usage {
                        let name = format!("{agent} {label}");
                        write_turns(&name, [*unchanged, *changed], preferences, out)?;
                    }
                }
                invalid.write_text(out)?;
            }
        }
        Ok(())
    }
}

impl<'r> SetSummary<'r> {
    fn new(
        old: &'r PolicySet,
        new: &'r PolicySet,
        agents: &'r [String],
        found: Found<'r>,
        started: Instant,
    ) -> SetSummary<'r> {
        let (old, new) = (SetObject::new(old), SetObject::new(new));
        SetSummary {
            version: env!("CARGO_PKG_VERSION"),
            same_dialect: old.dialect == new.dialect,
            same_max_robots_size: old.max_robots_size == new.max_robots_size,
            old,
            new,
            agents,
            found,
            seconds: started.elapsed().as_secs_f64(),
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "portcullis {}, {:.3} s", self.version, self.seconds)?;
        for (side, set) in [("old", &self.old), ("new", &self.new)] {
            let captured = summary::captured(set.capture_dates);
            let SetObject { set_hash, dialect, origins, .. } = set;
            let (name, origins) = (visible(set.name), counted(*origins, "origin"));
            writeln!(
                out,
                "{side}: {name}, set {set_hash}, dialect {dialect}, {origins}, {captured}"
            )?;
        }
        let (old, new) = (&self.old, &self.new);
        if !self.same_dialect {
            writeln!(
                out,
                "note: the dialects differ, {} and {}; verdicts may change for that reason alone",
                old.dialect, new.dialect
            )?;
        }
        if !self.same_max_robots_size {
            let size = |set: &SetObject<'_>| {
                set.max_robots_size.map_or("unlimited".to_owned(), |bytes| format!("{bytes} bytes"))
            };
            writeln!(
                out,
                "note: the size limits differ, {} and {}; verdicts may change for that reason alone",
                size(old),
                size(new)
            )?;
        }
        self.found.write_text(out)
    }
}
