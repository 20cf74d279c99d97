//! Portcullis beside other matchers of robots.txt, and beside what it is meant to reach.
//!
//! [`engines`] has the matchers of crates.io as engines of [`portcullis::bench`]; the program
//! `portcullis-peers` measures them on the user's own data. [`goals`] measures what this project wants
//! to be held to, each figure beside its goal; `portcullis-goals` prints that.
//! `../METHODOLOGY.md` says what is measured, what is left out and where our bias lies.

pub mod allocator;
pub mod engines;
pub mod goals;
pub mod mapped;
