//! Pipes: standard output that is closed or full, and answers that follow their URLs.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use super::*;

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    folder.write("urls", ALLOWED.repeat(100));
    for line in ["classify urls", "filter urls", "filter -c urls", "check https://a.example/"] {
        let mut process = folder.process(&format!("{line} --robots robots -a Bot"));
        let output = process.stdout(full()).output().unwrap();
        assert_fails(&output, &["standard output", "no space left"]);
    }
    let line = "classify urls --robots robots -a Bot --summary json";
    let output = folder.process(line).stderr(full()).output().unwrap();
    assert_status(&output, 2);
    for line in ["--help", "--version", "check --help", "help lint", "--generate man"] {
        let output = folder.process(line).stdout(full()).output().unwrap();
        assert_fails(&output, &["standard output", "no space left"]);
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: Bot\nDisallow: /none\n");
    folder.write("urls", format!("{ALLOWED}\n").repeat(200_000));
    folder.ok("compile --summary none -o x.set robots");
    folder.write("robots/d.example", "User-agent: Bot\nDisallow: /\n");
    folder.ok("compile --summary none -o y.set robots");
    folder.write("robots/d.example", "User-agent: Bot\nDisallow: /none\n");
    folder.write("d.urls", "https://d.example/\n");
    folder.write("old", "User-agent: *\nDisallow: /a\n");
    folder.write("new", "User-agent: *\nDisalow: /b\n");
    for (line, status) in [
        ("classify urls --robots robots -a Bot", 0),
        ("classify --format jsonl urls --robots robots -a Bot", 0),
        ("filter urls --robots robots -a Bot", 0),
        ("inspect x.set", 0),
        // The status is the answer in any case.
        ("check --robots robots -a Bot https://d.example/", 0),
        ("check --robots robots -a Bot https://d.example/ https://d.example/none", 1),
        ("diff old new -a Bot", 1),
        ("diff old old -a Bot", 0),
        ("diff x.set x.set", 0),
        ("diff x.set x.set -a Bot d.urls", 0),
        ("diff x.set y.set", 1),
        ("diff x.set y.set -a Bot d.urls", 1),
        ("lint new", 1),
        ("lint new --exit-zero", 0),
        ("lint new --ignore PC013", 0),
        ("lint new --diff", 1),
    ] {
        let mut process = folder.process(line);
        // Closed before the program begins.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = process.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_status(&output, status);
        assert!(!text(&output.stderr).contains("error:"), "{line}: {}", text(&output.stderr));
    }
}

/// The answer to a line comes while standard input is open. What decides is that it comes at all: the
/// limit is long, so that a busy machine does not fail.
#[cfg(unix)]
#[test]
fn answers_follow_their_urls() {
    let folder = Folder::new();
    for line in ["classify", "classify --format jsonl", "classify --format csv -j1", "filter"] {
        let mut process = folder.process(&format!("{line} --robots robots -a Bot --summary none"));
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = process.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            output.lines().for_each(|line| sender.send(line.unwrap()).unwrap());
        });
        for number in 0..3 {
            writeln!(input, "{ALLOWED}?{number}").unwrap();
            loop {
                let answer = answers.recv_timeout(Duration::from_secs(30)).expect(line);
                // The header of CSV comes with the first answer.
                if answer.contains(&format!("?{number}")) {
                    break;
                }
            }
        }
        drop(input);
        reader.join().unwrap();
        assert!(child.wait().unwrap().success(), "{line}");
        assert!(answers.try_recv().is_err(), "{line}");
    }
}

/// The first lines of a log that comes with pauses show its format, and no client can write another: a host
/// that a client sends is not that of its requests, whatever comes after.
#[cfg(unix)]
#[test]
fn a_log_that_comes_with_pauses_is_read_as_a_whole_one() {
    /// Longer than the program waits for a line.
    const PAUSE: Duration = Duration::from_millis(400);
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: *\nDisallow: /\n");
    folder.write("robots/e.example", "User-agent: *\nDisallow: /none\n");
    let log = |user: &str, forwarded: &str| {
        let time = "[10/Oct/2025:13:55:36 -0700]";
        format!(
            "192.0.2.7 - {user} {time} \"GET /a HTTP/1.1\" 200 23 \"-\" \"-\" \"{forwarded}\"\n"
        )
    };
    let line = "classify --columns verdict --host d.example --robots robots -a Bot --summary none";
    let sent = log("x e.example 192.0.2.8 -", "e.example");
    for (first, others) in [(log("-", "-"), sent.clone()), (sent, log("-", "192.0.2.8"))] {
        let mut process = folder.process(line);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = process.spawn().unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut output = BufReader::new(output);
        for part in [first, others.repeat(2), others.repeat(8)] {
            input.write_all(part.as_bytes()).unwrap();
            std::thread::sleep(PAUSE);
        }
        // Some of the lines were answered while the pipe is open.
        let mut answers = String::new();
        output.read_line(&mut answers).unwrap();
        input.write_all(others.repeat(2).as_bytes()).unwrap();
        drop(input);
        output.read_to_string(&mut answers).unwrap();
        assert_eq!(answers.matches("disallow\t").count(), 13, "{answers}");
        child.wait().unwrap();
    }
}
