//! Crawl-delay: how long a crawler should wait between two requests.
//!
//! Owns which Crawl-delay lines hold for an agent ([`RecordGroups`]) and what they say together
//! ([`CrawlDelay`]). The field belongs to no standard; search engines document it. A delay never
//! affects access.
//!
//! A Crawl-delay line belongs to the user-agent lines before it, and ends their run, as a rule does.
//! Yandex documents the field with a file that has no rule between two user-agent lines, and the
//! delay is that of the first one alone:
//!
//! ```
//! use std::time::Duration;
//! use portcullis_robots::Robots;
//!
//! let text = "User-agent: Yandex\nCrawl-delay: 2\nUser-agent: *\nDisallow: /search\nCrawl-delay: 4.5\n";
//! let robots = Robots::parse(text);
//! assert_eq!(robots.crawl_delay("Yandex"), Some(Duration::from_secs(2)));
//! assert_eq!(robots.crawl_delay("Other"), Some(Duration::from_millis(4500)));
//! ```
//!
//! Access is not divided there: for access, both user-agent lines open one group. Blank lines have
//! no meaning for delays in any dialect, and a policy set does not store them.

use std::time::Duration;

use super::{Audience, Crawler, Selection};
use crate::syntax::RobotsTxt;
use portcullis_dialect::{Dialect, LineNumber};

/// The field, in lower case.
pub const CRAWL_DELAY: &str = "crawl-delay";

/// The groups of the records of one field that the protocol does not define.
#[derive(Clone, Debug)]
pub struct RecordGroups {
    /// Who is named by the user-agent lines of the file, in the groups of these records.
    audience: Audience,
    /// The records of each group, ascending. One before the first user-agent line is in none.
    records: Vec<Vec<usize>>,
    dialect: &'static Dialect,
}

impl RecordGroups {
    /// Groups the records of one field, which are on these lines of `file`.
    pub fn new(
        file: &RobotsTxt<'_>,
        lines: &[LineNumber],
        dialect: &'static Dialect,
    ) -> RecordGroups {
        let Grouped { file, naming } = Grouped::new(file, lines);
        let mut records = vec![Vec::new(); file.groups().len()];
        for (record, line) in naming.iter().enumerate() {
            if let Some(line) = line {
                records[file.group_of(*line)].push(record);
            }
        }
        RecordGroups { audience: Audience::of(&file, dialect), records, dialect }
    }

    /// Returns the positions of the records that hold for `agent`, ascending, and whether the file names it.
    pub fn applying(&self, agent: &Crawler) -> (impl Iterator<Item = usize>, bool) {
        let named = self.audience.named(agent, self.dialect);
        let groups = match named {
            Some((_, robot)) => &*robot.groups,
            None if agent.reads_default() => &self.audience.default_groups,
            None => &[],
        };
        (self.of_groups(groups), named.is_some())
    }

    /// Returns the positions of the records that hold for the crawler with this name, in lower case, or for one
    /// that the file does not name.
    pub fn of_name(&self, robot: Option<&[u8]>) -> impl Iterator<Item = usize> {
        self.of_groups(self.audience.groups_of(robot))
    }

    fn of_groups(&self, groups: &[usize]) -> impl Iterator<Item = usize> {
        groups.iter().flat_map(|&group| &self.records[group]).copied()
    }
}

/// Returns the positions of the records, on these lines of `file`, that hold for one agent, ascending: as those
/// of [`RecordGroups::applying`].
pub(crate) fn records_of(
    agent: &Crawler,
    file: &RobotsTxt<'_>,
    lines: &[LineNumber],
    dialect: &Dialect,
) -> impl Iterator<Item = usize> {
    let Grouped { file, naming } = Grouped::new(file, lines);
    let Selection { groups, .. } = Selection::among_groups(&file, agent, dialect).read_by(agent);
    let holds =
        move |line: &Option<u32>| line.is_some_and(|line| groups.contains(&file.group_of(line)));
    let records = naming.into_iter().enumerate();
    records.filter(move |(_, line)| holds(line)).map(|(record, _)| record)
}

/// The groups that records of one field end.
struct Grouped<'t> {
    file: RobotsTxt<'t>,
    /// The last user-agent line before each record.
    naming: Vec<Option<u32>>,
}

impl<'t> Grouped<'t> {
    fn new(file: &RobotsTxt<'t>, lines: &[LineNumber]) -> Grouped<'t> {
        let naming: Vec<_> = lines.iter().map(|&line| file.user_agent_before(line)).collect();
        let ended: Vec<u32> = naming.iter().flatten().copied().collect();
        Grouped { file: file.divided(&ended), naming }
    }
}

/// The delay that all Crawl-delay lines for an agent state together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrawlDelay {
    /// The greatest number of seconds, finite and not negative. `None` if no line has a number.
    pub seconds: Option<f64>,
    /// The number of lines whose value is not a number.
    pub unreadable: u32,
}

impl CrawlDelay {
    /// Combines what lines say; `None` for a value that is not a number.
    pub fn from_seconds(lines: impl IntoIterator<Item = Option<f64>>) -> CrawlDelay {
        let mut delay = CrawlDelay::default();
        for seconds in lines {
            delay.unreadable += u32::from(seconds.is_none());
            delay.seconds = delay.seconds.into_iter().chain(seconds).reduce(f64::max);
        }
        delay
    }

    /// Returns the time to wait. The longest possible one if the number is greater.
    pub fn duration(&self) -> Option<Duration> {
        let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        self.seconds.map(duration)
    }
}

/// Reads the value of a Crawl-delay line: digits with or without one point, and nothing else. `None`
/// if it is not such a number, or too large for a finite one.
pub fn delay_seconds(value: &[u8]) -> Option<f64> {
    let is_plain = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let text = std::str::from_utf8(value).ok().filter(|_| is_plain)?;
    text.parse().ok().filter(|seconds: &f64| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Robots;
    use portcullis_dialect::{GOOGLE, ORIGINAL_1994};

    #[test]
    fn numbers_of_seconds() {
        let numbers =
            [("10", 10.0), ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("007", 7.0), ("0", 0.0)];
        for (text, seconds) in numbers {
            assert_eq!(delay_seconds(text.as_bytes()), Some(seconds), "{text}");
        }
        let huge = "9".repeat(400);
        for odd in [
            "", "-1", "+1", "1e3", "10s", "inf", "nan", ".", "1,5", "1.2.3", "1 2", "\u{661}",
            &huge,
        ] {
            assert_eq!(delay_seconds(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn the_greatest_number_counts() {
        let delay = CrawlDelay::from_seconds([Some(2.0), None, Some(7.5), None, Some(3.0)]);
        assert_eq!(delay, CrawlDelay { seconds: Some(7.5), unreadable: 2 });
        assert_eq!(CrawlDelay::from_seconds([]), CrawlDelay::default());
        assert_eq!(
            CrawlDelay::from_seconds([Some(1.0), Some(1e30)]).duration(),
            Some(Duration::MAX)
        );
    }

    #[test]
    fn a_delay_is_that_of_the_user_agent_lines_before_it() {
        let text = "crawl-delay: 1\nUser-agent: a\nUser-agent: b\nSitemap: /s\n\nCRAWL-DELAY : 2 # s\n\
            User-agent: c\n\nUser-agent: *\nDisallow: /x\n\nCrawl-delay 9\nCrawl-delay: 3\n";
        let delays = |robots: Robots<'_>| {
            ["a", "b", "c", "d"]
                .map(|agent| robots.agent(agent).crawl_delay().map(|it| it.as_secs()))
        };
        assert_eq!(delays(Robots::parse(text)), [2, 2, 3, 3].map(Some));
        assert_eq!(delays(Robots::parse_as(text, &GOOGLE)), [2, 2, 9, 9].map(Some));
        // A blank line ends the record of c.
        assert_eq!(
            delays(Robots::parse_as(text, &ORIGINAL_1994)),
            [Some(2), Some(2), None, Some(3)]
        );
    }
}
