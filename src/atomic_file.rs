//! Output files and folders that appear under their names complete, or not at all.
//!
//! Use [`AtomicFile`] for every file that a run leaves behind, and [`AtomicFolder`] for a folder of
//! files. Each is written beside its name, synced, and then renamed. The two steps are apart
//! ([`complete`](AtomicFile::complete), [`publish`](Complete::publish)), so that a run with several
//! outputs completes all of them before it publishes the first.
//!
//! Whatever ends the writing removes the unfinished file: an error, a panic, or a signal if the
//! program calls [`abandon`] for it. Only a process that is killed (SIGKILL, a loss of power) leaves
//! one, named `.NAME.RANDOM.unfinished`.
//!
//! Cost: one `fsync` for each file, and one for its folder.
//!
//! What can fail: everything here touches a disk, with the system's error.
//!
//! ```
//! use std::io::Write;
//! use portcullis::atomic_file::AtomicFile;
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
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempDir, TempPath};

/// Bytes that are ingested before the file is written to.
const BUFFER_BYTES: usize = 256 * 1024;

/// Times that [`abandon`] tries to remove a folder that other threads still write to.
const REMOVALS_MAX: usize = 100;

/// The unfinished files and folders of this process.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn lock_unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // Nothing panics while it is held, and a set of paths cannot be half-changed.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files and folders of this process, which is about to end by a signal.
///
/// From then on every other thread that creates, publishes or drops one waits for that end, so that
/// nothing is left behind and nothing is published.
pub fn abandon() {
    let unfinished = lock_unfinished();
    for path in &*unfinished {
        // The process ends whether or not a file can be removed.
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
    /// Creates something, and registers where.
    fn create<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, Registered)> {
        let mut unfinished = lock_unfinished();
        let created = create()?;
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

/// A file that is being written beside its name. Dropping it removes it.
pub struct AtomicFile {
    // Fields are dropped in this order: close the file, remove it, forget it.
    file: BufWriter<File>,
    path: TempPath,
    registered: Registered,
    target: PathBuf,
}

impl AtomicFile {
    /// Begins a file that will be `path`, or what `path` links to.
    ///
    /// # Errors
    ///
    /// If it cannot be created, or `path` is something else than a regular file
    /// ([`ErrorKind::InvalidInput`]).
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
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
        let (prefix, folder) = (prefix_of(&target)?, folder_of(&target));
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        let permissions_of_new = permissions_of_new(0o666);
        if let Some(permissions) = permissions_of_new {
            builder.permissions(permissions);
        }
        let (file, registered) =
            Registered::create(|| builder.tempfile_in(folder), |file| file.path())?;
        let (file, path) = file.into_parts();
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let file = AtomicFile { file, path, registered, target };
        if let Some(permissions) = permissions {
            file.file.get_ref().set_permissions(permissions)?;
        }
        Ok(file)
    }

    /// Ends the writing: all of the file has reached the disk, and nobody sees it yet.
    ///
    /// # Errors
    ///
    /// If it cannot be written. It is removed then.
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

/// A folder that is being filled beside its name. Dropping it removes it with all that is in it.
pub struct AtomicFolder {
    folder: TempDir,
    registered: Registered,
    target: PathBuf,
}

impl AtomicFolder {
    /// Begins a folder that will be `path`, where nothing is yet.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn create(path: &Path) -> io::Result<AtomicFolder> {
        let prefix = prefix_of(path)?;
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX);
        if let Some(permissions) = permissions_of_new(0o777) {
            builder.permissions(permissions);
        }
        let create = || builder.tempdir_in(folder_of(path));
        let (folder, registered) = Registered::create(create, TempDir::path)?;
        Ok(AtomicFolder { folder, registered, target: path.to_owned() })
    }

    /// Where its files are written to.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the filling: all files have reached the disk, where the system can sync many at once.
    ///
    /// # Errors
    ///
    /// If they cannot be synced. The folder is removed then.
    pub fn complete(self) -> io::Result<Complete> {
        let AtomicFolder { folder, registered, target } = self;
        sync_file_system_of(folder.path())?;
        Ok(Complete { written: Written::Folder(folder), registered, target })
    }
}

/// A file or folder that is complete and has not got its name. Dropping it removes it.
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
    /// Gives it its name, in place of the file that has it.
    ///
    /// # Errors
    ///
    /// If it cannot be renamed. It is removed then.
    pub fn publish(self) -> io::Result<()> {
        let Complete { written, registered, target } = self;
        {
            // Not while the process is about to end.
            let _unfinished = lock_unfinished();
            match written {
                Written::File(path) => path.persist(&target).map_err(|failed| failed.error)?,
                Written::Folder(mut folder) => {
                    fs::rename(folder.path(), &target)?;
                    folder.disable_cleanup(true);
                }
            }
        }
        drop(registered);
        sync_folder_of(&target)
    }
}

const SUFFIX: &str = ".unfinished";

/// What the name of an unfinished file begins with, to show whose it is.
fn prefix_of(target: &Path) -> io::Result<OsString> {
    let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
    Ok([".".as_ref(), name, ".".as_ref()].into_iter().collect())
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The permissions of a new file or folder before the process's mask; temporary files are private
/// otherwise.
#[cfg(unix)]
fn permissions_of_new(mode: u32) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;

    Some(Permissions::from_mode(mode))
}

/// This system has no such modes.
#[cfg(not(unix))]
fn permissions_of_new(_: u32) -> Option<Permissions> {
    None
}

/// Makes a renaming survive a loss of power. Without it the old file may be back afterwards, which
/// is whole too; so a folder that cannot be opened, or a file system that knows no such thing, is
/// no reason to call a file that stands there a failure.
#[cfg(unix)]
fn sync_folder_of(target: &Path) -> io::Result<()> {
    let Ok(opened) = File::open(folder_of(target)) else { return Ok(()) };
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

/// Syncs all files of a folder at once: one by one, a million small files take hours.
#[cfg(target_os = "linux")]
fn sync_file_system_of(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// This system syncs files only one by one.
#[cfg(not(target_os = "linux"))]
fn sync_file_system_of(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
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

    /// The modes of files that any program makes, or of the file that is replaced.
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
        fs::set_permissions(folder.path().join("new"), Permissions::from_mode(0o640)).unwrap();
        write("new").unwrap();
        assert_eq!(mode("new"), 0o640);
    }
}
