//! `portcullis inspect`.

use super::*;

/// Returns a folder with a set of its hosts and of the answers in an archive.
fn compiled() -> Folder {
    let folder = Folder::new();
    let answers = [
        r#"{"url":"https://c.example/robots.txt","status":404,"fetched_at":"2024-05-06T07:08:09Z"}"#,
        r#"{"url":"http://d.example:8080/robots.txt","status":200,"fetched_at":"2024-06-01T00:00:00Z","body":"Sitemap: https://d.example/\u001b[31m\nCrawl-delay: 5\nUser-agent: A\nUser-agent: b\nDisallow: /x\n\nUser-agent: a\nDisallow: /\n"}"#,
    ];
    folder.write("answers.jsonl", answers.join("\n"));
    folder.ok("compile --no-summary -o set.pcs robots answers.jsonl");
    folder
}

fn inspect(folder: &Folder, line: &str) -> Output {
    folder.output(format!("inspect {line}"))
}

#[track_caller]
fn object(folder: &Folder, line: &str) -> Value {
    json(&folder.ok(format!("inspect {line} --json")).stdout)
}

#[test]
fn stats_for_people() {
    let output = compiled().ok("inspect set.pcs");
    let parts = [
        "set.pcs: set ",
        "dialect rfc9309",
        "4 hosts, 6 origins",
        "captured: from 2024-05-06T07:08:09Z to 2024-06-01T00:00:00Z; of 4 origins",
        "answers.jsonl",
        "\n  rules              3  50.0 %\n  no-rules           2  33.3 %\n  unavailable        1",
        "\n  badbot ",
        "(any other)",
        "a.example for *",
        "d.example:8080 for b",
        "section",
        "strings",
        "2024-06 ",
        "  crawl-delay ",
    ];
    assert_contains(&text(&output.stdout), &parts);
    assert!(output.stderr.is_empty());
}

#[test]
fn stats_for_machines() {
    let folder = compiled();
    let object = object(&folder, "set.pcs");
    assert_eq!(object["origins"], 6);
    assert_eq!(object["bytes"], folder.read("set.pcs").len());
    assert_eq!(object["states"]["rules"], 3);
    assert_eq!(object["states"]["deferred"], 0);
    assert_eq!(object["statuses"]["404"], 1);
    assert_eq!(object["capture_dates"]["first"], "2024-05-06T07:08:09Z");
    assert_eq!(object["capture_months"]["2024-05"], 1);
    assert_eq!(object["undated"], 4);
    assert_eq!(object["origins_by_input"][1]["name"], "answers.jsonl");
    assert_eq!(object["provenance"]["inputs"][0]["name"], "robots");
    assert_eq!(object["robots"]["names"], 3);
    let badbot = &object["robots"]["most_named"][0];
    assert_eq!((&badbot["name"], &badbot["nothing"]), (&"badbot".into(), &2.into()));
    assert_eq!(object["rule_sets"]["rule_sets"], 4);
    let strategies = &object["rule_sets"]["strategies"];
    let counts = ["constant", "prefilter"].map(|name| strategies[name]["rule_sets"].as_u64());
    assert_eq!(counts, [Some(1), Some(3)]);
    assert_eq!(object["rule_sets"]["most_patterns"][0]["patterns"], 2);
    assert_eq!(object["policies"]["largest"].as_array().unwrap().len(), 4);
    assert_eq!(object["policies"]["largest"][0]["records"], 5);
    let sections: u64 =
        object["sections"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
    let outside = object["bytes_outside_sections"].as_u64().unwrap();
    assert_eq!(sections + outside, object["bytes"].as_u64().unwrap());
}

#[test]
fn a_flag_sets_the_length_of_lists() {
    let folder = compiled();
    for top in [0, 1, 2] {
        let object = object(&folder, &format!("set.pcs -n {top}"));
        assert_eq!(object["policies"]["largest"].as_array().unwrap().len(), top);
        assert_eq!(object["robots"]["most_named"].as_array().unwrap().len(), top);
        assert_eq!(object["policies"]["policies"], 4);
    }
    folder.ok("inspect set.pcs -n 0");
}

#[test]
fn a_hosts_policy_with_lines_and_groups() {
    let printed = text(&compiled().ok("inspect set.pcs A.EXAMPLE").stdout);
    let start = "http://a.example and https://a.example\n  state     rules\n";
    assert!(printed.starts_with(start), "{printed}");
    let listing = "
      # group 1: applies to any other robot
   1  User-agent: *
   2  Disallow: /private/
   3  Allow: /private/open

      # group 2: applies to badbot
   5  User-agent: BadBot
   6  Disallow: /
";
    assert!(printed.ends_with(listing), "{printed}");
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("badbot nothing 2 1 128 constant"), "{printed}");
}

#[test]
fn hostile_text_is_escaped() {
    let output = compiled().ok("inspect set.pcs http://d.example:8080/x");
    assert!(!output.stdout.contains(&0x1b));
    let printed = String::from_utf8(output.stdout).unwrap();
    // A control character drops its line from the file, in this dialect.
    let listing = "   2  Crawl-delay: 5\n\n      # group 1: applies to a, b\n   3  User-agent: A\n";
    assert_contains(&printed, &["control-in-line: ", listing]);
}

#[test]
fn a_host_without_a_file() {
    let folder = compiled();
    let output = folder.ok("inspect set.pcs c.example");
    let expected = "\
https://c.example
  state     unavailable: allow for every path
  captured  2024-05-06T07:08:09Z
  expires   2024-05-07T07:08:09Z
  status    404
  redirects 0 followed
  input     answers.jsonl

http://c.example: no policy is known
";
    assert_stdout(&output, expected);
    let object = object(&folder, "set.pcs c.example");
    assert_eq!(object["policies"][0]["verdict"], "allow");
    assert_eq!(object["unknown"], json!(["http://c.example"]));
}

#[test]
fn a_hosts_policy_for_machines() {
    let folder = compiled();
    let object = object(&folder, "set.pcs d.example:8080");
    let policy = &object["policies"][0];
    assert_eq!(policy["origins"], json!(["http://d.example:8080"]));
    assert_eq!(policy["captured_at"], "2024-06-01T00:00:00Z");
    assert_eq!(policy["input_name"], "answers.jsonl");
    assert_eq!(policy["file_notes"], json!(["control-in-line"]));
    assert_eq!(policy["robots"][0]["name"], "a");
    assert_eq!(policy["robots"][0]["groups"], json!([1, 2]));
    assert_eq!(policy["robots"][1]["is_left"], "part");
    assert_eq!(policy["records"][0]["kind"], "other");
    assert_eq!(policy["records"][3]["text"], "Disallow: /x");
    assert_eq!(policy["records"][3]["kind"], "disallow");
    assert_eq!(policy["records"][3]["group"], 1);
    assert_eq!(object["unknown"], json!(["https://d.example:8080"]));
}

#[test]
fn a_host_that_is_not_known() {
    let folder = compiled();
    for host in ["x.example", "https://d.example", "ftp://a.example", "a.example:81"] {
        for json in ["", " --json"] {
            let output = inspect(&folder, &format!("set.pcs {host}{json}"));
            assert_status(&output, 1);
            assert_stdout(&output, "");
            assert_says(&output, &["no policy is known for"]);
        }
    }
}

#[test]
fn files_that_cannot_be_inspected() {
    let folder = compiled();
    folder.write("text.pcs", "User-agent: *\n");
    let set = folder.read("set.pcs");
    folder.write("cut.pcs", &set[..set.len() - 4096]);
    let mut damaged = set.clone();
    damaged[4096 + 100] ^= 1;
    folder.write("damaged.pcs", damaged);
    assert_fails(&inspect(&folder, "text.pcs"), &["text.pcs", "portcullis compile"]);
    assert_fails(&inspect(&folder, "cut.pcs"), &["cut.pcs", "cut short"]);
    assert_fails(&inspect(&folder, "damaged.pcs"), &["damaged.pcs"]);
    assert_fails(&inspect(&folder, "set.pcs http://"), &["http://", "https://example.com"]);
    assert_fails(&inspect(&folder, "set.pcs a.example -n 3"), &["--top"]);
    assert_fails(&inspect(&folder, ""), &["SET"]);
}
