//! Hosts: those that keep most from the agents, those of which nothing is known, and the states.

use super::chart::{Bar, bars};
use super::glossary::state;
use super::table::{Row, Table, first_of};
use super::text::{code, counted, number, share};
use super::{Section, View, pair};
use crate::audit::model::{HostRow, UnknownRow};
use crate::decision::PolicyState;

/// Hosts that a chart shows.
const CHARTED: usize = 12;

/// The hosts that keep most URLs.
pub(super) fn affected(view: View<'_>) -> Section {
    let hosts = &view.report.hosts;
    let rows = view.rows(&hosts.most_affected);
    let agents = &view.report.agents;
    let bar = |row: &HostRow| Bar {
        label: row.host.clone(),
        figure: number(row.disallowed),
        value: row.disallowed,
    };
    let chart = bars(
        "Decisions that disallow, over all agents: the hosts with most",
        "hosts-table",
        &rows.iter().take(CHARTED).map(bar).collect::<Vec<_>>(),
    );
    let caption = format!(
        "Hosts with URLs that an agent must not fetch: {}",
        first_of(rows.len(), hosts.most_affected.total)
    );
    let mut table = Table::new("hosts-table", caption)
        .texts(&["host"])
        .numbers(&["URLs", "disallowed, all agents"])
        .agents(agents);
    for row in rows {
        let mut cells = Row::headed(&code(&row.host)).number(row.urls).number(row.disallowed);
        for &count in &row.by_agent {
            cells = cells.part(count, row.urls);
        }
        table.row(cells);
    }
    let decisions: u64 = view.report.verdicts.iter().map(|row| row.disallow).sum();
    let shown: u64 = rows.iter().map(|row| row.disallowed).sum();
    Section {
        id: "hosts",
        title: "Hosts most affected",
        meaning: format!(
            "{} of {} keep some URL from some agent. Those shown account for {} of all decisions that \
             disallow; under each agent stands how many of the host’s URLs it must not fetch.",
            number(hosts.affected),
            counted(hosts.asked, "host", "hosts"),
            share(shown, decisions)
        ),
        advice:
            "Take the hosts that you need from the top, and ask their owners, or take them off \
                 your list."
                .to_owned(),
        body: chart + &table.html_or("No host keeps a URL from an agent."),
    }
}

/// Hosts without a policy.
pub(super) fn unknown(view: View<'_>) -> Section {
    let unknown = &view.report.unknown;
    let rows = view.rows(&unknown.worth_fetching);
    let bar = |row: &UnknownRow| Bar {
        label: row.origin.clone(),
        figure: number(row.urls),
        value: row.urls,
    };
    let chart = bars(
        "URLs without a known policy: the origins with most",
        "unknown-table",
        &rows.iter().take(CHARTED).map(bar).collect::<Vec<_>>(),
    );
    let caption = format!(
        "Origins to fetch a robots.txt from: {}",
        first_of(rows.len(), unknown.worth_fetching.total)
    );
    let mut table =
        Table::new("unknown-table", caption).texts(&["origin"]).numbers(&["URLs, at most"]);
    if !unknown.exact {
        table = table.numbers(&["URLs, at least"]);
    }
    for row in rows {
        let cells = Row::headed(&code(&row.origin)).number(row.urls);
        table.row(if unknown.exact { cells } else { cells.number(row.urls_min) });
    }
    let least: u64 = rows.iter().map(|row| row.urls_min).sum();
    let exactness = if unknown.exact { "" } else { "at least " };
    let meaning = match unknown.urls {
        0 => "A policy is known for every URL.".to_owned(),
        urls => format!(
            "For {}, of {exactness}{}, no robots.txt is known. That is no permission.",
            counted(urls, "URL", "URLs"),
            counted(unknown.origins, "origin", "origins")
        ),
    };
    let advice = match unknown.urls {
        0 => String::new(),
        urls => format!(
            "Fetch the robots.txt of those shown, and {exactness}{} of these URLs will be decided.",
            share(least, urls)
        ),
    };
    let body = match unknown.urls {
        0 => String::new(),
        _ => pair(&chart, &table.html_or("None is counted one by one.")),
    };
    Section { id: "unknown", title: "Unknown hosts worth fetching next", meaning, advice, body }
}

/// Policies by state.
pub(super) fn states(view: View<'_>) -> Section {
    let states = &view.report.states;
    let origins: u64 = states.iter().map(|row| row.origins).sum();
    let urls: u64 = states.iter().map(|row| row.urls).sum();
    let mut table = Table::new("states-table", "Origins and URLs by the state of their robots.txt")
        .texts(&["state", "what it means"])
        .numbers(&["origins", "share", "URLs", "share"]);
    for row in states {
        let meaning = PolicyState::ALL.into_iter().find(|it| it.as_str() == row.state).map(state);
        table.row(
            Row::headed(&code(&row.state))
                .text(meaning.unwrap_or_default())
                .number(row.origins)
                .figure(&share(row.origins, origins))
                .number(row.urls)
                .figure(&share(row.urls, urls)),
        );
    }
    Section {
        id: "states",
        title: "What is known of the origins",
        meaning: "Whether a robots.txt was read, was not there, or could not be had; that alone \
                  decides the URLs of origins without rules."
            .to_owned(),
        advice: "Fetch again what is unreachable or deferred: it shuts out everybody for now."
            .to_owned(),
        body: table.html_or("No state was counted."),
    }
}
