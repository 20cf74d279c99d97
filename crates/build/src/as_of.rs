//! A set with history as it was at a time, compiled into memory. Its policies then need no times.
//!
//! The standings are those that the history of the set has, as for a question with a time. Each file is checked
//! as it is for merging: any bytes may be a set.
//!
//! Cost: some binary searches for each host, and each file that was in force once. Memory: that of the new set,
//! and some hundred bytes for each host.

use hashbrown::HashMap;

use portcullis_dialect::decision::PolicyState;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::UnixSeconds;
use portcullis_set::batch::{BeforeFirst, Classifier};
use portcullis_set::file::SetError;
use portcullis_set::stored::{PolicyNumber, PolicySet, StoredHost, StoredMoment};

use crate::compile::{CompileConfig, text_bytes_max, to_memory};
use crate::hosts::Standings;
use crate::ingest::{Files, IngestConfig, Part};
use crate::pool::{BlobID, SharedPool};
use crate::standing::{Content, HostStanding, Standing};

/// Returns the set that a set with history was at the one time of [`Classifier::as_of`], in memory: the policies
/// that were in force then. It has no history and cannot be merged. `None` if there is no such time.
///
/// # Errors
///
/// If the set is damaged or has no captures, or a temporary file fails.
pub fn set_as_of(
    classifier: &Classifier,
    scratch: &Scratch,
) -> Result<Option<PolicySet>, SetError> {
    let (set, Some(time)) = (classifier.set(), classifier.one_time()) else { return Ok(None) };
    let pool = SharedPool::new(scratch);
    let files = Files::of(set, &pool)?;
    let (known, text_bytes_left) = (HashMap::default(), text_bytes_max(set.bytes()));
    let mut reader = AsOfReader { files, time, known, text_bytes_left };
    let mut hosts = Vec::new();
    for host in set.hosts() {
        let host = host?;
        let [http, https] = [reader.standing(&host, false)?, reader.standing(&host, true)?];
        let host = HostStanding { key: host.key().into(), http, https, resources: None };
        hosts.extend(Some(host).filter(HostStanding::is_host));
    }
    set.is_whole()?;
    let IngestConfig { dialect, robots_bytes_max, .. } = IngestConfig::of_set(set)?;
    let provenance = String::from_utf8_lossy(set.provenance()?).into_owned();
    let scratch = scratch.clone();
    let compiling = CompileConfig { dialect, robots_bytes_max, provenance, scratch };
    let compiled = to_memory(&Standings::in_memory(hosts, pool.into_inner()), &compiling);
    let compiled = compiled.map_err(|error| error.of_set(set))?;
    Ok(Some(PolicySet::from_compiled(set.name(), compiled)))
}

/// Reads what was in force at a time.
struct AsOfReader<'s> {
    files: Files<'s>,
    time: (UnixSeconds, BeforeFirst),
    known: HashMap<Part, BlobID, foldhash::fast::RandomState>,
    /// The bytes that the files that were not read yet may have together.
    text_bytes_left: u64,
}

impl AsOfReader<'_> {
    /// Returns the standing of an origin of a host; `None` if it has none.
    fn standing(
        &mut self,
        host: &StoredHost<'_>,
        https: bool,
    ) -> Result<Option<Standing>, SetError> {
        let Some(timeline) = host.timeline(https)? else { return Ok(None) };
        let found = match (timeline.find(self.time.0), self.time.1) {
            (None, BeforeFirst::Oldest) => timeline.first(),
            (found, _) => found,
        };
        let Some(found) = found else { return Ok(None) };
        let StoredMoment { policy, capture, .. } = timeline.moment(found)?;
        let content = self.content(policy, capture.others)?;
        Ok(Some(Standing { content, facts: capture.facts }))
    }

    fn content(&mut self, policy: PolicyNumber, others: Option<u32>) -> Result<Content, SetError> {
        let access = self.files.set.policy(policy)?.access()?;
        let has_rules = match access.state {
            PolicyState::Rules => true,
            PolicyState::NoRules => false,
            _ => return Ok(Content::Access(access)),
        };
        let extract = self.part(Part::Extract(policy, has_rules))?;
        Ok(Content::File { extract, others: self.part(Part::Others(others))?, has_rules })
    }

    fn part(&mut self, part: Part) -> Result<BlobID, SetError> {
        if let Some(&known) = self.known.get(&part) {
            return Ok(known);
        }
        let read = self.files.read(part)?;
        let left = self.text_bytes_left.checked_sub(read.bytes as u64);
        self.text_bytes_left = left.ok_or_else(|| self.files.odd(Files::TOO_LONG))?;
        self.known.insert(part, read.blob);
        Ok(read.blob)
    }
}
