//! Outputs: never an input of the run, never two in one file, and all of them or none.

use std::fs::OpenOptions;
use std::os::unix::fs::symlink;
use std::process::{Command as Process, Stdio};

use super::*;

const URLS: &str = "https://a.example/private/x\nhttps://nobody.example/\nno URL\n";

/// Returns a folder with a list `l` and a set `s`, both also as a link and as a hard link.
fn linked() -> Folder {
    let folder = Folder::new();
    folder.ok("compile robots -o s");
    folder.write("l", URLS);
    for name in ["l", "s"] {
        symlink(name, folder.path(&format!("{name}.link"))).unwrap();
        fs::hard_link(folder.path(name), folder.path(&format!("{name}.hard"))).unwrap();
    }
    fs::create_dir(folder.path("sub")).unwrap();
    folder
}

/// Returns all files of a folder, with their contents.
fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let names = folder.names().into_iter().filter(|name| name != "sub");
    let mut files: Vec<_> = names.map(|name| (name.clone(), folder.read(&name))).collect();
    for entry in fs::read_dir(folder.path("robots")).unwrap() {
        let path = entry.unwrap().path();
        files.push((path.display().to_string(), fs::read(path).unwrap()));
    }
    files
}

#[test]
fn an_output_that_is_an_input() {
    let folder = linked();
    let before = contents(&folder);
    let lines = [
        "filter l --robots robots -a Bot --unknown NAME",
        "filter l --robots robots -a Bot --invalid NAME -o other",
        "filter l --robots robots -a Bot --rejects NAME -o other",
        "filter l --robots robots -a Bot -o NAME",
        "classify l --robots robots -a Bot --format tsv -o NAME",
        "classify -p s -a Bot --format tsv -o NAME l",
        "audit l --robots robots -a Bot -o NAME",
        "audit l --robots robots -a Bot -o other --report NAME",
        "audit other -p l -a Bot --report NAME",
        "compile l robots -o NAME",
        "merge s l -o NAME",
        "diff s l --format tsv -o NAME",
        "diff s s l -a Bot --format tsv -o NAME",
        "bench --robots robots --urls l -a Bot --report NAME",
        "bench --robots robots --urls l -a Bot --html NAME",
        "bench --robots l --urls other -a Bot --html NAME",
    ];
    for line in lines {
        for name in ["l", "l.link", "l.hard", "./l", "sub/../l"] {
            let output = folder.pipe(line.replace("NAME", name), "");
            assert_fails(&output, &[name, "also an input (l)"]);
            assert!(contents(&folder) == before, "{line}, {name}");
        }
    }
    for line in [
        "classify -p s -a Bot --format jsonl -o s.link l",
        "classify -p s.link -a Bot --format jsonl -o s.hard l",
        "merge s -o s.link",
        "diff s.hard s -o s --format tsv",
    ] {
        assert_status(&folder.pipe(line, ""), 2);
        assert!(contents(&folder) == before, "{line}");
    }
}

#[test]
fn an_output_that_is_in_a_folder_of_inputs() {
    let folder = linked();
    let before = contents(&folder);
    for line in [
        "filter l --robots robots -a Bot -o robots/a.example",
        "compile robots -o robots/a.example",
        "compile . -o s",
    ] {
        assert_fails(&folder.output(line), &["also an input"]);
        assert!(contents(&folder) == before, "{line}");
    }
    folder.ok("filter l --robots robots -a Bot -o robots/c");
}

/// The names of outputs in a folder are compared with the inputs too.
#[test]
fn an_output_named_after_a_list_that_is_an_input() {
    let folder = linked();
    folder.write("names", "Bot\n");
    for name in ["a.example", "l", "m", "n", "s"] {
        folder.write(&format!("sub/lists/{name}"), URLS);
    }
    fs::create_dir(folder.path("sub/links")).unwrap();
    symlink("../../s", folder.path("sub/links/l")).unwrap();
    fs::hard_link(folder.path("robots/a.example"), folder.path("sub/links/m")).unwrap();
    fs::hard_link(folder.path("names"), folder.path("sub/links/n")).unwrap();
    let before = contents(&folder);
    for (line, words) in [
        (
            "sub/lists --robots robots --out-dir robots",
            ["robots/a.example ", "also an input (robots/a.example)"],
        ),
        ("sub/lists/s -p s --out-dir .", ["./s ", "also an input (s)"]),
        ("sub/lists/l -p s.hard --out-dir sub/links", ["sub/links/l ", "(s.hard)"]),
        ("sub/lists/m --robots robots --out-dir sub/links", ["sub/links/m ", "(robots/a.example)"]),
        ("sub/lists/n -p s -a @names --out-dir sub/links", ["sub/links/n ", "(names)"]),
        ("sub/lists/s -p l --out-dir sub --rejects sub/s", ["--rejects sub/s", "are one file"]),
    ] {
        let output = folder.output(format!("filter {line} -a Bot"));
        assert_fails(&output, &words);
        assert_says(&output, if words[1] == "are one file" { &[] } else { &["--out-dir"] });
        assert!(contents(&folder) == before, "{line}");
    }
    // An output of an earlier run is replaced.
    for _ in 0..2 {
        folder.ok("filter sub/lists --robots robots -a @names --out-dir sub/lists/.out");
    }
}

/// A file that `-a` reads is an input.
#[test]
fn an_output_that_is_a_file_of_agents() {
    let folder = linked();
    folder.write("names", "Bot\n");
    symlink("names", folder.path("names.link")).unwrap();
    fs::hard_link(folder.path("names"), folder.path("names.hard")).unwrap();
    let before = contents(&folder);
    for line in [
        "filter l --robots robots -a Other,@names -o NAME",
        "filter l --robots robots -a @names --rejects NAME",
        "classify l -p s -a @names --format tsv -o NAME",
        "audit l --robots robots -a @names -o NAME",
        "audit l --robots robots -a @names --report NAME",
        "diff s s l -a @names --format tsv -o NAME",
    ] {
        for name in ["names", "names.link", "names.hard"] {
            let output = folder.output(line.replace("NAME", name));
            assert_fails(&output, &[name, "also an input (names)"]);
            assert!(contents(&folder) == before, "{line}, {name}");
        }
    }
}

/// A stream that is redirected to a file counts as that file.
#[test]
fn a_stream_that_is_an_output_or_an_input() {
    let folder = linked();
    let run = |line: &str, stdin: &str, stdout: &str| {
        let stdout = OpenOptions::new().append(true).open(folder.path(stdout));
        let stdout =
            stdout.unwrap_or_else(|_| OpenOptions::new().write(true).open("/dev/null").unwrap());
        let mut process = folder.process(&format!("{line} --robots robots -a Bot"));
        process.stdin(fs::File::open(folder.path(stdin)).unwrap()).stdout(stdout);
        process.output().unwrap()
    };
    folder.write("x", "before");
    let before = contents(&folder);
    assert_fails(&run("filter -o l", "l", ""), &["--output l", "standard input"]);
    assert_fails(&run("filter - --unknown l.hard", "l", ""), &["l.hard", "standard input"]);
    assert_fails(&run("filter l", "x", "l"), &["standard output", "also an input (l)"]);
    assert_fails(&run("filter", "l", "l"), &["standard output", "standard input"]);
    assert_fails(&run("filter l --unknown x", "l", "x"), &["--unknown x", "standard output"]);
    assert!(contents(&folder) == before);
    // The list is named: nothing reads the stream.
    assert_status(&run("filter l -o x", "x", ""), 0);
}

#[test]
fn two_outputs_that_are_one_file() {
    let folder = linked();
    folder.write("x", "before");
    fs::hard_link(folder.path("x"), folder.path("x.hard")).unwrap();
    symlink("x", folder.path("x.link")).unwrap();
    let before = contents(&folder);
    for (first, second) in [("x", "x.hard"), ("x", "x.link"), ("n", "n"), ("n", "./sub/../n")] {
        for line in [
            "filter l --robots robots -a Bot -o FIRST --unknown SECOND",
            "filter l --robots robots -a Bot --invalid FIRST --unknown SECOND",
            "audit l --robots robots -a Bot -o FIRST --report SECOND",
            "bench --robots robots --urls l -a Bot --report FIRST --html SECOND",
        ] {
            let line = line.replace("FIRST", first).replace("SECOND", second);
            assert_fails(&folder.output(&line), &[first, second, "are one file"]);
            assert!(contents(&folder) == before, "{line}");
        }
    }
    let both = "audit l --robots robots -a Bot -o - --report -";
    assert_fails(&folder.output(both), &["are one file"]);
}

/// Devices and pipes hold no data that could be lost, so they may be named twice.
#[test]
fn devices_and_pipes_are_outputs() {
    let folder = linked();
    for (line, expected) in [
        ("filter l -o /dev/null --unknown /dev/null --invalid /dev/null", ""),
        (
            "filter l -v --unknown /dev/stdout",
            "https://a.example/private/x\nhttps://nobody.example/\n",
        ),
        ("filter -v /dev/stdin -o /dev/stdout", "https://a.example/private/x\n"),
        ("classify -o /dev/null", ""),
        ("classify -o /dev/stdout --format tsv", "disallow\thttps://a.example/private/x\n"),
    ] {
        let output = folder.run(line, URLS);
        assert_status(&output, 0);
        assert!(output.stdout.starts_with(expected.as_bytes()), "{line}: {}", text(&output.stdout));
        assert_eq!(expected.is_empty(), output.stdout.is_empty(), "{line}");
    }
    assert!(Process::new("mkfifo").arg(folder.path("fifo")).status().unwrap().success());
    let reader =
        Process::new("cat").arg(folder.path("fifo")).stdout(Stdio::piped()).spawn().unwrap();
    assert_status(&folder.run("filter -v l -o fifo", ""), 0);
    let read = reader.wait_with_output().unwrap().stdout;
    assert_eq!(read, b"https://a.example/private/x\n");
    // A file to which the stream is redirected is appended to, not replaced.
    folder.write("log", "before\n");
    let log = OpenOptions::new().append(true).open(folder.path("log")).unwrap();
    let mut process = folder.process("filter -v l --robots robots -a Bot -o /dev/stdout");
    assert!(process.stdout(log).stderr(Stdio::null()).status().unwrap().success());
    assert_eq!(folder.read("log"), b"before\nhttps://a.example/private/x\n");
}

/// The last output fails when it is completed; the first one must not exist then.
#[cfg(target_os = "linux")]
#[test]
fn all_outputs_or_none() {
    let folder = linked();
    for line in [
        "filter -v l --robots robots -a Bot -o out --unknown /dev/full",
        "filter -v l --robots robots -a Bot -o /dev/full --unknown out",
        "filter -v l --robots robots -a Bot -o out --rejects /dev/full",
        "filter l --robots robots -a Bot --out-dir sub --rejects /dev/full",
        "audit l --robots robots -a Bot -o out --report /dev/full",
        "bench --robots robots --urls l -a Bot --report out --html /dev/full --rounds 1 \
         --seconds-per-pass 0.001 --engine portcullis",
    ] {
        let before = contents(&folder);
        let output = folder.output(line);
        assert_status(&output, 2);
        assert_says(&output, &["/dev/full: make room"]);
        assert!(contents(&folder) == before, "{line}");
    }
}

#[test]
fn a_corpus_that_does_not_fit_leaves_nothing() {
    let folder = Folder::new();
    for (kibibytes, format) in [("0", "folder"), ("4", "folder"), ("0", "jsonl"), ("8", "warc")] {
        let output = Process::new("bash")
            .current_dir(folder.folder.path())
            .args(["-c", "ulimit -f $0 && exec \"$@\"", kibibytes])
            .arg(env!("CARGO_BIN_EXE_portcullis"))
            .args(["synth", "--hosts", "300", "--urls", "9", "--format", format, "--out", "c"])
            .output()
            .unwrap();
        assert_fails(&output, &["c/robots"]);
        assert_eq!(fs::read_dir(folder.path("c")).unwrap().count(), 0, "{kibibytes}, {format}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written() {
    for line in ["--help", "--version", "check --help", "help synth", "--generate man"] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Folder::new().process(line).stdout(full).output().unwrap();
        assert_fails(&output, &["standard output", "No space left"]);
    }
}
