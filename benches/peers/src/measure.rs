//! Rounds and times. In each round every engine has its turn, so that what slows the machine for a
//! while slows all of them; what is reported is the median of the rounds, with the least and the
//! most.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::check::{Checked, Workload};
use crate::corpus::Record;
use crate::model::Engine;

/// What a turn takes at least; passes are repeated until then.
const TURN_MIN: Duration = Duration::from_millis(100);

/// One engine's times, by round.
#[derive(Default)]
pub struct Times {
    /// Microseconds for a file that it takes; none if it keeps no matcher.
    pub build: Vec<f64>,
    /// Nanoseconds for a URL, in the order given.
    pub given: Vec<f64>,
    /// Nanoseconds for a URL, grouped by host.
    pub grouped: Vec<f64>,
}

/// The median of some times, the least and the most.
#[derive(Clone, Copy)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of the times of all rounds; nothing if there is none.
    pub fn of(times: &[f64]) -> Option<Spread> {
        let mut times = times.to_vec();
        times.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*times.first()?, *times.last()?);
        Some(Spread { median: times[times.len() / 2], min, max })
    }
}

/// Times every engine in each round.
///
/// # Errors
///
/// If a pass counts another number of allowed URLs than the comparison did.
pub fn rounds(
    engines: &mut [Box<dyn Engine>],
    files: usize,
    checked: &Checked,
    rounds: usize,
) -> Result<Vec<Times>> {
    let mut times: Vec<Times> = engines.iter().map(|_| Times::default()).collect();
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        for (position, engine) in engines.iter().enumerate() {
            let refused: usize = checked.findings[position].files_refused.values().sum();
            if !engine.parses_each_time() && files > refused {
                let turn = turn(|| Ok(engine.time_to_build()))?;
                times[position].build.push(turn.as_secs_f64() * 1e6 / (files - refused) as f64);
            }
        }
        for (position, engine) in engines.iter_mut().enumerate() {
            let workload = if engine.parses_each_time() { &checked.sample } else { &checked.all };
            times[position].given.extend(decide(
                &mut **engine,
                position,
                workload,
                &workload.given,
            )?);
        }
        for (position, engine) in engines.iter_mut().enumerate() {
            let workload = if engine.parses_each_time() { &checked.sample } else { &checked.all };
            let grouped = decide(&mut **engine, position, workload, &workload.grouped)?;
            times[position].grouped.extend(grouped);
        }
    }
    Ok(times)
}

/// Nanoseconds for a URL; nothing if there is none. One pass before those that are timed brings
/// back to the caches what the engine before has driven out.
fn decide(
    engine: &mut dyn Engine,
    position: usize,
    workload: &Workload,
    records: &[Record],
) -> Result<Option<f64>> {
    if records.is_empty() {
        return Ok(None);
    }
    let mut pass = || {
        let start = Instant::now();
        let allowed = engine.count_allowed(black_box(records));
        let time = start.elapsed();
        let expected = workload.allowed[position];
        ensure!(
            expected == Some(allowed),
            "{}: {allowed} URLs are allowed in a timed pass, {expected:?} when answers were compared; \
             no time of it counts",
            engine.name(),
        );
        Ok(time)
    };
    pass()?;
    Ok(Some(turn(pass)?.as_secs_f64() * 1e9 / records.len() as f64))
}

/// The mean time of a pass, over as many as fill a turn.
fn turn(mut pass: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut total = Duration::ZERO;
    let mut passes = 0;
    while total < TURN_MIN {
        total += pass()?;
        passes += 1;
    }
    Ok(total / passes)
}
