//! Adds usage preferences to a third of real robots.txt files, and compares every answer with the oracle's.
//!
//! Usage: `usage ROBOTS URLS [OUT]`: a folder of files named by host, and a list of URLs. Which files get
//! preferences, and which, follows from a seed. OUT receives the files, to be asked by the program. Prints
//! what was compared, and the time per URL with and without usage, on one thread. Exits with 1 if anything
//! differs.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::limits::{RECORDS_AT_ONCE, ROBOTS_BYTES_MAX};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_oracle as oracle;
use portcullis_robots::policy::{AgentChain, Detail};
use portcullis_robots::target::{Origin, split};
use portcullis_set::batch::Classifier;
use portcullis_set::{LoadConfig, PolicySet};
use rayon::prelude::*;

/// Who asks: a robot that many files name, and one that few do.
const AGENTS: [&str; 2] = ["GPTBot", "ExampleBot"];

/// Rounds that are timed; the least time counts.
const ROUNDS: usize = 5;

/// Seeded chance: the SplitMix64 sequence.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// A line about usage. The paths are those of the file's rules, so that they match URLs.
fn usage_line(random: &mut Random, paths: &[&[u8]]) -> Vec<u8> {
    const PLAIN: [&str; 8] = [
        "Content-Signal: search=yes, ai-train=no",
        "Content-Signal: search=yes,ai-input=yes,ai-train=no,use=reference",
        "Content-Usage: train-ai=n",
        "Content-Usage: train-ai=n, search=y",
        "Content-Usage: train-ai=y, ai-use=y, search=y",
        "Content-Usage: train-ai = n",
        "License: https://example.com/license.xml",
        "Content-Signal: ai-train=yes",
    ];
    const WORDS: [&str; 4] = ["train-ai=n", "train-ai=y", "ai-use=n, search=y", "search=n"];
    if paths.is_empty() || random.below(3) > 0 {
        return PLAIN[random.below(PLAIN.len())].as_bytes().to_vec();
    }
    let path = paths[random.below(paths.len())];
    [b"Content-Usage: ", path, b" ", WORDS[random.below(WORDS.len())].as_bytes()].concat()
}

/// The path that a line gives, if a record about usage can have it.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|&byte| byte == b':')?;
    let value = line[at + 1..].trim_ascii();
    let is_path = value.starts_with(b"/") && !value.iter().any(|byte| b" #\t".contains(byte));
    is_path.then_some(value)
}

/// A file with lines about usage behind some of its lines, and perhaps one before all groups.
fn with_usage(text: &[u8], random: &mut Random) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let paths: Vec<&[u8]> = lines.iter().filter_map(|line| path_of(line)).collect();
    let mut out = Vec::new();
    if random.below(5) == 0 {
        out.extend(usage_line(random, &[]));
        out.push(b'\n');
    }
    for (number, line) in lines.iter().enumerate() {
        out.extend_from_slice(line);
        out.push(b'\n');
        let names = line.to_ascii_lowercase().starts_with(b"user-agent");
        if random.below(if names { 3 } else { 20 }) == 0 || number + 1 == lines.len() {
            out.extend(usage_line(random, &paths));
            out.push(b'\n');
        }
    }
    out
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ([robots, urls] | [robots, urls, _]) = &arguments[..] else {
        eprintln!("usage: usage ROBOTS URLS [OUT]");
        return ExitCode::from(2);
    };
    match run(robots.as_ref(), urls.as_ref(), arguments.get(2).map(AsRef::as_ref)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the number of differences.
fn run(robots: &Path, urls: &Path, out: Option<&Path>) -> Result<usize, std::io::Error> {
    let (files, changed) = files(robots, out)?;
    let list = std::fs::read(urls)?;
    let list: Vec<&[u8]> =
        list.split(|&byte| byte == b'\n').filter(|url| !url.is_empty()).collect();
    let set = set_of(&files);
    let agents = AGENTS.map(|agent| AgentChain::parse(agent, &RFC_9309).expect("a token"));
    let set = std::sync::Arc::new(set);
    let plain = Classifier::new(set.clone(), agents.to_vec(), Detail::Reason).expect("a whole set");
    let asking = Classifier::new(set, agents.to_vec(), Detail::Reason).expect("a whole set");
    let asking = asking.with_usage(&Label::ALL).expect("a set of this program");
    println!("{} files, {changed} of them with preferences; {} URLs", files.len(), list.len());
    let (compared, stated, differences) = compare(&files, &list, &asking);
    println!("{compared} preferences compared, {stated} of them y or n; {differences} differ");
    for (name, classifier) in [("without usage", &plain), ("with usage", &asking)] {
        let nanoseconds = time(classifier, &list).as_nanos() / list.len() as u128;
        println!("{name}: {nanoseconds} ns per URL, {} agents", AGENTS.len());
    }
    Ok(differences)
}

/// The files by host, and how many of them got preferences.
fn files(
    robots: &Path,
    out: Option<&Path>,
) -> Result<(HashMap<String, Vec<u8>>, usize), std::io::Error> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(robots)?.collect();
    let mut entries = entries?;
    entries.sort_by_key(|entry| entry.file_name());
    let mut random = Random(20);
    let (mut files, mut changed) = (HashMap::new(), 0);
    for entry in entries {
        let mut text = std::fs::read(entry.path())?;
        if random.below(3) == 0 {
            text = with_usage(&text, &mut random);
            changed += 1;
        }
        if let Some(out) = out {
            std::fs::write(out.join(entry.file_name()), &text)?;
        }
        files.insert(entry.file_name().to_string_lossy().into_owned(), text);
    }
    Ok((files, changed))
}

fn set_of(files: &HashMap<String, Vec<u8>>) -> PolicySet {
    let origin = |scheme: &str, host: &str| {
        Origin::of_robots_txt(format!("{scheme}://{host}/robots.txt").as_bytes()).ok()
    };
    let origins: Vec<(Origin, &[u8])> = files
        .iter()
        .flat_map(|(host, text)| {
            let both = ["http", "https"].map(|scheme| origin(scheme, host));
            both.into_iter().flatten().map(|origin| (origin, &text[..]))
        })
        .collect();
    let config = LoadConfig::new(&RFC_9309);
    PolicySet::of_files(origins.iter().map(|(origin, text)| (origin, *text)), &config)
}

/// Compares preferences and lines; returns how many, how many say something, and how many differ.
fn compare(
    files: &HashMap<String, Vec<u8>>,
    list: &[&[u8]],
    classifier: &Classifier,
) -> (usize, usize, usize) {
    let sum = |one: (usize, usize, usize), other: (usize, usize, usize)| {
        (one.0 + other.0, one.1 + other.1, one.2 + other.2)
    };
    let of_block = |urls: &[&[u8]]| {
        let mut memory = classifier.memory();
        let decisions = classifier.classify(urls, None, &mut memory).expect("a whole set").to_vec();
        let (mut compared, mut stated, mut differ) = (0, 0, 0);
        for (place, url) in urls.iter().enumerate() {
            let Ok(parts) = split(url, RFC_9309.paths.path_start) else { continue };
            let host = String::from_utf8_lossy(parts.host).to_ascii_lowercase();
            let Some(text) = files.get(&host) else { continue };
            for (agent, name) in AGENTS.iter().enumerate() {
                let decision = decisions[place * AGENTS.len() + agent];
                let (judged, _) =
                    oracle::usage(&RFC_9309, text, Some(ROBOTS_BYTES_MAX), &[name], url);
                for label in Label::ALL {
                    let answer = place * AGENTS.len() + agent;
                    let answer = answer * Label::ALL.len() + label as usize;
                    let preference = memory.preferences()[answer];
                    let at = classifier.stated_at(place, agent, label as usize, &memory);
                    let line = at.expect("a whole set").map(|at| at.line);
                    let expected = judged.of(label);
                    compared += 1;
                    stated += usize::from(matches!(preference, Preference::Yes | Preference::No));
                    let same = decision.verdict == judged.access.verdict
                        && (preference, line) == (expected.preference, expected.line);
                    if !same {
                        differ += 1;
                        let url = String::from_utf8_lossy(url);
                        eprintln!("{url} {name} {label}: {preference}, expected {expected:?}");
                    }
                }
            }
        }
        (compared, stated, differ)
    };
    list.par_chunks(RECORDS_AT_ONCE).map(of_block).reduce(|| (0, 0, 0), sum)
}

/// The least time of some rounds over the list, on this thread.
fn time(classifier: &Classifier, list: &[&[u8]]) -> Duration {
    let mut memory = classifier.memory();
    let round = |_| {
        let start = Instant::now();
        for urls in list.chunks(RECORDS_AT_ONCE) {
            classifier.classify(urls, None, &mut memory).expect("a whole set");
        }
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().expect("some rounds")
}
