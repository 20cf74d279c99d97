//! Every case of `tests/data` through the JSON Lines of the command line.
//!
//! The files of many cases are one folder, each at an origin of its own, because a process takes
//! longer than its answers. A check whose URL cannot move to another origin is asked alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use portcullis_testkit::{at_origin, origin};

use portcullis_captures::check_file;
use portcullis_dialect::id::LineNumber;
use portcullis_testkit::case::{self, Check, Expected};

/// A check, and the URL that is asked.
type Asked<'c> = (&'c Check, Vec<u8>);

#[test]
fn the_command_line_gives_the_expected_decision() {
    let (differences, compared) = compare(&case::all_checks());
    assert!(compared > 1_000, "only {compared} checks could be asked");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns the answers that differ, as messages, and the number of comparisons.
///
/// Leaves out cases that need an origin, which a single file does not have, records with a line
/// end, which would be two records of a list, and files in a code, which are refused.
fn compare(checks: &[Check]) -> (Vec<String>, usize) {
    let mut runs: BTreeMap<Vec<String>, Vec<&Check>> = BTreeMap::new();
    for check in checks.iter().filter(|check| can_be_asked(check)) {
        runs.entry(arguments(check)).or_default().push(check);
    }
    let (mut differences, mut compared) = (Vec::new(), 0);
    for (arguments, checks) in &runs {
        let folder = tempfile::tempdir().unwrap();
        let robots = folder.path().join("robots");
        fs::create_dir(&robots).unwrap();
        let mut files: BTreeMap<&[u8], usize> = BTreeMap::new();
        let mut together: Vec<Asked<'_>> = Vec::new();
        let mut alone: BTreeMap<&[u8], Vec<Asked<'_>>> = BTreeMap::new();
        for check in checks {
            let next = files.len();
            let file = *files.entry(&check.robots).or_insert(next);
            match at_origin(&check.url, check.dialect, file) {
                Some(url) => together.push((check, url)),
                None => alone.entry(&check.robots).or_default().push((check, check.url.clone())),
            }
        }
        for (text, file) in files {
            let origin = origin(file);
            let (_, host) = origin.split_once("://").unwrap();
            fs::write(robots.join(host), text).unwrap();
        }
        differences.extend(differing(folder.path(), "robots", arguments, &together));
        for (text, checks) in &alone {
            write(&folder.path().join("robots.txt"), text);
            differences.extend(differing(folder.path(), "robots.txt", arguments, checks));
        }
        compared += checks.len();
    }
    (differences, compared)
}

/// Asks all checks at once, and returns the answers that differ.
fn differing(
    folder: &Path,
    robots: &str,
    arguments: &[String],
    checks: &[Asked<'_>],
) -> Vec<String> {
    let urls: Vec<&[u8]> = checks.iter().map(|(_, url)| &url[..]).collect();
    // A list without a URL is an error, so one is appended to the records.
    let list = [&urls.join(&b'\n'), &b"\nhttps://example.com/\n"[..]].concat();
    write(&folder.join("urls"), &list);
    let mut answers = run(folder, robots, arguments);
    answers.pop();
    assert_eq!(answers.len(), checks.len(), "{arguments:?}");
    let differs = |((check, _), answer): (&Asked<'_>, Expected)| {
        let message = || format!("{}: {answer:?}, not {:?}", check.case, check.expected);
        (answer != check.expected).then(message)
    };
    checks.iter().zip(answers).filter_map(differs).collect()
}

/// Writes a file, without the content that it had: file systems that write a file to the disk at once
/// if its content is replaced take milliseconds.
fn write(path: &Path, content: &[u8]) {
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::write(path, content).unwrap();
}

fn can_be_asked(check: &Check) -> bool {
    check.robots_url.is_none() && !check.url.contains(&b'\n') && check_file(&check.robots).is_ok()
}

fn arguments(check: &Check) -> Vec<String> {
    let bytes_max = check.robots_bytes_max.map_or("unlimited".to_owned(), |max| max.to_string());
    let pairs = [
        ("--dialect", check.dialect.name.to_owned()),
        ("--max-robots-size", bytes_max),
        ("-a", check.agents.join("+")),
    ];
    pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
}

fn run(folder: &Path, robots: &str, arguments: &[String]) -> Vec<Expected> {
    let mut command = Command::cargo_bin("portcullis").unwrap();
    let command = command.current_dir(folder).args(["classify", "--summary", "none", "--format"]);
    let command = command
        .args(["jsonl", "--long", "--robots", robots, "--input-format", "lines", "urls"])
        .args(arguments);
    let output = command.assert().success().get_output().stdout.clone();
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(expected).collect()
}

fn expected(line: &[u8]) -> Expected {
    let object: serde_json::Value = serde_json::from_slice(line).unwrap();
    let word = |key: &str| object[key].as_str().unwrap();
    Expected {
        verdict: case::verdict(word("verdict")).unwrap(),
        reason: case::reason(word("reason")).unwrap(),
        line: object["line"].as_u64().and_then(|line| LineNumber::new(line as u32)),
    }
}
