//! What the answer to GET /robots.txt means, as data.

use crate::decision::{PolicyState, Verdict};

/// What the answer to GET /robots.txt means (RFC 9309, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRules {
    /// Redirects that are followed.
    pub redirects_max: u8,
    /// More redirects than that.
    pub too_many_redirects: AccessOutcome,
    /// 401 and 403.
    pub forbidden: AccessOutcome,
    /// 404 and 410.
    pub not_found: AccessOutcome,
    /// 429.
    pub too_many_requests: AccessOutcome,
    /// Any other 4xx.
    pub other_client_error: AccessOutcome,
    /// 5xx, no answer, a network or DNS error, a broken body.
    pub server_error: AccessOutcome,
    /// Any other status.
    pub other_status: AccessOutcome,
    /// What may follow when the file has been unreachable for a long time.
    pub long_unreachable: LongUnreachable,
    /// How long a good copy serves.
    pub freshness: Freshness,
}

/// The state that an answer puts a policy in, and the verdict on all URLs in that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessOutcome {
    /// The state.
    pub state: PolicyState,
    /// The verdict on every URL of the origin.
    pub verdict: Verdict,
}

/// What may follow when the file has been unreachable for 30 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongUnreachable {
    /// The dialect has no such rule.
    Never,
    /// The caller may ask for it: unavailable, or the last good copy.
    OnRequest,
    /// The last good copy if there is one, else everything is allowed.
    LastGoodCopy,
}

/// How long a good copy serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Seconds, where the answer's headers say nothing.
    pub default_seconds: u32,
    /// Whether `no-cache` and `no-store` of `Cache-Control` count, which leave no time at all.
    pub no_cache_directives: bool,
    /// Whether `Expires` counts beside `Cache-Control`.
    pub expires_header: bool,
    /// Seconds that the headers can lengthen it to at most, if the dialect sets a ceiling.
    pub seconds_max: Option<u32>,
}
