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

/// The points that a matcher decides, in the order of reports, each with what it is about.
pub const POINTS: &[(&str, &str)] = &[
    ("groups", "user-agent lines in a row share the rules that follow"),
    ("tokens", "which names a user-agent line has, and which crawler they match"),
    ("default-group", "the group of `*`"),
    ("merging", "several groups for one crawler"),
    ("group-without-rules", "a group that names the crawler and has no rules"),
    ("no-group", "no group applies, or the file has no rules"),
    ("rules-outside-groups", "rules before the first user-agent line"),
    ("other-fields", "records of other fields between those of groups"),
    ("chains", "crawlers with a second name"),
    ("prefix", "a rule matches paths that begin with it, with their case"),
    ("longest-match", "the longest rule decides"),
    ("ties", "of rules of one length, Allow decides"),
    ("first-match", "the first rule decides"),
    ("allow", "the field Allow"),
    ("empty-rule", "a rule without a pattern"),
    ("unrooted", "a pattern that starts with neither `/` nor `*`"),
    ("star", "`*` in a pattern"),
    ("end-anchor", "`$` at the end of a pattern, and inside it"),
    ("special-length", "`*`, `$` and escapes count for the length"),
    ("escapes-kept", "escapes of reserved characters, which differ from the characters"),
    ("escapes-case", "escapes in either case"),
    ("escapes-decoded", "escapes of unreserved characters, which equal the characters"),
    ("non-ascii", "bytes that a URL has only as escapes"),
    ("index-page", "Allow of an index page"),
    ("robots-txt-url", "the URL of robots.txt itself"),
    ("urls", "the part of a URL that is compared"),
    ("scope", "the URLs that a file is for"),
    ("field-names", "the spelling of fields"),
    ("missing-colon", "lines without a colon"),
    ("colon-in-value", "colons in values"),
    ("white-space", "white space around fields and values"),
    ("comments", "comments"),
    ("blank-lines", "blank lines"),
    ("line-ends", "CR, LF and CRLF"),
    ("byte-order-mark", "a byte order mark"),
    ("control-bytes", "NUL and other control bytes"),
    ("long-lines", "lines longer than 16,663 bytes"),
    ("size-limit", "files of 500 KiB and more"),
    ("not-robots-txt", "web pages and other data instead of robots.txt"),
    ("usage", "access in files with usage preferences"),
    ("delay", "the crawl delay"),
    ("sitemaps", "the sitemaps of a file"),
    ("lines", "the line of the deciding rule"),
    ("statuses", "the status of the answer to the request for robots.txt"),
    ("redirects", "redirects of the request for robots.txt"),
];

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

/// What a crawler may fetch after an answer to its request for robots.txt.
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
    /// The status of the last answer. Its body is a robots.txt that disallows everything.
    pub status: u16,
    /// The redirects before that answer.
    #[serde(default)]
    pub redirects: u8,
    /// The verdict on any other URL of the site.
    pub verdict: String,
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
