//! Where the bytes of a set are: in a mapped file, or in memory.

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

/// The bytes of a set, and what messages call it.
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

    /// Maps the file at `path`, or reads it if the system will not map it.
    ///
    /// # Safety
    ///
    /// Nothing truncates or rewrites the file while the storage lives.
    pub unsafe fn map(path: &Path) -> Result<Storage, SetError> {
        // SAFETY: as the caller promises.
        Storage::open_with(path, |file| unsafe { Mapping::new(file) })
    }

    /// As [`Storage::map`], for tests, which own their files.
    #[cfg(test)]
    pub fn mapped(path: &Path) -> Result<Storage, SetError> {
        // SAFETY: a test that truncates the file touches nothing behind its new end.
        unsafe { Storage::map(path) }
    }

    /// Opens the file at `path` and maps it by `map`, or reads what comes back from there.
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
        // A file without bytes has nothing to map.
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

    /// Bytes in memory; messages call them `name`.
    pub fn owned(name: &str, bytes: ZeroedMemory) -> Storage {
        Storage { name: name.into(), bytes: Bytes::Owned(bytes) }
    }

    /// What messages call it.
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

    /// Whether the bytes are still those that were opened, as far as a length can tell.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        match &self.bytes {
            Bytes::Mapped(mapping) => mapping.is_whole(),
            Bytes::Owned(_) => true,
        }
    }
}

/// At most `bytes_max`, so that a file that grows without end is not followed.
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
