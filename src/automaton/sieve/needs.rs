//! What patterns need of the paths that they match.

use crate::automaton::scan::matches;
use crate::pattern::{PathPattern, PatternList};

use super::filter::Beginning;
use super::pairs::Pair;

/// What the patterns of a list need, each one thing.
#[derive(Default)]
pub(super) struct Needs {
    /// Patterns, and what their paths begin with behind the first `/`.
    pub(super) prefixes: Vec<(u32, Beginning)>,
    /// Patterns, and what stands somewhere in their paths.
    pub(super) stretches: Vec<(u32, Beginning)>,
    /// What those stretches begin with.
    pub(super) pairs: Vec<Pair>,
    /// The first pattern that matches every path that begins with `/`. Those behind it never decide,
    /// and need nothing.
    pub(super) all: Option<usize>,
}

impl Needs {
    /// What `patterns` need of paths that begin with `/`.
    pub(super) fn of(patterns: &PatternList) -> Needs {
        let mut needs = Needs { prefixes: Vec::with_capacity(patterns.len()), ..Needs::default() };
        for (index, pattern) in patterns.iter().enumerate() {
            if !pattern.anchored && pattern.octets.len() < 2 && matches(&pattern, b"/") {
                needs.all = Some(index);
                break;
            }
            needs.add(index as u32, &pattern);
        }
        needs
    }

    fn add(&mut self, index: u32, pattern: &PathPattern<'_>) {
        let has_stars = pattern.stars().len() > 0;
        match pattern.literals().next().unwrap_or_default() {
            [b'/', rest @ ..] if !rest.is_empty() || !has_stars => {
                let is_whole = !has_stars && pattern.anchored;
                self.prefixes.push((index, Beginning::new(rest, is_whole)));
            }
            [] | [b'/'] if has_stars => {
                let (pair, stretch) = rarest(pattern);
                self.pairs.push(pair);
                self.stretches.push((index, stretch));
            }
            // It does not begin with `/`, and no path that does is matched.
            _ => {}
        }
    }
}

/// What is rarest of the stretches behind the stars of a pattern.
fn rarest(pattern: &PathPattern<'_>) -> (Pair, Beginning) {
    let last = pattern.stars().len() - 1;
    let literals = pattern.literals().skip(1).enumerate();
    let stretches = literals.flat_map(|(index, literal)| {
        let is_whole = pattern.anchored && index == last;
        (0..literal.len()).map(move |start| (&literal[start..], is_whole))
    });
    let cost = |&(stretch, is_whole): &(&[u8], bool)| {
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
    let (stretch, is_whole) =
        stretches.take(STRETCHES_MAX).min_by_key(cost).expect("no pattern ends with a star");
    (Pair::of(stretch, is_whole), Beginning::new(stretch, is_whole))
}

/// Stretches of a pattern that are compared: any would do, and a pattern may have many thousand octets.
const STRETCHES_MAX: usize = 64;

/// What it takes to look at what a pair begins, and to walk if it is what was looked for: some
/// hundred instructions, and more than a thousand.
const LOOK_COST: u64 = 1;
const WALK_COST: u64 = 16;
