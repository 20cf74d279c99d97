//! The report of an audit as plain data: `audit --report` writes it, and the page shows it.
//!
//! The report holds no times and no thread counts, so equal inputs give equal bytes. Rows refer to
//! agents by position in [`Report::agents`]; counts by agent are in the same order. Texts are copied
//! from files and URLs, and cut if they are long.
//!
//! A [`List`] holds the first rows and the number of all rows. Rows with equal counts are ordered
//! by host, then by line. A rule is counted once per policy, for any number of hosts that share the
//! policy.

use portcullis_report::Figures;
use portcullis_robots::access::DateSpan;
use serde::Serialize;

use crate::survey::Survey;
use crate::text::Text;

/// The version of the report's format. Incompatible changes increase it.
pub(crate) const REPORT_FORMAT: u32 = 3;

/// The report of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub format: u32,
    pub version: &'static str,
    /// The lists of URLs, in the order in which they were read. `-` is standard input.
    pub inputs: Vec<String>,
    /// The times of policies, if others than the newest were asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    pub source: PolicyFacts,
    /// The agents, in the order of all counts by agent.
    pub agents: Vec<String>,
    pub records: RecordFigures,
    pub verdicts: Vec<AgentVerdicts>,
    /// The number of URLs by the state of their origin's policy.
    pub states: Figures,
    pub hosts: HostFigures,
    pub rules: RuleFigures,
    /// What pages may be used for: a row for each agent and label.
    pub usage: Vec<UsageRow>,
    pub unknown: Unknown,
    pub invalid: InvalidFigures,
    /// What the set holds, independent of the URLs.
    pub survey: Survey,
}

impl Report {
    /// Returns the report as one JSON object, with a line feed.
    pub fn to_json(&self) -> String {
        portcullis_text::json::to_json_pretty(self) + "\n"
    }
}

/// The first rows of an order, and the number of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The number of all rows.
    pub total: u64,
    pub rows: Vec<T>,
}

/// The times of the policies that a report is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AsOf {
    /// The times as of which URLs were decided: one time, or the place of the time in each record.
    pub urls: String,
    /// The time of [`Report::survey`]; `newest` if each URL has its own time.
    pub survey: String,
}

/// The source of the policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyFacts {
    /// `set` (compiled), `folder` (files named by host) or `file` (one for every URL).
    pub kind: &'static str,
    pub name: String,
    /// The hash of the content, in hexadecimal.
    pub hash: String,
    pub dialect: &'static str,
    /// The most bytes read from each robots.txt. `None` means no limit.
    pub robots_bytes_max: Option<u64>,
    /// The number of hosts in the set. `None` if one file applies to every URL.
    pub hosts: Option<u64>,
    /// The number of origins (scheme, host and port) in the set. `None` if one file applies to
    /// every URL.
    pub origins: Option<u64>,
    /// The number of distinct policies. Files with the same user-agent lines and rules on the same
    /// lines share one policy.
    pub policies: u64,
    /// The dates of the oldest and the newest capture, if known.
    pub captured: Option<DateSpan>,
}

/// The records read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordFigures {
    /// The number of all records, including empty ones: `known + unknown + invalid`.
    pub records: u64,
    /// The bytes of all records, including line ends.
    pub bytes: u64,
    /// The number of URLs with a known policy.
    pub known: u64,
    pub unknown: u64,
    pub invalid: u64,
}

/// The decisions for one agent. The verdicts add up to [`RecordFigures::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentVerdicts {
    pub agent: String,
    pub allow: u64,
    pub disallow: u64,
    pub unknown: u64,
    pub invalid: u64,
    /// The counts of all reasons, in the order of
    /// [`Reason::ALL`](portcullis_dialect::decision::Reason::ALL).
    pub reasons: Figures,
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
    pub urls: u64,
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
    pub urls: u64,
    /// The number of URLs that the rule decided, by agent.
    pub by_agent: Vec<u64>,
    /// The first of these URLs, in input order.
    pub samples: Vec<Text>,
}

/// The preferences about one use of the URLs for one agent. The counts add up to
/// [`RecordFigures::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    pub agent: String,
    /// `train-ai`, `ai-use` or `search`.
    pub label: &'static str,
    pub y: u64,
    pub n: u64,
    pub unstated: u64,
    /// The number of records that are disallowed, unknown or invalid, which have no preference.
    pub no_access: u64,
}

/// Origins of URLs without a known policy, as candidates to fetch next. An origin that was first
/// captured after the time of a URL is not one of them.
///
/// The first [`AUDIT_UNKNOWN_ORIGINS_MAX`](crate::limits::AUDIT_UNKNOWN_ORIGINS_MAX)
/// origins in the input are counted individually and exactly. The URLs of later origins are counted
/// in `urls` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unknown {
    pub urls: u64,
    /// The number of distinct origins. A lower bound unless `exact`.
    pub origins: u64,
    /// The number of their distinct hosts. A lower bound unless `exact`.
    pub hosts: u64,
    /// Whether every origin is counted.
    pub exact: bool,
    /// The counted origins, ordered by the number of URLs, then by name.
    pub worth_fetching: List<UnknownOrigin>,
}

/// An origin without a known policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownOrigin {
    /// The origin: `https://example.com:8443`.
    pub origin: Text,
    pub urls: u64,
}

/// Records that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvalidFigures {
    /// The number of records without text.
    pub empty: u64,
    /// The number of records with text.
    pub others: u64,
    /// The first records with text, in input order.
    pub examples: Vec<Text>,
}
