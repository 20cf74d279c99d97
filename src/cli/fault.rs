//! Signals that would end the program without a word: for a mapped file that becomes shorter while it
//! is read, and for a file that is written past the limit on its size. Both end as any other failure,
//! with a message and status 2.
//!
//! Lists of URLs and policy sets are mapped. If one of them is truncated meanwhile, or its disk
//! fails, there are no octets where the program looks next, and the system raises SIGBUS, which by
//! itself ends it without a word. No code can go on from there, because it may stand anywhere; so
//! the handler says what happened and ends the process. An output that was being written to a file
//! is left under its unfinished name, never under its own. Where a stack that is full raises the same
//! signal, as on macOS, it ends with the same message.
//!
//! A limit on the size of files (`ulimit -f`) raises SIGXFSZ, which is ignored here, so that writing
//! fails instead: then what was written is taken away, and the message names the file.
//!
//! It is the one place of the program with `unsafe`: the standard library sets no handlers. What the
//! library, used by another program, maps is that program's to guard.

/// Has the process end with a message and status 2 when a mapped file is not there any more, or a file
/// is larger than it may be. Called once, before anything is mapped or written; where it cannot be
/// done, the system's own way stays, which is to kill the process.
#[cfg(unix)]
pub fn install() {
    unix::install();
}

/// This system does not let a mapped file become shorter.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, Ordering};

    use libc::{BUS_ADRERR, SA_ONSTACK, SA_SIGINFO, SIGBUS, SIGXFSZ, c_int, c_void, siginfo_t};

    use crate::cli::exit::ExitStatus;

    const MESSAGE: &[u8] = b"portcullis: a file that was mapped became shorter while it was read, \
        or its disk failed; run again when nothing writes to the inputs and policies\n";

    pub(super) fn install() {
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        // SAFETY: all zeros is a valid sigaction; the fields that matter are set. The handler has
        // the signature that SA_SIGINFO asks for, and calls nothing but what is safe in a handler.
        // Nobody else in this process sets one for SIGBUS after the standard library did at its
        // start, whose alternate stacks SA_ONSTACK keeps in use. A signal may be ignored at any time.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(SIGBUS, &raw const action, std::ptr::null_mut());
            libc::signal(SIGXFSZ, libc::SIG_IGN);
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);

        // SAFETY: the system hands a valid siginfo_t to a handler with SA_SIGINFO. signal, raise,
        // pause, write and _exit may be called in a handler, and an atomic may be used there.
        unsafe {
            if (*info).si_code != BUS_ADRERR {
                // Something else, such as a signal that another process sent: as if not handled.
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
                return;
            }
            // Two threads may have run into the same file; one speaks, and ends both.
            while IS_REPORTED.swap(true, Ordering::Relaxed) {
                libc::pause();
            }
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(ExitStatus::Failed as c_int);
        }
    }
}
