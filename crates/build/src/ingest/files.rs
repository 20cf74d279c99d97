//! The files of a set, read for its captures on all threads.
//!
//! Any bytes may be a set, so each file is checked here: a policy must have the state that its captures
//! say, and records must be what a file of the dialect has.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_set::file::{Section, SetError};
use portcullis_set::lists::{ListReader, read_extract};
use portcullis_set::stored::{PolicyNumber, PolicySet};

use crate::pool::{BlobID, SharedPool};

/// A part of a file, as the log refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The extract of a policy, which has rules or none.
    Extract(PolicyNumber, bool),
    /// Other records, by their position.
    Others(Option<u32>),
}

/// A part of a file that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPart {
    pub blob: BlobID,
    /// The number of its bytes.
    pub bytes: usize,
    /// Whether it has neither rules nor usage records.
    pub is_silent: bool,
}

/// Reads the files of a set.
#[derive(Clone, Copy)]
pub(crate) struct Files<'m> {
    pub set: &'m PolicySet,
    /// The section that refers to them.
    pub log: Section,
    /// Where they are stored.
    pub pool: &'m SharedPool,
}

impl<'m> Files<'m> {
    /// The damage of a few lines that stand for many.
    pub const TOO_LONG: &'static str =
        "its files are longer together than the files of a set of its size can be";

    /// Begins to read the files of a set, which has captures.
    pub fn of(set: &'m PolicySet, pool: &'m SharedPool) -> Result<Files<'m>, SetError> {
        let problem = "has no captures; run `portcullis compile` again";
        let log = set.log().ok_or_else(|| SetError::unusable(set.name(), problem))?;
        Ok(Files { set, log, pool })
    }

    /// Reads a part of a file.
    pub fn read(&self, part: Part) -> Result<ReadPart, SetError> {
        let (policy, has_rules) = match part {
            Part::Extract(policy, has_rules) => (policy, has_rules),
            Part::Others(position) => return self.others(position),
        };
        let policy = self.set.policy(policy)?;
        let state = if has_rules { PolicyState::Rules } else { PolicyState::NoRules };
        // Otherwise a file that has lost its rules would allow everything.
        if policy.access()?.state != state {
            return Err(self.odd("a capture has another file than its policy"));
        }
        let extract = policy.extract()?;
        let malformed = |what| Err(policy.malformed(what).into());
        let Some(file) = read_extract(&extract) else {
            return malformed("its records are not a valid file");
        };
        if file.rules().is_empty() == has_rules {
            return malformed("its records are not what its state says");
        }
        if !ListReader::from_extract(&extract).is_of(self.set.dialect()) {
            return malformed("its records are not what a file has");
        }
        let is_silent = !has_rules && file.usage_records().is_empty();
        self.stored(&extract, is_silent)
    }

    /// Reads the other records of a file, from their position.
    fn others(&self, position: Option<u32>) -> Result<ReadPart, SetError> {
        let bytes = self.set.other_records(position)?;
        match ListReader::from_others(&bytes).is_of(self.set.dialect()) {
            true => self.stored(&bytes, true),
            false => Err(self.odd("other records are not what a file has")),
        }
    }

    fn stored(&self, bytes: &[u8], is_silent: bool) -> Result<ReadPart, SetError> {
        Ok(ReadPart { blob: self.pool.intern(bytes)?, bytes: bytes.len(), is_silent })
    }

    #[cold]
    pub fn odd(&self, what: &'static str) -> SetError {
        self.set.file().malformed(self.log, 0, what).into()
    }
}

/// Something known of parts.
pub(super) type Parts<T> = HashMap<Part, T, foldhash::fast::RandomState>;

impl Files<'_> {
    /// Reads parts before their captures are taken: some `bytes_max` bytes. A part that is damaged, or for
    /// which there is no room, is not in the result: it is read when a capture needs it.
    pub fn read_ahead(&self, mut parts: Vec<Part>, bytes_max: usize) -> Parts<ReadPart> {
        parts.sort_unstable();
        parts.dedup();
        // Pages of the set that are touched count as memory, whatever is kept of them.
        let bytes = AtomicUsize::new(0);
        let read = |part| {
            let has_room = bytes.load(Ordering::Relaxed) < bytes_max;
            let read = has_room.then(|| self.read(part).ok()).flatten()?;
            bytes.fetch_add(read.bytes, Ordering::Relaxed);
            Some((part, read))
        };
        let read = parts.into_par_iter().filter_map(read).collect::<Vec<_>>();
        read.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_files::scratch::Scratch;
    use portcullis_set::file::SectionKind;

    use super::super::{IngestConfig, Input, ingest};
    use super::*;
    use crate::compile::to_vec;

    #[test]
    fn a_file_without_room_is_read_later() {
        let inputs = [Input::new("../../corpora/sample/robots")];
        let ingested = ingest(&inputs, &IngestConfig::new(&RFC_9309, None), &()).unwrap();
        let compiled = to_vec(&ingested.standings, &ingested.compiling).unwrap();
        let set = PolicySet::from_bytes("sample", &compiled).unwrap();
        let log = set.file().required(SectionKind::LOG).unwrap();
        let pool = SharedPool::new(&Scratch::in_memory());
        let files = Files { set: &set, log, pool: &pool };
        let has_rules = |number: PolicyNumber| match set.policy(number).unwrap().state() {
            Ok(PolicyState::Rules) => Some(Part::Extract(number, true)),
            Ok(PolicyState::NoRules) => Some(Part::Extract(number, false)),
            _ => None,
        };
        let policies: Vec<_> =
            (0..set.policy_count()).map(PolicyNumber).filter_map(has_rules).collect();
        let odd: Vec<_> = policies
            .iter()
            .map(|&part| match part {
                Part::Extract(policy, has_rules) => Part::Extract(policy, !has_rules),
                Part::Others(_) => part,
            })
            .collect();
        let first = files.read(policies[0]).unwrap().bytes;
        for (asked, room, found_min, found_max) in [
            (&policies, usize::MAX, policies.len(), policies.len()),
            (&policies, first, 1, policies.len()),
            (&policies, 0, 0, 0),
            (&odd, usize::MAX, 0, 0),
        ] {
            // Each is asked about twice.
            let parts = [asked.repeat(2), vec![Part::Others(None); 2]].concat();
            let ahead = files.read_ahead(parts, room);
            let found = asked.iter().filter(|part| ahead.contains_key(*part)).count();
            assert!((found_min..=found_max).contains(&found), "{found} of {}", asked.len());
            let others = ahead.get(&Part::Others(None)).map(|read| read.bytes);
            assert!(others == Some(0) || room < usize::MAX && others.is_none());
        }
    }
}
