//! How a rule set decides a path: the ladder, its order and its reasons.
//!
//! | step | decides a path if | cost |
//! |---|---|---|
//! | 1 first probe | it begins like no required prefix, and no literal is required; constant rule sets end here | 1 cache line |
//! | 2 prefixes, literals | it has no required prefix and no required literal of any pattern | 1 or 2 more |
//! | 3 candidates | the index names at most [`candidates_tried_max`](crate::Limits) patterns, which are matched one by one | a search each |
//! | 4 automaton | the patterns are small and asked often: a lazy DFA | a table look-up per byte |
//! | 5 scan | always | one pass for all patterns |
//!
//! The automaton defines the answer. Each step before it is an accelerator that must agree with it;
//! the scan stands in for it. Steps are ordered by cost, and each leaves few paths to the next: of real
//! URLs, nine in ten end at step 1 or 2 and fewer than one in a hundred gets behind step 3.
//!
//! [`RuleSet::decide`] takes one path through the steps. A [block](crate::block) takes
//! many questions through the same functions, each step over the whole block before the next one
//! starts, so that memory accesses overlap.

use crate::cache::Cache;
use crate::config::Settings;
use crate::filter::{FirstProbe, Found};
use crate::line::Line;
use crate::outcome::Outcome;
use crate::ruleset::RuleSet;
use crate::vectors::{Kind, Work};

/// Steps 2 and 3, by their names in the table; step 1 is [`FirstProbe::of`].
pub(crate) use crate::filter::{
    probe_literals as literals, probe_prefixes as prefixes, try_candidates as candidates,
};

impl RuleSet<'_> {
    /// Returns the outcome of the first pattern that matches `path`, a path in normal form. `cache`
    /// belongs to this rule set, and to one thread at a time.
    ///
    /// # Panics
    ///
    /// If `cache` was used with another rule set, this may panic or give a wrong answer.
    #[inline]
    pub fn decide(&self, path: &[u8], cache: &mut Cache) -> Outcome {
        match self.decide_at_once(path, cache.settings()) {
            Some(outcome) => outcome,
            // Steps 4 and 5.
            None => cache.ask_automaton(*self, path),
        }
    }

    /// Like [`RuleSet::decide`], by the steps that need no cache: 1 to 3. `None` for the few paths
    /// that need an automaton.
    #[inline]
    pub fn decide_at_once(&self, path: &[u8], settings: &Settings) -> Option<Outcome> {
        decide_at_once(self.filter.lines(), path, settings)
    }
}

/// [`RuleSet::decide_at_once`] for the rule set at the start of `lines`, which is viewed only if
/// there are candidates.
///
/// Not inlined, like [`decide_if`]: the steps are compiled here, once and as a whole.
#[inline(never)]
pub(crate) fn decide_at_once(lines: &[Line], path: &[u8], settings: &Settings) -> Option<Outcome> {
    let entries_max = settings.limits.candidates_tried_max?;
    settings.vectors.run(Decide { lines, path, entries_max })
}

/// [`decide_at_once`] if `condition` holds, in one function for the kind of vectors; otherwise `None`.
#[inline(never)]
pub(crate) fn decide_if(
    condition: impl Work<Output = bool>,
    lines: &[Line],
    path: &[u8],
    settings: &Settings,
) -> Option<Outcome> {
    let entries_max = settings.limits.candidates_tried_max?;
    settings.vectors.run(DecideIf { condition, question: Decide { lines, path, entries_max } })
}

struct DecideIf<'d, C> {
    condition: C,
    question: Decide<'d>,
}

impl<C: Work<Output = bool>> Work for DecideIf<'_, C> {
    type Output = Option<Outcome>;

    #[inline(always)]
    fn with(self, kind: impl Kind) -> Option<Outcome> {
        match self.condition.with(kind) {
            true => self.question.with(kind),
            false => None,
        }
    }
}

/// One question, compiled for each kind of vectors.
struct Decide<'d> {
    lines: &'d [Line],
    path: &'d [u8],
    entries_max: usize,
}

impl Work for Decide<'_> {
    type Output = Option<Outcome>;

    #[inline(always)]
    fn with(self, probe: impl Kind) -> Option<Outcome> {
        let Decide { lines, path, mut entries_max } = self;
        let first = FirstProbe::of(lines, 0)?;
        let may_have_prefix = first.probe_prefixes(path)?;
        let prefix_levels = if may_have_prefix { prefixes(lines, 0, path, probe) } else { 0 };
        let literals = first.has_literals && literals(lines, 0, path, probe);
        match (Found { prefix_levels, literals }) {
            Found { prefix_levels: 0, literals: false } => Some(first.otherwise),
            found => candidates(RuleSet::view(lines)?, path, found, &mut entries_max, probe),
        }
    }
}
