//! The fields of a capture, and their names in records.
//!
//! This module has the table of usual names, for JSON Lines and for Parquet, and [`FieldMap`],
//! which replaces names in the table. The readers look fields up; [`record`](super::record)
//! interprets the values.
//!
//! Cost: a [`FieldMap`] is resolved once per file. A name that cannot be used is an error that says
//! how to write it.
//!
//! ```
//! use portcullis_captures::{FieldMap, FieldName};
//!
//! let names = ["url=request.url", "body=text"].map(|text| text.parse::<FieldName>().unwrap());
//! assert!(FieldMap::new(names).is_ok());
//! assert!("uri=u".parse::<FieldName>().unwrap_err().starts_with("expected one of url, host"));
//! ```

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::json_path::FieldPath;
use super::names::{listed, members_of};
use portcullis_dialect::words;
use portcullis_robots::access::TimeUnit;

words! {
    /// A field of a capture, with its name on command lines and in messages.
    pub enum CaptureField {
        /// The URL that was requested first.
        Url => "url",
        /// The host whose robots.txt was requested, with or without a port. An alternative to a URL.
        Host => "host",
        /// The status of the last answer; null or 0 if there was none.
        Status => "status",
        /// The decoded body.
        Body => "body",
        /// The decoded body in base64.
        BodyBase64 => "body_base64",
        /// The time of the answer.
        FetchedAt => "fetched_at",
        /// Why there was no answer, or why the body is not whole.
        Error => "error",
        /// Set if the body was cut.
        Truncated => "truncated",
        /// The header fields.
        Headers => "headers",
        /// The redirects that were followed.
        Redirects => "redirects",
    }
}

impl CaptureField {
    /// Returns the usual names of the field in records, the preferred one first.
    pub fn usual_names(self) -> &'static [&'static str] {
        match self {
            CaptureField::Url => &["url", "robots_url", "uri"],
            CaptureField::Host => &["host", "domain", "hostname"],
            CaptureField::Status => &["status", "fetch_status", "http_status", "status_code"],
            CaptureField::Body => &["body", "content", "robots_txt", "text"],
            CaptureField::BodyBase64 => &["body_base64"],
            CaptureField::FetchedAt => &["fetched_at", "fetch_time", "warc_date", "timestamp"],
            CaptureField::Error => &["error"],
            CaptureField::Truncated => &["truncated", "content_truncated"],
            CaptureField::Headers => &["headers"],
            CaptureField::Redirects => &["redirects"],
        }
    }
}

/// The name of a field in records, as a user writes it: `FIELD=NAME`.
///
/// A NAME with dots is a [path](FieldPath) into nested objects or columns. An empty NAME means that
/// no record has the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldName {
    /// The field.
    pub field: CaptureField,
    /// The path of the field in records. `None` if they do not have it.
    pub path: Option<FieldPath>,
}

impl FromStr for FieldName {
    type Err = String;

    fn from_str(text: &str) -> Result<FieldName, String> {
        let expected = || {
            let fields = CaptureField::WORDS.join(", ");
            format!("expected one of {fields}, then = and the name of the field: url=request.url")
        };
        let (field, name) = text.split_once('=').ok_or_else(expected)?;
        let field = CaptureField::ALL.into_iter().find(|known| known.as_str() == field.trim());
        let path = match name.trim() {
            "" => None,
            name => Some(name.parse::<FieldPath>()?),
        };
        Ok(FieldName { field: field.ok_or_else(expected)?, path })
    }
}

/// Maps the fields of a capture to names in records.
///
/// A field without a given name has one of its [usual names](CaptureField::usual_names), in any
/// case. If a record has several of them, the first in the list that is not null counts. A record
/// needs a URL or a host; the URL counts if there are both. If only one of the two is given a name,
/// the other is not looked up. The same applies to `body` and `body_base64`.
///
/// Readers note in the map which fields they found, and the copies of a map share these notes.
#[derive(Clone, Debug, Default)]
pub struct FieldMap {
    named: Vec<FieldName>,
    /// The unit of times that are numbers.
    pub(super) unit: Option<TimeUnit>,
    found: Arc<FoundFields>,
}

/// The fields that some record had, and those that one had under two names: a bit for each.
#[derive(Debug, Default)]
struct FoundFields {
    any: AtomicU32,
    two: AtomicU32,
    /// The paths of the members of the first record of each input.
    first: Mutex<BTreeSet<String>>,
}

/// A column that may hold a field: `None` if there is none, or what is wrong with it. The error has
/// the names of two.
pub(super) type FoundColumn<C> = Result<Option<Result<C, String>>, (String, String)>;

/// The bit of a field.
fn bit(field: CaptureField) -> u32 {
    1 << field as u32
}

/// Adds a field to a set.
fn set(fields: &AtomicU32, field: CaptureField) {
    // Threads share the word, and nearly all records have the same fields.
    if fields.load(Ordering::Relaxed) & bit(field) == 0 {
        fields.fetch_or(bit(field), Ordering::Relaxed);
    }
}

impl FieldMap {
    /// Returns the map with these names.
    ///
    /// # Errors
    ///
    /// If a field is named twice.
    pub fn new(names: impl IntoIterator<Item = FieldName>) -> Result<FieldMap, String> {
        let mut map = FieldMap::default();
        for name in names {
            if map.given(name.field).is_some() {
                return Err(format!("{} is named twice; name it once", name.field.as_str()));
            }
            map.named.push(name);
        }
        Ok(map)
    }

    /// Returns the map that reads times which are numbers in a unit.
    #[must_use]
    pub fn with_unit(self, unit: Option<TimeUnit>) -> FieldMap {
        FieldMap { unit, ..self }
    }

    /// Returns the map as it was before any record was read.
    #[must_use]
    pub fn renewed(self) -> FieldMap {
        FieldMap { found: Arc::default(), ..self }
    }

    /// Returns the problem of a name that was given and that no record had, once all are read.
    pub fn missing(&self) -> Option<String> {
        let found = self.found.any.load(Ordering::Relaxed);
        let mut named = self.named.iter().filter(|name| found & bit(name.field) == 0);
        let (field, path) =
            named.find_map(|name| Some((name.field.as_str(), name.path.as_ref()?)))?;
        let first = self.found.first.lock().unwrap_or_else(PoisonError::into_inner);
        let there = match first.len() {
            0 => String::new(),
            _ => format!("; the first has {}", listed(first.iter())),
        };
        Some(format!(
            "no capture has the field {path} (‹fields› {field}={path}){there}; name one that some capture \
             has, or omit it"
        ))
    }

    /// Notes the members that the first of `lines` with an object has, if a field was named.
    pub(super) fn note_first<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) {
        let mut lines = lines.filter(|_| !self.named.is_empty());
        let members = lines.find_map(members_of).unwrap_or_default();
        self.found.first.lock().unwrap_or_else(PoisonError::into_inner).extend(members);
    }

    /// Returns the fields that a record had under two of their usual names, with different values in JSON
    /// Lines. Only one of them counts.
    pub fn doubted(&self) -> Vec<CaptureField> {
        let two = self.found.two.load(Ordering::Relaxed);
        CaptureField::ALL.into_iter().filter(|&field| two & bit(field) != 0).collect()
    }

    /// Notes that a record has a field.
    pub(super) fn note_found(&self, field: CaptureField) {
        if self.named(field).is_some() {
            set(&self.found.any, field);
        }
    }

    /// Notes that a record has a field under two names.
    pub(super) fn note_two(&self, field: CaptureField) {
        set(&self.found.two, field);
    }

    /// Returns the columns of a table that hold fields, each with the rank of its name: in each row, the first
    /// one of a field that is not null counts. `names` are the names of all columns. `find` returns the column
    /// at a path, or what is wrong with it, or the names of two.
    ///
    /// # Errors
    ///
    /// If the table lacks a column that is named or that every capture needs, with what there is.
    pub(super) fn columns<C>(
        &self,
        names: &[impl AsRef<str>],
        find: impl Fn(CaptureField, &FieldPath) -> FoundColumn<C>,
    ) -> Result<Vec<(CaptureField, usize, C)>, String> {
        let mut columns = Vec::new();
        for field in CaptureField::ALL {
            let name = field.as_str();
            if matches!(field, CaptureField::Headers | CaptureField::Redirects) {
                // They have no usual layout in tables.
                if self.named(field).is_some() {
                    return Err(format!(
                        "{name} are read from JSON Lines only; omit ‹fields› {name}"
                    ));
                }
                continue;
            }
            let is_used = field != CaptureField::Host
                || columns.iter().all(|column: &(_, _, C)| column.0 != CaptureField::Url);
            for (rank, path) in self.candidates(field).iter().enumerate() {
                let found = find(field, path).map_err(|(one, other)| {
                    format!(
                        "two columns are called {one} and {other}; name one with ‹fields› \
                         {name}=COLUMN, or rename one"
                    )
                })?;
                let Some(column) = found else { continue };
                let is_second = columns.last().is_some_and(|last| last.0 == field);
                if is_second && is_used {
                    self.note_two(field);
                }
                columns.push((field, rank, column?));
            }
        }
        let has = |field| columns.iter().any(|column| column.0 == field);
        let names = format!("the columns are {}", listed(names.iter()));
        for FieldName { field, path } in &self.named {
            if let Some(path) = path.as_ref().filter(|_| !has(*field)) {
                let field = field.as_str();
                return Err(format!("no column {path} (‹fields› {field}={path}); {names}"));
            }
        }
        for [one, other] in [
            [CaptureField::Url, CaptureField::Host],
            [CaptureField::Body, CaptureField::BodyBase64],
        ] {
            if !has(one) && !has(other) {
                let what = if one == CaptureField::Url { "URL or host" } else { "body" };
                let (usual, one) = (self.names(&[one, other]), one.as_str());
                return Err(format!(
                    "no column for the {what} ({usual}); name it with ‹fields› {one}=COLUMN; {names}"
                ));
            }
        }
        Ok(columns)
    }

    /// Returns the given name of `field`, or `None` if none was given. The inner value is `None` if
    /// the name is empty: no record has the field.
    fn given(&self, field: CaptureField) -> Option<Option<&FieldPath>> {
        let given = self.named.iter().find(|named| named.field == field);
        given.map(|named| named.path.as_ref())
    }

    /// Returns the name of `field`, or `None` if no nonempty name was given.
    pub(super) fn named(&self, field: CaptureField) -> Option<&FieldPath> {
        self.given(field).flatten()
    }

    /// Whether the path of a field that was named begins with this member.
    pub(super) fn has_member(&self, name: &str) -> bool {
        self.named
            .iter()
            .filter_map(|named| named.path.as_ref())
            .any(|path| path.has(0, name.as_bytes()))
    }

    /// Returns the possible names of `field` in records, by rank: the first counts.
    pub(super) fn candidates(&self, field: CaptureField) -> Vec<FieldPath> {
        let other = match field {
            CaptureField::Url => Some(CaptureField::Host),
            CaptureField::Host => Some(CaptureField::Url),
            CaptureField::Body => Some(CaptureField::BodyBase64),
            CaptureField::BodyBase64 => Some(CaptureField::Body),
            _ => None,
        };
        match self.given(field) {
            Some(path) => path.cloned().into_iter().collect(),
            None if other.is_some_and(|other| self.named(other).is_some()) => Vec::new(),
            None => field.usual_names().iter().map(|name| FieldPath::usual(name)).collect(),
        }
    }

    /// Returns the possible names of `fields` in records, for a message: "url, uri".
    pub(super) fn names(&self, fields: &[CaptureField]) -> String {
        let names = fields.iter().flat_map(|&field| self.candidates(field));
        names.map(|path| path.to_string()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(names: &[&str]) -> FieldMap {
        FieldMap::new(names.iter().map(|name| name.parse().unwrap())).unwrap()
    }

    #[test]
    fn names_are_fields_with_a_name() {
        let name: FieldName = " url = a.b=c ".parse().unwrap();
        let path = name.path.unwrap().to_string();
        assert_eq!((name.field, path.as_str()), (CaptureField::Url, "a.b=c"));
        for field in CaptureField::ALL {
            assert!(format!("{}=x", field.as_str()).parse::<FieldName>().is_ok());
        }
        for text in ["", "url", "uri=x", "URL=x", "=x", "url=a..b"] {
            assert!(text.parse::<FieldName>().is_err(), "{text}");
        }
        let twice = ["url=a", "url=b"].map(|text| text.parse::<FieldName>().unwrap());
        assert_eq!(FieldMap::new(twice).unwrap_err(), "url is named twice; name it once");
    }

    #[test]
    fn what_is_named_replaces_the_usual_names() {
        use CaptureField::{Body, BodyBase64, Host, Url};
        let names = |given: &[&str], fields: &[CaptureField]| map(given).names(fields);
        assert_eq!(names(&[], &[Url, Host]), "url, robots_url, uri, host, domain, hostname");
        assert_eq!(names(&["url=a"], &[Url, Host]), "a");
        assert_eq!(names(&["host=h"], &[Url, Host]), "h");
        assert_eq!(names(&["url=a", "host=h"], &[Url, Host]), "a, h");
        assert_eq!(names(&["url="], &[Url, Host]), "host, domain, hostname");
        assert_eq!(names(&["body_base64=x"], &[Body, BodyBase64]), "x");
        assert_eq!(names(&["body="], &[Body, BodyBase64]), "body_base64");
    }
}
