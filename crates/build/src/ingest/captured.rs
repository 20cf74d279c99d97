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
use portcullis_files::error::WriteError;
use portcullis_files::runs::SortedRuns;
use portcullis_files::scratch::{Scratch, Spool, SpoolReader, take_record};
use portcullis_set::stored::CaptureFacts;

use super::newest::{Failures, Held, Known, Position, Target, Targets};
use super::place::Slot;
use crate::codec::{Fields, push_answer, push_bytes, push_time};
use crate::pool::{BlobID, BlobPool};

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
        // If all captures are kept, failures follow from them.
        let failures = if *keeps_all { Failures::default() } else { failures };
        *bytes += 16 * failures.dates.len();
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
        if *bytes > self.scratch.run_bytes() { self.spill() } else { Ok(()) }
    }

    /// Writes the table as a sorted run.
    fn spill(&mut self) -> Result<(), WriteError> {
        let mut run = Spool::new(&self.scratch);
        let mut record = Vec::new();
        for (key, targets) in self.sorted() {
            push_targets(&mut record, &key, &targets, usize::MAX);
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
///
/// A record has the first failure of each resource alone: a resource to which many origins redirect is
/// found for each of them, and may have as many failures.
#[derive(Debug)]
pub(super) struct Captured {
    records: Spool,
    /// All failures of each resource that has any, in the order of records.
    failures: Spool,
    /// The first key of each block, and where it begins.
    blocks: Vec<(Box<[u8]>, u64)>,
    resources: u64,
    record: Vec<u8>,
}

impl Captured {
    fn new(scratch: &Scratch) -> Captured {
        let (records, failures) = (Spool::new(scratch), Spool::new(scratch));
        Captured { records, failures, blocks: Vec::new(), resources: 0, record: Vec::new() }
    }

    fn push(&mut self, key: &[u8], targets: &Targets) -> Result<(), WriteError> {
        let at = self.records.len();
        if self.blocks.last().is_none_or(|(_, start)| at - start >= BLOCK_BYTES) {
            self.blocks.push((key.into(), at));
        }
        for target in targets.iter().flatten() {
            self.resources += 1;
            if !target.failures.dates.is_empty() {
                self.record.clear();
                push_failures(&mut self.record, &target.failures, usize::MAX);
                self.failures.write_record(&self.record)?;
            }
        }
        push_targets(&mut self.record, key, targets, 1);
        self.records.write_record(&self.record)
    }

    /// Reads all keys and their resources in order.
    pub(super) fn reader(&self) -> CapturedReader<'_> {
        let (reader, failures) = (self.records.reader(), self.failures.reader());
        CapturedReader { captured: self, reader, failures, record: Vec::new() }
    }

    /// Returns the resources under a key, with the first failure of each alone.
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
    captured: &'c Captured,
    reader: SpoolReader<'c>,
    failures: SpoolReader<'c>,
    record: Vec<u8>,
}

impl CapturedReader<'_> {
    fn read(&mut self) -> Result<(Box<[u8]>, Targets), WriteError> {
        let CapturedReader { captured, reader, failures: all, record } = self;
        reader.read_record(record)?;
        let (key, mut targets) = targets(record).ok_or_else(|| captured.records.changed())?;
        let key = key.into();
        for target in targets.iter_mut().flatten().filter(|it| !it.failures.dates.is_empty()) {
            all.read_record(record)?;
            let failures = failures(&mut Fields { rest: record });
            target.failures = failures.ok_or_else(|| captured.failures.changed())?;
        }
        Ok((key, targets))
    }
}

impl Iterator for CapturedReader<'_> {
    type Item = Result<(Box<[u8]>, Targets), WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_at_end()).then(|| self.read())
    }
}

/// Replaces `out` by the record of a key, with the first failures of each resource, at most
/// `failures_max`.
fn push_targets(out: &mut Vec<u8>, key: &[u8], targets: &Targets, failures_max: usize) {
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
        push_failures(out, failures, failures_max);
    }
}

fn push_failures(out: &mut Vec<u8>, Failures { answered_at, dates }: &Failures, max: usize) {
    push_time(out, *answered_at);
    push_varint(out, dates.len().min(max) as u32);
    dates.iter().take(max).for_each(|&date| push_time(out, Some(date)));
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
    let failures = failures(fields)?;
    Some(Some(Box::new(Target { newest, file, failures, earlier })))
}

/// Reads what [`push_failures`] wrote.
fn failures(fields: &mut Fields<'_>) -> Option<Failures> {
    let answered_at = fields.time()?;
    let dates = fields.number()?;
    let dates = (0..dates).map(|_| fields.time()?).collect::<Option<BTreeSet<_>>>()?;
    Some(Failures { answered_at, dates })
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

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_robots::access::UnixSeconds;

    use super::*;

    /// Every origin that redirects to a failing one finds it, so that must not read all its failures.
    #[test]
    fn a_resource_is_found_with_its_first_failure_alone() {
        const FAILURES: u64 = 10_000;
        let folder = tempfile::tempdir().unwrap();
        for scratch in [Scratch::in_memory(), Scratch::with_little_memory(folder.path(), 100_000)] {
            let mut newest = Newest::new(&RFC_9309.access, false, &scratch);
            for date in 1..=FAILURES {
                let captured_at = Some(UnixSeconds(date * 7 % (FAILURES + 1)));
                let facts = CaptureFacts { captured_at, status: 503, ..CaptureFacts::default() };
                let known = Known { facts, position: Position::default(), held: Held::Nothing };
                let failures = Failures::of(&known, newest.rules);
                newest.take(b"a.example", Slot::Https, known, failures).unwrap();
            }
            let (captured, ..) = newest.finish().unwrap();
            assert!(captured.records.len() < 100, "{}", captured.records.len());
            let found = captured.get(b"a.example").unwrap().unwrap();
            let [None, Some(found)] = found else { panic!("another slot") };
            assert_eq!(found.view().failing_since, Some(UnixSeconds(1)));
            let (_, all) = captured.reader().next().unwrap().unwrap();
            let all = &all[1].as_ref().unwrap().failures;
            assert_eq!(all.dates, (1..=FAILURES).map(UnixSeconds).collect());
            // What failures take is counted once.
            assert!(scratch.spilled_bytes() < 40 * FAILURES, "{}", scratch.spilled_bytes());
        }
    }
}
