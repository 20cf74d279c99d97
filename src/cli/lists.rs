//! The lists that arguments name: files, folders and patterns, in a fixed order.
//!
//! A folder expands to all files below it, sorted by name. Names that begin with `.` or `_`
//! (`_SUCCESS`, `.part.crc`) are left out with a note, as in other readers of data folders. An
//! argument that is not a file and has `*`, `?` or `[` is a pattern, for systems whose shell does
//! not expand patterns.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use portcullis_io::input::system_text;
use portcullis_io::list::ListFormat;
use walkdir::WalkDir;

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
    let mut found = Found::default();
    arguments.into_iter().try_for_each(|argument| found.add(argument))?;
    if found.hidden > 0 {
        let hidden = counted(found.hidden, "name");
        notes.add(format!("{hidden} with a leading . or _ left out of folders"));
    }
    Ok(found.inputs)
}

/// Returns the lists that an argument names, as far as they can be read: [`expand`] reports failures.
pub fn expand_quietly(argument: &Path) -> Vec<Input> {
    let mut found = Found::default();
    let _ = found.add(argument);
    found.inputs
}

/// The lists found so far.
#[derive(Default)]
struct Found {
    inputs: Vec<Input>,
    /// The number of names in folders that were left out.
    hidden: u64,
}

fn file(path: PathBuf) -> Input {
    let below = path.file_name().unwrap_or(OsStr::new("-")).into();
    Input { path, below }
}

fn is_pattern(argument: &Path) -> bool {
    let has_wildcard = argument.as_os_str().as_encoded_bytes().iter().any(|it| b"*?[".contains(it));
    has_wildcard && argument.symlink_metadata().is_err()
}

impl Found {
    fn add(&mut self, argument: &Path) -> anyhow::Result<()> {
        if argument.is_dir() {
            self.add_below(argument)
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
        for path in glob::glob(text).with_context(|| format!("{name}: not a pattern"))? {
            let path = path?;
            match path.is_dir() {
                true => self.add_below(&path)?,
                false => self.inputs.push(file(path)),
            }
        }
        ensure!(self.inputs.len() > before, "{name}: no file matches");
        Ok(())
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
            } else if !entry.file_type().is_dir() {
                let below = entry.path().strip_prefix(folder).unwrap_or(entry.path()).to_owned();
                self.inputs.push(Input { path: entry.into_path(), below });
            }
        }
        ensure!(self.inputs.len() > before, "{}: the folder has no list", folder.display());
        Ok(())
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
            // The records of a sitemap are lines, not XML.
            None if ListFormat::of_name(below) == Some(ListFormat::Sitemap) => {
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
    let is_format = ListFormat::of_name(&bare).is_some()
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
