//! The columns that records have themselves, next to which others are added.

use std::borrow::Cow;

use crate::input::Record;
use crate::list::{Arena, List, ListFormat, Problem};

/// The only column of lists that are not tables, and the URL column of a table without a header.
const URL: &[u8] = b"url";

/// The column of the objects of JSON Lines.
const RECORD: &[u8] = b"record";

/// Returns the names of the columns of a list: the names in its header, or numbers and `url`.
pub fn input_columns(list: &List) -> Vec<Cow<'_, [u8]>> {
    let Some((column, count)) = list.url_column() else {
        return match list.format() {
            ListFormat::JsonLines => vec![URL.into(), RECORD.into()],
            _ => vec![URL.into()],
        };
    };
    if !list.columns().is_empty() {
        return list.columns().iter().map(|name| name.as_slice().into()).collect();
    }
    let mut names: Vec<Cow<'_, [u8]>> =
        (1..=count).map(|number| format!("column{number}").into_bytes().into()).collect();
    names[column] = URL.into();
    names
}

/// Calls `with` for the value of a record in each of the [`input_columns`]. The text of a row that has
/// not the fields of the others, and of a line that has no URL, is in the column of the URL. Fields that a
/// row lacks at its end have none.
#[inline]
pub(super) fn each_value(list: &List, record: &Record<'_>, mut with: impl FnMut(Option<&[u8]>)) {
    let Some((column, count)) = list.url_column() else {
        if list.format() == ListFormat::JsonLines {
            with(Some(record.url()));
            return with(Some(record.text()));
        }
        let has_url = record.problem().is_none();
        return with(Some(if has_url { record.url() } else { record.text() }));
    };
    match has_fields(record) {
        true => {
            let arena = Arena::new();
            let mut fields = list.fields(record.text(), &arena);
            (0..count).for_each(|_| with(fields.next()));
        }
        false => (0..count).for_each(|at| with((at == column).then(|| record.text()))),
    }
}

/// Whether a record of a table has the fields of its columns, though they may make no URL.
pub(super) fn has_fields(record: &Record<'_>) -> bool {
    let is_broken = |problem| matches!(problem, Problem::FieldCount | Problem::OpenQuote);
    !record.problem().is_some_and(is_broken) && !record.text().trim_ascii().is_empty()
}
