//! Runs a whole measurement: compares engines with the oracle, then times them in rounds.
//!
//! In each round, every engine has its turn at one column before the next column is timed, so that
//! a slow phase of the machine slows all engines. Every pass is tallied, and an engine whose tally
//! differs from the comparison's has no times. A measurement fails only if the settings are invalid
//! or there is no question. Failures of an engine are part of the report.

#![allow(unsafe_code, reason = "asks the C library's allocator to return memory")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::corpus::Corpus;
use super::engine::{Engine, EngineError, EngineKind, Matcher};
use super::engines::{BASELINE, built_in};
use super::judge::{Judgement, Status, Verification};
use super::questions::{HostTable, Order, QuestionList};
use super::report::{
    Cell, CorpusFacts, EngineReport, Machine, Measurement, Model, REPORT_FORMAT, Report,
    SettingFacts,
};
use super::runner;
use super::settings::Settings;

/// The number of sample URLs for an engine that reads the file for each URL.
const SAMPLE_URLS: usize = 20_000;
/// An engine that leaves more than one in this many URLs unanswered is not timed. A URL that it
/// does not answer is not timed for any engine, so too few would be left.
const UNANSWERED_ONE_IN: usize = 20;
/// The most seconds for one pass of an engine. A slower engine is timed on a sample.
const PASS_SECONDS_MAX: f64 = 1.5;
/// The sizes of the samples for slow engines. The largest that fits is used.
const SAMPLES: [usize; 3] = [20_000, 2_000, 200];
/// The most seconds to build an engine in every round. A slower engine is built in the first round.
const BUILD_SECONDS_MAX: f64 = 10.0;

/// The error of settings that cannot be measured.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchError {
    /// No engine has this name.
    #[error("there is no engine {name}; there are {known}")]
    NoSuchEngine {
        /// The name.
        name: String,
        /// The names of all engines.
        known: String,
    },
    /// Two engines have the same name.
    #[error("two engines have the name {name}; give the runner another")]
    SameName {
        /// The name.
        name: String,
    },
    /// The corpus has no question.
    #[error("no URL is of an origin with a robots.txt; name a list that fits the policies")]
    NoQuestion,
}

/// Returns the engines that take part: the built-in engines, `others` and runners. If the settings
/// name engines, only the named ones, the baseline and all runners.
///
/// # Errors
///
/// If a name is not the name of an engine, or two engines have the same name.
pub fn chosen<'c>(
    corpus: &'c Corpus,
    others: Vec<Engine<'c>>,
    settings: &Settings,
) -> Result<Vec<Engine<'c>>, BenchError> {
    let mut all = built_in(corpus);
    all.extend(others);
    let runners = settings.runners.iter().cloned();
    all.extend(runners.map(|it| runner::engine(it, corpus.agent.name(), settings.runner_timeout)));
    let known: Vec<&str> = all.iter().map(|engine| engine.name.as_str()).collect();
    for (position, name) in known.iter().enumerate() {
        if known[..position].contains(name) {
            return Err(BenchError::SameName { name: (*name).to_owned() });
        }
    }
    for name in settings.engines.iter().chain(&settings.baseline) {
        if !known.contains(&name.as_str()) {
            return Err(BenchError::NoSuchEngine { name: name.clone(), known: known.join(", ") });
        }
    }
    all.retain(|engine| {
        settings.engines.is_empty()
            || settings.engines.contains(&engine.name)
            || settings.baseline.as_ref() == Some(&engine.name)
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
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<Report, BenchError> {
    if corpus.questions.is_empty() {
        return Err(BenchError::NoQuestion);
    }
    let machine = Machine::here();
    progress(&format!("the oracle judges {} URLs", corpus.questions.len()));
    let start = Instant::now();
    let judgement = on_all_cores(|| Judgement::of(corpus));
    let oracle_seconds = start.elapsed().as_secs_f64();

    let files = corpus.files();
    let sample = corpus.questions.sample(SAMPLE_URLS, settings.seed);
    let mut seats = Vec::new();
    for engine in engines {
        progress(&format!("comparing the answers of {}", engine.name));
        let list = if engine.reads_each_time { &sample } else { &corpus.questions };
        seats.push(Seat::new(engine, &files, list, &judgement));
    }
    let timed = answered_by_all(&corpus.questions, &mut seats);
    for seat in &mut seats {
        seat.choose_questions(&timed, settings.seed);
    }
    let facts = CorpusFacts {
        dialect: corpus.dialect().name.to_owned(),
        agent: corpus.agent.name().to_owned(),
        files: files.len(),
        texts: corpus.distinct_texts(),
        file_bytes: files.iter().map(|text| text.len() as u64).sum(),
        texts_cut: corpus.texts_cut(),
        questions: corpus.questions.len(),
        timed: timed.len(),
        allowed: judgement.tally(&corpus.questions).allowed,
        checksum: judgement.tally(&corpus.questions).text(),
        oracle_seconds,
        left_out: corpus.left_out,
    };
    Rounds {
        hosts: HostTable::of(&timed),
        lists: Order::ALL.map(|order| timed.ordered(order, settings.seed)),
        files,
        settings,
    }
    .run(&mut seats, progress);

    let asked = settings.baseline.as_deref().unwrap_or(BASELINE);
    let named = engines.iter().find(|engine| engine.name == asked).or(engines.first());
    let baseline = named.map_or_else(String::new, |engine| engine.name.clone());
    let mut reports: Vec<EngineReport> = seats.into_iter().map(Seat::report).collect();
    set_ratios(&mut reports, &baseline);
    Ok(Report {
        format: REPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: settings.command.clone(),
        machine,
        corpus: facts,
        settings: SettingFacts {
            rounds: settings.rounds,
            seconds_per_pass: settings.seconds_per_pass.as_secs_f64(),
            seed: settings.seed,
        },
        baseline,
        engines: reports,
    })
}

/// Runs untimed work on all cores.
fn on_all_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Returns the questions that every engine that may be timed answers. An engine that leaves too
/// many unanswered is not timed.
fn answered_by_all(questions: &QuestionList, seats: &mut [Seat<'_, '_>]) -> QuestionList {
    let mut is_open = vec![false; questions.len()];
    for seat in seats.iter_mut().filter(|seat| seat.verification.may_be_timed()) {
        let Verification { asked, answered, .. } = seat.verification;
        if (asked - answered) * UNANSWERED_ONE_IN > asked {
            seat.notes.push(format!("not timed: it leaves {} URLs open", asked - answered));
            seat.matcher = None;
        } else if !seat.engine.reads_each_time {
            // A slow engine was compared on a sample, and is timed on a part of it.
            let answers = is_open.iter_mut().zip(&seat.verification.answers);
            answers.for_each(|(is_open, answer)| *is_open |= answer.is_none());
        }
    }
    questions.kept(|number| !is_open[number])
}

/// Computes ratios to the baseline's time in the same column.
fn set_ratios(reports: &mut [EngineReport], baseline: &str) {
    let Some(base) = reports.iter().find(|engine| engine.name == baseline).cloned() else { return };
    for result in reports.iter_mut().flat_map(|engine| &mut engine.results) {
        let base = base.result(result.cell).map(|base| base.median_ns);
        result.ratio = base.filter(|&base| base > 0.0).map(|base| result.median_ns / base);
    }
}

/// Returns the mean seconds of a pass, over as many passes as fill a turn. An untimed pass runs
/// first, so that caches are warm and lazy automata are built.
fn turn(
    fill: Duration,
    mut pass: impl FnMut() -> Result<Duration, EngineError>,
) -> Result<f64, EngineError> {
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
    matcher: Option<Box<dyn Matcher + 'c>>,
    verification: Verification,
    /// The seconds per question in the comparison.
    seconds_per_question: f64,
    /// The seconds of the last build.
    build_seconds: f64,
    times: BTreeMap<Cell, Vec<f64>>,
    /// The number of URLs that it is timed on.
    questions: usize,
    /// Its own lists in each [`Order`], if it is timed on a sample.
    sample: Option<[QuestionList; 2]>,
    notes: Vec<String>,
}

impl<'e, 'c> Seat<'e, 'c> {
    /// Builds an engine and compares its answers.
    fn new(
        engine: &'e Engine<'c>,
        files: &[&'c [u8]],
        list: &QuestionList,
        judgement: &Judgement,
    ) -> Seat<'e, 'c> {
        let start = Instant::now();
        let built = (engine.build)(files);
        let build_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (verification, matcher) = match built {
            Err(error) => (Verification::failed(error), None),
            Ok(built) => {
                let mut matcher = built.matcher;
                (judgement.compare(engine.kind, &mut *matcher, list), Some(matcher))
            }
        };
        Seat {
            engine,
            notes: matcher.iter().filter_map(|matcher| matcher.note()).collect(),
            matcher,
            verification,
            seconds_per_question: start.elapsed().as_secs_f64() / list.len().max(1) as f64,
            build_seconds,
            times: BTreeMap::new(),
            questions: 0,
            sample: None,
        }
    }

    fn is_timed(&self) -> bool {
        self.verification.may_be_timed() && self.matcher.is_some()
    }

    fn fail(&mut self, error: EngineError) {
        self.verification.status = Status::Failed(error.0);
        self.times.clear();
        self.matcher = None;
    }

    /// Stores the time of a turn, divided by `per` files or URLs.
    fn record(&mut self, cell: Cell, per: usize, turn: Result<f64, EngineError>) {
        match turn {
            Ok(seconds) => self.times.entry(cell).or_default().push(seconds * 1e9 / per as f64),
            Err(error) => self.fail(error),
        }
    }

    /// Chooses a sample if a pass over `timed` would take too long.
    fn choose_questions(&mut self, timed: &QuestionList, seed: u64) {
        if !self.is_timed() {
            return;
        }
        self.questions = timed.len();
        if !self.engine.reads_each_time {
            if self.takes_at_most(timed.len()) {
                return;
            }
            // The first answers of a lazy engine cost more than later ones, so an engine that seems
            // slow is measured again.
            if let Some(Ok(pass)) = self.matcher.as_mut().map(|matcher| matcher.pass(timed)) {
                self.seconds_per_question = pass.time.as_secs_f64() / timed.len().max(1) as f64;
            }
            if self.takes_at_most(timed.len()) {
                return;
            }
        }
        let count = SAMPLES.into_iter().find(|&count| self.takes_at_most(count));
        // An engine that was compared on a sample can only be timed on a part of it.
        let answers = &self.verification.answers;
        let answered = timed.kept(|number| answers[number].is_some());
        let list = answered.sample(count.unwrap_or(SAMPLES[2]), seed);
        self.questions = list.len();
        self.sample = Some(Order::ALL.map(|order| list.ordered(order, seed)));
    }

    fn takes_at_most(&self, questions: usize) -> bool {
        self.seconds_per_question * questions as f64 <= PASS_SECONDS_MAX
    }

    fn report(self) -> EngineReport {
        let Engine { name, version, kind, .. } = self.engine;
        let times = self.times.into_iter();
        EngineReport {
            name: name.clone(),
            version: version.clone(),
            kind: *kind,
            questions: self.questions,
            results: times.filter_map(|(cell, it)| Measurement::of(cell, it)).collect(),
            matcher_bytes: self.matcher.as_ref().and_then(|matcher| matcher.bytes()),
            notes: self.notes,
            verification: self.verification,
        }
    }
}

/// What is the same in all rounds.
struct Rounds<'r, 'c> {
    files: Vec<&'c [u8]>,
    settings: &'r Settings,
    /// The timed questions in each [`Order`].
    lists: [QuestionList; 2],
    hosts: HostTable,
}

impl<'c> Rounds<'_, 'c> {
    fn run(&self, seats: &mut [Seat<'_, 'c>], progress: &dyn Fn(&str)) {
        for round in 1..=self.settings.rounds {
            progress(&format!("round {round} of {}", self.settings.rounds));
            self.build(seats, round);
            for model in [Model::DecideHot, Model::Batch] {
                for order in Order::ALL {
                    self.turns(seats, model, order);
                }
            }
        }
    }

    fn measures(&self, model: Model) -> bool {
        self.settings.models.is_empty() || self.settings.models.contains(&model)
    }

    /// Times the build, and the build with one pass after it, in one run.
    fn build(&self, seats: &mut [Seat<'_, 'c>], round: u64) {
        if !self.measures(Model::Compile) && !self.measures(Model::FirstTouch) {
            return;
        }
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let is_slow = seat.build_seconds > BUILD_SECONDS_MAX;
            if seat.engine.reads_each_time || (is_slow && round > 1) {
                continue;
            }
            if let Err(error) = self.build_and_ask(seat) {
                seat.fail(error);
            }
        }
    }

    fn build_and_ask(&self, seat: &mut Seat<'_, 'c>) -> Result<(), EngineError> {
        const ORDER: Order = Order::Shuffled;
        give_back_memory();
        let mut built = (seat.engine.build)(&self.files)?;
        seat.build_seconds = built.time.as_secs_f64();
        let accepted = self.files.len() - built.matcher.refusals().len();
        if accepted > 0 && self.measures(Model::Compile) {
            let cell = Cell { model: Model::Compile, order: None };
            seat.record(cell, accepted, Ok(seat.build_seconds));
        }
        if seat.sample.is_none() {
            let list = &self.lists[ORDER as usize];
            let pass = built.matcher.pass(list)?;
            seat.verification.expect(list, pass.tally)?;
            if self.measures(Model::FirstTouch) {
                let seconds = (built.time + pass.time).as_secs_f64();
                let cell = Cell { model: Model::FirstTouch, order: Some(ORDER) };
                seat.record(cell, list.len(), Ok(seconds));
            }
        }
        Ok(())
    }

    fn turns(&self, seats: &mut [Seat<'_, 'c>], model: Model, order: Order) {
        for seat in seats.iter_mut().filter(|seat| seat.is_timed() && seat.questions > 0) {
            let Some(matcher) = &mut seat.matcher else { continue };
            if !self.measures(model) || (model == Model::Batch && !matcher.is_in_process()) {
                continue;
            }
            let list = &seat.sample.as_ref().unwrap_or(&self.lists)[order as usize];
            let time = turn(self.settings.seconds_per_pass, || {
                let pass = match model {
                    Model::Batch => matcher.batch(list, &self.hosts)?,
                    _ => matcher.pass(list)?,
                };
                seat.verification.expect(list, pass.tally).map(|()| pass.time)
            });
            let per = list.len();
            seat.record(Cell { model, order: Some(order) }, per, time);
        }
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
