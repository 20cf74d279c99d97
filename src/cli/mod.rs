//! The command line: two stages, and one file for each subcommand.
//!
//! [`args`] holds what was typed, as clap's derived structs; [`plan`] turns that into what it means,
//! without touching a disk; the subcommand's own file carries a plan out and owns no flag. What they
//! share stands beside them: that no output is an input ([`files`]), where output goes ([`output`]), the
//! run over inputs ([`stream`]), the policies ([`engine`]), the summary ([`summary`]), messages
//! ([`message`]), the exit status ([`exit`]), what is mapped ([`mapped`]), and what happens when a mapped
//! file is cut short under it ([`fault`]).

mod args;
mod audit;
mod bench;
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
mod lint;
mod mapped;
mod merge;
mod message;
mod output;
mod plan;
mod progress;
mod stream;
mod summary;
mod synth;
mod values;
mod verify;

use std::io::{self, Write};

use clap::{CommandFactory, FromArgMatches};

use self::args::{Arguments, Command};
use self::exit::ExitStatus;
use self::output::OutputFailed;

/// Reads the process's arguments, does what they say, and reports an error if there is one.
///
/// Wrong usage ends the process within clap, with status 2.
pub fn run() -> ExitStatus {
    fault::install();
    match try_run() {
        Ok(status) => status,
        // Whoever reads the output has seen enough.
        Err(error) if OutputFailed::is_closed_pipe(&error) => ExitStatus::Done,
        Err(error) => {
            message::say_plainly(format_args!("error: {error:#}"));
            ExitStatus::Failed
        }
    }
}

fn try_run() -> anyhow::Result<ExitStatus> {
    let mut command = Arguments::command();
    let matches = match command.try_get_matches_from_mut(std::env::args_os()) {
        Ok(matches) => matches,
        Err(wrong) if wrong.use_stderr() => message::shown(wrong).exit(),
        Err(help) => {
            let printed = help.print().and_then(|()| io::stdout().flush());
            printed.map_err(OutputFailed::standard_output)?;
            return Ok(ExitStatus::Done);
        }
    };
    let arguments =
        Arguments::from_arg_matches(&matches).unwrap_or_else(|wrong| message::shown(wrong).exit());
    files::check(&command, &matches)?;
    dispatch(arguments)
}

fn dispatch(arguments: Arguments) -> anyhow::Result<ExitStatus> {
    if let Some(kind) = arguments.generate {
        return generate::run(kind, Arguments::command());
    }
    match arguments.command {
        Some(Command::Check(args)) => check::run(&plan::check(args)?),
        Some(Command::Classify(args)) => classify::run(&plan::classify(args)?),
        Some(Command::Filter(args)) => filter::run(&plan::filter(args)?),
        Some(Command::Compile(args)) => compile::run(&plan::compile(args)?),
        Some(Command::Merge(args)) => merge::run(&plan::merge(args)?),
        Some(Command::Diff(args)) => diff::run(&plan::diff(args)?),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Lint(args)) => lint::run(args),
        Some(Command::Verify(args)) => verify::run(&args),
        Some(Command::Audit(args)) => audit::run(&plan::audit(args)?),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Synth(args)) => synth::run(&args),
        None => anyhow::bail!("say what to do: `portcullis --help` lists the subcommands"),
    }
}
