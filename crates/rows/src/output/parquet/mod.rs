//! Writes Parquet outputs: a list with the added columns after its own, or with the kept rows only.
//!
//! Threads encode the columns of a row group ([`AddedColumns`], [`keep`]) into an [`EncodedGroup`],
//! and a [`ParquetWriter`] writes these groups to a file, in order.
//!
//! | input | output | what happens |
//! |---|---|---|
//! | Parquet | the rows with added columns | the input's columns are copied as they are stored, byte for byte |
//! | Parquet | some rows, all columns | values are copied row by row, in Parquet's own types |
//! | text | `url` and the added columns | all are encoded |
//! | none | rows of their own | all are encoded |
//!
//! A column is never converted to another type, so nested columns, old timestamps and unknown types
//! are preserved, with their field ids. The file's metadata is copied (see [`schema`]). Each column
//! chunk keeps its compression.
//!
//! Memory: one encoded row group for each row group in flight. Added columns take a few bits per
//! row.
//!
//! Errors: a damaged input is an [`InputError`] with its place; a [`ParquetError`] is one of the encoder
//! or the output.

mod added;
mod kept;
pub mod schema;

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_writer::ArrowColumnChunk;
use parquet::basic::Compression;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
pub use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;

use crate::input::InputError;
use crate::list::parquet::{ParquetList, ParquetSource, PartOfRows, StoredFile};

pub use added::AddedColumns;
pub(super) use added::AddedRows;
pub use kept::keep;
pub use schema::Template;

/// An encoded column of a row group.
#[derive(Clone, Debug)]
struct EncodedColumn {
    bytes: Bytes,
    close: ColumnCloseResult,
}

/// An encoded row group.
#[derive(Debug, Default)]
pub struct EncodedGroup {
    /// The row group whose stored columns come first.
    copied: Option<PartOfRows>,
    /// Columns of which some rows were copied.
    columns: Vec<EncodedColumn>,
    /// The columns after them.
    added: Vec<ArrowColumnChunk>,
}

impl EncodedGroup {
    /// Returns a row group as it is stored.
    ///
    /// # Errors
    ///
    /// If a column does not begin with a page. It is damaged, or encrypted, and a copy would lose
    /// the data needed to decrypt it.
    fn of_part(part: &PartOfRows) -> Result<EncodedGroup, InputError> {
        part.list.source.check_copy()?;
        let metadata = &part.list.source.metadata;
        for column in 0..metadata.row_group(part.row_group).num_columns() {
            part.read_column(column, |mut pages| pages.peek_next_page().map(|_| ()))?;
        }
        Ok(EncodedGroup { copied: Some(part.clone()), ..EncodedGroup::default() })
    }

    /// Whether the group has no columns to write.
    pub fn is_empty(&self) -> bool {
        self.copied.is_none() && self.columns.is_empty() && self.added.is_empty()
    }
}

/// A Parquet file that is being written.
pub struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    template: Arc<Template>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file with the schema and metadata of `template`.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn new(out: W, template: Arc<Template>) -> Result<ParquetWriter<W>, ParquetError> {
        let properties = WriterProperties::builder()
            .set_writer_version(template.version)
            .set_created_by(concat!("portcullis version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_sorting_columns(template.sorting.clone())
            .set_offset_index_disabled(!template.has_page_index)
            .build();
        let schema = Arc::clone(&template.schema);
        let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
        template.metadata.iter().for_each(|it| file.append_key_value_metadata(it.clone()));
        Ok(ParquetWriter { file, template })
    }

    /// Writes a row group.
    ///
    /// # Errors
    ///
    /// If the output cannot be written or the copied columns cannot be read.
    pub fn write(&mut self, group: EncodedGroup) -> Result<(), ParquetError> {
        if group.is_empty() {
            return Ok(());
        }
        let mut out = self.file.next_row_group()?;
        if let Some(part) = &group.copied {
            let ParquetSource { file, metadata, .. } = &part.list.source;
            let row_group = part.row_group;
            for (column, chunk) in metadata.row_group(row_group).columns().iter().enumerate() {
                let close = as_stored(metadata, (row_group, column), chunk, part.rows, file)?;
                out.append_column(&**file, close)?;
            }
        }
        for EncodedColumn { bytes, mut close } in group.columns {
            if !self.template.has_page_index {
                (close.column_index, close.offset_index) = (None, None);
            }
            out.append_column(&bytes, close)?;
        }
        for mut column in group.added {
            if !self.template.has_page_index {
                let close = column.close_mut();
                (close.column_index, close.offset_index) = (None, None);
            }
            column.append_to_row_group(&mut out)?;
        }
        out.close()?;
        Ok(())
    }

    /// Ends the file with `account`, a JSON object about the run, in its metadata.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn finish(mut self, account: String) -> Result<W, ParquetError> {
        let account = KeyValue::new(self.template.account_key(), account);
        self.file.append_key_value_metadata(account);
        self.file.into_inner()
    }
}

/// The compression of lists that are not Parquet.
const TEXT_COMPRESSION: Compression = Compression::SNAPPY;

/// Returns the Parquet version of the file.
fn version_of(list: &ParquetList) -> WriterVersion {
    match list.source.metadata.file_metadata().version() {
        ..2 => WriterVersion::PARQUET_1_0,
        _ => WriterVersion::PARQUET_2_0,
    }
}

/// Returns the result that a writer of the stored column chunk would have returned.
fn as_stored(
    metadata: &ParquetMetaData,
    (row_group, column): (usize, usize),
    chunk: &ColumnChunkMetaData,
    rows: usize,
    file: &StoredFile,
) -> Result<ColumnCloseResult, ParquetError> {
    let index = metadata.page_index();
    Ok(ColumnCloseResult {
        bytes_written: chunk.compressed_size() as u64,
        rows_written: rows as u64,
        metadata: chunk.clone(),
        bloom_filter: Sbbf::read_from_column_chunk(chunk, file)?,
        column_index: index.and_then(|it| it.column_index(row_group, column)).cloned(),
        offset_index: index.and_then(|it| it.offset_index(row_group, column)).cloned(),
    })
}

/// Returns the writer properties for added columns.
fn properties(version: WriterVersion, compression: Compression) -> WriterPropertiesBuilder {
    WriterProperties::builder().set_writer_version(version).set_compression(compression)
}
