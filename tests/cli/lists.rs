//! Lists in every format, through the program: the same verdicts as plain lines, whole records, errors.

use std::process::Command as Process;

use super::*;

/// Returns made-up URLs of every verdict, with characters that need quotes and escapes.
fn urls() -> Vec<String> {
    let mut urls: Vec<String> = (0..300)
        .map(|number| {
            let host = ["a", "b", "c"][number % 3];
            let path = ["", "private/", "private/open/", "x,y/", "q\"uote/", "\u{e4}/"][number % 6];
            format!("https://{host}.example/{path}{number}?a=1&b=%20")
        })
        .collect();
    urls.insert(7, INVALID.to_owned());
    urls
}

/// A list format, and its form of a URL.
struct Written {
    name: &'static str,
    flags: &'static str,
    head: &'static str,
    record: fn(&str, usize) -> String,
}

const fn written(
    name: &'static str,
    flags: &'static str,
    head: &'static str,
    record: fn(&str, usize) -> String,
) -> Written {
    Written { name, flags, head, record }
}

const FORMATS: [Written; 11] = [
    written("l.txt", "", "", |url, _| format!("{url}\n")),
    written("bom", "", "\u{feff}", |url, _| format!("{url}\r\n")),
    written("l.jsonl", "", "", |url, _| {
        let url = Value::from(url).to_string().replace('/', "\\/");
        format!("{{\"id\": [1, {{}}], \"url\": {url}}}\n")
    }),
    written("l.ndjson", "--field page.link,page.url", "", |url, _| {
        format!("{{\"url\": \"no\", \"page\": {{\"url\": {}}}}}\r\n", Value::from(url))
    }),
    written("frontier", "", "", |url, number| {
        let item = ["discovered", "known"][number % 2];
        format!("{{\"{item}\": {{\"info\": {{\"url\": {}}}}}}}\n", Value::from(url))
    }),
    written("l.csv", "", "\u{feff}\"Status, code\",Address,Title\r\n", |url, number| {
        let title = ["", "plain", "\"a\nb\"", "\"a\r\n\"\"b\"\", c\""][number % 4];
        format!("200,\"{}\",{title}\r\n", url.replace('"', "\"\""))
    }),
    written("l.tsv", "--column 2", "", |url, number| {
        format!("{number}\t\"{}\"\n", url.replace('"', "\"\""))
    }),
    written("index", "", "!OpenWayback-CDXJ 1.0\n", |url, number| {
        format!("com,a)/{number} 20240101000000 {{\"url\": {}}}\n", Value::from(url))
    }),
    written("recover", "", "", |url, number| {
        format!("F{} {url} LLE https://v.example/\n", ["+", "s"][number % 2])
    }),
    written("crawl.log", "", "", |url, number| {
        format!("2024-01-02T03:04:05.678Z  {:>4}      12 {url} LE - text/html\n", 100 + number)
    }),
    written("dump", "", "", |url, number| {
        format!("{url}\tVersion: 7\nStatus: {number} (db_fetched)\nMetadata: \n\t_pst_=x\n\n")
    }),
];

/// Returns the stored forms of a list, each with its extension. gzip has two members.
fn stored(list: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let (left, right) = list.split_at(list.len() / 2);
    let zstd = zstd::encode_all(list, 1).unwrap();
    [("", list.to_vec()), (".gz", [gzip(left), gzip(right)].concat()), (".zst", zstd)]
}

/// Returns the members of an audit that URLs determine.
fn findings(folder: &Folder, list: &str) -> Vec<Value> {
    let line = format!("audit --robots robots -a ExampleBot --no-summary --report - {list}");
    let report = json(&folder.ok(line).stdout);
    ["verdicts", "hosts", "rules"].map(|name| report[name].clone()).to_vec()
}

#[test]
fn every_format_has_the_verdicts_of_plain_lines() {
    let folder = Folder::new();
    folder.ok("compile -o old.set robots");
    folder.write("robots/a.example", "User-agent: *\nDisallow: /private/open\n");
    folder.write("robots/c.example", "");
    folder.ok("compile -o new.set robots");
    let policies = "-p old.set -a ExampleBot";
    let classify = format!("classify {policies} --format jsonl");
    let diff = "diff old.set new.set -a ExampleBot --format jsonl";
    let urls = urls();
    let plain: String = urls.iter().map(|url| format!("{url}\n")).collect();
    folder.write("plain", &plain);
    let verdicts = folder.ok(format!("{classify} plain")).stdout;
    let changes = folder.ok(format!("{diff} plain")).stdout;
    assert!(changes.len() > 1_000);
    let found = findings(&folder, "plain");
    assert_eq!(found[0][0]["invalid"], 1);
    let is_allowed: Vec<bool> = text(&folder.ok(format!("classify {policies} plain")).stdout)
        .lines()
        .map(|line| line.starts_with("allow\\t"))
        .collect();
    for Written { name, flags, head, record } in &FORMATS {
        let records: Vec<String> =
            urls.iter().enumerate().map(|(number, url)| record(url, number)).collect();
        let list = [*head, &records.concat()].concat();
        let kept = records.iter().zip(&is_allowed).filter(|(_, is_allowed)| **is_allowed);
        let kept: String =
            std::iter::once(*head).chain(kept.map(|(record, _)| &**record)).collect();
        for (ending, bytes) in stored(list.as_bytes()) {
            let name = format!("{name}{ending}");
            folder.write(&name, bytes);
            let output = folder.ok(format!("{classify} {flags} {name}"));
            assert!(output.stdout == verdicts, "{name}");
            let output = folder.ok(format!("filter {policies} {flags} -j 3 {name}"));
            assert!(output.stdout == kept.as_bytes(), "{name}");
            let output = folder.ok(format!("{diff} {flags} {name}"));
            assert!(output.stdout == changes, "{name}");
            assert!(findings(&folder, &format!("{flags} {name}")) == found, "{name}");
        }
        // Input from a pipe has no name.
        let format = match *name {
            "l.tsv" => "--input-format tsv",
            "l.csv" => "--column Address",
            _ => "",
        };
        let output = folder.pipe(format!("{classify} {flags} {format} -"), &list);
        assert!(output.stdout == verdicts, "{name}: {}", text(&output.stderr));
    }
}

/// Runs a tool; prints a note and returns `None` if there is none.
fn tool(folder: &Folder, line: &str, script: &str) -> Option<Vec<u8>> {
    let mut words = line.split_whitespace();
    let mut process = Process::new(words.next().unwrap());
    process.current_dir(folder.folder.path()).args(words);
    if !script.is_empty() {
        process.args(["-c", script]);
    }
    match process.output() {
        Ok(output) if output.status.success() => Some(output.stdout),
        Ok(output) => panic!("{line}: {}", text(&output.stderr)),
        Err(error) => {
            println!("skipped: {line}: {error}");
            None
        }
    }
}

#[test]
fn files_of_other_tools_are_read_and_ours_by_them() {
    let folder = Folder::new();
    let list: String = urls().iter().map(|url| format!("{url}\n")).collect();
    folder.write("urls", &list);
    let verdicts = folder.run("classify urls", "").stdout;
    for (compress, name, decompress) in [
        ("gzip -k urls", "urls.gz", "gzip -dc kept.gz"),
        ("pigz -b 128 -k -f urls", "urls.gz", "pigz -dc kept.gz"),
        ("zstd -q -f urls", "urls.zst", "zstd -q -dc kept.zst"),
    ] {
        if tool(&folder, compress, "").is_none() {
            continue;
        }
        assert_eq!(text(&folder.run(&format!("classify {name}"), "").stdout), text(&verdicts));
        let kept = name.replace("urls", "kept");
        assert_status(&folder.run(&format!("filter {name} -o {kept}"), ""), 0);
        let read = tool(&folder, decompress, "").unwrap();
        assert_eq!(text(&read), text(&folder.run("filter urls", "").stdout), "{compress}");
    }
}

/// Python's `csv` writes fields with everything that quotes allow, and reads the kept rows.
#[test]
fn python_reads_the_rows_that_are_kept() {
    let folder = Folder::new();
    let write = "
import csv, random
random.seed(5)
words = ['', 'a', ',', '\"', '\\n', '\\r\\n', ' ', '\\t', ';', 'https://b.example/', 'ü']
text = lambda: ''.join(random.choice(words) for _ in range(random.randrange(6)))
with open('l.csv', 'w', newline='', encoding='utf-8') as file:
    rows = csv.writer(file, quoting=random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    rows.writerow(['Title', 'Address', 'Note \"1\",'])
    for number in range(2000):
        path = random.choice(['private/', '', 'a,b/'])
        rows.writerow([text(), f'https://a.example/{path}{number}', text()])
";
    let read = "
import csv
rows = lambda name: list(csv.reader(open(name, newline='', encoding='utf-8')))
expected = [row for row in rows('l.csv') if '/private/' not in row[1]]
assert rows('kept.csv') == expected, len(expected)
print(len(expected))
";
    if tool(&folder, "python3", write).is_none() {
        return;
    }
    let output = folder.run("filter l.csv -o kept.csv --json", "");
    assert_status(&output, 0);
    let kept = String::from_utf8(tool(&folder, "python3", read).unwrap()).unwrap();
    let rows = kept.trim().parse::<u64>().unwrap() - 1;
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_contains(&printed, &[&format!("\"kept\":{rows}"), "\"records\":2000"]);
}

#[test]
fn many_small_files_in_order_for_any_number_of_threads() {
    let folder = Folder::new();
    let mut expected = String::new();
    for number in 0..60 {
        let list = format!("https://a.example/{number}\n").repeat(1 + number % 7);
        expected.push_str(&list);
        let name = format!("in/{number:03}.txt");
        let (ending, bytes) = &stored(list.as_bytes())[number % 3];
        folder.write(&format!("{name}{ending}"), bytes);
    }
    for threads in [1, 2, 7] {
        assert_stdout(&folder.run(&format!("filter -j {threads} in"), ""), &expected);
        let line = format!("filter -j {threads} in --out-dir out-{threads}");
        assert_status(&folder.run(&line, ""), 0);
        let names = fs::read_dir(folder.path(&format!("out-{threads}"))).unwrap().count();
        assert_eq!(names, 60);
    }
}
