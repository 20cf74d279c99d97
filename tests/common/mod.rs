//! Helpers for comparing the engine with the oracle: the engine's configurations, equality of
//! answers, sets of many files with a host each, shuffled orders, all words over an alphabet, and
//! seeded random numbers.

#![allow(unsafe_code, reason = "maps files of this test")]
#![allow(dead_code, reason = "each test program that includes this uses a part of it")]

use std::io::Write as _;
use std::sync::Arc;

use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::URL_BYTES_MAX;
use portcullis_engine::Limits;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_robots::target::{Origin, host_key, split};
use portcullis_set::batch::Session;
use portcullis_set::compile::{self, CompileConfig};
use portcullis_set::{
    BlobPool, CaptureFacts, Content, HostStanding, LoadConfig, PolicySet, Standing,
};
use tempfile::NamedTempFile;

/// One configuration of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    pub name: &'static str,
    pub limits: Limits,
    /// Whether the rule of each answer is read as well.
    pub rules: bool,
}

impl Configuration {
    /// Returns whether the engine's answer equals the oracle's, as far as this configuration
    /// reports rules.
    pub fn agrees(&self, engine: Decision, judged: Decision) -> bool {
        match self.rules {
            true => engine == judged,
            false => engine == Decision::without_rule(judged.verdict, judged.reason),
        }
    }

    /// Returns the answers about the session's last block, with rules if they are read.
    pub fn answers(&self, session: &Session) -> Vec<Decision> {
        match self.rules {
            true => session.decisions_with_rules().expect("a whole set"),
            false => session.decisions().to_vec(),
        }
    }
}

/// Returns the default configuration, then each step and each fallback.
pub fn configurations() -> [Configuration; 8] {
    let usual = Limits::default();
    let dfa = Limits { candidates_tried_max: None, dfa_bytes_asked_min: 0, ..usual };
    [
        ("as usual", usual, true),
        ("as usual", usual, false),
        ("a prefilter before automata", Limits { candidates_tried_max: Some(0), ..usual }, true),
        (
            "automata if two patterns have to be tried",
            Limits { candidates_tried_max: Some(1), ..usual },
            false,
        ),
        ("a DFA", dfa, true),
        ("a scan, later a DFA", Limits { dfa_bytes_asked_min: 1, ..dfa }, true),
        ("memory spent soon", Limits { automata_bytes_max: 4096, ..dfa }, false),
        ("scans", Limits { dfa_pattern_bytes_max: 0, ..dfa }, true),
    ]
    .map(|(name, limits, rules)| Configuration { name, limits, rules })
}

/// Returns all words over `alphabet` of up to `length_max` bytes, the shortest (the empty word)
/// first.
pub fn words(alphabet: &[u8], length_max: usize) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..length_max {
        let end = words.len();
        for index in start..end {
            let longer = alphabet.iter().map(|&byte| [&words[index][..], &[byte]].concat());
            let longer: Vec<Vec<u8>> = longer.collect();
            words.extend(longer);
        }
        start = end;
    }
    words
}

/// Seeded random numbers: the SplitMix64 sequence.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Returns a number in `range`.
    pub fn within(&mut self, range: std::ops::RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// Returns true once in `times` on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of `choices`, which is not empty.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// Returns a word over `alphabet` whose length is in `lengths`.
    pub fn word(&mut self, alphabet: &[u8], lengths: std::ops::RangeInclusive<usize>) -> Vec<u8> {
        let length = self.within(lengths);
        (0..length).map(|_| *self.pick(alphabet)).collect()
    }
}

/// Returns the numbers below `count`, each once, shuffled so that adjacent numbers are far apart.
pub fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let divides_both = |one: usize, other: usize| {
        let (mut one, mut other) = (one, other);
        while other != 0 {
            (one, other) = (other, one % other);
        }
        one > 1
    };
    // Multiples of the golden ratio of the count are spread evenly.
    let mut step = (count as f64 * 0.618_033_988) as usize + 1;
    while divides_both(count, step) {
        step += 1;
    }
    (0..count).scan(0, move |next, _| {
        let this = *next;
        *next = (this + step) % count;
        Some(this)
    })
}

/// Returns the origin of the file with this number in a set of many files.
pub fn origin(file: usize) -> String {
    format!("{}://f{file}.example", ["https", "http"][file % 2])
}

/// Returns `url` with the origin of the file with this number, and the same path and query. `None`
/// if `url` is not an http or https URL, if its compared path begins within its authority, or if
/// only one of the two URLs exceeds the maximum length.
pub fn at_origin(url: &[u8], dialect: &Dialect, file: usize) -> Option<Vec<u8>> {
    let parts = split(url, dialect.paths.path_start).ok()?;
    host_key(&parts, &mut Vec::new()).ok()?;
    let scheme = parts.scheme;
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let start = scheme.as_ptr().addr() - url.as_ptr().addr();
    let authority = &url[start + scheme.len() + "://".len()..];
    let is_end = |byte: &u8| b"/?#".contains(byte);
    let end = authority.iter().position(is_end).unwrap_or(authority.trim_ascii_end().len());
    if authority[..end].iter().any(|byte| dialect.paths.path_start.contains(byte)) {
        return None;
    }
    let moved = [&url[..start], origin(file).as_bytes(), &authority[end..]].concat();
    let is_long = |url: &[u8]| url.len() > URL_BYTES_MAX;
    (is_long(url) == is_long(&moved)).then_some(moved)
}

/// The form of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Compiled into memory for its agents.
    Compiled,
    /// Read from a file.
    Read,
    Mapped,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Compiled, Form::Read, Form::Mapped];
}

/// Returns a set of `files`, each of which applies to its [`origin`], in each form with its name.
pub fn sets_of(
    files: &[&[u8]],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
    agents: &[AgentChain],
) -> [(&'static str, Arc<PolicySet>); 3] {
    let compiled = compiled_set(files, (dialect, robots_bytes_max), agents);
    let file = set_file(files, (dialect, robots_bytes_max));
    [("compiled", compiled), ("read", read(&file)), ("mapped", mapped(&file))]
}

/// Returns one of [`sets_of`].
pub fn set_of(
    form: Form,
    files: &[&[u8]],
    reading: (&'static Dialect, Option<usize>),
    agents: &[AgentChain],
) -> Arc<PolicySet> {
    match form {
        Form::Compiled => compiled_set(files, reading, agents),
        Form::Read => read(&set_file(files, reading)),
        Form::Mapped => mapped(&set_file(files, reading)),
    }
}

fn compiled_set(
    files: &[&[u8]],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
    agents: &[AgentChain],
) -> Arc<PolicySet> {
    let origins: Vec<Origin> = (0..files.len()).map(parsed_origin).collect();
    let config =
        LoadConfig { robots_bytes_max, agents: Some(agents.into()), ..LoadConfig::new(dialect) };
    PolicySet::of_files(origins.iter().zip(files.iter().copied()), &config).into()
}

fn set_file(
    files: &[&[u8]],
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
) -> NamedTempFile {
    let origins = (0..files.len()).map(|file| Some(parsed_origin(file)));
    let of_origins: Vec<_> = origins.zip(files.iter().copied()).collect();
    let bytes = set_bytes(&of_origins, &CompileConfig::new(dialect, robots_bytes_max));
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("the disk takes it");
    file
}

fn read(file: &NamedTempFile) -> Arc<PolicySet> {
    PolicySet::open(file.path()).expect("it was just made").into()
}

fn mapped(file: &NamedTempFile) -> Arc<PolicySet> {
    // SAFETY: no other code knows the file, and it is removed without changing it.
    unsafe { PolicySet::map(file.path()) }.expect("it was just made").into()
}

/// Returns the number of each file's policy in one of [`sets_of`].
pub fn policies_of(set: &PolicySet, files: usize) -> Vec<u32> {
    let number = |file| {
        let origin = parsed_origin(file);
        let policy = set.policy_of(origin.scheme().as_bytes(), origin.key().as_bytes());
        policy.expect("a whole set").expect("the file's origin").index() as u32
    };
    (0..files).map(number).collect()
}

fn parsed_origin(file: usize) -> Origin {
    let url = format!("{}/robots.txt", origin(file));
    Origin::of_robots_txt(url.as_bytes()).expect("a robots.txt")
}

/// Compiles and opens a set in which each file applies to its origin. A file without an origin
/// applies to no URL.
pub fn stored_set(files: &[(Option<Origin>, &[u8])], config: &CompileConfig) -> PolicySet {
    PolicySet::of_bytes("a set in memory", set_bytes(files, config)).expect("it was just made")
}

fn set_bytes(files: &[(Option<Origin>, &[u8])], config: &CompileConfig) -> Vec<u8> {
    let mut pool = BlobPool::default();
    let mut hosts: Vec<HostStanding> = Vec::new();
    for (origin, text) in files {
        let Some(origin) = origin else { continue };
        let file = RobotsTxt::parse(text, config.dialect, config.robots_bytes_max);
        let mut blob = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            pool.intern(&bytes, BlobPool::hash(&bytes))
        };
        let content = Content::File {
            extract: blob(&|out| file.write_extract(text, out)),
            others: blob(&|out| file.write_others(text, out)),
        };
        let standing = Some(Standing { content, facts: CaptureFacts::default() });
        let key = origin.key().into_bytes();
        hosts.push(match origin.scheme() {
            "http" => HostStanding { key: key.into(), http: standing, https: None },
            "https" => HostStanding { key: key.into(), http: None, https: standing },
            scheme => {
                let key = [scheme.as_bytes(), b"://", &key].concat();
                HostStanding { key: key.into(), http: standing, https: None }
            }
        });
    }
    hosts.sort_by(|one, other| one.key.cmp(&other.key));
    compile::to_vec(&hosts, &pool, config).expect("memory takes it")
}
