//! `portcullis compile` and `portcullis merge`: policy sets from archives and from other sets.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use portcullis_build::compile::{self, CompileConfig, CompiledSet};
use portcullis_build::limits::SETS_AT_ONCE;
use portcullis_build::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, InputReport, MergeSettings, Merger,
    OutageConfig, ReadBackError, StandingCounts, Strictness,
};
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::Dialect;
use portcullis_files::kind::POLICY_SET;
use portcullis_io::{CaptureConfig, CaptureFormat, FieldMap};
use portcullis_report::Figures;
use portcullis_robots::access::{CaptureNote, DateSpan, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::PolicySet;
use portcullis_text::figures::seconds;
use portcullis_text::visible::visible;
use serde::Serialize;

use super::args::{
    CapturePath, CompileArgs, CompileMemoryArgs, MergeArgs, OutageArgs, RunArgs, SetOutputArgs,
};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::lists;
use super::mapped;
use super::message::{Notes, counted, say_plainly};
use super::plan::{self, SummaryForm};
use super::stream::{Bar, Progress};
use super::summary;

/// The most unreadable inputs and records that are reported one by one.
const PROBLEMS_SHOWN_MAX: usize = 10;

pub fn compile(args: CompileArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let dialect = args.text.dialect();
    plan::set_output(&args.output.output)?;
    if let Some(sets) = sets_to_compile(&args)? {
        return compile_sets(&sets, &args.outages, &args.output, &args.run, &args.memory);
    }
    let output = args.output.output;
    plan::long_outage(args.outages.long_outage, dialect)?;
    let fields = FieldMap::new(args.fields).map_err(|error| anyhow!("--field: {error}"))?;
    let engine = Engine::new(args.run.threads.threads)?;
    let config = IngestConfig {
        capture: CaptureConfig { fields, ..CaptureConfig::default() },
        strictness: plan::strictness(args.strict.strict, args.lenient.lenient),
        outages: OutageConfig {
            as_of: args.outages.as_of,
            long_outage: args.outages.long_outage.unwrap_or_default(),
        },
        history: args.history,
        scratch: args.memory.scratch(Some(&output)),
        ..IngestConfig::new(dialect, args.text.bytes_max())
    };
    let (format, summary) = (args.input_format, plan::summary_form(&args.run));
    let mut notes = Notes { are_kept: summary == SummaryForm::Json, kept: Vec::new() };
    let paths = args.inputs.iter().map(CapturePath::path);
    let inputs = lists::expand_captures(paths, format, &mut notes)?.into_iter();
    let inputs: Vec<Input> = inputs.map(|input| Input { path: input.path, format }).collect();
    let target = Target { output: &output, dialect, summary, notes: notes.kept };
    let ingested = ingest(&inputs, &config, &engine, !args.run.no_progress, target.summary)?;
    let scratch = config.scratch;
    let config = CompileConfig::of(&ingested, config.dialect, config.robots_bytes_max);
    let config = CompileConfig { scratch, ..config };
    write(&target, &[], (&ingested, &config), &engine, started)
}

pub fn merge(args: &MergeArgs) -> anyhow::Result<ExitStatus> {
    plan::set_output(&args.output.output)?;
    compile_sets(&args.sets, &args.outages, &args.output, &args.run, &args.memory)
}

/// Returns the inputs if they are policy sets; `None` if none of them is.
fn sets_to_compile(args: &CompileArgs) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let is_set = |input: &CapturePath| starts_like_a_set(input.path());
    let Some(first) = args.inputs.iter().find(|input| is_set(input)) else { return Ok(None) };
    let set = first.path().display();
    if let Some(other) = args.inputs.iter().find(|input| !is_set(input)) {
        let other = other.path().display();
        anyhow::bail!(
            "{set} is a policy set, {other} is not: compile {other} to a set first, then both sets"
        );
    }
    let CompileArgs { text, history, input_format, fields, strict, lenient, .. } = args;
    let of_archives = [
        ("--max-robots-size", text.max_robots_size.is_some()),
        ("--history", *history),
        ("--input-format", input_format.is_some()),
        ("--field", !fields.is_empty()),
        ("--strict", strict.strict),
        ("--lenient", lenient.lenient),
    ];
    if let Some((flag, _)) = of_archives.into_iter().find(|&(_, is_given)| is_given) {
        anyhow::bail!("{flag} is about archives, and {set} is a policy set; leave it out");
    }
    let sets: Vec<PathBuf> = args.inputs.iter().map(|input| input.path().to_owned()).collect();
    if let Some(dialect) = text.dialect {
        let of_first = mapped::set_to_compile(&sets[0])?.dialect();
        anyhow::ensure!(
            of_first == dialect,
            "{} was compiled with --dialect {}: compile its captures again for {}",
            sets[0].display(),
            of_first.name,
            dialect.name
        );
    }
    Ok(Some(sets))
}

/// Returns whether a file begins like a policy set. One that cannot be read does not; reading it as an
/// archive says why.
fn starts_like_a_set(path: &Path) -> bool {
    let mut first = [0; POLICY_SET.len()];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut first));
    is_file && read().is_ok() && first == *POLICY_SET
}

/// Compiles the captures of policy sets, as if their inputs had been compiled together.
fn compile_sets(
    paths: &[PathBuf],
    &OutageArgs { as_of, long_outage }: &OutageArgs,
    output: &SetOutputArgs,
    run: &RunArgs,
    memory: &CompileMemoryArgs,
) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    // Few sets at a time are open, so that any number can be merged.
    let mut of_sets: Vec<MergedSet> = Vec::new();
    let opened = paths.iter().map(|path| {
        let set = mapped::set_to_compile(path)?;
        of_sets.push(MergedSet::of(&set));
        Ok::<_, anyhow::Error>(set)
    });
    let settings = MergeSettings::of_each(opened, as_of, long_outage)?;
    plan::long_outage(long_outage, settings.dialect)?;
    let engine = Engine::new(run.threads.threads)?;
    let scratch = memory.scratch(Some(&output.output));
    let (merged, config) = {
        let progress = Progress::over(paths, !run.no_progress);
        let mut bar = Bar::default();
        let mut joined = |set: &PolicySet| {
            progress.bytes_done().fetch_add(set.bytes(), Ordering::Relaxed);
            progress.draw(&mut bar, None);
        };
        let mut merger = Merger::new(settings.dialect, settings.has_history, &scratch);
        let mut join = |sets: &mut Vec<PolicySet>| {
            merger.add(&sets.iter().collect::<Vec<_>>())?;
            sets.drain(..).for_each(|set| joined(&set));
            Ok::<_, ReadBackError>(())
        };
        let mut open = Vec::new();
        for (index, (path, before)) in paths.iter().zip(&of_sets).enumerate() {
            let set = mapped::set_to_compile(path)?;
            anyhow::ensure!(
                MergedSet::of(&set) == *before,
                "{}: replaced while it was merged; run again",
                set.name()
            );
            // Of equal sets, the last one counts.
            let others = paths.iter().zip(&of_sets).skip(index + 1);
            match others.into_iter().find(|(_, other)| other.set_hash == before.set_hash) {
                Some((other, _)) if set.is_same(&mapped::set_to_compile(other)?)? => {}
                _ => open.push(set),
            }
            if open.len() == SETS_AT_ONCE {
                join(&mut open)?;
            }
        }
        join(&mut open)?;
        engine.install(|| settings.finish(merger, &scratch))?
    };
    let target = Target {
        output: &output.output,
        dialect: settings.dialect,
        summary: plan::summary_form(run),
        notes: Vec::new(),
    };
    write(&target, &of_sets, (&merged, &config), &engine, started)
}

/// The set to write.
struct Target<'p> {
    output: &'p Path,
    dialect: &'static Dialect,
    summary: SummaryForm,
    /// Notes on the inputs, for a JSON summary.
    notes: Vec<String>,
}

/// Compiles and writes what was ingested since `started`, and shows the summary.
fn write(
    target: &Target<'_>,
    sets: &[MergedSet],
    (ingested, config): (&Ingested, &CompileConfig),
    engine: &Engine,
    started: Instant,
) -> anyhow::Result<ExitStatus> {
    let ingesting = started.elapsed();
    let write = || compile::write(&ingested.standings, config, target.output);
    let written = engine.install(write)?;
    if sets.is_empty() && target.summary != SummaryForm::Json {
        show_file_notes(&written.counts, target.dialect);
    }
    let times = (ingesting, started.elapsed());
    let summary = Summary::new(target, sets, (ingested, config), &written, times);
    summary::show_object(target.summary, &summary, |text| summary.write_text(text));
    Ok(ExitStatus::Done)
}

fn ingest(
    inputs: &[Input],
    config: &IngestConfig,
    engine: &Engine,
    shows_progress: bool,
    summary: SummaryForm,
) -> anyhow::Result<Ingested> {
    let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
    let observer =
        Observer { progress: Progress::over(&paths, shows_progress), bar: Mutex::default() };
    let ingested = engine.install(|| portcullis_build::ingest(inputs, config, &observer));
    drop(observer); // The bar is removed before messages are written.
    // A JSON summary reports the same problems. An error already names the first one.
    let reports = ingested.as_ref().map_or_else(IngestError::inputs, |done| &done.inputs);
    let problems = |input: &InputReport| input.broken + u64::from(input.failure.is_some());
    let shows = match &ingested {
        Ok(_) => summary != SummaryForm::Json,
        Err(_) => reports.iter().map(problems).sum::<u64>() > 1,
    };
    if shows {
        show_problems(reports);
    }
    let ingested = ingested.map_err(|error| {
        let reports = error.inputs();
        let is_readable = reports.iter().all(InputReport::is_readable);
        // --lenient is only suggested if there are captures left to compile.
        let skips = config.strictness == Strictness::Usual && !is_readable;
        let advice = match skips && reports.iter().any(|input| input.captures > 0) {
            true => " (--lenient skips unreadable inputs)",
            false => "",
        };
        let error = anyhow!(error);
        anyhow!("{error:#}; nothing was compiled{advice}")
    })?;
    Ok(ingested)
}

/// Shows how many origins have a file whose rules are in doubt.
fn show_file_notes(counts: &StandingCounts, dialect: &Dialect) {
    let figure = |kind: NoteKind| (kind.as_str(), counts.with_file_note(kind));
    let figures = Figures(NoteKind::APPEARANCES.map(figure).into());
    if figures.0.iter().any(|&(_, count)| count > 0) {
        say_plainly(format_args!(
            "warning: some files do not look like robots.txt; they are parsed by {}; origins: {figures}",
            dialect.name
        ));
    }
    let cut = counts.with_file_note(NoteKind::FileCut);
    if cut > 0 {
        say_plainly(format_args!(
            "note: some files are longer than the limit, and their ends are ignored; \
             --max-robots-size reads more; origins: {cut}"
        ));
    }
}

/// Draws the progress bar on the reading thread.
struct Observer {
    progress: Progress,
    bar: Mutex<Bar>,
}

impl IngestObserver for Observer {
    fn progressed(&self, progress: &portcullis_build::Progress) {
        self.progress.bytes_done().fetch_add(progress.bytes, Ordering::Relaxed);
        // If another thread is drawing, this one does not wait.
        if let Ok(mut bar) = self.bar.try_lock() {
            self.progress.draw(&mut bar, None);
        }
    }
}

fn show_problems(inputs: &[InputReport]) {
    let show = |text: String| say_plainly(format_args!("note: {text}"));
    let failed = inputs.iter().filter_map(|input| Some((input, input.failure.as_deref()?)));
    for (input, failure) in failed.clone().take(PROBLEMS_SHOWN_MAX) {
        show(format!("{failure} ({} read)", counted(input.captures, "capture")));
    }
    let count = failed.count();
    if count > PROBLEMS_SHOWN_MAX {
        let rest = counted((count - PROBLEMS_SHOWN_MAX) as u64, "more input");
        show(format!("{rest} not read to the end"));
    }
    let broken = inputs
        .iter()
        .flat_map(|input| input.broken_named.iter().map(move |broken| (&input.name, broken)));
    let mut shown = 0;
    for (name, broken) in broken.take(PROBLEMS_SHOWN_MAX) {
        show(format!("{name}: {}: left out: {}", broken.place, broken.problem));
        shown += 1;
    }
    let all: u64 = inputs.iter().map(|input| input.broken).sum();
    if all > shown {
        show(format!("{} left out", counted(all - shown, "more broken record")));
    }
    let later: u64 = inputs.iter().map(|input| input.later).sum();
    if later > 0 {
        show(format!("{} after --as-of left out", counted(later, "capture")));
    }
    let undated: u64 = inputs.iter().map(|input| input.undated).sum();
    if undated > 0 {
        let captures = counted(undated, "capture");
        show(format!(
            "{captures} without a date; older than all others (--strict makes this an error)"
        ));
    }
    let assumed: u64 = inputs.iter().map(|input| input.status_assumed).sum();
    if assumed > 0 {
        let captures = counted(assumed, "capture");
        show(format!("{captures} without a status; 200 is assumed (--strict makes this an error)"));
    }
}

/// A set that was merged.
#[derive(PartialEq, Eq, Serialize)]
struct MergedSet {
    name: String,
    set_hash: String,
    origins: u64,
}

impl MergedSet {
    fn of(set: &PolicySet) -> MergedSet {
        MergedSet {
            name: set.name().to_owned(),
            set_hash: set.hash().to_string(),
            origins: set.counts().origins,
        }
    }
}

/// The summary of reading and writing, as the members of a JSON object.
#[derive(Serialize)]
struct Summary<'r> {
    version: &'static str,
    set_hash: String,
    dialect: &'static str,
    output: String,
    output_bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sets: &'r [MergedSet],
    inputs: &'r [InputReport],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'r [String],
    bytes: u64,
    captures: u64,
    later: u64,
    superseded: u64,
    broken: u64,
    hosts: u64,
    origins: u64,
    redirected: u64,
    capture_dates: Option<DateSpan>,
    states: Figures,
    capture_notes: Figures,
    file_notes: Figures,
    in_outage: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    periods: Option<u64>,
    as_of: Option<String>,
    policies: u64,
    rule_sets: u64,
    spilled_bytes: u64,
    /// `None` if there is no limit.
    memory_bytes: Option<usize>,
    ingest_seconds: f64,
    compile_seconds: f64,
    seconds: f64,
    origins_per_second: u64,
}

impl<'r> Summary<'r> {
    fn new(
        target: &'r Target<'_>,
        sets: &'r [MergedSet],
        (ingested, config): (&'r Ingested, &CompileConfig),
        written: &CompiledSet,
        (ingesting, all): (Duration, Duration),
    ) -> Summary<'r> {
        let (inputs, counts) = (&ingested.inputs, &written.counts);
        let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum();
        // A set stores no origin without a policy.
        let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
        Summary {
            version: env!("CARGO_PKG_VERSION"),
            set_hash: written.hash.to_string(),
            dialect: target.dialect.name,
            output: target.output.display().to_string(),
            output_bytes: written.bytes,
            sets,
            inputs,
            notes: &target.notes,
            bytes: sum(|input| input.bytes),
            captures: sum(|input| input.captures),
            later: sum(|input| input.later),
            superseded: if sets.is_empty() { ingested.superseded } else { 0 },
            broken: sum(|input| input.broken),
            hosts: counts.hosts,
            origins: counts.origins,
            redirected: counts.redirected,
            capture_dates: counts.captured,
            states: Figures::of(states, PolicyState::as_str, |state| counts.in_state(state)),
            capture_notes: Figures::of(CaptureNote::ALL, CaptureNote::as_str, |note| {
                counts.with_capture_note(note)
            }),
            file_notes: Figures::of(NoteKind::ALL, NoteKind::as_str, |kind| {
                counts.with_file_note(kind)
            }),
            in_outage: counts.in_outage,
            periods: ingested.standings.has_history().then_some(counts.periods),
            as_of: ingested.outages.time().map(UnixSeconds::to_rfc3339),
            policies: written.policies,
            rule_sets: written.rule_sets,
            spilled_bytes: config.scratch.spilled_bytes(),
            memory_bytes: Some(config.scratch.memory()).filter(|&memory| memory < usize::MAX),
            ingest_seconds: ingesting.as_secs_f64(),
            compile_seconds: all.saturating_sub(ingesting).as_secs_f64(),
            seconds: all.as_secs_f64(),
            origins_per_second: (counts.origins as f64 / all.as_secs_f64().max(1e-9)) as u64,
        }
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "portcullis {}, set {:.16}, dialect {}, {}, {}",
            self.version,
            self.set_hash,
            self.dialect,
            counted(self.origins, "origin"),
            summary::captured(self.capture_dates)
        )?;
        for set in self.sets {
            let origins = counted(set.origins, "origin");
            writeln!(out, "{}: set {:.16}, {origins}", visible(&set.name), set.set_hash)?;
        }
        // What a folder leaves out are files whose names are not hosts, and such.
        let of_folders = |input: &&InputReport| input.format == Some(CaptureFormat::Folder);
        let files: u64 = self.inputs.iter().filter(of_folders).map(|input| input.broken).sum();
        let parts = [
            Some(counted(self.captures, "capture")),
            (self.superseded > 0).then(|| format!("{} superseded by newer ones", self.superseded)),
            (self.broken > files).then(|| counted(self.broken - files, "broken record")),
            (files > 0).then(|| format!("{} left out", counted(files, "file"))),
            (self.bytes > 0).then(|| counted(self.bytes, "byte")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let inputs = counted(self.inputs.len() as u64, "input");
        writeln!(out, "{} in {inputs}", parts.join(", "))?;
        writeln!(
            out,
            "{} to ingest, {} to compile: {} origins/s",
            seconds(self.ingest_seconds),
            seconds(self.compile_seconds),
            self.origins_per_second
        )?;
        if self.spilled_bytes > 0
            && let Some(memory) = self.memory_bytes
        {
            let spilled = counted(self.spilled_bytes, "byte");
            let memory = counted(memory as u64, "byte");
            writeln!(out, "{spilled} in temporary files, beside {memory} of memory (--memory)")?;
        }
        let (origins, hosts) = (counted(self.origins, "origin"), counted(self.hosts, "host"));
        writeln!(out, "{origins} of {hosts}: {}", self.states)?;
        if self.redirected > 0 {
            writeln!(out, "redirected {}", self.redirected)?;
        }
        if let Some(periods) = self.periods {
            writeln!(out, "history: {}", counted(periods, "period"))?;
        }
        for (of, figures) in [("answers", &self.capture_notes), ("files", &self.file_notes)] {
            if figures.0.iter().any(|&(_, figure)| figure > 0) {
                writeln!(out, "notes on {of}: {figures}")?;
            }
        }
        let as_of = self.as_of.as_ref().map_or_else(String::new, |time| format!(", as of {time}"));
        if self.in_outage > 0 {
            writeln!(out, "in an outage {}{as_of}", self.in_outage)?;
        }
        if self.later > 0 {
            writeln!(out, "left out {}{as_of}", counted(self.later, "later capture"))?;
        }
        writeln!(
            out,
            "{}: {}, {}, {}",
            visible(&self.output),
            counted(self.output_bytes, "byte"),
            counted(self.policies, "policy"),
            counted(self.rule_sets, "rule set")
        )
    }
}
