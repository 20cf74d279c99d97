//! Opening a Parquet file, for captures and for lists of URLs.
//!
//! Owns the file's bytes ([`StoredFile`]) and its metadata ([`ParquetSource`]). Use
//! [`parquet_columns`](super::parquet_columns) to find a column.
//!
//! Cost: the metadata, which is at the end of the file; no row is read. Threads read at positions of
//! their own, so that many can read one file.
//!
//! A file that is cut short, encrypted or damaged is an error that says so. The parquet crate checks
//! the sizes in metadata against the file before it allocates; where it asserts what a damaged file
//! may break, [`guarded`] makes the panic an error.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

use portcullis_dialect::limits::PARQUET_READ_BYTES;
use portcullis_robots::kind::{PARQUET, PARQUET_ENCRYPTED};

/// An opened Parquet file.
#[derive(Debug)]
pub struct ParquetSource {
    pub(crate) name: String,
    pub(crate) file: Arc<StoredFile>,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) rows: u64,
}

/// A Parquet file that cannot be opened.
pub(crate) enum OpenFailure {
    /// The system does not give it.
    System(io::Error),
    /// It is not a whole Parquet file. The text says what is wrong, and the fix.
    Problem(String),
}

impl ParquetSource {
    /// Opens the file at `path`. `page_index` says whether the index of pages is read, which a copy
    /// keeps.
    pub(crate) fn open(
        path: &Path,
        page_index: PageIndexPolicy,
    ) -> Result<ParquetSource, OpenFailure> {
        let file = File::open(path).map_err(OpenFailure::System)?;
        let bytes = file.metadata().map_err(OpenFailure::System)?.len();
        let file = Arc::new(StoredFile { file: Arc::new(file), bytes });
        file.check_ends().map_err(OpenFailure::Problem)?;
        let read = || {
            ParquetMetaDataReader::new().with_page_index_policy(page_index).parse_and_finish(&*file)
        };
        let metadata =
            guarded(|| read().map_err(|error| no_parquet(&error))).map_err(OpenFailure::Problem)?;
        let contradiction =
            || OpenFailure::Problem("its metadata contradicts itself; fetch it again".to_owned());
        let rows = rows_of(&metadata).ok_or_else(contradiction)?;
        let name = path.display().to_string();
        Ok(ParquetSource { name, file, metadata: Arc::new(metadata), rows })
    }

    /// What errors call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the file.
    pub fn file(&self) -> &Arc<StoredFile> {
        &self.file
    }

    /// The metadata.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }
}

/// The problem of a file that the parquet crate rejects.
pub(crate) fn no_parquet(error: &ParquetError) -> String {
    format!("cannot be read as Parquet: {}", text_of(error))
}

/// The text of an error without the crate's own introduction.
pub(crate) fn text_of(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => {
            text.clone()
        }
        ParquetError::External(source) => source.to_string(),
        other => other.to_string(),
    }
}

/// The number of rows, if the file and its row groups agree on it.
fn rows_of(metadata: &ParquetMetaData) -> Option<u64> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        rows = rows.checked_add(u64::try_from(group.num_rows()).ok()?)?;
    }
    let said = u64::try_from(metadata.file_metadata().num_rows()).ok()?;
    (rows == said).then_some(rows)
}

/// Runs `read`, and reports a panic in it as a problem: the parquet crate asserts what a damaged file
/// may break, and one file must not end a run over many.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // What a panic has left half done is never used again.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its data contradicts itself; fetch it again".to_owned()))
}

/// A file that threads read at positions of their own.
#[derive(Clone, Debug)]
pub struct StoredFile {
    file: Arc<File>,
    bytes: u64,
}

impl StoredFile {
    /// Checks the magic numbers at both ends. The error says what the file is instead.
    fn check_ends(&self) -> Result<(), String> {
        let mut ends = [[0; PARQUET.len()]; 2];
        let last = self.bytes.saturating_sub(PARQUET.len() as u64);
        for (end, position) in ends.iter_mut().zip([0, last]) {
            let mut read = self.at(position);
            // What is missing stays zero.
            match read.read_exact(end) {
                Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                    return Err(error.to_string());
                }
                _ => {}
            }
        }
        let [first, last] = ends.each_ref().map(|end| &end[..]);
        if first == PARQUET_ENCRYPTED || last == PARQUET_ENCRYPTED {
            return Err(
                "the file is encrypted; decrypt it with the program that wrote it".to_owned()
            );
        }
        if first == PARQUET && last != PARQUET {
            return Err(format!(
                "cut short: {} bytes are there, and a Parquet file has its metadata at its end; fetch it \
                 again or finish writing it",
                self.bytes
            ));
        }
        Ok(())
    }

    fn at(&self, position: u64) -> At {
        At { file: Arc::clone(&self.file), position }
    }
}

impl Length for StoredFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for StoredFile {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<BufReader<At>, ParquetError> {
        Ok(BufReader::with_capacity(PARQUET_READ_BYTES, self.at(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at byte {start} are past the end of the file"
            )));
        }
        let mut bytes = Vec::with_capacity(length);
        self.at(start).take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(ParquetError::EOF("the file became shorter while it was read".to_owned()));
        }
        Ok(bytes.into())
    }
}

/// The bytes of a file from a position on.
#[derive(Debug)]
pub struct At {
    file: Arc<File>,
    position: u64,
}

impl Read for At {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = read_at(&self.file, out, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, position)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, position)
}
