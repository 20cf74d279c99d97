//! Lists in every format, through the program: the same verdicts as plain lines, whole records, errors.

use std::process::Command as Process;

use portcullis_dialect::limits::LIST_COLUMNS_MAX;

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

const BAD: &str = "{\"url\": \"https://a.example/\"}
{\"url\": 1}
{\"link\": \"https://a.example/\"}
{\"url\": \"https://a.example/private/\"
{\"url\": \"https://a.example/\", \"url\": \"https://b.example/\"}
{\"url\": \"nothing\"}

{\"url\": \"https://b.example/\"}
";

#[test]
fn bad_records_are_counted_kept_in_place_and_set_aside() {
    let folder = Folder::new();
    folder.write("bad.jsonl", BAD);
    let output = folder.run("classify bad.jsonl --rejects r.jsonl --json", "");
    assert_status(&output, 0);
    let tagged = text(&output.stdout);
    let verdicts: Vec<&str> =
        tagged.lines().map(|line| line.split("\\t").next().unwrap()).collect();
    let invalid = "invalid";
    assert_eq!(verdicts, ["allow", invalid, invalid, invalid, invalid, invalid, invalid, "allow"]);
    let summary = json(&output.stderr);
    let kinds = &summary["invalid"]["kinds"];
    for kind in ["not-a-string", "no-field", "not-json", "repeated-field", "not-a-url", "empty"] {
        assert_eq!(kinds[kind], 1, "{kind}");
    }
    assert_eq!(summary["invalid"]["samples"].as_array().unwrap().len(), 3);
    assert_eq!(summary["invalid"]["samples"][0]["place"], "line 2");
    let rejects = json_lines(&folder.read("r.jsonl"));
    let places: Vec<&str> =
        rejects.iter().map(|reject| reject["place"].as_str().unwrap()).collect();
    assert_eq!(places, [2, 3, 4, 5, 6, 7].map(|line| format!("line {line}")));
    assert_eq!(rejects[0]["record"], "{\"url\": 1}");
    assert!(rejects.iter().all(|reject| reject["file"] == "bad.jsonl"));
    // As text, with samples; filter drops them, or keeps them whole.
    let output = folder.run("filter bad.jsonl", "");
    let first = BAD.lines().next().unwrap();
    let last = BAD.lines().last().unwrap();
    assert_stdout(&output, format!("{first}\n{last}\n"));
    assert_says(&output, &["invalid records: empty 1, not-a-url 1"]);
    assert_says(&output, &["bad.jsonl, line 2: the field is not a string"]);
    assert_stdout(&folder.run("filter bad.jsonl --invalid keep", ""), BAD);
    for line in ["diff s s -a Bot", "audit -p s -a Bot --report a"] {
        folder.ok("compile robots -o s");
        let output = folder.ok(format!("{line} bad.jsonl --rejects again.jsonl.gz"));
        assert_says(&output, &["not-json 1"]);
        let again = decompressed("again.jsonl.gz", &folder.read("again.jsonl.gz"));
        assert_eq!(again, folder.read("r.jsonl"));
    }
    assert_fails(&folder.run("filter bad.jsonl --rejects -", ""), &["--rejects", "name a file"]);
}

#[test]
fn a_list_without_urls_is_an_error_with_its_appearance() {
    let folder = Folder::new();
    let rows: [(&str, &str, &[&str]); 9] = [
        (
            "u",
            "example.com/x\nexample.com/y\n",
            &["u: none of the first 2 records", "--assume-scheme https"],
        ),
        ("u", "\n\nnothing\n", &["its only record", "line 3: `nothing`", "--input-format"]),
        ("u", "1,https://a.example/,x\n", &["its only record", "CSV", "--column 2"]),
        ("u", "User-agent: *\nDisallow: /\n", &["robots.txt", "--robots u"]),
        ("u", "<?xml version=\"1.0\"?>\n<urlset>\n", &["XML", "sitemap", "<loc>"]),
        ("u", "/a\n/b\n", &["https://HOST"]),
        ("u.csv", "url,x\nexample.com,1\n", &["u.csv", "row 2: `example.com,1`", "--column"]),
        ("u.csv", "id,link\n1,https://a.example/\n", &["`id`, `link`", "--column"]),
        ("u.jsonl", "{\"link\": \"https://a.example/\"}\n", &["fields are `link`", "--field"]),
    ];
    for (name, list, words) in rows {
        folder.write(name, list);
        for line in ["classify", "filter", "filter -v --invalid keep", "audit --report -"] {
            assert_fails(&folder.run(&format!("{line} {name}"), ""), words);
        }
        assert_status(&folder.run(&format!("classify {name} -o out.tsv"), ""), 2);
        assert!(!exists(&folder.path("out.tsv")));
    }
    // With the flag that the error names.
    folder.write("u", "example.com/x\n");
    assert_status(&folder.run("classify u --assume-scheme https", ""), 0);
    folder.write("u", "1,https://a.example/,x\n");
    let output = folder.run("filter u --input-format csv --column 2", "");
    assert_stdout(&output, "1,https://a.example/,x\n");
    // A list without records is not an error.
    for list in ["", "\n\n", "\u{feff}"] {
        assert_status(&folder.run("classify", list), 0);
    }
    folder.write("h.csv", "url,x\n");
    assert_stdout(&folder.run("filter h.csv", ""), "url,x\n");
}

#[test]
fn two_places_for_the_url_are_an_error_that_names_the_flag() {
    let folder = Folder::new();
    let (allowed, other) = (ALLOWED, "https://c.example/");
    let rows: [(&str, String, &[&str], &str); 5] = [
        (
            "a.csv",
            format!("url,x,URL\n{allowed},,{other}\n"),
            &["a.csv: the columns 1 and 3 are called `url` and `URL`", "--column"],
            "--column url",
        ),
        (
            "a.tsv",
            format!("x\tLoc\tloc\n\t{other}\t{allowed}\n"),
            &["the columns 2 and 3 are called `Loc` and `loc`", "--column"],
            "--column 3",
        ),
        (
            "a.csv --column x",
            format!("x,x\n{allowed},{other}\n"),
            &["the columns 1 and 2 are called `x` and `x`", "--column"],
            "--column 1",
        ),
        (
            "a.jsonl",
            format!("{{\"url\": \"{allowed}\", \"URL\": \"{other}\"}}\n"),
            &["a.jsonl: an object has the fields `URL` and `url`", "--field"],
            "--field url",
        ),
        // Names in another column are no matter, and a usual name comes before others.
        ("a.csv", format!("loc,url,x,x\n{other},{allowed},,\n"), &[], ""),
    ];
    for (list, content, words, flag) in rows {
        let name = list.split(' ').next().unwrap();
        folder.write(name, content);
        for line in ["classify", "filter -c"] {
            let output = folder.run(&format!("{line} {list}"), "");
            match words {
                [] => assert_status(&output, 0),
                words => assert_fails(&output, words),
            }
        }
        assert_stdout(&folder.run(&format!("filter {name} {flag} -c"), ""), "1\n");
    }
    // The first object has one field, so the others are records that are invalid.
    let both = format!("{{\"Url\": \"{allowed}\", \"url\": \"{other}\"}}");
    folder.write(
        "a.jsonl",
        format!("{{\"url\": \"{allowed}\"}}\n{both}\n{{\"URL\": \"{allowed}\"}}\n"),
    );
    let output = folder.run("filter a.jsonl -c --json", "");
    assert_stdout(&output, "2\n");
    assert_eq!(json(&output.stderr)["invalid"]["kinds"]["repeated-field"], 1);
}

#[test]
fn a_header_has_a_bounded_number_of_columns() {
    let folder = Folder::new();
    for (columns, is_read) in [(LIST_COLUMNS_MAX, true), (LIST_COLUMNS_MAX + 1, false)] {
        let others = ",".repeat(columns - 1);
        folder.write("a.csv", format!("url{others}\n{ALLOWED}{others}\n"));
        let output = folder.run("filter a.csv -c", "");
        match is_read {
            true => assert_stdout(&output, "1\n"),
            false => assert_fails(&output, &["more than 16384 columns", "--input-format"]),
        }
    }
}

#[test]
fn one_url_among_the_first_thousand_records_is_enough() {
    let folder = Folder::new();
    for (before, status) in [(999, 0), (1_000, 2)] {
        // Long enough for several chunks.
        let list = format!("{}{ALLOWED}\n", format!("{:5000}\n", "x").repeat(before));
        for threads in [1, 3] {
            let output = folder.run(&format!("classify -j {threads} -o out.tsv"), &list);
            assert_status(&output, status);
            assert_eq!(exists(&folder.path("out.tsv")), status == 0);
            if status == 0 {
                fs::remove_file(folder.path("out.tsv")).unwrap();
            }
        }
    }
}

#[test]
fn one_output_for_each_list() {
    let folder = Folder::new();
    folder.write("in/a.csv", format!("url\n{ALLOWED}\n{DISALLOWED}\n"));
    folder.write("in/b.txt.gz", gzip(format!("{ALLOWED}\n").as_bytes()));
    folder.write("in/sub/a.csv", format!("uri,x\r\n{DISALLOWED},1\r\n"));
    folder.write("in/empty", "");
    folder.write("in/_SUCCESS", "");
    let output = folder.run("filter in --out-dir out --rejects r", "");
    assert_stdout(&output, "");
    assert_says(&output, &["note: 1 name that begin"]);
    assert_eq!(text(&folder.read("out/a.csv")), format!("url\n{ALLOWED}\n"));
    let gz = decompressed("b.txt.gz", &folder.read("out/b.txt.gz"));
    assert_eq!(text(&gz), format!("{ALLOWED}\n"));
    assert_eq!(folder.read("out/sub/a.csv"), b"uri,x\r\n");
    assert_eq!(folder.read("out/empty"), b"");
    assert!(!exists(&folder.path("out/_SUCCESS")));
    assert_status(&folder.run("classify in/*.gz in/sub --out-dir tagged", ""), 0);
    let gz = decompressed("b.tsv.gz", &folder.read("tagged/b.tsv.gz"));
    assert_eq!(text(&gz), text(format!("allow\t{ALLOWED}\n").as_bytes()));
    assert_contains(&text(&folder.read("tagged/a.tsv")), &["disallow"]);
    // Errors before anything is written.
    for (line, words) in [
        ("filter in --out-dir in", &["in/a.csv is also an input (in/a.csv)", "--out-dir"][..]),
        ("filter in/a.csv in/sub/a.csv --out-dir new", &["in/a.csv", "in/sub/a.csv", "new/a.csv"]),
        ("filter - --out-dir new", &["standard input has no name"]),
        ("filter none*.csv", &["none*.csv: no file matches"]),
        ("filter none.csv", &["none.csv: no such file"]),
        ("filter in --rejects in/a.csv", &["also an input"]),
        ("filter in/*.csv -o in/a.csv", &["also an input"]),
    ] {
        assert_fails(&folder.run(line, ""), words);
        assert!(!exists(&folder.path("new")), "{line}");
    }
    // All outputs, or none.
    folder.write("in/z.csv.gz", &gzip(b"url\nhttps://a.example/\nhttps://b.example/\n")[..30]);
    let output = folder.run("filter in --out-dir none --rejects none.r", "");
    assert_fails(&output, &["in/z.csv.gz is cut short"]);
    let left: Vec<_> = fs::read_dir(folder.path("none")).unwrap().map(|it| it.unwrap()).collect();
    assert!(left.iter().all(|entry| entry.file_type().unwrap().is_dir()), "{left:?}");
    assert!(!exists(&folder.path("none.r")));
}

#[test]
fn lists_are_joined_if_their_records_can_be() {
    let folder = Folder::new();
    folder.write("a.csv", format!("url,x\r\n{ALLOWED},1"));
    folder.write("b.csv", format!("url,x\n{ALLOWED},2\n"));
    folder.write("c.csv", format!("x,url\n3,{ALLOWED}\n"));
    folder.write("d.jsonl", format!("{{\"url\": \"{ALLOWED}\"}}\n"));
    let output = folder.run("filter a.csv b.csv --unknown u", "");
    assert_stdout(&output, format!("url,x\r\n{ALLOWED},1\n{ALLOWED},2\n"));
    assert_eq!(text(&folder.read("u")), "url,x\\r\n");
    for (lists, words) in [("a.csv c.csv", "different columns"), ("a.csv d.jsonl", "JSON Lines")] {
        let output = folder.run(&format!("filter {lists} -o out"), "");
        assert_fails(&output, &[words, "--out-dir"]);
        assert_status(&folder.run(&format!("classify {lists}"), ""), 0);
    }
    assert!(!exists(&folder.path("out")));
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

#[test]
fn damage_is_an_error_that_names_the_place() {
    let folder = Folder::new();
    let rows = format!("url,x\n{ALLOWED},1\n{ALLOWED},\"2\n{ALLOWED},3\n");
    folder.write("open.csv", rows);
    folder.write("utf16", b"\xff\xfeh\0t\0");
    folder.write("array.json", "[{\"url\": \"https://a.example/\"}]");
    folder.write("cut.csv.gz", &gzip(b"url\nhttps://a.example/\n")[..25]);
    for (list, words) in [
        ("open.csv", &["open.csv: row 3", "not closed"][..]),
        ("utf16", &["utf16", "UTF-16", "iconv"]),
        ("array.json", &["array.json", "jq -c"]),
        ("cut.csv.gz", &["cut.csv.gz is cut short"]),
        ("--null-data --input-format csv open.csv", &["--null-data"]),
    ] {
        assert_fails(&folder.run(&format!("filter {list} -o out"), ""), words);
        assert!(!exists(&folder.path("out")));
    }
}
