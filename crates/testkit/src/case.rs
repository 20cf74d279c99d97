//! Reads the case files of `tests/data`. Their format is specified in `tests/data/README.md`;
//! anything else is an error, because a case that is only partly understood tests the wrong thing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_dialect::usage::{Label, Preference};
use serde::{Deserialize, Serialize};

use crate::files::project;
use crate::points::POINTS;

/// One question with its expected answer.
#[derive(Clone, Debug)]
pub struct Check {
    /// The name of its case.
    pub case: String,
    /// The source of the expectation.
    pub clause: String,
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The file.
    pub robots: Vec<u8>,
    /// Bytes of the file that are read; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// The fallback chain of agents.
    pub agents: Vec<String>,
    /// The URL of the file, which limits it to one origin; `None` if it applies to every URL.
    pub robots_url: Option<Vec<u8>>,
    /// The record.
    pub url: Vec<u8>,
    /// The expected answer.
    pub expected: Expected,
    /// The expected usage preferences, if the case has any.
    pub usage: Option<ExpectedUsage>,
    /// The expected crawl delay in seconds, `None` inside for none, if the case has it.
    pub delay: Option<Option<f64>>,
    /// The expected sitemaps of the file, if the case has them.
    pub sitemaps: Option<Vec<String>>,
}

/// The usage preferences of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedUsage {
    /// The value and the line of each stated label.
    pub stated: BTreeMap<String, (Preference, Option<LineNumber>)>,
    /// The licences, if the case gives them.
    pub licenses: Option<Vec<String>>,
}

impl ExpectedUsage {
    /// Reads `train-ai=n:4, search=y:2`; `-` where there is no preference.
    fn parse(text: &str, licenses: Option<Vec<String>>) -> Result<ExpectedUsage, String> {
        if text == "-" {
            let none = |label: Label| (label.as_str().to_owned(), (Preference::NoAccess, None));
            let stated = Label::ALL.into_iter().map(none).collect();
            return Ok(ExpectedUsage { stated, licenses });
        }
        let mut stated = BTreeMap::new();
        for part in text.split(", ").filter(|part| !part.is_empty()) {
            let read = part.split_once('=').and_then(|(label, rest)| {
                let (value, line) = rest.split_once(':')?;
                let preference = Preference::ALL.into_iter().find(|it| it.as_str() == value)?;
                let line = LineNumber::new(line.parse().ok()?);
                Some((Label::by_name(label)?.as_str().to_owned(), (preference, line)))
            });
            let (label, value) = read.ok_or(format!("`{part}` is not LABEL=VALUE:LINE"))?;
            stated.insert(label, value);
        }
        Ok(ExpectedUsage { stated, licenses })
    }
}

/// The expected answer. The line identifies the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the URL may be fetched.
    pub verdict: Verdict,
    /// The reason for the verdict.
    pub reason: Reason,
    /// The line of the deciding rule.
    pub line: Option<LineNumber>,
}

impl Expected {
    /// Returns the part of a decision that cases specify.
    pub fn of(decision: &Decision) -> Expected {
        Expected { verdict: decision.verdict, reason: decision.reason, line: decision.line }
    }
}

/// Returns the checks of one case file, or a problem of the file.
pub fn all_checks() -> Vec<Check> {
    checks_by_file().into_values().flatten().collect()
}

/// Returns the checks of each file of `tests/data`.
pub fn checks_by_file() -> BTreeMap<PathBuf, Vec<Check>> {
    let folder = project("tests/data");
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let checks = checks_of(&text);
            let checks = checks.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            files.insert(path, checks);
        }
    }
    assert!(files.len() >= 6, "case files are missing in {}", folder.display());
    files
}

/// Reads a case file, or says what is wrong with it.
pub fn checks_of(text: &str) -> Result<Vec<Check>, String> {
    let file = file_of(text)?;
    let mut names = BTreeSet::new();
    let mut checks = Vec::new();
    for case in &file.case {
        if !names.insert(case.name.as_str()) {
            return Err(format!("{}: a second case has this name", case.name));
        }
        let more = case.checks();
        checks.extend(more.map_err(|problem| format!("{}: {problem}", case.name))?);
    }
    Ok(checks)
}

/// Parses a case file.
pub(crate) fn file_of(text: &str) -> Result<CaseFile, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) clause: String,
    pub(crate) why: String,
    pub(crate) point: String,
    #[serde(default)]
    pub(crate) grade: Grade,
    dialect: Option<String>,
    dialects: Option<Vec<String>>,
    pub(crate) robots: Option<String>,
    pub(crate) robots_base64: Option<String>,
    pub(crate) robots_url: Option<String>,
    robots_bytes_max: Option<BytesMax>,
    pub(crate) fill: Option<Fill>,
    pub(crate) origin: Option<String>,
    pub(crate) agent: Option<String>,
    url: Option<String>,
    url_base64: Option<String>,
    urls: Option<Vec<String>>,
    verdict: Option<String>,
    reason: Option<String>,
    line: Option<u32>,
    usage: Option<String>,
    licenses: Option<Vec<String>>,
    delay: Option<String>,
    checks: Option<Vec<Row>>,
    /// The URLs of the file's sitemap records, which hold for every crawler.
    pub(crate) sitemaps: Option<Vec<String>>,
}

/// Why a case expects what it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// A document requires it.
    #[default]
    Must,
    /// A document recommends it.
    Should,
    /// No document settles it; it is our choice.
    Choice,
}

/// One entry of `checks`, or the same keys of a case with a single check.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    url: Option<String>,
    pub(crate) url_base64: Option<String>,
    urls: Option<Vec<String>>,
    pub(crate) agent: Option<String>,
    dialects: Option<Vec<String>>,
    pub(crate) verdict: String,
    pub(crate) reason: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) usage: Option<String>,
    pub(crate) licenses: Option<Vec<String>>,
    pub(crate) delay: Option<String>,
}

/// A number of bytes, or the word `unlimited`.
#[derive(Deserialize)]
#[serde(untagged)]
enum BytesMax {
    Bytes(usize),
    Word(String),
}

/// A placeholder for long text: each `mark` in the file and the URLs becomes `text`, repeated.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fill {
    mark: String,
    text: String,
    times: usize,
}

impl Case {
    fn checks(&self) -> Result<Vec<Check>, String> {
        for (key, text) in [("clause", &self.clause), ("why", &self.why)] {
            if text.trim().is_empty() {
                return Err(format!("`{key}` is empty"));
            }
        }
        if !POINTS.iter().any(|(name, _)| *name == self.point) {
            return Err(format!("no point is named `{}`", self.point));
        }
        if self.clause.starts_with("our choice") && self.grade != Grade::Choice {
            return Err("what is our choice has `grade = \"choice\"`".to_owned());
        }
        let dialects = self.own_dialects()?;
        let mut unused: BTreeMap<_, _> = dialects.iter().map(|d| (d.name, *d)).collect();
        let mut checks = Vec::new();
        for row in self.rows()? {
            for dialect in row.dialects_among(&dialects)? {
                unused.remove(dialect.name);
                for url in self.urls(&row)? {
                    checks.push(self.check(&row, dialect, url)?);
                }
            }
        }
        match unused.keys().next() {
            Some(name) => Err(format!("no check for dialect `{name}`")),
            None => Ok(checks),
        }
    }

    pub(crate) fn own_dialects(&self) -> Result<Vec<&'static Dialect>, String> {
        match (&self.dialect, &self.dialects) {
            (Some(name), None) => Ok(vec![dialect(name)?]),
            (None, Some(names)) => dialects(names),
            _ => Err("one of `dialect` and `dialects` is needed".to_owned()),
        }
    }

    /// Returns the entries of `checks`, or the case's own keys as the only entry.
    pub(crate) fn rows(&self) -> Result<Vec<Row>, String> {
        let own_keys = self.url.is_some()
            || self.url_base64.is_some()
            || self.urls.is_some()
            || self.verdict.is_some()
            || self.reason.is_some()
            || self.line.is_some();
        match (&self.checks, &self.verdict) {
            (Some(rows), _) if own_keys || rows.is_empty() => {
                Err("`checks` must not be empty, nor next to a check of the case".to_owned())
            }
            (Some(rows), _) => Ok(rows.clone()),
            (None, Some(verdict)) => Ok(vec![Row {
                url: self.url.clone(),
                url_base64: self.url_base64.clone(),
                urls: self.urls.clone(),
                agent: None,
                dialects: None,
                verdict: verdict.clone(),
                reason: self.reason.clone(),
                line: self.line,
                usage: self.usage.clone(),
                licenses: self.licenses.clone(),
                delay: self.delay.clone(),
            }]),
            (None, None) => Err("it checks nothing: add `checks`, or a url and verdict".to_owned()),
        }
    }

    fn check(&self, row: &Row, dialect: &'static Dialect, url: Vec<u8>) -> Result<Check, String> {
        let agent = row.agent.as_ref().or(self.agent.as_ref());
        let agents = agent.ok_or("no `agent`, neither in the case nor in the check")?;
        Ok(Check {
            case: self.name.clone(),
            clause: self.clause.clone(),
            dialect,
            robots: self.robots()?,
            robots_bytes_max: self.robots_bytes_max()?,
            agents: agents.split('+').map(str::to_owned).collect(),
            robots_url: self.robots_url.as_ref().map(|url| self.filled(url).into_bytes()),
            url,
            expected: row.expected()?,
            usage: match &row.usage {
                Some(usage) => Some(ExpectedUsage::parse(usage, row.licenses.clone())?),
                None => None,
            },
            delay: row.delay()?,
            sitemaps: self.sitemaps.clone(),
        })
    }

    fn robots(&self) -> Result<Vec<u8>, String> {
        match (&self.robots, &self.robots_base64) {
            (Some(text), None) => Ok(self.filled(text).into_bytes()),
            (None, Some(text)) => base64(text),
            _ => Err("one of `robots` and `robots_base64` is needed".to_owned()),
        }
    }

    pub(crate) fn robots_bytes_max(&self) -> Result<Option<usize>, String> {
        match &self.robots_bytes_max {
            None => Ok(Some(ROBOTS_BYTES_MAX)),
            Some(BytesMax::Bytes(bytes)) => Ok(Some(*bytes)),
            Some(BytesMax::Word(word)) if word == "unlimited" => Ok(None),
            Some(BytesMax::Word(word)) => Err(format!("`{word}` is no limit on bytes")),
        }
    }

    fn urls(&self, row: &Row) -> Result<Vec<Vec<u8>>, String> {
        let urls = self.unfilled_urls(row)?.into_iter();
        // Only text has marks.
        let filled = |url: Vec<u8>| match String::from_utf8(url) {
            Ok(text) => self.filled(&text).into_bytes(),
            Err(bytes) => bytes.into_bytes(),
        };
        Ok(urls.map(filled).collect())
    }

    /// Returns the URLs of a check, with the marks of `fill`.
    pub(crate) fn unfilled_urls(&self, row: &Row) -> Result<Vec<Vec<u8>>, String> {
        match (&row.url, &row.url_base64, &row.urls) {
            (Some(url), None, None) => Ok(vec![self.url(url)]),
            (None, Some(url), None) => Ok(vec![base64(url)?]),
            (None, None, Some(urls)) if !urls.is_empty() => {
                Ok(urls.iter().map(|url| self.url(url)).collect())
            }
            _ => Err("each check needs one of `url`, `urls` and `url_base64`".to_owned()),
        }
    }

    /// Returns the URL `text`; a path is relative to the case's `origin`.
    fn url(&self, text: &str) -> Vec<u8> {
        match &self.origin {
            Some(origin) if text.starts_with('/') => format!("{origin}{text}").into_bytes(),
            _ => text.to_owned().into_bytes(),
        }
    }

    fn filled(&self, text: &str) -> String {
        match &self.fill {
            None => text.to_owned(),
            Some(fill) => text.replace(&fill.mark, &fill.text.repeat(fill.times)),
        }
    }
}

impl Row {
    pub(crate) fn dialects_among(
        &self,
        case: &[&'static Dialect],
    ) -> Result<Vec<&'static Dialect>, String> {
        let Some(names) = &self.dialects else {
            return Ok(case.to_vec());
        };
        let own = dialects(names)?;
        match own.iter().find(|dialect| !case.contains(dialect)) {
            Some(dialect) => Err(format!("the case does not list dialect `{}`", dialect.name)),
            None => Ok(own),
        }
    }

    fn delay(&self) -> Result<Option<Option<f64>>, String> {
        let seconds = |text: &str| match text {
            "-" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("`{text}` is no delay")),
        };
        self.delay.as_deref().map(seconds).transpose()
    }

    fn expected(&self) -> Result<Expected, String> {
        let line = self.line.and_then(LineNumber::new);
        let reason = match (&self.reason, line) {
            (Some(word), _) => reason(word)?,
            (None, Some(_)) => Reason::Rule,
            (None, None) => return Err("a check without `line` needs `reason`".to_owned()),
        };
        if (reason == Reason::Rule) != line.is_some() {
            return Err("`line` is given if, and only if, the reason is `rule`".to_owned());
        }
        let verdict = verdict(&self.verdict)?;
        Ok(Expected { verdict, reason, line })
    }
}

fn dialects(names: &[String]) -> Result<Vec<&'static Dialect>, String> {
    match names {
        [] => Err("`dialects` is empty".to_owned()),
        [all] if all == "all" => Ok(Dialect::ALL.to_vec()),
        names => names.iter().map(|name| dialect(name)).collect(),
    }
}

fn dialect(name: &str) -> Result<&'static Dialect, String> {
    Dialect::by_name(name).ok_or_else(|| format!("no dialect is named `{name}`"))
}

pub fn verdict(word: &str) -> Result<Verdict, String> {
    let known = Verdict::ALL.into_iter().find(|v| v.as_str() == word);
    known.ok_or_else(|| format!("no verdict is named `{word}`"))
}

pub fn reason(word: &str) -> Result<Reason, String> {
    let known = Reason::ALL.into_iter().find(|r| r.as_str() == word);
    known.ok_or_else(|| format!("no reason is named `{word}`"))
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    let text: String = text.split_whitespace().collect();
    BASE64.decode(text).map_err(|error| error.to_string())
}
