//! A judge for the tests of the formats.

use crate::decision::{Decision, Reason, Verdict};
use crate::id::{LineNumber, RuleID};

use super::{Judge, Provenance, Witness};

/// Judges by the first octet: `a` allow, `d` disallow, `u` unknown, else invalid; a second agent is
/// told the opposite of allow and disallow.
pub(super) struct FirstOctet {
    decisions: Vec<Decision>,
    /// Whether the record that was judged last is ASCII.
    is_text: bool,
}

impl FirstOctet {
    pub(super) fn new(agents: usize) -> FirstOctet {
        FirstOctet { decisions: vec![Decision::INVALID; agents], is_text: true }
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
    fn judge(&mut self, record: &[u8]) -> &[Decision] {
        self.is_text = record.is_ascii();
        for (agent, slot) in self.decisions.iter_mut().enumerate() {
            *slot = decision(record.first(), agent);
        }
        &self.decisions
    }
}

impl Witness for FirstOctet {
    fn provenance(&self, agent: usize) -> Provenance<'_> {
        if self.decisions[agent].rule.is_none() {
            return Provenance::default();
        }
        let rule: &[u8] = if self.is_text { b"Disallow: /d" } else { b"Disallow: /\xff" };
        Provenance { rule: Some(rule), group: Some(b"bot") }
    }
}
