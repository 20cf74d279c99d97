//! The flags and arguments as clap's derived structs: one for each subcommand, made of the groups
//! that several share ([`groups`]). [`plan`](super::plan) checks combinations that clap cannot
//! express.
//!
//! A flag that several subcommands have is declared once, in a group. A subcommand has its groups in
//! the order of its help: what is asked, of what policies, about which records, where the output
//! goes, how it runs.

mod commands;
pub mod examples;
mod groups;
mod texts;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use super::exit;
use super::values::{self, Format};

pub use self::commands::{
    AUDIT_FORMATS, AuditArgs, CheckArgs, ClassifyArgs, CompileArgs, DiffArgs, FilterArgs,
    InspectArgs, LintArgs, RecordsArgs, SURVEY_FORMATS, SurveyArgs,
};
pub use self::groups::{
    AgentArgs, BaselineArgs, CapturePath, ListPath, ListTimeArgs, PolicyArgs, ReadingArgs,
    RecordAgentArgs, RejectArgs, RobotsPath, RunArgs, ThreadArgs, TimeArgs, UrlOrList, UsageArgs,
};

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
    #[arg(long, value_parser = values::one_of(GENERATED), value_name = "KIND")]
    pub generate: Option<Generated>,

    /// List the crawlers of `-a @NAME`, with the date and licence of each list
    #[arg(long, conflicts_with = "generate")]
    pub agent_lists: bool,

    /// With --agent-lists, print a JSON object for each crawler, with the source of each fact
    #[arg(long, requires = "agent_lists", value_parser = values::format(&[Format::Jsonl]), value_name = "FORMAT")]
    pub format: Option<Format>,

    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The output of `--generate`: a completion script, or the man page.
#[derive(Clone, Copy, Debug)]
pub struct Generated(pub Option<Shell>);

/// The words of `--generate`.
const GENERATED: &[(&str, Generated)] = &[
    ("man", Generated(None)),
    ("complete-bash", Generated(Some(Shell::Bash))),
    ("complete-zsh", Generated(Some(Shell::Zsh))),
    ("complete-fish", Generated(Some(Shell::Fish))),
    ("complete-powershell", Generated(Some(Shell::PowerShell))),
];

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
    use std::collections::BTreeMap;

    use super::*;
    use clap::{Arg, CommandFactory};

    /// The most lines of the short help of a command: a terminal shows so many.
    const SHORT_HELP_LINES_MAX: usize = 45;
    /// Flags in the short help of a command, at most.
    const SHORT_HELP_FLAGS_MAX: usize = 31;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }

    /// Flags with one meaning whose texts name what they do in the command.
    const OF_THE_COMMAND: [&str; 13] = [
        "agents",
        "dialect",
        "fail",
        "format",
        "history",
        "input-format",
        "lenient",
        "null-data",
        "output",
        "quiet",
        "strict",
        "top",
        "usage",
    ];

    #[test]
    fn a_flag_has_one_help_text() {
        let mut known: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut others = Vec::new();
        for command in Arguments::command().get_subcommands() {
            for flag in command.get_arguments() {
                let Some(long) = flag.get_long() else { continue };
                if OF_THE_COMMAND.contains(&long) {
                    continue;
                }
                let text = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string);
                let help = format!("{:?} {:?}", text(flag.get_help()), text(flag.get_long_help()));
                let of = command.get_name().to_owned();
                let (first, expected) = known.entry(long.to_owned()).or_insert((of, help.clone()));
                if help != *expected {
                    others.push(format!("--{long}: {first} and {}", command.get_name()));
                }
            }
        }
        assert!(others.is_empty(), "{}", others.join("\n"));
    }

    #[test]
    fn the_short_help_of_a_command_is_short() {
        let mut command = Arguments::command().term_width(100);
        command.build();
        let names: Vec<String> =
            command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
        assert_eq!(names.iter().filter(|name| *name != "help").count(), 9, "{names:?}");
        for name in names {
            let command = command.find_subcommand_mut(&name).unwrap();
            let lines = command.render_help().to_string().lines().count();
            let is_shown =
                |flag: &&Arg| flag.get_long().is_some() && !flag.is_hide_short_help_set();
            let flags = command.get_arguments().filter(is_shown).count();
            assert!(lines <= SHORT_HELP_LINES_MAX, "{name}: {lines} lines");
            assert!(flags <= SHORT_HELP_FLAGS_MAX, "{name}: {flags} flags");
        }
    }
}
