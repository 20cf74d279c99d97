//! The hosts that a thread found lately, by the beginnings of their URLs: most changes of host in a list go back to
//! one of them.
//!
//! A table of lines, one for each hash of a beginning; the last host takes the line. Nothing in it goes stale: a
//! set does not change while it is open, and what is here was compared with its checksums when it was found.

use portcullis_robots::url::{UrlBeginning, UrlHead};

use crate::limits::{KNOWN_HOSTS, KNOWN_HOSTS_RECORDS_MIN};
use crate::stored::{Candidate, RecordPolicy};

/// A host of the set, as far as its URLs are asked about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FoundHost {
    pub policy: RecordPolicy,
    pub candidate: Candidate,
}

/// A host, as its URLs begin.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct KnownHost {
    /// Zeros if the line is free; no URL begins so.
    beginning: UrlBeginning,
    /// The head of its URLs.
    head: UrlHead,
    found: FoundHost,
}
const _: () = assert!(size_of::<KnownHost>() == 64);

/// The hosts of a thread. A new table has no lines, and finds none.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHosts(Box<[KnownHost]>);

impl KnownHosts {
    /// Makes the lines for a block of so many records, unless they are there or it is too small to gain by them.
    pub fn open(&mut self, records: usize) {
        if self.0.is_empty() && records >= KNOWN_HOSTS_RECORDS_MIN {
            let (beginning, head) = ([0; size_of::<UrlBeginning>()], UrlHead::NONE);
            let free = KnownHost { beginning, head, found: FoundHost::default() };
            self.0 = vec![free; KNOWN_HOSTS].into();
        }
    }

    /// Returns the head of the URLs that begin so, and their host, if their line has it.
    #[inline(always)]
    pub fn find(&self, beginning: &UrlBeginning) -> Option<(UrlHead, FoundHost)> {
        let line = self.0.get(line_of(beginning))?;
        (line.beginning == *beginning).then_some((line.head, line.found))
    }

    /// Keeps a host in its line.
    #[inline]
    pub fn keep(&mut self, beginning: &UrlBeginning, head: UrlHead, found: FoundHost) {
        if let Some(line) = self.0.get_mut(line_of(beginning)) {
            *line = KnownHost { beginning: *beginning, head, found };
        }
    }
}

/// Returns the line of a beginning. Anybody may make beginnings that share one: they are looked up in the set.
#[inline(always)]
fn line_of(beginning: &UrlBeginning) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    // After `http://`. Nearly all hosts end there.
    let (words, _) = beginning[7..].as_chunks();
    let word = |place: usize, turn| u64::from_le_bytes(words[place]).rotate_left(turn);
    let hash = (word(0, 0) ^ word(1, 23) ^ word(2, 46)).wrapping_mul(FACTOR);
    (hash >> (u64::BITS - KNOWN_HOSTS.ilog2())) as usize
}
