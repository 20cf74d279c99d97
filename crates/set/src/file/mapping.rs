//! A set's file as a slice of mapped memory. All `unsafe` code of this module is here.
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
//!   program says why and exits with status 2; a process that links the library is killed. No
//!   answer becomes wrong.
//! - After truncation, the rest of the page that contains the new end reads as zeros, even in
//!   blocks whose checksum was compared before. [`Mapping::is_whole`] detects this. It is called
//!   after a block of URLs is decided and before the decisions are returned.
//! - Bytes that are rewritten in place fail their checksum if they are touched later for the first
//!   time. Otherwise the change cannot be detected.

#![allow(unsafe_code, reason = "maps set files")]

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Deref;

use memmap2::Mmap;

/// A file that is mapped as a whole for reading.
#[derive(Debug)]
pub(super) struct Mapping {
    bytes: Mmap,
    /// Kept to query the length again.
    file: File,
}

impl Mapping {
    /// Maps `file`. Returns the file if the system cannot map it, so that it can be read.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite the file while the mapping lives.
    pub(super) unsafe fn new(file: File) -> Result<Mapping, File> {
        // SAFETY: the map is read-only and private to this type, which returns shared slices that
        // do not outlive it. The caller upholds the rest.
        match unsafe { Mmap::map(&file) } {
            Ok(bytes) => Ok(Mapping { bytes, file }),
            Err(_) => Err(file),
        }
    }

    /// Returns whether the file is still at least as long as its mapping.
    ///
    /// Called for every block of URLs. Nothing uses the file's position, so the length comes from
    /// seeking to the end, which takes a third of the time of querying the metadata.
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
