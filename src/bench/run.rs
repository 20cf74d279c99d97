//! A whole measurement, from engines and a corpus to a report.

use std::time::{Duration, Instant};

use super::corpus::Corpus;
use super::curves;
use super::engine::{Engine, EngineKind};
use super::engines::{self, BASELINE};
use super::judge::{Judgement, Verification};
use super::machine::Machine;
use super::measure::{RoundSettings, Rounds, Seat, distribution};
use super::memory::MemoryUse;
use super::questions::QuestionList;
use super::report::{
    CorpusFacts, EngineReport, Measurement, Model, REPORT_FORMAT, Report, SettingFacts,
};
use super::runner::{Runner, RunnerCommand};
use crate::input::OpenConfig;

/// URLs that an engine which reads the file for each of them is asked about.
const SAMPLE_URLS: usize = 20_000;

/// An engine that leaves more than one in so many URLs without an answer is not timed: what it does
/// not answer is timed for nobody, and little would be left.
const UNANSWERED_ONE_IN: usize = 20;

/// What is measured, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rounds.
    pub rounds: usize,
    /// Seconds that one turn of one engine fills at least.
    pub seconds_per_pass: f64,
    /// What orders and samples are drawn from.
    pub seed: u64,
    /// The engines that take part, by name; all, if there is none.
    pub engines: Vec<String>,
    /// The engine that ratios are to; if it takes no part, the first.
    pub baseline: Option<String>,
    /// What is measured; all, if there is none.
    pub models: Vec<Model>,
    /// Programs that take part.
    pub runners: Vec<RunnerCommand>,
    /// Whether growth is measured too. It takes some minutes.
    pub curves: bool,
    /// Whether this program may be started again for each engine, to measure its memory. The
    /// program has to know [`MEMORY_FLAG`](super::MEMORY_FLAG).
    pub memory: bool,
    /// Gives free memory back to the system. It is called before each build, so that every engine pays for
    /// all memory that it takes, whatever was freed before.
    pub give_back_memory: fn(),
    /// How lists are opened for runs over files. They are read by default; measure with what your
    /// program does.
    pub opening: OpenConfig,
    /// What was typed, for the report.
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

/// Settings ask for something that is not there.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchError {
    /// No engine has this name.
    #[error("there is no engine {name}; there are {known}")]
    NoSuchEngine {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// No round, or no time for one.
    #[error("nothing would be measured; ask for one round at least, and no negative time")]
    NoRound,
    /// Two engines have one name.
    #[error("two engines have the name {name}; give the runner another")]
    SameName {
        /// The name.
        name: String,
    },
}

/// The engines that take part: those that are built in, `others`, and runners.
///
/// # Errors
///
/// If a name is nobody's, or is that of two.
pub fn chosen<'c>(
    corpus: &'c Corpus,
    others: Vec<Box<dyn Engine + 'c>>,
    settings: &Settings,
) -> Result<Vec<Box<dyn Engine + 'c>>, BenchError> {
    let mut all = engines::built_in(corpus);
    all.extend(others);
    for command in &settings.runners {
        all.push(Box::new(Runner::new(command.clone(), corpus)));
    }
    for (position, engine) in all.iter().enumerate() {
        if all[..position].iter().any(|other| other.name() == engine.name()) {
            return Err(BenchError::SameName { name: engine.name().to_owned() });
        }
    }
    let known: Vec<String> = all.iter().map(|engine| engine.name().to_owned()).collect();
    for name in settings.engines.iter().chain(&settings.baseline) {
        if !known.contains(name) {
            return Err(BenchError::NoSuchEngine { name: name.clone(), known: known.join(", ") });
        }
    }
    // Whoever names engines has a look at those, and at a runner or baseline that was named too.
    all.retain(|engine| {
        let name = engine.name();
        settings.engines.is_empty()
            || settings.engines.iter().any(|asked| asked == name)
            || settings.baseline.as_deref() == Some(name)
            || engine.kind() == EngineKind::Runner
    });
    Ok(all)
}

/// A command as a report shows it: of paths only the last part, for the rest is nobody's business.
pub fn command_line(program: &str, arguments: impl Iterator<Item = String>) -> String {
    let mut line = program.to_owned();
    for argument in arguments {
        let shown: Vec<&str> = argument.split(' ').map(last_part).collect();
        line.push(' ');
        line += &shown.join(" ");
    }
    line
}

fn last_part(word: &str) -> &str {
    word.trim_end_matches('/').rsplit('/').next().unwrap_or(word)
}

/// Compares the answers of `engines`, times those that may be, and tells `told` how far it is.
///
/// What engines compile runs on the calling thread's rayon pool. Give it one of one thread, so that
/// all engines have one.
///
/// # Errors
///
/// If the settings ask for nothing.
pub fn run(
    corpus: &Corpus,
    engines: &[Box<dyn Engine + '_>],
    settings: &Settings,
    told: &dyn Fn(&str),
) -> Result<Report, BenchError> {
    let turn = Duration::try_from_secs_f64(settings.seconds_per_pass);
    let Ok(turn) = turn.map_err(|_| ()).and_then(|turn| match settings.rounds {
        0 => Err(()),
        _ => Ok(turn),
    }) else {
        return Err(BenchError::NoRound);
    };
    let machine = Machine::here();
    told(&format!("the oracle judges {} URLs", corpus.questions.len()));
    let start = Instant::now();
    let judgement = on_all_cores(|| Judgement::of(corpus));
    let oracle_seconds = start.elapsed().as_secs_f64();
    let files = corpus.files();
    let (mut seats, timed) = timed(corpus, &files, engines, settings, turn, &judgement, told);
    let judged = judgement.tally(&corpus.questions);
    let baseline = baseline(&seats, settings);
    let mut reports: Vec<EngineReport> =
        seats.iter_mut().map(|seat| engine_report(seat, settings.memory, told)).collect();
    drop(seats);
    set_ratios(&mut reports, &baseline);
    let curves = if settings.curves { curves::measure(turn, told) } else { Vec::new() };
    Ok(Report {
        format: REPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: settings.command.clone(),
        machine,
        corpus: CorpusFacts {
            timed,
            allowed: judged.allowed,
            checksum: format!("{:016x}", judged.checksum),
            oracle_seconds,
            ..facts(corpus)
        },
        settings: SettingFacts {
            rounds: settings.rounds,
            seconds_per_pass: settings.seconds_per_pass,
            seed: settings.seed,
        },
        baseline,
        engines: reports,
        curves,
    })
}

fn facts(corpus: &Corpus) -> CorpusFacts {
    let name = corpus.list_path.file_name().unwrap_or_default();
    let mut texts = corpus.file_texts().to_vec();
    texts.sort_unstable();
    texts.dedup();
    CorpusFacts {
        list: name.to_string_lossy().into_owned(),
        list_bytes: corpus.list_bytes(),
        dialect: corpus.dialect().name.to_owned(),
        agent: corpus.agent.name().to_owned(),
        files: corpus.file_texts().len(),
        texts: texts.len(),
        file_bytes: corpus.file_bytes(),
        texts_cut: corpus.texts_cut,
        questions: corpus.questions.len(),
        timed: 0,
        allowed: 0,
        checksum: String::new(),
        oracle_seconds: 0.0,
        left_out: corpus.left_out,
    }
}

/// The oracle is slow, and nobody times it here.
fn on_all_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Seats for all engines, compared and timed, and how many questions were timed.
fn timed<'e>(
    corpus: &'e Corpus,
    files: &'e [&'e [u8]],
    engines: &'e [Box<dyn Engine + 'e>],
    settings: &Settings,
    turn: Duration,
    judgement: &Judgement,
    told: &dyn Fn(&str),
) -> (Vec<Seat<'e>>, usize) {
    let sample = corpus.questions.sample(SAMPLE_URLS, settings.seed);
    let mut seats = Vec::new();
    for engine in engines {
        told(&format!("comparing the answers of {}", engine.name()));
        let list = if engine.parses_each_time() { &sample } else { &corpus.questions };
        seats.push(seat(&**engine, files, list, judgement));
    }
    let timed = answered_by_all(&corpus.questions, &mut seats);
    let models = match settings.models.is_empty() {
        true => Model::ALL.to_vec(),
        false => settings.models.clone(),
    };
    let settings = RoundSettings {
        rounds: settings.rounds,
        turn,
        seed: settings.seed,
        models,
        give_back_memory: settings.give_back_memory,
        opening: settings.opening,
    };
    let rounds = Rounds::new(corpus, files, &timed, &mut seats, settings);
    rounds.run(&mut seats, told);
    (seats, timed.len())
}

/// Builds an engine and compares its answers.
fn seat<'e>(
    engine: &'e dyn Engine,
    files: &'e [&'e [u8]],
    list: &QuestionList,
    judgement: &Judgement,
) -> Seat<'e> {
    let start = Instant::now();
    let built = engine.build(files);
    let build_seconds = start.elapsed().as_secs_f64();
    let (verification, matchers, seconds) = match built {
        Err(error) => (Verification::failed(error), None, 0.0),
        Ok(built) => {
            let mut matchers = built.matchers;
            let start = Instant::now();
            let verification = judgement.compare(engine.kind(), &mut *matchers, list);
            (verification, Some(matchers), start.elapsed().as_secs_f64())
        }
    };
    Seat {
        engine,
        notes: matchers.iter().filter_map(|matchers| matchers.note()).collect(),
        matchers,
        verification,
        seconds_per_question: seconds / list.len().max(1) as f64,
        build_seconds,
        times: Default::default(),
        singles: Vec::new(),
        questions: 0,
        lists: 0,
    }
}

/// The questions that every engine answers which may be timed. One that leaves too many open may not.
fn answered_by_all(questions: &QuestionList, seats: &mut [Seat<'_>]) -> QuestionList {
    for seat in seats.iter_mut().filter(|seat| seat.verification.may_be_timed()) {
        let Verification { asked, answered, .. } = seat.verification;
        if (asked - answered) * UNANSWERED_ONE_IN > asked {
            seat.notes.push(format!("not timed: it leaves {} URLs open", asked - answered));
            seat.matchers = None;
        }
    }
    let mut is_open = vec![false; questions.len()];
    for seat in seats.iter().filter(|seat| seat.matchers.is_some()) {
        // A slow engine was asked about a sample, and is timed on a part of that.
        if seat.engine.parses_each_time() || !seat.verification.may_be_timed() {
            continue;
        }
        let answers = is_open.iter_mut().zip(&seat.verification.answers);
        answers.for_each(|(is_open, answer)| *is_open |= answer.is_none());
    }
    questions.kept(|number| !is_open[number])
}

fn baseline(seats: &[Seat<'_>], settings: &Settings) -> String {
    let asked = settings.baseline.as_deref().unwrap_or(BASELINE);
    let named = seats.iter().find(|seat| seat.engine.name() == asked);
    named.or(seats.first()).map_or_else(String::new, |seat| seat.engine.name().to_owned())
}

fn engine_report(seat: &mut Seat<'_>, memory: bool, told: &dyn Fn(&str)) -> EngineReport {
    let name = seat.engine.name();
    let measures_memory = memory && seat.engine.kind() != EngineKind::Runner;
    let memory = measures_memory.then(|| {
        told(&format!("measuring the memory of {name}"));
        MemoryUse::by_child(name)
    });
    let times = std::mem::take(&mut seat.times);
    EngineReport {
        name: name.to_owned(),
        version: seat.engine.version().to_owned(),
        kind: seat.engine.kind(),
        questions: seat.questions,
        results: times.into_iter().filter_map(|(cell, it)| Measurement::of(cell, it)).collect(),
        single: distribution(&mut seat.singles),
        matcher_bytes: seat.matchers.as_ref().and_then(|matchers| matchers.bytes()),
        memory: memory.flatten(),
        notes: std::mem::take(&mut seat.notes),
        verification: std::mem::take(&mut seat.verification),
    }
}

/// A ratio needs the baseline's time of the same thing.
fn set_ratios(reports: &mut [EngineReport], baseline: &str) {
    let Some(base) = reports.iter().find(|engine| engine.name == baseline).cloned() else { return };
    for result in reports.iter_mut().flat_map(|engine| &mut engine.results) {
        let base = base.result(result.cell).map(|base| base.median_ns);
        result.ratio = base.filter(|&base| base > 0.0).map(|base| result.median_ns / base);
    }
}
