//! Advice that is followed: each error about a list names a command or a flag, and doing what it says
//! leads to verdicts.

use super::*;

/// A list that is not read as it is.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    /// The flags of the first attempt.
    flags: &'static str,
    /// The values that an advice leaves to the reader: a flag, and its value.
    chosen: &'static [(&'static str, &'static str)],
    /// The verdicts in the end.
    verdicts: &'static str,
}

fn case(
    file: &'static str,
    bytes: impl Into<Vec<u8>>,
    flags: &'static str,
    verdicts: &'static str,
) -> Case {
    Case { file, bytes: bytes.into(), flags, chosen: &[], verdicts }
}

/// The most steps from an error to verdicts.
const STEPS_MAX: usize = 4;

/// The advice of an error.
#[derive(Debug, Default)]
struct Advice {
    /// A program that the list is piped through.
    command: Option<String>,
    /// Flags and their values, which are empty if the reader chooses them.
    flags: Vec<(String, String)>,
    omitted: Vec<String>,
}

impl Advice {
    fn of(error: &str) -> Advice {
        // Parts of the list are shown in backquotes, and are no advice.
        let shown = error.split('`').step_by(2).collect::<Vec<_>>().join("…");
        let mut advice = Advice { command: command_in(&shown), ..Advice::default() };
        // A command comes first.
        let rest = if advice.command.is_some() { "" } else { &shown };
        let words: Vec<&str> = rest.split_whitespace().collect();
        for (place, word) in words.iter().enumerate() {
            let is_alternative =
                *word == "or" && (!advice.flags.is_empty() || advice.command.is_some());
            if is_alternative || !advice.omitted.is_empty() && *word == "or" {
                break;
            }
            if !word.starts_with("--") {
                continue;
            }
            let flag = word.trim_end_matches([',', ';', '.', ')']).to_owned();
            if place > 0 && words[place - 1] == "omit" {
                advice.omitted.push(flag);
                continue;
            }
            let value = words.get(place + 1).filter(|_| *word == flag).copied().unwrap_or_default();
            let is_value = !value.starts_with("--")
                && !["or", "NAME", "too", "to", "with", "if"].contains(&value);
            let value = if is_value { value.trim_end_matches([',', ';', '.', ')']) } else { "" };
            advice.flags.retain(|(other, _)| *other != flag);
            advice.flags.push((flag, value.to_owned()));
        }
        advice
    }
}

/// Returns the program in an error that a list is piped through. It ends the line.
fn command_in(error: &str) -> Option<String> {
    let (_, command) = error.lines().next()?.split_once(" through ")?;
    Some(command.to_owned())
}

/// Follows the advice about a list until there are verdicts.
#[track_caller]
fn follow(case: &Case) {
    let folder = Folder::new();
    folder.write(case.file, &case.bytes);
    let words = case.flags.split_whitespace().map(str::to_owned);
    let mut flags: Vec<String> = words.collect();
    let mut file = case.file.to_owned();
    let mut errors = Vec::new();
    for _ in 0..STEPS_MAX {
        let mut command = folder.command("classify --robots robots -a BadBot --summary none");
        let output = command.args(&flags).arg(&file).output().unwrap();
        if output.status.success() {
            let rows = String::from_utf8_lossy(&output.stdout).into_owned();
            let verdicts = rows.lines().map(|row| row.split('\t').find(is_verdict).unwrap());
            assert_eq!(verdicts.collect::<Vec<_>>().join(" "), case.verdicts, "{errors:#?}");
            assert!(!errors.is_empty(), "{}: read as it is", case.file);
            return;
        }
        assert_status(&output, 2);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = err.lines().find(|line| line.starts_with("error: ")).unwrap().to_owned();
        let advice = Advice::of(&error);
        let is_none = advice.flags.is_empty() && advice.omitted.is_empty();
        assert!(!is_none || advice.command.is_some(), "no advice: {error}");
        errors.push(error);
        if let Some(command) = advice.command {
            let read = if file.ends_with(".gz") { "zcat" } else { "cat" };
            // A command that makes several files names them.
            let out = match command.split('"').rfind(|it| it.starts_with('.')) {
                Some(extension) => format!("part-2{extension}"),
                None => format!("{file}-piped"),
            };
            let line = format!("{read} \"{file}\" | {command} > \"{file}-piped\"");
            let mut shell = std::process::Command::new("sh");
            let done = shell.args(["-euc", &line]).current_dir(folder.path("")).output().unwrap();
            assert!(done.status.success(), "{line}: {}", text(&done.stderr));
            file = out;
        }
        let without = |flags: &mut Vec<String>, flag: &str| {
            // One place of the agent takes that of another.
            let is_same = |other: &String| {
                other == flag || [&**other, flag].iter().all(|it| it.starts_with("--agent-"))
            };
            if let Some(place) = flags.iter().position(is_same) {
                let has_value = flags.get(place + 1).is_some_and(|it| !it.starts_with("--"));
                flags.drain(place..=place + usize::from(has_value));
            }
        };
        advice.omitted.iter().for_each(|flag| without(&mut flags, flag));
        for (flag, value) in advice.flags {
            without(&mut flags, &flag);
            let chosen = case.chosen.iter().find(|(name, _)| *name == flag);
            let value = chosen.map_or(value.as_str(), |(_, value)| value).to_owned();
            flags.push(flag);
            if !value.is_empty() {
                flags.push(value);
            }
        }
    }
    panic!("{}: no verdicts after {STEPS_MAX} steps: {errors:#?}", case.file);
}

fn is_verdict(text: &&str) -> bool {
    ["allow", "disallow", "unknown", "invalid"].contains(text)
}

/// Two URLs, of which BadBot may fetch the first.
const URLS: [&str; 2] = ["https://b.example/x", "https://a.example/y"];

/// Writes a list with `row` for each URL.
fn rows(row: impl Fn(&str, &str) -> String) -> String {
    let host = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    URLS.iter().map(|url| row(url, &host(url)) + "\n").collect()
}

/// Returns a text in UTF-16 without a byte order mark.
fn utf16(text: &str, bytes_of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes_of).collect()
}

const TWO: &str = "allow disallow";

#[test]
fn lines() {
    for case in [
        case("a.txt", rows(|_, host| format!("{host}/x")), "", TWO),
        case("a.txt", rows(|url, _| format!("1,{url},x y")), "", TWO),
        case("a.txt", rows(|_, host| format!("1,{host}")), "", TWO),
        case("a.txt", rows(|url, _| format!("1\t{url}")), "", TWO),
        case("a.txt", rows(|url, _| format!("{url}\t1")), "", TWO),
        case("a.txt", rows(|_, host| format!("1;{host};x")), "", TWO),
        case("a.txt", "/x\n/y\n", "", "unknown unknown"),
        case("list", rows(|url, _| format!("{url} [200] [Title]")), "", TWO),
        case("list", rows(|url, _| format!("  {url} 1")), "", TWO),
        case("list.md", rows(|url, _| format!("- [a title]({url})")), "", TWO),
        case("list", rows(|url, _| format!("<a class=x href=\"{url}\">x y</a>")), "", TWO),
        case("list", rows(|url, _| format!("<a href='{url}'>")), "", TWO),
        case(
            "bookmarks.html",
            rows(|url, _| format!("<DT><A HREF=\"{url}?a&amp;b\" ADD_DATE=\"1\">A page</A>")),
            "",
            TWO,
        ),
        case("a.txt", rows(|url, _| format!("{url},NL,Utrecht")), "", TWO),
        case("a.txt", rows(|url, _| format!("{url}|A title")), "", TWO),
        case("a.txt", rows(|url, _| format!("{url};1;x")), "", TWO),
        case("a.txt", format!("{} {}\n", URLS[0], URLS[1]), "", TWO),
        case("a.txt", format!("{}, {}\n", URLS[0], URLS[1]), "", TWO),
        case("a.txt", format!("{},{}", URLS[0], URLS[1]), "", TWO),
        case("a.txt", rows(|url, _| format!("\"{url}/z\"")), "", TWO),
        case("a.txt", rows(|_, host| format!("'{host}'")), "", TWO),
        case(
            "a.txt",
            rows(|url, _| format!(" \"{url}\" ")) + "\"https://a.example/private/\"x\"\"",
            "",
            "allow disallow disallow",
        ),
        case("a.txt", rows(|url, _| url.to_owned()).replace('\n', "\r"), "", TWO),
        case("a.txt", rows(|url, _| format!("<{url}>")), "", TWO),
        case("a.txt", rows(|url, _| format!("{url} x")), "--strict --input-format lines", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--url-field url", TWO)
            .choosing(&[("--url-field", "1")]),
        case("a.txt", rows(|url, _| url.to_owned()), "--input-format jsonl", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--no-header", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--input-format warc", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--input-format sitemap", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--input-format parquet", TWO),
        case("a.txt", rows(|url, _| url.to_owned()), "--log-format combined", TWO),
        case("a.txt", rows(|url, _| format!("      3 {url}")), "", TWO),
    ] {
        follow(&case);
    }
}

#[test]
fn json() {
    let object = |url: &str, name: &str| format!("{{\"{name}\": \"{url}\"}}");
    let array = |items: String| format!("[{}]", items.trim_end().replace('\n', ",\n"));
    let in_line =
        |item: &dyn Fn(&str) -> String| array(rows(|url, _| item(url))).replace('\n', " ");
    let inner = |url: &str| object(url, "url").replace('"', "\\\"");
    let zip = |text: String| portcullis_testkit::files::gzip(text.as_bytes());
    let field =
        |file, bytes: String, flags, chosen| Case { chosen, ..case(file, bytes, flags, TWO) };
    for case in [
        case("it's.json.gz", zip(array(rows(|url, _| format!("[1, \"{url}\"]")))), "", TWO),
        case("a.jsonl", rows(|url, _| format!("\"{url}\"")), "", TWO),
        case("a.json", array(rows(|url, _| format!("[1, \"{url}\"]"))), "", TWO),
        case("a.json", rows(|url, _| object(url, "url").replace('{', "{\n")), "", TWO),
        case("a.jsonl", rows(|url, _| url.to_owned()), "", TWO),
        case("a.jsonl", rows(|url, _| object(url, "url") + ","), "", TWO),
        field("a.jsonl", rows(|url, _| object(url, "link")), "", &[("--url-field", "link")]),
        field(
            "a.jsonl",
            rows(|url, _| format!("{{\"url\": \"{url}\", \"URL\": \"{url}/\"}}")),
            "",
            &[("--url-field", "URL")],
        ),
        case("a.jsonl", rows(|url, _| object(&inner(url), "my-meta")), "", TWO),
        case("a.jsonl", rows(|_, host| object(host, "url")), "", TWO),
        case("a.jsonl", rows(|_, _| object("/x", "url")), "", "").with_host(),
        case("a.json", format!("{{\"links\": {}}}", in_line(&|url| object(url, "url"))), "", TWO),
        case(
            "a.json",
            format!("{{\"a\": {{\"b\": {}}}}}", in_line(&|url| format!("\"{url}\""))),
            "",
            TWO,
        ),
        case("a.json", object(&in_line(&|url| format!("\\\"{url}\\\"")), "text"), "", TWO),
    ] {
        follow(&case);
    }
}

impl Case {
    /// The same with paths, for whose host the reader chooses `b.example`.
    fn with_host(self) -> Case {
        let chosen = &[("--host", "b.example")];
        Case { chosen, verdicts: "allow allow", ..self }
    }

    fn choosing(self, chosen: &'static [(&'static str, &'static str)]) -> Case {
        Case { chosen, ..self }
    }
}

#[test]
fn tables() {
    let export = rows(|url, _| format!("{url}\t1"));
    let export = format!("URL\tTraffic\n{export}");
    let sitemap = rows(|url, _| format!("<url><loc>{url}</loc></url>"));
    let sitemap =
        format!("<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<urlset>{sitemap}</urlset>");
    for case in [
        case(
            "a.csv",
            format!(
                "# see https://a.example/doc\n{}",
                "url,id\n".to_owned() + &rows(|url, _| format!("{url},1"))
            ),
            "",
            TWO,
        ),
        case("a.csv", format!("id,link\n{}", rows(|url, _| format!("1,{url}"))), "", TWO)
            .choosing(&[("--url-field", "link")]),
        case(
            "a.csv",
            format!("id,link\n{}", rows(|url, _| format!("1,{url}"))),
            "--url-field Link",
            TWO,
        )
        .choosing(&[("--url-field", "2")]),
        case("a.csv", format!("url,url\n{}", rows(|url, _| format!("1,{url}"))), "", TWO)
            .choosing(&[("--url-field", "2")]),
        case("top.csv", rows(|_, host| format!("1,{host}")), "", TWO),
        case("top.csv", rows(|_, host| format!("{host},NL")), "", TWO),
        case("a.csv", rows(|url, _| format!("{url},https://b.example/")), "", TWO)
            .choosing(&[("--url-field", "1")]),
        case("a.csv", format!("url\n{}", rows(|_, host| host.to_owned())), "", TWO),
        case("a.csv", format!("url\n{}", rows(|_, _| "/x".to_owned())), "", "").with_host(),
        case("a.csv", "1,/x,y\n2,/y,z\n", "", "allow allow")
            .choosing(&[("--url-field", "2"), ("--host", "b.example")]),
        case("a.csv", "url\nGET /x HTTP/1.1\nHEAD /y HTTP/2\n", "", "").with_host(),
        case("a.xml", utf16(&sitemap, u16::to_be_bytes), "", TWO),
        case("a.csv", utf16(&export, u16::to_be_bytes), "", TWO),
        case("a.tsv", utf16(&export, u16::to_le_bytes), "", TWO),
        case("a.tsv", "\"id\"\t\"url\"\n1\thttps://b.example/x\n", "", "allow")
            .choosing(&[("--url-field", "2")]),
        case("a.csv", format!("id,url,\"x\n{}", rows(|url, _| format!("1,{url},x"))), "", TWO),
        case("a.csv", format!("id,url,x\n1,{},\"x\n2,{},y\n", URLS[0], URLS[1]), "", TWO),
        case(
            "a.csv",
            format!("id,url\n{}", rows(|url, _| format!("1,{url}"))).replace('\n', "\r"),
            "",
            TWO,
        ),
    ] {
        follow(&case);
    }
}

#[test]
fn logs() {
    let line = |path: &str| {
        format!(
            "192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"BadBot/1\"\n"
        )
    };
    let combined = line("/x") + &line("/private/");
    let w3c = "#Fields: date cs-uri-stem cs(User-Agent)\n2025-10-10 /x BadBot/1\n";
    let other = "#Fields: date cs(User-Agent) cs-uri-stem\n2025-10-10 BadBot/1 /y\n";
    let changed = format!("#Version: 1.0\n{w3c}{other}");
    let joined =
        " CDX a r\nhttps://a.example/ -\n CDX r a\nhttps://a.example/ https://a.example/private/\n";
    let own =
        "b.example|192.0.2.7|GET /x HTTP/1.1|200\nb.example|192.0.2.7|GET /private/ HTTP/1.1|200\n";
    let logged = |path: &str| line(path).trim_end().replace('"', "\\\"");
    let inside = |name: &str| {
        let object = |path: &str| format!("{{\"{name}\": \"{}\"}}", logged(path));
        [object("/x"), object("/private/")]
    };
    let docker = inside("log").join("\n");
    let fluent = inside("message").map(|object| format!("2025-10-10 the log {object}")).join("\n");
    let tabs = "1\t192.0.2.1\tb.example\tGET\t/x\n2\t192.0.2.1\tb.example\tGET\t/y\n";
    let timed_tabs = "1700000000.1\t192.0.2.1\tb.example\tGET\t/x\tHTTP/1.1\t200\tBadBot/1\n\
                      1700000000.2\t192.0.2.1\tb.example\tGET\t/private/\tHTTP/1.1\t200\tBadBot/1\n";
    let odd = "2025-10-10T00:00:00 b.example 192.0.2.7 GET /x 200 BadBot\n\
               2025-10-10T00:00:00 b.example 192.0.2.7 GET /y 200 BadBot\n";
    const ODD: &[(&str, &str)] = &[(
        "--log-format",
        "$time_iso8601 $host $remote_addr $request_method $request_uri $status $http_user_agent",
    )];
    for case in [
        case("odd.log", odd, "", "allow allow").choosing(ODD),
        case("odd.log", odd, "--log-format combined", "allow allow").choosing(ODD),
        case("request.txt", "GET /x\nGET /y\n", "", "allow allow")
            .choosing(&[("--log-format", "$request_method $request_uri"), ("--host", "b.example")]),
        case("access.log", combined.clone(), "--log-format common", "").with_host(),
        case("tabs.log", timed_tabs, "", "allow allow")
            .choosing(&[("--host-field", "3"), ("--host", "none.example")]),
        case("own.log", own, "", "allow allow").choosing(&[("--log-format", "%v|%h|%r|%>s")]),
        case("docker.json", docker, "", "").with_host(),
        case("fluent.log", fluent.clone(), "", "").with_host(),
        case("fluent.log", fluent, "--agent-field record", "").with_host(),
        case("tabs.log", tabs, "", "allow allow")
            .choosing(&[("--host-field", "3"), ("--host", "none.example")]),
        case("bars.log", tabs.replace('\t', "|"), "", "allow allow")
            .choosing(&[("--log-format", "%D|%h|%v|%m|%U")]),
        case("access.log", combined.clone(), "", "").with_host(),
        case("access.log", combined.clone(), "--agent-field record", "").with_host(),
        case("access.log", combined.clone(), "--agent-field 3", "").with_host(),
        case("cr.log", combined.replace('\n', "\r"), "", "").with_host(),
        case("ex.log", w3c, "", "").with_host().expecting("allow"),
        case("ex.log", changed, "", "").with_host().expecting("allow"),
        case("ex.cdx", joined, "", "disallow"),
    ] {
        follow(&case);
    }
}

impl Case {
    fn expecting(self, verdicts: &'static str) -> Case {
        Case { verdicts, ..self }
    }
}

#[test]
fn spreadsheets() {
    let folder = Folder::new();
    let zip = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0[Content_Types].xml";
    for (name, bytes) in
        [("a.xlsx", &zip[..]), ("b", zip), ("c.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0")]
    {
        folder.write(name, bytes);
        let output = folder.run(&format!("classify {name}"), "");
        assert_fails(&output, &["a spreadsheet", "--convert-to csv FILE"]);
    }
}
