//! The results of a measurement as plain data, which JSON, Markdown and the page show.

use std::process::Command;
use std::time::SystemTime;

use portcullis_dialect::words;
use portcullis_robots::access::UnixSeconds;
use serde::Serialize;

use super::corpus::LeftOut;
use super::engine::EngineKind;
use super::judge::Verification;
use super::questions::Order;

/// The version of the JSON format. Incompatible changes increase it.
pub const REPORT_FORMAT: u32 = 2;

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
}

/// A machine and its software.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name, as the system reports it.
    pub processor: String,
    /// The number of threads that run at once.
    pub cores: usize,
    /// The operating system and the architecture.
    pub system: String,
    /// The output of `rustc --version` now; another version may have built the binary.
    pub compiler: String,
    /// The load average over a minute before anything was measured.
    pub load: Option<String>,
    /// The time of the measurement (RFC 3339).
    pub date: String,
}

/// The data of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusFacts {
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
    pub rounds: u64,
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
    /// The memory of its matchers in bytes, if known.
    pub matcher_bytes: Option<u64>,
    /// Notes on how the engine was built or timed.
    pub notes: Vec<String>,
}

words! {
    /// A cost model, measured separately: its name in reports and for `--model`, and its meaning.
    pub enum Model {
        /// Bytes to matchers for the agent.
        Compile => "compile": "make a matcher for the agent from the bytes of every file",
        /// Bytes to matchers, and one pass over all URLs.
        FirstTouch => "first-touch": "compile every file, then decide each URL once",
        /// Verdicts by matchers that have answered before. The file is given.
        DecideHot => "decide-hot": "decide URLs with matchers that have answered before",
        /// Verdicts on URLs, with a look-up of the file by the URL's origin.
        Batch => "batch": "as decide-hot, and find the file of each URL by its host",
    }
}

impl Model {
    /// Returns the unit that its times are divided by.
    pub fn per(self) -> Per {
        if self == Model::Compile { Per::File } else { Per::Url }
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

/// A column of the table of times: a model, and the order of questions if the model has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cell {
    /// The model that is measured.
    pub model: Model,
    /// The order of questions. `None` if the model has none.
    pub order: Option<Order>,
}

impl Cell {
    /// All columns, in the order of the table.
    pub const ALL: [Cell; 6] = [
        Cell { model: Model::Compile, order: None },
        Cell { model: Model::FirstTouch, order: Some(Order::Shuffled) },
        Cell { model: Model::DecideHot, order: Some(Order::Shuffled) },
        Cell { model: Model::DecideHot, order: Some(Order::Grouped) },
        Cell { model: Model::Batch, order: Some(Order::Shuffled) },
        Cell { model: Model::Batch, order: Some(Order::Grouped) },
    ];
}

/// The times in one column.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The column.
    #[serde(flatten)]
    pub cell: Cell,
    /// The unit that the times are divided by.
    pub per: Per,
    /// The median of the rounds, in nanoseconds. For an even number, the higher of the two in the
    /// middle.
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

impl Measurement {
    /// Returns the measurement of some values, or `None` if there are none.
    pub(super) fn of(cell: Cell, values_ns: Vec<f64>) -> Option<Measurement> {
        let mut sorted = values_ns.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Measurement {
            cell,
            per: cell.model.per(),
            median_ns: *sorted.get(sorted.len() / 2)?,
            min_ns: *sorted.first()?,
            max_ns: *sorted.last()?,
            ratio: None,
            values_ns,
        })
    }
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
        portcullis_text::json::to_json_pretty(self) + "\n"
    }
}

impl EngineReport {
    /// Returns the times in one column.
    pub fn result(&self, cell: Cell) -> Option<&Measurement> {
        self.results.iter().find(|result| result.cell == cell)
    }
}

impl Machine {
    /// Describes the current machine.
    pub fn here() -> Machine {
        let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Machine {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            compiler: compiler().unwrap_or_else(|| "rustc is not found".to_owned()),
            load: load.and_then(|load| load.split(' ').next().map(str::to_owned)),
            date: UnixSeconds(seconds.map_or(0, |seconds| seconds.as_secs())).to_rfc3339(),
        }
    }
}

fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    let name = model.map(|name| name.trim_start_matches([' ', '\t', ':']));
    name.unwrap_or("an unknown processor").to_owned()
}

fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(version.trim().to_owned()).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_has_the_middle_and_both_ends() {
        let of = |values: &[f64]| Measurement::of(Cell::ALL[0], values.to_vec());
        let it = of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((it.median_ns, it.min_ns, it.max_ns), (2.0, 1.0, 3.0));
        assert_eq!(of(&[4.0, 1.0]).unwrap().median_ns, 4.0);
        assert!(of(&[]).is_none());
    }
}
