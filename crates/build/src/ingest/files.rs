//! The files of a set, read for its captures on all threads.
//!
//! Any bytes may be a set, so each file is checked here: a policy must have the state that its captures
//! say, and records must be what a file of the dialect has.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use rayon::prelude::*;

use portcullis_dialect::decision::PolicyState;
use portcullis_files::scratch::Scratch;
use portcullis_set::file::{Section, SetError};
use portcullis_set::lists::{ListReader, read_extract};
use portcullis_set::stored::{PolicyNumber, PolicySet};

use crate::pool::Packed;

/// The extract of a file.
pub(super) struct ReadExtract {
    pub packed: Packed,
    pub has_rules: bool,
    /// Whether it has neither rules nor usage records.
    pub is_silent: bool,
}

/// Reads the files of a set.
#[derive(Clone, Copy)]
pub(super) struct Files<'m> {
    pub set: &'m PolicySet,
    /// The section that refers to them.
    pub log: Section,
    pub scratch: &'m Scratch,
}

impl Files<'_> {
    /// Reads the extract of the file of a policy, which has rules or none.
    pub fn extract(&self, policy: u32, has_rules: bool) -> Result<ReadExtract, SetError> {
        let policy = self.set.policy(PolicyNumber(policy))?;
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
        Ok(ReadExtract { packed: Packed::new(&extract, self.scratch), has_rules, is_silent })
    }

    /// Reads the other records of a file, from their position.
    pub fn others(&self, position: Option<u32>) -> Result<Packed, SetError> {
        let bytes = position.map(|position| self.set.other_records(position)).transpose()?;
        let bytes = bytes.unwrap_or_default();
        match ListReader::from_others(&bytes).is_of(self.set.dialect()) {
            true => Ok(Packed::new(&bytes, self.scratch)),
            false => Err(self.odd("other records are not what a file has")),
        }
    }

    #[cold]
    pub fn odd(&self, what: &'static str) -> SetError {
        self.set.file().malformed(self.log, 0, what).into()
    }
}

/// Files that were read before their captures are taken. A file that is damaged, or for which there is no
/// room, is not among them: it is read when a capture needs it.
#[derive(Default)]
pub(super) struct FilesAhead {
    extracts: HashMap<u32, ReadExtract, foldhash::fast::RandomState>,
    others: HashMap<Option<u32>, Packed, foldhash::fast::RandomState>,
}

impl FilesAhead {
    /// Reads extracts, by policy and whether they have rules, and other records: some `bytes_max` bytes.
    pub fn read(
        files: Files<'_>,
        mut extracts: Vec<(u32, bool)>,
        mut others: Vec<Option<u32>>,
        bytes_max: usize,
    ) -> FilesAhead {
        extracts.sort_unstable();
        extracts.dedup();
        others.sort_unstable();
        others.dedup();
        // Pages of the set that are touched count as memory, whatever is kept of them.
        let bytes = AtomicUsize::new(0);
        let has_room = || bytes.load(Ordering::Relaxed) < bytes_max;
        let count = |packed: &Packed| bytes.fetch_add(packed.len(), Ordering::Relaxed);
        let extract = |(policy, has_rules)| {
            let read = has_room().then(|| files.extract(policy, has_rules).ok()).flatten()?;
            count(&read.packed);
            Some((policy, read))
        };
        let other = |position| {
            let read = has_room().then(|| files.others(position).ok()).flatten()?;
            count(&read);
            Some((position, read))
        };
        let (extracts, others) = rayon::join(
            || extracts.into_par_iter().filter_map(extract).collect::<Vec<_>>(),
            || others.into_par_iter().filter_map(other).collect::<Vec<_>>(),
        );
        FilesAhead {
            extracts: extracts.into_iter().collect(),
            others: others.into_iter().collect(),
        }
    }

    /// Returns the extract of a policy, if it was read and has rules or none.
    pub fn extract(&mut self, policy: u32, has_rules: bool) -> Option<ReadExtract> {
        self.extracts.remove(&policy).filter(|it| it.has_rules == has_rules)
    }

    /// Returns other records, if they were read.
    pub fn others(&mut self, position: Option<u32>) -> Option<Packed> {
        self.others.remove(&position)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::RFC_9309;
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
        let files = Files { set: &set, log, scratch: &Scratch::in_memory() };
        let has_rules = |number: u32| match set.policy(PolicyNumber(number)).unwrap().state() {
            Ok(PolicyState::Rules) => Some((number, true)),
            Ok(PolicyState::NoRules) => Some((number, false)),
            _ => None,
        };
        let policies: Vec<_> = (0..set.policy_count()).filter_map(has_rules).collect();
        let odd: Vec<_> =
            policies.iter().map(|&(policy, has_rules)| (policy, !has_rules)).collect();
        let first = files.extract(policies[0].0, policies[0].1).unwrap().packed.len();
        for (asked, room, found_min, found_max) in [
            (&policies, usize::MAX, policies.len(), policies.len()),
            (&policies, first, 1, policies.len()),
            (&policies, 0, 0, 0),
            (&odd, usize::MAX, 0, 0),
        ] {
            // Each is asked about twice.
            let mut ahead = FilesAhead::read(files, asked.repeat(2), vec![None; 2], room);
            let found = asked.iter().filter(|it| ahead.extract(it.0, it.1).is_some()).count();
            assert!((found_min..=found_max).contains(&found), "{found} of {}", asked.len());
            let others = ahead.others(None).map(|packed| packed.len());
            assert!(others == Some(0) || room < usize::MAX && others.is_none());
        }
    }
}
