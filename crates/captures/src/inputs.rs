//! The archives that arguments name: files, folders, patterns and files of names.
//!
//! A folder of files named by host is an archive as it is; of any other folder, the files below it are.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_files::expand::{self, Expanded};
use portcullis_files::input::{InputError, Source};
use walkdir::WalkDir;

use super::format::look;
use super::{CaptureFormat, folder};

/// Returns the archives that `arguments` name. `format` is the format of all, if it is given.
///
/// # Errors
///
/// As for [`expand`](expand::expand), and if a folder has archives and files named by host.
pub fn expand<'a>(
    arguments: impl IntoIterator<Item = &'a Path>,
    format: Option<CaptureFormat>,
) -> Result<Expanded, InputError> {
    expand::expand(arguments, "archive", &|folder| match format {
        None => Ok(!has_archives(folder)?),
        Some(CaptureFormat::Folder) => Ok(true),
        Some(_) if matches!(kinds_in(folder), (Some(_), None)) => Err(InputError::list(
            folder,
            "a folder of files named after their hosts; omit ‹input_format›",
        )),
        Some(_) => Ok(false),
    })
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

/// Returns the first folder in `folder` whose files are named by host, and the first of them is surely no
/// archive.
fn folder_of_hosts(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| it.is_dir()).collect();
    folders.sort_unstable();
    folders.into_iter().find(|it| match kinds_in(it) {
        (Some(file), None) => file.is_file() && is_no_archive(&file),
        _ => false,
    })
}

/// Whether a file can be read, and is in no format of archives.
fn is_no_archive(file: &Path) -> bool {
    Source::open(file).is_ok_and(|source| look(file, &mut source.in_utf8()).is_err())
}

/// Whether a folder has archives, by their names, instead of robots.txt files.
fn has_archives(folder: &Path) -> Result<bool, InputError> {
    match kinds_in(folder) {
        (Some(host), Some(archive)) => {
            let problem = format!(
                "has archives ({0}) and files named after hosts ({1}); compile the files with compile -o hosts.pcs \
                 ‹input_format› folder {2}, then both with compile -o SET hosts.pcs {0}",
                archive.display(),
                host.display(),
                folder.display()
            );
            Err(InputError::list(folder, problem))
        }
        (None, Some(archive)) => match folder_of_hosts(folder) {
            Some(hosts) => {
                let problem = format!(
                    "has archives ({}) and a folder of files named after hosts ({}); name them instead of {}",
                    archive.display(),
                    hosts.display(),
                    folder.display()
                );
                Err(InputError::list(folder, problem))
            }
            None => Ok(true),
        },
        (Some(_), None) => Ok(false),
        // Archives may lie deeper.
        _ => {
            let files = WalkDir::new(folder).follow_links(true).into_iter().flatten();
            Ok(files.into_iter().any(|it| it.file_type().is_file() && is_archive(it.path())))
        }
    }
}
