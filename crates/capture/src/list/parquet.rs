//! A column of a Parquet file as a list of URLs. Built with the feature `parquet`.
//!
//! Owns the way from a file to the URLs in it: finding the column, cutting the file into [`Part`]s,
//! and decoding a part ([`Part::urls`]), which is the work and can be done on any thread. Use
//! [`parquet`](crate::parquet) for captures.
//!
//! A URL is bytes. String, binary and dictionary columns, large or views, are one type in a Parquet
//! file, and text that is not UTF-8 is decided as it is, as in a list of lines. A null is an empty
//! record, which is invalid.
//!
//! Cost: only the column with the URLs is read. Cutting reads the headers of its pages. Memory: a part
//! has at most [`PARQUET_PART_ROWS_MAX`] rows, and about [`CHUNK_BYTES`] of URLs unless one page has
//! more; decoding holds the pages of one batch. A part that is a row group is decoded in batches of
//! [`PARQUET_BATCH_URLS`] rows.
//!
//! Errors name the file, the row group, the column and the fix. They come after the URLs before them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryViewArray};
use arrow_schema::{DataType, Field, Fields};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups, RowSelection,
    RowSelector,
};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Type as PhysicalType;
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use portcullis_dialect::limits::{CHUNK_BYTES, PARQUET_BATCH_URLS, PARQUET_PART_ROWS_MAX};

use crate::input::InputError;
use crate::parquet_columns::url_column;
use crate::parquet_file::{OpenFailure, ParquetSource, StoredFile, guarded, no_parquet, text_of};

/// What a [`Part`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartSize {
    /// About as many URLs as a chunk of a list of lines has. By default.
    #[default]
    Chunk,
    /// A row group, for outputs that write row groups.
    RowGroup,
}

/// A Parquet file with a column of URLs.
#[derive(Debug)]
pub struct ParquetList {
    source: ParquetSource,
    /// The name of the column.
    column_name: String,
    /// Whether the column was found by a usual name.
    is_found: bool,
    /// The place of the column among the leaves of the schema.
    column: usize,
    /// How the column is decoded.
    levels: FieldLevels,
}

impl ParquetList {
    /// Opens the file at `path`, whose URLs are in the column with this name, or in the first that has
    /// one of the usual names.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if the system does not give it; [`InputError::Parquet`] if it is no whole
    /// Parquet file, or the column is missing or holds no text or bytes.
    pub fn open(path: &Path, column: Option<&str>) -> Result<ParquetList, InputError> {
        let name = path.display().to_string();
        let source = match ParquetSource::open(path, PageIndexPolicy::Optional) {
            Ok(source) => source,
            Err(OpenFailure::System(error)) => return Err(InputError::Open { name, error }),
            Err(OpenFailure::Problem(problem)) => {
                return Err(InputError::Parquet { name, problem });
            }
        };
        let found = guarded(|| find(&source.metadata, column));
        let (place, column_name, levels) =
            found.map_err(|problem| InputError::Parquet { name, problem })?;
        Ok(ParquetList { source, column_name, is_found: column.is_none(), column: place, levels })
    }

    /// The file.
    pub fn source(&self) -> &ParquetSource {
        &self.source
    }

    /// The name of the column.
    pub fn column_name(&self) -> &str {
        &self.column_name
    }

    /// Whether nobody named the column, so that it was found by a usual name.
    pub fn is_column_found(&self) -> bool {
        self.is_found
    }

    /// The names of all columns.
    pub fn column_names(&self) -> Vec<&str> {
        let schema = self.source.metadata.file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name()).collect()
    }

    /// The file in parts, in order.
    pub fn parts(self: Arc<ParquetList>, size: PartSize) -> Parts {
        Parts { list: self, size, row_group: 0, row: 0, pages: None, page_left: 0, is_over: false }
    }

    fn row_group(&self, number: usize) -> &RowGroupMetaData {
        self.source.metadata.row_group(number)
    }

    /// The chunk of the column in a row group.
    fn chunk(&self, row_group: usize) -> &ColumnChunkMetaData {
        self.row_group(row_group).column(self.column)
    }

    fn pages(&self, row_group: usize) -> Result<SerializedPageReader<StoredFile>, ParquetError> {
        let rows = self.row_group(row_group).num_rows() as usize;
        let file = Arc::clone(&self.source.file);
        SerializedPageReader::new(file, self.chunk(row_group), rows, None)
    }

    /// An error in the column of a row group.
    fn damaged(&self, row_group: usize, problem: &str) -> InputError {
        let (name, column) = (self.source.name.clone(), &self.column_name);
        let number = row_group + 1;
        let problem = format!(
            "row group {number}, column {column}: {problem}; fetch the file again or write it anew"
        );
        InputError::Parquet { name, problem }
    }
}

/// Finds the column: its place among the leaves, its name, and how it is decoded.
fn find(
    metadata: &Arc<ParquetMetaData>,
    column: Option<&str>,
) -> Result<(usize, String, FieldLevels), String> {
    // The writer's Arrow types are of no use here, and may contradict the file's.
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

/// How a column is decoded as bytes that stay where they were read.
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
    size: PartSize,
    /// The row group to be cut.
    row_group: usize,
    /// The first row that is not in a part.
    row: usize,
    /// The pages of the row group whose headers have not been read.
    pages: Option<SerializedPageReader<StoredFile>>,
    /// Rows of the pages that have been read and are in no part.
    page_left: usize,
    is_over: bool,
}

impl Parts {
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
            let count = match self.size {
                PartSize::RowGroup => rows,
                PartSize::Chunk => {
                    let list = Arc::clone(&self.list);
                    guarded(|| self.rows_of_chunk(rows))
                        .map_err(|problem| list.damaged(self.row_group, &problem))?
                }
            };
            let first = self.row;
            self.row += count;
            return Ok(Some(self.part(first, count, rows)));
        }
    }

    fn part(&self, first: usize, count: usize, rows: usize) -> Part {
        let (chunk, row_group) = (self.list.chunk(self.row_group), self.row_group);
        let share =
            |bytes: i64| (u128::from(bytes.max(0) as u64) * count as u128 / rows as u128) as u64;
        let whole: i64 =
            self.list.row_group(row_group).columns().iter().map(|it| it.compressed_size()).sum();
        Part {
            list: Arc::clone(&self.list),
            row_group,
            first,
            count,
            url_bytes: share(chunk.uncompressed_size()),
            stored_bytes: share(whole),
        }
    }

    /// The rows of the next part of a row group with so many: whole pages, as far as the bounds allow.
    fn rows_of_chunk(&mut self, rows: usize) -> Result<usize, String> {
        let wrong = |error: ParquetError| text_of(&error);
        let chunk = self.list.chunk(self.row_group);
        let mean_bytes = (chunk.uncompressed_size().max(0) as usize / rows).max(1);
        let wanted = (CHUNK_BYTES / mean_bytes).clamp(1, PARQUET_PART_ROWS_MAX);
        if self.pages.is_none() {
            self.pages = Some(self.list.pages(self.row_group).map_err(wrong)?);
        }
        let pages = self.pages.as_mut().expect("it was opened");
        while self.page_left < wanted {
            let Some(page) = pages.peek_next_page().map_err(wrong)? else {
                break;
            };
            if !page.is_dict {
                let page_rows = page.num_rows.or(page.num_levels);
                self.page_left += page_rows.ok_or("a page has no number of rows")?;
            }
            pages.skip_next_page().map_err(wrong)?;
        }
        let (left, count) = (rows - self.row, self.page_left.min(PARQUET_PART_ROWS_MAX));
        if count == 0 || count > left {
            return Err(format!("its pages do not have the {rows} rows of the row group"));
        }
        self.page_left -= count;
        Ok(count)
    }
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

/// Some rows of a row group.
#[derive(Clone, Debug)]
pub struct Part {
    list: Arc<ParquetList>,
    row_group: usize,
    /// The first row, within the row group.
    first: usize,
    count: usize,
    url_bytes: u64,
    stored_bytes: u64,
}

impl Part {
    /// The list that this is a part of.
    pub fn list(&self) -> &Arc<ParquetList> {
        &self.list
    }

    /// The number of the row group, counted from 0.
    pub fn row_group(&self) -> usize {
        self.row_group
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// The bytes of the URLs before compression, if each row had an equal share.
    pub fn url_bytes(&self) -> u64 {
        self.url_bytes
    }

    /// The bytes of the file, all columns included, if each row had an equal share.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// The URLs of all rows at once.
    ///
    /// # Errors
    ///
    /// [`InputError::Parquet`] if the column is damaged.
    pub fn urls(&self) -> Result<Urls, InputError> {
        let mut batches = self.batches(self.count)?;
        let urls = batches.next_batch()?;
        urls.ok_or_else(|| self.list.damaged(self.row_group, "its rows are missing"))
    }

    /// The URLs in batches of at most [`PARQUET_BATCH_URLS`] rows.
    ///
    /// # Errors
    ///
    /// As [`Part::urls`].
    pub fn url_batches(&self) -> Result<UrlBatches<'_>, InputError> {
        self.batches(PARQUET_BATCH_URLS)
    }

    fn batches(&self, batch_rows: usize) -> Result<UrlBatches<'_>, InputError> {
        let start = || {
            let column = OneColumn {
                rows: self.list.row_group(self.row_group).num_rows() as usize,
                pages: Mutex::new(Some(Box::new(self.list.pages(self.row_group)?))),
                metadata: Arc::clone(&self.list.source.metadata),
            };
            let rows = [RowSelector::skip(self.first), RowSelector::select(self.count)];
            let rows = Some(RowSelection::from(rows.to_vec()));
            ParquetRecordBatchReader::try_new_with_row_groups(
                &self.list.levels,
                &column,
                batch_rows,
                rows,
            )
        };
        let reader = guarded(|| start().map_err(|error| text_of(&error)))
            .map_err(|problem| self.list.damaged(self.row_group, &problem))?;
        Ok(UrlBatches { part: self, reader, left: self.count })
    }
}

/// The URLs of a part, batch by batch.
pub struct UrlBatches<'p> {
    part: &'p Part,
    reader: ParquetRecordBatchReader,
    left: usize,
}

impl UrlBatches<'_> {
    /// The next batch; `None` after the last row.
    ///
    /// # Errors
    ///
    /// [`InputError::Parquet`] if the column is damaged.
    pub fn next_batch(&mut self) -> Result<Option<Urls>, InputError> {
        if self.left == 0 {
            return Ok(None);
        }
        let reader = &mut self.reader;
        let read = guarded(|| match reader.next() {
            Some(Ok(batch)) => Ok(batch.column(0).as_binary_view_opt().cloned()),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(None),
        });
        let urls = match read {
            Ok(Some(urls)) if urls.len() <= self.left => Ok(urls),
            Ok(_) => Err(format!("{} rows are missing", self.left)),
            Err(problem) => Err(problem),
        };
        let urls = urls.map_err(|problem| self.part.list.damaged(self.part.row_group, &problem))?;
        self.left -= urls.len();
        Ok(Some(Urls(urls)))
    }
}

/// Some URLs, where they were decoded.
#[derive(Clone, Debug)]
pub struct Urls(BinaryViewArray);

impl Urls {
    /// The URLs in order; a null is empty.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.0.len()).map(|row| match self.0.is_null(row) {
            true => &b""[..],
            false => self.0.value(row),
        })
    }

    /// Those from a row on.
    #[must_use]
    pub fn skip(&self, rows: usize) -> Urls {
        Urls(self.0.slice(rows, self.0.len() - rows))
    }

    /// The number of URLs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
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
