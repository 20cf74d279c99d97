//! `portcullis bench` with robots.txt matchers from crates.io as additional engines.
//!
//! `portcullis-peers ROBOTS URLS AGENT` takes the flags of `portcullis bench`. `scripts/peers`
//! builds and runs it. The harness is [`portcullis_bench`]. `../METHODOLOGY.md` explains what is
//! measured, what is left out and where the comparison is biased.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use portcullis_bench as bench;
use portcullis_bench::{Corpus, MemoryUse, Model, Originals, RunnerCommand, Settings, UrlList};
use portcullis_dialect::dialect::Dialect;
use portcullis_peers::{engines, system};
use portcullis_robots::policy::AgentChain;
use portcullis_set::{LoadConfig, PolicySet};

/// Compare portcullis with other robots.txt matchers on your own files and URLs
///
/// Prints Markdown. Exits with 1 if a built-in engine is wrong.
#[derive(Parser)]
struct Arguments {
    /// A robots.txt file, or a folder of files named by host
    robots: PathBuf,
    /// The list of URLs; its format is detected
    urls: PathBuf,
    /// The crawler's product token
    agent: String,
    /// The standard or crawler whose behaviour portcullis and the oracle follow
    #[arg(long, value_name = "NAME", default_value = "google", value_parser = dialect)]
    dialect: &'static Dialect,
    /// Engine to measure; repeatable [default: all]
    #[arg(long = "engine", value_name = "NAME")]
    engines: Vec<String>,
    /// Engine that ratios refer to [default: portcullis]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// What to measure; repeatable [default: all]
    #[arg(long = "model", value_name = "NAME", value_parser = model)]
    models: Vec<Model>,
    /// Another program as an engine (see benches/RUNNERS.md)
    #[arg(long = "runner", value_name = "NAME=COMMAND")]
    runners: Vec<RunnerCommand>,
    /// Time limit for an answer of a runner, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = bench::RUNNER_SECONDS_MAX)]
    runner_timeout: u64,
    /// Number of rounds
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Seconds for which an engine repeats a pass in one round
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1)]
    seconds_per_pass: f64,
    /// Seed of orders and samples
    #[arg(long, value_name = "N", default_value_t = 9309)]
    seed: u64,
    /// Also measure growth on synthetic data
    #[arg(long)]
    curves: bool,
    /// Do not measure memory, which starts this program again for each engine
    #[arg(long)]
    no_memory: bool,
    /// JSON output file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// HTML output file, with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the memory of a process with this engine alone
    #[arg(long, value_name = "NAME", hide = true)]
    memory_of: Option<String>,
}

fn dialect(name: &str) -> Result<&'static Dialect, String> {
    let names = Dialect::ALL.map(|dialect| dialect.name).join(", ");
    Dialect::by_name(name).ok_or_else(|| format!("there are {names}"))
}

fn model(name: &str) -> Result<Model, String> {
    let named = Model::ALL.into_iter().find(|model| model.as_str() == name);
    named.ok_or_else(|| format!("there are {}", Model::ALL.map(Model::as_str).join(", ")))
}

fn main() -> ExitCode {
    match measured() {
        Ok(has_fault) => ExitCode::from(u8::from(has_fault)),
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measured() -> Result<bool> {
    let arguments = Arguments::parse();
    // With one thread, portcullis compiles on the measuring thread, like every other engine.
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<bool> {
    let dialect = arguments.dialect;
    let agent = AgentChain::parse(&arguments.agent, dialect)?;
    ensure!(agent.tokens().count() == 1, "the peers take no chains of agents; name one token");
    let config = LoadConfig { agents: Some([agent.clone()].into()), ..LoadConfig::new(dialect) };
    let (set, originals) = (
        PolicySet::load(&arguments.robots, &config)?.set,
        Originals::load(&arguments.robots, &config)?,
    );
    let list = UrlList::detected(&arguments.urls);
    let corpus = Corpus::load(set, Some(originals), agent, list)?;
    let settings = settings(arguments);
    let engines = bench::chosen(&corpus, engines::all(&corpus), &settings)?;
    if let Some(name) = &arguments.memory_of {
        let named = engines.iter().find(|engine| engine.name == *name);
        let used = MemoryUse::of(&corpus, named.context("no engine has this name")?)?;
        println!("{}", used.to_json());
        return Ok(false);
    }
    let report = bench::run(&corpus, &engines, &settings, &|what| eprintln!("peers: {what}"))?;
    let outputs = [(&arguments.json, report.to_json()), (&arguments.html, bench::page(&report))];
    for (path, text) in outputs {
        let Some(path) = path else { continue };
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    io::stdout().write_all(bench::markdown(&report).as_bytes())?;
    Ok(report.has_fault())
}

fn settings(arguments: &Arguments) -> Settings {
    let patience = Duration::from_secs(arguments.runner_timeout);
    let runner = |command: &RunnerCommand| RunnerCommand { patience, ..command.clone() };
    Settings {
        give_back_memory: system::give_back_memory,
        opening: system::opening(),
        rounds: arguments.rounds,
        seconds_per_pass: arguments.seconds_per_pass,
        seed: arguments.seed,
        engines: arguments.engines.clone(),
        baseline: arguments.baseline.clone(),
        models: arguments.models.clone(),
        runners: arguments.runners.iter().map(runner).collect(),
        curves: arguments.curves,
        memory: !arguments.no_memory,
        command: bench::command_line("scripts/peers", std::env::args_os().skip(1)),
    }
}
