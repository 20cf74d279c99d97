//! Signal handlers. None of these signals leaves an unfinished output.
//!
//! - SIGBUS is raised if a mapped list or set is truncated while it is read, or its disk fails. No
//!   code can continue after that, so the handler writes a message, removes unfinished outputs, and
//!   exits with status 2. A stack overflow that raises the same signal, as on macOS, ends with the
//!   same message.
//! - SIGXFSZ, the limit on file sizes (`ulimit -f`), is ignored, so that the write fails instead:
//!   the output is removed and the message names it.
//! - SIGINT, SIGTERM and SIGHUP end the program as usual, after unfinished outputs are removed. A
//!   handler may not remove files, so it wakes a thread that does. A signal that was ignored from
//!   the start (`nohup`, a shell's `&`) stays ignored.
//!
//! The standard library has no handlers, hence the `unsafe`. Other programs that use the library
//! must guard their own mappings.

#![allow(unsafe_code, reason = "handles signals")]

/// Installs the handlers. Called once, before a file is mapped or written. If installing fails, the
/// default actions stay in effect.
#[cfg(unix)]
pub fn install() {
    unix::install();
}

/// Does nothing, because this system does not truncate mapped files.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read};
    use std::os::fd::IntoRawFd;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
    use std::thread;

    use libc::{BUS_ADRERR, SA_ONSTACK, SA_RESTART, SA_SIGINFO, SIGBUS, SIGXFSZ};
    use libc::{SIGHUP, SIGINT, SIGTERM, c_int, c_void, siginfo_t};
    use portcullis_files::atomic_file;

    use crate::exit::ExitStatus;

    const MESSAGE: &[u8] = b"error: a mapped file became shorter while it was read, \
        or its disk failed; run again when nothing writes to the inputs and policies\n";

    pub(super) fn install() {
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        // SAFETY: all zeros is a valid sigaction; the fields that matter are set. The handler has
        // the signature that SA_SIGINFO asks for, and only calls functions that are safe in a
        // handler. No other code in this process sets a handler for SIGBUS after the standard
        // library's at startup, whose alternate stacks SA_ONSTACK keeps in use. A signal may be
        // ignored at any time.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(SIGBUS, &raw const action, std::ptr::null_mut());
            libc::signal(SIGXFSZ, libc::SIG_IGN);
        }
        // If the thread or pipe cannot be created, signals may leave an unfinished output.
        let _ = handle_ends();
    }

    /// The end of the pipe that a handler writes to.
    static WAKE: AtomicI32 = AtomicI32::new(-1);

    /// Lets a thread handle the signals that end the program.
    fn handle_ends() -> io::Result<()> {
        let (mut woken, wake) = io::pipe()?;
        WAKE.store(wake.into_raw_fd(), Ordering::Relaxed);
        thread::Builder::new().name("signals".into()).spawn(move || {
            let mut signal = [0];
            if woken.read_exact(&mut signal).is_ok() {
                atomic_file::abandon();
                // SAFETY: a signal's default action may be restored, and the signal raised, at any
                // time; the default of these is to end the process.
                unsafe {
                    libc::signal(c_int::from(signal[0]), libc::SIG_DFL);
                    libc::raise(c_int::from(signal[0]));
                }
            }
        })?;
        let handler: extern "C" fn(c_int) = on_end;
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            // SAFETY: all zeros is a valid sigaction; the fields that matter are set. The handler
            // has the signature of one without SA_SIGINFO, and only calls functions that are safe
            // in a handler.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &raw mut action);
                if action.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = SA_RESTART | SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
        Ok(())
    }

    extern "C" fn on_end(signal: c_int) {
        let byte = signal as u8;
        // SAFETY: write may be called in a handler. A pipe takes a byte and leaves errno alone; the
        // first one ends the process.
        unsafe {
            libc::write(WAKE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);

        // SAFETY: the system hands a valid siginfo_t to a handler with SA_SIGINFO. signal, raise,
        // pause, write and _exit may be called in a handler, and an atomic may be used there.
        unsafe {
            if (*info).si_code != BUS_ADRERR {
                // Another cause, such as a signal from another process: the default action.
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
                return;
            }
            // Two threads may read the same file; one reports it and ends both.
            while IS_REPORTED.swap(true, Ordering::Relaxed) {
                libc::pause();
            }
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            // The interrupted code read mapped memory. It was not in a system function and held no
            // lock, so more may be called here than in other handlers.
            atomic_file::abandon();
            libc::_exit(ExitStatus::Failed as c_int);
        }
    }
}
