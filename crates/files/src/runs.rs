//! Sorted runs of records in temporary files, merged into one sequence: an external merge sort.
//!
//! A caller collects records in memory, writes them as a sorted run when they take too much, and reads
//! all of them in order in the end. Records are bytes; a function finds the key in each. Records with
//! one key come one after another, earlier runs first.
//!
//! Cost: each record is written and read once, and once more for every [`SORTED_RUNS_MAX`] runs.
//! Memory: a buffer and a record for each run. Everything that touches a file can fail with
//! [`WriteError`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::WriteError;
use crate::limits::SORTED_RUNS_MAX;
use crate::scratch::{Scratch, Spool, SpoolReader};

/// Sorted runs.
#[derive(Debug)]
pub struct SortedRuns {
    scratch: Scratch,
    /// Returns the key of a record, or `None` if it is not one that was written.
    key: fn(&[u8]) -> Option<&[u8]>,
    runs: Vec<Spool>,
}

impl SortedRuns {
    /// Creates no runs. `key` returns the key of a record, and `None` for other bytes.
    pub fn new(scratch: &Scratch, key: fn(&[u8]) -> Option<&[u8]>) -> SortedRuns {
        SortedRuns { scratch: scratch.clone(), key, runs: Vec::new() }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run of [records](Spool::write_record) in the order of their keys. If there are many
    /// runs, all of them become one first.
    pub fn push(&mut self, run: Spool) -> Result<(), WriteError> {
        if self.runs.len() == SORTED_RUNS_MAX {
            let mut merged = Spool::new(&self.scratch);
            self.merge(|_, record| merged.write_record(record))?;
            self.runs = vec![merged];
        }
        self.runs.push(run);
        Ok(())
    }

    /// Passes all records to `take` in the order of their keys, each with its key.
    pub fn merge(
        &self,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        // Each run, and its record that is next.
        let mut runs: Vec<(SpoolReader<'_>, Vec<u8>)> =
            self.runs.iter().map(|run| (run.reader(), Vec::new())).collect();
        let mut next = BinaryHeap::new();
        for (number, (reader, record)) in runs.iter_mut().enumerate() {
            next.extend(self.read(reader, record)?.map(|key| Reverse((key, number))));
        }
        while let Some(Reverse((key, number))) = next.pop() {
            let (reader, record) = &mut runs[number];
            take(&key, record)?;
            next.extend(self.read(reader, record)?.map(|key| Reverse((key, number))));
        }
        Ok(())
    }

    /// Reads the next record of a run and returns its key; `None` at the end.
    fn read(
        &self,
        reader: &mut SpoolReader<'_>,
        record: &mut Vec<u8>,
    ) -> Result<Option<Box<[u8]>>, WriteError> {
        if reader.is_at_end() {
            return Ok(None);
        }
        reader.read_record(record)?;
        let key = (self.key)(record).ok_or_else(|| reader.spool().changed())?;
        Ok(Some(key.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_in_the_order_of_keys_and_runs() {
        let scratch = Scratch::in_memory();
        let mut runs = SortedRuns::new(&scratch, |record| record.get(..1));
        let count = 3 * SORTED_RUNS_MAX as u8 / 2;
        for run in 0..count {
            let mut spool = Spool::new(&scratch);
            for key in [b'a', b'b' + run % 3] {
                spool.write_record(&[key, run]).unwrap();
            }
            runs.push(spool).unwrap();
        }
        assert!(runs.runs.len() <= SORTED_RUNS_MAX);
        let mut found = Vec::new();
        let take = |key: &[u8], record: &[u8]| {
            assert_eq!(key, &record[..1]);
            found.push([record[0], record[1]]);
            Ok(())
        };
        runs.merge(take).unwrap();
        let mut expected: Vec<[u8; 2]> =
            (0..count).flat_map(|run| [[b'a', run], [b'b' + run % 3, run]]).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_record_without_a_key_is_an_error() {
        let mut runs = SortedRuns::new(&Scratch::in_memory(), |record| record.get(..1));
        let mut spool = Spool::default();
        spool.write_record(b"").unwrap();
        runs.push(spool).unwrap();
        assert!(runs.merge(|_, _| Ok(())).is_err());
    }
}
