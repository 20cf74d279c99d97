//! Results for values that occur again and again, as half of the files of a crawl do.
//!
//! Cost: a look-up under a lock. Memory: some bytes at most; then all is forgotten, and made again. What is
//! remembered never changes a result.

use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Values by what they were made of. All threads share it.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    known: Mutex<CachedValues<K, V>>,
    bytes_max: usize,
}

/// Values by key, and the bytes that they take.
#[derive(Debug)]
struct CachedValues<K, V> {
    values: HashMap<K, V, RandomState>,
    bytes: usize,
}

impl<K: Eq + Hash, V: Clone> Recent<K, V> {
    /// The memory of a value besides its own bytes: its place in the table, which may be half empty.
    const ENTRY_BYTES: usize = 2 * size_of::<(K, V)>();

    /// Remembers values of so many bytes together.
    pub(crate) fn new(bytes_max: usize) -> Recent<K, V> {
        let known = CachedValues { values: HashMap::default(), bytes: 0 };
        Recent { known: Mutex::new(known), bytes_max }
    }

    /// Returns the value of a key. If it is not remembered, `make` returns it, and its bytes in the heap with
    /// the bytes of the key.
    pub(crate) fn get<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<(V, usize), E>,
    ) -> Result<V, E> {
        if let Some(value) = self.known().values.get(&key) {
            return Ok(value.clone());
        }
        // Another thread may make the same meanwhile.
        let (value, bytes) = make()?;
        let bytes = bytes + Recent::<K, V>::ENTRY_BYTES;
        let mut known = self.known();
        if known.bytes + bytes > self.bytes_max {
            *known = CachedValues { values: HashMap::default(), bytes: 0 };
        }
        if bytes <= self.bytes_max && known.values.insert(key, value.clone()).is_none() {
            known.bytes += bytes;
        }
        Ok(value)
    }

    fn known(&self) -> MutexGuard<'_, CachedValues<K, V>> {
        // After a panic of another thread the result is never used.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn what_takes_too_much_is_made_again() {
        const BYTES: usize = 1000;
        let recent = Recent::<u32, u32>::new(10 * (BYTES + Recent::<u32, u32>::ENTRY_BYTES));
        let mut made = 0;
        let mut get = |key: u32, bytes: usize| {
            let make = || {
                made += 1;
                Ok::<_, Infallible>((key + 1, bytes))
            };
            assert_eq!(recent.get(key, make), Ok(key + 1));
            made
        };
        assert_eq!((0..10).chain(0..10).map(|key| get(key, BYTES)).max(), Some(10));
        // The eleventh begins anew, and what is larger than all is not remembered.
        assert_eq!([10, 10, 0].map(|key| get(key, BYTES)), [11, 11, 12]);
        assert_eq!([99, 99].map(|key| get(key, 100 * BYTES)), [13, 14]);
    }
}
