//! What a chunk tells beside its counts: URLs to be shown, and origins without a policy.
//!
//! Which URLs are the first depends on the order of the input, so a chunk tells its own, and
//! [`Findings`](super::findings::Findings) takes those of one chunk after the other.

use std::ops::Range;

use super::unknown::OriginCounts;
use crate::batch::Provenance;
use crate::decision::Decision;
use crate::visible::cut_to_show;

/// What a chunk tells.
#[derive(Debug, Default)]
pub struct Told {
    bytes: Vec<u8>,
    pub(super) samples: Vec<Sample>,
    /// Records that are no URL, by where they stand.
    pub(super) invalid: Vec<Range<usize>>,
    pub(super) unknown: OriginCounts,
    pub(super) compared: Vec<Compared>,
}

/// A URL that a rule decided.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The rule's counter.
    pub rule: usize,
    pub host: u32,
    pub url: Range<usize>,
}

/// A URL that two sides decide differently.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    pub comparison: usize,
    pub agent: usize,
    pub url: Range<usize>,
    pub here: ComparedDecision,
    pub there: ComparedDecision,
}

/// One side's decision, and the rule that decides.
#[derive(Clone, Debug)]
pub(super) struct ComparedDecision {
    pub decision: Decision,
    pub rule: Option<Range<usize>>,
}

impl ComparedDecision {
    /// A decision and what `provenance` says of it, kept in `told`.
    pub(super) fn new(
        decision: Decision,
        provenance: Provenance<'_>,
        told: &mut Told,
    ) -> ComparedDecision {
        ComparedDecision { decision, rule: provenance.rule.map(|rule| told.push(rule)) }
    }
}

impl Told {
    /// Forgets the chunk before.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.samples.clear();
        self.invalid.clear();
        self.unknown.clear();
        self.compared.clear();
    }

    /// Keeps a text, cut if it is long.
    pub(super) fn push(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&cut_to_show(text));
        start..self.bytes.len()
    }

    /// A text that was kept.
    pub(super) fn text(&self, range: &Range<usize>) -> &[u8] {
        &self.bytes[range.clone()]
    }
}
