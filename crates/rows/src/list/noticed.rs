//! What is noticed in the records of a list, and reported once for all.

use std::sync::atomic::AtomicU64;

/// What was noticed in the records of a list, in all threads. A block may be read twice.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// How often a time was a number without a unit.
    pub unitless: AtomicU64,
    /// How often a path has no query, and its record has one in another field that is not read.
    pub left_queries: AtomicU64,
}

/// What may be another than the client asked for, in the lines of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts(pub u8);

impl Doubts {
    /// The target names another host than the record or the one for all.
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

    pub(super) fn with(self, doubt: Doubts, is_so: bool) -> Doubts {
        if is_so { Doubts(self.0 | doubt.0) } else { self }
    }

    /// Says what so many requests have. `found_by_server` is whether the log has the host that the server found.
    pub fn describe(self, requests: &str, found_by_server: bool) -> String {
        match (self, found_by_server) {
            (Doubts::OTHER_HOST, true) => format!(
                "{requests} with a target on another host than the log names; the host of the log decides"
            ),
            (Doubts::OTHER_HOST, false) => format!(
                "{requests} with a target on another host than --host or the log names; the host of the \
                 target decides"
            ),
            (Doubts::NO_QUERY, _) => format!(
                "{requests} whose queries this server does not log; a rule with `?` may decide otherwise"
            ),
            _ => format!(
                "{requests} whose paths this server logs without escapes; a rule with an escape may decide \
                 otherwise"
            ),
        }
    }
}
