//! The goals that this project holds itself to, measured.
//!
//! `benches/goals.toml` says what is measured, beside what, and the limit. [`measure`] fills it from
//! unpacked files and lists ([`Inputs`]). Matchers are compared on the harness of `portcullis bench`;
//! runs over files (`lists`), growth (`growth`) and hostile files (`hostile`) have rounds of their own;
//! `table` renders the rows. No row has a value whose answers were not verified: by the oracle for each
//! URL of the short lists, by counts in every timed pass of the long ones. A row says WRONG where ours
//! is wrong, and has no value where something that a goal is compared with failed.
//!
//! Cost: some minutes on the data that the goals were set on, most of them the oracle's and the peers'.
//! Files that cannot be read or written are errors.

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
    Originals, Report, Settings, Spread, Standing,
};
use portcullis_dialect::dialect::{Dialect, GOOGLE};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_robots::policy::AgentChain;
use portcullis_set::{LoadConfig, PolicySet};
use serde::{Deserialize, Serialize};

use self::lists::Work;
use crate::system;

pub use self::hostile::{ShapeReport, TRIAL_FLAG, Trial, run as hostile_trial};

/// The agent that asks.
pub const AGENT: &str = "Googlebot";

/// The dialect of policies and oracle.
pub const DIALECT: &Dialect = &GOOGLE;

/// The version of `--json`; a change that readers notice raises it.
pub const GOALS_FORMAT: u32 = 1;

/// The goals, as data.
const GOALS: &str = include_str!("../../../goals.toml");

/// A goal: a value, and the limit that it has to keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub id: String,
    pub what: String,
    pub relation: Relation,
    pub limit: f64,
    #[serde(default = "times")]
    pub unit: String,
    /// What the value is a multiple of, or what it counts.
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

/// How a value has to compare with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    AtLeast,
    Within,
    Under,
}

/// Where a goal's value comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Measure {
    /// A peer's time divided by ours, on the harness.
    Peer { data: Data, model: Model, order: Option<Order> },
    /// The time of some work divided by the sum of other work's; more work is shown only.
    Lists { above: Work, below: Vec<Work>, beside: Option<Work> },
    /// The cost with many rules divided by that with few; with a star in each rule or without.
    Rules { star: bool },
    /// The cost with many origins divided by that with few.
    Origins,
    /// The slowest hostile shape.
    HostileTime,
    /// The hostile shape that takes most memory.
    HostileMemory,
}

/// Whose files and URLs.
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
    /// URLs of those sites, grouped by host.
    pub paired_urls: PathBuf,
    /// Where some gigabytes of lists may be written; they are deleted again.
    pub folder: PathBuf,
}

/// Programs that are run.
#[derive(Clone, Debug)]
pub struct Programs {
    pub portcullis: PathBuf,
    /// This program, which knows [`TRIAL_FLAG`].
    pub goals: PathBuf,
    pub wc: String,
    pub cp: String,
}

/// How long is measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Effort {
    pub rounds: usize,
    /// The time that one turn fills at least.
    pub turn: Duration,
    pub seed: u64,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sizes {
    /// How often long lists have each line of the short ones.
    pub copies: usize,
    /// Rules of a group, few and many.
    pub rules: [usize; 2],
    /// Origins of a set, few and many.
    pub hosts: [u64; 2],
    /// URLs that made-up sets are asked about.
    pub urls: u64,
    pub hostile_bytes: usize,
}

impl Default for Sizes {
    /// The sizes of the goals. Eleven copies of the lists that they were set on are 460 MB.
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

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub struct Goals {
    pub format: u32,
    /// The versions of what was compared, ours first.
    pub versions: Vec<String>,
    /// The commit, which the caller may know.
    pub commit: Option<String>,
    /// The command line, which the caller knows.
    pub command: String,
    /// Where and when; the load is that of the start.
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

/// What was measured for a goal.
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
    /// Our answers are wrong, or there are none.
    Wrong(String),
    /// Something that the goal is compared with failed.
    Absent(String),
}

/// What a value was made of.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Behind {
    pub figures: Vec<Figure>,
    /// How answers were verified.
    pub answers: String,
    /// What else a reader has to know.
    pub remark: Option<String>,
}

/// A value of some unit over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    #[serde(flatten)]
    pub spread: Spread,
}

/// A value and what is behind it, or why there is none.
type Measured = Result<(f64, Behind), Fault>;

impl Figure {
    /// The values of rounds, each divided by `divisor`.
    fn of(name: &str, unit: &'static str, values: &[f64], divisor: f64) -> Figure {
        let values: Vec<f64> = values.iter().map(|value| value / divisor).collect();
        let none = Spread { median: f64::NAN, min: f64::NAN, max: f64::NAN };
        Figure { name: name.to_owned(), unit, spread: Spread::of(&values).unwrap_or(none) }
    }
}

impl Goal {
    /// Whether a value keeps the limit. NaN does not.
    fn is_met(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtLeast => value >= self.limit,
            Relation::Within => value <= self.limit,
            Relation::Under => value < self.limit,
        }
    }

    /// The row of a measured goal, with words of the texts filled in.
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
    /// Whether answers were wrong in some row.
    pub fn has_wrong(&self) -> bool {
        self.rows.iter().any(Row::is_wrong)
    }

    /// Whether every goal is met.
    pub fn are_met(&self) -> bool {
        self.rows.iter().all(Row::is_met)
    }

    /// The page of results, in Markdown.
    pub fn markdown(&self) -> String {
        table::markdown(self)
    }

    /// Everything as one JSON object.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("goals are plain data");
        json + "\n"
    }
}

/// Returns the engines that take part, ours among them.
pub type Engines<'e> =
    dyn for<'c> Fn(&'c Corpus, &Settings) -> Result<Vec<Engine<'c>>, BenchError> + 'e;

/// Ours and the peers, as far as the settings name them.
///
/// # Errors
///
/// If the settings name another engine.
pub fn usual_engines<'c>(
    corpus: &'c Corpus,
    settings: &Settings,
) -> Result<Vec<Engine<'c>>, BenchError> {
    portcullis_bench::chosen(corpus, crate::engines::all(corpus), settings)
}

/// Measures everything; `progress` gets a line for each step.
///
/// What is compiled runs on the calling thread's rayon pool. Install a pool of one thread, so that all
/// engines have one.
///
/// # Errors
///
/// If something that everything needs cannot be read, written or started.
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
    Ok(Corpus::load(set, Some(originals), agent.clone(), urls)?)
}

/// The mixed data's policies, compiled by the command-line program.
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

/// The harness's report on one data set, of the engines and models that its goals name.
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

/// A peer's time divided by ours.
fn compared(report: &Report, cell: Cell, peer: &str) -> Measured {
    let engine = |name: &str| {
        let found = report.engines.iter().find(|engine| engine.name == name);
        found.ok_or_else(|| Fault::Absent(format!("{name} took no part")))
    };
    let (ours, peer) = (engine(BASELINE)?, engine(peer)?);
    if ours.verification.standing != Standing::Verified {
        return Err(Fault::Wrong(standing(ours)));
    }
    let timed = |engine: &EngineReport| match engine.result(cell) {
        Some(result) => Ok(result.values_ns.clone()),
        None => Err(Fault::Absent(format!("{} has no time: {}", engine.name, standing(engine)))),
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

fn standing(engine: &EngineReport) -> String {
    let verification = &engine.verification;
    match (&verification.standing, verification.examples.first()) {
        (Standing::Failed(why), _) => why.clone(),
        (Standing::Wrong, Some(example)) => format!(
            "{} of {} answers; {} (oracle: {}): {}",
            verification.differing, verification.asked, example.answer, example.oracle, example.url
        ),
        _ => format!("{} of {} URLs answered", verification.answered, verification.asked),
    }
}

/// How many URLs of the report's list the oracle allows.
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

/// A pass of some work, and its time.
type Pass<'w> = Box<dyn FnMut() -> Result<Duration, Fault> + 'w>;

/// Runs all `work` in interleaved rounds of turns that fill `fill`, and returns the seconds of each
/// round. Work that fails once has no values.
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
