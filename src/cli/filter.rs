//! `portcullis filter`: the allowed records, byte for byte.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use portcullis_capture::list::List;
use portcullis_report::filter::{self, Fate, Quantifier};
use portcullis_report::{Counts, Filtered};
use portcullis_robots::policy::Detail;

use super::args::{FilterArgs, KeepOrDrop, SelectionArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{CompleteOutput, Destination, Output, OutputFailed};
use super::outputs::Outputs;
use super::plan;
use super::stream::{self, Part};
use super::summary::{self, Clock};

/// The output for a chunk.
#[derive(Default)]
struct Sorted {
    records: filter::Output,
    counts: Counts,
}

/// Where records go.
struct Sorter {
    kept: Outputs,
    prints_records: bool,
    unknown: Option<Output>,
    invalid: Option<Output>,
    /// The first list that had records or a head, whose format that of joined records is.
    first: Option<Arc<List>>,
}

impl Sorter {
    /// Begins a list: what stands before its first record goes to outputs that have nothing yet.
    fn begin(&mut self, part: &Part<'_>, is_empty: bool) -> anyhow::Result<()> {
        let is_new = self.kept.begin(part.number)?;
        let head = part.list.head();
        if is_empty && head.is_empty() {
            return Ok(());
        }
        let is_joined = self.kept.is_joined();
        let starts = self.first.is_none();
        if let Some(first) = &self.first
            && (is_joined || self.unknown.is_some() || self.invalid.is_some())
        {
            can_join(first, part.list)?;
        }
        if starts {
            self.first = Some(Arc::new(part.list.clone()));
            for output in [&mut self.unknown, &mut self.invalid].into_iter().flatten() {
                output.write(head)?;
            }
        }
        if self.prints_records && (starts || is_new && !is_joined) {
            self.kept.write(head)?;
        }
        Ok(())
    }

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

    fn finish(self, rejects: Option<Output>) -> Result<(), OutputFailed> {
        let mut complete = self.kept.complete()?;
        for output in [self.unknown, self.invalid, rejects].into_iter().flatten() {
            complete.push(output.complete()?);
        }
        CompleteOutput::publish_all(complete)
    }
}

/// Refuses lists whose records cannot be in one output.
fn can_join(first: &List, list: &List) -> anyhow::Result<()> {
    ensure!(
        first.format() == list.format(),
        "{} is {} and {} is {}, which cannot be joined; write one output for each with --out-dir",
        first.name(),
        first.format(),
        list.name(),
        list.format()
    );
    ensure!(
        first.columns() == list.columns() && first.delimiter() == list.delimiter(),
        "{} and {} have different columns and cannot be joined; write one output for each with \
         --out-dir",
        first.name(),
        list.name()
    );
    Ok(())
}

pub fn run(args: FilterArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let policies = plan::policies(args.policies);
    let selection = selection(&args.selection)?;
    let mut questions = plan::questions(args.questions, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    let destination = Destination::new(args.output);
    let prints_records = !args.quiet && !args.count;
    let folder = args.out_dir.as_deref();
    let prints = destination == Destination::StandardOutput && prints_records && folder.is_none();
    let stream = plan::stream(args.input, &args.run, prints)?;
    let destinations = plan::destinations(destination, folder, &stream, None)?;
    let aside = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
    let mut outputs = Sorter {
        kept: Outputs::open(destinations)?,
        prints_records,
        unknown: aside(&args.selection.unknown_to)?,
        invalid: aside(&args.selection.invalid_to)?,
        first: None,
    };
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let summary = plan::summary(&args.run, &args.figures);
    policies.agents.show(summary.form);
    let agents = policies.agents.agents.len();
    let classifier = policies.classifier(&questions, Detail::Reason)?;
    let clock = Clock::loaded(started);
    let mut counts = Counts::new(agents);
    let mut kept = 0;
    let account = stream::run(
        &stream,
        &questions,
        &classifier,
        |session, piece, sorted: &mut Sorted| {
            sorted.records.clear();
            sorted.counts = Counts::new(agents);
            let bytes = piece.bytes().len();
            filter::write_chunk(
                piece,
                &selection,
                session,
                &mut sorted.counts,
                &mut sorted.records,
            )?;
            Ok(bytes)
        },
        |part, sorted| {
            if part.is_first {
                outputs.begin(part, sorted.counts.records == 0)?;
            }
            counts.merge(&sorted.counts);
            kept += sorted.records.kept_records;
            Ok(outputs.write(&sorted.records)?)
        },
    )?;
    policies.set.is_whole()?;
    if args.count && !args.quiet {
        outputs.kept.write(format!("{kept}\n").as_bytes())?;
    }
    outputs.finish(account.output)?;
    let filtered = Some(Filtered { kept });
    let outcome = summary::Outcome { counts, invalid: account.invalid, filtered };
    summary::write(&summary, &policies, &questions, outcome, &clock);
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
