//! `portcullis synth`.

use super::*;

fn synth(folder: &Folder, line: &str) -> Output {
    folder.command(&format!("synth {line}")).output().unwrap()
}

/// Names and contents of the robots.txt files, and the list.
fn corpus(folder: &Folder, name: &str) -> (Vec<(String, Vec<u8>)>, Vec<u8>) {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder.path(name).join("robots"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    (files, folder.read(&format!("{name}/urls.txt")))
}

#[test]
fn a_seed_gives_one_corpus() {
    let folder = Folder::new();
    for (seed, out) in [(1, "one"), (1, "same"), (2, "other")] {
        let output = synth(&folder, &format!("--seed {seed} --hosts 30 --urls 500 --out {out}"));
        assert_status(&output, 0);
    }
    assert!(corpus(&folder, "one") == corpus(&folder, "same"));
    assert!(corpus(&folder, "one") != corpus(&folder, "other"));
}

#[test]
fn it_has_as_many_as_asked_for() {
    let folder = Folder::new();
    assert_status(&synth(&folder, "--hosts 30 --urls 500 --out c"), 0);
    let (files, urls) = corpus(&folder, "c");
    assert_eq!(files.len(), 30);
    assert_eq!(urls.iter().filter(|&&byte| byte == b'\n').count(), 500);
}

#[test]
fn every_url_of_it_has_a_policy() {
    let folder = Folder::new();
    assert_status(&synth(&folder, "--hosts 30 --urls 500 --out c"), 0);
    let line = "classify --robots c/robots -a Googlebot,Other --json c/urls.txt -o out.tsv";
    let output = folder.command(line).output().unwrap();
    assert_status(&output, 0);
    let object: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    for agent in [0, 1] {
        let verdicts = &object["per_agent"][agent]["verdicts"];
        assert_eq!((&verdicts["unknown"], &verdicts["invalid"]), (&0.into(), &0.into()));
        assert!(verdicts["allow"] != 0 && verdicts["disallow"] != 0, "{verdicts}");
    }
}

#[test]
fn preferences_change_no_verdict() {
    let folder = Folder::new();
    let classify = |corpus: &str, flags: &str| {
        let line =
            format!("classify --robots {corpus}/robots -a Googlebot,Other {corpus}/urls.txt");
        String::from_utf8(folder.ok(format!("{line} {flags} --no-summary")).stdout).unwrap()
    };
    for (flags, out) in [("", "plain"), ("--usage", "stated")] {
        folder.ok(format!("synth --hosts 300 --urls 2000 {flags} --out {out}"));
    }
    assert!(corpus(&folder, "plain").0 != corpus(&folder, "stated").0);
    assert!(corpus(&folder, "plain").1 == corpus(&folder, "stated").1);
    assert_eq!(classify("plain", ""), classify("stated", ""));
    let stated = |corpus: &str| classify(corpus, "--usage search").contains("\ty\t");
    assert_eq!((stated("plain"), stated("stated")), (false, true));
}

#[test]
fn it_replaces_nothing() {
    let folder = Folder::new();
    assert_status(&synth(&folder, "--hosts 3 --urls 3 --out c"), 0);
    let before = corpus(&folder, "c");
    assert_fails(&synth(&folder, "--seed 9 --hosts 3 --urls 3 --out c"), &["c/robots", "--out"]);
    assert!(corpus(&folder, "c") == before);
}

/// The lines of the list of states.
fn states(folder: &Folder, name: &str) -> Vec<String> {
    let text = String::from_utf8(folder.read(&format!("{name}/expected.tsv"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn json_lines_hold_the_files_of_the_folder() {
    let folder = Folder::new();
    for (format, out) in [("folder", "c"), ("jsonl", "j")] {
        let line = format!("--hosts 30 --urls 500 --format {format} --out {out}");
        assert_status(&synth(&folder, &line), 0);
    }
    let (files, urls) = corpus(&folder, "c");
    assert!(urls == folder.read("j/urls.txt"));
    let mut archived: Vec<(String, Vec<u8>)> = String::from_utf8(folder.read("j/robots.jsonl"))
        .unwrap()
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let host = record["url"].as_str().unwrap().split('/').nth(2).unwrap();
            (host.to_owned(), record["body"].as_str().unwrap().into())
        })
        .collect();
    archived.sort();
    assert!(files == archived);
}

#[test]
fn answers_come_with_the_states_that_they_make() {
    let folder = Folder::new();
    for (format, archive) in [("jsonl", "robots.jsonl"), ("warc", "robots.warc.gz")] {
        let line = format!("--hosts 600 --urls 10 --format {format} --answers --out {format}");
        assert_status(&synth(&folder, &line), 0);
        assert!(folder.path(&format!("{format}/{archive}")).is_file());
        let states = states(&folder, format);
        for state in ["rules", "no-rules", "unavailable", "unreachable"] {
            assert!(states.iter().any(|line| line.ends_with(&format!("\t{state}"))), "{state}");
        }
        assert_fails(&synth(&folder, &line), &[archive, "--out"]);
    }
}

#[test]
fn a_warc_file_is_compressed_once() {
    let folder = Folder::new();
    assert_status(&synth(&folder, "--hosts 3 --urls 3 --format warc --out w"), 0);
    let stored = folder.read("w/robots.warc.gz");
    let mut text = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(&stored[..]);
    std::io::Read::read_to_end(&mut decoder, &mut text).unwrap();
    assert!(text.starts_with(b"WARC/1.0\r\n"));
}

#[test]
fn a_folder_has_no_other_answers_than_files() {
    let folder = Folder::new();
    assert_fails(&synth(&folder, "--answers --out c"), &["--format jsonl"]);
    assert!(!folder.path("c").exists());
}
