//! The bytes of a set: in a mapped file, or in memory.

#![allow(unsafe_code, reason = "maps set files")]

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::error::SetError;
use super::mapping::Mapping;
use crate::large_pages::ZeroedMemory;
use portcullis_robots::kind::{FileKind, Wanted, WrongKind};

/// The bytes of a set, and its name in messages.
pub struct Storage {
    name: Arc<str>,
    bytes: Bytes,
}

enum Bytes {
    Mapped(Mapping),
    Owned(ZeroedMemory),
}

impl Storage {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> Result<Storage, SetError> {
        Storage::open_with(path, Err)
    }

    /// Maps the file at `path`, or reads it if the system cannot map it.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite the file while the storage lives.
    pub unsafe fn map(path: &Path) -> Result<Storage, SetError> {
        // SAFETY: the caller upholds the contract.
        Storage::open_with(path, |file| unsafe { Mapping::new(file) })
    }

    /// Like [`Storage::map`], for tests, which own their files.
    #[cfg(test)]
    pub fn mapped(path: &Path) -> Result<Storage, SetError> {
        // SAFETY: a test that truncates the file touches nothing past its new end.
        unsafe { Storage::map(path) }
    }

    /// Opens the file at `path` and calls `map`. Reads the file if `map` returns it.
    fn open_with(
        path: &Path,
        map: impl FnOnce(File) -> Result<Mapping, File>,
    ) -> Result<Storage, SetError> {
        if path == Path::new("-") {
            let (name, kind) = ("standard input".to_owned(), FileKind::Special);
            return Err(WrongKind { name, kind, wanted: Wanted::PolicySet }.into());
        }
        let name = path.display().to_string();
        // Opening a pipe would wait for a writer.
        match std::fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                let kind = if metadata.is_dir() { FileKind::Folder } else { FileKind::Special };
                return Err(WrongKind { name, kind, wanted: Wanted::PolicySet }.into());
            }
            Ok(_) => {}
            Err(error) => return Err(SetError::Open { name, error }),
        }
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = match opened {
            Ok(opened) => opened,
            Err(error) => return Err(SetError::Open { name, error }),
        };
        // An empty file cannot be mapped.
        let mapped = if metadata.len() == 0 { Err(file) } else { map(file) };
        let bytes = match mapped {
            Ok(mapping) => Bytes::Mapped(mapping),
            Err(unmapped) => match read(&unmapped, metadata.len()) {
                Ok(bytes) => Bytes::Owned(bytes),
                Err(error) => return Err(SetError::Open { name, error }),
            },
        };
        Ok(Storage { name: name.into(), bytes })
    }

    /// Wraps bytes in memory. `name` is their name in messages.
    pub fn owned(name: &str, bytes: ZeroedMemory) -> Storage {
        Storage { name: name.into(), bytes: Bytes::Owned(bytes) }
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping,
            Bytes::Owned(bytes) => bytes,
        }
    }

    /// Returns whether the bytes are still those that were opened, as far as the length shows.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping.is_whole(),
            Bytes::Owned(_) => true,
        }
    }
}

/// Reads at most `bytes_max` bytes, so that a file that grows without end is not followed.
fn read(mut file: &File, bytes_max: u64) -> io::Result<ZeroedMemory> {
    let too_large = |_| io::Error::from(io::ErrorKind::OutOfMemory);
    let mut memory = ZeroedMemory::new(usize::try_from(bytes_max).map_err(too_large)?);
    let mut filled = 0;
    loop {
        match file.read(&mut memory[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    memory.truncate(filled);
    Ok(memory)
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.bytes {
            Bytes::Mapped(_) => "mapped",
            Bytes::Owned(_) => "owned",
        };
        write!(f, "Storage({:?}, {kind}, {} bytes)", self.name, self.bytes().len())
    }
}
