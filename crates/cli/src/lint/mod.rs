//! `portcullis lint`: reports problems in robots.txt files.
//!
//! Files are checked in parallel, one batch at a time, and reported in their order.

pub mod codes;
mod fix;
mod format;
mod human;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{anyhow, ensure};

use crate::limits::{EDITED_BYTES_MAX, LINT_FILES_PER_THREAD_MAX};
use portcullis_captures::check_file;
use portcullis_dialect::dialect::Dialect;
use portcullis_files::input::{InputError, read_robots_txt};
use portcullis_files::kind::{FileKind, WrongKind};
use portcullis_lint::{Code, LintConfig, Report, Severity, lint};
use portcullis_report::add_counts;
use rayon::prelude::*;

use self::format::{Github, Json, Linted, Omitted, ReportFormat};
use self::human::Human;
use super::agents::show_misspelt;
use super::args::LintArgs;
use super::check::is_colored;
use super::engine::thread_pool;
use super::exit::ExitStatus;
use super::files::Files;
use super::lists;
use super::message::{Notes, say};
use super::output::{self, Output, OutputFile};
use super::plan;
use super::values::Format;

pub fn run(args: LintArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    if let Some(text) = args.describe {
        output::print(text.as_bytes())?;
        return Ok(ExitStatus::Done);
    }
    let pool = thread_pool(args.threads.threads)?;
    let run = Run::new(args)?;
    pool.install(|| run.files(files))
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
struct LintedFile {
    text: Vec<u8>,
    notes: Vec<String>,
    statistics: Statistics,
    omitted: Vec<Omitted>,
    /// Whether a finding is severe enough for status 1.
    has_finding: bool,
}

impl Run {
    fn new(mut args: LintArgs) -> anyhow::Result<Run> {
        let (dialect, bytes_max) = (args.text.dialect(), args.text.bytes_max());
        let agents = std::mem::take(&mut args.agents);
        let questions = plan::agents(agents, Some(dialect))?;
        let agents = questions.agents(dialect)?;
        show_misspelt(&agents);
        let config =
            LintConfig { bytes_max, agents, keeps_fixes: args.edits(), ..LintConfig::new(dialect) };
        let format: Box<dyn ReportFormat> = match args.format {
            Format::Json => Box::new(Json),
            Format::Github => Box::new(Github),
            _ => Box::new(Human::new(is_colored(args.color.color))),
        };
        // Formats for programs get every finding, because programs filter by severity themselves.
        let is_for_programs = args.format == Format::Json || args.edits();
        let by_default = if is_for_programs { Severity::Info } else { Severity::Warning };
        let level = args.level.unwrap_or(by_default);
        Ok(Run { args, config, format, level })
    }

    fn files(&self, files: &Files) -> anyhow::Result<ExitStatus> {
        let writes_entries = !self.args.edits();
        let mut output = match writes_entries {
            true => Output::styled(),
            false => Output::create(&OutputFile::default())?,
        }
        .until_closed();
        if writes_entries {
            output.write(self.format.begin(self.config.dialect).as_bytes())?;
        }
        let mut total = Statistics::default();
        let mut all_omitted = Vec::new();
        let (mut has_finding, mut has_entry) = (false, false);
        let files_at_once = rayon::current_num_threads() * LINT_FILES_PER_THREAD_MAX;
        for part in lists::noted(&files.robots, &mut Notes::default()).chunks(files_at_once) {
            let results: Vec<_> = part.par_iter().map(|input| self.file(&input.path)).collect();
            for result in results {
                let checked = result.unwrap_or_else(|error| {
                    say(format_args!("error: {error:#}"));
                    let statistics = Statistics { unread: 1, ..Statistics::default() };
                    LintedFile { statistics, ..LintedFile::default() }
                });
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
        if total.files > 0 || total.unread == 0 {
            say(total.sentence(if self.args.diff { "fixable" } else { "fixed" }));
        }
        let found = total.found.iter().sum::<u64>();
        if self.args.diff && !has_entry && found > 0 {
            say("no safe edits; lint without --diff shows the findings");
        }
        if self.args.fix && found > total.fixed as u64 {
            say(match total.fixed {
                0 => "no safe edits; lint without --fix shows the findings",
                _ => "lint without --fix shows the other findings",
            });
        }
        if let Some(hint) = total.hint(self.level) {
            say(hint);
        }
        Ok(match (total.unread > 0, has_finding && !self.args.exit_zero) {
            (true, _) => ExitStatus::Failed,
            (false, true) => ExitStatus::Negative,
            (false, false) => ExitStatus::Done,
        })
    }

    /// Reads a file up to its size limit plus a little more, to detect that the text was cut, or the whole
    /// file to edit it.
    fn read(&self, path: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
        let edits = self.args.edits();
        let bytes_max = if edits { Some(EDITED_BYTES_MAX) } else { self.config.bytes_max };
        let text = read_robots_txt(path, bytes_max).map_err(|error| match error {
            InputError::WrongKind(WrongKind { kind: FileKind::PolicySet, .. }) => anyhow!(
                "{name} is a policy set; lint reads robots.txt files (inspect SET HOST shows the files of a \
                 set)"
            ),
            error => error.into(),
        })?;
        check_file(&text).map_err(|problem| InputError::list(path, problem))?;
        ensure!(
            !edits || text.len() <= EDITED_BYTES_MAX,
            "{name}: longer than {EDITED_BYTES_MAX} bytes; edit it by hand"
        );
        ensure!(
            !self.args.fix || path.is_file(),
            "{name}: not a file that can be fixed in place; name one, or apply the output of --diff"
        );
        Ok(text)
    }

    fn file(&self, path: &Path) -> anyhow::Result<LintedFile> {
        let is_standard_input = path == Path::new("-");
        let name = if is_standard_input { "<stdin>".into() } else { path.display().to_string() };
        let text = self.read(path, &name)?;
        let mut report = lint(&text, &self.config);
        retain(&mut report, |code| !self.args.ignore.contains(&code));
        let mut statistics = Statistics::from_file(&report);
        retain(&mut report, |code| code.severity() >= self.level);
        let omitted = Omitted::of(&name, &report);
        let unknown = report.unknown.iter().map(|unknown| format!("{name}: {unknown}"));
        let mut notes: Vec<String> = unknown.collect();
        let mut text_of_file = Vec::new();
        if self.args.edits() {
            let chosen = self.args.text.dialect.as_slice();
            let dialects = if chosen.is_empty() { &Dialect::ALL[..] } else { chosen };
            let fixed = portcullis_lint::fix(&text, &report, dialects, self.config.bytes_max);
            let changes = fixed.text != text;
            if changes && self.args.fix {
                fix::write(path, &fixed.text)?;
            }
            if changes && self.args.diff {
                let fixes = fixed.fixed.iter().flat_map(|&it| &report.diagnostics[it].fix);
                text_of_file = fix::diff(&name, &text, fixes.flat_map(|it| &it.edits).collect());
            }
            notes.extend(fix::left(&name, &report, &fixed));
            statistics.fixed = fixed.fixed.len();
            let mut positions = 0..;
            let is_left = |position: usize| fixed.fixed.binary_search(&position).is_err();
            report.diagnostics.retain(|_| positions.next().is_some_and(is_left));
        } else {
            let linted = Linted { name: &name, text: &text, report: &report };
            text_of_file = self.format.entries(&linted).into_bytes();
        }
        let has_finding = self.has_finding(&report);
        Ok(LintedFile { text: text_of_file, notes, statistics, omitted, has_finding })
    }

    /// Returns whether a finding makes status 1: an error, or with --fail what --level reports.
    fn has_finding(&self, report: &Report) -> bool {
        let least = match self.args.fail {
            true => self.args.level.unwrap_or(Severity::Warning),
            false => Severity::Error,
        };
        report.diagnostics.iter().any(|found| found.code.severity() >= least)
    }
}

/// Removes the findings of other codes.
fn retain(report: &mut Report, is_kept: impl Fn(Code) -> bool) {
    report.diagnostics.retain(|found| is_kept(found.code));
    report.omitted.retain(|code, _| is_kept(*code));
}

/// The numbers of files and diagnostics.
#[derive(Default)]
struct Statistics {
    files: usize,
    /// The number of files that could not be read.
    unread: usize,
    /// The number of diagnostics of each severity, the least first.
    found: [u64; Severity::ALL.len()],
    /// The number of fixed diagnostics.
    fixed: usize,
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
            statistics.found[code.severity() as usize] += findings as u64;
        }
        statistics
    }

    fn merge(&mut self, other: &Statistics) {
        self.files += other.files;
        self.unread += other.unread;
        self.fixed += other.fixed;
        self.unknown += other.unknown;
        add_counts(&mut self.found, &other.found);
    }

    /// Returns the totals as one sentence, in which diagnostics were `fixed`, or could be.
    fn sentence(&self, fixed: &str) -> String {
        let ([infos, warnings, errors], files) = (self.found, self.files);
        let mut sentence = format!("files: {files}, errors: {errors}, warnings: {warnings}");
        if infos > 0 {
            let _ = write!(sentence, ", info: {infos}");
        }
        if self.unread > 0 {
            let _ = write!(sentence, ", not read: {}", self.unread);
        }
        if self.fixed > 0 {
            let _ = write!(sentence, ", {fixed}: {}", self.fixed);
        }
        if self.unknown > 0 {
            let _ = write!(sentence, ", not compared: {}", self.unknown);
        }
        sentence
    }

    /// Returns the number of diagnostics below a level and the flag that shows them, or `None` if there
    /// are none.
    fn hint(&self, level: Severity) -> Option<String> {
        let hidden: u64 = self.found[..level as usize].iter().sum();
        let found = if hidden == 1 { "finding is" } else { "findings are" };
        (hidden > 0).then(|| {
            format!(
                "{} {found} not shown; use --level info to see all",
                portcullis_text::figures::grouped(hidden)
            )
        })
    }
}
