//! What was typed, understood: plain values that say what to do, with every contradiction found.
//!
//! Nothing here touches a disk, so a wrong flag is reported before anything is read or written.

mod audit;
mod sets;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::input::Terminator;
use portcullis::limits::ROBOTS_BYTES_MAX;
use portcullis::policy::AgentChain;
use portcullis::report::filter::{self, Fate, Quantifier};
use portcullis::set::{IngestConfig, Input, OutageConfig, Strictness};

use super::args::{
    CheckArgs, ClassifyArgs, ClassifyFormat, Color, CompileArgs, FigureArgs, FilterArgs, Format,
    InputArgs, KeepOrDrop, PolicyArgs, QuestionArgs, RunArgs, SelectionArgs,
};
use super::output::Destination;

pub use self::audit::{AuditPlan, audit};
pub use self::sets::{DiffPlan, MergePlan, diff, long_outage, merge};

/// Which policies to load.
pub enum PolicyPlan {
    /// A file or a folder of files.
    Robots {
        path: PathBuf,
        dialect: &'static Dialect,
        bytes_max: Option<usize>,
        strictness: Strictness,
    },
    /// A compiled set, which has to be for the dialect if one was named.
    Set { path: PathBuf, dialect: Option<&'static Dialect> },
}

impl PolicyPlan {
    /// The dialect, if it is known before the policies are.
    fn dialect(&self) -> Option<&'static Dialect> {
        match self {
            PolicyPlan::Robots { dialect, .. } => Some(dialect),
            PolicyPlan::Set { dialect, .. } => *dialect,
        }
    }
}

/// Who asks, and what a record without a scheme is.
#[derive(Default)]
pub struct QuestionPlan {
    pub tokens: Vec<String>,
    pub headers: Vec<String>,
    pub assumed_scheme: Option<Vec<u8>>,
    /// Bytes that the automata of one thread may hold.
    pub automata_bytes_max: usize,
}

impl QuestionPlan {
    /// The agents, as a dialect knows them.
    ///
    /// # Errors
    ///
    /// If one of them is none in that dialect.
    pub fn agents(&self, dialect: &Dialect) -> anyhow::Result<Vec<AgentChain>> {
        let mut agents = Vec::with_capacity(self.agent_count());
        for token in &self.tokens {
            agents.push(AgentChain::parse(token, dialect).context("cannot use what -a names")?);
        }
        for header in &self.headers {
            let agent = AgentChain::from_header(header, dialect);
            agents.push(agent.context("cannot use what --user-agent gives")?);
        }
        Ok(agents)
    }

    /// The number of agents.
    pub fn agent_count(&self) -> usize {
        self.tokens.len() + self.headers.len()
    }

    /// The agents as they were given.
    pub fn agent_names(&self) -> Vec<String> {
        self.tokens.iter().chain(&self.headers).cloned().collect()
    }
}

/// What to read and with how many threads.
pub struct StreamPlan {
    /// Files in their order, `-` for standard input; at least one.
    pub inputs: Vec<PathBuf>,
    pub terminator: Terminator,
    /// 0 for one a processor.
    pub threads: usize,
    pub progress: bool,
    /// Whether records go to standard output while the run goes on.
    pub prints: bool,
}

/// How the run is told about at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryPlan {
    pub form: SummaryForm,
    /// Whether figures about the compiled rules are part of it.
    pub census: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryForm {
    None,
    Text,
    Json,
}

pub struct CheckPlan {
    pub policies: PolicyPlan,
    pub questions: QuestionPlan,
    pub urls: Vec<OsString>,
    pub telling: Telling,
    pub color: Color,
}

/// What `check` prints about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    Nothing,
    Verdict,
    Explanation,
    Json,
}

pub struct ClassifyPlan {
    pub policies: PolicyPlan,
    pub questions: QuestionPlan,
    pub stream: StreamPlan,
    pub summary: SummaryPlan,
    pub format: ClassifyFormat,
    pub output: Destination,
}

pub struct FilterPlan {
    pub policies: PolicyPlan,
    pub questions: QuestionPlan,
    pub stream: StreamPlan,
    pub summary: SummaryPlan,
    pub selection: filter::Plan,
    pub printed: Printed,
    pub output: Destination,
    /// Where records of unknown origins are set aside.
    pub unknown_to: Option<PathBuf>,
    /// Where records that are no URL are set aside.
    pub invalid_to: Option<PathBuf>,
    /// Whether keeping nothing is told by the exit status.
    pub tells_emptiness: bool,
}

pub struct CompilePlan {
    /// At least one; `-` is standard input.
    pub inputs: Vec<Input>,
    pub ingesting: IngestConfig,
    /// The set.
    pub output: PathBuf,
    /// 0 for one a processor.
    pub threads: usize,
    pub progress: bool,
    pub summary: SummaryForm,
}

/// What `filter` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    Records,
    Count,
    Nothing,
}

pub fn check(args: CheckArgs) -> anyhow::Result<CheckPlan> {
    let policies = policies(args.policies);
    Ok(CheckPlan {
        questions: questions(args.questions, policies.dialect())?,
        policies,
        urls: args.urls,
        telling: match (args.quiet, args.json, args.explain) {
            (true, ..) => Telling::Nothing,
            (_, true, _) => Telling::Json,
            (_, _, true) => Telling::Explanation,
            (false, false, false) => Telling::Verdict,
        },
        color: args.color,
    })
}

pub fn classify(args: ClassifyArgs) -> anyhow::Result<ClassifyPlan> {
    let policies = policies(args.policies);
    let output = Destination::new(args.output);
    let format = classify_format(args.format, &output)?;
    let prints = output == Destination::StandardOutput;
    Ok(ClassifyPlan {
        questions: questions(args.questions, policies.dialect())?,
        policies,
        stream: stream(args.input, &args.run, prints)?,
        summary: summary(&args.run, &args.figures),
        format,
        output,
    })
}

pub fn filter(args: FilterArgs) -> anyhow::Result<FilterPlan> {
    let policies = policies(args.policies);
    let selection = &args.selection;
    for path in [&selection.unknown_to, &selection.invalid_to].into_iter().flatten() {
        ensure!(path.as_os_str() != "-", "records are set aside in a file; name one, not -");
    }
    let printed = match (args.quiet, args.count) {
        (true, _) => Printed::Nothing,
        (false, true) => Printed::Count,
        (false, false) => Printed::Records,
    };
    let output = Destination::new(args.output);
    let prints = output == Destination::StandardOutput && printed == Printed::Records;
    Ok(FilterPlan {
        questions: questions(args.questions, policies.dialect())?,
        policies,
        stream: stream(args.input, &args.run, prints)?,
        summary: summary(&args.run, &args.figures),
        selection: selected(selection),
        printed,
        output,
        unknown_to: args.selection.unknown_to,
        invalid_to: args.selection.invalid_to,
        tells_emptiness: args.exit_status,
    })
}

pub fn compile(args: CompileArgs) -> anyhow::Result<CompilePlan> {
    stdin_once(&args.inputs)?;
    sets::output(&args.output)?;
    sets::long_outage(args.outages.long_outage, args.dialect)?;
    let input = |path| Input { path, format: args.input_format };
    Ok(CompilePlan {
        inputs: args.inputs.into_iter().map(input).collect(),
        ingesting: IngestConfig {
            strictness: strictness(args.strict, args.lenient),
            outages: OutageConfig {
                as_of: args.outages.as_of,
                long_outage: args.outages.long_outage.unwrap_or_default(),
            },
            ..IngestConfig::new(args.dialect, args.max_robots_size.0)
        },
        output: args.output,
        threads: args.run.threads,
        progress: !args.run.no_progress,
        summary: summary_form(&args.run),
    })
}

/// Which policies to load.
pub fn policies(args: PolicyArgs) -> PolicyPlan {
    match args.set {
        Some(path) => PolicyPlan::Set { path, dialect: args.dialect },
        None => PolicyPlan::Robots {
            path: args.robots.expect("clap asks for one of the two"),
            dialect: args.dialect.unwrap_or(&RFC_9309),
            bytes_max: args.max_robots_size.map_or(Some(ROBOTS_BYTES_MAX), |size| size.0),
            strictness: strictness(args.strict, args.lenient),
        },
    }
}

/// What the two flags mean, of which one is given at most.
pub fn strictness(strict: bool, lenient: bool) -> Strictness {
    match (strict, lenient) {
        (true, _) => Strictness::Strict,
        (false, true) => Strictness::Lenient,
        (false, false) => Strictness::Usual,
    }
}

/// Who asks. Where the dialect is known already, so is whether they are agents.
fn questions(
    args: QuestionArgs,
    dialect: Option<&'static Dialect>,
) -> anyhow::Result<QuestionPlan> {
    let questions = QuestionPlan {
        tokens: args.agents,
        headers: args.user_agents,
        assumed_scheme: args.assume_scheme.map(String::into_bytes),
        automata_bytes_max: args.automata_memory,
    };
    dialect.map_or(Ok(Vec::new()), |dialect| questions.agents(dialect))?;
    Ok(questions)
}

fn stream(input: InputArgs, run: &RunArgs, prints: bool) -> anyhow::Result<StreamPlan> {
    stdin_once(&input.files)?;
    let inputs = if input.files.is_empty() { vec![PathBuf::from("-")] } else { input.files };
    Ok(StreamPlan {
        inputs,
        terminator: if input.null_data { Terminator::Nul } else { Terminator::LineFeed },
        threads: run.threads,
        progress: !run.no_progress,
        prints,
    })
}

fn stdin_once(inputs: &[PathBuf]) -> anyhow::Result<()> {
    let times = inputs.iter().filter(|path| path.as_os_str() == "-").count();
    ensure!(times <= 1, "standard input can be read only once; write - only once");
    Ok(())
}

fn summary(run: &RunArgs, figures: &FigureArgs) -> SummaryPlan {
    SummaryPlan { form: summary_form(run), census: figures.stats }
}

fn summary_form(run: &RunArgs) -> SummaryForm {
    match (run.no_summary, run.json) {
        (true, _) => SummaryForm::None,
        (false, true) => SummaryForm::Json,
        (false, false) => SummaryForm::Text,
    }
}

fn selected(args: &SelectionArgs) -> filter::Plan {
    let fate = |asked: KeepOrDrop, aside: &Option<PathBuf>| match (aside, asked) {
        (Some(_), _) => Fate::Aside,
        (None, KeepOrDrop::Keep) => Fate::Keep,
        (None, KeepOrDrop::Drop) => Fate::Drop,
    };
    filter::Plan {
        quantifier: if args.any { Quantifier::Any } else { Quantifier::All },
        invert: args.invert,
        unknown: fate(args.unknown, &args.unknown_to),
        invalid: fate(args.invalid, &args.invalid_to),
    }
}

/// As [`format`], for those that only `classify` has.
fn classify_format(
    asked: Option<ClassifyFormat>,
    output: &Destination,
) -> anyhow::Result<ClassifyFormat> {
    let asked = match (asked, output) {
        (Some(ClassifyFormat::Advertools), Destination::File(path)) => {
            ensure!(
                named_format(path).is_none(),
                "--format advertools writes CSV, and the name {} says otherwise; let it end with .csv",
                path.display()
            );
            return Ok(ClassifyFormat::Advertools);
        }
        (Some(ClassifyFormat::Advertools), Destination::StandardOutput) => {
            return Ok(ClassifyFormat::Advertools);
        }
        (Some(ClassifyFormat::Tsv), _) => Some(Format::Tsv),
        (Some(ClassifyFormat::Jsonl), _) => Some(Format::Jsonl),
        (None, _) => None,
    };
    Ok(match format(asked, output)? {
        Format::Tsv => ClassifyFormat::Tsv,
        Format::Jsonl => ClassifyFormat::Jsonl,
    })
}

/// The format that was asked for, or that the output's name asks for.
fn format(asked: Option<Format>, output: &Destination) -> anyhow::Result<Format> {
    let Destination::File(output) = output else {
        return Ok(asked.unwrap_or(Format::Tsv));
    };
    let named = named_format(output);
    match (asked, named) {
        (Some(asked), Some(named)) if asked != named => bail!(
            "--format and the name {} contradict each other; leave --format out",
            output.display()
        ),
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => bail!(
            "cannot tell the format from the name {}: let it end with .tsv or .jsonl (and .gz or \
             .zst), or give --format",
            output.display()
        ),
    }
}

fn named_format(output: &Path) -> Option<Format> {
    let is = |path: &Path, ending: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new(ending)))
    };
    let stem;
    let bare = if is(output, "gz") || is(output, "zst") {
        stem = output.with_extension("");
        &stem
    } else {
        output
    };
    match () {
        () if is(bare, "tsv") => Some(Format::Tsv),
        () if is(bare, "jsonl") => Some(Format::Jsonl),
        () => None,
    }
}

#[cfg(test)]
mod tests;
