//! What was ingested, counted.

use rayon::prelude::*;

use crate::access::UnixSeconds;
use crate::capture::CaptureNote;
use crate::decision::PolicyState;
use crate::syntax::{NoteKind, RobotsTxt};

use super::super::pool::{BlobID, BlobPool};
use super::super::standing::{CaptureFacts, Content, HostStanding, Standing};
use super::settle::standings;

/// Hosts that are counted by one thread before it looks for other work.
const HOSTS_AT_ONCE: usize = 4_096;

/// Counts of origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandingCounts {
    /// Hosts.
    pub hosts: u64,
    /// Origins of which something is known.
    pub origins: u64,
    /// Origins whose file, or whose answer, was found behind a redirect.
    pub redirected: u64,
    /// Origins that are in an outage.
    pub in_outage: u64,
    /// The dates of the oldest and the newest capture that counts, if any of them has one.
    pub captured: Option<(UnixSeconds, UnixSeconds)>,
    states: [u64; PolicyState::ALL.len()],
    capture_notes: [u64; CaptureNote::ALL.len()],
    file_notes: [u64; NoteKind::ALL.len()],
}

impl StandingCounts {
    /// Counts the origins of `hosts`, whose blobs are in `pool`.
    pub fn of(hosts: &[HostStanding], pool: &BlobPool) -> StandingCounts {
        let has_rules = rule_marks(hosts, pool);
        let count = |hosts: &[HostStanding]| {
            let mut counts = StandingCounts { hosts: hosts.len() as u64, ..Default::default() };
            for standing in hosts.iter().flat_map(standings) {
                counts.add(standing, &has_rules);
            }
            counts
        };
        let parts = hosts.par_chunks(HOSTS_AT_ONCE).map(count);
        parts.reduce(StandingCounts::default, StandingCounts::plus)
    }

    /// Origins in this state.
    pub fn in_state(&self, state: PolicyState) -> u64 {
        self.states[state as usize]
    }

    /// Origins whose answer has this note.
    pub fn with_capture_note(&self, note: CaptureNote) -> u64 {
        self.capture_notes[note as usize]
    }

    /// Origins whose file has this note.
    pub fn with_file_note(&self, note: NoteKind) -> u64 {
        self.file_notes[note as usize]
    }

    fn add(&mut self, standing: &Standing, has_rules: &[bool]) {
        let state = match standing.content {
            Content::File { extract, .. } if has_rules[extract.index()] => PolicyState::Rules,
            Content::File { .. } => PolicyState::NoRules,
            Content::Access(outcome) => outcome.state,
        };
        self.add_origin(state, &standing.facts);
    }

    /// Counts an origin in this state, of which this is known.
    pub(in crate::set) fn add_origin(&mut self, state: PolicyState, facts: &CaptureFacts) {
        let CaptureFacts { captured_at, redirects_followed, capture_notes, file_notes, .. } =
            *facts;
        self.origins += 1;
        self.in_outage += u64::from(facts.outage.is_some());
        self.redirected += u64::from(redirects_followed > 0);
        self.captured = span(self.captured, captured_at.map(|at| (at, at)));
        self.states[state as usize] += 1;
        capture_notes.iter().for_each(|note| self.capture_notes[note as usize] += 1);
        file_notes.kinds().for_each(|kind| self.file_notes[kind as usize] += 1);
    }

    fn plus(mut self, other: StandingCounts) -> StandingCounts {
        fn add<const N: usize>(counts: &mut [u64; N], others: [u64; N]) {
            counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
        }
        self.hosts += other.hosts;
        self.origins += other.origins;
        self.redirected += other.redirected;
        self.in_outage += other.in_outage;
        self.captured = span(self.captured, other.captured);
        add(&mut self.states, other.states);
        add(&mut self.capture_notes, other.capture_notes);
        add(&mut self.file_notes, other.file_notes);
        self
    }
}

/// By blob: whether it is the extract of some host and has a rule.
fn rule_marks(hosts: &[HostStanding], pool: &BlobPool) -> Vec<bool> {
    let mut extracts: Vec<BlobID> = Vec::new();
    let mut seen = vec![false; pool.places()];
    for standing in hosts.iter().flat_map(standings) {
        if let Content::File { extract, .. } = standing.content
            && !std::mem::replace(&mut seen[extract.index()], true)
        {
            extracts.push(extract);
        }
    }
    let has_rule = |&extract: &BlobID| {
        let file = RobotsTxt::read_extract(pool.get(extract));
        file.is_some_and(|file| !file.rules().is_empty())
    };
    let marks: Vec<bool> = extracts.par_iter().map(has_rule).collect();
    extracts.iter().zip(marks).for_each(|(extract, mark)| seen[extract.index()] = mark);
    seen
}

type Dates = (UnixSeconds, UnixSeconds);

/// The shortest span that has both in it.
pub(super) fn span(one: Option<Dates>, other: Option<Dates>) -> Option<Dates> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}
