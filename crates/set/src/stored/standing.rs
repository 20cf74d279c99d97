//! The standing of an origin: what follows from the captures that count at a time, along redirects.
//!
//! Compiling settles each origin as of its newest captures, and a set with history answers as of any time.
//! Both come here, with the captures that count of a resource at that time ([`View`]), and a function that
//! follows a redirect to the captures of its target.
//!
//! The result applies to the origin of the first request (RFC 9309, section 2.3.1.2). Redirects within a
//! capture and between captures both count, and the dialect limits their number, so a loop ends.
//!
//! † A redirect to a resource that was not captured, or to no URL, is the dialect's `other_status`:
//! an unknown answer never allows.
//!
//! † Redirects that do not end are the archive's, and not the server's, where a capture of a host leads back
//! to it, or one leads to a capture that is older by more than a day: then a target is missing.
//!
//! † An outage is that of the resource at the end of the redirects. Its last good copy is the
//! newest file of all resources on the way, even if an answer without a file came after it. Of two
//! equally new files, that of the later resource counts. A resource that was not captured, a
//! redirect to nowhere, a "not modified" without a file and an answer whose body the archive lacks are no
//! outages.
//!
//! † A policy behind redirects has the age of the oldest answer on the way, and expires with the
//! first of them: each is used again as long as the policy is. An answer without a date leaves the
//! policy without one.
//!
//! Cost: a step for each redirect. Nothing here can fail but following.

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::limits::LOOP_AGE_SECONDS_MAX;
use portcullis_dialect::{Access, AccessOutcome, AccessRules, Fetched};
use portcullis_robots::access::{
    CaptureNote, KnownOutage, LongOutage, Outage, Serving, UnixSeconds, at_once, serving,
};

use super::CaptureFacts;

/// A capture, with the content of its file if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Seen<C> {
    /// How it was made. The redirects are those within the capture itself.
    pub facts: CaptureFacts,
    /// The content of a file.
    pub content: Option<C>,
}

/// The captures of a resource that count at a time, and where a redirect leads, if it is one.
#[derive(Clone, Copy, Debug)]
pub struct View<C, L> {
    /// The newest capture.
    pub newest: Seen<C>,
    /// The newest file, which may be the newest capture. `None` since a revisit of another file.
    pub file: Option<Seen<C>>,
    /// The date of the first failure since the last answer, if one has a date.
    pub failing_since: Option<UnixSeconds>,
    /// The target of the newest capture.
    pub location: L,
}

/// The target of a redirect.
pub enum Target<V> {
    /// No URL.
    Nowhere,
    /// A resource that was not captured by then.
    Missing,
    /// The captures of a resource.
    Found(V),
}

/// The standing of an origin: what it says, or the outcome that follows from its silence, and its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing<C> {
    /// The content of its robots.txt, or the access that follows from its absence.
    pub content: C,
    /// When and how the content was captured.
    pub facts: CaptureFacts,
}

/// How the standing of an origin follows from captures.
#[derive(Clone, Copy, Debug)]
pub struct Resolving {
    /// The rules of the dialect.
    pub rules: &'static AccessRules,
    /// The effect of long outages.
    pub long_outage: LongOutage,
    /// The time as of which outages are judged; `None` for that of the last failure.
    pub as_of: Option<UnixSeconds>,
}

/// Returns the standing of an origin with these captures. `follow` returns what the redirect that counts
/// in a view leads to.
///
/// # Errors
///
/// The errors of `follow`.
pub fn standing<C: Copy + From<AccessOutcome>, L, E>(
    resolving: &Resolving,
    first: View<C, L>,
    mut follow: impl FnMut(&View<C, L>) -> Result<Target<View<C, L>>, E>,
) -> Result<Standing<C>, E> {
    let rules = resolving.rules;
    let input = first.newest.facts.input;
    let mut step = Step {
        followed: first.newest.facts.redirects_followed.into(),
        copy: first.file,
        received: Received::of(first.newest.facts),
        is_unsure: false,
        view: first,
    };
    let Standing { content, facts } = loop {
        let newest = &step.view.newest;
        match rules.resolve(newest.facts.answer(), step.followed) {
            Access::File => break step.of_file(newest),
            Access::NotModified => break step.confirmed(rules),
            Access::Outcome(_) if step.turns_back() => {
                break step.without_end(CaptureNote::RedirectTargetMissing, rules);
            }
            Access::Outcome(outcome) => break step.failed(outcome, resolving),
            Access::Follow => {}
        }
        match follow(&step.view)? {
            Target::Nowhere => break step.without_end(CaptureNote::RedirectToNowhere, rules),
            Target::Missing => break step.without_end(CaptureNote::RedirectTargetMissing, rules),
            Target::Found(view) => step = step.then(view),
        }
    };
    let facts = CaptureFacts { input, ..step.received.apply_to(facts) };
    Ok(Standing { content, facts })
}

/// A capture on the way along redirects, and how it was reached.
struct Step<C, L> {
    view: View<C, L>,
    /// The number of redirects followed so far, including those within the capture.
    followed: u32,
    /// The newest file of all targets so far.
    copy: Option<Seen<C>>,
    received: Received,
    /// Whether a capture on the way does not say which origin redirected, or is older than the redirect to it by
    /// more than a day. Then the server may have given an end.
    is_unsure: bool,
}

impl<C: Copy + From<AccessOutcome>, L> Step<C, L> {
    /// Returns the step from this one to the target of a redirect.
    fn then(self, view: View<C, L>) -> Step<C, L> {
        let (left, newest) = (self.view.newest.facts, view.newest.facts);
        // A capture without a date is older than all others.
        let is_older = |from: UnixSeconds| {
            newest.captured_at.is_none_or(|to| from.since(to) > LOOP_AGE_SECONDS_MAX)
        };
        let is_old = left.captured_at.is_some_and(is_older);
        let copies = self.copy.into_iter().chain(view.file);
        Step {
            followed: self.followed + 1 + u32::from(newest.redirects_followed),
            copy: copies.max_by_key(|file| file.facts.captured_at),
            received: self.received.and(Received::of(newest)),
            is_unsure: self.is_unsure || left.lacks_target() || is_old,
            view,
        }
    }

    /// Whether the newest capture is a redirect.
    fn leads_on(&self) -> bool {
        matches!(self.view.newest.facts.answer(), Fetched::Status(300..=303 | 305..=399))
    }

    /// Whether redirects do not end, and perhaps only in the archive.
    fn turns_back(&self) -> bool {
        let is_unsure = self.is_unsure || self.view.newest.facts.lacks_target();
        is_unsure && self.leads_on()
    }

    /// Returns the standing for a file, which counts or is confirmed.
    fn of_file(&self, file: &Seen<C>) -> Standing<C> {
        // Fewer redirects do not make another answer a file.
        let content = file.content.expect("the capture of a file has its content");
        Standing { content, facts: self.facts(file) }
    }

    /// Returns the standing for the file that the newest capture confirms.
    fn confirmed(&self, rules: &AccessRules) -> Standing<C> {
        let Some(file) = &self.view.file else {
            return self.outcome(rules.other_status, rules);
        };
        let CaptureFacts { status, capture_notes, .. } = self.view.newest.facts;
        let Standing { content, facts } = self.of_file(file);
        let capture_notes = facts.capture_notes.union(capture_notes);
        Standing { content, facts: CaptureFacts { status, capture_notes, ..facts } }
    }

    fn outcome(&self, outcome: AccessOutcome, rules: &AccessRules) -> Standing<C> {
        let newest = &self.view.newest;
        let mut facts = self.facts(newest);
        let redirects_max = u32::from(rules.redirects_max);
        let are_too_many =
            self.followed > redirects_max || (self.followed == redirects_max && self.leads_on());
        if are_too_many && !self.turns_back() {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::TooManyRedirects);
        }
        Standing { content: outcome.into(), facts }
    }

    /// Returns the standing for a redirect that leads to nothing.
    fn without_end(&self, note: CaptureNote, rules: &AccessRules) -> Standing<C> {
        let mut standing = self.outcome(rules.other_status, rules);
        standing.facts.capture_notes = standing.facts.capture_notes.with(note);
        standing
    }

    /// Returns the standing for `outcome` of the last answer, which may be part of a long outage.
    fn failed(&self, outcome: AccessOutcome, resolving: &Resolving) -> Standing<C> {
        let &Resolving { rules, long_outage, as_of } = resolving;
        let mut standing = self.outcome(outcome, rules);
        let View { newest, failing_since: since, .. } = &self.view;
        if newest.facts.lacks_body() {
            return standing;
        }
        if let Some(serves) = at_once(outcome, long_outage, rules) {
            let notes = &mut standing.facts.capture_notes;
            *notes = notes.with(CaptureNote::OutageUnavailable);
            standing.content = serves.into();
            return standing;
        }
        let as_of = as_of.or(newest.facts.captured_at);
        let (&Some(since), Some(as_of), PolicyState::Unreachable) = (since, as_of, outcome.state)
        else {
            return standing;
        };
        let outage = Outage { first_failure: since, outcome };
        let serving = serving(&outage, as_of, self.copy.is_some(), long_outage, rules);
        let facts = &mut standing.facts;
        let mut known = KnownOutage { since, change: LongOutage::NoChange, copy_captured_at: None };
        match serving {
            Serving::Outcome(serves) if serves == outcome => {}
            Serving::Outcome(serves) => {
                known.change = LongOutage::Unavailable;
                facts.capture_notes = facts.capture_notes.with(CaptureNote::OutageUnavailable);
                standing.content = serves.into();
            }
            Serving::LastGoodCopy => {
                let copy = self.copy.as_ref().expect("a copy that serves was captured");
                known.change = LongOutage::LastGoodCopy;
                known.copy_captured_at = copy.facts.captured_at;
                let notes = facts.capture_notes.union(copy.facts.capture_notes);
                facts.capture_notes = notes.with(CaptureNote::OutageLastGoodCopy);
                facts.file_notes = copy.facts.file_notes;
                facts.file_bytes = copy.facts.file_bytes;
                standing.content = self.of_file(copy).content;
            }
        }
        standing.facts.outage = Some(known);
        standing
    }

    fn facts(&self, capture: &Seen<C>) -> CaptureFacts {
        let redirects_followed = u8::try_from(self.followed).unwrap_or(u8::MAX);
        CaptureFacts { redirects_followed, ..capture.facts }
    }
}

/// When the answers on the way were received, and when the first of them expires.
#[derive(Clone, Copy)]
pub(super) struct Received {
    oldest: Option<UnixSeconds>,
    newest: Option<UnixSeconds>,
    expires_at: Option<UnixSeconds>,
}

impl Received {
    pub fn of(CaptureFacts { captured_at, expires_at, .. }: CaptureFacts) -> Received {
        Received { oldest: captured_at, newest: captured_at, expires_at }
    }

    /// Adds an answer. `None` is less than any date, so the oldest date is lost if one is missing.
    pub fn and(self, next: Received) -> Received {
        Received {
            oldest: self.oldest.min(next.oldest),
            newest: self.newest.max(next.newest),
            expires_at: self.expires_at.min(next.expires_at),
        }
    }

    /// Returns whether an answer with these dates, or later ones, adds none to them.
    pub fn hides_dates(&self, next: &CaptureFacts) -> bool {
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
