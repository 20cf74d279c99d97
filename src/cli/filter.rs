//! `portcullis filter`: prints the allowed records, byte for byte.

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use portcullis_io::list::List;
use portcullis_report::filter::{self, Fate, Purpose, Quantifier};
use portcullis_report::parquet::KeptRows;
use portcullis_report::{Counts, Filtered};

use super::args::{FilterArgs, KeepOrDrop, SelectionArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::files::Files;
use super::output::{CompleteOutput, Destination, Output, OutputFailed, RecordsTo};
use super::outputs::Outputs;
use super::parquet::{self, ParquetOutputs};
use super::plan;
use super::stream::{self, Part};
use super::summary::{self, Clock};

/// The output for a chunk.
#[derive(Default)]
struct Sorted {
    records: filter::Output,
    /// The output of rows, instead of records.
    rows: KeptRows,
    counts: Counts,
}

/// The destination of records or rows.
#[expect(clippy::large_enum_variant, reason = "a run has one")]
enum Target {
    Records(Sorter),
    Rows(Rows),
}

impl Target {
    fn begin(&mut self, part: &Part<'_>, is_empty: bool) -> anyhow::Result<()> {
        match self {
            Target::Records(sorter) => sorter.begin(part, is_empty),
            Target::Rows(rows) => rows.each().try_for_each(|output| output.begin(part)),
        }
    }

    fn write(&mut self, list: &List, sorted: &mut Sorted) -> anyhow::Result<()> {
        match self {
            Target::Records(sorter) => Ok(sorter.write(&sorted.records)?),
            Target::Rows(rows) => rows.write(list, sorted),
        }
    }

    fn finish(self, rejects: Option<Output>) -> anyhow::Result<()> {
        match self {
            Target::Records(sorter) => Ok(sorter.finish(rejects)?),
            Target::Rows(rows) => rows.finish(rejects),
        }
    }
}

/// The destinations of rows.
struct Rows {
    kept: ParquetOutputs,
    unknown: Option<ParquetOutputs>,
    invalid: Option<ParquetOutputs>,
}

impl Rows {
    fn each(&mut self) -> impl Iterator<Item = &mut ParquetOutputs> {
        let aside = [&mut self.unknown, &mut self.invalid].into_iter().flatten();
        std::iter::once(&mut self.kept).chain(aside)
    }

    fn write(&mut self, list: &List, sorted: &mut Sorted) -> anyhow::Result<()> {
        let Sorted { rows, counts, .. } = sorted;
        let KeptRows { kept, filtered, unknown, invalid } = std::mem::take(rows);
        self.kept.write(list, kept, counts, Some(filtered))?;
        for (output, group) in [(&mut self.unknown, unknown), (&mut self.invalid, invalid)] {
            if let Some(output) = output {
                output.write(list, group, counts, Some(filtered))?;
            }
        }
        Ok(())
    }

    fn finish(self, rejects: Option<Output>) -> anyhow::Result<()> {
        let mut complete = self.kept.complete()?;
        for output in [self.unknown, self.invalid].into_iter().flatten() {
            complete.extend(output.complete()?);
        }
        complete.extend(rejects.map(Output::complete).transpose()?);
        Ok(CompleteOutput::publish_all(complete)?)
    }
}

/// The destinations of records.
struct Sorter {
    kept: Outputs,
    prints_records: bool,
    unknown: Option<Output>,
    invalid: Option<Output>,
    /// The first list that had records or a head. Lists that are joined to it must have its format.
    first: Option<Arc<List>>,
}

impl Sorter {
    /// Begins a list. Its head, the text before the first record, goes to outputs that are still
    /// empty.
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
            self.first = Some(Arc::clone(part.list));
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

/// Rejects lists whose records cannot be in one output.
fn can_join(first: &List, list: &List) -> anyhow::Result<()> {
    ensure!(
        first.format() == list.format(),
        "{} is {} and {} is {}, which cannot be joined; write one output for each with --out-dir",
        first.name(),
        first.format().describe(),
        list.name(),
        list.format().describe()
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

pub fn run(args: FilterArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let policies = plan::policies(args.policies);
    let selection = selection(&args.selection);
    let mut questions = plan::questions(args.questions, &args.memory, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    questions.usage = args.selection.purpose.is_some();
    let destination = Destination::new(args.output.joined.output);
    let prints_records = !args.quiet && !args.count;
    let folder = args.output.out_dir.as_ref();
    let prints = destination == Destination::StandardOutput && prints_records && folder.is_none();
    let mut stream = plan::stream(args.input, args.rejects, &args.run, prints)?;
    let names = [&args.selection.unknown, &args.selection.invalid].map(RecordsTo::file);
    let are_rows =
        prints_records && parquet::keeps_rows(&stream, &destination, folder.is_some(), names)?;
    if are_rows {
        parquet::not_to_terminal(
            prints,
            "-o FILE.parquet, -c to count, or -o FILE.txt for the URLs",
        )?;
        stream.chunks = parquet::ROW_GROUPS;
    }
    let destinations = plan::destinations(destination, folder, &stream, None, files)?;
    let kept_to = Outputs::open(destinations)?;
    let [unknown, invalid] = names.map(|path| path.map(Output::create).transpose());
    let (unknown, invalid) = (unknown?, invalid?);
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let summary = plan::summary(&args.run, &args.figures);
    policies.show_notes(summary.form);
    let agents = policies.agents.agents.len();
    let classifier = policies.classifier(&questions)?;
    let classifier = classifier.with_usage(args.selection.purpose.as_slice());
    let clock = Clock::loaded(started);
    let mut outputs = if are_rows {
        let run = summary::run(&policies, &questions);
        let rows = |outputs| ParquetOutputs::new(outputs, Vec::new(), run.clone());
        let aside = |output: Option<Output>| output.map(|output| rows(Outputs::of(output)));
        Target::Rows(Rows { kept: rows(kept_to), unknown: aside(unknown), invalid: aside(invalid) })
    } else {
        Target::Records(Sorter { kept: kept_to, prints_records, unknown, invalid, first: None })
    };
    // The account in Parquet files counts hosts too.
    let counts_hosts = are_rows || summary.form != plan::SummaryForm::None;
    let mut counts = Counts::new(agents);
    let (mut kept, mut unstated) = (0, 0);
    let account = stream::run(
        &stream,
        &questions,
        classifier,
        |session, piece, sorted: &mut Sorted| {
            sorted.records.clear();
            sorted.counts.clear(agents, counts_hosts);
            let Sorted { records, rows, counts } = sorted;
            if are_rows {
                *rows = KeptRows::of(piece, &selection, session, counts)?;
            } else {
                filter::write_chunk(piece, &selection, session, counts, records)?;
            }
            Ok(())
        },
        |part, sorted| {
            policies.check_ages(&sorted.counts, &questions)?;
            if part.is_first {
                outputs.begin(part, sorted.counts.records == 0)?;
            }
            counts.merge(&sorted.counts);
            let of_rows = sorted.rows.filtered;
            kept += sorted.records.kept_records + of_rows.kept;
            unstated += sorted.records.unstated_records + of_rows.unstated.unwrap_or(0);
            outputs.write(part.list, sorted)
        },
    )?;
    policies.set.is_whole()?;
    if let (Target::Records(sorter), true) = (&mut outputs, args.count && !args.quiet) {
        sorter.kept.write(format!("{kept}\n").as_bytes())?;
    }
    outputs.finish(account.output)?;
    let filtered = Some(Filtered { kept, unstated: args.selection.purpose.map(|_| unstated) });
    let outcome = summary::Outcome { counts, invalid: account.invalid, filtered };
    summary::write(&summary, &policies, &questions, outcome, &clock);
    Ok(if args.fail.fail && kept == 0 { ExitStatus::Negative } else { ExitStatus::Done })
}

fn selection(args: &SelectionArgs) -> filter::Plan {
    let fate = |asked: &RecordsTo| match asked {
        RecordsTo::Output => Fate::Keep,
        RecordsTo::Nowhere => Fate::Drop,
        RecordsTo::File(_) => Fate::Aside,
    };
    filter::Plan {
        quantifier: if args.any { Quantifier::Any } else { Quantifier::All },
        invert: args.invert,
        unknown: fate(&args.unknown),
        invalid: fate(&args.invalid),
        purpose: args
            .unstated
            .map(|unstated| Purpose { keeps_unstated: unstated == KeepOrDrop::Keep }),
    }
}
