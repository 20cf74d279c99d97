//! Timelines that origins share: those of the resources to which they redirect.
//!
//! An origin behind a redirect changes with its target. The changes of a target are made and stored once,
//! and an origin [follows](Followed) them from one of its own captures to the next: the policy and the
//! outages are those of the target, and the date and the expiry the earlier ones of both.
//!
//! A followed timeline may follow another one, for as many redirects as the dialect follows.

use std::ops::Range;
use std::sync::Arc;

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_robots::access::{DateSpan, UnixSeconds};

use super::standing::{Content, Moment, Timeline};

/// The timeline of a resource for those that redirect to it.
#[derive(Debug)]
pub struct SharedTimeline {
    url: Box<[u8]>,
    followed: u32,
    moments: Timeline,
    /// How often the policy changed from the first moment to the beginning of each.
    changes: Vec<u64>,
    /// Whether the date is always known. Then it only grows.
    is_dated: bool,
    /// When an outage is long, in order: an older copy of a follower may then serve.
    long_outages: Vec<Range<UnixSeconds>>,
    held: usize,
}

/// A timeline that a moment follows, with what the redirect to it adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The timeline of the redirect's target.
    pub timeline: Arc<SharedTimeline>,
    /// When the redirect was captured, if known.
    pub captured_at: Option<UnixSeconds>,
    /// When the redirect expires, if known.
    pub expires_at: Option<UnixSeconds>,
}

/// All timelines are made of the same captures, so this one follows from where it begins.
impl PartialEq for SharedTimeline {
    fn eq(&self, other: &SharedTimeline) -> bool {
        (&self.url, self.followed) == (&other.url, other.followed)
    }
}

impl Eq for SharedTimeline {}

impl SharedTimeline {
    /// Creates the timeline of the resource at `url`, which so many redirects lead to. `None` if it has no
    /// moment.
    pub(crate) fn new(url: &[u8], followed: u32, moments: Timeline) -> Option<SharedTimeline> {
        moments.first()?;
        Some(SharedTimeline {
            url: url.into(),
            followed,
            changes: changes(&moments),
            is_dated: moments.iter().all(Moment::is_dated),
            long_outages: lasting(&moments).flat_map(long_outages).collect(),
            held: held(&moments),
            moments,
        })
    }

    /// Returns the moments.
    pub fn moments(&self) -> &Timeline {
        &self.moments
    }

    /// Returns what tells the timeline from others.
    pub(crate) fn name(&self) -> Vec<u8> {
        [&self.followed.to_le_bytes()[..], &self.url].concat()
    }

    pub(crate) fn begin(&self) -> UnixSeconds {
        self.moments[0].since
    }

    pub(crate) fn is_in_long_outage(&self, time: UnixSeconds) -> bool {
        let ended = self.long_outages.partition_point(|outage| outage.end <= time);
        self.long_outages.get(ended).is_some_and(|outage| outage.start <= time)
    }

    /// Returns when the first long outage after a time begins.
    pub(crate) fn next_long_outage(&self, time: UnixSeconds) -> Option<UnixSeconds> {
        let begun = self.long_outages.partition_point(|outage| outage.start <= time);
        self.long_outages.get(begun).map(|outage| outage.start)
    }

    /// Returns the index of the moment that a time falls in, which is not before the first one.
    fn index_at(&self, time: UnixSeconds) -> usize {
        self.moments.partition_point(|moment| moment.since <= time) - 1
    }

    /// Returns how often the policy changed up to a time.
    fn changes_until(&self, time: UnixSeconds) -> u64 {
        let index = self.index_at(time);
        self.changes[index] + self.moments[index].changes_until(time)
    }
}

impl Moment {
    /// Returns the content at a time in the moment.
    fn content_at(&self, time: UnixSeconds) -> Content {
        let Some(Followed { timeline, .. }) = self.follows.as_deref() else {
            return self.standing.content;
        };
        timeline.moments[timeline.index_at(time)].content_at(time)
    }

    /// Returns the date at a time in the moment.
    fn captured_at(&self, time: UnixSeconds) -> Option<UnixSeconds> {
        let Some(Followed { timeline, captured_at, .. }) = self.follows.as_deref() else {
            return self.standing.facts.captured_at;
        };
        timeline.moments[timeline.index_at(time)].captured_at(time).min(*captured_at)
    }

    /// Returns how often the policy changed from the beginning of the moment to a time in it.
    fn changes_until(&self, time: UnixSeconds) -> u64 {
        let of_followed = |Followed { timeline, .. }: &Followed| {
            timeline.changes_until(time) - timeline.changes_until(self.since)
        };
        self.follows.as_deref().map_or(0, of_followed)
    }

    /// Returns whether the date is known in the whole moment.
    fn is_dated(&self) -> bool {
        match self.follows.as_deref() {
            None => self.standing.facts.captured_at.is_some(),
            Some(Followed { captured_at, timeline, .. }) => {
                captured_at.is_some() && timeline.is_dated
            }
        }
    }

    /// Returns the dates in a part of the moment.
    fn dates(&self, time: Range<UnixSeconds>) -> Option<DateSpan> {
        if self.follows.is_none() || self.is_dated() {
            let first = self.captured_at(time.start)?;
            return Some(DateSpan { first, last: self.captured_at(before(time.end))? });
        }
        let Followed { timeline, captured_at, .. } = self.follows.as_deref()?;
        let redirect = (*captured_at)?;
        let parts = lasting(&timeline.moments)
            .map(|(moment, until)| (moment, moment.since.max(time.start)..until.min(time.end)));
        let parts = parts.filter(|(_, time)| time.start < time.end);
        let all = parts.fold(None, |all, (moment, time)| DateSpan::over(all, moment.dates(time)));
        let all = all?;
        Some(DateSpan { first: all.first.min(redirect), last: all.last.min(redirect) })
    }
}

/// Returns each moment with its end.
fn lasting(moments: &[Moment]) -> impl Iterator<Item = (&Moment, UnixSeconds)> {
    let ends = moments.iter().skip(1).map(|moment| moment.since);
    moments.iter().zip(ends.chain([UnixSeconds(u64::MAX)]))
}

fn before(time: UnixSeconds) -> UnixSeconds {
    UnixSeconds(time.0 - 1)
}

/// Returns how often the policy changed from the first moment to the beginning of each.
fn changes(moments: &[Moment]) -> Vec<u64> {
    let within = |(moment, until): (&Moment, UnixSeconds)| moment.changes_until(before(until));
    let until_next = lasting(moments).map(within);
    let at_next = moments.windows(2).map(|pair| {
        let last = pair[0].content_at(before(pair[1].since));
        u64::from(!last.has_policy_of(pair[1].standing.content))
    });
    let next = until_next.zip(at_next).scan(0, |sum, (within, at)| {
        *sum += within + at;
        Some(*sum)
    });
    [0].into_iter().chain(next).take(moments.len()).collect()
}

/// Returns the times at which an outage is long, in a moment with its end.
fn long_outages((moment, until): (&Moment, UnixSeconds)) -> Vec<Range<UnixSeconds>> {
    let all = match moment.follows.as_deref() {
        Some(Followed { timeline, .. }) => timeline.long_outages.clone(),
        None => {
            let outage = moment.standing.facts.outage;
            let start = outage.map(|it| it.since.after(LONG_UNREACHABLE_SECONDS + 1));
            start.map(|start| start..until).into_iter().collect()
        }
    };
    let cut = |it: Range<UnixSeconds>| it.start.max(moment.since)..it.end.min(until);
    all.into_iter().map(cut).filter(|it| it.start < it.end).collect()
}

/// Returns the number of moments that are held in memory, of which followers of one timeline count those
/// of this one each.
pub(crate) fn held(moments: &[Moment]) -> usize {
    let followed = moments.iter().filter_map(|moment| moment.follows.as_deref());
    followed.map(|it| it.timeline.held).fold(moments.len(), usize::saturating_add)
}

/// Returns the number of periods of a timeline.
pub(crate) fn periods(moments: &[Moment]) -> u64 {
    let Some(last) = moments.last() else { return 0 };
    let until_last = changes(moments)[moments.len() - 1];
    1 + until_last + last.changes_until(UnixSeconds(u64::MAX))
}

/// Returns the dates of a timeline.
pub(crate) fn dates(moments: &[Moment]) -> Option<DateSpan> {
    let dates = |(moment, until): (&Moment, _)| moment.dates(moment.since..until);
    lasting(moments).map(dates).fold(None, DateSpan::over)
}
