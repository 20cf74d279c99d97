//! `portcullis compile`: policy sets from archives and from other sets.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use portcullis_build::compile;
use portcullis_build::limits::SETS_AT_ONCE;
use portcullis_build::{
    IngestConfig, IngestError, IngestObserver, Ingested, Input, InputReport, Merger, SettleChoice,
    SettleConfig, StandingCounts, Strictness,
};
use portcullis_captures::FieldMap;
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::{Dialect, LongUnreachable};
use portcullis_files::kind::POLICY_SET;
use portcullis_report::account::format;
use portcullis_report::{Account, Figures, NoRecords, PolicyFacts, Run, Time};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::{PolicySet, SetError};
use portcullis_text::figures::seconds;
use portcullis_text::visible::visible;
use rayon::ThreadPool;
use serde::Serialize;

use super::args::CompileArgs;
use super::engine::thread_pool;
use super::exit::ExitStatus;
use super::lists;
use super::mapped;
use super::message::{Notes, counted, say, show_first};
use super::output::SummaryForm;
use super::plan;
use super::progress::Progress;
use super::summary;

pub fn compile(args: CompileArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    ensure!(!args.output.is_dash(), "a set cannot go to standard output; name a file");
    let summary = plan::summary(&args.run)?;
    let mut notes = Notes { are_hidden: summary.form == SummaryForm::Json, kept: Vec::new() };
    let paths = args.inputs.iter().map(|input| &*input.0);
    let inputs = portcullis_captures::expand(paths, args.input_format)?;
    let inputs = lists::noted(inputs, &mut notes).into_iter();
    let (sets, archives): (Vec<PathBuf>, Vec<PathBuf>) =
        inputs.map(|input| input.path).partition(|path| starts_like_a_set(path));
    let mut sets = Sets { paths: sets, opened: Vec::new() };
    if !sets.paths.is_empty() {
        check_flags(&args, &sets.paths[0], archives.is_empty())?;
    }
    let choice = SettleChoice {
        as_of: args.as_of,
        long_outage: args.long_outage,
        join_schemes: args.join_schemes,
    };
    let mut settings = match sets.settings(&choice)? {
        Some(settings) => settings,
        None => IngestConfig {
            settle: choice.or(SettleConfig::default()),
            ..IngestConfig::new(args.text.dialect(), args.text.bytes_max())
        },
    };
    settings.history |= args.history;
    ensure!(
        choice.long_outage.is_none()
            || settings.dialect.access.long_unreachable == LongUnreachable::OnRequest,
        "--long-outage is for dialects that leave the choice (rfc9309, draft2019); {} does not, so \
         omit the flag",
        settings.dialect.name
    );
    let fields = FieldMap::new(args.fields).map_err(|error| anyhow!("--fields: {error}"))?;
    let capture = fields.with_unit(args.unit.time_unit);
    let (strictness, scratch) = (args.faults.strictness(), args.memory.scratch(Some(&args.output)));
    let format = args.input_format;
    let archives: Vec<Input> = archives.into_iter().map(|path| Input { path, format }).collect();
    let pool = thread_pool(args.run.threads.threads)?;
    let shows_progress = !args.run.no_progress;
    let mut merger = Merger::new(IngestConfig { capture, strictness, scratch, ..settings.clone() });
    sets.join(&mut merger, shows_progress)?;
    // The captures of archives count as later ones.
    if !archives.is_empty() {
        ingest(&mut merger, &archives, strictness, &pool, (shows_progress, summary.form))?;
    }
    let ingested = pool.install(|| merger.finish())?;
    ingested.check_files(strictness).map_err(|error| nothing_compiled(error, ""))?;
    let ingesting = started.elapsed();
    let output = &args.output;
    let written =
        pool.install(|| compile::write(&ingested.standings, &ingested.compiling, output))?;
    if sets.paths.is_empty() && summary.form != SummaryForm::Json {
        show_file_notes(&written.counts, settings.dialect);
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
        ..PolicyFacts::default()
    };
    let compiling = started.elapsed().saturating_sub(ingesting);
    let account = Account {
        run: Run { policies: Some(policies), ..Run::default() },
        notes: notes.kept,
        time: Some(Time::new(ingesting, compiling, written.counts.origins, None)),
        ..Account::default()
    };
    let counted = Summary::new(account, &sets.opened, &ingested, &written.counts);
    summary::write(&summary, &counted)?;
    Ok(ExitStatus::Done)
}

/// Checks the flags of `compile` beside policy sets: those about archives need one, and archives are
/// read as those of the sets were.
fn check_flags(args: &CompileArgs, set: &Path, are_all_sets: bool) -> anyhow::Result<()> {
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
    let name = set.display();
    if let Some((flag, _)) = given.filter(|_| are_all_sets) {
        bail!("{flag} is about archives, and {name} is a policy set; leave it out");
    }
    let first = mapped::set_to_compile(set)?;
    if let Some(dialect) = text.dialect
        && first.dialect() != dialect
    {
        bail!(
            "{name} was compiled with --dialect {}: compile its captures again for {}",
            first.dialect().name,
            dialect.name
        );
    }
    let own = first.robots_bytes_max().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    ensure!(
        text.max_robots_size.is_none() || text.bytes_max() == own,
        "{name} was compiled with another --max-robots-size; leave it out, or compile its captures again"
    );
    Ok(())
}

/// Returns whether a file begins like a policy set. One that cannot be read does not; reading it as an
/// archive says why.
fn starts_like_a_set(path: &Path) -> bool {
    let mut first = [0; POLICY_SET.len()];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut first));
    is_file && read().is_ok() && first == *POLICY_SET
}

/// The policy sets among the inputs, and what was seen of each. Few are open at a time, so that any
/// number can be merged.
struct Sets {
    paths: Vec<PathBuf>,
    opened: Vec<MergedSet>,
}

impl Sets {
    /// Returns how the sets were compiled, which has to be alike; `None` if there are none.
    fn settings(&mut self, choice: &SettleChoice) -> anyhow::Result<Option<IngestConfig>> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let Sets { paths, opened } = self;
        let sets = paths.iter().map(|path| {
            let set = mapped::set_to_compile(path)?;
            opened.push(MergedSet::of(&set));
            Ok::<_, anyhow::Error>(set)
        });
        IngestConfig::of_each(sets, choice).map(Some)
    }

    /// Joins the captures of all sets. Of equal sets, the last one counts.
    fn join(&self, merger: &mut Merger, shows_progress: bool) -> anyhow::Result<()> {
        let progress = Progress::over(&self.paths, shows_progress);
        let mut join = |sets: &mut Vec<PolicySet>| {
            merger.add(&sets.iter().collect::<Vec<_>>())?;
            for set in sets.drain(..) {
                progress.bytes_done().fetch_add(set.bytes(), Ordering::Relaxed);
                progress.draw(None);
            }
            Ok::<_, SetError>(())
        };
        let mut open = Vec::new();
        for (index, (path, before)) in self.paths.iter().zip(&self.opened).enumerate() {
            let set = mapped::set_to_compile(path)?;
            ensure!(
                MergedSet::of(&set) == *before,
                "{}: replaced while it was merged; run again",
                set.name()
            );
            let mut later = self.opened[index + 1..].iter();
            if later.all(|later| later.set_hash != before.set_hash) {
                open.push(set);
            }
            if open.len() == SETS_AT_ONCE {
                join(&mut open)?;
            }
        }
        Ok(join(&mut open)?)
    }
}

fn ingest(
    merger: &mut Merger,
    inputs: &[Input],
    strictness: Strictness,
    pool: &ThreadPool,
    (shows_progress, summary): (bool, SummaryForm),
) -> anyhow::Result<()> {
    let before = merger.inputs().len();
    let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
    let progress = Progress::over(&paths, shows_progress);
    let ingested = pool.install(|| merger.ingest(inputs, &progress));
    drop(progress); // The bar is removed before messages are written.
    // A JSON summary reports the same problems. An error already names the first one.
    let reports = match &ingested {
        Ok(()) => &merger.inputs()[before..],
        Err(error) => error.inputs(),
    };
    let problems = |input: &InputReport| input.broken + u64::from(input.failure.is_some());
    let shows = match &ingested {
        Ok(()) => summary != SummaryForm::Json,
        Err(_) => reports.iter().map(problems).sum::<u64>() > 1,
    };
    if shows {
        show_problems(reports);
    }
    ingested.map_err(|error| {
        let reports = error.inputs();
        let is_readable = reports.iter().all(InputReport::is_readable);
        // --lenient is only suggested if there are captures left to compile.
        let skips = strictness == Strictness::Usual && !is_readable;
        let advice = match skips && reports.iter().any(|input| input.captures > 0) {
            true => " (--lenient skips unreadable inputs)",
            false => "",
        };
        nothing_compiled(error, advice)
    })
}

fn nothing_compiled(error: IngestError, advice: &str) -> anyhow::Error {
    let error = anyhow!(error);
    anyhow!("{error:#}; nothing was compiled{advice}")
}

/// Shows how many origins have a file whose rules are in doubt.
fn show_file_notes(counts: &StandingCounts, dialect: &Dialect) {
    let figure = |kind: NoteKind| (kind.as_str(), counts.with_file_note(kind));
    let figures = Figures(NoteKind::APPEARANCES.map(figure).into());
    if figures.0.iter().any(|&(_, count)| count > 0) {
        say(format_args!(
            "warning: some files do not look like robots.txt; they are parsed by {}; origins: {figures}",
            dialect.name
        ));
    }
    let cut = counts.with_file_note(NoteKind::FileCut);
    if cut > 0 {
        say(format_args!(
            "note: some files are longer than the limit, and their ends are ignored; \
             --max-robots-size reads more; origins: {cut}"
        ));
    }
}

impl IngestObserver for Progress {
    fn progressed(&self, progress: &portcullis_build::Progress) {
        self.bytes_done().fetch_add(progress.bytes, Ordering::Relaxed);
        self.draw(None);
    }
}

fn show_problems(inputs: &[InputReport]) {
    let failed = inputs.iter().filter_map(|input| Some((input, input.failure.as_deref()?)));
    let failed = failed
        .map(|(input, why)| format!("note: {why} ({} read)", counted(input.captures, "capture")));
    let failures = failed.clone().count() as u64;
    show_first(failed, failures, |rest| {
        format!("{} not read to the end", counted(rest, "more input"))
    });
    let broken = inputs.iter().flat_map(|input| {
        let named = input.broken_named.iter();
        named.map(move |it| format!("note: {}: {}: left out: {}", input.name, it.place, it.problem))
    });
    let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum::<u64>();
    show_first(broken, sum(|input| input.broken), |rest| {
        format!("{} left out", counted(rest, "more broken record"))
    });
    for (count, what) in [
        (sum(|input| input.later), "after --as-of left out"),
        (
            sum(|input| input.undated),
            "without a date; older than all others (--strict makes this an error)",
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

/// The summary of reading and writing.
#[derive(Serialize)]
struct Summary<'r> {
    format: &'static str,
    /// The set that was written, and the notes on the inputs.
    account: Account<NoRecords>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sets: &'r [MergedSet],
    inputs: &'r [InputReport],
    bytes: u64,
    captures: u64,
    later: u64,
    superseded: u64,
    broken: u64,
    redirected: u64,
    states: Figures,
    capture_notes: Figures,
    file_notes: Figures,
    in_outage: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    periods: Option<u64>,
    as_of: Option<String>,
    spilled_bytes: u64,
    /// `None` if there is no limit.
    memory_bytes: Option<usize>,
}

impl<'r> Summary<'r> {
    fn new(
        account: Account<NoRecords>,
        sets: &'r [MergedSet],
        ingested: &'r Ingested,
        counts: &StandingCounts,
    ) -> Summary<'r> {
        let (inputs, scratch) = (&ingested.inputs, &ingested.compiling.scratch);
        let sum = |of: fn(&InputReport) -> u64| inputs.iter().map(of).sum();
        // A set stores no origin without a policy.
        let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
        Summary {
            format: format::COMPILE,
            account,
            sets,
            inputs,
            bytes: sum(|input| input.bytes),
            captures: sum(|input| input.captures),
            later: sum(|input| input.later),
            superseded: if sets.is_empty() { ingested.superseded } else { 0 },
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
            periods: ingested.standings.has_history().then_some(counts.periods),
            as_of: ingested.settle.time().map(UnixSeconds::to_rfc3339),
            spilled_bytes: scratch.spilled_bytes(),
            memory_bytes: Some(scratch.memory()).filter(|&memory| memory < usize::MAX),
        }
    }
}

impl summary::Summary for Summary<'_> {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.account.write_run(out)?;
        let (run, time) = (&self.account.run, self.account.time.unwrap_or_default());
        let facts = run.policies.as_ref().expect("a set is written");
        for set in self.sets {
            let origins = counted(set.origins, "origin");
            writeln!(out, "{}: set {:.16}, {origins}", visible(&set.name), set.set_hash)?;
        }
        // What a folder leaves out are files whose names are not hosts, and such.
        let folders = self.inputs.iter().filter(|input| input.is_folder());
        let files: u64 = folders.map(|input| input.broken).sum();
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
            seconds(time.load_seconds),
            seconds(time.seconds),
            time.records_per_second
        )?;
        if self.spilled_bytes > 0
            && let Some(memory) = self.memory_bytes
        {
            let spilled = counted(self.spilled_bytes, "byte");
            let memory = counted(memory as u64, "byte");
            writeln!(out, "{spilled} in temporary files, beside {memory} of memory (--memory)")?;
        }
        let [origins, hosts] = [(facts.origins, "origin"), (facts.hosts, "host")]
            .map(|(count, noun)| counted(count.unwrap_or(0), noun));
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
            visible(&facts.name),
            counted(facts.set_bytes, "byte"),
            counted(facts.policies, "policy"),
            counted(facts.rule_sets, "rule set")
        )
    }
}
