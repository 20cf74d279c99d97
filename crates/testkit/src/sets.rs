//! Sets of many files, each at an origin of its own, in each form that a set has.

#![allow(unsafe_code, reason = "maps files that it has just made")]

use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{LoadConfig, Standings, load_files, load_text};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::URL_BYTES_MAX;
use portcullis_robots::url::{Origin, host_key, split};
use portcullis_set::PolicySet;
use portcullis_set::limits::SET_BLOCK_BYTES;
use tempfile::NamedTempFile;
use twox_hash::XxHash3_64;

/// The form of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Compiled into memory.
    Compiled,
    /// Read from a file.
    Read,
    /// Mapped from a file.
    Mapped,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 3] = [Form::Compiled, Form::Read, Form::Mapped];
}

/// Returns the origin of the file with this number in a set of many files.
pub fn origin(file: usize) -> String {
    format!("{}://f{file}.example", ["https", "http"][file % 2])
}

/// Returns [`origin`] as the engine reads it.
pub fn parsed_origin(file: usize) -> Origin {
    let url = format!("{}/robots.txt", origin(file));
    Origin::from_robots_txt(url.as_bytes()).expect("a robots.txt")
}

/// Returns `url` with the origin of the file with this number, and the same path and query. `None`
/// if `url` is not an http or https URL, if its compared path begins within its authority, or if
/// only one of the two URLs exceeds the maximum length.
pub fn at_origin(url: &[u8], dialect: &Dialect, file: usize) -> Option<Vec<u8>> {
    let parts = split(url, dialect.paths.path_start).ok()?;
    host_key(&parts, &mut Vec::new()).ok()?;
    let scheme = parts.scheme;
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let start = scheme.as_ptr().addr() - url.as_ptr().addr();
    let authority = &url[start + scheme.len() + "://".len()..];
    let is_end = |byte: &u8| b"/?#".contains(byte);
    let end = authority.iter().position(is_end).unwrap_or(authority.trim_ascii_end().len());
    if authority[..end].iter().any(|byte| dialect.paths.path_start.contains(byte)) {
        return None;
    }
    let moved = [&url[..start], origin(file).as_bytes(), &authority[end..]].concat();
    let is_long = |url: &[u8]| url.len() > URL_BYTES_MAX;
    (is_long(url) == is_long(&moved)).then_some(moved)
}

/// Returns the set of `files`, each of which applies to its [`origin`], and nothing else, in this form.
pub fn set_of(
    form: Form,
    files: &[impl AsRef<[u8]>],
    reading: (&'static Dialect, Option<usize>),
) -> Arc<PolicySet> {
    set_at(form, &files_at_origins(files), reading)
}

pub(crate) fn files_at_origins(files: &[impl AsRef<[u8]>]) -> Vec<(Origin, &[u8])> {
    files.iter().enumerate().map(|(file, text)| (parsed_origin(file), text.as_ref())).collect()
}

/// Returns the set of files at these origins, in this form.
pub fn set_at(
    form: Form,
    files: &[(Origin, &[u8])],
    reading: (&'static Dialect, Option<usize>),
) -> Arc<PolicySet> {
    if form == Form::Compiled {
        return compiled_at(files, reading).into();
    }
    let config = CompileConfig::new(reading.0, reading.1);
    let bytes = compile::to_vec(&standings_at(files, reading), &config);
    opened(form, &bytes.expect("memory takes it"))
}

/// Returns what is known of the origins of files.
pub(crate) fn standings_at(
    files: &[(Origin, &[u8])],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
) -> Standings {
    let config = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    Standings::from_files(files.iter().map(|(origin, text)| (origin, *text)), &config)
}

/// Compiles files at these origins into memory.
pub(crate) fn compiled_at(
    files: &[(Origin, &[u8])],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
) -> PolicySet {
    let config = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    load_files(files.iter().map(|(origin, text)| (origin, *text)), &config)
}

/// Opens the bytes of a set as a file.
pub(crate) fn opened(form: Form, bytes: &[u8]) -> Arc<PolicySet> {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("the disk takes it");
    let opened = match form {
        // SAFETY: no other code knows the file, and it is removed without changing it.
        Form::Mapped => unsafe { PolicySet::map(file.path()) },
        _ => PolicySet::open(file.path()),
    };
    opened.expect("it was just made").into()
}

/// Compiles a file that applies to every URL.
pub fn set_everywhere(
    text: &[u8],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
) -> Arc<PolicySet> {
    let config = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    load_text(text, &config).into()
}

/// Returns the kind and the bytes of each section of a set file (`FORMAT.md`, section 4).
pub fn sections(file: &[u8]) -> Vec<(u32, Range<usize>)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
    let section = |number: usize| {
        let (entry, start) = (256 + 24 * number, long(256 + 24 * number + 8) as usize);
        (word(entry), start..start + long(entry + 16) as usize)
    };
    (0..word(12) as usize).map(section).collect()
}

/// Writes the checksums of a set file whose data was changed (`FORMAT.md`, sections 3 and 5). The
/// content hash, which only verifying compares, stays.
pub fn reseal(file: &mut [u8]) {
    let end = sections(file).last().map_or(SET_BLOCK_BYTES, |(_, bytes)| bytes.end);
    let mut level = SET_BLOCK_BYTES..end.next_multiple_of(SET_BLOCK_BYTES);
    while !level.is_empty() && level.end < file.len() {
        let (start, blocks) = (level.end, level.clone().step_by(SET_BLOCK_BYTES));
        for (number, block) in blocks.enumerate() {
            let checksum = XxHash3_64::oneshot(&file[block..block + SET_BLOCK_BYTES]);
            file[start + 8 * number..][..8].copy_from_slice(&checksum.to_le_bytes());
        }
        let bytes = 8 * level.len() / SET_BLOCK_BYTES;
        level = start..start + bytes.next_multiple_of(SET_BLOCK_BYTES);
    }
    let root = XxHash3_64::oneshot(&file[level]);
    file[56..64].copy_from_slice(&root.to_le_bytes());
    let header = XxHash3_64::oneshot(&file[..SET_BLOCK_BYTES - 8]);
    file[SET_BLOCK_BYTES - 8..SET_BLOCK_BYTES].copy_from_slice(&header.to_le_bytes());
}
