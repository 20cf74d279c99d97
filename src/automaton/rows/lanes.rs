//! Walks side by side.
//!
//! A step of a walk is one load, and the next step waits for it. So some walks go on in *lanes*, one
//! step of each in turn, and the processor waits for all of them at once. It has nothing to guess
//! either: octets behind the end of a path are zeros, whose cell is that of the end, and an outcome leads
//! to itself. All walks make the same few steps, then those that have come to an outcome are left out
//! and the others make the next.

use zerocopy::FromBytes;

use super::{Cells, ROW_CELLS, RowID, Rows};

/// Walks that go on at once.
const LANES: usize = 8;

/// Steps before walks are left out: the octets of a number.
const STEPS: usize = 8;

/// Walks whose state is kept at once.
const WALKS: usize = 128;

/// In the place of a walk's number: none, for lanes that are left over.
const NO_WALK: usize = WALKS;

/// The state of some walks.
struct Walks<'p> {
    /// By walk, and one for [`NO_WALK`].
    paths: [&'p [u8]; WALKS + 1],
    rows: [u16; WALKS + 1],
    /// The numbers of those that go on.
    going: [u8; WALKS + LANES],
}

impl Rows {
    /// Makes some walks, whatever a walk is to the caller: `begin` tells the row behind its path's
    /// first octet and the path, and `end` is told where it ends: at an outcome, or at
    /// [`RowID::UNKNOWN`].
    ///
    /// # Panics
    ///
    /// If a path is empty.
    #[inline]
    pub fn walk_all<'p, W>(
        &self,
        walks: &mut [W],
        begin: impl Fn(&W) -> (RowID, &'p [u8]),
        end: impl Fn(&mut W, RowID),
    ) {
        let Some(memory) = &self.cells else {
            return walks.iter_mut().for_each(|walk| end(walk, RowID::UNKNOWN));
        };
        let cells = Cells::ref_from_bytes(memory).expect("it is of that size");
        let mut state =
            Walks { paths: [b"/"; WALKS + 1], rows: [0; WALKS + 1], going: [0; WALKS + LANES] };
        for walks in walks.chunks_mut(WALKS) {
            for (number, walk) in walks.iter().enumerate() {
                let (start, path) = begin(walk);
                state.paths[number] = path;
                state.rows[number] = start.0;
                state.going[number] = number as u8;
            }
            state.finish(self, cells, walks.len());
            walks.iter_mut().zip(state.rows).for_each(|(walk, row)| end(walk, RowID(row)));
        }
    }

    /// Whether a row is neither an outcome nor [`RowID::UNKNOWN`].
    #[inline]
    fn goes_on(&self, row: u16) -> bool {
        usize::from(row).wrapping_sub(1) < self.places.len().saturating_sub(1)
    }
}

impl Walks<'_> {
    /// Walks the first `count` paths to their ends.
    fn finish(&mut self, rows: &Rows, cells: &Cells, count: usize) {
        let mut going = count;
        let mut read = 1;
        while going > 0 {
            self.going[going..going + LANES].fill(NO_WALK as u8);
            let mut kept = 0;
            for first in (0..going).step_by(LANES) {
                let numbers: [u8; LANES] =
                    *self.going[first..].first_chunk().expect("lanes are filled up");
                let octets = numbers.map(|it| next_octets(self.paths[usize::from(it)], read));
                let lanes = step(cells, numbers.map(|it| self.rows[usize::from(it)]), octets);
                for (number, row) in numbers.into_iter().zip(lanes) {
                    self.rows[usize::from(number)] = row;
                    // No more are kept than have been looked at.
                    self.going[kept] = number;
                    kept += usize::from(rows.goes_on(row));
                }
            }
            going = kept;
            read += STEPS;
        }
    }
}

/// Where some walks come to with the next octets of each.
#[inline]
fn step<const LANES: usize>(
    cells: &Cells,
    mut rows: [u16; LANES],
    octets: [Option<u64>; LANES],
) -> [u16; LANES] {
    for (row, octets) in rows.iter_mut().zip(&octets) {
        *row = if octets.is_some() { *row } else { RowID::UNKNOWN.0 };
    }
    let mut octets = octets.map(Option::unwrap_or_default);
    for _ in 0..STEPS {
        for (row, octets) in rows.iter_mut().zip(&mut octets) {
            *row = cells[usize::from(*row) * ROW_CELLS + (*octets as usize & (ROW_CELLS - 1))];
            *octets >>= 8;
        }
    }
    rows
}

/// The next octets of a path from `read` on, the first one lowest, zeros behind the end; nothing if
/// one of them is not walked here.
#[inline]
fn next_octets(path: &[u8], read: usize) -> Option<u64> {
    const ONES: u64 = u64::from_ne_bytes([0x01; STEPS]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; STEPS]);
    let octets = octets_from(path, read);
    let left = path.len().saturating_sub(read);
    let beyond = if left >= STEPS { 0 } else { u64::MAX << (left * 8) };
    // Octets that are there and zero, or outside ASCII, have the highest bit in here.
    let zeros = (octets | beyond).wrapping_sub(ONES) & !(octets | beyond);
    ((octets | zeros) & HIGH == 0).then_some(octets)
}

#[inline]
fn octets_from(path: &[u8], from: usize) -> u64 {
    if let Some(last) = path.len().checked_sub(STEPS) {
        // The last eight octets, without those that have been read.
        let start = from.min(last);
        let chunk = path[start..].first_chunk().expect("it ends with the path at the latest");
        let read = (from - start).min(STEPS);
        return (u64::from_le_bytes(*chunk) >> (read * 4)) >> (read * 4);
    }
    let octet = |index: usize| path.get(from + index).copied().unwrap_or(0);
    u64::from_le_bytes(std::array::from_fn(octet))
}
