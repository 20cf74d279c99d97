//! The patterns of a rule set as one nondeterministic automaton, and its step.
//!
//! A state of the NFA is a *position*: so many octets of one pattern have matched. Pattern *p* with
//! *n* octets owns *n* + 1 positions, numbered in order, and patterns follow one another in the
//! order of precedence; so an ascending list of positions is ordered by precedence too. That is
//! what makes the two prunings of [`PositionSet`] one comparison each.
//!
//! Memory: 8 octets a position. A step costs the positions that loop plus those that advance.

use crate::pattern::PatternList;

use super::Outcome;

/// A position of the NFA.
pub(super) type Position = u32;

/// What stands at a position.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The pattern that owns the position.
    pattern: u32,
    /// The octet that leads to the next position; 0 at the end of a pattern.
    octet: u8,
    /// Whether a star stands before the position, so that any octet leads back to it.
    star: bool,
    /// Whether the pattern ends here, and how.
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// More octets follow.
    No,
    /// The pattern matches whatever follows.
    Open,
    /// The pattern matches if the path ends here.
    Anchored,
}

/// The positions of all patterns, and what each pattern's match means.
#[derive(Debug)]
pub(super) struct Nfa {
    cells: Vec<Cell>,
    /// By pattern.
    outcomes: Vec<Outcome>,
    /// By pattern: its first position.
    starts: Vec<Position>,
}

/// A state of the DFA that is being built: what is known to match, and what still may.
///
/// Two rules keep it small. A pattern that has matched beats every pattern after it, so their
/// positions are dropped: this is leftmost-first over alternatives in the order of precedence.
/// Within a pattern a star that has been reached can do all that earlier positions can, so they
/// are dropped too. What is left after the last trimming can change the outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct PositionSet {
    /// What the best pattern that has matched means.
    pub best: Outcome,
    /// Ascending.
    pub positions: Vec<Position>,
}

impl Nfa {
    /// # Panics
    ///
    /// If there are not as many outcomes as patterns.
    pub(super) fn new(patterns: &PatternList, outcomes: &[Outcome]) -> Nfa {
        assert_eq!(patterns.len(), outcomes.len(), "one outcome for each pattern");
        let mut nfa = Nfa {
            cells: Vec::with_capacity(patterns.octets() + patterns.len()),
            outcomes: outcomes.to_vec(),
            starts: Vec::with_capacity(patterns.len()),
        };
        for (pattern, index) in patterns.iter().zip(0..) {
            let start = nfa.cells.len();
            nfa.starts.push(start as Position);
            let cell = |octet, end| Cell { pattern: index, octet, star: false, end };
            nfa.cells.extend(pattern.octets.iter().map(|&octet| cell(octet, End::No)));
            nfa.cells.push(cell(0, if pattern.anchored { End::Anchored } else { End::Open }));
            for star in pattern.stars() {
                nfa.cells[start + star].star = true;
            }
        }
        nfa
    }

    /// The number of positions.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Octets of memory that this holds.
    pub(super) fn memory_octets(&self) -> usize {
        size_of_val(&*self.cells) + size_of_val(&*self.outcomes) + size_of_val(&*self.starts)
    }

    /// The octet that leads on from `position`; none at the end of a pattern.
    #[inline]
    pub(super) fn octet(&self, position: Position) -> Option<u8> {
        let cell = &self.cells[position as usize];
        (cell.end == End::No).then_some(cell.octet)
    }

    /// Whether any octet leads from `position` back to itself.
    #[inline]
    pub(super) fn loops(&self, position: Position) -> bool {
        self.cells[position as usize].star
    }

    /// The set before the first octet.
    pub(super) fn start(&self) -> PositionSet {
        let mut set = PositionSet::default();
        for &position in &self.starts {
            if !self.push(position, &mut set) {
                break;
            }
        }
        self.trim(&mut set);
        set
    }

    /// Writes to `next` the set that follows `best` and two ascending lists of its positions: those
    /// that loop, and those that the octet read leads on.
    pub(super) fn step(
        &self,
        best: Outcome,
        looping: &[Position],
        advancing: &[Position],
        next: &mut PositionSet,
    ) {
        next.best = best;
        next.positions.clear();
        let (mut looping, mut advancing) = (looping.iter().peekable(), advancing.iter().peekable());
        loop {
            // A position in both lists loops first, which keeps the result ascending.
            let target = match (looping.peek(), advancing.peek()) {
                (Some(&&stays), Some(&&leaves)) if stays <= leaves => {
                    looping.next();
                    stays
                }
                (_, Some(&&leaves)) => {
                    advancing.next();
                    leaves + 1
                }
                (Some(&&stays), None) => {
                    looping.next();
                    stays
                }
                (None, None) => break,
            };
            if !self.push(target, next) {
                break;
            }
        }
        self.trim(next);
    }

    /// Adds `position`, which is not less than those in the set. Returns false if no later pattern
    /// can matter any more.
    #[inline]
    fn push(&self, position: Position, set: &mut PositionSet) -> bool {
        let cell = &self.cells[position as usize];
        if cell.end == End::Open {
            self.drop_pattern(cell.pattern, set);
            set.best = self.outcomes[cell.pattern as usize];
            return false;
        }
        if cell.star {
            self.drop_pattern(cell.pattern, set);
        }
        if set.positions.last() != Some(&position) {
            set.positions.push(position);
        }
        true
    }

    /// Drops the positions of `pattern`, which are the last of the set.
    fn drop_pattern(&self, pattern: u32, set: &mut PositionSet) {
        let start = self.starts[pattern as usize];
        while set.positions.last().is_some_and(|&last| last >= start) {
            set.positions.pop();
        }
    }

    /// Drops the positions that can only lead to the outcome that would be without them: the last
    /// patterns, as long as they mean the same as the best that has matched.
    fn trim(&self, set: &mut PositionSet) {
        while let Some(&last) = set.positions.last() {
            let pattern = self.cells[last as usize].pattern;
            if self.outcomes[pattern as usize] != set.best {
                break;
            }
            set.positions.pop();
        }
    }

    /// The outcome if the path ends in this set.
    pub(super) fn outcome_at_end(&self, set: &PositionSet) -> Outcome {
        let anchored = |&&position: &&Position| self.is_anchored_end(position);
        match set.positions.iter().find(anchored) {
            Some(&position) => self.outcomes[self.cells[position as usize].pattern as usize],
            None => set.best,
        }
    }

    /// Whether an anchored pattern ends at `position`.
    #[inline]
    pub(super) fn is_anchored_end(&self, position: Position) -> bool {
        self.cells[position as usize].end == End::Anchored
    }
}
