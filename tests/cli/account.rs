//! The account in the summary: states, unknown hosts, and the age of captures.

use super::*;

#[test]
fn states_and_unknown_hosts() {
    let folder = Folder::new();
    let list = format!(
        "{ALLOWED}\n{DISALLOWED}\nhttps://b.example/\nhttps://a.example/robots.txt\nnothing\n\n\
         https://d.example/\nhttp://c.example/\nhttps://c.example/\nhttps://c.example:81/\n"
    );
    for line in ["classify", "filter"] {
        let object = json(&folder.run(&format!("{line} --json"), &list).stderr);
        let states = json!({
            "rules": 3, "no-rules": 1, "unavailable": 0, "unreachable": 0, "deferred": 0, "unknown": 4,
        });
        assert_eq!(object["states"], states);
        let hosts = json!({
            "largest": [
                {"host": "c.example", "urls": 2},
                {"host": "c.example:81", "urls": 1},
                {"host": "d.example", "urls": 1},
            ],
            "hosts": 3,
            "uncounted_urls": 0,
        });
        assert_eq!(object["unknown_hosts"], hosts);
        assert_eq!(object["tool"], "portcullis");
        assert_eq!(object.get("ages"), None);
        let words = [
            "URLs by the state of their origin: rules 3, no-rules 1, unknown 4\n",
            "URLs of 3 hosts without a policy:\n  2 c.example\n  1 c.example:81\n  1 d.example\n",
        ];
        assert_says(&folder.run(line, &list), &words);
    }
}

#[test]
fn the_account_is_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    let line = |number: usize| match number {
        70_000 => "bad\n".to_owned(),
        _ => format!("https://h{}.example/{number}\n", number * number % 997),
    };
    folder.write("urls", (1..=80_000).map(line).collect::<String>());
    let account = |threads: usize| {
        let mut object =
            json(&folder.run(&format!("classify --json -j {threads} urls"), "").stderr);
        for time in ["seconds", "load_seconds", "urls_per_second", "bytes_per_second"] {
            object.as_object_mut().unwrap().remove(time);
        }
        object
    };
    let one = account(1);
    assert_eq!(one["unknown_hosts"]["largest"].as_array().unwrap().len(), 10);
    assert_eq!(account(3), one);
}

/// Returns a folder in which `old` was captured a month before `new`, and `undated` has no date.
fn dated() -> Folder {
    let folder = Folder::new();
    let lines =
        [("old", "2024-01-01"), ("new", "2024-02-01"), ("undated", "")].map(|(host, day)| {
            capture(&format!("{host}.example"), day, 200, "User-agent: *\nDisallow: /private/\n")
        });
    folder.write("captures.jsonl", lines.concat());
    folder.ok("compile -o x.set captures.jsonl");
    let urls = ["old", "old", "new", "undated", "unknown"]
        .map(|host| format!("https://{host}.example/\n"));
    folder.write("urls", urls.concat());
    folder
}

fn verdicts(output: &Output) -> String {
    assert_status(output, 0);
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    printed.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn expired_captures_are_counted_or_unknown() {
    let folder = dated();
    let rows = [
        // Within 24 hours of the new one (RFC 9309, section 2.4).
        ("--as-of 2024-02-01T12:00:00Z", (1, 2, 1, 0)),
        ("--as-of 2024-02-02T00:00:00Z", (0, 3, 1, 0)),
        ("--as-of 2024-02-10 --max-age 30d", (1, 2, 1, 0)),
        ("--as-of 2024-02-10 --max-age 6w", (3, 0, 1, 0)),
        ("--max-age 1h", (0, 3, 1, 0)),
        ("--expired keep", (0, 3, 1, 0)),
        // A capture is in force from its own second.
        ("--as-of 2024-02-01T00:00:00Z --max-age 6w", (3, 0, 1, 0)),
        ("--as-of 2024-01-31T23:59:59Z --max-age 6w", (2, 0, 1, 1)),
        ("--as-of 2023-12-31", (0, 0, 1, 3)),
    ];
    for (flags, (fresh, expired, undated, not_yet)) in rows {
        let line = format!("classify -p x.set -a Bot {flags} urls");
        assert_eq!(verdicts(&folder.ok(&line)), "allow allow allow allow unknown", "{flags}");
        let object = json(&folder.ok(format!("{line} --json")).stderr);
        let ages = json!({
            "fresh": fresh, "expired": expired, "undated": undated, "not-yet": not_yet,
        });
        assert_eq!(object["ages"], ages, "{flags}");
        assert_eq!(object["judged_age"]["expired"], "keep");
    }
    let line =
        "classify -p x.set -a Bot,Other --as-of 2024-02-10 --max-age 30d --expired unknown urls";
    assert_eq!(verdicts(&folder.ok(line)), "unknown unknown allow unknown unknown");
    let ages = "URLs by the age of their capture, as of 2024-02-10T00:00:00Z: fresh 1, expired 2, \
                undated 1\n";
    assert_says(&folder.ok(line), &["expired 3", ages]);
    // The reason is `expired`, and the host does not count as one without a policy.
    let object = json(&folder.ok(format!("{line} --json")).stderr);
    assert_eq!(object["unknown_hosts"]["hosts"], 1);
    assert_eq!(object["states"]["rules"], 4);
    let lines = String::from_utf8(folder.ok(format!("{line} --format jsonl")).stdout).unwrap();
    let members = r#""verdict":"unknown","reason":"expired","line":null,"rule":null,"group":null"#;
    assert_contains(lines.lines().next().unwrap(), &[members]);
}

#[test]
fn a_capture_from_the_future_is_not_in_force() {
    let folder = dated();
    let line = "classify -p x.set -a Bot --as-of 2024-01-15 --max-age 30d --expired unknown urls";
    assert_eq!(verdicts(&folder.ok(line)), "allow allow unknown unknown unknown");
    assert_says(&folder.ok(line), &["(no-rule 2, no-policy 1, expired 1, not-yet 1)"]);
    let lines = json_lines(&folder.ok(format!("{line} --format jsonl")).stdout);
    assert_eq!((&lines[2]["verdict"], &lines[2]["reason"]), (&json!("unknown"), &json!("not-yet")));
    let object = json(&folder.ok(format!("{line} --json")).stderr);
    assert_eq!(
        (&object["states"]["rules"], &object["unknown_hosts"]["hosts"]),
        (&4.into(), &1.into())
    );

    let flags = "-p x.set -a Bot --strict urls --as-of 2024-01-15";
    let refused = ["x.set", "captured after 2024-01-15T00:00:00Z"];
    for line in [format!("classify {flags}"), format!("filter {flags} -o kept")] {
        assert_fails(&folder.output(line), &refused);
    }
    assert!(!exists(&folder.path("kept")));
    folder.ok("classify -p x.set -a Bot --strict urls --as-of 2024-02-01");
}

/// Returns a line of an archive: the answer to GET https://HOST/robots.txt with a status (0 if there
/// was none) and headers.
fn answer(host: &str, fetched_at: &str, status: u16, headers: &Value) -> String {
    let url = format!("https://{host}/robots.txt");
    let body = (status == 200).then_some("User-agent: *\nDisallow: /private/\n");
    let answer = json!({
        "url": url, "status": status, "fetched_at": fetched_at, "headers": headers, "body": body,
    });
    format!("{answer}\n")
}

#[test]
fn an_answer_without_a_file_has_the_age_of_its_capture() {
    let folder = Folder::new();
    let made = "2024-01-01T00:00:00Z";
    // The headers of an error page are not about robots.txt.
    let silent = json!({ "cache-control": "no-store, max-age=0" });
    let answers = [404, 403, 429, 503, 0, 600]
        .map(|status| answer(&format!("s{status}.example"), made, status, &silent));
    let lost = answer("lost.example", made, 301, &json!({ "location": "https://a.example/x" }));
    let nowhere =
        answer("nowhere.example", made, 302, &json!({ "location": "mailto:a@b.example" }));
    folder.write("answers.jsonl", answers.concat() + &lost + &nowhere);
    let hosts = ["s404", "s403", "s429", "s503", "s0", "s600", "lost", "nowhere"];
    folder.write("urls", hosts.map(|host| format!("https://{host}.example/\n")).concat());
    for dialect in ["rfc9309", "google", "draft2019", "koster1996"] {
        folder.ok(format!("compile --dialect {dialect} -o x.set answers.jsonl"));
        folder.ok("verify x.set");
        let days = if dialect == "koster1996" { 7 } else { 1 };
        for (as_of, age) in [
            ("2024-01-01T00:00:01Z".to_owned(), "fresh"),
            (format!("2024-01-{days:02}T23:59:59Z"), "fresh"),
            (format!("2024-01-{:02}T00:00:00Z", days + 1), "expired"),
            ("2023-12-31T23:59:59Z".to_owned(), "not-yet"),
        ] {
            let line = format!("classify -p x.set -a Bot --as-of {as_of} --expired unknown urls");
            let said = format!("URLs by the age of their capture, as of {as_of}: {age} 8\n");
            assert_says(&folder.ok(&line), &[&said]);
            let is_unknown = verdicts(&folder.ok(&line)).split(' ').all(|it| it == "unknown");
            assert_eq!(is_unknown, age != "fresh", "{dialect} {as_of}");
        }
    }
}

#[test]
fn a_redirected_file_has_the_age_of_the_older_capture() {
    let folder = Folder::new();
    let [first, last] = ["2024-01-01T00:00:00Z", "2024-01-03T12:00:00Z"];
    let host = |name: &str, dates: [&str; 2], headers: [Value; 2]| {
        let ([moved, file], [mut of_redirect, of_file]) = (dates, headers);
        of_redirect["location"] = json!(format!("https://www.{name}.example/robots.txt"));
        answer(&format!("{name}.example"), moved, 301, &of_redirect)
            + &answer(&format!("www.{name}.example"), file, 200, &of_file)
    };
    let long = json!({ "cache-control": "max-age=86400000" });
    let lines = [
        host("moved-first", [first, last], [json!({}), long.clone()]),
        host("file-first", [last, first], [long, json!({})]),
    ];
    folder.write("captures.jsonl", lines.concat());
    folder.write("urls", "https://moved-first.example/\nhttps://file-first.example/\n");
    folder.ok("compile --dialect google -o x.set captures.jsonl");
    folder.ok("verify x.set");
    for (flags, expected) in [
        ("--as-of 2024-01-03T12:00:00Z --max-age 24h", "expired 2\n"),
        ("--as-of 2024-01-03T12:00:00Z --max-age 60h", "expired 2\n"),
        ("--as-of 2024-01-03T12:00:00Z --max-age 61h", "fresh 2\n"),
        ("--as-of 2024-01-03T12:00:00Z", "expired 2\n"),
        // One of the two was captured later.
        ("--as-of 2024-01-03T11:59:59Z --max-age 61h", "not-yet 2\n"),
    ] {
        let line = format!("classify -p x.set -a Bot {flags} urls");
        assert_says(&folder.ok(line), &[&format!(": {expected}")]);
    }
    let shown = text(&folder.ok("inspect x.set https://file-first.example").stdout);
    assert_contains(&shown, &[&format!("captured  {first}\n"), &format!("to {last}")]);
}

#[test]
fn a_filter_drops_expired_decisions() {
    let folder = dated();
    let line = "filter -p x.set -a Bot --as-of 2024-02-01 --max-age 30d --expired unknown";
    assert_stdout(&folder.ok(format!("{line} urls")), "https://new.example/\n");
    assert_stdout(&folder.ok(format!("{line} --unknown keep -c urls")), "5\n");
}

#[test]
fn policies_without_dates_have_no_age() {
    let folder = Folder::new();
    folder.ok("compile -o x.set robots");
    for policies in ["--robots robots", "--robots robots/a.example", "-p x.set"] {
        for flag in ["--as-of 2024-01-01", "--max-age 1d", "--expired unknown"] {
            let output = folder.output(format!("classify {policies} -a Bot {flag} urls"));
            assert_fails(&output, &["when its policies were captured", "--as-of"]);
        }
    }
    assert_fails(&folder.run("classify --max-age 1y", ""), &["24h"]);
}
