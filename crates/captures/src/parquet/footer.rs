//! The parts of the footer of a Parquet file that the parquet crate does not read: whether columns are
//! encrypted, and an empty list of row groups without a type.
//!
//! The footer is a structure in Thrift's compact protocol. Its fields are passed over, and nothing is
//! decoded. A footer that is no such structure has none of both, and the parquet crate says what is wrong.

/// The identifier of `row_groups` in `FileMetaData` of parquet.thrift.
const ROW_GROUPS: i64 = 4;

/// The identifier of `encryption_algorithm`, which a file with a readable footer and encrypted columns has.
const ENCRYPTION_ALGORITHM: i64 = 8;

/// The header of a list of structures without any, and the one that some programs write.
const NO_STRUCTURES: u8 = STRUCTURE;
const NOTHING: u8 = 0;

const LIST: u8 = 9;
const STRUCTURE: u8 = 12;

/// Structures and lists within one another, of which Parquet has a dozen at most.
const DEPTH_MAX: u32 = 32;

/// Returns whether columns are encrypted. Writes the type of an empty list of row groups, if it has
/// none.
pub(super) fn look(footer: &mut [u8]) -> bool {
    let (mut reader, mut fields) = (Reader { rest: footer }, Fields::default());
    let bytes = reader.rest.len();
    let (mut row_groups, mut is_encrypted) = (None, false);
    while let Some((id, kind)) = fields.next(&mut reader) {
        is_encrypted |= id == ENCRYPTION_ALGORITHM;
        let place = bytes - reader.rest.len();
        if id == ROW_GROUPS && kind == LIST && reader.rest.first() == Some(&NOTHING) {
            row_groups = Some(place);
        }
        if reader.pass(kind, DEPTH_MAX).is_none() {
            break;
        }
    }
    if let Some(place) = row_groups {
        footer[place] = NO_STRUCTURES;
    }
    is_encrypted
}

/// The fields of a structure, whose identifiers are written as differences.
#[derive(Default)]
struct Fields {
    id: i64,
}

impl Fields {
    /// Returns the identifier and the type of the next field; `None` at the end, and where no field can be.
    fn next(&mut self, reader: &mut Reader<'_>) -> Option<(i64, u8)> {
        let header = reader.byte().filter(|header| *header != 0)?;
        let kind = header & 15;
        self.id = match header >> 4 {
            0 => {
                let number = reader.number()?;
                (number >> 1) as i64 ^ -((number & 1) as i64)
            }
            difference => self.id + i64::from(difference),
        };
        Some((self.id, kind))
    }
}

/// The bytes that are left.
struct Reader<'f> {
    rest: &'f [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// Passes over a value of a field; a truth is in the header of its field.
    fn pass(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            3 => self.bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let count = self.number()?;
                self.bytes(count)
            }
            LIST | 10 => {
                let header = self.byte()?;
                let count = match header >> 4 {
                    15 => self.number()?,
                    count => u64::from(count),
                };
                // Every item has a byte at least.
                let count = usize::try_from(count).ok().filter(|it| *it <= self.rest.len())?;
                for _ in 0..count {
                    match header & 15 {
                        1 | 2 => self.bytes(1)?,
                        kind => self.pass(kind, depth.checked_sub(1)?)?,
                    }
                }
                Some(())
            }
            STRUCTURE => {
                let (mut fields, depth) = (Fields::default(), depth.checked_sub(1)?);
                while self.rest.first()? != &0 {
                    let (_, kind) = fields.next(self)?;
                    self.pass(kind, depth)?;
                }
                self.bytes(1)
            }
            // Parquet has no maps.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a footer with a version, a schema of one column, no rows, this list of row groups and further
    /// fields.
    fn footer(row_groups: u8, others: &[u8]) -> Vec<u8> {
        let schema = [0x19, 0x1c, 0x48, 3, b'u', b'r', b'l', 0];
        [&[0x15, 2][..], &schema, &[0x16, 0, 0x19, row_groups], others, &[0]].concat()
    }

    #[test]
    fn an_empty_list_gets_its_type() {
        for others in [&[][..], &[0x28, 1, b'x'], &[0x08, 10, 1, b'x']] {
            let mut written = footer(NOTHING, others);
            assert!(!look(&mut written));
            assert_eq!(written, footer(NO_STRUCTURES, others));
        }
        let mut written = footer(NO_STRUCTURES, &[]);
        assert!(!look(&mut written));
        assert_eq!(written, footer(NO_STRUCTURES, &[]));
    }

    #[test]
    fn encrypted_columns_are_seen() {
        assert!(look(&mut footer(NO_STRUCTURES, &[0x4c, 0])));
        assert!(look(&mut footer(NO_STRUCTURES, &[0x0c, 16, 0])));
        assert!(!look(&mut footer(NO_STRUCTURES, &[0x28, 2, 0x4c, 0])));
    }

    #[test]
    fn any_bytes_end() {
        let whole = footer(0xfc, &[0x4c, 0]);
        for end in 0..whole.len() {
            look(&mut whole[..end].to_vec());
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[end] = byte;
                look(&mut changed);
            }
        }
        look(&mut [0x19; 100]);
        look(&mut [0x1c; 100]);
        look(&mut [0x19, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    }
}
