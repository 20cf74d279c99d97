//! Reads the headers of a column's pages, without the pages.
//!
//! The parquet crate allocates the bytes that a header announces, and does not return that number.
//! So this module reads the headers of a column before its pages are decompressed. Use the crate's
//! page reader for the pages themselves.
//!
//! A header is a structure in Thrift's compact protocol. Only the form that writers produce is
//! accepted: fields in ascending order, with the types of the format. A damaged file could announce
//! two sizes in one header otherwise, and two readers could take different ones.
//!
//! Cost: one read of some dozen bytes per page. Memory: none that grows with the file.

use std::io::{self, Read, Take};
use std::ops::Range;

use parquet::file::reader::ChunkReader;

use super::file::{StoredFile, text_of};

/// The header of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHeader {
    pub is_dictionary: bool,
    /// The number of rows. 0 for a dictionary.
    pub rows: usize,
    /// The bytes in memory: of the page, compressed or not, and of the places of a dictionary's
    /// values.
    pub bytes: u64,
}

/// The problem of pages whose headers cannot be read.
pub const NO_HEADERS: &str = "its pages have no headers; is the column encrypted?";

/// The bytes of a value's place while a dictionary is in memory: a view of Arrow.
const VIEW_BYTES: u64 = 16;

/// Reads the header at the start of a range of `file`, the pages of a column that are left, and moves the
/// start after its page. `None` for a page that is not read. The error says what is wrong.
pub fn next_header(file: &StoredFile, left: &mut Range<u64>) -> Result<Option<PageHeader>, String> {
    let read = file.get_read(left.start).map_err(|error| text_of(&error))?;
    let mut thrift = Thrift(read.take(left.end - left.start));
    let (stored, header) = header(&mut thrift).ok_or(NO_HEADERS)?;
    let rest = thrift.0.limit().checked_sub(stored).ok_or("a page is longer than its column")?;
    left.start = left.end - rest;
    Ok(header)
}

/// Types of fields in Thrift's compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I8: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// The types of the fields of structures in parquet.thrift, from field 1 on.
const PAGE: &[u8] = &[I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT];
const DATA_PAGE: &[u8] = &[I32, I32, I32, I32, STRUCT];
const DICTIONARY_PAGE: &[u8] = &[I32, I32, TRUE];
const DATA_PAGE_2: &[u8] = &[I32, I32, I32, I32, I32, I32, TRUE, STRUCT];

/// Structures within structures. Statistics, the deepest, are two within a header.
const DEPTH_MAX: usize = 4;

/// The numbers in a structure, by field, counted from 0.
type Numbers = [Option<u64>; 8];

/// Reads a header. Returns the stored bytes of the page, and `None` for a page that is not read.
/// `None` if it is not a header.
fn header(thrift: &mut Thrift) -> Option<(u64, Option<PageHeader>)> {
    let (mut values, mut rows, mut entries) = (None, None, None);
    let page = thrift.structure(PAGE, &mut |thrift, field| {
        let mut flat = |types| thrift.structure(types, &mut |thrift, _| thrift.skip(STRUCT, 2));
        match field {
            5 => values = flat(DATA_PAGE)?[0],
            7 => entries = flat(DICTIONARY_PAGE)?[0],
            8 => rows = flat(DATA_PAGE_2)?[2],
            _ => flat(&[]).map(drop)?,
        }
        Some(())
    })?;
    let (kind, bytes, stored) = (page[0]?, page[1]?, page[2]?);
    let (is_dictionary, rows, entries) = match kind {
        0 => (false, values?, 0),
        // An index, which no reader reads.
        1 => return Some((stored, None)),
        2 => (true, 0, entries?),
        3 => (false, rows?, 0),
        _ => return None,
    };
    let bytes = bytes.max(stored) + entries * VIEW_BYTES;
    Some((stored, Some(PageHeader { is_dictionary, rows: rows as usize, bytes })))
}

/// Reads Thrift's compact protocol. Each method returns `None` if the bytes are not of the expected
/// form.
struct Thrift(Take<<StoredFile as ChunkReader>::T>);

impl Thrift {
    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }

    /// Reads a number of up to 63 bits.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a signed number of 32 bits. `None` within if it is negative.
    fn i32(&mut self) -> Option<Option<u64>> {
        let number = self.varint()?;
        (number <= u64::from(u32::MAX)).then(|| (number % 2 == 0).then_some(number / 2))
    }

    /// Reads a structure with fields of these types, and returns its numbers. `structure` reads the
    /// structures within it.
    fn structure(
        &mut self,
        types: &[u8],
        structure: &mut dyn FnMut(&mut Thrift, usize) -> Option<()>,
    ) -> Option<Numbers> {
        let (mut numbers, mut field) = (Numbers::default(), 0);
        while let Some(found) = self.field()? {
            let (step, found) = found;
            field += step;
            let expected = types.get(field - 1).copied();
            if expected.is_some_and(|expected| expected != found) {
                return None;
            }
            match expected {
                Some(I32) => numbers[field - 1] = self.i32()?,
                Some(STRUCT) => structure(self, field)?,
                _ => self.skip(found, 1)?,
            }
        }
        Some(numbers)
    }

    /// Reads the beginning of a field: the step from the field before it, and its type. The inner
    /// value is `None` at the end of the structure.
    fn field(&mut self) -> Option<Option<(usize, u8)>> {
        let start = self.byte()?;
        let (step, found) = (start >> 4, start & 0xf);
        match (step, found) {
            (_, 0) => Some(None),
            // A number follows, with which a field could be repeated.
            (0, _) => None,
            (step, FALSE) => Some(Some((usize::from(step), TRUE))),
            (step, found) => Some(Some((usize::from(step), found))),
        }
    }

    /// Skips the value of a field.
    fn skip(&mut self, found: u8, depth: usize) -> Option<()> {
        match found {
            TRUE => {}
            I8 => self.byte().map(drop)?,
            I16 | I32 | I64 => while self.byte()? & 0x80 != 0 {},
            BINARY => {
                let length = self.varint()?;
                let mut value = (&mut self.0).take(length);
                let copied = io::copy(&mut value, &mut io::sink()).ok()?;
                (copied == length).then_some(())?;
            }
            STRUCT if depth < DEPTH_MAX => {
                while let Some((_, found)) = self.field()? {
                    self.skip(found, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}
