//! The command-line program: reads what was typed, runs it, and tells how it went.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().into()
}
