//! The contract of the command line: statuses, formats and messages.
//!
//! [Transcripts](transcript) state most of it: pages that show commands and what they print.
//! Add a new flag or a fixed bug there, under the behaviour that it belongs to. Rust tests what a
//! page cannot: threads, signals, closed pipes, terminals, Parquet, and every kind of file for every
//! flag.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use portcullis_synth::{ArchiveFormat, Corpus};
use portcullis_testkit::files::{assert_stored, project};
use serde_json::{Value, json};
use tempfile::TempDir;

#[cfg(target_os = "linux")]
mod advice;
mod audit;
mod blocks;
mod cases;
mod examples;
#[cfg(unix)]
mod fault;
mod golden;
#[cfg(target_os = "linux")]
mod hostile;
mod json;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod kinds;
#[cfg(target_os = "linux")]
mod limits;
mod lint;
mod lists;
mod names;
mod parquet;
#[cfg(unix)]
mod pipes;
mod records_of_agents;
mod survey;
mod then_and_now;
mod threads;
#[cfg(target_os = "linux")]
mod transcript;
mod usage;
mod visible;

/// The policies of two hosts: `a.example` disallows `/private/` to all and everything to BadBot,
/// `b.example` has a file without rules. No other host is known.
struct Folder {
    folder: TempDir,
}

const A_ROBOTS: &str = include_str!("files/robots/a.example");

impl Folder {
    fn new() -> Folder {
        let folder = Folder { folder: tempfile::tempdir().unwrap() };
        folder.write("robots/a.example", A_ROBOTS);
        folder.write("robots/b.example.txt", "# nothing\n");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and makes the folders above it.
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Writes a made-up corpus with a number of URLs to a folder of this name.
    fn corpus(&self, name: &str, corpus: Corpus, urls: u64, archive: Option<ArchiveFormat>) {
        corpus.write_files(&self.path(name), urls, archive).unwrap();
    }

    /// Returns the names in the folder, including unfinished files.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "robots")
            .collect();
        names.sort();
        names
    }

    /// Returns a command that runs in the folder; `line` is split at blanks.
    fn command(&self, line: &str) -> Command {
        let mut command = portcullis();
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Returns a process that runs `line` in the folder, for tests that control it.
    fn process(&self, line: &str) -> std::process::Command {
        let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_portcullis"));
        process.current_dir(self.folder.path()).args(line.split_whitespace());
        process
    }

    /// Runs `line`, which is split at blanks, in the folder.
    fn output(&self, line: impl AsRef<str>) -> Output {
        self.command(line.as_ref()).output().unwrap()
    }

    /// Runs `line`, which must succeed.
    #[track_caller]
    fn ok(&self, line: impl AsRef<str>) -> Output {
        let output = self.output(&line);
        // As diff(1) does, it says by its status whether there is a difference.
        let differs = line.as_ref().starts_with("diff") && output.status.code() == Some(1);
        assert_status(&output, i32::from(differs));
        output
    }

    /// Runs `line` with `input` as its standard input.
    fn pipe(&self, line: impl AsRef<str>, input: impl AsRef<[u8]>) -> Output {
        self.command(line.as_ref()).write_stdin(input.as_ref()).output().unwrap()
    }

    /// Runs `line` with the policies of the folder, for ExampleBot.
    fn run(&self, line: &str, input: impl AsRef<[u8]>) -> Output {
        self.pipe(format!("{line} --robots robots -a ExampleBot"), input)
    }
}

fn portcullis() -> Command {
    let mut command = Command::cargo_bin("portcullis").unwrap();
    command.env_remove("NO_COLOR");
    command
}

#[track_caller]
fn assert_status(output: &Output, status: i32) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{err}");
}

#[track_caller]
fn assert_stdout(output: &Output, expected: impl AsRef<[u8]>) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text(&output.stdout), text(expected.as_ref()), "{err}");
}

/// Asserts a failure: status 2, no data, and an error with all of `words`.
#[track_caller]
fn assert_fails(output: &Output, words: &[&str]) {
    assert_status(output, 2);
    assert_stdout(output, "");
    assert_says(output, words);
}

/// Asserts that standard error has each of `words`.
#[track_caller]
fn assert_says(output: &Output, words: &[&str]) {
    assert_contains(&text(&output.stderr), words);
}

/// Asserts that `text` has each of `parts`.
#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// Parses `bytes` as a JSON value.
#[track_caller]
fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", text(bytes)))
}

/// Returns a line of an archive: the answer to GET https://HOST/robots.txt on a day, which may be
/// empty.
fn capture(host: &str, day: &str, status: u16, body: &str) -> String {
    let url = format!("https://{host}/robots.txt");
    let fetched_at = (!day.is_empty()).then(|| format!("{day}T00:00:00Z"));
    let capture = json!({ "url": url, "status": status, "fetched_at": fetched_at, "body": body });
    format!("{capture}\n")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the bytes of all members of a gzip file.
fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes);
    std::io::Read::read_to_end(&mut decoder, &mut text).unwrap();
    text
}

/// Returns bytes as text that shows each byte; line ends and quotes are kept.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\n").replace("\\'", "'")
}

/// A URL for each verdict.
const ALLOWED: &str = "https://a.example/";
const DISALLOWED: &str = "https://a.example/private/x";
const UNKNOWN: &str = "https://c.example/";
const INVALID: &str = "nothing";

fn exists(path: &Path) -> bool {
    path.try_exists().unwrap()
}
