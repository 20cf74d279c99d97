//! The clause of the standard that stands behind a decision.

use crate::decision::Reason;
use crate::dialect::Dialect;

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
    let clauses = &dialect.clauses;
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
