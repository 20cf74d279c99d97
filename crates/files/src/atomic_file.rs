//! Output files that appear under their names complete, or not at all.
//!
//! Use [`AtomicFile`] for every output file. It is
//! written next to its name, synced, and then renamed. [`complete`](AtomicFile::complete) and
//! [`publish`](Complete::publish) are separate, so that a run with several outputs completes all of
//! them before it publishes the first.
//!
//! An error, a panic, or a signal whose handler calls [`abandon`] removes the unfinished file. Only
//! a process that is killed (SIGKILL, a loss of power) leaves one, named `.NAME.RANDOM.unfinished`
//! (a long NAME is cut). The next process that writes NAME removes it: a process holds a lock on
//! what it writes (up to 32 files), so what nobody holds is left over. Systems other than Unix keep
//! it.
//!
//! [`publish_all`] names the outputs of a run without letting such a handler in between, so a signal
//! leaves all of them or none.
//!
//! Cost: one `fsync` per file, and one for each folder. Everything here touches a disk and can fail
//! with the system's error.
//!
//! ```
//! use std::io::Write;
//! use portcullis_files::atomic_file::AtomicFile;
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

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempPath};

/// The size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// The most bytes of an output's name in that of its unfinished file. Systems allow 255 for all of
/// it, and encrypting ones 143.
const NAME_BYTES_MAX: usize = 100;

/// The most unfinished files that a process holds locks on; each lock is a descriptor, of which
/// systems allow some hundreds.
const HELD_MAX: usize = 32;

/// The most links that lead to an output one after another, as on Linux.
const LINKS_MAX: usize = 40;

/// The end of the names of unfinished files.
const SUFFIX: &str = ".unfinished";

/// The length of the random part of these names.
const RANDOM_BYTES: usize = 6;

/// The unfinished files of this process.
static UNFINISHED: Mutex<Unfinished> = Mutex::new(Unfinished {
    paths: BTreeSet::new(),
    locks: BTreeMap::new(),
    left: BTreeMap::new(),
});

struct Unfinished {
    paths: BTreeSet<PathBuf>,
    /// The files that are locked until they have their names.
    locks: BTreeMap<PathBuf, File>,
    /// The names of unfinished files that were in a folder before this process wrote to it.
    left: BTreeMap<PathBuf, Vec<OsString>>,
}

fn lock_unfinished() -> MutexGuard<'static, Unfinished> {
    // Nothing panics while it is held, and a set of paths cannot be half-changed.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unfinished {
    /// Removes the files in `folder` that killed processes have left for the output with
    /// this prefix. What cannot be removed stays.
    fn remove_left(&mut self, folder: &Path, prefix: &OsStr) {
        let list = || {
            let names = fs::read_dir(folder).into_iter().flatten().flatten();
            let names = names.map(|entry| entry.file_name());
            names.filter(|name| name.as_encoded_bytes().ends_with(SUFFIX.as_bytes())).collect()
        };
        // Listed once for each folder, and not for each of its outputs.
        let left = self.left.entry(folder.to_owned()).or_insert_with(list);
        left.retain(|name| {
            let is_of_output = is_unfinished(name, prefix);
            if is_of_output {
                remove_if_left(&folder.join(name));
            }
            !is_of_output
        });
    }
}

/// Whether `name` is that of an unfinished file with this prefix.
fn is_unfinished(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
    let random = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|it| it.len() == RANDOM_BYTES && it.iter().all(u8::is_ascii_alphanumeric))
}

/// Removes an unfinished file that no process holds. Systems other than Unix keep it: a lock would keep
/// others from reading the file.
fn remove_if_left(path: &Path) {
    let Ok(kind) = fs::symlink_metadata(path).map(|metadata| metadata.file_type()) else { return };
    // Opening anything else could wait.
    let opened = (cfg!(unix) && kind.is_file()).then(|| File::open(path));
    let Some(Ok(opened)) = opened else { return };
    if opened.try_lock().is_ok() {
        // Another process may be faster.
        let _ = fs::remove_file(path);
    }
}

/// Locks a new file. Returns the lock, which is the file; the inner value is `None` if it
/// cannot be locked. `None` if another process took it for one that is left over.
fn hold(created: &NamedTempFile) -> Option<Option<File>> {
    let Ok(file) = created.as_file().try_clone() else { return Some(None) };
    match file.try_lock() {
        Ok(()) if fs::exists(created.path()).is_ok_and(|exists| !exists) => None,
        Ok(()) => Some(Some(file)),
        Err(TryLockError::WouldBlock) => None,
        // A file system without locks.
        Err(TryLockError::Error(_)) => Some(None),
    }
}

/// Removes all unfinished files of this process, which is about to end by a signal.
///
/// From then on every other thread that creates, publishes or drops one waits for the end of the
/// process, so that no file is left and nothing is published.
pub fn abandon() {
    let unfinished = lock_unfinished();
    for path in &unfinished.paths {
        // The process ends whether or not the file can be removed.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

/// An entry of [`UNFINISHED`].
struct Registered(PathBuf);

impl Registered {
    /// Creates a file next to `target`, and registers its path.
    fn create(target: &Path) -> io::Result<(NamedTempFile, Registered)> {
        /// How often another process may take a new file for one that is left over.
        const TRIES: usize = 3;
        let (folder, prefix) = (folder_of(target), prefix_of(target)?);
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM_BYTES);
        // By default, temporary files are private. All may read and write an output, as far as the umask
        // lets them.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut unfinished = lock_unfinished();
        unfinished.remove_left(folder, &prefix);
        let mut tries = 0;
        let (created, held) = loop {
            let created = builder.tempfile_in(folder)?;
            tries += 1;
            let is_held = cfg!(unix) && unfinished.locks.len() < HELD_MAX;
            match if is_held { hold(&created) } else { Some(None) } {
                None if tries < TRIES => {}
                held => break (created, held.flatten()),
            }
        };
        let path = created.path().to_owned();
        unfinished.locks.extend(held.map(|lock| (path.clone(), lock)));
        unfinished.paths.insert(path.clone());
        Ok((created, Registered(path)))
    }
}

/// Returns the beginning of the names of the unfinished files of an output, with its name, cut if it
/// is long.
fn prefix_of(target: &Path) -> io::Result<OsString> {
    let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut prefix = OsString::from(".");
    if name.len() <= NAME_BYTES_MAX {
        prefix.push(name);
    } else {
        let name = name.to_string_lossy();
        let end = (0..=NAME_BYTES_MAX).rev().find(|&end| name.is_char_boundary(end));
        prefix.push(&name[..end.unwrap_or(0)]);
    }
    prefix.push(".");
    Ok(prefix)
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut unfinished = lock_unfinished();
        unfinished.paths.remove(&self.0);
        unfinished.locks.remove(&self.0);
    }
}

/// Renames all files to their final names, in order. A file that was there when its output was created
/// is replaced. One that appeared since is not: it may be another output of the run, whose name differs in
/// case where the file system ignores it.
///
/// [`abandon`] waits until all have their names, so a signal leaves all outputs of a run or none.
///
/// # Errors
///
/// The position of the first that cannot be renamed, or whose folder cannot be synced. It and those after
/// it are removed if they have no name yet.
pub fn publish_all(outputs: Vec<Complete>) -> Result<(), (usize, io::Error)> {
    let failed = |position| move |error| (position, error);
    // An output that is dropped takes the lock itself, so published ones are kept until it is free.
    let mut published = Vec::with_capacity(outputs.len());
    let mut rest = outputs.into_iter();
    let renamed = {
        let _unfinished = lock_unfinished();
        rest.by_ref().enumerate().try_for_each(|(position, complete)| {
            let Complete { path, registered, target, is_new } = complete;
            let renamed = rename(path, &target, is_new);
            published.push((target, registered));
            renamed.map_err(failed(position))
        })
    };
    renamed?;
    let mut synced = BTreeSet::new();
    for (position, (target, _)) in published.iter().enumerate() {
        if synced.insert(folder_of(target)) {
            sync_folder(folder_of(target)).map_err(failed(position))?;
        }
    }
    Ok(())
}

/// Renames a file to its final name.
fn rename(path: TempPath, target: &Path, is_new: bool) -> io::Result<()> {
    if !is_new {
        return path.persist(target).map_err(|it| it.error);
    }
    match path.persist_noclobber(target) {
        Err(it) if it.error.kind() == ErrorKind::AlreadyExists => Err(it.error),
        // A file system that cannot rename without replacing.
        Err(it) if fs::symlink_metadata(target).is_err() => {
            it.path.persist(target).map_err(|it| it.error)
        }
        renamed => renamed.map_err(|it| it.error),
    }
}

/// A file that is being written next to its name. Dropping it removes it.
pub struct AtomicFile {
    // Dropped first, because a file is closed before it is removed.
    file: BufWriter<File>,
    complete: Complete,
    /// Whether a file that is replaced has the same owner and group afterwards.
    pub keeps_owner: bool,
}

/// Returns the file that an output at `path` is: the target of `path` if it is a link, whether or
/// not it exists.
///
/// # Errors
///
/// If links lead in a circle, or a folder on the way cannot be searched.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::canonicalize(&target) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found,
        }
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Checks that an output may be written at `path`: no file is there, or one that may be written.
/// Renaming needs no such permission, but a file without it is not to be replaced.
///
/// # Errors
///
/// [`ErrorKind::InvalidInput`] if something else than a regular file is there, or the system's error.
pub fn check(path: &Path) -> io::Result<()> {
    metadata_at(&target_of(path)?).map(drop)
}

/// Returns the metadata of the file to replace; `None` if there is none.
fn metadata_at(target: &Path) -> io::Result<Option<Metadata>> {
    let metadata = match fs::metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    // The mode does not keep root from opening the file.
    if metadata.permissions().readonly() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    OpenOptions::new().append(true).open(target)?;
    Ok(Some(metadata))
}

impl AtomicFile {
    /// Creates a file that will be published as `path`, or as the target of `path` if that is a
    /// link, whether or not the target exists. It has the mode of a file that it replaces, and its owner
    /// and group if this process may give them to it.
    ///
    /// # Errors
    ///
    /// If the file cannot be created, `path` exists and may not be written
    /// ([`ErrorKind::PermissionDenied`]), or it is not a regular file ([`ErrorKind::InvalidInput`]).
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let target = target_of(path)?;
        let replaced = metadata_at(&target)?;
        let (file, registered) = Registered::create(&target)?;
        let (file, path) = file.into_parts();
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let complete = Complete { path, registered, target, is_new: replaced.is_none() };
        let mut file = AtomicFile { file, complete, keeps_owner: true };
        if let Some(replaced) = replaced {
            // A change of the owner may clear bits of the mode, so the mode comes last.
            file.keeps_owner = keep_owner(file.file.get_ref(), &replaced)?;
            file.file.get_ref().set_permissions(replaced.permissions())?;
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
        Ok(self.complete)
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

/// A complete file that is not yet renamed. Dropping it removes it.
pub struct Complete {
    // Fields are dropped in this order: remove the file, forget it.
    path: TempPath,
    registered: Registered,
    target: PathBuf,
    /// Whether nothing had the name when the file was created.
    is_new: bool,
}

impl Complete {
    /// Whether nothing had the name when the file was created.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Renames it to its final name, as [`publish_all`] does.
    ///
    /// # Errors
    ///
    /// If it cannot be renamed. It is then removed.
    pub fn publish(self) -> io::Result<()> {
        publish_all(vec![self]).map_err(|(_, error)| error)
    }
}

/// Returns the folder of an output; `.` for a name alone.
pub fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Gives a new file the owner and group of the file that it replaces, or the group alone if the process
/// may give it no more. Returns whether it has both.
#[cfg(unix)]
fn keep_owner(file: &File, replaced: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let new = file.metadata()?;
    let (uid, gid) = (replaced.uid(), replaced.gid());
    if (new.uid(), new.gid()) == (uid, gid) || fchown(file, Some(uid), Some(gid)).is_ok() {
        return Ok(true);
    }
    // The file belongs to another user, who may be unable to read it.
    let _ = fchown(file, None, Some(gid));
    Ok(false)
}

/// Returns true: new files belong to the owner that the folder says.
#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}

/// Makes the names in a folder survive a loss of power. Best effort: without it the old file, which
/// is also complete, may be back afterwards. So a folder that cannot be opened (Windows) or a file
/// system that cannot sync one is not an error.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let Ok(opened) = File::open(folder) else { return Ok(()) };
    match opened.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
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
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }

    /// Two outputs may have one name, where the file system ignores case.
    #[test]
    fn a_file_that_appeared_since_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let complete = |text: &[u8]| {
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(text).unwrap();
            file.complete().unwrap()
        };
        let (position, error) = publish_all(vec![complete(b"one"), complete(b"two")]).unwrap_err();
        assert_eq!((position, error.kind()), (1, ErrorKind::AlreadyExists));
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        complete(b"three").publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
    }

    /// Returns the default modes of new files, or the modes of the file that is replaced.
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
        let private = fs::Permissions::from_mode(0o640);
        fs::set_permissions(folder.path().join("new"), private).unwrap();
        write("new").unwrap();
        assert_eq!(mode("new"), 0o640);
    }
}
