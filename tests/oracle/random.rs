//! Random files and URLs through every strategy of the engine: many files at once, in blocks and one
//! by one, loaded and compiled, with every kind of vectors, and by the front door.
//!
//! Files look like robots.txt with oddities everywhere; URLs are derived from each file's patterns.
//! Seeds are fixed, so failures are reproducible. A failure is shrunk and printed as a case for
//! `tests/data`. Set `PORTCULLIS_RANDOM_CASES` to run additional cases.

use std::sync::Arc;

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::limits::{RECORDS_AT_ONCE, ROBOTS_BYTES_MAX};
use portcullis_engine::vectors::Vectors;
use portcullis_oracle as oracle;
use portcullis_robots::policy::Crawler;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_testkit::{
    Configuration, Difference, Engine, Form, Given, Random, World, agree, configurations, names,
    origin, scattered, set_everywhere,
};
use rayon::prelude::*;

use crate::{generate, shrink};
use portcullis_testkit::case::{Check, Expected, checks_of};
use portcullis_testkit::paste;

/// The default number of cases. Each is compared several times.
const CASES: usize = 120_000;

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

#[test]
fn the_engine_decides_as_the_oracle_does() {
    let times = cases().div_ceil(CASES_AT_ONCE);
    let tally = (0..times as u64).into_par_iter().map(compare_files);
    let tally = tally.reduce(Tally::default, Tally::sum);
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

/// Returns the files of a seed, for some agents that the dialect accepts, and their questions.
fn world(random: &mut Random) -> World {
    let dialect = *random.pick(&Dialect::ALL);
    let robots_bytes_max = match random.below(4) {
        0 => None,
        1 => Some(random.within(150..=600)),
        _ => Some(ROBOTS_BYTES_MAX),
    };
    let chains = generate::CHAINS.map(|names| names.join("+"));
    let is_known = |chain: &&str| Crawler::parse(chain, dialect).is_ok();
    let known: Vec<&str> = chains.iter().map(String::as_str).filter(is_known).collect();
    let agents: Vec<&str> = (0..AGENTS_PER_FILE).map(|_| *random.pick(&known)).collect();
    let mut world = World::new(dialect, robots_bytes_max, &agents);
    for file in 0..FILES_AT_ONCE {
        let generate::RobotsFile { text, patterns } = generate::robots_file(random);
        let mut url = || generate::url(random, &patterns, &origin(file));
        let urls: Vec<Vec<u8>> = (0..URLS_PER_FILE).map(|_| url()).collect();
        world.add(&text, urls);
    }
    world
}

/// Compares the files of `seed`: with two configurations and each kind of set, for one agent and
/// for all, in blocks and one by one, with every kind of vectors; and by the front door.
fn compare_files(seed: u64) -> Tally {
    let world = world(&mut Random::new(seed));
    let mut random = Random::new(!seed);
    let sets = Form::ALL.map(|form| world.set(form));
    let configurations = configurations();
    let (usual, other) = (configurations[0], *random.pick(&configurations[1..]));
    let all: Vec<usize> = (0..world.agents.len()).collect();
    let questions = world.questions.len();
    // Rule sets that are queried often switch strategy.
    let times = if seed.is_multiple_of(4) { TIMES_ASKED_OFTEN } else { 1 };
    let mut compared = world.agrees_by_front_door();
    let mut ask = |kind: usize, agents: &[usize], configuration, vectors, sizes: &[usize]| {
        let set = Arc::clone(&sets[kind % sets.len()]);
        let engine = Engine::from_some(set, &world.agents, agents, configuration);
        let engine = engine.with_vectors(vectors);
        let mut memory = engine.memory();
        for &size in sizes {
            let found = agree(&engine, &mut memory, &world, scattered(questions), size);
            if let Some(difference) = found.differences.first() {
                panic!("{}", report(&world, seed, configuration, difference));
            }
            compared += found.compared;
        }
    };
    for vectors in Vectors::all() {
        let ways = [(&usual, &all[..1]), (&usual, &all), (&other, &all[1..]), (&other, &all)];
        let sizes = [vec![RECORDS_AT_ONCE; times], vec![1]].concat();
        for (number, (configuration, agents)) in ways.into_iter().enumerate() {
            ask(number + random.below(sets.len()), agents, configuration, vectors, &sizes);
        }
        for kind in 0..sets.len() {
            ask(kind, &all, &usual, vectors, &[RECORDS_AT_ONCE]);
        }
    }
    let engine = world.engine(&sets[seed as usize % sets.len()], &usual);
    check_texts(&world, &engine);
    let mut tally = Tally { compared, ..Tally::default() };
    let answers = world.questions.iter().flat_map(|question| question.judged.iter().flatten());
    answers.for_each(|answer| tally.add(answer.usage.access));
    tally
}

/// Checks, for a block, the text of each deciding rule and of the group that applies.
fn check_texts(world: &World, engine: &Engine) {
    let parse = |text| RobotsTxt::parse(text, world.dialect, world.robots_bytes_max);
    let files: Vec<RobotsTxt<'_>> = world.files.iter().map(|text| parse(text)).collect();
    let urls: Vec<&[u8]> = world.questions.iter().map(|question| &question.url[..]).collect();
    let mut memory = engine.memory();
    let Given { decisions, mut answers } = engine.ask(&urls, &mut memory);
    for (record, question) in world.questions.iter().enumerate() {
        for agent in 0..world.agents.len() {
            let answer = record * world.agents.len() + agent;
            let decision = decisions[answer];
            let rule = decision.rule.map(|rule| files[question.file].rules()[rule.index()].value);
            let full = answers.rule(answer).expect("a whole set");
            assert_eq!(full.rule, rule, "{question:?}");
            let has_group = matches!(decision.reason, Reason::Rule | Reason::NoRule);
            assert_eq!(full.group.is_some(), has_group, "{question:?} {decision:?}");
        }
    }
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
        delay: None,
        sitemaps: None,
    }
}

fn judge(check: &Check) -> Decision {
    let agents: Vec<&str> = check.agents.iter().map(String::as_str).collect();
    oracle::decide(check.dialect, &check.robots, check.robots_bytes_max, &agents, &check.url)
}

fn decide(check: &Check, configuration: &Configuration) -> Option<Decision> {
    let chain = Crawler::parse(&check.agents.join("+"), check.dialect).ok()?;
    let set = set_everywhere(&check.robots, (check.dialect, check.robots_bytes_max));
    let engine = Engine::new(set, &[chain], configuration);
    Some(engine.decide(&[&check.url], &mut engine.memory())[0])
}

/// Formats a failure as a case of the suite: shrunk, unless it only occurs in a block or a set.
fn report(
    world: &World,
    seed: u64,
    configuration: &Configuration,
    difference: &Difference,
) -> String {
    let question = &world.questions[difference.question];
    let agents = names(&world.agents[difference.agent]).into_iter().map(str::to_owned).collect();
    let judged = question.judged[difference.agent].as_ref().expect("it differs").usage.access;
    let (robots, bytes_max) = (&world.files[question.file], world.robots_bytes_max);
    let mut check = new_check(world.dialect, robots, bytes_max, agents, &question.url, judged);
    check.case = format!("random-{seed}");
    let is_rejected = |decision: &Decision| decision.reason == Reason::BadUrl;
    let first_rejected = decide(&check, configuration).as_ref().map(is_rejected);
    // The engine rejects more hosts, so a shortened URL could differ for that reason alone.
    let differs = |check: &Check| {
        decide(check, configuration).is_some_and(|decision| {
            let same_kind = Some(is_rejected(&decision)) == first_rejected;
            same_kind && decision != configuration.expected(judge(check))
        })
    };
    let smallest = shrink::shrink(&check, differs);
    format!(
        "{}\n\n{:?} alone\n\n{}",
        difference.text,
        decide(&smallest, configuration),
        paste::entry(&smallest, Expected::of(&judge(&smallest))),
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
        let entry = entry.replace("point = \"\"", "point = \"urls\"\ngrade = \"choice\"");
        let loaded = checks_of(&entry.replace("why = \"\"", "why = \"it loads\""));
        let loaded = loaded.unwrap_or_else(|problem| panic!("{problem}\n{entry}"));
        assert_eq!(loaded.len(), 1);
        assert_eq!((&loaded[0].robots, &loaded[0].url), (&check.robots, &check.url), "{entry}");
        assert_eq!(loaded[0].robots_bytes_max, check.robots_bytes_max);
        assert_eq!(loaded[0].expected, Expected::of(&judge(check)));
    }
}
