//! Failures: a message, status 2 and no partial file. A closed pipe is not a failure.

use std::process::Stdio;

use super::*;

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    for line in [
        "",
        "fetch",
        "check --robots robots -a Bot",
        "check --robots robots https://a.example/",
        "check -a Bot https://a.example/",
        "classify --robots robots -a Bot --format xml",
        "classify --robots robots -a Bot -o out.parquet --format tsv",
        "classify --robots robots -a Bot -o out",
        "classify --robots robots -a Bot -o out.gz",
        "classify --robots robots -a Bot -o out.tsv --format jsonl",
        "classify --robots robots -a A/1",
        "classify --robots robots -a A,",
        "classify --robots robots -a A+",
        "classify -p missing --robots robots -a Bot",
        "classify --robots robots -a Bot -j many",
        "filter --robots robots -a Bot --unknown kepp",
        "filter --robots robots -a Bot --invalid Drop",
        "filter --robots robots -a Bot --max-robots-size 0",
        "filter --robots robots -a Bot -q -c",
        "filter --robots robots -a Bot -q -o x",
        "filter --robots robots -a Bot --json --no-summary",
        "filter --robots robots -a Bot --unknown keep --unknown x",
        "filter --robots robots -a Bot --invalid keep --invalid x",
        "filter --robots robots -a Bot --invalid -",
        "filter --robots robots -a Bot --assume-scheme https://",
        "filter --robots robots -a Bot - missing -",
        "synth --hosts 0 --out x",
        "--generate poem",
    ] {
        assert_fails(&folder.pipe(line, ""), &[]);
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn help_and_version_are_successes() {
    for line in ["--help", "--version", "check --help", "classify -h", "filter --help", "synth -h"]
    {
        let output = portcullis().args(line.split(' ')).output().unwrap();
        assert_status(&output, 0);
        assert!(!output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn an_agent_that_is_no_token() {
    let folder = Folder::new();
    let run = |agent: &str, dialect: &str| {
        folder.output(format!("check --robots robots --dialect {dialect} -a {agent} {ALLOWED}"))
    };
    assert_fails(&run("Bot/2.1", "rfc9309"), &["Bot/2.1", "letters, digits, '-', '_' and '.'"]);
    assert_fails(&run("MJ12bot", "google"), &["MJ12bot", "letters, '-' and '_'"]);
    assert_fails(&run("Bot,,Other", "rfc9309"), &["empty"]);
    assert_status(&run("MJ12bot", "rfc9309"), 0);
}

#[test]
fn blanks_around_agents_are_no_part_of_them() {
    let folder = Folder::new();
    let run = |agents: &str| {
        folder.command("check --robots robots -a").args([agents, ALLOWED]).output().unwrap()
    };
    assert_stdout(&run(" ExampleBot, BadBot "), format!("allow\tdisallow\t{ALLOWED}\n"));
    assert_fails(&run("a b"), &["a b"]);
}

#[test]
fn an_unknown_dialect_lists_the_known_ones() {
    let folder = Folder::new();
    let output = folder.run("check --dialect rfc1 x", "");
    assert_fails(&output, &["original1994", "koster1996", "draft2019", "rfc9309", "google"]);
}

#[test]
fn a_damaged_input_leaves_no_output() {
    let folder = Folder::new();
    let whole = zstd::encode_all(ALLOWED.repeat(1000).as_bytes(), 1).unwrap();
    folder.write("cut.zst", &whole[..whole.len() - 4]);
    let line = "filter cut.zst -o out.txt --unknown u --invalid i";
    assert_fails(&folder.run(line, ""), &["cut.zst"]);
    assert_eq!(folder.names(), ["cut.zst"]);
}

#[test]
fn a_run_that_fails_leaves_an_older_output_alone() {
    let folder = Folder::new();
    folder.write("out.tsv", "before");
    assert_fails(&folder.run("classify missing -o out.tsv", ""), &["missing"]);
    assert_eq!(folder.read("out.tsv"), b"before");
    assert_eq!(folder.names(), ["out.tsv"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    folder.write("urls", ALLOWED.repeat(100));
    for line in ["classify urls", "filter urls", "filter -c urls", "check https://a.example/"] {
        let mut process = folder.process(&format!("{line} --robots robots -a Bot"));
        let output = process.stdout(full()).output().unwrap();
        assert_fails(&output, &["standard output", "No space left"]);
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: Bot\nDisallow: /none\n");
    folder.write("urls", format!("{ALLOWED}\n").repeat(200_000));
    folder.ok("compile --no-summary -o x.set robots");
    for line in [
        "classify urls --robots robots -a Bot",
        "classify --format jsonl urls --robots robots -a Bot",
        "filter urls --robots robots -a Bot",
        "inspect x.set",
    ] {
        let mut process = folder.process(line);
        let mut child = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before a line is read.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_status(&output, 0);
        assert_eq!(text(&output.stderr), "", "{line}");
    }
}

/// A command line and the one sentence that it prints, with exit status 2.
#[rustfmt::skip]
const MESSAGES: &[(&str, &str)] = &[
    // A path where a policy set is expected.
    ("check -p nope -a Bot x", "nope: no such file or directory"),
    ("check -p robots -a Bot x", "-p needs a compiled set; robots is a folder (use --robots robots)"),
    ("check -p robots.txt -a Bot x", "-p needs a compiled set; robots.txt is text (use --robots robots.txt)"),
    ("check -p urls.txt -a Bot x", "-p needs a compiled set; urls.txt is a list of URLs (pass it as FILE to classify, filter or audit)"),
    ("check -p a.warc -a Bot x", "-p needs a compiled set; a.warc is a WARC file (portcullis compile -o SET a.warc makes a set of it)"),
    ("check -p x.set.gz -a Bot x", "-p needs a compiled set; x.set.gz is gzip data (decompress it first)"),
    ("check -p a.zip -a Bot x", "-p needs a compiled set; a.zip is a zip archive (unpack it first)"),
    ("check -p empty -a Bot x", "-p needs a compiled set; empty is an empty file (make one with portcullis compile)"),
    ("check -p - -a Bot x", "-p needs a compiled set; standard input is a pipe or a device (a set is mapped, so write it to a file first)"),
    ("check -p https://a.example/x -a Bot x", "https://a.example/x: a URL, not a file; portcullis fetches nothing, so download it first"),
    ("inspect nope", "nope: no such file or directory"),
    ("inspect robots", "robots: a folder, not a policy set (portcullis compile -o SET robots makes a set of it)"),
    ("inspect empty", "empty: an empty file, not a policy set (make one with portcullis compile)"),
    ("verify -", "standard input: a pipe or a device, not a policy set (a set is mapped, so write it to a file first)"),
    ("verify s3://bucket/x.set", "s3://bucket/x.set: a URL, not a file; portcullis fetches nothing, so download it first"),
    ("merge -o y.set x.set a.tar", "a.tar: a tar archive, not a policy set (unpack it first)"),
    ("diff nope x.set", "nope: no such file or directory"),
    ("diff x.set robots.txt", "robots.txt is not a policy set, and x.set is one; pass two sets (see `portcullis compile`) or two robots.txt files"),
    ("diff x.set x.set urls.txt", "comparing URLs requires -a AGENT"),
    // A path where a robots.txt or a folder of them is expected.
    ("check --robots nope -a Bot x", "nope: no such file or directory"),
    ("check --robots x.set -a Bot x", "x.set: a policy set, not a robots.txt (use -p x.set)"),
    ("check --robots x.set.gz -a Bot x", "x.set.gz: a policy set, not a robots.txt (decompress it, then use -p x.set)"),
    ("check --robots urls.txt -a Bot x", "urls.txt: a list of URLs, not a robots.txt (pass it as FILE to classify, filter or audit)"),
    ("check --robots a.warc -a Bot x", "a.warc: a WARC file, not a robots.txt (portcullis compile -o SET a.warc makes a set of it)"),
    ("check --robots a.tar -a Bot x", "a.tar: a tar archive, not a robots.txt (unpack it first)"),
    ("check --robots a.tar.gz -a Bot x", "a.tar.gz: a tar archive, not a robots.txt (unpack it first)"),
    ("check --robots void -a Bot x", "void: no file is named by a host (example.com, example.com.txt, example.com.robots.txt or example.com/robots.txt); name the folder that holds such files"),
    ("check --robots one -a Bot x", "one: no file is named by a host (example.com, example.com.txt, example.com.robots.txt or example.com/robots.txt); pass --robots one/robots.txt to apply its robots.txt to every URL"),
    ("check --robots https://a.example/robots.txt -a Bot x", "https://a.example/robots.txt: a URL, not a file; portcullis fetches nothing, so download it first"),
    ("classify --robots - -a Bot", "standard input can be read only once; give - only once"),
    ("lint https://a.example/robots.txt", "https://a.example/robots.txt: a URL, not a file; portcullis fetches nothing, so download it first"),
    // Captures.
    ("compile -o y.set nope", "nope: no such file or directory; nothing was compiled"),
    ("compile -o y.set urls.txt", "urls.txt: unknown format; pass --input-format warc, jsonl, parquet or folder; nothing was compiled"),
    ("compile -o y.set x.set", "x.set: a policy set, not captures of robots.txt (join sets with portcullis merge, or use -p x.set); nothing was compiled"),
    ("compile -o y.set empty", "empty: an empty file, not captures of robots.txt (name the files that hold the captures); nothing was compiled"),
    ("compile -o y.set void", "void: no file is named by a host (example.com, example.com.txt, example.com.robots.txt or example.com/robots.txt); nothing was compiled"),
    ("compile -o y.set a.warc", "a.warc: no captures of robots.txt; nothing was compiled"),
    ("compile -o y.set a.zip", "a.zip: a zip archive, not captures of robots.txt (unpack it first); nothing was compiled"),
    ("compile -o y.set pages.jsonl", "pages.jsonl: no capture is of a robots.txt (1 of other URLs); if a field holds the host, name it with --field host=NAME; nothing was compiled"),
    ("compile -o y.set list.json", "list.json: line 1: a JSON list; write one object per line, as jq -c '.[]' does; nothing was compiled"),
    ("compile -o y.set ftp://a.example/x", "ftp://a.example/x: a URL, not a file; portcullis fetches nothing, so download it first"),
    ("compile -o y.set robots --input-format warc", "robots: a folder; omit --input-format; nothing was compiled"),
    ("compile -o y.set a.warc --input-format folder", "a.warc: a file, not a folder; omit --input-format folder; nothing was compiled"),
    ("compile -o y.set robots --field url=a --field url=b", "--field: url is named twice; name it once"),
    // Lists of URLs.
    ("classify --robots robots -a BadBot nope", "nope: no such file or directory"),
    ("filter --robots robots -a BadBot x.set", "x.set: a policy set, not a list of URLs (use -p x.set)"),
    ("filter --robots robots -a BadBot a.tar", "a.tar: a tar archive, not a list of URLs (unpack it first)"),
    ("audit --robots robots -a BadBot --report j a.zip", "a.zip: a zip archive, not a list of URLs (unpack it first)"),
    ("classify --robots robots -a Bot https://a.example/l", "https://a.example/l: a URL, not a file; portcullis fetches nothing, so download it first"),
    ("bench --robots robots -a BadBot --urls nope", "nope: no such file or directory"),
    // Outputs.
    ("classify --robots robots -a Bot -o no/out.tsv", "no/out.tsv: no such folder; create it first"),
    ("compile -o robots robots", "robots: a folder; name a file"),
    ("compile -o no/y.set robots", "no/y.set: no such folder; create it first"),
    ("compile -o - robots", "a set cannot go to standard output; name a file"),
    ("merge -o https://a.example/y.set x.set", "https://a.example/y.set: a URL, not a file; portcullis writes to files only"),
    ("classify --robots robots -a Bot urls.txt -o void", "void: a folder; name a file"),
    ("filter --robots robots -a Bot urls.txt --unknown no/u", "no/u: no such folder; create it first"),
    ("synth -o urls.txt", "urls.txt: a file, not a folder; name a folder"),
    ("synth -o -", "a folder cannot go to standard output; name a folder"),
];

#[test]
fn messages() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    folder.write("urls.txt", "https://a.example/\n");
    folder.write("empty", "");
    folder.write("a.warc", "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
    folder.write("a.zip", "PK\x03\x04");
    let tar = [&[0; 257][..], b"ustar\0", &[0; 249]].concat();
    folder.write("a.tar.gz", gzip(&tar));
    folder.write("a.tar", tar);
    folder.write("list.json", "[{\"url\": \"https://a.example/robots.txt\", \"status\": 404}]\n");
    folder.write("pages.jsonl", "{\"url\": \"https://a.example/\", \"body\": \"Disallow:\"}\n");
    fs::create_dir(folder.path("void")).unwrap();
    folder.write("one/robots.txt", "User-agent: *\nDisallow: /\n");
    folder.ok("compile -o x.set robots");
    folder.write("x.set.gz", gzip(&folder.read("x.set")));
    let before = folder.names();
    let mut wrong = String::new();
    for (line, expected) in MESSAGES {
        let output = folder.pipe(line, "");
        let said = String::from_utf8_lossy(&output.stderr);
        let said =
            said.strip_prefix("error: ").and_then(|it| it.strip_suffix('\n')).unwrap_or(&said);
        if said != *expected || output.status.code() != Some(2) || !output.stdout.is_empty() {
            wrong.push_str(&format!("{line}\n  {said}\n  {expected}\n"));
        }
    }
    assert_eq!(wrong, "", "each line with what it says and what is expected");
    assert_eq!(folder.names(), before);
}
