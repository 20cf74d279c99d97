//! `portcullis compile`: archives to a policy set; and how a set is written, which `merge` shares.

pub mod summary;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{anyhow, ensure};
use portcullis::dialect::Dialect;
use portcullis::report::Figures;
use portcullis::set::compile::{self, CompileConfig};
use portcullis::set::{
    self, IngestError, IngestObserver, Ingested, InputReport, Provenance, Strictness,
};
use portcullis::syntax::NoteKind;

use self::summary::{MergedSet, Summary};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::message::say_plainly;
use super::plan::{CompilePlan, SummaryForm};
use super::progress::{Bar, Progress};

/// Inputs and records that could not be read which are shown one by one.
const PROBLEMS_SHOWN_MAX: usize = 10;

pub fn run(plan: &CompilePlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    check_folder_of(&plan.output)?;
    let engine = Engine::new(plan.threads)?;
    let ingested = ingest(plan, &engine)?;
    let target = Target {
        output: &plan.output,
        dialect: plan.ingesting.dialect,
        robots_bytes_max: plan.ingesting.robots_bytes_max,
        summary: plan.summary,
    };
    write(&target, &[], &ingested, &engine, started)
}

/// The set to write.
pub struct Target<'p> {
    pub output: &'p Path,
    pub dialect: &'static Dialect,
    pub robots_bytes_max: Option<usize>,
    pub summary: SummaryForm,
}

/// Compiles what was ingested since `started`, from `sets` if from any, and says what was done.
///
/// # Errors
///
/// If the set cannot be written.
pub fn write(
    target: &Target<'_>,
    sets: &[MergedSet],
    ingested: &Ingested,
    engine: &Engine,
    started: Instant,
) -> anyhow::Result<ExitStatus> {
    let ingesting = started.elapsed();
    let config = CompileConfig {
        provenance: Provenance::of(&ingested.inputs, &ingested.outages).to_json(),
        history: ingested.history.clone(),
        ..CompileConfig::new(target.dialect, target.robots_bytes_max)
    };
    let write = || compile::write(&ingested.hosts, &ingested.pool, &config, target.output);
    let written = engine.install(write)?;
    let times = (ingesting, started.elapsed());
    Summary::new(target, sets, ingested, &written, times).show(target.summary);
    Ok(ExitStatus::Done)
}

/// A set that cannot be written is better told before hours of reading than after.
pub fn check_folder_of(output: &Path) -> anyhow::Result<()> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    ensure!(
        folder.is_none_or(Path::is_dir),
        "the folder of {} is not there; make it, or write the set elsewhere",
        output.display()
    );
    ensure!(!output.is_dir(), "{} is a folder, and a set is a file; name a file", output.display());
    Ok(())
}

fn ingest(plan: &CompilePlan, engine: &Engine) -> anyhow::Result<Ingested> {
    let paths: Vec<&Path> = plan.inputs.iter().map(|input| input.path.as_path()).collect();
    let observer = Observer {
        progress: Progress::over(&paths, plan.progress),
        bar: Mutex::new(Bar::default()),
    };
    let ingested = engine.install(|| set::ingest(&plan.inputs, &plan.ingesting, &observer));
    drop(observer); // The bar goes before anything is said.
    // Who asked for JSON finds the same in the object at the end, if it comes to that. An error names
    // the first problem itself.
    let inputs = ingested.as_ref().map_or_else(IngestError::inputs, |done| &done.inputs);
    let problems = |input: &InputReport| input.broken + u64::from(input.failure.is_some());
    let shows = match &ingested {
        Ok(_) => plan.summary != SummaryForm::Json,
        Err(_) => inputs.iter().map(problems).sum::<u64>() > 1,
    };
    if shows {
        show_problems(inputs);
    }
    let ingested = ingested.map_err(|error| match plan.ingesting.strictness {
        Strictness::Usual if !error.inputs().iter().all(InputReport::is_readable) => {
            anyhow!("{error}; nothing was compiled (--lenient leaves out what cannot be read)")
        }
        _ => anyhow!("{error}; nothing was compiled"),
    })?;
    let counts = &ingested.counts;
    let figure = |kind: NoteKind| (kind.as_str(), counts.with_file_note(kind));
    let figures = Figures(NoteKind::APPEARANCES.map(figure).into());
    if plan.summary != SummaryForm::Json && figures.0.iter().any(|&(_, count)| count > 0) {
        say_plainly(format_args!(
            "warning: origins whose robots.txt looks like something else, read as {} says: {figures}",
            plan.ingesting.dialect.name
        ));
    }
    Ok(ingested)
}

/// Draws the bar as pieces are read, on whatever thread reads them.
struct Observer {
    progress: Progress,
    bar: Mutex<Bar>,
}

impl IngestObserver for Observer {
    fn progressed(&self, progress: &set::Progress) {
        self.progress.bytes_done().fetch_add(progress.bytes, Ordering::Relaxed);
        // Nobody waits for another thread's drawing.
        if let Ok(mut bar) = self.bar.try_lock() {
            self.progress.draw(&mut bar);
        }
    }
}

/// Reports what could not be read.
fn show_problems(inputs: &[InputReport]) {
    let show = |text: &str| say_plainly(format_args!("note: {text}"));
    let failed: Vec<&InputReport> = inputs.iter().filter(|input| input.failure.is_some()).collect();
    for input in failed.iter().take(PROBLEMS_SHOWN_MAX) {
        show(&format!(
            "{} ({} captures were read)",
            input.failure.as_deref().unwrap_or_default(),
            input.captures
        ));
    }
    if failed.len() > PROBLEMS_SHOWN_MAX {
        let rest = failed.len() - PROBLEMS_SHOWN_MAX;
        show(&format!("and {rest} more inputs that cannot be read to their ends"));
    }
    let broken = inputs.iter().flat_map(|input| {
        input.broken_named.iter().map(|broken| (&input.name, &broken.place, &broken.problem))
    });
    let mut shown = 0;
    for (name, place, problem) in broken.take(PROBLEMS_SHOWN_MAX) {
        show(&format!("{name}: {place}: left out: {problem}"));
        shown += 1;
    }
    let all: u64 = inputs.iter().map(|input| input.broken).sum();
    if all > shown {
        show(&format!("and {} more broken records that were left out", all - shown));
    }
}
