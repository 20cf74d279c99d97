//! The account of a run in Markdown, for a data card: which records were read, which were kept, and
//! why the others were not.
//!
//! It has the figures of the JSON account, without times and places in the lists. Hosts and agents are
//! untrusted text, so whatever Markdown would read is escaped.

use std::io::{self, Write};

use super::account::{Account, AgentList, AgentRecords, RecordFigures, Run};
use super::{Figures, NameRecords, Selection, TopNames};
use portcullis_text::figures::grouped;
use portcullis_text::visible::visible;

impl Run {
    fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let Run { program, version, policies, agents, agent_lists, at, judged_age, .. } = self;
        writeln!(out, "# robots.txt\n\n- Program: {program} {version}")?;
        if let Some(facts) = policies {
            writeln!(out, "- Policies: {facts}")?;
        }
        if let Some(at) = at {
            writeln!(out, "- Decided as of: {}", escaped(at))?;
        }
        if let Some(judged) = judged_age {
            writeln!(out, "- Age of captures judged as of: {}", judged.as_of)?;
        }
        if !agents.is_empty() {
            writeln!(out, "- Agents: {}", names(agents))?;
        }
        for AgentList { name, source, agents, .. } in agent_lists {
            writeln!(out, "- Agents of {}: {agents} ({})", escaped(name), escaped(source))?;
        }
        Ok(())
    }
}

impl Account {
    /// Writes the account as Markdown.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        let RecordFigures { records, selection, dropped, dropped_hosts, .. } = &self.records;
        self.run.write_markdown(out)?;
        let usage = self.records.per_agent.iter().any(|agent| agent.usage.is_some());
        let read =
            if usage { "access rules, Content-Usage and Content-Signal" } else { "access rules" };
        writeln!(out, "- Signals: {read} of the policies; no header, page or other file was read")?;
        writeln!(out, "- Records: {}", grouped(*records))?;
        if let (Some(selection), Some(dropped)) = (selection, dropped) {
            writeln!(out, "- Kept: {}", describe(selection))?;
            write_drops(*records, self.records.kept.unwrap_or(0), dropped, out)?;
        }
        write_agents(&self.records.per_agent, out)?;
        dropped_hosts.as_ref().map_or(Ok(()), |hosts| write_hosts(hosts, out))
    }
}

fn write_agents(agents: &[AgentRecords], out: &mut impl Write) -> io::Result<()> {
    // Most agents of a list are not named by any group and have the same counts.
    let alike = |one: &AgentRecords, next: &AgentRecords| {
        (&one.reasons_of, &one.usage) == (&next.reasons_of, &next.usage)
    };
    let alike = agents.chunk_by(alike);
    let alike: Vec<(String, &AgentRecords)> =
        alike.map(|alike| (names(alike.iter().map(|it| &it.agent)), &alike[0])).collect();
    writeln!(out, "\n## Decisions by agent\n\n| agent | verdict | reason | records |")?;
    writeln!(out, "|---|---|---|---:|")?;
    for (names, agent) in &alike {
        for (verdict, reasons) in &agent.reasons_of.0 {
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

/// Returns the names of agents.
fn names<'n>(agents: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<String> = agents.into_iter().map(|agent| escaped(agent)).collect();
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

fn write_drops(records: u64, kept: u64, dropped: &Figures, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n## Records\n\n| records | number | share |\n|---|---:|---:|")?;
    let mut row = |what: &str, count: u64| {
        let share = if records == 0 { 0.0 } else { 100.0 * count as f64 / records as f64 };
        writeln!(out, "| {what} | {} | {share:.2} % |", grouped(count))
    };
    row("read", records)?;
    row("kept", kept)?;
    for &(cause, count) in dropped.0.iter().filter(|(_, count)| *count > 0) {
        let what = match cause {
            "not-permitted" => "use not permitted (n)",
            "not-stated" => "use not stated (?)",
            "unknown" => "policy unknown",
            "invalid" => "not a URL",
            "page" => "a page instead of robots.txt",
            cause => cause,
        };
        row(&format!("dropped: {what}"), count)?;
    }
    Ok(())
}

fn write_hosts(hosts: &TopNames, out: &mut impl Write) -> io::Result<()> {
    let TopNames { names, records, uncounted_records, largest, .. } = hosts;
    if largest.is_empty() {
        return Ok(());
    }
    let shown = largest.iter().map(|it| it.records).sum::<u64>();
    let others = (names - largest.len()) as u64;
    writeln!(out, "\n## Hosts with the most dropped records\n\n| host | records |\n|---|---:|")?;
    for NameRecords { name, records } in largest {
        writeln!(out, "| {} | {} |", escaped(name), grouped(*records))?;
    }
    if others > 0 {
        let rest = grouped(records - uncounted_records - shown);
        writeln!(out, "| {} other hosts | {rest} |", grouped(others))?;
    }
    if *uncounted_records > 0 {
        let rest = grouped(*uncounted_records);
        writeln!(out, "| hosts that were not counted one by one | {rest} |")?;
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
