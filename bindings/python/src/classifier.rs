//! `Classifier`: decides columns of URLs and returns columns of decisions.
//!
//! This module has the threads of a call and the memory that they reuse in later calls. Python's
//! lock is released while URLs are decided, and acquired every million rows or so, so that Ctrl-C
//! ends a long call. Threads end with the call that started them, so a process may fork between
//! calls.
//!
//! A call may or may not need usage labels. Each list of labels has its own classifier over the same
//! set, so that calls that need less cost less.
//!
//! Errors: a damaged set, or invalid arguments. A bad URL is a row with the verdict `invalid`.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_array::{Array, ArrayRef};
use portcullis_dialect::Label;
use portcullis_dialect::limits::{ARROW_PIECE_ROWS, ARROW_STRETCH_PIECES, RECORDS_AT_ONCE};
use portcullis_io::output::columns::Columns;
use portcullis_report::explanation_json;
use portcullis_report::filter::{Fate, Plan, Purpose, Quantifier};
use portcullis_robots::policy::AgentChain;
use portcullis_set::Damage;
use portcullis_set::batch::{self, Session};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow::{self, Imported, PyColumn, PyTable};
use crate::columns::{Allowed, Collect, Table};
use crate::policy_set::PyPolicySet;
use crate::urls::{Urls, with_bytes};
use crate::{Error, of_json, value_error};

/// A classifier, and the sessions of its threads for later calls.
struct Question {
    classifier: Arc<batch::Classifier>,
    assumed_scheme: Option<Vec<u8>>,
    idle: Mutex<Vec<Session>>,
}

/// Decides for a policy set and some agents.
#[pyclass(frozen, name = "Classifier", module = "portcullis_robots")]
pub struct PyClassifier {
    set: Py<PyPolicySet>,
    agents: Vec<AgentChain>,
    names: Vec<String>,
    assumed_scheme: Option<Vec<u8>>,
    /// The questions by labels, each created on first use. They share the set.
    questions: Mutex<Vec<Arc<Question>>>,
}

impl Question {
    fn session(&self) -> Session {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let new = || Session::new(Arc::clone(&self.classifier), self.assumed_scheme.as_deref());
        idle.unwrap_or_else(new)
    }

    fn keep(&self, session: Session) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }

    /// Decides all of `urls`, one stretch of rows at a time.
    fn run<C: Collect>(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        threads: usize,
        collect: &C,
    ) -> PyResult<PyColumn> {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        };
        let mut pieces = Vec::new();
        match arrow::import(urls)? {
            None => self.decide(py, &[Urls::of_strings(urls)?], threads, collect, &mut pieces)?,
            Some(Imported::Array(array)) => {
                self.decide(py, &[Urls::of(&array)?], threads, collect, &mut pieces)?;
            }
            Some(Imported::Stream(mut stream)) => loop {
                // Small chunks are collected until there are enough for every thread.
                let (mut chunks, mut rows) = (Vec::new(), 0);
                while rows < threads.saturating_mul(ARROW_PIECE_ROWS)
                    && let Some(array) = py.detach(|| stream.next())
                {
                    let array = array.map_err(arrow::value_error)?;
                    rows += array.len();
                    chunks.push(Urls::of(&array)?);
                }
                if chunks.is_empty() {
                    break;
                }
                self.decide(py, &chunks, threads, collect, &mut pieces)?;
            },
        }
        if pieces.is_empty() {
            pieces.push(collect.finish(collect.begin(0)));
        }
        self.classifier.set().is_whole().map_err(Error::of)?;
        Ok(PyColumn::new(collect.field(), pieces))
    }

    fn decide<C: Collect>(
        &self,
        py: Python<'_>,
        chunks: &[Urls],
        threads: usize,
        collect: &C,
        pieces: &mut Vec<ArrayRef>,
    ) -> PyResult<()> {
        let ranges = chunks.iter().flat_map(|chunk| {
            let starts = (0..chunk.len()).step_by(ARROW_PIECE_ROWS);
            starts.map(move |start| (chunk, start..chunk.len().min(start + ARROW_PIECE_ROWS)))
        });
        let ranges: Vec<(&Urls, Range<usize>)> = ranges.collect();
        for stretch in ranges.chunks(ARROW_STRETCH_PIECES) {
            py.check_signals()?;
            let decided = py.detach(|| self.decide_stretch(stretch, threads, collect));
            pieces.extend(decided.map_err(Error::of)?);
        }
        Ok(())
    }

    /// Decides the rows of a stretch, with each range of rows on one of `threads`.
    fn decide_stretch<C: Collect>(
        &self,
        stretch: &[(&Urls, Range<usize>)],
        threads: usize,
        collect: &C,
    ) -> Result<Vec<ArrayRef>, Damage> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut session = self.session();
            let mut decided = Vec::new();
            while let place = next.fetch_add(1, Ordering::Relaxed)
                && let Some((urls, rows)) = stretch.get(place)
            {
                let piece = decide_rows(urls, rows.clone(), &mut session, collect);
                decided.push((place, piece));
            }
            self.keep(session);
            decided
        };
        let mut decided = match threads.min(stretch.len()) {
            0 | 1 => work(),
            threads => thread::scope(|scope| {
                let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
                let joined = started.into_iter().map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                joined.flatten().collect()
            }),
        };
        decided.sort_unstable_by_key(|&(place, _)| place);
        decided.into_iter().map(|(_, piece)| piece).collect()
    }
}

impl PyClassifier {
    /// Returns a classifier for `agents`, which must not be empty.
    ///
    /// # Errors
    ///
    /// If the names of robots in the set are damaged.
    pub fn new(
        set: Py<PyPolicySet>,
        agents: Vec<AgentChain>,
        assumed_scheme: Option<Vec<u8>>,
    ) -> PyResult<PyClassifier> {
        let names = agents.iter().map(|agent| agent.name().to_owned()).collect();
        let questions = Mutex::default();
        let classifier = PyClassifier { set, agents, names, assumed_scheme, questions };
        classifier.question(&[])?;
        Ok(classifier)
    }

    /// Returns the question about access and `labels`, and creates it on first use.
    fn question(&self, labels: &[Label]) -> PyResult<Arc<Question>> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |it: &&Arc<Question>| it.classifier.labels() == labels;
        if let Some(question) = questions.iter().find(is_same) {
            return Ok(Arc::clone(question));
        }
        let set = Arc::clone(&self.set.get().set);
        let classifier = batch::Classifier::new(set, self.agents.clone());
        let classifier = Arc::new(classifier.map_err(Error::of)?.with_usage(labels));
        let assumed_scheme = self.assumed_scheme.clone();
        let question = Arc::new(Question { classifier, assumed_scheme, idle: Mutex::default() });
        questions.push(Arc::clone(&question));
        Ok(question)
    }

    /// Returns a table of `columns`.
    fn table(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        columns: Columns,
        labels: &[Label],
        prefix: &str,
        threads: usize,
    ) -> PyResult<PyTable> {
        let question = self.question(labels)?;
        let table = Table::new(columns, &self.names, prefix).map_err(value_error)?;
        Ok(PyTable::new(question.run(py, urls, threads, &table)?))
    }
}

fn decide_rows<C: Collect>(
    urls: &Urls,
    rows: Range<usize>,
    session: &mut Session,
    collect: &C,
) -> Result<ArrayRef, Damage> {
    let mut collected = collect.begin(rows.len());
    let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
    for start in rows.clone().step_by(RECORDS_AT_ONCE) {
        urls.read(start..rows.end.min(start + RECORDS_AT_ONCE), &mut block);
        collect.add(&block, session, &mut collected)?;
    }
    Ok(collect.finish(collected))
}

#[pymethods]
impl PyClassifier {
    /// Returns the agents, as they were given.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Returns the policy set.
    #[getter]
    fn policy_set(&self, py: Python<'_>) -> Py<PyPolicySet> {
        self.set.clone_ref(py)
    }

    /// Returns the provenance of the policies.
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.set.get().provenance(py)
    }

    fn __repr__(&self) -> String {
        let set = &self.set.get().set;
        format!("<Classifier of {} for {}>", set.name(), self.names.join(", "))
    }

    /// Decides a column of URLs. Returns a table with the requested columns for each agent. `usage`
    /// adds a column for each label.
    #[pyo3(signature = (urls, *, columns = "verdict", usage = Vec::new(), prefix = "", threads = 1))]
    fn classify(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        columns: &str,
        usage: Vec<String>,
        prefix: &str,
        threads: usize,
    ) -> PyResult<PyTable> {
        let labels = labels(&usage)?;
        let columns: Columns = columns.parse().map_err(value_error)?;
        let columns = columns.with_usage(&labels).map_err(value_error)?;
        self.table(py, urls, columns, &labels, prefix, threads)
    }

    /// Returns what the pages of a column of URLs may be used for: a table with a column for each
    /// agent and label, with `y`, `n`, `?` (not stated) and `-` (no access).
    #[pyo3(signature = (urls, labels = None, *, prefix = "", threads = 1))]
    fn usage(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        labels: Option<Vec<String>>,
        prefix: &str,
        threads: usize,
    ) -> PyResult<PyTable> {
        let labels = match labels {
            Some(labels) => self::labels(&labels)?,
            None => Label::ALL.to_vec(),
        };
        if labels.is_empty() {
            return Err(PyValueError::new_err("no labels; leave them out to ask about all"));
        }
        self.table(py, urls, Columns::of_usage(&labels), &labels, prefix, threads)
    }

    /// Decides a column of URLs. Returns true for URLs that all agents, or any agent, may fetch.
    /// With a purpose, the agents must also be permitted that use; `unstated` decides about uses
    /// that are not stated.
    #[pyo3(signature = (urls, *, mode = "all", purpose = None, unstated = None, threads = 1))]
    fn allowed(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        mode: &str,
        purpose: Option<&str>,
        unstated: Option<&str>,
        threads: usize,
    ) -> PyResult<PyColumn> {
        let quantifier = match mode {
            "all" => Quantifier::All,
            "any" => Quantifier::Any,
            _ => return Err(PyValueError::new_err(format!("no mode '{mode}'; use all or any"))),
        };
        let (label, purpose) = match (purpose, unstated) {
            (None, None) => (None, None),
            (Some(label), Some("keep")) => (Some(label), Some(Purpose { keeps_unstated: true })),
            (Some(label), Some("drop")) => (Some(label), Some(Purpose { keeps_unstated: false })),
            _ => {
                let text = "purpose needs unstated='keep' or 'drop', and unstated a purpose: whether \
                            silence is consent is your decision";
                return Err(PyValueError::new_err(text));
            }
        };
        let labels = label.map(label_of).transpose()?;
        let question = self.question(labels.as_slice())?;
        let (unknown, invalid) = (Fate::Drop, Fate::Drop);
        let plan = Plan { quantifier, invert: false, unknown, invalid, purpose };
        question.run(py, urls, threads, &Allowed(plan))
    }

    /// Explains the decision on a URL: the object of `portcullis check --json`.
    #[pyo3(signature = (url, agent = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        agent: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = match agent {
            None if self.names.len() == 1 => Some(0),
            None => None,
            Some(agent) => self.names.iter().position(|name| name == agent),
        };
        let place = place.ok_or_else(|| {
            PyValueError::new_err(format!("agent must be one of {}", self.names.join(", ")))
        })?;
        let question = self.question(&[])?;
        let mut session = question.session();
        let json = with_bytes(url, |url| explain(url, place, &mut session))?;
        question.keep(session);
        of_json(py, &json.map_err(Error::of)?)
    }
}

/// Returns the label with this name.
fn label_of(name: &str) -> PyResult<Label> {
    Label::by_name(name).ok_or_else(|| {
        let names = Label::ALL.map(Label::as_str).join(", ");
        PyValueError::new_err(format!("no label '{name}'; the labels are {names}"))
    })
}

fn labels(names: &[String]) -> PyResult<Vec<Label>> {
    names.iter().map(|name| label_of(name)).collect()
}

fn explain(url: &[u8], agent: usize, session: &mut Session) -> Result<Vec<u8>, Damage> {
    session.classify(&[url])?;
    let (explained, problem) = match session.explain(url, agent, None)? {
        Ok(explained) => (explained, None),
        Err(problem) => (None, Some(problem.to_string())),
    };
    let classifier = Arc::clone(session.classifier());
    let (explained, problem) = (explained.as_ref(), problem.as_deref());
    let (dialect, labels) = (classifier.dialect(), classifier.labels());
    let facts = explanation_json::Facts { explained, problem, dialect, labels };
    let name = classifier.agents()[agent].name();
    let mut json = Vec::new();
    explanation_json::write(url, name, session.full_decision(0, agent)?, facts, &mut json);
    classifier.set().is_whole()?;
    Ok(json)
}
