//! A file that appears under its name when it is complete, and survives a loss of power then.
//!
//! It is written beside its name, synced and renamed. A process that is killed leaves the unfinished
//! file, whose name says whose it was; anything else that ends the writing takes it away.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Octets that are gathered before the file is written to.
const BUFFER_OCTETS: usize = 256 * 1024;

/// A file beside its name. Unless it is [published](UnfinishedFile::publish), it goes away.
pub(crate) struct UnfinishedFile {
    /// None when it has been closed.
    file: Option<BufWriter<File>>,
    /// None when it has got its name.
    path: Option<PathBuf>,
    target: PathBuf,
}

impl UnfinishedFile {
    /// Begins a file that will be `path`, or what `path` links to.
    ///
    /// # Errors
    ///
    /// If it cannot be created, another one of this name is being written by this process, or there
    /// is something else than a regular file.
    pub(super) fn create(path: &Path) -> io::Result<UnfinishedFile> {
        // A link's target is replaced, not the link.
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let permissions = match fs::metadata(&target) {
            Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
            Ok(_) => return Err(ErrorKind::InvalidInput.into()),
            Err(_) => None,
        };
        let beside = name_beside(&target)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let unfinished = UnfinishedFile {
            file: Some(BufWriter::with_capacity(BUFFER_OCTETS, file)),
            path: Some(beside),
            target,
        };
        if let (Some(permissions), Some(file)) = (permissions, &unfinished.file) {
            file.get_ref().set_permissions(permissions)?;
        }
        Ok(unfinished)
    }

    /// Gives the file its name, after all of it has reached the disk.
    pub(super) fn publish(mut self) -> io::Result<()> {
        let file = self.open_file()?;
        file.flush()?;
        file.get_ref().sync_all()?;
        self.close();
        if let Some(path) = &self.path {
            fs::rename(path, &self.target)?;
            self.path = None;
        }
        sync_folder_of(&self.target)
    }

    fn open_file(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.file.as_mut().ok_or_else(|| ErrorKind::BrokenPipe.into())
    }

    /// Closes the file without writing what is still gathered.
    fn close(&mut self) {
        if let Some(file) = self.file.take() {
            drop(file.into_parts());
        }
    }
}

impl Write for UnfinishedFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.open_file()?.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open_file()?.flush()
    }
}

impl Seek for UnfinishedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.open_file()?.seek(to)
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        self.close();
        if let Some(path) = &self.path {
            // The writing has failed already, and with a message of its own.
            let _ = fs::remove_file(path);
        }
    }
}

/// A name in the same folder that says whose it is; the process's number keeps two runs apart.
fn name_beside(target: &Path) -> io::Result<PathBuf> {
    let Some(name) = target.file_name() else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.unfinished", std::process::id()));
    Ok(target.with_file_name(beside))
}

/// Makes a renaming survive a loss of power. Without it the old file may be back afterwards, which
/// is whole too; so a folder that cannot be opened, or a file system that knows no such thing, is
/// no reason to call a file that stands there a failure.
#[cfg(unix)]
fn sync_folder_of(target: &Path) -> io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(opened) = File::open(folder) else { return Ok(()) };
    match opened.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Folders are not synced on this system.
#[cfg(not(unix))]
fn sync_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}
