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

use super::super::compile::{CompileConfig, CompileError, Compiled};
use super::super::file::{Damage, Section, SectionKind, SectionSink, SetError};
use super::super::ingest::Merger;
use super::super::standing::Standings;
use super::{PolicySet, ReadBackError, SetCounts};
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;

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

impl PolicySet {
    /// Verifies every block and its checksum, the padding, and that compiling the content of the set
    /// gives the same set.
    ///
    /// Reads the whole file, on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// The first damage, or an error if the file became shorter meanwhile.
    pub fn verify(&self, scratch: &Scratch) -> Result<Verified, SetError> {
        let verified = self.verify_content(self.file.verify()?, scratch);
        // If the file became shorter, lost bytes read as zeros, which is not damage of the set.
        self.is_whole()?;
        Ok(verified?)
    }

    fn verify_content(&self, blocks: u64, scratch: &Scratch) -> Result<Verified, ReadBackError> {
        self.verify_provenance()?;
        self.verify_order()?;
        let mut standings = self.standings(scratch)?;
        self.verify_history(&standings, scratch)?;
        standings.history.write(self.history()?)?;
        self.compile_again(&standings, scratch)?;
        let records = self.policies().map(|policy| Ok(policy?.record_count()? as u64));
        let records = records.sum::<Result<u64, Damage>>()?;
        Ok(Verified { blocks, records, counts: self.counts() })
    }

    fn verify_provenance(&self) -> Result<(), Damage> {
        let object = serde_json::from_slice::<serde_json::Map<_, _>>(self.provenance()?);
        let malformed = |_| self.malformed(self.sections.provenance, 0, "it is no JSON object");
        object.map(|_| ()).map_err(malformed)
    }

    /// Checks that hosts and the records of policies are in order, so that reading them back takes no
    /// longer than the set is large.
    fn verify_order(&self) -> Result<(), Damage> {
        let mut last = None;
        for host in self.hosts() {
            let host = host?;
            if last >= Some(host.key()) {
                return Err(self.malformed(self.sections.hosts, 0, "the hosts are not in order"));
            }
            last = Some(host.key());
        }
        let mut last = None;
        for policy in self.policies() {
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
        &self,
        standings: &Standings,
        scratch: &Scratch,
    ) -> Result<(), ReadBackError> {
        let mut merger = Merger::new(self.dialect(), standings.hosts.has_history(), scratch);
        merger.add(self.part(standings)?)?;
        let settled = merger.finish(self.outages()?)?.standings;
        let mut is_same = standings.hosts.len() == settled.hosts.len();
        for (served, again) in standings.hosts.iter().zip(settled.hosts.iter()) {
            let (served, again) = (served?, again?);
            is_same &= served.stored_form(&standings.pool) == again.stored_form(&settled.pool);
        }
        let mut rest = self.history()?;
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
                Err(self.malformed(self.sections.history, 0, what).into())
            }
        }
    }

    /// Compiles the content and compares every section and the counts.
    fn compile_again(&self, standings: &Standings, scratch: &Scratch) -> Result<(), ReadBackError> {
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let config = CompileConfig {
            provenance: String::from_utf8_lossy(self.provenance()?).into_owned(),
            scratch: scratch.clone(),
            ..CompileConfig::new(self.dialect(), self.robots_bytes_max().map(in_memory))
        };
        let mut comparison = Comparison { set: self, section: None, at: 0 };
        let compiled = Compiled::of(standings, &config).map_err(|error| match error {
            CompileError::Write(error) => ReadBackError::Scratch(error),
            _ => self.file.malformed_header("its content cannot be compiled").into(),
        })?;
        compiled.write(&mut comparison)?;
        comparison.end()?;
        let fields = compiled.fields();
        match *self.file.fields() == fields {
            true => Ok(()),
            false => {
                Err(self.file.malformed_header("it counts other things than are there").into())
            }
        }
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
        self.set.file.malformed(section, at, "it is not what the content of the set is compiled to")
    }
}

impl SectionSink for Comparison<'_> {
    type Error = ReadBackError;

    fn begin(&mut self, kind: SectionKind) -> Result<(), ReadBackError> {
        self.end()?;
        (self.section, self.at) = (Some(self.set.file.required(kind)?), 0);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReadBackError> {
        let section = self.section.expect("a section is begun before it is written");
        let rest = section.bytes() - self.at;
        let own = self.set.file.bytes(section, self.at, rest.min(bytes.len() as u64))?;
        if own != bytes {
            let differs = own.iter().zip(bytes).position(|(one, other)| one != other);
            let differs = differs.unwrap_or(own.len()) as u64;
            return Err(self.differs(section, self.at + differs).into());
        }
        let before = self.at / BYTES_PER_RELEASE;
        self.at += bytes.len() as u64;
        if self.at / BYTES_PER_RELEASE > before {
            self.set.file.release_pages();
        }
        Ok(())
    }
}
