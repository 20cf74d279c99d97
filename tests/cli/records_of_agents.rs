//! An agent for each record: in every format, a record gets what `-a` with its agent alone gives.

use super::*;

/// The agents that are asked about, and one that no file names.
const KNOWN: [&str; 4] = ["GPTBot", "CCBot", "bingbot", "NamedByNobody"];
const NOBODY: usize = 3;

/// A request: the parts that other formats have in columns.
struct Fetch {
    host: String,
    url: String,
    path: String,
    time: String,
    header: String,
}

impl Fetch {
    /// Returns the request of a row of a list of URLs and times, each by another crawler or browser.
    fn of(row: &str, number: usize) -> Fetch {
        let (url, time) = row.split_once('\t').unwrap();
        let (scheme, rest) = url.split_once("://").unwrap();
        let (host, path) = rest.split_at(rest.find('/').unwrap());
        let port = if scheme == "http" { 80 } else { 443 };
        let header = match number % 7 {
            0 => "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
            1 => "CCBot/2.0 (https://commoncrawl.org/faq/)",
            2 => "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
            3 => "Mozilla/5.0 (compatible; MJ12bot/1.4)",
            _ => {
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0"
            }
        };
        let (host, path) = (format!("{host}:{port}"), path.to_owned());
        Fetch {
            url: format!("{scheme}://{host}{path}"),
            host,
            path,
            time: time.to_owned(),
            header: header.to_owned(),
        }
    }

    /// Returns the line of a log.
    fn line(&self) -> String {
        let Fetch { host, path, time, header, .. } = self;
        let [year, month, day] = time[..10].split('-').collect::<Vec<_>>().try_into().unwrap();
        let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let month = 3 * (month.parse::<usize>().unwrap() - 1);
        let time = format!("{day}/{}/{year}:{} +0000", &months[month..month + 3], &time[11..19]);
        format!("{host} 198.0.2.1 - - [{time}] \"GET {path} HTTP/1.1\" 200 9 \"-\" \"{header}\"\n")
    }
}

/// Returns the agent, the verdict, the reason and the line of each record.
fn decided(folder: &Folder, line: &str) -> Vec<String> {
    let line = format!("classify {line} --long --format jsonl --summary none");
    let rows = String::from_utf8(folder.ok(line).stdout).unwrap();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        ["agent", "verdict", "reason", "line"].map(|member| row[member].to_string()).join(" ")
    };
    rows.lines().map(row).collect()
}

#[test]
fn a_record_in_any_format_gets_what_its_agent_alone_gets() {
    let folder = Folder::new();
    let corpus = Corpus::new(0, 40).with_captures(6);
    folder.corpus("x", corpus, 1_500, Some(ArchiveFormat::JsonLines));
    folder.ok("compile --history --summary none -o x.pcs x/robots.jsonl");
    let list = String::from_utf8(folder.read("x/urls.tsv")).unwrap();
    // A few requests have no path.
    let fetch = |(number, row)| (number % 500 != 9).then(|| Fetch::of(row, number));
    let fetches: Vec<Option<Fetch>> = list.lines().skip(1).enumerate().map(fetch).collect();
    let none = "a.example:443 198.0.2.1 - - [01/Jan/2021:00:00:00 +0000] \"-\" 400 9 \"-\" \"-\"\n";
    let line = |fetch: &Option<Fetch>| fetch.as_ref().map_or(none.to_owned(), Fetch::line);
    folder.write("x/access.log", fetches.iter().map(line).collect::<String>());
    let (mut table, mut paths, mut objects) = (String::new(), String::new(), String::new());
    table += "url,time,who\n";
    paths += "site,target,time,who\n";
    for fetch in &fetches {
        let Some(Fetch { host, url, path, time, header }) = fetch else {
            table += "-,2021-01-01T00:00:00Z,-\n";
            paths += "a.example,-,2021-01-01T00:00:00Z,-\n";
            objects += "{\"uri\": \"-\"}\n";
            continue;
        };
        table += &format!("\"{url}\",{time},\"{header}\"\n");
        paths += &format!("{host},\"{path}\",{time},\"{header}\"\n");
        let request = json!({ "host": host, "uri": path, "agent": header });
        objects += &format!("{}\n", json!({ "request": request, "ts": time, "uri": path }));
    }
    folder.write("t.csv", &table);
    folder.write("p.csv", &paths);
    folder.write("o.jsonl", &objects);
    let asked = format!("-p x.pcs -a {}", KNOWN.join(","));
    for (own, at_column, at_field) in [
        ("", "", ""),
        ("--time-field record", "--time-field time", "--time-field ts"),
        ("--at 2022-06-01", "--at 2022-06-01", "--at 2022-06-01"),
    ] {
        let alone =
            KNOWN.map(|name| decided(&folder, &format!("-p x.pcs -a {name} {at_column} t.csv")));
        let found = decided(&folder, &format!("{asked} --agent-field record {own} x/access.log"));
        assert_eq!(found.len(), fetches.len());
        let mut seen = [0; KNOWN.len() + 1];
        for (row, (fetch, found)) in fetches.iter().zip(&found).enumerate() {
            let header = fetch.as_ref().map_or("-", |fetch| &fetch.header);
            let named = KNOWN.iter().position(|name| header.contains(&format!("{name}/")));
            let browser = header.contains("Chrome/").then_some(NOBODY);
            let agent = named.or(browser);
            let end = |text: &str| text.split_once(' ').unwrap().1.to_owned();
            seen[agent.unwrap_or(KNOWN.len())] += 1;
            match agent {
                _ if fetch.is_none() => assert_contains(found, &["\"invalid\""]),
                Some(agent) => assert_eq!(end(found), end(&alone[agent][row]), "{header}"),
                // A crawler that is not asked about: unknown if a file names it.
                None if found.starts_with("null") => assert_contains(found, &["\"unknown\""]),
                None => assert_eq!(end(found), end(&alone[NOBODY][row]), "{header}"),
            }
            let name = named.map(|named| format!("\"{}\" ", KNOWN[named]));
            let name = name.or(browser.map(|_| "\"*\" ".to_owned())).filter(|_| fetch.is_some());
            assert!(name.is_none_or(|name| found.starts_with(&name)), "{header}: {found}");
        }
        assert!(seen.iter().all(|&count| count > 20) || seen[NOBODY] > 500, "{seen:?}");
        let header = "--agent-kind header";
        for line in [
            format!("--agent-field who {header} {at_column} t.csv"),
            format!(
                "--agent-field 4 {header} --host-field site --url-field target {at_column} p.csv"
            ),
            format!(
                "--agent-field request.agent {header} --url-field uri --host-field request.host {at_field} \
                 o.jsonl"
            ),
        ] {
            let others = decided(&folder, &format!("{asked} {line}"));
            for (row, (fetch, other)) in fetches.iter().zip(&others).enumerate() {
                match fetch {
                    Some(_) => assert_eq!(*other, found[row], "{line}"),
                    None => assert_contains(other, &["\"invalid\""]),
                }
            }
        }
    }
}
