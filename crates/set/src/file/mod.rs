//! The file of a policy set as a container: sections of bytes, each block with a checksum.
//!
//! Owns what `FORMAT.md` (beside this folder) calls the container: the header, where sections stand,
//! checksums, writing atomically. What is in the sections is its users' affair. [`SetFileWriter`]
//! makes a file, [`SetFile`] opens one and hands out bytes that are those that were written.
//!
//! Anything may be opened, from any source. [`SetFile::open`] looks at the header only; each block
//! is compared with its checksum when it is first touched, and [`SetFile::verify`] looks at
//! everything. What is handed out has no alignment, so users read it as bytes or as zerocopy's
//! little-endian numbers ([`SetFile::items`]).
//!
//! Cost: opening reads 4,096 bytes and takes a bit of memory for each block. An access compares
//! bounds and loads one word if its blocks have been compared, and else hashes them (some 0.3 µs a
//! block, once) and the blocks of checksums above them, four at most for 256 TiB.
//!
//! What can fail: opening ([`SetError`]), and every access to bytes ([`Damage`]). There is no panic
//! and no endless loop for any bytes. What a program can do to the file while it is mapped is said
//! in `mapping.rs`; ask [`SetFile::is_whole`] before answers are called complete.

mod blocks;
mod error;
mod header;
mod layout;
mod mapping;
mod section;
mod storage;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::large_pages::ZeroedMemory;

use self::blocks::{BlockReader, CheckedBlocks};
use self::error::{Fault, Place};
use self::header::Header;
use self::layout::BLOCK;

pub use self::error::{Damage, SetError, WriteError};
#[cfg(test)]
pub use self::header::at as header_offsets;
pub use self::header::{COUNTS, HeaderFields};
pub use self::section::{Section, SectionKind};
pub use self::storage::Storage;
pub use self::verify::Verification;
pub use self::writer::{Destination, SetFileWriter, Written};

/// A file that has been opened. Threads may share it.
#[derive(Debug)]
pub struct SetFile {
    storage: Storage,
    header: Header,
    checked: CheckedBlocks,
}

impl SetFile {
    /// Opens any bytes. It reads the header.
    pub fn open(storage: Storage) -> Result<SetFile, SetError> {
        SetFile::with(storage, CheckedBlocks::none)
    }

    /// Opens what this process has just written into memory, which messages call `name`, and compares no
    /// checksum of its data.
    pub fn trusted(name: &str, bytes: ZeroedMemory) -> Result<SetFile, SetError> {
        SetFile::with(Storage::owned(name, bytes), CheckedBlocks::all)
    }

    fn with(storage: Storage, checked: fn(u64) -> CheckedBlocks) -> Result<SetFile, SetError> {
        if cfg!(target_endian = "big") {
            return Err(SetError::BigEndian { name: storage.name().to_string() });
        }
        let header = Header::decode(storage.name(), storage.bytes())?;
        let checked = checked(header.layout.blocks());
        Ok(SetFile { storage, header, checked })
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        self.storage.name()
    }

    /// What its maker says about it. Whether the dialect is known and behaves as it did is the
    /// caller's to ask.
    pub fn fields(&self) -> &HeaderFields {
        &self.header.fields
    }

    /// The identity of the content, wherever and whenever it was made.
    pub fn content_hash(&self) -> u64 {
        self.header.content_hash
    }

    /// The length of the file.
    pub fn file_bytes(&self) -> u64 {
        self.header.layout.file_bytes()
    }

    /// All sections, in the order of the file.
    pub fn sections(&self) -> &[Section] {
        &self.header.sections
    }

    /// The section of a kind, if there is one.
    pub fn section(&self, kind: SectionKind) -> Option<Section> {
        self.header.sections.iter().copied().find(|section| section.kind == kind)
    }

    /// The section of a kind that every set has.
    pub fn required(&self, kind: SectionKind) -> Result<Section, Damage> {
        let missing = || {
            let fault = Fault::Malformed("the set has no such section");
            Damage::new(self.storage.name(), Place::Section(kind), 0, fault)
        };
        self.section(kind).ok_or_else(missing)
    }

    /// Bytes of `section`, `start` counted from its beginning.
    #[inline(always)]
    pub fn bytes(&self, section: Section, start: u64, bytes: u64) -> Result<&[u8], Damage> {
        // Nearly every access is to blocks that have been compared, and this is all that it costs.
        if let Some(from) = section.locate(start, bytes)
            && bytes > 0
            && self.checked.has_all(from / BLOCK, (from + bytes - 1) / BLOCK)
            && let Some(found) = self.storage.bytes().get(from as usize..(from + bytes) as usize)
        {
            return Ok(found);
        }
        self.bytes_to_compare(section, start, bytes)
    }

    #[cold]
    #[inline(never)]
    fn bytes_to_compare(&self, section: Section, start: u64, bytes: u64) -> Result<&[u8], Damage> {
        let Some(from) = section.locate(start, bytes) else {
            return Err(self.out_of_bounds(section, start, bytes));
        };
        if bytes == 0 {
            return Ok(&[]);
        }
        self.blocks().check(from / BLOCK, (from + bytes - 1) / BLOCK)?;
        // The section is of this file, or it is somebody's mistake.
        let found = self.storage.bytes().get(from as usize..(from + bytes) as usize);
        found.ok_or_else(|| self.out_of_bounds(section, start, bytes))
    }

    /// All bytes of a section, whether their blocks have been compared or not: whoever uses some of them
    /// has had [`SetFile::bytes`] compare those before.
    #[inline]
    pub fn uncompared(&self, section: Section) -> &[u8] {
        let range = section.start as usize..section.end() as usize;
        self.storage.bytes().get(range).unwrap_or_default()
    }

    /// Items of a section that is an array of them, `first` counted in items. They are read in
    /// place: numbers are zerocopy's `little_endian` ones, which have no alignment.
    #[inline(always)]
    pub fn items<T>(&self, section: Section, first: u64, count: u64) -> Result<&[T], Damage>
    where
        T: FromBytes + Immutable + KnownLayout + Unaligned,
    {
        let item = size_of::<T>() as u64;
        let (Some(start), Some(bytes)) = (first.checked_mul(item), count.checked_mul(item)) else {
            return Err(self.out_of_bounds(section, first, u64::MAX));
        };
        let found = <[T]>::ref_from_bytes(self.bytes(section, start, bytes)?);
        found.map_err(|_| self.out_of_bounds(section, start, bytes))
    }

    #[cold]
    #[inline(never)]
    fn out_of_bounds(&self, section: Section, start: u64, bytes: u64) -> Damage {
        let fault = Fault::OutOfBounds { bytes, has: section.bytes };
        self.damage(section, start, fault)
    }

    /// Damage for whoever finds at `start` of a section what its format does not have there; `what`
    /// says so in a clause.
    #[cold]
    #[inline(never)]
    pub fn malformed(&self, section: Section, start: u64, what: &'static str) -> Damage {
        self.damage(section, start, Fault::Malformed(what))
    }

    /// As [`SetFile::malformed`], of what the header says about the content.
    #[cold]
    pub fn malformed_header(&self, what: &'static str) -> Damage {
        Damage::new(self.storage.name(), Place::Header, 0, Fault::Malformed(what))
    }

    fn damage(&self, section: Section, start: u64, fault: Fault) -> Damage {
        let offset = section.start.saturating_add(start);
        Damage::new(self.storage.name(), Place::Section(section.kind), offset, fault)
    }

    /// Whether the file is still as long as it was when it was opened. If not, what was read from it
    /// meanwhile may be wrong. It costs a system call if the file is mapped, and nothing otherwise.
    #[inline]
    pub fn is_whole(&self) -> Result<(), Damage> {
        if self.storage.is_whole() {
            return Ok(());
        }
        Err(Damage::new(self.storage.name(), Place::Header, 0, Fault::Shrunk))
    }

    /// Compares everything: every block, the padding, the content hash. It reads the whole file.
    pub fn verify(&self) -> Result<Verification, SetError> {
        self.is_whole()?;
        let mut found = Verification::new(self.header.layout.blocks());
        match Header::decode(self.storage.name(), self.storage.bytes()) {
            Ok(header) if header == self.header => {}
            Err(SetError::Damaged(damage)) => found.add(damage),
            _ => {
                let fault = Fault::Malformed("it is not what it was when the file was opened");
                found.add(Damage::new(self.storage.name(), Place::Header, 0, fault));
            }
        }
        verify::walk(&self.blocks(), &mut found);
        self.is_whole()?;
        Ok(found)
    }

    fn blocks(&self) -> BlockReader<'_> {
        BlockReader {
            name: self.storage.name(),
            file: self.storage.bytes(),
            header: &self.header,
            checked: &self.checked,
        }
    }
}
