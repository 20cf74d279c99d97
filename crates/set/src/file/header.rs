//! The header: the first block, which identifies the file and locates the sections.
//!
//! [`Header::decode`] takes any bytes. The header that it returns fits the file, so later code need
//! not check whether a section lies within the data. Checks are in the order that gives the most
//! helpful message: not a set, cut short, damaged, too new, and only then the contents.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use twox_hash::XxHash3_64;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use portcullis_files::kind::{FileKind, POLICY_SET, Wanted, WrongKind};
use portcullis_files::limits::FILE_READ_BYTES;
use portcullis_robots::access::{DateSpan, UnixSeconds};
use portcullis_robots::syntax::NoteKind;

use super::error::{Damage, Fault, FilePart, SetError};
use super::section::{BLOCK, ContentHash, Layout, SECTION_ALIGNMENT, Section, SectionKind};
use crate::limits::{SET_BLOCK_BYTES, SET_SECTIONS_MAX};

pub(super) const MAGIC: [u8; 8] = *POLICY_SET;

/// The format version that this program writes and reads. It increases if the meaning of any bytes
/// changes.
pub const VERSION: u16 = 17;

/// The oldest format version whose captures can be compiled again.
pub const OLDEST_VERSION: u16 = 15;

/// The minor version that this program writes. It increases with a section or a count that an older reader
/// may ignore, so every minor version is read.
pub const MINOR_VERSION: u16 = 0;

/// The flag of an entry whose section every reader of the set has to know.
const REQUIRED: u32 = 1;

/// The maximum length of a dialect's name, in bytes.
const NAME_BYTES: usize = 40;

/// The header as it is stored.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Stored {
    pub magic: [u8; 8],
    pub version: u16,
    pub minor_version: u16,
    pub sections: u32,
    pub file_bytes: u64,
    pub content_hash: [u8; 32],
    pub root: u64,
    pub fields: HeaderFields,
    pub table: [Entry; SET_SECTIONS_MAX],
    unused: [u8; SET_BLOCK_BYTES - 256 - SET_SECTIONS_MAX * size_of::<Entry>() - 8],
    pub checksum: u64,
}

/// An entry of the table of sections.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Entry {
    pub kind: u32,
    pub flags: u32,
    pub start: u64,
    pub bytes: u64,
}

const _: () = assert!(size_of::<Stored>() == SET_BLOCK_BYTES);

/// The offset of a field of [`Stored`].
macro_rules! at {
    ($($field:ident).+) => {
        std::mem::offset_of!($crate::file::header::Stored, $($field).+)
    };
}

/// The fields that the writer of a set chooses. The container stores them unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct HeaderFields {
    /// The revision by which files were read
    /// ([`Dialect::reading`](portcullis_dialect::dialect::Dialect::reading)).
    pub reading_revision: u32,
    /// The revision by which groups and paths are matched
    /// ([`Dialect::matching`](portcullis_dialect::dialect::Dialect::matching)).
    pub matching_revision: u32,
    /// The maximum number of bytes read per robots.txt file; `u64::MAX` if there was no limit.
    pub robots_bytes_max: u64,
    /// See `FORMAT.md`.
    pub flags: u64,
    /// The dialect's name: 1 to 40 ASCII characters without blanks, then zeros.
    pub dialect_name: [u8; NAME_BYTES],
    /// See `FORMAT.md`.
    pub counts: SetCounts,
}

impl HeaderFields {
    /// Returns the field for the name of a dialect.
    ///
    /// # Panics
    ///
    /// If the name is longer than the field.
    pub fn name_field(name: &str) -> [u8; NAME_BYTES] {
        let mut field = [0; NAME_BYTES];
        field[..name.len()].copy_from_slice(name.as_bytes());
        field
    }

    /// Returns the dialect's name; `None` if it is none.
    pub fn dialect_name(&self) -> Option<&str> {
        let name = self.dialect_name.split(|&byte| byte == 0).next()?;
        let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
        std::str::from_utf8(name).ok().filter(|_| is_name)
    }
}

/// The counts in the header of a set.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct SetCounts {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of origins with a known policy.
    pub origins: u64,
    /// The number of distinct policies.
    pub policies: u64,
    /// The number of distinct rule sets.
    pub rule_sets: u64,
    /// The number of captures.
    pub captures: u64,
    /// The number of distinct strings.
    pub strings: u64,
    /// The number of distinct names of crawlers.
    pub tokens: u64,
    /// The dates of the earliest and the latest capture, in seconds since 1970; both 0 if none is dated.
    pub dates: [u64; 2],
    /// The number of captures whose file has each note of [`NoteKind::OF_FILES`].
    pub file_notes: [u64; NoteKind::OF_FILES.len()],
    /// The seed of the host table. It is not a count; it is in the header because opening reads only
    /// the header.
    pub host_seed: u64,
    /// Zero.
    pub unused: [u64; 2],
}

const _: () = assert!(size_of::<SetCounts>() == 16 * size_of::<u64>());

impl SetCounts {
    /// Returns the dates of the earliest and the latest capture; `None` if none is dated.
    pub fn captured(&self) -> Option<DateSpan> {
        let [first, last] = self.dates.map(UnixSeconds);
        (self.dates != [0; 2]).then_some(DateSpan { first, last })
    }
}

/// A header that fits its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub version: u16,
    pub fields: HeaderFields,
    pub sections: Vec<Section>,
    pub content_hash: ContentHash,
    pub root: u64,
    pub layout: Layout,
}

/// Returns the flags of a section in the table.
fn flags_of(kind: SectionKind) -> u32 {
    if kind.is_required() { REQUIRED } else { 0 }
}

impl Header {
    /// Decodes the header of `file`, which is the whole file. Touches only the first block.
    pub(super) fn decode(name: &Arc<str>, file: &[u8]) -> Result<Header, SetError> {
        let stored = first_block(name, file)?;
        let reader = Reader { name, stored };
        reader.check_version()?;
        reader.check_length(file.len() as u64)?;
        let sections = reader.sections()?;
        let data_end = sections.last().map_or(BLOCK, Section::end);
        let layout = Layout::from_data(data_end)
            .filter(|layout| layout.file_bytes() == file.len() as u64)
            .ok_or_else(|| reader.malformed(at!(table), "sections do not fill the file"))?;
        reader.check_zeros(reader.entry(sections.len())..at!(checksum))?;
        Ok(Header {
            version: stored.version,
            fields: reader.fields()?,
            sections,
            content_hash: ContentHash(stored.content_hash),
            root: stored.root,
            layout,
        })
    }

    /// # Panics
    ///
    /// If the dialect's name is invalid in a header, or there are too many sections.
    pub fn encode(&self) -> Box<Stored> {
        assert!(self.fields.dialect_name().is_some(), "a dialect has a name");
        let mut stored = Stored::new_box_zeroed().expect("a block of memory");
        stored.magic = MAGIC;
        stored.version = VERSION;
        stored.minor_version = MINOR_VERSION;
        stored.sections = self.sections.len() as u32;
        stored.file_bytes = self.layout.file_bytes();
        stored.content_hash = self.content_hash.0;
        stored.root = self.root;
        stored.fields = self.fields;
        let table = &mut stored.table[..self.sections.len()];
        for (entry, &Section { kind, start, bytes }) in table.iter_mut().zip(&self.sections) {
            *entry = Entry { kind: kind.0, flags: flags_of(kind), start, bytes };
        }
        stored.seal();
        stored
    }
}

impl Stored {
    fn computed_checksum(&self) -> u64 {
        XxHash3_64::oneshot(&self.as_bytes()[..at!(checksum)])
    }

    /// Writes the checksum.
    pub fn seal(&mut self) {
        self.checksum = self.computed_checksum();
    }
}

/// Returns the first block of an undamaged set file of any version.
fn first_block<'f>(name: &Arc<str>, file: &'f [u8]) -> Result<&'f Stored, SetError> {
    let has = file.len() as u64;
    let cut_short = || SetError::Truncated { name: name.to_string(), has, of: BLOCK };
    if !file.starts_with(&MAGIC) {
        return Err(match file {
            [_, ..] if MAGIC.starts_with(file) => cut_short(),
            _ if was_changed_as_text(file) => SetError::unusable(
                name,
                "is a policy set that was converted as text; fetch the file again, as binary data",
            ),
            _ => {
                let kind = FileKind::of(&file[..file.len().min(FILE_READ_BYTES)]);
                WrongKind { name: name.to_string(), kind, wanted: Wanted::PolicySet }.into()
            }
        });
    }
    let (stored, _) = Stored::ref_from_prefix(file).map_err(|_| cut_short())?;
    let (found, expected) = (stored.computed_checksum(), stored.checksum);
    if found == expected {
        return Ok(stored);
    }
    Err(Damage::new(name, FilePart::Header, 0, Fault::Checksum { expected, found }).into())
}

/// Returns whether a file without the magic begins like a set that was converted as text: the first
/// byte stripped to seven bits or replaced by up to three bytes, and the line ends changed.
fn was_changed_as_text(file: &[u8]) -> bool {
    (1..=3).any(|first_bytes| {
        let rest = file.get(first_bytes..).and_then(|rest| rest.strip_prefix(b"PCS"));
        rest.is_some_and(|rest| matches!(rest, [b'\r' | b'\n', ..]))
    })
}

/// A stored header whose checksum was compared.
struct Reader<'f> {
    name: &'f Arc<str>,
    stored: &'f Stored,
}

impl Reader<'_> {
    fn malformed(&self, at: usize, what: &'static str) -> Damage {
        Damage::new(self.name, FilePart::Header, at as u64, Fault::Malformed(what))
    }

    fn check_version(&self) -> Result<(), SetError> {
        let version = self.stored.version;
        let problem = match version {
            OLDEST_VERSION..=VERSION => return Ok(()),
            ..OLDEST_VERSION => format!(
                "was made by an older portcullis (format {version}, this one reads from \
                 {OLDEST_VERSION} on): run `portcullis compile` again"
            ),
            _ => format!(
                "was made by a newer portcullis (format {version}, this one reads up to {VERSION}): \
                 update portcullis"
            ),
        };
        Err(SetError::unusable(self.name, problem))
    }

    fn check_length(&self, has: u64) -> Result<(), SetError> {
        let of = self.stored.file_bytes;
        match has.cmp(&of) {
            Ordering::Less => Err(SetError::Truncated { name: self.name.to_string(), has, of }),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(SetError::unusable(
                self.name,
                format!(
                    "has {has} bytes, {of} by its header: bytes were appended; fetch the file again, \
                     or run `portcullis compile` again"
                ),
            )),
        }
    }

    fn check_zeros(&self, range: Range<usize>) -> Result<(), Damage> {
        match self.stored.as_bytes()[range.clone()].iter().position(|&byte| byte != 0) {
            Some(at) => Err(self.malformed(range.start + at, "an unused byte is not zero")),
            None => Ok(()),
        }
    }

    /// Returns the offset of an entry in the table of sections.
    fn entry(&self, index: usize) -> usize {
        at!(table) + index * size_of::<Entry>()
    }

    /// Decodes the sections, each at the offset that follows from the previous one.
    fn sections(&self) -> Result<Vec<Section>, SetError> {
        let Some(entries) = self.stored.table.get(..self.stored.sections as usize) else {
            let what = "there are more sections than a set can have";
            return Err(self.malformed(at!(sections), what).into());
        };
        let mut sections: Vec<Section> = Vec::with_capacity(entries.len());
        for (index, &Entry { kind, flags, start, bytes }) in entries.iter().enumerate() {
            let (entry, kind) = (self.entry(index), SectionKind(kind));
            let end = sections.last().map_or(BLOCK, Section::end);
            let (at, what) = match kind.name() {
                None if flags == REQUIRED => {
                    let problem = format!(
                        "has {kind}, which this portcullis does not know: update portcullis"
                    );
                    return Err(SetError::unusable(self.name, problem));
                }
                name if flags != name.map_or(0, |_| flags_of(kind)) => {
                    (4, "a section has other flags than its kind")
                }
                _ if end.checked_next_multiple_of(SECTION_ALIGNMENT) != Some(start) => {
                    (8, "a section begins at another place")
                }
                _ if start.checked_add(bytes).is_none() => {
                    (16, "a section has more bytes than the file")
                }
                _ if sections.iter().any(|other| other.kind == kind) => {
                    (0, "two sections are of one kind")
                }
                _ => {
                    sections.push(Section { kind, start, bytes });
                    continue;
                }
            };
            return Err(self.malformed(entry + at, what).into());
        }
        Ok(sections)
    }

    fn fields(&self) -> Result<HeaderFields, Damage> {
        let (fields, start) = (self.stored.fields, at!(fields.dialect_name));
        let name = fields.dialect_name();
        let name = name.ok_or_else(|| self.malformed(start, "the dialect's name is none"))?;
        self.check_zeros(start + name.len()..at!(fields.counts))?;
        Ok(fields)
    }
}
