//! Files as bytes. Nothing here knows what a file says, but for its kind.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! | module | owns |
//! |---|---|
//! | [`kind`] | file kinds by first bytes |
//! | [`large_pages`] | zeroed memory for large tables |
//! | [`error`] | what a failed read or write says |
//! | [`read_at`] | files that several threads read |
//! | `expand` | the files that arguments name: folders, patterns, `@FILE` |
//! | `input` | inputs: opened, mapped or read, decompressed; chunks that end at records |
//! | `compression` | gzip and zstd of files, codings of HTTP bodies |
//! | `atomic_file` | files that appear under their names complete, or not at all |
//! | `budget` | the memory of a run, and what is drawn from it |
//! | `scratch` | byte sequences that grow in memory and go on in temporary files |
//! | `runs` | sorted runs of records: an external merge sort |
//!
//! `expand`, `input` and `compression` need the feature `read`, and the last four `write`: a
//! program that only asks a set needs neither.

#[cfg(feature = "write")]
pub mod atomic_file;
#[cfg(feature = "write")]
pub mod budget;
#[cfg(feature = "read")]
pub mod compression;
pub mod error;
#[cfg(feature = "read")]
pub mod expand;
#[cfg(feature = "read")]
pub mod input;
pub mod kind;
pub mod large_pages;
pub mod limits;
pub mod read_at;
#[cfg(feature = "write")]
pub mod runs;
#[cfg(feature = "write")]
pub mod scratch;
