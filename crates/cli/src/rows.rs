//! The outputs of `classify` and `filter`: rows as text or as Parquet.
//!
//! An output takes its header or its schema from its first list, so it is begun with that list. Lists
//! that are joined must have the same columns.
//!
//! All files of a run appear together, or none does. With one output for each list, only one is open at a
//! time.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use anyhow::{anyhow, bail, ensure};
use portcullis_files::atomic_file::folder_of;
use portcullis_files::input::{ChunkConfig, InputError};
use portcullis_files::limits::RECORD_BYTES_MAX;
use portcullis_report::{Account, Counts, Run};
use portcullis_rows::list::{List, ListFormat};
use portcullis_rows::output::columns::{Field, no_collision};
use portcullis_rows::output::parquet::{ParquetError, ParquetWriter, Template};
use portcullis_rows::output::{Encoded, TextRows, input_columns};
use portcullis_text::json::to_json;

use super::limits::PARQUET_TEXT_GROUP_BYTES;
use super::new_folders::NewFolders;
use super::output::{CompleteOutput, Output, OutputFailed, OutputFile};
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

fn is_named(path: &Path) -> bool {
    ListFormat::from_name(path) == Some(ListFormat::Parquet)
}

/// Whether `filter` keeps rows with all their columns. It does so if the lists are Parquet and the
/// output is called .parquet or has no name. Any other file has the URLs, one per line. `parquet` lists
/// begin as Parquet.
///
/// # Errors
///
/// If an output is called .parquet and cannot have rows, or only some outputs have rows.
pub fn keeps_rows(
    plan: &StreamPlan,
    parquet: usize,
    kept: &OutputFile,
    has_folder: bool,
    aside: [Option<&OutputFile>; 3],
) -> anyhow::Result<bool> {
    if is_named(kept) {
        not_compressed(kept)?;
    }
    // By the flag, or by the first bytes.
    let count = match plan.lists.format {
        None => parquet,
        Some(ListFormat::Parquet) => plan.inputs.len(),
        Some(_) => 0,
    };
    let (all, some) = (count > 0 && count == plan.inputs.len(), count > 0);
    let aside = || aside.into_iter().flatten();
    let kept_rows = if has_folder { all } else { all && kept.is_special() || is_named(kept) };
    if let Some(path) = [kept].into_iter().chain(aside()).find(|path| is_named(path))
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

/// The destinations of a run: one for all lists, or one for each.
#[derive(Clone, Debug)]
pub struct Destinations {
    pub paths: Vec<OutputFile>,
    /// Whether there is one for all lists.
    pub is_joined: bool,
}

impl Destinations {
    /// Returns the path of the output for a list.
    pub fn of_list(&self, number: usize) -> &OutputFile {
        &self.paths[if self.is_joined { 0 } else { number }]
    }
}

/// One output of a run, or one for each list.
pub struct RowOutput<'a> {
    pub destinations: Destinations,
    pub head: Head<'a>,
    /// The one that is being written.
    current: Option<RowFile>,
    complete: Vec<CompleteOutput>,
    // Dropped last, after the files in them.
    folders: Arc<NewFolders>,
}

/// The beginning of an output, before its first record: text, or the schema of a Parquet file.
pub enum Head<'a> {
    /// None.
    None,
    Parquet(Box<ParquetRows>),
    /// A header with the names of the added columns.
    Names {
        rows: &'a dyn TextRows,
        fields: &'a [Field],
        /// The first list of the output. Lists that are joined to it must have its columns.
        first: Option<Arc<List>>,
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
    /// Opens the output for all lists. Those for each are opened when their lists begin.
    pub fn open(destinations: Destinations) -> Result<RowOutput<'a>, OutputFailed> {
        let all = destinations.paths.first().filter(|_| destinations.is_joined);
        let current = all.map(Output::create).transpose()?.map(RowFile::text);
        let (head, complete, folders) = (Head::None, Vec::new(), Arc::default());
        Ok(RowOutput { destinations, head, current, complete, folders })
    }

    /// Begins a list. `is_empty` is true if its first piece has no records.
    ///
    /// # Errors
    ///
    /// If an added column has the name of a column of the list, the list cannot be joined to the ones
    /// before it, or the output cannot be written.
    pub fn begin(&mut self, part: &Part<'_>, is_empty: bool) -> anyhow::Result<()> {
        if !self.destinations.is_joined {
            self.end()?;
            let path = self.destinations.of_list(part.number);
            let folder = folder_of(path);
            let failed = |error| OutputFailed::new(folder.display().to_string(), error);
            self.folders.create(folder).map_err(failed)?;
            self.current = Some(RowFile::text(Output::create(path)?));
        }
        let is_joined = self.destinations.is_joined && part.number > 0;
        if let Head::Parquet(rows) = &mut self.head {
            return rows.begin(&mut self.current, part.list);
        }
        let head = self.head.of(part.list, is_joined, is_empty)?;
        Ok(self.write_text(&head)?)
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
        if let Head::Parquet(rows) = &mut self.head {
            rows.counts.merge(counts);
        }
        self.current
            .as_mut()
            .expect("a list has begun")
            .write(encoded)
            .map_err(of_list(list.name()))
    }

    /// Writes to an output of text.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_text(&mut self, text: &[u8]) -> Result<(), OutputFailed> {
        self.current.as_mut().map_or(Ok(()), |current| current.write_text(text))
    }

    /// Ends the file that is being written.
    fn end(&mut self) -> anyhow::Result<()> {
        let Some(file) = self.current.take() else { return Ok(()) };
        let account = match &mut self.head {
            Head::Parquet(rows) => rows.account(),
            _ => String::new(),
        };
        let complete = file.complete(account).map_err(of_list("the output"))?;
        self.complete.push(complete.in_folders(&self.folders));
        Ok(())
    }

    /// Completes all files. None has its name yet.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn complete(mut self) -> anyhow::Result<Vec<CompleteOutput>> {
        self.end()?;
        Ok(self.complete)
    }
}

impl Head<'_> {
    /// Returns the head of Parquet files that add `fields` after the columns of the lists, with an account
    /// of `run`. Without `copies`, a list in Parquet has its URLs only, as others have.
    pub fn parquet(fields: Vec<Field>, copies: bool, run: Run) -> Head<'static> {
        let (template, counts) = (None, Counts::default());
        Head::Parquet(ParquetRows { fields, copies, run, template, counts }.into())
    }

    /// Returns the text for a list. Empty if the output already has one: the list `is_joined`.
    fn of(&mut self, list: &Arc<List>, is_joined: bool, is_empty: bool) -> anyhow::Result<Vec<u8>> {
        match self {
            Head::None | Head::Parquet(_) => {}
            Head::Names { rows, fields, first } => {
                let columns = input_columns(list);
                if let Some(first) = first.as_ref().filter(|_| is_joined) {
                    ensure!(
                        columns == input_columns(first),
                        "{}: its columns differ from {}; write one output per list with \
                         --out-dir",
                        list.name(),
                        first.name()
                    );
                    return Ok(Vec::new());
                }
                no_collision(&columns, fields)?;
                *first = Some(Arc::clone(list));
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
        first.has_fields_of(list),
        "{} and {} have different fields and cannot be joined; write one output for each with \
         --out-dir",
        first.name(),
        list.name()
    );
    Ok(())
}

/// The properties that all Parquet files of an output share, and the columns and counts of the current one.
pub struct ParquetRows {
    fields: Vec<Field>,
    copies: bool,
    run: Run,
    template: Option<Arc<Template>>,
    counts: Counts,
}

impl ParquetRows {
    /// Begins a list in an output that has no rows yet, or checks that it can be joined.
    fn begin(&mut self, file: &mut Option<RowFile>, list: &List) -> anyhow::Result<()> {
        let rows = list.file().filter(|_| self.copies);
        if let (Some(RowFile::Parquet(..)), Some(template)) = (&file, &self.template) {
            let checked = template.check(list.name(), rows.map(|rows| &**rows));
            return checked.map_err(|it| anyhow!(it));
        }
        let template = Arc::new(match rows {
            Some(rows) => Template::from_list(rows, &self.fields)?,
            None => Template::from_urls(&self.fields)?,
        });
        if let Some(RowFile::Text(output, _)) = file.take() {
            let begun = RowFile::parquet(*output, Arc::clone(&template));
            *file = Some(begun.map_err(of_list(list.name()))?);
        }
        self.template = Some(template);
        Ok(())
    }

    /// Returns the account of a file, as JSON.
    fn account(&mut self) -> String {
        let mut account = Account::new(self.run.clone(), &std::mem::take(&mut self.counts));
        let records = &mut account.records;
        // The places are in the list, and the records that are dropped are not in this file.
        (records.invalid, records.selection, records.dropped) = (None, None, None);
        to_json(&account)
    }
}

/// Describes a failure of an encoder as one of the list whose rows it copies.
fn of_list(name: &str) -> impl FnOnce(anyhow::Error) -> anyhow::Error {
    move |error| match error.downcast::<ParquetError>() {
        Ok(error) => {
            let problem = format!("cannot be copied: {error}; fetch it again");
            InputError::list(name, problem).into()
        }
        Err(error) => error,
    }
}

/// A file of rows that is being written.
pub enum RowFile {
    /// The output, and its head until rows are written: a run that fails at once prints nothing.
    Text(Box<Output>, Vec<u8>),
    /// The writer, and the failures of its output.
    Parquet(Box<ParquetWriter<OutputOfWriter>>, Receiver<OutputFailed>),
}

/// The output under a writer, which knows a failure to write to it as text only.
pub struct OutputOfWriter {
    output: Output,
    failed: Sender<OutputFailed>,
}

impl Write for OutputOfWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(failed) => {
                let kind = failed.kind();
                // Nobody may be left to receive it.
                let _ = self.failed.send(failed);
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the cause of a writer's failure: the output, or else the encoder.
fn cause(failed: &Receiver<OutputFailed>, error: ParquetError) -> anyhow::Error {
    failed.try_recv().map_or_else(|_| error.into(), Into::into)
}

impl RowFile {
    /// Begins a file of text without a head of its own.
    fn text(output: Output) -> RowFile {
        RowFile::Text(output.into(), Vec::new())
    }

    /// Begins a Parquet file with the columns of `template`.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, here and below.
    pub fn parquet(output: Output, template: Arc<Template>) -> anyhow::Result<RowFile> {
        let (sender, failed) = mpsc::channel();
        match ParquetWriter::new(OutputOfWriter { output, failed: sender }, template) {
            Ok(writer) => Ok(RowFile::Parquet(writer.into(), failed)),
            Err(error) => Err(cause(&failed, error)),
        }
    }

    /// Writes text. A Parquet file has none.
    pub fn write_text(&mut self, text: &[u8]) -> Result<(), OutputFailed> {
        match self {
            RowFile::Text(output, _) => output.write(text),
            RowFile::Parquet(..) => Ok(()),
        }
    }

    /// Writes an encoded block, which is compressed if the output is.
    pub fn write(&mut self, block: &mut Encoded) -> anyhow::Result<()> {
        match self {
            RowFile::Text(output, head) => {
                if !block.text.is_empty() {
                    output.write(&std::mem::take(head))?;
                }
                Ok(output.write_compressed(&block.text)?)
            }
            RowFile::Parquet(writer, failed) => {
                let written = writer.write(std::mem::take(&mut block.group));
                written.map_err(|error| cause(failed, error))
            }
        }
    }

    /// Completes the file, which does not have its name yet. A Parquet file has `account` in its metadata.
    pub fn complete(self, account: String) -> anyhow::Result<CompleteOutput> {
        Ok(match self {
            RowFile::Text(output, head) => output.complete_with(&head)?,
            RowFile::Parquet(writer, failed) => {
                let finished = writer.finish(account).map_err(|error| cause(&failed, error))?;
                finished.output.complete()?
            }
        })
    }
}

/// Rejects a Parquet file that would be compressed twice.
///
/// # Errors
///
/// If `output` has the extension of a compression.
pub fn not_compressed(output: &OutputFile) -> anyhow::Result<()> {
    let shown = output.display();
    ensure!(output.coding().is_none(), "{shown}: Parquet is compressed inside; call it .parquet");
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
