//! Decides the records of a piece of a list, counts them, and encodes them: with added columns
//! ([`Tagged`]) as text or Parquet, or those that a filter keeps ([`Filter`]).
//!
//! All of them share one loop, [`Work::decide`]. Text and filter only copy bytes; a run of kept records is
//! one copy. Kept records are copied byte for byte, as are those that are set aside.

use portcullis_rows::input::{InputError, Record};
use portcullis_rows::limits::PARQUET_PART_ROWS_MAX;
use portcullis_rows::list::{Block, List, Rows};
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::parquet::{ParquetError, keep};
use portcullis_rows::output::{Added, Encoded, NextTo, RowForm, SameMember};
use portcullis_set::Damage;
use portcullis_set::batch::{AgentKind, Answers, Records, Session, Times};

use crate::columns;
use crate::counts::{Counts, add_option};
use crate::filter::{Class, Fate, Plan};
use crate::rejects::Rejects;

/// The records of a chunk, and the rejects of the thread that reads them.
pub struct Piece<'p, 'c> {
    /// The records.
    pub rows: &'p mut Rows<'c>,
    /// Receives the records that are not URLs.
    pub rejects: &'p mut Rejects,
}

impl<'p, 'c> Piece<'p, 'c> {
    /// Calls `with` for blocks of records, as [`Rows::read`].
    ///
    /// # Errors
    ///
    /// The error of `with`, or of rows that are damaged.
    #[inline]
    pub fn read<E: From<InputError>>(
        &mut self,
        answers: usize,
        mut with: impl FnMut(&Block<'_>, &mut Rejects) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.rows.read(answers, |block| with(block, self.rejects))
    }

    /// Returns the piece with what decides and counts its records.
    pub fn work(self, session: &'p mut Session, counts: &'p mut Counts) -> Work<'p, 'c> {
        Work { piece: self, session, counts }
    }
}

/// A piece, and what decides and counts its records.
pub struct Work<'p, 'c> {
    piece: Piece<'p, 'c>,
    session: &'p mut Session,
    counts: &'p mut Counts,
}

impl Work<'_, '_> {
    /// Decides and counts blocks of records, and calls `with` for each, as [`Rows::read`].
    ///
    /// # Errors
    ///
    /// The error of `with`, or of rows or a set that are damaged.
    #[inline]
    pub fn decide(
        self,
        answers: usize,
        mut with: impl FnMut(&Block<'_>, Answers<'_>, &mut Counts) -> Result<bool, ChunkError>,
    ) -> Result<(), ChunkError> {
        let Work { mut piece, session, counts } = self;
        piece.read(answers, |block, rejects| {
            let answers = decide_block(block, session, counts, rejects)?;
            with(block, answers, counts)
        })?;
        // Once a chunk, and before any of its rows are used: a mapped set may have been written to.
        Ok(session.classifier().set().is_whole()?)
    }
}

/// The error of a chunk that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// The input is damaged.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The policy set is damaged.
    #[error(transparent)]
    Damage(#[from] Damage),
    /// A record has a member with the name of one that is added.
    #[error(transparent)]
    SameMember(#[from] SameMember),
    /// A row group cannot be encoded.
    #[error("cannot encode Parquet: {0}")]
    Encoding(#[from] ParquetError),
}

/// The output of a piece: the records of the output, then those that are set aside: unknown, invalid, and
/// those of origins with a page.
pub type Written = [Encoded; 1 + Class::ASIDE.len()];

/// How records are decided and written: with added columns, or those that a filter keeps.
pub trait Format: Sync {
    /// Decides the records of a piece, counts them, and encodes them into `out`.
    ///
    /// Text stops early if the output has no room, however many agents there are.
    ///
    /// # Errors
    ///
    /// If the input or the set is damaged, or rows cannot be encoded.
    fn encode(&self, work: Work<'_, '_>, out: &mut Written) -> Result<(), ChunkError>;
}

/// Rows with added columns.
pub struct Tagged<'a> {
    /// The added columns.
    pub columns: &'a Columns,
    /// How rows are written.
    pub form: &'a RowForm,
}

impl Format for Tagged<'_> {
    fn encode(&self, work: Work<'_, '_>, out: &mut Written) -> Result<(), ChunkError> {
        let (list, agents) = (work.piece.rows.list(), work.counts.agents.len());
        // The columns of a file cannot be copied for several rows of each record.
        let copies = self.columns.agents_of_rows().is_none();
        let part = work.piece.rows.part().filter(|_| copies);
        // A row group is never cut.
        let answers = if let RowForm::Parquet(_) = self.form { 0 } else { agents };
        let added = Added::new(self.columns, agents);
        let mut rows = self.form.begin(added, part, &mut out[0])?;
        work.decide(answers, |block, mut answers, counts| {
            rows.add(Some(NextTo { list, block }), |added| {
                let unreadable = columns::read(self.columns, &mut answers, added)?;
                add_option(&mut counts.unreadable_delays, unreadable);
                Ok::<(), ChunkError>(())
            })?;
            Ok(rows.has_room())
        })?;
        rows.end()
    }
}

/// Returns the number of bytes in records, including their ends.
#[inline]
pub fn bytes(records: &[Record<'_>]) -> u64 {
    records.iter().map(|record| record.whole().len() as u64).sum()
}

/// Decides a block of records, as of their times if they are read with times and for their agents if
/// the classifier has an agent per record, and counts them.
///
/// # Errors
///
/// If a part of the set that is read is damaged.
///
/// # Panics
///
/// If the records have times and the set has no history.
// Not marked for other crates to inline: the loops over records belong into this crate's one unit.
fn decide_block<'s>(
    block: &Block<'_>,
    session: &'s mut Session,
    counts: &mut Counts,
    rejects: &mut Rejects,
) -> Result<Answers<'s>, Damage> {
    let times = block.times().map_or(Times::Now, Times::Each);
    let has_agents = session.classifier().has_agent_per_record();
    let agents = if has_agents { 0..block.len() } else { 0..0 };
    let agents: Vec<&[u8]> = agents.map(|record| block.agent(record)).collect();
    let answers = session.decide(Records { urls: block, times, agents: &agents })?;
    let invalid = counts.not_urls();
    counts.add_block(block, bytes(block), &answers)?;
    if answers.session().classifier().agent_kind() == Some(AgentKind::Token) {
        rejects.note_headers(&agents);
    }
    rejects.add_block(block, &answers, counts.not_urls() > invalid);
    Ok(answers)
}

/// Writes the records that a plan keeps, and those that it sets aside.
#[derive(Clone, Debug)]
pub struct Filter {
    pub plan: Plan,
    /// Whether records are rows of Parquet files, which are copied with all their columns.
    pub are_rows: bool,
    /// Whether kept records are only counted, because no output takes them.
    pub counts_only: bool,
}

impl Format for Filter {
    fn encode(&self, work: Work<'_, '_>, out: &mut Written) -> Result<(), ChunkError> {
        work.counts.ask_kept(&self.plan);
        match self.are_rows {
            true => self.write_rows(work, out),
            false => self.write_chunk(work, out),
        }
    }
}

impl Filter {
    /// Appends the whole records of a chunk to their destinations. A last record without an end gets
    /// one.
    fn write_chunk(&self, work: Work<'_, '_>, out: &mut Written) -> Result<(), ChunkError> {
        let list = work.piece.rows.list();
        // Records of text are contiguous, and a run of kept records is copied at once.
        let joined = work.piece.rows.text();
        // The start of the run of kept records that are not written yet.
        let mut run = 0;
        let mut start = 0;
        let plan = &self.plan;
        let writes =
            !self.counts_only || Class::ASIDE.iter().any(|it| plan.fate(*it) == Fate::Aside);
        work.decide(0, |block, answers, counts| {
            let classes = counts.add_kept(plan, &answers)?;
            for (record, &class) in block.iter().zip(if writes { &classes[..] } else { &[] }) {
                let end = start + record.whole().len();
                match (plan.fate(class), joined) {
                    (Fate::Keep, Some(_)) => {}
                    (Fate::Keep, None) => push_with_end(record.whole(), list, &mut out[0].text),
                    (fate, joined) => {
                        let kept = joined.map_or(&b""[..], |chunk| &chunk[run..start]);
                        out[0].text.extend_from_slice(kept);
                        run = end;
                        if let (Fate::Aside, Some(aside)) = (fate, class.aside()) {
                            push_with_end(record.whole(), list, &mut out[1 + aside].text);
                        }
                    }
                }
                start = end;
            }
            Ok(true)
        })?;
        if let Some(chunk) = joined {
            push_with_end(&chunk[run..start], list, &mut out[0].text);
        }
        if self.counts_only {
            out[0].clear();
        }
        Ok(())
    }

    /// Copies the rows of a row group to their destinations, with all their columns.
    ///
    /// # Panics
    ///
    /// If the records are text, which has no rows.
    fn write_rows(&self, work: Work<'_, '_>, out: &mut Written) -> Result<(), ChunkError> {
        let Some(part) = work.piece.rows.part() else {
            assert_eq!(work.piece.rows.text(), Some(&b""[..]), "the list is a file without rows");
            return Ok(());
        };
        let mut outputs = Vec::with_capacity(part.rows.min(PARQUET_PART_ROWS_MAX));
        work.decide(0, |_, answers, counts| {
            let classes = counts.add_kept(&self.plan, &answers)?.into_iter();
            outputs.extend(classes.map(|class| match (self.plan.fate(class), class.aside()) {
                (Fate::Keep, _) => 1,
                (Fate::Aside, Some(aside)) => 2 + aside as u8,
                (Fate::Aside, None) | (Fate::Drop, _) => 0,
            }));
            Ok(true)
        })?;
        let groups = keep::<ChunkError>(part, &outputs, 1 + Class::ASIDE.len() as u8)?;
        for (output, group) in out.iter_mut().zip(groups) {
            output.group = group;
        }
        Ok(())
    }
}

/// Appends records, and an end if the last record lacks one.
fn push_with_end(records: &[u8], list: &List, out: &mut Vec<u8>) {
    out.extend_from_slice(records);
    out.extend_from_slice(list.missing_end(records));
}
