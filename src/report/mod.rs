//! Verdicts as octets: tagged lines, JSON Lines, the kept records of a filter, and the summary.
//!
//! Owns the formats that `portcullis classify`, `filter` and `check` write; use `batch` to get
//! decisions, and this module to show them. Each format is a pure function from one chunk of input
//! records to the octets of its output, so that chunks can be written by many threads and put back
//! in order, and tested without any: [`tsv::write_chunk`], [`json_lines::write_chunk`] and
//! [`filter::write_chunk`]. They count what they see in [`Counts`]; [`Summary`] shows the sum.
//!
//! Decisions come through [`Judge`], so that a format knows nothing about policies.
//!
//! Cost: TSV and filter copy octets and format nothing; runs of neighbouring records that are kept
//! are copied in one go. JSON Lines escapes every URL and looks the rule up, some hundred
//! nanoseconds more. Nothing here fails: any octets can be shown, and where a format asks for text
//! that they are not, the exact octets stand beside it in base64.
//!
//! ```
//! use portcullis::decision::{Decision, Reason, Verdict};
//! use portcullis::input::{Records, Terminator};
//! use portcullis::report::{Counts, Judge, tsv};
//!
//! /// Allows what begins with `https`.
//! struct Example([Decision; 1]);
//!
//! impl Judge for Example {
//!     fn judge(&mut self, record: &[u8]) -> &[Decision] {
//!         self.0[0] = if record.starts_with(b"https") {
//!             Decision::without_rule(Verdict::Allow, Reason::NoRule)
//!         } else {
//!             Decision::INVALID
//!         };
//!         &self.0
//!     }
//! }
//!
//! let records = Records::new(b"https://a.example/\nnothing\n", Terminator::LineFeed);
//! let mut counts = Counts::new(1);
//! let mut out = Vec::new();
//! tsv::write_chunk(
//!     records,
//!     Terminator::LineFeed,
//!     &mut Example([Decision::INVALID]),
//!     &mut counts,
//!     &mut out,
//! );
//! assert_eq!(out, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! ```

mod clause;
mod counts;
pub mod explanation;
pub mod explanation_json;
pub mod filter;
pub mod json_lines;
mod summary;
pub mod tsv;

#[cfg(test)]
mod testing;

pub use clause::clause;
pub use counts::{AgentCounts, Counts};
pub use summary::{CaptureDates, Filtered, Run, Summary};

use crate::decision::Decision;

/// Whoever decides about records: the classifier of `batch` with its cache, or a test's table.
pub trait Judge {
    /// The decision for each agent, in the order in which the agents were asked for.
    ///
    /// The same octets always get the same decisions, however often and in whatever order records
    /// come.
    fn judge(&mut self, record: &[u8]) -> &[Decision];
}

/// Whoever can also tell where a decision came from.
pub trait Witness: Judge {
    /// What stands behind the decision for `agent` on the record that was judged last.
    fn provenance(&self, agent: usize) -> Provenance<'_>;
}

/// Where a decision came from, as it stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// The value of the rule that decided, if one did; the verdict says which kind it is.
    pub rule: Option<&'a [u8]>,
    /// The value of the user-agent line of the group that speaks to the agent, if one does.
    pub group: Option<&'a [u8]>,
}
