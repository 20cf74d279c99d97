//! Captures: how each policy came to be known.

use crate::access::UnixSeconds;
use crate::capture::CaptureNotes;
use crate::syntax::NoteSet;

use super::super::CaptureFacts;
use super::super::file::Damage;
use super::super::layout::{NONE, capture};
use super::StoredSet;

/// How a policy came to be known.
#[derive(Clone, Copy, Debug)]
pub struct StoredCapture<'s> {
    pub(super) set: &'s StoredSet,
    /// What is known of it.
    pub facts: CaptureFacts,
    pub(super) others: u32,
}

impl StoredCapture<'_> {
    /// Where the records of its file that decide nothing stand; nothing if it has none. Equal lists
    /// stand at the same place.
    pub fn others(&self) -> Option<u32> {
        (self.others != NONE).then_some(self.others)
    }
}

impl StoredSet {
    pub(super) fn capture_at(&self, index: u32) -> Result<StoredCapture<'_>, Damage> {
        let section = self.sections.captures;
        let first = u64::from(index) * capture::WORDS as u64;
        let words: &[zerocopy::little_endian::U32] =
            self.file.items(section, first, capture::WORDS as u64)?;
        let word = |at: usize| words[at].get();
        let time = u64::from(word(capture::CAPTURED_AT_LOW))
            | u64::from(word(capture::CAPTURED_AT_HIGH)) << 32;
        let captured_at = (time != u64::MAX).then_some(UnixSeconds(time));
        let serves = word(capture::SERVES_SECONDS);
        let notes = word(capture::NOTES);
        let malformed = || {
            let octet = first * size_of::<u32>() as u64;
            self.file.malformed(section, octet, "it has notes that this version does not know")
        };
        let facts = CaptureFacts {
            captured_at,
            expires_at: captured_at
                .filter(|_| serves != NONE)
                .map(|time| time.after(serves.into())),
            status: word(capture::STATUS_AND_REDIRECTS) as u16,
            redirects_followed: (word(capture::STATUS_AND_REDIRECTS) >> 16) as u8,
            capture_notes: CaptureNotes::from_bits(notes as u16).ok_or_else(malformed)?,
            file_notes: NoteSet::from_bits((notes >> 16) as u16).ok_or_else(malformed)?,
            file_octets: word(capture::FILE_OCTETS),
            input: word(capture::INPUT),
        };
        Ok(StoredCapture { set: self, facts, others: word(capture::OTHERS) })
    }
}
