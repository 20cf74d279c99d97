//! What a `Content-Type` field says, as far as anyone here asks.

use portcullis_matcher::bytes::trim;

/// The media types of HTML (RFC 2854; HTML Living Standard, section 15.2).
const HTML: [&[u8]; 2] = [b"text/html", b"application/xhtml+xml"];

/// Whether the value of a `Content-Type` field (RFC 9110, section 8.3) says that the body is HTML.
pub(super) fn is_html(value: &[u8]) -> bool {
    let end = memchr::memchr(b';', value).unwrap_or(value.len());
    let media_type = trim(&value[..end], b" \t");
    HTML.iter().any(|html| media_type.eq_ignore_ascii_case(html))
}

#[cfg(test)]
mod tests {
    use super::is_html;

    #[test]
    fn spellings() {
        let html: [&[u8]; 4] =
            [b"text/html", b" Text/HTML ;charset=utf-8", b"text/html;", b"application/xhtml+xml"];
        let other: [&[u8]; 5] =
            [b"", b"text/plain", b"text/plain; a=text/html", b"text/htmlx", b"html"];
        assert!(html.iter().all(|value| is_html(value)));
        assert!(!other.iter().any(|value| is_html(value)));
    }
}
