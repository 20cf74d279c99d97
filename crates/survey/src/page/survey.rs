//! The rows of a survey as one HTML page: how many origins shut each crawler out, now and over time.
//!
//! The figures are those of the summary as JSON, [`RowTotals`].

use std::cmp::Reverse;
use std::iter::once;

use maud::html;
use portcullis_report::page::{
    Bar, Page, SHOWN, Section, Series, alike, bars, code, folded, table, text, trends,
};
use portcullis_report::{Account, NoRecords};
use portcullis_robots::syntax::NoteKind;
use portcullis_text::figures::{counted, grouped, percent, share};

use super::{NAMED, Names, SHARES, agent_name, footer, numbered, row, some_of};
use crate::agents::{AgentFigures, Causes};
use crate::limits::SURVEY_PAGE_ROWS_MAX;
use crate::rows::RowTotals;
use crate::trend::{ChangeRow, Trend};

/// The months of the table, of which the others are left out.
const MONTHS_SHOWN: usize = 6;

/// Renders the page of a survey.
pub fn survey(account: &Account<NoRecords>, totals: &RowTotals) -> String {
    let policies = account.run.policies.clone().unwrap_or_default();
    let agents = totals.per_agent.iter().map(|it| agent_name(&it.agent));
    let mut facts = vec![
        ("robots.txt", code(&policies.name)),
        ("Hosts", html! { (grouped(totals.hosts)) }),
        ("Crawlers", folded(agents, NAMED)),
    ];
    let pages = NoteKind::APPEARANCES.map(|kind| policies.file_notes.get(kind.as_str()));
    match pages.iter().sum() {
        0 => {}
        pages => facts.push((
            "Not robots.txt",
            html! { (counted(pages, "file")) " that look like web pages, JSON or binary data, and count as files \
                    without rules" },
        )),
    }
    if let Some(dates) = policies.capture_dates {
        facts.push(("Captured", html! { (dates) }));
    }
    if let Some(at) = account.run.at.as_ref().filter(|_| totals.trend.is_none()) {
        facts.push(("As of", text(at)));
    }
    let mut sections = vec![access(&totals.per_agent)];
    if let Some(trend) = &totals.trend {
        sections.extend(over_time(trend).into_iter().chain(changes(trend)));
    }
    let title = format!("What {} may fetch", counted(totals.per_agent.len() as u64, "crawler"));
    let footer = footer(account.version);
    Page { title: &title, facts: &facts, sheet: &[], sections: &sections, footer: &footer }.html()
}

/// Returns equal values once, each with its positions, the largest first: at most
/// [`SURVEY_PAGE_ROWS_MAX`], and a caption that says so.
fn largest<T: PartialEq>(
    values: impl IntoIterator<Item = T>,
    size: impl Fn(&T) -> u64,
    title: &str,
) -> (Vec<(T, Vec<usize>)>, String) {
    let mut rows = alike(values);
    rows.sort_by_key(|(value, _)| Reverse(size(value)));
    let all = rows.len();
    rows.truncate(SURVEY_PAGE_ROWS_MAX);
    let caption = match rows.len() < all {
        true => format!("{title}: the first {} rows of {}", rows.len(), grouped(all as u64)),
        false => title.to_owned(),
    };
    (rows, caption)
}

/// The newest policies, for each crawler.
fn access(per_agent: &[AgentFigures]) -> Section {
    let names = Names(per_agent.iter().map(|it| &*it.agent).collect());
    let origins = per_agent.first().map_or(0, |it| it.origins.total());
    let title = "Origins by what each crawler may fetch";
    let causes = per_agent.iter().map(|it| it.origins.causes);
    let (rows, caption) = largest(causes, |counts| counts[2], title);
    let bar = |(counts, agents): &(Causes, Vec<usize>)| {
        Bar::new(names.few(agents), format!("none by rule {}", share(counts[2], origins)), *counts)
    };
    let heads: Vec<String> = SHARES.iter().map(|(_, name)| format!("#{name}")).collect();
    let cells = |(counts, agents): &(Causes, Vec<usize>)| row(names.folded(agents), *counts);
    Section {
        id: "access",
        title: "What origins allow",
        finding: html! {
            @match rows.first() {
                Some((counts, agents)) if counts[2] > 0 => {
                    "Of " (counted(origins, "origin")) ", " (grouped(counts[2])) " (" (share(counts[2], origins))
                    ") shut out " (names.few(agents)) @if rows.len() > 1 { ", the most of these crawlers" } "."
                }
                _ => { "No origin shuts out a crawler by rule." }
            }
        },
        meaning: "“None by rule” counts origins whose file disallows everything. “None (server fails)” \
            counts origins whose server answered with an error or not at all.",
        advice: "",
        body: html! {
            (bars(title, "access-table", &SHARES, true, rows.iter().map(bar)))
            (table("access-table", &caption, SHOWN, &numbered("crawlers", &heads), rows.iter().map(cells)))
        },
    }
}

/// The share of origins that shut each crawler out, by month.
fn over_time(trend: &Trend) -> Option<Section> {
    let months = trend.months();
    let (first, last) = (months.first()?, months.last()?);
    let (agents, causes): (Vec<&str>, Vec<Vec<Causes>>) = trend.agents().unzip();
    let names = Names(agents);
    let origins: Vec<u64> = causes.first()?.iter().map(|it| it.iter().sum()).collect();
    let title = format!("Share of origins that shut a crawler out by rule, {first} to {last}");
    let shut = causes.iter().map(|it| it.iter().map(|causes| causes[2]).collect::<Vec<u64>>());
    let (rows, caption) = largest(shut, |shut| shut.last().copied().unwrap_or(0), &title);
    let series = |(shut, agents): &(Vec<u64>, Vec<usize>)| {
        let ends = [0, shut.len() - 1].map(|it| share(shut[it], origins[it]));
        let values = shut.iter().zip(&origins).map(|(shut, all)| percent(*shut, *all)).collect();
        Series { label: names.few(agents), figure: ends.join(" → "), values }
    };
    // The first month, the last, and some between, at equal distances.
    let (steps, places) = (months.len() - 1, MONTHS_SHOWN.min(months.len()));
    let place = |it: usize| it * steps / (places - 1).max(1);
    let shown: Vec<usize> = (0..places).map(place).collect();
    let heads: Vec<String> = shown.iter().map(|it| format!("#{}", months[*it])).collect();
    let captured = row(html! { "all captured origins" }, shown.iter().map(|it| origins[*it]));
    let cells = |(shut, agents): &(Vec<u64>, Vec<usize>)| {
        row(names.folded(agents), shown.iter().map(|it| shut[*it]))
    };
    let caption = caption.replacen("Share of origins", "Origins", 1);
    let rows_of_table = once(captured).chain(rows.iter().map(cells));
    Some(Section {
        id: "trend",
        title: "Over time",
        meaning: "Each month is counted as of its first second in UTC, over the origins that had been captured \
            by then.",
        body: html! {
            (trends(&title, "trend-table", rows.iter().map(series)))
            (table("trend-table", &caption, SHOWN, &numbered("crawlers", &heads), rows_of_table))
        },
        ..Section::default()
    })
}

/// The files that shut out, or let in again, the most crawlers.
fn changes(trend: &Trend) -> Option<Section> {
    let changes = trend.changes();
    let all = trend.agents().count();
    let cells = |it: &ChangeRow<'_>| {
        let [closed, opened] =
            [&it.closed, &it.opened].map(|names| some_of(all, names.iter().copied()));
        vec![code(&it.origin), html! { (&it.date[..10]) }, closed, opened]
    };
    let columns = ["origin", "since", "shut out", "let in again"];
    let title = "The largest changes of files, by the number of crawlers";
    let body = table("changes-table", title, SHOWN, &columns, changes.iter().map(cells));
    (!changes.is_empty()).then(|| Section {
        id: "changes",
        title: "Largest changes",
        meaning: "A file shuts a crawler out if it disallows everything and the file before it did not. \
            Failures of the server between two files are no changes.",
        body,
        ..Section::default()
    })
}
