//! Detects the columns of CSV and TSV by the first rows.
//!
//! The first row is a header if a flag, a known layout or a usual name names one of its cells, unless that
//! cell is a URL, or a host next to a number. A column that
//! is known by its number alone has a header if its first cell could be a name. Lines before the header that
//! begin with `#`, or name the separator (`sep=;`), are comments of the program that wrote the table.
//!
//! The rows of a table without a header may have what a client sent. So neither a layout nor a usual name makes
//! a row with a URL or a path a header, a number in a cell is no name, and two separators that fit are an error.
//! Its column is never guessed: only a table of one column needs no flag, if no separator is in its rows.

use std::cmp::Reverse;
use std::path::Path;

use super::delimited::CellColumns;
use super::layout::Layout;
use super::layouts::{self, KnownLayout};
use super::log::words::is_number;
use super::look::{LINES, Look};
use super::place::{TableColumn, Value, could_be_url, has_scheme, part_near, rival, shown};
use super::request::target;
use super::{List, ListConfig, ListFormat, Place, advice, lines};
use crate::limits::{RECORDS_LOOKED_AT_MAX, TABLE_COMMENTS_MAX};
use portcullis_files::input::{Fields, QuoteProblem, Separator, first_row, is_column_name};
use portcullis_files::limits::{CHUNK_BYTES, TABLE_COLUMNS_MAX};
use portcullis_text::figures::counted;

/// The separators of a table that may be TSV.
pub(super) const TABS_FIRST: [Separator; 4] =
    [Separator::TSV, Separator::CSV[0], Separator::CSV[1], Separator::CSV[3]];

/// The first row of a table, split at one delimiter.
struct FirstRow {
    separator: Separator,
    row: Vec<Vec<u8>>,
    end: usize,
    column: TableColumn,
    is_header: bool,
    /// The known layout, and the settings with its places.
    layout: Option<(&'static KnownLayout, ListConfig)>,
}

impl FirstRow {
    /// Whether a header, with which `text` begins, is rather a comment: no cell is named, or the one that is
    /// does not begin with the `#` of the line.
    fn is_comment(&self, text: &[u8]) -> bool {
        let is_own = |cell: &Vec<u8>| cell.trim_ascii_start().starts_with(b"#");
        let is_name = self.column.is_named && is_own(&self.row[self.column.place]);
        self.is_header && is_comment(text) && !is_name
    }

    /// Whether a flag names the column by a word.
    fn is_named(&self) -> bool {
        self.column.is_named && !is_number(self.row[self.column.place].trim_ascii())
    }
}

/// The kind of a text's beginning, read as a table.
enum FoundColumn {
    /// More must be read.
    More,
    Row(Box<FirstRow>),
    /// No row with the column, and why.
    Problem(String),
}

impl Look<'_> {
    /// Detects a table with the first of `separators` for which a row has the column.
    pub(super) fn rows(&self, separators: &[Separator]) -> Result<Option<List>, String> {
        if self.text.is_empty() && self.is_whole {
            let columns = CellColumns {
                separator: separators[0],
                url: 0,
                others: [None; 6],
                left: Vec::new(),
                unit: self.config.unit,
                count: 1,
                missing_max: 0,
                refuses_quotes: false,
            };
            return Ok(Some(self.table(columns)));
        }
        let (mut table, mut declared, mut comments) = (*self, None, 0);
        loop {
            let separators = declared.as_ref().map_or(separators, std::slice::from_ref);
            let named = separator_in(table.text);
            let problem = match named {
                // A line that names the separator is no row.
                Some(_) => table.no_column(separators),
                // All rows would be looked at for each comment.
                None if table.is_mere_comment(separators) => table.no_column(separators),
                None => match table
                    .first_row(separators)
                    .or_else(|problem| table.in_comment(problem))?
                {
                    FoundColumn::More => return Ok(None),
                    // A number is that of a column of any row.
                    FoundColumn::Row(row) if row.is_comment(table.text) => {
                        table.no_column(separators)
                    }
                    FoundColumn::Row(row) => {
                        let list = table.with_first_row(*row)?;
                        let note = list.note.map(|note| match comments {
                            0 => note,
                            lines => format!("{note}, {} skipped before", counted(lines, "line")),
                        });
                        return Ok(Some(List { note, comments, ..list }));
                    }
                    FoundColumn::Problem(problem) => problem,
                },
            };
            let end = LINES.first_end(table.text);
            let Some(end) = end.filter(|_| is_comment(table.text) && comments < TABLE_COMMENTS_MAX)
            else {
                return Err(problem);
            };
            declared = named.or(declared);
            if end == table.text.len() {
                return if table.is_whole { Err(problem) } else { Ok(None) };
            }
            table.text = &table.text[end..];
            comments += 1;
        }
    }

    fn table(&self, columns: CellColumns) -> List {
        let framing = columns.separator.framing();
        List { framing, ..self.with(Layout::Columns(columns)) }
    }

    /// Finds the column of the URL in the first row, split at one of `separators`.
    fn first_row(&self, separators: &[Separator]) -> Result<FoundColumn, String> {
        let (mut splits, usual) = (Vec::new(), separators[0]);
        for &separator in separators {
            let is_usual = separator == usual;
            match self.is_whole || separator.framing().first_end(self.text).is_some() {
                true => {}
                false if is_usual => return Ok(FoundColumn::More),
                // What is a quote with this separator may be text.
                false => continue,
            }
            match self.split_at(separator) {
                Err(problem) if is_usual => return Err(problem),
                split => splits.extend(split.ok().flatten()),
            }
        }
        // Rows before a pause may fit another separator than those after it.
        let tables = || separators.iter().filter(|it| self.splits_rows(**it)).count();
        let is_number = self.config.urls.has_number() && !self.is_whole;
        if is_number && tables() > 1 && self.has_few_rows(usual) {
            return Ok(FoundColumn::More);
        }
        let found = self.best_of(splits, separators)?;
        let is_alone = |it: &FirstRow| !it.is_header && it.separator == usual && it.row.len() == 1;
        if found.as_ref().is_some_and(is_alone) {
            if !self.is_whole && self.has_few_rows(usual) {
                return Ok(FoundColumn::More);
            }
            self.check_alone(separators)?;
        }
        let separator = found.as_ref().map_or(usual, |found| found.separator);
        Ok(match (self.problem_of_row(separator), found) {
            (Some(problem), _) => FoundColumn::Problem(problem),
            (None, Some(found)) => FoundColumn::Row(Box::new(found)),
            (None, None) => FoundColumn::Problem(self.no_column(separators)),
        })
    }

    /// Checks that a table without a header has one column in all rows looked at, whichever of `separators`
    /// separates them. The rows of a numbered column have its number of columns, or are invalid.
    fn check_alone(&self, separators: &[Separator]) -> Result<(), String> {
        let (usual, is_asked) = (separators[0], self.config.urls.is_asked());
        if !is_asked && self.splits_rows(usual) {
            return Err(self.no_header(usual));
        }
        self.check_rows(usual, self.text, false)?;
        for &separator in &separators[1..] {
            let mut rows = self.rows_looked_at(separator);
            if let Some(place) = rows.position(|row| row.len() > 1) {
                return Err(advice::separator_in_row(place + 1, separator));
            }
        }
        Ok(())
    }

    /// Whether a row has several cells.
    fn splits_rows(&self, separator: Separator) -> bool {
        self.rows_looked_at(separator).any(|row| row.len() > 1)
    }

    /// Whether the rows after so many have one number of cells, and not one cell.
    fn splits_evenly(&self, separator: Separator, after: usize) -> bool {
        let mut counts = self.rows_looked_at(separator).skip(after).map(|row| row.len());
        let first = counts.next().unwrap_or_default();
        first > 1 && counts.all(|count| count == first)
    }

    /// Checks that the rows of a table of one column, which are those of `text`, hold no more than a URL each.
    fn check_rows(
        &self,
        separator: Separator,
        text: &[u8],
        has_header: bool,
    ) -> Result<(), String> {
        let (mut plain, mut quoted) = (Vec::new(), Vec::new());
        let look = Look { text, ..*self };
        for row in look.rows_as_written(separator) {
            match Fields::new(row, separator).next().filter(|cell| cell.is_quoted()) {
                Some(cell) => quoted.extend([&cell.text()[..], b"\n"].concat()),
                None => plain.extend([row.trim_ascii_end(), b"\n"].concat()),
            }
        }
        lines::check(&plain, true, has_header)?;
        match lines::check(&quoted, true, has_header) {
            Err(_) if !self.config.urls.is_asked() => Err(advice::QUOTED_ROWS.to_owned()),
            _ => Ok(()),
        }
    }

    /// Returns the problem of a first row that may be a comment. It is an error if the row may be a record too.
    fn in_comment(&self, problem: String) -> Result<FoundColumn, String> {
        let is_record = || Separator::CSV.iter().any(|it| has_target(&first_row(self.text, *it).0));
        match is_comment(self.text) && !is_record() {
            true => Ok(FoundColumn::Problem(problem)),
            // `#1` may be a cell.
            false if self.text.starts_with(b"# ") && !self.config.urls.is_asked() => {
                Err(advice::record_in_comment(self.text))
            }
            false => Err(problem),
        }
    }

    /// Whether the text begins with a comment that has no URL in the numbered column.
    fn is_mere_comment(&self, separators: &[Separator]) -> bool {
        let urls = &self.config.urls;
        let has_url = |separator: &Separator| {
            let row = first_row(self.text, *separator).0;
            TableColumn::find(&row, urls).is_some_and(|column| is_target(&row[column.place]))
        };
        let is_line = is_comment(self.text) && LINES.first_end(self.text).is_some();
        is_line && urls.has_number() && !separators.iter().any(has_url)
    }

    /// Returns the first row split at `separator`; `None` if it then lacks the column of the URL.
    fn split_at(&self, separator: Separator) -> Result<Option<FirstRow>, String> {
        let (row, end) = first_row(self.text, separator);
        if row.len() > TABLE_COLUMNS_MAX {
            return Err(format!(
                "more than {TABLE_COLUMNS_MAX} columns; if it is no CSV or TSV, name its format with \
                 ‹input_format›"
            ));
        }
        let may_be_header = !self.config.is_headless && !has_target(&row);
        let layout = layouts::known(&row, self.config).filter(|_| may_be_header);
        let config = layout.as_ref().map_or(self.config, |(_, config)| config);
        let found = column(&row, config);
        Ok(found.map(|(column, is_header)| FirstRow {
            separator,
            row,
            end,
            column,
            is_header,
            layout,
        }))
    }

    /// Returns the split that counts: by a header the one with the most columns. Numbers of columns name a
    /// separator only together with the rows, and without them it is the usual one, because the others may
    /// be part of a URL.
    fn best_of(
        &self,
        mut splits: Vec<FirstRow>,
        separators: &[Separator],
    ) -> Result<Option<FirstRow>, String> {
        let (usual, at) = (separators[0], &self.config.urls);
        let is_record = |of: &Separator| has_target(&first_row(self.text, *of).0);
        let is_usual_name = |it: &FirstRow| {
            let cell = it.row.get(it.column.place..=it.column.place);
            cell.is_some_and(|cell| TableColumn::find(cell, &Place::Usual).is_some())
        };
        let is_named = |it: &FirstRow| {
            let others = || separators.iter().filter(|other| **other != it.separator);
            // A record may have the name in a part that another separator ends.
            let is_sure = it.separator == usual && at.is_asked() && it.is_named();
            it.is_header
                && (is_sure || !others().any(is_record))
                && (it.layout.is_some() || is_usual_name(it) || it.is_named())
        };
        if splits.iter().any(is_named) {
            // The first of those with as many columns.
            return Ok(splits.into_iter().filter(is_named).rev().max_by_key(|it| it.row.len()));
        }
        if !at.has_number() {
            splits.retain(|it| it.separator == usual && !it.is_header);
            return Ok(splits.pop());
        }
        self.only_fit(splits, usual)
    }

    /// Returns the only split with which rows have URLs in the numbered column.
    ///
    /// A client can write each separator into its path and its agent, so two that fit are an error.
    fn only_fit(
        &self,
        mut splits: Vec<FirstRow>,
        usual: Separator,
    ) -> Result<Option<FirstRow>, String> {
        // Values may have other separators, in rows below a header of the usual one.
        let is_even = self.splits_evenly(usual, 0);
        let splits_rows = |it: Separator| match is_even {
            true => self.splits_evenly(it, 1),
            false => self.splits_rows(it),
        };
        splits.retain(|it| it.separator == usual || it.row.len() > 1 || splits_rows(it.separator));
        let fits = |it: &FirstRow| self.has_url(it) || it.separator == usual && self.has_words(it);
        let (mut found, mut others): (Vec<_>, Vec<_>) = splits.into_iter().partition(fits);
        match &found[..] {
            [] => {
                let is_usual = |it: &FirstRow| it.separator == usual && it.row.len() > 1;
                Ok(others.drain(..).rev().max_by_key(|it| (is_usual(it), it.row.len())))
            }
            [_] => Ok(found.pop()),
            _ => Err(advice::separators(found.iter().map(|it| it.separator))),
        }
    }

    /// Whether a row has a URL in the column, and the rows have as many columns as the flags name.
    fn has_url(&self, split: &FirstRow) -> bool {
        self.config.has_numbers_in(split.row.len())
            && self.cells(split.separator, split.column.place).any(|cell| is_target(&cell))
    }

    /// Whether most cells of the column are words, or all are empty.
    fn has_words(&self, split: &FirstRow) -> bool {
        let (mut words, mut empty, mut count) = (0, 0, 0);
        for cell in self.cells(split.separator, split.column.place) {
            count += 1;
            empty += usize::from(cell.is_empty());
            words +=
                usize::from(!cell.is_empty() && !cell.iter().any(|byte| b" \t\"".contains(byte)));
        }
        let columns = split.row.len();
        columns > 1 && self.config.has_numbers_in(columns) && (2 * words > count || empty == count)
    }

    /// Returns the cells of a column in the first rows that have more than blanks, without blanks around them.
    fn cells(&self, separator: Separator, place: usize) -> impl Iterator<Item = Vec<u8>> {
        let rows = self.rows_looked_at(separator);
        let rows = rows.filter(|row| row.iter().any(|cell| !cell.is_empty()));
        rows.map(move |row| row.get(place).map_or(&b""[..], |cell| cell.trim_ascii()).to_vec())
    }

    /// Returns the list with this first row.
    fn with_first_row(&self, first: FirstRow) -> Result<List, String> {
        let FirstRow { separator, row, end, column, is_header, layout } = first;
        let (layout, config) = match layout {
            Some((layout, config)) => (Some(layout), config),
            None => (None, self.config.clone()),
        };
        config.check(self.format, true)?;
        if let Some(problem) = name_or_number(&row, &config).filter(|_| is_header) {
            return Err(problem);
        }
        let look = Look { config: &config, ..*self };
        let url = column.only(&row, Value::Url)?;
        let mut places = [None; Value::ALL.len()];
        for (value, at) in Value::ALL.into_iter().zip(config.places()).skip(1) {
            let found = at.is_read().then(|| value_column(&row, is_header, at, value));
            let of_folder = |problem| advice::of_folder(self.name, at, value).unwrap_or(problem);
            places[value as usize] = found.transpose().map_err(of_folder)?;
        }
        let [_, others @ ..] = places;
        if row.len() == 1 && is_header {
            // A table with another delimiter is lines with more than a URL.
            self.check_rows(separator, &self.text[end..], true)?;
        }
        let missing_max = layout.map_or(0, |layout| layout.missing_max);
        let (unit, count) = (config.unit, row.len());
        let has_paths = is_header && config.hosts_in(self.format).is_some();
        let is_read = |place: usize| place == url || others.contains(&Some(place));
        let left = |(place, name): (usize, &Vec<u8>)| {
            let part = part_near(row[url].trim_ascii(), name.trim_ascii(), false)?;
            let is_left = has_paths && part.is_left(&config) && !is_read(place);
            is_left.then_some((part, place))
        };
        let left: Vec<_> = row.iter().enumerate().filter_map(left).collect();
        let names = left.iter().map(|&(part, place)| (part, shown(&row[place]))).collect();
        let refuses_quotes = !separator.has_quotes && !self.is_tsv_declared();
        let columns =
            CellColumns { separator, url, others, left, unit, count, missing_max, refuses_quotes };
        let list = look.table(columns);
        let list = List { left: names, ..list };
        let is_asked = self.config.urls.is_asked();
        if !is_header {
            let note = Some(format!("column {}, no header", url + 1));
            return Ok(List { note, ..list });
        }
        let found = match layout {
            Some(layout) => format!("column `{}` ({})", shown(&row[url]), layout.name),
            None => format!("column `{}`", shown(&row[url])),
        };
        // A number may have been meant for a table without a header.
        let is_usual = || TableColumn::find(&row[url..=url], &Place::Usual).is_some();
        let is_chosen = !is_asked || layout.is_some() || !column.is_named && !is_usual();
        let note = is_chosen.then_some(found);
        let has_rival = !is_asked && layout.is_none();
        let rival = has_rival.then(|| rival(&row, url, list.hosts.is_some())).flatten();
        Ok(List { head: self.head(end), note, rival, columns: row, ..list })
    }

    /// Whether a flag or the name of the file says that the list is TSV, whose quotes are text.
    pub(super) fn is_tsv_declared(&self) -> bool {
        let promised = ListFormat::from_name(Path::new(self.name));
        [self.config.format, promised].contains(&Some(ListFormat::Tsv))
    }

    /// Returns the problem of a table with TABs in a file of an unknown format, of which a cell begins with a quote
    /// that it does not close: the next line may be a part of the cell.
    pub(super) fn open_cell(&self) -> Option<String> {
        let is_open = |cell: &Vec<u8>| {
            let quotes = memchr::memchr_iter(b'"', cell).count();
            cell.trim_ascii_start().starts_with(b"\"") && quotes % 2 == 1
        };
        let row = self.rows_looked_at(Separator::TSV).position(|row| row.iter().any(is_open))?;
        Some(format!(
            "row {}: a cell begins with a quote that it does not close; if quotes enclose cells, read the table \
             with ‹input_format› csv, and if they are a part of them, with ‹input_format› tsv",
            row + 1
        ))
    }

    /// Whether fewer rows, and fewer bytes, were read than are looked at.
    pub(super) fn has_few_rows(&self, separator: Separator) -> bool {
        self.text.len() < CHUNK_BYTES
            && self.rows_looked_at(separator).count() < RECORDS_LOOKED_AT_MAX
    }

    /// Returns the first rows.
    fn rows_looked_at(&self, separator: Separator) -> impl Iterator<Item = Vec<Vec<u8>>> {
        self.rows_as_written(separator).map(move |row| first_row(row, separator).0)
    }

    /// Returns the first rows as they are written.
    fn rows_as_written(&self, separator: Separator) -> impl Iterator<Item = &[u8]> {
        let framing = separator.framing();
        let end = if self.is_whole { self.text.len() } else { framing.last_end(self.text) };
        let mut rest = &self.text[..end];
        let rows = std::iter::from_fn(move || {
            let (_, end) = first_row(rest, separator);
            let row = rest.get(..end).filter(|_| end > 0)?;
            rest = &rest[end..];
            Some(row)
        });
        rows.take(RECORDS_LOOKED_AT_MAX)
    }

    /// Returns the problem of a first row that would take in the rows after it: as a header, none of them
    /// would be a record.
    fn problem_of_row(&self, separator: Separator) -> Option<String> {
        let mut fields = Fields::new(self.text, separator).take(TABLE_COLUMNS_MAX);
        fields.find_map(|field| match field.problem {
            Some(QuoteProblem::NotClosed) => Some(format!("row 1: {}", advice::OPEN_QUOTE)),
            _ => field.holds_line_end().then(|| advice::CR_ALONE.to_owned()),
        })
    }

    /// Returns the problem of a table without a header, by the row in which most columns may have the URL.
    fn no_header(&self, separator: Separator) -> String {
        let targets = |row: &Vec<Vec<u8>>| Reverse(advice::targets(row).len());
        let row = self.rows_looked_at(separator).min_by_key(targets);
        advice::no_header(&row.unwrap_or_else(|| first_row(self.text, separator).0))
    }

    /// Returns the problem of a table without the column of the URL.
    fn no_column(&self, separators: &[Separator]) -> String {
        let rows = separators.iter().rev().map(|it| (first_row(self.text, *it).0, *it));
        let (row, separator) = rows.max_by_key(|(row, _)| row.len()).expect("there is one");
        let at = &self.config.urls;
        let is_headless = || self.config.is_headless || has_target(&row) || advice::has_site(&row);
        if !at.is_asked() && is_headless() {
            return self.no_header(separator);
        }
        let mut problem = TableColumn::missing(&row, at, Value::Url);
        if !separators[0].has_quotes && row.iter().any(|name| name.starts_with(b"\"")) {
            problem.push_str(", or read a table with quotes with ‹input_format› csv");
        }
        problem
    }
}

/// Returns the column of the URL, and whether `row` is a header.
fn column(row: &[Vec<u8>], config: &ListConfig) -> Option<(TableColumn, bool)> {
    let at = &config.urls;
    if config.is_headless && at.is_asked() {
        return Some((TableColumn::find(&vec![b""; row.len()], at)?, false));
    }
    if matches!(row, [cell] if !at.is_asked() && has_scheme(cell)) {
        return Some((TableColumn::at(0), false));
    }
    if config.is_headless {
        return None;
    }
    let found = at.names().iter().find_map(|name| by_name(row, name));
    let usual = || TableColumn::find(row, at).filter(|_| at.is_asked() || !has_target(row));
    let column = found.or_else(usual)?;
    let is_header = match column.is_named {
        true => !is_record(row, column.place),
        false => is_headed(row, column.place),
    };
    Some((column, is_header))
}

/// Finds the column with a name, or with a number that may be in the first row of a table without a header too.
fn by_name(row: &[Vec<u8>], name: &str) -> Option<TableColumn> {
    let place = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let is_value = |place| advice::is_site(row, place) || row[place].trim_ascii().starts_with(b"/");
    let value = place.filter(|&place| place < row.len() && is_value(place));
    value.map(TableColumn::at).or_else(|| TableColumn::from_name(row, name))
}

/// Returns the problem of a header with a name that is also the number of another column.
fn name_or_number(row: &[Vec<u8>], config: &ListConfig) -> Option<String> {
    let names = config.places().into_iter().flat_map(Place::names);
    let number =
        |name: &String| name.parse::<usize>().ok().filter(|it| (1..=row.len()).contains(it));
    let numbers = names.filter_map(|name| Some((name, number(name)?)));
    let mut found = numbers.filter_map(|(name, number)| {
        let place = row.iter().position(|cell| cell.trim_ascii() == name.as_bytes())?;
        (place + 1 != number).then(|| {
            format!(
                "`{name}` in the first row is column {}, and column {number} has another name; if that row is \
                 a record, say so with ‹no_header›, or else rename the column",
                place + 1
            )
        })
    });
    found.next()
}

/// Whether a row has a URL or a path, as records have and headers have not.
fn has_target(row: &[Vec<u8>]) -> bool {
    row.iter().any(|cell| has_scheme(cell) || cell.trim_ascii().starts_with(b"/"))
}

/// Returns the first row of a file of an unknown format if a cell has a usual name.
pub(super) fn usual_header(text: &[u8], separator: Separator) -> Option<Vec<Vec<u8>>> {
    let row = first_row(without_comments(text), separator).0;
    let is_named = || TableColumn::find(&row, &Place::Usual).is_some();
    (row.len() > 1 && is_named()).then_some(row)
}

/// Whether each cell of a row with a usual name may be a name too. A URL, or another text with a scheme, may end
/// with a separator and such a name.
pub(super) fn are_names(row: &[Vec<u8>]) -> bool {
    const SCHEMES: [&str; 6] = ["http:", "https:", "ftp:", "data:", "javascript:", "mailto:"];
    row.iter().all(|cell| {
        str::from_utf8(cell).is_ok_and(|cell| {
            let has_value =
                || cell.split(':').skip(1).any(|it| it.starts_with(|it: char| it.is_ascii_digit()));
            let has_scheme = || {
                SCHEMES
                    .iter()
                    .any(|it| cell.get(..it.len()).is_some_and(|own| own.eq_ignore_ascii_case(it)))
            };
            !cell.contains(['/', '\\', '@', '=']) && !has_value() && !has_scheme()
        })
    })
}

/// Returns the problem of a first line that may be a header or a record.
pub(super) fn doubtful_header(text: &[u8]) -> Option<String> {
    let mut rows = TABS_FIRST.into_iter().filter_map(|it| usual_header(text, it));
    let row = rows.find(|row| !has_target(row))?;
    let column = TableColumn::find(&row, &Place::Usual)?;
    let name = shown(&row[column.place]);
    Some(format!(
        "its first line may be a header with the column `{name}`, or a record; if it is a header, choose the \
         column with ‹url_field› {name}; otherwise ‹input_format› lines reads each line as one URL"
    ))
}

/// Whether a row whose cell at `place` a flag names is a record nevertheless: the error about a missing column
/// shows the first row of a table without a header.
fn is_record(row: &[Vec<u8>], place: usize) -> bool {
    let has_number = || row.iter().any(|cell| is_number(cell));
    let is_number_next_to_url = || is_number(row[place].trim_ascii()) && has_target(row);
    has_scheme(&row[place])
        || is_number_next_to_url()
        || advice::is_site(row, place) && has_number()
}

/// Whether the first row has names, one of them for the column at `place`, which is known by its number.
fn is_headed(row: &[Vec<u8>], place: usize) -> bool {
    let cell = &row[place];
    let is_site = advice::is_site(row, place);
    let others = || row.iter().enumerate().filter(|(other, _)| *other != place);
    let has_usual = || others().any(|(_, name)| could_be_url(name, true));
    let is_host = || !cell.contains(&b'/');
    is_column_name(cell) && !is_site || is_site && is_host() && has_usual()
}

/// Whether a cell has a URL, a host, a path or a request.
fn is_target(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    if cell.starts_with(b"\"") {
        return false;
    }
    let host = cell.split(|&byte| byte == b'/').next().unwrap_or_default();
    let name = host.split(|&byte| byte == b':').next().unwrap_or_default();
    let is_address = str::from_utf8(name).is_ok_and(|it| it.parse::<std::net::Ipv4Addr>().is_ok());
    cell.starts_with(b"/")
        || target(cell).is_some()
        || advice::is_site(&[cell.to_vec()], 0)
        || is_address
        || host.starts_with(b"[")
        || name == b"localhost"
}

/// Returns the column with another value than the URL. The error says that there is none.
fn value_column(
    row: &[Vec<u8>],
    is_header: bool,
    at: &Place,
    value: Value,
) -> Result<usize, String> {
    // Without a header, columns have numbers only.
    let found = match is_header {
        true => TableColumn::find(row, at),
        false => TableColumn::find(&vec![b""; row.len()], at),
    };
    found.ok_or_else(|| TableColumn::missing(row, at, value))?.only(row, value)
}

/// Whether a text begins with a line that a program writes before the header of a table.
fn is_comment(text: &[u8]) -> bool {
    let is_empty = text.starts_with(b"\n") || text.starts_with(b"\r\n");
    is_empty || text.starts_with(b"#") || separator_in(text).is_some()
}

/// Returns the separator that a line names, as spreadsheets read it: `sep=;`.
pub(super) fn separator_in(text: &[u8]) -> Option<Separator> {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    let inside = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\""));
    let delimiter = inside.unwrap_or(line).strip_prefix(b"sep=")?;
    Separator::CSV.into_iter().find(|it| [it.delimiter] == *delimiter)
}

/// Returns the text after the comments at its beginning.
pub(super) fn without_comments(mut text: &[u8]) -> &[u8] {
    while is_comment(text)
        && let Some(end) = LINES.first_end(text)
    {
        text = &text[end..];
    }
    text
}
