//! `portcullis classify`: every record, tagged with its verdicts.

use std::time::Instant;

use anyhow::{bail, ensure};
use portcullis_capture::input::Records;
use portcullis_report::advertools::{self, Advertools};
use portcullis_report::columns::{Columns, no_collision};
use portcullis_report::csv::{self, Csv};
use portcullis_report::json_lines::JsonLines;
use portcullis_report::tsv::{self, Tsv, TsvColumns};
use portcullis_report::{Counts, write_chunk};
use portcullis_robots::policy::Detail;

use super::args::{ClassifyArgs, ClassifyFormat};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Destination, Output};
use super::plan;
use super::stream;
use super::summary::{self, Clock};

/// The output for a chunk.
#[derive(Default)]
struct Tagged {
    bytes: Vec<u8>,
    counts: Counts,
}

pub fn run(args: ClassifyArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let policies = plan::policies(args.policies);
    let destination = Destination::new(args.output);
    let format = format(args.format, &destination)?;
    let columns = args.columns;
    ensure!(
        matches!(format, ClassifyFormat::Tsv | ClassifyFormat::Csv)
            || (columns == Columns::default() && args.column_prefix.is_empty() && !args.header),
        "--columns, --column-prefix and --header are for tsv and csv; omit them, or choose --format"
    );
    let mut questions = plan::questions(args.questions, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    let prints = destination == Destination::StandardOutput;
    let stream = plan::stream(args.input, &args.run, prints)?;
    let mut output = Output::open(&destination)?;
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let summary = plan::summary(&args.run, &args.figures);
    policies.agents.show(summary.form);
    let agents = &policies.agents.agents;
    let fields = columns.fields(agents, &args.column_prefix)?;
    let detail = match format {
        ClassifyFormat::Tsv | ClassifyFormat::Csv => columns.detail(),
        ClassifyFormat::Advertools => Detail::Reason,
        ClassifyFormat::Jsonl => Detail::Rule,
    };
    let classifier = policies.classifier(&questions, detail)?;
    let clock = Clock::loaded(started);
    let terminator = stream.terminator;
    let csv = Csv::new(&columns);
    if args.header || format == ClassifyFormat::Csv {
        no_collision(&[csv::URL], &fields)?;
    }
    match format {
        ClassifyFormat::Tsv if args.header => {
            output.write(&tsv::header(&fields, csv::URL.as_bytes(), terminator))?;
        }
        ClassifyFormat::Csv => output.write(&csv.header(&[csv::URL], &fields))?,
        ClassifyFormat::Advertools => output.write(advertools::HEADER)?,
        ClassifyFormat::Tsv | ClassifyFormat::Jsonl => {}
    }
    let advertools = Advertools::new(agents);
    let mut counts = Counts::new(agents.len());
    stream::run(
        &stream,
        &questions,
        &classifier,
        |session, chunk, tagged: &mut Tagged| {
            tagged.bytes.clear();
            tagged.counts = Counts::new(agents.len());
            let records = Records::new(chunk, terminator);
            let Tagged { bytes, counts } = tagged;
            match format {
                ClassifyFormat::Tsv if columns.are_verdicts() => {
                    write_chunk(records, &Tsv(terminator), session, counts, bytes)?;
                }
                ClassifyFormat::Tsv => {
                    let format = TsvColumns(&columns, terminator);
                    write_chunk(records, &format, session, counts, bytes)?;
                }
                ClassifyFormat::Csv => write_chunk(records, &csv, session, counts, bytes)?,
                ClassifyFormat::Jsonl => {
                    write_chunk(records, &JsonLines(agents), session, counts, bytes)?;
                }
                ClassifyFormat::Advertools => {
                    write_chunk(records, &advertools, session, counts, bytes)?;
                }
            }
            Ok(counts.bytes as usize)
        },
        |tagged| {
            counts.merge(&tagged.counts);
            output.write(&tagged.bytes)
        },
    )?;
    policies.set.is_whole()?;
    output.finish()?;
    summary::write(&summary, &policies, &questions, counts, None, &clock);
    Ok(ExitStatus::Done)
}

/// As [`plan::format`]; rows for advertools are CSV too.
fn format(asked: Option<ClassifyFormat>, output: &Destination) -> anyhow::Result<ClassifyFormat> {
    let named = match output {
        Destination::File(path) => plan::named_format(path, ClassifyFormat::NAMED),
        _ => None,
    };
    match (asked, named, output) {
        (Some(ClassifyFormat::Advertools), None | Some(ClassifyFormat::Csv), _) => {
            Ok(ClassifyFormat::Advertools)
        }
        (Some(ClassifyFormat::Advertools), _, Destination::File(path)) => {
            bail!("--format advertools contradicts the extension of {}; use .csv", path.display())
        }
        _ => plan::format(asked, output, ClassifyFormat::NAMED),
    }
}
