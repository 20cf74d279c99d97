//! Byte strings that many origins share, each stored once.
//!
//! Equal strings are found by their [`Fingerprint`], so the strings themselves can be on disk. One
//! that is read back from disk must have its fingerprint, so a changed file is an error. Once not all fit into
//! memory, they are compressed: temporary files take half of what they would, or less.
//!
//! Cost: one hash and one look-up per string, and compressing those on disk. Memory: about 50 bytes
//! for each distinct string, and what [`Scratch`] keeps of their bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashTable};
use highway::{HighwayHash as _, HighwayHasher, Key};
use zstd::bulk::{Compressor, Decompressor};

use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool, Table};

/// The fingerprint of a byte string: 128 bits of a keyed hash (HighwayHash).
///
/// The key is random and stays in this process, so nobody can choose strings that share a
/// fingerprint. Among 2^32 strings, two differ and share one with a probability of 2^-65.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// Returns the fingerprint of `bytes`, valid in this process. It must not reach any output.
    pub fn of(bytes: &[u8]) -> Fingerprint {
        static KEY: LazyLock<[u64; 4]> =
            LazyLock::new(|| [(); 4].map(|()| RandomState::new().hash_one(())));
        Fingerprint(HighwayHasher::new(Key(*KEY)).hash128(bytes))
    }

    /// Returns a part of it, for a table.
    fn half(self) -> u64 {
        self.0[0]
    }
}

/// Numbers by fingerprint. Memory: some 30 bytes for each.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    known: HashMap<Fingerprint, u32, foldhash::fast::RandomState>,
}

impl Fingerprints {
    /// Returns the number of a fingerprint. If it is new, `number` gives it one.
    pub(crate) fn number<E>(
        &mut self,
        fingerprint: Fingerprint,
        number: impl FnOnce() -> Result<u32, E>,
    ) -> Result<u32, E> {
        match self.known.entry(fingerprint) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(place) => Ok(*place.insert(number()?)),
        }
    }

    /// Returns the size of the table, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.known.allocation_size()
    }
}

/// The number of a blob in a [`BlobPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobID(pub(crate) u32);

impl BlobID {
    /// Returns the index of the blob in a list with one place per blob (see [`BlobPool::places`]).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A byte string as a pool stores it. Any thread can make it, and storing it costs little then.
struct Packed<'b> {
    fingerprint: Fingerprint,
    /// The number of its bytes, before they are compressed.
    bytes: u32,
    stored: Cow<'b, [u8]>,
}

impl<'b> Packed<'b> {
    fn plain(bytes: &'b [u8]) -> Packed<'b> {
        Packed {
            fingerprint: Fingerprint::of(bytes),
            bytes: u32::try_from(bytes.len()).expect("a file of less than 4 GiB"),
            stored: Cow::Borrowed(bytes),
        }
    }

    fn compressed(self) -> Packed<'b> {
        let compressed = COMPRESSOR.with_borrow_mut(|it| it.compress(&self.stored).ok());
        match compressed.filter(|compressed| compressed.len() < self.stored.len()) {
            Some(shorter) => Packed { stored: Cow::Owned(shorter), ..self },
            None => self,
        }
    }
}

/// A pool to which all threads add strings.
#[derive(Debug)]
pub(crate) struct SharedPool {
    scratch: Scratch,
    pool: Mutex<BlobPool>,
}

impl SharedPool {
    /// Creates an empty pool.
    pub(crate) fn new(scratch: &Scratch) -> SharedPool {
        SharedPool { scratch: scratch.clone(), pool: Mutex::new(BlobPool::new(scratch)) }
    }

    /// Stores a string if it is new: compressed, once not everything fits into memory.
    pub(crate) fn intern(&self, bytes: &[u8]) -> Result<BlobID, WriteError> {
        let mut packed = Packed::plain(bytes);
        if self.scratch.spilled_bytes() > 0 {
            packed = packed.compressed();
        }
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).store(&packed)
    }

    /// Returns the pool, for reading.
    pub(crate) fn into_inner(self) -> BlobPool {
        self.pool.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Byte strings, each stored once.
#[derive(Debug)]
pub struct BlobPool {
    table: Table,
    known: HashTable<BlobID>,
    blobs: Vec<Blob>,
    bytes: Spool,
}

/// The level of zstd: fast, since a third of the bytes of robots.txt files go at any level.
const COMPRESSION_LEVEL: i32 = -10;

thread_local! {
    /// The memory of either is larger than nearly all files.
    static COMPRESSOR: RefCell<Compressor<'static>> =
        RefCell::new(Compressor::new(COMPRESSION_LEVEL).expect("memory for a compressor"));
    static DECOMPRESSOR: RefCell<Decompressor<'static>> =
        RefCell::new(Decompressor::new().expect("memory for a decompressor"));
}

#[derive(Clone, Copy, Debug)]
struct Blob {
    fingerprint: Fingerprint,
    start: u64,
    /// The number of its bytes, before they are compressed.
    bytes: u32,
}

impl Default for BlobPool {
    fn default() -> BlobPool {
        BlobPool::new(&Scratch::in_memory())
    }
}

impl BlobPool {
    /// Creates an empty pool.
    pub fn new(scratch: &Scratch) -> BlobPool {
        let (known, blobs, bytes) = (HashTable::new(), Vec::new(), Spool::new(scratch));
        BlobPool { table: scratch.table(), known, blobs, bytes }
    }

    /// Stores a string if it is new.
    pub fn intern(&mut self, bytes: &[u8]) -> Result<BlobID, WriteError> {
        self.store(&Packed::plain(bytes))
    }

    fn store(&mut self, packed: &Packed<'_>) -> Result<BlobID, WriteError> {
        let BlobPool { known, blobs, .. } = self;
        let &Packed { fingerprint, bytes, ref stored } = packed;
        let same = |id: &BlobID| blobs[id.index()].fingerprint == fingerprint;
        if let Some(&id) = known.find(fingerprint.half(), same) {
            return Ok(id);
        }
        let id = BlobID(u32::try_from(blobs.len()).expect("fewer than 2^32 blobs"));
        blobs.push(Blob { fingerprint, start: self.bytes.len(), bytes });
        known.insert_unique(fingerprint.half(), id, |id| blobs[id.index()].fingerprint.half());
        self.bytes.write(stored)?;
        self.table.resize(self.table_bytes())?;
        Ok(id)
    }

    /// Returns the bytes of a blob.
    pub fn get(&self, id: BlobID) -> Result<Cow<'_, [u8]>, WriteError> {
        let Blob { start, .. } = self.blobs[id.index()];
        let end = self.blobs.get(id.index() + 1).map_or(self.bytes.len(), |next| next.start);
        let mut bytes = self.bytes.at(start, (end - start) as usize)?;
        if bytes.len() != self.bytes_of(id) {
            let count = self.bytes_of(id);
            let whole = DECOMPRESSOR.with_borrow_mut(|it| it.decompress(&bytes, count));
            bytes = Cow::Owned(whole.map_err(|_| self.bytes.changed())?);
        }
        match matches!(bytes, Cow::Borrowed(_)) || Fingerprint::of(&bytes) == self.fingerprint(id) {
            true => Ok(bytes),
            false => Err(self.bytes.changed()),
        }
    }

    /// Returns the size of a blob, in bytes.
    pub fn bytes_of(&self, id: BlobID) -> usize {
        self.blobs[id.index()].bytes as usize
    }

    /// Returns what stands for the bytes of a blob.
    pub fn fingerprint(&self, id: BlobID) -> Fingerprint {
        self.blobs[id.index()].fingerprint
    }

    /// Returns one more than the largest index of a blob.
    pub fn places(&self) -> usize {
        self.blobs.len()
    }

    /// Returns the size of the tables, in bytes.
    fn table_bytes(&self) -> usize {
        self.known.allocation_size() + self.blobs.capacity() * size_of::<Blob>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blobs_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let long = b"Disallow: /".repeat(100);
        for scratch in [Scratch::in_memory(), Scratch::with_little_memory(folder.path(), 64)] {
            let pool = SharedPool::new(&scratch);
            let intern = |bytes: &[u8]| pool.intern(bytes).unwrap();
            let (one, two, nothing) = (intern(b"one"), intern(&long), intern(b""));
            let last = intern(&long[1..]);
            assert_eq!((intern(b"one"), intern(b""), intern(&long)), (one, nothing, two));
            let pool = pool.into_inner();
            for (blob, bytes) in
                [(one, &b"one"[..]), (two, &long), (last, &long[1..]), (nothing, b"")]
            {
                assert_eq!((&*pool.get(blob).unwrap(), pool.bytes_of(blob)), (bytes, bytes.len()));
            }
            assert_eq!(pool.places(), 4);
            // What comes after something was on disk is compressed.
            let is_in_memory = scratch.spilled_bytes() == 0;
            assert_eq!(pool.bytes.len() > 2 * long.len() as u64, is_in_memory);
        }
    }
}
