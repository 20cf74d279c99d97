//! Growth with rules: one file with ever more of them, without stars and with one in each.

use std::time::{Duration, Instant};

use crate::automaton::{Limits, Outcome, RegexCache, RegexEngine, RegexError, pattern_matches};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::GOOGLE;
use crate::limits::RECORDS_AT_ONCE;
use crate::pattern::PatternList;
use crate::policy::AgentChain;

use super::super::engine::EngineError;
use super::super::engines::numbered::Numbered;
use super::super::questions::scatter;
use super::{Curve, Point, line, mean_seconds, point};

/// Rules of a file.
const COUNTS: [usize; 9] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000];
/// Paths that are asked about.
const PATHS: usize = 512;
/// Segments that patterns and paths are put together from.
const WORDS: u32 = 997;

/// Rules in order of precedence, and paths of which half match some rule.
struct Data {
    /// The file that they stand in.
    text: Vec<u8>,
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    paths: Vec<Vec<u8>>,
}

/// A segment that looks random.
fn word(number: u64) -> String {
    format!("w{:x}", number % u64::from(WORDS))
}

impl Data {
    fn of(rules: usize, has_star: bool) -> Data {
        let rule = |rule: usize| {
            let parts = [0, 1, 2].map(|part| word(scatter(part, rule as u32)));
            let [one, two, three] = parts;
            let pattern = match has_star {
                true => format!("/{one}/*{two}{rule}"),
                false => format!("/{one}/{two}/{three}{rule}"),
            };
            (pattern, rule.is_multiple_of(3))
        };
        let mut rules: Vec<(String, bool)> = (0..rules).map(rule).collect();
        rules.sort_by_key(|(pattern, allows)| (std::cmp::Reverse(pattern.len()), !allows));
        let mut text = b"User-agent: *\n".to_vec();
        let mut patterns = PatternList::new();
        for (pattern, allows) in &rules {
            let field = if *allows { "Allow" } else { "Disallow" };
            text.extend_from_slice(format!("{field}: {pattern}\n").as_bytes());
            patterns.push(pattern.as_bytes(), true);
        }
        let outcome = |(number, rule): (u32, &(String, bool))| Outcome::new(number, rule.1);
        let path = |number: usize| {
            let (rule, _) = &rules[scatter(7, number as u32) as usize % rules.len()];
            let hit = rule.replace('*', "x/y-");
            let miss = format!("/{}/{}", word(scatter(8, number as u32)), &hit[1..]);
            if number.is_multiple_of(2) { hit.into_bytes() } else { miss.into_bytes() }
        };
        Data {
            text,
            patterns,
            outcomes: (1..).zip(&rules).map(outcome).collect(),
            paths: (0..PATHS).map(path).collect(),
        }
    }

    /// The sorted linear scan.
    fn scan(&self, path: &[u8]) -> Outcome {
        let first = self.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
        first.map_or(Outcome::NONE, |first| self.outcomes[first])
    }

    fn ours(&self) -> Ours {
        let agent = AgentChain::parse("ExampleBot", &GOOGLE).expect("a token");
        Ours(Numbered::new(&[&self.text], &agent, &GOOGLE, Limits::default()))
    }

    fn lazy(&self) -> Result<(RegexEngine, RegexCache), RegexError> {
        let engine = RegexEngine::lazy(&self.patterns, &self.outcomes)?;
        let cache = engine.cache();
        Ok((engine, cache))
    }

    /// The cost of a path.
    fn cost(&self, turn: Duration, mut decide: impl FnMut(&[u8]) -> Outcome) -> Point {
        let start = Instant::now();
        let seconds = mean_seconds(turn, || {
            for path in &self.paths {
                std::hint::black_box(decide(path));
            }
        });
        point(
            seconds * 1e9 / self.paths.len() as f64,
            start.elapsed().as_secs_f64() - turn.as_secs_f64(),
        )
    }

    fn agrees(&self, mut decide: impl FnMut(&[u8]) -> Outcome) -> bool {
        self.paths.iter().all(|path| decide(path).allows() == self.scan(path).allows())
    }
}

/// A set with the one file.
struct Ours(Numbered);

impl Ours {
    /// Decides paths in blocks, as a batch does.
    fn decide(&mut self, paths: &[Vec<u8>], mut tell: impl FnMut(&Decision)) {
        for block in paths.chunks(RECORDS_AT_ONCE) {
            let paths: Vec<&[u8]> = block.iter().map(|path| &path[..]).collect();
            let texts = std::iter::repeat_n(0, block.len());
            self.0.decide(texts, &paths).iter().for_each(&mut tell);
        }
    }

    fn agrees(&mut self, data: &Data) -> bool {
        let mut allowed = Vec::with_capacity(data.paths.len());
        let is_allowed = |it: &Decision| it.reason == Reason::Rule && it.verdict == Verdict::Allow;
        self.decide(&data.paths, |decision| allowed.push(is_allowed(decision)));
        data.paths.iter().map(|path| data.scan(path).allows()).eq(allowed)
    }

    /// The mean seconds of a pass.
    fn seconds_per_pass(&mut self, data: &Data, turn: Duration) -> f64 {
        mean_seconds(turn, || {
            self.decide(&data.paths, |decision| {
                std::hint::black_box(decision);
            });
        })
    }
}

/// Ours over one group with so many rules, made up.
pub struct RuleGrowth {
    data: Data,
    ours: Ours,
}

impl RuleGrowth {
    /// Compiles the file and asks it everything once.
    ///
    /// # Errors
    ///
    /// If it answers otherwise than the rules tried one after the other.
    pub fn new(rules: usize, has_star: bool) -> Result<RuleGrowth, EngineError> {
        let data = Data::of(rules, has_star);
        let mut ours = data.ours();
        match ours.agrees(&data) {
            true => Ok(RuleGrowth { data, ours }),
            false => Err(EngineError(format!("answers of {rules} rules are not the scan's"))),
        }
    }

    /// Paths that were compared, and that are asked about.
    pub fn paths(&self) -> usize {
        self.data.paths.len()
    }

    /// The mean seconds of hot decisions on all paths, over as many passes as fill a turn.
    pub fn seconds_per_pass(&mut self, turn: Duration) -> f64 {
        self.ours.seconds_per_pass(&self.data, turn)
    }
}

/// The curves of this file.
pub(super) fn curves(turn: Duration) -> Vec<Curve> {
    curves_of(turn, &COUNTS)
}

pub(super) fn curves_of(turn: Duration, counts: &[usize]) -> Vec<Curve> {
    let shapes = [("without stars", false), ("with one star each", true)];
    shapes
        .into_iter()
        .flat_map(|(shape, has_star)| of_shape(turn, counts, shape, has_star))
        .collect()
}

fn of_shape(turn: Duration, counts: &[usize], shape: &str, has_star: bool) -> [Curve; 2] {
    let curve = |title: String, lines| Curve {
        title,
        x: "rules".to_owned(),
        y: "ns a URL".to_owned(),
        lines,
    };
    let ours = line("portcullis", counts, |rules| {
        let data = Data::of(rules, has_star);
        let mut ours = data.ours();
        assert!(ours.agrees(&data), "ours answers as the scan does");
        let start = Instant::now();
        let seconds = ours.seconds_per_pass(&data, turn);
        let spread = start.elapsed().as_secs_f64() - turn.as_secs_f64();
        point(seconds * 1e9 / data.paths.len() as f64, spread)
    });
    let scan = line("sorted-scan", counts, |rules| {
        let data = Data::of(rules, has_star);
        data.cost(turn, |path| data.scan(path))
    });
    let lazy = line("regex-automata-lazy", counts, |rules| {
        let data = Data::of(rules, has_star);
        let (engine, mut cache) = match data.lazy() {
            Ok(built) => built,
            Err(error) => return Point::Absent(error.to_string()),
        };
        let mut decide = |path: &[u8]| engine.decide(path, &mut cache);
        assert!(data.agrees(&mut decide), "the other construction answers as the scan does");
        data.cost(turn, decide)
    });
    let decided = vec![ours, scan, lazy];
    let build = line("portcullis", counts, |rules| {
        let data = Data::of(rules, has_star);
        let start = Instant::now();
        let seconds = mean_seconds(turn, || {
            std::hint::black_box(data.ours());
        });
        point(seconds * 1e9 / rules as f64, start.elapsed().as_secs_f64() - turn.as_secs_f64())
    });
    let mut built = curve(format!("Building, rules {shape}"), vec![build]);
    built.y = "ns a rule".to_owned();
    [curve(format!("Hot decisions, rules {shape}"), decided), built]
}
