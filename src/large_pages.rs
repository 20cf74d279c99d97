//! Zeroed memory for large tables that are read here and there.
//!
//! Such a table is spread over many pages, and finding a page costs as much as reading from it. Large
//! pages, where the system has them, make fewer of them: this asks for them and takes what it gets.
//! Memory that nothing was written to takes no room. For all that is small, or read from beginning to
//! end, a `Vec` is as good.
//!
//! ```
//! use portcullis::large_pages::ZeroedMemory;
//!
//! let mut memory = ZeroedMemory::new(16 * 1024 * 1024);
//! memory[4096] = 1;
//! assert_eq!((memory[4096], memory[4097], memory.len()), (1, 0, 16 * 1024 * 1024));
//! ```

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Octets, zero at first. They begin at an address that every number can have.
#[derive(Debug)]
pub struct ZeroedMemory(Kind);

#[derive(Debug)]
enum Kind {
    Mapped(MmapMut),
    /// Where nothing can be mapped.
    Allocated(Vec<u64>, usize),
}

impl ZeroedMemory {
    /// So many octets.
    ///
    /// # Panics
    ///
    /// If there is not so much memory, as any allocation does.
    pub fn new(octets: usize) -> ZeroedMemory {
        match MmapMut::map_anon(octets) {
            Ok(memory) => {
                // It is a wish; a system that has no large pages is as right without.
                #[cfg(target_os = "linux")]
                let _ = memory.advise(memmap2::Advice::HugePage);
                ZeroedMemory(Kind::Mapped(memory))
            }
            Err(_) => ZeroedMemory(Kind::Allocated(vec![0; octets.div_ceil(8)], octets)),
        }
    }
}

impl Deref for ZeroedMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Kind::Mapped(memory) => memory,
            Kind::Allocated(words, octets) => &zerocopy::IntoBytes::as_bytes(&words[..])[..*octets],
        }
    }
}

impl DerefMut for ZeroedMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Kind::Mapped(memory) => memory,
            Kind::Allocated(words, octets) => {
                &mut zerocopy::IntoBytes::as_mut_bytes(&mut words[..])[..*octets]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_mapped_is_allocated() {
        let mut memory = ZeroedMemory(Kind::Allocated(vec![0; 2], 13));
        memory[12] = 5;
        assert_eq!(memory.len(), 13);
        assert_eq!(memory[12], 5);
        assert!(memory[..12].iter().all(|&octet| octet == 0));
    }
}
