//! Writes the records of a list whose verdict or usage preference changes from one policy set to
//! another, one line per agent.
//!
//! TSV: the agent, the old verdict, the new verdict, the old deciding rule, the new deciding rule,
//! and the URL. A deciding rule is `LINE:RULE`, with the rule's value as written in the file, or
//! the reason if no rule decides (`no-policy`). If labels are compared, a column after the agent
//! says what changed: `access` or the label. For a label, `y`, `n`, `?` (not stated) or `-` (no
//! access) replace the verdicts. The deciding rule is replaced by `LINE:VALUE` of the statement,
//! `unstated`, or for `-` the deciding rule about access.
//!
//! JSON Lines: `{"url", "agent", "old", "new"}`, where `old` and `new` are `{"verdict", "reason",
//! "line", "rule", "group"}` as in [`json_lines`](super::super::json_lines). For a label, both are
//! `{"preference", "source", "line", "rule"}`, and a member `label` follows the agent.
//!
//! A record that keeps its verdict for a different reason or by a different rule is not reported.
//! Neither is a preference that is stated in a different place.

use serde::Serialize;

use super::super::json_lines::{DecisionObject, Text, write_object};
use super::super::{ChunkError, Piece, bytes};
use super::{push_column, push_deciding, push_stated};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::bytes::push_percent_triplet;
use portcullis_io::input::Terminator;
use portcullis_set::batch::{FullDecision, Session, StatedPlace};

/// The number of records by old and new verdict, or by old and new preference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns([[u64; VALUES]; VALUES]);

/// The number of verdicts, which equals the number of preferences.
const VALUES: usize = Verdict::ALL.len();
const _: () = assert!(VALUES == Preference::ALL.len());

impl Turns {
    /// Returns the number of records that change from `old` to `new`, both given by number.
    pub fn from_to(&self, old: usize, new: usize) -> u64 {
        self.0[old][new]
    }

    /// Returns the number of records that keep their value.
    pub fn unchanged(&self) -> u64 {
        (0..VALUES).map(|value| self.from_to(value, value)).sum()
    }

    /// Returns the number of records whose value changes.
    pub fn changed(&self) -> u64 {
        self.0.as_flattened().iter().sum::<u64>() - self.unchanged()
    }
}

/// The changes for one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentChanges {
    /// The changes of verdicts.
    pub verdicts: Turns,
    /// The changes of preferences, by compared label.
    pub labels: Vec<Turns>,
}

impl AgentChanges {
    /// Returns the number of verdicts and preferences that changed.
    pub fn changed(&self) -> u64 {
        self.verdicts.changed() + self.labels.iter().map(Turns::changed).sum::<u64>()
    }
}

/// The number of records and changes. Counts of chunks may be added in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlCounts {
    /// The number of records, including empty ones.
    pub records: u64,
    /// The bytes of the records, including line ends.
    pub bytes: u64,
    /// The changes by agent, in the order of the agents.
    pub agents: Vec<AgentChanges>,
}

impl UrlCounts {
    /// Returns counts of zero for this number of agents and labels.
    pub fn new(agents: usize, labels: usize) -> UrlCounts {
        let none =
            AgentChanges { verdicts: Turns::default(), labels: vec![Turns::default(); labels] };
        UrlCounts { agents: vec![none; agents], ..UrlCounts::default() }
    }

    /// Returns the number of changed verdicts and preferences of all agents.
    pub fn changed(&self) -> u64 {
        self.agents.iter().map(AgentChanges::changed).sum()
    }

    /// Adds the counts of another chunk with the same agents and labels.
    pub fn merge(&mut self, other: &UrlCounts) {
        self.records += other.records;
        self.bytes += other.bytes;
        for (agent, other) in self.agents.iter_mut().zip(&other.agents) {
            let own = std::iter::once(&mut agent.verdicts).chain(&mut agent.labels);
            for (turns, other) in own.zip(std::iter::once(&other.verdicts).chain(&other.labels)) {
                let counts = turns.0.as_flattened_mut().iter_mut();
                counts.zip(other.0.as_flattened()).for_each(|(count, other)| *count += other);
            }
        }
    }
}

/// A change, with the values on both sides.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// The verdict.
    Access([FullDecision<'a>; 2]),
    /// The preference about a label.
    Usage(Label, [Stated<'a>; 2]),
}

/// A preference, the place of its statement if there is one, and the decision about access.
pub type Stated<'a> = (Preference, Option<&'a StatedPlace>, FullDecision<'a>);

/// An output format for changes.
pub trait Form {
    /// Appends the change for a URL and an agent to `out`.
    fn write(&self, url: &[u8], agent: &str, what: What<'_>, out: &mut Vec<u8>);
}

/// Tab-separated lines with the terminator of the input.
#[derive(Clone, Copy, Debug)]
pub struct Tsv {
    /// The terminator.
    pub terminator: Terminator,
    /// Whether labels are compared.
    pub usage: bool,
}

/// JSON Lines.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines;

/// Appends each changed verdict to `out`, and each changed preference about the labels of both
/// sessions, record by record.
///
/// Stops early if `out` has [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are.
///
/// # Errors
///
/// If the input or a set is damaged. The changes before the damage are written.
pub fn write_chunk(
    mut piece: Piece<'_, '_>,
    agents: &[String],
    (old, new): (&mut Session, &mut Session),
    form: &dyn Form,
    counts: &mut UrlCounts,
    out: &mut Vec<u8>,
) -> Result<(), ChunkError> {
    let labels = new.classifier().labels().to_vec();
    let mut decisions = (Vec::new(), Vec::new());
    piece.read(agents.len(), |block, rejects| {
        decisions.0.clear();
        decisions.0.extend_from_slice(old.classify(block)?);
        decisions.1.clear();
        decisions.1.extend_from_slice(new.classify(block)?);
        let count = block.len() * agents.len();
        assert_eq!((decisions.0.len(), decisions.1.len()), (count, count), "one for each agent");
        rejects.add_block(block, new);
        counts.records += block.len() as u64;
        counts.bytes += bytes(block);
        let pairs = decisions.0.iter().zip(&decisions.1).enumerate();
        for (index, (before, after)) in pairs {
            let (record, agent) = (index / agents.len(), index % agents.len());
            let (url, name) = (block[record].url(), &agents[agent]);
            let counts = &mut counts.agents[agent];
            counts.verdicts.0[before.verdict as usize][after.verdict as usize] += 1;
            if before.verdict != after.verdict {
                let sides = [old.full_decision(record, agent)?, new.full_decision(record, agent)?];
                form.write(url, name, What::Access(sides), out);
            }
            for (number, (&label, turns)) in labels.iter().zip(&mut counts.labels).enumerate() {
                let answer = index * labels.len() + number;
                let (was, is) = (old.preferences()[answer], new.preferences()[answer]);
                turns.0[was as usize][is as usize] += 1;
                if was != is {
                    let at = old.stated_at(record, agent, number)?;
                    let stated = (was, at.as_ref(), old.full_decision(record, agent)?);
                    let at = new.stated_at(record, agent, number)?;
                    let states = (is, at.as_ref(), new.full_decision(record, agent)?);
                    form.write(url, name, What::Usage(label, [stated, states]), out);
                }
            }
        }
        // Rules are read after the sessions compared the length of a mapped set.
        old.classifier().set().is_whole()?;
        new.classifier().set().is_whole()?;
        Ok(out.len() < CHUNK_OUTPUT_BYTES_MAX)
    })
}

impl Form for Tsv {
    fn write(&self, url: &[u8], agent: &str, what: What<'_>, out: &mut Vec<u8>) {
        push_column(agent.as_bytes(), out);
        if self.usage {
            let word = match what {
                What::Access(_) => "access",
                What::Usage(label, _) => label.as_str(),
            };
            push_column(word.as_bytes(), out);
        }
        match what {
            What::Access(sides) => {
                let verdict = |it: &FullDecision<'_>| it.decision.verdict.as_str().as_bytes();
                sides.iter().for_each(|it| push_column(verdict(it), out));
                for side in sides {
                    push_deciding(side, out);
                    out.push(b'\t');
                }
            }
            What::Usage(_, sides) => {
                sides.iter().for_each(|(it, ..)| push_column(it.as_str().as_bytes(), out));
                for (preference, at, access) in sides {
                    match preference {
                        Preference::NoAccess => push_deciding(access, out),
                        _ => push_stated(at, out),
                    }
                    out.push(b'\t');
                }
            }
        }
        // A URL from JSON or CSV may contain the byte that ends a line.
        let end = self.terminator.byte();
        for (number, part) in url.split(|&byte| byte == end).enumerate() {
            if number > 0 {
                push_percent_triplet(out, end);
            }
            out.extend_from_slice(part);
        }
        out.push(end);
    }
}

#[derive(Serialize)]
struct Object<'a, T> {
    #[serde(flatten)]
    url: Text<'a>,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
    old: T,
    new: T,
}

#[derive(Serialize)]
struct StatedObject<'a> {
    preference: &'static str,
    source: Option<&'static str>,
    line: Option<u32>,
    #[serde(flatten)]
    rule: Text<'a>,
}

impl Form for JsonLines {
    fn write(&self, url: &[u8], agent: &str, what: What<'_>, out: &mut Vec<u8>) {
        let url = Text::uncut("url", Some(url));
        match what {
            What::Access(sides) => {
                let [old, new] = sides.map(DecisionObject::with_group);
                write_object(&Object { url, agent, label: None, old, new }, out);
            }
            What::Usage(label, sides) => {
                let [old, new] = sides.map(|(preference, at, _)| StatedObject {
                    preference: preference.as_str(),
                    source: at.map(|at| at.source.as_str()),
                    line: at.map(|at| at.line.get()),
                    rule: Text::cut("rule", at.map(|at| &*at.value)),
                });
                write_object(&Object { url, agent, label: Some(label.as_str()), old, new }, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rejects;
    use crate::tests::{SCHEME, classifier, piece};

    /// Writes the changes for `input`. The first letter of a host is its verdict in the old set,
    /// the second its verdict in the new set: allow, disallow or unknown.
    fn written(input: &[u8], agents: &[&str], form: &dyn Form) -> (String, UrlCounts) {
        let agents: Vec<String> = agents.iter().map(|&agent| agent.into()).collect();
        let old = classifier(&["aa", "ad"], &["du"], agents.len());
        let new = classifier(&["aa", "ua"], &["ad"], agents.len());
        let mut counts = UrlCounts::new(agents.len(), 0);
        let mut out = Vec::new();
        let sessions = (&mut Session::new(old, SCHEME), &mut Session::new(new, SCHEME));
        piece(input, Terminator::LineFeed, &mut Rejects::default(), |piece| {
            write_chunk(piece, &agents, sessions, form, &mut counts, &mut out)
        })
        .unwrap();
        (String::from_utf8_lossy(&out).into_owned(), counts)
    }

    const LINES: Tsv = Tsv { terminator: Terminator::LineFeed, usage: false };

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
        let one = &counts.agents[0].verdicts;
        assert_eq!((one.unchanged(), one.changed()), (3, 3));
        assert_eq!(one.from_to(Verdict::Disallow as usize, Verdict::Unknown as usize), 1);
        assert_eq!(one.from_to(Verdict::Allow as usize, Verdict::Allow as usize), 1);
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
