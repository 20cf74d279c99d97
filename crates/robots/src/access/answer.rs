//! An answer to a file, a redirect or an outcome (RFC 9309, section 2.3.1).

use portcullis_dialect::dialect::{AccessOutcome, AccessRules};

/// What came of one GET /robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A whole response with this status; a redirect says where to.
    Status(u16),
    /// A redirect without a `Location`, or with one that cannot be asked.
    RedirectToNowhere,
    /// A response whose body ended early, or could not be decoded.
    BrokenBody,
    /// No response: a failure of DNS, of the network or of TLS, or a time-out.
    NoAnswer,
}

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The body is the file: its rules hold, for the origin that was asked first.
    File,
    /// Ask again where the answer points to, with one more redirect followed.
    Follow,
    /// The copy that the request was conditional on is still the file.
    NotModified,
    /// There is no file; this is what its absence means.
    Outcome(AccessOutcome),
}

/// What `answer` means after `redirects_followed` redirects.
///
/// More redirects than the dialect follows are too many whatever they lead to, so a file found
/// after more of them is not read. 304 is no redirect and answers a conditional request alone
/// (RFC 9110, section 15.4.5); to a caller who made none it is
/// [`other_status`](AccessRules::other_status), which it is for that caller to say.
///
/// † A redirect to nowhere is no document's; it is `other_status` too, an answer that nothing
/// explains.
pub fn resolve(answer: Answer, redirects_followed: u32, rules: &AccessRules) -> Access {
    let redirects_max = u32::from(rules.redirects_max);
    if redirects_followed > redirects_max {
        return Access::Outcome(rules.too_many_redirects);
    }
    let status = match answer {
        Answer::Status(status) => status,
        Answer::RedirectToNowhere => return Access::Outcome(rules.other_status),
        Answer::BrokenBody | Answer::NoAnswer => return Access::Outcome(rules.server_error),
    };
    Access::Outcome(match status {
        200..=299 => return Access::File,
        304 => return Access::NotModified,
        300..=399 if redirects_followed < redirects_max => return Access::Follow,
        300..=399 => rules.too_many_redirects,
        401 | 403 => rules.forbidden,
        404 | 410 => rules.not_found,
        429 => rules.too_many_requests,
        400..=499 => rules.other_client_error,
        500..=599 => rules.server_error,
        _ => rules.other_status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::{PolicyState, Verdict};
    use portcullis_dialect::dialect::{
        DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
    };

    const fn outcome(state: PolicyState, verdict: Verdict) -> Access {
        Access::Outcome(AccessOutcome { state, verdict })
    }

    const UNAVAILABLE: Access = outcome(PolicyState::Unavailable, Verdict::Allow);
    const CLOSED: Access = outcome(PolicyState::Unavailable, Verdict::Disallow);
    const UNREACHABLE: Access = outcome(PolicyState::Unreachable, Verdict::Disallow);
    const DEFERRED: Access = outcome(PolicyState::Deferred, Verdict::Disallow);

    /// Answers, and what they mean to the two old documents, to the draft and the RFC, to Google.
    type Row = (&'static [Answer], Access, Access, Access);

    use Answer::{BrokenBody, NoAnswer, RedirectToNowhere, Status};

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
            &[Status(500), Status(503), Status(599), NoAnswer, BrokenBody],
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
                    // Redirects that were followed before change nothing up to the limit, but that
                    // no other may follow.
                    for followed in 0..dialect.access.redirects_max {
                        let found = resolve(answer, followed.into(), &dialect.access);
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
            assert_eq!(resolve(Status(302), 4, rules), Access::Follow, "{}", dialect.name);
            assert_eq!(resolve(Status(200), 5, rules), Access::File, "{}", dialect.name);
            assert_eq!(resolve(Status(302), 5, rules), too_many, "{}", dialect.name);
            for answer in [Status(200), Status(302), Status(404), Status(500), NoAnswer] {
                assert_eq!(resolve(answer, 6, rules), too_many, "{}", dialect.name);
            }
        }
        let after = |dialect: &Dialect| resolve(Status(302), 5, &dialect.access);
        assert_eq!(after(&ORIGINAL_1994), DEFERRED);
        assert_eq!(after(&RFC_9309), UNAVAILABLE);
        assert_eq!(after(&GOOGLE), UNAVAILABLE);
    }

    #[test]
    fn no_status_is_silently_allowed() {
        for dialect in Dialect::ALL {
            for status in 0..=u16::MAX {
                let Access::Outcome(outcome) = resolve(Status(status), 0, &dialect.access) else {
                    continue;
                };
                let allows = outcome.verdict == Verdict::Allow;
                assert!(!allows || (400..500).contains(&status), "{}: {status}", dialect.name);
                assert!(!matches!(outcome.state, PolicyState::Rules | PolicyState::NoRules));
            }
        }
    }
}
