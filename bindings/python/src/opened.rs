//! Opened sets, and what every question about a set needs.
//!
//! Cost: opening maps the file and reads its header.
//!
//! A mapped file must not be truncated or rewritten while the set is alive. Replace it by renaming
//! another file over it, as `compile` does. Reading a truncated part is an error.

#![allow(unsafe_code, reason = "maps the sets that the caller names")]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_report::{AgentList, PolicyFacts, Run};
use portcullis_robots::access::UnixSeconds;
use portcullis_set::{PolicySet, SetError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::fault::guard_mapped_sets;
use crate::{Error, of_json};

/// The policies of many origins.
#[pyclass(frozen, name = "PolicySet", module = "portcullis_robots")]
pub struct PyPolicySet {
    pub set: Arc<PolicySet>,
    /// The absolute path of the file, and whether it is mapped. `None` for a set in memory.
    pub file: Option<(PathBuf, bool)>,
    /// The time as of which the set is asked; `None` for now.
    pub time: Option<UnixSeconds>,
}

/// Returns the exception for a set that cannot be opened: FileNotFoundError, PermissionError, …
pub fn set_error(error: SetError) -> PyErr {
    match &error {
        SetError::Open { error: cause, .. } => {
            io::Error::new(cause.kind(), error.to_string()).into()
        }
        _ => Error::of(error),
    }
}

/// Maps a set to compile its captures again; it may be of an older version.
pub fn map_set(path: &Path) -> Result<PolicySet, SetError> {
    guard_mapped_sets();
    // SAFETY: the documentation of the package requires callers not to change the file in place.
    unsafe { PolicySet::map_to_compile(path) }
}

impl PyPolicySet {
    /// Opens a file.
    pub fn open(path: PathBuf, mapped: bool) -> PyResult<PyPolicySet> {
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
        Ok(PyPolicySet { set: set.map_err(set_error)?.into(), file, time: None })
    }

    /// Opens the bytes of a set.
    pub fn in_memory(bytes: impl AsRef<[u8]>) -> PyResult<PyPolicySet> {
        let set = PolicySet::from_bytes("the set in memory", bytes).map_err(set_error)?;
        Ok(PyPolicySet { set: set.into(), file: None, time: None })
    }

    /// Checks that the set has history.
    ///
    /// # Errors
    ///
    /// If it has none. The error says that `argument` needs it.
    pub fn need_history(&self, argument: &str) -> PyResult<()> {
        if self.set.has_history() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{}: compiled without history, which {argument} needs; compile its captures with \
             history=True, or with portcullis compile --history",
            self.set.name()
        )))
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
