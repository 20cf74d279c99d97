//! The program: one file per subcommand, and the code that they share.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! `args` holds the flags as clap's derived structs. `plan` checks the groups of flags that several
//! subcommands have. Each subcommand's file does the work and writes the result through `output`, or
//! through `rows` if there may be one output for each list. The other modules are shared: the lists
//! that arguments name (`lists`), the check that no output is an input (`files`), runs over inputs
//! (`stream`), loaded policies (`engine`), summaries (`summary`), messages (`message`), the
//! exit status (`exit`), mapped files (`mapped`), signals (`fault`), and its own bounds (`limits`).
//!
//! Every failure is an [`anyhow::Error`] that [`run`] prints as one line, with exit status 2. The
//! Python package calls [`run`] too: it handles the signals of the process, and ends the process on
//! wrong usage. It reads names of agents ([`agents`]), of sets ([`SetAt`]) and of schemes ([`scheme`]) as the
//! program does.

pub mod agents;
mod args;
mod audit;
mod check;
mod classify;
mod compile;
mod diff;
mod engine;
mod exit;
mod fault;
mod files;
mod filter;
mod generate;
mod inspect;
mod limits;
mod lint;
mod lists;
mod mapped;
mod message;
mod new_folders;
mod output;
mod plan;
mod progress;
mod records;
mod rows;
mod stream;
mod summary;
mod survey;
mod table;
mod unknown_hosts;
mod values;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::LazyLock;

use clap::{CommandFactory, FromArgMatches};
use portcullis_engine::vectors::Vectors;

use self::args::{Arguments, Command};
pub use self::exit::ExitStatus;
use self::files::Files;
use self::output::{OutputFailed, STANDARD_OUTPUT};
pub use self::values::{SetAt, scheme};

/// Runs the program with `arguments`, of which the first is its name, and prints the error if it
/// fails.
///
/// On wrong usage, clap ends the process with status 2.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    fault::install();
    match try_run(&arguments) {
        Ok(status) => status,
        // The reader of the output closed it, which is not a failure.
        Err(error) if output::is_closed_pipe(&error) => ExitStatus::Done,
        Err(error) => {
            message::fail(&error);
            ExitStatus::Failed
        }
    }
}

/// A row of a URL is a change, so an output that its reader closed is not the answer that nothing changed.
fn changed_if_closed(result: anyhow::Result<ExitStatus>) -> anyhow::Result<ExitStatus> {
    match result {
        Err(error) if output::is_closed_pipe(&error) => Ok(ExitStatus::Negative),
        result => result,
    }
}

/// The text of `--version`, after the name of the program: what a report of a problem needs.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{} ({}-{})\npolicy sets: format {}\nvector instructions: {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        portcullis_set::file::VERSION,
        Vectors::detect().name(),
    )
});

fn try_run(typed: &[OsString]) -> anyhow::Result<ExitStatus> {
    let mut command = args::examples::added_to(Arguments::command()).long_version(VERSION.as_str());
    let matches = match command.try_get_matches_from_mut(typed) {
        Ok(matches) => matches,
        Err(wrong) if wrong.use_stderr() => message::shown(wrong, &command, typed).exit(),
        Err(help) => {
            let printed = help.print().and_then(|()| io::stdout().flush());
            printed.map_err(|error| OutputFailed::new(STANDARD_OUTPUT, error))?;
            return Ok(ExitStatus::Done);
        }
    };
    let arguments = Arguments::from_arg_matches(&matches)
        .unwrap_or_else(|wrong| message::shown(wrong, &command, typed).exit());
    let files = Files::of(&matches)?;
    if arguments.agent_lists {
        let mut text = Vec::new();
        match arguments.format {
            None => agents::write_lists(&mut text)?,
            Some(_) => agents::write_readings(&mut text)?,
        }
        output::print(&text)?;
        return Ok(ExitStatus::Done);
    }
    if let Some(kind) = arguments.generate {
        return generate::run(kind, command).map(|()| ExitStatus::Done);
    }
    match arguments.command {
        Some(Command::Check(args)) => check::run(args, &files),
        Some(Command::Classify(args)) => classify::run(args, &files),
        Some(Command::Filter(args)) => filter::run(args, &files),
        Some(Command::Compile(args)) => compile::run(args, &files).map(|()| ExitStatus::Done),
        Some(Command::Diff(args)) => changed_if_closed(diff::run(args, &files)),
        Some(Command::Inspect(args)) => inspect::run(args),
        Some(Command::Lint(args)) => lint::run(args, &files),
        Some(Command::Survey(args)) => survey::run(args).map(|()| ExitStatus::Done),
        Some(Command::Audit(args)) => audit::run(args, &files).map(|()| ExitStatus::Done),
        None => anyhow::bail!("no subcommand; `portcullis --help` lists them"),
    }
}
