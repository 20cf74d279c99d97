//! One table per row group of the specification: a row is a list of dialects, a file, a question and
//! the answer as `verdict reason line`.

mod groups;
mod lines;
mod rules;
mod urls;

use super::decide;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{
    DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
};

const OLD: &[&Dialect] = &[&ORIGINAL_1994, &KOSTER_1996];
const STANDARD: &[&Dialect] = &[&DRAFT_2019, &RFC_9309];
const MODERN: &[&Dialect] = &[&DRAFT_2019, &RFC_9309, &GOOGLE];
const ALL: &[&Dialect] = &Dialect::ALL;

fn ask(dialect: &Dialect, robots: &[u8], agent: &str, path: &str) -> Decision {
    let url = format!("https://example.com{path}");
    decide(dialect, robots, None, &[agent], url.as_bytes())
}

fn words(decision: Decision) -> String {
    let line = decision.line.map(|line| format!(" {line}"));
    let line = line.unwrap_or_default();
    format!("{} {}{line}", decision.verdict, decision.reason)
}

/// Rows of dialects, file, agent, path and answer.
type Row<'a> = (&'a [&'a Dialect], &'a [u8], &'a str, &'a str, &'a str);

fn check(rows: &[Row<'_>]) {
    for (dialects, robots, agent, path, want) in rows {
        for dialect in *dialects {
            let got = words(ask(dialect, robots, agent, path));
            let text = robots.escape_ascii();
            assert_eq!(&got, want, "{}: \"{text}\", {agent}, {path}", dialect.name);
        }
    }
}
