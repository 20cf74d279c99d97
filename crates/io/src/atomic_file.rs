//! Output files and folders that appear under their names complete, or not at all.
//!
//! Use [`AtomicFile`] for every output file, and [`AtomicFolder`] for a folder of files. Each is
//! written beside its name, synced, and then renamed. [`complete`](AtomicFile::complete) and
//! [`publish`](Complete::publish) are separate, so that a run with several outputs completes all of
//! them before it publishes the first.
//!
//! An error, a panic, or a signal whose handler calls [`abandon`] removes the unfinished file. Only
//! a process that is killed (SIGKILL, a loss of power) leaves one, named `.NAME.RANDOM.unfinished`.
//! [`publish_all`] names the outputs of a run without letting such a handler in between, so a signal
//! leaves all of them or none.
//!
//! Cost: one `fsync` per file, and one for each folder. Everything here touches a disk and can fail
//! with the system's error.
//!
//! ```
//! use std::io::Write;
//! use portcullis_io::atomic_file::AtomicFile;
//!
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("report.txt");
//! let mut file = AtomicFile::create(&path)?;
//! file.write_all(b"text")?;
//! assert!(!path.exists());
//! file.complete()?.publish()?;
//! assert_eq!(std::fs::read(&path)?, b"text");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempDir, TempPath};

/// The size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// How often [`abandon`] tries to remove a folder that other threads still write to.
const REMOVALS_MAX: usize = 100;

/// The unfinished files and folders of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn lock_unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // Nothing panics while it is held, and a set of paths cannot be half-changed.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files and folders of this process, which is about to end by a signal.
///
/// From then on every other thread that creates, publishes or drops one waits for the end of the
/// process, so that nothing is left behind and nothing is published.
pub fn abandon() {
    let unfinished = lock_unfinished();
    for path in &*unfinished {
        // The process ends whether or not the file can be removed.
        let _ = fs::remove_file(path);
        for _ in 0..REMOVALS_MAX {
            if !path.is_dir() || fs::remove_dir_all(path).is_ok() {
                break;
            }
        }
    }
    std::mem::forget(unfinished);
}

/// An entry of [`UNFINISHED`].
struct Registered(PathBuf);

impl Registered {
    /// Calls `create` for a path beside `target` with this mode, and registers the path.
    fn create<T>(
        target: &Path,
        mode: u32,
        create: impl FnOnce(&Builder, &Path) -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, Registered)> {
        // The temporary name includes the final name.
        let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
        let prefix: OsString = [".".as_ref(), name, ".".as_ref()].into_iter().collect();
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".unfinished");
        set_permissions(&mut builder, mode);
        let mut unfinished = lock_unfinished();
        let created = create(&builder, folder_of(target))?;
        let path = path(&created).to_owned();
        unfinished.insert(path.clone());
        Ok((created, Registered(path)))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        lock_unfinished().remove(&self.0);
    }
}

/// An output of [`publish_all`] that could not be published.
#[derive(Debug, thiserror::Error)]
#[error("cannot publish output {position}")]
pub struct PublishError {
    /// The position of the output.
    pub position: usize,
    /// The system's error.
    pub source: io::Error,
}

/// Renames all files and folders to their final names, in order, and replaces existing files.
///
/// [`abandon`] waits until all have their names, so a signal leaves all outputs of a run or none.
///
/// # Errors
///
/// The first that cannot be renamed, or whose folder cannot be synced. It and those after it are
/// removed if they have no name yet.
pub fn publish_all(outputs: Vec<Complete>) -> Result<(), PublishError> {
    let failed = |position| move |source| PublishError { position, source };
    let mut targets = Vec::with_capacity(outputs.len());
    let mut rest = outputs.into_iter();
    // An output that is dropped takes the lock itself, so published ones are kept until it is free.
    let mut published = Vec::with_capacity(rest.len());
    let renamed = {
        let _unfinished = lock_unfinished();
        rest.by_ref().enumerate().try_for_each(|(position, complete)| {
            let Complete { written, registered, target } = complete;
            published.push(registered);
            written.rename(&target).map_err(failed(position))?;
            targets.push(target);
            Ok(())
        })
    };
    renamed?;
    let mut synced = BTreeSet::new();
    for (position, target) in targets.iter().enumerate() {
        if synced.insert(folder_of(target)) {
            sync_folder_of(target).map_err(failed(position))?;
        }
    }
    Ok(())
}

/// A file that is being written beside its name. Dropping it removes it.
pub struct AtomicFile {
    // Fields are dropped in this order: close the file, remove it, forget it.
    file: BufWriter<File>,
    path: TempPath,
    registered: Registered,
    target: PathBuf,
}

impl AtomicFile {
    /// Creates a file that will be published as `path`, or as the target of `path` if that is a
    /// link.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, or `path` exists and is not a regular file
    /// ([`ErrorKind::InvalidInput`]).
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        // Replace the target of a link, not the link.
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
        let create = |builder: &Builder, folder: &Path| builder.tempfile_in(folder);
        let (file, registered) = Registered::create(&target, 0o666, create, |file| file.path())?;
        let (file, path) = file.into_parts();
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let file = AtomicFile { file, path, registered, target };
        if let Some(permissions) = permissions {
            file.file.get_ref().set_permissions(permissions)?;
        }
        Ok(file)
    }

    /// Flushes and syncs the file. It is on disk afterwards, but not yet visible under its name.
    ///
    /// # Errors
    ///
    /// If it cannot be written. The unfinished file is then removed.
    pub fn complete(mut self) -> io::Result<Complete> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        let AtomicFile { file, path, registered, target } = self;
        drop(file);
        Ok(Complete { written: Written::File(path), registered, target })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// A folder that is being filled beside its name. Dropping it removes it with its content.
pub struct AtomicFolder {
    folder: TempDir,
    registered: Registered,
    target: PathBuf,
}

impl AtomicFolder {
    /// Creates a folder that will be published as `path`, which must not exist.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn create(path: &Path) -> io::Result<AtomicFolder> {
        let create = |builder: &Builder, folder: &Path| builder.tempdir_in(folder);
        let (folder, registered) = Registered::create(path, 0o777, create, TempDir::path)?;
        Ok(AtomicFolder { folder, registered, target: path.to_owned() })
    }

    /// Returns the folder to write files to.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Syncs all files, with one call where the system supports it.
    ///
    /// # Errors
    ///
    /// If they cannot be synced. The folder is then removed.
    pub fn complete(self) -> io::Result<Complete> {
        let AtomicFolder { folder, registered, target } = self;
        sync_file_system_of(folder.path())?;
        Ok(Complete { written: Written::Folder(folder), registered, target })
    }
}

/// A complete file or folder that is not yet renamed. Dropping it removes it.
pub struct Complete {
    written: Written,
    registered: Registered,
    target: PathBuf,
}

enum Written {
    File(TempPath),
    Folder(TempDir),
}

impl Complete {
    /// Renames it to its final name and replaces an existing file.
    ///
    /// # Errors
    ///
    /// If it cannot be renamed. It is then removed.
    pub fn publish(self) -> io::Result<()> {
        publish_all(vec![self]).map_err(|failed| failed.source)
    }
}

impl Written {
    /// Gives it its final name. Removes it if that fails.
    fn rename(self, target: &Path) -> io::Result<()> {
        match self {
            Written::File(path) => path.persist(target).map_err(|failed| failed.error),
            Written::Folder(mut folder) => {
                fs::rename(folder.path(), target)?;
                folder.disable_cleanup(true);
                Ok(())
            }
        }
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Sets the mode of a new file or folder, before the umask is applied. By default, temporary files
/// are private. Systems other than Unix have no modes.
#[cfg_attr(not(unix), allow(unused_variables, reason = "there are no modes"))]
fn set_permissions(builder: &mut Builder, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        builder.permissions(fs::Permissions::from_mode(mode));
    }
}

/// Makes a rename survive a loss of power. Best effort: without it the old file, which is also
/// complete, may be back afterwards. So a folder that cannot be opened (Windows) or a file system
/// that cannot sync one is not an error.
fn sync_folder_of(target: &Path) -> io::Result<()> {
    let Ok(opened) = File::open(folder_of(target)) else { return Ok(()) };
    match opened.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Syncs all files of a folder with one call. Syncing a million small files one by one takes hours.
#[cfg(target_os = "linux")]
fn sync_file_system_of(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Does nothing: this system syncs files only one by one.
#[cfg(not(target_os = "linux"))]
fn sync_file_system_of(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the entries of a folder, sorted.
    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn dropping_removes_unfinished_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "before").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"after").unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(file);
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"after").unwrap();
        drop(file.complete().unwrap());
        let made = AtomicFolder::create(&folder.path().join("b")).unwrap();
        fs::write(made.path().join("c"), "c").unwrap();
        drop(made);
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }

    #[test]
    fn a_folder_appears_with_all_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b");
        let made = AtomicFolder::create(&path).unwrap();
        fs::write(made.path().join("c"), "c").unwrap();
        let made = made.complete().unwrap();
        assert!(!path.exists());
        made.publish().unwrap();
        assert_eq!(names(folder.path()), ["b"]);
        assert_eq!(names(&path), ["c"]);
    }

    /// Returns the default modes of new files, or those of the file that is replaced.
    #[cfg(unix)]
    #[test]
    fn permissions_are_the_usual_ones() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
        };
        let write = |name: &str| {
            AtomicFile::create(&folder.path().join(name)).unwrap().complete().unwrap().publish()
        };
        fs::write(folder.path().join("usual"), "").unwrap();
        write("new").unwrap();
        assert_eq!(mode("new"), mode("usual"));
        fs::create_dir(folder.path().join("usual folder")).unwrap();
        let made = AtomicFolder::create(&folder.path().join("folder")).unwrap();
        made.complete().unwrap().publish().unwrap();
        assert_eq!(mode("folder"), mode("usual folder"));
        let private = fs::Permissions::from_mode(0o640);
        fs::set_permissions(folder.path().join("new"), private).unwrap();
        write("new").unwrap();
        assert_eq!(mode("new"), 0o640);
    }
}
