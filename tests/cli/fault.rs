//! A mapped list or set that is truncated during a run: a message and status 2 instead of a signal.
//!
//! The output is not read until the list is truncated, so the program waits after a small part of the list,
//! and must read the truncated part before it can end.

#![allow(unsafe_code, reason = "maps files of this test")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;

use portcullis_dialect::decision::Verdict;
use portcullis_robots::policy::{AgentChain, Detail};
use portcullis_set::batch::Classifier;
use portcullis_set::{Damage, PolicySet};

use super::*;

/// More than the program may have read and not written, see `IN_FLIGHT_CHUNKS_PER_THREAD`.
const LIST_BYTES: usize = 24 * 1024 * 1024;

fn start(folder: &Folder, threads: &str, list: &str) -> Child {
    start_with(folder, ["--robots", "robots"], threads, list)
}

fn start_with(folder: &Folder, policies: [&str; 2], threads: &str, list: &str) -> Child {
    Process::new(env!("CARGO_BIN_EXE_portcullis"))
        .current_dir(folder.folder.path())
        .arg("classify")
        .args(policies)
        .args(["-a", "Bot", "--no-summary", "-j", threads, list])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
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
fn a_list_that_is_cut_short_while_it_is_mapped() {
    for (threads, left) in [("1", 0), ("2", 0), ("2", LIST_BYTES as u64 / 2)] {
        let folder = Folder::new();
        let list = long_list(&folder);
        let mut child = start(&folder, threads, "urls.txt");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        assert!(first.starts_with("allow\thttps://a.example/xxx"), "{first}");
        OpenOptions::new().write(true).open(&list).unwrap().set_len(left).unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let text = error_text(&mut child);
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(2), None), "{text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
        assert!(text.contains("became shorter while it was read"), "{text}");
        assert!(text.contains("run again when nothing writes"), "{text}");
    }
}

/// A signal that ends the program leaves no unfinished output.
#[test]
fn a_list_that_is_cut_short_leaves_no_output() {
    for left in [0, LIST_BYTES as u64 / 2] {
        let folder = Folder::new();
        let list = long_list(&folder);
        let mut child = Process::new(env!("CARGO_BIN_EXE_portcullis"))
            .current_dir(folder.folder.path())
            .args("filter urls.txt --robots robots -a Bot --unknown-to u -j 2".split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        assert_eq!(folder.names().len(), 2);
        OpenOptions::new().write(true).open(&list).unwrap().set_len(left).unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let text = error_text(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{text}");
        assert_eq!(folder.names(), ["urls.txt"]);
    }
}

/// A page that is gone is noticed when it is touched; bytes that are gone within a page read as
/// zeros, and are noticed before the run is called complete.
#[test]
fn a_set_that_is_cut_short_while_it_is_mapped() {
    let folder = Folder::new();
    folder.ok("compile robots -o a.set");
    let whole = folder.read("a.set");
    long_list(&folder);
    let cuts = [
        (4_096, "became shorter while it was read"),
        (0, "became shorter while it was read"),
        (whole.len() as u64 - 1, "a.set became shorter while it was in use"),
    ];
    for (left, message) in cuts {
        let path = folder.write("a.set", &whole);
        let mut child = start_with(&folder, ["-p", "a.set"], "2", "urls.txt");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        assert!(first.starts_with("allow\thttps://a.example/xxx"), "{first}");
        OpenOptions::new().write(true).open(&path).unwrap().set_len(left).unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let text = error_text(&mut child);
        let status = child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (Some(2), None), "{text}");
        assert!(text.contains(message) && text.contains("run again"), "{text}");
    }
}

/// Every answer comes after the length was compared, also where the page that the file has lost a part
/// of was read and compared with its checksums before, and also for a caller of the library.
#[test]
fn a_set_that_is_cut_short_gives_no_answer() {
    let folder = Folder::new();
    folder.ok("compile robots -o a.set");
    let path = folder.path("a.set");
    // SAFETY: what is cut off here is a part of the page that holds all that is asked for.
    let mapped = Arc::new(unsafe { PolicySet::map(&path) }.unwrap());
    let read = Arc::new(PolicySet::open(&path).unwrap());
    let classify = |set: &Arc<PolicySet>| -> Result<Vec<Verdict>, String> {
        let agents = vec![AgentChain::parse("BadBot", set.dialect()).unwrap()];
        let damaged = |damage: Damage| damage.to_string();
        let classifier = Classifier::new(Arc::clone(set), agents, Detail::Reason);
        let classifier = classifier.map_err(|error| error.to_string())?;
        let mut memory = classifier.memory();
        let urls = ["https://a.example/x", "https://b.example/"];
        let decisions = classifier.classify(&urls, None, &mut memory).map_err(damaged)?;
        Ok(decisions.iter().map(|decision| decision.verdict).collect())
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

/// What a list has lost is not decided as another URL.
#[test]
fn a_list_that_is_cut_short_within_a_page() {
    let folder = Folder::new();
    let list = long_list(&folder);
    let length = fs::metadata(&list).unwrap().len();
    let mut child = start(&folder, "2", "urls.txt");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    OpenOptions::new().write(true).open(&list).unwrap().set_len(length - 700).unwrap();
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(!rest.contains(&0), "zeros were read as URLs");
    assert!(rest.len() < length as usize, "what was decided after the cut is written");
    let text = error_text(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(2), "{text}");
    assert!(text.contains("urls.txt became shorter while it was read"), "{text}");
}

/// The handler is for mapped files alone.
#[test]
fn the_signal_from_elsewhere_still_kills() {
    let folder = Folder::new();
    long_list(&folder);
    let mut child = start(&folder, "1", "urls.txt");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
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
