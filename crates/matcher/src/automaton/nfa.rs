//! The patterns of a rule set as one nondeterministic automaton, and its step.
//!
//! A state of the NFA is a *position*: so many bytes of one pattern have matched. Pattern *p* with
//! *n* bytes owns *n* + 1 positions, numbered in order, and patterns follow one another in the
//! order of precedence; so an ascending list of positions is ordered by precedence too. That is
//! what makes the two prunings of [`PositionSet`] one comparison each.
//!
//! Memory: 2 bytes a position and 8 a pattern. A step costs the positions that loop plus those that advance.

use crate::pattern::{PathPattern, PatternList};

use super::Outcome;

/// A position of the NFA.
pub(super) type Position = u32;

/// What is special about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    /// One byte leads on.
    Plain,
    /// One byte leads on, and any byte leads back, because a star stands before the position.
    Looping,
    /// The pattern ends here, and matches whatever follows.
    OpenEnd,
    /// The pattern ends here, and matches if the path does too.
    AnchoredEnd,
}

/// The positions of all patterns, and what each pattern's match means.
#[derive(Clone, Debug)]
pub(super) struct Nfa {
    /// By position: the byte that leads to the next one; 0 at the end of a pattern.
    bytes: Vec<u8>,
    /// By position.
    kinds: Vec<Kind>,
    /// By pattern.
    outcomes: Vec<Outcome>,
    /// By pattern: its first position. Which pattern owns a position is found here by search: it is
    /// asked for at stars and ends only, and a number for each position would triple the memory.
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
        let positions = patterns.byte_len() + patterns.len();
        let mut nfa = Nfa {
            bytes: Vec::with_capacity(positions),
            kinds: Vec::with_capacity(positions),
            outcomes: outcomes.to_vec(),
            starts: Vec::with_capacity(patterns.len()),
        };
        patterns.iter().for_each(|pattern| nfa.push_pattern(&pattern));
        nfa
    }

    fn push_pattern(&mut self, pattern: &PathPattern<'_>) {
        let start = self.bytes.len();
        self.starts.push(start as Position);
        self.bytes.extend_from_slice(pattern.bytes);
        self.bytes.push(0);
        self.kinds.resize(self.bytes.len() - 1, Kind::Plain);
        self.kinds.push(if pattern.anchored { Kind::AnchoredEnd } else { Kind::OpenEnd });
        for star in pattern.stars() {
            self.kinds[start + star] = Kind::Looping;
        }
    }

    /// Returns the bytes of memory that this holds.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.bytes)
            + size_of_val(&*self.kinds)
            + size_of_val(&*self.outcomes)
            + size_of_val(&*self.starts)
    }

    /// The byte that leads on from `position`; none at the end of a pattern.
    #[inline]
    pub(super) fn byte(&self, position: Position) -> Option<u8> {
        let position = position as usize;
        matches!(self.kinds[position], Kind::Plain | Kind::Looping).then(|| self.bytes[position])
    }

    /// Whether any byte leads from `position` back to itself.
    #[inline]
    pub(super) fn loops(&self, position: Position) -> bool {
        self.kinds[position as usize] == Kind::Looping
    }

    /// Whether an anchored pattern ends at `position`.
    #[inline]
    pub(super) fn is_anchored_end(&self, position: Position) -> bool {
        self.kinds[position as usize] == Kind::AnchoredEnd
    }

    /// Extends `run`, the one byte that all `positions` ask for, by those that they have in common
    /// behind it, to the next star, end, or byte that `stops`, or until it has `bytes_max`.
    pub(super) fn common_stretch(
        &self,
        positions: &[Position],
        stops: &[bool; 256],
        bytes_max: usize,
        run: &mut Vec<u8>,
    ) {
        let Some((&first, others)) = positions.split_first() else { return };
        let first = first as usize;
        let room = bytes_max - run.len();
        let plain = |from: usize| {
            let kinds = self.kinds[from..].iter().take(room);
            kinds.take_while(|&&kind| kind == Kind::Plain).count()
        };
        let stretch = &self.bytes[first + 1..][..plain(first + 1)];
        let mut common = stretch.iter().take_while(|&&byte| !stops[usize::from(byte)]).count();
        for &other in others {
            let other = other as usize + 1;
            let pairs =
                self.kinds[other..].iter().zip(&self.bytes[other..]).zip(&stretch[..common]);
            common = pairs
                .take_while(|((kind, byte), expected)| **kind == Kind::Plain && byte == expected)
                .count();
        }
        run.extend_from_slice(&stretch[..common]);
    }

    /// The set before the first byte.
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
    /// that loop, and those that the byte read leads on.
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
        match self.kinds[position as usize] {
            Kind::Plain | Kind::AnchoredEnd => {}
            Kind::Looping => self.drop_pattern(position, set),
            Kind::OpenEnd => {
                self.drop_pattern(position, set);
                set.best = self.outcome(position);
                return false;
            }
        }
        if set.positions.last() != Some(&position) {
            set.positions.push(position);
        }
        true
    }

    /// Drops the positions of the pattern that owns `position`, which are the last of the set.
    fn drop_pattern(&self, position: Position, set: &mut PositionSet) {
        let start = self.starts[self.pattern_of(position)];
        while set.positions.last().is_some_and(|&last| last >= start) {
            set.positions.pop();
        }
    }

    /// Drops the positions that can only lead to the outcome that would be without them: the last
    /// patterns, as long as they mean the same as the best that has matched.
    fn trim(&self, set: &mut PositionSet) {
        while let Some(&last) = set.positions.last() {
            if self.outcome(last) != set.best {
                break;
            }
            set.positions.pop();
        }
    }

    /// The pattern that owns `position`.
    fn pattern_of(&self, position: Position) -> usize {
        self.starts.partition_point(|&start| start <= position) - 1
    }

    /// What a match of the pattern that owns `position` means.
    fn outcome(&self, position: Position) -> Outcome {
        self.outcomes[self.pattern_of(position)]
    }

    /// Whether nothing that may still match says otherwise than the best that has matched. It costs a
    /// look at each position, and only where something has matched.
    pub(super) fn is_settled(&self, set: &PositionSet) -> bool {
        let says_same = |&position: &Position| self.outcome(position).allows() == set.best.allows();
        set.best != Outcome::NONE && set.positions.iter().all(says_same)
    }

    /// The outcome if the path ends in this set.
    pub(super) fn outcome_at_end(&self, set: &PositionSet) -> Outcome {
        let anchored = |&&position: &&Position| self.is_anchored_end(position);
        set.positions.iter().find(anchored).map_or(set.best, |&position| self.outcome(position))
    }
}
