//! The strings of a policy set, front-coded and found by number.
//!
//! Robots.txt files repeat one another: thousands of them share lines, and different lines share
//! prefixes. So a string is stored once, without the prefix that it shares with the string before it.
//! Every 16th string is stored whole, so finding one by number decodes at most 16 ([`Strings`]).
//! `FORMAT.md` defines the bytes.
//!
//! Cost: reading one accesses two numbers and one bucket, a few hundred bytes in two places.
//!
//! Errors: [`Damage`] if a table is not as it was written, whatever it holds. A string is never longer
//! than its bucket, so a small file cannot take much memory.

use crate::file::{Damage, Section, SectionKind, SetFile};
use crate::limits::SET_STRING_BYTES_MAX;
use portcullis_engine::bytes::take_varint;
use zerocopy::little_endian::U64;

/// The number of strings per bucket. The first one is stored whole. Part of the format.
pub const BUCKET_STRINGS: usize = 16;

/// A table of strings of one opened file. Every call takes that file.
#[derive(Clone, Copy, Debug)]
pub struct Strings {
    bytes: Section,
    bucket_starts: Section,
}

impl Strings {
    /// Opens the strings in the sections of these kinds. Reads no string.
    pub fn open(file: &SetFile, [bytes, buckets]: [SectionKind; 2]) -> Result<Strings, Damage> {
        Ok(Strings { bytes: file.required(bytes)?, bucket_starts: file.required(buckets)? })
    }

    /// Reads the string `id` into `string`, replacing its content. Decodes the earlier strings of
    /// the bucket, 15 at most, and does not allocate once `string` is large enough.
    #[inline]
    pub fn get(&self, file: &SetFile, number: u32, string: &mut Vec<u8>) -> Result<(), Damage> {
        let (bucket, place) = (number / BUCKET_STRINGS as u32, number as usize % BUCKET_STRINGS);
        let (start, mut rest) = self.bucket(file, bucket)?;
        string.clear();
        for _ in 0..=place {
            next(&mut rest, string).map_err(|what| file.malformed(self.bytes, start, what))?;
        }
        Ok(())
    }

    /// Returns the start of a bucket in `strings`, and its bytes.
    #[inline]
    fn bucket<'f>(&self, file: &'f SetFile, bucket: u32) -> Result<(u64, &'f [u8]), Damage> {
        let bounds = file.items::<U64>(self.bucket_starts, u64::from(bucket), 2)?;
        let (start, end) = (bounds[0].get(), bounds[1].get());
        match end.checked_sub(start) {
            Some(bytes) => Ok((start, file.bytes(self.bytes, start, bytes)?)),
            None => {
                let at = u64::from(bucket) * size_of::<U64>() as u64;
                Err(file.malformed(self.bucket_starts, at, "a bucket ends before it begins"))
            }
        }
    }
}

/// Decodes the next string over the previous one and removes it from the front of `rest`.
///
/// # Errors
///
/// A description of the problem in the coding.
#[inline]
fn next(rest: &mut &[u8], string: &mut Vec<u8>) -> Result<(), &'static str> {
    let lengths = take_varint(rest).zip(take_varint(rest));
    let (shared, bytes) = lengths.ok_or("a string has no length")?;
    let (shared, bytes) = (shared as usize, bytes as usize);
    if shared > string.len() {
        return Err("a string shares more bytes than the one before it has");
    }
    let suffix = rest.split_off(..bytes).ok_or("a string does not end within its bucket")?;
    if bytes > SET_STRING_BYTES_MAX - shared.min(SET_STRING_BYTES_MAX) {
        return Err("a string is longer than it may be");
    }
    string.truncate(shared);
    string.extend_from_slice(suffix);
    Ok(())
}
