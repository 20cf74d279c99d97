//! Sections: their kinds, names in messages, and positions.

use std::fmt;

/// The kind of a section's content. The container accepts unknown kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionKind(pub u32);

impl SectionKind {
    /// Strings, front-coded in buckets.
    pub const STRINGS: SectionKind = SectionKind(1);
    /// The start of each bucket of strings.
    pub const STRING_BUCKETS: SectionKind = SectionKind(2);
    /// The provenance of the set, as JSON.
    pub const PROVENANCE: SectionKind = SectionKind(3);
    /// The host table, which finds hosts by key.
    pub const SLOTS: SectionKind = SectionKind(4);
    /// Hosts.
    pub const HOSTS: SectionKind = SectionKind(5);
    /// When and how each policy was captured.
    pub const CAPTURES: SectionKind = SectionKind(6);
    /// Policies.
    pub const POLICIES: SectionKind = SectionKind(7);
    /// Where each rule set begins.
    pub const RULE_SET_INDEX: SectionKind = SectionKind(8);
    /// The records of the rules that patterns come from.
    pub const ORDERS: SectionKind = SectionKind(9);
    /// The names of robots.
    pub const TOKENS: SectionKind = SectionKind(10);
    /// The user-agent lines and rules of policies.
    pub const DOCUMENTS: SectionKind = SectionKind(11);
    /// The other records of files.
    pub const OTHERS: SectionKind = SectionKind(12);
    /// Outages, by capture.
    pub const OUTAGES: SectionKind = SectionKind(13);
    /// The additional captures that merging needs.
    pub const HISTORY: SectionKind = SectionKind(14);
    /// The rule sets.
    pub const RULE_SETS: SectionKind = SectionKind(16);
    /// The start of each policy.
    pub const POLICY_INDEX: SectionKind = SectionKind(17);
    /// Usage preferences, by policy.
    pub const USAGE: SectionKind = SectionKind(19);
    /// The start of the usage of each policy.
    pub const USAGE_INDEX: SectionKind = SectionKind(20);
    /// The usage records of policies.
    pub const USAGE_RECORDS: SectionKind = SectionKind(21);

    /// All named kinds. Numbers are part of the format and never reused.
    const NAMES: &[(SectionKind, &str)] = &[
        (SectionKind::STRINGS, "strings"),
        (SectionKind::STRING_BUCKETS, "string buckets"),
        (SectionKind::PROVENANCE, "provenance"),
        (SectionKind::SLOTS, "slots"),
        (SectionKind::HOSTS, "hosts"),
        (SectionKind::CAPTURES, "captures"),
        (SectionKind::POLICIES, "policies"),
        (SectionKind::RULE_SET_INDEX, "rule set index"),
        (SectionKind::ORDERS, "orders"),
        (SectionKind::TOKENS, "tokens"),
        (SectionKind::DOCUMENTS, "documents"),
        (SectionKind::OTHERS, "others"),
        (SectionKind::RULE_SETS, "rule sets"),
        (SectionKind::POLICY_INDEX, "policy index"),
        (SectionKind::OUTAGES, "outages"),
        (SectionKind::HISTORY, "history"),
        (SectionKind::USAGE, "usage"),
        (SectionKind::USAGE_INDEX, "usage index"),
        (SectionKind::USAGE_RECORDS, "usage records"),
    ];
}

impl SectionKind {
    /// Returns the name. `None` if the kind has no name.
    pub fn name(self) -> Option<&'static str> {
        SectionKind::NAMES.iter().find(|(kind, _)| *kind == self).map(|&(_, name)| name)
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "section '{name}'"),
            None => write!(f, "section {}", self.0),
        }
    }
}

/// A section of one opened file. Every access takes that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub(super) kind: SectionKind,
    /// The offset in the file.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Section {
    /// Returns the kind of the section.
    pub fn kind(&self) -> SectionKind {
        self.kind
    }

    /// Returns the length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the end of the section in the file. It does not overflow if the header was checked.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// Returns the file offset of `bytes` bytes from `start` in the section. `None` if they are out
    /// of bounds.
    #[inline]
    pub(super) fn locate(&self, start: u64, bytes: u64) -> Option<u64> {
        let is_inside = start.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        is_inside.then(|| self.start + start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name_each() {
        for (at, (kind, name)) in SectionKind::NAMES.iter().enumerate() {
            let rest = &SectionKind::NAMES[at + 1..];
            assert!(!rest.iter().any(|(other, named)| other == kind || named == name), "{name}");
        }
        assert_eq!(SectionKind::STRINGS.to_string(), "section 'strings'");
        assert_eq!(SectionKind(900).to_string(), "section 900");
    }
}
