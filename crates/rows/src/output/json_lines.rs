//! Writes JSON Lines: an object for each row, with the members of its record, then the columns.
//!
//! | list | members of a record |
//! |---|---|
//! | JSON Lines | the members of the object, byte for byte |
//! | CSV, TSV | its columns, as texts |
//! | others | `url` |
//!
//! A line of JSON Lines that is no object, and a row of a table that has not the fields of the others,
//! is the text of the member that would have the URL; `null` for other columns. A text that is not
//! UTF-8 has U+FFFD for the bytes that cannot be shown, and a member whose name ends in `_base64`
//! follows with the exact bytes. So each line is JSON.
//!
//! Columns come in their order, `null` if they have no value. Numbers and flags are bare, times are in
//! RFC 3339, lists are arrays. Control and bidirectional characters are `\u` escapes.
//!
//! Cost: a record is copied, and a word with its name is one copy. The names of an object are read only
//! if a quoted text in it equals the name of a column, or it has an escape that could spell one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::value::RawValue;

use super::added::{Added, Cell, push_string};
use super::columns::{Field, FieldKind};
use super::own::{each_value, input_columns};
use super::{NextTo, SameMember, TextRows};
use crate::input::Record;
use crate::list::{List, ListFormat, Problem};
use portcullis_captures::json_path::length_bit;

/// Objects with these columns.
#[derive(Clone, Debug)]
pub struct JsonLines {
    members: Vec<Member>,
    names: Names,
}

/// A column in JSON.
#[derive(Clone, Debug)]
struct Member {
    /// `"name":`.
    name: Vec<u8>,
    /// The same with each word of the column.
    words: Vec<Vec<u8>>,
}

impl JsonLines {
    /// Returns the format of rows with these columns.
    pub fn new(fields: &[Field]) -> JsonLines {
        let member = |field: &Field| {
            let mut name = Vec::new();
            push_name(field.name_bytes(), &mut name);
            let word = |word: &&str| [&*name, b"\"", word.as_bytes(), b"\""].concat();
            Member { words: field.kind.words().iter().map(word).collect(), name }
        };
        let names = Names::new(fields.iter().map(|field| &*field.name));
        JsonLines { members: fields.iter().map(member).collect(), names }
    }

    /// Appends the columns of a row. `has_members` is true if the object has members already.
    fn push_columns(&self, added: &Added, row: usize, mut has_members: bool, out: &mut Vec<u8>) {
        for (column, Member { name, words }) in added.columns().iter().zip(&self.members) {
            if std::mem::replace(&mut has_members, true) {
                out.push(b',');
            }
            if let Some(Cell::Word(word)) = column.get(row) {
                out.extend_from_slice(&words[usize::from(word)]);
                continue;
            }
            out.extend_from_slice(name);
            use FieldKind::{Double, Flag, List, Number};
            let is_bare = matches!(column.kind, Number | Flag | Double | List);
            column.with_text(row, |text| match text {
                None => out.extend_from_slice(b"null"),
                Some(text) if is_bare => out.extend_from_slice(text),
                Some(text) => push_string(text, out),
            });
        }
    }

    /// Returns the names of the columns of a list, or that of the URL if its records are objects.
    ///
    /// # Errors
    ///
    /// If the list has a column with the name of an added one.
    fn own<'l>(&self, list: &'l List) -> Result<Vec<Cow<'l, [u8]>>, SameMember> {
        let columns = match list.format() {
            ListFormat::JsonLines => vec![URL.into()],
            _ => input_columns(list),
        };
        let names: Vec<_> = columns.iter().map(|name| String::from_utf8_lossy(name)).collect();
        self.names.check(list, names.iter().map(AsRef::as_ref))?;
        Ok(columns)
    }

    /// Appends an object with the members of a record, without its end.
    fn push_own(
        &self,
        list: &List,
        names: &[Cow<'_, [u8]>],
        record: &Record<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SameMember> {
        match list.format() {
            ListFormat::JsonLines if is_object(record) => {
                self.names.check_object(list, record.text())?;
                let text = record.text().trim_ascii();
                out.extend_from_slice(text[..text.len() - 1].trim_ascii_end());
            }
            ListFormat::JsonLines => push_member(b'{', URL, Some(record.text()), out),
            _ => {
                let (mut before, mut names) = (b'{', names.iter());
                each_value(list, record, |value| {
                    let name = names.next().expect("each value has a name");
                    push_member(std::mem::replace(&mut before, b','), name, value, out);
                });
            }
        }
        Ok(())
    }
}

impl TextRows for JsonLines {
    fn push(&self, block: NextTo<'_>, added: &Added, out: &mut Vec<u8>) -> Result<(), SameMember> {
        let (names, rows) = (self.own(block.list)?, block.rows_of_each(added));
        for (number, record) in block.block.iter().enumerate() {
            let start = out.len();
            self.push_own(block.list, &names, record, out)?;
            let end = out.len();
            for row in number * rows..(number + 1) * rows {
                if row > number * rows {
                    out.extend_from_within(start..end);
                }
                self.push_columns(added, row, end - start > 1, out);
                out.extend_from_slice(b"}\n");
            }
        }
        Ok(())
    }

    fn push_row(&self, added: &Added, row: usize, out: &mut Vec<u8>) {
        out.push(b'{');
        self.push_columns(added, row, false, out);
        out.extend_from_slice(b"}\n");
    }

    /// Returns nothing: each object has the names.
    fn header(&self, _: Option<&List>, _: &[Field]) -> Vec<u8> {
        Vec::new()
    }
}

/// The member with the URL of a record that has no members of its own.
const URL: &[u8] = b"url";

/// Whether a record of JSON Lines is an object. The list has read it as JSON.
fn is_object(record: &Record<'_>) -> bool {
    let is_json = !matches!(record.problem(), Some(Problem::NotJson | Problem::NotUtf8));
    is_json && !record.text().trim_ascii().is_empty()
}

/// Appends a byte and a member with a text.
fn push_member(before: u8, name: &[u8], text: Option<&[u8]>, out: &mut Vec<u8>) {
    out.push(before);
    push_name(name, out);
    let Some(text) = text else { return out.extend_from_slice(b"null") };
    push_string(text, out);
    if !text.is_ascii() && std::str::from_utf8(text).is_err() {
        let exact = BASE64_STANDARD.encode(text);
        push_member(b',', &[name, b"_base64"].concat(), Some(exact.as_bytes()), out);
    }
}

fn push_name(name: &[u8], out: &mut Vec<u8>) {
    push_string(name, out);
    out.push(b':');
}

/// The names of the columns, none of which an object may have.
#[derive(Clone, Debug)]
struct Names {
    all: HashSet<String>,
    /// The bits of the lengths of the names, modulo 64.
    lengths: u64,
    /// Whether an escape of a name has to be `\u` and a code point between U+0020 and U+007F.
    are_plain: bool,
}

impl Names {
    fn new<'n>(names: impl Iterator<Item = &'n str>) -> Names {
        let all: HashSet<String> = names.map(str::to_owned).collect();
        let lengths = all.iter().fold(0, |set, name| set | length_bit(name.len()));
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+!:* ".contains(&byte);
        let are_plain = all.iter().all(|name| name.bytes().all(is_plain));
        Names { all, lengths, are_plain }
    }

    /// Checks the names of a list's columns.
    fn check<'n>(
        &self,
        list: &List,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), SameMember> {
        match names.into_iter().find(|&name| self.all.contains(name)) {
            None => Ok(()),
            Some(name) => Err(SameMember { list: list.name().to_owned(), member: name.to_owned() }),
        }
    }

    /// Checks the names of an object's members.
    fn check_object(&self, list: &List, text: &[u8]) -> Result<(), SameMember> {
        if !self.may_be_in(text) {
            return Ok(());
        }
        // The list has read the object.
        let members: BTreeMap<String, &RawValue> = serde_json::from_slice(text).unwrap_or_default();
        self.check(list, members.keys().map(String::as_str))
    }

    /// Returns `false` if no member of an object has one of the names. A name without escapes is what
    /// stands between a quote and the next one.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let mut start = 0;
        memchr::memchr2_iter(b'"', b'\\', text).any(|at| {
            if text[at] == b'\\' {
                return self.may_spell(&text[at..]);
            }
            let between = &text[std::mem::replace(&mut start, at + 1)..at];
            self.lengths & length_bit(between.len()) != 0
                && std::str::from_utf8(between).is_ok_and(|name| self.all.contains(name))
        })
    }

    /// Whether the escape at the start of `text` may be in one of the names.
    fn may_spell(&self, text: &[u8]) -> bool {
        !self.are_plain || matches!(text, [b'\\', b'u', b'0', b'0', b'2'..=b'7', ..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_however_it_is_spelled() {
        let has = |names: &[&str], text: &str| {
            let names = Names::new(names.iter().copied());
            let list = List::plain("a list", crate::input::Terminator::LineFeed);
            let found = names.check_object(&list, text.as_bytes());
            assert!(found.is_ok() || names.may_be_in(text.as_bytes()), "{text}");
            found.is_err()
        };
        for text in [
            r#"{"Bot":1}"#,
            r#"{"a":"\"","Bot":1}"#,
            r#"{"a":"\\","Bot":1}"#,
            r#"{"a":{"b":["\\\""]}, "Bot" : null }"#,
            r#"{"B\u006ft":1}"#,
            r#"{"\u0042ot":1}"#,
            r#"{"é":"é","Bo\u0074":1}"#,
        ] {
            assert!(has(&["Bot", "Bot_rule"], text), "{text}");
        }
        for text in [
            r#"{}"#,
            r#"{"bot":"Bot","Bots":["Bot"],"a":{"Bot":1}}"#,
            r#"{"a":"\"Bot\":1","\"Bot":2,"Bot\"":3,"B\\u006ft":4,"\u00c3":5}"#,
        ] {
            assert!(!has(&["Bot", "Bot_rule"], text), "{text}");
        }
        assert!(has(&["é/\""], r#"{"\u00e9\/\"":1}"#) && has(&["a/b"], r#"{"a\/b":1}"#));
        assert!(has(&["é"], r#"{"é":1}"#));
    }

    #[test]
    fn texts_are_json() {
        let all: String = (0..=0x2fff).filter_map(char::from_u32).collect();
        for text in ["", "plain text", "a\"b\\", "é", "\u{202e}", "\u{7f}", &all] {
            let mut out = Vec::new();
            push_string(text.as_bytes(), &mut out);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            assert!(out.iter().all(|&byte| byte >= b' ' && byte != 0x7f));
        }
        let mut out = Vec::new();
        push_member(b'{', b"a\"", Some(b"\xff"), &mut out);
        push_member(b',', b"b", None, &mut out);
        assert_eq!(out, "{\"a\\\"\":\"\u{fffd}\",\"a\\\"_base64\":\"/w==\",\"b\":null".as_bytes());
    }
}
