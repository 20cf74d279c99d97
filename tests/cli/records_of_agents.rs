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

/// Reads a line of a made-up log, whose texts have no escapes; `None` without a path.
fn fetch(line: &str) -> Option<Fetch> {
    let quoted: Vec<&str> = line.split('"').collect();
    let path = quoted[1].strip_prefix("GET ")?.strip_suffix(" HTTP/1.1").unwrap().to_owned();
    let host = line.split(' ').next().unwrap();
    let scheme = if host.ends_with(":80") { "http" } else { "https" };
    let time = line.split(['[', ']']).nth(1).unwrap();
    let (date, clock) = time.split_once(':').unwrap();
    let [day, month, year]: [&str; 3] = date.split('/').collect::<Vec<_>>().try_into().unwrap();
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let month = months.find(month).unwrap() / 3 + 1;
    Some(Fetch {
        url: format!("{scheme}://{host}{path}"),
        host: host.to_owned(),
        path,
        time: format!("{year}-{month:02}-{day}T{}Z", &clock[..8]),
        header: quoted[5].to_owned(),
    })
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
    let archive = Some(ArchiveFormat::JsonLines);
    let files = Files { urls: 1_500, archive, has_access_log: true };
    Corpus::new(0, 40).with_captures(6).write_files(&folder.path("x"), &files).unwrap();
    folder.ok("compile --history --summary none -o x.pcs x/robots.jsonl");
    let log = String::from_utf8(folder.read("x/access.log")).unwrap();
    let fetches: Vec<Option<Fetch>> = log.lines().map(fetch).collect();
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
