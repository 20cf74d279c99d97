//! Verifies a whole file: every block, the padding and the content hash.
//!
//! Unlike reading, it continues after damage, so that its report tells a flipped bit from a failing
//! disk. It compares blocks again that have been compared before. It reads the file once, levels
//! first.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::blocks::BlockReader;
use super::error::{Damage, Fault, Place};
use super::header::at;
use super::layout::{BLOCK, CHECKSUM};
use super::section::Section;

/// The result of verifying a file.
#[derive(Debug)]
pub struct Verification {
    /// The number of blocks of the file, including the header.
    pub blocks: u64,
    /// The number of blocks that differ from the written ones.
    pub damaged: u64,
    /// The number of blocks that cannot be compared, because the block with their checksums is
    /// damaged.
    pub unjudged: u64,
    /// The damage with the lowest offset.
    pub first: Option<Damage>,
}

impl Verification {
    #[cfg(test)]
    /// Returns whether every byte is valid.
    pub fn is_sound(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn new(blocks: u64) -> Verification {
        Verification { blocks, damaged: 0, unjudged: 0, first: None }
    }

    /// Counts a damaged block.
    pub(super) fn add(&mut self, damage: Damage) {
        self.damaged += 1;
        if self.first.as_ref().is_none_or(|first| damage.offset() < first.offset()) {
            self.first = Some(damage);
        }
    }
}

/// Verifies the levels, the last first, and then what else can be wrong in blocks whose checksums
/// match.
pub(super) fn walk(reader: &BlockReader<'_>, found: &mut Verification) {
    let mut sound = SoundBlocks::none(found.blocks);
    for number in (0..reader.header.layout.levels().len()).rev() {
        walk_level(reader, number, &mut sound, found);
    }
    for (start, end, place) in gaps(reader) {
        check_zeros(reader, start..end, place, &mut sound, found);
    }
    check_content_hash(reader, &sound, found);
}

fn walk_level(
    reader: &BlockReader<'_>,
    number: usize,
    sound: &mut SoundBlocks,
    found: &mut Verification,
) {
    let layout = &reader.header.layout;
    let level = layout.levels()[number];
    for index in 0..level.blocks {
        let offset = layout.checksum_offset(number, index);
        if offset.is_some_and(|offset| !sound.has(offset / BLOCK)) {
            found.unjudged += 1;
            continue;
        }
        let block = level.first_block + index;
        match reader.compare(block, reader.expected(number, index)) {
            Ok(()) => sound.set(block, true),
            Err(damage) => found.add(damage),
        }
    }
}

/// Returns the ranges of padding: between sections, and at the end of each level.
fn gaps(reader: &BlockReader<'_>) -> Vec<(u64, u64, Place)> {
    let header = reader.header;
    let mut gaps = Vec::new();
    let ends = header.sections.iter().map(Section::end);
    let data = header.layout.levels()[0];
    let data_end = (data.first_block + data.blocks) * BLOCK;
    let starts = header.sections.iter().skip(1).map(|section| section.start);
    for (end, next_start) in ends.zip(starts.chain([data_end])) {
        gaps.push((end, next_start, Place::Padding));
    }
    for pair in header.layout.levels().windows(2) {
        let start = pair[1].first_block * BLOCK;
        let end = start + pair[1].blocks * BLOCK;
        gaps.push((start + pair[0].blocks * CHECKSUM, end, Place::Checksums));
    }
    gaps
}

/// Reports the first byte of a gap that is not zero, unless its block is damaged already. A gap
/// ends with its block or, between sections, soon after it.
fn check_zeros(
    reader: &BlockReader<'_>,
    gap: std::ops::Range<u64>,
    place: Place,
    sound: &mut SoundBlocks,
    found: &mut Verification,
) {
    let bytes = &reader.file[gap.start as usize..gap.end as usize];
    let odd = (gap.start..).zip(bytes).find(|&(at, &byte)| byte != 0 && sound.has(at / BLOCK));
    if let Some((offset, _)) = odd {
        sound.set(offset / BLOCK, false);
        let fault = Fault::Malformed("a byte of the padding is not zero");
        found.add(Damage::new(reader.name, place, offset, fault));
    }
}

/// Compares the content hash, if the header and the first level are sound.
fn check_content_hash(reader: &BlockReader<'_>, sound: &SoundBlocks, found: &mut Verification) {
    let header = reader.header;
    if found.first.as_ref().is_some_and(|first| first.offset() < BLOCK) {
        return;
    }
    let levels = header.layout.levels();
    let checksums = match levels {
        [data, first, ..] => {
            let blocks = first.first_block..first.first_block + first.blocks;
            if blocks.into_iter().any(|block| !sound.has(block)) {
                return;
            }
            let bytes = &reader.file[(first.first_block * BLOCK) as usize..];
            &bytes[..(data.blocks * CHECKSUM) as usize]
        }
        _ => &[],
    };
    if content_hash(&header.sections, checksums) != header.content_hash {
        let fault = Fault::Malformed("the content hash is that of another content");
        found.add(Damage::new(reader.name, Place::Header, at::CONTENT_HASH as u64, fault));
    }
}

/// Returns the hash that identifies a set's content. `checksums` is the first level without its
/// padding.
pub(super) fn content_hash(sections: &[Section], checksums: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&(sections.len() as u64).to_le_bytes());
    for section in sections {
        hash.update(&section.kind.0.to_le_bytes());
        hash.update(&section.bytes.to_le_bytes());
    }
    hash.update(checksums);
    hash.digest()
}

/// Returns the root checksum of a file without data.
pub(super) fn root_of_nothing() -> u64 {
    xxh3_64(&[])
}

/// One bit for each block that was found sound in this run.
struct SoundBlocks {
    words: Vec<u64>,
}

impl SoundBlocks {
    fn none(blocks: u64) -> SoundBlocks {
        SoundBlocks { words: vec![0; blocks.div_ceil(64) as usize] }
    }

    fn has(&self, block: u64) -> bool {
        self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    fn set(&mut self, block: u64, is_sound: bool) {
        let bit = 1 << (block % 64);
        let word = &mut self.words[(block / 64) as usize];
        *word = if is_sound { *word | bit } else { *word & !bit };
    }
}
