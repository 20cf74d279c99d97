//! `portcullis classify`: every record, tagged with its verdicts.

use std::time::Instant;

use anyhow::ensure;
use portcullis_report::advertools::{self, Advertools};
use portcullis_report::{Counts, json_lines::JsonLines, tsv::Tsv, write_chunk};
use portcullis_robots::policy::Detail;

use super::args::{ClassifyArgs, ClassifyFormat, Format};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{CompleteOutput, Destination, Output};
use super::outputs::Outputs;
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
    let questions = plan::questions(args.questions, policies.dialect())?;
    let prints = destination == Destination::StandardOutput && args.out_dir.is_none();
    let stream = plan::stream(args.input, &args.run, prints)?;
    let folder = args.out_dir.as_deref();
    let destinations = plan::destinations(destination, folder, &stream, Some(extension(format)))?;
    let mut outputs = Outputs::open(destinations)?;
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let detail = match format {
        ClassifyFormat::Tsv | ClassifyFormat::Advertools => Detail::Reason,
        ClassifyFormat::Jsonl => Detail::Rule,
    };
    let agents = questions.agent_names();
    let classifier = policies.classifier(&questions, detail)?;
    let clock = Clock::loaded(started);
    let terminator = stream.terminator();
    let mut counts = Counts::new(agents.len());
    let account = stream::run(
        &stream,
        &questions,
        &classifier,
        |session, piece, tagged: &mut Tagged| {
            tagged.bytes.clear();
            tagged.counts = Counts::new(agents.len());
            let Tagged { bytes, counts } = tagged;
            match format {
                ClassifyFormat::Tsv => {
                    write_chunk(piece, &Tsv(terminator), session, counts, bytes)?;
                }
                ClassifyFormat::Jsonl => {
                    write_chunk(piece, &JsonLines(&agents), session, counts, bytes)?;
                }
                ClassifyFormat::Advertools => {
                    write_chunk(piece, &Advertools(&agents), session, counts, bytes)?;
                }
            }
            Ok(counts.bytes as usize)
        },
        |part, tagged| {
            if part.is_first && outputs.begin(part.number)? && format == ClassifyFormat::Advertools
            {
                outputs.write(advertools::HEADER)?;
            }
            counts.merge(&tagged.counts);
            Ok(outputs.write(&tagged.bytes)?)
        },
    )?;
    policies.set.is_whole()?;
    let mut complete = outputs.complete()?;
    complete.extend(account.output.map(Output::complete).transpose()?);
    CompleteOutput::publish_all(complete)?;
    let summary = plan::summary(&args.run, &args.figures);
    let outcome = summary::Outcome { counts, invalid: account.invalid, filtered: None };
    summary::write(&summary, &policies, &questions, outcome, &clock);
    Ok(ExitStatus::Done)
}

/// The extension of outputs in a format.
fn extension(format: ClassifyFormat) -> &'static str {
    match format {
        ClassifyFormat::Tsv => "tsv",
        ClassifyFormat::Jsonl => "jsonl",
        ClassifyFormat::Advertools => "csv",
    }
}

/// As [`plan::format`], with the format that only `classify` has.
fn format(asked: Option<ClassifyFormat>, output: &Destination) -> anyhow::Result<ClassifyFormat> {
    let asked = match asked {
        Some(ClassifyFormat::Advertools) => {
            if let Destination::File(path) = output {
                ensure!(
                    plan::named_format(path).is_none(),
                    "--format advertools contradicts the extension of {}; use .csv",
                    path.display()
                );
            }
            return Ok(ClassifyFormat::Advertools);
        }
        Some(ClassifyFormat::Tsv) => Some(Format::Tsv),
        Some(ClassifyFormat::Jsonl) => Some(Format::Jsonl),
        None => None,
    };
    Ok(match plan::format(asked, output)? {
        Format::Tsv => ClassifyFormat::Tsv,
        Format::Jsonl => ClassifyFormat::Jsonl,
    })
}
