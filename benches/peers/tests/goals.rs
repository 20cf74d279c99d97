//! Tests the whole table on a small synthetic corpus: every row exists, its answers are verified,
//! and a wrong answer is shown as wrong. Times are not asserted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use portcullis_bench::{BenchError, Built, Corpus, Engine, Matcher, Question, Settings};
use portcullis_peers::goals::{
    Effort, Engines, Goals, Inputs, Outcome, Programs, Row, Sizes, measure, usual_engines,
};

const EFFORT: Effort = Effort { rounds: 1, turn: Duration::ZERO, seed: 1 };
const SIZES: Sizes =
    Sizes { copies: 3, rules: [5, 50], hosts: [10, 40], urls: 300, hostile_bytes: 4 << 10 };

/// Every row, in the order of the table.
const ROWS: [&str; 16] = [
    "decide-paired-grouped",
    "decide-mixed-shuffled",
    "batch-mixed-shuffled",
    "compile-fast-robots",
    "compile-texting-robots",
    "first-touch-mixed",
    "file-grouped",
    "file-shuffled",
    "filter",
    "filter-two-threads",
    "two-threads",
    "rules-literal",
    "rules-one-star",
    "origins",
    "hostile-time",
    "hostile-memory",
];

/// The number of rows that compare portcullis with an engine of the harness.
const ROWS_OF_ENGINES: usize = 6;

fn write_corpus(seed: u64, robots: &Path, urls: &Path) {
    let corpus = portcullis_synth::Corpus::new(seed, 30);
    fs::create_dir_all(robots).unwrap();
    for host in 0..corpus.hosts() {
        let mut text = Vec::new();
        corpus.write_robots(host, &mut text);
        fs::write(robots.join(corpus.host(host)), text).unwrap();
    }
    let mut list = Vec::new();
    for number in 0..400 {
        corpus.write_url(number, &mut list);
        list.push(b'\n');
    }
    fs::write(urls, list).unwrap();
}

fn inputs(folder: &Path) -> Inputs {
    let inputs = Inputs {
        robots: folder.join("robots"),
        urls: folder.join("urls.txt"),
        urls_without_policy: folder.join("urls-no-policy.txt"),
        paired_robots: folder.join("paired/robots"),
        paired_urls: folder.join("paired/urls.txt"),
        folder: folder.to_owned(),
    };
    write_corpus(1, &inputs.robots, &inputs.urls);
    write_corpus(2, &inputs.paired_robots, &inputs.paired_urls);
    fs::write(&inputs.urls_without_policy, "https://nobody.test/x\nno URL\n").unwrap();
    inputs
}

static PROGRAMS: LazyLock<Programs> = LazyLock::new(programs);

/// Builds the command-line program, which belongs to another package. It is built exactly as in the
/// workspace's tests, so usually there is no work to do.
fn programs() -> Programs {
    let goals = PathBuf::from(env!("CARGO_BIN_EXE_portcullis-goals"));
    let target = goals.ancestors().nth(2).unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["test", "--quiet", "--no-run", "--workspace"]);
    build.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(build.status().unwrap().success(), "portcullis can be built");
    Programs {
        portcullis: target.join("debug/portcullis"),
        goals,
        wc: "wc".to_owned(),
        cp: "cp".to_owned(),
    }
}

fn measured(programs: &Programs, engines: &Engines<'_>) -> Goals {
    let folder = tempfile::tempdir().unwrap();
    let inputs = inputs(folder.path());
    let mut goals = measure(&inputs, programs, (&EFFORT, &SIZES), engines, &|_| ()).unwrap();
    goals.commit = Some("abc".to_owned());
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["paired", "robots", "urls-no-policy.txt", "urls.txt"], "nothing is left");
    goals
}

/// A matcher called `portcullis` that allows everything.
struct AllowsAll;

impl Matcher for AllowsAll {
    fn allows(&mut self, _question: Question<'_>) -> bool {
        true
    }
}

fn lying_engines<'c>(
    corpus: &'c Corpus,
    settings: &Settings,
) -> Result<Vec<Engine<'c>>, BenchError> {
    let mut engines = usual_engines(corpus, settings)?;
    engines.retain(|engine| engine.name != "portcullis");
    engines.push(Engine::built_in("portcullis", |_| Built::timed(|| Ok(AllowsAll))));
    Ok(engines)
}

fn ids(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.goal.id.as_str()).collect()
}

/// Returns each row with its line in the table of goals. Two rows may measure the same work with
/// different peers, so the name of the work does not identify the line.
fn lines_of<'t>(text: &'t str, goals: &'t Goals) -> impl Iterator<Item = (&'t Row, &'t str)> {
    let (_, table) = text.split_once("\n|---|---|---|---|\n").expect("the table has a head");
    goals.rows.iter().zip(table.lines()).inspect(|(row, line)| {
        assert!(line.starts_with(&format!("| {} |", row.goal.what)), "{line}");
        assert!(line.contains(&format!(", {} |", row.goal.of)), "{line}");
    })
}

#[test]
#[cfg(target_os = "linux")]
fn every_row_is_there_and_verified() {
    let goals = measured(&PROGRAMS, &usual_engines);
    assert_eq!(ids(&goals.rows), ROWS);
    assert!(!goals.has_wrong());
    let text = goals.markdown();
    let lines: Vec<_> = lines_of(&text, &goals).collect();
    assert_eq!(lines.len(), ROWS.len());
    for (row, line) in lines {
        let Outcome::Measured { value, is_met, behind } = &row.outcome else { panic!("{row:?}") };
        assert!(*value > 0.0 && value.is_finite(), "{row:?}");
        assert!(behind.answers.contains("oracle") || behind.answers.contains("scan"));
        assert_eq!(line.matches(" met |").count() == 1, *is_met, "{line}");
        assert_eq!(line.matches(" **missed** |").count() == 0, *is_met, "{line}");
    }
    assert!(text.contains("commit abc") && text.contains("fast-robots 0."), "{text}");
    assert!(text.contains("| one $ rule of the whole size |"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&goals.to_json()).unwrap();
    let first = &json["rows"][0];
    assert_eq!(first["id"], ROWS[0]);
    assert!(
        first["outcome"]["measured"]["figures"][1]["median"].as_f64().unwrap() > 0.0,
        "{first}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_wrong_answer_is_shown_as_wrong_and_has_no_value() {
    let goals = measured(&PROGRAMS, &lying_engines);
    assert_eq!(ids(&goals.rows), ROWS);
    assert!(goals.has_wrong() && !goals.are_met());
    let text = goals.markdown();
    for ((row, line), place) in lines_of(&text, &goals).zip(0..) {
        assert_eq!(row.is_wrong(), place < ROWS_OF_ENGINES, "{row:?}");
        assert_eq!(line.ends_with("| – | **WRONG** |"), row.is_wrong(), "{line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_keeps_other_lines_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("portcullis");
    let real = PROGRAMS.clone();
    // This program keeps the lines that are not allowed, unlike the real one.
    let text = format!(
        "#!/bin/sh\ncommand=$1; shift\n[ \"$command\" = filter ] && set -- -v \"$@\"\nexec '{}' \"$command\" \"$@\"\n",
        real.portcullis.display()
    );
    fs::write(&script, text).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, executable).unwrap();
    let lying = Programs { portcullis: script, ..real };
    let goals = measured(&lying, &usual_engines);
    let wrong: Vec<&str> =
        goals.rows.iter().filter(|row| row.is_wrong()).map(|row| row.goal.id.as_str()).collect();
    assert_eq!(wrong, ["filter", "filter-two-threads"]);
}
