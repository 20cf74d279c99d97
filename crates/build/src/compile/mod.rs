//! Compiles what is known about each origin into the sections of a set.
//!
//! Owns writing what `FORMAT.md` calls sections: the distinct policies, the crawlers that each names,
//! the rule sets with their prefilters, and the texts that explanations need. The input comes from
//! [`ingest`](fn@super::ingest); [`stored`](portcullis_set::stored) reads the result.
//!
//! Equal items are stored once at every level: files with the same rules on the same lines share a
//! policy, equal rule sets share a number, and equal records share a string. Everything is numbered
//! in the order of hosts, and work is split into pieces whose results are joined in order. So the
//! same input gives the same file with any number of threads.
//!
//! Hosts are read once, in order, and every section but the table of hosts is a stream. That of rule
//! sets, the largest, is passed on while hosts are read, so it is the first section of a file; the others
//! grow in [`Spool`]s and are copied to the set in the end. Nothing is numbered again. While policies are
//! added, the next ones are planned, hosts before them are added and hosts after them settled.
//!
//! Cost: each distinct file is planned once, and the rules of a group once in a while. Memory: some
//! 30 bytes for each distinct file, rule set, order and response in a history, 40 for each name, 13 for each
//! host, 8 for each block of the file, the last strings, and three times [`PLANS_PER_THREAD`] for
//! plans that are not yet written.

mod config;
mod hosts;
mod intern;
mod plan;
mod policies;
mod slots;
mod texts;
mod timelines;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use zerocopy::IntoBytes;

use portcullis_files::budget::Share;
use portcullis_files::error::WriteError;
use portcullis_files::large_pages::ZeroedMemory;
use portcullis_files::scratch::{Spool, Table};
use portcullis_set::file::{HeaderFields, SectionKind, SetCounts};
use portcullis_set::layout::record::In;

use crate::hosts::{Piece, Standings};
use crate::ingest::StandingCounts;
use crate::limits::{
    COMPILED_RULES, PLANNED_POLICIES_MAX, PLANS_PER_THREAD, SET_HOST_SEEDS_MAX,
    SET_TEXT_BYTES_FREE, SET_TEXT_BYTES_PER_BYTE,
};
use crate::pool::BlobPool;
use crate::standing::Content;
use crate::writer::{SectionSink, SetFileWriter};

use self::hosts::HostSections;
use self::intern::DistinctPolicies;
use self::plan::{CompiledRules, KnownRules, PolicyPlan};
use self::policies::PolicySections;
use self::slots::HostSlots;

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
    let mut writer = SetFileWriter::create(path)?.within(&config.scratch);
    let compiled = Compiled::to(&mut writer, standings, config)?;
    compiled.check_lines(writer.position())?;
    let fields = compiled.fields();
    config.scratch.go_on()?;
    let written = writer.finish(&fields)?;
    let published = written.file.complete().and_then(|file| file.publish());
    published.map_err(|error| WriteError::new(path, error))?;
    Ok(CompiledSet {
        bytes: written.file_bytes,
        hash: written.content_hash,
        policies: fields.counts.policies,
        rule_sets: fields.counts.rule_sets,
        file_notes: fields.counts.file_notes,
        counts: compiled.counts,
    })
}

/// Like [`write`](fn@write), into memory.
///
/// # Errors
///
/// If the content exceeds the limits of a set, or a temporary file fails.
pub fn to_vec(standings: &Standings, config: &CompileConfig) -> Result<Vec<u8>, CompileError> {
    let mut writer = SetFileWriter::in_memory();
    let compiled = Compiled::to(&mut writer, standings, config)?;
    compiled.check_lines(writer.position())?;
    Ok(writer.finish(&compiled.fields())?.file.into_inner())
}

/// Like [`to_vec`], into memory from which a set can be used.
pub(super) fn to_memory(
    standings: &Standings,
    config: &CompileConfig,
) -> Result<ZeroedMemory, CompileError> {
    let mut writer = SetFileWriter::in_memory();
    let compiled = Compiled::to(&mut writer, standings, config)?;
    let bytes = writer.finish(&compiled.fields())?.file.into_inner();
    Ok(ZeroedMemory::from(&*bytes))
}

/// Returns the most bytes that the lines of all files of a set of `set_bytes` may have together.
pub(super) fn text_bytes_max(set_bytes: u64) -> u64 {
    SET_TEXT_BYTES_FREE.max(set_bytes.saturating_mul(SET_TEXT_BYTES_PER_BYTE))
}

/// Returns how many items of so many bytes each have at most `bytes_max` together: at least one, if there are
/// any.
fn at_once(bytes: impl Iterator<Item = usize>, bytes_max: usize) -> usize {
    let mut bytes = bytes.peekable();
    let first = usize::from(bytes.peek().is_some());
    let within = bytes.scan(0_usize, |all, bytes| {
        *all += bytes;
        (*all <= bytes_max).then_some(())
    });
    within.count().max(first)
}

/// Returns a bound on the bytes of a file's plan: its records, and its groups with their rule sets. In the worst
/// case, a group has one rule in 20 bytes, and a rule set has two lines.
fn plan_bytes(file_bytes: usize) -> usize {
    16 * file_bytes + 256
}

/// Adds policies in order. Their extracts are read on all threads, as many at once as plans may have bytes.
/// Returns the bytes of their files.
fn add_policies(
    planning @ (pool, _, config): (&BlobPool, &KnownRules, &CompileConfig),
    mut contents: &[Content],
    policies: &mut PolicySections,
    writer: &mut impl SectionSink,
) -> Result<u64, CompileError> {
    let Share { parts, bytes_max } = PLANS_PER_THREAD;
    let share = Share { parts, bytes_max: bytes_max * rayon::current_num_threads() };
    let bytes_max = config.scratch.budget().of(share);
    let extract_bytes = |content: &Content| match *content {
        Content::File { extract, .. } => pool.bytes_of(extract),
        Content::Access(_) => 0,
    };
    let extract = |content: &Content| match *content {
        Content::File { extract, .. } => pool.get(extract),
        Content::Access(_) => Ok(Cow::Borrowed(&[][..])),
    };
    let mut bytes = 0;
    while !contents.is_empty() {
        let now;
        (now, contents) = contents.split_at(at_once(contents.iter().map(extract_bytes), bytes_max));
        // In a list of known length first, which does not grow.
        let extracts: Vec<_> = now.par_iter().map(extract).collect();
        let extracts = extracts.into_iter().collect::<Result<Vec<_>, _>>()?;
        add_read(planning, (now, &extracts), bytes_max, policies, writer)?;
        bytes += extracts.iter().map(|extract| extract.len() as u64).sum::<u64>();
    }
    Ok(bytes)
}

/// Plans policies on all threads, and adds them in order: while some are added, the next ones are planned, and
/// the rule sets of those before them are written.
fn add_read(
    (_, known, config): (&BlobPool, &KnownRules, &CompileConfig),
    (contents, extracts): (&[Content], &[Cow<'_, [u8]>]),
    bytes_max: usize,
    policies: &mut PolicySections,
    writer: &mut impl SectionSink,
) -> Result<(), CompileError> {
    let plan = |from: usize, to: usize| {
        let contents = contents[from..to].par_iter().zip(&extracts[from..to]);
        let plans = contents.map(|(content, extract)| match *content {
            Content::File { .. } => plan::of_extract(extract, config.dialect, known),
            Content::Access(outcome) => plan::access(outcome),
        });
        plans.collect::<Vec<PolicyPlan<'_>>>()
    };
    let end_of = |start: usize| {
        let extracts = extracts[start..].iter().take(PLANNED_POLICIES_MAX);
        start + at_once(extracts.map(|extract| plan_bytes(extract.len())), bytes_max)
    };
    let mut end = end_of(0);
    let mut plans = plan(0, end);
    while !plans.is_empty() {
        let (next, new) = (end_of(end), policies.rule_sets.take_new());
        let mut add = || plans.drain(..).try_for_each(|plan| policies.add(plan));
        let write = || write_rule_sets(new, writer);
        let (added, (written, following)) =
            rayon::join(&mut add, || rayon::join(write, || plan(end, next)));
        added?;
        written?;
        (plans, end) = (following, next);
    }
    Ok(())
}

/// Writes the lines of rule sets.
fn write_rule_sets(
    rule_sets: Vec<Arc<CompiledRules>>,
    writer: &mut impl SectionSink,
) -> Result<(), CompileError> {
    rule_sets.into_iter().try_for_each(|rules| writer.write(rules.compiled.as_bytes()))
}

/// The sections of a set, which grow while hosts are read.
pub(super) struct Compiled<'c> {
    standings: &'c Standings,
    config: &'c CompileConfig,
    distinct: DistinctPolicies,
    known: KnownRules,
    policies: PolicySections,
    hosts: HostSections,
    /// The seed of the table of hosts, which is made when all are known.
    host_seed: u64,
    /// The bytes of the lines of all distinct files that affect decisions.
    text_bytes: u64,
    counts: StandingCounts,
    tables: Table,
}

impl<'c> Compiled<'c> {
    /// Compiles, and writes all sections.
    pub(super) fn to(
        writer: &mut impl SectionSink,
        standings: &'c Standings,
        config: &'c CompileConfig,
    ) -> Result<Compiled<'c>, CompileError> {
        let (pool, scratch) = (&standings.pool, &config.scratch);
        let mut compiled = Compiled {
            standings,
            config,
            distinct: DistinctPolicies::new(pool),
            known: KnownRules::new(scratch.budget().of(COMPILED_RULES)),
            policies: PolicySections::new(scratch),
            hosts: HostSections::new(scratch, pool, standings.has_history()),
            host_seed: 0,
            text_bytes: 0,
            counts: StandingCounts::default(),
            tables: scratch.table(),
        };
        writer.begin(SectionKind::RULE_SETS)?;
        let mut pieces = standings.pieces();
        let (mut last, mut next) = (None, pieces.next().transpose()?);
        while last.is_some() || next.is_some() {
            let contents = next.iter().flat_map(Piece::contents);
            let contents = contents.filter_map(|content| compiled.distinct.add(content)).collect();
            let (compiled, following) = rayon::join(
                || compiled.add(contents, last.as_ref(), writer),
                || pieces.next().transpose(),
            );
            compiled?;
            (last, next) = (next, following?);
        }
        write_rule_sets(compiled.policies.rule_sets.take_new(), writer)?;
        let hosts = &compiled.hosts;
        let responses = hosts.timelines.as_ref().map(|it| it.responses.spool());
        let captures: Vec<&Spool> =
            std::iter::once(hosts.captures.spool()).chain(responses).collect();
        let mut table = scratch.table();
        let slots =
            HostSlots::new(hosts.hosts.spool(), compiled.counts.hosts, &captures, &mut table)?;
        let colliding = || {
            CompileError::TooMuch(format!(
                "too many hosts have names that collide in the table of hosts, by each of \
                 {SET_HOST_SEEDS_MAX} seeds; compile the input as several sets"
            ))
        };
        let slots = slots.ok_or_else(colliding)?;
        compiled.host_seed = slots.seed;
        compiled.write(&slots, writer)?;
        Ok(compiled)
    }

    /// Adds policies after those before them. Meanwhile adds hosts, whose policies were added before, after
    /// those before them.
    fn add(
        &mut self,
        contents: Vec<Content>,
        hosts: Option<&Piece<'_>>,
        writer: &mut impl SectionSink,
    ) -> Result<(), CompileError> {
        let Compiled { standings, config, distinct, known, policies, .. } = self;
        let (sections, counts) = (&mut self.hosts, &mut self.counts);
        let planning = (&standings.pool, &*known, *config);
        let (added, hosts) = rayon::join(
            || add_policies(planning, &contents, policies, writer),
            || {
                let Some(piece) = hosts else { return Ok(()) };
                piece.hosts.iter().for_each(|host| counts.add_host(host));
                sections.add_all(piece, &standings.pool, distinct)
            },
        );
        hosts?;
        self.text_bytes += added?;
        let of_blobs = self.distinct.of_blob.bytes();
        // The reports of inputs, and their JSON.
        let provenance = 2 * self.config.provenance.len();
        Ok(self.tables.resize(of_blobs + self.hosts.table_bytes() + provenance)?)
    }

    /// Checks that the lines of all files are not far longer than a file of this size.
    fn check_lines(&self, file_bytes: u64) -> Result<(), CompileError> {
        let bytes = self.text_bytes + self.hosts.others_bytes;
        let max = text_bytes_max(file_bytes);
        match bytes <= max {
            true => Ok(()),
            false => Err(CompileError::TooMuch(format!(
                "the lines of the files have {bytes} bytes together, because many files repeat long \
                 lines; a set of this size may have {max}; omit the hosts with such files"
            ))),
        }
    }

    /// Returns the fields of the header.
    pub(super) fn fields(&self) -> HeaderFields {
        let Compiled { config, policies, hosts, counts: known, .. } = self;
        let PolicySections { heads, rule_sets, names, texts, .. } = policies;
        let counts = SetCounts {
            hosts: known.hosts,
            origins: known.origins,
            policies: heads.len(),
            rule_sets: rule_sets.index.len() as u64,
            captures: hosts.captures.len(),
            strings: texts.strings.len(),
            tokens: names.len(),
            dates: known.captured.map_or([0; 2], |it| [it.first.0, it.last.0]),
            file_notes: hosts.file_notes,
            host_seed: self.host_seed,
            unused: [0; 2],
        };
        HeaderFields {
            reading_revision: config.dialect.reading,
            matching_revision: config.dialect.matching,
            robots_bytes_max: config.robots_bytes_max.map_or(u64::MAX, |bytes| bytes as u64),
            flags: 0,
            dialect_name: HeaderFields::name_field(config.dialect.name),
            counts,
        }
    }

    /// Writes all sections but the first, that of rule sets.
    fn write(&self, slots: &HostSlots, writer: &mut impl SectionSink) -> Result<(), CompileError> {
        let Compiled { standings, config, distinct, policies, hosts, .. } = self;
        let PolicySections { rule_sets, texts, .. } = policies;
        writer.section(SectionKind::PROVENANCE, config.provenance.as_bytes())?;
        writer.section(SectionKind::SLOTS, slots.lines.as_bytes())?;
        writer.spool(SectionKind::HOSTS, hosts.hosts.spool())?;
        writer.spool(SectionKind::POLICIES, policies.words.spool())?;
        writer.spool(SectionKind::POLICY_HEADS, policies.heads.spool())?;
        writer.section(SectionKind::RULE_SET_INDEX, rule_sets.index.as_bytes())?;
        writer.spool(SectionKind::ORDERS, &policies.orders.bytes)?;
        policies.names.write(writer)?;
        writer.spool(SectionKind::DOCUMENTS, texts.lists(In::Documents))?;
        writer.spool(SectionKind::CAPTURES, hosts.captures.spool())?;
        writer.spool(SectionKind::OTHERS, hosts.others.spool())?;
        writer.spool(SectionKind::OUTAGES, hosts.outages.spool())?;
        if standings.has_captures() {
            writer.spool(SectionKind::LOG, &hosts.log)?;
        }
        writer.spool(SectionKind::USAGE_RECORDS, texts.lists(In::Usage))?;
        if let Some(timelines) = &hosts.timelines {
            let settling = (&config.dialect.access, standings.long_outage());
            timelines.write(settling, distinct, writer)?;
        }
        texts.strings.write(SectionKind::RECORD_STRINGS, writer)
    }
}
