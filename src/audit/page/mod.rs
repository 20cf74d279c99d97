//! The report as one HTML page, for people: an engineer, an SEO, a lawyer.
//!
//! Owns how a [`Report`] looks and nothing of what it says; programs read
//! [`to_json`](Report::to_json). The page loads nothing and remembers nothing. It opens in light and
//! dark, on a telephone and on paper, and reads aloud; without its script the tables are still whole.
//! Its contents policy lets only its own script and style run, by their hashes, so a rule or URL that
//! got past the escaping would still not run.
//!
//! - [`page`] is the whole; `sections` says what is on it, in order.
//! - `table`, `chart` and `histogram` draw; `text` writes numbers and strangers' texts.
//!
//! Cost: linear in the rows of the report, some milliseconds for lists of a thousand. The page keeps
//! to [`AUDIT_PAGE_BYTES_MAX`]: where lists are too long for that it shows fewer of their rows, and
//! says how many there are. Nothing fails.
//!
//! ```
//! use portcullis::audit::{Report, page};
//!
//! let report = Report { agents: vec!["ExampleBot".into()], ..Report::default() };
//! let html = page::page(&report);
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.len() < portcullis::limits::AUDIT_PAGE_BYTES_MAX);
//! ```

mod agents;
mod chart;
mod comparisons;
mod files;
mod glossary;
mod histogram;
mod hosts;
mod oddities;
mod rules;
mod summary;
mod table;
mod text;

#[cfg(test)]
mod tests;

use std::fmt::Write;

use super::model::{List, Report};
use crate::limits::AUDIT_PAGE_BYTES_MAX;
use crate::report::html::escaped;

use text::{agent_name, counted, listed};

const STYLE: &str = include_str!("style.css");
/// SHA-256 of [`STYLE`] in base64; a test tells it when the file has changed.
const STYLE_HASH: &str = "jK/m7GQL0UOhIDGQY03dcPhBS1JpetOZjjO9902qwQM=";
const SCRIPT: &str = include_str!("behaviour.js");
/// SHA-256 of [`SCRIPT`] in base64.
const SCRIPT_HASH: &str = "U6fASSUHILNb9QtQYGM13mA5z3O1NCdqMriVaZoLly4=";

/// Fewer rows are not tried: what fills the page then are other things than rows.
const ROWS_MIN: usize = 10;

/// A report, and how many rows of each list are shown.
#[derive(Clone, Copy)]
struct View<'r> {
    report: &'r Report,
    rows: usize,
}

impl<'r> View<'r> {
    /// The rows of a list that are shown.
    fn rows<T>(&self, list: &'r List<T>) -> &'r [T] {
        &list.rows[..list.rows.len().min(self.rows)]
    }

    /// `Googlebot, GPTBot`, or how many they are, for the positions of agents.
    fn agents(&self, positions: &[usize]) -> String {
        let all = self.report.agents.len();
        if positions.len() == all && all > 2 {
            return format!("all {all}");
        }
        let name = |&position: &usize| self.report.agents.get(position).map(|it| agent_name(it));
        positions.iter().filter_map(name).collect::<Vec<_>>().join(", ")
    }
}

/// A part of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    /// What it shows, in a sentence.
    meaning: String,
    /// What to do about it, in a sentence.
    advice: String,
    /// The rest, as HTML.
    body: String,
}

/// What is on the page, in order.
fn sections(view: View<'_>) -> Vec<Section> {
    let always = [
        agents::verdicts(view),
        hosts::affected(view),
        rules::deciding(view),
        rules::never(view),
        rules::idle(view),
        hosts::unknown(view),
        agents::reach(view),
        agents::robots(view),
    ];
    let mut sections = Vec::from(always);
    sections.extend(comparisons::section(view));
    sections.extend([
        hosts::states(view),
        files::sizes(view),
        files::notes(view),
        files::crawl_delays(view),
        files::sitemaps(view),
        oddities::invalid(view),
        oddities::limits(view),
        glossary::about(view),
        glossary::section(),
    ]);
    sections
}

/// The whole page.
pub fn page(report: &Report) -> String {
    let mut rows = longest_list(report);
    loop {
        let html = whole(View { report, rows });
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

fn whole(view: View<'_>) -> String {
    let sections = sections(view);
    let title =
        format!("What robots.txt does to {}", counted(view.report.records.records, "URL", "URLs"));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; \
         form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n{PATTERNS}"
    );
    out += &heading(view, &title);
    out += "<div class=\"page\">\n";
    out += &contents(&sections);
    out += "<main id=\"content\" tabindex=\"-1\">\n";
    out += &summary::section(view);
    for section in &sections {
        out += &section.html();
    }
    let _ = write!(
        out,
        "</main>\n</div>\n<footer>\n<p>Made by portcullis {}. Nothing on this page was fetched from a \
         site; it tells what files said when they were captured.</p>\n</footer>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&view.report.version)
    );
    out
}

/// Hatches, so that what is not known can be told without colours.
const PATTERNS: &str = "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\" \
    focusable=\"false\"><defs>\
    <pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
    patternTransform=\"rotate(45)\"><rect class=\"hatch-back\" width=\"6\" height=\"6\"/>\
    <rect class=\"hatch-line\" width=\"2\" height=\"6\"/></pattern></defs></svg>\n";

fn heading(view: View<'_>, title: &str) -> String {
    let Report { agents, source, inputs, .. } = view.report;
    let names: Vec<String> = agents.iter().map(|agent| agent_name(agent)).collect();
    let inputs: Vec<String> = inputs.iter().map(|input| text::code(input)).collect();
    let lists =
        if inputs.is_empty() { String::new() } else { format!(" URLs of {}.", listed(&inputs)) };
    format!(
        "<header>\n<h1>{title}</h1>\n<p>For {}.{lists} Policies of {}, read as the dialect {} says.</p>\n\
         </header>\n",
        listed(&names),
        text::code(&source.name),
        text::code(&source.dialect)
    )
}

fn contents(sections: &[Section]) -> String {
    let mut items = "<li><a href=\"#summary\">In short</a></li>\n".to_owned();
    for Section { id, title, .. } in sections {
        let _ = writeln!(items, "<li><a href=\"#{id}\">{title}</a></li>");
    }
    format!(
        "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n<ol>\n{items}</ol>\n</nav>\n"
    )
}

impl Section {
    fn html(&self) -> String {
        let Section { id, title, meaning, advice, body } = self;
        let advice = match advice.is_empty() {
            true => String::new(),
            false => format!("<p class=\"advice\"><strong>What to do:</strong> {advice}</p>\n"),
        };
        format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n<p>{meaning}</p>\n{advice}{body}</section>\n"
        )
    }
}

/// A chart beside its table, or above it where there is no room.
fn pair(chart: &str, table: &str) -> String {
    format!("<div class=\"pair\">\n{chart}<div>\n{table}</div>\n</div>\n")
}
