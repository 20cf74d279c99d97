//! A made-up corpus of robots.txt files and URLs, of any size, the same for a seed on any machine.
//!
//! Owns what `portcullis synth` writes: for benchmarks and tests that must not depend on anybody's
//! data. It is drawn like the web that was measured: file sizes, rules and groups per file, the
//! share of rules with wildcards, of files that equal another, of line ends and byte order marks,
//! and hosts that get most of the URLs. All hosts stand below `.example` (RFC 2606), so that no real
//! one is named. For questions about a real site, use its real file.
//!
//! Every host and every URL has its own stream of random numbers, found from the seed and its
//! position alone: nothing is kept in memory, a million hosts stream, and the first thousand URLs of
//! a long list are the whole of a short one. All arithmetic is on integers, because the mathematical
//! functions of floating point may differ from one platform to the next.
//!
//! Cost: some microseconds a file, half a microsecond a URL. Only writing can fail.
//!
//! ```
//! use portcullis::synth::Corpus;
//!
//! let corpus = Corpus::new(42, 1_000);
//! let mut robots = Vec::new();
//! corpus.write_robots(7, &mut robots);
//! assert!(!robots.is_empty());
//!
//! let mut url = Vec::new();
//! corpus.write_url(0, &mut url);
//! assert!(url.starts_with(b"http"));
//! ```

mod draw;
mod random;
mod robots;
mod site;
mod urls;
mod words;

use self::random::{Purpose, SplitMix64};
use self::site::Site;

/// Files in ten thousand that equal another file.
const SHARED_PER_TEN_THOUSAND: u64 = 5_200;
/// Hosts for each file that is shared, so that every shared file is likely to have several users.
const HOSTS_PER_SHARED_FILE: u64 = 16;

/// A corpus: a seed and a number of hosts.
///
/// It holds no text; each file and each URL is made when asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corpus {
    seed: u64,
    hosts: u64,
}

impl Corpus {
    /// The corpus of `hosts` hosts (at least one) that `seed` gives.
    pub fn new(seed: u64, hosts: u64) -> Corpus {
        Corpus { seed, hosts: hosts.max(1) }
    }

    /// The number of hosts.
    pub fn hosts(&self) -> u64 {
        self.hosts
    }

    /// The name of a host, which is also the name of its file.
    ///
    /// No two positions give the same name.
    pub fn host(&self, host: u64) -> String {
        words::host_name(self.stream(Purpose::Host, host), host)
    }

    /// Appends the robots.txt of a host to `out`.
    pub fn write_robots(&self, host: u64, out: &mut Vec<u8>) {
        let content = self.content(host);
        let site = Site::new(self.stream(Purpose::Site, content));
        robots::write(self.stream(Purpose::Robots, content), site, out);
    }

    /// Appends a URL of the list, without a line end, to `out`.
    pub fn write_url(&self, position: u64, out: &mut Vec<u8>) {
        let mut random = self.stream(Purpose::Url, position);
        let host = self.draw_host(&mut random);
        let site = Site::new(self.stream(Purpose::Site, self.content(host)));
        urls::write(random, &self.host(host), site, out);
    }

    /// Which file a host has. Hosts that share one have the same number.
    fn content(&self, host: u64) -> u64 {
        let mut random = self.stream(Purpose::Content, host);
        if random.chance(SHARED_PER_TEN_THOUSAND) {
            let shared_files = self.hosts / HOSTS_PER_SHARED_FILE + 1;
            // Above every host's own number.
            self.hosts + random.below(shared_files)
        } else {
            host
        }
    }

    /// A host, some far more often than others: the chance falls with the position, as it does in a
    /// crawl, where one host has a tenth of the URLs and the median host one.
    fn draw_host(&self, random: &mut SplitMix64) -> u64 {
        let magnitudes = u64::from(self.hosts.ilog2()) + 1;
        let ceiling = 1 << random.below(magnitudes + 1).min(63);
        random.below(self.hosts.min(ceiling))
    }

    fn stream(&self, purpose: Purpose, position: u64) -> SplitMix64 {
        SplitMix64::stream(self.seed, purpose, position)
    }
}

#[cfg(test)]
mod tests;
