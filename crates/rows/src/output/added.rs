//! The values of the added columns, column by column.
//!
//! The caller decides the records of a block and appends their values, in any order of columns.
//! Writers read the values row by row, or a column at once. A word is one byte, its number among
//! [`FieldKind::words`](super::columns::FieldKind::words).

use std::ops::Range;

use portcullis_robots::access::UnixSeconds;
use portcullis_text::json::write_json;

use super::columns::{Columns, FieldKind};

/// The number of a missing word.
const NO_WORD: u8 = u8::MAX;

/// The values of the added columns of some rows.
#[derive(Clone, Debug, Default)]
pub struct Added {
    columns: Vec<AddedColumn>,
}

/// A value of a row, whose column has as many values as there are rows, some of which may be missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<T> {
    /// A word by its number.
    Word(u8),
    /// A number.
    Number(u32),
    /// A number with a fraction.
    Double(f64),
    /// Whether something holds.
    Flag(bool),
    /// A time.
    Time(UnixSeconds),
    /// A text, or a list of texts as a JSON array.
    Text(T),
}

impl<'a> Cell<&'a [u8]> {
    /// Returns a text.
    pub fn text(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Cell<&'a [u8]> {
        Cell::Text(text.as_ref())
    }
}

impl<T> Cell<T> {
    /// Returns the value with the text that `text` makes of its own.
    fn map<U>(self, text: impl FnOnce(T) -> U) -> Cell<U> {
        match self {
            Cell::Word(number) => Cell::Word(number),
            Cell::Number(number) => Cell::Number(number),
            Cell::Double(number) => Cell::Double(number),
            Cell::Flag(flag) => Cell::Flag(flag),
            Cell::Time(time) => Cell::Time(time),
            Cell::Text(own) => Cell::Text(text(own)),
        }
    }
}

/// The values of one column.
#[derive(Clone, Debug)]
pub struct AddedColumn {
    /// Their kind.
    pub kind: FieldKind,
    /// A word and a TAB, padded, and the number of bytes without padding, by the word's number.
    /// Copying a fixed number of bytes is one store; copying a variable number is a call.
    padded: Vec<([u8; WORD_BYTES], usize)>,
    /// The numbers of the words, if the values are words.
    words: Vec<u8>,
    /// Other values, whose texts are in `joined`.
    others: Vec<Option<Cell<Range<usize>>>>,
    joined: Vec<u8>,
}

/// Room for a word and a TAB.
const WORD_BYTES: usize = 16;

impl AddedColumn {
    fn new(kind: FieldKind) -> AddedColumn {
        let padded = |word: &&str| {
            let mut padded = [b'\t'; WORD_BYTES];
            padded[..word.len()].copy_from_slice(word.as_bytes());
            (padded, word.len() + 1)
        };
        let padded = kind.words().iter().map(padded).collect();
        AddedColumn { kind, padded, words: Vec::new(), others: Vec::new(), joined: Vec::new() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.words.len().max(self.others.len())
    }

    /// Returns the value of a row, or `None` if it has none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<Cell<&[u8]>> {
        match self.words.get(row) {
            Some(&number) => (number != NO_WORD).then_some(Cell::Word(number)),
            None => self.others[row].clone().map(|cell| cell.map(|text| &self.joined[text])),
        }
    }

    /// Returns the values of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<Cell<&[u8]>>> {
        (0..self.rows()).map(|row| self.get(row))
    }

    /// Calls `with` for the text of a row's value; `None` for a missing one.
    pub(super) fn with_text(&self, row: usize, with: impl FnOnce(Option<&[u8]>)) {
        let text = match self.get(row) {
            None => return with(None),
            Some(Cell::Text(text)) => return with(Some(text)),
            Some(Cell::Word(number)) => {
                let (padded, bytes) = &self.padded[usize::from(number)];
                return with(Some(&padded[..bytes - 1]));
            }
            Some(Cell::Number(number)) => number.to_string(),
            Some(Cell::Double(number)) => number.to_string(),
            Some(Cell::Flag(flag)) => flag.to_string(),
            Some(Cell::Time(time)) => time.to_rfc3339(),
        };
        with(Some(text.as_bytes()));
    }

    /// Appends the word of a row and a TAB to `out`. A missing word is empty.
    #[inline]
    pub(super) fn push_word_to(&self, row: usize, out: &mut Vec<u8>) {
        match self.padded.get(usize::from(self.words[row])) {
            Some((padded, bytes)) => {
                let end = out.len() + bytes;
                out.extend_from_slice(padded);
                out.truncate(end);
            }
            None => out.push(b'\t'),
        }
    }

    fn push(&mut self, value: Option<Cell<&[u8]>>) {
        if let FieldKind::Word(_) = self.kind {
            let number = value.map(|it| if let Cell::Word(number) = it { number } else { NO_WORD });
            return self.words.push(number.unwrap_or(NO_WORD));
        }
        let start = self.joined.len();
        let kept = value.map(|cell| {
            cell.map(|text| {
                self.joined.extend_from_slice(text);
                start..self.joined.len()
            })
        });
        self.others.push(kept);
    }
}

impl Added {
    /// Returns `columns` without rows, for this number of agents.
    pub fn new(columns: &Columns, agents: usize) -> Added {
        Added::of(columns.of_agents(agents).map(|(_, column)| column.kind()))
    }

    /// Returns columns of these kinds without rows.
    pub fn of(kinds: impl Iterator<Item = FieldKind>) -> Added {
        Added { columns: kinds.map(AddedColumn::new).collect() }
    }

    /// Returns the number of rows of the first column.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, AddedColumn::rows)
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[AddedColumn] {
        &self.columns
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        for AddedColumn { words, others, joined, .. } in &mut self.columns {
            words.clear();
            others.clear();
            joined.clear();
        }
    }

    /// Appends words to a column of words.
    #[inline]
    pub fn push_words(&mut self, column: usize, numbers: impl Iterator<Item = u8>) {
        self.columns[column].words.extend(numbers);
    }

    /// Appends a value of its kind to a column, or none.
    pub fn push<'a>(&mut self, column: usize, value: impl Into<Option<Cell<&'a [u8]>>>) {
        self.columns[column].push(value.into());
    }

    /// Appends a row, a value to each column.
    pub fn push_row(&mut self, cells: &[Option<Cell<&[u8]>>]) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(*cell));
    }

    /// Appends a list to a column of lists.
    pub fn push_list(&mut self, column: usize, list: &[impl AsRef<[u8]>]) {
        let mut array = vec![b'['];
        for (number, text) in list.iter().enumerate() {
            if number > 0 {
                array.push(b',');
            }
            push_string(text.as_ref(), &mut array);
        }
        array.push(b']');
        self.push(column, Cell::text(&array));
    }
}

/// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
pub(super) fn push_string(text: &[u8], out: &mut Vec<u8>) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
    // Without a way out of the loop, it is compiled to vectors.
    if text.iter().fold(true, |all, &byte| all & is_plain(byte)) {
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
    } else {
        write_json(&String::from_utf8_lossy(text), out).expect("memory takes all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::Verdict;

    #[test]
    fn missing_values_are_empty() {
        let columns: Columns = "verdict,line,rule,state".parse().unwrap();
        let mut added = Added::new(&columns, 1);
        for number in [Some(7), None] {
            added.push(0, Cell::Word(Verdict::Disallow as u8));
            added.push(1, number.map(Cell::Number));
            added.push(2, number.map(|_| Cell::text("/x")));
            added.push(3, number.map(|_| Cell::Word(0)));
        }
        let row = |row| {
            let mut texts = Vec::new();
            for column in added.columns() {
                column.with_text(row, |text| {
                    let text = String::from_utf8_lossy(text.unwrap_or_default());
                    texts.push(text.into_owned());
                });
            }
            texts
        };
        assert_eq!(row(0), ["disallow", "7", "/x", "rules"]);
        assert_eq!(row(1), ["disallow", "", "", ""]);
    }
}
