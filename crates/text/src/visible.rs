//! Untrusted text made safe to show: characters that control a terminal are escaped, long text is
//! cut.
//!
//! File names, hosts, agents, rules and URLs come from untrusted sources. This module owns which
//! characters are [hidden](is_hidden), how [text](visible) shows them, and how long text is
//! [`cut`]. Each function takes one pass over the text.
//!
//! ```
//! use portcullis_text::visible::{cut, visible};
//!
//! assert_eq!(visible("/\u{1b}[31m\u{202e}é").to_string(), r"/\u{1b}[31m\u{202e}é");
//! assert_eq!(visible(b"two\nlines\xff").to_string(), r"two\nlines\xff");
//! assert_eq!(&*cut(b"/private", 6), "/pr…".as_bytes());
//! ```

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write as _};

/// Bytes of a URL, rule, user-agent line or path in a report. A longer text ends with `…`.
///
/// Source: our choice, four times the length of 99 in 100 real URLs. It bounds what one decision
/// adds to an output: a file within its size limit can hold one rule of 500 KiB, which JSON Lines
/// would repeat per URL. The line number next to a rule locates the complete rule. Licences are
/// listed until they have this many bytes together, and the others are counted.
pub const SHOWN_BYTES_MAX: usize = 1024;

/// Replaces the part that is cut.
const CUT: &str = "…";

/// Returns whether a character controls a terminal, is invisible, or reorders its neighbours.
///
/// Hidden are control characters (C0, DEL, C1), bidirectional controls, line and paragraph
/// separators, other invisible format characters, and noncharacters.
pub fn is_hidden(character: char) -> bool {
    match character {
        ' '..='~' => false,
        '\0'..='\u{9f}' => true,
        _ => {
            matches!(
                character,
                '\u{ad}'
                    | '\u{61c}'
                    | '\u{115f}'..='\u{1160}'
                    | '\u{180e}'
                    | '\u{200b}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{3164}'
                    | '\u{feff}'
                    | '\u{ffa0}'
                    | '\u{fff0}'..='\u{fffb}'
                    | '\u{fdd0}'..='\u{fdef}'
                    | '\u{e0000}'..='\u{e0fff}'
            ) || u32::from(character) & 0xfffe == 0xfffe
        }
    }
}

/// Returns `text` with hidden characters and bytes that are not UTF-8 as escapes.
pub fn visible<T: AsRef<[u8]> + ?Sized>(text: &T) -> Visible<'_> {
    Visible(text.as_ref())
}

/// Displays text with escapes, see [`visible`].
#[derive(Clone, Copy, Debug)]
pub struct Visible<'t>(&'t [u8]);

impl Display for Visible<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(place) = rest.find(is_hidden) {
                let (shown, hidden) = rest.split_at(place);
                let mut characters = hidden.chars();
                out.write_str(shown)?;
                for character in characters.next().into_iter().flat_map(char::escape_default) {
                    out.write_char(character)?;
                }
                rest = characters.as_str();
            }
            out.write_str(rest)?;
            for byte in chunk.invalid() {
                write!(out, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Returns `text`, or its start and `…` if it is longer than `bytes_max`: at most `bytes_max` bytes
/// in total. Never cuts within a UTF-8 character.
pub fn cut(text: &[u8], bytes_max: usize) -> Cow<'_, [u8]> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let kept = &text[..bytes_max.saturating_sub(CUT.len())];
    let end = kept.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    Cow::Owned([&kept[..kept.len() - end], CUT.as_bytes()].concat())
}

/// Like [`cut`], with the limit of reports.
pub fn cut_to_show(text: &[u8]) -> Cow<'_, [u8]> {
    cut(text, SHOWN_BYTES_MAX)
}

/// Returns `text`, or its start and `…` if it has more than `characters_max` characters: that many
/// in total.
pub fn cut_characters(text: &str, characters_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters_max) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let kept = text.chars().take(characters_max.saturating_sub(1));
            Cow::Owned(kept.chain(CUT.chars()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_are_hidden() {
        let listed = ['\0', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}'];
        let marks = ['\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
        let ranges = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
        assert!(listed.into_iter().chain(marks).chain(ranges).all(is_hidden));
        assert!((0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).all(is_hidden));
        assert!(!" ~aé/日ש\u{fffd}\u{10400}".chars().any(is_hidden));
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut(&[b'a'; 8], 8), Cow::Borrowed(&[b'a'; 8]));
        assert_eq!(&*cut("ääääää".as_bytes(), 8), "ää…".as_bytes());
        assert_eq!(&*cut(&[0xff; 9], 8), b"\xff\xff\xff\xff\xe2\x80\xa6");
        assert_eq!(cut_characters("日本語", 3), "日本語");
        assert_eq!(cut_characters("日本語", 2), "日…");
    }
}
