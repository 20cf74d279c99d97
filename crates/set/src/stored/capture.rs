//! Captures: when and how each policy was captured.

use zerocopy::little_endian::U32;

use portcullis_io::access::{KnownOutage, LongOutage, UnixSeconds};
use portcullis_io::{CaptureNote, CaptureNotes};
use portcullis_robots::syntax::NoteSet;

use super::super::CaptureFacts;
use super::super::file::Damage;
use super::super::layout::{NONE, capture, outage};
use super::PolicySet;

/// When and how a policy was captured.
#[derive(Clone, Copy, Debug)]
pub struct StoredCapture<'s> {
    pub(crate) set: &'s PolicySet,
    /// The stored facts.
    pub facts: CaptureFacts,
    pub(crate) others: u32,
}

impl StoredCapture<'_> {
    /// Returns the position of the file's other records; `None` if it has none. Equal lists have
    /// the same position.
    pub fn others(&self) -> Option<u32> {
        (self.others != NONE).then_some(self.others)
    }
}

impl PolicySet {
    pub(crate) fn capture_at(&self, index: u32) -> Result<StoredCapture<'_>, Damage> {
        let section = self.sections.captures;
        let first = u64::from(index) * capture::WORDS as u64;
        let words: &[U32] = self.file.items(section, first, capture::WORDS as u64)?;
        let word = |at: usize| words[at].get();
        let time = u64::from(word(capture::CAPTURED_AT_LOW))
            | u64::from(word(capture::CAPTURED_AT_HIGH)) << 32;
        let captured_at = (time != u64::MAX).then_some(UnixSeconds(time));
        let serves = word(capture::SERVES_SECONDS);
        let notes = word(capture::NOTES);
        let odd = |what| self.file.malformed(section, first * size_of::<u32>() as u64, what);
        let malformed = || odd("it has notes that this version does not know");
        let capture_notes = CaptureNotes::from_bits(notes as u16).ok_or_else(malformed)?;
        let (span, status) = (word(capture::SPAN_SECONDS), word(capture::STATUS_AND_REDIRECTS));
        if captured_at.is_none() && (serves, span) != (NONE, 0) {
            return Err(odd("a capture without a date serves or lasts for a time"));
        }
        if status >> 16 == 0 && span != 0 {
            return Err(odd("a capture without redirects lasts for a time"));
        }
        let facts = CaptureFacts {
            captured_at,
            span_seconds: span,
            expires_at: captured_at
                .filter(|_| serves != NONE)
                .map(|time| time.after(serves.into())),
            status: status as u16,
            redirects_followed: (status >> 16) as u8,
            capture_notes,
            file_notes: NoteSet::from_bits((notes >> 16) as u16).ok_or_else(malformed)?,
            file_bytes: word(capture::FILE_BYTES),
            input: word(capture::INPUT),
            outage: self.outage_of(index, capture_notes)?,
        };
        Ok(StoredCapture { set: self, facts, others: word(capture::OTHERS) })
    }

    /// Returns the outage of a capture with these notes, if it was made in one.
    fn outage_of(&self, capture: u32, notes: CaptureNotes) -> Result<Option<KnownOutage>, Damage> {
        let section = self.sections.outages;
        let rows = section.bytes() / (outage::WORDS * size_of::<U32>()) as u64;
        let row = |index: u64| -> Result<&[U32], Damage> {
            self.file.items(section, index * outage::WORDS as u64, outage::WORDS as u64)
        };
        let (mut first, mut end) = (0, rows);
        while first < end {
            let middle = first + (end - first) / 2;
            match row(middle)?[outage::CAPTURE].get() < capture {
                true => first = middle + 1,
                false => end = middle,
            }
        }
        let found = if first < rows { row(first)? } else { return Ok(None) };
        if found[outage::CAPTURE].get() != capture {
            return Ok(None);
        }
        let time = |low: usize, high: usize| {
            u64::from(found[low].get()) | u64::from(found[high].get()) << 32
        };
        let copy = time(outage::COPY_LOW, outage::COPY_HIGH);
        Ok(Some(KnownOutage {
            since: UnixSeconds(time(outage::SINCE_LOW, outage::SINCE_HIGH)),
            change: match notes {
                notes if notes.contains(CaptureNote::OutageLastGoodCopy) => {
                    LongOutage::LastGoodCopy
                }
                notes if notes.contains(CaptureNote::OutageUnavailable) => LongOutage::Unavailable,
                _ => LongOutage::NoChange,
            },
            copy_captured_at: (copy != u64::MAX).then_some(UnixSeconds(copy)),
        }))
    }
}
