//! Reference-counted byte strings that many origins share.
//!
//! A blob is kept until its last holder releases it. Memory is therefore bounded by the content of
//! the newest captures, not by everything that was read.

use hashbrown::HashTable;

use portcullis_engine::bytes::seeded_hash;

/// The number of a blob in a [`BlobPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobID(u32);

impl BlobID {
    /// Returns the index of the blob in a list with one place per blob (see [`BlobPool::places`]).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Byte strings, each stored once.
#[derive(Debug, Default)]
pub struct BlobPool {
    known: HashTable<BlobID>,
    blobs: Vec<Blob>,
    /// Unused places.
    free: Vec<BlobID>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Blob {
    hash: u64,
    holders: u32,
    bytes: Box<[u8]>,
}

impl BlobPool {
    /// Adds a reference to `bytes` and stores them if they are new. `hash` is that of
    /// [`BlobPool::hash`].
    pub fn intern(&mut self, bytes: &[u8], hash: u64) -> BlobID {
        let BlobPool { known, blobs, free, .. } = self;
        let same = |id: &BlobID| {
            let blob = &blobs[id.index()];
            blob.hash == hash && *blob.bytes == *bytes
        };
        if let Some(&id) = known.find(hash, same) {
            blobs[id.index()].holders += 1;
            return id;
        }
        let blob = Blob { hash, holders: 1, bytes: bytes.into() };
        self.bytes += bytes.len();
        let id = match free.pop() {
            Some(id) => {
                blobs[id.index()] = blob;
                id
            }
            None => {
                blobs.push(blob);
                BlobID(u32::try_from(blobs.len() - 1).expect("fewer than 2^32 blobs"))
            }
        };
        known.insert_unique(hash, id, |id| blobs[id.index()].hash);
        id
    }

    /// Returns the hash of `bytes`, valid in this process. It can be computed on any thread.
    pub fn hash(bytes: &[u8]) -> u64 {
        seeded_hash(bytes)
    }

    /// Drops one reference to a blob. Dropping the last one removes the blob.
    ///
    /// # Panics
    ///
    /// If the blob has no reference.
    pub fn release(&mut self, id: BlobID) {
        let blob = &mut self.blobs[id.index()];
        blob.holders = blob.holders.checked_sub(1).expect("a blob is released once per holder");
        if blob.holders > 0 {
            return;
        }
        let hash = blob.hash;
        self.bytes -= std::mem::take(&mut blob.bytes).len();
        if let Ok(entry) = self.known.find_entry(hash, |other| *other == id) {
            entry.remove();
        }
        self.free.push(id);
    }

    /// Adds a reference to a blob that has one already.
    pub fn hold(&mut self, id: BlobID) {
        self.blobs[id.index()].holders += 1;
    }

    /// Returns the bytes of a blob.
    pub fn get(&self, id: BlobID) -> &[u8] {
        &self.blobs[id.index()].bytes
    }

    /// Returns one more than the largest index of a blob.
    pub fn places(&self) -> usize {
        self.blobs.len()
    }

    /// Returns the total size of all blobs in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blobs_are_one_until_the_last_holder_leaves() {
        let mut pool = BlobPool::default();
        let intern = |pool: &mut BlobPool, bytes: &[u8]| pool.intern(bytes, BlobPool::hash(bytes));
        let one = intern(&mut pool, b"one");
        let two = intern(&mut pool, b"two");
        assert_eq!(intern(&mut pool, b"one"), one);
        assert_eq!((pool.get(one), pool.get(two), pool.bytes()), (&b"one"[..], &b"two"[..], 6));
        pool.release(one);
        assert_eq!(pool.get(one), b"one");
        pool.release(one);
        assert_eq!(pool.bytes(), 3);
        let three = intern(&mut pool, b"three");
        assert_eq!((three, pool.places()), (one, 2));
        assert_ne!(intern(&mut pool, b"one"), three);
    }
}
