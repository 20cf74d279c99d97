//! Flags of `survey`.

use clap::Args;

use super::super::values::{self, Format};
use super::groups::{AgentArgs, BesideArgs, OutputArgs, PolicyArgs, RunArgs};
use super::texts;

/// The columns, for the help.
const COLUMNS: &str = "\
Columns:
  origin, host   the origin, and its host with its port unless that is the default
  domain         the part of the host that is registered, by the Public Suffix List of psl 2.1.247;
                 null for addresses, public suffixes, and suffixes that are not listed
  agent          the crawler, as in -a
  state          rules, no-rules, page, unavailable, unreachable or deferred
  access         all, part or none of the paths: exact; null if a limit ended the search
  root           the verdict on the path /
  group, named   the user-agent value that selects the group, null if no group applies; whether a
                 group names the crawler
  rules          number of rules that apply
  crawl_delay    seconds
  train_ai, ai_use, search
                 the preference about all that the crawler may fetch: y, n, ? (not stated), or mixed
                 where pages differ; null if it may fetch nothing, or if a limit ended the search
  licenses, sitemaps
                 counts; --lists adds license_values and sitemap_values
  relation, witness
                 with --beside AGENT: what the crawler may fetch beside AGENT, and a path that shows it
  shared         number of origins in the set that have the very same file; null without a file
  captured       the date of the newest capture
  since, until   the time in which the policy stayed the same, in a set with history; until is null
                 if it is in force";

/// Survey a policy set: a row for each origin and crawler
///
/// Every value is read from the compiled rules: whether a crawler may fetch all, part or none of a
/// site is decided over all paths, not by a list of URLs. The summary has the totals of each crawler,
/// in which a host counts once for each of its policies.
#[derive(Args)]
#[command(
    after_long_help = COLUMNS,
    mut_arg("agents", |agents| agents.required_unless_present_any(["user_agents", "sitemaps"]))
)]
pub struct SurveyArgs {
    #[command(flatten)]
    pub agents: AgentArgs,
    #[command(flatten)]
    pub beside: BesideArgs,

    #[command(flatten)]
    pub policies: PolicyArgs,

    #[arg(long, help = texts::HISTORY, long_help = texts::HISTORY_LONG, help_heading = "Output")]
    pub history: bool,

    /// Add the values of licences and sitemaps: lists in Parquet and JSON Lines, and JSON arrays in
    /// other formats
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub lists: bool,

    /// Write a row for each origin and sitemap that its robots.txt names, instead
    ///
    /// The columns are origin (`*` if one robots.txt applies to every URL), sitemap, and problem: why the
    /// value is not an absolute URL, if so.
    #[arg(long, conflicts_with_all = ["agents", "user_agents", "beside", "history", "lists"], help_heading = "Output")]
    pub sitemaps: bool,

    #[arg(long, help = texts::FORMAT, long_help = texts::FORMAT_LONG, value_name = "FORMAT", value_parser = values::format(Format::TABLES), help_heading = "Output")]
    pub format: Option<Format>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub run: RunArgs,
}
