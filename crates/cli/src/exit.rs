//! The exit statuses, defined once for the code, the help and the man page.

/// The exit status of the program. The numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// Success; for `check`, every URL is allowed.
    Done = 0,
    /// A negative answer. See `HELP`.
    Negative = 1,
    /// Failure.
    Failed = 2,
}

/// The statuses for help and man page.
pub const HELP: &str = "\
Exit status:
  0  Success. check: every URL is allowed. lint: no error. diff: no change.
  1  check: a URL is disallowed, unknown or invalid. inspect SET HOST: the
     set has no policy for the host. lint: an error, or with --fail a
     warning. diff: a change. filter --fail: nothing was kept.
  2  Wrong usage, unreadable input, a damaged policy set, or output that
     cannot be written. check, diff: a list has no URL. diff of two
     robots.txt files: an answer is unknown, and none is different.
     No partial output file is left; standard output may end early. If the
     program is killed (SIGKILL, power loss), a file whose name ends in
     .unfinished may remain next to the output; the next run that writes
     this output removes it.";
