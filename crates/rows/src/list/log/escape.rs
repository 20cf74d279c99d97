//! How servers quote texts and escape bytes in them.

use std::borrow::Cow;

use memchr::memchr;
use portcullis_engine::bytes::hex_value;

use super::super::short::first_of;

/// The escape for a byte that a server does not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// `\"`, `\\`, `\t`, `\xHH`.
    Backslash,
    /// `\xHH` alone; a backslash is one.
    Hex,
    /// `\xhh` for a quote, a control character and a byte from 0x7f; a backslash is one, also before `x`.
    Unsafe,
    /// `\"` alone; a backslash is one.
    Quote,
    /// `#HH`.
    Hash,
    /// The escapes of JSON.
    Json,
    /// Nothing is escaped.
    None,
}

/// Where a text in quotes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// At a quote that no backslash escapes.
    Backslash,
    /// At the next quote: the server writes none inside.
    Plain,
    /// Quotes may stand inside: see [`LogFormat`](super::LogFormat).
    Raw,
    /// Likewise, each after a backslash.
    RawWithBackslash,
}

impl Escape {
    /// Whether `-` stands for a value that is missing. nginx leaves it empty in JSON, and where it escapes
    /// nothing.
    pub fn has_dash(self) -> bool {
        !matches!(self, Escape::Json | Escape::None)
    }
}

impl Quoting {
    /// Returns the place of the quote that ends a text, and whether a backslash is before it; `None` if there
    /// is none.
    #[inline]
    pub fn end(self, text: &[u8]) -> Option<(usize, bool)> {
        let end = first_of([b'"', b'\\'], text)?;
        match text[end] {
            b'"' => Some((end, false)),
            _ => self.end_behind(text, end).map(|end| (end, true)),
        }
    }

    /// Returns the place of the quote that ends a text whose first backslash is at `first`.
    #[cold]
    fn end_behind(self, text: &[u8], first: usize) -> Option<usize> {
        let mut end = first + memchr(b'"', &text[first..])?;
        if matches!(self, Quoting::Plain | Quoting::Raw) {
            return Some(end);
        }
        loop {
            let escapes = text[..end].iter().rev().take_while(|byte| **byte == b'\\').count();
            let is_escaped = match self {
                // Of two backslashes, the first escapes the second.
                Quoting::Backslash => !escapes.is_multiple_of(2),
                _ => escapes > 0,
            };
            if !is_escaped {
                return Some(end);
            }
            end += 1 + memchr(b'"', &text[end + 1..])?;
        }
    }

    /// Whether texts may have quotes inside.
    pub fn is_raw(self) -> bool {
        matches!(self, Quoting::Raw | Quoting::RawWithBackslash)
    }
}

impl Escape {
    /// Returns a text without its escapes.
    #[inline]
    pub fn undone(self, text: &[u8]) -> Cow<'_, [u8]> {
        let mark = match self {
            Escape::None => return Cow::Borrowed(text),
            Escape::Hash => b'#',
            _ => b'\\',
        };
        match memchr(mark, text) {
            Some(first) => Cow::Owned(self.unescaped(text, first)),
            None => Cow::Borrowed(text),
        }
    }

    #[cold]
    fn unescaped(self, text: &[u8], first: usize) -> Vec<u8> {
        let mut found = text[..first].to_vec();
        let mut rest = &text[first..];
        while let [byte, after @ ..] = rest {
            let (bytes, taken) = self.first(*byte, after);
            match bytes {
                Unescaped::Byte(byte) => found.push(byte),
                Unescaped::Character(it) => {
                    found.extend_from_slice(it.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            rest = &rest[taken..];
        }
        found
    }

    /// Returns what a byte means with the text after it, and how many bytes say so.
    fn first(self, byte: u8, after: &[u8]) -> (Unescaped, usize) {
        let hex = |digits: &[u8]| match digits {
            [high, low, ..] => Some(hex_value(*high)? << 4 | hex_value(*low)?),
            _ => None,
        };
        let has_backslash = byte == b'\\';
        let escaped = match (self, after) {
            (Escape::Hash, _) if byte == b'#' => hex(after).map(|it| (it, 3)),
            (Escape::Backslash | Escape::Hex, [b'x', digits @ ..]) if has_backslash => {
                hex(digits).map(|it| (it, 4))
            }
            (Escape::Unsafe, [b'x', digits @ ..]) if has_backslash => {
                let is_unsafe = |byte: &u8| !matches!(byte, b' '..=b'~') || *byte == b'"';
                let is_lower = !digits.iter().take(2).any(u8::is_ascii_uppercase);
                hex(digits).filter(|byte| is_unsafe(byte) && is_lower).map(|it| (it, 4))
            }
            (Escape::Json, [b'u', digits @ ..]) if has_backslash => {
                if let Some(character) = of_four_digits(digits) {
                    return (Unescaped::Character(character), 6);
                }
                None
            }
            (Escape::Json, [b'/', ..]) if has_backslash => Some((b'/', 2)),
            (Escape::Backslash | Escape::Json, [letter, ..]) if has_backslash => {
                simple(*letter).map(|it| (it, 2))
            }
            (Escape::Quote, [b'"', ..]) if has_backslash => Some((b'"', 2)),
            _ => None,
        };
        let (byte, taken) = escaped.unwrap_or((byte, 1));
        (Unescaped::Byte(byte), taken)
    }
}

enum Unescaped {
    Byte(u8),
    Character(char),
}

/// Returns the byte that a letter after a backslash stands for.
fn simple(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' => letter,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        _ => return None,
    })
}

/// Returns the character of `HHHH`.
fn of_four_digits(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}
