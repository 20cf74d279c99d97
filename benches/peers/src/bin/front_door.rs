//! Measures the library's front door, one file at a time, beside those of peers.
//!
//! ```text
//! portcullis-front-door FOLDER URLS [ROUNDS]
//! ```
//!
//! FOLDER has robots.txt files named by host; URLS is a list of absolute URLs. Each engine parses the
//! file of each host and answers one question, parses it again and answers ten, and once more and
//! answers the host's URLs ten times: the first pass and the last are shown. Parsing is part of the
//! first two figures, and a column of its own beside the passes. Engines take turns, and the least of
//! the rounds counts. `allowed` counts the URLs of a pass that are allowed; peers differ on a few.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use portcullis_peers::engines::FastRobots;
use portcullis_robots::Robots;

/// The crawler that asks.
const AGENT: &str = "Googlebot";

/// A file and the paths asked of it.
struct Host {
    text: Vec<u8>,
    paths: Vec<String>,
}

/// The least times of one engine, and its verdicts.
struct Times {
    name: &'static str,
    /// Parsing and one question, or [`MANY`].
    questions: [Duration; 2],
    build: Duration,
    /// The first pass and the last.
    passes: [Duration; 2],
    allowed: usize,
}

/// The number of questions in the second column, and of passes.
const MANY: usize = 10;

/// Measures the questions and the passes of one round.
fn run<'h, M>(
    hosts: &'h [Host],
    times: &mut Times,
    build: impl Fn(&'h [u8]) -> Option<M>,
    allows: impl Fn(&M, &str) -> bool,
) {
    for (questions, least) in [1, MANY].into_iter().zip(&mut times.questions) {
        let start = Instant::now();
        for host in hosts {
            let Some(matcher) = build(black_box(&host.text)) else { continue };
            for path in host.paths.iter().cycle().take(questions) {
                black_box(allows(&matcher, black_box(path)));
            }
        }
        *least = start.elapsed().min(*least);
    }
    let (mut built, mut passes) = (Duration::ZERO, [Duration::ZERO; MANY]);
    times.allowed = 0;
    for host in hosts {
        let start = Instant::now();
        let Some(matcher) = black_box(build(black_box(&host.text))) else { continue };
        built += start.elapsed();
        for pass in &mut passes {
            let start = Instant::now();
            let allowed = host.paths.iter().filter(|path| allows(&matcher, black_box(path)));
            times.allowed += allowed.count();
            *pass += start.elapsed();
        }
    }
    times.build = built.min(times.build);
    for (least, pass) in times.passes.iter_mut().zip([passes[0], passes[MANY - 1]]) {
        *least = pass.min(*least);
    }
}

fn read(folder: &Path, list: &Path) -> Result<Vec<Host>, Box<dyn Error>> {
    let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for url in fs::read_to_string(list)?.lines() {
        let Some((_, rest)) = url.split_once("://") else { continue };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        paths.entry(host.to_ascii_lowercase()).or_default().push(path);
    }
    let mut hosts = Vec::new();
    for (host, paths) in paths {
        if let Ok(text) = fs::read(folder.join(&host)) {
            hosts.push(Host { text, paths });
        }
    }
    Ok(hosts)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, list, rounds) = match &arguments[..] {
        [folder, list] => (folder, list, 9),
        [folder, list, rounds] => (folder, list, rounds.parse()?),
        _ => return Err("usage: portcullis-front-door FOLDER URLS [ROUNDS]".into()),
    };
    let hosts = read(folder.as_ref(), list.as_ref())?;
    let urls: usize = hosts.iter().map(|host| host.paths.len()).sum();
    println!("{} files, {urls} URLs, least of {rounds} rounds", hosts.len());
    let engines = ["portcullis", "fast-robots", "with matcher", "texting_robots"];
    let mut all = engines.map(|name| Times {
        name,
        questions: [Duration::MAX; 2],
        build: Duration::MAX,
        passes: [Duration::MAX; 2],
        allowed: 0,
    });
    for _ in 0..rounds {
        let [ours, fast, matcher, texting] = &mut all;
        let build = |text: &[u8]| Some(Robots::parse(text).agent(AGENT));
        run(&hosts, ours, build, |rules, path| rules.is_allowed(path));
        // What its documentation advises for a few questions, then for many.
        let build = |text| fast_robots::RobotsTxt::parse_bytes(text).ok();
        run(&hosts, fast, build, |file, path| file.is_allowed(AGENT, path));
        let build = |text| FastRobots::compile(text).ok();
        run(&hosts, matcher, build, |matcher, path| matcher.is_allowed(AGENT, path));
        let build = |text: &[u8]| texting_robots::Robot::new(AGENT, text).ok();
        run(&hosts, texting, build, |rules, path| rules.allowed(path));
    }
    println!(
        "{:16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "1, us", "10, us", "build, us", "first, ns", "tenth, ns", "allowed"
    );
    for Times { name, questions, build, passes, allowed } in all {
        let a_file = |time: Duration| time.as_nanos() as f64 / 1e3 / hosts.len() as f64;
        let ([one, many], build) = (questions.map(a_file), a_file(build));
        let [first, tenth] = passes.map(|time| time.as_nanos() as f64 / urls as f64);
        let allowed = allowed / MANY;
        println!("{name:16} {one:9.2} {many:9.2} {build:9.2} {first:9.1} {tenth:9.1} {allowed:9}");
    }
    Ok(())
}
