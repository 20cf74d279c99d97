//! Steps 2 and 3: the strings of a path that a pattern may require, and the patterns that require them,
//! matched one by one.

use crate::bytes::{Line, bits, first_bytes};
use crate::filter::head::{Head, Open};
use crate::filter::teddy::{Places, Rests};
use crate::filter::{bloom, index};
use crate::limits::CANDIDATE_BYTES;
use crate::outcome::Outcome;
use crate::ruleset::RuleSet;
use crate::vectors::Kernels;

/// The strings of a path that a pattern may require: [everything](Open::ALL), if the prefilter cannot decide
/// the path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) open: Open,
    /// The levels of the prefix.
    levels: u8,
    /// Where literals may begin.
    places: Places,
}

impl Found {
    /// Step 2 of a path, of which step 1 left something `open`: looks up its start, and searches it for
    /// literals.
    #[inline(always)]
    pub(crate) fn new(lines: &[Line], path: &[u8], open: Open, kernels: impl Kernels) -> Found {
        let none = Found { open, levels: 0, places: Places::none(path) };
        none.find(lines, path, kernels).unwrap_or(Found { open: Open::ALL, ..none })
    }

    /// Returns what is found. `None` if all is open, or lines that are damaged have no prefilter.
    #[inline(always)]
    fn find(mut self, lines: &[Line], path: &[u8], kernels: impl Kernels) -> Option<Found> {
        let head = Head::of(lines).filter(|_| self.open != Open::ALL)?;
        let mut open = Open::default();
        if self.open.has(Open::LITERALS) {
            let line = head.triples(lines)?;
            self.places = Places::from(0, line, path, kernels);
            if self.places.any() {
                self.places = self.places.passing(lines, path, kernels);
            }
            open = Open(u8::from(self.places.any()) << 1);
        }
        if self.open.has(Open::PREFIXES) {
            let (filter, _) = head.filter(lines)?;
            self.levels =
                kernels.levels_of(filter, path.strip_prefix(b"/")?, head.prefix_levels)?;
            open = Open(open.0 | u8::from(self.levels != 0));
        }
        Some(Found { open, ..self })
    }
}

/// Step 3: matches `path` against the patterns that require a string of it that was found, and returns the
/// outcome of the best, or that there is none. `None` if that takes more than `left` entries of the index;
/// the entries read are subtracted from `left`, and a long pattern or path counts as several. Not inlined: the
/// search for the strings of the next path needs the registers.
#[inline(never)]
pub(crate) fn try_candidates(
    lines: &[Line],
    path: &[u8],
    &Found { open, levels, places }: &Found,
    left: &mut usize,
    kind: impl Kernels,
) -> Option<Option<Outcome>> {
    let mut candidates = Candidates { lines, path, left, best: None };
    if open.has(Open::PREFIXES) {
        candidates.try_found(path.get(1..)?, levels)?;
    }
    if open.has(Open::LITERALS) {
        let head = Head::of(lines)?;
        let (filter, _) = head.filter(lines)?;
        for text in (Rests { lines, path, places, kind }) {
            match kind.levels_of(filter, text, head.literal_levels)? {
                0 => {}
                found => candidates.try_found(text, found)?,
            }
        }
    }
    Some(candidates.best.map(|(_, outcome)| outcome))
}

/// The candidates of one path.
struct Candidates<'l> {
    lines: &'l [Line],
    path: &'l [u8],
    left: &'l mut usize,
    /// The position of the best pattern that matches, and its outcome.
    best: Option<(usize, Outcome)>,
}

impl Candidates<'_> {
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
