//! Describes the machine (processor, compiler, versions, date), and measures memory.
//!
//! An engine's memory is measured in a separate process, so that no other engine is included. The
//! program starts itself again with the same arguments and [`MEMORY_FLAG`]. That process reads the
//! corpus, builds one engine, decides every question once and prints the memory that the system
//! reports. Only Linux reports memory; other systems have no figure.

use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use portcullis_io::access::UnixSeconds;

use super::corpus::Corpus;
use super::engine::{Engine, EngineError};

/// The hidden flag that prints the memory of the engine named after it.
pub const MEMORY_FLAG: &str = "--memory-of";

/// A machine and its software.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name, as the system reports it.
    pub processor: String,
    /// The number of threads that run at once.
    pub cores: usize,
    /// The operating system and the architecture.
    pub system: String,
    /// The output of `rustc --version` now; another version may have built the binary.
    pub compiler: String,
    /// The load average over a minute before anything was measured.
    pub load: Option<String>,
    /// The time of the measurement (RFC 3339).
    pub date: String,
}

impl Machine {
    /// Describes the current machine.
    pub fn here() -> Machine {
        let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let load = std::fs::read_to_string("/proc/loadavg").ok();
        Machine {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            compiler: compiler().unwrap_or_else(|| "rustc is not found".to_owned()),
            load: load.and_then(|load| load.split(' ').next().map(str::to_owned)),
            date: UnixSeconds(seconds.map_or(0, |seconds| seconds.as_secs())).to_rfc3339(),
        }
    }
}

fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    let name = model.map(|name| name.trim_start_matches([' ', '\t', ':']));
    name.unwrap_or("an unknown processor").to_owned()
}

fn compiler() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(version.trim().to_owned()).filter(|version| !version.is_empty())
}

/// Returns the version of a package in the text of a lock file. If there are several, the newest;
/// if there is none, an empty string.
pub fn locked_version<'l>(lock: &'l str, package: &str) -> &'l str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let entries = lock.split(entry.as_str()).skip(1);
    entries.last().and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// The resident memory of a process with one engine, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The memory before the engine was built: the corpus, which is the same for every engine.
    pub corpus: u64,
    /// The memory after the engine was built.
    pub built: u64,
    /// The memory after all URLs were decided once.
    pub asked: u64,
    /// The peak from the start of the build.
    pub peak: u64,
}

impl MemoryUse {
    /// Returns the JSON object that the parent process reads.
    pub fn to_json(&self) -> String {
        portcullis_robots::json::to_json(self)
    }

    /// Returns the memory that the engine added to the corpus at its peak.
    pub fn added(&self) -> u64 {
        self.peak.saturating_sub(self.corpus)
    }

    /// Measures `engine`: builds it and decides every question once. Call it in a process that has
    /// not measured other engines.
    ///
    /// # Errors
    ///
    /// If the engine fails, or the system does not report memory.
    pub fn of<'c>(corpus: &'c Corpus, engine: &Engine<'c>) -> Result<MemoryUse, EngineError> {
        let (resident, done) = Resident::during(|| {
            let mut matcher = (engine.build)(&corpus.files())?.matcher;
            let built = status("VmRSS:");
            let asked_max = if engine.reads_each_time { 1_000 } else { usize::MAX };
            matcher.pass(&corpus.questions.sample(asked_max, 0))?;
            Ok((built, status("VmRSS:")))
        })?;
        let (built, asked) = done?;
        Ok(MemoryUse {
            corpus: resident.before,
            built: built.ok_or_else(unreported)?,
            asked: asked.ok_or_else(unreported)?,
            peak: resident.peak,
        })
    }

    /// Measures the engine called `name` in another process of this program. `None` if that fails.
    pub(super) fn by_child(name: &str) -> Option<MemoryUse> {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args(std::env::args_os().skip(1)).arg(MEMORY_FLAG).arg(name);
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        serde_json::from_slice(&output.stdout).ok()
    }
}

/// The resident memory of a process before and during some work, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resident {
    /// The memory before the work.
    pub before: u64,
    /// The peak during the work.
    pub peak: u64,
}

impl Resident {
    /// Runs `work` and measures the memory of the process. An allocator keeps memory from earlier
    /// work, so the figure is most meaningful in a process that has done little else.
    ///
    /// # Errors
    ///
    /// If the system does not report memory.
    pub fn during<T>(work: impl FnOnce() -> T) -> Result<(Resident, T), EngineError> {
        // Resets the peak. If that is impossible, an earlier peak is part of the figure.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = status("VmRSS:").ok_or_else(unreported)?;
        let done = work();
        Ok((Resident { before, peak: status("VmHWM:").ok_or_else(unreported)? }, done))
    }
}

fn unreported() -> EngineError {
    EngineError("this system does not report the memory of a process".to_owned())
}

/// Returns a figure in `/proc/self/status`, in bytes.
fn status(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock =
            "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\nname = \"a\"\nversion = \"2.1.0\"\n";
        assert_eq!(locked_version(lock, "a"), "2.1.0");
        assert_eq!(locked_version(lock, "b"), "");
    }
}
