//! `portcullis check`.

use super::*;

fn check(folder: &Folder, line: &str) -> Output {
    folder.run(&format!("check {line}"), "")
}

/// Each URL is printed on a line, after the verdict for each agent.
#[test]
fn verdicts_and_statuses() {
    let folder = Folder::new();
    folder.write("pdf.txt", "User-agent: *\nDisallow: /*.pdf\n");
    folder.write("long.txt", format!("User-agent: *\n{}\nDisallow: /\n", "#".repeat(600 * 1024)));
    let rows = [
        // Only allow is a success.
        ("", "https://a.example/ https://b.example/x", "allow allow", 0),
        ("", "https://a.example/ https://a.example/private/x", "allow disallow", 1),
        ("", "https://a.example/ https://c.example/", "allow unknown", 1),
        ("", "https://a.example/ nothing", "allow invalid", 1),
        // Agents are in the order of the command line, and an agent may have a fallback.
        ("-a BadBot -a ExampleBot", "https://a.example/", "disallow,allow", 1),
        ("-a News+BadBot", "https://a.example/", "disallow", 1),
        ("-a News+ExampleBot", "https://a.example/", "allow", 0),
        // A host applies to http and https on the default ports.
        ("", "http://a.example/ http://a.example:80/", "allow allow", 0),
        ("", "https://A.Example:443/ https://b.example/", "allow allow", 0),
        ("", "https://a.example:444/ ftp://a.example/", "unknown unknown", 1),
        ("", "https://www.a.example/", "unknown", 1),
        // A scheme is assumed only with a flag.
        ("", "a.example/private/ //a.example/private/", "invalid invalid", 1),
        ("--assume-scheme https", "a.example/private/", "disallow", 1),
        ("--assume-scheme https", "//a.example/private/", "disallow", 1),
        // A single file applies to every URL.
        ("--robots robots/a.example", "https://z.example/private/", "disallow", 1),
        ("--robots robots/a.example", "https://c.example/", "allow", 0),
        // Dialects differ.
        ("--robots pdf.txt --dialect rfc9309", "https://a.example/x.pdf", "disallow", 1),
        ("--robots pdf.txt --dialect google", "https://a.example/x.pdf", "disallow", 1),
        ("--robots pdf.txt --dialect koster1996", "https://a.example/x.pdf", "allow", 0),
        // Text past the size limit is ignored.
        ("--robots long.txt", "https://a.example/", "allow", 0),
        ("--robots long.txt --max-robots-size 500KiB", "https://a.example/", "allow", 0),
        ("--robots long.txt --max-robots-size 1M", "https://a.example/", "disallow", 1),
        ("--robots long.txt --max-robots-size unlimited", "https://a.example/", "disallow", 1),
        // Colours are for terminals.
        ("--color never", "https://a.example/", "allow", 0),
        ("--color always", "https://a.example/", "\x1b[32mallow\x1b[0m", 0),
    ];
    for (flags, urls, verdicts, status) in rows {
        let policies = if flags.contains("--robots") { "" } else { "--robots robots" };
        let agent = if flags.contains("-a ") { "" } else { "-a ExampleBot" };
        let output = folder.output(format!("check {policies} {agent} {flags} {urls}"));
        let pairs = verdicts.split(' ').zip(urls.split(' '));
        let lines =
            pairs.map(|(verdicts, url)| format!("{}\t{url}\n", verdicts.replace(',', "\t")));
        assert_stdout(&output, lines.collect::<String>());
        assert_status(&output, status);
        // There is no summary, only a note on the file that is cut.
        let is_cut = flags.starts_with("--robots long.txt") && status == 0;
        let note = "note: long.txt: the file is longer than the limit: its end is ignored; \
                    --max-robots-size reads more\n";
        assert_eq!(text(&output.stderr), if is_cut { note } else { "" }, "{flags}");
    }
}

#[test]
fn quiet_sets_the_status_alone() {
    let folder = Folder::new();
    for (url, status) in [(ALLOWED, 0), (DISALLOWED, 1), (UNKNOWN, 1)] {
        let output = check(&folder, &format!("-q {url}"));
        assert_stdout(&output, "");
        assert_status(&output, status);
    }
}

#[test]
fn a_scheme_is_no_host_with_a_port() {
    let folder = Folder::new();
    folder.write("all.txt", "User-agent: *\nAllow: /\n");
    let invalid = r"
        tel:911 TEL:911 sms:555/x javascript:1 about:1 about:blank data:1 data:,x
        javascript:void(0) mailto:joe@a.example mailto:1 blob:80?x x-y+z:80 myhost:8080/x http:80
        https:a.example http:/a.example a_b://a.example/ 1http://a.example/ ://a.example/ :80/
        joe@a.example joe:1@a.example a.example\@b.example";
    let without_port = "com.example.app:/x a.example: localhost:/x localhost:x a.example:80x";
    let hosts = "
        a.example:8080 a.example:8080/x A.Example:80?q localhost:80 LocalHost:8080/x
        127.0.0.1:80/x [::1]:80/x a_b:80/x a.example/x:y a?tel:911 tel";
    let behind_slashes = "//tel:911 //myhost:8080/x //joe@a.example/x tel://911";
    for (urls, verdict) in [
        (invalid, "invalid"),
        // A colon without a port after it belongs to a scheme.
        (without_port, "invalid"),
        (hosts, "allow"),
        // The text after `//` is a host, whatever its name.
        (behind_slashes, "allow"),
    ] {
        let flags = "--robots all.txt -a ExampleBot --assume-scheme https";
        let output = folder.output(format!("check {flags} -- {urls}"));
        let line = |url: &str| format!("{verdict}\t{url}\n");
        assert_stdout(&output, urls.split_whitespace().map(line).collect::<String>());
    }
}

#[test]
fn user_information_chooses_no_other_host() {
    let folder = Folder::new();
    for dialect in ["original1994", "koster1996", "draft2019", "rfc9309", "google"] {
        let verdicts = |urls: &[&str]| {
            let line = format!("check --robots robots --dialect {dialect} -a BadBot --");
            let output = folder.command(&line).args(urls).output().unwrap();
            let verdict = |line: &str| line.split('\t').next().unwrap().to_owned();
            String::from_utf8(output.stdout).unwrap().lines().map(verdict).collect::<Vec<_>>()
        };
        let closed = ["http://b.example;x@a.example/x", "http://b.example:80;@a.example"];
        assert_eq!(verdicts(&closed), ["disallow"; 2], "{dialect}");
        let invalid = [r"http://a.example\@b.example/x", r"http://b.example\@a.example/x"];
        assert_eq!(verdicts(&invalid), ["invalid"; 2], "{dialect}");
        assert_eq!(verdicts(&["http://b.example;x/", "http://b.example/;x"]), ["unknown", "allow"]);
    }
}

#[test]
fn explain_shows_group_rule_line_losers_and_clause() {
    let folder = Folder::new();
    let output = check(&folder, "--explain https://a.example/private/open");
    let expected = [
        "allow\\thttps://a.example/private/open\n",
        "agent    ExampleBot",
        "User-agent: *",
        "Allow: /private/open",
        "line 3",
        "lost     Disallow: /private/",
        "line 2",
        "RFC 9309, section 2.2.2",
    ];
    assert_contains(&text(&output.stdout), &expected);
    assert_status(&output, 0);
}

#[test]
fn explain_shows_reasons_without_a_rule_and_the_token_that_a_group_names() {
    let folder = Folder::new();
    let no_rules = format!("-a Bot {UNKNOWN} {INVALID} https://b.example/");
    for (line, parts) in [
        (no_rules, &["no-policy", "bad-url", "no-rules"][..]),
        (format!("-a News+BadBot {ALLOWED}"), &["User-agent: BadBot  (line 5: it names BadBot)\n"]),
        (format!("-a Bot {ALLOWED}"), &["User-agent: *  (line 1: no group names the agent)\n"]),
    ] {
        let output = folder.output(format!("check --explain --robots robots {line}"));
        assert_contains(&text(&output.stdout), parts);
    }
}

#[test]
fn json_has_one_object_for_each_url_and_agent() {
    let folder = Folder::new();
    let line = format!("--json -a BadBot https://a.example/private/open {UNKNOWN} {INVALID}");
    let output = check(&folder, &line);
    assert_status(&output, 1);
    let objects = json_lines(&output.stdout);
    let printed: Vec<[&str; 3]> = objects
        .iter()
        .map(|object| ["url", "agent", "verdict"].map(|key| object[key].as_str().unwrap()))
        .collect();
    let open = "https://a.example/private/open";
    let expected = [
        [open, "BadBot", "disallow"],
        [open, "ExampleBot", "allow"],
        [UNKNOWN, "BadBot", "unknown"],
        [UNKNOWN, "ExampleBot", "unknown"],
        [INVALID, "BadBot", "invalid"],
        [INVALID, "ExampleBot", "invalid"],
    ];
    assert_eq!(printed, expected);
    let expected = json!({
        "url": open, "agent": "ExampleBot", "verdict": "allow", "reason": "rule", "line": 3,
        "rule": "/private/open", "group": "*", "dialect": "rfc9309",
        "clause": "RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed",
        "problem": null, "path": "/private/open", "token": null,
        "groups": [{ "line": 1, "text": "User-agent: *" }], "rules_in_groups": 2,
        "deciding": {
            "line": 3, "text": "Allow: /private/open", "verdict": "allow",
            "value": "/private/open", "pattern": "/private/open", "bytes": 13,
        },
        "lost": [{
            "line": 2, "text": "Disallow: /private/", "verdict": "disallow",
            "value": "/private/", "pattern": "/private/", "bytes": 9, "why": "fewer-bytes",
        }],
        "outage": null, "file_notes": [],
    });
    assert_eq!(objects[1], expected);
    assert_eq!(objects[0]["token"], "BadBot");
    assert!(objects[4]["problem"].as_str().unwrap().contains("scheme"));
}

#[test]
fn json_and_explain_are_one_and_quiet_is_another() {
    let folder = Folder::new();
    let json = check(&folder, &format!("--json {ALLOWED}"));
    let both = check(&folder, &format!("--json --explain {ALLOWED}"));
    assert_stdout(&both, &json.stdout);
    assert_status(&both, 0);
    assert_fails(&check(&folder, &format!("--json -q {ALLOWED}")), &["--json"]);
}
