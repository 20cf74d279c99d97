//! The columns of a row group: the sizes of their pages, and their values.
//!
//! For everything that decodes Parquet: captures, lists of URLs, and columns that are copied. The
//! headers of all pages are read before any page is decompressed, so a page of more than
//! [`PARQUET_PAGE_BYTES_MAX`] bytes is an error that takes no memory, and
//! [`ColumnPages::rows_at_once`] bounds what a batch of rows holds.
//!
//! Errors name the file, the row group and the column.
//!
//! Cost: one read of some dozen bytes for each page, of which as many are kept.

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::file::{ParquetSource, StoredFile, guarded, supported_compression};
use super::pages::{NO_HEADERS, PageHeader, next_header};
use crate::limits::PARQUET_PAGE_BYTES_MAX;
use portcullis_files::input::InputError;

/// The headers of the pages of a column in a row group.
#[derive(Clone, Debug)]
pub struct ColumnPages {
    /// The pages of values, in order.
    pub pages: Vec<PageHeader>,
    /// The bytes of the dictionary.
    pub dictionary_bytes: u64,
    /// Whether a row may have several values, so that a page has an unknown number of rows.
    is_repeated: bool,
}

impl ColumnPages {
    /// Returns the mean bytes of a row, in the page with the longest.
    fn row_bytes_max(&self) -> u64 {
        let rows = |page: &PageHeader| if self.is_repeated { 1 } else { page.rows.max(1) as u64 };
        self.pages.iter().map(|page| page.bytes / rows(page)).max().unwrap_or(0).max(1)
    }

    /// Returns the bytes in memory while this number of rows is decoded: whole pages, parts of the
    /// pages before and after them, and the dictionary.
    pub fn bytes_of_rows(&self, rows: u64) -> u64 {
        let sum: u64 = self.pages.iter().map(|page| page.bytes).sum();
        let longest = self.pages.iter().map(|page| page.bytes).max().unwrap_or(0);
        let pages = rows.saturating_mul(self.row_bytes_max()).saturating_add(2 * longest);
        self.dictionary_bytes + sum.min(pages)
    }

    /// Returns the most rows, up to `rows_max`, that have no more bytes than the longest page may
    /// have. At least one.
    pub fn rows_at_once(&self, rows_max: usize) -> usize {
        (PARQUET_PAGE_BYTES_MAX / self.row_bytes_max()).clamp(1, rows_max as u64) as usize
    }
}

impl ParquetSource {
    /// Returns the error for a column of a row group, both of which are counted from 0.
    pub fn unreadable(&self, row_group: usize, column: usize, problem: &str) -> InputError {
        let path = self.metadata.row_group(row_group).column(column).column_path().string();
        self.problem(format!("row group {}, column {path}: {problem}", row_group + 1))
    }

    /// Returns the headers of the pages of a column in a row group, before any page is decompressed.
    ///
    /// # Errors
    ///
    /// If a page is too long, or the column is damaged or compressed in a way that is not supported.
    pub fn page_headers(&self, row_group: usize, column: usize) -> Result<ColumnPages, InputError> {
        let headers = self.headers(row_group, column);
        headers.map_err(|problem| self.unreadable(row_group, column, &problem))
    }

    fn headers(&self, row_group: usize, column: usize) -> Result<ColumnPages, String> {
        let chunk = self.metadata.row_group(row_group).column(column);
        supported_compression(chunk)?;
        // The crate asserts that the metadata is not negative.
        let (start, bytes) = guarded(|| Ok(chunk.byte_range())).map_err(|it| damage(&it))?;
        let mut left = start..start.saturating_add(bytes);
        let descriptor = self.metadata.file_metadata().schema_descr().column(column);
        let is_repeated = descriptor.max_rep_level() > 0;
        let mut found = ColumnPages { pages: Vec::new(), dictionary_bytes: 0, is_repeated };
        while !left.is_empty() {
            match next_header(&self.file, &mut left).map_err(|problem| damage(&problem))? {
                None => {}
                Some(page) if page.bytes > PARQUET_PAGE_BYTES_MAX => return Err(too_long(&page)),
                Some(page) if page.is_dictionary => found.dictionary_bytes = page.bytes,
                Some(page) => found.pages.push(page),
            }
        }
        Ok(found)
    }

    /// Returns the pages of a column in a row group.
    pub fn pages(&self, row_group: usize, column: usize) -> Result<FilledPages, ParquetError> {
        let metadata = self.metadata.row_group(row_group);
        let (file, rows) = (Arc::clone(&self.file), metadata.num_rows() as usize);
        SerializedPageReader::new(file, metadata.column(column), rows, None).map(FilledPages)
    }
}

/// The pages of a column without those that have no values, at which the crate takes a column to end.
/// Arrow's C++ library writes one before the last page of some columns with lists.
pub struct FilledPages(SerializedPageReader<StoredFile>);

impl PageReader for FilledPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        loop {
            match self.0.get_next_page()? {
                Some(page) if !page.is_dictionary_page() && page.num_values() == 0 => {}
                page => return Ok(page),
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        loop {
            match self.0.peek_next_page()? {
                Some(page) if page.num_levels == Some(0) => self.0.skip_next_page()?,
                page => return Ok(page),
            }
        }
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.0.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>, ParquetError> {
        self.0.take_deferred_dictionary()
    }
}

impl Iterator for FilledPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Returns what damage to a column is, with what to do.
pub fn damage(problem: &str) -> String {
    let is_encrypted = problem.contains("Required field");
    let problem = if is_encrypted { NO_HEADERS } else { problem };
    format!("{problem}; fetch the file again or write it anew")
}

fn too_long(page: &PageHeader) -> String {
    let kind = if page.is_dictionary { "dictionary" } else { "page" };
    format!(
        "a {kind} of {} MB in memory; the limit is {} MiB; write the file anew with shorter pages",
        page.bytes / 1_000_000,
        PARQUET_PAGE_BYTES_MAX / (1024 * 1024)
    )
}

/// The columns of a row group at some places in the file, as the parquet crate asks for them.
pub(super) struct GroupColumns<'s> {
    pub source: &'s ParquetSource,
    pub row_group: usize,
    pub places: &'s [usize],
}

impl RowGroups for GroupColumns<'_> {
    fn num_rows(&self) -> usize {
        self.source.metadata.row_group(self.row_group).num_rows() as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let pages = self.source.pages(self.row_group, self.places[column])?;
        Ok(Box::new(OnePageReader(Some(Box::new(pages)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.source.metadata
    }
}

struct OnePageReader(Option<Box<dyn PageReader>>);

impl Iterator for OnePageReader {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OnePageReader {}
