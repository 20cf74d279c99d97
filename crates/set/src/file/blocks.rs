//! Compares blocks with their checksums, and records which blocks have been compared.
//!
//! One bit per block of the file says that its checksum matched. Every access tests it, so the
//! usual case costs one load and one comparison; the rest is in separate functions. Threads may
//! compare the same block at the same time, find the same and set the same bit. Relaxed memory
//! ordering suffices, because only the bits are written: a bit says something about bytes that
//! existed before the file was opened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::error::{Damage, Fault, Place};
use super::header::Header;
use super::layout::{BLOCK, CHECKSUM};

/// The bits of a file.
#[derive(Debug)]
pub(super) struct CheckedBlocks {
    words: Box<[AtomicU64]>,
}

impl CheckedBlocks {
    /// Creates the bits of a file of `blocks` blocks, of which only the header has been compared.
    pub(super) fn none(blocks: u64) -> CheckedBlocks {
        CheckedBlocks::filled(blocks, 0)
    }

    /// Creates the bits of a file of `blocks` blocks that this process has written itself.
    pub(super) fn all(blocks: u64) -> CheckedBlocks {
        CheckedBlocks::filled(blocks, u64::MAX)
    }

    fn filled(blocks: u64, bits: u64) -> CheckedBlocks {
        let words = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(bits)).collect();
        CheckedBlocks { words }
    }

    /// Returns whether the blocks from `first` to `last` have been compared. May return false for
    /// compared blocks whose bits are not in one word; [`BlockReader::check`] then tests each.
    #[inline]
    pub(super) fn has_all(&self, first: u64, last: u64) -> bool {
        let mask = (u64::MAX << (first % 64)) & (u64::MAX >> (63 - last % 64));
        let word = self.words.get((first / 64) as usize);
        first / 64 == last / 64
            && word.is_some_and(|word| word.load(Ordering::Relaxed) & mask == mask)
    }

    fn has(&self, block: u64) -> bool {
        self.has_all(block, block)
    }

    fn add(&self, block: u64) {
        if let Some(word) = self.words.get((block / 64) as usize) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }
}

/// The bytes of a file, with the data needed to compare them.
#[derive(Clone, Copy)]
pub(super) struct BlockReader<'f> {
    pub(super) name: &'f Arc<str>,
    pub(super) file: &'f [u8],
    pub(super) header: &'f Header,
    pub(super) checked: &'f CheckedBlocks,
}

impl<'f> BlockReader<'f> {
    /// Compares the blocks from `first` to `last` that have not been compared.
    #[cold]
    #[inline(never)]
    pub(super) fn check(&self, first: u64, last: u64) -> Result<(), Damage> {
        (first..=last).try_for_each(|block| self.check_block(block))
    }

    /// Compares a block, after the blocks that contain its checksum. The number of levels bounds
    /// the recursion.
    fn check_block(&self, block: u64) -> Result<(), Damage> {
        if self.checked.has(block) {
            return Ok(());
        }
        let Some((level, index)) = self.header.layout.place(block) else {
            return Ok(()); // The header, which was compared on opening.
        };
        if let Some(offset) = self.header.layout.checksum_offset(level, index) {
            self.check_block(offset / BLOCK)?;
        }
        self.compare(block, self.expected(level, index))?;
        self.checked.add(block);
        Ok(())
    }

    /// Returns the stored checksum of a block.
    pub(super) fn expected(&self, level: usize, index: u64) -> u64 {
        match self.header.layout.checksum_offset(level, index) {
            Some(offset) => self.checksum_at(offset),
            None => self.header.root,
        }
    }

    fn checksum_at(&self, offset: u64) -> u64 {
        let bytes = &self.file[offset as usize..][..CHECKSUM as usize];
        u64::from_le_bytes(bytes.try_into().expect("a checksum has eight bytes"))
    }

    /// Compares a block with its stored checksum.
    pub(super) fn compare(&self, block: u64, expected: u64) -> Result<(), Damage> {
        let found = xxh3_64(self.block(block));
        if found == expected {
            return Ok(());
        }
        let offset = block * BLOCK;
        Err(Damage::new(self.name, self.place(offset), offset, Fault::Checksum { expected, found }))
    }

    /// # Panics
    ///
    /// If the file has no such block. A checked header only refers to existing blocks.
    pub(super) fn block(&self, block: u64) -> &'f [u8] {
        &self.file[(block * BLOCK) as usize..][..BLOCK as usize]
    }

    /// Returns what the block at `offset` contains: its first section, if it has one.
    pub(super) fn place(&self, offset: u64) -> Place {
        match self.header.layout.place(offset / BLOCK) {
            None => Place::Header,
            Some((0, _)) => {
                let sections = self.header.sections.iter();
                sections
                    .filter(|section| section.bytes > 0)
                    .find(|section| section.end() > offset && section.start < offset + BLOCK)
                    .map_or(Place::Padding, |section| Place::Section(section.kind))
            }
            Some(_) => Place::Checksums,
        }
    }
}
