//! Where data goes: standard output, or a file that appears under its name when it is complete.
//!
//! A file is written beside its name, compressed as that name ends, and renamed at the end, so that
//! nobody finds half of it; a run that fails takes its part away again. What is there and no regular
//! file (a pipe, `/dev/null`) is written to as it is, because replacing it is not what was meant.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

/// Where an output was asked to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl Destination {
    /// The file, or standard output if there is none or it is `-`.
    pub fn new(file: Option<PathBuf>) -> Destination {
        match file {
            Some(path) if path.as_os_str() != "-" => Destination::File(path),
            _ => Destination::StandardOutput,
        }
    }
}

/// An output that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {name}: {}", mend(.source))]
pub struct OutputFailed {
    name: String,
    source: io::Error,
}

/// What to do about a failure, for the messages of the system that leave it open.
fn mend(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or choose another place with -o"
        }
        ErrorKind::FileTooLarge => "lift the limit on the size of files (ulimit -f)",
        ErrorKind::NotFound => "create its folder first",
        ErrorKind::AlreadyExists => "another output goes there too, or remove the .unfinished file",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a place that you may write to"
        }
        _ => "check the place that it goes to",
    }
}

impl OutputFailed {
    fn new(name: &str, source: io::Error) -> OutputFailed {
        OutputFailed { name: name.to_owned(), source }
    }

    /// Whether `error` says that nobody reads an output any more.
    pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
        error
            .downcast_ref::<OutputFailed>()
            .is_some_and(|failed| failed.source.kind() == ErrorKind::BrokenPipe)
    }

    /// What the system said, as far as it can be said twice.
    pub fn kind(&self) -> ErrorKind {
        self.source.kind()
    }
}

/// An output that is being written. Unless it is [finished](Output::finish), a file is not there.
pub struct Output {
    name: String,
    encoder: Option<Encoder>,
    unfinished: Option<Unfinished>,
}

/// A file beside its name.
struct Unfinished {
    path: PathBuf,
    target: PathBuf,
}

type Plain = Box<dyn Write>;

enum Encoder {
    Identity(Plain),
    Gzip(GzEncoder<Plain>),
    Zstd(zstd::Encoder<'static, Plain>),
}

/// Octets that are gathered before a file is written to.
const BUFFER_OCTETS: usize = 256 * 1024;

impl Output {
    /// Opens a destination.
    pub fn open(destination: &Destination) -> Result<Output, OutputFailed> {
        match destination {
            Destination::StandardOutput => Ok(Output {
                name: "standard output".into(),
                encoder: Some(Encoder::Identity(Box::new(io::stdout()))),
                unfinished: None,
            }),
            Destination::File(path) => Output::create(path),
        }
    }

    /// Opens a file, compressed as its name ends.
    pub fn create(path: &Path) -> Result<Output, OutputFailed> {
        Output::create_with(path, |plain| Encoder::for_name(path, plain))
    }

    /// Opens a file for octets that are compressed already, if its name says that they are.
    pub fn create_as_is(path: &Path) -> Result<Output, OutputFailed> {
        Output::create_with(path, |plain| Ok(Encoder::Identity(plain)))
    }

    fn create_with(
        path: &Path,
        encoder: impl FnOnce(Plain) -> io::Result<Encoder>,
    ) -> Result<Output, OutputFailed> {
        let name = path.display().to_string();
        let opened = create_beside(path).and_then(|(file, unfinished)| {
            let buffered = BufWriter::with_capacity(BUFFER_OCTETS, file);
            Ok((encoder(Box::new(buffered))?, unfinished))
        });
        match opened {
            Ok((encoder, unfinished)) => Ok(Output { name, encoder: Some(encoder), unfinished }),
            Err(error) => Err(OutputFailed::new(&name, error)),
        }
    }

    /// Writes all of `octets`.
    pub fn write(&mut self, octets: &[u8]) -> Result<(), OutputFailed> {
        match &mut self.encoder {
            Some(encoder) if !octets.is_empty() => {
                encoder.write_all(octets).map_err(|error| OutputFailed::new(&self.name, error))
            }
            _ => Ok(()),
        }
    }

    /// Ends the output; a file gets its name now.
    pub fn finish(mut self) -> Result<(), OutputFailed> {
        let finished = match self.encoder.take() {
            Some(encoder) => encoder.finish(),
            None => Ok(()),
        };
        finished.and_then(|()| self.rename()).map_err(|error| OutputFailed::new(&self.name, error))
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(unfinished) = &self.unfinished {
            fs::rename(&unfinished.path, &unfinished.target)?;
            self.unfinished = None;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The encoder first: it may still hold octets for the file.
        self.encoder = None;
        if let Some(unfinished) = &self.unfinished {
            // The run has failed already, and with a message of its own.
            let _ = fs::remove_file(&unfinished.path);
        }
    }
}

/// A file to write to, and where it goes in the end if it does not stand there already.
fn create_beside(path: &Path) -> io::Result<(File, Option<Unfinished>)> {
    // A link's target is replaced, not the link.
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let permissions = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        Ok(_) => return Ok((OpenOptions::new().write(true).open(&target)?, None)),
        Err(_) => None,
    };
    let unfinished = Unfinished { path: name_beside(&target)?, target };
    // Two outputs of one name would write over each other here.
    let file = OpenOptions::new().write(true).create_new(true).open(&unfinished.path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    Ok((file, Some(unfinished)))
}

/// A name in the same folder that says whose it is; the process's number keeps two runs apart.
fn name_beside(target: &Path) -> io::Result<PathBuf> {
    let Some(name) = target.file_name() else {
        return Err(ErrorKind::IsADirectory.into());
    };
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.unfinished", std::process::id()));
    Ok(target.with_file_name(beside))
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

    fn write_all(&mut self, octets: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Identity(plain) => plain.write_all(octets),
            Encoder::Gzip(encoder) => encoder.write_all(octets),
            Encoder::Zstd(encoder) => encoder.write_all(octets),
        }
    }

    fn finish(self) -> io::Result<()> {
        let mut plain = match self {
            Encoder::Identity(plain) => plain,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        plain.flush()
    }
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
    fn a_file_appears_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.tsv");
        let mut output = Output::create(&path).unwrap();
        output.write(b"text").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        assert_eq!(names(folder.path()), ["out.tsv"]);
    }

    #[test]
    fn a_run_that_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.tsv");
        fs::write(&path, "before").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write(b"text").unwrap();
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names(folder.path()), ["out.tsv"]);
    }

    #[test]
    fn a_name_tells_the_compression() {
        use std::io::Read as _;

        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in [("a.gz", &[0x1f, 0x8b][..]), ("a.zst", &[0x28, 0xb5][..])] {
            let path = folder.path().join(name);
            let mut output = Output::create(&path).unwrap();
            output.write(b"text").unwrap();
            output.finish().unwrap();
            let stored = fs::read(&path).unwrap();
            assert!(stored.starts_with(magic), "{name}");
            let mut text = String::new();
            if name == "a.gz" {
                let mut decoder = flate2::read::MultiGzDecoder::new(stored.as_slice());
                decoder.read_to_string(&mut text).unwrap();
            } else {
                let mut decoder = zstd::Decoder::new(stored.as_slice()).unwrap();
                decoder.read_to_string(&mut text).unwrap();
            }
            assert_eq!(text, "text");
        }
    }

    #[test]
    fn two_outputs_of_one_name_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let first = Output::create(&folder.path().join("out")).unwrap();
        assert!(Output::create(&folder.path().join("./out")).is_err());
        first.finish().unwrap();
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/out.tsv");
        let error = Output::create(&path).err().unwrap();
        assert!(error.to_string().contains("no/out.tsv"), "{error}");
        assert!(error.to_string().contains("create its folder"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_not_replaced() {
        use std::os::unix::fs::FileTypeExt as _;

        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        output.write(b"text").unwrap();
        output.finish().unwrap();
        let kind = fs::metadata("/dev/null").unwrap().file_type();
        assert!(kind.is_char_device());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "before").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write(b"after").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"after");
    }
}
