//! Outages of more than 30 days, and recrawls that say "not modified".

use super::*;

/// Returns an answer of `host`, on a day of 2024 (`01-31`).
fn answer(host: &str, date: &str, status: u16) -> String {
    let body = "User-agent: *\nDisallow: /private/\n";
    capture(&format!("{host}.example"), &format!("2024-{date}"), status, body)
}

/// Returns a folder with an archive: `copy` had a file until it failed, `none` never had one,
/// `short` failed recently, `back` recovered, `nowhere` redirects to a URL that was not captured,
/// and `once` failed once and was not requested again.
fn folder() -> Folder {
    let folder = Folder::new();
    let failing = |host: &str| {
        ["01-02", "01-20", "02-15", "03-10"].map(|date| answer(host, date, 503)).concat()
    };
    let redirect = "{\"url\": \"https://nowhere.example/robots.txt\", \"status\": 301, \
                    \"fetched_at\": \"2024-01-01T00:00:00Z\", \
                    \"headers\": {\"location\": \"https://lost.example/robots.txt\"}}\n";
    let lines = [
        answer("copy", "01-01", 200),
        failing("copy"),
        failing("none"),
        answer("short", "01-01", 200),
        answer("short", "03-01", 503),
        failing("back"),
        answer("back", "02-20", 404),
        redirect.to_owned(),
        answer("once", "01-02", 503),
    ];
    folder.write("captures.jsonl", lines.concat());
    folder
}

/// Returns the verdicts of a set on two URLs of each host: `-` for disallow, `+` for allow.
fn verdicts(folder: &Folder, set: &str) -> String {
    let hosts = ["copy", "none", "short", "back", "nowhere", "once"];
    let urls =
        hosts.map(|host| format!("https://{host}.example/private/\nhttps://{host}.example/\n"));
    let output = folder.pipe(format!("classify --no-summary -p {set} -a Bot"), urls.concat());
    let printed = text(&output.stdout);
    let signs = printed.lines().map(|line| if line.starts_with("allow") { '+' } else { '-' });
    let signs: Vec<char> = signs.collect();
    signs.chunks(2).map(|pair| pair.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_dialect_and_setting_has_its_answer() {
    let folder = folder();
    let closed = "-- -- -- -- -- --";
    for (flags, expected) in [
        ("--dialect google", "-+ ++ -- -- -- --"),
        // Exactly 30 days; the failure of `short` is later.
        ("--dialect google --as-of 2024-02-01", "-- -- -+ -- -- --"),
        ("--dialect google --as-of 2024-04-30", "-+ ++ -+ ++ -- ++"),
        ("", closed),
        ("--long-outage no-change", closed),
        ("--long-outage last-good-copy", "-+ -- -- -- -- --"),
        ("--long-outage unavailable", "++ ++ -- -- -- --"),
        ("--dialect draft2019 --long-outage unavailable", "++ ++ -- -- -- --"),
        ("--dialect koster1996 --as-of 2030-01-01", closed),
    ] {
        folder.ok(format!("compile {flags} -o x.set captures.jsonl"));
        assert_eq!(verdicts(&folder, "x.set"), expected, "{flags}");
        folder.ok("verify x.set");
    }
}

#[test]
fn the_effect_of_an_outage_is_shown() {
    let folder = folder();
    let output = folder.ok("compile --dialect google -o x.set captures.jsonl");
    assert_says(&output, &["outage-last-good-copy 1, outage-unavailable 1", "in an outage 5"]);
    let opened = "unreachable since 2024-01-02T00:00:00Z, more than 30 days: taken as unavailable, \
                  so everything is allowed";
    let copy = "the last good copy applies, of 2024-01-01T00:00:00Z";
    for (line, parts) in [
        ("inspect x.set https://none.example", &[opened, "outage-unavailable"][..]),
        (
            "check --explain -p x.set -a Bot https://none.example/",
            &[opened, "reason   unavailable"],
        ),
        ("check --explain -p x.set -a Bot https://copy.example/", &[copy]),
    ] {
        assert_contains(&text(&folder.ok(line).stdout), parts);
    }
    let line = "check --json -p x.set -a Bot https://copy.example/";
    let object = json(&folder.ok(line).stdout);
    assert_eq!(object["outage"]["change"], "last-good-copy");
    assert_eq!(object["outage"]["since"], "2024-01-02T00:00:00Z");
    let object = json(&folder.ok("inspect --json x.set").stdout);
    assert_eq!(object["in_outage"], 5);
    assert_eq!(object["capture_notes"]["outage-unavailable"], 1);
    let outages = &object["provenance"]["outages"];
    assert_eq!((&outages["as_of"], &outages["asked"]), (&().into(), &().into()));
}

#[test]
fn captures_after_the_time_of_a_set_are_left_out() {
    let folder = folder();
    let lines = String::from_utf8(folder.read("captures.jsonl")).unwrap();
    let is_later = |line: &&str| line.contains("2024-02") || line.contains("2024-03");
    let earlier: String =
        lines.lines().filter(|line| !is_later(line)).map(|it| format!("{it}\n")).collect();
    folder.write("earlier.jsonl", &earlier);
    let later = lines.lines().count() - earlier.lines().count();
    let flags = "--dialect google --as-of 2024-01-31";
    folder.ok(format!("compile {flags} -o earlier.set earlier.jsonl"));
    let output = folder.ok(format!("compile {flags} -o x.set captures.jsonl"));
    let said = format!("left out {later} later captures, as of 2024-01-31T00:00:00Z\n");
    assert_says(&output, &[&format!("note: {later} captures after --as-of left out\n"), &said]);
    folder.ok("verify x.set");
    assert_stdout(&folder.ok("diff --fail earlier.set x.set"), "");
    assert_eq!(verdicts(&folder, "x.set"), verdicts(&folder, "earlier.set"));
    let summary =
        json(&folder.ok(format!("compile --json {flags} -o x.set captures.jsonl")).stderr);
    assert_eq!((&summary["later"], &summary["inputs"][0]["later"]), (&later.into(), &later.into()));
    let dates = json!({"first": "2024-01-01T00:00:00Z", "last": "2024-01-20T00:00:00Z"});
    assert_eq!(summary["capture_dates"], dates);
    // Each second counts.
    let summary =
        json(&folder.ok("compile --json --as-of 2024-03-10 -o y.set captures.jsonl").stderr);
    assert_eq!(summary["later"], 0);

    for (flags, words) in [
        ("--strict --as-of 2024-01-31", "captures after --as-of; choose a later time"),
        ("--as-of 2023-12-31", "every capture is after --as-of"),
    ] {
        assert_fails(&folder.output(format!("compile {flags} -o z.set captures.jsonl")), &[words]);
    }
    folder.ok("compile --dialect google -o all.set captures.jsonl");
    for (line, words) in [
        ("--as-of 2024-03-01 all.set earlier.set", "all.set has captures after 2024-03-01"),
        ("--as-of 2024-03-01 x.set earlier.set", "x.set lacks captures up to 2024-03-01"),
    ] {
        assert_fails(
            &folder.output(format!("merge -o z.set {line}")),
            &[words, "compile its captures again"],
        );
    }
    assert!(!exists(&folder.path("z.set")));
    folder.ok("merge -o z.set --as-of 2024-03-01 earlier.set");
}

#[test]
fn a_failure_in_the_second_of_a_file_counts_as_later_in_any_order() {
    let folder = Folder::new();
    let at = |status| answer("copy", "01-01", status);
    for (name, lines) in [
        ("file", at(200)),
        ("failure", at(503)),
        ("file-first", at(200) + &at(503)),
        ("failure-first", at(503) + &at(200)),
        ("later", answer("copy", "02-15", 503)),
    ] {
        folder.write(&format!("{name}.jsonl"), lines);
        folder.ok(format!("compile -o {name}.set {name}.jsonl"));
    }
    for (line, since) in [
        ("compile file-first.jsonl", Some("2024-01-01T00:00:00Z")),
        ("compile failure-first.jsonl", Some("2024-01-01T00:00:00Z")),
        ("compile file.jsonl failure.jsonl", Some("2024-01-01T00:00:00Z")),
        ("compile failure.jsonl file.jsonl", Some("2024-01-01T00:00:00Z")),
        ("compile failure.jsonl later.jsonl file.jsonl", Some("2024-01-01T00:00:00Z")),
        ("compile file.jsonl later.jsonl failure.jsonl", Some("2024-01-01T00:00:00Z")),
        ("merge file.set failure.set", Some("2024-01-01T00:00:00Z")),
        ("merge later.set failure-first.set", Some("2024-01-01T00:00:00Z")),
        ("merge failure.set file.set later.set", Some("2024-01-01T00:00:00Z")),
        ("compile file.jsonl later.jsonl", Some("2024-02-15T00:00:00Z")),
        ("compile file.jsonl", None),
    ] {
        folder.ok(format!("{line} -o x.set"));
        folder.ok("verify x.set");
        let host = json(&folder.ok("inspect --json x.set https://copy.example").stdout);
        let policy = &host["policies"][0];
        let state = if since.is_some() { "unreachable" } else { "rules" };
        assert_eq!(
            (&policy["state"], &policy["outage"]["since"]),
            (&state.into(), &json!(since)),
            "{line}"
        );
    }
    // The failures of the older dialects are no outages.
    for inputs in ["file-first.jsonl", "failure-first.jsonl"] {
        folder.ok(format!("compile --dialect koster1996 -o x.set {inputs}"));
        assert!(verdicts(&folder, "x.set").starts_with("--"), "{inputs}");
    }
}

#[test]
fn flags_without_meaning_are_refused() {
    let folder = folder();
    for flags in ["--dialect google --long-outage unavailable", "--as-of yesterday"] {
        assert_status(&folder.output(format!("compile {flags} -o x.set captures.jsonl")), 2);
        assert!(!exists(&folder.path("x.set")));
    }
}

#[test]
fn a_merge_judges_outages_again_and_confirms_across_sets() {
    let folder = folder();
    let old = ["copy", "none", "short", "back"].map(|host| answer(host, "01-01", 200));
    folder.write("old.jsonl", old.concat());
    folder.write("new.jsonl", ["copy", "none"].map(|host| answer(host, "03-11", 304)).concat());
    for flags in ["--dialect google", "--long-outage unavailable --as-of 2024-06-01"] {
        for input in ["captures", "old", "new"] {
            folder.ok(format!("compile {flags} -o {input}.set {input}.jsonl"));
        }
        folder.ok(format!("compile {flags} -o all.set captures.jsonl old.jsonl new.jsonl"));
        folder.ok("merge -o merged.set captures.set old.set new.set");
        assert!(folder.read("merged.set") == folder.read("all.set"), "{flags}");
        assert!(verdicts(&folder, "merged.set").starts_with("-+ -+"), "{flags}");
    }
    // Sets that judge outages differently need the flags.
    folder.ok("compile -o other.set new.jsonl");
    for (flags, missing) in [
        ("", "--as-of"),
        ("--as-of 2024-06-01", "--long-outage"),
        ("--long-outage unavailable", "--as-of"),
    ] {
        let line = format!("merge {flags} -o x.set captures.set other.set");
        assert_fails(&folder.output(&line), &["captures.set", missing]);
    }
    let flags = "--as-of 2024-06-01 --long-outage last-good-copy";
    folder.ok(format!("merge {flags} -o merged.set captures.set other.set"));
    folder.ok(format!("compile {flags} -o all.set captures.jsonl new.jsonl"));
    assert!(folder.read("merged.set") == folder.read("all.set"));
}
