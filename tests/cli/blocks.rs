//! Blocks of one run: what is decided in one has no effect on the next, whatever their sizes.

use super::*;

/// Robots of the crowded file. Each has two groups, and the rules of both for all of them are more
/// than a set stores.
const ROBOTS: usize = 1_340;
const LARGE_GROUP_RULES: usize = 200;

/// The URLs of a block.
const BLOCK: usize = 128;

/// Returns a folder with a set of a crowded file, and of origins without a file.
fn folder() -> Folder {
    let folder = Folder::new();
    let names = || (0..ROBOTS).map(|robot| format!("user-agent:a{robot}\n"));
    let rules = (0..LARGE_GROUP_RULES).map(|rule| format!("disallow:/x{rule}\n"));
    let usage = "content-usage:/x train-ai=n\n".repeat(LARGE_GROUP_RULES);
    // Equal groups give few stored rule sets, so that the others have the numbers of fixed decisions.
    let groups = names().map(|name| name + "disallow:/own\n");
    let crowded: String = names().chain(rules).chain([usage]).chain(groups).collect();
    assert!(crowded.len() < 80 * 1024, "{}", crowded.len());
    let captures = [("crowded", 200, &*crowded), ("down", 503, ""), ("gone", 404, "")];
    let captures = captures.map(|(host, status, body)| {
        capture(&format!("{host}.example"), "2024-05-01", status, body)
    });
    folder.write("captures.jsonl", captures.concat());
    folder.write("robots/crowded.example", crowded);
    folder.ok("compile captures.jsonl -o a.set");
    folder
}

fn urls(host: &str, count: usize) -> String {
    (0..count).map(|number| format!("https://{host}.example/y{number}\n")).collect()
}

/// Returns the verdicts of a run, the first agent's per URL.
#[track_caller]
fn verdicts(folder: &Folder, line: &str, urls: &str) -> Vec<String> {
    let output = folder.pipe(format!("classify -j1 --summary none {line}"), urls);
    assert_status(&output, 0);
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn rule_sets_that_are_not_stored_leave_nothing_behind() {
    let folder = folder();
    let hosts = [("down", "disallow"), ("gone", "allow"), ("crowded", "allow"), ("new", "unknown")];
    // The last robots are those whose rule sets are not stored.
    for robot in [1_322].into_iter().chain((ROBOTS - 40..ROBOTS).step_by(3)) {
        for (host, verdict) in hosts {
            let two = urls("crowded", BLOCK) + &urls(host, BLOCK);
            let more = two.clone() + &urls("crowded", 3) + &urls(host, 5);
            for list in [two, more] {
                let found = verdicts(&folder, &format!("-p a.set -a a{robot}"), &list);
                assert_eq!(found.len(), list.lines().count());
                for (place, (url, found)) in list.lines().zip(found).enumerate() {
                    let expected = if url.contains("crowded") { "allow" } else { verdict };
                    assert_eq!(found, expected, "a{robot} {host}, record {place}");
                }
            }
        }
    }
}

#[test]
fn blocks_of_other_sizes_and_many_agents() {
    let folder = folder();
    let agents: Vec<String> = (0..10).map(|robot| format!("a{}", ROBOTS - 1 - robot)).collect();
    let agents = agents.join(",");
    for (policies, empty, own) in
        [("-p a.set", "down", "disallow"), ("--robots robots", "b", "allow")]
    {
        for usage in ["", "--usage train-ai"] {
            for (first, last) in [(BLOCK, 3), (3, BLOCK), (2 * BLOCK + 7, 1)] {
                let list = urls("crowded", first) + &urls(empty, last);
                let line = format!("{policies} -a {agents} {usage}");
                let found = verdicts(&folder, &line, &list);
                assert!(found[..first].iter().all(|it| it == "allow"), "{line} {found:?}");
                assert!(found[first..].iter().all(|it| it == own), "{line} {found:?}");
            }
        }
    }
}

/// A table of policies and agents that does not fit into memory is an error.
#[cfg(target_os = "linux")]
#[test]
fn a_table_that_memory_refuses_is_an_error() {
    let folder = Folder::new();
    let captures = (0..20_000).map(|host| {
        capture(
            &format!("h{host}.example"),
            "",
            200,
            &format!("User-agent: *\nDisallow: /{host}\n"),
        )
    });
    folder.write("captures.jsonl", captures.collect::<String>());
    folder.ok("compile captures.jsonl -o a.set");
    let agents: Vec<String> = (0..9_000).map(|agent| format!("b{agent}")).collect();
    folder.write("agents", agents.join(","));
    // The table takes 1.4 GB.
    let line = format!(
        "ulimit -v 1000000; exec {} classify -j1 -p a.set -a \"$(cat agents)\" -",
        env!("CARGO_BIN_EXE_portcullis")
    );
    let mut shell = Command::new("sh");
    shell.current_dir(folder.folder.path()).args(["-c", &line]);
    let output = shell.write_stdin("https://h1.example/\n").output().unwrap();
    assert_fails(&output, &["9000 agents and 20000 policies", "too little memory", "name fewer"]);
}
