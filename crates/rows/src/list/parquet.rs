//! Reads a column of a Parquet file as a list of URLs, and others as their times, agents and hosts if
//! asked.
//!
//! This module finds the columns, also within structures, cuts the file into [`PartOfRows`]s, and decodes a
//! part ([`PartOfRows::batches`]). Decoding takes most of the time and runs on any thread. Use
//! [`captures`](portcullis_captures::parquet) for captures.
//!
//! A URL is bytes. String, binary and dictionary columns, large or views, are one type in a Parquet
//! file. Text that is not UTF-8 is decided as it is, as in a list of lines. A null is an empty
//! record, which is invalid.
//!
//! Cost: only the columns with the URLs and the times are read. Cutting reads the headers of its pages. Memory:
//! a part has at most [`PARQUET_PART_ROWS_MAX`] rows, and about [`CHUNK_BYTES`] of URLs unless one page has
//! more. A page or dictionary with more than
//! [`PARQUET_PAGE_BYTES_MAX`](portcullis_captures::limits::PARQUET_PAGE_BYTES_MAX) bytes is an error before
//! anything is decompressed. Decoding holds the pages of one batch, and [`PartOfRows::memory_bytes`] counts
//! them. A part that is a row group is decoded in batches of [`PARQUET_BATCH_URLS`] rows, or fewer if they are
//! long.
//!
//! Errors name the file, the row group, the column and the fix. The row groups before an error are
//! returned first.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, BinaryViewArray, RecordBatch};
use arrow_schema::DataType;
use parquet::basic::Type as PhysicalType;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy};
use parquet::schema::types::ColumnDescPtr;
use portcullis_engine::vectors::{Kind, Vectors, Work};

use super::host::{Hosts, UNREADABLE};
use super::json::{AskedValues, FoundValues, IN_LISTS, LeftParts, may_be_other};
use super::layouts;
use super::noticed::{Doubts, Left};
use super::place::{LeftPart, TableColumn, Value, part_near};
use super::short::are_above;
use super::values::{Values, Visit, agent_of, doubt_of_time};
use super::{Arena, BlockBuffer, ListConfig, ListFormat, Place, Problem, advice};
use portcullis_captures::json_path::FieldValue;
use portcullis_captures::parquet::columns::{
    Columns, Leaf, Objects, Projection, Values as ColumnValues, holds_bytes, holds_numbers,
    holds_times,
};
pub use portcullis_captures::parquet::file::{ParquetSource, StoredFile};
use portcullis_captures::parquet::file::{guarded, supported_compression, text_of};
use portcullis_captures::parquet::group::{ColumnPages, damage};
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_files::limits::CHUNK_BYTES;
use portcullis_robots::access::{TimeUnit, UnixSeconds, in_range};

use crate::input::{InputError, Record};
use crate::limits::{PARQUET_BATCH_URLS, PARQUET_PART_ROWS_MAX};

/// A Parquet file with a column of URLs.
#[derive(Debug)]
pub struct ParquetList {
    /// The file.
    pub source: ParquetSource,
    /// The columns with the values, that with the URLs first, and the members of texts that may have them.
    leaves: Vec<(Value, Leaf)>,
    /// The columns that may have parts of the URL of a path and are not read.
    left: Vec<(LeftPart, Leaf)>,
    /// The columns among them without a value a row, such as lists.
    unreadable: Vec<(LeftPart, Leaf)>,
    /// The parts that fields in the object of the URL may have.
    left_parts: LeftParts,
    /// The columns of objects with values.
    objects: Vec<Objects>,
    /// The values of rows with objects.
    pub(super) asked: AskedValues,
    /// Whether records are decided as of their times, and whether visits are read.
    decides_by_time: bool,
    has_visits: bool,
    /// Whether the column with the URLs was found by a usual name because no name was given.
    pub is_found: bool,
    /// The hosts of URLs that are paths; `None` if a path is not a URL.
    hosts: Option<Hosts>,
    /// How the columns are decoded.
    projection: Projection,
    /// The name of the known layout that gave the columns.
    pub(super) layout: Option<&'static str>,
}

/// Returns a column that can hold a value, with the unit of numbers that are times. The error says why it
/// cannot.
fn checked(mut leaf: Leaf, value: Value, unit: Option<TimeUnit>) -> Result<Leaf, String> {
    leaf.unit = unit.or(leaf.unit);
    let (fits, types): (fn(&DataType) -> bool, _) = match value {
        Value::Time if leaf.unit.is_none() && holds_numbers(&leaf.data_type) => {
            return Err(format!(
                "the column {} holds {}; name the unit of the times with ‹time_unit› s, ms, us or ns",
                leaf.name, leaf.data_type
            ));
        }
        Value::Time => (
            |it| holds_times(it) || holds_numbers(it),
            "timestamps, dates, text, or numbers with ‹time_unit›",
        ),
        _ => (holds_bytes, "text or bytes"),
    };
    let fix = format!("name another with {} NAME", value.flag());
    leaf.check(fits, &format!("the {}", value.noun()), types, &fix)?;
    Ok(leaf)
}

/// Finds the column at a place: one, or the members of a text that may have the value. The error says what
/// there is.
fn find(
    file: &Columns<'_>,
    source: &ParquetSource,
    at: &Place,
    value: Value,
) -> Result<Vec<Leaf>, String> {
    let names = file.names();
    if !at.is_asked() {
        let usual = TableColumn::find(&names, at);
        let column = usual.ok_or_else(|| missing(file, source, at, value))?;
        return Ok(vec![file.at(column.only(&names, value)?)]);
    }
    let mut found: Vec<Leaf> = Vec::new();
    for name in at.names() {
        let leaf = match TableColumn::from_name(&names, name) {
            Some(column) => Some(file.at(column.only(&names, value)?)),
            None => named(file, name)?,
        };
        match (leaf, found.first()) {
            (None, _) => {}
            (Some(leaf), None) if leaf.inside.is_none() => return Ok(vec![leaf]),
            (Some(leaf), Some(first)) if leaf.inside.is_none() || leaf.place != first.place => {
                let (noun, [one, other]) = (value.noun(), [first, &leaf].map(|it| &it.name));
                return Err(format!(
                    "the {noun} is in {one}, the member of a text, or in another column, {other}; name one"
                ));
            }
            (Some(leaf), _) => found.push(leaf),
        }
    }
    if found.is_empty() { Err(missing(file, source, at, value)) } else { Ok(found) }
}

/// Finds the column at a path that is its name. The error names two.
fn named(file: &Columns<'_>, name: &str) -> Result<Option<Leaf>, String> {
    let Ok(path) = name.parse() else { return Ok(None) };
    file.find(&path).map_err(|(one, other)| {
        format!("two columns within a structure are called {one} and {other}; rename one")
    })
}

/// Returns the columns next to that of the URLs that could have the parts of them that are `left`.
fn parts_near(
    file: &Columns<'_>,
    source: &ParquetSource,
    leaves: &[(Value, Leaf)],
    left: [bool; LeftPart::ALL.len()],
) -> Vec<(LeftPart, Leaf)> {
    let urls = &leaves[0].1;
    let Ok(path) = urls.name.parse() else { return Vec::new() };
    let nested = layouts::parts_near(&path, &source.leaf_names()).into_iter();
    let nested = nested.filter_map(|(part, path)| Some((part, file.find(&path).ok().flatten()?)));
    let names = file.names();
    let top = names.iter().enumerate();
    let top = top.filter(|(_, name)| !urls.name.starts_with(&format!("{name}.")));
    let top = top.filter_map(|(place, name)| {
        let part = part_near(urls.name.as_bytes(), name.as_bytes(), false)?;
        Some((part, file.at(place)))
    });
    let mut found: Vec<(LeftPart, Leaf)> = Vec::new();
    for (part, leaf) in nested.chain(top) {
        let is_read = leaves.iter().any(|(_, it)| it.place == leaf.place);
        let is_new = !is_read && !found.iter().any(|(_, it)| it.place == leaf.place);
        let may_have = !is_null(&leaf.data_type);
        if is_new && may_have && left[part as usize] && leaf.inside.is_none() {
            found.push((part, leaf));
        }
    }
    found
}

/// Whether a column has no value in any row, as writers store one whose values are all null.
fn is_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::List(item) | DataType::LargeList(item) => is_null(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_null(field.data_type())),
        _ => false,
    }
}

/// Returns the problem of a file without the column with a value. It names those with a value a row, and
/// those within structures with dots.
fn missing(file: &Columns<'_>, source: &ParquetSource, at: &Place, value: Value) -> String {
    let names = source.leaf_names();
    let all = source.metadata.file_metadata().schema_descr().num_columns();
    let lists = "columns with lists are not read; make a row of each item";
    match names.len() {
        _ if at.has_numbers_alone() => TableColumn::missing(&file.names(), at, value),
        0 if all > 0 => lists.to_owned(),
        count if count < all => format!("{}; {lists}", TableColumn::missing(&names, at, value)),
        _ => TableColumn::missing(&names, at, value),
    }
}

impl ParquetList {
    /// Opens a file, which errors call `name`. `config` names the columns; the URLs are by
    /// default in the first column with a usual name.
    ///
    /// # Errors
    ///
    /// [`InputError::Open`] if the system cannot read it; [`InputError::List`] if it is not a
    /// complete Parquet file, or a column is missing or cannot hold the values.
    pub fn open(name: &str, file: File, config: &ListConfig) -> Result<ParquetList, InputError> {
        let source = ParquetSource::open(name, file, PageIndexPolicy::Optional)?;
        let is_asked = config.urls.is_asked();
        let (decides_by_time, has_visits) = (config.times.is_asked(), config.clients.is_wanted());
        let list = guarded(move || {
            let file = Columns::of(&source)?;
            let names: Vec<String> = file.names().iter().map(ToString::to_string).collect();
            let known = layouts::known(&[names, source.leaf_names()].concat(), config);
            let (layout, config) = match known {
                Some((layout, config)) => (Some(layout.name), config),
                None => (None, config.clone()),
            };
            config.check(ListFormat::Parquet, true)?;
            let read = |at: &Place, value| {
                let of_folder = |problem| advice::of_folder(name, at, value).unwrap_or(problem);
                let leaves = find(&file, &source, at, value).map_err(of_folder)?;
                // A row without a URL is invalid. Other values may be missing from all rows.
                let may_have = |leaf: &Leaf| value == Value::Url || !is_null(&leaf.data_type);
                let leaves = leaves.into_iter().filter(may_have);
                leaves.map(|leaf| checked(leaf, value, config.unit)).collect()
            };
            let places = config.places();
            let mut leaves: Vec<(Value, Leaf)> = Vec::new();
            for (value, at) in Value::ALL.into_iter().zip(places) {
                let found: Result<Vec<Leaf>, String> = match value == Value::Url || at.is_read() {
                    true => read(at, value),
                    false => continue,
                };
                let found = match found {
                    // Nobody asked for it, so it is missing if its column cannot hold it.
                    Err(_) if value != Value::Url && !at.is_asked() => continue,
                    found => found?,
                };
                leaves.extend(found.into_iter().map(|leaf| (value, leaf)));
            }
            let hosts = config.hosts_in(ListFormat::Parquet);
            let left = LeftPart::all_left(&config, ListFormat::Parquet);
            let left_parts = LeftParts::new(left);
            let has_values = |(_, leaf): &(_, Leaf)| {
                let Leaf { data_type, .. } = leaf;
                holds_bytes(data_type) || holds_numbers(data_type)
            };
            let near = parts_near(&file, &source, &leaves, left).into_iter();
            let (left, mut unreadable): (Vec<_>, Vec<_>) = near.partition(has_values);
            // A flag is no part, in JSON neither.
            let is_part = |(part, leaf): &(LeftPart, Leaf)| {
                leaf.data_type != DataType::Boolean && !may_be_other(*part, &leaf.name)
            };
            unreadable.retain(is_part);
            let all = leaves.iter().map(|(_, leaf)| leaf).chain(left.iter().map(|(_, leaf)| leaf));
            let projection = Projection::new(&source, all)?;
            let numbered: Vec<(usize, &Leaf)> =
                leaves.iter().map(|(value, leaf)| (*value as usize, leaf)).collect();
            let objects = Objects::of(&numbered, &IN_LISTS)?;
            let (unit, places) = (config.unit, places.map(Place::clone));
            let asked = AskedValues { unit, places, fields: Vec::new() };
            Ok(ParquetList {
                leaves,
                left,
                unreadable,
                left_parts,
                objects,
                asked,
                decides_by_time,
                has_visits,
                is_found: !is_asked || layout.is_some(),
                hosts,
                projection,
                layout,
                source,
            })
        });
        list.map_err(|problem| InputError::list(name, problem))
    }

    /// Returns the name of the column with the URLs.
    pub fn column_name(&self) -> &str {
        &self.urls().name
    }

    /// Returns the columns that may have parts of the URL of a path and are not read, by their names.
    pub(super) fn left_columns(&self) -> Vec<(LeftPart, String)> {
        let all = self.left.iter().chain(&self.unreadable);
        all.map(|(part, leaf)| (*part, leaf.name.clone())).collect()
    }

    fn urls(&self) -> &Leaf {
        &self.leaves[0].1
    }

    /// Whether a column, or a member of the objects in one, has a value.
    fn has(&self, value: Value) -> bool {
        self.leaves.iter().any(|leaf| leaf.0 == value)
    }

    /// Whether the time and the client of a request are read.
    pub(super) fn visit_parts(&self) -> [bool; 2] {
        [Value::Time, Value::Client].map(|value| self.has(value))
    }

    /// Returns the names of all columns.
    pub fn column_names(&self) -> Vec<&str> {
        let schema = self.source.metadata.file_metadata().schema();
        schema.get_fields().iter().map(|field| field.name()).collect()
    }

    /// Returns the names of the columns that may hold a URL by their type, not those within structures.
    pub(super) fn names_of_bytes(&self) -> Vec<&str> {
        let holds_bytes = |it: &&ColumnDescPtr| {
            let is_nested = it.max_rep_level() > 0 || it.path().parts().len() > 1;
            it.physical_type() == PhysicalType::BYTE_ARRAY && !is_nested
        };
        let columns = self.source.metadata.file_metadata().schema_descr().columns().iter();
        columns.filter(holds_bytes).map(|it| it.name()).collect()
    }

    /// Returns the file in parts, in order. A part is a row group, or has about as many URLs as a
    /// chunk of a list of lines.
    pub fn parts(self: Arc<ParquetList>, by_row_group: bool) -> PartsOfRows {
        PartsOfRows {
            list: self,
            by_row_group,
            row_group: 0,
            row: 0,
            columns: Vec::new(),
            taken: (0, 0),
        }
    }

    /// Returns the metadata of the URLs in a row group.
    pub(crate) fn chunk(&self, row_group: usize) -> &ColumnChunkMetaData {
        self.source.metadata.row_group(row_group).column(self.urls().place)
    }

    /// Returns the error for damage in the column with the URLs.
    fn damaged_urls(&self, row_group: usize, problem: &str) -> InputError {
        self.source.unreadable(row_group, self.urls().place, &damage(problem))
    }
}

/// Cuts a file into parts, up to the first error.
pub struct PartsOfRows {
    list: Arc<ParquetList>,
    by_row_group: bool,
    /// The row group that is being cut.
    row_group: usize,
    /// The first row that is not in a part.
    row: usize,
    /// The pages of the columns in that row group, the URLs first.
    columns: Vec<ColumnPages>,
    /// The number of pages of URLs that were taken, and of the rows in the last of them that are in no
    /// part yet.
    taken: (usize, usize),
}

impl PartsOfRows {
    /// Whether every row is in a part that was returned.
    pub fn is_at_end(&self) -> bool {
        let left = &self.list.source.metadata.row_groups()[self.row_group..];
        let mut row = self.row as i64;
        left.iter().all(|group| group.num_rows() == std::mem::take(&mut row))
    }

    fn read(&mut self) -> Result<Option<PartOfRows>, InputError> {
        loop {
            let metadata = &self.list.source.metadata;
            if self.row_group == metadata.num_row_groups() {
                return Ok(None);
            }
            let rows = metadata.row_group(self.row_group).num_rows() as usize;
            if self.row == rows {
                self.row_group += 1;
                self.row = 0;
                self.columns.clear();
                continue;
            }
            if self.columns.is_empty() {
                let source = &self.list.source;
                let pages = |leaf: &Leaf| source.page_headers(self.row_group, leaf.place);
                let leaves = self.list.leaves.iter().map(|(_, leaf)| leaf);
                let left = self.list.left.iter().map(|(_, leaf)| leaf);
                self.columns = leaves.chain(left).map(pages).collect::<Result<_, _>>()?;
                self.taken = (0, 0);
            }
            let part = match self.by_row_group {
                true => self.whole_group(rows),
                false => self.next_pages(rows)?,
            };
            self.row += part.rows;
            return Ok(Some(part));
        }
    }

    /// Returns the next part, with this number of rows.
    fn part(&self, rows: usize, batch_rows: usize, memory_bytes: u64) -> PartOfRows {
        let (list, row_group) = (Arc::clone(&self.list), self.row_group);
        let group = list.source.metadata.row_group(row_group);
        let whole: i64 = group.columns().iter().map(|it| it.compressed_size()).sum();
        let share = whole.max(0) as u128 * rows as u128 / group.num_rows() as u128;
        let (first, stored_bytes) = (self.row, share as u64);
        PartOfRows { list, row_group, first, rows, batch_rows, memory_bytes, stored_bytes }
    }

    /// Returns a row group with `rows` rows as a part.
    fn whole_group(&self, rows: usize) -> PartOfRows {
        let columns = || self.columns.iter();
        let batch_rows = columns().map(|it| it.rows_at_once(PARQUET_BATCH_URLS)).min().unwrap_or(1);
        let memory_bytes = columns().map(|it| it.bytes_of_rows(batch_rows as u64)).sum();
        self.part(rows, batch_rows, memory_bytes)
    }

    /// Returns the next part of a row group with `rows` rows: whole pages, up to the bounds.
    fn next_pages(&mut self, rows: usize) -> Result<PartOfRows, InputError> {
        let chunk = self.list.chunk(self.row_group);
        let mean_bytes = (chunk.uncompressed_size().max(0) as usize / rows).max(1);
        let wanted = (CHUNK_BYTES / mean_bytes).clamp(1, PARQUET_PART_ROWS_MAX);
        let (urls, others) = self.columns.split_first().expect("one column has the URLs");
        let (mut taken, mut found) = self.taken;
        let mut bytes = if found > 0 { urls.pages[taken - 1].bytes } else { 0 };
        while (found == 0 || found < wanted && bytes < CHUNK_BYTES as u64)
            && let Some(page) = urls.pages.get(taken)
        {
            taken += 1;
            found += page.rows;
            bytes += page.bytes;
        }
        let count = found.min(PARQUET_PART_ROWS_MAX);
        if count == 0 || count > rows - self.row {
            let problem = format!("its pages do not have the {rows} rows of the row group");
            return Err(self.list.damaged_urls(self.row_group, &problem));
        }
        self.taken = (taken, found - count);
        let others = others.iter().map(|it| it.bytes_of_rows(count as u64)).sum::<u64>();
        let memory_bytes = urls.dictionary_bytes + bytes + others;
        Ok(self.part(count, count, memory_bytes))
    }
}

impl Iterator for PartsOfRows {
    type Item = Result<PartOfRows, InputError>;

    fn next(&mut self) -> Option<Result<PartOfRows, InputError>> {
        self.read().transpose()
    }
}

/// A range of rows in a row group.
#[derive(Clone, Debug)]
pub struct PartOfRows {
    /// The list to which the part belongs.
    pub list: Arc<ParquetList>,
    /// The number of the row group, counted from 0.
    pub row_group: usize,
    /// The first row, within the row group.
    first: usize,
    /// The number of rows.
    pub rows: usize,
    /// The most rows of the column with the URLs that fit into memory at once.
    pub batch_rows: usize,
    /// The bytes of the pages and of the dictionary that are in memory while the URLs are decoded, by
    /// the headers of the pages.
    pub memory_bytes: u64,
    /// The bytes of the file, all columns included, estimated as an equal share for each row.
    pub stored_bytes: u64,
}

impl PartOfRows {
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
        let source = &self.list.source;
        let unreadable = |problem: &str| source.unreadable(self.row_group, column, problem);
        supported_compression(source.metadata.row_group(self.row_group).column(column))
            .map_err(|problem| unreadable(&problem))?;
        let read = || read(Box::new(source.pages(self.row_group, column)?));
        guarded(|| read().map_err(|error| text_of(&error)))
            .map_err(|problem| unreadable(&damage(&problem)))
    }

    /// Returns the URLs in batches, without the first `skipped` rows.
    ///
    /// # Errors
    ///
    /// [`InputError::List`] if the column is damaged.
    pub fn batches(
        &self,
        skipped: usize,
    ) -> Result<impl Iterator<Item = Result<Urls, InputError>>, InputError> {
        let PartOfRows { list, row_group, .. } = self;
        let damaged = |problem: String| list.damaged_urls(*row_group, &problem);
        let rows = self.first + skipped..self.first + self.rows;
        let rows = list.projection.read(&list.source, *row_group, self.batch_rows, rows);
        Ok(rows.map_err(damaged)?.map(move |batch| {
            let other_types =
                || damaged("its values have other types than its metadata".to_owned());
            Urls::of(&batch.map_err(damaged)?, list).ok_or_else(other_types)
        }))
    }
}

/// The times of rows, and what is in doubt.
type Times = Vec<(Option<UnixSeconds>, Doubts)>;

/// Returns the times in a column, or `None` if it has other values.
fn times_of(batch: &RecordBatch, leaf: &Leaf) -> Option<Times> {
    let values = leaf.values(batch, leaf.unit)?;
    let time = |row| match (values.at(row), values.at(row).seconds(leaf.unit)) {
        (_, Some(seconds)) => (in_range(seconds), Doubts::default()),
        (value, None) => (None, doubt_of_time(&value, leaf.unit)),
    };
    Some((0..batch.num_rows()).map(time).collect())
}

/// Decoded values. Texts are not copied.
#[derive(Clone, Debug)]
pub struct Urls {
    list: Arc<ParquetList>,
    rows: usize,
    /// The texts of each value but the time, in the order of [`Value::ALL`]. `None` if it is in no column of
    /// its own.
    texts: [Option<BinaryViewArray>; Value::ALL.len()],
    times: Option<Times>,
    /// The texts of each column of objects.
    objects: Vec<BinaryViewArray>,
    /// The values of each column that may have parts of the URL of a path and is not read.
    left: Vec<ColumnValues>,
}

impl Urls {
    /// Returns the values in a batch, or `None` if it has other types than were asked for.
    fn of(batch: &RecordBatch, list: &Arc<ParquetList>) -> Option<Urls> {
        let (mut texts, mut times) = ([const { None }; Value::ALL.len()], None);
        for (value, leaf) in list.leaves.iter().filter(|(_, leaf)| leaf.inside.is_none()) {
            match value {
                Value::Time => times = Some(times_of(batch, leaf)?),
                _ => texts[*value as usize] = Some(leaf.bytes(batch)?),
            }
        }
        let objects =
            list.objects.iter().map(|objects| objects.texts(batch)).collect::<Option<_>>()?;
        let left =
            list.left.iter().map(|(_, leaf)| leaf.values(batch, None)).collect::<Option<_>>()?;
        Some(Urls { list: Arc::clone(list), rows: batch.num_rows(), texts, times, objects, left })
    }

    /// Fills `block` with rows from `first` on. Returns their number.
    pub(crate) fn fill<'u>(
        &'u self,
        first: usize,
        arena: &'u Arena,
        block: &mut BlockBuffer<'u>,
    ) -> usize {
        let BlockBuffer { records, times, agents, visits, doubts, seen, .. } = block;
        let ParquetList { decides_by_time, has_visits, .. } = *self.list;
        let has_agents = self.list.has(Value::Agent);
        records.clear();
        doubts.clear();
        *seen = 0;
        times.clear();
        agents.clear();
        visits.clear();
        let rows = first..self.rows.min(first + RECORDS_AT_ONCE);
        if let Some(texts) = self.texts_alone() {
            doubts.resize(rows.len(), Doubts::default());
            Vectors::detect().run(Alone { urls: self, texts, rows, arena, records, doubts });
            return records.len();
        }
        for row in rows {
            let values = self.values(row, arena);
            let values = match self.left.is_empty() && self.list.unreadable.is_empty() {
                true => values,
                false => Values { left: self.left_in(row, values.left, arena), ..values },
            };
            if decides_by_time {
                times.push(values.time);
            }
            if has_visits {
                visits.push(Visit::new(values.time, values.client));
            }
            if has_agents {
                agents.push(values.agent.map(|agent| agent_of(agent, arena)).unwrap_or_default());
            }
            *seen |= values.seen;
            let (record, doubt) = self.record(values, arena);
            records.push(record);
            doubts.push(doubt);
        }
        records.len()
    }

    /// Returns the texts of the URLs if nothing else is read of a row, as of most files.
    fn texts_alone(&self) -> Option<&BinaryViewArray> {
        let ParquetList { unreadable, hosts, decides_by_time, has_visits, .. } = &*self.list;
        let has_others = self.times.is_some()
            || hosts.is_some()
            || (*decides_by_time | *has_visits)
            || !(self.objects.is_empty() && self.left.is_empty() && unreadable.is_empty());
        let mut others = (0..).zip(&self.texts).filter(|(value, _)| *value != Value::Url as usize);
        let is_alone = !has_others && others.all(|(_, texts)| texts.is_none());
        self.texts[Value::Url as usize].as_ref().filter(|_| is_alone)
    }

    /// Returns the values in a row.
    #[inline]
    fn values<'u>(&'u self, row: usize, arena: &'u Arena) -> Values<'u> {
        if !self.objects.is_empty() {
            return self.values_with_objects(row, arena);
        }
        let text = |value| {
            let texts: &'u BinaryViewArray = self.texts[value as usize].as_ref()?;
            texts.is_valid(row).then(|| texts.value(row))
        };
        let (time, doubts) = self.time(row);
        Values {
            url: text(Value::Url).ok_or(Problem::Null),
            time,
            agent: text(Value::Agent),
            host: text(Value::Host),
            query: text(Value::Query),
            scheme: text(Value::Scheme),
            client: text(Value::Client),
            doubts,
            seen: 0,
            left: &[],
        }
    }

    fn time(&self, row: usize) -> (Option<UnixSeconds>, Doubts) {
        self.times.as_ref().map_or_else(Default::default, |times| times[row])
    }

    /// Returns the parts in the columns of a row that are not read, besides those in its object.
    fn left_in<'u>(
        &'u self,
        row: usize,
        in_object: &[Left<'u>],
        arena: &'u Arena,
    ) -> &'u [Left<'u>] {
        let columns = self.list.left.iter().zip(&self.left);
        let left = columns.filter_map(|((part, _), values)| Left::of(*part, values.at(row), arena));
        let unreadable = self.list.unreadable.iter();
        let unreadable = unreadable.map(|(part, _)| Left { part: *part, value: UNREADABLE });
        let all = in_object.iter().copied().chain(left).chain(unreadable);
        arena.alloc_slice_copy(&all.collect::<Vec<_>>())
    }

    /// Returns the values in a row with objects, as if the row were an object too.
    fn values_with_objects<'u>(&'u self, row: usize, arena: &'u Arena) -> Values<'u> {
        let mut found = FoundValues::default();
        for (found, texts) in found.iter_mut().zip(&self.texts) {
            if let Some(texts) = texts {
                let text = || FieldValue::Text(Cow::Borrowed(texts.value(row)));
                found.set(0, if texts.is_valid(row) { text() } else { FieldValue::Null });
            }
        }
        let (time, doubts) = self.time(row);
        if self.times.is_some() {
            let time = time.map_or(FieldValue::Null, |time| FieldValue::Time(time.0.cast_signed()));
            found[Value::Time as usize].set(0, time);
        }
        let objects = self.list.objects.iter().zip(&self.objects);
        let mut left = Vec::new();
        for (objects, texts) in objects.filter(|(_, texts)| texts.is_valid(row)) {
            let (members, mut near) = (&objects.members, self.list.left_parts.near());
            if members.read_text(texts.value(row), arena, &mut found, near.as_mut()).is_err() {
                return Values { doubts, ..Values::from_url(Err(Problem::NotJson)) };
            }
            let near = near.filter(|near| !near.found.is_empty());
            left.extend(
                near.into_iter()
                    .flat_map(|near| self.list.left_parts.in_members(near, members, true, arena)),
            );
        }
        let values = self.list.asked.values(&found);
        let left = arena.alloc_slice_copy(&left);
        Values { doubts: doubts.and(values.doubts), left, ..values }
    }

    /// Returns a row with these values as a record without a terminator, and what is in doubt. Its text is the
    /// URL on one line: a line end or NUL in the URL is written as `%0A`, `%0D` or `%00`. The URL itself is
    /// decided as it is.
    #[inline]
    fn record<'u>(&'u self, values: Values<'u>, arena: &'u Arena) -> (Record<'u>, Doubts) {
        let doubts = values.doubts;
        let text = match values.url {
            Ok(text) => text,
            Err(problem) => return (Record::default().with_problem(problem), doubts),
        };
        match values.url_of(text, self.list.hosts.as_ref(), arena) {
            Ok((url, own)) => (on_a_line(url, arena), doubts.and(own)),
            Err(problem) => (on_a_line(text, arena).with_problem(problem), doubts),
        }
    }

    /// Returns a row in which only a URL is read as a record, and what is in doubt.
    #[cold]
    fn rare_record<'u>(&'u self, row: usize, arena: &'u Arena) -> (Record<'u>, Doubts) {
        self.record(self.values(row, arena), arena)
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }
}

/// Rows with nothing but a URL, as records.
struct Alone<'u, 'b> {
    urls: &'u Urls,
    texts: &'u BinaryViewArray,
    rows: Range<usize>,
    arena: &'u Arena,
    records: &'b mut Vec<Record<'u>>,
    doubts: &'b mut [Doubts],
}

impl Work for Alone<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with(self, _: impl Kind) {
        let Alone { urls, texts, rows, arena, records, doubts } = self;
        for (row, doubt) in rows.zip(doubts) {
            let text = if texts.is_valid(row) { texts.value(row) } else { b"" };
            // All but nulls, the requests of logs, and URLs with line ends.
            let is_usual = text.first().is_some_and(|first| !first.is_ascii_uppercase());
            records.push(match is_usual && are_above(b'\r', text) {
                true => Record::plain(text, 0),
                false => {
                    let record;
                    (record, *doubt) = urls.rare_record(row, arena);
                    record
                }
            });
        }
    }
}

/// Returns a record with a URL, whose text is the URL on one line.
#[inline]
fn on_a_line<'u>(url: &'u [u8], arena: &'u Arena) -> Record<'u> {
    // Most URLs have no byte as low as these.
    if are_above(b'\r', url) || memchr::memchr3(b'\n', b'\r', 0, url).is_none() {
        return Record::plain(url, 0);
    }
    Record::plain(arena.alloc_slice_copy(&on_one_line(url)), 0).with_url(url)
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
