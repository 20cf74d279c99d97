//! The values that are read from a record: the URL, and its host, the time and the agent if they are
//! asked for.
//!
//! Each format finds all values in one pass. [`Place`] says where they are, [`Values`] is what was
//! found.

use super::access_log::AccessLine;
use super::cdx::CdxLine;
use super::delimited::Columns;
use super::host::HostConfig;
use super::json::Members;
use super::w3c::W3cLine;
use super::{Arena, FieldPath, ListFormat, Problem};
use crate::input::Record;
use portcullis_captures::json_path::FieldValue;
use portcullis_robots::access::{TimeUnit, UnixSeconds, in_range};

/// The place of the time in each record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AtPlace {
    /// No time is read.
    #[default]
    Nowhere,
    /// Where the format has it: the second word of CDXJ and CDX, the first one of a crawl.log, the
    /// brackets of an access log, the date and time of a W3C extended log.
    Record,
    /// The column of CSV, TSV or Parquet with this name or number, counted from 1.
    Column(String),
    /// Members of the objects in JSON Lines or CDXJ. The first that an object has counts.
    Fields(Vec<FieldPath>),
}

/// The place of the agent in each record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentPlace {
    /// No agent is read.
    #[default]
    Nowhere,
    /// Where the format has it: the User-Agent header in a log.
    Record,
    /// The column of CSV, TSV or Parquet with this name or number, counted from 1.
    Column(String),
    /// Members of the objects in JSON Lines or CDXJ. The first that an object has counts.
    Fields(Vec<FieldPath>),
}

impl AgentPlace {
    /// Returns the column with the agent.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            AgentPlace::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Returns the members with the agent.
    pub(super) fn fields(&self) -> &[FieldPath] {
        match self {
            AgentPlace::Fields(fields) => fields,
            _ => &[],
        }
    }

    /// Checks that records of a format can have the place. The error says what to do.
    pub(super) fn check(&self, format: ListFormat) -> Result<(), String> {
        use ListFormat::{AccessLog, Cdxj, Csv, JsonLines, Parquet, Tsv, W3cLog};
        let problem = match (self, format) {
            (AgentPlace::Nowhere, _)
            | (AgentPlace::Record, AccessLog | W3cLog)
            | (AgentPlace::Column(_), Csv | Tsv | Parquet)
            | (AgentPlace::Fields(_), JsonLines | Cdxj) => return Ok(()),
            (AgentPlace::Record, _) => "have no agent of their own",
            (AgentPlace::Column(_), _) => "have no columns",
            (AgentPlace::Fields(_), _) => "have no fields",
        };
        let fix = match format {
            AccessLog | W3cLog => "use --agent-record",
            Csv | Tsv | Parquet => "name the column with the agent with --agent-column",
            JsonLines | Cdxj => "name the field with the agent with --agent-field",
            _ => "use a format with agents, such as CSV with --agent-column",
        };
        Err(format!("records of {} {problem}; {fix}", format.describe()))
    }
}

/// How the time of each record is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtConfig {
    /// The place of the time.
    pub place: AtPlace,
    /// The unit of numbers. `None` if times are not numbers.
    pub unit: Option<TimeUnit>,
}

impl AtConfig {
    pub(super) fn is_asked(&self) -> bool {
        self.place != AtPlace::Nowhere
    }

    /// Returns the column with the time.
    pub(super) fn column(&self) -> Option<&str> {
        match &self.place {
            AtPlace::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Returns the members with the time.
    pub(super) fn fields(&self) -> &[FieldPath] {
        match &self.place {
            AtPlace::Fields(fields) => fields,
            _ => &[],
        }
    }

    /// Checks that records of a format can have the place. The error says what to do.
    pub(super) fn check(&self, format: ListFormat) -> Result<(), String> {
        use ListFormat::{AccessLog, Cdx, Cdxj, CrawlLog, Csv, JsonLines, Parquet, Tsv, W3cLog};
        let problem = match (&self.place, format) {
            (AtPlace::Nowhere, _)
            | (AtPlace::Record, AccessLog | Cdx | Cdxj | CrawlLog | W3cLog)
            | (AtPlace::Column(_), Csv | Tsv | Parquet)
            | (AtPlace::Fields(_), JsonLines | Cdxj) => return Ok(()),
            (AtPlace::Record, _) => "have no time of their own",
            (AtPlace::Column(_), _) => "have no columns",
            (AtPlace::Fields(_), _) => "have no fields",
        };
        let fix = match format {
            Csv | Tsv | Parquet => "name the column with the time with --at-column",
            JsonLines => "name the field with the time with --at-field",
            Cdxj => "use --at record, or name the field with the time with --at-field",
            AccessLog | Cdx | CrawlLog | W3cLog => "use --at record",
            _ => {
                "give one time for all with --at TIME, or use a format with times, such as CSV with \
                  --at-column or JSON Lines with --at-field"
            }
        };
        Err(format!("records of {} {problem}; {fix}", format.describe()))
    }
}

/// The place of the values in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The text is the URL.
    Text,
    /// Members of the text, a JSON object.
    Fields(Members),
    /// Fields of the row.
    Columns(Columns),
    /// Members of the object after the second space. The time may be the word before it.
    Cdxj(Members),
    /// Fields of a line, or of a row of JSON.
    Cdx(CdxLine),
    /// The URL is the second word of a line in a recover journal.
    JournalWord,
    /// The URL is the fourth word of a line in a crawl.log, and the time the first.
    LogWords,
    /// The request of a line in an access log.
    AccessLine(AccessLine),
    /// Fields of a line in a W3C extended log.
    W3cLine(W3cLine),
    /// The URL is the first line up to TAB.
    DumpLine,
    /// Columns of decoded rows.
    Rows,
}

/// The values in a record.
pub(super) struct Values<'c> {
    pub url: Result<&'c [u8], Problem>,
    /// `None` if there is none, it cannot be read, or it is not asked for.
    pub time: Option<UnixSeconds>,
    /// `None` if there is none, it is no text, or it is not asked for.
    pub agent: Option<&'c [u8]>,
    /// The host of a URL that is a path alone. `None` if there is none, or it is not asked for.
    pub host: Option<&'c [u8]>,
}

impl<'c> Values<'c> {
    pub(super) fn of_url(url: Result<&'c [u8], Problem>) -> Values<'c> {
        Values { url, time: None, agent: None, host: None }
    }

    /// Returns `record` with the URL. `hosts` completes paths.
    pub(super) fn of_record(
        self,
        record: Record<'c>,
        hosts: Option<&HostConfig>,
        arena: &'c Arena,
    ) -> Record<'c> {
        let url = match (self.url, hosts) {
            (Ok(path @ [b'/', ..]), Some(hosts)) => hosts.url_of(path, self.host, arena),
            (url, _) => url,
        };
        match url {
            _ if record.text().trim_ascii().is_empty() => record.with_url(b""),
            Ok(url) => record.with_url(url),
            Err(problem) => record.with_problem(problem),
        }
    }
}

/// Returns the time that a value means; `None` if it is none.
pub(super) fn time_of(value: &FieldValue<'_>, unit: Option<TimeUnit>) -> Option<UnixSeconds> {
    match value {
        FieldValue::Text(text) => UnixSeconds::from_text(text, unit),
        FieldValue::Number(number) => UnixSeconds::from_number(*number, unit?),
        FieldValue::Time(seconds) => in_range(*seconds),
        FieldValue::Null | FieldValue::Boolean(_) | FieldValue::Other(_) => None,
    }
}
