//! `portcullis classify`.

use super::*;

fn list() -> String {
    format!("{ALLOWED}\n{DISALLOWED}\n{UNKNOWN}\n{INVALID}\n")
}

fn tagged() -> String {
    format!("allow\t{ALLOWED}\ndisallow\t{DISALLOWED}\nunknown\t{UNKNOWN}\ninvalid\t{INVALID}\n")
}

#[test]
fn every_record_is_tagged_in_order() {
    let folder = Folder::new();
    folder.write("one", "https://a.example/1");
    folder.write("two", "https://a.example/2\n");
    let (list, tagged) = (list(), tagged());
    let nul = b"https://a.example/\0nothing\n\0";
    let tagged_nul = b"allow\thttps://a.example/\0invalid\tnothing\n\0";
    let rows: [(&str, &[u8], &[u8]); 9] = [
        ("", list.as_bytes(), tagged.as_bytes()),
        ("", b"", b""),
        // White space around a URL is not part of the URL, but of the record; the line end is part
        // of neither.
        (
            "",
            b"\n https://a.example/\t\r\n\r\n\xff\nhttps://a.example/\xe9",
            b"invalid\t\nallow\t https://a.example/\t\ninvalid\t\ninvalid\t\xff\n\
              allow\thttps://a.example/\xe9\n",
        ),
        ("-0", nul, tagged_nul),
        ("--null-data", nul, tagged_nul),
        // Files and standard input come in their order.
        (
            "one - two",
            b"https://a.example/in",
            b"allow\thttps://a.example/1\nallow\thttps://a.example/in\n\
              allow\thttps://a.example/2\n",
        ),
        // Verdicts are the same however little memory automata have.
        ("--automata-memory 0", list.as_bytes(), tagged.as_bytes()),
        ("--automata-memory 1KiB", list.as_bytes(), tagged.as_bytes()),
        ("--automata-memory unlimited", list.as_bytes(), tagged.as_bytes()),
    ];
    for (flags, input, expected) in rows {
        let output = folder.run(&format!("classify {flags}"), input);
        assert_stdout(&output, expected);
        assert_status(&output, 0);
    }
    assert_status(&folder.run("classify --automata-memory 1GB", list), 2);
}

#[test]
fn one_column_for_each_agent_in_the_order_asked() {
    let folder = Folder::new();
    let line = "classify --robots robots -a BadBot,ExampleBot -a Other+BadBot";
    let output = folder.pipe(line, ALLOWED);
    assert_stdout(&output, format!("disallow\tallow\tdisallow\t{ALLOWED}\n"));
}

#[test]
fn json_lines_have_their_members_in_order() {
    let folder = Folder::new();
    let output = folder.run("classify --format jsonl", format!("{DISALLOWED}\n{UNKNOWN}\n"));
    let expected = concat!(
        r#"{"url":"https://a.example/private/x","agent":"ExampleBot","verdict":"disallow","#,
        r#""reason":"rule","line":2,"rule":"/private/","group":"*"}"#,
        "\n",
        r#"{"url":"https://c.example/","agent":"ExampleBot","verdict":"unknown","#,
        r#""reason":"no-policy","line":null,"rule":null,"group":null}"#,
        "\n",
    );
    assert_stdout(&output, expected);
}

#[test]
fn a_rule_of_one_in_many_groups_has_its_line_and_its_group() {
    const GROUPS: usize = 2_000;
    let folder = Folder::new();
    let named = |number: usize| if number.is_multiple_of(2) { "Bot" } else { "BOT" };
    let group = |number: usize| {
        format!("User-agent: {}\nAllow: /x\nDisallow: /{number}$\n", named(number))
            + "User-agent: other\nDisallow: /y\n"
    };
    folder.write("many/a.example", (0..GROUPS).map(group).collect::<String>());
    folder.ok("compile -o many.set many");
    let asked = [0, 1, 998, 999, GROUPS - 1];
    let expected = asked.map(|number| {
        json!({
            "url": format!("https://a.example/{number}"), "agent": "Bot", "verdict": "disallow",
            "reason": "rule", "line": 5 * number + 3, "rule": format!("/{number}$"),
            "group": named(number),
        })
    });
    let urls = asked.map(|number| format!("https://a.example/{number}\n")).concat();
    for policies in ["--robots many", "-p many.set"] {
        let output = folder.pipe(format!("classify {policies} -a Bot --format jsonl"), &urls);
        assert_eq!(json_lines(&output.stdout), expected, "{policies}");
    }
}

#[test]
fn every_reason_of_a_file_has_its_word() {
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: Other\nDisallow: /\n");
    let cases = [
        (DISALLOWED, "rule"),
        (ALLOWED, "no-rule"),
        ("https://d.example/", "no-group"),
        ("https://b.example/", "no-rules"),
        ("https://a.example/robots.txt", "robots-txt"),
        (UNKNOWN, "no-policy"),
        (INVALID, "bad-url"),
    ];
    for (url, reason) in cases {
        // A list needs a URL.
        let output = folder.run("classify --format jsonl", format!("{url}\n{ALLOWED}\n"));
        assert_eq!(json_lines(&output.stdout)[0]["reason"], reason, "{url}");
    }
}

#[test]
fn json_keeps_bytes_that_are_not_text() {
    let folder = Folder::new();
    let output = folder.run("classify --format jsonl", b"https://a.example/\xff\n");
    let object = json(&output.stdout);
    assert_eq!(object["url"], "https://a.example/\u{fffd}");
    assert_eq!(object["url_base64"], "aHR0cHM6Ly9hLmV4YW1wbGUv/w==");
}

#[test]
fn compressed_lists_are_read() {
    let folder = Folder::new();
    let zstd = zstd::encode_all(list().as_bytes(), 1).unwrap();
    for (name, stored) in [("list.gz", gzip(list().as_bytes())), ("list.zst", zstd)] {
        folder.write(name, &stored);
        assert_stdout(&folder.run(&format!("classify {name}"), ""), tagged());
        assert_stdout(&folder.run("classify", &stored), tagged());
    }
}

#[test]
fn output_is_named_compressed_and_complete() {
    let folder = Folder::new();
    let names = ["out.tsv", "out.TSV.gz", "out.tsv.zst", "out.jsonl", "out.jsonl.zst", "jsonl"];
    for name in names {
        let format = if name == "jsonl" { "--format jsonl" } else { "" };
        let output = folder.run(&format!("classify {format} -o {name}"), list());
        assert_status(&output, 0);
        assert_stdout(&output, "");
        let stored = folder.read(name);
        let written = decompressed(name, &stored);
        if name.to_lowercase().contains("tsv") {
            assert_eq!(text(&written), text(tagged().as_bytes()), "{name}");
        } else {
            assert_eq!(written.iter().filter(|&&byte| byte == b'\n').count(), 4, "{name}");
        }
    }
    assert_eq!(folder.names().len(), names.len(), "{:?}", folder.names());
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    let url = |number: usize| {
        let (host, path) = (["a", "b", "c"][number % 3], ["", "private/"][number % 2]);
        format!("https://{host}.example/{path}{number}\n")
    };
    let input: String = (0..60_000).map(url).collect();
    folder.write("urls", &input);
    for (line, lines) in [
        ("classify --format tsv", 60_000),
        ("classify --format jsonl", 60_000),
        ("classify --format csv --columns verdict,rule,state", 60_001),
        ("classify --columns reason,group --header", 60_001),
        ("filter", 30_000),
    ] {
        let run = |threads: usize| folder.run(&format!("{line} -j {threads} urls"), "").stdout;
        let one = run(1);
        assert_eq!(one.iter().filter(|&&byte| byte == b'\n').count(), lines, "{line}");
        for threads in [0, 2, 3, 7] {
            assert!(run(threads) == one, "{line} with {threads} threads");
        }
        // The bytes do not depend on the kind of input either.
        assert!(folder.run(line, &input).stdout == one, "{line}");
    }
}

/// The sample's only host with a port is a capture, because its name cannot be a file name
/// everywhere.
#[test]
fn the_sample_is_a_folder_and_a_capture() {
    let folder = Folder::new();
    let sample = ["robots", "captures.jsonl"].map(|name| project("corpora/sample").join(name));
    let compile = folder.command("compile -o s.set").args(sample).output().unwrap();
    assert_status(&compile, 0);
    folder.write("urls.txt", "https://shop.example:8443/x\nhttps://shop.example:8443/status\n");
    let output = folder.ok("classify -p s.set -a ExampleBot urls.txt");
    let expected =
        "disallow\thttps://shop.example:8443/x\nallow\thttps://shop.example:8443/status\n";
    assert_stdout(&output, expected);
}
