//! The changes of URLs, grouped by the rules that cause them.
//!
//! Memory: for each group, its rules and [`EXAMPLES`] URLs, up to [`CHANGE_GROUPS_MAX`]. Groups are
//! found in input order, so they are the same for any number of threads.

use std::collections::HashMap;

use portcullis_dialect::decision::Reason;

use crate::limits::CHANGE_GROUPS_MAX;

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

/// A URL of a list and an agent for which something changes.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The number of the record in its chunk.
    pub record: u64,
    pub url: &'a [u8],
    /// The old and the new line that decides, if there is one.
    pub lines: [Option<u32>; 2],
    /// The position of the agent, and the number of agents.
    pub agent: usize,
    pub agents: usize,
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
    /// Adds a change.
    pub(super) fn add(&mut self, kind: Kind, place: Place<'_>) {
        let change = match (kind.label, kind.values) {
            (None, ["allow", "disallow"]) => 0,
            (None, ["disallow", "allow"]) => 1,
            (None, _) => 2,
            (Some(_), _) => 3,
        };
        self.changed[change].add(place.record);
        let Some(group) = self.group(&kind, place.agents) else { return };
        group.urls.add(place.record);
        group.agents[place.agent] = true;
        group.keep(place.url.trim_ascii(), place.lines.each_ref().map(Option::as_slice));
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

    fn place(record: u64, agent: usize) -> Place<'static> {
        Place { record, url: b" /a ", lines: [None, Some(agent as u32 + 7)], agent, agents: 2 }
    }

    #[test]
    fn a_record_counts_once_for_all_agents() {
        let mut groups = ChangeGroups::default();
        for (record, agent) in [(0, 0), (0, 1), (3, 1)] {
            groups.add(kind(0), place(record, agent));
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
        (0..=CHANGE_GROUPS_MAX).for_each(|rule| groups.add(kind(rule), place(rule as u64, 0)));
        assert!(groups.is_cut && groups.groups.len() == CHANGE_GROUPS_MAX);
        assert_eq!(groups.changed[0].count, CHANGE_GROUPS_MAX as u64 + 1);
    }
}
