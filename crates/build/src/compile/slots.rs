//! The host table, which finds hosts by key, and the choice of its seed.
//!
//! Hosts are hashed with a seed, because untrusted parties choose host names. A site with a name
//! for each page could otherwise create one long run of slots, which every search in it walks. The
//! file stores the seed, so every reader uses the same one. Equal content must give an equal file,
//! so the seed cannot be random. It is derived from everything the set knows about its hosts: their
//! keys, and the times and states of their captures. To make names collide, an attacker must know
//! all of this, to the second, before the crawl. An attacker who controls the whole crawl gains
//! nothing: a seed that leaves a long run is replaced by the next one.

use std::hash::Hasher as _;
use std::mem::offset_of;

use twox_hash::XxHash3_64;
use zerocopy::little_endian::U32;
use zerocopy::{FromZeros, IntoBytes};

use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Spool, Table};
use portcullis_set::layout::{HostLine, LINE_SLOTS, SlotLine, is_full, line_of, lines_for};
use portcullis_set::limits::SET_HOST_RUN_LINES_MAX;

use crate::limits::SET_HOST_SEEDS_MAX;

/// The section `slots`, and the seed used to fill it.
#[derive(Debug, PartialEq, Eq)]
pub struct HostSlots {
    pub seed: u64,
    pub lines: Vec<SlotLine>,
}

impl HostSlots {
    /// Builds the table of the hosts in section `hosts`, with the first seed that keeps its runs
    /// short. `None` if none of [`SET_HOST_SEEDS_MAX`] seeds does.
    pub fn new(
        hosts: &Spool,
        count: u64,
        captures: &[&Spool],
        table: &mut Table,
    ) -> Result<Option<HostSlots>, WriteError> {
        table.resize(lines_for(count as usize).saturating_mul(size_of::<SlotLine>()))?;
        let of_captures = hash(captures, 0)?;
        HostSlots::from_seed(hash(&[hosts], of_captures)?, hosts, count)
    }

    fn from_seed(first: u64, hosts: &Spool, count: u64) -> Result<Option<HostSlots>, WriteError> {
        let mut seed = first;
        for _ in 0..SET_HOST_SEEDS_MAX {
            if let Some(lines) = filled(seed, hosts, count)? {
                return Ok(Some(HostSlots { seed, lines }));
            }
            seed = XxHash3_64::oneshot(&seed.to_le_bytes());
        }
        Ok(None)
    }
}

/// Returns the hash of the bytes of all spools, one after another.
fn hash(spools: &[&Spool], seed: u64) -> Result<u64, WriteError> {
    let mut hash = XxHash3_64::with_seed(seed);
    for spool in spools {
        spool.reader().each_piece(|piece| {
            hash.write(piece);
            Ok::<_, WriteError>(())
        })?;
    }
    Ok(hash.finish())
}

/// Fills the lines with this seed. `None` if a run is too long.
fn filled(seed: u64, hosts: &Spool, count: u64) -> Result<Option<Vec<SlotLine>>, WriteError> {
    let count = lines_for(count as usize);
    let mut lines = vec![SlotLine::default(); count];
    let mut reader = hosts.reader();
    let mut host = Vec::new();
    while !reader.is_at_end() {
        let position = (reader.position() / size_of::<HostLine>() as u64) as u32;
        host.resize(1, HostLine::new_zeroed());
        reader.read(host.as_mut_bytes())?;
        let bytes = host[0].key_bytes.get() as usize;
        let more = HostLine::lines(bytes) - 1;
        reader.expect(more * size_of::<HostLine>())?;
        host.resize(1 + more, HostLine::new_zeroed());
        reader.read(host[1..].as_mut_bytes())?;
        let key = &host.as_bytes()[offset_of!(HostLine, key)..][..bytes];
        let (first, tag) = line_of(key, count as u64, seed);
        let mut searched = (first as usize..count).chain(0..first as usize);
        // A host any further from its first line would end a run that is too long.
        let mut near = searched.by_ref().take(SET_HOST_RUN_LINES_MAX + 1);
        let Some(free) = near.find(|&line| !is_full(&lines[line])) else { return Ok(None) };
        let (tags, positions) = lines[free].split_at_mut(LINE_SLOTS);
        let slot = positions.iter().position(|position| position.get() == 0);
        let slot = slot.expect("a line that is not full has a free slot");
        tags[slot] = U32::new(tag);
        positions[slot] = U32::new(position + 1);
    }
    Ok((longest_run(&lines) <= SET_HOST_RUN_LINES_MAX).then_some(lines))
}

/// Returns the length of the longest run of full lines. The first line follows the last.
fn longest_run(lines: &[SlotLine]) -> usize {
    let (mut longest, mut run) = (0, 0);
    for line in lines.iter().chain(lines) {
        run = if is_full(line) { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_set::layout::NONE;

    fn spool(words: &[U32]) -> Spool {
        let mut spool = Spool::default();
        spool.write(words.as_bytes()).unwrap();
        spool
    }

    fn section(keys: &[String]) -> Spool {
        let mut hosts = Vec::new();
        for key in keys {
            let start = hosts.len() + offset_of!(HostLine, key) / 4;
            hosts.extend([key.len() as u32, NONE, NONE, NONE, NONE].map(U32::new));
            let end = hosts.len() - 5 + HostLine::lines(key.len()) * 16;
            hosts.resize(end, U32::ZERO);
            hosts[start..].as_mut_bytes()[..key.len()].copy_from_slice(key.as_bytes());
        }
        spool(&hosts)
    }

    fn table(hosts: &Spool, count: usize, captures: &[U32]) -> HostSlots {
        HostSlots::new(hosts, count as u64, &[&spool(captures)], &mut Table::default())
            .unwrap()
            .unwrap()
    }

    /// Returns keys whose first lines with this seed all fall into one sixty-fourth of a table.
    fn colliding(seed: u64, count: usize) -> Vec<String> {
        let keys = (0_u32..).map(|number| format!("h{number}.example"));
        keys.filter(|key| line_of(key.as_bytes(), 64, seed).0 == 17).take(count).collect()
    }

    #[test]
    fn hosts_that_collide_by_a_seed_take_another() {
        const HOSTS: usize = SET_HOST_RUN_LINES_MAX * LINE_SLOTS + 500;
        for seed in [0, 7] {
            let hosts = section(&colliding(seed, HOSTS));
            assert_eq!(filled(seed, &hosts, HOSTS as u64).unwrap(), None);
            let from_seed = || HostSlots::from_seed(seed, &hosts, HOSTS as u64).unwrap().unwrap();
            assert_eq!(from_seed().seed, XxHash3_64::oneshot(&seed.to_le_bytes()));
            assert_eq!(from_seed(), from_seed());
            let run = longest_run(&from_seed().lines);
            assert!(run < SET_HOST_RUN_LINES_MAX / 2, "{run}");
            // The seed that follows from the content differs from the start.
            let table = table(&hosts, HOSTS, &[]);
            assert!(longest_run(&table.lines) < SET_HOST_RUN_LINES_MAX / 2);
        }
    }

    /// Keys that differ in one byte, in their lengths or in a number have hashes that differ, and
    /// lines and tags as evenly spread as random numbers.
    #[test]
    fn similar_keys_spread() {
        let mut keys: Vec<String> = (0..20_000).map(|it| format!("h{it}.example")).collect();
        keys.extend((0..20_000).map(|it| format!("www.a-long-name-of-a-site-{it}.example.com")));
        for length in 1..=70 {
            for (place, letter) in (0..length).flat_map(|it| [(it, 'b'), (it, 'c'), (it, '.')]) {
                let mut key = "a".repeat(length);
                key.replace_range(place..=place, letter.encode_utf8(&mut [0; 4]));
                keys.push(key);
            }
            keys.push("a".repeat(length));
        }
        // Seeds are hashes, as here.
        for seed in (0_u64..4).map(|number| XxHash3_64::oneshot(&number.to_le_bytes())) {
            let hash = |key: &String| line_of(key.as_bytes(), 1 << 32, seed);
            let mut hashes: Vec<_> = keys.iter().map(hash).collect();
            let mut counts = [[0; 256]; 2];
            for (line, tag) in &hashes {
                counts[0][*line as usize >> 24] += 1;
                counts[1][*tag as usize & 255] += 1;
            }
            let mean = keys.len() / 256;
            let is_near = |count: &usize| count.abs_diff(mean) < mean / 2;
            assert!(counts.as_flattened().iter().all(is_near), "{counts:?}");
            hashes.sort_unstable();
            hashes.dedup();
            assert_eq!(hashes.len(), keys.len());
        }
    }

    #[test]
    fn a_seed_depends_on_every_host_and_capture() {
        let keys = |last: &str| section(&["a.example".to_owned(), last.to_owned()]);
        let seed = |hosts: &Spool, captures: &[U32]| table(hosts, 2, captures).seed;
        let (one, other) = (keys("b.example"), keys("c.example"));
        assert_eq!(seed(&one, &[U32::new(1)]), seed(&one, &[U32::new(1)]));
        assert_ne!(seed(&one, &[U32::new(1)]), seed(&other, &[U32::new(1)]));
        assert_ne!(seed(&one, &[U32::new(1)]), seed(&one, &[U32::new(2)]));
    }

    #[test]
    fn runs_go_on_behind_the_last_line() {
        let table = |full: &[u32]| -> Vec<SlotLine> {
            full.iter().map(|&full| [U32::new(full); 2 * LINE_SLOTS]).collect()
        };
        assert_eq!(longest_run(&table(&[1, 0, 1, 1])), 3);
        assert_eq!(longest_run(&table(&[0, 0])), 0);
        let none = HostSlots::new(&spool(&[]), 0, &[], &mut Table::default()).unwrap();
        assert_eq!(none.unwrap().lines, table(&[0]));
    }
}
