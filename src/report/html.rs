//! Text that means itself in HTML and SVG, between tags and in quoted attributes.
//!
//! Hosts, URLs and rules are written by strangers. Besides the characters of markup, those that
//! cannot be seen or that reorder their neighbours are shown by their number, so that nobody reads
//! another text than the one that is there.

use std::fmt::Write;

use crate::visible::is_hidden;

/// `text` as it looks: markup escaped, control characters as their pictures, and invisible ones as
/// `‹U+202E›`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + u32::from(character))),
            '\x7f' => out.push('\u{2421}'),
            hidden if is_hidden(hidden) => {
                let _ = write!(out, "‹U+{:04X}›", u32::from(hidden));
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_means_itself() {
        let hostile = "</script><script>alert(\"1\" & '2')</script>";
        assert_eq!(
            escaped(hostile),
            "&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(escaped("a\0b\n\t\x1f\x7f"), "a␀b␊␉␟␡");
        assert_eq!(escaped("/\u{202e}txt.stobor\u{200f}"), "/‹U+202E›txt.stobor‹U+200F›");
        assert_eq!(escaped("\u{feff}\u{85}\u{ffff}"), "‹U+FEFF›‹U+0085›‹U+FFFF›");
        assert_eq!(escaped("\u{1fffe}\u{e0041}"), "‹U+1FFFE›‹U+E0041›");
    }

    #[test]
    fn letters_stay() {
        let text = "/straße/日本/שלום/\u{fffd}";
        assert_eq!(escaped(text), text);
    }
}
