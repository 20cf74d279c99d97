//! The allocator of the C library: giving memory back needs `unsafe`.

#![allow(unsafe_code, reason = "calls the C library")]

/// Gives memory that is free back to the system, where the allocator can.
///
/// An engine that takes a gigabyte pays the system for it, unless another has freed as much before. To give it
/// back makes builds comparable, whatever their order.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, by any thread, and touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
