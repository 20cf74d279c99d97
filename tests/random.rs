//! Random files and URLs through every strategy of the engine, compared with the oracle: many files
//! at once, in blocks and one by one, loaded and compiled, with every kind of vectors.
//!
//! Files look like robots.txt with oddities everywhere; URLs are derived from each file's patterns.
//! Seeds are fixed, so failures are reproducible. A failure is shrunk and printed as a case for
//! `tests/data`. Set `PORTCULLIS_RANDOM_CASES` to run additional cases.

#[path = "common/allocator.rs"]
mod allocator;
#[path = "suite/case.rs"]
#[expect(dead_code, reason = "usage is asked about in tests/usage.rs")]
mod case;
mod common;
#[path = "random/generate.rs"]
mod generate;
#[path = "suite/paste.rs"]
mod paste;
#[path = "random/shrink.rs"]
mod shrink;

use std::sync::Arc;

use case::{Check, Expected, checks_of};
use common::{Configuration, Random, configurations, origin, scattered, sets_of};
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::limits::{RECORDS_AT_ONCE, ROBOTS_BYTES_MAX};
use portcullis_oracle as oracle;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::{Classifier, Session, Vectors};
use portcullis_set::{LoadConfig, PolicySet};
use rayon::prelude::*;

/// The default number of cases. Each is compared several times.
const CASES: usize = 240_000;

/// URLs per file and agent.
const URLS_PER_FILE: usize = 12;

/// Agents per file.
const AGENTS_PER_FILE: usize = 2;

/// Files per batch: three blocks of records.
const FILES_AT_ONCE: usize = 32;

const CASES_AT_ONCE: usize = FILES_AT_ONCE * URLS_PER_FILE * AGENTS_PER_FILE;

/// How often some files are queried in full: often enough to trigger every strategy.
const TIMES_ASKED_OFTEN: usize = 4;

fn cases() -> usize {
    let wanted = std::env::var("PORTCULLIS_RANDOM_CASES").ok();
    let wanted = wanted.map(|text| text.parse().expect("PORTCULLIS_RANDOM_CASES is a number"));
    wanted.unwrap_or(0).max(CASES)
}

/// How often each reason was given; rules by their verdict.
#[derive(Clone, Debug, Default)]
struct Tally {
    compared: u64,
    allowed_by_rule: u64,
    disallowed_by_rule: u64,
    by_reason: [u64; Reason::ALL.len()],
}

impl Tally {
    fn add(&mut self, judged: Decision) {
        self.by_reason[judged.reason as usize] += 1;
        match (judged.reason, judged.verdict) {
            (Reason::Rule, Verdict::Allow) => self.allowed_by_rule += 1,
            (Reason::Rule, _) => self.disallowed_by_rule += 1,
            _ => {}
        }
    }

    fn sum(mut self, other: Tally) -> Tally {
        self.compared += other.compared;
        self.allowed_by_rule += other.allowed_by_rule;
        self.disallowed_by_rule += other.disallowed_by_rule;
        self.by_reason.iter_mut().zip(other.by_reason).for_each(|(count, more)| *count += more);
        self
    }
}

/// A difference between the engine and the oracle.
struct Failure {
    check: Check,
    configuration: Configuration,
    decision: Decision,
}

#[test]
fn the_engine_decides_as_the_oracle_does() {
    let times = cases().div_ceil(CASES_AT_ONCE);
    let tally = (0..times as u64)
        .into_par_iter()
        .map(|seed| compare_files(seed).unwrap_or_else(|failure| panic!("{}", report(&failure))))
        .reduce(Tally::default, Tally::sum);
    println!("{} comparisons: {tally:?}", tally.compared);
    assert!(tally.compared >= 10 * CASES as u64);
    // Every reason must occur, otherwise the generator has degenerated.
    let share = CASES as u64 / 200;
    for reason in [
        Reason::Rule,
        Reason::NoRule,
        Reason::NoGroup,
        Reason::NoRules,
        Reason::RobotsTxt,
        Reason::NoPolicy,
    ] {
        assert!(tally.by_reason[reason as usize] >= share, "{reason}: {tally:?}");
    }
    assert!(tally.by_reason[Reason::BadUrl as usize] >= share, "{tally:?}");
    assert!(tally.allowed_by_rule >= 5 * share && tally.disallowed_by_rule >= 5 * share);
}

/// A record with the expected decision for each agent.
struct Question {
    file: usize,
    url: Vec<u8>,
    judged: Vec<Decision>,
}

/// Files in one batch, with their questions.
struct Together {
    seed: u64,
    dialect: &'static Dialect,
    robots_bytes_max: Option<usize>,
    chains: Vec<AgentChain>,
    files: Vec<Vec<u8>>,
    questions: Vec<Question>,
}

impl Together {
    fn new(seed: u64) -> Together {
        let mut random = Random::new(seed);
        let dialect = *random.pick(&Dialect::ALL);
        let robots_bytes_max = match random.below(4) {
            0 => None,
            1 => Some(random.within(150..=600)),
            _ => Some(ROBOTS_BYTES_MAX),
        };
        let chains = chains(&mut random, dialect);
        let (mut files, mut questions) = (Vec::new(), Vec::new());
        for file in 0..FILES_AT_ONCE {
            let generate::RobotsFile { text, patterns } = generate::robots_file(&mut random);
            let robots_url = [origin(file).as_bytes(), b"/robots.txt"].concat();
            for _ in 0..URLS_PER_FILE {
                let url = generate::url(&mut random, &patterns, &origin(file));
                let judge = |chain: &AgentChain| {
                    let agents: Vec<&str> = chain.tokens().collect();
                    let max = robots_bytes_max;
                    oracle::decide_in_scope(dialect, &robots_url, &text, max, &agents, &url)
                };
                let judged = chains.iter().map(judge).collect();
                questions.push(Question { file, url, judged });
            }
            files.push(text);
        }
        Together { seed, dialect, robots_bytes_max, chains, files, questions }
    }

    /// Decides all questions in blocks of `size`, shuffled. `agents` are the positions of the
    /// classifier's agents in `chains`.
    fn ask(
        &self,
        session: &mut Session,
        agents: &[usize],
        configuration: &Configuration,
        size: usize,
    ) -> Result<u64, Box<Failure>> {
        let order: Vec<usize> = scattered(self.questions.len()).collect();
        for block in order.chunks(size) {
            let urls: Vec<&[u8]> = block.iter().map(|&at| &*self.questions[at].url).collect();
            session.classify(&urls).expect("a whole set");
            let decisions = configuration.answers(session);
            for (&at, decisions) in block.iter().zip(decisions.chunks(agents.len())) {
                for (&agent, &decision) in agents.iter().zip(decisions) {
                    if !configuration.agrees(decision, self.questions[at].judged[agent]) {
                        return Err(Box::new(self.failure(at, agent, configuration, decision)));
                    }
                }
            }
        }
        Ok((self.questions.len() * agents.len()) as u64)
    }

    fn failure(
        &self,
        at: usize,
        agent: usize,
        configuration: &Configuration,
        decision: Decision,
    ) -> Failure {
        let Together { dialect, robots_bytes_max, .. } = *self;
        let Question { file, ref url, ref judged } = self.questions[at];
        let agents = self.chains[agent].tokens().map(str::to_owned).collect();
        let robots = &self.files[file];
        let mut check = new_check(dialect, robots, robots_bytes_max, agents, url, judged[agent]);
        check.case = format!("random-{}", self.seed);
        Failure { check, configuration: *configuration, decision }
    }
}

/// Compares the files of `seed`: with two configurations and each kind of set, for one agent and
/// for all, in blocks and one by one, with every kind of vectors.
fn compare_files(seed: u64) -> Result<Tally, Box<Failure>> {
    let together = Together::new(seed);
    let Together { dialect, robots_bytes_max, ref chains, ref files, .. } = together;
    let mut random = Random::new(!seed);
    let files: Vec<&[u8]> = files.iter().map(|file| &**file).collect();
    let sets = sets_of(&files, (dialect, robots_bytes_max), chains);
    let configurations = configurations();
    let (usual, other) = (configurations[0], *random.pick(&configurations[1..]));
    let all: Vec<usize> = (0..chains.len()).collect();
    let own = |agents: &[usize]| agents.iter().map(|&agent| chains[agent].clone()).collect();
    let classifier = |kind: usize, agents: &[usize], configuration: &Configuration| {
        let limits = configuration.limits;
        let set = Arc::clone(&sets[kind % sets.len()].1);
        Classifier::with_limits(set, own(agents), limits).expect("a whole set")
    };
    let mut compared = 0;
    for vectors in Vectors::all() {
        let ways = [(&usual, &all[..1]), (&usual, &all), (&other, &all[1..]), (&other, &all)];
        for (number, (configuration, agents)) in ways.into_iter().enumerate() {
            let kind = number + random.below(sets.len());
            let classifier = classifier(kind, agents, configuration).with_vectors(vectors);
            let mut session = Session::new(classifier, None);
            // Rule sets that are queried often switch strategy.
            for _ in 0..if seed.is_multiple_of(4) { TIMES_ASKED_OFTEN } else { 1 } {
                compared += together.ask(&mut session, agents, configuration, RECORDS_AT_ONCE)?;
            }
            compared += together.ask(&mut session, agents, configuration, 1)?;
        }
        for kind in 0..sets.len() {
            let classifier = classifier(kind, &all, &usual).with_vectors(vectors);
            let mut session = Session::new(classifier, None);
            compared += together.ask(&mut session, &all, &usual, RECORDS_AT_ONCE)?;
        }
    }
    let mut tally = Tally { compared, ..Tally::default() };
    together.questions.iter().flat_map(|question| &question.judged).for_each(|&it| tally.add(it));
    Ok(tally)
}

/// Returns agents that the dialect accepts.
fn chains(random: &mut Random, dialect: &Dialect) -> Vec<AgentChain> {
    let parse = |agents: &&[&str]| AgentChain::parse(&agents.join("+"), dialect).ok();
    let known: Vec<AgentChain> = generate::CHAINS.iter().filter_map(parse).collect();
    (0..AGENTS_PER_FILE).map(|_| random.pick(&known).clone()).collect()
}

fn new_check(
    dialect: &'static Dialect,
    robots: &[u8],
    robots_bytes_max: Option<usize>,
    agents: Vec<String>,
    url: &[u8],
    judged: Decision,
) -> Check {
    Check {
        case: "random".to_owned(),
        clause: "decided by the oracle".to_owned(),
        dialect,
        robots: robots.to_vec(),
        robots_bytes_max,
        agents,
        robots_url: None,
        url: url.to_vec(),
        expected: Expected::of(&judged),
        usage: None,
    }
}

fn judge(check: &Check) -> Decision {
    let agents: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    oracle::decide(check.dialect, &check.robots, check.robots_bytes_max, &agents, &check.url)
}

fn decide(check: &Check, configuration: &Configuration) -> Option<Decision> {
    let Check { dialect, robots_bytes_max, .. } = *check;
    let config = LoadConfig { robots_bytes_max, ..LoadConfig::new(dialect) };
    let set = PolicySet::of_text(&check.robots, &config);
    let chain = AgentChain::parse(&check.agents.join("+"), dialect).ok()?;
    let classifier = Classifier::with_limits(set, vec![chain], configuration.limits).unwrap();
    let mut session = Session::new(classifier, None);
    session.classify(&[&check.url]).unwrap();
    Some(configuration.answers(&session)[0])
}

/// Formats a failure as a case of the suite: shrunk, unless it only occurs in a block or a set.
fn report(failure: &Failure) -> String {
    let Failure { check, configuration, decision } = failure;
    let is_rejected = |decision: &Decision| decision.reason == Reason::BadUrl;
    let first_rejected = decide(check, configuration).as_ref().map(is_rejected);
    // The engine rejects more hosts, so a shortened URL could differ for that reason alone.
    let differs = |check: &Check| {
        decide(check, configuration).is_some_and(|decision| {
            let same_kind = Some(is_rejected(&decision)) == first_rejected;
            same_kind && !configuration.agrees(decision, judge(check))
        })
    };
    let smallest = shrink::shrink(check, differs);
    let judged = judge(&smallest);
    format!(
        "{} (with rules: {}) differs: {decision:?} in a block, {:?} alone, {judged:?} by the oracle\n\n{}",
        configuration.name,
        configuration.rules,
        decide(&smallest, configuration),
        paste::entry(&smallest, Expected::of(&judged)),
    )
}

#[test]
fn a_failure_shrinks_and_prints_a_case_that_loads() {
    let robots = b"User-agent: *\r\nAllow: /a\nDisallow: /b\xff\n\n# end\n";
    let url = b"https://example.com/b\xff/c";
    let agents = vec!["ExampleBot".to_owned(), "bot".to_owned()];
    let judged = Decision::INVALID;
    let check = new_check(&RFC_9309, robots, Some(1_000), agents, url, judged);
    let disallowed = |check: &Check| judge(check).verdict == Verdict::Disallow;
    let smallest = shrink::shrink(&check, disallowed);
    assert_eq!(smallest.robots, b"User-agent:*\rDisallow:/");
    assert_eq!(smallest.url, b"s://b");
    assert_eq!((smallest.agents.len(), smallest.robots_bytes_max), (1, None));
    for check in [&check, &smallest] {
        let entry = paste::entry(check, Expected::of(&judge(check)));
        let loaded = checks_of(&entry.replace("why = \"\"", "why = \"it loads\""));
        let loaded = loaded.unwrap_or_else(|problem| panic!("{problem}\n{entry}"));
        assert_eq!(loaded.len(), 1);
        assert_eq!((&loaded[0].robots, &loaded[0].url), (&check.robots, &check.url), "{entry}");
        assert_eq!(loaded[0].robots_bytes_max, check.robots_bytes_max);
        assert_eq!(loaded[0].expected, Expected::of(&judge(check)));
    }
}
