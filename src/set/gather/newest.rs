//! The captures that may count, of all that have been read so far.
//!
//! For each resource that is the newest capture; and if that is no file, the newest file too,
//! because a capture that says "not modified" may come which is newer than both. What these two do
//! not need is given up at once, so memory is bounded by the resources and not by the captures. The
//! outcome does not depend on the order in which captures are taken.

use super::super::pool::{BlobID, BlobPool};
use super::digest::{Blob, Digest};
use super::hosts::HostTable;
use super::known::{Held, Known};

/// What is known of one resource.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) newest: Known<BlobID>,
    /// The newest file, if the newest capture is none.
    file: Option<Box<Known<BlobID>>>,
}

impl Target {
    /// The newest file that was captured.
    pub(super) fn newest_file(&self) -> Option<&Known<BlobID>> {
        if self.newest.is_file() { Some(&self.newest) } else { self.file.as_deref() }
    }

    /// Gives up what the captures hold.
    pub(super) fn release(&self, pool: &mut BlobPool) {
        release(&self.newest, pool);
        if let Some(file) = &self.file {
            release(file, pool);
        }
    }
}

/// What is known of each resource.
#[derive(Debug)]
pub(super) struct Newest {
    pub(super) table: HostTable<Box<Target>>,
    pub(super) pool: BlobPool,
}

impl Newest {
    pub(super) fn new() -> Newest {
        Newest { table: HostTable::new(), pool: BlobPool::default() }
    }

    /// Takes the captures of a digest.
    pub(super) fn take(&mut self, digest: &Digest) {
        for ((first, second), known) in digest.captures() {
            for place in [Some(first), second.as_ref()].into_iter().flatten() {
                let slot = self.table.host_mut(digest.key(place)).slot_mut(place.slot);
                file(slot, known, digest, &mut self.pool);
            }
        }
    }
}

/// Files a capture in its place, if it may count.
fn file(slot: &mut Option<Box<Target>>, known: &Known<Blob>, digest: &Digest, pool: &mut BlobPool) {
    let Some(target) = slot else {
        let newest = keep(known, digest, pool);
        *slot = Some(Box::new(Target { newest, file: None }));
        return;
    };
    if known.rank() > target.newest.rank() {
        let before = std::mem::replace(&mut target.newest, keep(known, digest, pool));
        if target.newest.is_file() {
            release(&before, pool);
            if let Some(file) = target.file.take() {
                release(&file, pool);
            }
        } else if before.is_file() {
            target.file = Some(Box::new(before));
        } else {
            release(&before, pool);
        }
    } else if known.is_file() && target.newest_file().is_none_or(|file| known.rank() > file.rank())
    {
        let before = target.file.replace(Box::new(keep(known, digest, pool)));
        if let Some(before) = before {
            release(&before, pool);
        }
    }
}

/// The capture with its octets in the pool.
fn keep(known: &Known<Blob>, digest: &Digest, pool: &mut BlobPool) -> Known<BlobID> {
    Known {
        facts: known.facts,
        position: known.position,
        answer: known.answer,
        held: known.held.map(|blob| pool.intern(digest.blob(blob), blob.hash)),
    }
}

fn release(known: &Known<BlobID>, pool: &mut BlobPool) {
    match known.held {
        Held::File { extract, others } => {
            pool.release(extract);
            pool.release(others);
        }
        Held::Location(location) => pool.release(location),
        Held::Nothing => {}
    }
}
