//! The case files as one JSON file, `crates/bench/src/suite.json`, which projects in any language can use.
//!
//! `portcullis-bench conform` asks matchers its questions, and prints it with `--export`. Its schema is
//! `tests/data/suite.schema.json`.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Fill, Grade, Row, file_of};
use crate::files::project;
use crate::points::POINTS;

#[derive(Serialize)]
struct Suite {
    name: &'static str,
    license: &'static str,
    format: u32,
    schema: serde_json::Value,
    dialects: Vec<&'static str>,
    points: Vec<Named>,
    cases: Vec<SuiteCase>,
    answers: Vec<SuiteAnswer>,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
    title: &'static str,
}

#[derive(Serialize)]
struct SuiteCase {
    name: String,
    source: String,
    why: String,
    point: String,
    grade: Grade,
    #[serde(flatten)]
    robots: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    robots_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    robots_bytes_max: Option<Option<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fill: Option<Fill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sitemaps: Option<Vec<String>>,
    checks: Vec<SuiteCheck>,
}

/// A file, as text or as base64.
#[derive(Serialize)]
struct Bytes {
    #[serde(skip_serializing_if = "Option::is_none")]
    robots: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    robots_base64: Option<String>,
}

#[derive(Serialize)]
struct SuiteCheck {
    dialects: Vec<&'static str>,
    agents: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url_base64: Option<String>,
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    licenses: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<String>,
}

/// How much a crawler may fetch after an answer to its request for robots.txt.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteAnswer {
    /// A unique name.
    pub name: String,
    /// The document and section.
    #[serde(rename(deserialize = "clause", serialize = "source"))]
    pub source: String,
    /// One sentence.
    pub why: String,
    /// One of [`POINTS`].
    pub point: String,
    /// Why that is expected.
    #[serde(default)]
    pub grade: Grade,
    /// The dialects.
    pub dialects: Vec<String>,
    /// The status of the last answer.
    pub status: u16,
    /// The redirects before that answer.
    #[serde(default)]
    pub redirects: u8,
    /// The verdict on any other URL of the site.
    pub verdict: String,
}

impl SuiteAnswer {
    /// Returns the body: a robots.txt that disallows everything, or nothing if the status is an error of the
    /// server.
    pub fn body(&self) -> &'static str {
        if self.status < 500 {
            "User-agent: *\nDisallow: /\n"
        } else {
            "User-agent: *\nDisallow:\n"
        }
    }
}

/// Returns the answers of `tests/data/answers.toml`.
pub fn answers() -> Vec<SuiteAnswer> {
    #[derive(Deserialize)]
    struct File {
        answer: Vec<SuiteAnswer>,
    }
    let text = fs::read_to_string(project("tests/data/answers/answers.toml")).unwrap();
    let File { answer } = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
    answer
}

/// Returns the suite as JSON, with a line for each case.
pub fn suite_json() -> String {
    let read = |name: &str| fs::read_to_string(project("tests/data").join(name)).unwrap();
    let mut cases = Vec::new();
    let mut names: Vec<_> = fs::read_dir(project("tests/data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    for name in names {
        let file = file_of(&read(&name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        cases.extend(file.case.iter().map(|case| {
            written(case).unwrap_or_else(|why| panic!("{name}: {}: {why}", case.name))
        }));
    }
    let suite = Suite {
        name: "The robots.txt suite of Portcullis",
        license: "MIT OR Apache-2.0",
        format: 1,
        schema: serde_json::from_str(&read("suite.schema.json")).expect("the schema is JSON"),
        dialects: Dialect::ALL.map(|it| it.name).into(),
        points: POINTS.iter().map(|&(name, title)| Named { name, title }).collect(),
        cases,
        answers: answers(),
    };
    let text = serde_json::to_string(&suite).expect("the suite is JSON");
    // A line for each case shows what changed.
    text.replace("{\"name\":", "\n{\"name\":").trim_start().to_owned() + "\n"
}

fn written(case: &Case) -> Result<SuiteCase, String> {
    let dialects = case.own_dialects()?;
    let mut checks = Vec::new();
    for row in case.rows()? {
        let names: Vec<_> = row.dialects_among(&dialects)?.iter().map(|it| it.name).collect();
        let agent = row.agent.as_ref().or(case.agent.as_ref()).ok_or("no agent")?;
        for (url, url_base64) in urls(case, &row)? {
            let Row { verdict, reason, line, usage, licenses, delay, .. } = row.clone();
            let agents = agent.split('+').map(str::to_owned).collect();
            let dialects = names.clone();
            checks.push(SuiteCheck {
                dialects,
                agents,
                url,
                url_base64,
                verdict,
                reason,
                line,
                usage,
                licenses,
                delay,
            });
        }
    }
    let robots_bytes_max = case.robots_bytes_max()?;
    Ok(SuiteCase {
        name: case.name.clone(),
        source: case.clause.clone(),
        why: case.why.clone(),
        point: case.point.clone(),
        grade: case.grade,
        robots: Bytes { robots: case.robots.clone(), robots_base64: case.robots_base64.clone() },
        robots_url: case.robots_url.clone(),
        robots_bytes_max: Some(robots_bytes_max).filter(|it| *it != Some(ROBOTS_BYTES_MAX)),
        fill: case.fill.clone(),
        sitemaps: case.sitemaps.clone(),
        checks,
    })
}

/// A URL as text, or as base64.
type Url = (Option<String>, Option<String>);

/// Returns the URLs of a row, with their marks.
fn urls(case: &Case, row: &Row) -> Result<Vec<Url>, String> {
    let urls = case.unfilled_urls(row)?.into_iter();
    Ok(urls
        .map(|url| match String::from_utf8(url) {
            Ok(url) => (Some(url), None),
            Err(bytes) => (None, Some(BASE64.encode(bytes.as_bytes()))),
        })
        .collect())
}
