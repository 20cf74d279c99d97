//! A survey for a person: a few lines, then tables.

use std::io::{self, Write};

use portcullis::access::UnixSeconds;
use portcullis::capture::CaptureNote;
use portcullis::decision::PolicyState;
use portcullis::set::PolicySet;
use portcullis::set::survey::{
    OriginSurvey, PolicySurvey, RobotCount, RobotSurvey, RuleSetStrategy, RuleSetSurvey, Sharing,
    Survey, SurveyedPolicy, SurveyedRuleSet,
};
use portcullis::syntax::NoteKind;

use super::provenance::Provenance;
use super::table::{Table, share, shown};

pub fn write(
    set: &PolicySet,
    survey: &Survey<'_>,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    write_head(set, survey, provenance, out)?;
    write_origins(&survey.origins, provenance, out)?;
    write_records(survey, out)?;
    write_robots(&survey.robots, out)?;
    write_rule_sets(&survey.rule_sets, out)?;
    write_policies(&survey.policies, out)?;
    write_sections(set, survey, out)
}

fn write_head(
    set: &PolicySet,
    survey: &Survey<'_>,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    let limit = match set.robots_bytes_max() {
        Some(bytes) => format!("files up to {bytes} bytes"),
        None => "files of any length".into(),
    };
    writeln!(
        out,
        "{}: set {:016x}, dialect {}, {limit}, {} bytes",
        shown(set.name().as_bytes()),
        set.hash(),
        set.dialect().name,
        set.bytes()
    )?;
    let OriginSurvey { standings, captures, file_bytes, undated, .. } = &survey.origins;
    writeln!(
        out,
        "{} hosts, {} origins, {captures} captures with {file_bytes} bytes of files, {} policies, \
         {} rule sets",
        standings.hosts,
        standings.origins,
        survey.policies.policies,
        survey.rule_sets.len()
    )?;
    write_dates("captured", standings.captured, *undated, out)?;
    write_dates("expire", survey.origins.expires, survey.origins.without_expiry, out)?;
    if standings.in_outage > 0 {
        let as_of = provenance
            .as_of
            .map_or_else(String::new, |time| format!(", as of {}", time.to_rfc3339()));
        writeln!(out, "outages: {} origins unreachable{as_of}", standings.in_outage)?;
    }
    Ok(())
}

fn write_dates(
    what: &str,
    dates: Option<(UnixSeconds, UnixSeconds)>,
    origins_without: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some((first, last)) = dates else { return writeln!(out, "{what}: dates not known") };
    write!(out, "{what}: from {} to {}", first.to_rfc3339(), last.to_rfc3339())?;
    match origins_without {
        0 => writeln!(out),
        origins => writeln!(out, "; of {origins} origins the date is not known"),
    }
}

fn write_origins(
    origins: &OriginSurvey,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    let all = origins.standings.origins;
    let count = |origins: u64| [origins.to_string(), share(origins, all)];
    let named = |title: &str, rows: Vec<(String, u64)>| {
        let mut table = Table::new(&[title, "origins"]);
        let rows = rows.into_iter().filter(|&(_, origins)| origins > 0);
        rows.for_each(|(name, origins)| table.push(name, count(origins)));
        table
    };
    let standings = &origins.standings;
    let states = PolicyState::ALL.map(|it| (it.to_string(), standings.in_state(it)));
    named("state", states.into()).write(out)?;
    let status = |&status: &u16| match status {
        0 => "no answer, or not known".into(),
        status => status.to_string(),
    };
    let statuses = origins.statuses.iter().map(|(code, &origins)| (status(code), origins));
    named("status of the answer", statuses.collect()).write(out)?;
    let redirects = origins.redirects.iter().map(|(times, &origins)| (times.to_string(), origins));
    named("redirects followed", redirects.collect()).write(out)?;
    let notes =
        CaptureNote::ALL.map(|note| (note.as_str().to_owned(), standings.with_capture_note(note)));
    named("note on the answer", notes.into()).write(out)?;
    let notes = NoteKind::ALL.map(|kind| (kind.to_string(), standings.with_file_note(kind)));
    named("note on the file", notes.into()).write(out)?;
    let months = origins.months.iter().map(|(month, &origins)| (month.clone(), origins));
    named("month of the capture", months.collect()).write(out)?;
    write_inputs(origins, provenance, out)
}

fn write_inputs(
    origins: &OriginSurvey,
    provenance: &Provenance,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = Table::new(&["input", "format", "captures", "broken", "origins"]);
    for (position, input) in (0..).zip(&provenance.inputs) {
        let format = input.format.map_or("-", |format| format.as_str()).to_owned();
        let counted = origins.inputs.get(&position).copied().unwrap_or(0);
        let counts = [input.captures, input.broken, counted].map(|it| it.to_string());
        table.push(shown(input.name.as_bytes()), [format].into_iter().chain(counts));
    }
    table.write(out)?;
    for input in &provenance.inputs {
        if let Some(failure) = &input.failure {
            let name = shown(input.name.as_bytes());
            writeln!(out, "{name} was not read to its end: {}", shown(failure.as_bytes()))?;
        }
    }
    Ok(())
}

fn write_records(survey: &Survey<'_>, out: &mut impl Write) -> io::Result<()> {
    let records = &survey.records;
    let heading = format!("record that decides nothing ({} fields)", records.fields);
    let mut table = Table::new(&[&heading, "records", "origins"]);
    for field in &records.most_common {
        let cells = [
            field.records.to_string(),
            field.origins.to_string(),
            share(field.origins, survey.origins.standings.origins),
        ];
        table.push(shown(&field.name), cells);
    }
    table.write(out)
}

fn write_robots(robots: &RobotSurvey<'_>, out: &mut impl Write) -> io::Result<()> {
    let heading = format!("robot ({} names)", robots.names);
    let columns = ["policies", "origins", "everything", "part", "nothing", "not known"];
    let mut table = Table::new(&[&[heading.as_str()], &columns[..]].concat());
    let cells = |count: &RobotCount| {
        let RobotCount { policies, origins, everything, part, nothing, not_known } = *count;
        [policies, origins, everything, part, nothing, not_known].map(|it| it.to_string())
    };
    table.push("(any that no group names)", cells(&robots.others));
    for robot in &robots.most_named {
        table.push(shown(robot.name), cells(&robot.count));
    }
    table.write(out)?;
    writeln!(
        out,
        "{} policies name robots; {} policies of {} origins say nothing to those that they do not name",
        robots.naming_policies, robots.without_others, robots.origins_without_others
    )
}

fn write_rule_sets(rule_sets: &RuleSetSurvey<'_>, out: &mut impl Write) -> io::Result<()> {
    let columns = ["strategy", "rule sets", "in policies", "patterns", "bytes"];
    let mut table = Table::new(&columns);
    for strategy in RuleSetStrategy::ALL {
        let count = rule_sets.with_strategy(strategy);
        let cells = [count.rule_sets, count.uses, count.patterns, count.bytes];
        table.push(strategy.as_str(), cells.map(|it| it.to_string()));
    }
    table.write(out)?;
    write_sharing("policies that share a rule set", "rule sets", &rule_sets.sharing, out)?;
    let lists = [
        ("most shared rule set", &rule_sets.most_shared),
        ("largest rule set", &rule_sets.largest),
        ("rule set with most patterns", &rule_sets.most_patterns),
        ("rule set made of groups", &rule_sets.of_groups),
    ];
    lists.into_iter().try_for_each(|(title, list)| write_rule_set_list(title, list, out))
}

fn write_rule_set_list(
    title: &str,
    list: &[SurveyedRuleSet<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = [title, "policies", "origins", "patterns", "bytes", "strategy"];
    let mut table = Table::new(&columns);
    for item in list {
        let host = item.host.map_or_else(|| "-".into(), shown);
        let robot = item.robot.map_or_else(|| "*".into(), shown);
        let figures = &item.figures;
        let cells = [item.policies, item.origins, figures.patterns.into(), figures.bytes];
        let cells = cells.iter().map(u64::to_string);
        table.push(
            format!("{host} for {robot}"),
            cells.chain([figures.strategy.as_str().to_owned()]),
        );
    }
    table.write(out)
}

fn write_policies(policies: &PolicySurvey<'_>, out: &mut impl Write) -> io::Result<()> {
    write_sharing("origins that share a policy", "policies", &policies.sharing, out)?;
    let lists = [
        ("most shared policy", &policies.most_shared),
        ("largest policy", &policies.largest),
        ("most expensive policy", &policies.most_expensive),
    ];
    lists.into_iter().try_for_each(|(title, list)| write_policy_list(title, list, out))
}

fn write_policy_list(
    title: &str,
    list: &[SurveyedPolicy<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = [
        title,
        "origins",
        "file bytes",
        "extract bytes",
        "records",
        "robots",
        "rule sets",
        "patterns",
        "unordered",
        "rule set bytes",
        "state",
    ];
    let mut table = Table::new(&columns);
    for policy in list {
        let cells = [
            policy.origins,
            policy.file_bytes,
            policy.extract_bytes,
            policy.records,
            policy.robots,
            policy.rule_sets,
            policy.patterns,
            policy.unordered,
            policy.rule_set_bytes,
        ];
        let host = policy.host.map_or_else(|| "-".into(), shown);
        table.push(host, cells.iter().map(u64::to_string).chain([policy.state.to_string()]));
    }
    table.write(out)
}

fn write_sharing(
    title: &str,
    things: &str,
    sharing: &Sharing,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut table = Table::new(&[title, things, "uses"]);
    for tier in sharing.tiers() {
        let name = match tier.from == tier.to {
            true => tier.from.to_string(),
            false => format!("{} to {}", tier.from, tier.to),
        };
        table.push(name, [tier.things.to_string(), tier.uses.to_string()]);
    }
    table.write(out)
}

fn write_sections(set: &PolicySet, survey: &Survey<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(&["section", "bytes"]);
    let mut row = |name: &str, bytes| {
        table.push(name, [u64::to_string(&bytes), share(bytes, set.bytes())]);
    };
    for (name, bytes) in &survey.sections {
        row(name, *bytes);
    }
    row("(header, checksums, padding)", survey.other_bytes);
    table.write(out)
}
