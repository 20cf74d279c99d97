//! Reads a column of a Parquet file as a list of URLs, and another one as their times if asked.
//!
//! This module finds the column, cuts the file into [`Part`]s, and decodes a part ([`Part::batches`]).
//! Decoding takes most of the time and runs on any thread. Use [`captures`](portcullis_captures::parquet) for
//! captures.
//!
//! A URL is bytes. String, binary and dictionary columns, large or views, are one type in a Parquet
//! file. Text that is not UTF-8 is decided as it is, as in a list of lines. A null is an empty
//! record, which is invalid.
//!
//! Cost: only the columns with the URLs and the times are read. Cutting reads the headers of its pages. Memory: a
//! part has at most [`PARQUET_PART_ROWS_MAX`] rows, and about [`CHUNK_BYTES`] of URLs unless one
//! page has more. A page or dictionary with more than [`PARQUET_PAGE_BYTES_MAX`](portcullis_captures::limits::PARQUET_PAGE_BYTES_MAX) bytes is an error
//! before anything is decompressed. Decoding holds the pages of one batch, and
//! [`Part::memory_bytes`] counts them. A part that is a row group is decoded in batches of
//! [`PARQUET_BATCH_URLS`] rows, or fewer if they are long.
//!
//! Errors name the file, the row group, the column and the fix. The URLs before an error are
//! returned first.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryViewArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit as ArrowUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowSelection, RowSelector,
};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, RowGroupMetaData,
};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::values::time_of;
use super::{Arena, BlockBuffer, ColumnOf, ListConfig, ListFormat, Problem, TableColumn};
use portcullis_dialect::limits::RECORDS_AT_ONCE;

use crate::input::{InputError, Record};
use crate::limits::{PARQUET_BATCH_URLS, PARQUET_PART_ROWS_MAX};
use portcullis_captures::parquet::columns::{
    self, entries, holds_bytes, holds_numbers, holds_times,
};
use portcullis_captures::parquet::file::{
    OpenFailure, guarded, no_parquet, plain_text, supported_compression, text_of,
};
pub use portcullis_captures::parquet::file::{ParquetSource, StoredFile};
use portcullis_captures::parquet::group::{GroupColumns, Sizes, damage, next_page};
use portcullis_captures::parquet::pages::{PageHeader, PageHeaders};
use portcullis_files::limits::CHUNK_BYTES;
use portcullis_robots::access::{TimeUnit, UnixSeconds};

/// A Parquet file with a column of URLs.
#[derive(Debug)]
pub struct ParquetList {
    source: ParquetSource,
    /// The column with the URLs.
    urls: Leaf,
    /// Whether that was found by a usual name.
    is_found: bool,
    /// The column with the times, and the unit of numbers in it.
    times: Option<(Leaf, Option<TimeUnit>)>,
    /// The column with the agents.
    agents: Option<Leaf>,
    /// How the columns are decoded.
    levels: FieldLevels,
}

/// A column that is read.
#[derive(Debug)]
struct Leaf {
    name: String,
    /// The position among the leaves of the schema.
    place: usize,
}

impl ParquetList {
    /// Opens the file at `path`. The columns are those of `config`; the URLs are by default in the
    /// first column with a usual name.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if the system cannot open it; [`InputError::List`] if it is not a
    /// complete Parquet file, or a column is missing or cannot hold the values.
    pub fn open(path: &Path, config: &ListConfig) -> Result<ParquetList, InputError> {
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => ParquetList::open_file(&name, file, config),
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
        config: &ListConfig,
    ) -> Result<ParquetList, InputError> {
        let name = name.to_owned();
        let source = match ParquetSource::open(&name, file, PageIndexPolicy::Optional) {
            Ok(source) => source,
            Err(OpenFailure::System(error)) => return Err(InputError::Open { name, error }),
            Err(OpenFailure::Problem(problem)) => return Err(InputError::List { name, problem }),
        };
        let found = guarded(|| find(&source.metadata, config));
        let FoundColumns { urls, times, agents, levels } =
            found.map_err(|problem| InputError::List { name, problem })?;
        let is_found = config.column.is_none();
        Ok(ParquetList { source, urls, is_found, times, agents, levels })
    }

    /// Returns the file.
    pub fn source(&self) -> &ParquetSource {
        &self.source
    }

    /// Returns the name of the column with the URLs.
    pub fn column_name(&self) -> &str {
        &self.urls.name
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

    /// Returns the metadata of the URLs in a row group.
    fn chunk(&self, row_group: usize) -> &ColumnChunkMetaData {
        self.row_group(row_group).column(self.urls.place)
    }

    /// Returns the columns that are read, the URLs first.
    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        std::iter::once(&self.urls).chain(self.other_leaves())
    }

    /// Returns the columns besides the URLs, in the order in which they are decoded.
    fn other_leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.times.iter().map(|(leaf, _)| leaf).chain(&self.agents)
    }

    /// Returns the size of the pages of a column in a row group.
    fn sizes(&self, row_group: usize, leaf: &Leaf) -> Result<Sizes, InputError> {
        let sizes = self.source.sizes(row_group, leaf.place);
        sizes.map_err(|problem| self.unreadable(row_group, &leaf.name, &problem))
    }

    /// Returns the error for a column of a row group, which is counted from 0.
    fn unreadable(&self, row_group: usize, column: &str, problem: &str) -> InputError {
        let number = row_group + 1;
        let problem = format!("row group {number}, column {column}: {problem}");
        InputError::List { name: self.source.name.clone(), problem }
    }

    /// Returns the error for damage in a column of a row group, which is counted from 0.
    fn damaged(&self, row_group: usize, column: &str, problem: &str) -> InputError {
        self.unreadable(row_group, column, &damage(problem))
    }

    fn unreadable_urls(&self, row_group: usize, problem: &str) -> InputError {
        self.unreadable(row_group, &self.urls.name, problem)
    }

    /// Returns the error for damage in the column with the URLs.
    fn damaged_urls(&self, row_group: usize, problem: &str) -> InputError {
        self.damaged(row_group, &self.urls.name, problem)
    }
}

/// The columns that are read, and how they are decoded.
struct FoundColumns {
    urls: Leaf,
    times: Option<(Leaf, Option<TimeUnit>)>,
    agents: Option<Leaf>,
    levels: FieldLevels,
}

/// Finds the columns.
fn find(metadata: &Arc<ParquetMetaData>, config: &ListConfig) -> Result<FoundColumns, String> {
    let open = |options: ArrowReaderOptions| {
        ArrowReaderMetadata::try_new(Arc::clone(metadata), options)
            .map_err(|error| no_parquet(&error))
    };
    // The writer's Arrow types are not needed, and may contradict the file's types.
    let arrow = open(ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let schema = metadata.file_metadata().schema_descr();
    let leaf = |root: usize| {
        let place = (0..schema.num_columns()).find(|&it| schema.get_column_root_idx(it) == root);
        let place = place.ok_or("its schema contradicts itself; fetch it again")?;
        Ok::<Leaf, String>(Leaf { name: schema.column(place).name().to_owned(), place })
    };
    if config.names_field_only() {
        let names: Vec<&String> = arrow.schema().fields().iter().map(|it| it.name()).collect();
        return Err(TableColumn::no_field(&names, ListFormat::Parquet));
    }
    let root = list_column(arrow.schema(), config.column.as_deref(), ColumnOf::URL)?;
    can_be_urls(arrow.schema().field(root))?;
    let urls = leaf(root)?;
    let described = schema.column(urls.place);
    if described.physical_type() != PhysicalType::BYTE_ARRAY || described.max_rep_level() > 0 {
        return Err(format!(
            "the column {} holds no texts or bytes; name another with --column",
            urls.name
        ));
    }
    let mut read = vec![(described.self_type_ptr(), DataType::BinaryView)];
    let mut times = None;
    if let Some(given) = config.at.column() {
        let root = list_column(arrow.schema(), Some(given), ColumnOf::TIME)?;
        let column = arrow.schema().field(root);
        // Parquet has no timestamps in seconds. The writer's types may say that numbers are such.
        let is_in_seconds = || {
            let written = open(ArrowReaderOptions::new()).ok()?;
            let data_type = written.schema().fields().get(root)?.data_type();
            matches!(data_type, DataType::Timestamp(ArrowUnit::Second, _))
                .then_some(TimeUnit::Seconds)
        };
        let unit = config.at.unit.or_else(is_in_seconds);
        can_be_times(column, unit.is_some())?;
        let leaf = leaf(root)?;
        let described = schema.column(leaf.place).self_type_ptr();
        let hint = match (column.data_type(), described.get_physical_type()) {
            (data_type, _) if holds_bytes(data_type) => DataType::BinaryView,
            // Seconds have no bounds, as nanoseconds have.
            (_, PhysicalType::INT96) => DataType::Timestamp(ArrowUnit::Second, None),
            (data_type, _) => data_type.clone(),
        };
        read.push((described, hint));
        times = Some((leaf, unit));
    }
    let mut agents = None;
    if let Some(given) = config.agent.column() {
        let root = list_column(arrow.schema(), Some(given), ColumnOf::AGENT)?;
        let leaf = leaf(root)?;
        let described = schema.column(leaf.place);
        let is_text = described.physical_type() == PhysicalType::BYTE_ARRAY;
        if !holds_bytes(arrow.schema().field(root).data_type()) || !is_text {
            return Err(format!(
                "the column {} holds no texts; name another with --agent-column",
                leaf.name
            ));
        }
        read.push((described.self_type_ptr(), DataType::BinaryView));
        agents = Some(leaf);
    }
    let levels = levels(&read).map_err(|error| no_parquet(&error))?;
    Ok(FoundColumns { urls, times, agents, levels })
}

/// Finds a column of a list by its name or number, or that with the URLs by a usual name. The error
/// says what is wrong.
fn list_column(schema: &Schema, given: Option<&str>, of: ColumnOf) -> Result<usize, String> {
    let names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
    let found = TableColumn::find(&names, given);
    found.ok_or_else(|| TableColumn::missing(&names, given, of))?.only(&names, of)
}

/// Checks that a column can hold URLs. The error says what is wrong.
fn can_be_urls(column: &Field) -> Result<(), String> {
    match holds_bytes(entries(column.data_type())) {
        true => Ok(()),
        false => Err(format!(
            "the column {} holds {}; the URL needs text or bytes; name another with --column COLUMN",
            column.name(),
            column.data_type()
        )),
    }
}

/// Checks that a column can hold times, which numbers are if their unit is known. The error says
/// what is wrong.
fn can_be_times(column: &Field, has_unit: bool) -> Result<(), String> {
    let data_type = entries(column.data_type());
    let name = column.name();
    match data_type {
        data_type if holds_times(data_type) => Ok(()),
        data_type if holds_numbers(data_type) && has_unit => Ok(()),
        data_type if holds_numbers(data_type) => Err(format!(
            "the column {name} holds {data_type}; name the unit of the times with --at-unit s or ms"
        )),
        data_type => Err(format!(
            "the column {name} holds {data_type}; the time needs timestamps, dates, text, or numbers \
             with --at-unit; name another with --at-column COLUMN"
        )),
    }
}

/// Returns how columns are decoded. Bytes are not copied.
fn levels(columns: &[(Arc<Type>, DataType)]) -> Result<FieldLevels, ParquetError> {
    let (mut types, mut fields) = (Vec::new(), Vec::new());
    for (number, (column, data_type)) in columns.iter().enumerate() {
        let (name, info) = (number.to_string(), column.get_basic_info());
        let builder = Type::primitive_type_builder(&name, column.get_physical_type())
            .with_repetition(info.repetition());
        let builder = match column.get_physical_type() {
            PhysicalType::BYTE_ARRAY => builder,
            _ => builder
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned()),
        };
        types.push(Arc::new(builder.build()?));
        fields.push(Field::new(name, data_type.clone(), column.is_optional()));
    }
    let root = Type::group_type_builder("list").with_fields(types).build()?;
    let schema = SchemaDescriptor::new(Arc::new(root));
    parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(&fields.into()))
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
    /// The pages of the times and of the agents.
    others: Vec<Sizes>,
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
        let sizes = self.list.leaves().map(|leaf| self.list.sizes(self.row_group, leaf));
        let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
        let batch_rows = sizes.iter().map(|sizes| sizes.rows_at_once(PARQUET_BATCH_URLS)).min();
        let batch_rows = batch_rows.unwrap_or(1);
        let memory_bytes = sizes.iter().map(|sizes| sizes.of_rows(batch_rows as u64)).sum();
        Ok(Extent { rows, batch_rows, memory_bytes })
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
        let others = pages.others.iter().map(|sizes| sizes.of_rows(count as u64)).sum::<u64>();
        let memory_bytes = pages.dictionary_bytes + bytes + others;
        Ok(Extent { rows: count, batch_rows: count, memory_bytes })
    }

    /// Returns the pages of the row group that is being cut.
    fn pages(&mut self) -> Result<&mut Pages, InputError> {
        let (list, row_group) = (&self.list, self.row_group);
        let pages = match self.pages.take() {
            Some(pages) => pages,
            None => {
                let others = list.other_leaves().map(|leaf| list.sizes(row_group, leaf));
                let headers = list.source.headers(row_group, list.urls.place);
                Pages {
                    headers: headers.map_err(|it| list.unreadable_urls(row_group, &it))?,
                    dictionary_bytes: 0,
                    rows_left: 0,
                    page_bytes: 0,
                    others: others.collect::<Result<_, _>>()?,
                }
            }
        };
        Ok(self.pages.insert(pages))
    }

    /// Returns the next page of the row group, and remembers its dictionary.
    fn next_page(&mut self) -> Result<Option<PageHeader>, InputError> {
        loop {
            let (list, row_group) = (Arc::clone(&self.list), self.row_group);
            let pages = self.pages()?;
            let page = next_page(&mut pages.headers);
            let page = page.map_err(|problem| list.unreadable_urls(row_group, &problem))?;
            let Some(page) = page else { return Ok(None) };
            if page.is_dictionary {
                pages.dictionary_bytes = page.bytes;
            } else {
                pages.page_bytes = page.bytes;
                return Ok(Some(page));
            }
        }
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

    /// Returns the most rows of a column of the row group, up to `rows_max`, to read at once.
    ///
    /// # Errors
    ///
    /// [`InputError::List`] if a page is too long, or the column is damaged.
    pub(crate) fn rows_at_once(&self, column: usize, rows_max: usize) -> Result<usize, InputError> {
        let sizes = self.list.source.sizes(self.row_group, column);
        let sizes = sizes.map_err(|problem| {
            let chunk = self.list.row_group(self.row_group).column(column);
            self.list.unreadable(self.row_group, &chunk.column_path().string(), &problem)
        })?;
        Ok(sizes.rows_at_once(rows_max))
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
        let pages = || self.list.source.pages(self.row_group, column);
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
            let leaves = self.list.leaves().map(|leaf| Some(leaf.place));
            let columns = GroupColumns::new(&self.list.source, self.row_group, leaves)?;
            let rows = [RowSelector::skip(self.first + skipped), RowSelector::select(left)];
            let rows = Some(RowSelection::from(rows.to_vec()));
            ParquetRecordBatchReader::try_new_with_row_groups(
                &self.list.levels,
                &columns,
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
        let (reader, list) = (&mut self.reader, &self.part.list);
        let read = guarded(|| match reader.next() {
            Some(Ok(batch)) => Ok(Urls::of(&batch, list)),
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
        Ok(Some(urls))
    }
}

/// Decoded URLs and agents, which are not copied, and times.
#[derive(Clone, Debug)]
pub struct Urls {
    urls: BinaryViewArray,
    times: Option<Vec<Option<UnixSeconds>>>,
    agents: Option<BinaryViewArray>,
}

impl Urls {
    /// Returns the values in a batch, or `None` if it has other types than were asked for.
    fn of(batch: &RecordBatch, list: &ParquetList) -> Option<Urls> {
        let urls = batch.column(0).as_binary_view_opt()?.clone();
        let times = match &list.times {
            None => None,
            Some((_, unit)) => {
                let values = columns::Values::of(batch.column(1), false)?;
                let time = |row| time_of(&values.at(row), *unit);
                Some((0..urls.len()).map(time).collect())
            }
        };
        let agents = match &list.agents {
            None => None,
            Some(_) => Some(batch.columns().last()?.as_binary_view_opt()?.clone()),
        };
        Some(Urls { urls, times, agents })
    }

    /// Returns the URL in a row, or `None` for a null.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.urls.is_valid(row).then(|| self.urls.value(row))
    }

    /// Fills `block` with rows from `first` on. Returns their number.
    pub(crate) fn fill<'u>(
        &'u self,
        first: usize,
        arena: &'u Arena,
        block: &mut BlockBuffer<'u>,
    ) -> usize {
        let rows = first..self.len().min(first + RECORDS_AT_ONCE);
        let BlockBuffer { records, times, agents } = block;
        records.clear();
        records.extend(rows.clone().map(|row| self.record(row, arena)));
        times.clear();
        times.extend_from_slice(self.times.as_ref().map_or(&[], |times| &times[rows.clone()]));
        agents.clear();
        if let Some(texts) = &self.agents {
            agents.extend(rows.map(|row| if texts.is_valid(row) { texts.value(row) } else { b"" }));
        }
        records.len()
    }

    /// Returns a row as a record without a terminator. Its text is the URL on one line: a line end
    /// or NUL in the URL is written as `%0A`, `%0D` or `%00`. The URL itself is decided as it is.
    #[inline]
    fn record<'u>(&'u self, row: usize, arena: &'u Arena) -> Record<'u> {
        match self.get(row) {
            None => Record::default().with_problem(Problem::Null),
            Some(url) => match memchr::memchr3(b'\n', b'\r', 0, url) {
                None => Record::plain(url, 0),
                Some(_) => {
                    let line = arena.alloc_slice_copy(&on_one_line(url));
                    Record::plain(line, 0).with_url(url)
                }
            },
        }
    }

    /// Returns the number of URLs.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Whether there are no URLs.
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }
}

/// Returns a URL with line ends and NUL escaped.
#[cold]
pub(crate) fn on_one_line(url: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(url.len() + 2);
    for &byte in url {
        match byte {
            b'\n' => line.extend_from_slice(b"%0A"),
            b'\r' => line.extend_from_slice(b"%0D"),
            0 => line.extend_from_slice(b"%00"),
            byte => line.push(byte),
        }
    }
    line
}
