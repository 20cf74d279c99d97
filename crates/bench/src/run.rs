//! Runs a whole measurement: compares engines with the oracle, then times them in rounds.
//!
//! In each round, every engine has its turn at one column before the next column is timed, so that
//! a slow phase of the machine slows all engines. Every pass is tallied, and an engine whose tally
//! differs from the comparison's has no times. [`ListRun`] is a run over a list as on the command
//! line; only portcullis can be timed on it. A measurement fails only if the settings are invalid.
//! Failures of an engine are part of the report.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_io::input::{OpenConfig, Record, Source};
use portcullis_io::list::{Arena, ListRecords};
use portcullis_robots::policy::AgentChain;
use portcullis_robots::visible::is_hidden;
use portcullis_set::PolicySet;
use portcullis_set::batch::runner::{self as batch_runner, Config};
use portcullis_set::batch::{Classifier, Session};

use super::corpus::{Corpus, UrlList};
use super::engine::{Engine, EngineError, EngineKind, Matcher};
use super::engines::{BASELINE, built_in};
use super::growth;
use super::judge::{Judgement, Status, Verification};
use super::machine::{Machine, MemoryUse};
use super::questions::{HostTable, Order, QuestionList};
use super::report::{
    Cell, CorpusFacts, EngineReport, Measurement, Model, REPORT_FORMAT, Report, SettingFacts,
};
use super::runner::{self, RunnerCommand};
use super::timing::{Distribution, clock_ns, turn};

/// The number of sample URLs for an engine that reads the file for each URL.
const SAMPLE_URLS: usize = 20_000;
/// An engine that leaves more than one in this many URLs unanswered is not timed. A URL that it
/// does not answer is not timed for any engine, so too few would be left.
const UNANSWERED_ONE_IN: usize = 20;
/// The most seconds for one pass of an engine. A slower engine is timed on a sample.
const PASS_SECONDS_MAX: f64 = 1.5;
/// The sizes of the samples for slow engines. The largest that fits is used.
const SAMPLES: [usize; 3] = [20_000, 2_000, 200];
/// The most seconds to build an engine in every round. A slower engine is built in the first round
/// and in one order only.
const BUILD_SECONDS_MAX: f64 = 10.0;

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of rounds.
    pub rounds: usize,
    /// The least seconds in one turn of one engine.
    pub seconds_per_pass: f64,
    /// The seed of orders and samples.
    pub seed: u64,
    /// The engines that take part, by name. Empty means all.
    pub engines: Vec<String>,
    /// The engine that ratios refer to. The first engine if it does not take part.
    pub baseline: Option<String>,
    /// The models to measure. Empty means all.
    pub models: Vec<Model>,
    /// Programs that take part.
    pub runners: Vec<RunnerCommand>,
    /// Whether growth is measured too, which takes a few minutes.
    pub curves: bool,
    /// Whether this program may be started again for each engine, to measure its memory. The
    /// program must implement [`MEMORY_FLAG`](super::MEMORY_FLAG).
    pub memory: bool,
    /// Returns free memory to the system. Called before each build, so that every engine pays for
    /// all its memory, regardless of memory freed before.
    pub give_back_memory: fn(),
    /// How lists are opened for runs over files. By default they are read.
    pub opening: OpenConfig,
    /// The command line, for the report.
    pub command: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            rounds: 5,
            seconds_per_pass: 0.1,
            seed: 9309,
            engines: Vec::new(),
            baseline: None,
            models: Vec::new(),
            runners: Vec::new(),
            curves: false,
            memory: false,
            give_back_memory: || (),
            opening: OpenConfig::default(),
            command: String::new(),
        }
    }
}

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
    /// The number of rounds is 0, or a time is negative.
    #[error("nothing would be measured; ask for one round at least, and no negative time")]
    NoRound,
    /// Two engines have the same name.
    #[error("two engines have the name {name}; give the runner another")]
    SameName {
        /// The name.
        name: String,
    },
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
    all.extend(runners.map(|command| runner::engine(command, corpus.agent.name())));
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

/// Returns a command for a report. Its arguments are quoted so that a shell repeats it.
pub fn command_line(program: &str, arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.map(|argument| quoted(&argument));
    std::iter::once(program.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a shell, if it needs that: in `'…'`, or in `$'…'` (POSIX 2024) if it has
/// hidden characters or is not UTF-8.
fn quoted(word: &OsStr) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(byte);
    let bytes = word.as_encoded_bytes();
    match word.to_str() {
        Some(text) if !text.is_empty() && bytes.iter().all(is_plain) => text.to_owned(),
        Some(text) if !text.contains(is_hidden) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let byte = |&byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            format!("$'{}'", bytes.iter().map(byte).collect::<String>())
        }
    }
}

/// Compares the answers of `engines` with the oracle's and times the engines that may be timed.
/// `progress` gets a line for each step.
///
/// Engines compile on the calling thread's rayon pool. Install a pool of one thread, so that every
/// engine uses one thread.
///
/// # Errors
///
/// If the settings are invalid.
pub fn run<'c>(
    corpus: &'c Corpus,
    engines: &[Engine<'c>],
    settings: &Settings,
    progress: &dyn Fn(&str),
) -> Result<Report, BenchError> {
    let fill = match Duration::try_from_secs_f64(settings.seconds_per_pass) {
        Ok(fill) if settings.rounds > 0 => fill,
        _ => return Err(BenchError::NoRound),
    };
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
    let rounds = Rounds::new(corpus, files, &timed, &mut seats, (settings, fill));
    rounds.run(&mut seats, progress);

    let judged = judgement.tally(&corpus.questions);
    let asked = settings.baseline.as_deref().unwrap_or(BASELINE);
    let named = engines.iter().find(|engine| engine.name == asked).or(engines.first());
    let baseline = named.map_or_else(String::new, |engine| engine.name.clone());
    let mut reports: Vec<EngineReport> =
        seats.into_iter().map(|seat| seat.report(settings.memory, progress)).collect();
    set_ratios(&mut reports, &baseline);
    let list = corpus.list.path.file_name().unwrap_or_default();
    let read_as = &corpus.read_as;
    Ok(Report {
        format: REPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: settings.command.clone(),
        machine,
        corpus: CorpusFacts {
            list: list.to_string_lossy().into_owned(),
            list_format: read_as.note().unwrap_or(read_as.format().describe()).to_owned(),
            list_bytes: corpus.list_bytes,
            dialect: corpus.dialect().name.to_owned(),
            agent: corpus.agent.name().to_owned(),
            files: rounds.files.len(),
            texts: corpus.distinct_texts(),
            file_bytes: rounds.files.iter().map(|text| text.len() as u64).sum(),
            texts_cut: corpus.texts_cut(),
            questions: corpus.questions.len(),
            timed: timed.len(),
            allowed: judged.allowed,
            checksum: format!("{:016x}", judged.checksum),
            oracle_seconds,
            left_out: corpus.left_out,
        },
        settings: SettingFacts {
            rounds: settings.rounds,
            seconds_per_pass: settings.seconds_per_pass,
            seed: settings.seed,
        },
        baseline,
        engines: reports,
        curves: match settings.curves {
            true => growth::measure(&growth::USUAL, fill, progress),
            false => Vec::new(),
        },
    })
}

/// Runs untimed work on all cores.
pub fn on_all_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
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
    singles: Vec<u32>,
    /// The number of URLs that it is timed on.
    questions: usize,
    /// The position of its lists in [`Rounds::lists`].
    lists: usize,
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
            singles: Vec::new(),
            questions: 0,
            lists: 0,
        }
    }

    fn is_timed(&self) -> bool {
        self.verification.may_be_timed() && self.matcher.is_some()
    }

    fn fail(&mut self, error: EngineError) {
        self.verification.status = Status::Failed(error.0);
        self.times.clear();
        self.singles.clear();
        self.matcher = None;
    }

    /// Stores the time of a turn, divided by `per` files or URLs.
    fn record(&mut self, cell: Cell, per: usize, turn: Result<f64, EngineError>) {
        match turn {
            Ok(seconds) => self.times.entry(cell).or_default().push(seconds * 1e9 / per as f64),
            Err(error) => self.fail(error),
        }
    }

    /// Returns the number of questions in its sample, or of all questions.
    fn share(&self, timed: usize) -> usize {
        let fits = |count: usize| self.seconds_per_question * count as f64 <= PASS_SECONDS_MAX;
        if !self.engine.reads_each_time && fits(timed) {
            return timed;
        }
        let sample = SAMPLES.into_iter().find(|&count| fits(count)).unwrap_or(SAMPLES[2]);
        sample.min(timed)
    }

    fn report(mut self, memory: bool, progress: &dyn Fn(&str)) -> EngineReport {
        let Engine { name, version, kind, .. } = self.engine;
        let memory = memory && *kind != EngineKind::Runner;
        EngineReport {
            name: name.clone(),
            version: version.clone(),
            kind: *kind,
            questions: self.questions,
            results: self
                .times
                .into_iter()
                .filter_map(|(cell, it)| Measurement::of(cell, it))
                .collect(),
            single: Distribution::of(&mut self.singles, clock_ns()),
            matcher_bytes: self.matcher.as_ref().and_then(|matcher| matcher.bytes()),
            memory: memory
                .then(|| progress(&format!("measuring the memory of {name}")))
                .and_then(|()| MemoryUse::by_child(name)),
            notes: self.notes,
            verification: self.verification,
        }
    }
}

/// The state of the rounds.
struct Rounds<'r, 'c> {
    corpus: &'c Corpus,
    files: Vec<&'c [u8]>,
    settings: &'r Settings,
    fill: Duration,
    /// The lists of all timed questions and of samples, in each [`Order`].
    lists: Vec<[QuestionList; 2]>,
    /// The length of the full list.
    timed: usize,
    hosts: HostTable,
}

impl<'r, 'c> Rounds<'r, 'c> {
    /// Lays out `timed`, the questions that every engine answers, for the engines in `seats`.
    fn new(
        corpus: &'c Corpus,
        files: Vec<&'c [u8]>,
        timed: &QuestionList,
        seats: &mut [Seat<'_, '_>],
        (settings, fill): (&'r Settings, Duration),
    ) -> Rounds<'r, 'c> {
        let mut lists: Vec<[QuestionList; 2]> = Vec::new();
        // The lists by size, which engines share.
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let reads_each_time = seat.engine.reads_each_time;
            // The first answers of a lazy engine cost more than later ones, so an engine that seems
            // slow is measured again.
            if seat.share(timed.len()) < timed.len()
                && !reads_each_time
                && let Some(Ok(pass)) = seat.matcher.as_mut().map(|matcher| matcher.pass(timed))
            {
                seat.seconds_per_question = pass.time.as_secs_f64() / timed.len().max(1) as f64;
            }
            let share = seat.share(timed.len());
            seat.lists = match shared.get(&share).filter(|_| !reads_each_time) {
                Some(&place) => place,
                None => {
                    // An engine that was compared on a sample can only be timed on a part of it.
                    let answers = &seat.verification.answers;
                    let answered = timed.kept(|number| answers[number].is_some());
                    let list = answered.sample(share, settings.seed);
                    lists.push(Order::ALL.map(|order| list.ordered(order, settings.seed)));
                    lists.len() - 1
                }
            };
            if !reads_each_time {
                shared.insert(share, seat.lists);
            }
            seat.questions = lists[seat.lists][0].len();
        }
        let hosts = HostTable::of(timed);
        Rounds { corpus, files, settings, fill, lists, timed: timed.len(), hosts }
    }

    fn run(&self, seats: &mut [Seat<'_, 'c>], progress: &dyn Fn(&str)) {
        for round in 1..=self.settings.rounds {
            progress(&format!("round {round} of {}", self.settings.rounds));
            self.parse(seats);
            for order in Order::ALL {
                self.build(seats, order, round);
            }
            for model in [Model::DecideHot, Model::Batch] {
                for order in Order::ALL {
                    self.turns(seats, model, order);
                }
            }
            self.singles(seats);
            self.list_runs(seats);
        }
    }

    fn measures(&self, model: Model) -> bool {
        self.settings.models.is_empty() || self.settings.models.contains(&model)
    }

    fn list(&self, seat: &Seat<'_, '_>, order: Order) -> &QuestionList {
        &self.lists[seat.lists][order as usize]
    }

    fn parse(&self, seats: &mut [Seat<'_, 'c>]) {
        if !self.measures(Model::Parse) || self.files.is_empty() {
            return;
        }
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let Some(parse) = &seat.engine.parse else { continue };
            let time = turn(self.fill, || {
                let start = Instant::now();
                parse(&self.files);
                Ok(start.elapsed())
            });
            seat.record(Cell::of(Model::Parse, None), self.files.len(), time);
        }
    }

    /// Times the build, and the build with one pass after it, in one run.
    fn build(&self, seats: &mut [Seat<'_, 'c>], order: Order, round: usize) {
        if !self.measures(Model::Compile) && !self.measures(Model::FirstTouch) {
            return;
        }
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let is_slow = seat.build_seconds > BUILD_SECONDS_MAX;
            let is_due = !is_slow || (round == 1 && order == Order::Shuffled);
            if seat.engine.reads_each_time || !is_due {
                continue;
            }
            if let Err(error) = self.build_and_ask(seat, order) {
                seat.fail(error);
            }
        }
    }

    fn build_and_ask(&self, seat: &mut Seat<'_, 'c>, order: Order) -> Result<(), EngineError> {
        let list = self.list(seat, order);
        (self.settings.give_back_memory)();
        let mut built = (seat.engine.build)(&self.files)?;
        seat.build_seconds = built.time.as_secs_f64();
        let accepted = self.files.len() - built.matcher.refusals().len();
        if accepted > 0 && self.measures(Model::Compile) {
            seat.record(Cell::of(Model::Compile, None), accepted, Ok(seat.build_seconds));
        }
        if list.len() == self.timed {
            let pass = built.matcher.pass(list)?;
            seat.verification.expect(list, pass.tally)?;
            if self.measures(Model::FirstTouch) {
                let seconds = (built.time + pass.time).as_secs_f64();
                seat.record(Cell::of(Model::FirstTouch, Some(order)), list.len(), Ok(seconds));
            }
        }
        Ok(())
    }

    fn turns(&self, seats: &mut [Seat<'_, 'c>], model: Model, order: Order) {
        for seat in seats.iter_mut().filter(|seat| seat.is_timed() && seat.questions > 0) {
            let list = self.list(seat, order);
            let Some(matcher) = &mut seat.matcher else { continue };
            if !self.measures(model) || (model == Model::Batch && !matcher.is_in_process()) {
                continue;
            }
            let time = turn(self.fill, || {
                let pass = match model {
                    Model::Batch => matcher.batch(list, &self.hosts)?,
                    _ => matcher.pass(list)?,
                };
                seat.verification.expect(list, pass.tally).map(|()| pass.time)
            });
            seat.record(Cell::of(model, Some(order)), list.len(), time);
        }
    }

    fn singles(&self, seats: &mut [Seat<'_, 'c>]) {
        for seat in seats.iter_mut().filter(|seat| seat.is_timed()) {
            let list = self.list(seat, Order::Shuffled);
            if let Some(matcher) = &mut seat.matcher
                && self.measures(Model::DecideHot)
                && matcher.is_in_process()
            {
                matcher.single_times(list, &mut seat.singles);
            }
        }
    }

    /// Times a run over the corpus's own list for each number of threads.
    fn list_runs(&self, seats: &mut [Seat<'_, 'c>]) {
        let corpus = self.corpus;
        // URLs that are not text are in the list too, but were not judged.
        if !self.measures(Model::FileToVerdict) || corpus.left_out.not_text > 0 {
            return;
        }
        let is_ours = |seat: &&mut Seat<'_, 'c>| {
            seat.engine.kind == EngineKind::BuiltIn && seat.engine.name == BASELINE
        };
        let Some(seat) = seats.iter_mut().find(is_ours) else { return };
        let run = ListRun::new(&corpus.set, &corpus.agent, &corpus.list, self.settings.opening);
        let expected = seat.verification.allowed + corpus.allowed_without_file;
        for threads in thread_counts() {
            if !seat.is_timed() {
                return;
            }
            let time = turn(self.fill, || {
                let (time, allowed) = run.as_ref().map_err(EngineError::clone)?.pass(threads)?;
                match allowed == expected {
                    true => Ok(time),
                    false => Err(EngineError(format!(
                        "a run over the file allowed {allowed} URLs and the oracle {expected}"
                    ))),
                }
            });
            let cell = Cell { threads, ..Cell::of(Model::FileToVerdict, None) };
            seat.record(cell, corpus.list_records, time);
        }
    }
}

/// A run over a list: compiled policies and the list.
pub struct ListRun {
    classifier: Arc<Classifier>,
    list: List,
}

enum List {
    File(UrlList, OpenConfig),
    Memory(Arc<[u8]>),
}

impl ListRun {
    /// Returns a run over `list` against `set`, for `agent`.
    ///
    /// # Errors
    ///
    /// If the set is damaged, or was compiled for other agents.
    pub fn new(
        set: &Arc<PolicySet>,
        agent: &AgentChain,
        list: &UrlList,
        opening: OpenConfig,
    ) -> Result<ListRun, EngineError> {
        ListRun::over(List::File(list.clone(), opening), set, agent)
    }

    /// Returns a run over a list of lines in memory.
    pub(super) fn in_memory(
        set: &Arc<PolicySet>,
        agent: &AgentChain,
        list: Vec<u8>,
    ) -> Result<ListRun, EngineError> {
        ListRun::over(List::Memory(list.into()), set, agent)
    }

    fn over(list: List, set: &Arc<PolicySet>, agent: &AgentChain) -> Result<ListRun, EngineError> {
        let classifier = Classifier::new(Arc::clone(set), vec![agent.clone()]);
        let classifier = classifier.map_err(|error| EngineError(error.to_string()))?;
        Ok(ListRun { classifier: classifier.into(), list })
    }

    /// Returns the time from opening the list to its counted verdicts, and the number of allowed
    /// URLs. Threads and their memory are new, so lazy automata are built in each pass.
    ///
    /// # Errors
    ///
    /// If the list cannot be read.
    pub fn pass(&self, threads: usize) -> Result<(Duration, u64), EngineError> {
        let classifier = &self.classifier;
        let start = Instant::now();
        let (source, lists) = match &self.list {
            List::File(list, opening) => (Source::open(&list.path, *opening), Some(&list.config)),
            List::Memory(list) => {
                let reader = Cursor::new(Arc::clone(list));
                (Ok(Source::from_reader("a list", reader, OpenConfig::default())), None)
            }
        };
        let mut allowed = 0;
        batch_runner::run(
            [source],
            &Config { threads, lists, ..Config::default() },
            || (Session::new(Arc::clone(classifier), None), Arena::new()),
            |(session, arena), chunk, count: &mut u64| {
                arena.reset();
                *count = count_allowed(session, chunk.records(arena));
            },
            |count| {
                allowed += *count;
                Ok::<(), io::Error>(())
            },
        )
        .map_err(|error| EngineError(error.to_string()))?;
        Ok((start.elapsed(), allowed))
    }
}

/// Counts the allowed URLs in a chunk. A damaged set counts as 0, which the comparison detects.
fn count_allowed(session: &mut Session, mut records: ListRecords<'_>) -> u64 {
    let mut allowed = 0;
    let mut block: Vec<Record<'_>> = Vec::with_capacity(RECORDS_AT_ONCE);
    loop {
        records.fill(&mut block, RECORDS_AT_ONCE);
        if block.is_empty() {
            return allowed;
        }
        let decisions = session.classify(&block).unwrap_or_default();
        let allows = |decision: &&Decision| decision.verdict == Verdict::Allow;
        allowed += decisions.iter().filter(allows).count() as u64;
    }
}

/// Returns the numbers of threads to measure: 1, 2, 4 and so on, and one per core.
pub(super) fn thread_counts() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&n| n < cores).collect();
    counts.push(cores);
    counts
}
