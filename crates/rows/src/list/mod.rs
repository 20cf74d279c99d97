//! Lists of URLs in common formats: finds the URL in each record, and its time if asked.
//!
//! This module defines the formats ([`ListFormat`]), their detection, the place of the URL, and the
//! head before the first record. [`input`](crate::input) opens, decompresses and cuts inputs. A
//! [`List`] defines where they may be cut, and [`Rows`] splits a chunk into [`Record`](crate::input::Record)s.
//! No code here decides a URL.
//!
//! | format | a record | its URL | its time |
//! |---|---|---|---|
//! | `lines` | a line, or a text that ends with NUL | the record | |
//! | `jsonl` | a line with a JSON object, or an item of an array | a member: `url`, `page.url` | a member |
//! | `csv` | a row, RFC 4180: quoted fields may hold line ends | a column | a column |
//! | `tsv` | a line; a quote is text | a column | a column |
//! | `cdxj` | a line: key, timestamp, JSON object | the member `url` | the timestamp, or a member |
//! | `cdx` | a line of an index, or a row of JSON | a field: `a`, `original` | a field: `b`, `timestamp` |
//! | `heritrix` | a line of a recover journal, `F+ URL …` | the second word | |
//! | `crawl-log` | a line of Heritrix's crawl.log | the fourth word | the first word |
//! | `access-log` | a line in a declared format | the request | a field |
//! | `w3c` | a line, as IIS and CloudFront write it | stem and query | date and time |
//! | `nutch` | the lines of `readdb -dump` up to an empty one | the first line up to TAB | |
//! | `parquet` | a row | a column | a column |
//! | `sitemap` | an entry of a sitemap or a feed | its `<loc>`, as a line | |
//! | `warc` | a capture in WARC, WAT or WET | its target URI, as a line | |
//!
//! A [`Place`] says where a value is, for every format alike. The time is read if
//! [`ListConfig::times`] asks for it, in the same pass, and the agent if [`ListConfig::agents`] does; both
//! the time and the client of a request make its [`Visit`], if [`ListConfig::clients`] does. A
//! path has the host at [`ListConfig::hosts`], or else that of [`ListConfig::host`], and the query and the
//! scheme at their places. The tables of known programs need no places.
//!
//! A record whose URL cannot be found keeps its place with an empty URL and a [`Problem`], so it is
//! invalid and never allowed. An ambiguous record has no URL (a member that occurs twice, a row
//! whose number of fields differs from the first one).
//!
//! Cost: none for plain lines. Other formats take one more pass over each record, on the thread
//! that decides it. A URL is copied only if it has escapes, into an arena that is reused for each
//! chunk. The thread that cuts CSV scans every quote and line end.
//!
//! ```
//! use portcullis_rows::input::{ChunkConfig, Chunks, InputError, Source};
//! use portcullis_rows::list::{Arena, ListConfig, Rows};
//!
//! let export: &[u8] = b"Address,Title\r\nhttps://a.example/,\"one,\ntwo\"\r\n";
//! let source = Source::from_reader("export", export);
//! let arena = Arena::new();
//! for chunk in Chunks::new(source, ChunkConfig::default(), ListConfig::default()) {
//!     let chunk = chunk?;
//!     assert_eq!(chunk.list.head(), b"Address,Title\r\n");
//!     Rows::new(&chunk, &arena, 0).read(1, |records| {
//!         assert_eq!(records[0].url(), b"https://a.example/");
//!         assert_eq!(records[0].text(), b"https://a.example/,\"one,\ntwo\"");
//!         Ok::<bool, InputError>(true)
//!     })?;
//! }
//! # Ok::<(), portcullis_rows::input::InputError>(())
//! ```

mod advice;
mod cdx;
mod crawl;
mod delimited;
mod detect;
mod host;
mod json;
mod layout;
mod layouts;
mod lines;
mod log;
mod look;
mod noticed;
pub mod parquet;
#[cfg(test)]
mod parquet_tests;
mod place;
mod request;
mod rows;
mod short;
pub(crate) mod stage;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod w3c;

use std::array::from_fn;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::input::{Framing, Records, Source, Terminator};
use crate::limits::RECORDS_LOOKED_AT_MAX;
use crate::sitemap::Sitemap;
pub use advice::{OPEN_QUOTE, of_html, of_row, of_text, other_fields};
pub(crate) use detect::detect;
use host::{Given, Hosts};
pub use host::{given_host, joined_url};
use layout::Layout;
pub use lines::holds_more;
pub use log::LogFormat;
pub(crate) use log::OpenStreams;
use noticed::Doubts;
pub use noticed::Noticed;
use parquet::ParquetList;
pub use place::Place;
use place::{LeftPart, Value};
pub use portcullis_captures::json_path::FieldPath;
use portcullis_captures::warc::Targets;
use portcullis_dialect::words;
use portcullis_files::input::{Separator, StageLines, plain_extension};
use portcullis_robots::access::TimeUnit;
use portcullis_text::figures::counted;
pub use rows::Rows;
use stage::{Damages, ItemLines};
pub(crate) use values::BlockBuffer;
pub use values::{Arena, Block, Visit, agent_of};

words! {
    /// A format of lists, with its name for command lines and for people.
    pub enum ListFormat {
        /// One URL per line, or per NUL.
        Lines => "lines": "plain lines",
        /// JSON Lines.
        JsonLines => "jsonl": "JSON Lines",
        /// Comma-separated values, RFC 4180. The first row shows whether the delimiter is another
        /// byte.
        Csv => "csv": "CSV",
        /// Tab-separated values: a line is a row, and a quote is text. A table with tabs and quotes
        /// is CSV.
        Tsv => "tsv": "TSV",
        /// CDXJ, the index of a web archive.
        Cdxj => "cdxj": "CDXJ",
        /// The index of a web archive, as text with or without its legend, or as the JSON of a CDX
        /// server.
        Cdx => "cdx": "CDX",
        /// Heritrix's recover journal.
        HeritrixJournal => "heritrix": "a Heritrix recover journal",
        /// Heritrix's crawl.log.
        CrawlLog => "crawl-log": "a Heritrix crawl.log",
        /// The access log of a server, in a format that is declared or known.
        AccessLog => "access-log": "an access log",
        /// A log in the W3C extended format, of IIS or CloudFront.
        W3cLog => "w3c": "a W3C extended log",
        /// The text that Nutch's `readdb -dump` writes.
        NutchDump => "nutch": "a Nutch readdb dump",
        /// Parquet.
        Parquet => "parquet": "Parquet",
        /// A sitemap, an index whose sitemaps lie next to it, or a feed.
        Sitemap => "sitemap": "a sitemap",
        /// WARC, WAT or WET, whose captures are the list.
        Warc => "warc": "WARC",
    }
}

impl ListFormat {
    /// Whether records are lines that are made of the input.
    pub fn becomes_lines(self) -> bool {
        matches!(self, ListFormat::Sitemap | ListFormat::Warc)
    }

    /// Returns the format of a file name's extension, in any case and before `.gz` or `.zst`.
    ///
    /// ```
    /// use std::path::Path;
    /// use portcullis_rows::list::ListFormat;
    ///
    /// assert_eq!(ListFormat::from_name(Path::new("export.CSV.gz")), Some(ListFormat::Csv));
    /// assert_eq!(ListFormat::from_name(Path::new("urls.txt")), None);
    /// ```
    pub fn from_name(path: &Path) -> Option<ListFormat> {
        match plain_extension(path)?.as_str() {
            "jsonl" | "ndjson" | "json" => Some(ListFormat::JsonLines),
            "csv" => Some(ListFormat::Csv),
            "tsv" | "tab" => Some(ListFormat::Tsv),
            "cdxj" => Some(ListFormat::Cdxj),
            "cdx" => Some(ListFormat::Cdx),
            "parquet" => Some(ListFormat::Parquet),
            "xml" => Some(ListFormat::Sitemap),
            "warc" | "wat" | "wet" => Some(ListFormat::Warc),
            _ => None,
        }
    }
}

/// How lists are read. Settings that are not given are detected for each list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListConfig {
    /// The format. By default chosen by the file name's extension, or else by the first bytes.
    pub format: Option<ListFormat>,
    /// The format of the lines of access logs. By default the first known one that all lines fit.
    pub log_format: Option<LogFormat>,
    /// Where the URL of each record is.
    pub urls: Place,
    /// Where the time of each record is.
    pub times: Place,
    /// The unit of times that are numbers. `None` if they are not numbers.
    pub unit: Option<TimeUnit>,
    /// Where the agent of each record is.
    pub agents: Place,
    /// Where the host of each record with a path alone is.
    pub hosts: Place,
    /// The host of other records with a path alone.
    pub host: Option<String>,
    /// Where the query of each record without one in its URL is.
    pub queries: Place,
    /// Whether queries are what follows the `?`, so that one that begins with `?` has it itself. By default
    /// one `?` at their begin is no part of them.
    pub are_queries_bare: bool,
    /// Where the scheme of each record with a path alone is.
    pub schemes: Place,
    /// Where the client of each request is. If it is not usual, visits are read.
    pub clients: Place,
    /// Whether the first row of a table is a record.
    pub is_headless: bool,
    /// The terminator of plain lines. With NUL, no format is detected.
    pub terminator: Terminator,
    /// Whether a damaged sitemap ends before its damage, which [`List::take_damages`] tells.
    pub is_lenient: bool,
}

impl ListConfig {
    /// Whether a value is in a place with a name.
    fn has_names(&self) -> bool {
        self.places().into_iter().any(|place| !place.names().is_empty())
    }

    /// Returns the places, in the order of [`Value::ALL`].
    fn places(&self) -> [&Place; Value::ALL.len()] {
        let ListConfig { urls, times, agents, hosts, queries, schemes, clients, .. } = self;
        [urls, times, agents, hosts, queries, schemes, clients]
    }

    /// Whether a row with so many fields has a column for each value that numbers name.
    fn has_numbers_in(&self, fields: usize) -> bool {
        let is_in = |name: &String| name.parse::<usize>().is_ok_and(|number| number <= fields);
        let mut names = self.places().into_iter().map(Place::names);
        names.all(|names| names.is_empty() || names.iter().any(is_in))
    }

    /// Checks that records of a format can have all places. The error says what to do. Before its names are
    /// known, a table may have `record`: the place of a known layout.
    fn check(&self, format: ListFormat, are_names_known: bool) -> Result<(), String> {
        use ListFormat::{Cdx, Csv, Sitemap, Tsv, Warc};
        let whole = format.describe();
        let flags = [
            ("‹host›", self.host.is_some()),
            ("‹host_field›", self.hosts.is_asked()),
            ("‹query_field›", self.queries.is_asked()),
            ("‹scheme_field›", self.schemes.is_asked()),
        ];
        let flag = flags.into_iter().find(|&(_, is_given)| is_given);
        if let Some((flag, _)) = flag.filter(|_| matches!(format, Cdx | Sitemap | Warc)) {
            return Err(format!("records of {whole} are whole URLs; omit {flag}"));
        }
        if self.is_headless && !matches!(format, Csv | Tsv) {
            return Err(format!(
                "only CSV and TSV have headers, and this is {whole}; omit ‹no_header›"
            ));
        }
        let has_names = place::names_of(format).is_some();
        for (value, place) in Value::ALL.into_iter().zip(self.places()) {
            if are_names_known || !has_names || *place != Place::Record {
                place.check(value, format)?;
            }
            let is_number = |name: &String| name.parse::<usize>().is_ok();
            if self.is_headless && !place.names().iter().all(is_number) {
                return Err(format!(
                    "a table without a header has no names; name the {} by the number of its column \
                     with {}, or omit ‹no_header›",
                    value.noun(),
                    value.flag()
                ));
            }
        }
        Ok(())
    }

    /// Returns the same settings with the values at the places of a layout.
    fn with_parts(
        &self,
        parts: [Option<String>; Value::ALL.len()],
        unit: Option<TimeUnit>,
    ) -> ListConfig {
        let places = self.places().map(Clone::clone);
        let place = |(place, part): (Place, Option<String>)| match (place, part) {
            (Place::Named(names), _) => Place::Named(names),
            (Place::Offered(_), Some(name)) => Place::Offered(vec![name]),
            (_, Some(name)) => Place::Named(vec![name]),
            (place, None) => place,
        };
        let mut places = places.into_iter().zip(parts).map(place);
        let mut next = || places.next().expect("one for each value");
        let [urls, times, agents, hosts, queries, schemes, clients] = from_fn(|_| next());
        let unit = self.unit.or(unit);
        ListConfig {
            urls,
            times,
            agents,
            hosts,
            queries,
            are_queries_bare: true,
            schemes,
            clients,
            unit,
            ..self.clone()
        }
    }

    /// Returns the hosts of paths, or `None` if a path is not a URL.
    fn hosts_in(&self, format: ListFormat) -> Option<Hosts> {
        let is_log = matches!(format, ListFormat::AccessLog | ListFormat::W3cLog);
        let parts = [&self.hosts, &self.queries, &self.schemes];
        let has_parts = parts.into_iter().any(Place::is_asked) || self.host.is_some() || is_log;
        has_parts.then(|| Hosts {
            given: self.host.as_deref().map(Given::new),
            is_log,
            completes_urls: self.queries.is_asked() || self.schemes.is_asked(),
            has_queries: self.queries.is_asked(),
            are_queries_bare: self.are_queries_bare,
        })
    }
}

words! {
    /// Why a record has no URL, for programs and for people.
    pub enum Problem {
        /// JSON that is not UTF-8.
        NotUtf8 => "not-utf8": "the JSON is not UTF-8",
        /// A line that is not a JSON object.
        NotJson => "not-json": "not a JSON object",
        /// The object does not have the member, or it is `null`.
        NoField => "no-field": "the object has no such field, or it is null",
        /// The member is not a string.
        NotAString => "not-a-string": "the field is not a string",
        /// The member occurs twice. A usual name is the same in any case.
        RepeatedField => "repeated-field": "the field occurs twice",
        /// The row has fewer or more fields than the first one.
        FieldCount => "field-count": "more or fewer fields than the first row (in a W3C log, than `#Fields` names)",
        /// A quoted field does not end, so the row extends to the end of the list.
        OpenQuote => "open-quote": "a quoted field is not closed",
        /// A value of a table with TABs begins with a quote, and no name or flag says that quotes are text there.
        Quoted => "quoted": "a value begins with a quote, and neither a name nor a flag says that it is TSV",
        /// The line is of a kind that names no URL.
        NoUrl => "no-url": "a line of a kind without a URL",
        /// A log names other fields for the lines after this one.
        OtherFields => "other-fields": "the lines after it have other fields",
        /// The line of a log has not the format of its log.
        OtherFormat => "other-format": "the line does not fit the format of the log",
        /// The target of the request ends where the server cuts it off, or the line is a part of one that was
        /// split.
        Cut => "cut": "the line or its target may be a part of a longer one",
        /// The request of an access log is not for a page.
        NoRequest => "no-request": "the request has no path or URL",
        /// The URL is a path, and its host is not known.
        NoHost => "no-host": "a path without a valid host",
        /// The URL begins with `//`, so it may name another host.
        TwoSlashes => "two-slashes": "it begins with //, so it may name another host",
        /// The URL has a query, and the field of the query has another one.
        TwoQueries => "two-queries": "the URL has another query than the field of the query",
        /// The field of the scheme has neither http nor https, or another one than the host.
        BadScheme => "bad-scheme": "the scheme is neither http nor https, or differs from the scheme of the host",
        /// The column's value is null.
        Null => "null": "the column is null",
    }
}

/// A list: its format, the ends of its records, and the places of their values.
#[derive(Clone, Debug)]
pub struct List {
    name: String,
    format: ListFormat,
    pub(crate) framing: Framing,
    layout: Layout,
    times: Place,
    clients: Place,
    /// The fields that may have parts of the URL of a path and are not read.
    left: Vec<(LeftPart, String)>,
    /// The hosts of paths; `None` if a path is not a URL.
    hosts: Option<Hosts>,
    head: Vec<u8>,
    columns: Vec<Vec<u8>>,
    note: Option<String>,
    /// Another column that could be the URL.
    rival: Option<String>,
    /// The number of lines before the header.
    comments: u64,
    /// Whether its lines are made of an input in another form, by [`List::staged`].
    pub(crate) is_staged: bool,
    /// The damage that was tolerated.
    damages: Damages,
    /// The file, if the list is a column of Parquet.
    file: Option<Arc<ParquetList>>,
}

impl List {
    /// Returns a list of plain lines.
    pub fn plain(name: impl Into<String>, terminator: Terminator) -> List {
        List {
            name: name.into(),
            format: ListFormat::Lines,
            framing: Framing::Byte(terminator),
            layout: Layout::Text,
            times: Place::Usual,
            clients: Place::Usual,
            left: Vec::new(),
            hosts: None,
            head: Vec::new(),
            columns: Vec::new(),
            note: None,
            rival: None,
            comments: 0,
            is_staged: false,
            damages: Damages::default(),
            file: None,
        }
    }

    /// Returns the same list with the rows of `rows`.
    pub(crate) fn of_rows(self, rows: &Arc<ParquetList>) -> List {
        let columns = rows.column_names().iter().map(|name| name.as_bytes().to_vec()).collect();
        let layout = rows.layout.map(|name| format!(" ({name})")).unwrap_or_default();
        let found =
            || format!("{}, column `{}`{layout}", self.format.describe(), rows.column_name());
        let note = rows.is_found.then(found);
        let names = rows.names_of_bytes();
        let chosen = names.iter().position(|name| *name == rows.column_name());
        let chosen = chosen.filter(|_| note.is_some());
        let rival = chosen.and_then(|at| place::rival(&names, at, self.hosts.is_some()));
        let left = rows.left_columns();
        List { columns, note, rival, left, file: Some(Arc::clone(rows)), ..self }
    }

    /// Returns the same list, whose text was in UTF-16.
    pub(crate) fn of_utf16(self) -> List {
        let how = self.note.unwrap_or_else(|| self.format.describe().to_owned());
        List { note: Some(format!("{how}; UTF-16, read and written as UTF-8")), ..self }
    }

    /// Returns the file, or `None` if the list is not a column of Parquet.
    pub fn file(&self) -> Option<&Arc<ParquetList>> {
        self.file.as_ref()
    }

    /// Returns the name of the list in errors: its path, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the format of the list.
    pub fn format(&self) -> ListFormat {
        self.format
    }

    /// Returns the bytes before the first record, as they were read: a byte order mark, a header
    /// row, or the comments at the start of a CDXJ file. Chunks begin after them.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the names of the columns, without quotes. Empty if the list has no header row.
    pub fn columns(&self) -> &[Vec<u8>] {
        &self.columns
    }

    /// Whether rows are those of CSV as it is written: with commas, and with a field for each column.
    pub fn has_csv_rows(&self) -> bool {
        match &self.layout {
            Layout::Columns(columns) => {
                columns.separator.delimiter == b',' && columns.missing_max == 0
            }
            _ => false,
        }
    }

    /// Returns the position of the URL's column, from 0, and the number of columns, for CSV and
    /// TSV. `None` for other formats.
    pub fn url_column(&self) -> Option<(usize, usize)> {
        match &self.layout {
            Layout::Columns(columns) => Some((columns.url, columns.count)),
            _ => None,
        }
    }

    /// Returns the fields of a CSV or TSV row, without quotes. Fields with escapes are decoded into
    /// `arena`.
    pub fn fields<'c>(
        &self,
        row: &'c [u8],
        arena: &'c Arena,
    ) -> impl Iterator<Item = &'c [u8]> + use<'c> {
        let separator = match &self.layout {
            Layout::Columns(columns) => columns.separator,
            _ => Separator::csv(b','),
        };
        delimited::fields(row, separator, arena)
    }

    /// Returns a reader of the lines of `stream`, an input in another form.
    pub(crate) fn staged(&self, stream: Source, is_lenient: bool) -> Box<dyn Read + Send> {
        match self.format {
            ListFormat::Sitemap => {
                let tolerated = is_lenient.then(|| self.damages.clone());
                Box::new(StageLines::new(Sitemap::new(stream, tolerated)))
            }
            ListFormat::Warc => Box::new(StageLines::new(Targets::new(stream))),
            format => Box::new(StageLines::new(ItemLines::new(stream, format))),
        }
    }

    /// Describes how the list is read, such as "CSV, column `Address`". `None` if nothing was
    /// detected.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Describes another column that could be the URL, if none was named. `None` if there is none.
    pub fn doubt(&self) -> Option<String> {
        let rival = self.rival.as_ref()?;
        let noun = if self.format == ListFormat::JsonLines { "field" } else { "column" };
        Some(format!("{noun} `{rival}` may be the URL too; choose with ‹url_field›"))
    }

    /// Whether the records of both lists have the same fields in the same places, so that the head of one
    /// describes the other.
    pub fn has_fields_of(&self, other: &List) -> bool {
        let have_places = match (&self.layout, &other.layout) {
            (Layout::Columns(mine), Layout::Columns(its)) => mine == its,
            (Layout::Cdx(mine), Layout::Cdx(its)) => mine == its && self.head == other.head,
            (Layout::W3cLine(mine), Layout::W3cLine(its)) => mine.has_fields_of(its),
            (Layout::Log(mine), Layout::Log(its)) => mine == its,
            _ => true,
        };
        have_places && self.columns == other.columns
    }

    /// Whether a record is a line, with nothing next to the URL.
    pub fn is_of_lines(&self) -> bool {
        self.format == ListFormat::Lines || self.url_column() == Some((0, 1))
    }

    /// Returns the problem of objects, in JSON Lines, CDXJ or texts of Parquet, none of which had a field that
    /// was named, and the fields of the first. Call it once all records were read; before, `are_all` is false,
    /// and it tells of fields that make the URL alone.
    pub fn missing_field(&self, noticed: Noticed, are_all: bool) -> Option<String> {
        let asked = match &self.layout {
            Layout::Fields(members) | Layout::Cdxj(members) => &members.asked,
            _ => &self.file.as_ref()?.asked,
        };
        asked.missing(&self.name, self.format, noticed, are_all)
    }

    /// Returns a note on times that are numbers without a unit, once all records were read. `None` if there are
    /// none.
    pub fn note_on_units(&self, noticed: Noticed) -> Option<&'static str> {
        (noticed.count(Doubts::NO_UNIT) > 0).then_some(
            "some times are numbers, so these records have none; name their unit with ‹time_unit› s, ms, us or ns",
        )
    }

    /// Whether requests have a time and a client, as far as visits are read.
    pub fn visit_parts(&self) -> [bool; 2] {
        let is_read = |place: &Place| place.is_read();
        match (&self.layout, &self.file) {
            (_, Some(rows)) => rows.visit_parts(),
            (Layout::Log(line), _) => [line.has_time(), line.has_client()],
            (Layout::W3cLine(line), _) => line.visit_parts(),
            _ => [&self.times, &self.clients].map(is_read),
        }
    }

    /// Returns a note on what requests lack to be compared with each other. `None` if they lack nothing, or
    /// visits are not read.
    pub fn note_on_visits(&self) -> Option<&'static str> {
        match self.visit_parts() {
            _ if !self.clients.is_wanted() => None,
            [true, true] => None,
            [false, _] => Some(
                "its requests have no time that is read, so they are not compared with a Crawl-delay",
            ),
            [true, false] => Some(
                "its requests have no client that is read, so a Crawl-delay is compared with all requests \
                 of a crawler to a host together",
            ),
        }
    }

    /// Describes what is in doubt in requests, once all records were read.
    pub fn doubts_of_requests(&self, noticed: Noticed) -> impl Iterator<Item = String> {
        let hosts = match &self.layout {
            Layout::Log(line) if line.is_host_found() => {
                "the log names; the host of the log decides"
            }
            Layout::Log(line) if line.has_other_host() => {
                "‹host› or the log names; the host of the target decides, or, without the header, ‹host›"
            }
            Layout::Log(_) => "‹host› or the log names; the host of the target decides",
            _ => {
                "its record or ‹host› names; the host of the record decides, or, without one, the host of the target"
            }
        };
        let found = Doubts::OF_REQUESTS.into_iter().map(move |it| (it, noticed.count(it)));
        let found = found.filter(|(_, count)| *count > 0);
        found.map(move |(doubt, count)| doubt.describe(&counted(count, "request"), hosts))
    }

    /// Returns notes on paths whose URL lacks a part, or has another one, that is in a field of their records,
    /// once all records were read.
    pub fn notes_on_parts(&self, noticed: Noticed) -> impl Iterator<Item = String> {
        // Both fields of queries have one note.
        let parts = LeftPart::ALL.into_iter().filter(|part| *part != LeftPart::Target);
        parts.filter_map(move |part| {
            let paths = noticed.count(part.doubt());
            let fields =
                self.left.iter().filter(|it| it.0.doubt() == part.doubt()).map(|it| &*it.1);
            (paths > 0).then(|| part.describe(&counted(paths, "path"), &fields.collect::<Vec<_>>()))
        })
    }

    /// Checks that times have a unit if they are numbers in most of the first records of a list that begins
    /// with `first`. The error says how to name it.
    fn check_units(&self, first: &[u8], is_whole: bool) -> Result<(), String> {
        let is_text =
            matches!(self.layout, Layout::Columns(_) | Layout::Fields(_) | Layout::Cdxj(_));
        if !is_text || !self.times.is_asked() || self.times.names().is_empty() {
            return Ok(());
        }
        let text = &first[self.head.len()..];
        let end = if is_whole { text.len() } else { self.framing.last_end(text) };
        let (arena, mut records, mut count) = (Arena::new(), self.split(&text[..end]), 0);
        let (mut block, mut noticed) = (BlockBuffer::new(), Noticed::default());
        while count < RECORDS_LOOKED_AT_MAX {
            self.fill(&mut records, &arena, &mut block);
            count += block.records.len();
            noticed.add(&block.doubts, block.seen);
            if block.records.is_empty() {
                break;
            }
        }
        let numbers = noticed.count(Doubts::NO_UNIT);
        let problem =
            "most of its times are numbers; name their unit with ‹time_unit› s, ms, us or ns";
        if 2 * numbers > count as u64 { Err(problem.to_owned()) } else { Ok(()) }
    }

    /// Fills `block` with the next of `records`.
    #[inline]
    fn fill<'c>(
        &'c self,
        records: &mut Records<'c>,
        arena: &'c Arena,
        block: &mut BlockBuffer<'c>,
    ) {
        let List { times, clients, hosts, .. } = self;
        self.layout.fill(records, ([times, clients], hosts.as_ref()), arena, block);
    }

    /// Returns the streams of a log whose last line goes on after `text`, which follows the text after which
    /// `open` do.
    pub(crate) fn open_after(&self, text: &[u8], open: OpenStreams) -> OpenStreams {
        match &self.layout {
            Layout::Log(line) => line.open_after(text, open),
            _ => open,
        }
    }

    /// Returns the damage that was tolerated, once its last chunk was read. What follows it in a
    /// sitemap is not in the list.
    pub fn take_damages(&self) -> Vec<String> {
        self.damages.take()
    }

    /// Whether a record may have several lines.
    pub(crate) fn has_lines_in_records(&self) -> bool {
        !matches!(self.framing, Framing::Byte(_))
    }

    /// Returns the bytes that a record ending with `tail` needs before another record can follow.
    /// Empty if its end is complete.
    pub fn missing_end(&self, tail: &[u8]) -> &'static [u8] {
        self.framing.missing_end(tail)
    }

    /// Describes the place of a record, counted from 0 after the head: "line 12", "row 3".
    pub fn place(&self, record: u64) -> String {
        let rows_before = self.comments + u64::from(!self.columns.is_empty());
        match self.format {
            ListFormat::Csv | ListFormat::Tsv => format!("row {}", record + rows_before + 1),
            ListFormat::NutchDump | ListFormat::Parquet => format!("record {}", record + 1),
            ListFormat::Sitemap | ListFormat::Warc => format!("URL {}", record + 1),
            ListFormat::Lines | ListFormat::JsonLines if self.is_staged => {
                format!("item {}", record + 1)
            }
            _ => {
                let lines = memchr::memchr_iter(b'\n', &self.head).count() as u64;
                let noun = match self.framing {
                    Framing::Byte(Terminator::Nul) => "record",
                    _ => "line",
                };
                format!("{noun} {}", record + lines + 1)
            }
        }
    }

    /// Splits a chunk of text, which begins at a record.
    fn split<'c>(&self, chunk: &'c [u8]) -> Records<'c> {
        let terminator = match self.framing {
            Framing::Byte(terminator) => terminator,
            _ => Terminator::LineFeed,
        };
        let are_urls = matches!(self.layout, Layout::Text) && self.hosts.is_none();
        Records::new(chunk, terminator).of_urls(are_urls)
    }
}
