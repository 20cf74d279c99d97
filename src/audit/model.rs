//! The findings of an audit as plain data: `--json` writes them, and the page shows them.
//!
//! Owns the shape of a [`Report`], not how it is computed; see [`Audit`](super::Audit) for that. The
//! report holds no times and no thread counts, so equal inputs give equal bytes. Rows refer to agents
//! by position in [`Report::agents`]; counts by agent follow the same order. Texts are copied from
//! files and URLs, cut where they are long; bytes that are not UTF-8 become U+FFFD.
//!
//! A [`List`] holds the first rows and the number of all rows. Rows with equal counts are ordered by
//! host, then by line. A file is counted once per host that serves it; one file for http and https of
//! a host counts once. A rule is counted once per policy, however many origins share the policy.
//!
//! ```
//! use portcullis::audit::model::Report;
//!
//! let report = Report { agents: vec!["ExampleBot".into()], ..Report::default() };
//! assert!(report.to_json().starts_with("{\n  \"format\": 0,"));
//! ```

use serde::Serialize;

/// The version of this shape. An incompatible change raises it.
pub const REPORT_FORMAT: u32 = 1;

/// A whole audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of portcullis.
    pub version: String,
    /// The lists of URLs, in the order in which they were read; `-` is standard input.
    pub inputs: Vec<String>,
    /// The source of the policies.
    pub source: SourceFacts,
    /// The agents, in the order of every count by agent.
    pub agents: Vec<String>,
    /// The records read.
    pub records: RecordCounts,
    /// Verdicts and reasons, by agent.
    pub verdicts: Vec<AgentVerdicts>,
    /// Policies by state, in the order of [`PolicyState::ALL`](crate::decision::PolicyState::ALL).
    pub states: Vec<StateCount>,
    /// The hosts of URLs with a known policy.
    pub hosts: HostFigures,
    /// Rules, and what they decided.
    pub rules: RuleFigures,
    /// What each agent may fetch of the origins in the set.
    pub reach: Vec<AgentReach>,
    /// The robots that files name, and what they may fetch.
    pub robots: RobotFigures,
    /// The origins of URLs without a known policy.
    pub unknown: UnknownFigures,
    /// Records that are not URLs.
    pub invalid: InvalidFigures,
    /// The sizes of files.
    pub files: FileFigures,
    /// Oddities of files by kind, the most common first; kinds that do not occur are left out.
    pub notes: Vec<NoteCount>,
    /// Crawl-delays.
    pub crawl_delays: CrawlDelays,
    /// Sitemaps.
    pub sitemaps: Sitemaps,
    /// The limits that can affect the report, hit or not.
    pub limits: Vec<LimitCount>,
}

impl Report {
    /// Returns the report as one JSON object, with a line feed.
    pub fn to_json(&self) -> String {
        crate::visible::to_json_pretty(self) + "\n"
    }
}

/// The first rows of an order, and the number of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The number of all rows.
    pub total: u64,
    /// The first rows.
    pub rows: Vec<T>,
}

/// The source of the policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceFacts {
    /// `set` (compiled), `folder` (files named by host) or `file` (one for every URL).
    pub kind: &'static str,
    /// The path that was given.
    pub name: String,
    /// The hash of the content, in hexadecimal.
    pub hash: String,
    /// The dialect.
    pub dialect: &'static str,
    /// The number of bytes read from each robots.txt; `None` without a limit.
    pub robots_bytes_max: Option<u64>,
    /// Hosts in the set; `None` if one file applies to every URL.
    pub hosts: Option<u64>,
    /// Origins (scheme, host and port) in the set; `None` if one file applies to every URL.
    pub origins: Option<u64>,
    /// Distinct policies: files with the same user-agent lines and rules on the same lines are one.
    pub policies: u64,
    /// When the oldest and the newest file were fetched, if known.
    pub captured: Option<Captured>,
}

/// When the oldest and the newest file were fetched (RFC 3339).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// The oldest file.
    pub first: String,
    /// The newest file.
    pub last: String,
}

/// The records read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordCounts {
    /// All records, including empty ones: `known + unknown + invalid`.
    pub records: u64,
    /// Their bytes, including line ends.
    pub bytes: u64,
    /// URLs with a known policy.
    pub known: u64,
    /// URLs without one.
    pub unknown: u64,
    /// Records that are not URLs.
    pub invalid: u64,
}

/// The decisions for one agent. The verdicts add up to [`RecordCounts::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentVerdicts {
    /// The agent.
    pub agent: String,
    /// URLs that it may fetch.
    pub allow: u64,
    /// URLs that it must not fetch.
    pub disallow: u64,
    /// URLs without a known policy.
    pub unknown: u64,
    /// Records that are not URLs.
    pub invalid: u64,
    /// All reasons, in the order of [`Reason::ALL`](crate::decision::Reason::ALL).
    pub reasons: Vec<ReasonCount>,
}

/// The number of decisions with one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    /// The [`Reason`](crate::decision::Reason): `rule`, `no-rule`, ….
    pub reason: &'static str,
    /// Decisions.
    pub count: u64,
}

/// The policies in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateCount {
    /// The [`PolicyState`](crate::decision::PolicyState): `rules`, `no-rules`, `unavailable`, ….
    pub state: &'static str,
    /// Origins of the set in this state; 0 for `unknown`.
    pub origins: u64,
    /// URLs of origins in this state.
    pub urls: u64,
}

/// The hosts of URLs with a known policy; http and https of a host are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFigures {
    /// Hosts of URLs. If one file applies to every URL, all hosts count as one.
    pub asked: u64,
    /// Those with a URL that some agent must not fetch.
    pub affected: u64,
    /// Those hosts, the most disallowed decisions first.
    pub most_affected: List<HostRow>,
}

/// The decisions on the URLs of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostRow {
    /// The host, with its port unless that is the default; `*` if one file applies to every URL.
    pub host: String,
    /// URLs.
    pub urls: u64,
    /// Decisions that disallow, over all agents.
    pub disallowed: u64,
    /// URLs that the agent must not fetch, by agent.
    pub by_agent: Vec<u64>,
}

/// Rules, and what they decided. Only rules that apply to one of the agents are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleFigures {
    /// Rules in all policies.
    pub rules: u64,
    /// Rules of policies with URLs in the list: `deciding.total + idle.total`.
    pub asked: u64,
    /// Rules that decided a URL, those with the most URLs first.
    pub deciding: List<DecidingRule>,
    /// Rules of those policies that decided none, those of the policies with the most URLs first.
    pub idle: List<IdleRule>,
    /// Rules that can never decide for any agent, those of the policies with the most URLs first,
    /// then with the most origins.
    pub never: List<NeverRule>,
    /// The same by cause.
    pub never_by_cause: NeverCounts,
    /// Rules for which the search hit a limit.
    pub not_known: u64,
}

/// A rule and where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// A host with the rule: that of the first URL it decided, else the first by name; `*` if one
    /// file applies to every URL.
    pub host: String,
    /// Hosts that share the rule's policy.
    pub hosts: u64,
    /// The line in the file.
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// The path pattern as written in the file.
    pub rule: String,
    /// The value of the first user-agent line of the group.
    pub group: String,
    /// The positions of the agents that the rule applies to.
    pub agents: Vec<usize>,
}

/// A rule that decided URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that it decided for some agent.
    pub urls: u64,
    /// URLs that it decided, by agent.
    pub by_agent: Vec<u64>,
    /// The first of those URLs, in input order.
    pub samples: Vec<String>,
}

/// A rule that decided nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdleRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that were checked against its policy.
    pub urls: u64,
}

/// A rule that can never decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that were checked against its policy.
    pub urls: u64,
    /// The cause.
    pub cause: NeverCause,
    /// The rules that win wherever it matches, or the equal rule. Empty if no URL matches, or if the
    /// dialect always allows the URL of robots.txt.
    pub covered_by: Vec<CoveringRule>,
}

/// Why a rule never decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeverCause {
    /// No URL matches the pattern.
    #[default]
    NoUrl,
    /// Other rules win wherever it matches.
    Shadowed,
    /// An earlier rule gives the same verdict on the same URLs.
    Equal,
}

/// Rules that never decide, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverCounts {
    /// [`NeverCause::NoUrl`].
    pub no_url: u64,
    /// [`NeverCause::Shadowed`].
    pub shadowed: u64,
    /// [`NeverCause::Equal`].
    pub equal: u64,
}

/// A rule that keeps another from deciding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoveringRule {
    /// The line in the same file.
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// The path pattern.
    pub rule: String,
}

/// Origins by how much of them a robot may fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    /// Origins that allow every URL.
    pub everything: u64,
    /// Origins that allow some URLs.
    pub part: u64,
    /// Origins that allow none.
    pub nothing: u64,
    /// Origins with more rules than the limit for this analysis.
    pub not_known: u64,
}

/// What one agent may fetch of the origins in the set, whatever the list of URLs.
///
/// The first three counts add up to the number of origins, and so do those of `reach`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentReach {
    /// The agent.
    pub agent: String,
    /// Origins with a group that names it.
    pub named: u64,
    /// Origins without such a group, but with one for all robots.
    pub by_default: u64,
    /// Origins with neither: no such group, no rules or no file.
    pub unnamed: u64,
    /// Origins by what it may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
}

/// The robots that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotFigures {
    /// Origins with a group that names a robot.
    pub naming_origins: u64,
    /// Origins with rules and without a group for all robots.
    pub without_default: u64,
    /// What robots may fetch that no group names, over the origins with a group for all robots; its
    /// name is `*`.
    pub others: RobotRow,
    /// The robots, those that most origins name first, then by name.
    pub most_named: List<RobotRow>,
}

/// A robot that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotRow {
    /// The name in lower case.
    pub name: String,
    /// Whether it is a token of one of the agents.
    pub asked: bool,
    /// Origins that name it.
    pub origins: u64,
    /// Hosts that name it. A host counts twice if its files for http and https differ and both name
    /// the robot.
    pub hosts: u64,
    /// Those origins by what it may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
}

/// Origins of URLs without a known policy: what to fetch next.
///
/// The first [`AUDIT_UNKNOWN_ORIGINS_MAX`](crate::limits::AUDIT_UNKNOWN_ORIGINS_MAX) origins in the
/// input are counted one by one, exactly. The URLs of later origins are counted in `urls` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownFigures {
    /// URLs.
    pub urls: u64,
    /// Distinct origins; a lower bound unless `exact`.
    pub origins: u64,
    /// Whether every origin is counted.
    pub exact: bool,
    /// The counted origins, those with the most URLs first, then by name.
    pub worth_fetching: List<UnknownRow>,
}

/// An origin without a known policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownRow {
    /// The origin: `https://example.com:8443`.
    pub origin: String,
    /// URLs.
    pub urls: u64,
    /// The same number: counts of listed origins are exact.
    pub urls_min: u64,
}

/// Records that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvalidFigures {
    /// Records without text.
    pub empty: u64,
    /// Records with text.
    pub others: u64,
    /// The first of those, in input order.
    pub examples: Vec<String>,
}

/// The sizes of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileFigures {
    /// Files.
    pub files: u64,
    /// Bytes per file, as far as they were stored.
    pub bytes: Distribution,
    /// The files with the most bytes.
    pub longest: List<FileRow>,
    /// Groups per file.
    pub groups: Distribution,
    /// Rules per group.
    pub rules_of_group: Distribution,
    /// Rules per file.
    pub rules: Distribution,
    /// The files with the most rules.
    pub most_rules: List<FileRow>,
    /// Files that disallow every URL to robots they do not name.
    pub closed: u64,
}

/// A large file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// The host.
    pub host: String,
    /// Bytes, as far as they were stored.
    pub bytes: u64,
    /// Groups.
    pub groups: u64,
    /// Rules.
    pub rules: u64,
}

/// The distribution of a number. All members are 0 if there are no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// The number of numbers.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The smallest.
    pub min: u64,
    /// The median: the smallest number that at least half of them do not exceed.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// The numbers by power of two (0, 1, 2 to 3, 4 to 7, …), from the first bin that is not empty to
    /// the last.
    pub bins: Vec<Bin>,
}

/// The numbers between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The lower bound, inclusive.
    pub from: u64,
    /// The upper bound, inclusive.
    pub to: u64,
    /// The number of numbers between them.
    pub count: u64,
}

/// The files with one kind of oddity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoteCount {
    /// The name for programs: `unknown-field`, `rule-outside-group`, ….
    pub kind: &'static str,
    /// What it is and how to fix it.
    pub meaning: &'static str,
    /// Files.
    pub files: u64,
    /// The first hosts by name.
    pub examples: Vec<String>,
}

/// Crawl-delays. They decide no URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlDelays {
    /// Files with a crawl-delay.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Lines whose value is not a number of seconds.
    pub malformed: u64,
    /// The seconds, rounded up.
    pub seconds: Distribution,
    /// The longest delays.
    pub longest: List<CrawlDelayRow>,
}

/// A crawl-delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlDelayRow {
    /// The host.
    pub host: String,
    /// The line.
    pub line: u32,
    /// The value as written in the file.
    pub value: String,
    /// The value of the user-agent line before it, if there is one.
    pub group: Option<String>,
}

/// Sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sitemaps {
    /// Files that name a sitemap.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Lines whose value is not an absolute URL.
    pub malformed: u64,
    /// Lines whose sitemap is on another host.
    pub elsewhere: u64,
    /// Sitemaps per file, over the files that name one.
    pub of_file: Distribution,
    /// The files with the most sitemaps.
    pub most: List<SitemapRow>,
}

/// A file that names sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SitemapRow {
    /// The host.
    pub host: String,
    /// Sitemaps.
    pub sitemaps: u64,
    /// The first of them.
    pub first: String,
}

/// A limit, and how often it was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitCount {
    /// The name for programs: `robots-bytes`, `line-bytes`, `url-bytes`, `unknown-origins`,
    /// `analysis`, `reach`.
    pub name: &'static str,
    /// The limit; `None` if there is none, or if it is not one number.
    pub value: Option<u64>,
    /// What it limits.
    pub what: &'static str,
    /// How often it was hit.
    pub hits: u64,
    /// What hit it, in the plural: `files`, `records`, `policies`.
    pub unit: &'static str,
}
