//! Records of a list whose verdict changes from one set of policies to another, one line per agent.
//!
//! TSV: the agent, the old verdict, the new verdict, what decided before, what decides now, and the
//! URL. What decides is `LINE:RULE`, with the rule's value as written in the file, or the reason if
//! no rule does (`no-policy`).
//!
//! JSON Lines: `{"url", "agent", "old", "new"}`, where `old` and `new` are
//! `{"verdict", "reason", "line", "rule", "group"}` as in [`json_lines`](super::super::json_lines).
//!
//! A record that keeps its verdict for another reason or by another rule is not reported.

use serde::Serialize;

use super::super::json_lines::{DecisionObject, Text, write_object};
use super::super::{Piece, bytes, has_room, in_blocks, tsv};
use super::{push_column, push_deciding};
use portcullis_capture::input::Terminator;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_matcher::bytes::push_percent_triplet;
use portcullis_set::Damage;
use portcullis_set::batch::{Provenance, Session};

/// Pairs of old and new verdicts for one agent, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerdictChanges([[u64; Verdict::ALL.len()]; Verdict::ALL.len()]);

impl VerdictChanges {
    /// Records with these verdicts.
    pub fn from_to(&self, old: Verdict, new: Verdict) -> u64 {
        self.0[old as usize][new as usize]
    }

    /// Records that keep their verdict.
    pub fn unchanged(&self) -> u64 {
        Verdict::ALL.iter().map(|&verdict| self.from_to(verdict, verdict)).sum()
    }

    /// Records whose verdict changes.
    pub fn changed(&self) -> u64 {
        self.0.iter().flatten().sum::<u64>() - self.unchanged()
    }
}

/// Records and changed verdicts. Counts of chunks add up to the same sum in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlCounts {
    /// Records, including empty ones.
    pub records: u64,
    /// Their bytes, including line ends.
    pub bytes: u64,
    agents: Vec<VerdictChanges>,
}

impl UrlCounts {
    /// Zero for this number of agents.
    pub fn new(agents: usize) -> UrlCounts {
        UrlCounts { agents: vec![VerdictChanges::default(); agents], ..UrlCounts::default() }
    }

    /// The counts of each agent, in the order of the agents.
    pub fn agents(&self) -> &[VerdictChanges] {
        &self.agents
    }

    /// Changed verdicts of all agents.
    pub fn changed(&self) -> u64 {
        self.agents.iter().map(VerdictChanges::changed).sum()
    }

    /// Adds the counts of another chunk.
    pub fn merge(&mut self, other: &UrlCounts) {
        self.records += other.records;
        self.bytes += other.bytes;
        if self.agents.len() < other.agents.len() {
            self.agents.resize(other.agents.len(), VerdictChanges::default());
        }
        for (agent, other) in self.agents.iter_mut().zip(&other.agents) {
            let counts = agent.0.as_flattened_mut().iter_mut();
            counts.zip(other.0.as_flattened()).for_each(|(count, other)| *count += other);
        }
    }
}

/// A decision, and its rule and group.
type Explained<'a> = (&'a Decision, Provenance<'a>);

/// An output format: how the change of a verdict is written.
pub trait Form {
    /// Appends the change of the verdict on `url` for an agent to `out`.
    fn write(
        &self,
        url: &[u8],
        agent: &str,
        old: Explained<'_>,
        new: Explained<'_>,
        out: &mut Vec<u8>,
    );
}

/// Tab-separated lines with the terminator of the input.
#[derive(Clone, Copy, Debug)]
pub struct Tsv(
    /// The terminator.
    pub Terminator,
);

/// JSON Lines.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines;

/// Appends each changed verdict to `out`, record by record.
///
/// Stops early if `out` has [`CHUNK_OUTPUT_BYTES_MAX`](portcullis_dialect::limits::CHUNK_OUTPUT_BYTES_MAX) per
/// agent; `counts` has the bytes of the records that are written.
///
/// # Errors
///
/// If a set is damaged; the changes before are written.
pub fn write_chunk(
    piece: Piece<'_>,
    agents: &[String],
    (old, new): (&mut Session<'_>, &mut Session<'_>),
    form: &dyn Form,
    counts: &mut UrlCounts,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let decided = (new.classifier(), new.assumed_scheme());
    let mut decisions = (Vec::new(), Vec::new());
    in_blocks(piece.records(), |block| {
        decisions.0.clear();
        decisions.0.extend_from_slice(old.decide(block)?);
        decisions.1.clear();
        decisions.1.extend_from_slice(new.decide(block)?);
        let count = block.len() * agents.len();
        assert_eq!((decisions.0.len(), decisions.1.len()), (count, count), "one for each agent");
        piece.rejects.add_block(block, &decisions.1, decided);
        counts.records += block.len() as u64;
        counts.bytes += bytes(block);
        let pairs = decisions.0.iter().zip(&decisions.1).enumerate();
        for (index, (before, after)) in pairs {
            let (record, agent) = (index / agents.len(), index % agents.len());
            counts.agents[agent].0[before.verdict as usize][after.verdict as usize] += 1;
            if before.verdict != after.verdict {
                let before = (before, old.provenance(record, agent)?);
                let after = (after, new.provenance(record, agent)?);
                form.write(block[record].url(), &agents[agent], before, after, out);
            }
        }
        Ok(has_room(out.len(), agents.len()))
    })
}

impl Form for Tsv {
    fn write(
        &self,
        url: &[u8],
        agent: &str,
        old: Explained<'_>,
        new: Explained<'_>,
        out: &mut Vec<u8>,
    ) {
        push_column(agent.as_bytes(), out);
        for (decision, _) in [old, new] {
            tsv::push_column(decision.verdict, out);
        }
        for (decision, provenance) in [old, new] {
            push_deciding(decision, provenance.rule, out);
            out.push(b'\t');
        }
        // A URL from JSON or CSV may have the byte that ends a line.
        for (number, part) in url.split(|&byte| byte == self.0.byte()).enumerate() {
            if number > 0 {
                push_percent_triplet(out, self.0.byte());
            }
            out.extend_from_slice(part);
        }
        out.push(self.0.byte());
    }
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    url: Text<'a>,
    agent: &'a str,
    old: DecisionObject<'a>,
    new: DecisionObject<'a>,
}

impl Form for JsonLines {
    fn write(
        &self,
        url: &[u8],
        agent: &str,
        old: Explained<'_>,
        new: Explained<'_>,
        out: &mut Vec<u8>,
    ) {
        let [old, new] = [old, new]
            .map(|(decision, provenance)| DecisionObject::with_group(decision, provenance));
        write_object(&Object { url: Text::uncut("url", Some(url)), agent, old, new }, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rejects;
    use crate::tests::{SCHEME, classifier, piece};

    /// The first letter of a host is its verdict by the old set, the second its verdict by the new
    /// one: allow, disallow or unknown.
    fn written(input: &[u8], agents: &[&str], form: &dyn Form) -> (String, UrlCounts) {
        let agents: Vec<String> = agents.iter().map(|&agent| agent.into()).collect();
        let old = classifier(&["aa", "ad"], &["du"], agents.len());
        let new = classifier(&["aa", "ua"], &["ad"], agents.len());
        let mut counts = UrlCounts::new(agents.len());
        let mut out = Vec::new();
        let sessions = (&mut Session::new(&old, SCHEME), &mut Session::new(&new, SCHEME));
        piece(input, Terminator::LineFeed, &mut Rejects::default(), |piece| {
            write_chunk(piece, &agents, sessions, form, &mut counts, &mut out)
        })
        .unwrap();
        (String::from_utf8_lossy(&out).into_owned(), counts)
    }

    const LINES: Tsv = Tsv(Terminator::LineFeed);

    #[test]
    fn changed_verdicts_are_in_input_order() {
        let (out, counts) = written(b"aa\nad\r\n\ndu\nua\nuu\n", &["One"], &LINES);
        let expected = "\
One\tallow\tdisallow\tno-rule\t3:/\tad
One\tdisallow\tunknown\t3:/\tno-policy\tdu
One\tunknown\tallow\tno-policy\tno-rule\tua
";
        assert_eq!(out, expected);
        assert_eq!((counts.records, counts.bytes, counts.changed()), (6, 17, 3));
        let one = &counts.agents()[0];
        assert_eq!((one.unchanged(), one.changed()), (3, 3));
        assert_eq!(one.from_to(Verdict::Disallow, Verdict::Unknown), 1);
        assert_eq!(one.from_to(Verdict::Allow, Verdict::Allow), 1);
    }

    #[test]
    fn agents_follow_one_another_for_each_record() {
        let (out, _) = written(b"ad\ndu\n", &["One", "Two\t"], &LINES);
        let agents: Vec<&str> = out.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(agents, ["One", "Two%09", "One", "Two%09"]);
    }

    #[test]
    fn objects_have_both_decisions() {
        let (out, _) = written(b"ad/\xff\n", &["One"], &JsonLines);
        let object: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(object["url"], "ad/\u{fffd}");
        assert_eq!(object["url_base64"], "YWQv/w==");
        assert_eq!((&object["agent"], &object["old"]["verdict"]), (&"One".into(), &"allow".into()));
        assert_eq!(object["old"]["rule"], serde_json::Value::Null);
        assert_eq!(object["new"]["reason"], "rule");
        assert_eq!((&object["new"]["line"], &object["new"]["group"]), (&4.into(), &"bot".into()));
        assert_eq!(object["new"]["rule"], "/\u{fffd}");
        assert!(object["new"]["rule_base64"].is_string());
    }

    #[test]
    fn the_cut_into_chunks_changes_nothing() {
        let input = b"ad\naa\ndu\n\nua\n";
        let (whole, counts) = written(input, &["One", "Two"], &LINES);
        for cut in [3, 6, 9, 10] {
            let (left, mut sum) = written(&input[..cut], &["One", "Two"], &LINES);
            let (right, other) = written(&input[cut..], &["One", "Two"], &LINES);
            sum.merge(&other);
            assert_eq!((left + &right, sum), (whole.clone(), counts.clone()));
        }
    }
}
