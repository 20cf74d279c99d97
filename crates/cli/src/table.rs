//! Tables whose rows have no records of a list, for `survey` and `diff`, as text or as
//! Parquet.
//!
//! Threads encode blocks of rows with an [`Encoder`], and one thread writes the blocks to the
//! [`RowFile`].

use portcullis_files::compression::Coding;
use portcullis_rows::input::Terminator;
use portcullis_rows::output::columns::Field;
use portcullis_rows::output::csv::Csv;
use portcullis_rows::output::json_lines::JsonLines;
use portcullis_rows::output::parquet::{AddedColumns, Template};
use portcullis_rows::output::tsv::Tsv;
use portcullis_rows::output::{Added, Encoded, RowForm, TextRows};

use super::limits::SURVEY_TEXT_ROWS;
use super::output::{Compressor, Output, OutputFile};
use super::rows::{self, RowFile};
use super::values::Format;

/// Opens an output for rows of a format.
///
/// # Errors
///
/// If it cannot be opened, or cannot hold the format.
pub fn open(format: Format, path: &OutputFile) -> anyhow::Result<Output> {
    if format == Format::Parquet {
        rows::not_to_terminal(path.is_dash(), "-o FILE.parquet, or --format tsv")?;
        rows::not_compressed(path)?;
    }
    Ok(Output::create(path)?)
}

/// Returns how rows are written as text.
pub fn text_rows(
    format: Format,
    fields: &[Field],
    terminator: Terminator,
) -> Box<dyn TextRows + Send> {
    match format {
        Format::Csv => Box::new(Csv::default()),
        Format::Jsonl => Box::new(JsonLines::new(fields)),
        _ => Box::new(Tsv(terminator)),
    }
}

/// Encodes the rows of a table.
pub struct Encoder {
    fields: Vec<Field>,
    form: RowForm,
    compression: Option<Coding>,
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
) -> anyhow::Result<(Encoder, RowFile)> {
    let compression = output.compression;
    let (form, file) = if format == Format::Parquet {
        let file = RowFile::parquet(output, Template::from_rows(&fields).into())?;
        (RowForm::Parquet(AddedColumns::of_rows(&fields)), file)
    } else {
        let text = text_rows(format, &fields, terminator);
        let head = text.header(None, &fields);
        (RowForm::Text(text), RowFile::Text(output.into(), head))
    };
    Ok((Encoder { fields, form, compression }, file))
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
    ) -> anyhow::Result<Encoded> {
        let mut encoded = Encoded::default();
        let mut rows = self.form.begin(self.none(), None, &mut encoded)?;
        while rows.add(None, &mut fill)? > 0 {}
        rows.end::<anyhow::Error>()?;
        Compressor::default().compress(self.compression, &mut encoded.text)?;
        Ok(encoded)
    }

    /// Encodes the rows in `added`, which has none afterwards.
    ///
    /// # Errors
    ///
    /// If they cannot be encoded.
    pub fn encode_all(&self, added: &mut Added) -> anyhow::Result<Encoded> {
        // The next time, `added` has no rows.
        self.encode(|next| {
            next.clear();
            std::mem::swap(next, added);
            Ok(())
        })
    }
}

/// A table of rows that one thread makes.
pub struct Rows {
    /// The rows that are not written yet.
    pub added: Added,
    encoder: Encoder,
    file: RowFile,
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
        self.file.write(&mut self.encoder.encode_all(&mut self.added)?)
    }

    /// Writes the other rows, and returns the output.
    pub fn end(mut self) -> anyhow::Result<RowFile> {
        self.file.write(&mut self.encoder.encode_all(&mut self.added)?)?;
        Ok(self.file)
    }
}
