//! Random files and URLs through every strategy of the engine, against the oracle: many files at once, in
//! blocks as `classify` asks and one by one, loaded and compiled, with every kind of vectors.
//!
//! The files are shaped like robots.txt and odd wherever something can be odd; the URLs are made
//! from each file's own patterns. All is seeded, so a failure comes again; it is shrunk and printed
//! as a case for `tests/data`. `PORTCULLIS_RANDOM_CASES` asks for more cases than the usual number,
//! which are the same ones and others after them.

#[path = "suite/case.rs"]
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
use portcullis::batch::{Classifier, ClassifierMemory, Vectors};
use portcullis::decision::{Decision, Reason, Verdict};
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::limits::{RECORDS_AT_ONCE, ROBOTS_BYTES_MAX};
use portcullis::oracle;
use portcullis::policy::AgentChain;
use portcullis::set::{LoadConfig, PolicySet};
use rayon::prelude::*;

/// Cases that are asked unless the environment wants more. Each is compared twice.
const CASES: usize = 240_000;

/// URLs that each agent asks of each file.
const URLS_PER_FILE: usize = 12;

/// Agents that ask each file.
const AGENTS_PER_FILE: usize = 2;

/// Files that are asked together: three blocks of records.
const FILES_AT_ONCE: usize = 32;

const CASES_AT_ONCE: usize = FILES_AT_ONCE * URLS_PER_FILE * AGENTS_PER_FILE;

/// How often some files are asked everything: often enough for every way that engines change to.
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
    // Each way to decide has to occur, or the files have stopped being what they should be.
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

/// A record to be asked about, and what is right for each agent.
struct Question {
    file: usize,
    url: Vec<u8>,
    judged: Vec<Decision>,
}

/// Files that are asked together, and what they are asked.
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

    /// Asks all questions, in blocks of this size and in no order.
    ///
    /// `agents` are the positions of the classifier's agents among all.
    fn ask(
        &self,
        classifier: &Classifier,
        memory: &mut ClassifierMemory,
        agents: &[usize],
        configuration: &Configuration,
        size: usize,
    ) -> Result<u64, Box<Failure>> {
        let order: Vec<usize> = scattered(self.questions.len()).collect();
        for block in order.chunks(size) {
            let urls: Vec<&[u8]> = block.iter().map(|&at| &*self.questions[at].url).collect();
            let decisions = classifier.classify(&urls, None, memory).expect("a whole set");
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

/// Asks the engine about the files that `seed` makes: in two ways and by each kind of set; for each agent alone
/// and for all together; in blocks as `classify` asks, with every kind of vectors, and one by one.
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
        let Configuration { limits, detail, .. } = *configuration;
        let set = Arc::clone(&sets[kind % sets.len()].1);
        Classifier::with_limits(set, own(agents), detail, limits).expect("a whole set")
    };
    let mut compared = 0;
    for vectors in Vectors::all() {
        let ways = [(&usual, &all[..1]), (&usual, &all), (&other, &all[1..]), (&other, &all)];
        for (number, (configuration, agents)) in ways.into_iter().enumerate() {
            let kind = number + random.below(sets.len());
            let classifier = classifier(kind, agents, configuration).with_vectors(vectors);
            let mut memory = classifier.memory();
            // Rule sets that are asked often are asked in another way.
            for _ in 0..if seed.is_multiple_of(4) { TIMES_ASKED_OFTEN } else { 1 } {
                compared += together.ask(
                    &classifier,
                    &mut memory,
                    agents,
                    configuration,
                    RECORDS_AT_ONCE,
                )?;
            }
            compared += together.ask(&classifier, &mut memory, agents, configuration, 1)?;
        }
        for kind in 0..sets.len() {
            let classifier = classifier(kind, &all, &usual).with_vectors(vectors);
            let mut memory = classifier.memory();
            compared += together.ask(&classifier, &mut memory, &all, &usual, RECORDS_AT_ONCE)?;
        }
    }
    let mut tally = Tally { compared, ..Tally::default() };
    together.questions.iter().flat_map(|question| &question.judged).for_each(|&it| tally.add(it));
    Ok(tally)
}

/// Agents that the dialect lets ask.
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
        clause: "as the oracle reads it".to_owned(),
        dialect,
        robots: robots.to_vec(),
        robots_bytes_max,
        agents,
        robots_url: None,
        url: url.to_vec(),
        expected: Expected::of(&judged),
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
    let Configuration { detail, limits, .. } = *configuration;
    let classifier = Classifier::with_limits(set, vec![chain], detail, limits).unwrap();
    let mut memory = classifier.memory();
    Some(classifier.classify(&[&check.url], None, &mut memory).unwrap()[0])
}

/// The failure, as a case of the suite: shrunk, unless only a block or a set shows it.
fn report(failure: &Failure) -> String {
    let Failure { check, configuration, decision } = failure;
    let refused = |decision: &Decision| decision.reason == Reason::BadUrl;
    let first_refused = decide(check, configuration).as_ref().map(refused);
    // The engine refuses more hosts, so a URL that is cut short could differ by that alone.
    let differs = |check: &Check| {
        decide(check, configuration).is_some_and(|decision| {
            let same_kind = Some(refused(&decision)) == first_refused;
            same_kind && !configuration.agrees(decision, judge(check))
        })
    };
    let smallest = shrink::shrink(check, differs);
    let judged = judge(&smallest);
    format!(
        "{} with {:?} differs; among others the engine says {decision:?}, alone {:?}, and the oracle \
         {judged:?}\n\n{}",
        configuration.name,
        configuration.detail,
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

/// Records that are no URLs by any reading. The engine, which has to find the policy of a host,
/// refuses more; those are its own tests'.
#[test]
fn odd_records_are_invalid() {
    const RECORDS: [&[u8]; 26] = [
        b"",
        b" \t\r",
        b"example.com/a",
        b"//example.com/a",
        b"/a",
        b"a",
        b"http",
        b"http:",
        b"http:/example.com/a",
        b"http:example.com/a",
        b"://example.com/a",
        b"1http://example.com/a",
        b"ht tp://example.com/a",
        b"\xef\xbb\xbfhttp://example.com/a",
        b"mailto:joe@example.com",
        b"http://",
        b"http:///a",
        b"http://?a",
        b"http://joe@/a",
        b"http://:80/a",
        b"http://exa mple.com/a",
        b"http://exa\0mple.com/a",
        b"http://example.com:65536/a",
        b"http://example.com:+1/a",
        b"http://[::1/a",
        b"http://[]/a",
    ];
    for dialect in Dialect::ALL {
        for robots in [&b"User-agent: *\nDisallow: /\n"[..], b"User-agent: *\nAllow: /\n", b""] {
            for url in RECORDS {
                let agents = vec!["ExampleBot".to_owned()];
                let check = new_check(dialect, robots, None, agents, url, Decision::INVALID);
                assert_eq!(judge(&check), Decision::INVALID, "{}", url.escape_ascii());
                for configuration in configurations() {
                    let decision = decide(&check, &configuration);
                    assert_eq!(decision, Some(Decision::INVALID), "{}", url.escape_ascii());
                }
            }
        }
    }
}
