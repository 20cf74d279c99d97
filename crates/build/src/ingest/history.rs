//! Merging: joins separate ingests into the result of ingesting all captures at once.
//!
//! A set stores the settled standing of an origin: redirects were followed, confirmations were
//! resolved to files, outages were judged. A merge settles again, so it needs the captures as they
//! were read. Most of them follow from the standing: a file, or an answer without one. The
//! *history* of a set stores the remaining resources, and the targets of redirects that are not the
//! robots.txt of an origin. `FORMAT.md`, section 21, defines it byte by byte.
//!
//! If all captures were kept, they follow from an origin's timeline in the same way, or are all in
//! the history. A part without timelines that is merged with one that has them counts as the few
//! captures that it has.
//!
//! Cost of a merge: one look-up per resource, and one copy of each distinct blob of a part. A history
//! may be any bytes: [`check`] finds every problem before a merge reads it.

use std::cell::OnceCell;
use std::convert::Infallible;

use hashbrown::{HashMap, HashSet};

use portcullis_dialect::dialect::{AccessRules, Dialect};
use portcullis_engine::bytes::push_varint;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool};
use portcullis_robots::access::UnixSeconds;
use portcullis_set::lists::{ListReader, RecordKind, Role, read_extract};
use portcullis_set::stored::CaptureFacts;

use super::newest::{Failures, Held, Known, Position, Target, Targets};
use super::place::{self, Place, Slot};
use super::tracks::{Kept, Track};
use crate::codec::{Fields, push_answer, push_bytes, push_time};
use crate::hosts::Hosts;
use crate::pool::{BlobID, BlobPool};
use crate::standing::{Content, HostStanding, Moment, Standing};

/// Flags in the byte after a key.
const HTTPS: u8 = 1;
const HAS_FILE: u8 = 2;
const HAS_FAILURES: u8 = 4;
/// All captures follow, oldest first, and nothing else.
const HAS_ALL: u8 = 8;

/// The kinds of content of a capture.
const NOTHING: u8 = 0;
const LOCATION: u8 = 1;
/// The file that the set serves for this origin.
const SERVED: u8 = 2;
const FILE: u8 = 3;
/// The file that the set serves at a moment of this origin.
const SERVED_AT: u8 = 4;

/// Positions that replace those in the input, which are not stored: a file is older than the newest
/// capture.
const OF_FILE: Position = Position { piece: 0, index: 0 };
const OF_NEWEST: Position = Position { piece: 0, index: 1 };

/// The bytes of a capture in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartBytes<'p> {
    /// In the pool.
    Pooled(BlobID),
    /// In the history, with this number.
    Kept { number: u32, bytes: &'p [u8] },
    /// Those of the file that the set serves, or served at the moment with this position. Replaced
    /// as soon as that file is looked up.
    Served(Option<u32>),
}

/// The captures of one resource in a part.
#[derive(Debug)]
pub struct Resource<'p> {
    /// All other captures, oldest first, if the part has all.
    pub earlier: Vec<Known<PartBytes<'p>>>,
    pub newest: Known<PartBytes<'p>>,
    pub file: Option<Known<PartBytes<'p>>>,
    pub failures: Failures,
}

fn pooled<'p>(content: Content) -> Held<PartBytes<'p>> {
    match content {
        Content::File { extract, others, has_rules } => {
            let (extract, others) = (PartBytes::Pooled(extract), PartBytes::Pooled(others));
            Held::File { extract, others, has_rules }
        }
        Content::Access(_) => Held::Nothing,
    }
}

/// Returns the one capture that `standing` comes from, for an origin without history.
fn plain<'p>(standing: &Standing) -> Known<PartBytes<'p>> {
    let facts = CaptureFacts { outage: None, ..standing.facts };
    Known { facts, position: OF_NEWEST, held: pooled(standing.content) }
}

/// Returns the captures that a timeline comes from, for an origin without history. A moment at the
/// date of no capture is that of an outage that became long.
fn plain_captures<'p>(timeline: &[Moment]) -> impl Iterator<Item = Known<PartBytes<'p>>> {
    let is_capture = |moment: &&Moment| Moment::of(moment.standing).since == moment.since;
    timeline.iter().filter(is_capture).map(|moment| plain(&moment.standing))
}

/// Writes a history, resource by resource.
pub(super) struct HistoryWriter<'n> {
    pool: &'n BlobPool,
    rules: &'n AccessRules,
    history: Spool,
    /// The resources of one host.
    out: Vec<u8>,
    /// The numbers of the blobs that were written.
    blobs: HashMap<BlobID, u32, foldhash::fast::RandomState>,
}

impl<'n> HistoryWriter<'n> {
    pub(super) fn new(
        pool: &'n BlobPool,
        rules: &'n AccessRules,
        scratch: &Scratch,
    ) -> HistoryWriter<'n> {
        let history = Spool::new(scratch);
        HistoryWriter { pool, rules, history, out: Vec::new(), blobs: HashMap::default() }
    }

    pub(super) fn finish(self) -> Spool {
        self.history
    }

    /// Appends the captures of a host that do not follow from its standings. `kept` are those that
    /// count. Hosts come in the order of their keys.
    pub(super) fn push_host(
        &mut self,
        key: &[u8],
        targets: &Targets,
        kept: &[Option<Kept>; 2],
        host: &HostStanding,
    ) -> Result<(), WriteError> {
        for (slot, standing) in Slot::BOTH.into_iter().zip([&host.http, &host.https]) {
            let Some(target) = &targets[slot as usize] else { continue };
            let served = Served::of(host, slot);
            if let Some(Kept::All(track)) = &kept[slot as usize] {
                if !is_plain_track(track, served.timeline) {
                    self.push_track(key, slot, track, served)?;
                }
            } else if standing.is_none_or(|standing| !self.is_plain(target, &standing)) {
                self.push(key, slot, target, served)?;
            }
        }
        self.history.write(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn push_track(
        &mut self,
        key: &[u8],
        slot: Slot,
        track: &Track,
        served: Served<'_>,
    ) -> Result<(), WriteError> {
        self.push_key(key, slot, HAS_ALL);
        push_varint(&mut self.out, track.captures().len() as u32);
        track.captures().try_for_each(|known| self.push_capture(known, served))
    }

    fn push_key(&mut self, key: &[u8], slot: Slot, flags: u8) {
        push_bytes(&mut self.out, key);
        self.out.push(flags | if slot == Slot::Https { HTTPS } else { 0 });
    }

    fn is_plain(&self, target: &Target, standing: &Standing) -> bool {
        let plain = plain(standing);
        let Target { newest, file, failures, .. } = target;
        file.is_none()
            && plain.facts == newest.facts
            && plain.held == of_pool(newest)
            && *failures == Failures::of(&plain, self.rules)
    }

    fn push(
        &mut self,
        key: &[u8],
        slot: Slot,
        target: &Target,
        served: Served<'_>,
    ) -> Result<(), WriteError> {
        let Target { newest, file, failures, .. } = target;
        let has_failures = *failures != Failures::of(newest, self.rules);
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let flags = flag(HAS_FILE, file.is_some()) | flag(HAS_FAILURES, has_failures);
        self.push_key(key, slot, flags);
        self.push_capture(newest, served)?;
        if let Some(file) = file {
            self.push_capture(file, served)?;
        }
        if has_failures {
            push_time(&mut self.out, failures.answered_at);
            push_varint(&mut self.out, failures.dates.len() as u32);
            failures.dates.iter().for_each(|&date| push_time(&mut self.out, Some(date)));
        }
        Ok(())
    }

    fn push_capture(
        &mut self,
        known: &Known<BlobID>,
        served: Served<'_>,
    ) -> Result<(), WriteError> {
        let Known { facts, held, .. } = known;
        let out = &mut self.out;
        push_time(out, facts.captured_at);
        push_varint(out, facts.serves_seconds().map_or(0, |seconds| seconds + 1));
        push_answer(out, facts);
        match *held {
            Held::Nothing => out.push(NOTHING),
            Held::Location(location) => {
                out.push(LOCATION);
                self.push_blob(location)?;
            }
            Held::File { extract, others, has_rules } => {
                let content = Content::File { extract, others, has_rules };
                if served.content == Some(content) {
                    out.push(SERVED);
                } else if let Some(moment) = served.position(content, facts.captured_at) {
                    out.push(SERVED_AT);
                    push_varint(out, moment);
                } else {
                    out.push(FILE);
                    self.push_blob(extract)?;
                    self.push_blob(others)?;
                }
            }
        }
        Ok(())
    }

    fn push_blob(&mut self, blob: BlobID) -> Result<(), WriteError> {
        let next = self.blobs.len() as u32;
        let number = *self.blobs.entry(blob).or_insert(next);
        push_varint(&mut self.out, number);
        if number == next {
            push_bytes(&mut self.out, &self.pool.get(blob)?);
        }
        Ok(())
    }
}

/// Returns what a capture holds, as bytes of its pool.
fn of_pool<'p>(known: &Known<BlobID>) -> Held<PartBytes<'p>> {
    let Ok(held) = known.held.map(|&blob| Ok::<_, Infallible>(PartBytes::Pooled(blob)));
    held
}

/// Returns whether all captures of an origin follow from its timeline.
fn is_plain_track(track: &Track, timeline: &[Moment]) -> bool {
    let pooled = |known: &Known<BlobID>| (known.facts, of_pool(known));
    track.captures().map(pooled).eq(plain_captures(timeline).map(|it| (it.facts, it.held)))
}

/// What the set serves for an origin, to which its captures refer.
#[derive(Clone, Copy)]
struct Served<'h> {
    content: Option<Content>,
    timeline: &'h [Moment],
}

impl<'h> Served<'h> {
    const NOTHING: Served<'static> = Served { content: None, timeline: &[] };

    fn of(host: &'h HostStanding, slot: Slot) -> Served<'h> {
        let standing = [&host.http, &host.https][slot as usize];
        let timelines = host.timelines.as_ref();
        Served {
            content: standing.map(|standing| standing.content),
            timeline: timelines.map_or(&[], |timelines| &timelines[slot as usize]),
        }
    }

    /// Returns the position of the moment that a capture at `date` begins, if it serves `content`.
    fn position(&self, content: Content, date: Option<UnixSeconds>) -> Option<u32> {
        let date = date.unwrap_or(UnixSeconds(0));
        let position = self.timeline.binary_search_by_key(&date, |moment| moment.since).ok()?;
        let is_same = self.timeline[position].standing.content == content;
        is_same.then_some(position as u32)
    }

    /// Returns the content to which a capture refers.
    fn get(&self, moment: Option<u32>) -> Option<Content> {
        let content = match moment {
            Some(moment) => Some(self.timeline.get(moment as usize)?.standing.content),
            None => self.content,
        };
        content.filter(|content| matches!(content, Content::File { .. }))
    }
}

/// A problem of reading a history.
pub(crate) enum Problem {
    /// What is odd about its bytes.
    Odd(&'static str),
    Scratch(WriteError),
}

impl From<&'static str> for Problem {
    fn from(what: &'static str) -> Problem {
        Problem::Odd(what)
    }
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Problem {
        Problem::Scratch(error)
    }
}

/// Checks all of `history` against a set with these hosts and, if the set reports any, this many
/// inputs.
///
/// # Errors
///
/// If a merge could not read it.
pub(crate) fn check(
    hosts: &Hosts,
    history: &[u8],
    inputs: Option<usize>,
    dialect: &Dialect,
) -> Result<(), Problem> {
    let (mut is_known, mut is_of_files) = (true, true);
    // Many captures may have one blob.
    let mut checked: HashSet<(u32, bool), foldhash::fast::RandomState> = HashSet::default();
    resources(hosts, history, &dialect.access, |_, _, Resource { earlier, newest, file, .. }| {
        for known in std::iter::once(&newest).chain(&file).chain(&earlier) {
            is_known &= inputs.is_none_or(|inputs| (known.facts.input as usize) < inputs);
            // What the set serves was checked when it was read.
            is_of_files &= match known.held {
                Held::File {
                    extract: PartBytes::Kept { number: extract, bytes },
                    others: PartBytes::Kept { number: others, bytes: other_bytes },
                    ..
                } => {
                    let is_extract = !checked.insert((extract, true))
                        || read_extract(bytes).is_some()
                            && ListReader::of_extract(bytes).is_of(dialect);
                    let is_others = !checked.insert((others, false))
                        || ListReader::of_others(other_bytes).is_of(dialect);
                    is_extract && is_others
                }
                _ => true,
            };
        }
        Ok(())
    })?;
    match (is_known, is_of_files) {
        (true, true) => Ok(()),
        (false, _) => Err("a capture is of an input that the provenance does not list".into()),
        (true, false) => Err("its records are not what a file has".into()),
    }
}

/// Passes each resource of a part with these hosts and this history to `take`.
///
/// # Errors
///
/// If the history does not belong to the hosts. Some resources may have been passed by then.
pub fn resources<'p>(
    hosts: &Hosts,
    history: &'p [u8],
    rules: &AccessRules,
    take: impl FnMut(&[u8], Slot, Resource<'p>) -> Result<(), WriteError>,
) -> Result<(), Problem> {
    let fields = Fields { rest: history };
    let mut reader = Reader { fields, blobs: Vec::new(), rules, last: None };
    let next = reader.next()?;
    let mut walk = Walk { reader, next, take };
    for host in hosts.iter() {
        let host = host?;
        for (slot, standing) in Slot::BOTH.into_iter().zip([&host.http, &host.https]) {
            let Some(standing) = standing else { continue };
            let origin = (&*host.key, slot);
            walk.take_others(Some(origin))?;
            let served = Served::of(&host, slot);
            match walk.next.take_if(|(at, _)| *at == origin) {
                Some((_, kept)) => {
                    walk.take(origin, kept.with_served(served)?)?;
                    walk.next = walk.reader.next()?;
                }
                None => walk.take(origin, Resource::plain(standing, served.timeline, rules))?,
            }
        }
    }
    // After the last origin, every remaining resource is taken.
    walk.take_others(None)
}

/// A walk over the resources of a part.
struct Walk<'p, 'r, F> {
    reader: Reader<'p, 'r>,
    /// The next resource of the history.
    next: Option<KeptResource<'p>>,
    take: F,
}

impl<'p, F: FnMut(&[u8], Slot, Resource<'p>) -> Result<(), WriteError>> Walk<'p, '_, F> {
    fn take(&mut self, (key, slot): (&[u8], Slot), resource: Resource<'p>) -> Result<(), Problem> {
        let Resource { earlier, newest, file, .. } = &resource;
        let mut all = std::iter::once(newest).chain(file).chain(earlier);
        if !all.all(|known| known.is_consistent(self.reader.rules)) {
            return Err("an answer has what it cannot have".into());
        }
        Ok((self.take)(key, slot, resource)?)
    }

    /// Takes the resources of the history that are no origins, up to a place.
    fn take_others(&mut self, end: Option<(&[u8], Slot)>) -> Result<(), Problem> {
        while let Some((at, kept)) = self.next.take_if(|(at, _)| end.is_none_or(|end| *at < end)) {
            let is_filed = Place::of_url(at.0).is_ok_and(|it| (&*it.key, it.slot) == at);
            if !is_filed || place::is_origin(at.0) {
                return Err("a key is neither an origin of the set nor another resource".into());
            }
            self.take(at, kept.with_served(Served::NOTHING)?)?;
            self.next = self.reader.next()?;
        }
        Ok(())
    }
}

impl<'p> Resource<'p> {
    /// Returns the resource of an origin whose captures follow from its standing and timeline.
    fn plain(standing: &Standing, timeline: &[Moment], rules: &AccessRules) -> Resource<'p> {
        let mut earlier: Vec<_> = plain_captures(timeline).collect();
        let newest = earlier.pop().unwrap_or_else(|| plain(standing));
        let failures = Failures::of(&newest, rules);
        Resource { earlier, newest, file: None, failures }
    }

    /// Returns the resource with the bytes of the files that the set serves, if captures refer to
    /// them.
    fn with_served(mut self, served: Served<'_>) -> Result<Resource<'p>, &'static str> {
        let Resource { earlier, newest, file, .. } = &mut self;
        for known in std::iter::once(newest).chain(file).chain(earlier) {
            if let Held::File { extract: PartBytes::Served(moment), .. } = known.held {
                let content = served.get(moment);
                known.held =
                    pooled(content.ok_or("a capture has the file of an origin that has none")?);
            }
        }
        if self.file.as_ref().is_some_and(|file| !file.is_file() || self.newest.is_file()) {
            return Err("a resource has two newest captures");
        }
        Ok(self)
    }
}

/// Bytes of a history.
struct KeptBlob<'p> {
    bytes: &'p [u8],
    /// Whether they are those of a file with a rule, once that was asked.
    has_rules: OnceCell<bool>,
}

/// Reads a history, which may be any bytes.
struct Reader<'p, 'r> {
    fields: Fields<'p>,
    blobs: Vec<KeptBlob<'p>>,
    rules: &'r AccessRules,
    /// The key and slot of the previous resource.
    last: Option<(&'p [u8], Slot)>,
}

type KeptResource<'p> = ((&'p [u8], Slot), Resource<'p>);

impl<'p> Reader<'p, '_> {
    /// Returns the next resource; `None` at the end.
    fn next(&mut self) -> Result<Option<KeptResource<'p>>, &'static str> {
        if self.fields.rest.is_empty() {
            return Ok(None);
        }
        let kept = self.resource().ok_or("it makes no sense")?;
        if self.last.replace(kept.0) >= Some(kept.0) {
            return Err("it is not in order");
        }
        Ok(Some(kept))
    }

    fn resource(&mut self) -> Option<KeptResource<'p>> {
        let key = self.fields.bytes()?;
        let flags = self.fields.byte()?;
        let slot = if flags & HTTPS == 0 { Slot::Http } else { Slot::Https };
        if flags & !HTTPS == HAS_ALL {
            return Some(((key, slot), self.all()?));
        }
        if flags & !(HTTPS | HAS_FILE | HAS_FAILURES) != 0 {
            return None;
        }
        let newest = self.capture(OF_NEWEST)?;
        let file = match flags & HAS_FILE {
            0 => None,
            _ => Some(self.capture(OF_FILE)?),
        };
        let failures = match flags & HAS_FAILURES {
            0 => Failures::of(&newest, self.rules),
            _ => self.failures()?,
        };
        Some(((key, slot), Resource { earlier: Vec::new(), newest, file, failures }))
    }

    /// Reads all captures of a resource. Their order replaces their positions.
    fn all(&mut self) -> Option<Resource<'p>> {
        let mut captures = Vec::new();
        for index in 0..self.fields.number()? {
            captures.push(self.capture(Position { piece: 0, index })?);
        }
        let newest = captures.pop()?;
        let failures = Failures::of(&newest, self.rules);
        Some(Resource { earlier: captures, newest, file: None, failures })
    }

    fn failures(&mut self) -> Option<Failures> {
        let mut failures = Failures { answered_at: self.fields.time()?, ..Failures::default() };
        for _ in 0..self.fields.number()? {
            let date = self.fields.time()??;
            let is_next = failures.dates.last().is_none_or(|&last| last < date);
            if !is_next || Some(date) < failures.answered_at {
                return None;
            }
            failures.dates.insert(date);
        }
        Some(failures)
    }

    fn capture(&mut self, position: Position) -> Option<Known<PartBytes<'p>>> {
        let captured_at = self.fields.time()?;
        let serves = self.fields.number()?.checked_sub(1);
        let expires_at = match (captured_at, serves) {
            (Some(at), Some(seconds)) => Some(at.after(seconds.into())),
            (_, None) => None,
            (None, Some(_)) => return None,
        };
        let facts = CaptureFacts { captured_at, expires_at, ..self.fields.answer()? };
        let served = |moment| {
            let bytes = PartBytes::Served(moment);
            // That of the file that is served replaces it.
            Held::File { extract: bytes, others: bytes, has_rules: false }
        };
        let held = match self.fields.byte()? {
            NOTHING => Held::Nothing,
            LOCATION => Held::Location(self.blob()?.1),
            SERVED => served(None),
            SERVED_AT => served(Some(self.fields.number()?)),
            FILE => {
                let (blob, extract) = self.blob()?;
                let has_rules = *blob.has_rules.get_or_init(|| has_rules(blob.bytes));
                let (_, others) = self.blob()?;
                Held::File { extract, others, has_rules }
            }
            _ => return None,
        };
        Some(Known { facts, position, held })
    }

    fn blob(&mut self) -> Option<(&KeptBlob<'p>, PartBytes<'p>)> {
        let number = self.fields.number()?;
        if number as usize == self.blobs.len() {
            let bytes = self.fields.bytes()?;
            self.blobs.push(KeptBlob { bytes, has_rules: OnceCell::new() });
        }
        let blob = self.blobs.get(number as usize)?;
        Some((blob, PartBytes::Kept { number, bytes: blob.bytes }))
    }
}

/// Returns whether a file has a rule in a group, by its extract.
fn has_rules(extract: &[u8]) -> bool {
    let is_rule = |role| matches!(role, Role::Access(RecordKind::Allow | RecordKind::Disallow));
    ListReader::of_extract(extract).flatten().any(|record| is_rule(record.role))
}
