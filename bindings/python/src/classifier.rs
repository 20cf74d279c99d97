//! `Classifier`: decides columns of URLs and returns columns of decisions.
//!
//! This module has the threads of a call and the memory that they reuse in later calls. Python's
//! lock is released while URLs are decided, and the calling thread looks after signals, so that Ctrl-C
//! ends a long call. Threads end with the call that started them, so a process may fork between
//! calls.
//!
//! A call may or may not need usage labels. Each list of labels has its own classifier over the same
//! set, so that calls that need less cost less. So has each answer to what applies before the first
//! capture. The last [`QUESTIONS_KEPT`] of them are kept.
//!
//! Errors: a damaged set, or invalid arguments. A bad URL is a row with the verdict `invalid`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::Array;
use portcullis_dialect::Label;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_report::filter::{Fate, Plan, Quantifier};
use portcullis_report::{AgentList, PolicyFacts, Run, columns, explanation, explanation_json};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::Crawler;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::arrow::Arrays;
use portcullis_rows::output::columns::{Columns, Field, FieldKind};
use portcullis_rows::runner::{thread_count, thread_pool};
use portcullis_set::Damage;
use portcullis_set::batch::{self, Answers, BeforeFirst, Records, Session, Times};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::account::{self, PyAccount};
use crate::arguments::{Asked, Names, word};
use crate::arrow::{self, PyColumn, PyTable};
use crate::at::At;
use crate::fault::in_pool;
use crate::limits::{ARROW_PIECE_ROWS, ARROW_STRETCH_PIECES, QUESTIONS_KEPT};
use crate::opened::PyPolicySet;
use crate::parts::{self, Parts};
use crate::texts::{Argument, Texts, bytes_of, with_bytes};
use crate::{Error, ensure, of_json, value_error};

/// A classifier, and the sessions of its threads for later calls.
struct Question {
    classifier: Arc<batch::Classifier>,
    before_first: BeforeFirst,
    assumed_scheme: Option<String>,
    idle: Mutex<Vec<Session>>,
}

/// Reads the values of a block.
type Read<'r> = dyn Fn(&mut Answers<'_>, &mut Added) -> Result<(), Damage> + Sync + 'r;

/// Decides for a policy set and some agents.
#[pyclass(frozen, name = "Classifier", module = "portcullis_robots")]
pub struct PyClassifier {
    set: Py<PyPolicySet>,
    agents: Vec<Crawler>,
    /// The lists that agents were taken from.
    lists: Vec<AgentList>,
    given: Given,
    /// The last questions that were asked, the newest first. They share the set.
    questions: Mutex<Vec<Arc<Question>>>,
}

/// The arguments that make a classifier.
pub struct Given {
    pub agents: Names,
    pub user_agents: Vec<String>,
    pub assume_scheme: Option<String>,
}

/// Rows that one thread decides.
struct Rows {
    urls: Texts,
    /// The number of rows before them.
    before: usize,
}

/// Rows, and what a thread decides them with.
struct Piece<'c> {
    rows: &'c Rows,
    at: &'c At,
    session: Session,
}

impl Piece<'_> {
    /// Calls `add` for the URLs and the answers of each block, or of those that are decided before
    /// `stop` becomes true.
    fn each_block(
        &mut self,
        stop: &AtomicBool,
        mut add: impl FnMut(&[&[u8]], &mut Answers<'_>) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let Piece { rows: Rows { urls, before }, at, session } = self;
        let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
        let views = urls.views();
        for start in (0..views.len()).step_by(RECORDS_AT_ONCE) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let part = start..views.len().min(start + RECORDS_AT_ONCE);
            let times = at.of(before + part.start..before + part.end);
            block.clear();
            block.extend(part.map(|row| bytes_of(&views, row)));
            add(&block, &mut session.decide(Records::from(&block).at(times))?)?;
        }
        session.classifier().set().is_whole()
    }
}

/// The work of a thread on its rows, until a flag is true.
type Collect<'c, P> = dyn Fn(&mut Piece<'_>, &AtomicBool) -> Result<P, Damage> + Sync + 'c;

impl Question {
    fn session(&self) -> Session {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let new = || {
            Session::new(Arc::clone(&self.classifier)).assume_scheme(self.assumed_scheme.as_deref())
        };
        idle.unwrap_or_else(new)
    }

    fn keep(&self, session: Session) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
    }

    /// Decides all of `urls`, as of the times in `at`, into columns.
    fn table(
        &self,
        py: Python<'_>,
        asked: (&Bound<'_, PyAny>, Parts<'_, '_>, At),
        threads: usize,
        fields: &[Field],
        read: &Read<'_>,
    ) -> PyResult<PyTable> {
        let arrays = Arrays::new(fields);
        let none = || Added::of(fields.iter().map(|field| field.kind));
        let collect = |piece: &mut Piece<'_>, stop: &AtomicBool| {
            let mut added = none();
            piece.each_block(stop, |_, answers| read(answers, &mut added))?;
            Ok(arrays.batch(&added))
        };
        let mut batches = Vec::new();
        self.run(py, asked, threads, &collect, &mut |batch| batches.push(batch))?;
        if batches.is_empty() {
            batches.push(arrays.batch(&none()));
        }
        Ok(PyTable { schema: batches[0].schema(), batches })
    }

    /// Decides all of `urls`, as of the times in `at`, one stretch of rows at a time, and passes the
    /// pieces to `sink` in the order of the rows.
    fn run<P: Send>(
        &self,
        py: Python<'_>,
        (urls, parts, at): (&Bound<'_, PyAny>, Parts<'_, '_>, At),
        threads: usize,
        collect: &Collect<'_, P>,
        sink: &mut impl FnMut(P),
    ) -> PyResult<()> {
        let threads = thread_count(threads);
        let one = |array| Box::new(std::iter::once(Ok(array)));
        let mut arrays: arrow::Arrays = match parts::joined(urls, parts)? {
            Some(joined) => one(joined),
            None => match arrow::import(urls)? {
                Some(arrays) => arrays,
                None => one(Texts::from_strings(urls)?),
            },
        };
        let mut before = 0;
        loop {
            // Small arrays are collected until there are enough rows for every thread.
            let (mut pieces, first) = (Vec::new(), before);
            while before - first < threads.saturating_mul(ARROW_PIECE_ROWS)
                && let Some(array) = py.detach(|| arrays.next())
            {
                let urls = Texts::of(&array.map_err(arrow::value_error)?, &Argument::URLS)?;
                for urls in urls.pieces(ARROW_PIECE_ROWS) {
                    let rows = urls.len();
                    pieces.push(Rows { urls, before });
                    before += rows;
                }
            }
            at.check(before, pieces.is_empty())?;
            if pieces.is_empty() {
                break;
            }
            self.decide(py, (&pieces, &at), threads, collect, sink)?;
        }
        self.classifier.set().is_whole().map_err(Error::of)
    }

    fn decide<P: Send>(
        &self,
        py: Python<'_>,
        (pieces, at): (&[Rows], &At),
        threads: usize,
        collect: &Collect<'_, P>,
        sink: &mut impl FnMut(P),
    ) -> PyResult<()> {
        let decide = |rows: &Rows, stop: &AtomicBool| {
            let mut piece = Piece { rows, at, session: self.session() };
            let collected = collect(&mut piece, stop);
            self.keep(piece.session);
            collected
        };
        for stretch in pieces.chunks(ARROW_STRETCH_PIECES) {
            py.check_signals()?;
            let rows: usize = stretch.iter().map(|rows| rows.urls.len()).sum();
            let decided: Result<Vec<_>, Damage> =
                match rows.saturating_mul(self.classifier.agents().len()) {
                    // Some milliseconds, for which no thread is worth its start.
                    0..=ARROW_PIECE_ROWS => {
                        let stop = &AtomicBool::new(false);
                        py.detach(|| stretch.iter().map(|it| decide(it, stop)).collect())
                    }
                    _ => {
                        let pool = thread_pool(threads.min(stretch.len())).map_err(Error::of)?;
                        in_pool(py, &pool, |stop| {
                            Ok(stretch.par_iter().map(|it| decide(it, stop)).collect())
                        })?
                    }
                };
            decided.map_err(Error::of)?.into_iter().for_each(&mut *sink);
        }
        Ok(())
    }
}

impl PyClassifier {
    /// Returns a classifier of a set.
    ///
    /// # Errors
    ///
    /// If an agent is invalid, or the names of crawlers in the set are damaged.
    pub fn new(set: Py<PyPolicySet>, given: Given) -> PyResult<PyClassifier> {
        let dialect = set.get().set.dialect();
        let Asked { chains: agents, lists } =
            Asked::new(&given.agents, &given.user_agents, dialect)?;
        let questions = Mutex::default();
        let classifier = PyClassifier { set, agents, lists, given, questions };
        classifier.question(&[], BeforeFirst::Unknown)?;
        Ok(classifier)
    }

    /// Returns the question about access and `labels`, and the times as of which it is asked.
    fn ask(
        &self,
        labels: &[Label],
        at: Option<&Bound<'_, PyAny>>,
        before_first: &str,
    ) -> PyResult<(Arc<Question>, At)> {
        let words = [("unknown", BeforeFirst::Unknown), ("oldest", BeforeFirst::Oldest)];
        let before_first = word("before_first", before_first, &words)?;
        let set = self.set.get();
        let at = match at {
            Some(at) => {
                let text = "SET@TIME names the time for all URLs; leave it out, or at";
                ensure!(set.time.is_none(), "{text}");
                set.need_history("at")?;
                At::new(at)?
            }
            None => {
                let has_times = before_first == BeforeFirst::Unknown || set.time.is_some();
                ensure!(has_times, "before_first needs times; pass at too");
                At::One(None)
            }
        };
        Ok((self.question(labels, before_first)?, at))
    }

    /// Returns the question about access and `labels`, and creates it on first use.
    fn question(&self, labels: &[Label], before_first: BeforeFirst) -> PyResult<Arc<Question>> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |it: &Arc<Question>| {
            it.classifier.labels() == labels && it.before_first == before_first
        };
        if let Some(place) = questions.iter().position(is_same) {
            questions[..=place].rotate_right(1);
            return Ok(Arc::clone(&questions[0]));
        }
        let PyPolicySet { set, time, .. } = self.set.get();
        let classifier = batch::Classifier::new(Arc::clone(set), self.agents.clone());
        let mut classifier = classifier.map_err(Error::of)?.with_usage(labels);
        classifier.before_first = before_first;
        let question = Arc::new(Question {
            classifier: Arc::new(classifier.as_of(*time)),
            before_first,
            assumed_scheme: self.given.assume_scheme.clone(),
            idle: Mutex::default(),
        });
        questions.truncate(QUESTIONS_KEPT - 1);
        questions.insert(0, Arc::clone(&question));
        Ok(question)
    }
}

#[pymethods]
impl PyClassifier {
    /// Returns the agents, as they were given.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name().to_owned()).collect()
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

    /// Pickles a classifier as the call that makes it, with the names that were given: a list has names that
    /// are read as their operators document, and a name alone is not.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<PyPolicySet>,))> {
        let Given { agents, user_agents, assume_scheme } = &self.given;
        let keywords = PyDict::new(py);
        keywords.set_item("user_agents", user_agents)?;
        keywords.set_item("assume_scheme", assume_scheme)?;
        let arguments = ("for_agents", &agents.0);
        let call = py.import("operator")?.getattr("methodcaller")?;
        Ok((call.call(arguments, Some(&keywords))?, (self.set.clone_ref(py),)))
    }

    fn __repr__(&self) -> String {
        let set = &self.set.get().set;
        format!("<Classifier of {} for {}>", set.name(), self.agents().join(", "))
    }

    /// Decides a column of URLs. Returns a table with the requested columns for each agent. `usage`
    /// adds a column for each label: `y`, `n`, `?` (not stated) or `-` (no access).
    ///
    /// URLs that are a path get their other parts from `host`, `query` and `scheme`, each a column or one text
    /// for all: a query is added to URLs without one. A URL with another query than that of its row is invalid.
    ///
    /// `at` is the time of each URL, or one for all: the rules that were in force then decide. The set
    /// needs history. A time is a timestamp, a date or a text; without a zone it is in UTC. A URL
    /// without a time is unknown, and so is one from before the first capture of its origin, unless
    /// `before_first` is `oldest`, which applies that capture.
    #[pyo3(signature = (
        urls, *, host = None, query = None, scheme = None, at = None, before_first = "unknown", columns = None, usage = Names::default(), prefix = "",
        threads = 1
    ))]
    fn classify(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        host: Option<&Bound<'_, PyAny>>,
        query: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        before_first: &str,
        columns: Option<Names>,
        usage: Names,
        prefix: &str,
        threads: usize,
    ) -> PyResult<PyTable> {
        let labels = usage.labels()?;
        let columns = columns.map_or_else(|| "verdict".to_owned(), |columns| columns.0.join(","));
        let columns = match (&*columns, &*labels) {
            ("", [_, ..]) => Columns::none().with_usage(&labels, false),
            _ => columns.parse::<Columns>().map_err(value_error)?.with_usage(&labels, false),
        };
        let has_times = at.is_some() || self.set.get().time.is_some();
        let text = "the columns captured, since and until need times; pass at too";
        ensure!(has_times || !columns.need_times(), "{text}");
        let fields = columns.fields(&self.agents(), prefix).map_err(value_error)?;
        let read = |answers: &mut Answers<'_>, rows: &mut Added| {
            columns::read(&columns, answers, rows).map(|_| ())
        };
        let (question, at) = self.ask(&labels, at, before_first)?;
        question.table(py, (urls, [host, query, scheme], at), threads, &fields, &read)
    }

    /// Decides a column of URLs. Returns true for URLs that all agents, or any agent, may fetch.
    /// With a purpose, the agents must also be permitted that use; `unstated` decides about uses
    /// that are not stated. `at` and `before_first` are as in `classify`.
    #[pyo3(signature = (
        urls, *, host = None, query = None, scheme = None, at = None, before_first = "unknown", mode = "all", purpose = None, unstated = None,
        threads = 1
    ))]
    fn allowed(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        host: Option<&Bound<'_, PyAny>>,
        query: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        before_first: &str,
        mode: &str,
        purpose: Option<&str>,
        unstated: Option<&str>,
        threads: usize,
    ) -> PyResult<PyColumn> {
        let plan = plan(mode, purpose, unstated)?;
        let (question, at) = self.ask(plan.labels(), at, before_first)?;
        let fields = [Field::declared("allowed", FieldKind::Flag, false)];
        let read = |answers: &mut Answers<'_>, rows: &mut Added| {
            let classes = plan.classes(answers)?;
            let fates = classes.iter().map(|class| plan.fate(*class));
            fates.for_each(|fate| rows.push(0, Cell::Flag(fate == Fate::Keep)));
            Ok(())
        };
        question.table(py, (urls, [host, query, scheme], at), threads, &fields, &read).map(PyColumn)
    }

    /// Counts what [`PyClassifier::allowed`] keeps and drops of a column of URLs, and why: the account of
    /// `portcullis filter --summary FILE.json`. The arguments are as in `allowed`.
    #[pyo3(signature = (
        urls, *, host = None, query = None, scheme = None, at = None, before_first = "unknown", mode = "all", purpose = None, unstated = None,
        threads = 1
    ))]
    fn account(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, PyAny>,
        host: Option<&Bound<'_, PyAny>>,
        query: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
        before_first: &str,
        mode: &str,
        purpose: Option<&str>,
        unstated: Option<&str>,
        threads: usize,
    ) -> PyResult<PyAccount> {
        let plan = plan(mode, purpose, unstated)?;
        let (question, times) = self.ask(plan.labels(), at, before_first)?;
        let at = match &times {
            At::One(time) => time.or(self.set.get().time).map(UnixSeconds::to_rfc3339),
            At::Each(_) => Some("a column".to_owned()),
        };
        let begin = || account::begin(self.agents.len(), &plan);
        let collect = |piece: &mut Piece<'_>, stop: &AtomicBool| {
            let mut counts = begin();
            piece.each_block(stop, |urls, answers| {
                account::add(&mut counts, &plan, urls, answers)
            })?;
            Ok(counts)
        };
        let mut all = begin();
        let asked = (urls, [host, query, scheme], times);
        question.run(py, asked, threads, &collect, &mut |counts| all.merge(&counts))?;
        let run = Run {
            policies: Some(PolicyFacts::of(&self.set.get().set)),
            agents: self.agents(),
            agent_lists: self.lists.clone(),
            at,
            ..Run::default()
        };
        PyAccount::new(&all, run)
    }

    /// Explains the decision on a URL: the object of `portcullis check --format jsonl`. `at` is one time.
    #[pyo3(signature = (url, agent = None, *, at = None, before_first = "unknown"))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        agent: Option<&str>,
        at: Option<&Bound<'py, PyAny>>,
        before_first: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = match agent {
            None if self.agents.len() == 1 => Some(0),
            None => None,
            Some(agent) => self.agents.iter().position(|it| it.name() == agent),
        };
        let place = place.ok_or_else(|| {
            PyValueError::new_err(format!("agent must be one of {}", self.agents().join(", ")))
        })?;
        let (question, at) = self.ask(&[], at, before_first)?;
        let at = at.one()?;
        let mut session = question.session();
        let json = with_bytes(url, |url| explain(url, place, at, &mut session))?;
        question.keep(session);
        of_json(py, &json.map_err(Error::of)?)
    }
}

/// Returns the plan of a filter.
fn plan(mode: &str, purpose: Option<&str>, unstated: Option<&str>) -> PyResult<Plan> {
    let quantifier = word("mode", mode, &[("all", Quantifier::All), ("any", Quantifier::Any)])?;
    let (Some(purpose), Some(unstated)) = (purpose, unstated) else {
        if purpose.is_none() && unstated.is_none() {
            return Ok(Plan::of(quantifier));
        }
        let text = "purpose needs unstated='keep' or 'drop', and unstated a purpose: whether \
                    silence is consent is your decision";
        return Err(PyValueError::new_err(text));
    };
    let unstated = word("unstated", unstated, &[("keep", Fate::Keep), ("drop", Fate::Drop)])?;
    let purpose = Some(purpose.parse().map_err(PyValueError::new_err::<String>)?);
    Ok(Plan { purpose, unstated: Some(unstated), ..Plan::of(quantifier) })
}

/// Returns the object of `portcullis check --format jsonl` for the decision on a URL.
fn explain(
    url: &[u8],
    agent: usize,
    at: Option<UnixSeconds>,
    session: &mut Session,
) -> Result<Vec<u8>, Damage> {
    let urls = [url];
    let records = Records::from(&urls).at(at.map_or(Times::Now, Times::At));
    let mut json = Vec::new();
    let mut answers = session.decide(records)?;
    let mut facts = explanation::explain(answers.session(), url, agent, at)?;
    let crawler = &answers.session().classifier().agents()[agent];
    facts.read_source = portcullis_crawlers::page_of_answers(crawler);
    explanation_json::write(url, answers.rule(agent)?, &facts, &mut json);
    answers.session().classifier().set().is_whole()?;
    Ok(json)
}
