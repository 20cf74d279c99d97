//! The values of the added columns, column by column.
//!
//! The caller decides the records of a block and appends their values, in any order of columns.
//! Writers read the values row by row, or a column at once. A word is one byte, its number among
//! [`FieldKind::words`](super::columns::FieldKind::words).

use portcullis_dialect::decision::{Decision, Verdict};

use crate::access::UnixSeconds;

use super::columns::{Columns, FieldKind, ValueType};

/// The number of a missing word.
const NO_WORD: u8 = u8::MAX;

/// The values of the added columns of some rows.
#[derive(Clone, Debug, Default)]
pub struct Added {
    agents: usize,
    columns: Vec<Values>,
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
    /// The bits of all agents. A row without them has a verdict instead.
    Bits(Texts, Vec<Verdict>),
    /// Times.
    Times(Vec<Option<UnixSeconds>>),
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

    /// Returns the numbers of the words, or `None` if a row has none.
    pub fn all(&self) -> Option<&[u8]> {
        memchr::memchr(NO_WORD, &self.numbers).is_none().then_some(&self.numbers)
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

    /// Returns the texts of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        (0..self.ends.len()).map(|row| self.get(row))
    }
}

impl Added {
    /// Returns `columns` without rows, for this number of agents.
    pub fn new(columns: &Columns, agents: usize) -> Added {
        let values = |kind: FieldKind| match kind.value_type().0 {
            ValueType::Word => Values::Words(Words::new(&kind.words())),
            ValueType::Number => Values::Numbers(Vec::new()),
            ValueType::Text => Values::Texts(Texts::default()),
            ValueType::Bytes => Values::Bits(Texts::default(), Vec::new()),
            ValueType::Time => Values::Times(Vec::new()),
        };
        Added { agents, columns: columns.kinds(agents).map(values).collect() }
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
                Values::Bits(texts, verdicts) => {
                    texts.clear();
                    verdicts.clear();
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
        let Values::Numbers(numbers) = &mut self.columns[column] else { panic!("numbers") };
        numbers.push(number);
    }

    /// Appends a text to a column, or none.
    pub fn push_text(&mut self, column: usize, text: Option<&[u8]>) {
        let Values::Texts(texts) = &mut self.columns[column] else { panic!("a column of texts") };
        texts.push(text);
    }

    /// Appends a time to a column, or none.
    pub fn push_time(&mut self, column: usize, time: Option<UnixSeconds>) {
        let Values::Times(times) = &mut self.columns[column] else { panic!("a column of times") };
        times.push(time);
    }

    /// Appends a bit for each decision: bit `i % 8` of byte `i / 8`, counted from the least
    /// significant, is set if agent `i` is allowed. A record that is unknown or invalid has no bits.
    pub fn push_bits(&mut self, column: usize, decisions: &[Decision]) {
        let Values::Bits(texts, verdicts) = &mut self.columns[column] else { panic!("bits") };
        let mut bytes = vec![0; decisions.len().div_ceil(8)];
        let mut missing = None;
        for (agent, decision) in decisions.iter().enumerate() {
            match decision.verdict {
                Verdict::Allow => bytes[agent / 8] |= 1 << (agent % 8),
                Verdict::Disallow => {}
                verdict => missing = missing.or(Some(verdict)),
            }
        }
        texts.push(missing.is_none().then_some(&*bytes));
        verdicts.push(missing.unwrap_or(Verdict::Allow));
    }
}

impl Added {
    /// Calls `with` for the text of a value; empty for a missing one. Bits are one hexadecimal number
    /// in lower case, whose bit of value 2^i is agent `i`, or the verdict of a record without them.
    pub(super) fn with_text(&self, column: &Values, row: usize, with: impl FnOnce(&[u8])) {
        match column {
            Values::Words(words) => match words.padded.get(usize::from(words.numbers[row])) {
                Some((padded, bytes)) => with(&padded[..bytes - 1]),
                None => with(b""),
            },
            Values::Numbers(numbers) => match numbers[row] {
                Some(number) => with(number.to_string().as_bytes()),
                None => with(b""),
            },
            Values::Texts(texts) => with(texts.get(row).unwrap_or_default()),
            Values::Times(times) => {
                with(times[row].map(UnixSeconds::to_rfc3339).unwrap_or_default().as_bytes());
            }
            Values::Bits(texts, verdicts) => match texts.get(row) {
                Some(bytes) => {
                    let digit = |place: usize| {
                        let value = bytes[place / 2] >> (place % 2 * 4) & 0xf;
                        b"0123456789abcdef"[usize::from(value)]
                    };
                    let digits = (0..self.agents.div_ceil(4)).rev().map(digit);
                    with(&digits.collect::<Vec<u8>>());
                }
                None => with(verdicts[row].as_str().as_bytes()),
            },
        }
    }
}

impl Texts {
    fn clear(&mut self) {
        self.joined.clear();
        self.ends.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::Reason;

    #[test]
    fn bits_begin_with_the_first_agent() {
        let [allow, disallow] = [Verdict::Allow, Verdict::Disallow]
            .map(|verdict| Decision::without_rule(verdict, Reason::NoRule));
        let hex = |decisions: &[Decision]| {
            let mut added = Added::new(&"bits".parse().unwrap(), decisions.len());
            added.push_bits(0, decisions);
            let mut text = String::new();
            added.with_text(&added.columns[0], 0, |bytes| {
                text.push_str(std::str::from_utf8(bytes).unwrap());
            });
            text
        };
        assert_eq!(hex(&[allow]), "1");
        assert_eq!(hex(&[disallow]), "0");
        assert_eq!(hex(&[allow, disallow, disallow, disallow]), "1");
        assert_eq!(hex(&[disallow, disallow, disallow, disallow, allow]), "10");
        assert_eq!(hex(&[[disallow; 8].as_slice(), &[allow]].concat()), "100");
        assert_eq!(hex(&[allow; 12]), "fff");
        assert_eq!(hex(&[Decision::UNKNOWN; 2]), "unknown");
        assert_eq!(hex(&[Decision::INVALID; 2]), "invalid");
        // A record that is not decided for every agent has no bits.
        assert_eq!(hex(&[allow, Decision::UNKNOWN]), "unknown");
    }

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
                let text = |text: &[u8]| texts.push(String::from_utf8_lossy(text).into_owned());
                added.with_text(column, row, text);
            }
            texts
        };
        assert_eq!(row(0), ["disallow", "7", "/x", "rules"]);
        assert_eq!(row(1), ["disallow", "", "", ""]);
    }
}
