//! Bytes to groups and rules: the form of a robots.txt file, without its meaning.
//!
//! Parsing never fails and copies no value: any bytes of any size are a file, what cannot be read
//! is left out with a [`Note`], and every value points into the text. Each decision on the way
//! (line ends, comments, misspelt fields, what ends a record) comes from the
//! [`Dialect`].
//!
//! Use [`RobotsTxt::parse`] for the lists that a policy is built from, [`records`] for the lines
//! alone, [`Lexer`] for the lines before they are read. What a product token or a path pattern
//! means, and which group speaks to whom, is decided elsewhere.
//!
//! Cost: linear in the bytes that are read, with one look ahead for each line end; nothing is
//! allocated but the lists.
//!
//! ```
//! use portcullis_dialect::decision::Verdict;
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let text = b"User-agent: *\nDisallow: /private/ # not for robots\n";
//! let file = RobotsTxt::parse(text, &RFC_9309, Some(ROBOTS_BYTES_MAX));
//! let rule = file.rules()[0];
//! assert_eq!((rule.verdict, rule.value), (Verdict::Disallow, &b"/private/"[..]));
//! assert_eq!(file.groups()[0].rules, 0..1);
//! assert!(file.notes().is_empty());
//! ```

mod extract;
mod lexer;
mod note;
mod parser;
mod record;
mod records;
mod span;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use extract::{ExtractWriter, OthersWriter, RecordKind, read_others};
pub use lexer::{Lexer, RawLine};
pub use note::{Note, NoteKind, NoteSet, appearance};
pub use record::{Content, EXTENSIONS, Line, Record, is_extension};
pub use records::{Records, records};
pub use span::Span;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_dialect::id::{LineNumber, RuleID};

/// A parsed robots.txt file; it borrows the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsTxt<'t> {
    groups: Vec<Group>,
    rules: Vec<Rule<'t>>,
    user_agents: Vec<UserAgentLine<'t>>,
    other_records: Vec<OtherRecord<'t>>,
    notes: Vec<Note>,
}

/// Some user-agent lines and the rules after them (RFC 9309, section 2.1).
///
/// Both ranges are positions in the file's lists; a group may be without rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// Positions in [`RobotsTxt::user_agents`], at least one.
    pub user_agents: Range<u32>,
    /// Positions in [`RobotsTxt::rules`].
    pub rules: Range<u32>,
}

impl Group {
    /// The group's rules by their numbers in the file.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleID> + use<> {
        self.rules.clone().map(RuleID)
    }
}

/// A line that names a robot, and starts or extends a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UserAgentLine<'t> {
    /// The value, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record in the file, from its field to its value; the value is its end.
    pub span: Span,
}

/// A line that allows or disallows, and stands in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule<'t> {
    /// [`Verdict::Allow`] or [`Verdict::Disallow`].
    pub verdict: Verdict,
    /// The path pattern, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record in the file, from its field to its value; the value is its end.
    pub span: Span,
}

/// A record that decides nothing: a sitemap, a crawl-delay, or a field that the dialect does not
/// know. It is tied to no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OtherRecord<'t> {
    /// [`Field::Sitemap`], or nothing for a field that the dialect does not know.
    pub field: Option<Field>,
    /// The field, trimmed, as written.
    pub name: &'t [u8],
    /// The value, trimmed, as written; it may be empty.
    pub value: &'t [u8],
    /// The line.
    pub line: LineNumber,
    /// The record in the file, from its field to its value; the value is its end.
    pub span: Span,
}

impl<'t> RobotsTxt<'t> {
    /// Parses the first `bytes_max` bytes of `text` (all, if there is no limit) by `dialect`.
    ///
    /// A line that the limit cuts is left out, with a note. No text is read past
    /// [`Span::POSITION_MAX`] bytes.
    pub fn parse(text: &'t [u8], dialect: &Dialect, bytes_max: Option<usize>) -> RobotsTxt<'t> {
        parser::parse(text, dialect, bytes_max)
    }

    /// The groups, in file order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All rules that stand in a group, in file order. A [`RuleID`] is a position in this list.
    pub fn rules(&self) -> &[Rule<'t>] {
        &self.rules
    }

    /// All user-agent lines, in file order.
    pub fn user_agents(&self) -> &[UserAgentLine<'t>] {
        &self.user_agents
    }

    /// All records that are neither user-agent lines nor rules, in file order.
    pub fn other_records(&self) -> &[OtherRecord<'t>] {
        &self.other_records
    }

    /// Remarks on the lines, in file order, then those on the whole file.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The user-agent lines of `group`, which is one of this file's.
    ///
    /// # Panics
    ///
    /// If the group is another file's and this one has fewer lines.
    pub fn user_agents_of(&self, group: &Group) -> &[UserAgentLine<'t>] {
        &self.user_agents[group.user_agents.start as usize..group.user_agents.end as usize]
    }

    /// The rules of `group`, which is one of this file's.
    ///
    /// # Panics
    ///
    /// If the group is another file's and this one has fewer rules.
    pub fn rules_of(&self, group: &Group) -> &[Rule<'t>] {
        &self.rules[group.rules.start as usize..group.rules.end as usize]
    }
}
