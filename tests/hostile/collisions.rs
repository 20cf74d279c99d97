//! Byte strings whose unseeded xxh3 hashes are equal: hash tables that strangers fill are seeded, so
//! that these do not meet in one place.

use std::collections::BTreeSet;

use portcullis::dialect::RFC_9309;
use portcullis::set::compile::{self, CompileConfig};
use portcullis::set::{BlobPool, IngestConfig, Input, LoadConfig, PolicySet, ingest};
use portcullis::syntax::RobotsTxt;
use xxhash_rust::xxh3::xxh3_64;

const TEXTS: u32 = 1_000;

/// A robots.txt that begins with a comment of bytes that are made so that `number` is lost.
///
/// xxh3 takes eight bytes at a time, XORs them with eight of its secret, and adds the product of the
/// lower and the upper half to one sum and the bytes themselves to another. Where the lower half equals
/// the secret's, the product is 0; then only the sum of the bytes counts, and the same place of the next
/// stripe brings it back to what it was.
fn text(number: u32) -> Vec<u8> {
    const SECRET: [[u8; 4]; 2] = [[0xb8, 0xfe, 0x6c, 0x39], [0x7c, 0x01, 0x81, 0x2c]];
    const STRIPE_BYTES: usize = 64;
    let mut text = vec![b'#'; 5 * STRIPE_BYTES];
    for (stripe, upper) in [number, u32::MAX - number].into_iter().enumerate() {
        let lane = &mut text[stripe * STRIPE_BYTES..][..8];
        lane[..4].copy_from_slice(&SECRET[stripe]);
        lane[4..].copy_from_slice(&upper.to_le_bytes());
    }
    text.extend(b"\nUser-agent: *\nDisallow: /\n");
    text
}

#[test]
fn texts_with_one_unseeded_hash_have_many_seeded_ones() {
    let texts: Vec<Vec<u8>> = (0..TEXTS).map(text).collect();
    let count = |hash: fn(&[u8]) -> u64| {
        texts.iter().map(|text| hash(text)).collect::<BTreeSet<u64>>().len()
    };
    assert_eq!(count(xxh3_64), 1);
    assert_eq!(count(BlobPool::hash), texts.len());
}

#[test]
fn texts_with_one_unseeded_hash_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..TEXTS {
        // Every other text is there twice.
        let text = text(number / 2 * 2);
        std::fs::write(folder.path().join(format!("host{number}.example")), text).unwrap();
    }
    let config = LoadConfig::new(&RFC_9309);
    let load = || PolicySet::load(folder.path(), &config).unwrap().set;
    let (set, again) = (load(), load());
    let extract = |number: u32| {
        let (text, mut extract) = (text(number / 2 * 2), Vec::new());
        RobotsTxt::parse(&text, &RFC_9309, None).write_extract(&text, &mut extract);
        extract
    };
    let distinct: BTreeSet<Vec<u8>> = (0..TEXTS).map(extract).collect();
    assert_eq!(set.counts().policies, distinct.len() as u64);
    // What a seed decides is in no output.
    assert_eq!(set.hash(), again.hash());
}

#[test]
fn hosts_with_one_place_in_a_table_without_a_seed_are_found() {
    // A sixty-fourth of the table, whatever its size.
    let is_chosen = |host: &String| xxh3_64(host.as_bytes()) >> 58 == 17;
    let hosts = (0_u32..).map(|number| format!("h{number}.example")).filter(is_chosen);
    let hosts: Vec<String> = hosts.take(1_500).collect();
    let folder = tempfile::tempdir().unwrap();
    for host in &hosts {
        std::fs::write(folder.path().join(host), "User-agent: *\nDisallow: /\n").unwrap();
    }
    let config = IngestConfig::new(&RFC_9309, None);
    let ingested = ingest(&[Input::new(folder.path())], &config, &()).unwrap();
    let config = CompileConfig::new(&RFC_9309, None);
    let compiled = || compile::to_vec(&ingested.hosts, &ingested.pool, &config).unwrap();
    let bytes = compiled();
    assert!(bytes == compiled());
    let set = PolicySet::of_bytes("a set", bytes).unwrap();
    // A run of more slots than `SET_HOST_RUN_SLOTS_MAX` is damage, for a host that is not there too.
    for host in &hosts {
        assert!(set.host(host.as_bytes()).unwrap().is_some(), "{host}");
        assert!(set.host(format!("x{host}").as_bytes()).unwrap().is_none(), "{host}");
    }
}
