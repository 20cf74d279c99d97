//! What a set keeps beside what serves, so that merging sets equals compiling their inputs at once.
//!
//! What serves an origin is settled: redirects were followed, confirmations led back to files,
//! outages were judged. A merge settles anew, so it needs the captures as they were read. Most can be
//! worked out from what serves: a file, or an answer without one. A history has the resources of
//! which that is not so, and those that are no origin's robots.txt, which redirects lead to.
//!
//! `FORMAT.md`, section 21, draws it byte by byte.

use hashbrown::HashMap;

use crate::access::UnixSeconds;
use crate::bytes::{push_varint, take_varint};
use crate::capture::CaptureNotes;
use crate::dialect::AccessRules;
use crate::syntax::{NoteSet, RobotsTxt};

use super::super::pool::BlobID;
use super::super::standing::{CaptureFacts, Content, HostStanding, Standing};
use super::hosts::{Host, Slot};
use super::known::{Held, Known, Position};
use super::newest::{Failures, Newest, Target};
use super::place;

/// In the first byte behind a key.
const HTTPS: u8 = 1;
const HAS_FILE: u8 = 2;
const HAS_FAILURES: u8 = 4;

/// What a capture holds.
const NOTHING: u8 = 0;
const LOCATION: u8 = 1;
/// The file that the set serves for this origin.
const SERVED: u8 = 2;
const FILE: u8 = 3;

/// Where a capture stands whose place in its input is not kept: a file before what is newer.
const OF_FILE: Position = Position { piece: 0, index: 0 };
const OF_NEWEST: Position = Position { piece: 0, index: 1 };

/// Bytes of a part: in its pool, or in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartBytes<'p> {
    Pooled(BlobID),
    Kept(&'p [u8]),
}

/// What a part knows of one resource.
#[derive(Debug)]
pub(super) struct Resource<'p> {
    pub(super) newest: Known<PartBytes<'p>>,
    pub(super) file: Option<Known<PartBytes<'p>>>,
    pub(super) failures: Failures,
}

/// The capture that `standing` came from, if nothing else did.
fn plain<'p>(standing: &Standing) -> Known<PartBytes<'p>> {
    let held = match standing.content {
        Content::File { extract, others } => {
            Held::File { extract: PartBytes::Pooled(extract), others: PartBytes::Pooled(others) }
        }
        Content::Access(_) => Held::Nothing,
    };
    let facts = CaptureFacts { outage: None, ..standing.facts };
    Known { facts, position: OF_NEWEST, held }
}

/// Writes a history, resource by resource.
pub(super) struct HistoryWriter<'n> {
    newest: &'n Newest,
    out: Vec<u8>,
    /// The numbers of bytes that were written.
    blobs: HashMap<BlobID, u32, foldhash::fast::RandomState>,
}

impl<'n> HistoryWriter<'n> {
    pub(super) fn new(newest: &'n Newest) -> HistoryWriter<'n> {
        HistoryWriter { newest, out: Vec::new(), blobs: HashMap::default() }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Appends what `host` has, if `standings` do not tell it. Hosts come in the order of their keys.
    pub(super) fn push_host(
        &mut self,
        host: &Host<Box<Target>>,
        standings: [&Option<Standing>; 2],
    ) {
        for (slot, standing) in Slot::BOTH.into_iter().zip(standings) {
            let Some(target) = host.get(slot) else { continue };
            if standing.is_none_or(|standing| !self.is_plain(target, &standing)) {
                self.push(&host.key, slot, target, standing.map(|standing| standing.content));
            }
        }
    }

    fn is_plain(&self, target: &Target, standing: &Standing) -> bool {
        let plain = plain(standing);
        let Target { newest, file, failures } = target;
        file.is_none()
            && plain.facts == newest.facts
            && plain.held == newest.held.map(|&blob| PartBytes::Pooled(blob))
            && *failures == Failures::of(&plain, self.newest.rules)
    }

    fn push(&mut self, key: &[u8], slot: Slot, target: &Target, served: Option<Content>) {
        let Target { newest, file, failures } = target;
        let has_failures = *failures != Failures::of(newest, self.newest.rules);
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        push_varint(&mut self.out, key.len() as u32);
        self.out.extend_from_slice(key);
        self.out.push(
            flag(HTTPS, slot == Slot::Https)
                | flag(HAS_FILE, file.is_some())
                | flag(HAS_FAILURES, has_failures),
        );
        self.push_capture(newest, served);
        if let Some(file) = file {
            self.push_capture(file, served);
        }
        if has_failures {
            push_time(&mut self.out, failures.answered_at);
            push_varint(&mut self.out, failures.dates.len() as u32);
            failures.dates.iter().for_each(|&date| push_time(&mut self.out, Some(date)));
        }
    }

    fn push_capture(&mut self, known: &Known<BlobID>, served: Option<Content>) {
        let Known { facts, held, .. } = known;
        let out = &mut self.out;
        push_time(out, facts.captured_at);
        push_varint(out, facts.serves_seconds().map_or(0, |seconds| seconds + 1));
        push_varint(out, facts.status.into());
        out.push(facts.redirects_followed);
        push_varint(out, facts.capture_notes.bits().into());
        push_varint(out, facts.file_notes.bits().into());
        push_varint(out, facts.file_bytes);
        push_varint(out, facts.input);
        match *held {
            Held::Nothing => out.push(NOTHING),
            Held::Location(location) => {
                out.push(LOCATION);
                self.push_blob(location);
            }
            Held::File { extract, others } if served == Some(Content::File { extract, others }) => {
                out.push(SERVED);
            }
            Held::File { extract, others } => {
                out.push(FILE);
                self.push_blob(extract);
                self.push_blob(others);
            }
        }
    }

    fn push_blob(&mut self, blob: BlobID) {
        let next = self.blobs.len() as u32;
        let number = *self.blobs.entry(blob).or_insert(next);
        push_varint(&mut self.out, number);
        if number == next {
            let bytes = self.newest.pool.get(blob);
            push_varint(&mut self.out, bytes.len() as u32);
            self.out.extend_from_slice(bytes);
        }
    }
}

fn push_time(out: &mut Vec<u8>, time: Option<UnixSeconds>) {
    let number = time.map_or(0, |time| time.0.saturating_add(1));
    push_varint(out, (number >> 32) as u32);
    push_varint(out, number as u32);
}

/// Why bytes are no history of a set.
pub(super) type Problem = &'static str;

const SENSELESS: Problem = "it makes no sense";

/// Looks at all of `history`, which is that of a set with these hosts and so many inputs, if it tells
/// of any.
///
/// # Errors
///
/// If [`resources`] could not be taken from it.
pub(in crate::set) fn check(
    hosts: &[HostStanding],
    history: &[u8],
    inputs: Option<usize>,
    rules: &AccessRules,
) -> Result<(), Problem> {
    let mut is_told = true;
    resources(hosts, history, rules, |_, _, Resource { newest, file, .. }| {
        let mut captures = [Some(&newest), file.as_ref()].into_iter().flatten();
        is_told &=
            captures.all(|known| inputs.is_none_or(|inputs| (known.facts.input as usize) < inputs));
    })?;
    if is_told { Ok(()) } else { Err("a capture is of an input that the set does not tell of") }
}

/// Hands out what a part with these hosts and this history knows of each resource.
///
/// # Errors
///
/// If the history is not that of the hosts. What was handed out then is not all.
pub(super) fn resources<'p>(
    hosts: &'p [HostStanding],
    history: &'p [u8],
    rules: &AccessRules,
    mut take: impl FnMut(&'p [u8], Slot, Resource<'p>),
) -> Result<(), Problem> {
    let mut reader = Reader { rest: history, blobs: Vec::new(), rules, last: None };
    let mut next = reader.next()?;
    let mut take = |key, slot, resource: Resource<'p>| {
        let is_consistent = |known: &Known<_>| known.is_consistent(rules);
        if !is_consistent(&resource.newest) || !resource.file.as_ref().is_none_or(is_consistent) {
            return Err("an answer has what it cannot have");
        }
        take(key, slot, resource);
        Ok(())
    };
    let no_origin = |kept: KeptResource<'p>,
                     take: &mut dyn FnMut(_, _, _) -> Result<(), Problem>| {
        let mut key = Vec::new();
        let place = place::of_url(kept.key, &mut Vec::new(), &mut key);
        let is_filed = place.is_ok_and(|place| place.slot == kept.slot) && key == kept.key;
        if !is_filed || place::is_origin(kept.key) {
            return Err("it tells of what is neither an origin of the set nor another resource");
        }
        take(kept.key, kept.slot, kept.resource(None)?)
    };
    for host in hosts {
        for (slot, standing) in Slot::BOTH.into_iter().zip([&host.http, &host.https]) {
            let place = (&*host.key, slot as u8);
            while let Some(kept) = next.take_if(|kept| (kept.key, kept.slot as u8) < place) {
                no_origin(kept, &mut take)?;
                next = reader.next()?;
            }
            let Some(standing) = standing else { continue };
            match next.take_if(|kept| (kept.key, kept.slot as u8) == place) {
                Some(kept) => {
                    take(&host.key, slot, kept.resource(Some(standing.content))?)?;
                    next = reader.next()?;
                }
                None => {
                    let newest = plain(standing);
                    let failures = Failures::of(&newest, rules);
                    take(&host.key, slot, Resource { newest, file: None, failures })?;
                }
            }
        }
    }
    while let Some(kept) = next {
        no_origin(kept, &mut take)?;
        next = reader.next()?;
    }
    Ok(())
}

/// A resource of a history. What a capture holds is nothing where it is what the set serves.
struct KeptResource<'p> {
    key: &'p [u8],
    slot: Slot,
    newest: KeptCapture<'p>,
    file: Option<KeptCapture<'p>>,
    failures: Failures,
}

struct KeptCapture<'p> {
    known: Known<PartBytes<'p>>,
    is_served: bool,
}

impl<'p> KeptResource<'p> {
    fn resource(self, served: Option<Content>) -> Result<Resource<'p>, Problem> {
        let known = |kept: KeptCapture<'p>| {
            let KeptCapture { mut known, is_served } = kept;
            if is_served {
                let Some(Content::File { extract, others }) = served else {
                    return Err("a capture has the file of an origin that has none");
                };
                let (extract, others) = (PartBytes::Pooled(extract), PartBytes::Pooled(others));
                known.held = Held::File { extract, others };
            }
            Ok(known)
        };
        let newest = known(self.newest)?;
        let file = self.file.map(known).transpose()?;
        if file.as_ref().is_some_and(|file| !file.is_file() || newest.is_file()) {
            return Err("a resource has two newest captures");
        }
        Ok(Resource { newest, file, failures: self.failures })
    }
}

/// Reads a history. Any bytes may come.
struct Reader<'p, 'r> {
    rest: &'p [u8],
    blobs: Vec<&'p [u8]>,
    rules: &'r AccessRules,
    /// The key and the slot before.
    last: Option<(&'p [u8], u8)>,
}

impl<'p> Reader<'p, '_> {
    /// The next resource; `None` at the end.
    fn next(&mut self) -> Result<Option<KeptResource<'p>>, Problem> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let kept = self.resource().ok_or(SENSELESS)?;
        let place = (kept.key, kept.slot as u8);
        if self.last.replace(place) >= Some(place) {
            return Err("it is not in order");
        }
        Ok(Some(kept))
    }

    fn resource(&mut self) -> Option<KeptResource<'p>> {
        let bytes = self.number()?;
        let key = self.bytes(bytes)?;
        let flags = self.byte()?;
        if flags & !(HTTPS | HAS_FILE | HAS_FAILURES) != 0 {
            return None;
        }
        let slot = if flags & HTTPS == 0 { Slot::Http } else { Slot::Https };
        let newest = self.capture(OF_NEWEST)?;
        let file = match flags & HAS_FILE {
            0 => None,
            _ => Some(self.capture(OF_FILE)?),
        };
        let failures = match flags & HAS_FAILURES {
            0 => Failures::of(&newest.known, self.rules),
            _ => self.failures()?,
        };
        Some(KeptResource { key, slot, newest, file, failures })
    }

    fn failures(&mut self) -> Option<Failures> {
        let mut failures = Failures { answered_at: self.time()?, ..Failures::default() };
        let mut last = failures.answered_at;
        for _ in 0..self.number()? {
            let date = Some(self.time()??);
            if date <= last {
                return None;
            }
            failures.dates.extend(date);
            last = date;
        }
        Some(failures)
    }

    fn capture(&mut self, position: Position) -> Option<KeptCapture<'p>> {
        let captured_at = self.time()?;
        let serves = self.number()?.checked_sub(1);
        let facts = CaptureFacts {
            captured_at,
            expires_at: match (captured_at, serves) {
                (Some(at), Some(seconds)) => Some(at.after(seconds.into())),
                (_, None) => None,
                (None, Some(_)) => return None,
            },
            status: u16::try_from(self.number()?).ok()?,
            redirects_followed: self.byte()?,
            capture_notes: CaptureNotes::from_bits(u16::try_from(self.number()?).ok()?)?,
            file_notes: NoteSet::from_bits(u16::try_from(self.number()?).ok()?)?,
            file_bytes: self.number()?,
            input: self.number()?,
            outage: None,
        };
        let held = self.byte()?;
        let known = |held| Known { facts, position, held };
        Some(match held {
            NOTHING => KeptCapture { known: known(Held::Nothing), is_served: false },
            SERVED => KeptCapture { known: known(Held::Nothing), is_served: true },
            LOCATION => {
                let location = PartBytes::Kept(self.blob()?);
                KeptCapture { known: known(Held::Location(location)), is_served: false }
            }
            FILE => {
                let (extract, others) = (self.blob()?, self.blob()?);
                RobotsTxt::read_extract(extract)?;
                let [extract, others] = [extract, others].map(PartBytes::Kept);
                KeptCapture { known: known(Held::File { extract, others }), is_served: false }
            }
            _ => return None,
        })
    }

    fn blob(&mut self) -> Option<&'p [u8]> {
        let number = self.number()? as usize;
        if number == self.blobs.len() {
            let bytes = self.number()?;
            let blob = self.bytes(bytes)?;
            self.blobs.push(blob);
        }
        self.blobs.get(number).copied()
    }

    fn time(&mut self) -> Option<Option<UnixSeconds>> {
        let number = u64::from(self.number()?) << 32 | u64::from(self.number()?);
        Some(number.checked_sub(1).map(UnixSeconds))
    }

    fn number(&mut self) -> Option<u32> {
        take_varint(&mut self.rest)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    fn bytes(&mut self, count: u32) -> Option<&'p [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count as usize)?;
        self.rest = rest;
        Some(bytes)
    }
}
