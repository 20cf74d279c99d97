//! The crawlers that records name: how each reads robots.txt, what was decided for it, and how soon its
//! requests came.

use serde::Serialize;

use crate::Figures;

/// An agent that records may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAgent {
    pub name: String,
    pub reading: ReadingFacts,
}

/// How a crawler reads robots.txt: as its operator documents it, or else by its tokens as the dialect says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadingFacts {
    /// The product tokens, the most specific first. Empty for any other crawler.
    pub tokens: Vec<String>,
    /// Whether it reads the groups for `*` if no group names it.
    pub reads_default: bool,
    /// Whether robots.txt binds it: `false` if its operator says that it may not apply.
    #[serde(rename = "bound")]
    pub is_bound: bool,
    /// The meaning of an answer that is no file. `None` for that of the dialect.
    pub answers: Option<String>,
    /// The use that it makes of Crawl-delay. `None` if that is not documented.
    pub crawl_delay: Option<&'static str>,
    /// Whether it keeps the delay in seconds, by its operator.
    #[serde(skip)]
    pub keeps_delay: bool,
    /// The dialect in which it reads a file, if that is documented.
    pub dialect: Option<&'static str>,
}

/// The records of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordAgent {
    /// The agent; `None` for records without a known one.
    pub agent: Option<String>,
    /// `None` without a known agent.
    #[serde(flatten)]
    pub reading: Option<ReadingFacts>,
    pub verdicts: Figures,
    /// `None` if it was not found, or no policy asks it for a delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

impl RecordAgent {
    /// Whether robots.txt binds the crawler, as far as is known.
    pub fn is_bound(&self) -> bool {
        self.reading.as_ref().is_none_or(|reading| reading.is_bound)
    }

    /// Describes what the operator says about Crawl-delay.
    pub fn delay_use(&self) -> &'static str {
        self.reading.as_ref().and_then(|it| it.crawl_delay).unwrap_or("not known")
    }
}

/// How soon the requests of a crawler came after each other, to hosts that ask it for a Crawl-delay. A
/// request is the first of its client on a host, or it is compared with the one before it, or it cannot be
/// compared, for one of the reasons below; the sum is `requests`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pace {
    /// The shortest and the longest delay that policies ask for, in seconds.
    pub delay_seconds_min: f64,
    pub delay_seconds_max: f64,
    pub requests: u64,
    /// The number of clients, each counted once for each host.
    pub clients: u64,
    pub compared: u64,
    /// The number of compared requests that surely came sooner than the delay.
    pub sooner: u64,
    /// The number of compared requests with an earlier time than the one before.
    pub out_of_order: u64,
    /// The number of requests without a time.
    pub untimed: u64,
    /// The number of requests without a client, in lists whose others have one.
    pub without_client: u64,
    /// The number of requests with a delay under a second, which times in seconds do not show.
    pub under_a_second: u64,
    /// The number of requests whose client was not followed, because there were too many.
    pub not_followed: u64,
}

impl Pace {
    /// Counts a request for which a policy asks for this delay.
    pub fn ask(&mut self, delay_seconds: f64) {
        let is_first = self.requests == 0;
        self.requests += 1;
        self.widen(delay_seconds, delay_seconds, is_first);
    }

    /// Adds the counts of later requests.
    pub fn merge(&mut self, later: &Pace) {
        if later.requests == 0 {
            return;
        }
        self.widen(later.delay_seconds_min, later.delay_seconds_max, self.requests == 0);
        self.requests += later.requests;
        self.clients += later.clients;
        self.compared += later.compared;
        self.sooner += later.sooner;
        self.out_of_order += later.out_of_order;
        self.untimed += later.untimed;
        self.without_client += later.without_client;
        self.under_a_second += later.under_a_second;
        self.not_followed += later.not_followed;
    }

    /// Describes the delays that policies ask for, in seconds.
    pub fn delays(&self) -> String {
        let Pace { delay_seconds_min: min, delay_seconds_max: max, .. } = self;
        if min == max { min.to_string() } else { format!("{min} to {max}") }
    }

    fn widen(&mut self, min: f64, max: f64, is_first: bool) {
        let [own_min, own_max] = [self.delay_seconds_min, self.delay_seconds_max];
        self.delay_seconds_min = if is_first { min } else { own_min.min(min) };
        self.delay_seconds_max = if is_first { max } else { own_max.max(max) };
    }
}
