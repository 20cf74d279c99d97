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

use std::fmt;

use bumpalo::Bump;
use memchr::memchr;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};

use super::Problem;
use super::values::{Values, at_places};
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

/// Passes the cells of a row to `each`, with `None` for those that are no text.
fn read_cells(row: &[u8], each: &mut dyn FnMut(Option<&str>)) -> Result<(), Problem> {
    if !row.trim_ascii_start().starts_with(b"[") {
        return Err(Problem::NotJson);
    }
    let mut parser = serde_json::Deserializer::from_slice(row);
    let read = parser.deserialize_seq(JsonRow(each)).and_then(|()| parser.end());
    read.map_err(|error| if error.is_data() { Problem::NotAString } else { Problem::NotJson })
}

/// The texts at two places in a row, and the number of its fields.
type Found<'c> = ([Option<&'c [u8]>; 2], usize);

/// Returns the texts at these places in a row of JSON.
fn cells_at<'c>(
    row: &[u8],
    places: [Option<usize>; 2],
    arena: &'c Bump,
) -> Result<Found<'c>, Problem> {
    let (mut found, mut count) = ([None; 2], 0);
    read_cells(row, &mut |cell| {
        for (_, found) in places.iter().zip(&mut found).filter(|(place, _)| **place == Some(count))
        {
            *found = cell.map(|text| arena.alloc_str(text).as_bytes());
        }
        count += 1;
    })?;
    Ok((found, count))
}

/// A row of JSON, whose cells are passed on.
struct JsonRow<'e>(&'e mut dyn FnMut(Option<&str>));

impl<'de> Visitor<'de> for JsonRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        while cells.next_element_seed(JsonCell(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// A cell: a text, a number or null.
struct JsonCell<'e>(&'e mut dyn FnMut(Option<&str>));

impl<'de> DeserializeSeed<'de> for JsonCell<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for JsonCell<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number or null")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.0)(Some(text));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        (self.0)(None);
        Ok(())
    }

    fn visit_u64<E: Error>(self, _number: u64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_i64<E: Error>(self, _number: i64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_f64<E: Error>(self, _number: f64) -> Result<(), E> {
        self.visit_unit()
    }
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
    let mut names: Vec<String> = Vec::new();
    let mut are_names = true;
    let read = read_cells(line, &mut |cell| match cell {
        Some(name) if names.len() < TABLE_COLUMNS_MAX => names.push(name.to_owned()),
        _ => are_names = false,
    });
    let has = |name: &str| names.iter().any(|it| it == name);
    are_names &= read.is_ok() && has("original") && (has("timestamp") || has("urlkey"));
    are_names.then_some(names)
}
