//! `portcullis classify`: every record, tagged with its verdicts.

use std::time::Instant;

use anyhow::ensure;
use portcullis_capture::input::Records;
use portcullis_report::advertools::{self, Advertools};
use portcullis_report::{Counts, json_lines::JsonLines, tsv::Tsv, write_chunk};
use portcullis_robots::policy::Detail;

use super::args::{ClassifyArgs, ClassifyFormat, Format};
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
    let questions = plan::questions(args.questions, policies.dialect())?;
    let prints = destination == Destination::StandardOutput;
    let stream = plan::stream(args.input, &args.run, prints)?;
    let mut output = Output::open(&destination)?;
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let detail = match format {
        ClassifyFormat::Tsv | ClassifyFormat::Advertools => Detail::Reason,
        ClassifyFormat::Jsonl => Detail::Rule,
    };
    let agents = questions.agent_names();
    let classifier = policies.classifier(&questions, detail)?;
    let clock = Clock::loaded(started);
    let terminator = stream.terminator;
    if format == ClassifyFormat::Advertools {
        output.write(advertools::HEADER)?;
    }
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
                ClassifyFormat::Tsv => {
                    write_chunk(records, &Tsv(terminator), session, counts, bytes)?;
                }
                ClassifyFormat::Jsonl => {
                    write_chunk(records, &JsonLines(&agents), session, counts, bytes)?;
                }
                ClassifyFormat::Advertools => {
                    write_chunk(records, &Advertools(&agents), session, counts, bytes)?;
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
    let summary = plan::summary(&args.run, &args.figures);
    summary::write(&summary, &policies, &questions, counts, None, &clock);
    Ok(ExitStatus::Done)
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
