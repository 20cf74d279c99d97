//! Measures how the cost of a decision grows with rules, URLs, hosts and threads, on synthetic
//! data.
//!
//! [`measure`] computes the curves of `--curves`. [`RuleGrowth`] and [`MadeUpHosts`] provide the
//! data, on which the project's goals are measured too. First, every engine is compared with a scan
//! or the oracle; an engine that answers differently has no line. A line ends at a point that takes
//! too long.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::automaton::RegexEngine;
use portcullis_engine::pattern::PatternList;
use portcullis_engine::{Limits, Outcome, pattern_matches};
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::url::Origin;
use portcullis_set::{LoadConfig, PolicySet};
use portcullis_synth::Corpus;
use portcullis_synth::random::scatter;

use super::engine::EngineError;
use super::engines::Numbered;
use super::report::{Curve, CurveLine};
use super::run::{ListRun, thread_counts};
use super::timing::turn;

/// The sizes to measure.
pub(super) struct Sizes<'s> {
    /// The numbers of rules in a file.
    pub rules: &'s [usize],
    /// The lengths of a path in bytes.
    pub bytes: &'s [usize],
    /// The numbers of hosts in a set.
    pub hosts: &'s [usize],
}

/// The sizes of `--curves`.
pub(super) const USUAL: Sizes<'_> = Sizes {
    rules: &[10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000],
    bytes: &[16, 64, 256, 1_024, 4_096, 16_384],
    hosts: &[1_000, 10_000, 100_000, 1_000_000],
};

/// The most seconds for a point. A slower point ends the line.
const POINT_SECONDS_MAX: f64 = 5.0;
/// The same limit for hosts. Generating a million hosts takes longer than deciding their URLs.
const HOSTS_SECONDS_MAX: f64 = 100.0;

const PER_URL: &str = "ns per URL";

/// Measures all curves.
pub(super) fn measure(sizes: &Sizes<'_>, fill: Duration, progress: &dyn Fn(&str)) -> Vec<Curve> {
    let mut curves = Vec::new();
    progress("growth with rules");
    for (shape, has_star) in [("without stars", false), ("with one star each", true)] {
        curves.extend(rule_curves(sizes.rules, fill, shape, has_star));
    }
    progress("growth with the length of URLs");
    curves.push(length_curve(sizes.bytes, fill));
    progress("growth with hosts and threads");
    curves.extend(host_curves(sizes.hosts, fill));
    curves
}

fn curve(title: impl Into<String>, x: &str, y: &str, lines: Vec<CurveLine>) -> Curve {
    Curve { title: title.into(), x: x.to_owned(), y: y.to_owned(), lines }
}

/// Measures a line of costs in nanoseconds, up to the first point that fails or takes too long.
fn line(
    engine: &str,
    sizes: &[usize],
    seconds_max: f64,
    mut cost: impl FnMut(usize) -> Result<f64, EngineError>,
) -> CurveLine {
    let mut line = CurveLine { engine: engine.to_owned(), points: Vec::new(), note: None };
    for (position, &size) in sizes.iter().enumerate() {
        let start = Instant::now();
        match cost(size) {
            Ok(y) => line.points.push((size as f64, y)),
            Err(error) => {
                line.note = Some(format!("ends before {size}: {error}"));
                break;
            }
        }
        if start.elapsed().as_secs_f64() > seconds_max && position + 1 < sizes.len() {
            line.note = Some(format!("ends at {size}, which took more than {seconds_max} s"));
            break;
        }
    }
    line
}

/// Returns the mean seconds of `work` over as many runs as fill a turn. Work that takes long runs
/// once.
fn seconds(fill: Duration, mut work: impl FnMut()) -> f64 {
    let mut timed = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let first = timed().as_secs_f64();
    if first > POINT_SECONDS_MAX / 2.0 {
        return first;
    }
    turn(fill, || Ok::<_, EngineError>(timed())).unwrap_or(first)
}

/// Portcullis on one synthetic file with many rules, and paths of which half match some rule.
pub struct RuleGrowth {
    text: Vec<u8>,
    /// The rules in order of precedence.
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    paths: Vec<Vec<u8>>,
    ours: Numbered,
}

impl RuleGrowth {
    /// Compiles the file and decides every path once.
    ///
    /// # Errors
    ///
    /// If an answer differs from a scan of the rules.
    pub fn new(rules: usize, has_star: bool) -> Result<RuleGrowth, EngineError> {
        /// The number of paths.
        const PATHS: usize = 512;
        /// The number of distinct segments in patterns and paths.
        const WORDS: u64 = 997;
        let word =
            |seed: u64, number: usize| format!("w{:x}", scatter(seed, number as u64) % WORDS);
        let rule = |rule: usize| {
            let [one, two, three] = [0, 1, 2].map(|part| word(part, rule));
            let pattern = match has_star {
                true => format!("/{one}/*{two}{rule}"),
                false => format!("/{one}/{two}/{three}{rule}"),
            };
            (pattern, rule.is_multiple_of(3))
        };
        let mut ordered: Vec<(String, bool)> = (0..rules).map(rule).collect();
        ordered.sort_by_key(|(pattern, allows)| (std::cmp::Reverse(pattern.len()), !allows));
        let mut text = b"User-agent: *\n".to_vec();
        let mut patterns = PatternList::new();
        for (pattern, allows) in &ordered {
            let field = if *allows { "Allow" } else { "Disallow" };
            text.extend_from_slice(format!("{field}: {pattern}\n").as_bytes());
            patterns.push(pattern.as_bytes(), true);
        }
        let outcome = |(number, rule): (u32, &(String, bool))| Outcome::new(number, rule.1);
        let path = |number: usize| {
            let (rule, _) = &ordered[scatter(7, number as u64) as usize % rules];
            let hit = rule.replace('*', "x/y-");
            let miss = format!("/{}/{}", word(8, number), &hit[1..]);
            if number.is_multiple_of(2) { hit.into_bytes() } else { miss.into_bytes() }
        };
        let agent = AgentChain::parse("ExampleBot", &GOOGLE).expect("a token");
        let mut growth = RuleGrowth {
            outcomes: (1..).zip(&ordered).map(outcome).collect(),
            paths: (0..PATHS).map(path).collect(),
            ours: Numbered::new(&[&text], &agent, &GOOGLE, Limits::default()),
            text,
            patterns,
        };
        let mut allowed = Vec::with_capacity(PATHS);
        let is_allowed = |it: &Decision| it.reason == Reason::Rule && it.verdict == Verdict::Allow;
        growth.decide(|decision| allowed.push(is_allowed(decision)));
        let scanned = growth.paths.iter().map(|path| growth.scan(path).allows());
        match scanned.eq(allowed) {
            true => Ok(growth),
            false => Err(EngineError(format!("answers of {rules} rules are not the scan's"))),
        }
    }

    /// Returns the number of paths that are compared and timed.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Returns the mean seconds of hot decisions on all paths, over as many passes as fill a turn.
    pub fn seconds_per_pass(&mut self, fill: Duration) -> f64 {
        seconds(fill, || {
            self.decide(|decision| {
                black_box(decision);
            });
        })
    }

    /// Decides all paths in blocks, like a batch.
    fn decide(&mut self, mut each: impl FnMut(&Decision)) {
        for block in self.paths.chunks(RECORDS_AT_ONCE) {
            let paths: Vec<&[u8]> = block.iter().map(|path| &path[..]).collect();
            let texts = std::iter::repeat_n(0, block.len());
            self.ours.decide(texts, &paths).iter().for_each(&mut each);
        }
    }

    /// Decides a path by a scan of the rules.
    fn scan(&self, path: &[u8]) -> Outcome {
        let first = self.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
        first.map_or(Outcome::NONE, |first| self.outcomes[first])
    }

    /// Returns the nanoseconds per path of another construction. Its answers must equal the scan's.
    fn cost(
        &self,
        fill: Duration,
        mut decide: impl FnMut(&[u8]) -> Outcome,
    ) -> Result<f64, EngineError> {
        if self.paths.iter().any(|path| decide(path).allows() != self.scan(path).allows()) {
            return Err(EngineError("its answers are not the scan's".to_owned()));
        }
        let pass = || self.paths.iter().for_each(|path| _ = black_box(decide(path)));
        Ok(seconds(fill, pass) * 1e9 / self.paths.len() as f64)
    }
}

fn rule_curves(sizes: &[usize], fill: Duration, shape: &str, has_star: bool) -> [Curve; 2] {
    let line = |engine: &str, cost: &dyn Fn(RuleGrowth) -> Result<f64, EngineError>| {
        line(engine, sizes, POINT_SECONDS_MAX, |rules| cost(RuleGrowth::new(rules, has_star)?))
    };
    let hot = vec![
        line("portcullis", &|mut growth| {
            Ok(growth.seconds_per_pass(fill) * 1e9 / growth.paths() as f64)
        }),
        line("sorted-scan", &|growth| growth.cost(fill, |path| growth.scan(path))),
        line("regex-automata-lazy", &|growth| {
            let engine = RegexEngine::lazy(&growth.patterns, &growth.outcomes)
                .map_err(|error| EngineError(error.to_string()))?;
            let mut cache = engine.cache();
            growth.cost(fill, |path| engine.decide(path, &mut cache).unwrap_or_default())
        }),
    ];
    let build = line("portcullis", &|growth| {
        let agent = AgentChain::parse("ExampleBot", &GOOGLE).expect("a token");
        let build =
            || _ = black_box(Numbered::new(&[&growth.text], &agent, &GOOGLE, Limits::default()));
        Ok(seconds(fill, build) * 1e9 / growth.outcomes.len() as f64)
    });
    [
        curve(format!("Hot decisions, rules {shape}"), "rules", PER_URL, hot),
        curve(format!("Building, rules {shape}"), "rules", "ns per rule", vec![build]),
    ]
}

/// Measures a small file with realistic stars on increasingly long paths.
fn length_curve(sizes: &[usize], fill: Duration) -> Curve {
    const ROBOTS: &[u8] =
        b"User-agent: *\nDisallow: /cart/\nDisallow: /*?sort=\nDisallow: /*&page=\n\
        Disallow: /*.pdf$\nAllow: /*/public/\nDisallow: /search\nDisallow: */print/*.html\n";
    const ORIGIN: &str = "https://a.example";
    /// The number of paths of each length.
    const PATHS: usize = 64;
    let agent = AgentChain::parse("ExampleBot", &RFC_9309).expect("a token");
    let mut numbered = Numbered::new(&[ROBOTS], &agent, &RFC_9309, Limits::default());
    let judge = |url: &str| {
        let decision = oracle::decide(&RFC_9309, ROBOTS, None, &["ExampleBot"], url.as_bytes());
        decision.verdict == Verdict::Allow
    };
    // The paths do not decide before their last byte.
    let url = |bytes: usize, number: usize| {
        let filling = "/pri-cart?so.pd".chars().cycle();
        format!("{ORIGIN}/{number}").chars().chain(filling).take(ORIGIN.len() + bytes).collect()
    };
    let cost = |bytes: usize, allows: &mut dyn FnMut(&str) -> bool| {
        let urls: Vec<String> = (0..PATHS).map(|number| url(bytes, number)).collect();
        if urls.iter().any(|url| allows(url) != judge(url)) {
            return Err(EngineError("its answers are not the oracle's".to_owned()));
        }
        let pass = || urls.iter().for_each(|url| _ = black_box(allows(url)));
        Ok(seconds(fill, pass) * 1e9 / PATHS as f64)
    };
    let lines = vec![
        line("portcullis", sizes, POINT_SECONDS_MAX, |bytes| {
            cost(bytes, &mut |url| numbered.allows(0, &url.as_bytes()[ORIGIN.len()..]))
        }),
        line("oracle", sizes, POINT_SECONDS_MAX, |bytes| cost(bytes, &mut |url| judge(url))),
    ];
    curve("Hot decisions, length of the path", "bytes of the path", PER_URL, lines)
}

/// Synthetic hosts that share a thousand files, as in a crawl.
pub struct MadeUpHosts {
    corpus: Corpus,
    dialect: &'static Dialect,
    texts: Vec<Vec<u8>>,
}

impl MadeUpHosts {
    const SEED: u64 = 9309;
    const TEXTS: u64 = 1_000;

    /// Generates the hosts and their distinct files.
    pub fn new(hosts: u64, dialect: &'static Dialect) -> MadeUpHosts {
        let corpus = Corpus::new(MadeUpHosts::SEED, hosts);
        let text = |number: u64| {
            let mut text = Vec::new();
            corpus.write_robots(number, &mut text);
            text
        };
        let texts = (0..hosts.min(MadeUpHosts::TEXTS)).map(text).collect();
        MadeUpHosts { corpus, dialect, texts }
    }

    /// Returns the robots.txt for the URL with this number in a list.
    pub fn robots_of_url(&self, number: u64) -> &[u8] {
        &self.texts[self.text_of(self.host_of_url(number))]
    }

    fn text_of(&self, host: u64) -> usize {
        (host % MadeUpHosts::TEXTS) as usize
    }

    /// Returns a host, all with the same probability, so that look-ups miss caches most often.
    fn host_of_url(&self, number: u64) -> u64 {
        scatter(MadeUpHosts::SEED, number) % self.corpus.hosts()
    }

    /// Compiles the set in memory.
    ///
    /// # Panics
    ///
    /// If a set cannot hold this many hosts.
    pub fn set(&self) -> PolicySet {
        let file = |number: u64| {
            let host = self.corpus.host(number);
            let text = &self.texts[self.text_of(number)][..];
            ["http", "https"].map(|scheme| {
                let url = format!("{scheme}://{host}/robots.txt");
                (Origin::of_robots_txt(url.as_bytes()).expect("made-up hosts are hosts"), text)
            })
        };
        let files: Vec<(Origin, &[u8])> = (0..self.corpus.hosts()).flat_map(file).collect();
        let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(self.dialect) };
        PolicySet::of_files(files.iter().map(|(origin, text)| (origin, *text)), &config)
    }

    /// Returns a list of `urls` URLs, one per line.
    pub fn list(&self, urls: u64) -> Vec<u8> {
        let (mut list, mut url) = (Vec::new(), Vec::new());
        for number in 0..urls {
            url.clear();
            self.corpus.write_url(number, &mut url);
            let path = url.iter().skip("https://".len()).position(|&byte| byte == b'/');
            self.corpus.write_origin(self.host_of_url(number), &mut list);
            list.extend_from_slice(path.map_or(&b"/"[..], |path| &url["https://".len() + path..]));
            list.push(b'\n');
        }
        list
    }
}

/// Measures batches over an increasing number of hosts, compared with the standard library's hash
/// table and one matcher per text, and then on an increasing number of threads.
fn host_curves(sizes: &[usize], fill: Duration) -> [Curve; 2] {
    const URLS: usize = 200_000;
    let agent = AgentChain::parse("Googlebot", &RFC_9309).expect("a token");
    let urls = |hosts: usize| URLS.min(hosts * 100) as u64;
    let mut largest = None;
    let stored = line("portcullis", sizes, HOSTS_SECONDS_MAX, |hosts| {
        largest = None;
        let made_up = MadeUpHosts::new(hosts as u64, &RFC_9309);
        let run = ListRun::in_memory(&Arc::new(made_up.set()), &agent, made_up.list(urls(hosts)))?;
        let (run, _) = largest.insert((run, hosts));
        Ok(turn(fill, || Ok(run.pass(1)?.0))? * 1e9 / urls(hosts) as f64)
    });
    let table = line("std HashMap", sizes, HOSTS_SECONDS_MAX, |hosts| {
        let made_up = MadeUpHosts::new(hosts as u64, &RFC_9309);
        let texts: Vec<&[u8]> = made_up.texts.iter().map(Vec::as_slice).collect();
        let mut numbered = Numbered::new(&texts, &agent, &RFC_9309, Limits::default());
        let host = |host| (made_up.corpus.host(host), made_up.text_of(host));
        let files: HashMap<String, usize> = (0..hosts as u64).map(host).collect();
        let list = String::from_utf8(made_up.list(urls(hosts))).expect("made-up URLs are UTF-8");
        let pass = || {
            for url in list.lines() {
                let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                if let Some(&file) = files.get(host) {
                    black_box(numbered.allows(file, path.as_bytes()));
                }
            }
        };
        Ok(seconds(fill, pass) * 1e9 / urls(hosts) as f64)
    });
    let mut threads = line("portcullis", &thread_counts(), HOSTS_SECONDS_MAX, |threads| {
        let none = || EngineError("no set was compiled".to_owned());
        let (run, hosts) = largest.as_ref().ok_or_else(none)?;
        Ok(turn(fill, || Ok::<_, EngineError>(run.pass(threads)?.0))? * 1e9 / urls(*hosts) as f64)
    });
    let with_hosts = largest.as_ref().map(|(_, hosts)| format!("with {hosts} hosts"));
    threads.note = threads.note.or(with_hosts);
    [
        curve("Batch with origin look-up, one thread", "hosts", PER_URL, vec![stored, table]),
        curve("Batch with origin look-up, the most hosts", "threads", PER_URL, vec![threads]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_fails_or_takes_too_long() {
        let slow = line("slow", &[1, 2, 3], -1.0, |size| Ok(size as f64));
        assert_eq!(slow.points, [(1.0, 1.0)]);
        assert!(slow.note.is_some_and(|note| note.contains("ends at 1")));
        let last = line("slow at last", &[1], -1.0, |size| Ok(size as f64));
        assert_eq!((last.points.len(), last.note), (1, None));
        let wrong = line("wrong", &[1, 2], 5.0, |size| match size {
            1 => Ok(1.0),
            _ => Err(EngineError("no".to_owned())),
        });
        assert_eq!(wrong.points.len(), 1);
        assert_eq!(wrong.note.as_deref(), Some("ends before 2: no"));
    }

    #[test]
    fn every_curve_has_points_on_every_line() {
        let sizes = Sizes { rules: &[1, 50], bytes: &[16, 300], hosts: &[3, 40] };
        let curves = measure(&sizes, Duration::ZERO, &|_| ());
        assert_eq!(curves.len(), 7);
        for line in curves.iter().flat_map(|curve| &curve.lines) {
            assert!(!line.points.is_empty(), "{line:?}");
            assert!(line.points.iter().all(|&(_, y)| y > 0.0), "{line:?}");
            assert!(line.note.as_ref().is_none_or(|note| note.starts_with("with")), "{line:?}");
        }
    }
}
