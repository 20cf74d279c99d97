//! `portcullis synth`.

use super::*;

/// Returns the names and contents of the robots.txt files, and the list.
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
        folder.ok(format!("synth --seed {seed} --hosts 30 --urls 500 --out {out}"));
    }
    assert!(corpus(&folder, "one") == corpus(&folder, "same"));
    assert!(corpus(&folder, "one") != corpus(&folder, "other"));
}

#[test]
fn it_has_the_requested_size_and_every_url_has_a_policy() {
    let folder = Folder::new();
    folder.ok("synth --hosts 30 --urls 500 --out c");
    let (files, urls) = corpus(&folder, "c");
    assert_eq!(files.len(), 30);
    assert_eq!(urls.iter().filter(|&&byte| byte == b'\n').count(), 500);
    let line = "classify --robots c/robots -a Googlebot,Other --json c/urls.txt -o out.tsv";
    let summary = json(&folder.ok(line).stderr);
    for agent in [0, 1] {
        let verdicts = &summary["per_agent"][agent]["verdicts"];
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
    folder.ok("synth --hosts 3 --urls 3 --out c");
    let before = corpus(&folder, "c");
    let again = folder.output("synth --seed 9 --hosts 3 --urls 3 --out c");
    assert_fails(&again, &["c/robots", "--out"]);
    assert!(corpus(&folder, "c") == before);
}

#[test]
fn json_lines_hold_the_files_of_the_folder() {
    let folder = Folder::new();
    for (format, out) in [("folder", "c"), ("jsonl", "j")] {
        folder.ok(format!("synth --hosts 30 --urls 500 --format {format} --out {out}"));
    }
    let (files, urls) = corpus(&folder, "c");
    assert!(urls == folder.read("j/urls.txt"));
    let mut archived: Vec<(String, Vec<u8>)> = json_lines(&folder.read("j/robots.jsonl"))
        .iter()
        .map(|record| {
            let host = record["url"].as_str().unwrap().split('/').nth(2).unwrap();
            (host.to_owned(), record["body"].as_str().unwrap().into())
        })
        .collect();
    archived.sort();
    assert!(files == archived);
}

#[test]
fn a_warc_file_is_compressed_once() {
    let folder = Folder::new();
    folder.ok("synth --hosts 3 --urls 3 --format warc --out w");
    let stored = folder.read("w/robots.warc.gz");
    assert!(decompressed("robots.warc.gz", &stored).starts_with(b"WARC/1.0\r\n"));
}
