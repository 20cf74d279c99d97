//! What flags mean, and which contradict each other.

use clap::Parser;

use super::super::args::{Arguments, Command};
use super::*;

/// What a command line means, `--robots x -a Bot` given.
fn typed(line: &str) -> Command {
    let (subcommand, flags) = line.split_once(' ').unwrap_or((line, ""));
    let words = ["portcullis", subcommand, "--robots", "x", "-a", "Bot"];
    let words = words.into_iter().chain(flags.split_whitespace());
    Arguments::try_parse_from(words)
        .unwrap_or_else(|error| panic!("{error}"))
        .command
        .expect("a subcommand")
}

fn classify_plan(line: &str) -> anyhow::Result<ClassifyPlan> {
    match typed(&format!("classify {line}")) {
        Command::Classify(args) => classify(args),
        _ => unreachable!("classify was typed"),
    }
}

fn filter_plan(line: &str) -> anyhow::Result<FilterPlan> {
    match typed(&format!("filter {line}")) {
        Command::Filter(args) => filter(args),
        _ => unreachable!("filter was typed"),
    }
}

#[test]
fn defaults() {
    let plan = filter_plan("").unwrap();
    let PolicyPlan::Robots { dialect, bytes_max, .. } = plan.policies else {
        panic!("--robots names a file")
    };
    assert_eq!(dialect.name, "rfc9309");
    assert_eq!(bytes_max, Some(portcullis::limits::ROBOTS_BYTES_MAX));
    assert_eq!(plan.stream.inputs, [Path::new("-")]);
    assert_eq!(plan.stream.terminator, Terminator::LineFeed);
    assert_eq!(plan.selection.quantifier, Quantifier::All);
    assert_eq!(plan.selection.unknown, Fate::Drop);
    assert_eq!(plan.selection.invalid, Fate::Drop);
    assert!(!plan.selection.invert);
    assert_eq!(plan.summary.form, SummaryForm::Text);
}

#[test]
fn agents_add_up_in_order() {
    let plan = classify_plan("-a A,B+C -a D").unwrap();
    assert_eq!(plan.questions.agent_names(), ["Bot", "A", "B+C", "D"]);
}

#[test]
fn an_agent_that_is_no_token_is_refused() {
    for agent in ["A/1", "A,", "A+", "a b"] {
        let words = ["portcullis", "classify", "--robots", "x", "-a", agent];
        let Some(Command::Classify(args)) = Arguments::parse_from(words).command else {
            unreachable!("classify was typed");
        };
        assert!(classify(args).is_err(), "{agent}");
    }
}

#[test]
fn formats_by_name() {
    let cases = [
        ("", ClassifyFormat::Tsv),
        ("--format jsonl", ClassifyFormat::Jsonl),
        ("-o x.jsonl", ClassifyFormat::Jsonl),
        ("-o x.jsonl.zst", ClassifyFormat::Jsonl),
        ("-o x.TSV.gz", ClassifyFormat::Tsv),
        ("-o x --format jsonl", ClassifyFormat::Jsonl),
        ("-o -", ClassifyFormat::Tsv),
        ("-o x.jsonl --format jsonl", ClassifyFormat::Jsonl),
        ("--format advertools", ClassifyFormat::Advertools),
        ("-o x.csv.gz --format advertools", ClassifyFormat::Advertools),
    ];
    for (line, format) in cases {
        assert_eq!(classify_plan(line).unwrap().format, format, "{line}");
    }
}

#[test]
fn formats_that_cannot_be_told_or_contradict_are_refused() {
    for line in ["-o x", "-o x.gz", "-o x.parquet", "-o x.tsv --format jsonl"] {
        assert!(classify_plan(line).is_err(), "{line}");
    }
}

#[test]
fn records_are_kept_dropped_or_set_aside() {
    let plan = filter_plan("--unknown keep --invalid-to y --any -v").unwrap();
    assert_eq!(plan.selection.unknown, Fate::Keep);
    assert_eq!(plan.selection.invalid, Fate::Aside);
    assert_eq!(plan.selection.quantifier, Quantifier::Any);
    assert!(plan.selection.invert);
}

#[test]
fn records_are_not_set_aside_on_standard_output() {
    assert!(filter_plan("--invalid-to y").is_ok());
    assert!(filter_plan("--invalid-to -").is_err());
}

#[test]
fn standard_input_is_read_once() {
    assert!(filter_plan("- a -").is_err());
    assert_eq!(
        filter_plan("a - b").unwrap().stream.inputs.len(),
        3,
        "among files it is read in its place"
    );
}

#[test]
fn contradicting_flags_are_wrong_usage() {
    for flags in [
        "--all --any",
        "-q -c",
        "-q -o x",
        "--json --no-summary",
        "--unknown keep --unknown-to x",
        "--invalid keep --invalid-to x",
        "--dialect rfc1",
        "--max-robots-size 0",
        "--assume-scheme https://",
    ] {
        let line = format!("portcullis filter --robots x -a Bot {flags}");
        assert!(Arguments::try_parse_from(line.split(' ')).is_err(), "{flags}");
    }
}
