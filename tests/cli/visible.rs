//! No untrusted text reaches a terminal unescaped: each subcommand is run on hostile file names,
//! agents, hosts, rules and URLs, and its output is checked.
//!
//! Exact by contract, unless they go to a terminal: the records of `classify` in TSV, of `filter` and
//! of `diff`, plain `check`, and the lines of the diff of `lint --diff`.

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

/// Returns a folder of hostile files: `robots…/a.example` and a file next to it that is not named by
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

/// Command lines, in which `@NAME` is a hostile file name and HOSTILE is hostile text. Lines that read
/// sets come after those that make them. LINT has each format, and is run in two dialects.
const LINES: &str = "
    compile -o @set @robots --summary text
    compile -o @set @robots --summary json
    compile -o @other @captures.jsonl --summary text
    compile -o @other @captures.jsonl --summary json
    compile -o @none @missing
    compile -o @no/set @robots
    compile -o @robots @robots
    BotHOSTILE
    --flag BotHOSTILE
    check --robots @robots -a BotHOSTILE URL
    check --robots @robots --user-agent BotHOSTILE URL
    check --robots @robots -a Bot --dialect BotHOSTILE URL
    check --robots @robots -a Bot --max-robots-size BotHOSTILE URL
    check --robots @robots -a Bot --explain URL
    check --robots @robots -a Bot --summary json URL HOSTILE
    check --robots @file -a c --dialect google --explain URL
    check --robots @file -a c --dialect google --summary json URL
    check --robots @file -a Bot --explain HOSTILE
    check --robots @missing -a Bot URL
    check -p @missing -a Bot URL
    check -p @file -a Bot URL
    check -p @set -a Bot --dialect google URL
    check -p @set -a Bot --explain URL
    classify --robots @robots -a Bot --format jsonl @list --summary text
    classify -p @set -a Bot --format jsonl @list --summary json
    classify --robots @robots -a Bot @missing
    classify --robots @robots -a Bot @robots
    classify --robots @robots -a Bot -o @out
    classify --robots @robots -a Bot -o @no/out.tsv
    classify --robots @robots -a Bot -o out.tsv @list
    filter --robots @robots -a Bot @missing
    filter --robots @robots -a Bot -o @x --unknown @x @list
    filter --robots @robots -a Bot -c @list --summary text
    filter --robots @robots -a @missing -c @list
    compile -o @merged @set @other --summary text
    compile -o @merged @set @other --summary json
    compile -o @merged @set @file
    inspect --verify @set
    inspect @set --format json
    inspect @other
    inspect @other --format json
    inspect @set a.example
    inspect @set a.example --format json
    inspect @set z.example
    inspect @set HOSTILE
    inspect @missing
    diff @set @other
    diff @set @other -a Bot --format jsonl @list --summary text
    diff @set @file
    diff @file @second
    diff @file @second --format jsonl
    diff @file @missing
    audit --robots @robots -a Bot --format json @list
    audit --robots @robots -a Bot --format html -o @page.html @list
    audit -p @set -a Bot -o page.html @list --summary text
    audit --robots @robots -a Bot -o page.html @missing
    lint --describe BotHOSTILE
    lint @missing
    LINT @file
    LINT --format json @file
    LINT --format github @file
    LINT -a BotHOSTILE @file
";

/// Runs a command line.
fn run(folder: &Folder, line: &str) -> Output {
    let word = |word: &str| match word.strip_prefix('@') {
        Some(of) => OsString::from(name(of)),
        None => {
            word.replace("URL", "https://a.example/HOSTILEa").replace("HOSTILE", HOSTILE).into()
        }
    };
    let mut command = folder.command("");
    command.args(line.split_whitespace().map(word)).write_stdin("").output().unwrap()
}

#[cfg(unix)]
#[test]
fn nothing_hostile_reaches_a_terminal() {
    let folder = hostile();
    for line in LINES.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let dialects = if line.starts_with("LINT") { &["rfc9309", "google"][..] } else { &[""] };
        for dialect in dialects {
            let line = line.replace("LINT", &format!("lint --dialect {dialect}"));
            let output = run(&folder, &line);
            assert_visible(&output.stdout, &line);
            assert_visible(&output.stderr, &line);
            assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{line}");
        }
    }
    assert!(exists(&folder.path(&name("set"))) && exists(&folder.path(&name("other"))));
    for page in [folder.read(&name("page.html")), folder.read("page.html")] {
        assert_visible(&page, "the page");
    }
    for dialect in ["rfc9309", "google"] {
        let fixed = run(&folder, &format!("lint --diff --dialect {dialect} @file"));
        assert_visible(&fixed.stderr, "--diff");
        let headers = fixed.stdout.split(|&byte| byte == b'\n').take(2);
        headers.for_each(|line| assert_visible(line, "the header of a diff"));
        let file = b"--- \"a/file\\033[31m\\302\\233";
        assert!(fixed.stdout.starts_with(file), "{}", text(&fixed.stdout));
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
            &["private/\\u{1b}[31m\\u{9b}2J", "\\u{7}x", "private/", "\\xff\\x9b1m"],
        );
        // `diff` compares URLs alone, and its last column is another.
        if !line.starts_with("diff") {
            let ends = ["\\u{7}x\n", "private/\n", "private/\\rFORGED\n", "a\tb\n"];
            assert_contains(&received, &ends);
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

/// The data card has the command, whose names of files may be any bytes.
#[cfg(unix)]
#[test]
fn a_name_that_is_no_text_is_summarised() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join(OsStr::from_bytes(b"\xff.txt"));
    std::fs::write(folder.path().join("robots.txt"), "User-agent: *\nDisallow:\n").unwrap();
    std::fs::write(&list, "https://a.example/\n").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.current_dir(&folder).args(["filter", "--robots", "robots.txt", "-a", "Bot"]);
    let output = command.args(["--summary", "card.md"]).arg(&list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let card = std::fs::read_to_string(folder.path().join("card.md")).unwrap();
    assert!(card.contains("- Command: portcullis filter "), "{card}");
}
