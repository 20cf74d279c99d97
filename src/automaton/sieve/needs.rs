//! What patterns need of the paths that they match.

use crate::automaton::Outcome;
use crate::automaton::scan::matches;
use crate::pattern::{PathPattern, PatternList};

use super::both::{self, Both};
use super::filter::Beginning;
use super::pairs::Pair;
use super::stretch::{Stretch, rarest};

/// What the patterns of a list need: a prefix, a stretch, or both.
#[derive(Default)]
pub(super) struct Needs {
    /// Positions of patterns, and what their paths begin with behind the first `/`.
    pub(super) prefixes: Vec<(u32, Beginning)>,
    /// Positions of patterns, and what stands somewhere in their paths.
    pub(super) stretches: Vec<(u32, Beginning)>,
    /// What those stretches begin with.
    pub(super) pairs: Vec<Pair>,
    /// What patterns need that need both.
    pub(super) both: Vec<Both>,
    /// The prefixes of those, each once.
    pub(super) prefixes_of_both: Vec<Beginning>,
    /// What the first pattern means that matches every path that begins with `/`. Those behind it never
    /// decide, and need nothing.
    pub(super) all: Option<Outcome>,
}

impl Needs {
    /// What `patterns` need of paths that begin with `/`.
    pub(super) fn of(patterns: &PatternList, outcomes: &[Outcome]) -> Needs {
        let prefixes = Vec::with_capacity(patterns.len());
        let mut needs = Needs { prefixes, ..Needs::default() };
        // Where stretches have to be looked for anyway, a rare one is better than a short prefix.
        let short = patterns.iter().filter(has_short_prefix).count();
        let has_stretches = patterns.iter().any(|pattern| has_no_prefix(&pattern))
            || short * SHORT_PREFIXES_PART > patterns.len();
        let mut starred = Vec::new();
        for ((place, pattern), &outcome) in (0_u32..).zip(patterns.iter()).zip(outcomes) {
            if !pattern.anchored && pattern.octets.len() < 2 && matches(&pattern, b"/") {
                needs.all = Some(outcome);
                break;
            }
            let literal = pattern.literals().next().unwrap_or_default();
            let has_stars = pattern.stars().len() > 0;
            let is_needy = literal.first() == Some(&b'/') || has_no_prefix(&pattern);
            if !is_needy {
                // It does not begin with `/`, and no path that does is matched.
                continue;
            }
            if has_no_prefix(&pattern) {
                needs.add_stretch(place, rarest(&pattern).expect("no pattern ends with a star"));
                continue;
            }
            let prefix = &literal[1..];
            let is_short = prefix.len() <= SHORT_PREFIX_OCTETS;
            if !has_stars {
                needs.prefixes.push((place, Beginning::new(prefix, pattern.anchored)));
            } else if has_stretches && let Some(stretch) = better_stretch(&pattern, is_short) {
                needs.add_stretch(place, stretch);
            } else {
                starred.push((place, Beginning::new(prefix, false), pattern));
            }
        }
        needs.both = both::take_needs(&mut starred);
        needs.prefixes.extend(starred.iter().map(|(place, prefix, _)| (*place, *prefix)));
        let of_prefix = needs.both.chunk_by(|one, other| one.prefix.cut() == other.prefix.cut());
        needs.prefixes_of_both = of_prefix.map(|it| it[0].prefix).collect();
        needs
    }

    fn add_stretch(&mut self, place: u32, stretch: Stretch<'_>) {
        self.pairs.push(stretch.pair);
        self.stretches.push((place, stretch.beginning()));
    }
}

/// Octets of a prefix behind the first `/` that many paths of a site may begin with.
const SHORT_PREFIX_OCTETS: usize = 3;

/// Of so many patterns one may have a short prefix, and it does not pay to look for stretches in all paths.
const SHORT_PREFIXES_PART: usize = 32;

fn has_short_prefix(pattern: &PathPattern<'_>) -> bool {
    pattern.stars().next().is_some_and(|star| star <= 1 + SHORT_PREFIX_OCTETS)
}

/// Whether nothing but a stretch can be needed.
fn has_no_prefix(pattern: &PathPattern<'_>) -> bool {
    pattern.stars().next().is_some_and(|star| star == 0 || star == 1 && pattern.octets[0] == b'/')
}

/// A stretch that tells more than the prefix.
fn better_stretch<'l>(pattern: &PathPattern<'l>, is_prefix_short: bool) -> Option<Stretch<'l>> {
    let is_better = |stretch: &Stretch<'l>| match is_prefix_short {
        true => stretch.is_cheap(),
        false => stretch.is_very_cheap(),
    };
    rarest(pattern).filter(is_better)
}
