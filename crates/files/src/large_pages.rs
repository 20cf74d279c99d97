//! Zeroed memory for large tables that are read at random.
//!
//! A large table spans many pages, and a TLB miss costs as much as the read itself. Large pages
//! reduce the number of misses. This module requests them and works without them. Memory that was
//! never written takes no room. For small tables, and for tables that are read sequentially, use a
//! `Vec`.

use std::io;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bytes, initially zero and aligned to 64 (a cache line).
#[derive(Debug)]
pub struct ZeroedMemory {
    kind: Kind,
    bytes: usize,
}

#[derive(Debug)]
enum Kind {
    Mapped(MmapMut),
    /// Small memory.
    Allocated(Vec<Line>),
}

/// A cache line.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Line([u8; LINE_BYTES]);

const LINE_BYTES: usize = 64;

/// The size from which memory is mapped, in bytes: half of a large page of x86-64 and ARM64.
const MAPPED_BYTES_MIN: usize = 1 << 20;

impl ZeroedMemory {
    /// Allocates `bytes` zeroed bytes.
    ///
    /// # Errors
    ///
    /// If the system refuses the memory.
    pub fn new(bytes: usize) -> io::Result<ZeroedMemory> {
        if bytes < MAPPED_BYTES_MIN {
            let lines = vec![Line([0; LINE_BYTES]); bytes.div_ceil(LINE_BYTES)];
            return Ok(ZeroedMemory { kind: Kind::Allocated(lines), bytes });
        }
        let memory = MmapMut::map_anon(bytes)?;
        // Best effort: systems without large pages work too.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(ZeroedMemory { kind: Kind::Mapped(memory), bytes })
    }

    /// Shortens the memory to its first `bytes` bytes.
    pub fn truncate(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(bytes);
    }
}

impl From<&[u8]> for ZeroedMemory {
    fn from(bytes: &[u8]) -> ZeroedMemory {
        let mut memory = ZeroedMemory::new(bytes.len()).expect("as much memory as the bytes take");
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
            let mut memory = ZeroedMemory::new(bytes).unwrap();
            assert_eq!((memory.len(), memory.as_ptr().addr() % LINE_BYTES), (bytes, 0));
            assert!(memory.iter().all(|&byte| byte == 0));
            memory.fill(7);
            memory.truncate(13);
            assert_eq!(*memory, vec![7; bytes.min(13)]);
        }
    }
}
