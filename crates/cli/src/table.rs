//! Tables whose rows stand alone, without records of a list: those of `survey` and `diff`, as text or as
//! Parquet.
//!
//! Threads encode blocks of rows with an [`Encoder`], and one thread writes the blocks to the
//! [`TableFile`].

use portcullis_files::compression::Coding;
use portcullis_rows::input::Terminator;
use portcullis_rows::output::columns::Field;
use portcullis_rows::output::csv::Csv;
use portcullis_rows::output::json_lines::JsonLines;
use portcullis_rows::output::parquet::{AddedColumns, EncodedGroup, Template};
use portcullis_rows::output::tsv::Tsv;
use portcullis_rows::output::{Added, TextRows};

use super::limits::SURVEY_TEXT_ROWS;
use super::output::{CompleteOutput, Compressor, Destination, Output};
use super::rows::{self, RowFile};
use super::values::Format;

/// Opens an output for rows of a format.
///
/// # Errors
///
/// If it cannot be opened, or cannot hold the format.
pub fn open(format: Format, destination: &Destination) -> anyhow::Result<Output> {
    if format != Format::Parquet {
        return Ok(Output::open(destination)?);
    }
    let prints = *destination == Destination::StandardOutput;
    rows::not_to_terminal(prints, "-o FILE.parquet, or --format tsv")?;
    rows::not_compressed(destination)?;
    Ok(Output::open_as_is(destination)?)
}

/// Encodes the rows of a table.
pub struct Encoder {
    fields: Vec<Field>,
    form: Form,
    compression: Option<Coding>,
}

enum Form {
    Text(Box<dyn TextRows + Send>),
    Parquet(AddedColumns),
}

/// The output of a table.
pub enum TableFile {
    /// The output, and the header until it is written: a run that fails at once prints nothing.
    Text(Output, Vec<u8>),
    Parquet(RowFile),
}

/// Encoded rows.
pub enum Block {
    Text(Vec<u8>),
    Parquet(EncodedGroup),
}

impl Default for Block {
    fn default() -> Block {
        Block::Text(Vec::new())
    }
}

/// Begins a table with these columns. The lines of a text end with `terminator`.
///
/// # Errors
///
/// If the output cannot be written.
pub fn begin(
    output: Output,
    format: Format,
    fields: Vec<Field>,
    terminator: Terminator,
) -> anyhow::Result<(Encoder, TableFile)> {
    let compression = output.compression();
    let text: Box<dyn TextRows + Send> = match format {
        Format::Parquet => {
            let file = RowFile::new(output, Template::from_rows(&fields))?;
            let form = Form::Parquet(AddedColumns::of_rows(fields.clone()));
            return Ok((Encoder { fields, form, compression }, TableFile::Parquet(file)));
        }
        Format::Csv => Box::new(Csv::default()),
        Format::Jsonl => Box::new(JsonLines::new(&fields)),
        _ => Box::new(Tsv(terminator)),
    };
    let file = TableFile::Text(output, text.header(None, &fields));
    Ok((Encoder { fields, form: Form::Text(text), compression }, file))
}

impl Encoder {
    /// Returns the columns without rows.
    pub fn none(&self) -> Added {
        Added::of(self.fields.iter().map(|field| field.kind))
    }

    /// Encodes rows: `fill` replaces those in [`Added`] by the next ones, until there are no more.
    ///
    /// # Errors
    ///
    /// The error of `fill` or of the encoder.
    pub fn encode(
        &self,
        mut fill: impl FnMut(&mut Added) -> anyhow::Result<()>,
    ) -> anyhow::Result<Block> {
        let rows = match &self.form {
            Form::Parquet(columns) => return columns.encode_rows(fill).map(Block::Parquet),
            Form::Text(rows) => rows,
        };
        let (mut added, mut out) = (self.none(), Vec::new());
        loop {
            fill(&mut added)?;
            if added.rows() == 0 {
                Compressor::default().compress(self.compression, &mut out)?;
                return Ok(Block::Text(out));
            }
            rows.push(None, &added, &mut out)?;
        }
    }

    /// Encodes the rows in `added`, which has none afterwards.
    ///
    /// # Errors
    ///
    /// If they cannot be encoded.
    pub fn encode_all(&self, added: &mut Added) -> anyhow::Result<Block> {
        let mut is_first = true;
        self.encode(|next| {
            next.clear();
            if std::mem::take(&mut is_first) {
                std::mem::swap(next, added);
            }
            Ok(())
        })
    }
}

impl TableFile {
    /// Writes a block.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write(&mut self, block: Block) -> anyhow::Result<()> {
        match (self, block) {
            (TableFile::Text(..), Block::Text(text)) if text.is_empty() => Ok(()),
            (TableFile::Text(output, header), Block::Text(text)) => {
                output.write(&std::mem::take(header))?;
                Ok(output.write_compressed(&text)?)
            }
            (TableFile::Parquet(file), Block::Parquet(group)) => file.write(group),
            _ => unreachable!("the encoder of the table makes its blocks"),
        }
    }

    /// Completes the output, which does not have its name yet. A Parquet file has `account`, a JSON
    /// object about the run, in its metadata.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn complete(self, account: String) -> anyhow::Result<Vec<CompleteOutput>> {
        match self {
            TableFile::Text(mut output, header) => {
                output.write(&header)?;
                Ok(vec![output.complete()?])
            }
            TableFile::Parquet(file) => file.complete(account),
        }
    }
}

/// A table of rows that one thread makes.
pub struct Rows {
    /// The rows that are not written yet.
    pub added: Added,
    encoder: Encoder,
    file: TableFile,
}

impl Rows {
    /// Begins a table, as [`begin`].
    ///
    /// # Errors
    ///
    /// If the output cannot be written, here and below.
    pub fn begin(output: Output, format: Format, fields: Vec<Field>) -> anyhow::Result<Rows> {
        let (encoder, file) = begin(output, format, fields, Terminator::LineFeed)?;
        Ok(Rows { added: encoder.none(), encoder, file })
    }

    /// Writes the rows if there are many.
    pub fn write_many(&mut self) -> anyhow::Result<()> {
        if self.added.rows() < SURVEY_TEXT_ROWS {
            return Ok(());
        }
        self.file.write(self.encoder.encode_all(&mut self.added)?)
    }

    /// Completes the output, as [`TableFile::complete`].
    pub fn complete(mut self, account: String) -> anyhow::Result<Vec<CompleteOutput>> {
        self.file.write(self.encoder.encode_all(&mut self.added)?)?;
        self.file.complete(account)
    }
}
