//! Timelines: the history of each origin, and the moment that a time falls in.
//!
//! A set has them if it was compiled with history. The timeline of an origin is a slice of 16-byte
//! rows, ordered by time; that of an origin with a single moment is empty and follows from its
//! capture. A row is a moment, or *follows* the timeline of a redirect's target until the next row.
//! `FORMAT.md`, section 19, defines both sections.
//!
//! Cost: a binary search among the rows of one origin, and one for each timeline that it follows. Errors:
//! [`Damage`], as for every read.

use zerocopy::IntoBytes;

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_engine::vectors::prefetch;
use portcullis_robots::access::{KnownOutage, UnixSeconds};

use super::hosts::{Place, StoredCapture, StoredHost, place};
use super::{CaptureFacts, PolicyNumber, PolicySet, Sections};
use crate::file::{Damage, Section};
use crate::layout::{CaptureRow, MomentRow, NONE};
use crate::limits::{TIMELINE_SECONDS_END, TIMELINES_FOLLOWED_MAX};

/// The longest timeline whose moments are counted, not searched.
const COUNTED_MAX: usize = 16;

/// The history of an origin: its moments, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct StoredTimeline<'s> {
    set: &'s PolicySet,
    rows: &'s [MomentRow],
    policy: u32,
    capture: u32,
}

/// Where a timeline has what a time falls in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MomentAt {
    pub(crate) row: u32,
    pub(crate) time: UnixSeconds,
}

/// The policy of an origin from one time on, until the next moment.
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

impl Sections {
    /// Returns both sections of timelines, if the set has them.
    pub(super) fn timelines(&self) -> Option<(Section, Section)> {
        self.timelines.zip(self.moments)
    }
}

impl PolicySet {
    /// Returns whether the set has the history of its origins.
    pub fn has_history(&self) -> bool {
        self.sections.timelines().is_some()
    }

    /// Returns the number of moments that are stored; those of origins with one moment are not.
    pub fn moments(&self) -> u64 {
        let bytes = self.sections.moments.map_or(0, |section| section.bytes);
        bytes / size_of::<MomentRow>() as u64
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
            self.prefetch(section, capture.into());
        }
    }

    /// Returns the damage of a moment.
    #[cold]
    pub fn malformed_moment(&self, what: &'static str) -> Damage {
        let moments = self.sections.moments.expect("a set with moments has the section");
        self.malformed(moments, 0, what)
    }

    /// Returns the timeline of an origin with this policy and capture, which is empty in a set
    /// without history.
    #[inline]
    pub(crate) fn timeline(
        &self,
        policy: PolicyNumber,
        capture: u32,
    ) -> Result<StoredTimeline<'_>, Damage> {
        let mut timeline = StoredTimeline { set: self, rows: &[], policy: policy.0, capture };
        let Some(sections) = self.sections.timelines() else { return Ok(timeline) };
        timeline.rows = self.rows_of_timeline(sections, capture)?;
        Ok(timeline)
    }

    /// Returns the rows of a timeline: those of captures of origins have the numbers of these.
    #[inline(always)]
    fn rows_of_timeline(
        &self,
        (starts, moments): (Section, Section),
        number: u32,
    ) -> Result<&[MomentRow], Damage> {
        let words = self.words(starts, number, 2)?;
        let (first, end) = (words[0].get(), words[1].get());
        match end.checked_sub(first) {
            None => Err(self.malformed(starts, number, "a timeline ends before it begins")),
            Some(0) => Ok(&[]),
            Some(count) => self.file.items(moments, first.into(), count.into()),
        }
    }

    /// Returns the rows of the timeline that a row follows, and what the redirect to it adds.
    #[cold]
    fn followed(&self, row: &MomentRow) -> Result<(&[MomentRow], CaptureFacts), Damage> {
        let redirect = self.capture_of_row(row)?;
        let captures = self.sections.captures.bytes / size_of::<CaptureRow>() as u64;
        let number = u32::try_from(captures).ok().and_then(|it| it.checked_add(redirect.others));
        let is_missing = || self.malformed_moment("a moment follows a timeline that is not there");
        let sections = self.sections.timelines().ok_or_else(is_missing)?;
        let rows = self.rows_of_timeline(sections, number.ok_or_else(is_missing)?)?;
        Ok((rows, redirect.facts))
    }

    /// Returns the capture of a moment, with the times and the input that its row gives it.
    #[inline]
    fn capture_of_row(&self, row: &MomentRow) -> Result<StoredCapture<'_>, Damage> {
        let capture = self.moment_capture(row.capture.get())?;
        let CaptureFacts { captured_at: age, expires_at, span_seconds, .. } = capture.facts;
        if span_seconds != 0 {
            return Err(self.malformed_moment("a moment has a capture that lasts for a time"));
        }
        let date = |UnixSeconds(age)| row.since().checked_sub(age).map(UnixSeconds);
        let captured_at = age.map(date);
        if captured_at == Some(None) {
            return Err(self.malformed_moment("a moment has a capture from before 1970"));
        }
        let captured_at = captured_at.flatten();
        let serves = expires_at.zip(age).map(|(expires_at, age)| expires_at.since(age));
        let facts = CaptureFacts {
            captured_at,
            expires_at: captured_at.zip(serves).map(|(at, seconds)| at.after(seconds)),
            input: row.input(),
            ..capture.facts
        };
        Ok(StoredCapture { facts, ..capture })
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
        let policy = self.policy(https).filter(|_| self.set.has_history());
        let timeline = |policy| self.set.timeline(policy, self.capture_of_policy(https)?);
        policy.map(timeline).transpose()
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
        let is_long =
            |outage: KnownOutage| self.since == outage.since.after(LONG_UNREACHABLE_SECONDS + 1);
        !facts.outage.is_some_and(is_long) || facts.begins_at() == self.since
    }
}

impl<'s> StoredTimeline<'s> {
    /// Returns where the first moment is; `None` if there is none, for absurd dates.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn first(&self) -> Result<Option<MomentAt>, Damage> {
        let time = match self.rows.first() {
            Some(row) => UnixSeconds(row.since()),
            None => self.only()?.since,
        };
        Ok((time.0 < TIMELINE_SECONDS_END).then_some(MomentAt { row: 0, time }))
    }

    /// Returns where the last moment is; `None` if there is none, for absurd dates.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn last(&self) -> Result<Option<MomentAt>, Damage> {
        self.find(UnixSeconds(TIMELINE_SECONDS_END - 1))
    }

    /// Returns where the moment is that a time falls in; `None` before the first one.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    #[inline]
    pub fn find(&self, time: UnixSeconds) -> Result<Option<MomentAt>, Damage> {
        let begun = match self.rows {
            [] => usize::from(self.only()?.since <= time),
            rows => begun(rows, time),
        };
        Ok(begun.checked_sub(1).map(|row| MomentAt { row: row as u32, time }))
    }

    /// Returns the number that equal timelines of one host share.
    pub fn capture(&self) -> u32 {
        self.capture
    }

    /// Prefetches what a search reads first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self.rows.get(self.rows.len() / 2) {
            Some(row) => prefetch(row.as_bytes()),
            None => self.set.prefetch_capture(self.capture),
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
        match self.rows {
            [] => Ok(PolicyNumber(self.policy)),
            rows => match rows[at.row as usize].policy.get() {
                NONE => Ok(self.reach(at)?.moment.policy),
                policy => Ok(PolicyNumber(policy)),
            },
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
        match self.rows.get(at.row as usize).filter(|row| !row.follows()) {
            Some(row) => {
                let (since, policy) = (UnixSeconds(row.since()), PolicyNumber(row.policy.get()));
                Ok(StoredMoment { since, policy, capture: self.set.capture_of_row(row)? })
            }
            None => Ok(self.reach(at)?.moment),
        }
    }

    /// Returns all moments, oldest first.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn moments(
        &self,
    ) -> Result<impl Iterator<Item = Result<StoredMoment<'s>, Damage>> + use<'s>, Damage> {
        let (timeline, mut next, mut last) = (*self, self.first()?, None::<StoredMoment<'_>>);
        let mut following = move || {
            while let Some(at) = next.take() {
                let Reached { moment, until } = timeline.reach(at)?;
                next = until.map(|time| timeline.find(time)).transpose()?.flatten();
                // A change of a followed timeline may be none to its follower.
                if !last.replace(moment).is_some_and(|last| last.is_like(&moment)) {
                    return Ok(Some(moment));
                }
            }
            Ok(None)
        };
        Ok(std::iter::from_fn(move || following().transpose()))
    }

    /// Returns a bound on the number of moments.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn moments_max(&self) -> Result<u64, Damage> {
        match self.rows {
            [] => Ok(1),
            rows => self.set.moments_within(rows, (0, u64::MAX), 0),
        }
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
        let index = at.row as usize;
        let Some(row) = self.rows.get(index) else {
            return Ok(Period { since: self.only()?.since, until: None });
        };
        let is_other = |other: &&MomentRow| other.policy != row.policy;
        let (before, after) = self.rows.split_at(index);
        let earlier = before.iter().rposition(|other| is_other(&other));
        let later = after.iter().find(is_other);
        // A timeline that is followed may have the same policy there.
        let ends = [Some(row), earlier.map(|earlier| &before[earlier]), later];
        if ends.into_iter().flatten().any(MomentRow::follows) {
            return self.period_around(at);
        }
        let first = &self.rows[earlier.map_or(0, |earlier| earlier + 1)];
        let until = later.map(|later| UnixSeconds(later.since()));
        Ok(Period { since: UnixSeconds(first.since()), until })
    }

    /// Returns the moments of each period, oldest first.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn periods(&self) -> Result<Vec<Vec<StoredMoment<'s>>>, Damage> {
        let moments = self.moments()?.collect::<Result<Vec<_>, Damage>>()?;
        let periods = moments.chunk_by(|one, other| one.policy == other.policy);
        Ok(periods.map(<[_]>::to_vec).collect())
    }

    /// Returns the moment of an origin that has no other.
    fn only(&self) -> Result<StoredMoment<'s>, Damage> {
        let capture = self.set.capture_at(self.capture)?;
        let since = capture.facts.begins_at();
        let facts = CaptureFacts { span_seconds: 0, ..capture.facts };
        let policy = PolicyNumber(self.policy);
        Ok(StoredMoment { since, policy, capture: StoredCapture { facts, ..capture } })
    }
}

/// What is in force at a time, and until when nothing can change.
struct Reached<'s> {
    moment: StoredMoment<'s>,
    until: Option<UnixSeconds>,
}

/// The row that a time falls in, in the last of the timelines that are followed then.
struct Leaf<'s> {
    rows: &'s [MomentRow],
    index: usize,
    /// The time in which all others are followed.
    since: u64,
    until: Option<u64>,
    /// What the redirects on the way add.
    redirects: Option<CaptureFacts>,
}

impl Leaf<'_> {
    /// Returns when the rows around with the same policy begin, and when they end.
    fn run(&self) -> (u64, Option<u64>) {
        let policy = self.rows[self.index].policy;
        let (before, after) = self.rows.split_at(self.index);
        let first = before.iter().rposition(|row| row.policy != policy).map_or(0, |last| last + 1);
        let next = after.iter().find(|row| row.policy != policy).map(MomentRow::since);
        let until = self.until.into_iter().chain(next).min();
        (self.rows[first].since().max(self.since), until)
    }
}

/// Timelines that follow others.
impl<'s> StoredTimeline<'s> {
    /// Returns what is in force at a time, by the last of the timelines that are followed then.
    #[inline(never)]
    fn reach(&self, at: MomentAt) -> Result<Reached<'s>, Damage> {
        if self.rows.is_empty() {
            return Ok(Reached { moment: self.only()?, until: None });
        }
        let Leaf { rows, index, since, until, redirects } = self.leaf(at)?;
        let row = &rows[index];
        let capture = self.set.capture_of_row(row)?;
        let capture = StoredCapture { facts: behind(redirects, capture.facts), ..capture };
        let since = UnixSeconds(row.since().max(since));
        let next = rows.get(index + 1).map(MomentRow::since);
        let until = until.into_iter().chain(next).min();
        let moment = StoredMoment { since, policy: PolicyNumber(row.policy.get()), capture };
        Ok(Reached { moment, until: until.map(UnixSeconds) })
    }

    /// Returns the row that a time falls in, which is there.
    fn leaf(&self, at: MomentAt) -> Result<Leaf<'s>, Damage> {
        let (mut rows, mut index) = (self.rows, at.row as usize);
        let (time, mut since, mut until, mut redirects) = (at.time.0, 0, None, None);
        for _ in 0..=TIMELINES_FOLLOWED_MAX {
            let row = &rows[index];
            let next = rows.get(index + 1).map(MomentRow::since);
            if row.since() > time || next.is_some_and(|next| next <= time) {
                return Err(self.set.malformed_moment("moments are not in order"));
            }
            if !row.follows() {
                return Ok(Leaf { rows, index, since, until, redirects });
            }
            since = row.since().max(since);
            until = until.into_iter().chain(next).min();
            let (followed, redirect) = self.set.followed(row)?;
            redirects = Some(behind(redirects, redirect));
            let begun = begun(followed, UnixSeconds(time)).checked_sub(1);
            let is_late = || self.set.malformed_moment("a moment follows a later timeline");
            (rows, index) = (followed, begun.ok_or_else(is_late)?);
        }
        Err(self.set.malformed_moment("too many timelines follow each other"))
    }

    /// Returns the period of a moment, by the rows around it, in the timelines that are followed before and
    /// after too.
    fn period_around(&self, at: MomentAt) -> Result<Period, Damage> {
        let leaf = self.leaf(at)?;
        let policy = leaf.rows[leaf.index].policy;
        let (mut since, mut until) = leaf.run();
        let run_at = |time| {
            let leaf = self.find(UnixSeconds(time))?.map(|at| self.leaf(at)).transpose()?;
            Ok(leaf.filter(|it| it.rows[it.index].policy == policy).map(|it| it.run()))
        };
        while let Some(before) = since.checked_sub(1)
            && let Some((earlier, _)) = run_at(before)?
        {
            since = earlier;
        }
        while let Some(time) = until
            && let Some((_, later)) = run_at(time)?
        {
            until = later;
        }
        Ok(Period { since: UnixSeconds(since), until: until.map(UnixSeconds) })
    }
}

impl PolicySet {
    /// Returns a bound on the moments of a timeline from a time to another one, which follows so many
    /// timelines.
    fn moments_within(
        &self,
        rows: &[MomentRow],
        (from, until): (u64, u64),
        depth: usize,
    ) -> Result<u64, Damage> {
        if depth > TIMELINES_FOLLOWED_MAX {
            return Err(self.malformed_moment("too many timelines follow each other"));
        }
        let first = begun(rows, UnixSeconds(from)).saturating_sub(1);
        let rows = &rows[first..];
        let ends = rows.iter().skip(1).map(MomentRow::since).chain([u64::MAX]);
        let mut moments = 0_u64;
        for (row, end) in rows.iter().zip(ends).take_while(|(row, _)| row.since() < until) {
            // Otherwise parts of a timeline overlap, and a crafted set takes forever.
            if end <= row.since() {
                return Err(self.malformed_moment("moments are not in order"));
            }
            moments = moments.saturating_add(match row.follows() {
                false => 1,
                true => {
                    let (followed, _) = self.followed(row)?;
                    let time = (row.since().max(from), end.min(until));
                    self.moments_within(followed, time, depth + 1)?
                }
            });
        }
        Ok(moments)
    }
}

/// Returns the number of rows that begin at a time or before.
#[inline]
fn begun(rows: &[MomentRow], time: UnixSeconds) -> usize {
    let end = MomentRow::end_of(time.0);
    let begins = |row: &MomentRow| row.since_and_input.get() < end;
    // In a short timeline, counting has no branch that could be mispredicted.
    match rows.len() {
        ..=COUNTED_MAX => rows.iter().map(|row| usize::from(begins(row))).sum(),
        _ => rows.partition_point(begins),
    }
}

/// Returns the facts of an answer behind redirects with these, if there are any: the oldest of all is the
/// date, and the first that expires counts.
fn behind(redirects: Option<CaptureFacts>, facts: CaptureFacts) -> CaptureFacts {
    let Some(redirects) = redirects else { return facts };
    CaptureFacts {
        captured_at: redirects.captured_at.min(facts.captured_at),
        expires_at: redirects.expires_at.min(facts.expires_at),
        capture_notes: redirects.capture_notes.union(facts.capture_notes),
        input: redirects.input,
        ..facts
    }
}
