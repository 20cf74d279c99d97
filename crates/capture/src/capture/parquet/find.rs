//! Which column holds what.

use arrow_schema::{DataType, Schema};

use crate::capture::ParquetColumns;

use super::values::{holds_bytes, holds_numbers, holds_times};

/// Where the columns stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub subject: SubjectColumn,
    pub status: usize,
    pub body: usize,
    pub fetched_at: Option<usize>,
}

/// The column that says what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubjectColumn {
    Url(usize),
    Host(usize),
}

impl Places {
    /// The columns of the file, in its order.
    pub fn of_file(&self) -> Vec<usize> {
        let (SubjectColumn::Url(subject) | SubjectColumn::Host(subject)) = self.subject;
        let mut columns = vec![subject, self.status, self.body];
        columns.extend(self.fetched_at);
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The same places if the file had only these columns.
    pub fn within_projection(&self) -> Places {
        let columns = self.of_file();
        let place = |column| columns.partition_point(|&other| other < column);
        Places {
            subject: match self.subject {
                SubjectColumn::Url(column) => SubjectColumn::Url(place(column)),
                SubjectColumn::Host(column) => SubjectColumn::Host(place(column)),
            },
            status: place(self.status),
            body: place(self.body),
            fetched_at: self.fetched_at.map(place),
        }
    }
}

/// A thing that a column can hold.
struct Wanted<'w> {
    /// What it is, with the word for it in [`ParquetColumns`].
    what: &'static str,
    /// The column's name, if the caller knows it.
    given: &'w Option<String>,
    /// The names that it usually has.
    usual: &'static [&'static str],
    /// Whether a column of this type can hold it, and what such types are called.
    fits: fn(&DataType) -> bool,
    types: &'static str,
}

impl Wanted<'_> {
    /// The place of the column, if there is one. What is wrong is the error.
    fn find(&self, schema: &Schema) -> Result<Option<usize>, String> {
        let place = match self.given {
            Some(name) => {
                let found = schema.fields().iter().position(|field| field.name() == name);
                Some(found.ok_or_else(|| {
                    format!(
                        "there is no column {name} for the {}; {}",
                        self.what,
                        there_are(schema)
                    )
                })?)
            }
            None => self.usual.iter().find_map(|name| {
                schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name))
            }),
        };
        let Some(place) = place else {
            return Ok(None);
        };
        let field = schema.field(place);
        if !(self.fits)(field.data_type()) {
            return Err(format!(
                "the column {} holds {}; for the {} it has to hold {}; name another",
                field.name(),
                field.data_type(),
                self.what,
                self.types
            ));
        }
        Ok(Some(place))
    }

    /// The place of a column that there has to be.
    fn find_needed(&self, schema: &Schema) -> Result<usize, String> {
        self.find(schema)?.ok_or_else(|| missing(self.what, &[self.usual], schema))
    }
}

/// Finds the columns of a file with this schema. What is wrong is the error.
pub(super) fn find(schema: &Schema, columns: &ParquetColumns) -> Result<Places, String> {
    const TEXTS: &str = "texts or bytes";
    let wanted =
        |what, given, usual| Wanted { what, given, usual, fits: holds_bytes, types: TEXTS };
    let url = wanted("url", &columns.url, &["url", "robots_url", "uri"]);
    let host = wanted("host", &columns.host, &["host", "domain", "hostname"]);
    let body = wanted("body", &columns.body, &["body", "content", "robots_txt", "text"]);
    let status = Wanted {
        what: "status",
        given: &columns.status,
        usual: &["status", "fetch_status", "http_status"],
        fits: holds_numbers,
        types: "numbers",
    };
    let fetched_at = Wanted {
        what: "time of the fetch",
        given: &columns.fetched_at,
        usual: &["fetched_at", "fetch_time", "warc_date", "timestamp"],
        fits: holds_times,
        types: "timestamps or texts",
    };
    Ok(Places {
        subject: find_subject(&url, &host, schema)?,
        status: status.find_needed(schema)?,
        body: body.find_needed(schema)?,
        fetched_at: fetched_at.find(schema)?,
    })
}

fn find_subject(
    url: &Wanted<'_>,
    host: &Wanted<'_>,
    schema: &Schema,
) -> Result<SubjectColumn, String> {
    if (url.given.is_some() || host.given.is_none())
        && let Some(place) = url.find(schema)?
    {
        return Ok(SubjectColumn::Url(place));
    }
    match host.find(schema)? {
        Some(place) => Ok(SubjectColumn::Host(place)),
        None => Err(missing("url or host", &[url.usual, host.usual], schema)),
    }
}

fn missing(what: &str, usual: &[&[&str]], schema: &Schema) -> String {
    let usual = usual.concat().join(", ");
    format!("no column for the {what} ({usual}); name the one that it is; {}", there_are(schema))
}

fn there_are(schema: &Schema) -> String {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    format!("there are {}", names.join(", "))
}
