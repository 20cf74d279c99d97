//! Robots.txt files, compiled into memory for `--robots`.
//!
//! Owns compiling a file, or a folder of files named by host, to a [`PolicySet`] in memory. The
//! readers and sections are shared with `compile`, so both give the same verdicts.
//!
//! Cost: each file is read and parsed once, identical files are stored once, identical rule sets
//! compiled once; some 20 µs per file of a crawl. A file that cannot be read is an error
//! that names it, unless [`Strictness`] is lenient. Files of a folder that are not named by a host
//! are left out with a [`LoadNote`]. A file that looks like HTML, JSON or binary data, or that is
//! longer than the size limit, is parsed and has a note too.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_build::{LoadConfig, load_text};
//!
//! let config = LoadConfig::new(&RFC_9309);
//! let set = load_text(b"User-agent: *\nDisallow: /private\n", &config);
//! assert_eq!(set.counts().policies, 1);
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;

use portcullis_captures::{BrokenKind, CaptureFormat, check_file, folder};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::input::{InputError, STANDARD_INPUT, read_robots_txt};
use portcullis_robots::access::CaptureNote;
use portcullis_robots::syntax::{NoteKind, begins_as_html};
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;
use portcullis_set::layout::EVERY_HOST;
use portcullis_set::lists::lists;
use portcullis_set::stored::{CaptureFacts, Place, key_with_scheme, place};

use super::Strictness;
use super::compile::{self, CompileConfig, CompileError};
use super::ingest::{IngestConfig, Ingested, Input, NO_RECORD, file_of, ingest};
use crate::hosts::Standings;
use crate::ingest::IngestError;
use crate::pool::BlobPool;
use crate::provenance::InputReport;
use crate::standing::{Content, HostStanding, Standing};

/// Settings for reading and compiling files.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// The dialect that policies follow.
    pub dialect: &'static Dialect,
    /// The number of bytes of a file that are read; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// Which notes and faults are errors.
    pub strictness: Strictness,
    /// Whether usage preferences are asked for, so that those that cannot be read have notes.
    pub reads_usage: bool,
}

impl LoadConfig {
    /// Compiles with the default size limit.
    pub fn new(dialect: &'static Dialect) -> LoadConfig {
        LoadConfig {
            dialect,
            robots_bytes_max: Some(ROBOTS_BYTES_MAX),
            strictness: Strictness::default(),
            reads_usage: false,
        }
    }
}

/// The name of a file that is not named by a host.
const ROBOTS_TXT: &str = "robots.txt";

/// The loaded policies.
#[derive(Debug)]
pub struct Loaded {
    /// The compiled files.
    pub set: PolicySet,
    /// The first 10 files that were left out, and all notes on files that were read.
    pub notes: Vec<LoadNote>,
    /// The number of files that were left out.
    pub left_out: u64,
}

/// A note on a loaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadNote {
    /// The file or host.
    pub place: String,
    /// The kind of note.
    pub kind: LoadNoteKind,
}

/// The kind of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadNoteKind {
    /// The file was left out, for this reason.
    LeftOut(String),
    /// The file was parsed by the dialect and has this note of [`NoteKind::OF_FILES`].
    File(NoteKind),
    /// The file has this note, and rules nonetheless.
    FileWithRules(NoteKind),
    /// The file has rules, all of them before the first user-agent line.
    NoGroup,
    /// The file names a usage preference that it does not state.
    UsageIgnored,
    /// The file has text, and no line of it is a record that robots.txt has: it may be a log or a table,
    /// or what a failed download left.
    NoRecord,
}

impl std::fmt::Display for LoadNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_left_out = matches!(self.kind, LoadNoteKind::LeftOut(_));
        let left_out = if is_left_out { "left out: " } else { "" };
        let (problem, effect) = self.kind.problem();
        write!(f, "{}: {left_out}{problem}{effect}", self.place)
    }
}

impl LoadNoteKind {
    /// Returns the problem, and its effect on a file that is read.
    fn problem(&self) -> (String, &'static str) {
        const NO_RULES: &str = "; treated as a file without rules";
        match self {
            LoadNoteKind::LeftOut(problem) => (problem.clone(), ""),
            LoadNoteKind::File(kind @ NoteKind::FileCut) => {
                (format!("{}; ‹max_robots_size› reads more", kind.describe()), "")
            }
            LoadNoteKind::File(kind) => (kind.describe().to_owned(), NO_RULES),
            LoadNoteKind::FileWithRules(kind) => {
                (kind.describe().to_owned(), "; its records are read anyway")
            }
            LoadNoteKind::NoGroup => (
                "no user-agent line is before a rule".to_owned(),
                "; its rules apply to no crawler",
            ),
            LoadNoteKind::UsageIgnored => (
                "a usage preference cannot be read".to_owned(),
                ", and counts as not stated; portcullis lint shows it",
            ),
            LoadNoteKind::NoRecord => (NO_RECORD.to_owned(), NO_RULES),
        }
    }
}

/// An error of loading policies.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file could not be read, or is certainly not robots.txt.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A folder or a file of it could not be read, or the folder has no file named by a host.
    #[error("{0}")]
    Folder(String),
    /// There is a note, and strictness makes it an error.
    #[error("{}: {} ({}omit ‹strict› to allow {})", first.place, first.kind.problem().0, match more {
        0 => String::new(),
        1 => "and 1 more note; ".to_owned(),
        more => format!("and {more} more notes; "),
    }, if *more == 0 { "it" } else { "them" })]
    Strict {
        /// The first note.
        first: LoadNote,
        /// The number of other notes.
        more: u64,
    },
    /// The files cannot be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Loaded {
    /// Returns the number of notes, including those that are not listed.
    pub fn note_count(&self) -> u64 {
        let is_of_file = |note: &&LoadNote| !matches!(note.kind, LoadNoteKind::LeftOut(_));
        self.left_out + self.notes.iter().filter(is_of_file).count() as u64
    }
}

/// Reads a robots.txt file, which then applies to every URL, or a folder of files named by
/// host, each of which applies to http and https on the default ports of its host.
/// [`capture::folder`](portcullis_captures::folder) lists the possible names. `-` is standard
/// input.
///
/// Runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If a file cannot be read, a note is an error by [`LoadConfig::strictness`], or a folder has no file
/// named by a host.
pub fn load(path: &Path, config: &LoadConfig) -> Result<Loaded, LoadError> {
    if path.is_dir() {
        let loaded = load_folder(path, config)?;
        check_notes(&loaded.notes, loaded.note_count(), config)?;
        return Ok(loaded);
    }
    let (text, notes) = read_text(path, config)?;
    let set = of_text(&path.display().to_string(), &text, config)?;
    Ok(Loaded { set, notes, left_out: 0 })
}

/// Compiles one file that applies to every URL.
///
/// # Panics
///
/// If a line is longer than a set can hold
/// ([`SET_STRING_BYTES_MAX`](portcullis_set::limits::SET_STRING_BYTES_MAX)).
pub fn load_text(text: &[u8], config: &LoadConfig) -> PolicySet {
    of_text("the file in memory", text, config).expect("one file fits a set")
}

/// Compiles files, each of which applies to its origin. The first file of an origin counts. URLs
/// of other origins are unknown.
///
/// ```
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_build::{LoadConfig, load_files};
/// use portcullis_robots::url::Origin;
///
/// let origin = Origin::from_robots_txt(b"https://a.example:8181/robots.txt")?;
/// let text = &b"User-agent: *\nDisallow: /\n"[..];
/// let set = load_files([(&origin, text)], &LoadConfig::new(&RFC_9309));
/// assert_eq!(set.counts().origins, 1);
/// # Ok::<(), portcullis_robots::url::BadUrl>(())
/// ```
///
/// # Panics
///
/// As [`load_text`].
pub fn load_files<'f>(
    files: impl IntoIterator<Item = (&'f Origin, &'f [u8])>,
    config: &LoadConfig,
) -> PolicySet {
    let standings = Standings::from_files(files, config);
    compiled("the files in memory", standings, config).expect("files that a set can hold")
}

impl Standings {
    /// Returns what is known of origins that have these files, as for [`load_files`].
    pub fn from_files<'f>(
        files: impl IntoIterator<Item = (&'f Origin, &'f [u8])>,
        config: &LoadConfig,
    ) -> Standings {
        let mut pool = BlobPool::default();
        let mut hosts: BTreeMap<Box<[u8]>, HostStanding> = BTreeMap::new();
        // Half of the files of a crawl are identical files that some software writes.
        let mut known: HashMap<&[u8], Standing, foldhash::fast::RandomState> = HashMap::default();
        for (origin, text) in files {
            let (scheme, host) = (origin.scheme().as_bytes(), origin.key());
            let place = place(scheme);
            let key: Box<[u8]> = match place {
                Place::Other => key_with_scheme(scheme, host.as_bytes()).into(),
                Place::Http | Place::Https => host.as_bytes().into(),
            };
            let new = HostStanding { key: key.clone(), ..HostStanding::default() };
            let host = hosts.entry(key).or_insert(new);
            let standing = if place == Place::Https { &mut host.https } else { &mut host.http };
            standing.get_or_insert_with(|| {
                *known.entry(text).or_insert_with(|| standing_of(text, config, &mut pool))
            });
        }
        Standings::in_memory(hosts.into_values(), pool)
    }
}

/// Reads a robots.txt file. Also returns the notes on it.
///
/// # Errors
///
/// If the file cannot be read, or has a note and [`LoadConfig::strictness`] makes that an error.
pub fn read_text(path: &Path, config: &LoadConfig) -> Result<(Vec<u8>, Vec<LoadNote>), LoadError> {
    let text = read_robots_txt(path, config.robots_bytes_max)?;
    check_file(&text).map_err(|problem| InputError::list(path, problem))?;
    let notes = notes_on(path, &text, config);
    check_notes(&notes, notes.len() as u64, config)?;
    Ok((text, notes))
}

/// Fails if there are notes, `count` in all, and they are errors.
fn check_notes(notes: &[LoadNote], count: u64, config: &LoadConfig) -> Result<(), LoadError> {
    match notes.first() {
        Some(first) if config.strictness == Strictness::Strict => {
            Err(LoadError::Strict { first: first.clone(), more: count - 1 })
        }
        _ => Ok(()),
    }
}

fn notes_on(path: &Path, text: &[u8], config: &LoadConfig) -> Vec<LoadNote> {
    let mut facts = CaptureFacts::default();
    let file = file_of(text, config.dialect, config.robots_bytes_max, &mut facts);
    let has_rules = !file.rules().is_empty();
    let mut notes: Vec<_> = notes_of_file(&facts, has_rules, config.reads_usage).collect();
    // The note of the parser on a file without rules says that it states nothing.
    if !has_rules && !file.usage_records().is_empty() && begins_as_html(text) {
        notes.push(LoadNoteKind::FileWithRules(NoteKind::LooksLikeHtml));
    }
    notes.into_iter().map(|kind| note_on(path, kind)).collect()
}

fn note_on(path: &Path, kind: LoadNoteKind) -> LoadNote {
    let is_standard_input = path == Path::new("-");
    let name = path.display().to_string();
    LoadNote { place: if is_standard_input { STANDARD_INPUT.to_owned() } else { name }, kind }
}

fn of_text(name: &str, text: &[u8], config: &LoadConfig) -> Result<PolicySet, CompileError> {
    let mut pool = BlobPool::default();
    let standing = standing_of(text, config, &mut pool);
    let (http, https) = (Some(standing), Some(standing));
    let host = HostStanding { key: EVERY_HOST.into(), http, https, resources: None };
    let standings = Standings::in_memory([host], pool);
    Ok(compiled(name, standings, config)?.speaking_for_everything())
}

/// Returns the standing of an origin that has this file.
fn standing_of(text: &[u8], config: &LoadConfig, pool: &mut BlobPool) -> Standing {
    let mut facts = CaptureFacts { status: 200, ..CaptureFacts::default() };
    let file = file_of(text, config.dialect, config.robots_bytes_max, &mut facts);
    let [extract, others] =
        lists(&file, text).map(|bytes| pool.intern(&bytes).expect("memory has no error"));
    let has_rules = !file.rules().is_empty();
    Standing { content: Content::from_file(extract, others, has_rules, facts.file_notes), facts }
}

/// Returns the notes that concern the rules of the whole file, and its usage preferences if they are read.
fn notes_of_file(
    facts: &CaptureFacts,
    has_rules: bool,
    reads_usage: bool,
) -> impl Iterator<Item = LoadNoteKind> {
    let &CaptureFacts { file_notes, capture_notes, .. } = facts;
    let kinds = NoteKind::OF_FILES.into_iter().filter(move |&kind| file_notes.contains(kind));
    let notes = kinds.map(move |kind| match has_rules && NoteKind::APPEARANCES.contains(&kind) {
        true => LoadNoteKind::FileWithRules(kind),
        false => LoadNoteKind::File(kind),
    });
    let has_no_record = capture_notes.contains(CaptureNote::NoRecord);
    let has_no_group = !has_rules && file_notes.contains(NoteKind::RuleOutsideGroup);
    let of_text = [
        has_no_record.then_some(LoadNoteKind::NoRecord),
        has_no_group.then_some(LoadNoteKind::NoGroup),
        (reads_usage && file_notes.contains(NoteKind::UsageIgnored))
            .then_some(LoadNoteKind::UsageIgnored),
    ];
    notes.chain(of_text.into_iter().flatten())
}

fn compiled(
    name: &str,
    standings: Standings,
    config: &LoadConfig,
) -> Result<PolicySet, CompileError> {
    let compiling = CompileConfig::new(config.dialect, config.robots_bytes_max);
    let bytes = compile::to_memory(&standings, &compiling)?;
    Ok(PolicySet::from_compiled(name, bytes))
}

fn load_folder(path: &Path, config: &LoadConfig) -> Result<Loaded, LoadError> {
    let input = Input { path: path.to_owned(), format: Some(CaptureFormat::Folder) };
    let ingesting = IngestConfig {
        strictness: Strictness::Lenient,
        ..IngestConfig::new(config.dialect, config.robots_bytes_max)
    };
    let (ingested, report) = match ingest(&[input], &ingesting, &()) {
        Ok(mut ingested) => {
            let report = ingested.inputs.remove(0);
            (Some(ingested), report)
        }
        Err(IngestError::Scratch(error)) => return Err(CompileError::from(error).into()),
        Err(IngestError::Refused { mut inputs, .. }) => (None, inputs.remove(0)),
    };
    let InputReport { broken_named, broken, unreadable, failure, .. } = report;
    if let Some(problem) = failure {
        return Err(LoadError::Folder(problem));
    }
    if unreadable > 0 && config.strictness != Strictness::Lenient {
        let first = broken_named.iter().find(|it| it.kind == BrokenKind::Unreadable);
        let problem = match first {
            Some(first) => format!("{}: {}: {}", path.display(), first.place, first.problem),
            None => format!("{}: {unreadable} files cannot be read", path.display()),
        };
        return Err(LoadError::Folder(format!("{problem} (‹lenient› leaves it out)")));
    }
    let Some(Ingested { standings, .. }) = ingested else {
        let robots_txt = path.join(ROBOTS_TXT);
        let advice = match broken_named.first() {
            _ if robots_txt.is_file() => {
                let file = robots_txt.display();
                format!("pass ‹robots› {file} to apply its robots.txt to every URL")
            }
            Some(first) => format!("{}: {}", first.place, first.problem),
            None => "name the folder that holds such files".to_owned(),
        };
        let (folder, names) = (path.display(), folder::NAMES);
        let problem = format!("{folder}: no file is named by a host ({names}); {advice}");
        return Err(LoadError::Folder(problem));
    };
    let place = |name: &str| format!("{}: {name}", path.display());
    let left_out = broken_named
        .into_iter()
        .map(|it| LoadNote { place: place(&it.place), kind: LoadNoteKind::LeftOut(it.problem) });
    let mut notes: Vec<LoadNote> = left_out.collect();
    let hosts = standings.to_vec().map_err(CompileError::from)?;
    for host in &hosts {
        let standing = host.http.or(host.https);
        let has_rules = |it: &Standing| matches!(it.content, Content::File { has_rules: true, .. });
        let kinds = |it: Standing| {
            notes_of_file(&it.facts, has_rules(&it), config.reads_usage).collect::<Vec<_>>()
        };
        let place = || place(&String::from_utf8_lossy(&host.key));
        let kinds = standing.into_iter().flat_map(kinds);
        notes.extend(kinds.map(|kind| LoadNote { place: place(), kind }));
    }
    let standings = Standings::in_memory(hosts, standings.pool);
    let set = compiled(&path.display().to_string(), standings, config)?;
    Ok(Loaded { set, notes, left_out: broken })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;

    const TEXT: &[u8] = b"User-agent: a\nDisallow: /a\n\nUser-agent: b\nDisallow: /b\n";

    /// A message of a server in place of a file allows everything, and is noted.
    #[test]
    fn text_without_a_record_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        for (text, has_no_record) in [
            ("Bad gateway, try later\n", true),
            ("Not Found\n", true),
            ("\u{feff}Not Found\n", true),
            ("Not Found\nThe service is not available\n", true),
            ("\u{feff}", false),
            ("# Not Found\n", false),
            ("Sitemap: /s\nNot Found\n", false),
            ("User-agent: *\nNot Found\n", false),
            ("", false),
        ] {
            let path = folder.path().join("a.example");
            std::fs::write(&path, text).unwrap();
            for dialect in Dialect::ALL {
                // The limit cuts longer texts after their first line.
                let config = LoadConfig { robots_bytes_max: Some(30), ..LoadConfig::new(dialect) };
                for path in [path.as_path(), folder.path()] {
                    let notes = load(path, &config).unwrap().notes;
                    let is_noted = notes.iter().any(|it| it.kind == LoadNoteKind::NoRecord);
                    assert_eq!(is_noted, has_no_record, "{text:?} {}: {notes:?}", dialect.name);
                }
            }
        }
    }

    #[test]
    fn one_file_applies_to_every_host() {
        let set = load_text(TEXT, &LoadConfig::new(&RFC_9309));
        assert!(set.is_universal());
        for (scheme, key) in [("http", "a.example"), ("gopher", "b.example:71"), ("https", "*")] {
            let policy = set.policy_of(scheme.as_bytes(), key.as_bytes()).unwrap();
            assert_eq!(policy.unwrap().index(), 0);
        }
    }
}
