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
//! nanoseconds more. Nothing fails but the judge: any octets can be shown, and where a format asks for text
//! that they are not, the exact octets stand beside it in base64.
//!
//! ```
//! use portcullis::decision::{Decision, Reason, Verdict};
//! use portcullis::input::{Record, Records, Terminator};
//! use portcullis::report::{Counts, Judge, tsv};
//!
//! /// Allows what begins with `https`.
//! struct Example(Vec<Decision>);
//!
//! impl Judge for Example {
//!     type Failure = std::convert::Infallible;
//!
//!     fn judge(&mut self, records: &[Record<'_>]) -> Result<&[Decision], Self::Failure> {
//!         let decide = |record: &Record<'_>| match record.text().starts_with(b"https") {
//!             true => Decision::without_rule(Verdict::Allow, Reason::NoRule),
//!             false => Decision::INVALID,
//!         };
//!         self.0 = records.iter().map(decide).collect();
//!         Ok(&self.0)
//!     }
//! }
//!
//! let records = Records::new(b"https://a.example/\nnothing\n", Terminator::LineFeed);
//! let mut counts = Counts::new(1);
//! let mut out = Vec::new();
//! tsv::write_chunk(
//!     records,
//!     Terminator::LineFeed,
//!     &mut Example(Vec::new()),
//!     &mut counts,
//!     &mut out,
//! )?;
//! assert_eq!(out, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! # Ok::<(), std::convert::Infallible>(())
//! ```

pub mod advertools;
mod clause;
mod counts;
pub mod difference;
pub mod explanation;
pub mod explanation_json;
mod figures;
pub mod filter;
pub(crate) mod html;
pub mod json_lines;
mod summary;
pub mod tsv;

#[cfg(test)]
mod testing;

pub use clause::clause;
pub use counts::{AgentCounts, Counts};
pub use figures::Figures;
pub use summary::{CaptureDates, Filtered, Run, Summary};

use crate::decision::Decision;
use crate::input::Record;
use crate::limits::{CHUNK_OUTPUT_BYTES_MAX, RECORDS_AT_ONCE};

/// Whoever decides about records: the classifier of `batch` with its cache, or a test's table.
pub trait Judge {
    /// Why there may be no decision.
    type Failure;

    /// The decision for each record and agent, record by record, agents in the order in which they
    /// were asked for.
    ///
    /// The same octets always get the same decisions, however often and in whatever order records
    /// come.
    ///
    /// # Errors
    ///
    /// If the judge cannot decide any more.
    fn judge(&mut self, records: &[Record<'_>]) -> Result<&[Decision], Self::Failure>;
}

/// Whoever can also tell where a decision came from.
pub trait Witness: Judge {
    /// What stands behind the decision for `agent` on the record at `record` of those that were
    /// judged last.
    ///
    /// # Errors
    ///
    /// If the judge cannot tell any more.
    fn provenance(&mut self, record: usize, agent: usize) -> Result<Provenance<'_>, Self::Failure>;
}

/// Calls `with` for blocks of `records`, which together are all of them.
#[inline]
fn in_blocks<'c, E>(
    records: impl Iterator<Item = Record<'c>>,
    mut with: impl FnMut(&[Record<'c>]) -> Result<(), E>,
) -> Result<(), E> {
    in_blocks_while(records, |block| {
        with(block)?;
        Ok(true)
    })
}

/// As [`in_blocks`], but ends before all records are done if `with` returns `false`.
#[inline]
fn in_blocks_while<'c, E>(
    mut records: impl Iterator<Item = Record<'c>>,
    mut with: impl FnMut(&[Record<'c>]) -> Result<bool, E>,
) -> Result<(), E> {
    let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
    loop {
        block.clear();
        block.extend(records.by_ref().take(RECORDS_AT_ONCE));
        if block.is_empty() || !with(&block)? {
            return Ok(());
        }
    }
}

/// Whether an output for `agents` that has `written` bytes of a chunk takes another block.
fn has_room(written: usize, agents: usize) -> bool {
    written / agents.max(1) < CHUNK_OUTPUT_BYTES_MAX
}

/// Where a decision came from, as it stands in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance<'a> {
    /// The value of the rule that decided, if one did; the verdict says which kind it is.
    pub rule: Option<&'a [u8]>,
    /// The value of the user-agent line of the group that speaks to the agent, if one does.
    pub group: Option<&'a [u8]>,
}
