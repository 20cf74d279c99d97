//! Rules: which decide most, which decided nothing, and which never can.

use super::chart::{Bar, bars};
use super::table::{Row, Table, first_of};
use super::text::{code, counted, number, share};
use super::{Section, View};
use crate::audit::model::rules::{DecidingRule, NeverCause, NeverRule, RuleRow};
use crate::report::html::escaped;
use crate::visible::cut_characters;

/// Rules that the chart shows.
const CHARTED: usize = 12;
/// Characters of a rule in the chart: the host and the line stand there too.
const CHARTED_CHARACTERS: usize = 14;
/// Rules that are named as covering another.
const COVERING: usize = 5;

/// The rules that decided most URLs.
pub(super) fn deciding(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.deciding);
    let bar = |rule: &DecidingRule| Bar {
        label: format!("{} {}", cut_characters(&rule.row.rule, CHARTED_CHARACTERS), rule.row.host),
        figure: number(rule.urls),
        value: rule.urls,
    };
    let chart = bars(
        "URLs decided: the rules with most",
        "deciding-table",
        &rows.iter().take(CHARTED).map(bar).collect::<Vec<_>>(),
    );
    let caption =
        format!("Rules by URLs decided: {}", first_of(rows.len(), figures.deciding.total));
    let mut table = Table::new("deciding-table", caption)
        .texts(&["rule", "host"])
        .numbers(&["line", "hosts", "URLs"])
        .texts(&["group", "decided for", "first URLs"]);
    for rule in rows {
        let touched: Vec<usize> =
            (0..rule.by_agent.len()).filter(|&agent| rule.by_agent[agent] > 0).collect();
        let cells = Row::headed(&shown(&rule.row)).text(&code(&rule.row.host));
        table.row(
            cells
                .number(u64::from(rule.row.line))
                .number(rule.row.hosts)
                .number(rule.urls)
                .text(&code(&rule.row.group))
                .text(&view.agents(&touched))
                .text(&samples(&rule.samples)),
        );
    }
    Section {
        id: "deciding",
        title: "Rules that decide most",
        meaning: format!(
            "Of {} that speak to these agents in files that URLs were asked of, {} decided a URL. \
             A policy that several hosts share is counted once.",
            counted(figures.asked, "rule", "rules"),
            number(figures.deciding.total)
        ),
        advice:
            "Read the rules at the top and the URLs beside them: here one line changes most. A \
                 <code>Disallow: /</code> shuts out of a whole host."
                .to_owned(),
        body: chart + &table.html_or("No rule decided a URL."),
    }
}

/// `Disallow: /search`, with its verdict marked.
fn shown(row: &RuleRow) -> String {
    let (class, field) = match row.verdict.as_str() {
        "allow" => ("is-allow", "Allow"),
        "disallow" => ("is-disallow", "Disallow"),
        other => ("", other),
    };
    format!("<span class=\"{class}\">{}:</span> {}", escaped(field), code(&row.rule))
}

/// The first sample, and the others folded.
fn samples(samples: &[String]) -> String {
    let Some((first, others)) = samples.split_first() else { return String::new() };
    let mut html = code(first);
    if !others.is_empty() {
        let items: String = others.iter().map(|it| format!("<li>{}</li>", code(it))).collect();
        html +=
            &format!("<details><summary>{} more</summary><ul>{items}</ul></details>", others.len());
    }
    html
}

/// The rules that can never decide.
pub(super) fn never(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.never);
    let caption =
        format!("Rules that can never decide: {}", first_of(rows.len(), figures.never.total));
    let mut table = Table::new("never-table", caption)
        .texts(&["rule", "host"])
        .numbers(&["line", "hosts"])
        .texts(&["why", "because of"])
        .numbers(&["URLs asked there"]);
    for rule in rows {
        table.row(
            Row::headed(&shown(&rule.row))
                .text(&code(&rule.row.host))
                .number(u64::from(rule.row.line))
                .number(rule.row.hosts)
                .text(why(rule.cause))
                .text(&covering(rule))
                .number(rule.urls),
        );
    }
    let causes = &figures.never_by_cause;
    let mut meaning = format!(
        "{} can never decide a URL for any of the agents: {} because no URL matches, {} because \
         other rules win wherever they match, {} because another rule says the same.",
        counted(figures.never.total, "rule", "rules"),
        number(causes.no_url),
        number(causes.shadowed),
        number(causes.equal)
    );
    if figures.not_known > 0 {
        meaning += &format!(
            " Of {} it could not be told within the limits.",
            counted(figures.not_known, "other rule", "other rules")
        );
    }
    Section {
        id: "never",
        title: "Rules that can never decide",
        meaning,
        advice:
            "If the file is yours: take the rule out, or fix it if it was meant to do something. \
                 What a file decides does not change when such a rule goes."
                .to_owned(),
        body: table.html_or("There is none."),
    }
}

fn why(cause: NeverCause) -> &'static str {
    match cause {
        NeverCause::NoUrl => "no URL matches",
        NeverCause::Shadowed => "other rules win",
        NeverCause::Equal => "says the same",
    }
}

fn covering(rule: &NeverRule) -> String {
    let first = rule.covered_by.iter().take(COVERING).map(|it| {
        let field = if it.verdict == "allow" { "Allow" } else { "Disallow" };
        format!("line {}, {field}: {}", it.line, code(&it.rule))
    });
    let mut html = first.collect::<Vec<_>>().join("<br>");
    if rule.covered_by.len() > COVERING {
        html += &format!("<br>and {} more", rule.covered_by.len() - COVERING);
    }
    html
}

/// The rules that decided nothing.
pub(super) fn idle(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.idle);
    let caption =
        format!("Rules that decided nothing: {}", first_of(rows.len(), figures.idle.total));
    let mut table = Table::new("idle-table", caption)
        .texts(&["rule", "host"])
        .numbers(&["line", "hosts", "URLs asked there"])
        .texts(&["group", "speaks to"]);
    for rule in rows {
        table.row(
            Row::headed(&shown(&rule.row))
                .text(&code(&rule.row.host))
                .number(u64::from(rule.row.line))
                .number(rule.row.hosts)
                .number(rule.urls)
                .text(&code(&rule.row.group))
                .text(&view.agents(&rule.row.agents)),
        );
    }
    Section {
        id: "idle",
        title: "Rules that decided nothing",
        meaning: format!(
            "{}, {} of those that could have, decided none of these URLs; first come those of hosts \
             with the most URLs.",
            counted(figures.idle.total, "rule", "rules"),
            share(figures.idle.total, figures.asked)
        ),
        advice:
            "Most are right and wait for other URLs. If one was meant for URLs of this list, its \
                 pattern has a mistake."
                .to_owned(),
        body: table.html_or("Every rule decided something."),
    }
}
