//! The distinct strings of a policy set, sorted, front-coded and found by number.
//!
//! Robots.txt files repeat one another: thousands of them share lines, and different lines share
//! prefixes. So each string is stored once, sorted, and written without
//! the prefix that it shares with the string before it. Every 16th string is stored whole, so
//! finding one by number decodes at most 16 ([`Strings`]). Those that begin alike have adjacent
//! numbers. `FORMAT.md` defines the bytes.
//!
//! Cost: reading one accesses two numbers and one bucket, a few hundred bytes in two places.
//!
//! Errors: [`Damage`] if a table is not as it was written, whatever it holds. A string is never longer than its bucket, so a small
//! file cannot take much memory.

use crate::file::{Damage, Section, SectionKind, SetFile};
use crate::limits::{SET_STRING_BYTES_MAX, SET_STRINGS_MAX};
use portcullis_engine::bytes::take_varint;
use zerocopy::little_endian::U64;

/// The number of strings per bucket. The first one is stored whole. Part of the format.
pub const BUCKET_STRINGS: usize = 16;

/// The number of a string in the sorted table, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringID(pub u32);

/// The strings of one opened file. Every call takes that file.
#[derive(Clone, Copy, Debug)]
pub struct Strings {
    bytes: Section,
    bucket_starts: Section,
    count: u32,
}

impl Strings {
    /// Opens the strings of `file`. `count` is their number, as another part of the file gives it.
    /// Reads no string.
    pub fn open(file: &SetFile, count: u64) -> Result<Strings, Damage> {
        let bytes = file.required(SectionKind::STRINGS)?;
        let bucket_starts = file.required(SectionKind::STRING_BUCKETS)?;
        let odd = |what| file.malformed(bucket_starts, 0, what);
        let count = u32::try_from(count).ok().filter(|&count| count <= SET_STRINGS_MAX);
        let count = count.ok_or_else(|| odd("there are more strings than a set can have"))?;
        let strings = Strings { bytes, bucket_starts, count };
        let starts = u64::from(strings.buckets()) + 1;
        if bucket_starts.bytes() != starts * size_of::<U64>() as u64 {
            return Err(odd("the number of buckets does not fit the number of strings"));
        }
        Ok(strings)
    }

    fn buckets(&self) -> u32 {
        self.count.div_ceil(BUCKET_STRINGS as u32)
    }

    /// Reads the string `id` into `string`, replacing its content. Decodes the earlier strings of
    /// the bucket, 15 at most, and does not allocate once `string` is large enough.
    #[inline]
    pub fn get(&self, file: &SetFile, id: StringID, string: &mut Vec<u8>) -> Result<(), Damage> {
        if id.0 >= self.count {
            return Err(file.malformed(self.bytes, 0, "there is no string with this number"));
        }
        let (bucket, place) = (id.0 / BUCKET_STRINGS as u32, id.0 as usize % BUCKET_STRINGS);
        let (start, mut rest) = self.bucket(file, bucket)?;
        string.clear();
        for _ in 0..=place {
            next(&mut rest, string).map_err(|what| file.malformed(self.bytes, start, what))?;
        }
        Ok(())
    }

    /// Returns the number of strings that are less than `bound`, which is that of the first string
    /// from there on. Reads one string of some buckets, then one bucket.
    pub fn count_before(&self, file: &SetFile, bound: &[u8]) -> Result<u32, Damage> {
        let mut string = Vec::new();
        let (mut low, mut high) = (0, self.buckets());
        while low < high {
            let middle = low + (high - low) / 2;
            self.get(file, StringID(middle * BUCKET_STRINGS as u32), &mut string)?;
            match string.as_slice() < bound {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let Some(bucket) = low.checked_sub(1) else { return Ok(0) };
        let first = bucket * BUCKET_STRINGS as u32;
        let (start, mut rest) = self.bucket(file, bucket)?;
        let mut count = 0;
        while count < (BUCKET_STRINGS as u32).min(self.count - first) {
            next(&mut rest, &mut string).map_err(|what| file.malformed(self.bytes, start, what))?;
            if string.as_slice() >= bound {
                break;
            }
            count += 1;
        }
        Ok(first + count)
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
    let Some((suffix, behind)) = rest.split_at_checked(bytes) else {
        return Err("a string does not end within its bucket");
    };
    if bytes > SET_STRING_BYTES_MAX - shared.min(SET_STRING_BYTES_MAX) {
        return Err("a string is longer than it may be");
    }
    *rest = behind;
    string.truncate(shared);
    string.extend_from_slice(suffix);
    Ok(())
}
