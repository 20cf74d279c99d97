//! Handles of policy sets, with the methods that are kept stable.

mod asking;
#[cfg(feature = "compile")]
mod compile;

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use portcullis_dialect::{Dialect, PolicyState};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::batch::AskError;
use portcullis_set::stored::{StoredHost, StoredPolicy};
use portcullis_set::{self as set, Damage};

pub use asking::{Answers, Classifier, Session};
#[cfg(feature = "compile")]
pub use compile::{CompileConfig, Compiled, Loaded, compile, load, load_files, load_text};

/// The reason why a set cannot be opened, compiled or queried.
///
/// Its text names the file, what is wrong and what to do.
#[derive(Debug)]
pub struct SetError(Box<dyn Error + Send + Sync>);

impl SetError {
    fn new(error: impl Error + Send + Sync + 'static) -> SetError {
        SetError(Box::new(error))
    }

    fn misuse(text: &'static str) -> SetError {
        SetError(text.into())
    }

    /// Returns whether the bytes of the set are damaged, or changed while it was used: fetch or
    /// compile it again.
    pub fn is_damage(&self) -> bool {
        let of_set = |it: &set::SetError| {
            matches!(it, set::SetError::Damaged(_) | set::SetError::Truncated { .. })
        };
        let of_question = |it: &AskError| matches!(it, AskError::Damaged(_));
        self.0.is::<Damage>()
            || self.0.downcast_ref().is_some_and(of_set)
            || self.0.downcast_ref().is_some_and(of_question)
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// The policies of many origins, in memory or mapped from a file. A clone shares them.
///
/// ```
/// # #[cfg(feature = "compile")] {
/// use portcullis::set::load;
/// use portcullis::{CompileConfig, PolicyState, RFC_9309};
///
/// let set = load("corpora/sample/robots", &CompileConfig::new(&RFC_9309))?.set;
/// let shop = set.origins().find(|it| it.as_ref().is_ok_and(|it| it.origin() == "https://shop.example"));
/// let shop = shop.unwrap()?;
/// assert_eq!(shop.state()?, PolicyState::Rules);
/// assert_eq!(shop.with_file(|file| file.groups().len())?, 3);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`PolicySet::map`] reads the header, so it takes the same time for ten hosts and ten million. Any
/// bytes may be opened: what is read is compared with checksums, and damage is a [`SetError`], never a
/// decision.
#[derive(Clone, Debug)]
pub struct PolicySet(Arc<set::PolicySet>);

impl PolicySet {
    /// Reads the set at `path` into memory. If only a small part of a large set is needed, use
    /// [`PolicySet::map`].
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a set that this version can read.
    pub fn open(path: impl AsRef<Path>) -> Result<PolicySet, SetError> {
        opened(set::PolicySet::open(path.as_ref()))
    }

    /// Opens the set at `path` by mapping it: only touched pages are read, and processes share them.
    /// A file that the system cannot map is read instead.
    ///
    /// # Safety
    ///
    /// The file must not be truncated or rewritten while the set lives, because its bytes are used in
    /// place as shared slices. Renaming another file over it is safe, and what `compile` does.
    ///
    /// If it is truncated nevertheless, touching a lost page raises SIGBUS, and the rest of the last
    /// page reads as zeros. [`Session::decide`] compares the length after every block and then returns
    /// an error. Other readers must call [`PolicySet::check_unchanged`] before they use what they read.
    ///
    /// # Errors
    ///
    /// As [`PolicySet::open`].
    #[allow(unsafe_code, reason = "passes the contract on")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<PolicySet, SetError> {
        // SAFETY: the caller upholds the contract.
        opened(unsafe { set::PolicySet::map(path.as_ref()) })
    }

    /// Opens a copy of a set in memory. `name` is its name in messages.
    ///
    /// # Errors
    ///
    /// If the bytes are not a set that this version can read.
    pub fn from_bytes(name: &str, bytes: impl AsRef<[u8]>) -> Result<PolicySet, SetError> {
        opened(set::PolicySet::from_bytes(name, bytes))
    }

    /// Returns the name in messages: the path of a file.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the dialect that the policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        self.0.dialect()
    }

    /// Returns the hash of the content, in hexadecimal digits. Sets that were compiled from the same
    /// captures have the same hash.
    pub fn hash(&self) -> String {
        self.0.hash().to_string()
    }

    /// Returns the number of origins with a known policy.
    pub fn origin_count(&self) -> u64 {
        self.0.counts().origins
    }

    /// Returns whether the set has history: what was in force at each time.
    pub fn has_history(&self) -> bool {
        self.0.has_history()
    }

    /// Fails if the file was written to after it was opened. Call it after reading a mapped set and
    /// before using what was read. Costs a system call if the set is mapped, and nothing otherwise.
    ///
    /// # Errors
    ///
    /// If the file changed.
    pub fn check_unchanged(&self) -> Result<(), SetError> {
        self.0.is_whole().map_err(SetError::new)
    }

    /// Returns the origins with a known policy, in the order of the set. Each is an error if the part
    /// of the set that holds it is damaged.
    pub fn origins(&self) -> impl Iterator<Item = Result<OriginPolicy<'_>, SetError>> {
        self.0.hosts().flat_map(move |host| {
            let (host, damage) = match host {
                Ok(host) => (Some(host), None),
                Err(damage) => (None, Some(Err(SetError::new(damage)))),
            };
            let policies = host.into_iter().flat_map(move |host| {
                host.schemes().map(move |https| self.origin_policy(host, https))
            });
            policies.chain(damage)
        })
    }

    fn origin_policy<'s>(
        &'s self,
        host: StoredHost<'s>,
        https: bool,
    ) -> Result<OriginPolicy<'s>, SetError> {
        let number = host.policy(https).expect("a scheme of a host has a policy");
        let policy = self.0.policy(number).map_err(SetError::new)?;
        Ok(OriginPolicy { host, https, policy })
    }
}

fn opened(set: Result<set::PolicySet, set::SetError>) -> Result<PolicySet, SetError> {
    set.map(|set| PolicySet(Arc::new(set))).map_err(SetError::new)
}

/// The entry of one origin in a set.
#[derive(Clone, Copy, Debug)]
pub struct OriginPolicy<'s> {
    host: StoredHost<'s>,
    https: bool,
    policy: StoredPolicy<'s>,
}

impl OriginPolicy<'_> {
    /// Returns the origin, such as `https://example.com`.
    pub fn origin(&self) -> String {
        String::from_utf8_lossy(&self.host.origin(self.https)).into_owned()
    }

    /// Returns whether there is a file, and whether it has rules.
    ///
    /// # Errors
    ///
    /// If this part of the set is damaged, as for all methods.
    pub fn state(&self) -> Result<PolicyState, SetError> {
        self.policy.state().map_err(SetError::new)
    }

    /// Returns the time of the newest capture; `None` if it is not known.
    pub fn captured_at(&self) -> Result<Option<SystemTime>, SetError> {
        let capture = self.host.capture(self.https).map_err(SetError::new)?;
        Ok(capture.and_then(|it| it.facts.captured_at).map(system_time))
    }

    /// Calls `read` with the groups, rules and usage records of the file, with the lines that they
    /// have there. Other records are not stored, and there are no notes.
    pub fn with_file<T>(&self, read: impl FnOnce(&RobotsTxt<'_>) -> T) -> Result<T, SetError> {
        self.policy.with_file(|file, _| read(file)).map_err(SetError::new)
    }
}

fn system_time(time: UnixSeconds) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(time.0)
}

/// Returns the seconds of a time; 0 before 1970, when nothing was captured.
fn unix_seconds(time: SystemTime) -> UnixSeconds {
    UnixSeconds(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}
