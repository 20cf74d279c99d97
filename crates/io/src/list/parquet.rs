//! Reads a column of a Parquet file as a list of URLs.
//!
//! This module finds the column, cuts the file into [`Part`]s, and decodes a part ([`Part::batches`]).
//! Decoding takes most of the time and runs on any thread. Use [`parquet`](crate::parquet) for
//! captures.
//!
//! A URL is bytes. String, binary and dictionary columns, large or views, are one type in a Parquet
//! file. Text that is not UTF-8 is decided as it is, as in a list of lines. A null is an empty
//! record, which is invalid.
//!
//! Cost: only the column with the URLs is read. Cutting reads the headers of its pages. Memory: a
//! part has at most [`PARQUET_PART_ROWS_MAX`] rows, and about [`CHUNK_BYTES`] of URLs unless one
//! page has more. A page or dictionary with more than [`PARQUET_PAGE_BYTES_MAX`] bytes is an error
//! before anything is decompressed. Decoding holds the pages of one batch, and
//! [`Part::memory_bytes`] counts them. A part that is a row group is decoded in batches of
//! [`PARQUET_BATCH_URLS`] rows, or fewer if they are long.
//!
//! Errors name the file, the row group, the column and the fix. The URLs before an error are
//! returned first.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryViewArray};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups, RowSelection,
    RowSelector,
};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use portcullis_dialect::limits::{
    CHUNK_BYTES, PARQUET_BATCH_URLS, PARQUET_PAGE_BYTES_MAX, PARQUET_PART_ROWS_MAX,
};

use crate::input::{InputError, Record};
use crate::list::{Arena, Problem};
use crate::parquet_columns::url_column;
use crate::parquet_file::{
    OpenFailure, guarded, no_parquet, plain_text, supported_compression, text_of,
};
pub use crate::parquet_file::{ParquetSource, StoredFile};
use crate::parquet_pages::{PageHeader, PageHeaders};

/// A Parquet file with a column of URLs.
#[derive(Debug)]
pub struct ParquetList {
    source: ParquetSource,
    /// The name of the column with the URLs.
    column_name: String,
    /// Whether the column was found by a usual name.
    is_found: bool,
    /// The position of the column among the leaves of the schema.
    column: usize,
    /// How the column is decoded.
    levels: FieldLevels,
}

impl ParquetList {
    /// Opens the file at `path`. The URLs are in `column`, or by default in the first column with a
    /// usual name.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if the system cannot open it; [`InputError::List`] if it is not a
    /// complete Parquet file, or the column is missing or holds neither text nor bytes.
    pub fn open(path: &Path, column: Option<&str>) -> Result<ParquetList, InputError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => ParquetList::open_file(&name, file, column),
            Err(error) => Err(InputError::Open { name, error }),
        }
    }

    /// Like [`ParquetList::open`], for a file that is already open. Errors call the file `name`.
    ///
    /// # Errors
    ///
    /// As [`ParquetList::open`].
    pub fn open_file(
        name: &str,
        file: File,
        column: Option<&str>,
    ) -> Result<ParquetList, InputError> {
        let name = name.to_owned();
        let source = match ParquetSource::open(&name, file, PageIndexPolicy::Optional) {
            Ok(source) => source,
            Err(OpenFailure::System(error)) => return Err(InputError::Open { name, error }),
            Err(OpenFailure::Problem(problem)) => return Err(InputError::List { name, problem }),
        };
        let found = guarded(|| find(&source.metadata, column));
        let (place, column_name, levels) =
            found.map_err(|problem| InputError::List { name, problem })?;
        Ok(ParquetList { source, column_name, is_found: column.is_none(), column: place, levels })
    }

    /// Returns the file.
    pub fn source(&self) -> &ParquetSource {
        &self.source
    }

    /// Returns the name of the column with the URLs.
    pub fn column_name(&self) -> &str {
        &self.column_name
    }

    /// Whether the column was found by a usual name because no name was given.
    pub fn is_column_found(&self) -> bool {
        self.is_found
    }

    /// Returns the names of all columns.
    pub fn column_names(&self) -> Vec<&str> {
        let schema = self.source.metadata.file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name()).collect()
    }

    /// Returns the file in parts, in order. A part is a row group, or has about as many URLs as a
    /// chunk of a list of lines.
    pub fn parts(self: Arc<ParquetList>, by_row_group: bool) -> Parts {
        Parts { list: self, by_row_group, row_group: 0, row: 0, pages: None, is_over: false }
    }

    fn row_group(&self, number: usize) -> &RowGroupMetaData {
        self.source.metadata.row_group(number)
    }

    /// Returns the metadata of the column in a row group.
    fn chunk(&self, row_group: usize) -> &ColumnChunkMetaData {
        self.row_group(row_group).column(self.column)
    }

    /// Returns the pages of a column in a row group.
    fn pages(
        &self,
        row_group: usize,
        column: usize,
    ) -> Result<SerializedPageReader<StoredFile>, ParquetError> {
        let metadata = self.row_group(row_group);
        let (file, rows) = (Arc::clone(&self.source.file), metadata.num_rows() as usize);
        SerializedPageReader::new(file, metadata.column(column), rows, None)
    }

    /// Returns the error for a column of a row group, which is counted from 0.
    fn unreadable(&self, row_group: usize, column: &str, problem: &str) -> InputError {
        let number = row_group + 1;
        let problem = format!("row group {number}, column {column}: {problem}");
        InputError::List { name: self.source.name.clone(), problem }
    }

    /// Returns the error for damage in a column of a row group, which is counted from 0.
    fn damaged(&self, row_group: usize, column: &str, problem: &str) -> InputError {
        let problem = match problem.contains("Required field") {
            true => "its pages have no headers; is the column encrypted?",
            false => problem,
        };
        let problem = format!("{problem}; fetch the file again or write it anew");
        self.unreadable(row_group, column, &problem)
    }

    /// Returns the error for damage in the column with the URLs.
    fn damaged_urls(&self, row_group: usize, problem: &str) -> InputError {
        self.damaged(row_group, &self.column_name, problem)
    }
}

/// Finds the column. Returns its position among the leaves, its name, and how it is decoded.
fn find(
    metadata: &Arc<ParquetMetaData>,
    column: Option<&str>,
) -> Result<(usize, String, FieldLevels), String> {
    // The writer's Arrow types are not needed, and may contradict the file's types.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let arrow = ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
        .map_err(|error| no_parquet(&error))?;
    let root = url_column(arrow.schema(), column)?;
    let schema = metadata.file_metadata().schema_descr();
    let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root);
    let leaf = leaf.ok_or("its schema contradicts itself; fetch it again")?;
    let described = schema.column(leaf);
    let name = described.name().to_owned();
    if described.physical_type() != PhysicalType::BYTE_ARRAY || described.max_rep_level() > 0 {
        return Err(format!(
            "the column {name} holds no texts or bytes; name another with --column"
        ));
    }
    let levels = levels_of_bytes(&described.self_type_ptr()).map_err(|error| no_parquet(&error))?;
    Ok((leaf, name, levels))
}

/// Returns how a column is decoded as bytes that are not copied.
fn levels_of_bytes(column: &Type) -> Result<FieldLevels, ParquetError> {
    let repetition = column.get_basic_info().repetition();
    let bytes = Type::primitive_type_builder("url", PhysicalType::BYTE_ARRAY)
        .with_repetition(repetition)
        .build()?;
    let root = Type::group_type_builder("list").with_fields(vec![Arc::new(bytes)]).build()?;
    let views = Fields::from(vec![Field::new("url", DataType::BinaryView, column.is_optional())]);
    let schema = SchemaDescriptor::new(Arc::new(root));
    parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(&views))
}

/// Cuts a file into parts. After an error there are no more.
pub struct Parts {
    list: Arc<ParquetList>,
    by_row_group: bool,
    /// The row group that is being cut.
    row_group: usize,
    /// The first row that is not in a part.
    row: usize,
    /// The pages of the row group that is being cut.
    pages: Option<Pages>,
    is_over: bool,
}

/// The pages of a row group while it is cut.
struct Pages {
    headers: PageHeaders,
    /// The bytes of the dictionary. Every part needs it.
    dictionary_bytes: u64,
    /// The rows in pages that were read and are not yet in a part. They are in the last page.
    rows_left: usize,
    /// The bytes of the last page.
    page_bytes: u64,
}

impl Parts {
    /// Whether every row is in a part that was returned.
    pub fn is_at_end(&self) -> bool {
        let left = &self.list.source.metadata.row_groups()[self.row_group..];
        let mut row = self.row as i64;
        left.iter().all(|group| group.num_rows() == std::mem::take(&mut row))
    }

    fn read(&mut self) -> Result<Option<Part>, InputError> {
        loop {
            let metadata = &self.list.source.metadata;
            if self.row_group == metadata.num_row_groups() {
                return Ok(None);
            }
            let rows = metadata.row_group(self.row_group).num_rows() as usize;
            if self.row == rows {
                self.row_group += 1;
                self.row = 0;
                self.pages = None;
                continue;
            }
            let extent = match self.by_row_group {
                true => self.row_group_extent(rows)?,
                false => self.chunk_extent(rows)?,
            };
            let first = self.row;
            self.row += extent.rows;
            return Ok(Some(self.part(first, extent, rows)));
        }
    }

    fn part(&self, first: usize, extent: Extent, rows: usize) -> Part {
        let (chunk, row_group) = (self.list.chunk(self.row_group), self.row_group);
        let count = extent.rows;
        let share =
            |bytes: i64| (u128::from(bytes.max(0) as u64) * count as u128 / rows as u128) as u64;
        let whole: i64 =
            self.list.row_group(row_group).columns().iter().map(|it| it.compressed_size()).sum();
        Part {
            list: Arc::clone(&self.list),
            row_group,
            first,
            extent,
            url_bytes: share(chunk.uncompressed_size()),
            stored_bytes: share(whole),
        }
    }

    /// Returns the extent of a row group with `rows` rows, after checking all its pages.
    fn row_group_extent(&mut self, rows: usize) -> Result<Extent, InputError> {
        let (mut sum, mut page_max, mut row_max) = (0_u64, 0, 1);
        while let Some(page) = self.next_page()? {
            sum += page.bytes;
            page_max = page_max.max(page.bytes);
            row_max = row_max.max(page.bytes / page.rows.max(1) as u64);
        }
        let dictionary_bytes = self.pages()?.dictionary_bytes;
        self.pages = None;
        // A batch has whole pages, and parts of the pages before and after them.
        let batch_rows = (PARQUET_PAGE_BYTES_MAX / row_max).clamp(1, PARQUET_BATCH_URLS as u64);
        let memory_bytes = dictionary_bytes + sum.min(batch_rows * row_max + 2 * page_max);
        Ok(Extent { rows, batch_rows: batch_rows as usize, memory_bytes })
    }

    /// Returns the extent of the next part of a row group with `rows` rows: whole pages, up to the
    /// bounds.
    fn chunk_extent(&mut self, rows: usize) -> Result<Extent, InputError> {
        let chunk = self.list.chunk(self.row_group);
        let mean_bytes = (chunk.uncompressed_size().max(0) as usize / rows).max(1);
        let wanted = (CHUNK_BYTES / mean_bytes).clamp(1, PARQUET_PART_ROWS_MAX);
        let pages = self.pages()?;
        let mut found = pages.rows_left;
        let mut bytes = if found > 0 { pages.page_bytes } else { 0 };
        while found == 0 || found < wanted && bytes < CHUNK_BYTES as u64 {
            let Some(page) = self.next_page()? else { break };
            found += page.rows;
            bytes += page.bytes;
        }
        let count = found.min(PARQUET_PART_ROWS_MAX);
        if count == 0 || count > rows - self.row {
            let problem = format!("its pages do not have the {rows} rows of the row group");
            return Err(self.list.damaged_urls(self.row_group, &problem));
        }
        let pages = self.pages()?;
        pages.rows_left = found - count;
        let memory_bytes = pages.dictionary_bytes + bytes;
        Ok(Extent { rows: count, batch_rows: count, memory_bytes })
    }

    /// Returns the pages of the row group that is being cut.
    fn pages(&mut self) -> Result<&mut Pages, InputError> {
        let (list, row_group) = (&self.list, self.row_group);
        let pages = match self.pages.take() {
            Some(pages) => pages,
            None => {
                let chunk = list.chunk(row_group);
                supported_compression(chunk)
                    .map_err(|problem| list.unreadable(row_group, &list.column_name, &problem))?;
                // The crate asserts that the metadata is not negative.
                let headers = guarded(|| Ok(PageHeaders::of(&list.source.file, chunk)))
                    .map_err(|problem| list.damaged_urls(row_group, &problem))?;
                Pages { headers, dictionary_bytes: 0, rows_left: 0, page_bytes: 0 }
            }
        };
        Ok(self.pages.insert(pages))
    }

    /// Returns the next page of the row group, and remembers its dictionary.
    fn next_page(&mut self) -> Result<Option<PageHeader>, InputError> {
        loop {
            let next = self.pages()?.headers.next();
            let (list, row_group) = (&self.list, self.row_group);
            let Some(page) = next.map_err(|problem| list.damaged_urls(row_group, &problem))? else {
                return Ok(None);
            };
            if page.bytes > PARQUET_PAGE_BYTES_MAX {
                let problem = too_long(&page);
                return Err(list.unreadable(row_group, &list.column_name, &problem));
            }
            let pages = self.pages()?;
            if page.is_dictionary {
                pages.dictionary_bytes = page.bytes;
            } else {
                pages.page_bytes = page.bytes;
                return Ok(Some(page));
            }
        }
    }
}

fn too_long(page: &PageHeader) -> String {
    let kind = if page.is_dictionary { "dictionary" } else { "page" };
    format!(
        "a {kind} of {} MB in memory; the limit is {} MiB; write the file anew with shorter pages",
        page.bytes / 1_000_000,
        PARQUET_PAGE_BYTES_MAX / (1024 * 1024)
    )
}

impl Iterator for Parts {
    type Item = Result<Part, InputError>;

    fn next(&mut self) -> Option<Result<Part, InputError>> {
        if self.is_over {
            return None;
        }
        let next = self.read().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl std::iter::FusedIterator for Parts {}

/// The rows of a part, and the memory to decode them.
#[derive(Clone, Copy, Debug)]
struct Extent {
    rows: usize,
    /// The most rows to decode at once.
    batch_rows: usize,
    /// The bytes of the pages that a batch has, and of the dictionary.
    memory_bytes: u64,
}

/// A range of rows in a row group.
#[derive(Clone, Debug)]
pub struct Part {
    list: Arc<ParquetList>,
    row_group: usize,
    /// The first row, within the row group.
    first: usize,
    extent: Extent,
    url_bytes: u64,
    stored_bytes: u64,
}

impl Part {
    /// Returns the list to which the part belongs.
    pub fn list(&self) -> &Arc<ParquetList> {
        &self.list
    }

    /// Returns the number of the row group, counted from 0.
    pub fn row_group(&self) -> usize {
        self.row_group
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.extent.rows
    }

    /// Returns the most rows of the column with the URLs that fit into memory at once.
    pub fn batch_rows(&self) -> usize {
        self.extent.batch_rows
    }

    /// Returns the bytes of the pages and of the dictionary that are in memory while the URLs are
    /// decoded, by the headers of the pages.
    pub fn memory_bytes(&self) -> u64 {
        self.extent.memory_bytes
    }

    /// Returns the bytes of the URLs before compression, estimated as an equal share for each row.
    pub fn url_bytes(&self) -> u64 {
        self.url_bytes
    }

    /// Returns the bytes of the file, all columns included, estimated as an equal share for each
    /// row.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Returns the compression of the URLs.
    pub fn url_compression(&self) -> Compression {
        self.list.chunk(self.row_group).compression()
    }

    /// Calls `read` with the pages of any column of the row group. `column` is its position among
    /// the leaves of the schema.
    ///
    /// # Errors
    ///
    /// [`InputError::List`] if `read` fails or panics, as damaged pages may cause, or if this build
    /// does not support the column's compression.
    pub fn read_column<T>(
        &self,
        column: usize,
        read: impl FnOnce(Box<dyn PageReader>) -> Result<T, ParquetError>,
    ) -> Result<T, InputError> {
        let chunk = self.list.row_group(self.row_group).column(column);
        let path = || chunk.column_path().string();
        supported_compression(chunk)
            .map_err(|problem| self.list.unreadable(self.row_group, &path(), &problem))?;
        let pages = || self.list.pages(self.row_group, column);
        let read = || read(Box::new(pages()?));
        guarded(|| read().map_err(|error| text_of(&error)))
            .map_err(|problem| self.list.damaged(self.row_group, &path(), &problem))
    }

    /// Returns the URLs in batches, without those of the first `skipped` rows.
    ///
    /// # Errors
    ///
    /// [`InputError::List`] if the column is damaged.
    pub fn batches(&self, skipped: usize) -> Result<UrlBatches<'_>, InputError> {
        let left = self.rows() - skipped;
        let start = || {
            let column = OneColumn {
                rows: self.list.row_group(self.row_group).num_rows() as usize,
                pages: Mutex::new(Some(Box::new(
                    self.list.pages(self.row_group, self.list.column)?,
                ))),
                metadata: Arc::clone(&self.list.source.metadata),
            };
            let rows = [RowSelector::skip(self.first + skipped), RowSelector::select(left)];
            let rows = Some(RowSelection::from(rows.to_vec()));
            ParquetRecordBatchReader::try_new_with_row_groups(
                &self.list.levels,
                &column,
                self.batch_rows(),
                rows,
            )
        };
        let reader = guarded(|| start().map_err(|error| text_of(&error)))
            .map_err(|problem| self.list.damaged_urls(self.row_group, &problem))?;
        Ok(UrlBatches { part: self, reader, left })
    }
}

/// The URLs of a part, batch by batch.
pub struct UrlBatches<'p> {
    part: &'p Part,
    reader: ParquetRecordBatchReader,
    left: usize,
}

impl UrlBatches<'_> {
    /// Returns the next batch, or `None` after the last row.
    ///
    /// # Errors
    ///
    /// [`InputError::List`] if the column is damaged.
    pub fn next_batch(&mut self) -> Result<Option<Urls>, InputError> {
        if self.left == 0 {
            return Ok(None);
        }
        let reader = &mut self.reader;
        let read = guarded(|| match reader.next() {
            Some(Ok(batch)) => Ok(batch.column(0).as_binary_view_opt().cloned()),
            Some(Err(ArrowError::ParquetError(problem))) => Err(plain_text(&problem)),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(None),
        });
        let urls = match read {
            Ok(Some(urls)) if urls.len() <= self.left => Ok(urls),
            Ok(_) => Err(format!("{} rows are missing", self.left)),
            Err(problem) => Err(problem),
        };
        let urls =
            urls.map_err(|problem| self.part.list.damaged_urls(self.part.row_group, &problem))?;
        self.left -= urls.len();
        Ok(Some(Urls(urls)))
    }
}

/// Decoded URLs, which are not copied.
#[derive(Clone, Debug)]
pub struct Urls(BinaryViewArray);

impl Urls {
    /// Returns the URL in a row, or `None` for a null.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// Returns a row as a record without a terminator. Its text is the URL on one line: a line end
    /// or NUL in the URL is written as `%0A`, `%0D` or `%00`. The URL itself is decided as it is.
    #[inline]
    pub(super) fn record<'u>(&'u self, row: usize, arena: &'u Arena) -> Record<'u> {
        let Some(url) = self.get(row) else {
            return Record::plain(b"", 0).with_problem(Problem::Null);
        };
        match memchr::memchr3(b'\n', b'\r', 0, url) {
            None => Record::plain(url, 0),
            Some(_) => Record::plain(on_one_line(url, arena), 0).with_url(url),
        }
    }

    /// Returns the number of URLs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no URLs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cold]
fn on_one_line<'u>(url: &[u8], arena: &'u Arena) -> &'u [u8] {
    let mut line = Vec::with_capacity(url.len() + 2);
    for &byte in url {
        match byte {
            b'\n' => line.extend_from_slice(b"%0A"),
            b'\r' => line.extend_from_slice(b"%0D"),
            0 => line.extend_from_slice(b"%00"),
            byte => line.push(byte),
        }
    }
    arena.alloc_slice_copy(&line)
}

/// One column of one row group.
struct OneColumn {
    rows: usize,
    /// Taken when the column is opened.
    pages: Mutex<Option<Box<dyn PageReader>>>,
    metadata: Arc<ParquetMetaData>,
}

impl RowGroups for OneColumn {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, _: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Box::new(OnePageReader(pages)))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::empty())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
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
