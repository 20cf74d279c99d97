//! Messages on standard error, one line each.
//!
//! File names, hosts and agents in messages are untrusted text. Every message goes through this
//! module, which escapes hidden characters. A closed standard error is ignored.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
pub use portcullis_text::figures::counted;
use portcullis_text::settings::shown_as;
use portcullis_text::visible::visible;

/// Writes a message.
pub fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&with_flags(&message.to_string())));
}

/// Writes the error that ends the program, in colour where clap's errors are.
pub fn fail(error: &anyhow::Error) {
    let text = visible(&with_flags(&format!("{error:#}"))).to_string();
    let has_colour = io::stderr().is_terminal()
        && env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
        && env::var_os("TERM").is_none_or(|it| it != "dumb");
    let word = if has_colour { "\x1b[1m\x1b[31merror:\x1b[0m" } else { "error:" };
    let _ = writeln!(io::stderr(), "{word} {text}");
}

/// Returns a message with flags for the names of settings that libraries write.
pub fn with_flags(message: &str) -> String {
    shown_as(message, |name| match name {
        "policies" => "-p".to_owned(),
        "null_data" => "-0".to_owned(),
        _ => format!("--{}", name.replace('_', "-")),
    })
}

/// The number of notes of one kind that are shown.
const SHOWN_MAX: usize = 10;

/// Returns the first of `all` notes, and how many more there are.
pub fn first(
    notes: impl Iterator<Item = String>,
    all: u64,
    more: impl Fn(u64) -> String,
) -> Vec<String> {
    let mut first: Vec<String> = notes.take(SHOWN_MAX).collect();
    let rest = all.saturating_sub(first.len() as u64);
    first.extend((rest > 0).then(|| more(rest)));
    first
}

/// Shows the first of `all` notes, and how many more there are.
pub fn show_first(notes: impl Iterator<Item = String>, all: u64, more: impl Fn(u64) -> String) {
    first(notes, all, |rest| format!("note: {}", more(rest))).iter().for_each(say);
}

/// Notes on how lists are read, for the summary. They are shown at once too, unless the summary on
/// standard error is JSON.
#[derive(Clone, Default)]
pub struct Notes {
    pub are_hidden: bool,
    pub kept: Vec<String>,
}

impl Notes {
    pub fn add(&mut self, note: String) {
        self.show("note: ", note);
    }

    /// Adds a note that is shown after a word.
    pub fn show(&mut self, word: &str, note: String) {
        let note = with_flags(&note);
        if !self.are_hidden {
            say(format_args!("{word}{note}"));
        }
        self.kept.push(note);
    }
}

/// Words that users of other programs type, and what they forget, and the words to type here. A row may begin
/// with the name of a command, to which it belongs.
const TIPS: &[(&str, &str)] = &[
    ("check --agents <A,B,…>", "name a crawler, such as -a GPTBot"),
    ("survey --agents <A,B,…>", "name a crawler, such as -a GPTBot, or pass --sitemaps"),
    (
        "--agents <A,B,…>",
        "name a crawler, such as -a GPTBot, or the field that names it with --agent-field",
    ),
    ("--account", "--summary FILE.json or FILE.md writes the facts of a run"),
    ("--agent-column", "--agent-field names the column with the agent"),
    ("--agent-record", "--agent-field record reads the agent of a log"),
    ("--as-of", "--at TIME decides as of a time, in diff SET@TIME; --as-of is a flag of compile"),
    (
        "inspect --at",
        "inspect SET HOST shows all periods, and check -p SET@TIME --explain one time",
    ),
    ("--at", "SET@TIME is a set as of a time; --at is a flag of check, classify, filter and audit"),
    ("--at-column", "--time-field names the column with the time"),
    ("--at-field", "--time-field names the field with the time"),
    ("--at-unit", "--time-unit names the unit of times that are numbers"),
    ("--brief", "audit prints its one-page summary without -o"),
    (
        "--column",
        "--url-field names the column with the URL, and --columns those that classify writes",
    ),
    ("--crawler", "-a names the crawlers, such as -a GPTBot"),
    ("--crawlers", "-a names the crawlers, such as -a GPTBot"),
    ("--expired", "--max-age treats URLs with an older robots.txt as unknown"),
    ("compile --field", "--fields url=NAME names the field with the URL"),
    ("compile --url-field", "--fields url=NAME names the field with the URL"),
    ("--field", "--url-field names the field with the URL"),
    (
        "--from",
        "inspect SET HOST shows the periods of a host, and diff SET@TIME SET@TIME what changed",
    ),
    ("--format html", "audit -o FILE.html writes the page about a list of URLs"),
    ("survey --host", "inspect SET HOST shows one host"),
    ("--host-column", "--host-field names the column with the host"),
    ("--html", "audit -o FILE.html writes the page about a list of URLs"),
    ("--in-place", "lint --fix applies the edits, and lint --diff shows them"),
    ("audit --json", "--format json prints JSON"),
    ("filter --json", "filter writes records as they are; classify --format jsonl prints JSON"),
    ("compile --json", "--summary json writes the summary as JSON"),
    ("inspect --json", "--format json prints JSON"),
    ("lint --json", "--format json prints JSON"),
    ("--json", "--format jsonl prints JSON"),
    ("--list", "lists are arguments: portcullis classify … FILE, or check … @FILE"),
    ("compile --robots", "captures are arguments: portcullis compile -o SET FOLDER"),
    ("diff --robots", "diff takes two files or sets without a flag: portcullis diff OLD NEW"),
    ("diff -p", "diff takes two files or sets without a flag: portcullis diff OLD NEW"),
    ("inspect -p", "the set is an argument: portcullis inspect SET HOST"),
    ("lint --explain", "lint --describe CODE describes a finding"),
    ("lint --robots", "files are arguments: portcullis lint FILE…"),
    ("lint --output", "findings go to standard output: portcullis lint … > FILE"),
    ("lint -o", "findings go to standard output: portcullis lint … > FILE"),
    ("--no-summary", "--summary none writes no summary"),
    ("compile --out", "-o names the set"),
    ("--out", "-o names the output, and --out-dir a folder of outputs"),
    ("--output-format", "--format names the output format"),
    ("--report", "audit -o FILE.html or FILE.json writes the report about a list of URLs"),
    ("--robots-txt", "--robots names a robots.txt file, or a folder of them"),
    ("--unstated <keep|drop>", "keep or drop URLs whose robots.txt does not mention the purpose"),
    ("--stats", "--summary shows the counts of a run, and inspect the statistics of a set"),
    ("--statistics", "lint --format json has the code of each finding, inspect has statistics"),
    (
        "--to",
        "inspect SET HOST shows the periods of a host, and diff SET@TIME SET@TIME what changed",
    ),
    ("--url", "URLs are arguments of check: portcullis check … URL"),
    ("--url-column", "--url-field names the column with the URL"),
    (
        "--policies <SET> with --max-robots-size <SIZE>",
        "a policy set has its own size limit; omit --max-robots-size",
    ),
    ("survey --usage", "the rows have a column for each usage preference without a flag"),
    ("audit --usage", "the report has all usage preferences without a flag"),
    (
        "check -v",
        "check exits with 1 unless all URLs are allowed; filter -v keeps the disallowed ones",
    ),
    ("-u", "URLs are arguments of check: portcullis check … URL; a header is --user-agent"),
    (
        "<--robots <PATH>|--policies <SET>>",
        "pass a robots.txt or a folder of them with --robots, or a set with -p",
    ),
    ("bench", "portcullis-bench run measures"),
    ("history", "inspect SET HOST shows the periods of a host"),
    ("merge", "compile -o SET SETS merges sets"),
    ("sitemaps", "survey --sitemaps writes the sitemaps of a set"),
    ("synth", "portcullis-bench synth makes data"),
    ("verify", "inspect --verify SET checks a set"),
    ("version", "portcullis --version prints the version"),
];

/// Returns which commands have a flag that another one has not.
fn of_others(typed: &str, program: &Command) -> Option<String> {
    let flag = typed.split(['=', ' ']).next()?;
    let is_flag = |arg: &Arg| match flag.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| flag == format!("-{short}")),
    };
    let have = program.get_subcommands().filter(|command| command.get_arguments().any(is_flag));
    let names: Vec<&str> = have.map(Command::get_name).collect();
    (!names.is_empty()).then(|| format!("it is a flag of {}", names.join(", ")))
}

/// Replaces the suggestions of an error about an argument of `command`, or its value, that [`TIPS`] has, or
/// a command of `program`.
fn add_tip(error: &mut clap::Error, program: &Command, command: &str) {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let typed = kinds.iter().find_map(|kind| error.get(*kind));
    let typed = match typed {
        Some(ContextValue::String(typed)) => typed,
        // The arguments that are missing.
        Some(ContextValue::Strings(missing)) => match missing.first() {
            Some(first) => first,
            None => return,
        },
        _ => return,
    };
    let typed = match error.get(ContextKind::InvalidValue) {
        // The flag is shown with the name of its value.
        Some(ContextValue::String(value)) => {
            format!("{} {value}", typed.split(' ').next().unwrap_or_default())
        }
        _ => typed.clone(),
    };
    // A missing argument is shown with its value.
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let is_tip = is_missing || !typed.ends_with('>');
    let find = |typed: &str| TIPS.iter().find(|(name, _)| *name == typed && is_tip);
    let with = |prior: &str| TIPS.iter().find(|(name, _)| *name == format!("{typed} with {prior}"));
    let known = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(prior)) => with(prior),
        _ => find(&format!("{command} {typed}")).or_else(|| find(&typed)),
    };
    let known = known.map(|(_, tip)| (*tip).to_owned());
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let tip = known.or_else(|| is_unknown.then(|| of_others(&typed, program))?);
    let Some(tip) = tip else { return };
    for other in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand] {
        error.remove(other);
    }
    // The usage line has the flag that was suggested.
    if error.kind() != ErrorKind::MissingRequiredArgument {
        error.remove(ContextKind::Usage);
    }
    let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tip);
}

/// Returns a usage error of `program`, whose arguments are `typed`, with their hidden characters escaped.
pub fn shown(mut error: clap::Error, program: &Command, typed: &[OsString]) -> clap::Error {
    let command = typed.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if error.kind() == ErrorKind::UnknownArgument {
        // How to pass a flag as a value, which nobody means here.
        error.remove(ContextKind::Suggested);
    }
    add_tip(&mut error, program, command);
    let text = |text: &String| visible(text).to_string();
    let context = error.context().map(|(kind, value)| (kind, value.clone()));
    for (kind, value) in context.collect::<Vec<_>>() {
        let escaped = match &value {
            ContextValue::String(typed) => ContextValue::String(text(typed)),
            ContextValue::Strings(typed) => ContextValue::Strings(typed.iter().map(text).collect()),
            _ => continue,
        };
        if escaped != value {
            error.insert(kind, escaped);
            // A suggestion repeats the argument.
            error.remove(ContextKind::Suggested);
        }
    }
    error
}
