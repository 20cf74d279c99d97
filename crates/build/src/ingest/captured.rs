//! The captures of all resources, sorted by key in bounded memory.
//!
//! [`Newest`] collects captures in a table. A full table is written as a [sorted run](SortedRuns) and
//! begun anew; in the end the runs are merged into [`Captured`]: one record per key, which are read in
//! order and found by key. The runs hold only what may still count. What is sorted already, such as the
//! logs of sets, is merged by [`Captured::merge`].
//!
//! Cost: one look-up per capture, and two reads and writes of some 40 bytes per resource that counts;
//! finding a key reads [`BLOCK_BYTES`]. Memory: the table, one key for each block, and all that is kept
//! of one host.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;

use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;

use portcullis_dialect::AccessRules;
use portcullis_engine::bytes::push_varint;
use portcullis_files::error::WriteError;
use portcullis_files::runs::SortedRuns;
use portcullis_files::scratch::{Scratch, Spool, SpoolReader, Table, take_record};

use zerocopy::little_endian::U64;

use super::log::{
    Fields, Form, Place, Reference, Role, failures, push_bytes, push_failures, push_key, take_key,
};
use super::newest::{Failures, Held, Known, Target, Targets};
use super::place::{self, Slot};
use crate::limits::CAPTURES_AT_ONCE;
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
    pub(super) taken: u64,
}

impl Newest {
    /// Begins without captures; their files go to `pool`.
    pub(super) fn new(
        (rules, keeps_all): (&'static AccessRules, bool),
        pool: BlobPool,
        scratch: &Scratch,
    ) -> Newest {
        Newest {
            scratch: scratch.clone(),
            pool,
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
        let form = self.form(Place::Run);
        for (key, targets) in self.sorted() {
            record.clear();
            push_bytes(&mut record, &key);
            let Ok(()) = form.push(&mut record, &targets, usize::MAX, &mut number);
            run.write_record(&record)?;
        }
        self.runs.push(run)
    }

    fn form(&self, place: Place) -> Form {
        Form { rules: self.rules, keeps_all: self.keeps_all, place }
    }

    /// Empties the table and returns its content, sorted by key.
    fn sorted(&mut self) -> Vec<(Box<[u8]>, Targets)> {
        self.bytes = 0;
        let mut sorted: Vec<(Box<[u8]>, Targets)> =
            std::mem::take(&mut self.targets).into_iter().collect();
        sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        sorted
    }

    /// Returns the captures of all resources, and the content of their files.
    pub(super) fn finish(mut self) -> Result<(Captured, BlobPool), WriteError> {
        let mut captured = Captured::new(self.form(Place::Sorted), &self.scratch);
        if self.runs.is_empty() {
            for (key, targets) in self.sorted() {
                captured.push(&key, &targets)?;
            }
        } else {
            self.spill()?;
            let form = self.form(Place::Run);
            let mut last = None;
            self.runs.merge(|key, record| {
                let fields = &mut Fields { rest: record };
                let targets = fields.bytes().and_then(|_| targets(form, fields));
                let targets = targets.ok_or_else(|| captured.records.changed())?;
                captured.join(&mut last, key.into(), targets)
            })?;
            captured.push_last(last)?;
        }
        Ok((captured, self.pool))
    }
}

/// The captures of all resources, sorted by key.
///
/// A record has the first failure of each resource alone: a resource to which many origins redirect is
/// found for each of them, and may have as many failures.
#[derive(Debug)]
pub struct Captured {
    form: Form,
    records: Spool,
    /// All failures of each resource that has any, in the order of records.
    failures: Spool,
    /// The first key of each block, and where it begins.
    blocks: Vec<(Box<[u8]>, u64)>,
    /// The bytes of the keys of blocks.
    key_bytes: usize,
    table: Table,
    resources: u64,
    /// Whether some resource is that of an origin.
    has_origin: bool,
    /// The last key of the last block.
    last: Vec<u8>,
    record: Vec<u8>,
}

/// A key with its captures.
pub(super) type Keyed = (Box<[u8]>, Targets);

impl Captured {
    fn new(form: Form, scratch: &Scratch) -> Captured {
        Captured {
            form,
            records: Spool::new(scratch),
            failures: Spool::new(scratch),
            blocks: Vec::new(),
            key_bytes: 0,
            table: scratch.table(),
            resources: 0,
            has_origin: false,
            last: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Merges captures that are sorted by key. Those of one key come in the order of `sources`.
    pub(super) fn merge<E: From<WriteError>, S: Iterator<Item = Result<Keyed, E>>>(
        mut sources: Vec<S>,
        (rules, keeps_all): (&'static AccessRules, bool),
        scratch: &Scratch,
    ) -> Result<Captured, E> {
        let mut captured = Captured::new(Form { rules, keeps_all, place: Place::Sorted }, scratch);
        let mut heads: Vec<Option<Targets>> = Vec::new();
        let mut next = BinaryHeap::new();
        for (number, source) in sources.iter_mut().enumerate() {
            let (key, targets) = source.next().transpose()?.unzip();
            next.extend(key.map(|key| Reverse((key, number))));
            heads.push(targets);
        }
        let mut last = None;
        while let Some(Reverse((key, number))) = next.pop() {
            let targets = heads[number].take().expect("a key has captures");
            captured.join(&mut last, key, targets)?;
            let (key, targets) = sources[number].next().transpose()?.unzip();
            next.extend(key.map(|key| Reverse((key, number))));
            heads[number] = targets;
        }
        captured.push_last(last)?;
        Ok(captured)
    }

    /// Joins captures with those of the last key if that is theirs, and stores those otherwise.
    fn join(
        &mut self,
        last: &mut Option<Keyed>,
        key: Box<[u8]>,
        targets: Targets,
    ) -> Result<(), WriteError> {
        let Some((_, all)) = last.as_mut().filter(|(last, _)| *last == key) else {
            return self.push_last(last.replace((key, targets)));
        };
        for (slot, target) in all.iter_mut().zip(targets) {
            match (slot.as_mut(), target) {
                (Some(slot), Some(target)) => {
                    slot.add(*target, self.form.rules, self.form.keeps_all);
                }
                (None, target) => *slot = target,
                (Some(_), None) => {}
            }
        }
        Ok(())
    }

    fn push_last(&mut self, last: Option<Keyed>) -> Result<(), WriteError> {
        last.map_or(Ok(()), |(key, targets)| self.push(&key, &targets))
    }

    /// Returns the number of bytes of all records.
    pub(crate) fn bytes(&self) -> u64 {
        self.records.len()
    }

    /// Passes the extract and the other records of each captured file.
    pub(crate) fn each_file<E: From<WriteError>>(
        &self,
        mut take: impl FnMut(BlobID, BlobID) -> Result<(), E>,
    ) -> Result<(), E> {
        for keyed in self.reader() {
            for target in keyed?.1.iter().flatten() {
                for known in target.captures() {
                    if let Held::File { extract, others, .. } = known.held {
                        take(extract, others)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes the log of a set to `write`, block by block, and returns where each block begins. `number`
    /// gives the numbers of files in the set.
    pub(crate) fn write_log<E: From<WriteError>>(
        &self,
        pool: &BlobPool,
        number: impl Fn(Role, BlobID) -> u32,
        mut write: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Vec<U64>, E> {
        let form = Form { place: Place::Log, ..self.form };
        let mut refer = |out: &mut Vec<u8>, role, blob: &BlobID| {
            match role {
                Role::Location => push_bytes(out, &pool.get(*blob)?),
                Role::Extract | Role::Others => push_varint(out, number(role, *blob)),
            }
            Ok::<_, WriteError>(())
        };
        let (mut starts, mut at) = (Vec::new(), 0);
        let (mut block, mut last) = (Vec::new(), Vec::new());
        for keyed in self.reader() {
            let (key, targets) = keyed?;
            push_key(&mut block, &last, &key);
            form.push(&mut block, &targets, usize::MAX, &mut refer)?;
            last.clear();
            if block.len() as u64 >= BLOCK_BYTES {
                starts.push(U64::new(at));
                at += block.len() as u64;
                write(&block)?;
                block.clear();
            } else {
                last.extend_from_slice(&key);
            }
        }
        if !block.is_empty() {
            starts.push(U64::new(at));
            write(&block)?;
        }
        Ok(starts)
    }

    /// Returns the number of resources.
    pub(super) fn resources(&self) -> u64 {
        self.resources
    }

    /// Returns whether some origin was captured.
    pub(super) fn has_origin(&self) -> bool {
        self.has_origin
    }

    /// Returns whether all captures are kept.
    pub(super) fn keeps_all(&self) -> bool {
        self.form.keeps_all
    }

    fn push(&mut self, key: &[u8], targets: &Targets) -> Result<(), WriteError> {
        let at = self.records.len();
        if self.blocks.last().is_none_or(|(_, start)| at - start >= BLOCK_BYTES) {
            self.blocks.push((key.into(), at));
            self.key_bytes += key.len();
            let places = self.blocks.capacity() * size_of::<(Box<[u8]>, u64)>();
            self.table.resize(places + self.key_bytes)?;
            self.last.clear();
        }
        self.has_origin = self.has_origin || place::is_origin(key);
        for target in targets.iter().flatten() {
            self.resources += 1;
            if !target.failures.dates.is_empty() {
                self.record.clear();
                push_failures(&mut self.record, &target.failures, usize::MAX);
                self.failures.write_record(&self.record)?;
            }
        }
        self.record.clear();
        push_key(&mut self.record, &self.last, key);
        let Ok(()) = self.form.push(&mut self.record, targets, 1, &mut number);
        self.last.clear();
        self.last.extend_from_slice(key);
        self.records.write_record(&self.record)
    }

    /// Reads all keys and their resources in order.
    pub(super) fn reader(&self) -> CapturedReader<'_> {
        let (reader, failures) = (self.records.reader(), self.failures.reader());
        CapturedReader {
            captured: self,
            reader,
            failures,
            block: 0,
            key: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Returns the resources under a key, with the first failure of each alone.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Targets>, WriteError> {
        let after = self.blocks.partition_point(|(first, _)| **first <= *key);
        let Some(block) = after.checked_sub(1) else { return Ok(None) };
        let start = self.blocks[block].1;
        let end = self.blocks.get(after).map_or(self.records.len(), |next| next.1);
        let block: Cow<'_, [u8]> = self.records.at(start, (end - start) as usize)?;
        let found = self.found(&block, key);
        found.ok_or_else(|| self.records.changed())
    }

    /// Returns the resources of a key in a block. `None` if the block makes no sense.
    #[expect(
        clippy::option_option,
        reason = "bytes that make no sense, and a key that is not there"
    )]
    fn found(&self, mut block: &[u8], key: &[u8]) -> Option<Option<Targets>> {
        let mut other = Vec::new();
        while !block.is_empty() {
            let mut fields = Fields { rest: take_record(&mut block)? };
            take_key(&mut fields, &mut other)?;
            if *other >= *key {
                let is_found = other == key;
                return if is_found {
                    targets(self.form, &mut fields).map(Some)
                } else {
                    Some(None)
                };
            }
        }
        Some(None)
    }
}

/// Reads [`Captured`] in the order of keys.
pub(super) struct CapturedReader<'c> {
    captured: &'c Captured,
    reader: SpoolReader<'c>,
    failures: SpoolReader<'c>,
    /// The number of blocks that were begun.
    block: usize,
    key: Vec<u8>,
    record: Vec<u8>,
}

impl CapturedReader<'_> {
    fn read(&mut self) -> Result<Keyed, WriteError> {
        let CapturedReader { captured, reader, failures: all, block, key, record } = self;
        if captured.blocks.get(*block).is_some_and(|(_, start)| *start == reader.position()) {
            *block += 1;
            key.clear();
        }
        reader.read_record(record)?;
        let fields = &mut Fields { rest: record };
        let read = take_key(fields, key).and_then(|()| targets(captured.form, fields));
        let mut targets = read.ok_or_else(|| captured.records.changed())?;
        for target in targets.iter_mut().flatten().filter(|it| !it.failures.dates.is_empty()) {
            all.read_record(record)?;
            let failures = failures(&mut Fields { rest: record });
            target.failures = failures.ok_or_else(|| captured.failures.changed())?;
        }
        Ok((key.as_slice().into(), targets))
    }
}

impl CapturedReader<'_> {
    /// Reads keys until they have [`CAPTURES_AT_ONCE`] captures.
    pub(super) fn next_piece(&mut self) -> Result<Vec<Keyed>, WriteError> {
        let (mut piece, mut count) = (Vec::new(), 0);
        while count < CAPTURES_AT_ONCE
            && let Some((key, targets)) = self.next().transpose()?
        {
            count += targets.iter().flatten().map(|it| it.captures().count()).sum::<usize>();
            piece.push((key, targets));
        }
        Ok(piece)
    }
}

impl Iterator for CapturedReader<'_> {
    type Item = Result<Keyed, WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_at_end()).then(|| self.read())
    }
}

/// Appends the number of a blob.
fn number(out: &mut Vec<u8>, _: Role, blob: &BlobID) -> Result<(), Infallible> {
    push_varint(out, blob.0);
    Ok(())
}

/// Reads the rest of a record: captures whose references are numbers of a pool.
fn targets(form: Form, fields: &mut Fields<'_>) -> Option<Targets> {
    let resources = form.take(fields)?;
    let mut targets = Targets::default();
    for (target, resource) in targets.iter_mut().zip(resources) {
        let Some(resource) = resource else { continue };
        let pooled = resource.map(|Known { facts, position, held }| {
            let held = held.map(|reference| match *reference {
                Reference::Number(number) => Ok(BlobID(number)),
                Reference::Bytes(_) => Err(()),
            })?;
            Ok::<_, ()>(Known { facts, position, held })
        });
        *target = Some(Box::new(pooled.ok()?));
    }
    fields.rest.is_empty().then_some(targets)
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_robots::access::UnixSeconds;

    use super::super::newest::Position;
    use super::*;
    use portcullis_set::stored::CaptureFacts;

    /// Every origin that redirects to a failing one finds it, so that must not read all its failures.
    #[test]
    fn a_resource_is_found_with_its_first_failure_alone() {
        const FAILURES: u64 = 10_000;
        let folder = tempfile::tempdir().unwrap();
        for scratch in [Scratch::in_memory(), Scratch::with_little_memory(folder.path(), 100_000)] {
            let rules = &RFC_9309.access;
            let mut newest = Newest::new((rules, false), BlobPool::new(&scratch), &scratch);
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
