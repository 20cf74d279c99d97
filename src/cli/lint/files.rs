//! The files that `lint` looks at.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use portcullis::input::{read_robots_txt, read_robots_txt_from, system_text};

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
    pub(super) fn read(&self, bytes_max: Option<usize>) -> anyhow::Result<Input> {
        match self {
            Source::StandardInput => {
                let name = "<stdin>".to_owned();
                Ok(Input { text: read_robots_txt_from(&name, io::stdin(), bytes_max)?, name })
            }
            Source::Path(path) => {
                Ok(Input { text: read_robots_txt(path, bytes_max)?, name: super::shown(path) })
            }
            Source::Unlisted(path, error) => {
                Err(anyhow!("{}: {}", path.display(), system_text(error)))
            }
        }
    }

    /// The path that can be written to.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Source::Path(path) => Some(path),
            Source::StandardInput | Source::Unlisted(..) => None,
        }
    }
}
