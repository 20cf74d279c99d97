//! Crawlers that read answers in another way than the dialect: the answers of a block that differ for them.
//!
//! Stage 2 finds the policy of an origin, which all agents share. Where a crawler reads something in its
//! place ([`Read`]), its answers are replaced after the block is decided: by one answer for every path, or
//! by the rules of the last file. The block of these is one of its own, so nothing changes for other agents.
//!
//! † The preferences about a page are read from the policy of the origin in any case.
//!
//! Cost: nothing without such a crawler; with one, a look at the capture of each host of a block, and with
//! times of each record. With an agent per record, a look at the capture of each record of such a crawler.

use std::ops::Range;

use portcullis_dialect::decision::{Answer, Reason, Verdict};
use portcullis_engine::Outcome;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::WithoutFile;

use super::asking::{Asked, Entries, EntryNumber};
use super::classifier::Classifier;
use super::crawlers::RecordAgents;
use super::pieces::Pieces;
use super::times::{Found, Times};
use crate::Damage;
use crate::stored::{Failures, PolicyNumber, Read, RecordPolicy, StoredCapture};

/// Timelines whose failures a session keeps: 256.
///
/// Source: our choice. Records of more origins in turn, with long failures each, read these again.
const FAILURES_KEPT: usize = 256;

/// The answers that come from copies, and the memory to decide them.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    block: Asked,
    /// The answers, ascending, with the policies of the copies and the agents.
    answers: Vec<(usize, PolicyNumber, usize)>,
    /// The answers of the block to each question.
    columns: usize,
    /// The failures of the timelines that were asked about last, by the number of the timeline.
    failures: Vec<Failures>,
}

impl Copies {
    /// Returns the policy that an answer comes from, the agent, the place of the deciding rule group and the
    /// pattern; `None` if the policy of its record decides.
    pub fn of(&self, answer: usize) -> Option<(PolicyNumber, usize, (usize, Option<usize>))> {
        let place = self.answers.binary_search_by_key(&answer, |(answer, ..)| *answer).ok()?;
        let (_, policy, agent) = self.answers[place];
        let answer = self.answer(place, agent);
        let outcome: Outcome = self.block.outcomes()[answer];
        Some((policy, agent, (self.block.deciding_part(answer, self.columns), outcome.pattern())))
    }

    /// Returns the answer of the block to a question, for an agent.
    fn answer(&self, place: usize, agent: usize) -> usize {
        place * self.columns + agent % self.columns
    }

    /// Returns the bytes held by automata.
    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes()
    }
}

/// A block that was decided by the policies of origins.
#[derive(Clone, Copy)]
pub(super) struct Decided<'b> {
    pub policies: &'b [RecordPolicy],
    pub paths: &'b [&'b [u8]],
    pub pieces: &'b Pieces,
    pub found: &'b [Found],
    pub times: Times<'b>,
    pub agents: &'b RecordAgents,
}

impl Classifier {
    /// Replaces the answers of agents that read something else than the policies of a block.
    #[inline(never)]
    pub(super) fn read_otherwise(
        &self,
        decided: Decided<'_>,
        decisions: &mut [Answer],
        copies: &mut Copies,
    ) -> Result<(), Damage> {
        copies.answers.clear();
        if self.readers.is_empty() {
            return Ok(());
        }
        for number in 0..decided.pieces.hosts().len() {
            let urls = decided.pieces.urls_of_host(number);
            if decided.policies[urls.start] == RecordPolicy::NO_URL {
                continue;
            }
            // At one time, all agents read the same on all URLs of a host.
            if self.crawlers.is_none() && decided.found.is_empty() {
                self.replace(decided, urls, &self.readers, decisions, copies)?;
                continue;
            }
            for url in urls {
                let readers = self.readers_of(url, decided.agents);
                if readers.is_empty() {
                    continue;
                }
                self.replace(decided, url..url + 1, readers, decisions, copies)?;
            }
        }
        if copies.answers.is_empty() {
            return Ok(());
        }
        copies.answers.sort_unstable_by_key(|(answer, ..)| *answer);
        copies.columns = self.answers_per_record();
        let path =
            |(answer, ..): &(usize, PolicyNumber, usize)| decided.paths[answer / copies.columns];
        let paths: Vec<&[u8]> = copies.answers.iter().map(path).collect();
        self.decide_copies(&paths, copies)?;
        for (place, &(answer, _, agent)) in copies.answers.iter().enumerate() {
            decisions[answer] = copies.block.decisions[copies.answer(place, agent)];
        }
        Ok(())
    }

    /// Decides the questions about copies: for all agents, because they share answers, or for that of each
    /// record.
    fn decide_copies(&self, paths: &[&[u8]], copies: &mut Copies) -> Result<(), Damage> {
        let Copies { block, answers, .. } = copies;
        match self.crawlers {
            None => {
                let policies: Vec<RecordPolicy> =
                    answers.iter().map(|&(_, policy, _)| policy.into()).collect();
                self.decide(&policies, paths, block)
            }
            Some(_) => {
                let entry = |&(_, policy, agent): &(_, PolicyNumber, _)| self.entry(policy, agent);
                let entries: Vec<EntryNumber> = answers.iter().map(entry).collect();
                self.decide_by(Entries::Each(&entries), paths, block, || {
                    self.resolve_entries(&entries)
                })
            }
        }
    }

    /// Returns the readers among the agents that the answers on a record are for.
    fn readers_of(&self, record: usize, agents: &RecordAgents) -> &[usize] {
        if self.crawlers.is_none() {
            return &self.readers;
        }
        // Few agents are readers, and a search among them takes longer.
        let agent = agents
            .of(record)
            .filter(|agent| self.agents[*agent].reading().without_file != WithoutFile::AsDialect);
        let place = agent.and_then(|agent| self.readers.binary_search(&agent).ok());
        place.map_or(&[], |place| &self.readers[place..=place])
    }

    /// Returns what one agent reads instead of the policy of an origin.
    pub(super) fn read_of(
        &self,
        agent: usize,
        (scheme, key): (&[u8], &[u8]),
        (policy, capture): (PolicyNumber, &StoredCapture<'_>),
        at: Option<UnixSeconds>,
    ) -> Result<Option<Read>, Damage> {
        let reading = self.agents[agent].reading();
        if reading.without_file == WithoutFile::AsDialect {
            return Ok(None);
        }
        let timeline = self.set.timeline_of(scheme, key)?;
        let at = at.or(self.at).unwrap_or_else(|| self.newest(capture));
        let timeline = timeline.as_ref().map(|timeline| (timeline, at));
        capture.read_by(reading, policy, timeline, &mut Failures::default())
    }

    /// Returns the time of the newest policies: that as of which the set was settled, as for the dialect.
    /// Without it, nobody knows what time now is; it is no earlier than the newest capture.
    fn newest(&self, capture: &StoredCapture<'_>) -> UnixSeconds {
        let begins_at = capture.facts.begins_at();
        self.settled_at.map_or(begins_at, |settled_at| settled_at.max(begins_at))
    }

    /// Replaces the answers on some records of one capture, for some agents, by what these read.
    fn replace(
        &self,
        Decided { policies, pieces, found, times, .. }: Decided<'_>,
        records: Range<usize>,
        readers: &[usize],
        decisions: &mut [Answer],
        copies: &mut Copies,
    ) -> Result<(), Damage> {
        let first = records.start;
        let capture = self.capture_of_record(pieces, policies, found, first)?;
        let Some((policy, capture)) = policies[first].number().zip(capture) else { return Ok(()) };
        let timeline = match (self.set.has_history(), found.get(first)) {
            (false, _) => None,
            (true, Some(Found::Moment(capture, _))) => Some(self.set.timeline(*capture)?),
            (true, _) => Some(self.set.timeline(self.capture_of(pieces.host_of_url(first))?)?),
        };
        let at = times.of(first).unwrap_or_else(|| self.newest(&capture));
        copies.failures.resize(FAILURES_KEPT, Failures::default());
        let number = timeline.as_ref().map_or(0, |timeline| timeline.capture() as usize);
        let known = &mut copies.failures[number % FAILURES_KEPT];
        let timeline = timeline.as_ref().map(|timeline| (timeline, at));
        let columns = self.answers_per_record();
        for &reader in readers {
            let reading = self.agents[reader].reading();
            let Some(read) = capture.read_by(reading, policy, timeline, known)? else {
                continue;
            };
            let column = if self.crawlers.is_none() { reader } else { 0 };
            for answer in records.clone().map(|record| record * columns + column) {
                match (read, decisions[answer].reason()) {
                    (_, Reason::RobotsTxt | Reason::BadUrl) => {}
                    (Read::Open(reason), _) => {
                        decisions[answer] = Answer::new(Verdict::Allow, reason);
                    }
                    (Read::Copy(policy), _) => copies.answers.push((answer, policy, reader)),
                }
            }
        }
        Ok(())
    }
}
