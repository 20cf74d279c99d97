//! The steps that cut most lines of a format.
//!
//! Most formats need no search but for blanks and quotes: words and times between fixed texts, and what clients
//! send in quotes, or up to a fixed number of bytes before a quote. [`Steps`] are these formats as one list.
//! They cut a line from its start to its end, without escapes, doubled blanks and whatever else is rare. A line
//! that they cut has the same fields as by [`LogFormat::cut`](super::LogFormat); the others are left to it.
//!
//! Cost: a few instructions a step. The quotes of a block are found before ([`stops_in`]).

use portcullis_engine::marks::Marks;
use wide::u8x32;

use super::super::Arena;
use super::super::short::first_of;
use super::cut::{Piece, Segment, end_of};
use super::fields::{Extent, LogField, Slot, What};
use super::time::{CLF_BYTES, TimeForm};

/// The values that steps find. A format that has other ones needs more.
const READ: [Slot; 5] = [Slot::Host, Slot::Request, Slot::Agent, Slot::Time, Slot::Client];

/// A power of two, so that no check is needed.
const FIELDS: usize = 8;

/// The fields of a line, in the order of [`READ`], empty if the format has none. The next is one that is not
/// read.
pub(super) type Fields<'t> = [&'t [u8]; FIELDS];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The text after the last field.
    end: Literal,
    has_tail: bool,
}

/// A field, and the text of the format before it.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    before: Literal,
    part: StepKind,
    /// Its place in [`Fields`].
    value: usize,
}

/// Where a field ends. What follows it is checked by the text of the next step.
#[derive(Debug, PartialEq, Eq)]
enum StepKind {
    /// Before a blank.
    Word,
    Clf,
    /// Where [`end_of`] finds it before a text, and no text in quotes begins or ends in it.
    Found(Box<(LogField, Vec<u8>)>),
    /// So many bytes before a quote.
    UpToQuote(usize),
}

impl Steps {
    /// Returns the steps of a format with these segments; `None` if it needs other ones.
    pub fn of(outside: &[Segment], inside: &[Segment], has_tail: bool) -> Option<Steps> {
        let mut steps = Vec::new();
        let mut before = Vec::new();
        for (number, segment) in outside.iter().enumerate() {
            let is_last = number == inside.len();
            let run = &segment.run;
            for (at, piece) in segment.pieces.iter().enumerate() {
                // A run of fields that are not read is one.
                if run.contains(&at) && at > run.start {
                    continue;
                }
                before.extend_from_slice(&piece.before);
                let part = part_of(segment, at, is_last)?;
                steps.push(Step::new(&mut before, part, piece)?);
            }
            before.extend_from_slice(&segment.end);
            if let Some(text) = inside.get(number) {
                before.push(b'"');
                steps.push(Step::new(&mut before, StepKind::UpToQuote(0), text.whole()?)?);
                before.push(b'"');
            }
        }
        let of_value = |value| steps.iter().filter(|it: &&Step| it.value == value).count();
        let is_clear = (0..READ.len()).all(|value| of_value(value) < 2);
        let end = Literal::new(&before)?;
        is_clear.then_some(Steps { steps, end, has_tail })
    }

    /// Cuts a line that begins at a place in the text of [`stops_in`]; `None` if it is one of the few that need more
    /// than steps.
    #[inline]
    pub fn cut<'t>(
        &self,
        line: &'t [u8],
        (stops, start): (Marks<'_>, usize),
    ) -> Option<Fields<'t>> {
        let mut fields = Fields::default();
        let (mut rest, end) = (line, start + line.len());
        for Step { before, part, value } in &self.steps {
            rest = before.behind(rest)?;
            let place = end - rest.len();
            let stop = || stops.next(place).map(|stop| stop - place);
            let bytes = match part {
                StepKind::UpToQuote(bytes) => stop()?.checked_sub(*bytes)?,
                // Doubled blanks are left to the other way.
                _ if rest.starts_with(b" ") => return None,
                StepKind::Clf => CLF_BYTES,
                StepKind::Word => first_of([b' ', b'"'], rest)?,
                StepKind::Found(found) => {
                    let bytes = end_of(found.0, rest, &found.1)?;
                    Some(bytes).filter(|bytes| stop().is_none_or(|stop| stop >= *bytes))?
                }
            };
            (fields[value % FIELDS], rest) = rest.split_at_checked(bytes)?;
        }
        // Some configurations end with a blank.
        let is_end = |rest: &[u8]| rest.is_empty() && line.last().is_some_and(|last| *last > b' ');
        self.end.behind(rest).filter(|rest| self.has_tail || is_end(rest)).map(|_| fields)
    }
}

/// Returns where a field outside of quotes ends; `None` if no step says so.
fn part_of(segment: &Segment, at: usize, is_last: bool) -> Option<StepKind> {
    let run = &segment.run;
    let field = segment.pieces[at].field;
    let is_clf = |piece: &Piece| piece.field.what == What::Time(TimeForm::Clf);
    let behind = segment.behind(at);
    match field.extent {
        _ if at >= run.end => is_clf(&segment.pieces[at]).then_some(StepKind::Clf),
        Extent::Free => {
            let is_read = segment.pieces[run.clone()].iter().any(|piece| piece.slot.is_some());
            let rest = &segment.pieces[run.end..];
            let texts = rest.iter().map(|piece| piece.before.len() + CLF_BYTES);
            let bytes = texts.sum::<usize>() + segment.end.len();
            let is_fixed = !is_last && !is_read && rest.iter().all(is_clf);
            is_fixed.then_some(StepKind::UpToQuote(bytes))
        }
        // The quote that ends such a segment is sought from its start.
        _ if is_clf(&segment.pieces[at]) => {
            (!segment.has_run() && !segment.is_loose).then_some(StepKind::Clf)
        }
        Extent::Words(1) if behind.starts_with(b" ") => Some(StepKind::Word),
        _ => Some(StepKind::Found(Box::new((field, behind.to_vec())))),
    }
}

impl Step {
    /// Returns a step after `before`, which is empty then.
    fn new(before: &mut Vec<u8>, part: StepKind, piece: &Piece) -> Option<Step> {
        let place = |slot| READ.iter().position(|it| *it as usize == slot);
        let value = piece.slot.map_or(Some(READ.len()), place)?;
        let literal = Literal::new(before)?;
        before.clear();
        Some(Step { before: literal, part, value })
    }
}

/// A text of at most eight bytes.
#[derive(Debug, PartialEq, Eq)]
struct Literal {
    bytes: usize,
    word: u64,
    mask: u64,
}

impl Literal {
    fn new(text: &[u8]) -> Option<Literal> {
        (!text.contains(&b'\\')).then_some(())?;
        let mut bytes = [0; 8];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let mask = u64::MAX.checked_shr(64 - 8 * text.len() as u32).unwrap_or(0);
        Some(Literal { bytes: text.len(), word: u64::from_le_bytes(bytes), mask })
    }

    /// Returns the text after it, if a text begins with it.
    #[inline]
    fn behind<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let word = match text.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        ((word ^ self.word) & self.mask == 0).then(|| text.get(self.bytes..))?
    }
}

/// Marks the places where texts in quotes may end, in the text of a block of lines: quotes and backslashes.
pub(in super::super) fn stops_in<'c>(text: &[u8], arena: &'c Arena) -> Marks<'c> {
    let is_stop =
        |chunk: u8x32| chunk.simd_eq(u8x32::splat(b'"')) | chunk.simd_eq(u8x32::splat(b'\\'));
    Marks::of(text, is_stop, |words| arena.alloc_slice_fill_default(words))
}
