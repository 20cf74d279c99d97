//! The age of the captures that decide.
//!
//! RFC 9309, section 2.4, says that a crawler should not use a copy of robots.txt for more than 24
//! hours. A list may be classified long after its policies were captured, so ages are computed for
//! a given time.

use portcullis_dialect::decision::Decision;
use portcullis_robots::access::UnixSeconds;

use crate::stored::CaptureFacts;

/// Settings for the age of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// The time at which decisions are used.
    pub as_of: UnixSeconds,
    /// The age in seconds at which a capture expires; if `None`, the expiry that the set stores.
    pub seconds_max: Option<u64>,
    /// Whether decisions from captures that are not [fresh](AgeCounts::fresh) become unknown.
    pub withdraws: bool,
}

/// The age of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Fresh,
    Expired,
    /// The capture has no date, or no known expiry.
    Undated,
    /// The capture was made after the time that is asked about.
    NotYet,
}

impl Age {
    /// Returns the decision that replaces those from a capture of this age; `None` if they hold.
    pub(super) fn withdrawn(self) -> Option<Decision> {
        match self {
            Age::Fresh => None,
            Age::Expired | Age::Undated => Some(Decision::EXPIRED),
            Age::NotYet => Some(Decision::BEFORE_FIRST),
        }
    }
}

/// Records whose policy is known, by the age of the capture that decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgeCounts {
    /// The capture has not expired.
    pub fresh: u64,
    /// The capture has expired.
    pub expired: u64,
    /// The capture has no date, or no known expiry.
    pub undated: u64,
    /// The capture, or one that leads to it, was made after the time that is asked about.
    pub not_yet: u64,
    /// The time is before the first capture, which decided nevertheless
    /// ([`BeforeFirst::Oldest`](super::BeforeFirst::Oldest)). Also counted by age.
    pub before_first: u64,
}

impl Freshness {
    /// Returns the age at a time, which replaces [`as_of`](Freshness::as_of).
    pub(super) fn age_at(&self, facts: &CaptureFacts, as_of: UnixSeconds) -> Age {
        if facts.dates().is_some_and(|dates| dates.last > as_of) {
            return Age::NotYet;
        }
        let expires_at = match self.seconds_max {
            Some(seconds) => facts.captured_at.map(|time| time.after(seconds)),
            None => facts.expires_at,
        };
        match expires_at {
            Some(time) if as_of < time => Age::Fresh,
            Some(_) => Age::Expired,
            None => Age::Undated,
        }
    }
}

impl AgeCounts {
    pub(super) fn add(&mut self, age: Age, records: u64) {
        match age {
            Age::Fresh => self.fresh += records,
            Age::Expired => self.expired += records,
            Age::Undated => self.undated += records,
            Age::NotYet => self.not_yet += records,
        }
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: AgeCounts) {
        self.fresh += other.fresh;
        self.expired += other.expired;
        self.undated += other.undated;
        self.not_yet += other.not_yet;
        self.before_first += other.before_first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_expires_at_its_time_or_at_the_given_age() {
        let facts = CaptureFacts {
            captured_at: Some(UnixSeconds(100)),
            expires_at: Some(UnixSeconds(160)),
            ..CaptureFacts::default()
        };
        // The file was captured 20 seconds after the redirect to it.
        let redirected = CaptureFacts { span_seconds: 20, ..facts };
        let endless = CaptureFacts { span_seconds: u32::MAX, ..facts };
        let undated = CaptureFacts::default();
        let rows = [
            (159, None, &facts, Age::Fresh),
            (160, None, &facts, Age::Expired),
            (109, Some(10), &facts, Age::Fresh),
            (110, Some(10), &facts, Age::Expired),
            (100, Some(0), &facts, Age::Expired),
            (100, Some(10), &facts, Age::Fresh),
            (99, Some(10), &facts, Age::NotYet),
            (99, None, &facts, Age::NotYet),
            (119, None, &redirected, Age::NotYet),
            (120, None, &redirected, Age::Fresh),
            (120, Some(10), &redirected, Age::Expired),
            (u64::MAX - 1, None, &endless, Age::NotYet),
            (u64::MAX, Some(u64::MAX), &facts, Age::Expired),
            (0, None, &undated, Age::Undated),
            (0, Some(10), &undated, Age::Undated),
        ];
        for (as_of, seconds_max, facts, age) in rows {
            let as_of = UnixSeconds(as_of);
            let freshness = Freshness { as_of, seconds_max, withdraws: false };
            assert_eq!(freshness.age_at(facts, freshness.as_of), age, "{freshness:?} {facts:?}");
        }
    }
}
