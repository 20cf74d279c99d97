//! The files that `lint` looks at.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

/// Where a file comes from.
pub(super) enum Source {
    StandardInput,
    Path(PathBuf),
    /// A folder that could not be listed.
    Unlisted(PathBuf, io::Error),
}

/// A file that was read.
pub(super) struct Input {
    /// Its name, as it is shown.
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// The files that `paths` stand for, those of a folder by name.
pub(super) fn list(paths: &[PathBuf]) -> Vec<Source> {
    let mut sources = Vec::new();
    for path in paths {
        if path.as_os_str() == OsStr::new("-") {
            sources.push(Source::StandardInput);
        } else if path.is_dir() {
            walk(path, &mut sources);
        } else {
            sources.push(Source::Path(path.clone()));
        }
    }
    sources
}

/// Appends all files below `folder`. A link to a folder is not followed, because it may lead back.
fn walk(folder: &Path, sources: &mut Vec<Source>) {
    let listed = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
    let mut paths: Vec<PathBuf> = match listed {
        Ok(paths) => paths,
        Err(error) => return sources.push(Source::Unlisted(folder.to_owned(), error)),
    };
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            if !path.is_symlink() {
                walk(&path, sources);
            }
        } else {
            sources.push(Source::Path(path));
        }
    }
}

impl Source {
    /// Reads as much of the file as counts, and a little more, so that it is seen what was cut.
    pub(super) fn read(&self, octets_max: Option<usize>) -> anyhow::Result<Input> {
        /// A line end is two octets at most.
        const SEEN_PAST_MAX: u64 = 2;
        let octets = octets_max.map_or(u64::MAX, |octets| octets as u64 + SEEN_PAST_MAX);
        let mut text = Vec::new();
        let name = match self {
            Source::StandardInput => {
                let read = io::stdin().lock().take(octets).read_to_end(&mut text);
                read.context("cannot read standard input: check what it is connected to")?;
                "<stdin>".to_owned()
            }
            Source::Path(path) => {
                let read =
                    File::open(path).and_then(|file| file.take(octets).read_to_end(&mut text));
                read.with_context(|| {
                    format!("cannot read {}: check its name and permissions", path.display())
                })?;
                super::shown(path)
            }
            Source::Unlisted(path, error) => {
                return Err(anyhow!(
                    "cannot list the folder {}: check its permissions: {error}",
                    path.display()
                ));
            }
        };
        Ok(Input { name, text })
    }

    /// The path that can be written to.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) => Some(path),
            Source::StandardInput | Source::Unlisted(..) => None,
        }
    }
}
