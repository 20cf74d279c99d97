//! The records of a block, and everything that can be asked about them once they are decided.

use std::ops::Range;

use portcullis_dialect::decision::{Decision, PolicyState};

use super::asking::{NO_POLICY, NO_URL};
use super::freshness::AgeCounts;
use super::session::Session;
use super::times::Times;
use crate::Damage;
use crate::layout::NONE;
use crate::stored::{PolicyNumber, StoredCapture};

/// A block of records to decide: URLs as they appear in a list, and what belongs to each.
///
/// A slice, an array or a `Vec` of URLs is a block as well.
#[derive(Debug)]
pub struct Records<'r, R> {
    /// The URLs.
    pub urls: &'r [R],
    /// The times as of which they are decided.
    pub times: Times<'r>,
    /// The agent of each record, if the classifier has
    /// [an agent per record](super::Classifier::with_agent_per_record); empty otherwise.
    pub agents: &'r [&'r [u8]],
}

impl<'r, R> Records<'r, R> {
    /// Returns the same records as of these times.
    #[must_use]
    pub fn at(self, times: Times<'r>) -> Records<'r, R> {
        Records { times, ..self }
    }

    /// Returns the same records with these agents.
    #[must_use]
    pub fn by(self, agents: &'r [&'r [u8]]) -> Records<'r, R> {
        Records { agents, ..self }
    }
}

impl<'r, R> From<&'r [R]> for Records<'r, R> {
    #[inline]
    fn from(urls: &'r [R]) -> Records<'r, R> {
        Records { urls, times: Times::Now, agents: &[] }
    }
}

impl<'r, R, const N: usize> From<&'r [R; N]> for Records<'r, R> {
    #[inline]
    fn from(urls: &'r [R; N]) -> Records<'r, R> {
        Records::from(&urls[..])
    }
}

impl<'r, R> From<&'r Vec<R>> for Records<'r, R> {
    #[inline]
    fn from(urls: &'r Vec<R>) -> Records<'r, R> {
        Records::from(&urls[..])
    }
}

/// The answers on a block of records. They borrow the session, which decides the next block when they
/// are no longer used.
///
/// Decisions and preferences are known. Everything else is looked up when it is asked for, such as the
/// rule behind a decision.
///
/// An *answer* is one for a record and an agent: `record * answers.per_record() + agent`, or the
/// record's number if each has an agent of its own. A method panics if there is no such answer or
/// record. Its error says that a part of the set that it reads is damaged. If the set is mapped, call
/// [`PolicySet::is_whole`](crate::PolicySet::is_whole) before you use what was read.
#[derive(Debug)]
pub struct Answers<'s> {
    pub(super) session: &'s mut Session,
}

/// Records of a block, one after the other, that share scheme and host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRecords<'p> {
    /// The records.
    pub records: Range<usize>,
    /// The scheme as written; empty if the record is not a URL.
    pub scheme: &'p [u8],
    /// The key of the host (see [`host_key`](portcullis_robots::url::host_key)); empty if the record is
    /// not a URL.
    pub key: &'p [u8],
}

impl Answers<'_> {
    /// Returns the session.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Returns the number of answers per record.
    #[inline]
    pub fn per_record(&self) -> usize {
        self.session.classifier.answers_per_record()
    }

    /// Returns one decision for each answer, without its rule: see [`Answers::rule`].
    #[inline]
    pub fn decisions(&self) -> &[Decision] {
        &self.session.block.decisions
    }

    /// Returns the numbers of the policies that decide the records, with times those in force.
    /// [`NO_POLICY`] and [`NO_URL`] mean that there is none.
    pub fn policies(&self) -> &[u32] {
        &self.session.policies
    }

    /// Returns the state of a record's origin; `None` if the record is not a URL.
    pub fn state(&self, record: usize) -> Result<Option<PolicyState>, Damage> {
        match self.session.policies[record] {
            NO_URL => Ok(None),
            NO_POLICY => Ok(Some(PolicyState::Unknown)),
            policy => self.session.classifier.set.policy(PolicyNumber(policy))?.state().map(Some),
        }
    }

    /// Returns the capture that a record's policy comes from, with times that of the moment in force;
    /// `None` if no policy is known.
    pub fn capture(&self, record: usize) -> Result<Option<StoredCapture<'_>>, Damage> {
        let Session { classifier, pieces, policies, found, .. } = &*self.session;
        if policies[record] >= NO_URL {
            return Ok(None);
        }
        if let Some(&found) = found.get(record) {
            return classifier.capture_at(found);
        }
        let capture = classifier.capture_of(pieces.host_of_url(record))?;
        classifier.set.capture_at(capture).map(Some)
    }

    /// Returns the origins, in the order of their records. `urls` are those that were decided.
    ///
    /// # Panics
    ///
    /// If `urls` are others.
    pub fn origins<'p, R: AsRef<[u8]>>(
        &'p self,
        urls: &'p [R],
    ) -> impl Iterator<Item = OriginRecords<'p>> + use<'p, R> {
        self.session.pieces.origins(urls)
    }

    /// Returns the number of records by age of their capture.
    pub fn ages(&self) -> AgeCounts {
        self.session.ages
    }

    /// Returns the index of the agent of an answer among
    /// [`Classifier::agents`](super::Classifier::agents). `None` if each record has an agent of its own,
    /// and this one is not asked about.
    #[inline]
    pub fn agent(&self, answer: usize) -> Option<usize> {
        let Session { classifier, agents, .. } = &*self.session;
        match classifier.crawlers {
            None => Some(answer % classifier.agents.len()),
            Some(_) => Some(agents.of(answer)).filter(|&it| it != NONE).map(|agent| agent as usize),
        }
    }
}
