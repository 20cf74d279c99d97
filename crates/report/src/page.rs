//! The parts of every page: the frame, sections, tables and bars.
//!
//! Pages are written with [`maud`], whose `html!` escapes all text, so that no host, rule or URL of
//! an untrusted file becomes markup. [`text`] and [`code`] also show characters that are invisible
//! or reorder their neighbours. This module owns the style sheet and what pages have in common; the
//! content is each page's own.
//!
//! A page is one file without scripts. It loads nothing, works in light and dark, on a phone, on
//! paper and with a screen reader. As a second line of defence after escaping, the content security
//! policy allows only the page's own style, by its hash.
//!
//! Cost: linear in the content. No function fails.
//!
//! ```
//! use portcullis_report::page::{Page, SHOWN, Section, code, count, table};
//!
//! let hosts = [("a.example", 1_200), ("<b>", 3)];
//! let rows = hosts.map(|(host, urls)| vec![code(host), count(urls)]);
//! let body = table("hosts", "URLs by host", SHOWN, &["host", "#URLs"], rows);
//! let sections = [Section { id: "hosts", title: "Hosts", body, ..Section::default() }];
//! let footer = "Made today.";
//! let page = Page { title: "Hosts", facts: &[], sheet: &[], sections: &sections, footer };
//! let html = page.html();
//! assert!(html.contains("<code>&lt;b&gt;</code>") && html.contains("1,200"));
//! ```

use base64::prelude::{BASE64_STANDARD, Engine as _};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use portcullis_text::figures::{counted, grouped, percent};
use portcullis_text::visible::{cut_characters, visible};

use crate::limits::PAGE_TEXT_CHARACTERS_MAX;

/// The style sheet of every page.
const STYLE: &str = include_str!("page/style.css");

/// The number of rows or bars that are shown before the others unfold, and of rows on the first sheet.
pub const SHOWN: usize = 12;
pub const SHOWN_ON_SHEET: usize = 5;

/// The characters of a rule, host or URL on a short page: two lines of a cell.
const BRIEF_TEXT_CHARACTERS: usize = 72;

/// The smallest width of a part of a bar that is not 0, in percent.
const VISIBLE: f64 = 0.4;

/// A page and its content.
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// The subject of the page, as names and facts under the heading.
    pub facts: &'a [(&'a str, Markup)],
    /// The sections of the first sheet, which prints on one A4 with the heading. May be empty.
    pub sheet: &'a [Section],
    /// The other sections, in order, with their contents.
    pub sections: &'a [Section],
    /// The last line.
    pub footer: &'a str,
}

/// A section of a page. All members except the first two may be empty.
#[derive(Default)]
pub struct Section {
    /// The id of the heading.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The result in a sentence.
    pub finding: Markup,
    /// How to read the section.
    pub meaning: &'static str,
    /// The advice about the finding.
    pub advice: &'static str,
    /// Tables and charts.
    pub body: Markup,
}

impl Page<'_> {
    /// Returns the whole page.
    pub fn html(&self) -> String {
        let hash = BASE64_STANDARD.encode(hmac_sha256::Hash::hash(STYLE.as_bytes()));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
        );
        let title = visible(self.title).to_string();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    (PATTERNS)
                    header class=[(!self.sheet.is_empty()).then_some("brief")] {
                        h1 { (title) }
                        (facts(self.facts))
                    }
                    main #content tabindex="-1" {
                        @if !self.sheet.is_empty() {
                            div.page.brief { @for section in self.sheet { (section.html()) } }
                        }
                        div.page.rest {
                            (self.contents())
                            div { @for section in self.sections { (section.html()) } }
                        }
                    }
                    footer { p { (self.footer) } }
                }
            }
        };
        page.into_string()
    }

    fn contents(&self) -> Markup {
        html! {
            nav aria-labelledby="contents" {
                h2 #contents { "Contents" }
                ol {
                    @for section in self.sections {
                        li { a href={ "#" (section.id) } { (section.title) } }
                    }
                }
            }
        }
    }
}

impl Section {
    fn html(&self) -> Markup {
        html! {
            section aria-labelledby=(self.id) {
                h2 id=(self.id) { (self.title) }
                @if !self.finding.0.is_empty() { p.finding { (self.finding) } }
                @if !self.meaning.is_empty() { p { (self.meaning) } }
                @if !self.advice.is_empty() {
                    p.advice { strong { "What to do:" } " " (self.advice) }
                }
                (self.body)
            }
        }
    }
}

/// Hatch patterns, which mark unknown shares without colours.
const PATTERNS: PreEscaped<&str> = PreEscaped(
    r#"<svg class="patterns" width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-back" width="6" height="6"/><rect class="hatch-line" width="2" height="6"/></pattern></defs></svg>"#,
);

/// Shows untrusted text, cut if it is long.
pub fn text(text: impl AsRef<[u8]>) -> Markup {
    let shown = visible(text.as_ref()).to_string();
    html! { (&*cut_characters(&shown, PAGE_TEXT_CHARACTERS_MAX)) }
}

/// Shows untrusted text as code.
pub fn code(untrusted: impl AsRef<[u8]>) -> Markup {
    html! { code { (text(untrusted)) } }
}

/// Shows untrusted text as code, cut to a length that suits a short page.
pub fn short_code(untrusted: impl AsRef<[u8]>) -> Markup {
    let shown = visible(untrusted.as_ref()).to_string();
    html! { code { (&*cut_characters(&shown, BRIEF_TEXT_CHARACTERS)) } }
}

/// Shows a message, in which code is between backticks.
pub fn prose(message: &str) -> Markup {
    html! {
        @for (place, part) in message.split('`').enumerate() {
            @if place % 2 == 0 { (text(part)) } @else { (short_code(part)) }
        }
    }
}

/// Returns the distinct values in order, each with the positions that have it.
pub fn alike<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<(T, Vec<usize>)> {
    let mut distinct: Vec<(T, Vec<usize>)> = Vec::new();
    for (position, value) in values.into_iter().enumerate() {
        match distinct.iter_mut().find(|(other, _)| *other == value) {
            Some((_, positions)) => positions.push(position),
            None => distinct.push((value, vec![position])),
        }
    }
    distinct
}

/// Shows a number with grouped digits.
pub fn count(number: u64) -> Markup {
    html! { @if number == 0 { span.z { "0" } } @else { (grouped(number)) } }
}

/// Shows names and facts, side by side.
pub fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, fact) in facts { dt { (name) } dd { (fact) } } } }
}

/// Joins items with commas. The items after the first `shown` unfold on a click.
pub fn folded(items: impl IntoIterator<Item = Markup>, shown: usize) -> Markup {
    let mut items: Vec<Markup> = items.into_iter().collect();
    let rest = items.split_off(items.len().min(shown));
    let list = |items: &[Markup]| {
        html! { @for (place, item) in items.iter().enumerate() { @if place > 0 { ", " } (item) } }
    };
    html! {
        (list(&items))
        @if !rest.is_empty() {
            details { summary { (grouped(rest.len() as u64)) " more" } (list(&rest)) }
        }
    }
}

/// Shows a table; the rows after the first `shown` unfold, and are not printed on the first sheet. A
/// column whose name starts with `#` has numbers, the others have text, and the first column has the row
/// headings. Empty without rows.
///
/// A table with much text, or on the first sheet, is not wider than a phone: there, each row is a block
/// with the name of each column. Otherwise the text of a column that is out of sight would make a row of blank
/// space.
pub fn table(
    id: &str,
    caption: &str,
    shown: usize,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Markup>>,
) -> Markup {
    let rows: Vec<Vec<Markup>> = rows.into_iter().collect();
    if rows.is_empty() {
        return html! {};
    }
    let is_text = |column: usize| !columns[column].starts_with('#');
    let name = |column: usize| columns[column].trim_start_matches('#');
    let has_texts = (1..columns.len()).filter(|column| is_text(*column)).count() >= 2;
    let are_blocks = has_texts || shown == SHOWN_ON_SHEET;
    let role = |role: &'static str| are_blocks.then_some(role);
    let body = |rows: &[Vec<Markup>]| {
        html! {
            tbody {
                @for row in rows {
                    tr role=[role("row")] {
                        @for (column, cell) in row.iter().enumerate() {
                            @let label = are_blocks.then(|| name(column));
                            @if column == 0 {
                                th scope="row" class="t" role=[role("rowheader")] { (cell) }
                            } @else {
                                td class=[is_text(column).then_some("t")] role=[role("cell")]
                                    data-label=[label] { (cell) }
                            }
                        }
                    }
                }
            }
        }
    };
    let whole = |rows: &[Vec<Markup>]| {
        html! {
            div.wide role="region" tabindex="0" aria-labelledby={ (id) "-caption" } {
                table class=[are_blocks.then_some("blocks")] role=[role("table")] {
                    thead {
                        tr role=[role("row")] {
                            @for column in 0..columns.len() {
                                th scope="col" class=[is_text(column).then_some("t")]
                                    role=[role("columnheader")] { (name(column)) }
                            }
                        }
                    }
                    (body(rows))
                }
            }
        }
    };
    let (first, rest) = rows.split_at(rows.len().min(shown));
    html! {
        div.table id=(id) {
            p.caption id={ (id) "-caption" } { (caption) }
            (whole(first))
            @if !rest.is_empty() {
                details { summary { (counted(rest.len() as u64, "more row")) } (whole(rest)) }
            }
        }
    }
}

/// A part of each bar: the class of its colour, and its name in the legend.
pub type Part<'a> = (&'a str, &'a str);

/// A bar of a chart.
pub struct Bar {
    /// The label on the left; on a phone, above the bar.
    pub label: String,
    /// The figure on the right.
    pub figure: String,
    /// The parts, in the order of the chart's parts.
    pub values: Vec<u64>,
}

impl Bar {
    /// Returns a bar.
    pub fn new(label: impl Into<String>, figure: String, values: impl Into<Vec<u64>>) -> Bar {
        Bar { label: label.into(), figure, values: values.into() }
    }
}

/// Draws horizontal bars in percent of their width, so that they fit a phone and a sheet of paper.
/// If `are_shares`, every bar is as long as the chart. Empty if all values are 0.
pub fn bars(
    title: &str,
    table: &str,
    parts: &[Part<'_>],
    are_shares: bool,
    bars: impl IntoIterator<Item = Bar>,
) -> Markup {
    let bars: Vec<Bar> = bars.into_iter().collect();
    let sum = |bar: &Bar| bar.values.iter().sum::<u64>();
    let longest = bars.iter().map(sum).max().unwrap_or(0);
    let draw = |bars: &[Bar]| {
        html! {
            @for bar in bars {
                @let whole = if are_shares { sum(bar) } else { longest };
                div.bar {
                    span { (text(&bar.label)) }
                    svg width="100%" height="12" {
                        rect.track x="0%" width="100%" height="12" {}
                        (segments(parts, &bar.values, whole))
                    }
                    span { (bar.figure) }
                }
            }
        }
    };
    if longest == 0 {
        return html! {};
    }
    let occurs = |index: &usize| bars.iter().any(|bar| bar.values[*index] > 0);
    let legend = html! {
        @if parts.len() > 1 {
            ul.legend {
                @for (class, name) in (0..parts.len()).filter(occurs).map(|it| parts[it]) {
                    li {
                        svg.key width="14" height="14" aria-hidden="true" {
                            rect class=(class) width="14" height="14" {}
                        }
                        (name)
                    }
                }
            }
        }
    };
    figure(title, table, &legend, &bars, draw)
}

/// Shows a chart with its title and a legend. To a screen reader, it is an image whose name points to the table
/// with its numbers. The items after the first few unfold.
fn figure<T>(
    title: &str,
    table: &str,
    legend: &Markup,
    items: &[T],
    draw: impl Fn(&[T]) -> Markup,
) -> Markup {
    let (first, rest) = items.split_at(items.len().min(SHOWN));
    html! {
        figure {
            figcaption { (title) }
            (legend)
            div.plot role="img" aria-label={ "Chart: " (title) ". The table has the numbers." }
                aria-describedby={ (table) "-caption" } { (draw(first)) }
            @if !rest.is_empty() {
                details { summary { (grouped(rest.len() as u64)) " more" } div.plot { (draw(rest)) } }
            }
        }
    }
}

/// A line of a chart over time.
pub struct Series {
    /// The label on the left; on a phone, above the line.
    pub label: String,
    /// The figure on the right.
    pub figure: String,
    /// The values in percent, at equal distances of time.
    pub values: Vec<f64>,
}

/// Draws a chart for each series, all with one scale that begins at 0 %, as [`bars`] does.
pub fn trends(title: &str, table: &str, series: impl IntoIterator<Item = Series>) -> Markup {
    let all: Vec<Series> = series.into_iter().collect();
    let largest = all.iter().flat_map(|it| &it.values).copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return html! {};
    }
    let top = SCALES.into_iter().find(|scale| largest <= *scale).unwrap_or(100.0);
    let draw = |series: &[Series]| {
        html! {
            @for it in series {
                div.bar {
                    span { (text(&it.label)) }
                    svg.trend width="100%" height="34" viewBox="0 0 100 100" preserveAspectRatio="none" {
                        rect.track width="100" height="100" {}
                        polygon.disallow points=(area(&it.values, top)) {}
                    }
                    span { (it.figure) }
                }
            }
        }
    };
    let scale = html! { p.scale { "Each box is " (top) " % high." } };
    figure(title, table, &scale, &all, draw)
}

/// The heights of charts over time, in percent.
const SCALES: [f64; 7] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// Returns the points of the area below some values, of which the box has `top` at its upper edge.
fn area(values: &[f64], top: f64) -> String {
    // A value alone is a line.
    let values = if let [only] = values { &[*only, *only] } else { values };
    let step = 100.0 / values.len().saturating_sub(1).max(1) as f64;
    let mut points = "0,100".to_owned();
    for (place, value) in values.iter().enumerate() {
        points += &format!(" {:.2},{:.2}", place as f64 * step, 100.0 - value / top * 100.0);
    }
    points + " 100,100"
}

fn segments(parts: &[Part<'_>], values: &[u64], whole: u64) -> Markup {
    let mut before = 0;
    html! {
        @for ((class, _), &value) in parts.iter().zip(values) {
            @if value > 0 {
                @let width = percent(value, whole).max(VISIBLE);
                @let from = percent(before, whole).min(100.0 - width);
                rect class=(class) x=(format!("{from:.2}%")) width=(format!("{width:.2}%"))
                    height="12" {}
            }
            @let () = before += value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_hidden_characters_shown() {
        let hostile = "</script><script>alert(\"1\" & '2')</script>\u{202e}\0";
        let escaped = "&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot; &amp; '2')&lt;/script&gt;\
            \\u{202e}\\u{0}";
        assert_eq!(text(hostile).0, escaped);
        assert_eq!(code(b"/\xff").0, "<code>/\\xff</code>");
    }

    #[test]
    fn messages_have_code_between_backticks() {
        let html = prose("`<b>` is no `field`: remove it").0;
        assert_eq!(html, "<code>&lt;b&gt;</code> is no <code>field</code>: remove it");
    }

    #[test]
    fn equal_values_share_a_row() {
        assert_eq!(alike(["a", "b", "a"]), [("a", vec![0, 2]), ("b", vec![1])]);
    }

    #[test]
    fn tables_have_scopes_and_a_caption() {
        let row = |number: u64| vec![code("a.example"), count(number)];
        let html = table("x", "What <is>", SHOWN, &["host", "#URLs"], [row(1_000), row(0)]).0;
        assert!(html.contains("<p class=\"caption\" id=\"x-caption\">What &lt;is&gt;</p>"));
        assert!(
            html.contains(
                "<th scope=\"row\" class=\"t\"><code>a.example</code></th><td>1,000</td>"
            )
        );
        assert!(html.contains("<th scope=\"col\">URLs</th>") && !html.contains("details"));
        assert!(
            table("x", "", SHOWN, &["host", "#URLs"], (0..15).map(row)).0.contains("3 more rows")
        );
        assert_eq!(table("x", "", SHOWN, &["host"], []).0, "");
    }

    fn drawn(are_shares: bool, values: &[[u64; 2]]) -> String {
        let bar = |values: &[u64; 2]| Bar::new("<Bot>", String::new(), *values);
        let parts = [("allow", "may fetch"), ("disallow", "must not")];
        bars("t", "x", &parts, are_shares, values.iter().map(bar)).0
    }

    #[test]
    fn parts_are_adjacent_and_small_ones_visible() {
        let html = drawn(true, &[[1, 3]]);
        assert!(html.contains("class=\"allow\" x=\"0.00%\" width=\"25.00%\""), "{html}");
        assert!(html.contains("class=\"disallow\" x=\"25.00%\" width=\"75.00%\""));
        assert!(html.contains("&lt;Bot&gt;"));
        let html = drawn(true, &[[1_000_000, 1]]);
        assert!(html.contains("class=\"disallow\" x=\"99.60%\" width=\"0.40%\""), "{html}");
        assert!(!drawn(true, &[[5, 0]]).contains("must not"), "a part that does not occur");
        assert!(drawn(false, &[[200, 0], [50, 0]]).contains("width=\"25.00%\""));
        assert_eq!(drawn(false, &[]), "");
        let many = drawn(false, &[[1, 0]; 15]);
        assert!(many.contains("3 more") && many.matches("class=\"bar\"").count() == 15);
    }

    #[test]
    fn each_rule_of_the_style_ends() {
        let mut depth = 0;
        for line in STYLE.lines() {
            for byte in line.bytes() {
                depth += i32::from(byte == b'{') - i32::from(byte == b'}');
            }
            assert!((0..=1).contains(&depth), "{line}");
            assert!(!line.contains(", }"), "{line}");
        }
        assert_eq!(depth, 0);
    }
}
