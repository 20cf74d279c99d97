//! The code that needs `unsafe`: the allocator of the C library, and mapped files. The files belong
//! to this program, and no other process writes to them.

#![allow(unsafe_code, reason = "calls the C library; maps files of this program")]

use std::path::Path;

use portcullis_io::input::OpenConfig;
use portcullis_set::{PolicySet, SetError};

/// Returns free memory to the system, if the allocator can.
///
/// An engine that takes a gigabyte pays the system for it, unless another engine has freed as much
/// before. Returning the memory makes builds comparable in any order.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call this function at any time, and it does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Returns how lists are opened: mapped, as on the command line.
pub fn opening() -> OpenConfig {
    // SAFETY: see the module.
    unsafe { OpenConfig::default().mapped() }
}

/// Maps the policy set at `path`.
///
/// # Errors
///
/// If the file cannot be opened or is not a policy set.
pub fn set(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: see the module.
    unsafe { PolicySet::map(path) }
}
