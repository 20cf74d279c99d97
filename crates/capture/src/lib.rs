//! Reads URL lists and archives of robots.txt captures.
//!
//! [`input`] turns a path, a pipe or any reader into chunks of whole records, decompressed, for lists
//! of URLs. [`capture`] turns WARC, JSON Lines, Parquet and folders into answers to
//! `GET /robots.txt`. Neither knows policies or verdicts: the set crate decides which capture counts.
//!
//! Cost: linear in the input; memory holds one chunk or record per batch. Errors name the input and
//! the fix; a record that makes no sense is data, not an error.

pub mod capture;
mod compression;
pub mod input;
