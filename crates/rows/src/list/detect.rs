//! Detects how a list is read, by its name and its first bytes.
//!
//! Flags come first, then the extension of the name, then the first bytes, decompressed. A choice
//! made without a flag is reported in [`List::note`]. If a list lacks the column or field, the
//! error names the ones that it has.

use std::path::Path;

use serde_json::Value as Json;

use super::access_log::{self, AccessLayout, AccessLine};
use super::cdx::{self, CdxLine};
use super::delimited::Columns;
use super::json::ObjectValues;
use super::layout::Layout;
use super::place::{TableColumn, URL_NAMES, Value, listed};
use super::w3c::{self, W3cLine};
use super::{FieldPath, List, ListConfig, ListFormat, Place, advice, crawl, stage};
use crate::input::{Framing, InputError, Terminator};
use crate::sitemap::root_of;
use portcullis_files::input::{Separator, first_row};
use portcullis_files::kind::{FileKind, Wanted, WrongKind};
use portcullis_files::limits::TABLE_COLUMNS_MAX;
use portcullis_robots::syntax::BYTE_ORDER_MARK;

/// The members of URLFrontier's items.
const FRONTIER_FIELDS: [&str; 2] = ["discovered.info.url", "known.info.url"];

/// Detects how the list called `name`, which begins with `first`, is read. `is_whole` is true if
/// `first` is the whole list. `None` if the bytes are not enough, and more must be read.
///
/// # Errors
///
/// If the input is surely not a list, or lacks the column or field.
pub(crate) fn detect(
    name: &str,
    first: &[u8],
    is_whole: bool,
    config: &ListConfig,
) -> Result<Option<List>, InputError> {
    let mark = if first.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = &first[mark..];
    let promised = ListFormat::from_name(Path::new(name));
    let kind = FileKind::from_list(first);
    let is_parquet = kind == FileKind::Parquet;
    let is_warc = kind == FileKind::Warc && !stage::is_of_robots_txt(text);
    if config.format.is_none() && !is_parquet && !is_warc {
        refuse_other_kinds(name, first, kind, config.terminator)?;
    }
    let format = match config.format {
        Some(format) => format,
        None if is_parquet => ListFormat::Parquet,
        None if is_warc => ListFormat::Warc,
        None if config.terminator == Terminator::Nul => ListFormat::Lines,
        None => match promised.unwrap_or_else(|| of_first_bytes(text, config)) {
            ListFormat::JsonLines if cdx::is_json(text) => ListFormat::Cdx,
            format => format,
        },
    };
    if !first.is_empty() || !is_whole {
        config.check(format).map_err(|problem| problem_with(name, problem))?;
    }
    let look = Look { name, text, is_whole, config };
    let found = match format {
        ListFormat::Lines => {
            if config.format.is_none() && config.terminator == Terminator::LineFeed {
                advice::check_lines(name, text, is_whole).map_err(|it| problem_with(name, it))?;
            }
            Some(Found::new(Framing::Byte(config.terminator), Layout::Text))
        }
        ListFormat::Sitemap | ListFormat::Warc => {
            Some(Found { staged_head: Some(Vec::new()), ..Found::new(LINES, Layout::Text) })
        }
        ListFormat::JsonLines => look.json()?,
        ListFormat::Csv => look.rows(&Separator::CSV)?,
        ListFormat::Tsv => look.rows(&[Separator::TSV])?,
        ListFormat::Cdxj => look.cdxj()?,
        ListFormat::Cdx => look.cdx()?,
        ListFormat::W3cLog => look.w3c()?,
        ListFormat::HeritrixJournal => Some(Found::new(LINES, Layout::JournalWord)),
        ListFormat::CrawlLog => Some(Found::new(LINES, Layout::LogWords)),
        ListFormat::AccessLog => look.access_log()?,
        ListFormat::NutchDump => Some(Found::new(Framing::EmptyLine, Layout::DumpLine)),
        // Its rows are read in another way.
        ListFormat::Parquet => {
            Some(Found { staged_head: Some(Vec::new()), ..Found::new(LINES, Layout::Text) })
        }
    };
    let Some(Found { framing, layout, head_bytes, staged_head, columns, how }) = found else {
        return Ok(None);
    };
    let note = match (config.format, how) {
        (_, Some(how)) => Some(format!("{}, {how}", format.describe())),
        (Some(_), None) => None,
        // A format that the name already says needs no note.
        (None, None) if format == ListFormat::Lines || promised == Some(format) => None,
        (None, None) => Some(format.describe().to_owned()),
    };
    let is_staged = staged_head.is_some() && format != ListFormat::Parquet;
    let head = staged_head.unwrap_or_else(|| first[..mark + head_bytes].to_vec());
    let name = name.to_owned();
    let plain = List::plain(name, Terminator::LineFeed);
    let (times, hosts) = (config.times.clone(), config.hosts_in(format));
    let fixed = List { format, framing, layout, head, is_staged, ..plain };
    Ok(Some(List { times, hosts, columns, note, ..fixed }))
}

const LINES: Framing = Framing::Byte(Terminator::LineFeed);

/// Rejects inputs that are surely not lists.
fn refuse_other_kinds(
    name: &str,
    first: &[u8],
    kind: FileKind,
    end: Terminator,
) -> Result<(), InputError> {
    let line = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // A frontier may have a status for each URL, so a status alone does not show captures.
    let is_robots_txt = memchr::memmem::find(line, b"/robots.txt\"").is_some();
    let problem = advice::other_form(name, first, kind);
    if let Some(problem) = problem.filter(|_| end == Terminator::LineFeed) {
        return Err(problem_with(name, problem));
    }
    if kind.is_no_url_list() && (kind != FileKind::Captures || is_robots_txt) {
        return Err(WrongKind { name: name.to_owned(), kind, wanted: Wanted::UrlList }.into());
    }
    Ok(())
}

fn problem_with(name: &str, problem: impl Into<String>) -> InputError {
    InputError::List { name: name.to_owned(), problem: problem.into() }
}

/// Returns the format of a text that begins with `text`.
fn of_first_bytes(text: &[u8], config: &ListConfig) -> ListFormat {
    let mut lines = text.split(|&byte| byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_headed = |separator: Separator| {
        let fields = first_row(text, separator).0;
        fields.len() > 1 && TableColumn::find(&fields, &Place::Usual).is_some()
    };
    let has_column = config.has_names();
    let is_tabbed = memchr::memchr(b'\t', line).is_some();
    match () {
        () if text.trim_ascii_start().starts_with(b"{") => ListFormat::JsonLines,
        () if w3c::is_w3c(text) => ListFormat::W3cLog,
        () if access_log::is_access_log(line) => ListFormat::AccessLog,
        () if advice::is_json_array(text) => ListFormat::JsonLines,
        () if root_of(text).is_some() => ListFormat::Sitemap,
        () if line.starts_with(b"!") || crawl::is_cdxj(line) => ListFormat::Cdxj,
        () if crawl::is_journal(line) => ListFormat::HeritrixJournal,
        () if crawl::is_journal_time(line)
            && lines.next().is_none_or(|it| it.is_empty() || crawl::is_journal(it)) =>
        {
            ListFormat::HeritrixJournal
        }
        () if crawl::is_log(line) => ListFormat::CrawlLog,
        () if cdx::is_cdx(line) => ListFormat::Cdx,
        () if crawl::dump_url(line).is_ok() => ListFormat::NutchDump,
        () if is_headed(Separator::TSV) || has_column && is_tabbed => ListFormat::Tsv,
        // A header with TABs in quotes is CSV too.
        () if has_column || Separator::CSV[..3].iter().any(|&it| is_headed(it)) => ListFormat::Csv,
        () => ListFormat::Lines,
    }
}

/// Whether a field may be a URL and is not the name of a column.
fn may_be_url(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    memchr::memchr2(b'/', b'.', field).is_some() && memchr::memchr(b' ', field).is_none()
}

/// A detected format and place of the URL.
struct Found {
    framing: Framing,
    layout: Layout,
    head_bytes: usize,
    /// The head of the lines that are made of an input in another form.
    staged_head: Option<Vec<u8>>,
    columns: Vec<Vec<u8>>,
    /// A description of the choices made without a flag.
    how: Option<String>,
}

impl Found {
    fn new(framing: Framing, layout: Layout) -> Found {
        let (columns, staged_head) = (Vec::new(), None);
        Found { framing, layout, head_bytes: 0, staged_head, columns, how: None }
    }
}

/// The first row of a table, split at one delimiter.
struct FirstRow {
    separator: Separator,
    row: Vec<Vec<u8>>,
    end: usize,
    column: TableColumn,
    is_header: bool,
}

/// The beginning of a list, for detection.
struct Look<'l> {
    name: &'l str,
    /// The text, without a byte order mark.
    text: &'l [u8],
    is_whole: bool,
    config: &'l ListConfig,
}

impl Look<'_> {
    /// Returns the members at these paths of the URL, and those of the time and the agent.
    fn members(&self, urls: Vec<FieldPath>) -> Result<ObjectValues, InputError> {
        let ListConfig { times, agents, hosts, unit, .. } = self.config;
        let members =
            || ObjectValues::new([urls, times.paths()?, agents.paths()?, hosts.paths()?], *unit);
        members().map_err(|problem| problem_with(self.name, problem))
    }

    /// Returns the paths that are named for the URL.
    fn url_paths(&self) -> Result<Vec<FieldPath>, InputError> {
        self.config.urls.paths().map_err(|problem| problem_with(self.name, problem))
    }

    /// Detects the layout of an access log. Without a host in its lines, `--host` gives it.
    fn access_log(&self) -> Result<Option<Found>, InputError> {
        let Some(lines) = self.lines() else { return Ok(None) };
        let layout = AccessLayout::find(lines);
        let host = layout.describe_host();
        let is_path = |line| layout.asks_for_path(line);
        if host.is_none() && self.lines().is_some_and(|mut lines| lines.any(is_path)) {
            self.check_host("an access log")?;
        }
        let ListConfig { times, agents, .. } = self.config;
        let (has_time, has_agent) = (times.is_asked(), agents.is_asked());
        let line = Layout::AccessLine(AccessLine { layout, has_time, has_agent });
        Ok(Some(Found { how: host.map(str::to_owned), ..Found::new(LINES, line) }))
    }

    /// Checks that the host of paths is given.
    fn check_host(&self, list: &str) -> Result<(), InputError> {
        if self.config.host.is_some() {
            return Ok(());
        }
        let problem = format!(
            "{list} that names no host; give the host of its requests with --host, such as --host \
             example.com"
        );
        Err(problem_with(self.name, problem))
    }

    fn w3c(&self) -> Result<Option<Found>, InputError> {
        let Some(head_bytes) = w3c::head_bytes(self.text, self.is_whole) else { return Ok(None) };
        let ListConfig { times, agents, .. } = self.config;
        let (has_agent, has_time) = (agents.is_asked(), times.is_asked());
        let line = W3cLine::from_head(&self.text[..head_bytes], has_agent, has_time);
        let line = line.map_err(|problem| problem_with(self.name, problem))?;
        if !line.has_host() {
            self.check_host("a W3C extended log")?;
        }
        Ok(Some(Found { head_bytes, ..Found::new(LINES, Layout::W3cLine(line)) }))
    }

    fn cdx(&self) -> Result<Option<Found>, InputError> {
        let fail = |problem| problem_with(self.name, problem);
        let has_time = self.config.times.is_asked();
        if let Some(row) = cdx::first_row_of_answer(self.text) {
            let (line, _) = CdxLine::from_rows(&row, has_time).map_err(fail)?;
            let how = Some("rows of JSON".to_owned());
            let found = Found::new(LINES, Layout::Cdx(line));
            return Ok(Some(Found { staged_head: Some(row), how, ..found }));
        }
        let end = LINES.first_end(self.text).or(self.is_whole.then_some(self.text.len()));
        let Some(end) = end else { return Ok(None) };
        let line_of = |line: &'_ [u8]| line.strip_suffix(b"\r").unwrap_or(line).len();
        let (line, has_head, how) = match cdx::is_row(self.text) {
            true => {
                let (line, has_head) =
                    CdxLine::from_rows(&self.text[..end], has_time).map_err(fail)?;
                (line, has_head, Some("rows of JSON".to_owned()))
            }
            false => {
                let lines =
                    self.text.split(|&byte| byte == b'\n').map(|line| &line[..line_of(line)]);
                let (line, has_head) = CdxLine::from_lines(lines, has_time).map_err(fail)?;
                (line, has_head, None)
            }
        };
        let head_bytes = if has_head { end } else { 0 };
        Ok(Some(Found { head_bytes, how, ..Found::new(LINES, Layout::Cdx(line)) }))
    }

    /// Returns the whole lines of the text, or `None` if it has none yet.
    fn lines(&self) -> Option<impl Iterator<Item = &[u8]>> {
        let end = match self.is_whole {
            true => self.text.len(),
            false => LINES.last_end(self.text),
        };
        let lines = self.text[..end].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        (self.is_whole || end > 0).then(|| lines.filter(|line| !line.is_empty()))
    }

    fn json(&self) -> Result<Option<Found>, InputError> {
        if advice::is_json_array(self.text) {
            return Err(problem_with(self.name, advice::json_array(self.name, self.text)));
        }
        if self.config.urls.is_asked() {
            let layout = Layout::Fields(self.members(self.url_paths()?)?);
            return Ok(Some(Found::new(LINES, layout)));
        }
        let Some(lines) = self.lines() else { return Ok(None) };
        let mut names: Vec<String> = Vec::new();
        let mut is_first = true;
        for line in lines {
            let object = match serde_json::from_slice(line) {
                Ok(Json::Object(object)) => object,
                // One truncated line must not hide the others.
                _ => {
                    is_first = false;
                    continue;
                }
            };
            let new: Vec<String> =
                object.keys().filter(|key| !names.contains(key)).cloned().collect();
            names.extend(new);
            let called = |name: &str| -> Vec<&String> {
                object.keys().filter(|key| key.eq_ignore_ascii_case(name)).collect()
            };
            let usual = URL_NAMES.iter().map(|name| called(name));
            let usual =
                usual.into_iter().find(|keys| keys.iter().any(|key| object[*key].is_string()));
            if let Some([one, other, ..]) = usual.as_deref() {
                let problem = format!(
                    "an object has the fields `{one}` and `{other}`; name the one with the URL with \
                     --url-field NAME"
                );
                return Err(problem_with(self.name, problem));
            }
            if let Some([key]) = usual.as_deref() {
                let layout = Layout::Fields(self.members(vec![FieldPath::usual(key)])?);
                let how = (*key != "url").then(|| format!("field `{key}`"));
                return Ok(Some(Found { how, ..Found::new(LINES, layout) }));
            }
            if ["discovered", "known"].iter().any(|item| object.contains_key(*item)) {
                let fields = FRONTIER_FIELDS.map(|path| path.parse().expect("these are paths"));
                let how = Some(format!("fields `{}`", FRONTIER_FIELDS.join("` and `")));
                let found = Found::new(LINES, Layout::Fields(self.members(fields.to_vec())?));
                return Ok(Some(Found { how, ..found }));
            }
        }
        match names.is_empty() {
            // An empty list, or lines that are not objects, which count as invalid.
            true if is_first => {
                let layout = Layout::Fields(self.members(vec![FieldPath::usual("url")])?);
                Ok(Some(Found::new(LINES, layout)))
            }
            true => Err(problem_with(self.name, advice::no_object(self.name, self.text))),
            false => {
                let first = self.lines().and_then(|mut lines| lines.next());
                if let Some(problem) = first.and_then(advice::json_in_field) {
                    return Err(problem_with(self.name, problem));
                }
                let problem = "JSON Lines without a field `url`";
                let fields = listed(names.iter().map(String::as_str));
                Err(problem_with(
                    self.name,
                    format!(
                        "{problem}; its fields are {fields}; name the one with the URL with --url-field NAME"
                    ),
                ))
            }
        }
    }

    fn cdxj(&self) -> Result<Option<Found>, InputError> {
        let fields = match self.config.urls.is_asked() {
            false => vec![FieldPath::usual("url")],
            true => self.url_paths()?,
        };
        // Comments come first.
        let mut head_bytes = 0;
        while self.text[head_bytes..].starts_with(b"!") {
            match LINES.first_end(&self.text[head_bytes..]) {
                Some(end) => head_bytes += end,
                None if self.is_whole => head_bytes = self.text.len(),
                None => return Ok(None),
            }
        }
        let is_ready = self.is_whole || head_bytes < self.text.len();
        let layout = Layout::Cdxj(self.members(fields)?);
        Ok(is_ready.then(|| Found { head_bytes, ..Found::new(LINES, layout) }))
    }

    /// Detects CSV with the first of `separators` for which the row has the column.
    fn rows(&self, separators: &[Separator]) -> Result<Option<Found>, InputError> {
        let usual = separators[0];
        let fail = |problem| problem_with(self.name, problem);
        if self.text.is_empty() && self.is_whole {
            let (time, agent, host, unit) = (None, None, None, None);
            let columns =
                Columns { separator: usual, column: 0, time, agent, host, unit, count: 1 };
            return Ok(Some(Found::new(usual.framing(), Layout::Columns(columns))));
        }
        let mut found: Option<FirstRow> = None;
        for &separator in separators {
            if !self.is_whole && separator.framing().first_end(self.text).is_none() {
                return Ok(None);
            }
            let (row, end) = first_row(self.text, separator);
            if row.len() > TABLE_COLUMNS_MAX {
                return Err(fail(format!(
                    "more than {TABLE_COLUMNS_MAX} columns; if it is no CSV or TSV, name its format with \
                     --input-format"
                )));
            }
            let Some((column, is_header)) = self.column(&row) else { continue };
            // Without a header, only the usual delimiter counts, because the others may be part of
            // a URL.
            let is_usual = separator == usual;
            let is_better = found.as_ref().is_none_or(|other| row.len() > other.row.len());
            if is_better && (is_header || is_usual) {
                found = Some(FirstRow { separator, row, end, column, is_header });
            }
        }
        let widest = |it: &&Separator| first_row(self.text, **it).0.len();
        let widest = || *separators.iter().max_by_key(widest).unwrap_or(&usual);
        if let Some(FirstRow { separator, row, end, column, is_header }) = found {
            let column = column.only(&row, Value::Url).map_err(fail)?;
            let of_value = |at: &Place, value| match at.is_asked() {
                true => value_column(&row, is_header, at, value).map(Some).map_err(fail),
                false => Ok(None),
            };
            let ListConfig { times, agents, hosts, unit, .. } = self.config;
            let time = of_value(times, Value::Time)?;
            let agent = of_value(agents, Value::Agent)?;
            let host = of_value(hosts, Value::Host)?;
            let (unit, count) = (*unit, row.len());
            let layout =
                Layout::Columns(Columns { separator, column, time, agent, host, unit, count });
            let shown = String::from_utf8_lossy(row[column].trim_ascii()).into_owned();
            let how = match (self.config.urls.is_asked(), is_header) {
                (false, true) => Some(format!("column `{shown}`")),
                (true, true) => None,
                (_, false) => Some(format!("column {}, no header", column + 1)),
            };
            let (head_bytes, columns) = if is_header { (end, row) } else { (0, Vec::new()) };
            let framing = separator.framing();
            let found = Found::new(framing, layout);
            return Ok(Some(Found { head_bytes, columns, how, ..found }));
        }
        let (row, _) = first_row(self.text, widest());
        let at = &self.config.urls;
        if let Some(problem) = advice::sites(&row).filter(|_| !at.is_asked()) {
            return Err(fail(problem));
        }
        let mut problem = TableColumn::missing(&row, at, Value::Url);
        if !usual.has_quotes && row.iter().any(|name| name.starts_with(b"\"")) {
            problem.push_str(", or read a table with quotes with --input-format csv");
        }
        Err(fail(problem))
    }

    /// Returns the column of the URL, and whether `row` is a header.
    fn column(&self, row: &[Vec<u8>]) -> Option<(TableColumn, bool)> {
        let at = &self.config.urls;
        let given = match at {
            Place::Named(names) => names.as_slice(),
            Place::Usual | Place::Record => &[],
        };
        // The first row of a table without a header may have a number as well.
        let number = given.iter().find_map(|it| it.parse::<usize>().ok()?.checked_sub(1));
        let site = number.filter(|&place| place < row.len() && advice::is_site(row, place));
        let found = site.map(TableColumn::at).or_else(|| TableColumn::find(row, at));
        if let Some(column) = found {
            let is_header = match (at.is_asked(), column.is_named) {
                // The error about a missing column shows the first row of a table without a header.
                (true, true) => !advice::is_site(row, column.place),
                (false, true) => true,
                (_, false) => !may_be_url(&row[column.place]),
            };
            return Some((column, is_header));
        }
        if at.is_asked() {
            return None;
        }
        // Without a header, the column is the only field with a URL.
        let is_url = |field: &Vec<u8>| memchr::memmem::find(field, b"://").is_some();
        let place = row.iter().position(is_url)?;
        let is_only = !row[place + 1..].iter().any(is_url);
        is_only.then_some((TableColumn::at(place), false))
    }
}

/// Returns the column with another value than the URL. The error says that there is none.
fn value_column(
    row: &[Vec<u8>],
    is_header: bool,
    at: &Place,
    value: Value,
) -> Result<usize, String> {
    // Without a header, columns have numbers only.
    let blank = vec![b""; row.len()];
    let found = match is_header {
        true => TableColumn::find(row, at),
        false => TableColumn::find(&blank, at),
    };
    let missing = || TableColumn::missing(row, at, value);
    found.ok_or_else(missing)?.only(row, value)
}
