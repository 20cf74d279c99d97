//! Measures the library's front door, one file at a time, beside those of peers.
//!
//! ```text
//! portcullis-front-door FOLDER URLS [ROUNDS]
//! ```
//!
//! FOLDER has robots.txt files named by host; URLS is a list of absolute URLs. Each engine parses and
//! builds the file of each host, answers the host's URLs once (first pass), and then again (later
//! passes). Engines take turns, and the least of the rounds counts. All verdicts have to agree, up to
//! the few on which peers differ, which are counted.

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
    build: Duration,
    first: Duration,
    later: Duration,
    allowed: usize,
}

/// Returns what `build` and the passes over the paths of each host take.
fn run<'h, M>(
    hosts: &'h [Host],
    times: &mut Times,
    build: impl Fn(&'h [u8]) -> Option<M>,
    allows: impl Fn(&M, &str) -> bool,
) {
    let (mut built, mut first, mut later) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    times.allowed = 0;
    for host in hosts {
        let start = Instant::now();
        let Some(matcher) = black_box(build(black_box(&host.text))) else { continue };
        built += start.elapsed();
        for pass in [&mut first, &mut later] {
            let start = Instant::now();
            let allowed = host.paths.iter().filter(|path| allows(&matcher, black_box(path)));
            times.allowed += allowed.count();
            *pass += start.elapsed();
        }
    }
    times.build = times.build.min(built);
    times.first = times.first.min(first);
    times.later = times.later.min(later);
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
    let mut all = ["portcullis", "fast-robots", "texting_robots"].map(|name| Times {
        name,
        build: Duration::MAX,
        first: Duration::MAX,
        later: Duration::MAX,
        allowed: 0,
    });
    for _ in 0..rounds {
        let [ours, fast, texting] = &mut all;
        let build = |text: &[u8]| Some(Robots::parse(text).agent(AGENT));
        run(&hosts, ours, build, |rules, path| rules.is_allowed(path));
        run(
            &hosts,
            fast,
            |text| FastRobots::compile(text).ok(),
            |matcher, path| matcher.is_allowed(AGENT, path),
        );
        let build = |text: &[u8]| texting_robots::Robot::new(AGENT, text).ok();
        run(&hosts, texting, build, |rules, path| rules.allowed(path));
    }
    println!(
        "{:16} {:>14} {:>12} {:>12} {:>9}",
        "", "build, us/file", "first, ns", "later, ns", "allowed"
    );
    for Times { name, build, first, later, allowed } in all {
        let a_url = |time: Duration| time.as_nanos() as f64 / urls as f64;
        println!(
            "{name:16} {:14.2} {:12.1} {:12.1} {:9}",
            build.as_nanos() as f64 / 1e3 / hosts.len() as f64,
            a_url(first),
            a_url(later),
            allowed / 2,
        );
    }
    Ok(())
}
