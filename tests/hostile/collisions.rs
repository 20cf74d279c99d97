//! Texts and hosts with equal unseeded hashes: hash tables whose keys come from outside are seeded,
//! so such keys do not collide.

use std::collections::{BTreeSet, HashSet};

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{Fingerprint, IngestConfig, Input, LoadConfig, ingest};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::PolicySet;
use portcullis_set::lists::lists;
use twox_hash::XxHash3_64;

const TEXTS: u32 = 1_000;

/// Returns a robots.txt whose xxh3 hash does not depend on `number`, which is in its first comment.
///
/// For each eight bytes, xxh3 XORs eight bytes of its secret, adds the product of the lower and
/// upper half to one sum, and the bytes themselves to another. If the lower half equals the
/// secret's, the product is 0 and only the sum of the bytes counts; the same position of the next
/// stripe cancels that.
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
    let unseeded: BTreeSet<u64> = texts.iter().map(|text| XxHash3_64::oneshot(text)).collect();
    let seeded: HashSet<Fingerprint> = texts.iter().map(|text| Fingerprint::of(text)).collect();
    assert_eq!((unseeded.len(), seeded.len()), (1, texts.len()));
}

#[test]
fn texts_with_one_unseeded_hash_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..TEXTS {
        // Each text occurs twice.
        let text = text(number / 2 * 2);
        std::fs::write(folder.path().join(format!("host{number}.example")), text).unwrap();
    }
    let config = LoadConfig::new(&RFC_9309);
    let load = || portcullis_build::load(folder.path(), &config).unwrap().set;
    let (set, again) = (load(), load());
    let extract = |number: u32| {
        let text = text(number / 2 * 2);
        let [extract, _] = lists(&RobotsTxt::parse(&text, &RFC_9309, None), &text);
        extract
    };
    let distinct: BTreeSet<Vec<u8>> = (0..TEXTS).map(extract).collect();
    assert_eq!(set.counts().policies, distinct.len() as u64);
    // No output depends on the seed.
    assert_eq!(set.hash(), again.hash());
}

#[test]
fn hosts_that_collide_without_a_seed_are_found() {
    // All in one sixty-fourth of the table, whatever its size.
    let is_chosen = |host: &String| XxHash3_64::oneshot(host.as_bytes()) >> 58 == 17;
    let hosts = (0_u32..).map(|number| format!("h{number}.example")).filter(is_chosen);
    let hosts: Vec<String> = hosts.take(1_500).collect();
    let folder = tempfile::tempdir().unwrap();
    for host in &hosts {
        std::fs::write(folder.path().join(host), "User-agent: *\nDisallow: /\n").unwrap();
    }
    let config = IngestConfig::new(&RFC_9309, None);
    let ingested = ingest(&[Input::new(folder.path())], &config, &()).unwrap();
    let config = CompileConfig::new(&RFC_9309, None);
    let compiled = || compile::to_vec(&ingested.standings, &config).unwrap();
    let bytes = compiled();
    assert!(bytes == compiled());
    let set = PolicySet::from_bytes("a set", bytes).unwrap();
    // Looking up a host, stored or not, fails after a run of `SET_HOST_RUN_LINES_MAX` lines.
    for host in &hosts {
        assert!(set.host(host.as_bytes()).unwrap().is_some(), "{host}");
        assert!(set.host(format!("x{host}").as_bytes()).unwrap().is_none(), "{host}");
    }
}
