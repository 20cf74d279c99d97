//! Robots.txt matchers from crates.io as engines of [`portcullis_bench`].
//!
//! The program `portcullis-peers` measures them on the user's own data as `portcullis-bench` does.
//! `../METHODOLOGY.md` explains what is measured, what is left out and where the comparison is biased.

#![cfg(feature = "peers")]

pub mod engines;
