//! Compares three parsers on values of Content-Usage: RFC 9651 dictionaries.

use std::collections::BTreeMap;

use portcullis_oracle as oracle;
use portcullis_robots::syntax::usage_members;
use sfv::{BareItem, Dictionary, ListEntry, Parser};

/// By key, the value of the last member with this key, if it is a token.
type Members = BTreeMap<String, Option<String>>;

/// Checks the bytes of a value.
///
/// # Panics
///
/// If the engine reads other members than the oracle and the `sfv` crate, or only some of the three
/// reject the value.
pub fn dictionary(data: &[u8]) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("keys and tokens are ASCII");
    let engine = usage_members(data).map(|members| -> Members {
        members.into_iter().map(|(key, value)| (text(key), value.map(text))).collect()
    });
    let is_token =
        |value: &String| value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '*');
    let judged = oracle::dictionary(data).map(|members| -> Members {
        members.into_iter().map(|(key, value)| (key, Some(value).filter(is_token))).collect()
    });
    assert_eq!(engine, judged, "the oracle: {}", data.escape_ascii());
    assert_eq!(engine, by_sfv(data), "sfv: {}", data.escape_ascii());
}

fn by_sfv(data: &[u8]) -> Option<Members> {
    let dictionary: Dictionary = Parser::new(data).parse().ok()?;
    let token = |entry: &ListEntry| match entry {
        ListEntry::Item(item) => match &item.bare_item {
            BareItem::Token(token) => Some(token.as_str().to_owned()),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    };
    Some(dictionary.iter().map(|(key, entry)| (key.as_str().to_owned(), token(entry))).collect())
}
