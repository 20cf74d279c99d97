//! Writes a set's file: sections one after another, then checksums, then the header.
//!
//! Content is streamed. Memory: one block, and 8 bytes for each written block, which a
//! [`Table`](portcullis_files::scratch::Table) counts. The header is written last, so an unfinished
//! file has zeros instead of the magic, wherever it turns up.

#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use portcullis_files::atomic_file::AtomicFile;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool, Table};
use portcullis_set::file::{
    BLOCK, ContentHash, Header, HeaderFields, Layout, SECTION_ALIGNMENT, Section, SectionKind,
};
use portcullis_set::limits::{SET_BLOCK_BYTES, SET_SECTIONS_MAX};

use crate::compile::CompileError;

/// What the sections of a set are written to, one after another.
pub trait SectionSink {
    /// Begins a section, which ends the previous one.
    fn begin(&mut self, kind: SectionKind) -> Result<(), CompileError>;

    /// Appends `bytes` to the current section.
    fn write(&mut self, bytes: &[u8]) -> Result<(), CompileError>;

    /// Writes a section.
    fn section(&mut self, kind: SectionKind, bytes: &[u8]) -> Result<(), CompileError> {
        self.begin(kind)?;
        self.write(bytes)
    }

    /// Writes a section of what a spool has.
    fn spool(&mut self, kind: SectionKind, spool: &Spool) -> Result<(), CompileError> {
        self.begin(kind)?;
        spool.reader().each_piece(|piece| self.write(piece))
    }
}

/// Hashes the content of a set, section by section.
#[derive(Default)]
pub struct ContentHasher {
    /// The kind, the length and the hash of each section before the last one.
    sections: blake3::Hasher,
    last: Option<(SectionKind, BufWriter<blake3::Hasher>)>,
}

/// The bytes that are hashed at once: many are hashed several times as fast as few.
const HASHED_BYTES: usize = 64 * 1024;

impl ContentHasher {
    /// Begins a section, which ends the one before it.
    pub fn begin(&mut self, kind: SectionKind) {
        self.end();
        self.last = Some((kind, BufWriter::with_capacity(HASHED_BYTES, blake3::Hasher::new())));
    }

    /// Adds bytes to the section.
    pub fn update(&mut self, bytes: &[u8]) {
        let (_, hasher) = self.last.as_mut().expect("a section is begun before its bytes");
        hasher.write_all(bytes).expect("hashing has no error");
    }

    fn end(&mut self) {
        let Some((kind, hasher)) = self.last.take() else { return };
        let hasher = hasher.into_inner().expect("hashing has no error");
        self.sections.update(&kind.0.to_le_bytes());
        self.sections.update(&hasher.count().to_le_bytes());
        self.sections.update(hasher.finalize().as_bytes());
    }

    /// Returns the hash of all sections.
    pub fn finish(mut self) -> ContentHash {
        self.end();
        ContentHash(self.sections.finalize().into())
    }
}

/// A written file.
#[derive(Debug)]
pub struct Written<F> {
    /// The hash that identifies its content.
    pub content_hash: ContentHash,
    /// The size of the file, in bytes.
    pub file_bytes: u64,
    /// What it was written to. A file is not visible before it is published.
    pub file: F,
}

/// A file that is being written. If it is dropped, or a write fails, the unfinished file is
/// removed.
pub struct SetFileWriter<F> {
    /// The path, for messages.
    path: PathBuf,
    file: F,
    /// The bytes of the last, incomplete block.
    block: Vec<u8>,
    /// The number of blocks handed to the destination.
    blocks: u64,
    /// The stored form of the checksum of each block of data.
    checksums: Vec<u8>,
    /// What the checksums take of the memory.
    table: Table,
    sections: Vec<Section>,
    hasher: ContentHasher,
    /// Whether a write has failed, so that bytes are missing.
    is_broken: bool,
}

impl SetFileWriter<AtomicFile> {
    /// Creates a file that replaces an existing one at `path` when it is published.
    pub fn create(path: &Path) -> Result<SetFileWriter<AtomicFile>, WriteError> {
        let file = AtomicFile::create(path).map_err(|error| WriteError::new(path, error))?;
        SetFileWriter::new(path, file)
    }
}

impl SetFileWriter<Cursor<Vec<u8>>> {
    /// Creates a file in memory.
    pub fn in_memory() -> Result<SetFileWriter<Cursor<Vec<u8>>>, WriteError> {
        SetFileWriter::new(Path::new("the policy set in memory"), Cursor::default())
    }
}

impl<F: Write + Seek> SectionSink for SetFileWriter<F> {
    /// Begins a section, which ends the previous one.
    ///
    /// # Panics
    ///
    /// If a section of this kind exists, or the file has the maximum number of sections.
    fn begin(&mut self, kind: SectionKind) -> Result<(), CompileError> {
        assert!(self.sections.iter().all(|section| section.kind != kind), "{kind} begins twice");
        assert!(self.sections.len() < SET_SECTIONS_MAX, "{kind} is one section too many");
        self.pad(SECTION_ALIGNMENT)?;
        self.hasher.begin(kind);
        self.sections.push(Section { kind, start: self.position(), bytes: 0 });
        Ok(())
    }

    /// Appends `bytes` to the current section.
    ///
    /// # Panics
    ///
    /// If no section was begun.
    fn write(&mut self, bytes: &[u8]) -> Result<(), CompileError> {
        let section = self.sections.last_mut().expect("a section is begun before it is written");
        section.bytes += bytes.len() as u64;
        self.hasher.update(bytes);
        Ok(self.append(bytes)?)
    }
}

impl<F: Write + Seek> SetFileWriter<F> {
    /// Writes to `file`, which is empty. `path` is its name in messages.
    pub fn new(path: &Path, file: F) -> Result<SetFileWriter<F>, WriteError> {
        let mut writer = SetFileWriter {
            path: path.to_owned(),
            file,
            block: Vec::with_capacity(SET_BLOCK_BYTES),
            blocks: 0,
            checksums: Vec::new(),
            table: Table::default(),
            sections: Vec::new(),
            hasher: ContentHasher::default(),
            is_broken: false,
        };
        let header = [0; SET_BLOCK_BYTES];
        let written = writer.file.write_all(&header);
        writer.checked(written)?;
        writer.blocks = 1;
        Ok(writer)
    }

    /// Counts its checksums among the tables of a scratch.
    #[must_use]
    pub fn within(self, scratch: &Scratch) -> SetFileWriter<F> {
        SetFileWriter { table: scratch.table(), ..self }
    }

    /// Writes checksums and header.
    ///
    /// # Panics
    ///
    /// If the dialect's name in `fields` is invalid in a header.
    pub fn finish(mut self, fields: &HeaderFields) -> Result<Written<F>, WriteError> {
        if self.is_broken {
            let missing = io::Error::other("not all that was written has arrived");
            return Err(WriteError::new(&self.path, missing));
        }
        let data_end = self.position();
        self.pad(BLOCK)?;
        let layout = Layout::from_data(data_end).expect("what was written can be counted");
        let header = Header {
            fields: *fields,
            content_hash: std::mem::take(&mut self.hasher).finish(),
            root: self.write_levels()?,
            sections: std::mem::take(&mut self.sections),
            layout,
        };
        let file_bytes = header.layout.file_bytes();
        let written = self.write_header(&header);
        self.checked(written)?;
        Ok(Written { content_hash: header.content_hash, file_bytes, file: self.file })
    }

    /// Writes each level after the one before it, and returns the root checksum.
    fn write_levels(&mut self) -> Result<u64, WriteError> {
        let mut level = std::mem::take(&mut self.checksums);
        let mut root = XxHash3_64::oneshot(&[]);
        while !level.is_empty() {
            self.append(&level)?;
            self.pad(BLOCK)?;
            // The checksums of the blocks that were just written form the next level. The checksum
            // of the last level is the root.
            level = std::mem::take(&mut self.checksums);
            if let Ok(last) = level.as_slice().try_into() {
                root = u64::from_le_bytes(last);
                break;
            }
        }
        Ok(root)
    }

    fn write_header(&mut self, header: &Header) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(header.encode().as_bytes())?;
        self.file.flush()
    }

    /// Returns the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.blocks * BLOCK + self.block.len() as u64
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            let room = SET_BLOCK_BYTES - self.block.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == SET_BLOCK_BYTES {
                let written = self.file.write_all(&self.block);
                self.checked(written)?;
                self.checksums.extend_from_slice(&XxHash3_64::oneshot(&self.block).to_le_bytes());
                self.table.resize(self.checksums.capacity())?;
                self.blocks += 1;
                self.block.clear();
            }
        }
        Ok(())
    }

    /// Appends zeros up to a multiple of `alignment`, which divides the block size.
    fn pad(&mut self, alignment: u64) -> Result<(), WriteError> {
        let bytes = self.position().next_multiple_of(alignment) - self.position();
        self.append(&[0; SET_BLOCK_BYTES][..bytes as usize])
    }

    /// Adds the path to a failure, and remembers that there was one.
    fn checked(&mut self, written: io::Result<()>) -> Result<(), WriteError> {
        self.is_broken |= written.is_err();
        written.map_err(|error| WriteError::new(&self.path, error))
    }
}
