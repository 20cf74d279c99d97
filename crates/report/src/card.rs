//! The account of a run in Markdown, for a data card: which records were read, which were kept, and
//! why the others were not.
//!
//! It has the figures of the JSON account, without times and places in the lists. Hosts and agents are
//! untrusted text, so whatever Markdown would read is escaped.

use std::io::{self, Write};

use super::summary::{Account, AgentList, AgentObject, HostsObject};
use super::{Cause, Drops, Selection};
use crate::limits::ACCOUNT_DROPPED_HOSTS_SHOWN;
use portcullis_text::figures::grouped;
use portcullis_text::visible::visible;

impl Account {
    /// Writes the account as Markdown.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let dropped = self.detail.as_ref().and_then(|detail| detail.dropped.as_ref());
        writeln!(out, "# robots.txt\n")?;
        self.write_run(out)?;
        if let Some((selection, drops)) = dropped {
            writeln!(out, "- Kept: {}", describe(selection))?;
            write_drops(self.counts.records, self.filtered.map_or(0, |it| it.kept), drops, out)?;
        }
        self.write_agents(out)?;
        if let Some((_, drops)) = dropped {
            write_hosts(drops, out)?;
        }
        Ok(())
    }

    fn write_run(&self, out: &mut impl Write) -> io::Result<()> {
        let run = &self.run;
        writeln!(out, "- Program: {} {}", run.tool, run.version)?;
        write!(out, "- Policies: set `{:.16}`, dialect {}", run.set_hash, run.dialect)?;
        match run.origins {
            Some(origins) => write!(out, ", {} origins", grouped(origins as u64))?,
            None => write!(out, ", one file for every URL")?,
        }
        match &run.captured {
            Some(dates) => writeln!(out, ", captured {dates}")?,
            None => writeln!(out, ", capture dates not known")?,
        }
        if let Some(at) = &run.at {
            writeln!(out, "- Decided as of: {}", escaped(at))?;
        }
        if let Some(judged) = &run.judged_age {
            writeln!(out, "- Age of captures judged as of: {}", judged.as_of)?;
        }
        writeln!(out, "- Agents: {}", names(&self.per_agent().collect::<Vec<_>>()))?;
        for AgentList { name, source, agents, .. } in &run.agent_lists {
            writeln!(out, "- Agents of {}: {agents} ({})", escaped(name), escaped(source))?;
        }
        writeln!(out, "- Records: {}", grouped(self.counts.records))
    }

    fn write_agents(&self, out: &mut impl Write) -> io::Result<()> {
        let agents: Vec<AgentObject<'_>> = self.per_agent().collect();
        // Most agents of a list are not named by any group and have the same counts.
        let alike = |one: &AgentObject<'_>, next: &AgentObject<'_>| {
            (&one.reasons_of, &one.usage) == (&next.reasons_of, &next.usage)
        };
        let alike: Vec<(String, &AgentObject<'_>)> =
            agents.chunk_by(alike).map(|alike| (names(alike), &alike[0])).collect();
        writeln!(out, "\n## Decisions by agent\n\n| agent | verdict | reason | records |")?;
        writeln!(out, "|---|---|---|---:|")?;
        for (names, agent) in &alike {
            for (verdict, reasons) in agent.reasons_of.iter().flat_map(|it| &it.0) {
                for (reason, records) in &reasons.0 {
                    writeln!(out, "| {names} | {verdict} | {reason} | {} |", grouped(*records))?;
                }
            }
        }
        if agents.iter().all(|agent| agent.usage.is_none()) {
            return Ok(());
        }
        writeln!(out, "\n## Use by agent\n\n| agent | label | y | n | ? | - |")?;
        writeln!(out, "|---|---|---:|---:|---:|---:|")?;
        for (names, agent) in &alike {
            for (label, counts) in agent.usage.iter().flat_map(|it| &it.0) {
                let counts = ["y", "n", "?", "-"].map(|it| grouped(counts.get(it)));
                writeln!(out, "| {names} | {label} | {} |", counts.join(" | "))?;
            }
        }
        writeln!(out, "\ny: permitted, n: not permitted, ?: not stated, -: no access.")
    }
}

/// Returns the names of agents.
fn names(agents: &[AgentObject<'_>]) -> String {
    let names: Vec<String> = agents.iter().map(|agent| escaped(agent.agent)).collect();
    names.join(", ")
}

/// Describes which records are kept.
fn describe(selection: &Selection) -> String {
    let Selection { agents, keeps, unknown, invalid, pages, purpose, unstated } = selection;
    let agents = if *agents == "all" { "all agents" } else { "any agent" };
    let mut text = format!("records that are {keeps} for {agents}");
    if let (Some(label), Some(unstated)) = (purpose, unstated) {
        text += &format!(", and may be used for {label} (not stated: {unstated})");
    }
    text + &format!("; unknown: {unknown}; not a URL: {invalid}; pages: {pages}")
}

fn write_drops(records: u64, kept: u64, drops: &Drops, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n## Records\n\n| records | number | share |\n|---|---:|---:|")?;
    let mut row = |what: &str, count: u64| {
        let share = if records == 0 { 0.0 } else { 100.0 * count as f64 / records as f64 };
        writeln!(out, "| {what} | {} | {share:.2} % |", grouped(count))
    };
    row("read", records)?;
    row("kept", kept)?;
    for cause in Cause::ALL.into_iter().filter(|cause| drops.cause(*cause) > 0) {
        let what = match cause {
            Cause::Disallowed => "dropped: disallowed",
            Cause::NotPermitted => "dropped: use not permitted (n)",
            Cause::NotStated => "dropped: use not stated (?)",
            Cause::Unknown => "dropped: policy unknown",
            Cause::Invalid => "dropped: not a URL",
            Cause::Page => "dropped: a page instead of robots.txt",
            Cause::Allowed => "dropped: allowed",
        };
        row(what, drops.cause(cause))?;
    }
    Ok(())
}

fn write_hosts(drops: &Drops, out: &mut impl Write) -> io::Result<()> {
    let HostsObject { largest, hosts, uncounted_urls } =
        HostsObject::of(drops.hosts(), ACCOUNT_DROPPED_HOSTS_SHOWN);
    if largest.is_empty() {
        return Ok(());
    }
    let shown = largest.iter().map(|host| host.urls).sum::<u64>();
    let others = (hosts - largest.len()) as u64;
    writeln!(out, "\n## Hosts with the most dropped records\n\n| host | records |\n|---|---:|")?;
    for host in &largest {
        writeln!(out, "| {} | {} |", escaped(&host.host), grouped(host.urls))?;
    }
    if others > 0 {
        let urls = drops.hosts().urls() - uncounted_urls - shown;
        writeln!(out, "| {} other hosts | {} |", grouped(others), grouped(urls))?;
    }
    if uncounted_urls > 0 {
        writeln!(out, "| hosts that were not counted one by one | {} |", grouped(uncounted_urls))?;
    }
    Ok(())
}

/// Returns a text without characters that Markdown or a terminal would interpret.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in visible(text).to_string().chars() {
        if character.is_ascii_punctuation() && !"-.,:/@+()".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
