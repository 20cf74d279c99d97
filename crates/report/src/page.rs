//! Builds the frame of every page: title, facts, contents, sections, style and script.
//!
//! This module has the style sheet and the behaviour of tables (sort, filter, fold), not the
//! content. See [`html`](mod@crate::html) for tables and charts. A page loads no other resources
//! and stores no data. It works in light and dark, on a phone, on paper and with a screen reader.
//! Without its script, the tables are complete. As a second line of defence after escaping, the
//! content security policy allows only the page's own script and style, by their hashes.
//!
//! Cost: linear in the content. No function fails.

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::html;
use crate::html::Html;

/// The style sheet of every page.
pub const STYLE: &str = include_str!("page/style.css");
/// The script of every page.
pub const SCRIPT: &str = include_str!("page/behaviour.js");

/// Hatch patterns, which mark unknown shares without colours.
const PATTERNS: &str = r#"<svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-back" width="6" height="6"/><rect class="hatch-line" width="2" height="6"/></pattern>
</defs></svg>
"#;

/// A page and its content.
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// The subject of the page, as names and facts under the heading.
    pub facts: &'a [(&'a str, Html)],
    /// The sections, in order.
    pub sections: &'a [Section],
    /// The last line.
    pub footer: Html,
}

/// A section of a page. All members except the first two may be empty.
#[derive(Default)]
pub struct Section {
    /// The id of the heading.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The result in a sentence.
    pub finding: Html,
    /// How to read the section.
    pub meaning: Html,
    /// What to do about the finding.
    pub advice: Html,
    /// Tables and charts.
    pub body: Html,
}

impl Section {
    fn html(&self) -> Html {
        let Section { id, title, finding, meaning, advice, body } = self;
        let paragraph = |text: &Html| match text.is_empty() {
            true => Html::default(),
            false => html!("<p>{}</p>\n", text),
        };
        let advice = match advice.is_empty() {
            true => Html::default(),
            false => {
                html!("<p class=\"advice\"><strong>What to do:</strong> {}</p>\n", advice)
            }
        };
        html!(
            "<section aria-labelledby=\"{}\">\n<h2 id=\"{}\">{}</h2>\n{}{}{}{}</section>\n",
            id,
            id,
            title,
            paragraph(finding),
            paragraph(meaning),
            advice,
            body
        )
    }
}

impl Page<'_> {
    /// Returns the whole page.
    pub fn html(&self) -> Html {
        let Page { title, facts, sections, footer } = self;
        let hash = |text: &str| BASE64_STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes()));
        let link = |it: &Section| html!("<li><a href=\"#{}\">{}</a></li>\n", it.id, it.title);
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
{}</header>
<div class="page">
<nav aria-labelledby="contents">
<h2 id="contents">Contents</h2>
<ol>
{}</ol>
</nav>
<main id="content" tabindex="-1">
{}</main>
</div>
<footer>
<p>{}</p>
</footer>
<script>{}</script>
</body>
</html>
"##,
            hash(STYLE),
            hash(SCRIPT),
            *title,
            Html::of_source(STYLE),
            Html::of_source(PATTERNS),
            *title,
            fact_list(facts),
            sections.iter().map(link).collect::<Html>(),
            sections.iter().map(Section::html).collect::<Html>(),
            footer,
            Html::of_source(SCRIPT)
        )
    }
}

/// Returns names and facts, side by side.
pub fn fact_list(facts: &[(&str, Html)]) -> Html {
    let fact = |(name, fact): &(&str, Html)| html!("<dt>{}</dt><dd>{}</dd>\n", *name, fact);
    html!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(fact).collect::<Html>())
}
