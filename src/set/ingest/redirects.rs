//! From the captures that may count to what is known of each origin: redirects are followed through
//! what was captured, a confirmation leads back to the file that it confirms, and a long outage to
//! what the dialect says of it.
//!
//! What is found in the end speaks for the origin that was asked first (RFC 9309, section 2.3.1.2).
//! Each step counts, those within a capture and those between captures, and the dialect says how
//! many are followed; so a loop ends.
//!
//! † A redirect to a place that was not captured, or to no place, is the dialect's `other_status`:
//! what is not known is never a permission.
//!
//! † An outage is that of the resource at the end of the redirects. Its last good copy is the newest
//! file of all resources on the way, of two that are equally new that of the later resource, also if an
//! answer without a file came after it. What was not captured, a redirect to nowhere and a confirmation of nothing are no outages.

use crate::access::{
    Access, Answer, KnownOutage, LongOutage, Outage, Serving, UnixSeconds, resolve, serving,
};
use crate::capture::{CaptureNote, location};
use crate::decision::PolicyState;
use crate::dialect::{AccessOutcome, AccessRules};

use super::super::pool::BlobID;
use super::super::standing::{CaptureFacts, Content, Standing};
use super::hosts::{HostTable, Slot};
use super::known::{Held, Known, union};
use super::newest::{Newest, Target};
use super::place;

/// Finds what is known of origins.
pub(super) struct Resolver<'n> {
    pub(super) newest: &'n Newest,
    /// When outages are judged; `None` if each is judged at its last captured failure.
    pub(super) as_of: Option<UnixSeconds>,
    /// What was asked for.
    pub(super) long_outage: LongOutage,
}

/// A capture that was come to, and how.
struct Step<'n> {
    target: &'n Target,
    /// Redirects that were followed, those within the capture counted.
    followed: u32,
    /// The newest file of all targets so far.
    copy: Option<&'n Known<BlobID>>,
}

impl<'n> Resolver<'n> {
    /// What is known of the origin at `slot` of the host with this key, of which `first` was
    /// captured.
    pub(super) fn standing(&self, key: &[u8], slot: Slot, first: &'n Target) -> Standing {
        let rules = self.newest.rules;
        let (followed, copy) = (redirects_within(first), first.newest_file());
        let mut step = Step { target: first, followed, copy };
        let mut url = None;
        let standing = loop {
            let newest = &step.target.newest;
            match resolve(newest.answer(), step.followed, rules) {
                Access::File => break step.file(newest),
                Access::NotModified => break step.confirmed(rules),
                Access::Outcome(outcome) => break self.failed(&step, outcome),
                Access::Follow => {}
            }
            let base = url.unwrap_or_else(|| place::robots_txt_url(key, slot));
            let Some(next_url) = self.location(newest, &base) else {
                break step.without_end(CaptureNote::RedirectToNowhere, rules);
            };
            let Some(target) = self.find(&next_url) else {
                break step.without_end(CaptureNote::RedirectTargetMissing, rules);
            };
            let followed = step.followed.saturating_add(1).saturating_add(redirects_within(target));
            let copy = step.copy.into_iter().chain(target.newest_file());
            step = Step { target, followed, copy: copy.max_by_key(|file| file.facts.captured_at) };
            url = Some(next_url);
        };
        let CaptureFacts { captured_at, input, .. } = first.newest.facts;
        Standing { facts: CaptureFacts { captured_at, input, ..standing.facts }, ..standing }
    }

    /// What `outcome` of the last answer means, which may be one of a long outage.
    fn failed(&self, step: &Step<'_>, outcome: AccessOutcome) -> Standing {
        let rules = self.newest.rules;
        let mut standing = step.outcome(outcome, rules);
        let as_of = self.as_of.or(step.target.newest.facts.captured_at);
        let (Some(since), Some(as_of)) = (step.target.failures.since(), as_of) else {
            return standing;
        };
        if outcome.state != PolicyState::Unreachable {
            return standing;
        }
        let outage = Outage { first_failure: since, outcome };
        let (change, copy) =
            match serving(&outage, as_of, step.copy.is_some(), self.long_outage, rules) {
                Serving::Outcome(serves) if serves == outcome => (LongOutage::NoChange, None),
                Serving::Outcome(serves) => {
                    standing.content = Content::Access(serves);
                    (LongOutage::Unavailable, None)
                }
                Serving::LastGoodCopy => (LongOutage::LastGoodCopy, step.copy),
            };
        let facts = &mut standing.facts;
        let copy_captured_at = copy.and_then(|copy| copy.facts.captured_at);
        facts.outage = Some(KnownOutage { since, change, copy_captured_at });
        match change {
            LongOutage::NoChange => {}
            LongOutage::Unavailable => {
                facts.capture_notes = facts.capture_notes.with(CaptureNote::OutageUnavailable);
            }
            LongOutage::LastGoodCopy => {
                let copy = step.file(copy.expect("only a copy that is there serves"));
                let notes = union(facts.capture_notes, copy.facts.capture_notes);
                facts.capture_notes = notes.with(CaptureNote::OutageLastGoodCopy);
                facts.file_notes = copy.facts.file_notes;
                facts.file_bytes = copy.facts.file_bytes;
                standing.content = copy.content;
            }
        }
        standing
    }

    /// The URL that a redirect leads to, if it is one.
    fn location(&self, redirect: &Known<BlobID>, base: &[u8]) -> Option<Vec<u8>> {
        let Held::Location(location) = redirect.held else { return None };
        let url = location::resolve(base, self.newest.pool.get(location))?;
        place::of_url(&url, &mut Vec::new(), &mut Vec::new()).is_ok().then_some(url)
    }

    fn find(&self, url: &[u8]) -> Option<&'n Target> {
        let mut key = Vec::new();
        let place = place::of_url(url, &mut Vec::new(), &mut key).ok()?;
        let table: &'n HostTable<Box<Target>> = &self.newest.table;
        table.get(&key, place.slot).map(|target| &**target)
    }
}

impl Step<'_> {
    /// What `file` says.
    fn file(&self, file: &Known<BlobID>) -> Standing {
        let content = match file.held {
            Held::File { extract, others } => Content::File { extract, others },
            Held::Location(_) | Held::Nothing => {
                unreachable!("fewer redirects do not make another answer a file")
            }
        };
        Standing { content, facts: self.facts(file) }
    }

    /// What the file says that the newest capture confirms.
    fn confirmed(&self, rules: &AccessRules) -> Standing {
        let Some(file) = self.target.newest_file() else {
            return self.outcome(rules.other_status, rules);
        };
        let CaptureFacts { expires_at, status, capture_notes, .. } = self.target.newest.facts;
        let Standing { content, facts } = self.file(file);
        let capture_notes = union(facts.capture_notes, capture_notes);
        Standing { content, facts: CaptureFacts { expires_at, status, capture_notes, ..facts } }
    }

    fn outcome(&self, outcome: AccessOutcome, rules: &AccessRules) -> Standing {
        let newest = &self.target.newest;
        let mut facts = self.facts(newest);
        facts.expires_at = None;
        if is_too_many(newest.answer(), self.followed, rules) {
            facts.capture_notes = facts.capture_notes.with(CaptureNote::TooManyRedirects);
        }
        Standing { content: Content::Access(outcome), facts }
    }

    /// What a redirect means that leads to nothing.
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

fn redirects_within(target: &Target) -> u32 {
    u32::from(target.newest.facts.redirects_followed)
}

/// Whether `answer` after so many redirects means that there were too many.
fn is_too_many(answer: Answer, followed: u32, rules: &AccessRules) -> bool {
    let redirects_max = u32::from(rules.redirects_max);
    let leads_on = matches!(answer, Answer::Status(status @ 300..=399) if status != 304);
    followed > redirects_max || (followed == redirects_max && leads_on)
}
