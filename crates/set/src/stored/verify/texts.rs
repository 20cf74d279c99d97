//! Verifies strings: each is a record of the kind that it is used as.

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_robots::syntax::{Content, RobotsTxt, Span, UsageKind, read_others, records};

use super::super::super::compile::{push_kinds, push_lines};
use super::super::super::file::{Damage, Section};
use super::super::super::layout::record;
use super::super::PolicySet;
use super::super::document::{RecordList, split_record};

/// The effect of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    UserAgent,
    Allow,
    Disallow,
    /// It is about usage, by its field.
    Usage(Field),
    /// It does not affect decisions.
    Other,
}

/// The kind of each string, and whether it is referenced.
pub(super) struct Texts {
    kinds: Vec<TextKind>,
    needed: Vec<bool>,
}

/// A line before each parsed text. Only the first line of a file may begin with a byte order mark,
/// so the text is parsed as the second line.
const LINE_BEFORE: &[u8] = b"#\n";

impl Texts {
    /// Parses every string as a line.
    pub(super) fn of(set: &PolicySet) -> Result<Texts, Damage> {
        let mut kinds = Vec::new();
        let mut line = Vec::new();
        set.sections.strings.verify(&set.file, |string| {
            let kind = split_record(string).and_then(|(text, value_start)| {
                TextKind::of_record(text, value_start, set.dialect(), &mut line)
            });
            kinds.push(kind.ok_or("a string is no record of a file")?);
            Ok(())
        })?;
        let needed = vec![false; kinds.len()];
        Ok(Texts { kinds, needed })
    }

    /// Marks the strings of the list of records at `position`, which is not [`NONE`], as
    /// referenced. Returns the position of the next list. Whether rules share the texts of their
    /// patterns is verified with the policies.
    pub(super) fn need_list(
        &mut self,
        set: &PolicySet,
        section: Section,
        position: u32,
    ) -> Result<u32, Damage> {
        let list = set.record_list(section, position)?;
        let (mut lines, mut kinds) = (Vec::new(), Vec::new());
        for index in 0..list.len() {
            let line = list.line(index)?.get();
            if lines.last().is_some_and(|last| *last >= line) {
                return Err(list.malformed("the lines of a file are not in order"));
            }
            lines.push(line);
            kinds.push(list.kind(index)?);
            let (word, kind) = (list.text_word(index)?, TextKind::of(&list, kinds[index as usize]));
            if word >> record::FORM_SHIFT == record::STRING {
                if self.kinds.get(word as usize) != Some(&kind) {
                    return Err(list.malformed("a record is not what its string says"));
                }
                self.needed[word as usize] = true;
            } else if !matches!(kind, TextKind::Allow | TextKind::Disallow) {
                return Err(list.malformed("a record that is no rule has a pattern's text"));
            }
        }
        let mut head = Vec::new();
        push_lines(&mut head, lines.into_iter());
        if list.kind_bits() > 0 {
            push_kinds(&mut head, &kinds, list.kind_bits());
        }
        match list.words(0, head.len())? == head {
            true => Ok(list.end()),
            false => Err(list.malformed("the lines of a file are written in another way")),
        }
    }

    /// Checks that every string is referenced.
    pub(super) fn all_needed(&self, set: &PolicySet) -> Result<(), Damage> {
        match self.needed.iter().all(|&needed| needed) {
            true => Ok(()),
            false => {
                let section = set.sections.documents;
                Err(set.malformed(section, 0, "no record is what one of the strings says"))
            }
        }
    }
}

/// Returns whether each record of an extract is what a file of the dialect has. One parse per
/// record.
pub(crate) fn is_extract(extract: &[u8], dialect: &Dialect) -> bool {
    let Some(file) = RobotsTxt::read_extract(extract) else { return false };
    let mut line = Vec::new();
    let mut has = |span: Span, value: &[u8], kind| {
        let text = &extract[span.range()];
        TextKind::of_record(text, text.len() - value.len(), dialect, &mut line) == Some(kind)
    };
    file.user_agents().iter().all(|it| has(it.span, it.value, TextKind::UserAgent))
        && file.rules().iter().all(|it| {
            let allows = it.verdict == Verdict::Allow;
            has(it.span, it.value, if allows { TextKind::Allow } else { TextKind::Disallow })
        })
        && file.usage_records().iter().all(|it| has(it.span, it.value, TextKind::Usage(it.field)))
}

/// Like [`is_extract`], for the other records of a file, which are on lines of their own.
pub(crate) fn are_others(others: &[u8], dialect: &Dialect) -> bool {
    let mut line = Vec::new();
    let is_other = |text: &[u8], line: &mut Vec<u8>| {
        TextKind::of_record(text, text.len(), dialect, line) == Some(TextKind::Other)
    };
    read_others(others).is_sorted_by(|(one, _), (next, _)| one < next)
        && read_others(others).all(|(_, text)| is_other(text, &mut line))
}

impl TextKind {
    /// Returns the effect of a record with this kind in `list`.
    pub(super) fn of(list: &RecordList<'_>, kind: u32) -> TextKind {
        match kind {
            _ if list.kind_bits() == record::OTHER_KIND_BITS => TextKind::Other,
            _ if list.kind_bits() == record::USAGE_KIND_BITS => {
                let kind = UsageKind::ALL.get(kind as usize);
                kind.map_or(TextKind::Other, |kind| TextKind::Usage(kind.field))
            }
            record::ALLOW => TextKind::Allow,
            record::DISALLOW => TextKind::Disallow,
            _ => TextKind::UserAgent,
        }
    }

    /// Returns the effect of the record `text`. `None` if no file of the dialect contains it, or if
    /// its value begins elsewhere.
    pub(super) fn of_record(
        text: &[u8],
        value_start: usize,
        dialect: &Dialect,
        line: &mut Vec<u8>,
    ) -> Option<TextKind> {
        line.clear();
        line.extend_from_slice(LINE_BEFORE);
        line.extend_from_slice(text);
        let mut lines = records(line, dialect, None).skip(1);
        let Content::Record(read) = lines.next()?.content else { return None };
        if lines.next().is_some() || read.span.range() != (LINE_BEFORE.len()..line.len()) {
            return None;
        }
        let kind = match read.field {
            Some(Field::UserAgent) => TextKind::UserAgent,
            Some(Field::Allow) => TextKind::Allow,
            Some(Field::Disallow) => TextKind::Disallow,
            Some(field @ (Field::ContentUsage | Field::ContentSignal | Field::License)) => {
                TextKind::Usage(field)
            }
            Some(Field::Sitemap) | None => TextKind::Other,
        };
        let value_bytes = if kind == TextKind::Other { 0 } else { read.value.len() };
        (text.len() - value_start == value_bytes).then_some(kind)
    }
}
