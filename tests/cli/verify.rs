//! `portcullis verify`, and damaged sets wherever a set is expected.

use super::*;

/// Returns a folder with the compiled set of its policies.
fn folder() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    folder.ok("compile robots -o a.set");
    let bytes = folder.read("a.set");
    (folder, bytes)
}

#[test]
fn a_sound_set() {
    let (folder, bytes) = folder();
    let output = folder.ok("verify a.set");
    assert_stdout(&output, "");
    let blocks = format!("all {} blocks are intact", bytes.len() / 4_096);
    assert_says(&output, &[&blocks, &format!("{} bytes", bytes.len())]);
    assert_says(&output, &["2 hosts, 4 origins, 2 captures"]);
    assert_says(&output, &["2 policies of 5 records and 2 rule sets with their prefilters"]);
}

#[test]
fn a_damaged_set_is_named_with_the_fix() {
    let (folder, bytes) = folder();
    let flipped = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cases: [(&str, Vec<u8>, &[&str]); 7] = [
        ("cut", bytes[..bytes.len() - 1].to_vec(), &["is cut short", "fetch the file again"]),
        ("longer", [&bytes[..], b"x"].concat(), &["bytes were appended"]),
        ("header", flipped(16), &["header", "portcullis compile"]),
        ("data", flipped(5_000), &["byte 4096", "portcullis compile"]),
        ("checksums", flipped(bytes.len() - 1), &["checksums", "portcullis compile"]),
        ("empty", Vec::new(), &["not a policy set", "portcullis compile"]),
        ("text", b"User-agent: *\n".to_vec(), &["not a policy set", "portcullis compile"]),
    ];
    for (name, bytes, words) in cases {
        folder.write(name, bytes);
        let output = folder.output(format!("verify {name}"));
        assert_fails(&output, words);
        assert_fails(&output, &[name]);
    }
    assert_fails(&folder.output("verify robots"), &["robots: a folder, not a policy set"]);
    assert_fails(&folder.output("verify missing"), &["missing"]);
}

/// A damaged set gives no answer, and an unfinished output is removed.
#[test]
fn a_damaged_set_gives_no_answer() {
    let (folder, mut bytes) = folder();
    bytes[4_096..].iter_mut().step_by(97).for_each(|byte| *byte ^= 1);
    folder.write("bad.set", bytes);
    folder.write("urls", [ALLOWED, DISALLOWED].join("\n"));
    for line in ["classify urls -o out.tsv", "filter urls -o out.txt", "check https://a.example/"] {
        let output = folder.output(format!("{line} -p bad.set -a Bot"));
        assert_fails(&output, &["bad.set is damaged", "portcullis compile"]);
    }
    assert_eq!(folder.names(), ["a.set", "bad.set", "urls"]);
}
