//! What a figure depends on beside the code: processor, cores, compiler, versions, the day.

use std::process::Command;
use std::time::SystemTime;

use serde::Serialize;

use crate::access::UnixSeconds;

/// The versions of packages that were built.
const LOCK: &str = include_str!("../../Cargo.lock");

/// A machine, and what is on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The processor's name, as the system tells.
    pub processor: String,
    /// Threads that run at once.
    pub cores: usize,
    /// The operating system and the architecture.
    pub system: String,
    /// What `rustc --version` says now; the binary may have been built by another.
    pub compiler: String,
    /// Processes that were ready to run, on average over a minute, before anything was measured.
    pub load: Option<String>,
    /// When it was measured (RFC 3339).
    pub date: String,
}

impl Machine {
    /// The one that this runs on.
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

/// The processor's name, where the system tells.
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

/// The version of a package that this was built with; the newest, if something else needs an older
/// one too.
pub fn locked_version(package: &str) -> &'static str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let entries = LOCK.split(entry.as_str()).skip(1);
    entries.last().and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(locked_version("portcullis"), env!("CARGO_PKG_VERSION"));
        assert!(locked_version("regex-automata").starts_with("0.4."));
        assert_eq!(locked_version("no such package"), "");
    }
}
