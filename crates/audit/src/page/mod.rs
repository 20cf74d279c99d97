//! The report as one HTML page, for people: an engineer, an SEO, a lawyer.
//!
//! Owns how a [`Report`] looks, not its content; programs read [`to_json`](Report::to_json). The page
//! loads nothing and stores nothing. It works in light and dark, on a phone, on paper and with a screen
//! reader; without its script the tables are complete. All markup comes from
//! `portcullis_report::html`, which escapes every text. As a second line of defence, the content
//! security policy allows only the page's own script and style, by their hashes.
//!
//! Cost: linear in the rows of the report, some milliseconds for lists of a thousand rows. The page
//! stays below [`AUDIT_PAGE_BYTES_MAX`]: if lists are too long for that, it shows fewer rows and their
//! number. Nothing fails.
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

use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::model::{List, Report};
use portcullis_dialect::limits::{AUDIT_PAGE_BYTES_MAX, AUDIT_PAGE_TEXT_CHARACTERS_MAX};
use portcullis_report::html;
use portcullis_report::html::{Html, counted, number, share};
use portcullis_robots::visible::cut_characters;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("behaviour.js");

/// The smallest number of rows per list. If the page is still too long, rows are not the cause.
const ROWS_MIN: usize = 10;

/// Characters of an agent's name: twice as many as long names have.
const AGENT_CHARACTERS: usize = 40;

/// Makes the page.
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
    let Report { hosts, rules, robots, unknown, files, crawl_delays, sitemaps, .. } = report;
    let lengths = [
        hosts.most_affected.rows.len(),
        rules.deciding.rows.len(),
        rules.idle.rows.len(),
        rules.never.rows.len(),
        robots.most_named.rows.len(),
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
    /// The rows of a list to show.
    fn rows<T>(&self, list: &'r List<T>) -> &'r [T] {
        &list.rows[..list.rows.len().min(self.rows)]
    }

    /// A caption: `Rules that decided nothing: the first 50 of 2,434`.
    fn caption<T>(&self, title: &str, list: &List<T>) -> Html {
        let shown = list.rows.len().min(self.rows);
        match shown as u64 == list.total {
            true => html!("{}: all {}", title, shown),
            false => html!("{}: the first {} of {}", title, shown, list.total),
        }
    }

    /// The agents at some positions: `Googlebot, GPTBot`, or `all 15`.
    fn agents(&self, positions: &[usize]) -> Html {
        let all = self.report.agents.len();
        if positions.len() == all && all > 2 {
            return html!("all {}", all);
        }
        let agents = positions.iter().filter_map(|&position| self.report.agents.get(position));
        Html::join(agents.map(|it| agent_name(it)), ", ")
    }
}

/// A part of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    /// The result in a sentence, which the summary repeats; may be empty.
    finding: Html,
    /// How to read the part.
    meaning: Html,
    /// What to do about it; may be empty.
    advice: Html,
    body: Html,
}

impl Section {
    fn html(&self) -> Html {
        let Section { id, title, finding, meaning, advice, body } = self;
        let paragraph = |start: &'static str, text: &Html, end: &'static str| match text.is_empty()
        {
            true => Html::default(),
            false => {
                html!("{}{}{}", Html::of_source(start), text, Html::of_source(end))
            }
        };
        html!(
            "<section aria-labelledby=\"{}\">\n<h2 id=\"{}\">{}</h2>\n{}{}{}{}</section>\n",
            id,
            id,
            title,
            paragraph("<p>", finding, "</p>\n"),
            paragraph("<p>", meaning, "</p>\n"),
            paragraph("<p class=\"advice\"><strong>What to do:</strong> ", advice, "</p>\n"),
            body
        )
    }
}

/// The records, and how many have a known policy.
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
    text += html!(".");
    text
}

/// The report in short: a few large numbers, and the findings of all parts.
fn summary(report: &Report, sections: &[Section]) -> Html {
    let Report { records, hosts, unknown, .. } = report;
    let tiles = [
        (number(records.records), "URLs read"),
        (number(hosts.asked), "hosts with a known policy"),
        (share(records.known, records.records), "of the URLs decided"),
        (number(unknown.origins), "origins without a policy"),
    ];
    let tile = |(figure, name)| html!("<div><dt>{}</dt><dd>{}</dd></div>\n", name, figure);
    let findings = sections.iter().filter(|section| !section.finding.is_empty()).map(|section| {
        let Section { id, title, finding, .. } = section;
        html!("<li>{} <a href=\"#{}\">{}</a></li>\n", finding, id, title)
    });
    html!(
        r#"<section aria-labelledby="summary">
<h2 id="summary">In short</h2>
<dl class="tiles">
{}</dl>
<ul class="short">
<li>{}</li>
{}</ul>
</section>
"#,
        tiles.into_iter().map(tile).collect::<Html>(),
        read(report),
        findings.collect::<Html>()
    )
}

fn whole(view: View<'_>) -> Html {
    let Report { records, agents, inputs, source, version, .. } = view.report;
    let sections = sections::all(view);
    let title = format!("What robots.txt does to {}", counted(records.records, "URL", "URLs"));
    let hash = |text: &str| BASE64_STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes()));
    let lists = match inputs.is_empty() {
        true => Html::default(),
        false => html!(" URLs of {}.", listed(inputs.iter().map(|input| code(input)))),
    };
    let links =
        sections.iter().map(|it| html!("<li><a href=\"#{}\">{}</a></li>\n", it.id, it.title));
    html!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>{}</title>
<style>{}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
{}<header>
<h1>{}</h1>
<p>For {}.{} Policies of {}, read as the dialect {}.</p>
</header>
<div class="page">
<nav aria-labelledby="contents">
<h2 id="contents">Contents</h2>
<ol>
<li><a href="#summary">In short</a></li>
{}</ol>
</nav>
<main id="content" tabindex="-1">
{}{}</main>
</div>
<footer>
<p>Made by portcullis {}. Nothing on this page was fetched from a site; it shows what files said when they were captured.</p>
</footer>
<script>{}</script>
</body>
</html>
"##,
        hash(STYLE),
        hash(SCRIPT),
        title,
        Html::of_source(STYLE),
        Html::of_source(PATTERNS),
        title,
        listed(agents.iter().map(|agent| agent_name(agent))),
        lists,
        code(&source.name),
        code(source.dialect),
        links.collect::<Html>(),
        summary(view.report, &sections),
        sections.iter().map(Section::html).collect::<Html>(),
        version,
        Html::of_source(SCRIPT)
    )
}

/// Hatches, which show unknown shares without colours.
const PATTERNS: &str = r#"<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-back" width="6" height="6"/><rect class="hatch-line" width="2" height="6"/></pattern>
</defs></svg>
"#;

/// A text as code, cut if it is long.
fn code(text: &str) -> Html {
    html!("<code>{}</code>", &*cut_characters(text, AUDIT_PAGE_TEXT_CHARACTERS_MAX))
}

/// The name of an agent, cut if it is long: it occurs in many places.
fn agent_name(name: &str) -> Html {
    html!("{}", &*cut_characters(name, AGENT_CHARACTERS))
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: impl IntoIterator<Item = Html>) -> Html {
    let mut items: Vec<Html> = items.into_iter().collect();
    match items.pop() {
        Some(last) if !items.is_empty() => html!("{} and {}", Html::join(items, ", "), last),
        last => last.unwrap_or_default(),
    }
}
