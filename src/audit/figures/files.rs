//! The files: how large they are, what is odd about them, and their crawl-delays and sitemaps.

use std::cmp::Reverse;

use super::distribution::Numbers;
use super::policies::Sizes;
use super::{host_name, shown};
use crate::audit::library::{File, Library};
use crate::audit::model::List;
use crate::audit::model::files::{
    CrawlDelayRow, CrawlDelays, FileFigures, FileRow, NoteCount, SitemapRow, Sitemaps,
};
use crate::automaton::Reach;
use crate::id::LineNumber;
use crate::limits::AUDIT_SAMPLES;
use crate::set::Damage;
use crate::set::survey::largest;
use crate::syntax::{NoteKind, RobotsTxt};

/// What going over the files finds.
pub(super) struct Files {
    pub figures: FileFigures,
    pub notes: Vec<NoteCount>,
    pub crawl_delays: CrawlDelays,
    pub sitemaps: Sitemaps,
}

/// A file, whose it is, and its policy.
#[derive(Clone, Copy)]
struct Held {
    host: u32,
    policy: u32,
    file: File,
}

impl Files {
    pub(super) fn of(library: &Library, sizes: &[Sizes], top: usize) -> Result<Files, Damage> {
        Ok(Files {
            figures: figures(library, sizes, top),
            notes: notes(library),
            crawl_delays: crawl_delays(library, top)?,
            sitemaps: sitemaps(library, top),
        })
    }
}

/// All files, in the order of their hosts.
fn files<'l>(library: &'l Library) -> impl Iterator<Item = Held> + Clone + use<'l> {
    (0..).zip(&library.hosts).flat_map(move |(number, host)| {
        host.policies.into_iter().zip(host.files).filter_map(move |(policy, file)| {
            let file = *library.files.get(file as usize)?;
            Some(Held { host: number, policy, file })
        })
    })
}

fn figures(library: &Library, sizes: &[Sizes], top: usize) -> FileFigures {
    let [mut bytes, mut groups, mut rules_of_group, mut rules] =
        [(); 4].map(|()| Numbers::default());
    let mut closed = 0;
    // By policy: files that have it.
    let mut times = vec![0; library.policies.len()];
    for held in files(library) {
        bytes.add(held.file.bytes, 1);
        times[held.policy as usize] += 1;
    }
    for (sizes, &times) in sizes.iter().zip(&times) {
        groups.add(sizes.groups.len() as u64, times);
        rules.add(rules_of(sizes), times);
        sizes.groups.iter().for_each(|&rules| rules_of_group.add(rules.into(), times));
        if sizes.default == Some(Some(Reach::Nothing)) {
            closed += times;
        }
    }
    let count = bytes.distribution().count;
    let list = |key: &dyn Fn(&Held) -> u64| {
        let rows = largest(files(library), top, |held| (key(held), Reverse(held.host)));
        let row = |held: Held| file_row(library, &sizes[held.policy as usize], &held);
        List { total: count, rows: rows.into_iter().map(row).collect() }
    };
    FileFigures {
        files: count,
        longest: list(&|held| held.file.bytes),
        most_rules: list(&|held| rules_of(&sizes[held.policy as usize])),
        bytes: bytes.distribution(),
        groups: groups.distribution(),
        rules_of_group: rules_of_group.distribution(),
        rules: rules.distribution(),
        closed,
    }
}

fn rules_of(sizes: &Sizes) -> u64 {
    sizes.groups.iter().map(|&rules| u64::from(rules)).sum()
}

fn file_row(library: &Library, sizes: &Sizes, held: &Held) -> FileRow {
    FileRow {
        host: host_name(library, held.host),
        bytes: held.file.bytes,
        groups: sizes.groups.len() as u64,
        rules: rules_of(sizes),
    }
}

fn notes(library: &Library) -> Vec<NoteCount> {
    let mut counts = NoteKind::ALL.map(|kind| NoteCount {
        kind: kind.as_str().to_owned(),
        meaning: kind.describe().to_owned(),
        files: 0,
        examples: Vec::new(),
    });
    for held in files(library) {
        for kind in held.file.notes.kinds() {
            let count = &mut counts[kind as usize];
            count.files += 1;
            if count.examples.len() < AUDIT_SAMPLES {
                count.examples.push(host_name(library, held.host));
            }
        }
    }
    let mut counts: Vec<NoteCount> = counts.into_iter().filter(|count| count.files > 0).collect();
    counts.sort_by_key(|count| Reverse(count.files));
    counts
}

fn crawl_delays(library: &Library, top: usize) -> Result<CrawlDelays, Damage> {
    let mut delays = CrawlDelays::default();
    let mut seconds = Numbers::default();
    let others = |held: &Held| &library.others[held.file.others as usize];
    for held in files(library) {
        let found = &others(&held).delays;
        delays.files += u64::from(!found.is_empty());
        delays.lines += found.len() as u64;
        for delay in found {
            match delay.seconds {
                Some(number) => seconds.add(number, 1),
                None => delays.malformed += 1,
            }
        }
    }
    let numbers = files(library).flat_map(|held| {
        let delays = others(&held).delays.iter();
        delays.filter(|delay| delay.seconds.is_some()).map(move |delay| (held, delay))
    });
    let longest = largest(numbers, top, |(held, delay)| {
        (delay.seconds, Reverse(held.host), Reverse(delay.line))
    });
    delays.seconds = seconds.distribution();
    delays.longest.total = delays.seconds.count;
    for (held, delay) in longest {
        delays.longest.rows.push(CrawlDelayRow {
            host: host_name(library, held.host),
            line: delay.line,
            value: shown(&delay.value),
            group: group_before(library, held.policy, delay.line)?,
        });
    }
    Ok(delays)
}

/// The value of the last user-agent line before a line.
fn group_before(library: &Library, policy: u32, line: u32) -> Result<Option<String>, Damage> {
    let extract = library.extract(policy)?;
    let file = RobotsTxt::read_extract(&extract).ok_or_else(|| library.misfiled())?;
    let before = |other: &LineNumber| other.get() < line;
    let last = file.user_agents().iter().rfind(|user_agent| before(&user_agent.line));
    Ok(last.map(|user_agent| shown(user_agent.value)))
}

fn sitemaps(library: &Library, top: usize) -> Sitemaps {
    let mut sitemaps = Sitemaps::default();
    let mut of_file = Numbers::default();
    let named = |held: &Held| &library.others[held.file.others as usize].sitemaps;
    let naming = || files(library).filter(|held| !named(held).is_empty());
    for held in naming() {
        let found = named(&held);
        sitemaps.files += 1;
        sitemaps.lines += found.len() as u64;
        of_file.add(found.len() as u64, 1);
        for sitemap in found {
            match &sitemap.key {
                None => sitemaps.malformed += 1,
                Some(key) if **key != *library.key(held.host) => sitemaps.elsewhere += 1,
                Some(_) => {}
            }
        }
    }
    let most = largest(naming(), top, |held| (named(held).len(), Reverse(held.host)));
    let row = |held: Held| SitemapRow {
        host: host_name(library, held.host),
        sitemaps: named(&held).len() as u64,
        first: named(&held).first().map(|sitemap| shown(&sitemap.value)).unwrap_or_default(),
    };
    sitemaps.of_file = of_file.distribution();
    sitemaps.most = List { total: sitemaps.files, rows: most.into_iter().map(row).collect() };
    sitemaps
}
