//! Policies of many origins: what is known of whom, before it is compiled for an agent.
//!
//! Owns the files and the origins that they speak for. [`PolicySet::load`] reads one file, which
//! then speaks for every URL, or a folder of files named by host. To ask a set about URLs make a
//! [`Classifier`](crate::batch::Classifier) for the agents that matter.
//!
//! Cost: each file is read once, equal files are kept once. A file that cannot be read is an error
//! that names it, unless [`Strictness`] says otherwise; what a folder holds beside files named by
//! host is left out with a [`LoadNote`], and a file that looks like HTML, JSON or binary data is
//! read and has one.

pub mod compile;
mod difference;
mod file;
mod folder;
#[cfg(test)]
mod format_tests;
mod gather;
mod layout;
mod origins;
mod pool;
mod provenance;
mod standing;
pub mod stored;
mod strings;
pub mod survey;

use std::path::{Path, PathBuf};

use crate::capture::CaptureError;
use crate::dialect::Dialect;
use crate::input::{InputError, read_robots_txt};
use crate::policy::PolicySource;
use crate::syntax::{NoteKind, RobotsTxt, appearance};
use crate::target::{BadUrl, Origin, SplitUrl, host_key};

pub use difference::{Change, ChangeCounts, Changes, Difference, OriginChange, OriginState};
pub use file::{Damage, SetError, WriteError};
pub use gather::{
    GatherConfig, GatherError, GatherObserver, Gathered, Input, InputReport, Merger, OutageConfig,
    Part, Progress, StandingCounts, gather, merge,
};
pub use origins::OriginTable;
pub use pool::{BlobID, BlobPool};
pub use provenance::{Provenance, ProvenanceInput};
pub use standing::{CaptureFacts, Content, HostStanding, Standing};
pub use stored::StoredSet;
pub use strings::StringError;

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub struct LoadConfig {
    /// The behaviour that policies will follow.
    pub dialect: &'static Dialect,
    /// Octets of a file that count; all, if there is no limit.
    pub robots_octets_max: Option<usize>,
}

/// The policies of many origins.
#[derive(Clone, Debug)]
pub struct PolicySet {
    config: LoadConfig,
    texts: Vec<Box<[u8]>>,
    scope: Scope,
    hash: u64,
    notes: Vec<LoadNote>,
}

#[derive(Clone, Debug)]
enum Scope {
    /// The first policy speaks for every URL.
    Everything,
    /// Each policy speaks for its origins.
    Origins(OriginTable),
}

/// How much may be wrong with what is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// What cannot be read is left out, with a note.
    Lenient,
    /// What cannot be read is an error; what makes no sense is left out, with a note.
    #[default]
    Usual,
    /// Every note is an error: files that are left out, and files that are HTML, JSON or no text.
    Strict,
}

/// Something odd about what was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadNote {
    /// Where it is.
    pub place: String,
    /// What is odd.
    pub kind: LoadNoteKind,
}

/// What is odd about something that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadNoteKind {
    /// It was left out, and why.
    LeftOut(String),
    /// It was read as the dialect says, found to have no rule, and looks like something else.
    Appearance(NoteKind),
}

impl std::fmt::Display for LoadNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            LoadNoteKind::LeftOut(problem) => write!(f, "{}: left out: {problem}", self.place),
            LoadNoteKind::Appearance(kind) => {
                write!(f, "{}: {}; read all the same, without a rule", self.place, kind.describe())
            }
        }
    }
}

/// What `text` looks like, if `config` finds no rule in it and it does not look like robots.txt.
fn appearance_of(text: &[u8], config: &LoadConfig) -> Option<NoteKind> {
    // Most files do not, and need not be parsed to see it.
    appearance(text)?;
    let file = RobotsTxt::parse(text, config.dialect, config.robots_octets_max);
    file.notes().iter().map(|note| note.kind).find(|kind| NoteKind::APPEARANCES.contains(kind))
}

/// Policies could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file could not be read, or is surely no robots.txt.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A folder could not be read.
    #[error(transparent)]
    Folder(#[from] CaptureError),
    /// A file of a folder could not be read.
    #[error("{problem} (--lenient leaves it out)")]
    Unreadable {
        /// Which one, and what the system says.
        problem: String,
    },
    /// A folder has no file named by a host.
    #[error("{}: has no file named by a host (example.com, example.com.txt or example.com.robots.txt); name the folder that holds them", path.display())]
    NoPolicy {
        /// Where it is.
        path: PathBuf,
    },
    /// Something is odd, and that was to be an error.
    #[error("{first} ({count} such files; drop --strict to allow them)")]
    Strict {
        /// The first note.
        first: LoadNote,
        /// The number of notes.
        count: usize,
    },
}

impl PolicySet {
    /// Reads a robots.txt file, which then speaks for every URL, or a folder of files named by host
    /// (`example.com`; `.txt` or `.robots.txt` behind it is allowed), each of which speaks for that
    /// host's http and https on their default ports. A port may follow the host (`a.example:8080`).
    ///
    /// Files are read as [`capture::folder`](crate::capture::folder) says: decompressed, the first
    /// by name of two for one host, and none that is surely of another kind.
    ///
    /// It runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If something cannot be read, or a folder has no file named by host.
    pub fn load(path: &Path, config: &LoadConfig) -> Result<PolicySet, LoadError> {
        PolicySet::load_with(path, config, Strictness::default())
    }

    /// As [`PolicySet::load`], more or less strict.
    ///
    /// # Errors
    ///
    /// As `strictness` says, and if a folder has no file named by host.
    pub fn load_with(
        path: &Path,
        config: &LoadConfig,
        strictness: Strictness,
    ) -> Result<PolicySet, LoadError> {
        let set = if path.is_dir() {
            folder::load(path, config, strictness)?
        } else {
            let text = read_robots_txt(path, config.robots_octets_max)?;
            let mut set = PolicySet::of_text(&text, config);
            set.notes.extend(appearance_of(&text, config).map(|kind| LoadNote {
                place: path.display().to_string(),
                kind: LoadNoteKind::Appearance(kind),
            }));
            set
        };
        match set.notes.first() {
            Some(first) if strictness == Strictness::Strict => {
                Err(LoadError::Strict { first: first.clone(), count: set.notes.len() })
            }
            _ => Ok(set),
        }
    }

    /// A set of one policy that speaks for every URL.
    pub fn of_text(text: &[u8], config: &LoadConfig) -> PolicySet {
        PolicySet {
            config: *config,
            texts: vec![text.into()],
            scope: Scope::Everything,
            hash: xxhash_rust::xxh3::xxh3_64(text),
            notes: Vec::new(),
        }
    }

    /// A set of one policy that speaks for `origins`; without any, every URL is unknown.
    ///
    /// ```
    /// use portcullis::dialect::RFC_9309;
    /// use portcullis::set::{LoadConfig, PolicySet};
    /// use portcullis::target::Origin;
    ///
    /// let config = LoadConfig { dialect: &RFC_9309, robots_octets_max: None };
    /// let origin = Origin::of_robots_txt(b"https://a.example:8181/robots.txt")?;
    /// let set = PolicySet::of_origins(b"User-agent: *\nDisallow: /\n", [&origin], &config);
    /// assert_eq!(set.origins(), Some(1));
    /// # Ok::<(), portcullis::target::BadUrl>(())
    /// ```
    pub fn of_origins<'o>(
        text: &'o [u8],
        origins: impl IntoIterator<Item = &'o Origin>,
        config: &LoadConfig,
    ) -> PolicySet {
        PolicySet::of_files(origins.into_iter().map(|origin| (origin, text)), config)
    }

    /// A set of files, each of which speaks for its origin. The first file of an origin counts.
    pub fn of_files<'f>(
        files: impl IntoIterator<Item = (&'f Origin, &'f [u8])>,
        config: &LoadConfig,
    ) -> PolicySet {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let mut table = OriginTable::default();
        let mut texts: Vec<Box<[u8]>> = Vec::new();
        for (origin, text) in files {
            if table.insert(origin.scheme().as_bytes(), origin.key().as_bytes(), texts.len() as u32)
            {
                texts.push(text.into());
                hash.update(origin.to_string().as_bytes());
                hash.update(&xxhash_rust::xxh3::xxh3_64(text).to_le_bytes());
            }
        }
        PolicySet {
            config: *config,
            texts,
            scope: Scope::Origins(table),
            hash: hash.digest(),
            notes: Vec::new(),
        }
    }

    /// The same files for the same origins, to be read by another dialect.
    pub fn in_dialect(&self, dialect: &'static Dialect) -> PolicySet {
        PolicySet { config: LoadConfig { dialect, ..self.config }, ..self.clone() }
    }

    /// The behaviour that policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        self.config.dialect
    }

    /// Octets of a file that count; all, if there is no limit.
    pub fn robots_octets_max(&self) -> Option<usize> {
        self.config.robots_octets_max
    }

    /// A hash (xxh3) of the hosts and their files: sets that were loaded from the same ones have
    /// the same.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The number of origins; none if the one policy speaks for everything.
    pub fn origins(&self) -> Option<usize> {
        match &self.scope {
            Scope::Everything => None,
            Scope::Origins(table) => Some(table.len()),
        }
    }

    /// The keys of all hosts, each with its policy for http (or its only scheme) and for https, in no
    /// particular order; nothing if the one policy speaks for everything.
    pub fn hosts(&self) -> impl Iterator<Item = (&[u8], [Option<u32>; 2])> {
        let table = match &self.scope {
            Scope::Everything => None,
            Scope::Origins(table) => Some(table),
        };
        table.into_iter().flat_map(OriginTable::hosts)
    }

    /// What was left out on loading, and what looks odd.
    pub fn notes(&self) -> &[LoadNote] {
        &self.notes
    }

    /// What is known, by policy.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = PolicySource<'_>> {
        self.texts.iter().map(|text| PolicySource::File(text))
    }

    /// The file of the policy at `policy`.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    pub fn text(&self, policy: usize) -> &[u8] {
        &self.texts[policy]
    }

    /// The policy that speaks for `url`, if there is one.
    ///
    /// # Errors
    ///
    /// If the URL's host is none, so that the record is no URL.
    #[inline]
    pub fn policy_of(
        &self,
        url: &SplitUrl<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<usize>, BadUrl> {
        let key = host_key(url, scratch)?;
        Ok(self.policy_of_key(url.scheme, key))
    }

    /// The policy that speaks for the origin with this scheme and key (see
    /// [`host_key`]), if there is one.
    #[inline]
    pub fn policy_of_key(&self, scheme: &[u8], key: &[u8]) -> Option<usize> {
        match &self.scope {
            Scope::Everything => Some(0),
            Scope::Origins(table) => table.get(scheme, key).map(|policy| policy as usize),
        }
    }
}

impl PolicySet {
    /// As [`PolicySet::policy_of_key`] for a block of origins, each scheme and key, whose policies are
    /// handed out in order. `hashes` is memory that is used again.
    #[inline]
    pub fn policies_of_keys(
        &self,
        origins: &[(&[u8], &[u8])],
        hashes: &mut Vec<u64>,
        mut found: impl FnMut(usize, Option<u32>),
    ) {
        match &self.scope {
            Scope::Everything => (0..origins.len()).for_each(|number| found(number, Some(0))),
            Scope::Origins(table) => table.find_block(origins, hashes, found),
        }
    }
}

/// A number that differs where a dialect's behaviour does. What it cites does not count.
fn fingerprint(dialect: &Dialect) -> u64 {
    let Dialect { lines, groups, paths, access, .. } = dialect;
    xxhash_rust::xxh3::xxh3_64(format!("{lines:?}{groups:?}{paths:?}{access:?}").as_bytes())
}
