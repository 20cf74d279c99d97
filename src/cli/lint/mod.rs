//! `portcullis lint`: what is wrong in robots.txt files.

mod files;
mod fix;
mod human;
mod statistics;

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::Context as _;
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::limits::{LINT_FILES_PER_THREAD_MAX, ROBOTS_BYTES_MAX};
use portcullis::lint::format::{Github, Json, Linted, Omitted, ReportFormat, Sarif};
use portcullis::lint::{Diagnostic, LintConfig, Report, Severity, catalogue, lint};
use portcullis::policy::AgentChain;
use portcullis::visible::visible;
use rayon::prelude::*;

use self::files::{Input, Source};
use self::human::Human;
use self::statistics::Statistics;
use super::args::{Denied, Explained, LintArgs, LintFormat};
use super::check::is_colored;
use super::exit::ExitStatus;
use super::message::say_plainly;
use super::output::{Destination, Output};

pub fn run(args: LintArgs) -> anyhow::Result<ExitStatus> {
    if let Some(explained) = args.explain {
        let text = match explained {
            Explained::All => catalogue::page(),
            Explained::Code(code) => catalogue::explanation(code),
        };
        let mut output = Output::open(&Destination::StandardOutput)?;
        output.write(text.as_bytes())?;
        output.finish()?;
        return Ok(ExitStatus::Done);
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(args.threads);
    let threads = threads.build().context("cannot start threads: ask for fewer with -j")?;
    let run = Run::new(args)?;
    threads.install(|| run.whole())
}

/// What is to be done with each file.
struct Run {
    args: LintArgs,
    config: LintConfig,
    format: Box<dyn ReportFormat>,
}

/// What came of a file.
enum Told {
    /// What is written, what the statistics count, and whether something denied was found.
    Report {
        text: Vec<u8>,
        notes: Vec<String>,
        statistics: Statistics,
        omitted: Vec<Omitted>,
        is_denied: bool,
    },
    Unreadable(anyhow::Error),
}

impl Run {
    fn new(args: LintArgs) -> anyhow::Result<Run> {
        let dialect = args.dialect.unwrap_or(&RFC_9309);
        let bytes_max = args.max_robots_size.map_or(Some(ROBOTS_BYTES_MAX), |size| size.0);
        let agents = args.agents.iter().map(|agent| AgentChain::parse(agent, dialect));
        let agents = agents.collect::<Result<Vec<_>, _>>()?;
        // What dialects make of rules takes time to find out, and these do not tell it.
        let is_untold = args.statistics || args.fix || args.format == LintFormat::Github;
        let compares_dialects = !is_untold;
        let config =
            LintConfig { bytes_max, agents, compares_dialects, ..LintConfig::new(dialect) };
        let config = LintConfig { keeps_fixes: args.fix, ..config };
        let format: Box<dyn ReportFormat> = match args.format {
            LintFormat::Human => Box::new(Human::new(is_colored(args.color))),
            LintFormat::Json => Box::new(Json),
            LintFormat::Sarif => Box::new(Sarif),
            LintFormat::Github => Box::new(Github),
        };
        Ok(Run { args, config, format })
    }

    fn whole(&self) -> anyhow::Result<ExitStatus> {
        let mut output = Output::open(&Destination::StandardOutput)?;
        let writes_entries = !self.args.statistics && !self.args.fix;
        if writes_entries {
            output.write(self.format.begin(self.config.dialect).as_bytes())?;
        }
        let mut total = Statistics::default();
        let mut all_omitted = Vec::new();
        let (mut is_denied, mut has_failed, mut has_entry) = (false, false, false);
        let mut tell = |told: Told| -> anyhow::Result<()> {
            match told {
                Told::Unreadable(error) => {
                    say_plainly(format_args!("error: {error:#}"));
                    has_failed = true;
                }
                Told::Report { text, notes, statistics, omitted, is_denied: denied } => {
                    notes.iter().for_each(say_plainly);
                    is_denied |= denied;
                    total.merge(&statistics);
                    all_omitted.extend(omitted);
                    if !text.is_empty() {
                        if has_entry && writes_entries {
                            output.write(self.format.separator().as_bytes())?;
                        }
                        has_entry = true;
                        output.write(&text)?;
                    }
                }
            }
            Ok(())
        };
        let files_at_once = rayon::current_num_threads() * LINT_FILES_PER_THREAD_MAX;
        for part in files::list(&self.args.files).chunks(files_at_once) {
            let told: Vec<Told> = part.par_iter().map(|source| self.file(source)).collect();
            told.into_iter().try_for_each(&mut tell)?;
        }
        if writes_entries {
            output.write(self.format.end(&all_omitted).as_bytes())?;
        } else if self.args.statistics {
            output.write(total.table().as_bytes())?;
        }
        output.finish()?;
        say_plainly(total.sentence());
        Ok(match (has_failed, is_denied) {
            (true, _) => ExitStatus::Failed,
            (false, true) => ExitStatus::Negative,
            (false, false) => ExitStatus::Done,
        })
    }

    fn file(&self, source: &Source) -> Told {
        match self.try_file(source) {
            Ok(told) => told,
            Err(error) => Told::Unreadable(error),
        }
    }

    fn try_file(&self, source: &Source) -> anyhow::Result<Told> {
        let bytes_max = self.config.bytes_max.filter(|_| !self.args.fix);
        let Input { name, text } = source.read(bytes_max)?;
        let mut report = lint(&text, &self.config);
        report.diagnostics.retain(|found| !self.args.allow.contains(&found.code));
        report.omitted.retain(|code, _| !self.args.allow.contains(code));
        let omitted = Omitted::of(&name, &report);
        let mut notes: Vec<String> =
            report.unknown.iter().map(|unknown| format!("{name}: {unknown}")).collect();
        let mut statistics = Statistics::of_file(&report);
        let mut text_of_file = Vec::new();
        if self.args.fix {
            let fixed = fix::fix(&name, &text, &report, &self.fix_config());
            if self.args.in_place {
                fixed.write(source.path())?;
            }
            notes.extend(fixed.notes);
            statistics.fixed = fixed.fixed.len();
            report = without(report, &fixed.fixed);
            // A diff is exact, so that it can be applied; on a terminal nobody applies it.
            text_of_file = match io::stdout().is_terminal() {
                true => shown_lines(&fixed.diff),
                false => fixed.diff,
            };
        } else if !self.args.statistics {
            let linted = Linted { name: &name, text: &text, report: &report };
            text_of_file = self.format.entries(&linted).into_bytes();
        }
        let is_denied = report.diagnostics.iter().any(|found| self.is_denied(found));
        Ok(Told::Report { text: text_of_file, notes, statistics, omitted, is_denied })
    }

    fn fix_config(&self) -> portcullis::lint::FixConfig {
        portcullis::lint::FixConfig {
            dialects: match self.args.dialect {
                Some(dialect) => vec![dialect],
                None => Dialect::ALL.to_vec(),
            },
            bytes_max: self.config.bytes_max,
            limits: self.config.limits,
        }
    }

    fn is_denied(&self, found: &Diagnostic) -> bool {
        self.args.deny.iter().any(|denied| match *denied {
            Denied::All => true,
            Denied::Warnings => found.severity() >= Severity::Warning,
            Denied::Errors => found.severity() == Severity::Error,
            Denied::Code(code) => found.code == code,
        })
    }
}

/// The report without the diagnostics at `positions`, which ascend.
fn without(report: Report, positions: &[usize]) -> Report {
    let found = report.diagnostics.into_iter().enumerate();
    let left = found.filter(|(position, _)| positions.binary_search(position).is_err());
    Report { diagnostics: left.map(|(_, diagnostic)| diagnostic).collect(), ..report }
}

/// Lines as people may see them.
fn shown_lines(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let shown = lines.map(|line| match line.strip_suffix(b"\n") {
        Some(line) => format!("{}\n", visible(line)),
        None => visible(line).to_string(),
    });
    shown.collect::<String>().into_bytes()
}

/// A path as it is shown.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
