//! Writes verdicts: tagged lines, JSON Lines, CSV, kept records, differences and summaries.
//!
//! This crate has the output formats of the program. Use [`batch`](portcullis_set::batch) to make
//! decisions. A [`Format`] writes one record, and [`write_chunk`] turns a chunk of records into
//! bytes, so threads can write chunks that are put back in order. [`filter`] copies kept records
//! instead, and [`difference`] writes the changes between two sets. All of them count the records
//! in [`Counts`], and [`Summary`] shows the sum. [`explanation`] and [`explanation_json`] show one
//! decision in full.
//!
//! Cost: TSV and filter only copy bytes; a run of kept records is one copy. JSON Lines escapes
//! every URL and looks up the rule, which takes a few hundred nanoseconds more. The only errors
//! come from a damaged set: any bytes can be written, and if a format needs text, the exact bytes
//! are added in base64.
//!
//! ```
//! use portcullis_set::batch::{Classifier, Session};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_io::input::{Chunk, Terminator};
//! use portcullis_io::list::{Arena, List, Rows};
//! use portcullis_robots::policy::AgentChain;
//! use portcullis_report::{Counts, Piece, Rejects, tsv::Tsv, write_chunk};
//! use portcullis_set::{LoadConfig, PolicySet};
//!
//! let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
//! let mut session = Session::new(Classifier::new(set, agents)?, None);
//! let list = List::plain("urls", Terminator::LineFeed);
//! let (chunk, arena) = (Chunk::of_text(list, "https://a.example/\nnothing\n"), Arena::new());
//! let (mut rows, mut rejects) = (Rows::new(&chunk, &arena, 0), Rejects::default());
//! let (mut counts, mut out) = (Counts::new(1), Vec::new());
//! let piece = Piece::new(&mut rows, &mut rejects);
//! write_chunk(piece, &Tsv(Terminator::LineFeed), &mut session, &mut counts, &mut out)?;
//! assert_eq!(rejects.urls(), 1);
//! assert_eq!(out, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod columns;
mod counts;
pub mod csv;
pub mod difference;
pub mod explanation;
pub mod explanation_json;
pub mod filter;
pub mod html;
pub mod json_lines;
pub mod page;
pub mod parquet;
mod rejects;
mod summary;
pub mod tsv;
mod unknown;

#[cfg(test)]
mod tests;

pub use counts::{AgentCounts, Counts, Figures};
pub use explanation::clause;
pub use rejects::{InvalidRecord, InvalidRecords, Reject, Rejects};
pub use summary::{
    Account, AgentList, CaptureDates, Filtered, JudgedAge, Run, Summary, UnnamedAgent,
};
pub use unknown::Unknown;

use columns::{Columns, Values};
use parquet::ParquetError;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_io::input::{InputError, Record};
use portcullis_io::list::{Problem, Rows};
use portcullis_set::Damage;
use portcullis_set::batch::{FullDecision, Session};

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
        mut with: impl FnMut(&[Record<'_>], &mut Rejects) -> Result<bool, E>,
    ) -> Result<(), E> {
        self.rows.read(answers, |block| with(block, self.rejects))
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
    /// A row group cannot be encoded.
    #[error("cannot encode Parquet: {0}")]
    Encoding(#[from] ParquetError),
}

/// An output format for a record and its decisions.
pub trait Format {
    /// Appends one record and its decisions, one for each agent, to `out`.
    ///
    /// # Errors
    ///
    /// If the part of the set with a rule is damaged.
    fn write(&self, record: Decided<'_>, out: &mut Vec<u8>) -> Result<(), Damage>;

    /// Appends the records of a block, which has a decision for each record and agent.
    ///
    /// # Errors
    ///
    /// As for [`Format::write`].
    fn write_block(
        &self,
        block: &[Record<'_>],
        decisions: &[Decision],
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let agents = session.classifier().agents().len();
        let by_record = block.iter().zip(decisions.chunks_exact(agents)).enumerate();
        for (place, (record, decisions)) in by_record {
            let (text, url, problem) = (record.text(), record.url(), record.problem());
            self.write(Decided { text, url, problem, decisions, session, place }, out)?;
        }
        // Rules are read after the session compared the length of a mapped set.
        session.classifier().set().is_whole()
    }
}

/// A record and its decisions.
#[derive(Debug)]
pub struct Decided<'r> {
    /// The record without its terminator, as it was read.
    pub text: &'r [u8],
    /// The bytes that were decided. For plain lines, the text.
    pub url: &'r [u8],
    /// Why the record has no URL. `None` if it has one, or if the format has no field to look up.
    pub problem: Option<Problem>,
    /// One decision for each agent.
    pub decisions: &'r [Decision],
    session: &'r mut Session,
    /// The place of the record in the session's block.
    place: usize,
}

impl Decided<'_> {
    /// Returns the session that decided the record.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Calls `with` for the text of each added column, in order; empty for a missing value.
    ///
    /// # Errors
    ///
    /// If the part of the set with a value is damaged.
    pub fn for_each_value(
        &mut self,
        columns: &Columns,
        mut with: impl FnMut(&[u8]),
    ) -> Result<(), Damage> {
        if !columns.per_agent().is_empty() {
            for (agent, decision) in self.decisions.iter().enumerate() {
                let values = Values::read(columns, decision, self.session, self.place, agent)?;
                for &column in columns.per_agent() {
                    with(values.text(column).as_deref().unwrap_or_default());
                }
            }
        }
        if columns.has_bits() {
            let mut text = Vec::new();
            columns::push_bits(self.decisions, &mut text);
            with(&text);
        }
        if columns.has_state() {
            with(columns::state_word(self.session.state(self.place)?).as_bytes());
        }
        Ok(())
    }

    /// Returns the decision for an agent, with its rule and group.
    ///
    /// # Errors
    ///
    /// If that part of the set is damaged.
    pub fn full_decision(&mut self, agent: usize) -> Result<FullDecision<'_>, Damage> {
        self.session.full_decision(self.place, agent)
    }
}

/// Appends the records of a chunk to `out` in a format, and counts them.
///
/// Stops early if `out` has [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are.
///
/// # Errors
///
/// If the input or the set is damaged. The records before the damage are written.
pub fn write_chunk(
    mut piece: Piece<'_, '_>,
    format: &dyn Format,
    session: &mut Session,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), ChunkError> {
    let agents = counts.agents().len();
    let mut decisions = Vec::new();
    piece.read(agents, |block, rejects| {
        session.classify(block)?;
        counts.add_block(block, bytes(block), session)?;
        rejects.add_block(block, session);
        decisions.clear();
        decisions.extend_from_slice(session.decisions());
        format.write_block(block, &decisions, session, out)?;
        Ok(out.len() < CHUNK_OUTPUT_BYTES_MAX)
    })
}

/// Returns the number of bytes in records, including their ends.
#[inline]
fn bytes(records: &[Record<'_>]) -> u64 {
    records.iter().map(|record| record.whole().len() as u64).sum()
}

/// Decides a block of records, counts them, and returns the decisions, record by record.
fn decide_block(
    block: &[Record<'_>],
    session: &mut Session,
    counts: &mut Counts,
    rejects: &mut Rejects,
) -> Result<Vec<Decision>, Damage> {
    session.classify(block)?;
    counts.add_block(block, bytes(block), session)?;
    rejects.add_block(block, session);
    Ok(session.decisions().to_vec())
}
