//! The command-line program: reads what was typed, runs it, and tells how it went.

mod cli;

use std::process::ExitCode;

/// Compiling policies and building automata on demand make and drop many small lists, on all
/// threads: a fifth of the time of `compile` went to the allocator of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run().into()
}
