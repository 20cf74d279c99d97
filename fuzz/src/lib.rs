//! Properties that must hold for any input, as functions that panic if a property fails.
//!
//! There is one function for each fuzz target. Inputs are bytes with a small head that can be typed
//! in an editor and reached by mutation: the first byte selects the dialect, and a line end
//! separates parts. The functions need no fuzzer: the tests run them on the seed corpus
//! with any toolchain, and a finding is replayed in the same way.
//!
//! The properties of each target:
//!
//! | target | input | what must hold |
//! |---|---|---|
//! | [`parse`] | dialect, size limit, robots.txt | positions lie in the text, lists agree with the lines that they were read from |
//! | [`normalise`] | dialect, pattern, path | normal forms stay; paths and matches are the oracle's |
//! | [`decide`] | dialect, size limit, agent, URL, robots.txt | every strategy gives the oracle's decision, one by one and in blocks |
//! | [`usage`] | the same | preferences, their lines and sources, and licences are the oracle's |
//! | [`dictionary`] | the value of a Content-Usage record | its members are the oracle's and the `sfv` crate's |
//! | [`sitemap`] | the text of a sitemap | what is read to its end are the values that `roxmltree` finds |
//! | [`split`] | dialect, record | parts lie in the record; hosts are the `url` crate's, but for a list of exceptions |

mod decide;
mod dictionary;
mod head;
mod hosts;
mod normalise;
mod parse;
mod sitemap;
mod split;
#[cfg(test)]
mod tests;
mod usage;

pub use decide::{decide, decide_counted};
pub use dictionary::dictionary;
pub use normalise::normalise;
pub use parse::parse;
pub use sitemap::{sitemap, sitemap_compared};
pub use split::split;
pub use usage::usage;

#[cfg(fuzzing)]
pub use libfuzzer_sys;

/// Makes a function of this crate a fuzz target. Without a fuzzer, the program replays findings.
#[macro_export]
macro_rules! target {
    ($target:ident) => {
        #[cfg(fuzzing)]
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| $crate::$target(data));

        #[cfg(not(fuzzing))]
        fn main() {
            $crate::replay($crate::$target);
        }
    };
}

/// Replays findings without a fuzzer: runs `target` on each file that the command line names.
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
