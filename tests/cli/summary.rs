//! The summary at the end of `classify` and `filter`.

use super::*;

fn list() -> String {
    format!("{ALLOWED}\n{DISALLOWED}\n{UNKNOWN}\n{INVALID}\n\n")
}

fn summary(folder: &Folder, line: &str) -> Value {
    let output = folder.run(line, list());
    assert_status(&output, 0);
    json(&output.stderr)
}

#[test]
fn text_goes_to_standard_error() {
    let folder = Folder::new();
    let words = [
        env!("CARGO_PKG_VERSION"),
        "rfc9309",
        "ExampleBot: allow 1 disallow 1 unknown 1 invalid 2",
        "no-policy 1",
        "5 records",
        "URL/s",
        "bytes/s",
    ];
    for line in ["classify", "filter"] {
        assert_says(&folder.run(line, list()), &words);
        let without = folder.run(&format!("{line} --no-summary"), list());
        assert_eq!(text(&without.stderr), "", "{line}");
    }
}

#[test]
fn json_names_everything() {
    let folder = Folder::new();
    let object = summary(&folder, "classify --json");
    assert_eq!(object["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(object["dialect"], "rfc9309");
    assert_eq!(object["agents"], json!(["ExampleBot"]));
    assert_eq!(object["capture_dates"], Value::Null);
    assert_eq!(object["records"], 5);
    assert_eq!(object["bytes"], list().len());
    let verdicts = json!({"allow": 1, "disallow": 1, "unknown": 1, "invalid": 2});
    assert_eq!(object["per_agent"][0]["verdicts"], verdicts);
    assert_eq!(object["per_agent"][0]["reasons"]["bad-url"], 2);
    for number in ["seconds", "urls_per_second", "bytes_per_second"] {
        assert!(object[number].is_number(), "{number}");
    }
    let hash = object["set_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
}

#[test]
fn the_hash_distinguishes_sets() {
    let (one, same) = (Folder::new(), Folder::new());
    let hash = |folder: &Folder| summary(folder, "classify --json")["set_hash"].clone();
    assert_eq!(hash(&one), hash(&same));
    same.write("robots/a.example", "User-agent: *\nDisallow: /x\n");
    assert_ne!(hash(&one), hash(&same));
}

#[test]
fn a_filter_reports_how_many_it_kept() {
    let folder = Folder::new();
    assert_eq!(summary(&folder, "filter --json")["kept"], 1);
    assert_eq!(summary(&folder, "filter --json -c")["kept"], 1);
    assert_eq!(summary(&folder, "classify --json").get("kept"), None);
}

#[test]
fn stats_add_the_census() {
    let folder = Folder::new();
    assert_eq!(summary(&folder, "classify --json").get("census"), None);
    assert!(summary(&folder, "classify --json --stats")["census"]["rule_sets"].is_number());
    assert_says(&folder.run("filter --stats", ""), &["rule_sets"]);
}

#[test]
fn files_of_a_folder_without_policies_are_reported() {
    let folder = Folder::new();
    fs::create_dir(folder.path("robots/sub")).unwrap();
    assert_says(&folder.run("classify", ""), &["note: ", "sub"]);
}
