//! A file as a slice of memory: the one place of this module with `unsafe`.
//!
//! **The duty**, which falls to whoever runs the program: nothing may truncate or rewrite the file
//! while it is mapped. If the file is truncated, or its disk fails, touching a page that is not there
//! raises SIGBUS. It means that octets are missing, and the code that needed them cannot go on; so
//! the program's handler says so and ends it with status 2, without an output, and a library's process is killed by the system unless it has a handler of its own. Either
//! way no list is written that looks whole. What the page of the new end held after it reads as
//! zeros; [`Mapping::is_whole`] finds that afterwards. Appending does no harm: the mapping keeps the
//! length that it began with.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Deref;

use memmap2::Mmap;

/// A file that is mapped for reading, whole.
#[derive(Debug)]
pub(super) struct Mapping {
    octets: Mmap,
    /// Kept to ask for the length again.
    file: File,
}

impl Mapping {
    /// Maps `file`; one that the system will not map comes back, to be read as a stream.
    pub(super) fn new(file: File) -> Result<Mapping, File> {
        // SAFETY: the map is read-only and private to this type, which hands out shared slices no
        // longer than it lives. That nobody truncates or rewrites the file meanwhile cannot be
        // checked; it is the user's duty as the module's documentation says, and a caller who
        // cannot promise it turns mapping off (`OpenConfig::map`).
        match unsafe { Mmap::map(&file) } {
            Ok(octets) => {
                advise_sequential(&octets);
                Ok(Mapping { octets, file })
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

    /// Whether the file is still at least as long as its mapping.
    pub(super) fn is_whole(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.len() >= self.octets.len() as u64)
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.octets
    }
}

/// Asks for early reading and early forgetting of pages. Only advice: a refusal changes nothing.
#[cfg(unix)]
fn advise_sequential(octets: &Mmap) {
    octets.advise(memmap2::Advice::Sequential).ok();
}

#[cfg(not(unix))]
fn advise_sequential(_: &Mmap) {}
