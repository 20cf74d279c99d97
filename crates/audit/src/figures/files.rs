//! Figures about files: sizes, oddities, crawl-delays and sitemaps.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::policies::Sizes;
use super::{largest, shown};
use crate::catalog::Catalog;
use crate::model::{
    Bin, CrawlDelayRow, CrawlDelays, Distribution, FileFigures, FileRow, List, NoteCount,
    SitemapRow, Sitemaps,
};
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_dialect::limits::AUDIT_SAMPLES;
use portcullis_engine::automaton::Reach;
use portcullis_robots::syntax::{Content, NoteKind, NoteSet, records};
use portcullis_robots::url::{host_key, split};
use portcullis_set::Damage;
use portcullis_set::stored::StoredCapture;

/// The field of a crawl-delay. No dialect defines it, but many files use it.
const CRAWL_DELAY: &[u8] = b"crawl-delay";

/// The findings over all files.
pub(super) struct Files {
    pub figures: FileFigures,
    pub notes: Vec<NoteCount>,
    pub crawl_delays: CrawlDelays,
    pub sitemaps: Sitemaps,
}

/// Computes the figures about files, with at most `top` rows per list.
pub(super) fn of(catalog: &Catalog, sizes: &[Sizes], top: usize) -> Result<Files, Damage> {
    let (files, others) = read(catalog)?;
    Ok(Files {
        figures: figures(&files, sizes, top),
        notes: notes(&files),
        crawl_delays: crawl_delays(catalog, &files, &others, top)?,
        sitemaps: sitemaps(&files, &others, top),
    })
}

/// A file of a host.
#[derive(Clone, Copy)]
struct File<'s> {
    /// The key of the host.
    host: &'s [u8],
    policy: usize,
    bytes: u64,
    notes: NoteSet,
    /// The position of the file's other records.
    others: usize,
}

/// The reported records of a file that do not affect verdicts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Others {
    delays: Vec<Delay>,
    sitemaps: Vec<Sitemap>,
}

#[derive(Debug, PartialEq, Eq)]
struct Delay {
    line: u32,
    value: Box<[u8]>,
    /// The delay, rounded up. `None` if the value is not a number of seconds.
    seconds: Option<u64>,
}

#[derive(Debug, PartialEq, Eq)]
struct Sitemap {
    value: Box<[u8]>,
    /// The key of the sitemap's host. `None` if the value is not an absolute URL.
    key: Option<Box<[u8]>>,
}

/// Returns all files in the order of their hosts, and their other records. Identical lists of
/// records are read once.
fn read(catalog: &Catalog) -> Result<(Vec<File<'_>>, Vec<Others>), Damage> {
    let set = &catalog.set;
    let mut files = Vec::new();
    // The first entry is for files without other records.
    let mut others = vec![Others::default()];
    let mut known: HashMap<u32, usize, foldhash::fast::RandomState> = HashMap::default();
    for host in set.hosts() {
        let host = host?;
        let has_file = |policy: usize| catalog.policies.get(policy).is_some_and(|it| it.has_file());
        let mut is_first = true;
        for https in host.schemes() {
            let Some(policy) = host.policy(https).map(|number| number.index()) else { continue };
            if !has_file(policy) || (!is_first && host.is_one_capture()) {
                continue;
            }
            is_first = false;
            let capture: StoredCapture<'_> =
                host.capture(https)?.ok_or_else(|| catalog.misfiled())?;
            let place = match capture.others() {
                None => 0,
                Some(at) => match known.get(&at) {
                    Some(&place) => place,
                    None => {
                        let mut read = Others::default();
                        for record in set.other_records_at(at)? {
                            read.add_text(&record.text, record.line.get(), set.dialect());
                        }
                        known.insert(at, others.len());
                        others.push(read);
                        others.len() - 1
                    }
                },
            };
            let (bytes, notes) = (capture.facts.file_bytes.into(), capture.facts.file_notes);
            files.push(File { host: host.key(), policy, bytes, notes, others: place });
        }
    }
    Ok((files, others))
}

fn figures(files: &[File<'_>], sizes: &[Sizes], top: usize) -> FileFigures {
    let [mut bytes, mut groups, mut rules_of_group, mut rules] =
        [(); 4].map(|()| Numbers::default());
    let mut closed = 0;
    for file in files {
        let sizes = &sizes[file.policy];
        bytes.add(file.bytes);
        groups.add(sizes.groups.len() as u64);
        rules.add(sizes.rules());
        sizes.groups.iter().for_each(|&rules| rules_of_group.add(rules.into()));
        closed += u64::from(sizes.default == Some(Some(Reach::Nothing)));
    }
    let list = |key: &dyn Fn(&File<'_>) -> u64| {
        let rows = largest(files.iter().copied(), top, |file| (key(file), Reverse(file.host)));
        let row = |file: File<'_>| FileRow {
            host: shown(file.host),
            bytes: file.bytes,
            groups: sizes[file.policy].groups.len() as u64,
            rules: sizes[file.policy].rules(),
        };
        List { total: files.len() as u64, rows: rows.into_iter().map(row).collect() }
    };
    FileFigures {
        files: files.len() as u64,
        longest: list(&|file| file.bytes),
        most_rules: list(&|file| sizes[file.policy].rules()),
        bytes: bytes.distribution(),
        groups: groups.distribution(),
        rules_of_group: rules_of_group.distribution(),
        rules: rules.distribution(),
        closed,
    }
}

fn notes(files: &[File<'_>]) -> Vec<NoteCount> {
    let mut counts = NoteKind::ALL.map(|kind| NoteCount {
        kind: kind.as_str(),
        meaning: kind.describe(),
        ..NoteCount::default()
    });
    for file in files {
        for kind in file.notes.kinds() {
            let count = &mut counts[kind as usize];
            count.files += 1;
            if count.examples.len() < AUDIT_SAMPLES {
                count.examples.push(shown(file.host));
            }
        }
    }
    let mut counts: Vec<NoteCount> = counts.into_iter().filter(|count| count.files > 0).collect();
    counts.sort_by_key(|count| Reverse(count.files));
    counts
}

fn crawl_delays(
    catalog: &Catalog,
    files: &[File<'_>],
    others: &[Others],
    top: usize,
) -> Result<CrawlDelays, Damage> {
    let lines =
        files.iter().flat_map(|file| others[file.others].delays.iter().map(move |it| (file, it)));
    let mut seconds = Numbers::default();
    lines.clone().filter_map(|(_, delay)| delay.seconds).for_each(|number| seconds.add(number));
    let longest =
        largest(lines.clone().filter(|it| it.1.seconds.is_some()), top, |(file, delay)| {
            (delay.seconds, Reverse((file.host, delay.line)))
        });
    // The author meant the delay for the user-agent line before it.
    let row = |(file, delay): (&File<'_>, &Delay)| {
        let group = catalog.with_file(file.policy, |text| {
            let mut before = text.user_agents().iter().rev();
            let last = before.find(|user_agent| user_agent.line.get() < delay.line);
            last.map(|user_agent| shown(user_agent.value))
        })?;
        let (host, value) = (shown(file.host), shown(&delay.value));
        Ok(CrawlDelayRow { host, line: delay.line, value, group })
    };
    let seconds = seconds.distribution();
    let count = lines.count() as u64;
    Ok(CrawlDelays {
        files: files.iter().filter(|it| !others[it.others].delays.is_empty()).count() as u64,
        lines: count,
        malformed: count - seconds.count,
        longest: List {
            total: seconds.count,
            rows: longest.into_iter().map(row).collect::<Result<_, _>>()?,
        },
        seconds,
    })
}

fn sitemaps(files: &[File<'_>], others: &[Others], top: usize) -> Sitemaps {
    let naming = files.iter().map(|file| (file, &others[file.others].sitemaps));
    let naming = naming.filter(|(_, sitemaps)| !sitemaps.is_empty());
    let mut found = Sitemaps::default();
    let mut of_file = Numbers::default();
    for (file, sitemaps) in naming.clone() {
        found.files += 1;
        found.lines += sitemaps.len() as u64;
        of_file.add(sitemaps.len() as u64);
        for sitemap in sitemaps {
            match &sitemap.key {
                None => found.malformed += 1,
                Some(key) => found.elsewhere += u64::from(**key != *file.host),
            }
        }
    }
    let most = largest(naming, top, |(file, sitemaps)| (sitemaps.len(), Reverse(file.host)));
    let row = |(file, sitemaps): (&File<'_>, &Vec<Sitemap>)| SitemapRow {
        host: shown(file.host),
        sitemaps: sitemaps.len() as u64,
        first: shown(&sitemaps[0].value),
    };
    found.of_file = of_file.distribution();
    found.most = List { total: found.files, rows: most.into_iter().map(row).collect() };
    found
}

impl Others {
    /// Adds a record if it is reported.
    fn add(
        &mut self,
        field: Option<Field>,
        name: &[u8],
        value: &[u8],
        line: u32,
        dialect: &Dialect,
    ) {
        if field == Some(Field::Sitemap) {
            self.sitemaps.push(Sitemap { value: value.into(), key: key_of(value, dialect) });
        } else if name.eq_ignore_ascii_case(CRAWL_DELAY) {
            self.delays.push(Delay { line, value: value.into(), seconds: seconds(value) });
        }
    }

    /// Adds a record in the form in which a set stores it.
    fn add_text(&mut self, text: &[u8], line: u32, dialect: &Dialect) {
        // A line is put before the record, because U+FEFF is a byte order mark on the first line
        // only.
        let text = [b"\n", text].concat();
        if let Some(Content::Record(record)) =
            records(&text, dialect, None).nth(1).map(|line| line.content)
        {
            self.add(record.field, record.name, record.value, line, dialect);
        }
    }
}

/// Returns the key of a URL's host, or `None` if the URL is not absolute.
fn key_of(url: &[u8], dialect: &Dialect) -> Option<Box<[u8]>> {
    let url = split(url, dialect.paths.path_start).ok()?;
    let mut scratch = Vec::new();
    host_key(&url, &mut scratch).ok().map(Into::into)
}

/// Parses the seconds of a crawl-delay: digits, with at most one point.
fn seconds(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = if is_number { text.parse::<f64>().ok()? } else { return None };
    // The conversion saturates.
    Some(number.ceil() as u64)
}

/// Numbers and the frequency of each.
#[derive(Default)]
struct Numbers(BTreeMap<u64, u64>);

impl Numbers {
    fn add(&mut self, number: u64) {
        *self.0.entry(number).or_default() += 1;
    }

    fn distribution(&self) -> Distribution {
        let count = self.0.values().sum::<u64>();
        let products = self.0.iter().map(|(number, times)| number.saturating_mul(*times));
        let percentile = |hundredths: u128| {
            let rank = (u128::from(count) * hundredths).div_ceil(100);
            let mut seen = 0;
            let reached = self.0.iter().find(|(_, times)| {
                seen += u128::from(**times);
                seen >= rank
            });
            reached.map_or(0, |(number, _)| *number)
        };
        Distribution {
            count,
            sum: products.fold(0, u64::saturating_add),
            min: self.0.keys().next().copied().unwrap_or(0),
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max: self.0.keys().next_back().copied().unwrap_or(0),
            bins: self.bins(),
        }
    }

    fn bins(&self) -> Vec<Bin> {
        // The bin of 0 comes first, then the bins from each power of two to below the next.
        let bin_of = |number: u64| number.checked_ilog2().map_or(0, |log| log as usize + 1);
        let mut bins: Vec<Bin> = (0..=64)
            .map(|bin| match bin {
                0 => Bin::default(),
                bin => Bin { from: 1 << (bin - 1), to: u64::MAX >> (64 - bin), count: 0 },
            })
            .collect();
        for (&number, &times) in &self.0 {
            bins[bin_of(number)].count += times;
        }
        let (Some(min), Some(max)) = (self.0.keys().next(), self.0.keys().next_back()) else {
            return Vec::new();
        };
        bins[bin_of(*min)..=bin_of(*max)].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{GOOGLE, RFC_9309};
    use portcullis_robots::syntax::RobotsTxt;

    fn of(numbers: &[(u64, u64)]) -> Distribution {
        Numbers(numbers.iter().copied().collect()).distribution()
    }

    #[test]
    fn bins_are_powers_of_two_without_gaps() {
        let bins = of(&[(0, 2), (1, 1), (3, 1), (2, 1), (9, 4), (u64::MAX, 1)]).bins;
        let found: Vec<_> = bins.iter().map(|bin| (bin.from, bin.to, bin.count)).collect();
        assert_eq!(found[..5], [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 0), (8, 15, 4)]);
        assert_eq!(found.last(), Some(&(1 << 63, u64::MAX, 1)));
        assert_eq!(found.len(), 65);
        assert_eq!(of(&[(5, 1)]).bins, [Bin { from: 4, to: 7, count: 1 }]);
        assert_eq!(of(&[]), Distribution::default());
    }

    #[test]
    fn percentiles_are_numbers_that_occur() {
        let found = of(&[(1, 50), (2, 39), (7, 10), (100, 1)]);
        assert_eq!((found.count, found.sum), (100, 50 + 78 + 70 + 100));
        assert_eq!((found.min, found.p50, found.p90, found.p99, found.max), (1, 1, 7, 7, 100));
        let found = of(&[(3, 1)]);
        assert_eq!((found.min, found.p50, found.p99, found.max), (3, 3, 3, 3));
    }

    #[test]
    fn crawl_delays_are_numbers_of_seconds() {
        for (value, expected) in
            [("10", Some(10)), ("0", Some(0)), ("0.5", Some(1)), ("1.", Some(1))]
        {
            assert_eq!(seconds(value.as_bytes()), expected, "{value}");
        }
        for value in [".", "", "-1", "1e3", "10 seconds"] {
            assert_eq!(seconds(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn a_stored_record_means_what_it_means_in_its_file() {
        let text = b"Crawl-Delay : 5 # c\nSITEMAP: https://A.example:443/s.xml\nsitemap: /s\n\
            site-map: https://b.example/\nfoo: 1\n";
        for dialect in [&RFC_9309, &GOOGLE] {
            let file = RobotsTxt::parse(text, dialect, None);
            let (mut whole, mut alone) = (Others::default(), Others::default());
            for record in file.other_records() {
                let line = record.line.get();
                whole.add(record.field, record.name, record.value, line, dialect);
                alone.add_text(&text[record.span.range()], line, dialect);
            }
            assert_eq!(whole, alone, "{}", dialect.name);
            assert_eq!(whole.delays[0].seconds, Some(5));
            assert_eq!(whole.sitemaps[0].key.as_deref(), Some(&b"a.example"[..]));
            assert_eq!(whole.sitemaps[1].key, None);
        }
    }
}
