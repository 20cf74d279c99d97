//! The suite: questions about robots.txt with their answers, each with the document that it follows.
//!
//! `suite.json` is made of `tests/data`, whose README explains the cases; its schema is in the file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use portcullis_dialect::dialect::Dialect;
use serde::{Deserialize, Serialize};

/// The suite of this build, as JSON.
pub const SUITE_JSON: &str = include_str!("suite.json");

/// The format of the suite that this version reads.
const FORMAT: u32 = 1;

/// The suite.
#[derive(Debug, Deserialize)]
pub struct Suite {
    format: u32,
    /// The points that a matcher decides, in the order of reports.
    pub points: Vec<Point>,
    /// Questions about files.
    pub cases: Vec<Case>,
    /// Questions about answers to the request for robots.txt.
    pub answers: Vec<Answer>,
}

/// A point that a matcher decides.
#[derive(Clone, Debug, Deserialize)]
pub struct Point {
    /// The name.
    pub name: String,
    /// Its subject.
    pub title: String,
}

/// Why a case expects what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// A document requires it.
    Must,
    /// A document recommends it.
    Should,
    /// No document settles it.
    Choice,
}

/// A file with questions.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// A unique name.
    pub name: String,
    /// The document and section that it follows.
    pub source: String,
    /// Its reason, in one sentence.
    pub why: String,
    /// The name of its point.
    pub point: String,
    /// Why its answers are expected.
    pub grade: Grade,
    robots: Option<String>,
    robots_base64: Option<String>,
    robots_url: Option<String>,
    #[serde(default, deserialize_with = "present")]
    robots_bytes_max: Option<Option<usize>>,
    fill: Option<Fill>,
    /// The URLs of the file's sitemap records, if the case is about them.
    pub sitemaps: Option<Vec<String>>,
    /// The questions.
    pub checks: Vec<Check>,
}

/// Distinguishes `null` from no value.
fn present<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Option<Option<usize>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Debug, Deserialize)]
struct Fill {
    mark: String,
    text: String,
    times: usize,
}

/// A question about a file.
#[derive(Debug, Deserialize)]
pub struct Check {
    dialects: Vec<String>,
    agents: Vec<String>,
    url: Option<String>,
    /// The verdict: only `allow` and `disallow` are asked.
    pub verdict: String,
    /// The line of the deciding rule.
    pub line: Option<u32>,
    /// The crawl delay in seconds, or `-`.
    pub delay: Option<String>,
}

/// A question about an answer to the request for robots.txt.
#[derive(Debug, Deserialize)]
pub struct Answer {
    /// A unique name.
    pub name: String,
    /// The document and section that it follows.
    pub source: String,
    /// The name of its point.
    pub point: String,
    /// Why the verdict is expected.
    pub grade: Grade,
    /// The names of its dialects.
    pub dialects: Vec<String>,
    /// The status of the answer.
    pub status: u16,
    /// The redirects before it.
    pub redirects: u8,
    /// The verdict.
    pub verdict: String,
}

impl Suite {
    /// Reads a suite from a file; that of this build if there is none.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a suite.
    pub fn read(path: Option<&Path>) -> Result<Suite> {
        let text = match path {
            Some(path) => fs::read_to_string(path)
                .with_context(|| format!("{}: cannot be read", path.display()))?,
            None => SUITE_JSON.to_owned(),
        };
        let name = path.map_or("the built-in suite".into(), |it| it.display().to_string());
        let suite: Suite =
            serde_json::from_str(&text).with_context(|| format!("{name}: not a suite"))?;
        let format = suite.format;
        ensure!(format == FORMAT, "{name}: format {format}; this version reads {FORMAT}");
        Ok(suite)
    }
}

impl Case {
    /// Returns the file.
    ///
    /// # Errors
    ///
    /// If its base64 is invalid, or it has none.
    pub fn robots(&self) -> Result<Vec<u8>> {
        match (&self.robots, &self.robots_base64) {
            (Some(text), _) => Ok(self.filled(text).into_bytes()),
            (None, base64) => {
                let base64 = base64.as_deref().context("the case has no file")?;
                Ok(BASE64.decode(base64)?)
            }
        }
    }

    fn filled(&self, text: &str) -> String {
        match &self.fill {
            None => text.to_owned(),
            Some(Fill { mark, text: fill, times }) => text.replace(mark, &fill.repeat(*times)),
        }
    }

    /// Returns the questions for `dialect` that a matcher of one file, with one name and the usual limit on
    /// its size, can be asked on a line: with the agent and the URL of each.
    pub fn questions(&self, dialect: &Dialect) -> impl Iterator<Item = (&Check, &str, String)> {
        let of_one_file = self.robots_url.is_none() && self.robots_bytes_max.is_none();
        let checks = self.checks.iter().filter(move |check| {
            of_one_file
                && check.dialects.iter().any(|name| name == dialect.name)
                && matches!(&check.verdict[..], "allow" | "disallow")
        });
        checks.filter_map(|check| {
            let ([agent], Some(url)) = (&check.agents[..], &check.url) else { return None };
            let url = self.filled(url);
            let is_line = !url.contains(|it: char| it.is_control());
            is_line.then_some((check, agent.as_str(), url))
        })
    }
}
