//! The memory of a run, and what is drawn from it.
//!
//! A [`Budget`] has so many bytes, and each use of memory a [`Share`] of them. Uses that grow in many places at once,
//! such as the tables of a run, are drawn together from one share, and given back when they are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::COMPILE_MEMORY_MIN;

/// A part of the memory for one use: one of so many equal parts, and so many bytes at most.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The number of parts.
    pub parts: usize,
    /// The most bytes.
    pub bytes_max: usize,
}

/// Bytes of the tables of a run that stay in memory, all together: half of the memory. Less memory than
/// [`COMPILE_MEMORY_MIN`] counts as that.
///
/// Source: our choice. The other half is for buffers, sorting and plans.
pub const TABLES: Share = Share { parts: 2, bytes_max: usize::MAX };

/// Bytes that the spools of a run keep in memory next to their buffers, all together: a quarter of the memory.
///
/// Source: our choice. What fits is neither written nor compressed.
pub const SPOOLS: Share = Share { parts: 4, bytes_max: usize::MAX };

/// Bytes of a table of captures that is sorted in memory before it is written as a run: at most 256 MiB, and a
/// quarter of the memory.
///
/// Source: measured. A larger table makes fewer runs and no less work: each is read once.
pub const SORT_RUN: Share = Share { parts: 4, bytes_max: 256 * 1024 * 1024 };

/// Bytes of one spool that are collected in memory before they are written to a temporary file: at most 1 MiB, and a
/// 64th of the memory.
///
/// Source: our choice. A set has some 30 spools, and a write of this size costs as much per byte as a larger
/// one.
pub const SPOOL_BUFFER: Share = Share { parts: 64, bytes_max: 1024 * 1024 };

/// The memory of a run. Clones draw from the same.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// The bytes; `None` without a bound.
    bytes: Option<usize>,
    tables: Arc<AtomicUsize>,
    spools: Arc<AtomicUsize>,
}

impl Budget {
    /// Returns a budget of so many bytes; `None` for no bound.
    pub fn new(bytes: Option<usize>) -> Budget {
        Budget { bytes, ..Budget::default() }
    }

    /// Returns the bytes; `None` without a bound.
    pub fn bytes(&self) -> Option<usize> {
        self.bytes
    }

    /// Returns the bytes of a share.
    pub fn of(&self, share: Share) -> usize {
        (self.bytes.unwrap_or(usize::MAX) / share.parts).min(share.bytes_max)
    }

    /// Returns the bytes of a share beyond which temporary files are used; [`usize::MAX`] without a bound, and then
    /// nothing goes to files.
    pub fn before_files(&self, share: Share) -> usize {
        self.bytes.map_or(usize::MAX, |_| self.of(share))
    }

    /// Begins to draw for one of the [`TABLES`].
    pub(crate) fn for_table(&self) -> Drawn {
        let max = self.bytes.map(|bytes| bytes.max(COMPILE_MEMORY_MIN) / TABLES.parts);
        Drawn { all: Arc::clone(&self.tables), max, bytes: 0 }
    }

    /// Begins to draw for one of the [`SPOOLS`].
    pub(crate) fn for_spool(&self) -> Drawn {
        let max = self.bytes.map(|_| self.of(SPOOLS));
        Drawn { all: Arc::clone(&self.spools), max, bytes: 0 }
    }
}

/// Bytes that are drawn from a budget, until they are dropped.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    /// The bytes that are drawn for all uses of the kind.
    pub(crate) all: Arc<AtomicUsize>,
    pub(crate) max: Option<usize>,
    pub(crate) bytes: usize,
}

impl Drawn {
    /// Sets the number of bytes. Otherwise fails with the bytes that all would have together.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<(), usize> {
        let more = bytes.wrapping_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let all = self.all.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
        if self.max.is_some_and(|max| all > max) {
            self.all.fetch_sub(more, Ordering::Relaxed);
            return Err(all);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
