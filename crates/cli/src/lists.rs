//! The files that arguments name: files, folders, patterns and files of names, in a fixed order.
//!
//! [`expand`] is for lists of URLs, [`expand_captures`] for archives. Archives may be folders of files
//! named by host, which are inputs as they are.
//!
//! A folder expands to all files below it, sorted by name. Names that begin with `.` or `_`
//! (`_SUCCESS`, `.part.crc`) are left out with a note, as in other readers of data folders, and so are
//! pipes and devices. An argument that is not a file and has `*`, `?` or `[` is a pattern, for systems
//! whose shell does not expand patterns. `@FILE` names a file with one of these on each line, for more than a command
//! line holds; a file whose own name begins with `@` is `./@NAME`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use portcullis_captures::{CaptureFormat, folder};
use portcullis_files::error::system_text;
use portcullis_rows::list::ListFormat;
use portcullis_text::figures::few;
use walkdir::WalkDir;

use super::limits::NAMES_FILE_BYTES_MAX;
use super::message::{Notes, counted};
use super::output::{OutputFile, OutputFolder};

/// A list to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// The path relative to the argument that named the file. It becomes the name of the output in
    /// a folder.
    pub below: PathBuf,
}

/// Returns the lists that `arguments` name. Adds a note if names were left out.
///
/// # Errors
///
/// If a folder cannot be read or has no list, or no file matches a pattern.
pub fn expand<'a>(
    arguments: impl IntoIterator<Item = &'a Path>,
    notes: &mut Notes,
) -> anyhow::Result<Vec<Input>> {
    Found::default().all(arguments, notes)
}

/// Returns the archives that `arguments` name, of which a folder of robots.txt files is one. Adds a
/// note if names were left out.
///
/// # Errors
///
/// As for [`expand`], and if a folder has archives and files named by host.
pub fn expand_captures<'a>(
    arguments: impl IntoIterator<Item = &'a Path>,
    format: Option<CaptureFormat>,
    notes: &mut Notes,
) -> anyhow::Result<Vec<Input>> {
    Found { captures: Some(format), ..Found::default() }.all(arguments, notes)
}

/// Returns the lists that an argument names, as far as they can be read: [`expand`] reports failures.
pub fn expand_quietly(argument: &Path) -> Vec<Input> {
    let mut found = Found::default();
    let _ = found.add(argument);
    found.inputs
}

/// Like [`expand_quietly`], for [`expand_captures`] without a format.
pub fn expand_captures_quietly(argument: &Path) -> Vec<Input> {
    let mut found = Found { captures: Some(None), ..Found::default() };
    let _ = found.add(argument);
    found.inputs
}

/// Returns FILE of an argument `@FILE`.
pub fn file_of_names(argument: &Path) -> Option<&Path> {
    argument.to_str()?.strip_prefix('@').map(Path::new)
}

/// The files found so far.
#[derive(Default)]
struct Found {
    inputs: Vec<Input>,
    /// The number of names in folders that were left out.
    hidden: u64,
    /// For archives, the format that is given for all.
    captures: Option<Option<CaptureFormat>>,
    /// The entries that were left out because they are neither files nor folders. A pipe may never end.
    special: Vec<String>,
}

fn file(path: PathBuf) -> Input {
    let below = path.file_name().unwrap_or(OsStr::new("-")).into();
    Input { path, below }
}

fn is_pattern(argument: &Path) -> bool {
    let has_wildcard = argument.as_os_str().as_encoded_bytes().iter().any(|it| b"*?[".contains(it));
    has_wildcard && argument.symlink_metadata().is_err()
}

/// Returns the names in a file, one on each line.
fn names_in(file: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let shown = file.display();
    let read = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        File::open(file)?.take(NAMES_FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error| anyhow!("{shown}: {}", system_text(&error)))?;
    ensure!(
        text.len() as u64 <= NAMES_FILE_BYTES_MAX,
        "{shown}: longer than {NAMES_FILE_BYTES_MAX} bytes; is it a file of names?"
    );
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty());
    let names = lines.map(|line| path_of(line).with_context(|| format!("{shown}: not UTF-8")));
    let names: Vec<PathBuf> = names.collect::<anyhow::Result<_>>()?;
    ensure!(!names.is_empty(), "{shown}: names no file");
    Ok(names)
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    str::from_utf8(name).ok().map(PathBuf::from)
}

impl Found {
    fn all<'a>(
        mut self,
        arguments: impl IntoIterator<Item = &'a Path>,
        notes: &mut Notes,
    ) -> anyhow::Result<Vec<Input>> {
        arguments.into_iter().try_for_each(|argument| self.add(argument))?;
        if self.hidden > 0 {
            let hidden = counted(self.hidden, "name");
            notes.add(format!("{hidden} with a leading . or _ left out of folders"));
        }
        if !self.special.is_empty() {
            let special = few(self.special.iter().map(String::as_str), usize::MAX);
            notes.add(format!("{special}: left out: not a regular file"));
        }
        Ok(self.inputs)
    }

    fn add(&mut self, argument: &Path) -> anyhow::Result<()> {
        match file_of_names(argument) {
            Some(file) => names_in(file)?.iter().try_for_each(|name| self.add_named(name)),
            None => self.add_named(argument),
        }
    }

    fn add_named(&mut self, argument: &Path) -> anyhow::Result<()> {
        if argument.is_dir() {
            self.add_folder(argument)
        } else if is_pattern(argument) {
            self.add_matching(argument)
        } else {
            self.inputs.push(file(argument.to_owned()));
            Ok(())
        }
    }

    /// Adds the files that match `pattern`, and the files in folders that match.
    fn add_matching(&mut self, pattern: &Path) -> anyhow::Result<()> {
        let name = pattern.display();
        let text = pattern.to_str().with_context(|| format!("{name}: no such file"))?;
        let before = self.inputs.len();
        // What is no pattern was meant as a name.
        let no_file = |_| anyhow!("{name}: no such file or directory");
        for path in glob::glob(text).map_err(no_file)? {
            let path = path?;
            match path.metadata() {
                Ok(metadata) if metadata.is_dir() => self.add_folder(&path)?,
                Ok(metadata) if !metadata.is_file() => self.leave_out(&path),
                Ok(_) | Err(_) => self.inputs.push(file(path)),
            }
        }
        ensure!(self.inputs.len() > before, "{name}: no file matches");
        Ok(())
    }

    /// Adds a folder of robots.txt files, or the files below another one.
    fn add_folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        match self.captures {
            Some(None) if !has_archives(folder)? => self.inputs.push(file(folder.to_owned())),
            Some(Some(CaptureFormat::Folder)) => self.inputs.push(file(folder.to_owned())),
            Some(Some(_)) if of_hosts(folder) => {
                bail!("{}: a folder of files named by host; omit --input-format", folder.display())
            }
            _ => self.add_below(folder)?,
        }
        Ok(())
    }

    /// Leaves out an entry that is neither a file nor a folder.
    fn leave_out(&mut self, entry: &Path) {
        self.special.push(entry.display().to_string());
    }

    /// Adds the files below `folder`.
    fn add_below(&mut self, folder: &Path) -> anyhow::Result<()> {
        let before = self.inputs.len();
        let mut walk = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = entry.map_err(|error| walk_error(folder, error))?;
            let is_hidden = matches!(entry.file_name().as_encoded_bytes(), [b'.' | b'_', ..]);
            if is_hidden && entry.depth() > 0 {
                self.hidden += 1;
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
            } else if entry.file_type().is_dir() {
                // Its entries follow.
            } else if !entry.file_type().is_file() {
                self.leave_out(entry.path());
            } else {
                let below = entry.path().strip_prefix(folder).unwrap_or(entry.path()).to_owned();
                self.inputs.push(Input { path: entry.into_path(), below });
            }
        }
        ensure!(
            self.inputs.len() > before,
            "{}: the folder has no {}",
            folder.display(),
            if self.captures.is_some() { "archive" } else { "list" }
        );
        Ok(())
    }
}

fn is_archive(path: &Path) -> bool {
    CaptureFormat::from_name(path).is_some()
}

/// Returns the first file of a folder that is named by a host, and the first archive, by its name.
fn kinds_in(folder: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let (mut host, mut archive) = (None, None);
    // A folder that cannot be listed is reported when it is opened.
    for (path, is_read) in folder::entries(folder).into_iter().flatten() {
        match is_read {
            _ if is_archive(&path) && path.is_file() => archive = archive.or(Some(path)),
            true => host = host.or(Some(path)),
            false => {}
        }
    }
    (host, archive)
}

/// Whether a folder has robots.txt files and no archives.
fn of_hosts(folder: &Path) -> bool {
    matches!(kinds_in(folder), (Some(_), None))
}

/// Whether a folder has archives, by their names, instead of robots.txt files.
///
/// # Errors
///
/// If it has both.
fn has_archives(folder: &Path) -> anyhow::Result<bool> {
    match kinds_in(folder) {
        (Some(host), Some(archive)) => bail!(
            "{}: has archives ({}) and files named by host ({}); name the archives, or read the others \
             with --input-format folder",
            folder.display(),
            archive.display(),
            host.display()
        ),
        (Some(_), None) => Ok(false),
        (None, Some(_)) => Ok(true),
        // Archives may lie deeper.
        (None, None) => {
            let files = WalkDir::new(folder).follow_links(true).into_iter().flatten();
            Ok(files.into_iter().any(|it| it.file_type().is_file() && is_archive(it.path())))
        }
    }
}

fn walk_error(folder: &Path, error: walkdir::Error) -> anyhow::Error {
    let path = error.path().unwrap_or(folder).display().to_string();
    match error.io_error() {
        Some(error) => anyhow!("{path}: {}", system_text(error)),
        None => {
            anyhow!("{path}: a symbolic link to a folder above it; remove it, or name the files")
        }
    }
}

/// Returns one output path in `folder` for each of `inputs`, with the extension of `format` if the
/// output's format is not the list's.
///
/// # Errors
///
/// If two inputs have the same output, or standard input is an input.
pub fn outputs(
    inputs: &[Input],
    folder: &OutputFolder,
    extension: Option<&str>,
) -> anyhow::Result<Vec<OutputFile>> {
    let mut written = HashMap::new();
    let mut outputs = Vec::with_capacity(inputs.len());
    for Input { path, below } in inputs {
        ensure!(path.as_os_str() != "-", "--out-dir needs files; standard input has no name");
        let name = match extension {
            Some(extension) => renamed(below, extension),
            // The records of a sitemap are lines, not XML; those of WARC too.
            None if ListFormat::from_name(below).is_some_and(ListFormat::becomes_lines) => {
                renamed(below, "txt")
            }
            None => below.clone(),
        };
        let output = folder.file(name);
        if let Some(other) = written.insert(output.to_path_buf(), path) {
            bail!(
                "{} and {} would both be written to {}; run them one after the other",
                other.display(),
                path.display(),
                output.display()
            );
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Returns `name` with the extension of another format, keeping the extension of its compression.
fn renamed(name: &Path, extension: &str) -> PathBuf {
    let coding = name
        .extension()
        .filter(|it| it.eq_ignore_ascii_case("gz") || it.eq_ignore_ascii_case("zst"));
    let bare = if coding.is_some() { name.with_extension("") } else { name.to_owned() };
    let is_format = ListFormat::from_name(&bare).is_some()
        || bare.extension().is_some_and(|it| it.eq_ignore_ascii_case("txt"));
    let mut renamed = if is_format { bare.with_extension("") } else { bare }.into_os_string();
    // Parquet compresses its columns itself.
    let coding = coding.filter(|_| extension != "parquet");
    for part in [Some(OsStr::new(extension)), coding].into_iter().flatten() {
        renamed.push(".");
        renamed.push(part);
    }
    renamed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_keep_their_compression() {
        for (name, expected) in [
            ("urls.txt", "urls.tsv"),
            ("urls", "urls.tsv"),
            ("urls.txt.gz", "urls.tsv.gz"),
            ("sub/a.csv.ZST", "sub/a.tsv.ZST"),
            ("crawl.log", "crawl.log.tsv"),
        ] {
            assert_eq!(renamed(Path::new(name), "tsv"), Path::new(expected));
        }
    }
}
