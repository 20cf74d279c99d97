//! A compiled set, opened: read or mapped, and used in place.
//!
//! Owns reading what [`compile`](super::compile) writes. [`PolicySet::open`] looks at the header and
//! nothing else, so it costs the same for ten hosts and ten million. To ask about URLs make a
//! [`Classifier`](crate::batch::Classifier); to look at what is in it go through
//! [`PolicySet::hosts`].
//!
//! Cost: a look-up touches a slot, a host, a policy and a rule set, one or two cache lines each.
//! Memory: a bit for each 4,096 bytes of the file, two words for each policy and agent, and the states
//! of automata that paths ask for ([`Query`]).
//!
//! What can fail: everything that reads, with a [`Damage`] that names the file, because any bytes
//! may be opened. Nothing that is damaged becomes an answer.

#![allow(unsafe_code, reason = "maps set files")]

mod capture;
mod document;
mod hosts;
mod places;
mod policy;
mod query;
mod rule_set;
mod rules;
mod standings;
#[cfg(test)]
mod tests;
mod tokens;
mod usage;
mod verify;

use std::path::Path;

use zerocopy::little_endian::U32;

use crate::large_pages::ZeroedMemory;
use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::syntax::NoteKind;

use super::file::{Damage, Section, SectionKind, SetError, SetFile, Storage};
use super::layout::{SLOT_WORDS, count};
use super::strings::Strings;

pub use capture::StoredCapture;
pub use document::{DocumentRecord, RecordKind, UsageKind};
pub use hosts::{HostPosition, StoredHost};
pub(crate) use hosts::{Place, key_with_scheme, place};
pub use policy::{PolicyNumber, StoredPolicy};
pub use query::{AskError, Query, QueryMemory};
pub use rule_set::{RuleSetKind, RuleSetNumber, StoredRuleSet};
pub use standings::Standings;
pub use usage::StatedPlace;
pub use verify::Verified;

/// A compiled set.
#[derive(Debug)]
pub struct PolicySet {
    file: SetFile,
    dialect: &'static Dialect,
    slots: u64,
    host_seed: u64,
    sections: Sections,
    /// Whether the first policy speaks for every URL.
    is_universal: bool,
    /// Who may ask, by token; everybody, if there is no list.
    tokens: Option<Vec<String>>,
}

/// Where everything is.
#[derive(Debug)]
struct Sections {
    provenance: Section,
    slots: Section,
    hosts: Section,
    captures: Section,
    policy_index: Section,
    policies: Section,
    rule_sets: Section,
    prefilters: Section,
    patterns: Section,
    pattern_texts: Section,
    orders: Section,
    tokens: Section,
    documents: Section,
    others: Section,
    outages: Section,
    history: Section,
    /// Nothing in a set of a version that did not store usage.
    usage: Option<UsageSections>,
    strings: Strings,
}

/// Where usage preferences are.
#[derive(Clone, Copy, Debug)]
struct UsageSections {
    index: Section,
    usage: Section,
    records: Section,
}

/// How many of everything a set has, as its maker counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetCounts {
    /// Hosts.
    pub hosts: u64,
    /// Origins of which something is known.
    pub origins: u64,
    /// Distinct policies.
    pub policies: u64,
    /// Distinct rule sets.
    pub rule_sets: u64,
    /// Rule sets that are made of groups when an agent asks.
    pub rule_sets_of_groups: u64,
    /// Captures.
    pub captures: u64,
    /// Distinct strings.
    pub strings: u64,
    /// Distinct names of robots.
    pub tokens: u64,
    /// The earliest and the latest capture, if any is dated, in seconds since 1970.
    pub captured: Option<(u64, u64)>,
    /// Captures whose file has no rule and looks like each of [`NoteKind::APPEARANCES`].
    pub appearances: [u64; NoteKind::APPEARANCES.len()],
}

impl PolicySet {
    /// Reads the set at `path` into memory. For one that is larger than what is asked of it there is
    /// [`PolicySet::map`].
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is no set that this version can read; the message says what to
    /// do.
    pub fn open(path: &Path) -> Result<PolicySet, SetError> {
        PolicySet::of(SetFile::open(Storage::open(path)?)?)
    }

    /// Opens the set at `path` by mapping it: only what is touched is read, and processes share it. A
    /// file that the system will not map is read.
    ///
    /// # Safety
    ///
    /// Nothing may truncate or rewrite the file while the set lives: its bytes are used in place as
    /// shared slices, which must not change. Replacing the file by renaming another over it is
    /// harmless, and what `compile` does. If it is truncated all the same, touching what is gone
    /// raises SIGBUS, and what its last page held after its new end reads as zeros;
    /// [`Classifier::classify`](crate::batch::Classifier::classify) compares the length after every
    /// block and returns an error then. Who reads the set in other ways asks
    /// [`PolicySet::is_whole`] before using what was read.
    pub unsafe fn map(path: &Path) -> Result<PolicySet, SetError> {
        // SAFETY: as the caller promises.
        PolicySet::of(SetFile::open(unsafe { Storage::map(path)? })?)
    }

    /// Opens a copy of a set that is in memory; `name` is what messages call it.
    pub fn of_bytes(name: &str, bytes: impl AsRef<[u8]>) -> Result<PolicySet, SetError> {
        PolicySet::of(SetFile::open(Storage::owned(name, bytes.as_ref().into()))?)
    }

    fn of(file: SetFile) -> Result<PolicySet, SetError> {
        let dialect = dialect(&file)?;
        if file.fields().flags != 0 {
            return Err(file
                .malformed_header("it has flags that this version does not know")
                .into());
        }
        let sections = Sections {
            provenance: file.required(SectionKind::PROVENANCE)?,
            slots: file.required(SectionKind::SLOTS)?,
            hosts: file.required(SectionKind::HOSTS)?,
            captures: file.required(SectionKind::CAPTURES)?,
            policy_index: file.required(SectionKind::POLICY_INDEX)?,
            policies: file.required(SectionKind::POLICIES)?,
            rule_sets: file.required(SectionKind::RULE_SETS)?,
            prefilters: file.required(SectionKind::PREFILTERS)?,
            patterns: file.required(SectionKind::PATTERNS)?,
            pattern_texts: file.required(SectionKind::PATTERN_TEXTS)?,
            orders: file.required(SectionKind::ORDERS)?,
            tokens: file.required(SectionKind::TOKENS)?,
            documents: file.required(SectionKind::DOCUMENTS)?,
            others: file.required(SectionKind::OTHERS)?,
            outages: file.required(SectionKind::OUTAGES)?,
            history: file.required(SectionKind::HISTORY)?,
            usage: match file.section(SectionKind::USAGE_INDEX) {
                Some(index) => Some(UsageSections {
                    index,
                    usage: file.required(SectionKind::USAGE)?,
                    records: file.required(SectionKind::USAGE_RECORDS)?,
                }),
                None => None,
            },
            strings: Strings::open(&file, file.fields().counts[count::STRINGS])?,
        };
        let slots = sections.slots.bytes() / (SLOT_WORDS * size_of::<u32>()) as u64;
        let host_seed = file.fields().counts[count::HOST_SEED];
        let (is_universal, tokens) = (false, None);
        Ok(PolicySet { file, dialect, slots, host_seed, sections, is_universal, tokens })
    }

    /// A set that this process has just compiled, for some agents if it was not for everybody.
    pub(super) fn of_compiled(
        name: &str,
        bytes: ZeroedMemory,
        agents: Option<&[AgentChain]>,
    ) -> PolicySet {
        let set = SetFile::trusted(name, bytes).and_then(PolicySet::of);
        let tokens = |agents: &[AgentChain]| {
            agents.iter().flat_map(AgentChain::tokens).map(str::to_owned).collect()
        };
        let set = set.expect("what was compiled is a set");
        PolicySet { tokens: agents.map(tokens), ..set }
    }

    /// The same set, whose first policy speaks for every URL.
    pub(super) fn speaking_for_everything(self) -> PolicySet {
        PolicySet { is_universal: true, ..self }
    }

    /// Whether one policy speaks for every URL, whatever its host is.
    pub fn is_universal(&self) -> bool {
        self.is_universal
    }

    /// The first of `agents` that the set was not compiled for.
    fn stranger<'a>(&self, agents: &'a [AgentChain]) -> Option<&'a AgentChain> {
        let known = self.tokens.as_ref()?;
        let is_known = |token: &str| known.iter().any(|other| other.eq_ignore_ascii_case(token));
        agents.iter().find(|agent| !agent.tokens().all(is_known))
    }

    /// What messages call the set.
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// The behaviour that its policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Bytes of a file that counted; all, if there was no limit.
    pub fn robots_bytes_max(&self) -> Option<u64> {
        self.file.fields().robots_bytes_max
    }

    /// The hash of its content: sets that were compiled from the same captures have the same.
    pub fn hash(&self) -> u64 {
        self.file.content_hash()
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.file.file_bytes()
    }

    /// The name (`hosts`) and the bytes of each section, in the order of the file.
    pub fn section_bytes(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.file.sections().iter().map(|section| {
            let kind = section.kind();
            let name = kind.name().map_or_else(|| kind.to_string(), str::to_owned);
            (name, section.bytes())
        })
    }

    /// How many of everything there are.
    pub fn counts(&self) -> SetCounts {
        let counts = &self.file.fields().counts;
        let captured = (counts[count::CAPTURED_FROM], counts[count::CAPTURED_TO]);
        SetCounts {
            hosts: counts[count::HOSTS],
            origins: counts[count::ORIGINS],
            policies: counts[count::POLICIES],
            rule_sets: counts[count::RULE_SETS],
            rule_sets_of_groups: counts[count::RULE_SETS_OF_GROUPS],
            captures: counts[count::CAPTURES],
            strings: counts[count::STRINGS],
            tokens: counts[count::TOKENS],
            captured: (captured != (0, 0)).then_some(captured),
            appearances: std::array::from_fn(|index| counts[count::APPEARANCES + index]),
        }
    }

    /// Whether the set stores what pages may be used for. Sets of versions that did not have to be
    /// compiled again from their captures before usage can be asked.
    pub fn has_usage(&self) -> bool {
        self.sections.usage.is_some()
    }

    /// The JSON object that says where the set comes from.
    pub fn provenance(&self) -> Result<&[u8], Damage> {
        let section = self.sections.provenance;
        self.file.bytes(section, 0, section.bytes())
    }

    /// Whether the file is still as long as it was when it was opened: to be asked after it was read
    /// and before what was read is used. It costs a system call if the set is mapped, and nothing
    /// otherwise.
    #[inline]
    pub fn is_whole(&self) -> Result<(), Damage> {
        self.file.is_whole()
    }

    /// Asks the processor for a word that will be read soon. A loop that only touches has many loads
    /// under way at once; one that works with what it loads has a few. What is damaged is reported
    /// to whoever reads it.
    #[inline]
    fn touch(&self, section: Section, word: u32) {
        if let Ok(words) = self.words(section, word, 1) {
            std::hint::black_box(words[0].get());
        }
    }

    /// Words of a section, counted in words.
    #[inline]
    fn words(&self, section: Section, first: u32, count: usize) -> Result<&[U32], Damage> {
        self.file.items(section, u64::from(first), count as u64)
    }

    #[cold]
    fn malformed(&self, section: Section, word: u32, what: &'static str) -> Damage {
        self.file.malformed(section, u64::from(word) * size_of::<u32>() as u64, what)
    }
}

/// The dialect that a set was compiled for, which has to behave as it did then.
fn dialect(file: &SetFile) -> Result<&'static Dialect, SetError> {
    let fields = file.fields();
    let known = Dialect::by_name(&fields.dialect_name);
    known.filter(|dialect| super::fingerprint(dialect) == fields.dialect_fingerprint).ok_or_else(
        || SetError::OtherDialect {
            name: file.name().to_owned(),
            dialect: fields.dialect_name.clone(),
        },
    )
}
