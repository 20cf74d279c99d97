//! What is mapped, as the program maps it: the files are this program's own, and nothing else writes
//! to them.

#![allow(unsafe_code, reason = "maps files of this program")]

use std::path::Path;

use portcullis::input::OpenConfig;
use portcullis::set::{PolicySet, SetError};

/// How lists are opened.
pub fn opening() -> OpenConfig {
    // SAFETY: as the module says.
    unsafe { OpenConfig::default().mapped() }
}

/// The policy set at `path`.
///
/// # Errors
///
/// If it cannot be opened, or is none.
pub fn set(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: as the module says.
    unsafe { PolicySet::map(path) }
}
