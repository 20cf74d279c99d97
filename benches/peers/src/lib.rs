//! Portcullis beside other robots.txt matchers, and the project's own goals.
//!
//! [`engines`] has the matchers of crates.io as engines of [`portcullis_bench`]; the program
//! `portcullis-peers` measures them on the user's own data. [`goals`] measures what this project holds
//! itself to; `portcullis-goals` prints that. `../METHODOLOGY.md` says what is measured, what is left
//! out and where our bias lies.

pub mod engines;
pub mod goals;
pub mod system;
