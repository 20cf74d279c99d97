//! What is known from several sources to one, as if their captures had been ingested at once.

use crate::dialect::Dialect;

use super::super::pool::{BlobID, BlobPool};
use super::super::standing::HostStanding;
use super::history::{PartBytes, Resource, resources};
use super::inputs::InputReport;
use super::newest::Newest;
use super::settle::settle;
use super::{Ingested, OutageConfig};

/// What is known from one source.
#[derive(Debug)]
pub struct Part<'p> {
    /// The hosts, sorted by key.
    pub hosts: &'p [HostStanding],
    /// Their blobs.
    pub pool: &'p BlobPool,
    /// What the source kept beside that for merging.
    pub history: &'p [u8],
    /// The inputs that the facts point to.
    pub inputs: Vec<InputReport>,
}

impl<'p> Part<'p> {
    /// What was ingested as a part.
    pub fn of(ingested: &'p Ingested) -> Part<'p> {
        Part {
            hosts: &ingested.hosts,
            pool: &ingested.pool,
            history: &ingested.history,
            inputs: ingested.inputs.clone(),
        }
    }
}

/// Joins parts of one dialect to what ingesting all their captures at once would have found. Of two
/// captures that are equally new (or have no date) that of the later part counts.
///
/// It runs on the calling thread's rayon pool. Cost: one look-up for each resource, one copy of each
/// distinct blob.
///
/// # Panics
///
/// If a part is neither ingested nor read from a set.
pub fn merge<'p>(
    parts: impl IntoIterator<Item = Part<'p>>,
    dialect: &'static Dialect,
    outages: OutageConfig,
) -> Ingested {
    let mut merger = Merger::new(dialect);
    parts.into_iter().for_each(|part| merger.add(part));
    merger.finish(outages)
}

/// Parts that are being joined as [`merge`] does it, one after another, so that a part can be given
/// up before the next one is read.
#[derive(Debug)]
pub struct Merger {
    newest: Newest,
    inputs: Vec<InputReport>,
}

impl Merger {
    /// Joins nothing yet; the parts are of `dialect`.
    pub fn new(dialect: &'static Dialect) -> Merger {
        Merger { newest: Newest::new(&dialect.access), inputs: Vec::new() }
    }

    /// Joins the next part.
    ///
    /// # Panics
    ///
    /// If it is neither ingested nor read from a set.
    pub fn add(&mut self, part: Part<'_>) {
        let first_input = u32::try_from(self.inputs.len()).expect("fewer than 2^32 inputs");
        let last_input = u32::try_from(part.inputs.len()).unwrap_or(0).saturating_sub(1);
        let rules = self.newest.rules;
        let mut copies = Copies { source: part.pool, of: vec![None; part.pool.places()] };
        let taken = resources(part.hosts, part.history, rules, |key, slot, resource| {
            let Resource { newest, file, mut failures } = resource;
            for mut known in [Some(newest), file].into_iter().flatten() {
                // A set that tells of no input is one itself.
                known.facts.input = first_input + known.facts.input.min(last_input);
                let failures = std::mem::take(&mut failures);
                self.newest
                    .take(key, slot, &known, failures, |bytes, pool| copies.copy(bytes, pool));
            }
        });
        taken.expect("whoever read the part has looked at it");
        copies.release(&mut self.newest.pool);
        self.inputs.extend(part.inputs);
    }

    /// What is known from all parts, outages judged anew.
    pub fn finish(self, outages: OutageConfig) -> Ingested {
        settle(self.newest, self.inputs, outages)
    }
}

/// Where the blobs of a part were copied to. Each is held until the part is done, so that it is not
/// copied twice.
struct Copies<'p> {
    source: &'p BlobPool,
    of: Vec<Option<BlobID>>,
}

impl Copies<'_> {
    /// The copy of some bytes, held once more.
    fn copy(&mut self, bytes: &PartBytes<'_>, pool: &mut BlobPool) -> BlobID {
        let copied = |bytes: &[u8], pool: &mut BlobPool| pool.intern(bytes, BlobPool::hash(bytes));
        match *bytes {
            PartBytes::Kept(bytes) => copied(bytes, pool),
            PartBytes::Pooled(blob) => {
                let copy = *self.of[blob.index()]
                    .get_or_insert_with(|| copied(self.source.get(blob), pool));
                pool.hold(copy);
                copy
            }
        }
    }

    fn release(self, pool: &mut BlobPool) {
        self.of.into_iter().flatten().for_each(|copy| pool.release(copy));
    }
}
