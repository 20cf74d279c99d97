//! `portcullis-goals`: measures the project's goals. `scripts/goals` builds and runs it. The goals
//! are in [`portcullis_peers::goals`].

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use portcullis_bench::command_line;
use portcullis_peers::goals::{
    Effort, Inputs, Programs, Sizes, hostile_trial, measure, usual_engines,
};

/// Measure every goal of this project and print the results as Markdown
///
/// DATA has robots/, urls.txt, urls-no-policy.txt, paired/robots/ and paired/urls.txt. Exits with 1
/// if an answer is wrong. A missed goal is printed as missed.
#[derive(Parser)]
struct Arguments {
    /// A folder of unpacked data, in which a few gigabytes are written and deleted
    #[arg(required_unless_present = "hostile_trial")]
    data: Option<PathBuf>,
    /// Number of rounds
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// The least seconds in one turn
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1)]
    seconds_per_pass: f64,
    /// Exit with 1 if a goal is missed
    #[arg(long)]
    strict: bool,
    /// JSON output file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Markdown output file, besides standard output; not written if an answer is wrong
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// The command-line program [default: in the folder of this program]
    #[arg(long, value_name = "PROGRAM")]
    portcullis: Option<PathBuf>,
    /// The commit that was built, for the heading
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// The command line, for the heading [default: this program's]
    #[arg(long, value_name = "COMMAND", hide = true)]
    command: Option<String>,
    /// Run one trial with a hostile file and print its cost
    #[arg(long, value_name = "SHAPE/KIND/BYTES", hide = true)]
    hostile_trial: Option<String>,
}

fn main() -> ExitCode {
    match measured() {
        Ok(is_well) => ExitCode::from(u8::from(!is_well)),
        Err(error) => {
            eprintln!("goals: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measured() -> Result<bool> {
    let arguments = Arguments::parse();
    // With one thread, portcullis compiles on the measuring thread, like every other engine.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    if let Some(named) = &arguments.hostile_trial {
        let trial = pool.install(|| hostile_trial(named))?;
        println!("{}", serde_json::to_string(&trial)?);
        return Ok(true);
    }
    pool.install(|| run(&arguments))
}

fn run(arguments: &Arguments) -> Result<bool> {
    let data = arguments.data.as_deref().context("name a folder of unpacked data")?;
    let effort = Effort {
        rounds: arguments.rounds,
        turn: Duration::try_from_secs_f64(arguments.seconds_per_pass)?,
        seed: 9309,
    };
    let start = Instant::now();
    let progress = |what: &str| eprintln!("goals: {:4.0} s: {what}", start.elapsed().as_secs_f64());
    let (inputs, programs) = (inputs(data), programs(arguments)?);
    let extent = (&effort, &Sizes::default());
    let mut goals = measure(&inputs, &programs, extent, &usual_engines, &progress)?;
    goals.commit.clone_from(&arguments.commit);
    let typed = || command_line("portcullis-goals", std::env::args_os().skip(1));
    goals.command = arguments.command.clone().unwrap_or_else(typed);
    let markdown = goals.markdown();
    let results = arguments.results.as_ref().filter(|_| !goals.has_wrong());
    for (path, text) in [(arguments.json.as_ref(), goals.to_json()), (results, markdown.clone())] {
        let Some(path) = path else { continue };
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    io::stdout().write_all(markdown.as_bytes())?;
    Ok(!goals.has_wrong() && (!arguments.strict || goals.are_met()))
}

fn inputs(data: &Path) -> Inputs {
    Inputs {
        robots: data.join("robots"),
        urls: data.join("urls.txt"),
        urls_without_policy: data.join("urls-no-policy.txt"),
        paired_robots: data.join("paired/robots"),
        paired_urls: data.join("paired/urls.txt"),
        folder: data.to_owned(),
    }
}

fn programs(arguments: &Arguments) -> Result<Programs> {
    let goals = std::env::current_exe()?;
    let beside = goals.with_file_name("portcullis").with_extension(std::env::consts::EXE_EXTENSION);
    Ok(Programs {
        portcullis: arguments.portcullis.clone().unwrap_or(beside),
        goals,
        wc: "wc".to_owned(),
        cp: "cp".to_owned(),
    })
}
