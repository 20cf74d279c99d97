//! Crawlers that read answers in another way than the dialect: the answers of a block that differ for them.
//!
//! Stage 2 finds the policy of an origin, which all agents share. Where a crawler reads something in its
//! place ([`Read`]), its answers are replaced after the block is decided: by one answer for every path, or
//! by the rules of the last file. The block of these is one of its own, so nothing changes for other agents.
//!
//! † The preferences about a page are read from the policy of the origin in any case.
//!
//! Cost: nothing without such a crawler; with one, a look at the capture of each host of a block, and with
//! times of each record.

use std::ops::Range;

use portcullis_dialect::decision::{Answer, Reason, Verdict};
use portcullis_engine::Outcome;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::policy::WithoutFile;

use super::asking::{Asked, Entries, EntryNumber, NO_URL};
use super::classifier::Classifier;
use super::crawlers::RecordAgents;
use super::pieces::Pieces;
use super::times::{Found, Times};
use crate::Damage;
use crate::stored::{PolicyNumber, Read, StoredCapture, StoredTimeline};

/// The answers that come from copies, and the memory to decide them.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    block: Asked,
    /// The answers, ascending, with the policies of the copies and the agents.
    answers: Vec<(usize, PolicyNumber, usize)>,
    /// The answers of the block to each question.
    columns: usize,
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

    /// Forgets the answers.
    pub fn clear(&mut self) {
        self.answers.clear();
    }
}

/// A block that was decided by the policies of origins.
#[derive(Clone, Copy)]
pub(super) struct Decided<'b> {
    pub policies: &'b [u32],
    pub paths: &'b [&'b [u8]],
    pub pieces: &'b Pieces,
    pub found: &'b [Found],
    pub times: Times<'b>,
    pub agents: &'b RecordAgents,
}

impl Classifier {
    /// Replaces the answers of agents that read something else than the policies of a block.
    #[inline]
    pub(super) fn read_otherwise(
        &self,
        decided: Decided<'_>,
        decisions: &mut [Answer],
        copies: &mut Copies,
    ) -> Result<(), Damage> {
        copies.clear();
        match self.readers.is_empty() {
            true => Ok(()),
            false => self.replace_answers(decided, decisions, copies),
        }
    }

    #[inline(never)]
    fn replace_answers(
        &self,
        decided: Decided<'_>,
        decisions: &mut [Answer],
        copies: &mut Copies,
    ) -> Result<(), Damage> {
        let mut reads = Vec::with_capacity(self.readers.len());
        for number in 0..decided.pieces.hosts().len() {
            let urls = decided.pieces.urls_of_host(number);
            if decided.policies[urls.start] == NO_URL {
                continue;
            }
            match decided.found.is_empty() {
                true => {
                    self.reads_of(decided, urls.start, &mut reads)?;
                    self.replace(decided, urls, &reads, decisions, copies);
                }
                false => {
                    for url in urls {
                        self.reads_of(decided, url, &mut reads)?;
                        self.replace(decided, url..url + 1, &reads, decisions, copies);
                    }
                }
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
                let policies: Vec<u32> = answers.iter().map(|(_, policy, _)| policy.0).collect();
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

    /// Finds what each reader reads in place of the policy of a record.
    fn reads_of(
        &self,
        Decided { policies, pieces, found, times, .. }: Decided<'_>,
        record: usize,
        reads: &mut Vec<Option<Read>>,
    ) -> Result<(), Damage> {
        reads.clear();
        let Some(capture) = self.capture_of_record(pieces, policies, found, record)? else {
            return Ok(());
        };
        let number = match found.get(record) {
            Some(Found::Moment(capture, _)) => *capture,
            _ => self.capture_of(pieces.host_of_url(record))?,
        };
        let timeline = self.set.has_history().then(|| self.set.timeline(number)).transpose()?;
        let policy = PolicyNumber(policies[record]);
        self.reads(policy, &capture, timeline.as_ref(), times.of(record), reads)
    }

    /// Appends what each reader reads in place of a policy, as of a time or now.
    fn reads<'s>(
        &'s self,
        policy: PolicyNumber,
        capture: &StoredCapture<'s>,
        timeline: Option<&StoredTimeline<'s>>,
        at: Option<UnixSeconds>,
        reads: &mut Vec<Option<Read>>,
    ) -> Result<(), Damage> {
        // Nobody knows what time now is; it is no earlier than the newest capture.
        let at = at.unwrap_or_else(|| capture.facts.begins_at());
        let timeline = timeline.map(|timeline| (timeline, at));
        for &reader in &self.readers {
            reads.push(capture.read_by(self.agents[reader].reading(), policy, timeline)?);
        }
        Ok(())
    }

    /// Returns what one agent reads in place of the policy of an origin.
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
        let at = at.or(self.at).unwrap_or_else(|| capture.facts.begins_at());
        capture.read_by(reading, policy, timeline.as_ref().map(|timeline| (timeline, at)))
    }

    /// Replaces the answers on some records by what readers read.
    fn replace(
        &self,
        Decided { agents, .. }: Decided<'_>,
        records: Range<usize>,
        reads: &[Option<Read>],
        decisions: &mut [Answer],
        copies: &mut Copies,
    ) {
        let columns = self.answers_per_record();
        for (&reader, read) in self.readers.iter().zip(reads) {
            let Some(read) = *read else { continue };
            for record in records.clone() {
                let answer = match self.crawlers {
                    None => record * columns + reader,
                    Some(_) if agents.of(record) == reader as u32 => record,
                    Some(_) => continue,
                };
                match (read, decisions[answer].reason()) {
                    (_, Reason::RobotsTxt | Reason::BadUrl) => {}
                    (Read::Open(reason), _) => {
                        decisions[answer] = Answer::new(Verdict::Allow, reason);
                    }
                    (Read::Copy(policy), _) => copies.answers.push((answer, policy, reader)),
                }
            }
        }
    }
}
