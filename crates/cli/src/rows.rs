//! The outputs of `classify` and `filter`: rows as text or as Parquet.
//!
//! An output takes its header or its schema from its first list, so it is begun with that list. Lists
//! that are joined must have the same columns.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{anyhow, bail, ensure};
use portcullis_files::compression::Coding;
use portcullis_files::input::{ChunkConfig, InputError};
use portcullis_files::kind::{FileKind, PARQUET};
use portcullis_files::limits::RECORD_BYTES_MAX;
use portcullis_report::{Account, Counts, Encoded, Run, Tally};
use portcullis_rows::list::{List, ListFormat};
use portcullis_rows::output::columns::{Field, no_collision};
use portcullis_rows::output::parquet::{EncodedGroup, ParquetError, ParquetWriter, Template};
use portcullis_rows::output::{TextRows, csv};

use super::limits::PARQUET_TEXT_GROUP_BYTES;
use super::output::{CompleteOutput, Destination, Output, OutputFailed, OutputFile};
use super::outputs::Outputs;
use super::plan::StreamPlan;
use super::stream::Part;

/// How lists are cut for Parquet outputs: Parquet lists at row groups, and text into chunks that
/// become row groups.
pub const ROW_GROUPS: ChunkConfig = ChunkConfig {
    chunk_bytes: PARQUET_TEXT_GROUP_BYTES,
    record_bytes_max: RECORD_BYTES_MAX,
    by_row_group: true,
    pause: None,
};

/// Returns whether all lists of a run are Parquet, and whether some are, by the flag or by their first
/// bytes.
fn are_parquet(plan: &StreamPlan) -> (bool, bool) {
    if let Some(format) = plan.lists.format {
        return (format == ListFormat::Parquet, format == ListFormat::Parquet);
    }
    let is_parquet = |path: &Path| {
        let mut first = [0; PARQUET.len()];
        let is_file = path.is_file();
        // A list that cannot be read is reported when it is opened.
        let mut read = || File::open(path)?.read_exact(&mut first);
        is_file && read().is_ok() && FileKind::of(&first) == FileKind::Parquet
    };
    let count = plan.inputs.iter().filter(|input| is_parquet(&input.path)).count();
    (count > 0 && count == plan.inputs.len(), count > 0)
}

fn is_named(path: &Path) -> bool {
    ListFormat::from_name(path) == Some(ListFormat::Parquet)
}

/// Whether `filter` keeps rows with all their columns. It does so if the lists are Parquet and the
/// output is called .parquet or has no name. Any other file has the URLs, one per line.
///
/// # Errors
///
/// If an output is called .parquet and cannot have rows, or only some outputs have rows.
pub fn keeps_rows(
    plan: &StreamPlan,
    kept: &Destination,
    has_folder: bool,
    aside: [Option<&OutputFile>; 3],
) -> anyhow::Result<bool> {
    if matches!(kept, Destination::File(path) if is_named(path)) {
        not_compressed(kept)?;
    }
    let (all, some) = are_parquet(plan);
    let aside = || aside.into_iter().flatten();
    let kept_rows = match (kept, has_folder) {
        (_, true) | (Destination::StandardOutput, false) => all,
        (Destination::File(path), false) => all && kept.is_special() || is_named(path),
    };
    let named = match kept {
        Destination::File(path) => Some(path),
        Destination::StandardOutput => None,
    };
    if let Some(path) = named.into_iter().chain(aside()).find(|path| is_named(path))
        && !all
    {
        bail!(
            "{}: filter keeps records as they are, and not all lists are Parquet; name another output, or \
             use classify",
            path.display()
        );
    }
    if some && !all && has_folder {
        bail!("--out-dir needs lists that are all Parquet, or none; run filter once for each kind");
    }
    if let Some(path) = aside().find(|path| is_named(path) != kept_rows) {
        let (fix, rows) = match kept_rows {
            true => ("call it .parquet", "rows"),
            false => ("call it .txt, or the output .parquet too", "lines"),
        };
        bail!(
            "{}: the output has {rows}, so records set aside must be {rows} too; {fix}",
            path.display()
        );
    }
    Ok(kept_rows)
}

/// One output of a run, or one for each list.
pub struct RowOutput<'a>(Form<'a>);

#[expect(clippy::large_enum_variant, reason = "a run has up to three")]
enum Form<'a> {
    Text(Outputs, Head<'a>),
    Parquet(ParquetOutputs),
}

/// The text before the first record of an output.
pub enum Head<'a> {
    /// None.
    None,
    /// A header with the names of the added columns.
    Names {
        rows: &'a dyn TextRows,
        fields: &'a [Field],
        /// The name and the columns of the first list of the output.
        first: Option<(String, Vec<Vec<u8>>)>,
    },
    /// The head of the list itself.
    Own {
        /// The first list that had records or a head. Lists that are joined to it must have its
        /// format.
        first: Option<Arc<List>>,
        /// Whether the head is only compared, because the output has no records.
        is_left_out: bool,
    },
}

impl<'a> RowOutput<'a> {
    /// Returns an output of text.
    pub fn text(outputs: Outputs, head: Head<'a>) -> RowOutput<'a> {
        RowOutput(Form::Text(outputs, head))
    }

    /// Returns an output of Parquet that adds `fields` after the columns of the lists, with an
    /// account of `run`. Without `copies`, a list in Parquet has its URLs only, as others have.
    pub fn parquet(outputs: Outputs, fields: Vec<Field>, copies: bool, run: Run) -> RowOutput<'a> {
        let pipe = Pipe(Arc::new(Mutex::new(Sink { outputs, failed: None })));
        RowOutput(Form::Parquet(ParquetOutputs { pipe, fields, copies, run, current: None }))
    }

    /// Begins a list. `is_empty` is true if its first piece has no records.
    ///
    /// # Errors
    ///
    /// If an added column has the name of a column of the list, the list cannot be joined to the ones
    /// before it, or the output cannot be written.
    pub fn begin(&mut self, part: &Part<'_>, is_empty: bool) -> anyhow::Result<()> {
        match &mut self.0 {
            Form::Text(outputs, head) => {
                let is_new = outputs.begin(part.number)?;
                let is_joined = outputs.is_joined() && !is_new;
                Ok(outputs.write(&head.of(part.list, is_joined, is_empty)?)?)
            }
            Form::Parquet(outputs) => outputs.begin(part),
        }
    }

    /// Writes an encoded piece, which is compressed if the output is, and adds `counts` to the
    /// account.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, or the input cannot be copied.
    pub fn write(
        &mut self,
        list: &List,
        encoded: &mut Encoded,
        counts: &Counts,
    ) -> anyhow::Result<()> {
        match &mut self.0 {
            Form::Text(outputs, _) => Ok(outputs.write_compressed(&encoded.text)?),
            Form::Parquet(outputs) => {
                outputs.write(list, std::mem::take(&mut encoded.group), counts)
            }
        }
    }

    /// Writes to an output of text.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        match &mut self.0 {
            Form::Text(outputs, _) => Ok(outputs.write(text)?),
            Form::Parquet(_) => unreachable!("rows are not counted instead of written"),
        }
    }

    /// Completes all files. None has its name yet.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn complete(self) -> anyhow::Result<Vec<CompleteOutput>> {
        match self.0 {
            Form::Text(outputs, _) => Ok(outputs.complete()?),
            Form::Parquet(outputs) => outputs.complete(),
        }
    }
}

impl Head<'_> {
    /// Returns the head for a list. Empty if the output already has one: the list `is_joined`.
    fn of(&mut self, list: &Arc<List>, is_joined: bool, is_empty: bool) -> anyhow::Result<Vec<u8>> {
        match self {
            Head::None => {}
            Head::Names { rows, fields, first } => {
                let columns: Vec<Vec<u8>> =
                    csv::input_columns(list).into_iter().map(Cow::into_owned).collect();
                if let Some((first, expected)) = first.as_ref().filter(|_| is_joined) {
                    ensure!(
                        *expected == columns,
                        "{}: its columns differ from those of {first}; write one output per list with \
                         --out-dir",
                        list.name()
                    );
                    return Ok(Vec::new());
                }
                no_collision(&columns, fields)?;
                *first = Some((list.name().to_owned(), columns));
                return Ok(rows.header(Some(list), fields));
            }
            Head::Own { .. } if is_empty && list.head().is_empty() => {}
            Head::Own { first: Some(first), .. } if is_joined => can_join(first, list)?,
            Head::Own { first, is_left_out } => {
                *first = Some(Arc::clone(list));
                let head = if *is_left_out { b"" } else { list.head() };
                return Ok(head.to_vec());
            }
        }
        Ok(Vec::new())
    }
}

/// Rejects lists whose records cannot be in one output.
fn can_join(first: &List, list: &List) -> anyhow::Result<()> {
    ensure!(
        first.format() == list.format(),
        "{} is {} and {} is {}, which cannot be joined; write one output for each with --out-dir",
        first.name(),
        first.format().describe(),
        list.name(),
        list.format().describe()
    );
    ensure!(
        first.columns() == list.columns() && first.delimiter() == list.delimiter(),
        "{} and {} have different columns and cannot be joined; write one output for each with \
         --out-dir",
        first.name(),
        list.name()
    );
    Ok(())
}

/// The outputs of a run, and the last failure to write to them.
struct Sink {
    outputs: Outputs,
    failed: Option<OutputFailed>,
}

/// The sink of a writer, shared with [`ParquetOutputs`].
#[derive(Clone)]
struct Pipe(Arc<Mutex<Sink>>);

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, Sink> {
        // No code panics while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes the outputs. The writer is gone.
    fn complete(self) -> anyhow::Result<Vec<CompleteOutput>> {
        let sink = Arc::into_inner(self.0).expect("the writer is gone");
        let Sink { outputs, .. } = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(outputs.complete()?)
    }

    /// Returns the cause of a writer's failure: the output, or else the encoder.
    fn failure(&self, error: ParquetError) -> anyhow::Error {
        match self.lock().failed.take() {
            Some(failed) => failed.into(),
            None => error.into(),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sink = self.lock();
        sink.outputs.write(bytes).map_err(|failed| {
            let kind = failed.kind();
            sink.failed = Some(failed);
            kind
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The Parquet files of an output: a [`ParquetWriter`] for each.
struct ParquetOutputs {
    pipe: Pipe,
    fields: Vec<Field>,
    copies: bool,
    run: Run,
    current: Option<Current>,
}

/// The file that is being written, and the counts for its account.
struct Current {
    writer: ParquetWriter<Pipe>,
    template: Arc<Template>,
    counts: Counts,
}

impl ParquetOutputs {
    fn begin(&mut self, part: &Part<'_>) -> anyhow::Result<()> {
        let rows = part.list.file().filter(|_| self.copies);
        if let Some(current) = &self.current
            && self.pipe.lock().outputs.is_joined()
        {
            let name = part.list.name();
            return current
                .template
                .check(name, rows.map(|rows| &**rows))
                .map_err(|it| anyhow!(it));
        }
        self.end()?;
        self.pipe.lock().outputs.begin(part.number)?;
        let template = match rows {
            Some(rows) => Template::from_list(rows, &self.fields)?,
            None => Template::from_urls(&self.fields)?,
        };
        let template = Arc::new(template);
        let writer = ParquetWriter::new(self.pipe.clone(), Arc::clone(&template));
        let writer = writer.map_err(|error| self.failure(part.list.name(), &error))?;
        self.current = Some(Current { writer, template, counts: Counts::default() });
        Ok(())
    }

    fn write(&mut self, list: &List, group: EncodedGroup, counts: &Counts) -> anyhow::Result<()> {
        let current = self.current.as_mut().expect("a list has begun");
        current.counts.merge(counts);
        let written = current.writer.write(group);
        written.map_err(|error| self.failure(list.name(), &error))
    }

    /// Ends the file that is being written.
    fn end(&mut self) -> anyhow::Result<()> {
        let Some(Current { writer, counts, .. }) = self.current.take() else { return Ok(()) };
        let tally = Tally { counts, ..Tally::default() };
        let mut account = Account::new(self.run.clone(), &tally);
        // The places are in the list, not in this file.
        account.records.invalid = None;
        let ended = writer.finish(portcullis_text::json::to_json(&account));
        ended.map(|_| ()).map_err(|error| self.failure("the output", &error))
    }

    fn complete(mut self) -> anyhow::Result<Vec<CompleteOutput>> {
        self.end()?;
        self.pipe.complete()
    }

    /// Returns the cause of a writer's failure: the output, or the list that rows are copied from.
    fn failure(&self, name: &str, error: &ParquetError) -> anyhow::Error {
        match self.pipe.lock().failed.take() {
            Some(failed) => failed.into(),
            None => {
                let problem = format!("cannot be copied: {error}; fetch it again");
                InputError::List { name: name.to_owned(), problem }.into()
            }
        }
    }
}

/// A Parquet file of rows that stand alone.
pub struct RowFile {
    pipe: Pipe,
    writer: ParquetWriter<Pipe>,
}

impl RowFile {
    /// Begins a file with the columns of `template`.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, here and below.
    pub fn new(output: Output, template: Template) -> anyhow::Result<RowFile> {
        let pipe = Pipe(Arc::new(Mutex::new(Sink { outputs: Outputs::of(output), failed: None })));
        let writer = ParquetWriter::new(pipe.clone(), template.into());
        let writer = writer.map_err(|error| pipe.failure(error))?;
        Ok(RowFile { pipe, writer })
    }

    /// Writes a row group.
    pub fn write(&mut self, group: EncodedGroup) -> anyhow::Result<()> {
        let written = self.writer.write(group);
        written.map_err(|error| self.pipe.failure(error))
    }

    /// Ends the file with `account` in its metadata. It does not have its name yet.
    pub fn complete(self, account: String) -> anyhow::Result<Vec<CompleteOutput>> {
        let RowFile { pipe, writer } = self;
        let ended = writer.finish(account).map(|_| ());
        ended.map_err(|error| pipe.failure(error))?;
        pipe.complete()
    }
}

/// Rejects a Parquet file that would be compressed twice.
///
/// # Errors
///
/// If `destination` has the extension of a compression.
pub fn not_compressed(destination: &Destination) -> anyhow::Result<()> {
    if let Destination::File(path) = destination {
        ensure!(
            Coding::from_file_name(path).is_none(),
            "{}: Parquet is compressed inside; call it .parquet",
            path.display()
        );
    }
    Ok(())
}

/// Rejects printing rows to a terminal.
///
/// # Errors
///
/// If standard output is a terminal.
pub fn not_to_terminal(prints: bool, fix: &str) -> anyhow::Result<()> {
    ensure!(!prints || !io::stdout().is_terminal(), "a terminal cannot show Parquet; use {fix}");
    Ok(())
}
