//! Compiles the path patterns of robots.txt rules into one matcher per rule set.
//!
//! A rule set is a list of patterns such as `/private/*.png$` in order of precedence. The matcher
//! reports the first pattern of the list that matches a path. A caller sorts its rules once and so
//! expresses any precedence: longest match, first in the file, any `Disallow`.
//!
//! ```
//! use portcullis_matcher::automaton::{Automaton, Detail, Limits, Outcome};
//! use portcullis_matcher::pattern::PatternList;
//!
//! let (allow, disallow) = (Outcome::new(1, true), Outcome::new(2, false));
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! patterns.push(b"/private/", true);
//! let mut automaton = Automaton::new(patterns, vec![allow, disallow], &Limits::default());
//! assert_eq!(automaton.decide(b"/private/a.png", Detail::Rule), allow);
//! assert_eq!(automaton.decide(b"/private/a", Detail::Rule), disallow);
//! assert!(!automaton.decide(b"/private/a", Detail::Reason).allows());
//! assert_eq!(automaton.decide(b"/public", Detail::Rule), Outcome::NONE);
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`automaton`] | the lazy automaton, its fallback and its prefilter |
//! | [`pattern`] | the normal text of a rule's value, and lists of parsed patterns |
//! | [`escape`] | the percent-encoding in which patterns and URLs are compared |
//! | [`bytes`] | white space, hex digits, percent triplets, varints, a seeded hash |
//! | [`vectors`] | runtime detection of AVX2 and AVX-512 |
//!
//! **Cost.** On real lists of URLs the prefilter answers about nine paths in ten from two or three
//! cache lines. The automaton builds states lazily, and building is limited by the bytes that it
//! has been asked about. So a hostile file of 500 KiB costs at most a constant times one pass over
//! the rules and the path. Memory is bounded per thread. `src/automaton/DESIGN.md` explains each
//! step and what it gained.
//!
//! **Limits.** Matching cannot fail: any bytes are a pattern and any bytes are a path. Reaching a
//! limit changes how an answer is found, never the answer.
//!
//! The crate knows no agents, groups or URLs. `portcullis-robots` gets from a robots.txt file to an
//! answer; `portcullis-oracle` gives the same answers slowly and shares no code with this crate.

pub mod automaton;
pub mod bytes;
pub mod escape;
pub mod pattern;
pub mod vectors;
