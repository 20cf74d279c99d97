//! Settles each origin from the captures that may count, and lists the captures of each resource for the
//! history of a set.
//!
//! The result applies to the origin of the first request; [`standing`] has the rules. Here redirects are
//! followed to the newest captures of their targets.
//!
//! † With [`join_schemes`](SettleConfig::join_schemes), an origin of http or https that was not captured,
//! or not yet, has the policy of the other scheme under its key. A captured one has its own.
//!
//! Cost: all captures are read once in the order of their keys, and a block of them for each target of
//! redirects that is not among the last ones, on all threads. Memory: some [`CAPTURES_AT_ONCE`] captures, of
//! some hundred bytes each. Temporary files can fail.
//!
//! [`CAPTURES_AT_ONCE`]: crate::limits::CAPTURES_AT_ONCE

use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_dialect::{Access, AccessOutcome};
use portcullis_files::error::WriteError;
use portcullis_robots::access::{
    CaptureNote, DateSpan, Outage, Serving, UnixSeconds, at_once, location, serving,
};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::limits::TIMELINE_SECONDS_END;
use portcullis_set::stored::{Resolving, Target, View, standing};

use super::captured::{Captured, CapturedReader};
use super::known::{Held, Keyed, Known, are_same};
use super::log::Captures;
use super::place::{self, Place, Slot};
use super::tracks::{Counting, Track};
use crate::hosts::Piece;
use crate::limits::TARGETS_KNOWN_BYTES_MAX;
use crate::pool::{BlobID, BlobPool};
use crate::provenance::SettleConfig;
use crate::recent::Recent;
use crate::standing::{
    Content, HostStanding, Leads, Resources, Standing, Timeline, TimelineCapture,
};

/// Captures to settle, and how.
#[derive(Debug)]
pub(crate) struct Settling {
    pub(crate) captured: Captured,
    pub(crate) settle: SettleConfig,
}

impl Settling {
    /// Returns whether all captures were kept, for the history of each origin.
    pub(crate) fn has_history(&self) -> bool {
        self.captured.keeps.1
    }

    /// Settles the captures, whose files are in `pool`.
    pub(crate) fn settler<'s>(&'s self, pool: &'s BlobPool) -> Settler<'s> {
        let rules = self.captured.keeps.0;
        let as_of = self.settle.time();
        let resolving = Resolving { rules, long_outage: self.settle.long_outage, as_of };
        let recent = Recent::new(TARGETS_KNOWN_BYTES_MAX);
        let resolver = Resolver { settling: self, pool, resolving, recent };
        Settler { resolver, reader: self.captured.reader() }
    }
}

/// Settles the standing of each captured origin. With history, keys of other resources are there too.
pub(crate) struct Settler<'s> {
    resolver: Resolver<'s>,
    reader: CapturedReader<'s>,
}

impl Settler<'_> {
    /// Returns the next keys in their order, each with its captures; none after the last.
    pub(crate) fn next_piece<'p>(&mut self) -> Result<Piece<'p>, WriteError> {
        let Settler { resolver, reader } = self;
        let settled = reader.next_piece()?.into_par_iter().map(|keyed| resolver.host(keyed));
        // In a list of known length first, which does not grow.
        let settled = settled.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
        let (hosts, captures): (Vec<_>, _) = settled.into_iter().unzip();
        Ok(Piece { hosts: hosts.into(), captures })
    }
}

/// A resource to which redirects lead.
#[derive(Clone, Copy)]
struct Resource {
    number: u32,
    /// Its newest captures.
    view: View<Content, Held<BlobID>>,
}

/// Settles the standing of an origin.
struct Resolver<'n> {
    settling: &'n Settling,
    pool: &'n BlobPool,
    resolving: Resolving,
    /// The last resources that redirects led to. Many origins redirect to one.
    recent: Recent<Place, Option<Resource>>,
}

impl Resolver<'_> {
    /// Returns the host with these captures, and them.
    fn host(&self, (key, resources): Keyed) -> Result<(HostStanding, Captures), WriteError> {
        let is_joined = self.settling.settle.join_schemes && place::has_both_schemes(&key);
        let is_origin = place::is_origin(&key);
        let (mut standings, mut timelines) = <([Option<Standing>; 2], [Timeline; 2])>::default();
        let is_counted = is_origin || self.settling.has_history();
        for slot in [Slot::Http, Slot::Https].into_iter().filter(|_| is_counted) {
            // Few resources lead to another, for which their URL is needed.
            let url = || place::url_of(&key, slot);
            let track = Track::of(&resources[slot as usize], self.resolving.rules);
            if is_origin {
                standings[slot as usize] = self.standing(&url, &track)?;
            }
            if self.settling.has_history() {
                timelines[slot as usize] = self.timeline(&url, &track)?;
            }
        }
        if is_joined {
            let of_other_scheme = |standing: Standing| {
                let mut facts = standing.facts;
                facts.capture_notes = facts.capture_notes.with(CaptureNote::OtherScheme);
                Standing { facts, ..standing }
            };
            let joined = |slot: usize| standings[slot].or(standings[1 - slot].map(of_other_scheme));
            standings = [joined(0), joined(1)];
        }
        let [http, https] = standings;
        let of_history = || {
            let is_one = is_one_resource(&resources);
            let [http, https] = timelines;
            Box::new(Resources { http, https: (!is_one).then_some(https), is_joined })
        };
        let history = self.settling.has_history().then(of_history);
        Ok((HostStanding { key, http, https, resources: history }, Captures(resources)))
    }

    /// Returns the standing of an origin; `None` if it was not captured.
    fn standing(
        &self,
        url: &dyn Fn() -> Vec<u8>,
        track: &Track<'_>,
    ) -> Result<Option<Standing>, WriteError> {
        let Some(first) = track.newest() else { return Ok(None) };
        let mut from = None::<Vec<u8>>;
        let found = standing(&self.resolving, first, |view| {
            let Held::Location(location) = view.location else {
                let lacks_target = view.newest.facts.lacks_target();
                return Ok(if lacks_target { Target::Missing } else { Target::Nowhere });
            };
            let from_url = from.take().unwrap_or_else(url);
            let Some((url, place)) = self.target(&from_url, location)? else {
                return Ok(Target::Nowhere);
            };
            from = Some(url);
            let resource = self.resource(place)?;
            Ok(resource.map_or(Target::Missing, |resource| Target::Found(resource.view)))
        })?;
        Ok(Some(found))
    }

    /// Returns the captures of the resource at a URL.
    fn timeline(
        &self,
        url: &dyn Fn() -> Vec<u8>,
        track: &Track<'_>,
    ) -> Result<Timeline, WriteError> {
        // Nearly all redirects of a resource lead to one URL.
        let mut last = None::<(BlobID, Leads)>;
        let mut leads = |location: BlobID| {
            if let Some((_, leads)) = last.filter(|(other, _)| *other == location) {
                return Ok(leads);
            }
            let resource = self.target(&url(), location)?.map(|(_, place)| self.resource(place));
            let leads = match resource.transpose()? {
                None => Leads::Nowhere,
                Some(None) => Leads::NotCaptured,
                Some(Some(resource)) => Leads::To(resource.number),
            };
            last = Some((location, leads));
            Ok::<_, WriteError>(leads)
        };
        let begins = |date: Option<UnixSeconds>| date.is_none_or(|it| it.0 < TIMELINE_SECONDS_END);
        let captures = (0..).zip(track.iter());
        let captures = captures.take_while(|(_, (known, _))| begins(known.facts.captured_at));
        let capture = |(place, (known, counting)): (u32, (&Known<BlobID>, Counting))| {
            let leads = match known.held {
                Held::Location(location) => leads(location)?,
                _ if known.lacks_target(self.resolving.rules) => Leads::NotCaptured,
                _ => Leads::Nowhere,
            };
            Ok(self.timeline_capture((place, known, counting), leads, track))
        };
        captures.map(capture).collect()
    }

    /// Returns a capture of a timeline, with what of the captures before it matters.
    fn timeline_capture(
        &self,
        (place, known, Counting { file, first_failure }): (u32, &Known<BlobID>, Counting),
        leads: Leads,
        track: &Track<'_>,
    ) -> TimelineCapture {
        let rules = self.resolving.rules;
        let none = TimelineCapture {
            facts: known.facts,
            content: None,
            later: [None; 2],
            leads,
            file: None,
            first_failure: None,
        };
        match known.access(rules) {
            Access::File => TimelineCapture { content: known.content(), ..none },
            Access::NotModified => {
                let content = file.and_then(|file| track.capture(file).content());
                let content = content.or(Some(Content::Access(rules.other_status)));
                TimelineCapture { content, file, ..none }
            }
            Access::Follow => {
                let later = [rules.too_many_redirects, rules.other_status].map(Some);
                TimelineCapture { later, file, ..none }
            }
            Access::Outcome(outcome) if outcome.state == PolicyState::Unreachable => {
                let since = first_failure.and_then(|it| track.capture(it).facts.captured_at);
                let later = self.later(outcome, since, track.until(place));
                let content = (later == [None; 2]).then_some(Content::Access(outcome));
                TimelineCapture { content, later, file, first_failure, ..none }
            }
            Access::Outcome(outcome) => {
                TimelineCapture { content: Some(Content::Access(outcome)), ..none }
            }
        }
    }

    /// Returns the outcomes of a failure in an outage since a time, if they change until another time.
    fn later(
        &self,
        outcome: AccessOutcome,
        since: Option<UnixSeconds>,
        until: Option<UnixSeconds>,
    ) -> [Option<AccessOutcome>; 2] {
        let Resolving { rules, long_outage, .. } = self.resolving;
        if let Some(unavailable) = at_once(outcome, long_outage, rules) {
            return [Some(unavailable), None];
        }
        let Some(since) = since else { return [None; 2] };
        let long = since.after(LONG_UNREACHABLE_SECONDS + 1);
        let outage = Outage { first_failure: since, outcome };
        let serves = |copy| serving(&outage, long, copy, long_outage, rules);
        let is_changed = [true, false].map(serves) != [Serving::Outcome(outcome); 2];
        match is_changed && until.is_none_or(|until| long < until) {
            true => [outcome, rules.not_found].map(Some),
            false => [None; 2],
        }
    }

    /// Returns the URL that a redirect of the resource at `from` leads to, and its place. `None` if it
    /// leads to no URL.
    fn target(
        &self,
        from: &[u8],
        location: BlobID,
    ) -> Result<Option<(Vec<u8>, Place)>, WriteError> {
        let url = location::resolve(from, &self.pool.get(location)?);
        Ok(url.and_then(|url| Place::from_url(&url).ok().map(|place| (url, place))))
    }

    /// Returns the resource at a place, if it was captured.
    fn resource(&self, place: Place) -> Result<Option<Resource>, WriteError> {
        let Place { key, slot } = place.clone();
        self.recent.get(place, || {
            let found = self.settling.captured.get(&key)?;
            let resource = found.and_then(|(number, resources)| {
                let view = Track::of(&resources[slot as usize], self.resolving.rules).newest()?;
                let slot = if is_one_resource(&resources) { Slot::Http } else { slot };
                // A set with more keys cannot be compiled.
                Some(Resource { number: (2 * number) as u32 + slot as u32, view })
            });
            Ok((resource, key.len()))
        })
    }
}

/// Returns whether the resources of a key are one in the history of a set.
fn is_one_resource(resources: &[Vec<Known<BlobID>>; 2]) -> bool {
    let leads_on = |known: &Known<BlobID>| matches!(known.held, Held::Location(_));
    are_same(resources) && !resources[0].iter().any(leads_on)
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
    /// The number of captures in the history. 0 unless it was kept.
    pub captures: u64,
    /// The number of these captures that are a web page, JSON or binary data.
    pub pages: u64,
    /// The dates of the oldest and the newest capture that counts, if any has one.
    pub captured: Option<DateSpan>,
    states: [u64; PolicyState::ALL.len()],
    /// The number of origins of whose file the archives lack a part, or all.
    pub lost: u64,
    capture_notes: [u64; CaptureNote::ALL.len()],
    file_notes: [u64; NoteKind::ALL.len()],
}

impl StandingCounts {
    /// Counts a host.
    pub(crate) fn add_host(&mut self, host: &HostStanding) {
        self.hosts += u64::from(host.is_host());
        for standing in host.origins() {
            let state = match standing.content {
                Content::File { has_rules: true, .. } => PolicyState::Rules,
                Content::File { has_rules: false, .. } => PolicyState::NoRules,
                Content::Access(outcome) => outcome.state,
            };
            let facts = &standing.facts;
            self.origins += 1;
            self.in_outage += u64::from(facts.outage.is_some());
            self.lost += u64::from(facts.lacks_body());
            self.redirected += u64::from(facts.redirects_followed > 0);
            self.captured = DateSpan::over(self.captured, facts.dates());
            self.states[state as usize] += 1;
            facts.capture_notes.iter().for_each(|note| self.capture_notes[note as usize] += 1);
            facts.file_notes.iter().for_each(|kind| self.file_notes[kind as usize] += 1);
        }
        for capture in host.timelines().flatten() {
            let date = capture.facts.captured_at.map(DateSpan::from);
            self.captured = DateSpan::over(self.captured, date);
            self.captures += 1;
            let notes = &capture.facts.file_notes;
            self.pages += u64::from(NoteKind::APPEARANCES.iter().any(|&kind| notes.contains(kind)));
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
