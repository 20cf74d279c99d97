//! Archives of answers and sets of them: every format, damaged files, and merging.

#![allow(unsafe_code, reason = "maps files of these tests")]

mod damage;
mod ingest;
mod merge;
mod warc;
