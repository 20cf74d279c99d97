//! The captures of all resources, sorted by key in bounded memory.
//!
//! [`Newest`] collects captures in a table. A full table is written as a [sorted run](SortedRuns) and
//! begun anew; in the end the runs are merged into [`Captured`]: one record per key, which are read in
//! order and found by key. The runs hold only what may still count.
//!
//! Cost: one look-up per capture, and two reads and writes of some 60 bytes per resource that counts;
//! finding a key reads [`BLOCK_BYTES`]. Memory: the table, one key for each block, and all that is kept
//! of one host.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;

use portcullis_dialect::AccessRules;
use portcullis_engine::bytes::push_varint;

use super::super::codec::{Fields, push_answer, push_bytes, push_time};
use super::super::file::WriteError;
use super::super::pool::{BlobID, BlobPool};
use super::super::runs::SortedRuns;
use super::super::scratch::{Scratch, Spool, SpoolReader, take_record};
use super::super::standing::CaptureFacts;
use super::newest::{Failures, Held, Known, Position, Target, Targets};
use super::place::Slot;

/// The bytes of records that share a place in the index.
const BLOCK_BYTES: u64 = 16 * 1024;

/// The captures read so far.
#[derive(Debug)]
pub(super) struct Newest {
    pub(super) scratch: Scratch,
    pub(super) pool: BlobPool,
    pub(super) rules: &'static AccessRules,
    /// Whether captures that cannot be the newest any more are kept, for the history of origins.
    pub(super) keeps_all: bool,
    targets: HashMap<Box<[u8]>, Targets, foldhash::fast::RandomState>,
    /// About the bytes of the table.
    bytes: usize,
    runs: SortedRuns,
    taken: u64,
}

impl Newest {
    pub(super) fn new(rules: &'static AccessRules, keeps_all: bool, scratch: &Scratch) -> Newest {
        Newest {
            scratch: scratch.clone(),
            pool: BlobPool::new(scratch),
            rules,
            keeps_all,
            targets: HashMap::default(),
            bytes: 0,
            runs: SortedRuns::new(scratch, |record| Fields { rest: record }.bytes()),
            taken: 0,
        }
    }

    /// Adds a capture and the failures that are known with it.
    pub(super) fn take(
        &mut self,
        key: &[u8],
        slot: Slot,
        known: Known<BlobID>,
        failures: Failures,
    ) -> Result<(), WriteError> {
        let Newest { targets, rules, keeps_all, bytes, .. } = self;
        self.taken += 1;
        let targets = match targets.entry_ref(key) {
            EntryRef::Occupied(entry) => entry.into_mut(),
            EntryRef::Vacant(entry) => {
                *bytes += key.len() + 3 * size_of::<Targets>();
                entry.insert_with_key(key.into(), Targets::default())
            }
        };
        let failures_before = failures.dates.len();
        match &mut targets[slot as usize] {
            Some(target) => {
                target.add(Target::first(known, failures), rules, *keeps_all);
                *bytes += if *keeps_all { size_of::<Known<BlobID>>() } else { 0 };
            }
            slot => {
                *slot = Some(Box::new(Target::first(known, failures)));
                *bytes += size_of::<Target>() + 16;
            }
        }
        *bytes += 16 * failures_before;
        if *bytes > self.scratch.run_bytes() { self.spill() } else { Ok(()) }
    }

    /// Writes the table as a sorted run.
    fn spill(&mut self) -> Result<(), WriteError> {
        let mut run = Spool::new(&self.scratch);
        let mut record = Vec::new();
        for (key, targets) in self.sorted() {
            push_targets(&mut record, &key, &targets);
            run.write_record(&record)?;
        }
        self.runs.push(run)
    }

    /// Empties the table and returns its content, sorted by key.
    fn sorted(&mut self) -> Vec<(Box<[u8]>, Targets)> {
        self.bytes = 0;
        let mut sorted: Vec<(Box<[u8]>, Targets)> =
            std::mem::take(&mut self.targets).into_iter().collect();
        sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        sorted
    }

    /// Returns the captures of all resources, the content of their files, and the number of captures
    /// that came beside another one of their resource.
    pub(super) fn finish(mut self) -> Result<(Captured, BlobPool, u64), WriteError> {
        let mut captured = Captured::new(&self.scratch);
        if self.runs.is_empty() {
            for (key, targets) in self.sorted() {
                captured.push(&key, &targets)?;
            }
        } else {
            self.spill()?;
            let mut last: Option<(Box<[u8]>, Targets)> = None;
            self.runs.merge(|key, record| {
                let (_, targets) = targets(record).ok_or_else(|| captured.records.changed())?;
                match &mut last {
                    Some((same, all)) if **same == *key => self.join(all, targets),
                    _ => {
                        if let Some((key, all)) = last.replace((key.into(), targets)) {
                            captured.push(&key, &all)?;
                        }
                    }
                }
                Ok(())
            })?;
            if let Some((key, all)) = last {
                captured.push(&key, &all)?;
            }
        }
        let superseded = if self.keeps_all { 0 } else { self.taken - captured.resources };
        Ok((captured, self.pool, superseded))
    }

    /// Joins the resources that two runs have under one key.
    fn join(&self, all: &mut Targets, others: Targets) {
        for (slot, target) in all.iter_mut().zip(others) {
            match (slot.as_mut(), target) {
                (Some(slot), Some(target)) => slot.add(*target, self.rules, self.keeps_all),
                (None, target) => *slot = target,
                (Some(_), None) => {}
            }
        }
    }
}

/// The captures of all resources, sorted by key.
#[derive(Debug)]
pub(super) struct Captured {
    records: Spool,
    /// The first key of each block, and where it begins.
    blocks: Vec<(Box<[u8]>, u64)>,
    resources: u64,
    record: Vec<u8>,
}

impl Captured {
    fn new(scratch: &Scratch) -> Captured {
        let (blocks, record) = (Vec::new(), Vec::new());
        Captured { records: Spool::new(scratch), blocks, resources: 0, record }
    }

    fn push(&mut self, key: &[u8], targets: &Targets) -> Result<(), WriteError> {
        let at = self.records.len();
        if self.blocks.last().is_none_or(|(_, start)| at - start >= BLOCK_BYTES) {
            self.blocks.push((key.into(), at));
        }
        self.resources += targets.iter().flatten().count() as u64;
        push_targets(&mut self.record, key, targets);
        self.records.write_record(&self.record)
    }

    /// Reads all keys and their resources in order.
    pub(super) fn reader(&self) -> CapturedReader<'_> {
        CapturedReader { records: &self.records, reader: self.records.reader(), record: Vec::new() }
    }

    /// Returns the resources under a key.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Targets>, WriteError> {
        let after = self.blocks.partition_point(|(first, _)| **first <= *key);
        let Some(block) = after.checked_sub(1) else { return Ok(None) };
        let start = self.blocks[block].1;
        let end = self.blocks.get(after).map_or(self.records.len(), |next| next.1);
        let block: Cow<'_, [u8]> = self.records.at(start, (end - start) as usize)?;
        let found = found(&block, key).ok_or_else(|| self.records.changed())?;
        found.map(|it| targets(it).map(|it| it.1).ok_or_else(|| self.records.changed())).transpose()
    }
}

/// Returns the record of a key in a block. `None` if the block makes no sense.
fn found<'b>(mut block: &'b [u8], key: &[u8]) -> Option<Option<&'b [u8]>> {
    while !block.is_empty() {
        let record = take_record(&mut block)?;
        let other = Fields { rest: record }.bytes()?;
        if other >= key {
            return Some((other == key).then_some(record));
        }
    }
    Some(None)
}

/// Reads [`Captured`] in the order of keys.
pub(super) struct CapturedReader<'c> {
    records: &'c Spool,
    reader: SpoolReader<'c>,
    record: Vec<u8>,
}

impl CapturedReader<'_> {
    fn read(&mut self) -> Result<(Box<[u8]>, Targets), WriteError> {
        self.reader.read_record(&mut self.record)?;
        let (key, targets) = targets(&self.record).ok_or_else(|| self.records.changed())?;
        Ok((key.into(), targets))
    }
}

impl Iterator for CapturedReader<'_> {
    type Item = Result<(Box<[u8]>, Targets), WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_at_end()).then(|| self.read())
    }
}

/// Replaces `out` by the record of a key.
fn push_targets(out: &mut Vec<u8>, key: &[u8], targets: &Targets) {
    out.clear();
    push_bytes(out, key);
    for target in targets {
        let captures = target.as_ref().map_or(0, |it| it.captures().count() as u32);
        push_varint(out, captures);
        let Some(target) = target else { continue };
        let Target { newest, file, failures, earlier } = &**target;
        push_capture(out, newest);
        out.push(file.is_some().into());
        file.iter().for_each(|known| push_capture(out, known));
        earlier.iter().for_each(|known| push_capture(out, known));
        push_time(out, failures.answered_at);
        push_varint(out, failures.dates.len() as u32);
        failures.dates.iter().for_each(|&date| push_time(out, Some(date)));
    }
}

/// Reads what [`push_targets`] wrote.
fn targets(record: &[u8]) -> Option<(&[u8], Targets)> {
    let fields = &mut Fields { rest: record };
    let key = fields.bytes()?;
    let targets = [target(fields)?, target(fields)?];
    fields.rest.is_empty().then_some((key, targets))
}

fn target(fields: &mut Fields<'_>) -> Option<Option<Box<Target>>> {
    let Some(mut rest) = fields.number()?.checked_sub(1) else { return Some(None) };
    let newest = capture(fields)?;
    let file = match fields.byte()? {
        0 => None,
        _ => {
            rest = rest.checked_sub(1)?;
            Some(Box::new(capture(fields)?))
        }
    };
    let earlier = (0..rest).map(|_| capture(fields)).collect::<Option<Vec<_>>>()?;
    let answered_at = fields.time()?;
    let dates = fields.number()?;
    let dates = (0..dates).map(|_| fields.time()?).collect::<Option<BTreeSet<_>>>()?;
    let failures = Failures { answered_at, dates };
    Some(Some(Box::new(Target { newest, file, failures, earlier })))
}

const NOTHING: u8 = 0;
const LOCATION: u8 = 1;
const FILE: u8 = 2;
const FILE_WITH_RULES: u8 = 3;

/// A capture was made before outages are judged and redirects are followed, so its facts have
/// neither.
fn push_capture(out: &mut Vec<u8>, Known { facts, position, held }: &Known<BlobID>) {
    push_time(out, facts.captured_at);
    push_time(out, facts.expires_at);
    push_answer(out, facts);
    push_varint(out, position.piece);
    push_varint(out, position.index);
    match *held {
        Held::Nothing => out.push(NOTHING),
        Held::Location(location) => {
            out.push(LOCATION);
            push_varint(out, location.0);
        }
        Held::File { extract, others, has_rules } => {
            out.push(if has_rules { FILE_WITH_RULES } else { FILE });
            push_varint(out, extract.0);
            push_varint(out, others.0);
        }
    }
}

fn capture(fields: &mut Fields<'_>) -> Option<Known<BlobID>> {
    let (captured_at, expires_at) = (fields.time()?, fields.time()?);
    let facts = CaptureFacts { captured_at, expires_at, ..fields.answer()? };
    let position = Position { piece: fields.number()?, index: fields.number()? };
    let held = match fields.byte()? {
        NOTHING => Held::Nothing,
        LOCATION => Held::Location(fields.blob()?),
        kind @ (FILE | FILE_WITH_RULES) => Held::File {
            extract: fields.blob()?,
            others: fields.blob()?,
            has_rules: kind == FILE_WITH_RULES,
        },
        _ => return None,
    };
    Some(Known { facts, position, held })
}
