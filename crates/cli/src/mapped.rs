//! Maps policy sets and lists of URLs. No other part of the program maps files.
//!
//! Another process may write to or truncate a mapped file. The program limits the damage:
//!
//! - the documentation tells users to replace sets by renaming, as the program does with its
//!   outputs;
//! - no output of a run is one of its inputs ([`files`](super::files));
//! - reading a truncated part ends the program with a message and status 2
//!   ([`fault`](super::fault));
//! - results from a file that became shorter are discarded: its length is compared after every
//!   block of URLs and every chunk of a list;
//! - results from a set or a list that was written to are discarded: their times are compared after
//!   every chunk of a list and before a command ends. A list may grow.

#![allow(unsafe_code, reason = "maps files that the user names")]

use std::path::Path;

use portcullis_files::input::{InputError, Source};
use portcullis_set::{PolicySet, SetError};

/// Maps the policy set at `path`.
///
/// # Errors
///
/// If the file cannot be opened or is not a policy set.
pub fn set(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: see the module.
    unsafe { PolicySet::map(path) }
}

/// Maps the policy set at `path` to compile its captures again; it may be of an older version.
///
/// # Errors
///
/// If the file cannot be opened or is not a policy set.
pub fn set_to_compile(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: see the module.
    unsafe { PolicySet::map_to_compile(path) }
}

/// Opens a list of URLs, and maps it if it is a regular uncompressed file.
///
/// # Errors
///
/// As [`Source::open`].
pub fn list(path: &Path) -> Result<Source, InputError> {
    // SAFETY: see the module.
    Source::open(path).map(|source| unsafe { source.mapped() })
}
