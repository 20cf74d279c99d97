//! What a source holds, numbered: hosts, files and policies, the same for files and compiled sets.
//!
//! Two texts with the same user-agent lines and rules on the same lines are one policy, as in a
//! compiled set; what else differs about them (octets, notes, records that decide nothing) is their
//! file's. Hosts are in the order of their keys, and so nothing depends on where they were found.

mod loaded;
mod stored;

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::others::Others;
use super::plan::Plan;
use super::source::Source;
use crate::decision::{PolicyState, Verdict};
use crate::dialect::AccessOutcome;
use crate::policy::AgentChain;
use crate::set::Damage;
use crate::set::stored::PolicyNumber;
use crate::syntax::NoteSet;

/// In the place of a policy or a file: there is none.
pub(super) const NONE: u32 = u32::MAX;

/// The key of the one host of a source that has one file for every URL.
pub(super) const EVERY_HOST: &[u8] = b"*";

/// What a source holds.
#[derive(Debug)]
pub(super) struct Library<'s> {
    pub source: Source<'s>,
    /// In the order of their keys.
    pub hosts: Vec<Host>,
    keys: Vec<u8>,
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    /// Whether the one host is every host.
    is_everything: bool,
    pub files: Vec<File>,
    pub others: Vec<Others>,
    pub policies: Vec<Policy>,
    pub plan: Plan,
}

/// A host: http (or the only scheme of its key), then https.
#[derive(Clone, Debug)]
pub(super) struct Host {
    key_start: usize,
    key_octets: u32,
    /// Numbers of policies, or [`NONE`].
    pub policies: [u32; 2],
    /// Numbers of files, or [`NONE`]; a file that speaks for both stands at the first place.
    pub files: [u32; 2],
}

/// A file as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct File {
    /// Octets, as far as they are kept.
    pub octets: u64,
    pub notes: NoteSet,
    /// The number of its records that decide nothing.
    pub others: u32,
}

/// A policy, and who shares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub place: Place,
    pub access: AccessOutcome,
    /// Origins and hosts that share it.
    pub origins: u64,
    pub hosts: u64,
    /// The first of those hosts.
    pub first_host: u32,
}

/// Where a policy stands in its source.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The text with this number.
    Text(u32),
    Stored(PolicyNumber),
}

/// A host before it has its number.
struct FoundHost {
    key: Vec<u8>,
    policies: [u32; 2],
    files: [u32; 2],
}

impl<'s> Library<'s> {
    /// Reads what `source` holds and plans the counting for `agents`. It runs on the calling
    /// thread's rayon pool.
    pub(super) fn new(source: Source<'s>, agents: &[AgentChain]) -> Result<Library<'s>, Damage> {
        let mut library = Library {
            source,
            hosts: Vec::new(),
            keys: Vec::new(),
            table: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            is_everything: source.origins().is_none(),
            files: Vec::new(),
            others: Vec::new(),
            policies: Vec::new(),
            plan: Plan::new(agents.len()),
        };
        let hosts = match source {
            Source::Loaded(set) => loaded::read(&mut library, set, agents),
            Source::Stored(set) => stored::read(&mut library, set, agents)?,
        };
        library.file_hosts(hosts);
        Ok(library)
    }

    fn file_hosts(&mut self, mut found: Vec<FoundHost>) {
        found.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        self.table.reserve(found.len(), |_| 0);
        for (number, host) in (0..).zip(found) {
            let key_start = self.keys.len();
            self.keys.extend_from_slice(&host.key);
            let hash = self.hasher.hash_one(&*host.key);
            let FoundHost { policies, files, .. } = host;
            let key_octets = host.key.len() as u32;
            self.hosts.push(Host { key_start, key_octets, policies, files });
            let Library { hosts, keys, table, hasher, policies: shared, .. } = self;
            let hash_of = |&number: &u32| hasher.hash_one(key(&hosts[number as usize], keys));
            table.insert_unique(hash, number, hash_of);
            let [http, https] = policies;
            for &policy in policies.iter().filter(|&&policy| policy != NONE) {
                let policy = &mut shared[policy as usize];
                policy.first_host = policy.first_host.min(number);
                policy.origins += 1;
            }
            for policy in [http, if https == http { NONE } else { https }] {
                if policy != NONE {
                    shared[policy as usize].hosts += 1;
                }
            }
        }
    }

    /// The key of a host.
    pub(super) fn key(&self, host: u32) -> &[u8] {
        key(&self.hosts[host as usize], &self.keys)
    }

    /// The host of a URL with this scheme and key (see [`host_key`](crate::target::host_key)), and
    /// the place of its origin there. `scratch` is memory for keys that hold their scheme.
    #[inline]
    pub(super) fn origin(
        &self,
        scheme: &[u8],
        host_key: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Option<(u32, usize)> {
        if self.is_everything {
            return Some((0, 0));
        }
        if scheme.eq_ignore_ascii_case(b"https") {
            return self.find(host_key).map(|host| (host, 1));
        }
        if scheme.eq_ignore_ascii_case(b"http") {
            return self.find(host_key).map(|host| (host, 0));
        }
        push_origin(scheme, host_key, scratch);
        self.find(scratch).map(|host| (host, 0))
    }

    #[inline]
    fn find(&self, host_key: &[u8]) -> Option<u32> {
        let same = |&number: &u32| key(&self.hosts[number as usize], &self.keys) == host_key;
        self.table.find(self.hasher.hash_one(host_key), same).copied()
    }

    /// The extract of a policy's file; empty if there is none.
    pub(super) fn extract(&self, policy: u32) -> Result<Cow<'s, [u8]>, Damage> {
        match (self.policies[policy as usize].place, self.source) {
            (Place::Text(text), Source::Loaded(set)) => {
                Ok(Cow::Owned(loaded::extract(set, set.text(text as usize))))
            }
            (Place::Stored(position), Source::Stored(set)) => {
                Ok(Cow::Owned(set.policy(position)?.extract()?))
            }
            _ => unreachable!("policies are of their library's source"),
        }
    }

    /// Damage that says that what is found by looking it up is not what was found by going over
    /// everything, or no file. It cannot be of texts, which are in memory.
    #[cold]
    pub(super) fn misfiled(&self) -> Damage {
        match self.source {
            Source::Stored(set) => {
                set.malformed_host("a host, its policy or its rules are misfiled")
            }
            Source::Loaded(_) => unreachable!("what is in memory does not change"),
        }
    }
}

/// Writes `scheme://key`, the scheme in lower case.
pub(super) fn push_origin(scheme: &[u8], key: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    out.extend_from_slice(key);
}

/// The key of a host.
#[inline]
fn key<'k>(host: &Host, keys: &'k [u8]) -> &'k [u8] {
    &keys[host.key_start..][..host.key_octets as usize]
}

impl Policy {
    fn new(place: Place, access: AccessOutcome) -> Policy {
        Policy { place, access, origins: 0, hosts: 0, first_host: NONE }
    }

    /// Whether there is a file.
    pub(super) fn has_file(&self) -> bool {
        has_file(self.access.state)
    }
}

fn has_file(state: PolicyState) -> bool {
    matches!(state, PolicyState::Rules | PolicyState::NoRules)
}

/// The outcome of a file that was read; only its state counts.
fn of_file(has_rules: bool) -> AccessOutcome {
    let state = if has_rules { PolicyState::Rules } else { PolicyState::NoRules };
    AccessOutcome { state, verdict: Verdict::Allow }
}
