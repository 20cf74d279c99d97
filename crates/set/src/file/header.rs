//! The header: the first block, which identifies the file and locates the sections.
//!
//! [`Header::decode`] takes any bytes. The header that it returns fits the file, so later code need
//! not check whether a section lies within the data. Checks are in the order that gives the most
//! helpful message: not a set, cut short, damaged, too new, and only then the contents.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::error::{Damage, Fault, Place, SetError};
use super::layout::{BLOCK, Layout, align_section};
use super::section::{Section, SectionKind};
use portcullis_dialect::limits::{FILE_READ_BYTES, SET_BLOCK_BYTES, SET_SECTIONS_MAX};
use portcullis_robots::kind::{FileKind, POLICY_SET, Wanted, WrongKind};

pub(super) const MAGIC: [u8; 8] = *POLICY_SET;

/// The format version that this program writes and reads. It increases if the meaning of any bytes
/// changes.
pub(super) const VERSION: u32 = 6;

/// The number of counts that the header can hold.
pub const COUNTS: usize = 16;

/// Offsets of the fields.
pub mod at {
    pub const VERSION: usize = 8;
    pub const SECTIONS: usize = 12;
    pub const FILE_BYTES: usize = 16;
    pub const CONTENT_HASH: usize = 24;
    pub const ROOT: usize = 32;
    pub const DIALECT_REVISION: usize = 40;
    pub const ROBOTS_BYTES_MAX: usize = 48;
    pub const FLAGS: usize = 56;
    pub const DIALECT_NAME: usize = 64;
    pub const COUNTS: usize = 128;
    pub const TABLE: usize = 256;
    pub const CHECKSUM: usize = portcullis_dialect::limits::SET_BLOCK_BYTES - 8;
}

/// The maximum length of a dialect's name, in bytes.
const NAME_BYTES: usize = at::COUNTS - at::DIALECT_NAME;

/// The size of an entry in the table of sections, in bytes.
pub(super) const ENTRY: usize = 24;

const _: () = assert!(at::TABLE + SET_SECTIONS_MAX * ENTRY <= at::CHECKSUM);
const _: () = assert!(at::COUNTS + COUNTS * 8 == at::TABLE);

/// The fields that the writer of a set chooses. The container stores them unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderFields {
    /// The dialect's name: 1 to 64 ASCII characters without blanks.
    pub dialect_name: String,
    /// The revision of the dialect
    /// ([`Dialect::revision`](portcullis_dialect::dialect::Dialect::revision)).
    pub dialect_revision: u64,
    /// The maximum number of bytes read per robots.txt file; `None` if there was no limit.
    pub robots_bytes_max: Option<u64>,
    /// See `FORMAT.md`.
    pub flags: u64,
    /// See `FORMAT.md`.
    pub counts: [u64; COUNTS],
}

/// A header that fits its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) fields: HeaderFields,
    pub(super) sections: Vec<Section>,
    pub(super) content_hash: u64,
    pub(super) root: u64,
    pub(super) layout: Layout,
}

impl Header {
    /// Decodes the header of `file`, which is the whole file. Touches only the first block.
    pub(super) fn decode(name: &Arc<str>, file: &[u8]) -> Result<Header, SetError> {
        let block = first_block(name, file)?;
        let reader = Reader { name, block };
        reader.check_version()?;
        reader.check_length(file.len() as u64)?;
        let sections = reader.sections()?;
        let data_end = sections.last().map_or(BLOCK, Section::end);
        let layout = Layout::of_data(data_end)
            .filter(|layout| layout.file_bytes() == file.len() as u64)
            .ok_or_else(|| reader.malformed(at::TABLE, "sections do not fill the file"))?;
        reader.check_zeros(at::TABLE + sections.len() * ENTRY, at::CHECKSUM)?;
        Ok(Header {
            fields: reader.fields()?,
            sections,
            content_hash: reader.u64(at::CONTENT_HASH),
            root: reader.u64(at::ROOT),
            layout,
        })
    }

    /// # Panics
    ///
    /// If the dialect's name is invalid in a header, or there are too many sections.
    pub(super) fn encode(&self) -> [u8; SET_BLOCK_BYTES] {
        let Header { fields, sections, .. } = self;
        let name = fields.dialect_name.as_bytes();
        assert!((1..=NAME_BYTES).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic));
        assert!(sections.len() <= SET_SECTIONS_MAX);
        let mut block = [0; SET_BLOCK_BYTES];
        let mut put = |at: usize, bytes: &[u8]| block[at..][..bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(at::VERSION, &VERSION.to_le_bytes());
        put(at::SECTIONS, &(sections.len() as u32).to_le_bytes());
        put(at::FILE_BYTES, &self.layout.file_bytes().to_le_bytes());
        put(at::CONTENT_HASH, &self.content_hash.to_le_bytes());
        put(at::ROOT, &self.root.to_le_bytes());
        put(at::DIALECT_REVISION, &fields.dialect_revision.to_le_bytes());
        put(at::ROBOTS_BYTES_MAX, &fields.robots_bytes_max.unwrap_or(u64::MAX).to_le_bytes());
        put(at::FLAGS, &fields.flags.to_le_bytes());
        put(at::DIALECT_NAME, name);
        for (index, count) in fields.counts.iter().enumerate() {
            put(at::COUNTS + index * 8, &count.to_le_bytes());
        }
        for (index, section) in sections.iter().enumerate() {
            let entry = at::TABLE + index * ENTRY;
            put(entry, &section.kind.0.to_le_bytes());
            put(entry + 8, &section.start.to_le_bytes());
            put(entry + 16, &section.bytes.to_le_bytes());
        }
        seal(&mut block);
        block
    }
}

/// Writes the checksum to the end of a header's block.
pub(super) fn seal(block: &mut [u8; SET_BLOCK_BYTES]) {
    let checksum = xxh3_64(&block[..at::CHECKSUM]);
    block[at::CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
}

/// Returns the first block of an undamaged set file of any version.
fn first_block<'f>(name: &Arc<str>, file: &'f [u8]) -> Result<&'f [u8], SetError> {
    let has = file.len() as u64;
    let cut_short = || SetError::Truncated { name: name.to_string(), has, of: BLOCK };
    if !file.starts_with(&MAGIC) {
        return Err(match file {
            [_, ..] if MAGIC.starts_with(file) => cut_short(),
            _ if was_changed_as_text(file) => SetError::ChangedAsText { name: name.to_string() },
            _ => {
                let kind = FileKind::of(&file[..file.len().min(FILE_READ_BYTES)]);
                WrongKind { name: name.to_string(), kind, wanted: Wanted::PolicySet }.into()
            }
        });
    }
    let Some((block, _)) = file.split_at_checked(SET_BLOCK_BYTES) else {
        return Err(cut_short());
    };
    let found = xxh3_64(&block[..at::CHECKSUM]);
    let expected = read_u64(block, at::CHECKSUM);
    if found == expected {
        return Ok(block);
    }
    Err(Damage::new(name, Place::Header, 0, Fault::Checksum { expected, found }).into())
}

/// Returns whether a file without the magic begins like a set that was converted as text: the first
/// byte stripped to seven bits or replaced by up to three bytes, and the line ends changed.
fn was_changed_as_text(file: &[u8]) -> bool {
    (1..=3).any(|first_bytes| {
        let rest = file.get(first_bytes..).and_then(|rest| rest.strip_prefix(b"PCS"));
        rest.is_some_and(|rest| matches!(rest, [b'\r' | b'\n', ..]))
    })
}

/// A header's block whose checksum was compared.
struct Reader<'f> {
    name: &'f Arc<str>,
    block: &'f [u8],
}

impl Reader<'_> {
    fn malformed(&self, at: usize, what: &'static str) -> Damage {
        Damage::new(self.name, Place::Header, at as u64, Fault::Malformed(what))
    }

    fn u32(&self, at: usize) -> u32 {
        let bytes = self.block[at..at + 4].try_into();
        u32::from_le_bytes(bytes.expect("the range has four bytes"))
    }

    fn u64(&self, at: usize) -> u64 {
        read_u64(self.block, at)
    }

    fn check_version(&self) -> Result<(), SetError> {
        let version = self.u32(at::VERSION);
        let name = || self.name.to_string();
        if version > VERSION {
            return Err(SetError::Newer { name: name(), version, newest: VERSION });
        }
        if version < VERSION {
            return Err(SetError::Older { name: name(), version, oldest: VERSION });
        }
        Ok(())
    }

    fn check_length(&self, has: u64) -> Result<(), SetError> {
        let of = self.u64(at::FILE_BYTES);
        let name = || self.name.to_string();
        match has.cmp(&of) {
            std::cmp::Ordering::Less => Err(SetError::Truncated { name: name(), has, of }),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(SetError::TooLong { name: name(), has, of }),
        }
    }

    fn check_zeros(&self, from: usize, to: usize) -> Result<(), Damage> {
        match self.block[from..to].iter().position(|&byte| byte != 0) {
            Some(at) => Err(self.malformed(from + at, "an unused byte is not zero")),
            None => Ok(()),
        }
    }

    /// Decodes the sections, each at the offset that follows from the previous one.
    fn sections(&self) -> Result<Vec<Section>, Damage> {
        let number = self.u32(at::SECTIONS) as usize;
        if number > SET_SECTIONS_MAX {
            return Err(self.malformed(at::SECTIONS, "there are more sections than a set can have"));
        }
        let mut sections: Vec<Section> = Vec::with_capacity(number);
        for index in 0..number {
            let entry = at::TABLE + index * ENTRY;
            let kind = SectionKind(self.u32(entry));
            self.check_zeros(entry + 4, entry + 8)?;
            let section = Section { kind, start: self.u64(entry + 8), bytes: self.u64(entry + 16) };
            let expected = align_section(sections.last().map_or(BLOCK, Section::end));
            if expected != Some(section.start) {
                return Err(self.malformed(entry + 8, "a section begins at another place"));
            }
            if section.start.checked_add(section.bytes).is_none() {
                return Err(self.malformed(entry + 16, "a section has more bytes than the file"));
            }
            if sections.iter().any(|other| other.kind == kind) {
                return Err(self.malformed(entry, "two sections are of one kind"));
            }
            sections.push(section);
        }
        Ok(sections)
    }

    fn fields(&self) -> Result<HeaderFields, Damage> {
        let field = &self.block[at::DIALECT_NAME..at::COUNTS];
        let bytes = field.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
        let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|c| c.is_ascii_graphic());
        let dialect_name = std::str::from_utf8(&field[..bytes])
            .ok()
            .filter(is_name)
            .ok_or_else(|| self.malformed(at::DIALECT_NAME, "the dialect's name is none"))?;
        self.check_zeros(at::DIALECT_NAME + bytes, at::COUNTS)?;
        let robots_bytes_max = self.u64(at::ROBOTS_BYTES_MAX);
        Ok(HeaderFields {
            dialect_name: dialect_name.to_owned(),
            dialect_revision: self.u64(at::DIALECT_REVISION),
            robots_bytes_max: (robots_bytes_max != u64::MAX).then_some(robots_bytes_max),
            flags: self.u64(at::FLAGS),
            counts: std::array::from_fn(|index| self.u64(at::COUNTS + index * 8)),
        })
    }
}

/// # Panics
///
/// If `bytes` does not have eight bytes from `at`.
fn read_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the range has eight bytes"))
}
