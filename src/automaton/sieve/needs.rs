//! What patterns need of the paths that they match.

use zerocopy::little_endian::U32;

use crate::automaton::Outcome;
use crate::automaton::scan::matches;
use crate::pattern::{PathPattern, PatternList};

use super::filter::Beginning;
use super::pairs::Pair;
use super::texts;

/// What the patterns of a list need, each one thing.
#[derive(Default)]
pub(super) struct Needs {
    /// The patterns that need something, as [`texts`] has them.
    pub(super) texts: Vec<U32>,
    /// Places of patterns, and what their paths begin with behind the first `/`.
    pub(super) prefixes: Vec<(u32, Beginning)>,
    /// Places of patterns, and what stands somewhere in their paths.
    pub(super) stretches: Vec<(u32, Beginning)>,
    /// What those stretches begin with.
    pub(super) pairs: Vec<Pair>,
    /// What the first pattern means that matches every path that begins with `/`. Those behind it never
    /// decide, and need nothing.
    pub(super) all: Option<Outcome>,
    /// Whether some pattern has no prefix to speak of, so that stretches have to be looked for anyway.
    has_stretches: bool,
}

impl Needs {
    /// What `patterns` need of paths that begin with `/`.
    pub(super) fn of(patterns: &PatternList, outcomes: &[Outcome]) -> Needs {
        let prefixes = Vec::with_capacity(patterns.len());
        let words = texts::words_for(patterns);
        let mut needs = Needs { prefixes, texts: Vec::with_capacity(words), ..Needs::default() };
        needs.has_stretches = patterns.iter().any(|pattern| prefers_stretch(&pattern));
        for (pattern, &outcome) in patterns.iter().zip(outcomes) {
            if !pattern.anchored && pattern.octets.len() < 2 && matches(&pattern, b"/") {
                needs.all = Some(outcome);
                break;
            }
            needs.add(&pattern, outcome);
        }
        needs
    }

    fn add(&mut self, pattern: &PathPattern<'_>, outcome: Outcome) {
        let has_stars = pattern.stars().len() > 0;
        match pattern.literals().next().unwrap_or_default() {
            [b'/', prefix @ ..] if !has_stars || !prefix.is_empty() => {
                let place = texts::push(pattern, outcome, &mut self.texts);
                let stretch = self.better_stretch(pattern, prefix.len());
                match stretch {
                    Some(stretch) => self.add_stretch(place, stretch),
                    None => {
                        let is_whole = !has_stars && pattern.anchored;
                        self.prefixes.push((place, Beginning::new(prefix, is_whole)));
                    }
                }
            }
            [] | [b'/'] if has_stars => {
                let place = texts::push(pattern, outcome, &mut self.texts);
                self.add_stretch(place, rarest(pattern).expect("no pattern ends with a star"));
            }
            // It does not begin with `/`, and no path that does is matched.
            _ => {}
        }
    }

    /// A stretch that tells more than a prefix of so many octets. Where no pattern needs stretches anyway, a
    /// prefix costs less.
    fn better_stretch(&self, pattern: &PathPattern<'_>, prefix_octets: usize) -> Option<Stretch> {
        if !self.has_stretches {
            return None;
        }
        let cost_max = match prefix_octets > SHORT_PREFIX_OCTETS {
            true => COST_BESIDE_PREFIX_MAX,
            false => COST_MAX,
        };
        rarest(pattern).filter(|stretch| stretch.cost <= cost_max)
    }

    fn add_stretch(&mut self, place: u32, stretch: Stretch) {
        self.pairs.push(stretch.pair);
        self.stretches.push((place, stretch.beginning));
    }
}

/// Octets of a prefix behind the first `/` that many paths of a site may begin with.
const SHORT_PREFIX_OCTETS: usize = 3;

/// What looking for a stretch may cost so that it is better than a short prefix, and than a longer one.
const COST_MAX: u64 = 1500;
const COST_BESIDE_PREFIX_MAX: u64 = COST_MAX / 8;

/// Whether what stands behind a star is needed rather than what stands before it.
fn prefers_stretch(pattern: &PathPattern<'_>) -> bool {
    pattern.stars().next().is_some_and(|star| star <= 1 + SHORT_PREFIX_OCTETS)
}

/// What a pattern needs behind a star.
struct Stretch {
    pair: Pair,
    beginning: Beginning,
    /// How much looking for it costs, in no unit.
    cost: u64,
}

/// What is rarest of the stretches behind the stars of a pattern; nothing if there are none.
fn rarest(pattern: &PathPattern<'_>) -> Option<Stretch> {
    let last = pattern.stars().len().checked_sub(1)?;
    let literals = pattern.literals().skip(1).enumerate();
    let stretches = literals.flat_map(|(index, literal)| {
        let is_whole = pattern.anchored && index == last;
        (0..literal.len()).map(move |start| (&literal[start..], is_whole))
    });
    let cost = |(stretch, is_whole): (&[u8], bool)| {
        // Those of many patterns share one bucket, and a path has few places for them.
        if stretch.len() > 3 && stretch[0] == b'/' {
            return 0;
        }
        let misses = match stretch.len() + usize::from(is_whole) {
            0..=2 => WALK_COST,
            3 => WALK_COST / 8,
            _ => WALK_COST / 32,
        };
        u64::from(Pair::of(stretch, is_whole).frequency()) * (LOOK_COST + misses)
    };
    let costs = stretches.take(STRETCHES_MAX).map(|stretch| (cost(stretch), stretch));
    let (cost, (stretch, is_whole)) = costs.min_by_key(|&(cost, _)| cost)?;
    let (pair, beginning) = (Pair::of(stretch, is_whole), Beginning::new(stretch, is_whole));
    Some(Stretch { pair, beginning, cost })
}

/// Stretches of a pattern that are compared: any would do, and a pattern may have many thousand octets.
const STRETCHES_MAX: usize = 64;

/// What it takes to look at what a pair begins, and to walk if it is what was looked for: some
/// hundred instructions, and more than a thousand.
const LOOK_COST: u64 = 1;
const WALK_COST: u64 = 16;
