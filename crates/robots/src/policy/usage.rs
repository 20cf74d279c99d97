//! Usage preferences: which statements hold for an agent, and which of them decides.
//!
//! Owns how usage records are grouped ([`UsageGroups`]) and ordered ([`UsageRules`]). The
//! [engine](portcullis_engine) does the matching, as for access: the statements
//! about one label are patterns in order of precedence, and the first one that matches decides. A
//! statement without a path is the last pattern and matches every path, so an agent without
//! statements for paths has a constant.
//!
//! The groups of usage records may differ from the groups of access. A Content-Usage record is a rule and
//! ends a run of user-agent lines. Access does not change: for access, the lines around the record
//! are one group.
//!
//! Content-Usage and Content-Signal are decided separately, each from patterns of its own. Of the two
//! statements found, the one with `n` decides, then the one with `y` ([`combined`]).
//!
//! Labels differ only in the order of patterns of one length that can match the same path, where
//! `n` overrides `y`, and `y` overrides "not stated". Such patterns are rare, so the labels of an
//! agent mostly share the patterns of a field, and one walk answers for all of them.
//!
//! Cost: linear in the records, and one sort per field and label. Nothing fails.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

use super::{Crawler, Selection};
use crate::syntax::{RobotsTxt, Statement};
use crate::url::normal_text;
use portcullis_dialect::usage::UsageSource;
use portcullis_dialect::{Dialect, Field, Label, LineNumber, PathRules, Preference, Stated};
use portcullis_engine::pattern::PatternList;

/// The usage records of a file, by group.
#[derive(Clone, Debug, Default)]
pub struct UsageGroups<'t> {
    /// The user-agent lines of the file, in the groups of usage records. It has no rules.
    file: RobotsTxt<'t>,
    /// The records of each group: positions in [`RobotsTxt::usage_records`]. A License that is no
    /// licence is in none.
    records: Vec<Vec<u32>>,
    /// The Content-Signal records and licences outside every group.
    outside: Vec<u32>,
    /// The field of each record.
    fields: Vec<Field>,
}

impl<'t> UsageGroups<'t> {
    /// Groups the usage records of `file`.
    pub fn new(file: &RobotsTxt<'t>) -> UsageGroups<'t> {
        let all = file.usage_records();
        let usage = all.iter().filter(|record| record.field == Field::ContentUsage);
        // Ascending, as records are.
        let ended: Vec<u32> = usage.filter_map(|record| record.user_agent).collect();
        let file = file.divided(&ended);
        let mut records = vec![Vec::new(); file.groups().len()];
        let mut outside = Vec::new();
        for (number, record) in (0..).zip(all) {
            match (record.field, record.user_agent) {
                (Field::License, _) if !record.is_license() => {}
                (_, Some(line)) => records[file.group_of(line)].push(number),
                (Field::ContentUsage, None) => {}
                (_, None) => outside.push(number),
            }
        }
        let fields = all.iter().map(|record| record.field).collect();
        UsageGroups { file, records, outside, fields }
    }

    /// Returns the file's user-agent lines, in the groups of usage records. Which groups apply to an
    /// agent is a [`Selection::among_groups`] of this file.
    pub fn file(&self) -> &RobotsTxt<'t> {
        &self.file
    }

    /// Returns the groups that apply to `agent` and have usage records.
    pub fn of_agent(&self, agent: &Crawler, dialect: &Dialect) -> Vec<usize> {
        self.with_records(&Selection::among_groups(&self.file, agent, dialect).groups)
    }

    /// Returns the `groups` that have usage records. The same records hold for two crawlers if
    /// these groups are the same.
    pub fn with_records(&self, groups: &[usize]) -> Vec<usize> {
        groups.iter().copied().filter(|&group| !self.records[group].is_empty()).collect()
    }

    /// Returns the records that hold for an agent to which `groups` apply, ascending.
    ///
    /// Content-Signal and License outside every group hold where the groups have none of their own;
    /// Content-Usage outside every group never holds. A License that is no licence
    /// ([`UsageRecord::is_license`](crate::syntax::UsageRecord::is_license)) never holds either, and
    /// replaces no other.
    pub fn in_force(&self, groups: &[usize]) -> Vec<u32> {
        let mut records: Vec<u32> =
            groups.iter().flat_map(|&group| &self.records[group]).copied().collect();
        let field = |record: u32| self.fields[record as usize];
        let replaced = [Field::ContentSignal, Field::License]
            .map(|other| records.iter().any(|&record| field(record) == other).then_some(other));
        let is_in_force = |record: &u32| !replaced.contains(&Some(field(*record)));
        records.extend(self.outside.iter().copied().filter(is_in_force));
        records.sort_unstable();
        records
    }
}

/// The number of fields that state preferences.
const SOURCES: usize = UsageSource::ALL.len();

/// The statements that hold for an agent, and its licences.
#[derive(Clone, Debug, Default)]
pub struct UsageRules {
    /// The patterns of each field, in the order of [`UsageSource::ALL`].
    fields: [Vec<Pattern>; SOURCES],
    wildcards: bool,
    /// The licences: positions in [`RobotsTxt::usage_records`].
    pub licenses: Vec<u32>,
}

/// The statements of one field about one label, in order of precedence: the first match decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelRules {
    /// The patterns. Labels with equal patterns can share an automaton.
    pub patterns: PatternList,
    /// The record of each pattern: a position in [`RobotsTxt::usage_records`].
    pub records: Vec<u32>,
    /// The preference of each pattern's record.
    pub preferences: Vec<Preference>,
}

/// The statements with one pattern.
#[derive(Clone, Debug)]
struct Pattern {
    /// The normal text; empty if the statements are about every path.
    text: Vec<u8>,
    /// For each label: the deciding preference among them, and its record.
    best: [(Preference, u32); Label::ALL.len()],
}

impl UsageRules {
    /// Finds the statements of `file` that hold for `agent`.
    pub fn of(file: &RobotsTxt<'_>, agent: &Crawler, dialect: &Dialect) -> UsageRules {
        let groups = UsageGroups::new(file);
        UsageRules::new(file, &groups.in_force(&groups.of_agent(agent, dialect)), &dialect.paths)
    }

    /// Finds the statements among `in_force`, which are records of `file`.
    pub fn new(file: &RobotsTxt<'_>, in_force: &[u32], paths: &PathRules) -> UsageRules {
        let mut rules = UsageRules { wildcards: paths.wildcards, ..UsageRules::default() };
        let mut known: HashMap<_, usize, foldhash::fast::RandomState> = HashMap::default();
        for &number in in_force {
            let Some(statement) = Statement::of(&file.usage_records()[number as usize]) else {
                rules.licenses.push(number);
                continue;
            };
            let Some(text) = pattern_of(&statement, paths) else { continue };
            let stated = statement.preferences.map(|preference| (preference, number));
            let patterns = &mut rules.fields[statement.source as usize];
            let place = *known.entry((statement.source, text.clone())).or_insert(patterns.len());
            match patterns.get_mut(place) {
                Some(pattern) => pattern.add(stated),
                None => patterns.push(Pattern { text, best: stated }),
            }
        }
        rules
    }

    /// Orders the statements about a label, of each field in the order of [`UsageSource::ALL`].
    pub fn about(&self, label: Label) -> [LabelRules; SOURCES] {
        self.fields.each_ref().map(|patterns| LabelRules::new(patterns, label, self.wildcards))
    }
}

/// Returns the path pattern of a statement in normal form, empty if it is about every path. `None` if the
/// pattern matches no path.
pub fn pattern_of(statement: &Statement<'_>, paths: &PathRules) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    statement.path.is_none_or(|path| normal_text(path, paths, &mut text)).then_some(text)
}

impl Pattern {
    /// Adds the preferences of a later statement with the same pattern.
    fn add(&mut self, stated: [(Preference, u32); Label::ALL.len()]) {
        for (best, new) in self.best.iter_mut().zip(stated) {
            if new.0.rank() < best.0.rank() {
                *best = new;
            }
        }
    }
}

impl LabelRules {
    fn new(patterns: &[Pattern], label: Label, wildcards: bool) -> LabelRules {
        // Without a star, two patterns of one length never match the same path, so their order has
        // no meaning. In file order, more labels have equal lists.
        let starred = patterns.iter().filter(|pattern| wildcards && pattern.text.contains(&b'*'));
        let starred: HashSet<usize, foldhash::fast::RandomState> =
            starred.map(|pattern| pattern.text.len()).collect();
        let best = |pattern: &Pattern| pattern.best[label as usize];
        let mut sorted: Vec<&Pattern> = patterns.iter().collect();
        sorted.sort_by_key(|pattern| {
            let length = pattern.text.len();
            // Of equals the first record decides, wherever its pattern was first seen.
            let competes = starred.contains(&length).then(|| best(pattern));
            let order = competes.map(|(preference, record)| (preference.rank(), record));
            (Reverse(length), order)
        });
        let mut rules = LabelRules::default();
        for pattern in sorted {
            match pattern.text.is_empty() {
                // This matches every path in every dialect.
                true => rules.patterns.push(b"*", true),
                false => rules.patterns.push(&pattern.text, wildcards),
            }
            let (preference, record) = best(pattern);
            rules.records.push(record);
            rules.preferences.push(preference);
        }
        rules
    }
}

/// Returns the statement of a record with this preference.
pub fn stated(preference: Preference, source: UsageSource, line: LineNumber) -> Stated {
    match preference {
        Preference::Unstated | Preference::NoAccess => Stated::UNSTATED,
        _ => Stated { preference, source: Some(source), line: Some(line) },
    }
}

/// Returns the preference for a path of which the fields state these: `n` of either goes before `y`, and
/// `y` before no preference (draft-ietf-aipref-vocab, "Combining Preferences"). Of equal ones the
/// earlier line is returned.
pub fn combined(of_fields: [Stated; SOURCES]) -> Stated {
    let [usage, signal] = of_fields;
    std::cmp::min_by_key(usage, signal, |it| (it.preference.rank(), it.line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::RFC_9309;

    /// `tests/oracle/usage.rs` compares which records hold and which one decides.
    #[test]
    fn labels_share_their_patterns_unless_stars_compete() {
        let rules = |text: &str| {
            let text = format!("User-agent: *\n{text}");
            let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
            UsageRules::of(&file, &Crawler::unnamed(), &RFC_9309)
        };
        let literal = rules(
            "Content-Usage: /a train-ai=n\nContent-Usage: /b search=n\nContent-Usage: search=y\n",
        );
        let [[train, _], _, [search, _], _] = Label::ALL.map(|label| literal.about(label));
        assert_eq!(train.patterns, search.patterns);
        assert_eq!((train.patterns.len(), &train.records[..]), (3, &[0, 1, 2][..]));
        let starred = rules("Content-Usage: /*a train-ai=y\nContent-Usage: /a* train-ai=n\n");
        let [[train, _], _, [search, _], _] = Label::ALL.map(|label| starred.about(label));
        assert_eq!((&train.records[..], &search.records[..]), (&[1, 0][..], &[0, 1][..]));
    }
}
