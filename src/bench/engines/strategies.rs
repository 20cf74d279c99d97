//! Other constructions over our own patterns: regex-automata, lazy and dense, and a linear scan.
//!
//! They share parsing and order of precedence with ours, and equal rule sets, so that only the
//! matching differs.

use crate::automaton::{Outcome, RegexCache, RegexEngine, pattern_matches};
use crate::policy::{OrderedRules, outcomes};

use super::super::corpus::Corpus;
use super::super::engine::{Asked, Built, Engine, EngineError, EngineKind, Matcher};
use super::super::machine::locked_version;
use super::super::questions::Question;
use super::rule_sets::{FileTargets, RuleSets};

/// Bytes that a dense table of regex-automata, or what building it needs, may have: 128 KiB. A rule
/// set past it is answered by the lazy variant. With a megabyte, building 9,000 real rule sets takes
/// more than a minute and a gigabyte, and decisions cost no less.
const DENSE_BYTES_MAX: usize = 128 << 10;

/// The engines of this file.
pub(super) fn all(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    vec![
        Box::new(Construction { corpus, kind: Kind::Scan }),
        Box::new(Construction { corpus, kind: Kind::Lazy }),
        Box::new(Construction { corpus, kind: Kind::Dense }),
    ]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scan,
    Lazy,
    Dense,
}

struct Construction<'c> {
    corpus: &'c Corpus,
    kind: Kind,
}

impl Engine for Construction<'_> {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Scan => "sorted-scan",
            Kind::Lazy => "regex-automata-lazy",
            Kind::Dense => "regex-automata-dense",
        }
    }

    fn version(&self) -> &str {
        match self.kind {
            Kind::Scan => env!("CARGO_PKG_VERSION"),
            Kind::Lazy | Kind::Dense => locked_version("regex-automata"),
        }
    }

    fn kind(&self) -> EngineKind {
        EngineKind::BuiltIn
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let Corpus { agent, .. } = self.corpus;
        let rule_sets = || RuleSets::of(files, agent, self.corpus.dialect());
        Ok(match self.kind {
            Kind::Scan => Built::timed(|| Scan(rule_sets())),
            Kind::Lazy | Kind::Dense => {
                let start = std::time::Instant::now();
                let regex = Regex::new(rule_sets(), self.kind == Kind::Dense)?;
                Built { time: start.elapsed(), matchers: Box::new(Asked(regex)) }
            }
        })
    }
}

/// The patterns in order of precedence; the first that matches decides.
struct Scan(RuleSets);

impl Matcher for Scan {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Some(set) = self.0.of_file.rule_set(question) else { return true };
        let rules = &self.0.sets[set];
        let path = question.path.as_bytes();
        let first = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
        first.is_none_or(|first| rules.verdicts[first] == crate::decision::Verdict::Allow)
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.0.sets.iter().map(|rules| rules.patterns.memory_bytes() as u64).sum())
    }
}

/// regex-automata's.
struct Regex {
    of_file: FileTargets,
    engines: Vec<(RegexEngine, RegexCache)>,
    /// Rule sets that have no dense table.
    too_large: Option<usize>,
}

impl Regex {
    fn new(rule_sets: RuleSets, dense: bool) -> Result<Regex, EngineError> {
        let mut too_large = 0;
        let mut build = |rules: &OrderedRules| {
            let outcomes = outcomes(&rules.verdicts);
            let built = dense
                .then(|| RegexEngine::dense(&rules.patterns, &outcomes, DENSE_BYTES_MAX).ok())
                .flatten();
            too_large += usize::from(built.is_none());
            let engine = match built {
                Some(engine) => engine,
                None => RegexEngine::lazy(&rules.patterns, &outcomes)
                    .map_err(|error| EngineError(error.to_string()))?,
            };
            let cache = engine.cache();
            Ok((engine, cache))
        };
        let engines = rule_sets.sets.iter().map(&mut build).collect::<Result<_, EngineError>>()?;
        Ok(Regex { of_file: rule_sets.of_file, engines, too_large: dense.then_some(too_large) })
    }
}

impl Matcher for Regex {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Some(set) = self.of_file.rule_set(question) else { return true };
        let (engine, cache) = &mut self.engines[set];
        let outcome = engine.decide(question.path.as_bytes(), cache);
        outcome == Outcome::NONE || outcome.allows()
    }

    fn bytes(&self) -> Option<u64> {
        let bytes = |(engine, cache): &(RegexEngine, RegexCache)| {
            (engine.memory_bytes() + cache.memory_bytes()) as u64
        };
        Some(self.engines.iter().map(bytes).sum())
    }

    fn note(&self) -> Option<String> {
        let (too_large, all, kib) = (self.too_large?, self.engines.len(), DENSE_BYTES_MAX >> 10);
        Some(format!(
            "{too_large} of {all} rule sets have no dense table within {kib} KiB and are lazy"
        ))
    }
}
