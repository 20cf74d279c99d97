//! Plain lines, which should be a URL each: finds those that hold more.

use std::collections::HashMap;

use super::log::words::{is_address, is_host};
use super::place::has_scheme;
use crate::limits::RECORDS_LOOKED_AT_MAX;

/// Checks that most of the first lines are a URL each, and nothing else. The error says what else they
/// have, and what reads them. A table of one column is such a list after its header.
pub(super) fn check(text: &[u8], is_whole: bool, has_header: bool) -> Result<(), String> {
    let end = memchr::memrchr(b'\n', text).map_or(0, |end| end + 1);
    let text = if is_whole { text } else { &text[..end] };
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    let lines = ends.map(|end| text[std::mem::replace(&mut start, end + 1)..end].trim_ascii());
    let lines = lines.filter(|line| !line.is_empty()).take(RECORDS_LOOKED_AT_MAX);
    let lines: Vec<&[u8]> = lines.collect();
    let are_most =
        |is: fn(&[u8]) -> bool| 2 * lines.iter().filter(|it| is(it)).count() > lines.len();
    let first = lines.iter().find(|line| holds_more(line) || holds_urls(line));
    let shown = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let end = line.char_indices().nth(80).map_or(line.len(), |(at, _)| at);
        line[..end].escape_debug().to_string()
    };
    const AS_URLS: &str = "‹input_format› lines reads each line as one URL";
    let is_url = |record: &[u8]| has_scheme(record) && !record.contains(&b'\n');
    // Most lists have no NUL, which a search finds sooner than a loop over their bytes.
    let ends_with_nul = memchr::memchr(0, text).is_some_and(|end| {
        let rest = &text[end + 1..];
        is_url(&text[..end]) && is_url(&rest[..memchr::memchr(0, rest).unwrap_or(rest.len())])
    });
    if ends_with_nul {
        return Err("its records end with NUL; read them with ‹null_data›".to_owned());
    }
    let fix = match first {
        Some(_) if are_most(holds_urls) => Some((
            "put each URL on its own line",
            r#"awk '{gsub(/[,;|] *http/, "\nhttp")} 1'"#.into(),
        )),
        Some(first) if are_most(holds_more) => {
            let end = first.iter().copied().find(ends_word).unwrap_or(b' ');
            let mut words = first.split(|&byte| byte == end).filter(|word| !word.is_empty());
            let escaped = if end == b' ' { " ".to_owned() } else { format!("\\{end:03o}") };
            Some(match words.all(has_scheme) {
                true => ("put each URL on its own line", format!("tr -s '{escaped}' '\\n'")),
                false if end == b' ' => ("keep the first word", "awk '{print $1}'".to_owned()),
                false => ("keep the first field", format!("awk -F '{escaped}' '{{print $1}}'")),
            })
        }
        _ => None,
    };
    if let Some((line, (fix, tool))) = first.zip(fix) {
        return Err(format!(
            "most lines hold more than a URL (`{}`); {AS_URLS}; to {fix}, pipe the list through {tool}",
            shown(line)
        ));
    }
    let Some(first) = lines.first() else { return Ok(()) };
    let separates = |delimiter: &u8| are_rows(&lines, *delimiter);
    let Some(delimiter) = DELIMITERS.iter().find(|it| separates(it)) else { return Ok(()) };
    let row = lines.iter().find(|line| fields_after(line, *delimiter).is_some()).unwrap_or(first);
    let delimiter = char::from(*delimiter);
    let way = match delimiter {
        ',' if !has_header => "try ‹input_format› csv ‹url_field› 1".to_owned(),
        other => format!("pipe the list through cut -d '{other}' -f 1"),
    };
    Err(format!(
        "a line may hold more than a URL (`{}`): if `{delimiter}` belongs to the URL, {AS_URLS}; if it separates \
         fields, {way}",
        shown(row)
    ))
}

/// Whether a byte ends a word: a blank, or a control, with which tools separate fields. A TAB makes a table.
fn ends_word(byte: &u8) -> bool {
    *byte != b'\t' && (*byte == b' ' || byte.is_ascii_control())
}

/// Whether a line has a URL, the end of a word, and more text.
pub fn holds_more(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.iter().position(ends_word).is_some_and(|end| may_be_url(&line[..end]))
}

/// Whether a text may be a URL, or one without its scheme, or its path.
fn may_be_url(text: &[u8]) -> bool {
    has_scheme(text) || begins_as_path_or_host(text)
}

fn begins_as_path_or_host(text: &[u8]) -> bool {
    let host = text.split(|byte| b"/?#".contains(byte)).next().unwrap_or_default();
    // An address alone may be that of a client.
    let has_more = || host.len() < text.len() && (is_address(host) || host == b"localhost");
    text.starts_with(b"/") || is_host(host) || has_more()
}

/// Whether a line alone shows that it is a URL, a host or a path, and nothing else.
pub(super) fn is_plain(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let colon = memchr::memmem::find(line, b"://").unwrap_or(0);
    let has_scheme = colon > 0 && line[..colon].iter().all(u8::is_ascii_alphanumeric);
    (has_scheme || begins_as_path_or_host(line)) && !is_doubtful(line)
}

/// Whether a line is a URL and more of them after commas and the like. A query may have URLs.
fn holds_urls(line: &[u8]) -> bool {
    let line = line.split(|byte| b"?#".contains(byte)).next().unwrap_or_default();
    let is_web = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
    let ends = memchr::memchr3_iter(b',', b';', b'|', line);
    is_web(line) && ends.into_iter().any(|end| is_web(line[end + 1..].trim_ascii_start()))
}

/// Whether most lines, more than one, are rows of a table whose first cell is a URL: they have as many fields, and of
/// one row no field continues the URL. A client may have put delimiters into some.
fn are_rows(lines: &[&[u8]], delimiter: u8) -> bool {
    let (mut rows, mut has_row) = (HashMap::<usize, usize>::new(), false);
    for (others, is_row) in lines.iter().filter_map(|line| fields_after(line, delimiter)) {
        has_row |= is_row;
        *rows.entry(others).or_default() += 1;
    }
    let most = rows.into_values().max().unwrap_or_default();
    most > 1 && 2 * most > lines.len() && has_row
}

/// Returns the number of fields after the first of a line, which may be a URL, and whether none of them continues
/// it. `None` if there are none.
fn fields_after(line: &[u8], delimiter: u8) -> Option<(usize, bool)> {
    let mut fields = line.split(|&byte| byte == delimiter);
    let first = fields.next().filter(|first| may_be_url(first))?;
    let (next, others) = (fields.clone().next()?, fields.clone().count());
    let is_cut = first.ends_with(b"=") || are_numbers(first, next);
    Some((others, !is_cut && !fields.any(continues_url)))
}

/// Whether a line alone may hold more than a URL.
fn is_doubtful(line: &[u8]) -> bool {
    let is_row = |&delimiter: &u8| fields_after(line, delimiter).is_some_and(|(_, is_row)| is_row);
    holds_more(line) || holds_urls(line) || DELIMITERS.iter().any(is_row)
}

/// The bytes that separate fields in lines that should be URLs.
const DELIMITERS: &[u8] = b",;|";

/// Whether two texts are the parts of a point on a map: `…/@52.1` and `13.4`.
fn are_numbers(first: &[u8], second: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let has_fraction = |text: &[u8]| {
        let dot = text.iter().position(|byte| *byte == b'.');
        let is_number = |dot| dot > 0 && text.len() > dot + 1;
        dot.is_some_and(is_number) && text.iter().all(|byte| is_digit(byte) || *byte == b'.')
    };
    let start = first.iter().rposition(|byte| !is_digit(byte) && *byte != b'.');
    has_fraction(&first[start.map_or(0, |at| at + 1)..])
        && has_fraction(second.strip_prefix(b"-").unwrap_or(second))
}

/// Whether a text may be the rest of a URL: `00.html`, `id=1`, `a/b`, `%20x`. A media type is none, nor are another
/// URL, a host, a share (`3.5%`), a date (`01/Dec/2026`), `N/A`, a word with its question mark, and an agent with its
/// version.
fn continues_url(text: &[u8]) -> bool {
    const TYPES: [&[u8]; 7] =
        [b"text/", b"application/", b"image/", b"audio/", b"video/", b"font/", b"multipart/"];
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let parts: Vec<&[u8]> = text.splitn(4, |&byte| byte == b'/').collect();
    let is_value = match parts[..] {
        [name, value, ..] if !name.is_empty() && value.first().is_some_and(u8::is_ascii_digit) => {
            true
        }
        [day, _, year] => is_number(day) && is_number(year.get(..4).unwrap_or_default()),
        _ => text.eq_ignore_ascii_case(b"n/a"),
    };
    if TYPES.iter().any(|kind| text.starts_with(kind)) || has_scheme(text) || is_value {
        return false;
    }
    let dot = text.iter().rposition(|&byte| byte == b'.').filter(|_| !is_server(text));
    let has_extension = dot.is_some_and(|dot| {
        let extension = &text[dot + 1..];
        extension.len() >= 2 && extension.iter().all(u8::is_ascii_alphabetic)
    });
    let is_part = |(at, byte): (usize, &u8)| match byte {
        b'%' => text.get(at + 1..at + 3).is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit)),
        b'?' => at + 1 < text.len(),
        _ => b"/=&".contains(byte),
    };
    has_extension || text.iter().enumerate().any(is_part)
}

/// Whether a text is the name of a server, or an address of mail, rather than the name of a file.
fn is_server(text: &[u8]) -> bool {
    const DOMAINS: [&[u8]; 12] = [
        b"com", b"org", b"net", b"edu", b"gov", b"info", b"app", b"dev", b"shop", b"online",
        b"example", b"test",
    ];
    // Countries have two letters, as have these kinds of files.
    const FILES: [&[u8]; 8] = [b"js", b"gz", b"md", b"ts", b"py", b"do", b"ps", b"cs"];
    let host = text.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let has = |names: &[&[u8]]| names.iter().any(|it| last.eq_ignore_ascii_case(it));
    let is_domain = has(&DOMAINS) || last.len() == 2 && !has(&FILES);
    is_host(host) && (host.starts_with(b"www.") || is_domain)
}
