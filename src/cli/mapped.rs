//! What the program maps: policy sets and lists of URLs.
//!
//! Nothing else of the program calls for a mapping, so this is where the duty stands that comes with
//! it. Nobody can keep other programs from writing to a file; what the program does about it is:
//!
//! - its users are told that a set is replaced by renaming, and the program's own outputs are;
//! - no output of a run is one of its inputs ([`files`](super::files));
//! - touching what a truncated file has lost ends the program with a message and status 2
//!   ([`fault`](super::fault));
//! - what was worked out from a file that became shorter is not handed on: the length is compared
//!   after every block of URLs and every chunk of a list.

#![allow(unsafe_code, reason = "maps files that the user names")]

use std::path::Path;

use portcullis::input::OpenConfig;
use portcullis::set::{PolicySet, SetError};

/// Maps the policy set at `path`.
///
/// # Errors
///
/// If it cannot be opened, or is none.
pub fn set(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: as the module says.
    unsafe { PolicySet::map(path) }
}

/// How lists of URLs are opened: mapped, unless one is no regular uncompressed file.
pub fn opening() -> OpenConfig {
    // SAFETY: as the module says.
    unsafe { OpenConfig::default().mapped() }
}
