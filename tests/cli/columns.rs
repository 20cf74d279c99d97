//! `classify --columns`, `--header` and `--format csv`.

use super::*;

fn list() -> String {
    format!("{ALLOWED}\n{DISALLOWED}\n{UNKNOWN}\n{INVALID}\n")
}

fn run(folder: &Folder, flags: &str) -> Output {
    folder.pipe(format!("classify --robots robots --no-summary {flags}"), list())
}

#[test]
fn columns_follow_each_agent_and_the_state_is_last() {
    let folder = Folder::new();
    let flags = "-a BadBot,Other --columns verdict,reason,line,rule,group,state --header";
    let expected = format!(
        "BadBot\tBadBot_reason\tBadBot_line\tBadBot_rule\tBadBot_group\t\
         Other\tOther_reason\tOther_line\tOther_rule\tOther_group\tstate\turl\n\
         disallow\trule\t6\t/\tBadBot\tallow\tno-rule\t\t\t*\trules\t{ALLOWED}\n\
         disallow\trule\t6\t/\tBadBot\tdisallow\trule\t2\t/private/\t*\trules\t{DISALLOWED}\n\
         unknown\tno-policy\t\t\t\tunknown\tno-policy\t\t\t\tunknown\t{UNKNOWN}\n\
         invalid\tbad-url\t\t\t\tinvalid\tbad-url\t\t\t\t\t{INVALID}\n"
    );
    assert_stdout(&run(&folder, flags), expected);
}

#[test]
fn bits_are_a_number_and_never_of_an_unknown_record() {
    let folder = Folder::new();
    let output = run(&folder, "-a One,BadBot,Two,Three,Four --columns bits,state --header");
    let expected = format!(
        "bits\tstate\turl\n1d\trules\t{ALLOWED}\n00\trules\t{DISALLOWED}\n\
         unknown\tunknown\t{UNKNOWN}\ninvalid\t\t{INVALID}\n"
    );
    assert_stdout(&output, expected);
}

#[test]
fn states_are_those_of_the_origin() {
    let folder = Folder::new();
    let captures = [("gone.example", 404), ("down.example", 503), ("bare.example", 200)]
        .map(|(host, status)| capture(host, "", status, ""));
    folder.write("captures.jsonl", captures.concat());
    folder.ok("compile -o x.set captures.jsonl");
    let line = "classify -p x.set -a Bot --no-summary --columns verdict,state";
    for (host, expected) in [
        ("gone", "allow\tunavailable"),
        ("down", "allow\tunreachable"),
        ("bare", "allow\tno-rules"),
        ("other", "unknown\tunknown"),
    ] {
        let url = format!("https://{host}.example/robots.txt\n");
        assert_stdout(&folder.pipe(line, &url), format!("{expected}\t{url}"));
    }
}

#[test]
fn values_with_tab_or_backslash_are_escaped() {
    let folder = Folder::new();
    folder.write("robots/t.example", b"User-agent: *\nDisallow: /a\tb\\c\n");
    let line = "classify --robots robots -a Bot --no-summary --columns rule";
    let url = "https://t.example/a%09b%5Cc";
    assert_stdout(&folder.pipe(line, url), format!("/a\\tb\\\\c\t{url}\n"));
}

#[test]
fn csv_has_a_header_and_quotes() {
    let folder = Folder::new();
    let url = "https://a.example/private/a,b\"c";
    folder.write("urls", format!("{ALLOWED}\n{url}\nno, URL\n"));
    let line = "classify --robots robots -a BadBot,Other --columns verdict,rule --no-summary urls";
    let expected = "url,BadBot,BadBot_rule,Other,Other_rule\r\n\
                    https://a.example/,disallow,/,allow,\r\n\
                    \"https://a.example/private/a,b\"\"c\",disallow,/,disallow,/private/\r\n\
                    \"no, URL\",invalid,,invalid,\r\n";
    assert_stdout(&folder.ok(format!("{line} --format csv")), expected);
    for name in ["out.csv", "out.csv.gz", "out.CSV.zst"] {
        folder.ok(format!("{line} -o {name}"));
        assert_eq!(text(&decompressed(name, &folder.read(name))), text(expected.as_bytes()));
    }
    for (flags, words) in [
        ("--format tsv -o x.csv", &["x.csv", "--format"][..]),
        ("--format tsv -o x.jsonl", &["x.jsonl", "--format"]),
        ("-o x.xls", &["x.xls", ".csv", "--format"]),
    ] {
        assert_fails(&folder.output(format!("{line} {flags}")), words);
    }
}

#[test]
fn a_header_is_written_without_records_too() {
    let folder = Folder::new();
    let empty = |flags: &str| {
        let line = format!("classify --robots robots -a A,B --no-summary {flags}");
        text(&folder.command(&line).output().unwrap().stdout)
    };
    assert_eq!(empty("--header"), "A\\tB\\turl\n");
    assert_eq!(empty("--header -0"), "A\\tB\\turl\\x00");
    assert_eq!(empty("--format csv --column-prefix x_"), "url,x_A,x_B\\r\n");
    assert_eq!(empty(""), "");
}

#[test]
fn columns_that_are_refused() {
    let folder = Folder::new();
    for (flags, words) in [
        ("--columns colour", &["colour", "verdict", "bits"][..]),
        ("--columns verdict,verdict", &["twice"]),
        ("--columns bits,reason", &["bits"]),
        ("--columns verdict,reason --header -a A,A_reason", &["A_reason"]),
        ("--format csv --user-agent Bot", &["'Bot'"]),
        ("--header -a url", &["url", "--column-prefix"]),
        ("--format jsonl --columns reason", &["--columns", "tsv"]),
        ("--format jsonl --header", &["--header", "tsv"]),
    ] {
        assert_fails(&run(&folder, &format!("-a Bot {flags}")), words);
    }
    assert_status(&run(&folder, "-a url --header --column-prefix is_"), 0);
    // Without a header there are no names.
    assert_status(&run(&folder, "-a Bot --user-agent Bot"), 0);
}

/// Python's `csv` reads the output back.
#[test]
fn csv_is_read_by_python() {
    let script = "import csv, sys; rows = list(csv.reader(open(sys.argv[1], newline='')));\
                  print([len(row) for row in rows], rows[2][0])";
    let folder = Folder::new();
    folder.write("urls", b"https://a.example/\0https://a.example/\"x\",\r\n,y\0\0");
    folder.ok("classify --robots robots -a Bot -0 -o out.csv --columns verdict,reason urls");
    let python = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(folder.path("out.csv"))
        .output();
    match python {
        Ok(output) => {
            assert_stdout(&output, "[3, 3, 3, 3] https://a.example/\"x\",\r\n,y\n");
        }
        Err(error) => println!("skipped: no python3: {error}"),
    }
}

#[test]
fn csv_keeps_the_columns_of_tables() {
    let folder = Folder::new();
    folder.write("a.csv", "n,Address,Title\r\n1,https://a.example/private/,\"x, \"\"y\"\"\"\r\n2,https://a.example/\r\n");
    folder.write("b.tsv", "n\tAddress\tTitle\n3\thttps://b.example/\ta, b\n");
    let line = "classify --robots robots -a BadBot,Other --no-summary --format csv";
    let expected = "n,Address,Title,BadBot,Other\r\n\
                    1,https://a.example/private/,\"x, \"\"y\"\"\",disallow,disallow\r\n\
                    ,\"2,https://a.example/\",,invalid,invalid\r\n";
    assert_stdout(&folder.ok(format!("{line} a.csv")), expected);
    // Lists with the same columns are joined.
    let joined = format!("{expected}3,https://b.example/,\"a, b\",allow,allow\r\n");
    assert_stdout(&folder.ok(format!("{line} a.csv b.tsv")), joined);
    // Lists with other columns are not, unless each has its own output.
    folder.write("c.txt", "https://b.example/\n");
    let output = folder.output(format!("{line} a.csv c.txt -o out.csv"));
    assert_fails(&output, &["c.txt", "a.csv", "--out-dir"]);
    folder.ok(format!("{line} a.csv c.txt --out-dir out"));
    let written = |name: &str| text(&folder.read(name));
    assert_eq!(written("out/a.csv"), text(expected.as_bytes()));
    assert_eq!(written("out/c.csv"), "url,BadBot,Other\\r\nhttps://b.example/,allow,allow\\r\n");
    // An added column with the name of another.
    folder.write("d.csv", "url,BadBot\nhttps://b.example/,x\n");
    let output = folder.output(format!("{line} d.csv -o x.csv"));
    assert_fails(&output, &["'BadBot'", "--column-prefix"]);
    let printed = folder.ok(format!("{line} d.csv --column-prefix robots_"));
    assert_contains(&text(&printed.stdout), &["url,BadBot,robots_BadBot,robots_Other"]);
}

#[test]
fn the_header_of_tsv_continues_with_that_of_the_list() {
    let folder = Folder::new();
    folder.write("a.tsv", "\u{feff}n\turl\r\n1\thttps://a.example/\r\n");
    let printed = folder.ok("classify --robots robots -a BadBot --no-summary --header a.tsv");
    assert_eq!(text(&printed.stdout), "BadBot\\tn\\turl\ndisallow\\t1\\thttps://a.example/\n");
}
