//! Random files and URLs through every strategy of the engine, against the oracle.
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

use case::{Check, Expected, checks_of};
use common::{Configuration, Random, configurations};
use portcullis::batch::{Classifier, ClassifierMemory};
use portcullis::decision::{Decision, Reason, Verdict};
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::limits::{ROBOTS_OCTETS_MAX, SCANS_BEFORE_STATES};
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

const CASES_PER_FILE: usize = URLS_PER_FILE * AGENTS_PER_FILE;

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
    fn add(&mut self, judged: Decision, compared: u64) {
        self.compared += compared;
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
}

#[test]
fn the_engine_decides_as_the_oracle_does() {
    let files = cases().div_ceil(CASES_PER_FILE);
    let tally = (0..files as u64)
        .into_par_iter()
        .map(|seed| compare_file(seed).unwrap_or_else(|failure| panic!("{}", report(&failure))))
        .reduce(Tally::default, Tally::sum);
    println!("{} comparisons: {tally:?}", tally.compared);
    assert!(tally.compared >= 2 * CASES as u64);
    // Each way to decide has to occur, or the files have stopped being what they should be.
    let share = CASES as u64 / 200;
    for reason in
        [Reason::Rule, Reason::NoRule, Reason::NoGroup, Reason::NoRules, Reason::RobotsTxt]
    {
        assert!(tally.by_reason[reason as usize] >= share, "{reason}: {tally:?}");
    }
    assert!(tally.by_reason[Reason::BadUrl as usize] >= share, "{tally:?}");
    assert!(tally.allowed_by_rule >= 5 * share && tally.disallowed_by_rule >= 5 * share);
}

/// Asks the engine in two ways about the file that `seed` makes.
fn compare_file(seed: u64) -> Result<Tally, Box<Failure>> {
    let mut random = Random::new(seed);
    let dialect = *random.pick(&Dialect::ALL);
    let file = generate::robots_file(&mut random);
    let robots_octets_max = match random.below(4) {
        0 => None,
        1 => Some((file.text.len() + 2).saturating_sub(random.below(40))),
        _ => Some(ROBOTS_OCTETS_MAX),
    };
    let chains = chains(&mut random, dialect);
    let set = PolicySet::of_text(&file.text, &LoadConfig { dialect, robots_octets_max });
    let configurations = configurations();
    // The usual way, and another.
    let others = &configurations[1..];
    let chosen = [configurations[0], *random.pick(others)];
    let classifiers = chosen.map(|configuration| classifier(&set, &chains, &configuration));
    let mut memories = classifiers.each_ref().map(Classifier::memory);
    let mut tally = Tally::default();
    if random.one_in(2) {
        // Rule sets that have been asked a few times build states.
        for _ in 0..SCANS_BEFORE_STATES {
            let url = generate::url(&mut random, &file.patterns);
            for (classifier, memory) in classifiers.iter().zip(&mut memories) {
                classifier.classify(&[&url], None, memory).unwrap();
            }
        }
    }
    for _ in 0..URLS_PER_FILE {
        let url = generate::url(&mut random, &file.patterns);
        for (index, chain) in chains.iter().enumerate() {
            let agents: Vec<&str> = chain.tokens().collect();
            let judged = oracle::decide(dialect, &file.text, robots_octets_max, &agents, &url);
            tally.add(judged, chosen.len() as u64);
            for way in 0..chosen.len() {
                let decision =
                    classifiers[way].classify(&[&url], None, &mut memories[way]).unwrap()[index];
                if !chosen[way].agrees(decision, judged) {
                    let agents = agents.iter().map(|&agent| agent.to_owned()).collect();
                    let mut check =
                        new_check(dialect, &file.text, robots_octets_max, agents, &url, judged);
                    check.case = format!("random-{seed}");
                    return Err(Box::new(Failure { check, configuration: chosen[way] }));
                }
            }
        }
    }
    Ok(tally)
}

/// Agents that the dialect lets ask.
fn chains(random: &mut Random, dialect: &Dialect) -> Vec<AgentChain> {
    let parse = |agents: &&[&str]| AgentChain::parse(&agents.join("+"), dialect).ok();
    let known: Vec<AgentChain> = generate::CHAINS.iter().filter_map(parse).collect();
    (0..AGENTS_PER_FILE).map(|_| random.pick(&known).clone()).collect()
}

fn classifier<'s>(
    set: &'s PolicySet,
    chains: &[AgentChain],
    configuration: &Configuration,
) -> Classifier<'s> {
    let Configuration { detail, limits, .. } = *configuration;
    Classifier::with_limits(set, chains.to_vec(), detail, limits)
}

fn new_check(
    dialect: &'static Dialect,
    robots: &[u8],
    robots_octets_max: Option<usize>,
    agents: Vec<String>,
    url: &[u8],
    judged: Decision,
) -> Check {
    Check {
        case: "random".to_owned(),
        clause: "as the oracle reads it".to_owned(),
        dialect,
        robots: robots.to_vec(),
        robots_octets_max,
        agents,
        robots_url: None,
        url: url.to_vec(),
        expected: Expected::of(&judged),
    }
}

fn judge(check: &Check) -> Decision {
    let agents: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    oracle::decide(check.dialect, &check.robots, check.robots_octets_max, &agents, &check.url)
}

fn decide(check: &Check, configuration: &Configuration) -> Option<Decision> {
    let Check { dialect, robots_octets_max, .. } = *check;
    let set = PolicySet::of_text(&check.robots, &LoadConfig { dialect, robots_octets_max });
    let chain = AgentChain::parse(&check.agents.join("+"), dialect).ok()?;
    let classifier = classifier(&set, &[chain], configuration);
    let mut memory: ClassifierMemory = classifier.memory();
    Some(classifier.classify(&[&check.url], None, &mut memory).unwrap()[0])
}

/// The failure, shrunk, as a case of the suite.
fn report(failure: &Failure) -> String {
    let Failure { check, configuration } = failure;
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
        "{} with {:?} differs; the engine says {:?} and the oracle {judged:?}\n\n{}",
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
    assert_eq!((smallest.agents.len(), smallest.robots_octets_max), (1, None));
    for check in [&check, &smallest] {
        let entry = paste::entry(check, Expected::of(&judge(check)));
        let loaded = checks_of(&entry.replace("why = \"\"", "why = \"it loads\""));
        let loaded = loaded.unwrap_or_else(|problem| panic!("{problem}\n{entry}"));
        assert_eq!(loaded.len(), 1);
        assert_eq!((&loaded[0].robots, &loaded[0].url), (&check.robots, &check.url), "{entry}");
        assert_eq!(loaded[0].robots_octets_max, check.robots_octets_max);
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
