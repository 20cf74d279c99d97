//! External merge sort: sorted runs of records in temporary files, merged into one sequence.
//!
//! A caller collects records in memory, writes them as a sorted [run](SortedRuns) when they take too much, and
//! [merges](merge) all runs in the end, with anything else that is sorted by the same keys.
//!
//! Cost: each record is written and read once, and once more for every [`SORTED_RUNS_MAX`] runs.
//! Memory: a buffer and a record for each run. Everything that touches a file can fail with
//! [`WriteError`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::error::WriteError;
use crate::limits::SORTED_RUNS_MAX;
use crate::scratch::{Scratch, Spool};

/// Sorted runs.
#[derive(Debug)]
pub struct SortedRuns {
    scratch: Scratch,
    /// Keys and values by turns, as [records](Spool::write_record).
    runs: Vec<Spool>,
}

impl SortedRuns {
    /// Creates no runs.
    pub fn new(scratch: &Scratch) -> SortedRuns {
        SortedRuns { scratch: scratch.clone(), runs: Vec::new() }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run: [records](Spool::write_record) that `write` writes, a key and its value by turns, in the order
    /// of keys. If there are many runs, all of them become one first.
    pub fn push(
        &mut self,
        write: impl FnOnce(&mut Spool) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut run = Spool::new(&self.scratch);
        if self.runs.len() == SORTED_RUNS_MAX {
            for joined in merge(self.readers()) {
                let (key, values) = joined?;
                for value in values {
                    run.write_record(&key)?;
                    run.write_record(&value)?;
                }
            }
            self.runs = vec![std::mem::replace(&mut run, Spool::new(&self.scratch))];
        }
        write(&mut run)?;
        self.runs.push(run);
        Ok(())
    }

    /// Reads each run: its keys and their values.
    pub fn readers(
        &self,
    ) -> impl Iterator<Item = impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), WriteError>>> {
        self.runs.iter().map(|run| {
            let mut reader = run.reader();
            let mut read = move || {
                if reader.is_at_end() {
                    return Ok(None);
                }
                let (mut key, mut value) = (Vec::new(), Vec::new());
                reader.read_record(&mut key)?;
                reader.read_record(&mut value)?;
                Ok(Some((key, value)))
            };
            std::iter::from_fn(move || read().transpose())
        })
    }
}

/// Merges sources that are sorted by key. Returns each key with its values, in the order of the sources.
pub fn merge<K: Ord, V, E, S: Iterator<Item = Result<(K, V), E>>>(
    sources: impl IntoIterator<Item = S>,
) -> impl Iterator<Item = Result<(K, Vec<V>), E>> {
    // With the value of the key that is next.
    let mut sources: Vec<(S, Option<V>)> = sources.into_iter().map(|it| (it, None)).collect();
    let (mut keys, mut taken) = (BinaryHeap::new(), (0..sources.len()).collect::<Vec<_>>());
    let mut next_key = move || {
        let mut joined: Option<(K, Vec<V>)> = None;
        loop {
            for number in taken.drain(..) {
                let (source, value) = &mut sources[number];
                let (key, next) = source.next().transpose()?.unzip();
                keys.extend(key.map(|key| Reverse((key, number))));
                *value = next;
            }
            let is_same = |next: &PeekMut<'_, Reverse<(K, usize)>>| {
                joined.as_ref().is_none_or(|(key, _)| *key == next.0.0)
            };
            let Some(next) = keys.peek_mut().filter(is_same) else { return Ok(joined) };
            let Reverse((key, number)) = PeekMut::pop(next);
            let (_, values) = joined.get_or_insert_with(|| (key, Vec::with_capacity(1)));
            values.extend(sources[number].1.take());
            taken.push(number);
        }
    };
    std::iter::from_fn(move || next_key().transpose())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_the_order_of_keys_and_runs() {
        let mut runs = SortedRuns::new(&Scratch::in_memory());
        let count = 3 * SORTED_RUNS_MAX as u8 / 2;
        let mut expected: Vec<(Vec<u8>, Vec<Vec<u8>>)> =
            Vec::from([b'a', b'b', b'c', b'd'].map(|key| (vec![key], Vec::new())));
        for run in 0..count {
            let keys = [0, 0, 1 + usize::from(run) % 3];
            keys.iter().for_each(|&key| expected[key].1.push(vec![run]));
            let write = |spool: &mut Spool| {
                keys.iter().try_for_each(|&key| {
                    spool.write_record(&[b'a' + key as u8])?;
                    spool.write_record(&[run])
                })
            };
            runs.push(write).unwrap();
        }
        assert!(runs.runs.len() <= SORTED_RUNS_MAX);
        let found: Vec<_> = merge(runs.readers()).map(Result::unwrap).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_key_without_a_value_is_an_error() {
        let mut runs = SortedRuns::new(&Scratch::in_memory());
        runs.push(|spool| spool.write_record(b"key")).unwrap();
        assert!(merge(runs.readers()).next().unwrap().is_err());
    }
}
