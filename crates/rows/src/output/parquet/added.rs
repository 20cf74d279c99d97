//! Encodes the added columns of a row group on the thread that decides its URLs.

use std::sync::Arc;

use bytes::Bytes;
use parquet::column::page::PageWriter;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use portcullis_dialect::limits::RECORDS_AT_ONCE;

use super::schema::{row_schema, url_schema};
use super::{EncodedColumn, EncodedGroup, TEXT_COMPRESSION, properties, version_of};
use crate::input::{InputError, Record};
use crate::limits::PARQUET_BATCH_URLS;
use crate::list::parquet::Part;
use crate::output::added::{Added, Lists, Values};
use crate::output::columns::{Columns, Field};

/// Encodes the added columns of row groups.
#[derive(Clone, Debug)]
pub struct AddedColumns {
    /// The columns, without rows.
    none: Added,
    fields: Vec<Field>,
    /// The column of URLs, for lists that are not Parquet, and the added columns.
    schema: Arc<SchemaDescriptor>,
}

impl AddedColumns {
    /// Returns an encoder of `columns` for this number of agents, with the names in `fields`.
    pub fn new(columns: &Columns, agents: usize, fields: Vec<Field>) -> AddedColumns {
        let schema = Arc::new(SchemaDescriptor::new(url_schema(&fields)));
        AddedColumns { none: Added::new(columns, agents), fields, schema }
    }

    /// Encodes the rows that `fill` adds: beside the columns of `part`, or beside their URLs if they
    /// are not from Parquet.
    ///
    /// # Errors
    ///
    /// The error of `fill`, of the input or of the encoder.
    pub fn encode<E: From<InputError> + From<ParquetError>>(
        &self,
        part: Option<&Part>,
        fill: impl FnOnce(&mut AddedRows<'_>) -> Result<(), E>,
    ) -> Result<EncodedGroup, E> {
        let (version, compression) = match part {
            Some(part) => (version_of(part), part.url_compression()),
            None => (WriterVersion::PARQUET_1_0, TEXT_COMPRESSION),
        };
        let has_url = part.is_none();
        let described = &self.schema.columns()[usize::from(!has_url)..];
        let mut sinks = sinks(described.len());
        let columns = sinks.iter_mut().zip(described).enumerate();
        let mut writers = columns.map(|(number, (sink, column))| {
            // URLs rarely repeat.
            let has_dictionary = !(has_url && number == 0);
            let properties =
                properties(version, compression).set_dictionary_enabled(has_dictionary);
            writer(column, properties, sink)
        });
        let mut rows = AddedRows {
            url: if has_url { writers.next() } else { None },
            urls: Vec::new(),
            columns: self.fields.iter().zip(writers).map(|it| Column::new(it.0, it.1)).collect(),
            added: self.none.clone(),
            rows: 0,
            has_rows: false,
        };
        fill(&mut rows)?;
        let columns = match rows.has_rows {
            true => {
                let closed = rows.close()?;
                encoded(sinks, closed)?
            }
            false => Vec::new(),
        };
        Ok(match part {
            Some(part) => EncodedGroup::beside(part, columns)?,
            None => EncodedGroup { copied: None, columns },
        })
    }
}

/// Encodes rows that stand alone, without records of a list.
#[derive(Clone, Debug)]
pub struct RowColumns {
    fields: Vec<Field>,
    schema: Arc<SchemaDescriptor>,
}

impl RowColumns {
    /// Returns an encoder of rows with these columns.
    pub fn new(fields: Vec<Field>) -> RowColumns {
        let schema = Arc::new(SchemaDescriptor::new(row_schema(&fields)));
        RowColumns { fields, schema }
    }

    /// Encodes the rows of a row group: `fill` replaces the rows in [`Added`] by the next ones, until
    /// there are no more.
    ///
    /// # Errors
    ///
    /// The error of `fill` or of the encoder.
    pub fn encode<E: From<ParquetError>>(
        &self,
        mut fill: impl FnMut(&mut Added) -> Result<(), E>,
    ) -> Result<EncodedGroup, E> {
        let described = self.schema.columns();
        let mut sinks = sinks(described.len());
        let writers = sinks.iter_mut().zip(described).map(|(sink, column)| {
            writer(column, properties(WriterVersion::PARQUET_1_0, TEXT_COMPRESSION), sink)
        });
        let mut columns: Vec<Column<'_>> =
            self.fields.iter().zip(writers).map(|it| Column::new(it.0, it.1)).collect();
        let mut rows = Added::of(self.fields.iter().map(|field| field.kind));
        let mut has_rows = false;
        loop {
            fill(&mut rows)?;
            if rows.rows() == 0 {
                break;
            }
            has_rows = true;
            for (column, values) in columns.iter_mut().zip(rows.columns()) {
                column.write(values)?;
            }
        }
        let closed = columns.into_iter().map(|column| column.writer.close());
        let closed: Vec<ColumnCloseResult> = closed.collect::<Result<_, _>>()?;
        let columns = if has_rows { encoded(sinks, closed)? } else { Vec::new() };
        Ok(EncodedGroup { copied: None, columns })
    }
}

/// An added column that is being encoded.
struct Column<'s> {
    writer: ColumnWriter<'s>,
    /// The words of the column, shared by all values.
    words: Vec<ByteArray>,
    is_nullable: bool,
}

impl<'s> Column<'s> {
    fn new(field: &Field, writer: ColumnWriter<'s>) -> Column<'s> {
        let word = |word: &'static str| ByteArray::from(Bytes::from_static(word.as_bytes()));
        let words = field.kind.words().into_iter().map(word).collect();
        Column { writer, words, is_nullable: field.kind.value_type().1 }
    }

    fn write(&mut self, values: &Values) -> Result<(), ParquetError> {
        let Column { writer, words, is_nullable } = self;
        match values {
            Values::Words(numbers) => {
                let word = |number: u8| words[usize::from(number)].clone();
                write_all(writer, numbers.numbers().map(|it| it.map(word)), *is_nullable)
            }
            Values::Texts(texts) => {
                // The column is text, which must be UTF-8.
                let text = |text| String::from_utf8_lossy(text).into_owned().into_bytes().into();
                write_all(writer, texts.iter().map(|it| it.map(text)), *is_nullable)
            }
            Values::Repeated(repeated) => {
                // The column is text, which must be UTF-8.
                let text = |text| String::from_utf8_lossy(text).into_owned().into_bytes().into();
                let texts: Vec<Option<ByteArray>> =
                    repeated.texts().map(|it| it.map(text)).collect();
                let numbers = repeated.numbers().iter();
                write_all(writer, numbers.map(|&it| texts[it as usize].clone()), *is_nullable)
            }
            Values::Lists(lists) => write_lists(writer, lists),
            Values::Flags(flags) => {
                let ColumnWriter::BoolColumnWriter(writer) = writer else {
                    unreachable!("the column has flags")
                };
                writer.write_batch(flags, None, None).map(drop)
            }
            Values::Doubles(doubles) => {
                let present: Vec<i16> = doubles.iter().map(|it| i16::from(it.is_some())).collect();
                let there: Vec<f64> = doubles.iter().flatten().copied().collect();
                let ColumnWriter::DoubleColumnWriter(writer) = writer else {
                    unreachable!("the column has doubles")
                };
                writer.write_batch(&there, Some(&present), None).map(drop)
            }
            Values::Times(times) => {
                let present: Vec<i16> = times.iter().map(|it| i16::from(it.is_some())).collect();
                let there = times.iter().flatten().map(|time| time.to_milliseconds());
                let there: Vec<i64> = there.collect();
                let ColumnWriter::Int64ColumnWriter(writer) = writer else {
                    unreachable!("the column has times")
                };
                writer.write_batch(&there, Some(&present), None).map(drop)
            }
            Values::Numbers(numbers) => {
                // A file of 64 MiB has fewer lines than `i32::MAX`.
                let numbers = || numbers.iter().map(|it| it.and_then(|it| i32::try_from(it).ok()));
                let present: Vec<i16> = numbers().map(|it| i16::from(it.is_some())).collect();
                let there: Vec<i32> = numbers().flatten().collect();
                let ColumnWriter::Int32ColumnWriter(writer) = writer else {
                    unreachable!("the column has numbers")
                };
                writer.write_batch(&there, is_nullable.then_some(&*present), None).map(drop)
            }
        }
    }
}

/// Writes texts, some of which may be missing.
fn write_all(
    writer: &mut ColumnWriter<'_>,
    texts: impl Iterator<Item = Option<ByteArray>>,
    is_nullable: bool,
) -> Result<(), ParquetError> {
    let (mut there, mut present) = (Vec::new(), Vec::new());
    for text in texts {
        present.push(i16::from(text.is_some()));
        there.extend(text);
    }
    write_texts(writer, &there, is_nullable.then_some(&*present))
}

/// Writes lists. Definition level 1 is an element, 0 an empty list; repetition level 1 continues one.
fn write_lists(writer: &mut ColumnWriter<'_>, lists: &Lists) -> Result<(), ParquetError> {
    let ColumnWriter::ByteArrayColumnWriter(writer) = writer else {
        unreachable!("the column has lists of texts")
    };
    // The column is text, which must be UTF-8.
    let text = |text| String::from_utf8_lossy(text).into_owned().into_bytes().into();
    let texts: Vec<ByteArray> = lists.texts().map(text).collect();
    let (mut there, mut present, mut continues) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..lists.rows() {
        let list = &texts[lists.places(row)];
        present.extend(std::iter::repeat_n(1, list.len()));
        continues.extend((0..list.len()).map(|place| i16::from(place > 0)));
        if list.is_empty() {
            present.push(0);
            continues.push(0);
        }
        there.extend_from_slice(list);
        // Rows share long lists.
        if there.len() >= PARQUET_BATCH_URLS || row + 1 == lists.rows() {
            writer.write_batch(&there, Some(&present), Some(&continues))?;
            there.clear();
            present.clear();
            continues.clear();
        }
    }
    Ok(())
}

fn write_texts(
    writer: &mut ColumnWriter<'_>,
    texts: &[ByteArray],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let ColumnWriter::ByteArrayColumnWriter(writer) = writer else {
        unreachable!("the column has texts")
    };
    writer.write_batch(texts, present, None).map(drop)
}

/// The rows of a row group that is being encoded.
pub struct AddedRows<'s> {
    /// The column of URLs, if they are not in the input's columns.
    url: Option<ColumnWriter<'s>>,
    /// The URLs that are not written yet.
    urls: Vec<ByteArray>,
    columns: Vec<Column<'s>>,
    /// The values that are not written yet.
    added: Added,
    /// The number of rows that are not written yet.
    rows: usize,
    has_rows: bool,
}

impl AddedRows<'_> {
    /// Adds a block of records, whose values `fill` appends: as many rows for each record.
    ///
    /// # Errors
    ///
    /// The error of `fill` or of the encoder.
    pub fn add<E: From<ParquetError>>(
        &mut self,
        block: &[Record<'_>],
        fill: impl FnOnce(&mut Added) -> Result<(), E>,
    ) -> Result<(), E> {
        fill(&mut self.added)?;
        let new = self.added.rows() - self.rows;
        if self.url.is_some() {
            self.add_urls(block, new / block.len().max(1));
        }
        self.rows += new;
        self.has_rows = true;
        if self.rows + RECORDS_AT_ONCE > PARQUET_BATCH_URLS {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds the URLs of a block, which share their memory, each for so many rows.
    fn add_urls(&mut self, block: &[Record<'_>], rows: usize) {
        let mut ends = Vec::with_capacity(block.len());
        let mut joined = Vec::new();
        for record in block {
            // The column is text, which must be UTF-8.
            joined.extend_from_slice(String::from_utf8_lossy(record.url()).as_bytes());
            ends.push(joined.len());
        }
        let joined = Bytes::from(joined);
        let mut start = 0;
        for end in ends {
            let url = ByteArray::from(joined.slice(start..end));
            self.urls.extend(std::iter::repeat_n(url, rows));
            start = end;
        }
    }

    /// Closes the columns.
    fn close(mut self) -> Result<Vec<ColumnCloseResult>, ParquetError> {
        self.flush()?;
        let columns = self.columns.into_iter().map(|column| column.writer);
        self.url.into_iter().chain(columns).map(|writer| writer.close()).collect()
    }

    /// Writes the rows that are not written yet.
    fn flush(&mut self) -> Result<(), ParquetError> {
        if let Some(url) = &mut self.url {
            write_texts(url, &self.urls, None)?;
            self.urls.clear();
        }
        for (column, values) in self.columns.iter_mut().zip(self.added.columns()) {
            column.write(values)?;
        }
        self.added.clear();
        self.rows = 0;
        Ok(())
    }
}

/// The buffer that a column is encoded into.
pub(super) type Sink = TrackedWrite<Vec<u8>>;

pub(super) fn sinks(count: usize) -> Vec<Sink> {
    (0..count).map(|_| TrackedWrite::new(Vec::new())).collect()
}

/// Returns a writer of one column into `sink`.
pub(super) fn writer<'s>(
    column: &ColumnDescPtr,
    properties: WriterPropertiesBuilder,
    sink: &'s mut Sink,
) -> ColumnWriter<'s> {
    let properties: Arc<WriterProperties> = Arc::new(properties.build());
    let pages: Box<dyn PageWriter + 's> = Box::new(SerializedPageWriter::new(sink));
    get_column_writer(Arc::clone(column), properties, pages)
}

/// Returns the encoded columns in the sinks of closed writers.
pub(super) fn encoded(
    sinks: Vec<Sink>,
    closed: Vec<ColumnCloseResult>,
) -> Result<Vec<EncodedColumn>, ParquetError> {
    let columns = sinks
        .into_iter()
        .zip(closed)
        .map(|(sink, close)| Ok(EncodedColumn { bytes: Bytes::from(sink.into_inner()?), close }));
    columns.collect()
}
