//! What the strings say, and whether each is the record that it is used as.

use crate::dialect::{Dialect, Field};
use crate::id::LineNumber;
use crate::syntax::{Content, records};

use super::super::super::file::{Damage, Section};
use super::super::super::layout::record;
use super::super::PolicySet;
use super::super::document::split_record;

/// What the record in a string does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    UserAgent,
    Allow,
    Disallow,
    /// It decides nothing.
    Other,
}

/// By string: what it says, and whether anything refers to it.
pub(super) struct Texts {
    kinds: Vec<TextKind>,
    needed: Vec<bool>,
}

/// Stands before a text that is read alone: what is special about the beginning of a file is so
/// about this line, and not about the text.
const LINE_BEFORE: &[u8] = b"#\n";

impl Texts {
    /// Reads every string as the line that it was.
    pub(super) fn of(set: &PolicySet) -> Result<Texts, Damage> {
        let mut kinds = Vec::new();
        let mut line = Vec::new();
        set.sections.strings.verify(&set.file, |string| {
            let kind = text_kind(string, set.dialect(), &mut line);
            kinds.push(kind.ok_or("a string is no record of a file")?);
            Ok(())
        })?;
        let needed = vec![false; kinds.len()];
        Ok(Texts { kinds, needed })
    }

    /// Takes note of somebody who needs `string` to be a record of `kind`. Returns false if it is
    /// none.
    #[must_use]
    pub(super) fn need(&mut self, string: u32, kind: TextKind) -> bool {
        let string = string as usize;
        let is_so = self.kinds.get(string) == Some(&kind);
        if is_so {
            self.needed[string] = true;
        }
        is_so
    }

    /// Looks at the list of records at `position`, which is not the one for none, and returns where
    /// the next one begins. `kind_of` says what the records are by their kinds' numbers.
    pub(super) fn need_list(
        &mut self,
        set: &PolicySet,
        section: Section,
        position: u32,
        kind_of: impl Fn(u32) -> Option<TextKind>,
    ) -> Result<u32, Damage> {
        let words = set.record_words(section, position)?;
        let malformed = |what| set.malformed(section, position, what);
        let mut last: Option<LineNumber> = None;
        for pair in words.chunks_exact(record::WORDS) {
            let line = LineNumber::new(pair[0].get() >> record::KIND_BITS);
            if line <= last {
                return Err(malformed("the lines of a file are not in order"));
            }
            last = line;
            let kind = kind_of(pair[0].get() & ((1 << record::KIND_BITS) - 1));
            if !kind.is_some_and(|kind| self.need(pair[1].get(), kind)) {
                return Err(malformed("a record is not what its string says"));
            }
        }
        Ok(position.saturating_add(1).saturating_add(words.len() as u32))
    }

    /// Whether something refers to every string.
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

/// What the record in `string` does; nothing if the string is none that a file of the dialect gives.
fn text_kind(string: &[u8], dialect: &Dialect, line: &mut Vec<u8>) -> Option<TextKind> {
    let (text, value_start) = split_record(string)?;
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
        Some(Field::Sitemap) | None => TextKind::Other,
    };
    let value_bytes = if kind == TextKind::Other { 0 } else { read.value.len() };
    (text.len() - value_start == value_bytes).then_some(kind)
}
