//! The patterns of a rule set as positions, and the step from one set of positions to the next.
//!
//! A *position* says that so many bytes of one pattern have matched. Patterns follow one another in
//! the order of precedence, so an ascending list of positions is ordered by precedence too. A
//! [`Set`] is what can be known after some bytes of a path: the best rules that match whatever
//! follows, and the positions of those that may still beat one of them.
//!
//! It is the determinisation of [`automaton`](crate::automaton) with another ending. There the best
//! rule is all that counts; here the second best may count too, because it takes over where a rule
//! is removed, or else only what the best rule says, because that is what two files have in common.

use crate::pattern::PathPattern;

/// A position in a list of patterns.
pub(super) type Position = u32;

/// In the place of a pattern: none.
pub(super) const NO_PATTERN: u32 = u32::MAX;

/// How many rules a set remembers at most.
const REMEMBERED_MAX: usize = 2;

/// The patterns that have matched, each of another rule, the best first; [`NO_PATTERN`] behind them.
pub(super) type Best = [u32; REMEMBERED_MAX];

/// No pattern has matched.
pub(super) const NOTHING: Best = [NO_PATTERN; REMEMBERED_MAX];

/// What sets tell apart. The less it is, the fewer there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether the rule that decides allows.
    Verdict,
    /// Which rule decides.
    Rule,
    /// Which rule decides, and which would without it.
    RuleAndNext,
}

impl Question {
    /// The rules that a set remembers.
    fn remembered(self) -> usize {
        match self {
            Question::Verdict | Question::Rule => 1,
            Question::RuleAndNext => REMEMBERED_MAX,
        }
    }
}

/// What a pattern belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The number of its rule. A rule may have several patterns.
    pub rule: u32,
    /// What the rule says.
    pub allows: bool,
    /// Whether paths that it decides are of interest.
    pub counts: bool,
}

/// What is special about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// All positions of a list of patterns.
#[derive(Debug)]
pub(super) struct Positions {
    question: Question,
    /// By position: the byte that leads to the next one; 0 at the end of a pattern.
    bytes: Vec<u8>,
    /// By position.
    kinds: Vec<Kind>,
    /// By position: its pattern.
    patterns: Vec<u32>,
    /// By pattern: its first position.
    starts: Vec<Position>,
    /// By pattern.
    owners: Vec<Owner>,
    /// By what an owner allows and counts: the last pattern of such.
    stand_ins: [[u32; 2]; 2],
    /// By byte: whether a position asks for it.
    names: [bool; 256],
}

/// What is known after some bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    pub best: Best,
    /// Ascending.
    pub positions: Vec<Position>,
}

impl Positions {
    /// The positions of `patterns`, which stand in order of precedence.
    pub(super) fn new<'l>(
        question: Question,
        patterns: impl IntoIterator<Item = (PathPattern<'l>, Owner)>,
    ) -> Positions {
        let mut new = Positions {
            question,
            bytes: Vec::new(),
            kinds: Vec::new(),
            patterns: Vec::new(),
            starts: Vec::new(),
            owners: Vec::new(),
            stand_ins: [[NO_PATTERN; 2]; 2],
            names: [false; 256],
        };
        patterns.into_iter().for_each(|(pattern, owner)| new.push_pattern(&pattern, owner));
        new
    }

    fn push_pattern(&mut self, pattern: &PathPattern<'_>, owner: Owner) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(pattern.bytes);
        pattern.bytes.iter().for_each(|&byte| self.names[usize::from(byte)] = true);
        self.bytes.push(0);
        self.kinds.resize(self.bytes.len() - 1, Kind::Plain);
        self.kinds.push(if pattern.anchored { Kind::AnchoredEnd } else { Kind::OpenEnd });
        for star in pattern.stars() {
            self.kinds[start + star] = Kind::Looping;
        }
        let number = self.starts.len() as u32;
        self.patterns.resize(self.bytes.len(), number);
        self.stand_ins[usize::from(owner.allows)][usize::from(owner.counts)] = number;
        self.starts.push(start as Position);
        self.owners.push(owner);
    }

    /// What the pattern belongs to.
    pub(super) fn owner(&self, pattern: u32) -> Owner {
        self.owners[pattern as usize]
    }

    /// Whether some pattern asks for `byte`.
    pub(super) fn names(&self, byte: u8) -> bool {
        self.names[usize::from(byte)]
    }

    /// The pattern of a position.
    pub(super) fn pattern(&self, position: Position) -> u32 {
        self.patterns[position as usize]
    }

    /// Whether a path is allowed for which these are the best patterns.
    pub(super) fn allows(&self, best: Best) -> bool {
        best[0] == NO_PATTERN || self.owner(best[0]).allows
    }

    /// The byte that leads on from `position`; none at the end of a pattern.
    pub(super) fn byte(&self, position: Position) -> Option<u8> {
        let position = position as usize;
        matches!(self.kinds[position], Kind::Plain | Kind::Looping).then(|| self.bytes[position])
    }

    /// Writes the set before the first byte.
    pub(super) fn start(&self, next: &mut Set) {
        next.best = NOTHING;
        next.positions.clear();
        for &position in &self.starts {
            if !self.push(position, next) {
                break;
            }
        }
        self.reduce(next);
    }

    /// Writes the set that follows `best` and `positions` when `byte` is read, or any that none of
    /// them names.
    pub(super) fn step(
        &self,
        best: Best,
        positions: &[Position],
        byte: Option<u8>,
        next: &mut Set,
    ) {
        next.best = best;
        next.positions.clear();
        for &position in positions {
            let stays = self.kinds[position as usize] == Kind::Looping;
            if stays && !self.push(position, next) {
                break;
            }
            let leads_on = byte.is_some() && self.byte(position) == byte;
            if leads_on && !self.push(position + 1, next) {
                break;
            }
        }
        self.reduce(next);
    }

    /// Adds `position`, which is not less than those in the set. Returns false if no later pattern
    /// can matter any more.
    fn push(&self, position: Position, set: &mut Set) -> bool {
        let pattern = self.pattern(position);
        // What is remembered beats this one.
        if pattern > set.best[self.question.remembered() - 1] {
            return false;
        }
        match self.kinds[position as usize] {
            Kind::Plain | Kind::AnchoredEnd => {}
            // A star that is reached can do all that earlier positions of its pattern can.
            Kind::Looping => self.drop_pattern(pattern, set),
            Kind::OpenEnd => {
                self.drop_pattern(pattern, set);
                self.remember(pattern, &mut set.best);
                return true;
            }
        }
        if set.positions.last() != Some(&position) {
            set.positions.push(position);
        }
        true
    }

    /// Drops the positions of `pattern`, which are the last of the set.
    fn drop_pattern(&self, pattern: u32, set: &mut Set) {
        let start = self.starts[pattern as usize];
        while set.positions.last().is_some_and(|&last| last >= start) {
            set.positions.pop();
        }
    }

    /// Puts `pattern`, which matches, in its place. Of a rule only the best pattern is remembered.
    fn remember(&self, pattern: u32, best: &mut Best) {
        let [first, second] = *best;
        let same_rule =
            |other: u32| other != NO_PATTERN && self.owner(other).rule == self.owner(pattern).rule;
        if pattern < first {
            *best = [pattern, if same_rule(first) { second } else { first }];
        } else if pattern > first && pattern < second && !same_rule(first) {
            best[1] = pattern;
        }
        if self.question.remembered() == 1 {
            best[1] = NO_PATTERN;
        }
    }

    /// Forgets what the question does not ask for.
    fn reduce(&self, set: &mut Set) {
        if self.question != Question::Verdict {
            return;
        }
        // The last ones only repeat what is said without them.
        let allows = self.allows(set.best);
        let repeats = |&last: &Position| self.owner(self.pattern(last)).allows == allows;
        while set.positions.last().is_some_and(repeats) {
            set.positions.pop();
        }
        if set.best[0] != NO_PATTERN {
            let Owner { allows, counts, .. } = self.owner(set.best[0]);
            // Positions behind it are gone, so the last one that means the same can stand for it; and
            // a rule that allows and is of no interest is like none.
            set.best[0] = match allows && !counts {
                true => NO_PATTERN,
                false => self.stand_ins[usize::from(allows)][usize::from(counts)],
            };
        }
    }

    /// The best patterns if the path ends in this set.
    pub(super) fn best_at_end(&self, best: Best, positions: &[Position]) -> Best {
        let mut at_end = best;
        for &position in positions {
            if self.kinds[position as usize] == Kind::AnchoredEnd {
                self.remember(self.pattern(position), &mut at_end);
            }
        }
        at_end
    }
}
