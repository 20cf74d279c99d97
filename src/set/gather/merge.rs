//! What is known from several sources to one: the newest of each origin counts.

use super::super::pool::{BlobID, BlobPool};
use super::super::standing::{Content, HostStanding, Standing};
use super::Gathered;
use super::census::StandingCounts;
use super::hosts::{Host, HostTable, Slot};
use super::inputs::InputReport;
use super::settle::sort;

/// What is known from one source.
pub struct Part<'p, H> {
    /// The hosts, in any order.
    pub hosts: H,
    /// Their blobs.
    pub pool: &'p BlobPool,
    /// The inputs that the facts point to.
    pub inputs: Vec<InputReport>,
}

impl<'p> Part<'p, std::iter::Cloned<std::slice::Iter<'p, HostStanding>>> {
    /// What was gathered as a part.
    pub fn of(gathered: &'p Gathered) -> Self {
        Part {
            hosts: gathered.hosts.iter().cloned(),
            pool: &gathered.pool,
            inputs: gathered.inputs.clone(),
        }
    }
}

/// Joins parts. Of two that know an origin the one with the newer capture counts, and of two that
/// are equally new (or have no date) the later one. A file without a date is older than any.
///
/// Each origin is settled before, so a redirect leads to what its own part knows, and a capture
/// that says "not modified" confirms a file of its own part.
///
/// It runs on the calling thread's rayon pool. Cost: one look-up for each origin, one copy of each
/// distinct blob.
pub fn merge<'p, H>(parts: impl IntoIterator<Item = Part<'p, H>>) -> Gathered
where
    H: IntoIterator<Item = HostStanding>,
{
    let mut merger = Merger::default();
    parts.into_iter().for_each(|part| merger.add(part));
    merger.finish()
}

/// Parts that are being joined as [`merge`] does it, one after another, so that a part can be given
/// up before the next one is read.
#[derive(Debug, Default)]
pub struct Merger {
    table: HostTable<Standing>,
    pool: BlobPool,
    inputs: Vec<InputReport>,
}

impl Merger {
    /// Joins the next part.
    pub fn add<H: IntoIterator<Item = HostStanding>>(&mut self, part: Part<'_, H>) {
        let first_input = u32::try_from(self.inputs.len()).expect("fewer than 2^32 inputs");
        let mut copies = Copies { source: part.pool, of: vec![None; part.pool.places()] };
        for host in part.hosts {
            self.add_host(&host, first_input, &mut copies);
        }
        copies.release(&mut self.pool);
        self.inputs.extend(part.inputs);
    }

    /// What is known from all parts.
    pub fn finish(self) -> Gathered {
        let Merger { table, pool, inputs } = self;
        let standing = |host: Host<Standing>| {
            let (key, [http, https]) = host.into_parts();
            HostStanding { key, http, https }
        };
        let mut hosts: Vec<HostStanding> = table.into_hosts().into_iter().map(standing).collect();
        sort(&mut hosts);
        let counts = StandingCounts::of(&hosts, &pool);
        Gathered { hosts, pool, inputs, counts }
    }

    fn add_host(&mut self, host: &HostStanding, first_input: u32, copies: &mut Copies<'_>) {
        let of_slot = |slot| if slot == Slot::Http { host.http } else { host.https };
        for (slot, standing) in Slot::BOTH.map(|slot| (slot, of_slot(slot))) {
            let Some(mut standing) = standing else { continue };
            let known = self.table.host_mut(&host.key).slot_mut(slot);
            if known.is_some_and(|known| known.facts.captured_at > standing.facts.captured_at) {
                continue;
            }
            standing.facts.input += first_input;
            if let Content::File { extract, others } = &mut standing.content {
                *extract = copies.hold(*extract, &mut self.pool);
                *others = copies.hold(*others, &mut self.pool);
            }
            if let Some(Standing { content: Content::File { extract, others }, .. }) =
                known.replace(standing)
            {
                self.pool.release(extract);
                self.pool.release(others);
            }
        }
    }
}

/// Where the blobs of a part were copied to. Each is held until the part is done, so that it is not
/// copied twice.
struct Copies<'p> {
    source: &'p BlobPool,
    of: Vec<Option<BlobID>>,
}

impl Copies<'_> {
    /// The copy of a blob, held once more.
    fn hold(&mut self, blob: BlobID, pool: &mut BlobPool) -> BlobID {
        let copy = *self.of[blob.index()].get_or_insert_with(|| {
            let octets = self.source.get(blob);
            pool.intern(octets, BlobPool::hash(octets))
        });
        pool.hold(copy);
        copy
    }

    fn release(self, pool: &mut BlobPool) {
        self.of.into_iter().flatten().for_each(|copy| pool.release(copy));
    }
}
