//! The records of a chunk, in blocks: one way to read text and Parquet alike.
//!
//! [`Rows`] calls a function for blocks of records, in order. Text is split as it is read. The URLs
//! of a Parquet file are decoded here, one batch at a time, so a chunk takes no more memory than its
//! batch. A reader may stop early, for example because its output is full; [`Rows::rest`] is the
//! place to go on from.

use portcullis_text::visible::SHOWN_BYTES_MAX;

use super::List;
use super::noticed::Noticed;
use super::parquet::PartOfRows;
use super::values::{Arena, Block, BlockBuffer};
use crate::input::{Chunk, InputError, Record};
use crate::limits::CHUNK_OUTPUT_BYTES_MAX;

/// Bytes that an answer may add to an output besides the URL: the rule, the group, the statements
/// about usage and the licences, all of which are cut.
const ANSWER_BYTES: usize = 4 * SHOWN_BYTES_MAX;

/// The records of a chunk, from one of them on.
pub struct Rows<'c> {
    chunk: &'c Chunk,
    arena: &'c Arena,
    list_number: usize,
    /// The bytes before the next record, or the rows of a Parquet file.
    done: usize,
    is_stopped: bool,
    noticed: Noticed,
}

impl<'c> Rows<'c> {
    /// Returns the records of `chunk` from a place on: 0, or what [`Rows::rest`] returned. URLs with
    /// escapes are decoded into `arena`.
    pub fn new(chunk: &'c Chunk, arena: &'c Arena, done: usize) -> Rows<'c> {
        let noticed = Noticed::default();
        Rows { chunk, arena, list_number: 0, done, is_stopped: false, noticed }
    }

    /// Returns the same records, as records of the list with this number in a run.
    #[must_use]
    pub fn of_list(self, list_number: usize) -> Rows<'c> {
        Rows { list_number, ..self }
    }

    /// Returns the number of the list in a run, from 0.
    pub fn list_number(&self) -> usize {
        self.list_number
    }

    /// Returns the list.
    pub fn list(&self) -> &'c List {
        &self.chunk.list
    }

    /// Returns the records as they were read, one after the other. `None` if they are rows of a
    /// Parquet file.
    pub fn text(&self) -> Option<&'c [u8]> {
        self.part().is_none().then_some(self.chunk)
    }

    /// Returns the part of a Parquet file that the records are. `None` for text, and for a file
    /// without rows.
    pub fn part(&self) -> Option<&'c PartOfRows> {
        self.chunk.part()
    }

    /// Returns the place of the next record, if reading stopped before the end.
    pub fn rest(&self) -> Option<usize> {
        self.is_stopped.then_some(self.done)
    }

    /// Returns what was noticed in the records that were read.
    pub fn noticed(&self) -> Noticed {
        self.noticed
    }

    /// Calls `with` for blocks of records until there are no more, or `with` returns `false`. The
    /// output has this number of `answers` for each record: blocks are shorter where the answers of
    /// a whole one could exceed [`CHUNK_OUTPUT_BYTES_MAX`].
    ///
    /// # Errors
    ///
    /// The error of `with`; [`InputError::List`] if rows are damaged.
    #[inline]
    pub fn read<E: From<InputError>>(
        &mut self,
        answers: usize,
        mut with: impl FnMut(&Block<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let arena = self.arena;
        self.is_stopped = false;
        let Some(part) = self.part() else {
            let (list, chunk): (&List, &[u8]) = (self.list(), self.chunk);
            let open = list.open_after(&chunk[..self.done], self.chunk.open);
            let buffer = BlockBuffer { open, ..BlockBuffer::new() };
            let mut records = list.split(&chunk[self.done..]);
            let read = |block: &mut _| {
                list.fill(&mut records, arena, block);
                chunk.len() - records.rest().len()
            };
            self.in_blocks(buffer, read, |record| record.whole().len(), answers, &mut with)?;
            return Ok(());
        };
        let mut before = self.done;
        for urls in part.batches(self.done)? {
            let (urls, mut row) = (urls?, 0);
            let read = |block: &mut _| {
                row += urls.fill(row, arena, block);
                before + row
            };
            if !self.in_blocks(BlockBuffer::new(), read, |_| 1, answers, &mut with)? {
                break;
            }
            before += urls.len();
        }
        Ok(())
    }

    /// Calls `with` for the blocks that `read` fills, each in `buffer`. `read` returns the place after a block,
    /// and `size` how far a record moves it. Returns whether `with` wants more.
    #[inline]
    fn in_blocks<'b, E>(
        &mut self,
        mut buffer: BlockBuffer<'b>,
        mut read: impl FnMut(&mut BlockBuffer<'b>) -> usize,
        size: impl Fn(&Record<'b>) -> usize,
        answers: usize,
        with: &mut impl FnMut(&Block<'_>) -> Result<bool, E>,
    ) -> Result<bool, E> {
        loop {
            let end = read(&mut buffer);
            let records = &buffer.records[..];
            if records.is_empty() {
                return Ok(true);
            }
            let mut next = 0;
            while next < records.len() {
                let part = next..next + within_budget(&records[next..], answers);
                next = part.end;
                let doubts = buffer.doubts.get(part.clone()).unwrap_or_default();
                self.noticed.add(doubts, buffer.seen);
                if !with(&buffer.block(part))? {
                    self.done = end - records[next..].iter().map(size).sum::<usize>();
                    self.is_stopped = true;
                    return Ok(false);
                }
            }
        }
    }
}

/// Returns the number of first records, at least one, whose answers fit the budget of a chunk.
#[inline]
fn within_budget(records: &[Record<'_>], answers: usize) -> usize {
    if answers == 0 {
        return records.len();
    }
    let bytes_max = CHUNK_OUTPUT_BYTES_MAX / answers;
    let bytes = |record: &Record<'_>| record.whole().len() + ANSWER_BYTES;
    if records.iter().map(bytes).sum::<usize>() <= bytes_max {
        return records.len();
    }
    let sums = records.iter().scan(0, |sum, record| {
        *sum += bytes(record);
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= bytes_max).count().max(1)
}
