//! Reports about hostile files stay within bounds. The tests count bytes and findings, not seconds.

use portcullis_dialect::limits::{
    AGENT_SUGGESTIONS_MAX, INSPECT_USAGE_LINES_MAX, LINT_FINDINGS_PER_CODE_MAX, ROBOTS_BYTES_MAX,
    SHOWN_BYTES_MAX,
};

use super::*;

/// The bytes that an object of JSON Lines may have in addition to the texts that are cut.
const OBJECT_BYTES: usize = 512;

/// Returns a file with one rule of as many stars as fit.
fn long_rule() -> String {
    format!("User-agent: *\nDisallow: /{}\n", "*".repeat(ROBOTS_BYTES_MAX - 64))
}

#[test]
fn a_long_rule_is_cut_wherever_it_is_repeated() {
    let folder = Folder::new();
    folder.write("long", long_rule());
    folder.write("short", "User-agent: *\nAllow: /\n");
    let urls: Vec<String> = (0..50).map(|number| format!("http://a.example/{number}")).collect();
    folder.write("list", urls.join("\n"));
    let output = folder.ok("classify --robots long -a Bot --format jsonl list --no-summary");
    let objects = json_lines(&output.stdout);
    assert_eq!(objects.len(), urls.len());
    for object in &objects {
        assert_eq!((&object["line"], &object["reason"]), (&2.into(), &"rule".into()));
        let rule = object["rule"].as_str().unwrap();
        assert!(rule.len() <= SHOWN_BYTES_MAX && rule.ends_with("*…"), "{rule}");
    }
    assert!(output.stdout.len() <= urls.len() * (OBJECT_BYTES + SHOWN_BYTES_MAX));
    for (line, texts_max) in [
        ("check --robots long -a Bot --json http://a.example/1", 4),
        ("check --robots long -a Bot --explain http://a.example/1", 3),
        ("diff short long", 3),
        ("diff short long --format jsonl", 3),
    ] {
        let output = folder.output(line);
        assert!(output.status.code() < Some(2), "{line}: {}", text(&output.stderr));
        let bytes = output.stdout.len();
        let is_cut = String::from_utf8_lossy(&output.stdout).contains('…');
        assert!(
            is_cut && bytes <= OBJECT_BYTES * 2 + texts_max * SHOWN_BYTES_MAX,
            "{line}: {bytes}"
        );
    }
}

#[test]
fn licences_are_cut_and_counted() {
    const LICENCES: usize = 10_000;
    let folder = Folder::new();
    let licences: String =
        (0..LICENCES).map(|number| format!("License: https://l.example/{number}\n")).collect();
    folder.write("file", format!("User-agent: *\nAllow: /\n{licences}"));
    folder.write("list", "http://a.example/1\nhttp://a.example/2\n");
    for line in [
        "classify --robots file -a Bot --usage search --format jsonl list --no-summary",
        "check --robots file -a Bot --usage search --json http://a.example/1",
    ] {
        for object in json_lines(&folder.ok(line).stdout) {
            let listed = object["licenses"].as_array().unwrap();
            assert_eq!(listed[0], "https://l.example/0");
            let omitted = object["licenses_omitted"].as_u64().unwrap() as usize;
            assert_eq!(listed.len() + omitted, LICENCES, "{line}");
            let bytes: usize = listed.iter().map(|uri| uri.as_str().unwrap().len()).sum();
            assert!((SHOWN_BYTES_MAX..2 * SHOWN_BYTES_MAX).contains(&bytes), "{line}: {bytes}");
        }
    }
}

/// Everything about the agents takes time in proportion to their number.
#[cfg(unix)]
#[test]
fn a_hundred_thousand_agents() {
    const AGENTS: usize = 90_000;
    let folder = Folder::new();
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let name = |number: usize| {
        let letters = [1, 26, 26 * 26, 26 * 26 * 26].map(|unit| letter(number / unit));
        format!("bot-{}\n", letters.iter().collect::<String>())
    };
    folder.write("names", (0..AGENTS).map(name).collect::<String>());
    folder.write("list", "https://a.example/private/x\n");
    let output = std::process::Command::new("sh")
        .current_dir(folder.folder.path())
        // A limit on processor time, which other programs on the machine do not use up.
        .args(["-c", "ulimit -t 10 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_portcullis")])
        .args(["filter", "list", "--robots", "robots", "-a", "@names", "-v", "--json"])
        .output()
        .unwrap();
    assert_status(&output, 0);
    assert_stdout(&output, "https://a.example/private/x\n");
    assert_eq!(json(&output.stderr)["per_agent"].as_array().unwrap().len(), AGENTS);
}

#[test]
fn only_the_first_unnamed_agents_get_a_suggestion() {
    let folder = Folder::new();
    let names: Vec<String> = (0..2 * AGENT_SUGGESTIONS_MAX).map(misspelt).collect();
    let line = format!("filter --robots robots -a {} --json", names.join(","));
    let summary = json(&folder.pipe(&line, ALLOWED).stderr);
    let unnamed = summary["unnamed_agents"].as_array().unwrap();
    assert_eq!(unnamed.len(), names.len());
    let suggested = unnamed.iter().filter(|agent| agent["suggestion"] == "Googlebot").count();
    assert_eq!(suggested, AGENT_SUGGESTIONS_MAX);
}

/// Returns another name for each number, with two letters appended to Googlebot's.
fn misspelt(number: usize) -> String {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    format!("Googlebot{}{}", letter(number), letter(number / 26))
}

#[test]
fn the_usage_of_many_robots_is_inspected() {
    const ROBOTS: usize = 3_000;
    const RECORDS: usize = 2_000;
    let folder = Folder::new();
    let lines = |line: fn(usize) -> String, count| (0..count).map(line).collect::<String>();
    let robots = lines(|number| format!("User-agent: r{number}\n"), ROBOTS);
    let records = lines(|number| format!("Content-Usage: /{number} train-ai=n\n"), RECORDS);
    // The same records hold for all robots.
    let own_rules = lines(|number| format!("User-agent: r{number}\nDisallow: /\n"), ROBOTS);
    let outside = lines(|number| format!("License: https://l.example/{number}\n"), RECORDS);
    folder.write("robots/a.example", outside + &own_rules);
    // Other records hold for each robot.
    let own = |number| format!("User-agent: r{number}\nContent-Usage: /own train-ai=y\n");
    folder.write("robots/b.example", format!("{robots}{records}{}", lines(own, ROBOTS)));
    folder.ok("compile -o set robots");
    for (host, names, all_lines) in
        [("a.example", ROBOTS, RECORDS), ("b.example", 1, ROBOTS * (RECORDS + 1))]
    {
        let output = folder.ok(format!("inspect set {host} --json"));
        assert!(output.stdout.len() < 4 * 1024 * 1024, "{host}: {}", output.stdout.len());
        let object = json(&output.stdout);
        let usage = object["policies"][0]["usage"].as_array().unwrap();
        let last = usage.last().unwrap();
        assert_eq!(last["robots"].as_array().unwrap().len(), names, "{host}");
        let listed: usize = usage.iter().map(|it| it["lines"].as_array().unwrap().len()).sum();
        let omitted: u64 = usage.iter().filter_map(|it| it["lines_omitted"].as_u64()).sum();
        assert_eq!(listed + omitted as usize, all_lines, "{host}");
        assert!(listed <= INSPECT_USAGE_LINES_MAX, "{host}");
        folder.ok(format!("inspect set {host}"));
    }
}

#[test]
fn long_outputs_are_written_in_order() {
    let folder = Folder::new();
    let (agent, rule) = ("b".repeat(2_000), "*".repeat(2_000));
    folder.write("long", format!("User-agent: {agent}\nDisallow: /{rule}\n"));
    const RECORDS: usize = 9_000;
    let urls: String = (0..RECORDS).map(|number| format!("http://a.example/{number}\n")).collect();
    folder.write("list", urls);
    let line = format!("classify --robots long -a {agent} --format jsonl list --json -j 2");
    let output = folder.ok(&line);
    let lines: Vec<&[u8]> =
        output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert!(output.stdout.len() > portcullis_dialect::limits::CHUNK_OUTPUT_BYTES_MAX);
    assert_eq!(lines.len(), RECORDS);
    for (number, line) in lines.iter().enumerate() {
        let start = format!("{{\"url\":\"http://a.example/{number}\",");
        assert!(line.starts_with(start.as_bytes()), "{number}");
    }
    let summary = json(&output.stderr);
    assert_eq!(summary["records"], RECORDS);
    assert_eq!(summary["per_agent"][0]["verdicts"]["disallow"], RECORDS);
}

#[test]
fn every_format_of_lint_counts_what_it_does_not_list() {
    const LINES: usize = 20_000;
    const OMITTED: usize = LINES - LINT_FINDINGS_PER_CODE_MAX;
    const BYTES_MAX: usize = LINT_FINDINGS_PER_CODE_MAX * 2_048;
    let folder = Folder::new();
    folder.write("x", format!("User-agent: *\nDisallow: /a\n{}", "x\n".repeat(LINES)));
    let lint = |flags: &str| {
        let output = folder.ok(format!("lint x {flags}"));
        assert!(output.stdout.len() <= BYTES_MAX, "{flags}: {}", output.stdout.len());
        assert_says(&output, &[&format!("warnings: {LINES}")]);
        String::from_utf8(output.stdout).unwrap()
    };
    let sentence = format!("{OMITTED} more findings of PC011 (no-record) not listed");
    let human = lint("");
    assert!(human.ends_with(&format!("x: {sentence}\n")), "{human}");
    let github = lint("--format github");
    assert!(github.ends_with(&format!("::notice file=x,title=PC011 no-record::{sentence}\n")));
    assert_eq!(github.lines().count(), LINT_FINDINGS_PER_CODE_MAX + 1);
    let report = json(lint("--format json").as_bytes());
    assert_eq!(report["diagnostics"].as_array().unwrap().len(), LINT_FINDINGS_PER_CODE_MAX);
    let omitted = json!([{ "file": "x", "code": "PC011", "findings": OMITTED }]);
    assert_eq!(report["omitted"], omitted);
    let sarif = json(lint("--format sarif").as_bytes());
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    let notification = &invocation["toolExecutionNotifications"][0];
    assert_eq!(notification["message"]["text"], sentence);
    assert_eq!(notification["associatedRule"]["id"], "PC011");
    assert_eq!(lint("--statistics"), format!("{LINES}\t1\tPC011\twarning\tno-record\n"));
    assert_eq!(lint("--fix"), "");
}

#[test]
fn user_agents_apart_by_blanks_are_listed_up_to_the_limit() {
    const AGENTS: usize = 5_000;
    let agents: String = (0..AGENTS).map(|number| format!("User-agent: a{number}\n\n")).collect();
    let folder = Folder::new();
    folder.write("blanks", agents + "Disallow: /\n");
    let report = json(&folder.ok("lint blanks --format json").stdout);
    let omitted = AGENTS - 1 - LINT_FINDINGS_PER_CODE_MAX;
    let expected = json!([{ "file": "blanks", "code": "PC022", "findings": omitted }]);
    assert_eq!(report["omitted"], expected);
    let found = report["diagnostics"].as_array().unwrap();
    let shared = found.iter().find(|found| found["code"] == "PC022").unwrap();
    assert_eq!(shared["dialects"]["original1994"], "two groups");
    assert_eq!(shared["dialects"]["rfc9309"], "one group of both lines");
}

#[test]
fn a_fix_removes_more_lines_than_are_listed() {
    let folder = Folder::new();
    let copies = 3 * LINT_FINDINGS_PER_CODE_MAX;
    folder.write("copies", format!("User-agent: *\n{}", "Disallow: /a\n".repeat(copies)));
    let output = folder.ok("lint copies --fix --in-place");
    assert_eq!(folder.read("copies"), b"User-agent: *\nDisallow: /a\n");
    assert_says(&output, &[&format!("fixed: {}", copies - 1)]);
}

#[test]
fn a_line_of_control_characters_has_few_edits() {
    let folder = Folder::new();
    folder.write("controls", format!("User-agent: *\nDisallow: /{}\n", "\u{8}a".repeat(200_000)));
    let output = folder.ok("lint controls --format json");
    assert!(output.stdout.len() < 64 * 1024, "{}", output.stdout.len());
}

#[test]
fn long_names_and_many_groups_are_inspected() {
    let folder = Folder::new();
    let name = "a".repeat(70_000);
    folder.write("robots/a.example", format!("User-agent: {name}\nDisallow: /\n"));
    let groups = |number| format!("User-agent: x\nDisallow: /{number}\n\n");
    folder.write("robots/b.example", (0..14_000).map(groups).collect::<String>());
    folder.ok("compile -o set robots");
    for (line, bytes_max) in [
        ("inspect set", 32 * 1024),
        ("inspect set a.example", 4 * name.len()),
        ("inspect set b.example", 1024 * 1024 + 512 * 1024),
    ] {
        let output = folder.ok(line);
        let bytes = output.stdout.len();
        assert!((1..=bytes_max).contains(&bytes), "{line}: {bytes}");
    }
}
