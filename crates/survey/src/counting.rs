//! The pass over the list: threads count in parallel, and the URLs to show are chosen in input
//! order.
//!
//! This module has the counters of an audit. A [`Worker`] adds sums to its own `Tally`. Findings
//! that depend on the order of the input (the first URLs that a rule decided, origins without a policy)
//! go to the [`ChunkFindings`] of the chunk, and [`Findings`]
//! merges them chunk by chunk. So the result is the same for any number of threads.
//!
//! Cost per URL: one lookup of the host per run of URLs with one origin and one policy, and a few
//! additions. Memory per thread: two counters for each rule that decides a URL, and for its
//! neighbours in a page of memory. Shared memory: a bit per rule, a few counters per host that
//! occurs and each of its policies, a few URLs per deciding rule, and at most
//! [`AUDIT_UNKNOWN_ORIGINS_MAX`] origins without a policy.

use std::sync::Arc;

use crate::audit::Audit;
use crate::classes::Classified;
use crate::limits::{AUDIT_SAMPLES, AUDIT_UNKNOWN_ORIGINS_MAX};
use crate::origins::Map;
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::usage::Label;
use portcullis_report::{ChunkError, Counts, NameCounts, Piece, decide_block};
use portcullis_rows::input::Record;
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, NO_POLICY, NO_URL, OriginRecords, Session};
use portcullis_text::visible::cut_to_show;

/// A stored text.
pub(super) type Text = Vec<u8>;

/// The counts of one thread, or the sum over all threads.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub counts: Counts,
    /// The number of URLs that each rule decided for any class of agents. See [`classes`](crate::classes).
    pub rules: Vec<u64>,
    /// The same counts by class.
    pub class_rules: Vec<u64>,
    /// The hosts of URLs with a known policy, by key: the counts of each of its policies, by number.
    pub hosts: Map<Text, Vec<PolicyCounts>>,
    /// Whether records were decided as of a time.
    pub has_times: bool,
}

/// The counts of the URLs of one host that one policy decided.
#[derive(Clone, Debug)]
pub(super) struct PolicyCounts {
    /// The number of the policy.
    pub policy: usize,
    pub urls: u64,
    /// The number of URLs that each class of agents must not fetch.
    pub disallowed: Vec<u64>,
}

impl Tally {
    pub fn new([rules, class_rules]: [usize; 2], agents: usize) -> Tally {
        let mut counts = Counts::default();
        // Origins without a policy are findings.
        counts.clear(agents, 0);
        counts.ask_preferences(&Label::ALL);
        Tally {
            counts,
            rules: vec![0; rules],
            class_rules: vec![0; class_rules],
            hosts: Map::default(),
            has_times: false,
        }
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: Tally) {
        self.counts.merge(&other.counts);
        add(&mut self.rules, &other.rules);
        add(&mut self.class_rules, &other.class_rules);
        self.add_hosts(other.hosts);
        self.has_times |= other.has_times;
    }

    fn add_hosts(&mut self, hosts: impl IntoIterator<Item = (Text, Vec<PolicyCounts>)>) {
        for (key, counts) in hosts {
            let sums = self.hosts.entry(key).or_default();
            for PolicyCounts { policy, urls, disallowed } in counts {
                let sum = of_policy(sums, policy, disallowed.len());
                sum.urls += urls;
                add(&mut sum.disallowed, &disallowed);
            }
        }
    }
}

/// Returns the counts of a policy with this number of classes, which are 0 if they are new.
fn of_policy(counts: &mut Vec<PolicyCounts>, policy: usize, classes: usize) -> &mut PolicyCounts {
    let found = counts.binary_search_by_key(&policy, |it| it.policy);
    let place = found.unwrap_or_else(|place| {
        counts.insert(place, PolicyCounts { policy, urls: 0, disallowed: vec![0; classes] });
        place
    });
    &mut counts[place]
}

/// Adds counters. Pages of memory in which all are 0 are not written, and so not taken.
fn add(counters: &mut [u64], others: &[u64]) {
    let counters = counters.iter_mut().zip(others).filter(|(_, other)| **other > 0);
    counters.for_each(|(count, other)| *count += other);
}

/// The findings of one chunk that depend on the order of the input.
#[derive(Debug, Default)]
pub struct ChunkFindings {
    samples: Vec<Sample>,
    /// Origins without a policy.
    unknown: NameCounts,
}

/// A URL that a rule decided.
#[derive(Debug)]
struct Sample {
    /// The counter of the rule.
    rule: usize,
    url: Text,
}

/// The findings of all chunks so far.
#[derive(Debug, Default)]
pub struct Findings {
    /// The first URLs that each rule decided, by the rule's counter.
    pub(super) samples: Map<usize, Vec<Text>>,
    pub(super) unknown: NameCounts,
}

impl Findings {
    /// Adds the findings of a chunk. Chunks must be added in the order of the input.
    pub fn add(&mut self, audit: &Audit, chunk: &ChunkFindings) {
        for Sample { rule, url } in &chunk.samples {
            let samples = self.samples.entry(*rule).or_default();
            if samples.len() < AUDIT_SAMPLES {
                samples.push(url.clone());
            }
            if samples.len() == AUDIT_SAMPLES {
                // Only later chunks can read this flag, and their samples are not needed.
                audit.set_has_samples(*rule);
            }
        }
        self.unknown.merge(&chunk.unknown, AUDIT_UNKNOWN_ORIGINS_MAX);
    }
}

/// The counting state of one thread of an [`Audit`]. Dropping it adds its counts to the audit.
#[derive(Debug)]
pub struct Worker<'a> {
    session: Session,
    counting: Counting<'a>,
}

/// The counts of a [`Worker`].
#[derive(Debug)]
struct Counting<'a> {
    audit: &'a Audit,
    tally: Tally,
    scratch: Vec<u8>,
    /// The number of samples in this chunk, by the counter of the rule.
    in_chunk: Map<usize, usize>,
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        // After a panic, a record may be partly counted, and the sum is not read.
        if !std::thread::panicking() {
            self.audit.tally().merge(std::mem::take(&mut self.tally));
        }
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(audit: &'a Audit, assumed_scheme: Option<&str>) -> Worker<'a> {
        let counting = Counting {
            audit,
            tally: audit.new_tally(),
            scratch: Vec::new(),
            in_chunk: Map::default(),
        };
        let session = Session::new(Arc::clone(&audit.classifier)).assume_scheme(assumed_scheme);
        Worker { session, counting }
    }

    /// Counts the records of a chunk and replaces `findings` with the chunk's findings.
    ///
    /// # Errors
    ///
    /// If the input, or a part of the set that is read, is damaged.
    pub fn work(
        &mut self,
        mut piece: Piece<'_, '_>,
        findings: &mut ChunkFindings,
    ) -> Result<(), ChunkError> {
        findings.samples.clear();
        findings.unknown.clear();
        let Worker { session, counting } = self;
        counting.in_chunk.clear();
        piece.read(0, |block, rejects| {
            let answers = decide_block(block, session, &mut counting.tally.counts, rejects)?;
            counting.block(block, &answers, findings)?;
            Ok::<bool, ChunkError>(true)
        })?;
        // A map of all hosts in each thread would take too much memory.
        counting.audit.tally().add_hosts(counting.tally.hosts.drain());
        Ok(session.classifier().set().is_whole()?)
    }
}

impl Counting<'_> {
    /// Counts the records of a block, origin by origin. As of times, the records of an origin may
    /// have different policies.
    fn block(
        &mut self,
        block: &[Record<'_>],
        answers: &Answers<'_>,
        findings: &mut ChunkFindings,
    ) -> Result<(), Damage> {
        let agents = answers.per_record();
        let decisions = answers.decisions_with_rules()?;
        self.tally.has_times |= answers.has_times();
        for OriginRecords { records, scheme, key } in answers.origins(block) {
            let mut start = records.start;
            for policies in answers.policies()[records].chunk_by(|one, next| one == next) {
                let records = &block[start..start + policies.len()];
                let decisions = &decisions[start * agents..(start + policies.len()) * agents];
                match policies[0] {
                    NO_URL => {}
                    NO_POLICY => self.unknown((scheme, key), decisions, findings),
                    policy => {
                        self.known((scheme, key), policy as usize, records, decisions, findings)?;
                    }
                }
                start += policies.len();
            }
        }
        Ok(())
    }

    /// Counts the URLs of one origin without a policy. An origin that was captured later, or is only
    /// asked about without a time, is not one to fetch.
    fn unknown(
        &mut self,
        (scheme, key): (&[u8], &[u8]),
        decisions: &[Decision],
        findings: &mut ChunkFindings,
    ) {
        // This reason does not depend on the agent.
        let of_records = decisions.iter().step_by(self.audit.classifier.agents().len());
        let urls = of_records.filter(|decision| decision.reason == Reason::NoPolicy).count() as u64;
        if urls > 0 {
            set_origin(scheme, key, &mut self.scratch);
            findings.unknown.add(&self.scratch, urls, usize::MAX);
        }
    }

    /// Counts the URLs of one origin that one policy decided.
    #[inline]
    fn known(
        &mut self,
        (scheme, key): (&[u8], &[u8]),
        number: usize,
        records: &[Record<'_>],
        decisions: &[Decision],
        findings: &mut ChunkFindings,
    ) -> Result<(), Damage> {
        let audit = self.audit;
        let is_of_web = [&b"http"[..], b"https"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
        let host = if audit.set.is_universal() {
            &b"*"[..]
        } else if is_of_web {
            key
        } else {
            set_origin(scheme, key, &mut self.scratch);
            self.scratch.as_slice()
        };
        let policy = audit.policies.get(number);
        let counts = self.tally.hosts.entry_ref(host).or_default();
        let counts = of_policy(counts, number, policy.agents.len());
        counts.urls += records.len() as u64;
        let agents = policy.class_of.len();
        for (record, decisions) in records.iter().zip(decisions.chunks_exact(agents)) {
            for (agent, disallowed) in policy.agents.iter().zip(&mut counts.disallowed) {
                let decision = &decisions[*agent];
                *disallowed += u64::from(decision.verdict == Verdict::Disallow);
            }
            let rules = (&mut self.tally.rules[..], &mut self.tally.class_rules[..]);
            decided(policy, decisions, rules, |rule| {
                // Earlier chunks may have enough samples.
                if audit.has_samples(rule) {
                    return;
                }
                let in_chunk = self.in_chunk.entry(rule).or_default();
                if *in_chunk < AUDIT_SAMPLES {
                    *in_chunk += 1;
                    let url = cut_to_show(record.url()).into();
                    findings.samples.push(Sample { rule, url });
                }
            })
            .ok_or_else(|| audit.misfiled())?;
        }
        Ok(())
    }
}

/// Counts a URL for each rule that decided it, and calls `first` with the rule's counter. `None` if
/// a rule has no counter.
#[inline]
fn decided(
    policy: Classified<'_>,
    decisions: &[Decision],
    (rules, class_rules): (&mut [u64], &mut [u64]),
    mut first: impl FnMut(usize),
) -> Option<()> {
    for (class, agent) in policy.agents.iter().enumerate() {
        let Some(rule) = decisions[*agent].rule else { continue };
        class_rules[policy.rules[class].counter(rule)?] += 1;
        // A rule that decided a URL for several classes counts the URL once.
        let mut earlier = policy.agents[..class].iter();
        if !earlier.any(|agent| decisions[*agent].rule == Some(rule)) {
            let counter = policy.policy.rules.counter(rule)?;
            rules[counter] += 1;
            first(counter);
        }
    }
    Some(())
}

/// Sets `out` to `scheme://key`, with the scheme in lower case.
fn set_origin(scheme: &[u8], key: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
    out.extend_from_slice(key);
}
