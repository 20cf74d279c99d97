//! The settings of a measurement, which are also its flags on every command line.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Command, FromArgMatches};

use super::report::Model;
use super::runner::RunnerCommand;

/// The most seconds that a flag accepts.
const SECONDS_MAX: f64 = 86_400.0;

/// The settings of a measurement.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measurement")]
pub struct Settings {
    /// Engine to measure, by name; repeatable [default: all]
    #[arg(long = "engine", value_name = "NAME")]
    pub engines: Vec<String>,

    /// Engine that ratios refer to [default: portcullis]
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,

    /// What to measure; repeatable [default: all]
    #[arg(long = "model", value_name = "NAME", value_parser = model())]
    pub models: Vec<Model>,

    /// Another program as an engine; the command is split at blanks
    ///
    /// It implements the line protocol of benches/RUNNERS.md. Repeatable.
    #[arg(long = "runner", value_name = "NAME=COMMAND")]
    pub runners: Vec<RunnerCommand>,

    /// Time limit for an answer of a runner, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub runner_timeout: Duration,

    /// Number of rounds; with an odd number the median is a measured value
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,

    /// Seconds for which an engine repeats a pass in one round
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = seconds)]
    pub seconds_per_pass: Duration,

    /// Seed of orders and samples
    #[arg(long, value_name = "N", default_value_t = 9309)]
    pub seed: u64,

    /// The command line, for the report.
    #[arg(skip)]
    pub command: String,
}

impl Default for Settings {
    /// Returns the defaults of the flags.
    fn default() -> Settings {
        let flags = Settings::augment_args(Command::new("bench")).get_matches_from(["bench"]);
        Settings::from_arg_matches(&flags).expect("each flag has a default or is optional")
    }
}

fn model() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::ALL.map(Model::as_str)).map(|name| {
        let named = Model::ALL.into_iter().find(|model| model.as_str() == name);
        named.expect("the parser accepts the names of models only")
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds));
    let seconds = seconds.ok_or("expected seconds, such as 0.1 or 30")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Returns a command for a report. Its arguments are quoted so that a shell repeats it.
pub fn command_line(program: &str, arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.map(|argument| quoted(&argument));
    std::iter::once(program.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        for (word, expected) in [
            ("--urls=a/b-c_1.txt", "--urls=a/b-c_1.txt"),
            ("", "''"),
            ("protego=python3 x.py", "'protego=python3 x.py'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("~", "'~'"),
        ] {
            let line = command_line("program", [word.into()].into_iter());
            assert_eq!(line, format!("program {expected}"));
        }
    }
}
