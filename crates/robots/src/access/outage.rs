//! What serves while no file can be had, and what may follow when that lasts (RFC 9309, section
//! 2.3.1.4).

use std::fmt;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::{AccessOutcome, AccessRules, LongUnreachable};
use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;

use super::UnixSeconds;

/// A time during which every fetch of the file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The first fetch that failed; no later one succeeded.
    pub first_failure: UnixSeconds,
    /// What the last of them means by itself.
    pub outcome: AccessOutcome,
}

/// What the caller asks for when a file has been unreachable for a long time, where the dialect
/// leaves the choice ([`LongUnreachable::OnRequest`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LongOutage {
    /// Nothing: the file stays unreachable.
    #[default]
    NoChange,
    /// The file is taken as unavailable.
    Unavailable,
    /// The last good copy serves again; without one the file stays unreachable.
    LastGoodCopy,
}

impl LongOutage {
    /// Every value.
    pub const ALL: [LongOutage; 3] =
        [LongOutage::NoChange, LongOutage::Unavailable, LongOutage::LastGoodCopy];

    /// The name for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            LongOutage::NoChange => "no-change",
            LongOutage::Unavailable => "unavailable",
            LongOutage::LastGoodCopy => "last-good-copy",
        }
    }
}

/// An outage of an origin, as far as captures show it, and what it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KnownOutage {
    /// The first fetch that failed; no later one succeeded.
    pub since: UnixSeconds,
    /// What the outage's length changed.
    pub change: LongOutage,
    /// The date of the copy that serves again; `None` if none does, or it has no date.
    pub copy_captured_at: Option<UnixSeconds>,
}

/// One sentence for a person.
impl fmt::Display for KnownOutage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unreachable since {}", self.since.to_rfc3339())?;
        match (self.change, self.copy_captured_at) {
            (LongOutage::NoChange, _) => Ok(()),
            (LongOutage::Unavailable, _) => {
                f.write_str(", more than 30 days: taken as unavailable, so everything is allowed")
            }
            (LongOutage::LastGoodCopy, Some(copy)) => {
                write!(
                    f,
                    ", more than 30 days: the last good copy serves, of {}",
                    copy.to_rfc3339()
                )
            }
            (LongOutage::LastGoodCopy, None) => {
                f.write_str(", more than 30 days: the last good copy serves, which has no date")
            }
        }
    }
}

/// What serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Serving {
    /// The last good copy, though its time is over.
    LastGoodCopy,
    /// This, for every URL of the origin.
    Outcome(AccessOutcome),
}

/// What serves at `now` in an outage. `good_copy` says whether there is a copy from before.
///
/// A copy whose time is not over needs no fetch, so an outage begins after it. Until
/// [`LONG_UNREACHABLE_SECONDS`] have passed, and for ever where the dialect has no rule about long
/// outages or the file is not unreachable, the outcome of the failure holds. `asked` counts only
/// where the dialect leaves the choice; where it has a rule of its own, that is followed.
///
/// ```
/// use portcullis_robots::access::{LongOutage, Outage, Serving, UnixSeconds, serving};
/// use portcullis_dialect::decision::Verdict;
/// use portcullis_dialect::dialect::RFC_9309;
///
/// let rules = &RFC_9309.access;
/// let outage = Outage { first_failure: UnixSeconds(0), outcome: rules.server_error };
/// let later = UnixSeconds(40 * 24 * 60 * 60);
/// let unchanged = serving(&outage, later, true, LongOutage::NoChange, rules);
/// assert_eq!(unchanged, Serving::Outcome(rules.server_error));
/// let asked = serving(&outage, later, true, LongOutage::LastGoodCopy, rules);
/// assert_eq!(asked, Serving::LastGoodCopy);
/// ```
pub fn serving(
    outage: &Outage,
    now: UnixSeconds,
    good_copy: bool,
    asked: LongOutage,
    rules: &AccessRules,
) -> Serving {
    let unchanged = Serving::Outcome(outage.outcome);
    let is_long = now.since(outage.first_failure) > LONG_UNREACHABLE_SECONDS;
    if !is_long || outage.outcome.state != PolicyState::Unreachable {
        return unchanged;
    }
    // A file that was never there is what both documents liken it to.
    let unavailable = Serving::Outcome(rules.not_found);
    match (rules.long_unreachable, asked, good_copy) {
        (LongUnreachable::LastGoodCopy, _, true) => Serving::LastGoodCopy,
        (LongUnreachable::LastGoodCopy, _, false) => unavailable,
        (LongUnreachable::OnRequest, LongOutage::LastGoodCopy, true) => Serving::LastGoodCopy,
        (LongUnreachable::OnRequest, LongOutage::Unavailable, _) => unavailable,
        (LongUnreachable::OnRequest, LongOutage::LastGoodCopy, false)
        | (LongUnreachable::OnRequest, LongOutage::NoChange, _)
        | (LongUnreachable::Never, ..) => unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{
        DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
    };

    const START: UnixSeconds = UnixSeconds(1_000_000_000);
    const ASKED: [LongOutage; 3] =
        [LongOutage::NoChange, LongOutage::Unavailable, LongOutage::LastGoodCopy];

    /// What serves so many seconds after the first failure.
    fn after(seconds: u64, dialect: &Dialect, asked: LongOutage, good_copy: bool) -> Serving {
        let outage = Outage { first_failure: START, outcome: dialect.access.server_error };
        serving(&outage, START.after(seconds), good_copy, asked, &dialect.access)
    }

    #[test]
    fn nothing_changes_for_thirty_days() {
        for dialect in Dialect::ALL {
            for asked in ASKED {
                for seconds in [0, 1, LONG_UNREACHABLE_SECONDS] {
                    let unchanged = Serving::Outcome(dialect.access.server_error);
                    assert_eq!(after(seconds, dialect, asked, true), unchanged);
                    assert_eq!(after(seconds, dialect, asked, false), unchanged);
                }
            }
        }
    }

    #[test]
    fn every_cell_of_the_table_after_that() {
        use LongOutage::{LastGoodCopy, NoChange, Unavailable};
        let copy = Some(Serving::LastGoodCopy);
        let gone = Some(Serving::Outcome(RFC_9309.access.not_found));
        let columns: [&[&Dialect]; 3] =
            [&[&ORIGINAL_1994, &KOSTER_1996], &[&DRAFT_2019, &RFC_9309], &[&GOOGLE]];
        let rows = [
            (NoChange, true, [None, None, copy]),
            (NoChange, false, [None, None, gone]),
            (Unavailable, true, [None, gone, copy]),
            (Unavailable, false, [None, gone, gone]),
            (LastGoodCopy, true, [None, copy, copy]),
            (LastGoodCopy, false, [None, None, gone]),
        ];
        for (asked, good_copy, expected) in rows {
            for (dialects, expected) in columns.iter().zip(expected) {
                for dialect in *dialects {
                    let unchanged = Serving::Outcome(dialect.access.server_error);
                    let found = after(LONG_UNREACHABLE_SECONDS + 1, dialect, asked, good_copy);
                    let expected = expected.unwrap_or(unchanged);
                    assert_eq!(found, expected, "{}: {asked:?} {good_copy}", dialect.name);
                }
            }
        }
    }

    #[test]
    fn only_what_is_unreachable_changes() {
        let later = START.after(10 * LONG_UNREACHABLE_SECONDS);
        for outcome in [ORIGINAL_1994.access.server_error, ORIGINAL_1994.access.forbidden] {
            let outage = Outage { first_failure: START, outcome };
            let found = serving(&outage, later, true, LongOutage::LastGoodCopy, &GOOGLE.access);
            assert_eq!(found, Serving::Outcome(outcome));
        }
    }

    #[test]
    fn a_clock_that_goes_back_makes_no_long_outage() {
        let outage = Outage { first_failure: START, outcome: GOOGLE.access.server_error };
        let found = serving(&outage, UnixSeconds(0), true, LongOutage::NoChange, &GOOGLE.access);
        assert_eq!(found, Serving::Outcome(GOOGLE.access.server_error));
    }
}
