//! Writes verdicts: tagged records, kept records and summaries.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! This crate says what was decided. Use [`batch`](portcullis_set::batch) to make decisions, and
//! [`output`](portcullis_rows::output) for the formats of rows. A [`Format`] decides the records of a
//! piece of a list and encodes them, so threads can encode pieces that are put back in order.
//! [`filter`] copies kept records instead.
//! All of them count the records in [`Counts`], and [`Account`] shows the sum. [`explanation`] and
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
//! use portcullis_rows::output::{RowForm, columns::Columns, tsv::Tsv};
//! use portcullis_report::{Counts, Format, Piece, Rejects, Tagged, Written};
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
//! let piece = Piece { rows: &mut rows, rejects: &mut rejects };
//! let form = RowForm::Text(Box::new(Tsv(Terminator::LineFeed)));
//! let format = Tagged { columns: &Columns::default(), form: &form };
//! format.encode(piece.work(&mut session, &mut counts), &mut out)?;
//! assert_eq!(out[0].text, b"allow\thttps://a.example/\ninvalid\tnothing\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod account;
pub mod columns;
mod counts;
mod crawlers;
mod encode;
pub mod explanation;
pub mod explanation_json;
mod figures;
pub mod filter;
pub mod limits;
pub mod page;
mod rejects;

#[cfg(test)]
mod parquet_tests;
#[cfg(test)]
mod tests;

pub use account::{
    Account, AgentList, AgentRecords, JudgedAge, NoRecords, PolicyFacts, RecordFigures, Run, Time,
    UnnamedAgent,
};
pub use counts::{AgentCounts, Counts, TRAINING};
pub use crawlers::{KnownAgent, Pace, ReadingFacts, RecordAgent};
pub use encode::{ChunkError, Filter, Format, Piece, Tagged, Work, Written, bytes};
pub use explanation::clause;
pub use figures::{Figures, NameCounts, NameRecords, TopNames, add_counts};
pub use filter::Cause;
pub use rejects::{InvalidRecord, InvalidRecords, NotedRecords, Rejects, Watch};
