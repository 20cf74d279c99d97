//! Outputs: standard output, or a file that appears under its name once it is complete.
//!
//! A file is an [`AtomicFile`], compressed by its extension; a run that fails leaves none. A path
//! that exists and is not a regular file (a pipe, `/dev/null`) is written to in place instead of
//! replaced.
//!
//! A compressed file is a sequence of frames of zstd or members of gzip, so that threads can compress
//! what they made ([`Compressor`]) and one thread writes it. What an [`Output`] compresses itself is
//! cut where the text has [`FRAME_BYTES`], so the same text makes the same file.
//!
//! Records are untrusted text. On a terminal, their hidden characters are escaped; elsewhere they
//! are written byte for byte.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::builder::{
    MapValueParser, OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory,
};
use flate2::write::GzEncoder;
use portcullis_files::atomic_file::{self, AtomicFile, Complete};
use portcullis_files::compression::Coding;
pub use portcullis_files::error::WriteError as OutputFailed;
use portcullis_text::visible::visible;
use zstd::zstd_safe::compress_bound;

/// The path of a file to write. Only such a path can be opened as an output.
///
/// Only this module makes one of an argument: as the value of a flag, alone, in [`RecordsTo`] or in [`SummaryTo`].
/// [`written`] returns all of them, so that [`files`](super::files) checks every output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile(PathBuf);

/// A parser that makes a value of any argument.
type ParserOf<T> = MapValueParser<OsStringValueParser, fn(OsString) -> T>;

impl ValueParserFactory for OutputFile {
    type Parser = ParserOf<OutputFile>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(|path| OutputFile(path.into()))
    }
}

impl Deref for OutputFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// The path of a folder to write files to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    /// Returns the path of a file in the folder.
    pub fn file(&self, name: impl AsRef<Path>) -> OutputFile {
        OutputFile(self.0.join(name))
    }
}

impl ValueParserFactory for OutputFolder {
    type Parser = ParserOf<OutputFolder>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().map(|path| OutputFolder(path.into()))
    }
}

impl Deref for OutputFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// What happens to some of the records: `keep`, `drop`, or a file to which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordsTo {
    Output,
    Nowhere,
    File(OutputFile),
}

impl RecordsTo {
    /// Returns the file to which the records are written.
    pub fn file(&self) -> Option<&OutputFile> {
        match self {
            RecordsTo::File(path) => Some(path),
            RecordsTo::Output | RecordsTo::Nowhere => None,
        }
    }

    /// Parses a value. A misspelt word would be a file.
    fn parse(text: OsString) -> Result<RecordsTo, String> {
        let word = text.to_string_lossy().to_lowercase();
        let near = ["keep", "drop"].into_iter().find(|it| strsim::osa_distance(it, &word) <= 1);
        match (text.to_str(), near) {
            (Some("keep"), _) => Ok(RecordsTo::Output),
            (Some("drop"), _) => Ok(RecordsTo::Nowhere),
            (Some("-"), _) => {
                Err("records cannot be set aside on standard output; name a file".into())
            }
            (_, Some(near)) => Err(format!("did you mean {near}? A file is ./{}", text.display())),
            _ => Ok(RecordsTo::File(OutputFile(text.into()))),
        }
    }
}

impl ValueParserFactory for RecordsTo {
    type Parser = TryMapValueParser<OsStringValueParser, fn(OsString) -> Result<RecordsTo, String>>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().try_map(RecordsTo::parse)
    }
}

/// A value of `--summary`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryTo {
    Nowhere,
    Text,
    Json,
    File(OutputFile, FileForm),
}

/// The form of a file of `--summary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    Json,
    Markdown,
}

impl SummaryTo {
    fn file(&self) -> Option<&OutputFile> {
        match self {
            SummaryTo::File(path, _) => Some(path),
            SummaryTo::Nowhere | SummaryTo::Text | SummaryTo::Json => None,
        }
    }

    fn parse(text: OsString) -> Result<SummaryTo, String> {
        let extension = Path::new(&text).extension().and_then(OsStr::to_str);
        let form = match (text.to_str(), extension) {
            (Some("none"), _) => return Ok(SummaryTo::Nowhere),
            (Some("text"), _) => return Ok(SummaryTo::Text),
            (Some("json"), _) => return Ok(SummaryTo::Json),
            (_, Some("json")) => FileForm::Json,
            (_, Some("md")) => FileForm::Markdown,
            _ => return Err("use text, json or none, or name a file .json or .md".into()),
        };
        Ok(SummaryTo::File(OutputFile(text.into()), form))
    }
}

impl ValueParserFactory for SummaryTo {
    type Parser = TryMapValueParser<OsStringValueParser, fn(OsString) -> Result<SummaryTo, String>>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().try_map(SummaryTo::parse)
    }
}

/// The path of an output.
pub enum Written<'m> {
    File(&'m OutputFile),
    Folder(&'m OutputFolder),
}

impl Written<'_> {
    pub fn path(&self) -> &Path {
        match self {
            Written::File(path) => path,
            Written::Folder(path) => path,
        }
    }
}

/// Returns the outputs among the values of an argument.
pub fn written<'m>(matches: &'m ArgMatches, id: &str) -> impl Iterator<Item = Written<'m>> {
    let records = values_of::<RecordsTo>(matches, id).filter_map(RecordsTo::file);
    let summaries = values_of::<SummaryTo>(matches, id).filter_map(SummaryTo::file);
    let files = values_of(matches, id).chain(records).chain(summaries).map(Written::File);
    files.chain(values_of(matches, id).map(Written::Folder))
}

/// Returns the values of an argument; none if it has another type.
pub fn values_of<'m, T: Clone + Send + Sync + 'static>(
    matches: &'m ArgMatches,
    id: &str,
) -> impl Iterator<Item = &'m T> {
    matches.try_get_many(id).ok().flatten().into_iter().flatten()
}

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    StandardOutput,
    File(OutputFile),
}

impl Destination {
    /// Returns the destination `file`, or standard output if `file` is `None` or `-`.
    pub fn new(file: Option<OutputFile>) -> Destination {
        match file {
            Some(path) if path.as_os_str() != "-" => Destination::File(path),
            _ => Destination::StandardOutput,
        }
    }

    /// Whether the destination exists and is not a regular file, such as a pipe or `/dev/null`. Its
    /// extension then has no meaning.
    pub fn is_special(&self) -> bool {
        match self {
            Destination::StandardOutput => true,
            Destination::File(path) => fs::metadata(&**path).is_ok_and(|it| !it.is_file()),
        }
    }
}

/// Returns the error for a failure to write to standard output.
pub fn standard_output_failed(error: io::Error) -> OutputFailed {
    OutputFailed::new(STANDARD_OUTPUT, error)
}

/// Whether `error` means that the reader of an output has closed it.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let failed = error.downcast_ref::<OutputFailed>();
    failed.is_some_and(|failed| failed.kind() == ErrorKind::BrokenPipe)
}

const STANDARD_OUTPUT: &str = "standard output";

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
    sink: Plain,
    compression: Option<Coding>,
    /// The text that is not compressed yet.
    text: Vec<u8>,
    /// Whether nothing was written yet.
    is_empty: bool,
    compressor: Compressor,
    /// Whether hidden characters are escaped.
    escapes: bool,
}

/// The sink of bytes that are compressed, if they are to be.
enum Plain {
    Standard(io::Stdout),
    /// An existing path that is not a regular file.
    InPlace(BufWriter<File>),
    File(AtomicFile),
}

/// The buffer of an output that is written in place.
const BUFFER_BYTES: usize = 256 * 1024;

/// The text of a frame or member that an output makes itself.
const FRAME_BYTES: usize = 1 << 20;

impl Output {
    /// Opens a destination.
    pub fn open(destination: &Destination) -> Result<Output, OutputFailed> {
        match destination {
            Destination::StandardOutput => Ok(Output::standard()),
            Destination::File(path) => Output::create(path),
        }
    }

    fn standard() -> Output {
        Output { escapes: io::stdout().is_terminal(), ..Output::styled() }
    }

    /// Opens standard output for text that is already escaped and may have colours.
    pub fn styled() -> Output {
        Output::of(STANDARD_OUTPUT.into(), Plain::Standard(io::stdout()), None)
    }

    fn of(name: String, sink: Plain, compression: Option<Coding>) -> Output {
        let (text, compressor) = (Vec::new(), Compressor::default());
        Output { name, sink, compression, text, is_empty: true, compressor, escapes: false }
    }

    /// Opens a destination for bytes that need no compression, whatever its extension.
    pub fn open_as_is(destination: &Destination) -> Result<Output, OutputFailed> {
        match destination {
            Destination::StandardOutput => Ok(Output::styled()),
            Destination::File(path) => Output::create_as_is(path),
        }
    }

    /// Creates a file, compressed by its extension.
    pub fn create(path: &OutputFile) -> Result<Output, OutputFailed> {
        Output::create_with(path, Coding::from_file_name(path))
    }

    /// Creates a file for bytes that need no compression, whatever its extension.
    pub fn create_as_is(path: &OutputFile) -> Result<Output, OutputFailed> {
        Output::create_with(path, None)
    }

    /// Creates a file that replaces an input on purpose, as `lint --fix` does.
    pub fn replace_input(path: &Path) -> Result<Output, OutputFailed> {
        Output::create_with(path, None)
    }

    fn create_with(path: &Path, compression: Option<Coding>) -> Result<Output, OutputFailed> {
        if is_standard_output(path) {
            return Ok(Output::standard());
        }
        let name = path.display().to_string();
        match Plain::create(path) {
            Ok(sink) => {
                let escapes = matches!(&sink, Plain::InPlace(file) if file.get_ref().is_terminal());
                Ok(Output { escapes, ..Output::of(name, sink, compression) })
            }
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }

    /// Returns how the output is compressed.
    pub fn compression(&self) -> Option<Coding> {
        self.compression
    }

    /// Whether a file that is replaced has the same owner and group afterwards.
    pub fn keeps_owner(&self) -> bool {
        match &self.sink {
            Plain::File(file) => file.keeps_owner(),
            _ => true,
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

    /// Passes on what was written, unless it goes to a file or is compressed.
    pub fn flush(&mut self) -> Result<(), OutputFailed> {
        match (&mut self.sink, self.compression) {
            (sink @ (Plain::Standard(_) | Plain::InPlace(_)), None) => {
                sink.flush().map_err(|error| OutputFailed::new(&self.name, error))
            }
            _ => Ok(()),
        }
    }

    /// Completes the output. A file gets its name.
    pub fn finish(self) -> Result<(), OutputFailed> {
        Output::finish_all([self])
    }

    /// Completes all outputs of a run. No file gets its name before all of them are on disk.
    pub fn finish_all(outputs: impl IntoIterator<Item = Output>) -> Result<(), OutputFailed> {
        let complete: Vec<_> =
            outputs.into_iter().map(Output::complete).collect::<Result<_, _>>()?;
        CompleteOutput::publish_all(complete)
    }

    /// Completes the output. A file is then on disk, but does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteOutput, OutputFailed> {
        let ended = self.end();
        let Output { name, sink, .. } = self;
        match ended.and_then(|()| sink.complete()) {
            Ok(file) => Ok(CompleteOutput { name, file }),
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
}

impl CompleteOutput {
    /// Gives all files their names. A signal leaves all of them or none.
    pub fn publish_all(
        outputs: impl IntoIterator<Item = CompleteOutput>,
    ) -> Result<(), OutputFailed> {
        let renamed = outputs.into_iter().filter_map(|output| Some((output.name, output.file?)));
        let (names, files): (Vec<String>, Vec<Complete>) = renamed.unzip();
        let published = atomic_file::publish_all(files);
        published.map_err(|failed| OutputFailed::new(&names[failed.position], failed.source))
    }
}

impl Plain {
    fn create(path: &Path) -> io::Result<Plain> {
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(path)?;
                Ok(Plain::InPlace(BufWriter::with_capacity(BUFFER_BYTES, file)))
            }
            _ => AtomicFile::create(path).map(Plain::File),
        }
    }

    fn complete(mut self) -> io::Result<Option<Complete>> {
        match self {
            Plain::File(file) => file.complete().map(Some),
            Plain::Standard(_) | Plain::InPlace(_) => self.flush().map(|()| None),
        }
    }
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Plain::Standard(output) => output.write(bytes),
            Plain::InPlace(file) => file.write(bytes),
            Plain::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Plain::Standard(output) => output.flush(),
            Plain::InPlace(file) => file.flush(),
            Plain::File(file) => file.flush(),
        }
    }
}

/// Writes text to standard output that is already escaped and may have colours.
pub fn print(bytes: &[u8]) -> Result<(), OutputFailed> {
    let mut output = Output::styled();
    output.write(bytes)?;
    output.finish()
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
                Compressor::default().compress(output.compression(), &mut made).unwrap();
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
