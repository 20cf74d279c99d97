//! `portcullis diff`: the changes between two policy sets, or between two robots.txt files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use portcullis_build::{LoadConfig, LoadError, LoadNote, load, load_text, read_text};
use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_dialect::usage::Label;
use portcullis_files::kind::{FileKind, is_mostly_text};
use portcullis_lint::analysis::{Budget, FileComparison, Grouped, RobotComparison, robots_named};
use portcullis_report::account::format;
use portcullis_report::{Account, Figures, InvalidRecords, NoRecords, PolicyFacts, Run, Time};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::Crawler;
use portcullis_robots::syntax::{OtherRecord, RobotsTxt};
use portcullis_rows::output::Encoded;
use portcullis_rows::output::columns::Field;
use portcullis_set::batch::Classifier;
use portcullis_set::{PolicySet, SetError};
use portcullis_survey::changes::urls::{UrlCounts, compare_chunk};
use portcullis_survey::changes::{self, Answer};
use portcullis_survey::difference::{self, ChangeCounts, each_change};
use portcullis_text::figures::{self, grouped};
use portcullis_text::json::to_json;
use portcullis_text::visible::visible;
use serde::Serialize;

use super::agents::AgentNotes;
use super::args::DiffArgs;
use super::engine::{check_files, classifier, show_notes, texts_of};
use super::exit::ExitStatus;
use super::files::Files;
use super::mapped;
use super::message::{Notes, say};
use super::output::{CompleteOutput, OutputFile, SummaryForm, is_closed_pipe};
use super::plan::{self, QuestionPlan, StreamPlan, SummaryPlan};
use super::rows::{ROW_GROUPS, RowFile};
use super::stream;
use super::summary;
use super::table::{self, Rows};
use super::values::{Format, SetAt};

/// The number of paths for each crawler, unless a flag says otherwise.
const TOP: usize = 10;
/// The name of the crawlers that no file names.
const UNNAMED: &str = "*";

/// A comparison to make.
struct Diff {
    /// The times as of which both sides are compared.
    times: [Option<UnixSeconds>; 2],
    questions: QuestionPlan,
    labels: Vec<Label>,
    /// How robots.txt files are read.
    config: LoadConfig,
    /// The rows for each crawler of two files, at most.
    paths_max: usize,
    /// The lists of URLs; `None` to compare origins.
    stream: Option<StreamPlan>,
    format: Format,
    output: OutputFile,
    summary: SummaryPlan,
    started: Instant,
}

pub fn run(args: DiffArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let DiffArgs { old, new, usage, text, strict, reading, run, .. } = args;
    let output = args.output.output.unwrap_or_default();
    let format = plan::format(args.format, &output, Format::TABLES)?;
    let questions = plan::questions(args.agents, &reading, None)?;
    let has_urls = !args.files.is_empty();
    ensure!(!has_urls || !questions.names_nobody(), "comparing URLs requires -a AGENT");
    let labels = plan::labels(usage)?;
    ensure!(labels.is_empty() || !questions.names_nobody(), "--usage requires -a AGENT");
    ensure!(
        labels.is_empty() || has_urls,
        "--usage compares what may be done with URLs; pass FILE, a list of URLs, or run survey on both sets and \
         compare the columns"
    );
    let of_lists = reading.given().or(args.rejects.rejects.is_some().then_some("--rejects"));
    if let Some(flag) = of_lists.filter(|_| !has_urls) {
        bail!("{flag} is for lists of URLs: pass one as FILE");
    }
    let strictness = strict.strictness();
    let mut stream = None;
    if has_urls {
        let (rejects, prints) = (args.rejects, output.is_dash());
        let plan = plan::stream(reading, files, rejects, &questions, &run, strictness, prints)?;
        let shows_cuts = format == Format::Parquet;
        let chunks = if shows_cuts { ROW_GROUPS } else { questions.chunks() };
        stream = Some(StreamPlan { shows_cuts, chunks, ..plan });
    }
    let robots_bytes_max = text.bytes_max();
    let config = LoadConfig { robots_bytes_max, strictness, ..LoadConfig::new(text.dialect()) };
    let diff = Diff {
        times: [old.time, new.time],
        questions,
        labels,
        config,
        paths_max: args.top.top.unwrap_or(TOP),
        stream,
        format,
        output,
        summary: plan::summary(&run)?,
        started,
    };
    match (open(&old)?, open(&new)?) {
        (Some(old), Some(new)) => {
            ensure!(text.dialect.is_none(), "a policy set has its own dialect; omit --dialect");
            ensure!(
                text.max_robots_size.is_none(),
                "a policy set has its own size limit; omit --max-robots-size"
            );
            ensure!(args.top.top.is_none(), "-n limits the paths of two robots.txt files; omit it");
            check_files(&old, strictness)?;
            check_files(&new, strictness)?;
            diff.sets(&old, &new, Vec::new())
        }
        // Each file applies to every URL of the lists.
        (None, None) if diff.stream.is_some() => {
            let mut notes = Vec::new();
            let [old, new] = [diff.load(&old.path, &mut notes)?, diff.load(&new.path, &mut notes)?];
            diff.sets(&old, &new, notes)
        }
        (None, None) => diff.files([&old.path, &new.path]),
        (one, _) => {
            let (file, set) = if one.is_none() { (old, new) } else { (new, old) };
            bail!(
                "{} is not a policy set, and {} is one; pass two sets (see `portcullis compile`) or two \
                 robots.txt files",
                file.path.display(),
                set.path.display()
            )
        }
    }
}

/// Opens a policy set, or returns `None` if the file is text or may hold text.
fn open(SetAt { path, time }: &SetAt) -> anyhow::Result<Option<Arc<PolicySet>>> {
    match mapped::set(path) {
        Ok(set) => {
            ensure!(time.is_none() || set.has_history(), plan::no_history(&set));
            Ok(Some(set.into()))
        }
        Err(SetError::NotASet(wrong))
            // Binary data may be a damaged set, whose rules a robots.txt would not have.
            if !wrong.kind.is_no_robots_txt()
                && (wrong.kind != FileKind::Binary || has_stray_bytes_alone(path))
                || matches!(wrong.kind, FileKind::Gzip | FileKind::Zstd | FileKind::Special) =>
        {
            ensure!(
                time.is_none(),
                "{}: not a policy set, and only a set has times; omit @TIME",
                path.display()
            );
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the binary data at `path` is text with a few stray bytes; `false` if it cannot be read,
/// or is too long. All of it is judged: the rest of a set may begin with the texts that it stores.
fn has_stray_bytes_alone(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let seen = BODY_BYTES_MAX as u64 + 1;
    let read = File::open(path).and_then(|file| file.take(seen).read_to_end(&mut bytes));
    read.is_ok() && bytes.len() <= BODY_BYTES_MAX && is_mostly_text(&bytes)
}

/// The results of a comparison, and its outputs: the table, complete but for the account of a Parquet file,
/// and that of --rejects.
type Outcome = (Differences, RowFile, Option<CompleteOutput>);

impl Diff {
    /// Compares two sets. `notes` are those on the files of which they were made.
    fn sets(
        &self,
        old: &Arc<PolicySet>,
        new: &Arc<PolicySet>,
        mut notes: Vec<String>,
    ) -> anyhow::Result<ExitStatus> {
        let of_agents = AgentNotes::of(&self.questions, new)?;
        of_agents.show(self.summary.form);
        let agents = &of_agents.run.agents;
        ensure!(
            AgentNotes::of(&self.questions, old)?.run.agents == *agents,
            "the dialects of the two sets have different product tokens; name agents that both have"
        );
        for note in readings_that_differ([old, new]) {
            if !self.summary.form.hides_notes() {
                say(format_args!("note: {note}"));
            }
            notes.push(note);
        }
        let mut stream = self.stream.clone();
        let outcome = match &mut stream {
            None => self.origins(agents, old, new)?,
            Some(stream) => self.urls(agents, stream, (old, new))?,
        };
        old.is_whole()?;
        new.is_whole()?;
        notes.extend_from_slice(&of_agents.notes);
        notes.extend(stream.into_iter().flat_map(|stream| stream.notes.kept));
        let [from, to] = self.times;
        let old = Side { policies: PolicyFacts::of(old), at: from };
        let new = Side { policies: PolicyFacts::of(new), at: to };
        self.finish(of_agents.run.clone(), notes, [old, new], outcome)
    }

    /// Completes the outputs, and writes the summary.
    fn finish(
        &self,
        run: Run,
        notes: Vec<String>,
        [old, new]: [Side; 2],
        (found, table, rejects): Outcome,
    ) -> anyhow::Result<ExitStatus> {
        let account = Account { run, notes, ..Account::default() };
        let mut summary = DiffSummary { format: format::DIFF, account, old, new, found };
        // Equal inputs make equal files, which have no time.
        let table = match table.complete(to_json(&summary)) {
            // Without a row, only the header was left to write.
            Err(error) if is_closed_pipe(&error) => None,
            complete => Some(complete?),
        };
        CompleteOutput::publish_all(table.into_iter().chain(rejects))?;
        let (compared, changed) = summary.found.counts(&summary.old);
        let time = Time::new(Duration::ZERO, self.started.elapsed(), compared, None);
        summary.account.time = Some(time);
        summary::write(&self.summary, &summary)?;
        Ok(if changed > 0 { ExitStatus::Negative } else { ExitStatus::Done })
    }

    /// Begins a table of rows that this thread makes.
    fn rows(&self, fields: Vec<Field>) -> anyhow::Result<Rows> {
        let output = table::open(self.format, &self.output)?.until_closed();
        Rows::begin(output, self.format, fields)
    }

    /// Compiles the robots.txt at `path`.
    fn load(&self, path: &Path, notes: &mut Vec<String>) -> anyhow::Result<Arc<PolicySet>> {
        let loaded = load(path, &self.config)?;
        self.note(&loaded.notes, loaded.note_count(), notes);
        Ok(loaded.set.into())
    }

    /// Shows the first of `count` notes on a file, and keeps them for the account.
    fn note(&self, notes: &[LoadNote], count: u64, kept: &mut Vec<String>) {
        show_notes(notes, count, self.summary.form);
        kept.extend(texts_of(notes, count));
    }

    /// Writes the origins that changed.
    fn origins(
        &self,
        agents: &[String],
        old: &Arc<PolicySet>,
        new: &Arc<PolicySet>,
    ) -> anyhow::Result<Outcome> {
        let side = |set: &Arc<PolicySet>, time| {
            let agents = self.questions.agents(set.dialect())?;
            anyhow::Ok(difference::Side::new(set, agents, time)?)
        };
        let [from, to] = self.times;
        let sides = [side(old, from)?, side(new, to)?];
        let mut rows = self.rows(changes::origin_fields(!agents.is_empty()))?;
        let changes = each_change(&sides, |change| {
            changes::push_origin(&change, agents, &mut rows.added);
            rows.write_many()
        })?;
        let changed =
            |(agent, &rules): (&String, &u64)| AgentRulesChanged { agent: agent.clone(), rules };
        let per_agent = agents.iter().zip(&changes.rules_by_agent).map(changed).collect();
        Ok((Differences::Origins { changes, per_agent }, rows.end()?, None))
    }

    /// Writes the URLs whose verdict changed.
    fn urls(
        &self,
        agents: &[String],
        stream: &mut StreamPlan,
        (old, new): (&Arc<PolicySet>, &Arc<PolicySet>),
    ) -> anyhow::Result<Outcome> {
        let classifier = |set, time| -> anyhow::Result<Arc<Classifier>> {
            let classifier = classifier(set, &self.questions)?;
            Ok(classifier.with_usage(&self.labels).as_of(time).into())
        };
        let [from, to] = self.times;
        let (old, new) = (classifier(old, from)?, classifier(new, to)?);
        let session = |classifier| self.questions.session(classifier);
        let none = UrlCounts::new(agents, &self.labels);
        let mut counts = none.clone();
        let fields = changes::url_fields(!self.labels.is_empty());
        let output = table::open(self.format, &self.output)?;
        let terminator = stream.lists.terminator;
        let (encoder, mut table) = table::begin(output, self.format, fields, terminator)?;
        let (invalid, rejects) = stream::run(
            stream,
            &self.questions,
            || (session(&old), session(&new)),
            |(old, new), piece, (counts, block): &mut (UrlCounts, Encoded)| {
                counts.clone_from(&none);
                let mut added = encoder.none();
                compare_chunk(piece, agents, (old, new), counts, &mut added)?;
                *block = encoder.encode_all(&mut added)?;
                Ok(())
            },
            |_, (chunk, block)| {
                counts.merge(chunk);
                table.write(block)
            },
        )?;
        ensure!(counts.records > 0, "no URL to compare; did a download fail?");
        if counts.are_unknown() {
            stream.notes.add("no URL is known to either set: all are unknown in both".to_owned());
        }
        Ok((Differences::Urls { counts, invalid: invalid.into() }, table, rejects))
    }

    /// Compares two robots.txt files for the given agents, or for every crawler.
    fn files(&self, paths: [&PathBuf; 2]) -> anyhow::Result<ExitStatus> {
        let config = &self.config;
        let (dialect, bytes_max) = (config.dialect, config.robots_bytes_max);
        let are_hidden = self.summary.form == SummaryForm::Json;
        let mut notes = Notes { are_hidden, kept: Vec::new() };
        let mut read = |path: &Path| -> Result<Vec<u8>, LoadError> {
            let (text, found) = read_text(path, config)?;
            self.note(&found, found.len() as u64, &mut notes.kept);
            Ok(text)
        };
        let texts = [read(paths[0])?, read(paths[1])?];
        let sets = texts.each_ref().map(|text| load_text(text, config));
        AgentNotes::of(&self.questions, &sets[1])?.show(self.summary.form);
        let [old, new] = texts.each_ref().map(|text| RobotsTxt::parse(text, dialect, bytes_max));
        let (agents, unnamed) = match self.questions.names_nobody() {
            true => (robots_named(&[&old, &new], dialect), Some(None)),
            false => (self.questions.agents(dialect)?, None),
        };
        records_that_differ([&old, &new]).for_each(|note| notes.add(note.to_owned()));
        let mut rows = self.rows(changes::file_fields())?;
        let mut answers = [0; Answer::ALL.len()];
        // The first agent with an unknown answer.
        let mut limited = None;
        let files = [&old, &new];
        let sides = files.map(|file| Grouped::new(file, dialect));
        let mut budget = Budget::default();
        let mut comparison = FileComparison::new(sides.each_ref(), &mut budget);
        // Crawlers with the same result share rows, in the order of the first of each.
        let mut alike: Vec<(RobotComparison, Vec<&str>)> = Vec::new();
        let mut known: HashMap<RobotComparison, usize> = HashMap::new();
        for robot in agents.iter().map(Some).chain(unnamed) {
            let found = comparison.robot(robot);
            let agent = robot.map_or(UNNAMED, Crawler::name);
            match known.get(&found) {
                Some(&place) => alike[place].1.push(agent),
                None => {
                    known.insert(found.clone(), alike.len());
                    alike.push((found.clone(), vec![agent]));
                }
            }
            let answer = Answer::of(&found.differences);
            answers[answer as usize] += 1;
            if answer == Answer::Unknown {
                limited.get_or_insert_with(|| agent.to_owned());
            }
        }
        for (found, agents) in &alike {
            let names = agents.join(",");
            changes::push_file(&names, files, found, self.paths_max, &mut rows.added);
            rows.write_many()?;
        }
        let names = agents.iter().map(|agent| agent.name().to_owned()).collect();
        let run = Run { agents: names, ..Run::default() };
        let sides = [0, 1].map(|side| {
            let facts = PolicyFacts::of(&sets[side]);
            let policies = PolicyFacts { name: paths[side].display().to_string(), ..facts };
            Side { policies, at: None }
        });
        let is_different = answers[Answer::Different as usize] > 0;
        let answers = Figures::of(Answer::ALL, Answer::as_str, |it| answers[it as usize]);
        let outcome = (Differences::Files { answers }, rows.end()?, None);
        let status = self.finish(run, notes.kept, sides, outcome)?;
        match limited {
            Some(first) if !is_different => bail!(
                "cannot tell whether the files give the same verdicts for {first}: a limit ended the \
                 comparison; compare smaller files, or compile policy sets and compare them on your \
                 URLs"
            ),
            _ => Ok(status),
        }
    }
}

/// The results of a comparison.
#[derive(Serialize)]
struct DiffSummary {
    format: &'static str,
    account: Account<NoRecords>,
    old: Side,
    new: Side,
    #[serde(flatten)]
    found: Differences,
}

/// A set or a file to compare.
#[derive(Serialize)]
struct Side {
    #[serde(flatten)]
    policies: PolicyFacts,
    /// The time as of which the set is compared.
    at: Option<UnixSeconds>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Differences {
    Origins {
        changes: ChangeCounts,
        per_agent: Vec<AgentRulesChanged>,
    },
    Urls {
        #[serde(flatten)]
        counts: UrlCounts,
        invalid: Box<InvalidRecords>,
    },
    /// The answers for the crawlers.
    Files {
        answers: Figures,
    },
}

#[derive(Serialize)]
struct AgentRulesChanged {
    agent: String,
    rules: u64,
}

impl Differences {
    /// Returns how many records, origins or crawlers were compared, and how many changed.
    fn counts(&self, old: &Side) -> (u64, u64) {
        match self {
            Differences::Origins { changes, .. } => {
                (old.policies.origins.unwrap_or(1), changes.changed.sum())
            }
            Differences::Urls { counts, .. } => (counts.records, counts.changed()),
            Differences::Files { answers } => {
                (answers.sum(), answers.get(Answer::Different.as_str()))
            }
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Differences::Origins { changes, per_agent } => {
                let changed = changes.changed.0.iter();
                let changed =
                    changed.map(|(change, origins)| format!("{change} {}, ", grouped(*origins)));
                let changed: String = changed.collect();
                writeln!(out, "origins: {changed}unchanged {}", grouped(changes.unchanged))?;
                for AgentRulesChanged { agent, rules } in per_agent {
                    writeln!(out, "{}: rules {rules}", visible(agent))?;
                }
                Ok(())
            }
            Differences::Urls { counts, invalid, .. } => {
                counts.write_text(out)?;
                invalid.write_text(out)
            }
            Differences::Files { answers } => writeln!(out, "crawlers: {answers}"),
        }
    }
}

/// Returns a note on each kind of records that two files have differently, and that no verdict shows.
fn records_that_differ(files: [&RobotsTxt<'_>; 2]) -> impl Iterator<Item = &'static str> {
    let [old, new] = files.map(|file| {
        let usage = file.usage_records().iter().map(|it| (it.field, it.value, it.user_agent));
        // A sitemap is of no crawler, and a Crawl-delay of those of its group.
        let crawler = |it: &OtherRecord<'_>| {
            let line = file.user_agent_before(it.line).filter(|_| it.field.is_none())?;
            let group = &file.groups()[file.group_of(line)];
            let names = file.user_agents_of(group).iter().map(|it| it.value.to_ascii_lowercase());
            let mut names: Vec<_> = names.collect();
            names.sort_unstable();
            names.dedup();
            Some(names)
        };
        let other =
            |it: &OtherRecord<'_>| (it.name.to_ascii_lowercase(), it.value.to_vec(), crawler(it));
        let mut others: Vec<_> = file.other_records().iter().map(other).collect();
        others.sort_unstable();
        (usage.collect::<Vec<_>>(), others)
    });
    let usage = "the usage records of the files differ, and only verdicts are compared; \
                 `portcullis survey --robots FILE` shows preferences";
    let others = "other records of the files differ, such as Crawl-delay or Sitemap, and only verdicts are \
                  compared; `portcullis survey --robots FILE -a AGENT` shows delays, with --sitemaps the sitemaps";
    let differ = [(old.0 != new.0, usage), (old.1 != new.1, others)];
    differ.into_iter().filter_map(|(differs, note)| differs.then_some(note))
}

/// Returns a note on each way in which two sets read robots.txt differently.
fn readings_that_differ(sets: [&PolicySet; 2]) -> impl Iterator<Item = String> {
    let readings = sets.map(|set| {
        let size = set.robots_bytes_max().map(|bytes| format!("{bytes} bytes"));
        let size = size.unwrap_or("unlimited".to_owned());
        [("dialects", set.dialect().name.to_owned()), ("size limits", size)]
    });
    let [old, new] = readings;
    let pairs = old.into_iter().zip(new).filter(|(old, new)| old != new);
    pairs.map(|((what, old), (_, new))| {
        format!("the {what} differ, {old} and {new}; verdicts may change for this reason")
    })
}

impl summary::Summary for DiffSummary {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let (version, time) = (self.account.version, self.account.time.unwrap_or_default());
        writeln!(out, "portcullis {version}, {}", figures::seconds(time.seconds))?;
        for (side, Side { policies, at }) in [("old", &self.old), ("new", &self.new)] {
            let at = at.map_or_else(String::new, |time| format!(", as of {}", time.to_rfc3339()));
            writeln!(out, "{side}: {}, {policies}{at}", visible(&policies.name))?;
        }
        self.found.write_text(out)
    }
}
