//! Files as bytes. Nothing here knows what a file says, but for its kind.
//!
//! | module | owns |
//! |---|---|
//! | [`kind`] | file kinds by first bytes |
//! | [`large_pages`] | zeroed memory for large tables |
//! | [`error`] | what a failed read or write says |
//! | `atomic_file` | files that appear under their names complete, or not at all |
//! | `scratch` | byte sequences that grow in memory and go on in temporary files |
//! | `runs` | sorted runs of records: an external merge sort |
//!
//! The last three are behind the feature `write`, because who only reads a set needs no temporary
//! files.

#[cfg(feature = "write")]
pub mod atomic_file;
pub mod error;
pub mod kind;
pub mod large_pages;
pub mod limits;
#[cfg(feature = "write")]
pub mod runs;
#[cfg(feature = "write")]
pub mod scratch;
