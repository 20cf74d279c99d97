//! JSON in which every [hidden](is_hidden) character of an untrusted text is escaped.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter as JsonFormatter, PrettyFormatter, Serializer};

use crate::visible::is_hidden;

/// Writes `value` as JSON on one line, with hidden characters as `\u` escapes.
///
/// # Errors
///
/// If `out` fails, or JSON cannot express the value.
pub fn write_json(value: &impl Serialize, out: impl io::Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, Escaping(CompactFormatter));
    Ok(value.serialize(&mut serializer)?)
}

/// Returns `value` as JSON on one line.
///
/// # Panics
///
/// If JSON cannot express the value: a map whose keys are not strings.
pub fn to_json(value: &impl Serialize) -> String {
    text_of(|out| write_json(value, out))
}

/// Returns `value` as indented JSON.
///
/// # Panics
///
/// As [`to_json`].
pub fn to_json_pretty(value: &impl Serialize) -> String {
    text_of(|out| {
        let formatter = Escaping(PrettyFormatter::new());
        Ok(value.serialize(&mut Serializer::with_formatter(out, formatter))?)
    })
}

fn text_of(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("map keys are strings, and writing to a vector never fails");
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// A JSON formatter that escapes all hidden characters: JSON itself only escapes C0.
struct Escaping<F>(F);

/// Forwards methods to the wrapped formatter.
macro_rules! forward {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {$(
        fn $name<W: ?Sized + io::Write>(&mut self, out: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(out $(, $argument)*)
        }
    )*};
}

impl<F: JsonFormatter> JsonFormatter for Escaping<F> {
    forward! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        const DELETE: u8 = 0x7f;
        // C0 characters never reach this function: JSON escapes them itself.
        if fragment.is_ascii() && !fragment.as_bytes().contains(&DELETE) {
            return out.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(place) = rest.find(is_hidden) {
            let (shown, hidden) = rest.split_at(place);
            let mut characters = hidden.chars();
            out.write_all(shown.as_bytes())?;
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_hidden_characters_and_reads_back() {
        let text = "a\"\\\n\u{7f}\u{9b}\u{202e}\u{e0041}é\u{10400}";
        let json = to_json(&text);
        assert_eq!(json, "\"a\\\"\\\\\\n\\u007f\\u009b\\u202e\\udb40\\udc41é\u{10400}\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        let pretty = to_json_pretty(&serde_json::json!({ "a": [1, {}], "b": text }));
        assert_eq!(pretty.lines().count(), 7);
        assert!(!pretty.contains('\u{202e}'));
    }
}
