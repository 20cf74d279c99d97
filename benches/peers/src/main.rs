//! `portcullis-bench` with robots.txt matchers from crates.io as additional engines. `scripts/peers`
//! builds and runs it.

use std::process::ExitCode;

fn main() -> ExitCode {
    portcullis_bench::program::main("scripts/peers", portcullis_peers::engines::all)
}
