//! Timelines: the history of each origin, and the moment that a time falls in.
//!
//! A set has them if it was compiled with history. The timeline of an origin is a slice of 16-byte
//! rows, ordered by time; that of an origin with a single moment is empty and follows from its
//! capture. `FORMAT.md`, section 19, defines both sections.
//!
//! Cost: a binary search among the moments of one origin. Errors: [`Damage`], as for every read.

use zerocopy::IntoBytes;

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_engine::vectors::prefetch;
use portcullis_robots::access::{KnownOutage, UnixSeconds};

use super::hosts::{Place, StoredCapture, StoredHost, place};
use super::{CaptureFacts, PolicyNumber, PolicySet, Sections};
use crate::file::{Damage, Section};
use crate::layout::MomentRow;
use crate::limits::TIMELINE_SECONDS_END;

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
        let Some((starts, moments)) = self.sections.timelines() else { return Ok(timeline) };
        let words = self.words(starts, capture, 2)?;
        let (first, end) = (words[0].get(), words[1].get());
        let Some(count) = end.checked_sub(first) else {
            return Err(self.malformed(starts, capture, "a timeline ends before it begins"));
        };
        if count > 0 {
            timeline.rows = self.file.items(moments, first.into(), count.into())?;
        }
        Ok(timeline)
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
    /// Returns whether a capture begins the moment. Otherwise an outage became long.
    pub fn begins_at_capture(&self) -> bool {
        let facts = &self.capture.facts;
        let is_long =
            |outage: KnownOutage| self.since == outage.since.after(LONG_UNREACHABLE_SECONDS + 1);
        !facts.outage.is_some_and(is_long) || facts.begins_at() == self.since
    }
}

impl<'s> StoredTimeline<'s> {
    /// Returns the number of moments.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    #[expect(clippy::len_without_is_empty, reason = "a timeline is empty only for absurd dates")]
    pub fn len(&self) -> Result<usize, Damage> {
        match self.rows.len() {
            0 => Ok(usize::from(self.only()?.since.0 < TIMELINE_SECONDS_END)),
            count => Ok(count),
        }
    }

    /// Returns the index of the moment that a time falls in; `None` before the first one.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    #[inline]
    pub fn index_at(&self, time: UnixSeconds) -> Result<Option<usize>, Damage> {
        if self.rows.is_empty() {
            return Ok((self.only()?.since <= time).then_some(0));
        }
        let end = MomentRow::end_of(time.0);
        let begins = |row: &MomentRow| row.since_and_input.get() < end;
        // In a short timeline, counting has no branch that could be mispredicted.
        let begun = match self.rows.len() {
            ..=COUNTED_MAX => self.rows.iter().map(|row| usize::from(begins(row))).sum(),
            _ => self.rows.partition_point(begins),
        };
        Ok(begun.checked_sub(1))
    }

    /// Returns the number that equal timelines of one host share.
    pub fn capture(&self) -> u32 {
        self.capture
    }

    /// Prefetches what a search reads first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self.rows.get(self.rows.len() / 2) {
            Some(row) => prefetch(&row.as_bytes()[0]),
            None => self.set.prefetch_capture(self.capture),
        }
    }

    /// Returns the number of the policy at an index.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    #[inline]
    pub fn policy(&self, index: usize) -> PolicyNumber {
        match self.rows {
            [] => PolicyNumber(self.policy),
            rows => PolicyNumber(rows[index].policy.get()),
        }
    }

    /// Returns the moment at an index.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    pub fn moment(&self, index: usize) -> Result<StoredMoment<'s>, Damage> {
        if self.rows.is_empty() {
            return self.only();
        }
        let row = &self.rows[index];
        let capture = self.set.moment_capture(row.capture.get())?;
        let since = UnixSeconds(row.since());
        let CaptureFacts { captured_at: age, expires_at, span_seconds, .. } = capture.facts;
        if span_seconds != 0 {
            return Err(self.set.malformed_moment("a moment has a capture that lasts for a time"));
        }
        let captured_at = age.map(|UnixSeconds(age)| since.0.checked_sub(age).map(UnixSeconds));
        if captured_at == Some(None) {
            return Err(self.set.malformed_moment("a moment has a capture from before 1970"));
        }
        let captured_at = captured_at.flatten();
        let serves = expires_at.zip(age).map(|(expires_at, age)| expires_at.since(age));
        let facts = CaptureFacts {
            captured_at,
            expires_at: captured_at.zip(serves).map(|(at, seconds)| at.after(seconds)),
            input: row.input(),
            ..capture.facts
        };
        let policy = PolicyNumber(row.policy.get());
        Ok(StoredMoment { since, policy, capture: StoredCapture { facts, ..capture } })
    }

    /// Returns all moments, oldest first.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn moments(
        &self,
    ) -> Result<impl Iterator<Item = Result<StoredMoment<'s>, Damage>> + use<'s>, Damage> {
        let timeline = *self;
        Ok((0..self.len()?).map(move |index| timeline.moment(index)))
    }

    /// Returns the period that the moment at an index is part of.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If there is no such moment.
    pub fn period(&self, index: usize) -> Result<Period, Damage> {
        let Some(row) = self.rows.get(index) else {
            return Ok(Period { since: self.only()?.since, until: None });
        };
        let is_other = |other: &&MomentRow| other.policy != row.policy;
        let (before, after) = self.rows.split_at(index);
        let first = before.iter().rev().take_while(|it| !is_other(it)).last().unwrap_or(row);
        let until = after.iter().find(is_other).map(|other| UnixSeconds(other.since()));
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
