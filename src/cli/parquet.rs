//! Parquet outputs of `classify` and `filter`: a [`ParquetWriter`] for each output of a run.
//!
//! An output takes its schema from its first list, so it is begun with that list. Lists that are
//! joined must have the same columns.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{anyhow, bail, ensure};
use portcullis_dialect::limits::{PARQUET_TEXT_GROUP_BYTES, RECORD_BYTES_MAX};
use portcullis_io::input::{ChunkConfig, InputError, Terminator};
use portcullis_io::list::{List, ListFormat};
use portcullis_report::columns::Field;
use portcullis_report::parquet::{EncodedGroup, ParquetError, ParquetWriter, Template};
use portcullis_report::{Account, Counts, Filtered, InvalidRecords, Run};
use portcullis_robots::kind::{FileKind, PARQUET};

use super::output::{CompleteOutput, Destination, OutputFailed, OutputFile};
use super::outputs::Outputs;
use super::plan::StreamPlan;
use super::stream::Part;

/// How lists are cut for Parquet outputs: Parquet lists at row groups, and text into chunks that
/// become row groups.
pub const ROW_GROUPS: ChunkConfig = ChunkConfig {
    terminator: Terminator::LineFeed,
    chunk_bytes: PARQUET_TEXT_GROUP_BYTES,
    record_bytes_max: RECORD_BYTES_MAX,
    by_row_group: true,
};

/// Whether the lists of a run are Parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    None,
    All,
    Some,
}

/// Detects whether the lists of a run are Parquet, by the flag or by their first bytes.
pub fn lists(plan: &StreamPlan) -> Lists {
    match plan.lists.format {
        Some(ListFormat::Parquet) => return Lists::All,
        Some(_) => return Lists::None,
        None => {}
    }
    let is_parquet = |path: &Path| {
        let mut first = [0; PARQUET.len()];
        let is_file = path.is_file();
        // A list that cannot be read is reported when it is opened.
        let mut read = || File::open(path)?.read_exact(&mut first);
        is_file && read().is_ok() && FileKind::of(&first) == FileKind::Parquet
    };
    let count = plan.inputs.iter().filter(|input| is_parquet(&input.path)).count();
    match count {
        0 => Lists::None,
        count if count == plan.inputs.len() => Lists::All,
        _ => Lists::Some,
    }
}

fn is_named(path: &Path) -> bool {
    ListFormat::of_name(path) == Some(ListFormat::Parquet)
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
    aside: [Option<&OutputFile>; 2],
) -> anyhow::Result<bool> {
    if matches!(kept, Destination::File(path) if is_named(path)) {
        not_compressed(kept)?;
    }
    let lists = lists(plan);
    let aside = || aside.into_iter().flatten();
    let kept_rows = match (kept, has_folder) {
        (_, true) | (Destination::StandardOutput, false) => lists == Lists::All,
        (Destination::File(path), false) if kept.is_special() => {
            lists == Lists::All || is_named(path)
        }
        (Destination::File(path), false) => is_named(path),
    };
    let named = [kept].into_iter().filter_map(|kept| match kept {
        Destination::File(path) => Some(path),
        Destination::StandardOutput => None,
    });
    if let Some(path) =
        named.chain(aside()).find(|path| is_named(path)).filter(|_| lists != Lists::All)
    {
        bail!(
            "{}: filter keeps records as they are, and not all lists are Parquet; name another output, or \
             use classify",
            path.display()
        );
    }
    if lists == Lists::Some && has_folder {
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

/// The Parquet files of a run.
pub struct ParquetOutputs {
    pipe: Pipe,
    fields: Vec<Field>,
    run: Run,
    current: Option<Current>,
}

/// The file that is being written, and the counts for its account.
struct Current {
    writer: ParquetWriter<Pipe>,
    template: Arc<Template>,
    counts: Counts,
    filtered: Option<Filtered>,
}

impl ParquetOutputs {
    /// Returns outputs that add `fields` after the columns of the lists, with an account of `run`.
    pub fn new(outputs: Outputs, fields: Vec<Field>, run: Run) -> ParquetOutputs {
        let pipe = Pipe(Arc::new(Mutex::new(Sink { outputs, failed: None })));
        ParquetOutputs { pipe, fields, run, current: None }
    }

    /// Begins a list.
    ///
    /// # Errors
    ///
    /// If an added column has the name of a column of the list, the columns are not those of the
    /// output, or the output cannot be written.
    pub fn begin(&mut self, part: &Part<'_>) -> anyhow::Result<()> {
        let rows = part.list.file();
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
            Some(rows) => Template::of_list(rows, &self.fields)?,
            None => Template::of_urls(&self.fields)?,
        };
        let template = Arc::new(template);
        let writer = ParquetWriter::new(self.pipe.clone(), Arc::clone(&template));
        let writer = writer.map_err(|error| self.failure(part.list.name(), &error))?;
        self.current =
            Some(Current { writer, template, counts: Counts::default(), filtered: None });
        Ok(())
    }

    /// Writes a row group and adds `counts` to the account.
    ///
    /// # Errors
    ///
    /// If the output cannot be written, or the input cannot be copied.
    pub fn write(
        &mut self,
        list: &List,
        group: EncodedGroup,
        counts: &Counts,
        filtered: Option<Filtered>,
    ) -> anyhow::Result<()> {
        let current = self.current.as_mut().expect("a list has begun");
        current.counts.merge(counts);
        if let Some(filtered) = filtered {
            current.filtered.get_or_insert_default().merge(filtered);
        }
        let written = current.writer.write(group);
        written.map_err(|error| self.failure(list.name(), &error))
    }

    /// Ends the file that is being written.
    fn end(&mut self) -> anyhow::Result<()> {
        let Some(Current { writer, counts, filtered, .. }) = self.current.take() else {
            return Ok(());
        };
        let account =
            Account { run: self.run.clone(), counts, invalid: InvalidRecords::default(), filtered };
        let mut account = serde_json::to_value(&account)?;
        // The places are in the list, not in this file.
        if let Some(members) = account.as_object_mut() {
            members.remove("invalid");
        }
        let ended = writer.finish(account.to_string());
        ended.map(|_| ()).map_err(|error| self.failure("the output", &error))
    }

    /// Completes all files. None has its name yet.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn complete(mut self) -> anyhow::Result<Vec<CompleteOutput>> {
        self.end()?;
        let Pipe(sink) = self.pipe;
        let sink = Arc::into_inner(sink).expect("the writer is gone");
        let Sink { outputs, .. } = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(outputs.complete()?)
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

/// Rejects a Parquet file that would be compressed twice.
///
/// # Errors
///
/// If `destination` has the extension of a compression.
pub fn not_compressed(destination: &Destination) -> anyhow::Result<()> {
    if let Destination::File(path) = destination {
        let extension = path.extension().map(|it| it.to_ascii_lowercase());
        let is_compressed = extension.is_some_and(|it| it == "gz" || it == "zst");
        ensure!(
            !is_compressed,
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
