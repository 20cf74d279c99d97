//! The whole page, of made-up reports.

mod markup;
mod sha256;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::*;
use crate::audit::model::files::*;
use crate::audit::model::rules::*;
use crate::audit::model::*;
use crate::decision::{PolicyState, Reason};

/// What a stranger may write into a file or a URL to break the page that shows it.
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

fn list<T>(rows: usize, row: impl Fn(usize) -> T) -> List<T> {
    List { total: rows as u64 * 7, rows: (0..rows).map(row).collect() }
}

fn distribution() -> Distribution {
    let bins = (0..12_u32).map(|power| Bin {
        from: (1 << power) >> 1,
        to: (1_u64 << power) - 1,
        count: u64::from(power % 5) * 10_u64.pow(power % 6),
    });
    Distribution {
        count: 1_000_000,
        sum: 1 << 40,
        p50: 3,
        p90: 9,
        p99: 99,
        max: 2_000,
        min: 0,
        bins: bins.collect(),
    }
}

/// A report of a million URLs with lists of `rows` rows for `agents` agents, whose texts are `text`.
fn report(rows: usize, agents: usize, text: impl Fn(usize) -> String) -> Report {
    let by_agent =
        |index: usize| (0..agents).map(|agent| (index * agent) as u64).collect::<Vec<_>>();
    let row = |index: usize| RuleRow {
        host: text(index),
        hosts: 3,
        line: 7,
        verdict: if index.is_multiple_of(2) { "allow" } else { "disallow" }.into(),
        rule: text(index + 1),
        group: text(index + 2),
        agents: (0..agents).collect(),
    };
    let samples = |index: usize| (0..3).map(|it| text(index + it)).collect::<Vec<_>>();
    let told = |rule: Option<String>| ToldDecision {
        verdict: text(0),
        reason: text(1),
        line: rule.as_ref().map(|_| 5),
        rule,
    };
    let file = |index| FileRow { host: text(index), bytes: 512_000, groups: 2, rules: 9 };
    let robot = |index| RobotRow {
        name: text(index),
        origins: 40,
        nothing: 30,
        part: 10,
        ..RobotRow::default()
    };
    Report {
        format: REPORT_FORMAT,
        version: text(0),
        inputs: vec![text(0)],
        source: SourceFacts {
            kind: text(1),
            name: text(0),
            dialect: text(2),
            hash: text(3),
            ..SourceFacts::default()
        },
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
                reasons: Reason::ALL
                    .map(|it| ReasonCount { reason: it.as_str().into(), count: 5 })
                    .to_vec(),
            })
            .collect(),
        states: PolicyState::ALL
            .map(|it| StateCount { state: it.as_str().into(), origins: 9, urls: 99 })
            .to_vec(),
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
                covered_by: (0..9)
                    .map(|it| CoveringRule { line: 3, verdict: "allow".into(), rule: text(it) })
                    .collect(),
            }),
            never_by_cause: NeverCounts { no_url: 1, shadowed: 2, equal: 3 },
            not_known: 4,
        },
        reach: (0..agents)
            .map(|agent| AgentReach {
                agent: text(agent),
                named: 5,
                by_default: 6,
                unnamed: 7,
                everything: 8,
                part: 4,
                nothing: 5,
                not_known: 1,
            })
            .collect(),
        robots: RobotFigures {
            naming_origins: 50,
            without_default: 1,
            others: robot(0),
            most_named: list(rows, robot),
        },
        comparisons: vec![Comparison {
            kind: "set".into(),
            name: text(0),
            dialect: text(1),
            hash: text(2),
            urls: 5,
            by_agent: vec![5; agents],
            changes: vec![VerdictChange { here: text(0), there: text(1), count: 9 }],
            examples: vec![ComparedUrl {
                url: text(0),
                agent: 0,
                here: told(None),
                there: told(Some(text(4))),
            }],
        }],
        unknown: UnknownFigures {
            urls: 99_000,
            origins: 700,
            exact: false,
            worth_fetching: list(rows, |index| UnknownRow {
                origin: text(index),
                urls: 9,
                urls_min: 5,
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
            .map(|index| NoteCount {
                kind: text(index),
                meaning: text(index),
                files: 5,
                examples: samples(index),
            })
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
        limits: vec![LimitCount {
            name: text(0),
            value: Some(9),
            what: text(1),
            hits: 1,
            unit: text(2),
        }],
    }
}

/// What usual hosts, rules and URLs are as long as.
fn usual(index: usize) -> String {
    format!(
        "https://www.host-{index}.example/articles/2024/{index}/a-title-of-usual-length?page={index}"
    )
}

#[test]
fn the_page_is_well_formed() {
    let reports =
        [Report::default(), report(0, 1, usual), report(3, 2, usual), report(20, 15, hostile)];
    for report in reports {
        let html = page(&report);
        let problems = markup::problems(&html);
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

#[test]
fn nothing_a_stranger_writes_is_markup() {
    let html = page(&report(20, 9, hostile));
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img"), "no tag of theirs");
    let hidden = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(html.chars().find(|it| hidden(*it)), None);
    assert!(html.contains("‹U+202E›"), "they are shown");
    let attributes = markup::attributes(&html);
    let handler = attributes.iter().find(|(name, _)| name.starts_with("on"));
    assert_eq!(handler, None);
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
        assert!(markup::problems(&html).is_empty());
    }
}

#[test]
fn what_is_left_out_is_said() {
    let long = report(1_000, 60, usual);
    let html = page(&long);
    assert!(html.contains("of 7,000"), "captions tell how many there are");
    assert!(html.contains("the JSON report has more"));
    let short = page(&report(5, 2, usual));
    assert!(!short.contains("the JSON report has more"));
    assert!(short.contains("the first 5 of 35"));
}

#[test]
fn the_same_report_makes_the_same_page() {
    assert_eq!(page(&report(30, 4, usual)), page(&report(30, 4, usual)));
}

#[test]
fn links_lead_to_what_is_there() {
    let html = page(&report(3, 2, usual));
    let attributes = markup::attributes(&html);
    let of = |name: &str| {
        attributes
            .iter()
            .filter(|(it, _)| it == name)
            .map(|(_, value)| value.as_str())
            .collect::<Vec<_>>()
    };
    let mut ids = of("id");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands once");
    for href in of("href") {
        let id = href.strip_prefix('#').expect("no link leads out of the page");
        assert!(ids.contains(&id), "{href}");
    }
    for reference in of("aria-labelledby").iter().chain(&of("aria-describedby")) {
        assert!(ids.contains(reference), "{reference}");
    }
    assert_eq!(of("src"), Vec::<&str>::new());
    assert_eq!(of("style"), Vec::<&str>::new(), "the contents policy would not let it work");
}

#[test]
fn the_hashes_are_those_of_the_files() {
    for (file, text, hash) in
        [("style.css", STYLE, STYLE_HASH), ("behaviour.js", SCRIPT, SCRIPT_HASH)]
    {
        let expected = BASE64_STANDARD.encode(sha256::digest(text.as_bytes()));
        assert_eq!(hash, expected, "{file} has changed: write this hash into mod.rs");
    }
}

#[test]
fn unknown_is_never_told_as_permission() {
    let mut report = report(3, 2, usual);
    for verdicts in &mut report.verdicts {
        (verdicts.allow, verdicts.unknown) = (0, 999_000 - verdicts.disallow);
    }
    let html = page(&report);
    assert!(html.contains("may fetch 0 %"), "what is not known counts for no agent");
}
