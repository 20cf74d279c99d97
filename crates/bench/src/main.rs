//! The program `portcullis-bench`, with the built-in engines.

use std::process::ExitCode;

fn main() -> ExitCode {
    portcullis_bench::program::main("portcullis-bench", |_| Vec::new())
}
