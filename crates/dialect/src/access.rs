//! The meaning of an answer to GET /robots.txt (RFC 9309, section 2.3.1).
//!
//! [`AccessRules::resolve`] turns an answer into a file, a redirect or an outcome. It does not fail:
//! an unexplained answer has the dialect's [`other_status`](AccessRules::other_status), never a
//! permission.
//!
//! Redirects may lead to any host. The file found there applies to the origin that was requested
//! first (RFC 9309, section 2.3.1.2), so callers keep that origin.
//!
//! ```
//! use portcullis_dialect::{Access, Fetched, RFC_9309, Verdict};
//!
//! let rules = &RFC_9309.access;
//! assert_eq!(rules.resolve(Fetched::Status(301), 0), Access::Follow);
//! assert_eq!(rules.resolve(Fetched::Status(200), 1), Access::File);
//! let Access::Outcome(outcome) = rules.resolve(Fetched::NoResponse, 0) else { panic!() };
//! assert_eq!(outcome.verdict, Verdict::Disallow);
//! ```

use crate::decision::{Decision, PolicyState, Reason};
use crate::dialect::{AccessOutcome, AccessRules};

/// The result of one GET /robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fetched {
    /// A complete response with this status.
    Status(u16),
    /// A redirect without a usable `Location`.
    RedirectToNowhere,
    /// A response whose body was truncated or could not be decoded.
    BrokenBody,
    /// No response: a DNS, network or TLS failure, or a timeout.
    NoResponse,
}

/// An HTTP status.
impl From<u16> for Fetched {
    fn from(status: u16) -> Fetched {
        Fetched::Status(status)
    }
}

/// The meaning of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The body is the file, for the origin that was requested first.
    File,
    /// Follow the redirect, and count it.
    Follow,
    /// The copy named in the conditional request is still current.
    NotModified,
    /// There is no file, with this outcome.
    Outcome(AccessOutcome),
}

impl AccessOutcome {
    /// Returns the decision on every URL; unknown where rules would decide.
    pub const fn decision(self) -> Decision {
        let reason = match self.state {
            PolicyState::NoRules => Reason::NoRules,
            PolicyState::Page => Reason::Page,
            PolicyState::Unavailable => Reason::Unavailable,
            PolicyState::Unreachable => Reason::Unreachable,
            PolicyState::Deferred => Reason::Deferred,
            PolicyState::Rules | PolicyState::Unknown => return Decision::UNKNOWN,
        };
        Decision::without_rule(self.verdict, reason)
    }
}

impl AccessRules {
    /// The number of [`AccessRules::outcomes`].
    pub const OUTCOMES: usize = 7;

    /// Returns every outcome that an answer may have, some of which may be equal.
    pub fn outcomes(&self) -> [AccessOutcome; AccessRules::OUTCOMES] {
        [
            self.too_many_redirects,
            self.forbidden,
            self.not_found,
            self.too_many_requests,
            self.other_client_error,
            self.server_error,
            self.other_status,
        ]
    }

    /// Returns the meaning of `answer` after `redirects_followed` redirects.
    ///
    /// A file found after more redirects than the dialect allows is not read. 304 is not a redirect and
    /// only answers a conditional request (RFC 9110, section 15.4.5); a caller that made none treats it
    /// as [`other_status`](AccessRules::other_status).
    ///
    /// † No document covers a redirect to nowhere. It counts as an unexplained answer, `other_status`.
    pub fn resolve(&self, answer: Fetched, redirects_followed: u32) -> Access {
        let redirects_max = u32::from(self.redirects_max);
        if redirects_followed > redirects_max {
            return Access::Outcome(self.too_many_redirects);
        }
        let status = match answer {
            Fetched::Status(status) => status,
            Fetched::RedirectToNowhere => return Access::Outcome(self.other_status),
            Fetched::BrokenBody | Fetched::NoResponse => return Access::Outcome(self.server_error),
        };
        Access::Outcome(match status {
            200..=299 => return Access::File,
            304 => return Access::NotModified,
            300..=399 if redirects_followed < redirects_max => return Access::Follow,
            300..=399 => self.too_many_redirects,
            401 | 403 => self.forbidden,
            404 | 410 => self.not_found,
            429 => self.too_many_requests,
            400..=499 => self.other_client_error,
            500..=599 => self.server_error,
            _ => self.other_status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, PolicyState, RFC_9309, Verdict,
    };

    const fn outcome(state: PolicyState, verdict: Verdict) -> Access {
        Access::Outcome(AccessOutcome { state, verdict })
    }

    const UNAVAILABLE: Access = outcome(PolicyState::Unavailable, Verdict::Allow);
    const CLOSED: Access = outcome(PolicyState::Unavailable, Verdict::Disallow);
    const UNREACHABLE: Access = outcome(PolicyState::Unreachable, Verdict::Disallow);
    const DEFERRED: Access = outcome(PolicyState::Deferred, Verdict::Disallow);

    /// Answers and their meaning in: 1994 and 1996; the draft and the RFC; Google.
    type Row = (&'static [Fetched], Access, Access, Access);

    use Fetched::{BrokenBody, NoResponse, RedirectToNowhere, Status};

    const TABLE: &[Row] = &[
        (
            &[Status(200), Status(201), Status(204), Status(206), Status(299)],
            Access::File,
            Access::File,
            Access::File,
        ),
        (
            &[Status(300), Status(301), Status(302), Status(303), Status(307), Status(308)],
            Access::Follow,
            Access::Follow,
            Access::Follow,
        ),
        (&[Status(304)], Access::NotModified, Access::NotModified, Access::NotModified),
        (&[Status(401), Status(403)], CLOSED, UNAVAILABLE, UNAVAILABLE),
        (&[Status(404), Status(410)], UNAVAILABLE, UNAVAILABLE, UNAVAILABLE),
        (&[Status(429)], DEFERRED, UNAVAILABLE, UNREACHABLE),
        (
            &[Status(400), Status(402), Status(405), Status(418), Status(451), Status(499)],
            UNAVAILABLE,
            UNAVAILABLE,
            UNAVAILABLE,
        ),
        (
            &[Status(500), Status(503), Status(599), NoResponse, BrokenBody],
            DEFERRED,
            UNREACHABLE,
            UNREACHABLE,
        ),
        (
            &[Status(0), Status(100), Status(199), Status(600), Status(999), RedirectToNowhere],
            DEFERRED,
            UNREACHABLE,
            UNREACHABLE,
        ),
    ];

    fn column(row: &Row, dialect: &'static Dialect) -> Access {
        let &(_, old, rfc, google) = row;
        match dialect {
            d if *d == ORIGINAL_1994 || *d == KOSTER_1996 => old,
            d if *d == DRAFT_2019 || *d == RFC_9309 => rfc,
            d if *d == GOOGLE => google,
            d => panic!("{}: the table has no column for it", d.name),
        }
    }

    #[test]
    fn every_cell_of_the_table() {
        for dialect in Dialect::ALL {
            for row in TABLE {
                for &answer in row.0 {
                    // Below the limit, earlier redirects have no effect.
                    for followed in 0..dialect.access.redirects_max {
                        let found = dialect.access.resolve(answer, followed.into());
                        assert_eq!(found, column(row, dialect), "{}: {answer:?}", dialect.name);
                    }
                }
            }
        }
    }

    #[test]
    fn five_redirects_are_followed() {
        for dialect in Dialect::ALL {
            let rules = &dialect.access;
            let too_many = Access::Outcome(rules.too_many_redirects);
            assert_eq!(rules.resolve(Status(302), 4), Access::Follow, "{}", dialect.name);
            assert_eq!(rules.resolve(Status(200), 5), Access::File, "{}", dialect.name);
            assert_eq!(rules.resolve(Status(302), 5), too_many, "{}", dialect.name);
            for answer in [Status(200), Status(302), Status(404), Status(500), NoResponse] {
                assert_eq!(rules.resolve(answer, 6), too_many, "{}", dialect.name);
            }
        }
        let after = |dialect: &Dialect| dialect.access.resolve(Status(302), 5);
        assert_eq!(after(&ORIGINAL_1994), DEFERRED);
        assert_eq!(after(&RFC_9309), UNAVAILABLE);
        assert_eq!(after(&GOOGLE), UNAVAILABLE);
    }

    #[test]
    fn only_client_errors_are_allowed() {
        for dialect in Dialect::ALL {
            for status in 0..=u16::MAX {
                let Access::Outcome(outcome) = dialect.access.resolve(Status(status), 0) else {
                    continue;
                };
                let allows = outcome.verdict == Verdict::Allow;
                assert!(!allows || (400..500).contains(&status), "{}: {status}", dialect.name);
                assert!(!outcome.state.is_file());
            }
        }
    }
}
