//! Measures the project's goals.
//!
//! `benches/goals.toml` lists the measurements, the comparisons and the limits. [`measure`] fills
//! in values from unpacked files and lists ([`Inputs`]). Matchers are compared on the harness of
//! `portcullis bench`. Runs over files (`lists`), growth (`growth`) and hostile files (`hostile`)
//! have their own rounds. `table` renders the rows. All answers behind a value are verified: by the
//! oracle for each URL of the short lists, by counts in every timed pass over the long lists. A row
//! says WRONG if portcullis is wrong, and has no value if the other side of the comparison failed.
//!
//! Cost: a few minutes on the data for which the goals were set, mostly for the oracle and the
//! peers. Files that cannot be read or written are errors.

mod growth;
mod hostile;
mod lists;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use portcullis_bench::{
    self, BASELINE, BenchError, Cell, Corpus, Engine, EngineReport, Machine, Model, Order,
    Originals, Report, Settings, Spread, Status, UrlList,
};
use portcullis_dialect::dialect::{Dialect, GOOGLE};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_robots::policy::AgentChain;
use portcullis_set::{LoadConfig, PolicySet};
use serde::{Deserialize, Serialize};

use self::lists::Work;
use crate::system;

pub use self::hostile::{ShapeReport, TRIAL_FLAG, Trial, run as hostile_trial};

/// The agent of all measurements.
pub const AGENT: &str = "Googlebot";

/// The dialect of policies and oracle.
pub const DIALECT: &Dialect = &GOOGLE;

/// The version of the `--json` format. Incompatible changes increase it.
pub const GOALS_FORMAT: u32 = 1;

/// The goals, as data.
const GOALS: &str = include_str!("../../../goals.toml");

/// A goal: a value, and the limit that it must meet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub id: String,
    pub what: String,
    pub relation: Relation,
    pub limit: f64,
    #[serde(default = "times")]
    pub unit: String,
    /// The quantity that the value is a multiple of, or that it counts.
    pub of: String,
    #[serde(skip_serializing)]
    by: Measure,
}

fn times() -> String {
    "×".to_owned()
}

fn goals() -> Result<Vec<Goal>> {
    #[derive(Deserialize)]
    struct Table {
        goal: Vec<Goal>,
    }
    Ok(toml::from_str::<Table>(GOALS)?.goal)
}

/// The required relation of a value to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    AtLeast,
    Within,
    Under,
}

/// The source of a goal's value.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Measure {
    /// A peer's time divided by portcullis's, on the harness.
    Peer { data: Data, model: Model, order: Option<Order> },
    /// The time of `above` divided by the sum of the times of `below`. `beside` is only shown.
    Lists { above: Work, below: Vec<Work>, beside: Option<Work> },
    /// The cost with many rules divided by the cost with few rules, with a star in each rule or
    /// without.
    Rules { star: bool },
    /// The cost with many origins divided by the cost with few origins.
    Origins,
    /// The time of the slowest hostile shape.
    HostileTime,
    /// The memory of the hostile shape that takes most.
    HostileMemory,
}

/// The data set of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Data {
    /// Popular sites, each with many URLs.
    Paired,
    /// All hosts of a crawl, most with few URLs.
    Mixed,
}

/// Unpacked data.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// A folder of robots.txt files named by host.
    pub robots: PathBuf,
    pub urls: PathBuf,
    pub urls_without_policy: PathBuf,
    /// A folder of robots.txt files of popular sites.
    pub paired_robots: PathBuf,
    /// URLs of these sites, grouped by host.
    pub paired_urls: PathBuf,
    /// The folder for a few gigabytes of lists, which are deleted at the end.
    pub folder: PathBuf,
}

/// The programs that are run.
#[derive(Clone, Debug)]
pub struct Programs {
    pub portcullis: PathBuf,
    /// This program, which implements [`TRIAL_FLAG`].
    pub goals: PathBuf,
    pub wc: String,
    pub cp: String,
}

/// The duration of the measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Effort {
    pub rounds: usize,
    /// The least time of one turn.
    pub turn: Duration,
    pub seed: u64,
}

/// The sizes of the data.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sizes {
    /// The number of copies of each short list's line in the long lists.
    pub copies: usize,
    /// The numbers of rules in a group: few and many.
    pub rules: [usize; 2],
    /// The numbers of origins in a set: few and many.
    pub hosts: [u64; 2],
    /// The number of URLs for synthetic sets.
    pub urls: u64,
    pub hostile_bytes: usize,
}

impl Default for Sizes {
    /// Returns the sizes of the goals. Eleven copies of the lists for which they were set are 460
    /// MB.
    fn default() -> Sizes {
        Sizes {
            copies: 11,
            rules: [10, 100_000],
            hosts: [1_000, 1_000_000],
            urls: 1_000_000,
            hostile_bytes: ROBOTS_BYTES_MAX,
        }
    }
}

/// The table of goals.
#[derive(Clone, Debug, Serialize)]
pub struct Goals {
    pub format: u32,
    /// The versions of the compared engines, portcullis first.
    pub versions: Vec<String>,
    /// The commit, if the caller gives it.
    pub commit: Option<String>,
    /// The command line, given by the caller.
    pub command: String,
    /// The machine and the time. The load is measured at the start.
    pub machine: Machine,
    pub load_at_end: Option<String>,
    pub seconds: f64,
    pub effort: Effort,
    pub sizes: Sizes,
    pub data: Vec<String>,
    pub rows: Vec<Row>,
    pub hostile: Vec<ShapeReport>,
}

/// A goal and its outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub goal: Goal,
    pub outcome: Outcome,
}

/// The outcome of a goal.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Measured {
        value: f64,
        is_met: bool,
        #[serde(flatten)]
        behind: Behind,
    },
    #[serde(untagged)]
    Failed(Fault),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Portcullis's answers are wrong or missing.
    Wrong(String),
    /// The other side of the comparison failed.
    Absent(String),
}

/// The figures and checks behind a value.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Behind {
    pub figures: Vec<Figure>,
    /// How answers were verified.
    pub answers: String,
    /// A remark for readers.
    pub remark: Option<String>,
}

/// A figure with its unit and its spread over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    #[serde(flatten)]
    pub spread: Spread,
}

/// A value with the figures behind it, or the reason why there is none.
type Measured = Result<(f64, Behind), Fault>;

impl Figure {
    /// Returns a figure from the values of the rounds, each divided by `divisor`.
    fn of(name: &str, unit: &'static str, values: &[f64], divisor: f64) -> Figure {
        let values: Vec<f64> = values.iter().map(|value| value / divisor).collect();
        let none = Spread { median: f64::NAN, min: f64::NAN, max: f64::NAN };
        Figure { name: name.to_owned(), unit, spread: Spread::of(&values).unwrap_or(none) }
    }
}

impl Goal {
    /// Whether a value meets the limit. NaN does not.
    fn is_met(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtLeast => value >= self.limit,
            Relation::Within => value <= self.limit,
            Relation::Under => value < self.limit,
        }
    }

    /// Returns the row of a measured goal, with the placeholders in its texts replaced.
    fn row(mut self, measured: Measured, words: &[(&str, u64)]) -> Row {
        for (word, number) in words {
            for text in [&mut self.what, &mut self.of] {
                *text = text.replace(&format!("{{{word}}}"), &number.to_string());
            }
        }
        let outcome = match measured {
            Ok((value, behind)) => Outcome::Measured { value, is_met: self.is_met(value), behind },
            Err(fault) => Outcome::Failed(fault),
        };
        Row { goal: self, outcome }
    }
}

impl Row {
    /// Whether answers were wrong.
    pub fn is_wrong(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(Fault::Wrong(_)))
    }

    /// Whether there is a value that meets the goal.
    pub fn is_met(&self) -> bool {
        matches!(self.outcome, Outcome::Measured { is_met: true, .. })
    }
}

impl Goals {
    /// Whether answers were wrong in any row.
    pub fn has_wrong(&self) -> bool {
        self.rows.iter().any(Row::is_wrong)
    }

    /// Whether every goal is met.
    pub fn are_met(&self) -> bool {
        self.rows.iter().all(Row::is_met)
    }

    /// Returns the page of results in Markdown.
    pub fn markdown(&self) -> String {
        table::markdown(self)
    }

    /// Returns the goals as one JSON object.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("goals are plain data");
        json + "\n"
    }
}

/// A function that returns the engines that take part, including portcullis.
pub type Engines<'e> =
    dyn for<'c> Fn(&'c Corpus, &Settings) -> Result<Vec<Engine<'c>>, BenchError> + 'e;

/// Returns portcullis and the peers, limited to the engines that the settings name.
///
/// # Errors
///
/// If the settings name an unknown engine.
pub fn usual_engines<'c>(
    corpus: &'c Corpus,
    settings: &Settings,
) -> Result<Vec<Engine<'c>>, BenchError> {
    portcullis_bench::chosen(corpus, crate::engines::all(corpus), settings)
}

/// Measures all goals. `progress` gets a line for each step.
///
/// Compilation runs on the calling thread's rayon pool. Install a pool of one thread, so that every
/// engine uses one thread.
///
/// # Errors
///
/// If a file or program that all goals need cannot be read, written or started.
pub fn measure(
    inputs: &Inputs,
    programs: &Programs,
    (effort, sizes): (&Effort, &Sizes),
    engines: &Engines<'_>,
    progress: &dyn Fn(&str),
) -> Result<Goals> {
    ensure!(effort.rounds > 0, "nothing would be measured; ask for one round at least");
    let start = Instant::now();
    let machine = Machine::here();
    let agent = AgentChain::parse(AGENT, DIALECT)?;
    let goals = goals()?;

    progress("paired data: matchers");
    let paired = corpus(&inputs.paired_robots, &inputs.paired_urls, &agent)?;
    let paired_report = report((&goals, Data::Paired), &paired, engines, effort, progress)?;
    drop(paired);

    progress("mixed data: matchers");
    let read =
        |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let mut text = read(&inputs.urls)?;
    if text.last().is_some_and(|&byte| byte != b'\n') {
        text.push(b'\n');
    }
    text.extend(read(&inputs.urls_without_policy)?);
    let short_list = inputs.folder.join("mixed.txt");
    fs::write(&short_list, &text).with_context(|| cannot_write(&short_list))?;
    let mixed = corpus(&inputs.robots, &short_list, &agent)?;
    let mixed_report = report((&goals, Data::Mixed), &mixed, engines, effort, progress)?;

    progress("mixed data: from file to counts, filter");
    let set = compiled_set(inputs, programs)?;
    let subject = lists::Subject {
        files: &mixed.set,
        mapped: &Arc::new(system::set(&set)?),
        set: &set,
        agent: &agent,
        programs,
        folder: &inputs.folder,
    };
    let runs = lists::measure(&subject, &text, allowed(&mixed_report), (effort, sizes))?;
    drop(mixed);
    for path in [&short_list, &set] {
        fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))?;
    }

    progress("growth with rules");
    let [literal, starred] = [false, true].map(|star| growth::rules(star, sizes, effort));
    progress("growth with origins");
    let origins = growth::origins(&agent, sizes, effort, &inputs.folder)?;
    progress("hostile files");
    let hostile = hostile::measure(programs, effort, sizes);

    let words = [
        ("megabytes", runs.bytes / 1_000_000),
        ("few_rules", sizes.rules[0] as u64),
        ("many_rules", sizes.rules[1] as u64),
        ("few_hosts", sizes.hosts[0]),
        ("many_hosts", sizes.hosts[1]),
        ("hostile_kib", sizes.hostile_bytes as u64 >> 10),
    ];
    let hostile_row = |row: fn(&[ShapeReport]) -> (f64, Behind)| match &hostile {
        Ok(shapes) => Ok(row(shapes)),
        Err(fault) => Err(fault.clone()),
    };
    let row = |goal: Goal| {
        let measured = match &goal.by {
            &Measure::Peer { data, model, order } => {
                let report = if data == Data::Paired { &paired_report } else { &mixed_report };
                compared(report, Cell::of(model, order), &goal.of)
            }
            Measure::Lists { above, below, beside } => runs.compared(*above, below, *beside),
            Measure::Rules { star } => if *star { &starred } else { &literal }.clone(),
            Measure::Origins => origins.clone(),
            Measure::HostileTime => hostile_row(hostile::time),
            Measure::HostileMemory => hostile_row(hostile::memory),
        };
        goal.row(measured, &words)
    };
    let rows = goals.iter().cloned().map(row).collect();
    let version = |engine: &EngineReport| format!("{} {}", engine.name, engine.version);
    Ok(Goals {
        format: GOALS_FORMAT,
        versions: mixed_report.engines.iter().map(version).collect(),
        commit: None,
        command: String::new(),
        machine,
        load_at_end: Machine::here().load,
        seconds: start.elapsed().as_secs_f64(),
        effort: *effort,
        sizes: *sizes,
        data: vec![facts("Paired", &paired_report), facts("Mixed", &mixed_report)],
        rows,
        hostile: hostile.unwrap_or_default(),
    })
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

fn corpus(robots: &Path, urls: &Path, agent: &AgentChain) -> Result<Corpus> {
    let config = LoadConfig { agents: Some([agent.clone()].into()), ..LoadConfig::new(DIALECT) };
    let (set, originals) =
        (PolicySet::load(robots, &config)?.set, Originals::load(robots, &config)?);
    Ok(Corpus::load(set, Some(originals), agent.clone(), UrlList::detected(urls))?)
}

/// Compiles the policies of the mixed data with the command-line program.
fn compiled_set(inputs: &Inputs, programs: &Programs) -> Result<PathBuf> {
    let set = inputs.folder.join("policies.pcs");
    let mut compile = Command::new(&programs.portcullis);
    compile.args(["compile", "--dialect", DIALECT.name, "-o"]).args([&set, &inputs.robots]);
    let status = compile.stdin(Stdio::null()).stderr(Stdio::null()).status();
    let status = status
        .with_context(|| format!("cannot start {}; build it", programs.portcullis.display()))?;
    ensure!(status.success(), "portcullis compile ended with {status}");
    Ok(set)
}

/// Returns the harness's report on one data set, for the engines and models that its goals name.
fn report(
    (goals, data): (&[Goal], Data),
    corpus: &Corpus,
    engines: &Engines<'_>,
    effort: &Effort,
    progress: &dyn Fn(&str),
) -> Result<Report, BenchError> {
    let of_data = |goal: &Goal| match goal.by {
        Measure::Peer { data: of, model, .. } if of == data => Some((goal.of.clone(), model)),
        _ => None,
    };
    let (mut names, models): (Vec<String>, Vec<Model>) = goals.iter().filter_map(of_data).unzip();
    names.push(BASELINE.to_owned());
    let settings = Settings {
        give_back_memory: system::give_back_memory,
        opening: system::opening(),
        rounds: effort.rounds,
        seconds_per_pass: effort.turn.as_secs_f64(),
        seed: effort.seed,
        models,
        engines: names,
        ..Settings::default()
    };
    portcullis_bench::run(corpus, &engines(corpus, &settings)?, &settings, progress)
}

/// Returns a peer's time divided by portcullis's.
fn compared(report: &Report, cell: Cell, peer: &str) -> Measured {
    let engine = |name: &str| {
        let found = report.engines.iter().find(|engine| engine.name == name);
        found.ok_or_else(|| Fault::Absent(format!("{name} took no part")))
    };
    let (ours, peer) = (engine(BASELINE)?, engine(peer)?);
    if ours.verification.status != Status::Verified {
        return Err(Fault::Wrong(status(ours)));
    }
    let timed = |engine: &EngineReport| match engine.result(cell) {
        Some(result) => Ok(result.values_ns.clone()),
        None => Err(Fault::Absent(format!("{} has no time: {}", engine.name, status(engine)))),
    };
    let (unit, unit_ns) = match cell.model {
        Model::Compile => ("µs a file", 1e3),
        _ => ("ns a URL", 1.0),
    };
    let figure = |engine: &EngineReport| {
        let name = format!("{} {}", engine.name, engine.version);
        Ok(Figure::of(&name, unit, &timed(engine)?, unit_ns))
    };
    let figures = vec![figure(ours)?, figure(peer)?];
    let answers = format!(
        "{} URLs by the oracle; {} differs on {}",
        ours.verification.answered, peer.name, peer.verification.differing
    );
    let value = figures[1].spread.median / figures[0].spread.median;
    Ok((value, Behind { figures, answers, remark: None }))
}

fn status(engine: &EngineReport) -> String {
    let verification = &engine.verification;
    match (&verification.status, verification.examples.first()) {
        (Status::Failed(why), _) => why.clone(),
        (Status::Wrong, Some(example)) => format!(
            "{} of {} answers; {} (oracle: {}): {}",
            verification.differing, verification.asked, example.answer, example.oracle, example.url
        ),
        _ => format!("{} of {} URLs answered", verification.answered, verification.asked),
    }
}

/// Returns the number of URLs in the report's list that the oracle allows.
fn allowed(report: &Report) -> Result<u64, Fault> {
    match report.corpus.left_out.not_text {
        0 => Ok(report.corpus.allowed),
        lines => Err(Fault::Absent(format!("{lines} lines are not UTF-8 and were not judged"))),
    }
}

fn facts(name: &str, report: &Report) -> String {
    let corpus = &report.corpus;
    format!(
        "{name}: {} files, {} of their URLs ({} lines of other origins), {} allowed by the oracle.",
        corpus.files, corpus.questions, corpus.left_out.without_file, corpus.allowed
    )
}

/// A function that runs one pass of some work and returns its time.
type Pass<'w> = Box<dyn FnMut() -> Result<Duration, Fault> + 'w>;

/// Runs all `work` in interleaved rounds, with turns of at least `fill`, and returns the seconds of
/// each round. Work that fails once has no values.
fn rounds<K: Ord>(
    rounds: usize,
    fill: Duration,
    work: Vec<(K, Pass<'_>)>,
) -> BTreeMap<K, Result<Vec<f64>, Fault>> {
    let mut work: Vec<_> = work.into_iter().map(|(key, pass)| (key, pass, Ok(vec![]))).collect();
    for _ in 0..rounds {
        for (_, pass, seconds) in &mut work {
            let Ok(values) = seconds else { continue };
            match portcullis_bench::turn(fill, pass) {
                Ok(value) => values.push(value),
                Err(fault) => *seconds = Err(fault),
            }
        }
    }
    work.into_iter().map(|(key, _, seconds)| (key, seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_have_ids_of_their_own_and_are_met_on_their_own_side() {
        let goals = goals().unwrap();
        let ids: std::collections::BTreeSet<&str> = goals.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), goals.len());
        let met = |relation, value| Goal { relation, limit: 2.0, ..goals[0].clone() }.is_met(value);
        assert!(met(Relation::AtLeast, 2.0) && !met(Relation::AtLeast, 1.9));
        assert!(met(Relation::Within, 2.0) && !met(Relation::Within, 2.1));
        assert!(met(Relation::Under, 1.9) && !met(Relation::Under, 2.0));
        assert!(!met(Relation::Under, f64::NAN));
    }

    #[test]
    fn a_wrong_row_has_no_value() {
        let wrong = Err(Fault::Wrong("allow instead of disallow".to_owned()));
        let row = goals().unwrap().remove(0).row(wrong, &[]);
        assert!(row.is_wrong() && !row.is_met());
        let json = serde_json::to_string(&row).unwrap();
        assert!(json.contains(r#""outcome":{"wrong":"allow"#) && !json.contains("value"), "{json}");
    }

    #[test]
    fn work_that_fails_once_has_no_values_and_takes_none_from_other_work() {
        let mut passes = 0;
        let right: Pass<'_> = Box::new(|| Ok(Duration::from_secs(2)));
        let lying: Pass<'_> = Box::new(|| {
            passes += 1;
            match passes {
                3 => Err(Fault::Wrong("no".to_owned())),
                _ => Ok(Duration::ZERO),
            }
        });
        let seconds = rounds(2, Duration::ZERO, vec![("right", right), ("lying", lying)]);
        assert_eq!(seconds["right"], Ok(vec![2.0, 2.0]));
        assert_eq!(seconds["lying"], Err(Fault::Wrong("no".to_owned())));
        assert_eq!(passes, 3);
    }
}
