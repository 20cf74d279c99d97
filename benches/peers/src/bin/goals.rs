//! `portcullis-goals`: what this project wants to be held to, measured; `scripts/goals` builds and runs
//! it. What is measured and how stands in [`portcullis_peers::goals`].

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use portcullis::bench::command_line;
use portcullis_peers::goals::{
    Circumstances, Effort, Inputs, Programs, Sizes, hostile_trial, measure, usual_engines,
};

/// Measure every goal of this project and print what came of it as Markdown
///
/// DATA has robots/, urls.txt, urls-no-policy.txt, paired/robots/ and paired/urls.txt. Exits with 1 if
/// answers are wrong; a goal that is missed is printed as missed.
#[derive(Parser)]
struct Arguments {
    /// A folder of unpacked data, into which some gigabytes are written and deleted again
    #[arg(required_unless_present = "hostile_trial")]
    data: Option<PathBuf>,
    /// How often everything is measured
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Seconds that one turn fills at least
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1)]
    seconds_per_pass: f64,
    /// The number that orders are drawn from
    #[arg(long, value_name = "N", default_value_t = 9309)]
    seed: u64,
    /// How often long lists have each line of the short ones
    #[arg(long, value_name = "N", default_value_t = Sizes::default().copies)]
    copies: usize,
    /// Origins of the largest made-up set
    #[arg(long, value_name = "N", default_value_t = Sizes::default().hosts[1])]
    hosts: u64,
    /// URLs that made-up sets are asked about
    #[arg(long, value_name = "N", default_value_t = Sizes::default().urls)]
    made_up_urls: u64,
    /// Exit with 1 if a goal is missed, too
    #[arg(long)]
    strict: bool,
    /// Write everything as one JSON object there
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The command-line program [default: beside this one]
    #[arg(long, value_name = "PROGRAM")]
    portcullis: Option<PathBuf>,
    /// The commit that was built, for the heading
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// What was typed, for the heading [default: what this program was given]
    #[arg(long, value_name = "COMMAND", hide = true)]
    command: Option<String>,
    /// Do one trial with a hostile file and print what it took
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
    // With one thread what portcullis compiles is done by the thread that measures, as every other
    // engine's work is.
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
        seed: arguments.seed,
    };
    let usual = Sizes::default();
    let sizes = Sizes {
        copies: arguments.copies,
        hosts: [usual.hosts[0].min(arguments.hosts), arguments.hosts],
        urls: arguments.made_up_urls,
        ..usual
    };
    let typed = || command_line("portcullis-goals", std::env::args().skip(1));
    let circumstances = Circumstances {
        commit: arguments.commit.clone(),
        command: arguments.command.clone().unwrap_or_else(typed),
    };
    let start = Instant::now();
    let told = |what: &str| eprintln!("goals: {:4.0} s: {what}", start.elapsed().as_secs_f64());
    let goals = measure(
        &inputs(data),
        &programs(arguments)?,
        (&effort, &sizes),
        circumstances,
        &usual_engines,
        &told,
    )?;
    if let Some(path) = &arguments.json {
        fs::write(path, goals.to_json())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    io::stdout().write_all(goals.markdown().as_bytes())?;
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
