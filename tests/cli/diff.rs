//! `portcullis diff`.

use super::*;

fn answer(host: &str, status: u16, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    capture(host, "2024-05-01", status, &body)
}

/// Returns a folder with two sets, `old.set` and `new.set`, between which everything changes that
/// can.
fn sets() -> Folder {
    let folder = Folder::new();
    let one = ["User-agent: One", "Disallow: /x", "User-agent: *", "Disallow: /y"];
    let old = [
        answer("a-gone.example", 200, &["User-agent: *", "Disallow: /"]),
        answer("moved.example", 200, &["User-agent: *", "Disallow: /x"]),
        answer("only-one.example", 200, &one),
        answer("rules.example:8443", 200, &["User-agent: *", "Disallow: /x\ty", "Disallow: /s"]),
        answer("same.example", 200, &["User-agent: *", "Disallow: /"]),
        answer("state.example", 200, &["User-agent: *", "Disallow: /x"]),
    ];
    let moved = ["# moved", "", "User-agent: *", "Disallow: /x # why", "Crawl-delay: 1"];
    let one = ["User-agent: One", "Disallow: /xx", "User-agent: *", "Disallow: /y"];
    let new = [
        answer("b-added.example", 404, &[]),
        answer("moved.example", 200, &moved),
        answer("only-one.example", 200, &one),
        answer("rules.example:8443", 200, &["User-agent: *", "", "Allow: /x", "Disallow: /s"]),
        answer("same.example", 200, &["User-agent: *", "Disallow: /"]),
        answer("state.example", 503, &[]),
    ];
    for (name, lines) in [("old", old.concat()), ("new", new.concat())] {
        folder.write(&format!("{name}.jsonl"), lines);
        folder.ok(format!("compile -o {name}.set {name}.jsonl"));
    }
    folder
}

const CHANGES: &str = "\
gone	https://a-gone.example	rules	-
added	https://b-added.example	-	unavailable allow
rules	https://only-one.example	rules	rules
rules	https://rules.example:8443	rules	rules
state	https://state.example	rules	unreachable disallow
";

#[test]
fn origins_in_the_order_of_hosts() {
    let folder = sets();
    assert_stdout(&folder.ok("diff old.set new.set"), CHANGES);
    assert_stdout(&folder.ok("diff new.set new.set"), "");
    let back = String::from_utf8(folder.ok("diff new.set old.set").stdout).unwrap();
    assert!(back.contains("gone\thttps://b-added.example\tunavailable allow\t-\n"), "{back}");
}

#[test]
fn for_an_agent_rules_change_if_its_own_do() {
    let folder = sets();
    let expected = |only_one: &str| {
        let line = |line: &str| match line.split('\t').nth(1).unwrap() {
            "https://only-one.example" => format!("{line}\t{only_one}\n"),
            "https://rules.example:8443" => format!("{line}\tOne,Two\n"),
            _ => format!("{line}\t\n"),
        };
        CHANGES.lines().map(line).collect::<String>()
    };
    assert_stdout(&folder.ok("diff -a One,Two old.set new.set"), expected("One"));
    let without: String = expected("")
        .replace("One,Two", "Two")
        .lines()
        .filter(|line| !line.contains("only-one"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_stdout(&folder.ok("diff -a Two old.set new.set"), without);
}

#[test]
fn objects_instead_of_lines() {
    let folder = sets();
    let output = folder.ok("diff --format jsonl -a One old.set new.set");
    let objects = json_lines(&output.stdout);
    let kinds: Vec<&str> = objects.iter().map(|it| it["change"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["gone", "added", "rules", "rules", "state"]);
    assert_eq!(objects[0]["new"], Value::Null);
    assert_eq!(objects[1]["new"], json!({"state": "unavailable", "verdict": "allow"}));
    assert_eq!(objects[2]["agents"], json!(["One"]));
    assert_eq!(objects[4]["old"], json!({"state": "rules", "verdict": null}));
}

const URLS: &str = "\
https://a-gone.example/
https://b-added.example/

https://moved.example/x
https://only-one.example/x
nothing
 https://rules.example:8443/x%09y 
https://rules.example:8443/s
https://same.example/
https://state.example/y
";

const URL_CHANGES: &str = "\
One	disallow	unknown	2:/	no-policy	https://a-gone.example/
Two	disallow	unknown	2:/	no-policy	https://a-gone.example/
One	unknown	allow	no-policy	unavailable	https://b-added.example/
Two	unknown	allow	no-policy	unavailable	https://b-added.example/
One	disallow	allow	2:/x	no-rule	https://only-one.example/x
One	disallow	allow	2:/x%09y	3:/x	 https://rules.example:8443/x%09y 
Two	disallow	allow	2:/x%09y	3:/x	 https://rules.example:8443/x%09y 
One	allow	disallow	no-rule	unreachable	https://state.example/y
Two	allow	disallow	no-rule	unreachable	https://state.example/y
";

#[test]
fn urls_whose_verdict_changes_with_both_rules() {
    let folder = sets();
    folder.write("urls", URLS);
    assert_stdout(&folder.ok("diff old.set new.set -a One,Two urls"), URL_CHANGES);
    assert_stdout(&folder.pipe("diff -a One,Two old.set new.set -", URLS), URL_CHANGES);
    assert_stdout(&folder.ok("diff new.set new.set -a One urls"), "");
}

#[test]
fn urls_as_objects() {
    let folder = sets();
    folder.write("urls", "https://only-one.example/x\n");
    let output = folder.ok("diff --format jsonl old.set new.set -a One urls");
    let expected = concat!(
        r#"{"url":"https://only-one.example/x","agent":"One","#,
        r#""old":{"verdict":"disallow","reason":"rule","line":2,"rule":"/x","group":"One"},"#,
        r#""new":{"verdict":"allow","reason":"no-rule","line":null,"rule":null,"group":"One"}}"#,
        "\n"
    );
    assert_stdout(&output, expected);
}

#[test]
fn lists_are_read_as_classify_reads_them() {
    let folder = sets();
    folder.write("urls.zst", zstd::encode_all(URLS.as_bytes(), 1).unwrap());
    assert_stdout(&folder.ok("diff old.set new.set -a One,Two urls.zst"), URL_CHANGES);
    folder.write("nul", b"only-one.example/x\0https://same.example/\0");
    let output = folder.ok("diff old.set new.set -a One -0 --assume-scheme https nul");
    assert_stdout(&output, b"One\tdisallow\tallow\t2:/x\tno-rule\tonly-one.example/x\0");
    let header = "Mozilla/5.0 (compatible; One/1.0)";
    folder.write("urls", URLS);
    let mut command = folder.command("diff old.set new.set urls --user-agent");
    let output = command.arg(header).output().unwrap();
    let ones = URL_CHANGES.lines().filter_map(|line| line.strip_prefix("One"));
    assert_stdout(&output, ones.map(|line| format!("{header}{line}\n")).collect::<String>());
}

#[test]
fn the_output_is_the_same_for_any_number_of_threads() {
    let folder = sets();
    folder.write("urls", URLS.repeat(20_000));
    let expected = URL_CHANGES.repeat(20_000);
    for threads in [1, 2, 5] {
        let output = folder.ok(format!("diff -j {threads} old.set new.set -a One,Two urls"));
        assert!(output.stdout == expected.as_bytes(), "{threads} threads");
    }
}

#[test]
fn changes_agree_with_classify_on_each_set() {
    let folder = sets();
    let synth = "synth --hosts 300 --urls 20000 --format jsonl";
    for (seed, name) in [(1, "one"), (2, "two")] {
        folder.ok(format!("{synth} --seed {seed} -o {name}"));
        folder.ok(format!("compile -o {name}.set {name}/robots.jsonl"));
    }
    let tagged = |set: &str| {
        let line = format!("classify -p {set} -a One,Googlebot one/urls.txt two/urls.txt");
        String::from_utf8(folder.ok(&line).stdout).unwrap()
    };
    let (old, new) = (tagged("one.set"), tagged("two.set"));
    let mut expected = Vec::new();
    for (old, new) in old.lines().zip(new.lines()) {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.splitn(3, '\t').collect(), new.splitn(3, '\t').collect());
        for (agent, name) in ["One", "Googlebot"].into_iter().enumerate() {
            if old[agent] != new[agent] {
                expected.push([name, old[agent], new[agent], new[2]].join("\t"));
            }
        }
    }
    let line = "diff one.set two.set -a One,Googlebot one/urls.txt two/urls.txt";
    let output = String::from_utf8(folder.ok(line).stdout).unwrap();
    let found: Vec<String> = output
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.splitn(6, '\t').collect();
            [columns[0], columns[1], columns[2], columns[5]].join("\t")
        })
        .collect();
    assert!(found.len() > 1_000, "{}", found.len());
    assert!(found == expected);
}

#[test]
fn the_summary_counts() {
    let folder = sets();
    let words = [
        "old: old.set, set ",
        "new: new.set, set ",
        "captured from 2024-05-01T00:00:00Z",
        "origins: added 1, gone 1, state 1, rules 2, unchanged 2",
        "One: rules 2",
        "Two: rules 1",
    ];
    assert_says(&folder.ok("diff old.set new.set -a One,Two"), &words);
    let object = json(&folder.ok("diff --json old.set new.set -a One").stderr);
    let changes = json!({"added": 1, "gone": 1, "state": 1, "rules": 2, "unchanged": 2});
    assert_eq!(object["changes"], changes);
    assert_eq!(object["per_agent"], json!([{"agent": "One", "rules": 2}]));
    assert_eq!((&object["old"]["origins"], &object["same_dialect"]), (&6.into(), &true.into()));
    folder.write("urls", URLS);
    let output = folder.ok("diff old.set new.set -a One,Two urls");
    let two = "Two: unchanged 6, changed 4 (allow to disallow 1, disallow to allow 1, \
               disallow to unknown 1, unknown to allow 1)";
    assert_says(&output, &["10 records", "One: unchanged 5, changed 5", two]);
    let object = json(&folder.ok("diff --json old.set new.set -a One urls").stderr);
    assert_eq!(object["records"], 10);
    assert_eq!(object["per_agent"][0]["verdicts"]["disallow to allow"], 2);
    assert_eq!(text(&folder.ok("diff --no-summary old.set new.set").stderr), "");
}

#[test]
fn other_dialects_and_sizes_are_noted() {
    let folder = sets();
    folder.ok("compile --dialect google --max-robots-size 1M -o google.set old.jsonl");
    let output = folder.ok("diff old.set google.set");
    assert_stdout(&output, "");
    assert_says(&output, &["dialects differ, rfc9309 and google"]);
    assert_says(&output, &["512000 bytes and 1048576 bytes"]);
    let object = json(&folder.ok("diff --json old.set google.set").stderr);
    assert_eq!(object["same_dialect"], false);
    assert_eq!(object["same_max_robots_size"], false);
    // An agent must be valid in both dialects.
    let output = folder.output("diff old.set google.set -a MJ12bot");
    assert_fails(&output, &["MJ12bot"]);
}

#[test]
fn the_exit_status_reports_changes_with_a_flag() {
    let folder = sets();
    folder.write("same", "https://same.example/\n");
    folder.write("other", "https://state.example/\n");
    for (line, status) in [
        ("diff old.set new.set", 0),
        ("diff --fail old.set new.set", 1),
        ("diff --fail old.set old.set", 0),
        ("diff --fail old.set new.set -a One same", 0),
        ("diff --fail old.set new.set -a One other", 1),
    ] {
        assert_status(&folder.output(line), status);
    }
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = sets();
    folder.ok("diff -o out.tsv.gz old.set new.set");
    assert_eq!(decompressed("out.tsv.gz", &folder.read("out.tsv.gz")), CHANGES.as_bytes());
    folder.ok("diff -o out.jsonl old.set new.set");
    assert!(folder.read("out.jsonl").starts_with(b"{\"change\":\"gone\""));
}

#[test]
fn damaged_and_wrong_inputs_are_named() {
    let folder = sets();
    folder.write("urls", URLS);
    let mut damaged = folder.read("new.set");
    let middle = damaged.len() / 3;
    damaged[middle..].iter_mut().for_each(|byte| *byte ^= 1);
    folder.write("damaged.set", &damaged);
    let before = folder.names();
    let cases = [
        ("old.set damaged.set -o out.tsv", "damaged.set is damaged"),
        ("old.set damaged.set -a One urls -o out.tsv", "damaged.set is damaged"),
        ("old.set new.set -a A/1 urls", "A/1"),
        ("old.set new.set -a One missing", "missing"),
    ];
    for (line, word) in cases {
        assert_fails(&folder.output(format!("diff {line}")), &[word]);
        assert_eq!(folder.names(), before, "{line}");
    }
}
