//! Compiles what is known about each origin into the sections of a set.
//!
//! Owns writing what `FORMAT.md` calls sections: the distinct policies, the robots that each names,
//! the rule sets with their prefilters, and the texts that explanations need. The input comes from
//! [`ingest`](fn@super::ingest); [`stored`](super::stored) reads the result.
//!
//! Equal items are stored once at every level: files with the same rules on the same lines share a
//! policy, equal rule sets share a number, and equal records share a string. Everything is numbered
//! in the order of hosts, and work is split into pieces whose results are joined in order. So the
//! same input gives the same file with any number of threads.
//!
//! Cost: each distinct file is planned once, and each distinct rule set compiled once. Memory:
//! three times the kept records of all distinct files, about 100 bytes for each distinct record,
//! and [`PLANNED_BYTES_PER_THREAD_MAX`] for plans that are not yet joined.

mod hosts;
mod intern;
mod plan;
mod policies;
mod slots;
mod texts;

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;
use zerocopy::IntoBytes;

use crate::large_pages::ZeroedMemory;
use portcullis_dialect::dialect::{AccessOutcome, Dialect};
use portcullis_dialect::limits::{
    PLANNED_BYTES_PER_THREAD_MAX, PLANNED_POLICIES_MAX, POLICY_PATTERN_BYTES_MAX,
    SET_HOST_SEEDS_MAX, TIMELINE_INPUTS_MAX,
};

use super::file::{
    COUNTS, Destination, HeaderFields, SectionKind, SetFileWriter, WriteError, Written,
};
use super::layout::{NONE, count};
use super::standing::Moment;
use super::stored::CompiledFor;
use super::strings::StringError;
use super::{BlobPool, Content, HostStanding, Ingested, Provenance, Standing};

use self::hosts::HostSections;
use self::policies::PolicySections;

pub(super) use self::plan::order as record_order;

/// How to compile a set.
#[derive(Clone, Debug)]
pub struct CompileConfig {
    /// The dialect of the set.
    pub dialect: &'static Dialect,
    /// The maximum number of bytes that were read per file; `None` if there was no limit.
    pub robots_bytes_max: Option<usize>,
    /// A JSON object that says where the set comes from; stored unchanged.
    pub provenance: String,
    /// What a later merge needs ([`Ingested::history`](super::Ingested::history)). Decisions do not
    /// need it, but a merge may refuse a set without it.
    pub history: Vec<u8>,
}

impl CompileConfig {
    /// Creates a configuration with the default limits.
    pub fn new(dialect: &'static Dialect, robots_bytes_max: Option<usize>) -> CompileConfig {
        CompileConfig {
            dialect,
            robots_bytes_max,
            provenance: "{}".to_owned(),
            history: Vec::new(),
        }
    }

    /// Creates the configuration for what was ingested, with its provenance and its history.
    pub fn of(
        ingested: &Ingested,
        dialect: &'static Dialect,
        robots_bytes_max: Option<usize>,
    ) -> CompileConfig {
        CompileConfig {
            provenance: Provenance::of(&ingested.inputs, &ingested.outages).to_json(),
            history: ingested.history.clone(),
            ..CompileConfig::new(dialect, robots_bytes_max)
        }
    }
}

/// The set that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompiledSet {
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// The hash of the content, which identifies the set.
    pub hash: u64,
    /// The number of hosts.
    pub hosts: u64,
    /// The number of origins with a known policy.
    pub origins: u64,
    /// The number of distinct policies.
    pub policies: u64,
    /// The number of distinct rule sets.
    pub rule_sets: u64,
}

/// An error that prevents a set from being compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// There are more or longer texts than a set can hold.
    #[error(transparent)]
    Strings(#[from] StringError),
    /// There are more moments, or more inputs of moments, than a set can number.
    #[error(
        "too long a history: a set has at most {TIMELINE_INPUTS_MAX} inputs and {} moments; compile \
         the input as several sets",
        u32::MAX
    )]
    LongHistory,
    /// Hosts collide with every seed of the host table.
    #[error(
        "too many hosts have names that collide in the table of hosts, by each of \
         {SET_HOST_SEEDS_MAX} seeds; compile the input as several sets"
    )]
    CollidingHosts,
}

/// Compiles what is known about `hosts`, which are sorted by key, and writes the set to `path`. The
/// file appears complete or not at all.
///
/// It runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If the file cannot be written, or the content exceeds the limits of a set.
pub fn write(
    hosts: &[HostStanding],
    pool: &BlobPool,
    config: &CompileConfig,
    path: &Path,
) -> Result<CompiledSet, CompileError> {
    let sections = Sections::of(hosts, pool, config, EVERYTHING)?;
    let mut writer = SetFileWriter::create(path)?;
    sections.write(config, &mut writer)?;
    let fields = sections.fields(config);
    Ok(summary(&writer.finish(&fields)?, &fields))
}

/// Like [`write`](fn@write), into memory.
///
/// # Errors
///
/// If the content exceeds the limits of a set.
pub fn to_vec(
    hosts: &[HostStanding],
    pool: &BlobPool,
    config: &CompileConfig,
) -> Result<Vec<u8>, CompileError> {
    Ok(in_memory(Sections::of(hosts, pool, config, EVERYTHING)?, config)?.to_vec())
}

/// Like [`to_vec`], into memory from which a set can be used: only the rules that apply to some of
/// `agents`, if they are given, and with or without usage preferences. The input is freed before the
/// set is written.
pub(super) fn to_memory(
    hosts: Vec<HostStanding>,
    pool: BlobPool,
    config: &CompileConfig,
    compiled: Compiled<'_>,
) -> Result<ZeroedMemory, CompileError> {
    let sections = Sections::of(&hosts, &pool, config, compiled)?;
    drop((hosts, pool));
    in_memory(sections, config)
}

fn in_memory(sections: Sections, config: &CompileConfig) -> Result<ZeroedMemory, CompileError> {
    let mut writer = SetFileWriter::in_memory(sections.bytes(config))?;
    sections.write(config, &mut writer)?;
    Ok(writer.finish(&sections.fields(config))?.finished)
}

fn summary<F>(written: &Written<F>, fields: &HeaderFields) -> CompiledSet {
    CompiledSet {
        bytes: written.file_bytes,
        hash: written.content_hash,
        hosts: fields.counts[count::HOSTS],
        origins: fields.counts[count::ORIGINS],
        policies: fields.counts[count::POLICIES],
        rule_sets: fields.counts[count::RULE_SETS],
    }
}

/// The part of each file that is compiled: the agents whose rules are, `None` for all, and whether
/// usage preferences are.
type Compiled<'a> = (Option<&'a CompiledFor>, bool);

/// What a file of a set has.
const EVERYTHING: Compiled<'static> = (None, true);

/// The compiled sections, in memory.
struct Sections {
    policies: PolicySections,
    hosts: HostSections,
}

/// The source of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PolicyOrigin {
    Extract(super::BlobID),
    Access(AccessOutcome),
}

/// The distinct policies of hosts, in order of first use.
#[derive(Default)]
struct DistinctPolicies {
    origins: Vec<PolicyOrigin>,
    /// The policy of each blob, or [`NONE`].
    of_blob: Vec<u32>,
    of_access: Vec<(AccessOutcome, u32)>,
}

impl DistinctPolicies {
    fn of(hosts: &[HostStanding], pool: &BlobPool) -> DistinctPolicies {
        let mut distinct =
            DistinctPolicies { of_blob: vec![NONE; pool.places()], ..DistinctPolicies::default() };
        hosts.iter().flat_map(HostStanding::all).for_each(|standing| distinct.add(standing));
        distinct
    }

    fn add(&mut self, standing: &Standing) {
        if self.index(standing) != NONE {
            return;
        }
        let index = self.origins.len() as u32;
        self.origins.push(match standing.content {
            Content::File { extract, .. } => {
                self.of_blob[extract.index()] = index;
                PolicyOrigin::Extract(extract)
            }
            Content::Access(outcome) => {
                self.of_access.push((outcome, index));
                PolicyOrigin::Access(outcome)
            }
        });
    }

    /// Returns the position of the policy, or [`NONE`].
    fn index(&self, standing: &Standing) -> u32 {
        match standing.content {
            Content::File { extract, .. } => self.of_blob[extract.index()],
            Content::Access(outcome) => {
                let known = self.of_access.iter().find(|(other, _)| *other == outcome);
                known.map_or(NONE, |&(_, index)| index)
            }
        }
    }
}

/// Returns how many of `origins`, at least one, to plan before the plans are joined. This bounds
/// the memory for plans.
fn planned_at_once(origins: &[PolicyOrigin], pool: &BlobPool) -> usize {
    let bytes_max = PLANNED_BYTES_PER_THREAD_MAX * rayon::current_num_threads();
    let mut bytes = 0;
    let within = origins.iter().take_while(|origin| {
        bytes += match origin {
            PolicyOrigin::Extract(extract) => plan_bytes(pool.get(*extract).len()),
            PolicyOrigin::Access(_) => 0,
        };
        bytes <= bytes_max
    });
    within.take(PLANNED_POLICIES_MAX).count().max(1)
}

/// Returns a bound on the bytes of a file's plan: its records and its patterns. In the worst case,
/// half of the file is one rule and the other half names robots, in 30 bytes each, to which that
/// rule applies.
fn plan_bytes(file_bytes: usize) -> usize {
    let patterns = file_bytes.saturating_mul(file_bytes / 128).min(POLICY_PATTERN_BYTES_MAX);
    6 * file_bytes + 2 * patterns
}

fn has_long_history(hosts: &[HostStanding]) -> bool {
    let moments = || hosts.iter().flat_map(HostStanding::timelines).flatten();
    let is_unnumbered =
        |moment: &Moment| moment.standing.facts.input as usize >= TIMELINE_INPUTS_MAX;
    moments().any(is_unnumbered) || u32::try_from(moments().count()).is_err()
}

impl Sections {
    fn of(
        hosts: &[HostStanding],
        pool: &BlobPool,
        config: &CompileConfig,
        compiled: Compiled<'_>,
    ) -> Result<Sections, CompileError> {
        // A number that does not fit would end up in the time beside it.
        if has_long_history(hosts) {
            return Err(CompileError::LongHistory);
        }
        let distinct = DistinctPolicies::of(hosts, pool);
        let mut policies = PolicySections::default();
        let mut origins = distinct.origins.as_slice();
        while !origins.is_empty() {
            let (piece, rest) = origins.split_at(planned_at_once(origins, pool));
            let plan = |origin: &PolicyOrigin| plan::plan(*origin, pool, config.dialect, compiled);
            let plans: Vec<plan::PolicyPlan<'_>> = piece.par_iter().map(plan).collect();
            plans.into_iter().for_each(|plan| policies.add(plan));
            origins = rest;
        }
        let others = HostSections::others(hosts, pool, &mut policies.texts);
        if let Some(error) = policies.texts.failure {
            return Err(error.into());
        }
        policies.finish();
        let texts = &policies.texts;
        let hosts = HostSections::new(hosts, &distinct, others, texts)
            .ok_or(CompileError::CollidingHosts)?;
        Ok(Sections { policies, hosts })
    }

    fn fields(&self, config: &CompileConfig) -> HeaderFields {
        let mut counts = [0; COUNTS];
        self.hosts.count(&mut counts);
        self.policies.count(&mut counts);
        HeaderFields {
            dialect_name: config.dialect.name.to_owned(),
            dialect_revision: config.dialect.revision.into(),
            robots_bytes_max: config.robots_bytes_max.map(|bytes| bytes as u64),
            flags: 0,
            counts,
        }
    }

    /// Returns all sections but the strings.
    fn each<'s>(&'s self, config: &'s CompileConfig) -> Vec<(SectionKind, Cow<'s, [u8]>)> {
        let Sections { policies, hosts, .. } = self;
        let rule_sets = &policies.rule_sets;
        let mut sections: Vec<(SectionKind, Cow<'s, [u8]>)> = vec![
            (SectionKind::PROVENANCE, config.provenance.as_bytes().into()),
            (SectionKind::SLOTS, hosts.slots.lines.as_bytes().into()),
            (SectionKind::HOSTS, hosts.hosts.as_bytes().into()),
            (SectionKind::POLICY_INDEX, policies.index.as_bytes().into()),
            (SectionKind::POLICIES, policies.words.as_bytes().into()),
            (SectionKind::RULE_SET_INDEX, rule_sets.index.as_bytes().into()),
            (SectionKind::RULE_SETS, rule_sets.lines.as_bytes().into()),
            (SectionKind::ORDERS, policies.orders.items.as_slice().into()),
            (SectionKind::TOKENS, policies.tokens.section().into()),
            (SectionKind::DOCUMENTS, policies.texts.documents.as_bytes().into()),
            (SectionKind::CAPTURES, hosts.captures.as_bytes().into()),
            (SectionKind::OTHERS, hosts.others.as_bytes().into()),
            (SectionKind::OUTAGES, hosts.outages.as_bytes().into()),
            (SectionKind::HISTORY, config.history.as_slice().into()),
            (SectionKind::USAGE_INDEX, policies.usage_index.as_bytes().into()),
            (SectionKind::USAGE, policies.usage.as_bytes().into()),
            (SectionKind::USAGE_RECORDS, policies.texts.usage.as_bytes().into()),
        ];
        if let Some(timelines) = &hosts.timelines {
            sections.push((SectionKind::TIMELINES, timelines.starts.as_bytes().into()));
            sections.push((SectionKind::MOMENTS, timelines.moments.as_bytes().into()));
        }
        sections
    }

    /// Returns the approximate size of all sections, in bytes.
    fn bytes(&self, config: &CompileConfig) -> usize {
        let sections = self.each(config).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        sections + self.policies.texts.table().bytes()
    }

    fn write<D: Destination>(
        &self,
        config: &CompileConfig,
        writer: &mut SetFileWriter<D>,
    ) -> Result<(), WriteError> {
        for (kind, bytes) in self.each(config) {
            writer.begin(kind)?;
            writer.write(&bytes)?;
        }
        self.policies.texts.table().write(writer)
    }
}
