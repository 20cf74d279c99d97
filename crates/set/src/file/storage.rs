//! The bytes of a set: in a mapped file, or in memory. All `unsafe` code of this module is here.
//!
//! **Why map.** A set of a whole crawl has gigabytes. A run touches a part of them, and many
//! processes use the same set. A mapped set opens at once, only touched pages are read, and
//! processes share the pages. Reading would cost each process time and memory for the whole file.
//!
//! **Contract.** The caller of `PolicySet::map` ensures that nothing truncates or rewrites the file
//! while it is mapped. To replace a set, rename another file over it, as the writer does; existing
//! mappings keep the old file. If the contract is broken:
//!
//! - After truncation, touching a page past the new end raises SIGBUS, which ends the process. The
//!   program says why and exits with status 2; a process that links the library is killed, unless
//!   it handles the signal with [`lose_set_mapped_at`](super::lose_set_mapped_at), as the Python
//!   package does. No answer becomes wrong.
//! - After truncation, the rest of the page that contains the new end reads as zeros, even in
//!   blocks whose checksum was compared before. [`Mapping::has_length`] detects this. It is called
//!   after a block of URLs is decided and before the decisions are returned.
//! - Bytes that are rewritten in place fail their checksum if they are touched later for the first
//!   time. [`Mapping::compare`] detects the others by the times of the file. It is called after a
//!   chunk of URLs and at the end of a run. The system's clock for these times may be 10 ms coarse,
//!   so a change so soon after the last one before the file was opened cannot be detected.

#![allow(unsafe_code, reason = "maps set files")]

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memmap2::Mmap;

use super::error::SetError;
use super::ranges::MappedRange;
use portcullis_files::kind::{FileKind, Wanted, WrongKind};
use portcullis_files::large_pages::ZeroedMemory;

/// The bytes of a set, and its name in messages.
pub struct Storage {
    name: Arc<str>,
    bytes: Bytes,
}

enum Bytes {
    Mapped(Mapping),
    Owned(ZeroedMemory),
}

impl Storage {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> Result<Storage, SetError> {
        Storage::open_with(path, Err)
    }

    /// Maps the file at `path`, or reads it if the system cannot map it.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite the file while the storage lives.
    pub unsafe fn map(path: &Path) -> Result<Storage, SetError> {
        // SAFETY: the caller upholds the contract.
        Storage::open_with(path, |file| unsafe { Mapping::new(file) })
    }

    /// Opens the file at `path` and calls `map`. Reads the file if `map` returns it.
    fn open_with(
        path: &Path,
        map: impl FnOnce(File) -> Result<Mapping, File>,
    ) -> Result<Storage, SetError> {
        let wrong = |name, kind| WrongKind { name, kind, wanted: Wanted::PolicySet }.into();
        if path == Path::new("-") {
            return Err(wrong("standard input".to_owned(), FileKind::Special));
        }
        let name = path.display().to_string();
        match opened(path, map) {
            Ok(Ok(bytes)) => Ok(Storage { name: name.into(), bytes }),
            Ok(Err(kind)) => Err(wrong(name, kind)),
            Err(error) => Err(SetError::Open { name, error }),
        }
    }

    /// Wraps bytes in memory. `name` is their name in messages.
    pub fn owned(name: &str, bytes: ZeroedMemory) -> Storage {
        Storage { name: name.into(), bytes: Bytes::Owned(bytes) }
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapping) => &mapping.bytes,
            Bytes::Owned(bytes) => bytes,
        }
    }

    fn mapping(&self) -> Option<&Mapping> {
        match &self.bytes {
            Bytes::Mapped(mapping) => Some(mapping),
            Bytes::Owned(_) => None,
        }
    }

    /// Gives mapped pages back to the system, which reads them again when they are touched.
    pub(super) fn release_pages(&self) {
        self.mapping().into_iter().for_each(Mapping::release_pages);
    }

    /// Returns whether the file is still as long as its bytes.
    #[inline]
    pub(super) fn has_length(&self) -> bool {
        self.mapping().is_none_or(Mapping::has_length)
    }

    /// Returns what the system says about the bytes since they were opened.
    pub(super) fn compare(&self) -> Compared {
        self.mapping().map_or(Compared::Same, Mapping::compare)
    }

    /// Takes `stamp` for that of the bytes that were opened, which are still the same.
    pub(super) fn accept(&self, stamp: Stamp) {
        if let Some(mapping) = self.mapping() {
            *mapping.stamp.lock().unwrap_or_else(PoisonError::into_inner) = stamp;
        }
    }
}

/// The state of the bytes of a file since it was opened, as the system reports it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compared {
    /// Nothing was written to the file.
    Same,
    /// The file is shorter.
    Shorter,
    /// The file was written to, or its times were set.
    Written,
    /// Only the time of the last change to its metadata differs: the file was moved, linked, or got
    /// other permissions, or it was written to and its time of modification restored.
    Touched(Stamp),
}

/// The times of a file that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The time of the last change to data or metadata; 0 where the system has none.
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &File) -> io::Result<Stamp> {
        let metadata = file.metadata()?;
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let changed = (0, 0);
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok(), changed })
    }
}

/// Maps or reads the file at `path`. Returns its kind if it is none.
fn opened(
    path: &Path,
    map: impl FnOnce(File) -> Result<Mapping, File>,
) -> io::Result<Result<Bytes, FileKind>> {
    // Opening a pipe would wait for a writer.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Ok(Err(if metadata.is_dir() { FileKind::Folder } else { FileKind::Special }));
    }
    let file = File::open(path)?;
    let bytes_max = file.metadata()?.len();
    // An empty file cannot be mapped.
    let mapped = if bytes_max == 0 { Err(file) } else { map(file) };
    Ok(Ok(match mapped {
        Ok(mapping) => Bytes::Mapped(mapping),
        Err(unmapped) => Bytes::Owned(read(&unmapped, bytes_max)?),
    }))
}

/// Reads at most `bytes_max` bytes, so that a file that grows without end is not followed.
fn read(mut file: &File, bytes_max: u64) -> io::Result<ZeroedMemory> {
    let too_large = |_| io::Error::from(io::ErrorKind::OutOfMemory);
    let mut memory = ZeroedMemory::new(usize::try_from(bytes_max).map_err(too_large)?)?;
    let mut filled = 0;
    loop {
        match file.read(&mut memory[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    memory.truncate(filled);
    Ok(memory)
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.bytes {
            Bytes::Mapped(_) => "mapped",
            Bytes::Owned(_) => "owned",
        };
        write!(f, "Storage({:?}, {kind}, {} bytes)", self.name, self.bytes().len())
    }
}

/// A file that is mapped as a whole for reading.
#[derive(Debug)]
struct Mapping {
    // Dropped before the bytes are unmapped and their addresses may be another mapping's.
    range: MappedRange,
    bytes: Mmap,
    /// Kept to query the length and the times again.
    file: File,
    /// The times when the file was opened, before anything was read.
    stamp: Mutex<Stamp>,
}

impl Mapping {
    /// Maps `file`. Returns the file if the system cannot map it, so that it can be read.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite the file while the mapping lives.
    unsafe fn new(file: File) -> Result<Mapping, File> {
        let Ok(stamp) = Stamp::of(&file) else { return Err(file) };
        // SAFETY: the map is read-only and private to this type, which returns shared slices that
        // do not outlive it. The caller upholds the rest.
        match unsafe { Mmap::map(&file) } {
            Ok(bytes) => {
                let range = MappedRange::of(&bytes);
                Ok(Mapping { range, bytes, file, stamp: stamp.into() })
            }
            Err(_) => Err(file),
        }
    }

    /// Best effort: without it the system releases the pages when it needs the memory.
    fn release_pages(&self) {
        #[cfg(unix)]
        // SAFETY: the pages are of a file and were never written to, so what is read again is the
        // same, by the contract of `Mapping::new`.
        let _ = unsafe { self.bytes.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }

    /// Returns whether the file is still at least as long as its mapping, and no page of it was lost.
    ///
    /// Called for every block of URLs. Nothing uses the file's position, so the length comes from
    /// seeking to the end, which takes a third of the time of querying the metadata.
    fn has_length(&self) -> bool {
        (&self.file).seek(SeekFrom::End(0)).is_ok_and(|bytes| bytes >= self.bytes.len() as u64)
            && !self.range.is_lost()
    }

    /// Compares length and times with those when the file was opened. If the system does not say
    /// them any more, the file may have been written to.
    fn compare(&self) -> Compared {
        let Ok(now) = Stamp::of(&self.file) else { return Compared::Written };
        let then = *self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if now.bytes < self.bytes.len() as u64 || self.range.is_lost() {
            Compared::Shorter
        } else if now == then {
            Compared::Same
        } else if (Stamp { changed: then.changed, ..now }) == then {
            Compared::Touched(now)
        } else {
            Compared::Written
        }
    }
}
