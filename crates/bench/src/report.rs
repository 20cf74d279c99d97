//! The results of a measurement: plain data, which JSON and Markdown show.

use std::process::Command;
use std::time::SystemTime;

use portcullis_dialect::words;
use portcullis_robots::access::UnixSeconds;
use portcullis_text::figures::{counted, grouped};
use portcullis_text::visible::visible;
use serde::Serialize;

use super::corpus::LeftOut;
use super::engine::EngineKind;
use super::judge::{Status, Verification};
use super::questions::Order;

/// The report of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of portcullis.
    pub version: &'static str,
    /// The command, quoted for a shell.
    pub command: String,
    /// The machine, and the time of the measurement.
    pub machine: Machine,
    /// The data.
    pub corpus: CorpusFacts,
    /// The number of rounds.
    pub rounds: u64,
    /// The least seconds in one turn of one engine.
    pub seconds_per_pass: f64,
    /// The engines, in the order of their turns. Ratios refer to the first.
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
    pub load: String,
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
    /// The number of URLs that it is timed on: a sample if it reads the file for each URL.
    pub timed: usize,
    /// The times. Empty if the engine is wrong or failed.
    pub results: Vec<Measurement>,
}

words! {
    /// A cost model, measured separately: its name in reports and for `--model`.
    pub enum Model {
        /// Bytes to matchers for the agent.
        Compile => "compile",
        /// Bytes to matchers, and one pass over all URLs.
        FirstTouch => "first-touch",
        /// Verdicts by matchers that have answered before. The file is given.
        DecideHot => "decide-hot",
        /// Verdicts on URLs, with a look-up of the file by the URL's origin.
        Batch => "batch",
    }
}

/// A column of the table of times: a model, and the order of questions if the model has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cell {
    /// The model that is measured.
    pub model: Model,
    /// The order of questions. `None` if the model has none.
    pub order: Option<Order>,
}

/// The times in one column, in nanoseconds per file for `compile`, and per URL otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The column.
    #[serde(flatten)]
    pub cell: Cell,
    /// The median of the rounds. For an even number, the higher of the two in the middle.
    pub median_ns: f64,
    /// The least value.
    pub min_ns: f64,
    /// The greatest value.
    pub max_ns: f64,
    /// The median divided by the first engine's. `None` if that was not measured.
    pub ratio: Option<f64>,
}

impl Measurement {
    /// Returns the measurement of some values, or `None` if there are none.
    pub(super) fn of(cell: Cell, mut values_ns: Vec<f64>) -> Option<Measurement> {
        values_ns.sort_unstable_by(f64::total_cmp);
        Some(Measurement {
            cell,
            median_ns: *values_ns.get(values_ns.len() / 2)?,
            min_ns: *values_ns.first()?,
            max_ns: *values_ns.last()?,
            ratio: None,
        })
    }
}

impl EngineReport {
    /// Returns the times in one column.
    pub fn result(&self, cell: Cell) -> Option<&Measurement> {
        self.results.iter().find(|result| result.cell == cell)
    }

    fn answers(&self) -> String {
        match &self.verification.status {
            Status::Verified => "verified".to_owned(),
            Status::Differs => format!("{} differ", grouped(self.verification.differing as u64)),
            Status::Wrong => "**WRONG**".to_owned(),
            Status::Failed(_) => "**FAILED**".to_owned(),
        }
    }

    /// Returns remarks for people.
    fn remarks(&self) -> Vec<String> {
        let Verification { status, files_refused, examples, asked, answered, .. } =
            &self.verification;
        let mut lines = Vec::new();
        match status {
            Status::Failed(why) => lines.push(format!("failed: {why}")),
            Status::Wrong => lines.push("it is wrong, so it has no times".to_owned()),
            _ if asked > answered => {
                lines.push(format!(
                    "{} without an answer",
                    counted((asked - answered) as u64, "URL")
                ));
            }
            _ => {}
        }
        let refused = files_refused
            .iter()
            .map(|(why, &count)| format!("files refused: {} ({why})", grouped(count as u64)));
        let differing =
            examples.iter().map(|it| format!("{} (oracle: {}): {}", it.answer, it.oracle, it.url));
        lines.into_iter().chain(refused).chain(differing).collect()
    }
}

impl Report {
    /// Whether a built-in engine is wrong or failed.
    pub fn has_fault(&self) -> bool {
        let is_ours = |engine: &&EngineReport| engine.kind == EngineKind::BuiltIn;
        self.engines.iter().filter(is_ours).any(|it| !it.verification.may_be_timed())
    }

    /// Returns the report as one indented JSON object.
    pub fn to_json(&self) -> String {
        portcullis_text::json::to_json_pretty(self) + "\n"
    }

    /// Renders the report as Markdown: its circumstances, a table with a row for each engine, and remarks.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| {
            let cells: Vec<String> =
                cells.iter().map(|it| one_line(it).replace('|', "\\|")).collect();
            format!("| {} |", cells.join(" | "))
        };
        let all = Model::ALL.into_iter().flat_map(|model| {
            [None, Some(Order::Shuffled), Some(Order::Grouped)].map(|order| Cell { model, order })
        });
        let cells: Vec<Cell> =
            all.filter(|&cell| self.engines.iter().any(|it| it.result(cell).is_some())).collect();
        let title = |cell: &Cell| match cell.order {
            None => format!("{}, µs a file", cell.model),
            Some(order) => format!("{}, {order}, ns", cell.model),
        };
        let head = ["engine", "answers"].map(str::to_owned).into_iter();
        let mut rows = vec![
            line(head.chain(cells.iter().map(title)).collect()),
            format!("|{}", "---|".repeat(2 + cells.len())),
        ];
        rows.extend(self.engines.iter().map(|engine| {
            let time = |&cell: &Cell| engine.result(cell).map_or("–".to_owned(), time);
            let first = [format!("{} {}", engine.name, engine.version), engine.answers()];
            line(first.into_iter().chain(cells.iter().map(time)).collect())
        }));
        let sampled = self.engines.iter().filter(|it| it.timed < self.corpus.timed);
        let sampled = sampled.map(|it| {
            format!(
                "{}: compared and timed on a sample, {}",
                it.name,
                counted(it.timed as u64, "URL")
            )
        });
        let of_engine = |engine: &EngineReport| {
            let named = |remark| format!("{}: {remark}", engine.name);
            engine.remarks().into_iter().map(named).collect::<Vec<_>>()
        };
        let remarks = sampled.chain(self.engines.iter().flat_map(of_engine));
        let remarks: Vec<String> = remarks.map(|it| format!("- {}", one_line(&it))).collect();
        let facts = self.facts().map(|fact| one_line(&fact));
        let blocks = [facts.join("  \n"), rows.join("\n"), remarks.join("\n")];
        blocks.join("\n\n").trim_end().to_owned() + "\n"
    }

    /// Returns the circumstances of the measurement.
    fn facts(&self) -> [String; 5] {
        let Report { command, machine, corpus, .. } = self;
        let Machine { processor, cores, system, compiler, load, date } = machine;
        let CorpusFacts { dialect, agent, checksum, oracle_seconds, .. } = corpus;
        let LeftOut { invalid, without_file, not_text } = corpus.left_out;
        let [files, texts, cut] =
            [corpus.files, corpus.texts, corpus.texts_cut].map(|it| grouped(it as u64));
        let first = self.engines.first().map_or("", |engine| &engine.name);
        [
            format!("Command: {command}"),
            format!(
                "Machine: {processor}, {cores} cores, load {load}, {system}; {compiler}; {date}"
            ),
            format!(
                "Data: {files} files ({texts} distinct texts, {cut} cut at the limit), {}, dialect \
                 {dialect}, agent {agent}. Left out: {invalid} records that are not URLs, \
                 {without_file} URLs of origins without a file, {not_text} that are not UTF-8",
                counted(corpus.questions as u64, "URL")
            ),
            format!(
                "Answers: the oracle judged every URL in {oracle_seconds:.1} s and allows {}, \
                 checksum {checksum}. Every answer of every engine was compared with it before \
                 anything was timed",
                grouped(corpus.allowed)
            ),
            format!(
                "Times: {}, answered by every timed engine; median of {} rounds (least–most), and × \
                 the median of {first}. Passes fill {} s",
                counted(corpus.timed as u64, "URL"),
                self.rounds,
                self.seconds_per_pass
            ),
        ]
    }
}

/// Returns text on one line with its hidden characters escaped.
fn one_line(text: &str) -> String {
    visible(&text.replace('\n', " ")).to_string()
}

/// Formats a result as `median (least–most), ratio×`, in microseconds per file or nanoseconds per
/// URL.
fn time(result: &Measurement) -> String {
    let unit_ns = if result.cell.order.is_none() { 1e3 } else { 1.0 };
    // One decimal if it is small, and otherwise digits in groups.
    let figure = |value: f64| match value / unit_ns {
        value if value < 100.0 => format!("{value:.1}"),
        value => grouped(value.round() as u64),
    };
    let [median, min, max] = [result.median_ns, result.min_ns, result.max_ns].map(figure);
    let ratio = result.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2}×"));
    format!("{median} ({min}–{max}){ratio}")
}

impl Machine {
    /// Describes the current machine.
    pub fn here() -> Machine {
        let file = |path| std::fs::read_to_string(path).unwrap_or_default();
        let processor = file("/proc/cpuinfo");
        let processor = processor.lines().find_map(|line| line.strip_prefix("model name"));
        let processor = processor.map(|name| name.trim_start_matches([' ', '\t', ':']));
        let compiler = Command::new("rustc").arg("--version").output();
        let compiler = compiler.map_or_else(|_| Vec::new(), |output| output.stdout);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Machine {
            processor: processor.unwrap_or("an unknown processor").to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            compiler: String::from_utf8_lossy(&compiler).trim().to_owned(),
            load: file("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
            date: UnixSeconds(now.as_secs()).to_rfc3339(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_has_the_middle_and_both_ends() {
        let cell = Cell { model: Model::Compile, order: None };
        let of = |values: &[f64]| Measurement::of(cell, values.to_vec());
        let it = of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((it.median_ns, it.min_ns, it.max_ns), (2.0, 1.0, 3.0));
        assert_eq!(of(&[4.0, 1.0]).unwrap().median_ns, 4.0);
        assert!(of(&[]).is_none());
    }
}
