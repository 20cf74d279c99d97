//! The records of a list whose verdict or usage preference changes from one policy set to another: a row
//! for each agent and change.
//!
//! If labels are compared, a row is about access if it has no label. For a label, `y`, `n`, `?` (not
//! stated) or `-` (no access) replace the verdicts, and the line and value of the statement the line and text
//! of the rule; a side without access has the rule about access.
//!
//! A record that keeps its verdict for a different reason or by a different rule is not reported.
//! Neither is a preference that is stated in a different place.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::usage::{Label, Preference};
use portcullis_report::{ChunkError, Figures, Piece, add_counts, bytes};
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_set::batch::{FullDecision, Session, StatedPlace};
use portcullis_text::figures::{counted, grouped, size};
use portcullis_text::visible::{cut_to_show, visible};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{SideOfChange, push_row};

/// The number of preferences, of which there are more than of verdicts.
const VALUES: usize = Preference::ALL.len();
const _: () = assert!(VALUES >= Verdict::ALL.len());

/// The number of records by old and new verdict, or by old and new preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The JSON member with the changes.
    member: &'static str,
    values: &'static [&'static str],
    counts: [[u64; VALUES]; VALUES],
}

impl Turns {
    fn new(member: &'static str, values: &'static [&'static str]) -> Turns {
        Turns { member, values, counts: [[0; VALUES]; VALUES] }
    }

    /// Returns each change that occurs: the old and the new value, and the number of records.
    fn changes(&self) -> impl Iterator<Item = ([usize; 2], u64)> {
        let pairs = (0..VALUES).flat_map(|old| (0..VALUES).map(move |new| [old, new]));
        let counted = pairs.map(|turn @ [old, new]| (turn, self.counts[old][new]));
        counted.filter(|&([old, new], records)| old != new && records > 0)
    }

    /// Returns the number of records that keep their value.
    pub fn unchanged(&self) -> u64 {
        (0..VALUES).map(|value| self.counts[value][value]).sum()
    }

    /// Returns the number of records whose value changes.
    pub fn changed(&self) -> u64 {
        self.changes().map(|(_, records)| records).sum()
    }

    /// Returns the number of each change that occurs, such as `allow to disallow`.
    fn occurring(&self) -> Figures<u64, String> {
        let name = |[old, new]: [usize; 2]| format!("{} to {}", self.values[old], self.values[new]);
        Figures(self.changes().map(|(turn, records)| (name(turn), records)).collect())
    }
}

impl Display for Turns {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [unchanged, changed] = [self.unchanged(), self.changed()].map(grouped);
        write!(out, "unchanged {unchanged}, changed {changed}")?;
        let turns = self.occurring();
        if turns.is_empty() { Ok(()) } else { write!(out, " ({turns})") }
    }
}

impl Serialize for Turns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("unchanged", &self.unchanged())?;
        map.serialize_entry("changed", &self.changed())?;
        map.serialize_entry(self.member, &self.occurring())?;
        map.end()
    }
}

/// The changes for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentChanges {
    agent: String,
    #[serde(flatten)]
    verdicts: Turns,
    /// The changes of preferences, by compared label.
    #[serde(skip_serializing_if = "Figures::is_empty")]
    usage: Figures<Turns>,
}

impl AgentChanges {
    /// Returns the number of changed verdicts and preferences.
    pub fn changed(&self) -> u64 {
        self.turns().map(Turns::changed).sum()
    }

    fn turns(&self) -> impl Iterator<Item = &Turns> {
        std::iter::once(&self.verdicts).chain(self.usage.0.iter().map(|(_, turns)| turns))
    }
}

/// The number of records and changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UrlCounts {
    /// The number of records, including empty ones.
    pub records: u64,
    /// The bytes of the records, including line ends.
    pub bytes: u64,
    /// The changes by agent, in the order of the agents.
    pub per_agent: Vec<AgentChanges>,
}

impl UrlCounts {
    /// Returns counts of zero for these agents and labels.
    pub fn new(agents: &[String], labels: &[Label]) -> UrlCounts {
        let preferences = || Turns::new("preferences", &Preference::WORDS);
        let agent = |agent: &String| AgentChanges {
            agent: agent.clone(),
            verdicts: Turns::new("verdicts", &Verdict::WORDS),
            usage: Figures::of(labels, |label| label.as_str(), |_| preferences()),
        };
        UrlCounts { per_agent: agents.iter().map(agent).collect(), ..UrlCounts::default() }
    }

    /// Returns the number of changed verdicts and preferences of all agents.
    pub fn changed(&self) -> u64 {
        self.per_agent.iter().map(AgentChanges::changed).sum()
    }

    /// Whether there are answers, and all of them are unknown on both sides.
    pub fn are_unknown(&self) -> bool {
        let unknown = Verdict::Unknown as usize;
        let is = |it: &AgentChanges| {
            let counts = &it.verdicts.counts;
            let all: u64 = counts.as_flattened().iter().sum();
            all > 0 && all == counts[unknown][unknown]
        };
        !self.per_agent.is_empty() && self.per_agent.iter().all(is)
    }

    /// Adds the counts of the next chunk, with the same agents and labels.
    pub fn merge(&mut self, other: &UrlCounts) {
        self.records += other.records;
        self.bytes += other.bytes;
        for (agent, other) in self.per_agent.iter_mut().zip(&other.per_agent) {
            let usage = agent.usage.0.iter_mut().map(|(_, turns)| turns);
            let own = std::iter::once(&mut agent.verdicts).chain(usage);
            for (turns, other) in own.zip(other.turns()) {
                add_counts(turns.counts.as_flattened_mut(), other.counts.as_flattened());
            }
        }
    }

    /// Writes the lines of the summary.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}, {}", counted(self.records, "record"), size(self.bytes))?;
        for AgentChanges { agent, verdicts, usage } in &self.per_agent {
            writeln!(out, "{}: {verdicts}", visible(agent))?;
            for (label, turns) in &usage.0 {
                writeln!(out, "{} {label}: {turns}", visible(agent))?;
            }
        }
        Ok(())
    }
}

fn access(full: FullDecision<'_>) -> SideOfChange<'_> {
    SideOfChange::of(&full.decision, full.rule)
}

/// Returns the side of a preference, the place of its statement if there is one, and the decision
/// about access.
fn usage<'a>(
    preference: Preference,
    at: Option<&'a StatedPlace>,
    full: FullDecision<'a>,
) -> SideOfChange<'a> {
    let value = Some(preference.as_str());
    match preference {
        Preference::NoAccess => SideOfChange { value, ..access(full) },
        _ => SideOfChange {
            value,
            reason: None,
            line: at.map(|at| at.line.get()),
            rule: at.map(|at| cut_to_show(&at.value)),
        },
    }
}

/// Appends a row for each changed verdict, and for each changed preference about the labels of both
/// sessions, record by record. The columns are [`url_fields`](super::url_fields).
///
/// Stops early if the rows have [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are.
///
/// # Errors
///
/// If the input or a set is damaged. The rows before the damage are appended.
pub fn compare_chunk(
    mut piece: Piece<'_, '_>,
    agents: &[String],
    (old, new): (&mut Session, &mut Session),
    counts: &mut UrlCounts,
    added: &mut Added,
) -> Result<(), ChunkError> {
    let labels = new.classifier().labels().to_vec();
    let mut row_bytes = 0;
    piece.read(agents.len(), |block, rejects| {
        let (mut old, mut new) = (old.decide(&**block)?, new.decide(&**block)?);
        let count = block.len() * agents.len();
        let counted = [&old, &new].map(|answers| answers.decisions().len());
        assert_eq!(counted, [count; 2], "one for each agent");
        rejects.add_block(block, &new, true);
        counts.records += block.len() as u64;
        counts.bytes += bytes(block);
        for answer in 0..count {
            let (record, agent) = (answer / agents.len(), answer % agents.len());
            let (before, after) =
                (old.decisions()[answer].verdict(), new.decisions()[answer].verdict());
            // The cells before the sides. Access has no label.
            let first = |label: Option<&'static str>| {
                let (url, agent) = (block[record].url(), &agents[agent]);
                let own = [Some(Cell::text(url)), Some(Cell::text(agent))].into_iter();
                own.chain((!labels.is_empty()).then_some(label.map(Cell::text))).collect()
            };
            let counts = &mut counts.per_agent[agent];
            counts.verdicts.counts[before as usize][after as usize] += 1;
            if before != after {
                let sides = [old.rule(answer)?, new.rule(answer)?];
                row_bytes += push_row(first(None), &sides.map(access), added);
            }
            for (number, (label, turns)) in counts.usage.0.iter_mut().enumerate() {
                let (was, is) = (old.preference(answer, number), new.preference(answer, number));
                turns.counts[was as usize][is as usize] += 1;
                if was != is {
                    let before = old.stated_at(answer, number)?;
                    let after = new.stated_at(answer, number)?;
                    let sides = [
                        usage(was, before.as_ref(), old.rule(answer)?),
                        usage(is, after.as_ref(), new.rule(answer)?),
                    ];
                    row_bytes += push_row(first(Some(label)), &sides, added);
                }
            }
        }
        Ok::<bool, ChunkError>(row_bytes < CHUNK_OUTPUT_BYTES_MAX)
    })?;
    old.classifier().set().is_whole()?;
    Ok(new.classifier().set().is_whole()?)
}
