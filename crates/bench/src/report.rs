//! What a measurement found, as plain data: `--json` prints it, and the table and the page show it.

use portcullis_dialect::words;
use serde::{Deserialize, Serialize};

use super::corpus::LeftOut;
use super::engine::EngineKind;
use super::judge::Verification;
use super::machine::{Machine, MemoryUse};
use super::questions::Order;
use super::timing::{Distribution, Spread};

/// The version of the JSON; a change that readers notice raises it.
pub const REPORT_FORMAT: u32 = 1;

/// A whole measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of portcullis.
    pub version: String,
    /// The command, without folders.
    pub command: String,
    /// The machine, and the time of the measurement.
    pub machine: Machine,
    /// The data.
    pub corpus: CorpusFacts,
    /// The settings.
    pub settings: SettingFacts,
    /// The engine that ratios are to.
    pub baseline: String,
    /// The engines, in the order of their turns.
    pub engines: Vec<EngineReport>,
    /// Growth, if it was asked for.
    pub curves: Vec<Curve>,
}

/// The data of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusFacts {
    /// The list's name without its folder.
    pub list: String,
    /// Bytes of the list.
    pub list_bytes: u64,
    /// The dialect of the policies.
    pub dialect: String,
    /// The agent.
    pub agent: String,
    /// Files: one per host, two where http and https differ.
    pub files: usize,
    /// Distinct texts among them.
    pub texts: usize,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Texts that were longer than the limit.
    pub texts_cut: usize,
    /// URLs that the oracle judged.
    pub questions: usize,
    /// URLs that every timed engine answers, which are timed.
    pub timed: usize,
    /// URLs that the oracle allows.
    pub allowed: u64,
    /// The checksum of the oracle's answers, in the order of the list, in hexadecimal digits.
    pub checksum: String,
    /// Seconds that the oracle took, on all cores.
    pub oracle_seconds: f64,
    /// What is not measured.
    pub left_out: LeftOut,
}

/// The settings of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SettingFacts {
    /// Rounds, at most: what takes long has fewer, see [`Measurement::values_ns`].
    pub rounds: usize,
    /// Seconds that one turn of one engine fills at least.
    pub seconds_per_pass: f64,
    /// The seed of orders and samples.
    pub seed: u64,
}

/// The results of one engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineReport {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where it comes from.
    pub kind: EngineKind,
    /// Whether its answers are right.
    pub verification: Verification,
    /// URLs that it was timed on; fewer than [`CorpusFacts::timed`] if it is slow.
    pub questions: usize,
    /// The times. Empty if it is wrong or failed.
    pub results: Vec<Measurement>,
    /// Times of single URLs, shuffled.
    pub single: Option<Distribution>,
    /// Bytes that its matchers hold, if it knows.
    pub matcher_bytes: Option<u64>,
    /// Memory of a process with this engine alone.
    pub memory: Option<MemoryUse>,
    /// What a reader has to know about how it was built or timed.
    pub notes: Vec<String>,
}

words! {
    /// What is measured separately: its name in reports and for `--model`, and what it measures.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Model {
        /// Bytes to parsed files.
        Parse => "parse": "Read the bytes of every file into rules, for any agent.",
        /// Bytes to matchers for the agent.
        Compile => "compile": "Make a matcher for the agent from the bytes of every file.",
        /// Bytes to matchers, and one pass over all URLs.
        FirstTouch => "first-touch": "Compile every file, then decide each URL once.",
        /// Verdicts by matchers that have answered before; the file is given.
        DecideHot => "decide-hot":
            "Decide URLs with matchers that have answered before; the file of each URL is given.",
        /// Verdicts on URLs whose file is found by their origin.
        Batch => "batch": "As decide-hot, and also find the file of each URL by its host.",
        /// A mapped list of URLs to counted verdicts.
        FileToVerdict => "file-to-verdict": "Read the list from the file, and count the verdicts.",
    }
}

impl Model {
    /// What its times are divided by.
    pub fn per(self) -> Per {
        match self {
            Model::Parse | Model::Compile => Per::File,
            _ => Per::Url,
        }
    }
}

/// What a time is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Files.
    File,
    /// URLs.
    Url,
}

/// A column of the table of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cell {
    /// What is measured.
    pub model: Model,
    /// In which order; `None` if there is none, or the list's own.
    pub order: Option<Order>,
    /// The number of threads.
    pub threads: usize,
}

/// Times of one thing.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// What was measured.
    #[serde(flatten)]
    pub cell: Cell,
    /// What the times are divided by.
    pub per: Per,
    /// The median of the rounds, in nanoseconds.
    pub median_ns: f64,
    /// The least.
    pub min_ns: f64,
    /// The most.
    pub max_ns: f64,
    /// The median divided by the baseline's; `None` if that was not measured.
    pub ratio: Option<f64>,
    /// The value of each round.
    pub values_ns: Vec<f64>,
}

impl Cell {
    /// A column on one thread.
    pub const fn of(model: Model, order: Option<Order>) -> Cell {
        Cell { model, order, threads: 1 }
    }
}

impl Measurement {
    /// The measurement of some values; `None` if there are none.
    pub(super) fn of(cell: Cell, values_ns: Vec<f64>) -> Option<Measurement> {
        let Spread { median, min, max } = Spread::of(&values_ns)?;
        Some(Measurement {
            cell,
            per: cell.model.per(),
            median_ns: median,
            min_ns: min,
            max_ns: max,
            ratio: None,
            values_ns,
        })
    }
}

/// How a cost grows.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// What it shows.
    pub title: String,
    /// What grows.
    pub x: String,
    /// The unit of the cost.
    pub y: String,
    /// A line for each engine.
    pub lines: Vec<CurveLine>,
}

/// One engine's costs.
#[derive(Clone, Debug, Serialize)]
pub struct CurveLine {
    /// The engine.
    pub engine: String,
    /// What grows, and the cost there.
    pub points: Vec<(f64, f64)>,
    /// Why the line ends early, if it does.
    pub note: Option<String>,
}

impl Report {
    /// Whether a built-in engine is wrong or failed.
    pub fn has_fault(&self) -> bool {
        let is_faulty = |engine: &EngineReport| {
            engine.kind == EngineKind::BuiltIn && !engine.verification.may_be_timed()
        };
        self.engines.iter().any(is_faulty)
    }

    /// The report as one indented JSON object.
    pub fn to_json(&self) -> String {
        portcullis_robots::json::to_json_pretty(self) + "\n"
    }
}

impl EngineReport {
    /// The times of one thing.
    pub fn result(&self, cell: Cell) -> Option<&Measurement> {
        self.results.iter().find(|result| result.cell == cell)
    }
}
