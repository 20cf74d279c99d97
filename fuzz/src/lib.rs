//! What must hold for any input, as functions that panic where it does not.
//!
//! One function for each fuzz target. Inputs are bytes with a small head that an editor can write
//! and a mutation can reach: the first byte chooses the dialect, a line end separates parts.
//! The functions need no fuzzer: `tests/seeds.rs` gives them the seed corpus on any toolchain, and
//! a finding is replayed the same way.
//!
//! What is asked of each:
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | [`parse`] | dialect, size limit, robots.txt | positions lie in the text, lists agree with the lines that they were read from |
//! | [`normalise`] | dialect, pattern, path | normal forms stay; paths and matches are the oracle's |
//! | [`decide`] | dialect, size limit, agent, URL, robots.txt | every strategy gives the oracle's decision, one by one and in blocks |
//! | [`usage`] | the same | preferences, their lines and sources, and licences are the oracle's |
//! | [`dictionary`] | the value of a Content-Usage record | its members are the oracle's and the `sfv` crate's |
//! | [`split`] | dialect, record | parts lie in the record; hosts are the `url` crate's, but for a list of exceptions |

#[path = "../../tests/common/mod.rs"]
mod common;
mod decide;
mod dictionary;
mod head;
mod hosts;
mod normalise;
mod parse;
mod split;
mod usage;

pub use decide::{decide, decide_counted};
pub use dictionary::dictionary;
pub use normalise::normalise;
pub use parse::parse;
pub use split::split;
pub use usage::usage;

/// Gives the inputs in the files that the command line names to `target`: a finding, without a fuzzer.
///
/// # Panics
///
/// If a file cannot be read, or `target` panics.
pub fn replay(target: fn(&[u8])) {
    for path in std::env::args_os().skip(1) {
        let input = std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        target(&input);
    }
}
