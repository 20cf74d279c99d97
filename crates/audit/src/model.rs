//! The findings of an audit as plain data: `--report` writes them, and the page shows them.
//!
//! This module defines the shape of a [`Report`]. See [`Audit`](super::Audit) for how it is
//! computed. The report holds no times and no thread counts, so equal inputs give equal bytes. Rows
//! refer to agents by position in [`Report::agents`]; counts by agent are in the same order. Text
//! is copied from files and URLs, and cut if it is long. Bytes that are not UTF-8 become U+FFFD.
//!
//! A [`List`] holds the first rows and the number of all rows. Rows with equal counts are ordered
//! by host, then by line. A file is counted once per host that serves it, even if it applies to
//! both http and https. A host whose files for http and https differ counts once for each file. A
//! rule is counted once per policy, for any number of hosts that share the policy.
//!
//! ```
//! use portcullis_audit::model::Report;
//!
//! let report = Report { agents: vec!["ExampleBot".into()], ..Report::default() };
//! assert!(report.to_json().starts_with("{\n  \"format\": 0,"));
//! ```

use serde::Serialize;

/// The version of the report's format. Incompatible changes increase it.
pub const REPORT_FORMAT: u32 = 1;

/// The report of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub format: u32,
    pub version: String,
    /// The lists of URLs, in the order in which they were read. `-` is standard input.
    pub inputs: Vec<String>,
    pub source: SourceFacts,
    /// The agents, in the order of all counts by agent.
    pub agents: Vec<String>,
    pub records: RecordCounts,
    pub verdicts: Vec<AgentVerdicts>,
    /// Policies by state, in the order of
    /// [`PolicyState::ALL`](portcullis_dialect::decision::PolicyState::ALL).
    pub states: Vec<StateCount>,
    pub hosts: HostFigures,
    pub rules: RuleFigures,
    /// How much each agent may fetch from the origins in the set.
    pub reach: Vec<AgentReach>,
    pub robots: RobotFigures,
    /// What pages may be used for.
    pub usage: UsageFigures,
    pub unknown: UnknownFigures,
    pub invalid: InvalidFigures,
    pub files: FileFigures,
    /// Oddities of files by kind, the most common first. Kinds that do not occur are left out.
    pub notes: Vec<NoteCount>,
    pub crawl_delays: CrawlDelays,
    pub sitemaps: Sitemaps,
    /// The limits that can affect the report, hit or not.
    pub limits: Vec<LimitCount>,
}

impl Report {
    /// Returns the report as one JSON object, with a line feed.
    pub fn to_json(&self) -> String {
        portcullis_robots::json::to_json_pretty(self) + "\n"
    }
}

/// The first rows of an order, and the number of all rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct List<T> {
    /// The number of all rows.
    pub total: u64,
    pub rows: Vec<T>,
}

/// The source of the policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceFacts {
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
    pub captured: Option<Captured>,
}

/// The dates of the oldest and the newest capture (RFC 3339).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    pub first: String,
    pub last: String,
}

/// The records read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordCounts {
    /// The number of all records, including empty ones: `known + unknown + invalid`.
    pub records: u64,
    /// The bytes of all records, including line ends.
    pub bytes: u64,
    /// The number of URLs with a known policy.
    pub known: u64,
    pub unknown: u64,
    pub invalid: u64,
}

/// The decisions for one agent. The verdicts add up to [`RecordCounts::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentVerdicts {
    pub agent: String,
    pub allow: u64,
    pub disallow: u64,
    pub unknown: u64,
    pub invalid: u64,
    /// The counts of all reasons, in the order of
    /// [`Reason::ALL`](portcullis_dialect::decision::Reason::ALL).
    pub reasons: Vec<ReasonCount>,
}

/// The number of decisions with one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    /// The [`Reason`](portcullis_dialect::decision::Reason): `rule`, `no-rule`, ….
    pub reason: &'static str,
    pub count: u64,
}

/// The policies in one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateCount {
    /// The [`PolicyState`](portcullis_dialect::decision::PolicyState): `rules`, `no-rules`,
    /// `unavailable`, ….
    pub state: &'static str,
    /// The number of hosts in the set with a policy in this state. 0 for `unknown`.
    pub hosts: u64,
    /// The number of origins in the set in this state. 0 for `unknown`.
    pub origins: u64,
    pub urls: u64,
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
    pub host: String,
    pub urls: u64,
    /// The number of decisions that disallow, over all agents.
    pub disallowed: u64,
    /// The number of URLs that each agent must not fetch.
    pub by_agent: Vec<u64>,
}

/// Rules, and the URLs that they decided. Only rules that apply to one of the agents are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleFigures {
    /// The number of rules in all policies.
    pub rules: u64,
    /// The number of rules in policies with URLs in the list: `deciding.total + idle.total`.
    pub asked: u64,
    /// The rules that decided a URL, ordered by the number of URLs.
    pub deciding: List<DecidingRule>,
    /// The rules in the same policies that decided no URL, ordered by the number of URLs of their
    /// policies.
    pub idle: List<IdleRule>,
    /// The rules that can never decide for any agent, ordered by the number of URLs of their
    /// policies, then by the number of origins.
    pub never: List<NeverRule>,
    pub never_by_cause: NeverCounts,
    /// The number of rules for which the search hit a limit.
    pub not_known: u64,
}

/// A rule and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// A host with the rule: of the hosts that share its policy, the one with the most URLs in the
    /// list, or else the first by name. `*` if one file applies to every URL.
    pub host: String,
    /// The number of hosts that share the rule's policy.
    pub hosts: u64,
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// The path pattern as written in the file.
    pub rule: String,
    /// The value of the first user-agent line of the group.
    pub group: String,
    /// The positions of the agents to which the rule applies.
    pub agents: Vec<usize>,
}

/// A rule that decided URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    #[serde(flatten)]
    pub row: RuleRow,
    /// The number of URLs that the rule decided for some agent.
    pub urls: u64,
    /// The number of URLs that the rule decided, by agent.
    pub by_agent: Vec<u64>,
    /// The first of these URLs, in input order.
    pub samples: Vec<String>,
}

/// A rule that decided no URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IdleRule {
    #[serde(flatten)]
    pub row: RuleRow,
    /// The number of URLs that were checked against the rule's policy.
    pub urls: u64,
}

/// A rule that can never decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverRule {
    #[serde(flatten)]
    pub row: RuleRow,
    /// The number of URLs that were checked against the rule's policy.
    pub urls: u64,
    pub cause: NeverCause,
    /// The rules that win wherever this rule matches, or the equal rule. Empty if no URL matches,
    /// or if the rule only matches the URL of robots.txt, which the dialect always allows.
    pub covered_by: Vec<CoveringRule>,
}

/// Why a rule never decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeverCause {
    /// No URL matches the pattern.
    #[default]
    NoUrl,
    /// Other rules win wherever the rule matches.
    Shadowed,
    /// An earlier rule gives the same verdict on the same URLs.
    Equal,
}

/// The number of rules that never decide, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverCounts {
    pub no_url: u64,
    pub shadowed: u64,
    pub equal: u64,
}

/// A rule that prevents another rule from deciding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoveringRule {
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    pub rule: String,
}

/// The number of origins or hosts by how much a robot may fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    pub everything: u64,
    pub part: u64,
    pub nothing: u64,
    /// The number with more rules than the limit for this analysis.
    pub not_known: u64,
}

/// How much one agent may fetch from the set, independent of the list of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentReach {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
}

/// The number of origins or hosts by how they address an agent, and by how much they allow it. The
/// first three counts add up to the total, and so do the counts of `reach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressCounts {
    /// The number with a group that names the agent.
    pub named: u64,
    /// The number without a group that names the agent, but with a group for all robots.
    pub by_default: u64,
    /// The number with neither: no group for the agent, no rules or no file.
    pub unnamed: u64,
    /// The number by how much the agent may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
}

/// The robots that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotFigures {
    /// The number of origins with a group that names a robot.
    pub naming_origins: u64,
    /// The number of hosts with a group that names a robot.
    pub naming_hosts: u64,
    /// The number of origins with rules but no group for all robots.
    pub without_default: u64,
    /// The number of hosts with rules but no group for all robots.
    pub hosts_without_default: u64,
    /// How much robots that no group names may fetch, over the origins with a group for all robots.
    /// The name of the row is `*`.
    pub others: RobotRow,
    /// The robots, ordered by the number of hosts that name them, then by origins, then by name.
    pub most_named: List<RobotRow>,
}

/// A robot that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotRow {
    /// The name in lower case.
    pub name: String,
    /// Whether the name is a token of one of the agents.
    pub asked: bool,
    /// The number of origins that name the robot.
    pub origins: u64,
    /// The number of hosts that name the robot.
    pub hosts: u64,
    /// The number of these origins by how much the robot may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
    /// The number of these hosts by how much the robot may fetch.
    pub by_host: ReachCounts,
}

/// What pages may be used for: Content-Usage, Content-Signal and License.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageFigures {
    /// The number of hosts whose file has such a record.
    pub hosts: u64,
    /// A row for each agent and label.
    pub urls: Vec<UsageRow>,
    /// The conflicting statements, ordered by the number of hosts.
    pub conflicts: List<UsageConflict>,
    /// The number of hosts by kind of conflict. A host counts once for each label.
    pub by_conflict: ConflictCounts,
    /// The number of hosts that name a licence.
    pub licensed: u64,
    /// The licences, ordered by the number of hosts.
    pub licenses: List<LicenseRow>,
}

/// The preferences about one use of the URLs for one agent. The counts add up to
/// [`RecordCounts::records`].
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

/// A statement about a use that conflicts with another record of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageConflict {
    /// A host with the file: of the hosts that share its policy, the one with the most URLs in the
    /// list, or else the first by name. `*` if one file applies to every URL.
    pub host: String,
    /// The number of hosts that share the file's policy.
    pub hosts: u64,
    pub label: &'static str,
    pub kind: ConflictKind,
    /// The line of the statement that has no effect.
    pub line: u32,
    /// The positions of the agents that are concerned.
    pub agents: Vec<usize>,
}

/// Why a statement has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// The use is `y`, but the agent may not fetch any URL.
    #[default]
    NoAccess,
    /// Another statement says `n`: for the same path, or for every path in the other field.
    Overruled,
    /// The statement applies to robots that no group names. The agent follows its own group, which
    /// has no statement.
    OtherGroup,
}

/// The number of hosts by kind of conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConflictCounts {
    pub no_access: u64,
    pub overruled: u64,
    pub other_group: u64,
}

/// A licence and the hosts that name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LicenseRow {
    pub license: String,
    pub hosts: u64,
}

/// Origins of URLs without a known policy, as candidates to fetch next.
///
/// The first [`AUDIT_UNKNOWN_ORIGINS_MAX`](portcullis_dialect::limits::AUDIT_UNKNOWN_ORIGINS_MAX)
/// origins in the input are counted individually and exactly. The URLs of later origins are counted
/// in `urls` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownFigures {
    pub urls: u64,
    /// The number of distinct origins. A lower bound unless `exact`.
    pub origins: u64,
    /// The number of their distinct hosts. A lower bound unless `exact`.
    pub hosts: u64,
    /// Whether every origin is counted.
    pub exact: bool,
    /// The counted origins, ordered by the number of URLs, then by name.
    pub worth_fetching: List<UnknownRow>,
}

/// An origin without a known policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownRow {
    /// The origin: `https://example.com:8443`.
    pub origin: String,
    pub urls: u64,
    /// The same number as `urls`, because counts of listed origins are exact.
    pub urls_min: u64,
}

/// Records that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvalidFigures {
    /// The number of records without text.
    pub empty: u64,
    /// The number of records with text.
    pub others: u64,
    /// The first records with text, in input order.
    pub examples: Vec<String>,
}

/// The sizes of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileFigures {
    pub files: u64,
    /// Bytes per file, as far as they are stored.
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
    /// The number of files that disallow every URL for robots that they do not name.
    pub closed: u64,
}

/// A large file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileRow {
    pub host: String,
    pub bytes: u64,
    pub groups: u64,
    pub rules: u64,
}

/// The distribution of numbers. All members are 0 if there are no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    pub count: u64,
    pub sum: u64,
    pub min: u64,
    /// The median: the smallest number that at least half of the numbers do not exceed.
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
    /// The numbers by power of two (0, 1, 2 to 3, 4 to 7, …), from the first nonempty bin to the
    /// last.
    pub bins: Vec<Bin>,
}

/// The number of values between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    pub from: u64,
    /// The upper bound, inclusive.
    pub to: u64,
    pub count: u64,
}

/// The files with one kind of oddity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoteCount {
    /// The name for programs: `unknown-field`, `rule-outside-group`, ….
    pub kind: &'static str,
    /// The meaning of the oddity, and how to fix it.
    pub meaning: &'static str,
    pub files: u64,
    /// The first hosts by name.
    pub examples: Vec<String>,
}

/// Crawl-delays. They do not affect verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlDelays {
    /// The number of files with a crawl-delay.
    pub files: u64,
    pub lines: u64,
    /// The number of lines whose value is not a number of seconds.
    pub malformed: u64,
    /// The seconds, rounded up.
    pub seconds: Distribution,
    /// The longest delays.
    pub longest: List<CrawlDelayRow>,
}

/// A crawl-delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlDelayRow {
    pub host: String,
    pub line: u32,
    /// The value as written in the file.
    pub value: String,
    /// The value of the user-agent line before the delay, if there is one.
    pub group: Option<String>,
}

/// Sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sitemaps {
    /// The number of files that name a sitemap.
    pub files: u64,
    pub lines: u64,
    /// The number of lines whose value is not an absolute URL.
    pub malformed: u64,
    /// The number of lines whose sitemap is on another host.
    pub elsewhere: u64,
    /// Sitemaps per file, over the files that name one.
    pub of_file: Distribution,
    /// The files with the most sitemaps.
    pub most: List<SitemapRow>,
}

/// A file that names sitemaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SitemapRow {
    pub host: String,
    pub sitemaps: u64,
    pub first: String,
}

/// A limit, and the number of times it was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitCount {
    /// The name for programs: `robots-bytes`, `line-bytes`, `url-bytes`, `unknown-origins`,
    /// `analysis`, `reach`.
    pub name: &'static str,
    /// The limit. `None` if there is none, or if it is not one number.
    pub value: Option<u64>,
    /// The quantity that is limited.
    pub what: &'static str,
    pub hits: u64,
    /// The items that hit the limit, in the plural: `files`, `records`, `policies`.
    pub unit: &'static str,
}
