//! Ours beside the peers, on the harness that `portcullis bench` is: rows of two of its reports.

use portcullis::bench::engines::BASELINE;
use portcullis::bench::{
    self, BenchError, Cell, Corpus, EngineReport, Model, Order, Report, Settings, Standing,
};

use crate::{allocator, mapped};

use super::row::{Fault, Figure, Goal, Relation, Row};
use super::{Effort, Engines};

const FAST_ROBOTS: &str = "fast-robots";
const TEXTING_ROBOTS: &str = "texting_robots";

/// Whose files and URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Popular sites, each with many URLs of its own.
    Paired,
    /// All hosts of a crawl, most with few URLs.
    Mixed,
}

/// A time of ours beside a peer's.
struct Comparison {
    id: &'static str,
    what: &'static str,
    data: Data,
    cell: Cell,
    peer: &'static str,
    /// How many times ours the peer's time has to be.
    times: f64,
}

const fn cell(model: Model, order: Option<Order>) -> Cell {
    Cell { model, order, threads: 1 }
}

const COMPARISONS: [Comparison; 6] = [
    Comparison {
        id: "decide-paired-grouped",
        what: "decide hot, paired data, grouped",
        data: Data::Paired,
        cell: cell(Model::DecideHot, Some(Order::Grouped)),
        peer: FAST_ROBOTS,
        times: 10.0,
    },
    Comparison {
        id: "decide-mixed-shuffled",
        what: "decide hot, mixed data, shuffled",
        data: Data::Mixed,
        cell: cell(Model::DecideHot, Some(Order::Shuffled)),
        peer: FAST_ROBOTS,
        times: 25.0,
    },
    Comparison {
        id: "batch-mixed-shuffled",
        what: "the same, the origin looked up from the URL (the peer in a hash map)",
        data: Data::Mixed,
        cell: cell(Model::Batch, Some(Order::Shuffled)),
        peer: FAST_ROBOTS,
        times: 15.0,
    },
    Comparison {
        id: "compile-fast-robots",
        what: "parse and compile for one agent, all files, mixed data",
        data: Data::Mixed,
        cell: cell(Model::Compile, None),
        peer: FAST_ROBOTS,
        times: 15.0,
    },
    Comparison {
        id: "compile-texting-robots",
        what: "parse and compile for one agent, all files, mixed data",
        data: Data::Mixed,
        cell: cell(Model::Compile, None),
        peer: TEXTING_ROBOTS,
        times: 10.0,
    },
    Comparison {
        id: "first-touch-mixed",
        what: "first touch: compile and one pass over all URLs, mixed data, shuffled",
        data: Data::Mixed,
        cell: cell(Model::FirstTouch, Some(Order::Shuffled)),
        peer: TEXTING_ROBOTS,
        times: 8.0,
    },
];

/// The harness's report on one data set, of the engines and models that rows are made of.
///
/// # Errors
///
/// If an engine that rows name is not among those that `engines` brings.
pub fn report(
    data: Data,
    corpus: &Corpus,
    engines: &Engines<'_>,
    effort: &Effort,
    told: &dyn Fn(&str),
) -> Result<Report, BenchError> {
    let comparisons = || COMPARISONS.iter().filter(|comparison| comparison.data == data);
    let mut names: Vec<String> = comparisons().map(|it| it.peer.to_owned()).collect();
    names.push(BASELINE.to_owned());
    let settings = Settings {
        give_back_memory: allocator::give_back_memory,
        opening: mapped::opening(),
        rounds: effort.rounds,
        seconds_per_pass: effort.turn.as_secs_f64(),
        seed: effort.seed,
        models: comparisons().map(|it| it.cell.model).collect(),
        engines: names,
        ..Settings::default()
    };
    let engines = engines(corpus, &settings)?;
    bench::run(corpus, &engines, &settings, told)
}

/// The rows of one data set.
pub fn rows(data: Data, report: &Report) -> Vec<Row> {
    let of_data = COMPARISONS.iter().filter(|comparison| comparison.data == data);
    of_data.map(|comparison| row(comparison, report)).collect()
}

fn row(comparison: &Comparison, report: &Report) -> Row {
    let goal = Goal {
        id: comparison.id.to_owned(),
        what: comparison.what.to_owned(),
        relation: Relation::AtLeast,
        limit: comparison.times,
        unit: "×",
        of: comparison.peer.to_owned(),
    };
    match compared(comparison, report) {
        Ok((value, figures, answers)) => goal.measured(value, figures, answers),
        Err(fault) => goal.lost(fault),
    }
}

type Compared = (f64, Vec<Figure>, String);

fn compared(comparison: &Comparison, report: &Report) -> Result<Compared, Fault> {
    let engine = |name: &str| report.engines.iter().find(|engine| engine.name == name);
    let absent = |name: &str| Fault::Absent(format!("{name} took no part"));
    let ours = engine(BASELINE).ok_or_else(|| absent(BASELINE))?;
    let peer = engine(comparison.peer).ok_or_else(|| absent(comparison.peer))?;
    is_right(ours)?;
    let cell = comparison.cell;
    let untimed = || Fault::Absent(format!("{} has no time: {}", peer.name, standing(peer)));
    let mine = ours.result(cell).ok_or_else(|| Fault::Absent("ours has no time".to_owned()))?;
    let theirs = peer.result(cell).ok_or_else(untimed)?;
    let (unit, unit_ns) = match cell.model {
        Model::Compile => ("µs a file", 1e3),
        _ => ("ns a URL", 1.0),
    };
    let figures = [(ours, mine), (peer, theirs)].into_iter().filter_map(|(engine, result)| {
        let name = format!("{} {}", engine.name, engine.version);
        Figure::of(&name, unit, &result.values_ns, unit_ns)
    });
    let answers = format!(
        "{} URLs by the oracle; {} differs on {}",
        ours.verification.answered, peer.name, peer.verification.differing
    );
    Ok((theirs.median_ns / mine.median_ns, figures.collect(), answers))
}

/// Refuses an engine of ours with a wrong answer, or that came to no end.
fn is_right(ours: &EngineReport) -> Result<(), Fault> {
    match &ours.verification.standing {
        Standing::Verified => Ok(()),
        _ => Err(Fault::Wrong(standing(ours))),
    }
}

fn standing(engine: &EngineReport) -> String {
    let verification = &engine.verification;
    match (&verification.standing, verification.examples.first()) {
        (Standing::Failed(why), _) => why.clone(),
        (Standing::Wrong, Some(example)) => format!(
            "{} of {} answers; {} (oracle: {}): {}",
            verification.differing, verification.asked, example.answer, example.oracle, example.url
        ),
        _ => format!("{} URLs answered of {}", verification.answered, verification.asked),
    }
}

/// How many URLs of the report's list are allowed, by the oracle.
///
/// # Errors
///
/// If lines of the list could not be judged.
pub fn allowed(report: &Report) -> Result<u64, Fault> {
    match report.corpus.left_out.not_text {
        0 => Ok(report.corpus.allowed),
        lines => Err(Fault::Absent(format!("{lines} lines are not UTF-8 and were not judged"))),
    }
}
