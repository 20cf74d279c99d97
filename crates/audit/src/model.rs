//! The findings of an audit as plain data: `--json` writes them, and the page shows them.
//!
//! Owns the shape of a [`Report`], not how it is computed; see [`Audit`](super::Audit) for that. The
//! report holds no times and no thread counts, so equal inputs give equal bytes. Rows refer to agents
//! by position in [`Report::agents`]; counts by agent follow the same order. Texts are copied from
//! files and URLs, cut where they are long; bytes that are not UTF-8 become U+FFFD.
//!
//! A [`List`] holds the first rows and the number of all rows. Rows with equal counts are ordered by
//! host, then by line. A file is counted once per host that serves it; one file for http and https of
//! a host counts once. A host whose files for http and https differ counts once for each of them. A
//! rule is counted once per policy, however many hosts share the policy.
//!
//! ```
//! use portcullis_audit::model::Report;
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
    pub format: u32,
    pub version: String,
    /// The lists of URLs, in the order in which they were read; `-` is standard input.
    pub inputs: Vec<String>,
    pub source: SourceFacts,
    /// In the order of every count by agent.
    pub agents: Vec<String>,
    pub records: RecordCounts,
    pub verdicts: Vec<AgentVerdicts>,
    /// Policies by state, in the order of [`PolicyState::ALL`](portcullis_dialect::decision::PolicyState::ALL).
    pub states: Vec<StateCount>,
    pub hosts: HostFigures,
    pub rules: RuleFigures,
    /// What each agent may fetch of the origins in the set.
    pub reach: Vec<AgentReach>,
    pub robots: RobotFigures,
    /// What pages may be used for; `None` if the set does not store it.
    pub usage: Option<UsageFigures>,
    pub unknown: UnknownFigures,
    pub invalid: InvalidFigures,
    pub files: FileFigures,
    /// Oddities of files by kind, the most common first; kinds that do not occur are left out.
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
    pub first: String,
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
    /// All reasons, in the order of [`Reason::ALL`](portcullis_dialect::decision::Reason::ALL).
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
    /// The [`PolicyState`](portcullis_dialect::decision::PolicyState): `rules`, `no-rules`, `unavailable`, ….
    pub state: &'static str,
    /// Hosts of the set with a policy in this state; 0 for `unknown`.
    pub hosts: u64,
    /// Origins of the set in this state; 0 for `unknown`.
    pub origins: u64,
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
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that were checked against its policy.
    pub urls: u64,
}

/// A rule that can never decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeverRule {
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that were checked against its policy.
    pub urls: u64,
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
    pub no_url: u64,
    pub shadowed: u64,
    pub equal: u64,
}

/// A rule that keeps another from deciding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoveringRule {
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    pub rule: String,
}

/// Origins or hosts by how much of them a robot may fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReachCounts {
    pub everything: u64,
    pub part: u64,
    pub nothing: u64,
    /// Those with more rules than the limit for this analysis.
    pub not_known: u64,
}

/// What one agent may fetch of the set, whatever the list of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AgentReach {
    pub agent: String,
    #[serde(flatten)]
    pub origins: AddressCounts,
    pub hosts: AddressCounts,
}

/// Origins or hosts by how they address an agent, and by what they allow it. The first three counts add
/// up to their number, and so do those of `reach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressCounts {
    /// Those with a group that names it.
    pub named: u64,
    /// Those without a group that names it, but with one for all robots.
    pub by_default: u64,
    /// Those with neither: no group for it, no rules or no file.
    pub unnamed: u64,
    /// Those by what it may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
}

/// The robots that files name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RobotFigures {
    /// Origins with a group that names a robot.
    pub naming_origins: u64,
    /// Hosts with a group that names a robot.
    pub naming_hosts: u64,
    /// Origins with rules and without a group for all robots.
    pub without_default: u64,
    /// Hosts with rules and without a group for all robots.
    pub hosts_without_default: u64,
    /// What robots may fetch that no group names, over the origins with a group for all robots; its
    /// name is `*`.
    pub others: RobotRow,
    /// The robots, those that most hosts name first, then by origins, then by name.
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
    /// Hosts that name it.
    pub hosts: u64,
    /// Those origins by what it may fetch.
    #[serde(flatten)]
    pub reach: ReachCounts,
    /// Those hosts by what it may fetch.
    pub by_host: ReachCounts,
}

/// What pages may be used for: Content-Usage, Content-Signal and License.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageFigures {
    /// Hosts whose file has such a record.
    pub hosts: u64,
    /// For each agent each label.
    pub urls: Vec<UsageRow>,
    /// What is stated at odds with itself, that of the most hosts first.
    pub conflicts: List<UsageConflict>,
    /// Hosts by conflict. A host counts once for each label.
    pub by_conflict: ConflictCounts,
    /// Hosts that name a licence.
    pub licensed: u64,
    /// The licences, those of the most hosts first.
    pub licenses: List<LicenseRow>,
}

/// What is stated about one use of the URLs for one agent. The counts add up to
/// [`RecordCounts::records`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    pub agent: String,
    /// `train-ai`, `ai-use` or `search`.
    pub label: &'static str,
    pub y: u64,
    pub n: u64,
    pub unstated: u64,
    /// URLs that are disallowed, unknown or invalid, which have no preference.
    pub no_access: u64,
}

/// A file that states a use at odds with another of its records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageConflict {
    /// The first host by name with the file; `*` if one file applies to every URL.
    pub host: String,
    /// Hosts that share the file's policy.
    pub hosts: u64,
    pub label: &'static str,
    pub kind: ConflictKind,
    /// The line of the statement that has no effect.
    pub line: u32,
    /// The positions of the agents that it concerns.
    pub agents: Vec<usize>,
}

/// Why a statement has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictKind {
    /// The use is `y`, and the agent may fetch nothing.
    #[default]
    NoAccess,
    /// Another statement for the same path says `n`.
    Overruled,
    /// It holds for robots that no group names; the agent follows a group of its own that says nothing.
    OtherGroup,
}

/// Hosts by kind of conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConflictCounts {
    pub no_access: u64,
    pub overruled: u64,
    pub other_group: u64,
}

/// A licence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LicenseRow {
    pub license: String,
    pub hosts: u64,
}

/// Origins of URLs without a known policy: what to fetch next.
///
/// The first [`AUDIT_UNKNOWN_ORIGINS_MAX`](portcullis_dialect::limits::AUDIT_UNKNOWN_ORIGINS_MAX) origins in the
/// input are counted one by one, exactly. The URLs of later origins are counted in `urls` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnknownFigures {
    pub urls: u64,
    /// Distinct origins; a lower bound unless `exact`.
    pub origins: u64,
    /// Their distinct hosts; a lower bound unless `exact`.
    pub hosts: u64,
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
    pub host: String,
    pub bytes: u64,
    pub groups: u64,
    pub rules: u64,
}

/// The distribution of a number. All members are 0 if there are no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    pub count: u64,
    pub sum: u64,
    pub min: u64,
    /// The median: the smallest number that at least half of them do not exceed.
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub max: u64,
    /// The numbers by power of two (0, 1, 2 to 3, 4 to 7, …), from the first bin that is not empty to
    /// the last.
    pub bins: Vec<Bin>,
}

/// The numbers between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    pub from: u64,
    /// Inclusive.
    pub to: u64,
    pub count: u64,
}

/// The files with one kind of oddity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NoteCount {
    /// The name for programs: `unknown-field`, `rule-outside-group`, ….
    pub kind: &'static str,
    /// What it is and how to fix it.
    pub meaning: &'static str,
    pub files: u64,
    /// The first hosts by name.
    pub examples: Vec<String>,
}

/// Crawl-delays. They decide no URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlDelays {
    /// Files with a crawl-delay.
    pub files: u64,
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
    pub host: String,
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
    pub host: String,
    pub sitemaps: u64,
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
    pub hits: u64,
    /// What hit it, in the plural: `files`, `records`, `policies`.
    pub unit: &'static str,
}
