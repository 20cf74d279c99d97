//! The addresses of mapped sets, for a program that handles the fault of a lost page.
//!
//! The pages of a file that was truncated are gone, and touching one raises SIGBUS. A handler of that
//! signal can put zero pages there and go on, if the set that is mapped there is known to be damaged
//! from then on: [`lose_set_mapped_at`] says so, and nothing that was read from it is returned afterwards.
//!
//! Everything here is atomic, because a handler may run at any time. Cost: one look at a slot per block
//! of URLs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::limits::MAPPED_SETS_KNOWN_MAX;

/// The addresses of a mapped set.
struct Slot {
    /// The first address, [`FREE`] or [`TAKEN`].
    start: AtomicUsize,
    end: AtomicUsize,
    is_lost: AtomicBool,
}

const FREE: usize = 0;

/// The slot belongs to a set whose addresses are not in it yet.
const TAKEN: usize = 1;

static SLOTS: [Slot; MAPPED_SETS_KNOWN_MAX] = [const {
    Slot {
        start: AtomicUsize::new(FREE),
        end: AtomicUsize::new(0),
        is_lost: AtomicBool::new(false),
    }
}; MAPPED_SETS_KNOWN_MAX];

/// An entry for a mapped set, while that is mapped. There is none if too many sets are.
#[derive(Debug)]
pub(super) struct MappedRange {
    slot: Option<usize>,
}

impl MappedRange {
    /// Enters the addresses of mapped bytes.
    pub(super) fn of(bytes: &[u8]) -> MappedRange {
        let is_free = |slot: &Slot| {
            let order = Ordering::SeqCst;
            slot.start.compare_exchange(FREE, TAKEN, order, order).is_ok()
        };
        let slot = SLOTS.iter().position(is_free);
        if let Some(slot) = slot.map(|slot| &SLOTS[slot]) {
            let Range { start, end } = bytes.as_ptr_range();
            slot.is_lost.store(false, Ordering::SeqCst);
            slot.end.store(end as usize, Ordering::SeqCst);
            slot.start.store(start as usize, Ordering::SeqCst);
        }
        MappedRange { slot }
    }

    /// Returns whether pages were lost.
    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        self.slot.is_some_and(|slot| SLOTS[slot].is_lost.load(Ordering::SeqCst))
    }
}

impl Drop for MappedRange {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            SLOTS[slot].start.store(FREE, Ordering::SeqCst);
        }
    }
}

/// Marks the set that is mapped at `address` as damaged, which it stays, and returns its addresses;
/// `None` if no set is mapped there, or it is not known because more than [`MAPPED_SETS_KNOWN_MAX`]
/// are. May be called in a signal handler.
///
/// Reading the set fails afterwards with [`Damage`](super::Damage), as for a file that became shorter,
/// before anything that was read is returned.
pub fn lose_set_mapped_at(address: usize) -> Option<Range<usize>> {
    SLOTS.iter().find_map(|slot| {
        let range = slot.start.load(Ordering::SeqCst)..slot.end.load(Ordering::SeqCst);
        let is_it = range.start > TAKEN && range.contains(&address);
        is_it.then(|| {
            slot.is_lost.store(true, Ordering::SeqCst);
            range
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_known_while_it_is_mapped() {
        let [one, other] = [[0_u8; 64]; 2];
        let ranges = [&one, &other].map(|bytes| MappedRange::of(bytes));
        let address = other.as_ptr() as usize;
        assert_eq!(lose_set_mapped_at(address + 63), Some(address..address + 64));
        assert_eq!([ranges[0].is_lost(), ranges[1].is_lost()], [false, true]);
        drop(ranges);
        assert_eq!(lose_set_mapped_at(address), None);
        let again = MappedRange::of(&other);
        assert!(!again.is_lost());
        // More sets than there are slots are not known.
        let more: Vec<MappedRange> =
            (0..=MAPPED_SETS_KNOWN_MAX).map(|_| MappedRange::of(&one)).collect();
        assert!(more.last().unwrap().slot.is_none() && !more.last().unwrap().is_lost());
    }
}
