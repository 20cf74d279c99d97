//! Every flag and argument with every kind of file: the right answer, a clear error or a warning,
//! but never a silent allow.
//!
//! The rules in every file disallow all of `closed.example`, so an `allow` is right only where the
//! file has no rule.

use std::os::unix::fs::symlink;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const URL: &str = "https://closed.example/x";

/// The expected result for a kind of file, by the expected kind.
///
/// `disallow`, `allow`, `invalid`, `unknown`: this verdict and no other. `warns X`: no rule is
/// found, and a warning has X. Anything else: an error, in one sentence that has these words.
struct Row {
    kind: &'static str,
    robots: &'static str,
    set: &'static str,
    list: &'static str,
    captures: &'static str,
    in_folder: &'static str,
}

const fn row(
    kind: &'static str,
    [robots, set, list, captures, in_folder]: [&'static str; 5],
) -> Row {
    Row { kind, robots, set, list, captures, in_folder }
}

const UNKNOWN_FORMAT: &str = "unknown format; pass --input-format warc, jsonl, parquet or folder";
const NO_FILE: &str = "no such file or directory";

#[rustfmt::skip]
const ROWS: [Row; 19] = [
    //                  as a robots.txt     as a set          as a list of URLs  as captures       as a host's file
    row("robots.txt",  ["disallow",         "text",           "use --robots",    UNKNOWN_FORMAT,   "disallow"]),
    row("robots.gz",   ["disallow",         "gzip data",      "use --robots",    UNKNOWN_FORMAT,   "disallow"]),
    row("robots.zst",  ["disallow",         "zstd data",      "use --robots",    UNKNOWN_FORMAT,   "disallow"]),
    row("policies.set",["use -p",           "disallow",       "use -p",          "merge",           "unknown"]),
    row("urls.txt",    ["a list of URLs",   "a list of URLs", "disallow",        UNKNOWN_FORMAT,   "unknown"]),
    row("urls.gz",     ["a list of URLs",   "gzip data",      "disallow",        UNKNOWN_FORMAT,   "unknown"]),
    row("a.jsonl",     ["compile -o SET",   "compile -o SET", "compile -o SET",  "disallow",       "unknown"]),
    row("a.warc",      ["compile -o SET",   "compile -o SET", "compile -o SET",  "disallow",       "unknown"]),
    row("a.warc.gz",   ["compile -o SET",   "gzip data",      "compile -o SET",  "disallow",       "unknown"]),
    row("a.parquet",   ["compile -o SET",   "compile -o SET", "as Parquet",      "Parquet",        "unknown"]),
    row("a.zip",       ["unpack it first",  "unpack it first","unpack it first", "unpack it first","unknown"]),
    row("page.html",   ["warns web page",   "HTML",           "like HTML",       UNKNOWN_FORMAT,   "warns looks-like-html"]),
    row("error.json",  ["warns JSON",       "JSON",           "--field NAME",    "no URL and no host", "warns looks-like-json"]),
    row("random",      ["warns binary",     "text",           "a URL",           UNKNOWN_FORMAT,   "warns looks-binary"]),
    row("cut.gz",      ["cut short",        "gzip data",      "cut short",       "cut short",      "cut short"]),
    row("empty",       ["allow",            "an empty file",  "",                "an empty file",  "allow"]),
    row("folder",      ["disallow",         "a folder",       "use --robots",    "disallow",       "unknown"]),
    row("missing",     [NO_FILE,            NO_FILE,          NO_FILE,           NO_FILE,          NO_FILE]),
    row("loop",        ["symbolic link",    "symbolic link",  "symbolic link",   "symbolic link",  "symbolic link"]),
];

/// Command lines with `{}` for the file. Their output has the verdict, or none for an empty list.
const AS_ROBOTS_TXT: [&str; 3] = [
    "check --robots {} -a Bot https://closed.example/x",
    "classify --robots {} -a Bot --no-summary one.txt",
    "audit --robots {} -a Bot --report - --no-summary one.txt",
];
/// Here a folder is not a single robots.txt, and a set is compared with sets.
const AS_ONE_ROBOTS_TXT: [&str; 2] = ["lint --statistics {}", "diff {} robots.txt -a Bot"];
const AS_SET: [&str; 7] = [
    "check -p {} -a Bot https://closed.example/x",
    "classify -p {} -a Bot --no-summary one.txt",
    "inspect {}",
    "verify {}",
    "merge {} -o merged",
    "audit -p {} -a Bot --report - --no-summary one.txt",
    "bench -p {} -a Bot --urls missing",
];
const AS_LIST: [&str; 4] = [
    "classify --robots robots.txt -a Bot --no-summary {}",
    "filter --robots robots.txt -a Bot --no-summary -v {}",
    "audit --robots robots.txt -a Bot --report - --no-summary {}",
    "diff policies.set policies.set -a Bot {}",
];

fn kinds() -> Folder {
    let folder = Folder::new();
    let robots = format!("HTTP/1.1 200 OK\r\n\r\n{CLOSED}");
    let warc = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
         WARC-Target-URI: https://closed.example/robots.txt\r\nContent-Type: application/http\r\n\
         Content-Length: {}\r\n\r\n{robots}\r\n\r\n",
        robots.len()
    );
    let urls = format!("{URL}\n");
    let files: [(&str, Vec<u8>); 16] = [
        ("robots.txt", CLOSED.into()),
        ("robots.gz", gzip(CLOSED.as_bytes())),
        ("robots.zst", zstd::encode_all(CLOSED.as_bytes(), 1).unwrap()),
        ("urls.txt", urls.clone().into()),
        ("one.txt", urls.clone().into()),
        ("urls.gz", gzip(urls.as_bytes())),
        ("a.jsonl", capture("closed.example", "", 200, CLOSED).into()),
        ("a.warc", warc.clone().into()),
        ("a.warc.gz", gzip(warc.as_bytes())),
        ("a.parquet", b"PAR1\x15\0\x15\n\0PAR1".to_vec()),
        ("a.zip", b"PK\x03\x04\x14\0\0\0robots.txt".to_vec()),
        ("page.html", b"<!DOCTYPE html>\n<title>Not found</title>\n".to_vec()),
        ("error.json", b"{\"error\": \"not found\"}\n".to_vec()),
        ("random", (0..2048_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
        ("cut.gz", gzip(CLOSED.as_bytes())[..20].to_vec()),
        ("empty", Vec::new()),
    ];
    for (name, content) in files {
        folder.write(name, content);
    }
    folder.write("folder/closed.example", CLOSED);
    symlink("loop", folder.path("loop")).unwrap();
    folder.ok("compile -o policies.set folder");
    folder
}

/// Checks the result of a command line; an error describes the result.
fn judge(line: &str, output: &Output, expected: &str) -> Result<(), String> {
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let status = output.status.code();
    let error = err.lines().find(|line| line.starts_with("error: "));
    let says = |verdict: &str| {
        let column = out.lines().any(|line| line.starts_with(&format!("{verdict}\t")));
        let counted = out.contains(&format!("\"{verdict}\": 1"));
        let no_column = line.starts_with("filter") && verdict == "disallow" && out.contains("://");
        column || counted || no_column
    };
    let is_right = match expected {
        "disallow" | "allow" | "invalid" | "unknown" | "" => {
            let shows_verdict =
                ["check", "classify", "audit"].iter().any(|it| line.starts_with(it));
            let is_list = line.contains("invalid") || expected == "invalid";
            let verdicts = ["allow", "disallow", "unknown"];
            let wrong = verdicts.iter().any(|&verdict| verdict != expected && says(verdict));
            let right = !shows_verdict || is_list || expected.is_empty() || says(expected);
            status != Some(2) && error.is_none() && right && !wrong
        }
        _ => match expected.strip_prefix("warns ") {
            // `lint` reports the file itself.
            Some(words) => {
                let warns = err.contains("warning: ") && err.contains(words);
                status != Some(2) && (warns || line.starts_with("lint") && out.contains("PC00"))
            }
            None => {
                status == Some(2)
                    && out.is_empty()
                    && error.is_some_and(|error| error.contains(expected))
            }
        },
    };
    match is_right {
        true => Ok(()),
        false => Err(format!("{line}: not {expected:?} but {status:?}\n{:.200}{err:.400}", out)),
    }
}

/// Runs every command line, on one thread per CPU, and reports everything that is wrong.
fn run_all(folder: &Folder, lines: &[(Vec<String>, &str)]) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some((steps, expected)) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            // Of several steps, the first failure is the answer; `err` is that of all.
            let mut err = Vec::new();
            let mut output = None;
            for step in steps {
                let done = folder.command(step).write_stdin("").output().unwrap();
                err.extend_from_slice(&done.stderr);
                let failed = done.status.code() == Some(2);
                output = Some(Output { stderr: err.clone(), ..done });
                if failed {
                    break;
                }
            }
            if let Err(problem) = judge(steps.last().unwrap(), &output.unwrap(), expected) {
                wrong.lock().unwrap().push(problem);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

fn filled(lines: &[&str], file: &str) -> impl Iterator<Item = Vec<String>> {
    lines.iter().map(|line| vec![line.replace("{}", file)]).collect::<Vec<_>>().into_iter()
}

#[test]
fn every_place_with_every_kind_of_file() {
    let folder = kinds();
    let mut lines = Vec::new();
    for row in &ROWS {
        let mut add = |steps: Vec<String>, expected| lines.push((steps, expected));
        filled(&AS_ROBOTS_TXT, row.kind).for_each(|steps| add(steps, row.robots));
        if !["folder", "policies.set"].contains(&row.kind) {
            filled(&AS_ONE_ROBOTS_TXT, row.kind).for_each(|steps| add(steps, row.robots));
        }
        for (number, steps) in filled(&AS_SET, row.kind).enumerate() {
            // The list of the last line is missing, so a valid set is an error too.
            let is_bench = number + 1 == AS_SET.len();
            add(steps, if is_bench && row.set == "disallow" { NO_FILE } else { row.set });
        }
        filled(&AS_LIST, row.kind).for_each(|steps| add(steps, row.list));
        let check = |set: &str| format!("check -p {set} -a Bot {URL}");
        let set = format!("{}.compiled", row.kind);
        add(vec![format!("compile -o {set} {}", row.kind), check(&set)], row.captures);
        // As the file of a host, among others.
        let hosts = format!("hosts-of-{}", row.kind);
        folder.write(&format!("{hosts}/open.example"), "");
        // A name that ends in .gz is not the name of a host.
        symlink(folder.path(row.kind), folder.path(&hosts).join("closed.example")).unwrap();
        let loaded = match row.in_folder.starts_with("warns") {
            true => row.robots,
            false => row.in_folder,
        };
        add(vec![format!("check --robots {hosts} -a Bot {URL}")], loaded);
        let set = format!("{hosts}.set");
        add(vec![format!("compile -o {set} {hosts}"), check(&set)], row.in_folder);
    }
    run_all(&folder, &lines);
}

/// Returns a file whose rules lie behind the size limit.
fn long_file() -> String {
    format!("{}\n{CLOSED}", "#".repeat(600_000))
}

/// A list of URLs and an archive stay what they are, however little of them is read.
#[test]
fn the_kind_is_that_of_the_whole_file() {
    let folder = kinds();
    folder.write("long.txt", format!("{URL}\n").repeat(40_000));
    let at =
        |limit: usize| format!("check --robots long.txt --max-robots-size {limit} -a Bot {URL}");
    let lines =
        (0..format!("{URL}\n").len()).map(|cut| (vec![at(512_000 - cut)], "a list of URLs"));
    let small = ["a.warc", "a.parquet", "a.warc.gz"].map(|file| {
        let line = format!("check --robots {file} --max-robots-size 1 -a Bot {URL}");
        (vec![line], "compile -o SET")
    });
    run_all(&folder, &lines.chain(small).collect::<Vec<_>>());
}

#[test]
fn something_else_in_a_folder_is_unknown_and_as_a_capture_has_no_rules() {
    let folder = kinds();
    let mut captures = String::new();
    for (number, body) in
        [&format!("{URL}\n"), "WARC/1.0\r\n", "PAR1", "PK\x03\x04"].iter().enumerate()
    {
        folder.write(&format!("else/h{number}.example"), body);
        captures += &capture(&format!("h{number}.example"), "", 200, body);
    }
    folder.write("else/h4.example", folder.read("policies.set"));
    folder.write("else/open.example", "");
    folder.write("else.jsonl", captures);
    folder.ok("compile -o captures.set else.jsonl");
    for number in 0..5 {
        let url = format!("https://h{number}.example/");
        let output = folder.output(format!("check --robots else -a Bot {url}"));
        assert_stdout(&output, format!("unknown\t{url}\n"));
        assert_says(&output, &[&format!("file h{number}.example: left out: ")]);
        if number < 4 {
            let output = folder.ok(format!("check -p captures.set -a Bot --explain {url}"));
            assert_contains(&text(&output.stdout), &["allow", "reason   no-rules"]);
        }
    }
}

/// `curl -sf URL | portcullis` has an empty standard input if the download fails.
#[test]
fn an_empty_standard_input_is_noted() {
    let folder = kinds();
    let note = "note: standard input: empty; read as a robots.txt without rules\n";
    let check = format!("check --robots - -a Bot {URL}");
    let output = folder.pipe(&check, "");
    assert_stdout(&output, format!("allow\t{URL}\n"));
    assert_says(&output, &[note]);
    let classify = "classify --robots - -a Bot one.txt";
    assert_says(&folder.pipe(classify, ""), &[note, "notes on files: empty-input 1"]);
    let object = json(&folder.pipe(format!("{classify} --json"), "").stderr);
    assert_eq!(object["file_notes"]["empty-input"], 1);
    for line in
        [&check, classify, "diff - robots.txt", "audit --robots - -a Bot --report - one.txt"]
    {
        let empty = folder.pipe(format!("{line} --strict"), "");
        assert_fails(&empty, &["standard input: empty", "--strict"]);
        let output = folder.pipe(format!("{line} --strict"), CLOSED);
        assert!(output.status.code() < Some(2), "{line}: {}", text(&output.stderr));
    }
    // A file without bytes is an answer.
    let output = folder.ok(format!("check --robots empty --strict -a Bot {URL}"));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn strict_makes_an_error_of_each_note() {
    let folder = kinds();
    folder.write("two/closed.example", CLOSED);
    folder.write("two/closed.example.txt", "User-agent: *\nAllow: /\n");
    folder.write("long", long_file());
    // A limit leaves nothing of a long line, and still the kind is that of the file.
    folder.write("zeros", vec![0; 600_000]);
    folder.write("line.html", format!("<html>{}", "x".repeat(600_000)));
    let mut lines = Vec::new();
    for (file, words) in [
        ("page.html", "web page"),
        ("error.json", "JSON"),
        ("random", "binary"),
        ("long", "longer than the limit"),
        ("zeros", "binary"),
        ("line.html", "web page"),
    ] {
        lines.push((vec![format!("check --robots {file} --strict -a Bot {URL}")], words));
        lines.push((vec![format!("diff {file} robots.txt --strict")], words));
        let hosts = format!("hosts-of-{file}");
        folder.write(&format!("{hosts}/odd.example"), folder.read(file));
        lines.push((vec![format!("check --robots {hosts} --strict -a Bot {URL}")], words));
        lines.push((vec![format!("compile {hosts} --strict -o {file}.set")], "odd.example"));
    }
    // Of two files for one host the first by name counts, in both.
    let same = "an earlier file, by name, is for the same host";
    lines.push((vec![format!("check --robots two -a Bot {URL}")], "disallow"));
    lines.push((vec![format!("check --robots two --strict -a Bot {URL}")], same));
    let check = format!("check -p two.set -a Bot {URL}");
    lines.push((vec!["compile two -o two.set".to_owned(), check], "disallow"));
    lines.push((vec!["compile two --strict -o none.set".to_owned()], same));
    run_all(&folder, &lines);
    for line in ["check --robots two -a Bot https://closed.example/x", "compile two -o noted.set"] {
        let words = format!("closed.example.txt: left out: {same}");
        assert_says(&folder.output(line), &[&words]);
    }
    assert!(!exists(&folder.path("none.set")));
}

#[test]
fn lenient_notes_skipped_files() {
    let folder = kinds();
    folder.write("hosts/closed.example", CLOSED);
    symlink("gone", folder.path("hosts/gone.example")).unwrap();
    let url = "https://gone.example/ https://closed.example/";
    for line in [&format!("check --robots hosts -a Bot {url}"), "compile hosts -o none.set"] {
        let words = ["gone.example: no such file or directory", "--lenient"];
        assert_fails(&folder.output(line), &words);
    }
    let compiled = folder.ok("compile hosts missing --lenient -o a.set");
    let checked = folder.output(format!("check --lenient --robots hosts -a Bot {url}"));
    let stored = folder.output(format!("check -p a.set -a Bot {url}"));
    for output in [&compiled, &checked] {
        assert_says(output, &["left out: ", "gone.example: no such file"]);
    }
    let expected = "unknown\thttps://gone.example/\ndisallow\thttps://closed.example/\n";
    assert_stdout(&checked, expected);
    assert_stdout(&stored, expected);
}

#[test]
fn odd_files_are_counted_in_summaries_and_sets() {
    let folder = kinds();
    folder.write("hosts/a.example", folder.read("page.html"));
    folder.write("hosts/b.example", folder.read("error.json"));
    folder.write("hosts/c.example", long_file());
    let note = |output: &Output, name: &str| json(&output.stderr)["file_notes"][name].as_u64();
    let compiled = folder.output("compile hosts -o a.set --json");
    // Both origins of the host have the page.
    assert_eq!(note(&compiled, "looks-like-html"), Some(2));
    for policies in ["--robots hosts", "-p a.set"] {
        let output = folder.output(format!("classify {policies} -a Bot --json one.txt"));
        assert_eq!(note(&output, "looks-like-html"), Some(1), "{policies}");
        assert_eq!(note(&output, "looks-like-json"), Some(1), "{policies}");
        assert_eq!(note(&output, "looks-binary"), Some(0), "{policies}");
        assert_eq!(note(&output, "file-cut"), Some(1), "{policies}");
        let output = folder.output(format!("check {policies} -a Bot --explain http://c.example/x"));
        let words = "note     the file is longer than the limit: its end is ignored\n";
        assert_contains(&text(&output.stdout), &["allow", words]);
        let output = folder.output(format!("check {policies} -a Bot --json http://c.example/x"));
        assert_eq!(json(&output.stdout)["file_notes"], json!(["file-cut"]));
    }
    assert_says(
        &folder.ok("compile hosts -o b.set"),
        &["note: some files are longer", "file-cut 2"],
    );
    folder.ok("verify a.set");
}
