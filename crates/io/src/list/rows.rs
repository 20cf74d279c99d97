//! The records of a chunk, in blocks: one way to read text and Parquet alike.
//!
//! [`Rows`] calls a function for blocks of records, in order. Text is split as it is read. The URLs
//! of a Parquet file are decoded here, one batch at a time, so a chunk takes no more memory than its
//! batch. A reader may stop early, for example because its output is full; [`Rows::rest`] is the
//! record to go on with.

use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_text::visible::SHOWN_BYTES_MAX;

use super::parquet::Part;
use super::{Arena, List, TextRecords};
use crate::input::{Chunk, InputError, Record};
use crate::limits::CHUNK_OUTPUT_BYTES_MAX;

/// Bytes that an answer may add to an output besides the URL: the rule, the group, the statements
/// about usage and the licences, all of which are cut.
const ANSWER_BYTES: usize = 4 * SHOWN_BYTES_MAX;

/// The records of a chunk, from one of them on.
pub struct Rows<'c> {
    chunk: &'c Chunk,
    arena: &'c Arena,
    /// The number of records before the next one.
    done: usize,
    is_stopped: bool,
}

impl<'c> Rows<'c> {
    /// Returns the records of `chunk` after the first `done`. URLs with escapes are decoded into
    /// `arena`.
    pub fn new(chunk: &'c Chunk, arena: &'c Arena, done: usize) -> Rows<'c> {
        Rows { chunk, arena, done, is_stopped: false }
    }

    /// Returns the list.
    pub fn list(&self) -> &'c List {
        self.chunk.list()
    }

    /// Returns the records as they were read, one after the other. `None` if they are rows of a
    /// Parquet file.
    pub fn text(&self) -> Option<&'c [u8]> {
        self.part().is_none().then_some(self.chunk)
    }

    /// Returns the part of a Parquet file that the records are. `None` for text, and for a file
    /// without rows.
    pub fn part(&self) -> Option<&'c Part> {
        self.chunk.part()
    }

    /// Returns the number of records that were read, if reading stopped before the end.
    pub fn rest(&self) -> Option<usize> {
        self.is_stopped.then_some(self.done)
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
        mut with: impl FnMut(&[Record<'_>]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let arena = self.arena;
        self.is_stopped = false;
        let Some(part) = self.part() else {
            let mut records = TextRecords::new(self.list(), self.chunk, arena);
            if self.done > 0 {
                records.nth(self.done - 1);
            }
            self.in_blocks(|block| records.fill(block, RECORDS_AT_ONCE), answers, &mut with)?;
            return Ok(());
        };
        let mut batches = part.batches(self.done)?;
        while let Some(urls) = batches.next_batch()? {
            let mut rows = (0..urls.len()).map(|row| urls.record(row, arena));
            let fill = |block: &mut Vec<_>| block.extend(rows.by_ref().take(RECORDS_AT_ONCE));
            if !self.in_blocks(fill, answers, &mut with)? {
                break;
            }
        }
        Ok(())
    }

    /// Calls `with` for the blocks that `fill` makes. Returns whether `with` wants more.
    #[inline]
    fn in_blocks<'b, E>(
        &mut self,
        mut fill: impl FnMut(&mut Vec<Record<'b>>),
        answers: usize,
        with: &mut impl FnMut(&[Record<'_>]) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
        loop {
            block.clear();
            fill(&mut block);
            if block.is_empty() {
                return Ok(true);
            }
            let mut rest = &block[..];
            while !rest.is_empty() {
                let (part, after) = rest.split_at(within_budget(rest, answers));
                self.done += part.len();
                if !with(part)? {
                    self.is_stopped = true;
                    return Ok(false);
                }
                rest = after;
            }
        }
    }
}

/// Returns the number of first records, at least one, whose answers fit the budget of a chunk.
#[inline]
fn within_budget(records: &[Record<'_>], answers: usize) -> usize {
    let bytes = |record: &Record<'_>| {
        answers.saturating_mul(record.whole().len().saturating_add(ANSWER_BYTES))
    };
    let mut budget = CHUNK_OUTPUT_BYTES_MAX;
    let fits = |record: &&Record<'_>| match budget.checked_sub(bytes(record)) {
        Some(left) => {
            budget = left;
            true
        }
        None => false,
    };
    records.iter().take_while(fits).count().max(1)
}
