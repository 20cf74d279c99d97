//! The vocabulary of the Robots Exclusion Protocol: dialects, decisions and limits, as data.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! Owns the behaviour of each standard or crawler at each decision point ([`Dialect`]), the
//! vocabulary of an answer ([`Verdict`], [`Reason`], [`PolicyState`], [`Decision`]), the vocabulary
//! of usage preferences ([`usage`]) and the bounds of the protocol ([`limits`]). Nothing here
//! parses or matches: the engine is `portcullis-robots`, and `portcullis-oracle` is a second,
//! independent implementation that checks it.
//!
//! The crate has no dependencies and almost no code: dialects are constants. The feature `serde`
//! adds `Serialize` for decisions and their words.
//!
//! ```
//! use portcullis_dialect::{Decision, Dialect, GOOGLE, Precedence, Reason, Verdict};
//!
//! assert_eq!(Dialect::by_name("google"), Some(&GOOGLE));
//! assert_eq!(GOOGLE.paths.precedence, Precedence::MostBytes);
//! let decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
//! assert_eq!(format!("{} {}", decision.verdict, decision.reason), "allow no-rule");
//! ```

mod access;
pub mod decision;
pub mod dialect;
pub mod id;
pub mod limits;
mod presets;
pub mod usage;

pub use access::{Access, Fetched};
pub use decision::{Answer, Decision, PolicyState, Reason, Verdict};
pub use dialect::*;
pub use id::{LineNumber, RuleID};
pub use usage::{Label, LabelError, Preference, Stance, Stated, Usage, UsageSource};

/// Used by the code that [`words`] expands to.
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde;
