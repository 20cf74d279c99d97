//! A compiled set, opened: read or mapped, and used in place.
//!
//! Owns reading what `portcullis-build` writes. [`PolicySet::open`] reads only the header,
//! so it costs the same for ten hosts and ten million. To query URLs, make a
//! [`Classifier`](crate::batch::Classifier); to inspect the content, start from
//! [`PolicySet::hosts`].
//!
//! Cost: a lookup touches a slot, a host, a policy and a rule set, one or two cache lines each.
//! Memory: a bit for each 4,096 bytes of the file, two words for each policy and agent, and the
//! automaton states that queried paths need.
//!
//! Errors: every read can fail with a [`Damage`] that names the file, because any bytes may be
//! opened. Damage never becomes a decision.

#![allow(unsafe_code, reason = "maps set files")]

mod applied;
mod capture;
mod delay;
mod document;
mod hosts;
mod policy;
mod reading;
mod rule_group;
mod rule_set;
mod standing;
mod timelines;
mod tokens;

use std::path::Path;

use zerocopy::little_endian::U32;

use portcullis_dialect::dialect::Dialect;
use portcullis_engine::vectors::prefetch;
use portcullis_files::large_pages::ZeroedMemory;
use portcullis_robots::access::UnixSeconds;

use super::file::{
    ContentHash, Damage, Section, SectionKind, SetCounts, SetError, SetFile, Storage, VERSION,
};
use super::layout::SlotLine;
use super::strings::Strings;

pub use applied::AppliedGroups;
pub(crate) use applied::Effect;
pub use capture::CaptureFacts;
pub(crate) use hosts::{Candidate, HostTable, Search};
pub use hosts::{Place, StoredCapture, StoredHost, key_with_scheme, place};
pub use policy::{PolicyEntry, PolicyNumber, RecordPolicy, RuleSetNumber, StoredPolicy};
pub use reading::{Failures, Read};
pub use rule_group::EntryRules;
pub(crate) use rule_group::{PatternKey, RuleGroup, RuleGroupPlace};
pub use standing::{Resolving, Seen, Standing, Target, View, standing};
pub use timelines::{MomentAt, Period, StoredMoment, StoredTimeline};
pub use tokens::AgentTokens;

/// A compiled set.
#[derive(Debug)]
pub struct PolicySet {
    file: SetFile,
    dialect: &'static Dialect,
    /// The lines of the host table.
    slot_lines: u64,
    host_seed: u64,
    sections: Sections,
    /// Whether the first policy applies to every URL.
    is_universal: bool,
}

/// The sections of a set.
macro_rules! sections {
    ({$($field:ident $kind:ident,)*} {$($optional:ident $optional_kind:ident,)*}) => {
        #[derive(Debug)]
        struct Sections {
            $($field: Section,)*
            $($optional: Option<Section>,)*
            strings: Strings,
            /// Before format 16.
            other_strings: Option<Strings>,
        }

        impl Sections {
            fn of(file: &SetFile) -> Result<Sections, Damage> {
                Ok(Sections {
                    $($field: file.required(SectionKind::$kind)?,)*
                    $($optional: file.section(SectionKind::$optional_kind),)*
                    strings: Strings::open(file, SectionKind::RECORD_STRINGS)?,
                    other_strings: match file.section(SectionKind::OTHER_STRINGS_BYTES) {
                        Some(_) => Some(Strings::open(file, SectionKind::OTHER_STRINGS)?),
                        None => None,
                    },
                })
            }
        }
    };
}

// Sections of every set, then sections of some.
sections! {
    {
        provenance PROVENANCE,
        slots SLOTS,
        hosts HOSTS,
        captures CAPTURES,
        policy_heads POLICY_HEADS,
        policies POLICIES,
        rule_set_index RULE_SET_INDEX,
        rule_sets RULE_SETS,
        orders ORDERS,
        tokens TOKENS,
        documents DOCUMENTS,
        others OTHERS,
        outages OUTAGES,
        usage_records USAGE_RECORDS,
    }
    {
        log LOG,
        timelines TIMELINES,
        resources RESOURCES,
        history HISTORY,
        responses RESPONSES,
    }
}

impl PolicySet {
    /// Reads the set at `path` into memory. If only a small part of a large set is needed, use
    /// [`PolicySet::map`].
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a set that this version can read. The message says
    /// what to do.
    pub fn open(path: &Path) -> Result<PolicySet, SetError> {
        PolicySet::of(SetFile::open(Storage::open(path)?)?)
    }

    /// Opens the set at `path` by mapping it: only touched pages are read, and processes share
    /// them. A file that the system cannot map is read instead.
    ///
    /// # Safety
    ///
    /// The file must not be truncated or rewritten while the set lives, because its bytes are used
    /// in place as shared slices. Renaming another file over it is safe, and what `compile` does.
    ///
    /// If the file is truncated nevertheless, touching a lost page raises SIGBUS, and the rest of
    /// the last page reads as zeros. [`Session::decide`](crate::batch::Session::decide)
    /// compares the length after every block and then returns an error. Other readers must call
    /// [`PolicySet::is_whole`] before they use what they read.
    pub unsafe fn map(path: &Path) -> Result<PolicySet, SetError> {
        // SAFETY: the caller upholds the contract.
        PolicySet::of(SetFile::open(unsafe { Storage::map(path)? })?)
    }

    /// Opens a copy of a set in memory. `name` is its name in messages.
    pub fn from_bytes(name: &str, bytes: impl AsRef<[u8]>) -> Result<PolicySet, SetError> {
        PolicySet::of(SetFile::open(Storage::owned(name, bytes.as_ref().into()))?)
    }

    /// Like [`PolicySet::open`], to compile the captures of the set again: it may have been compiled by an
    /// older version that matches paths differently, and then a classifier refuses it.
    pub fn open_to_compile(path: &Path) -> Result<PolicySet, SetError> {
        PolicySet::to_compile(SetFile::open(Storage::open(path)?)?)
    }

    /// Like [`PolicySet::map`] and [`PolicySet::open_to_compile`].
    ///
    /// # Safety
    ///
    /// As for [`PolicySet::map`].
    pub unsafe fn map_to_compile(path: &Path) -> Result<PolicySet, SetError> {
        // SAFETY: the caller upholds the contract.
        PolicySet::to_compile(SetFile::open(unsafe { Storage::map(path)? })?)
    }

    fn of(file: SetFile) -> Result<PolicySet, SetError> {
        let set = PolicySet::to_compile(file)?;
        let version = set.file.version();
        let difference = match set.matches_as_now() {
            true if version == VERSION => return Ok(set),
            true => format!("in another format ({version}, this one uses {VERSION})"),
            false => "which matched paths differently".to_owned(),
        };
        let problem = format!(
            "was compiled by an older portcullis, {difference}: `portcullis compile -o NEW {}` \
             compiles its captures again",
            set.name()
        );
        Err(SetError::unusable(set.name(), problem))
    }

    /// Returns whether the set was compiled by the present revision of matching.
    pub(crate) fn matches_as_now(&self) -> bool {
        self.file.fields().matching_revision == self.dialect.matching
    }

    fn to_compile(file: SetFile) -> Result<PolicySet, SetError> {
        let dialect = dialect(&file)?;
        if file.fields().flags != 0 {
            let what = "it has flags that this version does not know";
            return Err(file.malformed_header(what).into());
        }
        let sections = Sections::of(&file)?;
        let Sections { timelines, resources, history, responses, .. } = &sections;
        let history = [timelines, resources, history, responses].map(Option::is_some);
        if history != [history[0]; 4] {
            let what = "it has a part of a history";
            return Err(file.malformed_header(what).into());
        }
        let slot_lines = sections.slots.bytes / size_of::<SlotLine>() as u64;
        let host_seed = file.fields().counts.host_seed;
        Ok(PolicySet { file, dialect, slot_lines, host_seed, sections, is_universal: false })
    }

    /// Opens a set that this process has just compiled.
    pub fn from_compiled(name: &str, bytes: ZeroedMemory) -> PolicySet {
        let set = SetFile::trusted(name, bytes).and_then(PolicySet::of);
        set.expect("what was compiled is a set")
    }

    /// Returns the set with its first policy applied to every URL.
    pub fn speaking_for_everything(self) -> PolicySet {
        PolicySet { is_universal: true, ..self }
    }

    /// Returns whether one policy applies to every URL, whatever its host.
    pub fn is_universal(&self) -> bool {
        self.is_universal
    }

    /// Returns the file of the set.
    pub fn file(&self) -> &SetFile {
        &self.file
    }

    /// Returns the name of the set in messages.
    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// Returns the dialect of the policies.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Returns the maximum number of bytes read per file; `None` if there was no limit.
    pub fn robots_bytes_max(&self) -> Option<u64> {
        Some(self.file.fields().robots_bytes_max).filter(|&bytes| bytes != u64::MAX)
    }

    /// Returns the content hash. Sets that were compiled from the same captures have the same hash.
    pub fn hash(&self) -> ContentHash {
        self.file.content_hash()
    }

    /// Returns the size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.file_bytes()
    }

    /// Returns the name (`hosts`) and the size in bytes of each section, in file order.
    pub fn section_bytes(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.file.sections().iter().map(|section| {
            let kind = section.kind;
            let name = kind.name().map_or_else(|| kind.to_string(), str::to_owned);
            (name, section.bytes)
        })
    }

    /// Returns the counts in the header.
    pub fn counts(&self) -> &SetCounts {
        &self.file.fields().counts
    }

    /// Returns the JSON object that says where the set comes from.
    pub fn provenance(&self) -> Result<&[u8], Damage> {
        let section = self.sections.provenance;
        self.file.bytes(section, 0, section.bytes)
    }

    /// Returns the time as of which the origins were settled: `outages.as_of` in the [provenance], as every
    /// writer of sets stores it. `None` if it belongs to the last capture.
    ///
    /// [provenance]: PolicySet::provenance
    ///
    /// # Errors
    ///
    /// If the provenance is damaged.
    pub fn settled_at(&self) -> Result<Option<UnixSeconds>, Damage> {
        // Quotes in the names of inputs are escaped.
        const MEMBER: &[u8] = b"\"outages\":{\"as_of\":\"";
        let provenance = self.provenance()?;
        let time = memchr::memmem::rfind(provenance, MEMBER).and_then(|at| {
            let time = &provenance[at + MEMBER.len()..];
            time.get(..memchr::memchr(b'"', time)?)
        });
        Ok(time.and_then(UnixSeconds::from_rfc3339))
    }

    /// Fails if the file was written to after it was opened, as its length and its times tell. Call it
    /// after reading and before using what was read. It costs a system call if the set is mapped, and
    /// nothing otherwise. A file that was only moved, linked or got other permissions is compared with
    /// its checksums again, as far as it was read.
    pub fn is_whole(&self) -> Result<(), Damage> {
        self.file.is_whole()
    }

    /// Fails if the file became shorter after it was opened. Takes a third of the time of
    /// [`PolicySet::is_whole`], for every block of URLs.
    #[inline]
    pub(crate) fn has_length(&self) -> Result<(), Damage> {
        self.file.has_length()
    }

    /// Prefetches a word of a section. It may be out of bounds, which the later read reports.
    #[inline]
    fn prefetch(&self, section: Section, word: u64) {
        if let Some(bytes) = self.file.uncompared(section).get(word as usize * size_of::<U32>()..) {
            prefetch(bytes);
        }
    }

    /// Returns `count` words of a section. `first` counts words.
    #[inline]
    fn words(&self, section: Section, first: u32, count: usize) -> Result<&[U32], Damage> {
        self.file.items(section, u64::from(first), count as u64)
    }

    /// Returns the log of captures, if the set has it.
    pub fn log(&self) -> Option<Section> {
        self.sections.log
    }

    #[cold]
    fn malformed(&self, section: Section, word: u32, what: &'static str) -> Damage {
        self.file.malformed(section, u64::from(word) * size_of::<u32>() as u64, what)
    }
}

/// Returns the dialect that a set was compiled for, if it still reads files in the same way.
fn dialect(file: &SetFile) -> Result<&'static Dialect, SetError> {
    let fields = file.fields();
    let name = fields.dialect_name().unwrap_or_default();
    let known = Dialect::by_name(name).filter(|it| it.reading == fields.reading_revision);
    known.ok_or_else(|| {
        let problem = format!(
            "was compiled for the dialect {name} as this version does not know it: \
             run `portcullis compile` again"
        );
        SetError::unusable(file.name(), problem)
    })
}
