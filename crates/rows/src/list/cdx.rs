//! Finds the URL and the time in lines of a classic CDX index, and in the rows that a CDX server
//! answers as JSON.
//!
//! ```text
//!  CDX N b a m s k r M S V g
//! example,a)/ 20200101000000 https://a.example/ text/html 200 AAAA - - 700 0 a.warc.gz
//! ```
//!
//! The first byte of the legend separates the fields, and its letters name them: `a` is the URL, `b`
//! the time. Lines without a legend have the URL after the time of 14 digits, as a CDX server writes
//! them, and as many fields as the first of them. A line with another number of fields has no URL: a
//! separator may be part of the URL.
//!
//! As JSON, a server answers one array of rows, of which the first has the names. A
//! [stage](super::stage) makes a line of each row.

use bumpalo::Bump;
use memchr::memchr;

use super::Problem;
use super::values::{Values, at_places};
use portcullis_captures::names::listed;
use portcullis_robots::access::UnixSeconds;

/// Where the values of a line or row are, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CdxLine {
    /// The byte between fields; `None` for rows of JSON.
    separator: Option<u8>,
    /// The URL. `None` in rows without names, of which the first text with a scheme counts.
    url: Option<usize>,
    /// The time, if it is read.
    time: Option<usize>,
    /// The number of fields; `None` for rows of JSON.
    count: Option<usize>,
}

/// Returns the separator and the letters of a legend; `None` if `line` is none.
fn legend(line: &[u8]) -> Option<(u8, impl Iterator<Item = &[u8]>)> {
    let (&separator, rest) = line.split_first()?;
    let letters = rest.strip_prefix(b"CDX")?.strip_prefix(&[separator])?;
    let is_separator = !separator.is_ascii_alphanumeric();
    is_separator.then(|| (separator, letters.trim_ascii_end().split(move |it| *it == separator)))
}

/// Whether `line` is the legend, or a line, of a CDX index.
pub(super) fn is_cdx(line: &[u8]) -> bool {
    legend(line).is_some() || place_of_url(line).is_some()
}

/// Returns the position of the URL in a line without a legend: after a time of 14 digits, which is
/// the first or the second field.
fn place_of_url(line: &[u8]) -> Option<usize> {
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').take(3).collect();
    let is_time = |word: &[u8]| word.len() == 14 && word.iter().all(u8::is_ascii_digit);
    let time = words.iter().position(|word| is_time(word)).filter(|&time| time < 2)?;
    let url = words.get(time + 1)?;
    memchr(b':', url).is_some().then_some(time + 1)
}

impl CdxLine {
    /// Returns the places in the lines of an index that begins with `lines`, and whether the first is
    /// the legend. The error says what is missing.
    pub(super) fn from_lines<'l>(
        mut lines: impl Iterator<Item = &'l [u8]>,
        has_time: bool,
    ) -> Result<(CdxLine, bool), String> {
        let first = lines.next().unwrap_or_default();
        let Some((separator, letters)) = legend(first) else {
            let mut lines = [first].into_iter().chain(lines);
            let found = lines.find_map(|line| Some((place_of_url(line)?, line)));
            let (url, count) =
                found.map_or((2, None), |(url, line)| (url, Some(fields(line, b' ').count())));
            let time = Some(url - 1).filter(|_| has_time);
            return Ok((CdxLine { separator: Some(b' '), url: Some(url), time, count }, false));
        };
        let letters: Vec<&[u8]> = letters.collect();
        let place = |letter: &[u8]| letters.iter().position(|it| *it == letter);
        let missing = |letter, value| {
            let letters = listed(letters.iter().map(|letter| String::from_utf8_lossy(letter)));
            format!(
                "its CDX legend has no letter `{letter}`, the {value}; its letters are {letters}"
            )
        };
        let url = place(b"a").ok_or_else(|| missing("a", "URL"))?;
        let time = place(b"b");
        if has_time && time.is_none() {
            return Err(missing("b", "time"));
        }
        let (time, count) = (time.filter(|_| has_time), Some(letters.len()));
        Ok((CdxLine { separator: Some(separator), url: Some(url), time, count }, true))
    }

    /// Returns the places in rows of JSON that begin with `first`, and whether `first` has the names.
    /// The error says what is missing.
    pub(super) fn from_rows(first: &[u8], has_time: bool) -> Result<(CdxLine, bool), String> {
        let row = row_of(first).unwrap_or_default();
        let names = row.iter().map(|cell| cell.as_deref().unwrap_or_default());
        let place = |name: &str| names.clone().position(|it| it == name);
        let (url, time) = match are_names(&row) {
            true => (place("original"), place("timestamp")),
            false => (None, None),
        };
        if has_time && time.is_none() {
            let names = listed(names);
            return Err(format!("rows without the field `timestamp`; the first row is {names}"));
        }
        let time = time.filter(|_| has_time);
        Ok((CdxLine { separator: None, url, time, count: None }, url.is_some()))
    }

    /// Returns the values of a line.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Bump) -> Values<'c> {
        let (url, time) = match self.separator {
            Some(separator) => {
                let ([url, time], count) =
                    at_places(fields(text, separator), [self.url, self.time]);
                let url = match url.filter(|url| !matches!(*url, b"" | b"-")) {
                    Some(_) if self.count.is_some_and(|it| it != count) => Err(Problem::FieldCount),
                    url => url.ok_or(Problem::NoUrl),
                };
                (url, time)
            }
            None => {
                let Some(row) = row_of(text) else {
                    return Values::from_url(Err(Problem::NotJson));
                };
                let place = self.url.or_else(|| {
                    row.iter().position(|it| it.as_deref().is_some_and(|it| it.contains("://")))
                });
                let cell = |place: usize| {
                    let text = row.get(place)?.as_deref()?;
                    Some(arena.alloc_str(text).as_bytes())
                };
                (place.and_then(&cell).ok_or(Problem::NoUrl), self.time.and_then(&cell))
            }
        };
        let time = time.and_then(|time| UnixSeconds::from_text(time, None));
        Values { time, ..Values::from_url(url) }
    }
}

/// Returns the fields of a line. Blanks at its end are none.
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let line = if separator == b' ' { line.trim_ascii_end() } else { line };
    line.split(move |&byte| byte == separator)
}

/// Returns the cells of a row, with `None` for those that are no text. `None` if it is no array.
fn row_of(text: &[u8]) -> Option<Vec<Option<String>>> {
    let row: Vec<serde_json::Value> = serde_json::from_slice(text).ok()?;
    let text = |cell| match cell {
        serde_json::Value::String(text) => Some(text),
        _ => None,
    };
    Some(row.into_iter().map(text).collect())
}

/// Whether a line is a row with the names of a CDX server's fields.
pub(super) fn is_row_of_names(line: &[u8]) -> bool {
    row_of(line).is_some_and(|row| are_names(&row))
}

/// Whether a row has the names of a CDX server's fields.
fn are_names(row: &[Option<String>]) -> bool {
    let has = |name: &str| row.iter().any(|cell| cell.as_deref() == Some(name));
    has("original") && (has("timestamp") || has("urlkey"))
}

/// Whether a text begins with a row of texts, as a line. An array of several URLs is none.
pub(super) fn is_row(text: &[u8]) -> bool {
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let row = if line.starts_with(b"[") { row_of(line) } else { None };
    let is_url = |cell: &&String| cell.contains("://");
    row.is_some_and(|row| {
        row.iter().any(Option::is_some) && row.iter().flatten().filter(is_url).count() < 2
    })
}
