//! The command-line program: parses the arguments, runs a subcommand, and returns the exit status.

mod cli;

use std::process::ExitCode;

/// Compiling policies and lazily building automata allocate and free many small vectors on all
/// threads. With the C library's allocator, `compile` spent a fifth of its time there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run().into()
}
