//! Timelines: the history of each origin, and the standing that a time falls in.
//!
//! A set has them if it was compiled with history. Each resource has its own captures, oldest first, once:
//! 16-byte rows, and what was received in rows that captures share. A redirect is an edge to another
//! resource, which is followed when the set is asked, to the captures that count there at that time.
//! [`standing`] says what follows from them. `FORMAT.md`, section 19, defines the sections.
//!
//! Cost: a binary search among the captures of one resource, and one for each redirect that is followed.
//! A period reads the captures in it. Errors: [`Damage`], as for every read.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_dialect::{Access, AccessOutcome};
use portcullis_engine::vectors::prefetch;
use portcullis_robots::access::{CaptureNote, KnownOutage, LongOutage, UnixSeconds};

use super::hosts::{Place, StoredCapture, StoredHost, notes_of, place};
use super::standing::{Received, Resolving, Seen, Target, View, standing};
use super::{CaptureFacts, PolicyNumber, PolicySet, Sections};
use crate::file::{Damage, Section, SectionKind, VERSION};
use crate::layout::{HistoryRow, NONE, NOT_CAPTURED, ResponseRow, TimelinesHead, position};
use crate::limits::TIMELINE_SECONDS_END;

/// The longest timeline whose captures are counted, not searched.
const COUNTED_MAX: usize = 16;

/// The damage of captures among which a search would find another one.
const NOT_IN_ORDER: &str = "captures are not in order";

/// The history of an origin.
#[derive(Clone, Copy, Debug)]
pub struct StoredTimeline<'s> {
    set: &'s PolicySet,
    capture: u32,
    /// The captures of the origin, and of the other scheme of its host, which are used before them.
    own: &'s [HistoryRow],
    other: &'s [HistoryRow],
}

/// The capture that a time falls in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentAt {
    row: u32,
    is_of_other_scheme: bool,
    time: UnixSeconds,
}

/// The standing of an origin from one time on, until the next moment.
#[derive(Clone, Copy, Debug)]
pub struct StoredMoment<'s> {
    /// When it begins; 0 for a capture without a date, which is older than all others.
    pub since: UnixSeconds,
    /// The policy.
    pub policy: PolicyNumber,
    /// The capture that the policy comes from, as of [`since`](StoredMoment::since).
    pub capture: StoredCapture<'s>,
}

/// A time in which the policy of an origin stays the same, but for the lines of its user-agent
/// records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// When it begins; 0 for a capture without a date.
    pub since: UnixSeconds,
    /// When the next one begins; `None` if none follows.
    pub until: Option<UnixSeconds>,
}

/// The sections of histories.
#[derive(Clone, Copy)]
struct History {
    timelines: Section,
    resources: Section,
    rows: Section,
    responses: Section,
}

impl Sections {
    fn history(&self) -> Option<History> {
        Some(History {
            timelines: self.timelines?,
            resources: self.resources?,
            rows: self.history?,
            responses: self.responses?,
        })
    }
}

/// The content of a resource, by the numbers of a set.
#[derive(Clone, Copy)]
enum Said {
    /// The policy of a file, and the position of its other records.
    File(PolicyNumber, Option<u32>),
    Outcome(AccessOutcome),
}

impl From<AccessOutcome> for Said {
    fn from(outcome: AccessOutcome) -> Said {
        Said::Outcome(outcome)
    }
}

/// The captures of a set with history.
impl PolicySet {
    /// Returns whether the set has the history of its origins.
    pub fn has_history(&self) -> bool {
        let is_old = self.file.version() < VERSION;
        self.sections.history().is_some()
            || is_old && self.file.section(SectionKind::OLD_TIMELINES).is_some()
    }

    /// Returns the number of captures in the history.
    pub fn history_captures(&self) -> u64 {
        let bytes = self.sections.history.map_or(0, |section| section.bytes);
        bytes / size_of::<HistoryRow>() as u64
    }

    /// Returns the timeline of an origin; `None` if the origin is unknown, or the set has no history.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn timeline_of(
        &self,
        scheme: &[u8],
        key: &[u8],
    ) -> Result<Option<StoredTimeline<'_>>, Damage> {
        let Some(host) = self.host_of(scheme, key)? else { return Ok(None) };
        host.timeline(place(scheme) == Place::Https)
    }

    /// Prefetches the place of a capture's timeline.
    #[inline]
    pub(crate) fn prefetch_timeline(&self, capture: u32) {
        if let Some(section) = self.sections.timelines {
            let head = size_of::<TimelinesHead>() / size_of::<U32>();
            self.prefetch(section, head as u64 + u64::from(capture));
        }
    }

    /// Returns the timeline of the origin with this capture, which is empty in a set without history.
    #[inline]
    pub(crate) fn timeline(&self, capture: u32) -> Result<StoredTimeline<'_>, Damage> {
        let mut timeline = StoredTimeline { set: self, capture, own: &[], other: &[] };
        let Some(history) = self.sections.history() else { return Ok(timeline) };
        let head = size_of::<TimelinesHead>() / size_of::<U32>();
        let place = head as u64 + u64::from(capture);
        let word = self.file.items::<U32>(history.timelines, place, 1)?[0].get();
        timeline.own = self.resource(history, word >> 1)?;
        if word & 1 != 0 {
            timeline.other = self.resource(history, (word >> 1) ^ 1)?;
        }
        Ok(timeline)
    }

    /// Returns the captures of a resource.
    #[inline(always)]
    fn resource(&self, history: History, number: u32) -> Result<&[HistoryRow], Damage> {
        let words = self.words(history.resources, number, 2)?;
        let (first, end) = (words[0].get(), words[1].get());
        match end.checked_sub(first) {
            None => {
                Err(self.malformed(history.resources, number, "a resource ends before it begins"))
            }
            Some(0) => Ok(&[]),
            Some(count) => self.file.items(history.rows, first.into(), count.into()),
        }
    }

    fn history(&self) -> History {
        self.sections.history().expect("a set with captures of resources has their sections")
    }

    #[cold]
    fn malformed_history(&self, what: &'static str) -> Damage {
        self.malformed(self.history().rows, 0, what)
    }

    fn head(&self) -> Result<&TimelinesHead, Damage> {
        Ok(&self.file.items::<TimelinesHead>(self.history().timelines, 0, 1)?[0])
    }

    fn resolving(&self, as_of: UnixSeconds) -> Result<Resolving, Damage> {
        let number = self.head()?.long_outage.get();
        let long_outage = LongOutage::ALL.into_iter().find(|&it| it as u32 == number);
        let odd = || self.malformed_history("a choice for long outages that is not known");
        let long_outage = long_outage.ok_or_else(odd)?;
        Ok(Resolving { rules: &self.dialect.access, long_outage, as_of: Some(as_of) })
    }

    /// Returns the policy of an outcome that an origin may have at some time.
    fn policy_of_outcome(&self, outcome: AccessOutcome) -> Result<PolicyNumber, Damage> {
        let mut outcomes = self.dialect.access.outcomes().into_iter();
        let place = outcomes.position(|other| other == outcome);
        let policies = &self.head()?.policies;
        let number = place.and_then(|place| position(policies[place]));
        let is_missing = || self.malformed_history("the policy of an answer is not there");
        number.map(PolicyNumber).ok_or_else(is_missing)
    }

    fn response(&self, row: &HistoryRow) -> Result<&ResponseRow, Damage> {
        let responses = self.history().responses;
        Ok(&self.file.items::<ResponseRow>(responses, row.response.get().into(), 1)?[0])
    }

    /// Returns a capture with what it received.
    fn seen(&self, row: &HistoryRow, response: &ResponseRow) -> Result<Seen<Said>, Damage> {
        let notes = notes_of(response.capture_notes, response.file_notes);
        let odd = || self.malformed_history("it has notes that this version does not know");
        let (capture_notes, file_notes) = notes.ok_or_else(odd)?;
        let captured_at = (response.has_date != 0).then(|| UnixSeconds(row.since()));
        let serves = position(response.serves_seconds);
        let facts = CaptureFacts {
            captured_at,
            expires_at: captured_at.zip(serves).map(|(at, seconds)| at.after(seconds.into())),
            status: response.status.get(),
            redirects_followed: response.redirects,
            capture_notes,
            file_notes,
            file_bytes: response.file_bytes.get(),
            input: row.input(),
            ..CaptureFacts::default()
        };
        let access = self.dialect.access.resolve(facts.answer(), response.redirects.into());
        let content = match (access, row.own_policy()) {
            (Access::File, Some(policy)) => {
                Some(Said::File(PolicyNumber(policy), position(response.others_or_target)))
            }
            (Access::File, None) => {
                return Err(self.malformed_history("the capture of a file has no policy"));
            }
            _ => None,
        };
        Ok(Seen { facts, content })
    }

    /// Returns what counts of a resource, whose newest capture at a time is this one.
    fn view_of(
        &self,
        rows: &[HistoryRow],
        index: usize,
        time: UnixSeconds,
    ) -> Result<View<Said, u32>, Damage> {
        self.check_order(rows, index, time)?;
        let response = self.response(&rows[index])?;
        let earlier = |number: U32| {
            let missing = || self.malformed_history("an earlier capture is not there");
            let row = |number| rows[..=index].get(number as usize).ok_or_else(missing);
            position(number).map(row).transpose()
        };
        let file = earlier(response.file)?;
        let file = file.map(|row| self.seen(row, self.response(row)?)).transpose()?;
        if file.is_some_and(|file| file.content.is_none()) {
            return Err(self.malformed_history("an earlier capture is that of no file"));
        }
        let first_failure = earlier(response.first_failure)?;
        Ok(View {
            newest: self.seen(&rows[index], response)?,
            file,
            failing_since: first_failure.map(|row| UnixSeconds(row.since())),
            location: response.others_or_target.get(),
        })
    }

    /// Fails unless a time falls in this capture.
    #[inline]
    fn check_order(
        &self,
        rows: &[HistoryRow],
        index: usize,
        UnixSeconds(time): UnixSeconds,
    ) -> Result<(), Damage> {
        let is_over = rows.get(index + 1).is_some_and(|next| next.since() <= time);
        match rows[index].since() > time || is_over {
            true => Err(self.malformed_history(NOT_IN_ORDER)),
            false => Ok(()),
        }
    }
}

impl<'s> StoredHost<'s> {
    /// Returns the timeline of an origin; `None` if the host has no such origin, or the set no
    /// history.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn timeline(&self, https: bool) -> Result<Option<StoredTimeline<'s>>, Damage> {
        let has_one = self.policy(https).is_some() && self.set.sections.history().is_some();
        has_one.then(|| self.set.timeline(self.capture_of_policy(https)?)).transpose()
    }
}

impl StoredMoment<'_> {
    /// Returns whether both are the same but for when they begin.
    fn is_like(&self, other: &StoredMoment<'_>) -> bool {
        let parts = |it: &StoredMoment<'_>| (it.policy, it.capture.facts, it.capture.others);
        parts(self) == parts(other)
    }

    /// Returns whether a capture begins the moment. Otherwise an outage became long.
    pub fn begins_at_capture(&self) -> bool {
        let facts = &self.capture.facts;
        facts.outage.is_none_or(|outage| self.since != long_since(outage))
            || facts.begins_at() == self.since
    }
}

/// Returns when an outage becomes long.
fn long_since(outage: KnownOutage) -> UnixSeconds {
    outage.since.after(LONG_UNREACHABLE_SECONDS + 1)
}

impl<'s> StoredTimeline<'s> {
    /// Returns where the first moment is; `None` if there is none, for absurd dates.
    pub fn first(&self) -> Option<MomentAt> {
        let rows = [self.own, self.other].into_iter().filter_map(|rows| rows.first());
        let time = rows.map(HistoryRow::since).min()?;
        self.find(UnixSeconds(time))
    }

    /// Returns where the last moment is; `None` if there is none, for absurd dates.
    pub fn last(&self) -> Option<MomentAt> {
        self.find(UnixSeconds(TIMELINE_SECONDS_END - 1))
    }

    /// Returns where the moment is that a time falls in; `None` before the first one.
    #[inline]
    pub fn find(&self, time: UnixSeconds) -> Option<MomentAt> {
        let is_own = |row: &HistoryRow| row.since() <= time.0;
        let is_of_other_scheme = !self.own.first().is_some_and(is_own);
        let row = begun(self.rows(is_of_other_scheme), time).checked_sub(1)?;
        Some(MomentAt { row: row as u32, is_of_other_scheme, time })
    }

    #[inline]
    fn rows(&self, is_of_other_scheme: bool) -> &'s [HistoryRow] {
        if is_of_other_scheme { self.other } else { self.own }
    }

    /// Returns the number that equal timelines of one host share.
    pub fn capture(&self) -> u32 {
        self.capture
    }

    /// Prefetches what a search reads first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Some(row) = self.own.get(self.own.len() / 2) {
            prefetch(row.as_bytes());
        }
    }

    /// Returns the number of the policy of a moment.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    #[inline]
    pub fn policy(&self, at: MomentAt) -> Result<PolicyNumber, Damage> {
        match self.rows(at.is_of_other_scheme)[at.row as usize].own_policy() {
            Some(policy) => Ok(PolicyNumber(policy)),
            None => Ok(self.reach(at, Around::Nothing)?.0.policy),
        }
    }

    /// Returns a moment. It may begin later than the moment that [`StoredTimeline::moments`] has there,
    /// and equals it otherwise.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    pub fn moment(&self, at: MomentAt) -> Result<StoredMoment<'s>, Damage> {
        Ok(self.reach(at, Around::Nothing)?.0)
    }

    /// Returns all moments, oldest first: at each, the policy or its capture changes.
    pub fn moments(&self) -> impl Iterator<Item = Result<StoredMoment<'s>, Damage>> + use<'s> {
        let (timeline, mut next, mut last) = (*self, self.first(), None::<StoredMoment<'_>>);
        let mut following = move || {
            while let Some(at) = next.take() {
                let (moment, leaf) = timeline.reach(at, Around::Nothing)?;
                next = match leaf.next_unlike()?.map(UnixSeconds) {
                    // Otherwise a crafted set takes forever.
                    Some(time) if time <= at.time => {
                        return Err(timeline.set.malformed_history(NOT_IN_ORDER));
                    }
                    time => time.and_then(|time| timeline.find(time)),
                };
                if !last.replace(moment).is_some_and(|last| last.is_like(&moment)) {
                    return Ok(Some(moment));
                }
            }
            Ok(None)
        };
        std::iter::from_fn(move || following().transpose())
    }

    /// Returns the period of a moment.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    pub fn period(&self, at: MomentAt) -> Result<Period, Damage> {
        let (policy, mut since, mut until) = self.run(at)?;
        let run_at = |time| {
            let run = self.find(UnixSeconds(time)).map(|at| self.run(at)).transpose()?;
            Ok(run.filter(|(other, ..)| *other == policy))
        };
        while let Some(time) = since.checked_sub(1)
            && let Some((_, earlier, _)) = run_at(time)?
        {
            since = earlier;
        }
        while let Some(time) = until
            && let Some((.., later)) = run_at(time)?
        {
            until = later;
        }
        Ok(Period { since: UnixSeconds(since), until: until.map(UnixSeconds) })
    }

    /// Returns the moments of each period, oldest first.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn periods(&self) -> Result<Vec<Vec<StoredMoment<'s>>>, Damage> {
        let moments = self.moments().collect::<Result<Vec<_>, Damage>>()?;
        let periods = moments.chunk_by(|one, other| one.policy == other.policy);
        Ok(periods.map(<[_]>::to_vec).collect())
    }
}

/// The time for which a capture on the way holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Until the next capture.
    Nothing,
    /// As long as captures differ in their dates alone, by which the policy stays the same.
    SamePolicy,
}

/// The capture that the policy of an origin comes from at a time.
struct Leaf<'s> {
    set: &'s PolicySet,
    rows: &'s [HistoryRow],
    index: usize,
    /// The time in which all redirects on the way stay the same, and an outage long or not.
    since: u64,
    until: Option<u64>,
    /// The answer that was received on the way; `None` for a capture of the origin itself.
    received: Option<Received>,
}

impl Leaf<'_> {
    fn begin_at(&mut self, time: u64) {
        self.since = self.since.max(time);
    }

    fn end_at(&mut self, time: Option<u64>) {
        self.until = self.until.into_iter().chain(time).min();
    }

    /// Reduces the time to that of a redirect, which leads on.
    fn narrow(&mut self, around: Around) {
        let row = &self.rows[self.index];
        let is_like = |other: &&HistoryRow| {
            around == Around::SamePolicy
                && (other.policy, other.response) == (row.policy, row.response)
        };
        let (before, after) = (&self.rows[..self.index], &self.rows[self.index + 1..]);
        let first = before.iter().rev().take_while(is_like).last().unwrap_or(row);
        let next = after.iter().find(|other| !is_like(other));
        self.begin_at(first.since());
        self.end_at(next.map(HistoryRow::since));
    }

    fn has_ended(&self, row: &HistoryRow) -> bool {
        self.until.is_some_and(|until| row.since() >= until)
    }

    /// Returns when something may change next: a row that differs in its date alone does not if an earlier
    /// date on the way counts.
    fn next_unlike(&self) -> Result<Option<u64>, Damage> {
        let row = &self.rows[self.index];
        let hides = |received: Received| {
            let newest = self.set.seen(row, self.set.response(row)?)?;
            Ok::<_, Damage>(received.hides_dates(&newest.facts))
        };
        let can_skip = self.received.map(hides).transpose()?.unwrap_or(false);
        let is_unlike = |next: &&HistoryRow| {
            let parts = |row: &HistoryRow| (row.policy, row.response);
            !can_skip || parts(next) != parts(row) || self.has_ended(next)
        };
        let next = self.rows[self.index + 1..].iter().find(is_unlike).map(HistoryRow::since);
        Ok(next.into_iter().chain(self.until).min())
    }

    /// Returns when the rows around that give the same policy begin, and when they end.
    fn run(&self) -> Result<(u64, Option<u64>), Damage> {
        let row = &self.rows[self.index];
        let redirects = self.received.map(|_| Ok(self.set.response(row)?.redirects)).transpose()?;
        let is_like = |other: &HistoryRow| {
            Ok::<_, Damage>(match (row.own_policy(), redirects) {
                _ if other.policy != row.policy => false,
                (None, _) => other.response == row.response,
                (Some(_), None) => true,
                // More of them may be too many.
                (Some(_), Some(redirects)) => {
                    other.response == row.response
                        || self.set.response(other)?.redirects == redirects
                }
            })
        };
        let (mut first, mut end) = (self.index, self.index + 1);
        while first > 0 && self.rows[first].since() > self.since && is_like(&self.rows[first - 1])?
        {
            first -= 1;
        }
        while let Some(next) = self.rows.get(end)
            && !self.has_ended(next)
            && is_like(next)?
        {
            end += 1;
        }
        let until = self.rows.get(end).map(HistoryRow::since);
        let until = self.until.into_iter().chain(until).min();
        Ok((self.rows[first].since().max(self.since), until))
    }
}

/// Following redirects.
impl<'s> StoredTimeline<'s> {
    /// Returns what is in force at a time, and the capture that it comes from.
    #[inline(never)]
    fn reach(&self, at: MomentAt, around: Around) -> Result<(StoredMoment<'s>, Leaf<'s>), Damage> {
        let (set, mut leaf) = (self.set, self.leaf(at));
        let first = set.view_of(leaf.rows, leaf.index, at.time)?;
        let found = standing(&set.resolving(at.time)?, first, |view| {
            let target = match view.location {
                NONE => return Ok(Target::Nowhere),
                NOT_CAPTURED => return Ok(Target::Missing),
                number => set.resource(set.history(), number)?,
            };
            let Some(index) = begun(target, at.time).checked_sub(1) else {
                leaf.end_at(target.first().map(HistoryRow::since));
                return Ok(Target::Missing);
            };
            leaf.narrow(around);
            let received = Received::of(view.newest.facts);
            leaf.received = Some(leaf.received.map_or(received, |before| before.and(received)));
            (leaf.rows, leaf.index) = (target, index);
            Ok(Target::Found(set.view_of(target, index, at.time)?))
        })?;
        match found.facts.outage.map(long_since) {
            Some(UnixSeconds(time)) if time <= at.time.0 => leaf.begin_at(time),
            long => leaf.end_at(long.map(|time| time.0)),
        }
        let row = &leaf.rows[leaf.index];
        let (policy, others) = match found.content {
            Said::File(policy, others) => (Ok(policy), others),
            Said::Outcome(outcome) => (set.policy_of_outcome(outcome), None),
        };
        let policy = match (leaf.received, row.own_policy()) {
            (None, Some(own)) => PolicyNumber(own),
            _ => policy?,
        };
        let mut facts = CaptureFacts { span_seconds: 0, ..found.facts };
        if at.is_of_other_scheme {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::OtherScheme);
        }
        let since = UnixSeconds(row.since().max(leaf.since));
        Ok((StoredMoment { since, policy, capture: StoredCapture { set, facts, others } }, leaf))
    }

    /// Returns the capture of the origin itself that a time falls in.
    fn leaf(&self, at: MomentAt) -> Leaf<'s> {
        let (rows, index) = (self.rows(at.is_of_other_scheme), at.row as usize);
        // The first own capture ends the time of the others.
        let own = self.own.first().filter(|_| at.is_of_other_scheme);
        let until = own.map(HistoryRow::since);
        Leaf { set: self.set, rows, index, since: 0, until, received: None }
    }

    /// Returns the policy of a moment, and a time around it in which that stays the same.
    fn run(&self, at: MomentAt) -> Result<(PolicyNumber, u64, Option<u64>), Damage> {
        let leaf = self.leaf(at);
        let (policy, (since, until)) = match leaf.rows[leaf.index].own_policy() {
            Some(policy) => {
                self.set.check_order(leaf.rows, leaf.index, at.time)?;
                (PolicyNumber(policy), leaf.run()?)
            }
            None => {
                let (moment, leaf) = self.reach(at, Around::SamePolicy)?;
                (moment.policy, leaf.run()?)
            }
        };
        // Otherwise a crafted set takes forever.
        match since <= at.time.0 && until.is_none_or(|until| at.time.0 < until) {
            true => Ok((policy, since, until)),
            false => Err(self.set.malformed_history(NOT_IN_ORDER)),
        }
    }
}

/// Returns the number of captures at a time or before.
#[inline]
fn begun(rows: &[HistoryRow], time: UnixSeconds) -> usize {
    let end = HistoryRow::end_of(time.0);
    let begins = |row: &HistoryRow| row.date_and_input.get() < end;
    // In a short timeline, counting has no branch that could be mispredicted.
    match rows.len() {
        ..=COUNTED_MAX => rows.iter().map(|row| usize::from(begins(row))).sum(),
        _ => rows.partition_point(begins),
    }
}
