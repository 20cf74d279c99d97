//! A page about the changes of URLs: which ones are newly blocked or allowed, and by which lines.
//!
//! The page is made to be sent on. It fits a screen and a sheet of paper; the CSV has every change.

use std::cmp::Reverse;

use maud::{Markup, html};
use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_report::page::{Page, Section, alike, code, count, folded, short_code, table, text};
use portcullis_text::figures::{few, grouped, largest, plural};

use super::urls::{AgentChanges, CHANGES, Deciding, Group, LINES, UrlCounts};

/// The rows of the table of crawlers.
const CRAWLERS: usize = 6;
/// The rows of the table of rules.
const RULES: usize = 8;
/// The crawlers named under the heading before the others unfold.
const NAMED: usize = 12;

/// Returns the page about the changes from `old` to `new`, the names of two files or sets.
pub fn page([old, new]: [&str; 2], agents: &[String], counts: &UrlCounts) -> String {
    let urls = format!("{} {}", grouped(counts.records), plural(counts.records, "URL"));
    let facts = [
        ("Before", code(old)),
        ("After", code(new)),
        ("Crawlers", folded(agents.iter().map(text), NAMED)),
    ];
    let changes = View { agents, counts };
    let short = html! { p.finding { (changes.finding(&urls)) } (changes.by_crawler()) };
    let mut sections =
        vec![Section { id: "short", title: "In short", body: short, ..Section::default() }];
    if !counts.groups.groups.is_empty() {
        let (title, body) = ("Rules that make the difference", changes.by_rule());
        sections.push(Section { id: "rules", title, body, ..Section::default() });
    }
    let footer = format!(
        "Made by portcullis {}. Nothing was fetched from a site.",
        env!("CARGO_PKG_VERSION")
    );
    let title = format!("What the changes in robots.txt mean for {urls}");
    Page { title: &title, facts: &facts, sheet: &sections, sections: &[], footer: &footer }.html()
}

struct View<'a> {
    agents: &'a [String],
    counts: &'a UrlCounts,
}

impl View<'_> {
    /// Returns the numbers of URLs by change, in a sentence.
    fn finding(&self, urls: &str) -> Markup {
        let changes = self.counts.groups.changed.iter().zip(CHANGES);
        let changes: Vec<_> = changes.filter(|(urls, _)| urls.count > 0).collect();
        let last = changes.len().saturating_sub(1);
        html! {
            @if changes.is_empty() {
                "Nothing changes for " (urls) "."
            } @else {
                "Of " (urls) ", "
                @for (place, (urls, change)) in changes.iter().enumerate() {
                    @if place > 0 { @if place == last { " and " } @else { ", " } }
                    strong { (grouped(urls.count)) }
                    @if place == 0 { @if urls.count == 1 { " is" } @else { " are" } }
                    " " (change)
                }
                @if self.agents.len() > 1 { ", each for at least one crawler" } "."
            }
        }
    }

    /// Returns the table of crawlers, those with most changes first. Crawlers with equal numbers
    /// share a row.
    fn by_crawler(&self) -> Markup {
        let labels = self.counts.per_agent.first().map(AgentChanges::restated).unwrap_or_default();
        let figures = |agent: &AgentChanges| {
            let blocked = agent.turned(Verdict::Allow, Verdict::Disallow);
            let allowed = agent.turned(Verdict::Disallow, Verdict::Allow);
            let others = agent.turned_otherwise();
            let restated = agent.restated().into_iter().map(|(_, urls)| urls);
            [blocked, allowed, others].into_iter().chain(restated).collect::<Vec<u64>>()
        };
        let mut rows = alike(self.counts.per_agent.iter().map(figures));
        rows.sort_by_key(|(figures, _)| Reverse(figures.iter().sum::<u64>()));
        let rest = rows.split_off(rows.len().min(CRAWLERS));
        let left: usize = rest.iter().map(|(_, agents)| agents.len()).sum();
        let labels = labels.iter().map(|(label, _)| format!("#new preference: {label}"));
        let columns = ["#newly blocked", "#newly allowed", "#other changes"];
        let columns: Vec<String> = columns.map(str::to_owned).into_iter().chain(labels).collect();
        // Of the other columns, those that have a number are shown.
        let occurs = |column: &usize| *column < 2 || rows.iter().any(|(it, _)| it[*column] > 0);
        let shown: Vec<usize> = (0..columns.len()).filter(occurs).collect();
        let names = shown.iter().map(|&column| &*columns[column]);
        let columns: Vec<&str> = std::iter::once("crawlers").chain(names).collect();
        let row = |(figures, agents): &(Vec<u64>, Vec<usize>)| {
            let figures = shown.iter().map(|&column| count(figures[column]));
            std::iter::once(self.crawlers(agents)).chain(figures).collect()
        };
        html! {
            (table("crawlers-table", "URLs by crawler", &columns, rows.iter().map(row)))
            @if left > 0 { p { "Crawlers with as many or fewer changes: " (left) "." } }
        }
    }

    /// Returns the table of rules. Verdicts come before preferences, then the rules of most URLs.
    fn by_rule(&self) -> Markup {
        let groups = &self.counts.groups;
        let all = groups.groups.len();
        let rows = largest(&groups.groups, RULES, |it| (it.kind.label.is_none(), it.urls.count));
        let caption = match rows.len() {
            shown if shown == all => "Changes by rule".to_owned(),
            shown => {
                let more = if groups.is_cut { "more than " } else { "" };
                format!("Changes by rule: the first {shown} of {more}{}", grouped(all as u64))
            }
        };
        // Of many rules, one example each keeps the page on a screen.
        let examples = if rows.len() > RULES / 2 { 1 } else { usize::MAX };
        let row = |group: &&Group| {
            let [old, new] = &group.lines;
            let [before, now] = &group.kind.deciding;
            let changed = (0..group.agents.len()).filter(|&agent| group.agents[agent]);
            let changed: Vec<usize> = changed.collect();
            vec![
                change(group.kind.label, group.kind.values),
                deciding(now, new),
                deciding(before, old),
                count(group.urls.count),
                self.crawlers(&changed),
                html! { @for url in group.examples.iter().take(examples) { div { (short_code(url)) } } },
            ]
        };
        let columns = ["change", "rule now", "rule before", "#URLs", "crawlers", "for example"];
        html! {
            (table("rules-table", &caption, &columns, rows.iter().map(row)))
            @if rows.len() < all {
                p { "A file with the extension .csv has each change: " code { "portcullis diff -o changes.csv" } }
            }
        }
    }

    fn crawlers(&self, agents: &[usize]) -> Markup {
        text(few(agents.iter().map(|&agent| &*self.agents[agent]), self.agents.len()))
    }
}

/// Returns a change in words.
fn change(label: Option<&str>, [before, after]: [&str; 2]) -> Markup {
    match (before, after) {
        ("allow", "disallow") => html! { span.is-disallow { "blocked" } },
        ("disallow", "allow") => html! { span.is-allow { "allowed" } },
        _ => html! {
            @if let Some(label) = label { (label) ": " }
            (in_words(before)) ", now " (in_words(after))
        },
    }
}

/// Returns a verdict or a preference in words.
fn in_words(value: &str) -> &str {
    match value {
        "allow" => "allowed",
        "disallow" => "blocked",
        "unknown" => "not known",
        "y" => "fine",
        "n" => "not wanted",
        "?" => "not stated",
        other => other,
    }
}

/// Shows what decides, with its lines if there are any.
fn deciding(by: &Deciding, lines: &[u32]) -> Markup {
    let reason = match by {
        (_, Some(rule)) => return html! { (short_code(rule)) (lines_in_words(lines)) },
        (None, None) => "no statement".to_owned(),
        (Some(Reason::NoRule), _) => "no rule matches".to_owned(),
        (Some(Reason::NoGroup), _) => "no group applies".to_owned(),
        (Some(Reason::NoRules), _) => "no rules in the file".to_owned(),
        (Some(Reason::NoPolicy), _) => "no robots.txt known".to_owned(),
        (Some(reason), _) => reason.as_str().replace('-', " "),
    };
    html! { (reason) }
}

/// Returns ` (lines 3, 7)`, with no-break spaces. Empty without lines.
fn lines_in_words(lines: &[u32]) -> String {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    match numbers.len() {
        0 => String::new(),
        1 => format!(" (line\u{a0}{})", numbers[0]),
        LINES => format!(" (lines\u{a0}{}, …)", numbers[..LINES - 1].join(", ")),
        _ => format!(" (lines\u{a0}{})", numbers.join(", ")),
    }
}
