//! Numbers, lists of numbers and rule sets, each list and each rule set stored once.

use std::sync::Arc;

use zerocopy::{Immutable, IntoBytes};

use portcullis_dialect::dialect::AccessOutcome;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_set::layout::{NONE, ORDER_HAS_LENGTHS, RuleSetRow, policy};

use super::config::CompileError;
use super::plan::CompiledRules;
use crate::pool::{BlobID, BlobPool, Fingerprint, Fingerprints};
use crate::standing::Content;

/// Returns the position after the last item of a section.
///
/// # Errors
///
/// If the section has 2^32 items, which is beyond the size of one set.
pub fn end<T: IntoBytes + Immutable>(items: &Items<T>) -> Result<u32, CompileError> {
    position(items.len())
}

fn position(items: u64) -> Result<u32, CompileError> {
    let position = u32::try_from(items).ok().filter(|&position| position < NONE);
    position.ok_or_else(CompileError::too_many_items)
}

/// The record of each pattern's rule of a rule group, counted from the first rule of its first group, as it
/// is stored; and the lengths of the patterns, if they are compared with other rule groups.
#[derive(Debug)]
pub struct PackedOrder {
    /// Each list is the width of a number in bytes (1, 2 or 4), then the numbers in that width.
    bytes: Vec<u8>,
    fingerprint: Fingerprint,
}

impl PackedOrder {
    pub fn new(order: &[u32], lengths: Option<&[u32]>) -> PackedOrder {
        let mut bytes = Vec::with_capacity(1 + 2 * order.len());
        push_numbers(order, &mut bytes);
        if let Some(lengths) = lengths {
            bytes[0] |= ORDER_HAS_LENGTHS;
            push_numbers(lengths, &mut bytes);
        }
        PackedOrder { fingerprint: Fingerprint::of(&bytes), bytes }
    }

    /// Returns the number of its bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// Appends the width of numbers, and the numbers.
fn push_numbers(numbers: &[u32], bytes: &mut Vec<u8>) {
    let width = match numbers.iter().max() {
        Some(0x1_0000..) => 4,
        Some(0x100..) => 2,
        _ => 1,
    };
    bytes.push(width as u8);
    match width {
        1 => bytes.extend(numbers.iter().map(|&number| number as u8)),
        2 => numbers.iter().for_each(|&number| bytes.extend((number as u16).to_le_bytes())),
        _ => numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes())),
    }
}

/// The orders of a set, each stored once. Memory: about 30 bytes for each.
pub struct Orders {
    pub bytes: Spool,
    known: Fingerprints,
}

impl Orders {
    pub fn new(scratch: &Scratch) -> Orders {
        Orders { bytes: Spool::new(scratch), known: Fingerprints::default() }
    }

    /// Returns the position of an order, which is stored if it is new.
    pub fn intern(&mut self, order: &PackedOrder) -> Result<u32, CompileError> {
        let Orders { bytes, known } = self;
        known.number(order.fingerprint, || {
            let start = position(bytes.len())?;
            bytes.write(&order.bytes)?;
            Ok(start)
        })
    }

    pub fn table_bytes(&self) -> usize {
        self.known.bytes()
    }
}

/// The rule sets of a set. Memory: about 40 bytes for each.
#[derive(Default)]
pub struct RuleSets {
    /// The first line and the number of lines of each rule set, by number.
    pub index: Vec<RuleSetRow>,
    /// The number of lines of all rule sets.
    line_count: u64,
    /// The rule sets that were not written yet.
    new: Vec<Arc<CompiledRules>>,
    known: Fingerprints,
}

impl RuleSets {
    /// Takes new rule sets, in order. The caller writes their lines.
    pub fn take_new(&mut self) -> Vec<Arc<CompiledRules>> {
        std::mem::take(&mut self.new)
    }

    /// Returns the number of a rule set, which is stored if it is new.
    pub fn intern(&mut self, rules: Arc<CompiledRules>) -> Result<u32, CompileError> {
        let RuleSets { index, line_count, new, known, .. } = self;
        known.number(rules.fingerprint, || {
            let start = position(*line_count)?;
            if index.len() >= policy::IS_SINGLE as usize {
                return Err(CompileError::too_many_items());
            }
            let lines = rules.compiled.as_lines().len();
            *line_count += lines as u64;
            new.push(rules);
            index.push(RuleSetRow { line: start.into(), lines: (lines as u32).into() });
            Ok(index.len() as u32 - 1)
        })
    }

    pub fn table_bytes(&self) -> usize {
        self.known.bytes() + self.index.capacity() * size_of::<RuleSetRow>()
    }
}

/// A number for each blob that has one.
pub struct BlobNumbers(Vec<u32>);

impl BlobNumbers {
    pub fn new(pool: &BlobPool) -> BlobNumbers {
        BlobNumbers(vec![NONE; pool.places()])
    }

    pub fn get(&self, blob: BlobID) -> Option<u32> {
        Some(self.0[blob.index()]).filter(|&number| number != NONE)
    }

    pub fn set(&mut self, blob: BlobID, number: u32) {
        self.0[blob.index()] = number;
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// The distinct policies of hosts, in order of first use.
pub struct DistinctPolicies {
    pub count: u32,
    pub of_blob: BlobNumbers,
    of_access: Vec<(AccessOutcome, u32)>,
}

impl DistinctPolicies {
    pub fn new(pool: &BlobPool) -> DistinctPolicies {
        DistinctPolicies { count: 0, of_blob: BlobNumbers::new(pool), of_access: Vec::new() }
    }

    /// Numbers the policy of what an origin has. Returns this if the policy is new.
    pub fn add(&mut self, content: Content) -> Option<Content> {
        if self.number(content).is_some() {
            return None;
        }
        match content {
            Content::File { extract, .. } => self.of_blob.set(extract, self.count),
            Content::Access(outcome) => self.of_access.push((outcome, self.count)),
        }
        self.count += 1;
        Some(content)
    }

    /// Returns the number of the policy of what an origin has.
    pub fn number(&self, content: Content) -> Option<u32> {
        match content {
            Content::File { extract, .. } => self.of_blob.get(extract),
            Content::Access(outcome) => {
                let known = self.of_access.iter().find(|(other, _)| *other == outcome);
                known.map(|&(_, index)| index)
            }
        }
    }
}
