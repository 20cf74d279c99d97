//! The parses of a file by each dialect, from which the effects of a diagnostic are computed.
//!
//! Owns the parses and the queries that checks need: the reading of a line, and the place of bytes.
//! Cost: one parse of the file per dialect.

use std::cell::OnceCell;

use super::LineIndex;
use super::diagnostic::Effect;
use crate::limits::LINT_NAMES_MAX;
use portcullis_dialect::dialect::NamesAgent;
use portcullis_dialect::{Dialect, Field, Label, LineNumber, Preference, Verdict};
use portcullis_engine::bytes::trim;
use portcullis_robots::policy::{
    Audience, NamedRobot, is_name_of, pattern_of, robot_name, robot_named,
};
use portcullis_robots::syntax::{
    Content, Line, NoteKind, NoteSet, Record, RobotsTxt, Span, Statement, is_extension, records,
};
use portcullis_robots::url::normal_text;
use portcullis_text::visible::visible;

/// A file and its readings.
pub(super) struct Examination<'t> {
    /// The file.
    pub(super) text: &'t [u8],
    /// One reading for each of [`Dialect::ALL`], in that order, and one for the chosen dialect if
    /// it is another.
    pub(super) readings: Vec<Reading<'t>>,
    chosen: usize,
    pub(super) index: LineIndex<'t>,
}

/// A file as one dialect parses it.
pub(super) struct Reading<'t> {
    pub(super) dialect: &'static Dialect,
    /// The lines; the one with number `n` is at `n - 1`.
    pub(super) lines: Vec<Line<'t>>,
    pub(super) file: RobotsTxt<'t>,
    audience: OnceCell<Audience>,
}

impl<'t> Reading<'t> {
    /// Returns the crawlers that the file names, with their groups.
    pub(super) fn audience(&self) -> &Audience {
        self.audience.get_or_init(|| Audience::of(&self.file, self.dialect))
    }

    /// Returns the record on the line at `index`, if there is one.
    pub(super) fn record(&self, index: usize) -> Option<&Record<'t>> {
        match &self.lines.get(index)?.content {
            Content::Record(record) => Some(record),
            Content::Blank | Content::Comment | Content::Ignored => None,
        }
    }

    /// Returns the position of the rule on `line` among the file's rules.
    pub(super) fn rule_on(&self, line: LineNumber) -> Option<usize> {
        self.file.rules().binary_search_by_key(&line, |rule| rule.line).ok()
    }

    /// Returns the position of the group of the rule at `rule` among the file's groups.
    pub(super) fn group_of_rule(&self, rule: usize) -> usize {
        let groups = self.file.groups();
        groups.partition_point(|group| group.rules.end as usize <= rule)
    }

    /// Returns the line at `index` in words.
    pub(super) fn words(&self, index: usize) -> String {
        let Some(line) = self.lines.get(index) else {
            return "not read".into();
        };
        match &line.content {
            Content::Blank => "a blank line".into(),
            Content::Comment => "a comment".into(),
            Content::Ignored if line.notes.contains(NoteKind::FileCut) => "not read".into(),
            Content::Ignored => "ignored".into(),
            Content::Record(record) => self.record_words(record, line.number),
        }
    }

    fn record_words(&self, record: &Record<'t>, line: LineNumber) -> String {
        match record.field {
            Some(Field::UserAgent) => self.user_agent_words(record.value),
            Some(Field::Allow) => self.rule_words(Verdict::Allow, record.value, line),
            Some(Field::Disallow) => self.rule_words(Verdict::Disallow, record.value, line),
            Some(Field::Sitemap) => "a sitemap, without effect on access".into(),
            Some(Field::ContentUsage | Field::ContentSignal | Field::License) => {
                self.usage_words(line)
            }
            None if is_extension(record.name) => {
                "a field of another convention, without effect on access".into()
            }
            _ => "an unknown field, ignored".into(),
        }
    }

    fn usage_words(&self, line: LineNumber) -> String {
        let records = self.file.usage_records();
        let Ok(position) = records.binary_search_by_key(&line, |record| record.line) else {
            return "ignored".into();
        };
        let record = &records[position];
        let Some(statement) = Statement::of(record) else {
            return if record.is_license() { "names a licence" } else { "names no licence" }.into();
        };
        if record.field == Field::ContentUsage && record.user_agent.is_none() {
            return "states nothing: outside any group".into();
        }
        if !statement.is_readable {
            return "states nothing: the value is not a dictionary".into();
        }
        let stated = Label::ALL.into_iter().zip(statement.preferences);
        let stated = stated.filter(|(_, preference)| *preference != Preference::Unstated);
        let words: Vec<String> =
            stated.map(|(label, preference)| format!("{label}={preference}")).collect();
        let pattern = pattern_of(&statement, &self.dialect.paths).filter(|text| !text.is_empty());
        let of_paths = pattern.map_or(String::new(), |text| format!(" about {}", quoted(&text)));
        let words = if words.is_empty() { "nothing".into() } else { words.join(", ") };
        format!("states {words}{of_paths}")
    }

    fn user_agent_words(&self, value: &[u8]) -> String {
        if robot_named(value, None, self.dialect) {
            return "names all crawlers that no other group names".into();
        }
        match robot_name(value, self.dialect) {
            Some(name) => format!("names {}", quoted(name)),
            None => "names no crawler".into(),
        }
    }

    fn rule_words(&self, verdict: Verdict, value: &[u8], line: LineNumber) -> String {
        if self.rule_on(line).is_none() {
            return "ignored: outside any group".into();
        }
        let mut pattern = Vec::new();
        if value.is_empty() {
            "decides nothing".into()
        } else if normal_text(value, &self.dialect.paths, &mut pattern) {
            format!("{verdict} {}", quoted(&pattern))
        } else {
            "never matches".into()
        }
    }
}

impl<'t> Examination<'t> {
    pub(super) fn new(
        text: &'t [u8],
        chosen: &'static Dialect,
        bytes_max: Option<usize>,
    ) -> Examination<'t> {
        let mut dialects = Dialect::ALL.to_vec();
        let position = dialects.iter().position(|dialect| *dialect == chosen);
        let chosen = position.unwrap_or_else(|| {
            dialects.push(chosen);
            dialects.len() - 1
        });
        let reading = |dialect| Reading {
            dialect,
            lines: records(text, dialect, bytes_max).collect(),
            file: RobotsTxt::parse(text, dialect, bytes_max),
            audience: OnceCell::new(),
        };
        let readings = dialects.into_iter().map(reading).collect();
        Examination { text, readings, chosen, index: LineIndex::new(text) }
    }

    /// Returns the reading of the chosen dialect.
    pub(super) fn chosen(&self) -> &Reading<'t> {
        &self.readings[self.chosen]
    }

    /// Returns the notes of all dialects on the line at `index`.
    pub(super) fn notes(&self, index: usize) -> NoteSet {
        let lines = self.readings.iter().filter_map(|reading| reading.lines.get(index));
        lines.flat_map(|line| line.notes.iter()).collect()
    }

    /// Returns the bytes of `span`.
    pub(super) fn bytes(&self, span: Span) -> &'t [u8] {
        &self.text[span.range()]
    }

    /// Returns the span of a part of the file.
    pub(super) fn span_of(&self, part: &[u8]) -> Span {
        let start = (part.as_ptr().addr() - self.text.as_ptr().addr()) as u32;
        Span { start, end: start + part.len() as u32 }
    }

    /// Returns the line at `index` without the white space around it.
    pub(super) fn written(&self, index: usize) -> Span {
        self.span_of(trim(self.bytes(self.chosen().lines[index].span), b" \t"))
    }

    /// Returns the effect in each dialect, in the words of `describe`.
    pub(super) fn effects(&self, describe: impl Fn(&Reading<'t>) -> String) -> Vec<Effect> {
        let effect =
            |reading: &Reading<'t>| Effect { dialect: reading.dialect, text: describe(reading) };
        self.readings.iter().map(effect).collect()
    }
}

/// Returns the crawler of a user-agent line: its name in lower case, or `*`.
pub(super) fn crawler_named(value: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    match robot_named(value, None, dialect) {
        true => Some(b"*".to_vec()),
        false => robot_name(value, dialect).map(<[u8]>::to_ascii_lowercase),
    }
}

/// Returns the crawler of a file whose groups apply to one with this name, in lower case: where names occur in
/// others, the first that does. `None` if that is not among the first [`LINT_NAMES_MAX`].
pub(super) fn crawler_followed<'a>(
    audience: &'a Audience,
    name: &[u8],
    dialect: &Dialect,
) -> Option<&'a NamedRobot> {
    match dialect.groups.names_agent {
        NamesAgent::Equal => audience.with_name(name),
        NamesAgent::OccursInName => {
            let name = std::str::from_utf8(name).ok()?;
            let mut robots = audience.robots.iter().take(LINT_NAMES_MAX);
            robots.find(|robot| is_name_of(&robot.name, name, dialect))
        }
    }
}

/// Returns text in backquotes for a message, made visible and cut if it is long.
pub(super) fn quoted(text: &[u8]) -> String {
    /// Longer quotes would hide the message.
    const CHARACTERS_MAX: usize = 60;
    let cut = bstr::ByteSlice::char_indices(text).nth(CHARACTERS_MAX);
    match cut {
        Some((start, ..)) => format!("`{}…`", visible(&text[..start])),
        None => format!("`{}`", visible(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::RFC_9309;

    #[test]
    fn quoted_text_is_visible() {
        assert_eq!(quoted(b"a\x1b\xff\n"), "`a\\u{1b}\\xff\\n`");
        assert_eq!(quoted(&[b'a'; 80]).chars().count(), 63);
    }

    #[test]
    fn each_dialect_describes_a_line() {
        let text = b"Allow: a\nUser-agent: *\nAllow: b\nDisalow: /c\nDisallow /%7e\n";
        let examination = Examination::new(text, &RFC_9309, None);
        let words = |index, name: &str| {
            let effects = examination.effects(|reading| reading.words(index));
            effects.into_iter().find(|effect| effect.dialect.name == name).unwrap().text
        };
        assert_eq!(words(0, "rfc9309"), "ignored: outside any group");
        assert_eq!(words(1, "google"), "names all crawlers that no other group names");
        assert_eq!(words(2, "original1994"), "an unknown field, ignored");
        assert_eq!(words(2, "koster1996"), "allow `/b`");
        assert_eq!(words(2, "rfc9309"), "never matches");
        assert_eq!(words(3, "google"), "disallow `/c`");
        assert_eq!(words(4, "draft2019"), "ignored");
        assert_eq!(words(4, "google"), "disallow `/%7E`");
    }
}
