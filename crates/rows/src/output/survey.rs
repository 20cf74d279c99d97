//! The columns of a survey: a row for each origin and agent, and each period if asked for.
//!
//! These rows stand alone, without records of a list. [`TextRows`](super::TextRows) writes them
//! as text, [`RowColumns`](super::parquet::RowColumns) as Parquet.

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Stance};

use super::columns::{Field, FieldKind, ValueType};

/// How much an agent may fetch: the words of the column, in the order of the engine's `Reach`.
const ACCESS: [&str; 3] = ["all", "part", "none"];

/// A column of a survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyColumn {
    Origin,
    Host,
    Domain,
    Agent,
    State,
    Access,
    Root,
    Group,
    Named,
    Rules,
    CrawlDelay,
    Usage(Label),
    Licenses,
    Sitemaps,
    LicenseValues,
    SitemapValues,
    Captured,
    Since,
    Until,
}

impl SurveyColumn {
    /// Returns the columns in the order of the output, with the values of lists if `lists` is set.
    pub fn all(lists: bool) -> impl Iterator<Item = SurveyColumn> {
        use SurveyColumn::*;
        let before = [Origin, Host, Domain, Agent, State, Access, Root, Group, Named, Rules];
        let usage = Label::ALL.map(Usage);
        let values = [LicenseValues, SitemapValues].into_iter().filter(move |_| lists);
        let counts = [Licenses, Sitemaps];
        let all = before.into_iter().chain([CrawlDelay]).chain(usage).chain(counts);
        all.chain(values).chain([Captured, Since, Until])
    }

    /// Returns the columns as fields of an output.
    pub fn fields(lists: bool) -> Vec<Field> {
        let field = |column: SurveyColumn| Field {
            name: column.as_str().to_owned(),
            kind: FieldKind::Survey(column),
        };
        SurveyColumn::all(lists).map(field).collect()
    }

    /// Returns the name of the column.
    pub fn as_str(self) -> &'static str {
        match self {
            SurveyColumn::Origin => "origin",
            SurveyColumn::Host => "host",
            SurveyColumn::Domain => "domain",
            SurveyColumn::Agent => "agent",
            SurveyColumn::State => "state",
            SurveyColumn::Access => "access",
            SurveyColumn::Root => "root",
            SurveyColumn::Group => "group",
            SurveyColumn::Named => "named",
            SurveyColumn::Rules => "rules",
            SurveyColumn::CrawlDelay => "crawl_delay",
            SurveyColumn::Usage(Label::TrainAi) => "train_ai",
            SurveyColumn::Usage(Label::AiUse) => "ai_use",
            SurveyColumn::Usage(Label::Search) => "search",
            SurveyColumn::Licenses => "licenses",
            SurveyColumn::Sitemaps => "sitemaps",
            SurveyColumn::LicenseValues => "license_values",
            SurveyColumn::SitemapValues => "sitemap_values",
            SurveyColumn::Captured => "captured",
            SurveyColumn::Since => "since",
            SurveyColumn::Until => "until",
        }
    }

    /// Returns the type of the values, and whether some rows have no value.
    pub(super) fn value_type(self) -> (ValueType, bool) {
        match self {
            SurveyColumn::Origin | SurveyColumn::Host | SurveyColumn::Agent => {
                (ValueType::Repeated, false)
            }
            SurveyColumn::Domain | SurveyColumn::Group => (ValueType::Repeated, true),
            SurveyColumn::State | SurveyColumn::Root => (ValueType::Word, false),
            SurveyColumn::Access | SurveyColumn::Usage(_) => (ValueType::Word, true),
            SurveyColumn::Named => (ValueType::Flag, false),
            SurveyColumn::Rules | SurveyColumn::Licenses | SurveyColumn::Sitemaps => {
                (ValueType::Number, false)
            }
            SurveyColumn::CrawlDelay => (ValueType::Double, true),
            SurveyColumn::LicenseValues | SurveyColumn::SitemapValues => (ValueType::List, false),
            SurveyColumn::Captured | SurveyColumn::Since | SurveyColumn::Until => {
                (ValueType::Time, true)
            }
        }
    }

    /// Returns all words of the column; empty if its values are not words.
    pub(super) fn words(self) -> Vec<&'static str> {
        match self {
            SurveyColumn::State => PolicyState::ALL.map(PolicyState::as_str).into(),
            SurveyColumn::Access => ACCESS.into(),
            SurveyColumn::Root => Verdict::ALL.map(Verdict::as_str).into(),
            SurveyColumn::Usage(_) => Stance::ALL.map(Stance::as_str).into(),
            _ => Vec::new(),
        }
    }
}
