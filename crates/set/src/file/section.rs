//! Sections: their kinds, what messages call them, and where they are.

use std::fmt;

/// What a section holds. The container keeps sections of kinds that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionKind(pub u32);

impl SectionKind {
    /// Strings, front-coded in buckets.
    pub const STRINGS: SectionKind = SectionKind(1);
    /// Where each bucket of strings begins.
    pub const STRING_BUCKETS: SectionKind = SectionKind(2);
    /// Where the set comes from, as JSON.
    pub const PROVENANCE: SectionKind = SectionKind(3);
    /// The table that finds hosts.
    pub const SLOTS: SectionKind = SectionKind(4);
    /// Hosts.
    pub const HOSTS: SectionKind = SectionKind(5);
    /// How each policy came to be known.
    pub const CAPTURES: SectionKind = SectionKind(6);
    /// Policies.
    pub const POLICIES: SectionKind = SectionKind(7);
    /// Rule sets.
    pub const RULE_SETS: SectionKind = SectionKind(8);
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
    /// What merging needs beside what serves.
    pub const HISTORY: SectionKind = SectionKind(14);
    /// The tables of patterns of rule sets.
    pub const PATTERNS: SectionKind = SectionKind(15);
    /// The prefilters of rule sets.
    pub const PREFILTERS: SectionKind = SectionKind(16);
    /// Where each policy begins.
    pub const POLICY_INDEX: SectionKind = SectionKind(17);
    /// The texts of patterns.
    pub const PATTERN_TEXTS: SectionKind = SectionKind(18);

    /// What pages may be used for, by policy.
    pub const USAGE: SectionKind = SectionKind(19);
    /// Where the usage of each policy begins.
    pub const USAGE_INDEX: SectionKind = SectionKind(20);
    /// The usage records of policies.
    pub const USAGE_RECORDS: SectionKind = SectionKind(21);

    /// Each kind that has a name. Numbers are part of the format and are never given out again.
    const NAMES: &[(SectionKind, &str)] = &[
        (SectionKind::STRINGS, "strings"),
        (SectionKind::STRING_BUCKETS, "string buckets"),
        (SectionKind::PROVENANCE, "provenance"),
        (SectionKind::SLOTS, "slots"),
        (SectionKind::HOSTS, "hosts"),
        (SectionKind::CAPTURES, "captures"),
        (SectionKind::POLICIES, "policies"),
        (SectionKind::RULE_SETS, "rule sets"),
        (SectionKind::ORDERS, "orders"),
        (SectionKind::TOKENS, "tokens"),
        (SectionKind::DOCUMENTS, "documents"),
        (SectionKind::OTHERS, "others"),
        (SectionKind::PATTERNS, "patterns"),
        (SectionKind::PREFILTERS, "prefilters"),
        (SectionKind::POLICY_INDEX, "policy index"),
        (SectionKind::PATTERN_TEXTS, "pattern texts"),
        (SectionKind::OUTAGES, "outages"),
        (SectionKind::HISTORY, "history"),
        (SectionKind::USAGE, "usage"),
        (SectionKind::USAGE_INDEX, "usage index"),
        (SectionKind::USAGE_RECORDS, "usage records"),
    ];
}

impl SectionKind {
    /// The name, of a kind that has one.
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

/// A section of one opened file, to ask that file with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    pub(super) kind: SectionKind,
    /// Offset in the file.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Section {
    /// The kind of what it holds.
    pub fn kind(&self) -> SectionKind {
        self.kind
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where it ends in the file. Of a section in a header that was checked this does not overflow.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// Where `bytes` from `start` in the section on begin in the file; none if it has not so many.
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
