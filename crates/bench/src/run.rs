//! Runs a whole measurement: compares engines with the oracle, then times them in rounds.
//!
//! In each round, every engine has its turn at one column before the next column is timed, so that
//! a slow phase of the machine slows all engines. Every pass is tallied, and an engine whose tally
//! differs from the comparison's has no times. A measurement fails only if the settings are invalid
//! or there is no question. Failures of an engine are part of the report.

#![allow(unsafe_code, reason = "asks the C library's allocator to return memory")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;

use super::corpus::Corpus;
use super::engine::{Engine, EngineKind, Matcher};
use super::engines::built_in;
use super::judge::{Judgement, Status, Verification};
use super::questions::{HostTable, Order, QuestionList};
use super::report::{Cell, CorpusFacts, EngineReport, Machine, Measurement, Model, Report};
use super::runner::{self, RunnerCommand};

/// The number of URLs for an engine that reads the file for each URL.
const SAMPLE_URLS: usize = 2_000;
/// An engine that leaves more than one in this many URLs unanswered is not timed. A URL that it
/// does not answer is not timed for any engine, so too few would be left.
const UNANSWERED_ONE_IN: usize = 20;
/// The seed of orders and samples.
const SEED: u64 = 9309;
/// The most seconds that a flag accepts.
const SECONDS_MAX: f64 = 86_400.0;

/// The engines that take part, as flags.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Engines")]
pub struct Choice {
    /// Engine by name; repeatable [default: all]
    ///
    /// Ratios of times refer to the first one in the order of the table.
    #[arg(long = "engine", value_name = "NAME")]
    pub engines: Vec<String>,

    /// Another program as an engine; the command is split at blanks
    ///
    /// It implements the line protocol of benches/RUNNERS.md. Repeatable.
    #[arg(long = "runner", value_name = "NAME=COMMAND")]
    pub runners: Vec<RunnerCommand>,
}

/// The settings of a measurement, which are also its flags.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Measurement")]
pub struct Settings {
    /// The engines.
    #[command(flatten)]
    pub choice: Choice,

    /// The model to measure; repeatable [default: all]
    #[arg(long = "model", value_name = "NAME", value_parser = Model::WORDS)]
    pub models: Vec<String>,

    /// Number of rounds; with an odd number the median is a measured value
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,

    /// Seconds for which an engine repeats a pass in one round
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = seconds)]
    pub seconds_per_pass: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
    let seconds = seconds.ok_or("expected seconds, such as 0.1 or 30")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Returns the engines that take part: the built-in engines, `others` and runners. If the choice
/// names engines, only the named ones and all runners.
///
/// # Errors
///
/// If a name is not the name of an engine, or two engines have the same name.
pub fn chosen<'c>(
    corpus: &'c Corpus,
    others: Vec<Engine<'c>>,
    choice: &Choice,
) -> Result<Vec<Engine<'c>>> {
    let mut all = built_in(corpus);
    all.extend(others);
    all.extend(choice.runners.iter().map(|it| runner::engine(it.clone(), corpus.agent.name())));
    let known: Vec<&str> = all.iter().map(|engine| engine.name.as_str()).collect();
    for (position, name) in known.iter().enumerate() {
        let is_new = !known[..position].contains(name);
        ensure!(is_new, "two engines have the name {name}; give the runner another");
    }
    for name in &choice.engines {
        let is_known = known.contains(&name.as_str());
        ensure!(is_known, "there is no engine {name}; there are {}", known.join(", "));
    }
    all.retain(|engine| {
        choice.engines.is_empty()
            || choice.engines.contains(&engine.name)
            || engine.kind == EngineKind::Runner
    });
    Ok(all)
}

/// Compares the answers of `engines` with the oracle's and times the engines that may be timed.
/// `progress` gets a line for each step.
///
/// Engines compile on the calling thread's rayon pool. Install a pool of one thread, so that every
/// engine uses one thread.
///
/// # Errors
///
/// If the corpus has no question.
pub fn run<'c>(
    corpus: &'c Corpus,
    engines: &[Engine<'c>],
    (settings, command): (&Settings, &str),
    progress: &dyn Fn(&str),
) -> Result<Report> {
    ensure!(
        !corpus.questions.is_empty(),
        "no URL is of an origin with a robots.txt; name a list that fits the policies"
    );
    let machine = Machine::here();
    progress(&format!("the oracle judges {} URLs", corpus.questions.len()));
    let start = Instant::now();
    let all_cores = rayon::ThreadPoolBuilder::new().build()?;
    let judgement = all_cores.install(|| Judgement::of(corpus));
    let oracle_seconds = start.elapsed().as_secs_f64();

    let files = corpus.files();
    let sample = corpus.questions.sample(SAMPLE_URLS, SEED);
    let mut seats = Vec::new();
    for engine in engines {
        progress(&format!("comparing the answers of {}", engine.name));
        let list = if engine.reads_each_time { &sample } else { &corpus.questions };
        seats.push(Seat::new(engine, &files, list, &judgement));
    }
    let is_open = left_open(corpus.questions.len(), &mut seats);
    let [timed, sample] = [&corpus.questions, &sample].map(|it| it.kept(|number| !is_open[number]));
    let judged = judgement.tally(&corpus.questions);
    let (texts, texts_cut) = corpus.texts();
    let facts = CorpusFacts {
        dialect: corpus.dialect().name.to_owned(),
        agent: corpus.agent.name().to_owned(),
        files: files.len(),
        texts,
        texts_cut,
        questions: corpus.questions.len(),
        timed: timed.len(),
        allowed: judged.allowed,
        checksum: judged.text(),
        oracle_seconds,
        left_out: corpus.left_out,
    };
    let rounds = Rounds {
        hosts: HostTable::of(&timed),
        lists: [&timed, &sample].map(|list| Order::ALL.map(|order| list.ordered(order, SEED))),
        files,
        settings,
    };
    rounds.run(&mut seats, progress);
    let mut reports: Vec<EngineReport> = seats.into_iter().map(|it| it.report(&rounds)).collect();
    set_ratios(&mut reports);
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        command: command.to_owned(),
        machine,
        corpus: facts,
        rounds: settings.rounds,
        seconds_per_pass: settings.seconds_per_pass.as_secs_f64(),
        engines: reports,
    })
}

/// Returns for each question whether an engine that is timed does not answer it. An engine that leaves too
/// many unanswered is not timed.
fn left_open(questions: usize, seats: &mut [Seat<'_, '_>]) -> Vec<bool> {
    let mut is_open = vec![false; questions];
    for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
        let Verification { asked, answered, .. } = seat.verification;
        if (asked - answered) * UNANSWERED_ONE_IN > asked {
            seat.matcher = None;
        } else if !seat.engine.reads_each_time {
            // The others were compared on the sample alone.
            let answers = is_open.iter_mut().zip(&seat.verification.answers);
            answers.for_each(|(is_open, answer)| *is_open |= answer.is_none());
        }
    }
    is_open
}

/// Computes ratios to the first engine's time in the same column.
fn set_ratios(reports: &mut [EngineReport]) {
    let Some(base) = reports.first().cloned() else { return };
    for result in reports.iter_mut().flat_map(|engine| &mut engine.results) {
        let base = base.result(result.cell).map(|base| base.median_ns);
        result.ratio = base.filter(|&base| base > 0.0).map(|base| result.median_ns / base);
    }
}

/// Returns the mean seconds of a pass, over as many passes as fill a turn. An untimed pass runs
/// first, so that caches are warm and lazy automata are built.
fn turn(fill: Duration, mut pass: impl FnMut() -> Result<Duration>) -> Result<f64> {
    pass()?;
    let (mut total, mut passes) = (Duration::ZERO, 0);
    while passes == 0 || total < fill {
        // A pass that the clock measures as zero would never fill a turn.
        total += pass()?.max(Duration::from_nanos(1));
        passes += 1;
    }
    Ok(total.as_secs_f64() / f64::from(passes))
}

/// An engine with its matcher, its verification and its times.
struct Seat<'e, 'c> {
    engine: &'e Engine<'c>,
    /// `None` if the engine is not timed.
    matcher: Option<Box<dyn Matcher + 'c>>,
    verification: Verification,
    times: BTreeMap<Cell, Vec<f64>>,
}

impl<'e, 'c> Seat<'e, 'c> {
    /// Builds an engine and compares its answers.
    fn new(
        engine: &'e Engine<'c>,
        files: &[&'c [u8]],
        list: &QuestionList,
        judgement: &Judgement,
    ) -> Seat<'e, 'c> {
        let verification = Verification::default();
        let mut seat = Seat { engine, matcher: None, verification, times: BTreeMap::new() };
        let compared = (engine.build)(files).and_then(|(_, mut matcher)| {
            Ok((judgement.compare(engine.kind, &mut *matcher, list)?, matcher))
        });
        match compared {
            Ok((verification, matcher)) => {
                seat.matcher = Some(matcher).filter(|_| verification.may_be_timed());
                seat.verification = verification;
            }
            Err(error) => seat.fail(&error),
        }
        seat
    }

    fn is_timed(&self) -> bool {
        self.matcher.is_some()
    }

    fn fail(&mut self, error: &anyhow::Error) {
        self.verification.status = Status::Failed(error.to_string());
        self.times.clear();
        self.matcher = None;
    }

    /// Stores a time in seconds, divided by `per` files or URLs.
    fn record(&mut self, cell: Cell, per: usize, seconds: f64) {
        self.times.entry(cell).or_default().push(seconds * 1e9 / per as f64);
    }

    fn report(self, rounds: &Rounds<'_, '_>) -> EngineReport {
        let Engine { name, version, kind, reads_each_time, .. } = self.engine;
        let times = self.times.into_iter();
        EngineReport {
            name: name.clone(),
            version: version.clone(),
            kind: *kind,
            timed: rounds.lists[usize::from(*reads_each_time)][0].len(),
            results: times.filter_map(|(cell, it)| Measurement::of(cell, it)).collect(),
            verification: self.verification,
        }
    }
}

/// The state that all rounds share.
struct Rounds<'r, 'c> {
    files: Vec<&'c [u8]>,
    settings: &'r Settings,
    /// The timed questions in each [`Order`], and a sample of them for engines that read the file each
    /// time.
    lists: [[QuestionList; 2]; 2],
    hosts: HostTable,
}

impl<'c> Rounds<'_, 'c> {
    fn run(&self, seats: &mut [Seat<'_, 'c>], progress: &dyn Fn(&str)) {
        for round in 1..=self.settings.rounds {
            progress(&format!("round {round} of {}", self.settings.rounds));
            let columns = [Model::DecideHot, Model::Batch]
                .into_iter()
                .flat_map(|model| Order::ALL.map(|order| (model, order)));
            self.turns(seats, |seat| self.build(seat));
            for (model, order) in columns.filter(|(model, _)| self.measures(*model)) {
                self.turns(seats, |seat| self.ask(seat, model, order));
            }
        }
    }

    fn measures(&self, model: Model) -> bool {
        let models = &self.settings.models;
        models.is_empty() || models.iter().any(|name| name == model.as_str())
    }

    fn turns(&self, seats: &mut [Seat<'_, 'c>], turn: impl Fn(&mut Seat<'_, 'c>) -> Result<()>) {
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            if let Err(error) = turn(seat) {
                seat.fail(&error);
            }
        }
    }

    /// Times the build, and the build with one pass after it, in one run.
    fn build(&self, seat: &mut Seat<'_, 'c>) -> Result<()> {
        let [compile, first_touch] =
            [Model::Compile, Model::FirstTouch].map(|it| self.measures(it));
        if seat.engine.reads_each_time || !compile && !first_touch {
            return Ok(());
        }
        give_back_memory();
        let (time, mut matcher) = (seat.engine.build)(&self.files)?;
        let accepted = self.files.len() - matcher.refusals().len();
        if accepted > 0 && compile {
            seat.record(Cell { model: Model::Compile, order: None }, accepted, time.as_secs_f64());
        }
        let list = &self.lists[0][Order::Shuffled as usize];
        let pass = matcher.pass(list)?;
        seat.verification.expect(list, pass.tally)?;
        if first_touch {
            let cell = Cell { model: Model::FirstTouch, order: Some(Order::Shuffled) };
            seat.record(cell, list.len(), (time + pass.time).as_secs_f64());
        }
        Ok(())
    }

    fn ask(&self, seat: &mut Seat<'_, 'c>, model: Model, order: Order) -> Result<()> {
        let list = &self.lists[usize::from(seat.engine.reads_each_time)][order as usize];
        let is_batch = model == Model::Batch;
        let Some(matcher) = &mut seat.matcher else { return Ok(()) };
        if list.is_empty() || is_batch && seat.engine.kind == EngineKind::Runner {
            return Ok(());
        }
        let seconds = turn(self.settings.seconds_per_pass, || {
            let pass = match is_batch {
                true => matcher.batch(list, &self.hosts)?,
                false => matcher.pass(list)?,
            };
            seat.verification.expect(list, pass.tally).map(|()| pass.time)
        })?;
        seat.record(Cell { model, order: Some(order) }, list.len(), seconds);
        Ok(())
    }
}

/// Returns free memory to the system, if the allocator can.
///
/// An engine that takes a gigabyte pays the system for it, unless another engine has freed as much
/// before. Returning the memory makes builds comparable in any order.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call this function at any time, and it does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
