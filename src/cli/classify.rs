//! `portcullis classify`: every record, tagged with its verdicts.

use std::time::Instant;

use portcullis::input::Records;
use portcullis::policy::Detail;
use portcullis::report::advertools::{self, Advertools};
use portcullis::report::{Counts, json_lines::JsonLines, tsv::Tsv, write_chunk};

use super::args::ClassifyFormat;
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::Output;
use super::plan::ClassifyPlan;
use super::stream;
use super::summary::{self, Clock};

/// What comes of a chunk.
#[derive(Default)]
struct Tagged {
    bytes: Vec<u8>,
    counts: Counts,
}

pub fn run(plan: &ClassifyPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let mut output = Output::open(&plan.output)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    let detail = match plan.format {
        ClassifyFormat::Tsv | ClassifyFormat::Advertools => Detail::Reason,
        ClassifyFormat::Jsonl => Detail::Rule,
    };
    let agents = plan.questions.agent_names();
    let classifier = policies.classifier(&plan.questions, detail)?;
    let clock = Clock::loaded(started);
    let terminator = plan.stream.terminator;
    if plan.format == ClassifyFormat::Advertools {
        output.write(advertools::HEADER)?;
    }
    let mut counts = Counts::new(agents.len());
    stream::run(
        &plan.stream,
        &plan.questions,
        &classifier,
        |session, chunk, tagged: &mut Tagged| {
            tagged.bytes.clear();
            tagged.counts = Counts::new(agents.len());
            let records = Records::new(chunk, terminator);
            let Tagged { bytes, counts } = tagged;
            match plan.format {
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
    summary::write(&plan.summary, &policies, &plan.questions, counts, None, &clock);
    Ok(ExitStatus::Done)
}
