//! Access over time: how many origins shut each crawler out, month by month, and the largest changes.
//!
//! A month is counted as of its first second in UTC. An origin counts from its first capture on; one without a
//! date counts from the first month on. A change is a period in whose file other crawlers may fetch nothing
//! than in the file before it; failures of the server between them change nothing.
//!
//! Memory: five numbers for each month and crawler, for all threads and each of them: at most
//! [`TREND_CELLS_MAX`] cells. With more, the trend begins with a later month. And [`TREND_CHANGES`] changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use portcullis_robots::access::{DateSpan, UnixSeconds};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::agents::{Causes, cause};
use crate::facts::AgentFacts;
use crate::limits::{TREND_CELLS_MAX, TREND_CHANGES};
use crate::text::Text;

/// The months that a trend has.
#[derive(Clone, Debug)]
pub(crate) struct Months(Vec<UnixSeconds>);

/// The access of crawlers over time.
#[derive(Clone, Debug)]
pub struct Trend {
    months: Months,
    agents: Vec<String>,
    /// By month, then agent: the change from the month before.
    changes: Vec<[i64; 5]>,
    largest: BinaryHeap<Reverse<Change>>,
}

/// A change of a file that shuts crawlers out, or lets them in again. The larger one is greater.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change {
    crawlers: usize,
    date: UnixSeconds,
    origin: Reverse<Vec<u8>>,
    /// The agents that may no longer fetch anything, by number, and those that may again.
    closed: Vec<u32>,
    opened: Vec<u32>,
}

/// A change, with the names of its crawlers.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeRow<'t> {
    pub date: String,
    pub origin: Text,
    pub closed: Vec<&'t str>,
    pub opened: Vec<&'t str>,
}

/// The crawlers that the last file of an origin shut out, in its periods so far.
#[derive(Debug, Default)]
pub(crate) struct Shut {
    origin: Vec<u8>,
    /// By agent; `None` before its first file.
    by_agent: Vec<Option<bool>>,
}

impl Months {
    /// Returns the months that begin within the dates of captures. Of too many for so many agents, the last
    /// ones.
    pub fn of(dates: Option<DateSpan>, agents: usize) -> Months {
        let Some(DateSpan { first, last }) = dates else { return Months(Vec::new()) };
        let year_of = |time: UnixSeconds| -> u32 {
            time.to_rfc3339().split('-').next().and_then(|it| it.parse().ok()).unwrap_or(0)
        };
        let begin = |(year, month): (u32, u32)| {
            UnixSeconds::from_text(format!("{year:04}-{month:02}-01T00:00:00Z").as_bytes(), None)
        };
        let years = year_of(first)..=year_of(last);
        let all = years.flat_map(|year| (1..=12).map(move |month| (year, month)));
        let mut months: Vec<UnixSeconds> =
            all.filter_map(begin).filter(|it| (first..=last).contains(it)).collect();
        let kept = (TREND_CELLS_MAX / agents.max(1)).min(months.len());
        Months(months.split_off(months.len() - kept))
    }
}

impl Trend {
    pub(crate) fn new(months: Months, agents: Vec<String>) -> Trend {
        let changes = vec![[0; 5]; (months.0.len() + 1) * agents.len()];
        Trend { months, agents, changes, largest: BinaryHeap::new() }
    }

    /// Returns a trend of the same months and agents, without counts.
    pub(crate) fn empty(&self) -> Trend {
        Trend::new(self.months.clone(), self.agents.clone())
    }

    /// Counts the period of an origin with the facts of all agents. `shut` has its periods so far.
    pub(crate) fn add(
        &mut self,
        origin: &[u8],
        (since, until): (Option<UnixSeconds>, Option<UnixSeconds>),
        facts: &[AgentFacts],
        shut: &mut Shut,
    ) {
        let months = &self.months.0;
        let month = |time: UnixSeconds| months.partition_point(|month| *month < time);
        let (first, end) = (since.map_or(0, month), until.map_or(months.len(), month));
        if first < end {
            for (agent, facts) in facts.iter().enumerate() {
                let cause = cause(facts);
                self.changes[first * self.agents.len() + agent][cause] += 1;
                self.changes[end * self.agents.len() + agent][cause] -= 1;
            }
        }
        if let (Some(date), (closed, opened)) = (since, shut.follow(origin, facts))
            && closed.len() + opened.len() > 0
        {
            let crawlers = closed.len() + opened.len();
            self.keep(Change { crawlers, date, origin: Reverse(origin.to_vec()), closed, opened });
        }
    }

    fn keep(&mut self, change: Change) {
        self.largest.push(Reverse(change));
        if self.largest.len() > TREND_CHANGES {
            self.largest.pop();
        }
    }

    /// Adds the counts of another thread.
    pub(crate) fn merge(&mut self, other: Trend) {
        for (sum, own) in self.changes.iter_mut().zip(other.changes) {
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        other.largest.into_iter().for_each(|Reverse(change)| self.keep(change));
    }

    /// Returns the months, such as `2024-05`.
    pub fn months(&self) -> Vec<String> {
        self.months.0.iter().map(|month| month.to_rfc3339()[..7].to_owned()).collect()
    }

    /// Returns the agents, each with the number of origins by cause in each month.
    pub fn agents(&self) -> impl Iterator<Item = (&str, Vec<Causes>)> {
        self.agents.iter().enumerate().map(|(agent, name)| {
            let mut sums = [0_i64; 5];
            let own = self.changes.iter().skip(agent).step_by(self.agents.len());
            let by_month = own.take(self.months.0.len()).map(|changes| {
                sums.iter_mut().zip(changes).for_each(|(sum, change)| *sum += change);
                sums.map(|sum| sum.unsigned_abs())
            });
            (&**name, by_month.collect())
        })
    }

    /// Returns the largest changes, by the number of crawlers, then the newest first.
    pub fn changes(&self) -> Vec<ChangeRow<'_>> {
        let names = |agents: &[u32]| agents.iter().map(|it| &*self.agents[*it as usize]).collect();
        let mut all: Vec<&Change> = self.largest.iter().map(|Reverse(change)| change).collect();
        all.sort_unstable_by(|one, other| other.cmp(one));
        let row = |change: &Change| ChangeRow {
            date: change.date.to_rfc3339(),
            origin: Text(change.origin.0.clone()),
            closed: names(&change.closed),
            opened: names(&change.opened),
        };
        all.into_iter().map(row).collect()
    }
}

impl Shut {
    /// Returns the agents that a period shuts out and those that it lets in, compared with the file before it.
    fn follow(&mut self, origin: &[u8], facts: &[AgentFacts]) -> (Vec<u32>, Vec<u32>) {
        if self.origin != origin {
            self.origin = origin.to_vec();
            self.by_agent.clear();
        }
        self.by_agent.resize(facts.len(), None);
        let (mut closed, mut opened) = (Vec::new(), Vec::new());
        for ((agent, facts), before) in (0..).zip(facts).zip(&mut self.by_agent) {
            let is_shut = match cause(facts) {
                2 => true,
                0 | 1 => false,
                _ => continue,
            };
            match before.replace(is_shut) {
                Some(false) if is_shut => closed.push(agent),
                Some(true) if !is_shut => opened.push(agent),
                _ => {}
            }
        }
        (closed, opened)
    }
}

impl Serialize for Trend {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Agent<'t> {
            agent: &'t str,
            all: Vec<u64>,
            part: Vec<u64>,
            none: Vec<u64>,
            none_failing: Vec<u64>,
            not_known: Vec<u64>,
        }
        let agent = |(agent, months): (_, Vec<Causes>)| {
            let each = |count: fn(&Causes) -> u64| months.iter().map(count).collect();
            Agent {
                agent,
                all: each(|it| it[0]),
                part: each(|it| it[1]),
                none: each(|it| it[2] + it[3]),
                none_failing: each(|it| it[3]),
                not_known: each(|it| it[4]),
            }
        };
        let mut trend = to.serialize_struct("Trend", 3)?;
        trend.serialize_field("months", &self.months())?;
        trend.serialize_field("per_agent", &self.agents().map(agent).collect::<Vec<_>>())?;
        trend.serialize_field("changes", &self.changes())?;
        trend.end()
    }
}
