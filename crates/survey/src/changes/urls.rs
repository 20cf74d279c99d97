//! The records of a list whose verdict or usage preference changes from one policy set to another: a row
//! for each agent and change, or the changes by rule for a [page](super::page()).
//!
//! If labels are compared, a row is about access if it has no label. For a label, `y`, `n`, `?` (not
//! stated) or `-` (no access) replace the verdicts, and the line and value of the statement those of the
//! rule; a side without access has the rule about access.
//!
//! A record that keeps its verdict for a different reason or by a different rule is not reported.
//! Neither is a preference that is stated in a different place.
//!
//! Memory of the changes by rule: for each group, its rules and two example URLs, up to
//! [`CHANGE_GROUPS_MAX`]. Groups are found in input order, so they are the same for any number of threads.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_report::{ChunkError, Figures, Piece, add_counts, bytes};
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_set::batch::{FullDecision, Session, StatedPlace};
use portcullis_text::figures::counted;
use portcullis_text::visible::{cut_to_show, visible};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Decided;
use crate::limits::CHANGE_GROUPS_MAX;

/// The number of verdicts, which equals the number of preferences.
const VALUES: usize = Verdict::ALL.len();
const _: () = assert!(VALUES == Preference::ALL.len());

/// The number of records by old and new verdict, or by old and new preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The JSON member with the changes.
    member: &'static str,
    values: [&'static str; VALUES],
    counts: [[u64; VALUES]; VALUES],
}

impl Turns {
    fn new(member: &'static str, values: [&'static str; VALUES]) -> Turns {
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

    /// Returns the number of records with two different preferences of which none is
    /// [`Preference::NoAccess`].
    fn changed_within_access(&self) -> u64 {
        let none = Preference::NoAccess as usize;
        let within = self.changes().filter(|(turn, _)| !turn.contains(&none));
        within.map(|(_, records)| records).sum()
    }

    /// Returns the number of each change that occurs, such as `allow to disallow`.
    fn occurring(&self) -> Figures<u64, String> {
        let name = |[old, new]: [usize; 2]| format!("{} to {}", self.values[old], self.values[new]);
        Figures(self.changes().map(|(turn, records)| (name(turn), records)).collect())
    }
}

impl Display for Turns {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "unchanged {}, changed {}", self.unchanged(), self.changed())?;
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
    /// Returns the number of URLs whose verdict turns from one to another.
    pub fn turned(&self, from: Verdict, to: Verdict) -> u64 {
        self.verdicts.counts[from as usize][to as usize]
    }

    /// Returns the number of changed verdicts and preferences.
    pub fn changed(&self) -> u64 {
        self.turns().map(Turns::changed).sum()
    }

    /// Returns the number of URLs whose verdict changes from or to one that does not allow or
    /// disallow.
    pub fn turned_otherwise(&self) -> u64 {
        let [allow, disallow] = [Verdict::Allow, Verdict::Disallow];
        self.verdicts.changed() - self.turned(allow, disallow) - self.turned(disallow, allow)
    }

    /// Returns the number of URLs by label that have another preference, without those whose
    /// preference came or went with the access.
    pub fn restated(&self) -> Vec<(&'static str, u64)> {
        self.usage.0.iter().map(|(label, turns)| (*label, turns.changed_within_access())).collect()
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
    /// The changes by rule, if [`Kept::Groups`] asks for them.
    #[serde(skip)]
    pub(super) groups: ChangeGroups,
}

/// Where changes go.
pub enum Kept<'k> {
    /// To the rows of a table, whose columns are [`url_fields`](super::url_fields).
    Rows(&'k mut Added),
    /// To the groups by rule in [`UrlCounts`].
    Groups {
        /// Whether the page shows the lines of rules, because each side is one file.
        has_lines: bool,
    },
}

impl UrlCounts {
    /// Returns counts of zero for these agents and labels.
    pub fn new(agents: &[String], labels: &[Label]) -> UrlCounts {
        let preferences = || Turns::new("preferences", Preference::ALL.map(Preference::as_str));
        let agent = |agent: &String| AgentChanges {
            agent: agent.clone(),
            verdicts: Turns::new("verdicts", Verdict::ALL.map(Verdict::as_str)),
            usage: Figures::of(labels, |label| label.as_str(), |_| preferences()),
        };
        UrlCounts { per_agent: agents.iter().map(agent).collect(), ..UrlCounts::default() }
    }

    /// Returns the number of changed verdicts and preferences of all agents.
    pub fn changed(&self) -> u64 {
        self.per_agent.iter().map(AgentChanges::changed).sum()
    }

    /// Adds the counts of the next chunk, with the same agents and labels.
    pub fn merge(&mut self, other: &UrlCounts) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.groups.merge(&other.groups);
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
        writeln!(out, "{}, {}", counted(self.records, "record"), counted(self.bytes, "byte"))?;
        for AgentChanges { agent, verdicts, usage } in &self.per_agent {
            writeln!(out, "{}: {verdicts}", visible(agent))?;
            for (label, turns) in &usage.0 {
                writeln!(out, "{} {label}: {turns}", visible(agent))?;
            }
        }
        Ok(())
    }
}

/// One side of a change: the verdict or the preference, and what decides it.
struct Side<'a> {
    value: &'static str,
    /// The field of the deciding rule.
    field: &'static [u8],
    decided: Decided<'a>,
}

impl<'a> Side<'a> {
    fn access(full: FullDecision<'a>) -> Side<'a> {
        let verdict = full.decision.verdict;
        let is_allowed = verdict == Verdict::Allow;
        Side {
            value: verdict.as_str(),
            field: if is_allowed { b"Allow: " } else { b"Disallow: " },
            decided: Decided::new(&full.decision, full.rule),
        }
    }

    /// Returns the side of a preference, the place of its statement if there is one, and the decision
    /// about access.
    fn usage(
        preference: Preference,
        at: Option<&'a StatedPlace>,
        full: FullDecision<'a>,
    ) -> Side<'a> {
        let decided = match preference {
            Preference::NoAccess => Decided::new(&full.decision, full.rule),
            _ => Decided {
                reason: None,
                line: at.map(|at| at.line.get()),
                rule: at.map(|at| cut_to_show(&at.value)),
            },
        };
        Side { value: preference.as_str(), field: b"", decided }
    }
}

/// Keeps each changed verdict, and each changed preference about the labels of both sessions, record by
/// record.
///
/// Stops early if the rows have [`CHUNK_OUTPUT_BYTES_MAX`], however many agents there are.
///
/// # Errors
///
/// If the input or a set is damaged. The changes before the damage are kept.
pub fn compare_chunk(
    mut piece: Piece<'_, '_>,
    agents: &[String],
    (old, new): (&mut Session, &mut Session),
    counts: &mut UrlCounts,
    kept: &mut Kept<'_>,
) -> Result<(), ChunkError> {
    let labels = new.classifier().labels().to_vec();
    let mut row_bytes = 0;
    piece.read(agents.len(), |block, rejects| {
        let (mut old, mut new) = (old.decide(&**block)?, new.decide(&**block)?);
        let count = block.len() * agents.len();
        let counted = [&old, &new].map(|answers| answers.decisions().len());
        assert_eq!(counted, [count; 2], "one for each agent");
        rejects.add_block(block, &new);
        let first = counts.records;
        counts.records += block.len() as u64;
        counts.bytes += bytes(block);
        for answer in 0..count {
            let (record, agent) = (answer / agents.len(), answer % agents.len());
            let (before, after) =
                (old.decisions()[answer].verdict, new.decisions()[answer].verdict);
            let (number, url) = (first + record as u64, block[record].url());
            let change =
                Change { record: number, url, agents, agent, has_labels: !labels.is_empty() };
            let UrlCounts { per_agent, groups, .. } = counts;
            let counts = &mut per_agent[agent];
            counts.verdicts.counts[before as usize][after as usize] += 1;
            if before != after {
                let sides = [old.rule(answer)?, new.rule(answer)?];
                row_bytes += change.keep(None, sides.map(Side::access), kept, groups);
            }
            for (number, (label, turns)) in counts.usage.0.iter_mut().enumerate() {
                let (was, is) = (old.preference(answer, number), new.preference(answer, number));
                turns.counts[was as usize][is as usize] += 1;
                if was != is {
                    let before = old.stated_at(answer, number)?;
                    let after = new.stated_at(answer, number)?;
                    let sides = [
                        Side::usage(was, before.as_ref(), old.rule(answer)?),
                        Side::usage(is, after.as_ref(), new.rule(answer)?),
                    ];
                    row_bytes += change.keep(Some(label), sides, kept, groups);
                }
            }
        }
        Ok::<bool, ChunkError>(row_bytes < CHUNK_OUTPUT_BYTES_MAX)
    })?;
    old.classifier().set().is_whole()?;
    Ok(new.classifier().set().is_whole()?)
}

/// A URL and an agent for which something changes.
#[derive(Clone, Copy)]
struct Change<'a> {
    /// The number of the record in the chunk.
    record: u64,
    url: &'a [u8],
    agents: &'a [String],
    /// The position of the agent.
    agent: usize,
    /// Whether rows have a label.
    has_labels: bool,
}

impl Change<'_> {
    /// Keeps a change of access, or of the preference about a label. Returns the bytes of the row.
    fn keep(
        self,
        label: Option<&'static str>,
        sides: [Side<'_>; 2],
        kept: &mut Kept<'_>,
        groups: &mut ChangeGroups,
    ) -> usize {
        let added = match kept {
            Kept::Rows(added) => added,
            Kept::Groups { has_lines } => {
                self.add(label, sides, *has_lines, groups);
                return 0;
            }
        };
        let agent = &*self.agents[self.agent];
        let mut cells = vec![Cell::text(self.url), Cell::text(agent)];
        if self.has_labels {
            cells.push(Cell::Text(label.map(str::as_bytes)));
        }
        cells.extend(sides.each_ref().map(|side| Cell::text(side.value)));
        sides.iter().for_each(|side| cells.extend(side.decided.cells()));
        added.push_row(&cells);
        let bytes = |cell: &Cell<'_>| match cell {
            Cell::Text(text) => text.map_or(0, <[u8]>::len),
            Cell::Number(_) => 0,
        };
        size_of_val(&*cells) + cells.iter().map(bytes).sum::<usize>()
    }

    /// Adds the change to `groups`, unless it is a preference that came or went with the access.
    fn add(
        self,
        label: Option<&'static str>,
        sides: [Side<'_>; 2],
        has_lines: bool,
        groups: &mut ChangeGroups,
    ) {
        if sides.iter().any(|side| side.value == Preference::NoAccess.as_str()) {
            return;
        }
        let lines = sides.each_ref().map(|side| side.decided.line.filter(|_| has_lines));
        let values = sides.each_ref().map(|side| side.value);
        let deciding =
            sides.map(|Side { field, decided: Decided { rule, reason, .. }, .. }| {
                let rule = rule.map(|rule| [field, &rule].concat());
                (reason.filter(|_| rule.is_none()), rule)
            });
        let kind = Kind { label, values, deciding };
        groups.add(kind, self, lines);
    }
}

/// The URLs that a group keeps.
const EXAMPLES: usize = 2;

/// The lines that a group keeps on each side.
pub(super) const LINES: usize = 4;

/// What may change for a URL, in words that follow its number. The last is of preferences, the others
/// are of verdicts.
pub(super) const CHANGES: [&str; 4] =
    ["newly blocked", "newly allowed", "changed otherwise", "subject to new preferences"];

/// What decides one side of a change: the rule or statement as written, or else the reason why none does;
/// neither if nothing is stated.
pub(super) type Deciding = (Option<Reason>, Option<Vec<u8>>);

/// What changes alike: the label if it is a preference, the old and the new value, and what decides
/// each. The rule of several groups of a file is one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub label: Option<&'static str>,
    pub values: [&'static str; 2],
    pub deciding: [Deciding; 2],
}

/// A number of records. A record counts once, however many agents it changes for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Records {
    pub count: u64,
    /// The last record of this chunk.
    last: Option<u64>,
}

impl Records {
    fn add(&mut self, record: u64) {
        if self.last != Some(record) {
            self.count += 1;
            self.last = Some(record);
        }
    }
}

/// The changes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub kind: Kind,
    pub urls: Records,
    /// The first lines that decide, old and new.
    pub lines: [Vec<u32>; 2],
    /// Whether something changes, by agent.
    pub agents: Vec<bool>,
    /// The first URLs.
    pub examples: Vec<Vec<u8>>,
}

/// The changes of a list by kind, in the order of their first URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeGroups {
    pub(super) groups: Vec<Group>,
    places: HashMap<Kind, usize>,
    /// Whether there are further kinds.
    pub(super) is_cut: bool,
    /// The URLs with each of [`CHANGES`] for some agent.
    pub(super) changed: [Records; CHANGES.len()],
}

impl ChangeGroups {
    /// Adds a change of a kind, with the old and the new line that decides, if there is one.
    fn add(&mut self, kind: Kind, change: Change<'_>, lines: [Option<u32>; 2]) {
        let Change { record, url, agents, agent, .. } = change;
        let counted = match (kind.label, kind.values) {
            (None, ["allow", "disallow"]) => 0,
            (None, ["disallow", "allow"]) => 1,
            (None, _) => 2,
            (Some(_), _) => 3,
        };
        self.changed[counted].add(record);
        let Some(group) = self.group(&kind, agents.len()) else { return };
        group.urls.add(record);
        group.agents[agent] = true;
        group.keep(url.trim_ascii(), lines.each_ref().map(Option::as_slice));
    }

    /// Adds the groups of the next chunk.
    pub(super) fn merge(&mut self, other: &ChangeGroups) {
        let ChangeGroups { groups, places: _, is_cut, changed } = other;
        self.is_cut |= is_cut;
        self.changed.iter_mut().zip(changed).for_each(|(own, other)| own.count += other.count);
        for Group { kind, urls, lines, agents, examples } in groups {
            let Some(group) = self.group(kind, agents.len()) else { continue };
            group.urls.count += urls.count;
            group.agents.iter_mut().zip(agents).for_each(|(own, other)| *own |= other);
            examples.iter().for_each(|url| group.keep(url, lines.each_ref().map(Vec::as_slice)));
        }
    }

    /// Returns the group of a kind; `None` if there are too many.
    fn group(&mut self, kind: &Kind, agents: usize) -> Option<&mut Group> {
        let place = match self.places.get(kind) {
            Some(place) => *place,
            None if self.groups.len() == CHANGE_GROUPS_MAX => {
                self.is_cut = true;
                return None;
            }
            None => {
                let (kind, agents) = (kind.clone(), vec![false; agents]);
                self.places.insert(kind.clone(), self.groups.len());
                let (urls, lines, examples) = Default::default();
                self.groups.push(Group { kind, urls, lines, agents, examples });
                self.groups.len() - 1
            }
        };
        Some(&mut self.groups[place])
    }
}

impl Group {
    /// Keeps a URL and the lines of both sides, if there is room.
    fn keep(&mut self, url: &[u8], lines: [&[u32]; 2]) {
        for (kept, lines) in self.lines.iter_mut().zip(lines) {
            for line in lines {
                if kept.len() < LINES && !kept.contains(line) {
                    kept.push(*line);
                }
            }
        }
        if self.examples.len() < EXAMPLES && !self.examples.iter().any(|kept| kept == url) {
            self.examples.push(url.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(rule: usize) -> Kind {
        let deciding = [(Some(Reason::NoRule), None), (None, Some(rule.to_string().into_bytes()))];
        Kind { label: None, values: ["allow", "disallow"], deciding }
    }

    /// Adds a change for one of two agents.
    fn add(groups: &mut ChangeGroups, kind: Kind, record: u64, agent: usize) {
        let agents = &[const { String::new() }; 2];
        let change = Change { record, url: b" /a ", agents, agent, has_labels: false };
        groups.add(kind, change, [None, Some(agent as u32 + 7)]);
    }

    #[test]
    fn a_record_counts_once_for_all_agents() {
        let mut groups = ChangeGroups::default();
        for (record, agent) in [(0, 0), (0, 1), (3, 1)] {
            add(&mut groups, kind(0), record, agent);
        }
        let mut all = groups.clone();
        all.merge(&groups);
        let [group] = &all.groups[..] else { panic!("{all:?}") };
        assert_eq!((group.urls.count, all.changed.clone().map(|it| it.count)), (4, [4, 0, 0, 0]));
        assert_eq!((&group.agents[..], &group.lines), (&[true, true][..], &[vec![], vec![7, 8]]));
        assert_eq!(group.examples, [b"/a"]);
    }

    #[test]
    fn kinds_above_the_limit_are_counted_without_a_group() {
        let mut groups = ChangeGroups::default();
        (0..=CHANGE_GROUPS_MAX).for_each(|rule| add(&mut groups, kind(rule), rule as u64, 0));
        assert!(groups.is_cut && groups.groups.len() == CHANGE_GROUPS_MAX);
        assert_eq!(groups.changed[0].count, CHANGE_GROUPS_MAX as u64 + 1);
    }
}
