//! `portcullis filter`: the allowed records, byte for byte.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;
use portcullis_capture::input::Records;
use portcullis_report::filter::{self, Fate, Quantifier};
use portcullis_report::{Counts, Filtered};
use portcullis_robots::policy::Detail;

use super::args::{FilterArgs, KeepOrDrop, SelectionArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Destination, Output, OutputFailed};
use super::plan;
use super::stream;
use super::summary::{self, Clock};

/// The output for a chunk.
#[derive(Default)]
struct Sorted {
    records: filter::Output,
    counts: Counts,
}

/// Where records go.
struct Outputs {
    kept: Output,
    prints_records: bool,
    unknown: Option<Output>,
    invalid: Option<Output>,
}

impl Outputs {
    fn write(&mut self, records: &filter::Output) -> Result<(), OutputFailed> {
        if self.prints_records {
            self.kept.write(&records.kept)?;
        }
        if let Some(output) = &mut self.unknown {
            output.write(&records.unknown)?;
        }
        if let Some(output) = &mut self.invalid {
            output.write(&records.invalid)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), OutputFailed> {
        Output::finish_all([Some(self.kept), self.unknown, self.invalid].into_iter().flatten())
    }
}

pub fn run(args: FilterArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let policies = plan::policies(args.policies);
    let selection = selection(&args.selection)?;
    let mut questions = plan::questions(args.questions, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    let destination = Destination::new(args.output);
    let prints_records = !args.quiet && !args.count;
    let prints = destination == Destination::StandardOutput && prints_records;
    let stream = plan::stream(args.input, &args.run, prints)?;
    let aside = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
    let mut outputs = Outputs {
        kept: Output::open(&destination)?,
        prints_records,
        unknown: aside(&args.selection.unknown_to)?,
        invalid: aside(&args.selection.invalid_to)?,
    };
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let summary = plan::summary(&args.run, &args.figures);
    policies.agents.show(summary.form);
    let agents = policies.agents.agents.len();
    let classifier = policies.classifier(&questions, Detail::Reason)?;
    let clock = Clock::loaded(started);
    let terminator = stream.terminator;
    let mut counts = Counts::new(agents);
    let mut kept = 0;
    stream::run(
        &stream,
        &questions,
        &classifier,
        |session, chunk, sorted: &mut Sorted| {
            sorted.records.clear();
            sorted.counts = Counts::new(agents);
            filter::write_chunk(
                chunk,
                Records::new(chunk, terminator),
                terminator,
                &selection,
                session,
                &mut sorted.counts,
                &mut sorted.records,
            )?;
            Ok(chunk.len())
        },
        |sorted| {
            counts.merge(&sorted.counts);
            kept += sorted.records.kept_records;
            outputs.write(&sorted.records)
        },
    )?;
    policies.set.is_whole()?;
    if args.count && !args.quiet {
        outputs.kept.write(format!("{kept}\n").as_bytes())?;
    }
    outputs.finish()?;
    summary::write(&summary, &policies, &questions, counts, Some(Filtered { kept }), &clock);
    Ok(if args.exit_status && kept == 0 { ExitStatus::Negative } else { ExitStatus::Done })
}

fn selection(args: &SelectionArgs) -> anyhow::Result<filter::Plan> {
    let fate = |asked: KeepOrDrop, aside: &Option<PathBuf>| {
        let is_stdout = aside.as_ref().is_some_and(|path| path.as_os_str() == "-");
        ensure!(!is_stdout, "records cannot be set aside on standard output; name a file");
        Ok(match (aside, asked) {
            (Some(_), _) => Fate::Aside,
            (None, KeepOrDrop::Keep) => Fate::Keep,
            (None, KeepOrDrop::Drop) => Fate::Drop,
        })
    };
    Ok(filter::Plan {
        quantifier: if args.any { Quantifier::Any } else { Quantifier::All },
        invert: args.invert,
        unknown: fate(args.unknown, &args.unknown_to)?,
        invalid: fate(args.invalid, &args.invalid_to)?,
    })
}
