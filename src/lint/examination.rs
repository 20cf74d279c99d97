//! A file as each dialect reads it: what a diagnostic's effects are computed from.
//!
//! Owns the parses, one for each dialect, and the questions that checks ask of them: what a line is
//! in a dialect, and where bytes stand. Cost: five parses of the file.

use super::LineIndex;
use super::diagnostic::{Effect, Place, Related};
use crate::bytes::trim;
use crate::decision::Verdict;
use crate::dialect::{Dialect, Field};
use crate::id::LineNumber;
use crate::pattern::normal_text;
use crate::policy::{robot_name, robot_named};
use crate::syntax::{
    Content, Line, NoteKind, NoteSet, Record, RobotsTxt, Span, is_extension, records,
};
use crate::visible::visible;

/// A file, and each dialect's reading of it.
pub(super) struct Examination<'t> {
    /// The file.
    pub(super) text: &'t [u8],
    /// Bytes of it that are read.
    pub(super) bytes_max: Option<usize>,
    /// One for each of [`Dialect::ALL`], in that order, and the chosen dialect's if it is another.
    pub(super) readings: Vec<Reading<'t>>,
    chosen: usize,
    index: LineIndex<'t>,
}

/// What one dialect reads.
pub(super) struct Reading<'t> {
    pub(super) dialect: &'static Dialect,
    /// The lines; the one with number `n` is at `n - 1`.
    pub(super) lines: Vec<Line<'t>>,
    pub(super) file: RobotsTxt<'t>,
}

impl<'t> Reading<'t> {
    pub(super) fn new(
        text: &'t [u8],
        dialect: &'static Dialect,
        bytes_max: Option<usize>,
    ) -> Reading<'t> {
        Reading {
            dialect,
            lines: records(text, dialect, bytes_max).collect(),
            file: RobotsTxt::parse(text, dialect, bytes_max),
        }
    }

    /// The record on the line at `index`, if the dialect reads one there.
    pub(super) fn record(&self, index: usize) -> Option<&Record<'t>> {
        match &self.lines.get(index)?.content {
            Content::Record(record) => Some(record),
            Content::Blank | Content::Comment | Content::Ignored => None,
        }
    }

    /// The position in the file's rules of the rule on `line`.
    pub(super) fn rule_on(&self, line: LineNumber) -> Option<usize> {
        self.file.rules().binary_search_by_key(&line, |rule| rule.line).ok()
    }

    /// The position in the file's groups of the group that has the rule at `rule`.
    pub(super) fn group_of_rule(&self, rule: usize) -> usize {
        let groups = self.file.groups();
        groups.partition_point(|group| group.rules.end as usize <= rule)
    }

    /// What the dialect makes of the line at `index`, in words.
    fn words(&self, index: usize) -> String {
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
            Some(Field::Sitemap) => "a sitemap, which decides nothing".into(),
            None if is_extension(record.name) => {
                "a field of another convention, which decides nothing about access".into()
            }
            None => "a field without meaning, which decides nothing".into(),
        }
    }

    fn user_agent_words(&self, value: &[u8]) -> String {
        if robot_named(value, None, self.dialect) {
            return "names all robots that no other group names".into();
        }
        match robot_name(value, self.dialect) {
            Some(name) => format!("names {}", quoted(name)),
            None => "names nobody".into(),
        }
    }

    fn rule_words(&self, verdict: Verdict, value: &[u8], line: LineNumber) -> String {
        if self.rule_on(line).is_none() {
            return "ignored, because it stands in no group".into();
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
        let reading = |dialect| Reading::new(text, dialect, bytes_max);
        let readings = dialects.into_iter().map(reading).collect();
        Examination { text, bytes_max, readings, chosen, index: LineIndex::new(text) }
    }

    /// The reading of the dialect that was chosen.
    pub(super) fn chosen(&self) -> &Reading<'t> {
        &self.readings[self.chosen]
    }

    /// What any dialect notes on the line at `index`.
    pub(super) fn notes(&self, index: usize) -> NoteSet {
        let lines = self.readings.iter().filter_map(|reading| reading.lines.get(index));
        let kinds = lines.flat_map(|line| line.notes.kinds());
        kinds.fold(NoteSet::EMPTY, NoteSet::with)
    }

    /// The bytes of `span`.
    pub(super) fn bytes(&self, span: Span) -> &'t [u8] {
        &self.text[span.range()]
    }

    /// What is written on the line at `index`, without the white space around it.
    pub(super) fn written(&self, index: usize) -> Span {
        let line = self.chosen().lines[index].span;
        let bytes = self.bytes(line);
        let text = trim(bytes, b" \t");
        let start = line.start + (text.as_ptr() as usize - bytes.as_ptr() as usize) as u32;
        Span { start, end: start + text.len() as u32 }
    }

    /// What each dialect makes of the line at `index`.
    pub(super) fn line_effects(&self, index: usize) -> Vec<Effect> {
        self.effects(|reading| reading.words(index))
    }

    /// What each dialect makes of something, in the words that `tell` finds.
    pub(super) fn effects(&self, tell: impl Fn(&Reading<'t>) -> String) -> Vec<Effect> {
        let effect =
            |reading: &Reading<'t>| Effect { dialect: reading.dialect, text: tell(reading) };
        self.readings.iter().map(effect).collect()
    }

    /// Where `span` stands.
    pub(super) fn place(&self, span: Span) -> Place {
        self.index.place(span)
    }

    /// Another place, with what is there.
    pub(super) fn related(&self, span: Span, message: impl Into<String>) -> Related {
        Related { place: self.place(span), message: message.into() }
    }
}

/// Text between backquotes as a message shows it: visible, and cut where it is long.
pub(super) fn quoted(text: &[u8]) -> String {
    /// More would push what the message says out of sight.
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
    use crate::dialect::RFC_9309;

    #[test]
    fn what_is_quoted_is_visible() {
        assert_eq!(quoted(b"a\x1b\xff\n"), "`a\\u{1b}\\xff\\n`");
        assert_eq!(quoted(&[b'a'; 80]).chars().count(), 63);
    }

    #[test]
    fn each_dialect_has_words_for_a_line() {
        let text = b"Allow: a\nUser-agent: *\nAllow: b\nDisalow: /c\nDisallow /%7e\n";
        let examination = Examination::new(text, &RFC_9309, None);
        let words = |index, name: &str| {
            let effects = examination.line_effects(index);
            effects.into_iter().find(|effect| effect.dialect.name == name).unwrap().text
        };
        assert_eq!(words(0, "rfc9309"), "ignored, because it stands in no group");
        assert_eq!(words(1, "google"), "names all robots that no other group names");
        assert_eq!(words(2, "original1994"), "a field without meaning, which decides nothing");
        assert_eq!(words(2, "koster1996"), "allow `/b`");
        assert_eq!(words(2, "rfc9309"), "never matches");
        assert_eq!(words(3, "google"), "disallow `/c`");
        assert_eq!(words(4, "draft2019"), "ignored");
        assert_eq!(words(4, "google"), "disallow `/%7E`");
    }
}
