//! Where other dialects and sets decide otherwise.

use std::fmt::Write;

use super::table::{Row, Table};
use super::text::{agent_name, code, counted, number, share};
use super::{Section, View};
use crate::audit::model::{ComparedUrl, Comparison, ToldDecision};
use crate::limits::AUDIT_PAGE_TEXT_CHARACTERS_MAX;
use crate::report::html::escaped;
use crate::visible::cut_characters;

/// Disagreement; nothing, if no comparison was asked for.
pub(super) fn section(view: View<'_>) -> Option<Section> {
    let comparisons = &view.report.comparisons;
    if comparisons.is_empty() {
        return None;
    }
    let mut body = String::new();
    for (index, comparison) in comparisons.iter().enumerate() {
        body += &one(view, index, comparison);
    }
    Some(Section {
        id: "comparisons",
        title: "Disagreement",
        meaning: "The same URLs, asked of the same agents by another dialect or another set of \
                  policies: how many verdicts differ, and which."
            .to_owned(),
        advice:
            "Where dialects differ, the owner of the file cannot know how it is read: keep to the \
                 stricter verdict, or ask for a clearer file."
                .to_owned(),
        body,
    })
}

fn one(view: View<'_>, index: usize, comparison: &Comparison) -> String {
    let Comparison { kind, name, dialect, urls, by_agent, changes, examples, .. } = comparison;
    let all = view.report.records.records;
    let title = &cut_characters(name, AUDIT_PAGE_TEXT_CHARACTERS_MAX);
    let kind = if kind == "set" { "Set" } else { "Dialect" };
    let mut html = format!(
        "<h3>{kind} {}</h3>\n<p>It follows {}. {} ({}) have another verdict for some agent.</p>\n",
        code(name),
        code(dialect),
        counted(*urls, "URL", "URLs"),
        share(*urls, all)
    );
    if *urls == 0 {
        return html;
    }
    let mut table = Table::new(format!("changes-{index}"), format!("Verdicts here and in {title}"))
        .texts(&["here", "there"])
        .numbers(&["decisions, all agents"]);
    for change in changes {
        let row = Row::headed(&verdict(&change.here)).text(&verdict(&change.there));
        table.row(row.number(change.count));
    }
    html += &table.html();
    let names = &view.report.agents;
    let differing = names.iter().zip(by_agent).filter(|(_, count)| **count > 0);
    let words: Vec<String> = differing
        .map(|(agent, count)| format!("{} {}", agent_name(agent), number(*count)))
        .collect();
    let _ = writeln!(html, "<p>URLs by agent: {}.</p>", words.join(", "));
    html + &shown(view, index, title, examples)
}

fn shown(view: View<'_>, index: usize, name: &str, examples: &[ComparedUrl]) -> String {
    let examples = &examples[..examples.len().min(view.rows.max(super::ROWS_MIN))];
    let mut table = Table::new(
        format!("examples-{index}"),
        format!("Examples: the first URLs of each change, here and in {name}"),
    )
    .texts(&["URL", "agent", "here", "there"]);
    for example in examples {
        let agent = view.report.agents.get(example.agent).map(|it| agent_name(it));
        table.row(
            Row::headed(&code(&example.url))
                .text(&agent.unwrap_or_default())
                .text(&decision(&example.here))
                .text(&decision(&example.there)),
        );
    }
    table.html_or("There is no example.")
}

fn verdict(word: &str) -> String {
    let class = match word {
        "allow" => "is-allow",
        "disallow" => "is-disallow",
        _ => "",
    };
    format!("<span class=\"{class}\">{}</span>", escaped(word))
}

fn decision(told: &ToldDecision) -> String {
    let mut html = verdict(&told.verdict);
    match (&told.rule, told.line) {
        (Some(rule), Some(line)) => {
            let _ = write!(html, ", line {line}: {}", code(rule));
        }
        _ => {
            let _ = write!(html, ", {}", escaped(&told.reason));
        }
    }
    html
}
