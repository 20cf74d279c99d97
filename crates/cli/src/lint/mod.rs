//! `portcullis lint`: reports problems in robots.txt files.
//!
//! Files are checked in parallel, one batch at a time, and reported in their order.

mod catalogue;
mod fix;
mod format;
mod human;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::limits::LINT_FILES_PER_THREAD_MAX;
use portcullis_dialect::dialect::Dialect;
use portcullis_files::expand::expand;
use portcullis_files::input::read_robots_txt;
use portcullis_lint::{Code, Fixed, LintConfig, Report, Severity, lint};
use rayon::prelude::*;

use self::format::{Github, Json, Linted, Omitted, ReportFormat};
use self::human::Human;
use super::args::{Explained, LintArgs, ListPath};
use super::check::is_colored;
use super::engine::thread_pool;
use super::exit::ExitStatus;
use super::lists;
use super::message::{Notes, say};
use super::output::{self, Destination, Output};
use super::plan;
use super::values::Format;

pub fn run(args: LintArgs) -> anyhow::Result<ExitStatus> {
    if let Some(explained) = args.describe {
        let text = match explained {
            Explained::All => catalogue::page(),
            Explained::Code(code) => catalogue::explanation(code),
        };
        output::print(text.as_bytes())?;
        return Ok(ExitStatus::Done);
    }
    let pool = thread_pool(args.threads.threads)?;
    let run = Run::new(args)?;
    pool.install(|| run.files())
}

/// The checks of a run.
struct Run {
    args: LintArgs,
    config: LintConfig,
    format: Box<dyn ReportFormat>,
    /// The least severity to report.
    level: Severity,
}

/// The result for a file.
#[derive(Default)]
struct Checked {
    text: Vec<u8>,
    notes: Vec<String>,
    statistics: Statistics,
    omitted: Vec<Omitted>,
    /// Whether a finding is severe enough for --fail.
    has_finding: bool,
}

impl Run {
    fn new(mut args: LintArgs) -> anyhow::Result<Run> {
        let (dialect, bytes_max) = (args.text.dialect(), args.text.bytes_max());
        let agents = std::mem::take(&mut args.agents);
        let questions = plan::agents(agents, Some(dialect))?;
        let agents = questions.agents(dialect)?;
        let config =
            LintConfig { bytes_max, agents, keeps_fixes: args.edits(), ..LintConfig::new(dialect) };
        let format: Box<dyn ReportFormat> = match args.format {
            Format::Json => Box::new(Json),
            Format::Github => Box::new(Github),
            _ => Box::new(Human::new(is_colored(args.color.color))),
        };
        let level = level(&args);
        Ok(Run { args, config, format, level })
    }

    fn files(&self) -> anyhow::Result<ExitStatus> {
        let writes_entries = !self.args.edits();
        let mut output = match writes_entries {
            true => Output::styled(),
            false => Output::open(&Destination::StandardOutput)?,
        };
        if writes_entries {
            output.write(self.format.begin(self.config.dialect).as_bytes())?;
        }
        let mut total = Statistics::default();
        let mut all_omitted = Vec::new();
        let (mut has_finding, mut has_failed, mut has_entry) = (false, false, false);
        let files_at_once = rayon::current_num_threads() * LINT_FILES_PER_THREAD_MAX;
        let named = expand(self.args.files.iter().map(ListPath::path), "file", &|_| Ok(false))?;
        for part in lists::noted(named, &mut Notes::default()).chunks(files_at_once) {
            let results: Vec<_> = part.par_iter().map(|input| self.file(&input.path)).collect();
            for result in results {
                let checked = match result {
                    Ok(checked) => checked,
                    Err(error) => {
                        say(format_args!("error: {error:#}"));
                        has_failed = true;
                        continue;
                    }
                };
                checked.notes.iter().for_each(say);
                has_finding |= checked.has_finding;
                total.merge(&checked.statistics);
                all_omitted.extend(checked.omitted);
                if !checked.text.is_empty() {
                    if has_entry && writes_entries {
                        output.write(self.format.separator().as_bytes())?;
                    }
                    has_entry = true;
                    output.write(&checked.text)?;
                }
            }
        }
        if writes_entries {
            output.write(self.format.end(&all_omitted).as_bytes())?;
        }
        output.finish()?;
        say(total.sentence());
        if let Some(hint) = total.hint() {
            say(hint);
        }
        Ok(match (has_failed, has_finding && self.args.fail.fail) {
            (true, _) => ExitStatus::Failed,
            (false, true) => ExitStatus::Negative,
            (false, false) => ExitStatus::Done,
        })
    }

    fn file(&self, path: &Path) -> anyhow::Result<Checked> {
        let bytes_max = self.config.bytes_max.filter(|_| !self.args.edits());
        let (name, text) = read(path, bytes_max)?;
        let mut report = lint(&text, &self.config);
        report.diagnostics.retain(|found| !self.args.allow.contains(&found.code));
        report.omitted.retain(|code, _| !self.args.allow.contains(code));
        let mut statistics = Statistics::from_file(&report);
        statistics.hidden = self.hide(&mut report);
        let omitted = Omitted::of(&name, &report);
        let mut notes: Vec<String> =
            report.unknown.iter().map(|unknown| format!("{name}: {unknown}")).collect();
        let mut text_of_file = Vec::new();
        if self.args.edits() {
            let fixed = fix::fix(&name, &text, &report, self.fixed(&text, &report));
            if self.args.fix {
                fixed.write(path)?;
            }
            notes.extend(fixed.notes);
            statistics.fixed = fixed.fixed.len();
            report = without(report, &fixed.fixed);
            if self.args.diff {
                text_of_file = fixed.diff;
            }
        } else {
            let linted = Linted { name: &name, text: &text, report: &report };
            text_of_file = self.format.entries(&linted).into_bytes();
        }
        let least = self.args.level.unwrap_or(Severity::Warning);
        let has_finding = report.diagnostics.iter().any(|found| found.code.severity() >= least);
        Ok(Checked { text: text_of_file, notes, statistics, omitted, has_finding })
    }

    /// Returns the text with all proved edits.
    fn fixed(&self, text: &[u8], report: &Report) -> Fixed {
        let chosen = self.args.text.dialect.map(|dialect| vec![dialect]);
        let dialects = chosen.unwrap_or_else(|| Dialect::ALL.to_vec());
        portcullis_lint::fix(text, report, &dialects, self.config.bytes_max)
    }

    /// Removes the findings below the level and returns their number.
    fn hide(&self, report: &mut Report) -> usize {
        let is_shown = |code: Code| code.severity() >= self.level;
        let all = report.diagnostics.len() + report.omitted.values().sum::<usize>();
        report.diagnostics.retain(|found| is_shown(found.code));
        report.omitted.retain(|code, _| is_shown(*code));
        all - report.diagnostics.len() - report.omitted.values().sum::<usize>()
    }
}

/// Returns the least severity to report. Formats for programs get every finding, because programs
/// filter by severity themselves.
fn level(args: &LintArgs) -> Severity {
    match args.level {
        Some(level) => level,
        None if args.format != Format::Json && !args.edits() => Severity::Warning,
        None => Severity::Info,
    }
}

/// Returns the report without the diagnostics at `positions`, which must be ascending.
fn without(report: Report, positions: &[usize]) -> Report {
    let found = report.diagnostics.into_iter().enumerate();
    let left = found.filter(|(position, _)| positions.binary_search(position).is_err());
    Report { diagnostics: left.map(|(_, diagnostic)| diagnostic).collect(), ..report }
}

/// Returns the name and the text of a file, up to the size limit plus a little more, to detect that the text
/// was cut.
fn read(path: &Path, bytes_max: Option<usize>) -> anyhow::Result<(String, Vec<u8>)> {
    let is_standard_input = path == Path::new("-");
    let name = if is_standard_input { "<stdin>".to_owned() } else { path.display().to_string() };
    Ok((name, read_robots_txt(path, bytes_max)?))
}

/// The numbers of files and diagnostics.
#[derive(Default)]
struct Statistics {
    files: usize,
    /// The number of diagnostics of each severity.
    found: BTreeMap<Severity, usize>,
    /// The number of fixed diagnostics.
    fixed: usize,
    /// The number of diagnostics below the level.
    hidden: usize,
    /// The number of rule sets that were not compared because of a limit.
    unknown: usize,
}

impl Statistics {
    fn from_file(report: &Report) -> Statistics {
        let unknown = report.unknown.len();
        let mut statistics = Statistics { files: 1, unknown, ..Statistics::default() };
        let listed = report.diagnostics.iter().map(|diagnostic| (diagnostic.code, 1));
        let omitted = report.omitted.iter().map(|(&code, &omitted)| (code, omitted));
        for (code, findings) in listed.chain(omitted) {
            *statistics.found.entry(code.severity()).or_default() += findings;
        }
        statistics
    }

    fn merge(&mut self, other: &Statistics) {
        self.files += other.files;
        self.fixed += other.fixed;
        self.hidden += other.hidden;
        self.unknown += other.unknown;
        for (&severity, findings) in &other.found {
            *self.found.entry(severity).or_default() += findings;
        }
    }

    /// Returns the totals as one sentence.
    fn sentence(&self) -> String {
        let of = |severity: Severity| self.found.get(&severity).copied().unwrap_or(0);
        let [errors, warnings, infos] =
            [Severity::Error, Severity::Warning, Severity::Info].map(of);
        let files = self.files;
        let mut sentence =
            format!("files: {files}, errors: {errors}, warnings: {warnings}, infos: {infos}");
        if self.fixed > 0 {
            let _ = write!(sentence, ", fixed: {}", self.fixed);
        }
        if self.unknown > 0 {
            let _ = write!(sentence, ", not compared: {}", self.unknown);
        }
        sentence
    }

    /// Returns the number of hidden diagnostics and the flag that shows them, or `None` if none is
    /// hidden.
    fn hint(&self) -> Option<String> {
        let found = if self.hidden == 1 { "finding is" } else { "findings are" };
        let hidden = self.hidden;
        (hidden > 0).then(|| format!("{hidden} {found} not shown; use --level info to see all"))
    }
}
