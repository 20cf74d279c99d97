//! Reads arguments that several methods have: names, words, and the agents that are asked about.

use portcullis_cli::agents::{self, AgentValue};
use portcullis_dialect::{Dialect, Label, LabelError};
use portcullis_report::AgentList;
use portcullis_robots::policy::{AgentError, Crawler};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::{ensure, value_error};

/// Names: one str, in which commas separate them, or several.
#[derive(Default)]
pub struct Names(pub Vec<String>);

impl FromPyObject<'_, '_> for Names {
    type Error = PyErr;

    fn extract(names: Borrowed<'_, '_, PyAny>) -> PyResult<Names> {
        let trimmed = |name: &str| name.trim().to_owned();
        if let Ok(text) = names.cast::<PyString>() {
            return Ok(Names(text.to_str()?.split(',').map(trimmed).collect()));
        }
        let listed = names.try_iter().and_then(|names| {
            names.map(|name| Ok(trimmed(name?.cast::<PyString>()?.to_str()?))).collect()
        });
        listed.map(Names).map_err(|_| {
            PyTypeError::new_err(format!(
                "the type is {}; pass a list of str, or one str with commas between names",
                names.get_type()
            ))
        })
    }
}

impl Names {
    /// Returns the labels with these names.
    ///
    /// # Errors
    ///
    /// If there is no such label.
    pub fn labels(&self) -> PyResult<Vec<Label>> {
        self.0.iter().map(|name| label(name)).collect()
    }
}

/// Returns the label with this name, which may be its name in Content-Signal.
///
/// # Errors
///
/// If there is no such label.
pub fn label(name: &str) -> PyResult<Label> {
    name.parse().map_err(|error: LabelError| value_error(error))
}

/// Returns a size limit of robots.txt files. At 0 no file would have a rule, and everything be allowed.
pub fn size_limit(argument: &str, bytes: usize) -> PyResult<usize> {
    ensure!(bytes > 0, "{argument} is 0; it must be at least 1");
    Ok(bytes)
}

/// Returns what a word means.
///
/// # Errors
///
/// If it is none of `words`.
pub fn word<T: Copy>(argument: &str, given: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words.iter().find(|(word, _)| *word == given);
    found.map(|&(_, meaning)| meaning).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let words = words.join(", ");
        PyValueError::new_err(format!("{argument} is '{given}'; use one of {words}"))
    })
}

/// Returns the dialect with this name.
///
/// # Errors
///
/// If there is no such dialect.
pub fn dialect(name: &str) -> PyResult<&'static Dialect> {
    word("dialect", name, &Dialect::ALL.map(|dialect| (dialect.name, dialect)))
}

/// Returns the crawler that a product token or a User-Agent header names. A version or a comment makes
/// a header of it.
///
/// # Errors
///
/// If it is neither.
pub fn crawler(agent: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
    let token = || Crawler::parse(agent.trim(), dialect);
    let header = || portcullis_crawlers::from_header(agent, dialect);
    match agent.contains(['/', '(']) {
        true => header().or_else(|_| token()),
        false => token().or_else(|_| header()),
    }
}

/// The agents that are asked about.
pub struct Asked {
    /// The agents without repetitions, then the agents of User-Agent headers. At least one.
    pub chains: Vec<Crawler>,
    /// The lists that agents were taken from.
    pub lists: Vec<AgentList>,
}

impl Asked {
    /// Reads names as `-a` does, and headers as `--user-agent` does.
    ///
    /// # Errors
    ///
    /// If there are none, or a name, a list or a header is invalid.
    pub fn new(names: &Names, headers: &[String], dialect: &Dialect) -> PyResult<Asked> {
        let values: Vec<_> = names.0.iter().map(AgentValue::new).collect();
        let asked = agents::expand(&values).and_then(|mut asked| {
            asked.headers = headers.to_vec();
            let (chains, skipped) = asked.chains(dialect)?;
            Ok(Asked { chains, lists: asked.describe_lists(&skipped) })
        });
        let asked = asked.map_err(|error| PyValueError::new_err(error.root_cause().to_string()))?;
        ensure!(!asked.chains.is_empty(), "no agents; name at least one crawler");
        Ok(asked)
    }
}
