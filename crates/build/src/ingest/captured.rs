//! The captures of all resources, sorted by key in bounded memory.
//!
//! [`Newest`] collects captures in a table. A full table becomes a [sorted run](SortedRuns), and is begun
//! anew. In the end the runs are merged to [`Captured`], as is what is sorted already, such as the logs of
//! sets: one record per key, which are read in order and found by key. A run holds only what may still count.
//!
//! Cost: one look-up per capture, and two reads and writes of some 40 bytes per resource that counts, on
//! all threads; finding a key reads [`BLOCK_BYTES`]. Memory: the table, one key for each block, and all
//! that is kept of one host.

use std::cmp::Ordering;
use std::ops::Range;

use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use rayon::prelude::*;

use portcullis_engine::bytes::{push_varint, take_varint};
use portcullis_files::budget::SORT_RUN;
use portcullis_files::error::WriteError;
use portcullis_files::runs::{SortedRuns, merge};
use portcullis_files::scratch::{Scratch, Spool, Table, push_record, take_record};

use super::ahead::ahead;
use super::known::{Keeps, Keyed, Known, NewestDates, Resources, date_repeated, settle_order};
use super::log::{Form, push_key, take_key};
use super::place::{self, Slot};
use super::rivals::{self, RowsOfInputs};
use crate::pool::BlobID;

/// The bytes of records that share a place in the index.
const BLOCK_BYTES: usize = 16 * 1024;

/// Bytes of blocks that are read at once, or one block. They have some [`CAPTURES_AT_ONCE`], and a longer block
/// has one long record.
///
/// [`CAPTURES_AT_ONCE`]: crate::limits::CAPTURES_AT_ONCE
const BYTES_AT_ONCE: u64 = 8 * BLOCK_BYTES as u64;

/// Keys that are coded by one thread, and by all threads at once.
const KEYS_PER_PIECE: usize = 1024;
const KEYS_AT_ONCE: usize = 64 * KEYS_PER_PIECE;

/// The captures read so far.
#[derive(Debug)]
pub(super) struct Newest {
    scratch: Scratch,
    keeps: Keeps,
    resources: HashMap<Box<[u8]>, Resources, foldhash::fast::RandomState>,
    /// About the bytes of the table.
    bytes: usize,
    runs: SortedRuns,
    pub(super) taken: u64,
    /// The captures that no longer count, and have no date.
    undated: u64,
}

impl Newest {
    /// Begins without captures.
    pub(super) fn new(keeps: Keeps, scratch: &Scratch) -> Newest {
        Newest {
            scratch: scratch.clone(),
            keeps,
            resources: HashMap::default(),
            bytes: 0,
            runs: SortedRuns::new(scratch),
            taken: 0,
            undated: 0,
        }
    }

    /// Adds a capture.
    pub(super) fn take(
        &mut self,
        key: &[u8],
        slot: Slot,
        known: Known<BlobID>,
    ) -> Result<(), WriteError> {
        let Newest { resources, keeps, bytes, .. } = self;
        self.taken += 1;
        let resources = match resources.entry_ref(key) {
            EntryRef::Occupied(entry) => entry.into_mut(),
            EntryRef::Vacant(entry) => {
                *bytes += key.len() + 3 * size_of::<Resources>();
                entry.insert_with_key(key.into(), Resources::default())
            }
        };
        let captures = &mut resources[slot as usize];
        let before = captures.capacity();
        // Only a full list is put in order, and one that stays half full grows: a resource may have any
        // number of failures.
        if captures.len() == before {
            self.undated += settle_order(captures, *keeps);
            if captures.len() * 2 > before || before == 0 {
                captures.reserve_exact(captures.len().max(1));
            }
        }
        captures.push(known);
        *bytes += (captures.capacity() - before) * size_of::<Known<BlobID>>();
        if *bytes > self.scratch.budget().before_files(SORT_RUN) { self.spill() } else { Ok(()) }
    }

    /// Makes the table a run, on this thread alone: others wait for the table, and a thread that waits for the
    /// pool may take up work of theirs.
    fn spill(&mut self) -> Result<(), WriteError> {
        self.bytes = 0;
        let mut sorted: Vec<Keyed> = std::mem::take(&mut self.resources).into_iter().collect();
        sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let Newest { runs, keeps, undated, .. } = self;
        let mut record = Vec::new();
        runs.push(|run| {
            sorted.into_iter().try_for_each(|(key, mut resources)| {
                let dropped = resources.iter_mut().map(|captures| settle_order(captures, *keeps));
                *undated += dropped.sum::<u64>();
                record.clear();
                push_resources(Form::Run, &mut record, &resources)?;
                run.write_record(&key)?;
                run.write_record(&record)
            })
        })
    }

    /// Returns the captures of all resources. The dates are those of the inputs.
    pub(super) fn finish(self, dates: NewestDates) -> Result<Captured, WriteError> {
        let Newest { scratch, keeps, resources, runs, undated, .. } = self;
        let mut captured = Captured { dates, ..Captured::new(keeps, &scratch) };
        captured.counts.undated = undated;
        let mut sorted: Vec<Keyed> = resources.into_iter().collect();
        sorted.par_sort_unstable_by(|one, other| one.0.cmp(&other.0));
        if runs.is_empty() {
            return captured.with_all(&mut sorted);
        }
        type Source<'s> = Box<dyn Iterator<Item = Result<Keyed, WriteError>> + Send + 's>;
        let keyed = |record: Result<(Vec<u8>, Vec<u8>), WriteError>| {
            let (key, record) = record?;
            let resources = take_resources(Form::Run, &record).ok_or_else(|| scratch.changed())?;
            Ok((key.into(), resources))
        };
        let runs = runs.readers().map(|run| Box::new(run.map(keyed)) as Source<'_>);
        let last: Source<'_> = Box::new(sorted.into_iter().map(Ok));
        ahead(runs.chain([last]).collect(), |sources| captured.merge(sources))
    }
}

/// The captures of all resources, sorted by key.
#[derive(Debug)]
pub struct Captured {
    pub(super) keeps: Keeps,
    /// The places of lost captures.
    dates: NewestDates,
    records: Spool,
    /// The first key of each block, its number among all keys, and where the block begins.
    blocks: Vec<(Box<[u8]>, u64, u64)>,
    /// The bytes of the keys of blocks.
    key_bytes: usize,
    table: Table,
    pub(super) counts: Counts,
}

/// Counts of captures that were sorted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    keys: u64,
    pub(super) resources: u64,
    /// Captures that no longer count, and have no date.
    pub(super) undated: u64,
    /// Files that count although the input has a different one of the same second.
    pub(super) same_second: u64,
    /// The captures that were left out when they were sorted.
    pub(super) rows: RowsOfInputs,
    /// Whether some resource is that of an origin.
    pub(super) has_origin: bool,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.keys += other.keys;
        self.resources += other.resources;
        self.undated += other.undated;
        self.same_second += other.same_second;
        self.rows.add(other.rows);
        self.has_origin |= other.has_origin;
    }
}

/// The records of some keys in order, and what they add to the counts of [`Captured`].
#[derive(Default)]
struct Block {
    records: Vec<u8>,
    first: Box<[u8]>,
    last: Vec<u8>,
    record: Vec<u8>,
    counts: Counts,
}

impl Block {
    /// Adds the captures of a key, as those of `captured`.
    fn push(
        &mut self,
        key: &[u8],
        mut resources: Resources,
        captured: &Captured,
    ) -> Result<(), WriteError> {
        let Captured { keeps, ref dates, .. } = *captured;
        let counts = &mut self.counts;
        counts.rows.take(key, &mut resources);
        for captures in &mut resources {
            dates.place(captures, keeps.0);
            counts.undated += settle_order(captures, keeps);
            rivals::compare(captures);
            date_repeated(captures);
        }
        counts.same_second += rivals::count(&resources);
        let count = resources.iter().filter(|captures| !captures.is_empty()).count();
        if count == 0 {
            return Ok(());
        }
        counts.keys += 1;
        counts.resources += count as u64;
        counts.has_origin |= place::is_origin(key);
        if self.records.is_empty() {
            self.first = key.into();
        }
        self.record.clear();
        push_key(&mut self.record, &self.last, key);
        push_resources(Form::Sorted, &mut self.record, &resources)?;
        push_record(&mut self.records, &self.record);
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.records.len() >= BLOCK_BYTES
    }
}

impl Captured {
    /// Begins without captures.
    pub(super) fn new(keeps: Keeps, scratch: &Scratch) -> Captured {
        Captured {
            keeps,
            dates: NewestDates::default(),
            records: Spool::new(scratch),
            blocks: Vec::new(),
            key_bytes: 0,
            table: scratch.table(),
            counts: Counts::default(),
        }
    }

    /// Adds captures that are sorted by key. Those of one key come in the order of `sources`.
    pub(super) fn merge<E: From<WriteError>, S: Iterator<Item = Result<Keyed, E>>>(
        mut self,
        sources: Vec<S>,
    ) -> Result<Captured, E> {
        let mut block = Block::default();
        for joined in merge(sources) {
            let (key, resources) = joined?;
            let resources = resources.into_iter().reduce(|mut all, more| {
                all.iter_mut().zip(more).for_each(|(own, more)| own.extend(more));
                all
            });
            block.push(&key, resources.unwrap_or_default(), &self)?;
            if block.is_full() {
                self.append(std::mem::take(&mut block))?;
            }
        }
        self.append(block)?;
        Ok(self)
    }

    /// Adds captures that are sorted by key, on all threads. They are taken.
    fn with_all(mut self, sorted: &mut [Keyed]) -> Result<Captured, WriteError> {
        for some in sorted.chunks_mut(KEYS_AT_ONCE) {
            let blocks = some.par_chunks_mut(KEYS_PER_PIECE).map(|keys| self.blocks_of(keys));
            let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
            blocks.into_iter().flatten().try_for_each(|block| self.append(block))?;
        }
        Ok(self)
    }

    /// Codes captures, which are taken.
    fn blocks_of(&self, keys: &mut [Keyed]) -> Result<Vec<Block>, WriteError> {
        let (mut blocks, mut block) = (Vec::new(), Block::default());
        for (key, resources) in keys {
            block.push(key, std::mem::take(resources), self)?;
            if block.is_full() {
                blocks.push(std::mem::take(&mut block));
            }
        }
        blocks.push(block);
        Ok(blocks)
    }

    fn append(&mut self, Block { records, first, counts, .. }: Block) -> Result<(), WriteError> {
        let number = self.counts.keys;
        self.counts.add(counts);
        if records.is_empty() {
            return Ok(());
        }
        self.key_bytes += first.len();
        self.blocks.push((first, number, self.records.len()));
        let places = self.blocks.capacity() * size_of::<(Box<[u8]>, u64, u64)>();
        self.table.resize(places + self.key_bytes)?;
        self.records.write(&records)
    }

    /// Reads all keys and their resources in order.
    pub(super) fn reader(&self) -> CapturedReader<'_> {
        let waiting = Vec::new().into_iter();
        CapturedReader { captured: self, block: 0, waiting }
    }

    /// Returns the number of a key among all, and the resources under it; `None` if it is not there.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<(u64, Resources)>, WriteError> {
        let after = self.blocks.partition_point(|(first, ..)| **first <= *key);
        let Some(block) = after.checked_sub(1) else { return Ok(None) };
        let mut number = self.blocks[block].1;
        let found = self.some_of(block, |other| {
            let order = other.cmp(key);
            number += u64::from(order == Ordering::Less);
            order
        });
        Ok(found?.pop().map(|(_, resources)| (number, resources)))
    }

    /// Returns where a block begins, or all blocks end.
    fn start_of(&self, block: usize) -> u64 {
        self.blocks.get(block).map_or(self.records.len(), |(.., start)| *start)
    }

    /// Returns the keys of a block, with their resources.
    fn all_of(&self, block: usize) -> Result<Vec<Keyed>, WriteError> {
        self.some_of(block, |_| Ordering::Equal)
    }

    /// Returns the keys of a block that are wanted, with their resources, up to the first key that is
    /// greater than those.
    fn some_of(
        &self,
        block: usize,
        mut wanted: impl FnMut(&[u8]) -> Ordering,
    ) -> Result<Vec<Keyed>, WriteError> {
        let (start, end) = (self.start_of(block), self.start_of(block + 1));
        let block = self.records.at(start, (end - start) as usize)?;
        let mut block = &*block;
        let (mut some, mut key) = (Vec::new(), Vec::new());
        let mut read = || {
            while !block.is_empty() {
                let mut record = take_record(&mut block)?;
                take_key(&mut record, &mut key)?;
                match wanted(&key) {
                    Ordering::Less => {}
                    Ordering::Equal => {
                        some.push((key.as_slice().into(), take_resources(Form::Sorted, record)?))
                    }
                    Ordering::Greater => break,
                }
            }
            Some(())
        };
        read().ok_or_else(|| self.records.changed())?;
        Ok(some)
    }
}

/// Reads [`Captured`] in the order of keys.
pub(super) struct CapturedReader<'c> {
    captured: &'c Captured,
    /// The number of blocks that were read.
    block: usize,
    /// The captures of the last block that were not returned yet.
    waiting: std::vec::IntoIter<Keyed>,
}

impl CapturedReader<'_> {
    /// Returns the next blocks, of so many bytes at most, or the next block; none after the last.
    fn blocks(&mut self, bytes_max: u64) -> Range<usize> {
        let (first, all) = (self.block, self.captured.blocks.len());
        let end_max = self.captured.start_of(first).saturating_add(bytes_max);
        let more =
            (first + 1..all).take_while(|&block| self.captured.start_of(block + 1) <= end_max);
        self.block = all.min(first + 1 + more.count());
        first..self.block
    }

    /// Reads the next key and its resources, on this thread alone.
    fn read(&mut self) -> Result<Option<Keyed>, WriteError> {
        if self.waiting.len() == 0
            && let Some(block) = self.blocks(0).next()
        {
            self.waiting = self.captured.all_of(block)?.into_iter();
        }
        Ok(self.waiting.next())
    }

    /// Reads the next [`BYTES_AT_ONCE`] of blocks on all threads; nothing after the last. Not after single
    /// keys were read.
    pub(super) fn next_piece(&mut self) -> Result<Vec<Keyed>, WriteError> {
        let (blocks, captured) = (self.blocks(BYTES_AT_ONCE), self.captured);
        let keyed = blocks.into_par_iter().map(|block| captured.all_of(block));
        Ok(keyed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

impl Iterator for CapturedReader<'_> {
    type Item = Result<Keyed, WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Appends captures, whose references are numbers of a pool.
fn push_resources(form: Form, out: &mut Vec<u8>, resources: &Resources) -> Result<(), WriteError> {
    form.push(out, resources, &mut |out, _, blob| {
        push_varint(out, blob.0);
        Ok(())
    })
}

/// Reads the rest of a record, which [`push_resources`] wrote.
fn take_resources(form: Form, mut rest: &[u8]) -> Option<Resources> {
    let resources = form.take(&mut rest, (BlobID, |rest| take_varint(rest).map(BlobID)))?;
    rest.is_empty().then_some(resources)
}

#[cfg(test)]
mod tests {
    use portcullis_captures::PayloadNames;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_robots::access::UnixSeconds;

    use super::super::known::Held;
    use super::super::rivals::Rivals;
    use super::super::tracks::Track;
    use super::*;
    use crate::limits::CAPTURES_AT_ONCE;
    use portcullis_set::stored::CaptureFacts;

    fn failure(date: u64, status: u16) -> Known<BlobID> {
        let captured_at = Some(UnixSeconds(date));
        let facts = CaptureFacts { captured_at, status, ..CaptureFacts::default() };
        let (payload, rivals) = (PayloadNames::default(), Rivals::default());
        Known { facts, position: 0, held: Held::Nothing, payload, rivals }
    }

    #[test]
    fn a_host_with_many_captures_is_read_alone() {
        let mut newest = Newest::new((&RFC_9309.access, false), &Scratch::in_memory());
        for host in 0..60 {
            let failures = if host % 20 == 0 { 10_000 } else { 3 };
            for date in 0..failures {
                let key = format!("h{host:02}.example");
                newest.take(key.as_bytes(), Slot::Https, failure(7_200 * date, 503)).unwrap();
            }
        }
        let captured = newest.finish(NewestDates::default()).unwrap();
        let (mut reader, mut keys, mut pieces) = (captured.reader(), 0, 0);
        loop {
            let piece = reader.next_piece().unwrap();
            let long = piece.iter().filter(|(_, [_, https])| https.len() > CAPTURES_AT_ONCE);
            assert!(long.count() <= 1, "piece {pieces}");
            (keys, pieces) = (keys + piece.len(), pieces + 1);
            if piece.is_empty() {
                break;
            }
        }
        assert_eq!((keys, pieces), (60, 4));
    }

    #[test]
    fn all_failures_since_the_last_answer_count() {
        const FAILURES: u64 = 10_000;
        let folder = tempfile::tempdir().unwrap();
        for scratch in [Scratch::in_memory(), Scratch::with_little_memory(folder.path(), 100_000)] {
            let rules = &RFC_9309.access;
            let mut newest = Newest::new((rules, false), &scratch);
            for date in 1..=FAILURES {
                let date = date * 7 % (FAILURES + 1);
                let status = if date == 100 { 404 } else { 503 };
                newest.take(b"a.example", Slot::Https, failure(date, status)).unwrap();
            }
            let captured = newest.finish(NewestDates::default()).unwrap();
            let (number, [http, found]) = captured.get(b"a.example").unwrap().unwrap();
            assert!(number == 0 && http.is_empty());
            assert!(captured.get(b"a").unwrap().is_none() && captured.get(b"b").unwrap().is_none());
            let dates: Vec<u64> = found.iter().map(|it| it.facts.captured_at.unwrap().0).collect();
            assert!(dates.into_iter().eq(100..=FAILURES));
            let view = Track::of(&found, rules).newest().unwrap();
            assert_eq!(view.failing_since, Some(UnixSeconds(101)));
        }
    }
}
