//! The file of a policy set as a container: sections of bytes in blocks with checksums.
//!
//! Owns what `FORMAT.md` calls the container: the header, the layout of sections, checksums and
//! reading. It does not interpret the content of sections. `portcullis-build` writes a file.
//! [`SetFile`] opens one and returns only bytes that match their checksums.
//!
//! Any bytes may be opened. [`SetFile::open`] reads only the header. Each block is compared with
//! its checksum when it is first touched; [`SetFile::verify`] compares everything. Returned bytes
//! are unaligned, so read them as bytes or as zerocopy's little-endian numbers
//! ([`SetFile::items`]).
//!
//! Cost: opening reads 4,096 bytes and allocates one bit per block. An access checks bounds and, if
//! its blocks have been compared, loads one word. Otherwise it hashes the blocks (once, about 0.3
//! µs each) and the blocks of checksums above them, at most four for 256 TiB.
//!
//! Errors: opening can fail with a [`SetError`], and every access with a [`Damage`]. No bytes cause
//! a panic or an endless loop. `storage.rs` describes what another program can do to a mapped file;
//! call [`SetFile::is_whole`] before you use what was read.

mod blocks;
mod error;
mod header;
mod ranges;
mod section;
mod storage;

use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use portcullis_files::large_pages::ZeroedMemory;

use self::blocks::CheckedBlocks;
use self::error::Fault;
use self::storage::Compared;

pub use self::error::{Damage, FilePart, SetError};
pub use self::header::{
    Entry, Header, HeaderFields, OLDEST_VERSION, SetCounts, Stored as StoredHeader, VERSION,
};
pub use self::ranges::lose_set_mapped_at;
pub use self::section::{BLOCK, ContentHash, Layout, SECTION_ALIGNMENT, Section, SectionKind};
pub use self::storage::Storage;

/// The most blocks whose bits are scanned to find out whether a whole section was compared: 16 MiB.
///
/// Source: our choice. Scanning them once per block of records takes a few instructions per record.
const BLOCKS_SCANNED_MAX: u64 = 4_096;

/// An opened file. Threads may share it.
#[derive(Debug)]
pub struct SetFile {
    storage: Storage,
    header: Header,
    checked: CheckedBlocks,
}

impl SetFile {
    /// Opens any bytes. Reads the header.
    pub fn open(storage: Storage) -> Result<SetFile, SetError> {
        SetFile::with(storage, false)
    }

    /// Opens what this process has just written to memory, without comparing checksums of the data.
    /// `name` is its name in messages.
    pub fn trusted(name: &str, bytes: ZeroedMemory) -> Result<SetFile, SetError> {
        SetFile::with(Storage::owned(name, bytes), true)
    }

    fn with(storage: Storage, is_compared: bool) -> Result<SetFile, SetError> {
        let header = Header::decode(storage.name(), storage.bytes())?;
        let checked = CheckedBlocks::new(header.layout.blocks(), is_compared);
        Ok(SetFile { storage, header, checked })
    }

    /// Returns the name of the file in messages.
    pub fn name(&self) -> &str {
        self.storage.name()
    }

    /// Returns the fields that the writer chose. The caller checks whether the dialect is known and
    /// still behaves the same.
    pub fn fields(&self) -> &HeaderFields {
        &self.header.fields
    }

    /// Returns the version of the format.
    pub fn version(&self) -> u16 {
        self.header.version
    }

    /// Returns the hash that identifies the content, independent of where and when it was compiled.
    pub fn content_hash(&self) -> ContentHash {
        self.header.content_hash
    }

    /// Returns the size of the file, in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.header.layout.file_bytes()
    }

    /// Returns all sections, in file order.
    pub fn sections(&self) -> &[Section] {
        &self.header.sections
    }

    /// Returns the section of this kind. `None` if there is none.
    pub fn section(&self, kind: SectionKind) -> Option<Section> {
        self.header.sections.iter().copied().find(|section| section.kind == kind)
    }

    /// Returns the section of a kind that every set has.
    pub fn required(&self, kind: SectionKind) -> Result<Section, Damage> {
        let missing = || {
            let fault = Fault::Malformed("the set has no such section");
            self.damage(FilePart::Section(kind), 0, fault)
        };
        self.section(kind).ok_or_else(missing)
    }

    /// Returns `bytes` bytes of `section`, from `start` in it.
    #[inline(always)]
    pub fn bytes(&self, section: Section, start: u64, bytes: u64) -> Result<&[u8], Damage> {
        // Nearly all accesses are to blocks that have been compared, and cost no more than this
        // test.
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
        self.check(from / BLOCK, (from + bytes - 1) / BLOCK)?;
        // A section of another file, by mistake of the caller, may be out of bounds.
        let found = self.storage.bytes().get(from as usize..(from + bytes) as usize);
        found.ok_or_else(|| self.out_of_bounds(section, start, bytes))
    }

    /// Returns all bytes of a section, compared or not. Only use bytes that [`SetFile::bytes`] has
    /// compared before.
    #[inline]
    pub fn uncompared(&self, section: Section) -> &[u8] {
        let range = section.start as usize..section.end() as usize;
        self.storage.bytes().get(range).unwrap_or_default()
    }

    /// Like [`SetFile::uncompared`], for a section that is an array.
    #[inline]
    pub fn uncompared_items<T>(&self, section: Section) -> &[T]
    where
        T: FromBytes + Immutable + KnownLayout + Unaligned,
    {
        let bytes = self.uncompared(section);
        let items = bytes.len() / size_of::<T>();
        let found = <[T]>::ref_from_prefix_with_elems(bytes, items);
        found.map_or(&[], |(items, _)| items)
    }

    /// Returns whether the blocks of some bytes of a section, within its bounds, have been compared.
    #[inline(always)]
    pub fn is_compared(&self, section: Section, start: u64, bytes: usize) -> bool {
        let from = section.start + start;
        self.checked.has_all(from / BLOCK, (from + bytes as u64 - 1) / BLOCK)
    }

    /// Returns whether all blocks of a section have been compared, for callers that read much of it.
    /// Compares the others once half of them have been. Returns false for a section that is too large to
    /// find out.
    ///
    /// # Errors
    ///
    /// If it compares the others, and one is damaged.
    pub fn is_all_compared(&self, section: Section) -> Result<bool, Damage> {
        let (first, end) = (section.start / BLOCK, section.end().div_ceil(BLOCK));
        let last = end.saturating_sub(1).max(first);
        if last - first >= BLOCKS_SCANNED_MAX {
            return Ok(false);
        }
        if self.checked.has_all(first, last) {
            return Ok(true);
        }
        let is_read = self.checked.count(first, last) * 2 > last - first;
        if is_read {
            self.check(first, last)?;
        }
        Ok(is_read)
    }

    /// Returns `count` items of a section that is an array, from index `first`. They are read in
    /// place: numbers are zerocopy's unaligned `little_endian` types.
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
        self.damage(FilePart::Section(section.kind), section.start.saturating_add(start), fault)
    }

    /// Returns the damage to report if the bytes at `start` of a section violate its format. `what`
    /// is a clause that says how.
    #[cold]
    #[inline(never)]
    pub fn malformed(&self, section: Section, start: u64, what: &'static str) -> Damage {
        let offset = section.start.saturating_add(start);
        self.damage(FilePart::Section(section.kind), offset, Fault::Malformed(what))
    }

    /// Like [`SetFile::malformed`], for a header that contradicts the content.
    #[cold]
    pub fn malformed_header(&self, what: &'static str) -> Damage {
        self.damage(FilePart::Header, 0, Fault::Malformed(what))
    }

    #[cold]
    fn damage(&self, place: FilePart, offset: u64, fault: Fault) -> Damage {
        Damage::new(self.storage.name(), place, offset, fault)
    }

    /// Gives mapped pages back to the system, for a reader of the whole file.
    pub fn release_pages(&self) {
        self.storage.release_pages();
    }

    /// Returns a copy of the file.
    ///
    /// # Errors
    ///
    /// If the file was written to after it was opened.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Damage> {
        let bytes = self.storage.bytes().to_vec();
        self.is_whole()?;
        Ok(bytes)
    }

    /// Fails if the file became shorter after it was opened; data read since then may be wrong. It
    /// costs a system call if the file is mapped, and nothing otherwise. [`SetFile::is_whole`] finds
    /// more, at three times the cost.
    #[inline]
    pub fn has_length(&self) -> Result<(), Damage> {
        match self.storage.has_length() {
            true => Ok(()),
            false => Err(self.damage(FilePart::Header, 0, Fault::Shrunk)),
        }
    }

    /// Fails if the file was written to after it was opened, by its length and its times; data read
    /// since then may be wrong. If only its metadata changed, as when it is moved, all blocks that
    /// were compared are compared again.
    pub fn is_whole(&self) -> Result<(), Damage> {
        match self.storage.compare() {
            Compared::Same => Ok(()),
            Compared::Shorter => Err(self.damage(FilePart::Header, 0, Fault::Shrunk)),
            Compared::Written => Err(self.damage(FilePart::Header, 0, Fault::Rewritten)),
            Compared::Touched(stamp) => {
                let is_same = self.has_same_header() && self.check_again().is_ok();
                self.has_length()?;
                if !is_same {
                    return Err(self.damage(FilePart::Header, 0, Fault::Rewritten));
                }
                self.storage.accept(stamp);
                Ok(())
            }
        }
    }

    fn has_same_header(&self) -> bool {
        let header = Header::decode(self.storage.name(), self.storage.bytes());
        header.is_ok_and(|header| header == self.header)
    }

    /// Compares everything: every block, the padding and the content hash. Reads the whole file,
    /// and returns the number of its blocks, including the header.
    pub fn verify(&self) -> Result<u64, SetError> {
        self.is_whole()?;
        let sound = match Header::decode(self.storage.name(), self.storage.bytes()) {
            Ok(header) if header == self.header => self.verify_blocks(),
            Err(SetError::Damaged(damage)) => Err(damage),
            _ => Err(self.malformed_header("it is not what it was when the file was opened")),
        };
        self.is_whole()?;
        sound?;
        Ok(self.header.layout.blocks())
    }
}
