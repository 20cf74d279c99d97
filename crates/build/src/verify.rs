//! Verifies a whole set: checksums, and that it is what compiling its own content gives.
//!
//! Checksums find accidents. A faulty writer or an attacker can store wrong content with right
//! checksums. So the captures of the set are read, as merging does, settled and compiled again: every
//! section has to be the same, byte for byte. Nothing can be duplicated, unreferenced or out of order,
//! because compiling writes nothing twice and nothing that is not needed.
//!
//! Some things are not seen that way. Reading checks, for merging too, that each text is a record of a
//! file in the dialect and that each key is that of an origin or of a resource, in its canonical form.
//!
//! The input itself cannot be verified: which text belongs to which host, its line numbers
//! and captures, and what its absence meant.
//!
//! Cost: one read of the whole file, then as merging and compiling it, on the calling thread's rayon
//! pool. Memory: as for compiling.

use portcullis_files::scratch::Scratch;
use portcullis_set::file::{Damage, Section, SectionKind, SetCounts, SetError};
use portcullis_set::stored::{PolicySet, StoredPolicy};

use crate::compile::{CompileError, Compiled};
use crate::ingest::Ingested;
use crate::limits::MAPPED_BYTES_PER_RELEASE;
use crate::merging::settled;
use crate::writer::{ContentHasher, SectionSink};

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
    verified
}

fn verify_content(set: &PolicySet, blocks: u64, scratch: &Scratch) -> Result<Verified, SetError> {
    verify_provenance(set)?;
    let settled = settled(set, scratch)?;
    compile_again(set, &settled)?;
    let count = |(before, policy): (usize, Result<StoredPolicy<'_>, Damage>)| {
        if before.is_multiple_of(POLICIES_PER_RELEASE) {
            set.file().release_pages();
        }
        Ok(policy?.record_count()? as u64)
    };
    let records = set.policies().enumerate().map(count).sum::<Result<u64, Damage>>()?;
    Ok(Verified { blocks, records, counts: *set.counts() })
}

fn verify_provenance(set: &PolicySet) -> Result<(), Damage> {
    let object = serde_json::from_slice::<serde_json::Map<_, _>>(set.provenance()?);
    let section = set.file().required(SectionKind::PROVENANCE)?;
    object.map(|_| ()).map_err(|_| set.file().malformed(section, 0, "it is no JSON object"))
}

/// Compiles the content and compares every section and the counts.
fn compile_again(set: &PolicySet, settled: &Ingested) -> Result<(), SetError> {
    let mut comparison =
        Comparison { set, sections: 0, section: None, at: 0, hasher: ContentHasher::default() };
    let compiled = Compiled::to(&mut comparison, &settled.standings, &settled.compiling);
    let compiled = compiled.map_err(|error| error.of_set(set))?;
    comparison.end()?;
    if comparison.sections != set.file().sections().len() {
        return Err(set.file().malformed_header("it has a section that is not compiled").into());
    }
    let fields = compiled.fields();
    if *set.file().fields() != fields {
        let what = "its counts do not match its content";
        return Err(set.file().malformed_header(what).into());
    }
    if comparison.hasher.finish(&fields) != set.hash() {
        let what = "the content hash belongs to other content";
        return Err(set.file().malformed_header(what).into());
    }
    Ok(())
}

/// The policies whose records are counted before the pages that were touched for them are released. Each
/// touches a page, and some are mapped around it.
const POLICIES_PER_RELEASE: usize = 128;

/// Compares sections with the sections of a set.
struct Comparison<'s> {
    set: &'s PolicySet,
    /// The number of sections that were begun.
    sections: usize,
    section: Option<Section>,
    /// The bytes of the section that were compared.
    at: u64,
    hasher: ContentHasher,
}

impl Comparison<'_> {
    /// Checks that the set's section has nothing more.
    fn end(&self) -> Result<(), SetError> {
        match self.section.filter(|section| section.bytes > self.at) {
            Some(section) => Err(self.differs(section, self.at)),
            None => Ok(()),
        }
    }

    fn differs(&self, section: Section, at: u64) -> SetError {
        let what = "it differs from what the content of the set compiles to";
        self.set.file().malformed(section, at, what).into()
    }
}

impl SectionSink for Comparison<'_> {
    fn begin(&mut self, kind: SectionKind) -> Result<(), CompileError> {
        self.end()?;
        self.sections += 1;
        self.hasher.begin(kind);
        let section = self.set.file().required(kind).map_err(SetError::from)?;
        (self.section, self.at) = (Some(section), 0);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CompileError> {
        let section = self.section.expect("a section is begun before it is written");
        let rest = section.bytes - self.at;
        let own = self.set.file().bytes(section, self.at, rest.min(bytes.len() as u64));
        let own = own.map_err(SetError::from)?;
        if own != bytes {
            let differs = own.iter().zip(bytes).position(|(one, other)| one != other);
            let differs = differs.unwrap_or(own.len()) as u64;
            return Err(self.differs(section, self.at + differs).into());
        }
        self.hasher.update(bytes);
        let released = |at: u64| at / MAPPED_BYTES_PER_RELEASE as u64;
        let before = released(self.at);
        self.at += bytes.len() as u64;
        if released(self.at) > before {
            self.set.file().release_pages();
        }
        Ok(())
    }
}
