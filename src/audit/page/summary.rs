//! The report in short: a few large numbers, and sentences that need no other part of the page.

use super::{View, agent_name, code, listed};
use crate::audit::model::{AgentVerdicts, Report};
use crate::report::html::{Html, counted, html, number, share};

/// The first section.
pub(super) fn section(view: View<'_>) -> Html {
    let report = view.report;
    let Report { records, hosts, unknown, .. } = report;
    let tiles = [
        (number(records.records), "URLs read"),
        (number(hosts.asked), "hosts with a known policy"),
        (share(records.known, records.records), "of the URLs decided"),
        (number(unknown.origins), "origins without a policy"),
    ];
    let tiles: Html = tiles
        .iter()
        .map(|(figure, name)| html!("<div><dt>{}</dt><dd>{}</dd></div>\n", name, figure))
        .collect();
    let sentences = [
        Some(read(report)),
        agents(report),
        affected(report),
        rules(report),
        never(report),
        unknown_origins(view),
        notes(report),
        limits(report),
    ];
    let items: Html =
        sentences.into_iter().flatten().map(|sentence| html!("<li>{}</li>\n", sentence)).collect();
    html!(
        r#"<section aria-labelledby="summary">
<h2 id="summary">In short</h2>
<dl class="tiles">
{}</dl>
<ul class="short">
{}</ul>
</section>
"#,
        tiles,
        items
    )
}

fn read(report: &Report) -> Html {
    let records = &report.records;
    let mut text = html!(
        "{} read. For {} of them ({}) a robots.txt is known",
        counted(records.records, "record was", "records were"),
        records.known,
        share(records.known, records.records)
    );
    if records.unknown > 0 {
        text += html!("; for {} none is, which does not mean allowed", records.unknown);
    }
    if records.invalid > 0 {
        text += html!("; {}", counted(records.invalid, "is not a URL", "are not URLs"));
    }
    text += html!(".");
    text
}

fn agents(report: &Report) -> Option<Html> {
    let whole = report.records.records;
    let may_fetch = |row: &AgentVerdicts| {
        let share = share(row.allow, whole);
        html!("<strong>{}</strong> may fetch {}", agent_name(&row.agent), share)
    };
    let verdicts = &report.verdicts;
    // The first of equals.
    let most = verdicts.iter().rev().max_by_key(|row| row.allow)?;
    let least = verdicts.iter().min_by_key(|row| row.allow)?;
    Some(if verdicts.len() <= 4 {
        html!("{} of all URLs.", listed(verdicts.iter().map(may_fetch)))
    } else if most.allow == least.allow {
        let share = share(most.allow, whole);
        html!("Each of the {} agents may fetch {} of all URLs.", verdicts.len(), share)
    } else {
        html!(
            r##"Of {} agents, {} of all URLs, the most, and {}, the least (<a href="#agents">all of them</a>)."##,
            verdicts.len(),
            may_fetch(most),
            may_fetch(least)
        )
    })
}

fn affected(report: &Report) -> Option<Html> {
    let hosts = &report.hosts;
    let first = hosts.most_affected.rows.first()?;
    let decisions: u64 = report.verdicts.iter().map(|row| row.disallow).sum();
    Some(html!(
        r##"{} of {} disallow some URL for some agent. {} alone causes {} of all decisions that disallow (<a href="#hosts">the hosts</a>)."##,
        hosts.affected,
        counted(hosts.asked, "host", "hosts"),
        code(&first.host),
        share(first.disallowed, decisions)
    ))
}

fn rules(report: &Report) -> Option<Html> {
    let rules = &report.rules;
    (rules.asked > 0).then(|| {
        html!(
            r##"{} of {} decided a URL (<a href="#deciding">those that decide most</a>). The others match no URL of the list."##,
            rules.deciding.total,
            counted(rules.asked, "rule", "rules")
        )
    })
}

fn never(report: &Report) -> Option<Html> {
    let total = report.rules.never.total;
    (total > 0).then(|| {
        html!(
            r##"{} can never decide: no URL matches, or other rules always win (<a href="#never">which, and why</a>)."##,
            counted(total, "rule", "rules")
        )
    })
}

fn unknown_origins(view: View<'_>) -> Option<Html> {
    let unknown = &view.report.unknown;
    let rows = view.rows(&unknown.worth_fetching);
    let urls: u64 = rows.iter().map(|row| row.urls).sum();
    (unknown.urls > 0).then(|| {
        html!(
            r##"For {}{} no robots.txt is known. Fetching the first {} would decide {} of their URLs (<a href="#unknown">what to fetch next</a>)."##,
            if unknown.exact { "" } else { "at least " },
            counted(unknown.origins, "origin", "origins"),
            rows.len(),
            share(urls, unknown.urls)
        )
    })
}

fn notes(report: &Report) -> Option<Html> {
    let first = report.notes.first()?;
    Some(html!(
        r##"{} of oddities occur in files; the most common, {}, in {} (<a href="#notes">all of them</a>)."##,
        counted(report.notes.len() as u64, "kind", "kinds"),
        first.kind.replace('-', " "),
        counted(first.files, "file", "files")
    ))
}

fn limits(report: &Report) -> Option<Html> {
    let hit = report.limits.iter().filter(|limit| limit.hits > 0).count() as u64;
    (hit > 0).then(|| {
        html!(
            r##"{} hit (<a href="#limits">the effect</a>)."##,
            counted(hit, "limit was", "limits were")
        )
    })
}
