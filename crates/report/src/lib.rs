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
//! use portcullis_io::input::Terminator;
//! use portcullis_io::list::{Arena, Contents, List};
//! use portcullis_robots::policy::AgentChain;
//! use portcullis_report::{Counts, Piece, Rejects, tsv::Tsv, write_chunk};
//! use portcullis_set::{LoadConfig, PolicySet};
//!
//! let set = PolicySet::of_text(b"User-agent: *\nDisallow: /private\n", &LoadConfig::new(&RFC_9309));
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
//! let mut session = Session::new(Classifier::new(set, agents)?, None);
//! let (list, arena) = (List::plain("urls", Terminator::LineFeed), Arena::new());
//! let mut rejects = Rejects::default();
//! let records = Contents::Bytes(b"https://a.example/\nnothing\n");
//! let piece = Piece::new(&list, records, &arena, &mut rejects);
//! let (mut counts, mut out) = (Counts::new(1), Vec::new());
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
use portcullis_dialect::decision::Decision;
use portcullis_dialect::limits::{CHUNK_OUTPUT_BYTES_MAX, RECORDS_AT_ONCE, SHOWN_BYTES_MAX};
use portcullis_io::input::Record;
use portcullis_io::list::{Arena, Contents, List, ListRecords, Problem};
use portcullis_set::Damage;
use portcullis_set::batch::{FullDecision, Session};

/// Bytes that an answer may add to an output besides the URL: the rule, the group, the statements
/// about usage and the licences, all of which are cut.
const ANSWER_BYTES: usize = 4 * SHOWN_BYTES_MAX;

/// A chunk of a list, with the arena and the rejects of the thread that reads it.
pub struct Piece<'c> {
    list: &'c List,
    contents: Contents<'c>,
    arena: &'c Arena,
    /// Receives the records that are not URLs.
    pub rejects: &'c mut Rejects,
}

impl<'c> Piece<'c> {
    /// Returns a piece with whole records of `list`.
    pub fn new(
        list: &'c List,
        contents: Contents<'c>,
        arena: &'c Arena,
        rejects: &'c mut Rejects,
    ) -> Piece<'c> {
        Piece { list, contents, arena, rejects }
    }

    /// Returns the list.
    pub fn list(&self) -> &'c List {
        self.list
    }

    /// Returns the contents that hold the records.
    pub fn contents(&self) -> Contents<'c> {
        self.contents
    }

    /// Returns the records, in order. A row group is not decoded yet, so it has none.
    #[inline]
    pub fn records(&self) -> ListRecords<'c> {
        self.list.records(self.contents, self.arena)
    }
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
/// Stops early if `out` has [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are. `counts` has
/// the bytes of the written records.
///
/// # Errors
///
/// If the set is damaged. The records before the damage are written.
pub fn write_chunk(
    piece: Piece<'_>,
    format: &dyn Format,
    session: &mut Session,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let agents = counts.agents().len();
    let mut decisions = Vec::new();
    in_blocks(piece.records(), agents, |block| {
        session.classify(block)?;
        counts.add_block(block, bytes(block), session)?;
        piece.rejects.add_block(block, session);
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

/// Calls `with` for blocks of `records` until there are no more, or `with` returns `false`. The
/// output has this number of `answers` for each record: blocks are shorter where those of a whole
/// block could exceed the budget of a chunk.
#[inline]
fn in_blocks<'c, E>(
    mut records: ListRecords<'c>,
    answers: usize,
    mut with: impl FnMut(&[Record<'c>]) -> Result<bool, E>,
) -> Result<(), E> {
    let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
    loop {
        records.fill(&mut block, RECORDS_AT_ONCE);
        if block.is_empty() {
            return Ok(());
        }
        let mut rest = &block[..];
        while !rest.is_empty() {
            let (part, after) = rest.split_at(within_budget(rest, answers));
            if !with(part)? {
                return Ok(());
            }
            rest = after;
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
