//! Every case through the JSON Lines of the command line.

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::Command;

use crate::case::{self, Check, Expected};
use portcullis_dialect::id::LineNumber;

/// The checks of each run of the program, by file and arguments.
type Runs<'c> = BTreeMap<(&'c [u8], Vec<String>), Vec<&'c Check>>;

/// Returns the answers that differ, as messages, and the number of comparisons.
///
/// Leaves out cases that need an origin, which a single file does not have, and records with a line
/// end, which would be two records of a list.
pub fn compare(checks: &[Check]) -> (Vec<String>, usize) {
    let mut runs = Runs::new();
    for check in checks.iter().filter(|check| can_be_asked(check)) {
        runs.entry((&check.robots, arguments(check))).or_default().push(check);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut differences = Vec::new();
    let mut compared = 0;
    for ((robots, arguments), checks) in &runs {
        write(&folder.path().join("robots.txt"), robots);
        let urls: Vec<&[u8]> = checks.iter().map(|check| &check.url[..]).collect();
        // A list without a URL is an error, so one is appended to the records.
        let list = [&urls.join(&b'\n'), &b"\nhttps://example.com/\n"[..]].concat();
        write(&folder.path().join("urls"), &list);
        let mut answers = run(folder.path(), arguments);
        answers.pop();
        assert_eq!(answers.len(), checks.len(), "{}", checks[0].case);
        compared += checks.len();
        for (check, answer) in checks.iter().zip(answers) {
            if answer != check.expected {
                differences.push(format!("{}: {answer:?}, not {:?}", check.case, check.expected));
            }
        }
    }
    (differences, compared)
}

/// Writes a file, without the content that it had: file systems that write a file to the disk at once
/// if its content is replaced take milliseconds.
fn write(path: &Path, content: &[u8]) {
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    std::fs::write(path, content).unwrap();
}

fn can_be_asked(check: &Check) -> bool {
    check.robots_url.is_none() && !check.url.contains(&b'\n')
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

fn run(folder: &Path, arguments: &[String]) -> Vec<Expected> {
    let mut command = Command::cargo_bin("portcullis").unwrap();
    let command = command.current_dir(folder).args(["classify", "--no-summary", "--format"]);
    let command = command
        .args(["jsonl", "--robots", "robots.txt", "--input-format", "lines", "urls"])
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
