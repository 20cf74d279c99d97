//! The codes of diagnostics and their catalogue: for each, its meaning, why it matters and how to
//! fix it.
//!
//! The texts are in `catalogue.toml`, next to this file; formats, `--explain` and `docs/lint.md`
//! read them here. How each dialect reads an example is computed, not written down.

use std::fmt::{self, Write as _};
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

use super::{Diagnostic, Effect, LintConfig, lint};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::limits::{GOOGLE_LINE_BYTES_MAX, ROBOTS_BYTES_MAX};
use portcullis_dialect::words;
use portcullis_text::visible::visible;

words! {
    /// How serious a diagnostic is.
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// Crawlers agree on the line, but it could be written better.
        Info => "info",
        /// The line probably does not have the intended effect, or not for all crawlers.
        Warning => "warning",
        /// The line, or the file, does not have the intended effect.
        Error => "error",
    }
}

/// A problem by its number, which is stable: the number of a removed problem is not used again.
///
/// The tens stand for the subject: the file (000), a line (010), a group (020), a path pattern
/// (030), several rules (040), other records (050), usage preferences (060).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u16)]
#[allow(missing_docs, reason = "the catalogue explains each code")]
pub enum Code {
    ByteOrderMark = 1,
    WebPage = 2,
    BinaryFile = 3,
    FileTooLong = 4,
    MissingColon = 10,
    NoRecord = 11,
    MissingField = 12,
    MisspeltField = 13,
    UnknownField = 14,
    NulByte = 15,
    ControlCharacter = 16,
    LineTooLong = 17,
    RuleOutsideGroup = 20,
    BlankLineInGroup = 21,
    UserAgentsRunTogether = 22,
    GroupWithoutRules = 23,
    EmptyUserAgent = 24,
    VersionedUserAgent = 25,
    NoProductToken = 26,
    RepeatedUserAgent = 27,
    SeparateGroups = 28,
    EverythingDisallowed = 29,
    NeverMatchingPattern = 30,
    UrlAsPattern = 31,
    CommentInPattern = 32,
    DollarInsidePattern = 33,
    UnescapedCharacter = 34,
    NeedlessStar = 37,
    EmptyPattern = 38,
    DuplicateRule = 40,
    ContradictingRules = 41,
    ShadowedRule = 42,
    DefeatedAllow = 43,
    RelativeSitemap = 50,
    CrawlDelay = 51,
    OddCrawlDelay = 52,
    UnreadableUsage = 60,
    OddPreference = 61,
    RetiredLabel = 62,
    UsageOutsideGroup = 63,
    UsageSplitsGroup = 64,
    UsageNotInherited = 65,
    ConflictingPreferences = 66,
    RelativeLicense = 67,
}

impl Code {
    /// Returns the number after `PC`.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Returns the entry of the catalogue.
    pub fn entry(self) -> &'static Entry {
        &CATALOGUE[self.position()]
    }

    /// Returns the position of the entry in the catalogue.
    pub(super) fn position(self) -> usize {
        let found = CATALOGUE.binary_search_by_key(&self, |entry| entry.code);
        found.expect("the catalogue has every code, as its test shows")
    }

    /// Returns the name in lower case with hyphens.
    pub fn name(self) -> &'static str {
        &self.entry().name
    }

    /// Returns the severity.
    pub fn severity(self) -> Severity {
        self.entry().severity
    }

    /// Returns the code with this number (`PC012`, in any case) or this name.
    ///
    /// ```
    /// use portcullis_lint::Code;
    ///
    /// assert_eq!(Code::parse("pc013"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("misspelt-field"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("PC999"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Code> {
        let is_it = |entry: &&Entry| {
            entry.code.to_string().eq_ignore_ascii_case(text) || entry.name == text
        };
        entries().find(is_it).map(|entry| entry.code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PC{:03}", self.number())
    }
}

/// The explanation of a code.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// Its name in lower case with hyphens.
    pub name: String,
    /// How serious it is.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub summary: String,
    /// Why it matters.
    pub why: String,
    /// How to fix it.
    pub remedy: String,
    /// A file in which the problem is found.
    pub example: Vec<u8>,
    /// The number of bytes of the example that are read.
    pub example_bytes_max: usize,
}

/// An entry as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    name: String,
    severity: Severity,
    summary: String,
    why: String,
    remedy: String,
    example: String,
    read: Option<usize>,
    #[serde(default)]
    padded: bool,
}

#[derive(Deserialize)]
struct RawCatalogue {
    entry: Vec<RawEntry>,
}

/// All entries by code.
static CATALOGUE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let raw: Result<RawCatalogue, _> = toml::from_str(include_str!("catalogue.toml"));
    let raw = raw.expect("the catalogue is part of the program, and a test reads it");
    raw.entry.into_iter().map(Entry::new).collect()
});

impl Entry {
    fn new(raw: RawEntry) -> Entry {
        let name: StrDeserializer<'_, Error> = raw.name.as_str().into_deserializer();
        let mut example = raw.example.into_bytes();
        if raw.padded {
            // Too long for the dialect with the shortest lines.
            example.resize(example.len() + GOOGLE_LINE_BYTES_MAX, b'a');
        }
        Entry {
            code: Code::deserialize(name).expect("each name is that of a code"),
            name: raw.name,
            severity: raw.severity,
            summary: raw.summary,
            // Line ends only format the file.
            why: raw.why.replace('\n', " "),
            remedy: raw.remedy.replace('\n', " "),
            example,
            example_bytes_max: raw.read.unwrap_or(ROBOTS_BYTES_MAX),
        }
    }

    /// Returns the diagnostic of the example.
    fn diagnostic(&self) -> Option<Diagnostic> {
        let bytes_max = Some(self.example_bytes_max);
        let config = LintConfig { bytes_max, ..LintConfig::new(&RFC_9309) };
        let found = lint(&self.example, &config).diagnostics;
        found.into_iter().find(|diagnostic| diagnostic.code == self.code)
    }
}

/// Returns all entries by code.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    CATALOGUE.iter()
}

/// The path of the page from the project's root.
pub const PAGE: &str = "docs/lint.md";

const INTRODUCTION: &str = "\
<!-- Generated by `portcullis lint --explain all` from crates/lint/src/catalogue.toml. Do not edit. -->

# What `portcullis lint` reports

For authors of robots.txt files who want to know what a diagnostic means. Each problem has a code, whose
number never changes, and a name. `portcullis lint --explain CODE` prints its section of this page.

The examples are read by the dialect `rfc9309`; each table shows how every dialect reads the reported line.
The column *fix* says whether there is an edit. `--fix` applies those marked `safe-if-proved`, once it is
proved that they change no verdict. Those marked `suggestion` change verdicts, and are left to you.

";

/// Renders the page of all codes.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str("| code | name | severity | problem | fix |\n|---|---|---|---|---|\n");
    for entry in entries() {
        let Entry { code, name, severity, summary, .. } = entry;
        let fix = entry.diagnostic().and_then(|diagnostic| diagnostic.fix);
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

/// Renders the explanation of one code.
pub fn explanation(code: Code) -> String {
    let entry = code.entry();
    let mut text = format!("{} {} ({})\n\n", entry.code, entry.name, entry.severity);
    push_entry(&mut text, entry);
    text
}

fn push_entry(page: &mut String, entry: &Entry) {
    let mut summary = entry.summary.clone();
    if let Some(first) = summary.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let _ = write!(page, "{summary}. {}\n\n**Fix:** {}\n", entry.why, entry.remedy);
    let Some(diagnostic) = entry.diagnostic() else { return };
    let _ = write!(page, "\n```text\n{}```\n", printable(&entry.example));
    let line = diagnostic.place.line;
    let _ = write!(page, "\nReported in line {line}: {}.\n", diagnostic.message);
    if !diagnostic.effects.is_empty() {
        page.push_str("\n| dialect | reading |\n|---|---|\n");
    }
    for Effect { dialect, text } in &diagnostic.effects {
        let _ = writeln!(page, "| {} | {} |", dialect.name, text.replace('|', "\\|"));
    }
}

/// Returns text with hidden characters escaped and long lines cut.
fn printable(text: &[u8]) -> String {
    /// Longer lines do not show more.
    const CHARACTERS_MAX: usize = 60;
    let mut out = String::new();
    for line in bstr::ByteSlice::lines(text) {
        let cut = bstr::ByteSlice::char_indices(line).nth(CHARACTERS_MAX);
        let shown = visible(&line[..cut.map_or(line.len(), |(start, ..)| start)]);
        let more = if line.len() > CHARACTERS_MAX { "…" } else { "" };
        let _ = writeln!(out, "{shown}{more}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_names_differ() {
        let codes: Vec<Code> = entries().map(|entry| entry.code).collect();
        assert!(codes.is_sorted_by(|one, other| one < other));
        let is_name = |name: &str| name.bytes().all(|c| c.is_ascii_lowercase() || c == b'-');
        assert!(entries().all(|entry| is_name(&entry.name)));
        assert_eq!(codes.last(), Some(&Code::RelativeLicense));
        assert_eq!(codes.len(), 44);
    }

    #[test]
    fn each_example_shows_its_code() {
        for entry in entries() {
            assert!(entry.diagnostic().is_some(), "{}", entry.code);
        }
    }
}
