//! The results of a measurement as plain data: `--report` prints it, and the table and the page show
//! it.

use portcullis_dialect::words;
use serde::{Deserialize, Serialize};

use super::corpus::LeftOut;
use super::engine::EngineKind;
use super::judge::Verification;
use super::machine::{Machine, MemoryUse};
use super::questions::Order;
use super::timing::{Distribution, Spread};

/// The version of the JSON format. Incompatible changes increase it.
pub const REPORT_FORMAT: u32 = 1;

/// The report of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of portcullis.
    pub version: String,
    /// The command, quoted for a shell.
    pub command: String,
    /// The machine, and the time of the measurement.
    pub machine: Machine,
    /// The data.
    pub corpus: CorpusFacts,
    /// The settings.
    pub settings: SettingFacts,
    /// The engine that ratios refer to.
    pub baseline: String,
    /// The engines, in the order of their turns.
    pub engines: Vec<EngineReport>,
    /// The curves of growth, if requested.
    pub curves: Vec<Curve>,
}

/// The data of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusFacts {
    /// The list's name without its folder.
    pub list: String,
    /// How the list was read: its format, and the column or field of the URL if it was detected.
    pub list_format: String,
    /// The size of the list's file in bytes.
    pub list_bytes: u64,
    /// The dialect of the policies.
    pub dialect: String,
    /// The agent.
    pub agent: String,
    /// The number of files: one per host, or two if http and https differ.
    pub files: usize,
    /// The number of distinct texts of files.
    pub texts: usize,
    /// The bytes of all files.
    pub file_bytes: u64,
    /// The number of texts that were longer than the limit.
    pub texts_cut: usize,
    /// The number of URLs that the oracle judged.
    pub questions: usize,
    /// The number of timed URLs: the URLs that every timed engine answers.
    pub timed: usize,
    /// The number of URLs that the oracle allows.
    pub allowed: u64,
    /// The checksum of the oracle's answers, in the order of the list, in hexadecimal digits.
    pub checksum: String,
    /// The seconds that the oracle took, on all cores.
    pub oracle_seconds: f64,
    /// The records that are not measured.
    pub left_out: LeftOut,
}

/// The settings of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct SettingFacts {
    /// The most rounds. Slow measurements have fewer; see [`Measurement::values_ns`].
    pub rounds: usize,
    /// The least seconds in one turn of one engine.
    pub seconds_per_pass: f64,
    /// The seed of orders and samples.
    pub seed: u64,
}

/// The results of one engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineReport {
    /// The name of the engine.
    pub name: String,
    /// The version of the engine.
    pub version: String,
    /// The origin of the engine.
    pub kind: EngineKind,
    /// The verification of its answers.
    pub verification: Verification,
    /// The number of URLs that it was timed on. Fewer than [`CorpusFacts::timed`] if the engine is
    /// slow.
    pub questions: usize,
    /// The times. Empty if the engine is wrong or failed.
    pub results: Vec<Measurement>,
    /// The times of single URLs, shuffled.
    pub single: Option<Distribution>,
    /// The memory of its matchers in bytes, if known.
    pub matcher_bytes: Option<u64>,
    /// The memory of a process with this engine alone.
    pub memory: Option<MemoryUse>,
    /// Notes on how the engine was built or timed.
    pub notes: Vec<String>,
}

words! {
    /// A cost model, measured separately: its name in reports and for `--model`, and its meaning.
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Model {
        /// Bytes to parsed files.
        Parse => "parse": "Read the bytes of every file into rules, for any agent.",
        /// Bytes to matchers for the agent.
        Compile => "compile": "Make a matcher for the agent from the bytes of every file.",
        /// Bytes to matchers, and one pass over all URLs.
        FirstTouch => "first-touch": "Compile every file, then decide each URL once.",
        /// Verdicts by matchers that have answered before. The file is given.
        DecideHot => "decide-hot":
            "Decide URLs with matchers that have answered before; the file of each URL is given.",
        /// Verdicts on URLs, with a look-up of the file by the URL's origin.
        Batch => "batch": "As decide-hot, and also find the file of each URL by its host.",
        /// A mapped list of URLs to counted verdicts.
        FileToVerdict => "file-to-verdict": "Read the list from the file, and count the verdicts.",
    }
}

impl Model {
    /// Returns the unit that its times are divided by.
    pub fn per(self) -> Per {
        match self {
            Model::Parse | Model::Compile => Per::File,
            _ => Per::Url,
        }
    }
}

/// The unit that a time is divided by.
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
    /// The model that is measured.
    pub model: Model,
    /// The order of questions. `None` if the model has none, or for the list's own order.
    pub order: Option<Order>,
    /// The number of threads.
    pub threads: usize,
}

/// The times in one column.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The column.
    #[serde(flatten)]
    pub cell: Cell,
    /// The unit that the times are divided by.
    pub per: Per,
    /// The median of the rounds, in nanoseconds.
    pub median_ns: f64,
    /// The least value.
    pub min_ns: f64,
    /// The greatest value.
    pub max_ns: f64,
    /// The median divided by the baseline's. `None` if the baseline was not measured.
    pub ratio: Option<f64>,
    /// The value of each round.
    pub values_ns: Vec<f64>,
}

impl Cell {
    /// Returns a column on one thread.
    pub const fn of(model: Model, order: Option<Order>) -> Cell {
        Cell { model, order, threads: 1 }
    }
}

impl Measurement {
    /// Returns the measurement of some values, or `None` if there are none.
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

/// The growth of a cost.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The title of the curve.
    pub title: String,
    /// The quantity that grows.
    pub x: String,
    /// The unit of the cost.
    pub y: String,
    /// A line for each engine.
    pub lines: Vec<CurveLine>,
}

/// The costs of one engine.
#[derive(Clone, Debug, Serialize)]
pub struct CurveLine {
    /// The engine.
    pub engine: String,
    /// The points: the quantity that grows, and the cost.
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

    /// Returns the report as one indented JSON object.
    pub fn to_json(&self) -> String {
        portcullis_robots::json::to_json_pretty(self) + "\n"
    }
}

impl EngineReport {
    /// Returns the times in one column.
    pub fn result(&self, cell: Cell) -> Option<&Measurement> {
        self.results.iter().find(|result| result.cell == cell)
    }
}
