//! Messages on standard error, one line each.
//!
//! File names, hosts and agents in messages are untrusted text. Every message goes through this
//! module, which escapes hidden characters. A closed standard error is ignored.

use std::fmt::Display;
use std::io::{self, Write as _};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
pub use portcullis_text::figures::counted;
use portcullis_text::visible::visible;

/// Writes a message.
pub fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&message.to_string()));
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
        if !self.are_hidden {
            say(format_args!("{word}{note}"));
        }
        self.kept.push(note);
    }
}

/// What users of other programs and of earlier versions type, and what to type here.
const TIPS: &[(&str, &str)] = &[
    ("bench", "the benchmark is a program of its own: portcullis-bench run"),
    ("synth", "made-up corpora are by portcullis-bench synth"),
    ("--format html", "audit -o FILE.html writes the page about a list of URLs"),
    ("--format bits", "every format has the verdicts as words; tsv is the shortest"),
    ("--html", "audit -o FILE.html writes the page about a list of URLs"),
    ("--list", "lists are arguments: portcullis classify … FILE"),
    ("--no-summary", "--summary none prints no summary"),
    ("--out", "-o names the output, and --out-dir a folder of outputs"),
    ("--output-format", "--format names the output format"),
    ("--report", "audit writes JSON with -o FILE.json; --summary FILE.json is the summary"),
    ("--robots-txt", "--robots names a robots.txt file, or a folder of them"),
    ("--statistics", "lint --format json has the code of each finding, inspect has statistics"),
    ("--stats", "--summary json has the numbers of policies and rule sets"),
    ("--url", "URLs are arguments of check: portcullis check … URL"),
    ("--column", "--url-field names the column with the URL"),
    ("--field", "--url-field names the field with the URL; compile has --fields FIELD=NAME"),
    ("--url-column", "--url-field names the column with the URL"),
    ("--host-column", "--host-field names the column with the host"),
    ("--agent-column", "--agent-field names the column with the agent"),
    ("--agent-record", "--agent-field record is the agent that an access log has"),
    ("--at-column", "--time-field names the column with the time"),
    ("--at-field", "--time-field names the field with the time"),
    ("--at-unit", "--time-unit names the unit of times that are numbers"),
    (
        "--as-of",
        "--now judges ages at a time, --at decides by the policies of a time; compile has --as-of",
    ),
    ("--explain", "check has it; lint --describe CODE explains a code"),
    ("--expired", "--max-age makes URLs of older captures unknown"),
    ("--automata-memory", "no flag is needed: each thread has 64 MiB for automata"),
    ("--json", "--format json or jsonl prints data as JSON, --summary json the summary"),
    ("--account", "--summary FILE.md or FILE.json writes the account"),
    ("-u", "URLs are arguments of check: portcullis check … URL; a header is --user-agent"),
    ("--brief", "the page of an audit begins with the short one: -o FILE.html"),
    ("--in-place", "lint --fix applies the edits, and lint --diff shows them"),
    ("--from", "SET@TIME is a set as of a time: portcullis diff SET@TIME SET@TIME"),
    ("--to", "SET@TIME is a set as of a time: portcullis diff SET@TIME SET@TIME"),
    ("history", "inspect shows the periods of a host: portcullis inspect SET HOST"),
    ("merge", "compiling sets merges them: portcullis compile -o SET A.pcs B.pcs"),
    ("sitemaps", "survey lists sitemaps: portcullis survey -p SET --sitemaps"),
    ("verify", "inspect verifies a set: portcullis inspect SET --verify"),
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

/// Replaces the suggestions of an error about an argument, or its value, that [`TIPS`] has, or a command
/// of `program`.
fn add_tip(error: &mut clap::Error, program: &Command) {
    let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
    let typed = kinds.iter().find_map(|kind| error.get(*kind));
    let Some(ContextValue::String(typed)) = typed else { return };
    let typed = match error.get(ContextKind::InvalidValue) {
        // The flag is shown with the name of its value.
        Some(ContextValue::String(value)) => {
            format!("{} {value}", typed.split(' ').next().unwrap_or_default())
        }
        _ => typed.clone(),
    };
    let known = TIPS.iter().find(|(name, _)| *name == typed).map(|(_, tip)| (*tip).to_owned());
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let tip = known.or_else(|| is_unknown.then(|| of_others(&typed, program))?);
    let Some(tip) = tip else { return };
    // The usage line has the flag that was suggested.
    for other in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::Usage] {
        error.remove(other);
    }
    let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tip);
}

/// Returns a usage error of `program` with the hidden characters of its arguments escaped.
pub fn shown(mut error: clap::Error, program: &Command) -> clap::Error {
    add_tip(&mut error, program);
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

#[cfg(test)]
mod tests {
    use super::TIPS;

    #[test]
    fn each_gone_name_has_one_tip() {
        const GONE: &str = "\
            merge verify history sitemaps bench synth --column --field --host-column --agent-column \
            --agent-record --at-column --at-field --at-unit --json --report --account --no-summary --stats \
            --brief --html --from --to --as-of --expired --in-place --automata-memory --explain";
        for name in GONE.split_whitespace() {
            assert_eq!(TIPS.iter().filter(|(known, _)| *known == name).count(), 1, "{name}");
        }
    }
}
