//! Statistics of a compiled set, and the policies of one of its hosts in full.
//!
//! Owns the figures of `portcullis inspect`: [`Stats`] counts what a [`PolicySet`] contains and
//! lists its extremes; [`HostDetail`] shows the policies of one host. Both serialize to the JSON
//! that the command prints. New members may be added; existing ones keep their meaning. To compare
//! every byte with its checksum, use [`PolicySet::verify`]; to decide URLs, use a
//! [`Classifier`](crate::batch::Classifier).
//!
//! Cost: one pass over hosts, rule sets and policies on the calling thread's rayon pool. Each takes
//! a few dozen nanoseconds, and each record other than rules and user-agent lines some hundred.
//! Memory: some fifty bytes for each distinct policy, rule set and list of records. It does not
//! grow with the origins.
//!
//! Every read can fail with a [`Damage`] that says where. Counts are complete: if the set does not
//! store a value, such as the reach of a lazily built rule set, it is counted as unknown.
//!
//! ```no_run
//! use std::path::Path;
//! use portcullis_set::{PolicySet, stats::Stats};
//!
//! let set = PolicySet::open(Path::new("robots.pcs"))?;
//! let stats = Stats::of(&set, 10)?;
//! println!("{} of {} have rules", stats.origins.states["rules"], stats.origins.origins);
//! for robot in &stats.robots.most_named {
//!     println!("{}: {} policies", robot.name.escape_ascii(), robot.count.policies);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod host;
mod hosts;
mod policies;
#[cfg(test)]
mod tests;
mod usage;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Index;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::PolicySet;
use super::file::Damage;
use portcullis_io::access::UnixSeconds;

pub use host::{HostDetail, HostGroup, HostPolicy, HostQuery, HostRecord, HostRobot};
pub use hosts::{FieldCount, InputOrigins, OriginStats, RecordStats};
pub use policies::{
    NamedRobot, PolicyFigures, PolicyStats, RobotCount, RobotStats, RuleSetFigures, RuleSetStats,
    RuleSetStrategy, SharedRuleSet, StrategyCount,
};
pub use usage::{HostUsage, LicenseCount, UsageCount, UsageStats};

/// Statistics of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stats<'s> {
    /// The bytes of each section, in file order.
    pub sections: Named<u64>,
    /// The bytes of the header, the checksums and the padding of blocks.
    pub bytes_outside_sections: u64,
    /// The number of hosts.
    pub hosts: u64,
    /// Origins and the captures of their policies.
    #[serde(flatten)]
    pub origins: OriginStats,
    /// Records other than user-agent lines and rules.
    pub other_records: RecordStats,
    /// Usage preferences.
    pub usage: UsageStats,
    /// The robots that policies name.
    pub robots: RobotStats<'s>,
    /// Rule sets.
    pub rule_sets: RuleSetStats<'s>,
    /// Policies.
    pub policies: PolicyStats<'s>,
}

impl<'s> Stats<'s> {
    /// Counts the content of `set`. Each list has at most `top` items. Equal items are in file
    /// order.
    ///
    /// # Errors
    ///
    /// The first damage.
    pub fn of(set: &'s PolicySet, top: usize) -> Result<Stats<'s>, Damage> {
        let hosts = hosts::HostPass::of(set)?;
        let other_records = RecordStats::of(set, &hosts.others, top)?;
        let usage = UsageStats::of(set, &hosts.uses, top)?;
        let (rule_sets, robots, policies) = policies::pass(set, hosts.uses, top)?;
        let sections: Vec<(Cow<'static, str>, u64)> = set
            .section_bytes()
            .map(|(name, bytes)| (name.replace(' ', "-").into(), bytes))
            .collect();
        let in_sections: u64 = sections.iter().map(|&(_, bytes)| bytes).sum();
        Ok(Stats {
            sections: Named(sections),
            bytes_outside_sections: set.bytes().saturating_sub(in_sections),
            hosts: hosts.counts.hosts,
            origins: hosts.origins,
            other_records,
            usage,
            robots,
            rule_sets,
            policies,
        })
    }
}

/// Named values in a defined order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<T>(pub Vec<(Cow<'static, str>, T)>);

impl<T> Named<T> {
    fn of<K: Copy>(
        keys: impl IntoIterator<Item = K>,
        name: impl Fn(K) -> &'static str,
        value: impl Fn(K) -> T,
    ) -> Named<T> {
        Named(keys.into_iter().map(|key| (name(key).into(), value(key))).collect())
    }
}

impl<T> Index<&str> for Named<T> {
    type Output = T;

    /// # Panics
    ///
    /// If no value has this name.
    fn index(&self, name: &str) -> &T {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value).expect("the name is one of the map's")
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The first and the last of several dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dates {
    /// The first.
    pub first: UnixSeconds,
    /// The last.
    pub last: UnixSeconds,
}

impl Dates {
    fn including(known: Option<Dates>, time: UnixSeconds) -> Dates {
        let Dates { first, last } = known.unwrap_or(Dates { first: time, last: time });
        Dates { first: first.min(time), last: last.max(time) }
    }
}

/// Serializes the name of a host or robot as text; bytes that are not UTF-8 are replaced.
fn as_lossy<S: Serializer>(name: &Option<&[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    name.map(String::from_utf8_lossy).serialize(serializer)
}

/// Serializes names of robots as texts; bytes that are not UTF-8 are replaced.
fn as_lossy_list<S: Serializer>(names: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(names.iter().map(|name| String::from_utf8_lossy(name)))
}

/// Serializes the members `name` and, if the name is not UTF-8, `name_base64`.
fn as_name<S: Serializer>(name: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    as_optional_name(&Some(name.as_ref()), serializer)
}

/// Like [`as_name`]; `name` is null for `None`.
fn as_optional_name<S: Serializer>(
    name: &Option<impl AsRef<[u8]>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    push_text(&mut map, "name", name.as_ref().map(AsRef::as_ref))?;
    map.end()
}

/// Writes text under `key`, and its bytes in base64 if they are not UTF-8.
fn push_text<M: serde::ser::SerializeMap>(
    map: &mut M,
    key: &'static str,
    text: Option<&[u8]>,
) -> Result<(), M::Error> {
    let shown = text.map(String::from_utf8_lossy);
    map.serialize_entry(key, &shown)?;
    match (shown, text) {
        (Some(Cow::Owned(_)), Some(text)) => {
            map.serialize_entry(&format!("{key}_base64"), &BASE64_STANDARD.encode(text))
        }
        _ => Ok(()),
    }
}

/// The items that are used `from` to `to` times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tier {
    /// The fewest uses.
    pub from: u64,
    /// The most uses.
    pub to: u64,
    /// The number of items.
    pub things: u64,
    /// The sum of their uses.
    pub uses: u64,
}

/// Counts how often items are used, by powers of ten: 0, 1, 2 to 10, 11 to 100, and so on.
fn sharing(uses: impl IntoIterator<Item = u64>) -> Vec<Tier> {
    let mut tiers: BTreeMap<u32, Tier> = BTreeMap::new();
    for uses in uses {
        let (tier, from, to) = match uses {
            0 | 1 => (uses as u32, uses, uses),
            _ => {
                let power = (uses - 1).ilog10();
                let low = 10_u64.pow(power);
                (power + 2, low + 1, low.saturating_mul(10))
            }
        };
        let tier = tiers.entry(tier).or_insert(Tier { from, to, ..Tier::default() });
        tier.things += 1;
        tier.uses += uses;
    }
    tiers.into_values().collect()
}

/// Returns the `count` items with the largest keys, the largest first. Items with equal keys stay
/// in order.
///
/// Holds at most twice as many items.
pub fn largest<T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    count: usize,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let settle = |kept: &mut Vec<T>| {
        // The sort is stable, so items with equal keys stay in order.
        kept.sort_by_key(|item| std::cmp::Reverse(key(item)));
        kept.truncate(count);
    };
    for item in items {
        kept.push(item);
        if kept.len() / 2 > count {
            settle(&mut kept);
        }
    }
    settle(&mut kept);
    kept
}
