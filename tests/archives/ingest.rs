//! Ingests archives of every format: synthetic ones with known files, the sample of the project,
//! and damaged files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_build::compile::to_vec;
use portcullis_build::{
    Content, IngestConfig, Ingested, Input, Standing, Strictness, ingest, settled,
};
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::limits::COMPILE_MEMORY_MIN;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::PolicySet;
use portcullis_set::lists::read_extract;
use portcullis_synth::{ArchiveFormat, Corpus};
use portcullis_testkit::files::project;
use portcullis_testkit::{Captures, Random};
use tempfile::TempDir;

const HOSTS: u64 = 3_000;

fn config() -> IngestConfig {
    let usual = IngestConfig::new(&RFC_9309, Some(ROBOTS_BYTES_MAX));
    IngestConfig { strictness: Strictness::Lenient, ..usual }
}

fn ingest_with(inputs: &[Input], config: &IngestConfig, threads: usize) -> Ingested {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| ingest(inputs, config, &())).unwrap()
}

#[track_caller]
fn ingest_all(inputs: &[PathBuf]) -> Ingested {
    let inputs: Vec<Input> = inputs.iter().map(Input::new).collect();
    ingest_with(&inputs, &config(), 2)
}

fn state(standing: &Standing, ingested: &Ingested) -> PolicyState {
    match standing.content {
        Content::Access(outcome) => outcome.state,
        Content::File { extract, .. } => {
            let file = ingested.standings.pool.get(extract).unwrap();
            let file = read_extract(&file).unwrap();
            state_of(&file)
        }
    }
}

fn state_of(file: &RobotsTxt<'_>) -> PolicyState {
    if file.rules().is_empty() { PolicyState::NoRules } else { PolicyState::Rules }
}

/// Returns the state of each http and https origin.
fn states(ingested: &Ingested) -> BTreeMap<String, String> {
    let mut states = BTreeMap::new();
    for host in ingested.standings.to_vec().unwrap() {
        let key = String::from_utf8_lossy(&host.key);
        for (scheme, standing) in [("http", &host.http), ("https", &host.https)] {
            if let Some(standing) = standing {
                states.insert(format!("{scheme}://{key}"), state(standing, ingested).to_string());
            }
        }
    }
    states
}

/// Returns synthetic responses in one file or in several, and the state of each origin.
fn archive(
    folder: &Path,
    format: ArchiveFormat,
    files: u64,
) -> (Vec<PathBuf>, BTreeMap<String, String>) {
    let corpus = Corpus::new(7, HOSTS);
    let ending = match format {
        ArchiveFormat::JsonLines => "jsonl",
        ArchiveFormat::Warc => "warc.gz",
    };
    let mut records = vec![corpus.archive_head(format); files as usize];
    let mut states = BTreeMap::new();
    for host in 0..HOSTS {
        records[(host % files) as usize].extend(corpus.archived(host, format));
        let robots = corpus.robots(host);
        let file = RobotsTxt::parse(robots.as_bytes(), &RFC_9309, Some(ROBOTS_BYTES_MAX));
        states.insert(corpus.origin(host), state_of(&file).to_string());
    }
    let write = |(number, records): (usize, Vec<u8>)| {
        let path = folder.join(format!("{number}.{ending}"));
        fs::write(&path, records).unwrap();
        path
    };
    let paths = records.into_iter().enumerate().map(write).collect();
    (paths, states)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[track_caller]
fn assert_states(found: &BTreeMap<String, String>, expected: &BTreeMap<String, String>) {
    for (origin, state) in expected {
        assert_eq!(found.get(origin), Some(state), "{origin}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn every_file_is_as_synthesised() {
    for format in [ArchiveFormat::JsonLines, ArchiveFormat::Warc] {
        for files in [1, 7] {
            let folder = folder();
            let (paths, expected) = archive(folder.path(), format, files);
            let ingested = ingest_all(&paths);
            assert_states(&states(&ingested), &expected);
            let inputs: Vec<Input> = paths.iter().map(Input::new).collect();
            let many = ingest_with(&inputs, &config(), 8);
            let counts = ingested.standings.counts().unwrap();
            assert_eq!(counts, many.standings.counts().unwrap());
            assert_eq!(ingested.inputs, many.inputs);
            for state in [PolicyState::Rules, PolicyState::NoRules] {
                let of_state = expected.values().filter(|other| **other == state.as_str()).count();
                assert_eq!(counts.in_state(state), of_state as u64);
                assert!(of_state > 10, "{state} {of_state}");
            }
            assert!(ingested.inputs.iter().all(|input| input.is_whole()));
        }
    }
}

#[test]
fn captures_of_several_formats_are_one_history() {
    let folder = folder();
    let robots = folder.path().join("robots");
    fs::create_dir(&robots).unwrap();
    fs::write(robots.join("a.example"), "User-agent: *\nDisallow: /folder\n").unwrap();
    fs::write(robots.join("b.example.txt"), "").unwrap();
    let write = |name: &str, date: &str, path: &str| {
        let mut captures = Captures::default();
        let body = format!("User-agent: *\nDisallow: {path}\n");
        captures.push("https://a.example/robots.txt", date, 200, &body);
        captures.write(folder.path(), name)
    };
    let new = write("new.jsonl", "2024-05-02T00:00:00Z", "/new");
    let old = write("old.ndjson", "2024-05-01T00:00:00Z", "/old");
    for inputs in [[&robots, &old, &new], [&new, &old, &robots], [&old, &robots, &new]] {
        let ingested = ingest_all(&inputs.map(PathBuf::clone));
        let hosts = ingested.standings.to_vec().unwrap();
        let host = hosts.iter().find(|host| *host.key == *b"a.example").unwrap();
        let rule = |standing: Option<Standing>| {
            let Some(Standing { content: Content::File { extract, .. }, .. }) = standing else {
                panic!("{standing:?}");
            };
            let file = ingested.standings.pool.get(extract).unwrap();
            let file = read_extract(&file).unwrap();
            String::from_utf8_lossy(file.rules()[0].value).into_owned()
        };
        assert_eq!((rule(host.http), rule(host.https)), ("/folder".into(), "/new".into()));
        let https = host.https.unwrap().facts;
        assert_eq!(https.captured_at, UnixSeconds::from_rfc3339(b"2024-05-02T00:00:00Z"));
        assert_eq!(&ingested.inputs[https.input as usize].name, &new.display().to_string());
        assert_eq!(host.http.unwrap().facts.captured_at, None);
        assert_eq!(states(&ingested)["http://b.example"], "no-rules");
        let format = |path: &PathBuf| {
            let name = path.display().to_string();
            ingested.inputs.iter().find(|input| input.name == name).unwrap().format.as_deref()
        };
        assert_eq!(format(&robots), Some("folder"));
        assert_eq!(format(&old), Some("jsonl"));
    }
}

#[test]
fn the_sample_applies_to_both_schemes() {
    let robots = project("corpora/sample/robots");
    let ingested = ingest_all(std::slice::from_ref(&robots));
    let files = fs::read_dir(&robots).unwrap().count();
    assert_eq!(
        (ingested.standings.to_vec().unwrap().len() as u64, ingested.inputs[0].captures),
        (files as u64, files as u64)
    );
    let counts = ingested.standings.counts().unwrap();
    assert_eq!(counts.origins, 2 * files as u64);
    let known = PolicyState::ALL.into_iter().filter(|state| state.is_file());
    assert_eq!(known.map(|state| counts.in_state(state)).sum::<u64>(), 2 * files as u64);
    let compiled = to_vec(&ingested.standings, &ingested.compiling);
    let set = PolicySet::from_bytes("a set", compiled.unwrap()).unwrap();
    let merged = settled(&set, &Scratch::in_memory()).unwrap();
    assert_eq!((states(&merged), merged.standings.counts().unwrap()), (states(&ingested), counts));
}

#[test]
fn truncated_inputs_are_named_and_their_records_count() {
    let folder = folder();
    let (paths, expected) = archive(folder.path(), ArchiveFormat::Warc, 1);
    let whole = fs::read(&paths[0]).unwrap();
    let cut = folder.path().join("cut.warc.gz");
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let ingested = ingest_all(std::slice::from_ref(&cut));
    let report = &ingested.inputs[0];
    assert!(report.failure.as_ref().is_some_and(|text| text.contains("cut.warc.gz")), "{report:?}");
    let found = states(&ingested);
    assert!(found.len() > expected.len() / 3 && found.len() < expected.len());

    for strictness in [Strictness::Usual, Strictness::Strict] {
        let config = IngestConfig { strictness, ..config() };
        let error = ingest(&[Input::new(&cut)], &config, &()).unwrap_err();
        assert!(error.to_string().contains("cut.warc.gz"), "{error}");
    }
}

#[test]
fn a_missing_input_is_named() {
    let folder = folder();
    let robots = folder.path().join("robots");
    fs::create_dir(&robots).unwrap();
    fs::write(robots.join("a.example"), "").unwrap();
    let missing = folder.path().join("missing.warc");
    let ingested = ingest_all(&[missing.clone(), robots]);
    assert!(ingested.inputs[0].failure.as_ref().is_some_and(|text| text.contains("missing.warc")));
    assert_eq!(ingested.standings.to_vec().unwrap().len(), 1);
    let error = ingest(&[Input::new(missing)], &config(), &()).unwrap_err();
    assert!(error.to_string().contains("missing.warc"), "{error}");
    assert!(error.inputs()[0].failure.is_some());
}

/// Files may name hundreds of thousands of crawlers, each once.
#[test]
fn many_names_fit_in_little_memory() {
    const FILES: usize = 9;
    const NAMES: usize = 30_000;
    let folder = folder();
    let mut random = Random::new(1);
    let mut captures = Captures::default();
    let mut name =
        || -> String { (0..6).map(|_| char::from(b'a' + random.below(26) as u8)).collect() };
    for host in 0..FILES {
        let names: String = (0..NAMES).map(|_| format!("user-agent:{}\n", name())).collect();
        let url = format!("https://h{host}.example/robots.txt");
        captures.push(&url, "", 200, &format!("{names}disallow:/{host}\n"));
    }
    let path = captures.write(folder.path(), "names.jsonl");
    let compiled = |scratch: Scratch| {
        let config = IngestConfig { robots_bytes_max: None, scratch, ..config() };
        let ingested = ingest_with(&[Input::new(&path)], &config, 2);
        to_vec(&ingested.standings, &ingested.compiling).unwrap()
    };
    let little = compiled(Scratch::new(Some(&path), Some(COMPILE_MEMORY_MIN)));
    assert!(little == compiled(Scratch::in_memory()));
    let set = PolicySet::from_bytes("names", little).unwrap();
    assert!(set.counts().tokens > FILES as u64 * NAMES as u64 * 99 / 100);
    for host in 0..FILES {
        let policy = set.policy_of(b"https", format!("h{host}.example").as_bytes()).unwrap();
        let robots = set.policy(policy.unwrap()).unwrap().robots().unwrap();
        // A few of the random names are equal.
        assert!(robots.len() > NAMES * 99 / 100 && robots.is_sorted_by(|one, next| one.0 < next.0));
    }
}
