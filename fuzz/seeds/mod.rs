//! Seed inputs: every case of `tests/data` and the sample corpus, in the form of each target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_dialect::usage::UsageSource;
use portcullis_robots::syntax::{RobotsTxt, Statement};

use portcullis_testkit::case::{self, Check};

/// The most bytes of a seed file. Longer files slow a fuzzer down and add no coverage.
const ROBOTS_BYTES_MAX: usize = 2 * 1_024;

/// A sitemap with everything that the protocol and XML have.
const SITEMAP: &str = "\u{feff}<?xml version='1.0' encoding=\"UTF-8\"?>\n<!-- <url> -->\
    <s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:i='image' xmlns=''>\n\
    <s:url><s:loc> https://a.example/?a&amp;b&#x26;&#38;\u{fc} </s:loc><s:lastmod>2026</s:lastmod>\
    <i:image><i:loc>x</i:loc></i:image></s:url><s:url/><s:url ><s:loc/><!-- - --></s:url >\n\
    <?x y?><s:url><s:loc>a<![CDATA[<b>&amp;]]]]>\r\n<!-- c -->d</s:loc><loc>y</loc></s:url>\
    <i:uri><loc>z</loc></i:uri></s:urlset>\n<!-- end -->";

/// The distinct seeds of each target, by its name.
#[derive(Default)]
pub struct Seeds(pub BTreeMap<&'static str, BTreeSet<Vec<u8>>>);

impl Seeds {
    /// Reads the seeds from the project at `root`.
    pub fn from_project(root: &Path) -> Seeds {
        let mut seeds = Seeds::default();
        for path in files(&root.join("tests/data")) {
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).expect("a case file is text");
                let checks = case::checks_of(&text);
                let checks = checks.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
                checks.iter().for_each(|check| seeds.add_check(check));
            }
        }
        seeds.add_sitemaps();
        let sample = root.join("corpora/sample");
        let records = std::fs::read(sample.join("urls.txt")).expect("the sample has URLs");
        let records: Vec<&[u8]> = records.split(|&byte| byte == b'\n').collect();
        records.iter().for_each(|record| seeds.add_record(record));
        for path in files(&sample.join("robots")) {
            let robots = std::fs::read(&path).expect("a sample file can be read");
            let host = path.file_name().expect("files have names").as_encoded_bytes();
            let names_host = |record: &&&[u8]| record.windows(host.len()).any(|part| part == host);
            let record = records.iter().find(names_host).copied().unwrap_or(b"/");
            seeds.add_file(&robots, record);
        }
        seeds
    }

    /// Adds a sitemap and an index, truncated at every byte, and the sitemap without each byte.
    fn add_sitemaps(&mut self) {
        let index = SITEMAP.replace("urlset", "sitemapindex").replace("s:url", "s:sitemap");
        for text in [SITEMAP.as_bytes(), index.as_bytes()] {
            self.of("sitemap").extend((0..=text.len()).map(|end| text[..end].to_vec()));
        }
        let text = SITEMAP.as_bytes();
        let without = |at: usize| [&text[..at], &text[at + 1..]].concat();
        self.of("sitemap").extend((0..text.len()).map(without));
    }

    fn of(&mut self, target: &'static str) -> &mut BTreeSet<Vec<u8>> {
        self.0.entry(target).or_default()
    }

    fn add_check(&mut self, check: &Check) {
        self.of("split").insert([dialect(check.dialect), check.url.clone()].concat());
        if check.robots.len() > ROBOTS_BYTES_MAX || check.url.len() > ROBOTS_BYTES_MAX {
            return;
        }
        self.of("parse").insert([&dialect(check.dialect)[..], b"*", &check.robots].concat());
        self.add_decide(check.dialect, &check.agents.join("+"), &check.url, &check.robots);
        self.add_patterns(check.dialect, &check.robots, &check.url);
    }

    fn add_file(&mut self, robots: &[u8], record: &[u8]) {
        let robots = &robots[..robots.len().min(ROBOTS_BYTES_MAX)];
        for known in Dialect::ALL {
            for limit in [b"*", b"P"] {
                self.of("parse").insert([&dialect(known)[..], limit, robots].concat());
            }
            self.add_decide(known, "ExampleBot", record, robots);
            self.add_patterns(known, robots, record);
        }
    }

    fn add_record(&mut self, record: &[u8]) {
        if record.len() <= ROBOTS_BYTES_MAX {
            for known in [Dialect::ALL[0], Dialect::ALL[4]] {
                self.of("split").insert([&dialect(known)[..], record].concat());
            }
        }
    }

    fn add_decide(&mut self, known: &Dialect, agent: &str, url: &[u8], robots: &[u8]) {
        if !url.contains(&b'\n') {
            let head = [&dialect(known)[..], b"*", agent.as_bytes(), b"\n", url, b"\n"].concat();
            let seed = [&head, robots].concat();
            if self.add_values(robots) {
                self.of("usage").insert(seed.clone());
            }
            self.of("decide").insert(seed);
        }
    }

    /// Adds the values of the file's Content-Usage records, truncated at every byte. Returns
    /// whether the file has usage records.
    fn add_values(&mut self, robots: &[u8]) -> bool {
        let file = RobotsTxt::parse(robots, &RFC_9309, None);
        for statement in file.usage_records().iter().filter_map(Statement::of) {
            if statement.source == UsageSource::ContentUsage {
                let text = statement.text;
                self.of("dictionary").extend((0..=text.len()).map(|end| text[..end].to_vec()));
            }
        }
        !file.usage_records().is_empty()
    }

    fn add_patterns(&mut self, known: &'static Dialect, robots: &[u8], url: &[u8]) {
        let after_scheme = url.windows(3).position(|part| part == b"://").map_or(0, |at| at + 3);
        let path = url[after_scheme..].iter().position(|byte| b"/?;#".contains(byte));
        let path = path.map_or(&b""[..], |at| &url[after_scheme + at..]);
        for rule in RobotsTxt::parse(robots, known, None).rules() {
            let parts = [&dialect(known)[..], rule.value, b"\n", path];
            self.of("normalise").insert(parts.concat());
        }
    }
}

/// Returns the byte that selects `known`.
fn dialect(known: &Dialect) -> Vec<u8> {
    let number = Dialect::ALL.iter().position(|dialect| dialect.name == known.name);
    vec![b'0' + number.expect("cases name dialects that exist") as u8]
}

/// Returns the files in `folder`, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the project is whole");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    paths
}
