//! What the flags mean of the subcommands that work on policy sets.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use portcullis::access::{LongOutage, UnixSeconds};
use portcullis::dialect::{Dialect, LongUnreachable};
use portcullis::set::Strictness;

use super::super::args::{DiffArgs, Format, InputArgs, MergeArgs, QuestionArgs};
use super::super::output::Destination;
use super::super::values::BytesMax;
use super::{
    QuestionPlan, StreamPlan, SummaryForm, format, questions, stream, strictness, summary_form,
};

pub struct MergePlan {
    /// At least one.
    pub sets: Vec<PathBuf>,
    /// The set.
    pub output: PathBuf,
    /// When outages are judged, if not as the sets say.
    pub as_of: Option<UnixSeconds>,
    /// What follows a long outage, if not what the sets say.
    pub long_outage: Option<LongOutage>,
    /// 0 for one a processor.
    pub threads: usize,
    pub progress: bool,
    pub summary: SummaryForm,
}

pub struct DiffPlan {
    pub old: PathBuf,
    pub new: PathBuf,
    /// Of robots.txt files, if it was asked for.
    pub dialect: Option<&'static Dialect>,
    /// Of robots.txt files, if it was asked for.
    pub bytes_max: Option<BytesMax>,
    /// How much may be wrong with robots.txt files.
    pub strictness: Strictness,
    /// Nobody, if sets are compared as such, or files for everybody.
    pub questions: QuestionPlan,
    /// The lists of URLs; nothing if origins are compared.
    pub stream: Option<StreamPlan>,
    pub format: Format,
    pub output: Destination,
    /// Whether the exit status tells of a difference.
    pub tells_difference: bool,
    pub summary: SummaryForm,
}

pub fn diff(args: DiffArgs) -> anyhow::Result<DiffPlan> {
    let output = Destination::new(args.output);
    let questions = questions(
        QuestionArgs {
            agents: args.agents,
            user_agents: args.user_agents,
            assume_scheme: args.assume_scheme,
            automata_memory: args.automata_memory,
        },
        None,
    )?;
    let input =
        InputArgs { files: args.files, null_data: args.null_data, search_zip: args.search_zip };
    ensure!(
        input.files.is_empty() || questions.agent_count() > 0,
        "verdicts are an agent's: name the crawlers to compare them for with -a"
    );
    let prints = output == Destination::StandardOutput;
    let has_urls = !input.files.is_empty();
    Ok(DiffPlan {
        old: args.old,
        new: args.new,
        dialect: args.dialect,
        bytes_max: args.max_robots_size,
        strictness: strictness(args.strict, false),
        questions,
        stream: has_urls.then(|| stream(input, &args.run, prints)).transpose()?,
        format: format(args.format, &output)?,
        output,
        tells_difference: args.exit_code,
        summary: summary_form(&args.run),
    })
}

pub fn merge(args: MergeArgs) -> anyhow::Result<MergePlan> {
    output(&args.output)?;
    Ok(MergePlan {
        sets: args.sets,
        output: args.output,
        as_of: args.outages.as_of,
        long_outage: args.outages.long_outage,
        threads: args.run.threads,
        progress: !args.run.no_progress,
        summary: summary_form(&args.run),
    })
}

/// Refuses to choose what follows a long outage where the dialect says it.
pub fn long_outage(asked: Option<LongOutage>, dialect: &Dialect) -> anyhow::Result<()> {
    ensure!(
        asked.is_none() || dialect.access.long_unreachable == LongUnreachable::OnRequest,
        "--long-outage is for dialects that leave the choice (rfc9309, draft2019), and {} does not; \
         leave the flag out",
        dialect.name
    );
    Ok(())
}

/// Refuses an output that a set cannot go to.
pub(super) fn output(output: &Path) -> anyhow::Result<()> {
    ensure!(output.as_os_str() != "-", "a set is written to a file; name one, not -");
    Ok(())
}
