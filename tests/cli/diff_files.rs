//! `portcullis diff` of two robots.txt files.

use super::*;

const OLD: &str = "\
User-agent: *
Disallow: /private/

User-agent: One
User-agent: Two
Disallow: /a
Disallow: /a/b
Allow: /*.css$
";

/// One: only the redundant rule is removed. Two: rules added and removed. Three: new, with rules
/// that equal those of the default group.
const NEW: &str = "\
User-agent: Three
Disallow: /private/
Disallow: /private/x

User-agent: one
Disallow: /a
Allow: /*.css$

User-agent: Two
Disallow: /a
Allow: /a/b
Disallow: /c

User-agent: *
Disallow: /private/
Allow: /private/open
";

fn files() -> Folder {
    let folder = Folder::new();
    folder.write("old.txt", OLD);
    folder.write("new.txt", NEW);
    folder
}

#[test]
fn each_agent_that_a_file_names_has_its_answer() {
    let output = files().ok("diff old.txt new.txt");
    let expected = "\
One	equal
Two	different	allow	disallow	no-rule	12:/c	/c
Two	different	disallow	allow	7:/a/b	11:/a/b	/a/b
Three	equal
*	different	disallow	allow	2:/private/	16:/private/open	/private/open
";
    assert_stdout(&output, expected);
    assert_says(&output, &["dialect rfc9309", "old.txt, 2 groups, 4 rules"]);
    assert_says(&output, &["2 equal, 2 different, 0 unknown"]);
}

#[test]
fn the_status_reports_changes_with_a_flag() {
    let folder = files();
    for (line, status) in [
        ("-a One", 0),
        ("-a Three", 0),
        ("-a One,Two", 1),
        ("--user-agent Two/1.0", 1),
        // No file names it.
        ("-a Other", 1),
        ("", 1),
        // Wildcards and Allow have no meaning there.
        ("-a One --dialect original1994", 0),
    ] {
        let output = folder.output(format!("diff --fail old.txt new.txt {line}"));
        assert_status(&output, status);
    }
    folder.ok("diff old.txt new.txt -a Two");
}

#[test]
fn objects_instead_of_lines() {
    let folder = files();
    let output = folder.ok("diff --format jsonl --json old.txt new.txt -a One,Two");
    let objects = json_lines(&output.stdout);
    let equal = json!({"agent": "One", "answer": "equal", "changes": [], "unknown": []});
    assert_eq!(objects[0], equal);
    let change = json!({
        "path": "/c",
        "old": {"verdict": "allow", "reason": "no-rule", "line": null, "rule": null},
        "new": {"verdict": "disallow", "reason": "rule", "line": 12, "rule": "/c"},
    });
    assert_eq!(objects[1]["changes"][0], change);
    let summary = json(&output.stderr);
    assert_eq!(summary["answers"], json!({"equal": 1, "different": 1, "unknown": 0}));
    assert_eq!(summary["new"]["rules"], 9);
}

/// Returns rules whose states are combinations of the letters seen in a path.
fn many_stars(last: &str) -> String {
    let rule = |number: usize| format!("Disallow: /*{number:02}x*{number:02}y$\n");
    let rules: String = (10..60).map(rule).collect();
    format!("User-agent: *\n{rules}{last}")
}

#[test]
fn an_answer_past_a_limit_is_not_equal() {
    let folder = Folder::new();
    // To determine whether the last rule is needed, all combinations are searched.
    folder.write("old.txt", many_stars("Disallow: /*q\nDisallow: /*q*q*z\n"));
    folder.write("new.txt", many_stars("Disallow: /*q\nDisallow: /*q*z*z\n"));
    let output = folder.output("diff old.txt new.txt -a One");
    // The output has either the answer or a note that it is unknown.
    match text(&output.stdout).contains("unknown") {
        true => {
            assert_status(&output, 2);
            assert_says(&output, &["cannot tell"]);
        }
        false => assert_status(&output, 0),
    }
}

#[test]
fn two_files_on_a_list() {
    let folder = files();
    let urls = "https://a.example/a\nhttps://b.example/c\nhttps://a.example/a/b\nnothing\n";
    folder.write("urls", urls);
    let output = folder.ok("diff old.txt new.txt -a Two,Four urls");
    let expected = "\
Two	allow	disallow	no-rule	12:/c	https://b.example/c
Two	disallow	allow	7:/a/b	11:/a/b	https://a.example/a/b
";
    assert_stdout(&output, expected);
    assert_says(&output, &["old: old.txt, ", "new: new.txt, ", "4 records"]);
    let output = folder.ok("diff --dialect original1994 --fail old.txt old.txt -a Two urls");
    assert_stdout(&output, "");
}

#[test]
fn files_that_cannot_be_compared_are_named() {
    let folder = files();
    folder.ok("compile -o a.set robots");
    folder.write("urls", "https://a.example/\n");
    let cases: [(&str, &[&str]); 6] = [
        ("old.txt a.set", &["old.txt is not a policy set", "a.set is one", "portcullis compile"]),
        ("a.set new.txt", &["new.txt is not a policy set", "a.set is one"]),
        ("a.set a.set --dialect google", &["--dialect", "omit"]),
        ("a.set a.set --max-robots-size 1M", &["--max-robots-size", "omit"]),
        ("old.txt new.txt -a One/1", &["One/1"]),
        ("old.txt missing", &["error: missing: no such file or directory"]),
    ];
    for (line, words) in cases {
        assert_fails(&folder.output(format!("diff {line}")), words);
    }
}

#[test]
fn a_file_without_rules_is_one_too() {
    let folder = files();
    folder.write("empty.txt", "");
    let output = folder.output("diff old.txt empty.txt -a One");
    assert_stdout(&output, "One\tdifferent\tdisallow\tallow\t6:/a\tno-rules\t/a\n");
}
