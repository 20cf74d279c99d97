//! `RobotsTxt`: one file, one URL at a time.
//!
//! Cost: parsing is linear in the file. The rules for an agent are copied on its first URL, compiled
//! after some more, and kept. No bytes are an error: any bytes are a valid file, and a bad URL is not
//! allowed.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use portcullis_dialect::Label;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_report::explanation::Facts;
use portcullis_report::explanation_json;
use portcullis_robots::{Agent, AgentRules, Robots};
use portcullis_set::batch::{Explained, FullDecision};
use portcullis_set::stored::CaptureFacts;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use self_cell::self_cell;

use crate::arguments::{self, dialect};
use crate::limits::AGENTS_KEPT_PER_FILE;
use crate::texts::with_bytes;
use crate::{of_json, value_error};

self_cell!(
    /// A parsed file and its text.
    struct Parsed {
        owner: Box<[u8]>,
        #[covariant]
        dependent: Robots,
    }
);

/// A parsed robots.txt file.
#[pyclass(frozen, name = "RobotsTxt", module = "portcullis_robots")]
pub struct PyRobotsTxt {
    parsed: Parsed,
    /// Rules by agent, with the agent as it was given.
    rules: Mutex<HashMap<String, AgentRules, RandomState>>,
}

impl PyRobotsTxt {
    fn robots(&self) -> &Robots<'_> {
        self.parsed.borrow_dependent()
    }

    /// Calls `question` with the rules for `agent`, which are selected on first use.
    fn ask<R>(&self, agent: &str, question: impl FnOnce(&AgentRules) -> R) -> R {
        let mut kept = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = kept.get(agent) {
            return question(rules);
        }
        if kept.len() >= AGENTS_KEPT_PER_FILE {
            kept.clear();
        }
        let rules = self.with_crawler(agent, |agent| self.robots().agent(agent));
        question(kept.entry_ref(agent).or_insert(rules))
    }

    /// Calls `with` with the crawler that `agent` names: a header is read as a classifier reads it.
    fn with_crawler<R>(&self, agent: &str, with: impl FnOnce(Agent<'_>) -> R) -> R {
        match arguments::crawler(agent, self.robots().dialect()) {
            Ok(crawler) => with((&crawler).into()),
            Err(_) => with(agent.into()),
        }
    }

    /// Explains the decision on a URL, and what the page may be used for by `labels`.
    fn explained<'py>(
        &self,
        agent: &str,
        url: &Bound<'py, PyAny>,
        labels: &[Label],
    ) -> PyResult<Bound<'py, PyAny>> {
        let robots = self.robots();
        let dialect = robots.dialect();
        let crawler = arguments::crawler(agent, dialect).map_err(value_error)?;
        let mut json = Vec::new();
        with_bytes(url, |url| {
            let decision = self.ask(agent, |rules| rules.decide(url));
            let (explained, problem) = match robots.explain(&crawler, url) {
                Ok(explanation) => {
                    let notes = robots.file().notes().iter().map(|note| note.kind);
                    let file_notes = notes.collect();
                    let facts = CaptureFacts { status: 200, file_notes, ..CaptureFacts::default() };
                    (Some(Explained { explanation, facts, read: None }), None)
                }
                Err(problem) => (None, Some(problem.to_string())),
            };
            let (agent, labels) = (agent.to_owned(), labels.to_vec());
            let facts = Facts { agent, explained, problem, dialect, labels, read_source: None };
            let explanation = facts.explained.as_ref().map(|explained| &explained.explanation);
            let rule = decision.rule.and_then(|_| Some(&*explanation?.rules.first()?.record.value));
            let group = explanation.and_then(|it| Some(&*it.groups.first()?.value));
            let mut full = FullDecision::from(decision);
            (full.rule, full.group) = (rule, group);
            explanation_json::write(url, full, &facts, &mut json);
        })?;
        of_json(url.py(), &json)
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[pymethods]
impl PyRobotsTxt {
    #[new]
    #[pyo3(signature = (body, *, dialect = "rfc9309", max_bytes = Some(ROBOTS_BYTES_MAX)))]
    fn new(body: &Bound<'_, PyAny>, dialect: &str, max_bytes: Option<usize>) -> PyResult<Self> {
        let dialect = self::dialect(dialect)?;
        let max_bytes = max_bytes.map(|it| arguments::size_limit("max_bytes", it)).transpose()?;
        let text: Box<[u8]> = with_bytes(body, |body| body.into())?;
        let parsed = Parsed::new(text, |text| Robots::with_bytes_max(text, dialect, max_bytes));
        Ok(PyRobotsTxt { parsed, rules: Mutex::default() })
    }

    /// Whether `agent`, a product token or a User-Agent header, may fetch `url`. A header is read as the
    /// crawler's operator documents it.
    fn can_fetch(&self, agent: &str, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        with_bytes(url, |url| self.ask(agent, |rules| rules.is_allowed(url)))
    }

    /// Explains the decision on a URL: the object of `portcullis check --format jsonl`.
    fn explain<'py>(&self, agent: &str, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.explained(agent, url, &[])
    }

    /// Returns what a page may be used for: the members that `portcullis check --usage --format jsonl` adds.
    fn usage<'py>(&self, agent: &str, url: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let explained = self.explained(agent, url, &Label::ALL)?;
        let members = PyDict::new(url.py());
        for name in ["usage", "usage_line", "usage_rule", "usage_source", "licenses"] {
            members.set_item(name, explained.get_item(name)?)?;
        }
        Ok(members)
    }

    /// Returns the greatest crawl-delay of `agent` that is a number, in seconds.
    fn crawl_delay(&self, agent: &str) -> Option<f64> {
        let delay = self.with_crawler(agent, |agent| self.robots().crawl_delay(agent));
        delay.map(|delay| delay.as_secs_f64())
    }

    /// Returns the values of a field that the protocol does not define, such as `request-rate`, in
    /// the groups of `agent` or in the whole file.
    #[pyo3(signature = (field, agent = None))]
    fn values(&self, field: &str, agent: Option<&str>) -> Vec<String> {
        if let Some(agent) = agent {
            let values =
                |agent: Agent<'_>| self.robots().extensions(agent, field).map(text_of).collect();
            return self.with_crawler(agent, values);
        }
        let records = self.robots().file().other_records().iter();
        let named = records.filter(|record| record.name.eq_ignore_ascii_case(field.as_bytes()));
        named.map(|record| text_of(record.value)).collect()
    }

    /// Returns the values of the sitemap lines.
    #[getter]
    fn sitemaps(&self) -> Vec<String> {
        self.robots().sitemaps().map(Cow::into_owned).collect()
    }

    /// Returns the name of the dialect.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.robots().dialect().name
    }

    fn __repr__(&self) -> String {
        let file = self.robots().file();
        let (groups, rules) = (file.groups().len(), file.rules().len());
        format!("<RobotsTxt: {groups} groups, {rules} rules>")
    }
}
