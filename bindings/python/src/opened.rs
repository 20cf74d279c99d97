//! Opened sets, and what every question about a set needs.
//!
//! Cost: opening maps the file and reads its header.
//!
//! A mapped file must not be truncated or rewritten while the set is alive. Replace it by renaming
//! another file over it, as `compile` does. Reading a truncated part is an error.

#![allow(unsafe_code, reason = "maps the sets that the caller names")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_robots::access::UnixSeconds;
use portcullis_set::{PolicySet, SetError};
use pyo3::prelude::*;

use crate::fault::guard_mapped_sets;
use crate::{Error, ensure};

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
        SetError::Open { error: cause, .. } => Error::refused(cause.kind(), error.to_string()),
        _ => Error::of(error),
    }
}

/// A function that maps a set.
type Map = unsafe fn(&Path) -> Result<PolicySet, SetError>;

/// Maps a set by one of the functions of [`PolicySet`].
pub fn mapped(path: &Path, map: Map) -> Result<PolicySet, SetError> {
    guard_mapped_sets();
    // SAFETY: the documentation of the package requires callers not to change the file in place.
    unsafe { map(path) }
}

impl PyPolicySet {
    /// Opens a file.
    pub fn open(path: PathBuf, mapped: bool) -> PyResult<PyPolicySet> {
        let set = match mapped {
            true => self::mapped(&path, PolicySet::map),
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
        ensure!(
            self.set.has_history(),
            "{}: compiled without history, which {argument} needs; compile its captures with \
             history=True, or with portcullis compile --history",
            self.set.name()
        );
        Ok(())
    }
}
