//! Rule sets as bytes, and the one pipeline that decides a path.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! A rule set is a list of patterns such as `/private/*.png$` in order of precedence: the first one
//! that matches a path decides. A caller sorts its rules once and so expresses any precedence:
//! longest match, first in the file, any `Disallow`.
//!
//! ```
//! use portcullis_engine::pattern::PatternList;
//! use portcullis_engine::{Cache, Outcome, RuleSetBuf, Settings};
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! patterns.push(b"/private/", true);
//! let rules = RuleSetBuf::new(&patterns, |pattern| pattern == 0);
//! let (settings, mut cache) = (Settings::default(), Cache::default());
//! let mut decide = |path: &[u8]| rules.as_rule_set().decide(path, &settings, &mut cache);
//! assert_eq!(decide(b"/private/a.png"), Outcome::new(1, true));
//! assert_eq!(decide(b"/private/a"), Outcome::new(2, false));
//! assert_eq!(decide(b"/public"), Outcome::NONE);
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`ruleset`] | a rule set as bytes: built, checked, viewed in place |
//! | `strategy` | the steps that decide a path, in their order, with their reasons |
//! | `filter` | the prefilter: its bytes and step 1 |
//! | `candidates` | steps 2 and 3: the strings that a pattern may require, and the patterns that require them |
//! | `automaton`, `scan` | steps 4 and 5: patterns one by one, regex-automata's lazy DFA, all patterns in one pass; what a thread keeps |
//! | [`block`] | many queries at once, about many rule sets |
//! | [`pattern`] | one pattern and how it matches; lists of them |
//! | [`limits`] | what deciding may do |
//! | [`marks`] | the places of bytes in a text, for those who read it |
//! | [`bytes`], `outcome` | the unit of a rule set, helpers on bytes; an answer |
//! | [`vectors`] | the kernels of a prefilter, a file for each kind of vectors, and which a processor has |
//!
//! **Cost.** On real lists of URLs the prefilter answers about nine paths in ten from two or three
//! cache lines. A hostile file of 500 KiB costs at most a constant times one pass over the rules and
//! the path. Memory is bounded per thread. `DESIGN.md` explains each step and what it
//! gained.
//!
//! **Errors.** [`RuleSet::from_bytes`] checks bytes from anywhere. Deciding cannot fail: any bytes are
//! a pattern and any bytes are a path. Reaching a limit changes how an answer is found, never the
//! answer.
//!
//! The crate knows no agents, groups or URLs. `portcullis-robots` gets from a robots.txt file to an
//! answer; `portcullis-oracle` gives the same answers slowly and shares no code with this crate.

mod automaton;
pub mod block;
pub mod bytes;
mod candidates;
mod filter;
pub mod limits;
pub mod marks;
mod outcome;
pub mod pattern;
pub mod ruleset;
mod scan;
mod strategy;
#[cfg(test)]
mod tests;
pub mod vectors;

pub use automaton::{AutomatonWork, Cache, GaveUp, LazyDfa};
pub use bytes::Line;
pub use limits::{Limits, Settings};
pub use outcome::Outcome;
pub use ruleset::{MalformedRuleSet, RuleSet, RuleSetBuf};
pub use strategy::{SharedRuleSet, StepCounts};
