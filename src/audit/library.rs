//! What a set holds, numbered: hosts, files and policies.
//!
//! Two texts with the same user-agent lines and rules on the same lines are one policy; what else differs
//! about them (bytes, notes, records that decide nothing) is their file's. Hosts are in the order of their keys, and so nothing depends on where they were found.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{HashMap, HashTable};
use rayon::prelude::*;

use super::others::Others;
use super::plan::{Draft, Plan};
use crate::decision::PolicyState;
use crate::dialect::AccessOutcome;
use crate::policy::AgentChain;
use crate::set::stored::{PolicyNumber, StoredCapture, StoredHost};
use crate::set::{Damage, PolicySet};
use crate::syntax::{NoteSet, RobotsTxt};

/// In the place of a policy or a file: there is none.
pub(super) const NONE: u32 = u32::MAX;

/// What a set holds.
#[derive(Debug)]
pub(super) struct Library {
    pub set: Arc<PolicySet>,
    /// In the order of their keys.
    pub hosts: Vec<Host>,
    keys: Vec<u8>,
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    pub files: Vec<File>,
    pub others: Vec<Others>,
    pub policies: Vec<Policy>,
    pub plan: Plan,
}

/// A host: http (or the only scheme of its key), then https.
#[derive(Clone, Debug)]
pub(super) struct Host {
    key_start: usize,
    key_bytes: u32,
    /// Numbers of policies, or [`NONE`].
    pub policies: [u32; 2],
    /// Numbers of files, or [`NONE`]; a file that speaks for both stands at the first place.
    pub files: [u32; 2],
}

/// A file as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct File {
    /// Bytes, as far as they are kept.
    pub bytes: u64,
    pub notes: NoteSet,
    /// The number of its records that decide nothing.
    pub others: u32,
}

/// A policy, and who shares it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub number: PolicyNumber,
    pub access: AccessOutcome,
    /// Origins and hosts that share it.
    pub origins: u64,
    pub hosts: u64,
    /// The first of those hosts.
    pub first_host: u32,
}

/// A host before it has its number.
struct FoundHost {
    key: Vec<u8>,
    policies: [u32; 2],
    files: [u32; 2],
}

impl Library {
    /// Reads what `set` holds and plans the counting for `agents`. It runs on the calling thread's
    /// rayon pool.
    pub(super) fn new(set: &Arc<PolicySet>, agents: &[AgentChain]) -> Result<Library, Damage> {
        let mut library = Library {
            set: Arc::clone(set),
            hosts: Vec::new(),
            keys: Vec::new(),
            table: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            files: Vec::new(),
            others: Vec::new(),
            policies: Vec::new(),
            plan: Plan::new(agents.len()),
        };
        let hosts = read(&mut library, set, agents)?;
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
            let key_bytes = host.key.len() as u32;
            self.hosts.push(Host { key_start, key_bytes, policies, files });
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
        if self.set.is_universal() {
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
    pub(super) fn extract(&self, policy: u32) -> Result<Vec<u8>, Damage> {
        self.set.policy(self.policies[policy as usize].number)?.extract()
    }

    /// Damage that says that what is found by looking it up is not what was found by going over
    /// everything, or no file.
    #[cold]
    pub(super) fn misfiled(&self) -> Damage {
        self.set.malformed_host("a host, its policy or its rules are misfiled")
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
    &keys[host.key_start..][..host.key_bytes as usize]
}

impl Policy {
    fn new(number: PolicyNumber, access: AccessOutcome) -> Policy {
        Policy { number, access, origins: 0, hosts: 0, first_host: NONE }
    }

    /// Whether there is a file.
    pub(super) fn has_file(&self) -> bool {
        has_file(self.access.state)
    }
}

fn has_file(state: PolicyState) -> bool {
    matches!(state, PolicyState::Rules | PolicyState::NoRules)
}

type Numbers<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Fills `library` with what `set` holds, and tells its hosts.
fn read(
    library: &mut Library,
    set: &PolicySet,
    agents: &[AgentChain],
) -> Result<Vec<FoundHost>, Damage> {
    let positions = set.policies().map(|policy| policy.map(|policy| policy.number()));
    let positions: Vec<PolicyNumber> = positions.collect::<Result<_, _>>()?;
    let read = |&position: &PolicyNumber| read_policy(set, position, agents);
    let read: Vec<Result<_, Damage>> = positions.par_iter().with_min_len(16).map(read).collect();
    let mut numbers = Numbers::default();
    for (&position, read) in positions.iter().zip(read) {
        let (access, draft) = read?;
        numbers.insert(position, library.policies.len() as u32);
        library.policies.push(Policy::new(position, access));
        library.plan.push(draft);
    }
    let mut reading =
        Reading { set, numbers, files: Numbers::default(), others: Numbers::default() };
    // For files without records that decide nothing.
    library.others.push(Others::default());
    set.hosts().map(|host| reading.host(library, &host?)).collect()
}

fn read_policy(
    set: &PolicySet,
    position: PolicyNumber,
    agents: &[AgentChain],
) -> Result<(AccessOutcome, Draft), Damage> {
    let policy = set.policy(position)?;
    let access = policy.access()?;
    if !has_file(access.state) {
        return Ok((access, Draft::without_rules(agents.len())));
    }
    let extract = policy.extract()?;
    let no_file = || set.malformed_host("the records of its policy are no file");
    let file = RobotsTxt::read_extract(&extract).ok_or_else(no_file)?;
    Ok((access, Draft::of(&file, agents, set.dialect())))
}

/// What is known of hosts that were read.
struct Reading<'s> {
    set: &'s PolicySet,
    numbers: Numbers<PolicyNumber>,
    files: Numbers<File>,
    /// By where they stand: the number of records that decide nothing.
    others: Numbers<u32>,
}

impl Reading<'_> {
    fn host(&mut self, library: &mut Library, host: &StoredHost<'_>) -> Result<FoundHost, Damage> {
        let mut found =
            FoundHost { key: host.key().to_vec(), policies: [NONE; 2], files: [NONE; 2] };
        for https in host.schemes() {
            let Some(position) = host.policy(https) else { continue };
            let none = || self.set.malformed_host("a host has a policy that is none");
            let policy = self.numbers.get(&position).copied().ok_or_else(none)?;
            found.policies[usize::from(https)] = policy;
            let is_known = https && host.is_one_capture() && found.files[0] != NONE;
            if library.policies[policy as usize].has_file() && !is_known {
                let none = || self.set.malformed_host("a file was captured by nobody");
                let capture = host.capture(https)?.ok_or_else(none)?;
                found.files[usize::from(https)] = self.file(library, &capture)?;
            }
        }
        Ok(found)
    }

    fn file(&mut self, library: &mut Library, capture: &StoredCapture<'_>) -> Result<u32, Damage> {
        let others = match capture.others() {
            None => 0,
            Some(place) => match self.others.get(&place) {
                Some(&known) => known,
                None => {
                    let number = library.others.len() as u32;
                    library.others.push(self.read_others(place)?);
                    self.others.insert(place, number);
                    number
                }
            },
        };
        let facts = &capture.facts;
        let file = File { bytes: facts.file_bytes.into(), notes: facts.file_notes, others };
        let new = library.files.len() as u32;
        let number = *self.files.entry(file).or_insert(new);
        if number == new {
            library.files.push(file);
        }
        Ok(number)
    }

    fn read_others(&self, place: u32) -> Result<Others, Damage> {
        let mut others = Others::default();
        for record in self.set.other_records_at(place)? {
            others.add_text(&record.text, record.line.get(), self.set.dialect());
        }
        Ok(others)
    }
}
