//! `portcullis audit`: its counts equal a naive count of the output of `classify`.

mod recount;

use recount::{Recount, policy_key};

use super::*;

/// The agents and the flags for the corpus.
const ASKED: &str =
    "--robots c/robots -a Googlebot,GPTBot,CCBot,Nobody,AhrefsBot+SemrushBot c/list";

/// Returns a folder with a made-up corpus in `c`, and `c/list`: its URLs, mixed with unknown hosts,
/// records that are not URLs, and empty records.
fn corpus() -> Folder {
    let folder = Folder::new();
    folder.ok("synth --seed 5 --hosts 60 --urls 3000 --out c");
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
    json(&folder.ok(format!("audit {line} -n 1000000 --report - --no-summary")).stdout)
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
    let recount = Recount::of(&folder, ASKED);

    let records = &report["records"];
    assert_eq!(number(&records["records"]), recount.records);
    assert_eq!(number(&records["bytes"]), folder.read("c/list").len() as u64);
    for (agent, verdicts) in report["verdicts"].as_array().unwrap().iter().enumerate() {
        for verdict in ["allow", "disallow", "unknown", "invalid"] {
            let expected = recount.verdicts.get(&(agent, verdict.to_owned())).copied().unwrap_or(0);
            assert_eq!(number(&verdicts[verdict]), expected, "{agent} {verdict}");
        }
        for (reason, count) in verdicts["reasons"].as_object().unwrap() {
            let expected = recount.reasons.get(&(agent, reason.clone())).copied().unwrap_or(0);
            assert_eq!(number(count), expected, "{agent} {reason}");
        }
    }
    let states: u64 = report["states"].as_object().unwrap().values().map(number).sum();
    assert_eq!(states, number(&records["known"]) + number(&records["unknown"]));
}

#[test]
fn hosts_are_those_of_classify() {
    let folder = corpus();
    let report = audit(&folder, ASKED);
    let recount = Recount::of(&folder, ASKED);
    let hosts = &report["hosts"];
    assert_eq!(number(&hosts["asked"]), recount.hosts.len() as u64);
    let affected: Vec<_> =
        recount.hosts.iter().filter(|(_, host)| host.by_agent.iter().sum::<u64>() > 0).collect();
    assert_eq!(number(&hosts["affected"]), affected.len() as u64);
    let rows = hosts["most_affected"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), affected.len());
    for row in rows {
        let expected = &recount.hosts[row["host"].as_str().unwrap()];
        assert_eq!(number(&row["urls"]), expected.urls, "{row}");
        assert_eq!(numbers(&row["by_agent"]), expected.by_agent, "{row}");
        assert_eq!(number(&row["disallowed"]), expected.by_agent.iter().sum::<u64>(), "{row}");
    }
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(number(&row["disallowed"]))));
}

#[test]
fn rules_are_those_of_classify() {
    let folder = corpus();
    let report = audit(&folder, ASKED);
    let recount = Recount::of(&folder, ASKED);
    let deciding = &report["rules"]["deciding"];
    let rows = deciding["rows"].as_array().unwrap();
    assert!(rows.len() > 50, "{}", rows.len());
    assert_eq!(number(&deciding["total"]), rows.len() as u64);
    assert_eq!(rows.len(), recount.rules.len());
    for row in rows {
        let host = row["host"].as_str().unwrap();
        let key = (policy_key(&folder, host), number(&row["line"]));
        let expected = recount.rules.get(&key).unwrap_or_else(|| panic!("{row} decided nothing"));
        assert_eq!(number(&row["urls"]), expected.urls, "{row}");
        assert_eq!(numbers(&row["by_agent"]), expected.by_agent, "{row}");
        assert_eq!(row["verdict"], expected.verdict, "{row}");
        assert_eq!(row["rule"], expected.rule, "{row}");
        assert_eq!(strings(&row["samples"]), expected.samples, "{row}");
    }
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(number(&row["urls"]))));
}

#[test]
fn unknown_and_invalid_records() {
    let folder = corpus();
    let report = audit(&folder, ASKED);
    let recount = Recount::of(&folder, ASKED);
    let unknown = &report["unknown"];
    assert_eq!(unknown["exact"], true);
    let rows = unknown["worth_fetching"]["rows"].as_array().unwrap();
    let found: Vec<(String, u64)> = rows
        .iter()
        .map(|row| (row["origin"].as_str().unwrap().to_owned(), number(&row["urls"])))
        .collect();
    let mut expected: Vec<(String, u64)> = recount.unknown.into_iter().collect();
    expected.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
    assert_eq!(found, expected);
    assert_eq!(number(&unknown["origins"]), expected.len() as u64);
    assert_eq!(found[0].0, "https://unknown.example");

    let invalid = &report["invalid"];
    assert_eq!((number(&invalid["empty"]), number(&invalid["others"])), (30, 60));
    let examples = ["no URL at all", "https://\u{fffd}/", "no URL at all"];
    assert_eq!(strings(&invalid["examples"]), examples);
}

#[test]
fn threads_and_cuts_change_no_byte() {
    let folder = corpus();
    // Many chunks, so that threads process them out of order.
    folder.write("c/list", folder.read("c/list").repeat(24));
    let report = |threads: usize, top: usize| {
        folder.ok(format!("audit {ASKED} -n {top} -j {threads} --report -")).stdout
    };
    for top in [0, 3, 50] {
        let expected = report(1, top);
        assert!(report(2, top) == expected, "-n {top}");
        assert!(report(5, top) == expected, "-n {top}");
    }
    let (short, long) = (json(&report(2, 3)), json(&report(2, 50)));
    for (part, list) in
        [("hosts", "most_affected"), ("rules", "deciding"), ("unknown", "worth_fetching")]
    {
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
    assert_eq!(of_folder["source"]["kind"], "folder");
    assert_eq!(of_set["source"]["kind"], "set");
    for fact in ["dialect", "robots_bytes_max", "hosts", "origins", "policies"] {
        assert_eq!(of_folder["source"][fact], of_set["source"][fact], "{fact}");
    }
    for report in [&mut of_folder, &mut of_set] {
        report["source"] = Value::Null;
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
        let reach = &survey["reach"][agent];
        ["named", "by_default", "unnamed", "everything", "part", "nothing", "not_known"]
            .map(|member| number(&reach[member]))
    };
    // Three hosts with two origins each; that of b.example has no rules.
    assert_eq!(reach(0), [0, 4, 2, 4, 2, 0, 0]);
    assert_eq!(reach(1), [4, 0, 2, 4, 0, 2, 0]);
    let hosts = &survey["reach"][1]["hosts"];
    let hosts = ["named", "unnamed", "everything", "nothing"].map(|it| number(&hosts[it]));
    assert_eq!(hosts, [2, 1, 2, 1]);
    let robots = &survey["robots"];
    let row = |row: &Value| {
        let counts = ["origins", "everything", "part", "nothing"];
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
