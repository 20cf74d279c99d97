//! Blocks of one run: what is decided in one has no effect on the next, whatever their sizes.

use super::*;

/// Crawlers of the crowded file. Each has two groups, one of which all share.
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
fn robots_with_several_rule_groups_leave_nothing_behind() {
    let folder = folder();
    let hosts = [("down", "disallow"), ("gone", "allow"), ("crowded", "allow"), ("new", "unknown")];
    for robot in [1_322].into_iter().chain((ROBOTS - 40..ROBOTS).step_by(7)) {
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

/// Groups of a file: the crawlers that each names, and its rules.
type Groups = Vec<(Vec<usize>, Vec<String>)>;

/// Returns a file of which the rules for all crawlers are more than a set stores: a large group for all of
/// them, one or two for each, and some more for the last ones, in turns before and after the large one.
fn groups_of_all() -> Groups {
    let own = |robot: usize| {
        let rules = ["allow:/x1", "disallow:/x1*", "allow:/x17$", "disallow:/", "allow:/x1"];
        let rules = (0..=robot % 2).map(|rule| rules[(robot + rule) % rules.len()].to_owned());
        (vec![robot], rules.collect())
    };
    let many = |group: usize| {
        let verdict = if group.is_multiple_of(3) { "allow" } else { "disallow" };
        (vec![ROBOTS - 1 - group % 4], vec![format!("{verdict}:/x{}", group % 100)])
    };
    let large = (0..LARGE_GROUP_RULES + 20).map(|rule| match rule % 3 {
        0 => format!("disallow:/x{rule}"),
        1 => format!("allow:/x{rule}*"),
        _ => format!("disallow:/*{rule}/y"),
    });
    let mut groups: Groups = (0..ROBOTS / 2).map(own).chain((0..300).map(many)).collect();
    groups.push(((0..ROBOTS).collect(), large.collect()));
    groups.extend((ROBOTS / 2..ROBOTS).map(own));
    groups
}

/// Returns the file, or the part of it that names a crawler, in the same lines.
fn text_of(groups: &Groups, robot: Option<usize>) -> String {
    let line = |line: String, is_kept: bool| if is_kept { line + "\n" } else { "#\n".to_owned() };
    let mut text = String::new();
    for (robots, rules) in groups {
        let is_named = |named: &usize| robot.is_none_or(|robot| robot == *named);
        let names = robots.iter().map(|it| line(format!("user-agent:a{it}"), is_named(it)));
        text.extend(names);
        text.extend(rules.iter().map(|rule| line(rule.clone(), robots.iter().any(is_named))));
    }
    text
}

#[test]
fn many_robots_with_a_large_group_get_what_their_groups_alone_give() {
    let folder = Folder::new();
    let groups = groups_of_all();
    folder.write("robots/crowded.example", text_of(&groups, None));
    folder.write("robots/other.example", "user-agent: *\ndisallow: /x\n");
    let path = |number: usize| match number % 4 {
        0 => format!("https://other.example/x{number}"),
        1 => format!("https://crowded.example/x{}", number % 230),
        2 => format!("https://crowded.example/x{}/y", number % 61),
        _ => format!("https://crowded.example/{}", number % 3),
    };
    let urls: Vec<String> = (0..3 * BLOCK + 9).map(|number| path(number * 7)).collect();
    folder.write("urls", urls.join("\n"));
    let robots = [3, 4, 669, 670, ROBOTS - 9, ROBOTS - 4, ROBOTS - 2, ROBOTS - 1];
    let columns = "-j1 --summary none --long --columns verdict,reason,line,rule,group urls";
    for dialect in ["rfc9309", "draft2019", "koster1996"] {
        // --robots would compile the rules for the agents of -a alone.
        let flags = format!("--dialect {dialect} --max-robots-size unlimited");
        folder.ok(format!("compile {flags} robots -o a.set"));
        let names = robots.map(|robot| format!("a{robot}")).join(",");
        let rows = |line: String| String::from_utf8(folder.ok(&line).stdout).unwrap();
        let together = rows(format!("classify -p a.set -a {names} {columns}"));
        for robot in robots {
            folder.write("part/crowded.example", text_of(&groups, Some(robot)));
            folder.write("part/other.example", "user-agent: *\ndisallow: /x\n");
            let alone = rows(format!("classify --robots part {flags} -a a{robot} {columns}"));
            let name = format!("a{robot}\t");
            let own = together.lines().filter(|row| row.starts_with(&name));
            assert_eq!(own.clone().count(), urls.len());
            let differing = own.zip(alone.lines()).find(|(own, alone)| own != alone);
            assert_eq!(differing, None, "{dialect} a{robot}");
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
