//! Sets with history, asked as of random times, against the captures up to each time.
//!
//! The captures go the way of users: JSON Lines files, `ingest`, a compiled set. The times are those
//! at which an answer may change, and those next to them. A failure prints the captures.

use std::sync::Arc;

use portcullis_build::{IngestConfig, Provenance, SettleConfig};
use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_files::scratch::Scratch;
use portcullis_oracle::{AnswerReading, Archive, Archived, LongOutageChoice, Policy};
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_robots::policy::{Crawler, Reading, WithoutFile};
use portcullis_set::PolicySet;
use portcullis_set::batch::{AgentKind, Classifier, InForce, Records, Session, Times};
use portcullis_testkit::{Captures, Random, agents, compiled, ingested, names};
use rayon::prelude::*;
use serde_json::json;

/// Archives per dialect.
const ARCHIVES: u64 = 24;

const HOSTS: usize = 4;

const DAY: u64 = 24 * 60 * 60;

/// The times at which each URL is asked.
const TIMES_PER_URL: usize = 60;

/// The bodies. Each gives another policy in every dialect.
const BODIES: [&str; 6] = [
    "User-agent: *\nDisallow: /a\n",
    "\nUser-agent: *\nDisallow: /b\n\nUser-agent: ExampleBot\nDisallow: /a/b\nAllow: /a\n",
    "User-agent: ExampleBot\nDisallow: /\n",
    "User-agent: *\nDisallow:\n",
    "# nothing\n\n",
    "<html><p>Not found</p></html>\n",
];

const PATHS: [&str; 4] = ["/a", "/a/b", "/b", "/robots.txt"];

/// An archive, as files and as the oracle reads it.
struct World {
    files: Vec<Captures>,
    archived: Vec<Archived>,
}

impl World {
    fn new(random: &mut Random) -> World {
        let mut world = World { files: Vec::new(), archived: Vec::new() };
        for _ in 0..random.within(1..=3) {
            world.files.push(Captures::default());
            (0..random.within(4..=36)).for_each(|_| {
                let url = resource(random);
                world.push(url, 14, random);
            });
            if random.one_in(2) {
                // A target that is captured often is followed by origins that redirect to it.
                let url = resource(random);
                (0..30).for_each(|_| world.push(url.clone(), 60, random));
            }
        }
        world
    }

    /// Adds a capture to the last file, at one of so many times 10 days.
    fn push(&mut self, url: String, dates: usize, random: &mut Random) {
        let at = match random.below(10) {
            0 => None,
            // Dates are often equal, or 30 days apart.
            _ => Some(random.below(dates) as u64 * 10 * DAY + random.below(2) as u64),
        };
        let status = *random.pick(&[
            200, 200, 200, 200, 200, 301, 302, 304, 304, 401, 404, 418, 429, 500, 503, 503, 503,
            503, 600, 0,
        ]);
        let redirects = if random.one_in(8) { random.within(1..=6) } else { 0 };
        let (mut location, mut members, mut has_header) = (None, json!({}), true);
        let body = *random.pick(&BODIES);
        let is_cut = status == 200 && random.one_in(4);
        match status {
            0 => members["error"] = "timeout".into(),
            200 if is_cut && random.one_in(2) => {}
            200 => {
                members["body"] = body.into();
                members["truncated"] = is_cut.into();
            }
            301 | 302 => {
                let target = resource(random);
                // A path is resolved, another scheme leads nowhere, and a redirect may have no target.
                let (host_end, way) = (target.rfind('/').expect("a path"), random.below(8));
                location = (way > 0).then(|| target.clone());
                if way == 1 && target[..host_end] == url[..url.rfind('/').expect("a path")] {
                    members["headers"] = json!({"location": target[host_end..]});
                } else if way > 0 {
                    members["headers"] = json!({"Location": target});
                } else if random.one_in(2) {
                    members["headers"] = json!({"Server": "a"});
                } else {
                    has_header = false;
                }
            }
            _ => {}
        }
        if redirects > 0 {
            members["redirects"] = (0..redirects).map(|_| url.as_str()).collect();
        }
        let time = at.map_or(String::new(), |at| UnixSeconds(at).to_rfc3339());
        let file = self.files.last_mut().expect("a file");
        file.push_with(&url, &time, status, members);
        let (redirects, body) = (redirects as u32, body.to_owned());
        self.archived.push(Archived {
            url,
            at,
            redirects,
            status,
            location,
            has_header,
            body,
            is_cut,
        });
    }

    /// Returns the times at which an answer may change, and those next to them.
    fn times(&self) -> Vec<u64> {
        let dates = self.archived.iter().filter_map(|it| it.at);
        let boundaries = dates.flat_map(|at| [at, at + LONG_UNREACHABLE_SECONDS + 1]).chain([0]);
        let near = |at: u64| [at.saturating_sub(1), at, at + 1];
        let mut times: Vec<u64> = boundaries.flat_map(near).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

/// Returns the URL of a robots.txt, or of another resource to which a redirect may lead.
fn resource(random: &mut Random) -> String {
    let (scheme, host) = (random.pick(&["http", "https", "https"]), random.below(HOSTS));
    let path = random.pick(&["robots.txt", "robots.txt", "robots.txt", "moved"]);
    format!("{scheme}://h{host}.example/{path}")
}

/// How often each reason was given, and how many answers were compared.
#[derive(Clone, Debug, Default)]
struct Tally {
    compared: usize,
    by_reason: [usize; Reason::ALL.len()],
}

impl Tally {
    fn sum(mut self, other: Tally) -> Tally {
        self.compared += other.compared;
        self.by_reason.iter_mut().zip(other.by_reason).for_each(|(count, more)| *count += more);
        self
    }
}

/// Returns the set with the history of a world.
fn set(world: &World, dialect: &'static Dialect, long_outage: LongOutage) -> PolicySet {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |(number, file): (usize, &Captures)| file.write(folder.path(), &format!("{number}.jsonl"));
    let paths: Vec<_> = world.files.iter().enumerate().map(write).collect();
    let settle = SettleConfig { long_outage, ..SettleConfig::default() };
    let config = IngestConfig { history: true, settle, ..IngestConfig::new(dialect, None) };
    let ingested = ingested(&paths, &config);
    let captures: u64 = ingested.inputs.iter().map(|input| input.captures + input.broken).sum();
    assert_eq!(captures as usize, world.archived.len());
    let provenance = Provenance::of(&ingested.inputs, &settle).to_json();
    PolicySet::from_bytes("history", compiled(&ingested, &provenance)).expect("a set")
}

/// Checks that the policy of `url` is the same in the whole period in which `time` lies, and another
/// one directly after it.
fn assert_period(archive: &Archive<'_>, url: &str, time: u64, InForce { period, .. }: InForce) {
    let (since, until) = (period.since.0, period.until.map_or(u64::MAX, |until| until.0));
    let in_force = |time| archive.policy(url, time);
    assert!(since <= time && time < until, "{url} {time} {period:?}");
    let last = if until == u64::MAX { time } else { until - 1 };
    for other in [since, last] {
        assert_eq!(in_force(other), in_force(time), "{url} {time} {period:?}");
    }
    for other in [since.checked_sub(1), period.until.map(|it| it.0)].into_iter().flatten() {
        assert_ne!(in_force(other), in_force(time), "{url} {time} {period:?}");
    }
}

/// Compares all answers to a block of URLs, each with a time.
fn compare(
    [session, by_record]: &mut [Session; 2],
    archive: &Archive<'_>,
    block: &[(&str, u64)],
) -> Tally {
    let urls: Vec<&str> = block.iter().map(|(url, _)| *url).collect();
    let times: Vec<_> = block.iter().map(|(_, time)| Some(UnixSeconds(*time))).collect();
    let chains = session.classifier().agents().to_vec();
    let each = |record: usize| chains[record % chains.len()].name().as_bytes();
    let each: Vec<&[u8]> = (0..block.len()).map(each).collect();
    let records = || Records::from(&urls).at(Times::Each(&times));
    let own = by_record.decide(records().by(&each)).expect("a sound set");
    let own = own.decisions_with_rules().expect("a sound set");
    let mut answers = session.decide(records()).expect("a sound set");
    let decisions = answers.decisions_with_rules().expect("a sound set");
    for (record, decision) in own.iter().enumerate() {
        let agent = record % chains.len();
        assert_eq!(*decision, decisions[record * chains.len() + agent], "{:?}", block[record]);
    }
    let mut tally = Tally { compared: decisions.len() + own.len(), ..Tally::default() };
    for (answer, decision) in decisions.into_iter().enumerate() {
        let record = answer / chains.len();
        let (url, time) = block[record];
        let chain = &chains[answer % chains.len()];
        let expected = archive.decide_read(reading_of(chain), &names(chain), url, time);
        assert_eq!(decision, expected, "{url} {time}");
        tally.by_reason[decision.reason as usize] += 1;
        if answer % chains.len() > 0 {
            continue;
        }
        let policy = archive.policy(url, time);
        let state = policy.map_or(PolicyState::Unknown, state_of);
        let is_url = decision.reason != Reason::BadUrl;
        assert_eq!(answers.state(record).expect("a sound set"), is_url.then_some(state));
        let in_force = answers.in_force(record).expect("a sound set");
        assert_eq!(in_force.is_some(), policy.is_some(), "{url} {time}");
        in_force.into_iter().for_each(|it| assert_period(archive, url, time, it));
    }
    tally
}

/// Days of a copy: dates are often as far apart, or a second more.
const COPY_DAYS: u16 = 20;

/// Returns the agents, of which some read answers in their own way.
fn crawlers(dialect: &'static Dialect) -> Vec<Crawler> {
    let names = ["Other+ExampleBot", "ExampleBot", "Other", "Examplebot+Copy", "Third+ExampleBot"];
    let ways = [
        WithoutFile::AsDialect,
        WithoutFile::AsDialect,
        WithoutFile::Open { file_bytes_max: 1_000 },
        WithoutFile::LastCopy { days: COPY_DAYS },
        WithoutFile::Open { file_bytes_max: 1_000 },
    ];
    let read = |(crawler, without_file): (Crawler, WithoutFile)| {
        crawler.with_reading(Reading { without_file, ..Reading::default() })
    };
    agents(&names, dialect).into_iter().zip(ways).map(read).collect()
}

fn reading_of(crawler: &Crawler) -> AnswerReading {
    match crawler.reading().without_file {
        WithoutFile::AsDialect => AnswerReading::AsDialect,
        WithoutFile::Open { file_bytes_max } => AnswerReading::Open(file_bytes_max as usize),
        WithoutFile::LastCopy { days } => AnswerReading::LastCopy(days.into()),
    }
}

fn state_of(policy: Policy<'_>) -> PolicyState {
    match policy {
        Policy::File(body) if body == BODIES[4] => PolicyState::NoRules,
        Policy::File(body) if body == BODIES[5] => PolicyState::Page,
        Policy::File(_) => PolicyState::Rules,
        Policy::Outcome(outcome) => outcome.state,
    }
}

/// Compares the answers on one archive, and panics with its captures if they differ.
fn compare_archive(dialect: &'static Dialect, seed: u64) -> Tally {
    let random = &mut Random::new(seed);
    let world = World::new(random);
    let choices = [
        (LongOutage::NoChange, LongOutageChoice::NoChange),
        (LongOutage::Unavailable, LongOutageChoice::Unavailable),
        (LongOutage::LastGoodCopy, LongOutageChoice::LastGoodCopy),
        (LongOutage::UnavailableAtOnce, LongOutageChoice::UnavailableAtOnce),
    ];
    let (long_outage, choice) = *random.pick(&choices);
    let archive = Archive::new(dialect, choice, &world.archived);
    let set = Arc::new(set(&world, dialect, long_outage));
    portcullis_build::verify(&set, &Scratch::in_memory())
        .unwrap_or_else(|error| panic!("{} {seed}: {error}", dialect.name));
    let agents = crawlers(dialect);
    let classifier = || Classifier::new(Arc::clone(&set), agents.clone()).expect("all agents");
    let by_record = classifier().with_agent_per_record(AgentKind::Token).expect("all agents");
    let mut sessions = [classifier(), by_record].map(Session::new);
    let urls = (0..=HOSTS).flat_map(|host| {
        let of_host =
            move |path| ["http", "https"].map(|it| format!("{it}://h{host}.example{path}"));
        PATHS.into_iter().flat_map(of_host)
    });
    let urls: Vec<String> = urls.chain(["no URL".to_owned()]).collect();
    let times = world.times();
    let mut block: Vec<(&str, u64)> = urls
        .iter()
        .flat_map(|url| {
            (0..TIMES_PER_URL).map(|_| (&**url, *random.pick(&times))).collect::<Vec<_>>()
        })
        .collect();
    // Records of one host in a row, and hosts that alternate.
    let half = block.len() / 2;
    for at in half..block.len() {
        let other = random.within(half..=at);
        block.swap(at, other);
    }
    let compared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        block
            .chunks(300)
            .flat_map(|block| [&block[..block.len() / 7], &block[block.len() / 7..]])
            .map(|block| compare(&mut sessions, &archive, block))
            .fold(Tally::default(), Tally::sum)
    }));
    compared.unwrap_or_else(|_| {
        let files = world.files.iter().map(Captures::as_str).collect::<Vec<_>>();
        panic!("{} {choice:?} {seed}\n{}", dialect.name, files.join("\n"))
    })
}

#[test]
fn a_set_with_history_decides_as_the_oracle_does_from_the_captures_up_to_each_time() {
    let worlds =
        Dialect::ALL.into_iter().flat_map(|dialect| (0..ARCHIVES).map(move |it| (dialect, it)));
    let worlds: Vec<_> = worlds.collect();
    let tally = worlds.into_par_iter().map(|(dialect, seed)| compare_archive(dialect, seed));
    let tally = tally.reduce(Tally::default, Tally::sum);
    println!("{tally:?}");
    // Every reason must occur, otherwise the generator has degenerated.
    for reason in Reason::ALL {
        use Reason::{BeforeFirst, Expired, NoAgent, NoTime};
        let never = matches!(reason, Expired | BeforeFirst | NoTime | NoAgent);
        let share = if never { 0 } else { tally.compared / 500 };
        assert!(tally.by_reason[reason as usize] >= share, "{reason}: {tally:?}");
    }
}
