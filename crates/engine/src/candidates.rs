//! Step 3: the patterns that probes leave, matched one by one.

use crate::bytes::{bits, first_bytes};
use crate::filter::bloom::{self, LEVELS};
use crate::filter::required::string_of;
use crate::filter::{index, teddy};
use crate::limits::CANDIDATE_BYTES;
use crate::outcome::Outcome;
use crate::ruleset::RuleSet;
use crate::vectors::Kernels;

/// What the probes found in a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// The levels at which a prefix may begin the path.
    pub(crate) prefix_levels: u8,
    /// Whether a literal may occur.
    pub(crate) literals: bool,
}

/// Matches `path` against the patterns that the index has for what was found, and returns the
/// outcome of the best. `None` if that takes more than `left` entries of the index; the entries
/// read are subtracted from `left`, and a long pattern or path counts as several.
#[inline(always)]
pub(crate) fn try_candidates(
    rules: RuleSet<'_>,
    path: &[u8],
    found: Found,
    left: &mut usize,
    probe: impl Kernels,
) -> Option<Outcome> {
    let head = rules.filter.head;
    let has_no_index = head.entries() == 0 && head.has_probes();
    if *left == 0 || path.first() != Some(&b'/') || has_no_index {
        return None;
    }
    let mut candidates = Candidates { rules, path, left, probe, best: None };
    let bytes = first_bytes(&path[1..]);
    for level in bits((found.prefix_levels & head.prefix_levels).into()) {
        candidates.try_prefix(level, bloom::cut(bytes, level))?;
    }
    if found.literals && head.literal_levels != 0 {
        candidates.try_literals()?;
    }
    let outcome = candidates.best.map_or(Outcome(head.otherwise.get()), |(_, outcome)| outcome);
    outcome.is_valid().then_some(outcome)
}

/// The candidates of one path.
struct Candidates<'l, P> {
    rules: RuleSet<'l>,
    path: &'l [u8],
    left: &'l mut usize,
    probe: P,
    /// The position of the best pattern that matches, and its outcome.
    best: Option<(usize, Outcome)>,
}

impl<P: Kernels> Candidates<'_, P> {
    /// Tries the patterns that require a prefix of this level, alone or with a literal.
    #[inline(always)]
    fn try_prefix(&mut self, level: usize, prefix: u64) -> Option<()> {
        if self.rules.filter.head.alone_levels >> level & 1 != 0 {
            self.try_all(prefix)?;
        }
        match self.rules.filter.head.both_levels >> level & 1 {
            0 => Some(()),
            _ => self.try_both(level, prefix),
        }
    }

    /// Tries the patterns that require this prefix and a literal behind it.
    fn try_both(&mut self, level: usize, prefix: u64) -> Option<()> {
        let behind = self.path.get(1 + usize::from(LEVELS[level])..).unwrap_or_default();
        let pairs = self.rules.filter.head.pairs_of_both(self.rules.lines())?;
        for position in teddy::positions(pairs, behind, self.probe) {
            let string = string_of(prefix, behind.get(position..).unwrap_or_default());
            if bloom::has(self.rules.filter.words, string) != Some(false) {
                self.try_all(string)?;
            }
        }
        Some(())
    }

    /// Tries the patterns that require a literal of the path.
    #[inline(always)]
    fn try_literals(&mut self) -> Option<()> {
        let head = self.rules.filter.head;
        let pairs = head.pairs(self.rules.lines())?;
        for position in teddy::positions(pairs, self.path, self.probe) {
            let text = self.path.get(position..).unwrap_or_default();
            let words = self.rules.filter.words;
            let levels = self.probe.levels_of(words, text, head.literal_levels);
            for level in bits(levels.unwrap_or(u8::MAX).into()) {
                self.try_all(bloom::cut(first_bytes(text), level))?;
            }
        }
        Some(())
    }

    /// Tries the patterns that require `string`; `None` if its bucket has more entries than are
    /// left.
    #[inline(never)]
    fn try_all(&mut self, string: u64) -> Option<()> {
        let filter = self.rules.filter;
        let key = (string, filter.head.seed());
        let (words, fingerprint) = index::bucket_of(filter.index, filter.head.entries(), key)?;
        *self.left = self.left.checked_sub(words.len())?;
        for place in words.iter().filter_map(|&word| index::place_of(word, fingerprint)) {
            if self.best.is_none_or(|(best, _)| place < best) {
                let (outcome, pattern) = self.rules.get(place)?;
                let more = (pattern.bytes().len() + self.path.len()) / CANDIDATE_BYTES;
                *self.left = self.left.checked_sub(more)?;
                if pattern.matches(self.path) {
                    self.best = Some((place, outcome));
                }
            }
        }
        Some(())
    }
}
