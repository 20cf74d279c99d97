//! What an audit found, as plain data: `--json` is this, and the page is made of it.
//!
//! Owns the shape of a [`Report`] and nothing of how it is found. It holds no time and no number of
//! threads, so the same inputs give the same bytes. Rows name agents by their position in
//! [`Report::agents`], and counts by agent stand in that order. Texts are those of files and URLs as
//! they stand there; bytes that are no UTF-8 are shown as U+FFFD.
//!
//! A [`List`] has the first rows of an order that its field tells, and the number of all of them; no
//! list is cut without saying so. Rows of equal counts are ordered by host, then by line.
//!
//! - [`rules`] has the rows about rules: what they decided, and which never can.
//! - [`files`] has what is known of the files whatever URLs are asked about.
//!
//! ```
//! use portcullis::audit::model::Report;
//!
//! let report = Report { agents: vec!["ExampleBot".into()], ..Report::default() };
//! let json = serde_json::to_string(&report)?;
//! assert_eq!(serde_json::from_str::<Report>(&json)?, report);
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod files;
pub mod rules;

use serde::{Deserialize, Serialize};

use files::{CrawlDelays, FileFigures, NoteCount, Sitemaps};
use rules::RuleFigures;

/// The number of this shape; a change that readers notice raises it.
pub const REPORT_FORMAT: u32 = 1;

/// A whole audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of portcullis.
    pub version: String,
    /// The names of the lists of URLs, in the order in which they were read; `-` is standard input.
    pub inputs: Vec<String>,
    /// Where the policies come from.
    pub source: SourceFacts,
    /// Who asks, in the order of every list of counts by agent.
    pub agents: Vec<String>,
    /// What was read.
    pub records: RecordCounts,
    /// Verdicts and reasons, by agent.
    pub verdicts: Vec<AgentVerdicts>,
    /// Policies by state, in the order of [`PolicyState::ALL`](crate::decision::PolicyState::ALL).
    pub states: Vec<StateCount>,
    /// The hosts of URLs for which a policy is known.
    pub hosts: HostFigures,
    /// Rules, and what they decided.
    pub rules: RuleFigures,
    /// What each agent that asks gets of the origins in the set.
    pub reach: Vec<AgentReach>,
    /// The robots that files name, and what they get.
    pub robots: RobotFigures,
    /// Disagreement with other dialects and sets, one by one as they were asked for.
    pub comparisons: Vec<Comparison>,
    /// Hosts of URLs for which no policy is known.
    pub unknown: UnknownFigures,
    /// Records that are no URL.
    pub invalid: InvalidFigures,
    /// The files.
    pub files: FileFigures,
    /// What was odd about files, by kind; the kinds that occur, the most files first.
    pub notes: Vec<NoteCount>,
    /// Crawl-delays.
    pub crawl_delays: CrawlDelays,
    /// Sitemaps.
    pub sitemaps: Sitemaps,
    /// The limits that could change what a reader makes of the report, hit or not.
    pub limits: Vec<LimitCount>,
}

impl Report {
    /// The report as one JSON object and LF.
    pub fn to_json(&self) -> String {
        let json = crate::visible::to_json_pretty(self);
        json + "\n"
    }
}

/// The first rows of an order, and how many there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List<T> {
    /// The number of all rows, of which the first are here.
    pub total: u64,
    /// The first of them.
    pub rows: Vec<T>,
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { total: 0, rows: Vec::new() }
    }
}

/// Where the policies come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// `set` (a compiled one), `folder` (files named by host) or `file` (one for every URL).
    pub kind: String,
    /// The name that it was given by.
    pub name: String,
    /// The hash of its content, in hexadecimal digits.
    pub hash: String,
    /// The dialect that is followed.
    pub dialect: String,
    /// Bytes of a robots.txt that count; nothing without a limit.
    pub robots_bytes_max: Option<u64>,
    /// Hosts of which something is known; nothing if one file speaks for every URL.
    pub hosts: Option<u64>,
    /// Their origins (scheme, host and port); nothing if one file speaks for every URL.
    pub origins: Option<u64>,
    /// Distinct policies: files with the same user-agent lines and rules on the same lines are one.
    pub policies: u64,
    /// When the oldest and the newest file were fetched (RFC 3339), if that is known.
    pub captured: Option<Captured>,
}

/// The first and the last moment at which files were fetched (RFC 3339).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The oldest file's.
    pub first: String,
    /// The newest file's.
    pub last: String,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordCounts {
    /// Records, empty ones too. It is `known + unknown + invalid`.
    pub records: u64,
    /// Their bytes, with what ends them.
    pub bytes: u64,
    /// URLs for which a policy is known.
    pub known: u64,
    /// URLs for which none is.
    pub unknown: u64,
    /// Records that are no URL.
    pub invalid: u64,
}

/// The decisions for one agent, counted. Each row adds up to [`RecordCounts::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentVerdicts {
    /// The agent.
    pub agent: String,
    /// URLs that it may fetch.
    pub allow: u64,
    /// URLs that it must not fetch.
    pub disallow: u64,
    /// URLs for which no policy is known.
    pub unknown: u64,
    /// Records that are no URL.
    pub invalid: u64,
    /// Why, in the order of [`Reason::ALL`](crate::decision::Reason::ALL), each also if it is 0.
    pub reasons: Vec<ReasonCount>,
}

/// How often a verdict had a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// The word of [`Reason`](crate::decision::Reason): `rule`, `no-rule`, ….
    pub reason: String,
    /// Decisions.
    pub count: u64,
}

/// The policies in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateCount {
    /// The word of [`PolicyState`](crate::decision::PolicyState): `rules`, `no-rules`,
    /// `unavailable`, ….
    pub state: String,
    /// Origins of the set in this state; 0 for `unknown`, since a set holds what is known.
    pub origins: u64,
    /// URLs whose origin is in this state.
    pub urls: u64,
}

/// The hosts of URLs for which a policy is known. http and https of a host are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFigures {
    /// Hosts that URLs are of. Where one file speaks for every URL all hosts are counted as one.
    pub asked: u64,
    /// Of those, the ones with a URL that some agent must not fetch.
    pub affected: u64,
    /// The hosts with such URLs, the most disallowed decisions first.
    pub most_affected: List<HostRow>,
}

/// A host and the decisions on its URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// The host, with its port if that is no default; `*` where one file speaks for every URL.
    pub host: String,
    /// URLs.
    pub urls: u64,
    /// Decisions that disallow, over all agents.
    pub disallowed: u64,
    /// URLs that the agent must not fetch, by agent.
    pub by_agent: Vec<u64>,
}

/// What one of the agents gets of the origins in the set, whatever URLs are asked about.
///
/// The first three add up to the origins, and so do the next four.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReach {
    /// The agent.
    pub agent: String,
    /// Origins with a group that names it.
    pub named: u64,
    /// Origins with groups for robots that they do not name, and none that names it.
    pub by_default: u64,
    /// Origins that have nothing to say to it: no such group, no rules or no file.
    pub unnamed: u64,
    /// Origins that leave it every URL.
    pub everything: u64,
    /// Origins that leave it some.
    pub part: u64,
    /// Origins that leave it none.
    pub nothing: u64,
    /// Origins whose rules are too many to tell within a limit.
    pub not_known: u64,
}

/// The robots that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotFigures {
    /// Origins with a group that names a robot.
    pub naming_origins: u64,
    /// Origins with rules, and no group for robots that they do not name.
    pub without_default: u64,
    /// What robots get that no group names, over the origins that have groups for them; its name is
    /// `*`.
    pub others: RobotRow,
    /// The robots, the most origins first, then by name.
    pub most_named: List<RobotRow>,
}

/// A robot that files name, and what they leave it, by origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotRow {
    /// Its name in lower case.
    pub name: String,
    /// Whether it is a token of an agent that asks.
    pub asked: bool,
    /// Origins that name it.
    pub origins: u64,
    /// Of those, the ones that leave it every URL.
    pub everything: u64,
    /// The ones that leave it some.
    pub part: u64,
    /// The ones that leave it none.
    pub nothing: u64,
    /// The ones whose rules are too many to tell within a limit.
    pub not_known: u64,
}

/// Where another dialect or set decides otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// `dialect` (the same files, read by another one) or `set` (another set of policies).
    pub kind: String,
    /// The dialect's name, or the set's as it was given.
    pub name: String,
    /// The dialect that the other side follows.
    pub dialect: String,
    /// The hash of the other side's policies, in hexadecimal digits.
    pub hash: String,
    /// URLs with another verdict for some agent.
    pub urls: u64,
    /// URLs with another verdict, by agent.
    pub by_agent: Vec<u64>,
    /// Decisions by their verdict here and there, over all agents; only those that differ and occur,
    /// in the order of verdicts.
    pub changes: Vec<VerdictChange>,
    /// Of each change the first URLs, in the order of the input.
    pub examples: Vec<ComparedUrl>,
}

/// How often one verdict became another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictChange {
    /// The verdict of the report's own policies.
    pub here: String,
    /// The other side's verdict.
    pub there: String,
    /// Decisions.
    pub count: u64,
}

/// A URL that two sides decide differently for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedUrl {
    /// The URL.
    pub url: String,
    /// The position of the agent.
    pub agent: usize,
    /// The report's own decision.
    pub here: ToldDecision,
    /// The other side's.
    pub there: ToldDecision,
}

/// A decision and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldDecision {
    /// The verdict.
    pub verdict: String,
    /// Why.
    pub reason: String,
    /// The line of the rule that decides, if one does.
    pub line: Option<u32>,
    /// The value of that rule.
    pub rule: Option<String>,
}

/// Origins of URLs for which no policy is known: what to fetch next.
///
/// They are counted in a table of limited size. Once it is full an origin that is new takes the place
/// of the one with the fewest URLs, and its count with it, so counts may be too high by as much as
/// [`UnknownRow::urls`] and [`UnknownRow::urls_min`] differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownFigures {
    /// URLs.
    pub urls: u64,
    /// Different origins, if the table held them all; else at least so many.
    pub origins: u64,
    /// Whether the table held them all, so that every count is exact.
    pub exact: bool,
    /// The origins, those with the most URLs first, then by name.
    pub worth_fetching: List<UnknownRow>,
}

/// An origin for which no policy is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownRow {
    /// The origin: `https://example.com:8443`.
    pub origin: String,
    /// URLs, at most.
    pub urls: u64,
    /// URLs, at least; the same where counts are exact.
    pub urls_min: u64,
}

/// Records that are no URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidFigures {
    /// Records without any text.
    pub empty: u64,
    /// Records with text.
    pub others: u64,
    /// The first of those, in the order of the input.
    pub examples: Vec<String>,
}

/// A limit, and how often it was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitCount {
    /// Its name for machines: `robots-bytes`, `line-bytes`, `url-bytes`, `unknown-origins`,
    /// `analysis`.
    pub name: String,
    /// The limit; nothing if there is none, or if it is not one number.
    pub value: Option<u64>,
    /// What it limits, for people.
    pub what: String,
    /// How often it was hit.
    pub hits: u64,
    /// What it was hit by, in the plural: `files`, `URLs`, `rule sets`.
    pub unit: String,
}
