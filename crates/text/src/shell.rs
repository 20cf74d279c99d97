//! Words of a command that a message suggests.

use std::borrow::Cow;

/// Returns a word as a shell reads it: in quotes if it has blanks or other signs of the shell.
///
/// ```
/// use portcullis_text::shell::word;
///
/// assert_eq!(word("a.txt"), "a.txt");
/// assert_eq!(word("a b's"), r"'a b'\''s'");
/// ```
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=+,@:".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}
