//! The values of the added columns, column by column.
//!
//! The caller decides the records of a block and appends their values, in any order of columns.
//! Writers read the values row by row, or a column at once. A word is one byte, its number among
//! [`FieldKind::words`](super::columns::FieldKind::words).

use portcullis_robots::access::UnixSeconds;
use portcullis_text::json::write_json;

use super::columns::{Columns, FieldKind};

/// The number of a missing word.
const NO_WORD: u8 = u8::MAX;

/// The values of the added columns of some rows.
#[derive(Clone, Debug, Default)]
pub struct Added {
    columns: Vec<Values>,
}

/// A value of a row, which may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A text.
    Text(Option<&'a [u8]>),
    /// A number.
    Number(Option<u32>),
}

impl<'a> Cell<'a> {
    /// Returns a text that is there.
    pub fn text(text: &'a (impl AsRef<[u8]> + ?Sized)) -> Cell<'a> {
        Cell::Text(Some(text.as_ref()))
    }
}

/// The values of one column.
#[derive(Clone, Debug)]
pub enum Values {
    /// Words by their numbers.
    Words(Words),
    /// Numbers. `None` for a row without one.
    Numbers(Vec<Option<u32>>),
    /// Texts.
    Texts(Texts),
    /// Times.
    Times(Vec<Option<UnixSeconds>>),
    /// Whether something holds.
    Flags(Vec<bool>),
    /// Numbers with fractions. `None` for a row without one.
    Doubles(Vec<Option<f64>>),
    /// Lists of texts.
    Lists(Lists),
}

/// The words of a column.
#[derive(Clone, Debug)]
pub struct Words {
    /// A word and a TAB, padded, and the number of bytes without padding, by the word's number.
    /// Copying a fixed number of bytes is one store; copying a variable number is a call.
    padded: Vec<([u8; WORD_BYTES], usize)>,
    numbers: Vec<u8>,
}

/// Room for a word and a TAB.
const WORD_BYTES: usize = 16;

impl Words {
    fn new(words: &[&str]) -> Words {
        let padded = |word: &&str| {
            let mut padded = [b'\t'; WORD_BYTES];
            padded[..word.len()].copy_from_slice(word.as_bytes());
            (padded, word.len() + 1)
        };
        Words { padded: words.iter().map(padded).collect(), numbers: Vec::new() }
    }

    /// Returns the numbers of the words, or `None` for a row without one.
    pub fn numbers(&self) -> impl Iterator<Item = Option<u8>> {
        self.numbers.iter().map(|&number| (number != NO_WORD).then_some(number))
    }

    /// Returns the number of a row's word, or `None` if it has none.
    #[inline]
    pub fn get(&self, row: usize) -> Option<u8> {
        let number = self.numbers[row];
        (number != NO_WORD).then_some(number)
    }

    /// Returns the word of a row, or `None` if it has none.
    #[inline]
    fn text(&self, row: usize) -> Option<&[u8]> {
        let (padded, bytes) = self.padded.get(usize::from(self.numbers[row]))?;
        Some(&padded[..bytes - 1])
    }

    /// Appends the word of a row and a TAB. A missing word is empty.
    #[inline]
    pub(super) fn push_column(&self, row: usize, out: &mut Vec<u8>) {
        match self.padded.get(usize::from(self.numbers[row])) {
            Some((padded, bytes)) => {
                let end = out.len() + bytes;
                out.extend_from_slice(padded);
                out.truncate(end);
            }
            None => out.push(b'\t'),
        }
    }
}

/// Texts or bytes, which may be missing.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    joined: Vec<u8>,
    /// The end of each text in `joined`, and whether the row has one.
    ends: Vec<(usize, bool)>,
}

impl Texts {
    /// Appends a row.
    pub fn push(&mut self, text: Option<&[u8]>) {
        self.joined.extend_from_slice(text.unwrap_or_default());
        self.ends.push((self.joined.len(), text.is_some()));
    }

    /// Returns the text of a row, or `None` if it has none.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, is_there) = self.ends[row];
        is_there.then(|| &self.joined[start..end])
    }

    fn clear(&mut self) {
        self.joined.clear();
        self.ends.clear();
    }

    /// Returns the texts of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.ends.len()).map(|row| self.get(row))
    }
}

/// Lists of texts.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    texts: Texts,
    /// The end of each row's list in `texts`.
    ends: Vec<usize>,
}

impl Lists {
    /// Returns the texts of a row.
    pub fn get(&self, row: usize) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        (start..self.ends[row]).map(|place| self.texts.get(place).unwrap_or_default())
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }
}

impl Values {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Values::Words(words) => words.numbers.len(),
            Values::Numbers(numbers) => numbers.len(),
            Values::Texts(texts) => texts.ends.len(),
            Values::Times(times) => times.len(),
            Values::Flags(flags) => flags.len(),
            Values::Doubles(doubles) => doubles.len(),
            Values::Lists(lists) => lists.rows(),
        }
    }

    /// Calls `with` for the text of a row's value; `None` for a missing one.
    pub(super) fn with_text(&self, row: usize, with: impl FnOnce(Option<&[u8]>)) {
        let written = match self {
            Values::Words(words) => return with(words.text(row)),
            Values::Texts(texts) => return with(texts.get(row)),
            Values::Flags(flags) => {
                return with(Some([&b"false"[..], b"true"][usize::from(flags[row])]));
            }
            Values::Numbers(numbers) => numbers[row].map(|number| number.to_string().into_bytes()),
            Values::Doubles(doubles) => doubles[row].map(|number| number.to_string().into_bytes()),
            Values::Times(times) => times[row].map(|time| time.to_rfc3339().into_bytes()),
            Values::Lists(lists) => {
                let mut array = vec![b'['];
                for (number, text) in lists.get(row).enumerate() {
                    if number > 0 {
                        array.push(b',');
                    }
                    push_string(text, &mut array);
                }
                array.push(b']');
                Some(array)
            }
        };
        with(written.as_deref());
    }
}

impl Added {
    /// Returns `columns` without rows, for this number of agents.
    pub fn new(columns: &Columns, agents: usize) -> Added {
        Added::of(columns.of_agents(agents).map(|(_, column)| column.kind()))
    }

    /// Returns columns of these kinds without rows.
    pub fn of(kinds: impl Iterator<Item = FieldKind>) -> Added {
        let values = |kind: FieldKind| match kind {
            FieldKind::Word(words) => Values::Words(Words::new(words)),
            FieldKind::Number => Values::Numbers(Vec::new()),
            FieldKind::Text => Values::Texts(Texts::default()),
            FieldKind::Time => Values::Times(Vec::new()),
            FieldKind::Flag => Values::Flags(Vec::new()),
            FieldKind::Double => Values::Doubles(Vec::new()),
            FieldKind::List => Values::Lists(Lists::default()),
        };
        Added { columns: kinds.map(values).collect() }
    }

    /// Returns the number of rows of the first column.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Values::rows)
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Values] {
        &self.columns
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        for column in &mut self.columns {
            match column {
                Values::Words(words) => words.numbers.clear(),
                Values::Numbers(numbers) => numbers.clear(),
                Values::Texts(texts) => texts.clear(),
                Values::Times(times) => times.clear(),
                Values::Flags(flags) => flags.clear(),
                Values::Doubles(doubles) => doubles.clear(),
                Values::Lists(lists) => {
                    lists.texts.clear();
                    lists.ends.clear();
                }
            }
        }
    }

    /// Appends words to a column.
    ///
    /// # Panics
    ///
    /// If it has other values, here and below.
    #[inline]
    pub fn push_words(&mut self, column: usize, numbers: impl Iterator<Item = u8>) {
        let Values::Words(words) = &mut self.columns[column] else { panic!("a column of words") };
        words.numbers.extend(numbers);
    }

    /// Appends a word to a column, or none.
    pub fn push_word(&mut self, column: usize, number: Option<u8>) {
        self.push_words(column, std::iter::once(number.unwrap_or(NO_WORD)));
    }

    /// Appends a number to a column, or none.
    pub fn push_number(&mut self, column: usize, number: Option<u32>) {
        self.push_numbers(column, std::iter::once(number));
    }

    /// Appends a text to a column, or none.
    pub fn push_text(&mut self, column: usize, text: Option<&[u8]>) {
        let Values::Texts(texts) = &mut self.columns[column] else { panic!("a column of texts") };
        texts.push(text);
    }

    /// Appends a time to a column, or none.
    pub fn push_time(&mut self, column: usize, time: Option<UnixSeconds>) {
        self.push_times(column, time, 1);
    }

    /// Appends a row of texts and numbers, a cell to each column.
    pub fn push_row(&mut self, cells: &[Cell<'_>]) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        for (column, cell) in cells.iter().enumerate() {
            match cell {
                Cell::Text(text) => self.push_text(column, *text),
                Cell::Number(number) => self.push_number(column, *number),
            }
        }
    }

    /// Appends a list to a column.
    pub fn push_list(&mut self, column: usize, list: &[impl AsRef<[u8]>]) {
        let Values::Lists(Lists { texts, ends }) = &mut self.columns[column] else {
            panic!("a column of lists")
        };
        list.iter().for_each(|text| texts.push(Some(text.as_ref())));
        ends.push(texts.ends.len());
    }

    /// Appends numbers to a column, or none.
    pub fn push_numbers(&mut self, column: usize, new: impl Iterator<Item = Option<u32>>) {
        let Values::Numbers(numbers) = &mut self.columns[column] else { panic!("numbers") };
        numbers.extend(new);
    }

    /// Appends numbers with fractions to a column, or none.
    pub fn push_doubles(&mut self, column: usize, new: impl Iterator<Item = Option<f64>>) {
        let Values::Doubles(doubles) = &mut self.columns[column] else { panic!("doubles") };
        doubles.extend(new);
    }

    /// Appends to a column whether something holds.
    pub fn push_flags(&mut self, column: usize, new: impl Iterator<Item = bool>) {
        let Values::Flags(flags) = &mut self.columns[column] else { panic!("a column of flags") };
        flags.extend(new);
    }

    /// Appends a time, or none, to a column for each of some rows.
    pub fn push_times(&mut self, column: usize, time: Option<UnixSeconds>, rows: usize) {
        let Values::Times(times) = &mut self.columns[column] else { panic!("a column of times") };
        times.extend(std::iter::repeat_n(time, rows));
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
            added.push_word(0, Some(Verdict::Disallow as u8));
            added.push_number(1, number);
            added.push_text(2, number.map(|_| &b"/x"[..]));
            added.push_word(3, number.map(|_| 0));
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
