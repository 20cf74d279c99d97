//! The command-line program: runs it with the arguments of the process.

use std::process::ExitCode;

/// Compiling policies and lazily building automata allocate and free many small vectors on all
/// threads. With the C library's allocator, `compile` spent a fifth of its time there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    (portcullis_cli::run(std::env::args_os()) as u8).into()
}
