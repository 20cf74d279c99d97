//! The section about usage preferences.

use std::cmp::Reverse;

use super::sections::{AGENT_COLUMNS_MAX, pair, shares};
use super::{View, agent_name, code, listed, shared};
use crate::model::{ConflictKind, UsageConflict, UsageFigures, UsageRow};
use portcullis_report::html;
use portcullis_report::html::{Bar, Html, Part, Table, counted, share};
use portcullis_report::page::Section;

const STATED: [Part<'_>; 4] = [
    Part { class: "allow", name: "fine (y)" },
    Part { class: "disallow", name: "not wanted (n)" },
    Part { class: "part", name: "not stated" },
    Part { class: "unknown", name: "no access, or not known" },
];

pub(super) fn usage(view: View<'_>) -> Section {
    let section =
        Section { id: "usage", title: "What pages may be used for", ..Section::default() };
    let figures = &view.report.usage;
    if figures.hosts == 0 {
        return Section {
            body: html!("<p class=\"none\">No file says what pages may be used for.</p>\n"),
            ..section
        };
    }
    let conflicts = &figures.by_conflict;
    let mut finding = html!(
        "{} what pages may be used for, {} a licence.",
        counted(figures.hosts, "host says", "hosts say"),
        counted(figures.licensed, "names", "name")
    );
    let kinds = [
        (conflicts.no_access, "y where an agent may fetch nothing"),
        (conflicts.overruled, "y overruled by n for the same paths"),
        (conflicts.other_group, "not for an agent with a group of its own"),
    ];
    let kinds = kinds.into_iter().filter(|(hosts, _)| *hosts > 0);
    let kinds = listed(kinds.map(|(hosts, kind)| html!("{} ({})", kind, hosts)));
    if !kinds.is_empty() {
        finding += html!(" Statements without effect, by host and use: {}.", kinds);
    }
    Section {
        finding,
        meaning: html!(
            "Content-Usage and Content-Signal state preferences about training AI models (train-ai), other \
             use by AI (ai-use) and search. What nobody states is not permitted by that. A URL that the \
             agent must not fetch has no preference."
        ),
        advice: html!(
            "Decide what silence means to you before you use these pages: <code>portcullis filter \
             --purpose</code> has no default for it."
        ),
        body: html!(
            "{}{}{}",
            urls(view, figures),
            conflict_table(view, figures),
            licenses(view, figures)
        ),
        ..section
    }
}

/// Returns the chart and table of URLs by agent and label.
fn urls(view: View<'_>, figures: &UsageFigures) -> Html {
    let whole = view.report.records.records;
    if whole == 0 {
        return Html::default();
    }
    let title = "URLs by agent and use";
    let bar = |row: &UsageRow| Bar {
        label: format!("{} · {}", row.agent, row.label),
        figure: format!("y {}, n {}", share(row.y, whole), share(row.n, whole)),
        values: vec![row.y, row.n, row.unstated, row.no_access],
    };
    // If there are many agents, the ones with the most preferences against a use come first.
    let mut charted: Vec<&UsageRow> = figures.urls.iter().collect();
    if view.report.agents.len() > AGENT_COLUMNS_MAX {
        charted.sort_by_key(|row| Reverse(row.n));
    }
    let bars: Vec<Bar> = charted.into_iter().map(bar).collect();
    let chart = shares(title, "usage-table", &STATED, &bars);
    let table = Table::new("usage-table", html!("{}", title), &figures.urls)
        .text("agent", |row| agent_name(&row.agent))
        .text("use", |row| code(row.label))
        .number("y", |row| row.y)
        .number("n", |row| row.n)
        .number("not stated", |row| row.unstated)
        .number("no access", |row| row.no_access);
    pair(chart, table.html_or("No agent was given."))
}

fn conflict_table(view: View<'_>, figures: &UsageFigures) -> Html {
    let why = |row: &UsageConflict| match row.kind {
        ConflictKind::NoAccess => "y, and the agent may fetch nothing",
        ConflictKind::Overruled => "y, and n for the same paths",
        ConflictKind::OtherGroup => "holds for other robots; the agent has a group of its own",
    };
    let caption = view.caption("Statements without effect", &figures.conflicts);
    let table = Table::new("conflicts-table", caption, view.rows(&figures.conflicts))
        .text("host", |row| shared(&row.host, row.hosts))
        .text("use", |row| code(row.label))
        .text("why", move |row| html!("{}", why(row)))
        .number("line", |row| row.line.into())
        .text("agents", move |row| view.agents(row.agents.iter().copied()))
        .number("hosts with it", |row| row.hosts);
    match figures.conflicts.rows.is_empty() {
        true => Html::default(),
        false => table.html_or(""),
    }
}

fn licenses(view: View<'_>, figures: &UsageFigures) -> Html {
    let caption = view.caption("Licences", &figures.licenses);
    let table = Table::new("licenses-table", caption, view.rows(&figures.licenses))
        .text("licence", |row| code(&row.license))
        .number("hosts", |row| row.hosts);
    match figures.licenses.rows.is_empty() {
        true => Html::default(),
        false => table.html_or(""),
    }
}
