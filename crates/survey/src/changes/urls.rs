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
//! "line", "rule", "group"}` as in [`json_lines`](portcullis_report::json_lines). For a label, both are
//! `{"preference", "source", "line", "rule"}`, and a member `label` follows the agent.
//!
//! CSV: the columns `url`, `agent`, `before`, `after`, `rule_before`, `line_before`, `rule_after` and
//! `line_after`, and if labels are compared `about` after the agent. A rule is the line as written,
//! or the reason in parentheses if no rule decides.
//!
//! A record that keeps its verdict for a different reason or by a different rule is not reported.
//! Neither is a preference that is stated in a different place.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_engine::bytes::push_percent_triplet;
use portcullis_report::json_lines::{DecisionObject, Text, write_object};
use portcullis_report::{ChunkError, Piece, bytes};
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::output::csv::Quoting;
use portcullis_set::batch::{FullDecision, Session, StatedPlace};
use portcullis_text::figures::counted;
use portcullis_text::visible::{cut_to_show, visible};

use super::groups::{ChangeGroups, Deciding, Kind, Place};
use super::{Form, push_column, push_deciding, push_stated, push_text};

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

    /// Returns the number of records that keep their value.
    pub fn unchanged(&self) -> u64 {
        (0..VALUES).map(|value| self.counts[value][value]).sum()
    }

    /// Returns the number of records whose value changes.
    pub fn changed(&self) -> u64 {
        self.counts.as_flattened().iter().sum::<u64>() - self.unchanged()
    }

    /// Returns the number of records with two different preferences of which none is
    /// [`Preference::NoAccess`].
    fn changed_within_access(&self) -> u64 {
        let none = Preference::NoAccess as usize;
        let with_none: u64 = (0..VALUES)
            .filter(|&value| value != none)
            .map(|value| self.counts[none][value] + self.counts[value][none])
            .sum();
        self.changed() - with_none
    }

    /// Returns the number of each change that occurs, such as `allow to disallow`.
    fn occurring(&self) -> impl Iterator<Item = (String, u64)> {
        let pairs = (0..VALUES).flat_map(|old| (0..VALUES).map(move |new| (old, new)));
        let changed = pairs.filter(|&(old, new)| old != new && self.counts[old][new] > 0);
        changed.map(|(old, new)| {
            (format!("{} to {}", self.values[old], self.values[new]), self.counts[old][new])
        })
    }
}

impl Display for Turns {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "unchanged {}, changed {}", self.unchanged(), self.changed())?;
        let turns: Vec<String> =
            self.occurring().map(|(turn, count)| format!("{turn} {count}")).collect();
        if turns.is_empty() { Ok(()) } else { write!(out, " ({})", turns.join(", ")) }
    }
}

impl Serialize for Turns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Occurring<'t>(&'t Turns);

        impl Serialize for Occurring<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.occurring())
            }
        }

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("unchanged", &self.unchanged())?;
        map.serialize_entry("changed", &self.changed())?;
        map.serialize_entry(self.member, &Occurring(self))?;
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
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    usage: Vec<(&'static str, Turns)>,
}

fn as_map<S: Serializer>(labels: &[(&'static str, Turns)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(labels.iter().map(|(label, turns)| (label, turns)))
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
        self.usage.iter().map(|(label, turns)| (*label, turns.changed_within_access())).collect()
    }

    fn turns(&self) -> impl Iterator<Item = &Turns> {
        std::iter::once(&self.verdicts).chain(self.usage.iter().map(|(_, turns)| turns))
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
    /// The changes by rule, if [`UrlForm::Page`] asks for them.
    #[serde(skip)]
    pub(super) groups: ChangeGroups,
}

/// The form of a report about URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlForm {
    /// Like the other reports.
    Lines(Form),
    /// CSV.
    Csv,
    /// Nothing for a URL; the changes are counted by rule, for a [page](super::page()).
    Page {
        /// Whether the page shows the lines of rules, because each side is one file.
        has_lines: bool,
    },
}

impl UrlForm {
    /// Returns the first line.
    pub fn header(self, labels: &[Label]) -> &'static [u8] {
        match (self, labels) {
            (UrlForm::Csv, []) => {
                b"url,agent,before,after,rule_before,line_before,rule_after,line_after\r\n"
            }
            (UrlForm::Csv, _) => {
                b"url,agent,about,before,after,rule_before,line_before,rule_after,line_after\r\n"
            }
            _ => b"",
        }
    }
}

impl UrlCounts {
    /// Returns counts of zero for these agents and labels.
    pub fn new(agents: &[String], labels: &[Label]) -> UrlCounts {
        let preferences = || Turns::new("preferences", Preference::ALL.map(Preference::as_str));
        let agent = |agent: &String| AgentChanges {
            agent: agent.clone(),
            verdicts: Turns::new("verdicts", Verdict::ALL.map(Verdict::as_str)),
            usage: labels.iter().map(|label| (label.as_str(), preferences())).collect(),
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
            let usage = agent.usage.iter_mut().map(|(_, turns)| turns);
            let own = std::iter::once(&mut agent.verdicts).chain(usage);
            for (turns, other) in own.zip(other.turns()) {
                let counts = turns.counts.as_flattened_mut().iter_mut();
                counts.zip(other.counts.as_flattened()).for_each(|(count, other)| *count += other);
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
            for (label, turns) in usage {
                writeln!(out, "{} {label}: {turns}", visible(agent))?;
            }
        }
        Ok(())
    }
}

/// The answer of one side.
#[derive(Clone, Copy)]
enum Side<'a> {
    Access(FullDecision<'a>),
    /// A preference, the place of its statement if there is one, and the decision about access.
    Usage(Preference, Option<&'a StatedPlace>, FullDecision<'a>),
}

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
    form: UrlForm,
    counts: &mut UrlCounts,
    out: &mut Vec<u8>,
) -> Result<(), ChunkError> {
    let labels = new.classifier().labels().to_vec();
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
            let change = Change { record: number, url, agents, agent };
            let UrlCounts { per_agent, groups, .. } = counts;
            let counts = &mut per_agent[agent];
            counts.verdicts.counts[before as usize][after as usize] += 1;
            if before != after {
                let sides = [old.rule(answer)?, new.rule(answer)?];
                let word = (!labels.is_empty()).then_some("access");
                change.write((form, word, None), sides.map(Side::Access), groups, out);
            }
            for (number, (label, turns)) in counts.usage.iter_mut().enumerate() {
                let (was, is) = (old.preference(answer, number), new.preference(answer, number));
                turns.counts[was as usize][is as usize] += 1;
                if was != is {
                    let before = old.stated_at(answer, number)?;
                    let after = new.stated_at(answer, number)?;
                    let sides = [
                        Side::Usage(was, before.as_ref(), old.rule(answer)?),
                        Side::Usage(is, after.as_ref(), new.rule(answer)?),
                    ];
                    change.write((form, Some(label), Some(label)), sides, groups, out);
                }
            }
        }
        Ok::<bool, ChunkError>(out.len() < CHUNK_OUTPUT_BYTES_MAX)
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
}

impl Change<'_> {
    /// Appends a change, or adds it to `groups`. `word` is a column of TSV and CSV, if there is one.
    fn write(
        self,
        (form, word, label): (UrlForm, Option<&str>, Option<&'static str>),
        sides: [Side<'_>; 2],
        groups: &mut ChangeGroups,
        out: &mut Vec<u8>,
    ) {
        let Change { url, agents, agent, .. } = self;
        let agent = &*agents[agent];
        let terminator = match form {
            UrlForm::Lines(Form::Tsv(terminator)) => terminator,
            UrlForm::Lines(Form::JsonLines) => {
                let ([old, new], url) = (sides, Text::uncut("url", Some(url)));
                return write_object(&Object { url, agent, label, old, new }, out);
            }
            UrlForm::Csv => return self.write_csv(word, sides, out),
            UrlForm::Page { has_lines } => return self.add(label, sides, has_lines, groups),
        };
        push_column(agent.as_bytes(), out);
        word.into_iter().for_each(|word| push_column(word.as_bytes(), out));
        sides.iter().for_each(|side| push_column(side.value().as_bytes(), out));
        for side in sides {
            match side {
                Side::Access(access) | Side::Usage(Preference::NoAccess, _, access) => {
                    push_deciding(access, out);
                }
                Side::Usage(_, at, _) => push_stated(at, out),
            }
            out.push(b'\t');
        }
        // A URL from JSON or CSV may contain the byte that ends a line.
        let end = terminator.byte();
        for (number, part) in url.split(|&byte| byte == end).enumerate() {
            if number > 0 {
                push_percent_triplet(out, end);
            }
            out.extend_from_slice(part);
        }
        out.push(end);
    }

    /// Adds the change to `groups`, unless it is a preference that came or went with the access.
    fn add(
        self,
        label: Option<&'static str>,
        sides: [Side<'_>; 2],
        has_lines: bool,
        groups: &mut ChangeGroups,
    ) {
        if sides.iter().any(|side| matches!(side, Side::Usage(Preference::NoAccess, ..))) {
            return;
        }
        let Change { record, url, agents, agent } = self;
        let [(before, old), (after, new)] = sides.map(|side| side.deciding());
        let values = sides.map(|side| side.value());
        let kind = Kind { label, values, deciding: [before, after] };
        let lines = [old, new].map(|line| line.filter(|_| has_lines));
        groups.add(kind, Place { record, url, lines, agent, agents: agents.len() });
    }

    fn write_csv(self, word: Option<&str>, sides: [Side<'_>; 2], out: &mut Vec<u8>) {
        let quoting = Quoting::default();
        let mut push = |field: &[u8]| {
            quoting.push(field, out);
            out.push(b',');
        };
        push(self.url);
        push(self.agents[self.agent].as_bytes());
        word.into_iter().for_each(|word| push(word.as_bytes()));
        sides.iter().for_each(|side| push(side.value().as_bytes()));
        for side in sides {
            let (deciding, line) = side.deciding();
            let text = match deciding {
                Deciding::Line(text) => text,
                Deciding::Reason(reason) => format!("({reason})").into_bytes(),
                Deciding::Unstated => b"(unstated)".to_vec(),
            };
            let mut shown = Vec::new();
            push_text(&text, &mut shown);
            push(&shown);
            push(line.map_or_else(String::new, |line| line.to_string()).as_bytes());
        }
        out.pop();
        out.extend_from_slice(b"\r\n");
    }
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    url: Text<'a>,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
    old: Side<'a>,
    new: Side<'a>,
}

#[derive(Serialize)]
struct StatedObject<'a> {
    preference: &'static str,
    source: Option<&'static str>,
    line: Option<u32>,
    #[serde(flatten)]
    rule: Text<'a>,
}

impl Side<'_> {
    /// Returns what decides, and its line.
    fn deciding(&self) -> (Deciding, Option<u32>) {
        match *self {
            Side::Access(full) | Side::Usage(Preference::NoAccess, _, full) => {
                let Decision { line, verdict, reason, .. } = full.decision;
                match (line, full.rule) {
                    (Some(line), Some(rule)) => {
                        let field: &[u8] =
                            if verdict == Verdict::Allow { b"Allow: " } else { b"Disallow: " };
                        let text = [field, &cut_to_show(rule)].concat();
                        (Deciding::Line(text), Some(line.get()))
                    }
                    _ => (Deciding::Reason(reason), None),
                }
            }
            Side::Usage(_, Some(at), _) => {
                (Deciding::Line(cut_to_show(&at.value).into_owned()), Some(at.line.get()))
            }
            Side::Usage(_, None, _) => (Deciding::Unstated, None),
        }
    }

    fn value(&self) -> &'static str {
        match self {
            Side::Access(full) => full.decision.verdict.as_str(),
            Side::Usage(preference, ..) => preference.as_str(),
        }
    }
}

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Side::Access(full) => DecisionObject::with_group(full).serialize(serializer),
            Side::Usage(_, at, _) => StatedObject {
                preference: self.value(),
                source: at.map(|at| at.source.as_str()),
                line: at.map(|at| at.line.get()),
                rule: Text::cut("rule", at.map(|at| &*at.value)),
            }
            .serialize(serializer),
        }
    }
}
