//! The host table, which finds hosts by key, and the choice of its seed.
//!
//! Hosts are hashed with a seed, because untrusted parties choose host names. A site with a name
//! for each page could otherwise create one long run of slots, which every search in it walks. The
//! file stores the seed, so every reader uses the same one. Equal content must give an equal file,
//! so the seed cannot be random. It is derived from everything the set knows about its hosts: their
//! keys, and the times and states of their captures. To make names collide, an attacker must know
//! all of this, to the second, before the crawl. An attacker who controls the whole crawl gains
//! nothing: a seed that leaves a long run is replaced by the next one.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::super::layout::{LINE_SLOTS, SlotLine, host, line_of, lines_for};
use super::intern::position;
use portcullis_dialect::limits::{SET_HOST_RUN_LINES_MAX, SET_HOST_SEEDS_MAX};

/// The section `slots`, and the seed used to fill it.
#[derive(Debug, PartialEq, Eq)]
pub struct HostSlots {
    pub seed: u64,
    pub lines: Vec<SlotLine>,
}

impl HostSlots {
    /// Builds the table of the hosts in section `hosts`, with the first seed that keeps its runs
    /// short. `None` if none of [`SET_HOST_SEEDS_MAX`] seeds does.
    ///
    /// # Panics
    ///
    /// If a host reaches beyond the section.
    pub fn new(hosts: &[U32], captures: &[u8]) -> Option<HostSlots> {
        let first = xxh3_64_with_seed(hosts.as_bytes(), xxh3_64(captures));
        HostSlots::from_seed(first, hosts)
    }

    fn from_seed(first: u64, hosts: &[U32]) -> Option<HostSlots> {
        let positions = positions(hosts);
        let seeds = std::iter::successors(Some(first), |seed| Some(xxh3_64(&seed.to_le_bytes())));
        seeds.take(SET_HOST_SEEDS_MAX).find_map(|seed| {
            let lines = filled(seed, hosts, &positions)?;
            Some(HostSlots { seed, lines })
        })
    }
}

/// Returns the position of each host.
fn positions(hosts: &[U32]) -> Vec<u32> {
    let mut positions = Vec::new();
    let mut next = 0;
    while next < hosts.len() {
        positions.push(position(&hosts[..next]));
        next += host::HEAD_WORDS + (hosts[next + host::KEY_BYTES].get() as usize).div_ceil(4);
    }
    positions
}

/// Fills the lines with this seed. `None` if a run is too long.
fn filled(seed: u64, hosts: &[U32], positions: &[u32]) -> Option<Vec<SlotLine>> {
    let count = lines_for(positions.len());
    let mut lines = vec![SlotLine::default(); count];
    for &position in positions {
        let head = &hosts[position as usize..];
        let key = &head[host::HEAD_WORDS..].as_bytes()[..head[host::KEY_BYTES].get() as usize];
        let (first, tag) = line_of(key, count as u64, seed);
        let mut searched = (first as usize..count).chain(0..first as usize);
        // A host any further from its first line would end a run that is too long.
        let mut near = searched.by_ref().take(SET_HOST_RUN_LINES_MAX + 1);
        let free = near.find(|&line| !is_full(&lines[line]))?;
        let (tags, positions) = lines[free].split_at_mut(LINE_SLOTS);
        let slot = positions.iter().position(|position| position.get() == 0)?;
        tags[slot] = U32::new(tag);
        positions[slot] = U32::new(position + 1);
    }
    (longest_run(&lines) <= SET_HOST_RUN_LINES_MAX).then_some(lines)
}

/// Returns whether a search continues after this line. The slots of a line are taken in order.
fn is_full(line: &SlotLine) -> bool {
    line[2 * LINE_SLOTS - 1].get() != 0
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
    use crate::layout::NONE;

    fn section(keys: &[String]) -> Vec<U32> {
        let mut hosts = Vec::new();
        for key in keys {
            let mut bytes = key.clone().into_bytes();
            bytes.resize(key.len().next_multiple_of(4), 0);
            hosts.extend([key.len() as u32, NONE, NONE, NONE, NONE].map(U32::new));
            hosts.extend(bytes.chunks(4).map(|word| U32::from_bytes(word.try_into().unwrap())));
        }
        hosts
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
            let positions = positions(&hosts);
            assert_eq!(positions.len(), HOSTS);
            assert_eq!(filled(seed, &hosts, &positions), None);
            let table = HostSlots::from_seed(seed, &hosts).unwrap();
            assert_eq!(table.seed, xxh3_64(&seed.to_le_bytes()));
            assert_eq!(HostSlots::from_seed(seed, &hosts).unwrap(), table);
            let run = longest_run(&table.lines);
            assert!(run < SET_HOST_RUN_LINES_MAX / 2, "{run}");
            // The seed that follows from the content differs from the start.
            let table = HostSlots::new(&hosts, &[]).unwrap();
            assert!(longest_run(&table.lines) < SET_HOST_RUN_LINES_MAX / 2);
        }
    }

    #[test]
    fn a_seed_depends_on_every_host_and_capture() {
        let keys = |last: &str| section(&["a.example".to_owned(), last.to_owned()]);
        let seed = |hosts: &[U32], captures: &[U32]| {
            HostSlots::new(hosts, captures.as_bytes()).unwrap().seed
        };
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
        assert_eq!(HostSlots::new(&[], &[]).unwrap().lines, table(&[0]));
    }
}
