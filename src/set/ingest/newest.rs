//! The captures that may count, of all that have been read so far.
//!
//! For each resource that is the newest capture; and if that is no file, the newest file too,
//! because a capture that says "not modified" may come which is newer than both, and because an
//! outage may last until the last good copy serves again. Of an outage the date of every failure
//! stays, because an answer may come which is newer than some of them. All else is given up at once,
//! so memory is bounded by the resources and the failures of outages that last, and not by the
//! captures. The outcome does not depend on the order in which captures are taken.

use std::collections::BTreeSet;

use crate::access::UnixSeconds;
use crate::dialect::AccessRules;

use super::super::pool::{BlobID, BlobPool};
use super::digest::Digest;
use super::hosts::{HostTable, Slot};
use super::known::{Held, Known};

/// What is known of one resource.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) newest: Known<BlobID>,
    /// The newest file, if the newest capture is none.
    pub(super) file: Option<Box<Known<BlobID>>>,
    pub(super) failures: Failures,
}

/// The failures since the last answer, by their dates. What has no date is older than any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::set) struct Failures {
    /// The date of the newest answer that is no failure, if there is one with a date.
    pub(super) answered_at: Option<UnixSeconds>,
    /// The dates of the failures after it.
    pub(super) dates: BTreeSet<UnixSeconds>,
}

impl Failures {
    /// What one capture tells.
    pub(super) fn of<B>(known: &Known<B>, rules: &AccessRules) -> Failures {
        let date = known.facts.captured_at;
        match known.is_failure(rules) {
            true => Failures { answered_at: None, dates: date.into_iter().collect() },
            false => Failures { answered_at: date, dates: BTreeSet::new() },
        }
    }

    fn add(&mut self, other: Failures) {
        self.answered_at = self.answered_at.max(other.answered_at);
        self.dates.extend(other.dates);
        while self.dates.first().is_some_and(|&date| Some(date) <= self.answered_at) {
            self.dates.pop_first();
        }
    }

    /// The first failure of an outage that lasts, if there is one with a date.
    pub(super) fn since(&self) -> Option<UnixSeconds> {
        self.dates.first().copied()
    }
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
    pub(super) rules: &'static AccessRules,
}

impl Newest {
    pub(super) fn new(rules: &'static AccessRules) -> Newest {
        Newest { table: HostTable::new(), pool: BlobPool::default(), rules }
    }

    /// Takes the captures of a digest.
    pub(super) fn take_digest(&mut self, digest: &Digest) {
        for ((first, second), known) in digest.captures() {
            for place in [Some(first), second.as_ref()].into_iter().flatten() {
                let failures = Failures::of(known, self.rules);
                self.take(digest.key(place), place.slot, known, failures, |blob, pool| {
                    pool.intern(digest.blob(blob), blob.hash)
                });
            }
        }
    }

    /// Takes a capture of the resource under `key`, if it may count, and the failures that are known
    /// with it. `keep` puts bytes into the pool.
    pub(super) fn take<B>(
        &mut self,
        key: &[u8],
        slot: Slot,
        known: &Known<B>,
        failures: Failures,
        mut keep: impl FnMut(&B, &mut BlobPool) -> BlobID,
    ) {
        let Newest { table, pool, .. } = self;
        let mut kept = |pool: &mut BlobPool| Known {
            facts: known.facts,
            position: known.position,
            held: known.held.map(|blob| keep(blob, pool)),
        };
        let slot = table.host_mut(key).slot_mut(slot);
        let Some(target) = slot else {
            let newest = kept(pool);
            *slot = Some(Box::new(Target { newest, file: None, failures }));
            return;
        };
        target.failures.add(failures);
        if known.rank() > target.newest.rank() {
            let before = std::mem::replace(&mut target.newest, kept(pool));
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
        } else if known.is_file()
            && target.newest_file().is_none_or(|file| known.rank() > file.rank())
        {
            let before = target.file.replace(Box::new(kept(pool)));
            if let Some(before) = before {
                release(&before, pool);
            }
        }
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
