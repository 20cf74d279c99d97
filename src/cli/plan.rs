//! Groups of flags, checked and turned into what commands work with.
//!
//! Nothing here reads or writes a file, so wrong usage is reported before anything is touched. What
//! only one command needs is in its own file.

mod audit;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use portcullis_capture::access::LongOutage;
use portcullis_capture::input::Terminator;
use portcullis_dialect::dialect::{Dialect, LongUnreachable, RFC_9309};
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_robots::policy::AgentChain;
use portcullis_set::Strictness;

use super::args::{FigureArgs, Format, InputArgs, PolicyArgs, QuestionArgs, RunArgs};
use super::output::Destination;

pub use self::audit::{AuditPlan, audit};

/// The policies to load.
pub enum PolicyPlan {
    /// A file or a folder of files.
    Robots {
        path: PathBuf,
        dialect: &'static Dialect,
        bytes_max: Option<usize>,
        strictness: Strictness,
    },
    /// A compiled set, whose dialect must be the one that was named, if any.
    Set { path: PathBuf, dialect: Option<&'static Dialect> },
}

impl PolicyPlan {
    /// The dialect, if it is known before the policies are loaded.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        match self {
            PolicyPlan::Robots { dialect, .. } => Some(dialect),
            PolicyPlan::Set { dialect, .. } => *dialect,
        }
    }
}

/// The agents, and the scheme of records without one.
#[derive(Default)]
pub struct QuestionPlan {
    pub tokens: Vec<String>,
    pub headers: Vec<String>,
    pub assumed_scheme: Option<Vec<u8>>,
    /// Bytes of memory for the automata of one thread.
    pub automata_bytes_max: usize,
}

impl QuestionPlan {
    /// The agents in a dialect.
    ///
    /// # Errors
    ///
    /// If one of them is not an agent in that dialect.
    pub fn agents(&self, dialect: &Dialect) -> anyhow::Result<Vec<AgentChain>> {
        let token = |token| AgentChain::parse(token, dialect).context("invalid value for -a");
        let header = |header| {
            AgentChain::from_header(header, dialect).context("invalid value for --user-agent")
        };
        let tokens = self.tokens.iter().map(|it| token(it));
        tokens.chain(self.headers.iter().map(|it| header(it))).collect()
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

/// The inputs of a run, and its threads.
pub struct StreamPlan {
    /// At least one file; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    pub terminator: Terminator,
    /// 0 for one per processor.
    pub threads: usize,
    pub progress: bool,
    /// Whether records go to standard output during the run.
    pub prints: bool,
}

/// The summary at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SummaryPlan {
    pub form: SummaryForm,
    /// Whether statistics of the compiled rules are part of it.
    pub census: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryForm {
    None,
    Text,
    Json,
}

pub fn policies(args: PolicyArgs) -> PolicyPlan {
    match args.set {
        Some(path) => PolicyPlan::Set { path, dialect: args.dialect },
        None => PolicyPlan::Robots {
            path: args.robots.expect("clap requires one of the two"),
            dialect: args.dialect.unwrap_or(&RFC_9309),
            bytes_max: args.max_robots_size.map_or(Some(ROBOTS_BYTES_MAX), |size| size.0),
            strictness: strictness(args.strict, args.lenient),
        },
    }
}

/// The strictness by two flags of which at most one is given.
pub fn strictness(strict: bool, lenient: bool) -> Strictness {
    match (strict, lenient) {
        (true, _) => Strictness::Strict,
        (false, true) => Strictness::Lenient,
        (false, false) => Strictness::Usual,
    }
}

/// The agents, which are checked here if the dialect is known.
pub fn questions(
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

pub fn stream(input: InputArgs, run: &RunArgs, prints: bool) -> anyhow::Result<StreamPlan> {
    let inputs = if input.files.is_empty() { vec![PathBuf::from("-")] } else { input.files };
    Ok(StreamPlan {
        inputs,
        terminator: if input.null_data { Terminator::Nul } else { Terminator::LineFeed },
        threads: run.threads,
        progress: !run.no_progress,
        prints,
    })
}

pub fn summary(run: &RunArgs, figures: &FigureArgs) -> SummaryPlan {
    SummaryPlan { form: summary_form(run), census: figures.stats }
}

pub fn summary_form(run: &RunArgs) -> SummaryForm {
    match (run.no_summary, run.json) {
        (true, _) => SummaryForm::None,
        (false, true) => SummaryForm::Json,
        (false, false) => SummaryForm::Text,
    }
}

/// Refuses an output that cannot hold a set.
pub fn set_output(output: &Path) -> anyhow::Result<()> {
    ensure!(output.as_os_str() != "-", "a set cannot go to standard output; name a file");
    Ok(())
}

/// Refuses to choose what follows a long outage if the dialect defines it.
pub fn long_outage(asked: Option<LongOutage>, dialect: &Dialect) -> anyhow::Result<()> {
    ensure!(
        asked.is_none() || dialect.access.long_unreachable == LongUnreachable::OnRequest,
        "--long-outage is for dialects that leave the choice (rfc9309, draft2019); {} does not, so \
         omit the flag",
        dialect.name
    );
    Ok(())
}

/// The format that was asked for, or else that of the output's extension.
pub fn format(asked: Option<Format>, output: &Destination) -> anyhow::Result<Format> {
    let Destination::File(output) = output else {
        return Ok(asked.unwrap_or(Format::Tsv));
    };
    match (asked, named_format(output)) {
        (Some(asked), Some(named)) if asked != named => {
            bail!("--format contradicts the extension of {}; omit --format", output.display())
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => bail!(
            "{}: unknown format; use the extension .tsv or .jsonl (and .gz or .zst), or --format",
            output.display()
        ),
    }
}

/// The format of an extension, in front of .gz or .zst if there is one; `None` for any other.
pub fn named_format(output: &Path) -> Option<Format> {
    let is = |path: &Path, ending: &str| {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new(ending)))
    };
    let stem = output.with_extension("");
    let bare = if is(output, "gz") || is(output, "zst") { &stem } else { output };
    match () {
        () if is(bare, "tsv") => Some(Format::Tsv),
        () if is(bare, "jsonl") => Some(Format::Jsonl),
        () => None,
    }
}
