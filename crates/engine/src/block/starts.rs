//! Where the answers of each entry begin. Threads find and share them.

use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_dialect::{AccessOutcome, Decision, PolicyState, Reason, Verdict};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Replaces a policy number: no policy is known.
pub const NO_POLICY: u32 = u32::MAX;
/// Replaces a policy number: the record is not a URL.
pub const NO_URL: u32 = u32::MAX - 1;

/// Where the answers of an entry begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, Immutable)]
#[repr(C)]
pub struct Start {
    /// The first line of the rule set, or one of the constants below.
    pub line: u32,
    /// The number of the rule set, or as the constant says.
    pub number: u32,
}

impl Start {
    /// One decision holds for every path; `number` is that of a [`Fixed`].
    pub const FIXED: u32 = u32::MAX;
    /// The answers are those of an earlier column, `number`.
    pub const SHARED: u32 = u32::MAX - 1;
    /// The rule set is not stored: its questions are pending.
    pub const ON_DEMAND: u32 = u32::MAX - 2;
    /// The exclusive limit of a line.
    pub const LINES_MAX: u32 = u32::MAX - 16;

    /// The start of a question that has no policy.
    pub(super) const NOWHERE: Start = Start { line: Start::FIXED, number: 0 };

    /// Views starts as pairs of words.
    #[inline]
    pub(super) fn words(starts: &[Start]) -> &[[u32; 2]] {
        <[[u32; 2]]>::ref_from_bytes(starts.as_bytes()).expect("they are pairs of words")
    }
}

/// The start of each entry. Memory that was never written takes no room.
///
/// The last word belongs to questions without a policy ([`NO_POLICY`], [`NO_URL`]), which have a
/// number beyond all entries: lists have such questions at random, and a branch would be
/// mispredicted.
#[derive(Debug)]
pub struct Starts(Box<[AtomicU64]>);

impl Starts {
    /// Returns the starts of so many entries, none of which is known yet. `None` if the system refuses
    /// the memory.
    pub fn new(entries: usize) -> Option<Starts> {
        let words = <[AtomicU64]>::new_box_zeroed_with_elems(entries.checked_add(1)?);
        let starts = Starts(words.ok()?);
        starts.set(entries, &[Start::NOWHERE]);
        Some(starts)
    }

    #[inline(always)]
    fn word(&self, entry: usize) -> &AtomicU64 {
        &self.0[entry.min(self.0.len() - 1)]
    }

    /// Returns the start of an entry; `None` if it is not known yet.
    #[inline(always)]
    pub fn get(&self, entry: usize) -> Option<Start> {
        match !self.word(entry).load(Ordering::Relaxed) {
            u64::MAX => None,
            word => Some(Start { line: (word >> 32) as u32, number: word as u32 }),
        }
    }

    /// Returns the start of an entry. One that is not known yet means an unknown policy, and never
    /// allows.
    #[inline(always)]
    pub(super) fn of(&self, entry: usize) -> Start {
        const UNKNOWN: Start = Start { line: Start::FIXED, number: Fixed::UNKNOWN.0 };
        self.get(entry).unwrap_or(UNKNOWN)
    }

    /// Stores the starts of a policy, by column. Two threads may find and store the same.
    pub fn set(&self, first: usize, starts: &[Start]) {
        for (entry, Start { line, number }) in (first..).zip(starts) {
            let word = u64::from(*line) << 32 | u64::from(*number);
            self.0[entry].store(!word, Ordering::Release);
        }
    }

    /// Returns whether the starts up to an entry, which is the last of its policy, are known.
    #[inline(always)]
    pub fn has(&self, last: usize) -> bool {
        // The last one is stored last: a thread that sees it sees the others.
        self.word(last).load(Ordering::Acquire) != 0
    }
}

/// A decision that holds for every path, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed(pub u32);

impl Fixed {
    /// No group applies to the agent.
    pub const NO_GROUP: Fixed = Fixed(1 << 8);
    /// The content of the policy is not known.
    pub const UNKNOWN: Fixed = Fixed(1 << 9);

    /// Returns the decision without a file, or with a file without rules.
    pub fn of(outcome: AccessOutcome) -> Fixed {
        Fixed(outcome.state as u32 | (outcome.verdict as u32) << 4)
    }

    /// Returns the decision.
    pub fn decision(self) -> Decision {
        if self == Fixed::NO_GROUP {
            return Decision::without_rule(Verdict::Allow, Reason::NoGroup);
        }
        let state = PolicyState::ALL.get((self.0 & 0xf) as usize);
        let reason = match state {
            Some(PolicyState::NoRules) => Reason::NoRules,
            Some(PolicyState::Unavailable) => Reason::Unavailable,
            Some(PolicyState::Unreachable) => Reason::Unreachable,
            Some(PolicyState::Deferred) => Reason::Deferred,
            Some(PolicyState::Rules | PolicyState::Unknown) | None => return Decision::UNKNOWN,
        };
        match Verdict::ALL.get((self.0 >> 4) as usize) {
            Some(&verdict) => Decision::without_rule(verdict, reason),
            None => Decision::UNKNOWN,
        }
    }
}
