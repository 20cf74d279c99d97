//! Reports about hostile files stay within bounds. The tests count bytes and findings, not seconds.

use portcullis_dialect::limits::{LINT_FINDINGS_PER_CODE_MAX, ROBOTS_BYTES_MAX, SHOWN_BYTES_MAX};

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
