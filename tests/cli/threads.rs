//! The output is the same for any number of threads.

use super::*;

/// The end of each URL, and their number: long lines fill several chunks with few of them.
const TAIL: &str =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const RECORDS: usize = 24_000;

/// Asserts that a command line writes the same bytes with any number of threads, and returns them.
#[track_caller]
fn assert_same(folder: &Folder, line: &str) -> Vec<u8> {
    let run = |threads: usize| folder.ok(format!("{line} -j {threads}")).stdout;
    let one = run(1);
    for threads in [0, 2, 7] {
        assert!(run(threads) == one, "{line} with {threads} threads");
    }
    one
}

#[test]
fn records_in_order() {
    let folder = Folder::new();
    let url = |number: usize| {
        let (host, path) = (["a", "b", "c"][number % 3], ["", "private/"][number % 2]);
        format!("https://{host}.example/{path}{number}?{TAIL}\n")
    };
    folder.write("urls", (0..RECORDS).map(url).collect::<String>());
    let flags = "--robots robots -a ExampleBot urls";
    let tagged = assert_same(&folder, &format!("classify {flags}"));
    let kept = assert_same(&folder, &format!("filter {flags}"));
    let tagged = String::from_utf8(tagged).unwrap();
    let allowed = tagged.lines().filter_map(|line| line.strip_prefix("allow\t"));
    assert_eq!(allowed.flat_map(|url| [url, "\n"]).collect::<String>().as_bytes(), kept);
    assert_eq!(tagged.lines().count(), RECORDS);
    folder.write("new", "User-agent: *\n");
    let changed = assert_same(&folder, "diff robots/a.example new -a ExampleBot urls");
    assert_eq!(changed.split(|&byte| byte == b'\n').count(), RECORDS / 2 + 2);
}

/// Threads compress what they made, and the files do not depend on them.
#[test]
fn compressed_files() {
    let folder = Folder::new();
    let url =
        |number: usize| format!("https://{}.example/{number}?{TAIL}\n", ["a", "b"][number % 2]);
    folder.write("urls", (0..RECORDS).map(url).collect::<String>());
    folder.write("few", "nothing\n\nhttps://a.example/");
    let flags = "--robots robots -a ExampleBot --summary none few urls";
    let expected = folder.ok(format!("classify --header {flags}")).stdout;
    let kept = folder.ok(format!("filter {flags}")).stdout;
    for extension in ["gz", "zst"] {
        let files = [1, 2, 3].map(|threads| {
            folder.ok(format!("classify --header {flags} -o t.tsv.{extension} -j {threads}"));
            let aside = format!("--unknown u.{extension} --invalid i.{extension}");
            folder.ok(format!("filter {flags} -o k.{extension} {aside} -j {threads}"));
            ["t.tsv", "k", "u", "i"].map(|name| folder.read(&format!("{name}.{extension}")))
        });
        assert!(files[1] == files[0] && files[2] == files[0], "{extension}");
        let text = |file: &Vec<u8>| match extension {
            "gz" => gunzip(file),
            _ => zstd::decode_all(&file[..]).unwrap(),
        };
        let [tagged, allowed, unknown, invalid] = files[0].each_ref().map(text);
        assert!(tagged == expected && allowed == kept, "{extension}");
        assert_eq!((unknown.len(), &*invalid), (0, &b"nothing\n\n"[..]));
    }
    // An output for each list has the compression of its name.
    folder.write("urls.gz", gzip(kept.as_slice()));
    folder.ok("filter --robots robots -a ExampleBot --summary none few urls.gz --out-dir each");
    assert_eq!(folder.read("each/few"), b"https://a.example/\n");
    assert!(gunzip(&folder.read("each/urls.gz")) == kept);
}

#[test]
fn the_account() {
    let folder = Folder::new();
    let line = |number: usize| match number {
        70_000 => "bad\n".to_owned(),
        _ => format!("https://h{}.example/{number}\n", number * number % 997),
    };
    folder.write("urls", (1..=80_000).map(line).collect::<String>());
    let account = |threads: usize| {
        let line =
            format!("filter -c --robots robots -a ExampleBot --summary json -j {threads} urls");
        let mut object = json(&folder.ok(line).stderr);
        object.as_object_mut().unwrap().remove("time");
        object
    };
    let one = account(1);
    assert_eq!(one["unknown_hosts"]["largest"].as_array().unwrap().len(), 10);
    assert_eq!(account(3), one);
}

#[test]
fn changes_are_those_of_classify_on_each_set() {
    let folder = Folder::new();
    for (seed, name) in [(1, "one"), (2, "two")] {
        folder.corpus(name, Corpus::new(seed, 300), 10_000, Some(ArchiveFormat::JsonLines));
        folder.ok(format!("compile -o {name}.set {name}/robots.jsonl"));
    }
    assert!(!assert_same(&folder, "diff one.set two.set -a One,Googlebot").is_empty());
    let tagged = |set: &str| {
        let line = format!("classify -p {set} -a One,Googlebot one/urls.txt two/urls.txt");
        String::from_utf8(folder.ok(&line).stdout).unwrap()
    };
    let (old, new) = (tagged("one.set"), tagged("two.set"));
    let mut expected = Vec::new();
    for (old, new) in old.lines().zip(new.lines()) {
        let [old, new] = [old, new].map(|line| line.splitn(3, '\t').collect::<Vec<_>>());
        for (agent, name) in ["One", "Googlebot"].into_iter().enumerate() {
            if old[agent] != new[agent] {
                expected.push([new[2], name, old[agent], new[agent]].join("\t"));
            }
        }
    }
    let line = "diff one.set two.set -a One,Googlebot one/urls.txt two/urls.txt";
    let output = String::from_utf8(assert_same(&folder, line)).unwrap();
    let change = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        columns[..4].join("\t")
    };
    let found: Vec<String> = output.lines().skip(1).map(change).collect();
    assert!(found.len() > 1_000, "{}", found.len());
    assert!(found == expected);
}
