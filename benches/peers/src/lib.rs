//! Compares Portcullis with other robots.txt matchers, and measures the project's goals.
//!
//! [`engines`] has matchers from crates.io as engines of [`portcullis_bench`]. The program
//! `portcullis-peers` measures them on the user's own data. [`goals`] measures the project's goals,
//! and `portcullis-goals` prints the results. `../METHODOLOGY.md` explains what is measured, what
//! is left out and where the comparison is biased.

pub mod engines;
pub mod goals;
pub mod system;
