//! Cuts a text into the fields of a format.
//!
//! A [`Segment`] is the text between two quotes, inside or outside of them. It is cut from the left up
//! to the first field that a client fills, and from the right back to the last such field. If this is
//! one field, it is the rest of the segment. Several are cut only if the text between them occurs
//! exactly as often as in the format; otherwise none of them is read. So no field is searched for in
//! text that a client wrote.
//!
//! Cost: linear in the bytes of a text. Nothing here allocates.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::super::short::first_of;
use super::escape::Quoting;
use super::fields::{Extent, LogField, What};
use super::time::{CLF_BYTES, TimeForm};
use super::words::is_blank;

/// A field, and the text of the format before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub before: Vec<u8>,
    pub field: LogField,
    /// Where its text is kept; `None` if it is not read.
    pub slot: Option<usize>,
}

/// A function that is shown the text of each field of a line. If it returns `None`, the line does not fit.
pub(super) trait See<'t>: FnMut(&Piece, &'t [u8]) -> Option<()> {}

impl<'t, F: FnMut(&Piece, &'t [u8]) -> Option<()>> See<'t> for F {}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub pieces: Vec<Piece>,
    /// The text after the last field.
    pub end: Vec<u8>,
    /// The fields from the first to the last that a client fills.
    pub run: Range<usize>,
    /// Whether a field may end after a quote, because its end is sought.
    pub is_loose: bool,
}

impl Segment {
    /// Finds the fields that clients fill.
    pub fn with_run(mut self) -> Segment {
        let is_free = |piece: &Piece| piece.field.extent == Extent::Free;
        let first = self.pieces.iter().position(is_free);
        let last = self.pieces.iter().rposition(is_free);
        self.run = first.zip(last).map_or(0..0, |(first, last)| first..last + 1);
        if self.run.is_empty() {
            self.run = self.pieces.len()..self.pieces.len();
        }
        self.is_loose =
            self.pieces.iter().enumerate().any(|(at, piece)| match piece.field.extent {
                Extent::Words(_) => !matches!(self.behind(at).first(), None | Some(b' ')),
                extent => extent == Extent::Until,
            });
        self
    }

    /// Returns the text after a field.
    pub fn behind(&self, at: usize) -> &[u8] {
        self.pieces.get(at + 1).map_or(&self.end, |next| &next.before)
    }

    /// Returns its field, if that is one that a client fills, and nothing else.
    pub fn whole(&self) -> Option<&Piece> {
        let [piece] = &self.pieces[..] else { return None };
        let has_text = !piece.before.is_empty() || !self.end.is_empty();
        (self.has_run() && !has_text).then_some(piece)
    }

    /// Whether clients fill a field of it.
    pub fn has_run(&self) -> bool {
        !self.run.is_empty()
    }

    /// Whether a client fills the first field, and nothing is before it.
    pub fn begins_free(&self) -> bool {
        let first = self.pieces.first();
        first.is_some_and(|it| it.before.is_empty() && it.field.extent == Extent::Free)
    }

    /// Whether a text is read that a client fills.
    pub fn is_read(&self) -> bool {
        let is_free = |it: &Piece| matches!(it.field.extent, Extent::Free | Extent::Until);
        self.pieces.iter().any(|piece| piece.slot.is_some() && is_free(piece))
    }

    /// Returns a field that is read although it cannot be told from the fields next to it.
    pub fn unreadable(&self) -> Option<&Piece> {
        let run = &self.pieces[self.run.clone()];
        if run.len() < 2 || self.separator().is_some() {
            return None;
        }
        let mut read = run.iter().enumerate().filter(|(_, piece)| piece.slot.is_some());
        let is_end = |at: usize| at == 0 || at + 1 == run.len();
        let found = read.find(|(at, it)| !(is_end(*at) && matches!(it.field.what, What::Host(_))));
        found.map(|(_, piece)| piece)
    }

    /// Returns the one text that stands between the fields of the run.
    fn separator(&self) -> Option<&[u8]> {
        let run = &self.pieces[self.run.clone()];
        let first = &*run.get(1)?.before;
        run[1..].iter().all(|piece| piece.before == first).then_some(first)
    }

    /// Calls `see` for the text of each field; `None` if the text does not fit, or `see` returns `None`.
    pub fn cut<'t>(&self, text: &'t [u8], see: &mut impl See<'t>) -> Option<()> {
        let mut rest = self.cut_left(text, see)?;
        let Some(first) = self.pieces.get(self.run.start) else {
            return (rest == self.end).then_some(());
        };
        let mut behind = &*self.end;
        for piece in self.pieces[self.run.end..].iter().rev() {
            rest = rest.strip_suffix(behind)?;
            let (before, value) = rest.split_at(start_of(piece.field, rest, &piece.before)?);
            see(piece, value)?;
            (rest, behind) = (before, &piece.before);
        }
        rest = behind_literal(rest.strip_suffix(behind)?, &first.before)?;
        match &self.pieces[self.run.clone()] {
            [piece] => see(piece, rest),
            run => self.cut_run(run, rest, see),
        }
    }

    /// Cuts the start of a text if no client fills a field. Returns what is after it; `None` if a text in
    /// quotes begins before its end.
    #[inline]
    pub fn cut_start<'t>(
        &self,
        text: &'t [u8],
        quoting: Quoting,
        see: &mut impl See<'t>,
    ) -> Option<&'t [u8]> {
        let rest = behind_literal(self.cut_left(text, see)?, &self.end)?;
        let has_quote = || quoting.end(&text[..text.len() - rest.len()]).is_some();
        (!self.is_loose || !has_quote()).then_some(rest)
    }

    /// Cuts the fields before the first one that a client fills. Returns what is after them.
    #[inline]
    fn cut_left<'t>(&self, text: &'t [u8], see: &mut impl See<'t>) -> Option<&'t [u8]> {
        let mut rest = text;
        for (at, piece) in self.pieces[..self.run.start].iter().enumerate() {
            rest = behind_literal(rest, &piece.before)?;
            if piece.before.last() == Some(&b' ') {
                while let [b' ', after @ ..] = rest {
                    rest = after;
                }
            }
            let (value, after) = rest.split_at(end_of(piece.field, rest, self.behind(at))?);
            see(piece, value)?;
            rest = after;
        }
        Some(rest)
    }

    /// Cuts the text of several fields of which clients fill some.
    fn cut_run<'t>(&self, run: &[Piece], text: &'t [u8], see: &mut impl See<'t>) -> Option<()> {
        if run.iter().all(|piece| piece.slot.is_none()) {
            return Some(());
        }
        let separator = self.separator();
        if let Some(separator) = separator.filter(|it| count(text, it) == separators(run, it)) {
            let mut rest = text;
            for (at, piece) in run.iter().enumerate() {
                let words = words_of(piece, separator);
                let mut end = rest.len();
                if at + 1 < run.len() {
                    end = nth(rest, separator, words)?;
                }
                see(piece, &rest[..end])?;
                rest = rest.get(end + separator.len()..).unwrap_or_default();
            }
            return Some(());
        }
        // The header of a host has no blank: a server refuses such a request.
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let is_host = |piece: &Piece| matches!(piece.field.what, What::Host(_));
        for (at, _) in run.iter().enumerate().filter(|(_, piece)| piece.slot.is_some()) {
            if at == 0 && is_host(first) {
                see(first, &text[..memchr(b' ', text)?])?;
            } else if at + 1 == run.len() && is_host(last) {
                see(last, &text[memrchr(b' ', text)? + 1..])?;
            } else {
                return None;
            }
        }
        Some(())
    }
}

/// Returns what is after the text between two fields. Servers fill columns with blanks.
#[inline]
fn behind_literal<'t>(text: &'t [u8], literal: &[u8]) -> Option<&'t [u8]> {
    let mut rest = text;
    if let [b' ', next, ..] = literal
        && *next != b' '
    {
        while rest.starts_with(b"  ") {
            rest = &rest[1..];
        }
    }
    rest.strip_prefix(literal)
}

/// Returns the number of words that a field has if the separator is a blank.
fn words_of(piece: &Piece, separator: &[u8]) -> usize {
    match piece.field.extent {
        Extent::Words(words) if separator == b" " => usize::from(words),
        _ => 1,
    }
}

/// Returns how often a separator stands in a run if no client wrote it.
fn separators(run: &[Piece], separator: &[u8]) -> usize {
    run.iter().map(|piece| words_of(piece, separator)).sum::<usize>() - 1
}

/// Returns how often a text occurs, also where two places share bytes.
fn count(text: &[u8], part: &[u8]) -> usize {
    (0..text.len()).filter(|&at| text[at..].starts_with(part)).count()
}

/// Returns the place where a part occurs for the `number`th time.
fn nth(text: &[u8], part: &[u8], number: usize) -> Option<usize> {
    (0..text.len()).filter(|&at| text[at..].starts_with(part)).nth(number - 1)
}

/// Returns the end of a field that a text begins with. `behind` follows it in the format.
#[inline]
pub(super) fn end_of(field: LogField, text: &[u8], behind: &[u8]) -> Option<usize> {
    if field.what == What::Time(TimeForm::Clf) {
        return (text.len() >= CLF_BYTES).then_some(CLF_BYTES);
    }
    match (field.extent, behind.first()) {
        (Extent::Until, None) => Some(text.len()),
        (Extent::Until, Some(_)) => memmem::find(text, behind),
        (Extent::Words(words), None | Some(b' ')) => end_of_words(text, words, behind.is_empty()),
        (Extent::Words(_), Some(stop)) => memchr(*stop, text),
        (Extent::Chain, _) => end_of_chain(text),
        (Extent::Free, _) => None,
    }
}

/// Returns the end of so many words between blanks, after which the text ends if they are last. A word has no
/// quote.
#[inline]
fn end_of_words(text: &[u8], words: u8, are_last: bool) -> Option<usize> {
    let mut end = 0;
    for left in (0..words).rev() {
        let word = first_of([b' ', b'"'], &text[end..]).unwrap_or(text.len() - end);
        end += word;
        match text.get(end) {
            Some(b' ') if left > 0 => end += 1,
            Some(b' ') if word > 0 && !are_last => return Some(end),
            None if word > 0 && left == 0 && are_last => return Some(end),
            _ => return None,
        }
    }
    None
}

/// Returns the end of words that are joined by commas, or by colons between blanks.
fn end_of_chain(text: &[u8]) -> Option<usize> {
    let mut end = 0;
    loop {
        let word = text[end..].iter().take_while(|byte| !is_blank(**byte)).count();
        if word == 0 {
            return None;
        }
        end += word;
        let is_joined = text[..end].ends_with(b",");
        match &text[end..] {
            [b' ', ..] if is_joined => end += 1,
            [b' ', b':', b' ', ..] => end += 3,
            _ => return (!is_joined).then_some(end),
        }
    }
}

/// Returns the start of a field that a text ends with. `before` precedes it in the format.
#[inline]
fn start_of(field: LogField, text: &[u8], before: &[u8]) -> Option<usize> {
    if field.what == What::Time(TimeForm::Clf) {
        return text.len().checked_sub(CLF_BYTES);
    }
    match (field.extent, before.last()) {
        (_, None) => Some(0),
        (Extent::Until, Some(_)) => memmem::rfind(text, before).map(|at| at + before.len()),
        (Extent::Words(_), Some(b' ')) if text.is_empty() || text.ends_with(b" ") => None,
        (Extent::Words(words), Some(b' ')) => {
            let mut start = text.len() + 1;
            for _ in 0..words {
                start = memrchr(b' ', &text[..start - 1])? + 1;
            }
            Some(start)
        }
        (Extent::Words(_), Some(stop)) => Some(memrchr(*stop, text)? + 1),
        (Extent::Chain, _) => start_of_chain(text),
        (Extent::Free, _) => None,
    }
}

/// Returns the start of words at the end of a text that are joined by commas, or by colons between blanks.
fn start_of_chain(text: &[u8]) -> Option<usize> {
    let mut start = text.len();
    loop {
        let word = text[..start].iter().rev().take_while(|byte| !is_blank(**byte)).count();
        if word == 0 {
            return None;
        }
        start -= word;
        match &text[..start] {
            [.., b',', b' '] => start -= 1,
            [.., b' ', b':', b' '] => start -= 3,
            _ => return Some(start),
        }
    }
}
