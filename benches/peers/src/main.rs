//! `portcullis bench` with robots.txt matchers from crates.io as additional engines.
//!
//! `portcullis-peers ROBOTS URLS AGENT` takes the flags of `portcullis bench` that measure.
//! `scripts/peers` builds and runs it. The harness is [`portcullis_bench`].

#![allow(unsafe_code, reason = "asks the C library's allocator to return memory")]

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use portcullis_bench as bench;
use portcullis_bench::{Corpus, Originals, Settings};
use portcullis_build::{LoadConfig, load};
use portcullis_dialect::dialect::Dialect;
use portcullis_peers::engines;
use portcullis_robots::policy::AgentChain;

/// Compare portcullis with other robots.txt matchers on your own files and URLs
///
/// Prints Markdown. Exits with 1 if a built-in engine is wrong.
#[derive(Parser)]
struct Arguments {
    /// A robots.txt file, or a folder of files named by host
    robots: PathBuf,
    /// The list of URLs, one per line
    urls: PathBuf,
    /// The crawler's product token
    agent: String,
    /// The standard or crawler whose behaviour portcullis and the oracle follow
    #[arg(long, value_name = "NAME", default_value = "google", value_parser = dialect)]
    dialect: &'static Dialect,
    #[command(flatten)]
    settings: Settings,
    /// JSON output file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// HTML output file, with a chart
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn dialect(name: &str) -> Result<&'static Dialect, String> {
    let names = Dialect::ALL.map(|dialect| dialect.name).join(", ");
    Dialect::by_name(name).ok_or_else(|| format!("there are {names}"))
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // With one thread, portcullis compiles on the measuring thread, like every other engine.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    match pool.map_err(Into::into).and_then(|pool| pool.install(|| run(arguments))) {
        Ok(has_fault) => ExitCode::from(u8::from(has_fault)),
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<bool> {
    let Arguments { robots, urls, agent, dialect, settings, report: json, html } = arguments;
    let agent = AgentChain::parse(&agent, dialect)?;
    ensure!(agent.tokens().count() == 1, "the peers take no chains of agents; name one token");
    let config = LoadConfig { agents: Some([agent.clone()].into()), ..LoadConfig::new(dialect) };
    let set = load(&robots, &config)?.set;
    let originals = Originals::load(&robots, &config)?;
    let mut corpus = Corpus::new(set, Some(originals), agent)?;
    let list = fs::read(&urls).with_context(|| format!("cannot read {}", urls.display()))?;
    for url in list.strip_suffix(b"\n").unwrap_or(&list).split(|&byte| byte == b'\n') {
        corpus.add(url)?;
    }
    let command = bench::command_line("scripts/peers", std::env::args_os().skip(1));
    let settings = Settings { give_back_memory, command, ..settings };
    let engines = bench::chosen(&corpus, engines::all(&corpus), &settings)?;
    let report = bench::run(&corpus, &engines, &settings, &|what| eprintln!("peers: {what}"))?;
    for (path, text) in [(json, report.to_json()), (html, bench::page(&report))] {
        let Some(path) = path else { continue };
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    io::stdout().write_all(bench::markdown(&report).as_bytes())?;
    Ok(report.has_fault())
}

/// Returns free memory to the system, if the allocator can.
///
/// An engine that takes a gigabyte pays the system for it, unless another engine has freed as much
/// before. Returning the memory makes builds comparable in any order.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call this function at any time, and it does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
