//! Parsing: bytes to groups, rules and notes.
//!
//! Owns the structure of a robots.txt file; [`policy`](crate::policy) gives it meaning for an
//! agent. Parsing never fails and copies no value: any bytes are a valid file, unreadable lines
//! become a [`Note`], and every value points into the text. The
//! [`Dialect`](portcullis_dialect::dialect::Dialect) decides every detail.
//!
//! Use [`RobotsTxt::parse`] for groups and rules, [`records`] for lines and their content. Cost: linear in the
//! bytes read; only the lists are allocated.
//!
//! ```
//! use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
//! use portcullis_dialect::{RFC_9309, Verdict};
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let text = b"User-agent: *\nDisallow: /private/ # not for robots\n";
//! let file = RobotsTxt::parse(text, &RFC_9309, Some(ROBOTS_BYTES_MAX));
//! let rule = file.rules()[0];
//! assert_eq!((rule.verdict, rule.value), (Verdict::Disallow, &b"/private/"[..]));
//! assert_eq!(file.groups()[0].rules, 0..1);
//! assert!(file.notes().is_empty());
//! ```

mod dictionary;
mod joined;
mod lines;
mod note;
mod parser;
mod record;
mod statement;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use dictionary::{UsageMember, usage_members};
pub use joined::joined_records;
pub use lines::{BYTE_ORDER_MARK, Records, Span, record_of, records};
pub use note::{Note, NoteKind, NoteSet, appearance, begins_as_html, behind_space, markup};
pub use record::{Content, EXTENSIONS, Line, Record, is_extension};
pub use statement::{Statement, is_absolute_uri, signals};

use portcullis_dialect::{Field, LineNumber, RuleID, Verdict};

/// A parsed robots.txt file, which borrows the text.
///
/// Positions in its lists have 32 bits: a list has no more items than the file has lines, and fewer than
/// 2^32 bytes are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsTxt<'t> {
    groups: Vec<Group>,
    rules: Vec<Rule<'t>>,
    user_agents: Vec<UserAgentLine<'t>>,
    usage_records: Vec<UsageRecord<'t>>,
    other_records: Vec<OtherRecord<'t>>,
    notes: Vec<Note>,
}

/// User-agent lines and the rules after them (RFC 9309, section 2.1). A group may have no rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Group {
    /// Positions in [`RobotsTxt::user_agents`], at least one.
    pub user_agents: Range<u32>,
    /// Positions in [`RobotsTxt::rules`].
    pub rules: Range<u32>,
}

impl Group {
    /// Returns the numbers of the group's rules.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleID> + use<> {
        self.rules.clone().map(RuleID)
    }
}

/// A line that names a crawler and starts or extends a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UserAgentLine<'t> {
    /// The value, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record, from its field to the end of its value.
    pub span: Span,
}

/// An allow or disallow line in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rule<'t> {
    /// [`Verdict::Allow`] or [`Verdict::Disallow`].
    pub verdict: Verdict,
    /// The path pattern, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record, from its field to the end of its value.
    pub span: Span,
}

/// A usage record: Content-Usage, Content-Signal or License. It has no effect on access.
/// [`Statement`] reads the first two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UsageRecord<'t> {
    /// [`Field::ContentUsage`], [`Field::ContentSignal`] or [`Field::License`].
    pub field: Field,
    /// The value, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record, from its field to the end of its value.
    pub span: Span,
    /// The last user-agent line before it, a position in [`RobotsTxt::user_agents`]; `None` if the
    /// record is outside every group.
    pub user_agent: Option<u32>,
}

impl UsageRecord<'_> {
    /// Returns whether the record is a licence: a License whose value is an absolute URI.
    pub fn is_license(&self) -> bool {
        self.field == Field::License && is_absolute_uri(self.value)
    }
}

/// A record without effect on decisions: a sitemap or an unknown field. It belongs to no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct OtherRecord<'t> {
    /// [`Field::Sitemap`], or `None` if the dialect does not know the field.
    pub field: Option<Field>,
    /// The field, trimmed, as written.
    pub name: &'t [u8],
    /// The value, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record, from its field to the end of its value.
    pub span: Span,
}

impl<'t> RobotsTxt<'t> {
    /// Returns a file of the same user-agent lines, without anything else, in the groups of records that
    /// end a run of user-agent lines where access does not. `ended` has the last user-agent line before
    /// each such record, ascending.
    pub(crate) fn divided(&self, ended: &[u32]) -> RobotsTxt<'t> {
        let mut groups = Vec::new();
        for group in &self.groups {
            let mut start = group.user_agents.start;
            for line in group.user_agents.clone() {
                let end = line + 1;
                if end == group.user_agents.end || ended.binary_search(&line).is_ok() {
                    groups.push(Group { user_agents: start..end, rules: 0..0 });
                    start = end;
                }
            }
        }
        RobotsTxt { groups, user_agents: self.user_agents.clone(), ..RobotsTxt::default() }
    }

    /// Returns the position of the group that has a user-agent line.
    #[doc(hidden)]
    pub fn group_of(&self, user_agent: u32) -> usize {
        self.groups.partition_point(|group| group.user_agents.end <= user_agent)
    }

    /// Returns the position of the last user-agent line before `line`; `None` if there is none.
    #[doc(hidden)]
    pub fn user_agent_before(&self, line: LineNumber) -> Option<u32> {
        (self.user_agents.partition_point(|it| it.line < line) as u32).checked_sub(1)
    }

    /// Adds a user-agent line, which starts a group or extends the last one.
    fn push_user_agent(&mut self, line: UserAgentLine<'t>, starts_group: bool) {
        let position = self.user_agents.len() as u32;
        self.user_agents.push(line);
        if starts_group {
            self.end_group();
            let rules = self.rules.len() as u32;
            self.groups.push(Group { user_agents: position..position, rules: rules..rules });
        }
        if let Some(group) = self.groups.last_mut() {
            group.user_agents.end = position + 1;
        }
    }

    /// Ends the last group with the last rule.
    fn end_group(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.rules.end = self.rules.len() as u32;
        }
    }

    /// Returns the groups, in file order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the rules of all groups, in file order. A [`RuleID`] is a position in this list.
    pub fn rules(&self) -> &[Rule<'t>] {
        &self.rules
    }

    /// Returns all user-agent lines, in file order.
    pub fn user_agents(&self) -> &[UserAgentLine<'t>] {
        &self.user_agents
    }

    /// Returns the usage records, in file order.
    pub fn usage_records(&self) -> &[UsageRecord<'t>] {
        &self.usage_records
    }

    /// Returns all other records, in file order.
    pub fn other_records(&self) -> &[OtherRecord<'t>] {
        &self.other_records
    }

    /// Returns whether the text looks like a web page, JSON or binary data, and states nothing.
    pub fn is_page(&self) -> bool {
        // The note on the whole file is the last one. A web page with rules has it too, and no file that
        // only states preferences has one.
        let last = self.notes.last();
        self.rules.is_empty() && last.is_some_and(|note| NoteKind::APPEARANCES.contains(&note.kind))
    }

    /// Returns the notes on lines, in file order, then those on the whole file.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the user-agent lines of `group`. May panic if `group` belongs to another file.
    pub fn user_agents_of(&self, group: &Group) -> &[UserAgentLine<'t>] {
        &self.user_agents[group.user_agents.start as usize..group.user_agents.end as usize]
    }

    /// Returns the rules of `group`. May panic if `group` belongs to another file.
    pub fn rules_of(&self, group: &Group) -> &[Rule<'t>] {
        &self.rules[group.rules.start as usize..group.rules.end as usize]
    }
}

/// A file that is put together of its stored records, in file order.
///
/// Its methods return `None` if a record cannot follow those before it.
#[derive(Debug)]
pub struct ExtractedFile<'t>(RobotsTxt<'t>);

/// A record of a [`ExtractedFile`]: its value, line and place.
#[derive(Clone, Copy, Debug)]
pub struct ExtractedRecord<'t> {
    /// The value.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record, from its field to the end of its value.
    pub span: Span,
}

impl<'t> ExtractedFile<'t> {
    /// Returns a file without records, with memory for so many rules.
    pub fn with_capacity(rules: usize) -> ExtractedFile<'t> {
        ExtractedFile(RobotsTxt { rules: Vec::with_capacity(rules), ..RobotsTxt::default() })
    }

    /// Adds a user-agent line, which starts a group or extends the last one.
    pub fn user_agent(&mut self, record: ExtractedRecord<'t>, starts_group: bool) -> Option<()> {
        let ExtractedRecord { value, line, span } = record;
        self.0.push_user_agent(UserAgentLine { value, line, span }, starts_group);
        let has_rules = |group: &Group| (group.rules.start as usize) < self.0.rules.len();
        self.0.groups.last().is_some_and(|group| !has_rules(group)).then_some(())
    }

    /// Adds a rule to the last group.
    #[inline]
    pub fn rule(&mut self, verdict: Verdict, record: ExtractedRecord<'t>) -> Option<()> {
        let ExtractedRecord { value, line, span } = record;
        self.0.rules.push(Rule { verdict, value, line, span });
        (!self.0.groups.is_empty()).then_some(())
    }

    /// Adds a usage record, which is in the group of the last user-agent line before it or in none.
    pub fn usage(
        &mut self,
        field: Field,
        record: ExtractedRecord<'t>,
        in_group: bool,
    ) -> Option<()> {
        let ExtractedRecord { value, line, span } = record;
        let user_agent = if in_group { Some(self.0.user_agent_before(line)?) } else { None };
        self.0.usage_records.push(UsageRecord { field, value, line, span, user_agent });
        Some(())
    }

    /// Returns the file. It has no other records and no notes.
    pub fn finish(mut self) -> RobotsTxt<'t> {
        self.0.end_group();
        self.0
    }
}
