//! Maps the rest of a regular uncompressed file, so that no byte of it is copied and threads take
//! chunks without waiting for a reader.
//!
//! **Safety contract** ([`Source::mapped`](super::Source::mapped)): no process may truncate or
//! rewrite the file while it is mapped. If the file is truncated, or its disk fails, touching a
//! missing page raises SIGBUS. The code that needs the missing bytes cannot continue: the program's
//! handler reports this and ends the program with status 2 and no output. A process that uses the
//! library is killed by the system unless it has its own handler. The last page reads as zeros after
//! the new end. If the file is rewritten in place, a record may be decided by its old bytes and written
//! with its new ones. [`Mapping::check`] detects both, and is called before the results of a chunk are
//! used. Appending is harmless: the mapping keeps its length. A rewrite that makes the file longer
//! cannot be told from appending, and passes.

#![allow(unsafe_code, reason = "maps lists of URLs")]

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Deref;
use std::time::SystemTime;

use memmap2::Mmap;

use super::InputError;

/// A whole file that is mapped for reading.
#[derive(Debug)]
pub(super) struct Mapping {
    bytes: Mmap,
    /// Kept to query the length again.
    file: File,
    /// When the file was last written to, if the system says so.
    modified: Option<SystemTime>,
    /// The name of the file in errors.
    name: String,
}

impl Mapping {
    /// Maps `file`, and moves its position to its end, where reading would have left it: a process
    /// that shares the position, as with standard input, does not read the list a second time.
    /// `None` if the system cannot map it.
    ///
    /// # Safety
    ///
    /// No process truncates or rewrites the file while the mapping lives.
    pub(super) unsafe fn new(name: &str, mut file: File) -> Option<Mapping> {
        // SAFETY: the map is read-only and private to this type, which returns shared slices no
        // longer than it lives. The caller promises the rest.
        let bytes = unsafe { Mmap::map(&file) }.ok()?;
        // After the mapping: a log that grows in between is longer than its mapping from now on.
        let modified = file.metadata().ok()?.modified().ok();
        // The system may read pages ahead and drop them early. Failures change nothing.
        #[cfg(unix)]
        bytes.advise(memmap2::Advice::Sequential).ok();
        file.seek(SeekFrom::End(0)).ok();
        Some(Mapping { bytes, file, modified, name: name.to_owned() })
    }

    /// Checks that the file is still at least as long as its mapping, and that nothing was written to it
    /// if it is as long.
    ///
    /// # Errors
    ///
    /// [`InputError::Changed`] if the file is shorter, or was written to.
    pub(super) fn check(&self) -> Result<(), InputError> {
        let mapped = self.bytes.len() as u64;
        let change = match self.file.metadata() {
            Ok(now) if now.len() > mapped => return Ok(()),
            Ok(now) if now.len() == mapped && now.modified().ok() == self.modified => return Ok(()),
            Ok(now) if now.len() == mapped => "was written to",
            _ => "became shorter",
        };
        Err(InputError::Changed { name: self.name.clone(), change })
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
