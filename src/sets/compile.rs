//! Making sets: of texts or files in memory, or of archives in a file.

use std::path::Path;

use portcullis_build::{self as build, LoadNote, Strictness};
use portcullis_dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::scratch::Scratch;
use portcullis_robots::url::Origin;

use super::{PolicySet, SetError, opened};

/// How files are read and compiled.
#[derive(Clone, Debug)]
pub struct CompileConfig {
    dialect: &'static Dialect,
    bytes_max: Option<usize>,
    strictness: Strictness,
    has_history: bool,
}

impl CompileConfig {
    /// Returns the defaults: the first 500 KiB of a file are read, unreadable input is an error, and
    /// no history is kept.
    pub fn new(dialect: &'static Dialect) -> CompileConfig {
        let (bytes_max, strictness) = (Some(ROBOTS_BYTES_MAX), Strictness::Usual);
        CompileConfig { dialect, bytes_max, strictness, has_history: false }
    }

    /// Sets the number of bytes of a file that are read; `None` for all.
    #[must_use]
    pub fn bytes_max(self, bytes_max: Option<usize>) -> CompileConfig {
        CompileConfig { bytes_max, ..self }
    }

    /// Sets which notes and faults are errors.
    #[must_use]
    pub fn strictness(self, strictness: Strictness) -> CompileConfig {
        CompileConfig { strictness, ..self }
    }

    /// Keeps what was in force at each time, for [`Classifier::as_of`](super::Classifier::as_of).
    /// Files without dates have no history.
    #[must_use]
    pub fn history(self, has_history: bool) -> CompileConfig {
        CompileConfig { has_history, ..self }
    }

    fn loading(&self) -> build::LoadConfig {
        build::LoadConfig {
            robots_bytes_max: self.bytes_max,
            strictness: self.strictness,
            ..build::LoadConfig::new(self.dialect)
        }
    }
}

/// A set in memory, and what was found while its files were read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The compiled files.
    pub set: PolicySet,
    /// The first 10 files that were left out, and all notes on files that were read.
    pub notes: Vec<LoadNote>,
    /// The number of files that were left out.
    pub left_out: u64,
}

/// Reads a robots.txt file, which then applies to every URL, or a folder of files named by host
/// (`example.com`, `example.com.txt`, `example.com/robots.txt`), each of which applies to http and
/// https. `-` is standard input.
///
/// Runs on the calling thread's rayon pool. Each distinct file is parsed once.
///
/// # Errors
///
/// If a file cannot be read, a note is an error by [`CompileConfig::strictness`], or a folder has no
/// file named by a host.
pub fn load(path: impl AsRef<Path>, config: &CompileConfig) -> Result<Loaded, SetError> {
    let loaded = build::load(path.as_ref(), &config.loading()).map_err(SetError::new)?;
    let build::Loaded { set, notes, left_out } = loaded;
    Ok(Loaded { set: PolicySet(set.into()), notes, left_out })
}

/// Compiles one file that applies to every URL.
///
/// # Panics
///
/// If a line is longer than a set can hold, 1 GiB.
pub fn load_text(text: &[u8], config: &CompileConfig) -> PolicySet {
    PolicySet(build::load_text(text, &config.loading()).into())
}

/// Compiles files, each of which applies to its origin. The first file of an origin counts. URLs of
/// other origins are unknown.
///
/// # Panics
///
/// As [`load_text`].
pub fn load_files<'f>(
    files: impl IntoIterator<Item = (&'f Origin, &'f [u8])>,
    config: &CompileConfig,
) -> PolicySet {
    PolicySet(build::load_files(files, &config.loading()).into())
}

/// A set in a file, and what was found while its captures were read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The set, read into memory.
    pub set: PolicySet,
    /// The number of captures in the inputs.
    pub captures: u64,
    /// The number of records that could not be read, and were left out.
    pub left_out: u64,
}

/// Compiles captures of robots.txt files into the set at `output`: archives (WARC, JSON Lines, CSV,
/// with the feature `parquet` Parquet) and folders of files named by host. The file appears complete
/// or not at all.
///
/// Runs on the calling thread's rayon pool. Each distinct file is parsed once. What does not fit in a
/// quarter of the machine's memory is written to temporary files next to the output.
///
/// # Errors
///
/// If an input cannot be read, or [`CompileConfig::strictness`] makes a note an error; all inputs are
/// read first. If no input has a capture, or the file cannot be written.
pub fn compile(
    inputs: &[impl AsRef<Path>],
    output: impl AsRef<Path>,
    config: &CompileConfig,
) -> Result<Compiled, SetError> {
    let output = output.as_ref();
    let scratch = Scratch::new(Some(output), None);
    let ingesting = build::IngestConfig {
        strictness: config.strictness,
        history: config.has_history,
        scratch,
        ..build::IngestConfig::new(config.dialect, config.bytes_max)
    };
    let inputs: Vec<_> = inputs.iter().map(|path| build::Input::new(path.as_ref())).collect();
    let ingested = build::ingest(&inputs, &ingesting, &()).map_err(SetError::new)?;
    let written = build::compile::write(&ingested.standings, &ingested.compiling, output);
    written.map_err(SetError::new)?;
    let reports = ingested.inputs.iter();
    Ok(Compiled {
        captures: reports.clone().map(|report| report.captures).sum(),
        left_out: reports.map(|report| report.broken).sum(),
        set: opened(portcullis_set::PolicySet::open(output))?,
    })
}
