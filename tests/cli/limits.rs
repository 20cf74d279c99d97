//! Limits: a command whose threads cannot start says so, and compiling keeps to its memory.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::Duration;

use portcullis_robots::access::UnixSeconds;

use super::*;

/// An ID that no process of a system has. Limits do not bind the superuser.
const OTHER_USER: u32 = 61_234;

/// The limits: none of a pool's four threads starts, or some do.
const LIMITS: [u32; 3] = [1, 3, 5];

#[test]
fn threads_that_cannot_start_are_an_error() {
    let folder = Folder::new();
    // Another user must be able to run the program and to write here.
    let program = folder.path("portcullis");
    fs::copy(env!("CARGO_BIN_EXE_portcullis"), &program).unwrap();
    fs::set_permissions(folder.path("."), Permissions::from_mode(0o777)).unwrap();
    let is_root = fs::metadata(folder.path(".")).unwrap().uid() == 0;
    folder.write("urls", "https://a.example/private/\n");
    folder.write("x.jsonl", capture("a.example", "2024-01-01", 200, A_ROBOTS));
    folder.ok("compile --history --summary none -o x.pcs x.jsonl");
    folder.ok("compile --summary none -o y.pcs robots");
    for line in [
        "inspect x.pcs",
        "inspect --verify x.pcs a.example",
        "inspect x.pcs a.example",
        "check --robots robots -a ExampleBot https://b.example/",
        "classify -p x.pcs -a ExampleBot urls -j4",
        "filter --robots robots -a ExampleBot urls -j4",
        "compile -o new.pcs robots -j4",
        "compile -o new.pcs x.pcs y.pcs -j4",
        "diff x.pcs x.pcs -a ExampleBot urls -j4",
        "audit -p x.pcs -a ExampleBot --format json urls -j4",
        "survey -p x.pcs -a ExampleBot -j4",
        "survey -p x.pcs --sitemaps -j4",
        "lint robots -j4",
    ] {
        let mut failed = 0;
        for limit in LIMITS {
            // What bash calls -u is -p in dash.
            let script = format!(
                "ulimit -u {limit} 2>/dev/null || ulimit -p {limit}; exec ./portcullis \"$@\""
            );
            let mut command = std::process::Command::new("sh");
            command.args(["-c", &*script, "sh"]).args(line.split(' '));
            command.current_dir(folder.path(".")).stdin(std::process::Stdio::null());
            if is_root {
                command.uid(OTHER_USER);
            }
            let output = command.output().unwrap();
            if output.status.success() {
                // It needs no threads, or no more than there may be.
                fs::remove_dir_all(folder.path("made")).ok();
                continue;
            }
            failed += 1;
            assert_fails(&output, &["error: cannot start ", " thread", "raise the limit"]);
            let said = text(&output.stderr);
            let reason = "Resource temporarily unavailable";
            assert_eq!(said.matches(reason).count(), 1, "{line}: {said}");
        }
        assert_eq!(failed > 0, line != "inspect x.pcs a.example", "{line}");
    }
}

/// Runs the program, and returns the most memory that it was seen to use, in KiB.
fn peak(folder: &Folder, line: &str) -> u64 {
    let mut process = folder.process(line);
    let mut child = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (path, mut peak) = (format!("/proc/{}/status", child.id()), 0);
    let status = loop {
        let status = fs::read_to_string(&path).unwrap_or_default();
        let found = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = found.and_then(|found| found.split_whitespace().next()?.parse().ok());
        peak = peak.max(found.unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(status.success(), "{line}");
    peak
}

/// The resident memory of a compile, and of verifying its set, is at most `--memory` and 64 MiB.
#[test]
fn what_is_compiled_takes_little_more_than_its_memory() {
    const KIBIBYTES_MAX: u64 = (64 + 64) * 1024;
    const DAY: u64 = 24 * 60 * 60;
    let folder = Folder::new();
    let record = |host: String, time: u64, rest: serde_json::Value| {
        let url = format!("https://{host}.example/robots.txt");
        let mut record =
            json!({ "url": url, "fetched_at": UnixSeconds(1_600_000_000 + time).to_rfc3339() });
        record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let names = (0..9).map(|file| {
        let names: String =
            (0..30_000).map(|name| format!("user-agent:b{file}x{name}\n")).collect();
        record(format!("h{file}"), 0, json!({ "status": 200, "body": names + "disallow:/\n" }))
    });
    folder.write("names.jsonl", names.collect::<String>());
    let small = (0..100_000).map(|host| {
        let body = format!("User-agent: *\nDisallow: /{host}\n");
        record(format!("h{host}"), 0, json!({ "status": 200, "body": body }))
    });
    folder.write("small.jsonl", small.collect::<String>());
    // Hosts that redirect to one file, which is captured every day.
    let own = (0..2_000).flat_map(|host| {
        [host, 1_000 * DAY + host].map(|time| {
            let location = json!({ "Location": "https://file.example/robots.txt" });
            record(format!("h{host}"), time, json!({ "status": 301, "headers": location }))
        })
    });
    let file = (1..=2_000).map(|day| {
        let body = "User-agent: *\nDisallow: /x\n";
        record("file".into(), day * DAY, json!({ "status": 200, "body": body }))
    });
    folder.write("redirects.jsonl", own.chain(file).collect::<String>());
    // Files whose rules are all distinct, and redirects to long URLs: what is in memory of a piece is not
    // counted in hosts alone.
    let rules = (0..90).map(|file| {
        let rules: String = (0..22_000).map(|rule| format!("Disallow: /{file}{rule}\n")).collect();
        record(
            format!("h{file}"),
            0,
            json!({ "status": 200, "body": "User-agent: a\n".to_owned() + &rules }),
        )
    });
    folder.write("rules.jsonl", rules.collect::<String>());
    let targets = (0..2_500).map(|host| {
        let location = format!("https://x{host}.example/{}", "y".repeat(30_000));
        record(format!("h{host}"), 0, json!({ "status": 301, "headers": { "Location": location } }))
    });
    folder.write("targets.jsonl", targets.collect::<String>());
    for (name, options) in [
        ("names", "--max-robots-size unlimited"),
        ("small", ""),
        ("redirects", "--history"),
        ("rules", ""),
        ("targets", ""),
    ] {
        // Each thread more may take 16 MiB more, if the others wait for a processor.
        let line = format!("compile -j1 --memory 64MiB {options} {name}.jsonl -o {name}.set");
        let peak = peak(&folder, &line);
        assert!(peak <= KIBIBYTES_MAX, "{name}: {peak} KiB");
    }
    for name in ["rules", "targets"] {
        let peak = peak(&folder, &format!("inspect --verify --memory 64MiB {name}.set"));
        assert!(peak <= KIBIBYTES_MAX, "verified {name}: {peak} KiB");
    }
    assert!(folder.read("redirects.set").len() < 2_000_000);
    // Sets of long files, whose mapped pages count too.
    for set in ["one", "two"] {
        let line = |file, line| {
            format!("Sitemap: https://{set}{file}.example/{line}/{}\n", "x".repeat(2_000))
        };
        let files = (0..150).map(|file| {
            let body: String = (0..240).map(|number| line(file, number)).collect();
            record(format!("{set}{file}"), 0, json!({ "status": 200, "body": body }))
        });
        folder.write(&format!("{set}.jsonl"), files.collect::<String>());
        folder.ok(format!("compile --memory 64MiB {set}.jsonl -o {set}.set"));
    }
    let peak = peak(&folder, "compile --memory 64MiB one.set two.set -o both.set");
    assert!(peak <= KIBIBYTES_MAX, "sets: {peak} KiB");
}
