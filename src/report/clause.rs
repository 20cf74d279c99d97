//! The clause of the standard that stands behind a decision.
//!
//! One table, a row for each dialect: documents number and title their parts each in their own way,
//! so no rule could tell them.

use crate::decision::Reason;
use crate::dialect::Dialect;

/// The parts of one document.
struct Clauses {
    dialect: &'static str,
    /// Which rule decides, and what holds if none matches.
    rules: &'static str,
    /// Which group speaks to an agent, and what holds if none does.
    groups: &'static str,
    /// The URL of robots.txt itself.
    robots_txt: &'static str,
    /// The server says that there is no file for us.
    unavailable: &'static str,
    /// The server or the network fails.
    unreachable: &'static str,
    /// Which URLs a file speaks for.
    scope: &'static str,
}

const CLAUSES: [Clauses; 5] = [
    Clauses {
        dialect: "original1994",
        rules: "A Standard for Robot Exclusion (1994): Disallow",
        groups: "A Standard for Robot Exclusion (1994): User-agent",
        robots_txt: "A Standard for Robot Exclusion (1994): Disallow",
        unavailable: "A Standard for Robot Exclusion (1994): the method",
        unreachable: "not settled by the 1994 text: a temporary failure defers the visit",
        scope: "A Standard for Robot Exclusion (1994): the method",
    },
    Clauses {
        dialect: "koster1996",
        rules: "Koster 1996, section 3.2.2: the first rule that matches decides; if none does, access is allowed",
        groups: "Koster 1996, section 3.2.1: the record that names the robot, else that of *, else no limit",
        robots_txt: "Koster 1996, section 3.2.2",
        unavailable: "Koster 1996, section 3.1: what the server's answer means",
        unreachable: "Koster 1996, section 3.1: a temporary failure defers the visit",
        scope: "Koster 1996, section 3.1: /robots.txt of the server",
    },
    Clauses {
        dialect: "draft2019",
        rules: "Internet-Draft of 2019, The Allow and Disallow lines: the most octets decide; if none matches, allowed",
        groups: "Internet-Draft of 2019, The User-agent line: all groups that name the crawler, else the first of *",
        robots_txt: "Internet-Draft of 2019, The Allow and Disallow lines: /robots.txt is implicitly allowed",
        unavailable: "Internet-Draft of 2019, Unavailable status",
        unreachable: "Internet-Draft of 2019, Unreachable status",
        scope: "Internet-Draft of 2019, Access method",
    },
    Clauses {
        dialect: "rfc9309",
        rules: "RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed",
        groups: "RFC 9309, section 2.2.1: all groups that name the crawler, else those of *, else no rules apply",
        robots_txt: "RFC 9309, section 2.2.2: /robots.txt is implicitly allowed",
        unavailable: "RFC 9309, section 2.3.1.3: unavailable status codes",
        unreachable: "RFC 9309, section 2.3.1.4: unreachable status codes",
        scope: "RFC 9309, section 2.3: access method",
    },
    Clauses {
        dialect: "google",
        rules: "Google on robots.txt, Order of precedence for rules",
        groups: "Google on robots.txt, Order of precedence for user agents",
        robots_txt: "Google on robots.txt, Order of precedence for rules",
        unavailable: "Google on robots.txt, Handling of errors and HTTP status codes",
        unreachable: "Google on robots.txt, Handling of errors and HTTP status codes",
        scope: "Google on robots.txt, File location and range of validity",
    },
];

/// The clause of the dialect's document that a decision for `reason` follows.
///
/// ```
/// use portcullis::decision::Reason;
/// use portcullis::dialect::RFC_9309;
/// use portcullis::report::clause;
///
/// assert!(clause(&RFC_9309, Reason::Rule).starts_with("RFC 9309, section 2.2.2"));
/// ```
pub fn clause(dialect: &Dialect, reason: Reason) -> &'static str {
    let Some(clauses) = CLAUSES.iter().find(|row| row.dialect == dialect.name) else {
        return dialect.source;
    };
    match reason {
        Reason::Rule | Reason::NoRule => clauses.rules,
        Reason::NoGroup | Reason::NoRules => clauses.groups,
        Reason::RobotsTxt => clauses.robots_txt,
        Reason::Unavailable => clauses.unavailable,
        Reason::Unreachable | Reason::Deferred => clauses.unreachable,
        Reason::NoPolicy => clauses.scope,
        Reason::BadUrl => "RFC 3986, section 3: scheme, authority and path of a URI",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_has_its_clauses() {
        for dialect in Dialect::ALL {
            assert!(
                CLAUSES.iter().any(|row| row.dialect == dialect.name),
                "add a row for {}",
                dialect.name
            );
        }
        assert_eq!(CLAUSES.len(), Dialect::ALL.len());
    }
}
