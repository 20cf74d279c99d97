//! The pass over the list: threads count chunks in parallel, and [`Findings`] merges them in input order,
//! so the result is the same for any number of threads.
//!
//! Cost per URL: one lookup of the host per run of URLs with one origin and one policy, and one for each
//! rule that decides the URL for some agent. Memory: some counters and a few URLs for each rule that
//! decides, and for each host that occurs and each of its policies. Agents with the same answers share a
//! counter, so most hosts and rules have one or two, whatever the number of agents.

use std::collections::BTreeSet;
use std::ops::Range;

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::id::RuleID;
use portcullis_dialect::usage::Label;
use portcullis_report::limits::SUMMARY_UNKNOWN_HOSTS_MAX;
use portcullis_report::{ChunkError, Counts, Figures, Piece};
use portcullis_rows::input::Record;
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, OriginRecords, Session};
use portcullis_set::stored::key_with_scheme;
use portcullis_text::visible::cut_to_show;

use crate::limits::{AUDIT_PRODUCTS_MAX, AUDIT_SAMPLES, AUDIT_STREAMS_MAX};
use crate::origins::{Map, is_of_web};
use crate::pace::{Paces, Requests};
use crate::products::Products;

/// Some of the agents, a bit for each.
type Agents = Vec<u64>;

/// A number of URLs for each set of agents that occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByAgents(Map<Agents, u64>);

impl ByAgents {
    fn add(&mut self, agents: &[u64], urls: u64) {
        *self.0.entry_ref(agents).or_default() += urls;
    }

    /// Returns the number of URLs.
    pub fn urls(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of URLs of each agent.
    pub fn of_each(&self, agents: usize) -> Vec<u64> {
        let of = |agent: usize| {
            let has =
                |of: &Agents| of.get(agent / 64).is_some_and(|it| it >> (agent % 64) & 1 == 1);
            self.0.iter().filter(|(of, _)| has(of)).map(|(_, urls)| urls).sum()
        };
        (0..agents).map(of).collect()
    }
}

/// The counts of the URLs of one host. Agents are those of the classifier, also if each record has its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostCounts {
    pub records: u64,
    /// The URLs that each policy decided, by number. The last file that a crawler reads instead of a policy
    /// counts too.
    pub policies: Figures<u64, u32>,
    /// The URLs that some agents must not fetch.
    pub disallowed: ByAgents,
}

/// The URLs that a rule decided, by the agents for which it did, and the first of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleCounts {
    pub urls: ByAgents,
    pub samples: Vec<Vec<u8>>,
}

/// The counts of a list, or of a chunk of it.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The decisions.
    pub counts: Counts,
    /// The hosts of URLs with a known policy, by key.
    pub(crate) hosts: Map<Vec<u8>, HostCounts>,
    /// The rules that decided a URL, by policy and number.
    pub(crate) rules: Map<(u32, RuleID), RuleCounts>,
    /// Whether other policies than the newest decided: as of a time, or as the last file of a crawler.
    pub(crate) has_earlier: bool,
    /// The requests of a chunk, and how soon all came. Empty unless each record has an agent of its own.
    requests: Requests,
    pub(crate) paces: Paces,
    pub(crate) products: Products,
}

impl Findings {
    /// Adds the findings of the next chunk in the order of the input, which has none afterwards.
    pub fn add(&mut self, chunk: &mut Findings) {
        self.counts.merge(&chunk.counts);
        self.has_earlier |= chunk.has_earlier;
        self.paces.add(&mut chunk.requests, AUDIT_STREAMS_MAX);
        self.products.add(&mut chunk.products, AUDIT_PRODUCTS_MAX);
        for (key, HostCounts { records, policies, disallowed }) in chunk.hosts.drain() {
            let host = self.hosts.entry(key).or_default();
            host.records += records;
            host.policies.merge(&policies);
            disallowed.0.iter().for_each(|(agents, urls)| host.disallowed.add(agents, *urls));
        }
        for (key, RuleCounts { urls, samples }) in chunk.rules.drain() {
            let rule = self.rules.entry(key).or_default();
            urls.0.iter().for_each(|(agents, urls)| rule.urls.add(agents, *urls));
            let room = AUDIT_SAMPLES - rule.samples.len();
            rule.samples.extend(samples.into_iter().take(room));
        }
    }
}

/// The counting state of one thread of an [`Audit`](crate::Audit).
#[derive(Debug)]
pub struct Worker {
    session: Session,
    /// The agents that must not fetch a URL.
    disallowed: Agents,
    /// The rules that decided a URL, with their policies, and for which agents.
    decided: Vec<((u32, RuleID), Agents)>,
    /// The last files that agents read instead of the policy of a URL.
    copies: BTreeSet<u32>,
}

impl Worker {
    pub(crate) fn new(session: Session) -> Worker {
        Worker { session, disallowed: Vec::new(), decided: Vec::new(), copies: BTreeSet::new() }
    }

    /// Counts the records of a chunk and replaces `found` with what is found.
    ///
    /// # Errors
    ///
    /// If the input, or a part of the set that is read, is damaged.
    pub fn work(&mut self, piece: Piece<'_, '_>, found: &mut Findings) -> Result<(), ChunkError> {
        let Worker { session, disallowed, decided, copies } = self;
        let Findings { counts, hosts, rules, has_earlier, requests, products, .. } = found;
        let has_own_agents = session.classifier().has_agent_per_record();
        counts.clear(session.classifier().answers_per_record(), SUMMARY_UNKNOWN_HOSTS_MAX);
        if !has_own_agents {
            counts.ask_preferences(&Label::ALL);
        }
        requests.begin(piece.rows.list_number());
        products.clear();
        hosts.clear();
        rules.clear();
        *has_earlier = false;
        let [_, has_clients] = piece.rows.list().visit_parts();
        piece.work(session, counts).decide(0, |block, mut answers, _| {
            *has_earlier |= answers.has_times();
            each_host(block, &answers, |host, policy, records, decisions| {
                let host = hosts.entry_ref(host).or_default();
                host.records += records.len() as u64;
                host.policies.add(policy, records.len() as u64);
                let agents = answers.per_record();
                for (record, decisions) in records.zip(decisions.chunks_exact(agents)) {
                    // Nothing is decided without an agent.
                    let first = if has_own_agents { answers.agent(record).unwrap_or(0) } else { 0 };
                    let copy = |number: usize| Some(answers.copy_read(record * agents + number)?.0);
                    let policy_of = |number| copy(number).unwrap_or(policy);
                    sort((decisions, policy_of), first, disallowed, decided);
                    copies.extend((0..agents).filter_map(copy));
                    *has_earlier |= !copies.is_empty();
                    while let Some(copy) = copies.pop_first() {
                        host.policies.add(copy, 1);
                    }
                    if disallowed.iter().any(|agents| *agents != 0) {
                        host.disallowed.add(disallowed, 1);
                    }
                    for (rule, agents) in &*decided {
                        let rule = rules.entry(*rule).or_default();
                        rule.urls.add(agents, 1);
                        if rule.samples.len() < AUDIT_SAMPLES {
                            rule.samples.push(cut_to_show(block[record].url()).into());
                        }
                    }
                }
            })?;
            if has_own_agents {
                requests.add(block, &mut answers, has_clients)?;
                products.add_block(block, &answers);
            }
            Ok(true)
        })
    }
}

/// Calls `with` for the records of each host and policy in a block. As of times, the records of an origin
/// may have different policies.
fn each_host(
    block: &[Record<'_>],
    answers: &Answers<'_>,
    mut with: impl FnMut(&[u8], u32, Range<usize>, &[Decision]),
) -> Result<(), Damage> {
    let agents = answers.per_record();
    let decisions = answers.decisions_with_rules()?;
    let is_universal = answers.session().classifier().set().is_universal();
    for OriginRecords { records, scheme, key } in answers.origins(block) {
        let with_scheme = (!is_of_web(scheme)).then(|| key_with_scheme(scheme, key));
        let host = if is_universal { b"*" } else { with_scheme.as_deref().unwrap_or(key) };
        let mut start = records.start;
        for policies in answers.policies()[records].chunk_by(|one, next| one == next) {
            let end = start + policies.len();
            if let Some(policy) = policies[0].number() {
                let decisions = &decisions[start * agents..end * agents];
                with(host, policy.0, start..end, decisions);
            }
            start = end;
        }
    }
    Ok(())
}

/// Finds the agents that must not fetch a URL, and the rules that decided it, each in the policy of its decision.
/// The decisions are for the agents from number `first`.
fn sort(
    (decisions, policy_of): (&[Decision], impl Fn(usize) -> u32),
    first: usize,
    disallowed: &mut Agents,
    decided: &mut Vec<((u32, RuleID), Agents)>,
) {
    let words = (first + decisions.len()).div_ceil(64);
    disallowed.clear();
    disallowed.resize(words, 0);
    decided.clear();
    for (number, decision) in decisions.iter().enumerate() {
        let agent = first + number;
        let (word, bit) = (agent / 64, 1 << (agent % 64));
        if decision.verdict == Verdict::Disallow {
            disallowed[word] |= bit;
        }
        let Some(rule) = decision.rule.map(|rule| (policy_of(number), rule)) else { continue };
        let place = decided.iter().position(|(other, _)| *other == rule);
        let place = place.unwrap_or_else(|| {
            decided.push((rule, vec![0; words]));
            decided.len() - 1
        });
        decided[place].1[word] |= bit;
    }
}
