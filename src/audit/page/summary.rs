//! The report in short: sentences that need no other part of the page.

use super::View;
use super::text::{agent_name, code, counted, number, share};
use crate::audit::model::Report;

/// The first section: a few large numbers, and what to know, most important first.
pub(super) fn section(view: View<'_>) -> String {
    let report = view.report;
    let sentences = [
        records(report),
        agents(report),
        hosts(report),
        rules(report),
        never(report),
        unknown(view),
        comparisons(report),
        notes(report),
        limits(report),
    ];
    let items: String =
        sentences.into_iter().flatten().map(|it| format!("<li>{it}</li>\n")).collect();
    format!(
        "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">In short</h2>\n{}<ul class=\"short\">\n{items}\
         </ul>\n</section>\n",
        tiles(report)
    )
}

fn tiles(report: &Report) -> String {
    let records = &report.records;
    let tiles = [
        (number(records.records), "URLs read"),
        (number(report.hosts.asked), "hosts with a known policy"),
        (share(records.known, records.records), "of the URLs decided"),
        (number(report.unknown.origins), "origins without a policy"),
    ];
    let items: String = tiles
        .iter()
        .map(|(figure, name)| format!("<div><dt>{name}</dt><dd>{figure}</dd></div>\n"))
        .collect();
    format!("<dl class=\"tiles\">\n{items}</dl>\n")
}

fn records(report: &Report) -> Option<String> {
    let records = &report.records;
    let mut text = format!(
        "{} read. For {} of them ({}) a robots.txt is known",
        counted(records.records, "record was", "records were"),
        number(records.known),
        share(records.known, records.records)
    );
    if records.unknown > 0 {
        text += &format!("; for {} none is, and that is no permission", number(records.unknown));
    }
    if records.invalid > 0 {
        text += &format!("; {} no URL", counted(records.invalid, "is", "are"));
    }
    Some(text + ".")
}

fn agents(report: &Report) -> Option<String> {
    let whole = report.records.records;
    let told = |row: &crate::audit::model::AgentVerdicts| {
        format!("<strong>{}</strong> may fetch {}", agent_name(&row.agent), share(row.allow, whole))
    };
    let verdicts = &report.verdicts;
    if verdicts.len() <= 4 {
        let words: Vec<String> = verdicts.iter().map(told).collect();
        return (!words.is_empty()).then(|| format!("{} of all URLs.", super::listed(&words)));
    }
    // The first of equals, whatever the order of the others.
    let most = verdicts.iter().rev().max_by_key(|row| row.allow)?;
    let least = verdicts.iter().min_by_key(|row| row.allow)?;
    if most.allow == least.allow {
        let agents = verdicts.len();
        return Some(format!(
            "Each of the {agents} agents may fetch {} of all URLs.",
            share(most.allow, whole)
        ));
    }
    Some(format!(
        "Of {} agents {} of all URLs, the most, and {}, the least (<a href=\"#agents\">all of them</a>).",
        verdicts.len(),
        told(most),
        told(least)
    ))
}

fn hosts(report: &Report) -> Option<String> {
    let hosts = &report.hosts;
    let first = hosts.most_affected.rows.first()?;
    let decisions: u64 = report.verdicts.iter().map(|row| row.disallow).sum();
    Some(format!(
        "{} of {} keep some URL from some agent. {} alone makes {} of all decisions that disallow \
         (<a href=\"#hosts\">the hosts</a>).",
        number(hosts.affected),
        counted(hosts.asked, "host", "hosts"),
        code(&first.host),
        share(first.disallowed, decisions)
    ))
}

fn rules(report: &Report) -> Option<String> {
    let rules = &report.rules;
    (rules.asked > 0).then(|| {
        format!(
            "{} of {} decided a URL (<a href=\"#deciding\">those that decide most</a>); the others wait \
             for URLs that are not in the list.",
            number(rules.deciding.total),
            counted(rules.asked, "rule", "rules")
        )
    })
}

fn never(report: &Report) -> Option<String> {
    let total = report.rules.never.total;
    (total > 0).then(|| {
        format!(
            "{} can never decide anything: no URL matches, or other rules always win \
             (<a href=\"#never\">which, and why</a>).",
            counted(total, "rule", "rules")
        )
    })
}

fn unknown(view: View<'_>) -> Option<String> {
    let unknown = &view.report.unknown;
    let rows = view.rows(&unknown.worth_fetching);
    let least: u64 = rows.iter().map(|row| row.urls_min).sum();
    (unknown.urls > 0).then(|| {
        format!(
            "Of {}{} nothing is known. To fetch the robots.txt of the first {} would decide {}{} of \
             their URLs (<a href=\"#unknown\">what to fetch next</a>).",
            if unknown.exact { "" } else { "at least " },
            counted(unknown.origins, "origin", "origins"),
            number(rows.len() as u64),
            if unknown.exact { "" } else { "at least " },
            share(least, unknown.urls)
        )
    })
}

fn comparisons(report: &Report) -> Option<String> {
    let told = |it: &crate::audit::model::Comparison| {
        format!("{} decides {} otherwise", code(&it.name), counted(it.urls, "URL", "URLs"))
    };
    let words: Vec<String> = report.comparisons.iter().map(told).collect();
    (!words.is_empty())
        .then(|| format!("{} (<a href=\"#comparisons\">which</a>).", super::listed(&words)))
}

fn notes(report: &Report) -> Option<String> {
    let first = report.notes.first()?;
    Some(format!(
        "{} of odd lines and files occur; the most common, {}, in {} (<a href=\"#notes\">all of \
         them</a>).",
        counted(report.notes.len() as u64, "kind", "kinds"),
        code(&first.kind),
        counted(first.files, "file", "files")
    ))
}

fn limits(report: &Report) -> Option<String> {
    let hit = report.limits.iter().filter(|limit| limit.hits > 0).count() as u64;
    (hit > 0).then(|| {
        format!(
            "{} hit (<a href=\"#limits\">what that changes</a>).",
            counted(hit, "limit was", "limits were")
        )
    })
}
