//! Rows of cells, the textbook's automaton, for the few rule sets that a thread asks again and again.
//!
//! Under many stars a walk enters a node for nearly every octet, and each costs some comparisons.
//! A row has a cell for every octet, so an octet costs one memory access whatever the rules are. Rows
//! are far larger than nodes, so they are kept only where a thread has walked often, and only for
//! places that its paths come to; a cell is filled when a path first needs it.

use hashbrown::HashMap;
use zerocopy::little_endian::U32;

use crate::limits::ROWS_MAX;

use super::program::{Place, Step, Target, Walk, step, walk};
use super::{Detail, Outcome};

/// Where a cell leads: to a row, to an outcome (counted from [`Cell::DONE`]), or nobody knows.
type Cell = u16;

const DONE: Cell = 1 << 15;
const UNKNOWN: Cell = Cell::MAX;

/// A cell for each octet of ASCII. That of NUL is for the end of the path; a path with a NUL, or
/// with an octet outside ASCII, goes on among the nodes.
type Row = [Cell; 128];

const _: () = assert!(ROWS_MAX < DONE as usize, "rows and outcomes are told apart by a bit");

/// The rows of one rule set.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    detail: Detail,
    rows: Vec<Row>,
    /// By row, which place it stands for.
    places: Vec<Place>,
    known: HashMap<Place, Cell, foldhash::fast::RandomState>,
    outcomes: Vec<Outcome>,
}

impl Rows {
    /// One row, for the place where walks start. There is nothing to gain if they end there.
    pub(super) fn new(start: Target, detail: Detail) -> Option<Rows> {
        if start.word() & Target::stops(detail) != 0 {
            return None;
        }
        let mut rows = Rows {
            detail,
            rows: Vec::new(),
            places: Vec::new(),
            known: HashMap::default(),
            outcomes: Vec::new(),
        };
        rows.row_of(Place { node: start, read: 0 });
        Some(rows)
    }

    /// Octets of memory that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        let row_octets = size_of::<Row>() + 2 * size_of::<Place>() + size_of::<Cell>();
        self.rows.len() * row_octets + size_of_val(&*self.outcomes)
    }

    /// Whether the rows are for answers of this kind.
    pub(super) fn answer(&self, detail: Detail) -> bool {
        self.detail == detail
    }

    /// As a walk over the program `words`, whose rows these are.
    #[inline]
    pub(super) fn walk(&mut self, words: &[U32], path: &[u8]) -> Walk {
        let mut row = 0;
        let mut consumed = 0;
        loop {
            let (cell, octet) = self.run(&mut row, &mut consumed, path);
            if cell != UNKNOWN {
                return Walk::Done(self.outcomes[(cell - DONE) as usize]);
            }
            let cell = self.fill(words, row, octet);
            if cell == UNKNOWN {
                return self.leave(words, row, path, consumed);
            }
            // A filled cell is read again.
        }
    }

    /// Goes from row to row, up to a cell that leads to none, which is returned with its octet.
    #[inline]
    fn run(&self, row: &mut usize, consumed: &mut usize, path: &[u8]) -> (Cell, Option<u8>) {
        for &octet in &path[*consumed..] {
            let cell = match octet {
                1..128 => self.rows[*row][usize::from(octet)],
                _ => UNKNOWN,
            };
            if cell >= DONE {
                return (cell, Some(octet));
            }
            *row = usize::from(cell);
            *consumed += 1;
        }
        (self.rows[*row][0], None)
    }

    /// Fills the cell of an octet, or of the end, and returns what is there now.
    #[inline(never)]
    fn fill(&mut self, words: &[U32], row: usize, octet: Option<u8>) -> Cell {
        if octet.is_some_and(|octet| !matches!(octet, 1..128)) {
            return UNKNOWN;
        }
        let cell = match step(words, self.places[row], octet, Target::stops(self.detail)) {
            None => UNKNOWN,
            Some(Step::Done(outcome)) => self.cell_of(outcome),
            Some(Step::To(place)) => self.row_of(place),
        };
        self.rows[row][usize::from(octet.unwrap_or(0))] = cell;
        cell
    }

    fn cell_of(&mut self, outcome: Outcome) -> Cell {
        let known = self.outcomes.iter().position(|&other| other == outcome);
        let position = known.unwrap_or(self.outcomes.len());
        if position >= ROWS_MAX {
            return UNKNOWN;
        }
        if known.is_none() {
            self.outcomes.push(outcome);
        }
        DONE + position as Cell
    }

    fn row_of(&mut self, place: Place) -> Cell {
        if let Some(&row) = self.known.get(&place) {
            return row;
        }
        if self.rows.len() >= ROWS_MAX {
            return UNKNOWN;
        }
        let row = self.rows.len() as Cell;
        self.rows.push([UNKNOWN; 128]);
        self.places.push(place);
        self.known.insert(place, row);
        row
    }

    /// Goes on among the nodes.
    #[inline(never)]
    fn leave(&self, words: &[U32], row: usize, path: &[u8], consumed: usize) -> Walk {
        let Place { node, read } = self.places[row];
        // A run is compared from its beginning again.
        walk(words, node, path, consumed - read as usize, self.detail)
    }
}
