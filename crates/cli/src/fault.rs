//! Signal handlers. None of these signals leaves an unfinished output.
//!
//! - SIGBUS is raised if a mapped list or set is truncated while it is read, or its disk fails. No
//!   code can continue after that. The handler has a small stack, so it stops its thread and wakes another
//!   one, which writes a message with the name of the file, removes unfinished outputs, and exits with
//!   status 2. A stack overflow that raises the same signal, as on macOS, ends with the same message.
//! - SIGXFSZ, the limit on file sizes (`ulimit -f`), is ignored, so that the write fails instead:
//!   the output is removed and the message names it.
//! - SIGINT, SIGTERM and SIGHUP end the program as usual, after unfinished outputs are removed. A
//!   handler may not remove files, so it wakes a thread that does. A signal that was ignored from
//!   the start (`nohup`, a shell's `&`) stays ignored. The process dies by the signal, so that a loop in
//!   a shell ends with it. On Windows, Ctrl-C and the end of a session do the same, with status 130.
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

/// Installs a handler for Ctrl-C and the end of the session. This system does not truncate mapped files.
#[cfg(not(unix))]
pub fn install() {
    // The status of a process that Ctrl-C ended, as shells on other systems have it.
    const INTERRUPTED: i32 = 130;
    // Without the handler, an unfinished output may be left.
    let _ = ctrlc::set_handler(|| {
        portcullis_files::atomic_file::abandon();
        std::process::exit(INTERRUPTED);
    });
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read};
    use std::os::fd::IntoRawFd;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
    use std::thread;

    use libc::{BUS_ADRERR, SA_ONSTACK, SA_RESTART, SA_SIGINFO, SIGBUS, SIGXFSZ};
    use libc::{SIGHUP, SIGINT, SIGTERM, c_int, c_void, siginfo_t};
    use portcullis_files::atomic_file;

    use crate::exit::ExitStatus;
    use crate::message::say;

    /// The message if no other thread can write one.
    const MESSAGE: &[u8] = b"error: a mapped file became shorter while it was read; run again\n";

    pub(super) fn install() {
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_bus_error;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for. No other code in this process
        // sets a handler for SIGBUS after the standard library's at startup, whose alternate stacks
        // SA_ONSTACK keeps in use. A signal may be ignored at any time.
        unsafe {
            set(SIGBUS, handler as libc::sighandler_t, SA_SIGINFO);
            libc::signal(SIGXFSZ, libc::SIG_IGN);
        }
        // If the thread or pipe cannot be created, signals may leave an unfinished output.
        let _ = handle_ends();
    }

    /// Sets the handler of a signal.
    ///
    /// # Safety
    ///
    /// The handler has the signature that `flags` ask for, and only calls functions that are safe in one.
    unsafe fn set(signal: c_int, handler: libc::sighandler_t, flags: c_int) {
        // SAFETY: all zeros is a valid sigaction; the fields that matter are set.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = flags | SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }

    /// The end of the pipe that a handler writes to.
    static WAKE: AtomicI32 = AtomicI32::new(-1);

    /// The message of a handler: the signal, and the address of an access.
    type Woken = [u8; 1 + size_of::<usize>()];

    /// Wakes the thread that handles signals. Returns whether there is one.
    fn wake(signal: c_int, address: usize) -> bool {
        let mut message: Woken = [signal as u8; size_of::<Woken>()];
        message[1..].copy_from_slice(&address.to_ne_bytes());
        // SAFETY: write may be called in a handler. A pipe takes a few bytes at once and leaves errno
        // alone; the first signal ends the process.
        unsafe {
            libc::write(WAKE.load(Ordering::Relaxed), message.as_ptr().cast(), message.len()) > 0
        }
    }

    /// Lets a thread handle the signals that end the program.
    fn handle_ends() -> io::Result<()> {
        let (mut woken, wake) = io::pipe()?;
        WAKE.store(wake.into_raw_fd(), Ordering::Relaxed);
        thread::Builder::new().name("signals".into()).spawn(move || {
            let mut message: Woken = Default::default();
            if woken.read_exact(&mut message).is_ok() {
                end(message);
            }
        })?;
        let handler: extern "C" fn(c_int) = on_end;
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            // SAFETY: all zeros is a valid sigaction, and the handler has the signature of one without
            // SA_SIGINFO.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, std::ptr::null(), &raw mut action);
                if action.sa_sigaction != libc::SIG_IGN {
                    set(signal, handler as libc::sighandler_t, SA_RESTART);
                }
            }
        }
        Ok(())
    }

    /// Ends the process after a signal.
    fn end([signal, address @ ..]: Woken) {
        let signal = c_int::from(signal);
        if signal == SIGBUS {
            report_lost_page(usize::from_ne_bytes(address));
        }
        atomic_file::abandon();
        // SAFETY: a process may end at any time, and a signal's default action may be restored, and the
        // signal raised; the default of the others is to end the process.
        unsafe {
            if signal == SIGBUS {
                libc::_exit(ExitStatus::Failed as c_int);
            }
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    extern "C" fn on_end(signal: c_int) {
        wake(signal, 0);
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);

        // SAFETY: the system hands a valid siginfo_t to a handler with SA_SIGINFO, whose address is that of
        // the access. signal, raise, pause, write and _exit may be called in a handler, and an atomic may
        // be used there.
        unsafe {
            if (*info).si_code != BUS_ADRERR {
                // Another cause, such as a signal from another process: the default action.
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
                return;
            }
            // Two threads may read the same file; one reports it and ends both. The interrupted code read
            // mapped memory, so it holds no lock that the other thread needs.
            if !IS_REPORTED.swap(true, Ordering::Relaxed)
                && !wake(signal, (*info).si_addr() as usize)
            {
                libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
                libc::_exit(ExitStatus::Failed as c_int);
            }
            loop {
                libc::pause();
            }
        }
    }

    /// Writes the message about a file whose page at an address is lost.
    fn report_lost_page(address: usize) {
        let name = mapped_at(address).unwrap_or_else(|| "a mapped file".to_owned());
        say(format_args!(
            "error: {name} became shorter while it was read, or its disk failed; run again when nothing \
             writes to the inputs and policies"
        ));
    }

    /// Returns the file that is mapped at an address, as Linux names it; `None` on other systems.
    fn mapped_at(address: usize) -> Option<String> {
        let maps = std::fs::read("/proc/self/maps").ok()?;
        let maps = String::from_utf8_lossy(&maps);
        // 7f1c00000000-7f1c00001000 r--s 00000000 fd:01 1234   /a/urls.txt
        let is_at = |line: &&str| {
            let ends = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = ends.map(|(start, end)| {
                [start, end].map(|end| usize::from_str_radix(end, 16).unwrap_or_default())
            });
            ends.is_some_and(|[start, end]| (start..end).contains(&address))
        };
        let line = maps.lines().find(is_at)?;
        let path = &line[line.find('/')?..];
        let path = Path::new(path.strip_suffix(" (deleted)").unwrap_or(path));
        let here = std::env::current_dir().ok();
        let shown = here.and_then(|here| path.strip_prefix(here).ok());
        Some(shown.unwrap_or(path).display().to_string())
    }
}
