//! Verifies a whole set: checksums, and that it is what compiling its own content gives.
//!
//! Checksums find accidents. A faulty writer or an attacker can store wrong content with right
//! checksums. So what the set says of each origin is read back, as merging does, and compiled
//! again: every section has to be the same, byte for byte. Nothing can be duplicated, unreferenced
//! or out of order, because compiling writes nothing twice and nothing that is not needed.
//!
//! Some things are not seen that way. Reading back checks, for merging too, that each text is a record
//! of a file in the dialect and that each key is that of an origin, in its canonical form. The
//! captures that are kept for merging are settled again, and have to lead to the policies.
//!
//! What cannot be verified is the input itself: which text belongs to which host, its line numbers
//! and captures, and what its absence meant.
//!
//! Cost: one read of the whole file, then as merging and compiling it, on the calling thread's rayon
//! pool. Memory: as for compiling.

use portcullis_dialect::decision::PolicyState;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;
use portcullis_set::file::{Damage, Section, SectionKind, SetError};
use portcullis_set::stored::{PolicySet, SetCounts};

use crate::compile::{CompileConfig, CompileError, Compiled};
use crate::hosts::Standings;
use crate::ingest::Merger;
use crate::standings::{ReadBackError, history, malformed, outages, part, standings};
use crate::writer::SectionSink;

/// The numbers of verified items, all of which are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Blocks of the file.
    pub blocks: u64,
    /// User-agent lines and rules of all policies.
    pub records: u64,
    /// The counts in the header.
    pub counts: SetCounts,
}

/// Verifies every block and its checksum, the padding, and that compiling the content of the set
/// gives the same set.
///
/// Reads the whole file, on the calling thread's rayon pool.
///
/// # Errors
///
/// The first damage, or an error if the file became shorter meanwhile.
pub fn verify(set: &PolicySet, scratch: &Scratch) -> Result<Verified, SetError> {
    let verified = verify_content(set, set.file().verify()?, scratch);
    // If the file became shorter, lost bytes read as zeros, which is not damage of the set.
    set.is_whole()?;
    Ok(verified?)
}

fn verify_content(
    set: &PolicySet,
    blocks: u64,
    scratch: &Scratch,
) -> Result<Verified, ReadBackError> {
    verify_provenance(set)?;
    verify_order(set)?;
    let mut read_back = standings(set, scratch)?;
    verify_history(set, &read_back, scratch)?;
    read_back.history.write(history(set)?)?;
    compile_again(set, &read_back, scratch)?;
    let records = set.policies().map(|policy| Ok(policy?.record_count()? as u64));
    let records = records.sum::<Result<u64, Damage>>()?;
    Ok(Verified { blocks, records, counts: set.counts() })
}

fn verify_provenance(set: &PolicySet) -> Result<(), Damage> {
    let object = serde_json::from_slice::<serde_json::Map<_, _>>(set.provenance()?);
    let malformed = |_| malformed(set, SectionKind::PROVENANCE, 0, "it is no JSON object");
    object.map(|_| ()).map_err(malformed)
}

/// Checks that hosts and the records of policies are in order, so that reading them back takes no
/// longer than the set is large.
fn verify_order(set: &PolicySet) -> Result<(), Damage> {
    let mut last = None;
    for host in set.hosts() {
        let host = host?;
        if last >= Some(host.key()) {
            return Err(malformed(set, SectionKind::HOSTS, 0, "the hosts are not in order"));
        }
        last = Some(host.key());
    }
    let mut last = None;
    for policy in set.policies() {
        let policy = policy?;
        let state = policy.access()?.state;
        if !matches!(state, PolicyState::Rules | PolicyState::NoRules) {
            continue;
        }
        if last >= Some(policy.document()) {
            return Err(policy.malformed("its records are at an unexpected position"));
        }
        last = Some(policy.document());
    }
    Ok(())
}

/// Settles the captures that the set stores for merging, which have to give the policies that
/// it stores.
fn verify_history(
    set: &PolicySet,
    standings: &Standings,
    scratch: &Scratch,
) -> Result<(), ReadBackError> {
    let mut merger = Merger::new(set.dialect(), standings.hosts.has_history(), scratch);
    merger.add(part(set, standings)?)?;
    let settled = merger.finish(outages(set)?)?.standings;
    let mut is_same = standings.hosts.len() == settled.hosts.len();
    for (served, again) in standings.hosts.iter().zip(settled.hosts.iter()) {
        let (served, again) = (served?, again?);
        is_same &= served.stored_form(&standings.pool) == again.stored_form(&settled.pool);
    }
    let mut rest = history(set)?;
    settled.history.reader().each_piece(|piece| {
        let is_next = rest.starts_with(piece);
        is_same &= is_next;
        rest = if is_next { &rest[piece.len()..] } else { &[] };
        Ok::<_, WriteError>(())
    })?;
    match is_same && rest.is_empty() {
        true => Ok(()),
        false => {
            let what = "the captures do not lead to what the set says of its hosts";
            Err(malformed(set, SectionKind::HISTORY, 0, what).into())
        }
    }
}

/// Compiles the content and compares every section and the counts.
fn compile_again(
    set: &PolicySet,
    standings: &Standings,
    scratch: &Scratch,
) -> Result<(), ReadBackError> {
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let config = CompileConfig {
        provenance: String::from_utf8_lossy(set.provenance()?).into_owned(),
        scratch: scratch.clone(),
        ..CompileConfig::new(set.dialect(), set.robots_bytes_max().map(in_memory))
    };
    let mut comparison = Comparison { set, section: None, at: 0 };
    let compiled = Compiled::of(standings, &config).map_err(|error| match error {
        CompileError::Write(error) => ReadBackError::Scratch(error),
        _ => set.file().malformed_header("its content cannot be compiled").into(),
    })?;
    compiled.write(&mut comparison)?;
    comparison.end()?;
    let fields = compiled.fields();
    match *set.file().fields() == fields {
        true => Ok(()),
        false => Err(set.file().malformed_header("it counts other things than are there").into()),
    }
}

/// The bytes that are compared before the pages that were touched for them are released.
const BYTES_PER_RELEASE: u64 = 64 << 20;

/// Compares sections with those of a set.
struct Comparison<'s> {
    set: &'s PolicySet,
    section: Option<Section>,
    /// The bytes of the section that were compared.
    at: u64,
}

impl Comparison<'_> {
    /// Checks that the set's section has nothing more.
    fn end(&self) -> Result<(), Damage> {
        match self.section.filter(|section| section.bytes() > self.at) {
            Some(section) => Err(self.differs(section, self.at)),
            None => Ok(()),
        }
    }

    fn differs(&self, section: Section, at: u64) -> Damage {
        self.set.file().malformed(
            section,
            at,
            "it is not what the content of the set is compiled to",
        )
    }
}

impl SectionSink for Comparison<'_> {
    type Error = ReadBackError;

    fn begin(&mut self, kind: SectionKind) -> Result<(), ReadBackError> {
        self.end()?;
        (self.section, self.at) = (Some(self.set.file().required(kind)?), 0);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReadBackError> {
        let section = self.section.expect("a section is begun before it is written");
        let rest = section.bytes() - self.at;
        let own = self.set.file().bytes(section, self.at, rest.min(bytes.len() as u64))?;
        if own != bytes {
            let differs = own.iter().zip(bytes).position(|(one, other)| one != other);
            let differs = differs.unwrap_or(own.len()) as u64;
            return Err(self.differs(section, self.at + differs).into());
        }
        let before = self.at / BYTES_PER_RELEASE;
        self.at += bytes.len() as u64;
        if self.at / BYTES_PER_RELEASE > before {
            self.set.file().release_pages();
        }
        Ok(())
    }
}
