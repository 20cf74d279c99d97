//! What this project wants to be held to: each goal, what was measured, and whether it is reached.
//!
//! [`measure`] takes unpacked files and lists ([`Inputs`]) and makes the whole table. Matchers are
//! compared on the harness that `portcullis bench` is; runs over files, growth and hostile files have
//! rounds of their own. No row shows a value whose answers were not verified first: by the oracle for
//! each URL of the short lists, by counts in every timed pass of the long ones. Where ours is wrong the
//! row says WRONG; where something that a goal is compared with failed it says that there is no value.
//!
//! | rows | where |
//! |---|---|
//! | hot decisions, origins looked up, compiling, first touch | `matchers` |
//! | from a file to counts, `filter`, two threads | `file`, `kept` |
//! | growth with rules and origins | `growth` |
//! | hostile files | `hostile` |
//!
//! Cost: some minutes on the data that goals were set on, most of it the oracle's and the peers'. What
//! fails is an error only if nothing can be measured: files that cannot be read or written.

mod file;
mod growth;
mod hostile;
mod kept;
mod lists;
mod matchers;
mod rounds;
mod row;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use portcullis::bench::{self, BenchError, Corpus, Engine, Machine, Originals, Report, Settings};
use portcullis::dialect::{Dialect, GOOGLE};
use portcullis::limits::ROBOTS_BYTES_MAX;
use portcullis::policy::AgentChain;
use portcullis::set::{LoadConfig, PolicySet};
use serde::Serialize;

use self::file::{LongLists, Subject};
use self::lists::ShortList;
use self::matchers::Data;
use crate::mapped;

pub use self::hostile::{ShapeReport, TRIAL_FLAG, Trial, run as hostile_trial};
pub use self::row::{Fault, Figure, Goal, Outcome, Relation, Row};

/// Who asks.
pub const AGENT: &str = "Googlebot";

/// What policies and the oracle follow.
pub const DIALECT: &Dialect = &GOOGLE;

/// The number of the shape of `--json`; a change that readers notice raises it.
pub const GOALS_FORMAT: u32 = 1;

/// Unpacked data.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// A folder of robots.txt files named by host.
    pub robots: PathBuf,
    /// URLs of those hosts.
    pub urls: PathBuf,
    /// URLs of other hosts.
    pub urls_without_policy: PathBuf,
    /// The same of popular sites: a folder, and URLs grouped by host.
    pub paired_robots: PathBuf,
    /// URLs of those.
    pub paired_urls: PathBuf,
    /// Where some gigabytes of lists may be written and deleted.
    pub folder: PathBuf,
}

/// What is run in other processes.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The command-line program.
    pub portcullis: PathBuf,
    /// This program, which knows [`TRIAL_FLAG`].
    pub goals: PathBuf,
    /// The system's, which counts lines.
    pub wc: String,
    /// The system's, which copies files.
    pub cp: String,
}

/// How long is measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Effort {
    /// Rounds of everything.
    pub rounds: usize,
    /// The time that one turn fills at least.
    pub turn: Duration,
    /// What orders are drawn from.
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
    /// Bytes of hostile files.
    pub hostile_bytes: usize,
}

impl Default for Sizes {
    /// What the goals say. Eleven copies of the lists that they were set on are 460 MB.
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

/// What a reader has to know about a run.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// The commit that was built, if somebody knows.
    pub commit: Option<String>,
    /// What was typed.
    pub command: String,
}

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub struct Goals {
    /// [`GOALS_FORMAT`].
    pub format: u32,
    /// The versions of what was compared, ours first.
    pub versions: Vec<String>,
    /// The commit, if it is known.
    pub commit: Option<String>,
    /// What was typed.
    pub command: String,
    /// Where and when; the load is that of the start.
    pub machine: Machine,
    /// The load at the end.
    pub load_at_end: Option<String>,
    /// Seconds that everything took.
    pub seconds: f64,
    /// How long was measured.
    pub effort: Effort,
    /// How much was measured.
    pub sizes: Sizes,
    /// What was measured on.
    pub data: Vec<String>,
    /// A row for each goal.
    pub rows: Vec<Row>,
    /// Every hostile shape.
    pub hostile: Vec<ShapeReport>,
}

impl Goals {
    /// Whether answers were wrong somewhere.
    pub fn has_wrong(&self) -> bool {
        self.rows.iter().any(Row::is_wrong)
    }

    /// Whether every goal is reached.
    pub fn are_met(&self) -> bool {
        self.rows.iter().all(Row::is_met)
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        table::markdown(self)
    }

    /// Everything as one JSON object.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("goals are plain data");
        json + "\n"
    }
}

/// Brings the engines that take part, ours among them.
pub type Engines<'e> =
    dyn for<'c> Fn(&'c Corpus, &Settings) -> Result<Vec<Box<dyn Engine + 'c>>, BenchError> + 'e;

/// Ours, and those of [`engines`](crate::engines), as many of them as the settings name.
///
/// # Errors
///
/// If the settings name somebody else.
pub fn usual_engines<'c>(
    corpus: &'c Corpus,
    settings: &Settings,
) -> Result<Vec<Box<dyn Engine + 'c>>, BenchError> {
    bench::chosen(corpus, crate::engines::all(corpus), settings)
}

/// Measures everything, and tells `told` how far it is.
///
/// What is compiled runs on the calling thread's rayon pool. Give it one of one thread, so that all
/// engines have one.
///
/// # Errors
///
/// If something cannot be read, written or started that everything needs.
pub fn measure(
    inputs: &Inputs,
    programs: &Programs,
    (effort, sizes): (&Effort, &Sizes),
    circumstances: Circumstances,
    engines: &Engines<'_>,
    told: &dyn Fn(&str),
) -> Result<Goals> {
    ensure!(effort.rounds > 0, "nothing would be measured; ask for one round at least");
    let start = Instant::now();
    let machine = Machine::here();
    let agent = AgentChain::parse(AGENT, DIALECT)?;
    let (mut rows, mut data) = (Vec::new(), Vec::new());

    told("paired data: matchers");
    let paired = corpus(&inputs.paired_robots, &inputs.paired_urls, &agent)?;
    let report = matchers::report(Data::Paired, &paired, engines, effort, told)?;
    rows.extend(matchers::rows(Data::Paired, &report));
    data.push(facts("Paired", &report));
    drop(paired);

    told("mixed data: matchers");
    let short = [fs::read(&inputs.urls), fs::read(&inputs.urls_without_policy)];
    let [with, without] = short.map(|text| text.context("cannot read a list of URLs"));
    let text = joined(with?, &without?);
    let short_path = inputs.folder.join("mixed.txt");
    fs::write(&short_path, &text).with_context(|| cannot_write(&short_path))?;
    let mixed = corpus(&inputs.robots, &short_path, &agent)?;
    let report = matchers::report(Data::Mixed, &mixed, engines, effort, told)?;
    rows.extend(matchers::rows(Data::Mixed, &report));
    data.push(facts("Mixed", &report));

    told("mixed data: long lists");
    let set = compiled_set(inputs, programs)?;
    let mapped_set = Arc::new(mapped::set(&set)?);
    let lists = long_lists(&text, &report, (effort, sizes), &inputs.folder)?;
    drop(text);
    told("mixed data: from file to counts, filter");
    let subject = Subject {
        files: &mixed.set,
        mapped: &mapped_set,
        set: &set,
        agent: &agent,
        lists: &lists,
        programs,
        folder: &inputs.folder,
    };
    rows.extend(file::rows(&subject, effort)?);
    drop((mixed, mapped_set));
    for path in [&short_path, &set, &lists.shuffled, &lists.grouped] {
        fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))?;
    }

    told("growth with rules");
    rows.extend(growth::rules(sizes, effort));
    told("growth with origins");
    rows.push(growth::origins(&agent, DIALECT, sizes, effort, &inputs.folder)?);
    told("hostile files");
    let (hostile_rows, hostile) = hostile::rows(programs, effort, sizes);
    rows.extend(hostile_rows);

    Ok(Goals {
        format: GOALS_FORMAT,
        versions: versions(&report),
        commit: circumstances.commit,
        command: circumstances.command,
        machine,
        load_at_end: Machine::here().load,
        seconds: start.elapsed().as_secs_f64(),
        effort: *effort,
        sizes: *sizes,
        data,
        rows,
        hostile,
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

/// Two lists as one.
fn joined(mut one: Vec<u8>, other: &[u8]) -> Vec<u8> {
    if one.last().is_some_and(|&byte| byte != b'\n') {
        one.push(b'\n');
    }
    one.extend_from_slice(other);
    one
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

fn long_lists(
    text: &[u8],
    report: &Report,
    (effort, sizes): (&Effort, &Sizes),
    folder: &Path,
) -> Result<LongLists> {
    let short = ShortList::new(text);
    let [shuffled, grouped] = ["shuffled.txt", "grouped.txt"].map(|name| folder.join(name));
    short
        .write_shuffled(sizes.copies, effort.seed, &shuffled)
        .with_context(|| cannot_write(&shuffled))?;
    short.write_grouped(sizes.copies, &grouped).with_context(|| cannot_write(&grouped))?;
    let copies = sizes.copies as u64;
    Ok(LongLists {
        lines: short.count() as u64 * copies,
        bytes: fs::metadata(&shuffled)?.len(),
        allowed: matchers::allowed(report).map(|allowed| allowed * copies),
        shuffled,
        grouped,
    })
}

fn facts(name: &str, report: &Report) -> String {
    let corpus = &report.corpus;
    format!(
        "{name}: {} files, {} URLs of theirs ({} lines of other origins), {} allowed by the oracle.",
        corpus.files, corpus.questions, corpus.left_out.without_file, corpus.allowed
    )
}

/// Name and version of every engine.
fn versions(report: &Report) -> Vec<String> {
    let version = |engine: &bench::EngineReport| format!("{} {}", engine.name, engine.version);
    report.engines.iter().map(version).collect()
}

/// What is not timed may have all cores.
fn on_all_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
