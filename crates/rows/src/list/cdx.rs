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
//! them, and as many fields as the first of them. A legend with other places ends a run. A line with another number of fields has no URL: a
//! separator may be part of the URL.
//!
//! As JSON, a server answers one array of rows, of which the first has the names. A
//! [stage](super::stage) makes a line of each row. A row is a list of texts, numbers and nulls, as many as
//! there are names.

use bumpalo::Bump;
use memchr::memchr;

use super::Problem;
use super::values::{Values, at_places};
use portcullis_captures::json_path::Json;
use portcullis_captures::names::listed;
use portcullis_files::limits::TABLE_COLUMNS_MAX;
use portcullis_robots::access::UnixSeconds;

/// Where the values of a line or row are, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CdxLine {
    /// The byte between fields; `None` for rows of JSON.
    separator: Option<u8>,
    /// The URL.
    url: usize,
    /// The time, if it is read.
    time: Option<usize>,
    /// The number of fields, if it is known.
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
            return Ok((CdxLine { separator: Some(b' '), url, time, count }, false));
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
        Ok((CdxLine { separator: Some(separator), url, time, count }, true))
    }

    /// Returns the places in rows of JSON whose names are in `first`. The error says what is missing.
    pub(super) fn from_rows(first: &[u8], has_time: bool) -> Result<CdxLine, String> {
        let names = names_in(first).unwrap_or_default();
        let place = |name: &str| {
            let place = names.iter().position(|it| it == name);
            place.ok_or_else(|| {
                format!(
                    "rows without the field `{name}`; the first row is {}",
                    listed(names.iter())
                )
            })
        };
        let time = has_time.then(|| place("timestamp")).transpose()?;
        Ok(CdxLine { separator: None, url: place("original")?, time, count: Some(names.len()) })
    }

    /// Returns the values of a line.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Bump) -> Values<'c> {
        if legend(text).is_some() {
            return Values::from_url(Err(self.problem_of_legend(text)));
        }
        let places = [Some(self.url), self.time];
        let found = match self.separator {
            Some(separator) => Ok(at_places(fields(text, separator), places)),
            None => cells_at(text, places, arena),
        };
        let ([url, time], count) = match found {
            Ok(found) => found,
            Err(problem) => return Values::from_url(Err(problem)),
        };
        let has_count = self.count.is_none_or(|it| it == count);
        let url = match url.filter(|url| !matches!(*url, b"" | b"-")) {
            None if has_count || self.separator.is_some() => Err(Problem::NoUrl),
            Some(url) if has_count => Ok(url),
            _ => Err(Problem::FieldCount),
        };
        let time = time.and_then(|time| UnixSeconds::from_text(time, None));
        Values { time, ..Values::from_url(url) }
    }

    /// Returns the problem of a legend after the first line, as where indexes were joined.
    #[cold]
    fn problem_of_legend(&self, text: &[u8]) -> Problem {
        match CdxLine::from_lines([text].into_iter(), self.time.is_some()) {
            Ok((line, _)) if line == *self => Problem::NoUrl,
            _ => Problem::OtherFields,
        }
    }
}

/// Returns the fields of a line. Blanks at its end are none.
fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let line = if separator == b' ' { line.trim_ascii_end() } else { line };
    line.split(move |&byte| byte == separator)
}

/// Passes the cells of a row to `each`, with `None` for numbers and nulls.
fn read_cells<'c>(
    row: &'c [u8],
    arena: &'c Bump,
    mut each: impl FnMut(Option<&'c [u8]>),
) -> Result<(), Problem> {
    let (mut json, mut is_first, mut has_others) = (Json::new(row), true, false);
    if !json.take(b'[') {
        return Err(Problem::NotJson);
    }
    let mut read = || {
        while json.goes_on(is_first, b']')? {
            is_first = false;
            match json.peek() {
                Some(b'"') => each(Some(json.text(arena)?)),
                first => {
                    has_others |= matches!(first, Some(b't' | b'f' | b'[' | b'{'));
                    json.skip()?;
                    each(None);
                }
            }
        }
        json.end()
    };
    match read() {
        Err(_) => Err(Problem::NotJson),
        Ok(()) if has_others => Err(Problem::NotAString),
        Ok(()) => Ok(()),
    }
}

/// The texts at two places in a row, and the number of its fields.
type Found<'c> = ([Option<&'c [u8]>; 2], usize);

/// Returns the texts at these places in a row of JSON.
fn cells_at<'c>(
    row: &'c [u8],
    places: [Option<usize>; 2],
    arena: &'c Bump,
) -> Result<Found<'c>, Problem> {
    let (mut found, mut count) = ([None; 2], 0);
    read_cells(row, arena, |cell| {
        for (_, found) in places.iter().zip(&mut found).filter(|(place, _)| **place == Some(count))
        {
            *found = cell;
        }
        count += 1;
    })?;
    Ok((found, count))
}

/// Whether a line is a row with the names of a CDX server's fields.
pub(super) fn is_row_of_names(line: &[u8]) -> bool {
    names_in(line).is_some()
}

/// Whether the first line of a text is a row with the names of a CDX server's fields.
pub(super) fn begins_with_names(text: &[u8]) -> bool {
    is_row_of_names(text.split(|&byte| byte == b'\n').next().unwrap_or_default())
}

/// Returns the names of a CDX server's fields; `None` if the line is no row of names.
fn names_in(line: &[u8]) -> Option<Vec<String>> {
    let (arena, mut names, mut are_names) = (Bump::new(), Vec::<String>::new(), true);
    let read = read_cells(line, &arena, |cell| match cell {
        Some(name) if names.len() < TABLE_COLUMNS_MAX => {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        _ => are_names = false,
    });
    let has = |name: &str| names.iter().any(|it| it == name);
    are_names &= read.is_ok() && has("original") && (has("timestamp") || has("urlkey"));
    are_names.then_some(names)
}
