//! Crawl delays: what the Crawl-delay lines of a stored file say to agents.
//!
//! The lines are among the other records of a capture, because files with the same rules may have
//! different delays. Which lines hold for an agent follows from their line numbers and those of the
//! user-agent lines ([`RecordGroups`]), so a set stores nothing more for them.
//!
//! Cost: comparing the number of each other record's string, because the strings of delays have
//! adjacent numbers, up to case; for a file with a delay, reading its user-agent lines once for
//! all agents.

use std::ops::Range;

use portcullis_robots::policy::{CRAWL_DELAY, CrawlDelay, Crawler, RecordGroups, delay_seconds};

use super::super::file::Damage;
use super::super::strings::StringID;
use super::{PolicySet, StoredCapture, StoredPolicy};

impl PolicySet {
    /// Returns the numbers of the strings that begin as Crawl-delay does, in upper and in lower case.
    fn delay_strings(&self) -> Result<&[Range<u32>; 2], Damage> {
        if let Some(known) = self.delay_strings.get() {
            return Ok(known);
        }
        let first = CRAWL_DELAY.as_bytes()[0];
        let before = |byte: u8| self.sections.strings.count_before(&self.file, &[byte]);
        let beginning = |byte: u8| Ok(before(byte)?..before(byte + 1)?);
        let found = [beginning(first.to_ascii_uppercase())?, beginning(first)?];
        Ok(self.delay_strings.get_or_init(|| found))
    }
}

impl StoredCapture<'_> {
    /// Returns what the file of this capture, which has the policy `policy`, says to each of `agents`.
    ///
    /// ```
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::Crawler;
    /// use portcullis_set::PolicySet;
    /// use portcullis_build::{LoadConfig, load_text};
    ///
    /// let text = b"User-agent: *\nCrawl-delay: 2.5\nDisallow: /private\n";
    /// let set = load_text(text, &LoadConfig::new(&RFC_9309));
    /// let (policy, capture) = set.origin(b"https", b"a.example")?.unwrap();
    /// let agents = [Crawler::parse("ExampleBot", &RFC_9309)?];
    /// let delays = capture.crawl_delays(&set.policy(policy)?, &agents)?;
    /// assert_eq!(delays[0].seconds, Some(2.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn crawl_delays(
        &self,
        policy: &StoredPolicy<'_>,
        agents: &[Crawler],
    ) -> Result<Vec<CrawlDelay>, Damage> {
        let dialect = self.set.dialect;
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        let strings = self.set.delay_strings()?;
        let is_wanted = |string: StringID| strings.iter().any(|range| range.contains(&string.0));
        self.each_other(is_wanted, |record, line| {
            if record.name.eq_ignore_ascii_case(CRAWL_DELAY.as_bytes()) {
                lines.push(line);
                values.push(delay_seconds(record.value));
            }
        })?;
        if lines.is_empty() {
            return Ok(vec![CrawlDelay::default(); agents.len()]);
        }
        policy.with_user_agents(|file| {
            let groups = RecordGroups::new(file, &lines);
            let of_agent = |agent| {
                CrawlDelay::from_seconds(groups.applying(agent, dialect).map(|it| values[it]))
            };
            agents.iter().map(of_agent).collect()
        })
    }
}
