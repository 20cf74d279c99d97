//! Advice about inputs that are not read as they are.
//!
//! Each text names a command or a flag that leads to a list that is read.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::log::is_known;
use super::log::words::{is_host, is_number};
use super::place::{URL_NAMES, Value, has_scheme, shown};
use super::request::target;
use super::{FieldPath, ListFormat, LogFormat, Place};
use portcullis_captures::names::{looked_at, object_in};
use portcullis_files::input::{Separator, first_row, plain_extension};
use portcullis_files::kind::FileKind;
use portcullis_robots::access::UnixSeconds;
use portcullis_text::figures::counted;

/// The problem of an input whose lines end with CR, so that it is one line.
pub(super) const CR_ALONE: &str =
    r"its lines end with CR alone; to make them LF, pipe it through tr '\r' '\n'";

/// The problem of a row of CSV in which the last quote opens a field.
pub const OPEN_QUOTE: &str = "a quoted field is not closed, so every row after it is part of it; close it, or, to \
                              remove all quotes if they mean nothing, pipe it through tr -d '\"'";

/// Returns the problem of a list of lines whose fields change: a W3C extended log, or a CDX index.
pub fn other_fields(format: ListFormat) -> &'static str {
    match format {
        ListFormat::Cdx => {
            "a legend names other fields than before; to make a file for each, pipe it through awk 'NR == 1 || \
             /^.CDX/ {close(f); f = \"part-\" ++n \".cdx\"} {print > f}'"
        }
        _ => {
            // The directives before `#Fields`, such as `#Software`, belong to its file.
            "`#Fields` names other fields than before; to make a file for each, pipe it through awk '{d = NF ? \
             /^[^!-~]*#/ : last} d && !last {close(f); f = \"part-\" ++n \".log\"} {last = d} f {print > f}'"
        }
    }
}

/// Returns the problem of a spreadsheet, or of a text in UTF-16 without a byte order mark.
pub(super) fn other_form(name: &str, first: &[u8], kind: FileKind) -> Option<String> {
    let has = |part: &[u8]| memchr::memmem::find(&first[..first.len().min(4096)], part).is_some();
    let is_office = || has(b"[Content_Types].xml") || has(b"xl/") || has(b"opendocument");
    let extension = plain_extension(Path::new(name)).unwrap_or_default();
    let is_named = ["xlsx", "xlsm", "ods"].contains(&extension.as_str());
    if kind == FileKind::Zip && (is_named || is_office()) || first.starts_with(OLE) {
        const SHEET: &str =
            "a spreadsheet; save its sheet as CSV (soffice --headless --convert-to csv FILE)";
        return Some(SHEET.to_owned());
    }
    let are_letters = |first: u8, second: u8| first.is_ascii_graphic() && second.is_ascii_graphic();
    let encoding = match first {
        [first, 0, second, 0, ..] if are_letters(*first, *second) => "UTF-16LE",
        [0, first, 0, second, ..] if are_letters(*first, *second) => "UTF-16BE",
        _ => return None,
    };
    Some(format!("{encoding}; to convert it, pipe it through iconv -f {encoding} -t UTF-8"))
}

/// The first bytes of a compound file, such as a spreadsheet of Excel up to 2003.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Whether a text begins as a JSON array of texts, objects or arrays.
pub(super) fn is_json_array(text: &[u8]) -> bool {
    let inside = text.trim_ascii_start().strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| matches!(inside, [b'{' | b'[' | b'"' | b']', ..]))
}

/// The problem of a JSON array of arrays.
pub(super) const JSON_ARRAY: &str =
    "a JSON array of rows; to make CSV of it, pipe it through jq -r '.[] | @csv'";

/// The problem of several arrays of texts.
pub(super) const ARRAYS: &str = "several JSON arrays, which may be rows; pipe them through jq -r '.[]' if each item is a URL, or else through \
     jq -r @csv to make CSV of them";

/// Returns the problem of JSON Lines of which no line is an object, by name or, if `is_given`, by a flag.
pub(super) fn no_object(name: &str, text: &[u8], is_given: bool) -> String {
    if !text.trim_ascii_start().starts_with(b"{") {
        let way = match is_given {
            true => "omit ‹input_format›",
            false => "if each line is a URL, pass ‹input_format› lines",
        };
        return format!("no line is a JSON object; {way}");
    }
    let line = text.trim_ascii().split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line.trim_ascii_end().strip_suffix(b",").is_some_and(|line| object_in(line).is_some()) {
        return "the lines end with a comma; to remove it, pipe them through sed 's/,[[:space:]]*$//'"
            .to_owned();
    }
    let parsed = serde_json::from_slice::<&RawValue>(line);
    if let (Err(error), true) = (parsed, line.trim_ascii_end().ends_with(b"}")) {
        return format!("no line is JSON (line 1: {error}); write each record as JSON");
    }
    let folder = Path::new(name).parent().and_then(Path::to_str).filter(|it| !it.is_empty());
    let all = folder.map(|it| format!(", or all files of its folder (cat {it}/*.json),"));
    let all = all.unwrap_or_default();
    format!("an object takes several lines; to make one line of each, pipe it{all} through jq -c .")
}

/// Returns the problem of an object with a list of URLs or of objects in it, such as the answer of a service.
/// `None` if `line`, the object, has none.
pub(super) fn list_in_object(line: &[u8]) -> Option<String> {
    let object = Json::Object(object_in(line)?);
    let (path, item, is_text) = list_below(&object, LIST_DEPTH_MAX)?;
    let parsed = if is_text { " | fromjson" } else { "" };
    let letter = if item.is_string() { 'r' } else { 'c' };
    Some(format!(
        "an object with a list in it; to make a line of each item, pipe it through jq -{letter} '{path}{parsed} | .[]'"
    ))
}

/// Objects within one another in which a list is looked for. A HAR file has two.
const LIST_DEPTH_MAX: u32 = 3;

/// Returns the first list of URLs or of objects in a value, as the path of jq and its first item, and whether
/// it is in a text that is JSON.
fn list_below(value: &Json, depth: u32) -> Option<(String, Json, bool)> {
    let is_plain = |name: &str| {
        !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let members = value.as_object()?.iter().filter(|(name, _)| is_plain(name));
    let first = |value: &Json| match value.as_array()?.first()? {
        Json::String(text) if !has_scheme(text.as_bytes()) => None,
        item @ (Json::String(_) | Json::Object(_)) => Some(item.clone()),
        _ => None,
    };
    let found = members.clone().find_map(|(name, value)| {
        let inside = value.as_str().filter(|text| text.trim_start().starts_with('['));
        let parsed = inside.and_then(|text| looked_at(text.as_bytes()));
        Some((format!(".{name}"), first(parsed.as_ref().unwrap_or(value))?, parsed.is_some()))
    });
    found.or_else(|| {
        let below = depth.checked_sub(1)?;
        members.into_iter().find_map(|(name, value)| {
            let (path, item, is_text) = list_below(value, below)?;
            Some((format!(".{name}{path}"), item, is_text))
        })
    })
}

/// Returns what to do about a value that the records of a file lack, because the name of its folder has it
/// (`host=a.example`). `None` if it has not.
pub(super) fn of_folder(name: &str, at: &Place, value: Value) -> Option<String> {
    let folders = Path::new(name).parent()?.iter().filter_map(|folder| folder.to_str());
    let has = |folder: &str| {
        folder.split_once('=').is_some_and(|(key, _)| at.names().iter().any(|it| it == key))
    };
    let folder = folders.rev().find(|folder| has(folder))?;
    let (_, text) = folder.split_once('=')?;
    let way = match value {
        Value::Host => format!(
            "omit ‹host_field› and read each folder with its own ‹host›, such as ‹host› {text}"
        ),
        _ => "write it into the records".to_owned(),
    };
    Some(format!("the folder `{folder}` has the {}, and its files have not; {way}", value.noun()))
}

/// Returns the problem of JSON Lines whose objects have the lines of a log in a field, as Docker and fluentd
/// write them. `line` is the first of them.
pub(super) fn log_in_field(line: &[u8]) -> Option<String> {
    let object = object_in(line)?;
    let is_log = |value: &Json| value.as_str().is_some_and(|it| is_known(it.as_bytes()));
    let (field, _) = object.iter().find(|(field, value)| {
        is_log(value) && field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })?;
    Some(format!(
        "the field `{field}` has the lines of a log; to take them out, pipe it through jq -r .{field}"
    ))
}

/// Returns the problem of lines that end with an object, whose other words are of a collector. `None` if
/// `line`, the first of them, is none.
fn object_behind_words(line: &str) -> Option<String> {
    let object = object_in(line[line.find('{')?..].trim().as_bytes())?;
    let is_log = |value: &Json| value.as_str().is_some_and(|it| is_known(it.as_bytes()));
    let field = object.iter().find(|(_, value)| is_log(value)).map(|(field, _)| field);
    const OBJECT: &str = r#"capture("(?<json>[{].*)").json | fromjson"#;
    let (letter, then) = match field {
        Some(field) => ('r', format!(" | .[\"{field}\"]")),
        None => ('c', String::new()),
    };
    Some(format!(
        "it looks like JSON after other words; to take it out, pipe it through jq -{letter}R '{OBJECT}{then}'"
    ))
}

/// Returns the problem of lines of names and values: `host="a.example" path=/x`. `None` if `line`, the first of
/// them, is none.
fn names_and_values(line: &str) -> Option<String> {
    const PAIRS_MIN: usize = 3;
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it))
    };
    let is_pair = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let first = line.split(' ').next().filter(|word| is_pair(word));
    first.filter(|_| line.split(' ').filter(is_pair).count() >= PAIRS_MIN)?;
    // Their quoting differs, and clients send quotes, so no pattern reads them all.
    Some(
        "it looks like a log of names and values; write it as JSON Lines or CSV, with a program that \
         knows its quotes"
            .to_owned(),
    )
}

/// Returns the problem of a log that has none of the known formats. `line` is the first.
pub(super) fn unknown_log(line: &[u8]) -> String {
    if has_scheme(line) && !line.trim_ascii().iter().any(u8::is_ascii_whitespace) {
        return "plain URLs, and not a log; omit ‹input_format›".to_owned();
    }
    let text = String::from_utf8_lossy(line);
    let inside = log_in_field(line)
        .or_else(|| text.contains('{').then(|| object_behind_words(&text)).flatten());
    let has_request = || text.split('\t').any(|it| it.starts_with('/') || is_request(it));
    let table = || has_request().then(|| of_fields(&text, b'\t')).flatten();
    let others = || w3c_without_fields(&text).map(str::to_owned).or_else(table);
    inside.or_else(others).unwrap_or_else(|| {
        // Formats that were tried are not proposed again, unless some lines fit.
        let names: Vec<&str> = LogFormat::names(is_known(line)).take(5).collect();
        format!(
            "a log whose format is not known; pass ‹log_format› with the LogFormat or log_format line of its \
             server, or a name such as {} (all: portcullis classify --help)",
            names.join(", ")
        )
    })
}

/// Returns the problem of JSON Lines whose objects have the URL in a text that is JSON itself. `line`
/// is the first of them.
pub(super) fn json_in_field(line: &[u8]) -> Option<String> {
    let object = object_in(line)?;
    let (outer, path) = object.iter().find_map(|(name, value)| {
        let inside = object_in(value.as_str()?.as_bytes())?;
        let usual = URL_NAMES.iter().find(|usual| inside.get(**usual).is_some())?;
        Some((name, [name.clone(), (*usual).to_owned()]))
    })?;
    let path = FieldPath::from_names(path.to_vec());
    Some(format!(
        "the field `{outer}` is a text that holds JSON; name the URL in it: ‹url_field› {path}"
    ))
}

/// Whether the cell at `place` of the first row of a table is a host or a URL, and no name of a
/// column.
pub(super) fn is_site(row: &[Vec<u8>], place: usize) -> bool {
    const WORDS: [&str; 14] = [
        "url", "uri", "link", "host", "domain", "page", "address", "href", "loc", "path", "site",
        "website", "id", "name",
    ];
    let cell = row[place].trim_ascii();
    if has_scheme(cell) {
        return true;
    }
    let host = cell.split(|&byte| byte == b'/').next().unwrap_or_default();
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let is_word = WORDS.iter().any(|word| last.eq_ignore_ascii_case(word.as_bytes()));
    is_host(host) && (!is_word || row.iter().any(|cell| is_number(cell)))
}

/// Whether a cell is a path, or a request with one.
pub(super) fn has_path(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let is_of = |method: &&[u8]| cell.strip_prefix(*method).is_some_and(|it| it.starts_with(b" /"));
    cell.starts_with(b"/")
        || [&b"GET"[..], b"HEAD", b"POST"].iter().any(is_of)
        || is_request(&String::from_utf8_lossy(cell))
}

/// Whether a cell has a URL or a path among words, as in a line of a log with a separator in its User-Agent, whose
/// URL, in a later cell, is none that was requested.
fn has_target_among_words(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let is_target = |word: &[u8]| word.starts_with(b"/") && word.len() > 1 || has_scheme(word);
    cell.contains(&b' ') && !has_path(cell) && cell.split(|it| *it == b' ').any(is_target)
}

/// Whether a row has a host or a URL.
pub(super) fn has_site(row: &[Vec<u8>]) -> bool {
    (0..row.len()).any(|place| is_site(row, place))
}

/// Returns the columns of a row that have a URL, a path or a host.
pub(super) fn targets(row: &[Vec<u8>]) -> Vec<usize> {
    (0..row.len()).filter(|&place| is_site(row, place) || has_path(&row[place])).collect()
}

/// Returns the problem of a table without a header, which has this row. The columns that may have the URL are
/// named, but a client may have sent the value of each.
pub(super) fn no_header(row: &[Vec<u8>]) -> String {
    let is_host = |&place: &usize| is_site(row, place) && !has_scheme(&row[place]);
    let mut places = targets(row);
    let paths: Vec<usize> = places.iter().copied().filter(|&at| has_path(&row[at])).collect();
    let hosts: Vec<usize> = places.iter().copied().filter(is_host).collect();
    let head = "no header names the column of the URL";
    if let ([path], [host], 2) = (&paths[..], &hosts[..], places.len()) {
        return format!(
            "{head}, and columns {0} and {1} have a path and a host (`{2}` and `{3}`); try ‹url_field› {0} \
             ‹host_field› {1}",
            path + 1,
            host + 1,
            shown(&row[*path]),
            shown(&row[*host])
        );
    }
    let before = &row[..places.first().copied().unwrap_or(0)];
    if before.iter().any(|cell| has_target_among_words(cell)) {
        places.clear();
    }
    places.truncate(SITES_SHOWN_MAX);
    let Some((last, before)) = places.split_last() else {
        return format!(
            "{head} (row 1 has {}); choose it with ‹url_field› NUMBER",
            counted(row.len() as u64, "column")
        );
    };
    let all = |text: &dyn Fn(usize) -> String, and: &str| match before {
        [] => text(*last),
        before => {
            let before: Vec<String> = before.iter().map(|&place| text(place)).collect();
            [before.join(", "), text(*last)].join(and)
        }
    };
    let shown = all(&|place| format!("`{}`", shown(&row[place])), " and ");
    let flags = all(&|place| format!("‹url_field› {}", place + 1), " or ");
    let numbers = all(&|place| (place + 1).to_string(), " and ");
    let as_lines = match has_scheme(&row[0]) {
        true => ", or ‹input_format› lines if each line is one URL",
        false => "",
    };
    match &places[..] {
        [host] if is_host(host) => format!(
            "{head}, and column {numbers} has hosts ({shown}); try {flags} ‹assume_scheme› https"
        ),
        [_] => format!("{head}, and column {numbers} may have it ({shown}); try {flags}{as_lines}"),
        _ => format!(
            "{head}, and columns {numbers} each have a path, a URL or a host ({shown}); choose the requested one \
             with {flags}{as_lines}"
        ),
    }
}

/// Columns that a message names, of those that may have the URL.
const SITES_SHOWN_MAX: usize = 3;

/// Returns what to do about a line of a W3C extended log whose fields are not named; `None` if it is none.
pub(super) fn w3c_without_fields(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split([' ', '\t']).collect();
    let is_request = |date: &str, time: &str| {
        let is_time = UnixSeconds::from_text(format!("{date}T{time}").as_bytes(), None).is_some();
        is_time && ["GET", "HEAD", "POST"].iter().any(|method| words.contains(method))
    };
    let is_directive = ["#Software:", "#Version:"].iter().any(|it| line.starts_with(it));
    let is_line = is_directive || matches!(words[..], [date, time, ..] if is_request(date, time));
    is_line.then_some("a W3C extended log; write the line `#Fields:` of its server before it")
}

/// Returns what a line that is no URL looks like if it is a row of a table with a URL or a host, and
/// what reads the list. `None` if it is no such row.
pub fn of_row(line: &str) -> Option<String> {
    if line.trim().contains('\r') {
        return Some(CR_ALONE.to_owned());
    }
    if let Some(tool) = quotes_around(line.trim()) {
        return Some(format!(
            "it looks like URLs in quotes or brackets; to remove them, pipe it through {tool}"
        ));
    }
    if let Some(problem) = w3c_without_fields(line) {
        return Some(format!("it looks like {problem}"));
    }
    let named = names_and_values(line).or_else(|| object_behind_words(line));
    named.or_else(|| b"\t,;| ".iter().find_map(|&delimiter| of_fields(line, delimiter)))
}

/// Returns what a line with this delimiter between its fields looks like; `None` if no field has a URL, a path
/// or a host. It gives a number only where no other field could be meant: a client may have sent one of several.
fn of_fields(line: &str, delimiter: u8) -> Option<String> {
    let (separator, table) = match delimiter {
        b'\t' => (Separator::TSV, "TSV"),
        b',' => (Separator::csv(delimiter), "CSV"),
        _ => (Separator::csv(delimiter), "a table"),
    };
    let fields = first_row(line.as_bytes(), separator).0;
    let fields: Vec<Cow<'_, str>> =
        fields.iter().map(|field| String::from_utf8_lossy(field.trim_ascii())).collect();
    let places = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (1..=fields.len()).filter(|place| is(&fields[place - 1])).collect()
    };
    let targets = places(&|it| it.contains("://") || it.starts_with('/') || is_request(it));
    let hosts = places(&|it| is_host(it.split('/').next().unwrap_or_default().as_bytes()));
    let is_tsv = delimiter == b'\t' && !line.contains('"');
    let format = if is_tsv { "tsv" } else { "csv" };
    let before = &fields[..targets.first().map_or(0, |place| place - 1)];
    let has_words = before.iter().any(|it| has_target_among_words(it.as_bytes()));
    let mut cells = String::new();
    let flags = match (&targets[..], &hosts[..]) {
        _ if fields.len() == 1 => return None,
        ([], []) => return None,
        _ if delimiter == b' ' || has_words => {
            if let [mark, url] = line.split_whitespace().collect::<Vec<_>>()[..]
                && (is_number(mark.trim_end_matches('.').as_bytes()) || matches!(mark, "-" | "*"))
                && has_scheme(url.as_bytes())
            {
                const SECOND: &str = "it looks like URLs after a count or a mark; to keep the second word, pipe it \
                                      through awk '{print $2}'";
                return Some(SECOND.to_owned());
            }
            return Some(
                "it looks like words around a URL, or a log in a format of its own; pass the format of its \
                 server with ‹log_format›, or write it as JSON Lines"
                    .to_owned(),
            );
        }
        ([url], _) if fields[url - 1].contains("://") => format!("‹url_field› {url}"),
        ([path], &[host]) if !fields[host - 1].contains('/') => {
            cells = format!(" with a path and a host (`{}`)", fields[host - 1]);
            format!("‹url_field› {path} ‹host_field› {host}")
        }
        ([path], _) => format!(
            "‹url_field› {path}, and ‹host_field› with the number of the host, or ‹host› if none has it"
        ),
        ([], [host]) => format!("‹url_field› {host} ‹assume_scheme› https"),
        _ => "‹url_field› with the number of the requested URL, and ‹host_field› or \
              ‹host› if it is a path"
            .to_owned(),
    };
    Some(format!("it looks like {table}{cells}; try ‹input_format› {format} {flags}"))
}

/// Whether a field has the request of a log.
fn is_request(field: &str) -> bool {
    field.contains(" HTTP/") && target(field.as_bytes()).is_some()
}

/// Finds the URLs in a text.
const URLS_IN_TEXT: &str = r#"grep -oE 'https?://[^]<>()"'\'' ]+'"#;

/// Returns what a line is that has a URL in other text, as in Markdown and HTML, and what extracts the URLs.
/// `None` if it has none.
pub fn of_text(line: &str) -> Option<String> {
    let at = line.find("http://").or_else(|| line.find("https://"))?;
    let before = &line.as_bytes()[..at];
    let is_inside = [&b"("[..], b"[", b"=\"", b"='"].iter().any(|open| before.ends_with(open));
    // A URL without a scheme may have another one in its query.
    (is_inside && !before.contains(&b'?')).then(|| {
        format!(
            "it looks like text with URLs in it; to extract them, pipe it through {URLS_IN_TEXT}"
        )
    })
}

/// Returns what a list of HTML, such as the bookmarks of a browser, is, and what extracts the URLs of its
/// links.
pub fn of_html() -> String {
    format!(
        "it looks like HTML; to extract the URLs of its links, pipe it through sed 's/&amp;/\\&/g' | {URLS_IN_TEXT}"
    )
}

/// Returns what removes the quotes around a line that is otherwise a URL or a host, and leaves others.
fn quotes_around(line: &str) -> Option<&'static str> {
    const TOOLS: [(char, char, &str); 3] = [
        ('"', '"', r#"sed 's/^[[:space:]]*"\(.*\)"[[:space:]]*$/\1/'"#),
        ('\'', '\'', r#"sed "s/^[[:space:]]*'\(.*\)'[[:space:]]*\$/\1/""#),
        ('<', '>', r#"sed 's/^[[:space:]]*<\(.*\)>[[:space:]]*$/\1/'"#),
    ];
    TOOLS.into_iter().find_map(|(open, close, tool)| {
        let inside = line.strip_prefix(open)?.strip_suffix(close)?;
        let start = inside.split([' ', '/']).next()?;
        let is_site = start.ends_with(':') || open != '<' && is_host(start.as_bytes());
        (is_site && !inside.contains([open, close])).then_some(tool)
    })
}

/// Returns the problem of a table without a header that several separators fit.
pub(super) fn separators(fit: impl Iterator<Item = Separator>) -> String {
    let shown = fit.map(|it| match it.delimiter {
        b'\t' => "a TAB".to_owned(),
        delimiter => format!("`{}`", char::from(delimiter)),
    });
    format!(
        "the columns may be separated by {}: write `sep=` and the one that separates them into a line before \
         the first (for a TAB, use ‹input_format› tsv)",
        shown.collect::<Vec<_>>().join(" or ")
    )
}

/// Returns the problem of a table whose first line begins with `#` and has a URL: it may be a comment or a record.
pub(super) fn record_in_comment(text: &[u8]) -> String {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    format!(
        "a line before the header begins with `#` and has a URL (`{}`); if it is a comment, pipe the list through \
         grep -v '^#'",
        shown(&text[..end])
    )
}

/// The problem of rows that are one cell in quotes each, which holds more than a URL: a program may have put a row
/// that it did not split into quotes.
pub(super) const QUOTED_ROWS: &str = "most rows are one cell in quotes, which may hold more than a URL; if each is a URL, choose its column with \
     ‹url_field› 1; otherwise write the table with a column for each value";

/// Returns the problem of a table without a header that has one column, unless this separator of a row separates
/// more.
pub(super) fn separator_in_row(row: usize, separator: Separator) -> String {
    let (shown, way) = match separator.delimiter {
        b'\t' => ("a TAB".to_owned(), "use ‹input_format› tsv".to_owned()),
        delimiter => {
            let shown = format!("`{}`", char::from(delimiter));
            let line = format!("write the line `sep={}` before the first", char::from(delimiter));
            (shown, line)
        }
    };
    format!(
        "row {row} has {shown}, and no header says whether it separates columns; if it does, {way}; if it belongs to \
         the URL, read the list with ‹input_format› lines"
    )
}
