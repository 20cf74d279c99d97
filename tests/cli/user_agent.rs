//! `--user-agent`: crawlers by the header that they send.

use super::*;

const HEADER: &str = "Mozilla/5.0 (compatible; BadBot/1.0; +https://bad.example/bot)";

fn run(folder: &Folder, line: &str, headers: &[&str]) -> Output {
    let mut command = folder.command(line);
    for header in headers {
        command.args(["--user-agent", header]);
    }
    command.write_stdin(format!("{ALLOWED}\n")).output().unwrap()
}

#[test]
fn a_header_is_resolved_in_every_command() {
    let folder = Folder::new();
    let disallowed = format!("disallow\t{ALLOWED}\n");
    let check = format!("check --robots robots {ALLOWED}");
    assert_stdout(&run(&folder, &check, &[HEADER]), &disallowed);
    assert_stdout(&run(&folder, "classify --robots robots", &[HEADER]), &disallowed);
    assert_stdout(&run(&folder, "filter --robots robots", &[HEADER]), "");
}

#[test]
fn headers_are_combined_with_tokens() {
    let folder = Folder::new();
    let line = format!("check --robots robots {ALLOWED} --user-agent OtherBot/2 -a BadBot,Third");
    let output = run(&folder, &line, &[HEADER]);
    assert_stdout(&output, format!("disallow\tallow\tallow\tdisallow\t{ALLOWED}\n"));
}

#[test]
fn the_agents_name_is_the_header() {
    let folder = Folder::new();
    let output = run(&folder, "classify --robots robots --format jsonl --json", &[HEADER]);
    let object = json(&output.stdout);
    assert_eq!(object["agent"], HEADER);
    assert_eq!(object["group"], "BadBot");
    assert_eq!(json(&output.stderr)["agents"], json!([HEADER]));
}

#[test]
fn each_dialect_reads_headers_in_its_way() {
    let folder = Folder::new();
    let file = "\
User-agent: ExampleBot-News
Disallow: /news/

User-agent: examplebot
Disallow: /web/

User-agent: Mozilla
Disallow: /mozilla/

User-agent: 12bot
User-agent: bot
Disallow: /bot/

User-agent: *
Disallow: /other/
";
    folder.write("one.txt", file);
    // The folder above that the header may not fetch from.
    let rows = [
        ("rfc9309", "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://a.example/bot)", "web"),
        ("koster1996", "Mozilla/5.0 (compatible; ExampleBot/2.1; +https://a.example/bot)", "web"),
        ("google", "EXAMPLEBOT/2.1", "web"),
        ("draft2019", "ExampleBot/2.1 ExampleBot-News", "news"),
        // A token within a longer one does not count; an occurrence in the name does in the 1994
        // dialect.
        ("rfc9309", "MyExampleBot/2.1", "other"),
        ("koster1996", "MyExampleBot/2.1", "other"),
        ("original1994", "MyExampleBot/2.1", "web"),
        ("google", "MJ12bot/1.0", "other"),
        ("original1994", "MJ12bot/1.0", "bot"),
        // Tokens that browsers share do not name a crawler, unless there is no other token.
        ("rfc9309", "Mozilla/5.0 (compatible; FourthRobot)", "other"),
        ("original1994", "Mozilla/5.0 (compatible; FourthRobo)", "other"),
        ("rfc9309", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/5 (KHTML, like Gecko)", "mozilla"),
        ("rfc9309", "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:109.0) Gecko/2010", "mozilla"),
        ("original1994", "Mozilla/4.0 (compatible; MSIE 6.0)", "mozilla"),
    ];
    for (dialect, header, disallowed) in rows {
        let urls = ["news", "web", "mozilla", "bot", "other"]
            .map(|name| format!("https://a.example/{name}/"));
        let line = format!("check --robots one.txt --dialect {dialect} {}", urls.join(" "));
        let verdict = |url: &String| match url.ends_with(&format!("/{disallowed}/")) {
            true => format!("disallow\t{url}\n"),
            false => format!("allow\t{url}\n"),
        };
        let expected: String = urls.iter().map(verdict).collect();
        let output = run(&folder, &line, &[header]);
        assert_eq!(text(&output.stdout), text(expected.as_bytes()), "{dialect}: {header}");
    }
}

#[test]
fn headers_without_a_product_are_refused() {
    let folder = Folder::new();
    let line = format!("check --robots robots {ALLOWED}");
    for (header, words) in [
        ("", "is empty"),
        ("  ", "is empty"),
        ("1.0 (+https://a.example/bot)", "names no product"),
        ("Bot\nX: y", "control character"),
    ] {
        assert_fails(&run(&folder, &line, &[header]), &["--user-agent", words]);
    }
}
