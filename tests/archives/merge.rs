//! Sets that are compiled separately and merged equal the set that is compiled at once, byte for
//! byte: sections, provenance and hash. Reading a set back loses nothing.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use portcullis_build::{
    IngestConfig, Ingested, MergeError, Merger, Provenance, SettleChoice, SettleConfig, compile,
    settled,
};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_set::PolicySet;
use portcullis_testkit::{Captures, Random, compiled, random_file};

const BYTES_MAX: Option<usize> = Some(4_096);

/// Returns some archives. The last one is a folder, whose files have no date.
fn archives(folder: &Path, random: &mut Random) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for archive in 0..5 {
        let mut captures = Captures::default();
        (0..60).for_each(|_| captures.push_random(random));
        let path = captures.write(folder, &format!("{archive}.jsonl"));
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"broken\n").unwrap();
        paths.push(path);
    }
    let robots = folder.join("robots");
    fs::create_dir(&robots).unwrap();
    for host in 0..5 {
        fs::write(robots.join(format!("h{host}.example")), random_file(random)).unwrap();
    }
    paths.push(robots);
    paths
}

fn ingested(paths: &[PathBuf], dialect: &'static Dialect, settle: SettleConfig) -> Ingested {
    let config = IngestConfig { settle, ..IngestConfig::new(dialect, BYTES_MAX) };
    portcullis_testkit::ingested(paths, &config)
}

/// Returns the set of some archives.
fn set(paths: &[PathBuf], dialect: &'static Dialect, settle: SettleConfig) -> Vec<u8> {
    let ingested = ingested(paths, dialect, settle);
    compiled(&ingested, &Provenance::of(&ingested.inputs, &settle).to_json())
}

fn open(bytes: &[u8]) -> PolicySet {
    PolicySet::from_bytes("a set in memory", bytes).unwrap()
}

fn config(sets: &[&PolicySet], choice: SettleChoice) -> Result<IngestConfig, MergeError> {
    IngestConfig::of_sets(sets.iter().map(|&set| Ok(set)), &choice)
}

/// Merges sets.
fn merged<'o>(sets: impl IntoIterator<Item = &'o [u8]>) -> Vec<u8> {
    let sets: Vec<PolicySet> = sets.into_iter().map(open).collect();
    let sets: Vec<&PolicySet> = sets.iter().collect();
    let mut merger = Merger::new(config(&sets, SettleChoice::default()).unwrap());
    merger.add(&sets).unwrap();
    let merged = merger.finish().unwrap();
    compile::to_vec(&merged.standings, &merged.compiling).unwrap()
}

/// Returns how origins are settled in one round of a test.
fn settling(random: &mut Random) -> SettleConfig {
    let as_of = random.pick(&[None, None, Some(1_710_000_000), Some(1_720_000_000)]);
    SettleConfig {
        as_of: as_of.map(UnixSeconds),
        long_outage: *random.pick(&LongOutage::ALL),
        join_schemes: *random.pick(&[false, true]),
    }
}

#[test]
fn merging_equals_compiling_at_once() {
    let mut random = Random::new(1);
    let mut changes = [0; 3];
    for dialect in Dialect::ALL.into_iter().chain([&RFC_9309; 15]).chain([&GOOGLE; 10]) {
        let folder = tempfile::tempdir().unwrap();
        let mut paths = archives(folder.path(), &mut random);
        let settle = settling(&mut random);
        // Parts of any archives, in any order.
        paths.sort_by_cached_key(|_| random.below(1_000));
        let at_once = set(&paths, dialect, settle);
        for archives_in_part in [1, 2, 3] {
            let parts = paths.chunks(archives_in_part);
            let parts: Vec<Vec<u8>> = parts.map(|paths| set(paths, dialect, settle)).collect();
            let merged = merged(parts.iter().map(Vec::as_slice));
            assert!(merged == at_once, "{} in {archives_in_part}: {settle:?}", dialect.name);
        }
        portcullis_build::verify(&open(&at_once), &Scratch::in_memory()).unwrap();
        let ingested = ingested(&paths, dialect, settle);
        let hosts = ingested.standings.to_vec().unwrap();
        let all = hosts.iter().flat_map(|host| [&host.http, &host.https]).flatten();
        all.filter_map(|it| it.facts.outage).for_each(|it| changes[it.change as usize] += 1);
    }
    assert!(changes.iter().all(|&count| count > 10), "{changes:?}");
}

#[test]
fn merging_in_two_steps_is_merging_in_one() {
    let mut random = Random::new(2);
    for dialect in [&GOOGLE, &RFC_9309] {
        let folder = tempfile::tempdir().unwrap();
        let paths = archives(folder.path(), &mut random);
        let settle = settling(&mut random);
        let parts: Vec<Vec<u8>> =
            paths.chunks(1).map(|paths| set(paths, dialect, settle)).collect();
        let [one, two, three, four, five, six] = &parts[..] else { panic!("six archives") };
        let first = merged([&one[..], two]);
        let second = merged([&three[..], four, five]);
        let all = merged([&first[..], &second, six]);
        assert!(all == set(&paths, dialect, settle));
    }
}

#[test]
fn a_set_without_inputs_counts_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(folder.path(), &mut Random::new(3));
    let ingested = ingested(&paths[..1], &RFC_9309, SettleConfig::default());
    let silent = open(&compiled(&ingested, "{}"));
    let settled = settled(&silent, &Scratch::in_memory()).unwrap();
    assert_eq!(settled.inputs.len(), 1);
    assert_eq!(settled.inputs[0].name, "a set in memory");
    let hosts = settled.standings.to_vec().unwrap();
    let standing = hosts.iter().flat_map(|host| [host.http, host.https]).flatten();
    assert!(standing.clone().count() > 0);
    assert!(standing.into_iter().all(|standing| standing.facts.input == 0));
}

#[test]
fn a_capture_of_a_missing_input_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(folder.path(), &mut Random::new(4));
    let ingested = ingested(&paths, &RFC_9309, SettleConfig::default());
    let lying = Provenance::of(&ingested.inputs[..1], &ingested.settle).to_json();
    let set = open(&compiled(&ingested, &lying));
    let damage = settled(&set, &Scratch::in_memory()).unwrap_err().to_string();
    assert!(damage.contains("an input that the provenance does not list"), "{damage}");
}

#[test]
fn sets_that_were_compiled_differently_are_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let paths = archives(folder.path(), &mut Random::new(5));
    let plain = SettleConfig::default();
    let time = UnixSeconds(1_720_000_000);
    let dated = SettleConfig { as_of: Some(time), ..plain };
    let lasting = SettleConfig { long_outage: LongOutage::LastGoodCopy, ..plain };
    let compile = |dialect, settle| open(&set(&paths[..1], dialect, settle));
    let first = compile(&RFC_9309, plain);
    let settings = |other: &PolicySet, choice: SettleChoice| config(&[&first, other], choice);
    let unchanged = SettleChoice::default();
    let joining = SettleConfig { join_schemes: true, ..plain };
    for (other, words) in [
        (compile(&GOOGLE, plain), "with ‹dialect› rfc9309, a set in memory with ‹dialect› google"),
        (compile(&RFC_9309, dated), "without ‹as_of›, a set in memory with ‹as_of› 2024-07-03T09:"),
        (compile(&RFC_9309, lasting), "with ‹long_outage› last-good-copy; pass ‹long_outage›"),
        (compile(&RFC_9309, joining), "with ‹join_schemes›; pass ‹join_schemes›"),
    ] {
        let error = settings(&other, unchanged).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let at = SettleChoice { as_of: Some(time), ..unchanged };
    let at = settings(&compile(&RFC_9309, dated), at).unwrap();
    assert_eq!(at.settle, dated);
    let kept = SettleChoice { long_outage: Some(LongOutage::NoChange), ..unchanged };
    let kept = settings(&compile(&RFC_9309, lasting), kept).unwrap();
    assert_eq!(kept.settle, plain);
    let joined = SettleChoice { join_schemes: true, ..unchanged };
    assert_eq!(settings(&first, joined).unwrap().settle, joining);
    let early = SettleChoice { as_of: Some(UnixSeconds(1_710_000_000)), ..unchanged };
    let error = settings(&first, early).unwrap_err().to_string();
    assert!(error.contains("has captures after 2024-03-09T16:"), "{error}");
    assert!(config(&[], unchanged).is_err());
}
