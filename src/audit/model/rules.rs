//! Rules: what they decided, and which never can.
//!
//! A rule is counted once for the policy that it stands in, however many origins share that policy.
//! Only rules are looked at that speak to one of the agents that ask.

use serde::{Deserialize, Serialize};

use super::List;

/// Rules, and what they decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFigures {
    /// Rules that speak to one of the agents, in all policies.
    pub rules: u64,
    /// Those of policies that URLs were asked of. It is `deciding.total + idle.total`.
    pub asked: u64,
    /// Rules that decided some URL, those with the most URLs first.
    pub deciding: List<DecidingRule>,
    /// Rules that decided none though URLs were asked of their policy; those of the policies with the
    /// most URLs first. One that never can is here too.
    pub idle: List<IdleRule>,
    /// Rules that can never decide, for any of the agents; those of the policies with the most URLs
    /// first, then with the most origins.
    pub never: List<NeverRule>,
    /// Of those, by why: no URL matches; other rules win wherever it matches; it equals another.
    pub never_by_cause: NeverCounts,
    /// Rules of which it could not be told within the limits whether they can decide.
    pub not_known: u64,
}

/// A rule, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRow {
    /// A host that has it: of the first URL that it decided, or else the first by name; `*` where one
    /// file speaks for every URL.
    pub host: String,
    /// Hosts that have it, since policies are shared.
    pub hosts: u64,
    /// Its line in the file.
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: String,
    /// Its value, the path pattern as it stands in the file.
    pub rule: String,
    /// The value of the first user-agent line of its group.
    pub group: String,
    /// The positions of the agents that it speaks to.
    pub agents: Vec<usize>,
}

/// A rule that decided URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that it decided for some agent.
    pub urls: u64,
    /// URLs that it decided, by agent.
    pub by_agent: Vec<u64>,
    /// The first of those URLs, in the order of the input.
    pub samples: Vec<String>,
}

/// A rule that decided nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that its policy was asked about.
    pub urls: u64,
}

/// A rule that can never decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverRule {
    /// The rule.
    #[serde(flatten)]
    pub row: RuleRow,
    /// URLs that its policy was asked about.
    pub urls: u64,
    /// Why.
    pub cause: NeverCause,
    /// The rules that win wherever it matches, or the one that it equals. None if no URL matches, or
    /// if it is the dialect that wins, which always allows the URL of robots.txt.
    pub covered_by: Vec<CoveringRule>,
}

/// Why a rule never decides.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum NeverCause {
    /// No URL matches its pattern.
    #[default]
    NoUrl,
    /// Wherever it matches other rules win.
    Shadowed,
    /// Another rule says the same of the same URLs, and comes first.
    Equal,
}

/// Rules that never decide, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeverCounts {
    /// No URL matches.
    pub no_url: u64,
    /// Other rules win.
    pub shadowed: u64,
    /// Equal to another rule.
    pub equal: u64,
}

/// A rule that keeps another from deciding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveringRule {
    /// Its line in the same file.
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: String,
    /// Its value.
    pub rule: String,
}
