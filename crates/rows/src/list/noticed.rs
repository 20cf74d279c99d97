//! Observations on the records of a list that are reported once for all.

use std::sync::atomic::AtomicU64;

/// Observations on the records of a list, in all threads. A block may be read twice.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How often a time was a number without a unit.
    pub unitless: AtomicU64,
    /// How often a path has no query, and its record has one in another field that is not read.
    pub left_queries: AtomicU64,
}

/// Parts of a request that a log may state otherwise than the client sent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts(pub u8);

impl Doubts {
    /// The target names another origin than the record or the one for all.
    pub const OTHER_HOST: Doubts = Doubts(1);
    /// The query is not logged.
    pub const NO_QUERY: Doubts = Doubts(2);
    /// The path is logged without its escapes.
    pub const DECODED: Doubts = Doubts(4);
    /// All of them.
    pub const ALL: [Doubts; 3] = [Doubts::OTHER_HOST, Doubts::NO_QUERY, Doubts::DECODED];

    pub fn has(self, doubt: Doubts) -> bool {
        self.0 & doubt.0 != 0
    }

    /// Returns both.
    pub(super) fn and(self, other: Doubts) -> Doubts {
        Doubts(self.0 | other.0)
    }

    pub(super) fn with(self, doubt: Doubts, is_so: bool) -> Doubts {
        if is_so { self.and(doubt) } else { self }
    }

    /// Says what so many requests have, in a list whose hosts are `hosts`.
    pub(super) fn describe(self, requests: &str, hosts: HostsOf) -> String {
        match self {
            Doubts::OTHER_HOST => {
                format!("{requests} with a target on another origin than {}", hosts.describe())
            }
            Doubts::NO_QUERY => format!(
                "{requests} whose queries this server does not log; a rule with `?` may decide otherwise"
            ),
            _ => format!(
                "{requests} whose paths this server logs without escapes; a rule with an escape may decide \
                 otherwise"
            ),
        }
    }
}

/// The kind of the hosts of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostsOf {
    /// The hosts that a server found, and logged.
    Server,
    /// Headers in a log, or none.
    Headers,
    /// Fields of a table.
    Records,
}

impl HostsOf {
    /// Says what names hosts next to targets, and which of the two decides.
    fn describe(self) -> &'static str {
        match self {
            HostsOf::Server => "the log names; the host of the log decides",
            HostsOf::Headers => "‹host› or the log names; the host of the target decides",
            HostsOf::Records => {
                "its record or ‹host› names; the host of the record decides, or without one that of the target"
            }
        }
    }
}
