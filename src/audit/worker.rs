//! The pass over the records of a chunk: every decision is counted, a few URLs are told.

use std::sync::atomic::Ordering;

use hashbrown::HashMap;

use super::Audit;
use super::library::push_origin;
use super::plan::{Class, PolicyPlan};
use super::tally::Tally;
use super::told::{Compared, ComparedDecision, Sample, Told};
use crate::batch::ClassifierMemory;
use crate::decision::{Decision, Verdict};
use crate::input::Record;
use crate::limits::{AUDIT_SAMPLES, RECORDS_AT_ONCE, URL_BYTES_MAX};
use crate::set::Damage;

/// What one thread needs for an [`Audit`]. What it has counted is the audit's when it is dropped.
#[derive(Debug)]
pub struct Worker<'a> {
    audit: &'a Audit,
    assumed_scheme: Option<&'a [u8]>,
    memory: ClassifierMemory,
    /// By comparison.
    others: Vec<ClassifierMemory>,
    decisions: Vec<Decision>,
    tally: Tally,
    scratch: Vec<u8>,
    /// By rule: URLs of this chunk that were told.
    in_chunk: HashMap<usize, usize, foldhash::fast::RandomState>,
    /// The same by comparison and change.
    changes_in_chunk: HashMap<(usize, usize), usize, foldhash::fast::RandomState>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // A panic may have left half of a record counted; nobody will ask for the sum.
        if !std::thread::panicking() {
            self.audit.hand_in(&self.tally);
        }
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(audit: &'a Audit, assumed_scheme: Option<&'a [u8]>) -> Worker<'a> {
        let others = audit.comparisons.iter().map(|other| other.classifier.memory());
        Worker {
            audit,
            assumed_scheme,
            memory: audit.classifier.memory(),
            others: others.collect(),
            decisions: Vec::new(),
            tally: audit.no_tally(),
            scratch: Vec::new(),
            in_chunk: HashMap::default(),
            changes_in_chunk: HashMap::default(),
        }
    }

    /// Counts the records of a chunk, and writes what it tells to `told`, in which nothing of a chunk
    /// before is left.
    ///
    /// # Errors
    ///
    /// If a set is damaged where it has to be looked at.
    pub fn work<'c>(
        &mut self,
        mut records: impl Iterator<Item = Record<'c>>,
        told: &mut Told,
    ) -> Result<(), Damage> {
        told.clear();
        self.in_chunk.clear();
        self.changes_in_chunk.clear();
        let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
        loop {
            block.clear();
            block.extend(records.by_ref().take(RECORDS_AT_ONCE));
            if block.is_empty() {
                return Ok(());
            }
            self.block(&block, told)?;
        }
    }

    fn block(&mut self, block: &[Record<'_>], told: &mut Told) -> Result<(), Damage> {
        let audit = self.audit;
        let mut memory = std::mem::take(&mut self.memory);
        let mut decisions = std::mem::take(&mut self.decisions);
        decisions.clear();
        decisions.extend(audit.classifier.classify(block, self.assumed_scheme, &mut memory)?);
        self.count(block, &decisions, &memory, told)?;
        for comparison in 0..audit.comparisons.len() {
            self.compare(comparison, block, (&decisions, &mut memory), told)?;
        }
        self.memory = memory;
        self.decisions = decisions;
        Ok(())
    }

    /// Counts the records of a block, origin by origin.
    fn count(
        &mut self,
        block: &[Record<'_>],
        decisions: &[Decision],
        memory: &ClassifierMemory,
        told: &mut Told,
    ) -> Result<(), Damage> {
        let classifier = &self.audit.classifier;
        let agents = classifier.agents().len();
        let mut origins = classifier.origins(block, memory).peekable();
        while let Some((first, scheme, key)) = origins.next() {
            let end = origins.peek().map_or(block.len(), |&(next, ..)| next);
            let records = &block[first..end];
            let decisions = &decisions[first * agents..end * agents];
            for (record, decisions) in records.iter().zip(decisions.chunks_exact(agents)) {
                self.tally.counts.add(record.whole().len(), decisions);
            }
            match decisions[0].verdict {
                Verdict::Allow | Verdict::Disallow => {
                    self.known((scheme, key), records, decisions, told)?;
                }
                Verdict::Unknown => {
                    push_origin(scheme, key, &mut self.scratch);
                    told.unknown.add(&self.scratch, records.len() as u64, 0);
                }
                Verdict::Invalid => {
                    records.iter().for_each(|record| self.invalid(record.text(), told));
                }
            }
        }
        Ok(())
    }

    fn invalid(&mut self, text: &[u8], told: &mut Told) {
        if text.trim_ascii().is_empty() {
            self.tally.empty += 1;
            return;
        }
        self.tally.too_long += u64::from(text.len() > URL_BYTES_MAX);
        if told.invalid.len() < AUDIT_SAMPLES {
            let text = told.push(text);
            told.invalid.push(text);
        }
    }

    /// Counts URLs of one origin, for which a policy is known.
    #[inline]
    fn known(
        &mut self,
        (scheme, key): (&[u8], &[u8]),
        records: &[Record<'_>],
        decisions: &[Decision],
        told: &mut Told,
    ) -> Result<(), Damage> {
        let audit = self.audit;
        let origin = audit.library.origin(scheme, key, &mut self.scratch);
        let (host, place) = origin.ok_or_else(|| audit.library.misfiled())?;
        let policy = audit.library.hosts[host as usize].policies[place];
        let plan = audit.library.plan.policy(policy).ok_or_else(|| audit.library.misfiled())?;
        let row = audit.rows.start(host, place);
        self.tally.rows[row] += records.len() as u64;
        let agents = audit.classifier.agents().len();
        for (record, decisions) in records.iter().zip(decisions.chunks_exact(agents)) {
            self.decided(plan, row, decisions, (host, record), told)?;
        }
        Ok(())
    }

    /// Counts a URL, for each class of agents, and for the rules that decided it.
    #[inline]
    fn decided(
        &mut self,
        plan: &PolicyPlan,
        row: usize,
        decisions: &[Decision],
        url: (u32, &Record<'_>),
        told: &mut Told,
    ) -> Result<(), Damage> {
        let audit = self.audit;
        let classes = audit.library.plan.classes(plan);
        for (number, class) in classes.iter().enumerate() {
            let decision = &decisions[class.agent as usize];
            let disallows = decision.verdict == Verdict::Disallow;
            self.tally.rows[row + 1 + number] += u64::from(disallows);
            let Some(rule) = decision.rule else { continue };
            if plan.is_shared {
                let counter = class.counter(rule).ok_or_else(|| audit.library.misfiled())?;
                self.tally.class_rules[counter] += 1;
                // It is counted where the first class has it.
                let has_it = |class: &Class| decisions[class.agent as usize].rule == Some(rule);
                if classes[..number].iter().any(has_it) {
                    continue;
                }
            }
            let counter = plan.counter(rule).ok_or_else(|| audit.library.misfiled())?;
            self.decided_by(counter, url, told);
        }
        Ok(())
    }

    /// Counts a URL for the rule that decided it.
    #[inline]
    fn decided_by(&mut self, rule: usize, (host, record): (u32, &Record<'_>), told: &mut Told) {
        self.tally.rules[rule] += 1;
        // The chunks before this one may have told enough.
        if self.audit.is_told[rule].load(Ordering::Relaxed) {
            return;
        }
        let in_chunk = self.in_chunk.entry(rule).or_default();
        if *in_chunk < AUDIT_SAMPLES {
            *in_chunk += 1;
            let url = told.push(record.text());
            told.samples.push(Sample { rule, host, url });
        }
    }

    /// Compares the decisions on a block with those of another side.
    fn compare(
        &mut self,
        comparison: usize,
        block: &[Record<'_>],
        (decisions, ours): (&[Decision], &mut ClassifierMemory),
        told: &mut Told,
    ) -> Result<(), Damage> {
        let audit = self.audit;
        let other = &audit.comparisons[comparison].classifier;
        let agents = other.agents().len();
        let memory = &mut self.others[comparison];
        let theirs = other.classify(block, self.assumed_scheme, memory)?;
        let mut differing = Vec::new();
        let tally = &mut self.tally.compared[comparison];
        let pairs = decisions.chunks_exact(agents).zip(theirs.chunks_exact(agents));
        for (index, (here, there)) in pairs.enumerate() {
            let before = differing.len();
            for (agent, (here, there)) in here.iter().zip(there).enumerate() {
                if here.verdict != there.verdict {
                    tally.by_agent[agent] += 1;
                    tally.changes[here.verdict as usize][there.verdict as usize] += 1;
                    differing.push((index, agent, *here, *there));
                }
            }
            tally.urls += u64::from(differing.len() > before);
        }
        let mut last = None;
        for (index, agent, here, there) in differing {
            let change = super::change(here.verdict, there.verdict);
            // Of one URL one agent is example enough.
            if last.replace((index, change)) == Some((index, change)) {
                continue;
            }
            if audit.comparisons[comparison].is_told[change].load(Ordering::Relaxed) {
                continue;
            }
            let in_chunk = self.changes_in_chunk.entry((comparison, change)).or_default();
            if *in_chunk == AUDIT_SAMPLES {
                continue;
            }
            *in_chunk += 1;
            let url = told.push(block[index].text());
            let provenance = audit.classifier.provenance(index, agent, ours)?;
            let here = ComparedDecision::new(here, provenance, told);
            let provenance = other.provenance(index, agent, &mut self.others[comparison])?;
            let there = ComparedDecision::new(there, provenance, told);
            told.compared.push(Compared { comparison, agent, url, here, there });
        }
        Ok(())
    }
}
