//! The report of an audit as plain data: `audit -o FILE.json` writes it, and the page shows it.
//!
//! The report holds no times and no thread counts, so equal inputs give equal bytes. Rows refer to
//! agents by position in those of the account; counts by agent are in the same order. Texts are copied
//! from files and URLs, and cut if they are long.
//!
//! A [`List`] holds the first rows and the number of all rows. Rows with equal counts are ordered
//! by host, then by line. A rule is counted once per policy, for any number of hosts that share the
//! policy.

use portcullis_dialect::decision::Verdict;
use portcullis_report::Account;
use serde::Serialize;

use crate::survey::Survey;
use crate::text::Text;

/// The report of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub format: &'static str,
    /// The policies, the agents, and the decisions by agent.
    pub account: Account,
    /// The lists of URLs, in the order in which they were read. `-` is standard input.
    pub inputs: Vec<String>,
    pub hosts: HostFigures,
    pub rules: RuleFigures,
    /// The time of `survey`; `newest` if each URL has its own time, `None` if no time was asked for.
    pub survey_at: Option<String>,
    /// What the set holds, independent of the URLs.
    pub survey: Survey,
}

impl Report {
    /// Returns the report as one JSON object, with a line feed.
    pub fn to_json(&self) -> String {
        portcullis_text::json::to_json_pretty(self) + "\n"
    }

    /// Returns the number of records with a known policy.
    pub(crate) fn known(&self) -> u64 {
        [Verdict::Allow, Verdict::Disallow].map(|it| self.account.records.of_first(it)).iter().sum()
    }
}

/// The first rows of an order, and the number of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The number of all rows.
    pub total: u64,
    pub rows: Vec<T>,
}

/// The hosts of URLs with a known policy. http and https of a host are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFigures {
    /// The number of hosts of URLs. If one file applies to every URL, all hosts count as one.
    pub asked: u64,
    /// The number of hosts with a URL that some agent must not fetch.
    pub affected: u64,
    /// The affected hosts, the most disallowed decisions first.
    pub most_affected: List<HostRow>,
}

/// The decisions on the URLs of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostRow {
    /// The host, with its port unless it is the default port. `*` if one file applies to every URL.
    pub host: Text,
    pub records: u64,
    /// The number of decisions that disallow, over all agents.
    pub disallowed: u64,
    /// The number of URLs that each agent must not fetch.
    pub by_agent: Vec<u64>,
}

/// Rules, and the URLs that they decided. Only rules that apply to one of the agents are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleFigures {
    /// The number of rules in all policies, those of earlier times included.
    pub rules: u64,
    /// The number of rules in policies with URLs in the list.
    pub asked: u64,
    /// The rules that decided a URL, ordered by the number of URLs.
    pub deciding: List<DecidingRule>,
}

/// A rule that decided URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    /// A host with the rule: of the hosts that share its policy, the one with the most URLs in the
    /// list, or else the first by name. `*` if one file applies to every URL.
    pub host: Text,
    /// The number of hosts that share the rule's policy. If URLs were decided as of times, those of
    /// the list for which it was in force.
    pub hosts: u64,
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// The path pattern as written in the file.
    pub rule: Text,
    /// The value of the first user-agent line of the group.
    pub group: Text,
    /// The number of URLs that the rule decided for some agent.
    pub records: u64,
    /// The number of URLs that the rule decided, by agent.
    pub by_agent: Vec<u64>,
    /// The first of these URLs, in input order.
    pub samples: Vec<Text>,
}
