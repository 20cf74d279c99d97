//! Signals: long calls that Ctrl-C ends, and sets whose file was truncated.
//!
//! Python's handlers run when its main thread asks for them, with its lock. So the thread that was
//! called does no long work itself: it waits for the threads that do, and looks after signals meanwhile
//! ([`in_pool`]).
//!
//! Touching the lost pages of a mapped file that was truncated raises SIGBUS, which would end the
//! process. A handler puts zero pages there, after it has marked the set as damaged; the call then fails
//! with an error. A fault that is not a set's goes to the handler that was there before. If
//! `faulthandler` is enabled later, it takes the signal over and ends the process.

#![allow(unsafe_code, reason = "handles signals")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::limits::SIGNAL_PAUSE;

/// Runs `work` in `pool`, without Python's lock, and handles signals meanwhile. `work` ends early when its
/// flag becomes true, because a handler of Python raised an exception, which is then the result.
pub fn in_pool<T: Send>(
    py: Python<'_>,
    pool: &ThreadPool,
    work: impl FnOnce(&Arc<AtomicBool>) -> PyResult<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let stop = &Arc::new(AtomicBool::new(false));
        let (mut raised, mut done) = (None, None);
        let (running, ended) = mpsc::channel::<()>();
        let result = &mut done;
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                *result = Some(work(stop));
                drop(running);
            });
            while ended.recv_timeout(SIGNAL_PAUSE) != Err(RecvTimeoutError::Disconnected) {
                if raised.is_none()
                    && let Err(exception) = Python::attach(|py| py.check_signals())
                {
                    raised = Some(exception);
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        raised.map_or_else(|| done.expect("the scope waits for its work"), Err)
    })
}

/// Lets Python raise the exception of Ctrl-C again, after one that takes its place.
pub fn interrupt_again() {
    // SAFETY: it only notes that the signal has arrived, and may be called at any time.
    unsafe { pyo3::ffi::PyErr_SetInterrupt() }
}

/// Handles the loss of pages of mapped sets from now on, where sets are mapped.
pub fn guard_mapped_sets() {
    #[cfg(unix)]
    unix::install();
}

#[cfg(unix)]
mod unix {
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    use libc::{BUS_ADRERR, SA_ONSTACK, SA_SIGINFO, SIGBUS, c_int, c_void, siginfo_t};
    use portcullis_set::lose_set_mapped_at;

    /// The earlier action on this signal, and the size of a page.
    static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

    pub(super) fn install() {
        BEFORE.get_or_init(|| {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zeros is a valid sigaction; the fields that matter are set. The handler has
            // the signature that SA_SIGINFO asks for, and only calls functions that are safe in a
            // handler. A handler that runs before `BEFORE` is set does not use it.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = SA_SIGINFO | SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(SIGBUS, &raw const action, before.as_mut_ptr());
                (before.assume_init(), libc::sysconf(libc::_SC_PAGESIZE) as usize)
            }
        });
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system hands a valid siginfo_t to a handler with SA_SIGINFO. mmap, sigaction,
        // signal and raise are system calls that may be made in a handler. The pages that are replaced
        // are those of a set, from the one that was touched on: they are beyond the end of its file, and
        // what is read from the set is not used any more.
        unsafe {
            let is_lost_page = (*info).si_code == BUS_ADRERR;
            let address = (*info).si_addr() as usize;
            if is_lost_page
                && let Some((_, page_bytes)) = BEFORE.get()
                && let Some(range) = lose_set_mapped_at(address)
            {
                let start = address / page_bytes * page_bytes;
                let zeros = libc::mmap(
                    start as *mut c_void,
                    range.end - start,
                    libc::PROT_READ,
                    libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANON,
                    -1,
                    0,
                );
                if zeros != libc::MAP_FAILED {
                    return;
                }
            }
            match BEFORE.get() {
                Some((before, _)) => libc::sigaction(signal, before, std::ptr::null_mut()),
                None => {
                    libc::signal(signal, libc::SIG_DFL);
                    0
                }
            };
            // A fault is repeated when this returns. A signal of another process is not.
            if !is_lost_page {
                libc::raise(signal);
            }
        }
    }
}
