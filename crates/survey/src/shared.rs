//! Files that several origins share, as those of hosting platforms and content networks are.
//!
//! Two origins have the same file if it has the same records on the same lines, the same length and the
//! same notes: as far as a set stores it. A redirect gives several origins one file.
//!
//! Memory: some 30 bytes for each distinct file.

use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::NoteSet;
use portcullis_set::stored::{PolicyNumber, StoredCapture};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::origins::{Map, captured};

/// The numbers of origins by which files are counted.
const MORE_THAN: [u64; 5] = [0, 2, 10, 100, 1_000];

/// What tells the files of a set apart: the policy, the position of the other records, the length and
/// the notes.
type FileKey = (PolicyNumber, u32, u32, NoteSet);

/// The number of origins of each file.
#[derive(Debug)]
pub(crate) struct SharedFiles(Map<FileKey, u32>);

/// The files that more than a number of origins share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedFigures {
    /// The number of origins.
    pub more_than: u64,
    /// The number of files.
    pub files: u64,
    /// The number of origins of these files.
    pub origins: u64,
}

impl SharedFiles {
    /// Reads all origins of `set`, as of a time or the newest.
    pub fn of(set: &PolicySet, at: Option<UnixSeconds>) -> Result<SharedFiles, Damage> {
        let mut files = Map::default();
        for host in set.hosts() {
            let host = host?;
            for https in host.schemes() {
                let Some((policy, capture)) = captured(set, &host, https, at)? else { continue };
                if set.policy(policy)?.state()?.is_file() {
                    *files.entry(key(policy, &capture)).or_insert(0) += 1;
                }
            }
        }
        Ok(SharedFiles(files))
    }

    /// Returns the number of origins that have a file; `None` if there is none.
    pub fn origins(&self, policy: PolicyNumber, capture: &StoredCapture<'_>) -> Option<u32> {
        self.0.get(&key(policy, capture)).copied()
    }

    pub fn figures(&self) -> Vec<SharedFigures> {
        let more_than = |more_than| {
            let origins = self.0.values().map(|&origins| u64::from(origins));
            let shared = origins.filter(|&origins| origins > more_than);
            shared.fold(SharedFigures { more_than, ..SharedFigures::default() }, |sum, origins| {
                SharedFigures { files: sum.files + 1, origins: sum.origins + origins, ..sum }
            })
        };
        MORE_THAN.map(more_than).into()
    }
}

fn key(policy: PolicyNumber, capture: &StoredCapture<'_>) -> FileKey {
    (policy, capture.others, capture.facts.file_bytes, capture.facts.file_notes)
}
