//! Detects how a list is read, by its name and its first bytes.
//!
//! Flags come first, then the extension of the name, then the first bytes, decompressed. A choice
//! made without a flag is reported in [`List::note`]. If a list lacks the column or field, the
//! error names the ones that it has.

use std::path::Path;

use serde_json::Value as Json;

use super::cdx::{self, CdxLine};
use super::json::ObjectValues;
use super::layout::Layout;
use super::log::{self, LogLine, Reads};
use super::look::{LINES, Look};
use super::place::{LeftPart, URL_NAMES, could_be_url, url_names};
use super::stage::first_line;
use super::w3c::{self, W3cLine};
use super::{
    FieldPath, List, ListConfig, ListFormat, Place, advice, crawl, layouts, lines, stage, table,
};
use crate::input::{Framing, InputError, Terminator};
use crate::limits::{FIELDS_LOOKED_AT_MAX, RECORDS_LOOKED_AT_MAX};
use crate::sitemap::root_of;
use portcullis_captures::names::{listed, members_of, object_in};
use portcullis_files::input::Separator;
use portcullis_files::kind::{FileKind, Wanted, is_mostly_text};
use portcullis_robots::syntax::BYTE_ORDER_MARK;
use portcullis_text::visible::cut_characters;

/// The most lines before the first one of an access log.
const LINES_BEFORE_LOG: usize = 2;

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
    let text = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first);
    // Comments may stand before a header.
    if !is_whole && table::without_comments(text).is_empty() {
        return Ok(None);
    }
    let promised = ListFormat::from_name(Path::new(name));
    let kind = FileKind::from_list(first);
    let is_parquet = kind == FileKind::Parquet;
    let is_warc = kind == FileKind::Warc && !stage::is_of_robots_txt(text);
    if config.format.is_none() && !is_parquet && !is_warc {
        refuse_other_kinds(name, first, kind, config.terminator)?;
    }
    if config.terminator == Terminator::Nul && (is_parquet || is_warc) {
        let problem = format!("{kind}; ‹null_data› is for plain lines; omit it");
        return Err(InputError::list(name, problem));
    }
    if config.log_format.is_some() && (is_parquet || is_warc) {
        return Err(InputError::list(name, format!("{kind}, and not a log; omit ‹log_format›")));
    }
    let format = match config.format {
        Some(format) => {
            check_given(format, text).map_err(|problem| InputError::list(name, problem))?;
            format
        }
        None if config.log_format.is_some() => ListFormat::AccessLog,
        None if is_parquet => ListFormat::Parquet,
        None if is_warc => ListFormat::Warc,
        None if config.terminator == Terminator::Nul => ListFormat::Lines,
        None => match promised.unwrap_or_else(|| of_first_bytes(text, config)) {
            ListFormat::JsonLines if cdx::begins_with_names(text) => ListFormat::Cdx,
            // The indexes in WACZ files are called so.
            ListFormat::Cdx if text.starts_with(b"!") || crawl::is_cdxj(first_line(text)) => {
                ListFormat::Cdxj
            }
            format => format,
        },
    };
    let wrong = |problem| InputError::list(name, problem);
    // A row of an index is an array too.
    let may_be_array = matches!(format, ListFormat::JsonLines | ListFormat::Cdx);
    let is_array = may_be_array && advice::is_json_array(text) && !cdx::begins_with_names(text);
    let items = match is_array {
        true => match stage::first_items(name, text, is_whole)? {
            None => return Ok(None),
            items => items,
        },
        false => None,
    };
    let (first, text, format) =
        items.as_ref().map_or((first, text, format), |(format, lines)| (lines, lines, *format));
    let found = Look { name, first, text, is_whole, format, config }.list();
    let Some(list) = found.map_err(wrong)? else { return Ok(None) };
    list.check_units(first, is_whole).map_err(wrong)?;
    let list = List { is_staged: list.is_staged || is_array, ..list };
    let note = match (config.format, list.note) {
        (_, how) if is_array && format != ListFormat::Cdx => {
            Some(["a JSON array"].into_iter().chain(how.as_deref()).collect::<Vec<_>>().join(", "))
        }
        (_, Some(how)) => Some(format!("{}, {how}", format.describe())),
        (Some(_), None) => None,
        _ if config.log_format.is_some() => None,
        // A format that the name already says needs no note.
        (None, None) if format == ListFormat::Lines || promised == Some(format) => None,
        (None, None) if (promised, format) == (Some(ListFormat::Cdx), ListFormat::Cdxj) => None,
        (None, None) => Some(format.describe().to_owned()),
    };
    Ok(Some(List { note, ..list }))
}

/// Checks that a text begins as the format that was given.
fn check_given(format: ListFormat, text: &[u8]) -> Result<(), String> {
    let begins: &[&str] = match format {
        ListFormat::Warc => &["WARC/"],
        // The second one begins an encrypted file.
        ListFormat::Parquet => &["PAR1", "PARE"],
        ListFormat::Sitemap => &["<"],
        _ => return Ok(()),
    };
    let text = text.trim_ascii_start();
    if text.is_empty() || begins.iter().any(|begin| text.starts_with(begin.as_bytes())) {
        return Ok(());
    }
    let (format, begin) = (format.describe(), begins[0]);
    Err(format!("not {format}: it does not begin with `{begin}`; omit ‹input_format›"))
}

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
        return Err(InputError::list(name, problem));
    }
    // Its records may be so long that some are written before enough are seen to be no URLs.
    let is_data = kind == FileKind::Binary && end == Terminator::LineFeed && !is_mostly_text(first);
    if is_data || kind.is_no_url_list() && (kind != FileKind::Captures || is_robots_txt) {
        return Err(InputError::wrong_kind(name, kind, Wanted::UrlList));
    }
    Ok(())
}

/// Returns the format of a text that begins with `text`.
fn of_first_bytes(text: &[u8], config: &ListConfig) -> ListFormat {
    let lines = text.split(|&byte| byte == b'\n');
    let mut lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).peekable();
    // What rotates a log may leave a line of its own, or none.
    let is_log = lines.clone().take(LINES_BEFORE_LOG + 1).any(log::is_known);
    while lines.next_if(|line| line.is_empty()).is_some() {}
    let line = lines.next().unwrap_or_default();
    let is_headed = |separator: Separator| {
        table::usual_header(text, separator).is_some_and(|row| table::are_names(&row))
    };
    let has_column = config.has_names();
    let is_tabbed = line.contains(&b'\t');
    match () {
        () if table::separator_in(text).is_some() => ListFormat::Csv,
        () if text.trim_ascii_start().starts_with(b"{") => ListFormat::JsonLines,
        () if w3c::is_w3c(text) => ListFormat::W3cLog,
        () if log::is_known(line) => ListFormat::AccessLog,
        () if advice::is_json_array(text) => ListFormat::JsonLines,
        () if root_of(text).is_some() => ListFormat::Sitemap,
        () if line.starts_with(b"!") || crawl::is_cdxj(line) => ListFormat::Cdxj,
        () if crawl::is_journal(line, lines.next()) => ListFormat::HeritrixJournal,
        () if crawl::is_log(line) => ListFormat::CrawlLog,
        () if cdx::is_cdx(line) => ListFormat::Cdx,
        () if crawl::dump_url(line).is_ok() => ListFormat::NutchDump,
        () if is_headed(Separator::TSV) || has_column && is_tabbed => ListFormat::Tsv,
        () if !has_column && log::looks_like_log(line) => ListFormat::AccessLog,
        // A header with TABs in quotes is CSV too.
        () if has_column || Separator::CSV.iter().any(|&it| is_headed(it)) => ListFormat::Csv,
        () if is_log => ListFormat::AccessLog,
        () => ListFormat::Lines,
    }
}

/// Characters of a line that an error shows.
const LINE_CHARACTERS_SHOWN: usize = 60;

impl Look<'_> {
    fn list(&self) -> Result<Option<List>, String> {
        let (format, config) = (self.format, self.config);
        if (!self.first.is_empty() || !self.is_whole)
            && let Err(problem) = config.check(format, false)
        {
            return Err(self.doubt_of_lines().unwrap_or(problem));
        }
        match self.is_one_line() {
            Some(false) => {}
            Some(true) => return Err(advice::CR_ALONE.to_owned()),
            None => return Ok(None),
        }
        Ok(Some(match format {
            ListFormat::Lines => {
                if config.format.is_none() && config.terminator == Terminator::LineFeed {
                    // Most lines decide, and before a pause there may be one.
                    let has_few = || !self.is_whole && self.has_few_rows(Separator::TSV);
                    if !lines::is_plain(first_line(self.text)) && has_few() {
                        return Ok(None);
                    }
                    if let Some(problem) = table::doubtful_header(self.text) {
                        return Err(problem);
                    }
                    lines::check(self.text, self.is_whole, false)?;
                }
                List { framing: Framing::Byte(config.terminator), ..self.with(Layout::Text) }
            }
            // Rows of Parquet are read in another way.
            ListFormat::Sitemap | ListFormat::Warc | ListFormat::Parquet => {
                let is_staged = format != ListFormat::Parquet;
                List { head: Vec::new(), is_staged, ..self.with(Layout::Text) }
            }
            ListFormat::HeritrixJournal => self.with(Layout::JournalWord),
            ListFormat::CrawlLog => self.with(Layout::LogWords),
            ListFormat::NutchDump => {
                List { framing: Framing::EmptyLine, ..self.with(Layout::DumpLine) }
            }
            ListFormat::JsonLines => return self.json(),
            ListFormat::Csv => return self.rows(&Separator::CSV),
            ListFormat::Tsv => {
                let is_declared = self.is_tsv_declared();
                if !is_declared && let Some(problem) = self.open_cell() {
                    return Err(problem);
                }
                // Otherwise the TAB may be one that a client sent.
                let is_unsure = config.urls.has_number() && !is_declared;
                let count = if is_unsure { table::TABS_FIRST.len() } else { 1 };
                return self.rows(&table::TABS_FIRST[..count]);
            }
            ListFormat::Cdxj => return self.cdxj(),
            ListFormat::Cdx => return self.cdx(),
            ListFormat::W3cLog => return self.w3c(),
            ListFormat::AccessLog => return self.log(),
        }))
    }

    /// Returns why plain lines look like something else, before what a flag says about them.
    fn doubt_of_lines(&self) -> Option<String> {
        if self.format != ListFormat::Lines || self.config.format.is_some() {
            return None;
        }
        let mut lines = self.lines().into_iter().flatten().map(String::from_utf8_lossy);
        let first = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        let advice = advice::of_row(&first).or_else(|| advice::of_text(&first));
        let of_first = |advice| {
            let shown = cut_characters(&first, LINE_CHARACTERS_SHOWN);
            format!("its first record is no URL (`{shown}`); {advice}")
        };
        let of_lines = || lines::check(self.text, self.is_whole, false).err();
        advice.map(of_first).or_else(of_lines)
    }

    /// Whether CR alone ends the lines of a log or an index, so that its records would be one, or a part of
    /// what precedes the first. `None` if more must be read.
    fn is_one_line(&self) -> Option<bool> {
        use ListFormat::{AccessLog, Cdx, Cdxj, CrawlLog, HeritrixJournal, NutchDump, W3cLog};
        let has_head = matches!(self.format, Cdx | Cdxj | W3cLog);
        if !has_head && !matches!(self.format, AccessLog | CrawlLog | HeritrixJournal | NutchDump) {
            return Some(false);
        }
        let end = memchr::memchr(b'\n', self.text);
        let first = &self.text[..end.unwrap_or(self.text.len())];
        let has_cr = memchr::memchr(b'\r', first.trim_ascii_end()).is_some();
        let is_last = end.is_none_or(|end| end + 1 == self.text.len());
        match end {
            None if has_cr && !self.is_whole => None,
            _ => Some(has_cr && (has_head || self.is_whole && is_last)),
        }
    }

    /// Returns the members at these paths, of the URL and of the other values. `fields` are the paths of
    /// the members of the first objects. The second are those that may have parts of the URL and are not read.
    fn members(
        &self,
        urls: Vec<FieldPath>,
        fields: &[String],
    ) -> Result<(ObjectValues, Vec<(LeftPart, String)>), String> {
        let places = self.config.places().map(Place::clone);
        let is_asked = self.config.has_names();
        let left = LeftPart::all_left(self.config, self.format);
        let near = urls.iter().flat_map(|url| layouts::parts_near(url, fields));
        let near = near.filter(|(part, _)| left[*part as usize]);
        let near = near.map(|(part, path)| (part, path.to_string())).collect();
        let lines = self.lines().filter(|_| is_asked).into_iter().flatten();
        let first = lines.filter(|line| !line.starts_with(b"!")).find_map(members_of);
        let first = first.unwrap_or_default();
        Ok((ObjectValues::new(urls, left, places, self.config.unit, first)?, near))
    }

    /// Returns the paths of the members of the first objects.
    fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        let lines = self.lines().into_iter().flatten().take(RECORDS_LOOKED_AT_MAX);
        for line in lines.filter(|line| !line.starts_with(b"!")) {
            let members = members_of(line).unwrap_or_default();
            let new: Vec<String> = members.into_iter().filter(|it| !fields.contains(it)).collect();
            fields.extend(new);
            if fields.len() > FIELDS_LOOKED_AT_MAX {
                break;
            }
        }
        fields
    }

    /// Finds the format of a log. Without a host in its lines, `--host` gives it.
    fn log(&self) -> Result<Option<List>, String> {
        let ListConfig { log_format, times, agents, clients, .. } = self.config;
        if self.lines().is_none() {
            return Ok(None);
        }
        let declared = log_format.as_ref();
        let lines = || self.lines().into_iter().flatten().take(RECORDS_LOOKED_AT_MAX);
        let reads = Reads {
            time: times.is_wanted(),
            agent: agents.is_asked(),
            client: clients.is_wanted(),
        };
        let line = match declared {
            Some(format) => Some(LogLine::declared(lines(), format, reads)?),
            None => LogLine::find(lines(), reads),
        };
        let Some(line) = line else {
            return match lines().next() {
                Some(first) => Err(advice::unknown_log(first)),
                None => Ok(Some(self.with(Layout::Text))),
            };
        };
        let values = [
            (agents, line.has_agent(), "agent; name the agent with -a"),
            (times, line.has_time(), "time that is read; name the time with ‹at›"),
            (clients, line.has_client(), "client that is read; omit ‹client_field›"),
        ];
        if let Some((.., fix)) = values.iter().find(|(at, has, _)| at.is_asked() && !has) {
            return Err(format!("the format of the log has no {fix}"));
        }
        if line.needs_host(lines()) {
            self.check_host("an access log")?;
        }
        let note = line.format().name().filter(|_| declared.is_none()).map(str::to_owned);
        Ok(Some(List { note, ..self.with(Layout::Log(line)) }))
    }

    /// Checks that the host of paths is given.
    fn check_host(&self, list: &str) -> Result<(), String> {
        if self.config.host.is_some() {
            return Ok(());
        }
        Err(format!(
            "{list} that names no host; give the host of its requests with ‹host›, such as ‹host› \
             example.com"
        ))
    }

    fn w3c(&self) -> Result<Option<List>, String> {
        let Some(end) = self.end_of_lines(b"#") else { return Ok(None) };
        let ListConfig { times, agents, clients, .. } = self.config;
        let (line, end) = W3cLine::from_head(&self.text[..end], [times, agents, clients])?;
        if !line.has_host() {
            self.check_host("a W3C extended log")?;
        }
        let (head, note) = (self.head(end), line.note());
        Ok(Some(List { head, note, ..self.with(Layout::W3cLine(line)) }))
    }

    fn cdx(&self) -> Result<Option<List>, String> {
        let has_time = self.config.times.is_asked();
        let end = LINES.first_end(self.text).or(self.is_whole.then_some(self.text.len()));
        let Some(end) = end else { return Ok(None) };
        let ((line, has_head), note) = match cdx::begins_with_names(self.text) {
            true => {
                let line = CdxLine::from_rows(&self.text[..end], has_time)?;
                ((line, true), Some("rows of JSON".to_owned()))
            }
            false => {
                let lines = self.text.split(|&byte| byte == b'\n');
                let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
                (CdxLine::from_lines(lines, has_time)?, None)
            }
        };
        let head = self.head(if has_head { end } else { 0 });
        Ok(Some(List { head, note, ..self.with(Layout::Cdx(line)) }))
    }

    /// Returns the end of the first lines that begin with `mark` or are empty before one that does, or
    /// `None` if they may not end there.
    fn end_of_lines(&self, mark: &[u8]) -> Option<usize> {
        let mut end = 0;
        loop {
            let rest = self.text[end..].trim_ascii_start();
            let start = self.text.len() - rest.len();
            match LINES.first_end(rest) {
                _ if !rest.starts_with(mark) => {
                    return (self.is_whole || start < self.text.len()).then_some(end);
                }
                Some(line) => end = start + line,
                None if self.is_whole => end = self.text.len(),
                None => return None,
            }
        }
    }

    /// Returns the whole lines of the text, or `None` if it has none yet.
    fn lines(&self) -> Option<impl Iterator<Item = &[u8]>> {
        let end = if self.is_whole { self.text.len() } else { LINES.last_end(self.text) };
        let lines = self.text[..end].split(|&byte| byte == b'\n');
        // Blanks at their ends stay: they are as in the records.
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        (self.is_whole || end > 0).then(|| lines.filter(|line| !line.trim_ascii().is_empty()))
    }

    /// Returns a list of objects with the URL at these paths.
    fn objects(
        &self,
        urls: Vec<FieldPath>,
        fields: &[String],
        note: Option<String>,
    ) -> Result<Option<List>, String> {
        self.config.check(self.format, true)?;
        let (members, left) = self.members(urls, fields)?;
        Ok(Some(List { note, left, ..self.with(Layout::Fields(members)) }))
    }

    fn json(&self) -> Result<Option<List>, String> {
        let Some(lines) = self.lines() else { return Ok(None) };
        let fields = self.fields();
        if let Some((layout, config)) = layouts::known(&fields, self.config) {
            let url = config.urls.names().first().expect("a layout has a URL");
            let note = format!("field `{url}` ({})", layout.name);
            let look = Look { config: &config, ..*self };
            return look.objects(config.urls.paths()?, &fields, Some(note));
        }
        if self.config.urls.is_asked() {
            return self.objects(self.config.urls.paths()?, &fields, None);
        }
        let mut names: Vec<String> = Vec::new();
        let mut are_objects = true;
        for line in lines {
            let Some(object) = object_in(line) else {
                // One truncated line must not hide the others.
                are_objects = false;
                continue;
            };
            let members = members_of(line).unwrap_or_default();
            let new: Vec<String> = members.into_iter().filter(|it| !names.contains(it)).collect();
            names.extend(new);
            let called = |name: &&'static str| -> Vec<&String> {
                object.keys().filter(|key| key.eq_ignore_ascii_case(name)).collect()
            };
            let has_text = |keys: &Vec<&String>| keys.iter().any(|key| object[*key].is_string());
            match URL_NAMES.iter().map(called).find(has_text).as_deref() {
                Some([one, other, ..]) => {
                    return Err(format!(
                        "an object has the fields `{one}` and `{other}`; choose the URL with \
                         ‹url_field› NAME"
                    ));
                }
                Some([key]) => {
                    let how = (*key != "url").then(|| format!("field `{key}`"));
                    let rival = self.rival_field(key);
                    let list = self.objects(vec![FieldPath::usual(key)], &fields, how)?;
                    return Ok(list.map(|list| List { rival, ..list }));
                }
                _ => {}
            }
            if ["discovered", "known"].iter().any(|item| object.contains_key(*item)) {
                let paths = FRONTIER_FIELDS.map(|path| path.parse().expect("these are paths"));
                let how = format!("fields `{}`", FRONTIER_FIELDS.join("` and `"));
                return self.objects(paths.to_vec(), &fields, Some(how));
            }
        }
        if names.is_empty() {
            // An empty list, or lines that are not objects, which count as invalid.
            return match are_objects {
                true => self.objects(vec![FieldPath::usual("url")], &fields, None),
                false => Err(advice::no_object(self.name, self.text, self.config.format.is_some())),
            };
        }
        let first = self.lines().and_then(|mut lines| lines.next());
        let first = first.and_then(|line| {
            advice::log_in_field(line)
                .or_else(|| advice::json_in_field(line))
                .or_else(|| advice::list_in_object(line))
        });
        Err(first.unwrap_or_else(|| {
            let is_usual =
                |name: &&String| URL_NAMES.iter().any(|it| it.eq_ignore_ascii_case(name));
            let (usual, others): (Vec<&String>, Vec<&String>) = names.iter().partition(is_usual);
            let problem = match usual.first() {
                Some(name) => {
                    format!("the field `{name}` is null, or no string, in all of the first records")
                }
                None => format!("no field is called {}", url_names()),
            };
            match &others[..] {
                [] => format!("{problem}; write the URL of each record into a field"),
                others => format!(
                    "{problem}; {} fields are {}; choose the URL with ‹url_field› NAME",
                    if usual.is_empty() { "the" } else { "the other" },
                    listed(others.iter().map(|name| name.as_str()))
                ),
            }
        }))
    }

    /// Returns another field than `key` whose name and, in an object, whose value could be of the URL.
    fn rival_field(&self, key: &str) -> Option<String> {
        let has_paths = self.config.hosts_in(self.format).is_some();
        let could_be = |(name, value): &(String, Json)| {
            let text = value.as_str().unwrap_or_default();
            let is_whole = text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(' '));
            let is_url = is_whole || has_paths && text.contains('/');
            is_url && !name.eq_ignore_ascii_case(key) && could_be_url(name.as_bytes(), true)
        };
        let lines = self.lines()?.take(RECORDS_LOOKED_AT_MAX);
        let objects = lines.filter_map(object_in);
        objects.flatten().find(could_be).map(|(name, _)| name)
    }

    fn cdxj(&self) -> Result<Option<List>, String> {
        let fields = match self.config.urls.is_asked() {
            false => vec![FieldPath::usual("url")],
            true => self.config.urls.paths()?,
        };
        self.config.check(self.format, true)?;
        let layout = Layout::Cdxj(self.members(fields, &[])?.0);
        // Comments come first.
        let end = self.end_of_lines(b"!");
        Ok(end.map(|end| List { head: self.head(end), ..self.with(layout) }))
    }
}
