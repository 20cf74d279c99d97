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
//! Cost: one read of the whole file, then as compiling it, on the calling thread's rayon pool.
//! Memory: each distinct file once, and the set once more.

use portcullis_dialect::decision::PolicyState;

use super::super::compile::{CompileConfig, to_vec};
use super::super::file::{Damage, SetError};
use super::super::merge;
use super::standings::Standings;
use super::{PolicySet, SetCounts};

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
    pub fn verify(&self) -> Result<Verified, SetError> {
        let verified = self.verify_content(self.file.verify()?);
        // If the file became shorter, lost bytes read as zeros, which is not damage of the set.
        self.is_whole()?;
        Ok(verified?)
    }

    fn verify_content(&self, blocks: u64) -> Result<Verified, Damage> {
        self.verify_provenance()?;
        self.verify_order()?;
        let standings = self.standings()?;
        self.verify_history(&standings)?;
        self.compile_again(standings)?;
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
    fn verify_history(&self, standings: &Standings) -> Result<(), Damage> {
        let settled = merge([standings.part()], self.dialect(), self.outages()?);
        let served = standings.hosts.iter().map(|host| host.stored_form(&standings.pool));
        let again = settled.hosts.iter().map(|host| host.stored_form(&settled.pool));
        if !served.eq(again) || settled.history != standings.history {
            let what = "the captures do not lead to what the set says of its hosts";
            return Err(self.malformed(self.sections.history, 0, what));
        }
        Ok(())
    }

    /// Compiles the content and compares every section and the counts.
    fn compile_again(&self, standings: Standings) -> Result<(), Damage> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let config = CompileConfig {
            provenance: text(self.provenance()?),
            history: standings.history,
            ..CompileConfig::new(self.dialect(), self.robots_bytes_max().map(in_memory))
        };
        let failed = |_| self.file.malformed_header("its content cannot be compiled");
        let again = to_vec(&standings.hosts, &standings.pool, &config).map_err(failed)?;
        let again = PolicySet::of_bytes(self.name(), again).expect("what was compiled is a set");
        for section in again.file.sections() {
            let own = self.file.required(section.kind())?;
            let bytes = self.file.bytes(own, 0, own.bytes())?;
            let expected = again.file.bytes(*section, 0, section.bytes())?;
            if bytes != expected {
                let differs = bytes.iter().zip(expected).position(|(one, other)| one != other);
                let at = differs.unwrap_or(bytes.len().min(expected.len())) as u64;
                let what = "it is not what the content of the set is compiled to";
                return Err(self.file.malformed(own, at, what));
            }
        }
        match self.file.fields() == again.file.fields() {
            true => Ok(()),
            false => Err(self.file.malformed_header("it counts other things than are there")),
        }
    }
}
