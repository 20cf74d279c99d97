//! A synthetic corpus of robots.txt files and URLs of any size, the same for a seed on any machine.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! This crate generates the output of `portcullis-bench synth`, for benchmarks and tests that must not
//! depend on private data. The corpus follows distributions measured on the web: sizes of files and
//! groups, line ends and byte order marks, rules with wildcards, hosts with most of the URLs, and
//! the text that files share:
//!
//! - Most hosts have the file of a template and differ at most in a sitemap's line.
//! - A few templates have half of all hosts.
//! - Rules come from platforms and from a common stock of patterns.
//! - Named crawlers have a long tail.
//! - On request, every host has a history of several captures.
//!
//! All hosts are below `.example` (RFC 2606), so no real host is named. For verdicts on a real
//! site, use its real file.
//!
//! Every host, URL, template and pattern has its own stream of random numbers, derived from the
//! seed and its position only. So nothing is kept in memory, and the first thousand files of a
//! large corpus are the whole of a small one. (Its URLs differ, because they are spread over all
//! hosts.) All arithmetic uses integers, because floating-point functions differ between platforms.
//!
//! Cost: a few microseconds per file, a third of a microsecond per URL. Only
//! [`Corpus::write_files`] can fail.
//!
//! ```
//! use portcullis_synth::Corpus;
//!
//! let corpus = Corpus::new(42, 1_000);
//! assert!(!corpus.robots(7).is_empty());
//! assert!(corpus.url(0).starts_with("http"));
//! ```

mod archive;
mod draw;
mod files;
mod history;
mod layout;
mod patterns;
pub mod random;
mod robots;
mod site;
mod words;

pub use self::archive::ArchiveFormat;

use self::history::Version;
use self::layout::Layout;
use self::random::{Purpose, SplitMix64};
use self::site::Site;

/// The share of hosts with https URLs, per ten thousand.
const HTTPS: u64 = 8_800;

/// The maximum number of captures of a host.
const CAPTURES_MAX: u64 = 1_000;

/// The distance between the positions of a host's layouts.
const REDESIGN: u64 = 1 << 50;

/// A corpus: a seed and a number of hosts.
///
/// It stores no text: each file and each URL is generated on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corpus {
    seed: u64,
    hosts: u64,
    captures: u64,
}

impl Corpus {
    /// Creates the corpus of `hosts` hosts (at least one) for `seed`.
    pub fn new(seed: u64, hosts: u64) -> Corpus {
        Corpus { seed, hosts: hosts.max(1), captures: 1 }
    }

    /// Gives every host a history: `captures` (1 to 1,000) over five years, whose archive shows
    /// changed files, outages and missing files. One capture, the default, is no history.
    ///
    /// The first file of a host and all URLs stay the same.
    #[must_use]
    pub fn with_captures(self, captures: u64) -> Corpus {
        Corpus { captures: captures.clamp(1, CAPTURES_MAX), ..self }
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> u64 {
        self.hosts
    }

    /// Returns the name of a host, which is also the name of its file.
    ///
    /// Names are unique.
    pub fn host(&self, host: u64) -> String {
        words::host(self.stream(Purpose::Host, host), host)
    }

    /// Returns the robots.txt of a host, the first one of its history.
    pub fn robots(&self, host: u64) -> String {
        self.version(host, Version::default())
    }

    fn version(&self, host: u64, version: Version) -> String {
        // Each redesign has a position of its own, after all first files.
        let layout = self.layout(host + version.redesigns * REDESIGN);
        let mut random = self.stream(Purpose::Edits, host);
        let site = Site::from_layout(self.seed, layout);
        let edit = |_| {
            let mut section = String::new();
            site.write_section(&mut random, &mut section);
            section
        };
        let edits: Vec<String> = (0..version.edits).map(edit).collect();
        let sitemaps = self.stream(Purpose::Sitemaps, host);
        robots::file(self.seed, layout, (&self.host(host), &edits, sitemaps))
    }

    /// Returns a URL of the list.
    pub fn url(&self, position: u64) -> String {
        let mut random = self.stream(Purpose::Url, position);
        let host = self.draw_host(&mut random);
        let mut url = String::with_capacity(128);
        url.push_str(&self.origin(host));
        let layouts = [self.layout(host), Layout::COMMON];
        let sites = layouts.map(|layout| Site::from_layout(self.seed, layout));
        site::write_url(random, sites, &mut url);
        url
    }

    /// Returns the time of a URL of the list: RFC 3339, within the years of the histories.
    pub fn url_time(&self, position: u64) -> String {
        archive::rfc3339(history::draw_time(&mut self.stream(Purpose::UrlTime, position)))
    }

    /// Returns the origin of a host's URLs (`https://www.small-lake-7.example`).
    pub fn origin(&self, host: u64) -> String {
        let has_https = self.stream(Purpose::Scheme, host).chance(HTTPS);
        [if has_https { "https://" } else { "http://" }, &self.host(host)].concat()
    }

    fn layout(&self, host: u64) -> Layout {
        Layout::from_host(self.stream(Purpose::Layout, host), host)
    }

    /// Draws a host. The probability falls with the position, as in a crawl, where one host has a
    /// tenth of the URLs and the median host has one.
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
