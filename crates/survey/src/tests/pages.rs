//! Pages of synthetic reports.

use portcullis_report::{
    AgentRecords, Figures, InvalidRecord, InvalidRecords, NameRecords, Pace, ReadingFacts,
    RecordAgent, RecordFigures, TopNames,
};
use roxmltree::Document;

use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_dialect::usage::Label;

use crate::audit::{DecidingRule, HostRow, Report};
use crate::limits::AUDIT_PAGE_BYTES_MAX;
use crate::list::List;
use crate::{AgentFigures, NoteFigures, OtherFigures, ProductRow, Text, page};

/// Texts of files and URLs that try to break the page.
const HOSTILE: [&str; 8] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'/**/onmouseover='alert(1)",
    "<!--",
    "]]>&lt;&#60;",
    "/a\0b\u{7f}\u{85}\n\r\t",
    "/\u{202e}/moc.live\u{2066}\u{200f}",
    "/\u{fffd}\u{fffd}/\u{ffff}",
];

fn hostile(index: usize) -> String {
    HOSTILE[index % HOSTILE.len()].to_owned()
}

/// Returns a text of the usual length of hosts, rules and URLs.
fn usual(index: usize) -> String {
    format!(
        "https://www.host-{index}.example/articles/2024/{index}/a-title-of-usual-length?{index}"
    )
}

fn verdict(verdict: Verdict) -> u64 {
    match verdict {
        Verdict::Allow => 800_000,
        Verdict::Disallow => 100_000,
        Verdict::Unknown => 99_000,
        Verdict::Invalid => 1_000,
    }
}

/// Returns a report of a million URLs with lists of `rows` rows for `agents` agents. All its texts
/// come from `text`.
fn report(rows: usize, agents: usize, text: impl Fn(usize) -> String) -> Report {
    fn list<T>(rows: usize, row: impl Fn(usize) -> T) -> List<T> {
        List { total: rows as u64 * 7, rows: (0..rows).map(row).collect() }
    }
    let bytes = |index| Text(text(index).into_bytes());
    let by_agent = |index: usize| (0..agents).map(|it| (index * it) as u64).collect::<Vec<_>>();
    let samples = |index: usize| (0..3).map(|it| bytes(index + it)).collect::<Vec<_>>();
    let mut report = Report { inputs: vec![text(0)], ..Report::default() };
    report.account.run.agents = (0..agents).map(&text).collect();
    let records = &mut report.account.records;
    (records.records, records.bytes) = (1_000_000, 9);
    let stated = Figures(vec![("y", 1), ("n", 2), ("?", 0), ("-", 0)]);
    records.per_agent = (0..agents)
        .map(|agent| AgentRecords {
            agent: text(agent),
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, verdict),
            reasons: Figures::of(Reason::ALL, Reason::as_str, |_| 5),
            usage: Some(Figures::of(Label::ALL, Label::as_str, |_| stated.clone())),
            ..AgentRecords::default()
        })
        .collect();
    let sample = |index: usize| InvalidRecord {
        file: text(index),
        place: text(index),
        problem: text(index),
        record: text(index),
        record_base64: None,
    };
    let samples_of = (0..3).map(sample).collect();
    records.invalid = Some(InvalidRecords { samples: samples_of, ..InvalidRecords::default() });
    report.hosts.count = 5_000;
    report.hosts.affected = 900;
    report.hosts.most_affected = list(rows, |index| HostRow {
        host: bytes(index),
        records: 10_000,
        disallowed: 90_000,
        by_agent: by_agent(index),
        crawlers: Vec::new(),
    });
    report.rules.deciding = list(rows, |index| DecidingRule {
        host: bytes(index),
        hosts: 3,
        line: 7,
        verdict: ["allow", "disallow"][index % 2],
        rule: bytes(index + 1),
        group: bytes(index + 2),
        records: 4_000,
        by_agent: by_agent(index),
        crawlers: Vec::new(),
        samples: samples(index),
    });
    report.account.records.unknown_hosts = TopNames {
        names: rows * 7,
        records: 99_000,
        uncounted_records: 0,
        largest: (0..rows).map(|index| NameRecords { name: text(index), records: 9 }).collect(),
    };
    let survey = &mut report.survey;
    survey.usage.all.hosts = 40;
    survey.reach = (0..agents)
        .map(|agent| AgentFigures { agent: text(agent), ..AgentFigures::default() })
        .collect();
    survey.problems = (0..9)
        .map(|index| NoteFigures { files: 5, hosts: samples(index), ..NoteFigures::default() })
        .collect();
    report
}

/// Returns a report of the crawlers that records name, with `rows` of each kind.
fn report_of_crawlers(rows: usize, text: impl Fn(usize) -> String) -> Report {
    let verdicts = || Figures::of(Verdict::ALL, Verdict::as_str, verdict);
    let reading = |index: usize| ReadingFacts {
        tokens: vec![text(index), text(index + 1)],
        is_bound: index.is_multiple_of(2),
        answers: Some(text(index + 2)),
        ..ReadingFacts::default()
    };
    let crawler = |index: usize| RecordAgent {
        agent: Some(text(index)),
        reading: Some(reading(index)),
        verdicts: verdicts(),
        pace: Some(Pace { requests: 9, compared: 8, sooner: 7, untimed: 1, ..Pace::default() }),
    };
    let product = |index| ProductRow { product: Text(text(index).into()), verdicts: verdicts() };
    let products = List { total: 7 * rows as u64, rows: (0..rows).map(product).collect() };
    let mut report = report(rows, 1, &text);
    report.account.records.record_agents = Some((0..rows).map(crawler).collect());
    report.others =
        Some(OtherFigures { products, uncounted: verdicts(), ..OtherFigures::default() });
    // The survey has other agents than the decisions.
    report.survey.reach = (0..rows)
        .map(|agent| AgentFigures { agent: text(agent), ..AgentFigures::default() })
        .collect();
    report
}

/// Parses the body of a page, which is XML: every tag is closed, every attribute is quoted, and
/// every `&` starts a reference.
fn with_parsed(html: &str, check: impl FnOnce(&Document<'_>)) {
    let body = &html[html.find("<body>").unwrap()..html.find("</html>").unwrap()];
    check(&Document::parse(body).unwrap());
}

#[test]
fn the_page_is_well_formed() {
    let of_crawlers = [report_of_crawlers(0, usual), report_of_crawlers(20, hostile)];
    let reports =
        [Report::default(), report(0, 1, usual), report(3, 2, usual), report(20, 15, hostile)];
    for report in reports.into_iter().chain(of_crawlers) {
        with_parsed(&page::audit(&report, &[]), |_| {});
    }
}

#[test]
fn texts_become_no_markup() {
    let html = page::audit(&report(20, 9, hostile), &[]);
    assert!(!html.contains("<script"));
    let is_hidden =
        |character: char| portcullis_text::visible::is_hidden(character) && character != '\n';
    assert_eq!(html.chars().find(|it| is_hidden(*it)), None);
    assert!(html.contains("\\u{202e}"), "they are shown");
    with_parsed(&html, |document| {
        assert!(document.descendants().all(|node| !node.has_tag_name("img")));
        let mut attributes = document.descendants().flat_map(|node| node.attributes());
        assert_eq!(attributes.find(|it| it.name().starts_with("on")), None);
    });
}

#[test]
fn a_million_urls_fit_and_missing_rows_are_counted() {
    for (rows, agents, text) in [
        (1_000, 15, usual as fn(usize) -> String),
        (1_000, 60, usual),
        (1_000, 15, |_| "<&>\"'".repeat(400)),
    ] {
        let html = page::audit(&report(rows, agents, text), &[]);
        assert!(html.len() <= AUDIT_PAGE_BYTES_MAX, "{rows} rows, {agents} agents: {}", html.len());
        assert!(html.contains("of 7,000"), "captions have the number of all rows");
        assert!(html.contains("the JSON report, which has more rows"));
    }
    let short = page::audit(&report(5, 2, usual), &[]);
    assert!(!short.contains("the JSON report, which has more rows"));
    assert!(short.contains("the first 5 of 35"));
}

#[test]
fn links_have_targets_and_ids_are_unique() {
    with_parsed(&page::audit(&report(3, 2, usual), &[]), |document| {
        let of = |name: &str| -> Vec<String> {
            document.descendants().filter_map(|it| it.attribute(name)).map(String::from).collect()
        };
        let mut ids = of("id");
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        for href in of("href") {
            let id = href.strip_prefix('#').expect("no link leaves the page");
            assert!(ids.iter().any(|it| it == id), "{href}");
        }
        for reference in of("aria-labelledby").iter().chain(&of("aria-describedby")) {
            assert!(ids.contains(reference), "{reference}");
        }
        assert_eq!(of("src"), [""; 0]);
        assert_eq!(of("style"), [""; 0], "the content security policy would block it");
    });
}

#[test]
fn words_and_figures() {
    let mut some = report(3, 2, |index| format!("h{index}.example"));
    for agent in &mut some.account.records.per_agent {
        agent.verdicts = Figures(vec![("disallow", 100_000), ("unknown", 899_000)]);
    }
    let html = page::audit(&some, &[]);
    assert!(html.contains("may fetch 0.0 %"), "an unknown URL is not allowed");
    assert!(html.contains("<span>h1.example and 2 others · Disallow: h2.example (line 7)</span>"));
    assert!(html.contains("<th scope=\"col\">no-rule</th>"));
    assert_eq!(html, page::audit(&some, &[]), "equal reports make equal pages");
    some.account.records = RecordFigures::default();
    let html = page::audit(&some, &[]);
    assert!(html.contains("The list of URLs is empty"));
    assert!(html.contains("id=\"reach\"") && !html.contains("id=\"hosts\""));
}

#[test]
fn every_agent_is_on_the_page() {
    let html = page::audit(&report(3, 166, |index| format!("agent-{index}")), &[]);
    let facts = html.split("<dt>Crawlers</dt>").nth(1).unwrap().split("</dd>").next().unwrap();
    assert!(facts.contains("154 more") && facts.contains("agent-165"), "{facts}");
}
