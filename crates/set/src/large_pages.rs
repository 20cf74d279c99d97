//! Zeroed memory for large tables that are read here and there.
//!
//! Such a table is spread over many pages, and finding a page costs as much as reading from it. Large
//! pages, where the system has them, make fewer of them: this asks for them and takes what it gets.
//! Memory that nothing was written to takes no room. For all that is small, or read from beginning to
//! end, a `Vec` is as good.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bytes, zero at first. They begin at a multiple of 64, the line of a processor's cache.
#[derive(Debug)]
pub struct ZeroedMemory {
    kind: Kind,
    bytes: usize,
}

#[derive(Debug)]
enum Kind {
    Mapped(MmapMut),
    /// What is small, and where nothing can be mapped.
    Allocated(Vec<Line>),
}

/// A line of a processor's cache.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Line([u8; LINE_BYTES]);

const LINE_BYTES: usize = 64;

/// Bytes from which on memory is mapped: half of a large page of x86-64 and ARM64.
const MAPPED_BYTES_MIN: usize = 1 << 20;

impl ZeroedMemory {
    /// So many bytes.
    ///
    /// # Panics
    ///
    /// If there is not so much memory, as any allocation does.
    pub fn new(bytes: usize) -> ZeroedMemory {
        let mapped = (bytes >= MAPPED_BYTES_MIN).then(|| MmapMut::map_anon(bytes));
        let Some(Ok(memory)) = mapped else { return ZeroedMemory::allocated(bytes) };
        // It is a wish; a system that has no large pages is as right without.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        ZeroedMemory { kind: Kind::Mapped(memory), bytes }
    }

    fn allocated(bytes: usize) -> ZeroedMemory {
        let lines = vec![Line([0; LINE_BYTES]); bytes.div_ceil(LINE_BYTES)];
        ZeroedMemory { kind: Kind::Allocated(lines), bytes }
    }

    /// Forgets what lies behind the first `bytes`.
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
        let bytes: &[u8] = match &self.kind {
            Kind::Mapped(memory) => memory,
            Kind::Allocated(lines) => lines.as_bytes(),
        };
        &bytes[..self.bytes]
    }
}

impl DerefMut for ZeroedMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes: &mut [u8] = match &mut self.kind {
            Kind::Mapped(memory) => memory,
            Kind::Allocated(lines) => lines.as_mut_bytes(),
        };
        &mut bytes[..self.bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_zero_and_begin_a_line() {
        for bytes in [0, 1, 13, 64, MAPPED_BYTES_MIN - 1, MAPPED_BYTES_MIN, 3 << 20] {
            let mut memory = ZeroedMemory::new(bytes);
            assert_eq!((memory.len(), memory.as_ptr().addr() % LINE_BYTES), (bytes, 0));
            assert!(memory.iter().all(|&byte| byte == 0));
            memory.fill(7);
            memory.truncate(13);
            assert_eq!(*memory, vec![7; bytes.min(13)]);
        }
    }
}
