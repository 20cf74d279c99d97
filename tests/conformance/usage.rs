//! Usage preferences, crawl delays and rows of `survey` next to the oracle's, over a whole crawl.
//!
//! Few files on the web have preferences yet, so [`write()`] draws some for a third of them, from a fixed
//! seed.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bstr::ByteSlice;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::limits::{RECORDS_AT_ONCE, ROBOTS_BYTES_MAX};
use portcullis_dialect::usage::{Label, Preference, Stated, Usage};
use portcullis_engine::vectors::Vectors;
use portcullis_oracle::Judge;
use portcullis_robots::url::Origin;
use portcullis_set::PolicySet;
use portcullis_testkit::{
    Agreement, Configuration, Engine, Judged, Oracle, Random, agree_in_shares,
};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::{Failure, crawlers, map, shuffled};

/// The agents: a crawler that many files name, and one that no file names.
const AGENTS: [&str; 2] = ["GPTBot", "ExampleBot"];

/// The most pairs of values of a file from which paths are made.
const PAIRS_MAX: usize = 2_000;

/// The most differences that are shown.
const SHOWN_MAX: usize = 10;

/// Returns the files of a folder by name, in order.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let read = |entry: std::fs::DirEntry| -> Result<_, Failure> {
        let name = entry.file_name().into_string().map_err(|name| format!("{name:?}: no host"))?;
        Ok((name, std::fs::read(entry.path())?))
    };
    entries.into_par_iter().map(read).collect()
}

/// Copies a folder of files named by host, and gives preferences to a third of the copies.
pub(crate) fn write(robots: &Path, out: &Path) -> Result<bool, Failure> {
    let mut random = Random::new(20);
    let mut changed = 0;
    let files = files(robots)?;
    for (name, text) in &files {
        let has_usage = random.below(3) == 0;
        let text = if has_usage { with_usage(text, &mut random) } else { text.clone() };
        changed += usize::from(has_usage);
        std::fs::write(out.join(name), text)?;
    }
    println!("{changed} of {} files got preferences", files.len());
    Ok(changed > 0)
}

/// Returns a file with usage lines after some of its lines, and perhaps one before all groups.
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

/// Returns a usage line. Its path comes from the file's rules, so that it matches URLs.
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
        return random.pick(&PLAIN).as_bytes().to_vec();
    }
    let path = random.pick(paths);
    [b"Content-Usage: ", *path, b" ", random.pick(&WORDS).as_bytes()].concat()
}

/// Returns the path in a line, or `None` if a usage record cannot have it.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let at = line.iter().position(|&byte| byte == b':')?;
    let value = line[at + 1..].trim_ascii();
    let is_path = value.starts_with(b"/") && !value.iter().any(|byte| b" #\t".contains(byte));
    is_path.then_some(value)
}

/// The oracle's answers about one URL, by agent.
#[derive(Clone)]
struct Judgement {
    usage: [Usage; AGENTS.len()],
    /// Shared by the URLs of a host.
    licences: [Arc<Vec<Vec<u8>>>; AGENTS.len()],
}

impl Judgement {
    fn without_file(decision: Decision) -> Judgement {
        let usage = Usage::new(decision, [Stated::UNSTATED; Label::ALL.len()]);
        Judgement { usage: [usage; AGENTS.len()], licences: Default::default() }
    }

    /// Returns the licences that must be reported. Empty if access is not allowed.
    fn licences(&self, agent: usize) -> &[Vec<u8>] {
        let allowed = self.usage[agent].access.verdict == Verdict::Allow;
        if allowed { &self.licences[agent] } else { &[] }
    }
}

/// Returns the files by the key of their host.
fn by_host(files: &BTreeMap<String, Vec<u8>>) -> HashMap<String, &[u8]> {
    let mut by_host: HashMap<String, &[u8]> = HashMap::new();
    for (name, text) in files {
        if let Ok(origin) = Origin::from_robots_txt(format!("http://{name}/robots.txt").as_bytes())
        {
            by_host.entry(origin.key()).or_insert(text);
        }
    }
    by_host
}

/// Returns the oracle's answers about each URL. A file is parsed once for each agent, and its URLs
/// are judged together.
fn judge(files: &BTreeMap<String, Vec<u8>>, urls: &[&[u8]]) -> Vec<Judgement> {
    let by_host = by_host(files);
    let mut judged = vec![Judgement::without_file(Decision::UNKNOWN); urls.len()];
    let mut of_file: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, url) in urls.iter().enumerate() {
        match Origin::from_url(url) {
            Err(_) => judged[number] = Judgement::without_file(Decision::INVALID),
            // The files in a folder apply to the default ports of these schemes.
            Ok(origin) if ["http", "https"].contains(&origin.scheme()) => {
                of_file.entry(origin.key()).or_default().push(number);
            }
            Ok(_) => {}
        }
    }
    let asked = of_file.into_par_iter().filter_map(|(key, numbers)| {
        let text = by_host.get(&key)?;
        let judges = AGENTS.map(|it| Judge::new(&RFC_9309, text, Some(ROBOTS_BYTES_MAX), &[it]));
        let licences = judges.each_ref().map(|judge| Arc::new(judge.licences()));
        let answer = |number: usize| {
            let usage = judges.each_ref().map(|judge| judge.usage(urls[number]));
            (number, Judgement { usage, licences: licences.clone() })
        };
        Some(numbers.into_iter().map(answer).collect::<Vec<_>>())
    });
    for (number, answer) in asked.flatten_iter().collect::<Vec<_>>() {
        judged[number] = answer;
    }
    judged
}

/// The result of a comparison with the program.
#[derive(Default)]
struct Tally {
    preferences: u64,
    /// The number of preferences that are `y` or `n`.
    stated: u64,
    differences: u64,
    shown: Vec<String>,
}

impl Tally {
    /// Compares one answer. `got` and `expected` are shown if they differ.
    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        (url, agent): (&[u8], &str),
        got: T,
        expected: T,
    ) {
        if got != expected {
            self.differences += 1;
            if self.shown.len() < SHOWN_MAX {
                let url = url.as_bstr();
                self.shown.push(format!("{url} {agent}: {got:?}, expected {expected:?}"));
            }
        }
    }

    fn count(&mut self, preference: Preference) {
        self.preferences += 1;
        self.stated += u64::from(preference.is_stated());
    }

    fn print(&self, who: &str) {
        self.shown.iter().for_each(|difference| println!("differs: {difference}"));
        println!(
            "{who}: {} preferences compared, {} of them y or n; {} answers differ",
            self.preferences, self.stated, self.differences
        );
    }
}

/// Maps the set compiled from such copies, and decides every URL: in blocks, in random order, for all
/// agents and labels at once and for fewer, with every kind of vectors. `answers` are the program's about
/// the first URLs (`classify --long --format jsonl --usage …`, for the same agents). Verdict, reason, rule,
/// and for each label value, line and source must equal the oracle's, and so must the licences and the
/// crawl delays. Prints what differs, and returns whether nothing does.
pub(crate) fn compare(
    robots: &Path,
    set: &Path,
    urls: &Path,
    answers: &Path,
) -> Result<bool, Failure> {
    let start = Instant::now();
    let list = std::fs::read(urls)?;
    let urls: Vec<&[u8]> = list.lines().collect();
    let files = files(robots)?;
    let judged = Answers { judged: judge(&files, &urls), urls: &urls };
    println!("{} URLs judged by the oracle in {:.1} s", urls.len(), start.elapsed().as_secs_f64());
    let set = map(set)?;
    let order = shuffled(&urls);
    let mut found = Agreement::default();
    // Each kind of vectors decides for some of the agents and labels; other tests compare the kinds.
    for (engine, vectors) in engines(&set)?.into_iter().zip(Vectors::all().into_iter().cycle()) {
        let engine = engine.with_vectors(vectors);
        let sizes = (32 * RECORDS_AT_ONCE, RECORDS_AT_ONCE);
        found = found.and(agree_in_shares(&engine, &judged, &order, sizes));
    }
    found.differences.iter().for_each(|it| println!("differs: {}", it.text));
    let (compared, differing) = (found.compared, found.differing);
    println!("mapped set, in blocks: {compared} answers compared; {differing} differ");
    let program = compare_program(&std::fs::read(answers)?, &urls, &judged.judged)?;
    program.print("classify --usage");
    let delays = compare_delays(&files, &set)?;
    let agrees = compared > 0 && differing == 0 && program.stated > 0 && program.differences == 0;
    Ok(agrees && delays == 0)
}

/// Compares the crawl delays of all files, and returns the number of differences.
fn compare_delays(files: &BTreeMap<String, Vec<u8>>, set: &PolicySet) -> Result<usize, Failure> {
    let agents = crawlers(&AGENTS, &RFC_9309)?;
    let (mut compared, mut numbers, mut unreadable, mut differing) = (0, 0, 0, 0);
    for (key, text) in by_host(files) {
        // Files that are surely something else are left out of the set.
        let Some((policy, capture)) = set.origin(b"https", key.as_bytes())? else { continue };
        let (stored, _) = capture.crawl_delays(&set.policy(policy)?, &agents)?;
        for (agent, stored) in AGENTS.iter().zip(stored) {
            let judge = Judge::new(&RFC_9309, text, Some(ROBOTS_BYTES_MAX), &[agent]);
            let (seconds, odd) = judge.crawl_delay();
            if (stored.seconds, stored.unreadable as usize) != (seconds, odd) {
                println!("differs: {key} {agent}: {stored:?}, expected {seconds:?} and {odd} odd");
                differing += 1;
            }
            compared += 1;
            numbers += usize::from(seconds.is_some());
            unreadable += odd;
        }
    }
    println!(
        "crawl delays: {compared} compared, {numbers} of them numbers, {unreadable} lines without a \
         number; {differing} differ"
    );
    Ok(differing + usize::from(numbers == 0))
}

/// The rows of one host, by agent, and its file.
type HostRows<'t> = (String, &'t [u8], Vec<Value>);

/// Compares rows of `survey --format jsonl` with the oracle's answers about paths made of the rules of
/// each file: `all` allows each of them, `none` allows none, and `part` allows some. Compares at most
/// `sample` files, prints what differs, and returns whether nothing does.
pub(crate) fn survey(robots: &Path, rows: &Path, sample: usize) -> Result<bool, Failure> {
    let start = Instant::now();
    let files = files(robots)?;
    let by_host = by_host(&files);
    let rows = std::fs::read(rows)?;
    let mut of_host: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in rows.lines() {
        let row: Value = serde_json::from_slice(line)?;
        let origin = row["origin"].as_str().unwrap_or_default();
        if let Some(key) = origin.strip_prefix("https://") {
            of_host.entry(key.to_owned()).or_default().push(row);
        }
    }
    let host = |(key, rows): (String, Vec<Value>)| Some((by_host.get(&key).copied()?, key, rows));
    let mut hosts: Vec<HostRows<'_>> =
        of_host.into_iter().filter_map(host).map(|(text, key, rows)| (key, text, rows)).collect();
    let all = hosts.len();
    // A sample that is the same each time.
    hosts.sort_by_cached_key(|(key, ..)| {
        twox_hash::XxHash3_64::oneshot_with_seed(37, key.as_bytes())
    });
    hosts.truncate(sample);
    let compared: Vec<Compared> = hosts.par_iter().map(compare_host).collect();
    let paths: usize = compared.iter().map(|it| it.paths).sum();
    let unknown: usize = compared.iter().map(|it| it.unknown).sum();
    let differences: Vec<&String> = compared.iter().flat_map(|it| &it.differences).collect();
    differences.iter().take(SHOWN_MAX).for_each(|difference| println!("differs: {difference}"));
    println!(
        "survey: the rows of {} of {all} hosts compared on {paths} paths in {:.1} s; {} values differ, \
         and {unknown} preferences are not known",
        hosts.len(),
        start.elapsed().as_secs_f64(),
        differences.len()
    );
    Ok(!hosts.is_empty() && differences.is_empty())
}

/// The comparison of the rows of one host.
struct Compared {
    paths: usize,
    /// The number of preferences that a search did not find.
    unknown: usize,
    differences: Vec<String>,
}

fn compare_host((key, text, rows): &HostRows<'_>) -> Compared {
    let (paths, is_whole) = paths_of(text);
    let urls: Vec<Vec<u8>> =
        paths.iter().map(|path| [b"https://", key.as_bytes(), path].concat()).collect();
    let (mut unknown, mut differences) = (0, Vec::new());
    for (row, agent) in rows.iter().zip(AGENTS) {
        let judge = Judge::new(&RFC_9309, text, Some(ROBOTS_BYTES_MAX), &[agent]);
        let answers: Vec<Usage> = urls.iter().map(|url| judge.usage(url)).collect();
        let allowed = || answers.iter().filter(|it| it.access.verdict == Verdict::Allow);
        let access = match allowed().count() {
            0 => "none",
            count if count == answers.len() => "all",
            _ => "part",
        };
        let stance = |label: Label| {
            let mut stated = allowed().map(|it| it.of(label).preference.as_str());
            let first = stated.next();
            match first {
                Some(first) if stated.all(|it| it == first) => json!(first),
                Some(_) => json!("mixed"),
                None => Value::Null,
            }
        };
        let expected = [
            ("access", json!(access)),
            ("root", json!(answers[0].access.verdict.as_str())),
            ("train_ai", stance(Label::TrainAi)),
            ("ai_use", stance(Label::AiUse)),
            ("search", stance(Label::Search)),
        ];
        for (member, expected) in expected {
            // Where a limit ended a search, here or in the program, one does not know.
            let is_cut = row[member].is_null() || !is_whole && row[member] == "mixed";
            if row[member] != expected && is_cut && !expected.is_null() && member != "access" {
                unknown += 1;
            } else if row[member] != expected {
                let got = &row[member];
                differences.push(format!("{key} {agent}: {member} {got}, expected {expected}"));
            }
        }
    }
    Compared { paths: paths.len(), unknown, differences }
}

/// Returns paths made of the values of a file's lines: the root, a path that no rule asks for, and
/// for each value the path that it matches with the stars left out, with a byte for each, cut before
/// its last byte, and with a byte more. Values with a star also end the paths of usage lines, and
/// usage lines end all others.
///
/// Also returns whether these are all: with too many pairs of values, there are none.
fn paths_of(text: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut values: Vec<(&[u8], bool)> = Vec::new();
    for line in text.split(|byte| b"\r\n".contains(byte)) {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        let Some(at) = line.find_byte(b':') else { continue };
        let is_usage = line.to_ascii_lowercase().starts_with(b"content-usage");
        let value = line[at + 1..].trim_ascii();
        let words = value.split(|byte| b" \t".contains(byte));
        for word in std::iter::once(value).chain(words) {
            if word.starts_with(b"/") || word.starts_with(b"*") {
                values.push((word.strip_suffix(b"$").unwrap_or(word), is_usage));
            }
        }
    }
    let bare = |value: &[u8]| value.replace("*", "");
    let mut paths: Vec<Vec<u8>> = vec![b"/".to_vec(), b"/-".to_vec()];
    for (value, _) in &values {
        let bare = bare(value);
        let cut = bare[..bare.len().saturating_sub(1)].to_vec();
        let longer = [&bare[..], b"-"].concat();
        paths.extend([bare, value.replace("*", "-"), cut, longer]);
    }
    let usages = values.iter().filter(|(_, is_usage)| *is_usage).count();
    let is_whole = usages * values.len() <= PAIRS_MAX;
    for (start, is_usage) in values.iter().filter(|_| is_whole) {
        for (end, _) in values.iter().filter(|(_, other)| *is_usage || *other) {
            if let Some(star) = end.find_byte(b'*') {
                paths.push([bare(start), bare(&end[star..])].concat());
            }
        }
    }
    let mut known = std::collections::HashSet::new();
    for path in &mut paths {
        if !path.starts_with(b"/") {
            path.insert(0, b'/');
        }
        // A URL has neither of them (a record with one is invalid).
        *path = path.replace(" ", "%20").replace("\\", "%5C");
    }
    // The dialect always allows robots.txt.
    paths.retain(|path| path != b"/robots.txt" && known.insert(path.clone()));
    (paths, is_whole)
}

/// URLs with the oracle's answers.
struct Answers<'u> {
    urls: &'u [&'u [u8]],
    judged: Vec<Judgement>,
}

impl Oracle for Answers<'_> {
    fn write_url(&self, question: usize, url: &mut Vec<u8>) {
        url.extend_from_slice(self.urls[question]);
    }

    fn judged(&self, question: usize, agent: usize) -> Option<Judged<'_>> {
        let judged = &self.judged[question];
        let Usage { access, stated, .. } = &judged.usage[agent];
        Some(Judged { access: *access, usage: Some((stated, judged.licences(agent))) })
    }

    fn describe(&self, question: usize) -> String {
        self.urls[question].as_bstr().to_string()
    }
}

/// Returns engines for all agents and labels at once, and for each agent alone with some labels in
/// another order.
fn engines(set: &Arc<PolicySet>) -> Result<[Engine; 3], Failure> {
    let agents = crawlers(&AGENTS, &RFC_9309)?;
    let engine = |positions: &[usize], labels: &[Label]| {
        let engine =
            Engine::from_some(Arc::clone(set), &agents, positions, &Configuration::default());
        engine.with_usage(labels)
    };
    Ok([
        engine(&[0, 1], &Label::ALL),
        engine(&[0], &[Label::Search, Label::TrainAi]),
        engine(&[1], &[Label::AiUse]),
    ])
}

/// Compares the program's JSON Lines about the first URLs.
fn compare_program(answers: &[u8], urls: &[&[u8]], judged: &[Judgement]) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    for (number, line) in answers.lines().enumerate() {
        let got: Value = serde_json::from_slice(line)?;
        let (url, agent) = (number / AGENTS.len(), number % AGENTS.len());
        let (judged, url) = (&judged[url], urls[url]);
        let Usage { access, stated, .. } = judged.usage[agent];
        let licences = judged.licences(agent).iter().map(|it| String::from_utf8_lossy(it));
        let expected = [
            ("url", json!(String::from_utf8_lossy(url))),
            ("agent", json!(AGENTS[agent])),
            ("verdict", json!(access.verdict.as_str())),
            ("reason", json!(access.reason.as_str())),
            ("line", json!(access.line.map(|line| line.get()))),
            ("licenses", json!(licences.collect::<Vec<_>>())),
        ];
        let of_label = |label: Label| {
            let (it, name) = (stated[label as usize], label.as_str());
            [
                (name.to_owned(), json!(it.preference.as_str())),
                (format!("{name}_line"), json!(it.line.map(|line| line.get()))),
                (format!("{name}_source"), json!(it.source.map(|source| source.as_str()))),
            ]
        };
        let expected = expected.map(|(member, expected)| (member.to_owned(), expected));
        for (member, expected) in
            expected.into_iter().chain(Label::ALL.into_iter().flat_map(of_label))
        {
            let (member, got) = (&*member, &got[&member]);
            tally.compare((url, AGENTS[agent]), (member, got), (member, &expected));
        }
        stated.iter().for_each(|it| tally.count(it.preference));
    }
    Ok(tally)
}
