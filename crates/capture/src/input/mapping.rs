//! A file as a slice of memory: the one place of this module with `unsafe`.
//!
//! **The duty**, which falls to whoever asks for a mapping ([`OpenConfig::mapped`]): nothing may
//! truncate or rewrite the file while it is mapped. If the file is truncated, or its disk fails,
//! touching a page that is not there raises SIGBUS. It means that bytes are missing, and the code that
//! needed them cannot go on; so the program's handler says so and ends it with status 2, without an
//! output, and a library's process is killed by the system unless it has a handler of its own. What
//! the page of the new end held after it reads as zeros; [`Mapping::check`] finds that, and is asked
//! before what came of a chunk is handed on. Appending does no harm: the mapping keeps the length that
//! it began with.
//!
//! [`OpenConfig::mapped`]: super::OpenConfig::mapped

#![allow(unsafe_code, reason = "maps lists of URLs")]

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Deref;

use memmap2::Mmap;

use super::error::InputError;

/// A file that is mapped for reading, whole.
#[derive(Debug)]
pub(super) struct Mapping {
    bytes: Mmap,
    /// Kept to ask for the length again.
    file: File,
    /// What errors call it.
    name: String,
}

impl Mapping {
    /// Maps `file`; one that the system will not map comes back, to be read as a stream.
    ///
    /// # Safety
    ///
    /// Nothing truncates or rewrites the file while the mapping lives.
    pub(super) unsafe fn new(name: &str, file: File) -> Result<Mapping, File> {
        // SAFETY: the map is read-only and private to this type, which hands out shared slices no
        // longer than it lives. The caller promises the rest.
        match unsafe { Mmap::map(&file) } {
            Ok(bytes) => {
                advise_sequential(&bytes);
                Ok(Mapping { bytes, file, name: name.to_owned() })
            }
            Err(_) => Err(file),
        }
    }

    /// Moves the file's position to its end, where reading it would have left it: a process that
    /// shares the position (as standard input is shared) does not get the list a second time. A
    /// file that refuses is still mapped whole, so that a failure changes nothing here.
    pub(super) fn leave_at_end(&self) {
        (&self.file).seek(SeekFrom::End(0)).ok();
    }

    /// What errors call the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file is still at least as long as its mapping.
    ///
    /// # Errors
    ///
    /// [`InputError::Shrunk`] if it is not.
    pub(super) fn check(&self) -> Result<(), InputError> {
        match self.file.metadata() {
            Ok(metadata) if metadata.len() >= self.bytes.len() as u64 => Ok(()),
            _ => Err(InputError::Shrunk { name: self.name.clone() }),
        }
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Asks for early reading and early forgetting of pages. Only advice: a refusal changes nothing.
#[cfg(unix)]
fn advise_sequential(bytes: &Mmap) {
    bytes.advise(memmap2::Advice::Sequential).ok();
}

#[cfg(not(unix))]
fn advise_sequential(_: &Mmap) {}
