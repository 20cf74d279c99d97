//! Writes `docs/conformance.md`. With `--check`, only exits with 1 if the page is out of date.
//! Exits with 2 if a case file or a decision is invalid.

#[allow(dead_code, reason = "a page needs less of a check than the suite does")]
#[path = "../tests/suite/case.rs"]
mod case;
#[path = "../tests/suite/page.rs"]
mod page;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only_check = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => return failed("usage: conformance_page [--check]"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = match page::page(root) {
        Ok(made) => made,
        Err(problem) => return failed(&problem),
    };
    let path = root.join(page::PAGE);
    if std::fs::read_to_string(&path).is_ok_and(|kept| kept == made) {
        return ExitCode::SUCCESS;
    }
    if only_check {
        eprintln!("{} is out of date: run scripts/conformance-page", page::PAGE);
        return ExitCode::FAILURE;
    }
    match std::fs::write(&path, made) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&format!("{}: {error}", path.display())),
    }
}

fn failed(problem: &str) -> ExitCode {
    eprintln!("error: {problem}");
    ExitCode::from(2)
}
