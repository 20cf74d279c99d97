//! What the answer to GET /robots.txt means, for how long, and what follows a long failure.
//!
//! Owns the way from HTTP to the state of a policy (RFC 9309, sections 2.3.1 and 2.4): [`resolve`]
//! turns an answer into a file, a redirect to follow or an outcome, [`expiry`] says until when a
//! good copy serves, [`serving`] what serves while no file can be had. All are functions of values:
//! nothing here asks a clock, a server or a disk, and every decision is read from the dialect's
//! [`AccessRules`](portcullis_dialect::dialect::AccessRules). Use [`syntax`](crate::syntax) for what a file
//! says, and `set` for the policies that come of it.
//!
//! Redirects may lead to any host; what is found there speaks for the origin that was asked first
//! (RFC 9309, section 2.3.1.2), so keep that origin, not the last one.
//!
//! Cost: a few comparisons; header fields are read once, in place. Nothing fails: a header that
//! makes no sense never lengthens the time that a copy serves, and an answer that makes none is the
//! dialect's [`other_status`](portcullis_dialect::dialect::AccessRules::other_status), never a permission.
//!
//! ```
//! use portcullis_robots::access::{Access, Answer, CachingHeaders, UnixSeconds, expiry, resolve};
//! use portcullis_dialect::decision::Verdict;
//! use portcullis_dialect::dialect::RFC_9309;
//!
//! let rules = &RFC_9309.access;
//! assert_eq!(resolve(Answer::Status(301), 0, rules), Access::Follow);
//! assert_eq!(resolve(Answer::Status(200), 1, rules), Access::File);
//! let Access::Outcome(outcome) = resolve(Answer::NoAnswer, 0, rules) else { panic!() };
//! assert_eq!(outcome.verdict, Verdict::Disallow);
//!
//! let headers = CachingHeaders::read([("Cache-Control", &b"max-age=600"[..])]);
//! let fetched_at = UnixSeconds(1_700_000_000);
//! assert_eq!(expiry(&headers, fetched_at, &rules.freshness).at, UnixSeconds(1_700_000_600));
//! ```

mod answer;
mod expiry;
mod headers;
mod outage;
mod time;

pub use answer::{Access, Answer, resolve};
pub use expiry::{Expiry, ExpirySource, expiry};
pub use headers::CachingHeaders;
pub use outage::{KnownOutage, LongOutage, Outage, Serving, serving};
pub use time::UnixSeconds;
