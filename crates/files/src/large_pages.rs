//! Zeroed memory for large tables that are read at random.
//!
//! A large table spans many pages, and a TLB miss costs as much as the read itself. Large pages
//! reduce the number of misses. This module requests them and works without them. Memory that was
//! never written takes no room. For small tables, and for tables that are read sequentially, use a
//! `Vec`.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Bytes, initially zero and aligned to a page.
#[derive(Debug)]
pub struct ZeroedMemory {
    mapping: MmapMut,
    bytes: usize,
}

/// The size from which large pages are requested, in bytes: half of one of x86-64 and ARM64.
#[cfg(target_os = "linux")]
const LARGE_BYTES_MIN: usize = 1 << 20;

impl ZeroedMemory {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Panics
    ///
    /// If there is not enough memory, as for any allocation.
    pub fn new(bytes: usize) -> ZeroedMemory {
        let mapping = MmapMut::map_anon(bytes).expect("there is enough memory");
        // Best effort: systems without large pages work too.
        #[cfg(target_os = "linux")]
        if bytes >= LARGE_BYTES_MIN {
            let _ = mapping.advise(memmap2::Advice::HugePage);
        }
        ZeroedMemory { mapping, bytes }
    }

    /// Shortens the memory to its first `bytes` bytes.
    pub fn truncate(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(bytes);
    }
}

impl From<&[u8]> for ZeroedMemory {
    fn from(bytes: &[u8]) -> ZeroedMemory {
        let mut memory = ZeroedMemory::new(bytes.len());
        memory.copy_from_slice(bytes);
        memory
    }
}

impl Deref for ZeroedMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.mapping[..self.bytes]
    }
}

impl DerefMut for ZeroedMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.mapping[..self.bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_zero_and_begin_a_cache_line() {
        for bytes in [0, 1, 13, 64, (1 << 20) - 1, 1 << 20, 3 << 20] {
            let mut memory = ZeroedMemory::new(bytes);
            assert_eq!((memory.len(), memory.as_ptr().addr() % 64), (bytes, 0));
            assert!(memory.iter().all(|&byte| byte == 0));
            memory.fill(7);
            memory.truncate(13);
            assert_eq!(*memory, vec![7; bytes.min(13)]);
        }
    }
}
