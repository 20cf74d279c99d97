//! The history of an origin: its standing at each time at which it may change. These are each capture on
//! the way along redirects that differs in more than its dates, and when an outage becomes long.
//!
//! Between two captures of its own, an origin that redirects changes with its target. A few changes are
//! written out; more are those of a timeline that all followers of the target share. So the moments of
//! all origins are at most some for each capture.
//!
//! † A follower whose own file is older than the redirect may have it back while an outage of the target
//! is long. These moments are its own, and written out.

use std::ops::Range;
use std::sync::Arc;

use portcullis_dialect::Access;
use portcullis_files::error::WriteError;
use portcullis_robots::access::UnixSeconds;
use portcullis_set::limits::TIMELINE_SECONDS_END;

use super::{Clock, Origin, Received, Resolver, of_other_scheme, redirects_to};
use crate::limits::MOMENTS_WRITTEN_OUT_MAX;
use crate::shared::{Followed, SharedTimeline};
use crate::standing::{Moment, Standing, Timeline};

impl Resolver<'_> {
    /// Returns the history of an origin, or of a resource that redirects lead to.
    pub(super) fn timeline(&self, origin: &mut Origin<'_>) -> Result<Timeline, WriteError> {
        let mut moments = Timeline::new();
        let mut next = origin.track.begin();
        while let Some(since) = next.filter(|time| time.0 < TIMELINE_SECONDS_END) {
            next = origin.track.next_after(since).filter(|next| *next > since);
            let end = UnixSeconds(TIMELINE_SECONDS_END);
            self.add_moments(origin, since..next.map_or(end, |next| next.min(end)), &mut moments)?;
        }
        moments.shrink_to_fit();
        Ok(moments)
    }

    /// Adds the moments from a capture of the origin to the next one.
    fn add_moments(
        &self,
        origin: &mut Origin<'_>,
        time: Range<UnixSeconds>,
        moments: &mut Timeline,
    ) -> Result<(), WriteError> {
        let before = moments.len();
        let mut next = Some(time.start);
        while let Some(since) = next.filter(|next| *next < time.end) {
            next = self.add_moment(origin, since, moments)?;
            if moments.len() - before > MOMENTS_WRITTEN_OUT_MAX
                && let Some(followed) = self.followed(origin, time.start)?
            {
                moments.truncate(before);
                return self.follow(origin, &followed, time, moments);
            }
        }
        Ok(())
    }

    /// Adds the moment that begins at a time, unless the standing stays the same. Returns when it may
    /// change next.
    fn add_moment(
        &self,
        origin: &mut Origin<'_>,
        since: UnixSeconds,
        moments: &mut Timeline,
    ) -> Result<Option<UnixSeconds>, WriteError> {
        let mut clock = Clock { at: Some(since), next: None };
        let standing = self.standing_at(origin, &mut clock)?.map(Standing::without_span);
        let is_same = |last: &Moment, standing| last.follows.is_none() && last.standing == standing;
        if let Some(standing) = standing
            && !moments.last().is_some_and(|last| is_same(last, standing))
        {
            moments.push(Moment::plain(since, standing));
        }
        Ok(clock.next)
    }

    /// Adds the moments of an origin from its capture at a time, a redirect, to its next one.
    fn follow(
        &self,
        origin: &mut Origin<'_>,
        followed: &Followed,
        time: Range<UnixSeconds>,
        moments: &mut Timeline,
    ) -> Result<(), WriteError> {
        let timeline = &*followed.timeline;
        let has_copy = origin.track.view(Some(time.start)).is_some_and(|view| view.file.is_some());
        let mut next = Some(time.start);
        while let Some(since) = next.filter(|next| *next < time.end) {
            let is_own = has_copy && timeline.is_in_long_outage(since);
            if is_own || since < timeline.begin() {
                next = self.add_moment(origin, since, moments)?;
                continue;
            }
            let mut clock = Clock { at: Some(since), next: None };
            if let Some(standing) = self.standing_at(origin, &mut clock)? {
                let follows = Some(Box::new(followed.clone()));
                moments.push(Moment { since, standing: standing.without_span(), follows });
            }
            next = timeline.next_long_outage(since).filter(|_| has_copy);
        }
        Ok(())
    }

    /// Returns the timeline that an origin follows from its capture at a time; `None` if the capture is
    /// no redirect, or one to nothing that was captured.
    fn followed(
        &self,
        origin: &mut Origin<'_>,
        time: UnixSeconds,
    ) -> Result<Option<Followed>, WriteError> {
        let Some(first) = origin.track.view(Some(time)) else { return Ok(None) };
        let redirects = redirects_to(origin, &first);
        if self.rules.resolve(first.newest.answer(), redirects) != Access::Follow {
            return Ok(None);
        }
        let Some((url, place)) = self.target(origin.url, &first.newest)? else { return Ok(None) };
        let Some(track) = self.find(origin, place)? else { return Ok(None) };
        let redirects = redirects.saturating_add(1);
        let mut target = Origin { url: &url, redirects, track: &track, found: Vec::new() };
        let Received { oldest, expires_at, .. } = Received::of(first.newest.facts);
        let timeline = self.shared_timeline(&mut target)?;
        let followed = |timeline| Followed { timeline, captured_at: oldest, expires_at };
        Ok(timeline.map(followed))
    }

    /// Returns the timeline of a resource that redirects lead to; `None` if it has no moment.
    fn shared_timeline(
        &self,
        target: &mut Origin<'_>,
    ) -> Result<Option<Arc<SharedTimeline>>, WriteError> {
        let name = (target.url.into(), target.redirects);
        if let Some(known) = self.recent().timelines.get(&name) {
            return Ok(Some(known));
        }
        let moments = self.timeline(target)?;
        let timeline = SharedTimeline::new(target.url, target.redirects, moments).map(Arc::new);
        if let Some(timeline) = &timeline {
            let moments = timeline.moments().len();
            self.recent().timelines.insert(name, Arc::clone(timeline), moments);
        }
        Ok(timeline)
    }
}

/// Returns the timeline of an origin, which has the policies of the other scheme before its first capture.
pub(super) fn joined(own: &Timeline, other: &Timeline) -> Timeline {
    let is_before = |moment: &&Moment| own.first().is_none_or(|first| moment.since < first.since);
    let before = other.iter().take_while(is_before).cloned();
    let before = before.map(|it| Moment { standing: of_other_scheme(it.standing), ..it });
    before.chain(own.iter().cloned()).collect()
}
