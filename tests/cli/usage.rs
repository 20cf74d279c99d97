//! Usage preferences: `--usage` of `classify`, `check` and `diff`, `filter --purpose`, and the
//! output of `inspect` and `audit`.

use super::*;

const ROBOTS: &str = "License: https://l.example/all\nUser-agent: *\n\
    Content-Usage: search=y, train-ai=n\nContent-Usage: /open/ train-ai=y\n\
    Content-Signal: /late ai-input=no\nDisallow: /private\n\nUser-agent: Other\nDisallow: /x\n";

const URLS: &str = "https://a.example/\nhttps://a.example/open/1\nhttps://a.example/late\n\
    https://a.example/private\nhttps://u.example/\nno url\n";

/// Returns a folder with a file that has preferences, and the set of that file.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sites/a.example", ROBOTS);
    folder.ok("compile -o a.set sites");
    folder
}

fn printed(folder: &Folder, line: &str) -> String {
    let output = folder.pipe(line, URLS);
    assert_status(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_column_for_each_label_follows_the_verdict() {
    let folder = folder();
    let expected = "Bot\tBot_train-ai\tBot_search\tOther\tOther_train-ai\tOther_search\turl\n\
        allow\tn\ty\tallow\t?\t?\thttps://a.example/\n\
        allow\ty\t?\tallow\t?\t?\thttps://a.example/open/1\n\
        allow\tn\ty\tallow\t?\t?\thttps://a.example/late\n\
        disallow\t-\t-\tallow\t?\t?\thttps://a.example/private\n\
        unknown\t-\t-\tunknown\t-\t-\thttps://u.example/\n\
        invalid\t-\t-\tinvalid\t-\t-\tno url\n";
    for policies in ["-p a.set", "--robots sites"] {
        let flags = "-a Bot,Other --usage train-ai,search --header --no-summary";
        assert_eq!(printed(&folder, &format!("classify {policies} {flags}")), expected);
    }
}

#[test]
fn json_lines_say_where_each_label_is_stated() {
    let folder = folder();
    let line = "classify -p a.set -a Bot --usage train-ai,ai-use --format jsonl --no-summary";
    let objects = json_lines(printed(&folder, line).as_bytes());
    assert_eq!(objects[0]["usage"], json!({"train-ai": "n", "ai-use": "?"}));
    assert_eq!(objects[0]["usage_line"], json!({"train-ai": 3, "ai-use": null}));
    assert_eq!(objects[0]["usage_rule"]["train-ai"], "search=y, train-ai=n");
    assert_eq!(objects[0]["usage_source"]["train-ai"], "content-usage");
    assert_eq!(objects[0]["licenses"], json!(["https://l.example/all"]));
    assert_eq!(objects[2]["usage"], json!({"train-ai": "n", "ai-use": "n"}));
    assert_eq!(objects[2]["usage_source"]["ai-use"], "content-signal");
    assert_eq!(objects[3]["usage"], json!({"train-ai": "-", "ai-use": "-"}));
    assert_eq!(objects[3]["licenses"], json!([]));
    let without = printed(&folder, "classify -p a.set -a Bot --format jsonl --no-summary");
    assert!(!without.contains("usage") && !without.contains("licenses"), "{without}");
}

#[test]
fn filter_keeps_stated_uses_and_counts_unstated_ones() {
    let folder = folder();
    let filter = |flags: &str| printed(&folder, &format!("filter -p a.set -a Bot {flags}"));
    let open = "https://a.example/open/1\n";
    assert_eq!(filter("--purpose train-ai --unstated drop --no-summary"), open);
    let unstated = format!("https://a.example/\n{open}");
    assert_eq!(filter("--purpose ai-use --unstated keep --no-summary"), unstated);
    // A URL that is not allowed is dropped whatever its preferences.
    let searchable = "https://a.example/\nhttps://a.example/late\n";
    assert_eq!(filter("--purpose search --unstated drop --no-summary"), searchable);
    let rest = "https://a.example/\nhttps://a.example/late\nhttps://a.example/private\n";
    assert_eq!(filter("-v --purpose train-ai --unstated drop --no-summary"), rest);
    let line = "filter -p a.set -a Bot --purpose search --unstated drop --json";
    let summary = json(&folder.pipe(line, URLS).stderr);
    assert_eq!((&summary["kept"], &summary["unstated"]), (&json!(2), &json!(1)));
}

#[test]
fn invalid_labels_and_flags_are_refused() {
    let folder = folder();
    let cases = [
        ("classify -p a.set -a Bot --usage training", "train-ai, ai-use, search"),
        ("classify -p a.set -a Bot --usage search,search", "twice"),
        ("classify -p a.set -a Bot --usage search --columns bits", "bits"),
        ("filter -p a.set -a Bot --purpose search", "--unstated"),
        ("filter -p a.set -a Bot --unstated drop", "--purpose"),
    ];
    for (line, message) in cases {
        assert_fails(&folder.pipe(line, URLS), &[message]);
    }
}

#[test]
fn check_has_the_columns_of_classify() {
    let folder = folder();
    let line = "check -p a.set -a Bot,Other --usage train-ai,search";
    let output = folder.output(format!("{line} https://a.example/ https://a.example/private"));
    assert_status(&output, 1);
    let expected = "allow\tn\ty\tallow\t?\t?\thttps://a.example/\n\
        disallow\t-\t-\tallow\t?\t?\thttps://a.example/private\n";
    assert_stdout(&output, expected);
}

#[test]
fn an_explanation_names_the_winner_the_losers_and_the_clause() {
    let folder = folder();
    let clause = "RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed";
    let draft = "draft-ietf-aipref-attach-05: the longest path decides; \
        draft-ietf-aipref-vocab-08: combined, n goes before y";
    let expected = format!(
        "allow\ty\t?\thttps://a.example/open/1
  agent    Bot
  reason   no-rule
  group    User-agent: *  (line 2: no group names the agent)
  path     /open/1
  rules    none of 1 matches
  clause   {clause}
  usage    train-ai: y  (fine)
  stated   Content-Usage: /open/ train-ai=y  (line 4: it decides)
  pattern  /open/
  lost     Content-Usage: search=y, train-ai=n  (line 3: 0 bytes against 6)
  usage    search: ?  (not stated)
  stated   Content-Usage: /open/ train-ai=y  (line 4: it decides, and says nothing about search)
  pattern  /open/
  lost     Content-Usage: search=y, train-ai=n  (line 3: 0 bytes against 6)
  license  https://l.example/all  (line 1)
  clause   {draft}
"
    );
    let line = "check --explain -a Bot --usage train-ai,search https://a.example/open/1";
    for policies in ["-p a.set", "--robots sites"] {
        assert_eq!(printed(&folder, &format!("{line} {policies}")), expected);
    }
    for (agent, url, words) in [
        ("Bot", "https://a.example/private", "search: -  (no preference: access is disallowed)"),
        (
            "Other",
            "https://a.example/",
            "search: ?  (not stated: the file has no statement for the agent)",
        ),
        ("Bot", "https://u.example/", "search: -  (no preference: no policy is known)"),
    ] {
        let line = format!("check --explain -p a.set -a {agent} --usage search {url}");
        let words = format!("usage    {words}");
        assert_contains(&text(&folder.output(line).stdout), &[&words]);
    }
}

#[test]
fn ties_and_values_that_cannot_be_read_are_explained() {
    let folder = Folder::new();
    let robots = "User-agent: Bot\nUser-agent: b\nContent-Usage: /a* train-ai=y\n\
        Content-Usage: /*b train-ai=n\nContent-Usage: /a* train-ai=n\nUser-agent: b\n\
        Content-Usage: /late train-ai = n\nDisallow: /x\n";
    folder.write("robots.txt", robots);
    let explain = |agent: &str, path: &str| {
        let line = format!("check --explain --robots robots.txt -a {agent} --usage train-ai");
        printed(&folder, &format!("{line} https://a.example{path}"))
    };
    let tie = explain("Bot", "/ab");
    let expected = [
        "stated   Content-Usage: /*b train-ai=n  (line 4: it decides)",
        "lost     Content-Usage: /a* train-ai=n  (line 5: 3 bytes as well, and it comes later)",
        "lost     Content-Usage: /a* train-ai=y  (line 3: 3 bytes as well, and n goes first)",
    ];
    assert_contains(&tie, &expected);
    // For usage, the first two lines are a group of their own.
    assert_eq!(tie.matches("group    User-agent: Bot").count(), 1, "{tie}");
    let late = explain("b", "/late");
    assert_contains(&late, &["train-ai: ?  (not stated)"]);
    assert_contains(&late, &["(line 7: it decides, and cannot be read)"]);
}

/// A permission for a part of the site in one field hides no opt-out in the other, wherever it is
/// read: in verdicts, explanations, filters, the linter and differences.
#[test]
fn a_longer_path_in_one_field_hides_no_opt_out_of_the_other() {
    let folder = Folder::new();
    let robots = "User-agent: *\nContent-Usage: /open/ train-ai=y\nContent-Usage: train-ai=y\n\
        Content-Signal: ai-train=no\nAllow: /\n";
    folder.write("sites/a.example", robots);
    folder.ok("compile -o a.set sites");
    let url = "https://a.example/open/1";
    let line = format!("check --explain -a Bot --usage train-ai {url}");
    for policies in ["-p a.set", "--robots sites"] {
        let expected = [
            "usage    train-ai: n  (not wanted)",
            "stated   Content-Signal: ai-train=no  (line 4: it decides)",
            "lost     Content-Usage: /open/ train-ai=y  (line 2: n of the other field goes first)",
            "lost     Content-Usage: train-ai=y  (line 3: 0 bytes against 6)",
        ];
        assert_contains(&printed(&folder, &format!("{line} {policies}")), &expected);
        let filter = "filter -a Bot --purpose train-ai --unstated keep --no-summary";
        assert_stdout(&folder.pipe(format!("{filter} {policies}"), format!("{url}\n")), "");
    }
    let linted = folder.output("lint sites/a.example");
    assert_contains(&text(&linted.stdout), &["2:1", "opposite preferences about train-ai"]);
    // The same statements in the other field each change nothing.
    let moved = "User-agent: *\nContent-Signal: /open/ ai-train=yes\n\
        Content-Signal: ai-train=yes\nContent-Usage: train-ai=n\nAllow: /\n";
    folder.write("moved/a.example", moved);
    folder.write("alone/a.example", "User-agent: *\nContent-Usage: train-ai=y\nAllow: /\n");
    for set in ["moved", "alone"] {
        folder.ok(format!("compile --no-summary -o {set}.set {set}"));
    }
    let diff = |new: &str| {
        text_lines(&folder.ok(format!("diff a.set {new}.set -a Bot --usage train-ai")), "https")
    };
    assert_eq!(diff("moved"), "");
    assert_eq!(diff("alone"), "usage\thttps://a.example\t/open/=y y & n\ty\tBot\ttrain-ai\n");
}

#[test]
fn json_of_check_has_the_members_of_classify_and_the_reasons() {
    let folder = folder();
    let flags = "-p a.set -a Bot --usage train-ai,ai-use";
    let lines = printed(&folder, &format!("classify {flags} --format jsonl --no-summary"));
    let members = ["usage", "usage_line", "usage_rule", "usage_source", "licenses"];
    for (url, classified) in URLS.lines().zip(json_lines(lines.as_bytes())) {
        let mut command = folder.command(&format!("check --json {flags}"));
        let checked = json(&command.arg(url).output().unwrap().stdout);
        for member in members {
            assert_eq!(checked[member], classified[member], "{url} {member}");
        }
        assert_eq!(checked["usage_explained"].is_null(), checked["verdict"] != "allow", "{url}");
        if url.ends_with("/late") {
            let explained = &checked["usage_explained"];
            assert_eq!(explained["statements"], 3);
            assert_eq!(explained["groups"], json!([{"line": 2, "text": "User-agent: *"}]));
            let label = &explained["labels"]["ai-use"];
            assert_eq!(label["deciding"]["line"], 5);
            assert_eq!(label["deciding"]["source"], "content-signal");
            assert_eq!(label["lost"][0]["why"], "other-field");
            assert_eq!(label["lost"].as_array().unwrap().len(), 1);
        }
    }
    let output = folder.output("check --json -p a.set -a Bot https://a.example/");
    assert!(!text(&output.stdout).contains("usage"), "{}", text(&output.stdout));
}

#[test]
fn inspect_counts_statements_and_licences() {
    let folder = folder();
    // A License that is no absolute URI counts as no licence.
    let other = "User-agent: *\nContent-Usage: train-ai=y, search=y\nLicense: /l.xml\nLicense:\n";
    folder.write("sites/b.example", other);
    folder.ok("compile -o b.set sites");
    let object = json(&folder.ok("inspect b.set --json").stdout);
    let usage = &object["usage"];
    let count = |records: u64, policies: u64, origins: u64| json!({"records": records, "policies": policies, "origins": origins});
    assert_eq!(usage["sources"]["content-usage"], count(3, 2, 4));
    assert_eq!(usage["sources"]["content-signal"], count(1, 1, 2));
    assert_eq!(usage["sources"]["license"], count(1, 1, 2));
    assert_eq!(usage["labels"]["train-ai"], json!({"y": count(2, 2, 4), "n": count(1, 1, 2)}));
    assert_eq!(usage["labels"]["ai-use"], json!({"y": count(0, 0, 0), "n": count(1, 1, 2)}));
    assert_eq!(
        (&usage["records"], &usage["policies"], &usage["licenses"]),
        (&7.into(), &2.into(), &1.into())
    );
    assert_eq!(usage["most_common_licenses"][0]["value"], "https://l.example/all");
    assert_eq!(object["other_records"]["records"], 0);
    let printed = text(&folder.ok("inspect b.set").stdout);
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = [
        "usage records policies origins (any) 7 2 4 content-usage 3 2 4",
        "train-ai=y 2 2 4 train-ai=n 1 1 2",
        "licence (1 distinct) records policies origins https://l.example/all 1 1 2",
    ];
    assert_contains(&words, &parts);
}

#[test]
fn inspect_shows_which_records_hold_for_a_robot() {
    let folder = folder();
    let line = "inspect a.set https://a.example";
    let object = json(&folder.ok(format!("{line} --json")).stdout);
    let policy = &object["policies"][0];
    let expected = json!([
        {"for_others": true, "robots": [], "lines": [1, 3, 4, 5], "licenses": 1,
            "stated": {"train-ai": ["y", "n"], "ai-use": ["n"], "search": ["y"]}},
        {"for_others": false, "robots": ["other"], "lines": [1], "licenses": 1,
            "stated": {"train-ai": [], "ai-use": [], "search": []}},
    ]);
    assert_eq!(policy["usage"], expected);
    let records = &policy["records"];
    let kinds = ["license", "user-agent", "content-usage", "content-usage", "content-signal"];
    for (number, kind) in kinds.into_iter().enumerate() {
        assert_eq!(records[number]["kind"], kind, "{number}");
    }
    assert_eq!((&records[0]["group"], &records[2]["group"]), (&Value::Null, &1.into()));
    let printed = text(&folder.ok(line).stdout);
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_contains(&words, &["(any other) y n n y 1 1 3 4 5", "other ? ? ? 1 1"]);
}

/// Returns a folder with two sets, `old.set` and `new.set`: the preferences of a.example change,
/// those of b.example for one crawler, and the wording of c.example.
fn changed() -> Folder {
    let folder = Folder::new();
    let sites = [
        (
            "a.example",
            "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x\n",
            "User-agent: *\nContent-Signal: ai-train=yes\nContent-Usage: /art/ train-ai=n\n\
             Disallow: /x\n",
        ),
        (
            "b.example",
            "User-agent: One\nLicense: https://l.example/\nUser-agent: *\nContent-Usage: search=y\n",
            "User-agent: One\nContent-Usage: search=n, train-ai=n\nUser-agent: *\n\
             Content-Usage: search=y\n",
        ),
        (
            "c.example",
            "User-agent: *\nContent-Usage: /%61 search=y\nDisallow: /x\n",
            "# why\nUser-agent: *\nContent-Usage: ai-use=y\nContent-Signal: /a search=yes\n\
             Disallow: /y\n",
        ),
    ];
    for side in ["old", "new"] {
        for (host, old, new) in sites {
            folder.write(&format!("{side}/{host}"), if side == "old" { old } else { new });
        }
        folder.ok(format!("compile --no-summary -o {side}.set {side}"));
    }
    folder
}

#[test]
fn diff_shows_the_origins_whose_preferences_changed() {
    let folder = changed();
    let line = "diff old.set new.set -a One,Two --usage train-ai,search";
    let output = folder.ok(line);
    let https: String = text_lines(&output, "https://");
    let expected = "\
usage	https://a.example	n	/art/=n & y	One,Two	train-ai
usage	https://b.example	?	n	One	train-ai
usage	https://b.example	y	n	One	search
rules	https://c.example	rules	rules	One,Two	
";
    assert_eq!(https, expected);
    let words = [
        "rules 2, usage 4, unchanged 0",
        "One: rules 2, train-ai 4, search 2",
        "Two: rules 2, train-ai 2, search 0",
    ];
    assert_says(&output, &words);
    let output = folder.ok(format!("{line} --format jsonl --json"));
    let expected = json!({"change": "usage", "origin": "http://a.example", "old": "n",
        "new": "/art/=n & y", "agents": ["One", "Two"], "label": "train-ai"});
    assert_eq!(json_lines(&output.stdout)[0], expected);
    let summary = json(&output.stderr);
    assert_eq!(summary["changes"]["usage"], 4);
    assert_eq!(summary["per_agent"][0]["usage"], json!({"train-ai": 4, "search": 2}));
    // Without the flag, preferences are not compared.
    assert_eq!(text_lines(&folder.ok("diff old.set new.set -a One"), "usage"), "");
    assert_status(&folder.output("diff new.set new.set -a One --usage search --fail"), 0);
    assert_status(&folder.output("diff old.set new.set -a Two --usage train-ai --fail"), 1);
}

/// Returns the lines of an output that contain a text.
fn text_lines(output: &Output, part: &str) -> String {
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    lines.split_inclusive('\n').filter(|line| line.contains(part)).collect()
}

#[test]
fn diff_shows_the_urls_whose_preferences_changed() {
    let folder = changed();
    let urls = "https://a.example/1\nhttps://a.example/art/1\nhttps://a.example/x\n\
        https://b.example/\nhttps://c.example/x\nhttps://c.example/y/\n";
    folder.write("urls", urls);
    let line = "diff old.set new.set -a One,Two --usage search,train-ai";
    let expected = "\
One	train-ai	n	y	2:ai-train=no	2:ai-train=yes	https://a.example/1
Two	train-ai	n	y	2:ai-train=no	2:ai-train=yes	https://a.example/1
One	search	y	n	4:search=y	2:search=n, train-ai=n	https://b.example/
One	train-ai	?	n	unstated	2:search=n, train-ai=n	https://b.example/
One	access	disallow	allow	3:/x	no-rule	https://c.example/x
One	search	-	?	3:/x	unstated	https://c.example/x
One	train-ai	-	?	3:/x	unstated	https://c.example/x
Two	access	disallow	allow	3:/x	no-rule	https://c.example/x
Two	search	-	?	3:/x	unstated	https://c.example/x
Two	train-ai	-	?	3:/x	unstated	https://c.example/x
One	access	allow	disallow	no-rule	5:/y	https://c.example/y/
One	search	?	-	unstated	5:/y	https://c.example/y/
One	train-ai	?	-	unstated	5:/y	https://c.example/y/
Two	access	allow	disallow	no-rule	5:/y	https://c.example/y/
Two	search	?	-	unstated	5:/y	https://c.example/y/
Two	train-ai	?	-	unstated	5:/y	https://c.example/y/
";
    let output = folder.ok(format!("{line} urls"));
    assert_stdout(&output, expected);
    assert_says(&output, &["One: unchanged 4, changed 2"]);
    assert_says(&output, &["One search: unchanged 3, changed 3 (- to ? 1, y to n 1, ? to - 1)"]);
    let output = folder.ok(format!("{line} --format jsonl --json urls"));
    let first = &json_lines(&output.stdout)[0];
    assert_eq!((&first["agent"], &first["label"]), (&json!("One"), &json!("train-ai")));
    let new =
        json!({"preference": "y", "source": "content-signal", "line": 2, "rule": "ai-train=yes"});
    assert_eq!(first["new"], new);
    let summary = json(&output.stderr);
    let preferences = json!({"- to ?": 1, "n to y": 1, "? to -": 1});
    let expected = json!({"unchanged": 3, "changed": 3, "preferences": preferences});
    assert_eq!(summary["per_agent"][1]["usage"]["train-ai"], expected);
    // Two files on a list of URLs.
    let output = folder.ok("diff old/a.example new/a.example -a Bot --usage train-ai urls");
    assert_eq!(text_lines(&output, "https://a.example/1").lines().count(), 1);
}

#[test]
fn diff_refuses_sets_that_it_cannot_compare() {
    let folder = changed();
    let cases = [
        ("diff old.set new.set --usage search", "requires -a"),
        ("diff old/a.example new/a.example -a One --usage search", "pass FILE"),
        ("diff old.set new.set -a One --usage search,search", "twice"),
    ];
    for (line, message) in cases {
        assert_fails(&folder.output(line), &[message]);
    }
}

#[test]
fn audit_agrees_with_classify() {
    let folder = folder();
    let robots = "License: https://l.example/all\nUser-agent: *\nContent-Usage: /open train-ai=y\n\
        Content-Signal: ai-train=no\nAllow: /\nUser-agent: Bot\nContent-Usage: search=y\nDisallow: /\n\
        License: /l.xml\n";
    folder.write("sites/b.example", robots);
    folder.write("urls", format!("{URLS}https://b.example/1\n"));
    let flags = "--robots sites -a Bot,Other";
    let output = folder.ok(format!("audit {flags} --no-summary --report - -o page.html urls"));
    let report = json(&output.stdout);
    let usage = &report["usage"];
    let line = format!("classify {flags} --usage train-ai,ai-use,search --no-summary urls");
    let lines = String::from_utf8(folder.ok(line).stdout).unwrap();
    for (number, row) in usage["urls"].as_array().unwrap().iter().enumerate() {
        let column = number / 3 * 4 + 1 + number % 3;
        for (member, value) in [("y", "y"), ("n", "n"), ("unstated", "?"), ("no_access", "-")] {
            let counted =
                lines.lines().filter(|line| line.split('\t').nth(column) == Some(value)).count();
            assert_eq!(row[member], counted, "{row} {member}");
        }
    }
    assert_eq!(usage["urls"][0]["n"], 2);
    assert_eq!(usage["by_conflict"], json!({"no_access": 1, "overruled": 1, "other_group": 4}));
    let rows = usage["conflicts"]["rows"].as_array().unwrap();
    let row = |row: &Value| {
        let names = ["host", "label", "kind"].map(|member| row[member].as_str().unwrap());
        format!("{} {} {}", names.join(" "), row["line"], row["agents"])
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    let expected = [
        "a.example search other-group 3 [1]",
        "a.example train-ai other-group 3 [1]",
        "a.example ai-use other-group 5 [1]",
        "b.example train-ai overruled 3 [1]",
        "b.example train-ai other-group 3 [0]",
        "b.example search no-access 7 [0]",
    ];
    assert_eq!(rows, expected);
    assert_eq!((&usage["hosts"], &usage["licensed"]), (&json!(2), &json!(2)));
    let licenses = json!([{"license": "https://l.example/all", "hosts": 2}]);
    assert_eq!(usage["licenses"]["rows"], licenses);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    let words = ["id=\"usage\"", "Bot · train-ai", "Statements without effect", "Licences"];
    assert_contains(&page, &words);
}

/// A folder that is loaded for one run has no more in memory than the run asks about.
#[test]
fn usage_is_compiled_if_it_is_asked_about() {
    let folder = Folder::new();
    let records = |number| format!("Content-Usage: /{number} train-ai=n\n");
    let text =
        format!("User-agent: *\nDisallow: /x\n{}", (0..1_000).map(records).collect::<String>());
    folder.write("usage/a.example", &text);
    let census = |flags: &str| {
        let line = format!("classify --robots usage -a Bot --stats --json {flags}");
        let output = folder.pipe(line, "https://a.example/7\n");
        let census = &json(&output.stderr)["census"];
        let figure = |name: &str| census[name].as_u64().unwrap();
        (output.stdout, figure("rule_sets"), figure("set_bytes"))
    };
    let (verdicts, access, bytes) = census("");
    assert_eq!((text_of(&verdicts), access), ("allow\thttps://a.example/7\n", 1));
    let (preferences, all, bytes_of_all) = census("--usage train-ai");
    assert_eq!(text_of(&preferences), "allow\tn\thttps://a.example/7\n");
    assert!(all > access && bytes_of_all > bytes + text.len() as u64, "{bytes} {bytes_of_all}");
}

fn text_of(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The commands of `docs/usage.md` run from start to end, in its order.
#[cfg(unix)]
#[test]
fn the_page_about_usage_runs() {
    let page = fs::read_to_string(project("docs/usage.md")).unwrap();
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
