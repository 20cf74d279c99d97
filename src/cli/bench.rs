//! `portcullis bench`: engines side by side on the user's own data, verified before they are timed.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use portcullis_bench as bench;
use portcullis_bench::{Corpus, MemoryUse, Originals, RunnerCommand, Settings, UrlList};
use portcullis_set::LoadConfig;

use super::agents::Asked;
use super::args::{BenchArgs, ReadingArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::mapped;
use super::message::{say, say_plainly};
use super::output::{Destination, Output, OutputFile};
use super::plan::{self, PolicyPlan, QuestionPlan, SummaryForm};

pub fn run(args: BenchArgs) -> anyhow::Result<ExitStatus> {
    // Engines compile on the calling thread's pool. In a pool of one thread, the measuring thread
    // compiles for every engine.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.context("cannot start a thread")?.install(|| measure(args))
}

fn measure(args: BenchArgs) -> anyhow::Result<ExitStatus> {
    let settings = settings(&args);
    one_agent(&args.agent)?;
    let list = url_list(args.urls, args.reading)?;
    // Outputs are opened now, so that a wrong name fails before minutes of measuring. The process
    // for one engine writes no file.
    let open = |path: &Option<OutputFile>| {
        let path = path.as_ref().filter(|_| args.memory_of.is_none());
        path.map(Output::create).transpose()
    };
    let (mut json, mut html) = (open(&args.report)?, open(&args.html)?);
    let plan = plan::policies(args.policies);
    let questions = QuestionPlan { asked: Asked::one(args.agent), ..QuestionPlan::default() };
    let policies = Engine::new(0)?.load(&plan, &questions)?;
    policies.show_notes(SummaryForm::None);
    let set = policies.set;
    let agent = questions.agents(set.dialect())?.remove(0);
    ensure!(
        agent.tokens().count() == 1,
        "the other engines take no chains of agents; name one product token with -a"
    );
    let originals = match &plan {
        PolicyPlan::Robots { path, bytes_max, .. } => {
            let config =
                LoadConfig { robots_bytes_max: *bytes_max, ..LoadConfig::new(set.dialect()) };
            Some(Originals::load(path, &config)?)
        }
        PolicyPlan::Set { .. } => None,
    };
    let corpus = Corpus::load(set, originals, agent, list)?;
    let engines = bench::chosen(&corpus, Vec::new(), &settings)?;
    if let Some(name) = &args.memory_of {
        let named = engines.iter().find(|engine| engine.name == *name);
        let engine = named.context("no engine has this name")?;
        let used = MemoryUse::of(&corpus, engine)?;
        writeln!(io::stdout(), "{}", used.to_json())?;
        return Ok(ExitStatus::Done);
    }
    if let Some(note) = corpus.read_as.note() {
        say_plainly(format_args!("note: {}: {note}", corpus.read_as.name()));
    }
    let report = bench::run(&corpus, &engines, &settings, &|what| say(what))?;
    if let Some(output) = &mut json {
        output.write(report.to_json().as_bytes())?;
    }
    if let Some(output) = &mut html {
        output.write(bench::page(&report).as_bytes())?;
    }
    let mut stdout = Output::open(&Destination::StandardOutput)?;
    stdout.write(bench::markdown(&report).as_bytes())?;
    Output::finish_all([json, html].into_iter().flatten().chain([stdout]))?;
    Ok(if report.has_fault() { ExitStatus::Negative } else { ExitStatus::Done })
}

/// Rejects several agents.
fn one_agent(agent: &str) -> anyhow::Result<()> {
    ensure!(
        !agent.contains(',') && !agent.starts_with('@'),
        "invalid value for -a: '{agent}' names several agents; bench measures one, so run it once for \
         each"
    );
    Ok(())
}

/// Returns the list. Rejects one that can be read only once.
fn url_list(path: PathBuf, reading: ReadingArgs) -> anyhow::Result<UrlList> {
    let is_read_once = path.as_os_str() == "-"
        || fs::metadata(&path).is_ok_and(|it| !it.is_file() && !it.is_dir());
    ensure!(
        !is_read_once,
        "--urls {}: bench reads the list several times; write it to a file first",
        path.display()
    );
    Ok(UrlList { path, config: plan::reading(reading)?.into() })
}

fn settings(args: &BenchArgs) -> Settings {
    let patience = args.runner_timeout.map(Duration::from_secs_f64);
    let runner = |command: &RunnerCommand| {
        let patience = patience.unwrap_or(command.patience);
        RunnerCommand { patience, ..command.clone() }
    };
    Settings {
        // This program's allocator returns memory by itself.
        give_back_memory: || (),
        opening: mapped::opening(),
        rounds: args.rounds as usize,
        seconds_per_pass: args.seconds_per_pass,
        seed: args.seed,
        engines: args.engines.clone(),
        baseline: args.baseline.clone(),
        models: args.models.clone(),
        runners: args.runners.iter().map(runner).collect(),
        curves: args.curves,
        memory: !args.no_memory && args.memory_of.is_none(),
        command: bench::command_line("portcullis", std::env::args_os().skip(1)),
    }
}
