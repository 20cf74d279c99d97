//! `classify --usage` and `filter --purpose`: what pages may be used for.

use serde_json::{Value, json};

use super::*;

const ROBOTS: &str = "License: https://l.example/all\nUser-agent: *\n\
    Content-Usage: search=y, train-ai=n\nContent-Usage: /open/ train-ai=y\n\
    Content-Signal: /late ai-input=no\nDisallow: /private\n\nUser-agent: Other\nDisallow: /x\n";

const URLS: &str = "https://a.example/\nhttps://a.example/open/1\nhttps://a.example/late\n\
    https://a.example/private\nhttps://u.example/\nno url\n";

/// A folder with a file that has preferences, and the set of it.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("sites")).unwrap();
    folder.write("sites/a.example", ROBOTS);
    folder.ok("compile -o a.set sites");
    folder
}

fn told(folder: &Folder, line: &str) -> String {
    let output = folder.command(line).write_stdin(URLS).output().unwrap();
    assert_status(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_column_for_each_label_follows_the_verdict() {
    let folder = folder();
    let expected = "Bot\tBot_train-ai\tBot_search\tOther\tOther_train-ai\tOther_search\turl\n\
        allow\tn\ty\tallow\t?\t?\thttps://a.example/\n\
        allow\ty\t?\tallow\t?\t?\thttps://a.example/open/1\n\
        allow\t?\t?\tallow\t?\t?\thttps://a.example/late\n\
        disallow\t-\t-\tallow\t?\t?\thttps://a.example/private\n\
        unknown\t-\t-\tunknown\t-\t-\thttps://u.example/\n\
        invalid\t-\t-\tinvalid\t-\t-\tno url\n";
    for policies in ["-p a.set", "--robots sites"] {
        let flags = "-a Bot,Other --usage train-ai,search --header --no-summary";
        assert_eq!(told(&folder, &format!("classify {policies} {flags}")), expected);
    }
}

#[test]
fn json_lines_say_where_each_label_is_stated() {
    let folder = folder();
    let lines = told(
        &folder,
        "classify -p a.set -a Bot --usage train-ai,ai-use --format jsonl --no-summary",
    );
    let objects: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(objects[0]["usage"], json!({"train-ai": "n", "ai-use": "?"}));
    assert_eq!(objects[0]["usage_line"], json!({"train-ai": 3, "ai-use": null}));
    assert_eq!(objects[0]["usage_rule"]["train-ai"], "search=y, train-ai=n");
    assert_eq!(objects[0]["usage_source"]["train-ai"], "content-usage");
    assert_eq!(objects[0]["licenses"], json!(["https://l.example/all"]));
    assert_eq!(objects[2]["usage"], json!({"train-ai": "?", "ai-use": "n"}));
    assert_eq!(objects[2]["usage_source"]["ai-use"], "content-signal");
    assert_eq!(objects[3]["usage"], json!({"train-ai": "-", "ai-use": "-"}));
    assert_eq!(objects[3]["licenses"], json!([]));
    let without = told(&folder, "classify -p a.set -a Bot --format jsonl --no-summary");
    assert!(!without.contains("usage") && !without.contains("licenses"), "{without}");
}

#[test]
fn filter_keeps_what_is_stated_and_counts_what_is_not() {
    let folder = folder();
    let filter = |flags: &str| told(&folder, &format!("filter -p a.set -a Bot {flags}"));
    let (open, late) = ("https://a.example/open/1\n", "https://a.example/late\n");
    assert_eq!(filter("--purpose train-ai --unstated drop --no-summary"), open);
    let both = format!("{open}{late}");
    assert_eq!(filter("--purpose train-ai --unstated keep --no-summary"), both);
    // Nobody who is not allowed gets through, whatever counts as fine.
    assert_eq!(filter("--purpose search --unstated drop --no-summary"), "https://a.example/\n");
    let rest = "https://a.example/\nhttps://a.example/late\nhttps://a.example/private\n";
    assert_eq!(filter("-v --purpose train-ai --unstated drop --no-summary"), rest);
    let line = "filter -p a.set -a Bot --purpose train-ai --unstated drop --json";
    let output = folder.command(line).write_stdin(URLS).output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((&summary["kept"], &summary["unstated"]), (&json!(1), &json!(1)));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let folder = folder();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sets/without-usage.pset");
    let cases = [
        ("classify -p a.set -a Bot --usage training".to_owned(), "train-ai, ai-use, search"),
        ("classify -p a.set -a Bot --usage search,search".to_owned(), "twice"),
        ("classify -p a.set -a Bot --usage search --columns bits".to_owned(), "bits"),
        ("classify -p a.set -a Bot --usage search --format advertools".to_owned(), "advertools"),
        ("filter -p a.set -a Bot --purpose search".to_owned(), "--unstated"),
        ("filter -p a.set -a Bot --unstated drop".to_owned(), "--purpose"),
        (format!("classify -p {old} -a Bot --usage search"), "compile them again"),
        (format!("merge -o b.set {old} a.set"), "compile them again"),
    ];
    for (line, message) in cases {
        let output = folder.command(&line).write_stdin(URLS).output().unwrap();
        assert_status(&output, 2);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(message), "{line}: {told}");
    }
    let line = format!("classify -p {old} -a Bot --no-summary");
    assert!(told(&folder, &line).starts_with("allow\thttps://a.example/\n"));
}

/// The commands of `docs/usage.md` run from start to end, in its order.
#[cfg(unix)]
#[test]
fn the_page_about_usage_runs() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/usage.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for block in page.split("```sh\n").skip(1) {
        let script = block.split("```").next().unwrap();
        let program = env!("CARGO_BIN_EXE_portcullis");
        let script = script.replace("portcullis ", &format!("{program} "));
        commands += script.matches("\n").count();
        let mut command = Command::new("sh");
        let output =
            command.arg("-e").arg("-c").arg(&script).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(commands >= 10, "{commands}");
    let kept = fs::read_to_string(folder.path().join("train.txt")).unwrap();
    assert_eq!(kept, "https://open.example/a\n");
}
