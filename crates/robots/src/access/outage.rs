//! Outages: the policy while no file can be fetched (RFC 9309, section 2.3.1.4).

use std::fmt;

use portcullis_dialect::limits::LONG_UNREACHABLE_SECONDS;
use portcullis_dialect::{AccessOutcome, AccessRules, LongUnreachable, PolicyState, words};

use super::UnixSeconds;

/// A period in which every fetch of the file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The first fetch that failed; no later one succeeded.
    pub first_failure: UnixSeconds,
    /// The outcome of the last failure.
    pub outcome: AccessOutcome,
}

words! {
    /// The caller's choice for hosts that are unreachable for more than 30 days, or at once, if the dialect
    /// leaves it open ([`LongUnreachable::OnRequest`]).
    #[derive(Default)]
    pub enum LongOutage {
        /// The file stays unreachable.
        #[default]
        NoChange = 0 => "no-change",
        /// The file counts as unavailable.
        Unavailable = 1 => "unavailable",
        /// The last good copy applies again; without one, the file stays unreachable.
        LastGoodCopy = 2 => "last-good-copy",
        /// The file counts as unavailable from the first failure on. No document says so; Heritrix 3 crawls
        /// so after each answer outside 2xx (`CrawlServer.updateRobots`).
        UnavailableAtOnce = 3 => "unavailable-at-once",
    }
}

/// An outage of an origin, as observed in captures, and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KnownOutage {
    /// The first fetch that failed; no later one succeeded.
    pub since: UnixSeconds,
    /// The effect of the outage's length.
    pub change: LongOutage,
    /// The date of the copy that applies again. `None` if no copy applies or the copy has no date.
    pub copy_captured_at: Option<UnixSeconds>,
}

/// Formats a message for people.
impl fmt::Display for KnownOutage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unreachable since {}", self.since.to_rfc3339())?;
        let copy = self.copy_captured_at.map(UnixSeconds::to_rfc3339);
        let effect = match (self.change, copy) {
            (LongOutage::NoChange, _) => return Ok(()),
            (LongOutage::Unavailable | LongOutage::UnavailableAtOnce, _) => {
                "taken as unavailable, so everything is allowed".into()
            }
            (LongOutage::LastGoodCopy, Some(copy)) => {
                format!("the last good copy applies, of {copy}")
            }
            (LongOutage::LastGoodCopy, None) => {
                "the last good copy applies, which has no date".into()
            }
        };
        write!(f, ", more than 30 days: {effect}")
    }
}

/// The policy that applies to an origin in an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Serving {
    /// The last good copy, although it has expired.
    LastGoodCopy,
    /// This outcome, for every URL.
    Outcome(AccessOutcome),
}

/// Returns what applies at `now` in an outage. `good_copy` is whether an earlier copy exists.
///
/// An outage begins when the last copy has expired. The outcome of the failure holds until
/// [`LONG_UNREACHABLE_SECONDS`] have passed. It holds forever if the dialect has no rule for long
/// outages or the state is not `unreachable`. `asked` only counts if the dialect leaves the choice.
///
/// ```
/// use portcullis_dialect::RFC_9309;
/// use portcullis_robots::access::{LongOutage, Outage, Serving, UnixSeconds, serving};
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
    if let Some(unavailable) = at_once(outage.outcome, asked, rules) {
        return Serving::Outcome(unavailable);
    }
    let is_long = now.since(outage.first_failure) > LONG_UNREACHABLE_SECONDS;
    if !is_long || outage.outcome.state != PolicyState::Unreachable {
        return unchanged;
    }
    // Both documents treat a long outage like a file that does not exist.
    let unavailable = Serving::Outcome(rules.not_found);
    match (rules.long_unreachable, asked, good_copy) {
        (LongUnreachable::LastGoodCopy, _, true) => Serving::LastGoodCopy,
        (LongUnreachable::LastGoodCopy, _, false) => unavailable,
        (LongUnreachable::OnRequest, LongOutage::LastGoodCopy, true) => Serving::LastGoodCopy,
        (LongUnreachable::OnRequest, LongOutage::Unavailable, _) => unavailable,
        (LongUnreachable::OnRequest, ..) | (LongUnreachable::Never, ..) => unchanged,
    }
}

/// Returns what applies instead of the `outcome` of a failure from the first failure on, whatever its date;
/// `None` if it holds for 30 days at least.
pub fn at_once(
    outcome: AccessOutcome,
    asked: LongOutage,
    rules: &AccessRules,
) -> Option<AccessOutcome> {
    let is_asked = asked == LongOutage::UnavailableAtOnce
        && rules.long_unreachable == LongUnreachable::OnRequest;
    (is_asked && outcome.state == PolicyState::Unreachable).then_some(rules.not_found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

    const START: UnixSeconds = UnixSeconds(1_000_000_000);

    /// Returns what applies this many seconds after the first failure.
    fn after(seconds: u64, dialect: &Dialect, asked: LongOutage, good_copy: bool) -> Serving {
        let outage = Outage { first_failure: START, outcome: dialect.access.server_error };
        serving(&outage, START.after(seconds), good_copy, asked, &dialect.access)
    }

    #[test]
    fn nothing_changes_for_thirty_days() {
        for dialect in Dialect::ALL {
            for asked in LongOutage::ALL {
                for seconds in [0, 1, LONG_UNREACHABLE_SECONDS] {
                    let outcome = dialect.access.server_error;
                    let unchanged = at_once(outcome, asked, &dialect.access).unwrap_or(outcome);
                    let is_asked = asked == LongOutage::UnavailableAtOnce
                        && [RFC_9309.name, DRAFT_2019.name].contains(&dialect.name);
                    assert_eq!(unchanged != outcome, is_asked, "{}", dialect.name);
                    let unchanged = Serving::Outcome(unchanged);
                    assert_eq!(after(seconds, dialect, asked, true), unchanged);
                    assert_eq!(after(seconds, dialect, asked, false), unchanged);
                }
            }
        }
    }

    #[test]
    fn every_cell_of_the_table_after_thirty_days() {
        use LongOutage::{LastGoodCopy, NoChange, Unavailable, UnavailableAtOnce};
        let copy = Some(Serving::LastGoodCopy);
        let gone = Some(Serving::Outcome(RFC_9309.access.not_found));
        let columns: [&[&Dialect]; 3] =
            [&[&ORIGINAL_1994, &KOSTER_1996], &[&DRAFT_2019, &RFC_9309], &[&GOOGLE]];
        let rows = [
            (NoChange, true, [None, None, copy]),
            (NoChange, false, [None, None, gone]),
            (Unavailable, true, [None, gone, copy]),
            (Unavailable, false, [None, gone, gone]),
            (UnavailableAtOnce, true, [None, gone, copy]),
            (UnavailableAtOnce, false, [None, gone, gone]),
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
    fn only_unreachable_files_change() {
        let later = START.after(10 * LONG_UNREACHABLE_SECONDS);
        for outcome in [ORIGINAL_1994.access.server_error, ORIGINAL_1994.access.forbidden] {
            let outage = Outage { first_failure: START, outcome };
            let found = serving(&outage, later, true, LongOutage::LastGoodCopy, &GOOGLE.access);
            assert_eq!(found, Serving::Outcome(outcome));
        }
    }

    #[test]
    fn clocks_that_go_back_make_no_long_outage() {
        let outage = Outage { first_failure: START, outcome: GOOGLE.access.server_error };
        let found = serving(&outage, UnixSeconds(0), true, LongOutage::NoChange, &GOOGLE.access);
        assert_eq!(found, Serving::Outcome(GOOGLE.access.server_error));
    }
}
