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

const A_ROBOTS_TXT: &str = "(FOLDER/HOST)";

const NO_FILE: &str = "no such file or directory";

#[rustfmt::skip]
const ROWS: [Row; 19] = [
    //                  as a robots.txt     as a set          as a list of URLs  as captures       as a host's
    //                  file
    row("robots.txt",  ["disallow",         "text",           "--robots names",  A_ROBOTS_TXT,     "disallow"]),
    row("robots.gz",   ["disallow",         "gzip data",      "--robots names",  A_ROBOTS_TXT,     "disallow"]),
    row("robots.zst",  ["disallow",         "zstd data",      "--robots names",  A_ROBOTS_TXT,     "disallow"]),
    row("policies.set",["use -p",           "disallow",       "-p names",        "disallow",        "unknown"]),
    row("urls.txt",    ["a list of URLs",   "a list of URLs", "disallow",        "a list of URLs", "unknown"]),
    row("urls.gz",     ["a list of URLs",   "gzip data",      "disallow",        "a list of URLs", "unknown"]),
    row("a.jsonl",     ["compile -o SET",   "compile -o SET", "compile -o SET",  "disallow",       "unknown"]),
    row("a.warc",      ["compile -o SET",   "compile -o SET", "compile -o SET",  "disallow",       "unknown"]),
    row("a.warc.gz",   ["compile -o SET",   "gzip data",      "compile -o SET",  "disallow",       "unknown"]),
    row("a.parquet",   ["compile -o SET",   "compile -o SET", "as Parquet",      "Parquet",        "unknown"]),
    row("a.zip",       ["unpack it first",  "unpack it first","unpack it first", "unpack it first","unknown"]),
    row("page.html",   ["warns web page",   "HTML",           "like HTML",       A_ROBOTS_TXT,     "warns (1 HTML)"]),
    row("error.json",  ["warns JSON",       "JSON",           "--url-field NAME",    "no URL and no host", "warns (1 JSON)"]),
    row("random",      ["warns binary",     "damaged",        "binary data",     "binary data",    "warns (1 binary)"]),
    row("cut.gz",      ["cut short",        "gzip data",      "cut short",       "cut short",      "cut short"]),
    row("empty",       ["allow",            "an empty file",  "",                "an empty file",  "allow"]),
    row("folder",      ["disallow",         "a folder",       "--robots names",  "disallow",       "unknown"]),
    row("missing",     [NO_FILE,            NO_FILE,          NO_FILE,           NO_FILE,          NO_FILE]),
    row("loop",        ["symbolic link",    "symbolic link",  "symbolic link",   "symbolic link",  "symbolic link"]),
];

/// Command lines with `{}` for the file. Their output has the verdict, or none for an empty list.
const AS_ROBOTS_TXT: [&str; 3] = [
    "check --robots {} -a Bot https://closed.example/x",
    "classify --robots {} -a Bot --summary none one.txt",
    "audit --robots {} -a Bot --format json --summary none one.txt",
];

/// Here a folder is not a single robots.txt, and a set is compared with sets.
const AS_ONE_ROBOTS_TXT: [&str; 2] = ["lint {}", "diff {} robots.txt -a Bot"];

const AS_SET: [&str; 5] = [
    "check -p {} -a Bot https://closed.example/x",
    "classify -p {} -a Bot --summary none one.txt",
    "inspect {}",
    "inspect --verify {}",
    "audit -p {} -a Bot --format json --summary none one.txt",
];

const AS_LIST: [&str; 4] = [
    "classify --robots robots.txt -a Bot --summary none {}",
    "filter --robots robots.txt -a Bot --summary none -v {}",
    "audit --robots robots.txt -a Bot --format json --summary none {}",
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
            // `diff` may be asked about a set, and binary data is a damaged one.
            let of = |line: &str| match line.starts_with("diff") && row.kind == "random" {
                true => row.set,
                false => row.robots,
            };
            filled(&AS_ONE_ROBOTS_TXT, row.kind).for_each(|steps| {
                let expected = of(&steps[0]);
                add(steps, expected);
            });
        }
        filled(&AS_SET, row.kind).for_each(|steps| add(steps, row.set));
        filled(&AS_LIST, row.kind).for_each(|steps| {
            // Without a URL, nothing shows that two sets are equal.
            let is_diff = steps[0].starts_with("diff") && row.list.is_empty();
            add(steps, if is_diff { "no URL to compare" } else { row.list });
        });
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

/// Merging parts is compiling all at once, also if a part has but what the origins of another redirect to.
#[test]
fn what_the_origins_of_a_set_redirect_to_is_an_input() {
    let folder = Folder::new();
    let record = |path: &str, rest: serde_json::Value| {
        let mut record =
            json!({ "url": format!("https://r.example{path}"), "fetched_at": "2024-01-01" });
        record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let location = json!({ "status": 301, "headers": { "Location": "/x/robots.txt" } });
    folder.write("1.jsonl", record("/robots.txt", location));
    let body = json!({ "status": 200, "body": "User-agent: *\nDisallow: /\n" });
    folder.write("2.jsonl", record("/x/robots.txt", body));
    folder.ok("compile 1.jsonl 2.jsonl -o at-once.pcs");
    folder.ok("compile 1.jsonl -o 1.pcs");
    folder.ok("compile 1.pcs 2.jsonl -o merged.pcs");
    assert!(folder.read("merged.pcs") == folder.read("at-once.pcs"));
    assert_stdout(
        &folder.output("check -p merged.pcs -a Bot https://r.example/"),
        "disallow\thttps://r.example/\n",
    );
    assert_fails(&folder.output("compile 2.jsonl -o 2.pcs"), &["no capture is of a robots.txt"]);
}

/// A set has notes on the files that it was compiled from.
#[test]
fn diff_is_strict_about_the_files_of_sets() {
    let folder = Folder::new();
    folder.ok("compile --summary none -o good.pcs robots");
    folder.write("robots/page.example", "<!DOCTYPE html>\n");
    folder.ok("compile --summary none -o odd.pcs robots");
    for sets in ["odd.pcs good.pcs", "good.pcs odd.pcs"] {
        folder.ok(format!("diff {sets}"));
        let output = folder.output(format!("diff {sets} --strict"));
        assert_fails(
            &output,
            &["odd.pcs: 1 robots.txt file with a problem (1 HTML)", "omit --strict"],
        );
    }
    folder.ok("diff good.pcs good.pcs --strict");
}

/// A robots.txt may have a stray byte, of which --robots and diff say the same. What is left of a set has
/// rules that no robots.txt had, so it is an error.
#[test]
fn diff_reads_a_text_with_stray_bytes_but_no_rest_of_a_set() {
    let folder = Folder::new();
    folder.write("stray.txt", "User-agent: *\nDisallow: /x\0y\nAllow: /\x01z\nDisallow: /a\n");
    folder.write("silent.txt", "User-agent: *\nDisallow: /x\x01y\n");
    folder.write("plain.txt", "User-agent: *\nDisallow: /b\n");
    let output = folder.ok("diff stray.txt plain.txt --strict --summary none");
    assert_contains(&text(&output.stdout), &[r"*\tdifferent\t/a\tdisallow\tallow\trule\t4"]);
    let note = "silent.txt: this looks like binary data";
    assert_says(&folder.ok("diff silent.txt plain.txt"), &[note]);
    assert_says(&folder.ok(format!("check --robots silent.txt -a Bot {URL}")), &[note]);
    assert_fails(&folder.output("diff plain.txt silent.txt --strict"), &[note, "omit --strict"]);
    folder.ok("compile --summary none -o a.pcs robots");
    let set = folder.read("a.pcs");
    for lost in [1, 2, 8, 9, 64, 1024, 4096, set.len() - 64] {
        folder.write("rest.pcs", &set[lost..]);
        for files in ["rest.pcs rest.pcs", "rest.pcs plain.txt", "plain.txt rest.pcs"] {
            assert_fails(&folder.output(format!("diff {files}")), &["rest.pcs: ", "policy set"]);
        }
    }
    // One that begins with the texts of a thousand files, and a zero among them.
    let sitemap = |host: u32| format!("Sitemap: https://h{host}.example/{}\n", "x".repeat(200));
    let files =
        (1000..2000).map(|host| capture(&format!("h{host}.example"), "", 200, &sitemap(host)));
    folder.write("texts.jsonl", files.collect::<String>());
    folder.ok("compile --summary none texts.jsonl -o texts.pcs");
    let set = folder.read("texts.pcs");
    let is_nul_after_text = |it: &[u8]| it.starts_with(b"xxx") && it[5] == 0;
    let lost = set.windows(6).position(is_nul_after_text).unwrap();
    folder.write("rest.pcs", &set[lost..]);
    assert_fails(&folder.output("diff rest.pcs plain.txt"), &["rest.pcs: binary", "policy set"]);
}

/// The status has the answer. A summary that a flag asks for is written.
#[test]
fn quiet_shows_no_note_and_no_summary() {
    let folder = Folder::new();
    folder.write("lists/_left-out", "");
    folder.write("lists/urls.csv", format!("id,url\n1,{DISALLOWED}\n2,{ALLOWED}\n"));
    folder.write("closed.csv", format!("id,url\n1,{DISALLOWED}\n"));
    let filter = "filter -q --robots robots -a GPTBt";
    for (line, status) in [
        (format!("{filter} lists"), 0),
        (format!("{filter} --summary none lists"), 0),
        (format!("{filter} closed.csv"), 0),
        (format!("{filter} --fail closed.csv"), 1),
        (format!("check -q --robots robots -a GPTBt {ALLOWED}"), 0),
        (format!("check -q --robots robots -a GPTBt {DISALLOWED}"), 1),
    ] {
        let output = folder.output(&line);
        assert_status(&output, status);
        assert_eq!(text(&[output.stdout, output.stderr].concat()), "", "{line}");
    }
    let output = folder.ok(format!("{filter} lists --summary json --summary s.json"));
    for summary in [&output.stderr, &folder.read("s.json")] {
        assert_eq!(json(summary)["kept"], 1);
    }
}

/// A link to nothing in a folder is a list that cannot be read, and no reason to read none.
#[test]
fn a_list_that_is_a_link_to_nothing_stops_no_other() {
    let folder = Folder::new();
    for name in ["lists/a.txt", "lists/c.txt"] {
        folder.write(name, format!("{ALLOWED}\n"));
    }
    symlink("nothing", folder.path("lists/b.txt")).unwrap();
    symlink("nothing", folder.path("lists/.hidden")).unwrap();
    let classify = "classify --robots robots -a ExampleBot --summary none";
    let output = folder.output(format!("{classify} lists --out-dir out --keep-going"));
    assert_status(&output, 2);
    let failed = "1 of 3 lists failed; the outputs of the others are complete";
    assert_says(&output, &["error: lists/b.txt: no such file or directory", failed, "1 name with"]);
    for name in ["out/a.tsv", "out/c.tsv"] {
        assert_eq!(text(&folder.read(name)), format!("allow\t{ALLOWED}\n").replace('\t', "\\t"));
    }
    let output = folder.output(format!("{classify} lists --out-dir all"));
    assert_fails(&output, &["lists/b.txt: no such file or directory"]);
    assert!(!exists(&folder.path("all/a.tsv")));
}
