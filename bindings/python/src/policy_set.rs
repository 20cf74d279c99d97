//! The methods of `PolicySet`: opens, compiles and verifies sets, and creates classifiers for agents.
//!
//! Cost: compiling reads and parses every input on
//! `threads` threads, which end with the call.
//!
//! Ctrl-C ends a long call, which then writes nothing.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_build::compile::{self, CompileConfig, CompileError};
use portcullis_build::{
    IngestConfig, Input, InputReport, LoadConfig, MergeError, SettleChoice, Sources, Standings,
    Strictness, two_names,
};
use portcullis_captures::CaptureField;
use portcullis_cli::SetAt;
use portcullis_dialect::RFC_9309;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::url::Origin;
use portcullis_rows::runner::thread_pool;
use portcullis_set::PolicySet;
use portcullis_survey::RowConfig;
use portcullis_text::figures::counted;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::arguments::{self, Asked, Names, word};
use crate::classifier::{Given, PyClassifier};
use crate::fault::in_pool;
use crate::opened::{self, PyPolicySet, set_error};
use crate::survey::PySurvey;
use crate::texts::with_bytes;
use crate::{Error, ensure, of_json, value_error, with_arguments};

/// Returns the exception for inputs that cannot be ingested: the system's, if it refused one of them.
fn not_ingested(error: MergeError) -> PyErr {
    match error {
        MergeError::Set(error) => set_error(error),
        error @ MergeError::Unlike(_) => value_error(error),
        MergeError::Ingest(error) => match error.inputs().iter().find_map(|it| it.refused) {
            Some(kind) => Error::refused(kind, error.to_string()),
            None => Error::of(error),
        },
        error => Error::of(error),
    }
}

/// Writes a set, or compiles it into memory, and opens it.
fn write(
    standings: &Standings,
    config: &CompileConfig,
    output: Option<&Path>,
) -> PyResult<PyPolicySet> {
    match output {
        Some(path) => {
            compile::write(standings, config, path).map_err(|error| match &error {
                CompileError::Write(refused) => Error::refused(refused.kind(), error.to_string()),
                _ => Error::of(error),
            })?;
            PyPolicySet::open(path.to_owned(), true)
        }
        None => PyPolicySet::in_memory(compile::to_vec(standings, config).map_err(Error::of)?),
    }
}

/// Warns of archives that were not read whole.
fn warn(py: Python<'_>, archives: &[InputReport], doubted: &[CaptureField]) -> PyResult<()> {
    let left_out = archives.iter().filter(|input| !input.is_whole()).map(|input| {
        let first = input.broken_named.first().map(|it| format!("{}: {}", it.place, it.problem));
        let what = input.failure.clone().or(first).unwrap_or_default();
        let broken = counted(input.broken, "record");
        format!("{}: {broken} left out ({what})", input.name)
    });
    let doubted = doubted.iter().map(|field| two_names(*field));
    for warning in left_out.chain(doubted) {
        let warning = CString::new(with_arguments(&warning).replace('\0', "\u{fffd}"))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 1)?;
    }
    Ok(())
}

#[pymethods]
impl PyPolicySet {
    /// Opens a compiled set, or `SET@TIME`: a set with history as of a time. `mapped=False` reads it
    /// into memory.
    #[classmethod]
    #[pyo3(name = "open", signature = (path, *, mapped = true))]
    fn py_open(_: &Bound<'_, PyType>, path: PathBuf, mapped: bool) -> PyResult<PyPolicySet> {
        let SetAt { path, time } =
            SetAt::parse(path.into_os_string()).map_err(PyValueError::new_err)?;
        let opened = PyPolicySet { time, ..PyPolicySet::open(path, mapped)? };
        if time.is_some() {
            opened.need_history("@TIME")?;
        }
        Ok(opened)
    }

    /// Opens a set from bytes: the result of `to_bytes`, or the content of a file.
    #[classmethod]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 passes it so")]
    fn from_bytes(_: &Bound<'_, PyType>, data: PyBackedBytes) -> PyResult<PyPolicySet> {
        PyPolicySet::in_memory(&*data)
    }

    /// Returns the bytes of the set, as in its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.set.file().to_bytes()).map_err(Error::of)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Compiles captures of robots.txt files, and merges sets. `history` keeps what was in force at
    /// each time, for the argument `at` of a classifier. `join_schemes` gives an origin without a
    /// capture the file of the other scheme of its host. `memory` is as on the command line, in
    /// bytes. A dict maps the URL of each robots.txt to its text.
    #[classmethod]
    #[pyo3(name = "compile", signature = (
        inputs, *, dialect = None, output = None, strictness = "usual",
        max_robots_bytes = ROBOTS_BYTES_MAX, history = false, join_schemes = false, threads = 0,
        memory = None
    ))]
    fn py_compile(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        inputs: &Bound<'_, PyAny>,
        dialect: Option<&str>,
        output: Option<PathBuf>,
        strictness: &str,
        max_robots_bytes: usize,
        history: bool,
        join_schemes: bool,
        threads: usize,
        memory: Option<usize>,
    ) -> PyResult<PyPolicySet> {
        use Strictness::{Lenient, Strict, Usual};
        let words = [("lenient", Lenient), ("usual", Usual), ("strict", Strict)];
        let strictness = word("strictness", strictness, &words)?;
        let asked = dialect.map(arguments::dialect).transpose()?;
        let max_robots_bytes = arguments::size_limit("max_robots_bytes", max_robots_bytes)?;
        let output = output.as_deref();
        let pool = thread_pool(threads).map_err(Error::of)?;
        let settings = IngestConfig {
            history,
            strictness,
            ..IngestConfig::new(asked.unwrap_or(&RFC_9309), Some(max_robots_bytes))
        };
        if let Ok(files) = inputs.cast::<PyDict>() {
            let text = "output, history and join_schemes need captures in files; texts are compiled into memory";
            ensure!(output.is_none() && !history && !join_schemes, "{text}");
            let texts = texts_of(files)?;
            return in_pool(py, &pool, |stop| {
                of_texts(&texts, &settings, Scratch::new(None, memory), stop)
            });
        }
        let inputs = match inputs.extract::<PathBuf>() {
            Ok(input) => vec![input],
            Err(_) => inputs.extract::<Vec<PathBuf>>()?,
        };
        ensure!(!inputs.is_empty(), "no inputs; name at least one archive or set");
        let inputs = inputs.iter().map(PathBuf::as_path);
        let inputs = portcullis_captures::expand(inputs, None).map_err(Error::of)?.inputs;
        let inputs = inputs.into_iter().map(|input| Input::new(input.path));
        let open = |path: &Path| opened::mapped(path, PolicySet::map_to_compile);
        let choice = SettleChoice { join_schemes, ..SettleChoice::default() };
        let sources = Sources::new(inputs, open, &choice, settings);
        let sources = sources.map_err(not_ingested)?;
        let own = sources.config().dialect;
        let set = sources.sets().first().map_or("", |set| &set.name);
        ensure!(asked.is_none_or(|it| it == own), "{set}: compiled for the dialect {}", own.name);
        let archives = sources.archives().len();
        let text = "history is about archives, and all inputs are sets";
        ensure!(!history || archives > 0, "{text}");
        let (compiled, (reports, doubted)) = in_pool(py, &pool, |stop| {
            let scratch = Scratch::new(output, memory).until(Arc::clone(stop));
            let ingested = sources.ingest(scratch, &()).map_err(not_ingested)?;
            let compiled = write(&ingested.standings, &ingested.compiling, output)?;
            Ok((compiled, (ingested.inputs, ingested.doubted)))
        })?;
        warn(py, &reports[reports.len() - archives..], &doubted)?;
        Ok(compiled)
    }

    /// Returns a classifier for crawlers, which are named as `-a` names them: `A+B` follows the groups of
    /// B if no group names A, `A!` follows no groups for `*`, and `@NAME` is a list or a known crawler.
    #[pyo3(signature = (agents = Names::default(), *, user_agents = Vec::new(), assume_scheme = None))]
    fn for_agents(
        self_: &Bound<'_, PyPolicySet>,
        agents: Names,
        user_agents: Vec<String>,
        assume_scheme: Option<String>,
    ) -> PyResult<PyClassifier> {
        let scheme = |text: String| {
            let wrong = |why| PyValueError::new_err(format!("no scheme '{text}': {why}"));
            portcullis_cli::scheme(&text).map_err(wrong)
        };
        let assume_scheme = assume_scheme.map(scheme).transpose()?;
        PyClassifier::new(self_.clone().unbind(), Given { agents, user_agents, assume_scheme })
    }

    /// Surveys the set: rows of each origin and agent, with the columns of `portcullis survey`.
    /// `history` adds a row for each period, and `lists` adds the values of licences and sitemaps.
    #[pyo3(signature = (agents, *, history = false, lists = false))]
    fn survey(&self, agents: Names, history: bool, lists: bool) -> PyResult<PySurvey> {
        let PyPolicySet { set, time, .. } = self;
        let chains = Asked::new(&agents, &[], set.dialect())?.chains;
        ensure!(!history || time.is_none(), "history has all periods; omit @TIME");
        if history {
            self.need_history("history=True")?;
        }
        let config = RowConfig { history, lists, baseline: None, at: *time };
        Ok(PySurvey::new(Arc::clone(set), chains, config))
    }

    /// Returns the provenance of the set: hash, dialect, counts, and the result of each input.
    pub fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let set = &self.set;
        let provenance = set.provenance().map_err(Error::of)?.to_vec();
        set.is_whole().map_err(Error::of)?;
        let found = of_json(py, &provenance)?;
        found.set_item("set_hash", set.hash().to_string())?;
        found.set_item("dialect", set.dialect().name)?;
        found.set_item("hosts", set.counts().hosts)?;
        found.set_item("origins", set.counts().origins)?;
        Ok(found)
    }

    /// Verifies the set: checksums, structure, and that the compiled rules match the stored text.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let pool = thread_pool(0).map_err(Error::of)?;
        in_pool(py, &pool, |stop| {
            let scratch = Scratch::new(None, None).until(Arc::clone(stop));
            portcullis_build::verify(&self.set, &scratch).map(|_| ()).map_err(set_error)
        })
    }

    /// Returns the name of the set in messages: its path, if it is a file.
    #[getter]
    fn name(&self) -> &str {
        self.set.name()
    }

    /// Returns the name of the dialect.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.set.dialect().name
    }

    /// Returns the hash of the content, as on the command line.
    #[getter]
    fn hash(&self) -> String {
        self.set.hash().to_string()
    }

    /// Whether the set has history, which the argument `at` of a classifier needs.
    #[getter]
    fn has_history(&self) -> bool {
        self.set.has_history()
    }

    /// Returns the number of hosts.
    #[getter]
    fn hosts(&self) -> u64 {
        self.set.counts().hosts
    }

    /// Returns the number of origins.
    #[getter]
    fn origins(&self) -> u64 {
        self.set.counts().origins
    }

    fn __repr__(&self) -> String {
        format!("<PolicySet {}: {} origins>", self.set.name(), self.origins())
    }

    /// Pickles a set that is a file as its path and its hash, and a set in memory as its bytes.
    fn __reduce__<'py>(
        self_: &Bound<'py, PyPolicySet>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (set, class, py) = (self_.get(), self_.get_type(), self_.py());
        Ok(match &set.file {
            Some((path, mapped)) => {
                let time = set.time.map(|time| time.0);
                let arguments = (path, mapped, set.hash(), time).into_pyobject(py)?;
                (class.getattr("_unpickle")?, arguments)
            }
            None => (class.getattr("from_bytes")?, (set.to_bytes(py)?,).into_pyobject(py)?),
        })
    }

    /// Opens a pickled set.
    #[classmethod]
    fn _unpickle(
        _: &Bound<'_, PyType>,
        path: PathBuf,
        mapped: bool,
        hash: &str,
        time: Option<u64>,
    ) -> PyResult<PyPolicySet> {
        let opened =
            PyPolicySet { time: time.map(UnixSeconds), ..PyPolicySet::open(path, mapped)? };
        match opened.hash() == hash {
            true => Ok(opened),
            false => Err(Error::new_err(format!(
                "{}: its hash is {}, and {hash} was pickled; pickle the set again",
                opened.name(),
                opened.hash()
            ))),
        }
    }
}

/// Returns the texts by the origin of their robots.txt.
fn texts_of(files: &Bound<'_, PyDict>) -> PyResult<BTreeMap<Origin, Vec<u8>>> {
    let mut texts = BTreeMap::new();
    for (url, text) in files {
        let origin = with_bytes(&url, Origin::from_robots_txt)?.map_err(|error| {
            PyValueError::new_err(format!("{url}: {error}; give https://HOST/robots.txt"))
        })?;
        let text = with_bytes(&text, <[u8]>::to_vec)?;
        ensure!(texts.insert(origin, text).is_none(), "{url}: its origin has two files");
    }
    Ok(texts)
}

/// Compiles texts.
fn of_texts(
    texts: &BTreeMap<Origin, Vec<u8>>,
    &IngestConfig { dialect, robots_bytes_max, .. }: &IngestConfig,
    scratch: Scratch,
    stop: &Arc<AtomicBool>,
) -> PyResult<PyPolicySet> {
    let loading = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    let files = texts.iter().map(|(origin, text)| (origin, &**text));
    let files = files.take_while(|_| !stop.load(Ordering::Relaxed));
    let standings = Standings::from_files(files, &loading);
    let scratch = scratch.until(Arc::clone(stop));
    let config = CompileConfig { scratch, ..CompileConfig::new(dialect, robots_bytes_max) };
    write(&standings, &config, None)
}
