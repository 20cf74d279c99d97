//! The policies of a host for a person: how each came to be known, and its records as a file.

use std::io::{self, Write};

use portcullis::access::UnixSeconds;
use portcullis::automaton::Reach;
use portcullis::decision::PolicyState;
use portcullis::set::survey::{HostQuery, ListedRecord, Portrait, PortrayedGroup, PortrayedRobot};
use portcullis::syntax::RecordKind;
use portcullis::visible::visible;

use super::provenance::Provenance;
use super::table::{Table, shown};

/// Writes `portraits`, of which there is one at least.
pub fn write(
    query: &HostQuery,
    portraits: &[Portrait<'_>],
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    for (number, portrait) in portraits.iter().enumerate() {
        if number > 0 {
            out.write_all(b"\n")?;
        }
        write_portrait(portrait, provenance, out)?;
    }
    let is_known = |origin| portraits.iter().any(|portrait| portrait.origins.contains(origin));
    for origin in query.origins().iter().filter(|origin| !is_known(origin)) {
        writeln!(out, "\n{}: no policy is known", visible(&origin.to_string()))?;
    }
    Ok(())
}

fn write_portrait(
    portrait: &Portrait<'_>,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    let origins: Vec<String> = portrait.origins.iter().map(ToString::to_string).collect();
    writeln!(out, "{}", visible(&origins.join(" and ")))?;
    write_facts(portrait, provenance, out)?;
    let is_file = matches!(portrait.state, PolicyState::Rules | PolicyState::NoRules);
    if is_file {
        write_robots(&portrait.robots, out)?;
        write_listing(portrait, out)?;
    }
    Ok(())
}

fn write_facts(
    portrait: &Portrait<'_>,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    let facts = &portrait.facts;
    let mut line = |name: &str, text: &str| writeln!(out, "  {name:<9} {text}");
    let time = |time: Option<UnixSeconds>| {
        time.map_or_else(|| "not known".into(), UnixSeconds::to_rfc3339)
    };
    let state = match portrait.state {
        PolicyState::Rules => "rules".into(),
        state => format!("{state}: {} for every path", portrait.verdict),
    };
    line("state", &state)?;
    line("captured", &time(facts.captured_at))?;
    line("expires", &time(facts.expires_at))?;
    if let Some(outage) = &facts.outage {
        line("outage", &outage.to_string())?;
    }
    let status = match facts.status {
        0 => "none, or not known".into(),
        status => status.to_string(),
    };
    line("status", &status)?;
    line("redirects", &format!("{} followed", facts.redirects_followed))?;
    let input = provenance.input_name(facts.input);
    line(
        "input",
        &input.map_or_else(|| format!("number {}", facts.input), |it| shown(it.as_bytes())),
    )?;
    let notes: Vec<&str> = facts.capture_notes.iter().map(|note| note.as_str()).collect();
    if !notes.is_empty() {
        line("answer", &notes.join(", "))?;
    }
    if matches!(portrait.state, PolicyState::Rules | PolicyState::NoRules) {
        line("file", &format!("{} bytes", facts.file_bytes))?;
        for kind in facts.file_notes.kinds() {
            line("", &format!("{kind}: {}", kind.describe()))?;
        }
    }
    Ok(())
}

fn write_robots(robots: &[PortrayedRobot<'_>], out: &mut impl Write) -> io::Result<()> {
    let columns = ["robot", "is left", "groups", "patterns", "bytes", "strategy"];
    let mut table = Table::new(&columns);
    for robot in robots {
        let name = robot.name.map_or_else(|| "(any that no group names)".into(), shown);
        let rules = &robot.rules;
        let left = match rules.reach {
            Some(Reach::Everything) => "everything",
            Some(Reach::Part) => "part",
            Some(Reach::Nothing) => "nothing",
            None => "not known",
        };
        let groups: Vec<String> = robot.groups.iter().map(|it| (it + 1).to_string()).collect();
        let cells = [
            left.to_owned(),
            groups.join("+"),
            rules.patterns.to_string(),
            rules.bytes.to_string(),
            rules.strategy.as_str().to_owned(),
        ];
        table.push(name, cells);
    }
    table.write(out)
}

/// The records with their lines, and before each group whom it speaks to.
fn write_listing(portrait: &Portrait<'_>, out: &mut impl Write) -> io::Result<()> {
    let last = portrait.records.last();
    let Some(last) = last else { return writeln!(out, "\nno records") };
    let width = last.line.to_string().len().max(4);
    out.write_all(b"\n")?;
    let mut groups = portrait.groups.iter().enumerate();
    for (position, record) in portrait.records.iter().enumerate() {
        if record.kind == Some(RecordKind::StartsGroup)
            && let Some((number, group)) = groups.next()
        {
            if position > 0 {
                out.write_all(b"\n")?;
            }
            writeln!(out, "{:width$}  # group {}: {}", "", number + 1, audience(group))?;
        }
        let ListedRecord { line, text, .. } = record;
        writeln!(out, "{line:>width$}  {}", shown(text))?;
    }
    Ok(())
}

/// Whom a group speaks to.
fn audience(group: &PortrayedGroup) -> String {
    let mut names: Vec<String> = group.robots.iter().map(|name| shown(name)).collect();
    if group.for_others {
        names.push("any robot that no group names".into());
    }
    match names.is_empty() {
        true => "nobody obeys it".into(),
        false => format!("obeyed by {}", names.join(", ")),
    }
}
