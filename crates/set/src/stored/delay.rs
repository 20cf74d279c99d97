//! Crawl delays: what the Crawl-delay lines of a stored file say to agents.
//!
//! The lines are among the other records of a capture, because files with the same rules may have
//! different delays. The lines for an agent follow from their line numbers and the line numbers of the
//! user-agent lines ([`RecordGroups`]), so a set stores nothing more for them.
//!
//! Cost: looking at the kind of each other record; for a file with a delay, reading its user-agent
//! lines once for all agents.

use portcullis_robots::policy::{CRAWL_DELAY, CrawlDelay, Crawler, RecordGroups, delay_seconds};
use portcullis_robots::syntax::Record;

use super::super::file::Damage;
use super::{StoredCapture, StoredPolicy};

impl StoredCapture<'_> {
    /// Returns what the file of this capture, which has the policy `policy`, says to each of `agents`: no
    /// delay to one that [ignores](portcullis_robots::policy::Reading) it. Then whether the file names each.
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
    /// let (delays, _) = capture.crawl_delays(&set.policy(policy)?, &agents)?;
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
    ) -> Result<(Vec<CrawlDelay>, Vec<bool>), Damage> {
        let dialect = self.set.dialect;
        let (mut lines, mut values) = (Vec::new(), Vec::new());
        let is_delay =
            |record: &Record<'_>| record.name.eq_ignore_ascii_case(CRAWL_DELAY.as_bytes());
        self.each_other(is_delay, |record, line| {
            lines.push(line);
            values.push(delay_seconds(record.value));
        })?;
        if lines.is_empty() {
            return Ok((vec![CrawlDelay::default(); agents.len()], vec![false; agents.len()]));
        }
        policy.with_groups(|file| {
            let groups = RecordGroups::new(file, &lines, dialect);
            let of_agent = |agent: &Crawler| {
                let (records, is_named) = groups.applying(agent);
                match agent.reading().ignores_delay {
                    true => (CrawlDelay::default(), is_named),
                    false => (CrawlDelay::from_seconds(records.map(|it| values[it])), is_named),
                }
            };
            agents.iter().map(of_agent).unzip()
        })
    }
}
