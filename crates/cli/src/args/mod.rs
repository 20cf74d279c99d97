//! The flags and arguments as clap's derived structs: one for each subcommand, made of the groups
//! that several share ([`groups`]). [`plan`](super::plan) checks combinations that clap cannot
//! express.
//!
//! A flag that several subcommands have is declared once, in a group. A subcommand has its groups in
//! the order of its help: what is asked, of what policies, about which records, where the output
//! goes, how it runs.

mod audit;
pub mod examples;
mod groups;
mod lint;
mod lists;
mod sets;
mod survey;

use clap::{Parser, Subcommand, ValueEnum};

use super::exit;

pub use self::audit::AuditArgs;
pub use self::groups::{
    AgentArgs, AgentForm, CapturePath, Color, EarlyTime, FreshnessArgs, InputArgs, ListPath,
    ListTimeArgs, MaxAge, NowArgs, PolicyArgs, QuestionArgs, ReadingArgs, RecordAgentArgs,
    RejectArgs, RunArgs, ShardArgs, TimeArgs, UrlArgs, UsageArgs,
};
pub use self::lint::{Explained, LintArgs, LintFormat};
pub use self::lists::{
    CheckArgs, CheckFormat, ClassifyArgs, ClassifyFormat, FilterArgs, KeepOrDrop, RecordsArgs,
    SelectionArgs,
};
pub use self::sets::{CompileArgs, DiffArgs, DiffFormat, InspectArgs, InspectFormat, OutageArgs};
pub use self::survey::SurveyArgs;

/// Evaluates robots.txt rules in bulk, exactly and fast.
///
/// Data goes to standard output; progress, summaries and errors go to standard error.
#[derive(Parser)]
#[command(
    name = "portcullis",
    version,
    after_help = exit::HELP,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_help_heading = "Subcommands",
    subcommand_value_name = "SUBCOMMAND"
)]
pub struct Arguments {
    /// Generate the man page or a shell completion script
    #[arg(long, value_enum, value_name = "KIND")]
    pub generate: Option<Generated>,

    /// List the agents of `-a @NAME`, with the date and licence of each list
    #[arg(long, conflicts_with = "generate")]
    pub agent_lists: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The output of `--generate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
    CompletePowershell,
}

#[derive(Subcommand)]
pub enum Command {
    Check(CheckArgs),
    Classify(ClassifyArgs),
    Filter(FilterArgs),
    Compile(CompileArgs),
    Diff(DiffArgs),
    Inspect(InspectArgs),
    Survey(SurveyArgs),
    Audit(AuditArgs),
    Lint(LintArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
