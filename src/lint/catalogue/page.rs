//! `docs/lint.md` and `--explain`, made from the catalogue.

use std::fmt::Write as _;

use super::{Entry, entries};
use crate::dialect::RFC_9309;
use crate::lint::{Code, Diagnostic, Effect, LintConfig, lint};
use crate::visible::visible;

/// Where the page is kept, from the project's root.
pub const PAGE: &str = "docs/lint.md";

const INTRODUCTION: &str = "\
<!-- Made by `portcullis lint --explain all` from src/lint/catalogue. Do not edit. -->

# What `portcullis lint` reports

Each thing that can be wrong in a robots.txt has a code, whose number never changes, and a name. `portcullis lint --explain CODE` prints
what stands here. The examples are looked at as the dialect `rfc9309` does; what the other dialects make of the line that is reported is
computed from the dialects themselves. *Fix* says whether there is an edit: `--fix` makes those that change no verdict, once that is
proved; a suggestion changes verdicts and is left to you.

";

/// The page.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str("| code | name | severity | what is wrong | fix |\n|---|---|---|---|---|\n");
    for entry in entries() {
        let Entry { code, name, severity, summary, .. } = entry;
        let fix = shown(entry).and_then(|diagnostic| diagnostic.fix);
        let fix = fix.map_or("", |fix| fix.safety.as_str());
        let anchor = format!("{code}-{name}").to_lowercase();
        let _ = writeln!(page, "| [{code}](#{anchor}) | {name} | {severity} | {summary} | {fix} |");
    }
    for entry in entries() {
        let _ = write!(page, "\n## {} {}\n\n", entry.code, entry.name);
        push_entry(&mut page, entry);
    }
    page
}

/// What the page says about one code.
pub fn explanation(code: Code) -> String {
    let entry = code.entry();
    let mut text = format!("{} {} ({})\n\n", entry.code, entry.name, entry.severity);
    push_entry(&mut text, entry);
    text
}

fn push_entry(page: &mut String, entry: &Entry) {
    let mut summary = entry.summary.to_owned();
    // Sentences begin with a capital; a name in backquotes stays as it is.
    if let Some(first) = summary.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let _ = write!(page, "{summary}. {}\n\n**Fix it:** {}\n", entry.why, entry.remedy);
    let Some(diagnostic) = shown(entry) else { return };
    let _ = write!(page, "\n```text\n{}```\n", example(entry));
    let line = diagnostic.place.line;
    let _ = write!(page, "\nReported in line {line}: {}.\n", diagnostic.message);
    if !diagnostic.effects.is_empty() {
        page.push_str("\n| dialect | what it makes of it |\n|---|---|\n");
    }
    for Effect { dialect, text } in &diagnostic.effects {
        let _ = writeln!(page, "| {} | {} |", dialect.name, text.replace('|', "\\|"));
    }
}

/// The diagnostic that the entry's example shows.
fn shown(entry: &Entry) -> Option<Diagnostic> {
    let bytes_max = Some(entry.example.bytes_max());
    let config = LintConfig { bytes_max, ..LintConfig::new(&RFC_9309) };
    let found = lint(&entry.example.text(), &config).diagnostics;
    found.into_iter().find(|diagnostic| diagnostic.code == entry.code)
}

/// The example as it can be printed: odd bytes escaped, long lines cut.
fn example(entry: &Entry) -> String {
    /// Longer lines do not show more.
    const CHARACTERS_MAX: usize = 60;
    let bytes = entry.example.text();
    let mut text = String::new();
    for line in bstr::ByteSlice::lines(bytes.as_slice()) {
        let shown = bstr::ByteSlice::char_indices(line).nth(CHARACTERS_MAX);
        let shown = visible(&line[..shown.map_or(line.len(), |(start, ..)| start)]);
        let more = if line.len() > CHARACTERS_MAX { "…" } else { "" };
        let _ = writeln!(text, "{shown}{more}");
    }
    text
}
