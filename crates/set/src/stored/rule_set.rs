//! Rule sets: where each is stored, and a view of it; and whether two files have the same records.

use portcullis_dialect::Field;
use portcullis_engine::block::Start;
use portcullis_engine::{Line, RuleSet};

use super::super::file::Damage;
use super::super::layout::RuleSetRow;
use super::PolicySet;
use super::policy::{Lines, RuleSetNumber, StoredPolicy};
use crate::lists::{ListReader, Role};

impl PolicySet {
    /// Returns the first line and the number of lines of the rule set with this number, as the index has
    /// them.
    #[inline]
    pub(super) fn rule_set_lines(&self, number: RuleSetNumber) -> Result<Lines, Damage> {
        let section = self.sections.rule_set_index;
        let row = &self.file.items::<RuleSetRow>(section, number.0.into(), 1)?[0];
        Ok((row.line.get(), row.lines.get()))
    }

    /// Returns the number of rule sets.
    pub fn rule_set_count(&self) -> u32 {
        let rows = self.sections.rule_set_index.bytes / size_of::<RuleSetRow>() as u64;
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// Returns the rule set with this number, after comparing its checksums and its form.
    pub fn rule_set(&self, number: RuleSetNumber) -> Result<RuleSet<'_>, Damage> {
        self.rule_set_at(self.rule_set_lines(number)?)
    }

    /// Returns the rule set of some lines, after comparing their checksums and their form.
    fn rule_set_at(&self, (first, count): Lines) -> Result<RuleSet<'_>, Damage> {
        let section = self.sections.rule_sets;
        let lines: &[Line] = self.file.items(section, first.into(), count.into())?;
        RuleSet::from_lines(lines).map_err(|error| self.malformed_rule_set(first, error.0))
    }

    /// Returns where the answers of the rule set of some lines begin, after checking it.
    pub(crate) fn start_at(&self, lines: Lines) -> Result<Start, Damage> {
        self.rule_set_at(lines)?;
        let out_of_reach = || self.malformed_rule_set(lines.0, "it is out of reach");
        Start::at(lines.0).ok_or_else(out_of_reach)
    }

    /// Returns a rule set, of whose form only the lengths of its parts are compared.
    pub(super) fn view(&self, (line, lines): Lines) -> Result<RuleSet<'_>, Damage> {
        let rules = self.file.items(self.sections.rule_sets, line.into(), lines.into())?;
        let odd = || self.malformed_rule_set(line, "its parts are longer than its bytes");
        RuleSet::view(rules).ok_or_else(odd)
    }

    /// Returns the lines of all rule sets. Only use the lines of a rule set that
    /// [`PolicySet::rule_set`] has checked.
    #[inline]
    pub(crate) fn all_lines(&self) -> &[Line] {
        self.file.uncompared_items(self.sections.rule_sets)
    }

    #[cold]
    fn malformed_rule_set(&self, first_line: u32, what: &'static str) -> Damage {
        let at = u64::from(first_line) * size_of::<Line>() as u64;
        self.file.malformed(self.sections.rule_sets, at, what)
    }
}

impl StoredPolicy<'_> {
    /// Returns whether both files have the same user-agent lines and rules in the same order, and whether
    /// they have the same usage records in groups with the same user-agent lines: equal kinds and values,
    /// byte for byte. Lines, the spelling of field names, comments and other records do not count.
    pub fn has_records_of(&self, other: &StoredPolicy<'_>) -> Result<[bool; 2], Damage> {
        let extracts = [self.extract()?, other.extract()?];
        let [own, others] = extracts.each_ref().map(|extract| {
            let (mut access, mut usage, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            let mut last_group = 0;
            // Usage records come last.
            for record in ListReader::from_extract(extract).flatten() {
                let known = (record.role, record.value());
                if !record.role.is_usage() {
                    if record.role == Role::STARTS_GROUP {
                        starts.push((record.line, access.len()));
                    }
                    access.push(known);
                    continue;
                }
                let group = starts.partition_point(|&(line, _)| line < record.line);
                if record.role.in_group && group > last_group {
                    let lines = access[starts[group - 1].1..].iter();
                    let is_agent = |(role, _): &&(Role, _)| role.field == Some(Field::UserAgent);
                    usage.extend(lines.take_while(is_agent));
                    last_group = group;
                }
                usage.push(known);
            }
            (access, usage)
        });
        Ok([own.0 == others.0, own.1 == others.1])
    }
}
