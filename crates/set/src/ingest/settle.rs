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
//! With history, each origin is settled once more at each time at which its standing may change: at
//! each capture on the way, and when an outage becomes long.
//!
//! Cost: one sort of the keys, and one binary search per redirect and time, on all threads. Nothing
//! can fail.

use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::limits::{LONG_UNREACHABLE_SECONDS, TIMELINE_SECONDS_END};
use portcullis_dialect::{Access, AccessOutcome, AccessRules, Answer};
use portcullis_io::access::{
    DateSpan, KnownOutage, LongOutage, Outage, Serving, UnixSeconds, serving,
};
use portcullis_io::{CaptureNote, location};
use portcullis_robots::syntax::{ListReader, ListedRecord, NoteKind, RecordKind, Role};

use super::super::pool::{BlobID, BlobPool};
use super::super::standing::{CaptureFacts, Content, HostStanding, Moment, Standing, Timeline};
use super::history::HistoryWriter;
use super::newest::{Held, Known, Newest, Targets};
use super::place::{self, Place, Slot};
use super::tracks::{Track, View};
use super::{Ingested, InputReport, OutageConfig};

/// The number of hosts that one thread counts before it looks for other work.
const HOSTS_AT_ONCE: usize = 4_096;

/// Settles the standing of each captured origin, and its history if all captures were kept. The
/// hosts are sorted by key, and the pool holds only what their standings need.
pub(super) fn settle(newest: Newest, inputs: Vec<InputReport>, outages: OutageConfig) -> Ingested {
    let Newest { targets, mut pool, rules, keeps_all, superseded } = newest;
    let mut captured: Vec<(Box<[u8]>, Targets)> = targets.into_iter().collect();
    captured.par_sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let tracks_of = |(_, targets): &(Box<[u8]>, Targets)| {
        Slot::BOTH.map(|slot| Some(Track::of(targets[slot as usize].as_deref()?, rules)))
    };
    let tracks: Option<Vec<Tracks>> =
        keeps_all.then(|| captured.par_iter().map(tracks_of).collect());
    let (as_of, long_outage) = (outages.time(), outages.long_outage);
    let tracks_of_all = tracks.as_deref();
    let resolver = Resolver {
        captured: &captured,
        tracks: tracks_of_all,
        pool: &pool,
        rules,
        as_of,
        long_outage,
    };
    // The keys move to the hosts when the captures are released.
    let host = |index: usize| {
        let (key, targets) = &captured[index];
        let is_known = |slot: Slot| targets[slot as usize].is_some() && place::is_origin(key);
        let [http, https] =
            Slot::BOTH.map(|slot| is_known(slot).then(|| resolver.standing(index, slot)));
        let timeline = |slot: Slot| match is_known(slot) {
            true => resolver.timeline(index, slot),
            false => Timeline::new(),
        };
        let timelines = keeps_all.then(|| Box::new(Slot::BOTH.map(timeline)));
        HostStanding { key: Box::default(), http, https, timelines }
    };
    let mut hosts: Vec<HostStanding> = (0..captured.len()).into_par_iter().map(host).collect();
    let mut history = HistoryWriter::new(&pool, rules);
    for (index, ((key, targets), host)) in captured.iter().zip(&hosts).enumerate() {
        history.push_host(key, targets, tracks.as_ref().map(|tracks| &tracks[index]), host);
    }
    let history = history.finish();
    for standing in hosts.iter().flat_map(HostStanding::all) {
        if let Content::File { extract, others } = standing.content {
            pool.hold(extract);
            pool.hold(others);
        }
    }
    for (host, (key, targets)) in hosts.iter_mut().zip(captured) {
        host.key = key;
        targets.into_iter().flatten().for_each(|target| target.release(&mut pool));
    }
    hosts.retain(|host| standings(host).next().is_some());
    let counts = StandingCounts::of(&hosts, &pool);
    Ingested { hosts, pool, history, inputs, outages, counts, superseded }
}

/// Returns the standings of a host's origins.
pub(super) fn standings(host: &HostStanding) -> impl Iterator<Item = &Standing> {
    [&host.http, &host.https].into_iter().flatten()
}

/// The captures of the resources under one key, by [`Slot`].
pub(super) type Tracks = [Option<Track>; 2];

/// Settles the standing of an origin.
struct Resolver<'n> {
    /// All resources, sorted by key.
    captured: &'n [(Box<[u8]>, Targets)],
    /// Their captures in order of time, if all were kept.
    tracks: Option<&'n [Tracks]>,
    pool: &'n BlobPool,
    rules: &'static AccessRules,
    /// The time for which outages are judged; if `None`, each at its last captured failure.
    as_of: Option<UnixSeconds>,
    long_outage: LongOutage,
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
struct Step<'n> {
    view: View<'n>,
    /// The number of redirects followed so far, including those within the capture.
    followed: u32,
    /// The newest file of all targets so far.
    copy: Option<&'n Known<BlobID>>,
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

    /// Returns `facts` with these times.
    fn apply_to(self, facts: CaptureFacts) -> CaptureFacts {
        let Received { oldest, newest, expires_at } = self;
        let span = oldest.zip(newest).map_or(0, |(oldest, newest)| newest.since(oldest));
        let span_seconds = u32::try_from(span).unwrap_or(u32::MAX);
        CaptureFacts { captured_at: oldest, span_seconds, expires_at, ..facts }
    }
}

impl<'n> Resolver<'n> {
    /// Returns the standing of an origin that was captured: that at `slot` under the key at `index`.
    fn standing(&self, index: usize, slot: Slot) -> Standing {
        let mut clock = Clock { at: None, next: None };
        self.standing_at(index, slot, &mut clock).expect("the origin was captured")
    }

    /// Returns the history of an origin. The tracks must be there.
    fn timeline(&self, index: usize, slot: Slot) -> Timeline {
        let mut moments = Timeline::new();
        let begin = |tracks: &[Tracks]| tracks[index][slot as usize].as_ref()?.begin();
        let mut next = self.tracks.and_then(begin);
        while let Some(since) = next.filter(|time| time.0 < TIMELINE_SECONDS_END) {
            let mut clock = Clock { at: Some(since), next: None };
            if let Some(standing) = self.standing_at(index, slot, &mut clock)
                && moments.last().is_none_or(|last| last.standing != standing)
            {
                moments.push(Moment { since, standing });
            }
            next = clock.next;
        }
        moments.shrink_to_fit();
        moments
    }

    /// Returns the standing of the origin at `slot` under the key at `index` at the time of `clock`;
    /// `None` before its first capture.
    fn standing_at(&self, index: usize, slot: Slot, clock: &mut Clock) -> Option<Standing> {
        let rules = self.rules;
        let first = self.view(index, slot, clock)?;
        let (followed, copy) = (redirects_within(first), first.file);
        let received = Received::of(first.newest.facts);
        let mut step = Step { view: first, followed, copy, received };
        let mut url = None;
        let standing = loop {
            let newest = step.view.newest;
            match rules.resolve(newest.answer(), step.followed) {
                Access::File => break step.file(newest),
                Access::NotModified => break step.confirmed(rules),
                Access::Outcome(outcome) => break self.failed(&step, outcome, clock),
                Access::Follow => {}
            }
            let base = url.unwrap_or_else(|| place::robots_txt_url(&self.captured[index].0, slot));
            let Some((next_url, place)) = self.location(newest, &base) else {
                break step.without_end(CaptureNote::RedirectToNowhere, rules);
            };
            let Some(view) = self.find(&place, clock) else {
                break step.without_end(CaptureNote::RedirectTargetMissing, rules);
            };
            let followed = step.followed.saturating_add(1).saturating_add(redirects_within(view));
            let copy = step.copy.into_iter().chain(view.file);
            let copy = copy.max_by_key(|file| file.facts.captured_at);
            let received = step.received.and(Received::of(view.newest.facts));
            step = Step { view, followed, copy, received };
            url = Some(next_url);
        };
        let facts = step.received.apply_to(standing.facts);
        let input = first.newest.facts.input;
        Some(Standing { facts: CaptureFacts { input, ..facts }, ..standing })
    }

    /// Returns the captures of the resource at `slot` under the key at `index` that count at the
    /// time of `clock`; `None` if there are none.
    fn view(&self, index: usize, slot: Slot, clock: &mut Clock) -> Option<View<'n>> {
        let Some(tracks) = self.tracks else {
            return Some(self.captured[index].1[slot as usize].as_deref()?.view());
        };
        let track = tracks[index][slot as usize].as_ref()?;
        clock.change_at(clock.at.and_then(|at| track.next_after(at)));
        track.view(clock.at)
    }

    /// Returns the standing for `outcome` of the last answer, which may be part of a long outage.
    fn failed(&self, step: &Step<'_>, outcome: AccessOutcome, clock: &mut Clock) -> Standing {
        let mut standing = step.outcome(outcome, self.rules);
        let View { newest, failing_since: since, .. } = step.view;
        let as_of = clock.at.or(self.as_of).or(newest.facts.captured_at);
        let (Some(since), Some(as_of), PolicyState::Unreachable) = (since, as_of, outcome.state)
        else {
            return standing;
        };
        clock.change_at(Some(since.after(LONG_UNREACHABLE_SECONDS + 1)));
        let outage = Outage { first_failure: since, outcome };
        let serving = serving(&outage, as_of, step.copy.is_some(), self.long_outage, self.rules);
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
                let copy = step.copy.expect("a copy that serves was captured");
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

    /// Returns the URL that a redirect leads to, and its place; `None` if it is not a URL.
    fn location(&self, redirect: &Known<BlobID>, base: &[u8]) -> Option<(Vec<u8>, Place)> {
        let Held::Location(location) = redirect.held else { return None };
        let url = location::resolve(base, self.pool.get(location))?;
        let place = Place::of_url(&url).ok()?;
        Some((url, place))
    }

    fn find(&self, place: &Place, clock: &mut Clock) -> Option<View<'n>> {
        let index = self.captured.binary_search_by(|(key, _)| (**key).cmp(&place.key)).ok()?;
        self.view(index, place.slot, clock)
    }
}

impl Step<'_> {
    /// Returns the standing for `file`.
    fn file(&self, file: &Known<BlobID>) -> Standing {
        let content = match file.held {
            Held::File { extract, others } => Content::File { extract, others },
            Held::Location(_) | Held::Nothing => {
                unreachable!("fewer redirects do not make another answer a file")
            }
        };
        Standing { content, facts: self.facts(file) }
    }

    /// Returns the standing for the file that the newest capture confirms.
    fn confirmed(&self, rules: &AccessRules) -> Standing {
        let Some(file) = self.view.file else {
            return self.outcome(rules.other_status, rules);
        };
        let CaptureFacts { status, capture_notes, .. } = self.view.newest.facts;
        let Standing { content, facts } = self.file(file);
        let capture_notes = facts.capture_notes.union(capture_notes);
        Standing { content, facts: CaptureFacts { status, capture_notes, ..facts } }
    }

    fn outcome(&self, outcome: AccessOutcome, rules: &AccessRules) -> Standing {
        let newest = self.view.newest;
        let mut facts = self.facts(newest);
        let redirects_max = u32::from(rules.redirects_max);
        let leads_on = matches!(newest.answer(), Answer::Status(300..=303 | 305..=399));
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

fn redirects_within(view: View<'_>) -> u32 {
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
    /// Counts the origins of `hosts`, whose blobs are in `pool`.
    pub fn of(hosts: &[HostStanding], pool: &BlobPool) -> StandingCounts {
        let has_rules = rule_marks(hosts, pool);
        let count = |hosts: &[HostStanding]| {
            let mut counts = StandingCounts { hosts: hosts.len() as u64, ..Default::default() };
            for standing in hosts.iter().flat_map(standings) {
                let state = match standing.content {
                    Content::File { extract, .. } if has_rules[extract.index()] => {
                        PolicyState::Rules
                    }
                    Content::File { .. } => PolicyState::NoRules,
                    Content::Access(outcome) => outcome.state,
                };
                counts.add_origin(state, &standing.facts);
            }
            for moment in hosts.iter().flat_map(HostStanding::timelines).flatten() {
                let dates = moment.standing.facts.dates();
                counts.captured = DateSpan::over(counts.captured, dates);
            }
            counts.periods = hosts.iter().flat_map(HostStanding::timelines).map(periods).sum();
            counts
        };
        let parts = hosts.par_chunks(HOSTS_AT_ONCE).map(count);
        parts.reduce(StandingCounts::default, StandingCounts::plus)
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

    /// Counts an origin in this state.
    pub(crate) fn add_origin(&mut self, state: PolicyState, facts: &CaptureFacts) {
        self.origins += 1;
        self.in_outage += u64::from(facts.outage.is_some());
        self.redirected += u64::from(facts.redirects_followed > 0);
        self.captured = DateSpan::over(self.captured, facts.dates());
        self.states[state as usize] += 1;
        facts.capture_notes.iter().for_each(|note| self.capture_notes[note as usize] += 1);
        facts.file_notes.kinds().for_each(|kind| self.file_notes[kind as usize] += 1);
    }

    fn plus(mut self, other: StandingCounts) -> StandingCounts {
        fn add(counts: &mut [u64], others: &[u64]) {
            counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
        self.hosts += other.hosts;
        self.origins += other.origins;
        self.redirected += other.redirected;
        self.in_outage += other.in_outage;
        self.periods += other.periods;
        self.captured = DateSpan::over(self.captured, other.captured);
        add(&mut self.states, &other.states);
        add(&mut self.capture_notes, &other.capture_notes);
        add(&mut self.file_notes, &other.file_notes);
        self
    }
}

/// Returns the number of periods of a timeline. Other records of a file do not change its policy.
fn periods(timeline: &Timeline) -> u64 {
    let policy = |moment: &Moment| match moment.standing.content {
        Content::File { extract, .. } => Ok(extract),
        Content::Access(outcome) => Err(outcome),
    };
    timeline.chunk_by(|one, next| policy(one) == policy(next)).count() as u64
}

/// Returns for each blob whether it is the extract of some host and has a rule.
fn rule_marks(hosts: &[HostStanding], pool: &BlobPool) -> Vec<bool> {
    let mut extracts: Vec<BlobID> = Vec::new();
    let mut marks = vec![false; pool.places()];
    for standing in hosts.iter().flat_map(standings) {
        if let Content::File { extract, .. } = standing.content
            && !std::mem::replace(&mut marks[extract.index()], true)
        {
            extracts.push(extract);
        }
    }
    let is_rule = |record: ListedRecord<'_>| {
        matches!(record.role, Role::Access(RecordKind::Allow | RecordKind::Disallow))
    };
    let has_rule =
        |&extract: &BlobID| ListReader::of_extract(pool.get(extract)).flatten().any(is_rule);
    let has_rules: Vec<bool> = extracts.par_iter().map(has_rule).collect();
    extracts.iter().zip(has_rules).for_each(|(extract, mark)| marks[extract.index()] = mark);
    marks
}
