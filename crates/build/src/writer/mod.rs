//! Writes a set's file: sections one after another, then checksums, then the header.
//!
//! Content is streamed: 2 MiB at a time are hashed on one thread, and checked and written on another. Memory:
//! that, and 8 bytes for each written block, which a [`Table`](portcullis_files::scratch::Table) counts. The
//! header is written last, so an unfinished file has zeros instead of the magic, wherever it turns up.

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
    VERSION,
};
use portcullis_set::limits::{SET_BLOCK_BYTES, SET_SECTIONS_MAX};

use crate::compile::CompileError;

/// The destination of the sections of a set, which are written one after another.
pub trait SectionSink: Send {
    /// Begins a section, which ends the previous one.
    fn begin(&mut self, kind: SectionKind) -> Result<(), CompileError>;

    /// Appends `bytes` to the current section.
    fn write(&mut self, bytes: &[u8]) -> Result<(), CompileError>;

    /// Writes a section.
    fn section(&mut self, kind: SectionKind, bytes: &[u8]) -> Result<(), CompileError> {
        self.begin(kind)?;
        self.write(bytes)
    }

    /// Writes a section of what a spool has. While some is written, the next piece is read.
    fn spool(&mut self, kind: SectionKind, spool: &Spool) -> Result<(), CompileError> {
        self.begin(kind)?;
        if spool.is_in_memory() {
            return spool.reader().each_piece(|piece| self.write(piece));
        }
        let (mut reader, mut piece, mut next) = (spool.reader(), Vec::new(), Vec::new());
        reader.read_piece(&mut piece)?;
        while !piece.is_empty() {
            let (written, read) =
                rayon::join(|| self.write(&piece), || reader.read_piece(&mut next));
            written?;
            read?;
            std::mem::swap(&mut piece, &mut next);
        }
        Ok(())
    }
}

/// The bytes that are hashed and written at once: 2 MiB, from a multiple of that in the file.
///
/// Source: measured. Linux keeps more of what is written so in large pages, and maps these: to touch each
/// part of a set of 700 MB at random and to unmap it takes 20 ms, and 33 if it was written in small pieces.
const WRITTEN_BYTES: usize = 2 * 1024 * 1024;

/// The same for a set in memory, which is copied once more: 64 KiB.
const WRITTEN_BYTES_IN_MEMORY: usize = 64 * 1024;

const _: () = assert!(WRITTEN_BYTES.is_multiple_of(WRITTEN_BYTES_IN_MEMORY));
const _: () = assert!(WRITTEN_BYTES_IN_MEMORY.is_multiple_of(SET_BLOCK_BYTES));

/// Hashes the content of a set: its sections, one by one, and how they are read.
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

    /// Returns the hash of all sections and of the header's `fields`: the same sections decide
    /// otherwise in another dialect.
    pub fn finish(mut self, fields: &HeaderFields) -> ContentHash {
        self.end();
        self.sections.update(fields.as_bytes());
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
    /// The destination that it was written to. A file is not visible before it is published.
    pub file: F,
}

/// A file that is being written. If it is dropped, or a write fails, the unfinished file is
/// removed.
pub struct SetFileWriter<F> {
    /// The path, for messages.
    path: PathBuf,
    file: F,
    /// The bytes after those that were handed to the destination, from the start of a block.
    buffer: Vec<u8>,
    /// The size of a full buffer.
    buffer_bytes: usize,
    /// The bytes of the buffer that are hashed, or no content.
    hashed: usize,
    /// The number of blocks handed to the destination.
    blocks: u64,
    /// The stored form of the checksum of each block of data.
    checksums: Vec<u8>,
    /// The memory of the checksums.
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
        Ok(SetFileWriter::new(path, file))
    }
}

impl SetFileWriter<Cursor<Vec<u8>>> {
    /// Creates a file in memory.
    pub fn in_memory() -> SetFileWriter<Cursor<Vec<u8>>> {
        let writer = SetFileWriter::new(Path::new("the policy set in memory"), Cursor::default());
        SetFileWriter { buffer_bytes: WRITTEN_BYTES_IN_MEMORY, ..writer }
    }
}

impl<F: Write + Seek + Send> SectionSink for SetFileWriter<F> {
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
        Ok(self.append(bytes, true)?)
    }
}

impl<F: Write + Seek + Send> SetFileWriter<F> {
    /// Writes to `file`, which is empty. `path` is its name in messages.
    pub fn new(path: &Path, file: F) -> SetFileWriter<F> {
        SetFileWriter {
            path: path.to_owned(),
            file,
            // The header, which is written last.
            buffer: vec![0; SET_BLOCK_BYTES],
            buffer_bytes: WRITTEN_BYTES,
            hashed: SET_BLOCK_BYTES,
            blocks: 0,
            checksums: Vec::new(),
            table: Table::default(),
            sections: Vec::new(),
            hasher: ContentHasher::default(),
            is_broken: false,
        }
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
            version: VERSION,
            fields: *fields,
            content_hash: std::mem::take(&mut self.hasher).finish(fields),
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
        self.hand_over()?;
        let mut level = std::mem::take(&mut self.checksums);
        let mut root = XxHash3_64::oneshot(&[]);
        while !level.is_empty() {
            self.append(&level, false)?;
            self.pad(BLOCK)?;
            self.hand_over()?;
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
        self.blocks * BLOCK + self.buffer.len() as u64
    }

    /// Appends bytes, which are content of the last section or not to be hashed.
    fn append(&mut self, mut bytes: &[u8], is_content: bool) -> Result<(), WriteError> {
        if !is_content {
            self.hash();
        }
        while !bytes.is_empty() {
            let room = self.buffer_bytes - self.buffer.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            if !is_content {
                self.hashed = self.buffer.len();
            }
            bytes = later;
            if self.buffer.len() == self.buffer_bytes {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Hashes the content of the buffer that was not hashed yet.
    fn hash(&mut self) {
        let content = &self.buffer[self.hashed..];
        if !content.is_empty() {
            self.hasher.update(content);
        }
        self.hashed = self.buffer.len();
    }

    /// Hands the buffer, which has whole blocks, to the destination, and hashes what was not hashed yet.
    fn hand_over(&mut self) -> Result<(), WriteError> {
        let SetFileWriter { buffer, hashed, hasher, checksums, file, blocks, .. } = self;
        let header_blocks = usize::from(*blocks == 0);
        let content = &buffer[*hashed..];
        let hash = || {
            if !content.is_empty() {
                hasher.update(content);
            }
        };
        let write = || {
            for block in buffer.chunks(SET_BLOCK_BYTES).skip(header_blocks) {
                checksums.extend_from_slice(&XxHash3_64::oneshot(block).to_le_bytes());
            }
            file.write_all(buffer)
        };
        let ((), written) = rayon::join(hash, write);
        self.blocks += self.buffer.len() as u64 / BLOCK;
        self.buffer.clear();
        self.hashed = 0;
        self.checked(written)?;
        self.table.resize(self.checksums.capacity())
    }

    /// Appends zeros up to a multiple of `alignment`, which divides the block size.
    fn pad(&mut self, alignment: u64) -> Result<(), WriteError> {
        let bytes = self.position().next_multiple_of(alignment) - self.position();
        self.append(&[0; SET_BLOCK_BYTES][..bytes as usize], false)
    }

    /// Adds the path to a failure, and remembers that there was one.
    fn checked(&mut self, written: io::Result<()>) -> Result<(), WriteError> {
        self.is_broken |= written.is_err();
        written.map_err(|error| WriteError::new(&self.path, error))
    }
}
