//! What is known of the files, whatever URLs are asked about.
//!
//! A file is counted for each host that has it, since that is how often it was fetched; one that
//! speaks for http and https of a host is counted once.

use serde::{Deserialize, Serialize};

use super::List;

/// The files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFigures {
    /// Files.
    pub files: u64,
    /// Their bytes, as far as they are kept.
    pub bytes: Distribution,
    /// The longest, the longest first.
    pub longest: List<FileRow>,
    /// Groups of a file.
    pub groups: Distribution,
    /// Rules of a group, over all groups of all files.
    pub rules_of_group: Distribution,
    /// Rules of a file.
    pub rules: Distribution,
    /// The files with the most rules.
    pub most_rules: List<FileRow>,
    /// Files that disallow every URL to robots that they do not name.
    pub closed: u64,
}

/// A file that stands out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// The host.
    pub host: String,
    /// Bytes of the file, as far as they are kept.
    pub bytes: u64,
    /// Its groups.
    pub groups: u64,
    /// Its rules.
    pub rules: u64,
}

/// How a number is distributed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many numbers there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The smallest; 0 if there is none.
    pub min: u64,
    /// The smallest that at least half of the numbers do not exceed.
    pub p50: u64,
    /// The same for nine tenths.
    pub p90: u64,
    /// The same for 99 of 100.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// The numbers by power of two: 0, 1, 2 to 3, 4 to 7, …; from the first to the last that has
    /// any, those between also if they are empty.
    pub bins: Vec<Bin>,
}

/// The numbers within two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// The smallest number that counts.
    pub from: u64,
    /// The largest.
    pub to: u64,
    /// How many there are.
    pub count: u64,
}

/// How common an oddity of files is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteCount {
    /// Its name for machines: `unknown-field`, `rule-outside-group`, ….
    pub kind: String,
    /// What it is and how to fix it, for people.
    pub meaning: String,
    /// Files that have it.
    pub files: u64,
    /// The first hosts by name of those.
    pub examples: Vec<String>,
}

/// Crawl-delays. They decide nothing; a crawler may keep to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlDelays {
    /// Files with a crawl-delay.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Lines whose value is no number of seconds.
    pub malformed: u64,
    /// The numbers, in seconds, rounded up to whole ones.
    pub seconds: Distribution,
    /// The longest delays.
    pub longest: List<CrawlDelayRow>,
}

/// A crawl-delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlDelayRow {
    /// The host.
    pub host: String,
    /// The line.
    pub line: u32,
    /// The value as it stands in the file.
    pub value: String,
    /// The user-agent line before it that it probably means; nothing if there is none.
    pub group: Option<String>,
}

/// Sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitemaps {
    /// Files that name a sitemap.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Lines whose value is no absolute URL.
    pub malformed: u64,
    /// Lines whose sitemap is on another host.
    pub elsewhere: u64,
    /// The sitemaps of a file, over the files that name one.
    pub of_file: Distribution,
    /// The files that name the most, the most first.
    pub most: List<SitemapRow>,
}

/// A file that names sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SitemapRow {
    /// The host.
    pub host: String,
    /// Sitemaps.
    pub sitemaps: u64,
    /// The first of them.
    pub first: String,
}
