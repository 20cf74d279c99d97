//! `portcullis diff`: what changed from one policy set to another, or from one robots.txt to another.

mod files;
mod summary;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, ensure};
use portcullis::batch::{Classifier, Session};
use portcullis::input::Records;
use portcullis::kind::FileKind;
use portcullis::policy::Detail;
use portcullis::report::difference::origins;
use portcullis::report::difference::urls::{self, JsonLines, Tsv, UrlCounts};
use portcullis::set::{ChangeCounts, Difference, PolicySet, SetError};

use self::summary::{Changed, Summary};
use super::args::Format;
use super::exit::ExitStatus;
use super::mapped;
use super::output::{Output, OutputFailed};
use super::plan::{DiffPlan, QuestionPlan, StreamPlan};
use super::stream;

/// Bytes of lines that are ingested before they are written.
const WRITTEN_AT_ONCE: usize = 64 * 1024;

pub fn run(plan: &DiffPlan) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let (old, new) = match (open(&plan.old)?, open(&plan.new)?) {
        (Some(old), Some(new)) => (old, new),
        (None, None) => return files::run(plan, started),
        (None, Some(_)) => bail!(one_of_each(&plan.old, &plan.new)),
        (Some(_), None) => bail!(one_of_each(&plan.new, &plan.old)),
    };
    ensure!(
        plan.dialect.is_none() && plan.bytes_max.is_none(),
        "a policy set has the dialect and the size limit that it was compiled with; leave --dialect \
         and --max-robots-size out"
    );
    let mut output = Output::open(&plan.output)?;
    let changed = match &plan.stream {
        None => Changed::Origins(compare_origins(plan, (&old, &new), &mut output)?),
        Some(stream) => Changed::Urls(compare_urls(plan, stream, (&old, &new), &mut output)?),
    };
    old.is_whole()?;
    new.is_whole()?;
    output.finish()?;
    let status = match plan.tells_difference && changed.count() > 0 {
        true => ExitStatus::Negative,
        false => ExitStatus::Done,
    };
    let agents = plan.questions.agent_names();
    Summary::new((&old, &new), &agents, &changed, started.elapsed()).show(plan.summary);
    Ok(status)
}

/// The policy set at `path`; nothing if what is there is none.
fn open(path: &Path) -> anyhow::Result<Option<Arc<PolicySet>>> {
    match mapped::set(path) {
        Ok(set) => Ok(Some(set.into())),
        // Text, or what may hold text.
        Err(SetError::NotASet(wrong))
            if !wrong.kind.is_no_robots_txt()
                || matches!(wrong.kind, FileKind::Gzip | FileKind::Zstd) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn one_of_each(file: &Path, set: &Path) -> String {
    format!(
        "{} is no policy set, and {} is one; give two sets (make one with `portcullis compile`) or two \
         robots.txt files",
        file.display(),
        set.display()
    )
}

/// Writes the origins that changed.
fn compare_origins(
    plan: &DiffPlan,
    (old, new): (&Arc<PolicySet>, &Arc<PolicySet>),
    output: &mut Output,
) -> anyhow::Result<ChangeCounts> {
    let agents = plan.questions.agent_names();
    let difference = if agents.is_empty() {
        Difference::new(old, new)
    } else {
        let chains = |set: &PolicySet| plan.questions.agents(set.dialect());
        Difference::for_agents((old, chains(old)?), (new, chains(new)?))?
    };
    let write = match plan.format {
        Format::Tsv => origins::write_tsv,
        Format::Jsonl => origins::write_json,
    };
    let mut changes = difference.changes();
    let mut bytes = Vec::new();
    for change in changes.by_ref() {
        write(&change?, &agents, &mut bytes);
        if bytes.len() >= WRITTEN_AT_ONCE {
            output.write(&bytes)?;
            bytes.clear();
        }
    }
    output.write(&bytes)?;
    Ok(changes.counts().clone())
}

/// What comes of a chunk.
#[derive(Default)]
struct Told {
    bytes: Vec<u8>,
    counts: UrlCounts,
}

/// Writes the URLs whose verdict changes.
fn compare_urls(
    plan: &DiffPlan,
    stream: &StreamPlan,
    (old, new): (&Arc<PolicySet>, &Arc<PolicySet>),
    output: &mut Output,
) -> anyhow::Result<UrlCounts> {
    let agents = plan.questions.agent_names();
    let (old, new) = (classifier(old, &plan.questions)?, classifier(new, &plan.questions)?);
    let session = |classifier| Session::new(classifier, plan.questions.assumed_scheme.as_deref());
    let mut counts = UrlCounts::new(agents.len());
    stream::run_with(
        stream,
        || (session(&old), session(&new)),
        |(old, new), chunk, told: &mut Told| {
            told.bytes.clear();
            told.counts = UrlCounts::new(agents.len());
            let (Told { bytes, counts }, sessions) = (told, (old, new));
            let records = Records::new(chunk, stream.terminator);
            match plan.format {
                Format::Tsv => {
                    let form = Tsv(stream.terminator);
                    urls::write_chunk(records, &agents, sessions, &form, counts, bytes)?;
                }
                Format::Jsonl => {
                    urls::write_chunk(records, &agents, sessions, &JsonLines, counts, bytes)?;
                }
            }
            Ok(counts.bytes as usize)
        },
        |told| -> Result<(), OutputFailed> {
            counts.merge(&told.counts);
            output.write(&told.bytes)
        },
    )?;
    Ok(counts)
}

fn classifier(set: &Arc<PolicySet>, questions: &QuestionPlan) -> anyhow::Result<Classifier> {
    let agents = questions.agents(set.dialect())?;
    let classifier = Classifier::new(Arc::clone(set), agents, Detail::Rule)?;
    Ok(classifier.with_automata_bytes_max(questions.automata_bytes_max))
}
