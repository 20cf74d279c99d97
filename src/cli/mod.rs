//! The command line: two stages, and one file for each subcommand.
//!
//! [`args`] holds what was typed, as clap's derived structs; [`plan`] turns that into what it means,
//! without touching a disk; the subcommand's own file carries a plan out and owns no flag. What they
//! share stands beside them: where output goes ([`output`]), the run over inputs ([`stream`]), the
//! policies ([`engine`]), the summary ([`summary`]), the exit status ([`exit`]), and what happens when
//! a mapped file is cut short under it ([`fault`]).

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
mod filter;
mod generate;
mod inspect;
mod lint;
mod merge;
mod output;
mod plan;
mod progress;
mod stream;
mod summary;
mod synth;
mod values;
mod verify;

use std::io::{self, Write};

use clap::{CommandFactory, Parser};

use self::args::{Arguments, Command};
use self::exit::ExitStatus;
use self::output::OutputFailed;

/// Reads the process's arguments, does what they say, and reports an error if there is one.
///
/// Wrong usage, `--help` and `--version` end the process within clap, with status 2 and 0.
pub fn run() -> ExitStatus {
    fault::install();
    let arguments = Arguments::parse();
    match dispatch(arguments) {
        Ok(status) => status,
        // Whoever reads the output has seen enough.
        Err(error) if OutputFailed::is_closed_pipe(&error) => ExitStatus::Done,
        Err(error) => {
            // Where standard error is closed too, the status is all that is left to say it.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitStatus::Failed
        }
    }
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
