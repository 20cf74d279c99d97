//! Steps 2 and 3: the strings of a path that a pattern may require, and the patterns that require them,
//! matched one by one.

use zerocopy::little_endian::U64;

use crate::bytes::{LINE_WORDS, Line, bits, first_bytes};
use crate::filter::head::{Head, Open};
use crate::filter::teddy::Rests;
use crate::filter::{bloom, index};
use crate::limits::CANDIDATE_BYTES;
use crate::outcome::Outcome;
use crate::ruleset::RuleSet;
use crate::vectors::Kernels;

/// Matches `path` against the patterns that require a string of it, and returns the outcome of the
/// best, or that there is none. `None` if that takes more than `left` entries of the index; the entries
/// read are subtracted from `left`, and a long pattern or path counts as several.
#[inline(always)]
pub(crate) fn try_candidates(
    lines: &[Line],
    path: &[u8],
    open: Open,
    left: &mut usize,
    kernels: impl Kernels,
) -> Option<Option<Outcome>> {
    let head = Head::of(lines)?;
    let searched = open.has(Open::LITERALS).then_some(path);
    // A line that is not there, because the lines are damaged, is found missing below.
    let line = head.triples(lines).unwrap_or(EVERYWHERE);
    let mut literals = Rests::new(line, searched, kernels);
    // Nearly all paths that are searched for literals have none, and end here.
    if !literals.find() && !open.has(Open::PREFIXES) {
        return Some(None);
    }
    let (filter, _) = head.filter(lines)?;
    let mut candidates = Candidates { lines, path, left, best: None };
    if open.has(Open::PREFIXES) {
        let text = path.strip_prefix(b"/")?;
        candidates.try_levels(filter, text, head.prefix_levels, kernels)?;
    }
    for text in literals {
        candidates.try_levels(filter, text, head.literal_levels, kernels)?;
    }
    Some(candidates.best.map(|(_, outcome)| outcome))
}

/// A line whose triples are at every position.
const EVERYWHERE: &Line = &[U64::MAX_VALUE; LINE_WORDS];

/// The candidates of one path.
struct Candidates<'l> {
    lines: &'l [Line],
    path: &'l [u8],
    left: &'l mut usize,
    /// The position of the best pattern that matches, and its outcome.
    best: Option<(usize, Outcome)>,
}

impl Candidates<'_> {
    /// Tries the patterns that require the start of `text`, cut to any of `levels`.
    #[inline(always)]
    fn try_levels(
        &mut self,
        filter: &[U64],
        text: &[u8],
        levels: u8,
        kernels: impl Kernels,
    ) -> Option<()> {
        match kernels.levels_of(filter, text, levels)? {
            0 => Some(()),
            found => self.try_found(text, found),
        }
    }

    /// Tries the patterns that require the start of `text`, cut to each of `levels`. Not inlined: the
    /// search for what a path has needs the registers.
    #[inline(never)]
    fn try_found(&mut self, text: &[u8], levels: u8) -> Option<()> {
        let bytes = first_bytes(text);
        let mut tried = None;
        bits(levels.into()).try_for_each(|level| {
            let string = bloom::cut(bytes, level);
            // A text that ends is the same string at all levels after its end.
            let is_new = tried.replace(string) != Some(string);
            if is_new { self.try_all(string) } else { Some(()) }
        })
    }

    /// Tries the patterns that require `string`; `None` if its bucket has more entries than are
    /// left, or there is no index.
    fn try_all(&mut self, string: u64) -> Option<()> {
        let rules = RuleSet::view(self.lines)?;
        let head = rules.filter.head;
        let key = (string, head.seed());
        let (words, fingerprint) = index::bucket_of(rules.filter.index, head.entries(), key)?;
        *self.left = self.left.checked_sub(words.len())?;
        for place in words.iter().filter_map(|&word| index::place_of(word, fingerprint)) {
            if self.best.is_none_or(|(best, _)| place < best) {
                let (outcome, pattern) = rules.get(place)?;
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
