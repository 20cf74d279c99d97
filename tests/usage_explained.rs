//! Explanations of usage preferences: on every small file, the deciding statement is the oracle's,
//! and so is the answer of the library's front door.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::words;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::usage::{Label, Preference, Stated};
use portcullis_oracle as oracle;
use portcullis_robots::Robots;
use portcullis_robots::policy::{AgentChain, UsageExplanation};
use rayon::prelude::*;

/// The lines of files. Patterns of one length compete, by themselves and on several lines.
const LINES: [&str; 9] = [
    "User-agent: ExampleBot",
    "Content-Usage: /a* search=y",
    "Content-Usage: /*b train-ai=n, search=n",
    "Content-Usage: /a* train-ai=n",
    "Content-Usage: /ab train-ai = n",
    "Content-Usage: search=y",
    "Content-Signal: ai-train=yes, search=no",
    "License: https://l.example/",
    "Disallow: /b",
];

/// Returns the statement about a label in an explanation.
fn stated(usage: &UsageExplanation, label: Label) -> Stated {
    match usage.deciding(label) {
        Some(it) if it.preference != Preference::Unstated => {
            Stated { preference: it.preference, source: Some(it.source), line: Some(it.line) }
        }
        _ => Stated::UNSTATED,
    }
}

#[test]
fn the_deciding_statement_is_that_of_the_oracle() {
    let losers = AtomicUsize::new(0);
    let numbers: Vec<u8> = (0..LINES.len() as u8).collect();
    let files: Vec<String> = words(&numbers, 4)
        .into_iter()
        .map(|word| word.iter().map(|&line| format!("{}\n", LINES[usize::from(line)])).collect())
        .map(|lines: String| format!("User-agent: *\n{lines}"))
        .collect();
    files.par_iter().for_each(|text| {
        for dialect in Dialect::ALL {
            let robots = Robots::parse_as(text, dialect);
            for agent in ["ExampleBot", "Other"] {
                let chain = AgentChain::parse(agent, dialect).unwrap();
                let front_door = robots.agent_chain_usage(&chain);
                for path in ["/", "/ab", "/b"] {
                    let context = || format!("{} {agent} {path}\n{text}", dialect.name);
                    let url = format!("https://example.com{path}");
                    let (judged, licenses) =
                        oracle::usage(dialect, text.as_bytes(), None, &[agent], url.as_bytes());
                    assert_eq!(front_door.decide(&url), judged, "{}", context());
                    let usage = robots.explain(&chain, &url).unwrap().usage;
                    if judged.access.verdict == Verdict::Allow {
                        let found = Label::ALL.map(|label| stated(&usage, label));
                        assert_eq!(found, judged.stated, "{}", context());
                    }
                    let own: Vec<_> = usage.licenses.into_iter().map(|it| it.value).collect();
                    assert_eq!(own, licenses, "{}", context());
                    for statements in &usage.labels {
                        let lost = statements.iter().skip(1);
                        assert!(lost.clone().all(|it| it.loss.is_some()), "{}", context());
                        losers.fetch_add(lost.count(), Ordering::Relaxed);
                    }
                }
            }
        }
    });
    assert!(losers.into_inner() > 100_000);
}
