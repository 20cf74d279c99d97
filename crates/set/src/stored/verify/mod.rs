//! Verifies a whole set: checksums, structure, and that the compiled data matches the stored text.
//!
//! Checksums find accidents. A faulty writer or an attacker can store wrong content with right
//! checksums. So after the container, all content is read and compared with its source:
//!
//! - Robots, groups, the order of rules and every word of the prefilters follow from the stored
//!   records. They are computed again, as compiling does, and have to be equal.
//! - The policy of each origin is settled again from the captures that are stored for merging.
//!
//! What cannot be verified is the input itself: which text belongs to which host, its line numbers
//! and captures, and what its absence meant.
//!
//! Where the format defines a unique position, nothing may be duplicated, unreferenced or out of
//! order ([`Pieces`]), so nothing can be hidden.
//!
//! Cost: one read of the whole file, then planning each policy and building each prefilter once, on
//! the calling thread's rayon pool. Memory: as for merging the set, each distinct file once.

mod hosts;
mod pieces;
mod policies;
mod rule_sets;
mod texts;
mod usage;

use zerocopy::little_endian::U32;

use super::super::file::{COUNTS, Damage, SetError};
use super::super::layout::{count, outage};
use super::super::merge;
use super::PolicySet;

use self::hosts::FoundHosts;
use self::policies::FoundPolicies;
use self::rule_sets::FoundRuleSets;
use self::texts::Texts;
pub(crate) use self::texts::{are_others, is_extract};

/// The numbers of verified items, all of which are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Blocks of the file.
    pub blocks: u64,
    /// Hosts.
    pub hosts: u64,
    /// Origins with a known policy.
    pub origins: u64,
    /// Captures.
    pub captures: u64,
    /// Distinct policies.
    pub policies: u64,
    /// User-agent lines and rules of all policies.
    pub records: u64,
    /// Distinct rule sets.
    pub rule_sets: u64,
    /// Rule sets that are built lazily from groups.
    pub rule_sets_of_groups: u64,
    /// Distinct names of robots.
    pub robots: u64,
    /// Distinct strings.
    pub strings: u64,
}

impl PolicySet {
    /// Verifies every block and its checksum, the padding, and every string, host, capture, policy
    /// and rule set, and compares everything compiled with the stored texts.
    ///
    /// Reads the whole file, on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// The first damage, or an error if the file became shorter meanwhile.
    pub fn verify(&self) -> Result<Verified, SetError> {
        let found = self.file.verify()?;
        if let Some(damage) = found.first {
            return Err(damage.into());
        }
        let verified = self.verify_content(found.blocks);
        // If the file became shorter, lost bytes read as zeros, which is not damage of the set.
        self.is_whole()?;
        Ok(verified?)
    }

    fn verify_content(&self, blocks: u64) -> Result<Verified, Damage> {
        self.verify_provenance()?;
        self.verify_words()?;
        let mut texts = Texts::of(self)?;
        let names = self.verified_names()?;
        let mut rule_sets = FoundRuleSets::of(self)?;
        let mut policies = FoundPolicies::of(self, &names, &mut rule_sets, &mut texts)?;
        rule_sets.all_needed(self)?;
        policies.compare(self, &names)?;
        let hosts = FoundHosts::of(self, &mut policies, &mut texts)?;
        policies.all_needed(self)?;
        texts.all_needed(self)?;
        let verified = Verified {
            blocks,
            hosts: hosts.hosts,
            origins: hosts.origins,
            captures: hosts.captures,
            policies: policies.len(),
            records: policies.records,
            rule_sets: rule_sets.len(),
            rule_sets_of_groups: rule_sets.of_groups,
            robots: names.ends.len() as u64,
            strings: u64::from(self.sections.strings.len()),
        };
        self.compare_counts(&verified, &hosts)?;
        self.compare_history()?;
        Ok(verified)
    }

    /// Settles the captures that the set stores for merging, which have to give the policies that
    /// it stores.
    fn compare_history(&self) -> Result<(), Damage> {
        let section = self.sections.outages;
        let rows: &[U32] =
            self.file.items(section, 0, section.bytes() / size_of::<U32>() as u64)?;
        let captures = rows.chunks_exact(outage::WORDS).map(|row| row[outage::CAPTURE].get());
        let captures = captures.chain(u32::try_from(self.counts().captures));
        if !captures.is_sorted_by(|one, other| one < other) {
            return Err(self.malformed(section, 0, "the outages are not in order"));
        }
        let standings = self.standings()?;
        let settled = merge([standings.part()], self.dialect(), self.outages()?);
        let served = standings.hosts.iter().map(|host| host.stored_form(&standings.pool));
        let again = settled.hosts.iter().map(|host| host.stored_form(&settled.pool));
        if !served.eq(again) || settled.history != standings.history {
            let what = "the captures do not lead to what the set says of its hosts";
            return Err(self.malformed(self.sections.history, 0, what));
        }
        Ok(())
    }

    fn verify_provenance(&self) -> Result<(), Damage> {
        let object = serde_json::from_slice::<serde_json::Map<_, _>>(self.provenance()?);
        let malformed = |_| self.malformed(self.sections.provenance, 0, "it is no JSON object");
        object.map(|_| ()).map_err(malformed)
    }

    /// Checks that sections that are arrays of words contain a whole number of words.
    fn verify_words(&self) -> Result<(), Damage> {
        let sections = &self.sections;
        for section in [sections.hosts, sections.policies, sections.policy_index, sections.others] {
            if !section.bytes().is_multiple_of(size_of::<U32>() as u64) {
                return Err(self.malformed(section, 0, "it ends within a word"));
            }
        }
        let outage_bytes = (outage::WORDS * size_of::<U32>()) as u64;
        match sections.outages.bytes().is_multiple_of(outage_bytes) {
            true => Ok(()),
            false => Err(self.malformed(sections.outages, 0, "it ends within an outage")),
        }
    }

    /// Compares the header's counts with the actual ones.
    fn compare_counts(&self, found: &Verified, hosts: &FoundHosts) -> Result<(), Damage> {
        let (from, to) = hosts.captured.map_or((0, 0), |(from, to)| (from.0, to.0));
        let mut expected = [0; COUNTS];
        expected[count::HOSTS] = found.hosts;
        expected[count::ORIGINS] = found.origins;
        expected[count::POLICIES] = found.policies;
        expected[count::RULE_SETS] = found.rule_sets;
        expected[count::RULE_SETS_OF_GROUPS] = found.rule_sets_of_groups;
        expected[count::CAPTURES] = found.captures;
        expected[count::STRINGS] = found.strings;
        expected[count::TOKENS] = found.robots;
        expected[count::CAPTURED_FROM] = from;
        expected[count::CAPTURED_TO] = to;
        // The seed was verified with the slots.
        expected[count::HOST_SEED] = self.host_seed;
        let notes = &hosts.file_notes;
        expected[count::FILE_NOTES..][..notes.len()].copy_from_slice(notes);
        match self.file.fields().counts == expected {
            true => Ok(()),
            false => Err(self.file.malformed_header("it counts other things than are there")),
        }
    }
}
