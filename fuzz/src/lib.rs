//! What must hold for any input, as functions that panic where it does not.
//!
//! One function for each fuzz target. Inputs are octets with a small head that an editor can write
//! and a mutation can reach: the first octet chooses the [`Dialect`], a line end separates parts.
//! The functions need no fuzzer: `tests/seeds.rs` gives them the seed corpus on any toolchain, and
//! a finding is replayed the same way.
//!
//! What is asked of each:
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | [`parse`] | dialect, size limit, robots.txt | positions lie in the text, lists agree with the lines that they were read from |
//! | [`normalise`] | dialect, pattern, path | normal forms stay; paths and matches are the oracle's |
//! | [`decide`] | dialect, size limit, agent, URL, robots.txt | every strategy gives the oracle's decision |
//! | [`split`] | dialect, record | parts lie in the record; hosts are the `url` crate's, but for a list of exceptions |

mod decide;
mod head;
mod hosts;
mod normalise;
mod parse;
mod split;

pub use decide::decide;
pub use normalise::normalise;
pub use parse::parse;
pub use split::split;
