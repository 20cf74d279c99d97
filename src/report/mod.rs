//! Verdicts as bytes: tagged lines, JSON Lines, the kept records of a filter, and the summary.
//!
//! Owns the formats that `portcullis classify`, `filter` and `check` write; use `batch` to get
//! decisions, and this module to show them. Each format is a pure function from one chunk of input
//! records to the bytes of its output, so that chunks can be written by many threads and put back
//! in order, and tested without any: [`tsv::write_chunk`], [`json_lines::write_chunk`] and
//! [`filter::write_chunk`]. They count what they see in [`Counts`]; [`Summary`] shows the sum.
//!
//! Formats read decisions from a [`Session`](crate::batch::Session) of `batch`.
//!
//! Cost: TSV and filter copy bytes and format nothing; runs of neighbouring records that are kept
//! are copied in one go. JSON Lines escapes every URL and looks the rule up, some hundred
//! nanoseconds more. Nothing fails but a damaged set: any bytes can be shown, and where a format
//! asks for text that they are not, the exact bytes stand beside it in base64.
//!
//! ```
//! use portcullis::batch::{Classifier, Session};
//! use portcullis::dialect::RFC_9309;
//! use portcullis::input::{Records, Terminator};
//! use portcullis::policy::{AgentChain, Detail};
//! use portcullis::report::{Counts, tsv};
//! use portcullis::set::{LoadConfig, PolicySet};
//!
//! let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
//! let classifier = Classifier::new(set, agents, Detail::Reason)?;
//! let mut session = Session::new(&classifier, None);
//! let records = Records::new(b"https://a.example/\nnothing\n", Terminator::LineFeed);
//! let (mut counts, mut out) = (Counts::new(1), Vec::new());
//! tsv::write_chunk(records, Terminator::LineFeed, &mut session, &mut counts, &mut out)?;
//! assert_eq!(out, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
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

use crate::input::Record;
use crate::limits::{CHUNK_OUTPUT_BYTES_MAX, RECORDS_AT_ONCE};

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
