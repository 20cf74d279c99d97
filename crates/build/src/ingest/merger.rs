//! Merging: joins separate ingests into the result of ingesting all captures at once.
//!
//! [`history`](super::history) has what a part stores for it.

use std::borrow::Cow;

use hashbrown::HashMap;

use portcullis_dialect::dialect::Dialect;
use portcullis_files::error::WriteError;
use portcullis_files::scratch::Scratch;
use portcullis_set::stored::CaptureFacts;

use super::Ingested;
use super::captured::Newest;
use super::history::{PartBytes, Problem, Resource, resources};
use super::newest::{Failures, Known};
use super::settle::settle;
use crate::hosts::{Hosts, Standings};
use crate::pool::{BlobID, BlobPool, Fingerprint};
use crate::provenance::{InputReport, OutageConfig};

/// A source of a merge.
#[derive(Debug)]
pub struct Part<'p> {
    /// The hosts, sorted by key.
    pub hosts: &'p Hosts,
    /// The blobs of the hosts.
    pub pool: &'p BlobPool,
    /// The history, which only merging needs.
    pub history: Cow<'p, [u8]>,
    /// The inputs that the facts refer to.
    pub inputs: Vec<InputReport>,
}

impl<'p> Part<'p> {
    /// Returns ingested captures as a part.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be read.
    pub fn of(ingested: &'p Ingested) -> Result<Part<'p>, WriteError> {
        let Ingested { standings: Standings { hosts, pool, history }, inputs, .. } = ingested;
        let history = history.at(0, history.len() as usize)?;
        Ok(Part { hosts, pool, history, inputs: inputs.clone() })
    }
}

/// Joins parts of one dialect, in memory. The result equals that of ingesting all their captures at
/// once. Of two captures that are equally new (or undated), that of the later part counts.
///
/// Runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If a temporary file of a part cannot be read.
///
/// # Panics
///
/// If a part is neither ingested nor read from a set.
pub fn merge<'p>(
    parts: impl IntoIterator<Item = Part<'p>>,
    dialect: &'static Dialect,
    outages: OutageConfig,
) -> Result<Ingested, WriteError> {
    let parts: Vec<Part<'p>> = parts.into_iter().collect();
    let has_history = parts.iter().any(|part| part.hosts.has_history());
    let mut merger = Merger::new(dialect, has_history, &Scratch::in_memory());
    parts.into_iter().try_for_each(|part| merger.add(part))?;
    merger.finish(outages)
}

/// Joins parts as [`merge`] does, but one at a time, so that a part can be dropped before the next
/// one is read.
#[derive(Debug)]
pub struct Merger {
    newest: Newest,
    inputs: Vec<InputReport>,
}

impl Merger {
    /// Begins a merge of parts of `dialect`. `has_history` says whether any of them has timelines.
    pub fn new(dialect: &'static Dialect, has_history: bool, scratch: &Scratch) -> Merger {
        Merger { newest: Newest::new(&dialect.access, has_history, scratch), inputs: Vec::new() }
    }

    /// Joins the next part.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written or read.
    ///
    /// # Panics
    ///
    /// If the part is neither ingested nor read from a set.
    pub fn add(&mut self, part: Part<'_>) -> Result<(), WriteError> {
        let Merger { newest, inputs } = self;
        let first_input = u32::try_from(inputs.len()).expect("fewer than 2^32 inputs");
        let last_input = u32::try_from(part.inputs.len()).unwrap_or(0).saturating_sub(1);
        let mut copies: Vec<Option<BlobID>> = vec![None; part.pool.places()];
        let mut kept: HashMap<u32, BlobID, foldhash::fast::RandomState> = HashMap::default();
        let rules = newest.rules;
        resources(part.hosts, &part.history, rules, |key, slot, resource| {
            let Resource { earlier, newest: newest_of, file, mut failures } = resource;
            let others = file.into_iter().chain(earlier);
            for known in std::iter::once(newest_of).chain(others) {
                let pool = &mut newest.pool;
                let held = known.held.map(|bytes| match *bytes {
                    PartBytes::Kept { number, bytes } => match kept.get(&number) {
                        Some(&known) => Ok(known),
                        None => {
                            let new = pool.intern(bytes, Fingerprint::of(bytes))?;
                            Ok(*kept.entry(number).insert(new).get())
                        }
                    },
                    PartBytes::Pooled(blob) => match copies[blob.index()] {
                        Some(copy) => Ok(copy),
                        None => {
                            let fingerprint = part.pool.fingerprint(blob);
                            let copy = pool.intern(&part.pool.get(blob)?, fingerprint)?;
                            Ok(*copies[blob.index()].insert(copy))
                        }
                    },
                    PartBytes::Served(_) => {
                        unreachable!("a resource names the bytes that are served")
                    }
                })?;
                // A set that reports no input counts as one input.
                let input = first_input + known.facts.input.min(last_input);
                let facts = CaptureFacts { input, ..known.facts };
                let known = Known { facts, position: known.position, held };
                failures.add(Failures::of(&known, rules));
                newest.take(key, slot, known, std::mem::take(&mut failures))?;
            }
            Ok(())
        })
        .map_err(|problem| match problem {
            Problem::Scratch(error) => error,
            Problem::Odd(what) => unreachable!("the part was checked when it was read: {what}"),
        })?;
        inputs.extend(part.inputs);
        Ok(())
    }

    /// Returns the standings from all parts, with outages judged again.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written or read.
    pub fn finish(self, outages: OutageConfig) -> Result<Ingested, WriteError> {
        settle(self.newest, self.inputs, outages)
    }
}
