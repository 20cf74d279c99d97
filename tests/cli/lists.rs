//! CSV of another program, if Python is installed, and lists whose fields are not what they seem.

use std::process::Command as Process;

use arrow_array::{Int64Array, RecordBatch, StringArray, StructArray};

use super::*;

/// Writes fields with everything that quotes allow.
const WRITE: &str = "
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

/// Reads the rows that `filter` kept, and those that `classify` tagged.
const READ: &str = "
import csv
rows = lambda name: list(csv.reader(open(name, newline='', encoding='utf-8')))
own, kept, tagged = rows('l.csv'), rows('kept.csv'), rows('tagged.csv')
assert kept == [row for row in own if '/private/' not in row[1]], len(kept)
assert [row[:-1] for row in tagged] == own
verdicts = ['disallow' if '/private/' in row[1] else 'allow' for row in own]
assert [row[-1] for row in tagged[1:]] == verdicts[1:]
print(len(kept) - 1)
";

#[test]
fn python_reads_the_rows_that_are_kept_and_tagged() {
    let folder = Folder::new();
    let python = |script: &str| {
        let mut process = Process::new("python3");
        process.current_dir(folder.path("")).args(["-c", script]).output()
    };
    match python(WRITE) {
        Ok(output) => assert_status(&output, 0),
        Err(error) => return println!("skipped: python3: {error}"),
    }
    assert_status(&folder.run("classify l.csv -o tagged.csv", ""), 0);
    let summary = folder.run("filter l.csv -o kept.csv --summary json", "");
    let output = python(READ).unwrap();
    assert_status(&output, 0);
    let kept = String::from_utf8(output.stdout).unwrap();
    let summary = String::from_utf8(summary.stderr).unwrap();
    assert_contains(&summary, &[&format!("\"kept\":{},", kept.trim()), "\"records\":2000,"]);
}

/// One head for records of another order would change what they say.
#[test]
fn lists_with_other_fields_are_not_joined() {
    let folder = Folder::new();
    let pairs = [
        (
            "#Fields: cs-host cs-uri-stem\na.example /a\n",
            "#Fields: cs-uri-stem cs-host\n/a a.example\n",
        ),
        (
            " CDX a b N\nhttps://a.example/ 20240101000000 -\n",
            " CDX N b a\n- 20240101000000 https://a.example/\n",
        ),
        ("n,url\n1,https://a.example/\n", "url,n\nhttps://a.example/,1\n"),
    ];
    for ((first, second), ending) in pairs.into_iter().zip(["log", "cdx", "csv"]) {
        let [one, other] = ["one", "other"].map(|name| format!("{name}.{ending}"));
        folder.write(&one, first);
        folder.write(&other, second);
        let line = format!("filter --robots robots -a Bot {one} {other} -o joined");
        assert_fails(&folder.output(&line), &["different fields", "--out-dir"]);
        folder.ok(line.replace("-o joined", &format!("--out-dir {ending}")));
        assert_eq!(folder.read(&format!("{ending}/{other}")), second.as_bytes());
    }
}

#[test]
fn a_second_column_for_urls_is_a_note_or_an_error() {
    let folder = Folder::new();
    folder.write("a.csv", "uri,url\nhttps://b.example/,https://a.example/\n");
    folder.write("b.jsonl", "{\"uri\": \"https://b.example/\", \"url\": \"https://a.example/\"}\n");
    // A server logs what was asked, and the file that it served.
    folder
        .write("c.jsonl", "{\"request_uri\": \"/x\", \"uri\": \"/i.php\", \"h\": \"a.example\"}\n");
    folder.write("f.csv", "uri,Request-URI,h\n/i.php,/x,a.example\n");
    folder.write("h.csv", "uri,request\n/i.php,GET /x HTTP/1.1\n");
    // The first object may not have the second.
    let whole = "{\"url\": \"https://a.example/\", \"requestUri\": \"https://b.example/\"}\n";
    folder.write("i.jsonl", whole);
    folder
        .write("j.jsonl", "{\"uri\": \"/\"}\n{\"uri\": \"/\", \"request\": \"GET /x HTTP/1.1\"}\n");
    let column = |name, value: &str| (name, parquet::array(StringArray::from(vec![value])));
    let urls = vec![column("uri", "https://b.example/"), column("url", "https://a.example/")];
    parquet::write_columns(&folder, "m.parquet", urls);
    let request = vec![column("uri", "/i.php"), column("request", "GET /x HTTP/1.1")];
    parquet::write_columns(&folder, "n.parquet", request);
    for (file, flags, rival, name) in [
        ("a.csv", "", "column `uri`", "url"),
        ("b.jsonl", "", "field `uri`", "url"),
        ("c.jsonl", " --host-field h", "field `request_uri`", "request_uri"),
        ("f.csv", " --host-field h", "column `Request-URI`", "uri"),
        ("h.csv", " --host a.example", "column `request`", "uri"),
        ("i.jsonl", "", "field `requestUri`", "url"),
        ("j.jsonl", " --host a.example", "field `request`", "uri"),
        ("m.parquet", "", "column `uri`", "url"),
        ("n.parquet", " --host a.example", "column `request`", "uri"),
    ] {
        let line = format!("classify --robots robots -a Bot {file}{flags}");
        let doubt = format!("{file}: {rival} may be the URL too; choose with --url-field");
        let noted = folder.ok(&line);
        assert!(text(&noted.stderr).contains(&format!("note: {doubt}")), "{noted:?}");
        assert_fails(&folder.output(format!("{line} --strict")), &[&doubt]);
        let named = folder.ok(format!("{line} --url-field {name} --strict"));
        assert!(!text(&named.stderr).contains("may be"));
    }
    // A postal address is no URL, and no request is one next to whole URLs.
    let address = "{\"url\": \"https://a.example/\", \"address\": \"1 Main Street\"}\n";
    folder.write("d.jsonl", address);
    folder.write(
        "k.jsonl",
        address.replace("address", "request").replace("1", "GET https://a.example/"),
    );
    folder.write("l.csv", "url,request\nhttps://a.example/,GET / HTTP/1.1\n");
    folder.ok("classify --robots robots -a Bot d.jsonl k.jsonl l.csv --strict --out-dir out");
    // Nor is a column of Parquet whose type is another, or one within a structure.
    let street = RecordBatch::try_from_iter([column("url", "https://b.example/")]).unwrap();
    let columns = vec![
        ("address", parquet::array(StructArray::from(street))),
        column("url", "https://a.example/"),
        ("uri", parquet::array(Int64Array::from(vec![1]))),
    ];
    parquet::write_columns(&folder, "o.parquet", columns);
    let found = folder.ok("classify --robots robots -a Bot o.parquet --strict");
    assert_stdout(&found, "allow\thttps://a.example/\n");
    // Without a header, a later row may have the second.
    folder.write("e.csv", "1,,https://a.example/\n2,https://b.example/,https://a.example/\n");
    let failed = folder.output("classify --robots robots -a Bot e.csv");
    assert_fails(
        &failed,
        &["columns 2 and 3 each have a path, a URL or a host", "--url-field 2 or --url-field 3"],
    );
    folder.ok("classify --robots robots -a Bot e.csv --url-field 3");
}

#[test]
fn a_saved_response_is_no_robots_txt() {
    let folder = Folder::new();
    folder.write("own/a.example", "HTTP/1.1 503 Service Unavailable\r\nX: y\r\n\r\nbusy\n");
    folder.write("own/b.example", "");
    let output = folder.output("check --robots own -a Bot https://a.example/");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("unknown"));
    assert!(text(&output.stderr).contains("a saved HTTP response"));
}

/// Lines of another form would break what follows the records.
#[test]
fn hosts_and_records_do_not_share_standard_output() {
    let folder = Folder::new();
    folder.write("urls.txt", "https://unknown.example/\n");
    for command in ["filter", "classify"] {
        let line = format!("{command} --robots robots -a Bot --unknown-hosts - urls.txt");
        assert_fails(&folder.output(line), &["--unknown-hosts cannot go to standard output"]);
    }
}

/// Assuming a scheme would take words for hosts.
#[test]
fn a_column_of_words_beside_one_of_urls_is_no_column_of_hosts() {
    let folder = Folder::new();
    folder.write("a.csv", "page,loc\nhttps://a.example/p,Berlin\nhttps://a.example/q,Bonn\n");
    let line = "classify --robots robots -a Bot a.csv";
    let failed = folder.output(line);
    assert_fails(&failed, &["name the column with the URL with --url-field"]);
    assert!(!text(&failed.stderr).contains("--assume-scheme"));
    folder.ok(format!("{line} --url-field page"));
}

#[test]
fn the_output_of_a_run_is_no_file_of_its_robots() {
    let folder = Folder::new();
    for (line, form) in [("survey -a Bot", "csv"), ("classify -a Bot urls.txt", "tsv")] {
        folder.write("own/a.example", "User-agent: *\nDisallow: /x\n");
        folder.write("urls.txt", "https://a.example/x\n");
        folder.ok(format!("{line} --robots own --strict -o own/out.{form}"));
        std::fs::remove_file(folder.path(&format!("own/out.{form}"))).unwrap();
    }
}

/// The format of a log fits its lines as they are: each may end with a blank, or with CR.
#[test]
fn lines_of_a_log_that_end_with_a_blank() {
    let folder = Folder::new();
    folder.write("robots/d.example", "User-agent: *\nDisallow: /\n");
    let time = "[10/Oct/2025:13:55:36 -0700]";
    for end in ["", " ", "\r", " \r"] {
        let line =
            format!("d.example 192.0.2.7 - - {time} \"GET /a HTTP/1.1\" 200 23 \"-\" \"-\"{end}\n");
        let output = folder.pipe(
            "classify --columns verdict --robots robots -a Bot --summary none",
            line.repeat(3),
        );
        assert_status(&output, 0);
        let answers = text(&output.stdout);
        assert_eq!(answers.matches("disallow").count(), 3, "{end:?}: {answers}");
    }
}
