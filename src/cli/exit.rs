//! The exit status: what each number means, once for the code, the help and the man page.

use std::process::ExitCode;

/// How the program ended. Scripts rely on the numbers; they do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// Done; for `check`: every URL is allowed.
    Done = 0,
    /// `check`: some URL is not allowed. `filter -e`: nothing was kept. `diff --exit-code`:
    /// something changed. `inspect`: no policy is known for the host. `lint --deny`: it was found.
    Negative = 1,
    /// Wrong usage, unreadable input, a damaged set, a mapped file that became shorter, or output that
    /// cannot be written.
    Failed = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status as u8)
    }
}

/// The meaning of each status, for help and man page.
pub const HELP: &str = "\
Exit status:
  0  done; for check: every URL is allowed
  1  check: some URL is disallowed, unknown or invalid; filter -e: nothing was kept;
     diff --exit-code: something changed; inspect: no policy is known for the host;
     lint --deny: something denied was found
  2  wrong usage, unreadable input, a damaged policy set, output that cannot be written; no
     half-written file is left. Where the program is killed (SIGKILL, a loss of power), a file
     that ends in .unfinished may stay beside the output: remove it";
