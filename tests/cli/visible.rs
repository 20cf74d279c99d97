//! No untrusted text reaches a terminal unescaped: each subcommand is run on hostile file names,
//! agents, hosts, rules and URLs, and its output is checked.
//!
//! Exact by contract, unless they go to a terminal: the records of `classify` in TSV, of `filter` and
//! of `diff`, plain `check`, and the lines of the diff of `lint --fix`.

use std::ffi::OsString;

use super::*;

/// Escape, C1, bidirectional marks, overrides and isolates, separators, DEL.
const HOSTILE: &str = "\u{1b}[31m\u{9b}2J\u{85}\u{7f}\u{202e}\u{202a}\u{2066}\u{2069}\u{200e}\u{200f}\
    \u{61c}\u{2028}\u{2029}";

/// Returns a file name that would print a line of its own.
fn name(of: &str) -> String {
    format!("{of}{HOSTILE}\nFORGED\r")
}

fn is_hidden(character: char) -> bool {
    let is_allowed = matches!(character, '\n' | '\t');
    let is_marked = matches!(character,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}' | '\u{2029}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !is_allowed && (character.is_control() || is_marked)
}

#[track_caller]
fn assert_visible(bytes: &[u8], what: &str) {
    let shown = String::from_utf8(bytes.to_vec()).expect("it is UTF-8");
    let found = shown.chars().find(|&character| is_hidden(character));
    assert_eq!(found, None, "{what}: {}", shown.escape_debug());
    assert!(!shown.lines().any(|line| line.starts_with("FORGED")), "{what}: {shown}");
}

/// Returns a robots.txt in which everything that may be hostile is hostile.
fn robots() -> String {
    let rule = HOSTILE.replace(['\u{1b}', '\u{7f}'], "");
    format!(
        "\u{feff}User-agent: *\nUser-agent: Bot{rule}\nUser-agent: {rule}/1.0\nDisallow: /{rule}a\n\
         Disallow: /{rule}a\nAllow: /{HOSTILE}b\nAllow: /{rule}%61**\nDisallow: x{rule}\n\
         Disallow: https://a.example/{rule}\n{rule}: 1\nDis{rule}allow: /\nno record {rule}\n\
         Sitemap: {rule}\nCrawl-delay: {rule}\nUser-agent: Bot\n\nUser-agent: c{rule}\nDisallow: /\n"
    )
}

/// Returns a folder of hostile files: `robots…/a.example` and a file beside it that is not named by
/// a host, `file…`, `list…`, `captures….jsonl`, and the sets `set…` and `other…`.
fn hostile() -> Folder {
    let folder = Folder::new();
    let robots_folder = name("robots");
    folder.write(&format!("{robots_folder}/a.example"), robots());
    folder.write(&format!("{robots_folder}/{}", name("no host")), "");
    folder.write(&name("file"), robots());
    folder.write(&name("second"), "User-agent: *\nDisallow: /b\n");
    let list = format!("https://a.example/{HOSTILE}a\n{HOSTILE}\nhttps://b.example/\n");
    folder.write(&name("list"), list);
    let captures = [
        capture("a.example", "2026-01-01", 200, "User-agent: *\nDisallow: /\n"),
        capture(&format!("b{HOSTILE}.example"), "2026-01-01", 200, ""),
        format!("not JSON {HOSTILE}"),
    ];
    folder.write(&name("captures.jsonl"), captures.concat());
    folder
}

/// Runs a command of these words. A word that begins with `@` is a hostile file name.
fn run(folder: &Folder, words: &[&str]) -> Output {
    let word = |word: &&str| match word.strip_prefix('@') {
        Some(of) => OsString::from(name(of)),
        None => OsString::from(word),
    };
    let mut command = folder.command("");
    command.args(words.iter().map(word)).write_stdin("").output().unwrap()
}

#[cfg(unix)]
#[test]
fn nothing_hostile_reaches_a_terminal() {
    let folder = hostile();
    let url = format!("https://a.example/{HOSTILE}a");
    let agent = format!("Bot{HOSTILE}");
    let policies = ["--robots", "@robots", "-a", "Bot"];
    let set = ["-p", "@set", "-a", "Bot"];
    let with = |before: &[&'static str], policies: &[&'static str], after: &[&'static str]| {
        [before, policies, after].concat()
    };
    let exact = |lines: &[Vec<&str>]| {
        for words in lines {
            let output = run(&folder, words);
            assert_visible(&output.stdout, &format!("{words:?}"));
            assert_visible(&output.stderr, &format!("{words:?}"));
            assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{words:?}");
        }
    };
    // Sets first: other commands read them.
    exact(&[
        vec!["compile", "-o", "@set", "@robots"],
        vec!["compile", "-o", "@set", "@robots", "--json"],
        vec!["compile", "-o", "@other", "@captures.jsonl"],
        vec!["compile", "-o", "@other", "@captures.jsonl", "--json"],
        vec!["compile", "-o", "@none", "@missing"],
        vec!["compile", "-o", "@no/set", "@robots"],
        vec!["compile", "-o", "@robots", "@robots"],
    ]);
    assert!(exists(&folder.path(&name("set"))) && exists(&folder.path(&name("other"))));
    exact(&[
        vec![&agent],
        vec!["--flag", &agent],
        vec!["check", "--robots", "@robots", "-a", &agent, &url],
        vec!["check", "--robots", "@robots", "--user-agent", &agent, &url],
        vec!["check", "--robots", "@robots", "-a", "Bot", "--dialect", &agent, &url],
        vec!["check", "--robots", "@robots", "-a", "Bot", "--max-robots-size", &agent, &url],
        vec!["check", "--robots", "@robots", "-a", "Bot", "--explain", &url],
        vec!["check", "--robots", "@robots", "-a", "Bot", "--json", &url, HOSTILE],
        vec!["check", "--robots", "@file", "-a", "c", "--dialect", "google", "--explain", &url],
        vec!["check", "--robots", "@file", "-a", "c", "--dialect", "google", "--json", &url],
        vec!["check", "--robots", "@file", "-a", "Bot", "--explain", HOSTILE],
        vec!["check", "--robots", "@missing", "-a", "Bot", &url],
        vec!["check", "-p", "@missing", "-a", "Bot", &url],
        vec!["check", "-p", "@file", "-a", "Bot", &url],
        vec!["check", "-p", "@set", "-a", "Bot", "--dialect", "google", &url],
        vec!["check", "-p", "@set", "-a", "Bot", "--explain", &url],
    ]);
    exact(&[
        with(&["classify"], &policies, &["--format", "jsonl", "@list"]),
        with(&["classify"], &set, &["--format", "jsonl", "@list", "--json"]),
        with(&["classify"], &policies, &["@missing"]),
        with(&["classify"], &policies, &["@robots"]),
        with(&["classify"], &policies, &["-o", "@out"]),
        with(&["classify"], &policies, &["-o", "@no/out.tsv"]),
        with(&["classify"], &policies, &["-o", "out.tsv", "@list"]),
        with(&["filter"], &policies, &["@missing"]),
        with(&["filter"], &policies, &["-o", "@x", "--unknown", "@x", "@list"]),
        with(&["filter"], &policies, &["-c", "@list"]),
        with(&["bench"], &policies, &["@missing"]),
        with(&["bench"], &policies, &["--report", "@x", "--html", "@x", "@list"]),
        vec!["synth", "--hosts", "1", "--urls", "1", "--out", "@file"],
        vec!["merge", "-o", "@merged", "@set", "@other"],
        vec!["merge", "-o", "@merged", "@set", "@other", "--json"],
        vec!["merge", "-o", "@merged", "@set", "@file"],
        vec!["verify", "@set"],
        vec!["verify", "@file"],
        vec!["verify", "@missing"],
    ]);
    exact(&[
        vec!["inspect", "@set"],
        vec!["inspect", "@set", "--json"],
        vec!["inspect", "@other"],
        vec!["inspect", "@other", "--json"],
        vec!["inspect", "@set", "a.example"],
        vec!["inspect", "@set", "a.example", "--json"],
        vec!["inspect", "@set", "z.example"],
        vec!["inspect", "@set", HOSTILE],
        vec!["inspect", "@missing"],
        vec!["diff", "@set", "@other"],
        vec!["diff", "@set", "@other", "-a", "Bot", "--format", "jsonl", "@list"],
        vec!["diff", "@set", "@file"],
        vec!["diff", "@file", "@second"],
        vec!["diff", "@file", "@second", "--format", "jsonl"],
        vec!["diff", "@file", "@missing"],
    ]);
    exact(&[
        with(&["audit"], &policies, &["--report", "-", "@list"]),
        with(&["audit"], &policies, &["-o", "@page.html", "@list"]),
        with(&["audit"], &set, &["-o", "page.html", "@list"]),
        with(&["audit"], &policies, &["-o", "page", "@missing"]),
    ]);
    for page in [folder.read(&name("page.html")), folder.read("page.html")] {
        assert_visible(&page, "the page");
    }
    for dialect in ["rfc9309", "google"] {
        for format in ["human", "json", "sarif", "github"] {
            exact(&[vec!["lint", "--dialect", dialect, "--format", format, "@file"]]);
        }
        exact(&[
            vec!["lint", "--dialect", dialect, "--statistics", "@file"],
            vec!["lint", "--dialect", dialect, "-a", &agent, "@file"],
            vec!["lint", "--explain", &agent],
            vec!["lint", "@missing"],
        ]);
        let fixed = run(&folder, &["lint", "--fix", "--dialect", dialect, "@file"]);
        assert_visible(&fixed.stderr, "--fix");
        let headers = fixed.stdout.split(|&byte| byte == b'\n').take(2);
        headers.for_each(|line| assert_visible(line, "the header of a diff"));
        assert!(
            fixed.stdout.starts_with(b"--- \"a/file\\033[31m\\302\\233"),
            "{}",
            text(&fixed.stdout)
        );
    }
}

/// Runs `line` with a terminal as its standard output. Returns what the terminal receives.
#[cfg(unix)]
#[allow(unsafe_code, reason = "opens a terminal")]
fn on_terminal(folder: &Folder, line: &str, more: &[&str]) -> Vec<u8> {
    use std::io::Read as _;
    use std::os::fd::FromRawFd as _;
    use std::process::Stdio;
    use std::ptr::null_mut;

    let (mut screen, mut terminal) = (0, 0);
    // SAFETY: the two descriptors are written by the call, and nothing else owns them.
    let (mut screen, terminal) = unsafe {
        let opened = libc::openpty(&mut screen, &mut terminal, null_mut(), null_mut(), null_mut());
        assert_eq!(opened, 0);
        (fs::File::from_raw_fd(screen), fs::File::from_raw_fd(terminal))
    };
    let mut process = folder.process(line);
    process.args(more).env("NO_COLOR", "1").stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = process.stdout(terminal).spawn().unwrap();
    // The terminal is closed with its last descriptor, and reading it then fails on Linux.
    drop(process);
    let mut received = Vec::new();
    let _ = screen.read_to_end(&mut received);
    assert!(child.wait().unwrap().code().is_some_and(|status| status < 2), "{line}");
    received
}

/// Records are escaped on a terminal, and exact elsewhere.
#[cfg(unix)]
#[test]
fn records_are_escaped_on_a_terminal_alone() {
    let folder = Folder::new();
    let url = format!("https://a.example/private/{HOSTILE}\u{7}x");
    let lines = [
        &url,
        "https://a.example/private/\rFORGED",
        "a\tb",
        HOSTILE,
        "https://a.example/private/\r",
    ];
    let mut list = lines.join("\n").into_bytes();
    list.extend_from_slice(b"\nhttps://a.example/private/\xff\x9b1m\n");
    folder.write("list", &list);
    folder.write("new", "User-agent: *\n");
    let kept = "--invalid keep --unknown keep -v";
    let cases = [
        "classify --robots robots -a ExampleBot list".to_owned(),
        format!("filter --robots robots -a ExampleBot {kept} list"),
        format!("filter --robots robots -a ExampleBot {kept} list -o /dev/stdout"),
        "diff robots/a.example new -a ExampleBot list".to_owned(),
    ];
    for line in cases {
        // A terminal turns LF into CR LF. A CR LF of the list stays as it is.
        let received = text_on(&on_terminal(&folder, &line, &[]));
        assert_visible(received.as_bytes(), &line);
        assert_contains(
            &received,
            &["private/\\u{1b}[31m\\u{9b}2J", "\\u{7}x\n", "private/\n", "\\xff\\x9b1m"],
        );
        // `diff` compares URLs alone.
        if !line.starts_with("diff") {
            assert_contains(&received, &["private/\\rFORGED\n", "a\tb\n"]);
        }
        let exact = folder.ok(&line).stdout;
        assert!(memchr::memmem::find(&exact, url.as_bytes()).is_some(), "{line}");
        if line.starts_with("filter") {
            assert_eq!(exact, list, "{line}");
        }
    }
    let check = "check --robots robots -a ExampleBot";
    let received = text_on(&on_terminal(&folder, check, &[&url]));
    assert_visible(received.as_bytes(), check);
    assert_contains(&received, &["disallow\t", "\\u{1b}"]);
}

/// Returns the text on a terminal with LF for each line end.
fn text_on(received: &[u8]) -> String {
    let text = String::from_utf8(received.to_vec()).expect("a terminal gets UTF-8");
    text.replace("\r\n", "\n").replace("\r\n", "\n")
}
