//! The places of the values in records: the URL and its parts, the time and the agent.
//!
//! A [`Place`] is the name of a column, its number or a dotted path, or what the format itself has.
//! [`Place::check`] is the one check of a place against a format. A place that a list has not is an
//! error that lists what there is.

use portcullis_captures::json_path::{FieldPath, NameSet};
use portcullis_captures::names::listed;
use portcullis_dialect::words;
use portcullis_text::figures::counted;

use super::ListFormat;

/// Names of columns and members that hold a URL, in any case, in every format. The first that exists
/// counts.
pub(crate) const URL_NAMES: [&str; 4] = ["url", "address", "loc", "uri"];

/// Names for the parts of the URL of a path, besides names with `query` in them. A host in a field `hostname`
/// may be the machine that wrote the log, and a port in `server_port` that after a proxy. A `port` counts in an
/// object with the path, as ECS has it.
const PART_NAMES: [(LeftPart, &[&str]); 9] = [
    (LeftPart::Query, &["args", "qs", "params", "uri_args", "request_args"]),
    // URL objects of browsers, express, nginx, Cloudflare.
    (LeftPart::Target, &["search", "originalurl", "original_url", "clientrequesturi"]),
    (LeftPart::Target, &["requesturi", "request_uri", "requesturl", "request_url"]),
    (LeftPart::Host, &["host", "http_host", "vhost", "authority", ":authority"]),
    (LeftPart::Host, &["domain", "url.domain", "url_host_name", "x-host-header", "cs-host"]),
    (
        LeftPart::Host,
        &["request_host", "requestaddr", "reqhost", "requesthost", "clientrequesthost"],
    ),
    (LeftPart::Scheme, &["scheme", "proto", "x_forwarded_proto", "url.scheme", "url_protocol"]),
    (LeftPart::Scheme, &["cs-protocol", "requestscheme", "clientrequestscheme"]),
    (LeftPart::Port, &["reqport", "requestport", "url.port", "url_port", "port"]),
];

fn part_names() -> impl Iterator<Item = (&'static str, LeftPart)> {
    PART_NAMES.iter().flat_map(|(part, names)| names.iter().map(|name| (*name, *part)))
}

words! {
    /// A part of the URL of a path that a field of its record may have although no flag and no layout names it,
    /// with the name of such a field.
    pub enum LeftPart {
        Query => "args",
        /// A text that may be the query, with its `?`, or the path with it.
        Target => "request_uri",
        Host => "host",
        Scheme => "scheme",
        Port => "port",
    }
}

/// Names in server logs for the target that a client asked for, besides the `uri` of the file that they served.
const REQUEST_NAMES: [&str; 2] = ["requesturi", "request"];

/// The name of the place where the format has a value.
const RECORD: &str = "record";

/// Where a value is in each record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Where it usually is, for a URL. Any other value is not read.
    #[default]
    Usual,
    /// Where the format has it: the time in the second word of CDXJ and CDX, in the first one of a
    /// crawl.log, in the brackets of an access log, and as the date and time of a W3C extended log.
    /// The two logs of servers have the agent and the client too.
    Record,
    /// Likewise, but nowhere where the format has none. A known layout gives the names.
    Offered(Vec<String>),
    /// In a column of a table, by its name or its number, counted from 1, or in a member of an object
    /// or a column within structures, by its path with dots. The first name that a list has counts, in
    /// objects the first that the object has.
    Named(Vec<String>),
}

words! {
    /// A value of a record, with its noun and the flag that names its place.
    pub enum Value {
        Url => "URL": "‹url_field›",
        Time => "time": "‹time_field›",
        Agent => "agent": "‹agent_field›",
        Host => "host": "‹host_field›",
        Query => "query": "‹query_field›",
        Scheme => "scheme": "‹scheme_field›",
        Client => "client": "‹client_field›",
    }
}

/// Returns the noun for a named part of a record; `None` if records of the format have no names.
pub(super) fn names_of(format: ListFormat) -> Option<&'static str> {
    match format {
        ListFormat::Csv | ListFormat::Tsv | ListFormat::Parquet => Some("column"),
        ListFormat::JsonLines | ListFormat::Cdxj => Some("field"),
        _ => None,
    }
}

impl Value {
    pub fn noun(self) -> &'static str {
        self.as_str()
    }

    /// Returns the flag that names the place.
    pub fn flag(self) -> &'static str {
        self.describe()
    }

    /// Whether a format has the value itself.
    pub(super) fn is_of(self, format: ListFormat) -> bool {
        use ListFormat::{AccessLog, Cdx, Cdxj, CrawlLog, W3cLog};
        match self {
            Value::Time => matches!(format, AccessLog | Cdx | Cdxj | CrawlLog | W3cLog),
            Value::Agent | Value::Client => matches!(format, AccessLog | W3cLog),
            Value::Url | Value::Host | Value::Query | Value::Scheme => false,
        }
    }
}

impl Place {
    /// Returns the place with these names: the usual one if there are none, and for `record` alone that
    /// of the format.
    pub fn named(names: impl IntoIterator<Item = impl Into<String>>) -> Place {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        match &names[..] {
            [] => Place::Usual,
            [name] if name == RECORD => Place::Record,
            _ => Place::Named(names),
        }
    }

    /// Returns the place that the format has, if it has one.
    pub fn offered() -> Place {
        Place::Offered(Vec::new())
    }

    /// Returns this place, or `other` if it is usual.
    #[must_use]
    pub fn or(&self, other: Place) -> Place {
        if *self == Place::Usual { other } else { self.clone() }
    }

    /// Whether the value is to be read where it is not usual, and its lack is an error.
    pub fn is_asked(&self) -> bool {
        matches!(self, Place::Record | Place::Named(_))
    }

    /// Whether the number of a column names the place, perhaps among other names.
    pub(crate) fn has_number(&self) -> bool {
        self.is_asked() && self.names().iter().any(|name| name.parse::<usize>().is_ok())
    }

    /// Whether the value is to be read if the format has it.
    pub(crate) fn is_wanted(&self) -> bool {
        *self != Place::Usual
    }

    /// Whether the value is to be read from a table: it is asked for, or a known layout has it.
    pub(crate) fn is_read(&self) -> bool {
        self.is_asked() || !self.names().is_empty()
    }

    /// Returns the names.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Place::Named(names) | Place::Offered(names) => names,
            Place::Usual | Place::Record => &[],
        }
    }

    /// Whether columns are named by their numbers.
    pub(crate) fn has_numbers_alone(&self) -> bool {
        let names = self.names();
        !names.is_empty() && names.iter().all(|name| name.parse::<usize>().is_ok())
    }

    /// Returns the names as paths of members.
    ///
    /// # Errors
    ///
    /// If one is no path.
    pub(crate) fn paths(&self) -> Result<Vec<FieldPath>, String> {
        let path = |name: &String| name.parse().map_err(|error| format!("`{name}`: {error}"));
        self.names().iter().map(path).collect()
    }

    /// Checks that records of a format can have a value here. The error says what to do.
    pub(crate) fn check(&self, value: Value, format: ListFormat) -> Result<(), String> {
        let (names, is_own) = (names_of(format), value.is_of(format));
        let (noun, flag) = (value.noun(), value.flag());
        let problem = match self {
            Place::Usual | Place::Offered(_) => return Ok(()),
            Place::Named(names) if names.iter().any(String::is_empty) => {
                return Err(format!("{flag}: a name is empty; name the {noun}, or omit {flag}"));
            }
            Place::Named(names) if names.iter().any(|name| name == RECORD) => {
                let problem = "is the format's own and cannot be one of several names; name one";
                return Err(format!("{flag}: `{RECORD}` {problem}"));
            }
            Place::Record if is_own => return Ok(()),
            Place::Named(_) if names.is_some() => return Ok(()),
            Place::Record => format!("no {noun} of their own"),
            Place::Named(_) if format == ListFormat::W3cLog => {
                "the fields that #Fields names".to_owned()
            }
            Place::Named(_) => "no columns or fields".to_owned(),
        };
        let fix = match (names, value) {
            _ if is_own => format!("use {flag} record"),
            (Some(named), _) => format!("name the {named} with the {noun} with {flag}"),
            (None, Value::Url | Value::Host | Value::Query | Value::Scheme) => {
                format!("omit {flag}")
            }
            (None, Value::Agent | Value::Client) => {
                format!("use a format with {noun}s, such as CSV with {flag} NAME")
            }
            (None, Value::Time) => format!(
                "give one time for all with ‹at› TIME, or use a format with times, such as CSV with \
                 {flag} NAME"
            ),
        };
        Err(format!("records of {} have {problem}; {fix}", format.describe()))
    }
}

/// A column of a table.
pub(crate) struct TableColumn {
    /// The position of the column, from 0.
    pub place: usize,
    /// Whether the column was found by its name, not by its number.
    pub is_named: bool,
    /// Another column with the name.
    other: Option<usize>,
}

impl TableColumn {
    /// Finds the column at a place: with one of the names, or else of the numbers, or by default with
    /// the first of the usual names that a column has. `None` if there is none.
    pub fn find(names: &[impl AsRef<[u8]>], at: &Place) -> Option<TableColumn> {
        match at {
            Place::Record => None,
            Place::Usual => {
                let usual = |usual: &&str| {
                    called(names, &|name| name.eq_ignore_ascii_case(usual.as_bytes()))
                };
                URL_NAMES.iter().find_map(usual)
            }
            Place::Named(given) | Place::Offered(given) => {
                given.iter().find_map(|name| TableColumn::from_name(names, name))
            }
        }
    }

    /// Finds the column with a name, or else with a number.
    pub fn from_name(names: &[impl AsRef<[u8]>], given: &str) -> Option<TableColumn> {
        // As in a path, `\.` is a dot.
        let plain = given.replace("\\.", ".");
        let is = |name: &[u8]| name == given.as_bytes() || name == plain.as_bytes();
        called(names, &is).or_else(|| {
            let place = given.parse::<usize>().ok()?.checked_sub(1)?;
            (place < names.len()).then_some(TableColumn::at(place))
        })
    }

    /// Returns the column at a position.
    pub fn at(place: usize) -> TableColumn {
        TableColumn { place, is_named: false, other: None }
    }

    /// Returns the position of the column. The error says that two columns have its name.
    pub fn only(&self, names: &[impl AsRef<[u8]>], value: Value) -> Result<usize, String> {
        let Some(other) = self.other else { return Ok(self.place) };
        let [name, of_other] = [self.place, other].map(|place| shown(names[place].as_ref()));
        let called = if name == of_other {
            format!("both called `{name}`")
        } else {
            format!("called `{name}` and `{of_other}`")
        };
        Err(format!(
            "columns {} and {} are {called}; choose the {} by its number with {}",
            self.place + 1,
            other + 1,
            value.noun(),
            value.flag()
        ))
    }

    /// Returns the problem of a table without the column.
    pub fn missing(names: &[impl AsRef<[u8]>], at: &Place, value: Value) -> String {
        if let ([line], true) = (names, at.is_asked())
            && has_scheme(line.as_ref())
        {
            return format!("a list of plain URLs has no columns; omit {}", value.flag());
        }
        let problem = match at.names() {
            [] => format!("no column is called {}", url_names()),
            given => format!("no column `{}`", given.join("` or `")),
        };
        let columns = listed(names.iter().map(|name| String::from_utf8_lossy(name.as_ref())));
        let there = match at.has_numbers_alone() {
            true => format!("it has {}, {columns}", counted(names.len() as u64, "column")),
            false => format!("its columns are {columns}"),
        };
        let by = match at.names() {
            [] => "name or number",
            _ => "name or number; alternatives are separated by commas",
        };
        format!("{problem}; {there}; choose the {} with {} NAME ({by})", value.noun(), value.flag())
    }
}

/// Returns the names of the URL that need no flag: `a, b or c`.
pub(super) fn url_names() -> String {
    let [rest @ .., last] = &URL_NAMES;
    format!("{} or {last}", rest.join(", "))
}

/// Finds the column whose name `is` accepts.
fn called(names: &[impl AsRef<[u8]>], is: &dyn Fn(&[u8]) -> bool) -> Option<TableColumn> {
    let mut found = (0..names.len()).filter(|&place| is(names[place].as_ref().trim_ascii()));
    let place = found.next()?;
    Some(TableColumn { place, is_named: true, other: found.next() })
}

/// Whether the URL could be in a column or a field with this name, in any case and with or without `_` and
/// `-`. A whole request is no URL unless paths are (`has_paths`).
pub(super) fn could_be_url(name: &[u8], has_paths: bool) -> bool {
    let mut name = name.to_ascii_lowercase();
    name.retain(|byte| !byte.is_ascii_whitespace() && !b"_-".contains(byte));
    let requests = &REQUEST_NAMES[..1 + usize::from(has_paths)];
    URL_NAMES.iter().chain(requests).any(|usual| name == usual.as_bytes())
}

/// Whether a text has a scheme and a host after it somewhere.
pub(super) fn has_scheme(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"://").is_some()
}

/// Returns the name of another column than the one at `place` that could be the URL.
pub(super) fn rival(names: &[impl AsRef<[u8]>], place: usize, has_paths: bool) -> Option<String> {
    let mut others = names.iter().enumerate().filter(|(other, _)| *other != place);
    let (_, name) = others.find(|(_, name)| could_be_url(name.as_ref(), has_paths))?;
    Some(shown(name.as_ref()))
}

/// Returns a name or a value without blanks around it, as it can be shown.
pub(super) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name.trim_ascii()).into_owned()
}

/// Returns the part of the URL of a path that a column or a field with this name next to it has, in any case.
/// Both may be in an object.
pub(super) fn part_called(name: &[u8], are_inside: bool) -> Option<LeftPart> {
    let is = |usual: &str| name.eq_ignore_ascii_case(usual.as_bytes());
    let is_last = |usual: &str| name.last().map(u8::to_ascii_lowercase) == usual.bytes().last();
    let mut usual = part_names().filter(|(usual, _)| usual.len() == name.len());
    let found = usual.find(|(usual, _)| is_last(usual) && is(usual)).map(|(_, part)| part);
    let found = found.or_else(|| has_query(name).then_some(LeftPart::Query));
    found.filter(|_| are_inside || !is("port"))
}

/// Returns likewise the part that a name next to that of the URL has. Both may begin with the names of objects
/// and dots, as in a flat object.
pub(super) fn part_near(url: &[u8], name: &[u8], are_inside: bool) -> Option<LeftPart> {
    let in_object = || {
        let dot = memchr::memrchr(b'.', url)?;
        part_called(name.strip_prefix(&url[..=dot])?, true)
    };
    part_called(name, are_inside).or_else(in_object)
}

/// Returns the usual names of parts.
pub(super) fn usual_names(is_left: impl Fn(LeftPart) -> bool) -> NameSet {
    let names = part_names().filter(|(_, part)| is_left(*part));
    names.fold(NameSet::default(), |set, (name, _)| set.with(name.as_bytes()))
}

fn has_query(name: &[u8]) -> bool {
    let mut words = name.windows(b"query".len());
    words.any(|word| word[0] | 0x20 == b'q' && word.eq_ignore_ascii_case(b"query"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_found_in_any_case() {
        for (name, part) in part_names() {
            for name in [name.to_owned(), name.to_ascii_uppercase()] {
                assert_eq!(part_called(name.as_bytes(), true), Some(part), "{name}");
                assert!(usual_names(|it| it == part).may_have(name.as_bytes()), "{name}");
            }
        }
        for name in ["query", "QUERY", "a_Query", "urlQueryString"] {
            assert_eq!(part_called(name.as_bytes(), false), Some(LeftPart::Query), "{name}");
        }
        for name in ["", "q", "request", "que_ry", "hosts", "args2", "status"] {
            assert_eq!(part_called(name.as_bytes(), true), None, "{name}");
        }
        assert_eq!(part_called(b"port", false), None);
        for (url, name, part) in [
            ("a.uri", "a.args", Some(LeftPart::Query)),
            ("a.b.uri", "a.b.Port", Some(LeftPart::Port)),
            ("a.uri", "host", Some(LeftPart::Host)),
            ("a.uri", "b.args", None),
            ("a.b.uri", "a.args", None),
            ("uri", "a.args", None),
        ] {
            assert_eq!(part_near(url.as_bytes(), name.as_bytes(), false), part, "{url} {name}");
        }
    }
}
