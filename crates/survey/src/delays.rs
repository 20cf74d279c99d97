//! The crawl delays of origins, counted by agent.
//!
//! A delay belongs to a capture, not to a policy, because files with the same rules may have
//! different delays. So delays are counted by origin.
//!
//! Memory: for each agent, the distinct delays, up to [`SURVEY_DELAYS_KEPT`].

use std::collections::BTreeMap;

use portcullis_robots::policy::{CrawlDelay, Crawler};
use portcullis_set::stored::StoredHost;
use portcullis_set::{Damage, PolicySet};
use serde::{Serialize, Serializer};

use crate::limits::SURVEY_DELAYS_KEPT;
use crate::origins::captured;
use crate::policies::AgentFigures;

/// The crawl delays of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DelayFigures {
    /// The number of origins whose file has a delay for the agent.
    pub origins: u64,
    /// The least delay in seconds.
    pub least: Option<f64>,
    /// The median; of two, the lower one. `None` also if there are more than [`SURVEY_DELAYS_KEPT`]
    /// distinct delays.
    pub median: Option<f64>,
    /// The greatest delay in seconds.
    pub greatest: Option<f64>,
    /// The number of lines for the agent whose value is not a number.
    pub unreadable: u64,
}

/// The crawl delays of one agent that were counted so far.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayCounts {
    origins: u64,
    /// The least and the greatest.
    span: Option<(f64, f64)>,
    /// The number of origins by delay, whose bits are in the order of the numbers. `None` if there
    /// are too many.
    by_delay: Option<BTreeMap<u64, u64>>,
    unreadable: u64,
}

impl Default for DelayCounts {
    fn default() -> DelayCounts {
        DelayCounts { origins: 0, span: None, by_delay: Some(BTreeMap::new()), unreadable: 0 }
    }
}

impl Serialize for DelayCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.figures().serialize(to)
    }
}

impl DelayCounts {
    /// Adds what the file of an origin says.
    pub(crate) fn add(&mut self, delay: &CrawlDelay) {
        self.unreadable += u64::from(delay.unreadable);
        if let Some(seconds) = delay.seconds {
            // A zero has one sign here.
            self.add_many(seconds + 0.0, 1);
        }
    }

    fn add_many(&mut self, seconds: f64, origins: u64) {
        self.origins += origins;
        let (least, greatest) = self.span.unwrap_or((seconds, seconds));
        self.span = Some((least.min(seconds), greatest.max(seconds)));
        if let Some(by_delay) = &mut self.by_delay {
            *by_delay.entry(seconds.to_bits()).or_default() += origins;
            if by_delay.len() > SURVEY_DELAYS_KEPT {
                self.by_delay = None;
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &DelayCounts) {
        self.unreadable += other.unreadable;
        match &other.by_delay {
            Some(by_delay) => {
                by_delay
                    .iter()
                    .for_each(|(bits, count)| self.add_many(f64::from_bits(*bits), *count));
            }
            None => {
                self.origins += other.origins;
                let spans = [self.span, other.span].into_iter().flatten();
                self.span = spans.reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
                self.by_delay = None;
            }
        }
    }

    /// Returns the figures.
    pub fn figures(&self) -> DelayFigures {
        let mut before = 0;
        let middle = self.origins.div_ceil(2);
        let median = self.by_delay.iter().flatten().find(|(_, count)| {
            before += **count;
            before >= middle
        });
        DelayFigures {
            origins: self.origins,
            least: self.span.map(|(least, _)| least),
            median: median.map(|(bits, _)| f64::from_bits(*bits)),
            greatest: self.span.map(|(_, greatest)| greatest),
            unreadable: self.unreadable,
        }
    }
}

/// Counts the newest delays of the origins of a host, in `figures` of the same agents.
pub(crate) fn count<'s>(
    set: &'s PolicySet,
    host: &StoredHost<'s>,
    agents: &[Crawler],
    figures: &mut [AgentFigures],
) -> Result<(), Damage> {
    let mut before = None;
    for https in host.schemes() {
        let Some((number, capture)) = captured(set, host, https, None)? else { continue };
        let same = before.take().filter(|(policy, _)| *policy == number && host.is_one_capture());
        let delays = match same {
            Some((_, delays)) => delays,
            None => capture.crawl_delays(&set.policy(number)?, agents)?,
        };
        figures.iter_mut().zip(&delays).for_each(|(it, delay)| it.crawl_delay.add(delay));
        before = Some((number, delays));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(delays: impl IntoIterator<Item = f64>) -> DelayCounts {
        let mut counts = DelayCounts::default();
        for seconds in delays {
            counts.add(&CrawlDelay { seconds: Some(seconds), unreadable: 1 });
        }
        counts
    }

    #[test]
    fn the_middle_of_delays() {
        let cases: [(&[f64], [Option<f64>; 3]); 4] = [
            (&[], [None; 3]),
            (&[5.0], [Some(5.0); 3]),
            (&[0.5, 10.0], [Some(0.5), Some(0.5), Some(10.0)]),
            (&[10.0, 1.0, 2.0, 10.0, 10.0], [Some(1.0), Some(10.0), Some(10.0)]),
        ];
        for (delays, expected) in cases {
            let figures = counts(delays.iter().copied()).figures();
            assert_eq!([figures.least, figures.median, figures.greatest], expected, "{delays:?}");
            assert_eq!(figures.origins, figures.unreadable);
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let all: Vec<f64> = (0..SURVEY_DELAYS_KEPT + 10).map(|it| it as f64).collect();
        for (most, cut) in
            [(9, 4), (SURVEY_DELAYS_KEPT, 7), (all.len(), 9), (all.len(), all.len() - 1)]
        {
            let mut merged = counts(all[..cut].iter().copied());
            merged.merge(&counts(all[cut..most].iter().copied()));
            let whole = counts(all[..most].iter().copied()).figures();
            assert_eq!(merged.figures(), whole);
            assert_eq!(whole.median.is_some(), most <= SURVEY_DELAYS_KEPT);
        }
    }
}
