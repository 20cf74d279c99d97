//! The columns that a run adds to each record, for every output that has columns.
//!
//! This module defines the columns ([`Columns`]), their names ([`Columns::fields`]) and their types
//! ([`FieldKind`]). [`Added`](super::Added) has their values. TSV, CSV,
//! JSON Lines, Parquet and Arrow write the same values in their own form.
//!
//! Each agent has a column for each requested [`Column`], in the requested order, followed by the
//! columns of the next agent. The state of the origin is
//! the same for every agent, so it is one column, after the columns of the agents.
//!
//! If each record has an agent of its own, or a row for each agent ([`Columns::long`]), the columns are
//! `agent`, then those about it by their words.
//!
//! Cost: verdict and reason are already decided. State and delay are one look-up per record.
//! Line, rule and group, and the lines and licences of a use, are looked up for each record and agent,
//! which takes a few hundred nanoseconds.
//!
//! ```
//! use portcullis_rows::output::columns::Columns;
//!
//! let columns: Columns = "verdict,reason,state".parse().unwrap();
//! let fields = columns.fields(&["One", "Two"], "robots_").unwrap();
//! let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
//! let expected =
//!     ["robots_One", "robots_One_reason", "robots_Two", "robots_Two_reason", "robots_state"];
//! assert_eq!(names, expected);
//! ```

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter;
use std::str::FromStr;

use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference, UsageSource};

/// A value that is added to a record: of each agent, or once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The name of the row's agent. No value if the record's is not known.
    Agent,
    /// Allow, disallow, unknown or invalid.
    Verdict,
    /// The verdict as of now, next to that at the record's time. `--and-now` adds this column.
    Now,
    /// The reason of the verdict.
    Reason,
    /// The line of the deciding rule, counted from 1.
    Line,
    /// The path of the deciding rule.
    Rule,
    /// The value of the user-agent line of the group that applies.
    Group,
    /// The crawl delay in seconds.
    Delay,
    /// The preference about a use: `y`, `n`, `?` (not stated) or `-` (no access). `--usage` adds
    /// this column.
    Usage(Label),
    /// The preference about a use as of now. `--and-now` adds it next to [`Column::Usage`].
    UsageNow(Label),
    /// The line that states the preference about a use. A long table has it and the next two.
    UsageLine(Label),
    /// The value of that line.
    UsageRule(Label),
    /// The kind of that line.
    UsageSource(Label),
    /// The licences that hold, in a long table with uses. If they are many, the last one is `…`.
    Licenses,
    /// The [`PolicyState`] of the record's origin. No value if the record is not a URL.
    State,
    /// The date of the newest capture at the record's time.
    Captured,
    /// When the policy that is in force at the record's time begins.
    Since,
    /// When that policy ends. No value if it does not.
    Until,
}

impl Column {
    /// The columns of `--columns`.
    const NAMED: [Column; 11] = {
        use Column::*;
        [Agent, Verdict, Reason, Line, Rule, Group, Delay, State, Captured, Since, Until]
    };

    /// Returns the word of `--columns`, which follows the agent in names, the values, and whether some
    /// rows have none.
    fn described(self) -> (Cow<'static, str>, FieldKind, bool) {
        use FieldKind::{Double, List, Number, Text, Time, Word};
        let of = |label: Label, part| Cow::from(format!("{}_{part}", label.as_str()));
        match self {
            Column::Agent => ("agent".into(), Text, true),
            Column::Verdict => ("verdict".into(), Word(&Verdict::WORDS), false),
            Column::Now => ("now".into(), Word(&Verdict::WORDS), false),
            Column::Reason => ("reason".into(), Word(&Reason::WORDS), false),
            Column::Line => ("line".into(), Number, true),
            Column::Rule => ("rule".into(), Text, true),
            Column::Group => ("group".into(), Text, true),
            Column::Delay => ("delay".into(), Double, true),
            Column::Usage(label) => (label.as_str().into(), Word(&Preference::WORDS), false),
            Column::UsageNow(label) => (of(label, "now"), Word(&Preference::WORDS), false),
            Column::UsageLine(label) => (of(label, "line"), Number, true),
            Column::UsageRule(label) => (of(label, "rule"), Text, true),
            Column::UsageSource(label) => (of(label, "source"), Word(&UsageSource::WORDS), true),
            Column::Licenses => ("licenses".into(), List, false),
            Column::State => ("state".into(), Word(&PolicyState::WORDS), true),
            Column::Captured => ("captured".into(), Time, true),
            Column::Since => ("since".into(), Time, true),
            Column::Until => ("until".into(), Time, true),
        }
    }

    /// Returns the values of the column.
    pub fn kind(self) -> FieldKind {
        self.described().1
    }

    /// Whether a record has the value once, whatever the agents.
    fn is_of_record(self) -> bool {
        matches!(self, Column::State | Column::Captured | Column::Since | Column::Until)
    }
}

/// The subject of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RowOf {
    /// A record, and all agents.
    Record,
    /// A record and its own agent.
    RecordAgent,
    /// A record and one of the agents with these names.
    Answer(Vec<String>),
}

/// The columns that are added to each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    row_of: RowOf,
    /// The columns of each agent.
    per_agent: Vec<Column>,
    /// The columns that a record has once.
    of_record: Vec<Column>,
}

/// An added column, or one of rows that have no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in a header or schema.
    pub name: String,
    /// The values in it.
    pub kind: FieldKind,
    /// Whether some rows have no value.
    pub has_gaps: bool,
}

impl Field {
    /// Returns a column of rows that have no record.
    pub fn declared(name: &str, kind: FieldKind, has_gaps: bool) -> Field {
        Field { name: name.to_owned(), kind, has_gaps }
    }

    /// Returns the name as bytes.
    pub fn name_bytes(&self) -> &[u8] {
        self.name.as_bytes()
    }
}

/// The values of a column, which have a type in some outputs.
///
/// | column | type | records without a value |
/// |---|---|---|
/// | verdict, now, reason, label | word | none |
/// | line | number | without a deciding rule |
/// | delay | double | without a Crawl-delay that is a number |
/// | rule, group | text | without one |
/// | line, rule and source of a label | number, text, word | where it is not stated |
/// | licenses | list | none |
/// | state | word | not a URL |
/// | captured, since, until | time | without a policy at their time |
///
/// Rows that have no record declare theirs ([`Field::declared`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// One of these words, in the order of their numbers.
    Word(&'static [&'static str]),
    /// A number of 32 bits.
    Number,
    /// Text. Bytes that are not UTF-8 become U+FFFD.
    Text,
    /// A time in UTC.
    Time,
    /// Whether something holds.
    Flag,
    /// A number with a fraction.
    Double,
    /// Texts, as for `Text`.
    List,
}

impl FieldKind {
    /// Returns all words of the column, in the order of their numbers. Empty if its values are not
    /// words.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            FieldKind::Word(words) => words,
            _ => &[],
        }
    }
}

/// The error of columns that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// A word that is not a column.
    #[error(
        "no column '{0}'; the columns are agent, verdict, reason, line, rule, group, delay, state, \
         captured, since and until"
    )]
    NoColumn(String),
    /// A column is requested twice.
    #[error("the column {0} is named twice")]
    Twice(String),
    /// Two columns would have the same name.
    #[error(
        "two columns would have the name '{0}': one of the list and one that is added, or two that are added; \
         pass ‹column_prefix› and a prefix, such as pc_"
    )]
    SameName(String),
}

impl Default for Columns {
    /// Returns the column of the verdict only.
    fn default() -> Columns {
        Columns { per_agent: vec![Column::Verdict], ..Columns::none() }
    }
}

impl FromStr for Columns {
    type Err = ColumnsError;

    /// Parses the words of `--columns`, separated by commas.
    fn from_str(text: &str) -> Result<Columns, ColumnsError> {
        let mut columns = Columns::none();
        for word in text.split(',').map(str::trim) {
            let named = Column::NAMED.into_iter().find(|column| column.described().0 == word);
            let is_new = match named.ok_or_else(|| ColumnsError::NoColumn(word.to_owned()))? {
                // The first column, wherever it is named.
                Column::Agent => {
                    let row_of = std::mem::replace(&mut columns.row_of, RowOf::RecordAgent);
                    row_of == RowOf::Record
                }
                column => {
                    let Columns { per_agent, of_record, .. } = &mut columns;
                    let all = if column.is_of_record() { of_record } else { per_agent };
                    all.push(column);
                    all.iter().position(|it| *it == column) == Some(all.len() - 1)
                }
            };
            if !is_new {
                return Err(ColumnsError::Twice(word.to_owned()));
            }
        }
        Ok(columns)
    }
}

impl Columns {
    /// Returns no columns.
    pub fn none() -> Columns {
        let row_of = RowOf::Record;
        Columns { row_of, per_agent: vec![], of_record: vec![] }
    }

    /// Returns the columns of a long table by default: verdict, reason, line, rule and group.
    pub fn from_long() -> Columns {
        use Column::{Group, Line, Reason, Rule, Verdict};
        Columns { per_agent: vec![Verdict, Reason, Line, Rule, Group], ..Columns::none() }
    }

    /// Adds the agent of each record. The columns per agent are about it, and have no agent in their
    /// names.
    #[must_use]
    pub fn with_record_agent(self) -> Columns {
        Columns { row_of: RowOf::RecordAgent, ..self }
    }

    /// Adds the agent of each row, of which there is one for each record and each of the agents with
    /// these names. The columns per agent are about it, and have no agent in their names.
    #[must_use]
    pub fn long(self, agents: Vec<String>) -> Columns {
        Columns { row_of: RowOf::Answer(agents), ..self }
    }

    /// Whether each row has one agent, in a column of its own.
    pub fn has_agent(&self) -> bool {
        self.row_of != RowOf::Record
    }

    /// Returns the names of the agents that have rows of their own. `None` if a record has one row.
    pub fn agents_of_rows(&self) -> Option<&[String]> {
        match &self.row_of {
            RowOf::Answer(names) => Some(names),
            RowOf::Record | RowOf::RecordAgent => None,
        }
    }

    /// Returns the position of the first column of an agent.
    pub fn first_of_agent(&self, agent: usize) -> usize {
        usize::from(self.has_agent()) + agent * self.per_agent.len()
    }

    /// Returns the columns of each agent.
    pub fn per_agent(&self) -> &[Column] {
        &self.per_agent
    }

    /// Adds a column for each label after each agent's verdict, or after its other columns if it
    /// has no verdict; and for the verdict and each of these uses one as of now, if `has_now`.
    #[must_use]
    pub fn with_usage(mut self, labels: &[Label], has_now: bool) -> Columns {
        let verdict = self.per_agent.iter().position(|column| *column == Column::Verdict);
        let place = verdict.map_or(self.per_agent.len(), |verdict| verdict + 1);
        let now = |column| Some(column).filter(|_| has_now);
        let uses = labels.iter().flat_map(|&label| {
            iter::once(Column::Usage(label)).chain(now(Column::UsageNow(label)))
        });
        let [first, last] = [true, false]
            .map(|is_first| now(Column::Now).filter(|_| verdict.is_some() == is_first));
        self.per_agent.splice(place..place, first.into_iter().chain(uses).chain(last));
        self
    }

    /// Adds the line, the rule and the source of each label, and the licences, after the other columns
    /// of each agent.
    #[must_use]
    pub fn with_statements(mut self, labels: &[Label]) -> Columns {
        let of_label = |&label: &Label| {
            [Column::UsageLine(label), Column::UsageRule(label), Column::UsageSource(label)]
        };
        self.per_agent.extend(labels.iter().flat_map(of_label));
        self.per_agent.extend((!labels.is_empty()).then_some(Column::Licenses));
        self
    }

    /// Whether columns about the time of the record are added.
    pub fn need_times(&self) -> bool {
        self.of_record.iter().any(|column| *column != Column::State)
    }

    /// Whether crawl delays are read.
    pub fn need_delays(&self) -> bool {
        self.per_agent.contains(&Column::Delay)
    }

    /// Whether values are read from the policy, which costs a look-up per record and agent.
    pub fn need_rules(&self) -> bool {
        let from_policy = [Column::Line, Column::Rule, Column::Group];
        self.per_agent.iter().any(|column| from_policy.contains(column))
    }

    /// Whether the statements about uses are read from the policy.
    pub fn need_statements(&self) -> bool {
        self.per_agent.contains(&Column::Licenses)
    }

    /// Returns the added columns of this number of agents, in the order of the output, each with the
    /// number of its agent. Those that a row has once have the first.
    pub fn of_agents(&self, agents: usize) -> impl Iterator<Item = (usize, Column)> {
        let of_agent = |agent| self.per_agent.iter().map(move |&column| (agent, column));
        let own = self.has_agent().then_some(Column::Agent);
        let agents = if self.has_agent() { 1 } else { agents };
        let once = |column| (0, column);
        let of_record = self.of_record.iter().copied().map(once);
        own.into_iter().map(once).chain((0..agents).flat_map(of_agent)).chain(of_record)
    }

    /// Returns the added columns for agents with these names, in the order of the output.
    ///
    /// # Errors
    ///
    /// If two columns would have the same name.
    pub fn fields(
        &self,
        agents: &[impl AsRef<str>],
        prefix: &str,
    ) -> Result<Vec<Field>, ColumnsError> {
        let field = |(agent, column): (usize, Column)| {
            let (word, kind, has_gaps) = column.described();
            let name = match column {
                _ if self.has_agent() || column.is_of_record() => word.into_owned(),
                Column::Verdict => agents[agent].as_ref().to_owned(),
                _ => format!("{}_{word}", agents[agent].as_ref()),
            };
            Field { name: format!("{prefix}{name}"), kind, has_gaps }
        };
        let fields: Vec<Field> = self.of_agents(agents.len()).map(field).collect();
        let mut seen = HashSet::new();
        match fields.iter().find(|field| !seen.insert(&field.name)) {
            Some(field) => Err(ColumnsError::SameName(field.name.clone())),
            None => Ok(fields),
        }
    }
}

/// Checks that the columns of an input and the added ones have different names.
///
/// # Errors
///
/// If an added column has the name of another column.
pub fn no_collision(input: &[impl AsRef<[u8]>], added: &[Field]) -> Result<(), ColumnsError> {
    let own: HashSet<&[u8]> = input.iter().map(AsRef::as_ref).collect();
    match added.iter().find(|field| own.contains(field.name_bytes())) {
        Some(field) => Err(ColumnsError::SameName(field.name.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(columns: &str, agents: &[&str]) -> Result<Vec<String>, ColumnsError> {
        let fields = columns.parse::<Columns>()?.fields(agents, "")?;
        Ok(fields.into_iter().map(|field| field.name).collect())
    }

    #[test]
    fn words_and_names() {
        let cases: [(&str, &[&str]); 4] = [
            ("verdict", &["A", "B"]),
            ("reason, verdict", &["A_reason", "A", "B_reason", "B"]),
            (
                "line,rule,group,state",
                &["A_line", "A_rule", "A_group", "B_line", "B_rule", "B_group", "state"],
            ),
            ("until,state,captured", &["until", "state", "captured"]),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text, &["A", "B"]).unwrap(), expected, "{text}");
        }
        assert_eq!("verdict".parse(), Ok(Columns::default()));
        let error = ColumnsError::NoColumn("x".to_owned()).to_string();
        let words = Column::NAMED.map(|column| column.described().0).join(", ");
        assert!(error.replace(" and ", ", ").ends_with(&words), "{error}");
    }

    #[test]
    fn usage_follows_the_verdict() {
        let names = |columns: &str| {
            let columns: Columns = columns.parse().unwrap();
            let columns = columns.with_usage(&[Label::TrainAi, Label::Search], false);
            let fields = columns.fields(&["A", "B"], "").unwrap();
            fields.into_iter().map(|field| field.name).collect::<Vec<_>>()
        };
        let expected =
            ["A", "A_train-ai", "A_search", "A_line", "B", "B_train-ai", "B_search", "B_line"];
        assert_eq!(names("verdict,line"), expected);
        assert_eq!(names("line")[..3], ["A_line", "A_train-ai", "A_search"]);
    }

    #[test]
    fn a_long_table_has_the_columns_of_one_agent() {
        let names = |columns: Columns| {
            let columns = columns.long(vec!["A".to_owned(), "B".to_owned()]);
            let fields = columns.fields(&["A", "B"], "").unwrap();
            fields.into_iter().map(|field| field.name).collect::<Vec<_>>().join(",")
        };
        let long = Columns::from_long();
        assert_eq!(names(long.clone()), "agent,verdict,reason,line,rule,group");
        let labels = [Label::Search];
        assert_eq!(
            names(long.with_usage(&labels, false).with_statements(&labels)),
            "agent,verdict,search,reason,line,rule,group,search_line,search_rule,search_source,licenses"
        );
        assert_eq!(names("state,delay".parse().unwrap()), "agent,delay,state");
    }

    #[test]
    fn only_columns_of_words_have_words() {
        let preference = Column::Usage(Label::Search).kind();
        assert_eq!(preference.words()[Preference::Unstated as usize], "?");
        assert!(Column::Line.kind().words().is_empty());
    }

    #[test]
    fn words_that_are_refused() {
        let refused = |text: &str| text.parse::<Columns>().unwrap_err();
        assert_eq!(refused("verdict,verdict"), ColumnsError::Twice("verdict".into()));
        assert_eq!(refused("since,since"), ColumnsError::Twice("since".into()));
        for text in ["", "verdict,", "Verdict", "lines"] {
            assert!(matches!(refused(text), ColumnsError::NoColumn(_)), "{text}");
        }
    }

    #[test]
    fn names_do_not_collide() {
        let same = |name: &str| Err(ColumnsError::SameName(name.into()));
        assert_eq!(names("verdict,reason", &["A", "A_reason"]), same("A_reason"));
        assert_eq!(names("verdict,state", &["state"]), same("state"));
        let fields = Columns::default().fields(&["GPTBot"], "").unwrap();
        assert_eq!(no_collision(&["url", "gptbot"], &fields), Ok(()));
        assert_eq!(no_collision(&["url", "GPTBot"], &fields).map(|()| vec![]), same("GPTBot"));
    }

    #[test]
    fn only_texts_need_rules() {
        for (text, need_rules) in
            [("verdict,reason,state", false), ("line", true), ("rule", true), ("group", true)]
        {
            assert_eq!(text.parse::<Columns>().unwrap().need_rules(), need_rules, "{text}");
        }
    }
}
