//! Lists of URLs in, tables out.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! No code here decides a URL. Use `set` to decide, and `report` for what was decided.
//!
//! | module | owns |
//! |---|---|
//! | [`input`] | the chunks of a list, and the records of text |
//! | [`list`] | the formats of lists; [`Rows`](list::Rows), the records of a chunk, from text or Parquet |
//! | [`output`] | the added columns, and rows as TSV, CSV, JSON Lines, Parquet or Arrow |
//! | [`runner`] | chunks in, outputs out, in order, on any number of threads |
//! | [`sitemap`] | sitemaps as lines: a stage between decompression and lists |

pub mod input;
pub mod limits;
pub mod list;
pub mod output;
pub mod runner;
pub mod sitemap;
