//! `portcullis bench`: engines side by side on the user's own data, verified before they are timed.

use std::ffi::OsString;

use anyhow::{Context, ensure};
use portcullis_bench as bench;
use portcullis_bench::{BenchError, Corpus, Originals, Settings};
use portcullis_build::LoadConfig;

use super::args::BenchArgs;
use super::engine::{Engine, Policies};
use super::exit::ExitStatus;
use super::lists;
use super::message::{Notes, say};
use super::output::{Destination, Output};
use super::plan::{self, PolicyPlan, QuestionPlan, StreamPlan, SummaryForm};
use super::stream;

/// Runs the subcommand. `typed` is the command line, which the report shows.
pub fn run(args: BenchArgs, typed: &[OsString]) -> anyhow::Result<ExitStatus> {
    // Engines compile on the calling thread's pool. In a pool of one thread, the measuring thread
    // compiles for every engine.
    Engine::new(1)?.install(|| measure(args, typed))
}

fn measure(args: BenchArgs, typed: &[OsString]) -> anyhow::Result<ExitStatus> {
    let command = bench::command_line("portcullis", typed.iter().skip(1).cloned());
    let settings = Settings { command, ..args.settings };
    let questions = plan::agents(args.agents, None)?;
    ensure!(
        questions.asked.names.len() + questions.headers.len() == 1,
        "-a names several agents; bench measures one, so run it once for each"
    );
    // Outputs are opened now, so that a wrong name fails before minutes of measuring.
    let mut json = args.report.as_ref().map(Output::create).transpose()?;
    let mut html = args.html.as_ref().map(Output::create).transpose()?;
    let plan = plan::policies(args.policies);
    let stream = StreamPlan {
        inputs: lists::expand([args.urls.path()], &mut Notes::default())?,
        lists: plan::reading(args.reading)?.into(),
        threads: 1,
        ..StreamPlan::default()
    };
    let policies = Engine::new(0)?.load(&plan, &questions)?;
    policies.show_notes(SummaryForm::None);
    let corpus = corpus(&plan, &policies, &questions, &stream)?;
    let engines = bench::chosen(&corpus, Vec::new(), &settings)?;
    let report = match bench::run(&corpus, &engines, &settings, &|what| say(what)) {
        Err(error @ BenchError::NoQuestion) => {
            return Err(error).context(stream.inputs[0].path.display().to_string());
        }
        report => report?,
    };
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

/// Reads the files and the list.
fn corpus(
    plan: &PolicyPlan,
    policies: &Policies,
    questions: &QuestionPlan,
    stream: &StreamPlan,
) -> anyhow::Result<Corpus> {
    let set = &policies.set;
    let agent = questions.agents(set.dialect())?.remove(0);
    ensure!(
        agent.tokens().count() == 1,
        "the other engines take no chains of agents; name one product token with -a"
    );
    let originals = match plan {
        PolicyPlan::Robots { path, bytes_max, .. } => {
            let config =
                LoadConfig { robots_bytes_max: *bytes_max, ..LoadConfig::new(set.dialect()) };
            Some(Originals::load(path, &config)?)
        }
        PolicyPlan::Set { .. } => None,
    };
    let mut corpus = Corpus::new(set.clone(), originals, agent)?;
    let classifier = policies.classifier(questions)?;
    stream::run(
        stream,
        questions,
        classifier,
        |session, mut piece, urls: &mut Vec<Vec<u8>>| {
            urls.clear();
            piece.read(1, |block, rejects| {
                // Finds the records that are not URLs, so that another kind of file is an error.
                rejects.add_block(block, &session.decide(&**block)?);
                urls.extend(block.iter().map(|record| record.url().to_vec()));
                Ok(true)
            })
        },
        |_, urls| Ok(urls.iter().try_for_each(|url| corpus.add(url))?),
    )?;
    Ok(corpus)
}
