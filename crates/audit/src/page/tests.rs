//! Tests of the whole page, with synthetic reports.

use roxmltree::{Document, ParsingOptions};

use super::*;
use crate::model::*;
use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_report::page::{SCRIPT, STYLE};

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
        "https://www.host-{index}.example/articles/2024/{index}/a-title-of-usual-length?page={index}"
    )
}

fn list<T>(rows: usize, row: impl Fn(usize) -> T) -> List<T> {
    List { total: rows as u64 * 7, rows: (0..rows).map(row).collect() }
}

fn distribution() -> Distribution {
    let bins = (0..12_u32).map(|power| Bin {
        from: (1 << power) >> 1,
        to: (1_u64 << power) - 1,
        count: u64::from(power % 5) * 10_u64.pow(power % 6),
    });
    Distribution { count: 1_000_000, sum: 1 << 40, bins: bins.collect(), ..Default::default() }
}

/// Returns a report of a million URLs with lists of `rows` rows for `agents` agents. All its texts
/// come from `text`.
fn report(rows: usize, agents: usize, text: impl Fn(usize) -> String) -> Report {
    let by_agent =
        |index: usize| (0..agents).map(|agent| (index * agent) as u64).collect::<Vec<_>>();
    let row = |index: usize| RuleRow {
        host: text(index),
        hosts: 3,
        line: 7,
        verdict: ["allow", "disallow"][index % 2],
        rule: text(index + 1),
        group: text(index + 2),
        agents: (0..agents).collect(),
    };
    let samples = |index: usize| (0..3).map(|it| text(index + it)).collect::<Vec<_>>();
    let file = |index| FileRow { host: text(index), bytes: 512_000, groups: 2, rules: 9 };
    let reach = ReachCounts { everything: 8, part: 4, nothing: 5, not_known: 1 };
    let robot = |index| RobotRow {
        name: text(index),
        asked: false,
        origins: 18,
        hosts: 9,
        reach,
        by_host: reach,
    };
    let covering = |it| CoveringRule { line: 3, verdict: "allow", rule: text(it) };
    let reasons = Reason::ALL.map(|it| ReasonCount { reason: it.as_str(), count: 5 });
    let states = PolicyState::ALL.map(|it| StateCount {
        state: it.as_str(),
        hosts: 9,
        origins: 9,
        urls: 99,
    });
    Report {
        version: text(0),
        inputs: vec![text(0)],
        source: SourceFacts { name: text(0), hash: text(3), ..SourceFacts::default() },
        agents: (0..agents).map(&text).collect(),
        records: RecordCounts {
            records: 1_000_000,
            bytes: 60_000_000,
            known: 900_000,
            unknown: 99_000,
            invalid: 1_000,
        },
        verdicts: (0..agents)
            .map(|agent| AgentVerdicts {
                agent: text(agent),
                allow: 800_000,
                disallow: 100_000,
                unknown: 99_000,
                invalid: 1_000,
                reasons: reasons.to_vec(),
            })
            .collect(),
        states: states.to_vec(),
        hosts: HostFigures {
            asked: 5_000,
            affected: 900,
            most_affected: list(rows, |index| HostRow {
                host: text(index),
                urls: 10_000,
                disallowed: 90_000,
                by_agent: by_agent(index),
            }),
        },
        rules: RuleFigures {
            rules: 90,
            asked: 80,
            deciding: list(rows, |index| DecidingRule {
                row: row(index),
                urls: 4_000,
                by_agent: by_agent(index),
                samples: samples(index),
            }),
            idle: list(rows, |index| IdleRule { row: row(index), urls: 5 }),
            never: list(rows, |index| NeverRule {
                row: row(index),
                urls: 5,
                cause: [NeverCause::NoUrl, NeverCause::Shadowed, NeverCause::Equal][index % 3],
                covered_by: (0..9).map(covering).collect(),
            }),
            never_by_cause: NeverCounts { no_url: 1, shadowed: 2, equal: 3 },
            not_known: 4,
        },
        reach: (0..agents)
            .map(|agent| AgentReach {
                agent: text(agent),
                hosts: AddressCounts { reach, ..AddressCounts::default() },
                ..AgentReach::default()
            })
            .collect(),
        robots: RobotFigures {
            naming_hosts: 25,
            others: robot(0),
            most_named: list(rows, robot),
            ..RobotFigures::default()
        },
        usage: UsageFigures {
            hosts: 40,
            urls: (0..agents * 3)
                .map(|index| UsageRow {
                    agent: text(index / 3),
                    label: "train-ai",
                    y: 100_000,
                    n: 200_000,
                    unstated: 300_000,
                    no_access: 400_000,
                })
                .collect(),
            conflicts: list(rows, |index| UsageConflict {
                host: text(index),
                kind: [ConflictKind::NoAccess, ConflictKind::Overruled, ConflictKind::OtherGroup]
                    [index % 3],
                agents: (0..agents).collect(),
                ..UsageConflict::default()
            }),
            licensed: 5,
            licenses: list(rows, |index| LicenseRow { license: text(index), hosts: 5 }),
            ..UsageFigures::default()
        },
        unknown: UnknownFigures {
            urls: 99_000,
            origins: 700,
            hosts: 600,
            exact: false,
            worth_fetching: list(rows, |index| UnknownRow {
                origin: text(index),
                urls: 9,
                urls_min: 9,
            }),
        },
        invalid: InvalidFigures { empty: 1, others: 999, examples: samples(0) },
        files: FileFigures {
            files: 1_000,
            bytes: distribution(),
            longest: list(rows, file),
            groups: distribution(),
            rules_of_group: distribution(),
            rules: distribution(),
            most_rules: list(rows, file),
            closed: 12,
        },
        notes: (0..9)
            .map(|index| NoteCount { files: 5, examples: samples(index), ..NoteCount::default() })
            .collect(),
        crawl_delays: CrawlDelays {
            files: 5,
            lines: 6,
            malformed: 1,
            seconds: distribution(),
            longest: list(rows, |index| CrawlDelayRow {
                host: text(index),
                line: 4,
                value: text(index),
                group: Some(text(index)),
            }),
        },
        sitemaps: Sitemaps {
            files: 1,
            lines: 9,
            malformed: 1,
            elsewhere: 1,
            of_file: distribution(),
            most: list(rows, |index| SitemapRow {
                host: text(index),
                sitemaps: 5,
                first: text(index),
            }),
        },
        limits: vec![LimitCount { value: Some(9), hits: 1, ..LimitCount::default() }],
        ..Report::default()
    }
}

/// Parses a page, which is XML except for its script and style: every tag is closed, every
/// attribute is quoted, and every `&` starts a reference.
fn with_parsed(html: &str, check: impl FnOnce(&Document<'_>)) {
    let xml = html.replace(STYLE, "").replace(SCRIPT, "");
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    check(&Document::parse_with_options(&xml, options).unwrap());
}

#[test]
fn the_page_is_well_formed() {
    let reports =
        [Report::default(), report(0, 1, usual), report(3, 2, usual), report(20, 15, hostile)];
    for report in reports {
        with_parsed(&page(&report), |_| {});
    }
}

#[test]
fn texts_become_no_markup() {
    let html = page(&report(20, 9, hostile));
    assert_eq!(html.matches("<script").count(), 1);
    let is_hidden =
        |character: char| portcullis_robots::visible::is_hidden(character) && character != '\n';
    assert_eq!(html.chars().find(|it| is_hidden(*it)), None);
    assert!(html.contains("‹U+202E›"), "they are shown");
    with_parsed(&html, |document| {
        assert!(document.descendants().all(|node| !node.has_tag_name("img")));
        let mut attributes = document.descendants().flat_map(|node| node.attributes());
        assert_eq!(attributes.find(|it| it.name().starts_with("on")), None);
    });
}

#[test]
fn a_million_urls_fit() {
    for (rows, agents, text) in [
        (1_000, 15, usual as fn(usize) -> String),
        (1_000, 60, usual),
        (1_000, 15, |_| "<&>\"'".repeat(400)),
    ] {
        let html = page(&report(rows, agents, text));
        assert!(html.len() <= AUDIT_PAGE_BYTES_MAX, "{rows} rows, {agents} agents: {}", html.len());
    }
}

#[test]
fn missing_rows_are_counted() {
    let html = page(&report(1_000, 60, usual));
    assert!(html.contains("of 7,000"), "captions have the number of all rows");
    assert!(html.contains("the JSON report has more"));
    let short = page(&report(5, 2, usual));
    assert!(!short.contains("the JSON report has more"));
    assert!(short.contains("the first 5 of 35"));
}

#[test]
fn links_have_targets_and_ids_are_unique() {
    let html = page(&report(3, 2, usual));
    with_parsed(&html, |document| {
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
    for verdicts in &mut some.verdicts {
        (verdicts.allow, verdicts.unknown) = (0, 999_000 - verdicts.disallow);
    }
    let html = page(&some);
    assert!(html.contains("may fetch 0 %"), "an unknown URL is not allowed");
    assert!(html.contains("named by 9 hosts"));
    assert!(html.contains("<span>h1.example and 2 others · Disallow: h2.example (line 7)</span>"));
    assert!(html.contains("<th scope=\"col\">no rule matches</th>"));
    assert!(html.contains("Half have at most 0") && html.contains("<td>2 to 3</td>"));
    assert!(page(&Report::default()).contains("Size of files: nothing to count"));
    assert_eq!(html, page(&some), "equal reports make equal pages");
    assert!(!html.contains("The list of URLs is empty"));
}

#[test]
fn an_empty_list_is_said_to_be_empty() {
    let mut empty = report(3, 2, usual);
    empty.records = RecordCounts::default();
    let html = page(&empty);
    assert!(html.contains("The list of URLs is empty"));
    assert!(html.contains("id=\"never\"") && !html.contains("id=\"deciding\""));
}

#[test]
fn every_agent_is_on_the_page() {
    let html = page(&report(3, 166, |index| format!("agent-{index}")));
    let table =
        html.split("id=\"verdicts-table\"").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(table.matches("<tr>").count(), 167);
    let facts = html.split("<dt>Agents</dt>").nth(1).unwrap().split("</dd>").next().unwrap();
    assert!(facts.contains("160 more") && facts.contains("agent-165"), "{facts}");
}
