//! Access over time: how long an answer to GET /robots.txt lasts, and the rules for outages.
//!
//! [`AccessRules::resolve`](portcullis_dialect::AccessRules::resolve) gives the meaning of one answer.
//! [`expiry`] returns how long a copy stays fresh (RFC 9309, section 2.4), and [`serving`] what
//! applies while no file can be fetched (section 2.3.1.4). Both are pure functions of their arguments
//! and the dialect: no function here reads a clock, a network or a disk.
//!
//! No function fails. A malformed header never extends the time that a copy is fresh.

mod expiry;
pub mod location;
mod note;
mod outage;
mod time;

pub use expiry::{CachingHeaders, expiry};
pub use note::{CaptureNote, CaptureNotes};
pub use outage::{KnownOutage, LongOutage, Outage, Serving, at_once, serving};
pub use time::{DateSpan, TimeUnit, UnixSeconds, in_range, is_date, seconds_of};
