//! Writes verdicts: tagged records, kept records and summaries.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! This crate says what was decided. Use [`batch`](portcullis_set::batch) to make decisions, and
//! [`output`](portcullis_rows::output) for the formats of rows. A [`Format`] decides the records of a
//! piece of a list and encodes them, so threads can encode pieces that are put back in order.
//! [`filter`] copies kept records instead.
//! All of them count the records in [`Counts`], and [`Account`] shows the sum; [`Drops`] counts what a
//! filter does not keep. [`explanation`] and
//! [`explanation_json`] show one decision in full.
//!
//! Cost: text and filter only copy bytes; a run of kept records is one copy. The only errors come from
//! a damaged set, and from objects of JSON Lines that have a member of the name of a column.
//!
//! ```
//! use portcullis_set::batch::{Classifier, Session};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_rows::input::{Chunk, Terminator};
//! use portcullis_rows::list::{Arena, List, Rows};
//! use portcullis_robots::policy::Crawler;
//! use portcullis_rows::output::{columns::Columns, tsv::Tsv};
//! use portcullis_report::{Counts, Format, Piece, Rejects, Text, Written};
//! use portcullis_set::PolicySet;
//! use portcullis_build::{LoadConfig, load_text};
//!
//! let set = load_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
//! let agents = vec![Crawler::parse("ExampleBot", &RFC_9309).unwrap()];
//! let mut session = Session::new(Classifier::new(set, agents)?);
//! let list = List::plain("urls", Terminator::LineFeed);
//! let (chunk, arena) = (Chunk::from_text(list, "https://a.example/\nnothing\n"), Arena::new());
//! let (mut rows, mut rejects) = (Rows::new(&chunk, &arena, 0), Rejects::default());
//! let (mut counts, mut out) = (Counts::new(1), Written::default());
//! let piece = Piece::new(&mut rows, &mut rejects);
//! let format = Text { columns: &Columns::default(), rows: &Tsv(Terminator::LineFeed) };
//! format.encode(piece, &mut session, &mut counts, &mut out)?;
//! assert_eq!(out[0].text, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod account;
mod card;
pub mod columns;
mod counts;
mod drops;
pub mod explanation;
pub mod explanation_json;
pub mod filter;
pub mod limits;
mod name_counts;
pub mod page;
mod record_agents;
mod rejects;
mod wrong_list;

#[cfg(test)]
mod parquet_tests;
#[cfg(test)]
mod tests;

pub use account::{
    Account, AgentList, AgentRecords, JudgedAge, NoRecords, PolicyFacts, RecordFigures, Run, Tally,
    Time, UnnamedAgent,
};
pub use counts::{AgentCounts, Counts, Figures, add_counts};
pub use drops::{Cause, Drops, Selection};
pub use explanation::clause;
pub use name_counts::{NameCounts, NameRecords, TopNames};
pub use record_agents::{RecordAgent, RecordAgentCounts};
pub use rejects::{InvalidRecord, InvalidRecords, LinesWithMore, Rejects, Watch};

use portcullis_rows::input::{InputError, Record};
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::list::{Block, Rows};
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::parquet::{AddedColumns, EncodedGroup, ParquetError};
use portcullis_rows::output::{Added, Beside, SameMember, TextRows};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, Records, Session, Times};

/// The records of a chunk, and the rejects of the thread that reads them.
pub struct Piece<'p, 'c> {
    rows: &'p mut Rows<'c>,
    /// Receives the records that are not URLs.
    rejects: &'p mut Rejects,
}

impl<'p, 'c> Piece<'p, 'c> {
    /// Returns a piece with records of a list.
    pub fn new(rows: &'p mut Rows<'c>, rejects: &'p mut Rejects) -> Piece<'p, 'c> {
        Piece { rows, rejects }
    }

    /// Returns the records.
    pub fn rows(&self) -> &Rows<'c> {
        self.rows
    }

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

    /// Decides and counts blocks of records, and calls `with` for each, as [`Rows::read`].
    ///
    /// # Errors
    ///
    /// The error of `with`, or of rows or a set that are damaged.
    #[inline]
    pub fn decide(
        mut self,
        answers: usize,
        session: &mut Session,
        counts: &mut Counts,
        mut with: impl FnMut(&Block<'_>, Answers<'_>, &mut Counts) -> Result<bool, ChunkError>,
    ) -> Result<(), ChunkError> {
        self.read(answers, |block, rejects| {
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

/// The encoded output of a piece.
#[derive(Debug, Default)]
pub struct Encoded {
    /// The records as text.
    pub text: Vec<u8>,
    /// The rows of a Parquet file, instead of text.
    pub group: EncodedGroup,
}

impl Encoded {
    /// Clears the output for the next piece and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.group = EncodedGroup::default();
    }
}

/// What is written of a piece: the records of the output, then those that are set aside, by
/// [`filter::Class::ASIDE`].
pub type Written = [Encoded; 1 + filter::Class::ASIDE.len()];

/// How records are decided and written: with added columns, or those that a filter keeps.
pub trait Format: Sync {
    /// Decides the records of a piece, counts them, and encodes them into `out`.
    ///
    /// Text stops early if it has [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are.
    ///
    /// # Errors
    ///
    /// If the input or the set is damaged, or rows cannot be encoded.
    fn encode(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError>;
}

/// Rows of text with added columns.
pub struct Text<'a> {
    /// The added columns.
    pub columns: &'a Columns,
    /// How rows are written.
    pub rows: &'a dyn TextRows,
}

impl Format for Text<'_> {
    fn encode(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError> {
        let (list, agents) = (piece.rows().list(), counts.agents().len());
        let out = &mut out[0];
        let mut added = Added::new(self.columns, agents);
        piece.decide(agents, session, counts, |block, mut answers, counts| {
            added.clear();
            counts.add_delays(columns::read(self.columns, &mut answers, &mut added)?);
            self.rows.push(Some(Beside { list, block }), &added, &mut out.text)?;
            Ok(out.text.len() < CHUNK_OUTPUT_BYTES_MAX)
        })
    }
}

/// Rows of Parquet with added columns.
pub struct Parquet<'a> {
    /// The added columns.
    pub columns: &'a Columns,
    /// Their encoder.
    pub encoder: AddedColumns,
}

impl Format for Parquet<'_> {
    fn encode(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError> {
        // The columns of a file cannot be copied for several rows of each record.
        let part = piece.rows().part().filter(|_| self.columns.agents_of_rows().is_none());
        out[0].group = self.encoder.encode(part, |rows| {
            piece.decide(0, session, counts, |block, mut answers, counts| {
                rows.add(block, |added| {
                    counts.add_delays(columns::read(self.columns, &mut answers, added)?);
                    Ok::<(), ChunkError>(())
                })?;
                Ok(true)
            })
        })?;
        Ok(())
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
    let invalid = counts.invalid();
    counts.add_block(block, bytes(block), &answers)?;
    counts.add_preferences(&answers);
    if has_agents {
        counts.add_record_agents(block, &answers);
    }
    rejects.add_counted(block, &answers, counts.invalid() > invalid);
    Ok(answers)
}
