//! Rounds and times.
//!
//! In each round every engine has its turn at one thing before the next thing is timed, so that what
//! slows the machine for a while slows all of them; reported are the median of the rounds, the least and
//! the most. A turn begins with a pass that does not count, so that it is the hot state that is timed,
//! and repeats its pass until a set time has gone by; the mean of the repetitions is the round's value.
//! Every pass is tallied, and an engine whose tally is not the one of the comparison has no time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::corpus::Corpus;
use super::engine::{Engine, EngineError, Matchers, Pass};
use super::file_run::FileRun;
use super::hosts::HostTable;
use super::judge::{Standing, Verification};
use super::questions::{Order, QuestionList};
use super::report::{Cell, Model};
use super::statistics::Distribution;
use crate::input::OpenConfig;

/// Seconds that one pass of an engine may take; a slower one is timed on a sample.
const PASS_SECONDS_MAX: f64 = 1.5;
/// URLs of the samples for slow engines. The largest that fits is taken.
const SAMPLES: [usize; 3] = [20_000, 2_000, 200];
/// Seconds of building past which an engine is built in the first round only, and in one order.
const BUILD_SECONDS_MAX: f64 = 3.0;

/// How rounds are run.
#[derive(Clone, Debug)]
pub(super) struct RoundSettings {
    pub rounds: usize,
    pub turn: Duration,
    pub seed: u64,
    pub models: Vec<Model>,
    pub give_back_memory: fn(),
    pub opening: OpenConfig,
}

/// An engine with its matchers, and what is known about it.
pub(super) struct Seat<'e> {
    pub engine: &'e dyn Engine,
    pub matchers: Option<Box<dyn Matchers + 'e>>,
    pub verification: Verification,
    /// Seconds that a question took when answers were compared.
    pub seconds_per_question: f64,
    /// Seconds that building took at first.
    pub build_seconds: f64,
    pub times: BTreeMap<Cell, Vec<f64>>,
    pub singles: Vec<u32>,
    /// URLs that it is timed on.
    pub questions: usize,
    /// Which of the lists that rounds run on are its own.
    pub lists: usize,
    pub notes: Vec<String>,
}

impl Seat<'_> {
    fn fail(&mut self, error: EngineError) {
        self.verification.standing = Standing::Failed(error.0);
        self.times.clear();
        self.singles.clear();
        self.matchers = None;
    }

    fn is_timed(&self) -> bool {
        self.verification.may_be_timed() && self.matchers.is_some()
    }

    fn is_slow_to_build(&self) -> bool {
        self.build_seconds > BUILD_SECONDS_MAX
    }

    /// The first answers of an engine that builds on demand cost more than the next ones; what seems
    /// slow is asked once more.
    fn ask_again(&mut self, timed: &QuestionList) {
        if self.share(timed.len()) == 0 || self.engine.parses_each_time() {
            return;
        }
        if let Some(Ok(Some(pass))) = self.matchers.as_mut().map(|matchers| matchers.pass(timed)) {
            self.seconds_per_question = pass.time.as_secs_f64() / timed.len().max(1) as f64;
        }
    }

    /// The questions of a sample for this engine, or all (0).
    fn share(&self, timed: usize) -> usize {
        let fits = |count: usize| self.seconds_per_question * count as f64 <= PASS_SECONDS_MAX;
        if !self.engine.parses_each_time() && fits(timed) {
            return 0;
        }
        let sample = SAMPLES.into_iter().find(|&count| fits(count)).unwrap_or(SAMPLES[2]);
        if sample < timed { sample } else { 0 }
    }
}

/// A list in both orders.
struct Lists {
    by_order: [QuestionList; 2],
}

impl Lists {
    fn of(list: &QuestionList, seed: u64) -> Lists {
        Lists { by_order: Order::ALL.map(|order| list.ordered(order, seed)) }
    }

    fn get(&self, order: Order) -> &QuestionList {
        &self.by_order[order as usize]
    }
}

/// Everything that rounds run on.
pub(super) struct Rounds<'c> {
    corpus: &'c Corpus,
    files: &'c [&'c [u8]],
    settings: RoundSettings,
    lists: Vec<Lists>,
    /// The length of a list that is no sample.
    timed: usize,
    hosts: HostTable,
}

impl<'c> Rounds<'c> {
    /// Lays out `timed`, the questions that every engine answers, for the engines in `seats`.
    pub fn new(
        corpus: &'c Corpus,
        files: &'c [&'c [u8]],
        timed: &QuestionList,
        seats: &mut [Seat<'_>],
        settings: RoundSettings,
    ) -> Rounds<'c> {
        let mut lists = Vec::new();
        // By the size of the sample, where engines share one.
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            seat.ask_again(timed);
            let share = seat.share(timed.len());
            let count = if share == 0 { timed.len() } else { share };
            let place = shared.get(&share).filter(|_| !seat.engine.parses_each_time());
            seat.lists = match place {
                Some(&place) => place,
                None => {
                    // One that was asked about a sample can be timed on a part of that only.
                    let answers = &seat.verification.answers;
                    let answered = timed.kept(|number| answers[number].is_some());
                    let list = answered.sample(count, settings.seed);
                    lists.push(Lists::of(&list, settings.seed));
                    lists.len() - 1
                }
            };
            if !seat.engine.parses_each_time() {
                shared.insert(share, seat.lists);
            }
            seat.questions = lists[seat.lists].get(Order::Shuffled).len();
        }
        let hosts = HostTable::of(timed);
        Rounds { corpus, files, settings, lists, timed: timed.len(), hosts }
    }

    /// Runs all rounds.
    pub fn run(&self, seats: &mut [Seat<'_>], told: &dyn Fn(&str)) {
        let file_run = self
            .wants(Model::FileToVerdict)
            .then(|| FileRun::new(self.corpus, self.settings.opening));
        for round in 1..=self.settings.rounds {
            told(&format!("round {round} of {}", self.settings.rounds));
            self.parse(seats);
            self.build(seats, round);
            for order in Order::ALL {
                self.turns(seats, Model::DecideHot, order, round);
            }
            for order in Order::ALL {
                self.turns(seats, Model::Batch, order, round);
            }
            self.singles(seats);
            if let Some(file_run) = &file_run {
                file_run.turns(seats, self.settings.turn);
            }
        }
    }

    fn wants(&self, model: Model) -> bool {
        self.settings.models.contains(&model)
    }

    fn list(&self, seat: &Seat<'_>, order: Order) -> &QuestionList {
        self.lists[seat.lists].get(order)
    }

    fn parse(&self, seats: &mut [Seat<'_>]) {
        if !self.wants(Model::Parse) || self.files.is_empty() {
            return;
        }
        let cell = Cell { model: Model::Parse, order: None, threads: 1 };
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let mut times = Vec::new();
            while times.is_empty() || times.iter().sum::<Duration>() < self.settings.turn {
                let Some(time) = seat.engine.parse(self.files) else { break };
                times.push(time);
            }
            if !times.is_empty() {
                let mean = times.iter().sum::<Duration>().as_secs_f64() / times.len() as f64;
                let value = mean * 1e9 / self.files.len() as f64;
                seat.times.entry(cell).or_default().push(value);
            }
        }
    }

    /// Compiling, and compiling with the first pass behind it, are one run.
    fn build(&self, seats: &mut [Seat<'_>], round: usize) {
        if !self.wants(Model::Compile) && !self.wants(Model::FirstTouch) {
            return;
        }
        for order in Order::ALL {
            for seat in seats.iter_mut() {
                let is_slow = seat.is_slow_to_build();
                let is_due = !is_slow || (round == 1 && order == Order::Shuffled);
                if !seat.is_timed() || seat.engine.parses_each_time() || !is_due {
                    continue;
                }
                if let Err(error) = self.build_and_ask(seat, order) {
                    seat.fail(error);
                }
            }
        }
    }

    fn build_and_ask(&self, seat: &mut Seat<'_>, order: Order) -> Result<(), EngineError> {
        let list = self.list(seat, order);
        (self.settings.give_back_memory)();
        let mut built = seat.engine.build(self.files)?;
        seat.build_seconds = built.time.as_secs_f64();
        let taken = self.files.len() - built.matchers.refusals().len();
        let mut push = |model, order, value| {
            if self.wants(model) {
                let cell = Cell { model, order, threads: 1 };
                seat.times.entry(cell).or_default().push(value);
            }
        };
        if taken > 0 {
            let value = built.time.as_secs_f64() * 1e9 / taken as f64;
            push(Model::Compile, None, value);
        }
        let is_whole = list.len() == self.timed;
        if let Some(pass) = built.matchers.pass(list)?.filter(|_| is_whole) {
            let time = built.time + pass.time;
            let value = time.as_secs_f64() * 1e9 / list.len() as f64;
            push(Model::FirstTouch, Some(order), value);
            expect(&seat.verification, list, pass)?;
        }
        Ok(())
    }

    fn turns(&self, seats: &mut [Seat<'_>], model: Model, order: Order, round: usize) {
        if !self.wants(model) {
            return;
        }
        let cell = Cell { model, order: Some(order), threads: 1 };
        for seat in seats.iter_mut().filter(|seat| seat.is_timed() && seat.questions > 0) {
            if round > 1 && !seat.times.contains_key(&cell) {
                continue; // It cannot be asked in this way.
            }
            let list = self.list(seat, order);
            let Some(matchers) = &mut seat.matchers else { continue };
            let hosts = &self.hosts;
            let verification = &seat.verification;
            let turn = turn(self.settings.turn, || {
                let pass = match model {
                    Model::Batch => matchers.batch(list, hosts)?,
                    _ => matchers.pass(list)?,
                };
                pass.map(|pass| expect(verification, list, pass).map(|()| pass.time)).transpose()
            });
            match turn {
                Ok(Some(seconds)) => {
                    let value = seconds * 1e9 / list.len() as f64;
                    seat.times.entry(cell).or_default().push(value);
                }
                Ok(None) => {}
                Err(error) => seat.fail(error),
            }
        }
    }

    fn singles(&self, seats: &mut [Seat<'_>]) {
        if !self.wants(Model::DecideHot) {
            return;
        }
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let list = self.list(seat, Order::Shuffled);
            if let Some(matchers) = &mut seat.matchers {
                matchers.single_times(list, &mut seat.singles);
            }
        }
    }
}

/// The distribution of single times; nothing if there is none.
pub(super) fn distribution(singles: &mut [u32]) -> Option<Distribution> {
    Distribution::of(singles, clock_ns())
}

/// What reading the clock twice costs: the median of many.
fn clock_ns() -> u32 {
    const READINGS: usize = 10_001;
    let reading = |_| Instant::now().elapsed().as_nanos() as u32;
    let mut readings: Vec<u32> = (0..READINGS).map(reading).collect();
    readings.sort_unstable();
    readings[READINGS / 2]
}

/// Refuses a pass that answered otherwise than the engine did when it was compared.
fn expect(verification: &Verification, list: &QuestionList, pass: Pass) -> Result<(), EngineError> {
    let expected = verification.tally(list);
    if pass.tally == expected {
        return Ok(());
    }
    let (now, before) = (pass.tally.allowed, expected.allowed);
    let error = format!(
        "a timed pass allowed {now} URLs and the comparison {before}, or others; no time counts"
    );
    Err(EngineError(error))
}

/// The mean seconds of a pass, over as many as fill a turn, behind one that does not count; nothing
/// if there is no such pass.
pub(super) fn turn(
    fill: Duration,
    mut pass: impl FnMut() -> Result<Option<Duration>, EngineError>,
) -> Result<Option<f64>, EngineError> {
    let (mut total, mut passes) = (Duration::ZERO, 0);
    if pass()?.is_none() {
        return Ok(None);
    }
    while passes == 0 || total < fill {
        let Some(time) = pass()? else { return Ok(None) };
        // A pass that takes no time that the clock can tell would never fill a turn.
        total += time.max(Duration::from_nanos(1));
        passes += 1;
    }
    Ok(Some(total.as_secs_f64() / f64::from(passes)))
}
