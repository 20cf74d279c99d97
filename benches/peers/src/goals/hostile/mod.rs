//! One URL of 2 KB beside files that are made to be expensive: time and memory of the whole, and of
//! each shape the kind of URL that took longest.

mod shapes;
mod trial;

use portcullis::bench::Spread;
use portcullis::decision::Verdict;
use portcullis::dialect::GOOGLE;
use portcullis::oracle;
use rayon::prelude::*;
use serde::Serialize;

use self::shapes::{SHAPES, UrlKind};
use super::row::{Fault, Figure, Goal, Relation, Row};
use super::{AGENT, Effort, Programs, Sizes, on_all_cores};

pub use self::trial::{TRIAL_FLAG, Trial, run};

/// The worst of a shape.
#[derive(Clone, Debug, Serialize)]
pub struct ShapeReport {
    /// Which shape.
    pub shape: &'static str,
    /// The kind of URL that took longest.
    pub url: &'static str,
    /// Milliseconds from the file's bytes to the decision.
    pub ms: Spread,
    /// Milliseconds of those that the decision took.
    pub decision_ms: Spread,
    /// The most that a process held, in MiB, the program and the file included.
    pub peak_mib: f64,
    /// The most that a process held beside what it held before, in MiB.
    pub added_mib: f64,
}

/// The rows about hostile files, and every shape.
pub fn rows(programs: &Programs, effort: &Effort, sizes: &Sizes) -> (Vec<Row>, Vec<ShapeReport>) {
    let goal = |id: &str, what: &str, limit, unit, of: &str| Goal {
        id: id.to_owned(),
        what: what.to_owned(),
        relation: Relation::Under,
        limit,
        unit,
        of: of.to_owned(),
    };
    let bytes_max = sizes.hostile_bytes;
    let kibibytes = bytes_max >> 10;
    let time = format!("hostile {kibibytes} KiB file, one URL of 2 KB: parse, compile and decide");
    let goals = [
        goal("hostile-time", &time, 20.0, "ms", "the worst shape"),
        goal(
            "hostile-memory",
            "the same: memory of the whole process",
            32.0,
            "MiB",
            "the worst shape",
        ),
    ];
    let shapes = match measured(programs, effort, bytes_max) {
        Ok(shapes) => shapes,
        Err(fault) => return (goals.map(|goal| goal.lost(fault.clone())).into(), Vec::new()),
    };
    let [time, memory] = goals;
    let most = |value: fn(&ShapeReport) -> f64| {
        shapes.iter().max_by(|one, other| value(one).total_cmp(&value(other))).expect("some shape")
    };
    let slowest = most(|shape| shape.ms.median);
    let largest = most(|shape| shape.peak_mib);
    let figure = |name: &str, unit, spread| Figure { name: name.to_owned(), unit, spread };
    let answers = format!("{} URLs by the oracle", SHAPES.len() * UrlKind::ALL.len());
    let times =
        vec![figure("all", "ms", slowest.ms), figure("the decision", "ms", slowest.decision_ms)];
    let added =
        format!("{}; beside what it held before: {:.1} MiB", largest.shape, largest.added_mib);
    let rows = vec![
        time.measured(slowest.ms.median, times, answers.clone())
            .with_remark(format!("{}; URL: {}", slowest.shape, slowest.url)),
        memory.measured(largest.peak_mib, Vec::new(), answers).with_remark(added),
    ];
    (rows, shapes)
}

fn measured(
    programs: &Programs,
    effort: &Effort,
    bytes_max: usize,
) -> Result<Vec<ShapeReport>, Fault> {
    let kinds = UrlKind::ALL.len();
    let named = |place: usize| (place / kinds, place % kinds, bytes_max);
    let places = SHAPES.len() * kinds;
    let judged: Vec<bool> =
        on_all_cores(|| (0..places).into_par_iter().map(|place| judge(named(place))).collect());
    let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); judged.len()];
    for _ in 0..effort.rounds {
        for (place, &expected) in judged.iter().enumerate() {
            trials[place].push(trial::by_child(programs, named(place), expected)?);
        }
    }
    Ok(trials.chunks(kinds).zip(SHAPES).map(|(trials, shape)| worst(shape.name, trials)).collect())
}

/// Whether the oracle allows a trial's URL.
fn judge((shape, kind, bytes_max): (usize, usize, usize)) -> bool {
    let shape = SHAPES[shape];
    let (robots, url) = (shape.robots(bytes_max), shape.url(UrlKind::ALL[kind], bytes_max));
    let decision = oracle::decide(&GOOGLE, &robots, None, &[AGENT], &url);
    decision.verdict == Verdict::Allow
}

/// The report of a shape, of whose URLs there are trials by kind.
fn worst(shape: &'static str, by_kind: &[Vec<Trial>]) -> ShapeReport {
    const MIB: f64 = (1 << 20) as f64;
    let spread = |trials: &[Trial], value: fn(&Trial) -> f64| {
        let values: Vec<f64> = trials.iter().map(value).collect();
        Spread::of(&values).expect("a round at least")
    };
    let ms = |trials: &Vec<Trial>| spread(trials, |trial| trial.seconds * 1e3);
    let slowest = by_kind.iter().zip(UrlKind::ALL);
    let slowest = slowest.max_by(|one, other| ms(one.0).median.total_cmp(&ms(other.0).median));
    let (trials, url) = slowest.expect("some kind of URL");
    let most = |value: fn(&Trial) -> u64| {
        by_kind.iter().flatten().map(value).max().unwrap_or_default() as f64 / MIB
    };
    ShapeReport {
        shape,
        url: url.name(),
        ms: ms(trials),
        decision_ms: spread(trials, |trial| trial.decision_seconds * 1e3),
        peak_mib: most(|trial| trial.resident.peak),
        added_mib: most(|trial| trial.resident.peak.saturating_sub(trial.resident.before)),
    }
}
