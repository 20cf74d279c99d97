//! `compile`: the formats of inputs, and the names of their fields.

use super::*;

const CLOSED: &str = "User-agent: *\\nDisallow: /\\n";

/// Returns the verdict of the set `x.set` on a URL.
#[track_caller]
fn verdict(folder: &Folder, url: &str) -> String {
    let output = folder.output(format!("check -p x.set -a Bot {url}"));
    text(&output.stdout).split("\\t").next().unwrap().to_owned()
}

/// Compiles `line` to `x.set` and returns standard error.
#[track_caller]
fn compiled(folder: &Folder, line: &str) -> String {
    String::from_utf8(folder.ok(format!("compile --no-summary -o x.set {line}")).stderr).unwrap()
}

#[test]
fn a_host_instead_of_a_url() {
    let folder = Folder::new();
    let lines = format!(
        "{{\"domain\": \"closed.example\", \"content\": \"{CLOSED}\"}}\n\
         {{\"host\": \"port.example:8080\", \"status\": 200, \"text\": \"{CLOSED}\"}}\n"
    );
    folder.write("dump", lines);
    compiled(&folder, "dump");
    for (url, expected) in [
        ("https://closed.example/", "disallow"),
        ("http://closed.example/", "disallow"),
        ("http://closed.example:8080/", "unknown"),
        ("http://port.example:8080/", "disallow"),
        ("https://port.example:8080/", "disallow"),
        ("https://port.example/", "unknown"),
    ] {
        assert_eq!(verdict(&folder, url), expected, "{url}");
    }
    // The same file after --robots is an error, not a file without rules.
    assert_fails(&folder.output("check --robots dump -a Bot x"), &["compile -o SET dump"]);
}

#[test]
fn fields_are_named_with_a_flag() {
    let folder = Folder::new();
    folder.write(
        "a.jsonl",
        format!(
            "{{\"request\": {{\"url\": \"https://a.example/robots.txt\"}}, \"url\": \"https://b.example/robots.txt\", \
             \"answer\": {{\"code\": 200, \"text\": \"{CLOSED}\", \"at\": \"2024-05-01T12:00:00Z\"}}}}\n"
        ),
    );
    let names =
        "--field url=request.url,status=answer.code --field body=answer.text,fetched_at=answer.at";
    assert_eq!(compiled(&folder, &format!("a.jsonl {names}")), "");
    assert_eq!(verdict(&folder, "https://a.example/"), "disallow");
    assert_eq!(verdict(&folder, "https://b.example/"), "unknown");
    let shown = folder.ok("inspect x.set a.example");
    assert_contains(&text(&shown.stdout), &["2024-05-01T12:00:00Z"]);
    for (flag, words) in
        [("--field uri=x", "expected one of url, host, status"), ("--field url", "url=request.url")]
    {
        assert_fails(&folder.output(format!("compile -o y.set a.jsonl {flag}")), &[words]);
    }
}

#[test]
fn a_missing_status_is_assumed_and_noted() {
    let folder = Folder::new();
    let line = |host: &str, more: &str| {
        format!("{{\"host\": \"{host}.example\", \"body\": \"{CLOSED}\"{more}}}\n")
    };
    let lines = [line("a", ""), line("b", ""), line("c", ", \"status\": 200")];
    folder.write("a.jsonl", lines.concat());
    let said = compiled(&folder, "a.jsonl");
    let note = "note: 2 captures without a status; 200 is assumed (--strict makes this an error)\n";
    assert_eq!(said, note);
    assert_eq!(verdict(&folder, "https://a.example/"), "disallow");
    let error = "a.jsonl: 2 captures without a status; name the field with --field status=NAME, or \
                 drop --strict to assume 200";
    assert_fails(&folder.output("compile --strict -o y.set a.jsonl"), &[error]);
    let summary = json(&folder.ok("compile --json -o y.set a.jsonl").stderr);
    assert_eq!(summary["inputs"][0]["status_assumed"], 2);
    // Two origins each.
    assert_eq!(summary["capture_notes"]["status-assumed"], 4);
    assert_contains(&text(&folder.ok("inspect y.set a.example").stdout), &["status-assumed"]);
    folder.ok("verify y.set");
    // A record that is empty, or contradicts itself, is not a capture.
    let without_status = [line("a", ""), line("b", ", \"status\": null")].concat();
    folder.write("b.jsonl", without_status + "{\"host\": \"c.example\"}\n");
    let reasons = [
        "line 2: left out: a body, but no status",
        "line 3: left out: no status, no body and no error",
    ];
    assert_contains(&compiled(&folder, "b.jsonl"), &reasons);
    for (url, expected) in [("https://a.example/", "disallow"), ("https://b.example/", "unknown")] {
        assert_eq!(verdict(&folder, url), expected, "{url}");
    }
}

#[test]
fn a_mirror_of_hosts() {
    let folder = Folder::new();
    let closed = "User-agent: *\nDisallow: /\n";
    folder.write("mirror/a.example/robots.txt", closed);
    folder.write("mirror/a.example/x/robots.txt", "");
    folder.write("mirror/b.example:8080/robots.txt", closed);
    folder.write("mirror/c.example/robots.txt.gz", gzip(closed.as_bytes()));
    folder.write("mirror/d.example/index.html", "a page");
    folder.write("mirror/wget-log", "https://a.example/robots.txt\n");
    folder.write("mirror/Makefile", "all:\n");
    let notes = [
        "file Makefile: left out: its name is not a host; name it by the host, such as example.com.txt",
        "file d.example: left out: a folder without a robots.txt",
        "file wget-log: left out: its name is not a host",
    ];
    assert_contains(&compiled(&folder, "mirror"), &notes);
    for (url, expected) in [
        ("https://a.example/", "disallow"),
        ("http://b.example:8080/", "disallow"),
        ("https://b.example/", "unknown"),
        ("https://c.example/", "disallow"),
        ("https://d.example/", "unknown"),
        ("http://wget-log/", "unknown"),
    ] {
        assert_eq!(verdict(&folder, url), expected, "{url}");
        let output = folder.output(format!("check --robots mirror -a Bot {url}"));
        assert_stdout(&output, format!("{expected}\t{url}\n"));
        assert_says(&output, &notes);
    }
    for line in ["check --robots mirror --strict -a Bot x", "compile --strict -o y.set mirror"] {
        assert_fails(&folder.output(line), &["Makefile", "its name is not a host"]);
    }
}

#[test]
fn one_file_from_a_pipe() {
    let folder = Folder::new();
    folder.write("old.txt", "User-agent: *\nDisallow: /\n");
    let closed = "User-agent: *\nDisallow: /\n";
    let output = folder.pipe("check --robots - -a Bot https://a.example/", closed);
    assert_stdout(&output, "disallow\thttps://a.example/\n");
    assert_stdout(&folder.pipe("diff old.txt - -a Bot", closed), "Bot\tequal\n");
    #[cfg(target_os = "linux")]
    assert_stdout(&folder.pipe("diff /dev/stdin old.txt -a Bot", closed), "Bot\tequal\n");
}
