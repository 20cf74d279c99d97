//! Settles each origin from the captures that may count: follows redirects through the captures, finds
//! the file that a "not modified" confirms, and applies the dialect's rule for long outages.
//!
//! The result applies to the origin of the first request (RFC 9309, section 2.3.1.2).
//! Redirects within a capture and between captures both count, and the dialect limits their number,
//! so a loop ends.
//!
//! † A redirect to a resource that was not captured, or to no URL, is the dialect's `other_status`:
//! an unknown answer never allows.
//!
//! † An outage is that of the resource at the end of the redirects. Its last good copy is the
//! newest file of all resources on the way, even if an answer without a file came after it. Of two
//! equally new files, that of the later resource counts. A resource that was not captured, a
//! redirect to nowhere and a "not modified" without a file are no outages.
//!
//! † A policy behind redirects has the age of the oldest answer on the way, and expires with the
//! first of them: each is used again as long as the policy is. An answer without a date leaves the
//! policy without one.
//!
//! † With [`join_schemes`](SettleConfig::join_schemes), an origin of http or https that was not captured,
//! or not yet, has the policy of the other scheme under its key. A captured one has its own.
//!
//! With history, each origin is settled once more at each time at which its standing may change: see
//! `timelines`.
//!
//! Cost: all captures are read once in the order of their keys, and a block of them per redirect, on
//! all threads. Memory: [`CAPTURES_AT_ONCE`] captures and as many moments, of some hundred bytes each,
//! and the moments of [`HISTORIES_AT_ONCE`] hosts. Temporary files can fail.

mod timelines;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_dialect::{Access, AccessOutcome, AccessRules, Fetched};
use portcullis_files::error::WriteError;
use portcullis_robots::access::{
    CaptureNote, DateSpan, KnownOutage, LongOutage, Outage, Serving, UnixSeconds, location, serving,
};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::batch::BeforeFirst;
use portcullis_set::limits::TIMELINE_SECONDS_END;
use portcullis_set::stored::CaptureFacts;

use super::captured::{Captured, CapturedReader};
use super::known::{Held, Keyed, Known};
use super::place::{self, Place, Slot};
use super::tracks::{Track, View};
use crate::limits::{CAPTURES_AT_ONCE, HISTORIES_AT_ONCE, REDIRECTS_KNOWN_MAX, TARGETS_KNOWN_MAX};
use crate::pool::{BlobID, BlobPool};
use crate::provenance::SettleConfig;
use crate::shared::{self, SharedTimeline, held};
use crate::standing::{Content, HostStanding, Standing, Timeline};

/// Captures to settle, and how.
#[derive(Debug)]
pub(crate) struct Settling {
    pub(crate) captured: Captured,
    pub(super) settle: SettleConfig,
    /// The time as of which origins are settled, instead of with history. All captures are kept then.
    pub(crate) at: Option<(UnixSeconds, BeforeFirst)>,
}

impl Settling {
    /// Returns whether each origin has a history.
    pub(crate) fn has_history(&self) -> bool {
        self.captured.keeps.1 && self.at.is_none()
    }

    /// Settles the captures, whose files are in `pool`.
    pub(crate) fn settler<'s>(&'s self, pool: &'s BlobPool) -> Settler<'s> {
        let resolver = Resolver {
            settling: self,
            pool,
            rules: self.captured.keeps.0,
            as_of: self.settle.time(),
            recent: Mutex::default(),
        };
        let reader = self.captured.reader();
        Settler { resolver, reader, waiting: Vec::new().into_iter() }
    }
}

/// Settles the standing of each captured origin, and its history if all captures were kept.
pub(crate) struct Settler<'s> {
    resolver: Resolver<'s>,
    reader: CapturedReader<'s>,
    /// Captures that were read and not settled.
    waiting: std::vec::IntoIter<Keyed>,
}

impl Settler<'_> {
    /// Returns the next hosts in the order of their keys; none after the last.
    pub(crate) fn next_piece(&mut self) -> Result<Vec<HostStanding>, WriteError> {
        let Settler { resolver, reader, waiting } = self;
        // Hosts may have many moments of captures that they share.
        let at_once = match resolver.settling.has_history() {
            true => HISTORIES_AT_ONCE,
            false => CAPTURES_AT_ONCE,
        };
        let (mut hosts, mut moments) = (Vec::new(), 0_usize);
        while moments.saturating_add(hosts.len()) < CAPTURES_AT_ONCE {
            if waiting.len() == 0 {
                *waiting = reader.next_piece()?.into_iter();
            }
            let now: Vec<Keyed> = waiting.by_ref().take(at_once).collect();
            if now.is_empty() {
                break;
            }
            let settled = now.into_par_iter().map(|keyed| resolver.host(keyed));
            let settled = settled.collect::<Result<Vec<_>, _>>()?;
            let timelines = settled.iter().flat_map(HostStanding::timelines);
            moments = timelines.map(|it| held(it)).fold(moments, usize::saturating_add);
            hosts.extend(settled.into_iter().filter(|host| host.origins().next().is_some()));
        }
        Ok(hosts)
    }
}

impl Track {
    /// Returns the captures that count at the time of `clock`; `None` if there are none. `before` is
    /// what was received on the way to them; `None` for those of the origin itself, each of which counts.
    fn view_at(&self, clock: &mut Clock, before: Option<Received>) -> Option<View> {
        let view = self.view(clock.at);
        let hides =
            |before: &Received| view.is_none_or(|view| before.hides_dates(&view.newest.facts));
        clock.change_at(clock.at.and_then(|at| match before.filter(hides) {
            Some(_) => self.next_unlike(at),
            None => self.next_after(at),
        }));
        view
    }
}

/// An origin that is settled, or a resource that so many redirects lead to, and the resources that its
/// own redirects led to so far.
struct Origin<'o> {
    url: &'o [u8],
    redirects: u32,
    track: &'o Track,
    found: Vec<(Place, Option<Arc<Track>>)>,
}

/// What was found out about the last resources that redirects led to: many origins redirect to one of
/// them.
#[derive(Default)]
struct RecentlyFound {
    tracks: Recent<(Box<[u8]>, Slot), Arc<Track>>,
    timelines: Recent<(Box<[u8]>, u32), Arc<SharedTimeline>>,
}

/// The values that were made last, in two generations: one that is used goes on to the next. So what was just
/// made is kept, whatever its size.
struct Recent<K, V> {
    new: Map<K, (V, usize)>,
    old: Map<K, (V, usize)>,
    /// The captures or moments of the new ones.
    items: usize,
}

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { new: Map::default(), old: Map::default(), items: 0 }
    }
}

impl<K: Eq + std::hash::Hash, V: Clone> Recent<K, V> {
    fn get(&mut self, key: &K) -> Option<V> {
        if let Some((key, (value, items))) = self.old.remove_entry(key) {
            self.insert(key, value, items);
        }
        self.new.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value with so many items.
    fn insert(&mut self, key: K, value: V, items: usize) {
        if self.items.saturating_add(items) > TARGETS_KNOWN_MAX {
            self.old = std::mem::take(&mut self.new);
            self.items = 0;
        }
        self.items += items;
        self.new.insert(key, (value, items));
    }
}

/// Settles the standing of an origin.
struct Resolver<'n> {
    settling: &'n Settling,
    pool: &'n BlobPool,
    rules: &'static AccessRules,
    /// The time for which outages are judged; if `None`, each at its last captured failure.
    as_of: Option<UnixSeconds>,
    recent: Mutex<RecentlyFound>,
}

/// The time as of which an origin is settled; `None` after all captures. Collects when the result
/// may change.
struct Clock {
    at: Option<UnixSeconds>,
    next: Option<UnixSeconds>,
}

impl Clock {
    fn change_at(&mut self, time: Option<UnixSeconds>) {
        let later = time.filter(|&time| Some(time) > self.at);
        self.next = self.next.into_iter().chain(later).min();
    }
}

/// A capture on the way along redirects, and how it was reached.
struct Step {
    view: View,
    /// The number of redirects followed so far, including those within the capture.
    followed: u32,
    /// The newest file of all targets so far.
    copy: Option<Known<BlobID>>,
    received: Received,
}

/// When the answers on the way were received, and when the first of them expires.
#[derive(Clone, Copy)]
struct Received {
    oldest: Option<UnixSeconds>,
    newest: Option<UnixSeconds>,
    expires_at: Option<UnixSeconds>,
}

impl Received {
    fn of(CaptureFacts { captured_at, expires_at, .. }: CaptureFacts) -> Received {
        Received { oldest: captured_at, newest: captured_at, expires_at }
    }

    /// Adds an answer. `None` is less than any date, so the oldest date is lost if one is missing.
    fn and(self, next: Received) -> Received {
        Received {
            oldest: self.oldest.min(next.oldest),
            newest: self.newest.max(next.newest),
            expires_at: self.expires_at.min(next.expires_at),
        }
    }

    /// Returns whether an answer with these dates, or later ones, adds none to them.
    fn hides_dates(&self, next: &CaptureFacts) -> bool {
        let is_shorter = |expires_at| self.expires_at < Some(expires_at);
        self.oldest < next.captured_at && next.expires_at.is_none_or(is_shorter)
    }

    /// Returns `facts` with these times.
    fn apply_to(self, facts: CaptureFacts) -> CaptureFacts {
        let Received { oldest, newest, expires_at } = self;
        // A set does not store when what has no date expires.
        let expires_at = oldest.and(expires_at);
        let span = oldest.zip(newest).map_or(0, |(oldest, newest)| newest.since(oldest));
        let span_seconds = u32::try_from(span).unwrap_or(u32::MAX);
        CaptureFacts { captured_at: oldest, span_seconds, expires_at, ..facts }
    }
}

impl Resolver<'_> {
    /// Returns the host with these captures.
    fn host(&self, (key, resources): Keyed) -> Result<HostStanding, WriteError> {
        let (mut settled, mut timelines) = <([Option<Settled>; 2], [Timeline; 2])>::default();
        let has_timelines = self.settling.has_history();
        for slot in [Slot::Http, Slot::Https].into_iter().filter(|_| place::is_origin(&key)) {
            let captures = &resources[slot as usize];
            if captures.is_empty() {
                continue;
            }
            let (url, track) = (place::robots_txt_url(&key, slot), Track::of(captures, self.rules));
            let track = &track;
            let mut origin = Origin { url: &url, redirects: 0, track, found: Vec::new() };
            let mut clock = Clock { at: self.time_of(track), next: None };
            let time = clock.at;
            let standing = self.standing_at(&mut origin, &mut clock)?;
            settled[slot as usize] = standing.map(|standing| (time, standing));
            if has_timelines {
                timelines[slot as usize] = self.timeline(&mut origin)?;
            }
        }
        if self.settling.settle.join_schemes && place::has_both_schemes(&key) {
            settled = [0, 1].map(|slot| joined(settled[slot], settled[1 - slot]));
            let all = timelines;
            timelines = [0, 1].map(|slot| timelines::joined(&all[slot], &all[1 - slot]));
        }
        let [http, https] = settled.map(|settled| {
            let (_, standing) = settled?;
            Some(if self.settling.at.is_some() { standing.without_span() } else { standing })
        });
        let timelines = has_timelines.then(|| Box::new(timelines));
        Ok(HostStanding { key, http, https, timelines })
    }

    /// Returns the time as of which an origin with these captures is settled; `None` for the end.
    fn time_of(&self, track: &Track) -> Option<UnixSeconds> {
        let (time, before_first) = self.settling.at?;
        let or_oldest = before_first == BeforeFirst::Oldest;
        let begin = track.begin().filter(|begin| or_oldest && begin.0 < TIMELINE_SECONDS_END);
        begin.filter(|&begin| begin > time).or(Some(time))
    }

    /// Returns the standing of an origin at the time of `clock`; `None` before its first capture.
    fn standing_at(
        &self,
        origin: &mut Origin<'_>,
        clock: &mut Clock,
    ) -> Result<Option<Standing>, WriteError> {
        let rules = self.rules;
        let Some(first) = origin.track.view_at(clock, None) else { return Ok(None) };
        let (followed, copy) = (redirects_to(origin, &first), first.file);
        let received = Received::of(first.newest.facts);
        let mut step = Step { view: first, followed, copy, received };
        let mut url = None;
        let standing = loop {
            let newest = step.view.newest;
            match rules.resolve(newest.answer(), step.followed) {
                Access::File => break step.file(&newest),
                Access::NotModified => break step.confirmed(rules),
                Access::Outcome(outcome) => break self.failed(&step, outcome, clock),
                Access::Follow => {}
            }
            let from = url.as_deref().unwrap_or(origin.url);
            let Some((target, place)) = self.target(from, &newest)? else {
                break step.without_end(CaptureNote::RedirectToNowhere, rules);
            };
            let found = self.find(origin, place)?;
            let Some(view) = found.and_then(|track| track.view_at(clock, Some(step.received)))
            else {
                break step.without_end(CaptureNote::RedirectTargetMissing, rules);
            };
            let followed = step.followed.saturating_add(1).saturating_add(redirects_within(&view));
            let copy = step.copy.into_iter().chain(view.file);
            let copy = copy.max_by_key(|file| file.facts.captured_at);
            let received = step.received.and(Received::of(view.newest.facts));
            step = Step { view, followed, copy, received };
            url = Some(target);
        };
        let facts = step.received.apply_to(standing.facts);
        let input = first.newest.facts.input;
        Ok(Some(Standing { facts: CaptureFacts { input, ..facts }, ..standing }))
    }

    /// Returns the standing for `outcome` of the last answer, which may be part of a long outage.
    fn failed(&self, step: &Step, outcome: AccessOutcome, clock: &mut Clock) -> Standing {
        let mut standing = step.outcome(outcome, self.rules);
        let View { newest, failing_since: since, .. } = step.view;
        let as_of = clock.at.or(self.as_of).or(newest.facts.captured_at);
        let (Some(since), Some(as_of), PolicyState::Unreachable) = (since, as_of, outcome.state)
        else {
            return standing;
        };
        clock.change_at(Some(since.after(LONG_UNREACHABLE_SECONDS + 1)));
        let outage = Outage { first_failure: since, outcome };
        let long_outage = self.settling.settle.long_outage;
        let serving = serving(&outage, as_of, step.copy.is_some(), long_outage, self.rules);
        let facts = &mut standing.facts;
        let mut known = KnownOutage { since, change: LongOutage::NoChange, copy_captured_at: None };
        match serving {
            Serving::Outcome(serves) if serves == outcome => {}
            Serving::Outcome(serves) => {
                known.change = LongOutage::Unavailable;
                facts.capture_notes = facts.capture_notes.with(CaptureNote::OutageUnavailable);
                standing.content = Content::Access(serves);
            }
            Serving::LastGoodCopy => {
                let copy = &step.copy.expect("a copy that serves was captured");
                known.change = LongOutage::LastGoodCopy;
                known.copy_captured_at = copy.facts.captured_at;
                let notes = facts.capture_notes.union(copy.facts.capture_notes);
                facts.capture_notes = notes.with(CaptureNote::OutageLastGoodCopy);
                facts.file_notes = copy.facts.file_notes;
                facts.file_bytes = copy.facts.file_bytes;
                standing.content = step.file(copy).content;
            }
        }
        standing.facts.outage = Some(known);
        standing
    }

    /// Returns the URL that a redirect of the resource at `from` leads to, and its place. `None` if it
    /// has no location, or one that is no URL.
    fn target(
        &self,
        from: &[u8],
        redirect: &Known<BlobID>,
    ) -> Result<Option<(Vec<u8>, Place)>, WriteError> {
        let Held::Location(location) = redirect.held else { return Ok(None) };
        let url = location::resolve(from, &self.pool.get(location)?);
        Ok(url.and_then(|url| Place::from_url(&url).ok().map(|place| (url, place))))
    }

    fn recent(&self) -> MutexGuard<'_, RecentlyFound> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the captures at a place, if there are any.
    fn find(
        &self,
        origin: &mut Origin<'_>,
        place: Place,
    ) -> Result<Option<Arc<Track>>, WriteError> {
        let found = &mut origin.found;
        if let Some((_, track)) = found.iter().find(|(known, _)| *known == place) {
            return Ok(track.clone());
        }
        if found.len() == REDIRECTS_KNOWN_MAX {
            found.clear();
        }
        let by_place = (place.key.as_slice().into(), place.slot);
        let known = self.recent().tracks.get(&by_place);
        let track = match known {
            Some(known) => Some(known),
            None => {
                let [http, https] = self.settling.captured.get(&place.key)?;
                let captures = if place.slot == Slot::Http { http } else { https };
                (!captures.is_empty()).then(|| {
                    let track = Arc::new(Track::of(&captures, self.rules));
                    let kept = Arc::clone(&track);
                    self.recent().tracks.insert(by_place, kept, captures.len());
                    track
                })
            }
        };
        found.push((place, track.clone()));
        Ok(track)
    }
}

impl Step {
    /// Returns the standing for `file`.
    fn file(&self, file: &Known<BlobID>) -> Standing {
        let content = match file.held {
            Held::File { extract, others, has_rules } => {
                Content::from_file(extract, others, has_rules, file.facts.file_notes)
            }
            Held::Location(_) | Held::Repeated(_) | Held::Nothing => {
                unreachable!("fewer redirects do not make another answer a file")
            }
        };
        Standing { content, facts: self.facts(file) }
    }

    /// Returns the standing for the file that the newest capture confirms.
    fn confirmed(&self, rules: &AccessRules) -> Standing {
        let Some(file) = &self.view.file else {
            return self.outcome(rules.other_status, rules);
        };
        let CaptureFacts { status, capture_notes, .. } = self.view.newest.facts;
        let Standing { content, facts } = self.file(file);
        let capture_notes = facts.capture_notes.union(capture_notes);
        Standing { content, facts: CaptureFacts { status, capture_notes, ..facts } }
    }

    fn outcome(&self, outcome: AccessOutcome, rules: &AccessRules) -> Standing {
        let newest = &self.view.newest;
        let mut facts = self.facts(newest);
        let redirects_max = u32::from(rules.redirects_max);
        let leads_on = matches!(newest.answer(), Fetched::Status(300..=303 | 305..=399));
        if self.followed > redirects_max || (self.followed == redirects_max && leads_on) {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::TooManyRedirects);
        }
        Standing { content: Content::Access(outcome), facts }
    }

    /// Returns the standing for a redirect that leads to nothing.
    fn without_end(&self, note: CaptureNote, rules: &AccessRules) -> Standing {
        let mut standing = self.outcome(rules.other_status, rules);
        standing.facts.capture_notes = standing.facts.capture_notes.with(note);
        standing
    }

    fn facts(&self, known: &Known<BlobID>) -> CaptureFacts {
        let redirects_followed = u8::try_from(self.followed).unwrap_or(u8::MAX);
        CaptureFacts { redirects_followed, ..known.facts }
    }
}

/// A standing, and the time as of which it is one; `None` for after all captures.
type Settled = (Option<UnixSeconds>, Standing);

/// Returns what is known of an origin, or else of the other scheme of its host. Of two first captures
/// after the time that is asked about, the earlier one counts.
fn joined(own: Option<Settled>, other: Option<Settled>) -> Option<Settled> {
    let other = other.filter(|(time, _)| own.is_none_or(|(own, _)| *time < own));
    other.map(|(time, standing)| (time, of_other_scheme(standing))).or(own)
}

fn of_other_scheme(mut standing: Standing) -> Standing {
    let facts = &mut standing.facts;
    facts.capture_notes = facts.capture_notes.with(CaptureNote::OtherScheme);
    standing
}

/// Returns the number of redirects that lead to the answer of an origin's own capture.
fn redirects_to(origin: &Origin<'_>, first: &View) -> u32 {
    origin.redirects.saturating_add(redirects_within(first))
}

fn redirects_within(view: &View) -> u32 {
    u32::from(view.newest.facts.redirects_followed)
}

/// Counts of origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandingCounts {
    /// The number of hosts.
    pub hosts: u64,
    /// The number of known origins.
    pub origins: u64,
    /// The number of origins whose file or answer was found behind a redirect.
    pub redirected: u64,
    /// The number of origins in an outage.
    pub in_outage: u64,
    /// The number of periods of all origins: times in which the policy stays the same. 0 unless the
    /// history was kept.
    pub periods: u64,
    /// The dates of the oldest and the newest capture that counts, if any has one.
    pub captured: Option<DateSpan>,
    states: [u64; PolicyState::ALL.len()],
    capture_notes: [u64; CaptureNote::ALL.len()],
    file_notes: [u64; NoteKind::ALL.len()],
}

impl StandingCounts {
    /// Counts a host.
    pub(crate) fn add_host(&mut self, host: &HostStanding) {
        self.hosts += 1;
        for standing in host.origins() {
            let state = match standing.content {
                Content::File { has_rules: true, .. } => PolicyState::Rules,
                Content::File { has_rules: false, .. } => PolicyState::NoRules,
                Content::Access(outcome) => outcome.state,
            };
            let facts = &standing.facts;
            self.origins += 1;
            self.in_outage += u64::from(facts.outage.is_some());
            self.redirected += u64::from(facts.redirects_followed > 0);
            self.captured = DateSpan::over(self.captured, facts.dates());
            self.states[state as usize] += 1;
            facts.capture_notes.iter().for_each(|note| self.capture_notes[note as usize] += 1);
            facts.file_notes.iter().for_each(|kind| self.file_notes[kind as usize] += 1);
        }
        for timeline in host.timelines() {
            self.captured = DateSpan::over(self.captured, shared::dates(timeline));
            self.periods += shared::periods(timeline);
        }
    }

    /// Returns the number of origins in this state.
    pub fn in_state(&self, state: PolicyState) -> u64 {
        self.states[state as usize]
    }

    /// Returns the number of origins whose answer has this note.
    pub fn with_capture_note(&self, note: CaptureNote) -> u64 {
        self.capture_notes[note as usize]
    }

    /// Returns the number of origins whose file has this note.
    pub fn with_file_note(&self, note: NoteKind) -> u64 {
        self.file_notes[note as usize]
    }
}
