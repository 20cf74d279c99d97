//! A judge for the tests of the formats.

use std::convert::Infallible;

use crate::decision::{Decision, Reason, Verdict};
use crate::id::{LineNumber, RuleID};
use crate::input::Record;

use super::{Judge, Provenance, Witness};

/// Judges by the first octet: `a` allow, `d` disallow, `u` unknown, else invalid; a second agent is
/// told the opposite of allow and disallow.
pub(super) struct FirstOctet {
    agents: usize,
    decisions: Vec<Decision>,
    /// Whether the records that were judged last are ASCII.
    are_text: Vec<bool>,
}

impl FirstOctet {
    pub(super) fn new(agents: usize) -> FirstOctet {
        FirstOctet { agents, decisions: Vec::new(), are_text: Vec::new() }
    }
}

fn decision(first: Option<&u8>, agent: usize) -> Decision {
    match (first, agent) {
        (Some(b'a'), 0) | (Some(b'd'), 1..) => {
            Decision::without_rule(Verdict::Allow, Reason::NoRule)
        }
        (Some(b'd'), 0) | (Some(b'a'), 1..) => Decision {
            verdict: Verdict::Disallow,
            reason: Reason::Rule,
            rule: Some(RuleID(0)),
            line: LineNumber::new(3),
        },
        (Some(b'u'), _) => Decision::UNKNOWN,
        _ => Decision::INVALID,
    }
}

impl Judge for FirstOctet {
    type Failure = Infallible;

    fn judge(&mut self, records: &[Record<'_>]) -> Result<&[Decision], Infallible> {
        self.decisions.clear();
        self.are_text.clear();
        for record in records {
            let agents = 0..self.agents;
            self.decisions.extend(agents.map(|agent| decision(record.text().first(), agent)));
            self.are_text.push(record.text().is_ascii());
        }
        Ok(&self.decisions)
    }
}

impl Witness for FirstOctet {
    fn provenance(&mut self, record: usize, agent: usize) -> Result<Provenance<'_>, Infallible> {
        if self.decisions[record * self.agents + agent].rule.is_none() {
            return Ok(Provenance::default());
        }
        let rule: &[u8] = if self.are_text[record] { b"Disallow: /d" } else { b"Disallow: /\xff" };
        Ok(Provenance { rule: Some(rule), group: Some(b"bot") })
    }
}
