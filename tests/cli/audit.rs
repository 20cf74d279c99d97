//! `portcullis audit`: its counts equal a naive count of the output of `classify`.

mod crawlers;
mod recount;

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use recount::{CountedRule, Recount, policy_key};

use super::*;

const AGENTS: &str = "-a Googlebot,GPTBot,CCBot,Nobody,AhrefsBot+SemrushBot";

/// The agents and the flags for the corpus.
const ASKED: &str =
    "--robots c/robots -a Googlebot,GPTBot,CCBot,Nobody,AhrefsBot+SemrushBot c/list";

/// Returns a folder with a made-up corpus in `c`, and `c/list`: its URLs, mixed with unknown hosts,
/// records that are not URLs, and empty records.
fn corpus() -> Folder {
    let folder = Folder::new();
    folder.corpus("c", Corpus::new(5, 60), 3_000, None);
    let mut list = Vec::new();
    let urls = folder.read("c/urls.txt");
    for (number, url) in urls.split_inclusive(|&byte| byte == b'\n').enumerate() {
        list.extend_from_slice(url);
        match number % 100 {
            3 => list.extend_from_slice(b"https://unknown.example/page\n"),
            7 => list.extend(format!("http://u{}.example:8080/\n", number % 7).bytes()),
            11 => list.extend_from_slice(b"no URL at all\n"),
            13 => list.extend_from_slice(b"\n"),
            17 => list.extend_from_slice(b"https://\xff/\r\n"),
            _ => {}
        }
    }
    folder.write("c/list", list);
    folder
}

/// Returns the report of `line`, with lists of the maximum length.
fn audit(folder: &Folder, line: &str) -> Value {
    json(&folder.ok(format!("audit {line} -n 1000000 --format json --summary none")).stdout)
}

/// Counts what `classify` says about the corpus.
fn recount(folder: &Folder) -> Recount {
    let key_of = |origin: &str, _: &str| {
        let host = origin.split("//").nth(1).unwrap();
        policy_key(&folder.read(&format!("c/robots/{host}")))
    };
    Recount::of(folder, ASKED, key_of)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn strings(value: &Value) -> Vec<String> {
    let strings = value.as_array().unwrap().iter();
    strings.map(|string| string.as_str().unwrap().to_owned()).collect()
}

#[test]
fn counts_are_those_of_classify() {
    let folder = corpus();
    let report = audit(&folder, ASKED);
    check_counts(&report, &recount(&folder));
    assert_eq!(number(&report["account"]["bytes"]), folder.read("c/list").len() as u64);
}

fn check_counts(report: &Value, recount: &Recount) {
    let account = &report["account"];
    assert_eq!(number(&account["records"]), recount.records);
    for (agent, counts) in account["per_agent"].as_array().unwrap().iter().enumerate() {
        for verdict in ["allow", "disallow", "unknown", "invalid"] {
            let expected = recount.verdicts.get(&(agent, verdict.to_owned())).copied().unwrap_or(0);
            assert_eq!(number(&counts["verdicts"][verdict]), expected, "{agent} {verdict}");
        }
        for (reason, count) in counts["reasons"].as_object().unwrap() {
            let expected = recount.reasons.get(&(agent, reason.clone())).copied().unwrap_or(0);
            assert_eq!(number(count), expected, "{agent} {reason}");
        }
    }
    // A record without a time has no state.
    if let Some(states) = account["states"].as_object() {
        let states: u64 = states.values().map(number).sum();
        let invalid = number(&account["per_agent"][0]["verdicts"]["invalid"]);
        assert_eq!(states + invalid, recount.records);
    }
}

#[test]
fn hosts_are_those_of_classify() {
    let folder = corpus();
    check_hosts(&audit(&folder, ASKED), &recount(&folder));
}

fn check_hosts(report: &Value, recount: &Recount) {
    let hosts = &report["hosts"];
    assert_eq!(number(&hosts["count"]), recount.hosts.len() as u64);
    let affected: Vec<_> =
        recount.hosts.iter().filter(|(_, host)| host.by_agent.iter().sum::<u64>() > 0).collect();
    assert_eq!(number(&hosts["affected"]), affected.len() as u64);
    let rows = hosts["most_affected"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), affected.len());
    for row in rows {
        let expected = &recount.hosts[row["host"].as_str().unwrap()];
        assert_eq!(number(&row["records"]), expected.urls, "{row}");
        assert_eq!(numbers(&row["by_agent"]), expected.by_agent, "{row}");
        assert_eq!(number(&row["disallowed"]), expected.by_agent.iter().sum::<u64>(), "{row}");
    }
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(number(&row["disallowed"]))));
}

#[test]
fn rules_are_those_of_classify() {
    let folder = corpus();
    let recount = recount(&folder);
    assert!(recount.rules.len() > 50, "{}", recount.rules.len());
    check_rules(&audit(&folder, ASKED), recount);
}

/// Compares each row with the rule of a policy that its host has, and each rule with one row.
fn check_rules(report: &Value, recount: Recount) {
    let deciding = &report["rules"]["deciding"];
    let rows = deciding["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    assert_eq!(number(&deciding["total"]), rows.len() as u64);
    let Recount { mut rules, hosts_of, .. } = recount;
    for row in rows {
        let host = row["host"].as_str().unwrap();
        let of_host = hosts_of.iter().filter(|(_, hosts)| hosts.contains(host));
        let mut keys = of_host.map(|(key, _)| (key.clone(), number(&row["line"])));
        let is_same = |expected: &CountedRule| {
            number(&row["records"]) == expected.urls
                && numbers(&row["by_agent"]) == expected.by_agent
                && row["verdict"] == expected.verdict
                && row["rule"] == expected.rule
                && strings(&row["samples"]) == expected.samples
        };
        let key = keys.find(|key| rules.get(key).is_some_and(is_same));
        let key = key.unwrap_or_else(|| panic!("{row} is not that of a rule"));
        if !report["account"]["at"].is_null() {
            assert_eq!(number(&row["hosts"]), hosts_of[&key.0].len() as u64, "{row}");
        }
        rules.remove(&key);
    }
    assert!(rules.is_empty(), "{} rules have no row", rules.len());
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(number(&row["records"]))));
}

#[test]
fn unknown_and_invalid_records() {
    let folder = corpus();
    let report = audit(&folder, ASKED);
    check_unknown(&report, recount(&folder));
    let first = &report["account"]["unknown_hosts"]["largest"][0];
    assert_eq!(first["name"], "unknown.example");

    let invalid = &report["account"]["invalid"];
    let kinds = ["empty", "not-a-url"].map(|kind| number(&invalid["kinds"][kind]));
    assert_eq!(kinds, [30, 60]);
    let samples = invalid["samples"].as_array().unwrap().iter();
    let samples: Vec<&Value> = samples.map(|sample| &sample["record"]).take(3).collect();
    assert_eq!(samples, ["no URL at all", "https://\u{fffd}/", "no URL at all"]);
}

fn check_unknown(report: &Value, recount: Recount) {
    let unknown = &report["account"]["unknown_hosts"];
    assert_eq!(number(&unknown["uncounted_records"]), 0);
    let rows = unknown["largest"].as_array().unwrap();
    let found: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap().to_owned(), number(&row["records"])))
        .collect();
    let mut expected: Vec<(String, u64)> = recount.unknown.into_iter().collect();
    expected.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    assert_eq!(found, expected);
    assert_eq!(number(&unknown["names"]), expected.len() as u64);
}

/// Gives the corpus a history of four captures per origin, each with the file of another host or an
/// error, and `c/list` times. Returns the keys of the policies by origin and time of the capture.
fn history(folder: &Folder) -> BTreeMap<(String, String), String> {
    let mut hosts: Vec<String> = std::fs::read_dir(folder.path("c/robots"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    hosts.sort();
    let (mut captures, mut keys) = (String::new(), BTreeMap::new());
    for (number, host) in hosts.iter().enumerate() {
        for (scheme, origin) in ["http", "https"].iter().enumerate() {
            // Some origins are captured later than others.
            for year in number % 3..4 {
                let status = if (number + year) % 5 == 0 { 404 } else { 200 };
                let file = &hosts[(number * (1 + scheme) + year) % hosts.len()];
                let text = folder.read(&format!("c/robots/{file}"));
                let text = if status == 200 { text } else { Vec::new() };
                let time = format!("202{year}-0{}-01T00:00:00Z", 1 + scheme);
                keys.insert((format!("{origin}://{host}"), time.clone()), policy_key(&text));
                let capture = json!({
                    "url": format!("{origin}://{host}/robots.txt"),
                    "status": status,
                    "fetched_at": time,
                    "body_base64": BASE64_STANDARD.encode(text),
                });
                captures.push_str(&format!("{capture}\n"));
            }
        }
    }
    folder.write("captures.jsonl", captures);
    folder.ok("compile --history --summary none -o history.pcs captures.jsonl");
    let times = ["2019-06-01", "2020-01-15", "2021-06-01", "never", "2022-02-01", "2026-01-01"];
    let mut list = b"url\ttime\n".to_vec();
    for (number, url) in folder.read("c/list").split(|&byte| byte == b'\n').enumerate() {
        list.extend_from_slice(url.trim_ascii());
        list.extend(format!("\t{}\n", times[number % times.len()]).bytes());
    }
    folder.write("list.tsv", list);
    keys
}

#[test]
fn as_of_times_counts_are_those_of_classify() {
    let folder = corpus();
    let keys = history(&folder);
    for (times, surveyed) in [
        ("--time-field time", Some("2030-01-01")),
        ("--time-field time --before-first oldest", Some("2030-01-01")),
        ("--at 2021-06-01", Some("2021-06-01")),
        ("--at 2020-01-15 --before-first oldest", None),
    ] {
        let line = format!("-p history.pcs {AGENTS} {times} list.tsv");
        let report = audit(&folder, &line);
        let key_of = |origin: &str, time: &str| keys[&(origin.into(), time.into())].clone();
        let recount = Recount::of(&folder, &line, key_of);
        check_counts(&report, &recount);
        check_hosts(&report, &recount);
        check_rules(&report, recount.clone());
        check_unknown(&report, recount);
        let reasons = ["before-first", "no-time"]
            .map(|reason| number(&report["account"]["per_agent"][0]["reasons"][reason]) > 0);
        assert_eq!(reasons, [!times.contains("oldest"), times.contains("time-field")], "{times}");
        for threads in [2, 5] {
            assert_eq!(audit(&folder, &format!("{line} -j {threads}")), report, "{times}");
        }
        // What describes the files is that of the captures up to the time.
        if let Some(time) = surveyed {
            folder.ok(format!("compile --summary none -o then.pcs captures.jsonl --as-of {time}"));
            let then = audit(&folder, &format!("-p then.pcs {AGENTS} list.tsv"));
            assert_eq!(report["survey"], then["survey"], "{times}");
        }
    }
}

#[test]
fn threads_and_cuts_change_no_byte() {
    let folder = corpus();
    // Many chunks, so that threads process them out of order.
    folder.write("c/list", folder.read("c/list").repeat(24));
    let report = |threads: usize, top: usize| {
        folder.ok(format!("audit {ASKED} -n {top} -j {threads} --format json")).stdout
    };
    for top in [0, 3, 50] {
        let expected = report(1, top);
        assert!(report(5, top) == expected, "-n {top}");
    }
    let (short, long) = (json(&report(2, 3)), json(&report(2, 50)));
    for (part, list) in [("hosts", "most_affected"), ("rules", "deciding")] {
        let (short, long) = (&short[part][list], &long[part][list]);
        assert_eq!(short["total"], long["total"], "{part} {list}");
        assert_eq!(short["rows"].as_array().unwrap()[..], long["rows"].as_array().unwrap()[..3]);
    }
}

#[test]
fn a_set_and_a_folder_give_the_same_report() {
    let folder = corpus();
    folder.ok("compile -o c.set c/robots");
    let mut of_folder = audit(&folder, ASKED);
    let mut of_set = audit(&folder, &ASKED.replace("--robots c/robots", "-p c.set"));
    let [folder_facts, set_facts] =
        [&mut of_folder, &mut of_set].map(|report| report["account"]["policies"].take());
    assert_eq!(folder_facts["kind"], "folder");
    assert_eq!(set_facts["kind"], "set");
    for fact in ["dialect", "robots_bytes_max", "hosts", "origins", "policies"] {
        assert_eq!(folder_facts[fact], set_facts[fact], "{fact}");
    }
    for (member, expected) in of_folder.as_object().unwrap() {
        assert_eq!(&of_set[member], expected, "{member}");
    }
}

#[test]
fn the_reach_of_robots_and_odd_files() {
    let folder = Folder::new();
    folder.write(
        "robots/c.example",
        "\u{feff}User-agent: One\nUser-agent: *\nDisallow:\nCrawl-delay: 2.5\nFoo: x\n\n\
         User-agent: badbot\nDisallow: /x\nAllow: /x\nCrawl-delay: soon\n\
         Sitemap: https://c.example/1\nSitemap: https://cdn.example/2\nSitemap: /3\n",
    );
    let report = audit(&folder, "--robots robots -a ExampleBot,BadBot");
    let survey = &report["survey"];
    let reach = |agent: usize| {
        let reach = &survey["per_agent"][agent];
        ["named", "by_default", "unnamed", "all", "part", "none", "not_known"]
            .map(|member| number(&reach[member]))
    };
    // Three hosts with two origins each; that of b.example has no rules.
    assert_eq!(reach(0), [0, 4, 2, 4, 2, 0, 0]);
    assert_eq!(reach(1), [4, 0, 2, 4, 0, 2, 0]);
    let hosts = &survey["per_agent"][1]["hosts"];
    let hosts = ["named", "unnamed", "all", "none"].map(|it| number(&hosts[it]));
    assert_eq!(hosts, [2, 1, 2, 1]);
    let robots = &survey["robots"];
    let row = |row: &Value| {
        let counts = ["origins", "all", "part", "none"];
        (row["name"].as_str().unwrap_or("*").to_owned(), counts.map(|it| number(&row[it])))
    };
    assert_eq!(row(&robots["others"]), ("*".into(), [4, 2, 2, 0]));
    let named: Vec<_> = robots["most_named"].as_array().unwrap().iter().map(row).collect();
    let expected = [("badbot".to_owned(), [4, 2, 0, 2]), ("one".to_owned(), [2, 2, 0, 0])];
    assert_eq!(named, expected);
    assert_eq!(number(&survey["files"]), 3);
    let problem = |it: &Value| (strings(&json!([it["kind"]])), number(&it["files"]));
    let problems: Vec<_> = survey["problems"].as_array().unwrap().iter().map(problem).collect();
    let kinds = ["byte-order-mark", "unknown-field"].map(|kind| (vec![kind.to_owned()], 1));
    assert_eq!(problems, kinds);
    assert_eq!(survey["problems"][0]["hosts"], json!(["c.example"]));
}

/// Hosts that share a file are one policy: it has the name of the host with the most URLs.
#[test]
fn a_shared_file_has_the_name_of_the_host_with_most_urls() {
    let folder = Folder::new();
    for host in ["one", "two", "three", "four"] {
        folder.write(&format!("robots/{host}.example"), "User-agent: *\nDisallow: /x\n");
    }
    let list = "https://one.example/x\nhttps://two.example/x\nhttp://two.example/z\n\
        https://three.example/x\nhttps://three.example/x\nhttp://three.example/z\n";
    folder.write("list", list);
    let line = "--robots robots -a ExampleBot list";
    let row = &audit(&folder, line)["rules"]["deciding"]["rows"][0];
    assert_eq!((&row["host"], number(&row["hosts"])), (&"three.example".into(), 4), "{row}");
    folder.ok(format!("audit {line} -o page.html"));
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert_contains(&page, &["three.example and 3 others · Disallow: /x (line 2)"]);
    assert_eq!(page.matches("<code>three.example</code> and 3 others</td>").count(), 1);
}
