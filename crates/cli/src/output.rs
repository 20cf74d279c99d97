//! Outputs: standard output, or a file that appears under its name once it is complete.
//!
//! A file is an [`AtomicFile`], compressed by its extension; a run that fails leaves none. A path
//! that exists and is not a regular file (a pipe, `/dev/null`) is written to in place instead of
//! replaced.
//!
//! A compressed file is a sequence of frames of zstd or members of gzip, so that threads can compress
//! their output ([`Compressor`]) and one thread writes it. An [`Output`] that compresses by itself is
//! cut where the text has [`FRAME_BYTES`], so the same text makes the same file.
//!
//! Records are untrusted text. On a terminal, their hidden characters are escaped; elsewhere they
//! are written byte for byte.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use flate2::write::GzEncoder;
use portcullis_files::atomic_file::{self, AtomicFile, Complete};
use portcullis_files::compression::Coding;
pub use portcullis_files::error::WriteError as OutputFailed;
use portcullis_report::filter::Fate;
use portcullis_text::visible::visible;
use zstd::zstd_safe::compress_bound;

use super::new_folders::NewFolders;

/// The path of a file to write; `-` is standard output. Only such a path can be opened as an output.
///
/// Each is parsed as the value of a flag: alone, in [`RecordsTo`] or in [`SummaryTo`].
/// [`written`] returns all of them, so that [`files`](super::files) checks every output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile(PathBuf);

impl Deref for OutputFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// Standard output.
impl Default for OutputFile {
    fn default() -> OutputFile {
        OutputFile("-".into())
    }
}

impl OutputFile {
    /// Parses an argument.
    pub fn parse(path: OsString) -> Result<OutputFile, String> {
        Ok(OutputFile(path.into()))
    }

    /// Whether this is standard output, by its usual name.
    pub fn is_dash(&self) -> bool {
        self.as_os_str() == "-"
    }

    /// Whether this is standard output or exists and is not a regular file, such as a pipe or `/dev/null`.
    /// Its extension then has no meaning.
    pub fn is_special(&self) -> bool {
        self.is_dash() || fs::metadata(&**self).is_ok_and(|it| !it.is_file())
    }

    /// Returns how the file is compressed, by its extension.
    pub fn coding(&self) -> Option<Coding> {
        Coding::from_file_name(self)
    }
}

/// The path of a folder to write files to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    /// Parses an argument.
    pub fn parse(path: OsString) -> Result<OutputFolder, String> {
        Ok(OutputFolder(path.into()))
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: impl AsRef<Path>) -> OutputFile {
        OutputFile(self.0.join(name))
    }
}

/// The destination of some of the records: `keep`, `drop`, or a file to which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordsTo {
    pub fate: Fate,
    /// The file of those set aside.
    pub file: Option<OutputFile>,
}

/// Words that mean something else than a file, in other programs.
const OTHER_WORDS: [&str; 18] = [
    "allow", "disallow", "skip", "ignore", "true", "false", "yes", "no", "kept", "keeps", "retain",
    "dropped", "remove", "reject", "unknown", "invalid", "none", "all",
];

impl RecordsTo {
    /// Parses a value. A misspelt word would be a file.
    pub fn parse(text: OsString) -> Result<RecordsTo, String> {
        let word = text.to_string_lossy().to_lowercase();
        let is_near = |fate: &Fate| strsim::osa_distance(fate.as_str(), &word) <= 1;
        match (text.to_str(), [Fate::Keep, Fate::Drop].into_iter().find(is_near)) {
            (Some("-"), _) => {
                Err("records cannot be set aside on standard output; name a file".into())
            }
            (Some(text), Some(fate)) if text == fate.as_str() => Ok(RecordsTo { fate, file: None }),
            (_, Some(near)) => Err(format!("did you mean {near}? A file is ./{}", text.display())),
            _ if OTHER_WORDS.contains(&&*word) => {
                Err(format!("expected keep, drop or a file; a file of that name is ./{word}"))
            }
            _ => Ok(RecordsTo { fate: Fate::Aside, file: Some(OutputFile(text.into())) }),
        }
    }
}

/// The form of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryForm {
    /// Nothing, and no notes but those on files either.
    Quiet,
    None,
    Text,
    Json,
    Markdown,
}

impl SummaryForm {
    /// Whether notes on lists and agents are not shown: the summary has them, or they were not asked for.
    pub fn hides_notes(self) -> bool {
        matches!(self, SummaryForm::Quiet | SummaryForm::Json)
    }
}

/// A value of `--summary`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryTo {
    pub form: SummaryForm,
    /// `None` for standard error.
    pub file: Option<OutputFile>,
}

impl SummaryTo {
    /// Parses a value.
    pub fn parse(text: OsString) -> Result<SummaryTo, String> {
        let extension = Path::new(&text).extension().and_then(OsStr::to_str);
        let (form, is_file) = match (text.to_str(), extension) {
            (Some("none"), _) => (SummaryForm::None, false),
            (Some("text"), _) => (SummaryForm::Text, false),
            (Some("json"), _) => (SummaryForm::Json, false),
            (_, Some("json")) => (SummaryForm::Json, true),
            (_, Some("md")) => (SummaryForm::Markdown, true),
            _ => return Err("use text, json or none, or name a file .json or .md".into()),
        };
        Ok(SummaryTo { form, file: is_file.then(|| OutputFile(text.into())) })
    }
}

/// Returns the paths of the outputs among the values of an argument, and whether each is a folder.
pub fn written<'m>(matches: &'m ArgMatches, id: &str) -> impl Iterator<Item = (&'m Path, bool)> {
    let records = values_of::<RecordsTo>(matches, id).filter_map(|to| to.file.as_ref());
    let summaries = values_of::<SummaryTo>(matches, id).filter_map(|to| to.file.as_ref());
    let files = values_of::<OutputFile>(matches, id).chain(records).chain(summaries);
    let folders = values_of::<OutputFolder>(matches, id).map(|folder| (&*folder.0, true));
    files.map(|file| (&**file, false)).chain(folders)
}

/// Returns the values of an argument; none if it has another type.
pub fn values_of<'m, T: Clone + Send + Sync + 'static>(
    matches: &'m ArgMatches,
    id: &str,
) -> impl Iterator<Item = &'m T> {
    matches.try_get_many(id).ok().flatten().into_iter().flatten()
}

/// Whether `error` means that the reader of an output has closed it.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let failed = error.downcast_ref::<OutputFailed>();
    failed.is_some_and(|failed| failed.kind() == ErrorKind::BrokenPipe)
}

/// The name of standard output in messages.
pub const STANDARD_OUTPUT: &str = "standard output";

/// The path of standard output on Unix systems.
const STANDARD_OUTPUT_PATH: &str = "/dev/stdout";

/// Whether `path` names standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new(STANDARD_OUTPUT_PATH)
}

/// Compresses outputs, and keeps the memory.
#[derive(Default)]
pub struct Compressor {
    zstd: zstd::bulk::Compressor<'static>,
    compressed: Vec<u8>,
}

impl Compressor {
    /// Replaces `bytes` by a frame or a member that holds them. No bytes stay none.
    ///
    /// # Errors
    ///
    /// If memory is short.
    pub fn compress(&mut self, compression: Option<Coding>, bytes: &mut Vec<u8>) -> io::Result<()> {
        if !bytes.is_empty() && compression.is_some() {
            self.make(compression, bytes)?;
            std::mem::swap(bytes, &mut self.compressed);
        }
        Ok(())
    }

    /// Makes a frame or a member, in [`Compressor::compressed`].
    fn make(&mut self, compression: Option<Coding>, bytes: &[u8]) -> io::Result<()> {
        let out = &mut self.compressed;
        out.clear();
        if compression == Some(Coding::Zstd) {
            out.reserve(compress_bound(bytes.len()));
            self.zstd.compress_to_buffer(bytes, out)?;
        } else {
            let mut member = GzEncoder::new(std::mem::take(out), flate2::Compression::default());
            member.write_all(bytes)?;
            *out = member.finish()?;
        }
        Ok(())
    }
}

/// An output that is being written. A file does not exist before it is [finished](Output::finish).
pub struct Output {
    name: String,
    sink: Destination,
    pub compression: Option<Coding>,
    /// The text that is not compressed yet.
    text: Vec<u8>,
    /// Whether nothing was written yet.
    is_empty: bool,
    compressor: Compressor,
    /// Whether hidden characters are escaped.
    escapes: bool,
}

/// The sink of bytes that are compressed, if they are to be.
enum Destination {
    /// Standard output, or an existing path that is not a regular file.
    InPlace(Box<dyn Write + Send>),
    File(AtomicFile),
}

/// A sink; `None` once its reader has closed it.
struct UntilClosed(Option<Box<dyn Write + Send>>);

impl UntilClosed {
    fn with<T>(
        &mut self,
        closed: T,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<T>,
    ) -> io::Result<T> {
        let Some(sink) = &mut self.0 else { return Ok(closed) };
        match write(sink) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.0 = None;
                Ok(closed)
            }
            written => written,
        }
    }
}

impl Write for UntilClosed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(bytes.len(), |sink| sink.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with((), |sink| sink.flush())
    }
}

/// The text of a frame or member that an output makes itself.
const FRAME_BYTES: usize = 1 << 20;

impl Output {
    /// Opens standard output for text that is already escaped and may have colours.
    pub fn styled() -> Output {
        Output::of(STANDARD_OUTPUT.into(), Destination::InPlace(Box::new(io::stdout())), None)
    }

    fn of(name: String, sink: Destination, compression: Option<Coding>) -> Output {
        let (text, compressor) = (Vec::new(), Compressor::default());
        Output { name, sink, compression, text, is_empty: true, compressor, escapes: false }
    }

    /// Opens an output, compressed by its extension.
    pub fn create(path: &OutputFile) -> Result<Output, OutputFailed> {
        Output::create_with(path, path.coding())
    }

    /// Creates a file that replaces an input on purpose, as `lint --fix` does.
    pub fn replace_input(path: &Path) -> Result<Output, OutputFailed> {
        Output::create_with(path, None)
    }

    fn create_with(path: &Path, compression: Option<Coding>) -> Result<Output, OutputFailed> {
        if is_standard_output(path) {
            return Ok(Output { escapes: io::stdout().is_terminal(), ..Output::styled() });
        }
        let name = path.display().to_string();
        let opened = match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                OpenOptions::new().write(true).open(path).map(|file| {
                    let is_terminal = file.is_terminal();
                    (Destination::InPlace(Box::new(file)), is_terminal)
                })
            }
            _ => AtomicFile::create(path).map(|file| (Destination::File(file), false)),
        };
        match opened {
            Ok((sink, escapes)) => Ok(Output { escapes, ..Output::of(name, sink, compression) }),
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }

    /// Returns the output, of which nothing is written any more once its reader has closed it. That is no failure
    /// then: the status is an answer too, and does not change if nobody reads the other.
    pub fn until_closed(self) -> Output {
        let sink = match self.sink {
            Destination::InPlace(sink) => Destination::InPlace(Box::new(UntilClosed(Some(sink)))),
            file => file,
        };
        Output { sink, ..self }
    }

    /// Whether a file that is replaced has the same owner and group afterwards.
    pub fn keeps_owner(&self) -> bool {
        match &self.sink {
            Destination::File(file) => file.keeps_owner,
            Destination::InPlace(_) => true,
        }
    }

    /// Writes all of `bytes`, which are whole records.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        if bytes.is_empty() {
            return Ok(());
        }
        let shown = if self.escapes { Cow::Owned(shown_records(bytes)) } else { bytes.into() };
        let written = match self.compression {
            None => self.sink.write_all(&shown),
            _ => self.write_text(&shown),
        };
        written.map_err(|error| OutputFailed::new(&self.name, error))
    }

    /// Writes what a [`Compressor`] made of whole records for this output.
    pub fn write_compressed(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        if self.compression.is_none() || bytes.is_empty() {
            return self.write(bytes);
        }
        let written = self.end_frame().and_then(|()| self.sink.write_all(bytes));
        self.is_empty = false;
        written.map_err(|error| OutputFailed::new(&self.name, error))
    }

    /// Adds text that is to be compressed.
    fn write_text(&mut self, mut text: &[u8]) -> io::Result<()> {
        while !text.is_empty() {
            let room = FRAME_BYTES - self.text.len();
            let (next, rest) = text.split_at(text.len().min(room));
            self.text.extend_from_slice(next);
            if next.len() == room {
                self.end_frame()?;
            }
            text = rest;
        }
        Ok(())
    }

    /// Writes the text that is not compressed yet.
    fn end_frame(&mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        self.is_empty = false;
        self.compressor.make(self.compression, &self.text)?;
        self.text.clear();
        self.sink.write_all(&self.compressor.compressed)
    }

    /// Writes the last bytes, and completes the output.
    pub fn complete_with(mut self, bytes: &[u8]) -> Result<CompleteOutput, OutputFailed> {
        self.write(bytes)?;
        self.complete()
    }

    /// Completes the output. A file gets its name.
    pub fn finish(self) -> Result<(), OutputFailed> {
        CompleteOutput::publish_all([self.complete()?])
    }

    /// Completes the output. A file is then on disk, but does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteOutput, OutputFailed> {
        let ended = self.end();
        let Output { name, sink, .. } = self;
        let complete = ended.and_then(|()| match sink {
            Destination::File(file) => file.complete().map(Some),
            Destination::InPlace(_) => Ok(None),
        });
        match complete {
            Ok(file) => Ok(CompleteOutput { name, file, folders: None }),
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }

    /// Writes what is left. A compressed file without a frame would be damaged.
    fn end(&mut self) -> io::Result<()> {
        self.end_frame()?;
        if self.is_empty && self.compression.is_some() {
            self.compressor.make(self.compression, b"")?;
            self.sink.write_all(&self.compressor.compressed)?;
        }
        Ok(())
    }
}

/// A complete output.
pub struct CompleteOutput {
    name: String,
    /// The file to rename, or `None` for outputs that are not renamed.
    file: Option<Complete>,
    /// The folders that were created for it.
    folders: Option<Arc<NewFolders>>,
}

impl CompleteOutput {
    /// Keeps the folders that were created for the output until the run has ended.
    pub fn in_folders(self, folders: &Arc<NewFolders>) -> CompleteOutput {
        CompleteOutput { folders: Some(Arc::clone(folders)), ..self }
    }

    /// Returns the name of a file that this replaces.
    pub fn replaced(&self) -> Option<&str> {
        self.file.as_ref().filter(|file| !file.is_new()).map(|_| &*self.name)
    }

    /// Gives all files of a run their names. A signal leaves all of them or none.
    pub fn publish_all(
        outputs: impl IntoIterator<Item = CompleteOutput>,
    ) -> Result<(), OutputFailed> {
        let (mut names, mut files, mut folders) = (Vec::new(), Vec::new(), Vec::new());
        for CompleteOutput { name, file, folders: of_output } in outputs {
            let Some(file) = file else { continue };
            names.push(name);
            files.push(file);
            // Kept until the files have their names, or are removed.
            folders.extend(of_output);
        }
        let published = atomic_file::publish_all(files);
        published.map_err(|(position, error)| OutputFailed::new(&names[position], error))
    }
}

impl Destination {
    /// Writes all of `bytes`. The reader of a pipe sees them at once.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Destination::InPlace(sink) => sink.write_all(bytes).and_then(|()| sink.flush()),
            Destination::File(file) => file.write_all(bytes),
        }
    }
}

/// Writes text to standard output that is already escaped and may have colours.
pub fn print(bytes: &[u8]) -> Result<(), OutputFailed> {
    CompleteOutput::publish_all([Output::styled().complete_with(bytes)?])
}

/// Returns records with their hidden characters escaped, except TAB and line ends.
fn shown_records(records: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(records.len());
    for line in records.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(line);
        for (number, field) in text.split(|&byte| byte == b'\t').enumerate() {
            let tab = if number == 0 { "" } else { "\t" };
            shown.extend(format!("{tab}{}", visible(field)).into_bytes());
        }
        shown.extend_from_slice(&line[text.len()..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Text may be written in any pieces, and a file without text is whole too.
    #[test]
    fn compressed_files_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let text = vec![b'x'; 2 * FRAME_BYTES + 1];
        for (name, unpack) in [
            ("out.zst", (|bytes| zstd::decode_all(bytes).unwrap()) as fn(&[u8]) -> Vec<u8>),
            ("out.gz", |bytes| {
                let mut text = Vec::new();
                flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut text).unwrap();
                text
            }),
        ] {
            let path = folder.path().join(name);
            let written = |write: &dyn Fn(&mut Output)| {
                let mut output = Output::create(&OutputFile(path.clone())).unwrap();
                write(&mut output);
                output.finish().unwrap();
                fs::read(&path).unwrap()
            };
            let at_once = written(&|output| output.write(&text).unwrap());
            let in_pieces =
                written(&|output| text.chunks(1_000).for_each(|it| output.write(it).unwrap()));
            assert!(unpack(&at_once) == text && at_once == in_pieces);
            let with_made = written(&|output| {
                let mut made = text.clone();
                Compressor::default().compress(output.compression, &mut made).unwrap();
                output.write(b"before\n").unwrap();
                output.write_compressed(&made).unwrap();
                output.write_compressed(b"").unwrap();
                output.write(b"after\n").unwrap();
            });
            assert!(unpack(&with_made) == [b"before\n", &text[..], b"after\n"].concat());
            let nothing = written(&|_| {});
            assert!(!nothing.is_empty() && unpack(&nothing).is_empty());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "before").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut output = Output::create(&OutputFile(link.clone())).unwrap();
        output.write(b"after").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"after");
    }
}
