//! `portcullis merge`.

use super::*;

/// Returns a capture of a file of `host` that disallows `path`, with a date or undated.
fn disallows(host: &str, day: &str, path: &str) -> String {
    capture(host, day, 200, &format!("User-agent: *\nDisallow: {path}\n"))
}

/// Returns a folder with two archives, `one.jsonl` and `two.jsonl`, and their sets.
fn archives() -> Folder {
    let folder = Folder::new();
    let one = [
        disallows("a.example", "2024-05-02", "/one-newer"),
        disallows("b.example", "2024-05-01", "/one-older"),
        disallows("only-one.example", "", "/one"),
    ];
    let two = [
        disallows("a.example", "2024-05-01", "/two-older"),
        disallows("b.example", "2024-05-02", "/two-newer"),
        "broken\n".to_owned(),
    ];
    folder.write("one.jsonl", one.concat());
    folder.write("two.jsonl", two.concat());
    for name in ["one", "two"] {
        run(&folder, &format!("compile -o {name}.set {name}.jsonl"));
    }
    folder
}

#[track_caller]
fn run(folder: &Folder, line: &str) -> Output {
    let output = folder.ok(line);
    assert_stdout(&output, "");
    output
}

#[test]
fn parts_that_were_compiled_apart_join_to_the_set_of_all() {
    let folder = archives();
    run(&folder, "compile -o all.set one.jsonl two.jsonl robots");
    run(&folder, "compile -o rest.set robots");
    for threads in [1, 3] {
        run(&folder, &format!("merge -o merged.set -j {threads} one.set two.set rest.set"));
        assert!(folder.read("merged.set") == folder.read("all.set"));
    }
    run(&folder, "merge -o two-three.set two.set rest.set");
    run(&folder, "merge -o merged.set one.set two-three.set");
    assert!(folder.read("merged.set") == folder.read("all.set"));
    run(&folder, "verify merged.set");
}

#[test]
fn one_set_alone_stays_as_it_is() {
    let folder = archives();
    run(&folder, "merge -o same.set two.set");
    assert!(folder.read("same.set") == folder.read("two.set"));
}

#[test]
fn the_newest_capture_counts_in_any_order() {
    let folder = archives();
    for sets in ["one.set two.set", "two.set one.set"] {
        run(&folder, &format!("merge -o merged.set {sets}"));
        let urls = [
            ("https://a.example/one-newer", "disallow"),
            ("https://a.example/two-older", "allow"),
            ("https://b.example/two-newer", "disallow"),
            ("https://b.example/one-older", "allow"),
            ("https://only-one.example/one", "disallow"),
            ("http://a.example/", "unknown"),
        ];
        let list: String = urls.map(|(url, _)| format!("{url}\n")).concat();
        let output = folder.pipe("classify -p merged.set -a Bot", list);
        assert_stdout(&output, urls.map(|(url, verdict)| format!("{verdict}\t{url}\n")).concat());
    }
}

#[test]
fn the_summary_has_sets_and_inputs() {
    let folder = archives();
    let output = run(&folder, "merge -o merged.set one.set two.set");
    assert_says(&output, &["one.set: set ", "3 origins", "in 2 inputs", "merged.set: "]);
    assert_says(&output, &["5 captures, 1 broken record, "]);
    let object = json(&run(&folder, "merge --json -o merged.set one.set two.set").stderr);
    assert_eq!(object["sets"][1]["name"], "two.set");
    assert_eq!(object["sets"][1]["origins"], 2);
    assert_eq!(object["inputs"][1]["name"], "two.jsonl");
    assert_eq!(object["inputs"][1]["broken_records"].as_array().unwrap().len(), 1);
    assert_eq!(object["origins"], 3);
    assert_eq!(object["states"]["rules"], 3);
    assert_eq!(text(&run(&folder, "merge --no-summary -o merged.set one.set").stderr), "");
    // `compile` merges no sets.
    let object = json(&run(&folder, "compile --json -o x.set one.jsonl").stderr);
    assert_eq!(object.get("sets"), None);
}

#[test]
fn sets_that_were_compiled_differently_are_refused() {
    let folder = archives();
    run(&folder, "compile --dialect google -o google.set two.jsonl");
    run(&folder, "compile --max-robots-size 1K -o small.set two.jsonl");
    run(&folder, "compile --max-robots-size unlimited -o all.set two.jsonl");
    let cases: [(&str, &[&str]); 3] = [
        ("google.set", &["one.set", "rfc9309", "google.set", "google", "--dialect"]),
        ("small.set", &["one.set", "512000", "small.set", "1024", "--max-robots-size"]),
        ("all.set", &["512000", "unlimited", "--max-robots-size"]),
    ];
    for (other, words) in cases {
        assert_fails(&folder.output(format!("merge -o merged.set one.set {other}")), words);
        assert!(!exists(&folder.path("merged.set")));
    }
}

#[test]
fn files_that_cannot_be_merged_are_named_and_nothing_is_left() {
    let folder = archives();
    let mut damaged = folder.read("two.set");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.write("damaged.set", &damaged);
    folder.write("short.set", &damaged[..middle]);
    let before = folder.names();
    let cases: [(&str, &[&str]); 8] = [
        (
            "-o x.set one.set one.jsonl",
            &["one.jsonl: captures as JSON Lines, not a policy set", "portcullis compile"],
        ),
        ("-o x.set one.set missing.set", &["error: missing.set: no such file or directory"]),
        ("-o x.set one.set robots", &["robots: a folder, not a policy set"]),
        ("-o x.set one.set short.set", &["short.set is cut short"]),
        ("-o x.set one.set damaged.set", &["damaged.set is damaged"]),
        ("-o one.set one.set two.set", &["one.set is also an input"]),
        ("-o - one.set", &["name a file"]),
        ("-o no/x.set one.set", &["no/x.set: no such folder"]),
    ];
    for (line, words) in cases {
        assert_fails(&folder.output(format!("merge {line}")), words);
        assert_eq!(folder.names(), before, "{line}");
    }
    for line in ["merge", "merge one.set", "merge -o x.set"] {
        assert_status(&folder.output(line), 2);
    }
}
