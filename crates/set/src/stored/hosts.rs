//! Hosts: lookup by key, and iteration; and when and how each of their policies was captured.

use std::mem::offset_of;

use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use portcullis_dialect::limits::HOST_BYTES_MAX;
use portcullis_engine::bytes::places_of;
use portcullis_engine::vectors::prefetch;
use portcullis_robots::access::{CaptureNote, CaptureNotes, KnownOutage, LongOutage, UnixSeconds};
use portcullis_robots::syntax::NoteSet;

use super::super::file::{Damage, Section};
use super::super::layout::{
    CaptureRow, HostLine, NONE, OutageRow, PADDED_BYTES, SlotLine, is_full, line_of,
    partition_point, position, search_of,
};
use super::{PolicyNumber, PolicySet, RecordPolicy};
use crate::layout::EVERY_HOST;
use crate::limits::SET_HOST_RUN_LINES_MAX;
use crate::stored::CaptureFacts;

/// The field of a host that a scheme uses. Nearly all policies apply to http and https, so each of
/// them has a field; any other scheme is part of the host's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// http.
    Http,
    /// https.
    Https,
    /// The scheme is part of the key.
    Other,
}

/// Returns the field that a scheme uses.
#[inline]
pub fn place(scheme: &[u8]) -> Place {
    let (Some(first), Some(last)) = (scheme.first_chunk(), scheme.last()) else {
        return Place::Other;
    };
    // No branch between http and https: it would be mispredicted. Letters in upper case lack one bit.
    let is_http = u32::from_le_bytes(*first) | 0x2020_2020 == u32::from_le_bytes(*b"http");
    let https = scheme.len() == 5;
    let is_whole = scheme.len() == 4 || https & (last | 0x20 == b's');
    match (is_http & is_whole, https) {
        (false, _) => Place::Other,
        (true, false) => Place::Http,
        (true, true) => Place::Https,
    }
}

/// Returns the key of an origin with any other scheme. Hosts contain no `/`, so the key is
/// unambiguous.
pub fn key_with_scheme(scheme: &[u8], key: &[u8]) -> Vec<u8> {
    [&scheme.to_ascii_lowercase(), &b"://"[..], key].concat()
}

/// A host of a set.
#[derive(Clone, Copy, Debug)]
pub struct StoredHost<'s> {
    pub(super) set: &'s PolicySet,
    key: &'s [u8],
    policies: [RecordPolicy; 2],
    captures: [U32; 2],
}

/// Where the search for a key begins, and the key, if it is short.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    line: u64,
    tag: u32,
    key_bytes: u32,
    /// With zeros after it.
    key: [u8; PADDED_BYTES],
}

impl Search {
    /// Returns whether the search has the key, so that [`HostTable::policy`] can compare it.
    #[inline(always)]
    pub(crate) fn is_whole(&self) -> bool {
        self.key_bytes as usize <= PADDED_BYTES
    }
}

/// A host that may have a key, as a slot of the host table has it: its position + 1, or 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidate(u32);

impl Candidate {
    const NONE: Candidate = Candidate(0);

    pub(crate) fn position(self) -> Option<u32> {
        self.0.checked_sub(1)
    }
}

/// The maximum length of a key, in bytes: a host, a port, and a scheme before it.
const KEY_BYTES_MAX: usize = HOST_BYTES_MAX + 64 * 1024;

impl PolicySet {
    /// Returns the host with this key (see [`host_key`](portcullis_robots::url::host_key)).
    pub fn host(&self, key: &[u8]) -> Result<Option<StoredHost<'_>>, Damage> {
        let position = self.position_of(key)?;
        position.map(|position| self.host_at(position)).transpose()
    }

    /// Returns the position of the host with this key.
    pub(crate) fn position_of(&self, key: &[u8]) -> Result<Option<u32>, Damage> {
        let (mut line, tag) = line_of(key, self.slot_lines, self.host_seed);
        for _ in 0..=SET_HOST_RUN_LINES_MAX {
            let slots = self.file.items::<SlotLine>(self.sections.slots, line, 1)?[0];
            for candidate in candidates(&slots, tag) {
                // A free slot has the tag 0, and so have the slots after it.
                let Some(position) = candidate.position() else { return Ok(None) };
                if self.host_at(position)?.key == key {
                    return Ok(Some(position));
                }
            }
            if !is_full(&slots) {
                return Ok(None);
            }
            line = self.line_after(line);
        }
        Err(self.endless_run())
    }

    /// Returns the line where a search continues.
    #[inline]
    fn line_after(&self, line: u64) -> u64 {
        if line + 1 == self.slot_lines { 0 } else { line + 1 }
    }

    #[cold]
    fn endless_run(&self) -> Damage {
        let what = "more lines are full in a row than a search may read";
        self.malformed(self.sections.slots, 0, what)
    }

    /// Returns the policy of an origin.
    pub fn policy_of(&self, scheme: &[u8], key: &[u8]) -> Result<Option<PolicyNumber>, Damage> {
        let host = self.host_of(scheme, key)?;
        Ok(host.and_then(|host| host.policy(place(scheme) == Place::Https)))
    }

    /// Returns the policy of an origin, and its capture.
    pub fn origin(
        &self,
        scheme: &[u8],
        key: &[u8],
    ) -> Result<Option<(PolicyNumber, StoredCapture<'_>)>, Damage> {
        let Some(host) = self.host_of(scheme, key)? else { return Ok(None) };
        let https = place(scheme) == Place::Https;
        let Some(policy) = host.policy(https) else { return Ok(None) };
        Ok(Some((policy, self.capture_at(host.capture_of_policy(https)?)?)))
    }

    pub(super) fn host_of(
        &self,
        scheme: &[u8],
        key: &[u8],
    ) -> Result<Option<StoredHost<'_>>, Damage> {
        if self.is_universal {
            return self.host(EVERY_HOST);
        }
        match place(scheme) {
            Place::Other => self.host(&key_with_scheme(scheme, key)),
            Place::Http | Place::Https => self.host(key),
        }
    }

    /// Returns the damage to report if data about a host is missing.
    #[cold]
    pub fn malformed_host(&self, what: &'static str) -> Damage {
        self.malformed(self.sections.hosts, 0, what)
    }

    /// Returns the host at a position.
    #[inline]
    pub fn host_at(&self, position: u32) -> Result<StoredHost<'_>, Damage> {
        let hosts = self.sections.hosts;
        let line = self.host_line(position)?;
        let start = u64::from(position) * size_of::<HostLine>() as u64;
        let key = match line.key_bytes.get() as usize {
            bytes @ ..=HostLine::KEY_BYTES => &line.key[..bytes],
            bytes @ ..=KEY_BYTES_MAX => {
                let start = start + offset_of!(HostLine, key) as u64;
                self.file.bytes(hosts, start, bytes as u64)?
            }
            _ => return Err(self.file.malformed(hosts, start, "its key is too long")),
        };
        let policies = line.policies.map(|policy| RecordPolicy(policy.get()));
        Ok(StoredHost { set: self, key, policies, captures: line.captures })
    }

    #[inline]
    fn host_line(&self, position: u32) -> Result<&HostLine, Damage> {
        Ok(&self.file.items::<HostLine>(self.sections.hosts, position.into(), 1)?[0])
    }

    /// Returns the number of the capture of an origin that has a policy, given the position of its host.
    #[inline]
    pub(crate) fn capture_of(&self, host: Option<u32>, https: bool) -> Result<u32, Damage> {
        let line = host.map(|host| self.host_line(host)).transpose()?;
        self.known_capture(line.and_then(|line| position(line.captures[usize::from(https)])))
    }

    #[inline]
    fn known_capture(&self, capture: Option<u32>) -> Result<u32, Damage> {
        capture.ok_or_else(|| self.malformed_host("an origin has a policy and no capture"))
    }

    /// Returns all hosts, in the order of their keys. Iteration ends after damage.
    pub fn hosts<'s>(&'s self) -> impl Iterator<Item = Result<StoredHost<'s>, Damage>> + 's {
        let end = self.sections.hosts.bytes / size_of::<HostLine>() as u64;
        let mut next = Some(0_u32);
        let mut last: Option<&[u8]> = None;
        std::iter::from_fn(move || {
            let position = next.filter(|&position| u64::from(position) < end)?;
            let in_order = |host: StoredHost<'s>| match last.replace(host.key) {
                Some(last) if last >= host.key => {
                    let start = u64::from(position) * size_of::<HostLine>() as u64;
                    Err(self.file.malformed(self.sections.hosts, start, "hosts are not in order"))
                }
                _ => Ok(host),
            };
            let host = self.host_at(position).and_then(in_order);
            next = host
                .as_ref()
                .ok()
                .and_then(|host| position.checked_add(HostLine::lines(host.key.len()) as u32));
            Some(host)
        })
    }
}

/// Returns the hosts in the slots of a line with this tag.
#[inline(always)]
fn candidates(line: &SlotLine, tag: u32) -> impl Iterator<Item = Candidate> {
    let (tags, positions) = line.split_first_chunk().expect("a line has both");
    // All tags at once: the end of a loop over them would be mispredicted.
    let mut places = places_of(tag, tags);
    std::iter::from_fn(move || {
        let slot = (places != 0).then(|| places.trailing_zeros() as usize)?;
        places &= places - 1;
        Some(Candidate(positions[slot].get()))
    })
}

/// The host table and the hosts of a set, for many searches: each step runs over all of them before
/// the next one starts, so that the loads overlap.
pub(crate) struct HostTable<'s> {
    set: &'s PolicySet,
    /// The lines of the table and of hosts, compared or not.
    lines: &'s [SlotLine],
    hosts: &'s [HostLine],
    /// Whether all lines have been compared, and all hosts.
    has_lines: bool,
    has_hosts: bool,
}

impl PolicySet {
    /// Returns the host table.
    ///
    /// # Errors
    ///
    /// If the set is damaged where it is read: much of a table that is used is read whole.
    #[inline]
    pub(crate) fn host_table(&self) -> Result<HostTable<'_>, Damage> {
        let (lines, hosts) = (self.sections.slots, self.sections.hosts);
        Ok(HostTable {
            set: self,
            lines: self.file.uncompared_items(lines),
            hosts: self.file.uncompared_items(hosts),
            has_lines: self.file.is_all_compared(lines)?,
            has_hosts: self.file.is_all_compared(hosts)?,
        })
    }
}

impl<'s> HostTable<'s> {
    /// Begins the search for a key, and prefetches its line. `search` is a new one.
    #[inline(always)]
    pub(crate) fn begin(&self, search: &mut Search, key: &[u8]) {
        let (lines, seed) = (self.set.slot_lines, self.set.host_seed);
        let (line, tag) = search_of(key, lines, seed, &mut search.key);
        if let Some(line) = self.lines.get(line as usize) {
            prefetch(line.as_bytes());
        }
        (search.line, search.tag, search.key_bytes) = (line, tag, key.len() as u32);
    }

    /// Returns the first host with the tag of a search, and prefetches it.
    #[inline(always)]
    pub(crate) fn candidate(&self, search: &Search) -> Result<Candidate, Damage> {
        let slots = self.line(search.line)?;
        let candidate = match candidates(slots, search.tag).next() {
            Some(candidate) => candidate,
            None if is_full(slots) => self.candidate_after(search)?,
            None => Candidate::NONE,
        };
        if let Some(host) = self.hosts.get(candidate.0.wrapping_sub(1) as usize) {
            prefetch(host.as_bytes());
        }
        Ok(candidate)
    }

    /// Goes on after the first line of a search, which is full.
    #[cold]
    #[inline(never)]
    fn candidate_after(&self, search: &Search) -> Result<Candidate, Damage> {
        let mut line = search.line;
        for _ in 0..SET_HOST_RUN_LINES_MAX {
            line = self.set.line_after(line);
            let slots = self.line(line)?;
            if let Some(candidate) = candidates(slots, search.tag).next() {
                return Ok(candidate);
            }
            if !is_full(slots) {
                return Ok(Candidate::NONE);
            }
        }
        Err(self.set.endless_run())
    }

    #[inline(always)]
    fn line(&self, line: u64) -> Result<&'s SlotLine, Damage> {
        match self.lines.get(line as usize) {
            Some(slots)
                if self.has_lines
                    || self.is_compared::<SlotLine>(self.set.sections.slots, line) =>
            {
                Ok(slots)
            }
            _ => self.line_to_compare(line),
        }
    }

    /// Returns whether an item of an array that is a section has been compared.
    #[inline(always)]
    fn is_compared<T>(&self, section: Section, index: u64) -> bool {
        self.set.file.is_compared(section, index * size_of::<T>() as u64, size_of::<T>())
    }

    #[cold]
    #[inline(never)]
    fn line_to_compare(&self, line: u64) -> Result<&'s SlotLine, Damage> {
        Ok(&self.set.file.items(self.set.sections.slots, line, 1)?[0])
    }

    /// Returns the policy for https, or for http, of the host of a search that has the key. `None` if the candidate is another host, or in a block that was not compared:
    /// [`HostTable::search_again`] finds the host then.
    #[inline(always)]
    pub(crate) fn policy(
        &self,
        candidate: Candidate,
        search: &Search,
        https: bool,
    ) -> Option<RecordPolicy> {
        if candidate == Candidate::NONE {
            return Some(RecordPolicy::UNKNOWN);
        }
        let number = candidate.0 as usize - 1;
        let host = self.hosts.get(number)?;
        let is_it = host.key_bytes.get() == search.key_bytes
            && host.key.first_chunk() == Some(&search.key)
            && (self.has_hosts
                || self.is_compared::<HostLine>(self.set.sections.hosts, number as u64));
        is_it.then(|| RecordPolicy(host.policies[usize::from(https)].get()))
    }

    /// Returns the policies for http and https of the host with a key. `candidate` is the host then.
    #[cold]
    #[inline(never)]
    pub(crate) fn search_again(
        &self,
        candidate: &mut Candidate,
        key: &[u8],
    ) -> Result<[RecordPolicy; 2], Damage> {
        let Some(position) = self.set.position_of(key)? else {
            *candidate = Candidate::NONE;
            return Ok([RecordPolicy::UNKNOWN; 2]);
        };
        *candidate = Candidate(position + 1);
        Ok(self.set.host_at(position)?.policies)
    }
}

impl<'s> StoredHost<'s> {
    /// Returns the key: the host, its port unless it is the default, and `scheme://` before it for
    /// schemes other than http and https.
    pub fn key(&self) -> &'s [u8] {
        self.key
    }

    /// Returns the policy for https, or for http (or the only scheme of the key).
    #[inline]
    pub fn policy(&self, https: bool) -> Option<PolicyNumber> {
        self.policies[usize::from(https)].number()
    }

    /// Returns the number of the capture of a policy that the host has.
    pub(super) fn capture_of_policy(&self, https: bool) -> Result<u32, Damage> {
        self.set.known_capture(position(self.captures[usize::from(https)]))
    }

    /// Returns the capture of that policy.
    pub fn capture(&self, https: bool) -> Result<Option<StoredCapture<'s>>, Damage> {
        let index = position(self.captures[usize::from(https)]);
        index.map(|index| self.set.capture_at(index)).transpose()
    }

    /// Returns the schemes with a policy: `false` for http or the only scheme of the key, `true`
    /// for https. A policy that applies to every URL is counted as the policy of one origin.
    pub fn schemes(&self) -> impl Iterator<Item = bool> + use<'s> {
        let policies = self.policies;
        let most = if self.set.is_universal { 1 } else { 2 };
        let has_policy = move |https: &bool| policies[usize::from(*https)].number().is_some();
        [false, true].into_iter().filter(has_policy).take(most)
    }

    /// Returns the origin as text.
    pub fn origin(&self, https: bool) -> Vec<u8> {
        let has_scheme = self.key.windows(3).any(|window| window == b"://");
        match (has_scheme, https) {
            (true, _) => self.key.to_vec(),
            (false, false) => [b"http://", self.key].concat(),
            (false, true) => [b"https://", self.key].concat(),
        }
    }

    /// Returns whether http and https share one capture.
    pub fn is_one_capture(&self) -> bool {
        self.captures[0] == self.captures[1]
    }
}

/// Returns stored notes; `None` if this version does not know one of them.
pub(super) fn notes_of(capture: U16, file: U16) -> Option<(CaptureNotes, NoteSet)> {
    CaptureNotes::from_bits(capture.get()).zip(NoteSet::from_bits(file.get()))
}

/// When and how a policy was captured.
#[derive(Clone, Copy, Debug)]
pub struct StoredCapture<'s> {
    pub(crate) set: &'s PolicySet,
    /// The stored facts.
    pub facts: CaptureFacts,
    /// The position of the other records of the file, if it has any.
    pub others: Option<u32>,
}

impl PolicySet {
    /// Returns the capture of an origin.
    pub(crate) fn capture_at(&self, index: u32) -> Result<StoredCapture<'_>, Damage> {
        let (section, outages) = (self.sections.captures, self.sections.outages);
        let row = &self.file.items::<CaptureRow>(section, index.into(), 1)?[0];
        let captured_at = row.captured_at().map(UnixSeconds);
        let (serves, span) = (row.serves_seconds.get(), row.span_seconds.get());
        let start = u64::from(index) * size_of::<CaptureRow>() as u64;
        let odd = |what| self.file.malformed(section, start, what);
        let malformed = || odd("it has notes that this version does not know");
        let notes = notes_of(row.capture_notes, row.file_notes);
        let (capture_notes, file_notes) = notes.ok_or_else(malformed)?;
        if captured_at.is_none() && (serves, span) != (NONE, 0) {
            return Err(odd("a capture without a date serves or lasts for a time"));
        }
        if row.redirects == 0 && span != 0 {
            return Err(odd("a capture without redirects lasts for a time"));
        }
        let facts = CaptureFacts {
            captured_at,
            span_seconds: span,
            expires_at: captured_at
                .filter(|_| serves != NONE)
                .map(|time| time.after(serves.into())),
            status: row.status.get(),
            redirects_followed: row.redirects,
            capture_notes,
            file_notes,
            file_bytes: row.file_bytes.get(),
            input: row.input.get(),
            outage: self.outage_of(outages, index, capture_notes)?,
        };
        Ok(StoredCapture { set: self, facts, others: position(row.others) })
    }

    /// Returns the outage of a capture with these notes, if it was made in one. The rows are sorted by
    /// the numbers of captures.
    fn outage_of(
        &self,
        section: Section,
        capture: u32,
        notes: CaptureNotes,
    ) -> Result<Option<KnownOutage>, Damage> {
        let rows = section.bytes as usize / size_of::<OutageRow>();
        let row = |index: usize| {
            Ok::<_, Damage>(&self.file.items::<OutageRow>(section, index as u64, 1)?[0])
        };
        let first = partition_point(rows, |index| Ok(row(index)?.capture.get() < capture))?;
        let found = if first < rows { Some(row(first)?) } else { None };
        let change = if notes.contains(CaptureNote::OutageLastGoodCopy) {
            LongOutage::LastGoodCopy
        } else if notes.contains(CaptureNote::OutageUnavailable) {
            LongOutage::Unavailable
        } else {
            LongOutage::NoChange
        };
        Ok(found.filter(|row| row.capture.get() == capture).map(|found| KnownOutage {
            since: UnixSeconds(found.since.get()),
            change,
            copy_captured_at: Some(found.copy.get()).filter(|&it| it != u64::MAX).map(UnixSeconds),
        }))
    }
}
