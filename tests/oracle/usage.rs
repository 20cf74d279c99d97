//! Usage preferences: every small file and every pair of small patterns, and random files; and the
//! explanations of every small file.
//!
//! One file is decided by the library's front door; many together by sets that are compiled into
//! memory, read and mapped, in blocks, for several agents and all labels. A failure prints the
//! file.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bstr::ByteSlice;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, ORIGINAL_1994, RFC_9309};
use portcullis_dialect::usage::{Label, Preference, Stated};
use portcullis_engine::vectors::Vectors;
use portcullis_robots::Robots;
use portcullis_robots::policy::UsageExplanation;
use portcullis_testkit::{Form, Random, World, at_origin, configurations, origin, words};
use rayon::prelude::*;

/// The agents; files name the first and the last.
const AGENTS: [&str; 3] = ["ExampleBot", "Unnamed", "Other"];

/// The number of answers of each kind, to check that the inputs cover all of them.
#[derive(Default)]
struct Tally([AtomicU64; Preference::ALL.len()]);

impl Tally {
    fn add(&self, world: &World) {
        let mut counts = [0; Preference::ALL.len()];
        let answers = world.questions.iter().flat_map(|question| question.judged.iter().flatten());
        for stated in answers.flat_map(|answer| answer.usage.stated) {
            counts[stated.preference as usize] += 1;
        }
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

/// Returns files with URLs, which move to the origin of each file; other records stay as they are.
fn world(dialect: &'static Dialect, agents: &[&str], files: &[Vec<u8>], urls: &[Vec<u8>]) -> World {
    let mut world = World::new(dialect, None, agents);
    for (file, text) in files.iter().enumerate() {
        let moved = |url: &Vec<u8>| at_origin(url, dialect, file).unwrap_or_else(|| url.clone());
        world.add(text, urls.iter().map(moved));
    }
    world
}

/// Compares files alone by the front door, and many together by a set. Each batch uses another form
/// of a set, another configuration and other vectors.
fn compare(world: &World, tally: &Tally, turn: usize) {
    tally.add(world);
    world.agrees_by_front_door();
    let (configurations, vectors) = (configurations(), Vectors::all());
    let form = Form::ALL[turn / vectors.len() % Form::ALL.len()];
    let engine = world.engine(&world.set(form), &configurations[turn % configurations.len()]);
    let engine = engine.with_vectors(vectors[turn % vectors.len()]).with_usage(&Label::ALL);
    world.agrees(&engine);
}

/// The number of files in one set.
const FILES_AT_ONCE: usize = 64;

fn urls(paths: &[&str]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| format!("https://example.com{path}").into_bytes()).collect()
}

/// The lines of small files; the last two have no group and no pattern.
const LINES: [&str; 14] = [
    "User-agent: ExampleBot",
    "User-agent: *",
    "",
    "Disallow: /a",
    "Content-Usage: train-ai=n",
    "Content-Usage: /a train-ai=y, search=n",
    "Content-Usage: /*b ai-use=y",
    "Content-Signal: ai-train=yes, search=no, use=reference",
    "Content-Signal: /a* ai-input=no, use=immediate",
    "User-agent: Other",
    "Content-Usage: /b train-ai = n",
    "License: https://l.example/",
    "Sitemap: https://example.com/s.xml",
    "Content-Signal: use=full",
];

/// Returns every file of up to this many of these lines.
fn files(lines: &[&str], length: usize) -> Vec<Vec<u8>> {
    let numbers: Vec<u8> = (0..lines.len() as u8).collect();
    let text = |word: Vec<u8>| word.iter().map(|&it| format!("{}\n", lines[it as usize])).collect();
    words(&numbers, length).into_iter().map(text).map(String::into_bytes).collect()
}

#[test]
fn every_small_file_is_read_as_the_oracle_reads_it() {
    compare_files(&LINES[..8], 4);
    compare_files(&LINES, 3);
}

#[test]
#[ignore = "takes minutes; scripts/check --full runs it"]
fn every_longer_file_is_read_as_the_oracle_reads_it() {
    compare_files(&LINES, 5);
}

/// Compares every file of up to this many of these lines.
fn compare_files(lines: &[&str], length: usize) {
    let urls = urls(&["/a", "/ab", "/b", "/robots.txt"]);
    let tally = Tally::default();
    let files = files(lines, length);
    files.par_chunks(FILES_AT_ONCE).enumerate().for_each(|(turn, files)| {
        for dialect in Dialect::ALL {
            compare(&world(dialect, &AGENTS, files, &urls), &tally, turn);
        }
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    assert!(tally.compared() > 150 * files.len() as u64, "{}", tally.compared());
    let has_signals = lines.len() == LINES.len();
    for (preference, count) in Preference::ALL.into_iter().zip(tally.counts()) {
        let is_rare = matches!(preference, Preference::Immediate | Preference::Full);
        let occurs = count > files.len() as u64 / if is_rare { 4 } else { 1 };
        assert!(occurs || is_rare && !has_signals, "{preference}: {:?}", tally.counts());
    }
}

/// The lines of files to explain. Patterns of one length compete, by themselves and on several lines.
const COMPETING_LINES: [&str; 9] = [
    "User-agent: ExampleBot",
    "Content-Usage: /a* search=y",
    "Content-Usage: /*b train-ai=n, search=n",
    "Content-Usage: /a* train-ai=n",
    "Content-Usage: /ab train-ai = n",
    "Content-Usage: search=y",
    "Content-Signal: ai-train=yes, search=no, use=full",
    "License: https://l.example/",
    "Disallow: /b",
];

/// Returns the statement about a label in an explanation.
fn stated(usage: &UsageExplanation, label: Label) -> Stated {
    match usage.deciding(label) {
        Some(it) if it.preference != Preference::Unstated => Stated {
            preference: it.preference,
            source: Some(it.source),
            line: Some(it.record.line),
        },
        _ => Stated::UNSTATED,
    }
}

#[test]
fn the_deciding_statement_is_that_of_the_oracle() {
    let losers = AtomicUsize::new(0);
    let (files, urls) = (files(&COMPETING_LINES, 4), urls(&["/", "/ab", "/b"]));
    files.par_iter().for_each(|lines| {
        let text = [b"User-agent: *\n", &lines[..]].concat();
        for dialect in Dialect::ALL {
            let world =
                world(dialect, &["ExampleBot", "Other"], std::slice::from_ref(&text), &urls);
            world.agrees_by_front_door();
            let robots = Robots::parse_as(&text, dialect);
            for question in &world.questions {
                for (chain, judged) in world.agents.iter().zip(question.judged.iter().flatten()) {
                    let context = || format!("{chain} {world:?}");
                    let usage = robots.explain(chain, &question.url).unwrap().usage;
                    if judged.usage.access.verdict == Verdict::Allow {
                        let found = Label::ALL.map(|label| stated(&usage, label));
                        assert_eq!(found, judged.usage.stated, "{}", context());
                    }
                    let own: Vec<_> = usage.licenses.into_iter().map(|it| it.value).collect();
                    assert_eq!(own, *judged.licences, "{}", context());
                    for statements in &usage.labels {
                        let lost = statements.iter().skip(1);
                        assert!(lost.clone().all(|it| it.loss.is_some()), "{}", context());
                        losers.fetch_add(lost.count(), Ordering::Relaxed);
                    }
                }
            }
        }
    });
    assert!(losers.into_inner() > 100_000);
}

#[test]
fn every_pair_of_small_patterns_decides_as_the_oracle_says() {
    compare_pairs_of_patterns(b"a*$", 2);
}

#[test]
#[ignore = "takes half a minute; scripts/check --full runs it"]
fn every_pair_of_small_patterns_on_longer_paths() {
    compare_pairs_of_patterns(b"a/*$", 3);
}

/// Compares every pair of patterns of up to two of these bytes on all paths up to a length.
fn compare_pairs_of_patterns(alphabet: &[u8], path_bytes_max: usize) {
    let paths: Vec<String> = words(b"ab/", path_bytes_max)
        .into_iter()
        .chain(words(b"a%4", 2))
        .map(|word| format!("/{}", String::from_utf8(word).unwrap()))
        .collect();
    let urls = urls(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let patterns: Vec<Vec<u8>> =
        words(alphabet, 2).into_iter().map(|it| [b"/", &it[..]].concat()).collect();
    // The second statement covers, for each kind of record, every pair of values for one label and
    // other pairs for the others.
    let kinds = [
        ["Content-Usage", "train-ai=y, ai-use=n", "train-ai=n, search=n", "search=y"],
        [
            "Content-Signal",
            "ai-train=yes, ai-input=no, use=full",
            "ai-train=no, search=no, use=immediate",
            "search=yes, use=reference",
        ],
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
            compare(&world(dialect, &AGENTS[..1], &files, &urls), &tally, turn);
        }
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    assert!(tally.counts()[Preference::No as usize] > 50_000, "{:?}", tally.counts());
    assert!(tally.counts()[Preference::Yes as usize] > 50_000, "{:?}", tally.counts());
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
        true => &["search", "ai-train", "ai-input", "AI-Train", "use", "Use", "use"],
        false => &["train-ai", "train-ai", "ai-use", "search", "genai", "*x", "Train-ai"],
    };
    let values: &[&str] = match signal {
        true => &["yes", "no", "NO", "Yes", "y", "reference", "immediate", "full", "Full", ""],
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
    let cases: u64 = wanted.map_or(10_000, |text| text.parse().expect("a number"));
    let batches = cases.div_ceil(FILES_AT_ONCE as u64);
    let tally = Tally::default();
    (0..batches).into_par_iter().for_each(|seed| {
        let mut random = Random::new(seed);
        let dialect = *random.pick(&Dialect::ALL);
        let files: Vec<Vec<u8>> = (0..FILES_AT_ONCE).map(|_| random_file(&mut random)).collect();
        let urls = random_urls(&mut random);
        compare(&world(dialect, &AGENTS, &files, &urls), &tally, seed as usize);
    });
    println!("{} comparisons: {:?}", tally.compared(), tally.counts());
    let share = tally.compared() / 1_000;
    assert!(tally.counts().iter().all(|&count| count > share), "{:?}", tally.counts());
    let each = FILES_AT_ONCE * AGENTS.len() * 9 * Label::ALL.len();
    assert_eq!(tally.compared(), batches * each as u64);
}

/// A file that names more crawlers with more statements than are ordered eagerly.
#[test]
fn statements_of_many_groups_decide_as_the_oracle_says() {
    let names: String = (0..400).map(|number| format!("User-agent: r{number}\n")).collect();
    let shared: String =
        (0..300).map(|it| format!("Content-Usage: /*{it}*x train-ai=n, search=y\n")).collect();
    let own = |robot: usize| {
        format!("User-agent: r{robot}\nContent-Usage: /x*{robot} train-ai=y\nLicense: u:{robot}\n")
    };
    let own: String = (0..400).map(own).collect();
    let text = format!("{names}{shared}{own}");
    let urls = ["/x399", "/1/7/x", "/x7", "/299x399", "/"];
    for dialect in [&RFC_9309, &ORIGINAL_1994] {
        let mut world = World::new(dialect, None, &["r7", "r399", "nobody"]);
        world.add(text.as_bytes(), urls.map(|path| (origin(0) + path).into_bytes()));
        let set = world.set(Form::Read);
        let labels = [Label::Search, Label::TrainAi];
        let engine = world.engine(&set, &configurations()[0]).with_usage(&labels);
        assert_eq!(world.agrees(&engine), 5 * 3 * 3);
    }
}
