//! Names of columns and fields: what a name that is not there leads to, several names, and numbers as
//! times.

use super::*;

/// The policies of a.example: a file that disallows `/x` since 2024-02, and everything was allowed before.
fn with_history() -> Folder {
    let folder = Folder::new();
    let captures = [
        capture("a.example", "2024-01-01", 200, ""),
        capture("a.example", "2024-02-01", 200, "User-agent: *\nDisallow: /x\n"),
    ];
    folder.write("captures.jsonl", captures.concat());
    folder.ok("compile --history --summary none -o h.pcs captures.jsonl");
    folder
}

#[test]
fn an_error_lists_the_names_that_there_are() {
    let folder = with_history();
    let many: Vec<String> = (1..=30).map(|number| format!("c{number}")).collect();
    let cdxj = "a,example)/ 20240101000000 {\"url\": \"https://a.example/\", \"b\": {\"c\": 1}}\n";
    let cdx = " CDX N b a\nx 2020 https://a.example/\n";
    for (file, text, flags, words) in [
        ("a.csv", "url,t\nhttps://a.example/,x\n".to_owned(), "--time-field q", "`url`, `t`;"),
        ("b.tsv", "url\tt\nhttps://a.example/\tx\n".into(), "--host-field q", "`url`, `t`;"),
        (
            "c.csv",
            "url,t\nhttps://a.example/,x\n".into(),
            "--url-field 3",
            "it has 2 columns, `url`",
        ),
        ("d.csv", many.join(",") + "\n", "--url-field 31,99", "it has 30 columns, `c1`"),
        ("e.csv", many.join(",") + "\n", "--url-field q", "`c24` and 6 more; choose"),
        ("f.jsonl", "{\"a\": {\"b\": 1}, \"c\": 2}\n".into(), "--url-field q", "`a.b`, `c`;"),
        (
            "g.jsonl",
            "[\n{\"c\": 2}]\n".into(),
            "--input-format jsonl --url-field q",
            "of the first are `c`;",
        ),
        ("h.jsonl", "broken\n{\"c\": 2}\n".into(), "--url-field q", "of the first are `c`;"),
        ("i.cdxj", cdxj.into(), "--time-field q", "of the first are `b.c`, `url`;"),
        ("j.cdx", " CDX N b s\nx 2 y\n".into(), "", "its letters are `N`, `b`, `s`"),
        ("k.log", "#Fields: date x\n2 y\n".into(), "", "its fields are `date`, `x`"),
        (
            "l.log",
            "#Fields: cs-uri-stem x\n/ y\n".into(),
            "--time-field x",
            "use --time-field record",
        ),
        (
            "m.log",
            "#Fields: cs-uri-stem x\n/ y\n".into(),
            "--url-field x",
            "have the fields that #Fields names; omit --url-field",
        ),
        ("n.cdx", cdx.into(), "--host-field q", "are whole URLs; omit --host-field"),
        ("o.cdx", cdx.into(), "--host a.example", "are whole URLs; omit --host\n"),
    ] {
        folder.write(file, text);
        let output = folder.output(format!("classify -p h.pcs -a Bot {file} {flags}"));
        assert_fails(&output, &[words]);
    }
    for (file, text, fields, words) in [
        ("m.jsonl", capture("a.example", "", 404, ""), "body=q.r", "the first has `body`,"),
        ("n.csv", "url,body\n".into(), "url=q", "the columns are `url`, `body`"),
        ("o.csv", many.join(",") + "\n", "url=q", "`c24` and 6 more"),
        (
            "p.csv",
            "url,body,h\n".into(),
            "headers=h",
            "p.csv: read as CSV: headers are read from JSON Lines only; omit --fields headers; nothing",
        ),
    ] {
        folder.write(file, text);
        assert_fails(
            &folder.output(format!("compile -o n.pcs {file} --fields {fields}")),
            &[words],
        );
    }
}

/// The first name that a table or an object has is used, in every format that has names.
#[test]
fn several_names_mean_the_same_in_every_format() {
    let folder = with_history();
    let object = |time: &str| format!("{{\"url\": \"https://a.example/x\", {time}}}\n");
    let lists = |both: &str, row: &str| {
        let json = match both {
            "u" => object(&format!("\"u\": \"{row}\"")),
            _ => object("\"u\": \"2024-01-15\", \"t\": \"2024-02-15\""),
        };
        [
            ("l.csv", format!("url,{both}\nhttps://a.example/x,{row}\n")),
            ("l.tsv", format!("url\t{both}\nhttps://a.example/x\t{row}\n").replace(',', "\t")),
            ("l.jsonl", json.clone()),
            ("l.cdxj", format!("a,example)/x 20230101000000 {json}")),
        ]
    };
    for (names, row, verdict) in
        [("u", "2024-01-15", "allow"), ("u,t", "2024-01-15,2024-02-15", "disallow")]
    {
        for (file, list) in lists(names, row) {
            folder.write(file, list);
            let line = format!("classify -p h.pcs -a Bot --summary none {file} --time-field");
            let output = folder.ok(format!("{line} t,u"));
            assert!(
                output.stdout.starts_with(verdict.as_bytes()),
                "{file}: {}",
                text(&output.stdout)
            );
            // A value of the format is no name of a column, and would be ignored.
            for mixed in ["record,u", "u,record"] {
                let output = folder.output(format!("{line} {mixed}"));
                assert_fails(&output, &["cannot be one of several names"]);
            }
        }
    }
}

#[test]
fn numbers_are_times_if_their_unit_is_named() {
    let folder = with_history();
    let list = |numbers: usize| {
        let times = (0..2_000).map(|row| if row < numbers { "1707955200.5" } else { "2024-02-15" });
        times.map(|time| format!("https://a.example/x,{time}\n")).collect::<String>()
    };
    let json = |csv: &str| {
        let line = |row: &str| {
            let (url, time) = row.split_once(',').unwrap();
            let is_text = time.contains("-");
            let time = if is_text { format!("\"{time}\"") } else { time.to_owned() };
            format!("{{\"url\": \"{url}\", \"t\": {time}}}\n")
        };
        csv.lines().map(line).collect::<String>()
    };
    for (numbers, is_error) in [(1, false), (200, false), (700, true), (2_000, true)] {
        folder.write("l.csv", format!("url,t\n{}", list(numbers)));
        folder.write("l.tsv", format!("url,t\n{}", list(numbers)).replace(',', "\t"));
        folder.write("l.jsonl", json(&list(numbers)));
        for file in ["l.csv", "l.tsv", "l.jsonl"] {
            let line = format!("classify -p h.pcs -a Bot {file} --time-field t");
            let output = folder.output(&line);
            if is_error {
                assert_fails(
                    &output,
                    &[file, "most of its times are numbers", "--time-unit s, ms, us or ns"],
                );
            } else {
                assert_status(&output, 0);
                assert_says(&output, &["--time-unit s, ms, us or ns"]);
                let shown = folder.ok(format!("{line} --summary text"));
                assert_says(&shown, &[&format!("{numbers} without a time")]);
                let summary = folder.ok(format!("{line} --summary json"));
                let notes = json_of(&summary)["notes"].to_string();
                assert_contains(&notes, &["some times are numbers"]);
            }
        }
    }
    folder.write("l.csv", format!("url,t\n{}", list(2_000)));
    let line = "classify -p h.pcs -a Bot l.csv --time-field t --time-unit s --summary text";
    let output = folder.ok(line);
    assert_says(&output, &["disallow 2,000"]);
    assert!(!text(&output.stderr).contains("numbers"));
}

/// Returns the summary.
fn json_of(output: &Output) -> Value {
    super::json(&output.stderr)
}

/// The column counts the rows of `--sitemaps`.
#[test]
fn a_sitemap_that_a_file_names_twice_counts_once() {
    let folder = Folder::new();
    let sitemaps =
        ["/s.xml", "https://a.example/s.xml", "/s.xml", "t.xml", "http://a.example/s.xml"];
    let lines = sitemaps.map(|it| format!("Sitemap: {it}\n")).concat();
    folder.write("captures.jsonl", capture("a.example", "", 200, &lines));
    folder.ok("compile --summary none -o s.pcs captures.jsonl");
    let rows = folder.ok("survey --sitemaps -p s.pcs --format jsonl --summary json");
    assert_eq!(json_of(&rows)["sitemaps"], 3);
    assert_eq!(text(&rows.stdout).lines().count(), 3);
    let row = folder.ok("survey -p s.pcs -a Bot --lists --format jsonl --summary none");
    let row = super::json(&row.stdout);
    assert_eq!(row["sitemaps"], 3);
    assert_eq!(row["sitemap_values"], json!(["/s.xml", "t.xml", "http://a.example/s.xml"]));
}

/// The notes are in the JSON on standard error, and nothing else is there.
#[test]
fn a_comparison_has_its_notes_in_json() {
    let folder = Folder::new();
    folder.write("old", "<html><body></body></html>");
    folder.write("new", "User-agent: *\nDisallow: /\nContent-Usage: train-ai=n\n");
    folder.write("urls.csv", "url,x\nhttps://a.example/,1\n");
    for line in ["diff old new", "diff old new -a Nobody,nobody urls.csv"] {
        let account = json_of(&folder.ok(format!("{line} --summary json")))["account"].clone();
        assert_contains(&account["notes"].to_string(), &["old: this looks like a web page"]);
        let shown = folder.ok(format!("{line} --summary text"));
        assert_says(&shown, &["warning: old: this looks like a web page"]);
        let twice = if line.contains("-a") { "-a has nobody twice" } else { "web page" };
        assert_contains(&account["notes"].to_string(), &[twice]);
        let unnamed = account["unnamed_agents"].as_array().unwrap();
        assert_eq!(unnamed.len(), usize::from(line.contains("Nobody")), "{account}");
    }
    let line =
        "classify urls.csv --robots robots -a Nobody,nobody,YandexBot --summary json -o x.tsv";
    let notes = json_of(&folder.ok(line))["notes"].to_string();
    assert_contains(&notes, &["-a has nobody twice", "YandexBot also follows the group Yandex"]);
}

/// The first row of a table without a header is a record, whatever stands in its column, unless it could be
/// a name. Then a note says so.
#[test]
fn the_first_row_of_a_table_is_a_record_unless_it_may_be_a_header() {
    let folder = Folder::new();
    folder.write("r.txt", "User-agent: *\nDisallow: /x\n");
    let cells = [
        ("https://a.example/x y", true),
        ("https://a b/x", true),
        ("GET /x HTTP/1.1", true),
        ("GET https://a.example/x HTTP/1.1", true),
        ("mailto:x", true),
        ("-", true),
        ("", true),
        ("?x", true),
        ("/x", true),
        ("2024-01-01", true),
        ("a.example/x", true),
        ("x", false),
        ("Page URL", false),
        ("URL (whole)", false),
    ];
    for (separator, file) in [(",", "t.csv"), ("\t", "t.tsv"), ("\t", "t.txt")] {
        for (cell, is_record) in cells {
            let rows = [1, 2, 3].map(|row| format!("https://a.example/{row}{separator}{row}\n"));
            folder.write(file, format!("{cell}{separator}0\n{}", rows.concat()));
            let line = format!("--robots r.txt -a GPTBot --url-field 1 {file}");
            let output = folder.ok(format!("classify --columns verdict {line}"));
            let count = text(&output.stdout).lines().count();
            assert_eq!(count, 3 + usize::from(is_record), "{file} {cell}");
            let has_note = text(&output.stderr).contains("V, column `");
            assert_eq!(has_note, !is_record, "{file} {cell}: {}", text(&output.stderr));
            let kept = folder.ok(format!("filter {line}"));
            let has_first = kept.stdout.starts_with(format!("{cell}{separator}0").as_bytes());
            assert_eq!(has_first, !is_record, "{file} {cell}: {}", text(&kept.stdout));
        }
    }
    folder.write("one.tsv", "https://a.example/x\t2024-01-01\n");
    let output = folder.output("classify --robots r.txt -a GPTBot --url-field 2 one.tsv");
    assert_fails(&output, &["is not a URL"]);
}

/// A first row that holds a file is a capture, whatever its host is called.
#[test]
fn the_first_capture_of_a_table_without_a_header_counts() {
    let folder = Folder::new();
    let rows = "localhost,\"User-agent: *\nDisallow: /\"\nb.example,\"User-agent: *\"\n";
    folder.write("a.csv", rows);
    folder.ok("compile --summary none -o a.pcs --fields host=1,body=2 a.csv");
    let output = folder.output("check -p a.pcs -a GPTBot http://localhost/");
    assert!(text(&output.stdout).starts_with("disallow"), "{}", text(&output.stdout));
}

/// Rotation may leave the directives of a log in another file.
#[test]
fn a_log_without_its_fields_is_named() {
    let folder = Folder::new();
    let agent = "Mozilla/5.0+(compatible;+Bot/1.0;++http://a.example/bot)";
    let line =
        format!("2026-03-12 06:25:31 10.0.0.1 GET /x - 443 - 192.0.2.1 {agent} - 200 0 0 15\n");
    let fields = "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip \
                  cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n";
    let command = "classify --robots robots -a Bot --host a.example";
    for head in ["", "#Software: Microsoft Internet Information Services 10.0\n"] {
        for line in [&line, &line.replace(' ', "\t")] {
            folder.write("a.log", format!("{head}{}", line.repeat(3)));
            let failed = folder.output(format!("{command} a.log"));
            assert_fails(&failed, &["W3C extended log", "`#Fields:`"]);
            folder.write("b.log", format!("{fields}{head}{}", line.repeat(3)));
            let output = folder.ok(format!("{command} b.log"));
            assert_eq!(text(&output.stdout).matches("allow").count(), 3, "{output:?}");
        }
    }
    folder.write("c.log", format!("\r\n\n{fields}{line}"));
    for format in ["", "--input-format w3c "] {
        let output = folder.ok(format!("{command} {format}c.log"));
        assert_eq!(text(&output.stdout).matches("allow").count(), 1, "{output:?}");
    }
}

/// In some dialects, a name may have the mark that elsewhere turns the groups for `*` off.
#[test]
fn the_note_on_a_name_with_a_mark_is_of_the_dialect() {
    let folder = Folder::new();
    folder.write("urls.txt", "https://a.example/x\n");
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n\nUser-agent: Borrower\nDisallow: /\n");
    for (dialect, note, verdict) in [
        ("rfc9309", "no rules apply to it", "allow"),
        ("google", "no rules apply to it", "allow"),
        ("koster1996", "the groups for * apply to it", "disallow"),
        ("original1994", "the groups for * apply to it", "disallow"),
    ] {
        let command = "classify --robots robots.txt -a Borower! --dialect";
        let output = folder.ok(format!("{command} {dialect} urls.txt"));
        assert!(text(&output.stderr).contains(note), "{output:?}");
        assert!(text(&output.stdout).starts_with(verdict), "{output:?}");
    }
}

#[test]
fn an_empty_name_is_an_error() {
    let folder = with_history();
    folder.write("urls.txt", "https://a.example/\n");
    folder.write("urls.csv", "url,t\nhttps://a.example/,2024-01-01\n");
    for flag in ["--time-field", "--agent-field", "--host-field"] {
        for name in ["", "t,,u"] {
            for file in ["urls.txt", "urls.csv"] {
                let output =
                    folder.output(format!("classify -p h.pcs -a Bot {flag}={name} {file}"));
                assert_fails(&output, &[flag]);
            }
        }
    }
}

/// Of two captures that are equally new, that of the later name counts: the name of the archive, not that
/// of the set which it was compiled to.
#[test]
fn parts_in_any_steps_are_all_parts_at_once() {
    let folder = Folder::new();
    for part in 0..3 {
        let rule = if part == 1 { "Allow" } else { "Disallow" };
        folder.write(&format!("part{part}/h.example"), format!("User-agent: *\n{rule}: /\n"));
        folder.ok(format!("compile -o s{part}.pcs part{part}"));
    }
    for (parts, steps) in [
        ("part0 part1 part2", ["-o x.pcs s0.pcs s2.pcs", "-o y.pcs x.pcs s1.pcs"]),
        ("part0 part1 part2", ["-o z.pcs s2.pcs", "-o y.pcs s1.pcs z.pcs part0"]),
        ("part1 part2", ["-o a.pcs part2", "-o y.pcs a.pcs s1.pcs"]),
    ] {
        folder.ok(format!("compile -o all.pcs {parts}"));
        for step in steps {
            folder.ok(format!("compile {step}"));
        }
        assert!(folder.read("y.pcs") == folder.read("all.pcs"), "{steps:?}");
    }
}
