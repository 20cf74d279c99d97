//! `portcullis compile`: policy sets from archives and from other sets.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use portcullis_build::compile;
use portcullis_build::{
    IngestConfig, IngestObserver, Ingested, Input, InputReport, MergeError, SettleChoice,
    SourceSet, Sources, StandingCounts, Strictness, starts_like_a_set, two_names,
};
use portcullis_captures::FieldMap;
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::LongUnreachable;
use portcullis_files::scratch::Scratch;
use portcullis_report::account::{format, line, write_lines};
use portcullis_report::{Account, Figures, NoRecords, PolicyFacts, Run, Time};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_text::figures::{grouped, seconds, size};
use portcullis_text::visible::visible;
use serde::Serialize;

use super::args::CompileArgs;
use super::engine::{odd_files, thread_pool};
use super::files::Files;
use super::lists;
use super::mapped;
use super::message::{Notes, counted, say, show_first};
use super::output::SummaryForm;
use super::plan;
use super::progress::Progress;
use super::summary;

pub fn run(args: CompileArgs, files: &Files) -> anyhow::Result<()> {
    let started = Instant::now();
    ensure!(!args.output.is_dash(), "a set cannot go to standard output; name a file");
    let has_content = args.output.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
    ensure!(
        !has_content || starts_like_a_set(&args.output),
        "--output {}: a file that is not a policy set would be lost; name another, or remove it first",
        args.output.display()
    );
    let summary = plan::summary(&args.run)?;
    let mut notes = Notes { are_hidden: summary.form == SummaryForm::Json, kept: Vec::new() };
    let inputs = lists::noted(&files.captures, &mut notes).into_iter();
    let of_input = |path| Input { path, format: args.input_format };
    let inputs: Vec<Input> = inputs.map(|input| of_input(input.path)).collect();
    let paths: Vec<PathBuf> = inputs.iter().map(|input| input.path.clone()).collect();
    let choice = SettleChoice {
        as_of: args.as_of,
        long_outage: args.long_outage,
        join_schemes: args.join_schemes,
    };
    let fields =
        FieldMap::new(args.fields.clone()).map_err(|error| anyhow!("--fields: {error}"))?;
    let config = IngestConfig {
        capture: fields.with_unit(args.unit.time_unit),
        strictness: args.faults.strictness(),
        history: args.history,
        ..IngestConfig::new(args.text.dialect(), args.text.bytes_max())
    };
    let sources = Sources::new(inputs, mapped::set_to_compile, &choice, config)?;
    let settings = sources.config();
    check_flags(&args, &sources)?;
    ensure!(
        choice.long_outage.is_none()
            || settings.dialect.access.long_unreachable == LongUnreachable::OnRequest,
        "--long-outage is for dialects that leave the choice (rfc9309, draft2019); {} does not, so \
         omit the flag",
        settings.dialect.name
    );
    let pool = thread_pool(args.run.threads.threads)?;
    let progress = Progress::over(&paths, !args.run.no_progress);
    let scratch = Scratch::new(Some(&args.output), args.memory.memory);
    let ingested = pool.install(|| sources.ingest(scratch, &progress));
    drop(progress); // The bar is removed before messages are written.
    let ingested = shown(ingested, &sources, summary.form)?;
    let ingesting = started.elapsed();
    let output = &args.output;
    let written =
        pool.install(|| compile::write(&ingested.standings, &ingested.compiling, output))?;
    let notes_of_files = PolicyFacts::notes_of_files(written.file_notes);
    // What is in sets was noted when they were compiled.
    if summary.form != SummaryForm::Json && !sources.archives().is_empty() {
        show_file_notes(&written.counts, &notes_of_files);
    }
    let policies = PolicyFacts {
        kind: "set",
        name: output.display().to_string(),
        set_hash: written.hash.to_string(),
        set_bytes: written.bytes,
        dialect: settings.dialect.name,
        robots_bytes_max: settings.robots_bytes_max.map(|bytes| bytes as u64),
        hosts: Some(written.counts.hosts),
        origins: Some(written.counts.origins),
        policies: written.policies,
        rule_sets: written.rule_sets,
        capture_dates: written.counts.captured,
        has_history: ingested.standings.has_history(),
        left_out: files_left_out(&ingested.inputs),
        file_notes: notes_of_files,
    };
    let compiling = started.elapsed().saturating_sub(ingesting);
    let account = Account {
        run: Run { policies: Some(policies), ..Run::default() },
        notes: notes.kept,
        time: Some(Time::new(ingesting, compiling, written.counts.origins, None)),
        ..Account::default()
    };
    let (inputs, counts, scratch) =
        (&ingested.inputs, &written.counts, &ingested.compiling.scratch);
    let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum();
    // A set stores no origin without a policy.
    let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
    let object = CompileSummary {
        format: format::COMPILE,
        account,
        sets: sources.sets(),
        inputs,
        bytes: sum(|input| input.bytes),
        captures: sum(|input| input.captures),
        later: sum(|input| input.later),
        superseded: ingested.superseded,
        superseded_undated: ingested.superseded_undated,
        same_second: ingested.same_second,
        doubted: ingested.doubted.iter().map(|field| field.as_str()).collect(),
        broken: sum(|input| input.broken),
        redirected: counts.redirected,
        states: Figures::of(states, PolicyState::as_str, |state| counts.in_state(state)),
        capture_notes: Figures::of(CaptureNote::ALL, CaptureNote::as_str, |note| {
            counts.with_capture_note(note)
        }),
        file_notes: Figures::of(NoteKind::ALL, NoteKind::as_str, |kind| {
            counts.with_file_note(kind)
        }),
        in_outage: counts.in_outage,
        history_captures: ingested.standings.has_history().then_some(counts.captures),
        as_of: ingested.settle.time().map(UnixSeconds::to_rfc3339),
        spilled_bytes: scratch.spilled_bytes(),
        memory_bytes: scratch.budget().bytes(),
    };
    summary::write(&summary, &object)
}

/// Checks the flags of `compile` with policy sets: those about archives need one, and archives are
/// read in the same way as the captures of the sets.
fn check_flags(args: &CompileArgs, sources: &Sources) -> anyhow::Result<()> {
    let settings = sources.config();
    let Some(SourceSet { name, .. }) = sources.sets().first() else { return Ok(()) };
    let CompileArgs { text, history, input_format, fields, unit, faults, .. } = args;
    let of_archives = [
        ("--max-robots-size", text.max_robots_size.is_some()),
        ("--history", *history),
        ("--input-format", input_format.is_some()),
        ("--fields", !fields.is_empty()),
        ("--time-unit", unit.time_unit.is_some()),
        ("--strict", faults.strict.strict),
        ("--lenient", faults.lenient),
    ];
    let given = of_archives.into_iter().find(|&(_, is_given)| is_given);
    let mut histories = sources.sets().iter().map(|set| set.has_history);
    if *history && sources.archives().is_empty() && !histories.any(|has| has) {
        bail!("--history needs the captures, and {name} has only the newest of each origin");
    }
    if let Some((flag, _)) = given.filter(|_| sources.archives().is_empty()) {
        let keeps = if *history { ", which keep their history without it" } else { "" };
        bail!("{flag} is about archives, and not about policy sets such as {name}{keeps}; omit it");
    }
    if let Some(dialect) = text.dialect.filter(|&dialect| dialect != settings.dialect) {
        bail!(
            "{name} was compiled with --dialect {}: compile its captures again for {}",
            settings.dialect.name,
            dialect.name
        );
    }
    ensure!(
        text.max_robots_size.is_none() || text.bytes_max() == settings.robots_bytes_max,
        "{name} was compiled with another --max-robots-size; omit it, or compile its captures again"
    );
    let without = || sources.sets().iter().filter(|set| settings.history && !set.has_history);
    if let Some(first) = without().next() {
        let problem = format!(
            "{} without --history (first: {}): captures before the newest ones are missing, so an older file may \
             decide for times before these; compile the archives with --history",
            counted(without().count() as u64, "set"),
            first.name
        );
        ensure!(!faults.strict.strict, problem);
        say(format_args!("note: {problem}"));
    }
    Ok(())
}

/// Shows what was wrong with the archives of a run, and returns what was ingested.
fn shown(
    ingested: Result<Ingested, MergeError>,
    sources: &Sources,
    summary: SummaryForm,
) -> anyhow::Result<Ingested> {
    let reports = match &ingested {
        Ok(ingested) => &ingested.inputs,
        Err(MergeError::Ingest(error)) => error.inputs(),
        Err(_) => &[],
    };
    // Those of sets come first.
    let reports = &reports[reports.len().saturating_sub(sources.archives().len())..];
    let problems = |input: &InputReport| input.broken + u64::from(input.failure.is_some());
    // A JSON summary reports the same problems. An error already names the first one.
    let shows = match &ingested {
        Ok(_) => summary != SummaryForm::Json,
        Err(_) => reports.iter().map(problems).sum::<u64>() > 1,
    };
    if shows {
        let doubtful = ingested.as_ref().map(|it| [it.superseded_undated, it.same_second]);
        show_problems(reports, doubtful.unwrap_or_default());
        for &field in ingested.as_ref().map_or(&[][..], |it| &it.doubted) {
            say(format_args!(
                "note: {}; the first with a value is used (--strict makes this an error)",
                two_names(field)
            ));
        }
    }
    // --lenient is only suggested if there are captures left to compile.
    let skips = sources.config().strictness == Strictness::Usual
        && !reports.iter().all(InputReport::is_readable)
        && !reports.iter().any(|input| input.is_forgeable)
        && (reports.iter().any(|input| input.captures > 0)
            || !sources.sets().is_empty() && reports.iter().all(|input| input.failure.is_none()));
    let advice = if skips { " (--lenient uses what can be read)" } else { "" };
    ingested.map_err(|error| match error {
        MergeError::Ingest(error) => {
            anyhow!("{:#}; nothing was compiled{advice}", anyhow!(error))
        }
        error => error.into(),
    })
}

/// Shows how many files have rules that are in doubt. `files` counts distinct ones.
fn show_file_notes(counts: &StandingCounts, files: &Figures) {
    let (all, found) = odd_files(files, &NoteKind::APPEARANCES);
    if all > 0 {
        let origins = NoteKind::APPEARANCES.map(|kind| counts.with_file_note(kind));
        let (are, as_what) = match all {
            1 => ("is", "treated as a file without rules"),
            _ => ("are", "treated as files without rules"),
        };
        say(format_args!(
            "warning: {} of {} {are} not robots.txt ({found}); {as_what}",
            counted(all, "file"),
            counted(origins.iter().sum(), "origin"),
        ));
    }
    if counts.pages > 0 {
        say(format_args!(
            "warning: in the history, {} not robots.txt; each is treated as a file without rules, until the next one",
            match counts.pages {
                1 => "1 capture is".to_owned(),
                pages => format!("{} are", counted(pages, "capture")),
            }
        ));
    }
    let without_record = counts.with_capture_note(CaptureNote::NoRecord);
    if without_record > 0 {
        say(format_args!(
            "warning: no line is a record of robots.txt, or several share one, in the files of {}; treated as files \
             without rules",
            counted(without_record, "origin"),
        ));
    }
    let (groupless, unread) = (NoteKind::RuleOutsideGroup, NoteKind::UsageIgnored);
    for (kind, problem) in [
        (groupless, "rules before the first user-agent line, which apply to no crawler"),
        (unread, "usage preferences that cannot be read, which count as not stated"),
    ] {
        let origins = counts.with_file_note(kind);
        if origins > 0 {
            let origins = counted(origins, "origin");
            say(format_args!(
                "note: the files of {origins} have {problem}; portcullis lint shows them"
            ));
        }
    }
    if counts.lost > 0 {
        say(format_args!(
            "note: the archives have cut or lost the files of {}: unreachable",
            counted(counts.lost, "origin")
        ));
    }
    let lacking = counts.with_capture_note(CaptureNote::RedirectTargetMissing);
    if lacking > 0 {
        say(format_args!(
            "note: {} to a URL without a capture: unreachable (of WARC, only captures of a robots.txt are read)",
            match lacking {
                1 => "1 origin redirects".to_owned(),
                _ => format!("{} redirect", counted(lacking, "origin")),
            }
        ));
    }
    let cut = counts.with_file_note(NoteKind::FileCut);
    if cut > 0 {
        say(format_args!(
            "note: {} a robots.txt longer than the limit; the rest is ignored (--max-robots-size SIZE reads more)",
            match cut {
                1 => "1 origin has".to_owned(),
                _ => format!("{} have", counted(cut, "origin")),
            }
        ));
    }
}

impl IngestObserver for Progress {
    fn progressed(&self, progress: &portcullis_build::Progress) {
        self.bytes_done.fetch_add(progress.bytes, Ordering::Relaxed);
        self.draw(None);
    }
}

fn show_problems(inputs: &[InputReport], [superseded_undated, same_second]: [u64; 2]) {
    let failed = inputs.iter().filter_map(|input| Some((input, input.failure.as_deref()?)));
    let failed = failed.map(|(input, why)| match input.captures {
        0 => format!("note: {why}"),
        captures => format!("note: {why} ({} read)", counted(captures, "capture")),
    });
    let failures = failed.clone().count() as u64;
    show_first(failed, failures, |rest| {
        format!("{} not read to the end", counted(rest, "more input"))
    });
    let broken = inputs.iter().flat_map(|input| {
        let named = input.broken_named.iter();
        named.map(move |it| {
            let effect = match it.lost {
                Some(_) => "its file is lost, and its origin unreachable from then on",
                None => "left out",
            };
            format!("note: {}: {}: {effect}: {}", input.name, it.place, it.problem)
        })
    });
    let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum::<u64>();
    show_first(broken, sum(|input| input.broken), |rest| {
        let what = match inputs.iter().all(InputReport::is_folder) {
            true => "more file",
            false => "more broken record",
        };
        format!("{} left out", counted(rest, what))
    });
    for (count, what) in [
        (sum(|input| input.later), "after --as-of left out"),
        (
            sum(|input| input.undated),
            "without a date; older than all others (--strict makes this an error)",
        ),
        (
            superseded_undated,
            "without a date, superseded by captures with dates, later in their input, or from inputs whose names \
             sort later (--strict makes this an error)",
        ),
        (
            same_second,
            "with another file than one of the same URL and second; the later in the input is used (--strict makes \
             this an error)",
        ),
        (
            sum(|input| input.other_urls),
            "of URLs that are not a robots.txt; used only as targets of redirects (--strict makes \
             this an error)",
        ),
        (
            sum(|input| input.status_assumed),
            "without a status; 200 is assumed (--strict makes this an error)",
        ),
    ] {
        if count > 0 {
            say(format_args!("note: {} {what}", counted(count, "capture")));
        }
    }
}

/// Returns the number of files that folders leave out, such as those whose names are not hosts.
fn files_left_out(inputs: &[InputReport]) -> u64 {
    inputs.iter().filter(|input| input.is_folder()).map(|input| input.broken).sum()
}

/// The summary of reading and writing.
#[derive(Serialize)]
struct CompileSummary<'r> {
    format: &'static str,
    /// The set that was written, and the notes on the inputs.
    account: Account<NoRecords>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sets: &'r [SourceSet],
    inputs: &'r [InputReport],
    bytes: u64,
    captures: u64,
    later: u64,
    superseded: u64,
    superseded_undated: u64,
    same_second: u64,
    /// The fields that captures have under two names.
    doubted: Vec<&'static str>,
    broken: u64,
    redirected: u64,
    states: Figures,
    capture_notes: Figures,
    file_notes: Figures,
    in_outage: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_captures: Option<u64>,
    as_of: Option<String>,
    spilled_bytes: u64,
    /// `None` if there is no limit.
    memory_bytes: Option<usize>,
}

impl summary::Summary for CompileSummary<'_> {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let Account { program, version, run, time, .. } = &self.account;
        let time = time.unwrap_or_default();
        let facts = run.policies.as_ref().expect("a set is written");
        // The notes on files and the files left out are below, with those on lines and records.
        writeln!(out, "{program} {version}, {facts}")?;
        for set in self.sets {
            let origins = counted(set.origins, "origin");
            writeln!(out, "{}: set {:.16}, {origins}", visible(&set.name), set.set_hash)?;
        }
        let files = files_left_out(self.inputs);
        let parts = [
            Some(counted(self.captures, "capture")),
            (self.superseded > 0).then(|| format!("{} superseded", grouped(self.superseded))),
            (self.broken > files).then(|| counted(self.broken - files, "broken record")),
            (files > 0).then(|| format!("{} left out", counted(files, "file"))),
            (self.bytes > 0).then(|| size(self.bytes)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let inputs = counted(self.inputs.len() as u64, "input");
        writeln!(out, "{} in {inputs}", parts.join(", "))?;
        let (ingesting, compiling) = (seconds(time.load_seconds), seconds(time.seconds));
        let rate = grouped(time.records_per_second);
        writeln!(out, "{ingesting} to ingest, {compiling} to compile: {rate} origins/s")?;
        if self.spilled_bytes > 0
            && let Some(memory) = self.memory_bytes
        {
            let spilled = size(self.spilled_bytes);
            let memory = size(memory as u64);
            writeln!(out, "{spilled} in temporary files, and {memory} of memory (--memory)")?;
        }
        let [origins, hosts] = [(facts.origins, "origin"), (facts.hosts, "host")]
            .map(|(count, noun)| counted(count.unwrap_or(0), noun));
        writeln!(out, "{origins} of {hosts}: {}", self.states)?;
        let as_of = self.as_of.as_ref().map_or_else(String::new, |time| format!(", as of {time}"));
        let (outage, later) = (grouped(self.in_outage), counted(self.later, "later capture"));
        let lines = [
            (self.redirected > 0).then(|| format!("redirected {}", self.redirected)),
            line("history", self.history_captures.map(|captures| counted(captures, "capture"))),
            line("notes on responses", Some(&self.capture_notes)),
            line("notes on files, by origin", Some(&self.file_notes)),
            (self.in_outage > 0).then(|| format!("in an outage {outage}{as_of}")),
            (self.later > 0).then(|| format!("left out {later}{as_of}")),
        ];
        write_lines(&lines, out)?;
        let (name, bytes) = (visible(&facts.name), size(facts.set_bytes));
        let policies = counted(facts.policies, "policy");
        writeln!(out, "{name}: {bytes}, {policies}, {}", counted(facts.rule_sets, "rule set"))
    }
}
