//! `audit --agent-field record`: its rows agree with `classify`, and its paces with a model that sees all
//! requests of the log at once.

use std::collections::BTreeMap;

use portcullis_testkit::Random;

use super::*;

const CRAWLERS: [&str; 4] = ["CCBot", "GPTBot", "ClaudeBot", "ExampleBot"];

/// Writes `log`, of requests that come up to some seconds out of order, and a folder `robots` with delays.
/// Returns the host, the crawler, the client and the time of each request.
fn log(folder: &Folder, requests: usize) -> Vec<[String; 4]> {
    folder.write("robots/a.example", "User-agent: *\nCrawl-delay: 4\nDisallow: /1\n");
    folder.write("robots/b.example", "User-agent: CCBot\nCrawl-delay: 2.5\n\nUser-agent: *\n");
    folder.write("robots/c.example", "User-agent: *\nDisallow: /2\n");
    let mut random = Random::new(75);
    let (mut log, mut all) = (String::new(), Vec::new());
    for number in 0..requests {
        let host = ["a.example", "b.example", "c.example"][random.below(3)];
        let crawler = CRAWLERS[random.below(4)];
        let client =
            if random.one_in(50) { "-".to_owned() } else { format!("192.0.2.{}", random.below(9)) };
        let second = number / 9 + random.below(6);
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        let time = format!("{:02}:{minute:02}:{:02}", hour, second % 60);
        log += &format!(
            "{host}:443 {client} - - [12/Mar/2026:{time} +0000] \"GET /{} HTTP/1.1\" 200 5 \"-\" \
             \"Mozilla/5.0 (compatible; {crawler}/1.0)\"\n",
            random.below(4)
        );
        all.push([host.to_owned(), crawler.to_owned(), client, second.to_string()]);
    }
    folder.write("log", log);
    all
}

const AUDITED: &str = "--robots robots --agent-field record -a CCBot,GPTBot,ClaudeBot,ExampleBot \
                       --log-format vhost-combined log";

#[test]
fn rows_agree_with_classify_and_paces_with_a_model() {
    let folder = Folder::new();
    // Several chunks.
    let requests = log(&folder, 40_000);
    let report = audit(&folder, AUDITED);
    assert_eq!(report, audit(&folder, &format!("{AUDITED} -j 3")));
    let line = format!("classify {AUDITED} --columns verdict,delay --format jsonl --summary none");
    let rows = String::from_utf8(folder.ok(line).stdout).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows.len(), requests.len());
    let mut verdicts: BTreeMap<(String, String), u64> = BTreeMap::new();
    // By crawler: requests with a delay, and of them the ones without a client. By stream: times and the delay.
    let mut counts: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    let mut streams: BTreeMap<[&str; 3], (Vec<u64>, f64)> = BTreeMap::new();
    for (row, [host, crawler, client, second]) in rows.iter().zip(&requests) {
        let word = |member: &str| row[member].as_str().unwrap_or("-").to_owned();
        assert_eq!(word("agent"), *crawler);
        *verdicts.entry((word("agent"), word("verdict"))).or_default() += 1;
        let Some(delay) = row["delay"].as_f64() else { continue };
        let [all, without] = counts.entry(crawler).or_default();
        *all += 1;
        match &**client {
            "-" => *without += 1,
            client => {
                let stream = streams.entry([crawler, host, client]).or_default();
                stream.0.push(second.parse().unwrap());
                stream.1 = delay;
            }
        }
    }
    let found = report["account"]["record_agents"].as_array().unwrap();
    assert_eq!(found.len(), CRAWLERS.len());
    for row in found {
        let crawler = row["agent"].as_str().unwrap();
        for (verdict, count) in row["verdicts"].as_object().unwrap() {
            let key = (crawler.to_owned(), verdict.clone());
            assert_eq!(number(count), verdicts.get(&key).copied().unwrap_or(0), "{key:?}");
        }
        let pace = |member: &str| number(&row["pace"][member]);
        let of_crawler = streams.iter().filter(|(key, _)| key[0] == crawler);
        let clients = of_crawler.clone().count() as u64;
        let [all, without] = counts[crawler];
        assert_eq!([pace("requests"), pace("without_client")], [all, without], "{crawler}");
        assert_eq!([pace("clients"), pace("compared")], [clients, all - without - clients]);
        let others = ["untimed", "under_a_second", "not_followed"].map(pace);
        assert_eq!(others, [0; 3]);
        let (mut by_order, mut exact) = (0, 0);
        for (times, delay) in of_crawler.map(|(_, stream)| stream) {
            let is_sooner = |it: &&[u64]| it[0].abs_diff(it[1]) as f64 + 1.0 <= *delay;
            by_order += times.windows(2).filter(is_sooner).count() as u64;
            let mut sorted = times.clone();
            sorted.sort_unstable();
            exact += sorted.windows(2).filter(is_sooner).count() as u64;
        }
        assert_eq!(pace("sooner"), by_order, "{crawler}");
        assert!(0 < by_order && by_order <= exact && pace("out_of_order") > 0, "{crawler}");
    }
    // Each rule and host has the crawlers whose requests it decided, in the order of `classify`'s rows.
    let shut = |host: &str, crawler: &str| {
        let is_shut = |(row, [of, ..]): &(&Value, &[String; 4])| {
            of == host && row["agent"] == crawler && row["verdict"] == "disallow"
        };
        rows.iter().zip(&requests).filter(is_shut).count() as u64
    };
    for of in ["/hosts/most_affected/rows", "/rules/deciding/rows"] {
        let found = report.pointer(of).unwrap().as_array().unwrap();
        assert_eq!(found.len(), 2, "{of}");
        for row in found {
            let named = row["crawlers"].as_array().unwrap();
            let named =
                named.iter().map(|it| (it["agent"].as_str().unwrap(), number(&it["records"])));
            let host = row["host"].as_str().unwrap();
            let mut expected = CRAWLERS.map(|crawler| (crawler, shut(host, crawler)));
            expected.sort_by_key(|&(crawler, records)| (std::cmp::Reverse(records), crawler));
            assert_eq!(named.collect::<Vec<_>>(), expected, "{of} {host}");
            assert_eq!(row["by_agent"][0], expected.iter().map(|it| it.1).sum::<u64>());
        }
    }
    // The orders of the page and of the text, and of everything else, do not depend on threads either.
    let page = |line: &str| folder.ok(format!("audit {AUDITED} {line} --summary none")).stdout;
    assert_eq!(page("--format html"), page("--format html -j 3"));
    assert_eq!(page(""), page("-j 3"));
}
