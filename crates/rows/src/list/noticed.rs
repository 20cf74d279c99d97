//! Observations on the records of a list, which are reported once for all.

use super::place::LeftPart;
use super::{ListConfig, ListFormat};

/// Parts of a record that may mean something else than they were read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doubts(pub u8);

impl Doubts {
    /// The target names another origin than the record or the one for all.
    pub const OTHER_HOST: Doubts = Doubts(1);
    /// The query is not logged.
    pub const NO_QUERY: Doubts = Doubts(2);
    /// The path is logged without its escapes.
    pub const DECODED: Doubts = Doubts(4);
    /// The path has no query, and its record has one in another field that is not read.
    pub const LEFT_QUERY: Doubts = Doubts(8);
    /// The time is a number without a unit.
    pub const NO_UNIT: Doubts = Doubts(16);
    /// The URL of the path has another host than a field of its record that is not read.
    pub const LEFT_HOST: Doubts = Doubts(32);
    /// Likewise another scheme.
    pub const LEFT_SCHEME: Doubts = Doubts(64);
    /// Likewise another port.
    pub const LEFT_PORT: Doubts = Doubts(128);

    /// The kinds of doubts about requests of logs.
    pub const OF_REQUESTS: [Doubts; 3] = [Doubts::OTHER_HOST, Doubts::NO_QUERY, Doubts::DECODED];

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

    /// Says what so many requests have. `names_hosts` says what names hosts next to targets, and which of the
    /// two decides.
    pub(super) fn describe(self, requests: &str, names_hosts: &str) -> String {
        match self {
            Doubts::OTHER_HOST => {
                format!("{requests} with a target on another origin than {names_hosts}")
            }
            Doubts::NO_QUERY => format!(
                "{requests} without their queries, which this server does not log; a rule with `?` may decide otherwise"
            ),
            _ => format!(
                "{requests} whose paths this server logs without escapes; a rule with an escape may decide \
                 otherwise"
            ),
        }
    }
}

/// A part of the URL of a path in a field of its record that is not read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'c> {
    pub part: LeftPart,
    pub value: &'c [u8],
}

impl LeftPart {
    /// Returns which parts a list of a format does not read, in the order of [`LeftPart::ALL`].
    pub fn all_left(config: &ListConfig, format: ListFormat) -> [bool; LeftPart::ALL.len()] {
        let has_paths = config.hosts_in(format).is_some();
        LeftPart::ALL.map(|part| has_paths && part.is_left(config))
    }

    /// Whether a list whose paths are completed does not read the part. Without a host for all, it reads that
    /// of a field.
    pub fn is_left(self, config: &ListConfig) -> bool {
        match self {
            LeftPart::Query | LeftPart::Target => !config.queries.is_asked(),
            LeftPart::Host => !config.hosts.is_asked() && config.host.is_some(),
            LeftPart::Scheme => !config.schemes.is_asked(),
            LeftPart::Port => true,
        }
    }

    /// Returns the doubt about a URL that lacks the part, or has another one.
    pub fn doubt(self) -> Doubts {
        match self {
            LeftPart::Query | LeftPart::Target => Doubts::LEFT_QUERY,
            LeftPart::Host => Doubts::LEFT_HOST,
            LeftPart::Scheme => Doubts::LEFT_SCHEME,
            LeftPart::Port => Doubts::LEFT_PORT,
        }
    }

    /// Says that so many paths lack the part that `fields` have, of the first records. Others may be in later
    /// ones.
    pub fn describe(self, paths: &str, fields: &[&str]) -> String {
        let fields = match (fields, self) {
            ([field], _) => format!("`{field}`"),
            ([others @ .., last], _) => format!("`{}` or `{last}`", others.join("`, `")),
            ([], usual) => format!("a field such as `{usual}`"),
        };
        match self {
            LeftPart::Query | LeftPart::Target => format!(
                "{paths} without the query that {fields} has, so no rule with `?` matches them; name a query \
                 with ‹query_field›, or a path with its query with ‹url_field›"
            ),
            LeftPart::Host => {
                format!("{paths} on another host than {fields} has; name it with ‹host_field›")
            }
            LeftPart::Scheme => {
                format!(
                    "{paths} with another scheme than {fields} has; name it with ‹scheme_field›"
                )
            }
            LeftPart::Port => format!(
                "{paths} with another port than {fields} has; name a field with the host and the port \
                 with ‹host_field›"
            ),
        }
    }
}

/// Observations on records: those of a chunk, or of all chunks of a list up to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// The number of records with each kind of doubt.
    doubts: [u64; u8::BITS as usize],
    /// The values that some object had, as [`Values::seen`](super::values::Values::seen).
    pub(super) seen: u8,
}

impl Noticed {
    /// Adds the doubts about records, and the values that one of them had.
    pub(super) fn add(&mut self, doubts: &[Doubts], seen: u8) {
        self.seen |= seen;
        if doubts.iter().fold(0, |all, it| all | it.0) == 0 {
            return;
        }
        for (kind, count) in self.doubts.iter_mut().enumerate() {
            *count += doubts.iter().filter(|it| it.has(Doubts(1 << kind))).count() as u64;
        }
    }

    /// Adds what the next records have.
    pub(crate) fn merge(&mut self, next: Noticed) {
        self.seen |= next.seen;
        self.doubts.iter_mut().zip(next.doubts).for_each(|(sum, count)| *sum += count);
    }

    /// Returns the number of records with a kind of doubt.
    pub(super) fn count(self, doubt: Doubts) -> u64 {
        self.doubts[doubt.0.trailing_zeros() as usize]
    }
}
