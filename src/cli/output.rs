//! Outputs: standard output, or a file that appears under its name once it is complete.
//!
//! A file is an [`AtomicFile`], compressed by its extension; a run that fails leaves none. A path
//! that exists and is not a regular file (a pipe, `/dev/null`) is written to in place instead of
//! replaced.
//!
//! Records are untrusted text. On a terminal, their hidden characters are escaped; elsewhere they
//! are written byte for byte.

use std::borrow::Cow;
use std::ffi::OsString;
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
use portcullis_text::visible::visible;

/// The path of a file to write. Only such a path can be opened as an output.
///
/// Only this module makes one of an argument: as the value of a flag, alone or in [`RecordsTo`].
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
    let files = values_of(matches, id).chain(records).map(Written::File);
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

/// An output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {name}: {}", fix(.source))]
pub struct OutputFailed {
    name: String,
    source: io::Error,
}

/// Returns what to try after a failure.
fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or write elsewhere with -o"
        }
        ErrorKind::FileTooLarge => "raise the limit on file sizes (ulimit -f)",
        ErrorKind::NotFound => "create its folder first",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "write elsewhere with -o",
        _ => "check the path",
    }
}

impl OutputFailed {
    pub fn new(name: &str, source: io::Error) -> OutputFailed {
        OutputFailed { name: name.to_owned(), source }
    }

    /// Returns the error for a failure to write to standard output.
    pub fn standard_output(source: io::Error) -> OutputFailed {
        OutputFailed::new(STANDARD_OUTPUT, source)
    }

    /// Whether `error` means that the reader of an output has closed it.
    pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
        error
            .downcast_ref::<OutputFailed>()
            .is_some_and(|failed| failed.source.kind() == ErrorKind::BrokenPipe)
    }

    /// Returns the kind of the system's error.
    pub fn kind(&self) -> ErrorKind {
        self.source.kind()
    }
}

const STANDARD_OUTPUT: &str = "standard output";

/// The path of standard output on Unix systems.
const STANDARD_OUTPUT_PATH: &str = "/dev/stdout";

/// Whether `path` names standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new(STANDARD_OUTPUT_PATH)
}

/// An output that is being written. A file does not exist before it is [finished](Output::finish).
pub struct Output {
    name: String,
    encoder: Encoder,
    /// Whether hidden characters are escaped.
    escapes: bool,
}

/// The sink of encoded bytes.
enum Plain {
    Standard(io::Stdout),
    /// An existing path that is not a regular file.
    InPlace(BufWriter<File>),
    File(AtomicFile),
}

enum Encoder {
    Identity(Plain),
    Gzip(GzEncoder<Plain>),
    Zstd(zstd::Encoder<'static, Plain>),
}

/// The buffer of an output that is written in place.
const BUFFER_BYTES: usize = 256 * 1024;

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
        let encoder = Encoder::Identity(Plain::Standard(io::stdout()));
        Output { name: STANDARD_OUTPUT.into(), encoder, escapes: false }
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
        Output::create_with(path, |plain| Encoder::for_name(path, plain))
    }

    /// Creates a file for bytes that need no compression, whatever its extension.
    pub fn create_as_is(path: &OutputFile) -> Result<Output, OutputFailed> {
        Output::create_with(path, |plain| Ok(Encoder::Identity(plain)))
    }

    /// Creates a file that replaces an input on purpose, as `lint --fix --in-place` does.
    pub fn replace_input(path: &Path) -> Result<Output, OutputFailed> {
        Output::create_with(path, |plain| Ok(Encoder::Identity(plain)))
    }

    fn create_with(
        path: &Path,
        encoder: impl FnOnce(Plain) -> io::Result<Encoder>,
    ) -> Result<Output, OutputFailed> {
        if is_standard_output(path) {
            return Ok(Output::standard());
        }
        let name = path.display().to_string();
        let created = Plain::create(path).and_then(|plain| {
            let escapes = matches!(&plain, Plain::InPlace(file) if file.get_ref().is_terminal());
            Ok((encoder(plain)?, escapes))
        });
        match created {
            Ok((encoder, escapes)) => Ok(Output { name, encoder, escapes }),
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }

    /// Whether a file that is replaced has the same owner and group afterwards.
    pub fn keeps_owner(&self) -> bool {
        match &self.encoder {
            Encoder::Identity(Plain::File(file)) => file.keeps_owner(),
            _ => true,
        }
    }

    /// Writes all of `bytes`, which are whole records.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        if bytes.is_empty() {
            return Ok(());
        }
        let shown = if self.escapes { Cow::Owned(shown_records(bytes)) } else { bytes.into() };
        let bytes = &*shown;
        self.encoder.write_all(bytes).map_err(|error| OutputFailed::new(&self.name, error))
    }

    /// Passes on what was written, unless it goes to a file or is compressed.
    pub fn flush(&mut self) -> Result<(), OutputFailed> {
        match &mut self.encoder {
            Encoder::Identity(plain @ (Plain::Standard(_) | Plain::InPlace(_))) => {
                plain.flush().map_err(|error| OutputFailed::new(&self.name, error))
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
    pub fn complete(self) -> Result<CompleteOutput, OutputFailed> {
        let Output { name, encoder, .. } = self;
        match encoder.finish().and_then(Plain::complete) {
            Ok(file) => Ok(CompleteOutput { name, file }),
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }
}

/// A complete output.
pub struct CompleteOutput {
    name: String,
    /// The file to rename, or `None` for outputs that are not renamed.
    file: Option<Complete>,
}

impl CompleteOutput {
    /// Returns a complete folder.
    pub fn of_folder(name: &Path, folder: Complete) -> CompleteOutput {
        CompleteOutput { name: name.display().to_string(), file: Some(folder) }
    }

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

impl Encoder {
    fn for_name(path: &Path, plain: Plain) -> io::Result<Encoder> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        Ok(match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("gz") => Encoder::Gzip(GzEncoder::new(plain, flate2::Compression::default())),
            Some("zst") => Encoder::Zstd(zstd::Encoder::new(plain, 0)?),
            _ => Encoder::Identity(plain),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Identity(plain) => plain.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<Plain> {
        match self {
            Encoder::Identity(plain) => Ok(plain),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
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
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_encoder_that_cannot_begin_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let failing = |_| Err(ErrorKind::OutOfMemory.into());
        assert!(Output::create_with(&folder.path().join("out.zst"), failing).is_err());
        assert_eq!(names(folder.path()), [""; 0]);
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
