//! Memory of an engine: measured in a process of its own, so that no other engine is in the figure.
//!
//! The program starts itself again with the same arguments and [`MEMORY_FLAG`]; that process reads the
//! corpus, builds the one engine, asks it everything once, and prints what the system says. Where the
//! system does not tell (anywhere but on Linux), there is no figure.

use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::corpus::Corpus;
use super::engine::{Engine, EngineError};

/// The flag, hidden from users, that asks for the memory of the engine named behind it.
pub const MEMORY_FLAG: &str = "--memory-of";

/// Resident memory of a process with one engine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Before the engine was built: the corpus, which all have.
    pub corpus: u64,
    /// After it was built.
    pub built: u64,
    /// After all URLs were decided once.
    pub asked: u64,
    /// The most at any time from the building on.
    pub peak: u64,
}

impl MemoryUse {
    /// One JSON object, as the process that started this one reads it.
    pub fn to_json(&self) -> String {
        crate::visible::to_json(self)
    }

    /// What the engine added to the corpus at its peak.
    pub fn added(&self) -> u64 {
        self.peak.saturating_sub(self.corpus)
    }

    /// Measures this process, which has measured nothing else: builds `engine` and asks it.
    ///
    /// # Errors
    ///
    /// If the engine fails, or the system does not tell.
    pub fn of(corpus: &Corpus, engine: &dyn Engine) -> Result<MemoryUse, EngineError> {
        let before = forget_peak().ok_or_else(untold)?;
        let files = corpus.files();
        let mut built = engine.build(&files)?;
        let after = status("VmRSS:").ok_or_else(untold)?;
        let asked_max = if engine.parses_each_time() { 1_000 } else { usize::MAX };
        let list = corpus.questions.sample(asked_max, 0);
        if built.matchers.pass(&list)?.is_none() {
            built.matchers.answers(&list)?;
        }
        Ok(MemoryUse {
            corpus: before,
            built: after,
            asked: status("VmRSS:").ok_or_else(untold)?,
            peak: status("VmHWM:").ok_or_else(untold)?,
        })
    }

    /// Has another process of this program measure the engine with this name.
    pub(super) fn by_child(name: &str) -> Option<MemoryUse> {
        let program = std::env::current_exe().ok()?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1)).arg(MEMORY_FLAG).arg(name);
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        serde_json::from_slice(&output.stdout).ok()
    }
}

/// What some work adds to a process, in bytes resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resident {
    /// Before the work.
    pub before: u64,
    /// The most at any time of it.
    pub peak: u64,
}

impl Resident {
    /// Does some work and asks the system how much memory the process held meanwhile. An allocator
    /// keeps what it had, so only a process that has done little else tells much.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn during<T>(work: impl FnOnce() -> T) -> Result<(Resident, T), EngineError> {
        let before = forget_peak().ok_or_else(untold)?;
        let done = work();
        Ok((Resident { before, peak: status("VmHWM:").ok_or_else(untold)? }, done))
    }
}

fn untold() -> EngineError {
    EngineError("this system does not tell the memory of a process".to_owned())
}

/// Forgets the peak of what was before, and tells what is held now. Where that is not possible, it
/// is in the figure.
fn forget_peak() -> Option<u64> {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    status("VmRSS:")
}

/// A figure of `/proc/self/status`, in bytes.
fn status(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes * 1024)
}
