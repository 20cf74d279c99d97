//! What agents get: of the URLs that were asked about, and of the origins in the set.

use super::chart::{Part, Stack, stacks};
use super::glossary::reason;
use super::table::{Row, Table, first_of};
use super::text::{agent_name, code, counted, number, share};
use super::{Section, View, pair};
use crate::audit::model::{AgentReach, AgentVerdicts, RobotRow};
use crate::decision::Reason;

const VERDICTS: [Part; 4] = [
    Part { class: "allow", name: "may fetch" },
    Part { class: "disallow", name: "must not fetch" },
    Part { class: "unknown", name: "not known" },
    Part { class: "invalid", name: "no URL" },
];

const SHARES: [Part; 4] = [
    Part { class: "allow", name: "everything" },
    Part { class: "part", name: "a part" },
    Part { class: "disallow", name: "nothing" },
    Part { class: "unknown", name: "not known" },
];

/// Robots that the chart shows.
const CHARTED: usize = 15;

/// Verdicts and reasons by agent.
pub(super) fn verdicts(view: View<'_>) -> Section {
    let report = view.report;
    let whole = report.records.records;
    let stack = |row: &AgentVerdicts| Stack {
        label: row.agent.clone(),
        figure: format!("may fetch {}", share(row.allow, whole)),
        values: vec![row.allow, row.disallow, row.unknown, row.invalid],
    };
    let chart = stacks(
        "URLs by agent and verdict",
        "verdicts-table",
        &VERDICTS,
        &report.verdicts.iter().map(stack).collect::<Vec<_>>(),
    );
    let mut table = Table::new("verdicts-table", "URLs by agent and verdict")
        .texts(&["agent"])
        .numbers(&["may fetch", "share", "must not fetch", "share", "not known", "no URL"]);
    for row in &report.verdicts {
        table.row(
            Row::headed(&agent_name(&row.agent))
                .number(row.allow)
                .figure(&share(row.allow, whole))
                .number(row.disallow)
                .figure(&share(row.disallow, whole))
                .number(row.unknown)
                .number(row.invalid),
        );
    }
    let body = pair(&chart, &table.html_or("No agent was asked for.")) + &reasons(view);
    Section {
        id: "agents",
        title: "What each agent may fetch",
        meaning: format!(
            "Of {} that were read, how many each agent may fetch, and why. “Not known” is no \
             permission: no robots.txt is known for the host.",
            counted(whole, "record", "records")
        ),
        advice: "If an agent is kept from URLs that you want it to have, look for its rules in \
                 <a href=\"#deciding\">the rules that decide most</a>."
            .to_owned(),
        body,
    }
}

/// The reasons that occur, by agent.
fn reasons(view: View<'_>) -> String {
    let verdicts = &view.report.verdicts;
    let occurs = |reason: &Reason| {
        verdicts
            .iter()
            .any(|row| row.reasons.iter().any(|it| it.reason == reason.as_str() && it.count > 0))
    };
    let reasons: Vec<Reason> = Reason::ALL.into_iter().filter(occurs).collect();
    if reasons.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = reasons.iter().map(|it| it.as_str()).collect();
    let mut table = Table::new("reasons-table", "Why: URLs by agent and reason")
        .texts(&["agent"])
        .numbers(&names);
    for row in verdicts {
        let mut cells = Row::headed(&agent_name(&row.agent));
        for name in &names {
            let found = row.reasons.iter().find(|it| it.reason == *name);
            cells = cells.number(found.map_or(0, |it| it.count));
        }
        table.row(cells);
    }
    let words: String = reasons
        .iter()
        .map(|it| format!("<li><code>{}</code>: {}</li>\n", it.as_str(), reason(*it)))
        .collect();
    format!("<h3>Why</h3>\n{}<ul class=\"words\">\n{words}</ul>\n", table.html())
}

/// What each agent is left of the origins.
pub(super) fn reach(view: View<'_>) -> Section {
    let rows = &view.report.reach;
    let whole = |row: &AgentReach| row.named + row.by_default + row.unnamed;
    let stack = |row: &AgentReach| Stack {
        label: row.agent.clone(),
        figure: format!("shut out of {}", share(row.nothing, whole(row))),
        values: vec![row.everything, row.part, row.nothing, row.not_known],
    };
    let chart = stacks(
        "Origins by agent and by what they leave it",
        "reach-table",
        &SHARES,
        &rows.iter().map(stack).collect::<Vec<_>>(),
    );
    let mut table = Table::new("reach-table", "Origins by agent: how it is named, what it is left")
        .texts(&["agent"])
        .numbers(&["everything", "a part", "nothing", "not known"])
        .numbers(&["named", "by default", "not spoken to"]);
    for row in rows {
        table.row(
            Row::headed(&agent_name(&row.agent))
                .number(row.everything)
                .number(row.part)
                .number(row.nothing)
                .number(row.not_known)
                .number(row.named)
                .number(row.by_default)
                .number(row.unnamed),
        );
    }
    Section {
        id: "reach",
        title: "What the files leave each agent",
        meaning: "Whatever URLs were asked about: how many origins (a scheme and a host) leave the \
                  agent every URL, a part of them, or none; and whether they name it, speak to it by \
                  their group for all robots, or have nothing to say to it."
            .to_owned(),
        advice: "Many origins that name an agent and leave it nothing are a decision about that \
                 agent, and one to respect; “by default” means that they shut out all robots they do \
                 not name."
            .to_owned(),
        body: pair(&chart, &table.html_or("No agent was asked for.")),
    }
}

/// Robots that files name.
pub(super) fn robots(view: View<'_>) -> Section {
    let figures = &view.report.robots;
    let rows = view.rows(&figures.most_named);
    let stack = |row: &RobotRow| Stack {
        label: row.name.clone(),
        figure: format!("named by {}", number(row.origins)),
        values: vec![row.everything, row.part, row.nothing, row.not_known],
    };
    let charted: Vec<Stack> = rows.iter().take(CHARTED).map(stack).collect();
    let chart = stacks(
        "What origins that name a robot leave it: the robots named most",
        "robots-table",
        &SHARES,
        &charted,
    );
    let caption = format!(
        "Robots that files name: {}, by origins",
        first_of(rows.len(), figures.most_named.total)
    );
    let mut table = Table::new("robots-table", caption).texts(&["robot", "asked for"]).numbers(&[
        "origins",
        "everything",
        "a part",
        "nothing",
        "not known",
    ]);
    let others = (figures.others.origins > 0).then_some(&figures.others);
    for row in others.into_iter().chain(rows) {
        let name = if row.name == "*" { "* (all others)".to_owned() } else { code(&row.name) };
        table.row(
            Row::headed(&name)
                .text(if row.asked { "yes" } else { "" })
                .number(row.origins)
                .part(row.everything, row.origins)
                .part(row.part, row.origins)
                .part(row.nothing, row.origins)
                .number(row.not_known),
        );
    }
    Section {
        id: "robots",
        title: "Robots that files name",
        meaning: format!(
            "{} a robot; {} rules and no group for robots that are not named, so all those may fetch \
             everything there.",
            counted(figures.naming_origins, "origin names", "origins name"),
            counted(figures.without_default, "origin has", "origins have")
        ),
        advice:
            "A robot that many name and that you run, but did not ask for here, belongs into the \
                 list of agents."
                .to_owned(),
        body: pair(&chart, &table.html_or("No file names a robot.")),
    }
}
