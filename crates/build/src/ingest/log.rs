//! The record form of a resource's captures: in temporary files, and in the capture log of a set.
//!
//! The captures of a key are one record: first http, then https, each oldest first.
//! Most hosts answer alike for both, which takes one byte. A capture names its file by numbers, and the
//! target of its redirect by a number or, in a log, by the bytes themselves. `FORMAT.md` has the bytes of
//! the log.
//!
//! Cost: some 20 bytes per capture. Reading returns `None` for bytes that nothing here writes.

use std::num::NonZeroU64;

use portcullis_captures::PayloadNames;
use portcullis_engine::bytes::{push_varint, take_varint};
use portcullis_files::error::WriteError;
use portcullis_robots::access::{CaptureNotes, UnixSeconds};
use portcullis_robots::syntax::NoteSet;
use portcullis_set::stored::CaptureFacts;

use super::known::{Held, Known, Resources, are_same};
use super::rivals::Rivals;
use crate::pool::BlobID;
use crate::standing::Content;

/// Where captures are, which decides the form of their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In a sorted run. Each capture has its position in its input.
    Run,
    /// All together. The order of captures stands for their positions.
    Sorted,
    /// In a set. The locations of redirects are there.
    Log,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Location,
    Extract,
    Others,
}

/// Stored as the number of https captures if they are the http captures.
const AS_HTTP: u32 = 1;
/// The first number that counts captures, less one.
const COUNTED: u32 = 1;

/// The parts of a capture, in the bits of its first byte. The lowest three say what it refers to.
const KIND_BITS: u8 = 7;
const HAS_DATE: u8 = 1 << 3;
const SERVES: u8 = 1 << 4;
const WAS_REDIRECTED: u8 = 1 << 5;
const HAS_NOTES: u8 = 1 << 6;
const HAS_BYTES: u8 = 1 << 7;

/// The values of the lowest three bits.
const NOTHING: u8 = 0;
const LOCATION: u8 = 2;
const FILE: u8 = 3;
const FILE_WITH_RULES: u8 = 4;
const REPEATED: u8 = 5;
/// The number that is added for a file of [`USUAL_STATUS`], which is left out.
const IS_USUAL: u8 = 3;
const USUAL_STATUS: u16 = 200;

/// Appends bytes, and the number of them before them.
pub(crate) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Takes off the front of `rest` what [`push_bytes`] wrote.
pub(super) fn take_bytes<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let count = take_varint(rest)?;
    rest.split_off(..count as usize)
}

/// Appends a key that differs from the one before it at the end.
pub(super) fn push_key(out: &mut Vec<u8>, last: &[u8], key: &[u8]) {
    let shared = last.iter().zip(key).take_while(|(one, other)| one == other).count();
    push_varint(out, shared as u32);
    push_bytes(out, &key[shared..]);
}

/// Reads a key; `key` holds the one before it.
pub(super) fn take_key(rest: &mut &[u8], key: &mut Vec<u8>) -> Option<()> {
    let shared = take_varint(rest)? as usize;
    let own = take_bytes(rest)?;
    let is_shortest = shared <= key.len() && key.get(shared) != own.first();
    key.truncate(shared);
    key.extend_from_slice(own);
    (is_shortest || own.is_empty()).then_some(())
}

/// The captures of a key, which are its record of the log.
#[derive(Debug)]
pub(crate) struct Captures(pub(super) Resources);

impl Captures {
    /// Returns the content and the other records of each file.
    pub(crate) fn files(&self) -> impl Iterator<Item = (Content, BlobID)> {
        let file = |known: &Known<BlobID>| match known.held {
            Held::File { extract, others, has_rules } => {
                Some((Content::File { extract, others, has_rules }, others))
            }
            Held::Location(_) | Held::Repeated(_) | Held::Nothing => None,
        };
        self.0.iter().flatten().filter_map(file)
    }

    /// Returns the facts about the captures of each resource.
    pub(super) fn facts(&self) -> impl Iterator<Item = impl Iterator<Item = &CaptureFacts>> {
        self.0.iter().map(|captures| captures.iter().map(|known| &known.facts))
    }

    /// Appends the record of `key`, which follows that of `last`. `refer` appends what a blob is in the set.
    pub(crate) fn push(
        &self,
        out: &mut Vec<u8>,
        [last, key]: [&[u8]; 2],
        refer: &mut Refer<'_>,
    ) -> Result<(), WriteError> {
        push_key(out, last, key);
        Form::Log.push(out, &self.0, refer)
    }
}

/// Appends a reference to a blob.
type Refer<'r> = dyn FnMut(&mut Vec<u8>, Role, BlobID) -> Result<(), WriteError> + 'r;

/// Makes a reference to a file of its number, and reads one to a location.
pub(super) type ReadReferences<'b, B, L> = (fn(u32) -> B, fn(&mut &'b [u8]) -> Option<L>);

impl Form {
    /// Appends the captures of a key, oldest first.
    pub(super) fn push(
        self,
        out: &mut Vec<u8>,
        resources: &Resources,
        refer: &mut Refer<'_>,
    ) -> Result<(), WriteError> {
        let [http, https] = resources;
        self.push_resource(out, http, refer)?;
        if self != Form::Run && are_same(resources) {
            push_varint(out, AS_HTTP);
            return Ok(());
        }
        self.push_resource(out, https, refer)
    }

    fn push_resource(
        self,
        out: &mut Vec<u8>,
        captures: &[Known<BlobID>],
        refer: &mut Refer<'_>,
    ) -> Result<(), WriteError> {
        if captures.is_empty() {
            push_varint(out, 0);
            return Ok(());
        }
        push_varint(out, COUNTED + captures.len() as u32);
        for Known { facts, position, held, payload, rivals } in captures {
            push_facts(out, facts, kind(facts, held));
            match held {
                Held::Nothing => {}
                Held::Repeated(captured_at) => {
                    push_long(out, captured_at.map_or(0, |date| date.0.saturating_add(1)));
                }
                Held::Location(location) => refer(out, Role::Location, *location)?,
                Held::File { extract, others, .. } => {
                    refer(out, Role::Extract, *extract)?;
                    refer(out, Role::Others, *others)?;
                }
            }
            if self == Form::Run {
                push_long(out, *position);
                push_payload(out, held, payload);
                push_rivals(out, held, rivals);
            }
        }
        Ok(())
    }

    /// Reads the captures of a key.
    pub(super) fn take<'b, B: Clone, L: Clone>(
        self,
        rest: &mut &'b [u8],
        read: ReadReferences<'b, B, L>,
    ) -> Option<Resources<B, L>> {
        let http = self.resource(rest, read)?;
        let mut after = *rest;
        if take_varint(&mut after)? == AS_HTTP {
            *rest = after;
            return (!http.is_empty()).then(|| [http.clone(), http]);
        }
        Some([http, self.resource(rest, read)?])
    }

    fn resource<'b, B, L>(
        self,
        rest: &mut &'b [u8],
        read: ReadReferences<'b, B, L>,
    ) -> Option<Vec<Known<B, L>>> {
        let count = match take_varint(rest)? {
            0 => return Some(Vec::new()),
            number => number.checked_sub(COUNTED).filter(|&count| count > 0)?,
        };
        // Nearly all resources have one capture. A damaged set may count any number.
        let mut captures = Vec::with_capacity(count.min(CAPTURES_EXPECTED_MAX) as usize);
        for index in 0..count {
            let (facts, held) = capture(rest, read)?;
            let (position, payload, rivals) = match self {
                Form::Run => (long(rest)?, take_payload(rest, &held)?, take_rivals(rest, &held)?),
                Form::Sorted | Form::Log => {
                    (index.into(), PayloadNames::default(), Rivals::default())
                }
            };
            captures.push(Known { facts, position, held, payload, rivals });
        }
        Some(captures)
    }
}

/// Captures of a resource for which there is room before they are read.
const CAPTURES_EXPECTED_MAX: u32 = 16;

fn kind(facts: &CaptureFacts, held: &Held<BlobID>) -> u8 {
    let usual = if facts.status == USUAL_STATUS { IS_USUAL } else { 0 };
    match held {
        Held::Nothing => NOTHING,
        Held::Repeated(_) => REPEATED,
        Held::Location(_) => LOCATION,
        Held::File { has_rules: false, .. } => FILE + usual,
        Held::File { has_rules: true, .. } => FILE_WITH_RULES + usual,
    }
}

fn push_facts(out: &mut Vec<u8>, facts: &CaptureFacts, kind: u8) {
    let serves = facts.serves_seconds();
    let has_notes = facts.capture_notes.bits() != 0 || facts.file_notes.bits() != 0;
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    out.push(
        kind | flag(HAS_DATE, facts.captured_at.is_some())
            | flag(SERVES, serves.is_some())
            | flag(WAS_REDIRECTED, facts.redirects_followed != 0)
            | flag(HAS_NOTES, has_notes)
            | flag(HAS_BYTES, facts.file_bytes != 0),
    );
    facts.captured_at.iter().for_each(|date| push_long(out, date.0));
    serves.iter().for_each(|&seconds| push_varint(out, seconds));
    if kind < FILE + IS_USUAL {
        push_varint(out, facts.status.into());
    }
    if facts.redirects_followed != 0 {
        out.push(facts.redirects_followed);
    }
    if has_notes {
        push_varint(out, facts.capture_notes.bits().into());
        push_varint(out, facts.file_notes.bits().into());
    }
    if facts.file_bytes != 0 {
        push_varint(out, facts.file_bytes);
    }
    push_varint(out, facts.input);
}

fn capture<'b, B, L>(
    rest: &mut &'b [u8],
    (file, location): ReadReferences<'b, B, L>,
) -> Option<(CaptureFacts, Held<B, L>)> {
    let flags = *rest.split_off_first()?;
    let has = |flag: u8| flags & flag != 0;
    let captured_at = if has(HAS_DATE) { Some(UnixSeconds(long(rest)?)) } else { None };
    let expires_at = match (has(SERVES), captured_at) {
        (false, _) => None,
        (true, date) => Some(date?.after(take_varint(rest)?.into())),
    };
    let kind = flags & KIND_BITS;
    let (kind, status) = match kind.checked_sub(IS_USUAL).filter(|&kind| kind >= FILE) {
        Some(kind) => (kind, USUAL_STATUS),
        None => (kind, u16::try_from(take_varint(rest)?).ok()?),
    };
    let redirects_followed = if has(WAS_REDIRECTED) { *rest.split_off_first()? } else { 0 };
    let (capture_notes, file_notes) = match has(HAS_NOTES) {
        true => (
            CaptureNotes::from_bits(u16::try_from(take_varint(rest)?).ok()?)?,
            NoteSet::from_bits(u16::try_from(take_varint(rest)?).ok()?)?,
        ),
        false => Default::default(),
    };
    let file_bytes = if has(HAS_BYTES) { take_varint(rest)? } else { 0 };
    let input = take_varint(rest)?;
    let held = match kind {
        NOTHING => Held::Nothing,
        LOCATION => Held::Location(location(rest)?),
        FILE | FILE_WITH_RULES => Held::File {
            extract: file(take_varint(rest)?),
            others: file(take_varint(rest)?),
            has_rules: kind == FILE_WITH_RULES,
        },
        REPEATED => Held::Repeated(long(rest)?.checked_sub(1).map(UnixSeconds)),
        _ => return None,
    };
    let facts = CaptureFacts {
        captured_at,
        expires_at,
        status,
        redirects_followed,
        capture_notes,
        file_notes,
        file_bytes,
        input,
        ..CaptureFacts::default()
    };
    Some((facts, held))
}

/// Whether a run has the names of a file, because a revisit may need them.
fn has_payload<B, L>(held: &Held<B, L>) -> bool {
    matches!(held, Held::File { .. } | Held::Repeated(None))
}

fn push_payload(out: &mut Vec<u8>, held: &Held<BlobID>, payload: &PayloadNames) {
    if has_payload(held) {
        push_long(out, payload.digest);
        push_long(out, payload.record);
    }
}

/// Reads what [`push_payload`] writes.
fn take_payload<B, L>(rest: &mut &[u8], held: &Held<B, L>) -> Option<PayloadNames> {
    match has_payload(held) {
        true => Some(PayloadNames { digest: long(rest)?, record: long(rest)? }),
        false => Some(PayloadNames::default()),
    }
}

/// The parts of a file in a run, in the bits below the number of lines whose place it takes.
const DIFFER: u64 = 1;
const ARE_ROWS: u64 = 2;
const IS_LINE: u64 = 4;
const RIVAL_BITS: u32 = 3;

fn push_rivals(out: &mut Vec<u8>, held: &Held<BlobID>, rivals: &Rivals) {
    let Held::File { .. } = held else { return };
    let Rivals { differ, line, lines, are_rows } = *rivals;
    let flags = [(DIFFER, differ), (ARE_ROWS, are_rows), (IS_LINE, line.is_some())];
    let flags: u64 = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).sum();
    push_long(out, u64::from(lines) << RIVAL_BITS | flags);
    line.iter().for_each(|line| push_long(out, line.get()));
}

/// Reads what [`push_rivals`] writes.
fn take_rivals<B, L>(rest: &mut &[u8], held: &Held<B, L>) -> Option<Rivals> {
    let Held::File { .. } = held else { return Some(Rivals::default()) };
    let number = long(rest)?;
    let has = |flag: u64| number & flag != 0;
    Some(Rivals {
        differ: has(DIFFER),
        line: if has(IS_LINE) { Some(NonZeroU64::new(long(rest)?)?) } else { None },
        lines: u32::try_from(number >> RIVAL_BITS).ok()?,
        are_rows: has(ARE_ROWS),
    })
}

/// The most bytes of a long varint.
const LONG_BYTES_MAX: u32 = 10;

fn push_long(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads what [`push_long`] writes.
fn long(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..LONG_BYTES_MAX {
        let byte = *rest.split_off_first()?;
        let part = u64::from(byte & 0x7F);
        let shifted =
            part.checked_shl(7 * place).filter(|shifted| shifted >> (7 * place) == part)?;
        number |= shifted;
        if byte & 0x80 == 0 {
            // The shortest form does not end with a zero byte.
            return (byte != 0 || place == 0).then_some(number);
        }
    }
    None
}
