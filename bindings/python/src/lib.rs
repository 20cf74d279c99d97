//! The extension module of the Python package `portcullis-robots`.
//!
//! Python calls the same [`Classifier`](portcullis_set::batch::Classifier) as the command line,
//! over Arrow arrays that are not copied. This crate is only the bridge and makes no decisions.
//!
//! | module | contents |
//! |---|---|
//! | `account` | what a filter keeps and drops, for a data card |
//! | `arguments` | names, words, and agents by name or list |
//! | `arrow` | import and export of arrays through the Arrow C data interface |
//! | `texts` | the bytes of each row |
//! | `at` | the time of each row |
//! | `fault` | signals: long calls that Ctrl-C ends, truncated sets |
//! | `classifier` | bulk decisions: threads, memory from call to call |
//! | `opened` | opened sets |
//! | `policy_set` | open, compile, verify |
//! | `robots_txt` | one file |
//! | `survey` | rows of each origin and agent, as a stream |
//!
//! The module has the command-line program too, so that the wheel needs no second file with the same
//! engine: maturin packs either a module or programs. Python's start adds some hundredths of a second.
//!
//! `python/portcullis_robots` has the code in Python: facades for other packages, Spark, datatrove.
//! Tests are in Python too: `scripts/python-check`.

#![allow(clippy::too_many_arguments, reason = "Python names them")]

mod account;
mod arguments;
mod arrow;
mod at;
mod classifier;
mod fault;
mod limits;
mod opened;
mod parts;
mod policy_set;
mod robots_txt;
mod survey;
mod texts;

use std::io::{self, ErrorKind};

use portcullis_text::settings::shown_as;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

pyo3::create_exception!(
    portcullis_robots,
    Error,
    PyException,
    "A policy set cannot be used, inputs cannot be compiled, or an Arrow array is invalid."
);

impl Error {
    /// Returns the exception for an error: an `OSError` if the system refused something.
    fn of(error: impl std::error::Error) -> PyErr {
        let mut causes = std::iter::successors(error.source(), |&error| error.source());
        match causes.find_map(|error| error.downcast_ref::<io::Error>()) {
            Some(refused) => Error::refused(refused.kind(), described(&error)),
            None => Error::new_err(described(&error)),
        }
    }

    /// Returns the exception for what the system refused, or for what readers and writers found
    /// themselves and say by these kinds.
    fn refused(kind: ErrorKind, text: String) -> PyErr {
        let text = with_arguments(&text);
        use ErrorKind::{InvalidData, InvalidInput, Other, OutOfMemory, UnexpectedEof};
        match kind {
            InvalidData | InvalidInput | Other | OutOfMemory | UnexpectedEof => {
                Error::new_err(text)
            }
            kind => io::Error::new(kind, text).into(),
        }
    }
}

/// Returns a `ValueError` with a formatted text unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            return Err(pyo3::exceptions::PyValueError::new_err(format!($($text)*)));
        }
    };
}
use ensure;

/// Converts an error about an argument to a `ValueError`.
fn value_error(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(described(&error))
}

/// Formats an error with its causes.
fn described(error: &dyn std::error::Error) -> String {
    let errors = std::iter::successors(Some(error), |&error| error.source());
    with_arguments(&errors.map(ToString::to_string).collect::<Vec<_>>().join(": "))
}

/// Returns a message of a library with the names of arguments for its settings.
fn with_arguments(message: &str) -> String {
    shown_as(message, |name| format!("`{name}`"))
}

/// Converts a JSON text to a Python object.
fn of_json<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let json = PyString::from_bytes(py, json)?;
    py.import("json")?.call_method1("loads", (json,))
}

#[pymodule]
mod _core {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::io::Write;

    use pyo3::prelude::*;

    use super::arguments::{self, Asked, Names};

    #[pymodule_export]
    use super::Error;
    #[pymodule_export]
    use super::account::PyAccount;
    #[pymodule_export]
    use super::arrow::{PyColumn, PyTable};
    #[pymodule_export]
    use super::classifier::PyClassifier;
    #[pymodule_export]
    use super::opened::PyPolicySet;
    #[pymodule_export]
    use super::robots_txt::PyRobotsTxt;
    #[pymodule_export]
    use super::survey::PySurvey;

    /// Returns the name and the description of each list.
    #[pyfunction]
    fn agent_lists() -> BTreeMap<&'static str, &'static str> {
        portcullis_crawlers::lists().map(|list| (list.name, list.about)).collect()
    }

    /// Returns the names of a list, without names that the dialect cannot express.
    #[pyfunction]
    #[pyo3(signature = (name, dialect = "rfc9309"))]
    fn agent_list(name: &str, dialect: &str) -> PyResult<Vec<String>> {
        let list = Names(vec![format!("@{name}")]);
        let agents = Asked::new(&list, &[], arguments::dialect(dialect)?)?.chains;
        Ok(agents.iter().map(|agent| agent.name().to_owned()).collect())
    }

    /// Runs the command-line program, and returns its exit status. It handles the signals of the
    /// process from then on, and ends the process on wrong usage.
    #[pyfunction]
    fn _run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| {
            let status = portcullis_cli::run(arguments) as u8;
            // Python ends without what Rust does at the end of a program.
            let _ = std::io::stdout().flush();
            status
        })
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
