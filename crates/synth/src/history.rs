//! Generates the history of a host: what it answers to several captures over five years.
//!
//! The mix is that of 13,623 captures of 1,600 hosts, most of them of local governments in the United
//! States, taken from September 2020 to March 2025:
//!
//! - 18 % of the captures fail, in 1,666 outages. 86 % of the outages have one capture, and 6 % last
//!   more than 30 days.
//! - 9 % find no file.
//! - Of the other files, 26 % equal the file before, and 15 % differ in comments only. 35 % have
//!   other rules, and 15 % have hardly a rule in common with the file before.
//! - 8 % begin to name AI crawlers: 2 % in 2022, 10 % in 2023 and 23 % in 2024.
//!
//! These captures do not include files that equal the file of the capture just before. So a crawl
//! that returns every month sees fewer changes than this.
//!
//! No capture depends on another host, so an archive is streamed: memory holds one host's times.

use super::draw::{CRAWLERS_ADDED, DAYS_BETWEEN_CAPTURES, DAYS_OF_FAILURE};
use super::random::SplitMix64;
use super::robots::HostLines;
use super::site::Site;
use super::words::AI_AGENTS;

const DAY: u64 = 24 * 60 * 60;

/// The first second of histories: 2020-07-01.
const START: u64 = 1_593_561_600;
/// Five years, to the end of June 2025.
const SPAN: u64 = 1_826 * DAY;

// Measured shares per ten thousand: of the captures after an answer …
const OUTAGE_BEGINS: u64 = 1_710;
// … of the captures after a failure …
const OUTAGE_LASTS: u64 = 3_300;
// … of the last captures of hosts …
const LAST_FAILS: u64 = 600;
// … and of the answers.
const MISSING: u64 = 1_250;

/// The share of files that begin to name AI crawlers, per ten thousand, by the first second of the
/// year (2020 to 2025).
const CRAWLERS_NAMED: [(u64, u64); 6] = [
    (0, 30),
    (1_609_459_200, 140),
    (1_640_995_200, 200),
    (1_672_531_200, 980),
    (1_704_067_200, 2_340),
    (1_735_689_600, 440),
];

// Measured shares of the other files, per ten thousand. The rest equals the file before.
const REDESIGN: u64 = 1_670;
const EDIT: u64 = 3_800;
const COMMENT: u64 = 1_640;

/// One capture of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) status: u16,
    /// The version of the file that the host has, which it serves if the status is 200.
    pub(super) version: Version,
}

/// What has happened to the file of a host since its first version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    /// The number of new layouts.
    pub(super) redesigns: u64,
    /// The number of rules added to the layout's default group.
    edits: u64,
    /// The number of times that the comment changed.
    comments: u64,
    /// The number of AI crawlers that a group of their own excludes.
    crawlers: usize,
}

/// Draws the captures of a host in the order of time. The first one finds a file.
pub(super) fn draw(mut random: SplitMix64, captures: u64) -> Vec<Capture> {
    let statuses = draw_statuses(&mut random, captures);
    let times = draw_times(&mut random, &statuses);
    let mut version = Version::default();
    let mut draw = |(position, (&status, time)): (usize, (&u16, u64))| {
        if position > 0 && status == 200 {
            version.change(time, &mut random);
        }
        Capture { time, status, version }
    };
    statuses.iter().zip(times).enumerate().map(&mut draw).collect()
}

/// Draws a time of the years that histories cover.
pub(super) fn draw_time(random: &mut SplitMix64) -> u64 {
    START + random.below(SPAN)
}

fn draw_statuses(random: &mut SplitMix64, captures: u64) -> Vec<u16> {
    let mut statuses = vec![200];
    while (statuses.len() as u64) < captures {
        let share = match statuses.last() {
            _ if statuses.len() as u64 + 1 == captures => LAST_FAILS,
            Some(503) => OUTAGE_LASTS,
            _ => OUTAGE_BEGINS,
        };
        let fails = random.chance(share);
        let is_missing = random.chance(MISSING);
        statuses.push(if fails {
            503
        } else if is_missing {
            404
        } else {
            200
        });
    }
    statuses
}

/// Draws the time of each capture. If the captures would take longer than the span, the time between
/// answers shrinks, and the time of outages only if outages alone fill half of the span.
fn draw_times(random: &mut SplitMix64, statuses: &[u16]) -> Vec<u64> {
    let mut gaps: Vec<(bool, u64)> = Vec::with_capacity(statuses.len());
    for &status in &statuses[..statuses.len() - 1] {
        let fails = status == 503;
        let days = if fails { &DAYS_OF_FAILURE } else { &DAYS_BETWEEN_CAPTURES }.draw(random);
        gaps.push((fails, days * DAY + 1 + random.below(DAY)));
    }
    let total = |failing| gaps.iter().filter(|gap| gap.0 == failing).map(|gap| gap.1).sum::<u64>();
    let [answers, failures] = [total(false), total(true)];
    let for_failures = failures.min(SPAN / 2);
    let for_answers = answers.min(SPAN - for_failures);
    let mut time = START + random.below(SPAN - for_answers - for_failures + 1);
    let mut times = vec![time];
    for (fails, gap) in gaps {
        let (room, total) = if fails { (for_failures, failures) } else { (for_answers, answers) };
        time += (u128::from(gap) * u128::from(room) / u128::from(total)) as u64;
        times.push(time);
    }
    times
}

impl Version {
    /// Draws what changed up to the file found at `time`.
    fn change(&mut self, time: u64, random: &mut SplitMix64) {
        let year = CRAWLERS_NAMED.partition_point(|&(start, _)| start <= time) - 1;
        if random.chance(CRAWLERS_NAMED[year].1) {
            let crawlers = self.crawlers + CRAWLERS_ADDED.draw(random) as usize;
            self.crawlers = crawlers.min(AI_AGENTS.len());
            return;
        }
        let share = random.below(10_000);
        if share < REDESIGN {
            let redesigns = self.redesigns + 1;
            *self = Version { redesigns, edits: 0, comments: 0, ..*self };
        } else if share < REDESIGN + EDIT {
            self.edits += 1;
        } else if share < REDESIGN + EDIT + COMMENT {
            self.comments += 1;
        }
    }

    /// Appends the lines that this version adds to the layout. `random` is the stream of its edits.
    pub(super) fn add_lines(self, mut random: SplitMix64, site: Site, lines: &mut HostLines) {
        if self.comments > 0 {
            lines.before_groups.push(format!("# Version {}", self.comments + 1).into_bytes());
        }
        for _ in 0..self.edits {
            let mut line = b"Disallow: /".to_vec();
            site.write_section(&mut random, &mut line);
            lines.default_group.push(line);
        }
        let names = AI_AGENTS[..self.crawlers].iter();
        lines.after_groups.extend(names.map(|name| format!("User-agent: {name}").into_bytes()));
        if self.crawlers > 0 {
            lines.after_groups.push(b"Disallow: /".to_vec());
        }
    }
}
