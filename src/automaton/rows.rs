//! Rows of cells, the textbook's automaton, for the rule sets that a thread asks again and again.
//!
//! A walk among nodes compares octets, and what it does next depends on what it finds: the processor
//! guesses wrong once or twice in every walk. A row has a cell for each octet, so an octet costs one
//! memory access whatever the rules are, and several walks can go on side by side
//! ([`walk_all`](Rows::walk_all)). Rows are larger than nodes. So a thread keeps them only for rule
//! sets that it walks often, and only for places that its paths come to; a cell is filled when a path
//! first needs it.
//!
//! All rows of a thread stand in one piece of memory, which is zero at first and is only touched
//! where rows are. A [`RowID`] is the number of a row. Row 0 is where nobody knows how to go on; all its
//! cells lead back to it, and so do those of any row that are not filled yet. An outcome is a row too,
//! counted from the end, whose cells all lead back to it. So a walk never has to be stopped: beyond
//! its end it stays where it is.

mod lanes;

use hashbrown::HashMap;
use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::large_pages::ZeroedMemory;

use super::program::{Place, Step, Target, step};
use super::{Detail, Outcome, StoredAutomaton};

/// Cells of a row: one for each octet of ASCII. That of NUL is for the end of the path; a path with a
/// NUL, or with an octet outside ASCII, is not walked here.
const ROW_CELLS: usize = 128;

/// All rows that their numbers can tell apart, 256 octets each.
const ROWS: usize = 1 << 16;

type Cells = [u16; ROWS * ROW_CELLS];

/// A row of one thread's [`Rows`], or an outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RowID(u16);

impl RowID {
    /// No row: it is not known how to go on.
    pub const UNKNOWN: RowID = RowID(0);
}

/// What came of filling cells along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// All that the path needs; this is its outcome.
    Done(Outcome),
    /// Some of it. The rest is not built, or the path is not of the kind that is walked here.
    Unbuilt,
    /// There is no room for more rows or outcomes.
    Full,
}

/// A thread's rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    cells: Option<ZeroedMemory>,
    /// By row, the rule set and the place that it stands for. The first, of row 0, means nothing.
    places: Vec<(u32, Place)>,
    known: HashMap<(u32, Place), RowID, foldhash::fast::RandomState>,
    /// From the last row on.
    outcomes: Vec<Outcome>,
    known_outcomes: HashMap<Outcome, RowID, foldhash::fast::RandomState>,
}

impl Rows {
    /// Octets of memory that this holds.
    pub fn memory_octets(&self) -> usize {
        let place_octets = 2 * size_of::<(u32, Place)>() + size_of::<RowID>();
        (self.places.len() + self.outcomes.len()) * ROW_CELLS * size_of::<u16>()
            + self.places.len() * place_octets
            + self.outcomes.len() * 2 * size_of::<Outcome>()
    }

    /// The row of paths of the rule set with this number, which is `automaton`, behind their first
    /// octet, `/`.
    pub fn start(
        &mut self,
        rule_set: u32,
        automaton: &StoredAutomaton<'_>,
        detail: Detail,
    ) -> Result<RowID, Filled> {
        let start = Target::from_word(automaton.start);
        let stops = Target::stops(detail);
        let step = match start.word() & stops {
            0 => {
                let place = Place { node: start, read: 0 };
                step(automaton.words, place, Some(b'/'), stops).ok_or(Filled::Unbuilt)?
            }
            _ => Step::Done(start.stop_outcome()),
        };
        self.row_of(rule_set, step).ok_or(Filled::Full)
    }

    /// Fills the cells that `path` needs from the row `start` on, which was made with the same
    /// arguments.
    #[inline(never)]
    pub fn fill(
        &mut self,
        rule_set: u32,
        words: &[U32],
        start: RowID,
        path: &[u8],
        detail: Detail,
    ) -> Filled {
        let mut row = start;
        let octets = path.iter().skip(1).map(|&octet| Some(octet)).chain([None]);
        for octet in octets {
            if let Some(outcome) = self.outcome(row) {
                return Filled::Done(outcome);
            }
            if row == RowID::UNKNOWN || octet.is_some_and(|octet| !matches!(octet, 1..128)) {
                return Filled::Unbuilt;
            }
            let cell = usize::from(row.0) * ROW_CELLS + usize::from(octet.unwrap_or(0));
            let next = RowID(self.cells()[cell]);
            if next != RowID::UNKNOWN {
                row = next;
                continue;
            }
            let place = self.places[usize::from(row.0)].1;
            let Some(step) = step(words, place, octet, Target::stops(detail)) else {
                return Filled::Unbuilt;
            };
            let Some(next) = self.row_of(rule_set, step) else { return Filled::Full };
            self.cells()[cell] = next.0;
            row = next;
        }
        self.outcome(row).map_or(Filled::Unbuilt, Filled::Done)
    }

    /// The outcome that `row` is; nothing if it is another row.
    #[inline]
    pub fn outcome(&self, row: RowID) -> Option<Outcome> {
        self.outcomes.get(ROWS - 1 - usize::from(row.0)).copied()
    }

    fn row_of(&mut self, rule_set: u32, step: Step) -> Option<RowID> {
        match step {
            Step::Done(outcome) => self.row_of_outcome(outcome),
            Step::To(place) => self.row_of_place(rule_set, place),
        }
    }

    fn row_of_place(&mut self, rule_set: u32, place: Place) -> Option<RowID> {
        if let Some(&row) = self.known.get(&(rule_set, place)) {
            return Some(row);
        }
        if self.places.is_empty() {
            self.places.push((rule_set, place));
        }
        if self.places.len() + self.outcomes.len() >= ROWS {
            return None;
        }
        let row = RowID(self.places.len() as u16);
        self.places.push((rule_set, place));
        self.known.insert((rule_set, place), row);
        Some(row)
    }

    fn row_of_outcome(&mut self, outcome: Outcome) -> Option<RowID> {
        if let Some(&row) = self.known_outcomes.get(&outcome) {
            return Some(row);
        }
        // Row 0 is there, whether or not it has been counted.
        if self.places.len().max(1) + self.outcomes.len() >= ROWS {
            return None;
        }
        let row = ROWS - 1 - self.outcomes.len();
        self.outcomes.push(outcome);
        self.cells()[row * ROW_CELLS..][..ROW_CELLS].fill(row as u16);
        self.known_outcomes.insert(outcome, RowID(row as u16));
        Some(RowID(row as u16))
    }

    fn cells(&mut self) -> &mut Cells {
        let memory = self.cells.get_or_insert_with(|| ZeroedMemory::new(size_of::<Cells>()));
        Cells::mut_from_bytes(memory).expect("it is of that size")
    }
}

#[cfg(test)]
mod tests;
