//! `portcullis filter`.

use super::*;

/// Returns one record of each kind, with both kinds of line ends.
fn list() -> String {
    format!("{ALLOWED}\r\n{DISALLOWED}\n\n{UNKNOWN}\n{INVALID}\n\r\nhttps://b.example/")
}

#[track_caller]
fn kept(folder: &Folder, flags: &str) -> Vec<u8> {
    let output = folder.run(&format!("filter {flags}"), list());
    assert_status(&output, 0);
    output.stdout
}

#[track_caller]
fn assert_kept(flags: &str, expected: String) {
    assert_eq!(text(&kept(&Folder::new(), flags)), text(expected.as_bytes()), "{flags}");
}

#[test]
fn flags_select_records_byte_for_byte() {
    assert_kept("", format!("{ALLOWED}\r\nhttps://b.example/\n"));
    assert_kept("-v", format!("{DISALLOWED}\n"));
    assert_kept("--invert", format!("{DISALLOWED}\n"));
    // Unknown and invalid records are kept only with a flag.
    assert_kept("--unknown keep", format!("{ALLOWED}\r\n{UNKNOWN}\nhttps://b.example/\n"));
    assert_kept("--invalid keep", format!("{ALLOWED}\r\n\n{INVALID}\n\r\nhttps://b.example/\n"));
    assert_kept("--unknown drop --invalid drop", format!("{ALLOWED}\r\nhttps://b.example/\n"));
    assert_kept("-v --unknown keep", format!("{DISALLOWED}\n{UNKNOWN}\n"));
    // A number, or nothing, instead of the records.
    assert_kept("-c", "2\n".into());
    assert_kept("--count --unknown keep", "3\n".into());
    assert_kept("-q", String::new());
}

#[test]
fn records_go_where_they_are_sent() {
    let allowed = format!("{ALLOWED}\r\nhttps://b.example/\n");
    let (unknown, invalid) = (format!("{UNKNOWN}\n"), format!("\n{INVALID}\n\r\n"));
    type Files<'f> = &'f [(&'f str, &'f str)];
    let rows: [(&str, &str, Files<'_>); 5] = [
        ("-o out.txt", "", &[("out.txt", &allowed)]),
        ("-o out.zst", "", &[("out.zst", &allowed)]),
        ("-c -o n.txt", "", &[("n.txt", "2\n")]),
        ("-q --unknown u", "", &[("u", &unknown)]),
        ("--unknown u --invalid i.gz", &allowed, &[("i.gz", &invalid), ("u", &unknown)]),
    ];
    for (flags, printed, files) in rows {
        let folder = Folder::new();
        assert_eq!(text(&kept(&folder, flags)), text(printed.as_bytes()), "{flags}");
        assert_eq!(folder.names(), files.iter().map(|file| file.0).collect::<Vec<_>>(), "{flags}");
        for (name, content) in files {
            let written = decompressed(name, &folder.read(name));
            assert_eq!(text(&written), text(content.as_bytes()), "{flags}");
        }
    }
}

#[test]
fn invalid_records_are_kept_byte_for_byte() {
    let folder = Folder::new();
    let invalid = b"\n\r\n\r\r\n \n\t\r\n\r \nnothing\r\n\xff\0\n\n\n";
    // A list needs a URL.
    let url = format!("{ALLOWED}\n");
    let input = [invalid, url.as_bytes()].concat();
    for threads in [1, 3] {
        let output = folder.run(&format!("filter --invalid keep -j {threads}"), &input);
        assert_stdout(&output, &input);
    }
    assert_stdout(&folder.run("filter --invalid keep -c", &input), "11\n");
    assert_stdout(&folder.run("filter --invalid keep -0", b"\0\r\0\n\0"), b"\0\r\0\n\0");
    assert_stdout(&folder.run("filter --invalid aside", &input), &url);
    assert_eq!(text(&folder.read("aside")), text(invalid));
    // By default they are dropped, and the summary counts them.
    let output = folder.run("filter --json", &input);
    assert_stdout(&output, &url);
    assert_eq!(json(&output.stderr)["per_agent"][0]["verdicts"]["invalid"], 10);
}

#[test]
fn all_agents_unless_any() {
    let folder = Folder::new();
    let all = "https://b.example/\n".to_owned();
    for (flags, expected) in [
        ("", all),
        ("--any", format!("{ALLOWED}\r\nhttps://b.example/\n")),
        ("--any -v", format!("{DISALLOWED}\n")),
    ] {
        let line = format!("filter --robots robots -a ExampleBot,BadBot {flags}");
        assert_stdout(&folder.pipe(line, list()), expected);
    }
}

#[test]
fn the_exit_status_reports_an_empty_output_with_a_flag() {
    let folder = Folder::new();
    for (flags, input, status) in [
        ("--fail", DISALLOWED, 1),
        ("--fail", "", 1),
        ("--fail", UNKNOWN, 1),
        ("--fail -c", DISALLOWED, 1),
        ("--fail -q", DISALLOWED, 1),
        ("--fail", ALLOWED, 0),
        ("--fail -v", DISALLOWED, 0),
        ("", DISALLOWED, 0),
    ] {
        let output = folder.run(&format!("filter {flags}"), input);
        assert_eq!(output.status.code(), Some(status), "{flags} on {input}");
    }
}

#[test]
fn nul_data() {
    let folder = Folder::new();
    let output = folder.run("filter -0", format!("{ALLOWED}\0{DISALLOWED}\0\0{ALLOWED}2"));
    assert_stdout(&output, format!("{ALLOWED}\0{ALLOWED}2\0"));
}

#[test]
fn the_last_record_of_a_file_is_not_joined_with_the_next_file() {
    let folder = Folder::new();
    folder.write("one", "https://a.example/1");
    folder.write("two", "https://a.example/2");
    let output = folder.run("filter one two", "");
    assert_stdout(&output, "https://a.example/1\nhttps://a.example/2\n");
}

#[test]
fn more_threads_than_processors_can_use_are_not_started() {
    let folder = Folder::new();
    folder.write("robots.txt", A_ROBOTS);
    for line in [
        "filter --robots robots -a ExampleBot urls",
        "classify --robots robots -a ExampleBot urls",
        "audit --robots robots -a ExampleBot urls --report audit.json",
        "compile -o set robots",
        "merge -o merged set",
        "diff set set",
        "lint robots.txt",
    ] {
        folder.write("urls", format!("{ALLOWED}\n"));
        let output = folder.ok(format!("{line} -j 1000000"));
        assert_says(&output, &["note: -j 1000000: ", "16 per processor"]);
        let output = folder.output(format!("{line} -j 2"));
        assert!(!text(&output.stderr).contains("per processor"), "{line}");
        assert_fails(&folder.output(format!("{line} -j x")), &["threads"]);
    }
}

#[test]
fn filter_and_classify_agree() {
    let folder = Folder::new();
    let tagged = folder.run("classify", list()).stdout;
    let tagged = String::from_utf8(tagged).unwrap();
    let allowed: Vec<&str> =
        tagged.lines().filter_map(|line| line.strip_prefix("allow\t")).collect();
    let kept = String::from_utf8(kept(&folder, "")).unwrap();
    assert_eq!(kept.lines().collect::<Vec<_>>(), allowed);
}
