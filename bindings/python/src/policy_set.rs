//! `PolicySet`: opens and compiles sets, and creates classifiers for agents.
//!
//! Cost: opening maps the file and reads its header. Compiling reads and parses every input on
//! `threads` threads, which end with the call.
//!
//! A mapped file must not be truncated or rewritten while the set is alive. Replace it by renaming
//! another file over it, as `compile` does. Reading a truncated part is an error. Ctrl-C ends a long
//! call, which then writes nothing.

#![allow(unsafe_code, reason = "maps the sets that the caller names")]

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{
    IngestConfig, IngestError, Ingested, Input, LoadConfig, MergeError, MergeSettings, Standings,
    Strictness, ingest,
};
use portcullis_dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::scratch::Scratch;
use portcullis_report::{AgentList, PolicyFacts, Run};
use portcullis_robots::url::Origin;
use portcullis_rows::runner::thread_pool;
use portcullis_set::{PolicySet, SetError};
use portcullis_survey::RowConfig;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::agents;
use crate::classifier::PyClassifier;
use crate::fault::{guard_mapped_sets, in_pool};
use crate::survey::PySurvey;
use crate::texts::with_bytes;
use crate::{Error, of_json, value_error};

/// The policies of many origins.
#[pyclass(frozen, name = "PolicySet", module = "portcullis_robots")]
pub struct PyPolicySet {
    pub set: Arc<PolicySet>,
    /// The absolute path of the file, and whether it is mapped. `None` for a set in memory.
    file: Option<(PathBuf, bool)>,
}

/// Returns the dialect with this name.
///
/// # Errors
///
/// If there is no such dialect.
pub fn dialect(name: &str) -> PyResult<&'static Dialect> {
    Dialect::by_name(name).ok_or_else(|| {
        let names = Dialect::ALL.map(|dialect| dialect.name).join(", ");
        PyValueError::new_err(format!("no dialect '{name}'; the dialects are {names}"))
    })
}

fn set_error(error: SetError) -> PyErr {
    match &error {
        // FileNotFoundError, PermissionError, …
        SetError::Open { error: cause, .. } => {
            std::io::Error::new(cause.kind(), error.to_string()).into()
        }
        _ => Error::of(error),
    }
}

/// Returns the exception for inputs that cannot be ingested: the system's, if it refuses one of them.
fn not_ingested(error: IngestError, inputs: &[Input]) -> PyErr {
    let failed = inputs.iter().zip(error.inputs()).filter(|(_, report)| report.failure.is_some());
    let refused = failed.into_iter().find_map(|(input, _)| File::open(&input.path).err());
    match refused {
        Some(refused) => std::io::Error::new(refused.kind(), error.to_string()).into(),
        None => Error::of(error),
    }
}

fn open(path: PathBuf, mapped: bool) -> PyResult<PyPolicySet> {
    let set = match mapped {
        true => {
            guard_mapped_sets();
            // SAFETY: the documentation of the package requires callers not to change the file in
            // place.
            unsafe { PolicySet::map(&path) }
        }
        false => PolicySet::open(&path),
    };
    let file = Some((std::path::absolute(&path)?, mapped));
    Ok(PyPolicySet { set: set.map_err(set_error)?.into(), file })
}

/// Opens the bytes of a set.
fn in_memory(bytes: impl AsRef<[u8]>) -> PyResult<PyPolicySet> {
    let set = PolicySet::of_bytes("the set in memory", bytes).map_err(set_error)?;
    Ok(PyPolicySet { set: set.into(), file: None })
}

/// Returns the error about a set without history, which `argument` needs.
pub fn no_history(set: &PolicySet, argument: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{}: compiled without history, which {argument} needs; compile its captures with \
         history=True, or with portcullis compile --history",
        set.name()
    ))
}

/// The arguments of `compile`.
struct Compiling {
    dialect: &'static Dialect,
    robots_bytes_max: Option<usize>,
    strictness: Strictness,
    history: bool,
    output: Option<PathBuf>,
    scratch: Scratch,
}

/// Returns the memory of a compiler, by default a quarter of this machine's, and where its temporary
/// files are: beside an output.
fn scratch(output: Option<&Path>, memory: Option<usize>) -> Scratch {
    let memory = memory.unwrap_or_else(Scratch::default_memory);
    match output {
        Some(output) => Scratch::beside(output, memory),
        None => Scratch::in_folder(std::env::temp_dir(), memory),
    }
}

impl Compiling {
    /// Compiles captures. Notes on inputs that were left out are added to `warnings`.
    fn captures(&self, inputs: &[Input], warnings: &mut Vec<String>) -> PyResult<PyPolicySet> {
        let config = IngestConfig {
            strictness: self.strictness,
            history: self.history,
            scratch: self.scratch.clone(),
            ..IngestConfig::new(self.dialect, self.robots_bytes_max)
        };
        let ingested = ingest(inputs, &config, &()).map_err(|error| not_ingested(error, inputs))?;
        for input in ingested.inputs.iter().filter(|input| !input.is_whole()) {
            let first =
                input.broken_named.first().map(|it| format!("{}: {}", it.place, it.problem));
            let what = input.failure.clone().or(first).unwrap_or_default();
            let records = if input.broken == 1 { "record" } else { "records" };
            let (name, broken) = (&input.name, input.broken);
            warnings.push(format!("{name}: {broken} {records} left out ({what})"));
        }
        self.write(&ingested)
    }

    fn write(&self, ingested: &Ingested) -> PyResult<PyPolicySet> {
        let config = CompileConfig {
            scratch: self.scratch.clone(),
            ..CompileConfig::of(ingested, self.dialect, self.robots_bytes_max)
        };
        if let Some(path) = &self.output {
            compile::write(&ingested.standings, &config, path).map_err(Error::of)?;
            return open(path.clone(), true);
        }
        in_memory(compile::to_vec(&ingested.standings, &config).map_err(Error::of)?)
    }
}

impl PyPolicySet {
    /// Describes a run for these agents, as the command line does.
    pub fn run(&self, agents: &[String], lists: &[AgentList], at: Option<String>) -> Run {
        Run {
            policies: Some(PolicyFacts::of(&self.set)),
            agents: agents.to_vec(),
            agent_lists: lists.to_vec(),
            at,
            ..Run::default()
        }
    }
}

#[pymethods]
impl PyPolicySet {
    /// Opens a compiled set. `mapped=False` reads it into memory.
    #[classmethod]
    #[pyo3(name = "open", signature = (path, *, mapped = true))]
    fn py_open(_: &Bound<'_, PyType>, path: PathBuf, mapped: bool) -> PyResult<PyPolicySet> {
        open(path, mapped)
    }

    /// Opens a set from its bytes: those of `to_bytes`, or of its file.
    #[classmethod]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 passes it so")]
    fn from_bytes(_: &Bound<'_, PyType>, data: PyBackedBytes) -> PyResult<PyPolicySet> {
        in_memory(&*data)
    }

    /// Returns the bytes of the set: those of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.set.file().to_bytes()).map_err(Error::of)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Compiles captures of robots.txt files. `history` keeps what was in force at each time, for
    /// the argument `at` of a classifier. `memory` is that of the command line, in bytes.
    #[classmethod]
    #[pyo3(name = "compile", signature = (
        inputs, *, dialect = "rfc9309", output = None, strictness = "usual",
        max_robots_bytes = ROBOTS_BYTES_MAX, history = false, threads = 0,
        memory = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn py_compile(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        inputs: &Bound<'_, PyAny>,
        dialect: &str,
        output: Option<PathBuf>,
        strictness: &str,
        max_robots_bytes: usize,
        history: bool,
        threads: usize,
        memory: Option<usize>,
    ) -> PyResult<PyPolicySet> {
        let strictness = match strictness {
            "lenient" => Strictness::Lenient,
            "usual" => Strictness::Usual,
            "strict" => Strictness::Strict,
            other => {
                let text = format!("no strictness '{other}'; use lenient, usual or strict");
                return Err(PyValueError::new_err(text));
            }
        };
        let dialect = self::dialect(dialect)?;
        let robots_bytes_max = Some(max_robots_bytes);
        let scratch = scratch(output.as_deref(), memory);
        let compiling =
            Compiling { dialect, robots_bytes_max, strictness, history, output, scratch };
        if let Ok(files) = inputs.cast::<PyDict>() {
            return of_files(py, files, threads, &compiling);
        }
        let inputs = match inputs.extract::<PathBuf>() {
            Ok(input) => vec![input],
            Err(_) => inputs.extract::<Vec<PathBuf>>()?,
        };
        let inputs: Vec<Input> = inputs.into_iter().map(Input::new).collect();
        let pool = thread_pool(threads).map_err(Error::of)?;
        let mut warnings = Vec::new();
        let compiled = in_pool(py, &pool, |stop| {
            let scratch = compiling.scratch.clone().until(Arc::clone(stop));
            Compiling { scratch, ..compiling }.captures(&inputs, &mut warnings)
        })?;
        for warning in warnings {
            let warning = CString::new(warning.replace('\0', "\u{fffd}"))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 1)?;
        }
        Ok(compiled)
    }

    /// Merges sets that were compiled separately. The result is the same as compiling all inputs at
    /// once. `memory` is that of the command line, in bytes.
    #[classmethod]
    #[pyo3(name = "merge", signature = (paths, output, *, threads = 0, memory = None))]
    fn py_merge(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        output: PathBuf,
        threads: usize,
        memory: Option<usize>,
    ) -> PyResult<PyPolicySet> {
        let sets = paths.into_iter().map(|path| open(path, true)).collect::<PyResult<Vec<_>>>()?;
        let pool = thread_pool(threads).map_err(Error::of)?;
        in_pool(py, &pool, |stop| merge(&sets, output, memory, stop))
    }

    /// Returns a classifier for crawlers: product tokens, `A+B` for a crawler that follows the groups of
    /// B if no group names A, `@NAME` for a list of crawlers.
    #[pyo3(signature = (agents = None, *, user_agents = Vec::new(), assume_scheme = None))]
    pub fn for_agents(
        self_: &Bound<'_, PyPolicySet>,
        agents: Option<&Bound<'_, PyAny>>,
        user_agents: Vec<String>,
        assume_scheme: Option<String>,
    ) -> PyResult<PyClassifier> {
        let asked = agents::asked(agents, &user_agents, self_)?;
        let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if let Some(scheme) = &assume_scheme
            && !(scheme.starts_with(|first: char| first.is_ascii_alphabetic())
                && scheme.bytes().all(is_scheme_byte))
        {
            let text = format!("no scheme '{scheme}'; give it without colon, such as https");
            return Err(PyValueError::new_err(text));
        }
        let scheme = assume_scheme.map(|scheme| scheme.to_ascii_lowercase().into_bytes());
        PyClassifier::new(self_.clone().unbind(), asked, user_agents.len(), scheme)
    }

    /// Surveys the set: rows of each origin and agent, with the columns of `portcullis survey`. `history`
    /// gives each period of an origin its rows, and `lists` adds the values of licences and sitemaps.
    #[pyo3(signature = (agents, *, history = false, lists = false))]
    fn survey(
        self_: &Bound<'_, PyPolicySet>,
        agents: &Bound<'_, PyAny>,
        history: bool,
        lists: bool,
    ) -> PyResult<PySurvey> {
        let chains = agents::asked(Some(agents), &[], self_)?.chains;
        let set = Arc::clone(&self_.get().set);
        if history && !set.has_history() {
            return Err(no_history(&set, "history=True"));
        }
        Ok(PySurvey::new(set, chains, RowConfig { history, lists, at: None }))
    }

    /// Returns the provenance of the set: hash, dialect, counts, and the result of each input.
    pub fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let provenance = self.set.provenance().map_err(Error::of)?.to_vec();
        self.set.is_whole().map_err(Error::of)?;
        let found = of_json(py, &provenance)?;
        found.set_item("set_hash", self.hash())?;
        found.set_item("dialect", self.dialect())?;
        found.set_item("hosts", self.hosts())?;
        found.set_item("origins", self.origins())?;
        Ok(found)
    }

    /// Verifies the set: checksums, structure, and that the compiled rules match the stored text.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let pool = thread_pool(0).map_err(Error::of)?;
        in_pool(py, &pool, |stop| {
            let scratch = scratch(None, None).until(Arc::clone(stop));
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
                let arguments = (path, mapped, set.hash()).into_pyobject(py)?;
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
    ) -> PyResult<PyPolicySet> {
        let opened = open(path, mapped)?;
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

fn merge(
    sets: &[PyPolicySet],
    output: PathBuf,
    memory: Option<usize>,
    stop: &Arc<AtomicBool>,
) -> PyResult<PyPolicySet> {
    let sets: Vec<&PolicySet> = sets.iter().map(|set| &*set.set).collect();
    let settings = MergeSettings::of(&sets, None, None).map_err(|error| match error {
        MergeError::Damaged(_) => Error::of(error),
        _ => value_error(error),
    })?;
    let scratch = scratch(Some(&output), memory).until(Arc::clone(stop));
    let (merged, config) = settings.merge(&sets, &scratch).map_err(Error::of)?;
    compile::write(&merged.standings, &config, &output).map_err(Error::of)?;
    open(output, true)
}

/// Compiles a set from texts by the URL of their robots.txt.
fn of_files(
    py: Python<'_>,
    files: &Bound<'_, PyDict>,
    threads: usize,
    compiling: &Compiling,
) -> PyResult<PyPolicySet> {
    let mut texts = BTreeMap::new();
    for (url, text) in files {
        let origin = with_bytes(&url, Origin::of_robots_txt)?.map_err(|error| {
            PyValueError::new_err(format!("{url}: {error}; give https://HOST/robots.txt"))
        })?;
        let text = with_bytes(&text, <[u8]>::to_vec)?;
        if texts.insert(origin, text).is_some() {
            return Err(PyValueError::new_err(format!("{url}: its origin has two files")));
        }
    }
    if compiling.output.is_some() || compiling.history {
        let text = "output and history need captures in files; texts are compiled into memory";
        return Err(PyValueError::new_err(text));
    }
    let Compiling { dialect, robots_bytes_max, ref scratch, .. } = *compiling;
    let loading = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    let pool = thread_pool(threads).map_err(Error::of)?;
    in_pool(py, &pool, |stop| {
        let files = texts.iter().map(|(origin, text)| (origin, &**text));
        let standings =
            Standings::of_files(files.take_while(|_| !stop.load(Ordering::Relaxed)), &loading);
        let scratch = scratch.clone().until(Arc::clone(stop));
        let config = CompileConfig { scratch, ..CompileConfig::new(dialect, robots_bytes_max) };
        in_memory(compile::to_vec(&standings, &config).map_err(Error::of)?)
    })
}
