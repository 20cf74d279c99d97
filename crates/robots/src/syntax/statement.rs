//! The statement of one Content-Usage or Content-Signal record.
//!
//! Owns the values of usage records: the path at the start, and the preference for each label.
//! [`policy`](crate::policy) owns which statements hold for an agent and which one decides.
//!
//! A Content-Usage value that is not a dictionary still has its path: the record is a rule without
//! preferences, and a shorter rule does not decide instead. Content-Signal has no formal grammar,
//! so unreadable parts are skipped; a part never changes the meaning of another.

use portcullis_dialect::usage::{SIGNAL_KEYS, SIGNAL_LEVELS, UsageSource};
use portcullis_dialect::{Label, Preference};
use portcullis_engine::bytes::trim;

use super::UsageRecord;
use super::dictionary::usage_members;
use crate::url::scheme_name_bytes;

/// The content of a usage record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement<'t> {
    /// Content-Usage or Content-Signal.
    pub source: UsageSource,
    /// The path pattern, as written; `None` if the statement is about every path.
    pub path: Option<&'t [u8]>,
    /// The text after the path, as written.
    pub text: &'t [u8],
    /// The preference for each label, in the order of [`Label::ALL`].
    pub preferences: [Preference; Label::ALL.len()],
    /// Whether `text` can be read. If not, no preference is stated.
    pub is_readable: bool,
    /// Whether every label that the value names, as either field calls it, has a preference. `ai-train=no search=yes`
    /// and `search=y; train-ai=n` name two labels, and state at most one.
    pub is_whole: bool,
}

impl<'t> Statement<'t> {
    /// Reads a record; `None` if it is a License ([`UsageRecord::is_license`]).
    pub fn of(record: &UsageRecord<'t>) -> Option<Statement<'t>> {
        let source = UsageSource::of(record.field)?;
        let (path, text) = split_path(record.value);
        let read = match source {
            UsageSource::ContentUsage => of_dictionary(text),
            UsageSource::ContentSignal => Some(of_signal(text)),
        };
        let preferences = read.unwrap_or(NOTHING);
        let is_stated = |label: Label| preferences[label as usize] != Preference::Unstated;
        // A list in a path may be preferences that it should not have.
        let is_list =
            |path: &&[u8]| path.contains(&b'=') && path.iter().any(|it| b",;".contains(it));
        let of_path = path.filter(is_list).unwrap_or_default();
        let names = |name| has_word(text, name) || has_word(of_path, name);
        let is_whole = labels().all(|(name, label)| is_stated(label) || !names(name));
        Some(Statement { source, path, text, preferences, is_readable: read.is_some(), is_whole })
    }

    /// Returns the preference for a label.
    pub fn of_label(&self, label: Label) -> Preference {
        self.preferences[label as usize]
    }
}

/// Returns whether a text is an absolute URI, as far as licences need: a scheme and a colon (RFC 3986,
/// section 4.3), then something without white space and control bytes.
pub fn is_absolute_uri(text: &[u8]) -> bool {
    let (scheme, rest) = text.split_at(scheme_name_bytes(text));
    let is_odd = |byte: &u8| *byte == b' ' || byte.is_ascii_control();
    !scheme.is_empty() && matches!(rest, [b':', _, ..]) && !rest.iter().any(is_odd)
}

/// Returns the labels with their names in both fields.
fn labels() -> impl Iterator<Item = (&'static str, Label)> {
    Label::ALL.into_iter().map(|label| (label.as_str(), label)).chain(SIGNAL_KEYS)
}

/// Returns whether a text has a word, in any case. A hyphen is of a word, and may be written `_`.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let lower = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    let mut words = text.split(|byte| !is_of_word(byte));
    words.any(|it| it.iter().map(|byte| lower(*byte)).eq(word.bytes()))
}

const BLANKS: &[u8] = b" \t";

type Preferences = [Preference; Label::ALL.len()];

const NOTHING: Preferences = [Preference::Unstated; Label::ALL.len()];

/// Splits the path off a value. It begins with `/` and ends before SP or TAB.
fn split_path(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    if value.first() != Some(&b'/') {
        return (None, value);
    }
    let end = value.iter().position(|byte| BLANKS.contains(byte)).unwrap_or(value.len());
    let (path, rest) = value.split_at(end);
    (Some(path), trim(rest, BLANKS))
}

/// Returns the preferences of a dictionary, or `None` if `text` is not one. Of equal keys the last
/// counts.
fn of_dictionary(text: &[u8]) -> Option<Preferences> {
    let mut preferences = NOTHING;
    for (key, value) in usage_members(text)? {
        let named = Label::ALL.into_iter().find(|label| label.as_str().as_bytes() == key);
        // Only Content-Signal has levels.
        if let Some(label) = named.filter(|label| *label != Label::Use) {
            preferences[label as usize] = match value {
                Some(b"y") => Preference::Yes,
                Some(b"n") => Preference::No,
                _ => Preference::Unstated,
            };
        }
    }
    Some(preferences)
}

/// Returns the preferences of a list of `key=value`. Of equal keys the stricter value counts.
fn of_signal(text: &[u8]) -> Preferences {
    let mut preferences = NOTHING;
    for (key, value) in signals(text) {
        if let Some((label, preference)) = of_pair(key, value) {
            let stated = &mut preferences[label as usize];
            *stated = std::cmp::min_by_key(*stated, preference, |it| it.rank());
        }
    }
    preferences
}

/// Returns what a key and its value state.
fn of_pair(key: &[u8], value: &[u8]) -> Option<(Label, Preference)> {
    let is = |text: &[u8], word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    if is(key, Label::Use.as_str()) {
        let level = SIGNAL_LEVELS.into_iter().find(|level| is(value, level.as_str()))?;
        return Some((Label::Use, level));
    }
    let (_, label) = SIGNAL_KEYS.into_iter().find(|(name, _)| is(key, name))?;
    match value {
        _ if is(value, "yes") => Some((label, Preference::Yes)),
        _ if is(value, "no") => Some((label, Preference::No)),
        _ => None,
    }
}

/// Returns the parts of a Content-Signal value as key and value, without blanks. The value of a
/// part without `=` is empty.
pub fn signals(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split(|&byte| byte == b',').map(|part| {
        let equals = part.iter().position(|&byte| byte == b'=');
        let (key, value) = part.split_at(equals.unwrap_or(part.len()));
        (trim(key, BLANKS), trim(value.get(1..).unwrap_or_default(), BLANKS))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{NoteKind, RobotsTxt};
    use portcullis_dialect::{LineNumber, RFC_9309};

    /// Returns the path of a record, its preferences for train-ai, ai-use and search, and whether
    /// it can be read.
    fn read(line: &str) -> (Option<String>, String, bool) {
        let text = format!("User-agent: *\n{line}\n");
        let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
        let statement = Statement::of(&file.usage_records()[0]).unwrap();
        assert_eq!(file.usage_records()[0].line, LineNumber::FIRST.next());
        let path = statement.path.map(|path| String::from_utf8(path.to_vec()).unwrap());
        let [stated @ .., _] = statement.preferences.map(Preference::as_str);
        let stated = stated.concat();
        (path, stated, statement.is_readable)
    }

    #[test]
    fn content_usage() {
        let cases = [
            ("train-ai=n", None, "n??", true),
            ("train-ai=n, search=y;note=\"x\",ai-use=y", None, "nyy", true),
            ("/a* train-ai=y", Some("/a*"), "y??", true),
            ("/a\t\ttrain-ai=y", Some("/a"), "y??", true),
            ("/a", Some("/a"), "???", true),
            ("", None, "???", true),
            ("train-ai = n", None, "???", false),
            ("Train-AI=n", None, "???", false),
            ("train-ai=n search=y", None, "???", false),
            ("/a train-ai=n,", Some("/a"), "???", false),
            ("*.pdf train-ai=n", None, "???", false),
            ("train-ai", None, "???", true),
            ("train-ai=Y", None, "???", true),
            ("train-ai=\"n\"", None, "???", true),
            ("train-ai=(n)", None, "???", true),
            ("train-ai=?0", None, "???", true),
            ("train-ai=y, train-ai=n", None, "n??", true),
            ("train-ai=n, train-ai=y", None, "y??", true),
            ("train-ai=n, train-ai", None, "???", true),
            ("genai=n, bots=y", None, "???", true),
        ];
        for (value, path, stated, is_readable) in cases {
            let read = read(&format!("Content-Usage: {value}"));
            assert_eq!(read, (path.map(str::to_owned), stated.to_owned(), is_readable), "{value}");
        }
    }

    #[test]
    fn what_is_named_may_not_be_stated() {
        for (line, is_whole) in [
            ("Content-Usage: train-ai=n, search=y", true),
            ("Content-Usage: /search train-ai=n;note=x", true),
            ("Content-Usage: search=y; train-ai=n", false),
            ("Content-Usage: train-ai", false),
            ("Content-Usage: other=y", true),
            ("Content-Usage: ai-train=n", false),
            ("Content-Usage: Train_AI=n", false),
            ("Content-Usage: /x,train-ai=n", false),
            ("Content-Usage: /search?a=b,c train-ai=n", false),
            ("Content-Usage: /search,2 train-ai=n", true),
            ("Content-Usage: search=y, use=full", false),
            ("Content-Signal: train-ai=no", false),
            ("Content-Signal: ai-train=no, search=yes, use=full", true),
            ("Content-Signal: ai-train=no search=yes", false),
            ("Content-Signal: AI-Train=n", false),
            ("Content-Signal: use=all", false),
            ("Content-Signal: reuse=all", true),
        ] {
            let text = format!("User-agent: *\n{line}\n");
            let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
            let statement = Statement::of(&file.usage_records()[0]).unwrap();
            assert_eq!(statement.is_whole, is_whole, "{line}");
            let notes = file.notes().iter().filter(|it| it.kind == NoteKind::UsageIgnored);
            assert_eq!(notes.count(), usize::from(!is_whole), "{line}");
        }
    }

    #[test]
    fn levels_of_use() {
        let level = |line: &str| {
            let text = format!("User-agent: *\n{line}\n");
            let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
            Statement::of(&file.usage_records()[0]).unwrap().of_label(Label::Use)
        };
        for (value, expected) in [
            ("use=reference", Preference::Reference),
            ("search=yes,ai-train=no,use=full", Preference::Full),
            (" USE = Immediate ", Preference::Immediate),
            ("use=full, use=reference", Preference::Reference),
            ("use=immediate, use=full", Preference::Immediate),
            ("use=full, use=none", Preference::Full),
            ("use=yes", Preference::Unstated),
            ("reuse=full", Preference::Unstated),
            ("/a use=full", Preference::Full),
        ] {
            assert_eq!(level(&format!("Content-Signal: {value}")), expected, "{value}");
        }
        assert_eq!(level("Content-Usage: use=full"), Preference::Unstated);
    }

    #[test]
    fn absolute_uris() {
        for uri in ["https://l.example/", "urn:isbn:1", "a:b"] {
            assert!(is_absolute_uri(uri.as_bytes()), "{uri}");
        }
        let others =
            ["", "/l.xml", "//l.example/", "l.xml", "https:", "1a:b", "a b:c", "a:b c", "a:\x01b"];
        for other in others {
            assert!(!is_absolute_uri(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn content_signal() {
        let cases = [
            ("search=yes,ai-train=no", None, "n?y"),
            ("search=yes, ai-input=no, ai-train=no, use=reference", None, "nny"),
            (" AI-Train = NO , Search=Yes", None, "n?y"),
            ("/a ai-train=yes", Some("/a"), "y??"),
            ("ai-train=yes, ai-train=no", None, "n??"),
            ("ai-train=no, ai-train=maybe", None, "n??"),
            ("ai-train=y,train-ai=no,search", None, "???"),
            ("search=yes ai-train=no", None, "???"),
            (",,search=yes,", None, "??y"),
        ];
        for (value, path, stated) in cases {
            let read = read(&format!("content-signal: {value}"));
            assert_eq!(read, (path.map(str::to_owned), stated.to_owned(), true), "{value}");
        }
    }
}
