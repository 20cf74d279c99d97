//! The account of a run, and its summary: text for people, or one JSON object.
//!
//! [`Account`] describes the run (version, set, dialect, agents, dates) and its result: verdicts
//! and reasons for each agent, states and unknown hosts. It is the same for the same input and any
//! number of threads, so it can be stored with the output. [`Summary`] adds times and rates.

use std::io::{self, Write};
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::record_agents::{DisallowedHosts, OtherAgents, RecordAgentCounts, RecordAgentObject};
use super::{AgentCounts, Counts, Drops, Figures, InvalidRecords, NameCounts, Selection};
use crate::limits::{ACCOUNT_DROPPED_HOSTS_SHOWN, SUMMARY_UNKNOWN_HOSTS_SHOWN};
use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::access::DateSpan;
use portcullis_set::file::ContentHash;
use portcullis_text::figures::{counted, seconds};
use portcullis_text::json::write_json;
use portcullis_text::visible::visible;

/// The task of a run, and its policies.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// The name of the program.
    pub tool: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The hash of the policy set.
    #[serde(serialize_with = "hexadecimal")]
    pub set_hash: ContentHash,
    /// The number of origins with a policy. `None` if one policy applies to every URL.
    pub origins: Option<usize>,
    /// The name of the dialect.
    pub dialect: &'static str,
    /// The agents, in the order of the output.
    pub agents: Vec<String>,
    /// The agents that are known if each record has its own, in the order of the classifier.
    #[serde(skip)]
    pub record_agents: Vec<String>,
    /// The lists that agents were taken from.
    pub agent_lists: Vec<AgentList>,
    /// Agents that no group names.
    pub unnamed_agents: Vec<UnnamedAgent>,
    /// The dates of the oldest and the newest capture, if known.
    #[serde(rename = "capture_dates")]
    pub captured: Option<DateSpan>,
    /// The time as of which records were decided, or the place of their own times; `None` for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// How the age of captures was judged, if it was.
    pub judged_age: Option<JudgedAge>,
    /// Policy files that were left out.
    pub left_out: u64,
    /// The number of policy files with a note on the whole file, by note.
    pub file_notes: Figures,
}

impl Run {
    /// Writes the description of the run as text.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Run { tool, version, set_hash, origins, dialect, captured, .. } = self;
        let origins = match origins {
            Some(origins) => format!("{origins} origins"),
            None => "one file for every URL".into(),
        };
        let captured = match captured {
            Some(dates) => format!("captured {dates}"),
            None => "capture dates not known".into(),
        };
        writeln!(
            out,
            "{tool} {version}, set {set_hash:.16}, dialect {dialect}, {origins}, {captured}"
        )?;
        if let Some(at) = &self.at {
            writeln!(out, "decided as of {}", visible(at))?;
        }
        for AgentList { name, source, agents, .. } in &self.agent_lists {
            writeln!(out, "agents of {}: {agents} ({})", visible(name), visible(source))?;
        }
        if self.left_out > 0 {
            writeln!(out, "files left out: {}", self.left_out)?;
        }
        let notes = self.file_notes.to_string();
        if !notes.is_empty() {
            writeln!(out, "notes on files: {notes}")?;
        }
        Ok(())
    }
}

/// A list that agents were taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentList {
    /// The name as given in `-a`.
    pub name: String,
    /// The source of the list, with its version and licence, or the path of the file.
    pub source: String,
    /// The number of agents that it names.
    pub agents: usize,
    /// The names that were skipped because the dialect cannot express them.
    pub skipped: Vec<String>,
}

/// An agent that no group names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnnamedAgent {
    /// The agent.
    pub agent: String,
    /// A similar name that may be intended.
    pub suggestion: Option<String>,
}

/// How the age of captures was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedAge {
    /// The time as of which the age was judged (RFC 3339).
    pub as_of: String,
    /// The seconds after which a capture had expired. `None` means the expiry stored in the set.
    pub max_age_seconds: Option<u64>,
    /// The verdict on records whose capture had expired or is later: `keep` for the verdict of its
    /// rules, or `unknown`.
    pub expired: &'static str,
}

/// The result of a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filtered {
    /// The number of kept records.
    pub kept: u64,
    /// The number of records whose use is not stated. `None` without a purpose.
    pub unstated: Option<u64>,
}

impl Filtered {
    /// Adds the counts of another part.
    pub fn merge(&mut self, other: Filtered) {
        self.kept += other.kept;
        if let Some(unstated) = other.unstated {
            *self.unstated.get_or_insert(0) += unstated;
        }
    }
}

/// The account of a run.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The description of the run.
    pub run: Run,
    /// The records and decisions.
    pub counts: Counts,
    /// The records that are not URLs.
    pub invalid: InvalidRecords,
    /// The kept records, for a filter.
    pub filtered: Option<Filtered>,
    /// What is counted for an account that people publish.
    pub detail: Option<Detail>,
}

/// What an account has if it is asked for, because counting it costs more.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The labels whose preferences are counted.
    pub labels: Vec<Label>,
    /// What a filter keeps, and the records that it does not keep.
    pub dropped: Option<(Selection, Drops)>,
}

/// A run and its result.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The account of the run.
    pub account: Account,
    /// The time to load and compile the policies.
    pub loading: Duration,
    /// The time to read, decide and write. Rates are relative to it.
    pub running: Duration,
    /// Notes on how the lists were read, for JSON.
    pub notes: Vec<String>,
    /// Counts about the compiled rules, by name. Empty unless requested.
    pub census: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct AccountObject<'a> {
    #[serde(flatten)]
    run: &'a Run,
    records: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unstated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    /// The records that are not kept, by cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_hosts: Option<HostsObject>,
    per_agent: Vec<AgentObject<'a>>,
    #[serde(flatten)]
    record_agents: Option<RecordAgentsObject<'a>>,
    states: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ages: Option<Figures>,
    /// The records that the first capture decides though it is later.
    #[serde(skip_serializing_if = "Option::is_none")]
    before_first: Option<u64>,
    /// The records of files with a crawl delay that is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable_delays: Option<u64>,
    unknown_hosts: HostsObject,
    invalid: &'a InvalidRecords,
}

#[derive(Serialize)]
struct SummaryObject<'a> {
    #[serde(flatten)]
    account: &'a Account,
    notes: &'a [String],
    load_seconds: f64,
    seconds: f64,
    urls_per_second: u64,
    bytes_per_second: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    census: Option<Figures>,
}

#[derive(Serialize)]
pub(super) struct AgentObject<'a> {
    pub(super) agent: &'a str,
    pub(super) verdicts: Figures,
    pub(super) reasons: Figures,
    /// The reasons of each verdict, without zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasons_of: Option<Figures<Figures>>,
    /// The preferences about each label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Figures<Figures>>,
}

/// The records by the agent of each.
#[derive(Serialize)]
struct RecordAgentsObject<'a> {
    record_agents: Vec<RecordAgentObject<'a>>,
    disallowed_hosts: DisallowedHosts,
    other_agents: OtherAgents,
}

/// Hosts with the most URLs.
#[derive(Serialize)]
pub(super) struct HostsObject {
    pub(super) largest: Vec<HostObject>,
    /// The number of hosts that were counted individually.
    pub(super) hosts: usize,
    /// The number of URLs of later hosts, which were counted together. Unless it is 0, `hosts` is a
    /// lower bound, and a host may be missing in `largest`.
    pub(super) uncounted_urls: u64,
}

#[derive(Serialize)]
pub(super) struct HostObject {
    pub(super) host: String,
    pub(super) urls: u64,
}

impl HostsObject {
    /// Returns the `top` hosts with the most URLs.
    pub(super) fn of(hosts: &NameCounts, top: usize) -> HostsObject {
        let host = |(host, urls): (&[u8], u64)| HostObject {
            host: String::from_utf8_lossy(host).into_owned(),
            urls,
        };
        HostsObject {
            largest: hosts.largest(top).into_iter().map(host).collect(),
            hosts: hosts.names(),
            uncounted_urls: hosts.uncounted(),
        }
    }
}

fn hexadecimal<S: Serializer>(hash: &ContentHash, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(hash)
}

impl Serialize for Account {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dropped = self.detail.as_ref().and_then(|detail| detail.dropped.as_ref());
        let object = AccountObject {
            run: &self.run,
            records: self.counts.records,
            bytes: self.counts.bytes,
            kept: self.filtered.map(|filtered| filtered.kept),
            unstated: self.filtered.and_then(|filtered| filtered.unstated),
            selection: dropped.map(|(selection, _)| *selection),
            dropped: dropped.map(|(_, drops)| drops.causes()),
            dropped_hosts: dropped
                .map(|(_, drops)| HostsObject::of(drops.hosts(), ACCOUNT_DROPPED_HOSTS_SHOWN)),
            per_agent: self.per_agent().collect(),
            record_agents: self.record_agents(),
            states: self.states(),
            ages: self.run.judged_age.is_some().then(|| self.ages()),
            before_first: self.run.at.is_some().then(|| self.counts.ages().before_first),
            unreadable_delays: self.counts.unreadable_delays(),
            unknown_hosts: self.unknown_hosts(),
            invalid: &self.invalid,
        };
        object.serialize(serializer)
    }
}

impl Account {
    pub(super) fn per_agent(&self) -> impl Iterator<Item = AgentObject<'_>> {
        let agents = self.run.agents.iter().zip(self.counts.agents()).enumerate();
        agents.map(|(number, (agent, counts)): (_, (_, &AgentCounts))| AgentObject {
            agent,
            verdicts: Figures::of(Verdict::ALL, Verdict::as_str, |it| counts.verdict(it)),
            reasons: Figures::of(Reason::ALL, Reason::as_str, |it| counts.reason(it)),
            reasons_of: self.detail.as_ref().map(|_| reasons_of(counts)),
            usage: self.usage(number),
        })
    }

    /// Returns the number of records by an agent's preference about each label that is counted.
    fn usage(&self, agent: usize) -> Option<Figures<Figures>> {
        let labels = &self.detail.as_ref().filter(|detail| !detail.labels.is_empty())?.labels;
        let counts = self.counts.preferences()?.chunks_exact(labels.len()).nth(agent)?;
        let of_label = |(label, counts): (&Label, &[u64; Preference::ALL.len()])| {
            let count = |preference| counts[preference as usize];
            (label.as_str(), Figures::of(Preference::ALL, Preference::as_str, count))
        };
        Some(Figures(labels.iter().zip(counts).map(of_label).collect()))
    }

    fn record_agents(&self) -> Option<RecordAgentsObject<'_>> {
        let counts = self.counts.record_agents()?;
        Some(RecordAgentsObject {
            record_agents: counts.by_agent(&self.run.record_agents),
            disallowed_hosts: counts.disallowed_hosts(),
            other_agents: counts.other_agents(),
        })
    }

    /// Writes the records that were not allowed by agent and by host, and the agents that were not
    /// recognised.
    fn write_record_agents(
        &self,
        counts: &RecordAgentCounts,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let disallowed = |it: &RecordAgentObject<'_>| it.verdicts.get(Verdict::Disallow.as_str());
        let agents = counts.by_agent(&self.run.record_agents);
        let agents: Vec<_> = agents.iter().filter(|it| disallowed(it) > 0).collect();
        if !agents.is_empty() {
            writeln!(out, "disallowed records by agent:")?;
        }
        for it in agents.iter().take(SUMMARY_UNKNOWN_HOSTS_SHOWN) {
            let all: u64 = it.verdicts.0.iter().map(|(_, count)| count).sum();
            let agent = it.agent.unwrap_or_default();
            writeln!(out, "  {} of {all} {}", disallowed(it), visible(agent))?;
        }
        if let rest @ 1.. = agents.len().saturating_sub(SUMMARY_UNKNOWN_HOSTS_SHOWN) {
            writeln!(out, "  and {rest} more agents")?;
        }
        let DisallowedHosts { largest, hosts, uncounted_urls } = counts.disallowed_hosts();
        let hosts_of = largest.iter().map(|it| (it.urls, it.host.as_str()));
        write_counted(out, "disallowed records by host", (hosts, uncounted_urls), hosts_of)?;
        let OtherAgents { largest, agents, records, uncounted_records } = counts.other_agents();
        let title = format!("{} with an agent that is not known", counted(records, "record"));
        let agents_of = largest.iter().map(|it| (it.records, it.agent.as_str()));
        write_counted(out, &title, (agents, uncounted_records), agents_of)
    }

    /// Returns the number of URLs by the state of their origin, or `None` if the state was not
    /// counted for all URLs.
    fn states(&self) -> Option<Figures> {
        let counts = &self.counts;
        let invalid = counts.agents().first().map_or(0, |agent| agent.verdict(Verdict::Invalid));
        let known: u64 = PolicyState::ALL.into_iter().map(|state| counts.state(state)).sum();
        let states = || Figures::of(PolicyState::ALL, PolicyState::as_str, |it| counts.state(it));
        (known + invalid == counts.records).then(states)
    }

    fn ages(&self) -> Figures {
        let ages = self.counts.ages();
        Figures(vec![
            ("fresh", ages.fresh),
            ("expired", ages.expired),
            ("undated", ages.undated),
            ("not-yet", ages.not_yet),
        ])
    }

    fn unknown_hosts(&self) -> HostsObject {
        HostsObject::of(self.counts.unknown_hosts(), SUMMARY_UNKNOWN_HOSTS_SHOWN)
    }

    /// Writes the account as one JSON object and LF.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        write_json(self, &mut *out)?;
        out.write_all(b"\n")
    }

    /// Writes the result of the run as text.
    fn write_result(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(filtered) = self.filtered {
            writeln!(out, "{} kept", filtered.kept)?;
            if let Some(unstated) = filtered.unstated {
                writeln!(out, "{unstated} with a use that is not stated")?;
            }
        }
        // Most agents of a list are not named by any group and have the same counts.
        let folds = !self.run.agent_lists.is_empty();
        let agents: Vec<AgentObject<'_>> = self.per_agent().collect();
        let are_alike = |one: &AgentObject<'_>, next: &AgentObject<'_>| {
            folds && (&one.verdicts, &one.reasons) == (&next.verdicts, &next.reasons)
        };
        for alike in agents.chunk_by(are_alike) {
            let names: Vec<String> =
                alike.iter().map(|agent| visible(agent.agent).to_string()).collect();
            write!(out, "{}:", names.join(", "))?;
            for (name, count) in &alike[0].verdicts.0 {
                write!(out, " {name} {count}")?;
            }
            match alike[0].reasons.to_string().as_str() {
                "" => writeln!(out)?,
                reasons => writeln!(out, " ({reasons})")?,
            }
        }
        if let Some(counts) = self.counts.record_agents() {
            self.write_record_agents(counts, out)?;
        }
        let states = self.states().unwrap_or_default().to_string();
        if !states.is_empty() {
            writeln!(out, "URLs by the state of their origin: {states}")?;
        }
        let early = self.counts.ages().before_first;
        if early > 0 {
            writeln!(out, "URLs that a later first capture decides: {early}")?;
        }
        if let Some(records @ 1..) = self.counts.unreadable_delays() {
            writeln!(out, "URLs with a Crawl-delay that is not a number: {records}")?;
        }
        if let Some(JudgedAge { as_of, .. }) = &self.run.judged_age {
            writeln!(out, "URLs by the age of their capture, as of {as_of}: {}", self.ages())?;
        }
        self.write_unknown_hosts(out)?;
        self.invalid.write_text(out)
    }

    fn write_unknown_hosts(&self, out: &mut impl Write) -> io::Result<()> {
        let HostsObject { largest, hosts, uncounted_urls } = self.unknown_hosts();
        if hosts == 0 {
            return Ok(());
        }
        let rest = match uncounted_urls {
            0 => String::new(),
            urls => format!(", and more: {urls} URLs of later hosts are not counted one by one"),
        };
        let noun = if hosts == 1 { "host" } else { "hosts" };
        writeln!(out, "URLs of {hosts} {noun} without a policy{rest}:")?;
        for HostObject { host, urls } in largest {
            writeln!(out, "  {urls} {}", visible(&host))?;
        }
        Ok(())
    }
}

/// Returns the number of records by verdict and reason, without zeros.
fn reasons_of(counts: &AgentCounts) -> Figures<Figures> {
    let of_verdict = |verdict| {
        let mut reasons = Figures::of(Reason::ALL, Reason::as_str, |it| counts.of(verdict, it));
        reasons.0.retain(|&(_, count)| count > 0);
        reasons
    };
    let mut reasons = Figures::of(Verdict::ALL, Verdict::as_str, of_verdict);
    reasons.0.retain(|(_, reasons)| !reasons.0.is_empty());
    reasons
}

/// Writes the largest of several counts, unless there is none: those that were counted one by one,
/// and the records that were not.
fn write_counted<'a>(
    out: &mut impl Write,
    title: &str,
    (names, uncounted): (usize, u64),
    largest: impl Iterator<Item = (u64, &'a str)>,
) -> io::Result<()> {
    if names == 0 {
        return Ok(());
    }
    let rest = match uncounted {
        0 => String::new(),
        records => {
            let records = counted(records, "later record");
            format!(", and more ({records} not counted one by one)")
        }
    };
    writeln!(out, "{title}, {names} in all{rest}:")?;
    for (records, name) in largest {
        let name = if name.is_empty() { "(none)" } else { name };
        writeln!(out, "  {records} {}", visible(name))?;
    }
    Ok(())
}

impl Summary {
    /// Returns `amount` per second, rounded down. 0 if no time passed.
    fn rate(&self, amount: u64) -> u64 {
        let rate = (u128::from(amount) * 1_000_000_000).checked_div(self.running.as_nanos());
        rate.map_or(0, |rate| rate.try_into().unwrap_or(u64::MAX))
    }

    /// Writes the summary as text.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let Counts { records, bytes, .. } = self.account.counts;
        self.account.run.write_text(out)?;
        writeln!(
            out,
            "{}, {} in {} (and {} to load): {} URL/s, {} bytes/s",
            counted(records, "record"),
            counted(bytes, "byte"),
            seconds(self.running.as_secs_f64()),
            seconds(self.loading.as_secs_f64()),
            self.rate(records),
            self.rate(bytes),
        )?;
        self.account.write_result(out)?;
        for (name, value) in &self.census {
            writeln!(out, "  {name}: {value}")?;
        }
        Ok(())
    }

    /// Writes the summary as one JSON object and LF.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let object = SummaryObject {
            account: &self.account,
            notes: &self.notes,
            load_seconds: self.loading.as_secs_f64(),
            seconds: self.running.as_secs_f64(),
            urls_per_second: self.rate(self.account.counts.records),
            bytes_per_second: self.rate(self.account.counts.bytes),
            census: (!self.census.is_empty()).then(|| Figures(self.census.clone())),
        };
        write_json(&object, &mut *out)?;
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_relative_to_the_running_time() {
        let summary = Summary { running: Duration::from_millis(500), ..Summary::default() };
        assert_eq!([2, 50].map(|amount| summary.rate(amount)), [4, 100]);
        assert_eq!(Summary::default().rate(9), 0, "no time passed");
    }
}
