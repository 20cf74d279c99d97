//! `portcullis check`.

use super::*;

fn check(folder: &Folder, line: &str) -> Output {
    folder.run(&format!("check {line}"), "")
}

#[test]
fn one_line_a_url() {
    let folder = Folder::new();
    let output = check(&folder, &format!("{ALLOWED} {DISALLOWED} {UNKNOWN} {INVALID}"));
    let expected = format!(
        "allow\t{ALLOWED}\ndisallow\t{DISALLOWED}\nunknown\t{UNKNOWN}\ninvalid\t{INVALID}\n"
    );
    assert_stdout(&output, expected);
    assert_status(&output, 1);
    assert!(output.stderr.is_empty(), "there is no summary");
}

#[test]
fn only_allow_is_a_success() {
    let folder = Folder::new();
    assert_status(&check(&folder, &format!("{ALLOWED} https://b.example/x")), 0);
    for url in [DISALLOWED, UNKNOWN, INVALID] {
        assert_status(&check(&folder, &format!("{ALLOWED} {url}")), 1);
    }
}

#[test]
fn one_column_for_each_agent() {
    let folder = Folder::new();
    let output = check(&folder, &format!("-a BadBot {ALLOWED}"));
    // In the order of the command line.
    assert_stdout(&output, format!("disallow\tallow\t{ALLOWED}\n"));
    assert_status(&output, 1);
}

#[test]
fn an_agent_falls_back() {
    let folder = Folder::new();
    for (agent, status) in [("News+BadBot", 1), ("News+ExampleBot", 0)] {
        let line = format!("check --robots robots -a {agent} {ALLOWED}");
        assert_status(&folder.output(&line), status);
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
fn a_single_file_applies_to_every_url() {
    let folder = Folder::new();
    let line = "check --robots robots/a.example -a Bot https://z.example/private/";
    let output = folder.output(format!("{line} {UNKNOWN}"));
    assert_stdout(&output, format!("disallow\thttps://z.example/private/\nallow\t{UNKNOWN}\n"));
}

#[test]
fn a_host_is_for_http_and_https_on_the_default_ports() {
    let folder = Folder::new();
    let cases = [
        ("http://a.example/", "allow"),
        ("http://a.example:80/", "allow"),
        ("https://A.Example:443/", "allow"),
        ("https://a.example:444/", "unknown"),
        ("ftp://a.example/", "unknown"),
        ("https://www.a.example/", "unknown"),
        ("https://b.example/", "allow"),
    ];
    for (url, verdict) in cases {
        assert_stdout(&check(&folder, url), format!("{verdict}\t{url}\n"));
    }
}

#[test]
fn a_scheme_is_assumed_only_if_asked_for() {
    let folder = Folder::new();
    for url in ["a.example/private/", "//a.example/private/"] {
        assert_stdout(&check(&folder, url), format!("invalid\t{url}\n"));
        let output = check(&folder, &format!("--assume-scheme https {url}"));
        assert_stdout(&output, format!("disallow\t{url}\n"));
    }
}

#[test]
fn a_scheme_is_no_host_with_a_port() {
    let folder = Folder::new();
    folder.write("all.txt", "User-agent: *\nAllow: /\n");
    let flags = "--robots all.txt -a ExampleBot --assume-scheme https";
    let verdict = |url: &str| {
        let output = folder.output(format!("check {flags} -- {url}"));
        text(&output.stdout).split("\\t").next().unwrap().to_owned()
    };
    for url in [
        "tel:911",
        "TEL:911",
        "sms:555/x",
        "javascript:1",
        "about:1",
        "about:blank",
        "data:1",
        "data:,x",
        "javascript:void(0)",
        "mailto:joe@a.example",
        "mailto:1",
        "blob:80?x",
        "x-y+z:80",
        "myhost:8080/x",
        "http:80",
        "https:a.example",
        "http:/a.example",
        // A colon that no port follows is a scheme's.
        "com.example.app:/x",
        "a.example:",
        "localhost:/x",
        "localhost:x",
        "a.example:80x",
        "a_b://a.example/",
        "1http://a.example/",
        "://a.example/",
        ":80/",
        "joe@a.example",
        "joe:1@a.example",
        r"a.example\@b.example",
    ] {
        assert_eq!(verdict(url), "invalid", "{url}");
    }
    for url in [
        "a.example:8080",
        "a.example:8080/x",
        "A.Example:80?q",
        "localhost:80",
        "LocalHost:8080/x",
        "127.0.0.1:80/x",
        "[::1]:80/x",
        "a_b:80/x",
        "a.example/x:y",
        "a?tel:911",
        "tel",
        // What follows `//` is a host, whatever its name.
        "//tel:911",
        "//myhost:8080/x",
        "//joe@a.example/x",
        "tel://911",
    ] {
        assert_eq!(verdict(url), "allow", "{url}");
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
        "outage": null,
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

#[test]
fn color_is_for_terminals_unless_asked_for() {
    let folder = Folder::new();
    let colored = format!("\x1b[32mallow\x1b[0m\t{ALLOWED}\n");
    let plain = format!("allow\t{ALLOWED}\n");
    assert_stdout(&check(&folder, ALLOWED), &plain);
    assert_stdout(&check(&folder, &format!("--color never {ALLOWED}")), &plain);
    assert_stdout(&check(&folder, &format!("--color always {ALLOWED}")), &colored);
}

#[test]
fn dialects_differ() {
    let folder = Folder::new();
    folder.write("one.txt", "User-agent: *\nDisallow: /*.pdf\n");
    for (dialect, verdict) in
        [("rfc9309", "disallow"), ("google", "disallow"), ("koster1996", "allow")]
    {
        let line = format!("check --robots one.txt -a Bot --dialect {dialect}");
        let output = folder.output(format!("{line} https://a.example/x.pdf"));
        assert_stdout(&output, format!("{verdict}\thttps://a.example/x.pdf\n"));
    }
}

#[test]
fn what_lies_past_the_size_limit_is_ignored() {
    let folder = Folder::new();
    let padding = "#".repeat(600 * 1024);
    folder.write("one.txt", format!("User-agent: *\n{padding}\nDisallow: /\n"));
    for (flag, verdict) in [
        ("", "allow"),
        ("--max-robots-size 500KiB", "allow"),
        ("--max-robots-size 1M", "disallow"),
        ("--max-robots-size unlimited", "disallow"),
    ] {
        let output = folder.output(format!("check --robots one.txt -a Bot {flag} {ALLOWED}"));
        assert_stdout(&output, format!("{verdict}\t{ALLOWED}\n"));
    }
}
