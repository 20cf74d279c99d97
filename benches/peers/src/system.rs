//! What needs `unsafe`: the allocator of the C library, and mapped files. The files are this program's
//! own, and nothing else writes to them.

#![allow(unsafe_code, reason = "calls the C library; maps files of this program")]

use std::path::Path;

use portcullis_capture::input::OpenConfig;
use portcullis_set::{PolicySet, SetError};

/// Returns free memory to the system, where the allocator can.
///
/// An engine that takes a gigabyte pays the system for it, unless another engine has freed as much
/// before. Returning it makes builds comparable, whatever their order.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: any thread may call it at any time, and it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// How lists are opened: mapped, as the command line does.
pub fn opening() -> OpenConfig {
    // SAFETY: as the module says.
    unsafe { OpenConfig::default().mapped() }
}

/// Maps the policy set at `path`.
///
/// # Errors
///
/// If it cannot be opened, or is not a policy set.
pub fn set(path: &Path) -> Result<PolicySet, SetError> {
    // SAFETY: as the module says.
    unsafe { PolicySet::map(path) }
}
