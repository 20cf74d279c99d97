//! Damaged sets: a flipped bit, a missing end, extra bytes. Each read ends in an error that says
//! what to do, or in exactly the answers of the undamaged set.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use portcullis_build::IngestConfig;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_files::scratch::Scratch;
use portcullis_robots::policy::Crawler;
use portcullis_set::limits::SET_BLOCK_BYTES;
use portcullis_set::{PolicySet, SetError};
use portcullis_testkit::files::project;
use portcullis_testkit::{Captures, Random, Refusal, Told, compiled, ingested};
use serde_json::json;
use tempfile::TempDir;

/// The number of random places at which a bit is flipped, and at which the file is truncated.
const RANDOM_PLACES: usize = 2_000;

/// The number of hosts of the sample.
const SAMPLE_HOSTS: usize = 12;

/// The number of rules of the group that applies together with each of many others.
const LARGE_GROUP_RULES: usize = 4_096;

/// The crawlers that have a group of their own besides that one.
const ROBOTS: usize = 66;

/// An undamaged set and its answers.
struct Whole {
    bytes: Vec<u8>,
    urls: Vec<String>,
    /// A decision for each URL and agent, with the rule and the group.
    answers: Vec<Told>,
    /// Where damaged sets are written, one after the other: some file systems take milliseconds to
    /// make and remove a folder.
    folder: TempDir,
}

/// Returns archived responses: files of the sample, and kinds of responses that the sample lacks.
fn archive() -> Captures {
    let mut captures = Captures::default();
    let mut push = |host: &str, status: u16, body: &str| {
        let url = format!("https://{host}/robots.txt");
        let members = json!({"headers": {"Cache-Control": "max-age=3600"}, "body": body});
        captures.push_with(&url, "2024-05-01T00:00:00Z", status, members);
    };
    let robots = project("corpora/sample/robots");
    let names: BTreeSet<_> =
        fs::read_dir(&robots).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    for name in names.iter().take(SAMPLE_HOSTS) {
        let text = fs::read(robots.join(name)).unwrap();
        push(name.to_str().unwrap(), 200, &String::from_utf8_lossy(&text));
    }
    // The older file is kept for merging.
    push("gone.example", 200, "User-agent: *\nDisallow: /gone\n");
    push("gone.example", 404, "");
    push("broken.example", 503, "");
    push("unchanged.example", 304, "");
    push("empty.example", 200, "# nothing\n");
    push("other.example:8443", 200, "User-agent: *\nDisallow: /x\nSitemap: https://a.example/s\n");
    push(
        "usage.example",
        200,
        "User-agent: *\nDisallow: /x\nContent-Usage: train-ai=n\nContent-Usage: /y* search=y\n\
         License: https://usage.example/license\n",
    );
    push("stars.example", 200, &many_stars());
    push("groups.example", 200, &many_groups());
    // So many bytes do not fit into the row of a capture.
    push("long.example", 200, &format!("User-agent: *\nDisallow: /x\n#{}", "x".repeat(1 << 20)));
    captures
}

/// Returns rules whose automaton is too large to be stored.
fn many_stars() -> String {
    let rules = (0..40).map(|n| format!("Disallow: /*{n}*x*{}*y*z\nAllow: /*{n}*q\n", n * 7 % 40));
    format!("User-agent: *\n{}", rules.collect::<String>())
}

/// Returns a large group, whose rules match nothing and are short, and many small groups, each of which applies
/// together with it.
fn many_groups() -> String {
    let robots = ROBOTS;
    let names: String = (0..robots).map(|n| format!("User-agent: robot{n}\n")).collect();
    let group = |n| format!("User-agent: robot{n}\nDisallow: /{n}\nAllow: /x/*{n}\n");
    let groups: String = (0..robots).map(group).collect();
    format!("{names}{}Disallow: /x\n{groups}", "Disallow:\n".repeat(LARGE_GROUP_RULES))
}

fn agents() -> Vec<Crawler> {
    let last = format!("robot{}", ROBOTS - 1);
    let names = ["Googlebot", "GPTBot+Googlebot", last.as_str()];
    names.iter().map(|name| Crawler::parse(name, &RFC_9309).unwrap()).collect()
}

impl Whole {
    fn new() -> Whole {
        let folder = tempfile::tempdir().unwrap();
        let path = archive().write(folder.path(), "robots.jsonl");
        let ingested = ingested(&[path], &IngestConfig::new(&RFC_9309, None));
        let bytes = compiled(&ingested, "{}");
        let paths = ["/", "/x/a17", "/search?q=1", "/admin/page.php", "/1/x7y2z"];
        let hosts = ingested.standings.to_vec().unwrap();
        let origins = hosts.iter().map(|host| String::from_utf8_lossy(&host.key));
        let origins = origins.chain(["unknown.example".into()]);
        let urls: Vec<String> =
            origins.flat_map(|host| paths.map(|path| format!("https://{host}{path}"))).collect();
        let answers = ask(&folder, &bytes, &urls).unwrap();
        Whole { bytes, urls, answers, folder }
    }

    /// Returns whether these bytes are rejected. Otherwise every answer must equal that of the
    /// undamaged set.
    #[track_caller]
    fn refuses(&self, bytes: Vec<u8>, place: impl std::fmt::Display) -> bool {
        let asked = catch_unwind(AssertUnwindSafe(|| ask(&self.folder, &bytes, &self.urls)));
        let asked = asked.unwrap_or_else(|_| panic!("{place}: it panics"));
        match asked {
            Ok(answers) => {
                assert!(answers == self.answers, "{place}: other answers");
                false
            }
            Err(Refusal { text, told }) => {
                assert!(text.contains("a.set"), "{place}: {text}");
                let differs = |(told, right): (&Option<Told>, &Told)| {
                    told.as_ref().is_some_and(|it| it != right)
                };
                assert!(!told.iter().zip(&self.answers).any(differs), "{place}: other answers");
                let fixes = ["portcullis compile", "update portcullis", "fetch the file again"];
                assert!(fixes.iter().any(|fix| text.contains(fix)), "{place}: {text}");
                true
            }
        }
    }

    fn refuses_flipped(&self, byte: usize, bit: usize) -> bool {
        let mut bytes = self.bytes.clone();
        bytes[byte] ^= 1 << bit;
        self.refuses(bytes, format_args!("bit {bit} of byte {byte}"))
    }

    fn refuses_cut(&self, length: usize) -> bool {
        self.refuses(self.bytes[..length].to_vec(), format_args!("cut at {length}"))
    }

    /// Returns the start and end of each section, according to the table in the header
    /// (`FORMAT.md`, section 4), and of the blocks of checksums.
    fn boundaries(&self) -> BTreeSet<usize> {
        let u64_at = |at: usize| {
            let bytes = self.bytes[at..at + 8].try_into().unwrap();
            u64::from_le_bytes(bytes) as usize
        };
        let sections = u32::from_le_bytes(self.bytes[12..16].try_into().unwrap()) as usize;
        let mut boundaries = BTreeSet::from([0, SET_BLOCK_BYTES, self.bytes.len()]);
        let mut end = 0;
        for section in 0..sections {
            let entry = 256 + 24 * section;
            let start = u64_at(entry + 8);
            end = start + u64_at(entry + 16);
            boundaries.extend([entry, entry + 8, entry + 16, entry + 24, start, end]);
        }
        boundaries.extend(
            (end..self.bytes.len())
                .step_by(SET_BLOCK_BYTES)
                .map(|at| at.next_multiple_of(SET_BLOCK_BYTES)),
        );
        boundaries
    }

    /// Returns the boundaries, and the offsets right before and after them.
    fn around_boundaries(&self) -> BTreeSet<usize> {
        let around = |at: usize| [at.saturating_sub(1), at, at + 1];
        let around = self.boundaries().into_iter().flat_map(around);
        around.filter(|&at| at < self.bytes.len()).collect()
    }
}

/// Returns the answers of a set with these bytes, or its error. Reading and mapping must give the
/// same.
fn ask(folder: &TempDir, bytes: &[u8], urls: &[String]) -> Result<Vec<Told>, Refusal> {
    let path = folder.path().join("a.set");
    fs::write(&path, bytes).unwrap();
    // SAFETY: no other code knows the file.
    let by_mapping = ask_opened(unsafe { PolicySet::map(&path) }, urls);
    let by_reading = ask_opened(PolicySet::open(&path), urls);
    // Some file systems write a file to the disk at once if it replaces the content of another.
    fs::remove_file(&path).unwrap();
    assert!(by_mapping == by_reading, "{by_mapping:?} mapped, {by_reading:?} read");
    by_reading
}

fn ask_opened(set: Result<PolicySet, SetError>, urls: &[String]) -> Result<Vec<Told>, Refusal> {
    let refusal = |error: SetError| Refusal { text: error.to_string(), told: Vec::new() };
    portcullis_testkit::ask(set.map_err(refusal)?, &agents(), urls)
}

#[test]
fn the_set_has_everything() {
    let whole = Whole::new();
    let set = PolicySet::from_bytes("a.set", whole.bytes).unwrap();
    let empty = set.section_bytes().find(|(_, bytes)| *bytes == 0);
    assert_eq!(empty.map(|(name, _)| name), None);
    let reasons: BTreeSet<_> = whole.answers.iter().map(|told| told.decision.reason).collect();
    assert!(reasons.len() >= 6, "{reasons:?}");
    portcullis_build::verify(&set, &Scratch::in_memory()).unwrap();
}

#[test]
fn a_bit_at_every_boundary() {
    let whole = Whole::new();
    let places = whole.around_boundaries();
    assert!(places.len() > 60, "{}", places.len());
    for place in places {
        for bit in 0..8 {
            whole.refuses_flipped(place, bit);
        }
    }
}

#[test]
fn a_cut_at_every_boundary() {
    let whole = Whole::new();
    for place in whole.around_boundaries() {
        assert!(whole.refuses_cut(place), "cut at {place}");
    }
    let longer = [&whole.bytes[..], &[0]].concat();
    assert!(whole.refuses(longer, "a byte behind"));
}

#[test]
fn bits_at_random_places() {
    flip_at_random_places(1, RANDOM_PLACES);
}

#[test]
#[ignore = "takes long; scripts/check --full runs it"]
fn bits_at_many_random_places() {
    flip_at_random_places(5, 10 * RANDOM_PLACES);
}

fn flip_at_random_places(seed: u64, places: usize) {
    let whole = Whole::new();
    let mut random = Random::new(seed);
    let flips = (0..places).map(|_| (random.below(whole.bytes.len()), random.below(8)));
    let refused = flips.filter(|&(byte, bit)| whole.refuses_flipped(byte, bit)).count();
    // Most blocks are read for some question; a block that is not read is not compared.
    assert!(refused > places / 4, "{refused}");
}

#[test]
fn cuts_at_random_places() {
    let whole = Whole::new();
    let mut random = Random::new(2);
    for _ in 0..RANDOM_PLACES {
        let length = random.below(whole.bytes.len());
        assert!(whole.refuses_cut(length), "cut at {length}");
    }
}

#[test]
fn several_bytes_at_random_places() {
    let whole = Whole::new();
    let mut random = Random::new(3);
    for number in 0..RANDOM_PLACES / 4 {
        let mut bytes = whole.bytes.clone();
        let start = random.below(bytes.len());
        let end = (start + 1 + random.below(3 * SET_BLOCK_BYTES)).min(bytes.len());
        match number % 3 {
            0 => bytes[start..end].fill(0),
            1 => bytes.copy_within(..end - start, start),
            _ => bytes[start..end].iter_mut().for_each(|byte| *byte = random.next_u64() as u8),
        }
        whole.refuses(bytes, format_args!("bytes {start} to {end}"));
    }
}

/// Verifying finds each flipped bit, even if no answer changes.
#[test]
fn verifying_finds_every_flip() {
    let whole = Whole::new();
    let mut random = Random::new(4);
    for _ in 0..RANDOM_PLACES / 4 {
        let (byte, bit) = (random.below(whole.bytes.len()), random.below(8));
        let mut bytes = whole.bytes.clone();
        bytes[byte] ^= 1 << bit;
        let verified = PolicySet::from_bytes("a.set", bytes)
            .and_then(|set| portcullis_build::verify(&set, &Scratch::in_memory()));
        assert!(verified.is_err(), "bit {bit} of byte {byte}");
    }
}
