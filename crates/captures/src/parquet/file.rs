//! Opens a Parquet file, for captures and for lists of URLs.
//!
//! This module reads the file's bytes ([`StoredFile`]) and its metadata ([`ParquetSource`]). Use
//! [`columns`](super::columns) to find a column.
//!
//! Cost: only the metadata at the end of the file is read, and no rows. Each thread reads at its
//! own position, so many threads can read one file.
//!
//! A truncated, encrypted or damaged file is an error that says so. The parquet crate checks the
//! sizes in the metadata against the file before it allocates. Some of its assertions fail on
//! damaged files; [`guarded`] turns these panics into errors.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use parquet::file::reader::{ChunkReader, Length};

use super::footer;
use crate::limits::PARQUET_READ_BYTES;
use portcullis_files::input::InputError;
use portcullis_files::kind::{PARQUET, PARQUET_ENCRYPTED};
use portcullis_files::read_at::ReadAt;

/// An opened Parquet file.
#[derive(Debug)]
pub struct ParquetSource {
    /// Its name in errors.
    pub name: String,
    /// Its bytes.
    pub file: Arc<StoredFile>,
    pub metadata: Arc<ParquetMetaData>,
    pub(super) rows: u64,
    is_partly_encrypted: bool,
}

/// Returns the metadata of a file, and whether columns are encrypted. The index of the pages of such columns is
/// encrypted too, so none is read.
fn metadata_of(
    file: &StoredFile,
    page_index: PageIndexPolicy,
) -> Result<(ParquetMetaData, bool), ParquetError> {
    const TAIL_BYTES: u64 = 8;
    let start = file.bytes.saturating_sub(TAIL_BYTES);
    let tail = file.get_bytes(start, (file.bytes - start) as usize)?;
    let bytes = tail.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let start = start.checked_sub(bytes).ok_or_else(|| {
        let problem = "its metadata is longer than the file; fetch it again";
        ParquetError::General(problem.to_owned())
    })?;
    let mut text = file.get_bytes(start, bytes as usize)?.to_vec();
    let is_encrypted = footer::look(&mut text);
    let metadata = ParquetMetaDataReader::decode_metadata(&text)?;
    if is_encrypted || page_index == PageIndexPolicy::Skip {
        return Ok((metadata, is_encrypted));
    }
    let reader = ParquetMetaDataReader::new_with_metadata(metadata);
    let mut reader = reader.with_page_index_policy(page_index);
    reader.read_page_indexes(file)?;
    Ok((reader.finish()?, false))
}

impl ParquetSource {
    /// Opens a file. Errors call it `name`. `page_index` is whether to read the index of pages,
    /// which a copy keeps.
    ///
    /// # Errors
    ///
    /// If the system cannot read it, or it is not a complete Parquet file.
    pub fn open(
        name: &str,
        file: File,
        page_index: PageIndexPolicy,
    ) -> Result<ParquetSource, InputError> {
        let stamp = StoredFile::stamp(&file).map_err(|error| InputError::open(name, error));
        let (bytes, modified) = stamp?;
        let file = Arc::new(StoredFile { file: Arc::new(file), bytes, modified });
        let read = || {
            file.check_ends()?;
            let (metadata, is_partly_encrypted) =
                metadata_of(&file, page_index).map_err(|error| no_parquet(&error))?;
            let contradiction = || "its metadata contradicts itself; fetch it again".to_owned();
            Ok((rows_of(&metadata).ok_or_else(contradiction)?, metadata, is_partly_encrypted))
        };
        let (rows, metadata, is_partly_encrypted) =
            guarded(read).map_err(|it| InputError::list(name, it))?;
        let (name, metadata) = (name.to_owned(), Arc::new(metadata));
        Ok(ParquetSource { name, file, metadata, rows, is_partly_encrypted })
    }

    /// Checks that rows can be copied with all of their columns.
    ///
    /// # Errors
    ///
    /// If columns are encrypted.
    pub fn check_copy(&self) -> Result<(), InputError> {
        if !self.is_partly_encrypted {
            return Ok(());
        }
        let problem = "some columns are encrypted, so its rows cannot be copied; choose another format \
                       than Parquet with ‹format›";
        Err(self.problem(problem.to_owned()))
    }

    /// Returns the names of the columns that have a value in a row, those within structures with dots.
    pub fn leaf_names(&self) -> Vec<String> {
        let schema = self.metadata.file_metadata().schema_descr();
        let leaves = schema.columns().iter().filter(|column| column.max_rep_level() == 0);
        leaves.map(|column| column.path().string()).collect()
    }

    /// Returns the error that the file cannot be read as it is.
    pub(super) fn problem(&self, problem: String) -> InputError {
        InputError::list(&self.name, problem)
    }
}

/// Returns the message for a file that the parquet crate rejects.
pub fn no_parquet(error: &ParquetError) -> String {
    format!("cannot be read as Parquet: {}", text_of(error))
}

/// Returns the text of an error without the crate's prefix.
pub fn text_of(error: &ParquetError) -> String {
    plain_text(&error.to_string())
}

/// Strips the crate's prefixes from a text. There may be several.
pub fn plain_text(text: &str) -> String {
    let introductions = ["Parquet argument error: ", "Parquet error: ", "External: ", "EOF: "];
    let rest = introductions.iter().find_map(|introduction| text.strip_prefix(introduction));
    rest.map_or_else(|| text.to_owned(), plain_text)
}

/// Checks that the pages of `chunk` can be decompressed. The error says what is wrong.
pub fn supported_compression(chunk: &ColumnChunkMetaData) -> Result<(), String> {
    let name = match chunk.compression() {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(format!(
        "compressed with {name}, which is not supported; write the file anew with Snappy, gzip, LZ4 or \
         zstd"
    ))
}

/// Returns the number of rows, or `None` if the file and its row groups disagree.
fn rows_of(metadata: &ParquetMetaData) -> Option<u64> {
    let mut rows = 0_u64;
    for group in metadata.row_groups() {
        rows = rows.checked_add(u64::try_from(group.num_rows()).ok()?)?;
    }
    let said = u64::try_from(metadata.file_metadata().num_rows()).ok()?;
    (rows == said).then_some(rows)
}

/// Runs `read` and returns a panic as an error. The parquet crate asserts conditions that a damaged
/// file may violate, and one file must not end a run over many.
pub fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // State that a panic left incomplete is never used again.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its data contradicts itself; fetch it again".to_owned()))
}

/// A file that several threads read, each at its own position.
#[derive(Clone, Debug)]
pub struct StoredFile {
    file: Arc<File>,
    bytes: u64,
    /// When the file was last written to, if the system says so.
    modified: Option<SystemTime>,
}

impl StoredFile {
    /// Returns the bytes and the time of the last change as the system says now.
    fn stamp(file: &File) -> std::io::Result<(u64, Option<SystemTime>)> {
        file.metadata().map(|metadata| (metadata.len(), metadata.modified().ok()))
    }

    /// Checks the magic numbers at both ends. The error describes the file if they do not match.
    fn check_ends(&self) -> Result<(), String> {
        let mut ends = [[0; PARQUET.len()]; 2];
        let last = self.bytes.saturating_sub(PARQUET.len() as u64);
        for (end, position) in ends.iter_mut().zip([0, last]) {
            let mut read = self.at(position);
            // Missing bytes stay zero.
            match read.read_exact(end) {
                Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
                    return Err(error.to_string());
                }
                _ => {}
            }
        }
        let problem = match ends.each_ref().map(|end| &end[..]) {
            [PARQUET_ENCRYPTED, _] | [_, PARQUET_ENCRYPTED] => {
                "the file is encrypted; decrypt it with the program that wrote it"
            }
            [PARQUET, PARQUET] => return Ok(()),
            [PARQUET, _] => {
                return Err(format!(
                    "cut short: {} bytes are there, and a Parquet file has its metadata at its end; \
                     fetch it again or finish writing it",
                    self.bytes
                ));
            }
            _ => {
                "not a Parquet file: it does not begin with PAR1; name its format with \
                 ‹input_format›"
            }
        };
        Err(problem.to_owned())
    }

    fn at(&self, position: u64) -> ReadAt<Arc<File>> {
        ReadAt::new(Arc::clone(&self.file), position)
    }
}

impl Length for StoredFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for StoredFile {
    type T = BufReader<ReadAt<Arc<File>>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
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
        // Verdicts and copied columns are read one after the other, and must be of one file.
        if StoredFile::stamp(&self.file)? != (self.bytes, self.modified) {
            return Err(ParquetError::General(
                "the file was written to while it was read".to_owned(),
            ));
        }
        Ok(bytes.into())
    }
}
