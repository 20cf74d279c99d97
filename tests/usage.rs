//! Usage preferences, by the engine and by the oracle: every small file and every pair of small
//! patterns, and random files.
//!
//! One file is decided by the library's front door; many together by sets that are compiled into
//! memory, read and mapped, in blocks, for several agents and all labels. A failure prints the
//! file.

#[path = "common/allocator.rs"]
mod allocator;
mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::ByteSlice;
use common::{Configuration, Random, configurations, origin, scattered, sets_of, words};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_dialect::usage::{Label, Preference, Usage};
use portcullis_oracle as oracle;
use portcullis_robots::Robots;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::{Classifier, Session, Vectors};
use rayon::prelude::*;

/// The agents; files name the first and the last.
const AGENTS: [&str; 3] = ["ExampleBot", "Unnamed", "Other"];

/// A file, the agents and the URLs to decide, of one dialect.
struct Question<'q> {
    dialect: &'static Dialect,
    agents: &'q [&'q str],
    text: &'q [u8],
    urls: &'q [Vec<u8>],
}

/// The number of answers of each kind, to check that the inputs cover all of them.
#[derive(Default)]
struct Tally([AtomicU64; Preference::ALL.len()]);

impl Tally {
    fn add(&self, answers: &[Vec<Usage>]) {
        let mut counts = [0; Preference::ALL.len()];
        for stated in answers.iter().flatten().flat_map(|usage| usage.stated) {
            counts[stated.preference as usize] += 1;
        }
        // Once a file: threads wait for one another here.
        for (sum, count) in self.0.iter().zip(counts) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> [u64; Preference::ALL.len()] {
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    fn compared(&self) -> u64 {
        self.counts().iter().sum()
    }
}

/// Compares the front door with the oracle, and returns the oracle's answers, by agent, then by URL.
fn compare_one_file(question: &Question<'_>) -> Vec<Vec<Usage>> {
    let Question { dialect, agents, text, urls } = question;
    let robots = Robots::parse_as(*text, dialect);
    let compare = |agent: &str| -> Vec<Usage> {
        let judge = oracle::Judge::new(dialect, text, None, &[agent]);
        let judged: Vec<Usage> = urls.iter().map(|url| judge.usage(url)).collect();
        let chain = AgentChain::parse(agent, dialect).expect("a token of every dialect");
        let usage = robots.agent_chain_usage(&chain);
        for (url, judged) in urls.iter().zip(&judged) {
            let answer = usage.decide(url);
            assert_eq!(
                answer,
                *judged,
                "{} {agent} {}\n{}",
                dialect.name,
                url.as_bstr(),
                text.as_bstr()
            );
        }
        let licenses: Vec<Vec<u8>> = usage.licenses().map(<[u8]>::to_vec).collect();
        let expected = judge.licences();
        assert_eq!(licenses, expected, "{} {agent}\n{}", dialect.name, text.as_bstr());
        judged
    };
    agents.iter().map(|agent| compare(agent)).collect()
}

/// Compares files in one set with the oracle: in each kind of set, in blocks whose records are
/// shuffled, for all agents and labels.
fn compare_together(
    (dialect, names): (&'static Dialect, &[&str]),
    files: &[(&[u8], Vec<Vec<Usage>>)],
    urls: &[Vec<u8>],
    configuration: &Configuration,
    vectors: Vectors,
) {
    let texts: Vec<&[u8]> = files.iter().map(|(text, _)| *text).collect();
    let chain = |name: &&str| AgentChain::parse(name, dialect).expect("a token");
    let agents: Vec<AgentChain> = names.iter().map(chain).collect();
    let questions: Vec<(usize, usize)> = scattered(files.len() * urls.len())
        .map(|number| (number / urls.len(), number % urls.len()))
        .collect();
    let record =
        |&(file, url): &(usize, usize)| match urls[url].strip_prefix(b"https://example.com") {
            Some(path) => [origin(file).as_bytes(), path].concat(),
            None => urls[url].clone(),
        };
    for (kind, set) in sets_of(&texts, (dialect, None), &agents) {
        let classifier = Classifier::with_limits(set, agents.clone(), configuration.limits);
        let classifier = classifier.unwrap().with_vectors(vectors);
        let mut session = Session::new(classifier.with_usage(&Label::ALL), None);
        for block in questions.chunks(RECORDS_AT_ONCE) {
            let records: Vec<Vec<u8>> = block.iter().map(record).collect();
            session.classify(&records).unwrap();
            let decisions = configuration.answers(&session);
            for (place, &(file, url)) in block.iter().enumerate() {
                for (agent, asked_by) in names.iter().enumerate() {
                    let judged = files[file].1[agent][url];
                    let context = || {
                        let text = texts[file].as_bstr();
                        let name = configuration.name;
                        let url = urls[url].as_bstr();
                        format!("{} {kind} {name} {asked_by} {url}\n{text}", dialect.name)
                    };
                    let decision = decisions[place * names.len() + agent];
                    assert!(configuration.agrees(decision, judged.access), "{}", context());
                    for label in Label::ALL {
                        let number = label as usize;
                        let answer = (place * names.len() + agent) * Label::ALL.len() + number;
                        let stated = judged.of(label);
                        let preference = session.preferences()[answer];
                        assert_eq!(preference, stated.preference, "{label} {}", context());
                        let at = session.stated_at(place, agent, number).unwrap();
                        let at = at.map(|at| (Some(at.line), Some(at.source))).unwrap_or_default();
                        assert_eq!(at, (stated.line, stated.source), "{label} {}", context());
                    }
                }
            }
        }
    }
}

/// Compares files alone, and many together. Each batch uses another configuration and other
/// vectors.
fn compare(
    (dialect, agents): (&'static Dialect, &[&str]),
    files: &[Vec<u8>],
    urls: &[Vec<u8>],
    tally: &Tally,
    turn: usize,
) {
    let judge = |text: &Vec<u8>| {
        let question = Question { dialect, agents, text, urls };
        let judged = compare_one_file(&question);
        tally.add(&judged);
        judged
    };
    let judged: Vec<_> = files.iter().map(|text| (&text[..], judge(text))).collect();
    let configurations = configurations();
    let vectors = Vectors::all();
    let configuration = &configurations[turn % configurations.len()];
    compare_together(
        (dialect, agents),
        &judged,
        urls,
        configuration,
        vectors[turn % vectors.len()],
    );
}

/// The number of files in one set.
const FILES_AT_ONCE: usize = 64;

fn urls(paths: &[&str]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| format!("https://example.com{path}").into_bytes()).collect()
}

/// The lines of small files.
const LINES: [&str; 13] = [
    "User-agent: ExampleBot",
    "User-agent: Other",
    "User-agent: *",
    "",
    "Disallow: /a",
    "Content-Usage: train-ai=n",
    "Content-Usage: /a train-ai=y, search=n",
    "Content-Usage: /*b ai-use=y",
    "Content-Usage: /b train-ai = n",
    "Content-Signal: ai-train=yes, search=no",
    "Content-Signal: /a* ai-input=no",
    "License: https://l.example/",
    "Sitemap: https://example.com/s.xml",
];

/// Returns every file of up to this many of these lines.
fn files(lines: &[&str], length: usize) -> Vec<Vec<u8>> {
    let numbers: Vec<u8> = (0..lines.len() as u8).collect();
    let text = |word: Vec<u8>| word.iter().map(|&it| format!("{}\n", lines[it as usize])).collect();
    words(&numbers, length).into_iter().map(text).map(String::into_bytes).collect()
}

#[test]
fn every_small_file_is_read_as_the_oracle_reads_it() {
    let urls = urls(&["/a", "/ab", "/b", "/robots.txt"]);
    let length = if std::env::var_os("PORTCULLIS_EXHAUSTIVE").is_some() { 5 } else { 4 };
    let tally = Tally::default();
    let files = files(&LINES, length);
    files.par_chunks(FILES_AT_ONCE).enumerate().for_each(|(turn, files)| {
        for dialect in Dialect::ALL {
            compare((dialect, &AGENTS), files, &urls, &tally, turn);
        }
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    assert!(tally.compared() > 5_000_000, "{}", tally.compared());
    assert!(tally.counts().iter().all(|&count| count > 20_000), "{:?}", tally.counts());
}

#[test]
fn every_pair_of_small_patterns_decides_as_the_oracle_says() {
    let paths: Vec<String> = words(b"ab/", 3)
        .into_iter()
        .chain(words(b"a%4", 2))
        .map(|word| format!("/{}", String::from_utf8(word).unwrap()))
        .collect();
    let urls = urls(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let patterns: Vec<Vec<u8>> =
        words(b"a/*$", 2).into_iter().map(|it| [b"/", &it[..]].concat()).collect();
    // The second statement covers, for each kind of record, every pair of values for one label and
    // other pairs for the others.
    let kinds = [
        ["Content-Usage", "train-ai=y, ai-use=n", "train-ai=n, search=n", "search=y"],
        ["Content-Signal", "ai-train=yes, ai-input=no", "ai-train=no, search=no", "search=yes"],
    ];
    let tally = Tally::default();
    let distinct: BTreeMap<_, &'static Dialect> =
        Dialect::ALL.into_iter().map(|it| (format!("{:?}", it.paths), it)).collect();
    patterns.par_iter().enumerate().for_each(|(turn, one)| {
        let mut files = Vec::new();
        for other in &patterns {
            for first in &kinds[0][1..] {
                for [field, words @ ..] in kinds {
                    for second in words {
                        let (one, other) = (one.as_bstr(), other.as_bstr());
                        let text = format!(
                            "User-agent: *\nContent-Usage: {one} {first}\n{field}: {other} {second}\n"
                        );
                        files.push(text.into_bytes());
                    }
                }
            }
        }
        for dialect in distinct.values() {
            // The files name no agent, so one is enough.
            compare((dialect, &AGENTS[..1]), &files, &urls, &tally, turn);
        }
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    assert!(tally.counts()[Preference::No as usize] > 100_000, "{:?}", tally.counts());
    assert!(tally.counts()[Preference::Yes as usize] > 100_000, "{:?}", tally.counts());
}

/// Returns a line of a random file.
fn line(random: &mut Random) -> String {
    let path = |random: &mut Random| {
        let pieces = ["a", "b", "/", "*", "$", "%61", "%2F", "%", "~", "é", "index.html", "?", "."];
        let count = random.below(4);
        let tail: String = (0..count).map(|_| *random.pick(&pieces)).collect();
        format!("/{tail}")
    };
    let blank = |random: &mut Random| *random.pick(&["", " ", "\t", "  \t "]);
    let field = match random.below(16) {
        0 => return String::new(),
        1 => return "# a comment".to_owned(),
        2..=4 => {
            let names = ["*", "*", "ExampleBot", "examplebot/1.0", "Other", "Else"];
            return format!("User-agent: {}", random.pick(&names));
        }
        5 => return format!("{}: {}", random.pick(&["Allow", "Disallow"]), path(random)),
        6 => {
            let uris = ["https://l.example/x", "/rsl.xml", "", "urn:x"];
            return format!("{}License: {}", blank(random), random.pick(&uris));
        }
        7..=11 => {
            *random.pick(&["Content-Usage", "content-usage", "CONTENT-USAGE ", "Content-Usages"])
        }
        _ => *random.pick(&["Content-Signal", "content-signal", "Content-Signals"]),
    };
    let parts = random.below(4);
    let signal = field.to_ascii_lowercase().starts_with("content-signal") ^ random.one_in(12);
    let keys: &[&str] = match signal {
        true => &["search", "ai-train", "ai-input", "AI-Train", "use"],
        false => &["train-ai", "train-ai", "ai-use", "search", "genai", "*x", "Train-ai"],
    };
    let values: &[&str] = match signal {
        true => &["yes", "no", "NO", "Yes", "y", "reference", ""],
        false => &[
            "y", "y", "n", "n", "Y", "yes", "\"n\"", "?0", "(y n)", "1.5", "@1", ":bg==:",
            "%\"y\"", "",
        ],
    };
    let list: Vec<String> = (0..parts)
        .map(|_| {
            let equals = *random.pick(&["=", "=", "=", "=", "=", " = ", ""]);
            let parameter = *random.pick(&["", "", "", ";a", ";a=y", "; b=\"#\"", ";A"]);
            format!("{}{equals}{}{parameter}", random.pick(keys), random.pick(values))
        })
        .collect();
    let comma = *random.pick(&[",", ", ", ", ", " ,\t", " ", ",,"]);
    let path = if random.one_in(2) { format!("{} ", path(random)) } else { String::new() };
    let end = *random.pick(&["", "", "", " ", " # train-ai=y", ",", "\0", "\x01"]);
    format!("{field}:{}{path}{}{}{end}", blank(random), blank(random), list.join(comma))
}

/// Returns a file of up to 24 lines, with all kinds of line ends.
fn random_file(random: &mut Random) -> Vec<u8> {
    let end = *random.pick(&["\n", "\r\n", "\r"]);
    let lines = random.within(1..=24);
    (0..lines).map(|_| format!("{}{end}", line(random))).collect::<String>().into_bytes()
}

fn random_urls(random: &mut Random) -> Vec<Vec<u8>> {
    let pieces =
        ["a", "b", "/", "a/b", "%61", "%2f", "~", "%C3%A9", "index.html", "?", ".", "$", "*"];
    let url = |random: &mut Random| {
        let count = random.below(5);
        let tail: String = (0..count).map(|_| *random.pick(&pieces)).collect();
        format!("https://example.com/{tail}").into_bytes()
    };
    let mut urls: Vec<Vec<u8>> = (0..8).map(|_| url(random)).collect();
    urls.push(b"no url".to_vec());
    urls
}

#[test]
fn random_files_are_read_as_the_oracle_reads_them() {
    let wanted = std::env::var("PORTCULLIS_RANDOM_CASES").ok();
    let cases: u64 = wanted.map_or(20_000, |text| text.parse().expect("a number"));
    let batches = cases.div_ceil(FILES_AT_ONCE as u64);
    let tally = Tally::default();
    (0..batches).into_par_iter().for_each(|seed| {
        let mut random = Random::new(seed);
        let dialect = *random.pick(&Dialect::ALL);
        let files: Vec<Vec<u8>> = (0..FILES_AT_ONCE).map(|_| random_file(&mut random)).collect();
        let urls = random_urls(&mut random);
        compare((dialect, &AGENTS), &files, &urls, &tally, seed as usize);
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    let share = tally.compared() / 100;
    assert!(tally.counts().iter().all(|&count| count > share), "{:?}", tally.counts());
    let each = FILES_AT_ONCE * AGENTS.len() * 9 * Label::ALL.len();
    assert_eq!(tally.compared(), batches * each as u64);
}

/// A file that names more robots with more statements than are ordered eagerly.
#[test]
fn lazily_ordered_statements_decide_as_the_oracle_says() {
    let names: String = (0..400).map(|number| format!("User-agent: r{number}\n")).collect();
    let shared: String =
        (0..300).map(|it| format!("Content-Usage: /*{it}*x train-ai=n, search=y\n")).collect();
    let own = |robot: usize| {
        format!("User-agent: r{robot}\nContent-Usage: /x*{robot} train-ai=y\nLicense: u:{robot}\n")
    };
    let own: String = (0..400).map(own).collect();
    let text = format!("{names}{shared}{own}");
    for dialect in [Dialect::by_name("rfc9309").unwrap(), Dialect::by_name("original1994").unwrap()]
    {
        let origin =
            portcullis_robots::target::Origin::of_robots_txt(b"https://a.example/robots.txt");
        let config = portcullis_set::compile::CompileConfig::new(dialect, None);
        let set = common::stored_set(&[(origin.ok(), text.as_bytes())], &config);
        let is_rfc = dialect.name == "rfc9309";
        assert_eq!(set.counts().rule_sets_of_groups > 0, is_rfc, "{:?}", set.counts());
        let agents = ["r7", "r399", "nobody"];
        let chains = agents.map(|agent| AgentChain::parse(agent, dialect).unwrap());
        let classifier = Classifier::new(set, chains.to_vec()).unwrap();
        let classifier = classifier.with_usage(&[Label::Search, Label::TrainAi]);
        let urls = ["/x399", "/1/7/x", "/x7", "/299x399", "/"];
        let urls = urls.map(|path| format!("https://a.example{path}"));
        let mut session = Session::new(classifier, None);
        session.classify(&urls).unwrap();
        let mut answers = session.preferences().iter();
        for (record, url) in urls.iter().enumerate() {
            for (number, agent) in agents.iter().enumerate() {
                let (judged, licenses) =
                    oracle::usage(dialect, text.as_bytes(), None, &[agent], url.as_bytes());
                for label in [Label::Search, Label::TrainAi] {
                    let answer = *answers.next().unwrap();
                    assert_eq!(answer, judged.of(label).preference, "{url} {agent} {label}");
                }
                let found = session.licenses(record, number).unwrap();
                let found: Vec<Vec<u8>> = found.map(Result::unwrap).collect();
                assert_eq!(found, licenses, "{url} {agent}");
            }
        }
    }
}
