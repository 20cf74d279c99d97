//! Encodes the added columns of a row group on the thread that decides its URLs.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::PageWriter;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::limits::{PARQUET_BATCH_URLS, RECORDS_AT_ONCE};
use portcullis_io::input::Record;
use portcullis_set::Damage;
use portcullis_set::batch::Session;

use super::schema::url_schema;
use super::{EncodedColumn, EncodedGroup, TEXT_COMPRESSION, properties, version_of};
use crate::columns::{Column, Columns, Field, FieldKind, Values, bits, state_word};
use crate::{ChunkError, Counts, Piece, Rejects, decide_block};

/// Encodes the added columns of row groups.
#[derive(Clone, Debug)]
pub struct AddedColumns {
    columns: Columns,
    fields: Vec<Field>,
    /// The column of URLs, for lists that are not Parquet, and the added columns.
    schema: Arc<SchemaDescriptor>,
}

impl AddedColumns {
    /// Returns an encoder of the columns with these names.
    pub fn new(columns: Columns, fields: Vec<Field>) -> AddedColumns {
        let schema = Arc::new(SchemaDescriptor::new(url_schema(&fields)));
        AddedColumns { columns, fields, schema }
    }

    /// Decides the records of a chunk, counts them, and encodes the added columns, after the
    /// columns of a row group or after the URLs of a text list.
    ///
    /// # Errors
    ///
    /// If the input or the set is damaged.
    pub fn encode(
        &self,
        mut piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
    ) -> Result<EncodedGroup, ChunkError> {
        let part = piece.rows().part();
        let (first, how) = match part {
            Some(part) => (1, (version_of(part), part.url_compression())),
            None => (0, (WriterVersion::PARQUET_1_0, TEXT_COMPRESSION)),
        };
        let columns = self.encode_from(first, how, |values| {
            piece.read(0, |block, rejects| {
                values.add(block, session, counts, rejects)?;
                Ok(true)
            })
        })?;
        match part {
            Some(part) => Ok(EncodedGroup::beside(part, columns)?),
            None => Ok(EncodedGroup { copied: None, columns }),
        }
    }

    /// Encodes the columns from `first` on, with the values that `fill` adds.
    fn encode_from(
        &self,
        first: usize,
        (version, compression): (WriterVersion, Compression),
        fill: impl FnOnce(&mut AddedValues<'_, '_>) -> Result<(), ChunkError>,
    ) -> Result<Vec<EncodedColumn>, ChunkError> {
        let described = &self.schema.columns()[first..];
        let has_url = first == 0;
        let mut sinks = sinks(described.len());
        let writers =
            sinks.iter_mut().zip(described).enumerate().map(|(number, (sink, column))| {
                let properties = properties(version, compression)
                    // URLs rarely repeat.
                    .set_dictionary_enabled(!(has_url && number == 0));
                (writer(column, properties, sink), Buffer::default())
            });
        let mut values = AddedValues {
            columns: &self.columns,
            fields: &self.fields,
            words: Words::default(),
            has_url,
            writers: writers.collect(),
            rows: 0,
            has_rows: false,
        };
        fill(&mut values)?;
        if !values.has_rows {
            return Ok(Vec::new());
        }
        let closed = values.close()?;
        encoded(sinks, closed)
    }
}

/// The words of verdicts and reasons, shared by all values.
struct Words {
    verdicts: [ByteArray; Verdict::ALL.len()],
    reasons: [ByteArray; Reason::ALL.len()],
}

impl Default for Words {
    fn default() -> Words {
        let word = |word: &'static str| ByteArray::from(Bytes::from_static(word.as_bytes()));
        Words {
            verdicts: Verdict::ALL.map(|verdict| word(verdict.as_str())),
            reasons: Reason::ALL.map(|reason| word(reason.as_str())),
        }
    }
}

impl Words {
    /// Adds the value of a column of one agent to its buffer.
    fn push(&self, values: &Values<'_>, column: Column, buffer: &mut Buffer) {
        let owned = |text: Cow<'_, [u8]>| String::from_utf8_lossy(&text).into_owned().into_bytes();
        match column {
            Column::Verdict => {
                buffer.texts.push(self.verdicts[values.verdict as usize].clone());
            }
            Column::Reason => buffer.texts.push(self.reasons[values.reason as usize].clone()),
            Column::Usage(_) => {
                let word = values.text(column).unwrap_or_default();
                buffer.texts.push(ByteArray::from(word.into_owned()));
            }
            Column::Line => {
                // A file of 64 MiB has fewer lines than `i32::MAX`.
                let line = values.line.and_then(|line| i32::try_from(line.get()).ok());
                buffer.present.push(i16::from(line.is_some()));
                buffer.numbers.extend(line);
            }
            Column::Rule | Column::Group => {
                buffer.push_text(values.text(column).map(|text| ByteArray::from(owned(text))));
            }
        }
    }
}

/// The values of a column that are not written yet.
#[derive(Default)]
struct Buffer {
    texts: Vec<ByteArray>,
    numbers: Vec<i32>,
    /// For each row, 1 for a value and 0 for null. Not used by columns without nulls.
    present: Vec<i16>,
}

impl Buffer {
    fn push_text(&mut self, text: Option<ByteArray>) {
        self.present.push(i16::from(text.is_some()));
        self.texts.extend(text);
    }
}

/// Buffers the values of added columns for the writers.
struct AddedValues<'t, 's> {
    columns: &'t Columns,
    fields: &'t [Field],
    words: Words,
    /// Whether the first column is the URL.
    has_url: bool,
    writers: Vec<(ColumnWriter<'s>, Buffer)>,
    /// The number of rows in the buffers.
    rows: usize,
    has_rows: bool,
}

impl AddedValues<'_, '_> {
    /// Decides and counts a block of records, and adds the values of each record.
    fn add(
        &mut self,
        block: &[Record<'_>],
        session: &mut Session,
        counts: &mut Counts,
        rejects: &mut Rejects,
    ) -> Result<(), ChunkError> {
        if self.has_url {
            self.add_urls(block);
        }
        let decisions = decide_block(block, session, counts, rejects)?;
        for (place, decisions) in decisions.chunks_exact(counts.agents().len()).enumerate() {
            self.add_row(place, decisions, session)?;
        }
        // Rules are read after the session compared the length of a mapped set.
        session.classifier().set().is_whole()?;
        self.rows += block.len();
        self.has_rows = true;
        if self.rows + RECORDS_AT_ONCE > PARQUET_BATCH_URLS {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds the URLs of a block, which share their memory.
    fn add_urls(&mut self, block: &[Record<'_>]) {
        let mut ends = Vec::with_capacity(block.len());
        let mut joined = Vec::new();
        for record in block {
            // The column is text, which must be UTF-8.
            joined.extend_from_slice(String::from_utf8_lossy(record.url()).as_bytes());
            ends.push(joined.len());
        }
        let joined = Bytes::from(joined);
        let mut start = 0;
        let texts = &mut self.writers[0].1.texts;
        for end in ends {
            texts.push(joined.slice(start..end).into());
            start = end;
        }
    }

    fn add_row(
        &mut self,
        place: usize,
        decisions: &[Decision],
        session: &mut Session,
    ) -> Result<(), Damage> {
        let buffers = self.writers.iter_mut().skip(usize::from(self.has_url));
        let mut buffers = buffers.map(|(_, buffer)| buffer);
        let per_agent = self.columns.per_agent();
        let agents = if per_agent.is_empty() { &[][..] } else { decisions };
        for (agent, decision) in agents.iter().enumerate() {
            let values = Values::read(self.columns, decision, session, place, agent)?;
            for (&column, buffer) in per_agent.iter().zip(&mut buffers) {
                self.words.push(&values, column, buffer);
            }
        }
        for (field, buffer) in self.fields.iter().skip(agents.len() * per_agent.len()).zip(buffers)
        {
            match field.kind {
                FieldKind::State => {
                    let state = session.state(place)?;
                    let word = state.map(|state| state_word(Some(state)).as_bytes());
                    buffer.push_text(word.map(|word| Bytes::from_static(word).into()));
                }
                FieldKind::Bits => {
                    let mut bytes = Vec::new();
                    let bits = bits(decisions, &mut bytes).is_ok();
                    buffer.push_text(bits.then(|| bytes.into()));
                }
                FieldKind::Agent(..) => unreachable!("the columns of agents come first"),
            }
        }
        Ok(())
    }

    /// Closes the columns.
    fn close(mut self) -> Result<Vec<ColumnCloseResult>, ParquetError> {
        self.flush()?;
        self.writers.into_iter().map(|(writer, _)| writer.close()).collect()
    }

    /// Writes the buffered values.
    fn flush(&mut self) -> Result<(), ParquetError> {
        for (writer, buffer) in &mut self.writers {
            let present = (!buffer.present.is_empty()).then_some(&*buffer.present);
            match writer {
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    writer.write_batch(&buffer.texts, present, None)?;
                }
                ColumnWriter::Int32ColumnWriter(writer) => {
                    writer.write_batch(&buffer.numbers, present, None)?;
                }
                _ => unreachable!("added columns are texts or numbers"),
            }
            buffer.texts.clear();
            buffer.numbers.clear();
            buffer.present.clear();
        }
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
) -> Result<Vec<EncodedColumn>, ChunkError> {
    let columns = sinks
        .into_iter()
        .zip(closed)
        .map(|(sink, close)| Ok(EncodedColumn { bytes: Bytes::from(sink.into_inner()?), close }));
    columns.collect()
}
