//! Renders the report as one HTML page for people: engineers, SEO specialists, lawyers.
//!
//! This module defines the presentation of a [`Report`], not its content. Programs read
//! [`to_json`](Report::to_json). The frame comes from [`portcullis_report::page`]. Tables and
//! charts come from [`html`](mod@portcullis_report::html), which escapes all text.
//!
//! Cost: linear in the rows of the report, a few milliseconds for lists of a thousand rows. The
//! page stays below [`AUDIT_PAGE_BYTES_MAX`]: if lists are too long, it shows fewer rows and the
//! total. No function fails.
//!
//! ```
//! use portcullis_audit::{Report, page};
//!
//! let report = Report { agents: vec!["ExampleBot".into()], ..Report::default() };
//! let html = page::page(&report);
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.len() < portcullis_dialect::limits::AUDIT_PAGE_BYTES_MAX);
//! ```

mod files;
mod sections;
#[cfg(test)]
mod tests;
mod usage;

use super::model::{List, Report};
use portcullis_dialect::limits::{AUDIT_PAGE_BYTES_MAX, AUDIT_PAGE_TEXT_CHARACTERS_MAX};
use portcullis_report::html;
use portcullis_report::html::{Html, counted, number, share};
use portcullis_report::page::{Page, Section};
use portcullis_robots::visible::cut_characters;

/// The smallest number of rows per list. If the page is still too long with so few, rows are not
/// the cause.
const ROWS_MIN: usize = 10;

/// The most characters of an agent's name: twice the length of long names.
const AGENT_CHARACTERS: usize = 40;

/// The number of names in a list before the others unfold, in text and in the cell of a table.
const NAMES_SHOWN: usize = 6;
const NAMES_IN_CELL: usize = 3;

/// Renders the page.
pub fn page(report: &Report) -> String {
    let mut rows = longest_list(report);
    loop {
        let html = whole(View { report, rows }).into_string();
        if html.len() <= AUDIT_PAGE_BYTES_MAX || rows <= ROWS_MIN {
            return html;
        }
        rows = (rows / 2).max(ROWS_MIN);
    }
}

fn longest_list(report: &Report) -> usize {
    let Report { hosts, rules, robots, usage, unknown, files, crawl_delays, sitemaps, .. } = report;
    let lengths = [
        hosts.most_affected.rows.len(),
        rules.deciding.rows.len(),
        rules.idle.rows.len(),
        rules.never.rows.len(),
        robots.most_named.rows.len(),
        usage.conflicts.rows.len(),
        usage.licenses.rows.len(),
        unknown.worth_fetching.rows.len(),
        files.longest.rows.len(),
        files.most_rules.rows.len(),
        crawl_delays.longest.rows.len(),
        sitemaps.most.rows.len(),
    ];
    lengths.into_iter().max().unwrap_or(0)
}

/// A report, and the number of rows to show per list.
#[derive(Clone, Copy)]
struct View<'r> {
    report: &'r Report,
    rows: usize,
}

impl<'r> View<'r> {
    /// Returns the rows of a list to show.
    fn rows<T>(&self, list: &'r List<T>) -> &'r [T] {
        &list.rows[..list.rows.len().min(self.rows)]
    }

    /// Returns a caption: `Rules that decided nothing: the first 50 of 2,434`.
    fn caption<T>(&self, title: &str, list: &List<T>) -> Html {
        let shown = list.rows.len().min(self.rows);
        match shown as u64 == list.total {
            true if shown < 2 => html!("{}", title),
            true => html!("{}: all {}", title, shown),
            false => html!("{}: the first {} of {}", title, shown, list.total),
        }
    }

    /// Returns the agents at the given positions: `Googlebot, GPTBot`, or `all 15`.
    fn agents(&self, positions: impl IntoIterator<Item = usize>) -> Html {
        let agents: Vec<usize> = positions.into_iter().collect();
        let all = self.report.agents.len();
        if agents.len() == all && all > 2 {
            return html!("all {}", all);
        }
        let agents = agents.into_iter().filter_map(|position| self.report.agents.get(position));
        Html::folded(agents.map(|it| agent_name(it)), NAMES_IN_CELL, ", ")
    }
}

/// Returns the sentence about the records and how many have a known policy.
fn read(report: &Report) -> Html {
    let records = &report.records;
    let mut text = html!(
        "{} read. For {} of them ({}) a robots.txt is known",
        counted(records.records, "record was", "records were"),
        records.known,
        share(records.known, records.records)
    );
    if records.unknown > 0 {
        text += html!("; for {} none is known, which does not mean allowed", records.unknown);
    }
    text += html!(".");
    text
}

/// Returns the summary: a few large numbers, and the findings of all sections.
fn summary(report: &Report, sections: &[Section]) -> Section {
    let Report { records, hosts, unknown, .. } = report;
    let tiles = [
        (number(records.records), "URLs read"),
        (number(hosts.asked), "hosts with a known robots.txt"),
        (share(records.known, records.records), "of the URLs decided"),
        (number(unknown.hosts), "hosts without a known robots.txt"),
    ];
    let tile = |(figure, name)| html!("<div><dt>{}</dt><dd>{}</dd></div>\n", name, figure);
    let tiles = tiles.into_iter().map(tile).collect::<Html>();
    let findings = sections.iter().filter(|section| !section.finding.is_empty()).map(|section| {
        let Section { id, title, finding, .. } = section;
        html!("<li>{} <a href=\"#{}\">{}</a></li>\n", finding, *id, *title)
    });
    let start = match records.records {
        0 => html!(
            "<p class=\"advice\">The list of URLs is empty: no record was read, so there is nothing to \
             decide. The parts below describe the files alone.</p>\n"
        ),
        _ => html!("<dl class=\"tiles\">\n{}</dl>\n", tiles),
    };
    let read = match records.records {
        0 => Html::default(),
        _ => html!("<li>{}</li>\n", read(report)),
    };
    Section {
        id: "summary",
        title: "In short",
        body: html!("{}<ul class=\"short\">\n{}{}</ul>\n", start, read, findings.collect::<Html>()),
        ..Section::default()
    }
}

fn whole(view: View<'_>) -> Html {
    let Report { records, agents, inputs, source, version, .. } = view.report;
    let mut sections = sections::all(view);
    sections.insert(0, summary(view.report, &sections));
    let title = format!("What robots.txt does to {}", counted(records.records, "URL", "URLs"));
    let kind = match source.kind {
        "set" => ", a compiled policy set",
        "folder" => ", a folder of files named by host",
        "file" => ", one file for every URL",
        _ => "",
    };
    let captured = source.captured.as_ref();
    let captured = captured.map_or_else(
        || html!("not known; the files have no date"),
        |dates| html!("{} to {}", dates.first, dates.last),
    );
    let facts = [
        ("Agents", folded(agents.iter().map(|agent| agent_name(agent)))),
        ("URLs", folded(inputs.iter().map(|input| code(input)))),
        ("Policies", html!("{}{}", code(&source.name), kind)),
        ("Captured", captured),
        ("Set hash", code(&source.hash)),
        ("Dialect", code(source.dialect)),
    ];
    let footer = html!(
        "Made by portcullis {}. Nothing on this page was fetched from a site; it shows what the files \
         contained when they were captured.",
        version
    );
    Page { title: &title, facts: &facts, sections: &sections, footer }.html()
}

/// Returns a text as code, cut if it is long. In a narrow column, hosts and paths break after a
/// separator.
fn code(text: &str) -> Html {
    let text = cut_characters(text, AUDIT_PAGE_TEXT_CHARACTERS_MAX);
    let pieces = text.split_inclusive(['.', '/', '?', '&']);
    html!("<code>{}</code>", Html::join(pieces.map(|piece| html!("{}", piece)), "<wbr/>"))
}

/// Returns a host and the number of others that share its file.
fn shared(host: &str, hosts: u64) -> Html {
    html!("{}{}", code(host), others(hosts))
}

/// Returns the words behind one of `hosts` hosts. Empty if there are no others.
fn others(hosts: u64) -> String {
    match hosts {
        0 | 1 => String::new(),
        hosts => format!(" and {}", counted(hosts - 1, "other", "others")),
    }
}

/// Returns the name of an agent, cut if it is long, because it occurs in many places.
fn agent_name(name: &str) -> Html {
    html!("{}", &*cut_characters(name, AGENT_CHARACTERS))
}

/// Joins names with commas. The names after the first few unfold.
fn folded(names: impl IntoIterator<Item = Html>) -> Html {
    Html::folded(names, NAMES_SHOWN, ", ")
}

/// Joins items as `a`, `a and b`, `a, b and c`.
fn listed(items: impl IntoIterator<Item = Html>) -> Html {
    let mut items: Vec<Html> = items.into_iter().collect();
    match items.pop() {
        Some(last) if !items.is_empty() => html!("{} and {}", Html::join(items, ", "), last),
        last => last.unwrap_or_default(),
    }
}
