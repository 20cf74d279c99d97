//! A list or a mapped set that is truncated or overwritten during a run: a message and status 2 instead of
//! a signal, or of answers from other bytes.
//!
//! The output is not read until the list is truncated. So the program waits after a small part of
//! the list, and must read the truncated part before it can end.

#![allow(unsafe_code, reason = "maps files of this test")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;

use portcullis_dialect::decision::Verdict;
use portcullis_files::limits::CHUNK_BYTES;
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session};
use portcullis_testkit::{agents, ask};

use super::*;

/// More bytes than the program may have read and not written, see `IN_FLIGHT_CHUNKS_PER_THREAD`.
const LIST_BYTES: usize = 24 * 1024 * 1024;

/// Longer than a tick of the clock that dates files.
const CLOCK_TICK: Duration = Duration::from_millis(50);

const CLASSIFY: &str = "classify urls.txt -a Bot --summary none";

/// A run during which a list or a set is truncated.
struct Run {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Run {
    /// Starts `line` and waits for the first record.
    fn start(folder: &Folder, line: &str) -> Run {
        let mut process = folder.process(line);
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        let tag = if line.starts_with("classify") { "allow\t" } else { "" };
        assert!(first.starts_with(&format!("{tag}https://a.example/xxx")), "{first}");
        Run { child, output }
    }

    /// Cuts `path` to `left` bytes and returns the rest of the output. The run ends with an error that
    /// has `words`, not by a signal.
    #[track_caller]
    fn cut(self, path: &Path, left: u64, words: &[&str]) -> Vec<u8> {
        OpenOptions::new().write(true).open(path).unwrap().set_len(left).unwrap();
        self.fails(words)
    }

    /// Returns the rest of the output. The run ends with an error that has `words`, not by a signal.
    #[track_caller]
    fn fails(mut self, words: &[&str]) -> Vec<u8> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        let text = error_text(&mut self.child);
        let status = self.child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(2), None), "{text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
        assert_contains(&text, words);
        assert_contains(&text, &["run again"]);
        rest
    }
}

fn long_list(folder: &Folder) -> PathBuf {
    let line = format!("https://a.example/{}\n", "x".repeat(1_000));
    folder.write("urls.txt", line.repeat(LIST_BYTES / line.len() + 1))
}

fn error_text(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_list_that_is_cut_short_while_it_is_read() {
    for (threads, left) in [(1, 0), (2, 0), (2, LIST_BYTES as u64 / 2)] {
        let folder = Folder::new();
        let list = long_list(&folder);
        let run = Run::start(&folder, &format!("{CLASSIFY} --robots robots -j {threads}"));
        let words = ["urls.txt became shorter while it was read", "run again when nothing writes"];
        run.cut(&list, left, &words);
    }
}

/// A signal that ends the program leaves no unfinished output.
#[test]
fn a_list_that_is_cut_short_leaves_no_output() {
    for left in [0, LIST_BYTES as u64 / 2] {
        let folder = Folder::new();
        let list = long_list(&folder);
        let line = "filter urls.txt --robots robots -a Bot --unknown u -j 2";
        let run = Run::start(&folder, line);
        assert_eq!(folder.names().len(), 2);
        run.cut(&list, left, &[]);
        assert_eq!(folder.names(), ["urls.txt"]);
    }
}

/// A lost page is noticed when it is touched. Lost bytes within a page read as zeros, and are
/// noticed before the run is called complete.
#[test]
fn a_set_that_is_cut_short_while_it_is_mapped() {
    let folder = Folder::new();
    folder.ok("compile robots -o a.set");
    let whole = folder.read("a.set");
    long_list(&folder);
    let cuts = [
        (4_096, "error: a.set became shorter while it was read"),
        (0, "error: a.set became shorter while it was read"),
        (whole.len() as u64 - 1, "a.set became shorter while it was in use"),
    ];
    for (left, message) in cuts {
        let path = folder.write("a.set", &whole);
        let run = Run::start(&folder, &format!("{CLASSIFY} -p a.set -j 2"));
        run.cut(&path, left, &[message]);
    }
}

/// Writes `bytes` over a file in place, without cutting it first, so that no page is ever lost.
fn overwrite(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// Two sets of one length that decide the URLs of the list differently.
fn two_sets(folder: &Folder) -> [Vec<u8>; 2] {
    ["/yyy", "/xxx"].map(|path| {
        let text = format!("User-agent: *\nDisallow: {path}\n");
        folder.write("other/a.example", text);
        folder.ok("compile other -o other.set");
        folder.read("other.set")
    })
}

/// Decisions after a set was overwritten are not reported.
#[test]
fn a_set_that_is_overwritten_while_it_is_mapped() {
    let folder = Folder::new();
    long_list(&folder);
    let [old, new] = two_sets(&folder);
    assert_eq!(old.len(), new.len());
    for line in [CLASSIFY, "filter urls.txt -a Bot --summary none"] {
        for (threads, bytes) in [(1, &new), (2, &new), (2, &old)] {
            let path = folder.write("a.set", &old);
            std::thread::sleep(CLOCK_TICK);
            let run = Run::start(&folder, &format!("{line} -p a.set -j {threads}"));
            overwrite(&path, bytes);
            let rest = run.fails(&["a.set was written to while it was in use"]);
            assert!(!rest.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"disallow")));
            assert!(rest.len() < LIST_BYTES, "what was decided afterwards is reported");
        }
    }
}

/// A run that waits for more records does not decide them by a set that was copied over its own.
#[test]
fn a_set_that_is_copied_over_while_standard_input_waits() {
    let folder = Folder::new();
    let [old, new] = two_sets(&folder);
    let other = folder.write("new.set", &new);
    let line = format!("https://a.example/{}\n", "x".repeat(1_000));
    let records = line.repeat(2 * CHUNK_BYTES / line.len());
    for command in ["classify", "classify --format jsonl", "filter"] {
        let path = folder.write("a.set", &old);
        std::thread::sleep(CLOCK_TICK);
        let mut process = folder.process(&format!("{command} -p a.set -a Bot -j 1 --summary none"));
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process.spawn().unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut run = Run { child, output: BufReader::new(output) };
        input.write_all(records.as_bytes()).unwrap();
        let mut first = String::new();
        run.output.read_line(&mut first).unwrap();
        assert!(first.contains("https://a.example/xxx") && !first.contains("disallow"), "{first}");
        fs::copy(&other, &path).unwrap();
        let rest = std::thread::spawn(move || run.fails(&["a.set", "while it was"]));
        // The program may have ended.
        let _ = input.write_all(records.as_bytes());
        drop(input);
        let rest = rest.join().unwrap();
        assert!(!String::from_utf8(rest).unwrap().contains("disallow"), "{command}");
    }
}

/// To move a set or another one in its place, or to give it other permissions, is no change.
#[test]
fn a_set_that_is_moved_while_it_is_mapped() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    long_list(&folder);
    let [old, new] = two_sets(&folder);
    for number in 0..3 {
        let path = folder.write("a.set", &old);
        let other = folder.write("b.set", &new);
        std::thread::sleep(CLOCK_TICK);
        let Run { mut child, mut output } =
            Run::start(&folder, &format!("{CLASSIFY} -p a.set -j 2"));
        match number {
            0 => fs::rename(&other, &path).unwrap(),
            1 => fs::rename(&path, &other).unwrap(),
            _ => fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap(),
        }
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(rest.lines().all(|line| line.starts_with("allow")));
        assert_eq!(error_text(&mut child), "");
        assert!(child.wait().unwrap().success());
    }
}

/// Lines of a rule set that changed after they were checked are no answer, also for a caller of the
/// library that does not ask whether the set is whole.
#[test]
fn rule_sets_that_are_overwritten_do_not_allow() {
    let folder = Folder::new();
    let [_, closed] = two_sets(&folder);
    let path = folder.write("a.set", &closed);
    std::thread::sleep(CLOCK_TICK);
    // SAFETY: the file keeps its length, so every page of it stays.
    let set = Arc::new(unsafe { PolicySet::map(&path) }.unwrap());
    let classifier = Classifier::new(Arc::clone(&set), agents(&["Bot"], set.dialect())).unwrap();
    let mut session = Session::new(classifier);
    let urls = ["https://a.example/xxxy"; 9];
    let mut verdict = || session.decide(&urls).map(|answers| answers.decisions()[0].verdict());
    assert_eq!(verdict().unwrap(), Verdict::Disallow);
    // The rule set has numbers of parts that are longer than the file.
    let (name, mut start) = ("rule sets", 4_096_usize);
    for (section, bytes) in set.section_bytes() {
        start = start.next_multiple_of(64);
        if section == name {
            let mut changed = closed.clone();
            changed[start..start + bytes as usize].fill(0xff);
            overwrite(&path, &changed);
        }
        start += bytes as usize;
    }
    let found = verdict();
    assert!(!matches!(found, Ok(Verdict::Allow)), "{found:?}");
    let error = set.is_whole().unwrap_err().to_string();
    assert!(error.contains("a.set was written to while it was in use"), "{error}");
}

/// The length is compared before every answer, even if the page that lost bytes was read and
/// compared with its checksums before, and also for a caller of the library.
#[test]
fn a_set_that_is_cut_short_gives_no_answer() {
    let folder = Folder::new();
    folder.ok("compile robots -o a.set");
    let path = folder.path("a.set");
    // SAFETY: the bytes that are cut off here are on the page that holds all queried data.
    let mapped = Arc::new(unsafe { PolicySet::map(&path) }.unwrap());
    let read = Arc::new(PolicySet::open(&path).unwrap());
    let classify = |set: &Arc<PolicySet>| -> Result<Vec<Verdict>, String> {
        let urls = ["https://a.example/x", "https://b.example/"];
        let told = ask(Arc::clone(set), &agents(&["BadBot"], set.dialect()), &urls);
        let told = told.map_err(|refusal| refusal.text)?;
        Ok(told.iter().map(|told| told.decision.verdict).collect())
    };
    let expected = Ok(vec![Verdict::Disallow, Verdict::Allow]);
    assert_eq!((classify(&mapped), classify(&read)), (expected.clone(), expected.clone()));
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    // A header, a block of data, and a block of checksums.
    let length = file.metadata().unwrap().len();
    assert_eq!(length, 3 * 4_096);
    for left in (4_097..length).rev().step_by(7) {
        file.set_len(left).unwrap();
        let error = classify(&mapped).unwrap_err();
        assert!(error.contains("a.set"), "{left}: {error}");
        assert_eq!(classify(&read), expected, "{left}");
    }
}

/// The lost bytes of a list are not decided as another URL.
#[test]
fn a_list_that_is_cut_short_within_a_record() {
    let folder = Folder::new();
    let list = long_list(&folder);
    let length = fs::metadata(&list).unwrap().len();
    let run = Run::start(&folder, &format!("{CLASSIFY} --robots robots -j 2"));
    let rest = run.cut(&list, length - 700, &["urls.txt became shorter while it was read"]);
    assert!(!rest.contains(&0), "zeros were read as URLs");
    assert!(rest.ends_with(b"\n"), "a record that was cut is written");
}

/// The handler is for mapped files alone.
#[test]
fn the_signal_from_elsewhere_still_kills() {
    let folder = Folder::new();
    long_list(&folder);
    let Run { mut child, output: _output } =
        Run::start(&folder, &format!("{CLASSIFY} --robots robots -j 1"));
    let pid = child.id().to_string();
    assert!(Process::new("kill").args(["-BUS", &pid]).status().unwrap().success());
    let mut status = None;
    for _ in 0..1_000 {
        status = child.try_wait().unwrap();
        if status.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let status = status.expect("the program ends");
    assert!(status.code().is_none() && status.signal().is_some(), "{status}");
    assert_eq!(error_text(&mut child), "");
}
