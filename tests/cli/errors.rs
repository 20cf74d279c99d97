//! Failures: a message, status 2 and no partial file. A closed pipe is not a failure.

use std::process::Stdio;

use super::*;

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    for line in [
        "",
        "fetch",
        "check --robots robots -a Bot",
        "check --robots robots https://a.example/",
        "check -a Bot https://a.example/",
        "classify --robots robots -a Bot --format xml",
        "classify --robots robots -a Bot -o out.parquet",
        "classify --robots robots -a Bot -o out",
        "classify --robots robots -a Bot -o out.gz",
        "classify --robots robots -a Bot -o out.tsv --format jsonl",
        "classify --robots robots -a A/1",
        "classify --robots robots -a A,",
        "classify --robots robots -a A+",
        "classify -p missing --robots robots -a Bot",
        "classify --robots robots -a Bot -j many",
        "filter --robots robots -a Bot --any --all",
        "filter --robots robots -a Bot --unknown maybe",
        "filter --robots robots -a Bot --max-robots-size 0",
        "filter --robots robots -a Bot -q -c",
        "filter --robots robots -a Bot -q -o x",
        "filter --robots robots -a Bot --json --no-summary",
        "filter --robots robots -a Bot --unknown keep --unknown-to x",
        "filter --robots robots -a Bot --invalid keep --invalid-to x",
        "filter --robots robots -a Bot --invalid-to -",
        "filter --robots robots -a Bot --assume-scheme https://",
        "filter --robots robots -a Bot - missing -",
        "synth --hosts 0 --out x",
        "--generate poem",
    ] {
        let output = folder.command(line).write_stdin("").output().unwrap();
        assert_fails(&output, &[]);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn help_and_version_are_successes() {
    for line in ["--help", "--version", "check --help", "classify -h", "filter --help", "synth -h"]
    {
        let output = portcullis().args(line.split(' ')).output().unwrap();
        assert_status(&output, 0);
        assert!(!output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn an_agent_that_is_no_token() {
    let folder = Folder::new();
    let run = |agent: &str, dialect: &str| {
        let line = format!("check --robots robots --dialect {dialect} -a {agent} {ALLOWED}");
        folder.output(&line)
    };
    assert_fails(&run("Bot/2.1", "rfc9309"), &["Bot/2.1", "letters, digits, '-', '_' and '.'"]);
    assert_fails(&run("MJ12bot", "google"), &["MJ12bot", "letters, '-' and '_'"]);
    assert_fails(&run("Bot,,Other", "rfc9309"), &["empty"]);
    assert_status(&run("MJ12bot", "rfc9309"), 0);
}

#[test]
fn blanks_around_agents_are_no_part_of_them() {
    let folder = Folder::new();
    let args = ["check", "--robots", "robots", "-a", " ExampleBot, BadBot ", ALLOWED];
    let output = portcullis().current_dir(folder.folder.path()).args(args).output().unwrap();
    assert_stdout(&output, format!("allow\tdisallow\t{ALLOWED}\n"));
    assert_fails(
        &folder
            .command("")
            .args(["check", "--robots", "robots", "-a", "a b", "x"])
            .output()
            .unwrap(),
        &["a b"],
    );
}

#[test]
fn an_unknown_dialect_lists_the_known_ones() {
    let folder = Folder::new();
    let output = folder.run("check --dialect rfc1 x", "");
    assert_fails(&output, &["original1994", "koster1996", "draft2019", "rfc9309", "google"]);
}

#[test]
fn policies_that_are_not_there() {
    let folder = Folder::new();
    let line = "classify --robots missing -a Bot";
    assert_fails(&folder.command(line).write_stdin("").output().unwrap(), &["missing"]);
    fs::create_dir(folder.path("empty")).unwrap();
    let line = "classify --robots empty -a Bot";
    assert_fails(&folder.command(line).write_stdin("").output().unwrap(), &["empty"]);
}

#[test]
fn an_input_that_is_not_there() {
    let folder = Folder::new();
    assert_fails(&folder.run("classify missing.txt", ""), &["missing.txt"]);
    assert_fails(&folder.run("classify robots", ""), &["robots"]);
}

#[test]
fn a_damaged_input_leaves_no_output() {
    let folder = Folder::new();
    let whole = zstd::encode_all(ALLOWED.repeat(1000).as_bytes(), 1).unwrap();
    folder.write("cut.zst", &whole[..whole.len() - 4]);
    let line = "filter cut.zst -o out.txt --unknown-to u --invalid-to i";
    assert_fails(&folder.run(line, ""), &["cut.zst"]);
    assert_eq!(folder.names(), ["cut.zst"]);
}

#[test]
fn a_run_that_fails_leaves_an_older_output_alone() {
    let folder = Folder::new();
    folder.write("out.tsv", "before");
    assert_fails(&folder.run("classify missing -o out.tsv", ""), &["missing"]);
    assert_eq!(folder.read("out.tsv"), b"before");
    assert_eq!(folder.names(), ["out.tsv"]);
}

#[test]
fn an_output_in_a_missing_folder() {
    let folder = Folder::new();
    assert_fails(&folder.run("classify -o no/out.tsv", ""), &["no/out.tsv"]);
    assert!(!exists(&folder.path("no")));
}

#[test]
fn a_format_that_contradicts_the_name() {
    let folder = Folder::new();
    assert_fails(&folder.run("classify --format tsv -o x.jsonl", ""), &["x.jsonl", "--format"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    folder.write("urls", ALLOWED.repeat(100));
    for line in ["classify urls", "filter urls", "filter -c urls", "check https://a.example/"] {
        let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("portcullis"))
            .current_dir(folder.folder.path())
            .args(line.split(' '))
            .args(["--robots", "robots", "-a", "Bot"])
            .stdout(full())
            .output()
            .unwrap();
        assert_fails(&output, &["standard output", "No space left"]);
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: Bot\nDisallow: /none\n");
    folder.write("urls", format!("{ALLOWED}\n").repeat(200_000));
    for line in ["classify urls", "classify --format jsonl urls", "filter urls"] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("portcullis"))
            .current_dir(folder.folder.path())
            .args(line.split(' '))
            .args(["--robots", "robots", "-a", "Bot"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before a line is read.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_status(&output, 0);
        assert_eq!(text(&output.stderr), "", "{line}");
    }
}
