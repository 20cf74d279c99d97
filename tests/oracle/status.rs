//! Compares the effect of each rule with the oracle's decisions on every small URL.

use bstr::ByteSlice;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_lint::analysis::{Budget, RuleStatus, statuses};
use portcullis_oracle as oracle;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_testkit::{Random, words};
use rayon::prelude::*;

use crate::analysis::{AGENT, file, rules, url_of, urls};

/// Patterns and URLs, and which patterns match which URLs.
struct World {
    dialect: &'static Dialect,
    patterns: Vec<Vec<u8>>,
    urls: Vec<Vec<u8>>,
    paths: Vec<Vec<u8>>,
    /// Indexed by whether the rule allows, by pattern, and by URL.
    matches: [Vec<Vec<bool>>; 2],
}

impl World {
    fn new(dialect: &'static Dialect, patterns: Vec<Vec<u8>>, urls: Vec<Vec<u8>>) -> World {
        let path = |url: &Vec<u8>| oracle::compared_path(dialect, url).unwrap();
        let paths: Vec<Vec<u8>> = urls.iter().map(path).collect();
        let matches = [false, true].map(|allows| {
            let row = |pattern: &Vec<u8>| -> Vec<bool> {
                paths.iter().map(|path| matches(dialect, allows, pattern, path)).collect()
            };
            patterns.par_iter().map(row).collect()
        });
        World { matches, dialect, patterns, urls, paths }
    }
}

/// Returns whether a rule matches, including with its second pattern.
fn matches(dialect: &Dialect, allows: bool, pattern: &[u8], path: &[u8]) -> bool {
    let rules = [(allows, pattern)];
    let decides = |path: &[u8]| {
        let url = [b"https://example.com", path, b"#"].concat();
        oracle::decide(dialect, &file(&rules), None, &[AGENT], &url).rule.is_some()
    };
    // Only a URL that the dialect always allows is not decided by a rule.
    oracle::pattern_matches(dialect, pattern, path) || decides(path)
}

/// Rules of a world, and the oracle's decision on each small URL.
struct RuleSet<'w> {
    world: &'w World,
    rules: Vec<(bool, usize)>,
    text: Vec<u8>,
    /// The rules that match each URL, as bits.
    matching: Vec<usize>,
    /// Indexed by the matching rules, as bits.
    decisions: Vec<Option<Decision>>,
}

impl<'w> RuleSet<'w> {
    fn new(world: &'w World, rules: Vec<(bool, usize)>) -> RuleSet<'w> {
        let bit = |url: usize, index: usize| {
            let (allows, pattern) = rules[index];
            usize::from(world.matches[usize::from(allows)][pattern][url]) << index
        };
        let bits = |url: usize| (0..rules.len()).map(|index| bit(url, index)).sum();
        let matching = (0..world.urls.len()).map(bits).collect();
        let written: Vec<(bool, &[u8])> =
            rules.iter().map(|&(allows, pattern)| (allows, &world.patterns[pattern][..])).collect();
        let text = file(&written);
        RuleSet { world, matching, decisions: vec![None; 1 << rules.len()], text, rules }
    }

    /// Returns the decision on a small URL.
    fn decision(&mut self, url: usize) -> Decision {
        let (world, text) = (self.world, &self.text);
        let judge = || oracle::decide(world.dialect, text, None, &[AGENT], &world.urls[url]);
        if world.paths[url] == b"/robots.txt" {
            return judge();
        }
        *self.decisions[self.matching[url]].get_or_insert_with(judge)
    }

    fn check(&mut self) {
        let rules = rules(&self.text, self.world.dialect);
        let found = statuses(&rules, &mut Budget::default());
        for (rule, status) in &found {
            let problem = self.problem(rule.index(), status);
            assert_eq!(
                problem,
                None,
                "{} rule {}\n{}\n{found:?}",
                self.world.dialect.name,
                rule.0,
                self.text.as_bstr()
            );
        }
        // Rules without a pattern are not listed, and match nothing.
        for index in 0..self.rules.len() {
            if found.iter().all(|(rule, _)| rule.index() != index) {
                assert!((0..self.world.urls.len()).all(|url| self.matching[url] >> index & 1 == 0));
            }
        }
    }

    /// Returns what is wrong with the reported effect of the rule at `index`.
    fn problem(&mut self, index: usize, status: &RuleStatus) -> Option<&'static str> {
        let decided: Vec<usize> = (0..self.world.urls.len())
            .filter(|&url| self.decision(url).rule.is_some_and(|rule| rule.index() == index))
            .collect();
        match status {
            RuleStatus::Decides(example) => self.wrong_example(index, example),
            RuleStatus::Unknown(_) => Some("a limit"),
            _ if !decided.is_empty() => Some("it decides"),
            RuleStatus::NeverMatches => self.matched(index).first().map(|_| "it matches"),
            RuleStatus::Equal { to } => {
                let same = self.matched(index) == self.matched(to.index())
                    && self.rules[index].0 == self.rules[to.index()].0;
                (!same).then_some("it is not equal")
            }
            RuleStatus::Shadowed { by } => {
                let covers = |url: usize| {
                    by.iter().any(|winner| match winner {
                        Some(rule) => self.matching[url] >> rule.0 & 1 == 1,
                        None => self.world.paths[url] == b"/robots.txt",
                    })
                };
                let uncovered = self.matched(index).into_iter().find(|&url| !covers(url));
                uncovered.map(|_| "it is not covered")
            }
        }
    }

    fn matched(&self, index: usize) -> Vec<usize> {
        let is_matched = |&url: &usize| self.matching[url] >> index & 1 == 1;
        (0..self.world.urls.len()).filter(is_matched).collect()
    }

    fn wrong_example(&self, index: usize, example: &[u8]) -> Option<&'static str> {
        let (dialect, url) = (self.world.dialect, url_of(example));
        let decision = oracle::decide(dialect, &self.text, None, &[AGENT], &url);
        let is_right = decision.rule.is_some_and(|rule| rule.index() == index);
        (!is_right).then_some("it does not decide its example")
    }
}

fn check_all(world: &World, rule_sets: Vec<Vec<(bool, usize)>>) -> usize {
    // The oldest dialect does not support Allow, so its rule numbers skip those lines.
    let knows_allow =
        RobotsTxt::parse(b"User-agent: *\nAllow: /\n", world.dialect, None).rules().len() == 1;
    let rule_sets: Vec<_> = rule_sets
        .into_iter()
        .filter(|rules| knows_allow || rules.iter().all(|(allows, _)| !allows))
        .collect();
    let count = rule_sets.len();
    rule_sets.into_par_iter().for_each(|rules| {
        RuleSet::new(world, rules).check();
    });
    count
}

fn patterns(alphabet: &[u8], length_max: usize) -> Vec<Vec<u8>> {
    words(alphabet, length_max).into_iter().filter(|pattern| !pattern.is_empty()).collect()
}

/// Returns all sequences of `count` rules.
fn sequences(world: &World, count: u32) -> Vec<Vec<(bool, usize)>> {
    let choices = world.patterns.len() * 2;
    let rules = |number: usize| {
        let digits = (0..count).map(|place| number / choices.pow(place) % choices);
        digits.map(|digit| (digit % 2 == 0, digit / 2)).collect()
    };
    (0..choices.pow(count)).map(rules).collect()
}

/// Returns one dialect for each way of comparing paths.
fn dialects() -> impl Iterator<Item = &'static Dialect> {
    static ALL: [&Dialect; 5] = Dialect::ALL;
    ALL.chunk_by(|one, other| one.paths == other.paths).map(|same| same[0])
}

#[test]
fn statuses_of_small_rule_sets() {
    for dialect in dialects() {
        let world = World::new(dialect, patterns(b"/a*$", 3), urls(b"/ab", 4));
        let singles = check_all(&world, sequences(&world, 1));
        let pairs = check_all(&world, sequences(&world, 2));
        let small = World::new(dialect, patterns(b"/a*$", 2), urls(b"/ab", 3));
        let triples = check_all(&small, sequences(&small, 3));
        println!("{}: {singles} + {pairs} + {triples} rule sets", dialect.name);
    }
}

#[test]
fn statuses_of_random_rule_sets() {
    for dialect in dialects() {
        let mut random = Random::new(3);
        let mut patterns: Vec<Vec<u8>> =
            patterns(b"/a*$", 4).into_iter().filter(|pattern| pattern.starts_with(b"/")).collect();
        let odd: [&[u8]; 10] = [
            b"/robots.txt",
            b"/robots.txt$",
            b"/r",
            b"/*.txt$",
            b"/index.html",
            b"/*/index.htm",
            b"/%2f",
            b"/%4*1",
            b"/%",
            b"/a%61",
        ];
        patterns.extend(odd.map(<[u8]>::to_vec));
        let mut all = urls(b"/ab", 5);
        all.extend(urls(b"%2fF41", 4));
        all.extend(
            ["/robots.txt", "/robots.txt?", "/index.html", "/a/index.html", "/a/index.htm/"]
                .map(|path| format!("https://example.com{path}").into_bytes()),
        );
        let world = World::new(dialect, patterns, all);
        let rule_sets = (0..400).map(|_| {
            let count = random.within(3..=5);
            (0..count).map(|_| (random.one_in(2), random.below(world.patterns.len()))).collect()
        });
        check_all(&world, rule_sets.collect());
    }
}
