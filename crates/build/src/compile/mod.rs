//! Compiles what is known about each origin into the sections of a set.
//!
//! Owns writing what `FORMAT.md` calls sections: the distinct policies, the robots that each names,
//! the rule sets with their prefilters, and the texts that explanations need. The input comes from
//! [`ingest`](fn@super::ingest); [`stored`](portcullis_set::stored) reads the result.
//!
//! Equal items are stored once at every level: files with the same rules on the same lines share a
//! policy, equal rule sets share a number, and equal records share a string. Everything is numbered
//! in the order of hosts, and work is split into pieces whose results are joined in order. So the
//! same input gives the same file with any number of threads.
//!
//! Hosts are read once, in order, and every section but the table of hosts is a stream: it grows in a
//! [`Spool`] and is copied to the set in the end.
//!
//! Cost: each distinct file is planned once, and each distinct rule set compiled once. Memory: some
//! 30 bytes for each distinct file, rule set and order, 4 for each string and name, 13 for each
//! host, what [`Scratch`](portcullis_files::scratch::Scratch) allows for sorting strings and names, and
//! [`PLANNED_BYTES_PER_THREAD_MAX`] for plans that are not yet joined.

mod config;
mod hosts;
mod intern;
mod names;
mod plan;
mod policies;
mod slots;
mod texts;

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::dialect::Dialect;
use portcullis_files::large_pages::ZeroedMemory;
use portcullis_files::scratch::Spool;
use portcullis_set::file::{COUNTS, HeaderFields, SectionKind};
use portcullis_set::layout::{MomentRow, OutageRow, count, record};
use portcullis_set::limits::TIMELINE_INPUTS_MAX;

use super::strings::StringTable;
use crate::hosts::{Standings, next_piece};
use crate::ingest::{Captured, Role};
use crate::limits::{
    PLANNED_BYTES_PER_THREAD_MAX, PLANNED_POLICIES_MAX, POLICY_PATTERN_BYTES_MAX,
    SET_TEXT_BYTES_FREE, SET_TEXT_BYTES_PER_BYTE,
};
use crate::pool::{BlobID, BlobPool};
use crate::standing::{Content, HostStanding};
use crate::writer::{SectionSink, SetFileWriter, Written};

use self::config::Scope;
use self::hosts::HostSections;
use self::intern::{DistinctPolicies, PolicyOrigin};
use self::names::{NameTable, OF_POLICY, OF_USAGE};
use self::policies::PolicySections;
use self::slots::HostSlots;
use self::texts::numbered;

pub use self::config::{CompileConfig, CompileError, CompiledSet};

/// Compiles what is known about hosts and writes the set to `path`. The file appears complete or not
/// at all.
///
/// It runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If a file cannot be written, or the content exceeds the limits of a set.
pub fn write(
    standings: &Standings,
    config: &CompileConfig,
    path: &Path,
) -> Result<CompiledSet, CompileError> {
    let compiled = Compiled::of(standings, config)?;
    let mut writer = SetFileWriter::create(path)?;
    compiled.write(&mut writer)?;
    let fields = compiled.fields();
    config.scratch.go_on()?;
    Ok(summary(&writer.finish(&fields)?, &fields))
}

/// Like [`write`](fn@write), into memory.
///
/// # Errors
///
/// If the content exceeds the limits of a set, or a temporary file fails.
pub fn to_vec(standings: &Standings, config: &CompileConfig) -> Result<Vec<u8>, CompileError> {
    Ok(Compiled::of(standings, config)?.in_memory()?.to_vec())
}

/// Like [`to_vec`], into memory from which a set can be used: only the rules that apply to some of
/// `agents`, if they are given, and with or without usage preferences.
pub(super) fn to_memory(
    standings: &Standings,
    config: &CompileConfig,
    scope: Scope<'_>,
) -> Result<ZeroedMemory, CompileError> {
    Compiled::within(standings, config, scope)?.in_memory()
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

/// The compiled sections.
pub(super) struct Compiled<'c> {
    config: &'c CompileConfig,
    standings: &'c Standings,
    distinct: DistinctPolicies,
    policies: PolicySections,
    hosts: HostSections,
    names: NameTable,
    strings: StringTable,
    slots: HostSlots,
    /// The bytes of the lines of all distinct files.
    text_bytes: u64,
}

/// Returns the most bytes that the lines of all files of a set of `set_bytes` may have together.
pub(super) fn text_bytes_max(set_bytes: u64) -> u64 {
    SET_TEXT_BYTES_FREE.max(set_bytes.saturating_mul(SET_TEXT_BYTES_PER_BYTE))
}

/// Takes the sources of policies, plans them on all threads and adds the policies in order. Returns the
/// bytes of their files.
fn planned(
    sources: &mut Vec<PolicyOrigin>,
    pool: &BlobPool,
    (dialect, scope): (&'static Dialect, Scope<'_>),
    policies: &mut PolicySections,
) -> Result<u64, CompileError> {
    let mut origins = &**sources;
    while !origins.is_empty() {
        let (piece, rest) = origins.split_at(planned_at_once(origins, pool));
        let extract = |origin: &PolicyOrigin| match *origin {
            PolicyOrigin::Extract(extract) => pool.get(extract),
            PolicyOrigin::Access(_) => Ok(Cow::Borrowed(&[][..])),
        };
        let extracts = piece.par_iter().map(extract).collect::<Result<Vec<_>, _>>()?;
        let sources = piece.par_iter().zip(&extracts);
        let plans = sources.map(|(origin, extract)| match *origin {
            PolicyOrigin::Extract(_) => plan::of_extract(extract, dialect, scope),
            PolicyOrigin::Access(outcome) => Some(plan::access(outcome)),
        });
        for plan in plans.collect::<Vec<_>>() {
            policies.add(plan.expect("extracts are of this program"))?;
        }
        origins = rest;
    }
    Ok(sources.drain(..).map(|origin| origin.bytes(pool) as u64).sum())
}

/// Returns how many of `origins`, at least one, to plan before the plans are joined. This bounds
/// the memory for plans.
fn planned_at_once(origins: &[PolicyOrigin], pool: &BlobPool) -> usize {
    let bytes_max = PLANNED_BYTES_PER_THREAD_MAX * rayon::current_num_threads();
    let mut bytes = 0;
    let within = origins.iter().take_while(|origin| {
        bytes += plan_bytes(origin.bytes(pool));
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

/// Checks that the inputs of moments have numbers that fit: one that does not would end up in the
/// time beside it.
fn check_moments(hosts: &[HostStanding]) -> Result<(), CompileError> {
    let mut moments = hosts.iter().flat_map(HostStanding::timelines).flatten();
    match moments.any(|moment| moment.standing.facts.input as usize >= TIMELINE_INPUTS_MAX) {
        true => Err(CompileError::LongHistory),
        false => Ok(()),
    }
}

impl<'c> Compiled<'c> {
    /// Compiles everything that a file of a set has.
    pub(super) fn of(
        standings: &'c Standings,
        config: &'c CompileConfig,
    ) -> Result<Compiled<'c>, CompileError> {
        let compiled = Compiled::within(standings, config, (None, true))?;
        let (bytes, max) = (compiled.text_bytes, text_bytes_max(compiled.bytes()));
        match bytes <= max {
            true => Ok(compiled),
            false => Err(CompileError::RepeatedLines { bytes, max }),
        }
    }

    fn within(
        standings: &'c Standings,
        config: &'c CompileConfig,
        scope: Scope<'_>,
    ) -> Result<Compiled<'c>, CompileError> {
        let Standings { hosts, pool, captured } = standings;
        let scratch = &config.scratch;
        let mut distinct = DistinctPolicies::new(pool);
        let mut text_bytes = 0;
        let mut policies = PolicySections::new(scratch);
        let mut sections = HostSections::new(scratch, pool.places(), hosts.has_history());
        let mut reader = hosts.iter();
        loop {
            let moments = |host: &HostStanding| 1 + host.timelines().map(Vec::len).sum::<usize>();
            let piece = next_piece(&mut reader, moments)?;
            if piece.is_empty() {
                break;
            }
            check_moments(&piece)?;
            let all = piece.iter().flat_map(HostStanding::all);
            let mut origins = all.filter_map(|it| distinct.add(it)).collect();
            text_bytes += planned(&mut origins, pool, (config.dialect, scope), &mut policies)?;
            for host in &piece {
                for standing in host.all() {
                    if let Content::File { others, .. } = standing.content {
                        sections.add_others(others, pool, &mut policies.texts)?;
                    }
                }
                sections.add(host, &distinct)?;
            }
            let tables = pool.table_bytes() + size_of_val(&*distinct.of_blob);
            let tables = tables + policies.table_bytes() + sections.table_bytes();
            scratch.check_tables(tables)?;
        }
        // Files of captures that are no origin's policy now, but may become one with later captures.
        if let Some(captured) = captured {
            let mut unplanned = Vec::new();
            captured.each_file(|extract, others| {
                sections.add_others(others, pool, &mut policies.texts)?;
                unplanned.extend(distinct.add_file(extract));
                if unplanned.len() < PLANNED_POLICIES_MAX {
                    return Ok(());
                }
                text_bytes +=
                    planned(&mut unplanned, pool, (config.dialect, scope), &mut policies)?;
                Ok::<_, CompileError>(())
            })?;
            text_bytes += planned(&mut unplanned, pool, (config.dialect, scope), &mut policies)?;
        }
        if sections.timelines.as_ref().is_some_and(|it| it.moments.len() > u32::MAX.into()) {
            return Err(CompileError::LongHistory);
        }
        let names = policies.take_names()?;
        let strings = policies.texts.take_strings().finish()?;
        let of_moments = sections.timelines.as_ref().map(|it| it.captures.rows.spool());
        let captures: Vec<&Spool> =
            std::iter::once(sections.captures.rows.spool()).chain(of_moments).collect();
        let slots = HostSlots::new(sections.hosts.spool(), hosts.len(), &captures)?;
        let slots = slots.ok_or(CompileError::CollidingHosts)?;
        let text_bytes = text_bytes + sections.other_bytes;
        let hosts = sections;
        Ok(Compiled {
            config,
            standings,
            distinct,
            policies,
            hosts,
            names,
            strings,
            slots,
            text_bytes,
        })
    }

    /// Returns the fields of the header.
    pub(super) fn fields(&self) -> HeaderFields {
        let config = self.config;
        let mut counts = [0; COUNTS];
        self.hosts.count(&mut counts);
        self.policies.count(&mut counts);
        counts[count::TOKENS] = self.names.len();
        counts[count::STRINGS] = self.strings.len();
        counts[count::HOST_SEED] = self.slots.seed;
        HeaderFields {
            dialect_name: config.dialect.name.to_owned(),
            reading_revision: config.dialect.reading,
            matching_revision: config.dialect.matching,
            robots_bytes_max: config.robots_bytes_max.map(|bytes| bytes as u64),
            flags: 0,
            counts,
        }
    }

    fn in_memory(&self) -> Result<ZeroedMemory, CompileError> {
        let mut writer = SetFileWriter::in_memory(self.bytes() as usize)?;
        self.write(&mut writer)?;
        Ok(writer.finish(&self.fields())?.finished)
    }

    /// Returns the size of the large sections, in bytes.
    fn bytes(&self) -> u64 {
        let Compiled { standings, policies, hosts, strings, slots, .. } = self;
        let log = standings.captured.as_ref().map_or(0, Captured::bytes);
        let spools = [
            hosts.hosts.spool(),
            hosts.captures.rows.spool(),
            hosts.others.spool(),
            policies.words.spool(),
            policies.rule_sets.lines.spool(),
            policies.orders.items.spool(),
            policies.texts.documents.spool(),
            policies.usage.spool(),
        ];
        let in_memory = strings.bytes() + size_of_val(&*slots.lines) as u64;
        spools.map(Spool::len).iter().sum::<u64>() + in_memory + log
    }

    /// Writes all sections.
    pub(super) fn write<S: SectionSink>(&self, writer: &mut S) -> Result<(), S::Error> {
        let Compiled { standings, distinct, policies, hosts, names, strings, slots, .. } = self;
        let PolicySections { rule_sets, texts, .. } = policies;
        let timelines = hosts.timelines.as_ref();
        let captures = timelines.map(|timelines| &timelines.captures);
        let first = hosts.captures.rows.len() as u32;
        writer.section(SectionKind::PROVENANCE, self.config.provenance.as_bytes())?;
        writer.section(SectionKind::SLOTS, slots.lines.as_bytes())?;
        writer.spool(SectionKind::HOSTS, hosts.hosts.spool())?;
        writer.spool(SectionKind::POLICY_INDEX, policies.index.spool())?;
        writer.begin(SectionKind::POLICIES)?;
        names.numbered(policies.words.spool(), OF_POLICY, |policy| writer.write(policy))?;
        writer.section(SectionKind::RULE_SET_INDEX, rule_sets.index.as_bytes())?;
        writer.spool(SectionKind::RULE_SETS, rule_sets.lines.spool())?;
        writer.spool(SectionKind::ORDERS, policies.orders.items.spool())?;
        names.write(writer)?;
        writer.begin(SectionKind::DOCUMENTS)?;
        let documents = texts.documents.spool();
        numbered(documents, strings, record::DOCUMENT_KIND_BITS, |list| writer.write(list))?;
        writer.spool(SectionKind::CAPTURES, hosts.captures.rows.spool())?;
        if let Some(captures) = captures {
            writer.copy(captures.rows.spool())?;
        }
        writer.begin(SectionKind::OTHERS)?;
        let others = hosts.others.spool();
        numbered(others, strings, record::OTHER_KIND_BITS, |list| writer.write(list))?;
        writer.spool(SectionKind::OUTAGES, hosts.captures.outages.spool())?;
        if let Some(captures) = captures {
            let shift = |row: &mut OutageRow| row.capture += first;
            captures.outages.each_changed(shift, |rows| writer.write(rows))?;
        }
        if let Some(captured) = &standings.captured {
            writer.begin(SectionKind::LOG)?;
            let number = |role: Role, blob: BlobID| match role {
                Role::Others => hosts.others_of(blob).wrapping_add(1),
                Role::Extract | Role::Location => distinct.of_blob[blob.index()],
            };
            let pool = &standings.pool;
            let starts = captured.write_log(pool, number, |bytes| writer.write(bytes))?;
            writer.section(SectionKind::LOG_INDEX, starts.as_bytes())?;
        }
        writer.spool(SectionKind::USAGE_INDEX, policies.usage_index.spool())?;
        writer.begin(SectionKind::USAGE)?;
        names.numbered(policies.usage.spool(), OF_USAGE, |usage| writer.write(usage))?;
        writer.begin(SectionKind::USAGE_RECORDS)?;
        let usage = texts.usage.spool();
        numbered(usage, strings, record::USAGE_KIND_BITS, |list| writer.write(list))?;
        if let Some(timelines) = timelines {
            writer.spool(SectionKind::TIMELINES, timelines.starts.spool())?;
            writer.write(U32::new(timelines.moments.len() as u32).as_bytes())?;
            writer.begin(SectionKind::MOMENTS)?;
            let shift = |row: &mut MomentRow| row.capture += first;
            timelines.moments.each_changed(shift, |rows| writer.write(rows))?;
        }
        strings.write(writer)
    }
}
