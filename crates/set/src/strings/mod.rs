//! The distinct strings of a policy set, in order and front-coded, found by number.
//!
//! Robots.txt files repeat one another: the same lines stand in thousands of them, and those that
//! differ begin alike. So each string is kept once ([`StringTableBuilder`]), sorted, and written
//! without what it shares with the one before it; every 16th is whole, so that finding one by its
//! number decodes 16 at most ([`Strings`]). `FORMAT.md` has the bytes.
//!
//! Cost: interning hashes the string and copies a new one, without an allocation for each; finishing
//! sorts them. Reading one looks at two numbers and one bucket, which is a few hundred bytes in two
//! places.
//!
//! What can fail: more or longer strings than [`limits`](portcullis_dialect::limits) allow cannot be ingested
//! ([`StringError`]); a table that is not as it was written is
//! [`Damage`](crate::file::Damage), whatever it holds. A string is never longer than its bucket,
//! so a small file cannot take much memory.

mod builder;
mod reader;
#[cfg(test)]
mod tests;

pub use builder::StringError;
pub use builder::{ProvisionalString, StringTable, StringTableBuilder};
pub use reader::Strings;

/// Strings of a bucket, of which the first is whole. It is part of the format.
const BUCKET_STRINGS: usize = 16;

/// A string of a table: its place in the order of them all, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringID(pub u32);
