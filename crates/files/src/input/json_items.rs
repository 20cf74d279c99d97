//! The items of JSON texts, one after another: the items of arrays, or the members of objects.
//!
//! A text of any length is read in the memory of its longest item, at most
//! [`RECORD_BYTES_MAX`] bytes. Brackets and strings show where items end. Whether an item is JSON is for its
//! reader to say. Several texts may follow each other, as the pages of an answer do.
//!
//! Cost: one pass over each byte.

use super::InputError;
use super::source::Source;
use crate::limits::RECORD_BYTES_MAX;

/// An item of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonItem<'s> {
    /// The item as it is written: a value, or the name and the value of a member.
    pub text: &'s [u8],
    /// The position of the item in its text, from 0.
    pub number: u64,
    /// The position of the text in the input, from 0.
    pub page: u64,
}

impl JsonItem<'_> {
    /// Appends the item as a line. Line ends between its parts become blanks.
    pub fn write_line(&self, lines: &mut Vec<u8>) {
        let is_end = |byte: u8| matches!(byte, b'\r' | b'\n');
        lines.extend(self.text.iter().map(|&byte| if is_end(byte) { b' ' } else { byte }));
        lines.push(b'\n');
    }
}

/// Reads the items of JSON texts.
pub struct JsonItems {
    source: Source,
    /// The number of the next item in its text; `None` between texts.
    number: Option<u64>,
    page: u64,
    /// The bracket with which all texts begin, once it was read.
    bracket: Option<u8>,
    /// The buffered bytes of the item that was returned.
    returned: usize,
}

impl JsonItems {
    /// Reads from `source`, which begins with a text.
    pub fn new(mut source: Source) -> JsonItems {
        source.skip_mark();
        JsonItems { source, number: None, page: 0, bracket: None, returned: 0 }
    }

    /// Returns the next item. `None` at the end.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or has no end, or ends in the other bracket, other text follows an array or
    /// an object, or an item is longer than [`RECORD_BYTES_MAX`] or has a line end in a string.
    #[expect(clippy::should_implement_trait, reason = "items borrow the buffer")]
    pub fn next(&mut self) -> Result<Option<JsonItem<'_>>, InputError> {
        self.source.consume(std::mem::take(&mut self.returned));
        loop {
            let Some(first) = self.skip_space() else {
                let failure = self.source.take_failure();
                return match (failure, self.number) {
                    (Some(failure), _) => Err(failure),
                    (None, None) => Ok(None),
                    (None, Some(_)) => Err(self.source.problem(NO_END)),
                };
            };
            match (first, self.number) {
                (b'[' | b'{', None) if self.bracket.is_none_or(|it| it == first) => {
                    (self.number, self.bracket) = (Some(0), Some(first));
                }
                (b']' | b'}', Some(0)) if self.is_closed_by(first) => self.end_text(),
                (_, None) => return Err(self.source.problem(OTHER_TEXT)),
                (_, Some(number)) => {
                    let bytes = self.find_end()?;
                    let page = self.page;
                    self.returned = bytes + 1;
                    match self.source.buffer()[bytes] {
                        b',' => self.number = Some(number + 1),
                        end if self.is_closed_by(end) => self.end_text(),
                        _ => return Err(self.source.problem(OTHER_BRACKET)),
                    }
                    let text = self.source.buffer()[..bytes].trim_ascii_end();
                    if text.is_empty() {
                        return Err(self.source.problem(NO_ITEM));
                    }
                    return Ok(Some(JsonItem { text, number, page }));
                }
            }
            self.source.consume(1);
        }
    }

    /// Returns the error that the input cannot be read as it is.
    pub fn problem(&self, problem: impl Into<String>) -> InputError {
        self.source.problem(problem)
    }

    /// Whether a closing bracket is that of the text.
    fn is_closed_by(&self, bracket: u8) -> bool {
        self.bracket.is_some_and(|open| (open == b'[') == (bracket == b']'))
    }

    fn end_text(&mut self) {
        (self.number, self.page) = (None, self.page + 1);
    }

    /// Drops white space. Returns the first other byte, or `None` at the end.
    fn skip_space(&mut self) -> Option<u8> {
        while self.source.fill(1) {
            let text = self.source.buffer();
            let rest = text.trim_ascii_start();
            let (first, space) = (rest.first().copied(), text.len() - rest.len());
            self.source.consume(space);
            if first.is_some() {
                return first;
            }
        }
        None
    }

    /// Returns the length of the item at the start of the buffer. A comma or a closing bracket follows it.
    fn find_end(&mut self) -> Result<usize, InputError> {
        let (mut scan, mut wanted) = (Scan::default(), 1);
        loop {
            let is_whole = !self.source.fill(wanted);
            let text = self.source.buffer();
            let problem = match scan.find_end(&text[..text.len().min(RECORD_BYTES_MAX + 1)]) {
                Ok(Some(bytes)) => return Ok(bytes),
                Ok(None) if text.len() > RECORD_BYTES_MAX => TOO_LONG,
                Ok(None) if is_whole => {
                    let no_end = self.source.problem(NO_END);
                    return Err(self.source.take_failure().unwrap_or(no_end));
                }
                Ok(None) => {
                    wanted = (2 * text.len()).min(RECORD_BYTES_MAX + 1);
                    continue;
                }
                Err(problem) => problem,
            };
            return Err(self.source.problem(problem));
        }
    }
}

const NO_END: &str = "the JSON has no end; fetch it again";
const OTHER_TEXT: &str = "other text follows the end of the JSON; write a file for each";
const OTHER_BRACKET: &str = "not JSON: an array ends in `}`, or an object in `]`";
const NO_ITEM: &str = "not JSON: nothing stands before a comma or a closing bracket";
const LINE_END: &str = "not JSON: a string has a line end; write it as \\n";
const TOO_LONG: &str =
    "an item of the JSON is longer than 64 MiB; make a line of each item with jq, and leave it out";

/// A search for the end of an item, which goes on when more was read.
#[derive(Default)]
struct Scan {
    at: usize,
    /// The number of open brackets.
    depth: usize,
    is_in_string: bool,
}

impl Scan {
    /// Returns the position of the comma or the bracket after the item that `text` begins with. `None` if
    /// more must be read.
    fn find_end(&mut self, text: &[u8]) -> Result<Option<usize>, &'static str> {
        while let Some(&byte) = text.get(self.at) {
            match byte {
                // The escaped byte may not have been read.
                b'\\' if self.is_in_string && self.at + 1 == text.len() => break,
                b'\\' if self.is_in_string => self.at += 1,
                b'\r' | b'\n' if self.is_in_string => return Err(LINE_END),
                b'"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                b'[' | b'{' => self.depth += 1,
                b',' | b']' | b'}' if self.depth == 0 => return Ok(Some(self.at)),
                b']' | b'}' => self.depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items_of(source: Source) -> (Vec<(String, u64, u64)>, Option<String>) {
        let (mut items, mut all) = (JsonItems::new(source), Vec::new());
        loop {
            match items.next() {
                Ok(None) => return (all, None),
                Ok(Some(JsonItem { text, number, page })) => {
                    all.push((String::from_utf8_lossy(text).into_owned(), number, page));
                }
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    fn items(text: &str) -> (Vec<String>, Option<String>) {
        let source = Source::from_reader("a", std::io::Cursor::new(text.to_owned()));
        let (items, problem) = items_of(source);
        (items.into_iter().map(|item| item.0).collect(), problem)
    }

    #[test]
    fn items_are_what_brackets_and_strings_say() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            ("[]", &[]),
            ("\u{feff} [ ]\n[]\n", &[]),
            ("[{\"a\": [1, {}]} , 2,null]", &["{\"a\": [1, {}]}", "2", "null"]),
            ("[\"],\\\"\\\\\", \"b\"]", &["\"],\\\"\\\\\"", "\"b\""]),
            ("{\"a\": \"}\", \"b\": {\"c\": 1}}", &["\"a\": \"}\"", "\"b\": {\"c\": 1}"]),
            ("[1] [2,\n3]", &["1", "2", "3"]),
        ];
        for (text, expected) in rows {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(items(text), (expected, None), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_an_error_after_the_items_before_it() {
        let rows: &[(&str, usize, &str)] = &[
            ("[", 0, "no end"),
            ("[1, 2", 1, "no end"),
            ("[1, \"2]", 1, "no end"),
            ("[1, \"2\\", 1, "no end"),
            ("[1,", 1, "no end"),
            ("[1,]", 1, "nothing stands before"),
            ("[,1]", 0, "nothing stands before"),
            ("[1, \"a\nb\"]", 1, "a string has a line end"),
            ("[1]]", 1, "other text follows"),
            ("[1], 2", 1, "other text follows"),
            ("[1] {}", 1, "other text follows"),
            ("[}", 0, "an array ends in `}`"),
            ("[1, 2}", 1, "an array ends in `}`"),
            ("{\"a\": 1]", 0, "an object in `]`"),
        ];
        for &(text, count, expected) in rows {
            let (found, problem) = items(text);
            assert_eq!(found.len(), count, "{text}");
            assert!(
                problem.as_ref().is_some_and(|it| it.contains(expected)),
                "{text}: {problem:?}"
            );
        }
    }

    #[test]
    fn items_know_their_text() {
        let source = Source::from_reader("a", std::io::Cursor::new("[1,2][3]"));
        let numbers: Vec<(u64, u64)> = items_of(source).0.iter().map(|it| (it.2, it.1)).collect();
        assert_eq!(numbers, [(0, 0), (0, 1), (1, 0)]);
    }

    #[test]
    fn an_item_may_be_as_long_as_a_record() {
        for (bytes, is_read) in [(RECORD_BYTES_MAX, true), (RECORD_BYTES_MAX + 1, false)] {
            let text = format!("[\"{}\"]", "a".repeat(bytes - 2));
            let (items, problem) = items(&text);
            assert_eq!((items.len() == 1, problem.is_none()), (is_read, is_read));
        }
    }

    /// Delivers a byte a read.
    struct Slowly(std::io::Cursor<&'static [u8]>);

    impl std::io::Read for Slowly {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let bytes = out.len().min(1);
            self.0.read(&mut out[..bytes])
        }
    }

    #[test]
    fn items_do_not_depend_on_reads() {
        let text = b" [ {\"a\\\"\": \"\\\\\"} , [2] ] ";
        let slow = Source::from_reader("a", Slowly(std::io::Cursor::new(text)));
        let fast = Source::from_reader("a", &text[..]);
        assert_eq!(items_of(slow), items_of(fast));
    }
}
