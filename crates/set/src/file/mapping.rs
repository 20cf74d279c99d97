//! A set's file as a slice of memory: the one place of this module with `unsafe`.
//!
//! **Why it is here.** A set of a whole crawl has gigabytes of which a run touches a part, and many
//! processes use the same one: mapped, it opens at once, only touched pages are read, and the pages
//! are shared. Reading it would cost each process all of it, in time and memory.
//!
//! **The duty**, which falls to whoever asks for a mapping (`PolicySet::map`): nothing may truncate or
//! rewrite the file while it is mapped; a set is replaced by renaming another over it, as the writer
//! does, and then the mapping keeps the old one. If the file is truncated all the same, touching a
//! page past its new end raises SIGBUS, which ends the process (the program says why and ends with
//! status 2; a library's process is killed): never a wrong answer. The rest of the page in which the
//! file now ends reads as zeros, in blocks too that were compared before; [`Mapping::is_whole`] finds
//! that, and is asked after a block of URLs is decided and before the decisions are handed out. Bytes
//! that are rewritten in place differ from their checksum if they are first touched later, and cannot
//! be noticed otherwise.

#![allow(unsafe_code, reason = "maps set files")]

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Deref;

use memmap2::Mmap;

/// A file that is mapped for reading, whole.
#[derive(Debug)]
pub(super) struct Mapping {
    bytes: Mmap,
    /// Kept to ask for the length again.
    file: File,
}

impl Mapping {
    /// Maps `file`; one that the system will not map comes back, to be read.
    ///
    /// # Safety
    ///
    /// Nothing truncates or rewrites the file while the mapping lives.
    pub(super) unsafe fn new(file: File) -> Result<Mapping, File> {
        // SAFETY: the map is read-only and private to this type, which hands out shared slices no
        // longer than it lives. The caller promises the rest.
        match unsafe { Mmap::map(&file) } {
            Ok(bytes) => Ok(Mapping { bytes, file }),
            Err(_) => Err(file),
        }
    }

    /// Whether the file is still at least as long as its mapping.
    ///
    /// It is asked for every block of URLs. Nothing uses the file's position, so the length comes from
    /// seeking to the end, which takes a third of the time that all metadata takes.
    pub(super) fn is_whole(&self) -> bool {
        (&self.file).seek(SeekFrom::End(0)).is_ok_and(|bytes| bytes >= self.bytes.len() as u64)
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
