//! The distinct strings of a policy set, sorted, front-coded and found by number.
//!
//! Robots.txt files repeat one another: thousands of them share lines, and different lines share
//! prefixes. So each string is stored once ([`StringTableBuilder`]), sorted, and written without
//! the prefix that it shares with the string before it. Every 16th string is stored whole, so
//! finding one by number decodes at most 16 ([`Strings`]). `FORMAT.md` defines the bytes.
//!
//! Cost: interning hashes the string and copies a new one, without an allocation per string.
//! Finishing sorts them. Reading one accesses two numbers and one bucket, a few hundred bytes in
//! two places.
//!
//! Errors: [`StringError`] if there are more or longer strings than
//! [`limits`](portcullis_dialect::limits) allow, and [`Damage`](crate::file::Damage) if a table is
//! not as it was written, whatever it holds. A string is never longer than its bucket, so a small
//! file cannot take much memory.

mod builder;
mod reader;
#[cfg(test)]
mod tests;

pub use builder::StringError;
pub use builder::{ProvisionalString, StringTable, StringTableBuilder};
pub use reader::Strings;

/// The number of strings per bucket. The first one is stored whole. Part of the format.
const BUCKET_STRINGS: usize = 16;

/// The number of a string in the sorted table, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringID(pub u32);
